"""Which moves the rules allow: the list, the count, the pick by number and the check of one move say the same."""

from collections.abc import Callable, Iterable
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import position, states_of_game
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.errors import IllegalMoveError
from velonimo_sim.rng import new_stream
from velonimo_sim.velonimo.cards import DECK, card_texts, parse_card, parse_cards
from velonimo_sim.velonimo.legal import (
    MAX_PLAYS,
    PHASE_RULES,
    REASONS,
    Refusal,
    count_plays,
    is_legal,
    legal_moves,
    nth_play,
    refusal,
)
from velonimo_sim.velonimo.moves import (
    DECLINE,
    FORCE,
    JERSEY,
    KEEP,
    PASS,
    Kind,
    move_of,
    move_text,
    parse_move,
)
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.state import State, clone, equal, new_state
from velonimo_sim.velonimo.step import apply
from velonimo_sim.velonimo.view import Phase, View

pytestmark = pytest.mark.kernel

EXAMPLES = 150 if INTERPRETED else 300
ALL_BITS = (1 << 64) - 1
TABLES = (
    (2, RuleSet()),
    (2, RuleSet(jersey_bonus=10, tortoise_swap="optional")),
    (3, RuleSet()),
    (3, RuleSet(hand_size=18, jersey_bonus=25)),
    (4, RuleSet(tortoise_swap="optional")),
    (5, RuleSet()),
)


@cache
def views() -> list[View]:
    """Return the views of random games, with every phase and the Jersey in play."""
    games = range(2 if INTERPRETED else 6)
    tables = [(players, rules, seed) for players, rules in TABLES for seed in games]
    return [state["view"] for players, rules, seed in tables for state in states_of_game(players, seed, rules)]


def views_where(holds: Callable[[View], bool]) -> st.SearchStrategy[View]:
    """Draw from the views of random games for which something holds."""
    chosen = cache(lambda: [view for view in views() if holds(view)])
    return st.deferred(lambda: st.integers(0, len(chosen()) - 1)).map(lambda index: chosen()[index])


def may_play(view: View) -> bool:
    return bool(view["phase"] <= Phase.FOLLOW)


def listed(view: View) -> list[int]:
    """Return the legal moves as ``legal_moves`` lists them."""
    moves = np.zeros(int(legal_moves(view, np.zeros(0, np.uint64))), np.uint64)
    assert legal_moves(view, moves) == len(moves)
    return [int(move) for move in moves]


def word(value: int) -> np.uint64:
    return np.uint64(value)


def bits_of(value: int) -> list[int]:
    return [1 << place for place in range(64) if value >> place & 1]


def subsets(cards: int) -> Iterable[int]:
    """Yield every set of the cards of a word, the empty one and the whole included."""
    part = cards
    while True:
        yield part
        if part == 0:
            return
        part = (part - 1) & cards


def test_games_hold_every_phase_and_a_free_jersey() -> None:
    phases = {Phase(int(view["phase"])) for view in views()}
    assert phases == set(Phase) - {Phase.COL_OVER, Phase.GAME_OVER}
    assert any(move & int(JERSEY) for view in views()[::10] for move in listed(view))


def test_plays_are_counted_and_picked_by_number_as_listed() -> None:
    for view in filter(may_play, views()):
        plays = [move for move in listed(view) if move != PASS]
        assert count_plays(view) == len(plays)
        assert [int(nth_play(view, k)) for k in range(len(plays))] == plays


def test_pass_is_listed_last_and_only_to_who_follows() -> None:
    for view in filter(may_play, views()):
        moves = listed(view)
        if view["phase"] == Phase.FOLLOW:
            assert moves.index(int(PASS)) == len(moves) - 1
        else:
            assert int(PASS) not in moves


