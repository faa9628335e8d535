"""The exact solver: the values of a slow twin, the rule for equal moves, its limits, and what a view must tell."""

import json
from itertools import islice

import numpy as np
import pytest

from conftest import position, states_of_game
from endings import Ending, fixed_endings, is_small, line_of, small_endings, tell_all_hands, with_a_choice
from oracle.endings import Solver, game_of, preference
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.rng import new_stream
from velonimo_sim.velonimo.cards import DECK, parse_cards
from velonimo_sim.velonimo.exact import exact_move, is_known, new_memory, new_table, solve, solve_moves
from velonimo_sim.velonimo.legal import legal_moves
from velonimo_sim.velonimo.moves import move_text, parse_move
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.state import State, equal, to_json, view_of
from velonimo_sim.velonimo.view import Phase, View

pytestmark = pytest.mark.kernel

ENOUGH = 1_000_000
NODES = 20 if INTERPRETED else 60
"""The most choices of an ending that the slow twin is asked about, which looks into many more."""
COLS = 3 if INTERPRETED else 20
MEMORY, TABLE = new_memory(), new_table()


def values_of(state: State, limit: int = ENOUGH) -> dict[str, list[float]]:
    """Return the values by seat of every legal move."""
    moves, values = np.zeros(500, np.uint64), np.zeros((500, 5))
    n = solve_moves(state, moves, values, MEMORY, TABLE, limit)
    players = int(state["view"]["players"])
    return {move_text(move): row[:players].tolist() for move, row in zip(moves[:n], values[:n], strict=True)}


def best_of(state: State) -> tuple[str, list[float]]:
    """Return the best move and the values under best play."""
    move = solve(state, MEMORY, TABLE, ENOUGH)
    return move_text(move), MEMORY["values"][0][: state["view"]["players"]].tolist()


def listed(state: State) -> list[str]:
    moves = np.zeros(500, np.uint64)
    return [move_text(move) for move in moves[: legal_moves(state["view"], moves)]]


def tiny_endings(players: int) -> list[State]:
    """Return small endings that the slow twin can solve."""
    states = [state for seed in range(COLS) for state in small_endings(players, seed)]
    return [state for state in states if (players > 2 or cards_left(state) <= 6) and is_small(state, NODES)]


def cards_left(state: State) -> int:
    return int(state["view"]["sizes"].sum()) + int(state["view"]["pile_size"])


# The slow twin.


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_every_move_has_the_value_that_the_slow_twin_finds(players: int) -> None:
    states = tiny_endings(players)
    phases = {Phase(int(state["view"]["phase"])) for state in states}
    assert INTERPRETED or phases >= {Phase.LEAD, Phase.FOLLOW, Phase.SWAP, Phase.GIVE}
    assert INTERPRETED or (Phase.REWARD if players == 2 else Phase.NEXT_LEADER) in phases
    for state in states:
        game, solver = game_of(to_json(state)), Solver()
        expected = solver.values_of_moves(game)
        found = values_of(state)
        assert set(found) == set(expected)
        for move, values in expected.items():
            assert found[move] == pytest.approx([float(value) for value in values])
        assert best_of(state)[1] == pytest.approx([float(value) for value in solver.values(game)])


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_best_move_is_one_of_those_that_lead_to_the_values(players: int) -> None:
    for state in tiny_endings(players):
        move, values = best_of(state)
        assert values_of(state)[move] == pytest.approx(values)


# The fixed set.

FIXED = fixed_endings()


def test_the_fixed_set_is_of_small_endings_with_a_choice() -> None:
    players = [int(ending.state["view"]["players"]) for ending in FIXED]
    assert {number: players.count(number) for number in players} == {2: 60, 3: 60, 4: 60, 5: 60}
    for ending in FIXED:
        assert max(ending.state["view"]["sizes"]) <= 4
        assert is_known(ending.state["view"])
        assert list(ending.values) == sorted(listed(ending.state))
        assert set() < ending.best < set(ending.values)


def test_the_fixed_set_is_of_every_phase_in_which_moves_can_differ() -> None:
    phases = {Phase(int(ending.state["view"]["phase"])) for ending in FIXED}
    assert phases == {Phase.LEAD, Phase.FOLLOW, Phase.SWAP, Phase.GIVE, Phase.REWARD}


@pytest.mark.parametrize("ending", FIXED[:: 20 if INTERPRETED else 1])
def test_the_fixed_set_is_solved(ending: Ending) -> None:
    turn = int(ending.state["view"]["turn"])
    found = {move: values[turn] for move, values in values_of(ending.state).items()}
    assert found == pytest.approx({move: float(value) for move, value in ending.values.items()})
    chosen = exact_move(ending.state["view"], MEMORY, TABLE, ENOUGH, new_stream(1))
    assert move_text(chosen) in ending.best


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_fixed_set_can_be_made_again(players: int) -> None:
    first = next(ending for ending in FIXED if ending.state["view"]["players"] == players)
    (again,) = islice(with_a_choice(players), 1)
    assert json.loads(line_of(again)) == json.loads(line_of(first))


# What best play is, in positions that people can solve.


def test_the_leader_goes_out_with_a_combination() -> None:
    state = position(["R3 R5", "B7", "Y6"])
    assert best_of(state) == ("R3 R5", [2, 0, 1])
    assert values_of(state)["R3"][0] < 2


def test_a_swap_is_an_average_over_its_draws() -> None:
    """Seat 0 goes out with the hare if he draws it; if not, seat 1 leads with it and goes out."""
    hands = ["N1 B4", "H50 Y3"]
    gifts = [values_of(position(hands, "N1, swap 1", taken=card)) for card in ("H50", "Y3")]
    assert [max(values[0] for values in by_gift.values()) for by_gift in gifts] == [1, 0]
    assert values_of(position(hands, "N1")) == {"swap 1": [0.5, 0.5]}


