"""The single list of games: all that the runner, the records and the commands know of a game."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.errors import unknown_name
from velonimo_sim.faults import OnFault
from velonimo_sim.run_files import DETAILS
from velonimo_sim.velocity import policies as velocity_policies
from velonimo_sim.velocity import rows as velocity_rows
from velonimo_sim.velocity import rules as velocity_rules
from velonimo_sim.velonimo import policies, rows, rules


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


class RulesLike(Protocol):
    """One choice of a game's rule options; an impossible one raises a ``UsageError``."""

    @classmethod
    def official(cls) -> Self:
        """Return the rules as printed."""

    @classmethod
    def preset(cls, name: str) -> Self:
        """Return the preset of that name."""

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Self:
        """Return the rules that ``to_dict`` described."""

    @classmethod
    def from_record(cls, record: np.void) -> Self:
        """Return the rules that ``to_record`` described."""

    def with_options(self, texts: Mapping[str, str]) -> Self:
        """Return these rules with some options changed, the values given as text."""

    def to_dict(self) -> dict[str, Any]:
        """Return the options as values that JSON knows."""

    def in_force(self, players: int) -> dict[str, Any]:
        """Return the options as ``to_dict`` does, those that depend on the players as they are with so many."""

    def to_record(self, players: int) -> np.void:
        """Return the options as kernels read them."""


class TableLike(Protocol):
    """A table that plays the games of a run; it can be pickled."""

    @property
    def holds_the_lock(self) -> bool:
        """Whether playing holds the interpreter's lock, so that only processes play side by side."""

    def play(self, first_game: int, games: int, game_rows: NDArray[np.void], detail_rows: NDArray[np.void]) -> int:
        """Play consecutive games, fill in their rows and return the number of detail rows."""


Recreated: TypeAlias = tuple[dict[str, Any], NDArray[np.void], NDArray[np.void]]
"""The record of a game, its game rows and its detail rows."""


@dataclass(frozen=True)
class GameSpec:
    """One game of the house; its code is the package ``velonimo_sim.NAME``.

    Parameters
    ----------
    name : str
        As commands and results files call it.
    title : str
        As people call it.
    rules_version, deal_version : int
        Versions of the rules and of what a seed deals.
    rule_set : type
        The class of its rule options.
    rule_example : str
        A rule option as a user may set it.
    check_players : callable
        Raises a ``UsageError`` unless the game can be played by so many.
    players : range
        How many can play.
    default_players : int
        How many play where nothing is said.
    parse_bot : callable
        Reads a bot's text.
    bots : sequence of str
        Names of the bots of the house.
    default_bots : tuple of str
        Bots of a tournament for which none are named; the first for as many players as there are.
    total_words : str
        What the ``total`` of a game row counts.
    game_row, detail_row : numpy.dtype
        Columns of the two kinds of rows.
    game_row_bytes, detail_row_bytes : float
        About how many bytes of disk a row of each kind takes, seen with bots of all kinds, rounded up.
    most_detail_rows, most_points : callable
        The most detail rows, and the greatest total, of one game, from rules and players.
    """

    name: str
    title: str
    rules_version: int
    deal_version: int
    rule_set: type[RulesLike]
    rule_example: str
    check_players: Callable[[object], None]
    players: range
    default_players: int
    parse_bot: Callable[[str], BotLike]
    bots: Sequence[str]
    default_bots: tuple[str, ...]
    total_words: str
    game_row: np.dtype[np.void]
    detail_row: np.dtype[np.void]
    game_row_bytes: float
    detail_row_bytes: float
    most_detail_rows: Callable[[Any, int], int]
    most_points: Callable[[Any, int], int]

    @property
    def detail(self) -> str:
        """What its detail rows are called, and the files that hold them."""
        return DETAILS[self.name]

    def open_table(
        self,
        bots: Sequence[BotLike],
        rules: RulesLike,
        seatings: NDArray[np.int8],
        seed: int,
        on_fault: OnFault = OnFault.RAISE,
        time_limit: int | None = None,
    ) -> TableLike:
        """Return a table ready to play, see ``table.Table``; what is not compiled yet is compiled.

        Raises
        ------
        UsageError
            If a bot cannot be compiled or made, or the table cannot be as it is asked for.
        """
        table: TableLike = self.module("playout").open_table(bots, rules, seatings, seed, on_fault, time_limit)
        return table

    def recreate(self, table: TableLike, game: int) -> Recreated:
        """Play one game at a table once more; return its record, its game rows and its detail rows.

        Raises
        ------
        BotError
            If a bot is at fault, unless the table says otherwise.
        """
        played: Recreated = self.module("recreate").recreate(table, game)
        return played

    def module(self, name: str) -> Any:
        """Return a module of the game's package, which is loaded when it is first asked for."""
        return import_module(f"velonimo_sim.{self.name}.{name}")


_VELONIMO = GameSpec(
    name="velonimo",
    title="Velonimo",
    rules_version=rules.RULES_VERSION,
    deal_version=rules.DEAL_VERSION,
    rule_set=rules.RuleSet,
    rule_example="tortoise_swap=off",
    check_players=rules.check_players,
    players=range(rules.MIN_PLAYERS, rules.MAX_PLAYERS + 1),
    default_players=4,
    parse_bot=policies.parse_bot,
    bots=tuple(policies.BUILT_IN),
    default_bots=("advised", "greedy", "hold-hares", "random", "greedy"),
    total_words="points",
    game_row=rows.GAME_ROW,
    detail_row=rows.COL_ROW,
    game_row_bytes=1.5,
    detail_row_bytes=9.0,
    most_detail_rows=rows.most_col_rows,
    most_points=rows.most_points,
)
_VELOCITY = GameSpec(
    name="velocity",
    title="VeloCity",
    rules_version=velocity_rules.RULES_VERSION,
    deal_version=velocity_rules.DEAL_VERSION,
    rule_set=velocity_rules.RuleSet,
    rule_example="pack_from_start=off",
    check_players=velocity_rules.check_players,
    players=range(velocity_rules.MIN_PLAYERS, velocity_rules.MAX_PLAYERS + 1),
    default_players=4,
    parse_bot=velocity_policies.parse_bot,
    bots=tuple(velocity_policies.BUILT_IN),
    default_bots=("rollout:n=20", "saver", "greedy", "random", "greedy", "saver", "greedy"),
    total_words="couriers",
    game_row=velocity_rows.GAME_ROW,
    detail_row=velocity_rows.RACE_ROW,
    game_row_bytes=11.0,
    detail_row_bytes=5.0,
    most_detail_rows=velocity_rows.most_race_rows,
    most_points=velocity_rows.most_points,
)

GAMES = {game.name: game for game in (_VELONIMO, _VELOCITY)}
"""Every game by its name."""

DEFAULT_GAME = "velonimo"
"""The game of a command that is told of none."""


def game_of(name: str) -> GameSpec:
    """Return the game of that name.

    Raises
    ------
    UsageError
        If there is no such game.
    """
    if name not in GAMES:
        raise unknown_name("game", name, GAMES)
    return GAMES[name]
