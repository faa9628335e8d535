"""Races of VeloCity for its tests: positions laid out by hand, and those that random play reaches."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from velonimo_sim.bits import bit
from velonimo_sim.rng import CHANCE, new_stream
from velonimo_sim.velocity.dice import TEAMS
from velonimo_sim.velocity.legal import all_legal_moves
from velonimo_sim.velocity.moves import move_text, parse_move
from velonimo_sim.velocity.rules import RuleSet
from velonimo_sim.velocity.state import State, clone, new_state, validate
from velonimo_sim.velocity.step import apply
from velonimo_sim.velocity.track import FINISH
from velonimo_sim.velocity.view import Phase


def seat_of(team: str) -> int:
    return TEAMS.index(team)


def lay_out(
    couriers: Mapping[str, str],
    active: str = "red",
    cans: Mapping[str, int] | None = None,
    supply: int = 10,
    finish: str = "",
    players: int = 7,
    starter: str = "",
    **options: Any,
) -> State:
    """Return a race in which a team is about to choose its ride.

    Spaces by team, ``{"blue": "33 33 5"}``; couriers that are not named stand in the car park. ``finish`` has the team
    in each finish place.
    """
    cans = cans or {}
    state = new_state(players, RuleSet(**{"cans": supply + sum(cans.values())} | options))
    view, length = state["view"], int(state["view"]["rules"]["length"])
    view["supply"] = supply
    for team, number in cans.items():
        view["cans"][seat_of(team)] = number
    for place, team in enumerate(finish.split()):
        view["finish"][place] = seat_of(team)
        view["finished"][seat_of(team)] += 1
        view["last_place"][seat_of(team)] = place + 1
        view["n_finished"] += 1
    for seat in range(players):
        named = [FINISH] * int(view["finished"][seat])
        named += [length + 1 if space == "park" else int(space) for space in couriers.get(TEAMS[seat], "").split()]
        view["couriers"][seat, : len(named)] = named
        view["spaces"][seat] = sum({int(bit(int(space))) for space in view["couriers"][seat] if space != FINISH})
    view["seat"] = view["turn"] = view["active"] = seat_of(active)
    view["starter"] = seat_of(starter or active)
    view["turns"] = (seat_of(active) - int(view["starter"])) % players
    assert validate(state) == []
    return state


def do(state: State, *moves: str, **dice: int) -> State:
    """Make legal moves; the dice are those that a ride among them throws."""
    for text in moves:
        apply(state, parse_move(text), thrown=dice)
        assert validate(state) == []
    return state


def legal(state: State) -> list[str]:
    """Return the texts of all legal moves."""
    return [move_text(move) for move in all_legal_moves(state["view"])]


def couriers(state: State, team: str) -> list[int]:
    """Return where the couriers of a team are, the farthest from the finish line first."""
    racing = state["view"]["couriers"][seat_of(team), : state["view"]["rules"]["couriers"]]
    return sorted((int(space) for space in racing), reverse=True)


def cans(state: State, team: str) -> int:
    return int(state["view"]["cans"][seat_of(team)])


def asks(state: State) -> tuple[Phase, str]:
    """Return what has to be decided, and by which team; nobody's name is empty."""
    turn = int(state["view"]["turn"])
    return Phase(int(state["view"]["phase"])), TEAMS[turn] if turn < len(TEAMS) else ""


def states_of_race(players: int, seed: int, rules: RuleSet | None = None, starter: int = 0) -> Iterator[State]:
    """Yield a copy of every state of a race of random moves, the end of the race included."""
    state, dice, choices = new_state(players, rules, starter), new_stream(seed, 0, CHANCE), np.random.default_rng(seed)
    yield clone(state)
    while state["view"]["phase"] != Phase.GAME_OVER:
        moves = all_legal_moves(state["view"])
        apply(state, moves[choices.integers(len(moves))], dice)
        yield clone(state)
