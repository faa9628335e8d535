"""The bot ``hold-hares``: as ``greedy``, but keeps its hares for the end of the col or for what nothing else beats."""

import numpy as np

from velonimo_sim._jit import kernel
from velonimo_sim.bits import U0, bit
from velonimo_sim.bot.policy import compiled_bot
from velonimo_sim.rng import Stream
from velonimo_sim.velonimo.cards import HARES, RIDERS
from velonimo_sim.velonimo.moves import PASS, is_combination, is_single
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.policies.greedy import cheapest_play, decide_beside_plays, lead_most_cards
from velonimo_sim.velonimo.view import Phase, View


@kernel
def riders_go_in_one_play(hand: np.uint64) -> bool:
    """Whether the end of the col has come for a hand: without its hares it is at most one play."""
    riders = hand & RIDERS
    return riders == U0 or is_single(riders) or is_combination(riders)


@kernel
def _highest_hare(hand: np.uint64) -> np.uint64:
    best = U0
    for i in range(6):
        best = hand & HARES & bit(8 * i + 7) or best
    return best


@compiled_bot("hold-hares", "as greedy, keeping the hares for the end")
def hold_hares(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Play riders as ``greedy`` does; at the end lead the highest hare and go out with the riders."""
    hand = view["hand"]
    if view["phase"] == Phase.LEAD:
        if hand & HARES and riders_go_in_one_play(hand):
            return _highest_hare(hand)
        return lead_most_cards(hand & RIDERS)
    if view["phase"] == Phase.FOLLOW:
        play = U0 if riders_go_in_one_play(hand) else cheapest_play(view, hand & RIDERS)
        if play == U0:
            play = cheapest_play(view, hand)
        return play if play else PASS
    return decide_beside_plays(view, stream)
