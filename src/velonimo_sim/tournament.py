"""``python -m velonimo_sim.tournament``: plays a tournament, leaves Parquet, prints who won.

Without arguments four bots play a short tournament of 4-player games.
"""

import argparse
import json
import os
import platform
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from itertools import count
from operator import itemgetter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from velonimo_sim import __version__
from velonimo_sim.commands import (
    EXIT_FAULT,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    OneLineParser,
    exit_status_of,
    integer_in,
    leave_with,
    say,
)
from velonimo_sim.errors import BotError, UsageError
from velonimo_sim.faults import OnFault
from velonimo_sim.game import GAMES, BotLike, GameSpec, TableLike
from velonimo_sim.match import Match, available_cores, rotated_seatings
from velonimo_sim.progress import GamesProgress
from velonimo_sim.records import SCHEMA_VERSION, RunFolder, claim_run_folder, clear_run_folder
from velonimo_sim.summary import Tally
from velonimo_sim.velonimo.policies import BUILT_IN
from velonimo_sim.velonimo.rules import RuleSet

COMMAND = "velonimo_sim.tournament"
DEFAULT_PLAYERS = 4
DEFAULT_GAMES = 2_000
MAX_GAMES = 10**12
MAX_WORKERS = 256
MAX_TIME_LIMIT = 3_600_000
DEFAULT_FOLDER = "velonimo-run"


@dataclass(frozen=True)
class Tournament:
    """What a tournament is, apart from where it is written and how many cores play it.

    Parameters
    ----------
    game : GameSpec
        The game played.
    bots : tuple of bots
        One a seat; seats rotate from game to game.
    games : int
        Number of games.
    seed : int
        Root seed.
    rules : RuleSet
        The options in force.
    on_fault : OnFault
        What becomes of a game in which a bot is at fault.
    time_limit : int, optional
        Milliseconds that a decision may take.
    """

    game: GameSpec
    bots: tuple[BotLike, ...]
    games: int
    seed: int
    rules: RuleSet
    on_fault: OnFault = OnFault.RAISE
    time_limit: int | None = None

    def open_table(self) -> TableLike:
        """Return the table of the tournament.

        Raises
        ------
        UsageError
            If a bot cannot be compiled or made, or the table cannot be as it is asked for.
        """
        seatings = rotated_seatings(len(self.bots))
        return self.game.open_table(self.bots, self.rules, seatings, self.seed, self.on_fault, self.time_limit)

    def manifest(self) -> dict[str, Any]:
        """Return everything that is needed to repeat the run."""
        from velonimo_sim._jit import source_hash

        versions = {"python": platform.python_version(), "velonimo_sim": __version__}
        versions |= {name: version(name) for name in ("numpy", "numba", "pyarrow")}
        return {
            "schema_version": SCHEMA_VERSION,
            "game": self.game.name,
            "rules_version": self.game.rules_version,
            "deal_version": self.game.deal_version,
            "players": len(self.bots),
            "bots": [bot.text for bot in self.bots],
            "parameters": [bot.settings for bot in self.bots],
            "sees_all": [bot.sees_all for bot in self.bots],
            "on_fault": str(self.on_fault),
            "time_limit_ms": self.time_limit,
            "games": self.games,
            "seed": self.seed,
            "seating": "game g has seating g modulo players; in seating k bot b sits in seat (b + k) modulo players",
            "starter": "seat 0 starts col 1",
            "rules": self.rules.to_dict(),
            "source_hash": source_hash(),
            "versions": versions,
        }


@dataclass(frozen=True)
class Outcome:
    """How a tournament ended: ``status`` is finished, interrupted or failed; ``games_written`` are in the folder."""

    tally: Tally
    seconds: float
    status: str
    cause: str
    games_written: int
    exit_status: int


class StopRequest:
    """Remembers that the user asked to stop, until a moment at which nothing is half done."""

    def __init__(self) -> None:
        self.signal: int | None = None

    @contextmanager
    def heeded(self) -> Iterator[None]:
        """Take Ctrl-C and SIGTERM as requests to stop; a second one leaves at once."""
        before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, _frame: object) -> None:
        if self.signal is not None:
            # Threads within a long chunk cannot be stopped otherwise; finished files are whole at any moment.
            say(COMMAND, "stopped at once; finished files are whole")
            os._exit(exit_status_of(number))
        self.signal = number
        say(COMMAND, "stopping when the games under way are played; a second time stops at once")


