"""What a run leaves on disk: the schema, shards that are whole or not there, and folders that are safe to write to."""

import errno
import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.typing import NDArray

from conftest import rotated_seatings
from velonimo_sim import records
from velonimo_sim.errors import UsageError
from velonimo_sim.game import GAMES
from velonimo_sim.records import RunFolder, arrow_schema, claim_run_folder, clear_run_folder
from velonimo_sim.run_files import SCHEMA_VERSION
from velonimo_sim.velonimo.rows import COL_ROW, GAME_ROW
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.workers import Chunk

GAME = GAMES["velonimo"]
BOTS = ("greedy", "random", "hold-hares")
BOT = "dictionary<values=string, indices=int8, ordered=0>"

GAME_COLUMNS = [
    ("game_id", "int64"),
    ("deal_id", "int64"),
    ("seating_id", "int16"),
    ("seat", "int8"),
    ("bot", BOT),
    ("total", "int32"),
    ("place", "int8"),
    ("won", "bool"),
    ("fault", "int8"),
    ("faults", "int32"),
]
COL_COLUMNS = [
    ("game_id", "int64"),
    ("col", "int8"),
    ("seat", "int8"),
    ("bot", BOT),
    ("hand", "uint64"),
    ("tortoises", "int8"),
    ("hares", "int8"),
    ("started", "bool"),
    ("wears_jersey", "bool"),
    ("jersey_spent_on", "int32"),
    ("swaps_made", "int16"),
    ("swaps_suffered", "int16"),
    ("out_order", "int8"),
    ("points", "int32"),
    ("turns", "int16"),
    ("passes", "int16"),
]
KINDS = {"games": (GAME_ROW, GAME_COLUMNS), "cols": (COL_ROW, COL_COLUMNS)}
each_kind = pytest.mark.parametrize("kind", KINDS)

Rows = NDArray[Any]


@cache
def played(games: int) -> tuple[Rows, Rows]:
    """Return the game rows and col rows of a run."""
    bots = [GAME.parse_bot(text) for text in BOTS]
    table = GAME.open_table(bots, RuleSet.official(), rotated_seatings(3), 3)
    game_rows, col_rows = np.zeros(games * 3, GAME_ROW), np.zeros(games * 15, COL_ROW)
    assert table.play(0, games, game_rows, col_rows) == len(col_rows)
    return game_rows, col_rows


def chunk_of(first: int, games: int) -> Chunk:
    """Return games of the run of 60 as a chunk."""
    game_rows, col_rows = played(60)
    end = first + games
    return Chunk(first, games, game_rows[3 * first : 3 * end].copy(), col_rows[15 * first : 15 * end].copy())


def open_folder(path: Path, bots: Sequence[str] = BOTS) -> RunFolder:
    claim_run_folder(path, overwrite=False)
    return RunFolder(path, GAME, bots)


def fill(folder: RunFolder, sizes: Sequence[int], first: int = 0) -> None:
    """Add chunks of these sizes, one after the other."""
    for size in sizes:
        folder.add(chunk_of(first, size))
        first += size


def names(path: Path) -> list[str]:
    return sorted(entry.name for entry in path.iterdir())


def shards(path: Path, kind: str) -> list[Path]:
    return sorted(path.glob(f"{kind}-*.parquet"))


def rows_on_disk(path: Path, kind: str) -> pd.DataFrame:
    return pd.concat([pd.read_parquet(shard) for shard in shards(path, kind)], ignore_index=True)


def assert_holds(path: Path, games: int) -> None:
    """Check that the shards hold exactly the first so many games of the run."""
    for kind, rows in zip(("games", "cols"), played(60), strict=True):
        frame = rows_on_disk(path, kind)
        rows = rows[rows["game_id"] < games]
        assert len(frame) == len(rows)
        for name in rows.dtype.names or ():
            expected = np.array(BOTS)[rows[name]] if name == "bot" else rows[name]
            assert frame[name].tolist() == expected.tolist(), name


