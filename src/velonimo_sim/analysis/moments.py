"""Means and covariances of groups, added up while a run is played."""

import numpy as np
from numpy.typing import NDArray


class GroupMoments:
    """Number, mean and covariance of vectors, one vector a group of games.

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
    mean : numpy.ndarray
        dtype float64, shape (size,): the mean; 0 when there are no groups.
    """

    def __init__(self, size: int) -> None:
        self.groups = 0
        self.mean = np.zeros(size)
        self._scatter = np.zeros((size, size))  # the sum of (vector - mean)(vector - mean)'

    def add(self, values: NDArray[np.float64]) -> None:
        """Add groups: ``values`` has dtype float64 and shape (groups, size)."""
        if len(values):
            mean = values.mean(axis=0)
            deviations = values - mean
            self._join(len(values), mean, deviations.T @ deviations)

    def merge(self, other: "GroupMoments") -> None:
        """Add the groups that another one has added."""
        if other.groups:
            self._join(other.groups, other.mean, other._scatter)

    @property
    def covariance(self) -> NDArray[np.float64]:
        """Covariance of the groups, shape (size, size), over their number less one; 0 for fewer than two."""
        return self._scatter / max(self.groups - 1, 1)

    def variance_of_mean(self, contrast: NDArray[np.float64]) -> float:
        """Return the variance of ``contrast @ mean``, for weights of shape (size,); 0 for fewer than two groups."""
        return max(float(contrast @ self.covariance @ contrast), 0.0) / max(self.groups, 1)

    def _join(self, groups: int, mean: NDArray[np.float64], scatter: NDArray[np.float64]) -> None:
        together, step = self.groups + groups, mean - self.mean
        self._scatter = self._scatter + scatter + np.outer(step, step) * (self.groups * (groups / together))
        self.mean = self.mean + step * (groups / together)
        self.groups = together