def run(tournament: Tournament, table: TableLike, out: Path, workers: int, quiet: bool = True) -> Outcome:
    """Play a tournament into a folder claimed by ``claim_run_folder``; a run that is in it is replaced.

    Parameters
    ----------
    tournament : Tournament
        What to play.
    table : TableLike
        Its table.
    out : pathlib.Path
        Where the shards and the manifest go.
    workers : int
        Number of threads that play, or of processes where a bot is plain Python.
    quiet : bool
        Show no progress.

    Returns
    -------
    Outcome
        How it ended; what was played until then is in the folder.
    """
    game, players = tournament.game, len(tournament.bots)
    texts = [bot.text for bot in tournament.bots]
    most_col_rows = game.most_col_rows(tournament.rules, players)
    manifest = tournament.manifest()
    match = Match(game, table, players, most_col_rows)
    clear_run_folder(out)
    folder = RunFolder(out, game, texts, most_col_rows, manifest)
    tally, stop = Tally(texts), StopRequest()
    status, cause, exit_status = "finished", "", 0
    began = time.perf_counter()
    with stop.heeded(), GamesProgress(tournament.games, quiet) as progress:
        try:
            folder.write_manifest(manifest | {"status": "running"})
            with closing(match.chunks(tournament.games, workers)) as chunks:
                for chunk in chunks:
                    tally.add(chunk)
                    folder.add(chunk)
                    progress.advance(chunk.games)
                    if stop.signal is not None:
                        status, exit_status = "interrupted", exit_status_of(stop.signal)
                        break
        except (BotError, OSError) as error:
            status, cause, exit_status = "failed", _cause(error, folder), EXIT_FAULT
        try:
            folder.close_shard()
        except OSError as error:
            status, cause, exit_status = "failed", cause or _cause(error, folder), EXIT_FAULT
        try:
            folder.write_manifest(manifest | {"status": status, "cause": cause, "games_written": folder.games})
        except OSError as error:
            status, cause, exit_status = "failed", cause or _cause(error, folder), EXIT_FAULT
    return Outcome(tally, time.perf_counter() - began, status, cause, folder.games, exit_status)


