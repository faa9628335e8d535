"""What every game of the house promises, as checks of games that were traced state by state.

Whatever belongs to a game is found by its name, through ``GameSpec.module``, at the moment it is used: a test may put
something wrong in its place and see the check fail. What the two games do not have in common is in ``PARTICULARS``.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from velonimo_sim._jit import INTERPRETED
from velonimo_sim.errors import IllegalMoveError
from velonimo_sim.game import GameSpec
from velonimo_sim.game_records import game_name
from velonimo_sim.loop import Stop
from velonimo_sim.rng import new_stream
from velonimo_sim.schedule import make_schedule

SEED = 11
NOBODY = 255
NO_MOVE = 1
"""The refusal of a word that is no move, in every game."""
EVERY = 20 if INTERPRETED else 6
"""Of the states of a game, every so-and-so-many-th is saved, shown and imagined; all of them are asked for moves."""
DISTURBED = 4
"""Words that are tried beside the legal moves of a state, each with one bit of a legal move changed."""


@dataclass(frozen=True)
class Step:
    """A move of a traced game: what stood before and after, and the stream that it drew chance from."""

    before: np.void
    move: int
    after: np.void
    chance: np.void


@dataclass(frozen=True)
class Traced:
    """A game played by bots from state to state, and recreated with its record; the rows of both."""

    game: GameSpec
    players: int
    rules: Any
    number: int
    steps: list[Step]
    played_rows: tuple[NDArray[np.void], NDArray[np.void]]
    record: dict[str, Any]
    game_rows: NDArray[np.void]
    detail_rows: NDArray[np.void]

    def of(self, module: str) -> Any:
        return self.game.module(module)

    @property
    def end(self) -> np.void:
        return self.steps[-1].after

    @property
    def states(self) -> list[np.void]:
        """All states in which a seat decides."""
        return [step.before for step in self.steps]

    @property
    def some(self) -> list[np.void]:
        """Some of these states, and the end."""
        return [*self.states[::EVERY], self.end]

    def listed(self, state: np.void) -> list[int]:
        """Return the legal moves of the seat to act."""
        moves: list[int] = self.of("legal").all_legal_moves(state["view"]).tolist()
        return moves

    def described(self, state: np.void, seat: int) -> dict[str, Any]:
        """Return what a plain bot is told in a seat."""
        view = self.of("state").view_of(state, seat)
        told: dict[str, Any] = self.of("describe").describe_view(view, self.rules.in_force(self.players))
        return told

    def imagined(self, state: np.void, seed: int) -> np.void:
        """Return a state with all that the seat to act does not see drawn anew."""
        other: np.void = self.of("determinize").determinize(state["view"], new_stream(SEED, seed))
        return other


def table_of(game: GameSpec, players: int, rules: Any, seed: int = SEED) -> Any:
    """Return a table of ``random`` and ``greedy``, who change seats from game to game."""
    seatings = make_schedule([str(bot) for bot in range(players)], players).seatings
    bots = [game.parse_bot(("random", "greedy")[bot % 2]) for bot in range(players)]
    return game.open_table(bots, rules, seatings, seed)


def empty_rows(game: GameSpec, players: int, rules: Any, games: int = 1) -> tuple[NDArray[np.void], NDArray[np.void]]:
    """Return room for the rows of some games."""
    details = games * game.most_detail_rows(rules, players)
    return np.zeros(games * players, game.game_row), np.zeros(details, game.detail_row)


def trace(game: GameSpec, players: int, rules: Any, number: int = 0) -> Traced:
    """Play a game twice: once step by step, once for its record."""
    table = table_of(game, players, rules)
    game_rows, detail_rows = empty_rows(game, players, rules)
    steps, before, chance = [], np.void(b""), np.void(b"")
    for loop in table.trace(number, game_rows, detail_rows):
        after = loop["state"].copy()
        if loop["stopped"] == Stop.MOVED:
            steps.append(Step(before, int(loop["move"]), after, chance))
        before, chance = after, loop["chance"].copy()
    rows = (game_rows, detail_rows[: loop["detail_rows"]])
    return Traced(game, players, rules, number, steps, rows, *game.recreate(table, number))


# What the games do not have in common.


@dataclass(frozen=True)
class Particulars:
    """What a check has to know of one game: how to read its rows off the states."""

    totals: Callable[[np.void], NDArray[Any]]
    decisions: Callable[[Traced], tuple[int, int]]
    chance: Callable[[Traced], dict[Any, int]]


def _turns_of_cols(traced: Traced) -> tuple[int, int]:
    """Return the turns of the col rows, and the moves that were made in the two phases that are turns."""
    phases = [int(state["view"]["phase"]) for state in traced.states]
    return int(traced.detail_rows["turns"].sum()), sum(phase <= 1 for phase in phases)


def _hands_dealt(traced: Traced) -> dict[Any, int]:
    return {(int(row["col"]), int(row["seat"])): int(row["hand"]) for row in traced.detail_rows}


def _decisions_of_race(traced: Traced) -> tuple[int, int]:
    return int(traced.detail_rows["decisions"].sum()), len(traced.steps)


def _dice_thrown(traced: Traced) -> dict[Any, int]:
    """Return the dice by turn and die; the turn that a state belongs to is that of the ride that threw them."""
    views = [step.after["view"] for step in traced.steps]
    return {(int(view["turns"]), die): int(n) for view in views for die, n in enumerate(view["dice"]) if n}


PARTICULARS = {
    "velonimo": Particulars(lambda view: view["totals"], _turns_of_cols, _hands_dealt),
    "velocity": Particulars(lambda view: view["finished"], _decisions_of_race, _dice_thrown),
}


# Moves.


def check_legal_moves(traced: Traced) -> None:
    """Check that there is a move until the game is over, each listed once and read back from its text."""
    moves = traced.of("moves")
    assert traced.listed(traced.end) == []
    for state in traced.states:
        listed = traced.listed(state)
        assert listed, "nothing to choose from"
        assert len(set(listed)) == len(listed), "a move is listed twice"
        for word in listed:
            assert int(moves.parse_move(moves.move_text(word))) == word


def check_generator_is_predicate(traced: Traced) -> None:
    """Check that a word is listed if and only if nothing refuses it."""
    legal, draws = traced.of("legal"), np.random.default_rng(SEED)
    for state in traced.states:
        listed = traced.listed(state)
        for word in {*listed, *disturbed(listed, draws)}:
            assert (legal.refusal(state["view"], np.uint64(word)) == legal.Refusal.NONE) == (word in listed)


def check_refused_moves(traced: Traced) -> None:
    """Check that a refusal names the rule, unless the word is no move at all, and changes nothing."""
    legal, step, draws = traced.of("legal"), traced.of("step"), np.random.default_rng(SEED)
    for state in traced.some[:-1]:
        listed = traced.listed(state)
        for word in disturbed(listed, draws) - set(listed):
            tried = state.copy()
            with pytest.raises(IllegalMoveError) as refused:
                step.apply(tried, word, new_stream(SEED))
            is_a_move = legal.refusal(state["view"], np.uint64(word)) != NO_MOVE
            assert bool(refused.value.rule) == is_a_move, f"the reason is: {refused.value}"
            assert tried.tobytes() == state.tobytes(), "a refused move has changed the state"


def disturbed(listed: list[int], draws: np.random.Generator) -> set[int]:
    """Return legal moves with one bit of each changed."""
    return {
        listed[int(draws.integers(len(listed)))] ^ 2 ** int(draws.integers(64 if bit % 2 else 16))
        for bit in range(DISTURBED)
    }


def check_made_moves(traced: Traced) -> None:
    """Check that a move made by hand leads where it led in the compiled loop."""
    for made in traced.steps:
        state = made.before.copy()
        traced.of("step").apply(state, made.move, made.chance.copy())
        assert state.tobytes() == made.after.tobytes()


# States.


def check_sound(traced: Traced) -> None:
    """Check that no state is impossible."""
    for state in [*traced.some, traced.end]:
        assert traced.of("state").validate(state) == []


def check_saved(traced: Traced) -> None:
    """Check that a state reads back from its bytes and from its JSON."""
    state = traced.of("state")
    for saved in traced.some:
        assert state.from_bytes(state.to_bytes(saved)).tobytes() == saved.tobytes()
        assert state.from_json(state.to_json(saved)).tobytes() == saved.tobytes()


def check_clones(traced: Traced) -> None:
    """Check that a clone is the same, and that what happens to it leaves the original alone."""
    for made in traced.steps[::EVERY]:
        before = made.before.tobytes()
        copy = traced.of("state").clone(made.before)
        assert copy.tobytes() == before
        traced.of("step").apply(copy, made.move, made.chance.copy())
        assert made.before.tobytes() == before
        assert copy.tobytes() != before


# What is hidden.


def check_imagined(traced: Traced) -> None:
    """Check that what a seat imagines is a sound state that looks to it as the true one does."""
    for seed, state in enumerate(traced.some[:-1]):
        other = traced.imagined(state, seed)
        assert traced.of("state").validate(other) == []
        assert other["view"].tobytes() == state["view"].tobytes()


def check_nothing_shown(traced: Traced) -> None:
    """Check that views, what is told of them and legal moves depend on nothing that the seat cannot see."""
    for seed, state in enumerate(traced.some[:-1]):
        seat, other = int(state["view"]["turn"]), traced.imagined(state, seed)
        views = [traced.of("state").view_of(looked_at, seat).tobytes() for looked_at in (state, other)]
        assert views[0] == views[1] == state["view"].tobytes()
        assert traced.described(state, seat) == traced.described(other, seat)
        assert traced.listed(state) == traced.listed(other)


def check_told(traced: Traced) -> None:
    """Check that what a plain bot is told is plain Python that JSON can hold."""
    for state in traced.some:
        for seat in range(traced.players):
            told = traced.described(state, seat)
            assert is_plain(told), "not plain Python"
            json.dumps(told)


def is_plain(value: object) -> bool:
    """Whether a value is made of Python's own types alone."""
    if isinstance(value, dict):
        return all(map(is_plain, value)) and all(map(is_plain, value.values()))
    if isinstance(value, list | tuple):
        return all(map(is_plain, value))
    return value is None or type(value) in (bool, int, float, str)


