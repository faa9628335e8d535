"""Imagined hidden cards: always possible, always what the seat knows, and every possible deal equally often."""

from collections import Counter
from collections.abc import Iterable
from functools import cache
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import states_of_game
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.errors import UsageError
from velonimo_sim.rng import new_stream
from velonimo_sim.velonimo.cards import DECK, parse_cards
from velonimo_sim.velonimo.determinize import determinize, determinize_into, unseen_cards
from velonimo_sim.velonimo.moves import parse_move
from velonimo_sim.velonimo.policies import parse_bot
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.state import STATE, State, equal, new_state, validate, view_of
from velonimo_sim.velonimo.step import apply, deal, lay_out_col
from velonimo_sim.velonimo.view import NOBODY, Phase, View

pytestmark = pytest.mark.kernel

EXAMPLES = 100 if INTERPRETED else 400
DRAWS_A_DEAL = 200 if INTERPRETED else 400
CRITICAL = {11: 31.264, 23: 49.728, 29: 58.301, 53: 90.573}
"""Upper 0.1 % points of the chi-square distribution by degrees of freedom."""


@cache
def states() -> list[State]:
    """Return the states of random games in every phase, those before, between and after cols included."""
    found = []
    for players in (2, 3, 4, 5):
        for seed in range(1 if INTERPRETED else 4):
            found += states_of_game(players, seed)
            found += states_of_game(players, seed, RuleSet(tortoise_swap="optional", hand_size=5))
        found += [new_state(players), end_of_col(players, (1, 2)), end_of_col(players, (1,))]
    return found


def end_of_col(players: int, col_values: tuple[int, ...]) -> State:
    """Return the state after a first col, in which the last player has cards left."""
    state = new_state(players, RuleSet(hand_size=3, col_values=col_values))
    bot, stream = parse_bot("greedy"), new_stream(players)
    deal(state, 0)
    while state["view"]["turn"] != NOBODY:
        apply(state, bot.policy.function(state["view"], bot.scratch(), stream), stream)
    return state


def seats(state: State) -> range:
    return range(int(state["view"]["players"]))


def union(words: Iterable[np.uint64]) -> int:
    together = 0
    for word in words:
        together |= int(word)
    return together


def hidden(state: State) -> bytes:
    return bytes(state["hands"].tobytes() + state["pile"].tobytes())


STATES = st.deferred(lambda: st.integers(0, len(states()) - 1)).map(lambda index: states()[index])


def test_states_are_of_every_phase_and_some_hold_known_cards() -> None:
    assert {Phase(int(state["view"]["phase"])) for state in states()} == set(Phase)
    assert sum(bool(state["known"].any()) for state in states()) > len(states()) // 10


@settings(max_examples=EXAMPLES)
@given(STATES, st.integers(0, 10**6))
def test_every_seat_sees_the_same_and_the_state_is_sound(state: State, seed: int) -> None:
    for seat in seats(state):
        view = view_of(state, seat)
        before = view.tobytes()
        imagined = determinize(view, new_stream(seed, seat))
        assert view.tobytes() == before
        assert view_of(imagined, seat).tobytes() == before
        assert validate(imagined) == []


@settings(max_examples=EXAMPLES)
@given(STATES, st.integers(0, 10**6))
def test_known_cards_stay_and_all_cards_have_one_place(state: State, seed: int) -> None:
    for seat in seats(state):
        view = view_of(state, seat)
        imagined = determinize(view, new_stream(seed, seat))
        assert imagined["hands"][seat] == view["hand"]
        assert ((imagined["hands"] & view["known"]) == view["known"]).all()
        assert [int(hand).bit_count() for hand in imagined["hands"]] == view["sizes"].tolist()
        pile = imagined["pile"][: view["pile_size"]].tolist()
        assert not imagined["pile"][view["pile_size"] :].any()
        assert len(set(pile)) == len(pile) == view["pile_size"]
        in_places = sum(1 << place for place in pile) + sum(map(int, imagined["hands"]))
        assert in_places & int(view["played"] | view["reward"]) == 0
        if view["players"] == 2 and view["col"]:
            assert in_places | int(view["played"] | view["reward"]) == int(DECK)


