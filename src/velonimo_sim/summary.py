"""What a run has shown so far, bot by bot, added up while it is played."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from velonimo_sim.faults import Fault
from velonimo_sim.match import Chunk

_Z_95 = 1.959963984540054


def wilson_interval(wins: int, games: int) -> tuple[float, float]:
    """Return the 95 % Wilson score interval of a share; (0, 1) when there are no games.

    Source: Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927).
    """
    if games == 0:
        return 0.0, 1.0
    share, z2 = wins / games, _Z_95**2
    centre = (share + z2 / (2 * games)) / (1 + z2 / games)
    half = _Z_95 * math.sqrt(share * (1 - share) / games + z2 / (4 * games**2)) / (1 + z2 / games)
    return max(0.0, centre - half), min(1.0, centre + half)


class Tally:
    """Games, wins, points and places of each bot.

    Parameters
    ----------
    bots : sequence of str
        Texts of the bots.
    """

    def __init__(self, bots: Sequence[str]) -> None:
        self.bots = tuple(bots)
        self.games = 0
        self._counts = np.zeros((4, len(bots)), np.int64)  # wins, points, places, faults
        self._games_by_fault = np.zeros((len(Fault), len(bots)), np.int64)

    def add(self, chunk: Chunk) -> None:
        """Add the games of a chunk."""
        rows = chunk.game_rows
        self.games += chunk.games
        for sums, name in zip(self._counts, ("won", "total", "place", "faults"), strict=True):
            sums += np.bincount(rows["bot"], rows[name], len(self.bots)).astype(np.int64)
        np.add.at(self._games_by_fault, (rows["fault"], rows["bot"]), 1)

    def table(self) -> list[dict[str, Any]]:
        """Return one record a bot: games, wins and their share with a 95 % interval, mean points and place, faults."""
        records = []
        for bot, wins, points, places, faults in zip(self.bots, *self._counts.tolist(), strict=True):
            low, high = wilson_interval(wins, self.games)
            records.append(
                {
                    "bot": bot,
                    "games": self.games,
                    "wins": wins,
                    "win_share": wins / self.games if self.games else None,
                    "low": low,
                    "high": high,
                    "mean_points": points / self.games if self.games else None,
                    "mean_place": places / self.games if self.games else None,
                    "faults": faults,
                }
            )
        return records

    def faults(self) -> list[str]:
        """Return what the bots did wrong, one line for each bot that did."""
        lines = []
        for index, bot in enumerate(self.bots):
            games = {kind.words: int(self._games_by_fault[kind, index]) for kind in Fault if kind is not Fault.NONE}
            kinds = ", ".join(f"{kind} {count:,}" for kind, count in games.items() if count)
            if kinds:
                faults, at_fault = int(self._counts[3, index]), sum(games.values())
                lines.append(f"bot {bot}: {faults:,} faults in {at_fault:,} games, the first of each: {kinds}")
        return lines
