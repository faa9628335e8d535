"""Playing the games of a run: who sits where, in chunks, by threads, with the same rows whatever the chunks.

The compiled loops release the interpreter's lock, so threads of one process use all cores.
"""

import os
import time
from collections import deque
from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.game import GameSpec, TableLike

CHUNK_SECONDS = 0.2
"""How long a chunk should take: often enough for progress and Ctrl-C, long enough to be worth handing over."""
MAX_CHUNK_GAMES = 1_000
"""The most games of a chunk; their rows stay in a core's cache."""


@dataclass(frozen=True)
class Chunk:
    """The rows of some consecutive games; valid until the next chunk is asked for."""

    first_game: int
    games: int
    game_rows: NDArray[np.void]
    col_rows: NDArray[np.void]


def rotated_seatings(players: int) -> NDArray[np.int8]:
    """Return the seatings of a run: every bot moves on one seat from game to game.

    Returns
    -------
    numpy.ndarray
        dtype int8, shape (players, players): ``[seating, seat]`` is the bot that sits there. Over ``players``
        consecutive games each bot sits in each seat once, and so starts once.
    """
    seats = np.arange(players)
    return ((seats - seats[:, None]) % players).astype(np.int8)


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Buffers:
    """Row buffers for one chunk, used again and again."""

    def __init__(self, game: GameSpec, players: int, most_col_rows: int) -> None:
        self.game_rows = np.zeros(MAX_CHUNK_GAMES * players, game.game_row)
        self.col_rows = np.zeros(MAX_CHUNK_GAMES * most_col_rows, game.col_row)


class Match:
    """The games of a run at one table.

    Parameters
    ----------
    game : GameSpec
        The game played.
    table : TableLike
        The table, with its bots, rules and seed.
    players : int
        Seats at the table.
    most_col_rows : int
        The most col rows of a game.
    """

    def __init__(self, game: GameSpec, table: TableLike, players: int, most_col_rows: int) -> None:
        self.table = table
        self.players = players
        self._game = game
        self._most_col_rows = most_col_rows
        self._seconds_per_game = 0.0

    def chunks(self, games: int, workers: int) -> Generator[Chunk, None, None]:
        """Play games 0 to ``games - 1`` on several threads and yield their rows in the order of the games.

        When the iterator is closed, chunks under way are played to their end and dropped.

        Raises
        ------
        BotError
            If a bot fails; all chunks before the one it happened in have then been yielded.
        """
        pending: deque[tuple[Future[Chunk], _Buffers]] = deque()
        spare = [_Buffers(self._game, self.players, self._most_col_rows) for _ in range(workers + 1)]
        start = 0
        pool = ThreadPoolExecutor(workers)
        try:
            while start < games or pending:
                while start < games and spare:
                    size = min(self._chunk_games(), games - start)
                    buffers = spare.pop()
                    pending.append((pool.submit(self._play_chunk, start, size, buffers), buffers))
                    start += size
                future, buffers = pending.popleft()
                yield future.result()
                spare.append(buffers)
        finally:
            pool.shutdown(cancel_futures=True)

    def _chunk_games(self) -> int:
        if self._seconds_per_game == 0.0:
            return 1  # how long a game takes is not known yet
        return max(1, min(MAX_CHUNK_GAMES, int(CHUNK_SECONDS / self._seconds_per_game)))

    def _play_chunk(self, first_game: int, games: int, buffers: _Buffers) -> Chunk:
        began = time.perf_counter()
        written = self.table.play(first_game, games, buffers.game_rows, buffers.col_rows)
        self._seconds_per_game = (time.perf_counter() - began) / games
        return Chunk(first_game, games, buffers.game_rows[: games * self.players], buffers.col_rows[:written])
