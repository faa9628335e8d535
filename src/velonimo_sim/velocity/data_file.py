"""Reading courses and dice: TOML files and what manifests and records hold, checked field by field."""

import tomllib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from velonimo_sim.errors import UsageError, in_one_line, is_integer_in, unknown_name

Data = TypeVar("Data")


def read_toml(path: Path | str, kind: str) -> dict[str, Any]:
    """Return the content of a TOML file.

    Raises
    ------
    UsageError
        If it cannot be read, or is no TOML.
    """
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{kind} {path}: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{kind} {path}: is no TOML ({in_one_line(error)})") from None


def read_from(path: Path | str, kind: str, read: Callable[[object], Data]) -> Data:
    """Return what a function reads from the content of a TOML file; its mistakes are told with the file's name.

    Raises
    ------
    UsageError
        If the file cannot be read, or its content is refused.
    """
    content = read_toml(path, kind)
    try:
        return read(content)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None
    except ValueError:  # a number that is too long to be shown
        raise UsageError(f"{path}: a number in it has too many digits") from None


def checked_fields(content: object, kind: str, needed: Collection[str], optional: Collection[str]) -> Mapping[str, Any]:
    """Return a mapping that has all fields needed, and no others than those allowed.

    Raises
    ------
    UsageError
        If it is none, or has not.
    """
    if not isinstance(content, Mapping):
        raise UsageError(f"{kind} {content!r}: allowed is a table with {', '.join(needed)}")
    for name in content:
        if name not in (*needed, *optional):
            raise unknown_name(f"{kind} field", name, [*needed, *optional])
    for name in needed:
        if name not in content:
            raise UsageError(f"{kind}: {name} is missing; needed are {', '.join(needed)}")
    return content


def checked_name(name: object, kind: str) -> str:
    """Return a name that fits in one line.

    Raises
    ------
    UsageError
        If it is none.
    """
    if not isinstance(name, str) or not name.isprintable() or not name:
        raise UsageError(f"{kind}: name {name!r}: allowed is a text of one line")
    return name


def integers_in(values: object, what: str, low: int, high: int) -> tuple[int, ...]:
    """Return a list of integers within bounds.

    Raises
    ------
    UsageError
        If something else stands there.
    """
    if not isinstance(values, list | tuple):
        raise UsageError(f"{what} {values!r}: allowed is a list of integers {low}-{high}")
    for value in values:
        if not is_integer_in(value, low, high):
            raise UsageError(f"{what} {value!r}: allowed is an integer {low}-{high}")
    return tuple(int(value) for value in values)
