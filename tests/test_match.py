"""Matches: who sits where, and the same rows in the same order whatever workers and chunks."""

import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import rotated_seatings
from velonimo_sim import match
from velonimo_sim.errors import BotError, WorkerError
from velonimo_sim.game import GAMES
from velonimo_sim.match import Match, WholeDeals
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.workers import Chunk, Desk, Threads, Work

GAME = GAMES["velonimo"]
RULES = RuleSet.official()

Rows = NDArray[Any]


def real_work(players: int = 4, seed: int = 11) -> Work:
    bots = [GAME.parse_bot(text) for text in ("random", "greedy", "hold-hares", "rollout:n=1", "greedy")[:players]]
    return Work.of(GAME, GAME.open_table(bots, RULES, rotated_seatings(players), seed), RULES, players)


def chunks_of(work: Work, games: int, workers: int, games_per_deal: int = 1) -> Generator[Chunk, None, None]:
    """Play the games from 0 on by threads that are let go in the end."""
    with closing(Match(Threads(work, workers), games_per_deal, pytest.fail)) as match:
        yield from match.play(range(games))


def deals_of(work: Work, games: int, workers: int, games_per_deal: int) -> Iterator[Chunk]:
    """Play the games from 0 on, and yield whole deals."""
    whole_deals = WholeDeals(games_per_deal)
    for chunk in chunks_of(work, games, workers, games_per_deal):
        deals = whole_deals.take(chunk)
        if deals is not None:
            yield deals


class StubTable:
    """A table that writes the number of each game into its rows, and does what a test asks for before that."""

    holds_the_lock = False

    def __init__(self, players: int, before: Callable[[int, int], None] | None = None) -> None:
        self.players = players
        self.before = before
        self.calls: list[tuple[int, int]] = []
        self.buffers: set[int] = set()

    def play(self, first_game: int, games: int, game_rows: Rows, detail_rows: Rows) -> int:
        self.calls.append((first_game, games))
        self.buffers.add(game_rows.ctypes.data)
        if self.before:
            self.before(first_game, games)
        rows = games * self.players
        for table in (game_rows, detail_rows):
            table["game_id"][:rows] = np.repeat(np.arange(first_game, first_game + games), self.players)
        return rows


def stub_work(table: StubTable) -> Work:
    return Work(table, GAME.game_row, GAME.detail_row, table.players, table.players * 5)


def copied(chunks: Iterator[Chunk]) -> tuple[Rows, Rows]:
    """Return all rows of all chunks, copied before the next chunk is asked for."""
    parts = [(chunk.game_rows.copy(), chunk.detail_rows.copy()) for chunk in chunks]
    return np.concatenate([games for games, _ in parts]), np.concatenate([cols for _, cols in parts])


def same(a: Rows, b: Rows) -> bool:
    return a.shape == b.shape and all(np.array_equal(a[name], b[name]) for name in a.dtype.names or ())


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("games", [1, 2, 7, 999])
def test_chunks_yield_every_game_once_and_in_order(games: int, workers: int) -> None:
    chunks = [(chunk.first_game, chunk.games) for chunk in chunks_of(stub_work(StubTable(4)), games, workers)]
    assert [first for first, _ in chunks] == np.cumsum([0, *(size for _, size in chunks[:-1])]).tolist()
    assert sum(size for _, size in chunks) == games
    assert min(size for _, size in chunks) > 0


@pytest.mark.parametrize("workers", [1, 3])
def test_rows_of_a_chunk_are_those_of_its_games(workers: int) -> None:
    for chunk in chunks_of(stub_work(StubTable(3)), 500, workers):
        expected = np.repeat(np.arange(chunk.first_game, chunk.first_game + chunk.games), 3)
        assert chunk.game_rows["game_id"].tolist() == expected.tolist()
        assert chunk.detail_rows["game_id"].tolist() == expected.tolist()