# The end.


def check_end(traced: Traced) -> None:
    """Check that games end, and that nobody is to act then."""
    phases = traced.of("view").Phase
    assert phases(int(traced.end["view"]["phase"])) is phases.GAME_OVER
    assert traced.end["view"]["turn"] == NOBODY
    assert all(state["view"]["turn"] < traced.players for state in traced.states)


def check_places(traced: Traced) -> None:
    """Check that places are 1 to the number of players, each once, and totals within what can be."""
    rows = traced.game_rows
    assert sorted(rows["place"].tolist()) == list(range(1, traced.players + 1))
    assert rows["won"].tolist() == (rows["place"] == 1).tolist()
    assert 0 <= rows["total"].min() <= rows["total"].max() <= traced.game.most_points(traced.rules, traced.players)


def check_rows(traced: Traced) -> None:
    """Check that the rows say what happened."""
    particulars, rows = PARTICULARS[traced.game.name], traced.game_rows
    assert rows["seat"].tolist() == list(range(traced.players))
    assert set(rows["game_id"].tolist()) == set(traced.detail_rows["game_id"].tolist()) == {traced.number}
    assert set(rows["deal_id"].tolist()) == {traced.number // traced.players}
    assert not rows["fault"].any()
    assert not rows["faults"].any()
    assert rows["total"].tolist() == particulars.totals(traced.end["view"])[: traced.players].tolist()
    told, made = particulars.decisions(traced)
    assert told == made
    assert len(traced.detail_rows) <= traced.game.most_detail_rows(traced.rules, traced.players)


def check_record(traced: Traced) -> None:
    """Check that a record has the form of one, survives JSON and replays to the same states, with the same rows."""
    record = json.loads(json.dumps(traced.record))
    assert game_name(record) == traced.game.name
    traced.of("record_format").check_format(record)
    rules = traced.of("record_format").rules_of(record, None)
    replayed = [after.tobytes() for _, _, after in traced.of("record").replay(record, rules)]
    assert replayed[-1] == traced.end.tobytes()
    assert {step.after.tobytes() for step in traced.steps} <= set(replayed)
    for played, recreated in zip(traced.played_rows, (traced.game_rows, traced.detail_rows), strict=True):
        assert recreated.tobytes() == played.tobytes()


CHECKS = (
    check_legal_moves,
    check_generator_is_predicate,
    check_refused_moves,
    check_made_moves,
    check_sound,
    check_saved,
    check_clones,
    check_imagined,
    check_nothing_shown,
    check_told,
    check_end,
    check_places,
    check_rows,
    check_record,
)
"""Checks of one traced game."""


# Games beside each other.


def check_chunks(game: GameSpec, players: int, rules: Any) -> None:
    """Check that a seed gives the same rows, however the games are handed out, and another seed others."""
    games = 5
    whole = rows_of(game, players, rules, (games,))
    for sizes in ((games,), (1, 3, 1), (2, 3)):
        assert rows_of(game, players, rules, sizes) == whole
    assert rows_of(game, players, rules, (games,), SEED + 1) != whole


def rows_of(game: GameSpec, players: int, rules: Any, sizes: tuple[int, ...], seed: int = SEED) -> tuple[bytes, bytes]:
    """Return the rows of consecutive games, played in chunks."""
    table, first, parts = table_of(game, players, rules, seed), 0, []
    for games in sizes:
        game_rows, detail_rows = empty_rows(game, players, rules, games)
        written = table.play(first, games, game_rows, detail_rows)
        parts.append((game_rows.tobytes(), detail_rows[:written].tobytes()))
        first += games
    return b"".join(games for games, _ in parts), b"".join(details for _, details in parts)


def check_deals(game: GameSpec, players: int, rules: Any) -> None:
    """Check that games of one deal share chance, and that another deal has another."""
    chance = [PARTICULARS[game.name].chance(trace(game, players, rules, number)) for number in range(players + 1)]
    *same_deal, next_deal = chance
    for other in same_deal[1:]:
        common = set(same_deal[0]) & set(other)
        assert len(common) >= 4
        assert all(same_deal[0][key] == other[key] for key in common)
    assert any(same_deal[0][key] != next_deal[key] for key in set(same_deal[0]) & set(next_deal))


CHECKS_OF_GAMES = (check_chunks, check_deals)
"""Checks of several games at a table."""
