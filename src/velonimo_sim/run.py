"""A tournament played into a folder, from its beginning or from where it was left."""

import os
import shutil
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from velonimo_sim.analysis.sequential import ConfidenceSequence
from velonimo_sim.commands import EXIT_FAULT, exit_status_of
from velonimo_sim.definition import Tournament
from velonimo_sim.errors import BotError, UsageError, WorkerError
from velonimo_sim.match import Match, WholeDeals
from velonimo_sim.progress import GamesProgress, Say
from velonimo_sim.records import RunFolder, claim_run_folder, clear_run_folder, locked
from velonimo_sim.resume import take_up
from velonimo_sim.run_files import Shard, columns_of
from velonimo_sim.summary import SUMMED, Standings
from velonimo_sim.workers import Chunk, Workers


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


# Playing it.


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


def _check_disk(tournament: Tournament, folder: Path, shards: Sequence[Shard]) -> None:
    """Raise a ``UsageError`` if the disk has not the room that the games need which are not there yet."""
    games = tournament.games - sum(shard.games for shard in shards)
    needed = tournament.bytes_of(games)
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
    """Return the game rows of a shard, as far as the standings need them, without detail rows."""
    rows = np.zeros(shard.games * tournament.schedule.players, tournament.game.game_row)
    for name, column in columns_of(shard, "games", tournament.schedule.bots, SUMMED).items():
        rows[name] = column
    return Chunk(shard.first_game, shard.games, rows, np.zeros(0, tournament.game.detail_row))


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