@pytest.fixture
def small_shards(monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(records, "SHARD_GAMES", 20)
    return 20


@each_kind
def test_the_schema_is_the_one_that_is_documented(kind: str) -> None:
    row, columns = KINDS[kind]
    assert [(field.name, str(field.type)) for field in arrow_schema(row)] == columns


@each_kind
def test_no_column_is_ever_null(kind: str) -> None:
    assert not any(field.nullable for field in arrow_schema(KINDS[kind][0]))


@each_kind
def test_the_schema_bears_its_version(kind: str, tmp_path: Path) -> None:
    assert arrow_schema(KINDS[kind][0]).metadata == {b"velonimo_sim_schema": str(SCHEMA_VERSION).encode()}
    folder = open_folder(tmp_path / "run")
    fill(folder, [5])
    folder.close()
    (shard,) = shards(tmp_path / "run", kind)
    assert pq.read_metadata(shard).metadata[b"velonimo_sim_schema"] == str(SCHEMA_VERSION).encode()


@each_kind
def test_the_file_has_the_schema(kind: str, tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "run")
    fill(folder, [5])
    folder.close()
    (shard,) = shards(tmp_path / "run", kind)
    schema = pq.read_schema(shard)
    assert [(field.name, str(field.type)) for field in schema] == KINDS[kind][1]
    assert not any(field.nullable for field in schema)


def test_shards_are_named_by_their_first_game(small_shards: int, tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "run")
    fill(folder, [12, 12, 12, 12, 12])
    folder.close()
    starts = ["0000000000", "0000000024", "0000000048"]
    assert names(tmp_path / "run") == sorted(f"{kind}-{start}.parquet" for kind in KINDS for start in starts)
    assert folder.games == 60
    assert [len(pd.read_parquet(shard)) for shard in shards(tmp_path / "run", "games")] == [72, 72, 36]
    assert small_shards == records.SHARD_GAMES


@pytest.mark.usefixtures("small_shards")
@pytest.mark.parametrize("sizes", [[1] * 60, [20, 20, 20], [19, 41], [60], [7, 13, 25, 15]])
def test_shards_in_the_order_of_their_names_are_the_rows(sizes: list[int], tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "run")
    fill(folder, sizes)
    folder.close()
    assert_holds(tmp_path / "run", 60)


@pytest.mark.usefixtures("small_shards")
def test_an_empty_shard_is_not_written(tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "run")
    folder.close()
    assert names(tmp_path / "run") == []
    folder = RunFolder(tmp_path / "run", GAME, BOTS)
    fill(folder, [20])
    folder.close()
    assert names(tmp_path / "run") == ["cols-0000000000.parquet", "games-0000000000.parquet"]


def test_a_shard_is_closed_after_some_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr(records.time, "monotonic", lambda: now[0])
    folder = open_folder(tmp_path / "run")
    fill(folder, [3])
    now[0] += records.SHARD_SECONDS
    fill(folder, [3], first=3)
    assert names(tmp_path / "run") == []
    now[0] += 0.5
    fill(folder, [3], first=6)
    fill(folder, [3], first=9)
    folder.close()
    assert [len(pd.read_parquet(shard)) // 3 for shard in shards(tmp_path / "run", "games")] == [9, 3]
    assert_holds(tmp_path / "run", 12)


def column_chunks(shard: Path) -> dict[str, Any]:
    group = pq.read_metadata(shard).row_group(0)
    return {group.column(i).path_in_schema: group.column(i) for i in range(group.num_columns)}


@each_kind
def test_every_column_is_compressed_with_zstd(kind: str, tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "run")
    fill(folder, [60])
    folder.close()
    (shard,) = shards(tmp_path / "run", kind)
    assert {name: chunk.compression for name, chunk in column_chunks(shard).items()} == dict.fromkeys(
        [name for name, _ in KINDS[kind][1]], "ZSTD"
    )


@each_kind
def test_the_bots_are_a_dictionary(kind: str, tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "run")
    fill(folder, [60])
    folder.close()
    (shard,) = shards(tmp_path / "run", kind)
    dictionaries = {name for name, chunk in column_chunks(shard).items() if chunk.has_dictionary_page}
    assert dictionaries == {"bot"}
    assert "RLE_DICTIONARY" in column_chunks(shard)["bot"].encodings
    assert pa.types.is_dictionary(pq.read_table(shard)["bot"].type)


@each_kind
def test_pandas_opens_a_shard(kind: str, tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "run")
    fill(folder, [60])
    folder.close()
    frame = pd.read_parquet(shards(tmp_path / "run", kind)[0])
    expected = [(name, "category" if type_ == BOT else type_) for name, type_ in KINDS[kind][1]]
    assert [(name, str(dtype)) for name, dtype in frame.dtypes.items()] == expected
    assert sorted(frame["bot"].unique()) == sorted(BOTS)
    assert not frame.isna().any().any()


def no_space(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def disk_full_at(call: int, write: Callable[..., None]) -> Callable[..., None]:
    """Return a writer that writes half a file and fails at one of its calls, the first being 1."""
    calls = [0]

    def write_or_fail(table: Any, where: Path, **options: Any) -> None:
        calls[0] += 1
        if calls[0] == call:
            Path(where).write_bytes(b"PAR1 half")
            no_space()
        write(table, where, **options)

    return write_or_fail


@pytest.mark.usefixtures("small_shards")
@pytest.mark.parametrize("call", [3, 4], ids=["first file of the shard", "second file of the shard"])
def test_a_full_disk_leaves_the_earlier_shards_whole_and_nothing_after_a_gap(
    call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Shards are written while the next one is filled, so that the error comes with the one after."""
    folder = open_folder(tmp_path / "run")
    monkeypatch.setattr(records.pq, "write_table", disk_full_at(call, pq.write_table))
    fill(folder, [20, 20])
    with pytest.raises(OSError, match="No space left"):
        fill(folder, [20], first=40)
    folder.close()
    assert names(tmp_path / "run") == ["cols-0000000000.parquet", "games-0000000000.parquet"]
    assert folder.games == 20
    assert_holds(tmp_path / "run", 20)


@pytest.mark.usefixtures("small_shards")
def test_games_that_are_there_already_are_left_out(tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "run")
    fill(folder, [6, 3])
    fill(folder, [3, 6], first=30)
    folder.close()
    assert [path.stem for path in shards(tmp_path / "run", "games")] == ["games-0000000000", "games-0000000030"]
    assert (
        rows_on_disk(tmp_path / "run", "games")["game_id"].tolist()
        == np.repeat([*range(9), *range(30, 39)], 3).tolist()
    )


@pytest.mark.usefixtures("small_shards")
@pytest.mark.parametrize("call", [1, 2])
def test_a_file_that_cannot_be_synced_leaves_neither_of_its_shard(
    call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls, sync = [0], os.fsync

    def sync_or_fail(file: int) -> None:
        calls[0] += 1
        if calls[0] == call:
            no_space()
        sync(file)

    folder = open_folder(tmp_path / "run")
    monkeypatch.setattr(records.os, "fsync", sync_or_fail)
    fill(folder, [20])
    with pytest.raises(OSError, match="No space left"):
        folder.close()
    assert names(tmp_path / "run") == []


@pytest.mark.usefixtures("small_shards")
def test_an_interrupted_write_leaves_no_partial_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_table: Any, where: Path, **_: Any) -> None:
        Path(where).write_bytes(b"PAR1 half")
        raise KeyboardInterrupt

    folder = open_folder(tmp_path / "run")
    monkeypatch.setattr(records.pq, "write_table", interrupted)
    fill(folder, [20])
    with pytest.raises(KeyboardInterrupt):
        folder.close()
    assert names(tmp_path / "run") == []


def test_each_file_is_written_under_another_name_and_synced_before_it_gets_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    write, sync, path = pq.write_table, os.fsync, tmp_path / "run"

    def note_write(table: Any, where: Path, **options: Any) -> None:
        write(table, where, **options)
        seen.append(f"write {where.name}")

    def note_sync(file: int) -> None:
        sync(file)
        seen.append(f"sync with {' '.join(names(path))}")

    folder = open_folder(path)
    monkeypatch.setattr(records.pq, "write_table", note_write)
    monkeypatch.setattr(records.os, "fsync", note_sync)
    fill(folder, [5])
    folder.close()
    partial = ["_cols-0000000000.parquet", "_games-0000000000.parquet"]
    assert sorted(seen[:2]) == [f"write {name}" for name in partial]
    assert seen[2:4] == [f"sync with {' '.join(partial)}"] * 2
    assert names(path) == [name.removeprefix("_") for name in partial]


def test_the_manifest_is_replaced_in_one_piece(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = open_folder(tmp_path / "run")
    folder.write_manifest({"status": "running", "bots": ["greedy"]})
    assert json.loads((tmp_path / "run" / "run.json").read_text("utf-8")) == {"status": "running", "bots": ["greedy"]}
    monkeypatch.setattr(Path, "write_text", no_space)
    with pytest.raises(OSError, match="No space left"):
        folder.write_manifest({"status": "finished"})
    monkeypatch.undo()
    assert names(tmp_path / "run") == ["run.json"]
    assert json.loads((tmp_path / "run" / "run.json").read_text("utf-8"))["status"] == "running"


@pytest.mark.parametrize("below", ["run", "a/b/run", "with blanks/ö"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_new_folder_is_made_empty(below: str, overwrite: bool, tmp_path: Path) -> None:
    assert claim_run_folder(tmp_path / below, overwrite)
    assert names(tmp_path / below) == []


def contents(path: Path) -> dict[str, bytes]:
    return {str(entry.relative_to(path)): entry.read_bytes() for entry in sorted(path.rglob("*")) if entry.is_file()}


def refusal_of(path: Path, overwrite: bool) -> str:
    """Return why the folder is refused, having checked that the message is one line and names the folder."""
    with pytest.raises(UsageError) as caught:
        claim_run_folder(path, overwrite)
    message = str(caught.value)
    assert message.startswith(f"--out {path}: ")
    assert "\n" not in message
    return message.removeprefix(f"--out {path}: ")


@pytest.mark.parametrize("files", [[], ["run.json", "games-0000000000.parquet"], ["notes.txt"]])
def test_a_folder_that_exists_is_left_alone(files: list[str], tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    for name in files:
        (path / name).write_text(name)
    before = contents(tmp_path)
    assert "--overwrite" in refusal_of(path, overwrite=False)
    assert contents(tmp_path) == before


@pytest.mark.usefixtures("small_shards")
def test_overwrite_empties_the_folder_of_a_run(tmp_path: Path) -> None:
    folder = open_folder(tmp_path / "run")
    fill(folder, [20, 20])
    folder.close()
    folder.write_manifest({})
    (tmp_path / "run" / "_games-0000000040.parquet").write_bytes(b"PAR1 half")
    (tmp_path / "run" / "_run.json").write_bytes(b"{")
    before = names(tmp_path / "run")
    assert not claim_run_folder(tmp_path / "run", overwrite=True)
    assert names(tmp_path / "run") == before
    clear_run_folder(tmp_path / "run")
    assert names(tmp_path / "run") == []


def test_overwrite_removes_nothing_from_a_folder_without_a_manifest(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    (path / "games-0000000000.parquet").write_text("precious")
    assert "no run.json" in refusal_of(path, overwrite=True)
    assert names(path) == ["games-0000000000.parquet"]


def test_a_folder_is_claimed_once(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for number in range(100):
            claims = [pool.submit(claim_run_folder, tmp_path / str(number), False) for _ in range(8)]
            assert sum(claim.exception() is None for claim in claims) == 1


def test_every_file_says_what_the_run_is(tmp_path: Path) -> None:
    claim_run_folder(tmp_path / "run", overwrite=False)
    run = {"seed": 3, "rules": RuleSet.bga().to_dict()}
    folder = RunFolder(tmp_path / "run", GAME, BOTS, run)
    fill(folder, [20])
    folder.close()
    for kind in KINDS:
        metadata = pq.read_schema(shards(tmp_path / "run", kind)[0]).metadata
        assert json.loads(metadata[b"velonimo_sim_run"]) == run


@pytest.mark.parametrize(
    "foreign", ["notes.txt", "games-notes.txt", "games-mine.parquet", "hands-0000000000.parquet", "__run.json"]
)
def test_overwrite_removes_nothing_from_a_folder_with_a_foreign_file(foreign: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.mkdir()
    for name in ("run.json", "cols-0000000000.parquet", foreign):
        (path / name).write_text(name)
    before = contents(tmp_path)
    assert foreign in refusal_of(path, overwrite=True)
    assert contents(tmp_path) == before


def test_overwrite_removes_nothing_from_a_folder_with_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "run"
    (path / "games-0000000000.parquet").mkdir(parents=True)
    (path / "run.json").write_text("{}")
    assert "games-0000000000.parquet" in refusal_of(path, overwrite=True)
    assert names(path) == ["games-0000000000.parquet", "run.json"]


@pytest.mark.parametrize(("overwrite", "reason"), [(False, "exists"), (True, "is not a folder")])
def test_a_file_in_the_way(overwrite: bool, reason: str, tmp_path: Path) -> None:
    (tmp_path / "run").write_text("precious")
    assert reason in refusal_of(tmp_path / "run", overwrite)
    assert contents(tmp_path) == {"run": b"precious"}


@pytest.mark.parametrize("below", ["file/run", "file/a/b/run"])
@pytest.mark.parametrize("overwrite", [False, True])
def test_a_place_that_cannot_be_written_to(below: str, overwrite: bool, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    assert refusal_of(tmp_path / below, overwrite) == "cannot be written (Not a directory)"
    assert contents(tmp_path) == {"file": b"precious"}


def test_a_read_only_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def not_allowed(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "mkdir", not_allowed)
    assert refusal_of(tmp_path / "run", overwrite=False) == "cannot be written (Permission denied)"


def test_a_folder_that_takes_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "write_bytes", no_space)
    assert refusal_of(tmp_path / "run", overwrite=False) == "cannot be written (No space left on device)"
