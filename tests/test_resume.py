"""Runs that are killed, damaged, short of disk or gone on with have the rows of a run that nothing happened to."""

import ctypes
import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

from runs import (
    SMALL,
    THREE,
    assert_holds,
    assert_one_line,
    assert_same_rows,
    contents,
    frame,
    kill_when,
    killed_everywhere,
    manifest,
    play,
    play_apart,
    started,
    wait_for,
)
from velonimo_sim import match, records
from velonimo_sim.analysis.runs import load
from velonimo_sim.run_files import SCHEMA_VERSION

GAMES = 24
RUN = ("--bots", *THREE, "--seed", "4", "--quiet")
SLOW = ("--bots", "rollout:n=60", "greedy", "random", "--seed", "4", "--quiet")
SLOW_GAMES = 120
"""Many enough to be killed among; some tens of games a second."""


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(match, "CHUNK_SECONDS", 1e-9)
    monkeypatch.setattr(records, "SHARD_GAMES", 6)


@pytest.fixture
def whole() -> None:
    """Play the run that the others are compared with, as four shards of six games: ``whole``."""
    assert play(*RUN, "--games", str(GAMES), "--out", "whole").status == 0
    assert sorted(contents("whole")) == sorted(
        [f"{kind}-{first:010d}.parquet" for kind in ("cols", "games") for first in (0, 6, 12, 18)] + ["run.json"]
    )


# Killed.


@pytest.mark.parametrize("games", [6, pytest.param(18, marks=pytest.mark.slow)])
def test_a_run_killed_before_any_step_with_its_files_is_gone_on_with(games: int) -> None:
    assert play(*RUN, "--games", str(games), "--out", "whole").status == 0
    lines = killed_everywhere(*RUN, "--games", str(games))
    left = {name for line in lines[:-1] for name in line["found"]}
    last = f"{games - 6:010d}.parquet"
    assert {"_probe", "_run.json", f"_cols-{last}", f"_games-{last}", f"cols-{last}"} <= left
    for line in lines:
        assert_same_rows(line["folder"], "whole")
        assert_holds(line["folder"], games)
        assert (manifest(line["folder"])["status"], manifest(line["folder"])["games_written"]) == ("finished", games)


@pytest.mark.slow
def test_a_run_killed_while_it_repairs_an_older_crash_is_gone_on_with(whole: None) -> None:  # noqa: ARG001
    shutil.copytree("whole", "damaged")
    for damage in DAMAGES.values():
        damage(Path("damaged"))
    lines = killed_everywhere("--prepared", "damaged", *RUN, "--games", str(GAMES), "--resume")
    assert len(lines) > 20
    for line in lines:
        assert_same_rows(line["folder"], "whole")
        assert_holds(line["folder"], GAMES)


@pytest.mark.slow
def test_a_run_killed_while_it_overwrites_an_older_one_is_gone_on_with(whole: None) -> None:  # noqa: ARG001
    play(*RUN, "--games", "12", "--out", "older")
    lines = killed_everywhere("--prepared", "older", *RUN, "--games", str(GAMES), "--overwrite")
    assert any("run.json" not in line["found"] and line["found"] for line in lines)
    for line in lines:
        assert_same_rows(line["folder"], "whole")
        assert_holds(line["folder"], GAMES)


@pytest.mark.slow
def test_a_comparison_killed_before_any_step_with_its_files_is_gone_on_with() -> None:
    compared = (*RUN, "--games", "6", "--compare-rules", "tortoise_swap=off")
    play(*compared, "--out", "whole")
    for line in killed_everywhere(*compared):
        for name in ("base", "variant"):
            assert_same_rows(Path(line["folder"], name), Path("whole", name))
            assert_holds(Path(line["folder"], name), 6)


def shards(folder: str = "run") -> int:
    return len([*Path(folder).glob("games-*.parquet")])