def test_chunks_that_end_out_of_order_are_yielded_in_order() -> None:
    later_is_done = threading.Event()

    def first_waits_for_a_later_one(first_game: int, _games: int) -> None:
        if first_game == 0:
            assert later_is_done.wait(60)
        else:
            later_is_done.set()

    chunks = chunks_of(stub_work(StubTable(4, first_waits_for_a_later_one)), 12, 2)
    assert [(chunk.first_game, chunk.games) for chunk in chunks] == [(0, 1), (1, 1), (2, 1), (3, 9)]


@pytest.mark.parametrize("players", [2, 4])
def test_workers_do_not_change_the_rows(players: int) -> None:
    reference = copied(chunks_of(real_work(players), 150, 1))
    assert len(reference[0]) == 150 * players
    for workers in (2, 3):
        for expected, rows in zip(reference, copied(chunks_of(real_work(players), 150, workers)), strict=True):
            assert same(expected, rows)


@pytest.mark.parametrize(("most", "seconds"), [(5, 1e3), (64, 1e3), (1_000, 1e-9)])
def test_chunk_size_does_not_change_the_rows(most: int, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = copied(chunks_of(real_work(), 150, 2))
    monkeypatch.setattr(match, "MAX_CHUNK_GAMES", most)
    monkeypatch.setattr(match, "CHUNK_SECONDS", seconds)
    sizes = [chunk.games for chunk in chunks_of(real_work(), 150, 2)]
    assert max(sizes) == min(most, 150) if seconds > 1 else sizes[-1] == 1
    for expected, rows in zip(reference, copied(chunks_of(real_work(), 150, 2)), strict=True):
        assert same(expected, rows)


def test_chunks_use_the_same_few_buffers_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "CHUNK_SECONDS", 1e-9)
    table = StubTable(4)
    assert sum(1 for _ in chunks_of(stub_work(table), 400, 2)) > 100
    assert len(table.buffers) <= 3


def test_closing_early_leaves_no_thread_running() -> None:
    before = set(threading.enumerate())
    chunks = chunks_of(stub_work(StubTable(4)), 10**9, 3)
    next(chunks)
    assert set(threading.enumerate()) - before
    chunks.close()
    assert set(threading.enumerate()) - before == set()


def test_closing_early_plays_what_is_under_way_to_its_end() -> None:
    is_closing, ended = threading.Event(), []

    def later_ones_wait(first_game: int, _games: int) -> None:
        if first_game > 0:
            assert is_closing.wait(60)
        ended.append(first_game)

    table = StubTable(4, later_ones_wait)
    chunks = chunks_of(stub_work(table), 10**9, 2)
    assert next(chunks).first_game == 0
    is_closing.set()
    chunks.close()
    assert sorted(ended) == sorted(first for first, _ in table.calls)


def note_ends(chunks: Iterator[Chunk], ends: list[int]) -> None:
    """Append the number of games played after each chunk."""
    for chunk in chunks:
        ends.append(chunk.first_game + chunk.games)  # noqa: PERF401 - what came before a failure is kept


def fails_at_game_50(first_game: int, games: int) -> None:
    if first_game <= 50 < first_game + games:
        raise BotError("game 50", 50)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("seconds", [1e-9, 0.2])
def test_a_bot_that_fails_stops_the_match_after_all_games_before_it(
    workers: int, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match, "CHUNK_SECONDS", seconds)
    before, table, played = set(threading.enumerate()), StubTable(4, fails_at_game_50), [0]
    chunks = chunks_of(stub_work(table), 1_000, workers)
    with pytest.raises(BotError, match="game 50"):
        note_ends(chunks, played)
    assert played[-1] == 50
    assert set(threading.enumerate()) - before == set()


def test_a_match_that_is_stopped_ends_with_the_chunks_under_way() -> None:
    table, games = StubTable(2), []
    with closing(Match(Threads(stub_work(table), 2), 2, pytest.fail)) as played:
        for chunk in played.play(range(10**9)):
            games += range(chunk.first_game, chunk.first_game + chunk.games)
            if chunk.first_game >= 3:
                played.stop()
    assert games == list(range(len(games)))
    assert len(games) == sum(count for _, count in table.calls) < 10**5


# Whole deals.


