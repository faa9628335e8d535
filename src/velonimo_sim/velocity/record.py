"""Recorded races: written from states, and checked against states, by the same descriptions.

A record is one JSON object a race: under which rules, who did what, what the dice showed, what that led to. The
functions ``describe_…`` say what a record must hold; ``replay`` plays the record and compares, ``Recorder`` writes it.

Seats count from 0. Couriers are told by their spaces, the one furthest back first; those in the finish stand in
``finish`` alone, the seats by finish place.
"""

from collections.abc import Iterator
from copy import deepcopy

import numpy as np

from velonimo_sim.errors import IllegalMoveError, UsageError
from velonimo_sim.record_faults import Record, RecordFaultError, UnfinishedRecordError, compare
from velonimo_sim.rng import new_stream
from velonimo_sim.velocity.describe import seat_or_none, seats_in_finish, spaces_of
from velonimo_sim.velocity.dice import DICE, DIE_NAMES, TEAMS
from velonimo_sim.velocity.legal import Refusal, count_moves, refusal
from velonimo_sim.velocity.moves import Kind, kind_of, move_text, parse_move
from velonimo_sim.velocity.record_format import CHANGES
from velonimo_sim.velocity.rules import RuleSet
from velonimo_sim.velocity.state import State, clone, equal, new_state
from velonimo_sim.velocity.step import apply, place_of
from velonimo_sim.velocity.view import NOBODY, End, Phase, View

SNAPSHOT_EVERY = 10
"""Moves between two snapshots of a written record."""


def describe_move(before: State, move: np.uint64, after: State) -> Record:
    """Return the event that records a legal move, from the states before and after it; it tells what has changed."""
    view, then = before["view"], after["view"]
    event: Record = {"seat": int(view["turn"]), "move": move_text(move), "n_legal": int(count_moves(view))}
    if kind_of(move) <= Kind.PACK:
        event["dice"] = {DIE_NAMES[die]: int(then["dice"][die]) for die in range(DICE) if then["dice"][die]}
    moved = [seat for seat in range(int(view["players"])) if (view["couriers"][seat] != then["couriers"][seat]).any()]
    if moved:
        event["couriers"] = {TEAMS[seat]: spaces_of(then, seat) for seat in moved}
    if (view["cans"] != then["cans"]).any():
        event["cans"] = _cans(then)
    if view["n_finished"] != then["n_finished"]:
        event["place"] = int(then["n_finished"])
    phase = Phase(int(then["phase"])).name.lower()
    return event | {"then": {"phase": phase, "seat": seat_or_none(then["turn"])}}


def describe_standing(state: State) -> Record:
    """Return how the race stands: couriers and cans by seat, cans in the supply, the finish places."""
    view = state["view"]
    return {
        "couriers": [spaces_of(view, seat) for seat in range(int(view["players"]))],
        "cans": _cans(view),
        "supply": int(view["supply"]),
        "finish": seats_in_finish(view),
    }


def describe_result(state: State) -> Record:
    """Return what a record says of a race that is over; of one that is going on, how it stands and no winner."""
    view = state["view"]
    is_over = view["phase"] == Phase.GAME_OVER
    return describe_standing(state) | {
        "turns": int(view["turns"]),
        "ended_by": End(int(view["end"])).words if is_over else None,
        "winner": next(seat for seat in range(int(view["players"])) if place_of(view, seat) == 1) if is_over else None,
    }


def _cans(view: View) -> list[int]:
    cans: list[int] = view["cans"][: view["players"]].tolist()
    return cans


