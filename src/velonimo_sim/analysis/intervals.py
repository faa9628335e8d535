"""Intervals for shares and for means of bounded outcomes, from groups of games that are not independent."""

import math
from statistics import NormalDist

from velonimo_sim.errors import UsageError

_NO_VARIANCE = 1e-12
"""A variance of groups, scaled to outcomes in [0, 1], up to which it is rounding and not seen."""
_ROUNDING = 1e-9
"""Groups whose worth differs from one game by no more than this are games won or lost."""
_NEARLY_NORMAL = 1_000.0
"""Degrees of freedom from which on the normal quantile stands for Student's, which is then at most 0.2 % wider."""


def wilson_interval(wins: float, games: float, level: float = 0.95) -> tuple[float, float]:
    """Return Wilson's score interval of a share; (0, 1) when there are no games.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).

    Parameters
    ----------
    wins, games : float
        How many of how many independent games; they need not be whole.
    level : float
        The coverage asked for, between 0 and 1.

    Raises
    ------
    UsageError
        If the level is not between 0 and 1.
    """
    if games == 0:
        return 0.0, 1.0
    return _score_interval(wins / games, games, student_quantile(level, math.inf))


def bounded_interval(
    mean: float, variance: float, groups: int, bounds: tuple[float, float], level: float = 0.95
) -> tuple[float, float]:
    """Return an interval for the mean of a bounded outcome, from the means of independent groups of games.

    The outcome is scaled to [0, 1], where independent games that are won or lost vary most. A group is worth as many
    of them, ``e``, as give the variance seen: ``e (groups - 1) = share (1 - share) / variance``; that is at least one
    where all groups are of the same size, and may be less where they are not. The interval is Wilson's for all those
    games (Wilson 1927; effective sample sizes: Kish, "Survey Sampling", 1965), so that it stays within the bounds. Of
    games won or lost the share alone tells the variance, while that of groups is estimated; so the quantile is
    Student's with ``(groups - 1) / (1 - 1 / e)`` degrees of freedom, which are infinitely many if every group is one
    game won or lost: then the interval is Wilson's exactly. Where a group is worth less than a game, they are
    ``groups - 1``. This choice of the degrees of freedom rests on simulation (``tests/test_analysis_intervals.py``).
    Groups that show no variance count for one game each, as if they were games won or lost.

    Few groups of very different sizes rest on the great ones, of which there are fewer still: of intervals of 95 %
    from 15 groups of 1 or 8 games, 88-94 % cover the mean.

    Parameters
    ----------
    mean : float
        Mean of the groups' means, in units of the outcome.
    variance : float
        Variance of that mean: the variance of the groups' means over the number of groups; not used for one group.
    groups : int
        Number of groups.
    bounds : (float, float)
        The least and the greatest outcome: (0, 1) for a share, (-1, 1) for the difference of two.
    level : float
        The coverage asked for, between 0 and 1.

    Returns
    -------
    (float, float)
        Finite, within the bounds, and around the mean; the bounds when there are no groups.

    Raises
    ------
    UsageError
        If the level is not between 0 and 1.
    """
    least, greatest = bounds
    if groups == 0:
        return float(least), float(greatest)
    span = greatest - least
    share = min(max((mean - least) / span, 0.0), 1.0)
    seen = variance / span**2
    games, freedom = float(groups), math.inf
    if groups > 1 and seen * groups > _NO_VARIANCE:
        worth = share * (1 - share) / seen / (groups - 1)
        games = worth * (groups - 1) + 1
        if worth > 1 + _ROUNDING:
            freedom = (groups - 1) / (1 - 1 / worth)
        elif worth < 1 - _ROUNDING:
            freedom = groups - 1
    low, high = _score_interval(share, games, student_quantile(level, freedom))
    return float(min(mean, least + span * low)), float(max(mean, least + span * high))


def _score_interval(share: float, games: float, quantile: float) -> tuple[float, float]:
    """Return the shares whose distance to the one seen is at most so many of their own standard deviations."""
    z2 = quantile**2
    centre = (share + z2 / (2 * games)) / (1 + z2 / games)
    half = quantile * math.sqrt(share * (1 - share) / games + z2 / (4 * games**2)) / (1 + z2 / games)
    return float(max(0.0, min(share, centre - half))), float(min(1.0, max(share, centre + half)))


def student_quantile(level: float, freedom: float) -> float:
    """Return the two-sided quantile of Student's distribution with so many degrees of freedom, which may be infinite.

    Raises
    ------
    UsageError
        If the level is not between 0 and 1.
    """
    if not isinstance(level, int | float) or not 0 < level < 1:
        raise UsageError(f"level {level}: must be between 0 and 1, such as 0.95")
    chance = (1 + level) / 2
    if freedom >= _NEARLY_NORMAL:
        return NormalDist().inv_cdf(chance)
    from scipy.special import stdtrit  # here, for it takes 0.2 s to load

    return float(stdtrit(freedom, chance))
