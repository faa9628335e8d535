"""The bot ``saver``: keeps a can for the obstacles before the finish, and holds back the second courier.

Its last can is dear to it, but for staying on an obstacle. Where a tie is decided by the last courier (C18, C19), it
holds back its second: it crosses the finish line with it only when nothing else is to be done, or when the race may
soon be over. With 3 and 4 players somebody's third courier ends the race before the eighth place does, so that there is
no tie, and nothing to hold back for.
"""

import numpy as np

from velonimo_sim._jit import kernel
from velonimo_sim.bits import integer
from velonimo_sim.bot.parameter import Parameter
from velonimo_sim.bot.policy import compiled_bot
from velonimo_sim.rng import Stream
from velonimo_sim.velocity.policies.base import Scratch
from velonimo_sim.velocity.policies.greedy import CAN
from velonimo_sim.velocity.policies.outlook import Taste, choose_by_outlook
from velonimo_sim.velocity.rules import WINNING_COURIERS
from velonimo_sim.velocity.track import FINISH_PLACES
from velonimo_sim.velocity.view import View

DEAR_CAN = 4.0
"""Spaces that the last can is worth."""
CAN_AT_OBSTACLE = 1.0
"""Spaces that a can is worth when it is spent for what it was kept for."""
HELD_BACK = -20.0
"""Spaces that it is worth to cross with the second courier, while it is held back."""
FEW_PLAYERS = 4
"""With so many players or fewer the third courier of somebody ends the race."""
_FITTING, _ON, _OFF = range(3)


@kernel
def is_tie_likely(view: View, places_left: int) -> bool:
    """Whether the last courier may decide: nobody else has two in the finish, and some finish places are free (C18)."""
    for seat in range(integer(view["players"])):
        if seat != view["turn"] and view["finished"][seat] == WINNING_COURIERS - 1:
            return False
    return FINISH_PLACES - integer(view["n_finished"]) > places_left


@kernel
def holds_back(view: View, hold: int, places_left: int) -> bool:
    """Whether the second courier is held back."""
    if hold == _OFF or (hold == _FITTING and view["players"] <= FEW_PLAYERS):
        return False
    return is_tie_likely(view, places_left)


@compiled_bot(
    "saver",
    "keeps a can for the obstacles before the finish, holds back the second courier",
    [
        Parameter("keep", bool, True, help="keep a can for the obstacles"),
        Parameter("hold", ("fitting", "on", "off"), "fitting", help="hold back the second; fitting: with 5-7 players"),
        Parameter("places", int, 2, (0, FINISH_PLACES), "cross with the second when so few finish places are free"),
    ],
    game="velocity",
)
def saver(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Choose the move of the most progress, with a can kept for the obstacles and the second courier held back."""
    keeps, hold, places = scratch["parameters"][0] > 0, scratch["parameters"][1], scratch["parameters"][2]
    can = DEAR_CAN if keeps and view["cans"][view["turn"]] <= 1 else CAN
    second_courier = HELD_BACK if holds_back(view, integer(hold), integer(places)) else 0.0
    return choose_by_outlook(view, Taste(can, CAN_AT_OBSTACLE if keeps else CAN, second_courier, True))
