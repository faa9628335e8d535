"""The bots of Velonimo: one file a bot; the table below says where each is, and it is loaded when it is named.

A bot's text is ``NAME``, ``MODULE:ATTRIBUTE`` or ``FILE.py:ATTRIBUTE``, and may end with settings of its parameters:
``:key=value,key=value``. Names are those of the table and then those that installed packages announce.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from inspect import getfile
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from velonimo_sim.errors import UsageError, unknown_name
from velonimo_sim.velonimo.policies.parameter import Parameter, Value
from velonimo_sim.velonimo.policies.plug_ins import announced_bots, load_announced, load_from_file, load_from_module
from velonimo_sim.velonimo.policies.policy import Policy

if TYPE_CHECKING:
    from velonimo_sim.velonimo.policies.base import Scratch

BUILT_IN = {
    "random": "uniform:uniform",
    "greedy": "greedy:greedy",
    "hold-hares": "hold_hares:hold_hares",
    "advised": "advised:advised",
    "exact": "exact:exact",
    "rollout": "rollout:rollout",
    "ismcts": "ismcts:ismcts",
    "champion": "champion:champion",
    "cheater": "cheater:cheater",
}
"""Every bot of the house: its name, the file of this folder and the function in it."""

_ELSEWHERE = re.compile(r"(?P<place>.+\.py|[\w.]+):(?P<attribute>[^\W\d]\w*)(:(?P<settings>.*))?", re.DOTALL)


@dataclass(frozen=True)
class Bot:
    """A policy with its parameters set: what a bot's text describes.

    Parameters
    ----------
    name : str
        The bot's text without settings.
    policy : Policy
        What it declares.
    values : tuple
        One for each of its parameters.
    """

    name: str
    policy: Policy
    values: tuple[Value, ...]

    @property
    def text(self) -> str:
        """The bot's text with the settings that differ from the defaults."""
        settings = [
            f"{parameter.name}={parameter.text(value)}"
            for parameter, value in self._set()
            if value != parameter.default
        ]
        return self.name + (":" + ",".join(settings) if settings else "")

    @property
    def settings(self) -> dict[str, Value]:
        """The values of all parameters by name."""
        return {parameter.name: value for parameter, value in self._set()}

    @property
    def sees_all(self) -> bool:
        """Whether the bot is shown the hidden cards, which is cheating."""
        return self.policy.sees_all

    @property
    def file_hash(self) -> str:
        """16 hexadecimal digits that change with the file that the bot was written in; empty for a bot of the house."""
        if self.policy.source.__module__.startswith(__name__):
            return ""
        try:
            return hashlib.sha256(Path(getfile(self.policy.source)).read_bytes()).hexdigest()[:16]
        except (OSError, TypeError):  # typed in, and in no file
            return ""

    def _set(self) -> Iterator[tuple[Parameter, Value]]:
        return zip(self.policy.parameters, self.values, strict=True)

    def set_up(self, scratch: "Scratch") -> None:
        """Write the values of the parameters into a scratch."""
        for i, (parameter, value) in enumerate(self._set()):
            scratch["parameters"][i] = parameter.as_number(value)

    def scratch(self) -> "Scratch":
        """Return fresh working memory for the bot, of dtype ``SCRATCH``."""
        from velonimo_sim.velonimo.policies.base import SCRATCH

        scratch: np.void = np.zeros(1, SCRATCH)[0]
        self.set_up(scratch)
        return scratch


def parse_bot(text: str) -> Bot:
    """Return the bot that a text describes.

    Raises
    ------
    UsageError
        If the bot or a parameter does not exist, cannot be loaded, or a value is impossible.
    """
    name, policy, settings = _find(text)
    given: dict[str, Value] = {}
    parameters = {parameter.name: parameter for parameter in policy.parameters}
    for setting in [] if settings is None else settings.split(","):
        key, _, value = setting.partition("=")
        if not parameters:
            raise UsageError(f"bot {name} has no parameters, so {setting!r} cannot be set")
        if not key:
            raise UsageError(f"bot {text}: setting {setting!r}: allowed is key=value")
        if key not in parameters:
            raise unknown_name(f"parameter of bot {name}", key, parameters)
        if key in given:
            raise UsageError(f"bot {text}: {key} is set twice")
        try:
            given[key] = parameters[key].read(value)
        except ValueError:
            raise UsageError(f"bot {name}:{setting}: allowed is {parameters[key].allowed}") from None
    return Bot(name, policy, tuple(given.get(key, parameter.default) for key, parameter in parameters.items()))


def bot_names() -> list[str]:
    """Return the names of all bots, of the house and announced by installed packages; nothing is loaded."""
    return [*BUILT_IN, *sorted(set(announced_bots()) - set(BUILT_IN))]


def _find(text: str) -> tuple[str, Policy, str | None]:
    """Return the name in a bot's text, the policy of that name, and the settings if there are any."""
    name, colon, rest = text.partition(":")
    settings = rest if colon else None
    if name in BUILT_IN:
        return name, _load_built_in(name), settings
    announced = announced_bots()
    if name in announced:
        return name, load_announced(name, announced[name]), settings
    elsewhere = _ELSEWHERE.fullmatch(text)
    if elsewhere is None and name.endswith(".py"):
        raise UsageError(f"bot {text}: allowed is FILE.py:NAME")
    if elsewhere is None:
        raise unknown_name("bot", name, bot_names())
    place, attribute = elsewhere["place"], elsewhere["attribute"]
    load = load_from_file if place.endswith(".py") else load_from_module
    return f"{place}:{attribute}", load(place, attribute), elsewhere["settings"]


def _load_built_in(name: str) -> Policy:
    module, _, function = BUILT_IN[name].partition(":")
    policy: Policy = getattr(import_module(f"{__name__}.{module}"), function)
    return policy
