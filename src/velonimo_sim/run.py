"""A tournament played into a folder, from its beginning or from where it was left."""

import json
import os
import platform
import shutil
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from textwrap import shorten
from typing import Any, Self

import numpy as np

from velonimo_sim import __version__
from velonimo_sim.analysis.sequential import ConfidenceSequence
from velonimo_sim.commands import EXIT_FAULT, exit_status_of
from velonimo_sim.errors import BotError, CorruptDataError, UsageError, WorkerError, in_one_line
from velonimo_sim.faults import OnFault
from velonimo_sim.game import GAMES, BotLike, GameSpec
from velonimo_sim.match import Match, WholeDeals
from velonimo_sim.progress import GamesProgress, Say
from velonimo_sim.records import RunFolder, claim_run_folder, clear_run_folder, disk_need, locked
from velonimo_sim.run_files import (
    MANIFEST,
    SCHEMA_VERSION,
    Shard,
    check_shard,
    game_columns,
    is_unbegun,
    manifest_in_shards,
    read_manifest,
    read_shard,
    shard_paths,
    unfinished_files,
)
from velonimo_sim.schedule import Schedule, Seating, TableKind, make_schedule
from velonimo_sim.summary import SUMMED, Standings
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.workers import Chunk, Work, Workers

MOST_SHOWN = 8
"""How many differences between two runs are shown."""


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
    rules : RuleSet
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
    rules: RuleSet
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
    def most_col_rows(self) -> int:
        """The most col rows of a game."""
        return self.game.most_col_rows(self.rules, self.schedule.players)

    @property
    def most_points(self) -> int:
        """The most points of a game."""
        return self.game.most_points(self.rules, self.schedule.players)

    @property
    def bytes_needed(self) -> int:
        """About how many bytes of disk its files take."""
        return disk_need(self.games, self.schedule.players, self.most_col_rows)

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
            "starter": "seat 0 starts col 1",
            "options": dict(self.options),
            "versions": versions,
        }


@dataclass(frozen=True)
class Outcome:
    """How a tournament ended: ``status`` is finished, interrupted or failed; ``games_written`` are in the folder.

    ``cause`` says why it failed, ``signal`` is the one that asked it to stop, if any.
    """

    standings: Standings
    sequence: ConfidenceSequence | None
    seconds: float
    games_played: int
    status: str
    cause: str
    games_written: int
    signal: int | None

    @property
    def games_per_second(self) -> float:
        """How fast games were played."""
        return self.games_played / self.seconds if self.seconds else 0.0

    @property
    def exit_status(self) -> int:
        """The status with which the command ends."""
        if self.status == "interrupted" and self.signal is not None:
            return exit_status_of(self.signal)
        return EXIT_FAULT if self.status == "failed" else 0


