"""Moves of VeloCity as words: every legal move has a text that reads back to it, and nothing else reads as a move."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from velonimo_sim.errors import IllegalMoveError
from velonimo_sim.velocity.dice import DIE_NAMES, TEAMS
from velonimo_sim.velocity.moves import BACK, FOLLOW, PARK, PAY, STAY, Kind, Move, move_of, move_text, parse_move
from velonimo_sim.velocity.track import MAX_LENGTH

pytestmark = pytest.mark.kernel

SPACES = {space: str(space) for space in range(1, MAX_LENGTH + 1)} | {PARK: "park"}
TEXTS = (
    {Kind.SOLO << 12 | cans << 8: f"solo{spent}" for cans, spent in enumerate(("", " refuel", " breakaway"))}
    | {Kind.PACK << 12 | space: f"pack {text}" for space, text in SPACES.items()}
    | {Kind.PACK << 12 | 1 << 8 | space: f"pack {text} refuel" for space, text in SPACES.items()}
    | {Kind.PACK << 12 | 2 << 8 | space: f"pack {text} breakaway" for space, text in SPACES.items()}  # never legal
    | {
        Kind.DIE << 12 | die << 8 | space: f"{name} from {text}"
        for die, name in enumerate(DIE_NAMES)
        for space, text in SPACES.items()
    }
    | {kind << 12: kind.name.lower() for kind in (Kind.FOLLOW, Kind.STAY, Kind.PAY, Kind.BACK)}
    | {Kind.TAKE << 12 | seat: f"take {team}" for seat, team in enumerate(TEAMS)}
)
"""The text of every word that is a move."""


def test_every_move_has_its_text_that_reads_back_to_it() -> None:
    for word, text in TEXTS.items():
        assert move_text(word) == text
        assert parse_move(text) == word


def test_every_other_word_has_none() -> None:
    places = (0, 1, 2, 6, 7, 60, 61, 128, 254, 255)
    words = {kind << 12 | detail << 8 | place for kind in range(16) for detail in range(16) for place in places}
    for word in sorted(words - set(TEXTS)):
        with pytest.raises(ValueError, match=f"^{word:#x} is no move$"):
            move_text(word)


@given(st.sampled_from(sorted(TEXTS)), st.integers(16, 63))
def test_a_word_with_a_bit_beyond_is_no_move(word: int, place: int) -> None:
    with pytest.raises(ValueError, match=r"is no move$"):
        move_text(np.uint64(word | 1 << place))


@pytest.mark.parametrize("word", [-1, 2**64, 4096.0, "solo", None, True])
def test_what_is_no_word_is_no_move(word: object) -> None:
    with pytest.raises(ValueError, match=r"is no move: moves are words of 64 bits$"):
        move_text(word)


def test_words_of_moves_without_content() -> None:
    assert [int(move) for move in (FOLLOW, STAY, PAY, BACK)] == [0x4000, 0x5000, 0x6000, 0x7000]
    assert move_of(Kind.DIE, 8, PARK) == 0x38FF


def test_blanks_around_and_between_do_not_matter() -> None:
    assert parse_move("  pack   27  refuel ") == parse_move("pack 27 refuel")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "Solo",
        "solo 27",
        "solo refuel breakaway",
        "solo  sum",
        "pack",
        "pack 0",
        "pack 61",
        "pack 07",
        "pack +7",
        "pack ²",
        "pack Park",
        "pack 255",
        "pack 27 sum",
        "pack 27 refuel refuel",
        "red",
        "red from",
        "red from 0",
        "red from 61",
        "red from finish",
        "red 27",
        "orange from 27",
        "Red from 27",
        "energy to 27",
        "sum from 1.0",
        "follow 27",
        "follow stay",
        "pay pay",
        "back 1",
        "take",
        "take energy",
        "take sum",
        "take 3",
        "take blue red",
        "pass",
    ],
)
def test_misspelt_text(text: str) -> None:
    with pytest.raises(IllegalMoveError) as caught:
        parse_move(text)
    assert str(caught.value).startswith(
        f"{text!r} is no move: allowed are solo [refuel, breakaway], pack SPACE [refuel]"
    )
    assert "\n" not in str(caught.value)
    assert caught.value.rule == ""


@pytest.mark.parametrize("text", [None, 4096, b"solo", ["solo"]])
def test_what_is_no_text(text: object) -> None:
    with pytest.raises(IllegalMoveError, match=r"is no move: moves are written as text$"):
        parse_move(text)


@pytest.mark.parametrize(
    ("text", "kind", "spends", "die", "space", "seat"),
    [
        ("solo", "solo", 0, None, None, None),
        ("solo breakaway", "solo", 2, None, None, None),
        ("pack 27 refuel", "pack", 1, None, 27, None),
        ("pack park", "pack", 0, None, "park", None),
        ("red from 33", "die", 0, "red", 33, None),
        ("sum from park", "die", 0, "sum", "park", None),
        ("follow", "follow", 0, None, None, None),
        ("take red", "take", 0, None, None, 0),
        ("take blue", "take", 0, None, None, 6),
    ],
)
def test_move_for_plain_bots(
    text: str, kind: str, spends: int, die: str | None, space: int | str | None, seat: int | None
) -> None:
    move = Move(int(parse_move(text)))
    assert (move.kind, move.spends, move.die, move.space, move.seat) == (kind, spends, die, space, seat)
    assert (move.text, str(move), repr(move)) == (text, text, f"<{text}>")
    assert move == parse_move(text)
