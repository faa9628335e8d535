"""What can be wrong with what a user hands in, each in one line that a command prints as it is."""

from collections.abc import Iterable
from difflib import get_close_matches
from operator import index
from textwrap import shorten


class UsageError(ValueError):
    """Something the user named is not possible; the message names it, its value and what is allowed."""


class IllegalMoveError(ValueError):
    """A move that the rules refuse, or that does not read as a move.

    Parameters
    ----------
    message : str
        The reason in one line.
    rule : str
        Id of the rule that is broken, such as ``V10``; empty for a text that is no move.
    """

    def __init__(self, message: str, rule: str = "") -> None:
        super().__init__(f"{message} ({rule})" if rule else message)
        self.rule = rule


class CorruptDataError(ValueError):
    """Saved bytes, JSON or a game record that cannot be what it claims to be, or are of another version."""


class BotError(RuntimeError):
    """A bot that raised or broke the rules; the message names the game, the seat, the bot and the cause.

    Parameters
    ----------
    message : str
        What is said.
    game : int, optional
        Index of the game in its run.
    """

    def __init__(self, message: str, game: int | None = None) -> None:
        super().__init__(message)
        self.game = game


class WorkerError(RuntimeError):
    """Workers that are lost, do not answer or cannot play; the message names them and the games."""


def unknown_name(kind: str, name: object, known: Iterable[str]) -> UsageError:
    """Return the error for a name that does not exist: what exists, and the nearest match if there is one."""
    by_lower_case = {text.lower(): text for text in known}
    near = get_close_matches(str(name).lower(), by_lower_case, n=1)
    hint = f"; did you mean {by_lower_case[near[0]]!r}?" if near else ""
    return UsageError(f"unknown {kind} {name!r}: there are {', '.join(by_lower_case.values())}{hint}")


def in_one_line(error: BaseException) -> str:
    """Return what an error of foreign code says: its class, and its message without line breaks."""
    return shorten(f"{type(error).__name__}: {error}", 300, placeholder=" ...").removesuffix(":")


def is_integer_in(value: object, low: int, high: int) -> bool:
    """Whether a value is an integer of Python or numpy, and no flag, from ``low`` to ``high``."""
    try:
        return not isinstance(value, bool) and low <= index(value) <= high  # type: ignore[arg-type]
    except TypeError:
        return False
