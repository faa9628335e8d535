"""Rows of runs as frames: only what is asked for is read, in small types, and a deal is never torn apart."""

import json
import re
import shutil
import tracemalloc
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from runs import GAME_KEYS, THREE, frame, manifest, play
from velonimo_sim import match, records, run_files
from velonimo_sim.analysis import bot_table, differences_by, hand_feature, load, outcomes_by
from velonimo_sim.analysis.runs import LoadedRows, LoadedRuns, batches
from velonimo_sim.errors import CorruptDataError, UsageError
from velonimo_sim.game import GAMES
from velonimo_sim.records import RunFolder
from velonimo_sim.run_files import SCHEMA_VERSION
from velonimo_sim.velonimo.rows import COL_ROW, GAME_ROW
from velonimo_sim.workers import Chunk

# What each is beside ``base``: of other deals, tables or shards.
RUNS = {
    "base": (6, [*THREE, "--seed", "1", "--games", "42"]),
    "permuted": (18, [*THREE, "--seed", "1", "--games", "60", "--seating", "permutations"]),
    "advised": (21, ["advised", "greedy", "random", "--seed", "1", "--games", "30"]),
    "other-seed": (6, [*THREE, "--seed", "2", "--games", "9"]),
    "four": (8, [*THREE, "advised", "--seed", "1", "--games", "12"]),
    "duel": (4, ["greedy", "hold-hares", "--seed", "1", "--games", "40"]),
}
SHARD = "0000000006.parquet"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Play every run of ``RUNS`` with its number of games a shard, into a folder of its name."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(match, "CHUNK_SECONDS", 1e-9)
        for name, (shard_games, arguments) in RUNS.items():
            patch.setattr(records, "SHARD_GAMES", shard_games)
            said = play("--bots", *arguments, "--out", str(folder / name), "--quiet")
            assert said.status == 0, said.err
    return folder


@pytest.fixture
def copy(played: Path, tmp_path: Path) -> Path:
    """Return a copy of ``base`` that may be damaged."""
    return Path(shutil.copytree(played / "base", tmp_path / "copy"))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, set[str]]]:
    """Return a list that grows by the kind and the columns whenever rows of a file are read."""
    found = []
    read_table = run_files._read_table

    def spy(path: Path, columns: Iterable[str]) -> object:
        found.append((path.name.partition("-")[0], {*columns}))
        return read_table(path, columns=columns)

    monkeypatch.setattr(run_files, "_read_table", spy)
    return found


