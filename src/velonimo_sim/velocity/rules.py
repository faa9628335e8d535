"""The rule options of VeloCity, checked once and then fixed (C1-C20)."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Self

import numpy as np

from velonimo_sim.errors import UsageError, in_one_line, is_integer_in, unknown_name
from velonimo_sim.velocity.dice import DICE, MAX_FACES, TEAMS, Dice, default_dice
from velonimo_sim.velocity.track import Course, default_course

RULES_VERSION = 1
"""Goes up whenever the same moves lead to another game; written into every results file."""

DEAL_VERSION = 1
"""Goes up whenever the same seed throws other dice; written into every results file."""

MIN_PLAYERS = 3
MAX_PLAYERS = len(TEAMS)
MAX_COURIERS = 4
WINNING_COURIERS = 3
"""Couriers in the finish that win at once (C18)."""
MAX_CANS = 100
MAX_TURNS = 1_000_000

COURIERS: Final = {3: 4, 4: 4, 5: 3, 6: 3, 7: 3}
"""Couriers of a team by number of players (C1)."""
CANS: Final = {3: 15, 4: 20, 5: 20, 6: 24, 7: 28}
"""Cans in the general supply at the start by number of players (C2)."""

RULES = np.dtype(
    [
        ("supply_spaces", "u8"),  # bit s: space s is a supply space
        ("obstacles", "u8"),  # bit s: space s is an obstacle space
        ("turn_limit", "i4"),  # turns
        ("faces", "u1", (DICE, MAX_FACES)),  # [die, face]: numbers on the dice, 0 beyond
        ("n_faces", "u1", (DICE,)),  # by die: how many faces it has
        ("start_cans", "u1", (MAX_PLAYERS,)),  # by seat: cans at the start
        ("length", "u1"),  # spaces of the course, 1-60; the car park is the number after
        ("couriers", "u1"),  # of each team, 3-4
        ("cans", "u1"),  # in all, 0-100
        ("pack_from_start", "u1"),  # 1 = a pack may start in the car park (C7)
        ("breakaway_sum_finishes", "u1"),  # 1 = the sum of a Breakaway may cross the finish line (C9)
    ],
    align=True,
)
"""The options as compiled code reads them: part of every view and so of every state."""

_FLAGS: Final = ("pack_from_start", "breakaway_sum_finishes")
_WORDS: Final = {"on": True, "off": False, "true": True, "false": False}


@dataclass(frozen=True)
class RuleSet:
    """One immutable choice of the rule options.

    Parameters
    ----------
    pack_from_start : bool
        Whether the car park counts for a pack ride (C7).
    breakaway_sum_finishes : bool
        Whether a courier may cross the finish line by the sum of a Breakaway (C9).
    couriers : int or None
        Couriers of each team, 3-4 (C1); None is 4 with 3 and 4 players and 3 with more.
    cans : int or None
        Cans in the general supply at the start, 0-100 (C2); None is 15, 20, 20, 24, 28 with 3 to 7 players.
    start_cans : tuple of int
        Cans that seats 0, 1, ... get out of the supply before the first turn; none for seats that are not named. Not a
        rule of the game (C2): races that differ in this alone tell what a can is worth.
    turn_limit : int
        After so many turns, 1-1,000,000, the race ends as it does with the eighth finish place (C18). Not a rule of the
        game: it makes every race end, whatever the course, the dice and the players.
    course : Course
        The spaces (C4).
    dice : Dice
        The faces of the dice (C3).

    Raises
    ------
    UsageError
        If an option is impossible; the message names the option, the value and what is allowed.
    """

    pack_from_start: bool = True
    breakaway_sum_finishes: bool = False
    couriers: int | None = None
    cans: int | None = None
    start_cans: tuple[int, ...] = ()
    turn_limit: int = 10_000
    course: Course = field(default_factory=default_course)
    dice: Dice = field(default_factory=default_dice)

    def __post_init__(self) -> None:
        """Check every option."""
        for name in _FLAGS:
            if not isinstance(getattr(self, name), bool):
                raise _impossible(name, getattr(self, name), "on or off")
        for name, low, high in (("couriers", 3, MAX_COURIERS), ("cans", 0, MAX_CANS)):
            value = getattr(self, name)
            if value is not None and not is_integer_in(value, low, high):
                raise _impossible(name, value, f"none (by players) or an integer {low}-{high}")
        if not is_integer_in(self.turn_limit, 1, MAX_TURNS):
            raise _impossible("turn_limit", self.turn_limit, f"an integer 1-{MAX_TURNS}")
        if not isinstance(self.course, Course):
            raise _impossible("course", self.course, "a Course, or the TOML file of one")
        if not isinstance(self.dice, Dice):
            raise _impossible("dice", self.dice, "Dice, or the TOML file of some")
        given = self.start_cans
        if not isinstance(given, tuple | list) or not all(is_integer_in(cans, 0, MAX_CANS) for cans in given):
            raise _impossible("start_cans", given, f"integers 0-{MAX_CANS}, one a seat")
        object.__setattr__(self, "start_cans", tuple(int(cans) for cans in given))
        for name in ("couriers", "cans", "turn_limit"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, int(getattr(self, name)))  # numpy's integers are no JSON

    @classmethod
    def official(cls) -> Self:
        """Return the rules as printed: every option at its default."""
        return cls()

    @classmethod
    def preset(cls, name: str) -> Self:
        """Return the preset of that name.

        Raises
        ------
        UsageError
            If there is no such preset.
        """
        if name != "official":
            raise unknown_name("rules preset", name, ["official"])
        return cls.official()

    def with_options(self, texts: Mapping[str, str]) -> Self:
        """Return these rules with some options changed, the values given as text.

        Parameters
        ----------
        texts : mapping of str to str
            Option name to text: ``{"pack_from_start": "off", "course": "my-course.toml"}``; instead of a file, a course
            and dice may be given as JSON, as ``to_dict`` has them.

        Raises
        ------
        UsageError
            If an option does not exist or its value is impossible.
        """
        known = [option.name for option in fields(self)]
        for name, text in texts.items():
            if name not in known:
                raise unknown_name("rule", name, known)
            if not isinstance(text, str):
                raise UsageError(f"rule {name}={text!r}: allowed is the value as text")
        values: dict[str, Any] = {name: _read_value(name, text) for name, text in texts.items()}
        return replace(self, **values)

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Self:
        """Return the rules that ``to_dict`` described.

        Raises
        ------
        UsageError
            If an option does not exist or its value is impossible.
        """
        known = [option.name for option in fields(cls)]
        if not isinstance(options, Mapping):
            raise UsageError(f"rules {options!r}: allowed is a mapping of options to values")
        for name in options:
            if name not in known:
                raise unknown_name("rule", name, known)
        content = dict(options)
        for name, read in (("course", Course.from_dict), ("dice", Dice.from_dict)):
            if name in content:
                content[name] = read(content[name])
        return cls(**content)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as values that JSON knows."""
        options = {option.name: getattr(self, option.name) for option in fields(self)}
        return options | {
            "start_cans": list(self.start_cans),
            "course": self.course.to_dict(),
            "dice": self.dice.to_dict(),
        }

    def in_force(self, players: int) -> dict[str, Any]:
        """Return the options as ``to_dict`` does, couriers and cans as they are with so many players (C1, C2)."""
        check_players(players)
        return self.to_dict() | {
            "couriers": COURIERS[players] if self.couriers is None else self.couriers,
            "cans": CANS[players] if self.cans is None else self.cans,
        }

    def to_record(self, players: int) -> np.void:
        """Return the options as a record of dtype ``RULES`` for a table of that many players.

        Raises
        ------
        UsageError
            If the number of players is impossible, or the cans at the start do not fit it.
        """
        in_force = self.in_force(players)
        if any(self.start_cans[players:]) or sum(self.start_cans) > in_force["cans"]:
            allowed = f"numbers for {players} players, {in_force['cans']} cans in all at most"
            raise _impossible("start_cans", ",".join(map(str, self.start_cans)), allowed)
        record: np.void = np.zeros(1, RULES)[0]
        record["supply_spaces"] = _word_of(self.course.supply)
        record["obstacles"] = _word_of(self.course.obstacle)
        record["length"] = self.course.length
        for die, faces in enumerate(self.dice.faces):
            record["faces"][die, : len(faces)] = faces
            record["n_faces"][die] = len(faces)
        for seat, cans in enumerate(self.start_cans[:players]):
            record["start_cans"][seat] = cans
        for name in ("turn_limit", *_FLAGS):
            record[name] = getattr(self, name)
        record["couriers"], record["cans"] = in_force["couriers"], in_force["cans"]
        return record

    @classmethod
    def from_record(cls, record: np.void) -> Self:
        """Return the rules that ``to_record`` described; couriers and cans are then given by number.

        A record holds no names: course and dice are called ``unnamed``.

        Raises
        ------
        UsageError
            If the record holds an impossible option.
        """
        spaces = range(1, int(record["length"]) + 1)
        supply, obstacle = (
            tuple(space for space in spaces if int(record[field]) & 2**space)
            for field in ("supply_spaces", "obstacles")
        )
        route = tuple(space for space in spaces if space not in (*supply, *obstacle))
        faces = [tuple(row[:n].tolist()) for row, n in zip(record["faces"], record["n_faces"], strict=True)]
        flags = {name: bool(record[name]) for name in _FLAGS}
        return cls(
            couriers=int(record["couriers"]),
            cans=int(record["cans"]),
            start_cans=tuple(record["start_cans"].tolist()) if record["start_cans"].any() else (),
            turn_limit=int(record["turn_limit"]),
            course=Course("unnamed", len(spaces), supply, obstacle, route),
            dice=Dice("unnamed", faces[-1], tuple(faces[:-1])),
            **flags,
        )


