"""The 55 cards of a Velonimo deck as the bits of one word (V1-V3).

Byte c holds team c; bits 0-6 of the byte are the numbers 1-7, bit 7 of the bytes 0-5 are the hares::

    byte    6         5         4         3         2         1         0
    team    yellow    red       pink      green     gray      brown     blue
    bit  55 54..48 47 46..40 39 38..32 31 30..24 23 22..16 15 14..8   7 6..0
         -  7 .. 1 50 7 .. 1 45 7 .. 1 40 7 .. 1 35 7 .. 1 30 7 .. 1 25 7..1

A team is a shift, a number is one mask, a hand is one word. Byte 7 is free for what a move says besides its cards
(``moves.py``). The Jersey is no card (V1).
"""

from collections.abc import Iterable

import numpy as np

TEAMS = "BNAGPRY"
"""Letter of team c (V2)."""
TEAM_NAMES = ("blue", "brown", "gray", "green", "pink", "red", "yellow")
HARE_VALUES = (25, 30, 35, 40, 45, 50)
"""Value of the hare in byte 0-5 (V1)."""

RIDERS = np.uint64(0x007F_7F7F_7F7F_7F7F)
HARES = np.uint64(0x0000_8080_8080_8080)
DECK = RIDERS | HARES
TORTOISES = np.uint64(0x0001_0101_0101_0101)
"""All riders with the number 1 (V3); the mask of number v is this one shifted by v - 1."""
DROMEDARIES = np.uint64(0x0002_0202_0202_0202)
"""All riders with the number 2 (V3)."""

DECK_SIZE = 55
DECK_POSITIONS = np.array(
    [8 * team + i for team in range(7) for i in range(7)] + [8 * i + 7 for i in range(6)], np.uint8
)
"""Bit position of each card of the unshuffled deck: riders by team and number, then hares; shape (55,)."""

_TEXT_OF_POSITION = {8 * team + i: f"{TEAMS[team]}{i + 1}" for team in range(7) for i in range(7)} | {
    8 * i + 7: f"H{value}" for i, value in enumerate(HARE_VALUES)
}
_POSITION_OF_TEXT = {text: position for position, text in _TEXT_OF_POSITION.items()}


def position_of(text: str) -> int:
    """Return the bit position of a card, such as ``R7`` or ``H25``.

    Raises
    ------
    ValueError
        If there is no such card.
    """
    position = _POSITION_OF_TEXT.get(text)
    if position is None:
        letters = ", ".join(f"{letter} {name}" for letter, name in zip(TEAMS, TEAM_NAMES, strict=True))
        hares = ", ".join(f"H{value}" for value in HARE_VALUES)
        raise ValueError(f"unknown card {text!r}: cards are a letter ({letters}) with 1-7, or {hares}")
    return position


def text_of_position(position: int) -> str:
    """Return the name of the card at a bit position.

    Raises
    ------
    ValueError
        If there is no card.
    """
    text = _TEXT_OF_POSITION.get(position)
    if text is None:
        raise ValueError(f"position {position}: no card has it")
    return text


def parse_card(text: str) -> np.uint64:
    """Return the word with the one card, such as ``R7`` or ``H25``.

    Raises
    ------
    ValueError
        If there is no such card.
    """
    return np.uint64(1 << position_of(text))


def parse_cards(texts: Iterable[str]) -> np.uint64:
    """Return the word with all the cards named.

    Raises
    ------
    ValueError
        If a card does not exist or is named twice.
    """
    cards = 0
    for text in texts:
        card = int(parse_card(text))
        if cards & card:
            raise ValueError(f"card {text} is named twice")
        cards |= card
    return np.uint64(cards)


def card_texts(cards: int | np.uint64) -> list[str]:
    """Return the names of the cards in a word, in plain ASCII order (as in game records)."""
    word, texts = int(cards) & int(DECK), []
    while word:
        position = word.bit_length() - 1
        texts.append(_TEXT_OF_POSITION[position])
        word ^= 1 << position
    return sorted(texts)
