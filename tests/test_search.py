"""What the searching bots share: what they search, how they play on, and what the end of a col is worth to them."""

import subprocess
import sys
from collections import Counter
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from conftest import position, states_of_game
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.rng import new_stream
from velonimo_sim.velonimo.cards import DECK, RIDERS, TEAMS, card_texts, parse_cards
from velonimo_sim.velonimo.legal import is_legal, legal_moves
from velonimo_sim.velonimo.moves import move_text, parse_move
from velonimo_sim.velonimo.policies import parse_bot
from velonimo_sim.velonimo.policies.advised import promise_of
from velonimo_sim.velonimo.policies.search import BACKUPS, list_candidates, most_worth, play_out, worth
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.state import State, clone, new_state, validate
from velonimo_sim.velonimo.step import place_of
from velonimo_sim.velonimo.view import Phase, View

pytestmark = pytest.mark.kernel

ALL = 4096
POINTS, DIFFERENCE, WIN = range(len(BACKUPS))


@cache
def states() -> list[State]:
    """Return states of games of ``advised`` and of ``random``, hands of all sizes, cards known to some."""
    rules = RuleSet(hand_size=6) if INTERPRETED else RuleSet()
    return [
        state
        for players in (2, 3, 5)
        for bot in ("advised", "random")
        for state in list(states_of_game(players, 1, rules, bot))[:: 20 if INTERPRETED else 2]
    ]


def listed(view: View) -> list[int]:
    moves = np.zeros(100_000, np.uint64)
    return [int(move) for move in moves[: legal_moves(view, moves)]]


def advised_move(view: View) -> int:
    bot = parse_bot("advised")
    return int(bot.policy.function(view, bot.scratch(), new_stream(1)))


def candidates(view: View, width: int = ALL) -> list[int]:
    actions = np.zeros(4096, np.uint64)
    n = list_candidates(view, actions, np.uint64(advised_move(view)), width)
    return [int(move) for move in actions[:n]]


# Candidates.


def test_the_advised_move_is_the_first_and_all_are_legal_and_different() -> None:
    for state in states():
        found = candidates(state["view"])
        assert found[0] == advised_move(state["view"])
        assert len(set(found)) == len(found) <= len(listed(state["view"]))
        assert all(is_legal(state["view"], np.uint64(move)) for move in found)


@pytest.mark.parametrize("width", [2, 3, 8])
def test_no_more_than_the_width_the_most_promising_first(width: int) -> None:
    for state in states():
        view = state["view"]
        every, few = candidates(view), candidates(view, width)
        assert len(few) == min(width, len(every))
        promises = [int(promise_of(view, np.uint64(move))) for move in few[1:]]
        assert promises == sorted(promises, reverse=True)
        others = [int(promise_of(view, np.uint64(move))) for move in set(every) - set(few)]
        assert not promises or not others or max(others) <= promises[-1]


def test_of_more_gifts_than_there_is_room_for_the_advised_one_is_the_only_candidate() -> None:
    view = new_state(3)["view"]
    view["hand"] = parse_cards(card_texts(DECK)[:27])
    view["phase"], view["swap_count"], view["swap_victim"], view["sizes"][:3] = Phase.GIVE, 5, 1, (27, 3, 3)
    view["seat"] = view["turn"] = 0
    assert len(listed(view)) == 80_730
    assert candidates(view) == [advised_move(view)]


# Colours that nothing tells apart.


def exchanged(word: int, one: int, two: int) -> int:
    """Return a word with the riders of two teams exchanged; hares and what stands beyond the cards stay."""
    a, b = word >> 8 * one & 0x7F, word >> 8 * two & 0x7F
    return word ^ (a ^ b) << 8 * one ^ (a ^ b) << 8 * two


def with_teams_exchanged(view: View, one: int, two: int) -> View:
    """Return a view with two teams exchanged wherever cards stand, but for the log."""
    other = clone(view)
    for name in ("hand", "played", "reward"):
        other[name] = exchanged(int(view[name]), one, two)
    other["known"] = [exchanged(int(cards), one, two) for cards in view["known"]]
    return other


def twin_pairs(view: View) -> list[tuple[int, int]]:
    return [pair for pair in combinations(range(len(TEAMS)), 2) if with_teams_exchanged(view, *pair) == view]


