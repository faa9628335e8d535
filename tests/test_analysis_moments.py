"""Moments of groups are those of numpy, whatever the chunks, and exact far from 0."""

import numpy as np
import pytest
from numpy.typing import NDArray

from velonimo_sim.analysis import GroupMoments


def added(*chunks: NDArray[np.float64]) -> GroupMoments:
    moments = GroupMoments(chunks[0].shape[1])
    for chunk in chunks:
        moments.add(chunk)
    return moments


def vectors(groups: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(groups)
    return rng.normal(size=(groups, 3)) @ np.array([[1.0, 0.5, 0], [0, 2, 0.3], [0, 0, 1]]) + [5, -1, 0]


@pytest.mark.parametrize("cuts", [[], [1], [0, 250, 250, 999], range(1, 1_000)])
def test_they_are_numpys(cuts: list[int]) -> None:
    values = vectors(1_000)
    moments = added(*np.split(values, cuts))
    assert moments.groups == 1_000
    assert moments.mean == pytest.approx(values.mean(axis=0))
    assert moments.covariance == pytest.approx(np.cov(values.T))


@pytest.mark.parametrize("cuts", [[1], [0, 250, 250, 999], range(1, 1_000), [255, 256, 257]])
def test_they_are_the_same_to_the_last_bit_whatever_the_chunks(cuts: list[int]) -> None:
    values = vectors(1_000)
    whole, parts = added(values), added(*np.split(values, cuts))
    assert np.array_equal(parts.mean, whole.mean)
    assert np.array_equal(parts.covariance, whole.covariance)


def test_the_variance_of_a_contrast_is_that_of_its_values() -> None:
    values, contrast = vectors(80), np.array([1.0, -1.0, 0.0])
    assert added(values).variance_of_mean(contrast) == pytest.approx((values @ contrast).var(ddof=1) / 80)


@pytest.mark.parametrize("groups", [0, 1])
def test_fewer_than_two_groups_have_no_variance(groups: int) -> None:
    moments = added(vectors(groups))
    assert moments.groups == groups
    assert not moments.covariance.any()
    assert moments.variance_of_mean(np.ones(3)) == 0
    assert np.array_equal(moments.mean, vectors(groups).sum(axis=0))


def test_small_variances_far_from_0_survive_many_groups() -> None:
    """Sums of squares would lose a variance of 1 beside a mean of 10^9."""
    moments, values = GroupMoments(1), np.tile([[1e9 - 1], [1e9 + 1]], (50_000, 1))
    for _ in range(10):
        moments.add(values)
    assert moments.groups == 1_000_000
    assert moments.covariance[0, 0] == pytest.approx(1, rel=1e-5)
    assert moments.mean[0] == pytest.approx(1e9, rel=1e-15)


def test_constant_values_show_no_variance_but_rounding() -> None:
    moments = added(*[np.full((7, 2), 1 / 3)] * 1_000)
    assert moments.variance_of_mean(np.array([1.0, -1.0])) == 0
    assert moments.covariance.max() < 1e-15