@st.composite
def words_like_moves(draw: st.DrawFn, view: View) -> int:
    """Draw a word: cards of the hand or of one group, a seat, anything, with or without a disturbed bit."""
    hand = int(view["hand"])
    cards = draw(st.lists(st.sampled_from(bits_of(hand) or [0]), unique=True, max_size=7))
    group = draw(
        st.sampled_from([0x7F << 8 * team for team in range(7)] + [0x01_0101_0101_0101 << i for i in range(7)])
    )
    content = draw(
        st.sampled_from([sum(cards), hand & group, hand & sum(cards) & group])
        | st.integers(0, 255)
        | st.integers(0, ALL_BITS >> 8)
    )
    flags = draw(st.sampled_from([0, 0, 0, int(JERSEY), int(JERSEY)]) | st.integers(0, 31).map(lambda five: five << 59))
    disturbed = draw(st.sampled_from([0, 0, 0, 0, 1]) | st.integers(0, 63).map(lambda place: 1 << place))
    return (draw(st.sampled_from([0, 0, 0, *Kind])) << 56 | content | flags) ^ disturbed


def any_view(_: View) -> bool:
    return True


ANY_VIEW = views_where(any_view)


@settings(max_examples=EXAMPLES)
@given(st.data(), ANY_VIEW)
def test_word_is_listed_if_and_only_if_it_is_legal(data: st.DataObject, view: View) -> None:
    moves = set(listed(view))
    for value in data.draw(st.lists(words_like_moves(view) | st.integers(0, ALL_BITS), min_size=5, max_size=30)):
        assert is_legal(view, word(value)) == (value in moves), hex(value)


@settings(max_examples=EXAMPLES)
@given(st.data(), ANY_VIEW)
def test_legal_move_with_one_bit_disturbed(data: st.DataObject, view: View) -> None:
    moves = listed(view)
    move = data.draw(st.sampled_from(moves))
    for place in range(64):
        disturbed = move ^ 1 << place
        assert is_legal(view, word(disturbed)) == (disturbed in moves), hex(disturbed)


def small(view: View) -> bool:
    return int(view["hand"]).bit_count() <= (6 if INTERPRETED else 8)


@settings(max_examples=EXAMPLES)
@given(views_where(small))
def test_every_set_of_a_small_hand(view: View) -> None:
    """Plays with and without the Jersey, gifts, and all moves without cards: listed if and only if legal."""
    sets = list(subsets(int(view["hand"])))
    words = [cards | flag for cards in sets for flag in (0, int(JERSEY), Kind.GIVE << 56)]
    words += [kind << 56 | seat for kind in Kind if kind not in (Kind.PLAY, Kind.GIVE) for seat in range(9)]
    legal = [value for value in words if is_legal(view, word(value))]
    assert sorted(legal) == sorted(listed(view))


def value_by_the_rules(cards: list[str]) -> int | None:
    """Return the value of cards as V6-V8 say; None if they are no play."""
    if len(cards) == 1:
        return int(cards[0][1:])
    if any(card.startswith("H") for card in cards) or not cards:
        return None
    if len({card[0] for card in cards}) > 1 and len({card[1] for card in cards}) > 1:
        return None
    return 10 * len(cards) + min(int(card[1]) for card in cards)


def beats_by_the_rules(view: View, cards: list[str], jersey: bool) -> bool:
    """Whether cards of the hand may be played as V9 and V10 say."""
    value = value_by_the_rules(cards)
    if value is None:
        return False
    if not jersey:
        return value > int(view["beat"])
    bonus = int(view["rules"]["jersey_bonus"])
    is_free = view["wearer"] == view["seat"] and not view["jersey_spent"]
    has_hare = any(card.startswith("H") for card in cards)
    return bonus > 0 and bool(is_free) and not has_hare and value + bonus > int(view["beat"])


@settings(max_examples=EXAMPLES)
@given(views_where(lambda view: may_play(view) and small(view)))
def test_plays_of_a_small_hand_are_those_of_the_rules(view: View) -> None:
    """V6-V10, read card by card."""
    expected = {
        cards | flag
        for cards in subsets(int(view["hand"]))
        for flag in (0, int(JERSEY))
        if beats_by_the_rules(view, card_texts(cards), flag != 0)
    }
    assert set(listed(view)) - {int(PASS)} == expected


