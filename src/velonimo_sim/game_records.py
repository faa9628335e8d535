"""Recorded games as files: JSON Lines, one game a line, plain or compressed with gzip."""

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from velonimo_sim.errors import CorruptDataError, unknown_name

_CLASSES: Final = {"velonimo": ("draw", "DrawnRecord"), "velocity": ("narrate", "ToldRecord")}
"""By game the module and the name of the class of its records, which print as a story."""


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

    The others print as a story, and those of Velonimo draw themselves in a notebook, see ``velonimo.draw``.

    Raises
    ------
    CorruptDataError
        If the file cannot be read, or a line is no record; the message names file and line.
    """
    for number, record in read_lines(path):
        try:
            checked = _checked(record)
        except CorruptDataError as error:
            raise CorruptDataError(f"{path}:{number}: {error}") from None
        yield number, checked


def _checked(record: Any) -> dict[str, Any]:
    """Return something read from JSON as a record of the game that it names, once its form is found sound.

    What a game with Legends holds is not known here; it is left as it is.
    """
    if not isinstance(record, dict):
        raise CorruptDataError("a record is one JSON object a line")
    game = game_name(record)
    if game not in _CLASSES:
        raise CorruptDataError(str(unknown_name("game", game, _CLASSES)))
    if game == "velonimo" and record.get("legends") is True:
        return record
    module_of(record, "record_format").check_format(record)
    module, name = _CLASSES[game]
    checked: dict[str, Any] = getattr(module_of(record, module), name)(record)
    return checked


def game_name(record: dict[str, Any]) -> str:
    """Return the name of the game that a record is of; one that names none is of Velonimo."""
    return str(record.get("game", "velonimo"))


def module_of(record: dict[str, Any], name: str) -> ModuleType:
    """Return a module of the game that a record is of, such as ``record``, ``record_format`` or ``narrate``."""
    return import_module(f"velonimo_sim.{game_name(record)}.{name}")


def write_records(path: Path | str, records: Iterable[dict[str, Any]]) -> None:
    """Write games, such as ``Game.record()`` returns them, to a file; compressed if its name ends in ``.gz``."""
    file_path = Path(path)
    is_gzip = file_path.suffix == ".gz"
    with gzip.open(path, "wt", encoding="utf-8") if is_gzip else file_path.open("w", encoding="utf-8") as file:
        for record in records:
            file.write(json.dumps(record) + "\n")
