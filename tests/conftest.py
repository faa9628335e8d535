"""What the tests share: recorded games, and positions reached by random play."""

import gzip
import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import settings
from numpy.typing import NDArray

from velonimo_sim._jit import INTERPRETED, cache_folder
from velonimo_sim.bot.text import Bot
from velonimo_sim.game import GAMES
from velonimo_sim.rng import BOT, CHANCE, new_stream
from velonimo_sim.schedule import make_schedule
from velonimo_sim.velonimo.moves import parse_move
from velonimo_sim.velonimo.policies import BUILT_IN, parse_bot
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.state import State, clone, new_state, validate
from velonimo_sim.velonimo.step import apply, deal, lay_out_col
from velonimo_sim.velonimo.view import Phase

settings.register_profile("default", deadline=None, derandomize=True, max_examples=50)
settings.load_profile("default")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the tests in the background has them ignore Ctrl-C, and the commands that they start, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def _one_process_at_a_time(name: str) -> Iterator[None]:
    """Wait until no other process of the tests is within, where the system can do that."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (cache_folder() / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _compile_the_engines(worker: str) -> None:
    """Load the loop of each game, which is compiled by one process: each of two begins with another game."""
    games = [*GAMES]
    first = int(worker.removeprefix("gw")) % len(games)
    for game in games[first:] + games[:first]:
        with _one_process_at_a_time(game):
            import_module(f"velonimo_sim.{game}.playout")


if "PYTEST_XDIST_WORKER" in os.environ:
    _compile_the_engines(os.environ["PYTEST_XDIST_WORKER"])

DATA = Path(__file__).parent / "data"


def recorded_games(players: int) -> list[dict[str, Any]]:
    """Return the refereed games for a number of players."""
    with gzip.open(DATA / f"visible_{players}p.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def states_of_game(players: int, seed: int, rules: RuleSet | None = None, bot: str = "random") -> Iterator[State]:
    """Yield a copy of every state with a decision in a game that one bot plays in all seats."""
    state = new_state(players, rules)
    chosen = parse_bot(bot)
    scratch, choices, chance = chosen.scratch(), new_stream(seed, 0, BOT), new_stream(seed, 0, CHANCE)
    while state["view"]["phase"] != Phase.GAME_OVER:
        if state["view"]["phase"] == Phase.COL_OVER:
            deal(state, seed)
        yield clone(state)
        apply(state, np.uint64(chosen.policy.function(state["view"], scratch, choices)), chance)


def position(
    hands: list[str], moves: str = "", wearer: int | None = None, pile: str = "", taken: str = "", **options: object
) -> State:
    """Lay out a col, one text of cards a seat, and make moves, separated by commas."""
    state = new_state(len(hands), RuleSet(**options))
    if wearer is not None:
        state["view"]["wearer"] = wearer
    lay_out_col(state, [hand.split() for hand in hands], pile.split())
    for move in filter(None, moves.split(", ")):
        apply(state, parse_move(move), new_stream(0), taken.split() if move.startswith("swap") else None)
    assert validate(state) == []
    return state


SEARCHING = ("rollout", "ismcts", "champion", "cheater")
QUICK = "n=1,playout=greedy,width=2,endings=off" if INTERPRETED else "n=8"


def quick_bots() -> list[Bot]:
    """Return every bot of the house, those that search with few playouts."""
    weigh = dict.fromkeys(("rollout", "ismcts", "champion"), f",weigh={0 if INTERPRETED else 2}")
    return [parse_bot(f"{name}:{QUICK}{weigh.get(name, '')}" if name in SEARCHING else name) for name in BUILT_IN]


def thinks(bot: Bot) -> bool:
    """Whether a bot takes much longer for a decision than those that follow rules."""
    return bot.policy.name in (*SEARCHING, "exact")


def rotated_seatings(players: int) -> NDArray[np.int8]:
    """Return the seatings of so many different bots that move on one seat from game to game."""
    return make_schedule([str(bot) for bot in range(players)], players).seatings
