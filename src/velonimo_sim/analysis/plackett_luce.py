"""Ratings of bots from the places of their games."""

from dataclasses import dataclass
from itertools import chain, permutations, product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.analysis.frames import Rows, Run, rows_of
from velonimo_sim.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd


def ratings(run: Run, resamples: int = 200, seed: int = 0, level: float = 0.95, pseudo: float = 0.5) -> "pd.DataFrame":
    """Return the strengths of the bots that make the places of the games most likely: the model of Plackett and Luce.

    Of the bots that are not placed yet, each comes next with a chance in proportion to exp(rating). Joint places tell
    nothing of the order within: their likelihood is the sum over all such orders. Of these likelihoods the logarithm is
    concave (Prékopa, "On logarithmic concave measures and functions", 1973), so that the ratings are unique. Sources:
    Luce, "Individual choice behavior" (1959); Plackett, "The analysis of permutations" (1975); the ghost: Turner, van
    Etten, Firth, Kosmidis, "Modelling rankings in R: the PlackettLuce package" (2020).

    Parameters
    ----------
    run : pandas.DataFrame, Path or str
        Game rows, or the folder of a run.
    resamples : int
        How often the deals are drawn anew, with replacement, for the intervals, which are percentiles of the ratings
        found.
    seed : int
        Seed of these draws.
    level : float
        The coverage asked for.
    pseudo : float
        So many times each bot beats, and is beaten by, a ghost of strength 0, so that a bot that always wins, or always
        loses, has a finite rating; 0 = no ghost.

    Returns
    -------
    pandas.DataFrame
        ``bot``, ``rating`` (natural logarithm of the strength; ratings sum to 0), ``low``, ``high``, ``games``. One
        deal alone tells nothing of the spread: its intervals are infinite. A bot that won every game wins all that are
        drawn: its interval is too narrow, and its rating owes as much to the ghost as to the games.

    Raises
    ------
    UsageError
        If there are no games, an argument is out of range, or, without a ghost, some bots always come before the
        others, or never meet them.
    """
    import pandas as pd

    if resamples < 1:
        raise UsageError(f"resamples {resamples}: must be 1 or more")
    if pseudo < 0:
        raise UsageError(f"pseudo {pseudo:g}: must be 0 or more")
    if not 0 < level < 1:
        raise UsageError(f"level {level}: must be between 0 and 1, such as 0.95")
    rows = rows_of(run)
    patterns, pattern_of_game, deal_of_game = _patterns_of(rows)
    if pseudo == 0:
        _check_that_all_are_comparable(patterns.orders, rows.bots)

    bots, deals = len(rows.bots), len(rows.deals)
    strengths = _fit(patterns, np.bincount(pattern_of_game), pseudo, np.zeros(bots))
    low, high = np.full(bots, -np.inf), np.full(bots, np.inf)
    if deals > 1:
        rng, found = np.random.default_rng(seed), np.zeros((resamples, bots))
        for again in found:
            drawn = np.bincount(rng.integers(0, deals, deals), minlength=deals)
            counts = np.bincount(pattern_of_game, drawn[deal_of_game])
            again[:] = _fit(patterns, counts, pseudo, strengths)
        found -= found.mean(axis=1, keepdims=True)
        # Of the ways to interpolate, the one by which a new draw lies between the two with the chance asked for.
        low, high = np.quantile(found, [(1 - level) / 2, (1 + level) / 2], axis=0, method="weibull")
    rating, games = strengths - strengths.mean(), np.bincount(rows.bot)
    return pd.DataFrame({"bot": rows.bots, "rating": rating, "low": low, "high": high, "games": games})


@dataclass(frozen=True, eq=False)
class _Patterns:
    """The distinct results of games: each one order of the bots or, with joint places, all that agree with it.

    ``orders`` has shape (orders, players), the bots from the first to the last, those of a pattern one after the other;
    ``starts`` has the index of the first one of each pattern.
    """

    orders: NDArray[np.intp]
    starts: NDArray[np.intp]

    @property
    def sizes(self) -> NDArray[np.intp]:
        return np.diff(self.starts, append=len(self.orders))


