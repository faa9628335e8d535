"""Tables that count and rank the plays of a group of riders without listing them (V6, V7).

A *group* is 7 bits: the numbers that a hand holds of one team, or the teams that it holds of one number. Every
rider play belongs to exactly one group: single riders and combinations of a colour to a team group, combinations of a
number to a number group. Thresholds ("value to beat") run from 0 to ``TOP_VALUE``.
"""

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.velonimo.cards import HARE_VALUES

TOP_VALUE = 77
"""Value of the highest rider play, seven 7s, before the Jersey."""


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
    table = np.zeros((TOP_VALUE + 1, 7, 128), np.uint8)
    sizes = [[part.bit_count() for part in _subsets(group, 2)] for group in range(128)]
    for beat in range(TOP_VALUE + 1):
        for number in range(1, 8):
            table[beat, number - 1] = [sum(_value(size, number) > beat for size in group) for group in sizes]
    return table


def _spread() -> NDArray[np.uint64]:
    return np.array([sum(1 << 8 * team for team in range(7) if group >> team & 1) for group in range(128)], np.uint64)


def _hares_above() -> NDArray[np.uint64]:
    return np.array(
        [
            sum(1 << (8 * i + 7) for i, value in enumerate(HARE_VALUES) if value > beat)
            for beat in range(TOP_VALUE + 1)
        ],
        np.uint64,
    )


TEAM_PLAYS = _team_plays()
"""[beat, group]: how many sets of a team group are worth more than ``beat``."""
TEAM_SETS = _team_sets()
"""[group, k]: the sets of a team group, highest value first, equal values by lowest set; the first
``TEAM_PLAYS[beat, group]`` of them are those that beat."""
NUMBER_PLAYS = _number_plays()
"""[beat, number - 1, group]: how many combinations of a number group are worth more than ``beat``."""
NUMBER_SETS = _number_sets()
"""[group, k]: the combinations of a number group, most cards first, equal sizes by lowest set."""
SPREAD = _spread()
"""[group]: the word with bit 8 c for each bit c of the group; shifted by v - 1 these are the cards of number v."""
HARES_ABOVE = _hares_above()
"""[beat]: the hares worth more than ``beat``."""
