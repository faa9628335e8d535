"""The rules V1-V28 and the worked examples E1-E14, one by one, on positions laid out by hand."""

from collections import Counter
from collections.abc import Sequence
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pytest

from conftest import rotated_seatings
from velonimo_sim.errors import IllegalMoveError, UsageError
from velonimo_sim.rng import new_stream
from velonimo_sim.velonimo.cards import (
    DECK,
    DECK_SIZE,
    DROMEDARIES,
    HARES,
    RIDERS,
    TEAM_NAMES,
    TEAMS,
    TORTOISES,
    card_texts,
    parse_card,
)
from velonimo_sim.velonimo.legal import MAX_PLAYS, legal_moves
from velonimo_sim.velonimo.moves import move_text, parse_move
from velonimo_sim.velonimo.record import describe_result
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.state import State, clone, new_state, validate, view_of
from velonimo_sim.velonimo.step import apply, deal, lay_out_col, place_of
from velonimo_sim.velonimo.view import NOBODY, Phase

pytestmark = pytest.mark.kernel

Decision = tuple[Phase, int]
HARE_TEXTS = ("H25", "H30", "H35", "H40", "H45", "H50")


# ---- positions ----


def lay_out(state: State, hands: Sequence[str], pile: str = "") -> State:
    """Begin the next col with these hands, written as texts, and this pile: the reward first."""
    lay_out_col(state, [hand.split() for hand in hands], pile.split())
    return state


def first_col(*hands: str, pile: str = "", starter: int = 0, **options: Any) -> State:
    """Return col 1 with these hands, that of seat 0 first."""
    return lay_out(new_state(len(hands), RuleSet(**options), starter), hands, pile)


def run_col(state: State, order: Sequence[int]) -> State:
    """Play a short col in which the seats go out in the given order, in one single attack."""
    starter, last = int(state["view"]["starter"]), len(order) - 1
    cards = {seat: f"{TEAMS[place]}{place + 4}" if place < last else "Y3" for place, seat in enumerate(order)}
    spare = "" if starter == order[0] else "P3"
    lay_out(state, [f"{cards[seat]} {spare}" if seat == starter else cards[seat] for seat in range(len(order))])
    if spare:
        do(state, spare)
    for seat in order[:-1]:
        while turn(state) != seat:
            do(state, "pass")
        do(state, cards[seat])
    return state


def run_cols(players: int, *orders: Sequence[int], **options: Any) -> State:
    """Play short cols, each with its order of going out, from the beginning of a game."""
    state = new_state(players, RuleSet(**options))
    for order in orders:
        run_col(state, order)
    return state


def second_col(*hands: str, wearer: int, starter: int, pile: str = "", **options: Any) -> State:
    """Return col 2 with these hands: one seat has won col 1 and wears the Jersey, another was last and leads."""
    others = [seat for seat in range(len(hands)) if seat not in (wearer, starter)]
    return lay_out(run_cols(len(hands), [wearer, *others, starter], **options), hands, pile)


# ---- moves ----


def do(state: State, *moves: str) -> State:
    """Make legal moves; ``swap 1 takes B4`` tells which cards the swap takes."""
    for text in moves:
        move, _, taken = text.partition(" takes ")
        apply(state, parse_move(move), taken=taken.split() if taken else None)
    return state


def legal(state: State) -> set[str]:
    """Return the texts of all legal moves."""
    out = np.empty(MAX_PLAYS, np.uint64)
    count = int(legal_moves(state["view"], out))
    assert count <= MAX_PLAYS
    texts = {move_text(move) for move in out[:count]}
    assert len(texts) == count
    return texts


def refuse(state: State, text: str, rule: str) -> None:
    """Prove that a move is refused under a rule, is not listed, and changes nothing when it is tried."""
    move, before = parse_move(text), state.tobytes()
    with pytest.raises(IllegalMoveError) as caught:
        apply(state, move, new_stream(1))
    assert caught.value.rule == rule
    assert state.tobytes() == before
    assert move_text(move) not in legal(state)


def accept(state: State, text: str) -> None:
    """Prove that a move is listed and can be made, on a copy."""
    assert move_text(parse_move(text)) in legal(state)
    do(clone(state), text)


# ---- what stands ----


def turn(state: State) -> int:
    return int(state["view"]["turn"])


def asks(state: State) -> Decision:
    """Return what has to be decided, and by which seat."""
    return Phase(int(state["view"]["phase"])), turn(state)


def beat(state: State) -> int:
    return int(state["view"]["beat"])


def words(cards: int) -> str:
    return " ".join(card_texts(cards))


def hand(state: State, seat: int) -> str:
    return words(state["hands"][seat])


def known(state: State, viewer: int, holder: int) -> str:
    return words(view_of(state, viewer)["known"][holder])


def pile(state: State) -> str:
    """Return the pile in the order of drawing."""
    positions = reversed(state["pile"][: state["view"]["pile_size"]])
    return " ".join(words(1 << int(position)) for position in positions)


def reward(state: State) -> str:
    return words(state["view"]["reward"])


def by_seat(state: State, field: str) -> list[int]:
    """Return a field of the view that has a place for every seat."""
    values: list[int] = state["view"][field][: state["view"]["players"]].tolist()
    return values


def points(state: State) -> list[int]:
    return by_seat(state, "points")


def totals(state: State) -> list[int]:
    return by_seat(state, "totals")


def wearer(state: State) -> int:
    return int(state["view"]["wearer"])


def starter_of(state: State) -> int:
    return int(state["view"]["starter"])


def ranking(state: State) -> list[int]:
    """Return the seats from first to last place; every place is taken once."""
    places = {int(place_of(state["view"], seat)): seat for seat in range(int(state["view"]["players"]))}
    assert sorted(places) == list(range(1, int(state["view"]["players"]) + 1))
    return [places[place] for place in sorted(places)]


def led_value(cards: str) -> int:
    """Return the value of a play, led from a hand that holds one card more."""
    others = [text for text in card_texts(DECK) if text not in cards.split()]
    return beat(do(first_col(f"{cards} {others[0]}", others[1], others[2]), cards))


# ---- V1-V3: cards ----


def test_v1_the_deck_has_49_riders_and_6_hares() -> None:
    riders = {team + number for team in "BNAGPRY" for number in "1234567"}
    assert len(riders) == 49
    assert set(card_texts(RIDERS)) == riders
    assert set(card_texts(HARES)) == set(HARE_TEXTS)
    assert set(card_texts(DECK)) == riders | set(HARE_TEXTS)
    assert DECK_SIZE == 55


def test_v1_the_jersey_is_no_card() -> None:
    for text in ("J", "jersey", "+jersey"):
        with pytest.raises(ValueError, match="unknown card"):
            parse_card(text)
        with pytest.raises(UsageError, match="unknown card"):
            first_col(f"R2 {text}", "B2")


def test_v1_every_card_exists_once() -> None:
    with pytest.raises(UsageError, match="R2 is named twice"):
        first_col("R2 R3", "B2 R2")
    with pytest.raises(UsageError, match="R2 is named twice"):
        first_col("R2 R3", "B2", pile="B3 R2")


def test_v2_letters_stand_for_teams() -> None:
    assert dict(zip(TEAMS, TEAM_NAMES, strict=True)) == {
        "B": "blue",
        "N": "brown",
        "A": "gray",
        "G": "green",
        "P": "pink",
        "R": "red",
        "Y": "yellow",
    }


def test_v2_every_card_reads_back_as_it_is_written() -> None:
    texts = card_texts(DECK)
    assert [words(parse_card(text)) for text in texts] == texts


@pytest.mark.parametrize("text", ["R0", "R8", "H20", "H55", "H2", "X3", "r7", "7R", "R", "77"])
def test_v2_nothing_else_is_a_card(text: str) -> None:
    with pytest.raises(ValueError, match="unknown card"):
        parse_card(text)


def test_v3_tortoises_are_the_ones_and_dromedaries_the_twos() -> None:
    assert set(card_texts(TORTOISES)) == {f"{team}1" for team in TEAMS}
    assert set(card_texts(DROMEDARIES)) == {f"{team}2" for team in TEAMS}


@pytest.mark.parametrize("card", ["G1", "G2", "G3", "G4", "G5", "G6", "G7", *HARE_TEXTS])
def test_v3_no_other_number_has_a_power(card: str) -> None:
    state = do(first_col(f"{card} P6", "B5 B6", pile="Y7 Y6 Y5"), card)
    assert asks(state) == ((Phase.SWAP, 0) if card == "G1" else (Phase.FOLLOW, 1))
    assert pile(state) == ("Y5" if card == "G2" else "Y6 Y5")


# ---- V4-V5: setup of a col ----


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_v4_eleven_cards_each(players: int) -> None:
    state = new_state(players)
    deal(state, 5)
    hands = [set(hand(state, seat).split()) for seat in range(players)]
    assert [len(cards) for cards in hands] == [11] * players
    assert len(set.union(*hands)) == 11 * players
    assert by_seat(state, "sizes") == [11] * players
    assert not state["hands"][players:].any()


@pytest.mark.parametrize("players", [3, 4, 5])
def test_v4_the_rest_is_out_of_the_col(players: int) -> None:
    state = new_state(players)
    deal(state, 5)
    assert (pile(state), reward(state)) == ("", "")
    assert state["view"]["played"] == 0
    with pytest.raises(UsageError, match="only the duel has a pile"):
        first_col(*["R3", "B3", "G3", "P3", "Y3"][:players], pile="H25")


def test_v4_every_card_may_come_to_every_seat() -> None:
    holders: dict[str, Counter[int]] = {text: Counter() for text in card_texts(DECK)}
    for seed in range(300):
        state = new_state(5)
        deal(state, seed)
        for seat in range(5):
            for text in card_texts(state["hands"][seat]):
                holders[text][seat] += 1
    for text, seats in holders.items():
        assert sum(seats.values()) == 300, text
        assert set(seats) == set(range(5)), text
        assert max(seats.values()) < 95, text  # 60 are expected