@settings(max_examples=EXAMPLES)
@given(STATES)
def test_only_what_the_seat_knows_is_known(state: State) -> None:
    """What others know of each other is hidden from the seat, and imagined as nothing."""
    for seat in seats(state):
        imagined = determinize(view_of(state, seat), new_stream(1))
        assert imagined["known"][seat].tolist() == state["known"][seat].tolist()
        assert not np.delete(imagined["known"], seat, axis=0).any()


@settings(max_examples=EXAMPLES)
@given(STATES)
def test_unseen_cards_are_all_that_the_seat_does_not_see(state: State) -> None:
    for seat in seats(state):
        view = view_of(state, seat)
        seen = union([view["hand"], view["played"], view["reward"], *view["known"]])
        unseen = int(unseen_cards(view))
        assert unseen == int(DECK) & ~seen
        pile = sum(1 << int(place) for place in state["pile"][: view["pile_size"]])
        others = union(hand for holder, hand in enumerate(state["hands"]) if holder != seat)
        assert (others & ~union(view["known"]) | pile) & ~unseen == 0


def test_hidden_cards_are_drawn_anew() -> None:
    state = next(states_of_game(4, 0))
    stream = new_stream(5)
    drawn = {hidden(determinize(view_of(state, 0), stream)) for _ in range(50)}
    assert len(drawn) == 50
    again = determinize(view_of(state, 0), new_stream(5))
    assert hidden(again) in drawn
    assert equal(again, determinize(view_of(state, 0), new_stream(5)))


def test_what_was_in_the_state_before_leaves_no_trace() -> None:
    view = view_of(next(states_of_game(2, 0)), 1)
    used = np.frombuffer(b"\xff" * STATE.itemsize, STATE).copy()[0]
    determinize_into(used, view, new_stream(3))
    assert equal(used, determinize(view, new_stream(3)))


def test_view_of_nobody() -> None:
    with pytest.raises(UsageError, match="a view of no seat holds no hand"):
        determinize(new_state(3)["view"], new_stream(0))


# Small cases, in which every possible deal can be counted.

Deal = tuple[int, ...]
"""The hands by seat, then the positions of the pile, next card first."""


def view_with_unseen(
    hands: list[str], unseen: list[str], seat: int, moves: str = "", pile: str = "", taken: str | None = None
) -> View:
    """Return a view of a small col, in which all but a few cards count as played."""
    state = new_state(len(hands), RuleSet(hand_size=len(hands[0].split())))
    lay_out_col(state, [hand.split() for hand in hands], pile.split())
    for move in filter(None, moves.split(", ")):
        apply(state, parse_move(move), new_stream(0), taken.split() if taken and move.startswith("swap") else None)
    view = view_of(state, seat)
    view["played"] |= unseen_cards(view) & ~parse_cards(unseen)
    assert unseen_cards(view) == parse_cards(unseen)
    return view


def deal_of(state: State) -> Deal:
    size = int(state["view"]["pile_size"])
    return (*state["hands"].tolist(), *state["pile"][:size][::-1].tolist())


def chi_square_of_deals(view: View, possible: set[Deal]) -> float:
    """Draw many deals, which have to be possible ones, and return Pearson's statistic of their numbers."""
    stream, draws = new_stream(17), DRAWS_A_DEAL * len(possible)
    counts = Counter(deal_of(determinize(view, stream)) for _ in range(draws))
    assert set(counts) == possible
    return sum((counts[one] - DRAWS_A_DEAL) ** 2 / DRAWS_A_DEAL for one in possible)


def words(texts: tuple[str, ...]) -> int:
    return int(parse_cards(texts))


def test_uniform_over_two_hands_and_the_cards_set_aside() -> None:
    """5 unseen cards: 2 for seat 1, 1 of the others for seat 2, the rest is out of the col: 30 deals."""
    unseen = ["B1", "G5", "H25", "R7", "Y7"]
    view = view_with_unseen(["A1 A2", "B1 G5", "H25 R7"], unseen, seat=0)
    view["sizes"][2] = 1
    possible = {
        (words(("A1", "A2")), words(first), words((second,)), 0, 0)
        for first in combinations(unseen, 2)
        for second in set(unseen) - set(first)
    }
    assert len(possible) == 30
    assert chi_square_of_deals(view, possible) < CRITICAL[29]


