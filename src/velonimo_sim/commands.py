"""What the commands of the package share: how a user's mistake is said."""

import argparse
import os
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from velonimo_sim.errors import UsageError

EXIT_FAULT = 1
EXIT_USAGE = 2


def exit_status_of(number: int) -> int:
    """Return the exit status of a command that a signal has ended, as shells have it."""
    return 128 + number


EXIT_INTERRUPTED = exit_status_of(signal.SIGINT)


class OneLineParser(argparse.ArgumentParser):
    """A parser that raises a ``UsageError`` instead of printing its usage and leaving."""

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the arguments."""
        raise UsageError(message)


def integer_in(low: int, high: int, name: str, text: str) -> int:
    """Return the integer that an option's text gives.

    Raises
    ------
    UsageError
        If it is none, or out of range.
    """
    try:
        value = int(text)
    except ValueError:
        value = low - 1
    if not low <= value <= high:
        raise UsageError(f"{name} {text}: allowed is an integer {low}-{high}")
    return value


def number_between(low: float, high: float, name: str, text: str) -> float:
    """Return the number that an option's text gives, greater than ``low`` and less than ``high``.

    Raises
    ------
    UsageError
        If it is none, or out of range.
    """
    try:
        value = float(text)
    except ValueError:
        value = low
    if not low < value < high:
        raise UsageError(f"{name} {text}: allowed is a number between {low:g} and {high:g}")
    return value


def say(command: str, message: object) -> None:
    """Print one line for people on stderr.

    It goes past the buffer: a signal is told in the midst of whatever is being printed, and a buffer that is being
    written cannot be entered again.
    """
    line = f"{command}: {message}\n"
    try:
        file = sys.stderr.fileno()
    except (OSError, ValueError):  # not a file, such as text that is captured
        sys.stderr.write(line)
    else:
        os.write(file, line.encode(errors="backslashreplace"))


def leave_with(main: Callable[[], int]) -> NoReturn:
    """Run a command and leave with its exit status; a reader that closes the pipe early is no fault."""
    try:
        status = main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = EXIT_FAULT
    sys.exit(status)