def test_v4_every_card_may_come_to_every_place_of_the_pile() -> None:
    cards: list[set[str]] = [set() for _ in range(33)]
    for seed in range(700):
        state = new_state(2)
        deal(state, seed)
        for place, text in enumerate([reward(state), *pile(state).split()]):
            cards[place].add(text)
    assert [len(seen) for seen in cards] == [55] * 33


def test_v4_every_col_is_shuffled_anew() -> None:
    state = new_state(3, RuleSet(hand_size=1, tortoise_swap="off"))
    dealt = []
    for _ in range(5):
        deal(state, 2)
        dealt.append(tuple(hand(state, seat) for seat in range(3)))
        while state["view"]["phase"] < Phase.COL_OVER:
            do(state, sorted(legal(state))[0])
    assert len(set(dealt)) == 5


@pytest.mark.parametrize("exchanged", [("B1", "B5"), ("H50", "Y2"), ("Y7", "B1")])
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_v4_exchanged_cards_lie_in_each_others_place_and_all_others_in_their_own(
    players: int, exchanged: tuple[str, str]
) -> None:
    first, second = exchanged
    other = {first: second, second: first}
    moved = 0
    for seed in range(40):
        usual, changed = new_state(players), new_state(players, RuleSet(exchanged_cards=exchanged))
        deal(usual, seed)
        deal(changed, seed)
        for seat in range(players):
            cards = hand(usual, seat).split()
            assert set(hand(changed, seat).split()) == {other.get(card, card) for card in cards}
            moved += len(set(cards) & set(exchanged)) == 1
        left = [reward(usual), *pile(usual).split()]
        assert [reward(changed), *pile(changed).split()] == [other.get(card, card) for card in left]
    assert moved > 0


@pytest.mark.parametrize(("players", "most"), [(2, 27), (3, 18), (4, 13), (5, 11)])
def test_v4_hand_size_is_what_the_deck_allows(players: int, most: int) -> None:
    for size in (1, most):
        state = new_state(players, RuleSet(hand_size=size))
        deal(state, 3)
        assert by_seat(state, "sizes") == [size] * players
        assert state["view"]["pile_size"] == (55 - 2 * size - 1 if players == 2 else 0)
    for size in (0, most + 1):
        with pytest.raises(UsageError, match="hand_size"):
            new_state(players, RuleSet(hand_size=size))


@pytest.mark.parametrize("players", [1, 6])
def test_v4_two_to_five_players(players: int) -> None:
    with pytest.raises(UsageError, match=f"players {players}: allowed is 2-5"):
        new_state(players)


@pytest.mark.parametrize("starter", [0, 1, 2])
def test_v5_a_given_seat_starts_col_1(starter: int) -> None:
    state = new_state(3, starter=starter)
    deal(state, 1)
    assert asks(state) == (Phase.LEAD, starter)
    assert starter_of(state) == starter


def test_v5_seat_0_starts_col_1_by_default() -> None:
    state = new_state(3)
    deal(state, 1)
    assert asks(state) == (Phase.LEAD, 0)


@pytest.mark.parametrize("starter", [-1, 3])
def test_v5_the_starter_sits_at_the_table(starter: int) -> None:
    with pytest.raises(UsageError, match=f"starter {starter}: allowed is 0-2"):
        new_state(3, starter=starter)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_v5_in_a_run_every_bot_starts_equally_often(players: int) -> None:
    in_seat_0 = rotated_seatings(players)[:, 0].tolist()
    assert sorted(in_seat_0) == list(range(players))


def test_v5_the_lowest_total_starts_a_later_col() -> None:
    state = run_cols(3, [2, 0, 1])
    assert totals(state) == [1, 0, 2]
    assert starter_of(state) == 1
    assert asks(lay_out(state, ["R3 R4", "B3 B4", "G3 G4"])) == (Phase.LEAD, 1)


def test_v5_the_lowest_total_counts_not_the_last_place() -> None:
    state = run_cols(3, [0, 1, 2], [1, 2, 0], col_values=(1, 1, 1))
    assert totals(state) == [2, 3, 1]
    assert starter_of(state) == 2


@pytest.mark.parametrize(("starter_tie", "starter"), [("least_points", 1), ("table_order", 0)])
def test_v5_a_tie_for_the_start(starter_tie: str, starter: int) -> None:
    state = run_cols(4, [2, 1, 3, 0], [2, 0, 3, 1], col_values=(1, 1, 1), starter_tie=starter_tie)
    assert totals(state) == [2, 2, 6, 2]
    assert points(state) == [2, 0, 3, 1]
    assert starter_of(state) == starter
    assert asks(lay_out(state, ["R3", "B3", "G3", "P3"])) == (Phase.LEAD, starter)


@pytest.mark.parametrize(("starter_tie", "starter"), [("least_points", 3), ("table_order", 1)])
def test_v5_a_tie_for_the_start_among_later_seats(starter_tie: str, starter: int) -> None:
    state = run_cols(4, [0, 3, 1, 2], [0, 2, 1, 3], col_values=(1, 1, 1), starter_tie=starter_tie)
    assert totals(state) == [6, 2, 2, 2]
    assert points(state) == [3, 1, 2, 0]
    assert starter_of(state) == starter


@pytest.mark.parametrize("starter_tie", ["least_points", "table_order"])
def test_v5_the_option_is_about_ties_only(starter_tie: str) -> None:
    state = run_cols(4, [0, 3, 2, 1], [2, 1, 3, 0], col_values=(1, 1, 1), starter_tie=starter_tie)
    assert totals(state) == [3, 2, 4, 3]
    assert points(state) == [0, 2, 3, 1]
    assert starter_of(state) == 1


def test_v5_the_presets_say_how_a_tie_is_broken() -> None:
    assert RuleSet.official() == RuleSet()
    assert RuleSet.official().starter_tie == "least_points"
    assert RuleSet.bga() == RuleSet(starter_tie="table_order", jersey_tie="col_winner")


# ---- V6-V9: a play ----


@pytest.mark.parametrize("number", range(1, 8))
def test_v6_a_single_rider_is_worth_its_number(number: int) -> None:
    assert {led_value(f"{team}{number}") for team in TEAMS} == {number}


@pytest.mark.parametrize("text", HARE_TEXTS)
def test_v6_a_hare_is_worth_its_number(text: str) -> None:
    assert led_value(text) == int(text[1:])


@pytest.mark.parametrize("team", TEAMS)
def test_v7_every_combination_of_one_colour(team: str) -> None:
    for size in range(2, 8):
        for numbers in combinations(range(1, 8), size):
            cards = " ".join(f"{team}{number}" for number in numbers)
            state = do(first_col(f"{cards} H25", "H30 H35", "H40 H45"), cards)
            assert beat(state) == 10 * size + numbers[0]
            assert hand(state, 0) == "H25"


@pytest.mark.parametrize("number", range(1, 8))
def test_v7_every_combination_of_one_number(number: int) -> None:
    for size in range(2, 8):
        for teams in combinations(TEAMS, size):
            cards = " ".join(f"{team}{number}" for team in teams)
            state = do(first_col(f"{cards} H25", "H30 H35", "H40 H45"), cards)
            assert beat(state) == 10 * size + number
            assert hand(state, 0) == "H25"


def test_v7_a_lone_7_is_worth_7() -> None:
    assert led_value("R7") == 7


@pytest.mark.parametrize("cards", ["R2 B3", "R2 R3 B4", "R2 R3 B2", "R2 B2 G3", "R1 B2 G3"])
def test_v7_riders_that_share_nothing_are_no_combination(cards: str) -> None:
    refuse(first_col("R1 R2 R3 B2 B3 B4 G3 Y7", "H50", "H45"), cards, "V7")


def test_v7_the_plays_of_a_hand_are_its_singles_and_combinations() -> None:
    state = first_col("R2 R3 R7 B3 G3 H25", "H50", "H45")
    assert legal(state) == {
        *("R2", "R3", "R7", "B3", "G3", "H25"),
        *("R2 R3", "R2 R7", "R3 R7", "R2 R3 R7"),
        *("B3 G3", "B3 R3", "G3 R3", "B3 G3 R3"),
    }


@pytest.mark.parametrize("cards", ["H25 R5", "H25 H30", "H25 R5 R6", "H25 H30 H35"])
def test_v8_hares_are_always_alone(cards: str) -> None:
    state = first_col("H25 H30 H35 R5 R6", "B5", "G5")
    refuse(state, cards, "V8")
    accept(state, "H25")


def jersey_state(**options: Any) -> State:
    """Return col 2 in which seat 1 wears the Jersey and follows on a single 5 of seat 0."""
    state = second_col("R5 B3", "N4 N6 G6 Y7 H25 H40", "P6 P7 A2", wearer=1, starter=0, **options)
    return do(state, "R5")


def test_v9_the_bonus_goes_to_a_single_rider() -> None:
    state = do(jersey_state(), "N4 +jersey")
    assert beat(state) == 14
    assert hand(state, 1) == "G6 H25 H40 N6 Y7"
    refuse(state, "P7", "V10")


def test_v9_the_bonus_goes_to_a_combination_and_adds_no_card() -> None:
    state = do(jersey_state(), "G6 N6 +jersey")
    assert beat(state) == 36
    assert words(state["view"]["played"]) == "G6 N6 R5"
    assert by_seat(state, "sizes") == [1, 4, 3]