def test_who_is_out_names_a_leader_who_hurts_the_highest_total() -> None:
    """V13: seat 0 has his points; both others win if they lead."""
    for totals, lead, values in (((0, 5, 4), "lead 2", [2, 0, 1]), ((0, 4, 5), "lead 1", [2, 1, 0])):
        state = position(["R7", "B3", "Y4"], "R7, pass, pass")
        state["view"]["totals"][:3] = totals
        assert best_of(state) == (lead, values)
    state["view"]["totals"][:3] = 0
    assert best_of(state) == ("lead 2", [2, 0, 1]), "of equal totals the lower seat is hurt"


def test_who_can_go_out_does_so_even_if_he_could_as_well_later() -> None:
    """Seat 0 could lead the hare that nobody beats and still be first; he goes out, and seat 1 beats and leads."""
    state = position(["R2 R3", "H50 B4", "Y5"])
    assert best_of(state) == ("R2 R3", [2, 1, 0])


# Limits.


def hard_state() -> State:
    return next(states_of_game(5, 1))


def test_at_the_limit_there_is_no_answer() -> None:
    assert solve(hard_state(), MEMORY, TABLE, 100) == 0
    assert MEMORY["nodes"] == 101
    assert values_of(hard_state(), 100) == {}


@pytest.mark.parametrize("players", [2, 3])
def test_the_limit_is_the_number_of_choices_looked_into(players: int) -> None:
    for state in tiny_endings(players)[:10]:
        move = solve(state, MEMORY, new_table(), ENOUGH)
        nodes = int(MEMORY["nodes"])
        assert solve(state, MEMORY, new_table(), nodes) == move
        assert solve(state, MEMORY, new_table(), nodes - 1) == 0


def test_more_gifts_than_there_is_room_for() -> None:
    tortoises = "A1 B1 G1 N1 P1 R1 Y1"
    hands = [f"{tortoises} A3 A4 A5 B3 B4 B5 G3 G4 G5 N3 N4", "A6 A7 B6 B7 G6 G7 N6 N7"]
    state = position(hands, f"{tortoises}, swap 1", taken="A6 A7 B6 B7 G6 G7 N6", hand_size=18)
    assert solve(state, MEMORY, TABLE, ENOUGH) == 0
    assert values_of(state) == {}


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_table_changes_no_value(players: int) -> None:
    """A table of one place forgets everything, one that has seen other cols and other rules mixes nothing up."""
    for state in tiny_endings(players)[::5]:
        values = best_of(state)[1]
        solve(state, MEMORY, np.zeros(1, TABLE.dtype), ENOUGH)
        assert MEMORY["values"][0][:players].tolist() == pytest.approx(values)


def test_the_state_is_left_alone() -> None:
    for ending in FIXED[:10]:
        before = ending.state.copy()
        values_of(ending.state)
        best_of(ending.state)
        assert equal(before, ending.state)


# What a view tells.


def view_at(state: State, unseen: str) -> View:
    """Return the view of a state as if all but some cards had been played."""
    view = state["view"].copy()
    view["played"] = DECK & ~(view["hand"] | view["reward"] | parse_cards(unseen.split()))
    return view


def test_the_last_unseen_hand_is_known() -> None:
    state = position(["R3 R5", "B7 G7", "Y6"])
    assert not is_known(state["view"])
    assert not is_known(view_at(state, "B7 G7 Y6"))
    state["view"]["known"][2] = parse_cards(["Y6"])
    assert is_known(view_at(state, "B7 G7 Y6"))
    assert not is_known(view_at(state, "B7 G7 H25 Y6")), "one of four cards is out of the col"
    tell_all_hands(state)
    assert is_known(state["view"]), "what is out of the col does not matter"


def test_one_card_of_the_pile_is_known() -> None:
    one, two = (position(["R3", "B7"], pile=pile) for pile in ("A3 A4", "A3 A4 A5"))
    assert not is_known(view_at(one, "B7 A4"))
    for state, known in ((one, True), (two, False)):
        tell_all_hands(state)
        assert is_known(state["view"]) == known


def test_a_move_for_a_view_that_tells_all() -> None:
    state = position(["R3 B6", "B7", "Y4"])
    stream = new_stream(1)
    assert exact_move(state["view"], MEMORY, TABLE, ENOUGH, stream) == 0
    tell_all_hands(state)
    assert exact_move(state["view"], MEMORY, TABLE, 0, stream) == 0
    assert move_text(exact_move(state["view"], MEMORY, TABLE, ENOUGH, stream)) == best_of(state)[0]


def test_the_whole_deck_dealt_to_five_is_known_when_two_are_left() -> None:
    chosen = 0
    for state in states_of_game(5, 3, RuleSet(col_values=(1,)), "greedy"):
        view = view_of(state, int(state["view"]["turn"]))
        if view["racing"] == 2 and view["phase"] <= Phase.FOLLOW:
            assert is_known(view)
            move = exact_move(view, MEMORY, TABLE, ENOUGH, new_stream(1))
            assert move_text(move) == best_of(state)[0]
            chosen += 1
    assert chosen > 0


def test_moves_are_read_back() -> None:
    for ending in FIXED[:20]:
        assert all(move_text(parse_move(move)) == move for move in ending.values)


def test_the_slow_twin_prefers_what_hurts_the_highest_total() -> None:
    state = position(["R7", "B3", "Y4"], "R7, pass, pass")
    state["view"]["totals"][:3] = (9, 1, 5)
    game = game_of(to_json(state))
    found = Solver().values_of_moves(game)
    assert max(found, key=lambda move: preference(game, found[move])) == "lead 1"
