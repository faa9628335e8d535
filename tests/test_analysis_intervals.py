"""Intervals cover what they say, whatever the number of groups, their size and what is counted."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from velonimo_sim.analysis import bounded_interval, wilson_interval
from velonimo_sim.errors import UsageError

PLAYERS, MOST_POINTS = 4, 60
BOUNDS = {"won": (0.0, 1.0), "place": (1.0, float(PLAYERS)), "total": (0.0, float(MOST_POINTS))}
TRUE = {"won": 1 / PLAYERS, "place": (1 + PLAYERS) / 2, "total": MOST_POINTS / 2}


# Wilson's interval.


@pytest.mark.parametrize(("wins", "games"), [(0, 7), (1, 4), (1_806, 2_000), (7, 7)])
@pytest.mark.parametrize(("level", "z"), [(0.95, 1.959964), (0.8, 1.281552)])
def test_the_ends_of_wilsons_interval_are_z_of_their_own_deviations_away(
    wins: int, games: int, level: float, z: float
) -> None:
    for end in wilson_interval(wins, games, level):
        away = abs(wins / games - end)
        assert away == pytest.approx(z * math.sqrt(end * (1 - end) / games), rel=1e-5, abs=1e-9)


def test_wilsons_interval_of_a_published_table() -> None:
    assert wilson_interval(1_806, 2_000) == pytest.approx((0.8892, 0.9152), abs=5e-5)


def test_no_games_tell_nothing() -> None:
    assert wilson_interval(0, 0) == (0, 1)
    assert bounded_interval(0.0, 0.0, 0, (1, 4)) == (1, 4)


@pytest.mark.parametrize("level", [0, 1, 95, -0.5])
def test_a_level_out_of_range_is_told(level: float) -> None:
    with pytest.raises(UsageError, match=rf"level {level}: must be between 0 and 1"):
        bounded_interval(0.5, 0.01, 10, (0, 1), level)
    with pytest.raises(UsageError, match=rf"level {level}: must be between 0 and 1"):
        wilson_interval(1, 2, level)


# Groups.


@pytest.mark.parametrize(("wins", "games"), [(0, 1), (1, 1), (0, 30), (3, 10), (10, 10), (12, 40), (9_000, 10_000)])
def test_plain_games_have_wilsons_interval(wins: int, games: int) -> None:
    won = np.arange(games) < wins
    variance = float(won.var(ddof=1)) / games if games > 1 else 0.0
    found = bounded_interval(wins / games, variance, games, (0, 1))
    assert found == pytest.approx(wilson_interval(wins, games), rel=1e-12, abs=1e-15)


def test_nearly_plain_games_have_nearly_wilsons_interval() -> None:
    """The quantile and the number of games go over into Wilson's without a step."""
    found = bounded_interval(0.3, 0.3 * 0.7 / 9 * (1 - 1e-5), 10, (0, 1))
    assert found == pytest.approx(wilson_interval(3, 10), rel=1e-3)


def test_scipy_is_loaded_for_few_groups_alone() -> None:
    script = """
import sys
from velonimo_sim.analysis import bounded_interval
bounded_interval(0.3, 0.3 * 0.7 / 9, 10, (0, 1))
bounded_interval(0.3, 0.1 / 2_000, 2_000, (0, 1))
assert "scipy" not in sys.modules
bounded_interval(0.3, 0.1 / 10, 10, (0, 1))
assert "scipy" in sys.modules
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_students_quantile_gives_way_to_the_normal_one_without_a_step() -> None:
    few, many = (bounded_interval(0.5, 1e-8, groups, (0, 1)) for groups in (1_000, 1_001))
    assert many[1] - many[0] == pytest.approx(few[1] - few[0], rel=2e-3)


def test_far_from_the_bounds_it_is_students_interval() -> None:
    """The 0.975 quantile of Student's distribution with 9 degrees of freedom is 2.262157 (any table of it)."""
    low, high = bounded_interval(30.0, 0.01, 10, (0, 60))
    assert (low, high) == pytest.approx((30 - 0.2262157, 30 + 0.2262157), abs=1e-4)


@given(
    st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0]), max_size=12),
    st.sampled_from([(0.0, 1.0), (-1.0, 1.0), (1.0, 5.0)]),
    st.sampled_from([0.5, 0.95, 0.999]),
)
def test_it_is_finite_within_the_bounds_and_around_the_mean(
    shares: list[float], bounds: tuple[float, float], level: float
) -> None:
    values = bounds[0] + (bounds[1] - bounds[0]) * np.array(shares)
    mean = float(values.mean()) if shares else 0.0
    variance = float(values.var(ddof=1)) / len(shares) if len(shares) > 1 else 0.0
    low, high = bounded_interval(mean, variance, len(shares), bounds, level)
    assert bounds[0] <= low < high <= bounds[1]
    assert not shares or low <= mean <= high


@pytest.mark.parametrize("mean", [-1.0, -0.25, 0.0, 1.0])
@pytest.mark.parametrize("groups", [1, 2, 50])
@pytest.mark.parametrize("rounding", [0.0, 1e-19])
def test_groups_without_variance_count_for_one_game_each(mean: float, groups: int, rounding: float) -> None:
    low, high = bounded_interval(mean, rounding, groups, (-1, 1))
    wins = groups * (mean + 1) / 2
    assert ((low + 1) / 2, (high + 1) / 2) == pytest.approx(wilson_interval(wins, groups))
    assert high - low > 0.5 / math.sqrt(groups), "and so it is wide"


# Coverage.


