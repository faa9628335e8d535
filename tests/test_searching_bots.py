"""The bots that search: they find optimal moves, gain by playouts, keep to their time, and remember within a game."""

import time
from collections import Counter
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import rotated_seatings, states_of_game
from endings import Ending, fixed_endings
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.game import GAMES
from velonimo_sim.rng import BOT, CHANCE, Stream, new_stream
from velonimo_sim.velonimo.determinize import determinize
from velonimo_sim.velonimo.exact import is_known, new_memory, new_table, solve, solve_moves
from velonimo_sim.velonimo.legal import is_legal, legal_moves
from velonimo_sim.velonimo.moves import move_text
from velonimo_sim.velonimo.policies import parse_bot
from velonimo_sim.velonimo.policies.advised import ALL_ADVICE, advise
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.policies.champion import _budget
from velonimo_sim.velonimo.policies.ismcts import (
    _ACTION,
    _NODE_WORDS,
    _NODES,
    _TAKEN,
    _WIDTH,
    _find,
    _key_of,
    _make_room,
    _most_taken,
    _walk,
)
from velonimo_sim.velonimo.policies.rollout import _is_settled
from velonimo_sim.velonimo.policies.search import _is_short_duel
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.state import State, clone, new_state, validate
from velonimo_sim.velonimo.step import apply, deal
from velonimo_sim.velonimo.view import Phase, View

pytestmark = pytest.mark.kernel

FIXED = fixed_endings()
needs_speed = pytest.mark.skipif(INTERPRETED, reason="thousands of playouts")


def listed(view: View) -> list[np.uint64]:
    moves = np.zeros(5000, np.uint64)
    return [np.uint64(move) for move in moves[: legal_moves(view, moves)]]