def with_texts(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.assign(bot=rows["bot"].astype(str))


def whole_games(folder: Path) -> pd.DataFrame:
    """Return the rows of cols, read by pandas and joined by it with those of their games and seats."""
    cols, games = frame(folder, "cols"), frame(folder)
    return cols.merge(games.drop(columns="bot"), on=GAME_KEYS, validate="many_to_one")


# What is read.


def test_loading_reads_no_rows(played: Path, reads: list[tuple[str, set[str]]]) -> None:
    runs = load([played / "base", played / "permuted"])
    assert (len(runs.games), len(runs.cols)) == (102 * 3, 102 * 3 * 5)
    assert runs.games.columns
    assert repr(runs).splitlines() == [
        f"base: 42 games, 14 deals, {played / 'base'}",
        f"permuted: 60 games, 10 deals, {played / 'permuted'}",
    ]
    assert reads == []


@pytest.mark.parametrize(
    ("kind", "asked", "of_cols", "of_games"),
    [
        ("games", ["won"], None, {"won", "deal_id"}),
        ("games", ["players", "run", "group"], None, {"deal_id"}),
        ("cols", ["tortoises"], {"tortoises", "game_id", "seat", "col"}, {"deal_id"}),
        ("cols", ["hand", "place"], {"hand", "game_id", "seat", "col"}, {"deal_id", "place"}),
        ("cols", ["beaten"], {"points", "game_id", "seat", "col"}, {"deal_id"}),
    ],
)
def test_only_what_is_asked_for_is_read(
    played: Path,
    reads: list[tuple[str, set[str]]],
    kind: str,
    asked: list[str],
    of_cols: set[str] | None,
    of_games: set[str],
) -> None:
    rows: LoadedRows = getattr(load(played / "base"), kind)
    assert list(rows[asked].columns) == asked
    of_a_shard = [] if of_cols is None else [("cols", of_cols)]
    assert reads == [*of_a_shard, ("games", of_games)] * 7, "each shard once"


@pytest.mark.parametrize("kind", ["games", "cols"])
def test_rows_are_those_that_pandas_reads(played: Path, kind: str) -> None:
    rows: LoadedRows = getattr(load(played / "base"), kind)
    pd.testing.assert_frame_equal(with_texts(rows.frame()), frame(played / "base", kind))
    assert len(rows) == len(rows.frame())


@pytest.mark.parametrize(("kind", "row"), [("games", GAME_ROW), ("cols", COL_ROW)])
def test_types_are_those_of_the_compiled_rows(played: Path, kind: str, row: np.dtype[np.void]) -> None:
    rows = getattr(load(played / "base"), kind).frame()
    found = {name: rows[name].cat.codes.dtype if name == "bot" else rows[name].dtype for name in rows.columns}
    assert found == {name: row[name] for name in row.names or ()}
    assert rows["bot"].cat.categories.tolist() == list(THREE)


def test_columns_that_are_added_are_small(played: Path) -> None:
    names = ["run", "players", "beaten", "col_value", "jersey_spent", "leads_after"]
    rows = load(played / "base").cols[names]
    sizes = [(rows[name].cat.codes if name == "run" else rows[name]).dtype.itemsize for name in names]
    assert sizes == [1, 1, 4, 4, 1, 1]


def test_one_column_is_a_series_and_a_list_of_columns_a_frame(played: Path) -> None:
    games = load(played / "base").games
    assert games["won"].name == "won"
    assert games["won"].sum() == 42
    assert games[["won", "seat"]].shape == (126, 2)
    assert list(games[["won", "seat", "won"]].columns) == ["won", "seat"]


def test_a_word_of_cards_keeps_its_highest_bits(played: Path) -> None:
    hands = load(played / "base").cols["hand"]
    assert hands.dtype == np.uint64
    assert hands.map(lambda hand: int(hand).bit_count()).eq(11).all()


# Columns that are joined, and columns that follow.


@pytest.mark.parametrize("name", RUNS)
def test_cols_have_the_columns_of_their_games(played: Path, name: str) -> None:
    expected = whole_games(played / name)
    pd.testing.assert_frame_equal(with_texts(load(played / name).cols[list(expected.columns)]), expected)


@pytest.mark.parametrize("name", RUNS)
def test_the_value_of_a_col_and_how_many_were_beaten(played: Path, name: str) -> None:
    """Who goes out n-th of p leaves p - n racing, and scores the value of the col for each (V14, V17)."""
    expected, found = frame(played / name, "cols"), load(played / name).cols[["col_value", "beaten", "players"]]
    assert found["col_value"].tolist() == expected["col"].tolist()
    assert found["beaten"].tolist() == (found["players"] - expected["out_order"]).tolist()


def test_the_value_of_a_col_is_that_of_the_rules(tmp_path: Path) -> None:
    said = play("--bots", *THREE, "--games", "3", "--rule", "col_values=7,3", "--out", str(tmp_path / "run"), "--quiet")
    assert said.status == 0, said.err
    found = load(tmp_path / "run").cols[["col", "col_value", "beaten"]]
    assert found.groupby("col")["col_value"].unique().map(list).to_dict() == {1: [7], 2: [3]}
    assert found.groupby("col")["beaten"].unique().map(sorted).to_dict() == {1: [0, 1, 2], 2: [0, 1, 2]}


def leaders(cols: pd.DataFrame) -> list[bool]:
    """Return who leads after each col, by going through the games: most points, ties by those of the col (V18, V19)."""
    found = []
    for _, game in cols.groupby("game_id"):
        totals: dict[int, int] = {}
        for _, col in game.groupby("col"):
            points = dict(zip(col["seat"], col["points"], strict=True))
            totals = {seat: totals.get(seat, 0) + gained for seat, gained in points.items()}
            leader = max(points, key=lambda seat, points=points, totals=totals: (totals[seat], points[seat]))
            found += [seat == leader for seat in points]
    return found


@pytest.mark.parametrize("name", RUNS)
def test_who_leads_after_a_col_is_who_wears_the_jersey_next_or_has_won(played: Path, name: str) -> None:
    found = load(played / name).cols["leads_after"]
    assert found.dtype == bool
    assert found.tolist() == leaders(frame(played / name, "cols"))


def test_who_leads_is_the_same_with_other_runs_beside(played: Path) -> None:
    together = load([played / name for name in RUNS]).cols[["run", "leads_after"]]
    for name, rows in together.groupby("run", observed=True):
        assert rows["leads_after"].tolist() == leaders(frame(played / str(name), "cols"))


def test_whether_the_jersey_was_spent(played: Path) -> None:
    expected = frame(played / "base", "cols")["jersey_spent_on"] > 0
    assert 0 < expected.mean() < 1
    assert load(played / "base").cols["jersey_spent"].tolist() == expected.tolist()


def test_every_column_that_is_listed_can_be_had(played: Path) -> None:
    for rows in (load(played / "advised").games, load(played / "advised").cols):
        for name in rows.columns:
            assert len(rows[name]) == len(rows)


# Several runs.


def test_runs_are_called_by_their_folders_or_as_named(played: Path) -> None:
    by_folder = load([played / "permuted", str(played / "base")])
    named = load({"new": played / "permuted", "old": played / "base"})
    assert by_folder.labels == ("permuted", "base")
    assert named.labels == ("new", "old")
    assert named.games["run"].cat.categories.tolist() == ["new", "old"], "in the order in which they are named"
    assert named.games["run"].value_counts().to_dict() == {"new": 180, "old": 126}
    assert by_folder.games["run"].value_counts().to_dict() == {"permuted": 180, "base": 126}


def test_bots_of_all_runs_are_categories_of_one_type(played: Path) -> None:
    runs = load([played / "base", played / "advised"])
    assert runs.games["bot"].cat.categories.tolist() == [*THREE, "advised"]
    for batch in runs.games.batches(["bot"]):
        assert batch["bot"].dtype == runs.games["bot"].dtype
    texts = runs.games[["run", "bot"]].groupby("run", observed=True)["bot"].agg(lambda bots: sorted(set(bots)))
    assert texts.to_dict() == {"base": sorted(THREE), "advised": ["advised", "greedy", "random"]}


SAME_DEALS = ["base", "permuted", "advised"]
OTHER_DEALS = ["other-seed", "four", "duel"]


@pytest.mark.parametrize("kind", ["games", "cols"])
@pytest.mark.parametrize("names", [["base"], SAME_DEALS, SAME_DEALS[::-1], ["four", "base", "duel", "permuted"]])
def test_a_deal_is_in_one_batch_with_all_its_rows(played: Path, names: list[str], kind: str) -> None:
    rows: LoadedRows = getattr(load([played / name for name in names]), kind)
    parts = list(rows.batches(["run", "game_id", "seat", "deal_id"]))
    groups = [part["group"].unique() for part in parts]
    assert len(parts) > 1
    assert min(map(len, parts)) > 0
    assert len(np.concatenate(groups)) == len(np.unique(np.concatenate(groups))), "no deal in two batches"
    whole = pd.concat(parts)
    for name, of_run in whole.groupby("run", observed=True):
        expected = frame(played / str(name), kind)
        assert of_run[GAME_KEYS].to_numpy().tolist() == expected[GAME_KEYS].to_numpy().tolist(), "each row once"


def test_the_shards_of_runs_of_the_same_deals_end_at_other_deals(played: Path) -> None:
    """Without this, the test before would prove little."""
    ends = []
    for name in SAME_DEALS:
        (run,) = load(played / name).runs
        ends.append({shard.end // run.manifest["games_per_deal"] for shard in run.shards})
    assert ends == [{2, 4, 6, 8, 10, 12, 14}, {3, 6, 9, 10}, {7, 10}]


def test_the_same_deal_of_runs_from_one_seed_has_one_group(played: Path) -> None:
    rows = load([played / name for name in SAME_DEALS]).games[["group", "deal_id"]]
    assert rows["group"].equals(rows["deal_id"].rename("group"))


def test_deals_of_other_seeds_are_other_groups_and_those_of_one_seed_the_same_at_every_table(played: Path) -> None:
    rows = load([played / name for name in (*SAME_DEALS, *OTHER_DEALS)]).games[["run", "group"]]
    groups = [set(of_run) for _, of_run in rows.groupby("run", observed=True)["group"]]
    same, (other_seed, four, duel) = set.union(*groups[:3]), groups[3:]
    assert (len(same), len(other_seed), len(four), len(duel)) == (14, 3, 3, 20)
    assert four < same < duel
    assert not other_seed & duel
    cols = [load(played / name).cols[["deal_id", "col", "seat", "hand"]].query("col == 1") for name in ("base", "duel")]
    both = cols[0].drop_duplicates(["deal_id", "seat"]).merge(cols[1], on=["deal_id", "seat"])
    assert set(both["deal_id"]) == set(range(14))
    assert (both["hand_x"] == both["hand_y"]).all(), "the seats of the duel have the same cards at a table of three"


def test_rows_of_several_runs_say_of_which_they_are(played: Path) -> None:
    runs = load([played / "base", played / "advised"])
    rows = runs.games.frame()
    assert {"run", "group"} <= {*rows.columns}
    pd.testing.assert_frame_equal(outcomes_by(rows, ["bot"]), outcomes_by(runs, ["bot"]))
    with pytest.raises(UsageError, match="game_id 0, seat 0: has several rows; rows of several runs need a column run"):
        outcomes_by(rows.drop(columns="run"), ["bot"])


def test_deals_that_a_run_of_the_seed_lacks_are_left_out_where_runs_are_compared(played: Path) -> None:
    runs = load([played / "base", played / "advised"])
    rows = runs.games.frame()
    common = rows[rows["group"] < 10]
    assert differences_by(runs, "run", outcome="total")["rows"].tolist() == [90]
    expected = differences_by(common, "run", outcome="total")
    for source in (runs, rows):
        pd.testing.assert_frame_equal(differences_by(source, "run", outcome="total"), expected)


def test_leads_do_not_depend_on_the_order_of_rows(played: Path) -> None:
    columns = ["run", "group", "game_id", "col", "seat", "players", "wears_jersey", "won"]
    rows = load(played / "base").cols[[*columns, "leads_after"]]
    shuffled = rows.drop(columns="leads_after").sample(frac=1, random_state=1)
    (again,) = batches(shuffled, ["leads_after"])
    assert again["leads_after"].to_numpy().tolist() == rows.loc[shuffled.index, "leads_after"].tolist()
    with pytest.raises(UsageError, match="'leads_after': follows from the next col, and the rows lack cols or seats"):
        [*batches(shuffled[shuffled["wears_jersey"]], ["leads_after"])]


def test_the_cards_of_a_group_are_the_same_in_all_its_runs(played: Path) -> None:
    runs = load([played / name for name in SAME_DEALS])
    first_cols = runs.cols[["run", "group", "col", "seat", "hand"]].query("col == 1")
    by_group = first_cols.drop_duplicates(["run", "group", "seat"]).groupby(["group", "seat"])["hand"]
    assert by_group.nunique().eq(1).all()
    assert by_group.count().max() == 3


def test_rows_are_of_games_unless_a_column_of_cols_is_among_them(played: Path) -> None:
    assert sum(map(len, batches(played / "base", ["won", "bot"]))) == 126
    assert sum(map(len, batches(played / "base", ["won", "col"]))) == 630
    assert sum(map(len, batches(played / "base", ["leads_after"]))) == 630


def test_rows_at_hand_get_groups_and_derived_columns(played: Path) -> None:
    cols = load(played / "base").cols
    at_hand = cols.frame([name for name in cols.columns if name not in ("group", "run", "beaten", "leads_after")])
    (batch,) = batches(at_hand, ["beaten", "leads_after", "deal_id", "run"])
    assert batch["group"].tolist() == batch["deal_id"].tolist()
    assert set(batch["run"]) == {"run"}
    pd.testing.assert_frame_equal(batch[["beaten", "leads_after"]], cols[["beaten", "leads_after"]])
    assert "beaten" not in at_hand.columns, "the caller's frame is left as it was"


# Memory.


def synthetic_run(folder: Path, shards: int, games: int = 1_500, players: int = 4) -> LoadedRuns:
    """Write a run of equal shards; all but the keys is 0."""
    folder.mkdir()
    run = {
        "schema_version": SCHEMA_VERSION,
        "game": "velonimo",
        "players": players,
        "bots": ["a"],
        "rules": {"col_values": [1, 2, 3, 4, 5]},
    }
    files = RunFolder(folder, GAMES["velonimo"], ["a"])
    for first in range(0, shards * games, games):
        game_rows, col_rows = np.zeros(games * players, GAME_ROW), np.zeros(games * players * 5, COL_ROW)
        game, seat = np.indices((games, players))
        game_rows["game_id"] = game_rows["deal_id"] = (first + game).ravel()
        game_rows["seat"] = seat.ravel()
        game, col, seat = np.indices((games, 5, players))
        col_rows["game_id"], col_rows["col"], col_rows["seat"] = (first + game).ravel(), 1 + col.ravel(), seat.ravel()
        files.add(Chunk(first, games, game_rows, col_rows))
    files.write_manifest(run)
    files.close()
    return load(folder)


def peak_while(parts: Iterable[object]) -> int:
    """Return the most bytes that Python, numpy and Arrow held while parts were gone through, beyond those before."""
    arrow_before, arrow = pa.total_allocated_bytes(), 0
    tracemalloc.start()
    try:
        for _ in parts:
            arrow = max(arrow, pa.total_allocated_bytes() - arrow_before)
        return tracemalloc.get_traced_memory()[1] + arrow
    finally:
        tracemalloc.stop()


def test_reading_by_batches_takes_as_much_memory_for_a_long_run_as_for_a_short_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records, "SHARD_GAMES", 1_500)
    short, long = synthetic_run(tmp_path / "short", 2), synthetic_run(tmp_path / "long", 20)
    columns = ["hand", "deal_id", "points"]
    assert len(long.cols) == 600_000
    peak_while(short.cols.batches(columns))  # what is loaded at the first use
    few, many = (peak_while(runs.cols.batches(columns)) for runs in (short, long))
    assert many < 3 * few, "of ten times as many rows; a shard more or less is still held"
    assert peak_while(long.cols.frame(columns) for _ in range(1)) > 2 * many, "the measure sees what grows"


# What can be wrong.


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bots": 5}, "bots is 5: allowed is a list of texts"),
        ({"bots": None}, "bots is None: allowed is a list of texts"),
        ({"rules": "x"}, "rules is 'x': allowed are options, col_values among them"),
        ({"most_points": "x"}, "most_points is 'x': allowed is an integer from 1"),
        ({"rules": {"col_values": [1]}}, "has a col 5 of 1"),
    ],
    ids=lambda part: next(iter(part)) if isinstance(part, dict) else "",
)
def test_a_manifest_that_cannot_be_is_told_in_one_line(copy: Path, change: dict[str, object], words: str) -> None:
    path = copy / "run.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(CorruptDataError, match=re.escape(words)):
        load(copy).cols["beaten"]


