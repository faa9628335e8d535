"""A move is one word, so that it is its own description; its text form reads back to the same move.

Bits 0-55 are the cards of the move (``cards.py``) or, for ``swap`` and ``lead``, the seat. Byte 7 says the rest::

    bit   63      62   61-59   58-56
          Jersey  -    author  Kind

The author is named in the log of a view only, see ``logged``; a move to be made has 0 there.
"""

from enum import IntEnum
from typing import Self

import numpy as np

from velonimo_sim._jit import inlined
from velonimo_sim.bits import U0, integer, lowest_index, popcount, shift_left, shift_right, without_lowest
from velonimo_sim.errors import IllegalMoveError, is_integer_in
from velonimo_sim.velonimo.cards import DECK, HARES, RIDERS, TORTOISES, card_texts, parse_cards


class Kind(IntEnum):
    """What a move does; the text form stands beside it."""

    PLAY = 0  # R2 R3 R7, or R2 R3 +jersey
    PASS = 1  # pass
    SWAP = 2  # swap 2: take cards from seat 2
    DECLINE = 3  # decline: no swap, where it is optional
    GIVE = 4  # give B4 H25
    LEAD = 5  # lead 3: seat 3 leads the next attack
    KEEP = 6  # keep: take the reward
    FORCE = 7  # force: the opponent takes the reward


_KIND_AT = 56
_AUTHOR_AT = 59
JERSEY = np.uint64(1 << 63)
"""Flag of a play to which the Jersey is added (V9)."""
PASS = np.uint64(Kind.PASS << _KIND_AT)
DECLINE = np.uint64(Kind.DECLINE << _KIND_AT)
KEEP = np.uint64(Kind.KEEP << _KIND_AT)
FORCE = np.uint64(Kind.FORCE << _KIND_AT)

_KIND_NAMES = [kind.name.lower() for kind in Kind]
_WORDS = {"pass": PASS, "decline": DECLINE, "keep": KEEP, "force": FORCE}
_SEAT_KINDS = {"swap": Kind.SWAP, "lead": Kind.LEAD}


@inlined
def move_of(kind: int, content: np.uint64) -> np.uint64:
    """Return the move of that kind with the given cards (or seat)."""
    return shift_left(np.uint64(kind), _KIND_AT) | np.uint64(content)


@inlined
def kind_of(move: np.uint64) -> int:
    """Return the ``Kind`` of a move."""
    return integer(shift_right(move, _KIND_AT) & np.uint64(7))


@inlined
def cards_of(move: np.uint64) -> np.uint64:
    """Return the cards of a play or gift."""
    return move & DECK


@inlined
def seat_of(move: np.uint64) -> int:
    """Return the seat that a ``swap`` or ``lead`` names."""
    return integer(move & np.uint64(0xFF))


@inlined
def logged(move: np.uint64, author: int) -> np.uint64:
    """Return a move as the log of a view shows it to everybody: with its author, a gift without its cards (V22)."""
    public = move & ~DECK if kind_of(move) == Kind.GIVE else move
    return public | shift_left(np.uint64(author), _AUTHOR_AT)


@inlined
def author_of(entry: np.uint64) -> int:
    """Return the seat that made a move of a log."""
    return integer(shift_right(entry, _AUTHOR_AT) & np.uint64(7))


@inlined
def move_of_entry(entry: np.uint64) -> np.uint64:
    """Return the move of an entry of a log, a gift without its cards."""
    return entry & ~shift_left(np.uint64(7), _AUTHOR_AT)


def logged_text(entry: np.uint64) -> str:
    """Return the text of the move of an entry of a log; a gift is just ``give``."""
    move = np.uint64(move_of_entry(entry))
    return "give" if kind_of(move) == Kind.GIVE else move_text(move)


@inlined
def lowest_number(cards: np.uint64) -> int:
    """Return the number of the lowest rider of a legal play: within a team the lowest bit, in a number group any."""
    return (lowest_index(cards) & 7) + 1


