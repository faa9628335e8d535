"""Tables that count and rank the plays of a group of riders without listing them (V6, V7).

A *group* is 7 bits: the numbers that a hand holds of one team, or the teams that it holds of one number. Every
rider play belongs to exactly one group: single riders and combinations of a colour to a team group, combinations of a
number to a number group. Thresholds ("value to beat") run from 0 to ``TOP_VALUE``.
"""

from math import comb

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.velonimo.cards import HARE_VALUES

TOP_VALUE = 77
"""Value of the highest rider play, seven 7s, before the Jersey."""

NO_PLAY = 4095
"""Rank of a group without a play, worse than any other rank."""


def _value(size: int, low: int) -> int:
    """Return the value of ``size`` riders of which the lowest number is ``low`` (V6, V7)."""
    return low if size == 1 else 10 * size + low


def _team_value(group: int) -> int:
    return _value(group.bit_count(), (group & -group).bit_length())


def _subsets(group: int, at_least: int) -> list[int]:
    return [part for part in range(1, 128) if part & ~group == 0 and part.bit_count() >= at_least]


def _team_sets() -> NDArray[np.uint8]:
    table = np.zeros((128, 128), np.uint8)
    for group in range(128):
        ranked = sorted(_subsets(group, 1), key=lambda part: (-_team_value(part), part))
        table[group, : len(ranked)] = ranked
    return table


def _team_plays() -> NDArray[np.uint8]:
    values = [[_team_value(part) for part in _subsets(group, 1)] for group in range(128)]
    return np.array(
        [[sum(value > beat for value in group) for group in values] for beat in range(TOP_VALUE + 1)], np.uint8
    )


def _number_sets() -> NDArray[np.uint8]:
    table = np.zeros((128, 128), np.uint8)
    for group in range(128):
        ranked = sorted(_subsets(group, 2), key=lambda part: (-part.bit_count(), part))
        table[group, : len(ranked)] = ranked
    return table


def _number_plays() -> NDArray[np.uint8]:
    return np.array(
        [
            [
                [sum(comb(size, k) for k in range(2, size + 1) if _value(k, number) > beat) for size in range(8)]
                for number in range(1, 8)
            ]
            for beat in range(TOP_VALUE + 1)
        ],
        np.uint8,
    )


def _follow_rank(size: int, low: int) -> int:
    return 8 * _value(size, low) - size


def _lead_rank(size: int, low: int) -> int:
    return 128 * (7 - size) + _value(size, low)


def _team_follow() -> NDArray[np.uint16]:
    table = np.full((TOP_VALUE + 1, 128), NO_PLAY, np.uint16)
    for beat, group in np.argwhere(TEAM_PLAYS):
        cheapest = int(TEAM_SETS[group, TEAM_PLAYS[beat, group] - 1])
        table[beat, group] = _follow_rank(cheapest.bit_count(), (cheapest & -cheapest).bit_length())
    return table


def _number_follow() -> NDArray[np.uint16]:
    table = np.full((TOP_VALUE + 1, 7, 8), NO_PLAY, np.uint16)
    for beat, i, size in np.argwhere(NUMBER_PLAYS):
        table[beat, i, size] = min(_follow_rank(k, i + 1) for k in range(2, size + 1) if _value(k, i + 1) > beat)
    return table


def _team_lead() -> NDArray[np.uint16]:
    ranks = [_lead_rank(group.bit_count(), (group & -group).bit_length()) for group in range(1, 128)]
    return np.array([NO_PLAY, *ranks], np.uint16)


def _number_lead() -> NDArray[np.uint16]:
    return np.array(
        [[NO_PLAY if size < 2 else _lead_rank(size, number) for size in range(8)] for number in range(1, 8)], np.uint16
    )


def _spread() -> NDArray[np.uint64]:
    return np.array([sum(1 << 8 * team for team in range(7) if group >> team & 1) for group in range(128)], np.uint64)


def _hares_above() -> NDArray[np.uint64]:
    return np.array(
        [sum(1 << (8 * i + 7) for i, value in enumerate(HARE_VALUES) if value > beat) for beat in range(TOP_VALUE + 1)],
        np.uint64,
    )


TEAM_PLAYS = _team_plays()
"""[beat, group]: how many sets of a team group are worth more than ``beat``."""
TEAM_SETS = _team_sets()
"""[group, k]: the sets of a team group, highest value first, equal values by lowest set; the first
``TEAM_PLAYS[beat, group]`` of them are those that beat."""
NUMBER_PLAYS = _number_plays()
"""[beat, number - 1, size]: how many combinations of a number group of that size are worth more than ``beat``."""
NUMBER_SETS = _number_sets()
"""[group, k]: the combinations of a number group, most cards first, equal sizes by lowest set."""
TEAM_FOLLOW = _team_follow()
"""[beat, group]: rank of the cheapest play of a team group above ``beat``, lower is better: 8 x value - cards."""
NUMBER_FOLLOW = _number_follow()
"""[beat, number - 1, size]: likewise for a number group of that size."""
TEAM_LEAD = _team_lead()
"""[group]: rank of a whole team group as a lead, lower is better: 128 x (7 - cards) + value."""
NUMBER_LEAD = _number_lead()
"""[number - 1, size]: likewise for a number group of that size."""
SPREAD = _spread()
"""[group]: the word with bit 8 c for each bit c of the group; shifted by v - 1 these are the cards of number v."""
HARES_ABOVE = _hares_above()
"""[beat]: the hares worth more than ``beat``."""
