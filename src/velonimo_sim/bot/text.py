"""A bot's text, read; and what it describes: a policy with its parameters set.

The text is ``NAME``, ``MODULE:ATTRIBUTE`` or ``FILE.py:ATTRIBUTE``, and may end with settings of the bot's parameters:
``:key=value,key=value``. Names are those of the game's table ``BUILT_IN`` (``velonimo_sim.<game>.policies``) and then
those that installed packages announce.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from inspect import getfile
from pathlib import Path

import numpy as np

from velonimo_sim.bot.parameter import Parameter, Value
from velonimo_sim.bot.plug_ins import GROUPS, announced_bots, load_announced, load_from_file, load_from_module
from velonimo_sim.bot.policy import Policy
from velonimo_sim.errors import UsageError, unknown_name

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
        """Whether the bot is shown what is hidden, which is cheating."""
        return self.policy.sees_all

    @property
    def file_hash(self) -> str:
        """16 hexadecimal digits that change with the file that the bot was written in; empty for a bot of the house."""
        if self.policy.source.__module__.startswith(f"velonimo_sim.{self.policy.game}.policies"):
            return ""
        try:
            return hashlib.sha256(Path(getfile(self.policy.source)).read_bytes()).hexdigest()[:16]
        except (OSError, TypeError):  # typed in, and in no file
            return ""

    def _set(self) -> Iterator[tuple[Parameter, Value]]:
        return zip(self.policy.parameters, self.values, strict=True)

    def set_up(self, scratch: np.void) -> None:
        """Write the values of the parameters into a scratch."""
        for i, (parameter, value) in enumerate(self._set()):
            scratch["parameters"][i] = parameter.as_number(value)

    def scratch(self) -> np.void:
        """Return fresh working memory for the bot, of the dtype ``SCRATCH`` of its game."""
        dtype = import_module(f"velonimo_sim.{self.policy.game}.policies.base").SCRATCH
        scratch: np.void = np.zeros(1, dtype)[0]
        self.set_up(scratch)
        return scratch


def parse_bot(text: str, game: str) -> Bot:
    """Return the bot of a game that a text describes.

    Parameters
    ----------
    text : str
        The bot's text.
    game : str
        Name of the game that it is to play.

    Raises
    ------
    UsageError
        If there is no such game, the bot or a parameter does not exist, cannot be loaded, or is of another game, or a
        value is impossible.
    """
    name, policy, settings = _find(text, game)
    if policy.game != game:
        raise _of_another_game(name, policy.game, game)
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


def bot_names(game: str) -> list[str]:
    """Return the names of all bots of a game, of the house and announced by installed packages; nothing is loaded.

    Raises
    ------
    UsageError
        If there is no such game.
    """
    built_in = _built_in(game)
    return [*built_in, *sorted(set(announced_bots(game)) - set(built_in))]


def _built_in(game: str) -> dict[str, str]:
    """Return the bots of the house that play a game: by name, the file and the function in it."""
    if game not in GROUPS:
        raise unknown_name("game", game, GROUPS)
    table: dict[str, str] = import_module(f"velonimo_sim.{game}.policies").BUILT_IN
    return table


def _find(text: str, game: str) -> tuple[str, Policy, str | None]:
    """Return the name in a bot's text, the policy of that name, and the settings if there are any."""
    name, colon, rest = text.partition(":")
    settings = rest if colon else None
    built_in = _built_in(game)
    if name in built_in:
        return name, _load_built_in(built_in[name], game), settings
    announced = announced_bots(game)
    if name in announced:
        return name, load_announced(name, announced[name], game), settings
    elsewhere = _ELSEWHERE.fullmatch(text)
    if elsewhere is None:
        raise _unknown_bot(text, name, game)
    place, attribute = elsewhere["place"], elsewhere["attribute"]
    load = load_from_file if place.endswith(".py") else load_from_module
    return f"{place}:{attribute}", load(place, attribute), elsewhere["settings"]


def _load_built_in(place: str, game: str) -> Policy:
    module, _, function = place.partition(":")
    policy: Policy = getattr(import_module(f"velonimo_sim.{game}.policies.{module}"), function)
    return policy


def _unknown_bot(text: str, name: str, game: str) -> UsageError:
    """Return the error for a text that names no bot of the game, nor a place where one could be."""
    if name.endswith(".py"):
        return UsageError(f"bot {text}: allowed is FILE.py:NAME")
    for other in GROUPS:
        if name in bot_names(other):
            return _of_another_game(name, other, game)
    return unknown_name("bot", name, bot_names(game))


def _of_another_game(name: str, its_game: str, game: str) -> UsageError:
    hint = f"--game {its_game} plays it" if its_game in GROUPS else f"games are {', '.join(GROUPS)}"
    return UsageError(f"bot {name} is a bot of {its_game}: bots of {game} are {', '.join(bot_names(game))}; {hint}")
