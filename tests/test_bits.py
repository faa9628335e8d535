"""Operations on words against plain Python integers, over the whole range of 64 bits."""

from collections.abc import Callable
from itertools import product
from math import comb
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from numba import types

from velonimo_sim import bits
from velonimo_sim._jit import INTERPRETED

pytestmark = pytest.mark.kernel

WORD = 1 << 64
ALL_ONES = WORD - 1
EDGES = (0, 1, 2, 3, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 63) + 1, ALL_ONES - 1, ALL_ONES)
WORDS = st.one_of(
    st.sampled_from(EDGES),
    st.integers(0, ALL_ONES),
    st.sets(st.integers(0, 63), max_size=5).map(lambda places: sum(1 << place for place in places)),
)


def over_words(test: Callable[[int], None]) -> Callable[[], None]:
    """Run a test for every edge and for random words."""
    for edge in EDGES:
        test = example(edge)(test)
    return given(WORDS)(test)


def over_pairs(test: Callable[[int, int], None]) -> Callable[[], None]:
    """Run a test for every pair of edges and for random pairs of words."""
    for first in EDGES:
        for second in EDGES:
            test = example(first, second)(test)
    return given(WORDS, WORDS)(test)


def bits_of(word: int) -> list[int]:
    """Return the positions of the set bits, lowest first."""
    return [place for place in range(64) if word >> place & 1]


def word(value: int) -> np.uint64:
    return np.uint64(value)


@over_words
def test_popcount(value: int) -> None:
    assert bits.popcount(word(value)) == value.bit_count()


@over_words
def test_lowest_index_is_64_for_no_bit(value: int) -> None:
    assert bits.lowest_index(word(value)) == (bits_of(value)[0] if value else 64)


@over_words
def test_lowest(value: int) -> None:
    assert bits.lowest(word(value)) == (1 << bits_of(value)[0] if value else 0)


@over_words
def test_without_lowest(value: int) -> None:
    assume(value)
    assert bits.without_lowest(word(value)) == value - (1 << bits_of(value)[0])


@over_words
def test_nth_is_each_bit_in_turn(value: int) -> None:
    assert [int(bits.nth(word(value), k)) for k in range(value.bit_count())] == [1 << at for at in bits_of(value)]


@over_words
def test_byte(value: int) -> None:
    assert [bits.byte(word(value), index) for index in range(8)] == list(value.to_bytes(8, "little"))


@over_words
def test_column_gathers_one_bit_of_bytes_0_to_6(value: int) -> None:
    for index in range(8):
        expected = sum((value >> (8 * team + index) & 1) << team for team in range(7))
        assert bits.column(word(value), index) == expected


@over_words
def test_shifts_by_every_number_of_places(value: int) -> None:
    for places in range(64):
        assert bits.shift_left(word(value), places) == (value << places) % WORD
        assert bits.shift_right(word(value), places) == value >> places


@pytest.mark.parametrize("position", range(64))
def test_bit(position: int) -> None:
    assert bits.bit(position) == 2**position


@over_pairs
def test_add_wraps_around(a: int, b: int) -> None:
    assert bits.add(word(a), word(b)) == (a + b) % WORD


@over_pairs
def test_multiply_wraps_around(a: int, b: int) -> None:
    assert bits.multiply(word(a), word(b)) == (a * b) % WORD


@over_pairs
def test_deposit_moves_low_bits_to_the_places(value: int, places: int) -> None:
    targets = bits_of(places)
    low_bits = value % (1 << len(targets))
    expected = sum(1 << target for i, target in enumerate(targets) if low_bits >> i & 1)
    assert bits.deposit(word(low_bits), word(places)) == expected


def next_permutation(value: int) -> int | None:
    """Return the next higher word with as many bits: the last ``01`` becomes ``10``, what follows is sorted."""
    digits = f"{value:064b}"
    at = digits.rfind("01")
    return None if at < 0 else int(digits[:at] + "10" + "".join(sorted(digits[at + 2 :])), 2)