@pytest.mark.parametrize("runs", [None, 3, [None]])
def test_what_is_no_run_is_told_in_one_line(runs: object) -> None:
    with pytest.raises(UsageError, match="allowed is a folder, several, or a mapping of names to folders"):
        load(runs)  # type: ignore[arg-type]


def test_a_folder_of_runs_stands_for_those_in_it(played: Path) -> None:
    assert load(played).labels == tuple(sorted(RUNS))
    with pytest.raises(UsageError, match=r"nothing: holds no run: there is no run\.json"):
        load(played / "nothing")


def test_columns_that_are_not_there_are_told_with_the_nearest(played: Path) -> None:
    runs = load(played / "base")
    for ask in (runs.cols.frame, lambda names: list(runs.cols.batches(names)), lambda names: runs.cols[names]):
        with pytest.raises(
            UsageError, match=r"^unknown column of cols of velonimo 'tortoise': .*; did you mean 'tortoises'\?$"
        ):
            ask(["seat", "tortoise"])
    with pytest.raises(UsageError, match=r"^unknown column of games of velonimo 'plaec': .*; did you mean 'place'\?$"):
        runs.games["plaec"]


@pytest.mark.parametrize("name", ["hand", "points", "beaten", "leads_after"])
def test_columns_of_cols_are_not_those_of_games(played: Path, name: str) -> None:
    with pytest.raises(
        UsageError, match=f"^unknown column of games of velonimo '{name}': there are run, players, group, "
    ):
        load(played / "base").games[name]


