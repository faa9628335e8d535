"""What is hidden stays hidden (V28): other hands and the pile change no view, no list of moves and no bot."""

from functools import cache

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from conftest import quick_bots, states_of_game, thinks
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.bot.text import Bot
from velonimo_sim.rng import new_stream
from velonimo_sim.velonimo.cards import DROMEDARIES
from velonimo_sim.velonimo.determinize import determinize
from velonimo_sim.velonimo.legal import legal_moves
from velonimo_sim.velonimo.moves import DECLINE, Kind, cards_of, kind_of, seat_of
from velonimo_sim.velonimo.rules import RULES, RuleSet
from velonimo_sim.velonimo.state import STATE, State, clone, equal, show_turn, validate, view_of
from velonimo_sim.velonimo.step import apply
from velonimo_sim.velonimo.view import VIEW, Phase, View

pytestmark = pytest.mark.kernel

EXAMPLES = 100 if INTERPRETED else 300
HAND_SIZE = 5 if INTERPRETED else 11

PUBLIC = {
    "played",
    "reward",
    "rules",
    "totals",
    "points",
    "passed_on",
    "beat",
    "sizes",
    "out_order",
    "players",
    "turn",
    "phase",
    "col",
    "starter",
    "author",
    "racing",
    "wearer",
    "jersey_spent",
    "swap_count",
    "swap_victim",
    "pile_size",
    "logged",
    "log",
}
"""Fields of a view that everybody may read (V28)."""
OWN = {"seat", "hand", "known"}
"""Fields that only this seat may read: its hand, and what it has seen of others (V22)."""


@cache
def states() -> list[State]:
    """Return the states of random games, with cards known to some."""
    rules = [RuleSet(hand_size=HAND_SIZE), RuleSet(hand_size=HAND_SIZE, tortoise_swap="optional")]
    return [
        state
        for players in (2, 3, 4, 5)
        for seed in range(1 if INTERPRETED else 3)
        for options in rules
        for state in states_of_game(players, seed, options)
    ]


STATES = st.deferred(lambda: st.integers(0, len(states()) - 1)).map(lambda index: states()[index])
SEEDS = st.integers(0, 10**6)


def with_other_hidden_cards(state: State, seat: int, seed: int) -> State:
    """Return the state with all that a seat cannot see drawn anew: hands, pile, and what others know."""
    imagined = determinize(view_of(state, seat), new_stream(seed))
    other = clone(state)
    for part in ("hands", "known", "pile"):
        other[part] = imagined[part]
    show_turn(other)
    return other


def listed(view: View) -> list[int]:
    moves = np.zeros(5000, np.uint64)
    return [int(move) for move in moves[: legal_moves(view, moves)]]


def choice(bot: Bot, view: View, seed: int) -> int:
    return int(bot.policy.function(view, bot.scratch(), new_stream(seed, 1)))


def few_or_many(bot: Bot, interpreted: int) -> int:
    """Return how many states of each phase a bot is asked about."""
    if INTERPRETED:
        return 1 if thinks(bot) else interpreted
    return 15 if thinks(bot) else 50