@settings(max_examples=EXAMPLES)
@given(
    views_where(lambda view: bool(view["wearer"] == view["seat"]) and may_play(view) and small(view)),
    st.integers(0, 120),
    st.sampled_from([0, 1, 10, 50, 1_000_000]),
)
def test_plays_against_any_value_and_bonus(view: View, beat: int, bonus: int) -> None:
    changed = clone(view)
    changed["beat"], changed["rules"]["jersey_bonus"], changed["jersey_spent"] = beat, bonus, 0
    expected = {
        cards | flag
        for cards in subsets(int(view["hand"]))
        for flag in (0, int(JERSEY))
        if beats_by_the_rules(changed, card_texts(cards), flag != 0)
    }
    assert set(listed(changed)) - {int(PASS)} == expected
    all_words = [cards | flag for cards in subsets(int(view["hand"])) for flag in (0, int(JERSEY))]
    assert {value for value in all_words if is_legal(changed, word(value))} == expected


@settings(max_examples=EXAMPLES)
@given(views_where(lambda view: view["phase"] == Phase.GIVE))
def test_gifts_are_all_choices_of_as_many_cards_as_were_taken(view: View) -> None:
    """V20."""
    expected = {
        Kind.GIVE << 56 | sum(chosen) for chosen in combinations(bits_of(int(view["hand"])), int(view["swap_count"]))
    }
    assert set(listed(view)) == expected


@settings(max_examples=EXAMPLES)
@given(views_where(lambda view: view["phase"] in (Phase.SWAP, Phase.NEXT_LEADER, Phase.REWARD)))
def test_moves_without_cards_are_those_of_the_rules(view: View) -> None:
    """V13, V20, V26: the opponents with cards; a refusal of the swap where it is optional; the reward or not."""
    others = [seat for seat in range(int(view["players"])) if seat != view["seat"] and view["sizes"][seat]]
    if view["phase"] == Phase.REWARD:
        expected = ["keep", "force"]
    elif view["phase"] == Phase.NEXT_LEADER:
        expected = [f"lead {seat}" for seat in others]
    else:
        expected = [f"swap {seat}" for seat in others]
        expected += ["decline"] if RuleSet.from_record(view["rules"]).tortoise_swap == "optional" else []
    assert [move_text(move) for move in listed(view)] == expected


@pytest.mark.parametrize("phase", [Phase.COL_OVER, Phase.GAME_OVER])
def test_nobody_acts_between_cols(phase: Phase) -> None:
    view = new_state(3)["view"]
    view["phase"] = phase
    assert listed(view) == []
    words = [PASS, DECLINE, KEEP, FORCE, word(0), parse_card("R7"), move_of(int(Kind.SWAP), word(0))]
    assert not any(is_legal(view, value) for value in words)


def view_of_hand(hand: int, beat: int = 0, bonus: int = 10) -> View:
    """Return the view of a seat that follows with a hand and the Jersey free."""
    view = new_state(3, RuleSet(jersey_bonus=bonus))["view"]
    view["hand"], view["beat"], view["phase"] = hand, beat, Phase.FOLLOW
    view["seat"] = view["turn"] = view["wearer"] = 1
    return view


def test_most_plays_is_the_whole_deck_with_a_free_jersey_and_the_pass() -> None:
    """6 hares, twice the 7 x 127 + 7 x 120 plays of riders, and the pass."""
    assert MAX_PLAYS == 6 + 2 * (7 * 127 + 7 * 120) + 1
    moves = listed(view_of_hand(int(DECK)))
    assert len(moves) == len(set(moves)) == MAX_PLAYS
    assert count_plays(view_of_hand(int(DECK))) == MAX_PLAYS - 1


EDGE_BEATS = (0, 1, 6, 7, 8, 20, 21, 22, 25, 49, 50, 51, 74, 75, 76, 77, 78, 86, 87, 88, 1_000)


@pytest.mark.parametrize("beat", EDGE_BEATS)
def test_plays_of_the_whole_deck_against_every_value(beat: int) -> None:
    view = view_of_hand(int(DECK), beat)
    everything = listed(view_of_hand(int(DECK)))[:-1]
    expected = [move for move in everything if beats_by_the_rules(view, card_texts(move), move & int(JERSEY) != 0)]
    assert listed(view) == [*expected, int(PASS)]
    assert count_plays(view) == len(expected)


