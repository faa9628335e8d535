"""The single list of games: all that the runner, the records and the commands know of a game."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.faults import OnFault
from velonimo_sim.velonimo import policies, rows
from velonimo_sim.velonimo.rules import DEAL_VERSION, RULES_VERSION, RuleSet, check_players


class BotLike(Protocol):
    """A bot with its parameters set."""

    @property
    def text(self) -> str:
        """The text that describes the bot."""

    @property
    def settings(self) -> dict[str, int | float | bool | str]:
        """The values of its parameters by name."""

    @property
    def sees_all(self) -> bool:
        """Whether the bot is shown what is hidden, which is cheating."""

    @property
    def file_hash(self) -> str:
        """A hash of the file that the bot was written in; empty for a bot of the house."""


class TableLike(Protocol):
    """A table that plays the games of a run; it can be pickled."""

    @property
    def holds_the_lock(self) -> bool:
        """Whether playing holds the interpreter's lock, so that only processes play side by side."""

    def play(self, first_game: int, games: int, game_rows: NDArray[np.void], col_rows: NDArray[np.void]) -> int:
        """Play consecutive games, fill in their rows and return the number of col rows."""


@dataclass(frozen=True)
class GameSpec:
    """One game of the house.

    Parameters
    ----------
    name : str
        As commands and results files call it.
    rules_version, deal_version : int
        Versions of the rules and of what a seed deals.
    rule_set : type
        The class of its rule options.
    check_players : callable
        Raises a ``UsageError`` unless the game can be played by so many.
    parse_bot : callable
        Reads a bot's text.
    default_bots : tuple of str
        Bots of a tournament for which none are named; the first for as many players as there are.
    game_row, col_row : numpy.dtype
        Columns of the two kinds of rows.
    most_col_rows, most_points : callable
        The most col rows, and the most points, of one game, from rules and players.
    open_table : callable
        Makes a table from bots, rules, seatings, seed, what becomes of faults, and milliseconds a decision; compiles
        what is not compiled yet.
    recreate : callable
        Plays one game at a table once more; returns its game record, its game rows and its col rows.
    """

    name: str
    rules_version: int
    deal_version: int
    rule_set: type[RuleSet]
    check_players: Callable[[object], None]
    parse_bot: Callable[[str], BotLike]
    default_bots: tuple[str, ...]
    game_row: np.dtype[np.void]
    col_row: np.dtype[np.void]
    most_col_rows: Callable[[RuleSet, int], int]
    most_points: Callable[[RuleSet, int], int]
    open_table: Callable[..., TableLike]
    recreate: Callable[[Any, int], tuple[dict[str, Any], NDArray[np.void], NDArray[np.void]]]


def _open_velonimo_table(
    bots: Sequence[Any],
    rules: RuleSet,
    seatings: NDArray[np.int8],
    seed: int,
    on_fault: OnFault = OnFault.RAISE,
    time_limit: int | None = None,
) -> TableLike:
    from velonimo_sim.velonimo.playout import Table

    return Table(bots, rules, seatings, seed, on_fault, time_limit)


def _recreate_velonimo(table: Any, game: int) -> tuple[dict[str, Any], NDArray[np.void], NDArray[np.void]]:
    from velonimo_sim.velonimo.recreate import recreate

    return recreate(table, game)


GAMES = {
    "velonimo": GameSpec(
        name="velonimo",
        rules_version=RULES_VERSION,
        deal_version=DEAL_VERSION,
        rule_set=RuleSet,
        check_players=check_players,
        parse_bot=policies.parse_bot,
        default_bots=("advised", "greedy", "hold-hares", "random", "greedy"),
        game_row=rows.GAME_ROW,
        col_row=rows.COL_ROW,
        most_col_rows=rows.most_col_rows,
        most_points=rows.most_points,
        open_table=_open_velonimo_table,
        recreate=_recreate_velonimo,
    ),
}
"""Every game by its name."""
