"""The games of a run, handed out in chunks and taken back in order: the same rows whoever plays them."""

from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from velonimo_sim.errors import BotError, WorkerError
from velonimo_sim.workers import MAX_CHUNK_GAMES, Chunk, Result, Workers, words_for

CHUNK_SECONDS = 0.2
"""How long a thread's chunk should take: often enough for progress and Ctrl-C, long enough to be worth handing over."""
MAX_DEATHS = 3
"""After so many deaths of workers that played the same chunk the run stops."""


class Match:
    """Hands out chunks to workers.

    Parameters
    ----------
    workers : Workers
        Who plays.
    games_per_deal : int
        How many games in a row belong to one deal.
    notify : callable
        Is told, in one line, when a worker has died.
    """

    def __init__(self, workers: Workers, games_per_deal: int, notify: Callable[[str], None]) -> None:
        self._workers = workers
        self._games_per_deal = games_per_deal
        self._notify = notify
        self._seconds_per_game = 0.0
        self._deaths: Counter[int] = Counter()
        self._is_stopping = False

    def play(self, games: range) -> Iterator[Chunk]:
        """Play a range of games, which is of whole deals, and yield their rows in order, chunk by chunk.

        Raises
        ------
        BotError
            If a bot fails; all games before the one it happened in have then been yielded.
        WorkerError
            If workers die again and again over the same chunk.
        """
        pending: deque[tuple[range, Result]] = deque()
        start = games.start
        while pending or (start < games.stop and not self._is_stopping):
            while start < games.stop and not self._is_stopping and len(pending) < self._workers.most_chunks:
                chunk = range(start, min(games.stop, start + self._size_at(start)))
                pending.append((chunk, self._workers.submit(chunk.start, len(chunk))))
                start = chunk.stop
            first = pending[0][0].start
            try:
                played = self._result(pending)
            except BotError as error:
                if error.game is not None and error.game > first:
                    before = range(first, error.game)
                    yield self._result(deque([(before, self._workers.submit(first, len(before)))]))
                raise
            self._seconds_per_game = played.seconds / played.games
            yield played

    def stop(self) -> None:
        """Hand out no more chunks, so that ``play`` ends with those that are under way."""
        self._is_stopping = True

    def close(self) -> None:
        """Let the workers play what is under way to its end, drop it, and let them go."""
        self._workers.close()

    def _result(self, pending: deque[tuple[range, Result]]) -> Chunk:
        """Return the first chunk under way; if its worker died, those that died with it are played again."""
        while True:
            games, result = pending.popleft()
            try:
                return result.result()
            except self._workers.deaths:
                self._count_death(games)
                pending.appendleft((games, self._workers.submit(games.start, len(games))))

    def _count_death(self, games: range) -> None:
        self._deaths[games.start] += 1
        if self._deaths[games.start] >= MAX_DEATHS:
            raise WorkerError(
                f"{words_for(games)}: {MAX_DEATHS} workers died of it; a bot crashes, or memory has run out"
            )
        self._notify(f"a worker died over {words_for(games)}, which is played again")

    def _size_at(self, start: int) -> int:
        """Return how many games the next chunk has: whole deals, or a part of one where that takes long enough."""
        left_of_deal = self._games_per_deal - start % self._games_per_deal
        if self._seconds_per_game == 0.0:
            return 1  # how long a game takes is not known yet
        scale = self._workers.chunk_scale
        size = max(1, min(scale * MAX_CHUNK_GAMES, int(scale * CHUNK_SECONDS / self._seconds_per_game)))
        if size <= left_of_deal:
            return size
        return left_of_deal + (size - left_of_deal) // self._games_per_deal * self._games_per_deal


class WholeDeals:
    """Makes whole deals of chunks that come in order; a part of a deal is held back until the rest of it has come.

    Parameters
    ----------
    games_per_deal : int
        How many games in a row belong to one deal.
    """

    def __init__(self, games_per_deal: int) -> None:
        self._games_per_deal = games_per_deal
        self._parts: list[Chunk] = []

    def take(self, chunk: Chunk) -> Chunk | None:
        """Return the chunk, joined to what was held back; None if it does not end where a deal does."""
        is_whole = (chunk.first_game + chunk.games) % self._games_per_deal == 0
        if is_whole and not self._parts:
            return chunk
        # What is held back outlives the buffers of the chunk.
        self._parts.append(replace(chunk, game_rows=chunk.game_rows.copy(), detail_rows=chunk.detail_rows.copy()))
        if not is_whole:
            return None
        parts, self._parts = self._parts, []
        return Chunk(
            parts[0].first_game,
            sum(part.games for part in parts),
            np.concatenate([part.game_rows for part in parts]),
            np.concatenate([part.detail_rows for part in parts]),
            sum(part.seconds for part in parts),
        )