def test_a_run_killed_from_outside_is_gone_on_with_and_its_finished_shards_stay() -> None:
    arguments = (*SLOW, "--games", str(SLOW_GAMES), "--out")
    kill_when(lambda: shards() >= 2, *arguments, "run", "--workers", "2")
    assert manifest("run")["status"] == "running"
    before = contents("run")
    finished = [name for name in before if name.startswith("games-")]
    assert 2 <= len(finished) < SLOW_GAMES / 6
    assert play(*arguments, "run", "--resume").status == 0
    assert play(*arguments, "whole").status == 0
    assert_same_rows("run", "whole")
    assert_holds("run", SLOW_GAMES)
    after = contents("run")
    for name in finished:
        assert after[name] == before[name]
        assert after[name.replace("games", "cols")] == before[name.replace("games", "cols")]


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_run_killed_again_and_again_comes_to_its_end(workers: str) -> None:
    arguments = (*SLOW, "--games", str(SLOW_GAMES), "--workers", workers, "--out", "run", "--resume")
    for wanted in range(1, 16, 2):
        kill_when(lambda wanted=wanted: shards() >= wanted, *arguments)  # type: ignore[misc]
    assert play(*arguments).status == 0
    assert play(*SLOW, "--games", str(SLOW_GAMES), "--out", "whole").status == 0
    assert_same_rows("run", "whole")
    assert_holds("run", SLOW_GAMES)


SLEEPY = """
import os
import time

class Sleepy:
    def __init__(self):
        with open("pids", "a") as pids:
            pids.write(f"{os.getpid()}\\n")

    def choose(self, view, moves, rng):
        time.sleep(1e-4)
        return moves[-1]
"""


