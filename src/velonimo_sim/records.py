"""Writing what a run leaves on disk: the Arrow schema, shards, and the manifest ``run.json``; see ``run_files.py``.

A file is written under a name that begins with ``_``, synced and renamed, so that a file with a final name is always
whole. The columns of the two kinds of rows are those of the game's ``rows.py``; ``bot`` is a dictionary of the texts of
the bots.
"""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from velonimo_sim.errors import UsageError
from velonimo_sim.game import GameSpec
from velonimo_sim.run_files import (
    MANIFEST,
    PROBE,
    SCHEMA_VERSION,
    is_run,
    is_run_file,
    is_unbegun,
    kinds_of,
    shard_path,
    shard_paths,
)
from velonimo_sim.workers import Chunk

SHARD_GAMES = 20_000
"""Games of a full shard."""
SHARD_SECONDS = 60.0
"""After so long a shard is closed with the games that it has, so that slow bots too leave readable files."""


def arrow_schema(row: np.dtype[np.void], run: Mapping[str, Any] | None = None) -> pa.Schema:
    """Return the Arrow schema of a kind of rows: its columns in order, none of them ever null.

    Its metadata holds the version of the schema and, as JSON, what the run is: rules, bots, seed, versions.
    """
    names = row.names or ()
    return pa.schema(
        [
            pa.field(
                name,
                pa.dictionary(pa.int8(), pa.string()) if name == "bot" else pa.from_numpy_dtype(row[name]),
                nullable=False,
            )
            for name in names
        ],
        metadata={"velonimo_sim_schema": str(SCHEMA_VERSION)} | ({"velonimo_sim_run": json.dumps(run)} if run else {}),
    )


class _Columns:
    """The rows of one shard, column by column; used again for another shard."""

    def __init__(self, schema: pa.Schema, row: np.dtype[np.void], bots: Any) -> None:
        self.schema = schema
        self._bots = bots
        self._columns = {name: np.empty(0, row[name]) for name in self.schema.names}
        self._size = 0

    def append(self, rows: NDArray[np.void]) -> None:
        end = self._size + len(rows)
        for name, column in self._columns.items():
            if end > len(column):
                column = self._columns[name] = np.concatenate([column, np.empty(end, column.dtype)])
            column[self._size : end] = rows[name]
        self._size = end

    def clear(self) -> None:
        self._size = 0

    def write(self, path: Path) -> None:
        """Write the rows as one Parquet file of one row group."""
        arrays = {name: as_arrow(column[: self._size]) for name, column in self._columns.items()}
        if "bot" in arrays:
            arrays["bot"] = pa.DictionaryArray.from_arrays(arrays["bot"], self._bots, safe=False)
        table = pa.Table.from_arrays(list(arrays.values()), schema=self.schema)
        pq.write_table(table, path, row_group_size=len(table), **_write_options(self.schema))


def as_arrow(column: NDArray[Any]) -> Any:
    """Return a column as an Arrow array over the same memory, flags packed to bits.

    ``pyarrow.array`` would do as well, but it loads pandas to look for its types: a fifth of a command's start.
    """
    bits_or_values = np.packbits(column, bitorder="little") if column.dtype == np.bool_ else column
    buffers = [None, pa.py_buffer(bits_or_values)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(column.dtype), len(column), buffers)


def _texts_as_arrow(texts: Sequence[str]) -> Any:
    """Return texts as an Arrow array."""
    data = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, data)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(data), pa.py_buffer(offsets), pa.py_buffer(b"".join(data)))


def _write_options(schema: pa.Schema) -> dict[str, Any]:
    """Return how a table is compressed.

    Byte-stream split before zstd is both the fastest and the smallest for the narrow integers of the rows; statistics
    are kept where a reader can skip by them.
    """
    split = [field.name for field in schema if pa.types.is_integer(field.type)]
    return {
        "compression": "zstd",
        "compression_level": 1,
        "use_dictionary": [name for name in schema.names if name == "bot"],
        "column_encoding": dict.fromkeys(split, "BYTE_STREAM_SPLIT"),
        "write_statistics": ["game_id"],
        "write_batch_size": 65_536,
        "data_page_size": 2**24,  # a page a column: each has its own compressor, and those cost time
    }


def _write_whole(writers: Mapping[Path, Callable[[Path], object]]) -> None:
    """Write files together: each under a name that begins with ``_``, then all synced, then all renamed.

    When writing or syncing fails none of the files is left. The last one named is the last to get its name: where it
    is, the others are.
    """
    partials = {path: path.with_name("_" + path.name) for path in writers}
    try:
        for path, write in writers.items():
            write(partials[path])
        for partial in partials.values():
            with partial.open("rb+") as file:
                os.fsync(file.fileno())
        for path, partial in partials.items():
            partial.replace(path)
    except BaseException:
        for partial in partials.values():
            partial.unlink(missing_ok=True)
        raise


