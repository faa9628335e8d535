"""Tables of what bots reach, and of the difference between two bots or two runs, with their intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.analysis.frames import (
    OUTCOMES,
    Outcome,
    Rows,
    Run,
    checked_outcome,
    frame_of,
    greatest_total,
    outcome_bounds,
    rows_of,
)
from velonimo_sim.analysis.intervals import bounded_interval
from velonimo_sim.analysis.moments import GroupMoments
from velonimo_sim.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

_COLUMNS: dict[Outcome, tuple[str, str, str]] = {
    "won": ("win_share", "low", "high"),
    "total": ("mean_points", "points_low", "points_high"),
    "place": ("mean_place", "place_low", "place_high"),
}
"""The columns of a table of bots: the mean of an outcome and its interval."""


@dataclass(frozen=True)
class PairedDifference:
    """The mean difference of two bots within a deal, its interval, and the number of deals."""

    mean: float
    low: float
    high: float
    groups: int


def contrast_interval(
    moments: GroupMoments, contrast: NDArray[np.float64], bounds: tuple[float, float], level: float = 0.95
) -> tuple[float, float, float]:
    """Return a weighted sum of the means and its interval.

    Parameters
    ----------
    moments : GroupMoments
        Moments of vectors, one a group.
    contrast : numpy.ndarray
        dtype float64, shape (size,): the weights; 1 and -1 for the difference of two bots.
    bounds : (float, float)
        The least and the greatest value of the weighted sum in a group.
    level : float
        The coverage asked for.

    Returns
    -------
    (float, float, float)
        Mean, low, high; without groups 0 and the bounds.
    """
    mean = float(contrast @ moments.mean)
    return mean, *bounded_interval(mean, moments.variance_of_mean(contrast), moments.groups, bounds, level)


def bot_records(
    bots: Sequence[str],
    games_of_bots: Sequence[int],
    moments: Mapping[Outcome, GroupMoments],
    players: int,
    most_points: float,
    level: float = 0.95,
) -> list[dict[str, Any]]:
    """Return one record a bot: games, wins, and the means of win share, points and place with their intervals.

    Parameters
    ----------
    bots : sequence of str
        Texts of the bots.
    games_of_bots : sequence of int
        How many rows each bot has in a group: a bot in two seats of a game has two of that game.
    moments : mapping
        For ``won``, ``total`` and ``place`` the moments of vectors with one entry a bot: the mean over its rows of a
        group.
    players : int
        Seats of a game.
    most_points : float
        The most points of a game.
    level : float
        The coverage asked for.

    Returns
    -------
    list of dict
        ``bot``, ``games``, ``wins``, ``win_share``, ``low``, ``high``, ``mean_points``, ``points_low``,
        ``points_high``, ``mean_place``, ``place_low``, ``place_high``; a mean is None when there are no games, and its
        interval then all that is possible.
    """
    records = []
    for index, (bot, games) in enumerate(zip(bots, games_of_bots, strict=True)):
        contrast = np.eye(len(bots))[index]
        games_in_all = int(games) * moments["won"].groups
        record = {"bot": bot, "games": games_in_all, "wins": round(moments["won"].mean[index] * games_in_all)}
        for outcome in OUTCOMES:
            bounds = outcome_bounds(outcome, players, most_points)
            mean, low, high = contrast_interval(moments[outcome], contrast, bounds, level)
            values = mean if moments[outcome].groups else None, low, high
            record |= dict(zip(_COLUMNS[outcome], values, strict=True))
        records.append(record)
    return records


def bot_table(run: Run, most_points: float | None = None, level: float = 0.95) -> "pd.DataFrame":
    """Return one row a bot: games, wins, and the means of win share, points and place with their intervals.

    The unit of the intervals is the deal, with all its games (see ``bounded_interval``).

    Parameters
    ----------
    run : pandas.DataFrame, Path or str
        Game rows, or the folder of a run.
    most_points : float, optional
        The most points of a game, a bound of the mean points; by default the greatest total of the run.
    level : float
        The coverage asked for.

    Returns
    -------
    pandas.DataFrame
        The columns of ``bot_records``; bots in the order of their category, or of their texts.

    Raises
    ------
    UsageError
        If there are no games, or not all deals are played by the same tables.
    """
    import pandas as pd

    rows = rows_of(run)
    moments = {outcome: _moments(rows.means(outcome)) for outcome in OUTCOMES}
    most = greatest_total([rows], most_points)
    return pd.DataFrame(bot_records(rows.bots, rows.games_of_bots.tolist(), moments, rows.players, most, level))


def paired_difference(
    run: Run,
    first: str,
    second: str,
    outcome: str = "won",
    most_points: float | None = None,
    level: float = 0.95,
) -> PairedDifference:
    """Return by how much the mean of one bot exceeds that of another over the same deals.

    Parameters
    ----------
    run : pandas.DataFrame, Path or str
        Game rows, or the folder of a run.
    first, second : str
        The bots.
    outcome : str
        ``won``, ``place`` or ``total``.
    most_points : float, optional
        The most points of a game; by default the greatest total of the run.
    level : float
        The coverage asked for.

    Raises
    ------
    UsageError
        If a bot or an outcome is not known, there are no games, or not all deals are played by the same tables.
    """
    rows, name = rows_of(run), checked_outcome(outcome)
    means = rows.means(name)
    differences = means[:, [rows.index_of(first)]] - means[:, [rows.index_of(second)]]
    bounds = _difference_bounds(name, [rows], most_points)
    return PairedDifference(*contrast_interval(_moments(differences), np.ones(1), bounds, level), len(differences))


def pair_table(run: Run, outcome: str = "won", most_points: float | None = None, level: float = 0.95) -> "pd.DataFrame":
    """Return one row for each pair of bots: by how much the mean of the first exceeds that of the second.

    Parameters
    ----------
    run : pandas.DataFrame, Path or str
        Game rows, or the folder of a run.
    outcome : str
        ``won``, ``place`` or ``total``.
    most_points : float, optional
        The most points of a game; by default the greatest total of the run.
    level : float
        The coverage asked for.

    Returns
    -------
    pandas.DataFrame
        ``first``, ``second``, ``mean``, ``low``, ``high``, ``groups``: what ``paired_difference`` says of them; bots in
        the order of their category, or of their texts. One bot alone makes no pair.

    Raises
    ------
    UsageError
        If an outcome is not known, there are no games, or not all deals are played by the same tables.
    """
    import pandas as pd

    rows, name = rows_of(run), checked_outcome(outcome)
    moments, bounds = _moments(rows.means(name)), _difference_bounds(name, [rows], most_points)
    each = np.eye(len(rows.bots))
    records = [
        {"first": rows.bots[first], "second": rows.bots[second]}
        | asdict(
            PairedDifference(*contrast_interval(moments, each[first] - each[second], bounds, level), moments.groups)
        )
        for first, second in combinations(range(len(rows.bots)), 2)
    ]
    return pd.DataFrame(records, columns=["first", "second", "mean", "low", "high", "groups"])


def compare_runs(
    base: Run, variant: Run, outcome: str = "won", most_points: float | None = None, level: float = 0.95
) -> "pd.DataFrame":
    """Return for each bot by how much a variant changes its mean, over the deals that two runs share.

    Parameters
    ----------
    base, variant : pandas.DataFrame, Path or str
        Game rows or folders of two runs of the same bots from the same seed, under different rules.
    outcome : str
        ``won``, ``place`` or ``total``.
    most_points : float, optional
        The most points of a game; by default the greatest total of both runs.
    level : float
        The coverage asked for.

    Returns
    -------
    pandas.DataFrame
        ``bot``, ``base`` and ``variant`` (the means), ``mean`` (variant - base), ``low``, ``high``, ``groups``.

    Raises
    ------
    UsageError
        If the bots, or the numbers of players, are not the same, no deal is shared, an outcome is not known, or not all
        deals of a run are played by the same tables.
    """
    import pandas as pd

    name, runs = checked_outcome(outcome), [rows_of(base), rows_of(variant)]
    for only, other in (runs, runs[::-1]):
        for bot in only.bots:
            other.index_of(bot)
    if runs[0].players != runs[1].players:
        raise UsageError(f"{runs[1].players} players in the variant: the base has {runs[0].players}")
    deals = np.intersect1d(runs[0].deals, runs[1].deals)
    if len(deals) == 0:
        raise UsageError("the runs share no deal: both have to be played from the same seed")
    bots = runs[0].bots
    before, after = (_means_of(rows, name, deals, bots) for rows in runs)
    moments, bounds = _moments(after - before), _difference_bounds(name, runs, most_points)
    records = []
    for bot, contrast, old, new in zip(bots, np.eye(len(bots)), before.mean(axis=0), after.mean(axis=0), strict=True):
        change = PairedDifference(*contrast_interval(moments, contrast, bounds, level), len(deals))
        records.append({"bot": bot, "base": old, "variant": new} | asdict(change))
    return pd.DataFrame(records)


def change_records(base: Run, variant: Run) -> list[dict[str, Any]]:
    """Return one record a bot: how a variant changes its win share, points and place, over the deals that runs share.

    Returns
    -------
    list of dict
        ``bot``, ``deals``, and ``win_share``, ``points`` and ``place`` (variant - base), each also with ``_low`` and
        ``_high``.

    Raises
    ------
    UsageError
        As ``compare_runs`` does.
    """
    runs = [frame_of(run) for run in (base, variant)]
    names: dict[Outcome, str] = {"won": "win_share", "total": "points", "place": "place"}
    changes: list[dict[str, Any]] = []
    for outcome, name in names.items():
        for index, row in enumerate(compare_runs(runs[0], runs[1], outcome).to_dict("records")):
            if index == len(changes):
                changes.append({"bot": row["bot"], "deals": row["groups"]})
            changes[index] |= {name: row["mean"], f"{name}_low": row["low"], f"{name}_high": row["high"]}
    return changes


def _moments(values: NDArray[np.float64]) -> GroupMoments:
    moments = GroupMoments(values.shape[1])
    moments.add(values)
    return moments


def _difference_bounds(outcome: Outcome, runs: Sequence[Rows], most_points: float | None) -> tuple[float, float]:
    least, greatest = outcome_bounds(outcome, runs[0].players, greatest_total(runs, most_points))
    return least - greatest, greatest - least


def _means_of(rows: Rows, outcome: Outcome, deals: NDArray[np.int64], bots: Sequence[str]) -> NDArray[np.float64]:
    """Return the means of some deals and bots, as [deal, bot]."""
    columns = [rows.index_of(bot) for bot in bots]
    return rows.means(outcome)[np.searchsorted(rows.deals, deals)][:, columns]
