"""Ratings are those of Plackett and Luce: as choix has them, with ties, and with intervals that rest on deals."""

import math
from itertools import pairwise, permutations

import choix
import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.optimize import check_grad

from test_analysis_tables import CALM, played, rows
from velonimo_sim.analysis import plackett_luce, ratings
from velonimo_sim.analysis.frames import rows_of
from velonimo_sim.errors import UsageError


def found(frame: pd.DataFrame, pseudo: float = 0.5) -> NDArray[np.float64]:
    return ratings(frame, resamples=1, pseudo=pseudo)["rating"].to_numpy()


def rankings(frame: pd.DataFrame) -> list[list[int]]:
    """Return each game as the numbers of its bots from the first to the last."""
    ordered = frame.assign(number=frame["bot"].astype("category").cat.codes).sort_values(["game_id", "place"])
    return ordered.groupby("game_id")["number"].agg(list).tolist()


def log_likelihood(strengths: list[float], *results: tuple[float, str]) -> float:
    """Return the log-likelihood of so many games with a result such as ``"a=b>c"``, straight from the definition."""
    weights = {bot: math.exp(strength) for bot, strength in zip("abcd", strengths, strict=False)}
    total = 0.0
    for times, result in results:
        groups = [group.split("=") for group in result.split(">")]
        allowed = [list(order) for order in permutations("".join("".join(group) for group in groups))]
        place = {bot: number for number, group in enumerate(groups) for bot in group}
        chance = 0.0
        for order in allowed:
            if all(place[one] <= place[next_one] for one, next_one in pairwise(order)):
                chance += math.prod(
                    weights[bot] / sum(weights[other] for other in order[number:]) for number, bot in enumerate(order)
                )
        total += times * math.log(chance)
    return total


# The most likely strengths.


@pytest.mark.parametrize("players", [2, 4])
def test_without_ties_they_are_those_of_choix(players: int) -> None:
    frame = played(dict(list(CALM.items())[:players]), 40, seed=3, luck=0.5)
    expected = choix.opt_rankings(players, rankings(frame), alpha=0, method="Newton-CG", tol=1e-10)
    assert found(frame, pseudo=0) == pytest.approx(expected - expected.mean(), abs=1e-5)


def test_the_strengths_that_made_the_places_are_found() -> None:
    strengths = np.array(list(CALM.values()))
    assert found(played(CALM, 5_000)) == pytest.approx(strengths - strengths.mean(), abs=0.04)


def test_bots_that_never_met_are_rated_by_whom_they_met() -> None:
    """Tables of a round-robin: a beats b as often as b beats c and c beats d."""
    games = [
        f"{deal}: {x} 1 {1 + (deal % 4 == 0)}, {y} 0 {2 - (deal % 4 == 0)}"
        for deal in range(40)
        for x, y in ("ab", "bc", "cd")
    ]
    step = math.log(3)
    assert found(rows(*games), pseudo=0) == pytest.approx([1.5 * step, step / 2, -step / 2, -1.5 * step], abs=1e-4)


def test_the_likelihood_with_ties_is_the_sum_over_their_orders() -> None:
    games = ["0: a 9 1, b 9 1, c 5 3, d 0 4", "0: a 9 1, b 5 2, c 5 2, d 0 4", "0: d 9 1, b 9 1, c 9 1, a 9 1"]
    patterns, pattern, _ = plackett_luce._patterns_of(rows_of(rows(*games, *games[:1])))
    for strengths in ([0.0, 0, 0, 0], [1, 0.3, -0.4, -2]):
        cost, _ = plackett_luce._cost(np.array(strengths), patterns, np.bincount(pattern), 0)
        results = [(2.0, "a=b>c>d"), (1.0, "a>b=c>d"), (1.0, "a=b=c=d")]
        assert -cost == pytest.approx(log_likelihood(strengths, *results))