def kinds_without_names(view: View, moves: list[int]) -> list[tuple[object, ...]]:
    """Return what plays and gifts are but for the names of teams that nothing tells apart."""
    pairs = twin_pairs(view)
    first = [min([one for one, two in pairs if two == team], default=team) for team in range(len(TEAMS))]
    kinds: list[tuple[object, ...]] = []
    for move in moves:
        groups = sorted((first[team], move >> 8 * team & 0x7F) for team in range(len(TEAMS)))
        kinds.append((move & ~int(RIDERS), *groups))
    return kinds


def views_with_plays() -> list[View]:
    plays = [state["view"] for state in states() if state["view"]["phase"] in (Phase.LEAD, Phase.FOLLOW, Phase.GIVE)]
    return [view for view in plays if len(listed(view)) < 300]


def test_of_moves_that_are_the_same_but_for_names_one_is_searched_and_of_all_others_each() -> None:
    merged = 0
    for view in views_with_plays():
        found, every = (Counter(kinds_without_names(view, moves)) for moves in (candidates(view), listed(view)))
        assert set(found) == set(every)
        assert max(found.values()) == 1
        merged += every.total() - found.total()
    assert INTERPRETED or merged > 50


def test_merged_moves_promise_the_same() -> None:
    for view in views_with_plays():
        promises: dict[object, set[int]] = {}
        moves = listed(view)
        for kind, move in zip(kinds_without_names(view, moves), moves, strict=True):
            promises.setdefault(kind, set()).add(int(promise_of(view, np.uint64(move))))
        assert all(len(values) == 1 for values in promises.values())


@pytest.mark.parametrize("hands", [["N6 Y4", "R5 B5 G5"], ["N6 Y4", "R5 B5 G5 R6 B6 G6"], ["P7 Y4", "Y5 R5 P5 H25"]])
def test_the_advised_move_stands_for_those_that_are_the_same_as_it(hands: list[str]) -> None:
    """Whichever of three teams it names, no move of the same kind is searched beside it."""
    view = position([*hands, "A7 B7"], hands[0].split()[0])["view"]
    found = kinds_without_names(view, candidates(view))
    assert len(set(found)) == len(found) < len(listed(view))


def test_two_teams_are_told_apart_by_every_place_in_which_one_of_them_stands() -> None:
    """One single 5 of two is searched, unless another card of one of these teams is seen somewhere."""
    view = position(["R5 B5 G1", "Y3 Y4", "N3 N4"])["view"]
    assert [move_text(move) for move in candidates(view) if move in (1 << 4, 1 << 44)] in (["B5"], ["R5"])
    for change in ("hand", "played", "known"):
        told = clone(view)
        if change == "known":
            told["known"][1] = parse_cards(["R2"])
        else:
            told[change] |= parse_cards(["R2"])
        assert {parse_move("R5"), parse_move("B5")} <= set(candidates(told))
    duel = position(["R5 B5 G1", "Y3 Y4"], pile="N3 N4")["view"]
    duel["reward"] = parse_cards(["B2"])
    assert {parse_move("R5"), parse_move("B5")} <= set(candidates(duel))


# Playing on.


def played_out(state: State, seed: int, settings: str) -> State:
    end = clone(state)
    play_out(end, parse_bot(f"rollout:{settings}").scratch(), new_stream(seed))
    return end


@pytest.mark.parametrize("playout", ["random", "greedy", "advised"])
def test_playing_on_ends_the_col_with_each_number_of_points_once(playout: str) -> None:
    for i, state in enumerate(states()[:: 15 if INTERPRETED else 2]):
        end = played_out(state, i, f"playout={playout}")
        players, view = int(state["view"]["players"]), end["view"]
        value = int(view["rules"]["col_values"][view["col"] - 1])
        assert view["phase"] >= Phase.COL_OVER
        assert view["col"] == state["view"]["col"]
        assert sorted(view["points"][:players].tolist()) == [value * rank for rank in range(players)]
        assert validate(end) == []


@pytest.mark.skipif(INTERPRETED, reason="thousands of playouts")
def test_epsilon_is_the_share_of_uniform_moves() -> None:
    """The points of the first seat, on average: 1 is random play, 0 none of it, and a half is in between."""
    state = next(states_of_game(3, 4))

    def moves_and_points(settings: str) -> tuple[float, float]:
        ends = [played_out(state, seed, settings)["view"] for seed in range(1_500)]
        logged = [int(view["logged"]) for view in ends]
        return float(np.mean(logged)), float(np.std(logged)) / len(logged) ** 0.5

    by_chance, error = moves_and_points("playout=random")
    assert abs(moves_and_points("playout=greedy,epsilon=1")[0] - by_chance) < 5 * error
    greedy, half = (moves_and_points(f"playout=greedy,epsilon={epsilon}")[0] for epsilon in (0, 0.5))
    assert greedy < half - 10 * error < half < by_chance - 10 * error


