"""The bot ``random``: uniform over the legal moves of every decision, and the draws that other bots share."""

import numpy as np

from velonimo_sim._jit import inlined, kernel
from velonimo_sim.bits import U0, integer, nth, popcount
from velonimo_sim.bot.policy import compiled_bot
from velonimo_sim.rng import Stream, below
from velonimo_sim.velonimo.legal import count_plays, nth_play
from velonimo_sim.velonimo.moves import DECLINE, FORCE, KEEP, PASS, Kind, move_of
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.rules import SWAP_OPTIONAL
from velonimo_sim.velonimo.view import Phase, View


@kernel
def uniform_opponent(view: View, stream: Stream) -> int:
    """Return a uniform seat among the others that still have cards."""
    is_racing = integer(view["sizes"][view["seat"]] > 0)
    k = below(stream, integer(view["racing"]) - is_racing)
    seat = 0
    while seat == view["seat"] or view["sizes"][seat] == 0 or k > 0:
        if seat != view["seat"] and view["sizes"][seat] > 0:
            k -= 1
        seat += 1
    return seat


@kernel
def uniform_cards(hand: np.uint64, count: int, stream: Stream) -> np.uint64:
    """Return a uniform choice of ``count`` cards of the hand."""
    chosen = U0
    for _ in range(count):
        rest = hand & ~chosen
        chosen |= nth(rest, below(stream, popcount(rest)))
    return chosen


@inlined
def _uniform_play(view: View, stream: Stream) -> np.uint64:
    plays = count_plays(view)
    may_pass = integer(view["phase"] == Phase.FOLLOW)
    if plays == 0:
        return PASS
    k = below(stream, plays + may_pass)
    return PASS if k == plays else nth_play(view, k)


@kernel
def _uniform_swap(view: View, stream: Stream) -> np.uint64:
    if view["rules"]["tortoise_swap"] == SWAP_OPTIONAL and below(stream, integer(view["racing"])) == 0:
        return DECLINE
    return move_of(Kind.SWAP, np.uint64(uniform_opponent(view, stream)))


@compiled_bot("random", "uniform over the legal moves")
def uniform(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Choose uniformly among the legal moves, a pass being one of them."""
    phase = integer(view["phase"])
    if phase <= Phase.FOLLOW:
        return _uniform_play(view, stream)
    if phase == Phase.SWAP:
        return _uniform_swap(view, stream)
    if phase == Phase.GIVE:
        return move_of(Kind.GIVE, uniform_cards(view["hand"], integer(view["swap_count"]), stream))
    if phase == Phase.NEXT_LEADER:
        return move_of(Kind.LEAD, np.uint64(uniform_opponent(view, stream)))
    return KEEP if below(stream, 2) == 0 else FORCE
