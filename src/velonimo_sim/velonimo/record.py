"""Recorded games of Velonimo: written from states, and checked against states, by the same descriptions.

A record is one JSON object a game: what was dealt, who did what, what that led to. The functions ``describe_…`` say
what a record must hold; ``verify`` plays the record and compares, ``Recorder`` writes it.

Seats count from 0. Card lists stand in plain ASCII order, except ``pile``, ``drew`` and refused attempts.
"""

from collections.abc import Iterator
from copy import deepcopy
from functools import partial

import numpy as np

from velonimo_sim.errors import IllegalMoveError, UsageError
from velonimo_sim.record_faults import Record, RecordFaultError, UnfinishedRecordError, compare
from velonimo_sim.velonimo.cards import card_texts, parse_cards
from velonimo_sim.velonimo.legal import count_plays
from velonimo_sim.velonimo.moves import (
    DECLINE,
    FORCE,
    JERSEY,
    KEEP,
    PASS,
    Kind,
    cards_of,
    kind_of,
    move_of,
    seat_of,
)
from velonimo_sim.velonimo.refused import reasons_to_refuse
from velonimo_sim.velonimo.rules import MAX_PLAYERS, RuleSet
from velonimo_sim.velonimo.state import State, clone, equal, new_state
from velonimo_sim.velonimo.step import apply, lay_out_col, place_of
from velonimo_sim.velonimo.view import NOBODY, Phase

SNAPSHOT_EVERY = 10
"""Actions between two snapshots of a written record."""

_PHASE_NAMES = {
    Phase.LEAD: "lead",
    Phase.FOLLOW: "follow",
    Phase.SWAP: "steal",
    Phase.GIVE: "give",
    Phase.NEXT_LEADER: "choose_starter",
    Phase.REWARD: "reward",
    Phase.COL_OVER: "end_round",
    Phase.GAME_OVER: "end_round",
}
_compare = partial(compare, empty="no cards")


def _seat_or_none(seat: int) -> int | None:
    return None if seat == NOBODY else int(seat)


def _card_or_none(cards: np.uint64) -> str | None:
    return card_texts(cards)[0] if cards else None


def _has_jersey(state: State) -> bool:
    """Whether the Jersey plays a part; in a duel without a bonus it only marks the leader (V27)."""
    return bool(state["view"]["players"] > 2 or state["view"]["rules"]["jersey_bonus"])


def describe_start(state: State) -> Record:
    """Return what a record says of a col that has just been dealt."""
    view, players = state["view"], int(state["view"]["players"])
    totals = view["totals"][:players]
    wearer = _seat_or_none(view["wearer"])
    start: Record = {
        "round": int(view["col"]),
        "starter": int(view["starter"]),
        "starter_tie": bool((totals == totals.min()).sum() > 1),
        "jersey": wearer if _has_jersey(state) else None,
        "broom_wagon": None,
        "hands": [card_texts(hand) for hand in state["hands"][:players]],
        "pile": None,
    }
    if players == 2:
        pile = [card_texts(1 << int(position))[0] for position in reversed(state["pile"][: view["pile_size"]])]
        start["pile"] = card_texts(view["reward"]) + pile
        start["leader_flag"] = wearer
    return start


def describe_move(before: State, move: np.uint64, after: State) -> Record:
    """Return the event that records a legal move, from the states before and after it."""
    view, seat = before["view"], int(before["view"]["turn"])
    kind = Kind(int(kind_of(move)))
    event: Record = {"seat": seat}
    if kind is Kind.PLAY:
        event |= {
            "act": "play",
            "cards": card_texts(cards_of(move)),
            "jersey": bool(move & JERSEY),
            "value": int(after["view"]["beat"]),
            "beats": int(view["beat"]),
            "n_legal": int(count_plays(view)),
            "drew": _drawn(before, after),
            "rank": int(after["view"]["out_order"][seat]) or None,
        }
    elif kind is Kind.PASS:
        event |= {"act": "pass", "n_legal": int(count_plays(view))}
    elif kind is Kind.SWAP:
        victim = int(seat_of(move))
        taken = before["hands"][victim] & ~after["hands"][victim]
        event |= {"act": "steal", "from": victim, "taken": card_texts(taken), "n_legal": _opponents_with_cards(view)}
    elif kind is Kind.DECLINE:
        event |= {"act": "decline", "n_legal": _opponents_with_cards(view)}
    elif kind is Kind.GIVE:
        event |= {"act": "give", "to": int(view["swap_victim"]), "cards": card_texts(cards_of(move))}
    elif kind is Kind.LEAD:
        event |= {"act": "choose_starter", "starter": int(seat_of(move)), "n_legal": _opponents_with_cards(view)}
    else:
        event |= {
            "act": "reward",
            "to": seat if kind is Kind.KEEP else 1 - seat,
            "card": _card_or_none(view["reward"]),
            "next_reward": _card_or_none(after["view"]["reward"]),
        }
    then = after["view"]
    return event | {"then": {"phase": _PHASE_NAMES[Phase(int(then["phase"]))], "seat": _seat_or_none(then["turn"])}}


