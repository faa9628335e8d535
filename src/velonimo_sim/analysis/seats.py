"""What a seat is worth, apart from the strength of the bots that sit there; and where it is, seen from a bot."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.analysis.frames import Rows, Run, checked_outcome, greatest_total, outcome_bounds, rows_of
from velonimo_sim.analysis.moments import GroupMoments
from velonimo_sim.analysis.tables import contrast_interval
from velonimo_sim.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd


def seat_effects(
    run: Run, outcome: str = "won", most_points: float | None = None, level: float = 0.95
) -> "pd.DataFrame":
    """Return the effect of each seat on an outcome, apart from who sits there.

    Least squares of the outcome on one effect a bot and one a seat; the effects of the seats sum to 0. Intervals rest
    on the deals: each deal pulls the effects by its residuals, and the variance of these pulls is that of the effects
    (Liang and Zeger, "Longitudinal data analysis using generalized linear models", Biometrika 73, 1986). Where all
    deals are played by the same seatings, that is the variance of the effects estimated from each deal alone.

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
        ``seat``, ``effect``, ``low``, ``high`` in units of the outcome, ``mean`` (of the outcome in that seat), and
        ``groups``, the number of deals; ``attrs["outcome"]``.

    Raises
    ------
    UsageError
        If seats and bots cannot be told apart, an outcome is not known, or there are no games.
    """
    import pandas as pd

    rows, name = rows_of(run), checked_outcome(outcome)
    seats, seat = np.unique(rows.frame["seat"].to_numpy(), return_inverse=True)
    values = rows.outcome(name)
    moments = _moments_of_effects(rows, seat, len(seats), values)
    contrasts = np.eye(len(seats), len(moments.mean), len(rows.bots))
    contrasts -= contrasts.mean(axis=0)
    least, greatest = outcome_bounds(name, rows.players, greatest_total([rows], most_points))
    bounds = least - greatest, greatest - least
    intervals = [contrast_interval(moments, contrast, bounds, level) for contrast in contrasts]
    table = pd.DataFrame(intervals, columns=["effect", "low", "high"])
    table.insert(0, "seat", seats)
    table = table.assign(mean=np.bincount(seat, values) / np.bincount(seat), groups=moments.groups)
    table.attrs["outcome"] = name
    return table


def seats_after(games: "pd.DataFrame", bot: str) -> "pd.Series[int]":
    """Return how many seats after a bot each row sits, in the order of play: whether a neighbour is felt.

    Parameters
    ----------
    games : pandas.DataFrame
        Game rows with ``game_id``, ``seat`` and ``bot``, of one run; the bot has one seat in each game.
    bot : str
        The bot.

    Returns
    -------
    pandas.Series
        By row 0 for the bot itself, 1 for the seat that acts next, and so on.

    Raises
    ------
    UsageError
        If the bot does not have one seat in each game.
    """
    its_rows = games[games["bot"] == bot]
    seat_of_bot = its_rows.set_index("game_id")["seat"].astype(np.int64)
    if not seat_of_bot.index.is_unique or len(seat_of_bot) != games["game_id"].nunique():
        raise UsageError(f"bot {bot!r}: needed are games in which it has one seat")
    after = games["seat"].astype(np.int64) - games["game_id"].map(seat_of_bot)
    return after % int(games["seat"].max() + 1)


def _moments_of_effects(rows: Rows, seat: NDArray[np.intp], seats: int, values: NDArray[np.float64]) -> GroupMoments:
    """Return moments of vectors, one a deal, whose mean has the effects of the bots and then of the seats.

    Each vector is the effects and what the deal adds to them: its residuals, by the inverse of the normal equations.
    """
    deals, size = len(rows.deals), len(rows.bots) + seats
    columns = np.stack([rows.bot, len(rows.bots) + seat])  # the two effects that make up each row
    normal = np.bincount((size * columns[:, None] + columns).ravel(), minlength=size**2).reshape(size, size)
    # The effects of all bots can go up by what those of all seats go down. Where more can, seats are not told apart.
    if np.linalg.matrix_rank(normal) < size - 1:
        raise UsageError("seats and bots cannot be told apart: bots have to change seats, as with rotated seatings")
    inverse = np.linalg.pinv(normal.astype(np.float64), hermitian=True)
    effects = inverse @ np.bincount(columns.ravel(), np.tile(values, 2), size)
    residuals = values - effects[columns].sum(axis=0)
    by_deal = np.bincount((size * rows.deal + columns).ravel(), np.tile(residuals, 2), deals * size)
    moments = GroupMoments(size)
    moments.add(effects + deals * by_deal.reshape(deals, size) @ inverse)
    return moments
