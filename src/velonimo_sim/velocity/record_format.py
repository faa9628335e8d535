"""The form of a recorded race: which fields there are and what may stand in them, before any rule is asked."""

from typing import Any

from velonimo_sim.errors import CorruptDataError, UsageError
from velonimo_sim.record_checks import (
    Check,
    check_fields,
    is_integer,
    is_object,
    is_one_of,
    is_text,
    is_then,
    list_of,
    none_or,
    object_of,
)
from velonimo_sim.velocity.dice import DIE_NAMES, TEAMS
from velonimo_sim.velocity.rules import MAX_PLAYERS, MIN_PLAYERS, RuleSet

_integers = list_of(is_integer)

_STANDING: dict[str, Check] = {
    "couriers": list_of(_integers),
    "cans": _integers,
    "supply": is_integer,
    "finish": _integers,
}
"""How the race stands: in snapshots, and at the end."""
_GAME: dict[str, Check] = _STANDING | {
    "game": is_one_of("velocity"),
    "id": is_text,
    "players": is_one_of(*range(MIN_PLAYERS, MAX_PLAYERS + 1)),
    "rules": is_object,
    "starter": is_integer,
    "events": list_of(is_object),
    "turns": is_integer,
    "ended_by": none_or(is_text),
    "winner": none_or(is_integer),
}
_SNAPSHOT: dict[str, Check] = {"snapshot": is_object}
_ATTEMPTED: dict[str, Check] = {"seat": is_integer, "move": is_text, "refused": is_text}
_MADE: dict[str, Check] = {"seat": is_integer, "move": is_text, "n_legal": is_integer, "then": is_then}
_CHANGED: dict[str, Check] = {
    "dice": object_of(DIE_NAMES, is_integer),
    "couriers": object_of(TEAMS, _integers),
    "cans": _integers,
    "place": is_integer,
}
"""What a move may change; what it does not change is left out."""

CHANGES = tuple(_CHANGED)
"""Names of the fields that stand in an event only if the move changes what they tell."""


def check_format(record: dict[str, Any]) -> None:
    """Check that an object read from JSON has the form of a recorded race.

    Raises
    ------
    CorruptDataError
        If it has not; the message names the event and the field.
    """
    check_fields("", record, _GAME, {})
    _check_one_a_player("", record, record["players"])
    try:
        RuleSet.from_dict(record["rules"])
    except UsageError as error:
        raise CorruptDataError(str(error)) from None
    for position, event in enumerate(record["events"], 1):
        _check_event(f"event {position}: ", event, record["players"])


def _check_event(where: str, event: dict[str, Any], players: int) -> None:
    if "snapshot" in event:
        check_fields(where, event, _SNAPSHOT, {})
        check_fields(f"{where}snapshot: ", event["snapshot"], _STANDING, {})
        _check_one_a_player(f"{where}snapshot: ", event["snapshot"], players)
    elif "refused" in event:
        check_fields(where, event, _ATTEMPTED, {})
    else:
        check_fields(where, event, _MADE, _CHANGED)


def _check_one_a_player(where: str, standing: dict[str, Any], players: int) -> None:
    for name in ("couriers", "cans"):
        if len(standing[name]) != players:
            raise CorruptDataError(f"{where}{name} is not one a player")


def rules_of(record: dict[str, Any], preset: str | None) -> RuleSet:
    """Return the rules that a record was played under.

    Parameters
    ----------
    record : dict
        A record of sound form.
    preset : str or None
        Name of a preset to use whatever the record says; None takes the record's own rules.

    Raises
    ------
    UsageError
        If there is no such preset.
    """
    return RuleSet.from_dict(record["rules"]) if preset is None else RuleSet.preset(preset)
