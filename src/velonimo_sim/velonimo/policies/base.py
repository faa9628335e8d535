"""What a compiled bot is: one function with one declared signature.

A policy is ``move = policy(view, scratch, stream)``. It sees the view and nothing else of the game, may write to its
own scratch record, and draws its random numbers from its own stream.
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numba import from_dtype, types

from velonimo_sim.rng import STREAM
from velonimo_sim.velonimo.view import VIEW

SCRATCH = np.dtype(
    [
        ("parameters", "f8", (8,)),  # values of the bot's parameters, in the order of their declaration
        ("moves", "u8", (4096,)),  # room for a list of legal moves
    ],
    align=True,
)
"""Working memory of one bot; what a policy leaves in ``moves`` has no meaning for the next call."""

Scratch: TypeAlias = np.void
"""A record of dtype ``SCRATCH``."""

POLICY = types.uint64(from_dtype(VIEW), from_dtype(SCRATCH), from_dtype(STREAM))
"""The signature of every compiled policy."""

PolicyFunction: TypeAlias = Callable[[Any, Any, Any], np.uint64]
