"""``python -m velonimo_sim.replay FILE…``: plays recorded games again and checks every fact in them.

A file is JSON Lines, one game a line, plain or compressed with gzip.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from velonimo_sim.commands import EXIT_FAULT, EXIT_INTERRUPTED, EXIT_USAGE, OneLineParser, leave_with, say
from velonimo_sim.errors import CorruptDataError, UsageError
from velonimo_sim.game_records import read_records
from velonimo_sim.velonimo.rules import RuleSet

COMMAND = "velonimo_sim.replay"


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
    told = [f"{games} games, {events} events, all facts hold"] if games else []
    told += [f"{skipped} games with Legends skipped"] if skipped else []
    print(f"{path}: {'; '.join(told)}", flush=True)
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
