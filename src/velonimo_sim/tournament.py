"""``python -m velonimo_sim.tournament``: plays a tournament, leaves Parquet, prints who won.

Without arguments four bots play a short tournament of 4-player games.
"""

import argparse
import json
import re
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from velonimo_sim.analysis import change_records
from velonimo_sim.commands import EXIT_FAULT, EXIT_INTERRUPTED, EXIT_USAGE, exit_status_of, integer_in, leave_with, say
from velonimo_sim.definition import Tournament
from velonimo_sim.dry_run import plan_of, print_plan
from velonimo_sim.errors import BotError, CorruptDataError, UsageError, WorkerError, in_one_line, unknown_name
from velonimo_sim.game import game_of
from velonimo_sim.options import (
    COMMAND,
    FROM_PYTHON,
    MAX_WORKERS,
    options_from,
    parser,
    read_options,
    read_tournament,
    read_variant,
    tournament_from,
)
from velonimo_sim.results import as_json, print_changes, print_result
from velonimo_sim.resume import manifest_of
from velonimo_sim.run import Outcome, play, prepared
from velonimo_sim.run_files import BASE, VARIANT, is_run, is_unbegun
from velonimo_sim.schedule import TableKind
from velonimo_sim.workers import Workers, available_cores, local_workers


def _say(message: object) -> None:
    say(COMMAND, message)


# What is played, and where.


def _default_folder(options: argparse.Namespace) -> str:
    """Return the folder of a run for which none is named; others have a number behind that name."""
    return f"{game_of(options.game).name}-run"


def _folder_to_resume(options: argparse.Namespace) -> Path:
    """Return the folder named, or else the last of the default ones."""
    if options.out is not None:
        return Path(options.out)
    default = _default_folder(options)
    folders = [path for path in Path().glob(f"{default}*") if re.fullmatch(rf"{default}(-\d+)?", path.name)]
    if not folders:
        raise UsageError(f"--resume: there is no folder {default}; name one with --out")
    return max(folders, key=lambda path: int(path.name.removeprefix(default)[1:] or 1))


def _options_of_run(folder: Path) -> dict[str, Any]:
    """Return the options of a run that is gone on with; none if it was ended before it wrote anything."""
    if not folder.exists() or (folder.is_dir() and is_unbegun(folder)):
        return {}
    if (folder / BASE).is_dir():
        return _options_of_run(folder / BASE)
    manifest = manifest_of(folder)
    return options_from(manifest.get("options", {}), str(folder))