HANDS = st.integers(0, ALL_BITS).map(lambda value: value & int(DECK)) | st.integers(0, ALL_BITS).map(
    lambda value: int(DECK) & ~(value & value >> 3 & value >> 7)
)


@settings(max_examples=EXAMPLES)
@given(HANDS, st.integers(0, 90), st.sampled_from([0, 10, 1_000_000]), st.sampled_from(bits_of(int(DECK))))
def test_no_view_has_more_plays(hand: int, beat: int, bonus: int, card: int) -> None:
    """A further card, a lower value to beat or a Jersey never takes a play away, so the whole deck has the most."""
    plays = count_plays(view_of_hand(hand, beat, bonus))
    assert plays <= count_plays(view_of_hand(hand | card, beat, bonus)) <= MAX_PLAYS - 1
    assert plays <= count_plays(view_of_hand(hand, max(0, beat - 1), bonus))
    assert count_plays(view_of_hand(hand, beat, 0)) <= plays <= count_plays(view_of_hand(hand, beat, 1_000_000))
    assert set(listed(view_of_hand(hand, beat, bonus))) <= set(listed(view_of_hand(int(DECK))))


@settings(max_examples=EXAMPLES)
@given(ANY_VIEW, st.data())
def test_buffer_that_is_too_small(view: View, data: st.DataObject) -> None:
    """The full count is returned, what fits is written, and nothing beyond."""
    moves = listed(view)
    size = data.draw(st.integers(0, len(moves) + 3))
    marker = word(0xDEAD_BEEF_DEAD_BEEF)
    memory = np.full(len(moves) + 10, marker, np.uint64)
    assert legal_moves(view, memory[:size]) == len(moves)
    assert memory[:size].tolist() == (moves + [int(marker)] * 3)[:size]
    assert (memory[size:] == marker).all()


# Positions for the reasons of refusal.


THREE = ["R1 R2 R3 R7 B5 H25 H30", "B6 B7 G1 H50", "Y4 P2"]


def lead() -> State:
    return position(THREE)


def follow() -> State:
    """Seat 1 has to beat a 7."""
    return position(THREE, "R7")


def follow_combination() -> State:
    """Seat 1 has to beat 22."""
    return position(THREE, "R2 R3")


def worn(moves: str = "") -> State:
    return position(THREE, moves, wearer=0)


def duel() -> State:
    return position(["R2 R3", "B6 B7"], wearer=0, pile="Y1 Y3")


def swap() -> State:
    return position(THREE, "R1")


def swap_with_empty_hand() -> State:
    """Seat 1 plays a Tortoise over the last card of seat 0, who is out."""
    return position(["R7", "B1 B2 B6 N1", "Y4 P2"], "R7, B1 N1")


def optional_swap() -> State:
    return position(THREE, "R1", tortoise_swap="optional")


def give() -> State:
    """Seat 0 has taken B6 B7 for two Tortoises and gives back two of R3 R7 B6 B7."""
    return position(["R1 N1 R3 R7", *THREE[1:]], "R1 N1, swap 1", taken="B6 B7")


def next_leader() -> State:
    """Seat 3 is out, and so is seat 0 with a 7 that nobody beats."""
    return position(["R3 R7", "B6 B5", "Y4 P2", "A6"], "R3, pass, pass, A6, R7, pass, pass")


def reward() -> State:
    """Seat 0 has won an attack in a duel with a reward on the table."""
    return position(["R7 R3", "B6 B5"], "R7, pass", pile="Y1 Y3")


def over() -> State:
    return position(["R7", "B6"], "R7", col_values=(1,))


def seat_move(kind: Kind, seat: int) -> int:
    return int(kind) << 56 | seat