VARIED = (
    RuleSet(),
    RuleSet(pack_from_start=False, breakaway_sum_finishes=True),
    RuleSet(cans=3, start_cans=(1, 2)),
    RuleSet(couriers=4, turn_limit=60),
)
"""Rules that bots are checked under, so that every option is met."""


def checked_rules(rules: object) -> RuleSet:
    """Return the rules that a caller gives, None being the official ones.

    Raises
    ------
    UsageError
        If they are something else.
    """
    if rules is None:
        return RuleSet.official()
    if not isinstance(rules, RuleSet):
        raise UsageError(f"rules {rules!r}: allowed is a RuleSet, and where a game begins the name of a preset")
    return rules


def check_players(players: object) -> None:
    """Raise a ``UsageError`` unless the game can be played by that many (C1)."""
    if not is_integer_in(players, MIN_PLAYERS, MAX_PLAYERS):
        raise UsageError(f"players {players}: allowed is {MIN_PLAYERS}-{MAX_PLAYERS}")


def _impossible(name: str, value: object, allowed: str) -> UsageError:
    return UsageError(f"rule {name}={value!r}: allowed is {allowed}")


def _word_of(spaces: tuple[int, ...]) -> int:
    return sum(2**space for space in spaces)


def _read_value(name: str, text: str) -> object:
    """Return the value of an option that a text gives, or the text itself for the option's own check to refuse."""
    if name == "course":
        return _read_data(Course, name, text)
    if name == "dice":
        return _read_data(Dice, name, text)
    if name in _FLAGS:
        return _WORDS.get(text, text)
    if name == "start_cans":
        return tuple(_read_integer(part) for part in text.split(",")) if text != "none" else ()
    return None if text == "none" else _read_integer(text)


def _read_data(kind: type[Course] | type[Dice], name: str, text: str) -> Course | Dice:
    """Return what a text describes: the path of a TOML file, or the content itself as JSON, as in manifests."""
    if not text.startswith("{"):
        return kind.load(text)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"rule {name}: is no JSON ({in_one_line(error)})") from None
    return kind.from_dict(content)


def _read_integer(text: str) -> int | str:
    try:
        return int(text)
    except ValueError:
        return text
