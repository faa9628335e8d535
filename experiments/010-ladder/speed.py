"""How fast are playouts and decisions? Everything on one pinned core."""

import importlib.util
import json
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rows import COMMAND

from velonimo_sim._clock import monotonic_ns
from velonimo_sim._jit import kernel
from velonimo_sim.bits import integer
from velonimo_sim.commands import say
from velonimo_sim.game import GAMES
from velonimo_sim.loop import decide, policy_table
from velonimo_sim.rng import BOT, CHANCE, STREAM, Stream, new_stream, open_stream
from velonimo_sim.schedule import make_schedule
from velonimo_sim.velonimo.legal import legal_moves
from velonimo_sim.velonimo.policies import parse_bot
from velonimo_sim.velonimo.policies.base import POLICY, SCRATCH, Scratch
from velonimo_sim.velonimo.policies.search import play_out
from velonimo_sim.velonimo.rows import COL_ROW, GAME_ROW
from velonimo_sim.velonimo.rules import MAX_PLAYERS, RuleSet
from velonimo_sim.velonimo.state import STATE, clone, new_state
from velonimo_sim.velonimo.step import apply, deal, deal_col, step
from velonimo_sim.velonimo.view import Phase

PLAYERS = 4
GAMES_OF_STARTS = 25
"""The timed playouts start from every decision of so many games."""
PLAYOUTS_A_START = 20
YARDSTICK_GAMES = 50_000
TWIN_GAMES = 20_000
MOST_DECISIONS = 2_000
"""More than a game has."""

DECISION = np.dtype([("bot", "i8"), ("moves", "i8"), ("ns", "i8")])
"""Who decided, among how many legal moves, and how long it took."""


def print_speed(config: dict[str, Any], seed: int, runs: int) -> None:
    """Measure the speed of playouts and of decisions and print it as tables."""
    for text in (config["bot"], config["against"], *config["beside"], *config["playouts"]):
        parse_bot(text)
    engine_speed = load_engine_speed()
    engine_speed.pin_to_one_core()
    with tempfile.TemporaryDirectory() as folder:
        print_playouts(config["playouts"], engine_speed.build_yardstick(Path(folder)), seed, runs)
    print()
    print_decisions(config["bot"], config["against"], config["games"], seed)
    print()
    print_twins(seed, runs)
    print()
    print_beside(config["bot"], config["beside"], config["games"], seed)