CASES: list[tuple[Callable[[], State], str | int, Refusal]] = [
    (lead, "R2 R3 R7", Refusal.NONE),
    (lead, 1 << 55, Refusal.NOT_A_MOVE),
    (lead, int(parse_card("R2")) | 1 << 59, Refusal.NOT_A_MOVE),
    (follow, int(PASS) | 1, Refusal.NOT_A_MOVE),
    (swap, int(DECLINE) | 1, Refusal.NOT_A_MOVE),
    (reward, int(KEEP) | 1, Refusal.NOT_A_MOVE),
    (reward, int(FORCE) | int(JERSEY), Refusal.NOT_A_MOVE),
    (lead, "swap 1", Refusal.WRONG_PHASE),
    (lead, "decline", Refusal.WRONG_PHASE),
    (lead, "give R2", Refusal.WRONG_PHASE),
    (lead, "lead 1", Refusal.WRONG_PHASE),
    (follow, "keep", Refusal.WRONG_PHASE),
    (follow, "force", Refusal.WRONG_PHASE),
    (swap, "R2", Refusal.WRONG_PHASE),
    (swap, "pass", Refusal.WRONG_PHASE),
    (give, "R3", Refusal.WRONG_PHASE),
    (give, "decline", Refusal.WRONG_PHASE),
    (next_leader, "pass", Refusal.WRONG_PHASE),
    (reward, "R3", Refusal.WRONG_PHASE),
    (over, "B6", Refusal.WRONG_PHASE),
    (over, "pass", Refusal.WRONG_PHASE),
    (lead, 0, Refusal.NO_CARDS),
    (follow, 0, Refusal.NO_CARDS),
    (worn, int(JERSEY), Refusal.NO_CARDS),
    (lead, "B6", Refusal.NOT_IN_HAND),
    (lead, "R2 R4", Refusal.NOT_IN_HAND),
    (lead, "R2 B5", Refusal.MIXED),
    (lead, "R2 R3 B5", Refusal.MIXED),
    (worn, "R2 B5 +jersey", Refusal.MIXED),
    (lead, "H25 H30", Refusal.TWO_HARES),
    (lead, "H25 R2", Refusal.HARE_IN_COMBO),
    (lead, "H25 H30 R2", Refusal.HARE_IN_COMBO),
    (worn, "H25 +jersey", Refusal.HARE_WITH_JERSEY),
    (duel, "R2 R3 +jersey", Refusal.JERSEY_OFF),
    (lead, "R2 +jersey", Refusal.JERSEY_NOT_WORN),
    (lambda: worn("R7"), "B6 +jersey", Refusal.JERSEY_NOT_WORN),
    (lambda: worn("R2 R3 +jersey, pass, pass"), "R7 +jersey", Refusal.JERSEY_USED),
    (follow, "B6", Refusal.TOO_LOW),
    (follow_combination, "B7", Refusal.TOO_LOW),
    (follow, "B7", Refusal.EQUAL),
    (lambda: position(["H25 R2", "B5 N5 P2", "A3"], "H25"), "B5 N5", Refusal.EQUAL),
    (lambda: position(["H50 R2", "B6 B7", "Y4"], "H50", wearer=1), "B6 B7 +jersey", Refusal.TOO_LOW_WITH_JERSEY),
    (
        lambda: position(["R3 R4 R5 Y7", "B3 N3", "Y4"], "R3 R4 R5", wearer=1),
        "B3 N3 +jersey",
        Refusal.TOO_LOW_WITH_JERSEY,
    ),
    (lambda: position(["R3 R4 R5 Y7", "B4 N4", "Y4"], "R3 R4 R5", wearer=1), "B4 N4 +jersey", Refusal.NONE),
    (lambda: position(["R6 N6", "B6 G4", "Y4"], "R6 N6", wearer=1), "B6 +jersey", Refusal.TOO_LOW_WITH_JERSEY),
    (lead, "pass", Refusal.PASS_AT_LEAD),
    (swap, "swap 0", Refusal.SWAP_SELF),
    (swap_with_empty_hand, "swap 0", Refusal.SWAP_NO_CARDS),
    (swap, "decline", Refusal.SWAP_MANDATORY),
    (optional_swap, "decline", Refusal.NONE),
    (give, "give B5 H50", Refusal.GIVE_NOT_IN_HAND),
    (give, Kind.GIVE << 56 | int(JERSEY) | int(parse_cards(["R3", "R7"])), Refusal.GIVE_NOT_IN_HAND),
    (give, "give R3", Refusal.GIVE_TOO_FEW),
    (give, Kind.GIVE << 56, Refusal.GIVE_TOO_FEW),
    (give, "give R3 R7 B6", Refusal.GIVE_TOO_MANY),
    (give, "give R3 B6", Refusal.NONE),
    (next_leader, "lead 0", Refusal.LEAD_SELF),
    (next_leader, "lead 3", Refusal.LEAD_FINISHED),
    (next_leader, "lead 2", Refusal.NONE),
    (swap, "swap 3", Refusal.NO_SUCH_SEAT),
    (swap, seat_move(Kind.SWAP, 255), Refusal.NO_SUCH_SEAT),
    (swap, seat_move(Kind.SWAP, 0x101), Refusal.NO_SUCH_SEAT),
    (next_leader, "lead 4", Refusal.NO_SUCH_SEAT),
    (next_leader, seat_move(Kind.LEAD, 1) | int(JERSEY), Refusal.NO_SUCH_SEAT),
]