def is_running(process: int) -> bool:
    """Whether a process is there and not only waits for its parent to see that it has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_killed_run_of_plain_bots_leaves_no_process_behind_and_is_gone_on_with() -> None:
    Path("sleepy.py").write_text(SLEEPY)
    arguments = ("--bots", "./sleepy.py:Sleepy", "greedy", "random", "--games", "36", "--quiet", "--out")
    kill_when(shards, *arguments, "run", "--workers", "2")
    processes = {int(line) for line in Path("pids").read_text().split()}
    assert len(processes) >= 2
    wait_for(lambda: not any(map(is_running, processes)))
    assert 0 < shards() < 6
    assert play(*arguments, "run", "--resume", "--workers", "1").status == 0
    assert play(*arguments, "whole", "--workers", "1").status == 0
    assert_same_rows("run", "whole")
    assert_holds("run", 36)


# Damaged.


def _half(folder: Path, name: str) -> None:
    os.truncate(folder / name, (folder / name).stat().st_size // 2)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "_games-0000000018.parquet was left half written": lambda folder: (folder / "games-0000000018.parquet").rename(
        folder / "_games-0000000018.parquet"
    ),
    "cols-0000000012.parquet was left half written": lambda folder: (folder / "games-0000000012.parquet").unlink(),
    "games-0000000006.parquet: is damaged": lambda folder: _half(folder, "games-0000000006.parquet"),
    "_cols-0000000300.parquet was left half written": lambda folder: (folder / "_cols-0000000300.parquet").write_bytes(
        b"PAR1 half"
    ),
    "_run.json was left half written": lambda folder: (folder / "_run.json").write_text('{"sche'),
}
"""What older crashes leave, by what is said of it."""

SINGLE_DAMAGES = DAMAGES | {
    "cols-0000000006.parquet: is damaged": lambda folder: _half(folder, "cols-0000000006.parquet"),
    "cols-0000000000.parquet: is missing": lambda folder: (folder / "cols-0000000000.parquet").unlink(),
    "games-0000000000.parquet: is damaged": lambda folder: (folder / "games-0000000000.parquet").write_bytes(b""),
    "games-0000000018.parquet: is damaged": lambda folder: (folder / "games-0000000018.parquet").write_bytes(
        b"no Parquet at all, but long enough to be looked into"
    ),
}


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("said", SINGLE_DAMAGES)
def test_what_an_older_crash_left_is_a_stated_repair(said: str) -> None:
    shutil.copytree("whole", "run")
    SINGLE_DAMAGES[said](Path("run"))
    damaged = contents("run")
    result = play(*RUN, "--games", str(GAMES), "--out", "run", "--resume")
    assert (result.status, said in result.err) == (0, True), result
    assert all(" deleted" in line for line in result.err.splitlines())
    assert_same_rows("run", "whole")
    assert_holds("run", GAMES)
    first = said.partition("-")[2][:10]
    for name, content in damaged.items():
        if name.startswith(("games-", "cols-")) and first not in name:
            assert Path("run", name).read_bytes() == content


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("first", [0, 6, 18])
def test_the_games_of_a_shard_that_is_gone_are_played_again(first: int) -> None:
    shutil.copytree("whole", "run")
    for kind in ("games", "cols"):
        Path("run", f"{kind}-{first:010d}.parquet").unlink()
    kept = contents("run")
    result = play(*RUN, "--games", str(GAMES), "--out", "run", "--resume", "--json")
    assert (result.status, result.err, json.loads(result.out)["games_played"]) == (0, "", 6)
    assert_same_rows("run", "whole")
    assert_holds("run", GAMES)
    assert all(Path("run", name).read_bytes() == content for name, content in kept.items() if name != "run.json")


@pytest.mark.usefixtures("whole")
def test_shards_that_share_games_lose_the_later_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """As two runs leave them that were mixed by hand."""
    shutil.copytree("whole", "run")
    monkeypatch.setattr(records, "SHARD_GAMES", 9)
    play(*RUN, "--games", "18", "--out", "other")
    for kind in ("games", "cols"):
        shutil.copy(f"other/{kind}-{9:010d}.parquet", "run")
    result = play(*RUN, "--games", str(GAMES), "--out", "run", "--resume")
    assert result.status == 0
    assert "holds games that are in the shard before it" in result.err
    assert "Traceback" not in result.err
    assert_same_rows("run", "whole")
    assert_holds("run", GAMES)


@pytest.mark.usefixtures("whole")
def test_a_shard_that_holds_a_part_of_a_deal_is_played_again() -> None:
    shutil.copytree("whole", "run")
    for kind, rows in (("games", 4 * 3), ("cols", 4 * 15)):
        path = Path("run", f"{kind}-0000000006.parquet")
        table = pq.read_table(path)
        pq.write_table(table.slice(0, rows), path)
    result = play(*RUN, "--games", str(GAMES), "--out", "run", "--resume")
    assert (result.status, "holds a part of a deal" in result.err, result.err.count("\n")) == (0, True, 1)
    assert_same_rows("run", "whole")
    assert_holds("run", GAMES)


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize(("first", "last"), [(4, 600), (441, 445)])
def test_bytes_that_went_bad_within_a_shard_are_a_stated_repair(first: int, last: int) -> None:
    """The end of the file, which says where what is, is whole; the columns are not."""
    shutil.copytree("whole", "run")
    path = Path("run", "games-0000000006.parquet")
    content = bytearray(path.read_bytes())
    content[first:last] = b"\xff" * (last - first)
    path.write_bytes(content)
    result = play(*RUN, "--games", str(GAMES), "--out", "run", "--resume")
    assert "games-0000000006.parquet: is damaged" in result.err
    assert (result.status, result.err.count("\n")) == (0, 1), result
    assert_same_rows("run", "whole")
    assert_holds("run", GAMES)


# Gone on with.


@pytest.mark.usefixtures("whole")
def test_more_games_can_be_asked_for_later_and_nothing_else_need_be_said() -> None:
    play(*RUN, "--games", "9", "--out", "run")
    before = contents("run")
    result = play("--resume", "--games", str(GAMES), "--out", "run", "--json")
    assert result.status == 0
    assert (json.loads(result.out)["games"], json.loads(result.out)["games_played"]) == (GAMES, GAMES - 9)
    again = json.loads(play("--resume", "--out", "whole", "--json").out)
    for of_run, of_whole in zip(json.loads(result.out)["bots"], again["bots"], strict=True):
        assert of_run == pytest.approx(of_whole)
    assert_same_rows("run", "whole")
    assert_holds("run", GAMES)
    assert (manifest("run")["games"], manifest("run")["games_written"]) == (GAMES, GAMES)
    assert manifest("run")["options"] | {"games": "9"} == json.loads(before["run.json"])["options"]
    assert all(contents("run")[name] == content for name, content in before.items() if name != "run.json")


@pytest.mark.slow
def test_a_thousand_games_can_become_two_thousand() -> None:
    arguments = ("--bots", "advised", "greedy", "hold-hares", "random", "--seed", "1")
    assert play_apart(*arguments, "--games", "1000", "--out", "run", script=BIGGER).status == 0
    assert play_apart("--resume", "--games", "2000", "--out", "run", script=BIGGER).status == 0
    assert play_apart(*arguments, "--games", "2000", "--out", "whole", script=BIGGER).status == 0
    assert_same_rows("run", "whole")
    assert_holds("run", 2_000, players=4)


BIGGER = SMALL.replace("= 6, 1e-9", "= 300, 0.01")


@pytest.mark.usefixtures("whole")
def test_less_games_than_there_are_are_refused() -> None:
    before = contents("whole")
    result = play("--resume", "--games", "21", "--out", "whole")
    assert_one_line(result, 2, "--games 21", "whole", f"{GAMES} games already")
    assert contents("whole") == before


@pytest.mark.usefixtures("whole")
def test_a_finished_run_is_gone_on_with_to_the_same_result() -> None:
    first, before = play("--resume", "--out", "whole", "--json"), contents("whole")
    second = play(*RUN, "--games", str(GAMES), "--resume", "--out", "whole")
    assert (first.status, first.err, second.status, second.err) == (0, "", 0, "")
    assert json.loads(first.out)["games_played"] == 0
    assert f"{GAMES} games in " in second.out
    assert f"{GAMES} of them were there before" in second.out
    assert contents("whole") == before


OTHER_RUNS = {
    "seed": (["--seed", "5"], "seed is 4 in the run and 5 here"),
    "bots": (["--bots", "greedy", "random", "advised"], 'bots: 2 is "hold-hares" in the run and "advised" here'),
    "players": (["--bots", "greedy", "random", "--players", "2"], "players is 3 in the run and 2 here"),
    "seating": (["--seating", "permutations"], 'seating is "rotations" in the run and "permutations" here'),
    "table": (["--table", "round-robin", "--players", "3"], 'table is "single" in the run and "round-robin" here'),
    "faults": (["--on-fault", "forfeit"], 'on_fault is "raise" in the run and "forfeit" here'),
    "time": (["--time-limit", "5000"], "time_limit_ms is null in the run and 5000 here"),
    "rules": (["--rule", "hand_size=9"], "rules: hand_size is 11 in the run and 9 here"),
    "preset": (["--rules", "bga"], "in the run and "),
}


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("name", OTHER_RUNS)
def test_another_configuration_is_refused_and_what_differs_is_shown(name: str) -> None:
    arguments, shown = OTHER_RUNS[name]
    before = contents("whole")
    assert_one_line(
        play("--resume", "--out", "whole", "--quiet", *arguments), 2, "--resume whole: is another run: ", shown
    )
    assert contents("whole") == before


def test_a_bot_whose_file_has_changed_is_another_run() -> None:
    Path("sleepy.py").write_text(SLEEPY)
    arguments = ("--bots", "./sleepy.py:Sleepy", "greedy", "--games", "4", "--workers", "1", "--out", "run")
    assert play(*arguments).status == 0
    Path("sleepy.py").write_text(SLEEPY.replace("moves[-1]", "moves[0]"))
    assert_one_line(play(*arguments, "--resume"), 2, "is another run: bot_hashes: 0 is ")


def test_other_workers_and_progress_are_the_same_run(whole: None) -> None:  # noqa: ARG001
    play(*RUN, "--games", "9", "--workers", "2", "--out", "run")
    assert play("--resume", "--out", "run", "--games", str(GAMES), "--workers", "1").status == 0
    assert_same_rows("run", "whole")


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("state", ["no folder", "an empty folder"])
def test_resume_begins_a_run_that_is_not_there_yet(state: str) -> None:
    if state == "an empty folder":
        Path("run").mkdir()
    result = play(*RUN, "--games", str(GAMES), "--resume", "--out", "run")
    assert (result.status, result.err) == (0, "")
    assert_same_rows("run", "whole")
    assert_holds("run", GAMES)


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("arguments", [RUN, ()])
def test_where_the_manifest_is_lost_the_shards_say_the_same(arguments: tuple[str, ...]) -> None:
    play(*RUN, "--games", "12", "--out", "run")
    before = manifest("run")
    Path("run/run.json").unlink()
    assert_one_line(play("--resume", "--out", "run", "--seed", "9"), 2, "seed is 4 in the run and 9 here")
    assert play(*arguments, "--resume", "--out", "run", "--games", str(GAMES)).status == 0
    assert_same_rows("run", "whole")
    assert manifest("run").items() >= {"games": GAMES, "bots": before["bots"], "seed": 4}.items()
    assert manifest("run") == manifest("whole")


@pytest.mark.usefixtures("whole")
def test_of_shards_without_a_manifest_the_last_one_says_how_far_the_run_went() -> None:
    play(*RUN, "--games", "12", "--out", "run")
    play("--resume", "--games", "18", "--out", "run")
    Path("run/run.json").unlink()
    assert play("--resume", "--out", "run").status == 0
    assert_holds("run", 18)
    assert manifest("run")["games"] == 18


def test_files_of_a_lost_run_that_say_nothing_are_left_alone() -> None:
    play(*RUN, "--games", "6", "--out", "run")
    Path("run/run.json").unlink()
    _half(Path("run"), "games-0000000000.parquet")
    before = contents("run")
    assert_one_line(play(*RUN, "--games", "6", "--resume", "--out", "run"), 2, "run", "no run.json")
    assert contents("run") == before


def test_without_a_name_the_last_default_folder_is_gone_on_with() -> None:
    for seed in ("1", "2", "3"):
        play(*RUN, "--seed", seed, "--games", "6")
    Path("velonimo-run-old").mkdir()
    Path("velonimo-run-2").rename("velonimo-run-10")
    before = contents("velonimo-run") | contents("velonimo-run-3")
    assert play("--resume", "--games", "12").status == 0
    assert (manifest("velonimo-run-10")["games"], manifest("velonimo-run-10")["seed"]) == (12, 2)
    assert contents("velonimo-run") | contents("velonimo-run-3") == before
    assert contents("velonimo-run-old") == {}


def test_without_a_name_and_a_default_folder_there_is_nothing_to_resume() -> None:
    assert_one_line(play("--resume"), 2, "--resume", "no folder velonimo-run", "--out")
    assert contents(".") == {}


def test_resume_and_overwrite_contradict_each_other() -> None:
    assert_one_line(play(*RUN, "--resume", "--overwrite", "--out", "run"), 2, "--resume --overwrite")
    assert contents(".") == {}


# Other folders than that of a run of this version, or of somebody else.


@pytest.mark.usefixtures("whole")
def test_a_run_of_another_schema_version_is_refused() -> None:
    content = manifest("whole")
    Path("whole/run.json").write_text(json.dumps(content | {"schema_version": SCHEMA_VERSION - 1}))
    before = contents("whole")
    result = play(*RUN, "--games", str(GAMES), "--resume", "--out", "whole")
    assert_one_line(result, 2, "whole/run.json", f"schema version {SCHEMA_VERSION - 1}", f"reads {SCHEMA_VERSION}")
    assert contents("whole") == before


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff\xfe\x00", b"[]", b"null", b"7", b"{}", b'{"schema_version": 3}', b'{"schema_version": "3"}'],
)
@pytest.mark.parametrize("arguments", [("--resume",), (*RUN, "--games", str(GAMES), "--resume")])
def test_a_manifest_that_is_none_is_refused_in_one_line(content: bytes, arguments: tuple[str, ...]) -> None:
    Path("whole/run.json").write_bytes(content)
    before = contents("whole")
    assert_one_line(play(*arguments, "--out", "whole"), 2, "whole")
    assert contents("whole") == before


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize("options", [[], {"games": [[{}]]}, {"gmaes": "5"}, {"bots": "greedy"}, 7])
def test_a_manifest_with_impossible_options_is_refused_in_one_line(options: object) -> None:
    Path("whole/run.json").write_text(json.dumps(manifest("whole") | {"options": options}))
    before = contents("whole")
    assert_one_line(play("--resume", "--out", "whole"), 2, "whole")
    assert contents("whole") == before


def test_two_processes_do_not_play_into_one_folder() -> None:
    arguments = (*SLOW, "--games", "1000000", "--out", "run")
    with started(*arguments) as process:
        wait_for(lambda: shards() >= 2, process)
        first = Path("run/games-0000000000.parquet").read_bytes()
        for way in ("--resume", "--overwrite"):
            assert_one_line(play(*arguments, way), 2, "--out run", "another process is playing into this folder")
        assert process.poll() is None
    assert Path("run/games-0000000000.parquet").read_bytes() == first
    games = 6 * (shards() + 1)
    assert play(*SLOW, "--games", str(games), "--out", "run", "--resume").status == 0
    assert_holds("run", games)


# Too little disk.


OUT_OF_ROOM = """
import os
import resource
import sys

