"""``python -m velonimo_sim.replay``: plays recorded games again and checks every fact in them.

``replay FILE…`` does so for files of game records: JSON Lines, one game a line, plain or compressed with gzip.
``replay --run DIR --game N`` plays a game of a run once more, checks it against its rows and leaves its record.
With ``--html OUT`` either leaves a page that steps through one game in a browser.
"""

import argparse
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.commands import (
    EXIT_FAULT,
    EXIT_INTERRUPTED,
    EXIT_USAGE,
    OneLineParser,
    integer_in,
    leave_with,
    say,
)
from velonimo_sim.definition import Tournament
from velonimo_sim.errors import BotError, CorruptDataError, UsageError
from velonimo_sim.game_records import game_name, module_of, read_records, write_records
from velonimo_sim.record_faults import RecordFaultError
from velonimo_sim.resume import differences_of, manifest_of
from velonimo_sim.run_files import rows_of_game

COMMAND = "velonimo_sim.replay"

Row: TypeAlias = dict[str, Any]
"""A row of a run by column."""


def verify_file(path: Path, preset: str | None) -> int:
    """Check a file, print one line if all holds and one for each game with a fault; return the exit status."""
    games = events = skipped = faults = 0
    try:
        for number, record in read_records(path):
            if record.get("legends"):
                skipped += 1
                continue
            games += 1
            try:
                parts = module_of(record, "record").replay(record, _rules_of(record, preset))
                events += sum("events" not in part for _, part, _ in parts)  # a part with events is a round
            except RecordFaultError as fault:
                faults += 1
                print(f"{path}:{number} {record['id']} {fault}", flush=True)
    except CorruptDataError as error:
        say(COMMAND, error)
        return EXIT_USAGE
    if games + skipped == 0:
        say(COMMAND, f"{path}:1: holds no record")
        return EXIT_USAGE
    if faults:
        return EXIT_FAULT
    told = [f"{games} games, {events} events, all facts hold"] if games else []
    told += [f"{skipped} games with Legends skipped"] if skipped else []
    print(f"{path}: {'; '.join(told)}", flush=True)
    return 0


def show_game(paths: Sequence[Path], game_id: str, preset: str | None) -> int:
    """Print one game move by move; return the exit status."""
    place, record = _game_of_id(paths, game_id)
    try:
        for line in module_of(record, "narrate").narrate(record, _rules_of(record, preset)):
            print(line)
    except RecordFaultError as fault:
        print(f"{place} {record['id']} {fault}")
        return EXIT_FAULT
    return 0


def write_page(paths: Sequence[Path], game_id: str | None, preset: str | None, html: Path) -> int:
    """Write the page of one game, by its id or else the first; return the exit status."""
    place, record, others = _first_game(paths) if game_id is None else (*_game_of_id(paths, game_id), 0)
    _check_has_pages(game_name(record), html)
    if others:
        say(COMMAND, f"the first of {1 + others} games is shown, {record['id']}; --show ID names another")
    try:
        _write_page_of(record, preset, html)
    except RecordFaultError as fault:
        print(f"{place} {record['id']} {fault}")
        return EXIT_FAULT
    return 0


def _game_of_id(paths: Sequence[Path], game_id: str) -> tuple[str, Row]:
    """Return the first game of that id, and its place: file and line."""
    for path in paths:
        for number, record in read_records(path):
            if record.get("id") == game_id:
                _refuse_legends(f"--show {game_id}", record)
                return f"{path}:{number}", record
    raise UsageError(f"--show {game_id}: no such game in {', '.join(map(str, paths))}")


def _first_game(paths: Sequence[Path]) -> tuple[str, Row, int]:
    """Return the first game, its place, and how many others there are."""
    games = ((f"{path}:{number}", record) for path in paths for number, record in read_records(path))
    first = next(games, None)
    if first is None:
        raise CorruptDataError(f"{paths[0]}:1: holds no record")
    place, record = first
    _refuse_legends(place, record)
    return place, record, sum(1 for _ in games)


def _refuse_legends(name: str, record: Row) -> None:
    if record.get("legends"):
        raise UsageError(f"{name}: is a game with Legends, which is not played here")


def _check_has_pages(game: str, html: Path) -> None:
    if game != "velonimo":
        raise UsageError(f"--html {html}: pages are for games of velonimo, and this one is of {game}; see --show")


def _check_is_free(option: str, path: Path) -> None:
    """Raise unless a file can be made there, before anything is played or written."""
    try:
        if path.exists():
            raise UsageError(f"{option} {path}: exists; name another file")
        if not path.parent.is_dir():
            raise UsageError(f"{option} {path}: there is no folder {path.parent}")
    except OSError as error:
        raise UsageError(f"{option} {path}: cannot be written ({error.strerror})") from None


def _rules_of(record: Row, preset: str | None) -> Any:
    """Return the rules to play a record under: those of the preset, or else its own."""
    return module_of(record, "record_format").rules_of(record, preset)


