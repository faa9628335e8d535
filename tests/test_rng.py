"""Random streams: what a name draws is fixed for ever, names do not share draws, bounded draws are uniform."""

import hashlib
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from velonimo_sim._jit import INTERPRETED
from velonimo_sim.rng import BOT, CHANCE, STREAM, Stream, below, new_stream, next_word, open_stream
from velonimo_sim.velonimo.rules import DEAL_VERSION, MAX_COLS, MAX_PLAYERS
from velonimo_sim.velonimo.state import new_state
from velonimo_sim.velonimo.step import deal, draw_from_hand
from velonimo_sim.velonimo.view import Phase

pytestmark = pytest.mark.kernel

LARGEST = (1 << 63) - 1
CRITICAL = {1: 10.828, 2: 13.816, 4: 18.467, 5: 20.515, 6: 22.458, 35: 66.619, 54: 91.872}
"""Upper 0.1 % points of the chi-square distribution by degrees of freedom."""


def chi_square(counts: np.ndarray) -> float:
    """Return Pearson's statistic of counts that should be equal."""
    expected = counts.sum() / counts.size
    return float(((counts - expected) ** 2).sum() / expected)


def first_words(stream: Stream, n: int) -> list[int]:
    return [int(next_word(stream)) for _ in range(n)]


def test_generator_is_split_mix_64() -> None:
    """The outputs for the seed 1234567 that implementations of SplitMix64 are commonly checked against."""
    stream = np.zeros(1, STREAM)[0]
    stream["state"], stream["gamma"] = 1234567, 0x9E37_79B9_7F4A_7C15
    assert first_words(stream, 5) == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ((0, 0, 0), [0x88DC_F959_4BD1_AD99, 0xF28F_0D06_6104_87E5, 0x2CAF_7E38_4A48_F074]),
        ((0, 0, 1), [0xC174_0CEF_8ADC_B8AB, 0x2534_9F69_E65D_BC44, 0xEE76_4CC4_F47D_FD0E]),
        ((0, 1, 0), [0x0481_6C2F_3B98_7364, 0xAD19_ADAE_A0D9_0A48, 0xF091_E9B9_0AA5_267A]),
        ((1, 0, 0), [0x0969_7F1E_6141_E0EB, 0x07C6_9202_E119_39A3, 0x6B49_C324_B3C2_9DC8]),
        ((7, 123456, BOT + 3), [0x9350_CFA7_5259_E1A6, 0x803C_E20B_B1D8_7F32, 0x73C0_DB8C_3ED2_2F62]),
        ((LARGEST, LARGEST, LARGEST), [0xD8DE_3901_335E_D18E, 0x424C_A245_3369_8FD0, 0xBEC3_4482_9726_5F59]),
    ],
)
def test_golden_streams(name: tuple[int, int, int], expected: list[int]) -> None:
    assert first_words(new_stream(*name), 3) == expected, (
        "streams draw other words: DEAL_VERSION in rules.py has to go up"
    )


def mix(z: int, first: int, factors: tuple[int, int], last: tuple[int, int]) -> int:
    """Return the common form of the two finalizers: shift, multiply, shift, multiply, shift."""
    z = (z ^ z >> first) * factors[0] % 2**64
    z = (z ^ z >> last[0]) * factors[1] % 2**64
    return z ^ z >> last[1]


def mix_13(z: int) -> int:
    return mix(z, 30, (0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB), (27, 31))


def mix_gamma(z: int) -> int:
    z = mix(z, 33, (0xFF51_AFD7_ED55_8CCD, 0xC4CE_B9FE_1A85_EC53), (33, 33)) | 1
    return z ^ 0xAAAA_AAAA_AAAA_AAAA if (z ^ z >> 1).bit_count() < 24 else z


@given(*[st.integers(0, LARGEST)] * 3)
def test_streams_are_those_of_plain_integers(seed: int, index: int, purpose: int) -> None:
    golden = 0x9E37_79B9_7F4A_7C15
    state, gamma = 0, golden
    for part in (seed, index, purpose):
        state = mix_13(((state ^ part) + golden) % 2**64)
        gamma = mix_gamma(((gamma ^ part) + golden) % 2**64)
    gamma = mix_gamma(gamma)
    expected = [mix_13((state + n * gamma) % 2**64) for n in (1, 2, 3)]
    assert first_words(new_stream(seed, index, purpose), 3) == expected


def test_same_name_same_stream() -> None:
    stream = new_stream(5, 6, 7)
    words = first_words(stream, 10)
    assert first_words(new_stream(5, 6, 7), 10) == words
    open_stream(stream, 5, 6, 7)
    assert first_words(stream, 10) == words


def test_every_part_of_the_name_matters() -> None:
    names = list(product(range(8), range(8), (0, 1, 2, 3, CHANCE, BOT, BOT + 1, BOT + 4)))
    streams = [new_stream(*name) for name in names]
    assert len({int(stream["gamma"]) for stream in streams}) == len(names)
    words = [word for stream in streams for word in first_words(stream, 4)]
    assert len(set(words)) == len(words)


def test_purposes_do_not_meet() -> None:
    """Deals, the chance within a game and the bots of all seats are drawn from different streams."""
    deals, bots = range(MAX_COLS), range(BOT, BOT + MAX_PLAYERS)
    assert len({*deals, CHANCE, *bots}) == MAX_COLS + 1 + MAX_PLAYERS


