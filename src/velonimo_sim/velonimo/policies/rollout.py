"""The bot ``rollout``: flat Monte Carlo over imagined hands, the budget steered by sequential halving.

Every candidate is tried in hands drawn from what the seat knows and played on to the end of the col. All candidates of
a round are tried in the same hands with the same chance, so that their difference is measured and not the luck of the
hands. Sequential halving (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits", ICML 2013)
spends each round's share of the budget evenly on the candidates left and then drops the worse half.
"""

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._clock import monotonic_ns
from velonimo_sim._jit import kernel
from velonimo_sim.bits import integer
from velonimo_sim.bot.policy import compiled_bot
from velonimo_sim.halving import rounds_of, sort_by_score
from velonimo_sim.rng import STREAM, Stream, next_word
from velonimo_sim.velonimo.policies.advised import ALL_ADVICE, advise
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.policies.inference import BELIEF, Belief, believe, imagine, share_by_advice
from velonimo_sim.velonimo.policies.search import (
    BACKUP,
    CAUTION,
    ENDINGS,
    WEIGH,
    WIDTH,
    N,
    deadline_of,
    exact_ending,
    knows_all,
    list_candidates,
    most_worth,
    play_out,
    search_parameters,
    worth,
)
from velonimo_sim.velonimo.state import STATE
from velonimo_sim.velonimo.step import step
from velonimo_sim.velonimo.view import View


@kernel
def _is_settled(scores: NDArray[np.float64], n: int, left: int, most: float) -> bool:
    """Whether no candidate can catch the best one in the hands that are left."""
    best = scores[:n].max()
    near = 0
    for k in range(n):
        near += integer(scores[k] + left * most > best)
    return near == 1


@kernel
def _try_all(
    view: View,
    actions: NDArray[np.uint64],
    scores: NDArray[np.float64],
    n: int,
    advised: np.uint64,
    caution: float,
    belief: Belief,
    states: NDArray[np.void],
    chances: NDArray[np.void],
    scratch: Scratch,
    stream: Stream,
) -> None:
    """Try all candidates left in the same imagined hands with the same chance, and add to their scores."""
    seat, backup = integer(view["seat"]), integer(scratch["parameters"][BACKUP])
    if knows_all(scratch):
        states[0] = scratch["truth"]
    else:
        imagine(states[0], belief, view, integer(scratch["parameters"][WEIGH]), stream)
    luck = next_word(stream)
    for k in range(n):
        states[1] = states[0]
        chances[0]["state"] = luck
        chances[0]["gamma"] = stream["gamma"]
        step(states[1], actions[k], chances[0])
        play_out(states[1], scratch, chances[0])
        scores[k] += worth(states[1], seat, backup)
        if actions[k] == advised:
            scores[k] += caution


@kernel
def _caution(belief: Belief, view: View, scratch: Scratch) -> float:
    """Return by what share of all that is at stake a move must be better than the advised one.

    Playouts take the others to play by the advice, so that they are believed the less, the less the others do.
    """
    most = scratch["parameters"][CAUTION]
    return float(most * (1.0 - share_by_advice(belief, view)) ** 2) if most > 0 else 0.0


@kernel
def _best_by_halving(
    view: View, actions: NDArray[np.uint64], n: int, budget: int, scratch: Scratch, stream: Stream
) -> np.uint64:
    """Return the best of the first ``n`` actions, of which the first is the advised one, by sequential halving.

    The actions are reordered.
    """
    states, chances, scores = np.empty(2, STATE), np.empty(1, STREAM), np.zeros(n)
    most = most_worth(view, integer(scratch["parameters"][BACKUP]))
    deadline = deadline_of(scratch)
    beliefs = np.empty(1, BELIEF)
    if not knows_all(scratch):
        believe(beliefs[0], view, integer(scratch["parameters"][WEIGH]), stream)
    advised, caution = actions[0], most * _caution(beliefs[0], view, scratch)
    began = monotonic_ns() if deadline else 0
    rounds = rounds_of(n)
    for round_ in range(rounds):
        hands = max(1, budget // (rounds * n))
        tried = 0
        round_ends = began + (deadline - began) * (round_ + 1) // rounds
        while tried == 0 or (monotonic_ns() < round_ends if deadline else tried < hands):
            _try_all(view, actions, scores, n, advised, caution, beliefs[0], states, chances, scratch, stream)
            tried += 1
            if n == 2 and deadline == 0 and _is_settled(scores, n, hands - tried, most + caution):
                break
        sort_by_score(actions, scores, n)
        n = (n + 1) // 2
    return np.uint64(actions[0])


@kernel
def search_flat(view: View, budget: int, scratch: Scratch, stream: Stream) -> np.uint64:
    """Return the exact move where it is known, or else the candidate that does best in ``budget`` playouts."""
    advised = advise(view, ALL_ADVICE, stream)
    if scratch["parameters"][ENDINGS]:
        move = exact_ending(view, advised, scratch, stream)
        if move:
            return move
    actions = scratch["moves"]
    n = list_candidates(view, actions, advised, integer(scratch["parameters"][WIDTH]))
    if n == 1:
        return advised
    return _best_by_halving(view, actions, n, budget, scratch, stream)


@compiled_bot(
    "rollout", "flat Monte Carlo: playouts of the most promising moves in imagined hands", search_parameters(CAUTION)
)
def rollout(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Choose the candidate that does best in playouts."""
    return search_flat(view, integer(scratch["parameters"][N]), scratch, stream)
