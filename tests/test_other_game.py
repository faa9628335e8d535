"""The files of a run of another game: what is shared writes, resumes and reads them without knowing its particulars."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from velonimo_sim import run_tournament
from velonimo_sim.analysis import load, outcomes_by
from velonimo_sim.analysis.runs import rule_words
from velonimo_sim.errors import CorruptDataError, UsageError
from velonimo_sim.game import GAMES, GameSpec
from velonimo_sim.options import tournament_from
from velonimo_sim.records import RunFolder, claim_run_folder, clear_run_folder
from velonimo_sim.run_files import SCHEMA_VERSION, check_shard, finished_shards, is_unbegun, unfinished_files
from velonimo_sim.velonimo.rows import GAME_ROW
from velonimo_sim.workers import Chunk

RACE_ROW = np.dtype([("game_id", "i8"), ("turns", "i4")], align=True)
OTHER = replace(GAMES["velonimo"], name="velocity", game_row=GAME_ROW, detail_row=RACE_ROW)
PLAYERS, GAMES_A_SHARD, SHARDS = 3, 4, 2
COURSE = {"name": "long", "length": 35}


def write_run(folder: Path, rules: dict[str, object]) -> Path:
    """Write a run of the other game: one row a game beside those of its seats, two shards."""
    claim_run_folder(folder, overwrite=False)
    run = {"schema_version": SCHEMA_VERSION, "game": "velocity", "players": PLAYERS, "bots": ["a", "b"], "rules": rules}
    files = RunFolder(folder, OTHER, ["a", "b"], run)
    for shard in range(SHARDS):
        game_rows, races = np.zeros(PLAYERS * GAMES_A_SHARD, GAME_ROW), np.zeros(GAMES_A_SHARD, RACE_ROW)
        races["game_id"] = 2 * shard * GAMES_A_SHARD + np.arange(GAMES_A_SHARD)  # a gap, so that each is a shard
        races["turns"] = 100 + races["game_id"]
        game_rows["game_id"] = np.repeat(races["game_id"], PLAYERS)
        game_rows["deal_id"] = game_rows["game_id"] // 2
        game_rows["seat"] = np.tile(np.arange(PLAYERS), GAMES_A_SHARD)
        game_rows["bot"] = game_rows["seat"] % 2
        files.add(Chunk(int(races["game_id"][0]), GAMES_A_SHARD, game_rows, races))
    files.close()
    files.write_manifest(run)
    return folder


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("other") / "run", {"pack": True, "cans": None, "course": COURSE})


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    return write_run(tmp_path / "run", {})


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


# The files.


def test_the_files_have_the_name_of_their_kind(run: Path) -> None:
    shards = [f"{kind}-{start:010d}.parquet" for kind in ("games", "races") for start in (0, 8)]
    assert names(run) == [*shards, "run.json"]


def test_shards_are_found_and_whole(run: Path) -> None:
    shards = list(finished_shards(run, PLAYERS))
    assert [(shard.first_game, shard.games, list(shard.paths)) for shard in shards] == [
        (0, GAMES_A_SHARD, ["races", "games"]),
        (8, GAMES_A_SHARD, ["races", "games"]),
    ]
    for shard in shards:
        check_shard(shard)


def test_races_without_games_are_half_written(fresh: Path) -> None:
    (fresh / "games-0000000008.parquet").unlink()
    assert [path.name for path in unfinished_files(fresh)] == ["races-0000000008.parquet"]
    (fresh / "games-0000000000.parquet").unlink()
    (fresh / "run.json").unlink()
    assert is_unbegun(fresh)


def test_games_without_races_are_damaged(fresh: Path) -> None:
    (fresh / "races-0000000008.parquet").unlink()
    with pytest.raises(CorruptDataError, match=r"races-0000000008\.parquet: is missing"):
        list(finished_shards(fresh, PLAYERS))


def test_a_run_is_deleted_games_first(fresh: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left at any moment is finished or half done, whatever the other kind is called."""
    deleted: list[str] = []
    unlink = Path.unlink

    def note(path: Path, missing_ok: bool = False) -> None:
        if path.exists():
            deleted.append(path.name.partition("-")[0])
        unlink(path, missing_ok=missing_ok)

    monkeypatch.setattr(Path, "unlink", note)
    clear_run_folder(fresh)
    assert deleted == ["run.json", "games", "games", "races", "races"]
    assert names(fresh) == []


