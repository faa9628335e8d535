"""The bot ``advised``: each piece of advice changes what it does, no seat is favoured, and it beats ``greedy``."""

from collections.abc import Iterator
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from conftest import position, rotated_seatings, states_of_game
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.game import GAMES
from velonimo_sim.rng import new_stream
from velonimo_sim.velonimo.cards import HARES, RIDERS
from velonimo_sim.velonimo.legal import legal_moves
from velonimo_sim.velonimo.moves import PASS, Kind, Move, cards_of, kind_of, move_of, move_text, seat_of
from velonimo_sim.velonimo.policies import parse_bot
from velonimo_sim.velonimo.policies.advised import SWITCHES, promise_of, regret_of
from velonimo_sim.velonimo.policies.plan import ALL_ALIKE, cheapest_cover, hand_cost, planned_play
from velonimo_sim.velonimo.policies.stand import situation_of
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.state import clone
from velonimo_sim.velonimo.view import NOBODY, Phase, View
from velonimo_sim.workers import Desk, Work

pytestmark = pytest.mark.kernel

NAMES = [switch.name for switch in SWITCHES]
NO_ADVICE = "advised:" + ",".join(f"{name}=off" for name in NAMES)
GAMES_EACH = 1 if INTERPRETED else 6


def choose(bot: str, view: View, seed: int = 1) -> np.uint64:
    chosen = parse_bot(bot)
    return np.uint64(chosen.policy.function(view, chosen.scratch(), new_stream(seed)))


def listed(view: View) -> list[np.uint64]:
    moves = np.zeros(5000, np.uint64)
    return [np.uint64(move) for move in moves[: legal_moves(view, moves)]]


def rest_of(view: View, move: np.uint64) -> np.uint64:
    return np.uint64(int(view["hand"]) & ~int(cards_of(move)))


@cache
def views() -> list[View]:
    """Return what seats to act see in games of ``advised`` with 2-5 players."""
    rules = RuleSet(hand_size=6) if INTERPRETED else None
    return [
        state["view"]
        for players in (2, 3, 4, 5)
        for seed in range(GAMES_EACH)
        for state in states_of_game(players, seed, rules, "advised")
    ]


def views_in(*phases: Phase) -> list[View]:
    return [view for view in views() if view["phase"] in phases]


def value_of(view: View, move: np.uint64) -> int:
    return Move(int(move), int(view["rules"]["jersey_bonus"])).value


def planned(view: View) -> list[np.uint64]:
    """Return the plays of the plan of the fewest turns, and the hares."""
    riders = view["hand"] & RIDERS
    teams, _ = cheapest_cover(riders, ALL_ALIKE)
    hares = [np.uint64(1 << place) for place in range(56) if int(view["hand"] & HARES) >> place & 1]
    return [play for play in (planned_play(riders, teams, place) for place in range(14)) if play] + hares


# Without advice.


def test_without_advice_it_leads_as_greedy_what_the_shortest_plan_has() -> None:
    """The most cards, then the lowest value; so it leads what ``greedy`` leads if that is no part of two plays."""
    same = 0
    for view in views_in(Phase.LEAD):
        move = choose(NO_ADVICE, view)
        order = [(-int(play).bit_count(), value_of(view, play)) for play in planned(view)]
        assert (-int(move).bit_count(), value_of(view, move)) == min(order)
        same += move == choose("greedy", view)
    assert same > 0.75 * len(views_in(Phase.LEAD))


def test_without_advice_it_follows_as_greedy_unless_it_can_go_out() -> None:
    """It plays the lowest value that beats, whenever there is one."""
    same = 0
    for view in views_in(Phase.FOLLOW):
        move, cheapest = choose(NO_ADVICE, view), choose("greedy", view)
        assert (move == PASS) == (cheapest == PASS)
        assert value_of(view, move) == value_of(view, cheapest) or cards_of(move) == view["hand"]
        same += move == cheapest
    assert same > 0.9 * len(views_in(Phase.FOLLOW))


def test_without_advice_it_decides_all_else_as_greedy() -> None:
    for i, view in enumerate(views_in(Phase.SWAP, Phase.GIVE, Phase.NEXT_LEADER, Phase.REWARD)):
        assert choose(NO_ADVICE, view, i) == choose("greedy", view, i)


# Each piece of advice: the position, what is done without that piece, and what with it.

Case = tuple[str, list[str], str, str, str, str]

