"""How fast is the engine? On one pinned core, as ratios to plain C that plays the same games beside it; then on two.

    python experiments/speed/run.py [--runs 5] [--seconds 1.0] [--json]

Needs gcc for the ratios to the yardstick ``playouts.c``; without it they are left out. Everything is the median of
alternating runs. Progress goes to stderr, the result to stdout.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import kernel
from velonimo_sim.game import GAMES
from velonimo_sim.loop import Stop
from velonimo_sim.schedule import make_schedule
from velonimo_sim.table import Table
from velonimo_sim.velonimo.state import STATE, new_state
from velonimo_sim.workers import MAX_CHUNK_GAMES

HERE = Path(__file__).parent
WAYS = {"random": ("list", "table"), "greedy": ("greedy",)}
"""For each bot the ways of the yardstick to compare it with."""
MANY_GAMES = 1_000_000
FEW_GAMES = 100_000
TRACED_GAMES = 500
"""Games in which moves are counted."""
LONG_GAMES = 5_000_000
"""So many that the start of a command counts for little."""


def say(text: str) -> None:
    """Report progress."""
    print(text, file=sys.stderr, flush=True)


def pin_to_one_core() -> None:
    """Keep this process and its children on one core, where the system can do that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def build_yardstick(folder: Path) -> Path | None:
    """Compile ``playouts.c``; None where there is no gcc."""
    if shutil.which("gcc") is None:
        say("no gcc: the ratios to the yardstick are left out")
        return None
    program = folder / "playouts"
    subprocess.run(["gcc", "-O3", "-march=native", "-o", program, HERE / "playouts.c"], check=True)
    return program


class Loop:
    """The loop that the tournament uses, without files: chunks of games by one thread into the same buffers."""

    def __init__(self, bot: str, players: int, name: str = "velonimo") -> None:
        game = GAMES[name]
        rules = game.rule_set.official()
        seatings = make_schedule([bot] * players, players).seatings
        self.table: Table = game.open_table([game.parse_bot(bot)], rules, seatings, 42)
        self.game_rows = np.zeros(MAX_CHUNK_GAMES * players, game.game_row)
        self.detail_rows = np.zeros(MAX_CHUNK_GAMES * game.most_detail_rows(rules, players), game.detail_row)

    def seconds(self, games: int) -> float:
        """Return how long it takes to play so many games."""
        began = time.perf_counter()
        for first in range(0, games, MAX_CHUNK_GAMES):
            self.table.play(first, min(MAX_CHUNK_GAMES, games - first), self.game_rows, self.detail_rows)
        return time.perf_counter() - began

    def decisions_a_game(self) -> float:
        """Return how many moves a game has, on average."""
        loops = (
            loop for game in range(TRACED_GAMES) for loop in self.table.trace(game, self.game_rows, self.detail_rows)
        )
        return sum(loop["stopped"] == Stop.MOVED for loop in loops) / TRACED_GAMES

    def games_for(self, seconds: float) -> int:
        """Return about how many games take so many seconds."""
        self.seconds(MAX_CHUNK_GAMES)
        return max(MAX_CHUNK_GAMES, int(seconds / self.seconds(5 * MAX_CHUNK_GAMES) * 5 * MAX_CHUNK_GAMES))


def yardstick_rate(program: Path, players: int, way: str, games: int) -> float:
    """Return the games per second of the yardstick."""
    output = subprocess.run([program, str(players), way, str(games)], check=True, capture_output=True, text=True).stdout
    return float(json.loads(output)["games_per_s"])


