"""What races of VeloCity are like on average: how long, who wins from which seat, couriers in the finish, cans.

``python tests/velocity_averages.py`` makes ``data/velocity_averages.json`` again, in some minutes: the averages over
200,000 races of seed 2026 for each bot and number of players, and their standard errors.
"""

import json
import math
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.velocity.playout import open_table
from velonimo_sim.velocity.policies import parse_bot
from velonimo_sim.velocity.rows import GAME_ROW, RACE_ROW
from velonimo_sim.velocity.rules import MAX_PLAYERS, MIN_PLAYERS, RuleSet
from velonimo_sim.velocity.view import End

PATH = Path(__file__).parent / "data" / "velocity_averages.json"
BOTS = ("random", "greedy")
PLAYERS = range(MIN_PLAYERS, MAX_PLAYERS + 1)
RACES = 200_000
SEED = 2026
AT_ONCE = 10_000

SPENT = ("on_refuel", "on_breakaway", "on_slipstream", "on_obstacles")


class Average(NamedTuple):
    """A mean over independent races, and its standard error."""

    mean: float
    error: float


def average_race(bot: str, players: int, races: int, seed: int) -> dict[str, Average]:
    """Return the averages of races that one bot plays in all seats, each race with dice of its own."""
    table = open_table([parse_bot(bot)], RuleSet(), np.zeros((1, players), np.int8), seed)
    parts = []
    for first in range(0, races, AT_ONCE):
        n = min(AT_ONCE, races - first)
        seats, ends = np.zeros(n * players, GAME_ROW), np.zeros(n, RACE_ROW)
        assert table.play(first, n, seats, ends) == n
        parts.append(outcomes(seats.reshape(n, players), ends))
    return {name: _average(np.concatenate([part[name] for part in parts])) for name in parts[0]}


def outcomes(seats: NDArray[np.void], races: NDArray[np.void]) -> dict[str, NDArray[np.float64]]:
    """Return by name one number a race."""
    of_race = {
        "turns": races["turns"],
        "in finish": races["in_finish"],
        "cans earned": (seats["supplied"] + seats["compensated"]).sum(axis=1),
        "cans spent": sum(seats[purpose] for purpose in SPENT).sum(axis=1),
        "third courier": races["end"] == End.THIRD_COURIER,
    }
    of_race |= {f"won by seat {seat}": races["winner"] == seat for seat in range(seats.shape[1])}
    return {name: values.astype(float) for name, values in of_race.items()}


def _average(values: NDArray[np.float64]) -> Average:
    return Average(float(values.mean()), float(values.std(ddof=1) / math.sqrt(len(values))))


def recorded(bot: str, players: int) -> dict[str, Average]:
    """Return the averages that are on file."""
    content = json.loads(PATH.read_text("utf-8"))
    return {name: Average(*values) for name, values in content[bot][str(players)].items()}


if __name__ == "__main__":
    found = {bot: {players: average_race(bot, players, RACES, SEED) for players in PLAYERS} for bot in BOTS}
    PATH.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
