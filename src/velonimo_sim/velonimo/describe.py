"""A view in plain Python, for people and for plain bots."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from velonimo_sim.velonimo.cards import card_texts
from velonimo_sim.velonimo.moves import author_of, logged_text
from velonimo_sim.velonimo.view import NOBODY, Phase, View


def describe_view(view: View, rules: Mapping[str, Any]) -> dict[str, Any]:
    """Return a view as plain Python, under the names of the record's fields: cards by name, nobody as None.

    Parameters
    ----------
    view : numpy.void
        A record of dtype ``VIEW``.
    rules : mapping
        The options in force, by name.

    Returns
    -------
    dict
        Lists by seat end with the last seat at the table; ``col_value``, the points per opponent in this col, is added.
    """
    players, seat = int(view["players"]), int(view["seat"])
    return {
        "seat": seat,
        "players": players,
        "phase": Phase(int(view["phase"])).name.lower(),
        "turn": _seat_or_none(view["turn"]),
        "hand": card_texts(view["hand"]),
        "known": {holder: card_texts(view["known"][holder]) for holder in range(players) if holder != seat},
        "sizes": view["sizes"][:players].tolist(),
        "racing": int(view["racing"]),
        "beat": int(view["beat"]),
        "author": _seat_or_none(view["author"]),
        "passed_on": view["passed_on"][:players].tolist(),
        "played": card_texts(view["played"]),
        "col": int(view["col"]),
        "col_value": int(view["rules"]["col_values"][view["col"] - 1]),
        "starter": int(view["starter"]),
        "totals": view["totals"][:players].tolist(),
        "points": view["points"][:players].tolist(),
        "out_order": view["out_order"][:players].tolist(),
        "wearer": _seat_or_none(view["wearer"]),
        "jersey_spent": bool(view["jersey_spent"]),
        "swap_count": int(view["swap_count"]),
        "swap_victim": _seat_or_none(view["swap_victim"]),
        "reward": next(iter(card_texts(view["reward"])), None),
        "pile_size": int(view["pile_size"]),
        "log": [(author_of(entry), logged_text(entry)) for entry in view["log"][: view["logged"]]],
        "rules": dict(rules),
    }


def _seat_or_none(seat: np.uint8) -> int | None:
    return None if seat == NOBODY else int(seat)
