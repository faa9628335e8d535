"""A recorded race told move by move, for people."""

from collections.abc import Iterator
from typing import Any

from velonimo_sim.record_faults import Record, while_true
from velonimo_sim.velocity.describe import number_of_cans, space_name
from velonimo_sim.velocity.dice import TEAMS
from velonimo_sim.velocity.legal import as_space, car_park, value_of
from velonimo_sim.velocity.moves import Move, detail_of, parse_move, place_in
from velonimo_sim.velocity.record import replay
from velonimo_sim.velocity.record_format import rules_of
from velonimo_sim.velocity.rules import RuleSet
from velonimo_sim.velocity.view import View

_SPENDING = ("", " with Refuel", " with Breakaway")
_PROMPTS = {
    "die": "chooses a die",
    "slipstream": "may follow in the slipstream",
    "obstacle": "pays a can, or moves back",
    "take": "names from whom to take a can",
}


class ToldRecord(dict[str, Any]):
    """A record of sound form, of a race that goes on or is over, which prints as a story."""

    def __repr__(self) -> str:
        return "\n".join(while_true(narrate(self, rules_of(self, None))))


def narrate(record: Record, rules: RuleSet) -> Iterator[str]:
    """Tell a record of sound form in lines, each fact once it has been found true.

    Raises
    ------
    RecordFaultError
        At the first fact that does not hold.
    """
    yield f"{record['id']}: {record['players']} players, course {rules.course.name}, dice {rules.dice.name}"
    turns_told = 0
    for before, event, _ in replay(record, rules):
        if "snapshot" in event:
            continue
        view = before["view"]
        if view["turns"] == turns_told:
            turns_told += 1
            yield ""
            yield f"turn {turns_told}, {TEAMS[view['active']]}"
        yield f"  {tell_event(event, view)}"
    yield ""
    yield f"race over by {record['ended_by']}: {TEAMS[record['winner']]} has won"


def tell_event(event: Record, before: View) -> str:
    """Tell an event other than a snapshot in one line: what is done, what it changes, and who has to decide next."""
    team = TEAMS[event["seat"]]
    if "refused" in event:
        return f"{team} tries {event['move']}: refused, {event['refused']}"
    told = [f"{team} {_tell_move(event, before)}", *_tell_changes(event, before)]
    if event["then"]["phase"] in _PROMPTS:
        told.append(f"{TEAMS[event['then']['seat']]} {_PROMPTS[event['then']['phase']]}")
    return "; ".join(told)


def _tell_move(event: Record, before: View) -> str:
    word = parse_move(event["move"])
    move = Move(int(word))
    if move.kind in ("solo", "pack"):
        dice = ", ".join(f"{die} {number}" for die, number in event["dice"].items())
        ride = "solo" if move.kind == "solo" else f"in the pack on {move.space}"
        return f"rides {ride}{_SPENDING[move.spends]}: {dice}"
    if move.kind == "die":
        target = as_space(before, place_in(word)) - value_of(before, detail_of(word))
        goal = f"into finish place {event['place']}" if "place" in event else f"to {target}"
        return f"moves by {move.die} from {move.space} {goal}"
    return {
        "follow": "follows in the slipstream",
        "stay": "does not follow",
        "pay": "pays to stay on the obstacle",
        "back": "moves back from the obstacle",
        "take": f"takes a can from {TEAMS[move.seat or 0]}",
    }[move.kind]


def _tell_changes(event: Record, before: View) -> Iterator[str]:
    """Tell where the couriers stand that have been moved, and what cans those have whose number has changed."""
    for team, spaces in event.get("couriers", {}).items():
        names = " ".join(space_name(space, car_park(before)) for space in spaces) or "no space"
        yield f"{team} on {names}"
    for seat, cans in enumerate(event.get("cans", [])):
        if cans != before["cans"][seat]:
            yield f"{TEAMS[seat]} has {number_of_cans(cans)}"