import pyarrow.parquet as pq

from velonimo_sim import match, records, tournament
from velonimo_sim.commands import leave_with

calls, write = int(os.environ["FILES"]), pq.write_table

def write_while_there_is_room(*arguments, **options):
    global calls
    calls -= 1
    if calls < 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, resource.RLIM_INFINITY))
    return write(*arguments, **options)

pq.write_table = write_while_there_is_room
records.SHARD_GAMES, match.CHUNK_SECONDS = 6, 1e-9
leave_with(tournament.main)
"""
"""The command with small shards, whose files the system keeps from growing after the first ``FILES`` Parquet files."""


@pytest.mark.usefixtures("whole")
@pytest.mark.parametrize(("files", "safe"), [(0, 0), (3, 6), (4, 12)])
def test_a_disk_that_takes_no_more_is_told_with_what_is_safe_and_later_the_run_goes_on(files: int, safe: int) -> None:
    arguments = (*RUN, "--games", str(GAMES), "--out", "run")
    result = play_apart(*arguments, script=OUT_OF_ROOM, environment={"FILES": str(files)})
    assert (result.status, result.err.count("\n")) == (1, 1)
    assert "stopped: run: " in result.err
    assert f"File too large; {safe} games are safe in run; --resume goes on\n" in result.err
    assert shards() == safe / 6
    assert not [name for name in contents("run") if name.startswith("_")]
    if safe:
        assert_holds("run", safe)
    assert manifest("run")["status"] == "running", "no room for the manifest either"
    result = play(*arguments, "--resume", "--json")
    assert (result.status, result.err, json.loads(result.out)["games_played"]) == (0, "", GAMES - safe)
    assert_same_rows("run", "whole")
    assert_holds("run", GAMES)


def _mount(source: str, target: Path, options: str, flags: int) -> bool:
    """Mount a small disk that lives in memory; whether this process may."""
    libc = ctypes.CDLL(None, use_errno=True)
    mount = getattr(libc, "mount", None)
    return mount is not None and mount(source.encode(), bytes(target), b"tmpfs", flags, options.encode()) == 0


@contextmanager
def small_disk(folder: Path) -> Iterator[Callable[[], None] | None]:
    """Make a folder a disk of 64 kB; yields what gives it more room, or None where mounting is not allowed."""
    folder.mkdir()
    if not _mount("none", folder, "size=64k", 0):
        yield None
        return
    remount = 32
    try:
        yield lambda: _check(_mount("none", folder, "size=4m", remount))
    finally:
        _check(ctypes.CDLL(None).umount(bytes(folder)) == 0)


def _check(is_done: bool) -> None:
    assert is_done


def test_a_full_disk_is_told_with_what_is_safe_and_with_more_room_the_run_goes_on(tmp_path: Path) -> None:
    """Where this process may not mount a small disk, files that may not grow stand for it."""
    games, out = 60, "disk/run"
    arguments = (*RUN, "--games", str(games), "--out", out)
    with small_disk(tmp_path / "disk") as make_room:
        script, cause = (SMALL, "No space left on device") if make_room else (OUT_OF_ROOM, "File too large")
        result = play_apart(*arguments, script=script, environment={"FILES": "5"})
        safe = 6 * shards(out)
        assert (result.status, result.err.count("\n")) == (1, 1)
        assert f"{cause}; {safe} games are safe in {out}; --resume goes on\n" in result.err
        assert 0 < safe < games
        assert_holds(out, safe)
        assert f"\n{safe + 6} games in " in result.out or f"\n{safe + 12} games in " in result.out
        if make_room:
            again = play_apart(*arguments, "--resume", script=script)
            assert (again.status, "Traceback" in again.err) == (1, False), "still full"
            assert cause in again.err
            make_room()
        assert play_apart(*arguments, "--resume").status == 0
        assert play(*RUN, "--games", str(games), "--out", "whole").status == 0
        assert_same_rows(out, "whole")
        assert_holds(out, games)


def test_a_run_that_needs_more_disk_than_is_free_is_refused_before_it_begins() -> None:
    result = play(*RUN, "--games", str(10**12), "--out", "run")
    assert_one_line(result, 2, "--games 1000000000002: about ", "GB are needed", "GB are free")
    assert contents(".") == {}
    assert not Path("run").exists()


def test_the_games_that_are_there_need_no_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "CHUNK_SECONDS", 0.2)
    monkeypatch.setattr(records, "SHARD_GAMES", 6_000)
    play(*RUN, "--games", "6000", "--out", "run")
    usage = shutil.disk_usage(".")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=100_000))
    assert_one_line(play(*RUN, "--games", "6000", "--out", "other"), 2, "are needed")
    assert play(*RUN, "--games", "1500", "--overwrite", "--out", "run").status == 0, "what is replaced makes room"
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage._replace(free=1_000))
    assert_one_line(play("--resume", "--games", "1560", "--quiet", "--out", "run"), 2, "--games 1560", "are needed")
    assert play("--resume", "--out", "run").status == 0


# Shards that are not what they seem.


@pytest.fixture
def run_of_two_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a run of twelve games in two shards."""
    monkeypatch.setattr(records, "SHARD_GAMES", 6)
    assert play(*RUN, "--games", "12", "--workers", "1", "--out", "run").status == 0


