"""Who plays the chunks of a run on other machines: the workers of a Dask cluster.

The scheduler and its workers are started by whoever owns the machines; here is a client of theirs. A worker plays with
the sources that it has, so it has to have the same ones; rows come back compressed, and this process alone writes.
"""

import asyncio
import json
import logging
import os
import pickle
import time
from collections.abc import Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from velonimo_sim._jit import source_hash
from velonimo_sim.errors import BotError, UsageError, WorkerError, in_one_line
from velonimo_sim.game import GAMES, GameSpec
from velonimo_sim.records import as_arrow
from velonimo_sim.workers import MAX_CHUNK_GAMES, Chunk, Work, play_pickled, words_for

ANSWER_SECONDS = 10
"""How long a scheduler, and the first worker, may take to answer."""
_COUNT_SECONDS = 5.0
"""How often the workers are counted, as some may join or leave."""


@dataclass(frozen=True)
class Sources:
    """What a worker plays with."""

    source_hash: str
    rules_version: int

    @classmethod
    def here(cls, game: str) -> "Sources":
        """Return what this process plays a game with."""
        return cls(source_hash(), GAMES[game].rules_version)

    def __str__(self) -> str:
        return f"source hash {self.source_hash} and rules version {self.rules_version}"


def _check_worker(address: str, found: Sources, expected: Sources) -> None:
    if found != expected:
        raise WorkerError(f"worker {address} plays with {found}; here it is {expected}")


def play_there(
    game: str, expected: Sources, pickled: bytes, first_game: int, games: int
) -> list[tuple[float, bytes, bytes]]:
    """Play a chunk on a worker, in parts that fit a desk; return of each its seconds, and both kinds of rows."""
    from distributed import get_worker

    _check_worker(get_worker().address, Sources.here(game), expected)
    parts = []
    for first in range(first_game, first_game + games, MAX_CHUNK_GAMES):
        part = play_pickled(pickled, first, min(MAX_CHUNK_GAMES, first_game + games - first))
        parts.append((part.seconds, _packed(part.game_rows), _packed(part.detail_rows)))
    return parts


def _packed(rows: NDArray[np.void]) -> bytes:
    """Return rows as an Arrow table, compressed: by columns that takes half the bytes and the time."""
    names = rows.dtype.names or ()
    table = pa.table([as_arrow(np.ascontiguousarray(rows[name])) for name in names], names)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def _unpacked(parts: Sequence[bytes], row: np.dtype[np.void]) -> NDArray[np.void]:
    table = pa.concat_tables([pa.ipc.open_stream(part).read_all() for part in parts])
    rows = np.zeros(len(table), row)
    for name in table.column_names:
        rows[name] = table[name].to_numpy()
    return rows


class _ClusterResult:
    """A chunk that a cluster plays."""

    def __init__(self, future: Any, work: Work, games: range) -> None:
        self._future = future
        self._work = work
        self._games = games

    def result(self) -> Chunk:
        """Wait for the chunk, or raise what went wrong."""
        from distributed import KilledWorker

        try:
            seconds, game_rows, detail_rows = zip(*self._future.result(), strict=True)
        except (BotError, WorkerError):
            raise
        except UsageError as error:
            raise WorkerError(f"a worker cannot play: {error}") from None
        except KilledWorker as error:
            raise WorkerError(
                f"{words_for(self._games)}: {error.allowed_failures + 1} workers died of it; "
                "a bot crashes, or memory has run out"
            ) from None
        except (CancelledError, OSError, TimeoutError) as error:
            raise WorkerError(f"the scheduler is lost ({in_one_line(error)})") from None
        except Exception as error:
            raise WorkerError(f"a worker cannot play ({in_one_line(error)})") from None
        rows = _unpacked(game_rows, self._work.game_row), _unpacked(detail_rows, self._work.detail_row)
        return Chunk(self._games.start, len(self._games), *rows, sum(seconds))


class Cluster:
    """The workers of a Dask cluster.

    Parameters
    ----------
    game : GameSpec
        The game played.
    scheduler : str
        Address of the scheduler, such as ``tcp://HOST:8786``, or path of its scheduler file.

    Raises
    ------
    UsageError
        If Dask is not installed.
    WorkerError
        If the scheduler does not answer, has no workers, or one of them plays with other sources.
    """

    chunk_scale = 10
    deaths: tuple[type[Exception], ...] = ()  # the scheduler itself has the chunks of a lost worker played again

    def __init__(self, game: GameSpec, scheduler: str) -> None:
        self._game = game.name
        self._sources = Sources.here(game.name)
        self._client = _client_of(scheduler)
        try:
            self._check_workers(scheduler)
        except BaseException:
            self._client.close()
            raise
        self._counted = float("-inf")
        self._threads = 1

    def _check_workers(self, scheduler: str) -> None:
        try:
            self._client.wait_for_workers(1, timeout=ANSWER_SECONDS)
        except TimeoutError:
            raise WorkerError(f"--scheduler {scheduler}: has no workers within {ANSWER_SECONDS} s") from None
        try:
            found = self._client.run(Sources.here, self._game)
        except Exception as error:
            raise WorkerError(
                f"--scheduler {scheduler}: a worker cannot load velonimo_sim ({in_one_line(error)})"
            ) from None
        for address, sources in found.items():
            _check_worker(address, sources, self._sources)

    def take(self, work: Work) -> Self:
        """Take what is played."""
        self._work = work
        self._pickled = pickle.dumps(work)
        return self

    @property
    def most_chunks(self) -> int:
        """Two chunks for each thread of the cluster, and one that is in use here."""
        if time.monotonic() - self._counted > _COUNT_SECONDS:
            self._threads = max(1, sum(self._client.nthreads().values()))
            self._counted = time.monotonic()
        return 2 * self._threads + 1

    def submit(self, first_game: int, games: int) -> _ClusterResult:
        """Let consecutive games be played."""
        future = self._client.submit(
            play_there, self._game, self._sources, self._pickled, first_game, games, pure=False
        )
        return _ClusterResult(future, self._work, range(first_game, first_game + games))

    def close(self) -> None:
        """Drop what has not been played, and leave the cluster as it was."""
        self._client.close()


def _address_in(scheduler_file: Path) -> str:
    try:
        return str(json.loads(scheduler_file.read_text(encoding="utf-8"))["address"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise UsageError(f"--scheduler {scheduler_file}: is no scheduler file ({in_one_line(error)})") from None


async def _greet(address: str) -> None:
    """See that a scheduler answers; a client of Dask waits for ever for one that accepts a call and says nothing."""
    from distributed import Security
    from distributed.comm import connect

    comm = await connect(address, timeout=ANSWER_SECONDS, **Security().get_connection_args("client"))
    await comm.close()


def _client_of(scheduler: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise UsageError('--scheduler: needs Dask: python -m pip install "velonimo_sim[dask]"') from None
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL)  # what goes wrong is said here, in one line
    is_file = os.path.exists(scheduler)
    if not is_file and "://" not in scheduler:
        raise UsageError(
            f"--scheduler {scheduler}: allowed is an address, such as tcp://HOST:8786, or a scheduler file"
        )
    address = _address_in(Path(scheduler)) if is_file else scheduler
    try:
        asyncio.run(asyncio.wait_for(_greet(address), ANSWER_SECONDS))
        return Client(address, timeout=ANSWER_SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise WorkerError(
            f"--scheduler {scheduler}: does not answer within {ANSWER_SECONDS} s ({in_one_line(error)})"
        ) from None
