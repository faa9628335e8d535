"""A recorded game told move by move, for people."""

from collections.abc import Iterator
from typing import Any

from velonimo_sim.velonimo.record import replay
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.state import State
from velonimo_sim.velonimo.view import NOBODY

_ORDINALS = ("", "first", "second", "third", "fourth", "fifth")


def narrate(record: dict[str, Any], rules: RuleSet) -> Iterator[str]:
    """Tell a record of sound form in lines, each fact once it has been found true.

    Raises
    ------
    RecordFaultError
        At the first fact that does not hold.
    """
    yield f"{record['id']}: {record['players']} players, {record['cols']} cols"
    for _, part, after in replay(record, rules):
        if "events" in part:
            yield from _tell_start(part, rules)
        elif part["act"] != "snapshot":
            yield "  " + tell_event(part)
            if after["view"]["turn"] == NOBODY:
                yield from _tell_end(after)
    yield f"winner: seat {record['winner']}"


def _tell_start(one_round: dict[str, Any], rules: RuleSet) -> Iterator[str]:
    yield ""
    yield tell_deal(one_round, rules)
    for seat, hand in enumerate(one_round["hands"]):
        yield f"  seat {seat} holds {' '.join(hand)}"
    if one_round["pile"]:
        yield f"  reward {one_round['pile'][0]}, {len(one_round['pile']) - 1} cards in the pile"


def tell_deal(one_round: dict[str, Any], rules: RuleSet) -> str:
    """Tell which col begins, and how, in one line."""
    worth = rules.col_values[one_round["round"] - 1]
    jersey = "" if one_round["jersey"] is None else f", seat {one_round['jersey']} wears the Jersey"
    return f"col {one_round['round']}, {worth} a place; seat {one_round['starter']} starts{jersey}"


def tell_event(event: dict[str, Any]) -> str:
    """Tell an event other than a snapshot in one line."""
    if "refused" in event:
        return f"seat {event['seat']} tries an illegal {event['act']}: refused, {event['refused']}"
    who = f"seat {event['seat']}"
    act = event["act"]
    if act == "play":
        jersey = " with the Jersey" if event["jersey"] else ""
        drew = f", draws {' '.join(event['drew'])}" if event["drew"] else ""
        out = f", and is out {_ORDINALS[event['rank']]}" if event["rank"] else ""
        lead = " leads" if event["beats"] == 0 else " plays"
        return f"{who}{lead} {' '.join(event['cards'])}{jersey} = {event['value']}{drew}{out}"
    if act == "pass":
        return f"{who} passes"
    if act == "steal":
        return f"{who} takes {' '.join(event['taken'])} from seat {event['from']}"
    if act == "decline":
        return f"{who} declines the swap"
    if act == "give":
        return f"{who} gives {' '.join(event['cards'])} back to seat {event['to']}"
    if act == "choose_starter":
        return f"{who} is out and lets seat {event['starter']} lead"
    verb = "takes the reward" if event["to"] == event["seat"] else "forces the reward on the opponent:"
    return f"{who} {verb} {event['card']}"


def tell_publicly(event: dict[str, Any]) -> str:
    """Tell an event as everybody saw it: without the cards of a swap (V22) and those drawn from the pile (V28)."""
    hidden = {"play": "drew", "steal": "taken", "give": "cards"}.get(event["act"])
    if hidden is None or not event[hidden]:
        return tell_event(event)
    number = len(event[hidden])
    return tell_event(event | {hidden: [f"{number} card{'' if number == 1 else 's'}"]})


def _tell_end(state: State) -> Iterator[str]:
    view = state["view"]
    players = int(view["players"])
    yield "  points " + ", ".join(f"seat {seat}: {view['points'][seat]}" for seat in range(players))
    yield "  totals " + ", ".join(f"seat {seat}: {view['totals'][seat]}" for seat in range(players))
