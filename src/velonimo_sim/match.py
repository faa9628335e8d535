"""Playing the games of a run: who sits where, in chunks, side by side, with the same rows whatever the chunks.

The compiled loops release the interpreter's lock, so threads of one process use all cores. A table with a bot in plain
Python holds the lock; its games are played by several processes, each at a table of its own.
"""

import multiprocessing
import os
import pickle
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing.connection import wait
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.errors import BotError
from velonimo_sim.game import GameSpec, TableLike

CHUNK_SECONDS = 0.2
"""How long a chunk should take: often enough for progress and Ctrl-C, long enough to be worth handing over."""
MAX_CHUNK_GAMES = 1_000
"""The most games of a chunk; their rows stay in a core's cache."""

_NO_LEAK_WARNING = "ignore:resource_tracker:UserWarning"
"""Passed on to the helper process of ``multiprocessing``, which else complains when a run is stopped at once."""


@dataclass(frozen=True)
class Chunk:
    """The rows of some consecutive games; valid until the next chunk is asked for."""

    first_game: int
    games: int
    game_rows: NDArray[np.void]
    col_rows: NDArray[np.void]
    seconds: float = 0.0


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


Play: TypeAlias = Callable[[int, int], Chunk]
"""Plays consecutive games, from the first one on so many."""


class _Desk:
    """Where one worker plays: a table, and row buffers for one chunk that are used again and again.

    Parameters
    ----------
    table : TableLike
        The table.
    game_row, col_row : numpy.dtype
        Columns of the two kinds of rows.
    players, most_col_rows : int
        Rows of a game, of either kind.
    """

    def __init__(
        self,
        table: TableLike,
        game_row: np.dtype[np.void],
        col_row: np.dtype[np.void],
        players: int,
        most_col_rows: int,
    ) -> None:
        self._table = table
        self._players = players
        self._game_rows = np.zeros(MAX_CHUNK_GAMES * players, game_row)
        self._col_rows = np.zeros(MAX_CHUNK_GAMES * most_col_rows, col_row)

    def play(self, first_game: int, games: int) -> Chunk:
        """Play consecutive games into the buffers."""
        began = time.perf_counter()
        written = self._table.play(first_game, games, self._game_rows, self._col_rows)
        seconds = time.perf_counter() - began
        return Chunk(first_game, games, self._game_rows[: games * self._players], self._col_rows[:written], seconds)


@cache
def _desk_of_this_process(pickled: bytes) -> _Desk:
    """Return the desk of a process that plays, which makes it when it plays its first chunk."""
    return _Desk(*pickle.loads(pickled))


def _play_here(pickled: bytes, first_game: int, games: int) -> Chunk:
    return _desk_of_this_process(pickled).play(first_game, games)


def _begin_process(folder: Path) -> None:
    """Make ready a process that plays: Ctrl-C is for its parent to heed, and when the parent goes, so does it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.chdir(folder)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


@contextmanager
def _ctrl_c_held_back() -> Iterator[None]:
    """Let processes that are started within begin with Ctrl-C blocked, before they can ignore it by themselves."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
        self._what = (table, game.game_row, game.col_row, players, most_col_rows)
        self._seconds_per_game = 0.0

    def chunks(self, games: int, workers: int) -> Generator[Chunk, None, None]:
        """Play games 0 to ``games - 1`` by several workers and yield their rows in the order of the games.

        Workers are threads, or processes for a table that holds the interpreter's lock. When the iterator is closed,
        chunks under way are played to their end and dropped.

        Raises
        ------
        BotError
            If a bot fails; all chunks before the one it happened in have then been yielded.
        """
        pending: deque[tuple[Future[Chunk], Play]] = deque()
        pool, spare = self._lane(workers)
        start = 0
        try:
            while start < games or pending:
                while start < games and spare:
                    size = min(self._chunk_games(), games - start)
                    play = spare.pop()
                    with _ctrl_c_held_back():
                        future = pool.submit(play, start, size)
                    future.add_done_callback(self._note_speed)
                    pending.append((future, play))
                    start += size
                future, play = pending.popleft()
                yield future.result()
                spare.append(play)
        except BrokenProcessPool:
            raise BotError("a process that plays was killed, or had no memory left") from None
        finally:
            pool.shutdown(cancel_futures=True)

    def _lane(self, workers: int) -> tuple[Executor, list[Play]]:
        """Return who plays, and the functions that play a chunk: one more than workers, so that nobody has to wait."""
        if self.table.holds_the_lock and workers > 1:
            spawn = multiprocessing.get_context("spawn")
            if _NO_LEAK_WARNING not in sys.warnoptions:
                sys.warnoptions.append(_NO_LEAK_WARNING)
            pool = ProcessPoolExecutor(workers, spawn, _begin_process, (Path.cwd(),))
            return pool, [partial(_play_here, pickle.dumps(self._what))] * (workers + 1)
        return ThreadPoolExecutor(workers), [_Desk(*self._what).play for _ in range(workers + 1)]

    def _chunk_games(self) -> int:
        if self._seconds_per_game == 0.0:
            return 1  # how long a game takes is not known yet
        return max(1, min(MAX_CHUNK_GAMES, int(CHUNK_SECONDS / self._seconds_per_game)))

    def _note_speed(self, future: Future[Chunk]) -> None:
        if not future.cancelled() and future.exception() is None:
            chunk = future.result()
            self._seconds_per_game = chunk.seconds / chunk.games
