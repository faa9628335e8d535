"""What can be wrong with the facts of a game record, whichever the game: how it is found, said and told."""

from collections.abc import Iterator
from typing import Any, TypeAlias

Record: TypeAlias = dict[str, Any]
"""A game record, or a part of one."""


class RecordFaultError(Exception):
    """A fact of a record that does not hold.

    Parameters
    ----------
    place : str
        Where it stands: the round and the event, or ``result``.
    message : str
        What was expected and what stands there.
    """

    def __init__(self, place: str, message: str) -> None:
        super().__init__(f"{place}: {message}")


class UnfinishedRecordError(RecordFaultError):
    """A record that ends before its game does, all facts so far being true."""


def compare(place: str, expected: Record, found: Record, empty: str = "none") -> None:
    """Raise a ``RecordFaultError`` at the first field that is there and not as expected.

    Parameters
    ----------
    place : str
        Where the fields stand.
    expected, found : dict
        What must stand there, and what does.
    empty : str
        Stands for an empty list in the message.
    """
    for name, value in expected.items():
        if name in found and found[name] != value:
            raise RecordFaultError(
                place, f"expected {name} {_shown(value, empty)}, there stands {_shown(found[name], empty)}"
            )


def _shown(value: Any, empty: str) -> str:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " ".join(value) or empty
    if isinstance(value, dict):
        return ", ".join(f"{name} {_shown(part, empty)}" for name, part in value.items())
    return "none" if value is None else str(value)


def while_true(story: Iterator[str]) -> Iterator[str]:
    """Yield the lines of a story as far as its record is true; the last one says what ended it, if not the game."""
    try:
        yield from story
    except UnfinishedRecordError:
        yield "the game is not over"
    except RecordFaultError as fault:
        yield str(fault)
