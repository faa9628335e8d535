"""Kills a tournament before every single step that it takes with its files, and goes on with what is left each time.

``python kill_points.py [--prepared DIR] ARGUMENT…`` plays the tournament of these arguments into the folders ``0``,
``1`` … here: the one in ``n`` is killed before its step n (the steps are counted over all its threads), and then gone
on with by ``--resume``. Prints one line of JSON a folder. The processes are forked from this one, which has compiled
the engine.
"""

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib import import_module
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import pyarrow.parquet as pq

from velonimo_sim import match, records, tournament

STEPS = ("open", "os.rename", "os.remove", "os.mkdir", "os.rmdir", "half of a file", "shutil.rmtree")
"""The events, most of them those of ``sys.addaudithook``, before which a run is killed."""


def _die_before(step: int, folder: Path) -> None:
    """Let this process be killed before its step, a change of something in the folder."""
    steps = count()

    def look(event: str, arguments: tuple[Any, ...]) -> None:
        if event not in STEPS or not isinstance(arguments[0], str | os.PathLike):
            return
        is_read = event == "open" and not arguments[2] & (os.O_WRONLY | os.O_RDWR)
        is_inside = folder in (path := Path(arguments[0]).absolute(), *path.parents)
        if is_inside and not is_read and next(steps) == step:
            os.kill(os.getpid(), signal.SIGKILL)

    write = pq.write_table

    def write_in_halves(table: Any, where: Path, **options: Any) -> None:
        write(table, where, **options)
        whole = where.read_bytes()
        os.truncate(where, len(whole) // 2)
        sys.audit("half of a file", str(where))
        os.truncate(where, len(whole))
        where.write_bytes(whole)

    records.pq.write_table = write_in_halves
    sys.addaudithook(look)


def _in_a_child(work: Callable[[], int], err: Path) -> tuple[int, str]:
    """Run something in a fork; return its status, negative for a signal, and its stderr."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        _become(work, err)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), err.read_text("utf-8")


def _become(work: Callable[[], int], err: Path) -> NoReturn:
    status = 70
    try:
        os.dup2(os.open(err, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), 2)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        status = work()
        sys.stderr.flush()
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


def _kill_everywhere(arguments: list[str], prepared: Path | None) -> None:
    again = [word for word in arguments if word not in ("--overwrite", "--resume")]

    def killed(step: int, folder: Path) -> int:
        _die_before(step, folder.absolute())
        return tournament.main([*arguments, "--out", str(folder)])

    for step in count():
        folder = Path(str(step))
        if prepared:
            shutil.copytree(prepared, folder)
        status, err = _in_a_child(lambda step=step, folder=folder: killed(step, folder), Path("err"))
        found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*")) if folder.exists() else []
        line: dict[str, Any] = {"folder": str(folder), "status": status, "err": err, "found": found}
        if status == -signal.SIGKILL:
            line["resumed"] = _in_a_child(
                lambda folder=folder: tournament.main([*again, "--resume", "--out", str(folder)]), Path("err")
            )
        sys.stdout.write(json.dumps(line) + "\n")
        if status != -signal.SIGKILL:
            return


def _get_ready(arguments: list[str]) -> None:
    """Compile the engine, and load in this process all that a run loads, so that its forks need not do so."""

    def modules_of_a_run() -> int:
        before = set(sys.modules)
        with TemporaryDirectory() as folder:
            status = tournament.main([*arguments, "--out", f"{folder}/run"])
        sys.stderr.write("\n".join(set(sys.modules) - before))
        return status

    with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
        tournament.main([*arguments, "--dry-run"])
    status, modules = _in_a_child(modules_of_a_run, Path("err"))
    assert status == 0, modules
    for module in modules.split():
        import_module(module)


if __name__ == "__main__":
    records.SHARD_GAMES, match.CHUNK_SECONDS = 6, 1e-9
    words = sys.argv[1:]
    folder_before = Path(words[1]) if words[0] == "--prepared" else None
    words = words[2:] if folder_before else words
    _get_ready([word for word in words if word not in ("--overwrite", "--resume")])
    _kill_everywhere(words, folder_before)
