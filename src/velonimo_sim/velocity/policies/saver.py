"""The bot ``saver``: keeps cans for the obstacles before the finish, and holds back the second courier.

As long as it has no more cans than couriers that still need one, a can is dear to it, but for staying on an obstacle.
Where a tie is decided by the last courier (C18, C19), it holds back its second: it crosses the finish line with it only
when nothing else is to be done, or when the race may soon be over.
"""

import numpy as np

from velonimo_sim._jit import kernel
from velonimo_sim.bits import integer
from velonimo_sim.bot.parameter import Parameter
from velonimo_sim.bot.policy import compiled_bot
from velonimo_sim.rng import Stream
from velonimo_sim.velocity.policies.base import Scratch
from velonimo_sim.velocity.policies.greedy import CAN
from velonimo_sim.velocity.policies.outlook import TASTE, choose_by_outlook
from velonimo_sim.velocity.state import WINNING_COURIERS
from velonimo_sim.velocity.track import FINISH_PLACES
from velonimo_sim.velocity.view import View

DEAR_CAN = 5.0
"""Spaces that a can is worth as long as it is needed for an obstacle."""
HELD_BACK = -20.0
"""Spaces that it is worth to cross with the second courier, while it is held back."""


@kernel
def is_tie_likely(view: View, places_left: int) -> bool:
    """Whether the last courier may decide: nobody else has two in the finish, and some finish places are free (C18)."""
    for seat in range(integer(view["players"])):
        if seat != view["turn"] and view["finished"][seat] == WINNING_COURIERS - 1:
            return False
    return FINISH_PLACES - integer(view["n_finished"]) > places_left


@compiled_bot(
    "saver",
    "keeps cans for the obstacles before the finish, holds back the second courier",
    [
        Parameter("keep", bool, True, help="keep cans for the obstacles"),
        Parameter("hold", bool, True, help="hold back the second courier"),
        Parameter("places", int, 2, (0, FINISH_PLACES), "cross with the second when so few finish places are free"),
    ],
    game="velocity",
)
def saver(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Choose the move of the most progress, with cans for the obstacles kept and the second courier held back."""
    keep, hold, places = scratch["parameters"][0] > 0, scratch["parameters"][1] > 0, scratch["parameters"][2]
    seat = integer(view["turn"])
    needed = WINNING_COURIERS - integer(view["finished"][seat])
    tastes = np.empty(1, TASTE)
    taste = tastes[0]
    taste["can"] = DEAR_CAN if keep and view["cans"][seat] <= needed else CAN
    taste["can_at_obstacle"] = CAN
    taste["second_courier"] = HELD_BACK if hold and is_tie_likely(view, integer(places)) else 0.0
    return choose_by_outlook(view, tastes[0])
