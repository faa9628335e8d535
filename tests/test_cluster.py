"""Runs on a Dask cluster, a real one here: the rows are those of a local run, and what goes wrong is told."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runs import (
    SMALL,
    THREE,
    assert_holds,
    assert_one_line,
    assert_same_rows,
    frame,
    manifest,
    play,
    play_apart,
    started,
    wait_for,
)
from velonimo_sim import cluster, match, records
from velonimo_sim._jit import source_hash
from velonimo_sim.game import GAMES

RUN = ("--bots", *THREE, "--seed", "4", "--quiet")
SLOW = ("--bots", "rollout:n=60", "greedy", "random", "--seed", "4", "--quiet")

WORKER = ["-m", "distributed.cli.dask_worker", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1"]
OTHER_SOURCES = """
from velonimo_sim import _jit

_jit.source_hash = lambda: "0123456789abcdef"
"""
OTHER_RULES = """
from dataclasses import replace
from velonimo_sim.game import GAMES

GAMES["velonimo"] = replace(GAMES["velonimo"], rules_version=99)
"""
NO_PACKAGE = """
import sys

sys.modules["velonimo_sim"] = None
"""
WORKS = """
from distributed.cli.dask_worker import main

main()
"""


@contextmanager
def process(arguments: Sequence[str], log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """Let a Python process run, which writes into a file what it says; it has ended when the block is left."""
    with (
        log.open("wb") as file,
        subprocess.Popen(
            [sys.executable, *arguments],
            stdout=file,
            stderr=file,
            cwd=log.parent,
            env={**os.environ, "DASK_TEMPORARY_DIRECTORY": str(log.parent), **environment},
        ) as running,
    ):
        try:
            yield running
        finally:
            running.terminate()
            try:
                running.wait(timeout=10)
            except subprocess.TimeoutExpired:
                running.kill()


@dataclass
class Dask:
    """A scheduler of our own."""

    folder: Path
    scheduler: subprocess.Popen[bytes]

    @property
    def file(self) -> str:
        """The path of its scheduler file."""
        return str(self.folder / "scheduler.json")

    @property
    def address(self) -> str:
        """Its address."""
        return str(json.loads(Path(self.file).read_text())["address"])

    @contextmanager
    def worker(self, name: str, script: str = "", *options: str) -> Iterator[subprocess.Popen[bytes]]:
        """Let one more worker work; when the block is left the scheduler knows that it has gone."""
        log = self.folder / f"{name}.log"
        command = ["-c", script + WORKS, *WORKER[2:]] if script else WORKER
        options = options or ("--no-nanny",)
        local = ("--scheduler-file", self.file, "--name", name, "--local-directory", str(self.folder / name))
        with process([*command, *local, *options], log) as running:
            wait_for(lambda: "Registered to" in log.read_text(), running)
            yield running
        wait_for(lambda: name not in self.workers())

    def workers(self) -> set[str]:
        """Return the names of its workers."""
        log = (self.folder / "scheduler.log").read_text()
        come, gone = (re.findall(rf"{word} worker addr: \S+ name: (\S+)", log) for word in ("Register", "Remove"))
        return {name for name in come if come.count(name) > gone.count(name)}


@contextmanager
def scheduler(folder: Path, **environment: str) -> Iterator[Dask]:
    """Let a scheduler run on a port that the system chooses."""
    arguments = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--dashboard-address", "127.0.0.1:0"]
    file = folder / "scheduler.json"
    command = ["-m", "distributed.cli.dask_scheduler", *arguments, "--scheduler-file", str(file)]
    with process(command, folder / "scheduler.log", **environment) as running:
        wait_for(lambda: file.exists() and file.read_text().endswith("}"), running)
        yield Dask(folder, running)


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dask]:
    """Return a scheduler with two workers."""
    with ExitStack() as stack:
        running = stack.enter_context(scheduler(tmp_path_factory.mktemp("dask")))
        for name in ("one", "two"):
            stack.enter_context(running.worker(name))
        yield running


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(match, "CHUNK_SECONDS", 1e-9)
    monkeypatch.setattr(records, "SHARD_GAMES", 6)


# The rows.

BOTS = """
class Last:
    def choose(self, view, moves, rng):
        return moves[-1] if len(moves) % 2 else rng.choice(moves)

