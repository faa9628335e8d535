"""A view in plain Python, for plain bots, and in some lines of text, for people."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from velonimo_sim.velocity.dice import DICE, DIE_NAMES, TEAMS
from velonimo_sim.velocity.legal import all_legal_moves
from velonimo_sim.velocity.moves import Move
from velonimo_sim.velocity.step import place_of
from velonimo_sim.velocity.track import FINISH
from velonimo_sim.velocity.view import NOBODY, End, Phase, View

_RIDES = ("solo", "pack")
_SPENDING = ("nothing", "refuel", "breakaway")


def describe_moves(view: View) -> list[Move]:
    """Return the legal moves of the seat to act."""
    return [Move(word) for word in all_legal_moves(view).tolist()]


def describe_view(view: View, rules: Mapping[str, Any]) -> dict[str, Any]:
    """Return a view as plain Python, under the names of the record's fields: nobody as None, dice by name.

    Parameters
    ----------
    view : numpy.void
        A record of dtype ``VIEW``.
    rules : mapping
        The options in force, by name.

    Returns
    -------
    dict
        Lists by seat end with the last seat at the table. ``couriers`` has the spaces of those that race; ``ride`` is
        None before it is chosen; ``places`` are those of the players, as they would be if the race ended now.
    """
    players, phase = int(view["players"]), Phase(int(view["phase"]))
    has_ride = phase not in (Phase.RIDE, Phase.GAME_OVER)
    return {
        "seat": seat_or_none(view["seat"]),
        "players": players,
        "teams": list(TEAMS[:players]),
        "phase": phase.name.lower(),
        "turn": seat_or_none(view["turn"]),
        "active": seat_or_none(view["active"]),
        "starter": int(view["starter"]),
        "turns": int(view["turns"]),
        "couriers": [spaces_of(view, seat) for seat in range(players)],
        "car_park": int(view["rules"]["length"]) + 1,
        "finished": view["finished"][:players].tolist(),
        "finish": seats_in_finish(view),
        "cans": view["cans"][:players].tolist(),
        "supply": int(view["supply"]),
        "ride": _RIDES[view["is_pack"]] if has_ride else None,
        "spent": _SPENDING[view["spent"]],
        "dice": {DIE_NAMES[die]: int(view["dice"][die]) for die in range(DICE) if view["dice"][die]},
        "origin": int(view["origin"]) or None,
        "target": int(view["target"]) or None,
        "arrived": view["arrived"][:players].tolist(),
        "due": int(view["due"]),
        "places": [int(place_of(view, seat)) for seat in range(players)],
        "end": End(int(view["end"])).words if view["end"] else None,
        "rules": dict(rules),
    }


def spaces_of(view: View, seat: int) -> list[int]:
    """Return the spaces of the couriers of a team that are not in the finish, the one furthest back first."""
    return sorted((int(space) for space in view["couriers"][seat] if space != FINISH), reverse=True)


def seats_in_finish(view: View) -> list[int]:
    """Return the seats of the couriers in the finish, by finish place."""
    return [int(seat) for seat in view["finish"] if seat != NOBODY]


def seat_or_none(seat: int | np.uint8) -> int | None:
    """Return a seat, nobody as None."""
    return None if seat == NOBODY else int(seat)


def tell_view(view: Mapping[str, Any]) -> str:
    """Return a view as ``describe_view`` gives it in some lines of text: the race, whose turn it is, and the dice."""
    lines = [
        f"VeloCity, {view['players']} players, turn {view['turns'] + 1}, {number_of_cans(view['supply'])} in the supply"
    ]
    lines += [_tell_seat(view, seat) for seat in range(view["players"])]
    if view["phase"] == "game_over":
        winner = view["places"].index(1)
        return "\n".join([*lines, f"race over by {view['end']}: {view['teams'][winner]} has won"])
    if view["ride"]:
        dice = ", ".join(f"{die} {number}" for die, number in view["dice"].items())
        start = f" from {space_name(view['origin'], view['car_park'])}" if view["origin"] else ""
        goal = f" to {view['target']}" if view["target"] else ""
        lines.append(f"{view['teams'][view['active']]} rides {view['ride']}{start}{goal}, dice: {dice}")
    return "\n".join([*lines, f"{view['teams'][view['turn']]} to act: {view['phase']}"])


def _tell_seat(view: Mapping[str, Any], seat: int) -> str:
    pointer = ">" if seat == view["turn"] else " "
    spaces = " ".join(space_name(space, view["car_park"]) for space in view["couriers"][seat]) or "none racing"
    places = [str(place) for place, holder in enumerate(view["finish"], 1) if holder == seat]
    finish = f", finish {' '.join(places)}" if places else ""
    return f"{pointer} {view['teams'][seat]:<6} {spaces}{finish}, {number_of_cans(view['cans'][seat])}"


def space_name(space: int, car_park: int) -> str:
    """Return a space as people and moves call it."""
    return "park" if space == car_park else str(space)


def number_of_cans(cans: int) -> str:
    """Return how many cans in words."""
    return f"{cans} can" if cans == 1 else f"{cans} cans"
