"""How much of an outcome is luck, and how many games it takes to see past it, with and without duplicate deals."""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.analysis.frames import Rows, Run, checked_outcome, rows_of
from velonimo_sim.analysis.intervals import student_quantile
from velonimo_sim.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

PARTS = ("deal", "bots", "play")
"""The parts of the variance of an outcome; see ``variance_shares``."""

_ROUNDING = 1e-6
"""A mean difference of less than so many standard deviations is rounding: to see it would take 10^12 games or more."""
_MOST_GAMES = 1e15
"""No more games are asked for: the number of games would not be exact, and nobody can play them."""

_Sums = NDArray[np.float64]
"""Sums over rows of numbers side by side, shape (..., columns + 2): of each column, of all squares, and of the squared
sums of the rows; all that variances and covariances of columns need, on average."""


def variance_shares(run: Run, outcome: str = "total", level: float = 0.95) -> "pd.DataFrame":
    """Return which shares of the variance of an outcome are the deal, the bots, and the play.

    Every bot plays every seat of a deal once, so each seat of a deal has one outcome a bot, side by side:
    ``outcome = mean of the bot + deal of the seat + rest``. Over all seats of all deals

    - ``deal`` is the covariance of two bots, the mean over all pairs: what a seat gets by its cards, its place at the
      table and the chance of its deal, whoever plays it,
    - ``bots`` is the variance of the means of these bots,
    - ``play`` is the variance of a bot, the mean over all bots, less ``deal``: what is neither, that is, what bots make
      differently of the same cards, and what their opponents do.

    Their sum is the variance of all outcomes. ``deal`` and ``play`` are the components of a two-way analysis of
    variance, ``(mean square of seats - mean square of residuals) / bots`` and the latter (Searle, Casella and
    McCulloch, "Variance Components", 1992, chapter 4; the bots are fixed). Bias is removed and intervals are found by
    leaving out one deal after the other (Miller, "The jackknife - a review", Biometrika 61, 1974), so that games of a
    deal may depend on each other. A share that is 0 can come out below. Where the bots are equally strong, the interval
    of their share is too narrow; whether they differ is what ``bot_table`` tells.

    Parameters
    ----------
    run : LoadedRuns, pandas.DataFrame, Path or str
        Game rows, or a run: different bots, one a seat, all of them in each seat of a deal once (seating rotations).
    outcome : str
        ``won``, ``place`` or ``total``.
    level : float
        The coverage asked for.

    Returns
    -------
    pandas.DataFrame
        ``part`` (``PARTS``), ``share`` (of 1; together 1), ``low``, ``high``; ``attrs`` says the ``outcome``, how many
        ``games`` and ``deals`` there are, and the ``variance``.

    Raises
    ------
    UsageError
        If a bot does not play each seat of each deal once, there are fewer than 3 deals, all outcomes are the same, or
        an outcome is not known.
    """
    import pandas as pd

    rows, name = rows_of(run), checked_outcome(outcome)
    values = _by_deal_seat_and_bot(rows, rows.outcome(name))
    _check_deals(len(values))
    if (values == values.flat[0]).all():
        raise UsageError(f"all have the same {name}: there is no variance to share out")
    estimates = _jackknifed(_sums_by_deal(values), lambda sums, deals: _shares(sums, deals * rows.players), level)
    table = pd.DataFrame(dict(zip(("share", "low", "high"), estimates, strict=True)))
    table.insert(0, "part", PARTS)
    games = len(values) * rows.players
    table.attrs = {"outcome": name, "games": games, "deals": len(values), "variance": float(values.var())}
    return table


