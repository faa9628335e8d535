"""The test that may be looked at after every group: rarely wrong, quick to decide, the same whatever the chunks."""

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from velonimo_sim.analysis import ConfidenceSequence
from velonimo_sim.errors import UsageError

Draw: TypeAlias = Callable[[np.random.Generator, int], NDArray[np.float64]]


def of_games(first: float, second: float, games: int = 4) -> Draw:
    """Return the differences of win shares in groups of independent games, by the chances of the two bots."""

    def draw(rng: np.random.Generator, groups: int) -> NDArray[np.float64]:
        wins = rng.multinomial(games, [first, second, 1 - first - second], groups)
        return (wins[:, 0] - wins[:, 1]) / games

    return draw


def alike(rng: np.random.Generator, groups: int) -> NDArray[np.float64]:
    """Return differences in groups of four games that the luck of the deal gives to the same bot nearly always."""
    luck = rng.choice([0.05, 0.95], groups)
    return (2 * rng.binomial(4, luck) - 4) / 4


def skewed(rng: np.random.Generator, groups: int) -> NDArray[np.float64]:
    """Return differences with mean 0 of a bot that rarely wins all games of a deal, and mostly loses by an eighth."""
    return np.where(rng.random(groups) < 1 / 9, 1.0, -1 / 8)


def one_after_the_other(rng: np.random.Generator, groups: int) -> NDArray[np.float64]:
    """Return differences that are fair whatever was before, though how much is at stake depends on it."""
    signs = rng.choice([-1.0, 1.0], groups)
    stakes = np.where(np.concatenate([[1], signs[:-1]]) > 0, 1.0, 0.1)
    return signs * stakes


def run(values: NDArray[np.float64], alpha: float = 0.05) -> ConfidenceSequence:
    sequence = ConfidenceSequence(alpha=alpha)
    sequence.add(values)
    return sequence


# How often it is wrong.


@pytest.mark.parametrize(
    "draw",
    [
        of_games(0.25, 0.25), of_games(0.5, 0.5, 1), of_games(0.01, 0.01),
        alike, skewed, lambda rng, groups: -skewed(rng, groups), one_after_the_other,
    ],
)  # fmt: skip
@pytest.mark.parametrize(("alpha", "most"), [(0.05, 73), (0.3, 345)])
def test_of_equal_bots_at_most_alpha_are_told_apart(draw: Draw, alpha: float, most: int) -> None:
    """Of 1,000 tournaments, looked at after each of 1,500 groups; ``most`` is the 99.9 % quantile of the binomial."""
    wrong = sum(run(draw(np.random.default_rng(seed), 1_500), alpha).decision is not None for seed in range(1_000))
    assert wrong <= most


def test_that_bound_is_one_that_looking_at_a_plain_interval_breaks() -> None:
    """What a test that is made for one look would do."""
    wrong = 0
    for seed in range(200):
        values = of_games(0.25, 0.25)(np.random.default_rng(seed), 1_500)
        number = np.arange(1, 1_501)
        mean = np.cumsum(values) / number
        deviation = np.sqrt(np.maximum(np.cumsum(values**2) / number - mean**2, 1e-9) / number)
        wrong += bool((np.abs(mean) > 1.96 * deviation)[20:].any())
    assert wrong > 73 / 5


@pytest.mark.parametrize(("draw", "true"), [(of_games(0.3, 0.2), 0.1), (of_games(0.25, 0.25), 0), (skewed, 0)])
def test_the_interval_has_the_true_mean_at_all_times_at_once(draw: Draw, true: float) -> None:
    """Of 300 tournaments, looked at 40 times; alpha is 0.2, and 82 the 99.9 % quantile of the binomial."""
    wrong = 0
    for seed in range(300):
        sequence, missed = ConfidenceSequence(alpha=0.2), False
        for part in np.split(draw(np.random.default_rng(seed), 800), 40):
            if sequence.decision is None:
                sequence.add(part)
                missed |= not sequence.low <= true <= sequence.high
        wrong += missed
    assert wrong <= 82


# How soon it decides.


@pytest.mark.parametrize(("first", "second"), [(0.3, 0.2), (0.27, 0.23), (0.26, 0.24)])
def test_it_decides_sooner_than_a_test_of_fixed_length(first: float, second: float) -> None:
    """On average over 40 tournaments; one that finds the effect in 95 % takes (1.96 + 1.64)^2 = 13 variances of it."""
    needed, mean = [], first - second
    groups = 13 * ((first + second - mean**2) / 4) / mean**2
    for seed in range(40):
        sequence = run(of_games(first, second)(np.random.default_rng(seed), 40_000))
        assert sequence.decision == "first"
        needed.append(sequence.groups)
    assert np.mean(needed) < groups


def test_the_decision_is_sooner_than_that_of_the_interval() -> None:
    ends, decided = [], []
    for seed in range(40):
        values = of_games(0.3, 0.2)(np.random.default_rng(seed), 2_000)
        decided.append(run(values).groups)
        ends.append(next(n for n in range(1, 2_000) if plain_interval(values[:n], 0.05)[0] > 0))
    assert np.mean(decided) < 0.75 * np.mean(ends)