# What the end of a col is worth.


def col_end(totals: list[int], points: list[int], col: int = 2, is_over: bool = False) -> State:
    state = new_state(len(totals))
    view, players = state["view"], len(totals)
    view["totals"][:players], view["points"][:players], view["col"] = totals, points, col
    view["phase"] = Phase.GAME_OVER if is_over else Phase.COL_OVER
    return state


def chances(state: State) -> list[float]:
    return [worth(state, seat, WIN) for seat in range(int(state["view"]["players"]))]


def test_worth_in_points_and_in_their_difference_to_the_others_on_average() -> None:
    state = col_end([9, 9, 9, 9], [6, 0, 2, 4])
    assert [worth(state, seat, POINTS) for seat in range(4)] == [6, 0, 2, 4]
    assert [worth(state, seat, DIFFERENCE) for seat in range(4)] == pytest.approx([4, -4, -4 / 3, 4 / 3])
    assert [worth(col_end([9, 9], [0, 3]), seat, DIFFERENCE) for seat in range(2)] == [-3, 3]


def test_chances_to_win_sum_to_1() -> None:
    for players in (2, 3, 4, 5):
        for col in range(1, 5):
            state = col_end([7, 0, 12, 3, 1][:players], [0] * players, col)
            assert sum(chances(state)) == pytest.approx(1)
            assert all(0 < chance < 1 for chance in chances(state))


def test_equal_totals_equal_chances() -> None:
    assert chances(col_end([6] * 3, [4, 0, 2])) == pytest.approx([1 / 3] * 3)


def test_the_chance_of_the_leader_grows_with_his_lead_and_as_the_cols_run_out() -> None:
    by_lead = [chances(col_end([lead, 0, 0], [0] * 3))[0] for lead in range(20)]
    assert by_lead == sorted(set(by_lead))
    by_total = [chances(col_end([lead + 5, 5, 5], [0] * 3))[0] for lead in range(20)]
    assert by_total == pytest.approx(by_lead), "the lead alone counts"
    nearly_even = [chances(col_end([3, 0], [0] * 2, col))[0] for col in (1, 2, 3)]
    with_less_to_come = [
        worth(changed(col_end([3, 0], [0] * 2), cols), 0, WIN) for cols in ((9, 9, 9), (9, 9, 3), (9, 9, 1))
    ]
    assert nearly_even == sorted(set(nearly_even))
    assert with_less_to_come == sorted(set(with_less_to_come))


def test_a_lead_that_nothing_makes_up_for() -> None:
    state = changed(col_end([4_000_000, 0, 0], [4_000_000, 0, 0], 1), (1_000_000, 1))
    assert chances(state) == pytest.approx([1, 0, 0])


def changed(state: State, col_values: tuple[int, ...]) -> State:
    state["view"]["rules"] = RuleSet(col_values).to_record(int(state["view"]["players"]))
    return state


@pytest.mark.parametrize(("totals", "points"), [([3, 9, 4], [0, 2, 1]), ([9, 9, 4], [0, 2, 1]), ([9, 9, 4], [2, 0, 1])])
def test_after_the_game_it_is_won_or_not(totals: list[int], points: list[int]) -> None:
    state = col_end(totals, points, 5, is_over=True)
    places = [int(place_of(state["view"], seat)) for seat in range(3)]
    assert chances(state) == [float(place == 1) for place in places]
    assert sum(chances(state)) == 1


@pytest.mark.parametrize("backup", [POINTS, DIFFERENCE, WIN])
def test_no_two_ends_of_a_col_differ_by_more_than_is_said(backup: int) -> None:
    for state in states()[:: 40 if INTERPRETED else 10]:
        seat = int(state["view"]["turn"])
        ends = [
            worth(played_out(state, seed, "playout=random"), seat, backup) for seed in range(4 if INTERPRETED else 30)
        ]
        assert max(ends) - min(ends) <= most_worth(state["view"], backup)


def test_where_kernels_have_no_clock_only_playouts_are_counted() -> None:
    script = """
import velonimo_sim._clock as clock
clock.HAS_CLOCK = False
from velonimo_sim.velonimo.policies import parse_bot
print(parse_bot("rollout:ms=0").text)
parse_bot("rollout:ms=5")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.stdout == "rollout\n"
    assert done.stderr.splitlines()[-1].endswith("bot rollout:ms=5: allowed is a number 0-0")
