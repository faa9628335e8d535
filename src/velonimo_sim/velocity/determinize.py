"""Full states that agree with a view: in VeloCity there is but one, as nothing is hidden."""

import numpy as np

from velonimo_sim.rng import Stream
from velonimo_sim.velocity.state import STATE, State
from velonimo_sim.velocity.view import View


def determinize(view: View, stream: Stream) -> State:
    """Return the state that shows the seat to act its view; the stream is left alone."""
    state: State = np.zeros(1, STATE)[0]
    state["view"] = view
    return state
