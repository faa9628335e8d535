"""The bot ``exact``: solves the end of a col, and follows the advice until then.

It does when all hands are known, and when two are left with few cards, then in hands that it imagines.
"""

import numpy as np

from velonimo_sim.bot.policy import compiled_bot
from velonimo_sim.rng import Stream
from velonimo_sim.velonimo.policies.advised import ALL_ADVICE, advise
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.policies.search import exact_ending
from velonimo_sim.velonimo.view import View


@compiled_bot("exact", "as advised, and solves the end of a col: hands that are known, or the few cards of two")
def exact(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Return the exact move or else the advised one."""
    advised = advise(view, ALL_ADVICE, stream)
    move = exact_ending(view, advised, scratch, stream)
    return move if move else advised