@pytest.mark.parametrize("games_per_deal", [1, 4, 6, 24, 120])
@pytest.mark.parametrize("seconds", [1e-9, 0.2])
@pytest.mark.parametrize("workers", [1, 3])
def test_deals_are_made_whole_however_small_the_chunks(
    games_per_deal: int, seconds: float, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match, "CHUNK_SECONDS", seconds)
    games = 5 * games_per_deal
    sizes = []
    for chunk in deals_of(stub_work(StubTable(3)), games, workers, games_per_deal):
        assert chunk.first_game == sum(sizes)
        assert chunk.games % games_per_deal == 0
        expected = np.repeat(np.arange(chunk.first_game, chunk.first_game + chunk.games), 3)
        assert chunk.game_rows["game_id"].tolist() == chunk.detail_rows["game_id"].tolist() == expected.tolist()
        sizes.append(chunk.games)
    assert sum(sizes) == games


def test_a_deal_that_takes_long_is_shared_by_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "CHUNK_SECONDS", 1e-9)
    table = StubTable(3)
    (chunk,) = deals_of(stub_work(table), 24, 2, 24)
    assert (chunk.games, len(table.calls)) == (24, 24)


def test_a_range_of_games_begins_where_it_is_told_to() -> None:
    with closing(Match(Threads(stub_work(StubTable(3)), 2), 4, pytest.fail)) as played:
        chunks = [(chunk.first_game, chunk.games) for chunk in played.play(range(8, 40))]
    assert chunks[0][0] == 8
    assert sum(games for _, games in chunks) == 32


# Workers that die.


class WorkerDiedError(Exception):
    """What the result of a mortal worker raises."""


class MortalWorkers:
    """Workers at a stub table that die of some games, each as often as it is told."""

    chunk_scale = 1
    deaths = (WorkerDiedError,)
    most_chunks = 3

    def __init__(self, deaths_of_games: dict[int, int]) -> None:
        self.left = dict(deaths_of_games)
        self.desk = Desk(stub_work(StubTable(2)))

    def submit(self, first_game: int, games: int) -> "MortalResult":
        return MortalResult(self, first_game, games)

    def close(self) -> None:
        pass


class MortalResult:
    def __init__(self, workers: MortalWorkers, first_game: int, games: int) -> None:
        self.workers, self.first_game, self.games = workers, first_game, games

    def result(self) -> Chunk:
        for game in range(self.first_game, self.first_game + self.games):
            if self.workers.left.get(game, 0):
                self.workers.left[game] -= 1
                raise WorkerDiedError
        return self.workers.desk.play(self.first_game, self.games)


def test_what_died_with_its_worker_is_played_again_and_said_so() -> None:
    said: list[str] = []
    games = []
    for chunk in Match(MortalWorkers({0: 2, 2: 1}), 1, said.append).play(range(50)):
        games += chunk.game_rows["game_id"].tolist()
    assert games == np.repeat(np.arange(50), 2).tolist()
    assert said == [f"a worker died over game {game}, which is played again" for game in (0, 0, 2)]


class FaultyMortalWorkers(MortalWorkers):
    """Mortal workers with a bot that is at fault in game 5."""

    def submit(self, first_game: int, games: int) -> MortalResult:
        return FaultyMortalResult(self, first_game, games)


class FaultyMortalResult(MortalResult):
    def result(self) -> Chunk:
        if self.first_game <= 5 < self.first_game + self.games:
            raise BotError("game 5", 5)
        return super().result()


def test_a_worker_may_die_over_the_games_before_a_fault() -> None:
    said: list[str] = []
    workers, played = FaultyMortalWorkers({4: 1}), [0]
    with pytest.raises(BotError, match="game 5"):
        note_ends(Match(workers, 1, said.append).play(range(50)), played)
    assert played[-1] == 5
    assert len(said) == 1


def test_three_deaths_of_the_same_games_stop_the_match_and_name_them() -> None:
    played: list[int] = [0]
    with pytest.raises(WorkerError, match=r"^game 2: 3 workers died of it; a bot crashes, or memory has run out$"):
        note_ends(Match(MortalWorkers({2: 3}), 1, lambda _: None).play(range(50)), played)
    assert played[-1] == 2
