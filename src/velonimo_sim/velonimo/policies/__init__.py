"""The bots of Velonimo: one file a bot, listed here; a bot's text is ``name`` or ``name:key=value,key=value``.

A bot is compiled when it is first asked for its function, not when it is listed.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from velonimo_sim.errors import UsageError, unknown_name

if TYPE_CHECKING:
    from velonimo_sim.velonimo.policies.base import PolicyFunction


@dataclass(frozen=True)
class Parameter:
    """An integer that a bot's text may set, as in ``rollout:n=50``."""

    name: str
    default: int
    low: int
    high: int
    help: str


@dataclass(frozen=True)
class Policy:
    """A bot as it is registered: ``place`` is the file of this folder and the function in it."""

    name: str
    place: str
    help: str
    parameters: tuple[Parameter, ...] = ()

    @property
    def function(self) -> "PolicyFunction":
        """The compiled function of the bot."""
        module, _, function = self.place.partition(":")
        loaded: PolicyFunction = getattr(import_module(f"{__name__}.{module}"), function)
        return loaded


POLICIES = {
    policy.name: policy
    for policy in (
        Policy("random", "uniform:uniform", "uniform over the legal moves"),
        Policy("greedy", "greedy:greedy", "plays whenever it can, as cheaply as it can"),
        Policy("hold-hares", "hold_hares:hold_hares", "as greedy, keeping the hares for the end"),
        Policy(
            "rollout",
            "rollout:rollout",
            "flat Monte Carlo with greedy playouts",
            (Parameter("n", 200, 1, 1_000_000, "playouts a decision; every legal action gets at least one"),),
        ),
    )
}
"""Every bot by its name."""


@dataclass(frozen=True)
class Bot:
    """A policy with its parameters set: what a bot's text describes."""

    policy: Policy
    values: tuple[int, ...]

    @property
    def text(self) -> str:
        """The bot's text with all its parameters."""
        settings = [
            f"{parameter.name}={value}" for parameter, value in zip(self.policy.parameters, self.values, strict=True)
        ]
        return self.policy.name + (":" + ",".join(settings) if settings else "")

    def scratch(self) -> np.void:
        """Return fresh working memory for the bot, of dtype ``SCRATCH``."""
        from velonimo_sim.velonimo.policies.base import SCRATCH

        scratch: np.void = np.zeros(1, SCRATCH)[0]
        scratch["parameters"][: len(self.values)] = self.values
        return scratch


def parse_bot(text: str) -> Bot:
    """Return the bot that a text describes.

    Raises
    ------
    UsageError
        If the bot or a parameter does not exist, or a value is impossible.
    """
    name, colon, settings = text.partition(":")
    if name not in POLICIES:
        raise unknown_name("bot", name, POLICIES)
    policy = POLICIES[name]
    parameters = {parameter.name: parameter for parameter in policy.parameters}
    given: dict[str, int] = {}
    for setting in settings.split(",") if colon else ():
        key, _, value = setting.partition("=")
        if not parameters:
            raise UsageError(f"bot {name} has no parameters, so {setting!r} cannot be set")
        if key not in parameters:
            raise unknown_name(f"parameter of bot {name}", key, parameters)
        if key in given:
            raise UsageError(f"bot {text}: {key} is set twice")
        given[key] = _read_parameter(f"{name}:{setting}", parameters[key], value)
    return Bot(policy, tuple(given.get(key, parameter.default) for key, parameter in parameters.items()))


def _read_parameter(bot: str, parameter: Parameter, text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = parameter.low - 1
    if not parameter.low <= value <= parameter.high:
        raise UsageError(f"bot {bot}: allowed is an integer {parameter.low}-{parameter.high}")
    return value


def list_bots() -> str:
    """Return what bots there are, one a line with its parameters."""
    lines = []
    for policy in POLICIES.values():
        lines.append(f"  {policy.name:<12} {policy.help}")
        lines += [
            f"    {parameter.name}={parameter.default:<8} {parameter.help}, {parameter.low}-{parameter.high}"
            for parameter in policy.parameters
        ]
    return "\n".join(lines)