def test_v9_the_bonus_may_be_left_out() -> None:
    state = jersey_state()
    assert legal(state) == {
        *("N6", "G6", "Y7", "G6 N6", "N4 N6", "H25", "H40", "pass"),
        *("N4 +jersey", "N6 +jersey", "G6 +jersey", "Y7 +jersey", "G6 N6 +jersey", "N4 N6 +jersey"),
    }
    assert beat(do(state, "N6")) == 6
    assert state["view"]["jersey_spent"] == 0


def test_v9_the_bonus_is_used_up_by_one_play_of_the_col() -> None:
    state = do(jersey_state(), "N4 +jersey", "pass", "pass")
    assert asks(state) == (Phase.LEAD, 1)
    assert state["view"]["jersey_spent"] == 1
    refuse(state, "N6 +jersey", "V9")
    refuse(state, "G6 N6 +jersey", "V9")
    accept(state, "N6")


@pytest.mark.parametrize("cards", ["H25", "H40"])
def test_v9_never_with_a_hare(cards: str) -> None:
    refuse(jersey_state(), f"{cards} +jersey", "V9")


def test_v9_only_for_the_wearer() -> None:
    state = do(jersey_state(), "pass")
    assert asks(state) == (Phase.FOLLOW, 2)
    refuse(state, "P7 +jersey", "V9")
    accept(state, "P7")


def test_v9_nobody_adds_it_in_col_1() -> None:
    refuse(first_col("R5 B3", "N4", "P7"), "R5 +jersey", "V9")


def test_v9_it_makes_no_combination_of_riders_that_share_nothing() -> None:
    refuse(jersey_state(), "N4 Y7 +jersey", "V7")


@pytest.mark.parametrize("text", ["+jersey", "give +jersey", "give R2 +jersey", "R2 +jersey R3"])
def test_v9_it_is_no_card_to_play_or_give(text: str) -> None:
    with pytest.raises(IllegalMoveError):
        parse_move(text)


def test_v9_it_does_not_count_for_going_out() -> None:
    state = second_col("R5 B3", "N6", "P6 P7", wearer=1, starter=0)
    do(state, "R5", "N6")
    assert state["view"]["jersey_spent"] == 0
    assert by_seat(state, "out_order") == [0, 1, 0]
    assert points(state) == [0, 4, 0]


def test_v9_the_last_card_may_carry_it() -> None:
    state = do(second_col("R5 B3", "N6", "P6 P7", wearer=1, starter=0), "R5", "N6 +jersey")
    assert beat(state) == 16
    assert points(state) == [0, 4, 0]


def test_v9_the_bonus_must_make_the_play_higher() -> None:
    state = second_col("N1 N2 N3 B5", "R1 B1 G4 P4 H35", "P6 P7", wearer=1, starter=0, tortoise_swap="off")
    do(state, "N1 N2 N3")
    refuse(state, "B1 R1 +jersey", "V10")  # 31 against 31
    refuse(state, "G4 +jersey", "V10")
    assert legal(state) == {"G4 P4 +jersey", "H35", "pass"}


def test_v9_an_attack_may_be_led_with_it() -> None:
    state = second_col("R5 R6", "N1 N6 G6", "P6 P7", wearer=1, starter=0)
    do(state, "R5", "N6", "pass", "pass")
    assert asks(state) == (Phase.LEAD, 1)
    assert legal(state) == {"N1", "G6", "N1 +jersey", "G6 +jersey"}
    assert beat(do(state, "G6 +jersey")) == 16


def test_v9_tortoise_with_jersey_has_bonus_and_swap() -> None:
    state = second_col("R7 B3", "N1 N6", "P6 P7", wearer=1, starter=0)
    do(state, "R7", "N1 +jersey")
    assert beat(state) == 11
    assert asks(state) == (Phase.SWAP, 1)


def test_v9_no_bonus_in_the_duel() -> None:
    state = second_col("R5 B3", "N6 N7 A5", wearer=1, starter=0)
    do(state, "R5")
    assert wearer(state) == 1
    refuse(state, "N6 +jersey", "V9")


@pytest.mark.parametrize("bonus", [5, 20])
def test_v9_a_bonus_in_the_duel_by_option(bonus: int) -> None:
    state = second_col("N1 N2 B3", "R6 R7 A5", wearer=1, starter=0, jersey_bonus=bonus, tortoise_swap="off")
    do(state, "N1 N2")  # 21
    if bonus == 5:
        refuse(state, "R6 +jersey", "V10")
    assert beat(do(state, "R6 R7 +jersey")) == 26 + bonus
    assert state["view"]["jersey_spent"] == 1


@pytest.mark.parametrize("bonus", [1, 5, 20, 100])
def test_v9_another_bonus_by_option(bonus: int) -> None:
    assert beat(do(jersey_state(jersey_bonus=bonus), "Y7 +jersey")) == 7 + bonus
    assert beat(do(jersey_state(jersey_bonus=bonus), "G6 N6 +jersey")) == 26 + bonus


@pytest.mark.parametrize(("bonus", "allowed"), [(1, False), (2, True)])
def test_v9_the_bonus_of_the_option_decides_what_is_legal(bonus: int, allowed: bool) -> None:
    assert ("N4 +jersey" in legal(jersey_state(jersey_bonus=bonus))) is allowed
    if not allowed:
        refuse(jersey_state(jersey_bonus=bonus), "N4 +jersey", "V10")


def test_v9_without_a_bonus_it_cannot_be_added() -> None:
    state = jersey_state(jersey_bonus=0)
    assert wearer(state) == 1
    for text in ("N4 +jersey", "Y7 +jersey", "G6 N6 +jersey"):
        refuse(state, text, "V9")


def test_v9_the_bonus_is_10_and_0_in_the_duel() -> None:
    assert [RuleSet().bonus(players) for players in (2, 3, 4, 5)] == [0, 10, 10, 10]
    assert [RuleSet(jersey_bonus=7).bonus(players) for players in (2, 3, 4, 5)] == [7] * 4
    with pytest.raises(UsageError, match="jersey_bonus"):
        RuleSet(jersey_bonus=-1)


# ---- V10-V13: an attack ----


def test_v10_leader_must_play() -> None:
    state = first_col("R5 B3", "N6", "P6")
    refuse(state, "pass", "V10")
    assert legal(state) == {"R5", "B3"}


def test_v10_every_later_leader_must_play() -> None:
    state = do(first_col("R3 B3", "N6 N5", "P5 P7"), "R3", "N6", "pass", "pass")
    assert asks(state) == (Phase.LEAD, 1)
    refuse(state, "pass", "V10")


def test_v10_the_others_follow_clockwise() -> None:
    state = first_col("R2 R7", "N3 N4", "P4 P5", "Y5 Y6", starter=2)
    turns = []
    for move in ("P4", "Y5", "pass", "pass", "pass"):
        turns.append(asks(state))
        do(state, move)
    assert turns == [(Phase.LEAD, 2), (Phase.FOLLOW, 3), (Phase.FOLLOW, 0), (Phase.FOLLOW, 1), (Phase.FOLLOW, 2)]
    assert asks(state) == (Phase.LEAD, 3)


def test_v10_who_is_out_is_left_out() -> None:
    state = do(first_col("R3 R5 R6", "N4", "P5 P7"), "R3", "N4", "pass", "R5")
    assert asks(state) == (Phase.FOLLOW, 2)
    do(state, "pass")
    assert asks(state) == (Phase.LEAD, 0)


def test_v10_pass_or_play_something_higher() -> None:
    state = do(first_col("R5 B3", "N4 N5 N6 H25", "P6"), "R5")
    assert legal(state) == {"N6", "N4 N5", "N4 N6", "N5 N6", "N4 N5 N6", "H25", "pass"}
    refuse(state, "N4", "V10")


@pytest.mark.parametrize(
    ("standing", "equal"),
    [
        *[("R5", "N5"), ("R5 B5", "N5 G5"), ("R3 R6", "N3 N7"), ("R1 R2 R5", "N1 N6 N7")],
        *[("R5 B5", "H25"), ("R5 R6 R7", "H35"), ("H25", "N5 N6"), ("H35", "N5 N6 N7"), ("H35", "N5 G5 P5")],
    ],
)
def test_v10_equal_is_not_higher(standing: str, equal: str) -> None:
    state = first_col(f"{standing} Y6", f"{equal} Y7 H45", "P6", tortoise_swap="off")
    do(state, standing)
    refuse(state, equal, "V10")
    accept(state, "H45")


def test_v10_a_hare_is_beaten_by_a_higher_value_only() -> None:
    state = do(first_col("H30 Y6", "N1 N2 N3 N4 H25", "P6"), "H30")
    refuse(state, "H25", "V10")
    refuse(state, "N3 N4", "V10")
    assert legal(state) == {"N1 N2 N3", "N1 N2 N4", "N1 N3 N4", "N2 N3 N4", "N1 N2 N3 N4", "pass"}


def test_v10_only_cards_of_the_hand() -> None:
    state = first_col("R5 B3", "N6", "P6")
    refuse(state, "N6", "V10")
    refuse(state, "R5 R6", "V10")
    refuse(state, "Y1", "V10")


def test_v10_a_play_is_at_least_one_card() -> None:
    state = first_col("R5 B3", "N6", "P6")
    before = state.tobytes()
    with pytest.raises(IllegalMoveError) as caught:
        apply(state, 0)
    assert caught.value.rule == "V10"
    assert state.tobytes() == before


@pytest.mark.parametrize("text", ["swap 1", "decline", "give R5", "lead 1", "keep", "force"])
def test_v10_nothing_but_a_play_or_pass(text: str) -> None:
    state = first_col("R5 B3 R7", "N6 N7", "P6")
    refuse(state, text, "V10")
    refuse(do(state, "R5"), text, "V10")


def test_v11_passing_binds_nobody() -> None:
    state = do(first_col("R3 B6", "N4 N7", "P5 P2"), "R3", "pass", "P5", "pass")
    assert asks(state) == (Phase.FOLLOW, 1)
    assert legal(state) == {"N7", "N4 N7", "pass"}
    do(state, "N7", "pass")
    assert asks(state) == (Phase.FOLLOW, 0)
    assert hand(state, 1) == "N4"