def tournaments(
    rng: np.random.Generator, count: int, groups: int, games: int, luck: str
) -> dict[str, NDArray[np.float64]]:
    """Return the means of each group's games for equal players who change seats, as [tournament, group, player]."""
    shape = count, groups, 1, PLAYERS
    sits = (np.arange(PLAYERS) + np.arange(games)[:, None]) % PLAYERS
    by_seat, by_player = rng.normal(0, luck == "seat", shape), rng.normal(0, 0.7 * (luck == "player"), shape)
    score = by_seat[:, :, 0, sits] + by_player + rng.normal(size=(count, groups, games, PLAYERS))
    place = 1 + (score[..., None, :] > score[..., :, None]).sum(axis=-1, dtype=np.int8)
    points = np.clip(np.round(MOST_POINTS / 2 + 8 * score), 0, MOST_POINTS)
    return {"won": (place == 1).mean(axis=2), "place": place.mean(axis=2), "total": points.mean(axis=2)}


def coverage(values: NDArray[np.float64], bounds: tuple[float, float], true: float) -> float:
    """Return the share of rows whose interval has the true mean."""
    means, variances = values.mean(axis=1), values.var(axis=1, ddof=1) / values.shape[1]
    intervals = [
        bounded_interval(mean, variance, values.shape[1], bounds)
        for mean, variance in zip(means.tolist(), variances.tolist(), strict=True)
    ]
    return float(np.mean([low <= true <= high for low, high in intervals]))


LUCK = [(1, "none"), (2, "none"), (4, "none"), (2, "seat"), (4, "seat"), (2, "player"), (4, "player")]


@pytest.mark.parametrize(("games", "luck"), LUCK)
@pytest.mark.parametrize("groups", [10, 40, 400])
def test_95_percent_intervals_cover_95_percent(groups: int, games: int, luck: str) -> None:
    """Of 2,000 tournaments of equal players each, in which seats or players have luck with the cards of a deal.

    The win share of 10 groups takes few values, so that no interval hits 95 %: Wilson's for 10 games covers 98 %.
    """
    played = tournaments(np.random.default_rng([groups, games, len(luck)]), 2_000, groups, games, luck)
    for outcome, values in played.items():
        most = 0.985 if groups == 10 and outcome == "won" else 0.97
        assert 0.93 <= coverage(values[..., 0], BOUNDS[outcome], TRUE[outcome]) <= most, outcome


@pytest.mark.parametrize(("games", "luck"), LUCK)
@pytest.mark.parametrize("groups", [10, 40, 400])
def test_intervals_of_differences_cover_95_percent_near_0(groups: int, games: int, luck: str) -> None:
    played = tournaments(np.random.default_rng([groups, games, len(luck), 1]), 2_000, groups, games, luck)
    for outcome, values in played.items():
        span = BOUNDS[outcome][1] - BOUNDS[outcome][0]
        covered = coverage(values[..., 0] - values[..., 1], (-span, span), 0.0)
        assert 0.93 <= covered <= 0.97, outcome


def test_intervals_of_three_groups_are_wide_enough() -> None:
    for outcome, values in tournaments(np.random.default_rng(3), 2_000, 3, 4, "player").items():
        assert coverage(values[..., 0], BOUNDS[outcome], TRUE[outcome]) >= 0.93, outcome


def unequal_groups(rng: np.random.Generator, count: int, groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the games of groups and how many of them are won, as [tournament, group].

    Groups have 1 or 8 games; two of a group, half of all of which are won, are correlated by 0.9.
    """
    shape = count, groups, 8
    games = rng.choice([1, 8], shape[:2])
    follows = rng.random(shape) < math.sqrt(0.9)
    won = np.where(follows, rng.random((count, groups, 1)) < 0.5, rng.random(shape) < 0.5)
    return games, (won & (np.arange(8) < games[..., None])).sum(axis=-1)


@pytest.mark.parametrize("groups", [15, 40])
def test_intervals_from_groups_of_different_sizes_cover_95_percent(groups: int) -> None:
    """The variance is that of a ratio of sums over groups (Cochran, "Sampling techniques", 1977, chapter 6)."""
    games, won = unequal_groups(np.random.default_rng(groups), 4_000, groups)
    shares = won.sum(axis=1) / games.sum(axis=1)
    residuals = (won - shares[:, None] * games) / games.sum(axis=1, keepdims=True)
    variances = (residuals**2).sum(axis=1) * groups / (groups - 1)
    intervals = [
        bounded_interval(share, variance, groups, (0, 1))
        for share, variance in zip(shares.tolist(), variances.tolist(), strict=True)
    ]
    assert 0.93 <= np.mean([low <= 0.5 <= high for low, high in intervals]) <= 0.97


def test_a_group_that_is_worth_less_than_a_game_has_students_quantile() -> None:
    """For 4 degrees of freedom it is 2.776445 (any table of it), and the games are 1 + 4 / 2."""
    low, high = bounded_interval(0.5, 0.5 * 0.5 / 2, 5, (0, 1))
    for end in (low, high):
        assert abs(0.5 - end) == pytest.approx(2.776445 * math.sqrt(end * (1 - end) / 3), rel=1e-5)


def test_intervals_are_plain_floats_whatever_the_mean_is() -> None:
    interval = bounded_interval(np.float64(0.5), np.float64(0.01), 10, (0, 1))
    assert [type(end) for end in interval] == [float, float]
    assert [type(end) for end in wilson_interval(np.float64(3), np.int64(9))] == [float, float]
    assert [type(end) for end in bounded_interval(np.float64(1), np.float64(0), 0, (0, 1))] == [float, float]
