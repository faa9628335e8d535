"""Who plays the chunks of a run on this machine: threads of one process, or processes.

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
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.game import GameSpec, TableLike

MAX_CHUNK_GAMES = 4_000
"""The most games of a chunk: fewer cost more to hand over, more gain nothing."""

_NO_LEAK_WARNING = "ignore:resource_tracker:UserWarning"
"""Passed on to the helper process of ``multiprocessing``, which else complains when a run is stopped at once."""


@dataclass(frozen=True)
class Chunk:
    """The rows of some consecutive games; valid until the next chunk is asked for."""

    first_game: int
    games: int
    game_rows: NDArray[np.void]
    detail_rows: NDArray[np.void]
    seconds: float = 0.0

    def first(self, games: int) -> "Chunk":
        """Return the first games of the chunk."""
        players = len(self.game_rows) // self.games
        end = int(np.searchsorted(self.detail_rows["game_id"], self.first_game + games))
        return Chunk(self.first_game, games, self.game_rows[: games * players], self.detail_rows[:end], self.seconds)


def words_for(games: range) -> str:
    """Return a chunk in words."""
    return f"game {games.start:,}" if len(games) == 1 else f"games {games.start:,} to {games.stop - 1:,}"


class Result(Protocol):
    """A chunk that is being played."""

    def result(self) -> Chunk:
        """Wait for the chunk, or raise what went wrong."""


class Workers(Protocol):
    """Who plays chunks."""

    @property
    def most_chunks(self) -> int:
        """How many chunks may be under way or in use: enough that nobody has to wait."""

    @property
    def chunk_scale(self) -> int:
        """How many times as large as a thread's a chunk should be, since handing it over takes longer."""

    @property
    def deaths(self) -> tuple[type[Exception], ...]:
        """What the result raises when the worker that played it has died."""

    def submit(self, first_game: int, games: int) -> Result:
        """Let consecutive games be played."""

    def close(self) -> None:
        """Drop what has not begun, wait for what has, and let the workers go."""


@dataclass(frozen=True)
class Work:
    """What is played: a table, and what is needed to make room for its rows.

    Parameters
    ----------
    table : TableLike
        The table.
    game_row, detail_row : numpy.dtype
        Columns of the two kinds of rows.
    players, most_detail_rows : int
        Rows of a game, of either kind.
    """

    table: TableLike
    game_row: np.dtype[np.void]
    detail_row: np.dtype[np.void]
    players: int
    most_detail_rows: int

    @classmethod
    def of(cls, game: GameSpec, table: TableLike, rules: Any, players: int) -> "Work":
        """Return the work at a table of a game."""
        return cls(table, game.game_row, game.detail_row, players, game.most_detail_rows(rules, players))


class Desk:
    """Where one worker plays: a table, and row buffers for one chunk that are used again and again.

    Parameters
    ----------
    work : Work
        What is played.
    """

    def __init__(self, work: Work) -> None:
        self._table = work.table
        self._players = work.players
        self._game_rows = np.zeros(MAX_CHUNK_GAMES * work.players, work.game_row)
        self._detail_rows = np.zeros(MAX_CHUNK_GAMES * work.most_detail_rows, work.detail_row)

    def play(self, first_game: int, games: int) -> Chunk:
        """Play consecutive games into the buffers."""
        began = time.perf_counter()
        written = self._table.play(first_game, games, self._game_rows, self._detail_rows)
        seconds = time.perf_counter() - began
        return Chunk(first_game, games, self._game_rows[: games * self._players], self._detail_rows[:written], seconds)


_of_this_thread = threading.local()


def play_pickled(pickled: bytes, first_game: int, games: int) -> Chunk:
    """Play consecutive games of pickled work, at a desk that this thread keeps for as long as the work is the same."""
    if getattr(_of_this_thread, "pickled", None) != pickled:
        _of_this_thread.desk = Desk(pickle.loads(pickled))
        _of_this_thread.pickled = pickled
    desk: Desk = _of_this_thread.desk
    return desk.play(first_game, games)


class Threads:
    """Threads of this process.

    Parameters
    ----------
    work : Work
        What is played; the table has to let go of the interpreter's lock.
    count : int
        How many threads.
    """

    chunk_scale = 1
    deaths: tuple[type[Exception], ...] = ()

    def __init__(self, work: Work, count: int) -> None:
        self._pool = ThreadPoolExecutor(count)
        self.most_chunks = count + 1
        self._desks = [Desk(work) for _ in range(self.most_chunks)]
        self._next = 0

    def submit(self, first_game: int, games: int) -> Future[Chunk]:
        """Let consecutive games be played; the chunk of so many submissions before is no longer in use."""
        desk = self._desks[self._next % len(self._desks)]
        self._next += 1
        return self._pool.submit(desk.play, first_game, games)

    def close(self) -> None:
        """Drop what has not begun and wait for what has."""
        self._pool.shutdown(cancel_futures=True)


class Processes:
    """Processes, each a pool of its own, so that the death of one is the end of its chunks alone.

    Parameters
    ----------
    work : Work
        What is played.
    count : int
        How many processes.
    """

    chunk_scale = 1
    deaths: tuple[type[Exception], ...] = (BrokenProcessPool,)

    def __init__(self, work: Work, count: int) -> None:
        if _NO_LEAK_WARNING not in sys.warnoptions:
            sys.warnoptions.append(_NO_LEAK_WARNING)
        self._pickled = pickle.dumps(work)
        self._pools = [_new_process() for _ in range(count)]
        self._given: list[list[Future[Chunk]]] = [[] for _ in range(count)]
        self.most_chunks = count + 1

    def submit(self, first_game: int, games: int) -> Future[Chunk]:
        """Let consecutive games be played by the process that has the least to do; one that died is replaced."""
        self._given = [[future for future in given if not future.done()] for given in self._given]
        least = min(range(len(self._pools)), key=lambda process: len(self._given[process]))
        with _signals_held_back():
            try:
                future = self._pools[least].submit(play_pickled, self._pickled, first_game, games)
            except BrokenProcessPool:
                self._pools[least] = _new_process()
                future = self._pools[least].submit(play_pickled, self._pickled, first_game, games)
        self._given[least].append(future)
        return future

    def close(self) -> None:
        """Drop what has not begun, wait for what has, and end the processes."""
        for pool in self._pools:
            pool.shutdown(wait=False, cancel_futures=True)
        for pool in self._pools:
            pool.shutdown()


def _new_process() -> ProcessPoolExecutor:
    return ProcessPoolExecutor(1, multiprocessing.get_context("spawn"), _begin_process, (Path.cwd(),))


def _begin_process(folder: Path) -> None:
    """Make ready a process that plays: signals to stop are for its parent to heed, and when that goes, so does it."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    os.chdir(folder)
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)


@contextmanager
def _signals_held_back() -> Iterator[None]:
    """Let processes that are started within begin with signals blocked, before they can ignore them by themselves."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def available_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def local_workers(work: Work, count: int) -> Workers:
    """Return the workers of this machine: threads, or processes for a table that holds the interpreter's lock."""
    kind: Callable[[Work, int], Workers] = Processes if work.table.holds_the_lock and count > 1 else Threads
    return kind(work, count)
