"""Rows of the ladder, played piece by piece; what is played is kept, so that a run can be broken off."""

import json
import math
import os
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from duplicates import play_duplicates, play_itself
from numpy.typing import NDArray

from velonimo_sim._jit import source_hash
from velonimo_sim.commands import say
from velonimo_sim.errors import UsageError

COMMAND = "ladder"
PIECES = 10
"""A row is played, and kept, in so many pieces."""

_NUMBERS = ("no", "one", "two", "three", "four")


@dataclass(frozen=True)
class Row:
    """A bot against others.

    Parameters
    ----------
    name : str
        What the row and its pieces are called.
    bot : str
        The bot's text.
    against : sequence of str
        The texts of its opponents.
    deals : int
        How many deals are played.
    asked : int, optional
        The wins in percent that were asked for.
    """

    name: str
    bot: str
    against: Sequence[str]
    deals: int
    asked: int | None = None

    @property
    def players(self) -> int:
        """How many play."""
        return 1 + len(self.against)

    @property
    def games(self) -> int:
        """How many games are played: each deal is played once a player."""
        return self.deals * self.players

    @property
    def is_against_itself(self) -> bool:
        """Whether the same bot sits in all seats."""
        return set(self.against) == {self.bot}

    @property
    def opponents(self) -> str:
        """The opponents in words."""
        if self.is_against_itself:
            return f"itself x {len(self.against)}"
        return " and ".join(f"{_NUMBERS[count]} {bot}" for bot, count in Counter(self.against).items())


def play_row(row: Row, seed: int, folder: Path, workers: int) -> NDArray[np.bool_]:
    """Play what is missing of a row; return the wins by deal, bot and seat, or by deal, starter and seat.

    Raises
    ------
    UsageError
        If the folder holds a piece that other bots played, or with another seed.
    """
    pieces: list[NDArray[np.bool_]] = []
    played, size = 0, math.ceil(row.deals / PIECES)
    while played < row.deals:
        path = folder / f"{row.name}.{played:07}.json"
        if path.exists():
            piece = _read(path, row, seed)
        else:
            piece = _play(row, range(played, min(played + size, row.deals)), seed, workers)
            _write(path, row, seed, piece)
        pieces.append(piece)
        played += len(piece)
    return np.concatenate(pieces)[: row.deals]


def _play(row: Row, deals: range, seed: int, workers: int) -> NDArray[np.bool_]:
    began = time.perf_counter()
    if row.is_against_itself:
        wins = play_itself(row.bot, row.players, deals, seed, workers)
    else:
        wins = play_duplicates([row.bot, *row.against], deals, seed, workers)
    seconds = time.perf_counter() - began
    say(COMMAND, f"{row.name}: {deals.stop:,} of {row.deals:,} deals, the last {len(deals):,} in {seconds:.1f} s")
    return wins


def _read(path: Path, row: Row, seed: int) -> NDArray[np.bool_]:
    piece = json.loads(path.read_text(encoding="utf-8"))
    if (piece["bots"], piece["seed"]) != ([row.bot, *row.against], seed):
        raise UsageError(f"{path}: played by other bots or with another seed; choose another folder")
    if piece["source_hash"] != source_hash():
        say(COMMAND, f"{path}: played by another version of the sources")
    wins = np.zeros((piece["deals"], row.players, row.players), np.bool_)
    wins[tuple(np.transpose(piece["won"]))] = True
    return wins


def _write(path: Path, row: Row, seed: int, wins: NDArray[np.bool_]) -> None:
    """Write a piece so that a file with its name is whole at any moment."""
    piece = {
        "bots": [row.bot, *row.against],
        "seed": seed,
        "source_hash": source_hash(),
        "deals": len(wins),
        "won": np.argwhere(wins).tolist(),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_text(json.dumps(piece), encoding="utf-8")
    os.replace(unfinished, path)