def test_v11_one_may_pass_while_able_to_play() -> None:
    state = do(first_col("R3 B6", "H25 H50", "P5 P2"), "R3")
    assert legal(state) == {"H25", "H50", "pass"}
    assert asks(do(state, "pass")) == (Phase.FOLLOW, 2)


def test_v12_the_attack_ends_when_all_others_have_passed() -> None:
    state = do(first_col("R3 R4", "N3 N4", "P5 P6"), "R3", "pass")
    assert asks(state) == (Phase.FOLLOW, 2)
    do(state, "pass")
    assert asks(state) == (Phase.LEAD, 0)


def test_v12_a_play_starts_the_count_of_passes_anew() -> None:
    state = do(first_col("R3 R6", "N3 N4", "P3 P5", "Y3 Y4"), "R3", "pass", "P5", "pass", "R6", "pass")
    assert asks(state) == (Phase.FOLLOW, 2)
    do(state, "pass")
    assert asks(state) == (Phase.FOLLOW, 3)
    do(state, "pass")
    assert state["view"]["racing"] == 3
    assert asks(state) == (Phase.NEXT_LEADER, 0)  # he went out over the 5


def test_v12_the_author_discards_the_centre_and_leads() -> None:
    state = do(first_col("R3 R6", "N5 N4", "P3 P2"), "R3", "N5")
    assert (beat(state), state["view"]["author"]) == (5, 1)
    do(state, "pass", "pass")
    assert asks(state) == (Phase.LEAD, 1)
    assert (beat(state), state["view"]["author"]) == (0, NOBODY)
    assert by_seat(state, "passed_on") == [0, 0, 0]
    assert words(state["view"]["played"]) == "N5 R3"
    assert hand(state, 1) == "N4"
    accept(state, "N4")


def test_v12_only_players_still_racing_count() -> None:
    state = do(first_col("R3 R6", "N4", "P5 P7"), "R3", "N4", "P5", "pass")
    assert asks(state) == (Phase.LEAD, 2)


def test_v13_the_author_who_went_out_names_the_leader() -> None:
    state = do(first_col("R3 R6", "N4", "P5 P7", "Y2 Y3"), "R3", "N4", "pass", "pass", "pass")
    assert asks(state) == (Phase.NEXT_LEADER, 1)
    assert legal(state) == {"lead 0", "lead 2", "lead 3"}
    do(state, "lead 3")
    assert asks(state) == (Phase.LEAD, 3)
    assert beat(state) == 0
    refuse(state, "pass", "V10")


def test_v13_only_a_player_still_racing_can_be_named() -> None:
    state = do(first_col("R3", "N4", "P5 P7", "Y2 Y3"), "R3", "N4", "pass", "pass")
    assert asks(state) == (Phase.NEXT_LEADER, 1)
    refuse(state, "lead 0", "V13")
    refuse(state, "lead 1", "V13")
    refuse(state, "lead 4", "V4")  # no such seat
    refuse(state, "pass", "V13")
    assert legal(state) == {"lead 2", "lead 3"}


def test_v13_whose_last_play_was_beaten_names_nobody() -> None:
    state = do(first_col("R3", "N4 N5", "P3 P7"), "R3", "N4", "pass")
    assert asks(state) == (Phase.LEAD, 1)


# ---- V14-V17: going out and scoring ----


def test_v14_the_last_card_scores_at_once() -> None:
    state = do(first_col("R3", "N4 N5", "P3 P7", "Y3 Y4"), "R3")
    assert points(state) == [3, 0, 0, 0]
    assert by_seat(state, "out_order") == [1, 0, 0, 0]
    assert state["view"]["racing"] == 3
    assert totals(state) == [0, 0, 0, 0]


def test_v14_col_value_times_opponents_still_racing() -> None:
    state = do(first_col("R3", "N4", "P5", "Y6 Y3", "B6 B7", col_values=(7,)), "R3", "N4", "P5")
    assert points(state) == [28, 21, 14, 0, 0]


def test_v14_the_attack_goes_on_over_his_play() -> None:
    state = do(first_col("R5", "N4 N6", "P3 P7"), "R5")
    assert asks(state) == (Phase.FOLLOW, 1)
    assert (beat(state), state["view"]["author"]) == (5, 0)
    refuse(state, "N4", "V10")
    accept(state, "N6")


def test_v14_a_combination_can_be_the_last_cards() -> None:
    state = do(first_col("R5 R6 R7", "N4 N6", "P3 P7"), "R5 R6 R7")
    assert points(state) == [2, 0, 0]


def test_v14_he_is_out_for_the_rest_of_the_col() -> None:
    state = first_col("R3", "N4 N6 N1", "P3 P5 P7")
    turns = []
    for move in ("R3", "N4", "P5", "N6", "pass", "N1"):
        do(state, move)
        turns.append(turn(state))
    assert turns == [1, 2, 1, 2, 1, NOBODY]
    assert points(state) == [2, 1, 0]


def test_v15_the_col_ends_when_one_player_is_left() -> None:
    state = do(first_col("R3", "N4", "P5 H50"), "R3", "N4")
    assert asks(state) == (Phase.COL_OVER, NOBODY)
    assert points(state) == [2, 1, 0]
    assert totals(state) == [2, 1, 0]
    assert by_seat(state, "out_order") == [1, 2, 3]
    assert hand(state, 2) == "H50 P5"
    assert legal(state) == set()
    for text in ("P5", "pass", "lead 2"):
        refuse(state, text, "V15")


def test_v15_no_swap_follows_the_end() -> None:
    state = do(first_col("R3", "N1 B1", "P5 P7"), "R3", "B1 N1")
    assert asks(state) == (Phase.COL_OVER, NOBODY)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_v16_what_a_col_pays(players: int) -> None:
    state = new_state(players, RuleSet(duel_target=None))
    for col in range(1, 6):
        order = [(seat + col) % players for seat in range(players)]
        run_col(state, order)
        assert [points(state)[seat] for seat in order] == [col * left for left in range(players - 1, -1, -1)]
        assert len(set(points(state))) == players


def test_v16_the_last_col_breaks_every_tie() -> None:
    for orders in product(permutations(range(3)), repeat=2):
        state = run_cols(3, *orders, col_values=(1, 1))
        expected = sorted(range(3), key=lambda seat: (totals(state)[seat], points(state)[seat]), reverse=True)
        assert ranking(state) == expected


def test_v17_cols_pay_1_to_5() -> None:
    assert RuleSet().col_values == (1, 2, 3, 4, 5)
    state = new_state(3)
    paid = []
    for col in range(1, 6):
        run_col(state, [0, 1, 2])
        assert state["view"]["col"] == col
        paid.append(points(state)[1])
    assert paid == [1, 2, 3, 4, 5]
    assert totals(state) == [30, 15, 0]
    assert state["view"]["phase"] == Phase.GAME_OVER


@pytest.mark.parametrize("values", [(4,), (3, 1), (1, 1, 1, 1, 1, 1, 1), (9, 1_000_000, 2), tuple(range(10, 0, -1))])
def test_v17_number_and_values_of_the_cols_are_options(values: tuple[int, ...]) -> None:
    state = new_state(3, RuleSet(col_values=values))
    for number, value in enumerate(values, 1):
        assert state["view"]["phase"] == Phase.COL_OVER
        run_col(state, [2, 1, 0])
        assert points(state) == [0, value, 2 * value]
        assert totals(state) == [0, sum(values[:number]), 2 * sum(values[:number])]
    assert state["view"]["phase"] == Phase.GAME_OVER


@pytest.mark.parametrize("values", [(), (0,), (1, -2), (1,) * 11, (1, 2.5), (1_000_001,), "12"])
def test_v17_impossible_values_are_refused(values: Any) -> None:
    with pytest.raises(UsageError, match="col_values"):
        RuleSet(col_values=values)


# ---- V18-V19: Jersey and end of game ----


def test_v18_nobody_wears_the_jersey_in_col_1() -> None:
    assert wearer(first_col("R3", "B3", "G3")) == NOBODY


def test_v18_it_goes_to_the_highest_total_after_each_col() -> None:
    state = run_cols(3, [2, 0, 1])
    assert wearer(state) == 2
    run_col(state, [0, 1, 2])
    assert totals(state) == [5, 2, 2]
    assert wearer(state) == 0
    assert wearer(lay_out(state, ["R3", "B3", "G3"])) == 0


def test_v18_the_highest_total_counts_not_the_first_place() -> None:
    state = run_cols(4, [0, 1, 2, 3], [3, 0, 1, 2], col_values=(1, 1, 1))
    assert totals(state) == [5, 3, 1, 3]
    assert wearer(state) == 0


@pytest.mark.parametrize(("jersey_tie", "expected"), [("most_points", 1), ("col_winner", NOBODY)])
def test_v18_a_tie_without_the_winner_of_the_col(jersey_tie: str, expected: int) -> None:
    state = run_cols(4, [0, 1, 2, 3], [3, 1, 0, 2], col_values=(1, 1, 1), jersey_tie=jersey_tie)
    assert totals(state) == [4, 4, 1, 3]
    assert points(state) == [1, 2, 0, 3]
    assert wearer(state) == expected


@pytest.mark.parametrize("jersey_tie", ["most_points", "col_winner"])
def test_v18_a_tie_with_the_winner_of_the_col(jersey_tie: str) -> None:
    state = run_cols(4, [0, 1, 2, 3], [3, 2, 1, 0], col_values=(1, 1, 1), jersey_tie=jersey_tie)
    assert totals(state) == [3, 3, 3, 3]
    assert wearer(state) == 3


