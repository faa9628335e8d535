"""The bot ``champion``: the strongest bot of the house that decides within 20 milliseconds on one core.

Which search with which budget that is was measured, see ``experiments/010-ladder``.
"""

from dataclasses import replace

import numpy as np

from velonimo_sim._jit import kernel
from velonimo_sim.bits import integer
from velonimo_sim.bot.policy import compiled_bot
from velonimo_sim.rng import Stream
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.policies.rollout import search_flat
from velonimo_sim.velonimo.policies.search import CAUTION, N, search_parameters
from velonimo_sim.velonimo.view import View

_CARDS = 44
"""Cards in four full hands."""
_LONGEST_BUDGET = 5
"""The most that the budget grows as fewer cards are left."""


@kernel
def _budget(view: View, playouts: int) -> int:
    """Return how many playouts take about as long as so many from four full hands."""
    cards = 0
    for seat in range(integer(view["players"])):
        cards += integer(view["sizes"][seat])
    return min(_LONGEST_BUDGET * playouts, playouts * _CARDS // cards)


_N, *_OTHERS = search_parameters(CAUTION, n=1100, weigh=8, caution=0.03)
_PARAMETERS = (
    replace(
        _N, help="playouts a decision from four full hands, fewer from more cards, up to 5 times as many from fewer"
    ),
    *_OTHERS,
)


@compiled_bot("champion", "the strongest that decides within 20 ms", _PARAMETERS)
def champion(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Choose the candidate that does best in playouts, of which there are more the shorter they are."""
    return search_flat(view, _budget(view, integer(scratch["parameters"][N])), scratch, stream)
