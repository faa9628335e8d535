"""The bot ``champion``: the strongest bot of the house that decides within 20 milliseconds on one core.

Which search with which budget that is was measured, see ``experiments/010-ladder``.
"""

import numpy as np

from velonimo_sim.rng import Stream
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.policies.policy import compiled_bot
from velonimo_sim.velonimo.policies.rollout import search_flat
from velonimo_sim.velonimo.policies.search import search_parameters
from velonimo_sim.velonimo.view import View


@compiled_bot("champion", "the strongest that decides within 20 ms", search_parameters(n=2000, weigh=8))
def champion(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Choose the candidate that does best in playouts."""
    return search_flat(view, scratch, stream)