@pytest.mark.parametrize("jersey_tie", ["most_points", "col_winner"])
def test_v18_the_option_is_about_ties_only(jersey_tie: str) -> None:
    state = run_cols(4, [0, 1, 2, 3], [3, 0, 1, 2], col_values=(1, 1, 1), jersey_tie=jersey_tie)
    assert totals(state) == [5, 3, 1, 3]
    assert wearer(state) == 0


def test_v18_a_spent_jersey_may_go_to_nobody() -> None:
    state = run_cols(4, [0, 1, 2, 3], col_values=(1, 1, 1), jersey_tie="col_winner")
    lay_out(state, ["B5 B6", "H25", "G5", "P4"])
    do(state, "P4", "B5 +jersey", "H25", "pass", "pass", "lead 0", "B6")
    assert totals(state) == [4, 4, 1, 3]
    assert asks(state) == (Phase.COL_OVER, NOBODY)
    assert (wearer(state), state["view"]["jersey_spent"]) == (NOBODY, 1)
    assert validate(state) == []


def test_v18_when_nobody_wears_it_nobody_adds_it() -> None:
    state = run_cols(4, [0, 1, 2, 3], [3, 1, 0, 2], col_values=(1, 1, 1), jersey_tie="col_winner")
    lay_out(state, ["R3 R7", "B4 B7", "G5 G6", "P6 P7"])
    assert asks(state) == (Phase.LEAD, 2)
    for cards in ("G5", "P6", "R7", "B7"):
        refuse(state, f"{cards} +jersey", "V9")
        do(state, cards if cards in ("G5", "P6") else "pass")


def test_v18_it_is_usable_again_in_the_next_col() -> None:
    state = second_col("R5", "N4", "P6 P7", wearer=1, starter=0)
    do(state, "R5", "N4 +jersey")
    assert state["view"]["jersey_spent"] == 1
    assert (totals(state), wearer(state)) == ([4, 4, 1], 0)
    lay_out(state, ["R5 R6", "N4 N5", "P2 P7"])
    assert state["view"]["jersey_spent"] == 0
    assert asks(state) == (Phase.LEAD, 2)
    do(state, "P2", "R5 +jersey")
    assert beat(state) == 15


def test_v19_the_wearer_wins_after_the_last_col() -> None:
    state = run_cols(3, [2, 0, 1], [0, 1, 2], [1, 2, 0], [1, 0, 2])
    assert asks(state) == (Phase.COL_OVER, NOBODY)
    assert describe_result(state)["winner"] is None
    run_col(state, [1, 2, 0])
    assert totals(state) == [9, 26, 10]
    assert asks(state) == (Phase.GAME_OVER, NOBODY)
    assert wearer(state) == 1
    assert describe_result(state) == {"winner": 1, "final_tie": None}
    assert ranking(state) == [1, 2, 0]


def test_v19_ties_are_broken_by_the_last_col() -> None:
    state = run_cols(4, [0, 1, 2, 3], [3, 1, 0, 2], col_values=(1, 1))
    assert totals(state) == [4, 4, 1, 3]
    assert ranking(state) == [1, 0, 3, 2]
    assert wearer(state) == 1
    assert describe_result(state) == {"winner": 1, "final_tie": [0, 1]}


def test_v19_a_tie_has_a_winner_even_when_nobody_takes_the_jersey() -> None:
    state = run_cols(4, [0, 1, 2, 3], [3, 1, 0, 2], col_values=(1, 1), jersey_tie="col_winner")
    assert wearer(state) == NOBODY
    assert describe_result(state)["winner"] == 1


def test_v19_nothing_follows_the_end() -> None:
    state = run_cols(3, [0, 1, 2], col_values=(3,))
    assert legal(state) == set()
    with pytest.raises(UsageError, match="a col is being played"):
        lay_out(state, ["R3", "B3", "G3"])
    with pytest.raises(UsageError, match="a col is being played"):
        deal(state, 1)


# ---- V20-V22: Tortoise swap ----


@pytest.mark.parametrize("count", range(1, 7))
def test_v20_as_many_cards_as_tortoises(count: int) -> None:
    tortoises = " ".join(f"{team}1" for team in sorted("BNAGPR"[:count]))
    state = do(first_col(f"{tortoises} R7", "B2 B3 B4 B5 B6 B7 Y7", "G3"), tortoises)
    assert asks(state) == (Phase.SWAP, 0)
    assert state["view"]["swap_count"] == count
    taken = " ".join(["B2", "B3", "B4", "B5", "B6", "B7"][:count])
    do(state, f"swap 1 takes {taken}")
    assert asks(state) == (Phase.GIVE, 0)
    assert state["view"]["swap_count"] == count
    assert hand(state, 0) == f"{taken} R7"
    assert by_seat(state, "sizes") == [count + 1, 7 - count, 1]
    do(state, f"give {taken}")
    assert by_seat(state, "sizes") == [1, 7, 1]
    assert (state["view"]["swap_count"], state["view"]["swap_victim"]) == (0, NOBODY)
    assert asks(state) == (Phase.FOLLOW, 1)


def test_v20_a_tortoise_within_a_colour_swaps_one_card() -> None:
    state = do(first_col("R1 R2 R7 G4", "B2 B3 B4", "G3"), "R1 R2 R7")
    assert asks(state) == (Phase.SWAP, 0)
    assert state["view"]["swap_count"] == 1


def test_v20_no_tortoise_no_swap() -> None:
    state = do(first_col("R2 R3 R7 G4", "B2 B3 B4", "G3"), "R2 R3 R7")
    assert asks(state) == (Phase.FOLLOW, 1)


def test_v20_whoever_plays_the_tortoise_swaps() -> None:
    state = do(first_col("R5 R6", "B1 B2 B3", "G3 G4", tortoise_swap="mandatory"), "R5", "B1 B2")
    assert asks(state) == (Phase.SWAP, 1)
    assert legal(state) == {"swap 0", "swap 2"}
    do(state, "swap 0 takes R6", "give B3")
    assert (hand(state, 0), hand(state, 1), hand(state, 2)) == ("B3", "R6", "G3 G4")
    assert asks(state) == (Phase.FOLLOW, 2)


def test_v20_an_opponent_of_his_choice() -> None:
    state = do(first_col("R1 R7", "B2", "G3", "P4"), "R1")
    assert legal(state) == {"swap 1", "swap 2", "swap 3"}
    refuse(state, "swap 0", "V20")
    refuse(state, "swap 4", "V4")  # no such seat
    do(state, "swap 3 takes P4", "give R7")
    assert [hand(state, seat) for seat in range(4)] == ["P4", "B2", "G3", "R7"]


def test_v20_only_one_who_still_has_cards() -> None:
    state = do(first_col("R3", "B1 B4 B5", "G1 G3", "P4"), "R3", "B1 B5")
    assert legal(state) == {"swap 2", "swap 3"}
    refuse(state, "swap 0", "V20")


def test_v20_at_most_as_many_as_the_opponent_holds() -> None:
    state = do(first_col("R1 B1 G1 R7 Y7", "P4 P5", "G3"), "B1 G1 R1")
    assert state["view"]["swap_count"] == 3
    for seed in range(5):
        drawn = clone(state)
        apply(drawn, parse_move("swap 1"), new_stream(seed))
        assert hand(drawn, 0) == "P4 P5 R7 Y7"
        assert drawn["view"]["swap_count"] == 2
        assert by_seat(drawn, "sizes") == [4, 0, 1]
    do(state, "swap 1 takes P4 P5")
    refuse(state, "give P4 P5 R7", "V20")
    refuse(state, "give P4", "V20")
    do(state, "give R7 Y7")
    assert (hand(state, 0), hand(state, 1)) == ("P4 P5", "R7 Y7")
    assert asks(state) == (Phase.FOLLOW, 1)


def test_v20_a_victim_of_all_cards_is_still_racing() -> None:
    state = do(first_col("R1 R7", "B4", "G3"), "R1", "swap 1 takes B4")
    assert by_seat(state, "sizes") == [2, 0, 1]
    assert by_seat(state, "out_order") == [0, 0, 0]
    assert points(state) == [0, 0, 0]
    assert state["view"]["racing"] == 3
    do(state, "give B4")
    assert asks(state) == (Phase.FOLLOW, 1)


def test_v20_any_cards_of_the_whole_hand_go_back() -> None:
    state = do(first_col("R1 B1 R7 Y7", "P4 P5 P6", "G3"), "B1 R1", "swap 1 takes P4 P6")
    assert legal(state) == {
        *("give P4 P6", "give P4 R7", "give P4 Y7"),
        *("give P6 R7", "give P6 Y7", "give R7 Y7"),
    }
    refuse(state, "give P4", "V20")
    refuse(state, "give P4 P6 R7", "V20")
    refuse(state, "give P4 P5", "V20")  # P5 is still the victim's
    refuse(state, "give P4 R1", "V20")  # R1 has been played
    refuse(state, "pass", "V20")
    do(state, "give P4 R7")
    assert (hand(state, 0), hand(state, 1)) == ("P6 Y7", "P4 P5 R7")


def test_v20_the_cards_are_drawn_at_random() -> None:
    state = do(first_col("R1 B1 R7 Y7", "P4 P5 P6 P7", "G3"), "B1 R1")
    pairs: Counter[str] = Counter()
    for seed in range(600):
        drawn = clone(state)
        apply(drawn, parse_move("swap 1"), new_stream(seed))
        pairs[known(drawn, 1, 0)] += 1
    assert set(pairs) == {"P4 P5", "P4 P6", "P4 P7", "P5 P6", "P5 P7", "P6 P7"}
    assert 70 < min(pairs.values()) <= max(pairs.values()) < 130  # 100 are expected


