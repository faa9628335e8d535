"""The bot ``rollout``: flat Monte Carlo, the budget steered by sequential halving.

Every move is made and the race ridden on by ``greedy`` in all seats, for some rounds; how likely the seat then is to
win is told by how the couriers stand. All moves are tried with the same dice, turn by turn, so that their difference is
measured and not their luck. Sequential halving (Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed
bandits", ICML 2013) spends each round's share of the budget evenly on the moves left and then drops the worse half.
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
from velonimo_sim.velocity.policies.greedy import CAN
from velonimo_sim.velocity.policies.outlook import Taste, choose_by_outlook
from velonimo_sim.velocity.policies.standing import chance_to_win
from velonimo_sim.velocity.state import STATE, State
from velonimo_sim.velocity.step import place_of, step
from velonimo_sim.velocity.view import Phase, View


@kernel
def play_out(state: State, taste: Taste, dice: Stream, last_turn: int) -> None:
    """Ride a race on by the most progress in all seats, to its end or to that of a turn."""
    view = state["view"]
    while view["phase"] != Phase.GAME_OVER and view["turns"] <= last_turn:
        step(state, choose_by_outlook(view, taste), dice)


@kernel
def worth(view: View, seat: int) -> float:
    """Return how likely a seat is to win, 1 or 0 if the race is over."""
    if view["phase"] == Phase.GAME_OVER:
        return 1.0 if place_of(view, seat) == 1 else 0.0
    return chance_to_win(view, seat)


@kernel
def _try_all(
    states: NDArray[np.void],
    moves: NDArray[np.uint64],
    scores: NDArray[np.float64],
    n: int,
    taste: Taste,
    last_turn: int,
    dice: NDArray[np.void],
    stream: Stream,
) -> None:
    """Try the moves left from the first of two states with the same dice, and add to their scores."""
    seat = integer(states[0]["view"]["turn"])
    dice[0]["state"], dice[0]["gamma"] = next_word(stream), stream["gamma"]
    for k in range(n):
        states[1] = states[0]
        step(states[1], moves[k], dice[0])
        play_out(states[1], taste, dice[0], last_turn)
        scores[k] += worth(states[1]["view"], seat)


@compiled_bot(
    "rollout",
    "flat Monte Carlo: each move tried in races ridden on by greedy",
    [
        Parameter("n", int, 200, (1, 1_000_000), "playouts a decision"),
        Parameter("rounds", int, 1, (0, 10_000), "rounds that a playout goes on after the turn"),
    ],
    game="velocity",
)
def rollout(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Choose the move that does best in playouts."""
    moves, scores = scratch["moves"], np.zeros(len(scratch["moves"]))
    n, budget = legal_moves(view, moves), integer(scratch["parameters"][0])
    states, dice, taste = np.empty(2, STATE), np.empty(1, STREAM), Taste(CAN, CAN, 0.0, True)
    states[0]["view"] = view
    last_turn = integer(view["turns"]) + integer(scratch["parameters"][1]) * integer(view["players"])
    rounds = rounds_of(n)
    for _ in range(rounds):
        for _ in range(max(1, budget // (rounds * n))):
            _try_all(states, moves, scores, n, taste, last_turn, dice, stream)
        sort_by_score(moves, scores, n)
        n = (n + 1) // 2
    return np.uint64(moves[0])