def test_the_gradient_is_that_of_the_likelihood() -> None:
    games = ["0: a 9 1, b 9 1, c 5 3", "0: a 9 1, b 5 2, c 5 2", "0: c 9 1, b 8 2, a 9 3", "0: a 9 1, a 7 2, b 7 2"]
    patterns, pattern, _ = plackett_luce._patterns_of(rows_of(rows(*games)))

    def cost(strengths: NDArray[np.float64]) -> float:
        return plackett_luce._cost(strengths, patterns, np.bincount(pattern), 0.5)[0]

    def gradient(strengths: NDArray[np.float64]) -> NDArray[np.float64]:
        return plackett_luce._cost(strengths, patterns, np.bincount(pattern), 0.5)[1]

    for strengths in ([0.0, 0, 0], [1, 0.3, -2]):
        assert check_grad(cost, gradient, np.array(strengths)) < 1e-6


def test_joint_winners_are_rated_equally_and_above_the_third() -> None:
    a, b, c = found(rows("0: a 9 1, b 9 1, c 5 3", "1: c 5 3, b 9 1, a 9 1"))
    assert a == pytest.approx(b, abs=1e-6)
    assert a > c + 0.5


def test_how_places_after_a_tie_are_numbered_does_not_matter() -> None:
    one, other = (
        rows("0: a 9 1, b 9 1, c 5 3", "1: b 9 1, a 8 2, c 7 3"),
        rows("0: a 9 1, b 9 1, c 5 2", "1: b 9 1, a 8 2, c 7 3"),
    )
    assert np.array_equal(found(one), found(other))


def test_ratings_sum_to_0() -> None:
    assert found(played(CALM | {"a": 3.0}, 30)).sum() == pytest.approx(0, abs=1e-9)


def test_the_same_bot_twice_in_a_game() -> None:
    """Its places among itself tell nothing: a fair game of a, a, b has b first in a third of the games."""
    frame = rows("0: a 9 1, a 5 2, b 0 3", "0: a 9 1, b 5 2, a 0 3", "0: b 9 1, a 5 2, a 0 3")
    assert found(frame, pseudo=0) == pytest.approx([0, 0], abs=1e-6)
    better = found(rows("0: a 9 1, a 5 2, b 0 3", "0: b 9 1, a 5 2, a 0 3", "0: b 9 1, a 5 2, a 0 3"), pseudo=0)
    assert better[1] > 0.2


# The ghost.


def test_a_bot_that_always_wins_has_a_finite_rating() -> None:
    """Against one rival with a ghost: n + 1 wins of n + 2 half-games tell it apart from 0 and from infinity."""
    games = [f"{deal}: a 9 1, b 5 2" for deal in range(50)]
    rating = found(rows(*games))
    assert 2 < rating[0] < 8
    assert rating == pytest.approx([rating[0], -rating[0]])
    assert found(rows(*games), pseudo=5)[0] < rating[0]


def test_the_ghost_is_won_and_lost_against_as_told() -> None:
    """A bot a, b and the ghost: the optimum of the likelihood written out."""
    a, b = found(rows("0: a 9 1, b 5 2", "0: a 9 1, b 5 2", "0: b 9 1, a 5 2"), pseudo=2)

    def slope(strength: float) -> float:
        chance, against_ghost = 1 / (1 + math.exp(-2 * strength)), 1 / (1 + math.exp(-strength))
        return 2 - 3 * chance + 2 * (1 - 2 * against_ghost)

    assert a == -b
    assert slope(a - 1e-4) > 0 > slope(a + 1e-4)


def test_without_the_ghost_a_bot_that_always_wins_is_told() -> None:
    frame = rows("0: a 9 1, b 5 2, c 4 3", "1: a 9 1, c 5 2, b 3 3")
    with pytest.raises(UsageError, match="pseudo 0: a: these bots always come before or after the others"):
        ratings(frame, pseudo=0)
    assert np.isfinite(found(frame)).all()


# Intervals.


