"""The files of a run: their names, when they are whole, and how they are read back. Knows no engine.

A run folder holds ``run.json``, the manifest, and shards. A shard is a pair of Parquet files with the index of its
first game: ``games-``, and ``cols-`` or ``races-``, which tell more of the games. Both are complete on disk before
either gets its name, and ``games-`` gets it last, so that a shard is finished if and only if that name is there.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.errors import CorruptDataError, UsageError, in_one_line, is_integer_in

SCHEMA_VERSION = 3
"""Goes up whenever a column or its meaning changes; written into every Parquet file and into ``run.json``."""

MAX_SEATS = 127
"""The most players of a game: the rows have a seat in 8 bits."""

BASE, VARIANT = "base", "variant"
"""The folders of two runs whose rules are compared, within the folder of the comparison."""

MANIFEST = "run.json"
PROBE = "_probe"
"""Written and deleted again to see whether a folder can be written to."""
DETAILS = {"velonimo": "cols", "velocity": "races"}
"""For each game the kind of the rows, and files, that tell more of its games than who won."""

_SHARD = re.compile(rf"(_?)(games|{'|'.join(DETAILS.values())})-(\d{{10,}})\.parquet")


def kinds_of(game: str) -> tuple[str, str]:
    """Return the files of a shard of a game, in the order in which they get their names."""
    return DETAILS[game], "games"


@dataclass(frozen=True)
class Shard:
    """A finished shard: which games it holds, its files by kind, and what they say of their run."""

    first_game: int
    games: int
    paths: dict[str, Path]
    run: dict[str, Any]

    @property
    def end(self) -> int:
        """The first game that comes after it."""
        return self.first_game + self.games


def shard_path(folder: Path, kind: str, first_game: int) -> Path:
    """Return the path of a shard's file of one kind."""
    return folder / f"{kind}-{first_game:010d}.parquet"


def is_run_file(path: Path) -> bool:
    """Whether a path is a file that a run wrote, finished or not."""
    is_named_so = _SHARD.fullmatch(path.name) is not None or path.name in (MANIFEST, f"_{MANIFEST}", PROBE)
    return is_named_so and path.is_file()


def is_run(folder: Path) -> bool:
    """Whether a folder is that of a run: its manifest is there, or a finished shard, which says the same."""
    return (folder / MANIFEST).exists() or manifest_in_shards(folder) is not None