def measure_loops(program: Path | None, runs: int, seconds: float) -> list[dict[str, Any]]:
    """Measure the loop against the yardstick, bot by bot and player count by player count."""
    results = []
    for bot, ways in WAYS.items():
        for players in (3, 4, 5):
            say(f"{bot} x {players}: {runs} alternating runs")
            loop = Loop(bot, players)
            games = loop.games_for(seconds)
            rates: dict[str, list[float]] = {name: [] for name in ("engine", *(ways if program else ()))}
            for _ in range(runs):
                rates["engine"].append(games / loop.seconds(games))
                if program:
                    for way in ways:
                        rates[way].append(yardstick_rate(program, players, way, games))
            medians = {name: median(values) for name, values in rates.items()}
            ratios = {way: medians["engine"] / rate for way, rate in medians.items() if way != "engine"}
            results.append({"bot": bot, "players": players, "games_per_s": medians, "ratios": ratios})
    return results


def measure_games(runs: int, seconds: float) -> list[dict[str, Any]]:
    """Measure the decisions of ``random`` a second in both games, one beside the other, by number of players."""
    results = []
    for players in (3, 4, 5):
        say(f"random x {players} in both games: {runs} alternating runs")
        loops = {name: Loop("random", players, name) for name in GAMES}
        games = {name: loop.games_for(seconds) for name, loop in loops.items()}
        decisions = {name: loop.decisions_a_game() for name, loop in loops.items()}
        rates: dict[str, list[float]] = {name: [] for name in loops}
        for _ in range(runs):
            for name, loop in loops.items():
                rates[name].append(games[name] * decisions[name] / loop.seconds(games[name]))
        medians = {name: median(values) for name, values in rates.items()}
        ratio = medians["velocity"] / medians["velonimo"]
        results.append({"players": players, "decisions_per_s": medians, "velocity_to_velonimo": ratio})
    return results