CASES: dict[str, Case] = {
    "late: the hare is kept while others may answer": (
        "late",
        ["A7", "H50 P6 R3", "A5 B7 R2 R5 R6"],
        "A7",
        "",
        "H50",
        "pass",
    ),
    "late: no fight for a cheap attack": ("late", ["Y1 Y6", "B1 H45 N2", "A3 B6 P1 R1"], "Y1 Y6", "", "H45", "pass"),
    "jersey: not for a weak play": ("jersey", ["A3", "N7 Y1", "G6"], "A3", "", "Y1 +jersey", "N7"),
    "jersey: a hare instead of it": ("jersey", ["P7", "G2 H50", "H35"], "P7", "", "G2 +jersey", "H50"),
    "hares: no lead while riders do": ("hares", ["A6 B6 H40", "Y4", "G4"], "", "", "H40", "A6 B6"),
    "hares: riders that beat as well": ("hares", ["H30 R7", "H25 P3 P4", "B5"], "R7", "", "H25", "P3 P4"),
    "groups: the pair stays together": ("groups", ["R2", "B4 B5 Y7", "N2"], "R2", "", "B4", "Y7"),
    "lead: the single that is good for nothing else": ("lead", ["A4 A5 R1", "A6"], "", "", "A4 A5", "R1"),
    "dromedary: played while it draws": ("dromedary", ["G2 N6", "H35"], "", "A5 B7 R3", "N6", "G2"),
    "finish: the certain winner goes last": ("finish", ["A2", "B4 B5 N3 P7"], "A2", "G7 G6 G5", "N3", "B4 B5"),
}


@pytest.mark.parametrize(("switch", "hands", "moves", "pile", "off", "on"), CASES.values(), ids=CASES)
def test_a_piece_of_advice_changes_the_move(
    switch: str, hands: list[str], moves: str, pile: str, off: str, on: str
) -> None:
    view = position(hands, moves, wearer=1 if "jersey" in off else None, pile=pile)["view"]
    assert move_text(choose(f"advised:{switch}=off", view)) == off
    assert move_text(choose("advised", view)) == on


def test_tortoise_the_swap_is_with_the_hand_nearest_to_going_out() -> None:
    view = position(["N1 B3 B4", "A2 A5 P2", "Y5 N4", "G5 G6 G7"], "N1")["view"]
    assert {move_text(choose("advised", view, seed)) for seed in range(20)} == {"swap 2"}
    others = {move_text(choose("advised:tortoise=off", view, seed)) for seed in range(40)}
    assert others == {"swap 1", "swap 2", "swap 3"}


def test_tortoise_the_gift_is_the_card_without_which_the_hand_costs_least() -> None:
    """Not the card of the smallest group, where the plan plays that one alone as well."""
    gifts = [view for view in views_in(Phase.GIVE) if view["swap_count"] == 1]
    differing = 0
    for view in gifts:
        costs = {
            int(move): hand_cost(rest_of(view, move), situation_of(view))
            for move in listed(view)
            if cards_of(move) != view["hand"]
        }
        assert costs[int(choose("advised", view))] == min(costs.values())
        assert choose("advised:tortoise=off", view) == choose("greedy", view)
        differing += choose("advised", view) != choose("greedy", view)
    assert INTERPRETED or differing > len(gifts) / 4 > 10


@pytest.mark.parametrize(("reward", "move"), [("H50", "keep"), ("P4", "force")])
def test_finish_the_reward_is_kept_if_the_hand_is_better_with_it(reward: str, move: str) -> None:
    view = position(["A3 B7", "H45"], "B7, pass", pile=f"{reward} H35")["view"]
    assert move_text(choose("advised", view)) == move
    assert move_text(choose("advised:finish=off", view)) == "force"


def test_dromedary_with_no_card_to_draw_it_is_a_two() -> None:
    view = position(["G2 N6", "H35"])["view"]
    assert choose("advised", view) == choose("advised:dromedary=off", view)


def test_a_hand_that_is_one_play_goes_out() -> None:
    for bot in ("advised", *(f"advised:{name}=off" for name in NAMES)):
        assert move_text(choose(bot, position(["Y3 Y5 Y7", "B6", "H50"])["view"])) == "Y3 Y5 Y7"
        assert move_text(choose(bot, position(["R3 R5", "B7", "H50"], "R3")["view"])) == "B7"


# No seat is favoured.

BY_SEAT = ("known", "totals", "points", "passed_on", "sizes", "out_order")
SEATS = ("seat", "turn", "starter", "author", "wearer", "swap_victim")


def rotated(view: View) -> View:
    """Return a view with everybody moved on by one seat."""
    players, moved = int(view["players"]), clone(view)
    for name in BY_SEAT:
        moved[name][:players] = np.roll(view[name][:players], 1)
    for name in SEATS:
        if view[name] != NOBODY:
            moved[name] = (int(view[name]) + 1) % players
    return moved


