"""Recorded games as files: JSON Lines, one game a line, plain or compressed with gzip."""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from velonimo_sim.errors import CorruptDataError
from velonimo_sim.velonimo.record_format import check_format


def read_lines(path: Path | str) -> Iterator[tuple[int, Any]]:
    """Yield what each line of a JSON Lines file holds, with its number from 1; blank lines are passed over.

    Raises
    ------
    CorruptDataError
        If the file cannot be read, or a line is no JSON; the message names file and line.
    """
    number = 0
    try:
        with Path(path).open("rb") as raw:
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


def read_records(path: Path | str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield each game of a file with its line number; games with Legends are yielded unchecked, as plain dicts.

    The others print as a story and draw themselves in a notebook, see ``velonimo.draw``.

    Raises
    ------
    CorruptDataError
        If the file cannot be read, or a line is no record; the message names file and line.
    """
    from velonimo_sim.velonimo.draw import DrawnRecord

    for number, record in read_lines(path):
        if isinstance(record, dict) and record.get("legends") is True:
            yield number, record
            continue
        try:
            check_format(record)
        except CorruptDataError as error:
            raise CorruptDataError(f"{path}:{number}: {error}") from None
        yield number, DrawnRecord(record)


def write_records(path: Path | str, records: Iterable[dict[str, Any]]) -> None:
    """Write games, such as ``Game.record()`` returns them, to a file; compressed if its name ends in ``.gz``."""
    file_path = Path(path)
    is_gzip = file_path.suffix == ".gz"
    with gzip.open(path, "wt", encoding="utf-8") if is_gzip else file_path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")
