"""What a tournament is: who plays, how much, by which rules; as its manifest says it."""

import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Self

from velonimo_sim import __version__
from velonimo_sim.errors import CorruptDataError, UsageError, in_one_line
from velonimo_sim.faults import OnFault
from velonimo_sim.game import GAMES, BotLike, GameSpec, RulesLike
from velonimo_sim.run_files import SCHEMA_VERSION
from velonimo_sim.schedule import Schedule, Seating, TableKind, make_schedule
from velonimo_sim.workers import Work


@dataclass(frozen=True)
class Until:
    """When a tournament may stop early: once it is known which of two bots wins more."""

    first: str
    second: str
    alpha: float


_OF_A_TOURNAMENT = (
    "game",
    "table",
    "seating",
    "players",
    "bots",
    "tables",
    "seed",
    "rules",
    "on_fault",
    "time_limit_ms",
)
"""What a manifest has to say for its games to be played again."""


@dataclass(frozen=True)
class Tournament:
    """What a tournament is, apart from where it is written and who plays it.

    Parameters
    ----------
    game : GameSpec
        The game played.
    bots : tuple of bots
        Those of the schedule, each once.
    schedule : Schedule
        How each deal is played; ``table`` and ``seating`` say how it came about.
    games : int
        Number of games, whole deals.
    seed : int
        Root seed.
    rules : RulesLike
        The options in force.
    on_fault : OnFault
        What becomes of a game in which a bot is at fault.
    time_limit : int, optional
        Milliseconds that a decision may take.
    until : Until, optional
        When to stop before all games are played.
    options : mapping
        What the user asked for, in the form of a configuration file.
    """

    game: GameSpec
    bots: tuple[BotLike, ...]
    schedule: Schedule
    table: TableKind
    seating: Seating
    games: int
    seed: int
    rules: RulesLike
    on_fault: OnFault
    time_limit: int | None
    until: Until | None
    options: Mapping[str, Any]

    @classmethod
    def of_manifest(cls, run: Mapping[str, Any]) -> Self:
        """Return the tournament that a manifest describes.

        Raises
        ------
        UsageError
            If one of its bots is not to be had.
        CorruptDataError
            If it does not say all that is needed, or what cannot be.
        """
        missing = [name for name in _OF_A_TOURNAMENT if name not in run]
        if missing:
            raise CorruptDataError(f"the manifest of the run does not say {', '.join(missing)}")
        try:
            return cls._described_by(run)
        except UsageError:
            raise
        except (LookupError, ValueError, TypeError, AttributeError) as error:
            raise CorruptDataError(f"the manifest of the run cannot be ({in_one_line(error)})") from None

    @classmethod
    def _described_by(cls, run: Mapping[str, Any]) -> Self:
        game = GAMES[run["game"]]
        table, seating = TableKind(run["table"]), Seating(run["seating"])
        named = run["bots"] if table is TableKind.ROUND_ROBIN else [run["bots"][bot] for bot in run["tables"][0]]
        return cls(
            game=game,
            bots=tuple(game.parse_bot(text) for text in run["bots"]),
            schedule=make_schedule(named, run["players"], seating, table),
            table=table,
            seating=seating,
            games=run.get("games", 0),
            seed=run["seed"],
            rules=game.rule_set.from_dict(run["rules"]),
            on_fault=OnFault(run["on_fault"]),
            time_limit=run["time_limit_ms"],
            until=None,
            options=run.get("options", {}),
        )

    @property
    def deals(self) -> int:
        """Number of deals."""
        return self.games // self.schedule.games_per_deal

    @property
    def most_points(self) -> int:
        """The most points of a game."""
        return self.game.most_points(self.rules, self.schedule.players)

    def bytes_of(self, games: int) -> int:
        """Return about how many bytes of disk so many of its games take."""
        players = self.schedule.players
        of_details = self.game.most_detail_rows(self.rules, players) * self.game.detail_row_bytes
        return math.ceil(games * (players * self.game.game_row_bytes + of_details))

    def work(self) -> Work:
        """Return what workers need to play it; bots are compiled, or made.

        Raises
        ------
        UsageError
            If a bot cannot be compiled or made, or the table cannot be as it is asked for.
        """
        table = self.game.open_table(
            self.bots, self.rules, self.schedule.seatings, self.seed, self.on_fault, self.time_limit
        )
        return Work.of(self.game, table, self.rules, self.schedule.players)

    def identity(self) -> dict[str, Any]:
        """Return all that the rows of a game depend on: two runs with the same of it have the same games."""
        from velonimo_sim._jit import source_hash

        return {
            "schema_version": SCHEMA_VERSION,
            "game": self.game.name,
            "rules_version": self.game.rules_version,
            "deal_version": self.game.deal_version,
            "players": self.schedule.players,
            "table": str(self.table),
            "seating": str(self.seating),
            "bots": list(self.schedule.bots),
            "tables": [list(table) for table in self.schedule.tables],
            "parameters": [bot.settings for bot in self.bots],
            "sees_all": [bot.sees_all for bot in self.bots],
            "bot_hashes": [bot.file_hash for bot in self.bots],
            "on_fault": str(self.on_fault),
            "time_limit_ms": self.time_limit,
            "seed": self.seed,
            "rules": self.rules.to_dict(),
            "source_hash": source_hash(),
        }

    def manifest(self) -> dict[str, Any]:
        """Return everything that is needed to repeat the run."""
        versions = {"python": platform.python_version(), "velonimo_sim": __version__}
        versions |= {name: version(name) for name in ("numpy", "numba", "pyarrow")}
        return self.identity() | {
            "games": self.games,
            "games_per_deal": self.schedule.games_per_deal,
            "most_points": self.most_points,
            "rules_in_force": self.rules.in_force(self.schedule.players),
            "starter": "seat 0 starts",
            "options": dict(self.options),
            "versions": versions,
        }