@pytest.mark.parametrize("taken", ["", "P4", "P4 P5 P6", "P4 R7", "P4 G3", "P4 X1", "P4 P4"])
def test_v20_only_that_many_cards_of_that_hand_can_be_taken(taken: str) -> None:
    state = do(first_col("R1 B1 R7 Y7", "P4 P5 P6 P7", "G3"), "B1 R1")
    before = state.tobytes()
    with pytest.raises(UsageError, match="cards taken"):
        apply(state, parse_move("swap 1"), taken=taken.split())
    assert state.tobytes() == before


def test_v20_a_swap_needs_chance() -> None:
    state = do(first_col("R1 R7", "P4 P5", "G3"), "R1")
    before = state.tobytes()
    with pytest.raises(UsageError, match="a swap draws cards"):
        apply(state, parse_move("swap 1"))
    assert state.tobytes() == before


def test_v20_the_swap_is_mandatory_by_default() -> None:
    state = do(first_col("R1 R7", "P4 P5", "G3"), "R1")
    refuse(state, "decline", "V20")
    refuse(state, "pass", "V20")
    refuse(state, "R7", "V20")
    assert legal(state) == {"swap 1", "swap 2"}


def test_v20_an_optional_swap_may_be_declined_or_made() -> None:
    state = do(first_col("R1 R7", "P4 P5", "G3", tortoise_swap="optional"), "R1")
    assert legal(state) == {"swap 1", "swap 2", "decline"}
    declined = do(clone(state), "decline")
    assert asks(declined) == (Phase.FOLLOW, 1)
    assert [hand(declined, seat) for seat in range(3)] == ["R7", "P4 P5", "G3"]
    assert declined["view"]["swap_count"] == 0
    assert beat(declined) == 1
    swapped = do(state, "swap 1 takes P4")
    refuse(swapped, "decline", "V20")
    assert hand(do(swapped, "give R7"), 0) == "P4"


def test_v20_without_the_swap_a_tortoise_is_a_plain_1() -> None:
    state = do(first_col("R1 B1 R7", "P4 P5", "G3", tortoise_swap="off"), "B1 R1")
    assert beat(state) == 21
    assert asks(state) == (Phase.FOLLOW, 1)
    assert state["view"]["swap_count"] == 0
    assert hand(state, 0) == "R7"


@pytest.mark.parametrize(("option", "value"), [("tortoise_swap", "never"), ("dromedary_last_card", "off")])
def test_v20_another_value_of_an_option_is_refused(option: str, value: str) -> None:
    with pytest.raises(UsageError, match=option):
        RuleSet(**{option: value})  # type: ignore[arg-type]


def test_v20_after_the_swap_the_attack_goes_on() -> None:
    state = do(first_col("R6 R3", "B1 B4 B7", "G4 G5"), "R3", "B1 B7", "swap 2 takes G4", "give B4")
    assert asks(state) == (Phase.FOLLOW, 2)
    assert (beat(state), state["view"]["author"]) == (21, 1)
    refuse(state, "G5", "V10")
    do(state, "pass", "pass")
    assert asks(state) == (Phase.LEAD, 1)


@pytest.mark.parametrize("cards", ["R1", "B1 R1", "R1 R5"])
@pytest.mark.parametrize("tortoise_swap", ["mandatory", "optional", "off"])
def test_v21_no_swap_when_the_hand_is_empty(cards: str, tortoise_swap: str) -> None:
    state = do(first_col(cards, "P4 P5", "G3", tortoise_swap=tortoise_swap), cards)
    assert asks(state) == (Phase.FOLLOW, 1)
    assert state["view"]["swap_count"] == 0
    assert points(state) == [2, 0, 0]


def swapped_state() -> State:
    """Return a col of four in which seat 0 has taken P4 from seat 1 and given R6 back."""
    state = first_col("R1 R6 R7", "P4 P5 P1", "G5 G1 G6", "Y5 Y6 Y1")
    return do(state, "R1", "swap 1 takes P4", "give R6")


def test_v22_the_author_sees_what_he_takes_and_the_victim_what_was_taken() -> None:
    state = do(first_col("R1 R6 R7", "P4 P5", "G5", "Y6"), "R1", "swap 1 takes P4")
    assert hand(state, 0) == "P4 R6 R7"
    assert known(state, 1, 0) == "P4"
    assert known(state, 0, 1) == ""


def test_v22_both_know_what_was_given_and_kept() -> None:
    state = swapped_state()
    assert known(state, 0, 1) == "R6"
    assert known(state, 1, 0) == "P4"


def test_v22_a_card_given_back_at_once_is_known_where_it_is() -> None:
    state = do(first_col("R1 R6 R7", "P4 P5", "G5", "Y6"), "R1", "swap 1 takes P4", "give P4")
    assert known(state, 0, 1) == "P4"
    assert known(state, 1, 0) == ""


def test_v22_the_others_see_only_how_many_and_between_whom() -> None:
    state = do(first_col("R1 R6 R7", "P4 P5", "G5", "Y6"), "R1", "swap 1 takes P4")
    for text in ("", "give R6"):
        if text:
            do(state, text)
        for viewer in (2, 3):
            assert [known(state, viewer, holder) for holder in range(4)] == [""] * 4
        seen = view_of(state, 2)
        assert (seen["swap_count"], seen["swap_victim"]) == ((0, NOBODY) if text else (1, 1))
        assert seen["sizes"][:2].tolist() == ([2, 2] if text else [3, 1])


def test_v22_the_others_cannot_tell_which_cards_were_swapped() -> None:
    first, second = (first_col("R1 R6 R7", "P4 P5", "G5", "Y6") for _ in range(2))
    do(first, "R1", "swap 1 takes P4")
    do(second, "R1", "swap 1 takes P5")
    assert view_of(first, 2).tobytes() == view_of(second, 2).tobytes()
    do(first, "give R6")
    do(second, "give R7")
    assert view_of(first, 2).tobytes() == view_of(second, 2).tobytes()
    assert view_of(first, 0).tobytes() != view_of(second, 0).tobytes()
    assert view_of(first, 1).tobytes() != view_of(second, 1).tobytes()


def test_v22_a_known_card_stays_known_until_played() -> None:
    state = do(swapped_state(), "P5", "G6", "pass", "R7")
    assert known(state, 1, 0) == "P4"
    do(state, "pass", "pass", "pass")
    assert asks(state) == (Phase.LEAD, 0)
    do(state, "P4")
    assert known(state, 1, 0) == ""
    assert known(state, 0, 1) == "R6"
    do(state, "R6")
    assert known(state, 0, 1) == ""


def test_v22_third_parties_no_longer_know_the_hands_of_a_swap() -> None:
    state = do(swapped_state(), "pass", "G1 G5", "swap 1 takes R6", "give G6")
    assert known(state, 0, 1) == ""
    assert known(state, 0, 2) == ""
    assert known(state, 2, 1) == "G6"
    assert known(state, 1, 2) == "R6"
    assert known(state, 1, 0) == "P4"  # seat 0 had no part in it


def test_v22_third_parties_lose_the_card_that_may_have_been_taken() -> None:
    state = do(swapped_state(), "pass", "G1 G5", "swap 1 takes P5", "give P5")
    assert hand(state, 1) == "P1 P5 R6"
    assert known(state, 0, 1) == ""


def test_v22_third_parties_no_longer_know_the_hand_of_the_author() -> None:
    state = do(swapped_state(), "P1 P5", "swap 3 takes Y5", "give Y5")
    assert known(state, 0, 1) == ""
    assert known(state, 0, 3) == ""
    assert known(state, 1, 3) == "Y5"
    assert known(state, 1, 0) == "P4"


def test_v22_a_swap_elsewhere_changes_nothing_known() -> None:
    state = do(swapped_state(), "pass", "G1 G5", "swap 3 takes Y5", "give G6")
    assert known(state, 0, 1) == "R6"
    assert known(state, 1, 0) == "P4"
    assert known(state, 2, 3) == "G6"
    assert known(state, 3, 2) == "Y5"


def test_v22_the_same_two_may_swap_the_card_on() -> None:
    state = do(swapped_state(), "P1 P5", "swap 0 takes P4")
    assert known(state, 1, 0) == ""
    assert known(state, 0, 1) == "P4 R6"
    do(state, "give R6")
    assert known(state, 0, 1) == "P4"
    assert known(state, 1, 0) == "R6"


def test_v22_the_same_two_keep_what_they_knew_before() -> None:
    state = do(swapped_state(), "P1 P5", "swap 0 takes R7")
    assert known(state, 1, 0) == "P4"
    assert known(state, 0, 1) == "R6 R7"
    do(state, "give R7")
    assert known(state, 1, 0) == "P4 R7"
    assert known(state, 0, 1) == "R6"


def test_v22_a_new_col_starts_without_knowledge() -> None:
    state = do(first_col("R1 R6", "P4 P5"), "R1", "swap 1 takes P4", "give P4", "P5", "R6")
    assert asks(state) == (Phase.COL_OVER, NOBODY)
    assert known(state, 0, 1) == "P4"
    lay_out(state, ["R1 R6", "P4 P5"])
    assert known(state, 0, 1) == ""


# ---- V23-V27: duel ----


def test_v23_33_cards_are_left_and_the_top_one_is_the_reward() -> None:
    state = new_state(2)
    deal(state, 4)
    left = [reward(state), *pile(state).split()]
    assert len(left) == 33
    assert state["view"]["pile_size"] == 32
    assert len({*left, *hand(state, 0).split(), *hand(state, 1).split()}) == 55


def test_v23_the_next_card_is_the_top_one() -> None:
    state = first_col("R5 R6", "B5 B6", pile="Y7 G6 P5")
    assert (reward(state), pile(state)) == ("Y7", "G6 P5")


def test_v23_only_the_duel_has_a_reward() -> None:
    state = do(first_col("R5 R6", "B5 B6", "G5 G6"), "R5", "pass", "pass")
    assert asks(state) == (Phase.LEAD, 0)


