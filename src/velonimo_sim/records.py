"""What a run leaves on disk: Parquet shards of one documented schema, and the manifest ``run.json``.

A shard is written under a name that begins with ``_``, synced and renamed, so that a file with a final name is always
whole. The columns of the two kinds of rows are those of the game's ``rows.py``; ``bot`` is a dictionary of the texts of
the bots.
"""

import json
import os
import re
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from velonimo_sim.errors import UsageError
from velonimo_sim.game import GameSpec
from velonimo_sim.match import MAX_CHUNK_GAMES, Chunk

SCHEMA_VERSION = 2
"""Goes up whenever a column changes; written into every Parquet file and into ``run.json``."""

SHARD_GAMES = 20_000
"""Games of a full shard."""
SHARD_SECONDS = 60.0
"""After so long a shard is closed with the games that it has, so that slow bots too leave readable files."""

MANIFEST = "run.json"


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
    """Room for the rows of one shard, column by column; used again for the next shard."""

    def __init__(self, schema: pa.Schema, row: np.dtype[np.void], capacity: int, bots: Any) -> None:
        self.schema = schema
        self._bots = bots
        self._columns = {name: np.empty(capacity, row[name]) for name in self.schema.names}
        self._size = 0

    def append(self, rows: NDArray[np.void]) -> None:
        end = self._size + len(rows)
        for name, column in self._columns.items():
            column[self._size : end] = rows[name]
        self._size = end

    def clear(self) -> None:
        self._size = 0

    def write(self, path: Path) -> None:
        """Write the rows as one Parquet file of one row group."""
        arrays = {name: _as_arrow(column[: self._size]) for name, column in self._columns.items()}
        arrays["bot"] = pa.DictionaryArray.from_arrays(arrays["bot"], self._bots)
        table = pa.Table.from_arrays(list(arrays.values()), schema=self.schema)
        pq.write_table(table, path, row_group_size=len(table), **_write_options(self.schema))


def _as_arrow(column: NDArray[Any]) -> Any:
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
        "use_dictionary": ["bot"],
        "column_encoding": dict.fromkeys(split, "BYTE_STREAM_SPLIT"),
        "write_statistics": ["game_id"],
        "write_batch_size": 16_384,
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


class RunFolder:
    """The folder of one run: takes chunks, writes shards.

    Parameters
    ----------
    path : pathlib.Path
        The folder, claimed by ``claim_run_folder``.
    game : GameSpec
        The game played; it knows the two kinds of rows.
    bots : sequence of str
        Texts of the bots.
    most_col_rows : int
        The most col rows of a game.
    run : mapping
        What the run is; it goes into every file.
    """

    def __init__(
        self, path: Path, game: GameSpec, bots: Sequence[str], most_col_rows: int, run: Mapping[str, Any] | None = None
    ) -> None:
        self.path = path
        self.games = 0
        dictionary = _texts_as_arrow(bots)
        room = SHARD_GAMES + MAX_CHUNK_GAMES
        self._kinds = {
            "cols": _Columns(arrow_schema(game.col_row, run), game.col_row, room * most_col_rows, dictionary),
            "games": _Columns(arrow_schema(game.game_row, run), game.game_row, room * len(bots), dictionary),
        }
        self._shard_games = 0
        self._opened = time.monotonic()

    def add(self, chunk: Chunk) -> None:
        """Take the rows of a chunk; write a shard when there are enough of them or enough time has passed."""
        self._kinds["games"].append(chunk.game_rows)
        self._kinds["cols"].append(chunk.col_rows)
        self._shard_games += chunk.games
        if self._shard_games >= SHARD_GAMES or time.monotonic() - self._opened > SHARD_SECONDS:
            self.close_shard()

    def close_shard(self) -> None:
        """Write what has been taken since the last shard; nothing if there is nothing.

        Both files are complete on disk before either gets its name.

        Raises
        ------
        OSError
            If they cannot be written; the rows are then kept, and no file of the shard is left.
        """
        if self._shard_games:
            _write_whole(
                {
                    self.path / f"{kind}-{self.games:010d}.parquet": columns.write
                    for kind, columns in self._kinds.items()
                }
            )
            self.games += self._shard_games
            self._shard_games = 0
            for columns in self._kinds.values():
                columns.clear()
        self._opened = time.monotonic()

    @property
    def taken(self) -> int:
        """Games that were taken, written or not."""
        return self.games + self._shard_games

    def write_manifest(self, manifest: dict[str, Any]) -> None:
        """Write ``run.json``, in one piece as the shards are."""
        text = json.dumps(manifest, indent=2) + "\n"
        _write_whole({self.path / MANIFEST: lambda path: path.write_text(text, encoding="utf-8")})


def claim_run_folder(path: Path, overwrite: bool) -> bool:
    """Make the folder of a run, or see that the run in it may be replaced, before anything is played.

    Parameters
    ----------
    path : pathlib.Path
        The folder.
    overwrite : bool
        Whether a run that is there may be replaced; ``clear_run_folder`` does so.

    Returns
    -------
    bool
        Whether the folder is new.

    Raises
    ------
    UsageError
        If the folder exists and may not be replaced, holds what no run wrote, or cannot be written to.
    """
    try:
        is_new = True
        try:
            path.mkdir(parents=True)
        except FileExistsError:
            is_new = False
            _check_replaceable(path, overwrite)
        probe = path / "_probe"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise UsageError(f"--out {path}: cannot be written ({error.strerror})") from None
    return is_new


def _check_replaceable(path: Path, overwrite: bool) -> None:
    if not overwrite:
        raise UsageError(f"--out {path}: exists; name another folder, or allow --overwrite")
    if not path.is_dir():
        raise UsageError(f"--out {path}: is not a folder")
    entries = sorted(path.iterdir())
    for entry in entries:
        if not _is_run_file(entry):
            raise UsageError(f"--out {path}: holds {entry.name}, which no run wrote; it is not overwritten")
    if entries and not (path / MANIFEST).exists():
        raise UsageError(f"--out {path}: holds files but no {MANIFEST}; it is not overwritten")


def clear_run_folder(path: Path) -> None:
    """Delete the run in a folder that was claimed; its manifest goes first, so that what is left is no run."""
    (path / MANIFEST).unlink(missing_ok=True)
    for entry in path.iterdir():
        entry.unlink()


def _is_run_file(entry: Path) -> bool:
    is_shard = re.fullmatch(r"_?(games|cols)-\d{10,}\.parquet", entry.name) is not None
    return entry.is_file() and (is_shard or entry.name in (MANIFEST, f"_{MANIFEST}"))