@pytest.mark.parametrize(
    ("rows", "names", "message"),
    [
        ({"deal_id": [1], "won": [1]}, ["wun"], "unknown column 'wun': there are deal_id, won, .*did you mean 'won'?"),
        ({"won": [1]}, ["won"], "unknown column 'deal_id': there are won"),
        ({"group": [1], "points": [3]}, ["beaten"], "column 'beaten': .* points, col_value; the rows lack 'col_value'"),
        ({"deal_id": [], "won": []}, ["won"], "there are no rows: the run has no finished games"),
    ],
)
def test_rows_at_hand_that_lack_something_are_told(rows: dict[str, list[int]], names: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        list(batches(pd.DataFrame(rows), names))


def test_folders_without_a_run_are_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for name, message in (("none", "holds no run"), (".", "holds no run"), ("file", "is not a folder")):
        with pytest.raises(UsageError, match=f"^{re.escape(str(tmp_path / name))}: {message}"):
            load(tmp_path / name)
    with pytest.raises(UsageError, match="no run is named: allowed is one folder or more"):
        load([])


def test_two_runs_of_one_name_are_told_and_can_be_named(copy: Path, played: Path, tmp_path: Path) -> None:
    folders = [played / "base", copy.rename(tmp_path / "base")]
    with pytest.raises(UsageError, match=r"^two runs are called 'base': name them, as in load\(\{'base': \.\.\., "):
        load(folders)
    assert load(dict(zip("ab", folders, strict=True))).labels == ("a", "b")


def test_a_manifest_of_an_older_schema_is_told(copy: Path) -> None:
    (copy / "run.json").write_text(json.dumps(manifest(copy) | {"schema_version": SCHEMA_VERSION - 1}))
    with pytest.raises(CorruptDataError, match=r"run\.json: schema version 2: this version of velonimo_sim reads 3$"):
        load(copy)


@pytest.mark.parametrize("kind", ["games", "cols"])
def test_a_shard_of_an_older_schema_is_told(copy: Path, kind: str) -> None:
    path = copy / f"{kind}-{SHARD}"
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({b"velonimo_sim_schema": b"2"}), path)
    with pytest.raises(UsageError, match=rf"{kind}-{SHARD}: schema version 2: this version of velonimo_sim reads 3$"):
        load(copy).games.frame()


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def overwrite_the_rows(path: Path) -> None:
    """Leave what the file says of itself, at its end, as it was."""
    content = bytearray(path.read_bytes())
    content[4:104] = b"\xff" * 100
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("kind", "damage", "message"),
    [
        ("games", cut, "is damaged"),
        ("cols", cut, "is damaged"),
        ("games", overwrite_the_rows, "is damaged"),
        ("cols", overwrite_the_rows, "is damaged"),
        ("cols", Path.unlink, "is missing, though the other file of its shard is there"),
    ],
)
def test_a_damaged_shard_is_told_with_its_file(
    copy: Path, kind: str, damage: Callable[[Path], None], message: str
) -> None:
    damage(copy / f"{kind}-{SHARD}")
    with pytest.raises(CorruptDataError, match=rf"^\S*{kind}-{SHARD}: {message}") as caught:
        load(copy).cols.frame()
    assert "\n" not in str(caught.value)