class _Shard:
    """The rows of the shard that is being filled, or written."""

    def __init__(self, game: GameSpec, bots: Sequence[str], run: Mapping[str, Any]) -> None:
        rows = {game.detail: game.detail_row, "games": game.game_row}
        dictionary = _texts_as_arrow(bots)
        self._detail = game.detail
        self._kinds = {
            kind: _Columns(arrow_schema(rows[kind], run), rows[kind], dictionary) for kind in kinds_of(game.name)
        }
        self.first_game = self.games = 0

    def append(self, chunk: Chunk) -> None:
        if self.games == 0:
            self.first_game = chunk.first_game
        self._kinds["games"].append(chunk.game_rows)
        self._kinds[self._detail].append(chunk.detail_rows)
        self.games += chunk.games

    def clear(self) -> None:
        self.games = 0
        for columns in self._kinds.values():
            columns.clear()

    def write(self, folder: Path) -> None:
        _write_whole(
            {shard_path(folder, kind, self.first_game): columns.write for kind, columns in self._kinds.items()}
        )


class RunFolder:
    """The folder of one run: takes chunks, writes shards, one while the next is filled.

    Parameters
    ----------
    path : pathlib.Path
        The folder, claimed by ``claim_run_folder``.
    game : GameSpec
        The game played; it knows the two kinds of rows.
    bots : sequence of str
        Texts of the bots, each once.
    run : mapping, optional
        What the run is, by default no more than its game; it goes into every file.
    """

    def __init__(self, path: Path, game: GameSpec, bots: Sequence[str], run: Mapping[str, Any] | None = None) -> None:
        self.path = path
        self.games = 0
        run = run or {"game": game.name}
        self._filled, self._spare = _Shard(game, bots, run), _Shard(game, bots, run)
        self._writer = ThreadPoolExecutor(1)
        self._writing: Future[int] | None = None
        self._opened = time.monotonic()

    def add(self, chunk: Chunk) -> None:
        """Take the rows of a chunk; write a shard when there are enough of them or enough time has passed.

        Raises
        ------
        OSError
            If the shard before could not be written.
        """
        if self._filled.games and chunk.first_game != self._filled.first_game + self._filled.games:
            self._write_shard()  # the games between are in a shard that is finished
        self._filled.append(chunk)
        if self._filled.games >= SHARD_GAMES or time.monotonic() - self._opened > SHARD_SECONDS:
            self._write_shard()

    def close(self) -> None:
        """Write what has been taken since the last shard, and wait until all is on disk.

        Raises
        ------
        OSError
            If something cannot be written; no file of that shard is left.
        """
        try:
            self._write_shard()
            self._wait_for_shard()
        finally:
            self._writer.shutdown()

    def _write_shard(self) -> None:
        """Begin to write what has been taken, once the shard before is written; nothing if there is nothing."""
        self._wait_for_shard()
        if self._filled.games:
            self._writing = self._writer.submit(self._write, self._filled)
            self._filled, self._spare = self._spare, self._filled
        self._opened = time.monotonic()

    def _write(self, shard: _Shard) -> int:
        try:
            shard.write(self.path)
            return shard.games
        finally:
            shard.clear()

    def _wait_for_shard(self) -> None:
        if self._writing is not None:
            writing, self._writing = self._writing, None
            try:
                self.games += writing.result()
            except OSError:
                self._filled.clear()  # so that what is written has no gap
                raise

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Write ``run.json``, in one piece as the shards are."""
        text = json.dumps(manifest, indent=2) + "\n"
        _write_whole({self.path / MANIFEST: lambda path: path.write_text(text, encoding="utf-8")})


def claim_run_folder(path: Path, overwrite: bool, resume: bool = False) -> bool:
    """Make the folder of a run, or see that the run in it may be replaced or gone on with, before anything is played.

    Parameters
    ----------
    path : pathlib.Path
        The folder.
    overwrite : bool
        Whether a run that is there may be replaced; ``clear_run_folder`` does so.
    resume : bool
        Whether a run that is there may be gone on with.

    Returns
    -------
    bool
        Whether the folder is new.

    Raises
    ------
    UsageError
        If the folder exists and may not be used, holds what no run wrote, or cannot be written to.
    """
    try:
        is_new = True
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            is_new = False
            if not (overwrite or resume):
                raise UsageError(
                    f"--out {path}: exists; name another folder, go on with --resume, or allow --overwrite"
                ) from None
            _check_holds_a_run(path)
        probe = path / PROBE
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise UsageError(f"--out {path}: cannot be written ({error.strerror})") from None
    return is_new


def _check_holds_a_run(path: Path) -> None:
    if not path.is_dir():
        raise UsageError(f"--out {path}: is not a folder")
    for entry in sorted(path.iterdir()):
        if not is_run_file(entry):
            raise UsageError(f"--out {path}: holds {entry.name}, which no run wrote; it is left alone")
    if not is_run(path) and not is_unbegun(path):
        raise UsageError(f"--out {path}: holds files but no {MANIFEST}; it is left alone")


def clear_run_folder(path: Path) -> None:
    """Delete the run in a folder that was claimed; its manifest goes first, so that what is left is no run.

    Then ``games-`` files go before all others, so that what is left at any moment is finished or half done.
    """
    (path / MANIFEST).unlink(missing_ok=True)
    for entry in [*reversed(shard_paths(path)), *sorted(path.iterdir(), reverse=True)]:
        entry.unlink(missing_ok=True)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a folder for this process alone, where the system can do that; a process that is killed lets go.

    Raises
    ------
    UsageError
        If another process holds it.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    folder = os.open(path, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"--out {path}: another process is playing into this folder") from None
        except OSError:
            pass  # this file system knows no locks
        yield
    finally:
        os.close(folder)
