"""What a compiled bot of VeloCity is handed and what it returns: one declared signature.

A policy is ``move = policy(view, scratch, stream)``. It sees the view, which is the whole race, may write to its own
scratch record, and draws its random numbers from its own stream; the dice of the game come from another.
"""

from typing import TypeAlias

import numpy as np
from numba import from_dtype, types

from velonimo_sim.bot.parameter import MAX_PARAMETERS
from velonimo_sim.rng import STREAM
from velonimo_sim.velocity.state import STATE
from velonimo_sim.velocity.view import VIEW

SCRATCH = np.dtype(
    [
        ("parameters", "f8", (MAX_PARAMETERS,)),  # values as they are declared; on is 1, a choice its index
        ("used", "i8"),  # words of memory in use, which the bot counts; the engine sets 0 when a game begins
        ("moves", "u8", (64,)),  # room for a list of legal moves; what is left in it means nothing to the next call
        ("memory", "u8", (8_192,)),  # what the bot remembers within a game; beyond ``used`` it may hold anything
        ("truth", STATE),  # the whole state, for bots declared with ``sees_all``; zeros for all others
    ],
    align=True,
)
"""Working memory of one bot: to be made of zeros and neither copied nor cleared."""

Scratch: TypeAlias = np.void
"""A record of dtype ``SCRATCH``."""

POLICY = types.uint64(from_dtype(VIEW), from_dtype(SCRATCH), from_dtype(STREAM))
"""The signature of every compiled policy."""
