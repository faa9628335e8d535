"""How much of an outcome a model of hands could explain at best: from hands that were dealt twice, but for colours."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.analysis.cards import hand_rows
from velonimo_sim.analysis.hands import Words, colourings, without_colours
from velonimo_sim.analysis.intervals import student_quantile
from velonimo_sim.analysis.ridge import Floats
from velonimo_sim.analysis.runs import Source
from velonimo_sim.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

_FEWEST_PAIRS = 500
_PARTS = 100
"""Hands are put into so many parts at random, from whose differences the interval comes."""
_MIXED = np.uint64(0x9E37_79B9_7F4A_7C15)
"""Multiplied with it, hands that are alike in most bits differ in the highest (Knuth's multiplicative hashing)."""


def hand_ceiling(run: Source, outcome: str = "beaten", level: float = 0.95) -> "pd.DataFrame":
    """Return the share of the variance of an outcome that a perfect model of the hand dealt would explain.

    It is the R2 that no model of hands can exceed, however it is made: what is left is the other hands, the place at
    the table, the chance of the game, and play. To a bot that makes no difference between colours, hands that differ in
    colours alone are the same hand, and in a long run many are dealt twice or more. Two rows with the same hand have
    nothing else in common; so the covariance of their outcomes is the variance of what hands are worth, the component
    between classes of a one-way analysis of variance (Searle, Casella and McCulloch, "Variance Components", 1992,
    chapter 3). Hands of many colourings (``hands.colourings``) meet more often than their share: a pair counts by one
    over their number, as if hands were drawn as they are dealt (Horvitz and Thompson, JASA 47, 1952).

    Parameters
    ----------
    run : LoadedRuns, Path, str, sequence or mapping of them, or pandas.DataFrame
        Runs, or rows of cols, with the same number of players. All hands are held in memory, up to 100 bytes a row.
    outcome : str
        As of ``card_values``.
    level : float
        The coverage asked for.

    Returns
    -------
    pandas.DataFrame
        One row: ``share``, ``low``, ``high`` (of 1; estimates can fall below 0); ``pairs``, how many pairs of rows have
        the same hand. ``attrs``: ``outcome``, ``games``, ``deals``.

    Raises
    ------
    UsageError
        If games are not all of as many players, the pairs are too few, the outcome never differs, there is no such
        outcome, or a column is missing.
    """
    import pandas as pd

    parts = [*hand_rows(run, outcome)]
    values = np.concatenate([rows.outcome for rows in parts])
    classes, of_row = np.unique(np.concatenate([without_colours(rows.hands) for rows in parts]), return_inverse=True)
    variance = float(values.var())
    if variance == 0:
        raise UsageError(f"all hands have the same {outcome}: there is nothing to explain")
    pairs, products = _pairs(of_row, values - values.mean())
    if pairs.sum() < _FEWEST_PAIRS:
        raise UsageError(f"{int(pairs.sum())} pairs of rows have the same hand: it takes {_FEWEST_PAIRS}, a longer run")
    weights = 1 / colourings(classes)
    share, half = _ratio(_by_part(classes, weights * products / variance), _by_part(classes, weights * pairs), level)
    table = pd.DataFrame({"share": [share], "low": share - half, "high": share + half, "pairs": int(pairs.sum())})
    games, deals = sum(rows.games for rows in parts), sum(len(rows.starts) for rows in parts)
    table.attrs |= {"outcome": outcome, "games": games, "deals": deals}
    return table


def _pairs(of_row: NDArray[np.intp], deviations: Floats) -> tuple[Floats, Floats]:
    """Return of each class the number of pairs of its rows, and the sum over them of the products of deviations."""
    rows, sums = np.bincount(of_row), np.bincount(of_row, deviations)
    return rows * (rows - 1) / 2, (sums**2 - np.bincount(of_row, deviations**2)) / 2


def _by_part(classes: Words, of_class: Floats) -> Floats:
    """Return sums over the classes of each part."""
    part = ((classes * _MIXED >> np.uint64(32)) % np.uint64(_PARTS)).astype(np.intp)
    return np.bincount(part, of_class, _PARTS).astype(np.float64)


def _ratio(sums: Floats, weights: Floats, level: float) -> tuple[float, float]:
    """Return the ratio of two sums over parts, and half its interval (Cochran, "Sampling techniques", 1977, ch. 6)."""
    ratio, parts = float(sums.sum() / weights.sum()), len(sums)
    spread = np.sqrt(((sums - ratio * weights) ** 2).sum() * parts / (parts - 1)) / weights.sum()
    return ratio, student_quantile(level, parts - 1) * float(spread)
