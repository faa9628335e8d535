"""Means and covariances of groups, added up while a run is played."""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

_BLOCK = 256
"""Groups are added in blocks of so many, so that the last digits do not depend on how they came in."""

_Sums: TypeAlias = tuple[int, NDArray[np.float64], NDArray[np.float64]]
"""Number of groups, their mean, and the sum of ``(vector - mean)(vector - mean)'``."""


class GroupMoments:
    """Number, mean and covariance of vectors, one vector a group of games; the same to the last bit however chunked.

    Only deviations from the mean are squared, so that 10^8 groups are added as exactly as a few. Source: Chan, Golub,
    LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances", COMPSTAT 1982.

    Parameters
    ----------
    size : int
        Length of the vectors.

    Attributes
    ----------
    groups : int
        Number of groups.
    """

    def __init__(self, size: int) -> None:
        self.groups = 0
        self._blocks: _Sums = (0, np.zeros(size), np.zeros((size, size)))
        self._rest = np.zeros((0, size))

    def add(self, values: NDArray[np.float64]) -> None:
        """Add groups: ``values`` has dtype float64 and shape (groups, size)."""
        self.groups += len(values)
        rest = np.concatenate([self._rest, values])
        whole = len(rest) // _BLOCK * _BLOCK
        for start in range(0, whole, _BLOCK):
            self._blocks = _joined(self._blocks, rest[start : start + _BLOCK])
        self._rest = rest[whole:]

    @property
    def mean(self) -> NDArray[np.float64]:
        """Mean of the groups, shape (size,); 0 when there are none."""
        return _joined(self._blocks, self._rest)[1]

    @property
    def covariance(self) -> NDArray[np.float64]:
        """Covariance of the groups, shape (size, size), over their number less one; 0 for fewer than two."""
        return _joined(self._blocks, self._rest)[2] / max(self.groups - 1, 1)

    def variance_of_mean(self, contrast: NDArray[np.float64]) -> float:
        """Return the variance of ``contrast @ mean``, for weights of shape (size,); 0 for fewer than two groups."""
        return max(float(contrast @ self.covariance @ contrast), 0.0) / max(self.groups, 1)


def _joined(sums: _Sums, values: NDArray[np.float64]) -> _Sums:
    """Return the sums of groups and of some more."""
    if len(values) == 0:
        return sums
    groups, mean, scatter = sums
    mean_of_values, together = values.mean(axis=0), groups + len(values)
    deviations, step = values - mean_of_values, mean_of_values - mean
    scatter = scatter + deviations.T @ deviations + np.outer(step, step) * (groups * (len(values) / together))
    return together, mean + step * (len(values) / together), scatter
