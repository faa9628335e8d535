"""Matches: who sits where, and the same rows in the same order whatever workers and chunks."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from velonimo_sim import match
from velonimo_sim.errors import BotError
from velonimo_sim.game import GAMES
from velonimo_sim.match import Chunk, Match, available_cores, rotated_seatings
from velonimo_sim.velonimo.rules import RuleSet

GAME = GAMES["velonimo"]
RULES = RuleSet.official()

Rows = NDArray[Any]


def real_match(players: int = 4, seed: int = 11) -> Match:
    bots = [GAME.parse_bot(text) for text in ("random", "greedy", "hold-hares", "rollout:n=1", "greedy")[:players]]
    table = GAME.open_table(bots, RULES, rotated_seatings(players), seed)
    return Match(GAME, table, players, GAME.most_col_rows(RULES, players))


class StubTable:
    """A table that writes the number of each game into its rows, and does what a test asks for before that."""

    holds_the_lock = False

    def __init__(self, players: int, before: Callable[[int, int], None] | None = None) -> None:
        self.players = players
        self.before = before
        self.calls: list[tuple[int, int]] = []
        self.buffers: set[int] = set()

    def play(self, first_game: int, games: int, game_rows: Rows, col_rows: Rows) -> int:
        self.calls.append((first_game, games))
        self.buffers.add(game_rows.ctypes.data)
        if self.before:
            self.before(first_game, games)
        rows = games * self.players
        for table in (game_rows, col_rows):
            table["game_id"][:rows] = np.repeat(np.arange(first_game, first_game + games), self.players)
        return rows


def stub_match(table: StubTable) -> Match:
    return Match(GAME, table, table.players, table.players * 5)


def copied(chunks: Iterator[Chunk]) -> tuple[Rows, Rows]:
    """Return all rows of all chunks, copied before the next chunk is asked for."""
    parts = [(chunk.game_rows.copy(), chunk.col_rows.copy()) for chunk in chunks]
    return np.concatenate([games for games, _ in parts]), np.concatenate([cols for _, cols in parts])


def same(a: Rows, b: Rows) -> bool:
    return a.shape == b.shape and all(np.array_equal(a[name], b[name]) for name in a.dtype.names or ())


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_in_as_many_games_as_players_each_bot_sits_in_each_seat_once(players: int) -> None:
    seatings = rotated_seatings(players)
    assert seatings.shape == (players, players)
    for line in (*seatings, *seatings.T):
        assert sorted(line.tolist()) == list(range(players))


def test_bots_move_on_one_seat_from_game_to_game() -> None:
    assert rotated_seatings(4).tolist() == [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0]]


def test_cores_of_this_process() -> None:
    assert available_cores() >= 1


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("games", [1, 2, 7, 999])
def test_chunks_yield_every_game_once_and_in_order(games: int, workers: int) -> None:
    chunks = [(chunk.first_game, chunk.games) for chunk in stub_match(StubTable(4)).chunks(games, workers)]
    assert [first for first, _ in chunks] == np.cumsum([0, *(size for _, size in chunks[:-1])]).tolist()
    assert sum(size for _, size in chunks) == games
    assert min(size for _, size in chunks) > 0


@pytest.mark.parametrize("workers", [1, 3])
def test_rows_of_a_chunk_are_those_of_its_games(workers: int) -> None:
    for chunk in stub_match(StubTable(3)).chunks(500, workers):
        expected = np.repeat(np.arange(chunk.first_game, chunk.first_game + chunk.games), 3)
        assert chunk.game_rows["game_id"].tolist() == expected.tolist()
        assert chunk.col_rows["game_id"].tolist() == expected.tolist()


def test_chunks_that_end_out_of_order_are_yielded_in_order() -> None:
    later_is_done = threading.Event()

    def first_waits_for_a_later_one(first_game: int, _games: int) -> None:
        if first_game == 0:
            assert later_is_done.wait(60)
        else:
            later_is_done.set()

    chunks = stub_match(StubTable(4, first_waits_for_a_later_one)).chunks(12, 2)
    assert [(chunk.first_game, chunk.games) for chunk in chunks] == [(0, 1), (1, 1), (2, 10)]


@pytest.mark.parametrize("players", [2, 4])
def test_workers_do_not_change_the_rows(players: int) -> None:
    reference = copied(real_match(players).chunks(150, 1))
    assert len(reference[0]) == 150 * players
    for workers in (2, 3):
        for expected, rows in zip(reference, copied(real_match(players).chunks(150, workers)), strict=True):
            assert same(expected, rows)


@pytest.mark.parametrize(("most", "seconds"), [(5, 1e3), (64, 1e3), (1_000, 1e-9)])
def test_chunk_size_does_not_change_the_rows(most: int, seconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    reference = copied(real_match().chunks(150, 2))
    monkeypatch.setattr(match, "MAX_CHUNK_GAMES", most)
    monkeypatch.setattr(match, "CHUNK_SECONDS", seconds)
    sizes = [chunk.games for chunk in real_match().chunks(150, 2)]
    assert max(sizes) == min(most, 150) if seconds > 1 else sizes[-1] == 1
    for expected, rows in zip(reference, copied(real_match().chunks(150, 2)), strict=True):
        assert same(expected, rows)


def test_chunks_use_the_same_few_buffers_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "CHUNK_SECONDS", 1e-9)
    table = StubTable(4)
    assert sum(1 for _ in stub_match(table).chunks(400, 2)) > 100
    assert len(table.buffers) <= 3


def test_closing_early_leaves_no_thread_running() -> None:
    before = set(threading.enumerate())
    chunks = stub_match(StubTable(4)).chunks(10**9, 3)
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
    chunks = stub_match(table).chunks(10**9, 2)
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
        raise BotError("game 50")


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("seconds", [1e-9, 0.2])
def test_a_bot_that_fails_stops_the_match_after_all_chunks_before_it(
    workers: int, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match, "CHUNK_SECONDS", seconds)
    before, table, played = set(threading.enumerate()), StubTable(4, fails_at_game_50), [0]
    chunks = stub_match(table).chunks(1_000, workers)
    with pytest.raises(BotError, match="game 50"):
        note_ends(chunks, played)
    failing = next(first for first, games in sorted(table.calls) if first <= 50 < first + games)
    assert played[-1] == failing
    assert set(threading.enumerate()) - before == set()
