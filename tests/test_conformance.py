"""One suite over every game: games by numbers of players by rules; and wrong games that its checks must reject."""

from collections.abc import Callable, Iterator
from functools import cache
from itertools import count, islice
from typing import Any, NamedTuple

import numpy as np
import pytest

from conformance import (
    CHECKS,
    CHECKS_OF_GAMES,
    Traced,
    check_chunks,
    check_clones,
    check_deals,
    check_end,
    check_generator_is_predicate,
    check_imagined,
    check_legal_moves,
    check_made_moves,
    check_nothing_shown,
    check_places,
    check_record,
    check_refused_moves,
    check_rows,
    check_saved,
    check_sound,
    check_told,
    trace,
)
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.errors import IllegalMoveError
from velonimo_sim.game import GAMES, GameSpec
from velonimo_sim.record_faults import RecordFaultError

pytestmark = pytest.mark.kernel

TABLES = [
    pytest.param(game, players, number, id=f"{game.name}-{players}-{number}")
    for game in GAMES.values()
    for players in game.players
    for number in range(len(game.module("rules").VARIED))
    if not INTERPRETED or number == players % len(game.module("rules").VARIED)
]
"""Games by numbers of players by the rules that bots are checked under, which have a number in ``VARIED``."""

traced = cache(trace)


def name_of(check: Callable[..., None]) -> str:
    return check.__name__.removeprefix("check_")


@pytest.mark.parametrize("check", CHECKS, ids=name_of)
@pytest.mark.parametrize(("game", "players", "number"), TABLES)
def test_a_game_keeps_its_promises(game: GameSpec, players: int, number: int, check: Callable[[Traced], None]) -> None:
    check(traced(game, players, game.module("rules").VARIED[number]))


@pytest.mark.parametrize("check", CHECKS_OF_GAMES, ids=name_of)
@pytest.mark.parametrize(("game", "players", "number"), TABLES)
def test_games_of_a_table_keep_their_promises(
    game: GameSpec, players: int, number: int, check: Callable[[GameSpec, int, Any], None]
) -> None:
    check(game, players, game.module("rules").VARIED[number])


@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_the_traced_games_meet_every_phase(game: GameSpec) -> None:
    """The checks are about something, under all choices of rules together."""
    tables = [table.values for table in TABLES if table.values[0] is game]
    views = [
        state["view"]
        for _, players, number in tables
        for step in traced(game, players, game.module("rules").VARIED[number]).steps
        for state in (step.before, step.after)
    ]
    phases = game.module("view").Phase
    assert {phases(int(view["phase"])) for view in views} == set(phases)


# Wrong games, each of which one check must reject.

REJECTIONS = (AssertionError, pytest.fail.Exception, ValueError, RecordFaultError)


class Wrong(NamedTuple):
    """Something put in the place of a function of a game, given the right one; and the check that must see it."""

    check: Callable[[Traced], None]
    module: str
    function: str
    make: Callable[[Any], Any]


def edited(changes: Callable[..., None]) -> Callable[[Any], Any]:
    """Return what makes a function return something else: ``changes`` may write to what it returns."""

    def make(right: Callable[..., Any]) -> Callable[..., Any]:
        def wrong(*arguments: Any, **options: Any) -> Any:
            result = right(*arguments, **options)
            changes(result)
            return result

        return wrong

    return make


def after(changes: Callable[[Any], None]) -> Callable[[Any], Any]:
    """Return what makes a function write to its first argument, even if it raises."""

    def make(right: Callable[..., Any]) -> Callable[..., Any]:
        def wrong(first: Any, *arguments: Any, **options: Any) -> Any:
            try:
                return right(first, *arguments, **options)
            finally:
                changes(first)

        return wrong

    return make


def with_state(state: Any, field: str, value: int) -> None:
    state["view"][field] = value


def traced_as(wrong: Callable[[Iterator[Any]], Iterator[Any]]) -> Callable[[Any], Any]:
    """Return what makes the tables of a game trace their games wrongly."""

    def change(table: Any) -> None:
        right = table.trace
        table.trace = lambda *arguments: wrong(right(*arguments))

    return edited(change)


def with_another_player(loops: Iterator[Any]) -> Iterator[Any]:
    for loop in loops:
        spoilt = loop.copy()
        spoilt["state"]["view"]["players"] += 1
        yield spoilt


def broken_off(loops: Iterator[Any]) -> Iterator[Any]:
    return islice(loops, 10)


def in_all_rows(rows: Any, field: str, value: Any) -> None:
    rows[field] = value


def nameless(right: Callable[..., None]) -> Callable[..., None]:
    """Refuse without naming a rule."""

    def wrong(*arguments: Any) -> None:
        try:
            right(*arguments)
        except IllegalMoveError as error:
            raise IllegalMoveError(str(error)) from None

    return wrong


def showing_hands(right: Callable[..., Any]) -> Callable[..., Any]:
    """Let a view hold the hands of all as cards that are known."""

    def wrong(state: Any, seat: int) -> Any:
        view = right(state, seat)
        view["known"] = state["hands"]
        return view

    return wrong


