"""How strong are the bots? Duplicate deals, seats rotated, 95 % intervals.

    python experiments/010-ladder/run.py [ladder | curves | speed] [--only NAME ...] [--out FOLDER]

``ladder`` plays the rows of ``config.toml`` and prints them as a table; ``curves`` plays bots with growing budgets,
prints the result as CSV and draws it into the folder; ``speed`` measures on one core. Each row is a run in the folder,
and the same command goes on with what is missing. Progress goes to stderr, the result to stdout.
"""

import argparse
import csv
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import replace
from itertools import cycle, groupby
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from rows import COMMAND, Row, interval_text, play_row
from speed import print_speed

from velonimo_sim.commands import EXIT_FAULT, EXIT_INTERRUPTED, EXIT_USAGE, OneLineParser, integer_in, leave_with, say
from velonimo_sim.errors import BotError, UsageError
from velonimo_sim.velonimo.policies import parse_bot
from velonimo_sim.workers import available_cores

HERE = Path(__file__).parent
WHAT = ("ladder", "curves", "speed")
MOST_DEALS = 1_000_000
LIMITS = {"deals": (1, MOST_DEALS), "seed": (0, 2**63 - 1), "workers": (1, 256), "runs": (1, 1_000)}
"""The least and the greatest value of the options that are integers."""

STYLES = (("#0072B2", "o", "-"), ("#D55E00", "s", "--"), ("#009E73", "^", ":"), ("#CC79A7", "D", "-."))
"""Colours of Okabe and Ito, which all eyes tell apart; in grey the markers and the lines do it."""


# What to play.


def read_config(path: Path) -> dict[str, Any]:
    """Return the configuration, its rows and the points of its curves as ``Row``."""
    try:
        config = tomllib.loads(path.read_text(encoding="utf-8"))
        return config | {"rows": [Row(**row) for row in config["row"]], "points": curve_points(config["curves"])}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path}: {error}") from None


def curve_points(curves: dict[str, Any]) -> list[Row]:
    """Return a row for each point of the budget curves."""
    return [
        Row(f"curve-{bot}-{budget}", f"{bot}:{curves['parameter']}={budget}", curves["against"], curves["deals"])
        for bot in curves["bots"]
        for budget in curves["budgets"]
    ]


def chosen(rows: Sequence[Row], options: argparse.Namespace) -> list[Row]:
    """Return the rows whose names begin as asked, with as many deals as asked."""
    for name in options.only:
        if not any(row.name.startswith(name) for row in rows):
            raise UsageError(f"no row is called {name}: there are {', '.join(row.name for row in rows)}")
    left = [row for row in rows if not options.only or row.name.startswith(tuple(options.only))]
    for text in {bot for row in left for bot in (row.bot, *row.against)}:
        parse_bot(text)
    return [replace(row, deals=max(1, round((options.deals or row.deals) * options.scale))) for row in left]


# The ladder.


def print_ladder(rows: Sequence[Row], seed: int, folder: Path, workers: int) -> None:
    """Play the rows and print them as a table."""
    print("| bot | against | players | deals | games | wins % (95 %) | asked |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        for bot, record in play_row(row, seed, folder, workers).items():
            cells = (
                bot,
                row.opponents,
                str(row.players),
                f"{row.deals:,}",
                f"{row.games:,}",
                interval_text(record),
                "" if row.asked is None else str(row.asked),
            )
            print(f"| {' | '.join(cells)} |", flush=True)


# The curves.


def print_curves(points: Sequence[Row], seed: int, folder: Path, workers: int) -> None:
    """Play the points of the curves, print them as CSV and draw them."""
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(("bot", "budget", "deals", "games", "win_share", "low", "high"))
    results = []
    for point in points:
        bot, _, budget = point.name.removeprefix("curve-").rpartition("-")
        (record,) = play_row(point, seed, folder, workers).values()
        interval = (record["win_share"], record["low"], record["high"])
        results.append((bot, int(budget), interval))
        table.writerow((bot, budget, point.deals, point.games, *(f"{number:.4f}" for number in interval)))
        sys.stdout.flush()
    path = folder / "curves.png"
    draw_curves(results, points[0]).savefig(path, dpi=150)
    say(COMMAND, f"drawn: {path}")


def draw_curves(results: Sequence[tuple[str, int, tuple[float, float, float]]], point: Row) -> Figure:
    """Return the figure of the budget curves, of which one point tells who played."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.add_subplot()
    curves = groupby(results, key=lambda result: result[0])
    for (bot, curve), (colour, marker, line) in zip(curves, cycle(STYLES), strict=False):
        _, budgets, intervals = zip(*curve, strict=True)
        shares, lows, highs = 100 * np.array(intervals).T
        errors = [shares - lows, highs - shares]
        axes.errorbar(budgets, shares, errors, color=colour, marker=marker, linestyle=line, capsize=3, label=bot)
    axes.axhline(100 / point.players, color="0.6", linewidth=1, zorder=0, label="a fair share")
    axes.set_xscale("log", base=2)
    ticks = sorted({budget for _, budget, _ in results})
    axes.set_xticks(ticks, [str(budget) for budget in ticks])
    axes.set_xlabel("playouts or iterations a decision")
    axes.set_ylabel("wins, %, with 95 % intervals")
    axes.set_title(f"Against {point.opponents}, {point.players} players; {point.games:,} games a point")
    axes.legend()
    return figure


# The command.


def read_options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the command's options."""
    parser = OneLineParser(prog=COMMAND, description="Measure how strong and how fast the bots are.")
    parser.add_argument("what", nargs="?", choices=WHAT, default="ladder")
    parser.add_argument("--only", nargs="+", metavar="NAME", default=[], help="rows whose names begin so")
    parser.add_argument("--deals", metavar="N", help="deals of every row")
    parser.add_argument("--scale", metavar="F", type=float, default=1.0, help="so many times as many deals")
    parser.add_argument("--seed", metavar="N", help="root of all chance")
    parser.add_argument("--workers", metavar="N", default=available_cores(), help="threads; one a core by default")
    parser.add_argument("--runs", metavar="N", default=5, help="alternating runs of each measurement of speed")
    parser.add_argument("--config", metavar="FILE", type=Path, default=HERE / "config.toml", help="the rows")
    parser.add_argument("--out", metavar="FOLDER", type=Path, default=HERE / "out", help="where the runs are kept")
    options = parser.parse_args(arguments)
    for name, (low, high) in LIMITS.items():
        if getattr(options, name) is not None:
            setattr(options, name, integer_in(low, high, f"--{name}", getattr(options, name)))
    if not 0 < options.scale <= MOST_DEALS:
        raise UsageError(f"--scale {options.scale}: allowed is a number above 0, up to {MOST_DEALS}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Play or measure what is asked for; return the exit status."""
    try:
        options = read_options(arguments)
        config = read_config(options.config)
        seed = config["seed"] if options.seed is None else options.seed
        if options.what == "ladder":
            print_ladder(chosen(config["rows"], options), seed, options.out, options.workers)
        elif options.what == "curves":
            print_curves(chosen(config["points"], options), seed, options.out, options.workers)
        else:
            print_speed(config["speed"], seed, options.runs)
    except UsageError as error:
        say(COMMAND, error)
        return EXIT_USAGE
    except (BotError, OSError) as error:
        say(COMMAND, error)
        return EXIT_FAULT
    except KeyboardInterrupt:
        say(COMMAND, "stopped; the same command goes on")
        return EXIT_INTERRUPTED
    return 0


if __name__ == "__main__":
    leave_with(main)