class Recorder:
    """Writes the record of a race while it goes on.

    Parameters
    ----------
    game_id : str
        Name of the race in its file.
    players : int
        Number of players.
    rules : RuleSet
        The options in force; they go into the record.
    starter : int
        Seat that has the first turn.
    """

    def __init__(self, game_id: str, players: int, rules: RuleSet, starter: int = 0) -> None:
        self._head: Record = {
            "game": "velocity",
            "id": game_id,
            "players": players,
            "rules": rules.to_dict(),
            "starter": int(starter),
        }
        self._events: list[Record] = []
        self._moves = 0

    def add(self, before: State, move: np.uint64, after: State) -> None:
        """Record a move, and now and then a snapshot."""
        self._events.append(describe_move(before, move, after))
        self._moves += 1
        if self._moves % SNAPSHOT_EVERY == 0 and after["view"]["turn"] != NOBODY:
            self._events.append({"snapshot": describe_standing(after)})

    def record(self, state: State) -> Record:
        """Return the record up to the present state."""
        return self._head | {"events": deepcopy(self._events)} | describe_result(state)


def replay(record: Record, rules: RuleSet) -> Iterator[tuple[State, Record, State]]:
    """Play a record of sound form with the dice that stand in it, and check every fact.

    Parameters
    ----------
    record : dict
        A race whose form ``record_format.check_format`` has found sound.
    rules : RuleSet
        The rules to play it under.

    Yields
    ------
    tuple
        Each event with the states before and after it, once it has been found true.

    Raises
    ------
    RecordFaultError
        At the first fact that does not hold.
    """
    try:
        state = new_state(record["players"], rules, record["starter"])
    except UsageError as error:
        raise RecordFaultError("start", str(error)) from None
    for position, event in enumerate(record["events"], 1):
        before = clone(state)
        _check_event(f"event {position}", state, event)
        yield before, event, state
    if state["view"]["turn"] != NOBODY:
        raise UnfinishedRecordError("result", f"expected further events: seat {state['view']['turn']} is to act")
    compare("result", describe_result(state), record)


def _check_event(place: str, state: State, event: Record) -> None:
    if state["view"]["turn"] == NOBODY:
        raise RecordFaultError(place, "expected no further event: the race is over")
    if "snapshot" in event:
        compare(place, describe_standing(state), event["snapshot"])
    elif "refused" in event:
        _check_refused(place, state, event)
    else:
        _check_made(place, state, event)


def _check_made(place: str, state: State, event: Record) -> None:
    before = clone(state)
    if event["seat"] != state["view"]["turn"]:
        raise RecordFaultError(place, f"expected seat {state['view']['turn']} to act, there stands {event['seat']}")
    try:
        move = parse_move(event["move"])
        apply(state, move, thrown=event.get("dice", {}))
    except (IllegalMoveError, UsageError) as error:
        raise RecordFaultError(place, f"expected a legal move, there stands {error}") from None
    unchanged = dict.fromkeys(CHANGES)
    compare(place, unchanged | describe_move(before, move, state), unchanged | event)


def _check_refused(place: str, state: State, attempt: Record) -> None:
    """Check that an attempt is refused for the reason given, and that trying it changes nothing."""
    if not 0 <= attempt["seat"] < state["view"]["players"]:
        raise RecordFaultError(place, f"expected a seat at the table, there stands {attempt['seat']}")
    reason = reason_to_refuse(state, attempt)
    if attempt["refused"] != reason:
        expected = reason or "that it is legal"
        raise RecordFaultError(place, f"expected {expected}, there stands refused {attempt['refused']}")
    if reason == "out_of_turn":
        return
    before = clone(state)
    try:
        apply(state, parse_move(attempt["move"]), new_stream(0))
    except IllegalMoveError:
        if equal(before, state):
            return
    raise RecordFaultError(place, "expected the move to be refused and to change nothing; it was carried out")


def reason_to_refuse(state: State, attempt: Record) -> str | None:
    """Return why an attempt is refused: ``out_of_turn``, or a ``legal.Refusal`` in lower case; None if it is legal."""
    if attempt["seat"] != state["view"]["turn"]:
        return "out_of_turn"
    try:
        why = Refusal(int(refusal(state["view"], parse_move(attempt["move"]))))
    except IllegalMoveError:
        why = Refusal.NO_MOVE
    return None if why is Refusal.NONE else why.name.lower()
