"""The clock of kernels: it is the one that Python reads, and code that reads it can be kept on disk."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from velonimo_sim._clock import HAS_CLOCK, monotonic_ns
from velonimo_sim._jit import kernel

pytestmark = [pytest.mark.kernel, pytest.mark.skipif(not HAS_CLOCK, reason="kernels cannot read the clock here")]


@kernel
def now() -> int:
    """Return the time."""
    return monotonic_ns()


@kernel
def never_goes_back(times: int) -> bool:
    """Read the clock often."""
    last = monotonic_ns()
    for _ in range(times):
        time_now = monotonic_ns()
        if time_now < last:
            return False
        last = time_now
    return True


def test_it_is_the_clock_of_python() -> None:
    now()
    for _ in range(100):
        before, between, after = time.monotonic_ns(), now(), time.monotonic_ns()
        assert before <= between <= after


def test_it_never_goes_back() -> None:
    assert never_goes_back(10_000)


SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
import test_clock
test_clock.now()
print(sum(test_clock.now.stats.cache_hits.values()))
"""


def test_code_that_reads_the_clock_is_kept_on_disk(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-c", SCRIPT, str(Path(__file__).parent)]
    hits = [subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout for _ in "12"]
    assert hits == ["0\n", "1\n"]