def games_needed(
    run: Run,
    first: str,
    second: str,
    outcome: str = "won",
    differences: Sequence[float] = (1, 2, 5),
    power: float = 0.8,
    level: float = 0.95,
) -> "pd.DataFrame":
    """Return how many games it takes to tell two bots apart, on single deals and on duplicate ones.

    What is estimated is the mean of the one bot less that of the other at the tables of the run. The same number of
    games is played either with a new deal for each, the seatings taking turns, or with duplicate deals, each played by
    all seatings, as in the run. Of the difference within a game let ``v`` be the variance over deals, the mean over
    the seatings, and ``c`` the covariance of two games of a deal, the mean over all pairs of the ``m`` seatings. Then
    the estimate from ``G`` games has the variance ``v / G`` with single deals, and ``(v + (m - 1) c) / G`` with
    duplicate ones, since a deal is a cluster (Kish, "Survey Sampling", 1965). The cards that help the one in one
    seating help the other in another: ``c`` is below 0, and ``saving = -(m - 1) c / v`` is the share of games that
    duplicate deals save.

    With ``G = (z_level + z_power)^2 variance / difference^2`` games, the two-sided interval of a level leaves out 0
    with a chance of ``power`` (Lachin, "Introduction to sample size determination", Controlled Clinical Trials 2,
    1981). The variances are taken as they are in the run, whatever the difference.

    The interval of ``saving`` needs many deals: of intervals of 95 %, about 87 % hold the saving with 10 deals, 92-95 %
    with 50, and 95 % with 300.

    Parameters
    ----------
    run : LoadedRuns, pandas.DataFrame, Path or str
        Game rows, or a run of duplicate deals; both bots sit in every game.
    first, second : str
        The bots.
    outcome : str
        ``won``, ``place`` or ``total``.
    differences : sequence of float
        The differences asked for, in points of percent of ``won``, in units of the other outcomes.
    power, level : float
        The chance to see the difference, and the coverage of the interval that it is seen by.

    Returns
    -------
    pandas.DataFrame
        ``difference`` (that of the run first, if it is not 0 but for rounding, without its sign), ``single`` and
        ``duplicate`` (games, the latter whole deals), ``variance_single`` and ``variance_duplicate`` (a game, in
        squared units of the outcome, of ``won`` shares), ``saving`` (of 1), ``low``, ``high`` (of ``saving``).
        ``attrs`` says ``first``, ``second``, ``outcome``, ``seen`` (the difference of the run, with its sign), and from
        how many ``games`` and ``deals`` all this is estimated.

    Raises
    ------
    UsageError
        If a bot is not in every game, deals are not all played the same number of times or only once, there are fewer
        than 3, the difference is the same in all deals, one asked for is not above 0 or takes more than 10^15 games, or
        a bot, an outcome or a level is not known.
    """
    import pandas as pd

    rows, name = rows_of(run), checked_outcome(outcome)
    if not all(difference > 0 for difference in differences):
        raise UsageError(f"differences {list(differences)}: allowed are numbers above 0")
    if not 0 < power < 1:
        raise UsageError(f"power {power}: must be between 0 and 1, such as 0.8")
    values = _differences_by_deal_and_game(rows, rows.outcome(name), first, second)
    deals, _, seatings = values.shape
    _check_deals(deals)
    if (values == values[0]).all():
        raise UsageError(f"the difference of {first} and {second} is the same in all deals: one game shows it")
    sums = _sums_by_deal(values)
    saving, low, high = (float(number[0]) for number in _jackknifed(sums, _saving, level))
    variance, covariance = (deals / (deals - 1) * float(number) for number in _spread(sums.sum(axis=0), deals))
    clustered = variance + (seatings - 1) * covariance
    unit = 100 if name == "won" else 1
    seen = unit * float(values.mean())
    if abs(seen) < _ROUNDING * unit * math.sqrt(variance):
        seen = 0.0
    asked = np.array([abs(seen), *differences])[0 if seen else 1 :]
    quantiles = student_quantile(level, math.inf) + NormalDist().inv_cdf(power)
    single, duplicate = (quantiles**2 * each / (asked / unit) ** 2 for each in (variance, clustered))
    if max(single.max(initial=0), duplicate.max(initial=0)) > _MOST_GAMES:
        raise UsageError(f"differences {list(differences)}: {asked.min():g} takes more than {_MOST_GAMES:.0e} games")
    table = pd.DataFrame(
        {
            "difference": asked,
            "single": _whole(single),
            "duplicate": seatings * _whole(duplicate / seatings),
            "variance_single": variance,
            "variance_duplicate": clustered,
            "saving": saving,
            "low": low,
            "high": high,
        }
    )
    told = {"first": first, "second": second, "outcome": name, "seen": seen}
    table.attrs = told | {"games": deals * seatings, "deals": deals}
    return table


