"""Cards as bits of a word: the deck of V1-V3, and texts that read back to the same cards."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from velonimo_sim.velonimo.cards import (
    DECK,
    DECK_POSITIONS,
    DECK_SIZE,
    DROMEDARIES,
    HARE_VALUES,
    HARES,
    RIDERS,
    TEAM_NAMES,
    TEAMS,
    TORTOISES,
    card_texts,
    parse_card,
    parse_cards,
)

LETTERS = {"blue": "B", "brown": "N", "gray": "A", "green": "G", "pink": "P", "red": "R", "yellow": "Y"}
RIDER_TEXTS = sorted(f"{letter}{number}" for letter in LETTERS.values() for number in range(1, 8))
HARE_TEXTS = ["H25", "H30", "H35", "H40", "H45", "H50"]
ALL_TEXTS = sorted(RIDER_TEXTS + HARE_TEXTS)
CARD_SETS = st.sets(st.sampled_from(ALL_TEXTS))


def position(text: str) -> int:
    return int(parse_card(text)).bit_length() - 1


def test_deck_is_49_riders_and_6_hares() -> None:
    """V1."""
    assert len(RIDER_TEXTS) == 49
    assert card_texts(DECK) == ALL_TEXTS
    assert card_texts(RIDERS) == RIDER_TEXTS
    assert card_texts(HARES) == HARE_TEXTS
    assert len(ALL_TEXTS) == DECK_SIZE == int(DECK).bit_count() == 55


def test_teams_have_the_letters_of_their_colours() -> None:
    """V2."""
    assert dict(zip(TEAM_NAMES, TEAMS, strict=True)) == LETTERS


def test_hare_values_are_those_of_the_texts() -> None:
    """V1."""
    assert [f"H{value}" for value in HARE_VALUES] == HARE_TEXTS


def test_named_numbers() -> None:
    """V3."""
    assert card_texts(TORTOISES) == [text for text in RIDER_TEXTS if text.endswith("1")]
    assert card_texts(DROMEDARIES) == [text for text in RIDER_TEXTS if text.endswith("2")]


@pytest.mark.parametrize("number", range(1, 8))
def test_number_is_a_shifted_mask(number: int) -> None:
    shifted = TORTOISES << np.uint64(number - 1)
    assert card_texts(shifted) == [text for text in RIDER_TEXTS if text.endswith(str(number))]


@pytest.mark.parametrize("team", range(7))
def test_team_is_a_byte_from_1_to_7(team: int) -> None:
    assert [position(f"{TEAMS[team]}{number}") for number in range(1, 8)] == list(range(8 * team, 8 * team + 7))


@pytest.mark.parametrize(("byte", "text"), list(enumerate(HARE_TEXTS)))
def test_hare_is_the_top_bit_of_its_byte(byte: int, text: str) -> None:
    assert position(text) == 8 * byte + 7


def test_deck_positions_are_all_cards_riders_first() -> None:
    assert DECK_POSITIONS.dtype == np.uint8
    in_order = [f"{team}{number}" for team in TEAMS for number in range(1, 8)] + HARE_TEXTS
    assert DECK_POSITIONS.tolist() == [position(text) for text in in_order]


@given(CARD_SETS)
def test_texts_read_back_to_the_same_cards(texts: set[str]) -> None:
    cards = parse_cards(texts)
    assert isinstance(cards, np.uint64)
    assert card_texts(cards) == sorted(texts)
    assert int(cards) == sum(1 << position(text) for text in texts)


@given(st.integers(0, 2**64 - 1))
def test_words_read_back_to_the_cards_in_them(word: int) -> None:
    assert parse_cards(card_texts(word)) == word & int(DECK)
    assert card_texts(np.uint64(word)) == card_texts(word)


@given(st.permutations(ALL_TEXTS), st.integers(0, 55))
def test_order_of_texts_does_not_matter(texts: list[str], n: int) -> None:
    assert parse_cards(texts[:n]) == parse_cards(sorted(texts[:n]))


def test_texts_stand_in_ascii_order() -> None:
    assert card_texts(parse_cards(["Y1", "H30", "B7", "B2", "A7", "H25"])) == ["A7", "B2", "B7", "H25", "H30", "Y1"]


def test_no_cards() -> None:
    assert parse_cards([]) == 0
    assert card_texts(0) == []


@pytest.mark.parametrize(
    "text",
    ["", "R", "R0", "R8", "r7", "7R", "R77", "R7 ", " R7", "X3", "H", "H20", "H26", "H55", "h25", "Jersey", "+jersey"],
)
def test_unknown_card(text: str) -> None:
    with pytest.raises(ValueError, match="unknown card") as caught:
        parse_card(text)
    assert repr(text) in str(caught.value)
    assert all(f"{letter} {team}" in str(caught.value) for team, letter in LETTERS.items())
    assert ", ".join(HARE_TEXTS) in str(caught.value)
    with pytest.raises(ValueError, match="unknown card"):
        parse_cards(["R7", text])


@pytest.mark.parametrize("texts", [["R7", "R7"], ["H25", "B1", "H25"]])
def test_card_named_twice(texts: list[str]) -> None:
    with pytest.raises(ValueError, match=f"^card {texts[0]} is named twice$"):
        parse_cards(texts)