def is_unbegun(folder: Path) -> bool:
    """Whether a folder holds nothing but what a run that was killed before it had a manifest leaves half done."""
    return {*folder.iterdir()} == {*unfinished_files(folder)}


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return what ``run.json`` says.

    Raises
    ------
    UsageError
        If there is no run in the folder.
    CorruptDataError
        If the file is no manifest, or that of a run of another schema version.
    """
    path = folder / MANIFEST
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"{folder}: holds no run: there is no {MANIFEST}") from None
    except NotADirectoryError:
        raise UsageError(f"{folder}: is not a folder") from None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise CorruptDataError(f"{path}: is no JSON ({error})") from None
    version = content.get("schema_version") if isinstance(content, dict) else None
    if version != SCHEMA_VERSION:
        raise CorruptDataError(f"{path}: schema version {version}: this version of velonimo_sim reads {SCHEMA_VERSION}")
    if not is_integer_in(content.get("players"), 1, MAX_SEATS):
        raise CorruptDataError(f"{path}: players is {content.get('players')!r}: allowed is an integer 1-{MAX_SEATS}")
    _check_game(path, content)
    return dict(content)


def _check_game(path: Path, run: Mapping[str, Any]) -> None:
    """Raise unless what a file says of its run names a game."""
    if run.get("game") not in DETAILS:
        raise CorruptDataError(f"{path}: game is {run.get('game')!r}: allowed is {' or '.join(DETAILS)}")


def finished_shards(folder: Path, players: int) -> Iterator[Shard]:
    """Yield the finished shards of a run in the order of their games.

    Raises
    ------
    UsageError
        If a file cannot be read, or is of another schema version.
    CorruptDataError
        If a file of a shard is damaged or missing, holds a part of a game, or two shards hold the same game.
    """
    end = 0
    for path in shard_paths(folder):
        shard = read_shard(path, players)
        if shard.first_game < end:
            raise CorruptDataError(f"{path}: holds games that are in the shard before it")
        end = shard.end
        yield shard


def shard_paths(folder: Path) -> list[Path]:
    """Return the ``games-`` files of a run, in the order of their games."""
    found = [
        path for path in folder.iterdir() if (match := _SHARD.fullmatch(path.name)) and match[1] + match[2] == "games"
    ]
    return sorted(found, key=_first_game)


def _first_game(path: Path) -> int:
    return int(path.stem.partition("-")[2])


def read_shard(games_path: Path, players: int) -> Shard:
    """Return the finished shard that a ``games-`` file belongs to.

    Raises
    ------
    UsageError
        If a file of it cannot be read, or is of another schema version.
    CorruptDataError
        If a file of it is damaged or missing, or holds a part of a game.
    """
    first_game = _first_game(games_path)
    rows, run = _described(games_path)
    _check_game(games_path, run)
    paths = {kind: shard_path(games_path.parent, kind, first_game) for kind in kinds_of(run["game"])}
    _described(paths[DETAILS[run["game"]]])
    if rows % players or rows == 0:
        raise CorruptDataError(f"{games_path}: holds {rows} rows, which are no whole games of {players} players")
    return Shard(first_game, rows // players, paths, run)


def check_shard(shard: Shard) -> None:
    """Read a shard through, and see that it holds the games that its name says.

    Raises
    ------
    UsageError
        If a file of it cannot be read.
    CorruptDataError
        If a file of it is damaged, or holds other games.
    """
    for path in shard.paths.values():
        games = np.unique(_read_table(path)["game_id"].to_numpy())
        if not np.array_equal(games, np.arange(shard.first_game, shard.end)):
            raise CorruptDataError(f"{path}: does not hold the games {shard.first_game} to {shard.end - 1}")


def _described(path: Path) -> tuple[int, dict[str, Any]]:
    """Return the number of rows of a Parquet file, and what it says of its run."""
    import pyarrow.parquet as pq

    metadata = _reading(path, pq.read_metadata)
    texts = metadata.metadata or {}
    version = texts.get(b"velonimo_sim_schema", b"none").decode()
    if version != str(SCHEMA_VERSION):
        raise UsageError(f"{path}: schema version {version}: this version of velonimo_sim reads {SCHEMA_VERSION}")
    return int(metadata.num_rows), dict(json.loads(texts.get(b"velonimo_sim_run", b"{}")))


def _read_table(path: Path, **options: Any) -> Any:
    """Return a Parquet file as an Arrow table."""
    import pyarrow.parquet as pq

    return _reading(path, lambda path: pq.read_table(path, **options))


def _reading(path: Path, read: Callable[[Path], Any]) -> Any:
    """Return what is read of a Parquet file; that it cannot be read is another thing than that it is damaged."""
    import pyarrow as pa

    try:
        return read(path)
    except FileNotFoundError:
        raise CorruptDataError(f"{path}: is missing, though the other file of its shard is there") from None
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, MemoryError) or getattr(error, "errno", None):
            raise UsageError(f"{path}: cannot be read ({in_one_line(error)})") from None
        raise CorruptDataError(f"{path}: is damaged ({in_one_line(error)})") from None


def manifest_in_shards(folder: Path) -> dict[str, Any] | None:
    """Return what the last finished shard says of its run; None if there is none."""
    for path in reversed(shard_paths(folder)):
        try:
            return _described(path)[1]
        except (CorruptDataError, UsageError):
            continue
    return None


def columns_of(shard: Shard, kind: str, bots: Sequence[str], columns: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Return columns of a shard's rows of one kind as arrays, ``bot`` as an index into the texts of the bots.

    Raises
    ------
    UsageError
        If the file cannot be read.
    CorruptDataError
        If the shard is damaged, or has rows of a bot that is not among those given.
    """
    table = _read_table(shard.paths[kind], columns=[*columns])
    arrays = {name: table[name].combine_chunks() for name in columns}
    found: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        if name == "bot":
            texts = array.dictionary.to_pylist()
            strangers = [text for text in texts if text not in bots]
            if strangers:
                raise CorruptDataError(f"{shard.paths[kind]}: has rows of {strangers[0]!r}, which is no bot of the run")
            numbers = np.array([bots.index(text) for text in texts], np.int16)
            found[name] = numbers[array.indices.to_numpy()]
        else:
            found[name] = array.to_numpy(zero_copy_only=False)
    return found


def column_names(shard: Shard, kind: str) -> list[str]:
    """Return the names of the columns of a shard's rows of one kind.

    Raises
    ------
    UsageError
        If the file cannot be read.
    CorruptDataError
        If it is damaged.
    """
    import pyarrow.parquet as pq

    return list(_reading(shard.paths[kind], pq.read_schema).names)


def rows_of_game(folder: Path, players: int, game: int) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of one game by kind, as they are recorded, in their order.

    Raises
    ------
    UsageError
        If no finished shard holds the game.
    CorruptDataError
        If a shard is damaged.
    """
    end = 0
    for shard in finished_shards(folder, players):
        if shard.first_game <= game < shard.end:
            return {
                kind: _read_table(path, filters=[("game_id", "==", game)]).to_pylist()
                for kind, path in shard.paths.items()
            }
        end = shard.end
    raise UsageError(f"game {game}: is not in {folder}, which holds {f'games up to {end - 1}' if end else 'no games'}")


def unfinished_files(folder: Path) -> list[Path]:
    """Return what a run that was killed has left half done: files without a final name, shards without both files."""
    found = {path.name: match for path in folder.iterdir() if (match := _SHARD.fullmatch(path.name))}
    names = [name for name, match in found.items() if match[1] or f"games-{match[3]}.parquet" not in found]
    others = (folder / f"_{MANIFEST}", folder / PROBE)
    return [folder / name for name in sorted(names)] + [path for path in others if path.exists()]
