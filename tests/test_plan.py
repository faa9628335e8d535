"""The plan of a hand: the cheapest cover of its riders, what it costs, and how likely plays are to stand."""

import random
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from conftest import states_of_game
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.velonimo.cards import DECK, HARES, RIDERS, TEAMS, card_texts, parse_cards
from velonimo_sim.velonimo.policies.plan import (
    ALL_ALIKE,
    VALUE_COST,
    WHOLE,
    cheapest_cover,
    hand_cost,
    planned_play,
)
from velonimo_sim.velonimo.policies.stand import SITUATIONS, SIZES, STAND, situation_of
from velonimo_sim.velonimo.state import new_state
from velonimo_sim.velonimo.view import View

pytestmark = pytest.mark.kernel

HANDS = 10 if INTERPRETED else 400
Grid = frozenset[tuple[str, int]]
"""Riders as colour and number."""


@cache
def hands() -> list[np.uint64]:
    """Return hands of every size up to 27, dealt and of few colours, and that of a whole deck."""
    chance = random.Random(5)
    deck = card_texts(DECK)
    found = [parse_cards(chance.sample(deck, 1 + i % 27)) for i in range(HANDS)]
    for i in range(HANDS // 4):
        few = [card for card in deck if card[0] in chance.sample(TEAMS, 3) or card[0] == "H"]
        found.append(parse_cards(chance.sample(few, min(len(few), 4 + i % 12))))
    return [*found, DECK]


def situations(i: int) -> tuple[int, ...]:
    """Return the situations in which a hand is looked at: all alike, and one in turn."""
    return ALL_ALIKE, i % SITUATIONS


def grid_of(cards: np.uint64) -> Grid:
    return frozenset((card[0], int(card[1:])) for card in card_texts(cards & RIDERS))


def cost_of(play: Grid, situation: int) -> int:
    """Return the cost of riders played together (V6, V7)."""
    lowest = min(number for _, number in play)
    return int(VALUE_COST[situation, lowest if len(play) == 1 else 10 * len(play) + lowest])


def plays_of(riders: Grid, teams: frozenset[str]) -> list[Grid]:
    """Return the plays of the cover that plays some teams by their colour and all else by numbers."""
    by_team = [frozenset(rider for rider in riders if rider[0] == team) for team in teams]
    by_number = [frozenset(rider for rider in riders if rider[0] not in teams and rider[1] == n) for n in range(1, 8)]
    return [play for play in (*by_team, *by_number) if play]


ALL_SETS_OF_TEAMS = [frozenset(some) for n in range(8) for some in combinations(TEAMS, n)]


def least_cost(riders: Grid, situation: int, may_lead_alone: bool = True) -> int:
    """Return the least cost of all covers, or of those in which no team of a single rider is played by its colour."""
    sizes = {team: sum(other == team for other, _ in riders) for team in TEAMS}
    return min(
        sum(cost_of(play, situation) for play in plays_of(riders, teams))
        for teams in ALL_SETS_OF_TEAMS
        if may_lead_alone or all(sizes[team] > 1 for team in teams)
    )


def cover_of(hand: np.uint64, situation: int) -> tuple[list[np.uint64], int]:
    """Return the plays of the cheapest cover, and the cost that it is said to have."""
    teams, cost = cheapest_cover(hand & RIDERS, situation)
    return [play for play in (planned_play(hand & RIDERS, teams, place) for place in range(14)) if play], int(cost)


def most_riders_apart(riders: Grid) -> int:
    """Return how many riders there are at most of which no two share a colour or a number, by augmenting paths."""
    partner: dict[int, str] = {}

    def finds_a_number(team: str, tried: set[int]) -> bool:
        for number in [number for other, number in riders if other == team and number not in tried]:
            tried.add(number)
            if number not in partner or finds_a_number(partner[number], tried):
                partner[number] = team
                return True
        return False

    return sum(finds_a_number(team, set()) for team in TEAMS)


# The cover.


def test_the_cover_is_the_cheapest_of_all() -> None:
    """A single rider that is all but sure to stand costs less than nothing, and is not split off a number for that."""
    for i, hand in enumerate(hands()):
        for situation in situations(i):
            has_a_price = VALUE_COST[situation, 1:8].min() >= 0
            assert cover_of(hand, situation)[1] == least_cost(grid_of(hand), situation, has_a_price)


def test_single_riders_are_all_but_sure_to_stand_against_one_card_alone() -> None:
    assert [i for i in range(SITUATIONS + 1) if VALUE_COST[i, 1:8].min() < 0] == [0]


def test_the_planned_plays_are_plays_that_share_no_rider_and_leave_none() -> None:
    for i, hand in enumerate(hands()):
        for situation in situations(i):
            plays, _ = cover_of(hand, situation)
            assert sum(int(play) for play in plays) == hand & RIDERS
            assert len(plays) == len(set(plays))
            for play in map(grid_of, plays):
                assert len({team for team, _ in play}) == 1 or len({number for _, number in play}) == 1


def test_the_planned_plays_cost_what_the_cover_is_said_to_cost() -> None:
    for i, hand in enumerate(hands()):
        for situation in situations(i):
            plays, cost = cover_of(hand, situation)
            assert sum(cost_of(grid_of(play), situation) for play in plays) == cost


def test_where_plays_are_all_alike_there_are_as_few_as_riders_can_stand_apart() -> None:
    """Koenig's theorem, by the other of its two sides."""
    for hand in hands():
        plays, cost = cover_of(hand, ALL_ALIKE)
        assert len(plays) == most_riders_apart(grid_of(hand))
        assert cost == WHOLE * len(plays)


@pytest.mark.parametrize(
    ("hand", "plays"),
    [
        ("R1 R2 R3 B3", ["B3", "R1 R2 R3"]),
        ("R3 B3 G3 G5", ["B3 G3 R3", "G5"]),
        ("R1 R7 B1 B7", ["B1 R1", "B7 R7"]),
        ("R5", ["R5"]),
        ("H25 H50", []),
    ],
)
def test_a_plan_by_example(hand: str, plays: list[str]) -> None:
    found, _ = cover_of(parse_cards(hand.split()), ALL_ALIKE)
    assert sorted(" ".join(card_texts(play)) for play in found) == plays


def test_the_cover_goes_by_what_plays_cost_where_several_are_as_short() -> None:
    """Two plays either way; against one card in hand, 7 with 7 is sure to stand and 1 with 1 is not."""
    riders = parse_cards(["R1", "R7", "B1", "B7"])
    assert cover_of(riders, 0)[1] == least_cost(grid_of(riders), 0) < cover_of(riders, ALL_ALIKE)[1]


# The cost of a hand.


def test_a_hand_costs_its_cover_and_hares_without_the_dearest_play() -> None:
    for i, hand in enumerate(hands()):
        for situation in situations(i):
            plays, cost = cover_of(hand, situation)
            hares = [int(VALUE_COST[situation, int(card[1:])]) for card in card_texts(hand & HARES)]
            dearest = max([*hares, *(cost_of(grid_of(play), situation) for play in plays)])
            assert hand_cost(hand, situation) == cost + sum(hares) - dearest


def test_a_hand_that_goes_out_at_once_costs_nothing() -> None:
    for situation in range(SITUATIONS + 1):
        for hand in ("R1", "R1 R2 R7", "R4 B4", "H25"):
            assert hand_cost(parse_cards(hand.split()), situation) == 0


# How likely plays are to stand.


def test_a_play_is_no_less_likely_to_stand_the_more_it_is_worth() -> None:
    assert STAND.shape == (SITUATIONS, 100)
    values = [value for value in range(100) if value % 10 <= 7]
    assert (np.diff(STAND[:, values].astype(int), axis=1) >= 0).all()


def test_chances_are_from_0_to_1024() -> None:
    assert STAND.min() == 0
    assert STAND.max() == 1024
    assert (STAND[:, 77:] == 1024).all(), "nothing is worth more than seven of a kind"


def test_a_play_costs_less_the_likelier_it_stands_but_where_all_are_alike() -> None:
    assert (VALUE_COST[ALL_ALIKE] == WHOLE).all()
    assert (VALUE_COST[:SITUATIONS][STAND == 0] == WHOLE).all()
    order = np.argsort(STAND.ravel(), kind="stable")
    assert (np.diff(VALUE_COST[:SITUATIONS].ravel()[order]) <= 0).all()


def view_with(sizes: list[int], seat: int = 0) -> View:
    view = new_state(len(sizes))["view"]
    view["seat"], view["sizes"][: len(sizes)] = seat, sizes
    return view


@pytest.mark.parametrize(
    ("sizes", "seat", "situation"),
    [
        ([11, 1], 0, 0),
        ([11, 2], 0, 1),
        ([11, 3], 0, 1),
        ([3, 11], 1, 1),
        ([11, 4], 0, 2),
        ([1, 9], 0, 4),
        ([1, 10], 0, 5),
        ([1, 27], 0, 5),
        ([1, 1, 1], 0, SIZES),
        ([1, 1, 2], 0, SIZES + 1),
        ([1, 0, 2], 0, 1),
        ([7, 4, 7], 1, SIZES + 3),
        ([5, 5, 5, 5], 3, 2 * SIZES + 2),
        ([9, 11, 11, 11, 11], 0, 3 * SIZES + 5),
        ([9, 0, 0, 1, 2], 0, SIZES + 1),
        ([4, 0, 0], 0, 0),
    ],
)
def test_a_situation_is_how_many_opponents_race_and_their_cards_on_average_rounded_up(
    sizes: list[int], seat: int, situation: int
) -> None:
    assert situation_of(view_with(sizes, seat)) == situation


def test_every_situation_of_a_game_is_one_of_the_table() -> None:
    for players in (2, 3, 4, 5):
        for state in states_of_game(players, 1):
            view = state["view"]
            opponents = sum(size > 0 for seat, size in enumerate(view["sizes"]) if seat != view["seat"])
            assert situation_of(view) // SIZES == max(0, opponents - 1) < SITUATIONS // SIZES