def test_an_interrupted_run_has_its_finished_shards(copy: Path) -> None:
    """A shard is finished when its ``games-`` file has its name; what has not is left alone."""
    expected = frame(copy).query("game_id < 36"), frame(copy, "cols").query("game_id < 36")
    (copy / "games-0000000036.parquet").rename(copy / "_games-0000000036.parquet")
    cut(copy / "_games-0000000036.parquet")
    run = load(copy)
    assert repr(run).startswith("copy: 36 games, 12 deals")
    assert len(run.games) == 36 * 3
    pd.testing.assert_frame_equal(with_texts(run.games.frame()), expected[0])
    pd.testing.assert_frame_equal(with_texts(run.cols.frame()), expected[1])


def test_a_run_with_a_gap_has_the_games_that_are_there(copy: Path) -> None:
    for kind in ("games", "cols"):
        (copy / f"{kind}-{SHARD}").unlink()
    pd.testing.assert_frame_equal(with_texts(load(copy).cols.frame()), frame(copy, "cols"))
    assert load(copy).cols["leads_after"].tolist() == leaders(frame(copy, "cols"))


def test_a_run_without_finished_games_is_told(copy: Path) -> None:
    for path in copy.glob("*.parquet"):
        path.unlink()
    run = load(copy)
    assert repr(run) == f"copy: 0 games, 0 deals, {copy}"
    assert len(run.games) == len(run.cols) == 0
    for ask in (run.games.frame, lambda: run.cols["won"], lambda: outcomes_by(run, ["bot"]), lambda: bot_table(copy)):
        with pytest.raises(UsageError, match=f"^{re.escape(str(copy))}: holds no games yet$"):
            ask()