@cache
def states() -> list[State]:
    """Return states of every phase of games of ``advised`` and ``random``."""
    rules = RuleSet(hand_size=4) if INTERPRETED else RuleSet()
    found = [
        state
        for players in (2, 3, 4)
        for bot in ("advised", "random")
        for seed in range(1 if INTERPRETED else 3)
        for state in states_of_game(players, seed, rules, bot)
    ]
    by_phase = [[state for state in found if state["view"]["phase"] == phase] for phase in range(Phase.COL_OVER)]
    return [state for some in by_phase for state in some[:: max(1, len(some) // (1 if INTERPRETED else 15))]]


# Optimal moves in small endings.

SEARCHED = "n=400,backup=points,endings=off"


def share_of_optimal_moves(bot: str, endings: list[Ending]) -> float:
    chosen, optimal = parse_bot(bot), 0
    scratch = chosen.scratch()
    for i, ending in enumerate(endings):
        scratch["used"] = 0
        if chosen.sees_all:
            scratch["truth"] = ending.state
        move = chosen.policy.function(ending.state["view"], scratch, new_stream(i))
        optimal += move_text(np.uint64(move)) in ending.best
    return optimal / len(endings)


@needs_speed
@pytest.mark.parametrize("bot", ["exact", "rollout", "ismcts", "champion", "cheater"])
def test_where_all_hands_are_known_every_move_is_optimal(bot: str) -> None:
    assert share_of_optimal_moves(bot, FIXED) == 1


@needs_speed
@pytest.mark.parametrize("bot", ["rollout", "champion", "cheater", "ismcts"])
def test_the_search_alone_finds_optimal_moves_in_95_percent_of_the_endings(bot: str) -> None:
    assert share_of_optimal_moves(f"{bot}:{SEARCHED}", FIXED) >= 0.95


@needs_speed
def test_with_the_decisions_of_all_in_the_tree_they_are_found_in_98_percent() -> None:
    assert share_of_optimal_moves("ismcts:n=4000,backup=points,endings=off,rivals=tree", FIXED) >= 0.98


@needs_speed
def test_the_advice_alone_does_not() -> None:
    """Or the tests above would show nothing."""
    assert share_of_optimal_moves("advised", FIXED) < 0.9


# The few cards of two.


def short_duels() -> list[View]:
    """Return views with a choice of one of two who race with few cards, whose hands are not all known."""
    views = [
        state["view"]
        for players in (2, 4)
        for seed in range(1 if INTERPRETED else 25)
        for state in states_of_game(players, seed, RuleSet(hand_size=3) if INTERPRETED else RuleSet(), "advised")
    ]
    return [view for view in views if _is_short_duel(view) and not is_known(view) and len(listed(view)) > 1]


def mean_values(view: View, hands: int) -> dict[str, float]:
    """Return what each move scores on average over imagined hands, each solved."""
    moves, values, scores = np.zeros(300, np.uint64), np.zeros((300, 5)), Counter[str]()
    memory, table = new_memory(), new_table()
    for seed in range(hands):
        n = solve_moves(determinize(view, new_stream(seed, 5)), moves, values, memory, table, 100_000)
        for move, value in zip(moves[:n], values[:n, int(view["seat"])], strict=True):
            scores[move_text(move)] += value / hands
    return scores


@needs_speed
def test_two_with_few_cards_are_solved_in_imagined_hands() -> None:
    """What is chosen is as good on average over many hands as the best move, but for what a sample may err."""
    bot, lost, advised_loses = parse_bot("exact"), [], []
    for i, view in enumerate(short_duels()[::4]):
        values, at_stake = mean_values(view, 100), int(view["rules"]["col_values"][view["col"] - 1])
        for name, losses in (("exact", lost), ("advised", advised_loses)):
            move = parse_bot(name).policy.function(view, bot.scratch(), new_stream(i))
            losses.append((max(values.values()) - values[move_text(np.uint64(move))]) / at_stake)
    assert len(lost) > 50
    assert max(lost) < 0.25
    assert np.mean(lost) < 0.01 < np.mean(advised_loses)


@needs_speed
def test_who_sees_all_solves_the_true_hands_of_two() -> None:
    cheater, solved = parse_bot("cheater"), 0
    for seed in range(30):
        for state in states_of_game(3, seed, bot="advised"):
            view, scratch = state["view"], cheater.scratch()
            if _is_short_duel(view) and not is_known(view):
                scratch["truth"] = state
                move = cheater.policy.function(view, scratch, new_stream(seed))
                assert move == solve(state, new_memory(), new_table(), 100_000)
                solved += 1
    assert solved > 50


# Caution, and the budget.


@needs_speed
def test_with_all_caution_a_search_leaves_the_advice_only_to_those_who_follow_it() -> None:
    """Where the others play at random, the playouts by the advice are not believed."""
    later = [state["view"] for state in states_of_game(4, 3, bot="random") if state["view"]["logged"] > 20]
    views = [view for view in later if view["phase"] <= Phase.FOLLOW and len(listed(view)) > 1][::5]
    for caution, low, high in ((0, 0, 0.9), (1, 0.97, 1)):
        bot, same = parse_bot(f"champion:n=100,endings=off,caution={caution}"), []
        for i, view in enumerate(views):
            advised = advise(view, ALL_ADVICE, new_stream(i))
            same.append(bot.policy.function(view, bot.scratch(), new_stream(i)) == advised)
        assert len(same) > 20
        assert low <= np.mean(same) <= high


@pytest.mark.parametrize(("sizes", "playouts"), [([11] * 4, 100), ([11] * 2, 200), ([11] * 5, 80), ([1, 1], 500)])
def test_champion_has_more_playouts_the_fewer_cards_are_left(sizes: list[int], playouts: int) -> None:
    view = new_state(len(sizes))["view"]
    view["sizes"][: len(sizes)] = sizes
    assert _budget(view, 100) == playouts


@pytest.mark.parametrize(
    ("scores", "left", "is_settled"), [([5, 2.9], 2, True), ([2.9, 5], 2, True), ([5, 3.1], 2, False)]
)
def test_a_search_stops_when_the_other_candidate_cannot_catch_up(
    scores: list[float], left: int, is_settled: bool
) -> None:
    """In hands of which each may bring it 1 more than the best."""
    assert _is_settled(np.array(scores), 2, left, 1.0) is is_settled


def test_ismcts_walks_as_often_as_it_is_told_and_stops_when_no_move_can_catch_up() -> None:
    view = next(state["view"] for state in states() if len(listed(state["view"])) > 3)
    scratch = (bot := parse_bot("ismcts:n=3,endings=off,playout=greedy")).scratch()
    bot.policy.function(view, scratch, new_stream(1))
    assert in_tree(scratch, view) == 3
    memory, node = scratch["memory"], node_of(scratch, view)
    memory[node + _TAKEN : node + _TAKEN + 3] = (5, 9, 2)
    move, lead = _most_taken(memory, node)
    assert (move, lead) == (memory[node + _ACTION + 1], 4)


# More playouts.


def points_of(bots: list[str], seed: int) -> list[int]:
    """Return the points of the seats in a game of one col, the deal and its chances being those of the seed."""
    state, chosen = new_state(len(bots), RuleSet((1,))), [parse_bot(bot) for bot in bots]
    scratches, chance = [bot.scratch() for bot in chosen], new_stream(seed, 0, CHANCE)
    choices = [new_stream(seed, 0, BOT + seat) for seat in range(len(bots))]
    deal(state, seed)
    while state["view"]["phase"] < Phase.COL_OVER:
        seat = int(state["view"]["turn"])
        apply(state, np.uint64(chosen[seat].policy.function(state["view"], scratches[seat], choices[seat])), chance)
    return [int(points) for points in state["view"]["points"][: len(bots)]]


def gains(much: str, little: str, deals: int) -> NDArray[np.float64]:
    """Return by deal what one bot scores more than another, each playing both pairs of seats of four."""
    found = []
    for seed in range(deals):
        first = points_of([much, little, much, little], seed)
        second = points_of([little, much, little, much], seed)
        found.append(first[0] + first[2] + second[1] + second[3] - first[1] - first[3] - second[0] - second[2])
    return np.array(found, float)


@needs_speed
@pytest.mark.parametrize("bot", ["rollout", "ismcts"])
def test_more_playouts_gain_points(bot: str) -> None:
    """Over the same deals, by more than the error of the mean."""
    found = gains(f"{bot}:n=400", f"{bot}:n=25", 80)
    assert found.mean() > found.std() / len(found) ** 0.5


# Time.


def views_to_think_about() -> list[View]:
    """Return views of four players with full hands, from which a playout takes long."""
    found = [state["view"] for state in states() if state["view"]["phase"] <= Phase.FOLLOW]
    return [view for view in found if len(listed(view)) > 5 and not is_known(view)][:9]


def draws_from(stream: Stream, name: tuple[int, int]) -> int:
    """Return how many words have been drawn from a stream since it was opened under a name."""
    steps = (int(stream["state"]) - int(new_stream(*name)["state"])) % 2**64
    return steps * pow(int(stream["gamma"]), -1, 2**64) % 2**64


def decision(bot: str, view: View, name: tuple[int, int] = (1, 0)) -> tuple[float, int]:
    """Return the milliseconds and the random words that a decision takes."""
    chosen, stream = parse_bot(bot), new_stream(*name)
    scratch = chosen.scratch()
    began = time.perf_counter()
    chosen.policy.function(view, scratch, stream)
    return (time.perf_counter() - began) * 1e3, draws_from(stream, name)


@needs_speed
@pytest.mark.parametrize("bot", ["rollout", "ismcts", "champion", "rollout:weigh=20", "ismcts:weigh=20"])
def test_a_decision_takes_its_milliseconds_and_no_more(bot: str) -> None:
    """The machine may stop a process for a while, so the least of several decisions counts."""
    settings = f"{bot},ms=5" if ":" in bot else f"{bot}:ms=5"
    taken = [decision(settings, view)[0] for view in views_to_think_about()]
    assert 5 <= min(taken) < 6.5
    assert sorted(taken)[len(taken) // 2] < 15


@needs_speed
@pytest.mark.parametrize("bot", ["rollout", "ismcts", "champion"])
def test_more_time_is_more_playouts(bot: str) -> None:
    for view in views_to_think_about()[:3]:
        little, much = (max(decision(f"{bot}:ms={ms}", view)[1] for _ in range(3)) for ms in (2, 20))
        assert much > 4 * little > 0


@pytest.mark.parametrize("bot", ["rollout", "ismcts", "champion", "ismcts:rivals=tree"])
def test_with_a_time_for_each_decision_moves_are_legal(bot: str) -> None:
    text = f"{bot}{',' if ':' in bot else ':'}ms=0.2,weigh=1"
    rules = RuleSet(hand_size=3 if INTERPRETED else 11, col_values=(1,))
    for players in (2,) if INTERPRETED else (2, 4):
        assert sum(1 for _ in states_of_game(players, 2, rules, text)) > players


# The tree.


def node_of(scratch: Scratch, view: View) -> int:
    """Return where the tree has the decision that a seat faces."""
    return int(_find(scratch["memory"], np.uint64(_key_of(view, view["hand"], int(view["seat"])))))


def in_tree(scratch: Scratch, view: View) -> int:
    """Return how often walks have taken a move in a decision of a seat."""
    memory = scratch["memory"]
    node = node_of(scratch, view)
    return int(memory[node + _TAKEN : node + _TAKEN + _WIDTH].sum())


@pytest.mark.parametrize("rivals", ["advised", "tree"])
def test_the_tree_is_used_again_by_the_next_decision(rivals: str) -> None:
    """What follows depends on hidden cards, so some decisions are new; in short games many are not."""
    bot, advised = parse_bot(f"ismcts:n=400,endings=off,rivals={rivals}"), parse_bot("advised")
    decisions = again = 0
    for seed in range(1 if INTERPRETED else 10):
        state, scratch = new_state(2, RuleSet(col_values=(1,), hand_size=3 if INTERPRETED else 6)), bot.scratch()
        stream = new_stream(seed)
        deal(state, seed)
        while state["view"]["phase"] < Phase.COL_OVER:
            view = state["view"]
            if view["turn"] == 0:
                if scratch["used"] and len(listed(view)) > 1:
                    decisions += 1
                    again += in_tree(scratch, view) > 0
                move = bot.policy.function(view, scratch, stream)
            else:
                move = advised.policy.function(view, advised.scratch(), stream)
            apply(state, np.uint64(move), stream)
    assert decisions > 0
    assert INTERPRETED or again > decisions / 3 > 10


def test_a_new_game_begins_with_an_empty_tree() -> None:
    state = states_of_game(3, 5, RuleSet(hand_size=3 if INTERPRETED else 8))
    view, bot = next(state)["view"], parse_bot("ismcts:n=16,endings=off")
    scratch, fresh = bot.scratch(), bot.scratch()
    bot.policy.function(view, scratch, new_stream(1))
    first = in_tree(scratch, view)
    bot.policy.function(view, scratch, new_stream(2))
    assert in_tree(scratch, view) == 2 * first > 0
    scratch["used"] = 0
    bot.policy.function(view, scratch, new_stream(2))
    bot.policy.function(view, fresh, new_stream(2))
    assert in_tree(scratch, view) == in_tree(fresh, view) == first
    assert scratch["used"] == fresh["used"]
    assert np.array_equal(scratch["memory"][: _NODES * _NODE_WORDS], fresh["memory"][: _NODES * _NODE_WORDS])


def test_a_full_tree_is_emptied_and_a_decision_that_fills_it_is_made() -> None:
    view, bot = states()[0]["view"], parse_bot("ismcts:n=8,endings=off")
    scratch = bot.scratch()
    _make_room(scratch)
    scratch["used"] = _NODES // 2 + 1
    bot.policy.function(view, scratch, new_stream(1))
    assert scratch["used"] < 20
    if not INTERPRETED:
        big = parse_bot("ismcts:n=20000,endings=off,rivals=tree")
        scratch = big.scratch()
        full = max(states(), key=lambda state: int(state["view"]["sizes"].sum()))["view"]
        assert is_legal(full, np.uint64(big.policy.function(full, scratch, new_stream(1))))
        assert scratch["used"] == _NODES - 1


@pytest.mark.parametrize("rivals", ["advised", "tree"])
def test_every_walk_is_a_game_that_the_rules_allow(rivals: str) -> None:
    """A node that is full of what other hands could do offers nothing to this one."""
    for state in states()[:: 2 if INTERPRETED else 6]:
        bot, stream = parse_bot(f"ismcts:playout=greedy,rivals={rivals}"), new_stream(3)
        scratch = bot.scratch()
        _make_room(scratch)
        for _ in range(3 if INTERPRETED else 200):
            walked = determinize(state["view"], stream)
            _walk(walked, int(state["view"]["seat"]), 0.5, scratch, stream)
            assert walked["view"]["phase"] >= Phase.COL_OVER
            assert validate(walked) == []


def test_a_node_holds_actions_of_its_seat_alone() -> None:
    view, bot = states()[0]["view"], parse_bot("ismcts:n=8,endings=off")
    scratch = bot.scratch()
    bot.policy.function(view, scratch, new_stream(1))
    node = node_of(scratch, view)
    actions = [action for action in scratch["memory"][node + _ACTION : node + _ACTION + _WIDTH] if action]
    assert len(actions) > 1
    assert all(is_legal(view, action) for action in actions)


@pytest.mark.parametrize("rivals", ["advised", "tree"])
@pytest.mark.parametrize("backup", ["points", "difference", "win"])
def test_moves_are_legal_in_every_phase_whatever_is_backed_up(rivals: str, backup: str) -> None:
    bot = parse_bot(f"ismcts:n=8,weigh=1,endings=off,rivals={rivals},backup={backup}")
    scratch, phases = bot.scratch(), set()
    for i, state in enumerate(states()):
        scratch["used"] = 0
        before = clone(state)
        assert is_legal(state["view"], np.uint64(bot.policy.function(state["view"], scratch, new_stream(i))))
        assert state == before
        phases.add(Phase(int(state["view"]["phase"])))
    assert INTERPRETED or phases == set(list(Phase)[: Phase.COL_OVER])


def rows_in_chunks(chunk: int, games: int) -> list[bytes]:
    """Return the rows of games that are played in chunks of so many."""
    game, players = GAMES["velonimo"], 3
    rules = RuleSet(col_values=(1, 2), hand_size=3 if INTERPRETED else 6)
    bots = [game.parse_bot(bot) for bot in ("ismcts:n=16", "ismcts:n=16,rivals=tree,weigh=2", "advised")]
    table = game.open_table(bots, rules, rotated_seatings(players), 9)
    rows: list[bytes] = []
    for first in range(0, games, chunk):
        game_rows = np.zeros(chunk * players, game.game_row)
        col_rows = np.zeros(chunk * game.most_detail_rows(rules, players), game.detail_row)
        written = table.play(first, chunk, game_rows, col_rows)
        rows += [row.tobytes() for row in (*game_rows, *col_rows[:written])]
    return sorted(rows)


def test_what_is_remembered_does_not_depend_on_chunks() -> None:
    games = 2 if INTERPRETED else 50
    assert rows_in_chunks(1, games) == rows_in_chunks(games, games)