class Faulty(Last):
    def choose(self, view, moves, rng):
        return "keep" if view["phase"] == "lead" and rng.random() < 0.02 else super().choose(view, moves, rng)

class Raising(Last):
    def choose(self, view, moves, rng):
        if view["col"] == 5 and view["phase"] == "lead" and {"H50", "H45"} <= {*view["hand"]}:
            raise ValueError("lost my glasses")
        return super().choose(view, moves, rng)
"""


def plain(name: str) -> str:
    """Return the text of a plain bot, by a path that is the same for every worker."""
    path = Path("mine.py").absolute()
    path.write_text(BOTS)
    return f"{path}:{name}"


def test_the_rows_are_those_of_a_local_run_by_address_and_by_scheduler_file(dask: Dask) -> None:
    arguments = (*RUN, "--games", "60")
    assert play(*arguments, "--out", "local").status == 0
    for out, where in (("address", dask.address), ("file", dask.file)):
        said = play(*arguments, "--out", out, "--scheduler", where)
        assert (said.status, said.err) == (0, "")
        assert_same_rows(out, "local")
        assert_holds(out, 60)
        assert manifest(out) == manifest("local")
    assert dask.workers() == {"one", "two"}


def test_races_are_played_by_a_cluster(dask: Dask) -> None:
    course = Path("lane.toml")
    course.write_text('name = "lane"\nlength = 4\nsupply = [3]\nobstacle = [2]\nroute = [4, 1]\n')
    arguments = ("--game", "velocity", "--bots", "greedy", "random", "saver", "--seed", "4", "--quiet", "--games", "24")
    arguments += ("--rule", f"course={course}")
    assert play(*arguments, "--out", "local").status == 0
    said = play(*arguments, "--out", "run", "--scheduler", dask.address)
    assert (said.status, said.err) == (0, "")
    assert_same_rows("run", "local")
    assert manifest("run") == manifest("local")


def test_chunks_of_many_games_come_back_whole(dask: Dask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "CHUNK_SECONDS", 0.2)
    monkeypatch.setattr(records, "SHARD_GAMES", 2_000)
    arguments = (*RUN, "--games", "6000")
    assert play(*arguments, "--out", "local").status == 0
    assert play(*arguments, "--out", "run", "--scheduler", dask.address).status == 0
    assert_same_rows("run", "local")
    assert_holds("run", 6000)


WITH_PLAIN_BOTS = {
    "plain": ["--bots", "Last", "greedy", "Last"],
    "faults": ["--bots", "Faulty", "random", "--on-fault", "forfeit", "--rule", "duel_target=12"],
    "round-robin": ["--table", "round-robin", "--players", "2", "--seating", "permutations", "--bots", *THREE, "Last"],
}


@pytest.mark.parametrize("name", ["plain", "faults", pytest.param("round-robin", marks=pytest.mark.slow)])
def test_plain_bots_and_their_faults_are_played_by_a_cluster(name: str, dask: Dask) -> None:
    words = [plain(word) if word in ("Last", "Faulty") else word for word in WITH_PLAIN_BOTS[name]]
    arguments = (*words, "--games", "24", "--seed", "2", "--quiet", "--out")
    assert play(*arguments, "local", "--workers", "1").status == 0
    assert play(*arguments, "run", "--scheduler", dask.address).status == 0
    assert_same_rows("run", "local")
    assert frame("run")["fault"].any() == (name == "faults")


def test_a_local_run_is_gone_on_with_by_a_cluster_and_the_other_way_round(dask: Dask) -> None:
    assert play(*RUN, "--games", "60", "--out", "whole").status == 0
    there = ("--scheduler", dask.address)
    for out, first, then in (("a", (), there), ("b", there, ())):
        assert play(*RUN, "--games", "21", "--out", out, *first).status == 0
        assert play("--resume", "--games", "60", "--quiet", "--out", out, *then).status == 0
        assert_same_rows(out, "whole")
        assert_holds(out, 60)


def test_a_question_is_decided_at_the_same_deal(dask: Dask) -> None:
    arguments = (*RUN, "--until", "greedy>random", "--json")
    local = json.loads(play(*arguments, "--out", "local").out)
    said = json.loads(play(*arguments, "--out", "run", "--scheduler", dask.address).out)
    assert said["until"] == local["until"]
    assert_same_rows("run", "local")


def test_a_dry_run_asks_the_cluster_how_fast_it_is(dask: Dask) -> None:
    said = play(*RUN, "--games", "60", "--dry-run", "--json", "--scheduler", dask.address)
    assert (said.status, json.loads(said.out)["games"]) == (0, 60)
    assert json.loads(said.out)["games_per_second"] > 0


def test_a_bot_at_fault_is_named_as_in_a_local_run_and_the_deals_before_are_saved(dask: Dask) -> None:
    """But for those of the same chunk: the chunks of a cluster are longer."""
    arguments = ("--bots", plain("Raising"), "greedy", "random", "--games", "60", "--seed", "3", "--quiet")
    local = play(*arguments, "--workers", "1", "--out", "local")
    said = play(*arguments, "--out", "run", "--scheduler", dask.address)
    assert (local.status, said.status, local.err.count("\n"), said.err.count("\n")) == (1, 1, 1, 1)
    assert "lost my glasses" in said.err
    assert manifest("run")["cause"] == manifest("local")["cause"]
    games, at_most = manifest("run")["games_written"], manifest("local")["games_written"]
    assert 0 < games <= at_most
    assert f"; {games} games are safe in run; --resume goes on" in said.err
    assert_holds("run", games)
    assert frame("run").equals(frame("local").head(3 * games))


# Workers that die.


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_worker_that_is_killed_in_the_middle_costs_no_row(dask: Dask, number: signal.Signals) -> None:
    arguments = (*SLOW, "--games", "60", "--out")
    assert play(*arguments, "local").status == 0
    with dask.worker(f"mortal-{number}") as worker, started(*arguments, "run", "--scheduler", dask.address) as running:
        wait_for(lambda: any(Path("run").glob("games-*")), running)
        worker.send_signal(number)
        assert running.poll() is None
        finished = len([*Path("run").glob("games-*")])
        worker.wait(timeout=30)
        _, err = running.communicate(timeout=60)
    assert 0 < finished < 10
    assert (running.returncode, "Traceback" in err) == (0, False)
    assert_same_rows("run", "local")
    assert_holds("run", 60)


@pytest.mark.slow
def test_games_over_which_workers_die_again_and_again_are_named(tmp_path: Path) -> None:
    path = tmp_path / "deadly.py"
    path.write_text("""