def _read(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return the options in force; ``out`` is the folder to go on with where there is one."""
    given = parser().parse_args(arguments)
    options = read_options(given, {})
    if options.resume and options.overwrite:
        raise UsageError("--resume --overwrite: allowed is one of them")
    if options.resume:
        folder = _folder_to_resume(options)
        run = _options_of_run(folder)
        options = read_options(given, run)
        if run.get("game", options.game) != options.game:
            raise UsageError(f"--resume {folder}: is a run of {run['game']}, and not of {options.game}")
        options.out = str(folder)
    return options


def _tournaments(options: argparse.Namespace) -> dict[str, Tournament]:
    """Return what is played, by the folder within the one of the run: one tournament, or two that are compared."""
    tournament = read_tournament(options)
    if not options.compare_rules:
        return {"": tournament}
    variant = replace(tournament, rules=read_variant(options))
    if variant.rules == tournament.rules:
        raise UsageError(f"--compare-rules {' '.join(options.compare_rules)}: are the rules of the run itself")
    variant.rules.to_record(variant.schedule.players)
    return {BASE: tournament, VARIANT: variant}


def _out(options: argparse.Namespace) -> Path:
    """Return the folder named, or else the first default one that is free."""
    if options.out is not None:
        return Path(options.out)
    default = _default_folder(options)
    if options.overwrite or not Path(default).exists():
        return Path(default)
    return next(path for number in count(2) if not (path := Path(f"{default}-{number}")).exists())


def _workers(options: argparse.Namespace, tournament: Tournament) -> Workers:
    """Return who plays a tournament, once all is compiled; before that, a scheduler has to answer."""
    number = available_cores()
    if options.workers is not None:
        number = integer_in(1, MAX_WORKERS, "--workers", options.workers)
    if options.scheduler is not None:
        from velonimo_sim.cluster import Cluster

        return Cluster(tournament.game, options.scheduler).take(tournament.work())
    return local_workers(tournament.work(), number)


# What is said beside the result.


def _announce(tournament: Tournament, options: argparse.Namespace) -> None:
    """Say how many tables there are, and how many games if that is not what was asked for."""
    if options.quiet:
        return
    schedule = tournament.schedule
    if tournament.table is TableKind.ROUND_ROBIN:
        _say(f"{schedule.words}, {tournament.deals:,} deals, {tournament.games:,} games")
    elif str(tournament.games) != options.games:
        _say(f"--games {options.games}: made {tournament.games:,}, whole deals of {schedule.games_per_deal:,} games")


def _say_what_is_odd(tournament: Tournament, outcome: Outcome, folder: Path) -> None:
    """Say who cheats, who was at fault, and why a run did not come to its end."""
    for bot in tournament.bots:
        if bot.sees_all:
            _say(f"bot {bot.text} cheats: it sees all")
    for line in outcome.standings.faults():
        _say(line)
    if outcome.status == "failed":
        _say(f"stopped: {outcome.cause}; {outcome.games_written:,} games are safe in {folder}; --resume goes on")
    elif outcome.status == "interrupted":
        _say(f"interrupted: {outcome.games_written:,} of {tournament.games:,} games are in {folder}; --resume goes on")


# From Python.


def run_tournament(
    out: Path | str,
    *,
    resume: bool = False,
    overwrite: bool = False,
    workers: int | None = None,
    quiet: bool = True,
    **options: Any,
) -> Outcome:
    """Play a tournament into a folder, as the command does; ``velonimo_sim.analysis.load`` reads it.

    Parameters
    ----------
    out : Path or str
        The folder of the run.
    resume, overwrite : bool
        Go on with a run that may be in the folder, or replace it.
    workers : int, optional
        Threads that play, or processes for plain Python; by default one a core.
    quiet : bool
        Show no progress.
    **options
        The options of the command, as a configuration file has them: ``game``, ``bots``, ``players``, ``games``,
        ``seed``, ``seating``, ``table``, ``rules``, ``rule={"tortoise_swap": "off"}`` and so on.

    Returns
    -------
    Outcome
        How it ended; ``standings.table()`` tells who won.

    Raises
    ------
    UsageError
        If an option is not possible, or the folder cannot be used.
    CorruptDataError
        If the run in the folder is damaged, or of another schema version.
    BotError
        If a bot was at fault, or a worker or the disk failed; what was played before is kept.
    KeyboardInterrupt
        After Ctrl-C; what was played is kept.

    Examples
    --------
    >>> run_tournament("my-run", bots=["advised", "greedy"], games=1000, seed=7)  # doctest: +SKIP
    """
    for name in options:
        if name not in FROM_PYTHON:
            raise unknown_name("option", name, FROM_PYTHON)
    tournament, folder = tournament_from(options), Path(out)
    number = available_cores() if workers is None else integer_in(1, MAX_WORKERS, "workers", str(workers))
    with prepared(tournament, folder, _say, resume, overwrite) as shards:
        outcome = play(tournament, local_workers(tournament.work(), number), folder, shards, _say, quiet)
    if outcome.status == "interrupted":
        raise KeyboardInterrupt
    if outcome.status == "failed":
        raise BotError(outcome.cause)
    return outcome


# The command.


def _command(arguments: Sequence[str] | None) -> int:
    options = _read(arguments)
    tournaments, out = _tournaments(options), _out(options)
    if options.dry_run:
        return _dry_run(tournaments, options)
    if options.compare_rules and out.is_dir() and is_run(out):
        raise UsageError(f"--compare-rules: {out} holds a run of one set of rules; name another folder with --out")
    _announce(next(iter(tournaments.values())), options)
    return _play(tournaments, out, options)


def _play(tournaments: dict[str, Tournament], out: Path, options: argparse.Namespace) -> int:
    """Play the tournaments one after the other, tell what came of them, and return the exit status."""
    results: dict[str, Any] = {}
    with ExitStack() as held:
        held.callback(_take_away_if_empty, out)
        # All folders are held before anything is played, so that none turns out unfit later.
        shards = {
            name: held.enter_context(prepared(tournament, out / name, _say, options.resume, options.overwrite))
            for name, tournament in tournaments.items()
        }
        for name, tournament in tournaments.items():
            workers = _workers(options, tournament)
            outcome = play(tournament, workers, out / name, shards[name], _say, bool(options.quiet))
            if options.json:
                results[name] = as_json(tournament, outcome, out / name)
            else:
                print(f"{name}:\n" if name else "", end="")
                print_result(tournament, outcome, out / name)
            _say_what_is_odd(tournament, outcome, out / name)
            if outcome.exit_status:
                break
        if not outcome.exit_status and len(tournaments) > 1:
            changes = change_records(out / BASE, out / VARIANT)
            if options.json:
                results["changes"] = changes
            else:
                print_changes(changes, tournament.game)
    if options.json:
        print(json.dumps(results.get("", results), allow_nan=False))
    return outcome.exit_status


def _take_away_if_empty(folder: Path) -> None:
    """Delete the folder of a comparison that did not come about."""
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _dry_run(tournaments: dict[str, Tournament], options: argparse.Namespace) -> int:
    plans = {}
    for name, tournament in tournaments.items():
        plans[name] = plan_of(tournament, _workers(options, tournament), _say)
        if not options.json:
            print(f"{name}:\n" if name else "", end="")
            print_plan(plans[name])
    if options.json:
        print(json.dumps(plans.get("", plans), allow_nan=False))
    return 0


@contextmanager
def _sigterm_like_ctrl_c() -> Iterator[None]:
    """Let SIGTERM unwind what was begun, as Ctrl-C does, until the run itself heeds both."""

    def leave(number: int, _frame: object) -> None:
        sys.exit(exit_status_of(number))

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    try:
        with _sigterm_like_ctrl_c():
            return _command(arguments)
    except (UsageError, CorruptDataError) as error:
        say(COMMAND, error)
        return EXIT_USAGE
    except (BotError, WorkerError) as error:
        say(COMMAND, error)
        return EXIT_FAULT
    except BrokenPipeError:
        raise
    except OSError as error:
        say(COMMAND, f"{error.filename}: {error.strerror}" if error.filename else in_one_line(error))
        return EXIT_USAGE
    except KeyboardInterrupt:
        say(COMMAND, "interrupted; files are whole, and --resume goes on")
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    leave_with(main)
