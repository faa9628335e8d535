"""The rows of the ladder: a bot against others over duplicate deals, kept as a run that can be gone on with."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from velonimo_sim.analysis import seat_effects
from velonimo_sim.commands import say
from velonimo_sim.tournament import run_tournament

COMMAND = "ladder"

_NUMBERS = ("no", "one", "two", "three", "four")


@dataclass(frozen=True)
class Row:
    """A bot against others.

    Parameters
    ----------
    name : str
        What the row and the folder of its run are called.
    bot : str
        The bot's text.
    against : sequence of str
        The texts of its opponents.
    deals : int
        How many deals are played.
    asked : int, optional
        The wins in percent that were asked for.
    """

    name: str
    bot: str
    against: Sequence[str]
    deals: int
    asked: int | None = None

    @property
    def players(self) -> int:
        """How many play."""
        return 1 + len(self.against)

    @property
    def is_against_itself(self) -> bool:
        """Whether the same bot sits in all seats."""
        return set(self.against) == {self.bot}

    @property
    def games(self) -> int:
        """How many games are played: each deal once a seating; against itself there is but one."""
        return self.deals * (1 if self.is_against_itself else self.players)

    @property
    def opponents(self) -> str:
        """The opponents in words."""
        if self.is_against_itself:
            return f"itself x {len(self.against)}"
        return " and ".join(f"{_NUMBERS[count]} {bot}" for bot, count in Counter(self.against).items())


def play_row(row: Row, seed: int, folder: Path, workers: int) -> dict[str, dict[str, Any]]:
    """Play what is missing of a row.

    Parameters
    ----------
    row : Row
        The row.
    seed : int
        Root of all chance.
    folder : pathlib.Path
        The folder in which the folder of the row's run is.
    workers : int
        Number of threads, or of processes.

    Returns
    -------
    dict
        What the bot reached, by its name: ``win_share``, ``low`` and ``high`` among others, see ``bot_records``.
        Against itself those three, by its name and seat.

    Raises
    ------
    UsageError
        If the folder holds a run of other bots, another seed or other sources.
    BotError
        If a bot is at fault.
    KeyboardInterrupt
        If the run is interrupted; what was played is kept.
    """
    outcome = run_tournament(
        folder / row.name,
        resume=True,
        workers=workers,
        quiet=False,
        bots=[row.bot, *row.against],
        games=row.games,
        seed=seed,
    )
    say(COMMAND, f"{row.name}: {row.deals:,} deals, {outcome.games_played:,} games played in {outcome.seconds:.1f} s")
    if row.is_against_itself:
        return {
            f"{row.bot} in seat {seat['seat']}": {"win_share": seat["mean"]} | _shifted(seat)
            for seat in seat_effects(folder / row.name).to_dict("records")
        }
    return {row.bot: outcome.standings.table()[0]}


def _shifted(seat: dict[str, Any]) -> dict[str, float]:
    """Return the interval of a seat's share, from that of its distance to the mean of all, which is no estimate."""
    return {end: seat["mean"] + seat[end] - seat["effect"] for end in ("low", "high")}


def interval_text(record: dict[str, Any]) -> str:
    """Return the share of wins and its interval in percent."""
    return "{:.1f} ({:.1f}-{:.1f})".format(*(100 * record[name] for name in ("win_share", "low", "high")))
