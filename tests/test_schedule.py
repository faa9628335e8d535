"""Schedules: who meets whom, from which seats, and that it comes out even."""

import math
from itertools import combinations

import numpy as np
import pytest

from velonimo_sim.errors import UsageError
from velonimo_sim.schedule import MAX_SEATINGS, Seating, TableKind, make_schedule

ROUND_ROBIN = TableKind.ROUND_ROBIN


def distinct(count: int) -> list[str]:
    return [f"bot{number}" for number in range(count)]


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_rotations_put_each_bot_in_each_seat_once(players: int) -> None:
    schedule = make_schedule(distinct(players), players)
    assert schedule.games_per_deal == players
    assert schedule.games_by_seat().tolist() == [[1] * players] * players


def test_rotations_move_everybody_on_one_seat() -> None:
    seatings = make_schedule(distinct(4), 4).seatings
    assert seatings.tolist() == [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0]]
    assert seatings.dtype == np.int8


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_permutations_are_all_seatings_once(players: int) -> None:
    schedule = make_schedule(distinct(players), players, Seating.PERMUTATIONS)
    assert len({tuple(seating) for seating in schedule.seatings.tolist()}) == math.factorial(players)
    each = math.factorial(players - 1)
    assert schedule.games_by_seat().tolist() == [[each] * players] * players


@pytest.mark.parametrize("players", [2, 5])
def test_fixed_seats_stay_as_they_are_named(players: int) -> None:
    schedule = make_schedule(distinct(players), players, Seating.FIXED)
    assert schedule.seatings.tolist() == [list(range(players))]


@pytest.mark.parametrize("seating", [Seating.ROTATIONS, Seating.PERMUTATIONS])
@pytest.mark.parametrize("bots", ["aaab", "aabb", "abab", "aabc", "aaaa", "abb", "aab", "aaabb", "ab"])
def test_a_bot_in_several_seats_sits_everywhere_equally_often_and_no_game_is_played_twice(
    bots: str, seating: Seating
) -> None:
    schedule = make_schedule(list(bots), len(bots), seating)
    assert schedule.bots == tuple(dict.fromkeys(bots))
    seatings = [tuple(seats) for seats in schedule.seatings.tolist()]
    assert len(set(seatings)) == len(seatings)
    for bot, row in zip(schedule.bots, schedule.games_by_seat(), strict=True):
        assert row.tolist() == [len(seatings) * bots.count(bot) // len(bots)] * len(bots)


@pytest.mark.parametrize("seating", list(Seating))
@pytest.mark.parametrize(("count", "players"), [(2, 2), (5, 2), (4, 3), (6, 4), (7, 5)])
def test_in_a_round_robin_every_bot_meets_every_other_equally_often(count: int, players: int, seating: Seating) -> None:
    schedule = make_schedule(distinct(count), players, seating, ROUND_ROBIN)
    assert len(schedule.tables) == math.comb(count, players)
    meetings = np.zeros((count, count), int)
    for seats in schedule.seatings.tolist():
        assert len(set(seats)) == players
        for a, b in combinations(seats, 2):
            meetings[a, b] += 1
            meetings[b, a] += 1
    seatings = schedule.games_per_deal // len(schedule.tables)
    expected = seatings * math.comb(count - 2, players - 2)
    assert (meetings[~np.eye(count, dtype=bool)] == expected).all()
    if seating is not Seating.FIXED:
        by_seat = schedule.games_by_seat()
        assert (by_seat == by_seat[0, 0]).all()


@pytest.mark.parametrize(("games", "whole"), [(1, 4), (4, 4), (5, 8), (2_000, 2_000), (2_001, 2_004)])
def test_games_are_made_whole_deals(games: int, whole: int) -> None:
    assert make_schedule(distinct(4), 4).whole_deals(games) == whole


def test_means_by_deal_are_over_all_games_of_a_bot() -> None:
    schedule = make_schedule(["a", "a", "b"], 3)
    assert schedule.seatings.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    values = np.array([[1, 2, 30], [40, 5, 6], [7, 50, 9], [0, 0, 0], [3, 6, 0], [0, 0, 0]])
    means = schedule.means_by_deal(values.ravel())
    assert means.tolist() == [[pytest.approx(30 / 6), pytest.approx(40)], [pytest.approx(1), pytest.approx(1)]]


@pytest.mark.parametrize(
    ("bots", "players", "seating", "words"),
    [
        (distinct(3), 4, Seating.ROTATIONS, "round-robin of 3 bots: allowed are 4-127 with 4 players"),
        (distinct(128), 2, Seating.FIXED, "round-robin of 128 bots: allowed are 2-127 with 2 players"),
        (["a", "b", "a"], 2, Seating.ROTATIONS, "bot a is named twice: in a round-robin each bot is named once"),
        (distinct(40), 5, Seating.FIXED, "has 658,008 tables: allowed are 32,767"),
        (
            distinct(12),
            5,
            Seating.PERMUTATIONS,
            "792 tables of permutations make 95,040 games a deal: allowed are 32,767",
        ),
    ],
)
def test_a_round_robin_that_cannot_be(bots: list[str], players: int, seating: Seating, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        make_schedule(bots, players, seating, ROUND_ROBIN)


def test_the_largest_round_robins_fit_the_columns() -> None:
    schedule = make_schedule(distinct(127), 2, table=ROUND_ROBIN)
    assert schedule.games_per_deal == 127 * 126 <= MAX_SEATINGS
    assert schedule.seatings.max() == 126
