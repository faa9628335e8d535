"""The bot ``random``: uniform over the legal moves of every decision."""

import numpy as np

from velonimo_sim.bot.policy import compiled_bot
from velonimo_sim.rng import Stream, below
from velonimo_sim.velocity.legal import count_moves, nth_move
from velonimo_sim.velocity.policies.base import Scratch
from velonimo_sim.velocity.view import View


@compiled_bot("random", "uniform over the legal moves", game="velocity")
def uniform(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Choose uniformly among the legal moves."""
    return nth_move(view, below(stream, count_moves(view)))
