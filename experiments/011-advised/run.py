"""What the bot ``advised`` rests on, measured: the plays that stand, and what each piece of advice is worth.

    python experiments/011-advised/run.py [stand | switches]

``stand`` prints the two tables of ``policies/stand.py`` as they stand there; ``switches`` prints the wins with each
switch alone and left out. Progress goes to stderr, the result to stdout.
"""

import argparse
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import kernel
from velonimo_sim.bits import integer
from velonimo_sim.commands import EXIT_INTERRUPTED, EXIT_USAGE, OneLineParser, integer_in, leave_with, say
from velonimo_sim.errors import UsageError
from velonimo_sim.rng import BOT, CHANCE, STREAM, open_stream
from velonimo_sim.velonimo.moves import Kind, kind_of
from velonimo_sim.velonimo.policies.advised import ALL_ADVICE, SWITCHES, advise
from velonimo_sim.velonimo.policies.stand import SITUATIONS, situation_of
from velonimo_sim.velonimo.state import new_state
from velonimo_sim.velonimo.step import deal_col, step
from velonimo_sim.velonimo.view import Phase
from velonimo_sim.workers import available_cores

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "010-ladder"))
from rows import Row, interval_text, play_row  # noqa: E402

COMMAND = "advised"
VALUES = 100
"""Values of plays that are told apart; the last stands for all above."""
COLUMNS = [[10 * tens + ones for tens in range(first, first + 3) for ones in range(8)] for first in (0, 3)]
"""The values of the two tables."""


# The plays that stand.


def print_stand(seed: int, players: Sequence[int], games: int) -> None:
    """Print the share of plays that stand, by situation and value, in percent."""
    plays, stood = np.zeros((2, SITUATIONS, VALUES), np.int64)
    for count in players:
        say(COMMAND, f"{games:,} games by {count} players")
        count_plays(np.array([new_state(count)]), np.zeros(3, STREAM), seed, games, plays, stood)
    shares = np.array([rising_shares(*counts) for counts in zip(plays, stood, strict=True)])
    print(stand_text(shares))


@kernel
def count_plays(
    start: NDArray[np.void],
    streams: NDArray[np.void],
    seed: int,
    games: int,
    plays: NDArray[np.int64],
    stood: NDArray[np.int64],
) -> None:
    """Add the plays of games of ``advised`` against itself, and those that stood, by situation and value."""
    states = start.copy()
    for game in range(games):
        states[0] = start[0]
        _count_plays_of_game(states, streams, seed, game, plays, stood)


@kernel
def _count_plays_of_game(
    states: NDArray[np.void],
    streams: NDArray[np.void],
    seed: int,
    game: int,
    plays: NDArray[np.int64],
    stood: NDArray[np.int64],
) -> None:
    """Play a game; a play counts when it is beaten or stands, and not at all if the col ends with it."""
    state, chance, choices, deal = states[0], streams[0], streams[1], streams[2]
    view, situation, value = state["view"], -1, 0
    open_stream(chance, seed, game, CHANCE)
    open_stream(choices, seed, game, BOT)
    while view["phase"] != Phase.GAME_OVER:
        if view["phase"] == Phase.COL_OVER:
            open_stream(deal, seed, game, integer(view["col"]))
            deal_col(state, deal)
        before, move = situation_of(view), advise(view, ALL_ADVICE, choices)
        step(state, move, chance)
        if kind_of(move) == Kind.PLAY:
            if situation >= 0:
                plays[situation, value] += 1
            situation, value = before, min(VALUES - 1, integer(view["beat"]))
        if view["phase"] >= Phase.COL_OVER:
            situation = -1
        elif view["beat"] == 0 and situation >= 0:
            plays[situation, value] += 1
            stood[situation, value] += 1
            situation = -1