def test_uniform_over_the_other_hand_and_the_order_of_the_pile() -> None:
    """4 unseen cards in a duel with hands of one card: 1 in the other hand, 3 in the pile: 24 deals."""
    unseen = ["B1", "G5", "H50", "Y7"]
    view = view_with_unseen(["A1", "B1"], unseen, seat=0, pile="A3 G5 H50 Y7")
    place = {text: int(parse_cards([text])).bit_length() - 1 for text in unseen}
    possible = {
        (words(("A1",)), words((order[0],)), 0, 0, 0, *(place[text] for text in order[1:]))
        for order in permutations(unseen)
    }
    assert len(possible) == 24
    assert chi_square_of_deals(view, possible) < CRITICAL[23]


def test_uniform_around_a_known_card() -> None:
    """Seat 1 certainly holds R7 and one more of 4 unseen cards, seat 2 one of those left: 12 deals."""
    unseen = ["B1", "G5", "H25", "Y7"]
    view = view_with_unseen(["A1 A2", "B1 R7", "G5 H25"], [*unseen, "R7"], seat=0)
    view["known"][1] = parse_cards(["R7"])
    view["sizes"][2] = 1
    possible = {
        (words(("A1", "A2")), words((first, "R7")), words((second,)), 0, 0) for first, second in permutations(unseen, 2)
    }
    assert len(possible) == 12
    assert chi_square_of_deals(view, possible) < CRITICAL[11]


def test_uniform_for_a_seat_that_watches_a_swap() -> None:
    """Seat 2 sees a swap between seats 0 and 1 that he knows nothing of: 4 unseen cards, 2 and 1 of them: 12 deals."""
    unseen = ["B1", "G5", "H25", "Y7"]
    view = view_with_unseen(["A1 G5", "B1 Y7", "H30 H35"], unseen, seat=2, moves="A1, swap 1")
    assert view["phase"] == Phase.GIVE
    assert view["sizes"].tolist() == [2, 1, 2, 0, 0]
    possible = {
        (words(first), words((second,)), words(("H30", "H35")), 0, 0)
        for first in combinations(unseen, 2)
        for second in set(unseen) - set(first)
    }
    assert len(possible) == 12
    assert chi_square_of_deals(view, possible) < CRITICAL[11]


def test_uniform_for_the_author_of_a_swap() -> None:
    """Seat 0 took R7 from seat 1, who has one of 4 unseen cards left, and seat 2 two of them: 12 deals."""
    unseen = ["B1", "G5", "H25", "Y7"]
    view = view_with_unseen(["A1 A2", "R7 B1", "G5 H25"], unseen, seat=0, moves="A1, swap 1", taken="R7")
    assert view["phase"] == Phase.GIVE
    assert view["sizes"].tolist() == [2, 1, 2, 0, 0]
    possible = {
        (words(("A2", "R7")), words((first,)), words(second), 0, 0)
        for first in unseen
        for second in combinations(sorted(set(unseen) - {first}), 2)
    }
    assert len(possible) == 12
    assert chi_square_of_deals(view, possible) < CRITICAL[11]


@pytest.mark.parametrize("seat", [1, 2])
def test_uniform_over_the_whole_deck(seat: int) -> None:
    """Each of 54 unseen cards is equally often the one card of another hand."""
    state = new_state(3, RuleSet(hand_size=1))
    deal(state, 0)
    view = view_of(state, 0)
    stream, draws = new_stream(23, seat), DRAWS_A_DEAL * 54
    counts = Counter(int(determinize(view, stream)["hands"][seat]) for _ in range(draws))
    assert set(counts) == {1 << place for place in range(55) if int(unseen_cards(view)) >> place & 1}
    assert sum((count - DRAWS_A_DEAL) ** 2 / DRAWS_A_DEAL for count in counts.values()) < CRITICAL[53]
