"""Moves as words: every legal move has a text that reads back to it, and nothing else reads as a move."""

from collections.abc import Collection
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import states_of_game
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.errors import IllegalMoveError
from velonimo_sim.velonimo.cards import DECK, HARES, TEAMS, card_texts, parse_cards
from velonimo_sim.velonimo.legal import legal_moves
from velonimo_sim.velonimo.moves import (
    DECLINE,
    FORCE,
    JERSEY,
    KEEP,
    PASS,
    Kind,
    cards_of,
    is_combination,
    is_single,
    kind_of,
    lowest_number,
    move_of,
    move_text,
    parse_move,
    seat_of,
    value_of,
)
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.view import View

pytestmark = pytest.mark.kernel

CARDS = [f"{team}{number}" for team in TEAMS for number in range(1, 8)] + ["H25", "H30", "H35", "H40", "H45", "H50"]
KIND_AT = 56


@cache
def views() -> list[View]:
    """Return the views of some games, with every phase and the Jersey in play."""
    games = 2 if INTERPRETED else 10
    optional = RuleSet(tortoise_swap="optional")
    return [
        state["view"]
        for players in (2, 3, 4, 5)
        for seed in range(games)
        for state in states_of_game(players, seed, optional)
    ]


def listed(view: View) -> list[np.uint64]:
    moves = np.zeros(5000, np.uint64)
    return list(moves[: legal_moves(view, moves)])


VIEWS = st.deferred(lambda: st.integers(0, len(views()) - 1)).map(lambda index: views()[index])


@settings(max_examples=200)
@given(VIEWS, st.data())
def test_legal_moves_read_back_from_their_text(view: View, data: st.DataObject) -> None:
    moves = listed(view)
    move = moves[data.draw(st.integers(0, len(moves) - 1))]
    assert parse_move(move_text(move)) == move
    assert parse_move(move_text(int(move))) == move


