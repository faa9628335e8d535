"""How likely each seat is to win, by how its couriers stand when a turn begins: what ``rollout`` asks where it stops.

A conditional logit model (McFadden, "Conditional logit analysis of qualitative choice behavior", 1974), fitted to races
of ``greedy``, and of one that holds back, in ``experiments/031-standing``. The nearer the leader is to its end, the
more a space counts.
"""

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import kernel
from velonimo_sim.bits import integer
from velonimo_sim.velocity.rules import MAX_COURIERS, MIN_PLAYERS, WINNING_COURIERS
from velonimo_sim.velocity.track import FINISH_PLACES
from velonimo_sim.velocity.view import View

FEATURES = (
    "spaces left to its three best couriers",
    "spaces left to the best of those that race",
    "cans",
    "one courier in the finish",
    "two couriers in the finish",
    "finish place of its last courier there, out of eight",
    "turns until its own, out of a round",
)
"""What the model knows of a seat."""

WEIGHTS = np.array(
    [
        [-0.390, -0.011, 0.089, -0.599, 3.693, 2.450, -1.339],
        [-0.382, -0.074, 0.306, 0.269, 5.024, 1.935, -1.566],
        [-0.442, -0.105, 0.688, 0.906, 1.340, 1.106, -2.164],
        [-0.395, -0.144, 0.927, 1.684, 2.346, 2.886, -2.475],
        [-0.496, -0.174, 1.551, 4.200, 10.081, 4.683, -3.502],
    ]
)
"""By number of players, from 3, and feature."""
SOFTENING = np.array([1.87, 2.71, 8.05, 13.30, 37.30])
"""Spaces added to those that the leader has left, by number of players, from 3: a space never counts for more."""


@kernel
def sorted_couriers(view: View, seat: int, out: NDArray[np.int64]) -> None:
    """Write the spaces of a team's couriers into ``out``, those in the finish first."""
    for courier in range(integer(view["rules"]["couriers"])):
        space = integer(view["couriers"][seat, courier])
        place = courier
        while place > 0 and out[place - 1] > space:
            out[place] = out[place - 1]
            place -= 1
        out[place] = space


@kernel
def describe_standing(view: View, seat: int, out: NDArray[np.float64]) -> None:
    """Write the ``FEATURES`` of a seat into ``out``; a turn has just begun."""
    spaces = np.zeros(MAX_COURIERS, np.int64)
    sorted_couriers(view, seat, spaces)
    finished, players = integer(view["finished"][seat]), integer(view["players"])
    waits = (seat - integer(view["active"]) + players) % players
    out[0] = spaces[:WINNING_COURIERS].sum()
    out[1] = spaces[finished]
    out[2] = view["cans"][seat]
    out[3] = 1.0 if finished == 1 else 0.0
    out[4] = 1.0 if finished == WINNING_COURIERS - 1 else 0.0
    out[5] = view["last_place"][seat] / FINISH_PLACES
    out[6] = waits / players


@kernel
def chance_to_win(view: View, seat: int) -> float:
    """Return how likely a seat is to win a race in which a turn has just begun."""
    players = integer(view["players"])
    weights = WEIGHTS[players - MIN_PLAYERS]
    features, scores = np.empty(len(weights)), np.empty(players)
    left = np.inf
    for other in range(players):
        describe_standing(view, other, features)
        scores[other] = (weights * features).sum()
        left = min(left, features[0])
    scale = 1.0 / np.sqrt(left + SOFTENING[players - MIN_PLAYERS])
    odds = 0.0
    for other in range(players):
        odds += np.exp(scale * (scores[other] - scores[seat]))
    return 1.0 / odds