# Outcomes side by side.


def _by_deal_seat_and_bot(rows: Rows, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return values as [deal, seat, bot]."""
    shape = len(rows.deals), rows.players, len(rows.bots)
    place = np.ravel_multi_index((rows.deal, rows.frame["seat"].to_numpy(np.int64), rows.bot), shape)
    if len(rows.bots) != rows.players or (np.bincount(place, minlength=math.prod(shape)) != 1).any():
        raise UsageError(
            "not every bot plays every seat of a deal once: needed are different bots and seating rotations"
        )
    return np.asarray(np.bincount(place, values).reshape(shape), np.float64)


def _differences_by_deal_and_game(
    rows: Rows, values: NDArray[np.float64], first: str, second: str
) -> NDArray[np.float64]:
    """Return the difference of the means of two bots in a game, as [deal, 0, game of the deal]."""
    games = int(rows.game.max()) + 1
    means = []
    for bot in (first, second):
        of_bot = rows.bot == rows.index_of(bot)
        seats = np.bincount(rows.game[of_bot], minlength=games)
        if (seats == 0).any():
            raise UsageError(f"bot {bot!r} is not in every game: needed is a table at which both bots sit")
        means.append(np.bincount(rows.game[of_bot], values[of_bot], games) / seats)
    deal_of_game = rows.deal[np.unique(rows.game, return_index=True)[1]]
    counts = np.bincount(deal_of_game)
    if (counts != counts[0]).any() or counts[0] < 2:
        raise UsageError("deals are not all played by the same seatings, 2 or more: needed is a run of duplicate deals")
    in_order = np.argsort(deal_of_game, kind="stable")
    return np.asarray((means[0] - means[1])[in_order].reshape(len(counts), 1, counts[0]), np.float64)


def _check_deals(deals: int) -> None:
    if deals < 3:
        raise UsageError(f"{deals} deals: needed are 3 or more")


# Variances from sums over deals, which can be left out one by one.


def _sums_by_deal(values: NDArray[np.float64]) -> _Sums:
    """Return the sums over the rows of each deal, of values as [deal, row, column]."""
    values = values - values.mean()  # so that squares stay small
    squares = (values**2).sum(axis=(1, 2))
    squared_sums = (values.sum(axis=2) ** 2).sum(axis=1)
    return np.column_stack([values.sum(axis=1), squares, squared_sums])


def _spread(sums: _Sums, rows: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the variance of a column and the covariance of two, means over all columns and pairs of them."""
    means, columns = sums[..., :-2] / rows, sums.shape[-1] - 2
    variance = (sums[..., -2] / rows - (means**2).sum(axis=-1)) / columns
    of_sum = sums[..., -1] / rows - means.sum(axis=-1) ** 2
    return variance, (of_sum - columns * variance) / (columns * (columns - 1))


def _shares(sums: _Sums, rows: int) -> NDArray[np.float64]:
    """Return the shares of the variance of rows that have a column a bot, in the order of ``PARTS``."""
    variance, deal = _spread(sums, rows)
    bots = (sums[..., :-2] / rows).var(axis=-1)
    return np.asarray(np.stack([deal, bots, variance - deal], axis=-1) / (variance + bots)[..., None])


def _saving(sums: _Sums, deals: int) -> NDArray[np.float64]:
    """Return the share of games that duplicate deals save, from deals that have a column a seating."""
    variance, covariance = _spread(sums, deals)
    return np.asarray(-(sums.shape[-1] - 3) * covariance / variance)[..., None]


def _jackknifed(
    sums: _Sums, statistic: Callable[[_Sums, int], NDArray[np.float64]], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return statistics of sums over deals without their bias, and their intervals."""
    deals, total = len(sums), sums.sum(axis=0)
    pseudo = deals * statistic(total, deals) - (deals - 1) * statistic(total - sums, deals - 1)
    mean = pseudo.mean(axis=0)
    half = student_quantile(level, deals - 1) * np.sqrt(pseudo.var(axis=0, ddof=1) / deals)
    return mean, mean - half, mean + half


def _whole(numbers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the least whole numbers that are not less, and at least 1."""
    return np.asarray(np.maximum(np.ceil(numbers), 1), np.int64)