def _opponents_with_cards(view: np.void) -> int:
    return sum(int(size > 0) for seat, size in enumerate(view["sizes"]) if seat != view["turn"])


def _drawn(before: State, after: State) -> list[str]:
    """Return the cards that a play drew from the pile, in the order of drawing (V24)."""
    first, last = int(before["view"]["pile_size"]), int(after["view"]["pile_size"])
    return [card_texts(1 << int(before["pile"][i - 1]))[0] for i in range(first, last, -1)]


def describe_snapshot(state: State) -> Record:
    """Return the snapshot of a state within a col."""
    view, players = state["view"], int(state["view"]["players"])
    return {
        "act": "snapshot",
        "hands": [card_texts(hand) for hand in state["hands"][:players]],
        "reward": _card_or_none(view["reward"]),
        "pile_left": int(view["pile_size"]) if players == 2 else None,
        "jersey_used": bool(view["jersey_spent"]),
    }


def describe_end(state: State) -> Record:
    """Return what a record says of a col that is over; of one that is being played, what stands so far."""
    view, players = state["view"], int(state["view"]["players"])
    wearer = _seat_or_none(view["wearer"])
    end: Record = {
        "ranks": [int(rank) or None for rank in view["out_order"][:players]],
        "points": view["points"][:players].tolist(),
        "totals": view["totals"][:players].tolist(),
        "jersey_after": wearer if _has_jersey(state) else None,
    }
    return end | {"leader_flag_after": wearer} if players == 2 else end


def describe_result(state: State) -> Record:
    """Return what a record says of a finished game; of one that is being played, that there is no winner."""
    view = state["view"]
    totals = view["totals"][: view["players"]].tolist()
    if view["phase"] != Phase.GAME_OVER:
        return {"winner": None, "final_tie": None}
    first = [seat for seat, total in enumerate(totals) if total == max(totals)]
    winner = next(seat for seat in first if place_of(view, seat) == 1)
    return {"winner": winner, "final_tie": first if len(first) > 1 else None}


class Recorder:
    """Writes the record of a game while it is played.

    Parameters
    ----------
    game_id : str
        Name of the game in its file.
    players : int
        Number of players.
    rules : RuleSet
        The options in force; they go into the record.
    """

    def __init__(self, game_id: str, players: int, rules: RuleSet) -> None:
        self._head: Record = {
            "id": game_id,
            "players": players,
            "cols": len(rules.col_values),
            "legends": False,
            "coaches": None,
            "rules": rules.to_dict(),
        }
        self._rounds: list[Record] = []
        self._actions = 0

    def start_col(self, state: State) -> None:
        """Record a col that has just been dealt."""
        self._rounds.append(describe_start(state) | {"events": []})
        self._actions = 0

    def add(self, before: State, move: np.uint64, after: State) -> None:
        """Record a move, and now and then a snapshot."""
        events = self._rounds[-1]["events"]
        events.append(describe_move(before, move, after))
        self._actions += 1
        if self._actions % SNAPSHOT_EVERY == 0 and after["view"]["turn"] != NOBODY:
            events.append(describe_snapshot(after))
        if after["view"]["turn"] == NOBODY:
            self._rounds[-1] |= describe_end(after)

    def record(self, state: State) -> Record:
        """Return the record up to the present state."""
        rounds = deepcopy(self._rounds)
        if rounds and "ranks" not in rounds[-1]:
            rounds[-1] |= describe_end(state)
        return self._head | {"rounds": rounds} | describe_result(state)


def _move_of_event(event: Record) -> np.uint64:
    """Return the move that an event tells of; the cards that a swap takes are not part of it."""
    act = event["act"]
    if act == "play":
        return parse_cards(event["cards"]) | (JERSEY if event["jersey"] else np.uint64(0))
    if act == "pass":
        return PASS
    if act == "decline":
        return DECLINE
    if act == "give":
        return np.uint64(move_of(int(Kind.GIVE), parse_cards(event["cards"])))
    if act == "reward":
        _check_seat(event["to"], 2)
        return KEEP if event["to"] == event["seat"] else FORCE
    seat = event["from"] if act == "steal" else event["starter"]
    _check_seat(seat, MAX_PLAYERS)
    return np.uint64(move_of(int(Kind.SWAP if act == "steal" else Kind.LEAD), np.uint64(seat)))


def _check_seat(seat: int, players: int) -> None:
    if not 0 <= seat < players:
        raise UsageError(f"seat {seat}: allowed is 0-{players - 1}")


