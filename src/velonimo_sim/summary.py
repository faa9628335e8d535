"""How the bots of a tournament stand, added up while it is played; the deal is the unit of all intervals."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.analysis.frames import OUTCOMES
from velonimo_sim.analysis.moments import GroupMoments
from velonimo_sim.analysis.tables import bot_records
from velonimo_sim.faults import Fault
from velonimo_sim.schedule import Schedule

SUMMED = ("bot", "won", "total", "place", "fault", "faults")
"""The columns of the game rows that standings are made of."""


class Standings:
    """Games, wins, points, places and faults of each bot.

    Parameters
    ----------
    schedule : Schedule
        Who sat where in the games of a deal.
    most_points : int
        The most points of a game.
    """

    def __init__(self, schedule: Schedule, most_points: int) -> None:
        self.deals = 0
        self._schedule = schedule
        self._most_points = most_points
        bots = len(schedule.bots)
        self._moments = {outcome: GroupMoments(bots) for outcome in OUTCOMES}
        self._faults = np.zeros(bots, np.int64)
        self._games_by_fault = np.zeros((len(Fault), bots), np.int64)

    @property
    def games(self) -> int:
        """Number of games."""
        return self.deals * self._schedule.games_per_deal

    def add(self, rows: NDArray[np.void]) -> None:
        """Add the game rows of whole deals."""
        for name, moments in self._moments.items():
            moments.add(self._schedule.means_by_deal(rows[name]))
        if rows["fault"].any():
            self._faults += np.bincount(rows["bot"], rows["faults"], len(self._faults)).astype(np.int64)
            np.add.at(self._games_by_fault, (rows["fault"], rows["bot"]), 1)
        self.deals = self._moments["won"].groups

    def leader(self) -> str:
        """Return the bot that has won the greatest share of its games."""
        return self._schedule.bots[int(np.argmax(self._moments["won"].mean))]

    def table(self) -> list[dict[str, Any]]:
        """Return the record of each bot, as ``analysis.bot_records`` has it, and its faults.

        A bot that sits in several seats of a game has as many games in it.
        """
        seats = self._schedule.games_by_seat().sum(axis=1).tolist()
        schedule = self._schedule
        records = bot_records(schedule.bots, seats, self._moments, schedule.players, self._most_points)
        return [record | {"faults": faults} for record, faults in zip(records, self._faults.tolist(), strict=True)]

    def faults(self) -> list[str]:
        """Return what the bots did wrong, one line for each bot that did."""
        lines = []
        for index, bot in enumerate(self._schedule.bots):
            games = {kind.words: int(self._games_by_fault[kind, index]) for kind in Fault if kind is not Fault.NONE}
            kinds = ", ".join(f"{kind} {count:,}" for kind, count in games.items() if count)
            if kinds:
                faults, at_fault = int(self._faults[index]), sum(games.values())
                lines.append(f"bot {bot}: {faults:,} faults in {at_fault:,} games, the first of each: {kinds}")
        return lines
