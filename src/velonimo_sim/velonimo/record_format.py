"""The form of a recorded game: which fields there are and what may stand in them, before any rule is asked."""

from functools import partial
from typing import Any

from velonimo_sim.errors import CorruptDataError, UsageError
from velonimo_sim.record_checks import (
    Check,
    check_fields,
    is_flag,
    is_integer,
    is_object,
    is_one_of,
    is_text,
    is_then,
    list_of,
    none_or,
)
from velonimo_sim.velonimo.cards import parse_card
from velonimo_sim.velonimo.rules import MAX_COLS, MAX_PLAYERS, MIN_PLAYERS, RuleSet


def _is_card(value: Any) -> bool:
    try:
        parse_card(value)
    except (ValueError, TypeError):
        return False
    return True


_integers, _cards = list_of(is_integer), list_of(_is_card)
_TRUE = is_one_of(True)

_GAME = {
    "id": is_text,
    "players": is_one_of(*range(MIN_PLAYERS, MAX_PLAYERS + 1)),
    "cols": is_one_of(*range(1, MAX_COLS + 1)),
    "legends": is_flag,
    "coaches": none_or(list_of(is_text)),
    "rounds": list_of(is_object),
    "winner": none_or(is_integer),
    "final_tie": none_or(_integers),
}
_ROUND = {
    "round": is_integer,
    "starter": is_integer,
    "starter_tie": is_flag,
    "jersey": none_or(is_integer),
    "broom_wagon": none_or(is_integer),
    "hands": list_of(_cards),
    "pile": none_or(_cards),
    "events": list_of(is_object),
    "ranks": list_of(none_or(is_integer)),
    "points": _integers,
    "totals": _integers,
    "jersey_after": none_or(is_integer),
}
_ROUND_OPTIONAL = {"leader_flag": none_or(is_integer), "leader_flag_after": none_or(is_integer)}
_SNAPSHOT = {
    "act": is_one_of("snapshot"),
    "hands": list_of(_cards),
    "reward": none_or(_is_card),
    "pile_left": none_or(is_integer),
    "jersey_used": is_flag,
}
_ACTED: dict[str, Check] = {"seat": is_integer, "act": is_text, "then": is_then}
_APPLIED: dict[str, dict[str, Check]] = {
    "play": {
        "cards": _cards,
        "jersey": is_flag,
        "value": is_integer,
        "beats": is_integer,
        "n_legal": is_integer,
        "drew": _cards,
        "rank": none_or(is_integer),
    },
    "pass": {"n_legal": is_integer},
    "steal": {"from": is_integer, "taken": _cards, "n_legal": is_integer},
    "decline": {"n_legal": is_integer},
    "give": {"to": is_integer, "cards": _cards},
    "choose_starter": {"starter": is_integer, "n_legal": is_integer},
    "reward": {"to": is_integer, "card": none_or(_is_card), "next_reward": none_or(_is_card)},
}
_ATTEMPTED: dict[str, dict[str, Check]] = {
    "play": {"cards": _cards, "jersey": is_flag},
    "pass": {},
    "steal": {"from": is_integer},
    "decline": {},
    "give": {"cards": _cards},
    "choose_starter": {"starter": is_integer},
    "reward": {"to": is_integer},
}
_ATTEMPTED_OPTIONAL: dict[str, dict[str, Check]] = {
    "play": {"special": list_of(is_text)},
    "give": {"to": is_integer},
}


def _unknown_card(value: Any) -> str:
    """Return a word on the first text in a list, nested or not, that is no card; empty if there is none."""
    for part in value if isinstance(value, list) else []:
        if isinstance(part, list) and _unknown_card(part):
            return _unknown_card(part)
        if isinstance(part, str) and not _is_card(part):
            return f": {part!r} is no card"
    return ""


_check_fields = partial(check_fields, explain=_unknown_card)


def _check_event(where: str, event: dict[str, Any]) -> None:
    act = event.get("act")
    if act == "snapshot":
        _check_fields(where, event, _SNAPSHOT, {})
        return
    kinds = _ATTEMPTED if "refused" in event else _APPLIED
    if not isinstance(act, str) or act not in kinds:
        raise CorruptDataError(f"{where}act is {act!r}: allowed are {', '.join(kinds)} and snapshot")
    if "refused" in event:
        needed = {"seat": is_integer, "act": is_text, "refused": is_text} | _ATTEMPTED[act]
        _check_fields(where, event, needed, _ATTEMPTED_OPTIONAL.get(act, {}))
    else:
        _check_fields(where, event, _ACTED | _APPLIED[act], {"exhaustive": _TRUE})


def check_format(record: dict[str, Any]) -> None:
    """Check that an object read from JSON has the form of a recorded game of the base game.

    Raises
    ------
    CorruptDataError
        If it has not; the message names the round, the event and the field.
    """
    _check_fields("", record, _GAME, {"game": is_one_of("velonimo"), "rules": is_object})
    _check_rules(record)
    if not record["rounds"]:
        raise CorruptDataError("rounds: a game has one at least")
    for number, one_round in enumerate(record["rounds"], 1):
        where = f"round {number}: "
        _check_fields(where, one_round, _ROUND, _ROUND_OPTIONAL)
        for name in ("hands", "ranks", "points", "totals"):
            if len(one_round[name]) != record["players"]:
                raise CorruptDataError(f"{where}{name} is not one a player")
        for position, event in enumerate(one_round["events"], 1):
            _check_event(f"round {number} event {position}: ", event)


def _check_rules(record: dict[str, Any]) -> None:
    try:
        RuleSet.from_dict(record.get("rules", {}))
    except UsageError as error:
        raise CorruptDataError(str(error)) from None


def rules_of(record: dict[str, Any], preset: str | None) -> RuleSet:
    """Return the rules that a record was played under.

    Parameters
    ----------
    record : dict
        A record of sound form.
    preset : str or None
        Name of a preset to use whatever the record says; None takes the record's own rules, and for one that names none
        the preset ``bga``, under which such records are refereed.
    """
    if preset is None and "rules" in record:
        return RuleSet.from_dict(record["rules"])
    chosen = RuleSet.preset(preset or "bga").to_dict()
    return RuleSet.from_dict(chosen | {"col_values": range(1, record["cols"] + 1)})