@pytest.mark.parametrize(("make", "move", "expected"), CASES)
def test_refusal(make: Callable[[], State], move: str | int, expected: Refusal) -> None:
    state = make()
    value = parse_move(move) if isinstance(move, str) else word(move)
    assert Refusal(int(refusal(state["view"], value))) is expected
    assert is_legal(state["view"], value) == (expected is Refusal.NONE)
    before = clone(state)
    if expected is Refusal.NONE:
        apply(state, value, new_stream(0))
        assert not equal(before, state)
        return
    rule, reason = REASONS[expected]
    if expected is Refusal.WRONG_PHASE:
        phase = Phase(int(state["view"]["phase"]))
        rule, reason = PHASE_RULES[phase], f"{reason}; the phase is {phase.name.lower()}"
    with pytest.raises(IllegalMoveError) as caught:
        apply(state, value, new_stream(0))
    assert caught.value.rule == rule
    assert str(caught.value).endswith(f": {reason} ({rule})" if rule else f": {reason}")
    assert equal(before, state)


def test_every_refusal_has_a_case() -> None:
    assert {expected for _, _, expected in CASES} == set(Refusal)


RULES_BROKEN = {
    "V4": {Refusal.NO_SUCH_SEAT},
    "V7": {Refusal.MIXED},
    "V8": {Refusal.TWO_HARES, Refusal.HARE_IN_COMBO},
    "V9": {Refusal.HARE_WITH_JERSEY, Refusal.JERSEY_OFF, Refusal.JERSEY_NOT_WORN, Refusal.JERSEY_USED},
    "V10": {
        Refusal.NO_CARDS,
        Refusal.NOT_IN_HAND,
        Refusal.TOO_LOW,
        Refusal.EQUAL,
        Refusal.TOO_LOW_WITH_JERSEY,
        Refusal.PASS_AT_LEAD,
    },
    "V13": {Refusal.LEAD_SELF, Refusal.LEAD_FINISHED},
    "V20": {
        Refusal.SWAP_SELF,
        Refusal.SWAP_NO_CARDS,
        Refusal.SWAP_MANDATORY,
        Refusal.GIVE_NOT_IN_HAND,
        Refusal.GIVE_TOO_FEW,
        Refusal.GIVE_TOO_MANY,
    },
    "": {Refusal.NONE, Refusal.NOT_A_MOVE, Refusal.WRONG_PHASE},
}


def test_every_refusal_names_its_rule_and_has_words() -> None:
    assert set(REASONS) == set(Refusal)
    assert {why: rule for rule, refusals in RULES_BROKEN.items() for why in refusals} == {
        why: rule for why, (rule, _) in REASONS.items()
    }
    assert all(words and "\n" not in words for _, words in REASONS.values())


def test_every_phase_names_the_rule_that_says_what_has_to_be_decided() -> None:
    assert [PHASE_RULES[phase] for phase in Phase] == ["V10", "V10", "V20", "V20", "V13", "V26", "V15", "V19"]