import os

class Deadly:
    def choose(self, view, moves, rng):
        if view["col"] == 2 and "H50" in view["hand"]:
            os._exit(3)
        return moves[-1]
""")
    with (
        scheduler(tmp_path, DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="1") as dask,
        process([*WORKER, "--nanny", "--scheduler-file", dask.file], tmp_path / "log"),
    ):
        said = play(
            "--bots",
            f"{path}:Deadly",
            "greedy",
            "--games",
            "60",
            "--quiet",
            "--out",
            "run",
            "--scheduler",
            dask.address,
        )
    assert said.status == 1
    line = re.search(r"stopped: games? (\d+).*: 2 workers died of it; .*; ([\d,]+) games are safe in run", said.err)
    assert line is not None, said.err
    assert 0 <= int(line[1]) - int(line[2]) < 2
    assert "Traceback" not in said.err


@pytest.mark.slow
def test_a_run_whose_scheduler_is_killed_is_gone_on_with(tmp_path: Path) -> None:
    arguments = (*SLOW, "--games", "120", "--out")
    with (
        scheduler(tmp_path) as dask,
        process([*WORKER, "--no-nanny", "--scheduler-file", dask.file], tmp_path / "log"),
        started(*arguments, "run", "--scheduler", dask.address) as running,
    ):
        wait_for(lambda: any(Path("run").glob("games-*")), running)
        dask.scheduler.kill()
        _, err = running.communicate(timeout=120)
    assert running.returncode == 1
    games = manifest("run")["games_written"]
    assert f"; {games} games are safe in run; --resume goes on" in err
    assert "stopped: the scheduler is lost (" in err
    assert "Traceback" not in err, err
    assert_holds("run", games)
    assert play(*arguments, "run", "--resume").status == 0
    assert play(*arguments, "local").status == 0
    assert_same_rows("run", "local")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_run_and_leaves_the_cluster_as_it_was(dask: Dask, number: signal.Signals) -> None:
    arguments = (*SLOW, "--games", "1000000", "--out", "run", "--scheduler", dask.address)
    with started(*arguments) as running:
        wait_for(lambda: any(Path("run").glob("games-*")), running)
        running.send_signal(number)
        _, err = running.communicate(timeout=60)
    assert running.returncode == 128 + number
    games = manifest("run")["games_written"]
    assert err.splitlines()[-1].endswith(f"interrupted: {games} of 1,000,002 games are in run; --resume goes on")
    assert "Traceback" not in err
    assert_holds("run", games)
    assert play(*RUN, "--games", "6", "--out", "after", "--scheduler", dask.address).status == 0


# Workers that cannot play.

REFUSED_WORKERS = {
    "sources": (OTHER_SOURCES, "source hash 0123456789abcdef and rules version 1"),
    "rules": (OTHER_RULES, f"source hash {source_hash()} and rules version 99"),
}


@pytest.mark.parametrize("name", [pytest.param("rules", marks=pytest.mark.slow), "sources"])
def test_a_worker_that_would_play_otherwise_is_refused_with_both_named(dask: Dask, name: str) -> None:
    script, theirs = REFUSED_WORKERS[name]
    with dask.worker(f"other-{name}", script):
        said = play(*RUN, "--games", "60", "--out", "run", "--scheduler", dask.address)
    ours = f"source hash {source_hash()} and rules version {GAMES['velonimo'].rules_version}"
    assert_one_line(said, 1, "worker tcp://127.0.0.1:", f" plays with {theirs}; here it is {ours}")
    assert not Path("run").exists()


@pytest.mark.slow
def test_a_worker_with_edited_sources_is_refused(dask: Dask, tmp_path: Path) -> None:
    """With a copy of the package in which one remark is another."""
    package = Path(cluster.__file__).parent
    copied = tmp_path / "copy" / "velonimo_sim"
    shutil.copytree(package, copied, ignore=shutil.ignore_patterns("__pycache__"))
    with (copied / "bits.py").open("a") as file:
        file.write("\n# edited\n")
    script = f"import sys\n\nsys.path.insert(0, {str(copied.parent)!r})\n"
    with dask.worker("edited", script):
        said = play(*RUN, "--games", "60", "--out", "run", "--scheduler", dask.address)
    assert_one_line(said, 1, "worker tcp://127.0.0.1:", f"here it is source hash {source_hash()} and")
    assert said.err.count(source_hash()) == 1


@pytest.mark.slow
def test_a_worker_that_would_play_otherwise_and_joins_later_stops_the_run(dask: Dask) -> None:
    arguments = (*SLOW, "--games", "1000000", "--out", "run", "--scheduler", dask.address)
    with started(*arguments) as running:
        wait_for(lambda: any(Path("run").glob("games-*")), running)
        with dask.worker("late", OTHER_SOURCES):
            _, err = running.communicate(timeout=60)
    assert running.returncode == 1
    assert "plays with source hash 0123456789abcdef and rules version 1; here it is source hash " in err
    assert "Traceback" not in err
    assert_holds("run", manifest("run")["games_written"])


@pytest.mark.slow
def test_a_worker_without_the_package_is_refused(dask: Dask) -> None:
    with dask.worker("bare", NO_PACKAGE):
        said = play_apart(*RUN, "--games", "60", "--out", "run", "--scheduler", dask.address)
    assert_one_line(said, 1, f"--scheduler {dask.address}: a worker cannot load velonimo_sim (")
    assert not Path("run").exists()


def test_a_bot_that_the_workers_have_not_got_is_said_in_one_line(dask: Dask) -> None:
    """Its file is in the folder of the command; the workers have another one."""
    plain("Last")
    said = play(
        "--bots", "./mine.py:Last", "greedy", "--games", "6", "--quiet", "--out", "run", "--scheduler", dask.file
    )
    assert "mine.py" in said.err
    assert said.status in (1, 2)
    assert (said.err.count("\n"), "Traceback" in said.err) == (1, False)


# No cluster.


@contextmanager
def mute() -> Iterator[str]:
    """Yield the address of a port at which somebody listens who never says anything."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"tcp://127.0.0.1:{server.getsockname()[1]}"