def test_a_run_without_finished_games_beside_another_adds_nothing(copy: Path, played: Path) -> None:
    for path in copy.glob("*.parquet"):
        path.unlink()
    runs = load([copy, played / "base"])
    rows = runs.cols.frame().drop(columns=["run", "group"])
    pd.testing.assert_frame_equal(with_texts(rows), frame(played / "base", "cols"))


# The tables of one run.


def test_a_table_of_bots_takes_a_run_loaded_or_its_folder(played: Path) -> None:
    expected = bot_table(load(played / "base"))
    for run in (played / "base", str(played / "base"), load({"any name": played / "base"})):
        pd.testing.assert_frame_equal(bot_table(run), expected)
    assert expected["games"].tolist() == [42] * 3


def test_the_most_points_are_those_of_the_rules(played: Path) -> None:
    run = load(played / "base")
    assert run.most_points == 30
    pd.testing.assert_frame_equal(bot_table(run), bot_table(run.games.frame(), most_points=30))
    assert load([played / "base", played / "four"]).most_points == 45


def test_a_table_of_bots_of_several_runs_is_refused(played: Path) -> None:
    with pytest.raises(UsageError, match="2 runs at once: allowed is one; outcomes_by takes several"):
        bot_table(load([played / "base", played / "permuted"]))