def test_every_move_of_some_games_reads_back_and_every_kind_is_among_them() -> None:
    kinds, jerseys = set(), 0
    for view in views()[:: 2 if INTERPRETED else 1]:
        moves = listed(view)
        sample = moves[:: max(1, len(moves) // 4)] + moves[-1:]
        for move in sample:
            assert parse_move(move_text(move)) == move
            kinds.add(Kind(int(kind_of(move))))
            jerseys += bool(move & JERSEY)
    assert kinds == set(Kind)
    assert jerseys


@pytest.mark.parametrize(
    ("text", "kind", "content"),
    [
        ("R7", Kind.PLAY, int(parse_cards(["R7"]))),
        ("R2 R3 R7", Kind.PLAY, int(parse_cards(["R2", "R3", "R7"]))),
        ("R2 R3 +jersey", Kind.PLAY, int(parse_cards(["R2", "R3"])) | 1 << 63),
        ("H25", Kind.PLAY, int(parse_cards(["H25"]))),
        ("pass", Kind.PASS, 0),
        ("swap 0", Kind.SWAP, 0),
        ("swap 4", Kind.SWAP, 4),
        ("decline", Kind.DECLINE, 0),
        ("give B4 H25", Kind.GIVE, int(parse_cards(["B4", "H25"]))),
        ("lead 3", Kind.LEAD, 3),
        ("keep", Kind.KEEP, 0),
        ("force", Kind.FORCE, 0),
    ],
)
def test_text_and_word_of_every_kind(text: str, kind: Kind, content: int) -> None:
    word = np.uint64(kind << KIND_AT | content)
    assert parse_move(text) == word
    assert move_text(word) == text
    assert kind_of(word) == kind
    assert cards_of(word) == content & int(DECK)
    if kind in (Kind.SWAP, Kind.LEAD):
        assert seat_of(word) == content


@pytest.mark.parametrize(("name", "word"), [("pass", PASS), ("decline", DECLINE), ("keep", KEEP), ("force", FORCE)])
def test_words_without_content(name: str, word: np.uint64) -> None:
    assert parse_move(name) == word == move_of(int(Kind[name.upper()]), np.uint64(0))


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("content", [0, 1, 0x81, 1 << 55])
def test_move_of_kind_and_content(kind: Kind, content: int) -> None:
    word = np.uint64(move_of(int(kind), np.uint64(content)))
    assert word == kind << KIND_AT | content
    assert kind_of(word) == kind


@given(st.permutations(CARDS), st.integers(1, 6), st.booleans())
def test_cards_may_stand_in_any_order(cards: list[str], n: int, jersey: bool) -> None:
    flag = ["+jersey"] if jersey else []
    word = parse_move(" ".join(cards[:n] + flag))
    assert word == int(parse_cards(cards[:n])) | (1 << 63 if jersey else 0)
    assert move_text(word) == " ".join(sorted(cards[:n]) + flag)
    assert move_text(parse_move("give " + " ".join(cards[:n]))) == " ".join(["give", *sorted(cards[:n])])


def test_spaces_around_and_between_do_not_matter() -> None:
    assert parse_move("  R2   R3  +jersey ") == parse_move("R2 R3 +jersey")
    assert parse_move(" swap  2 ") == parse_move("swap 2")


MISSPELT = [
    "",
    " ",
    "Pass",
    "PASS",
    "pas",
    "pass R2",
    "pass +jersey",
    "pass pass",
    "decline 2",
    "keep force",
    "force 1",
    "swap",
    "swap 5",
    "swap -1",
    "swap 02",
    "swap x",
    "swap 1 2",
    "swap R2",
    "swap2",
    "lead",
    "lead 5",
    "lead 1.0",
    "lead ²",
    "give",
    "give +jersey",
    "give B4 +jersey",
    "give B4 B4",
    "give pass",
    "give 2",
    "+jersey",
    "+jersey R2",
    "R2 +jersey R3",
    "R2 +jersey +jersey",
    "R2 +Jersey",
    "R2+jersey",
    "R2,R3",
    "R2R3",
    "R2 R2",
    "R8",
    "r2",
    "R2 pass",
    "R2 swap 1",
    "H26",
    "jersey",
    "0x0",
]


@pytest.mark.parametrize("text", MISSPELT)
def test_misspelt_text(text: str) -> None:
    with pytest.raises(IllegalMoveError) as caught:
        parse_move(text)
    assert repr(text) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert caught.value.rule == ""


@given(st.lists(st.sampled_from(["R2", "R3", "pass", "swap", "lead", "give", "keep", "+jersey", "2", "4", "x"])))
def test_texts_of_known_words_are_moves_only_if_they_are_written_back(words: list[str]) -> None:
    text = " ".join(words)
    try:
        move = parse_move(text)
    except IllegalMoveError:
        return
    assert sorted(move_text(move).split()) == sorted(words)


JUNK = [
    0,
    1 << 55,
    1 << 63,
    1 << 59,
    1 << 62 | 1,
    int(PASS) | 1,
    int(PASS) | 1 << 63,
    int(PASS) | 1 << 60,
    int(DECLINE) | 1 << 7,
    int(KEEP) | 1 << 55,
    int(FORCE) | 1 << 63,
    Kind.SWAP << KIND_AT | 5,
    Kind.SWAP << KIND_AT | 255,
    Kind.SWAP << KIND_AT | 0x101,
    Kind.LEAD << KIND_AT | 1 << 63,
    Kind.LEAD << KIND_AT | 5,
    Kind.GIVE << KIND_AT,
    Kind.GIVE << KIND_AT | 1 << 55,
    Kind.GIVE << KIND_AT | 1 << 63 | 1,
    (1 << 64) - 1,
]


@pytest.mark.parametrize("word", JUNK, ids=lambda word: f"{int(word):#x}")
def test_junk_word_has_no_text(word: int) -> None:
    with pytest.raises(ValueError, match=f"^{int(word):#018x} is no move$"):
        move_text(word)
    with pytest.raises(ValueError, match=r"is no move$"):
        move_text(np.uint64(word))


@given(st.integers(0, 2**64 - 1) | st.tuples(st.integers(0, 255), st.integers(0, 255)).map(lambda p: p[0] << 56 | p[1]))
def test_word_has_a_text_that_reads_back_or_none(word: int) -> None:
    kind, content = Kind(word >> KIND_AT & 7), word & (1 << KIND_AT) - 1
    flags = word >> 59
    is_cards = content != 0 and content & ~int(DECK) == 0
    is_move = {
        Kind.PLAY: is_cards and flags in (0, 16),
        Kind.GIVE: is_cards and flags == 0,
        Kind.SWAP: content < 5 and flags == 0,
        Kind.LEAD: content < 5 and flags == 0,
    }.get(kind, content == 0 and flags == 0)
    if is_move:
        assert parse_move(move_text(word)) == word
    else:
        with pytest.raises(ValueError, match=r"is no move$"):
            move_text(word)


def shares(cards: Collection[str]) -> bool:
    """V7, V8: riders of one colour or of one number."""
    return not any(card[0] == "H" for card in cards) and (
        len({card[0] for card in cards}) == 1 or len({card[1] for card in cards}) == 1
    )


@given(st.sets(st.sampled_from(CARDS), min_size=2, max_size=4) | st.sets(st.sampled_from(CARDS[:7]), min_size=2))
def test_combination(cards: set[str]) -> None:
    assert is_combination(parse_cards(cards)) == shares(cards)


def test_combinations_of_two_and_three_are_all_found() -> None:
    sets = list(combinations(CARDS, 2)) + list(combinations(CARDS[::2], 3))
    assert [cards for cards in sets if is_combination(parse_cards(cards))] == [cards for cards in sets if shares(cards)]


@given(st.sets(st.sampled_from(CARDS), max_size=3))
def test_single(cards: set[str]) -> None:
    assert is_single(parse_cards(cards)) == (len(cards) == 1)


def all_plays() -> list[tuple[str, ...]]:
    """Return every play of the deck: 6 hares, 49 single riders, 7 x 120 combinations of each sort."""
    riders = [card for card in CARDS if card[0] != "H"]
    groups = [[card for card in riders if team in card] for team in TEAMS]
    groups += [[card for card in riders if str(number) in card] for number in range(1, 8)]
    combos = [cards for group in groups for size in range(2, 8) for cards in combinations(group, size)]
    return [(card,) for card in CARDS] + combos


def test_value_of_every_play_of_the_deck() -> None:
    """V6, V7: a single card is worth its number, a combination 10 a card and its lowest number."""
    plays = all_plays()
    assert len(plays) == 55 + 2 * 7 * 120
    for play in plays:
        numbers = [int(card[1:]) for card in play]
        expected = numbers[0] if len(play) == 1 else 10 * len(play) + min(numbers)
        cards = parse_cards(play)
        assert value_of(cards) == expected
        if not cards & HARES:
            assert lowest_number(cards) == min(numbers)


@pytest.mark.parametrize(
    ("text", "value"), [("R2 R3 R7", 32), ("A4 B4 N4 Y4", 44), ("B1 B2 B3", 31), ("R7", 7), ("H50", 50), ("R1 R2", 21)]
)
def test_worked_examples(text: str, value: int) -> None:
    """E1, E2, E3 and a few beside them."""
    assert value_of(cards_of(parse_move(text))) == value


@given(st.integers(0, 2**64 - 1))
def test_cards_of_a_word_are_those_of_the_deck_in_it(word: int) -> None:
    assert card_texts(cards_of(np.uint64(word))) == card_texts(word)
    assert seat_of(np.uint64(word)) == word % 256