def load_engine_speed() -> ModuleType:
    """Return the experiment that measures the engine beside plain C."""
    path = Path(__file__).parents[1] / "speed" / "run.py"
    spec = importlib.util.spec_from_file_location("engine_speed", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# Playouts.


def print_playouts(bots: Sequence[str], program: Path | None, seed: int, runs: int) -> None:
    """Print the decisions a second inside playouts, and their ratio to those of the yardstick, runs alternating."""
    starts = positions("advised", GAMES_OF_STARTS, seed)
    rates: dict[str, list[float]] = {bot: [] for bot in bots}
    rates_in_c: list[float] = []
    for run in range(runs):
        say(COMMAND, f"playouts: run {run + 1} of {runs}")
        for bot in bots:
            rates[bot].append(playout_rate(bot, starts, seed))
        if program:
            rates_in_c.append(yardstick_rate(program))
    print("| playouts by | decisions a second | ratio to `greedy` in C |")
    print("| --- | --- | --- |")
    for bot in bots:
        rate = median(rates[bot])
        print(f"| {bot} | {rate:,.0f} | {f'{rate / median(rates_in_c):.2f}' if program else 'no gcc'} |")


def positions(bot: str, games: int, seed: int) -> NDArray[np.void]:
    """Return every state with a decision in games that one bot plays in all seats."""
    chosen = parse_bot(bot)
    states = []
    for game in range(games):
        state, scratch = new_state(PLAYERS), chosen.scratch()
        choices, chance = new_stream(seed, game, BOT), new_stream(seed, game, CHANCE)
        while state["view"]["phase"] != Phase.GAME_OVER:
            if state["view"]["phase"] == Phase.COL_OVER:
                deal(state, seed, game)
            states.append(clone(state))
            apply(state, np.uint64(chosen.policy.function(state["view"], scratch, choices)), chance)
    return np.array(states)


def playout_rate(bot: str, starts: NDArray[np.void], seed: int) -> float:
    """Return the decisions a second of the playouts of the searching bots, with a bot to play on.

    How many decisions there are is counted in the same playouts, played by the bot itself.
    """
    searching, playing = parse_bot(f"rollout:playout={bot}"), parse_bot(bot)
    policies, ends = policy_table([playing.policy.function], POLICY), np.zeros((2, 1), STATE)
    decisions = count_decisions(policies, playing.scratch(), starts, ends[0], new_stream(seed))
    play_all_out(starts[:1], ends[1], searching.scratch(), new_stream(seed))
    began = time.perf_counter()
    play_all_out(starts, ends[1], searching.scratch(), new_stream(seed))
    seconds = time.perf_counter() - began
    assert ends[0].tobytes() == ends[1].tobytes(), f"playouts by {bot} are not those of the bot {bot}"
    return decisions / seconds


@kernel
def play_all_out(starts: NDArray[np.void], room: NDArray[np.void], scratch: Scratch, chance: Stream) -> None:
    """Play the col to its end from each state, several times."""
    for _ in range(PLAYOUTS_A_START):
        for i in range(len(starts)):
            room[0] = starts[i]
            play_out(room[0], scratch, chance)


@kernel
def count_decisions(
    policies: NDArray[np.void], scratch: Scratch, starts: NDArray[np.void], room: NDArray[np.void], chance: Stream
) -> int:
    """Do what ``play_all_out`` does and return how many decisions it takes."""
    decisions, state = 0, room[0]
    for _ in range(PLAYOUTS_A_START):
        for i in range(len(starts)):
            room[0] = starts[i]
            while state["view"]["phase"] < Phase.COL_OVER:
                step(state, decide(policies[0], state["view"], scratch, chance), chance)
                decisions += 1
    return decisions


def yardstick_rate(program: Path) -> float:
    """Return the decisions a second of the yardstick's way ``greedy``."""
    command = [str(program), str(PLAYERS), "greedy", str(YARDSTICK_GAMES)]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(json.loads(output)["decisions_per_s"])


# Decisions.


def print_decisions(bot: str, against: str, games: int, seed: int) -> None:
    """Print how long the decisions of a bot take among others."""
    say(COMMAND, f"decisions of {bot}: {games} games")
    decisions = timed_decisions([bot, *[against] * (PLAYERS - 1)], games, seed)
    decisions = decisions[decisions["bot"] == 0]
    print(f"| decisions of {bot}, ms | number | mean | median | 99th percentile | max |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, some in (("all", decisions), ("with a choice", decisions[decisions["moves"] > 1])):
        ms = some["ns"] / 1e6
        figures = (ms.mean(), np.median(ms), np.quantile(ms, 0.99), ms.max())
        print(f"| {name} | {len(ms):,} | {' | '.join(f'{figure:.3f}' for figure in figures)} |")


def print_twins(seed: int, runs: int) -> None:
    """Print how fast a bot of the house plays, and the same logic in a user's file, runs alternating."""
    texts = ("greedy", f"{Path(__file__).parent / 'twin.py'}:twin")
    tables = [
        GAMES["velonimo"].open_table(
            [parse_bot(text)], RuleSet(), make_schedule([text] * PLAYERS, PLAYERS).seatings, seed
        )
        for text in texts
    ]
    seconds: list[list[float]] = [[], []]
    for run in range(runs + 1):  # the first is to compile
        say(COMMAND, f"twins: run {run} of {runs}")
        for table, times in zip(tables, seconds, strict=True):
            game_rows = np.zeros(TWIN_GAMES * PLAYERS, GAME_ROW)
            col_rows = np.zeros(TWIN_GAMES * GAMES["velonimo"].most_detail_rows(RuleSet(), PLAYERS), COL_ROW)
            began = time.perf_counter()
            table.play(0, TWIN_GAMES, game_rows, col_rows)
            times.append(time.perf_counter() - began)
    of_house, of_user = (median(times[1:]) / TWIN_GAMES * 1e6 for times in seconds)
    print("| us a game, greedy of the house | the same in a user's file | speed of the user's |")
    print("| --- | --- | --- |")
    print(f"| {of_house:.2f} | {of_user:.2f} | {of_house / of_user:.3f} |")


def print_beside(bot: str, others: Sequence[str], games: int, seed: int) -> None:
    """Print how long fast bots take, among themselves and beside a searching bot."""
    print(f"| bot | ns a decision among itself | beside {bot} | ratio |")
    print("| --- | --- | --- | --- |")
    for other in others:
        say(COMMAND, f"{other} beside {bot}: {games} games")
        among, beside = (
            median_ns(timed_decisions([first, *[other] * (PLAYERS - 1)], games, seed)) for first in (other, bot)
        )
        print(f"| {other} | {among:.0f} | {beside:.0f} | {beside / among:.2f} |")


def median_ns(decisions: NDArray[np.void]) -> float:
    """Return the median time of the decisions with a choice of all bots but the first."""
    return float(np.median(decisions["ns"][(decisions["bot"] > 0) & (decisions["moves"] > 1)]))


def timed_decisions(texts: Sequence[str], games: int, seed: int) -> NDArray[np.void]:
    """Return all decisions of some games, the seats rotated."""
    bots = [parse_bot(text) for text in texts]
    policies, scratches = policy_table([bot.policy.function for bot in bots], POLICY), np.zeros(len(bots), SCRATCH)
    for bot, scratch in zip(bots, scratches, strict=True):
        bot.set_up(scratch)
    start, streams = np.array([new_state(len(bots))]), np.zeros(MAX_PLAYERS + 2, STREAM)
    room, noted = np.zeros(MOST_DECISIONS, DECISION), []
    for game in (0, *range(games)):  # the first time is to compile and to fill caches
        n = time_game(policies, scratches, start.copy(), streams, seed, game, room)
        noted.append(room[:n].copy())
    return np.concatenate(noted[1:])


@kernel
def time_game(
    policies: NDArray[np.void],
    scratches: NDArray[np.void],
    states: NDArray[np.void],
    streams: NDArray[np.void],
    seed: int,
    game: int,
    decisions: NDArray[np.void],
) -> int:
    """Play a game, bot b in seat (b + game) modulo players, and note its decisions; return how many there are."""
    state, moves, noted = states[0], np.empty(4096, np.uint64), 0
    view, players = state["view"], integer(state["view"]["players"])
    for seat in range(players):
        open_stream(streams[seat], seed, game, BOT + seat)
        scratches[seat]["used"] = 0
    open_stream(streams[MAX_PLAYERS], seed, game, CHANCE)
    while view["phase"] != Phase.GAME_OVER:
        if view["phase"] == Phase.COL_OVER:
            open_stream(streams[MAX_PLAYERS + 1], seed, game, integer(view["col"]))
            deal_col(state, streams[MAX_PLAYERS + 1])
        seat = integer(view["turn"])
        bot = (seat - game) % players
        decisions[noted]["bot"] = bot
        decisions[noted]["moves"] = legal_moves(view, moves)
        began = monotonic_ns()
        move = decide(policies[bot], view, scratches[bot], streams[seat])
        decisions[noted]["ns"] = monotonic_ns() - began
        noted += 1
        step(state, move, streams[MAX_PLAYERS])
    return noted