@inlined
def value_of(cards: np.uint64) -> int:
    """Return the value of the cards of a legal play, without the Jersey (V6, V7)."""
    if cards & HARES:
        return 25 + 5 * (lowest_index(cards) // 8)
    size = popcount(cards)
    return lowest_number(cards) if size == 1 else 10 * size + lowest_number(cards)


@inlined
def is_single(cards: np.uint64) -> bool:
    """Whether the word holds exactly one card."""
    return bool(cards != U0 and without_lowest(cards) == U0)


@inlined
def is_combination(cards: np.uint64) -> bool:
    """Whether cards, of which there are two or more, are riders that share their colour or their number (V7, V8)."""
    if cards & ~RIDERS:
        return False
    low = lowest_index(cards)
    team = shift_left(np.uint64(0x7F), low & 0x38)
    number = shift_left(TORTOISES, low & 7)
    return bool(cards & ~team == U0 or cards & ~number == U0)


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
    kind = Kind(int(kind_of(word)))
    cards = " ".join(card_texts(word))
    if kind is Kind.PLAY:
        text = cards + (" +jersey" if word & JERSEY else "")
    elif kind is Kind.GIVE:
        text = f"give {cards}"
    elif kind in (Kind.SWAP, Kind.LEAD):
        text = f"{kind.name.lower()} {seat_of(word)}"
    else:
        text = kind.name.lower()
    try:
        if parse_move(text) == word:
            return text
    except IllegalMoveError:
        pass
    raise ValueError(f"{int(word):#018x} is no move")


class Move(int):
    """A move as bots in plain Python are handed it: the word itself, and what it means.

    Parameters
    ----------
    word : int
        The move as a word.
    jersey_bonus : int
        What the Jersey adds to a play at this table.
    """

    jersey_bonus: int

    def __new__(cls, word: int, jersey_bonus: int = 0) -> Self:
        """Return a word with the bonus that counts for it."""
        move = super().__new__(cls, word)
        move.jersey_bonus = jersey_bonus
        return move

    @property
    def kind(self) -> str:
        """What the move does: play, pass, swap, decline, give, lead, keep or force."""
        return _KIND_NAMES[self >> _KIND_AT & 7]

    @property
    def cards(self) -> list[str]:
        """Cards of a play or a gift; else none."""
        return card_texts(self) if self.kind in ("play", "give") else []

    @property
    def jersey(self) -> bool:
        """Whether the Jersey is added to the play."""
        return self >= int(JERSEY)

    @property
    def value(self) -> int:
        """Value of a play, the Jersey's bonus included; 0 for other moves."""
        if self.kind != "play":
            return 0
        return int(value_of(np.uint64(self & int(DECK)))) + (self.jersey_bonus if self.jersey else 0)

    @property
    def seat(self) -> int | None:
        """Seat that a swap or a lead names; else None."""
        return self & 0xFF if self.kind in ("swap", "lead") else None

    @property
    def text(self) -> str:
        """The move as text."""
        return move_text(int(self))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<{self.text}>"


def parse_move(text: str) -> np.uint64:
    """Return the move that a text describes; cards may stand in any order.

    Raises
    ------
    IllegalMoveError
        If the text is no move; whether the move is legal is another question.
    """
    if not isinstance(text, str):
        raise IllegalMoveError(f"{text!r} is no move: moves are written as text")
    first, *rest = text.split() or [""]
    try:
        if first in _WORDS and not rest:
            return _WORDS[first]
        if first in _SEAT_KINDS and len(rest) == 1 and rest[0] in ("0", "1", "2", "3", "4"):
            return np.uint64(move_of(int(_SEAT_KINDS[first]), np.uint64(int(rest[0]))))
        if first == "give" and rest:
            return np.uint64(move_of(int(Kind.GIVE), parse_cards(rest)))
        if first and first not in _WORDS and first not in _SEAT_KINDS and first not in ("give", "+jersey"):
            jersey = rest[-1:] == ["+jersey"]
            cards = parse_cards([first, *rest[:-1]] if jersey else [first, *rest])
            return cards | JERSEY if jersey else cards
    except ValueError as error:
        raise IllegalMoveError(f"move {text!r}: {error}") from None
    raise IllegalMoveError(
        f"{text!r} is no move: write cards ('R2 R3', 'R2 R3 +jersey'), 'pass', 'swap SEAT', 'decline', "
        "'give CARDS', 'lead SEAT', 'keep' or 'force', with seats 0-4"
    )