@over_words
def test_next_of_same_size_is_the_next_permutation(value: int) -> None:
    expected = next_permutation(value)
    assume(expected is not None)
    assert bits.next_of_same_size(word(value)) == expected


@pytest.mark.parametrize("size", range(1, 8))
def test_next_of_same_size_visits_every_choice_once_in_order(size: int) -> None:
    expected = [value for value in range(1 << 9) if value.bit_count() == size]
    visited = [(1 << size) - 1]
    while len(visited) < len(expected):
        visited.append(int(bits.next_of_same_size(word(visited[-1]))))
    assert visited == expected


@pytest.mark.parametrize("n", range(61))
def test_binomial(n: int) -> None:
    assert [bits.binomial(n, k) for k in range(n + 1)] == [comb(n, k) for k in range(n + 1)]


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (np.uint8(255), 255),
        (np.int8(-1), -1),
        (np.int32(-5), -5),
        (np.uint64((1 << 63) - 1), (1 << 63) - 1),
        (np.int64(-(1 << 63)), -(1 << 63)),
        (np.bool_(True), 1),
    ],
)
def test_integer_keeps_the_value_as_a_signed_integer(field: Any, expected: int) -> None:
    result = bits.integer(field)
    assert type(result) is int
    assert result == expected


RETURNS_WORD = (
    (bits.add, (word(1), word(2))),
    (bits.multiply, (word(1), word(2))),
    (bits.shift_left, (word(1), 2)),
    (bits.shift_right, (word(1), 2)),
    (bits.bit, (2,)),
    (bits.lowest, (word(6),)),
    (bits.without_lowest, (word(6),)),
    (bits.nth, (word(6), 1)),
    (bits.deposit, (word(3), word(6))),
    (bits.next_of_same_size, (word(6),)),
    (bits.fold, (word(6), word(2), word(5))),
)
RETURNS_COUNT = (
    (bits.integer, (word(6),)),
    (bits.popcount, (word(6),)),
    (bits.lowest_index, (word(6),)),
    (bits.byte, (word(6), 0)),
    (bits.column, (word(6), 0)),
    (bits.binomial, (6, 2)),
)


def return_type(function: Any, arguments: tuple[Any, ...]) -> type:
    """Return ``np.uint64`` or ``int``: what a caller within compiled or interpreted code gets."""
    result = function(*arguments)
    if INTERPRETED:
        return type(result)
    signature = function.overloads[tuple(types.uint64 if isinstance(a, np.uint64) else types.int64 for a in arguments)]
    return {types.uint64: np.uint64, types.int64: int}[signature.signature.return_type]


def test_fold_tells_words_their_order_and_factors_apart() -> None:
    hashes = set()
    for factor in (0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F):
        for words in product(range(8), repeat=3):
            folded = word(100)
            for part in words:
                folded = word(bits.fold(folded, word(part), word(factor)))
            hashes.add(int(folded))
    assert len(hashes) == 2 * 8**3


@pytest.mark.parametrize(("function", "arguments"), RETURNS_WORD, ids=lambda part: getattr(part, "__name__", ""))
def test_words_stay_unsigned(function: Any, arguments: tuple[Any, ...]) -> None:
    assert return_type(function, arguments) is np.uint64


@pytest.mark.parametrize(("function", "arguments"), RETURNS_COUNT, ids=lambda part: getattr(part, "__name__", ""))
def test_counts_stay_signed(function: Any, arguments: tuple[Any, ...]) -> None:
    assert return_type(function, arguments) is int


def test_every_function_is_tested_for_its_type() -> None:
    tested = {function.__name__ for function, _ in RETURNS_WORD + RETURNS_COUNT}
    public = {
        name
        for name, part in vars(bits).items()
        if callable(part) and not name.startswith("_") and part.__module__ == bits.__name__
    }
    assert tested == public
