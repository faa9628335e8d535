"""``python -m velonimo_sim.replay FILE…``: plays recorded games again and checks every fact in them.

A file is JSON Lines, one game a line, plain or compressed with gzip.
"""

import argparse
import gzip
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from velonimo_sim.commands import EXIT_FAULT, EXIT_INTERRUPTED, EXIT_USAGE, OneLineParser, leave_with, say
from velonimo_sim.errors import CorruptDataError, UsageError
from velonimo_sim.velonimo.rules import RuleSet

COMMAND = "velonimo_sim.replay"


def read_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield each line of a JSON Lines file with its number, counted from 1; blank lines are passed over.

    Raises
    ------
    CorruptDataError
        If the file cannot be read, or a line is no JSON; the message names file and line.
    """
    number = 0
    try:
        with path.open("rb") as raw:
            is_gzip = raw.read(2) == b"\x1f\x8b"
            raw.seek(0)
            for line in gzip.GzipFile(fileobj=raw) if is_gzip else raw:
                number += 1
                if line.strip():
                    yield number, json.loads(line)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise CorruptDataError(f"{path}:{number + 1}: the gzip data is damaged or cut off ({error})") from None
    except OSError as error:
        raise CorruptDataError(f"{path}:{number + 1}: cannot be read ({error.strerror or error})") from None
    except (ValueError, RecursionError) as error:
        raise CorruptDataError(f"{path}:{number}: is no JSON ({error})") from None


def read_records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each game of a file with its line number; games with Legends are yielded unchecked.

    Raises
    ------
    CorruptDataError
        If the file cannot be read, or a line is no record; the message names file and line.
    """
    from velonimo_sim.velonimo.record_format import check_format

    for number, record in read_lines(path):
        if not (isinstance(record, dict) and record.get("legends") is True):
            try:
                check_format(record)
            except CorruptDataError as error:
                raise CorruptDataError(f"{path}:{number}: {error}") from None
        yield number, record


def verify_file(path: Path, preset: str | None) -> int:
    """Check a file, print one line if all holds and one for each game with a fault; return the exit status."""
    from velonimo_sim.velonimo.record import RecordFaultError, replay
    from velonimo_sim.velonimo.record_format import rules_of

    games = events = skipped = faults = 0
    try:
        for number, record in read_records(path):
            if record["legends"]:
                skipped += 1
                continue
            games += 1
            try:
                events += sum("act" in part for _, part, _ in replay(record, rules_of(record, preset)))
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
    legends = f"; {skipped} games with Legends skipped" if skipped else ""
    print(f"{path}: {games} games, {events} events, all facts hold{legends}", flush=True)
    return 0


def show_game(paths: Sequence[Path], game_id: str, preset: str | None) -> int:
    """Print one game move by move; return the exit status."""
    from velonimo_sim.velonimo.narrate import narrate
    from velonimo_sim.velonimo.record import RecordFaultError
    from velonimo_sim.velonimo.record_format import rules_of

    for path in paths:
        for number, record in read_records(path):
            if record.get("id") != game_id:
                continue
            if record["legends"]:
                raise UsageError(f"--show {game_id}: is a game with Legends, which is not played here")
            try:
                for line in narrate(record, rules_of(record, preset)):
                    print(line)
            except RecordFaultError as fault:
                print(f"{path}:{number} {record['id']} {fault}")
                return EXIT_FAULT
            return 0
    raise UsageError(f"--show {game_id}: no such game in {', '.join(map(str, paths))}")


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(prog=f"python -m {COMMAND}", description="Play recorded games again and check every fact.")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="JSON Lines, plain or gzip")
    parser.add_argument("--rules", metavar="PRESET", help="official or bga (default: the record's own, or else bga)")
    parser.add_argument("--show", metavar="ID", help="print the game of that id move by move")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    try:
        options = _parser().parse_args(arguments)
        if options.rules is not None:
            RuleSet.preset(options.rules)
        if options.show is not None:
            return show_game(options.files, options.show, options.rules)
        return max(verify_file(path, options.rules) for path in options.files)
    except (UsageError, CorruptDataError) as error:
        say(COMMAND, error)
        return EXIT_USAGE
    except KeyboardInterrupt:
        say(COMMAND, "interrupted")
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    leave_with(main)
