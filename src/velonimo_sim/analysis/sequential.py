"""When to stop: a test, and an interval, that hold however often one looks."""

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.errors import UsageError

_LARGEST_BET = 0.5
"""No more of the wealth than this is put on the next group, of the most that it can lose."""


class ConfidenceSequence:
    """Tests group by group whether a mean difference is above or below 0, and bounds it at all times.

    Source: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", JRSS B 86 (2024).

    The decision is that of the hedged bets of their Theorem 3, for the single null 0. One gambler bets that the mean is
    above it, another that it is below; each begins with a wealth of 1, and no strategy turns a wealth of 1 into
    ``2 / alpha`` with a chance above ``alpha / 2`` if the mean is not on its side. They bet the part of their wealth
    that would have grown fastest so far (their approximate GRAPA bets), and nothing when that is the
    other side.

    The interval ``low`` to ``high`` is the predictable plug-in empirical Bernstein confidence sequence of their
    Theorem 2: it holds the true mean at all times at once with a chance of at least ``1 - alpha``. It has to be right
    about every mean and not about 0 alone, and so is slower than the bets, which need about two thirds of the groups:
    it may still hold 0 when the test has decided.

    Parameters
    ----------
    bounds : (float, float)
        The least and the greatest difference; 0 lies between them.
    alpha : float
        The greatest chance of a wrong decision, between 0 and 1.

    Attributes
    ----------
    groups : int
        How many groups were taken.
    decision : str or None
        ``first`` if the mean is above 0, ``second`` if it is below.

    Raises
    ------
    UsageError
        If 0 is not between the bounds, or alpha not between 0 and 1.
    """

    def __init__(self, bounds: tuple[float, float] = (-1.0, 1.0), alpha: float = 0.05) -> None:
        if not bounds[0] < 0 < bounds[1]:
            raise UsageError(f"bounds {bounds[0]:g} to {bounds[1]:g}: 0 must lie between them")
        if not 0 < alpha < 1:
            raise UsageError(f"alpha {alpha:g}: must be between 0 and 1, such as 0.05")
        self.bounds = bounds
        self.alpha = alpha
        self.groups = 0
        self.decision: Literal["first", "second"] | None = None
        self._most = max(-bounds[0], bounds[1])
        self._sum = self._squares = 0.0
        self._weights = np.zeros(3)  # of the interval: the sums of weights, of weighted values, and of their cost
        self._wealth = np.ones(2)  # of the two gamblers

    @property
    def mean(self) -> float:
        """The mean of the differences; not a number when there are none."""
        return self._most * self._sum / self.groups if self.groups else math.nan

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return max(self.bounds[0], self._end(-1))

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return min(self.bounds[1], self._end(1))

    def add(self, values: NDArray[np.float64]) -> int | None:
        """Take the differences of the next groups, up to the decision; how they are chunked changes nothing.

        Parameters
        ----------
        values : numpy.ndarray
            dtype float64, shape (groups,): the differences, in the order of the deals.

        Returns
        -------
        int or None
            Index of the group with which the test decides, the last one taken; None if it does not decide.

        Raises
        ------
        ValueError
            If a value is not within the bounds, or the test has decided.
        """
        if self.decision:
            raise ValueError("the test has decided")
        if not np.all((values >= self.bounds[0]) & (values <= self.bounds[1])):
            raise ValueError(f"a difference is not within {self.bounds[0]:g} and {self.bounds[1]:g}")
        # In units of the greatest difference. One group of value 0 and square 1 comes before all others.
        units = values / self._most
        number = self.groups + np.arange(1.0, len(units) + 1)
        sums = _running(np.add, self._sum, units)
        squares = _running(np.add, self._squares, (units - sums[1:] / (number + 1)) ** 2)
        mean, variance = sums[:-1] / number, (1 + squares[:-1]) / number  # as known before each group

        bets = np.clip(mean / (variance + mean**2), -_LARGEST_BET, _LARGEST_BET)
        growth = 1 + np.array([np.maximum(bets, 0), np.minimum(bets, 0)]) * units
        with np.errstate(over="ignore"):  # of what comes long after the decision
            wealth = _running(np.multiply, self._wealth, growth)

        rates = 8 * math.log(2 / self.alpha) / (variance * number * np.log1p(number))
        weights = np.minimum(np.sqrt(rates), _LARGEST_BET)
        costs = (units - mean) ** 2 * (-np.log1p(-weights) - weights) / 4
        sums_of_weights = _running(np.add, self._weights, np.array([weights, weights * units, costs]))

        enough = (wealth[:, 1:] >= 2 / self.alpha).any(axis=0)
        taken = int(np.argmax(enough)) + 1 if enough.any() else len(units)
        self.groups += taken
        self._sum, self._squares = float(sums[taken]), float(squares[taken])
        self._wealth, self._weights = wealth[:, taken], sums_of_weights[:, taken]
        if not enough.any():
            return None
        self.decision = "first" if self._wealth[0] > self._wealth[1] else "second"
        return taken - 1

    def _end(self, side: int) -> float:
        """Return the lower (-1) or upper (1) end of the interval, which may be beyond the bounds."""
        weight, value, cost = self._weights
        if weight == 0:
            return side * math.inf
        return float(self._most * (value + side * 2 * (math.log(2 / self.alpha) + cost)) / weight)


def _running(
    operation: np.ufunc, start: NDArray[np.float64] | float, values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return running sums or products along the last axis, the start before all; one after the other, in order."""
    first = np.broadcast_to(np.expand_dims(start, -1), (*values.shape[:-1], 1))
    return np.asarray(operation.accumulate(np.concatenate([first, values], axis=-1), axis=-1))