@pytest.mark.usefixtures("run_of_two_shards")
def test_a_shard_that_cannot_be_read_is_no_damaged_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_allowed(path: Path) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    before = contents("run")
    monkeypatch.setattr(pq, "read_metadata", not_allowed)
    assert_one_line(play("--resume", "--out", "run", "--quiet"), 2, "cannot be read", "Permission denied")
    assert contents("run") == before


@pytest.mark.usefixtures("run_of_two_shards")
def test_a_shard_of_another_run_is_refused_and_stays() -> None:
    other = [*RUN, "--games", "12", "--workers", "1", "--out", "other"]
    other[other.index("--seed") + 1] = "99"
    assert play(*other).status == 0
    for kind in ("games", "cols"):
        Path(f"other/{kind}-0000000006.parquet").replace(f"run/{kind}-0000000006.parquet")
    before = contents("run")
    said = play("--resume", "--out", "run", "--quiet")
    assert_one_line(said, 2, "games-0000000006.parquet is of another run: seed is 99 in the run and ")
    assert contents("run") == before


@pytest.mark.usefixtures("run_of_two_shards")
def test_a_shard_under_the_name_of_other_games_is_played_again() -> None:
    expected = frame("run")
    for kind in ("games", "cols"):
        Path(f"run/{kind}-0000000006.parquet").write_bytes(Path(f"run/{kind}-0000000000.parquet").read_bytes())
    said = play("--resume", "--out", "run", "--quiet")
    assert said.status == 0
    assert "does not hold the games 6 to 11; the shard is deleted and its games are played again" in said.err
    pd.testing.assert_frame_equal(frame("run"), expected)


@pytest.mark.usefixtures("run_of_two_shards")
def test_a_file_of_the_user_s_own_among_the_shards_is_no_shard() -> None:
    Path("run/games-all.parquet").write_bytes(Path("run/games-0000000000.parquet").read_bytes())
    assert len(load("run").games) == 12 * 3
    assert_one_line(play("--resume", "--out", "run", "--quiet"), 2, "games-all.parquet", "no run wrote")


RAISES = """
class Raises:
    def choose(self, view, moves, rng):
        if view["col"] == 2:
            raise ValueError("lost")
        return moves[0]
"""


def test_faults_of_games_that_were_there_are_in_the_summary() -> None:
    Path("raises.py").write_text(RAISES)
    arguments = (
        "--bots",
        "./raises.py:Raises",
        "greedy",
        "--on-fault",
        "random",
        "--workers",
        "1",
        "--quiet",
        "--json",
    )
    play(*arguments, "--games", "6", "--out", "run")
    resumed = json.loads(play(*arguments, "--games", "12", "--resume", "--out", "run").out)
    whole = json.loads(play(*arguments, "--games", "12", "--out", "whole").out)
    assert resumed["bots"] == whole["bots"]
    assert resumed["bots"][0]["faults"] > 12