def rising_shares(plays: NDArray[np.int64], stood: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the shares that never fall with the value and are nearest to those counted; 0 below the first value seen.

    A value that was not seen has the share of the one before.
    """
    seen = plays > 0
    shares = np.zeros(len(plays))
    shares[seen] = isotonic(stood[seen] / plays[seen], plays[seen])
    return np.maximum.accumulate(shares)


def isotonic(means: Sequence[float], weights: Sequence[float]) -> NDArray[np.float64]:
    """Return the numbers that never fall and have the least weighted squares of differences to ``means``.

    Neighbours in the wrong order are pooled (Ayer and others, "An empirical distribution function for sampling with
    incomplete information", 1955).
    """
    blocks: list[tuple[float, float, int]] = []
    for mean, weight in zip(means, weights, strict=True):
        block = (float(mean), float(weight), 1)
        while blocks and blocks[-1][0] > block[0]:
            block = _pooled(blocks.pop(), block)
        blocks.append(block)
    return np.repeat([mean for mean, _, _ in blocks], [size for _, _, size in blocks])


def _pooled(a: tuple[float, float, int], b: tuple[float, float, int]) -> tuple[float, float, int]:
    """Return two blocks, which are mean, weight and size, as one."""
    weight = a[1] + b[1]
    return (a[0] * a[1] + b[0] * b[1]) / weight, weight, a[2] + b[2]


def stand_text(shares: NDArray[np.float64]) -> str:
    """Return the shares in percent in the form of ``stand.py``."""
    tables = []
    for name, values in zip(("_PERCENT_BELOW_30", "_PERCENT_FROM_30"), COLUMNS, strict=True):
        lines = [" ".join(f"{round(100 * share):3}" for share in line) for line in shares[:, values]]
        tables.append("\n".join([f'{name} = """', *lines, '"""']))
    return "\n".join(tables)


# The switches.


def print_switches(seed: int, players: Sequence[int], deals: int, workers: int) -> None:
    """Print the wins of ``advised`` with each switch alone and left out, against ``greedy`` and against itself."""
    for opponent in ("greedy", "advised"):
        print(f"| advice | {' | '.join(f'{count} players' for count in players)} |")
        print(f"| --- |{' --- |' * len(players)}")
        for name, bot in versions().items():
            if bot != opponent:
                say(COMMAND, f"{name} against {opponent}")
                cells = [wins_text([bot, *[opponent] * (count - 1)], deals, seed, workers) for count in players]
                print(f"| {name} | {' | '.join(cells)} |", flush=True)
        print()


def versions() -> dict[str, str]:
    """Return the bot with all advice, with none, with each piece alone, and with each left out."""
    names = [switch.name for switch in SWITCHES]
    return {
        "all": "advised",
        "none": with_switches_off(names),
        **{f"{name} alone": with_switches_off([other for other in names if other != name]) for name in names},
        **{f"all but {name}": with_switches_off([name]) for name in names},
    }


def with_switches_off(names: Sequence[str]) -> str:
    """Return the text of the bot with some switches off."""
    return "advised:" + ",".join(f"{name}=off" for name in names)


def wins_text(bots: Sequence[str], deals: int, seed: int, workers: int) -> str:
    """Return the wins of the first bot in percent, with their interval."""
    with TemporaryDirectory() as folder:
        (record,) = play_row(Row("switches", bots[0], bots[1:], deals), seed, Path(folder), workers).values()
    return interval_text(record)


# The command.


def read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the command's options; what is not given stands in ``config.toml``."""
    config = tomllib.loads((HERE / "config.toml").read_text(encoding="utf-8"))
    parser = OneLineParser(prog=COMMAND, description="Measure what the bot advised rests on.")
    parser.add_argument("what", nargs="?", choices=("stand", "switches"), default="switches")
    parser.add_argument("--seed", metavar="N", default=config["seed"], help="root of all chance")
    parser.add_argument("--games", metavar="N", default=config["stand"]["games"], help="stand: games a player count")
    parser.add_argument(
        "--deals", metavar="N", default=config["switches"]["deals"], help="switches: deals a comparison"
    )
    parser.add_argument("--workers", metavar="N", default=available_cores(), help="threads; one a core by default")
    options = parser.parse_args(arguments)
    options.players = config["players"]
    options.seed = integer_in(0, 2**63 - 1, "--seed", options.seed)
    options.games = integer_in(1, 10**9, "--games", options.games)
    options.deals = integer_in(1, 10**6, "--deals", options.deals)
    options.workers = integer_in(1, 256, "--workers", options.workers)
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what is asked for; return the exit status."""
    try:
        options = read_options(arguments)
        if options.what == "stand":
            print_stand(options.seed, options.players, options.games)
        else:
            print_switches(options.seed, options.players, options.deals, options.workers)
    except UsageError as error:
        say(COMMAND, error)
        return EXIT_USAGE
    except KeyboardInterrupt:
        say(COMMAND, "stopped")
        return EXIT_INTERRUPTED
    return 0


if __name__ == "__main__":
    leave_with(main)
