"""What the tests of whole runs share: playing them here or in a process of their own, and what they have left."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from velonimo_sim import tournament
from velonimo_sim.run_files import kinds_of

COMMAND = [sys.executable, "-m", "velonimo_sim.tournament"]
THREE = ("greedy", "random", "hold-hares")

GAME_KEYS = ["game_id", "seat"]
COL_KEYS = ["game_id", "col", "seat"]
KEYS = {"games": GAME_KEYS, "cols": COL_KEYS, "races": ["game_id"]}
"""By kind of row, the columns that name one."""

SMALL = """
import os
import sys
from velonimo_sim import match, records, tournament
from velonimo_sim.commands import leave_with

records.SHARD_GAMES, match.CHUNK_SECONDS = 6, 1e-9
leave_with(tournament.main)
"""
"""The command with chunks of a game, or a deal, and with shards of six games."""


class Said(NamedTuple):
    """How a command ended, and what it said."""

    status: int
    out: str
    err: str


def said_by(main: Callable[[list[str]], int], *arguments: str) -> Said:
    """Run a command in this process."""
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        status = main(list(arguments))
    return Said(status, out.getvalue(), err.getvalue())


def play(*arguments: str) -> Said:
    """Run the tournament command in this process."""
    return said_by(tournament.main, *arguments)


def play_apart(
    *arguments: str, script: str = SMALL, timeout: float = 300, environment: Mapping[str, str] | None = None
) -> Said:
    """Run the tournament command in a process of its own, with small shards if nothing else is said."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=timeout,
        env=None if environment is None else {**os.environ, **environment},
    )
    return Said(done.returncode, done.stdout, done.stderr)


@contextmanager
def started(*arguments: str, script: str = SMALL) -> Iterator[subprocess.Popen[str]]:
    """Let the tournament command run in a process of its own, which has ended when the block is left."""
    with subprocess.Popen(
        [sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def wait_for(
    happened: Callable[[], object], process: subprocess.Popen[Any] | None = None, seconds: float = 300
) -> None:
    """Look again and again until something has happened, for which the engine may have to be compiled first."""
    end = time.monotonic() + seconds
    while not happened():
        assert process is None or process.poll() is None, "the process has ended too early"
        assert time.monotonic() < end, "what was waited for has not happened"
        time.sleep(0.01)


def kill_when(happened: Callable[[], object], *arguments: str, script: str = SMALL) -> None:
    """Start the tournament command and kill it, so that it can do nothing about it, when something has happened."""
    with started(*arguments, script=script) as process:
        wait_for(happened, process)
        process.kill()
        assert process.wait(timeout=60) == -signal.SIGKILL


def killed_everywhere(*arguments: str) -> list[dict[str, Any]]:
    """Kill a run before each step that it takes with its files; check that ``--resume`` then makes it whole."""
    script = Path(__file__).parent / "kill_points.py"
    done = subprocess.run(
        [sys.executable, script, *arguments], stdout=subprocess.PIPE, text=True, check=True, timeout=300
    )
    lines: list[dict[str, Any]] = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["status"] for line in lines] == [-signal.SIGKILL] * (len(lines) - 1) + [0]
    for line in lines[:-1]:
        status, err = line["resumed"]
        assert status == 0, line
        assert all(" deleted" in word for word in err.splitlines()), line
    return lines


def frame(folder: str | Path, kind: str = "games") -> pd.DataFrame:
    """Return all rows of a run, in the order of their keys."""
    whole = pd.concat([pd.read_parquet(path) for path in sorted(Path(folder).glob(f"{kind}-*.parquet"))])
    whole["bot"] = whole["bot"].astype(str)
    return whole.sort_values(KEYS[kind], ignore_index=True)


def manifest(folder: str | Path) -> dict[str, Any]:
    """Return what ``run.json`` says."""
    content: dict[str, Any] = json.loads((Path(folder) / "run.json").read_text("utf-8"))
    return content


def contents(folder: str | Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    paths = (path for path in Path(folder).rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(paths)}


def assert_same_rows(a: str | Path, b: str | Path) -> None:
    """Check that two runs of a game have the same rows."""
    for kind in kinds_of(manifest(a)["game"]):
        pd.testing.assert_frame_equal(frame(a, kind), frame(b, kind))


def assert_holds(folder: str | Path, games: int, players: int = 3) -> None:
    """Check that a run holds the games 0 to ``games - 1``, each of them whole and once, and nothing half done."""
    of_games, of_cols = frame(folder), frame(folder, "cols")
    assert of_games["game_id"].tolist() == np.repeat(np.arange(games), players).tolist()
    assert of_games["seat"].tolist() == list(range(players)) * games
    assert of_cols.groupby(GAME_KEYS)["points"].sum().tolist() == of_games["total"].tolist()
    assert not of_cols.duplicated(COL_KEYS).any()
    assert not [path.name for path in Path(folder).iterdir() if path.name.startswith("_")]


def assert_one_line(said: Said, status: int, *fragments: str) -> None:
    """Check that a command said one line and did nothing else."""
    assert (said.status, said.out, said.err.count("\n")) == (status, "", 1), said
    assert "Traceback" not in said.err
    assert all(fragment in said.err for fragment in fragments), said.err