def _patterns_of(rows: Rows) -> tuple[_Patterns, NDArray[np.intp], NDArray[np.intp]]:
    """Return the patterns that occur, and for each game its pattern and its deal."""
    bots, places = len(rows.bots), rows.frame["place"].to_numpy(np.int64)
    span = int(places.max()) + 1
    # One number a row, sorted: by game, then by place, then by bot, so that equal results look the same.
    numbers = np.sort((rows.game * span + places) * bots + rows.bot).reshape(-1, rows.players)
    order, place = numbers % bots, numbers // bots % span
    is_joint = place[:, 1:] == place[:, :-1]
    code = np.zeros(len(numbers), np.int64)
    for base, column in chain(((bots, column) for column in order.T), ((2, column) for column in is_joint.T)):
        code = code * base + column
    _, example, pattern_of_game = np.unique(code, return_index=True, return_inverse=True)
    deal_of_game = np.zeros(len(numbers), np.intp)
    deal_of_game[rows.game] = rows.deal
    return _all_orders(order[example], is_joint[example]), pattern_of_game, deal_of_game


def _all_orders(order: NDArray[np.int64], is_joint: NDArray[np.bool_]) -> _Patterns:
    """Return the patterns of some orders, where ``is_joint`` tells who shares the place of the one before."""
    orders, owners = [], []
    for joint in np.unique(is_joint, axis=0):
        of_this_kind = np.flatnonzero((is_joint == joint).all(axis=1))
        blocks = np.split(np.arange(order.shape[1]), np.flatnonzero(~joint) + 1)
        ways = [list(chain(*way)) for way in product(*(permutations(block.tolist()) for block in blocks))]
        orders.append(order[of_this_kind][:, ways].reshape(-1, order.shape[1]))
        owners.append(np.repeat(of_this_kind, len(ways)))
    owner = np.concatenate(owners)
    by_owner = np.argsort(owner, kind="stable")
    return _Patterns(np.concatenate(orders)[by_owner], np.searchsorted(owner[by_owner], np.arange(len(order))))


def _fit(patterns: _Patterns, counts: NDArray[Any], pseudo: float, start: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the strengths that make patterns, seen so many times, most likely."""
    from scipy.optimize import minimize

    scale = np.eye(len(start)) / counts.sum()  # one game bends the cost by less than 1
    options = {"gtol": 1e-5, "hess_inv0": scale}
    return np.asarray(minimize(_cost, start, (patterns, counts, pseudo), "BFGS", jac=True, options=options).x)


def _cost(
    strengths: NDArray[np.float64], patterns: _Patterns, counts: NDArray[Any], pseudo: float
) -> tuple[float, NDArray[np.float64]]:
    """Return minus the log-likelihood of patterns, seen so many times, and its gradient."""
    weights = np.exp(strengths - strengths.max())[patterns.orders]
    left = np.cumsum(weights[:, ::-1], axis=1)[:, ::-1]  # the weight of all that are not placed yet
    of_order = np.log(weights / left).sum(axis=1)
    highest = np.maximum.reduceat(of_order, patterns.starts)
    shares = np.exp(of_order - np.repeat(highest, patterns.sizes))
    sums = np.add.reduceat(shares, patterns.starts)
    of_pattern = highest + np.log(sums)
    times = shares * np.repeat(counts / sums, patterns.sizes)  # how often each order was the one that was hidden
    slopes = times[:, None] * (1 - weights * np.cumsum(1 / left, axis=1))
    gradient = np.bincount(patterns.orders.ravel(), slopes.ravel(), len(strengths))
    ghost = -pseudo * (np.logaddexp(0, strengths) + np.logaddexp(0, -strengths)).sum()
    return -float(counts @ of_pattern + ghost), pseudo * np.tanh(strengths / 2) - gradient


def _check_that_all_are_comparable(orders: NDArray[np.intp], bots: tuple[str, ...]) -> None:
    """Raise unless, however the bots are parted in two, each part has come before the other (Hunter 2004)."""
    from scipy.sparse.csgraph import connected_components

    comes_before = np.zeros((len(bots), len(bots)), np.bool_)
    for column in range(orders.shape[1] - 1):
        comes_before[orders[:, column], orders[:, column + 1]] = True
    parts, part = connected_components(comes_before, connection="strong")
    if parts > 1:
        names = ", ".join(bot for bot, its_part in zip(bots, part, strict=True) if its_part == part[0])
        raise UsageError(f"pseudo 0: {names}: these bots always come before or after the others, or never meet them")
