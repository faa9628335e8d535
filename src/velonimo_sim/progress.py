"""Progress of long work on stderr: a bar in a terminal, else at most one line in 30 seconds."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

LINE_SECONDS = 30.0


class GamesProgress:
    """Shows how many games are done, the rate and the time left; a context manager.

    Parameters
    ----------
    games : int
        Number of games in all.
    quiet : bool
        Show nothing.
    """

    def __init__(self, games: int, quiet: bool) -> None:
        self._games = games
        self._quiet = quiet
        self._done = 0
        self._began = self._spoke = time.monotonic()
        self._bar: Progress | None = None
        if sys.stderr.isatty() and not quiet:
            self._bar = Progress(
                TextColumn("games"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]:,.0f} games/s, left"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task("games", total=games, rate=0.0)

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

    def advance(self, games: int) -> None:
        """Count games that were played."""
        self._done += games
        now = time.monotonic()
        rate = self._done / max(now - self._began, 1e-9)
        if self._bar:
            self._bar.update(self._task, completed=self._done, rate=rate)
        elif not self._quiet and now - self._spoke >= LINE_SECONDS:
            self._spoke = now
            left = (self._games - self._done) / rate
            print(
                f"{self._done:,} of {self._games:,} games, {rate:,.0f} games/s, {left:,.0f} s left",
                file=sys.stderr,
                flush=True,
            )