@pytest.mark.parametrize(
    ("play", "drawn"), [("R2", "G6"), ("B2 R2", "G6 P5"), ("B2 G2 R2", "G6 N7 P5"), ("R2 R3", "G6"), ("R3 R4", "")]
)
def test_v24_every_dromedary_draws_a_card(play: str, drawn: str) -> None:
    held = ["B2", "G2", "R2", "R3", "R4"]
    state = do(first_col(" ".join(held), "B5 B6", pile="Y7 G6 P5 N7 A7"), play)
    expected = sorted({*held, *drawn.split()} - set(play.split()))
    assert hand(state, 0) == " ".join(expected)
    assert by_seat(state, "sizes") == [len(expected), 2]
    assert pile(state) == " ".join(["G6", "P5", "N7", "A7"][len(drawn.split()) :])
    assert reward(state) == "Y7"
    assert asks(state) == (Phase.FOLLOW, 1)


def test_v24_whoever_plays_it_draws() -> None:
    state = do(first_col("R5 R6", "B2 G2 B6", pile="Y7 G6 P5 N7"), "R5", "B2 G2")
    assert hand(state, 0) == "R6"
    assert hand(state, 1) == "B6 G6 P5"


def test_v24_only_as_far_as_the_pile_lasts() -> None:
    state = do(first_col("R2 B2 G2 R7", "B5 B6", pile="Y7 G6 P5"), "B2 G2 R2")
    assert hand(state, 0) == "G6 P5 R7"
    assert pile(state) == ""


def test_v24_a_drawn_card_is_nobody_elses_knowledge() -> None:
    state = do(first_col("R2 R7", "B5 B6", pile="Y7 G6 P5"), "R2")
    assert known(state, 1, 0) == ""


@pytest.mark.parametrize("cards", ["R2", "B2 R2", "R2 R7"])
def test_v24_the_last_card_draws_and_the_author_is_not_out(cards: str) -> None:
    state = do(first_col(cards, "B5 B6", pile="Y7 G6"), cards)
    assert hand(state, 0) == "G6"
    assert points(state) == [0, 0]
    assert asks(state) == (Phase.FOLLOW, 1)


@pytest.mark.parametrize("cards", ["R2", "B2 R2", "R2 R7"])
def test_v24_the_last_card_may_be_exempt(cards: str) -> None:
    state = do(first_col(cards, "B5 B6", pile="Y7 G6", dromedary_last_card="exempt"), cards)
    assert hand(state, 0) == ""
    assert pile(state) == "G6"
    assert points(state) == [1, 0]
    assert asks(state) == (Phase.COL_OVER, NOBODY)


def test_v24_exempt_is_the_last_card_only() -> None:
    state = do(first_col("R2 R7", "B5 B6", pile="Y7 G6", dromedary_last_card="exempt"), "R2")
    assert hand(state, 0) == "G6 R7"


def test_v24_dromedaries_draw_in_the_duel_only() -> None:
    state = do(first_col("R2 B2 R7", "B5 B6", "G5"), "B2 R2")
    assert hand(state, 0) == "R7"
    state = do(first_col("R2", "B5 B6", "G5"), "R2")
    assert points(state) == [2, 0, 0]


def test_v25_first_the_draw_then_going_out_then_the_swap() -> None:
    state = do(first_col("R1 R2", "B5 B6", pile="Y7 G6 P5"), "R1 R2")
    assert hand(state, 0) == "G6"
    assert points(state) == [0, 0]
    assert asks(state) == (Phase.SWAP, 0)
    do(state, "swap 1 takes B5")
    assert legal(state) == {"give B5", "give G6"}
    do(state, "give G6")
    assert (hand(state, 0), hand(state, 1)) == ("B5", "B6 G6")


def test_v25_without_a_draw_the_author_is_out_before_the_swap() -> None:
    for options, cards_left in (({"dromedary_last_card": "exempt"}, "Y7 G6"), ({}, "Y7")):
        state = do(first_col("R1 R2", "B5 B6", pile=cards_left, **options), "R1 R2")
        assert asks(state) == (Phase.COL_OVER, NOBODY)
        assert points(state) == [1, 0]


def won_attack(pile_cards: str = "Y7 G6 P5") -> State:
    """Return a duel in which seat 0 has just won an attack."""
    return do(first_col("R5 B3", "N4 N3", pile=pile_cards), "R5", "pass")


def test_v26_the_winner_takes_the_reward() -> None:
    state = won_attack()
    assert asks(state) == (Phase.REWARD, 0)
    do(state, "keep")
    assert (hand(state, 0), hand(state, 1)) == ("B3 Y7", "N3 N4")
    assert by_seat(state, "sizes") == [2, 2]
    assert (reward(state), pile(state)) == ("G6", "P5")
    assert asks(state) == (Phase.LEAD, 0)


def test_v26_or_forces_it_on_the_opponent() -> None:
    state = do(won_attack(), "force")
    assert (hand(state, 0), hand(state, 1)) == ("B3", "N3 N4 Y7")
    assert by_seat(state, "sizes") == [1, 3]
    assert (reward(state), pile(state)) == ("G6", "P5")
    assert asks(state) == (Phase.LEAD, 0)


def test_v26_seat_1_may_win_it_too() -> None:
    state = do(first_col("R3 B3", "N4 N3", pile="Y7 G6"), "R3", "N4", "pass")
    assert asks(state) == (Phase.REWARD, 1)
    kept, forced = do(clone(state), "keep"), do(state, "force")
    assert (hand(kept, 0), hand(kept, 1), asks(kept)) == ("B3", "N3 Y7", (Phase.LEAD, 1))
    assert (hand(forced, 0), hand(forced, 1), asks(forced)) == ("B3 Y7", "N3", (Phase.LEAD, 1))


def test_v26_he_must_choose_one() -> None:
    state = won_attack()
    assert legal(state) == {"keep", "force"}
    for text in ("B3", "pass", "decline", "lead 1", "swap 1", "give B3"):
        refuse(state, text, "V26")


def test_v26_both_see_where_the_reward_goes() -> None:
    kept, forced = do(won_attack(), "keep"), do(won_attack(), "force")
    assert (known(kept, 1, 0), known(kept, 0, 1)) == ("Y7", "")
    assert (known(forced, 1, 0), known(forced, 0, 1)) == ("", "Y7")


def test_v26_without_a_reward_the_step_is_skipped() -> None:
    state = do(won_attack("Y7"), "keep")
    assert reward(state) == ""
    do(state, "B3", "pass")
    assert asks(state) == (Phase.LEAD, 0)
    assert hand(state, 0) == "Y7"


@pytest.mark.parametrize(
    ("winners", "cols"), [([0, 0, 0, 0], 4), ([1, 0, 1, 1], 4), ([1, 1, 0, 0, 1], 5), ([0, 1, 1, 0, 0], 5)]
)
def test_v27_first_to_8_points_wins_at_once(winners: list[int], cols: int) -> None:
    state = new_state(2)
    for col, winner in enumerate(winners, 1):
        assert state["view"]["phase"] == Phase.COL_OVER
        assert max(totals(state)) < 8
        run_col(state, [winner, 1 - winner])
        assert points(state)[winner] == col
    assert len(winners) == cols
    assert max(totals(state)) >= 8
    assert asks(state) == (Phase.GAME_OVER, NOBODY)
    assert describe_result(state)["winner"] == winners[-1]


def test_v27_someone_always_gets_to_8_within_5_cols() -> None:
    for winners in product([0, 1], repeat=5):
        state = new_state(2)
        for winner in winners:
            if state["view"]["phase"] == Phase.COL_OVER:
                run_col(state, [winner, 1 - winner])
        assert state["view"]["phase"] == Phase.GAME_OVER
        assert max(totals(state)) >= 8 > min(totals(state))


@pytest.mark.parametrize(("target", "cols"), [(1, 1), (2, 2), (3, 2), (4, 3), (15, 5), (16, 5), (None, 5)])
def test_v27_another_target_by_option(target: int | None, cols: int) -> None:
    state = new_state(2, RuleSet(duel_target=target))
    played = 0
    while state["view"]["phase"] == Phase.COL_OVER:
        run_col(state, [0, 1])
        played += 1
    assert played == cols


def test_v27_the_target_is_of_the_duel_only() -> None:
    state = run_cols(3, [0, 1, 2], [0, 1, 2], [0, 1, 2], duel_target=1)
    assert state["view"]["phase"] == Phase.COL_OVER


@pytest.mark.parametrize("target", [0, -1])
def test_v27_an_impossible_target_is_refused(target: int) -> None:
    with pytest.raises(UsageError, match="duel_target"):
        RuleSet(duel_target=target)


def test_v27_with_fewer_cols_the_best_total_wins() -> None:
    state = run_cols(2, [0, 1], [1, 0], col_values=(1, 2))
    assert totals(state) == [1, 2]
    assert describe_result(state)["winner"] == 1
    state = run_cols(2, [1, 0], [0, 1], col_values=(2, 2))
    assert describe_result(state) == {"winner": 0, "final_tie": [0, 1]}


def test_v27_the_jersey_marks_the_leader() -> None:
    state = run_cols(2, [1, 0])
    assert wearer(state) == 1
    assert wearer(run_col(state, [0, 1])) == 0
    assert wearer(run_col(state, [1, 0])) == 1


def test_v27_the_col_ends_when_one_is_out_and_the_reward_stays() -> None:
    state = do(first_col("R5", "B6 B7", pile="Y7 G6"), "R5")
    assert asks(state) == (Phase.COL_OVER, NOBODY)
    assert points(state) == [1, 0]
    assert (hand(state, 0), hand(state, 1)) == ("", "B6 B7")
    assert (reward(state), pile(state)) == ("Y7", "G6")


