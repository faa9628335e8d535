"""The bot ``cheater``: ``rollout`` with all hands on the table. It is no rival; it shows how much is hidden."""

import numpy as np

from velonimo_sim.bits import integer
from velonimo_sim.bot.policy import compiled_bot
from velonimo_sim.rng import Stream
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.policies.rollout import search_flat
from velonimo_sim.velonimo.policies.search import ENDINGS, N, search_parameters
from velonimo_sim.velonimo.view import View


@compiled_bot("cheater", "rollout with all hands on the table", search_parameters(ENDINGS, epsilon=0.05), sees_all=True)
def cheater(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Choose the candidate that does best in playouts from the state as it is."""
    return search_flat(view, integer(scratch["parameters"][N]), scratch, stream)
