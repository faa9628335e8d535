"""Random streams that depend on nothing but their key.

A stream is named by (root seed, index, purpose): the deal of game 7, the chance of game 7, the bot in seat 2 of game
7 are three streams, so results do not depend on the number of workers, on chunks, on the machine or on who plays.

The generator is SplitMix64 with a stream constant (Steele, Lea and Flood, "Fast splittable pseudorandom number
generators", OOPSLA 2014): the n-th output is a mix of ``state + n * gamma``. Numbers below a bound are drawn without
bias (Lemire, "Fast random integer generation in an interval", ACM TOMACS 2019).
"""

from typing import TypeAlias

import numpy as np

from velonimo_sim._jit import inlined, kernel
from velonimo_sim.bits import U0, U1, add, integer, multiply, popcount
from velonimo_sim.errors import UsageError, is_integer_in

STREAM = np.dtype([("state", "u8"), ("gamma", "u8")], align=True)
"""A random stream: where it stands, and the odd constant by which it advances."""

Stream: TypeAlias = np.void

CHANCE = 1_000
"""Purpose of the stream that draws what happens within a game, the dice of VeloCity among it."""
BOT = 2_000
"""Purpose of the stream of the bot in seat 0; seat s has ``BOT + s``. Purposes below ``CHANCE`` are deals."""

_GOLDEN = np.uint64(0x9E37_79B9_7F4A_7C15)
_LOW_32 = np.uint64(0xFFFF_FFFF)
_32 = np.uint64(32)


@inlined
def _mix(z: np.uint64) -> np.uint64:
    """Return Stafford's 13th variant of the 64-bit finalizer."""
    z = multiply(z ^ (z >> np.uint64(30)), np.uint64(0xBF58_476D_1CE4_E5B9))
    z = multiply(z ^ (z >> np.uint64(27)), np.uint64(0x94D0_49BB_1331_11EB))
    return z ^ (z >> np.uint64(31))


@kernel
def _mix_gamma(z: np.uint64) -> np.uint64:
    """Return an odd stream constant with enough bit changes (murmur3's finalizer, as in the paper)."""
    z = multiply(z ^ (z >> np.uint64(33)), np.uint64(0xFF51_AFD7_ED55_8CCD))
    z = multiply(z ^ (z >> np.uint64(33)), np.uint64(0xC4CE_B9FE_1A85_EC53))
    z = (z ^ (z >> np.uint64(33))) | U1
    if popcount(z ^ (z >> U1)) < 24:
        z = z ^ np.uint64(0xAAAA_AAAA_AAAA_AAAA)
    return z


@kernel
def open_stream(stream: Stream, seed: int, index: int, purpose: int) -> None:
    """Set ``stream`` to the start of the stream named by (seed, index, purpose), each 0 to 2**63 - 1."""
    first, second = U0, _GOLDEN
    for part in (np.uint64(seed), np.uint64(index), np.uint64(purpose)):
        first = _mix(add(first ^ part, _GOLDEN))
        second = _mix_gamma(add(second ^ part, _GOLDEN))
    stream["state"] = first
    stream["gamma"] = _mix_gamma(second)


@inlined
def next_word(stream: Stream) -> np.uint64:
    """Return the next 64 random bits."""
    state = add(stream["state"], stream["gamma"])
    stream["state"] = state
    return _mix(state)


@inlined
def below(stream: Stream, n: int) -> int:
    """Return a uniform integer from 0 to ``n - 1``, for 1 <= n < 2**32."""
    bound = np.uint64(n)
    product = multiply(next_word(stream) >> _32, bound)
    if product & _LOW_32 < bound:
        threshold = (_LOW_32 - bound + U1) % bound
        while product & _LOW_32 < threshold:
            product = multiply(next_word(stream) >> _32, bound)
    return integer(product >> _32)


@inlined
def below_at(stream: Stream, number: int, n: int) -> int:
    """Return the uniform integer from 0 to ``n - 1`` that a later word of the stream gives, which stays where it is.

    Word 1 is the next one. A word that would bias the draw is replaced by mixing it once more.
    """
    bound = np.uint64(n)
    word = _mix(add(stream["state"], multiply(stream["gamma"], np.uint64(number))))
    product = multiply(word >> _32, bound)
    if product & _LOW_32 < bound:
        threshold = (_LOW_32 - bound + U1) % bound
        while product & _LOW_32 < threshold:
            word = _mix(add(word, _GOLDEN))
            product = multiply(word >> _32, bound)
    return integer(product >> _32)


def new_stream(seed: int, index: int = 0, purpose: int = 0) -> Stream:
    """Return a stream of its own for use from Python.

    Parameters
    ----------
    seed, index, purpose : int
        The name of the stream, each 0 to 2**63 - 1.

    Returns
    -------
    numpy.void
        A record of dtype ``STREAM``; functions that draw from it advance it.

    Raises
    ------
    UsageError
        If a part of the name is out of range.
    """
    for name, value in (("seed", seed), ("index", index), ("purpose", purpose)):
        if not is_integer_in(value, 0, 2**63 - 1):
            raise UsageError(f"{name} {value}: allowed is an integer 0 to 2**63 - 1")
    stream: Stream = np.zeros(1, STREAM)[0]
    open_stream(stream, seed, index, purpose)
    return stream
