"""The bot ``rollout``: flat Monte Carlo, the budget steered by sequential halving.

Every move is made and the race ridden on to its end by ``greedy`` in all seats. All moves of a round are tried with the
same dice, turn by turn, so that their difference is measured and not their luck. Sequential halving (Karnin, Koren and
Somekh, "Almost optimal exploration in multi-armed bandits", ICML 2013) spends each round's share of the budget evenly
on the moves left and then drops the worse half.
"""

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import kernel
from velonimo_sim.bits import integer
from velonimo_sim.bot.parameter import Parameter
from velonimo_sim.bot.policy import compiled_bot
from velonimo_sim.halving import rounds_of, sort_by_score
from velonimo_sim.rng import STREAM, Stream, next_word
from velonimo_sim.velocity.legal import legal_moves
from velonimo_sim.velocity.policies.base import Scratch
from velonimo_sim.velocity.policies.greedy import CAN, set_greedy_taste
from velonimo_sim.velocity.policies.outlook import TASTE, Taste, choose_by_outlook
from velonimo_sim.velocity.state import STATE, State
from velonimo_sim.velocity.step import place_of, step
from velonimo_sim.velocity.view import Phase, View

PLACE = 0.1
"""What the places behind the first are worth together, the win being worth 1."""


@kernel
def play_out(state: State, taste: Taste, dice: Stream) -> None:
    """Ride a race on to its end by the most progress in all seats."""
    while state["view"]["phase"] != Phase.GAME_OVER:
        step(state, choose_by_outlook(state["view"], taste), dice)


@kernel
def worth(view: View, seat: int) -> float:
    """Return what the end of a race is worth to a seat: 1 for the win, at most ``PLACE`` for the place."""
    place, players = place_of(view, seat), integer(view["players"])
    return 1.0 if place == 1 else PLACE * (players - place) / (players - 1)


@kernel
def _try_all(
    states: NDArray[np.void],
    moves: NDArray[np.uint64],
    scores: NDArray[np.float64],
    n: int,
    taste: Taste,
    dice: NDArray[np.void],
    stream: Stream,
) -> None:
    """Try the moves left from the first of two states with the same dice, and add to their scores."""
    seat = integer(states[0]["view"]["turn"])
    dice[0]["state"], dice[0]["gamma"] = next_word(stream), stream["gamma"]
    for k in range(n):
        states[1] = states[0]
        step(states[1], moves[k], dice[0])
        play_out(states[1], taste, dice[0])
        scores[k] += worth(states[1]["view"], seat)


@compiled_bot(
    "rollout",
    "flat Monte Carlo: races ridden on by greedy after each move",
    [Parameter("n", int, 200, (1, 1_000_000), "playouts a decision")],
    game="velocity",
)
def rollout(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Choose the move that does best in playouts."""
    moves, scores = scratch["moves"], np.zeros(len(scratch["moves"]))
    n, budget = legal_moves(view, moves), integer(scratch["parameters"][0])
    states, dice, tastes = np.empty(2, STATE), np.empty(1, STREAM), np.empty(1, TASTE)
    states[0]["view"] = view
    set_greedy_taste(tastes[0], CAN)
    rounds = rounds_of(n)
    for _ in range(rounds):
        for _ in range(max(1, budget // (rounds * n))):
            _try_all(states, moves, scores, n, tastes[0], dice, stream)
        sort_by_score(moves, scores, n)
        n = (n + 1) // 2
    return np.uint64(moves[0])
