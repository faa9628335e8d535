"""Operations on 64-bit words; the only file with raw shifts, but for the mixing of bits in ``rng.py``.

numba turns ``uint64`` mixed with a Python integer into ``int64`` or ``float64``, and has no popcount. Kernels call the
functions below instead, which keep words ``uint64`` and counts ``int64``. Each function gives the same result
compiled and interpreted; the intrinsics have plain twins for interpreted runs.
"""

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from velonimo_sim._jit import INTERPRETED, inlined, kernel

U0 = np.uint64(0)
U1 = np.uint64(1)
_WRAP = (1 << 64) - 1

if INTERPRETED:

    def _count_bits(word: np.uint64) -> int:
        return int(word).bit_count()

    def _trailing_zeros(word: np.uint64) -> int:
        value = int(word)
        return (value & -value).bit_length() - 1 if value else 64

    def add(a: np.uint64, b: np.uint64) -> np.uint64:
        """Return ``a + b`` modulo 2**64."""
        return np.uint64((int(a) + int(b)) & _WRAP)

    def multiply(a: np.uint64, b: np.uint64) -> np.uint64:
        """Return ``a * b`` modulo 2**64."""
        return np.uint64((int(a) * int(b)) & _WRAP)

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def _count_bits(typing_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.int64(types.uint64), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def _trailing_zeros(typing_context: Any, word: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            zero_is_64 = context.get_constant(types.boolean, False)
            return builder.cttz(arguments[0], zero_is_64)

        return types.int64(types.uint64), generate

    @inlined
    def add(a: np.uint64, b: np.uint64) -> np.uint64:
        """Return ``a + b`` modulo 2**64."""
        return a + b

    @inlined
    def multiply(a: np.uint64, b: np.uint64) -> np.uint64:
        """Return ``a * b`` modulo 2**64."""
        return a * b


@inlined
def integer(value: Any) -> int:
    """Return a field or element as a signed 64-bit integer.

    Unsigned fields mixed with literals would be compared and returned as ``float64``.
    """
    return int(np.int64(value))


@inlined
def popcount(word: np.uint64) -> int:
    """Return the number of set bits, 0-64."""
    return _count_bits(word)


@inlined
def lowest_index(word: np.uint64) -> int:
    """Return the position of the lowest set bit, 0-63; 64 for the word 0."""
    return _trailing_zeros(word)


@inlined
def shift_left(word: np.uint64, places: int) -> np.uint64:
    """Return ``word << places`` for 0-63 places."""
    return np.uint64(word) << np.uint64(places)


@inlined
def shift_right(word: np.uint64, places: int) -> np.uint64:
    """Return ``word >> places`` for 0-63 places."""
    return np.uint64(word) >> np.uint64(places)


@inlined
def bit(position: int) -> np.uint64:
    """Return the word with the one bit at ``position``, 0-63."""
    return U1 << np.uint64(position)


@inlined
def lowest(word: np.uint64) -> np.uint64:
    """Return the lowest set bit as a word; 0 for the word 0."""
    return word & (add(~word, U1))


@inlined
def without_lowest(word: np.uint64) -> np.uint64:
    """Return the word less its lowest set bit; not for the word 0."""
    return word & (word - U1)


@inlined
def nth(word: np.uint64, k: int) -> np.uint64:
    """Return the ``k``-th set bit of a word that has it, 0 being the lowest, as a word."""
    for _ in range(k):
        word = without_lowest(word)
    return lowest(word)


@inlined
def byte(word: np.uint64, index: int) -> int:
    """Return byte ``index`` of the word, 0-255; byte 0 holds the lowest bits."""
    return integer((np.uint64(word) >> np.uint64(8 * index)) & np.uint64(0xFF))


@inlined
def column(word: np.uint64, index: int) -> int:
    """Return bit ``index`` of each of the bytes 0-6, gathered in 7 bits: bit c comes from byte c."""
    spaced = (np.uint64(word) >> np.uint64(index)) & np.uint64(0x0001_0101_0101_0101)
    # Multiplied, bit 8c lands on 49 + c: the partner of 8c is 49 - 7c, and no two products collide.
    return integer(multiply(spaced, np.uint64(0x0002_0408_1020_4080)) >> np.uint64(49)) & 0x7F


@kernel
def deposit(word: np.uint64, places: np.uint64) -> np.uint64:
    """Return the word's low bits moved to the set bits of ``places``, in order (as the instruction ``pdep``)."""
    result = U0
    while word != U0:
        result |= nth(places, lowest_index(word))
        word = without_lowest(word)
    return result


@inlined
def fold(word: np.uint64, part: np.uint64, factor: np.uint64) -> np.uint64:
    """Return a hash of a hash and one more word; the factor is odd, and names one of many hashes."""
    product = multiply(word ^ part, factor)
    return product ^ shift_right(product, 29)


@inlined
def next_of_same_size(word: np.uint64) -> np.uint64:
    """Return the next higher word with as many set bits (Gosper's method, HAKMEM item 175); not for 0."""
    low = lowest(word)
    ripple = add(word, low)
    return ripple | (((word ^ ripple) >> np.uint64(2)) // low)


@kernel
def binomial(n: int, k: int) -> int:
    """Return the number of ways to choose ``k`` of ``n``, for 0 <= k <= n <= 60."""
    result = 1
    for i in range(min(k, n - k)):
        result = result * (n - i) // (i + 1)
    return result
