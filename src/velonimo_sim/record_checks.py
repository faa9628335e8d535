"""What the forms of all game records are made of: checks of single values, and of the fields of an object."""

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeAlias

from velonimo_sim.errors import CorruptDataError

Check: TypeAlias = Callable[[Any], bool]
"""Whether a value may stand in a field."""


def is_integer(value: Any) -> bool:
    """Whether a value is an integer and no flag."""
    return type(value) is int


def is_flag(value: Any) -> bool:
    """Whether a value is true or false."""
    return type(value) is bool


def is_text(value: Any) -> bool:
    """Whether a value is a text of one line, as messages and stories repeat it."""
    return isinstance(value, str) and value.isprintable()


def is_object(value: Any) -> bool:
    """Whether a value is an object of JSON."""
    return isinstance(value, dict)


def is_then(value: Any) -> bool:
    """Whether a value tells what an event led to: the phase, and the seat to act or None."""
    return (
        isinstance(value, dict)
        and set(value) == {"phase", "seat"}
        and is_text(value["phase"])
        and none_or(is_integer)(value["seat"])
    )


def none_or(check: Check) -> Check:
    """Return the check for None, or what another check lets pass."""
    return lambda value: value is None or check(value)


def list_of(check: Check) -> Check:
    """Return the check for a list of what another check lets pass."""
    return lambda value: isinstance(value, list) and all(check(part) for part in value)


def object_of(names: Collection[str], check: Check) -> Check:
    """Return the check for an object with fields of some names, and in each what another check lets pass."""
    return lambda value: isinstance(value, dict) and all(name in names and check(part) for name, part in value.items())


def is_one_of(*allowed: Any) -> Check:
    """Return the check for some values, of their types."""
    return lambda value: value in allowed and type(value) in {type(part) for part in allowed}


def check_fields(
    where: str,
    content: dict[str, Any],
    needed: Mapping[str, Check],
    optional: Mapping[str, Check],
    explain: Callable[[Any], str] | None = None,
) -> None:
    """Check that an object has all fields needed, no others than those allowed, and in each what may stand there.

    Parameters
    ----------
    where : str
        Place of the object in the record, for the message: ``round 1 event 3: ``; empty for the record itself.
    content : dict
        The object.
    needed, optional : mapping of str to callable
        By name of the field the check of its value.
    explain : callable, optional
        Returns what is to be added to the message about a value.

    Raises
    ------
    CorruptDataError
        If it has not; the message names the place and the field.
    """
    allowed = {**needed, **optional}
    for name in needed:
        if name not in content:
            raise CorruptDataError(f"{where}field {name!r} is missing")
    for name, value in content.items():
        if name not in allowed:
            raise CorruptDataError(f"{where}there is no field {name!r} in a record")
        if not allowed[name](value):
            shown = repr(value)
            shown = shown if len(shown) < 80 else shown[:77] + "..."
            more = explain(value) if explain else ""
            raise CorruptDataError(f"{where}{name} is {shown}, which no record can hold{more}")
