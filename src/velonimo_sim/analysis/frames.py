"""Game rows as arrays: who got what, bot by bot and deal by deal."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.analysis.runs import LoadedRuns, load
from velonimo_sim.errors import UsageError, unknown_name

if TYPE_CHECKING:
    import pandas as pd

Run: TypeAlias = "LoadedRuns | pd.DataFrame | Path | str"
"""A run: loaded, its folder, or its game rows."""
Outcome: TypeAlias = Literal["won", "place", "total"]
"""What is compared: first or not, the place from 1 on, points."""

OUTCOMES: tuple[Outcome, ...] = ("won", "total", "place")

_COLUMNS = ("game_id", "deal_id", "seat", "bot", *OUTCOMES)


def frame_of(run: Run) -> "pd.DataFrame":
    """Return the game rows of a run.

    Raises
    ------
    UsageError
        If a column is missing, there are no games, or several runs.
    """
    import pandas as pd

    if isinstance(run, pd.DataFrame):
        frame = run
    else:
        loaded = run if isinstance(run, LoadedRuns) else load(run)
        if len(loaded.runs) > 1:
            raise UsageError(f"{len(loaded.runs)} runs at once: allowed is one; outcomes_by takes several")
        frame = loaded.games.frame(_COLUMNS)
        frame.attrs["most_points"] = loaded.most_points
    for column in _COLUMNS:
        if column not in frame.columns:
            raise UsageError(f"column {column!r} is missing: game rows have {', '.join(_COLUMNS)}")
    if len(frame) == 0:
        raise UsageError("the run has no finished games")
    return frame


@dataclass(frozen=True, eq=False)
class Rows:
    """The game rows of a run, with its bots, deals and games as numbers from 0 on.

    Nothing depends on the order of the rows: bots are in the order of their category, or of their texts, deals and
    games in that of their ids.

    Attributes
    ----------
    bots : tuple of str
        The bots that play.
    deals : numpy.ndarray
        Ids of the deals, ascending.
    bot, deal, game : numpy.ndarray
        dtype intp, one entry a row: indices.
    players : int
        Rows of a game.
    """

    frame: "pd.DataFrame"
    bots: tuple[str, ...]
    deals: NDArray[np.int64]
    bot: NDArray[np.intp]
    deal: NDArray[np.intp]
    game: NDArray[np.intp]
    players: int

    def outcome(self, name: Outcome) -> NDArray[np.float64]:
        """Return an outcome, one entry a row."""
        return np.asarray(self.frame[name], np.float64)

    def index_of(self, bot: str) -> int:
        """Return the number of a bot.

        Raises
        ------
        UsageError
            If it does not play.
        """
        if bot not in self.bots:
            raise unknown_name("bot", bot, self.bots)
        return self.bots.index(bot)

    @cached_property
    def games_of_bots(self) -> NDArray[np.int64]:
        """How many rows each bot has in a deal, shape (bots,): the same in all deals.

        Raises
        ------
        UsageError
            If it is not the same.
        """
        counts = self.by_deal(np.ones(len(self.bot))).astype(np.int64)
        differs = counts != counts[0]
        if differs.any():
            deal, bot = np.argwhere(differs)[0]
            raise UsageError(
                f"bot {self.bots[bot]!r} has {counts[deal, bot]} games of deal {self.deals[deal]} and {counts[0, bot]} "
                f"of deal {self.deals[0]}: all deals have to be played by the same tables"
            )
        return np.asarray(counts[0])

    def by_deal(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sums of a value, one entry a row, as [deal, bot]."""
        shape = len(self.deals), len(self.bots)
        sums = np.bincount(self.deal * shape[1] + self.bot, values, shape[0] * shape[1])
        return np.asarray(sums.reshape(shape), np.float64)

    def means(self, name: Outcome) -> NDArray[np.float64]:
        """Return the mean of an outcome as [deal, bot], each over the rows of the bot in the deal."""
        return self.by_deal(self.outcome(name)) / self.games_of_bots


def rows_of(run: Run) -> Rows:
    """Return the game rows of a run as arrays.

    Raises
    ------
    UsageError
        If a column is missing, there are no games, or not all games are of as many players.
    """
    frame = frame_of(run)
    bots, bot = _numbered(frame["bot"])
    deals, deal = np.unique(frame["deal_id"].to_numpy(), return_inverse=True)
    games, game, sizes = np.unique(frame["game_id"].to_numpy(), return_inverse=True, return_counts=True)
    if (sizes != sizes[0]).any():
        other = int(np.argmax(sizes != sizes[0]))
        raise UsageError(
            f"game {games[other]} has {sizes[other]} rows and game {games[0]} has {sizes[0]}: "
            "all games have to be of as many players"
        )
    return Rows(frame, bots, deals, bot, deal, game, int(sizes[0]))


def _numbered(column: Any) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Return the bots that occur in a column, and for each row the number of its bot."""
    texts = column.astype("category").cat.remove_unused_categories().cat
    return tuple(texts.categories), texts.codes.to_numpy(np.intp)


def checked_outcome(outcome: str) -> Outcome:
    """Return the name of an outcome.

    Raises
    ------
    UsageError
        If there is no such outcome.
    """
    for name in OUTCOMES:
        if outcome == name:
            return name
    raise unknown_name("outcome", outcome, OUTCOMES)


def outcome_bounds(outcome: Outcome, players: int, most_points: float) -> tuple[float, float]:
    """Return the least and the greatest value of an outcome in a game of so many players."""
    bounds = {"won": (0.0, 1.0), "place": (1.0, float(players)), "total": (0.0, float(most_points))}
    return bounds[outcome]


def greatest_total(runs: Sequence[Rows], most_points: float | None) -> float:
    """Return the most points that a game can give: as told, by the rules of the runs, or else the greatest total seen.

    Raises
    ------
    UsageError
        If more points were seen than told, or fewer than 0.
    """
    totals = [run.outcome("total") for run in runs]
    least, seen = min(float(total.min()) for total in totals), max(float(total.max()) for total in totals)
    if least < 0:
        raise UsageError(f"total {least:g}: points cannot be below 0")
    if most_points is None:
        possible = [run.frame.attrs.get("most_points") for run in runs]
        return max(seen, 1.0) if None in possible else float(max(possible))
    if most_points < seen:
        raise UsageError(f"most_points {most_points:g}: the run has a total of {seen:g}")
    return most_points