def _cause(error: BotError | OSError, folder: RunFolder) -> str:
    if isinstance(error, BotError):
        return str(error)
    place = f"at game {folder.taken - 1}" if folder.taken else "before the first game"
    return f"{folder.path}: {error.strerror or error}, {place}"


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(
        prog=f"python -m {COMMAND}",
        description="Play a tournament of Velonimo and leave its games as Parquet.",
        epilog=f"bots: {', '.join(BUILT_IN)}; more about them: python -m velonimo_sim.bots\n\n"
        f"rule options: {', '.join(RuleSet().to_dict())}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--players", metavar="N", help="players at the table, 2-5 (default: one a bot, or 4)")
    parser.add_argument(
        "--bots", nargs="+", metavar="BOT", help="one a seat, such as: greedy hold-hares rollout:n=50 random"
    )
    parser.add_argument(
        "--games", metavar="N", default=str(DEFAULT_GAMES), help="number of games (default: %(default)s)"
    )
    parser.add_argument("--seed", metavar="N", default="0", help="root seed of all chance (default: %(default)s)")
    parser.add_argument(
        "--workers", metavar="N", help="threads that play, or processes for plain Python (default: one a core)"
    )
    parser.add_argument("--rules", metavar="PRESET", default="official", help="official or bga (default: %(default)s)")
    parser.add_argument(
        "--rule", action="append", default=[], metavar="OPTION=VALUE", help="change one rule option; may be repeated"
    )
    parser.add_argument(
        "--on-fault",
        choices=[str(way) for way in OnFault],
        default=str(OnFault.RAISE),
        help="a bot at fault ends last, moves at random this once, or ends the run (default: %(default)s)",
    )
    parser.add_argument("--time-limit", metavar="MS", help="milliseconds that a decision may take (default: any)")
    parser.add_argument(
        "--out", metavar="DIR", type=Path, help=f"folder for the files (default: {DEFAULT_FOLDER}, or the next free)"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace the run in the folder")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    return parser


def _read_rules(rule_set: type[RuleSet], preset: str, settings: Sequence[str]) -> RuleSet:
    options = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals:
            raise UsageError(f"--rule {setting}: allowed is OPTION=VALUE, such as tortoise_swap=off")
        if name in options:
            raise UsageError(f"--rule {setting}: {name} is given twice")
        options[name] = value
    return rule_set.preset(preset).with_options(options)


def _read_bots(game: GameSpec, texts: Sequence[str], players: str | None) -> tuple[BotLike, ...]:
    """Return one bot a seat: those named, or else the game's own for so many players."""
    bots = tuple(game.parse_bot(text) for text in texts)
    if players is None and bots:
        try:
            game.check_players(len(bots))
        except UsageError as error:
            raise UsageError(f"--bots names {len(bots)} bots, one a seat; {error}") from None
        return bots
    seats = DEFAULT_PLAYERS if players is None else _integer_or_text(players)
    game.check_players(seats)
    if bots and len(bots) != seats:
        raise UsageError(f"--bots names {len(bots)} bots: allowed is one a seat, {seats} with {seats} players")
    return bots or tuple(game.parse_bot(text) for text in game.default_bots[: int(seats)])


def _integer_or_text(text: str) -> int | str:
    """Return the integer, or the text itself for the check to refuse."""
    try:
        return int(text)
    except ValueError:
        return text


def _read_tournament(options: argparse.Namespace) -> Tournament:
    game = GAMES["velonimo"]
    bots = _read_bots(game, options.bots or (), options.players)
    rules = _read_rules(game.rule_set, options.rules, options.rule)
    rules.to_record(len(bots))
    games = integer_in(1, MAX_GAMES, "--games", options.games)
    seed = integer_in(0, 2**63 - 1, "--seed", options.seed)
    time_limit = None
    if options.time_limit is not None:
        time_limit = integer_in(1, MAX_TIME_LIMIT, "--time-limit", options.time_limit)
    return Tournament(game, bots, games, seed, rules, OnFault(options.on_fault), time_limit)


def _claim_folder(out: Path | None, overwrite: bool) -> tuple[Path, bool]:
    """Claim the folder named, or else the first default one that is free; return it and whether it is new."""
    if out is not None or overwrite:
        path = out or Path(DEFAULT_FOLDER)
        return path, claim_run_folder(path, overwrite)
    path = Path(DEFAULT_FOLDER)
    for number in count(2):
        if not path.exists():
            break
        path = Path(f"{DEFAULT_FOLDER}-{number}")
    return path, claim_run_folder(path, overwrite=False)


def _print_result(tournament: Tournament, outcome: Outcome, out: Path, as_json: bool) -> None:
    games = outcome.tally.games
    rows = [row | {"sees_all": bot.sees_all} for row, bot in zip(outcome.tally.table(), tournament.bots, strict=True)]
    rate = games / outcome.seconds if outcome.seconds else 0.0
    if as_json:
        result = {
            "status": outcome.status,
            "cause": outcome.cause,
            "games": games,
            "seconds": outcome.seconds,
            "games_per_second": rate,
            "out": str(out),
            "players": len(tournament.bots),
            "seed": tournament.seed,
            "bots": rows,
        }
        print(json.dumps(result))
        return
    table = Table(title=None, box=None, pad_edge=False)
    # Who sees all is not ranked with the others: it stands below them, and says so.
    rows = sorted(rows if games else [], key=itemgetter("sees_all"))
    any_fault = any(row["faults"] for row in rows)
    table.add_column("bot")
    for heading in ("games", "wins %", "95 % interval", "mean points", "mean place", "faults")[: 6 if any_fault else 5]:
        table.add_column(heading, justify="right")
    for row in rows:
        cells = [
            f"{row['games']:,}",
            f"{100 * row['win_share']:.2f}",
            f"{100 * row['low']:.2f} - {100 * row['high']:.2f}",
            f"{row['mean_points']:.3f}",
            f"{row['mean_place']:.3f}",
        ]
        name = f"{row['bot']} (sees all)" if row["sees_all"] else row["bot"]
        table.add_row(name, *cells, *([f"{row['faults']:,}"] if any_fault else []))
    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    console.print(table)
    print(f"{games:,} games in {outcome.seconds:.1f} s, {rate:,.0f} games/s")
    print(f"files: {out}/games-*.parquet, {out}/cols-*.parquet, {out}/run.json")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    out, is_new = Path(), False
    try:
        options = _parser().parse_args(arguments)
        tournament = _read_tournament(options)
        workers = (
            available_cores() if options.workers is None else integer_in(1, MAX_WORKERS, "--workers", options.workers)
        )
        table = tournament.open_table()
        out, is_new = _claim_folder(options.out, options.overwrite)
        outcome = run(tournament, table, out, workers, options.quiet)
    except UsageError as error:
        say(COMMAND, error)
        return EXIT_USAGE
    except KeyboardInterrupt:
        if is_new and not any(out.iterdir()):
            out.rmdir()
        say(COMMAND, "interrupted before a game was played")
        return EXIT_INTERRUPTED
    _print_result(tournament, outcome, out, options.json)
    for bot in tournament.bots:
        if bot.sees_all:
            say(COMMAND, f"bot {bot.text} cheats: it sees all cards")
    for line in outcome.tally.faults():
        say(COMMAND, line)
    if outcome.status == "failed":
        say(COMMAND, f"stopped: {outcome.cause}; {outcome.games_written:,} games are safe in {out}")
    elif outcome.status == "interrupted":
        say(COMMAND, f"interrupted: {outcome.games_written:,} of {tournament.games:,} games are in {out}")
    return outcome.exit_status


if __name__ == "__main__":
    leave_with(main)