@pytest.mark.parametrize("players", [4, 5])
@pytest.mark.parametrize("game", GAMES)
def test_a_run_takes_about_the_disk_that_is_said(game: str, players: int, tmp_path: Path) -> None:
    options = {"game": game, "bots": ["greedy", *["random"] * (players - 1)], "games": 10_000}
    run_tournament(tmp_path / "run", **options)
    taken = sum(path.stat().st_size for path in (tmp_path / "run").glob("*.parquet"))
    assert 0.4 < taken / tournament_from(options).bytes_of(10_000) < 1


@pytest.mark.parametrize("game", [None, "chess"])
def test_a_manifest_of_no_known_game_is_refused(game: str | None, fresh: Path) -> None:
    manifest = json.loads((fresh / "run.json").read_text())
    (fresh / "run.json").write_text(json.dumps(manifest | {"game": game}))
    with pytest.raises(CorruptDataError, match=rf"game is {game!r}: allowed is velonimo or velocity"):
        load(fresh)


# The rows.


def test_races_are_loaded(run: Path) -> None:
    races = load(run).races
    assert len(races) == SHARDS * GAMES_A_SHARD
    games = [0, 1, 2, 3, 8, 9, 10, 11]
    assert races["turns"].tolist() == [100 + game for game in games]
    assert races["deal_id"].tolist() == [game // 2 for game in games]
    assert races.frame().columns.tolist() == ["game_id", "turns"]
    assert set(races.columns) == {
        "run",
        "players",
        "group",
        "pack",
        "cans",
        "course",
        *RACE_ROW.names,
        *("deal_id",),
    } | {"seating_id"}


def test_rules_are_columns_whatever_they_are(run: Path, tmp_path: Path) -> None:
    """A flag is a flag, and what has a name is called by it."""
    other = write_run(tmp_path / "other", {"pack": False, "cans": 5, "course": COURSE | {"name": "short"}})
    rules = load({"base": run, "variant": other}).rules
    assert rules["pack"].dtype == bool
    assert rules["pack"].tolist() == [True, False]
    assert rules["cans"].tolist() == ["none", "5"]
    assert rules["course"].tolist() == ["long", "short"]


def test_rules_in_words() -> None:
    assert rule_words([1, 2]) == "1,2"
    assert rule_words([]) == "none"
    assert rule_words(True) == "on"
    assert rule_words({"team": [1, 2], "energy": [0]}) == "team=1,2;energy=0"


def test_rows_of_a_kind_are_asked_for_a_column_that_the_other_has_too(run: Path) -> None:
    """As the turns of a race, and those of a seat."""
    runs = load(run)
    assert outcomes_by(runs, ["players"], "game_id")["rows"].tolist() == [24]
    assert outcomes_by(runs.races, ["players"], "game_id")["rows"].tolist() == [8]


def test_a_mean_by_bot_needs_no_particulars(run: Path) -> None:
    assert outcomes_by(run, ["bot"], "won")["rows"].tolist() == [16, 8]
    assert outcomes_by(run, ["players"], "turns")["mean"].tolist() == [105.5]


def test_what_is_of_one_game_is_refused_in_one_line(run: Path) -> None:
    with pytest.raises(UsageError, match=r"run: is of velocity, which has no cols: there are games and races$"):
        _ = load(run).cols
    with pytest.raises(UsageError, match="unknown column of velocity 'tortoises': there are"):
        outcomes_by(run, ["tortoises"], "won")


def test_two_games_at_once_are_refused(run: Path, tmp_path: Path) -> None:
    other = write_run(tmp_path / "other", {"col_values": [1]})
    manifest = json.loads((other / "run.json").read_text())
    (other / "run.json").write_text(json.dumps(manifest | {"game": "velonimo"}))
    with pytest.raises(UsageError, match=r"run is of velocity, .*other is of velonimo: allowed are runs of one game$"):
        load([run, other])


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_no_column_is_called_as_a_rule_option_or_as_what_the_analysis_adds_to_rows(game: GameSpec) -> None:
    added = {"run", "players", "group", *game.rule_set.official().to_dict()}
    assert not added & {*(game.game_row.names or ()), *(game.detail_row.names or ())}
