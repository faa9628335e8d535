"""A view and its legal moves in plain Python, for plain bots; a view in some lines of text, for people."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from velonimo_sim.velonimo.cards import card_texts
from velonimo_sim.velonimo.legal import all_legal_moves
from velonimo_sim.velonimo.moves import Move, author_of, logged_text
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


def describe_moves(view: View) -> list[Move]:
    """Return all legal moves of the player to act, which know what the Jersey adds at this table."""
    _ = Move(1).value  # loads what it needs now, and not while a bot is timed
    bonus = int(view["rules"]["jersey_bonus"])
    return [Move(word, bonus) for word in all_legal_moves(view).tolist()]


def winner_of(view: Mapping[str, Any]) -> int | None:
    """Return the seat that has won by the totals and, where they tie, by the last col (V19); None before the end."""
    if view["phase"] != "game_over":
        return None
    return max(range(view["players"]), key=lambda seat: (view["totals"][seat], view["points"][seat]))


def tell_view(view: Mapping[str, Any]) -> str:
    """Return a view as ``describe_view`` gives it in some lines of text: the table, whose turn it is, the own hand."""
    players, reward, n_cols = view["players"], view["reward"], len(view["rules"]["col_values"])
    lines = [f"Velonimo, {players} players, col {view['col']} of {n_cols} ({view['col_value']} a place)"]
    lines += [_tell_seat(view, seat) for seat in range(players)]
    if reward:
        lines.append(f"reward {reward}, {view['pile_size']} cards in the pile")
    if view["phase"] == "game_over":
        lines.append(f"game over: seat {winner_of(view)} has won")
        return "\n".join(lines)
    to_beat = f", to beat: {view['beat']} by seat {view['author']}" if view["beat"] else ""
    lines.append(f"seat {view['turn']} to act: {view['phase'].replace('_', ' ')}{to_beat}")
    whose = "hand" if view["seat"] == view["turn"] else f"hand of seat {view['seat']}"
    lines.append(f"{whose}: {' '.join(view['hand']) or 'none'}")
    return "\n".join(lines)


def _tell_seat(view: Mapping[str, Any], seat: int) -> str:
    marks = ["Jersey spent" if view["jersey_spent"] else "Jersey"] if view["wearer"] == seat else []
    marks += ["passed"] if view["passed_on"][seat] else []
    out, size = view["out_order"][seat], view["sizes"][seat]
    place = f"out {out}." if out else f"{size} card{'s' if size != 1 else ''}"
    pointer = ">" if seat == view["turn"] else " "
    return f"{pointer} seat {seat}: {place:>8}, {view['totals'][seat]} points" + "".join(f", {mark}" for mark in marks)
