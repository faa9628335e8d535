"""One suite over every game: games by numbers of players by rules; and wrong games that its checks must reject."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

from conformance import (
    CHECKS,
    CHECKS_OF_GAMES,
    Traced,
    trace,
)
from velonimo_sim.game import GAMES, GameSpec

pytestmark = pytest.mark.kernel

TABLES = [
    pytest.param(game, players, number, id=f"{game.name}-{players}-{number}")
    for game in GAMES.values()
    for players in game.players
    for number in range(len(game.module("rules").VARIED))
]
"""Every game with every number of players under every choice of rules that bots are checked under, by its number."""

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
    """The checks are about something: every phase, under every choice of rules together."""
    views = [
        state["view"]
        for players in game.players
        for rules in game.module("rules").VARIED
        for step in traced(game, players, rules).steps
        for state in (step.before, step.after)
    ]
    phases = game.module("view").Phase
    assert {phases(int(view["phase"])) for view in views} == set(phases)
