"""The bot ``rollout``: flat Monte Carlo over determinizations, the budget steered by sequential halving.

Every legal action is tried in hands drawn from what the seat knows, and played on by ``greedy`` for all seats to the
end of the col; the seat's points of the col are backed up. All actions of a round are tried in the same
determinizations with the same chance, so that their difference is measured and not the luck of the hands. Sequential
halving (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits", ICML 2013) spends each round's
share of the budget evenly on the actions left and then drops the worse half.
"""

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import kernel, kernel_as
from velonimo_sim.bits import integer
from velonimo_sim.rng import STREAM, Stream, below, next_word
from velonimo_sim.velonimo.determinize import determinize_into
from velonimo_sim.velonimo.legal import legal_moves
from velonimo_sim.velonimo.policies.base import POLICY, Scratch
from velonimo_sim.velonimo.policies.greedy import decide_beside_plays, greedy
from velonimo_sim.velonimo.state import STATE, State
from velonimo_sim.velonimo.step import step
from velonimo_sim.velonimo.view import Phase, View


@kernel
def points_by_greedy(state: State, seat: int, scratch: Scratch, chance: Stream) -> int:
    """Play the col to its end with ``greedy`` in all seats and return the points of one seat."""
    while state["view"]["phase"] < Phase.COL_OVER:
        step(state, greedy(state["view"], scratch, chance), chance)
    return integer(state["view"]["points"][seat])


@kernel
def _shuffle(actions: NDArray[np.uint64], n: int, stream: Stream) -> None:
    """Put the actions in random order, so that none is preferred among equals."""
    for i in range(n - 1):
        j = i + below(stream, n - i)
        actions[i], actions[j] = actions[j], actions[i]


@kernel
def _halve(actions: NDArray[np.uint64], scores: NDArray[np.int64], n: int) -> int:
    """Sort the actions by score, best first (stable), and return how many stay."""
    for i in range(1, n):
        action, score = actions[i], scores[i]
        j = i
        while j > 0 and scores[j - 1] < score:
            actions[j], scores[j] = actions[j - 1], scores[j - 1]
            j -= 1
        actions[j], scores[j] = action, score
    return (n + 1) // 2


@kernel
def _rounds(n: int) -> int:
    rounds = 0
    while n > 1:
        n = (n + 1) // 2
        rounds += 1
    return rounds


@kernel
def best_by_halving(
    view: View, actions: NDArray[np.uint64], n: int, budget: int, scratch: Scratch, stream: Stream
) -> np.uint64:
    """Return the action that sequential halving finds best among the first ``n`` of ``actions``, which it reorders."""
    states = np.empty(2, STATE)
    chances = np.empty(1, STREAM)
    scores = np.zeros(n, np.int64)
    seat = integer(view["seat"])
    _shuffle(actions, n, stream)
    rounds = _rounds(n)
    while n > 1:
        for _ in range(max(1, budget // (rounds * n))):
            determinize_into(states[0], view, stream)
            luck = next_word(stream)
            for k in range(n):
                states[1] = states[0]
                chances[0]["state"] = luck
                chances[0]["gamma"] = stream["gamma"]
                step(states[1], actions[k], chances[0])
                scores[k] += points_by_greedy(states[1], seat, scratch, chances[0])
        n = _halve(actions, scores, n)
    return np.uint64(actions[0])


@kernel_as(POLICY)
def rollout(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Choose the action with the best mean points in playouts; parameter ``n``, the number of playouts.

    Where more gifts are possible than the scratch can list, which takes a hand of 18 cards or more, the gift is that of
    ``greedy``.
    """
    actions = scratch["moves"]
    n = legal_moves(view, actions)
    if n > len(actions):
        return decide_beside_plays(view, stream)
    return best_by_halving(view, actions, n, integer(scratch["parameters"][0]), scratch, stream)