def _write_page_of(record: Row, preset: str | None, html: Path) -> None:
    """Write the page of a game; a file of that name is whole at any moment."""
    from velonimo_sim.velonimo.replay_page import replay_page

    page = replay_page(record, _rules_of(record, preset))
    partial = html.with_name(f"{html.name}.partial")
    try:
        partial.write_text(page, encoding="utf-8")
        partial.replace(html)
    except OSError as error:
        with suppress(OSError):
            partial.unlink()
        raise UsageError(f"--html {html}: cannot be written ({error.strerror})") from None


def recreate_game(folder: Path, game: int, out: Path | None, html: Path | None) -> int:
    """Play a game of a run once more and check it against its rows; return the exit status.

    Its record is written to ``out``, its page to ``html``; if neither is named, the record is printed.
    """
    if html is not None and html == out:
        raise UsageError(f"--html {html}: is --out, too; name another file")
    run = manifest_of(folder)
    tournament = Tournament.of_manifest(run)
    if html is not None:
        _check_has_pages(tournament.game.name, html)
    recorded = rows_of_game(folder, tournament.schedule.players, game)
    differences = differences_of(run, tournament.identity())
    if differences:
        say(COMMAND, f"{folder}: was played with something else: {differences}")
    record, game_rows, detail_rows = tournament.game.recreate(tournament.work().table, game)
    faults = _faults("game", recorded["games"], _as_records(game_rows, run["bots"]))
    detail = tournament.game.detail
    faults += _faults(detail.removesuffix("s"), recorded[detail], _as_records(detail_rows, run["bots"]))
    for fault in faults:
        say(COMMAND, f"game {game}, {fault}")
    if out is not None:
        try:
            write_records(out, [record])
        except OSError as error:
            raise UsageError(f"--out {out}: cannot be written ({error.strerror})") from None
    if html is not None:
        _write_page_of(record, None, html)
    if out is None and html is None:
        print(json.dumps(record))
    if not faults:
        say(COMMAND, f"game {game} is as it was recorded")
    return EXIT_FAULT if faults else 0


def _faults(kind: str, recorded: Sequence[Row], found: Sequence[Row]) -> list[str]:
    """Return in which fields recorded rows are not what was found when the game was played again."""
    if len(recorded) != len(found):
        return [f"recorded are {len(recorded)} {kind} rows, played again it has {len(found)}"]
    return [
        f"{kind} row {number}: recorded is {name} {row[name]}, played again it is {again[name]}"
        for number, (row, again) in enumerate(zip(recorded, found, strict=True))
        for name in again
        if row[name] != again[name]
    ]


def _as_records(rows: NDArray[np.void], bots: Sequence[str]) -> list[Row]:
    """Return rows as they are read from Parquet."""
    names = rows.dtype.names or ()
    records = [dict(zip(names, row, strict=True)) for row in rows.tolist()]
    return [record | ({"bot": bots[record["bot"]]} if "bot" in record else {}) for record in records]


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(prog=f"python -m {COMMAND}", description="Play recorded games again and check every fact.")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="JSON Lines, plain or gzip")
    parser.add_argument(
        "--rules", metavar="PRESET", help="official, or bga for velonimo (default: the record's own, or else bga)"
    )
    parser.add_argument("--show", metavar="ID", help="print the game of that id move by move")
    parser.add_argument("--run", metavar="DIR", type=Path, help="play a game of a tournament's folder once more")
    parser.add_argument("--game", metavar="N", help="which one, by its game_id")
    parser.add_argument("--out", metavar="FILE", type=Path, help="write its record there (default: print it)")
    parser.add_argument("--html", metavar="OUT", type=Path, help="write a page that steps through the game there")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    try:
        options = _parser().parse_args(arguments)
        if (options.run is None) != (options.game is None):
            raise UsageError("--run DIR --game N: allowed is both or none of them")
        if options.run is not None and (options.files or options.show is not None):
            raise UsageError("--run DIR --game N: allowed is neither FILE nor --show with them")
        if options.run is None and options.out is not None:
            raise UsageError(f"--out {options.out}: goes with --run; a page is named by --html")
        if options.run is not None and options.rules is not None:
            raise UsageError(f"--rules {options.rules}: goes with FILE; a run has its own rules")
        for option, path in (("--out", options.out), ("--html", options.html)):
            if path is not None:
                _check_is_free(option, path)
        if options.run is not None:
            game = integer_in(0, 2**63 - 1, "--game", options.game)
            return recreate_game(options.run, game, options.out, options.html)
        if not options.files:
            raise UsageError("no FILE is named, and no --run")
        if options.html is not None:
            return write_page(options.files, options.show, options.rules, options.html)
        if options.show is not None:
            return show_game(options.files, options.show, options.rules)
        return max(verify_file(path, options.rules) for path in options.files)
    except (UsageError, CorruptDataError) as error:
        say(COMMAND, error)
        return EXIT_USAGE
    except BotError as error:
        say(COMMAND, error)
        return EXIT_FAULT
    except KeyboardInterrupt:
        say(COMMAND, "interrupted")
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    leave_with(main)
