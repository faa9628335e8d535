"""A move is one word, so that it is its own description; its text form reads back to the same move.

::

    bits  15-12    11-8           7-0
          Kind     die or cans    space or seat
"""

from enum import IntEnum
from typing import Final, Self

import numpy as np

from velonimo_sim._jit import inlined
from velonimo_sim.bits import integer, shift_left, shift_right
from velonimo_sim.errors import IllegalMoveError, is_integer_in
from velonimo_sim.velocity.dice import DIE_NAMES, TEAMS
from velonimo_sim.velocity.track import MAX_LENGTH


class Kind(IntEnum):
    """What a move does; the text form stands beside it."""

    SOLO = 1  # solo, solo refuel, solo breakaway
    PACK = 2  # pack 27, pack 27 refuel, pack park; pack 27 breakaway, which is never legal
    DIE = 3  # red from 33, energy from 33, sum from park
    FOLLOW = 4  # follow: a courier goes along for a can
    STAY = 5  # stay
    PAY = 6  # pay: a can lets an arrived courier stay on the obstacle
    BACK = 7  # back: it moves back
    TAKE = 8  # take blue: take a can from the blue team


REFUEL = 1
BREAKAWAY = 2
"""Cans spent on a ride (C6)."""
PARK = 255
"""Stands for the car park in a move, whatever the length of the course."""

_SPENDING: Final = ("", " refuel", " breakaway")
_SPACES: Final = {str(space) for space in range(1, MAX_LENGTH + 1)}
_WORDS: Final = {"follow": Kind.FOLLOW, "stay": Kind.STAY, "pay": Kind.PAY, "back": Kind.BACK}


@inlined
def move_of(kind: int, detail: int, place: int) -> np.uint64:
    """Return the move of that kind: with its die or cans spent, and its space or seat."""
    return shift_left(np.uint64(kind), 12) | shift_left(np.uint64(detail), 8) | np.uint64(place)


@inlined
def kind_of(move: np.uint64) -> int:
    """Return the ``Kind`` of a move; that of a word which is none may be anything."""
    return integer(shift_right(move, 12))


@inlined
def detail_of(move: np.uint64) -> int:
    """Return the die, or the cans spent, of a move."""
    return integer(shift_right(move, 8) & np.uint64(0xF))


@inlined
def place_in(move: np.uint64) -> int:
    """Return the space, or the seat, of a move."""
    return integer(move & np.uint64(0xFF))


FOLLOW = np.uint64(Kind.FOLLOW << 12)
STAY = np.uint64(Kind.STAY << 12)
PAY = np.uint64(Kind.PAY << 12)
BACK = np.uint64(Kind.BACK << 12)


def space_text(space: int) -> str:
    """Return the text of the space in a move."""
    return "park" if space == PARK else str(space)


def move_text(move: int | np.uint64) -> str:
    """Return the text form of a move.

    Raises
    ------
    ValueError
        If the word is no move at all.
    """
    if not is_integer_in(move, 0, 2**64 - 1):
        raise ValueError(f"{move!r} is no move: moves are words of 64 bits")
    word = np.uint64(move)
    kind, detail, place = int(kind_of(word)), int(detail_of(word)), int(place_in(word))
    text = ""
    if kind == Kind.SOLO and detail < len(_SPENDING):
        text = f"solo{_SPENDING[detail]}"
    elif kind == Kind.PACK and detail < len(_SPENDING):
        text = f"pack {space_text(place)}{_SPENDING[detail]}"
    elif kind == Kind.DIE and detail < len(DIE_NAMES):
        text = f"{DIE_NAMES[detail]} from {space_text(place)}"
    elif kind == Kind.TAKE and place < len(TEAMS):
        text = f"take {TEAMS[place]}"
    elif kind in _WORDS.values():
        text = Kind(kind).name.lower()
    try:
        if parse_move(text) == word:
            return text
    except IllegalMoveError:
        pass
    raise ValueError(f"{int(word):#x} is no move")


def parse_move(text: str) -> np.uint64:
    """Return the move that a text describes.

    Raises
    ------
    IllegalMoveError
        If the text is no move; whether the move is legal is another question.
    """
    if not isinstance(text, str):
        raise IllegalMoveError(f"{text!r} is no move: moves are written as text")
    match text.split():
        case [word] if word in _WORDS:
            return _word(_WORDS[word], 0, 0)
        case ["solo"]:
            return _word(Kind.SOLO, 0, 0)
        case ["solo", ("refuel" | "breakaway") as spending]:
            return _word(Kind.SOLO, _SPENDING.index(f" {spending}"), 0)
        case ["pack", space] if _is_space(space):
            return _word(Kind.PACK, 0, _read_space(space))
        case ["pack", space, ("refuel" | "breakaway") as spending] if _is_space(space):
            return _word(Kind.PACK, _SPENDING.index(f" {spending}"), _read_space(space))
        case [die, "from", space] if die in DIE_NAMES and _is_space(space):
            return _word(Kind.DIE, DIE_NAMES.index(die), _read_space(space))
        case ["take", team] if team in TEAMS:
            return _word(Kind.TAKE, 0, TEAMS.index(team))
    raise IllegalMoveError(
        f"{text!r} is no move: allowed are solo [refuel, breakaway], pack SPACE [refuel], DIE from SPACE, follow, "
        "stay, pay, back, take TEAM"
    )


def _word(kind: Kind, detail: int, place: int) -> np.uint64:
    return np.uint64(move_of(int(kind), detail, place))


def _is_space(text: str) -> bool:
    return text == "park" or text in _SPACES


def _read_space(text: str) -> int:
    return PARK if text == "park" else int(text)


class Move(int):
    """A move as bots in plain Python are handed it: the word itself, and what it means."""

    def __new__(cls, word: int) -> Self:
        """Return a word as a move."""
        return super().__new__(cls, word)

    @property
    def kind(self) -> str:
        """What the move does: solo, pack, die, follow, stay, pay, back or take."""
        return Kind(self >> 12).name.lower()

    @property
    def spends(self) -> int:
        """Cans that a ride spends at once: 1 for Refuel, 2 for Breakaway; else 0."""
        return self >> 8 & 0xF if self.kind in ("solo", "pack") else 0

    @property
    def die(self) -> str | None:
        """The die that is chosen: a team, ``energy`` or ``sum``; else None."""
        return DIE_NAMES[self >> 8 & 0xF] if self.kind == "die" else None

    @property
    def space(self) -> int | str | None:
        """The space that a pack ride or a die names, or ``park``; else None."""
        if self.kind not in ("pack", "die"):
            return None
        return "park" if self & 0xFF == PARK else self & 0xFF

    @property
    def seat(self) -> int | None:
        """The seat that a can is taken from; else None."""
        return self & 0xFF if self.kind == "take" else None

    @property
    def text(self) -> str:
        """The move as text."""
        return move_text(int(self))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.text}>"
