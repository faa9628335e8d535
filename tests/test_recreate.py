"""``replay --run DIR --game N``: any game of a run is played once more, is as it was recorded, and verifies."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from runs import Said, assert_one_line, frame, manifest, play, said_by
from velonimo_sim import match, records, replay

BOTS = '''
class Last:
    """Makes the last legal move, and remembers within a game."""

    def new_game(self, seat):
        self.asked = 0

    def choose(self, view, moves, rng):
        self.asked += 1
        return moves[-1] if self.asked % 3 else rng.choice(moves)

class Faulty(Last):
    """Now and then raises, or chooses what is illegal."""

    def choose(self, view, moves, rng):
        move = super().choose(view, moves, rng)
        if view["phase"] == "follow" and rng.random() < 0.02:
            return "keep"
        if view["phase"] == "lead" and rng.random() < 0.02:
            raise ValueError("lost my glasses")
        return move
'''

PLAIN, FAULTY = "./mine.py:Last", "./mine.py:Faulty"
RUNS: dict[str, tuple[list[str], int]] = {
    "mixed": (["--bots", "advised", "rollout:n=5,weigh=2", "hold-hares", "random"], 24),
    "searching": (["--bots", "ismcts:n=20", "exact", "rollout:n=3"], 6),
    "cheating": (["--bots", "cheater:n=8", "greedy"], 6),
    "duel": (["--bots", "greedy", "random"], 24),
    "duel by other rules": (["--bots", "advised", "random", "--rule", "duel_target=12", "--rule", "hand_size=9"], 12),
    "five players": (["--players", "5"], 15),
    "one bot everywhere": (["--bots", "random", "random", "random"], 9),
    "a bot twice": (["--bots", "random", "greedy", "random"], 12),
    "other rules": (["--bots", "random", "greedy", "random", "--rules", "bga", "--rule", "col_values=2,1"], 12),
    "optional swaps": (["--bots", "random", "advised", "random", "--rule", "tortoise_swap=optional"], 12),
    "fixed": (["--bots", "random", "greedy", "advised", "--seating", "fixed"], 9),
    "permutations": (["--bots", "random", "greedy", "advised", "--seating", "permutations"], 24),
    "round-robin": (["--table", "round-robin", "--players", "2", "--bots", "random", "greedy", "advised", PLAIN], 36),
    "plain": (["--bots", PLAIN, "random", PLAIN], 12),
    "plain and searching": (["--bots", PLAIN, "rollout:n=3", "random", "greedy"], 12),
    "faults by chance": (["--bots", FAULTY, "random", "greedy", "--on-fault", "random"], 18),
    "faults that forfeit": (["--bots", FAULTY, "random", FAULTY, "--on-fault", "forfeit"], 18),
    "faults in a duel": (["--bots", FAULTY, FAULTY, "--on-fault", "forfeit"], 18),
    "a limit that is kept": (["--bots", PLAIN, "greedy", "random", "--time-limit", "60000"], 6),
}
SLOW = {"searching", "cheating", "plain and searching"}
"""Those with a bot that takes long to compile or to think."""


@pytest.fixture(autouse=True)
def _in_a_folder_with_bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(records, "SHARD_GAMES", 6)
    monkeypatch.setattr(match, "CHUNK_SECONDS", 1e-9)
    Path("mine.py").write_text(BOTS)


def recreate(game: object, *arguments: str, run: str = "run") -> Said:
    return said_by(replay.main, "--run", run, "--game", str(game), *arguments)


def play_run(name: str = "mixed") -> int:
    """Play a run; return how many games it has."""
    arguments, games = RUNS[name]
    assert (
        play(*arguments, "--games", str(games), "--seed", "8", "--workers", "1", "--quiet", "--out", "run").status == 0
    )
    return games


def events(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [event for round_ in record["rounds"] for event in round_["events"]]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name in SLOW else name for name in RUNS]
)
def test_every_game_of_a_run_is_recreated_and_verifies(name: str) -> None:
    games = play_run(name)
    rows = frame("run")
    assert rows["game_id"].nunique() == games
    if "fault" in name:
        assert rows["fault"].any()
    with Path("all.jsonl").open("w") as file:
        for game in range(games):
            said = recreate(game)
            assert (said.status, said.err) == (0, f"velonimo_sim.replay: game {game} is as it was recorded\n"), said
            record = json.loads(said.out)
            assert record["id"] == str(game)
            assert record["rules"] == manifest("run")["rules"]
            file.write(said.out)
    said = said_by(replay.main, "all.jsonl")
    assert (said.status, said.err) == (0, "")
    assert said.out.startswith(f"all.jsonl: {games} games, ")
    assert said.out.endswith(" events, all facts hold\n")


def test_the_record_is_that_of_the_game_in_the_rows() -> None:
    play_run("permutations")
    cols = frame("run", "cols")
    for game in (0, 7, 23):
        record = json.loads(recreate(game).out)
        rows = cols[(cols["game_id"] == game) & (cols["col"] == 1)]
        assert [len(hand) for hand in record["rounds"][0]["hands"]] == [bin(hand).count("1") for hand in rows["hand"]]
        for seat in range(3):
            decisions = [event for event in events(record) if event.get("seat") == seat]
            passes = sum(event["act"] == "pass" for event in decisions)
            plays = sum(event["act"] == "play" for event in decisions)
            of_seat = cols[(cols["game_id"] == game) & (cols["seat"] == seat)]
            assert (passes, passes + plays) == (of_seat["passes"].sum(), of_seat["turns"].sum())


@pytest.mark.parametrize("name", ["game.jsonl", "game.jsonl.gz"])
def test_the_record_can_be_written_to_a_file(name: str) -> None:
    play_run("plain")
    printed = recreate(4)
    said = recreate(4, "--out", name)
    assert (said.status, said.out, said.err) == (0, "", "velonimo_sim.replay: game 4 is as it was recorded\n")
    verified = said_by(replay.main, name, "--rules", "official")
    assert (verified.status, verified.err) == (0, "")
    assert verified.out.startswith(f"{name}: 1 games, {len(events(json.loads(printed.out)))} events, all facts hold")
    shown = said_by(replay.main, name, "--show", "4")
    assert shown.status == 0
    assert shown.out.count("\n") > 20


def test_the_rules_of_the_run_are_in_the_record_and_a_preset_overrides_them() -> None:
    play_run("other rules")
    recreate(4, "--out", "game.jsonl")
    assert said_by(replay.main, "game.jsonl").status == 0
    assert said_by(replay.main, "game.jsonl", "--rules", "official").status == 1


def test_a_run_whose_manifest_is_lost_is_recreated_from_its_shards() -> None:
    games = play_run()
    expected = recreate(games - 1)
    Path("run/run.json").unlink()
    assert recreate(games - 1) == expected


def test_every_game_of_a_comparison_can_be_recreated() -> None:
    arguments = ("--bots", "random", "greedy", "--games", "4", "--compare-rules", "hand_size=9", "--quiet")
    assert play(*arguments, "--out", "both").status == 0
    for name in ("base", "variant"):
        for game in range(4):
            assert recreate(game, run=f"both/{name}").status == 0


# Rows that are not those of the game.


def tamper(kind: str, column: str, row: int) -> tuple[Any, Any]:
    """Change one value of the second shard; return what it was and what it is."""
    (path,) = Path("run").glob(f"{kind}-0000000008.parquet")
    table = pq.read_table(path)
    values = table[column].to_pylist()
    before = values[row]
    values[row] = not before if isinstance(before, bool) else "greedy" if column == "bot" else before + 1
    assert values[row] != before
    index = table.schema.get_field_index(column)
    field = table.schema.field(index)
    array = pa.array(values, pa.string()).dictionary_encode() if column == "bot" else pa.array(values, field.type)
    pq.write_table(table.set_column(index, field.name, array).replace_schema_metadata(table.schema.metadata), path)
    return before, values[row]


@pytest.mark.parametrize(
    ("kind", "column"),
    [
        *(("games", column) for column in ("total", "place", "won", "bot", "deal_id", "faults")),
        *(("cols", column) for column in ("hand", "points", "passes", "started", "bot", "jersey_spent_on")),
    ],
)
def test_a_row_that_was_tampered_with_is_noticed(kind: str, column: str) -> None:
    play_run()
    rows = 4 if kind == "games" else 20
    before, after = tamper(kind, column, 2 * rows + 3)
    said = recreate(10)
    assert said.status == 1
    told = f"{kind[:-1]} row 3: recorded is {column} {after}, played again it is {before}"
    assert said.err == f"velonimo_sim.replay: game 10, {told}\n"
    assert json.loads(said.out)["id"] == "10"
    assert recreate(9).status == recreate(11).status == 0


@pytest.mark.parametrize("kind", ["games", "cols"])
def test_a_row_that_is_missing_is_noticed(kind: str) -> None:
    play_run()
    (path,) = Path("run").glob(f"{kind}-0000000008.parquet")
    table = pq.read_table(path)
    of_another_game = pa.array([11 if n == 10 else n for n in table["game_id"].to_pylist()], pa.int64())
    index = table.schema.get_field_index("game_id")
    pq.write_table(table.set_column(index, table.schema.field(index), of_another_game), path)
    said = recreate(10)
    assert said.status == 1
    rows = 4 if kind == "games" else 20
    assert f"recorded are 0 {kind[:-1]} rows, played again it has {rows}" in said.err
    assert "Traceback" not in said.err


def test_a_bot_that_plays_otherwise_now_is_noticed_and_said() -> None:
    play_run("plain")
    Path("mine.py").write_text(BOTS.replace("moves[-1] if", "moves[0] if"))
    said = recreate(4)
    assert said.status == 1
    first, *others = said.err.splitlines()
    assert "run: was played with something else: bot_hashes: 0 is " in first
    assert others
    assert all("game 4, " in line for line in others)


def test_a_bot_file_that_changed_in_words_alone_is_said_and_the_game_is_the_same() -> None:
    play_run("plain")
    Path("mine.py").write_text(BOTS + "\n# a remark\n")
    said = recreate(4)
    assert said.status == 0
    assert "was played with something else: bot_hashes: 0 is " in said.err
    assert said.err.endswith("game 4 is as it was recorded\n")


# What cannot be done.


def test_a_game_that_is_not_in_the_run_is_refused_in_one_line() -> None:
    games = play_run()
    for game in (games, 10**12):
        assert_one_line(recreate(game), 2, f"game {game}", "run", f"up to {games - 1}")
    for kind in ("games", "cols"):
        Path(f"run/{kind}-0000000008.parquet").unlink()
    assert_one_line(recreate(10), 2, "game 10")
    assert recreate(16).status == 0


BAD_INPUT: dict[str, tuple[Sequence[str], list[str]]] = {
    "no number": (["--run", "run", "--game", "x"], ["--game x", "integer 0-"]),
    "below 0": (["--run", "run", "--game", "-1"], ["--game -1", "integer 0-"]),
    "half a game": (["--run", "run", "--game", "1.5"], ["--game 1.5", "integer 0-"]),
    "no game": (["--run", "run"], ["--run DIR --game N"]),
    "no run": (["--game", "4"], ["--run DIR --game N"]),
    "no such run": (["--run", "nowhere", "--game", "4"], ["nowhere", "holds no run"]),
    "a file": (["--run", "mine.py", "--game", "4"], ["mine.py", "is not a folder"]),
    "an empty folder": (["--run", "empty", "--game", "4"], ["empty", "holds no run"]),
    "both ways": (["--run", "run", "--game", "4", "game.jsonl"], ["--run DIR --game N", "FILE"]),
    "to be told": (["--run", "run", "--game", "4", "--show", "4"], ["--run DIR --game N", "--show"]),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_what_cannot_be_recreated_is_refused_in_one_line(name: str) -> None:
    Path("empty").mkdir()
    play_run("duel")
    arguments, fragments = BAD_INPUT[name]
    assert_one_line(said_by(replay.main, *arguments), 2, *fragments)


@pytest.mark.parametrize(
    "content",
    ["{", "[]", "{}", '{"schema_version": 2}', '{"schema_version": 3}', '{"schema_version": 3, "players": 2}'],
)
def test_a_manifest_that_is_none_is_refused_in_one_line(content: str) -> None:
    play_run("duel")
    Path("run/run.json").write_text(content)
    assert_one_line(recreate(4), 2, "run")


def test_a_bot_that_is_gone_is_named_in_one_line() -> None:
    play_run("plain")
    Path("mine.py").unlink()
    assert_one_line(recreate(4), 2, "mine.py")


def test_a_damaged_shard_is_named_in_one_line() -> None:
    play_run()
    path = Path("run/cols-0000000008.parquet")
    path.write_bytes(path.read_bytes()[:300])
    assert_one_line(recreate(10), 2, "cols-0000000008.parquet: is damaged")


def test_a_record_that_cannot_be_written_is_said_in_one_line() -> None:
    play_run("duel")
    said = recreate(4, "--out", "nowhere/game.jsonl")
    assert_one_line(said, 2, "nowhere/game.jsonl")


def test_recreating_a_game_changes_nothing_in_the_run() -> None:
    play_run()
    shutil.copytree("run", "before")
    recreate(5)
    for path in Path("before").iterdir():
        assert Path("run", path.name).read_bytes() == path.read_bytes()
