"""The bots of Velonimo: one file a bot, listed here; a bot's text is ``name`` or ``name:key=value,key=value``."""

from dataclasses import dataclass

import numpy as np

from velonimo_sim.errors import UsageError, unknown_name
from velonimo_sim.velonimo.policies.base import SCRATCH, Parameter, Policy
from velonimo_sim.velonimo.policies.greedy import greedy
from velonimo_sim.velonimo.policies.hold_hares import hold_hares
from velonimo_sim.velonimo.policies.rollout import PLAYOUTS, rollout
from velonimo_sim.velonimo.policies.uniform import uniform

POLICIES = {
    policy.name: policy
    for policy in (
        Policy("random", uniform, "uniform over the legal moves"),
        Policy("greedy", greedy, "plays whenever it can, as cheaply as it can"),
        Policy("hold-hares", hold_hares, "as greedy, keeping the hares for the end"),
        Policy("rollout", rollout, "flat Monte Carlo with greedy playouts", (PLAYOUTS,)),
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
        """The bot's text with every parameter that is not at its default."""
        changed = [
            f"{parameter.name}={value}"
            for parameter, value in zip(self.policy.parameters, self.values, strict=True)
            if value != parameter.default
        ]
        return self.policy.name + (":" + ",".join(changed) if changed else "")

    def scratch(self) -> np.void:
        """Return fresh working memory for the bot, of dtype ``SCRATCH``."""
        scratch = np.zeros(1, SCRATCH)[0]
        scratch["parameters"][: len(self.values)] = self.values
        return scratch


def parse_bot(text: str) -> Bot:
    """Return the bot that a text describes.

    Raises
    ------
    UsageError
        If the bot or a parameter does not exist, or a value is impossible.
    """
    name, _, settings = text.partition(":")
    if name not in POLICIES:
        raise unknown_name("bot", name, POLICIES)
    policy = POLICIES[name]
    values = {parameter.name: parameter.default for parameter in policy.parameters}
    for setting in filter(None, settings.split(",")):
        key, _, value = setting.partition("=")
        if key not in values:
            if not values:
                raise UsageError(f"bot {name!r} has no parameters, so {setting!r} cannot be set")
            raise unknown_name(f"parameter of bot {name}", key, values)
        parameter = next(parameter for parameter in policy.parameters if parameter.name == key)
        values[key] = _read_parameter(name, parameter, value)
    return Bot(policy, tuple(values.values()))


def _read_parameter(bot: str, parameter: Parameter, text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = parameter.low - 1
    if not parameter.low <= value <= parameter.high:
        raise UsageError(f"bot {bot}:{parameter.name}={text}: allowed is an integer {parameter.low}-{parameter.high}")
    return value
