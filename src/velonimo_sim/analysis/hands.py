"""What can be said of dealt hands: which cards, how many of a kind, how well they go together."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.errors import unknown_name
from velonimo_sim.velonimo.cards import (
    DECK_POSITIONS,
    DROMEDARIES,
    HARE_VALUES,
    HARES,
    RIDERS,
    TORTOISES,
    card_texts,
)

Words: TypeAlias = NDArray[np.uint64]
"""Hands as words of ``velonimo/cards.py``, shape (n,)."""
Counts: TypeAlias = NDArray[np.int64]

_CARDS: Words = np.uint64(2) ** DECK_POSITIONS.astype(np.uint64)
"""The word of each card, in the order of the deck."""
_COLOURS: Words = _CARDS[:49].reshape(7, 7).sum(axis=1, dtype=np.uint64)
"""All riders of a team, for each of the seven."""
_NUMBERS: Words = _CARDS[:49].reshape(7, 7).sum(axis=0, dtype=np.uint64)
"""All riders of a number, for each of the seven."""

DECK_TEXTS: tuple[str, ...] = tuple(card_texts(card)[0] for card in _CARDS)
"""The texts of the cards in the order of the deck: riders by team and number, then hares (V1)."""


def card_matrix(hands: Words) -> NDArray[np.bool_]:
    """Return which cards are in which hand.

    Parameters
    ----------
    hands : numpy.ndarray
        dtype uint64, shape (n,): words of ``velonimo/cards.py``.

    Returns
    -------
    numpy.ndarray
        dtype bool, shape (n, 55), the cards in the order of ``DECK_TEXTS``.
    """
    return np.asarray((hands[:, None] & _CARDS) != 0)


def colour_counts(hands: Words) -> Counts:
    """Return how many riders of each team are in each hand, dtype int64, shape (n, 7)."""
    return _counts(hands[:, None] & _COLOURS)


def number_counts(hands: Words) -> Counts:
    """Return how many riders of each number 1-7 are in each hand, dtype int64, shape (n, 7)."""
    return _counts(hands[:, None] & _NUMBERS)


def _counts(words: Words) -> Counts:
    return np.bitwise_count(words).astype(np.int64)


def _best_hare(hands: Words) -> Counts:
    best = np.zeros(len(hands), np.int64)
    for value, hare in zip(HARE_VALUES, _CARDS[49:], strict=True):
        best[(hands & hare) != 0] = value
    return best


def _loners(hands: Words) -> Counts:
    alone_of_colour = ((colour_counts(hands) == 1) * _COLOURS).sum(axis=1, dtype=np.uint64)
    alone_of_number = ((number_counts(hands) == 1) * _NUMBERS).sum(axis=1, dtype=np.uint64)
    return _counts(hands & alone_of_colour & alone_of_number)


_COUNTED: dict[str, tuple[str, Callable[[Words], Counts]]] = {
    "hares": ("hares held", lambda hands: _counts(hands & HARES)),
    "tortoises": ("Tortoises held, the riders with the number 1", lambda hands: _counts(hands & TORTOISES)),
    "dromedaries": ("Dromedaries held, the riders with the number 2", lambda hands: _counts(hands & DROMEDARIES)),
    "riders": ("riders held", lambda hands: _counts(hands & RIDERS)),
    "best_hare": ("value of the best hare, 0 without one", _best_hare),
    "largest_colour": ("most riders of one colour", lambda hands: colour_counts(hands).max(axis=1)),
    "largest_number": ("most riders of one number", lambda hands: number_counts(hands).max(axis=1)),
    "colours": ("colours of which a rider is held", lambda hands: (colour_counts(hands) > 0).sum(axis=1)),
    "loners": ("riders that share neither colour nor number with another of the hand", _loners),
}

HAND_FEATURES: Mapping[str, str] = MappingProxyType(
    {name: meaning for name, (meaning, _) in _COUNTED.items()} | {text: f"holds {text}" for text in DECK_TEXTS}
)
"""What each feature of a hand means, by name."""


def hand_feature(name: str, hands: Words) -> Counts | NDArray[np.bool_]:
    """Return one feature of each hand.

    Parameters
    ----------
    name : str
        One of ``HAND_FEATURES``: a count such as ``hares`` or ``largest_colour``, or the text of a card.
    hands : numpy.ndarray
        dtype uint64, shape (n,): words of ``velonimo/cards.py``.

    Returns
    -------
    numpy.ndarray
        Shape (n,): bool for a card, else int64.

    Raises
    ------
    UsageError
        If there is no such feature.
    """
    if name in DECK_TEXTS:
        return np.asarray((hands & _CARDS[DECK_TEXTS.index(name)]) != 0)
    if name not in _COUNTED:
        raise unknown_name("feature of a hand", name, [*_COUNTED, "cards such as R7 or H25"])
    return _COUNTED[name][1](hands)