def replay(record: Record, rules: RuleSet) -> Iterator[tuple[State, Record, State]]:
    """Play a record of sound form and check every fact in it.

    Parameters
    ----------
    record : dict
        A game whose form ``record_format.check_format`` has found sound.
    rules : RuleSet
        The rules to play it under.

    Yields
    ------
    tuple
        Each event with the states before and after it, once it has been found true; at the beginning of a col its
        round instead of an event.

    Raises
    ------
    RecordFaultError
        At the first fact that does not hold.
    """
    first = record["rounds"][0]["starter"]
    try:
        state = new_state(record["players"], rules, first)
    except UsageError as error:
        raise RecordFaultError("round 1", str(error)) from None
    for number, one_round in enumerate(record["rounds"], 1):
        place = f"round {number}"
        if state["view"]["phase"] == Phase.GAME_OVER:
            raise RecordFaultError(place, "expected no further round: the game is over")
        before = clone(state)
        _start_round(place, state, one_round)
        yield before, one_round, state
        for position, event in enumerate(one_round["events"], 1):
            before = clone(state)
            _check_event(f"{place} event {position}", state, event)
            yield before, event, state
        if state["view"]["turn"] != NOBODY:
            raise UnfinishedRecordError(place, f"expected further events: seat {state['view']['turn']} is to act")
        _compare(place, describe_end(state), _without_leader_flag(one_round))
    if state["view"]["phase"] != Phase.GAME_OVER:
        raise UnfinishedRecordError(f"round {len(record['rounds'])}", "expected a further round: the game is not over")
    _compare("result", describe_result(state) | {"cols": len(rules.col_values), "coaches": None}, record)


def _start_round(place: str, state: State, one_round: Record) -> None:
    players, hand_size = int(state["view"]["players"]), int(state["view"]["rules"]["hand_size"])
    pile = one_round["pile"] or []
    sizes = [len(hand) for hand in one_round["hands"]] + [len(pile)]
    expected = [hand_size] * players + [55 - players * hand_size if players == 2 else 0]
    if sizes != expected:
        raise RecordFaultError(place, f"expected hands and pile of {expected} cards, there stand {sizes}")
    try:
        lay_out_col(state, one_round["hands"], pile)
    except UsageError as error:
        raise RecordFaultError(place, f"expected a possible deal: {error}") from None
    _compare(place, describe_start(state), _without_leader_flag(one_round))


def _without_leader_flag(one_round: Record) -> Record:
    """Leave out what the format says to ignore: whom the referee of a duel takes for the leader."""
    return {name: value for name, value in one_round.items() if not name.startswith("leader_flag")}


def _check_event(place: str, state: State, event: Record) -> None:
    if state["view"]["turn"] == NOBODY:
        raise RecordFaultError(place, "expected no further event: the col is over")
    if event["act"] == "snapshot":
        _compare(place, describe_snapshot(state), event)
    elif "refused" in event:
        _check_refused(place, state, event)
    else:
        _check_applied(place, state, event)


def _check_applied(place: str, state: State, event: Record) -> None:
    before = clone(state)
    if event["seat"] != state["view"]["turn"]:
        raise RecordFaultError(place, f"expected seat {state['view']['turn']} to act, there stands {event['seat']}")
    try:
        move = _move_of_event(event)
        apply(state, move, taken=event.get("taken"))
    except (IllegalMoveError, UsageError, ValueError) as error:
        raise RecordFaultError(place, f"expected a legal {event['act']}, there stands {error}") from None
    _compare(place, describe_move(before, move, state), event)


def _check_refused(place: str, state: State, attempt: Record) -> None:
    """Check that an attempt is refused for the reason given, and that trying it changes nothing."""
    if not 0 <= attempt["seat"] < state["view"]["players"]:
        raise RecordFaultError(place, f"expected a seat at the table, there stands {attempt['seat']}")
    if attempt["act"] == "give" and attempt["seat"] == state["view"]["turn"] and state["view"]["phase"] == Phase.GIVE:
        _compare(place, {"to": int(state["view"]["swap_victim"])}, attempt)
    reasons = reasons_to_refuse(state, attempt)
    if attempt["refused"] not in reasons:
        allowed = " or ".join(sorted(reasons)) or "that it is legal"
        raise RecordFaultError(place, f"expected {allowed}, there stands refused {attempt['refused']}")
    if attempt["seat"] != state["view"]["turn"] or attempt.get("special"):
        return
    before = clone(state)
    try:
        apply(state, _move_of_event(attempt))
    except (IllegalMoveError, UsageError, ValueError):
        if equal(before, state):
            return
    raise RecordFaultError(
        place, f"expected the {attempt['act']} to be refused and to change nothing; it was carried out"
    )
