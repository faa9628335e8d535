"""Many processes that start at once with an empty cache of compiled functions."""

import os
import subprocess
import time
from pathlib import Path

import pytest

from runs import COMMAND, THREE, assert_holds, assert_same_rows

PROCESSES = 8


@pytest.mark.slow
def test_processes_that_compile_at_once_into_one_cache_neither_crash_nor_spoil_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    arguments = [*COMMAND, "--bots", *THREE, "--games", "60", "--seed", "4", "--quiet", "--out"]
    began = time.monotonic()
    running = [
        subprocess.Popen(
            [*arguments, str(number)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        for number in range(PROCESSES)
    ]
    try:
        said = [process.communicate(timeout=900) for process in running]
    finally:
        for process in running:
            process.kill()
    compiling = time.monotonic() - began
    assert [(process.returncode, err) for process, (_, err) in zip(running, said, strict=True)] == [(0, "")] * PROCESSES
    assert_holds("0", 60)
    for number in range(1, PROCESSES):
        assert_same_rows(str(number), "0")
    files = {path: path.read_bytes() for path in Path("cache").rglob("*") if path.is_file()}
    assert any(path.suffix == ".nbc" for path in files)
    began = time.monotonic()
    done = subprocess.run([*arguments, "again"], capture_output=True, text=True, check=False, env=environment)
    loading = time.monotonic() - began
    assert (done.returncode, done.stderr) == (0, "")
    assert_same_rows("again", "0")
    assert {path: path.read_bytes() for path in Path("cache").rglob("*") if path.is_file()} == files, (
        "nothing is compiled"
    )
    assert loading < compiling / 4