def run_tournament(arguments: Sequence[str], environment: dict[str, str] | None = None) -> tuple[float, int]:
    """Run the whole command into a folder that is thrown away; return its seconds and its peak memory in KiB."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "velonimo_sim.tournament", "--quiet", "--json", "--out", f"{folder}/run"]
        began = time.perf_counter()
        child = subprocess.Popen(
            [*command, *arguments], stdout=subprocess.DEVNULL, env={**os.environ, **(environment or {})}
        )
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise subprocess.CalledProcessError(child.returncode, command)
        return time.perf_counter() - began, usage.ru_maxrss


def four_seats(bot: str, games: int, workers: int = 1) -> list[str]:
    """Return the arguments of a 4-player tournament of one bot."""
    return ["--bots", bot, bot, bot, bot, "--games", str(games), "--workers", str(workers)]


def measure_starts(runs: int) -> dict[str, float]:
    """Measure from the start of the default command to its first games, with a cold and with a warm cache."""
    say("cold and warm start")
    default = ["--games", "4"]
    with tempfile.TemporaryDirectory() as cache:
        cold, _ = run_tournament(default, {"NUMBA_CACHE_DIR": cache})
        warm = median(run_tournament(default, {"NUMBA_CACHE_DIR": cache})[0] for _ in range(runs))
    return {"cold_start_s": cold, "warm_start_s": warm}


def measure_command(runs: int) -> dict[str, float]:
    """Measure the whole command, files and start included, as a share of its loop."""
    shares = {}
    for bot in WAYS:
        say(f"whole command, {bot} x 4: {runs} alternating runs of {MANY_GAMES:,} games")
        loop = Loop(bot, 4)
        pairs = [(loop.seconds(MANY_GAMES), run_tournament(four_seats(bot, MANY_GAMES))[0]) for _ in range(runs)]
        shares[f"command_to_loop_{bot}"] = median(pair[0] for pair in pairs) / median(pair[1] for pair in pairs)
    return shares


def measure_cores(cores: set[int], runs: int) -> dict[str, float]:
    """Measure the whole command on two cores, beside itself on one of them and beside the bare loop in two threads."""
    if len(cores) < 2:
        say("one core alone: nothing is measured on two")
        return {}
    one, two = {max(cores)}, set(sorted(cores)[-2:])
    say(f"one and two cores, greedy x 4: {runs} alternating runs of {LONG_GAMES:,} games")
    loops = [Loop("greedy", 4) for _ in two]
    seconds: dict[str, list[float]] = {"one core": [], "one worker": [], "two workers": [], "two loops": [], "loop": []}
    for _ in range(runs):
        for name, pinned, workers in (("one core", one, 1), ("one worker", two, 1), ("two workers", two, 2)):
            os.sched_setaffinity(0, pinned)
            seconds[name].append(run_tournament(four_seats("greedy", LONG_GAMES, workers))[0])
        seconds["loop"].append(loops[0].seconds(LONG_GAMES))
        began = time.perf_counter()
        with ThreadPoolExecutor(len(loops)) as pool:
            list(pool.map(lambda loop: loop.seconds(LONG_GAMES // len(loops)), loops))
        seconds["two loops"].append(time.perf_counter() - began)
    medians = {name: median(values) for name, values in seconds.items()}
    return {
        "command_two_cores_to_one": medians["one core"] / medians["two workers"],
        "command_to_loop_core_for_files": medians["loop"] / medians["one worker"],
        "command_to_loop_two_cores": medians["two loops"] / medians["two workers"],
    }


def measure_memory() -> dict[str, float]:
    """Measure the peak memory of a short and of a long run."""
    say(f"memory after {FEW_GAMES:,} and after {MANY_GAMES:,} games")
    _, few = run_tournament(four_seats("greedy", FEW_GAMES))
    _, many = run_tournament(four_seats("greedy", MANY_GAMES))
    return {"memory_100k_games_mb": few / 1024, "memory_1m_games_mb": many / 1024, "difference_mb": (many - few) / 1024}


@kernel
def _clone_often(states: NDArray[np.void], times: int) -> int:
    for i in range(times):
        states[1 + i % (len(states) - 1)] = states[0]
    return times


def measure_clone(runs: int) -> dict[str, float]:
    """Measure how long a copy of a state takes."""
    states = np.zeros(65, STATE)
    states[0] = new_state(4)
    times = 10_000_000
    _clone_often(states, 1)

    def timed(work: Callable[[], object]) -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return {"clone_ns": median(timed(lambda: _clone_often(states, times)) for _ in range(runs)) / times * 1e9}


def print_result(result: dict[str, Any]) -> None:
    """Print the result for people."""
    print(f"{'bot':8} {'players':>7} {'games/s':>10}  ratio to the yardstick")
    for row in result["loops"]:
        ratios = ", ".join(f"{ratio:.2f} of {way}" for way, ratio in row["ratios"].items()) or "no gcc"
        print(f"{row['bot']:8} {row['players']:7} {row['games_per_s']['engine']:10,.0f}  {ratios}")
    print(f"{'random':8} {'players':>7} {'decisions/s':>11}  of VeloCity, and their ratio to those of Velonimo")
    for row in result["games"]:
        rate = row["decisions_per_s"]["velocity"]
        print(f"{'':8} {row['players']:7} {rate:11,.0f}  {row['velocity_to_velonimo']:.2f}")
    for name, value in result.items():
        if name not in ("loops", "games"):
            print(f"{name:30} {value:.2f}")


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description="Measure the speed of the engine on one core.")
    parser.add_argument("--runs", type=int, default=5, help="alternating runs of each measurement")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of one run of a loop")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    options = parser.parse_args()
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    pin_to_one_core()
    starts = measure_starts(options.runs)
    with tempfile.TemporaryDirectory() as folder:
        loops = measure_loops(build_yardstick(Path(folder)), options.runs, options.seconds)
    result = {
        "loops": loops,
        "games": measure_games(options.runs, options.seconds),
        **starts,
        **measure_command(options.runs),
        **measure_memory(),
        **measure_clone(options.runs),
        **measure_cores(cores, options.runs),
    }
    if options.json:
        print(json.dumps(result))
    else:
        print_result(result)


if __name__ == "__main__":
    main()
