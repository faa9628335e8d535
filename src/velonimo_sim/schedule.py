"""Who plays whom, from which seats: the schedule that every deal of a run is played by.

Duplicate deals: the cards of a deal, all its cols, are played once by each seating, so that every bot gets every seat
and its cards equally often, and luck falls out of the comparison. The games of a deal are a group: what happens in them
is not independent, so the group is the unit of all statistics.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import combinations, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.errors import UsageError

MAX_BOTS = 127
"""The most bots of a run: the rows have their number in 8 bits."""
MAX_SEATINGS = 32_767
"""The most games of a deal: the rows have the number of the seating in 16 bits."""


class Seating(StrEnum):
    """Which seatings a table plays each deal by."""

    FIXED = "fixed"  # the one as named
    ROTATIONS = "rotations"  # everybody moves on one seat, until all have sat everywhere
    PERMUTATIONS = "permutations"  # all of them


class TableKind(StrEnum):
    """Which bots meet."""

    SINGLE = "single"  # one table, one bot named for each seat
    ROUND_ROBIN = "round-robin"  # a table for each choice of as many bots as there are seats


@dataclass(frozen=True, eq=False)
class Schedule:
    """How each deal of a run is played.

    Parameters
    ----------
    bots : tuple of str
        The texts of the bots, each once.
    tables : tuple of tuple of int
        The bots of each table, as indices.
    seatings : numpy.ndarray
        dtype int8, shape (games of a deal, players): ``[seating, seat]`` is the bot that sits there. Game g of a run is
        deal ``g // games_per_deal`` in seating ``g % games_per_deal``.
    """

    bots: tuple[str, ...]
    tables: tuple[tuple[int, ...], ...]
    seatings: NDArray[np.int8]

    @property
    def games_per_deal(self) -> int:
        """How many games a deal is played in: the size of a group."""
        return len(self.seatings)

    @property
    def players(self) -> int:
        """How many sit at a table."""
        return int(self.seatings.shape[1])

    @property
    def words(self) -> str:
        """The tables, and how many games they make of a deal."""
        tables = "1 table" if len(self.tables) == 1 else f"{len(self.tables):,} tables"
        return f"{tables} of {self.players} players, {self.games_per_deal:,} games a deal"

    def whole_deals(self, games: int) -> int:
        """Return the least number of games that is not less and makes whole deals."""
        return math.ceil(games / self.games_per_deal) * self.games_per_deal

    @cached_property
    def _sits(self) -> NDArray[np.float64]:
        """Who sits in each seating and seat: 1 or 0, shape (seatings x players, bots)."""
        return np.asarray(self.seatings.ravel()[:, None] == np.arange(len(self.bots)), np.float64)

    def means_by_deal(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Return the mean of each bot in each deal.

        Parameters
        ----------
        values : numpy.ndarray
            A column of the game rows of whole deals, in their order.

        Returns
        -------
        numpy.ndarray
            dtype float64, shape (deals, bots).
        """
        # Sums of integers are exact, in whatever order they are added.
        sums = values.reshape(-1, len(self._sits)).astype(np.float64) @ self._sits
        return np.asarray(sums / self._sits.sum(axis=0))

    def games_by_seat(self) -> NDArray[np.int64]:
        """Return how often each bot sits in each seat in the games of a deal: shape (bots, players)."""
        counts = [np.bincount(seat, minlength=len(self.bots)) for seat in self.seatings.T]
        return np.array(counts, np.int64).T


def make_schedule(
    bots: Sequence[str],
    players: int,
    seating: Seating = Seating.ROTATIONS,
    table: TableKind = TableKind.SINGLE,
) -> Schedule:
    """Return the schedule of a run.

    Parameters
    ----------
    bots : sequence of str
        Texts of the bots: one a seat for a single table, where a bot may sit in several; those that meet each other in
        a round-robin.
    players : int
        How many sit at a table.
    seating : Seating
        Which seatings each table plays.
    table : TableKind
        Which bots meet.

    Raises
    ------
    UsageError
        If a round-robin has too few bots or one twice, or the games of a deal are too many.
    """
    names = tuple(dict.fromkeys(bots))
    if table is TableKind.ROUND_ROBIN:
        _check_round_robin(bots, players)
        tables = tuple(combinations(range(len(names)), players))
    else:
        tables = (tuple(names.index(bot) for bot in bots),)
    games = len(tables) * (math.factorial(players) if seating is Seating.PERMUTATIONS else players)
    if games > MAX_SEATINGS and seating is not Seating.FIXED:
        raise UsageError(
            f"{len(tables):,} tables of {seating} make {games:,} games a deal: allowed are {MAX_SEATINGS:,}"
        )
    seatings = [seats for bots_of_table in tables for seats in _seatings_of(bots_of_table, seating)]
    return Schedule(names, tables, np.array(seatings, np.int8))


def _check_round_robin(bots: Sequence[str], players: int) -> None:
    twice = [bot for bot, count in Counter(bots).items() if count > 1]
    if twice:
        raise UsageError(f"bot {twice[0]} is named twice: in a round-robin each bot is named once")
    if not players <= len(bots) <= MAX_BOTS:
        raise UsageError(f"round-robin of {len(bots)} bots: allowed are {players}-{MAX_BOTS} with {players} players")
    if math.comb(len(bots), players) > MAX_SEATINGS:
        raise UsageError(
            f"round-robin of {len(bots)} bots with {players} players has {math.comb(len(bots), players):,} tables: "
            f"allowed are {MAX_SEATINGS:,}"
        )


def _seatings_of(table: tuple[int, ...], seating: Seating) -> Iterable[tuple[int, ...]]:
    """Return the seatings of a table, each once: where a bot sits twice, some are the same game."""
    if seating is Seating.FIXED:
        return [table]
    if seating is Seating.PERMUTATIONS:
        return dict.fromkeys(permutations(table))
    return dict.fromkeys(table[-k:] + table[:-k] for k in range(len(table)))