def rotated_move(view: View, move: np.uint64) -> np.uint64:
    if kind_of(move) not in (Kind.SWAP, Kind.LEAD):
        return move
    return np.uint64(move_of(kind_of(move), np.uint64((seat_of(move) + 1) % int(view["players"]))))


def test_moved_on_by_a_seat_it_makes_the_move_moved_on_by_a_seat() -> None:
    """But for the leader that is named at random."""
    ties = 0
    for view in views():
        if view["phase"] != Phase.NEXT_LEADER:
            assert choose("advised", rotated(view)) == rotated_move(view, choose("advised", view))
        if view["phase"] == Phase.SWAP and view["players"] > 2:
            sizes = sorted(int(size) for seat, size in enumerate(view["sizes"]) if size and seat != view["seat"])
            ties += len(sizes) > 1 and sizes[0] == sizes[1]
    assert INTERPRETED or ties > 5


def test_of_equally_near_hands_that_of_the_next_seat_is_swapped_with() -> None:
    view = position(["N1 B3 B4", "A2 A5", "Y5 N4", "G5 G6 G7"], "N1")["view"]
    assert move_text(choose("advised", view)) == "swap 1"
    assert move_text(choose("advised", rotated(view))) == "swap 2"
    assert move_text(choose("advised", rotated(rotated(rotated(view))))) == "swap 0"


# What is to be regretted.


def plays_and_pass(view: View) -> Iterator[tuple[np.uint64, int, int]]:
    """Yield each legal move with its promise and what is to be regretted of it."""
    for move in listed(view):
        yield move, int(promise_of(view, move)), int(regret_of(view, move))


def test_nothing_is_to_be_regretted_of_the_advised_move_and_never_less_than_nothing() -> None:
    others = regretted = 0
    for view in views_in(Phase.LEAD, Phase.FOLLOW)[:: 10 if INTERPRETED else 4]:
        choice = choose("advised", view)
        regrets = {int(move): regret for move, _, regret in plays_and_pass(view)}
        assert regrets[int(choice)] == 0
        assert min(regrets.values()) == 0
        others += len(regrets) - 1
        regretted += sum(regret > 0 for regret in regrets.values())
    assert regretted > 0.8 * others


def test_the_more_a_move_promises_the_less_it_is_to_be_regretted() -> None:
    for view in views_in(Phase.LEAD, Phase.FOLLOW)[:: 10 if INTERPRETED else 4]:
        choice = choose("advised", view)
        others = sorted((promise, regret) for move, promise, regret in plays_and_pass(view) if move != choice)
        for (promise, regret), (more, less) in pairwise(others):
            assert 0 <= regret - less <= more - promise


def test_an_answer_is_regretted_by_what_the_advised_one_promises_more() -> None:
    for view in views_in(Phase.FOLLOW)[:: 10 if INTERPRETED else 4]:
        choice = choose("advised", view)
        if len(listed(view)) > 1:
            best = int(promise_of(view, choice))
            for _, promise, regret in plays_and_pass(view):
                assert regret == max(0, best - promise)


def test_gifts_promise_more_the_less_the_rest_costs() -> None:
    for view in views_in(Phase.GIVE):
        for move in listed(view)[:20]:
            if cards_of(move) != view["hand"]:
                assert promise_of(view, move) == -hand_cost(rest_of(view, move), situation_of(view))


# Strength.


def share_of_wins(bots: list[str], games: int) -> float:
    """Return the share of games that the first bot wins, every bot in every seat equally often."""
    game, players = GAMES["velonimo"], len(bots)
    rules = RuleSet.official()
    table = game.open_table([game.parse_bot(bot) for bot in bots], rules, rotated_seatings(players), 5)
    desk = Desk(Work.of(game, table, rules, players))
    rows = desk.play(0, games).game_rows
    return float(rows["won"][rows["bot"] == 0].sum()) / games


@pytest.mark.skipif(INTERPRETED, reason="thousands of games")
@pytest.mark.parametrize("players", [2, 4])
def test_it_beats_greedy_by_far_more_than_noise(players: int) -> None:
    """By more than ten standard errors of the share that an equal would win."""
    games, equal = 1_000, 1 / players
    error = (equal * (1 - equal) / games) ** 0.5
    assert share_of_wins(["advised", *["greedy"] * (players - 1)], games) > equal + 10 * error


@pytest.mark.skipif(INTERPRETED, reason="thousands of games")
@pytest.mark.parametrize("players", [2, 4])
def test_without_advice_it_is_about_as_strong_as_greedy(players: int) -> None:
    games, equal = 1_000, 1 / players
    error = (equal * (1 - equal) / games) ** 0.5
    assert abs(share_of_wins([NO_ADVICE, *["greedy"] * (players - 1)], games) - equal) < 6 * error