def test_v27_with_an_empty_pile_a_last_dromedary_goes_out() -> None:
    state = do(first_col("R2", "B6 B7", pile="Y7"), "R2")
    assert asks(state) == (Phase.COL_OVER, NOBODY)
    assert points(state) == [1, 0]
    assert (hand(state, 0), reward(state)) == ("", "Y7")


def test_v27_a_dromedary_never_takes_the_reward() -> None:
    state = do(first_col("R2 R7", "B6 B7", pile="Y7"), "R2")
    assert (hand(state, 0), reward(state)) == ("R7", "Y7")


def test_v27_the_pile_is_never_reshuffled() -> None:
    state = do(first_col("R5 R2 B2 R7", "B4 B5", pile="Y7"), "R5", "pass", "keep")
    assert (reward(state), pile(state)) == ("", "")
    do(state, "B2 R2")
    assert hand(state, 0) == "R7 Y7"
    assert by_seat(state, "sizes") == [2, 2]
    assert (reward(state), pile(state)) == ("", "")
    assert words(state["view"]["played"]) == "B2 R2 R5"


# ---- V28: what is public ----

HIDDEN = {"hand", "known", "seat"}


def test_v28_every_seat_sees_the_same_public_facts() -> None:
    state = second_col("R5 B3", "N4 N6", "P6 P7", "Y6 Y7", wearer=1, starter=0)
    do(state, "R5", "N4 +jersey", "pass", "pass")
    views = [view_of(state, seat) for seat in range(4)]
    public = [name for name in state["view"].dtype.names if name not in HIDDEN]
    for name in public:
        assert {view[name].tobytes() for view in views} == {state["view"][name].tobytes()}, name
    seen = views[3]
    assert seen["sizes"][:4].tolist() == [1, 1, 2, 2]
    assert words(seen["played"]) == "N4 R5"
    assert seen["totals"][:4].tolist() == [0, 3, 2, 1]
    assert seen["points"][:4].tolist() == [0, 0, 0, 0]
    assert (seen["wearer"], seen["jersey_spent"]) == (1, 1)
    assert seen["passed_on"][:4].tolist() == [0, 0, 14, 14]


def test_v28_col_points_and_reward_are_public() -> None:
    state = do(first_col("R3", "N4 N5", "P5"), "R3")
    assert [view_of(state, seat)["points"][0] for seat in range(3)] == [2, 2, 2]
    state = first_col("R3", "N4", pile="H25 H30")
    assert [words(view_of(state, seat)["reward"]) for seat in range(2)] == ["H25", "H25"]
    assert [view_of(state, seat)["pile_size"] for seat in range(2)] == [1, 1]


def test_v28_a_seat_sees_its_own_hand() -> None:
    state = first_col("R5 B3", "N4 N6", "P6 P7")
    assert [words(view_of(state, seat)["hand"]) for seat in range(3)] == ["B3 R5", "N4 N6", "P6 P7"]


def test_v28_the_hands_of_others_and_the_cards_set_aside_are_not_public() -> None:
    first = first_col("R5 B3", "N3 N4", "P6 P7")
    second = first_col("R5 B3", "P6 H50", "N3 A7")
    for moves in ((), ("R5",), ("pass",), ("pass",)):
        do(first, *moves)
        do(second, *moves)
        assert view_of(first, 0).tobytes() == view_of(second, 0).tobytes()
        assert view_of(first, 1).tobytes() != view_of(second, 1).tobytes()


def test_v28_the_pile_is_not_public() -> None:
    first = first_col("R5 B3", "N3 N4", pile="Y7 G6 P5 A4")
    second = first_col("R5 B3", "N3 P5", pile="Y7 A4 N4 G6")
    for moves in ((), ("R5",), ("pass",)):
        do(first, *moves)
        do(second, *moves)
        assert view_of(first, 0).tobytes() == view_of(second, 0).tobytes()


def test_v28_the_deciding_seat_is_shown_its_own_view() -> None:
    state = first_col("R5 B3", "N4 N6", "P6 P7")
    for move in ("R5", "N6", "pass", "pass", "N4"):
        assert state["view"].tobytes() == view_of(state, turn(state)).tobytes()
        do(state, move)


def test_v28_between_cols_nobody_is_shown_a_hand() -> None:
    state = do(first_col("R3", "N4", "P5 P6"), "R3", "N4")
    assert (state["view"]["seat"], state["view"]["hand"]) == (NOBODY, 0)
    assert not state["view"]["known"].any()


# ---- the worked examples ----


def test_e1_2_3_7_of_one_colour() -> None:
    assert led_value("R2 R3 R7") == 32


def test_e2_four_4s() -> None:
    assert led_value("R4 B4 G4 P4") == 44


def test_e3_1_2_3_of_one_colour() -> None:
    assert led_value("R1 R2 R3") == 31


@pytest.mark.parametrize("single", ["B1", "B2", "B3", "B4", "B5", "B6", "B7", *HARE_TEXTS])
def test_e3_31_beats_every_single_but_the_hares_from_35(single: str) -> None:
    state = do(first_col(f"{single} Y6", "R1 R2 R3 R7", "P6", tortoise_swap="off"), single)
    if single in ("H35", "H40", "H45", "H50"):
        refuse(state, "R1 R2 R3", "V10")
    else:
        accept(state, "R1 R2 R3")


@pytest.mark.parametrize("hare", HARE_TEXTS)
def test_e4_hare_with_jersey(hare: str) -> None:
    state = second_col("R5 B3", f"{hare} N4", "P6 P7", wearer=1, starter=0)
    do(state, "R5")
    refuse(state, f"{hare} +jersey", "V9")
    accept(state, hare)


def test_e5_tortoise_with_jersey() -> None:
    state = second_col("R7 B3", "N1 N6", "P6 P7", wearer=1, starter=0)
    do(state, "R7")
    refuse(state, "N1", "V10")
    do(state, "N1 +jersey")
    assert beat(state) == 11
    do(state, "swap 2 takes P6", "give N6")
    assert [hand(state, seat) for seat in range(3)] == ["B3", "P6", "N6 P7"]


@pytest.mark.parametrize("cards", ["H25 R5", "H25 R5 R6", "H50 R5 B5"])
def test_e6_hare_with_riders(cards: str) -> None:
    refuse(first_col("H25 H50 R5 R6 B5", "N4", "P6"), cards, "V8")


def test_e7_three_tortoises() -> None:
    state = do(first_col("R1 B1 G1 R7", "P4 P5 P6 P7", "Y4 Y5"), "B1 G1 R1")
    assert beat(state) == 31
    do(state, "swap 1 takes P4 P5 P7", "give P4 P5 R7")
    assert (hand(state, 0), hand(state, 1)) == ("P7", "P4 P5 P6 R7")


def test_e7_up_to_three_cards() -> None:
    state = do(first_col("R1 B1 G1 R7", "P4 P5 P6 P7", "Y4 Y5"), "B1 G1 R1", "swap 2 takes Y4 Y5", "give R7 Y4")
    assert (hand(state, 0), hand(state, 2)) == ("Y5", "R7 Y4")


def test_e8_three_dromedaries_in_the_duel() -> None:
    state = do(first_col("R2 B2 G2 R7", "P4 P5", pile="Y1 Y2 Y3 Y4 Y5"), "B2 G2 R2")
    assert beat(state) == 32
    assert hand(state, 0) == "R7 Y2 Y3 Y4"
    assert pile(state) == "Y5"


def test_e9_four_players_in_col_2() -> None:
    state = run_cols(4, [0, 1, 2, 3], [3, 1, 0, 2])
    assert points(state) == [2, 4, 0, 6]


def test_e10_last_card_as_a_counter_attack() -> None:
    state = do(first_col("R3 R7", "N5", "P4 P6"), "R3", "N5")
    assert points(state) == [0, 2, 0]
    assert asks(state) == (Phase.FOLLOW, 2)
    refuse(state, "P4", "V10")
    do(state, "P6")
    assert asks(state) == (Phase.FOLLOW, 0)
    do(state, "R7")
    assert points(state) == [1, 2, 0]


def test_e11_passed_earlier_in_the_attack() -> None:
    state = do(first_col("R3 R7", "N5 N7", "P4 P6"), "R3", "pass", "P4", "pass", "N5", "pass", "R7")
    assert asks(state) == (Phase.FOLLOW, 1)
    assert points(state) == [2, 0, 0]


def test_e12_jersey_a_second_time_in_one_col() -> None:
    state = second_col("R5 B3", "N4 N6 N7", "P6 P7", wearer=1, starter=0)
    do(state, "R5", "N4 +jersey", "pass", "pass")
    refuse(state, "N6 +jersey", "V9")
    refuse(state, "N6 N7 +jersey", "V9")
    accept(state, "N6")


def test_e13_swap_aimed_at_the_jersey() -> None:
    state = second_col("R1 R7", "N4 N6", "P6 P7", wearer=1, starter=0)
    do(state, "R1")
    before = state.tobytes()
    for taken in (["+jersey"], ["jersey"]):
        with pytest.raises(UsageError, match="cards taken"):
            apply(state, parse_move("swap 1"), taken=taken)
    assert state.tobytes() == before
    do(state, "swap 1 takes N6", "give N6")
    assert wearer(state) == 1
    accept(state, "N4 +jersey")


@pytest.mark.parametrize(
    ("standing", "equal", "higher"), [("R5", "N5", "N6"), ("R4 B4", "N4 N7", "N5 N7"), ("R2 R3 R4", "N2 N3 N7", "H40")]
)
def test_e14_equal_value(standing: str, equal: str, higher: str) -> None:
    state = do(first_col(f"{standing} Y6", "N2 N3 N4 N5 N6 N7 H40", "P6"), standing)
    refuse(state, equal, "V10")
    accept(state, higher)
