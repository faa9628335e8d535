"""Linear regression on more rows than fit into memory, a little regularised, with intervals that rest on the deals.

Rows come in parts and leave only sums of products behind. These are whole numbers where features and outcomes are,
which floating point adds exactly: results do not depend on how the rows were cut into parts.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PENALTIES = (0.0, 1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0)
"""The penalties tried: what is added to the eigenvalues of the features' correlations, which are 1 on average."""

_ROUNDING = 1e-9
"""Up to here an eigenvalue, or a share of variance in a mean square, is rounding: the features do not differ there."""


@dataclass(frozen=True, eq=False)
class LinearFit:
    """A linear function of features, and what its coefficients owe to each row.

    Attributes
    ----------
    intercept : float
        The outcome where all features are 0.
    coefficients, means : numpy.ndarray
        dtype float64, shape (p,): of the features, and the features' means.
    influence : numpy.ndarray
        dtype float64, shape (p, p): a row adds ``influence @ (features - means) * residual`` to the coefficients.
    """

    intercept: float
    coefficients: Floats
    means: Floats
    influence: Floats

    def predict(self, features: Floats) -> Floats:
        """Return the outcome expected of each row of features, shape (n, p)."""
        return np.asarray(self.intercept + features @ self.coefficients)

    def pulls(self, features: Floats, outcome: Floats, starts: NDArray[np.intp]) -> Floats:
        """Return by how much each deal moves the coefficients, shape (deals, p); ``starts`` are their first rows.

        A deal draws the fit towards itself, so that its residuals are too small. Half of what it moves its own
        predictions is added to them, which to first order makes the variance of the pulls right in the mean (Bell and
        McCaffrey, "Bias reduction in standard errors for linear regression with multi-stage samples", Survey
        Methodology 28, 2002).
        """
        residuals, deviations = outcome - self.predict(features), features - self.means
        own = self._pulls(deviations, residuals, starts)
        rows = np.diff(starts, append=len(outcome))
        residuals += (deviations * np.repeat(own, rows, axis=0)).sum(axis=1) / 2
        return self._pulls(deviations, residuals, starts)

    def _pulls(self, deviations: Floats, residuals: Floats, starts: NDArray[np.intp]) -> Floats:
        return np.asarray(np.add.reduceat(deviations * residuals[:, None], starts) @ self.influence.T)


def products(features: Floats, outcome: Floats) -> Floats:
    """Return the sums over rows of the products of 1, each feature and the outcome, shape (p + 2, p + 2)."""
    rows = np.column_stack([np.ones(len(outcome)), features, outcome])
    return np.asarray(rows.T @ rows)


def fits(sums: Floats, penalties: Sequence[float]) -> list[LinearFit]:
    """Return a fit for each penalty.

    The estimates are almost unbiased ridge estimates: of the coefficients of standardised features with correlations
    ``R``, ridge finds ``b = (R + penalty I)^-1 r`` and what is added here, ``penalty (R + penalty I)^-1 b``, makes up
    for most of what it shrinks. Of a coefficient along an eigenvector with eigenvalue d the share
    ``(penalty / (d + penalty))^2`` is lost (Kadiyala, "A class of almost unbiased and efficient estimators of
    regression coefficients", Economics Letters 16, 1984). The intercept is not penalised.

    Parameters
    ----------
    sums : numpy.ndarray
        dtype float64, shape (p + 2, p + 2), as of ``products``.
    penalties : sequence of float
        From 0 on.
    """
    rows = sums[0, 0]
    means, mean_outcome = sums[0, 1:-1] / rows, sums[0, -1] / rows
    covariance = sums[1:-1, 1:-1] / rows - np.outer(means, means)
    with_outcome = sums[1:-1, -1] / rows - means * mean_outcome
    variances, squares = covariance.diagonal(), sums.diagonal()[1:-1] / rows
    deviations = np.sqrt(np.where(variances > _ROUNDING * squares, variances, 1))
    values, vectors = np.linalg.eigh(covariance / np.outer(deviations, deviations))
    differs = values > _ROUNDING  # where they do not, nothing is estimated
    values, axes = values[differs], vectors[:, differs] / deviations[:, None]
    found = []
    for penalty in penalties:
        inverse = (axes * (1 + penalty / (values + penalty)) / (values + penalty)) @ axes.T
        coefficients = inverse @ with_outcome
        intercept = float(mean_outcome - means @ coefficients)
        found.append(LinearFit(intercept, coefficients, means, inverse / rows))
    return found


def squared_errors(fit: LinearFit, sums: Floats) -> float:
    """Return the sum of squared errors of a fit over the rows of some sums."""
    weights = np.concatenate([[-fit.intercept], -fit.coefficients, [1.0]])
    return float(weights @ sums @ weights)


def squared_deviations(sums: Floats) -> float:
    """Return the sum of squared deviations of the outcome from its mean."""
    return float(sums[-1, -1] - sums[0, -1] ** 2 / sums[0, 0])


def r_squared(errors: float, deviations: float) -> float:
    """Return the share of the squared deviations that is explained; nan where there are none."""
    return float(1 - errors / deviations) if deviations > 0 else float("nan")


def best_penalty(folds: Floats, penalties: Sequence[float]) -> tuple[float, float]:
    """Return the penalty that predicts best what it was not fitted to, and the R2 of these predictions.

    Parameters
    ----------
    folds : numpy.ndarray
        dtype float64, shape (folds, p + 2, p + 2): sums of disjoint sets of deals. Each is predicted from the others.
    penalties : sequence of float
        Those tried.
    """
    errors, deviations = np.zeros(len(penalties)), 0.0
    for fold in folds:
        errors += [squared_errors(fit, fold) for fit in fits(folds.sum(axis=0) - fold, penalties)]
        deviations += squared_deviations(fold)
    best = int(np.argmin(errors))
    return penalties[best], r_squared(errors[best], deviations)