@contextmanager
def closed() -> Iterator[str]:
    """Yield the address of a port at which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
    yield address


def test_ten_seconds_are_given_to_answer() -> None:
    assert cluster.ANSWER_SECONDS == 10


@pytest.mark.parametrize("kind", [mute, closed])
def test_a_scheduler_that_does_not_answer_is_said_in_one_line(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 1)
    with kind() as address:
        began = time.monotonic()
        said = play(*RUN, "--games", "6", "--out", "run", "--scheduler", address)
        assert 0.9 < time.monotonic() - began < 10
    assert_one_line(said, 1, f"--scheduler {address}: does not answer within 1 s")
    assert not Path("run").exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", [mute, closed])
def test_the_command_itself_waits_ten_seconds_for_a_scheduler(kind: Any) -> None:
    with kind() as address:
        began = time.monotonic()
        said = play_apart(*RUN, "--games", "6", "--out", "run", "--scheduler", address)
        assert 10 <= time.monotonic() - began < 20
    assert_one_line(said, 1, f"--scheduler {address}: does not answer within 10 s")
    assert not Path("run").exists()


def test_a_scheduler_without_workers_is_said_in_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 1)
    with scheduler(tmp_path) as empty:
        address = empty.address
        said = play(*RUN, "--games", "6", "--out", "run", "--scheduler", address)
    assert_one_line(said, 1, f"--scheduler {address}: has no workers within 1 s")
    assert not Path("run").exists()


@pytest.mark.parametrize(
    ("where", "status", "fragment"),
    [
        (
            "nowhere.json",
            2,
            "--scheduler nowhere.json: allowed is an address, such as tcp://HOST:8786, or a scheduler file",
        ),
        ("127.0.0.1", 2, "--scheduler 127.0.0.1: allowed is an address"),
        ("no-scheduler.json", 2, "--scheduler no-scheduler.json: is no scheduler file ("),
        ("other.json", 2, "--scheduler other.json: is no scheduler file ("),
        (".", 2, "--scheduler .: is no scheduler file ("),
        ("carrier-pigeon://coop", 1, "--scheduler carrier-pigeon://coop: does not answer"),
        ("", 2, "--scheduler"),
    ],
)
def test_what_is_no_scheduler_is_refused_in_one_line(
    where: str, status: int, fragment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster, "ANSWER_SECONDS", 1)
    Path("no-scheduler.json").write_text("no JSON")
    Path("other.json").write_text("{}")
    assert_one_line(play(*RUN, "--games", "6", "--out", "run", "--scheduler", where), status, fragment)
    assert not Path("run").exists()


def test_without_dask_a_cluster_is_refused_and_all_else_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    said = play(*RUN, "--games", "6", "--out", "run", "--scheduler", "tcp://127.0.0.1:8786")
    assert_one_line(said, 2, "--scheduler: needs Dask", "pip install", "velonimo_sim[dask]")
    assert not Path("run").exists()
    assert play(*RUN, "--games", "6", "--out", "run").status == 0


def test_a_local_run_loads_no_dask() -> None:
    script = SMALL.replace("leave_with(tournament.main)", "tournament.main()\nsys.exit('distributed' in sys.modules)")
    assert play_apart(*RUN, "--games", "6", "--out", "run", script=script).status == 0