@given(*[st.integers(0, LARGEST)] * 3)
def test_stream_constant_is_odd(seed: int, index: int, purpose: int) -> None:
    assert int(new_stream(seed, index, purpose)["gamma"]) % 2 == 1


@pytest.mark.parametrize("name", ["seed", "index", "purpose"])
@pytest.mark.parametrize("value", [-1, LARGEST + 1, 1 << 64, 1.0, "1", True, None])
def test_name_out_of_range(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{name} {value}: allowed is an integer 0 to 2\*\*63 - 1$"):
        new_stream(**({"seed": 1} | {name: value}))


def test_name_of_numpy_integers() -> None:
    assert new_stream(np.int64(3), np.uint8(4), np.uint64(5)) == new_stream(3, 4, 5)


@given(st.integers(1, 2**32 - 1), st.integers(0, 1000))
def test_below_is_multiply_and_reject(n: int, seed: int) -> None:
    """A word's upper half times n: its upper half is the number, unless the lower half is below 2**32 modulo n."""
    expected, words = [], new_stream(seed)
    while len(expected) < 5:
        number, rest = divmod((int(next_word(words)) >> 32) * n, 2**32)
        if rest >= 2**32 % n:
            expected.append(number)
    stream = new_stream(seed)
    assert [below(stream, n) for _ in range(5)] == expected


@pytest.mark.parametrize("n", [2, 3, 6, 7, 55])
def test_below_is_uniform_over_exactly_its_range(n: int) -> None:
    stream = new_stream(11, n)
    counts = np.bincount([below(stream, n) for _ in range((50 if INTERPRETED else 1000) * n)], minlength=n)
    assert len(counts) == n
    assert counts.min() > 0
    assert chi_square(counts) < CRITICAL[n - 1]


@pytest.mark.parametrize(("n", "modulus"), [(3 << 30, 3), (5 << 29, 5)])
def test_below_is_unbiased_for_large_bounds(n: int, modulus: int) -> None:
    """Without rejection some residues would be drawn twice as often as others."""
    stream = new_stream(12)
    numbers = [below(stream, n) for _ in range(3000)]
    assert min(numbers) >= 0
    assert n - n // 100 < max(numbers) < n
    assert chi_square(np.bincount([number % modulus for number in numbers])) < CRITICAL[modulus - 1]


def test_below_one_is_zero() -> None:
    stream = new_stream(0)
    assert {below(stream, 1) for _ in range(100)} == {0}


@pytest.mark.parametrize("names", [lambda i: ((3, i, 0), (3, i + 1, 0)), lambda i: ((3, i, BOT), (3, i, BOT + 1))])
def test_neighbouring_streams_are_independent(
    names: Callable[[int], tuple[tuple[int, int, int], tuple[int, int, int]]],
) -> None:
    counts = np.zeros((6, 6), np.int64)
    for i in range(0, 3600, 2):
        first, second = names(i)
        counts[below(new_stream(*first), 6), below(new_stream(*second), 6)] += 1
    assert chi_square(counts) < CRITICAL[35]


GOLDEN_DEALS = {
    2: "5ae03ddd425d91ed524b5fe9a62f8f19d8c14d09485227eb5d74bc1ffd2f32f6",
    3: "8718aff16aa6270210d8616317e7da781423a376be62255f383ef8b5fa1b1fed",
    4: "51185febe859c254a5b10ba10ce0ab7040e1fd7e126de1442cecd712ac0ff1ff",
    5: "1e54c52c4547f6522cf75266f790901e82d91c542ac23bc0768d6fc258234acc",
}
GOLDEN_SWAPS = "f2c01bfd25e4022584b4abde12eef5e20c77d67e4f8f23674aef160f04c10ed8"


def hash_of_deals(players: int, games: int = 100, cols: int = 5) -> str:
    """Return the hash of the hands, the reward and the pile of every deal of the first games under seed 0."""
    digest = hashlib.sha256()
    for game in range(games):
        state = new_state(players)
        for _ in range(cols):
            state["view"]["phase"] = Phase.COL_OVER
            deal(state, 0, game)
            digest.update(state["hands"].astype("<u8").tobytes())
            digest.update(state["view"]["reward"].astype("<u8").tobytes())
            digest.update(state["pile"].tobytes())
    return digest.hexdigest()


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_golden_deals(players: int) -> None:
    assert DEAL_VERSION == 1, "the golden deals are those of version 1: write down those of the new version"
    assert hash_of_deals(players) == GOLDEN_DEALS[players], (
        f"seed 0 deals other cards to {players} players: DEAL_VERSION in rules.py has to go up, and the golden hashes "
        "of this test with it"
    )


def test_golden_swaps() -> None:
    """What the chance of the first 100 games takes out of one hand, two cards a game."""
    digest = hashlib.sha256()
    for game in range(100):
        state = new_state(3)
        deal(state, 0)
        state["view"]["swap_count"] = 2
        digest.update(np.uint64(draw_from_hand(state, 1, new_stream(0, game, CHANCE))).astype("<u8").tobytes())
    assert DEAL_VERSION == 1, "the golden swaps are those of version 1: write down those of the new version"
    assert digest.hexdigest() == GOLDEN_SWAPS, (
        "seed 0 draws other cards in swaps: DEAL_VERSION in rules.py has to go up, and the golden hash of this test "
        "with it"
    )