# Features of hands.


def test_a_feature_of_the_hand_is_a_column_of_cols(played: Path) -> None:
    run = load(played / "base")
    hands = run.cols["hand"].to_numpy()
    for name in ("R7", "H25", "largest_colour", "loners"):
        assert run.cols[name].tolist() == hand_feature(name, hands).tolist()
    assert outcomes_by(run, ["H25"], "beaten")["rows"].sum() == len(hands)
    with pytest.raises(UsageError, match="unknown column of games of velonimo 'R7': there are run, players"):
        run.games["R7"]


# Rules.


def test_the_rules_of_runs_are_columns(played: Path, tmp_path: Path) -> None:
    changed = ["jersey_bonus=20", "tortoise_swap=off", "exchanged_cards=B1,B5", "duel_target=none"]
    options = [word for rule in changed for word in ("--rule", rule)]
    said = play(
        "--bots", *THREE, "--seed", "1", "--games", "3", "--out", str(tmp_path / "changed"), "--quiet", *options
    )
    assert said.status == 0, said.err
    runs = load([played / "base", tmp_path / "changed"])
    names = ["run", "jersey_bonus", "tortoise_swap", "exchanged_cards", "hand_size", "duel_target", "col_values"]
    for rows in (runs.games, runs.cols):
        assert set(names) <= set(rows.columns)
        assert rows.frame(names).drop_duplicates().to_numpy().tolist() == [
            ["base", 10, "mandatory", "none", 11, "8", "1,2,3,4,5"],
            ["changed", 20, "off", "B1,B5", 11, "none", "1,2,3,4,5"],
        ]


def test_a_rule_that_is_a_number_in_all_runs_is_one(played: Path) -> None:
    rows = load(played / "base").games.frame(["hand_size", "tortoise_swap"])
    assert rows["hand_size"].dtype == np.int32
    assert isinstance(rows["tortoise_swap"].dtype, pd.CategoricalDtype)