class StopRequest:
    """Remembers that the user asked to stop, until a moment at which nothing is half done."""

    def __init__(self, say: Say) -> None:
        self.signal: int | None = None
        self._say = say

    @contextmanager
    def heeded(self) -> Iterator[None]:
        """Take Ctrl-C and SIGTERM as requests to stop; a second one leaves at once."""
        before = {number: signal.signal(number, self._note) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _note(self, number: int, _frame: object) -> None:
        if self.signal is not None:
            # Threads within a long chunk cannot be stopped otherwise; finished files are whole at any moment.
            self._say("stopped at once; finished files are whole")
            os._exit(exit_status_of(number))
        self.signal = number
        self._say("stopping when the games under way are played; a second time stops at once")


# Going on with a run.


def take_up(folder: Path, tournament: Tournament, say: Say) -> list[Shard]:
    """Return the finished shards of a run that is gone on with; what was left half done is deleted, and said so.

    Raises
    ------
    UsageError
        If the run in the folder is another one, or has more games.
    CorruptDataError
        If its manifest is none, or of another schema version.
    """
    shards: list[Shard] = []
    if not is_unbegun(folder):
        differences = differences_of(manifest_of(folder), tournament.identity())
        if differences:
            raise UsageError(f"--resume {folder}: is another run: {differences}")
        shards = _whole_shards(folder, tournament, say)
    end = max((shard.end for shard in shards), default=0)
    if end > tournament.games:
        raise UsageError(f"--games {tournament.games}: the run in {folder} has {end:,} games already")
    for path in unfinished_files(folder):
        path.unlink()
        games = "; its games are played again" if path.suffix == ".parquet" else ""
        say(f"{path} was left half written and is deleted{games}")
    return shards


def differences_of(run: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """Return in one line what a run is otherwise than here; empty if it is the same."""
    there = _single_values(run)
    differences = [
        f"{name} is {_shown(there.get(name))} in the run and {_shown(value)} here"
        for name, value in _single_values(here).items()
        if there.get(name) != value
    ]
    more = [f"and {len(differences) - MOST_SHOWN:,} more"] if len(differences) > MOST_SHOWN else []
    return "; ".join(differences[:MOST_SHOWN] + more)


def _single_values(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest with an entry for each option of the rules, and for each bot."""
    values: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, dict):
            values |= {f"{name}: {option}": chosen for option, chosen in value.items()}
        elif isinstance(value, list):
            values |= {f"{name}: {number}": entry for number, entry in enumerate(value)} | {
                f"{name}: number": len(value)
            }
        else:
            values[name] = value
    return values


def _shown(value: Any) -> str:
    return shorten(json.dumps(value), 200, placeholder=" ...")


def manifest_of(folder: Path) -> dict[str, Any]:
    """Return the manifest of a run, or else what its shards say of it.

    Raises
    ------
    UsageError
        If there is no run in the folder.
    CorruptDataError
        If the manifest is none, or of another schema version.
    """
    if not (folder / MANIFEST).exists() and folder.is_dir():
        run = manifest_in_shards(folder)
        if run is not None:
            return run
    return read_manifest(folder)


def _whole_shards(folder: Path, tournament: Tournament, say: Say) -> list[Shard]:
    """Return the shards that are whole; those that are damaged are deleted, so that their games are played again.

    A shard that cannot be read, or is of another run, is neither.
    """
    shards: list[Shard] = []
    for path in shard_paths(folder):
        try:
            shard = read_shard(path, tournament.schedule.players)
            differences = differences_of(shard.run, tournament.identity())
            if differences:
                raise UsageError(f"--resume {folder}: {path.name} is of another run: {differences}")
            if (
                shard.first_game % tournament.schedule.games_per_deal
                or shard.games % tournament.schedule.games_per_deal
            ):
                raise CorruptDataError(f"{path}: holds a part of a deal")
            if shards and shard.first_game < shards[-1].end:
                raise CorruptDataError(f"{path}: holds games that are in the shard before it")
            check_shard(shard)
        except CorruptDataError as error:
            for file in (path, path.with_name(path.name.replace("games", "cols"))):
                file.unlink(missing_ok=True)
            say(f"{error}; the shard is deleted and its games are played again")
        else:
            shards.append(shard)
    return shards


def _steps(shards: Sequence[Shard], games: int) -> Iterator[Shard | range]:
    """Yield what a run consists of, in the order of its games: shards that are there, and ranges yet to be played."""
    start = 0
    for shard in shards:
        if shard.first_game > start:
            yield range(start, shard.first_game)
        yield shard
        start = shard.end
    if start < games:
        yield range(start, games)


# Playing it.


def _check_disk(tournament: Tournament, folder: Path, shards: Sequence[Shard]) -> None:
    """Raise a ``UsageError`` if the disk has not the room that the games need which are not there yet."""
    games = tournament.games - sum(shard.games for shard in shards)
    needed = disk_need(games, tournament.schedule.players, tournament.most_col_rows)
    replaced = [] if shards else [*folder.glob("*.parquet")]
    free = shutil.disk_usage(folder).free + sum(path.stat().st_size for path in replaced)
    if needed > free:
        raise UsageError(
            f"--games {tournament.games}: about {needed / 1e9:,.1f} GB are needed, and in {folder.absolute()} "
            f"{free / 1e9:,.1f} GB are free"
        )


@contextmanager
def prepared(
    tournament: Tournament, folder: Path, say: Say, resume: bool = False, overwrite: bool = False
) -> Iterator[list[Shard]]:
    """Hold the folder of a run, once it is found fit; one that stays empty is taken away again.

    Parameters
    ----------
    tournament : Tournament
        What is to be played.
    folder : pathlib.Path
        Where the shards and the manifest go; held for this process alone meanwhile.
    say : callable
        Is told, in one line each, which shards are damaged or half written.
    resume, overwrite : bool
        Whether a run in the folder may be gone on with, or replaced.

    Yields
    ------
    list of Shard
        What is there already.

    Raises
    ------
    UsageError
        If the folder cannot be used, its disk has no room, or it holds another run.
    CorruptDataError
        If the manifest in it is none, or of another schema version.
    """
    is_new = claim_run_folder(folder, overwrite, resume)
    try:
        with locked(folder):
            shards = take_up(folder, tournament, say) if resume else []
            _check_disk(tournament, folder, shards)
            yield shards
    finally:
        if is_new and not any(folder.iterdir()):
            folder.rmdir()


def play(
    tournament: Tournament, workers: Workers, out: Path, shards: Sequence[Shard], say: Say, quiet: bool = True
) -> Outcome:
    """Play what is missing of a tournament into a folder that is held by ``prepared``.

    Parameters
    ----------
    tournament : Tournament
        What to play.
    workers : Workers
        Who plays it; they are let go at the end.
    out : pathlib.Path
        Where the shards and the manifest go. Without shards that are to be kept, what is in it is deleted.
    shards : sequence of Shard
        What is there already.
    say : callable
        Is told, in one line each, what happens to workers, and of signals.
    quiet : bool
        Show no progress.

    Returns
    -------
    Outcome
        How it ended; what was played until then is in the folder.
    """
    if not shards:
        clear_run_folder(out)
    manifest = tournament.manifest()
    folder = RunFolder(out, tournament.game, tournament.schedule.bots, manifest)
    standings = Standings(tournament.schedule, tournament.most_points)
    judge, stop = _Judge(tournament), StopRequest(say)
    cause, played, began = "", 0, time.perf_counter()
    with stop.heeded(), GamesProgress(tournament.games, quiet) as progress:
        try:
            with closing(Match(workers, tournament.schedule.games_per_deal, say)) as match:
                folder.write_manifest(manifest | {"status": "running"})
                for deals, is_new in _deals(tournament, match, shards, progress, stop):
                    needed = judge.needed(deals)
                    standings.add(needed.game_rows)
                    if is_new:
                        folder.add(needed)
                        played += needed.games
                    progress.leader = standings.leader()
                    if judge.decision:
                        break
        except (BotError, WorkerError, OSError) as error:
            cause = _cause(error, folder)
        except BaseException:
            folder.close()
            raise
        try:
            folder.close()
        except OSError as error:
            cause = cause or _cause(error, folder)
        is_complete = judge.decision is not None or standings.games == tournament.games
        status = "failed" if cause else "finished" if is_complete else "interrupted"
        written = sum(shard.games for shard in shards) + folder.games
        try:
            folder.write_manifest(manifest | {"status": status, "cause": cause, "games_written": written})
        except OSError as error:
            status, cause = "failed", cause or _cause(error, folder)
    seconds = time.perf_counter() - began
    return Outcome(standings, judge.sequence, seconds, played, status, cause, written, stop.signal)


def _cause(error: Exception, folder: RunFolder) -> str:
    if isinstance(error, OSError):
        return f"{folder.path}: {error.strerror or ' '.join(str(error).split())}"
    return str(error)


def _deals(
    tournament: Tournament, match: Match, shards: Sequence[Shard], progress: GamesProgress, stop: StopRequest
) -> Iterator[tuple[Chunk, bool]]:
    """Yield the deals of a run in order, and whether they have just been played or are on disk, until asked to stop."""
    for step in _steps(shards, tournament.games):
        if isinstance(step, Shard):
            progress.advance(step.games, is_new=False)
            yield _recorded(tournament, step), False
            continue
        whole_deals = WholeDeals(tournament.schedule.games_per_deal)
        for chunk in match.play(step):
            progress.advance(chunk.games)
            deals = whole_deals.take(chunk)
            if deals is not None:
                yield deals, True
            if stop.signal is not None:
                match.stop()
        if stop.signal is not None:
            return


def _recorded(tournament: Tournament, shard: Shard) -> Chunk:
    """Return the game rows of a shard, as far as the standings need them, without col rows."""
    rows = np.zeros(shard.games * tournament.schedule.players, tournament.game.game_row)
    for name, column in game_columns(shard, tournament.schedule.bots, SUMMED).items():
        rows[name] = column
    return Chunk(shard.first_game, shard.games, rows, np.zeros(0, tournament.game.col_row))


class _Judge:
    """Watches whether the question of a tournament is decided; where there is none, all games are needed."""

    def __init__(self, tournament: Tournament) -> None:
        self.sequence: ConfidenceSequence | None = None
        self._schedule = tournament.schedule
        if tournament.until:
            self.sequence = ConfidenceSequence(alpha=tournament.until.alpha)
            names = (tournament.until.first, tournament.until.second)
            self._first, self._second = (tournament.schedule.bots.index(name) for name in names)

    @property
    def decision(self) -> str | None:
        """Which of the two wins more: first, second, or None if that is not known yet."""
        return self.sequence.decision if self.sequence else None

    def needed(self, chunk: Chunk) -> Chunk:
        """Return the chunk up to the deal that decides, or the whole of it."""
        if self.sequence is None:
            return chunk
        shares = self._schedule.means_by_deal(chunk.game_rows["won"])
        last = self.sequence.add(shares[:, self._first] - shares[:, self._second])
        return chunk if last is None else chunk.first((last + 1) * self._schedule.games_per_deal)