def of_every_phase(n: int) -> list[State]:
    """Return at most ``n`` states of each phase in which somebody acts."""
    examples = []
    for phase in list(Phase)[: Phase.COL_OVER]:
        found = [state for state in states() if state["view"]["phase"] == phase]
        assert found
        examples += found[:: max(1, len(found) // n)][:n]
    return examples


def test_view_has_no_field_for_hidden_cards() -> None:
    """Every field of a view is public or the seat's own; a new one has to be judged and written down here."""
    assert set(VIEW.names) == PUBLIC | OWN
    assert "hands" not in VIEW.names
    assert "pile" not in VIEW.names


def test_cards_stand_only_in_five_fields_of_a_view() -> None:
    """What is wide enough for a hand: own cards, known cards, cards played, the reward, and moves of the log."""
    words = [name for name in VIEW.names if VIEW.fields[name][0].base == np.uint64]
    assert words == ["hand", "known", "played", "reward", "log"]
    assert not any(RULES.fields[name][0].base == np.uint64 for name in RULES.names)


def test_all_that_is_hidden_is_beside_the_view() -> None:
    assert STATE.names == ("view", "hands", "known", "pile")
    assert STATE.fields["view"][0] == VIEW


@settings(max_examples=EXAMPLES)
@given(STATES, SEEDS)
def test_view_does_not_show_hidden_cards(state: State, seed: int) -> None:
    for seat in range(int(state["view"]["players"])):
        other = with_other_hidden_cards(state, seat, seed)
        assert validate(other) == []
        assert view_of(other, seat).tobytes() == view_of(state, seat).tobytes()


def test_hidden_cards_do_change() -> None:
    """The tests above and below compare different deals, not the same one twice."""
    changed = [
        not equal(state, with_other_hidden_cards(state, int(state["view"]["turn"]), i))
        for i, state in enumerate(states())
    ]
    assert sum(changed) > 0.9 * len(changed)


@settings(max_examples=EXAMPLES)
@given(STATES, SEEDS)
def test_legal_moves_do_not_depend_on_hidden_cards(state: State, seed: int) -> None:
    other = with_other_hidden_cards(state, int(state["view"]["turn"]), seed)
    assert listed(other["view"]) == listed(state["view"])


@pytest.mark.parametrize("bot", quick_bots(), ids=lambda bot: bot.policy.name)
def test_bots_do_not_depend_on_hidden_cards(bot: Bot) -> None:
    """The bot is handed the view where it lies, with the hidden cards right behind it."""
    for i, state in enumerate(of_every_phase(few_or_many(bot, 5))):
        other = with_other_hidden_cards(state, int(state["view"]["turn"]), i)
        assert choice(bot, other["view"], i) == choice(bot, state["view"], i)


@pytest.mark.parametrize("bot", quick_bots(), ids=lambda bot: bot.policy.name)
def test_bots_leave_the_state_as_it_is(bot: Bot) -> None:
    for i, state in enumerate(of_every_phase(few_or_many(bot, 3))):
        before = state.tobytes()
        choice(bot, state["view"], i)
        assert state.tobytes() == before


# Moves show no more than V22 and V28 say: who cannot tell two states apart cannot do so after the same public event.


@settings(max_examples=EXAMPLES)
@given(STATES, SEEDS, st.data())
def test_passing_shows_nothing(state: State, seed: int, data: st.DataObject) -> None:
    assume(state["view"]["phase"] == Phase.FOLLOW)
    seat = data.draw(st.integers(0, int(state["view"]["players"]) - 1))
    check_same_view_after(state, with_other_hidden_cards(state, seat, seed), seat, int(Kind.PASS) << 56)


def check_same_view_after(state: State, other: State, seat: int, move: int, other_move: int | None = None) -> None:
    """Check that a seat sees the same after a move in two states that it cannot tell apart."""
    after, other_after = clone(state), clone(other)
    assert view_of(state, seat).tobytes() == view_of(other, seat).tobytes()
    apply(after, move, new_stream(0))
    apply(other_after, move if other_move is None else other_move, new_stream(1))
    assert validate(after) == validate(other_after) == []
    assert view_of(after, seat).tobytes() == view_of(other_after, seat).tobytes()


@settings(max_examples=EXAMPLES)
@given(STATES, SEEDS, st.data())
def test_playing_shows_the_cards_played_and_no_others(state: State, seed: int, data: st.DataObject) -> None:
    """Of what the author draws for a Dromedary in a duel he alone sees which cards they are."""
    view = state["view"]
    assume(view["phase"] <= Phase.FOLLOW)
    turn = int(view["turn"])
    plays = [move for move in listed(view) if kind_of(np.uint64(move)) == Kind.PLAY]
    if view["players"] == 2:
        plays = [move for move in plays if not move & int(DROMEDARIES)]
    assume(plays)
    check_same_view_after(state, with_other_hidden_cards(state, turn, seed), turn, data.draw(st.sampled_from(plays)))


def test_drawing_for_a_dromedary_shows_the_opponent_nothing() -> None:
    """V24: the same play in the same view, with another pile and another hand behind it."""
    checked = 0
    for i, state in enumerate(states()):
        view = state["view"]
        turn = int(view["turn"])
        plays = [
            move
            for move in (listed(view) if view["players"] == 2 and view["phase"] <= Phase.FOLLOW else [])
            if move & int(DROMEDARIES)
        ]
        if plays and view["pile_size"] > 1:
            other = clone(state)
            size = int(view["pile_size"])
            other["pile"][:size] = state["pile"][:size][::-1]
            check_same_view_after(state, other, 1 - turn, plays[i % len(plays)])
            checked += 1
    assert checked > (3 if INTERPRETED else 30)


def test_swap_shows_the_others_only_how_many_cards_moved() -> None:
    """V22: a third seat sees the same, whatever is taken, whatever is given back, and knows no more what it knew."""
    checked = knowing = 0
    for i, state in enumerate(states()):
        view, turn = state["view"], int(state["view"]["turn"])
        if view["phase"] not in (Phase.SWAP, Phase.GIVE):
            continue
        moves = [move for move in listed(view) if move != DECLINE]
        victim = int(seat_of(np.uint64(moves[0]))) if view["phase"] == Phase.SWAP else int(view["swap_victim"])
        for seat in set(range(int(view["players"]))) - {turn, victim}:
            other = with_other_hidden_cards(state, seat, i)
            other_moves = listed(other["view"])
            other_move = moves[0] if view["phase"] == Phase.SWAP else other_moves[i % len(other_moves)]
            check_same_view_after(state, other, seat, moves[0], other_move)
            checked += 1
            knowing += bool(state["known"][seat, [turn, victim]].any())
    assert checked > (10 if INTERPRETED else 300)
    assert knowing > (0 if INTERPRETED else 30)


def test_swap_shows_the_victim_which_cards_were_taken() -> None:
    """V22: he knows them in the author's hand, and still knows there what he knew before."""
    checked = 0
    for i, state in enumerate(states()):
        if state["view"]["phase"] != Phase.SWAP:
            continue
        author, move = int(state["view"]["turn"]), np.uint64(listed(state["view"])[0])
        victim, after = int(seat_of(move)), clone(state)
        apply(after, move, new_stream(i))
        taken = state["hands"][victim] & ~after["hands"][victim]
        assert taken
        assert view_of(after, author)["hand"] & taken == taken
        assert view_of(after, victim)["known"][author] == state["known"][victim, author] | taken
        assert view_of(after, author)["known"][victim] == state["known"][author, victim] & ~taken
        checked += 1
    assert checked > (3 if INTERPRETED else 50)


def test_gift_is_known_to_author_and_victim() -> None:
    """V22: the author knows it in the victim's hand, and the victim knows it in the author's no more."""
    checked = 0
    for state in states():
        if state["view"]["phase"] != Phase.GIVE:
            continue
        author, victim = int(state["view"]["turn"]), int(state["view"]["swap_victim"])
        move, after = np.uint64(listed(state["view"])[-1]), clone(state)
        apply(after, move)
        given = np.uint64(cards_of(move))
        assert view_of(after, victim)["hand"] & given == given
        assert view_of(after, author)["known"][victim] == state["known"][author, victim] | given
        assert view_of(after, victim)["known"][author] == state["known"][victim, author] & ~given
        checked += 1
    assert checked > (3 if INTERPRETED else 50)