WRONG = {
    "a legal move is left out": Wrong(
        check_generator_is_predicate, "legal", "all_legal_moves", lambda right: lambda view: right(view)[1:]
    ),
    "there is no move": Wrong(
        check_legal_moves, "legal", "all_legal_moves", lambda right: lambda view: right(view)[:0]
    ),
    "a legal move is listed twice": Wrong(
        check_legal_moves, "legal", "all_legal_moves", lambda right: lambda view: np.repeat(right(view), 2)
    ),
    "an illegal move is listed": Wrong(
        check_generator_is_predicate,
        "legal",
        "all_legal_moves",
        lambda right: lambda view: np.append(right(view), np.uint64(0)),
    ),
    "a text reads back to another move": Wrong(
        check_legal_moves, "moves", "parse_move", lambda right: lambda text: right(text) + np.uint64(1)
    ),
    "a refused move is made": Wrong(check_refused_moves, "step", "apply", lambda _: lambda *_: None),
    "a refused move changes the state": Wrong(
        check_refused_moves, "step", "apply", after(lambda state: with_state(state, "players", 1))
    ),
    "a refusal names no rule": Wrong(check_refused_moves, "step", "apply", nameless),
    "a move does something else by hand": Wrong(
        check_made_moves, "step", "apply", after(lambda state: with_state(state, "players", 1))
    ),
    "a state cannot be": Wrong(check_sound, "playout", "open_table", traced_as(with_another_player)),
    "a game stops before its end": Wrong(check_end, "playout", "open_table", traced_as(broken_off)),
    "bytes lose a field": Wrong(
        check_saved, "state", "from_bytes", edited(lambda state: with_state(state, "players", 1))
    ),
    "JSON loses a field": Wrong(
        check_saved, "state", "from_json", edited(lambda state: with_state(state, "players", 1))
    ),
    "a clone is no copy": Wrong(check_clones, "state", "clone", lambda _: lambda state: state),
    "a clone is another state": Wrong(
        check_clones, "state", "clone", edited(lambda state: with_state(state, "players", 1))
    ),
    "an imagined state looks otherwise": Wrong(
        check_imagined, "determinize", "determinize", edited(lambda state: with_state(state, "players", 1))
    ),
    "numbers of numpy are told": Wrong(
        check_told, "describe", "describe_view", edited(lambda told: told.update(players=np.int64(told["players"])))
    ),
    "a place is given twice": Wrong(
        check_places, "recreate", "recreate", edited(lambda played: in_all_rows(played[1], "place", 1))
    ),
    "a total is too high": Wrong(
        check_places, "recreate", "recreate", edited(lambda played: in_all_rows(played[1], "total", 10**6))
    ),
    "a total is not that of the game": Wrong(
        check_rows, "recreate", "recreate", edited(lambda played: in_all_rows(played[1], "total", -1))
    ),
    "a seat is missing in the rows": Wrong(
        check_rows, "recreate", "recreate", edited(lambda played: in_all_rows(played[1], "seat", 0))
    ),
    "detail rows are of another game": Wrong(
        check_rows, "recreate", "recreate", edited(lambda played: in_all_rows(played[2], "game_id", 3))
    ),
    "a record lacks a field": Wrong(
        check_record, "recreate", "recreate", edited(lambda played: played[0].pop("players"))
    ),
    "a record tells of another winner": Wrong(
        check_record, "recreate", "recreate", edited(lambda played: played[0].update(winner=9))
    ),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_a_wrong_game_is_rejected(game: GameSpec, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    put_in_place(WRONG[name], game, monkeypatch)
    with pytest.raises(REJECTIONS):
        WRONG[name].check(trace(game, game.players[0], game.rule_set.official()))


def test_a_hidden_card_that_is_shown_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a game with something to hide can do this wrong."""
    game = GAMES["velonimo"]
    put_in_place(Wrong(check_nothing_shown, "state", "view_of", showing_hands), game, monkeypatch)
    with pytest.raises(REJECTIONS):
        check_nothing_shown(traced(game, 3, game.rule_set.official()))


def put_in_place(wrong: Wrong, game: GameSpec, monkeypatch: pytest.MonkeyPatch) -> None:
    module = game.module(wrong.module)
    monkeypatch.setattr(module, wrong.function, wrong.make(getattr(module, wrong.function)))


def test_every_check_of_a_game_rejects_a_wrong_one() -> None:
    assert {wrong.check for wrong in WRONG.values()} | {check_nothing_shown} == set(CHECKS)


def with_another_seed(right: Callable[..., Any]) -> Callable[..., Any]:
    seeds = count()
    return lambda bots, rules, seatings, _, *more: right(bots, rules, seatings, next(seeds), *more)


def with_one_seed(right: Callable[..., Any]) -> Callable[..., Any]:
    return lambda bots, rules, seatings, _, *more: right(bots, rules, seatings, 1, *more)


def starting_anew(table: Any) -> None:
    right = table.play
    table.play = lambda _, *more: right(0, *more)


def dealing_one_deal(table: Any) -> None:
    right = table.trace
    table.trace = lambda _, *more: right(0, *more)


WRONG_TABLES = {
    "the seed does not matter": (check_chunks, with_one_seed),
    "every table has dice and cards of its own": (check_chunks, with_another_seed),
    "every chunk begins with the first game": (check_chunks, edited(starting_anew)),
    "games of a deal are dealt differently": (check_deals, with_another_seed),
    "all games are of one deal": (check_deals, edited(dealing_one_deal)),
}


@pytest.mark.parametrize("name", WRONG_TABLES)
@pytest.mark.parametrize("game", GAMES.values(), ids=GAMES)
def test_a_wrong_table_is_rejected(game: GameSpec, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    check, make = WRONG_TABLES[name]
    playout = game.module("playout")
    monkeypatch.setattr(playout, "open_table", make(playout.open_table))
    with pytest.raises(REJECTIONS):
        check(game, game.players[0], game.rule_set.official())
