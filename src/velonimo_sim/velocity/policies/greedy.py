"""The bot ``greedy``: the most progress for the cans spent, in this turn and no further.

It counts the spaces that its couriers gain, those that follow and those that are moved back included. A can counts as
so many spaces, and is spent where it gains more.
"""

import numpy as np

from velonimo_sim.bot.parameter import Parameter
from velonimo_sim.bot.policy import compiled_bot
from velonimo_sim.rng import Stream
from velonimo_sim.velocity.policies.base import Scratch
from velonimo_sim.velocity.policies.outlook import Taste, choose_by_outlook
from velonimo_sim.velocity.view import View

CAN = 3.0
"""Spaces that a can is worth, where nothing else is said."""


@compiled_bot(
    "greedy",
    "most progress in this turn for the cans spent",
    [
        Parameter("can", float, CAN, (0, 100), "spaces that a can has to gain"),
        Parameter("packs", bool, True, help="ride in packs"),
    ],
    game="velocity",
)
def greedy(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Choose the move of the most progress."""
    can, packs = float(scratch["parameters"][0]), scratch["parameters"][1] > 0
    return choose_by_outlook(view, Taste(can, can, 0.0, packs))
