"""``greedy`` as a user would write it, in a file of its own: ``run.py speed`` measures whether it is as fast."""

import numpy as np

from velonimo_sim import compiled_bot
from velonimo_sim.rng import Stream
from velonimo_sim.velonimo.moves import PASS
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.policies.greedy import cheapest_play, decide_beside_plays, lead_most_cards
from velonimo_sim.velonimo.view import Phase, View


@compiled_bot("twin", "as greedy")
def twin(view: View, _scratch: Scratch, stream: Stream) -> np.uint64:
    """Play whenever possible: lead the most cards, follow as cheaply as possible."""
    if view["phase"] == Phase.LEAD:
        return lead_most_cards(view["hand"])
    if view["phase"] == Phase.FOLLOW:
        play = cheapest_play(view, view["hand"])
        return play if play else PASS
    return decide_beside_plays(view, stream)