def test_a_bot_that_always_wins_needs_few_groups() -> None:
    assert run(np.ones(100)).groups == 11


@pytest.mark.parametrize(("sign", "decision"), [(1, "first"), (-1, "second")])
def test_it_decides_both_ways(sign: int, decision: str) -> None:
    values = sign * of_games(0.4, 0.1)(np.random.default_rng(5), 1_000)
    sequence = ConfidenceSequence()
    index = sequence.add(values)
    assert sequence.decision == decision
    assert index is not None
    assert sequence.groups == index + 1 == run(-values).groups
    assert sequence.mean == pytest.approx(values[: index + 1].mean())


# Chunks.


def state(sequence: ConfidenceSequence) -> tuple[object, ...]:
    return sequence.groups, sequence.decision, sequence.mean, sequence.low, sequence.high, *sequence._wealth


@pytest.mark.parametrize("draw", [of_games(0.27, 0.23), of_games(0.25, 0.25), skewed])
@pytest.mark.parametrize("size", [1, 7, 250, 1_000])
def test_chunks_change_nothing_to_the_last_bit(draw: Draw, size: int) -> None:
    values = draw(np.random.default_rng(1), 3_000)
    at_once, in_parts, index = ConfidenceSequence(), ConfidenceSequence(), None
    decided = at_once.add(values)
    start = 0
    while start < len(values) and index is None:
        index = in_parts.add(values[start : start + size])
        start += size
    assert state(in_parts) == state(at_once)
    if decided is not None:
        assert index is not None
        assert start - size + index == decided


def test_the_state_stands_at_the_group_that_decides() -> None:
    values = of_games(0.4, 0.1)(np.random.default_rng(2), 500)
    whole, until_then, before = ConfidenceSequence(), ConfidenceSequence(), ConfidenceSequence()
    index = whole.add(values)
    assert index is not None
    assert until_then.add(values[: index + 1]) == index
    assert state(whole) == state(until_then)
    assert before.add(values[:index]) is None


def test_no_groups_change_nothing() -> None:
    sequence = ConfidenceSequence()
    assert sequence.add(np.empty(0)) is None
    assert (sequence.groups, sequence.low, sequence.high, sequence.decision) == (0, -1, 1, None)
    assert math.isnan(sequence.mean)


# The interval is that of the paper.


def plain_interval(values: NDArray[np.float64], alpha: float) -> tuple[float, float]:
    """Return the predictable plug-in empirical Bernstein interval, as Theorem 2 has it, for values in [-1, 1]."""
    units = (values + 1) / 2
    mean, variance = 0.5, 0.25
    weights = weighted = cost = total = squares = 0.0
    for number, value in enumerate(units.tolist(), start=1):
        weight = min(math.sqrt(2 * math.log(2 / alpha) / (variance * number * math.log(1 + number))), 0.5)
        weights += weight
        weighted += weight * value
        cost += 4 * (value - mean) ** 2 * (-math.log(1 - weight) - weight) / 4
        total += value
        mean = (0.5 + total) / (number + 1)
        squares += (value - mean) ** 2
        variance = (0.25 + squares) / (number + 1)
    half = (math.log(2 / alpha) + cost) / weights
    return 2 * (weighted / weights - half) - 1, 2 * (weighted / weights + half) - 1


@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize("groups", [40, 400])
def test_the_interval_is_that_of_theorem_2(alpha: float, groups: int) -> None:
    values = of_games(0.25, 0.25)(np.random.default_rng(4), groups)
    sequence = run(values, alpha)
    assert sequence.groups == groups
    low, high = plain_interval(values, alpha)
    assert (sequence.low, sequence.high) == pytest.approx((max(low, -1), min(high, 1)))


def test_bounds_scale_all() -> None:
    values = of_games(0.25, 0.25)(np.random.default_rng(6), 300)
    small, large = ConfidenceSequence(), ConfidenceSequence((-45, 45))
    small.add(values)
    large.add(45 * values)
    assert (large.low, large.high, large.mean) == pytest.approx((45 * small.low, 45 * small.high, 45 * small.mean))


# What is not possible.


def test_what_is_out_of_range_is_told() -> None:
    with pytest.raises(UsageError, match=r"alpha 1.5: must be between 0 and 1"):
        ConfidenceSequence(alpha=1.5)
    with pytest.raises(UsageError, match=r"bounds 0 to 1: 0 must lie between them"):
        ConfidenceSequence((0, 1))
    with pytest.raises(ValueError, match=r"a difference is not within -1 and 1"):
        ConfidenceSequence().add(np.array([0.5, 1.5]))
    with pytest.raises(ValueError, match=r"a difference is not within -1 and 1"):
        ConfidenceSequence().add(np.array([np.nan]))
    with pytest.raises(ValueError, match=r"the test has decided"):
        run(np.ones(50)).add(np.ones(1))
