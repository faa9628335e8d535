"""Fits how likely a seat is to win by how its couriers stand: the weights in ``velocity/policies/standing.py``.

``python experiments/031-standing/run.py`` plays races of greedy, and of one that spends at obstacles and holds back,
with some random moves among them, fits the model by maximum likelihood for each number of players, and prints the
weights and how well they tell other races.
"""

import argparse
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from velonimo_sim import kernel
from velonimo_sim.bits import integer
from velonimo_sim.rng import BOT, CHANCE, below, new_stream, open_stream
from velonimo_sim.velocity.legal import count_moves, nth_move
from velonimo_sim.velocity.policies.greedy import CAN
from velonimo_sim.velocity.policies.outlook import Taste, choose_by_outlook
from velonimo_sim.velocity.policies.saver import CAN_AT_OBSTACLE, HELD_BACK
from velonimo_sim.velocity.policies.standing import FEATURES, describe_standing
from velonimo_sim.velocity.state import STATE, new_state
from velonimo_sim.velocity.step import place_of, step
from velonimo_sim.velocity.view import Phase

ONE_IN_RANDOM = 20
"""One move in so many is random, so that positions are met that no bot would come to."""
ONE_IN_KEPT = 4
"""One turn in so many is kept."""
MOST_TURNS = 60
"""Turns that are kept of a race, on average at most."""


@kernel
def taste_of(kind: int) -> Taste:
    """Return how a bot of these races counts: greedily, or spending at obstacles and holding back."""
    return Taste(CAN, CAN, 0.0, True) if kind == 0 else Taste(CAN, CAN_AT_OBSTACLE, HELD_BACK, True)


@kernel
def play_races(
    start: NDArray[np.void],
    streams: NDArray[np.void],
    seed: int,
    races: int,
    features: NDArray[np.float64],
    winners: NDArray[np.int64],
) -> int:
    """Play races and write how the seats stood at the beginning of some turns, and who won; return how many."""
    states, seats, n = np.empty(1, STATE), np.zeros(7, np.int64), 0
    view, dice, draws = states[0]["view"], streams[0], streams[1]
    for race in range(races):
        states[0] = start[0]
        open_stream(dice, seed, race, CHANCE)
        players, first = integer(view["players"]), n
        for seat in range(players):
            seats[seat] = below(draws, 2)
        while view["phase"] != Phase.GAME_OVER:
            if view["phase"] == Phase.RIDE and below(draws, ONE_IN_KEPT) == 0:
                for seat in range(players):
                    describe_standing(view, seat, features[n, seat])
                n += 1
            if below(draws, ONE_IN_RANDOM) == 0:
                move = nth_move(view, below(draws, count_moves(view)))
            else:
                move = choose_by_outlook(view, taste_of(seats[integer(view["turn"])]))
            step(states[0], move, dice)
        for seat in range(players):
            if place_of(view, seat) == 1:
                winners[first:n] = seat
    return n


def standings(players: int, races: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return how the seats stood, shape (turns, players, features), and who won, shape (turns,)."""
    features, winners = np.zeros((races * MOST_TURNS, players, len(FEATURES))), np.zeros(races * MOST_TURNS, np.int64)
    streams = np.array([new_stream(seed), new_stream(seed, players, BOT)])
    n = play_races(np.array([new_state(players)]), streams, seed, races, features, winners)
    return features[:n], winners[:n]


def loss(parameters: NDArray[np.float64], features: NDArray[Any], winners: NDArray[Any]) -> tuple[float, NDArray[Any]]:
    """Return the mean negative log-likelihood of the weights and of the logarithm of the softening; its gradient."""
    weights, softening = parameters[:-1], np.exp(parameters[-1])
    left = features[:, :, 0].min(axis=1) + softening
    scores, scale, turns = features @ weights, left**-0.5, np.arange(len(winners))
    odds = np.exp((scores - scores.max(axis=1, keepdims=True)) * scale[:, None])
    errors = odds / odds.sum(axis=1, keepdims=True)
    fit = -np.log(errors[turns, winners]).mean()
    errors[turns, winners] -= 1
    by_weight = np.einsum("np,npf,n->f", errors, features, scale)
    by_softening = ((errors * scores).sum(axis=1) * -0.5 * left**-1.5 * softening).sum()
    return float(fit), np.append(by_weight, by_softening) / len(winners)


def main() -> None:
    """Fit, and print."""
    parser = argparse.ArgumentParser(description="Fit how likely a seat is to win by how its couriers stand.")
    parser.add_argument("--races", type=int, default=20_000, help="for each number of players (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="root seed (default: %(default)s)")
    options = parser.parse_args()
    print("players   turns  loss  on other races  of a guess  softening  weights")
    for players in range(3, 8):
        features, winners = standings(players, options.races, options.seed)
        start = np.append(np.zeros(len(FEATURES)), 3.0)
        fitted = minimize(loss, start, (features, winners), method="BFGS", jac=True).x
        others = standings(players, options.races // 4, options.seed + 1)
        losses = f"{loss(fitted, features, winners)[0]:.4f}  {loss(fitted, *others)[0]:14.4f}  {np.log(players):10.4f}"
        weights = ", ".join(f"{weight:.3f}" for weight in fitted[:-1])
        print(f"{players:7} {len(winners):7}  {losses}  {np.exp(fitted[-1]):9.2f}  {weights}", flush=True)


if __name__ == "__main__":
    main()