def test_the_interval_of_two_bots_is_that_of_the_odds() -> None:
    """Half the logarithm of the odds has a deviation of 1 / (2 sqrt(n p (1 - p)))."""
    frame = played({"a": 0.5, "b": 0.0}, 500)
    frame["deal_id"] = frame["game_id"]
    share = frame.loc[(frame["bot"] == "a"), "won"].mean()
    row = ratings(frame, resamples=1_000, pseudo=0).iloc[0]
    assert row["rating"] == pytest.approx(math.log(share / (1 - share)) / 2, abs=1e-5)
    half = 1.96 / (2 * math.sqrt(1_000 * share * (1 - share)))
    assert (row["high"] - row["low"]) / 2 == pytest.approx(half, rel=0.08)


def test_deals_are_drawn_and_not_games() -> None:
    """Each game four times over in its deal tells no more than once."""
    once = played(CALM, 60)
    copies = pd.concat([once.assign(game_id=once["game_id"] + 1_000 * copy) for copy in range(4)])
    names = ["rating", "low", "high"]
    expected = ratings(once, resamples=50, pseudo=0)[names].to_numpy()
    assert ratings(copies, resamples=50, pseudo=0)[names].to_numpy() == pytest.approx(expected, abs=1e-4)


def test_intervals_follow_level_and_seed() -> None:
    frame = played(CALM, 50)
    wide, narrow, other = ratings(frame), ratings(frame, level=0.5), ratings(frame, seed=1)
    assert ((wide["low"] < narrow["low"]) & (narrow["high"] < wide["high"])).all()
    assert ((narrow["low"] < wide["rating"]) & (wide["rating"] < narrow["high"])).all()
    pd.testing.assert_frame_equal(wide, ratings(frame))
    assert not wide["low"].equals(other["low"])


def test_the_order_of_rows_changes_nothing() -> None:
    frame = played(CALM, 50)
    frame.loc[frame["place"] == 2, "place"] = 1
    shuffled = frame.sample(frac=1, random_state=2)
    pd.testing.assert_frame_equal(ratings(frame, 20), ratings(shuffled, 20), check_exact=True)


def test_one_deal_tells_nothing_of_the_spread() -> None:
    table = ratings(rows("3: a 9 1, b 5 2", "3: b 9 1, a 5 2"))
    assert table["rating"].tolist() == pytest.approx([0, 0], abs=1e-9)
    assert table["low"].tolist() == [-math.inf] * 2
    assert table["high"].tolist() == [math.inf] * 2


@pytest.mark.parametrize("pseudo", [0, 0.5])
def test_one_bot_is_rated_0(pseudo: float) -> None:
    (row,) = ratings(played([("a", 0.0)] * 4, 10), pseudo=pseudo).to_dict("records")
    assert row == {"bot": "a", "rating": 0, "low": 0, "high": 0, "games": 160}


@pytest.mark.slow
def test_95_percent_intervals_cover_95_percent() -> None:
    """Of 300 tournaments of 150 deals, with luck of bots in deals; the truth is the rating of a long run."""
    strengths = {"a": 0.5, "b": 0.0, "c": 0.0, "d": -0.5}
    true = found(played(strengths, 200_000, seed=1, luck=0.5))
    covered = []
    for seed in range(300):
        table = ratings(played(strengths, 150, seed=seed, luck=0.5), resamples=100)
        covered.append((table["low"] < true) & (true < table["high"]))
    assert 0.93 <= np.mean(covered) <= 0.97


# What is not possible.


def test_what_is_out_of_range_is_told() -> None:
    frame = played(CALM, 2)
    for argument, value, words in [
        ("resamples", 0, "1 or more"),
        ("pseudo", -1, "0 or more"),
        ("level", 95, "between 0 and 1"),
    ]:
        with pytest.raises(UsageError, match=f"^{argument} {value}: must be {words}"):
            ratings(frame, **{argument: value})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="the run has no finished games"):
        ratings(frame[:0])
