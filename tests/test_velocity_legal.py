"""Which moves VeloCity allows: the list, the count, the pick by number and the check of one move say the same."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from races import do, lay_out, states_of_race
from velonimo_sim._jit import INTERPRETED, kernel
from velonimo_sim.errors import IllegalMoveError
from velonimo_sim.rng import new_stream
from velonimo_sim.velocity.legal import (
    MAX_MOVES,
    PHASE_RULES,
    REASONS,
    Refusal,
    all_legal_moves,
    count_moves,
    legal_moves,
    nth_move,
    refusal,
)
from velonimo_sim.velocity.moves import PARK, move_text, parse_move
from velonimo_sim.velocity.rules import VARIED, RuleSet
from velonimo_sim.velocity.state import new_state
from velonimo_sim.velocity.step import apply
from velonimo_sim.velocity.view import Phase, View

pytestmark = pytest.mark.kernel

WORDS = np.array(
    [kind << 12 | detail << 8 | place for kind in range(16) for detail in range(16) for place in range(256)], np.uint64
)
"""Every word of 16 bits."""


@cache
def views() -> list[View]:
    """Return the views of random races under varied rules, with every phase among them."""
    return [
        state["view"]
        for number, rules in enumerate((*VARIED, RuleSet(cans=2, start_cans=(1, 1))))
        for players in ((4,) if INTERPRETED else (3, 5, 7))
        for state in states_of_race(players, number, rules)
    ]


def views_of_all_phases(each: int) -> list[View]:
    """Return views, some of each phase, spread over the races."""
    chosen = []
    for phase in Phase:
        found = [view for view in views() if view["phase"] == phase]
        assert found, phase.name
        chosen += found[:: max(1, len(found) // each)][:each]
    return chosen


@kernel
def write_refusals(view: View, words: NDArray[np.uint64], out: NDArray[np.uint8]) -> None:
    for index in range(len(words)):
        out[index] = refusal(view, words[index])


def refusals(view: View, words: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """Return why each word is refused."""
    out = np.zeros(len(words), np.uint8)
    write_refusals(view, words, out)
    return out


def test_a_word_is_listed_if_and_only_if_nothing_refuses_it() -> None:
    for view in views_of_all_phases(1 if INTERPRETED else 30):
        allowed = WORDS[refusals(view, WORDS) == Refusal.NONE]
        assert sorted(allowed.tolist()) == sorted(all_legal_moves(view).tolist())


def test_a_word_with_a_bit_beyond_16_is_no_move() -> None:
    for view in views_of_all_phases(2):
        for place in range(16, 64):
            disturbed = all_legal_moves(view) | np.uint64(1 << place)
            assert (refusals(view, disturbed) == Refusal.NO_MOVE).all()


def test_moves_are_counted_and_picked_by_number_as_listed() -> None:
    for view in views():
        moves = all_legal_moves(view)
        assert len(moves) == count_moves(view)
        assert len(set(moves.tolist())) == len(moves)
        assert [int(nth_move(view, k)) for k in range(len(moves))] == moves.tolist()


def test_the_most_moves_are_reached_and_fit() -> None:
    state = lay_out({"red": "35 28 20 13"}, cans={"red": 2}, players=3)
    do(state, "solo breakaway", red=1, energy=2)
    out = np.zeros(MAX_MOVES, np.uint64)
    assert legal_moves(state["view"], out) == MAX_MOVES
    assert out.all()


@pytest.mark.parametrize("players", [3, 4, 5, 6, 7])
def test_no_ride_has_more_moves_than_allowed(players: int) -> None:
    """All couriers of a team in packs of their own, and a pack of all teams."""
    spaces = "34 33 29 28" if players < 5 else "34 33 29"
    apart = lay_out({"red": spaces, "black": spaces}, cans={"red": 2}, players=players)
    assert count_moves(apart["view"]) == 3 + 2 * len(spaces.split()) <= MAX_MOVES
    together = lay_out({}, cans={"red": 1}, players=players)
    apply(together, parse_move("pack park refuel"), new_stream(0))
    assert count_moves(together["view"]) == players + 1 <= MAX_MOVES


def test_every_refusal_is_met() -> None:
    likely = WORDS[(WORDS < 9 << 12) & ((WORDS & 0xFF < 40) | (WORDS & 0xFF == PARK))]
    met = {why for view in views_of_all_phases(120) for why in refusals(view, likely).tolist()}
    assert [why.name for why in Refusal if why not in met] == []


def test_every_refusal_names_its_rule_and_has_words() -> None:
    rules = {
        "": {Refusal.NO_MOVE, Refusal.WRONG_PHASE},
        "C6": {Refusal.TOO_FEW_CANS, Refusal.BREAKAWAY_IN_PACK},
        "C7": {Refusal.NO_PACK, Refusal.PACK_IN_CAR_PARK},
        "C9": {Refusal.CROSSES},
        "C10": {Refusal.NOT_THROWN, Refusal.NO_COURIER},
        "C11": {Refusal.NOT_OF_THE_PACK},
        "C14": {Refusal.NOT_THE_MOST_CANS},
    }
    assert {why: rule for rule, refused in rules.items() for why in refused} == {
        why: rule for why, (rule, _) in REASONS.items()
    }
    assert set(REASONS) == set(Refusal) - {Refusal.NONE}
    assert all(words and "\n" not in words for _, words in REASONS.values())


def test_every_phase_names_the_rule_that_says_what_is_decided() -> None:
    assert [PHASE_RULES[phase] for phase in Phase] == ["C6", "C10", "C12", "C15", "C14", "C18"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("solo refuel", "'solo refuel': the player has not so many cans (C6)"),
        ("pack 20", "'pack 20': a pack needs a courier of the player and one of another team on the space (C7)"),
        ("pack 40", "'pack 40': it is no move"),
        ("red from 20", "'red from 20': it is not what has to be decided; the phase is ride (C6)"),
    ],
)
def test_a_refusal_in_words(text: str, message: str) -> None:
    state = new_state(3)
    before = state.tobytes()
    with pytest.raises(IllegalMoveError) as caught:
        apply(state, parse_move(text), new_stream(0))
    assert str(caught.value) == message
    assert state.tobytes() == before


@pytest.mark.parametrize("move", [None, 4096.0, "solo", True, -1, 2**64])
def test_what_is_no_word_is_refused(move: object) -> None:
    with pytest.raises(IllegalMoveError, match=r"is no move: moves are words, see parse_move$"):
        apply(new_state(3), move, new_stream(0))


def test_a_word_that_is_no_move_is_told_by_its_bits() -> None:
    with pytest.raises(IllegalMoveError, match=r"^the word 0x000000000000f000: it is no move$"):
        apply(new_state(3), 0xF000, new_stream(0))


def test_listed_moves_have_a_text() -> None:
    assert [move_text(move) for move in all_legal_moves(new_state(3)["view"])] == ["solo", "pack park"]
