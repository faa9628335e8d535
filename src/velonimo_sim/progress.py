"""Progress of long work on stderr: a bar in a terminal, else at most one line in 30 seconds."""

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self, TypeAlias

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

LINE_SECONDS = 30.0

Say: TypeAlias = Callable[[str], None]
"""Tells the user something, in one line."""


class GamesProgress:
    """Shows how many games are done, the rate, the time left and who leads; a context manager.

    Parameters
    ----------
    games : int
        Number of games in all.
    quiet : bool
        Show nothing.

    Attributes
    ----------
    leader : str
        The bot that leads so far; empty if that is not known.
    """

    def __init__(self, games: int, quiet: bool) -> None:
        self._games = games
        self._quiet = quiet
        self.leader = ""
        self._done = self._played = 0
        self._began = self._spoke = time.monotonic()
        self._bar: Progress | None = None
        if sys.stderr.isatty() and not quiet:
            self._bar = Progress(
                TextColumn("games"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[how]}"),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("games", total=games, how="")

    def __enter__(self) -> Self:
        """Start the clock."""
        self._began = self._spoke = time.monotonic()
        if self._bar:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Take the bar away."""
        if self._bar:
            self._bar.stop()

    def advance(self, games: int, is_new: bool = True) -> None:
        """Count games, which count for the rate if they are new; say how it stands if it is time to."""
        self._done += games
        self._played += games if is_new else 0
        now = time.monotonic()
        rate = self._played / max(now - self._began, 1e-9)
        left = (self._games - self._done) / rate if rate else 0.0
        how = f"{rate:,.0f} games/s, {left:,.0f} s left" + (f", {self.leader} leads" if self.leader else "")
        if self._bar:
            self._bar.update(self._task, completed=self._done, how=escape(how))
        elif not self._quiet and self._played and now - self._spoke >= LINE_SECONDS:
            self._spoke = now
            print(f"{self._done:,} of {self._games:,} games, {how}", file=sys.stderr, flush=True)
