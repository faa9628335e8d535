"""The form of a recorded game: which fields there are and what may stand in them, before any rule is asked."""

from collections.abc import Callable
from typing import Any

from velonimo_sim.errors import CorruptDataError, UsageError
from velonimo_sim.velonimo.cards import parse_card
from velonimo_sim.velonimo.rules import MAX_COLS, MAX_PLAYERS, MIN_PLAYERS, RuleSet

Check = Callable[[Any], bool]


def _is_integer(value: Any) -> bool:
    return type(value) is int


def _is_flag(value: Any) -> bool:
    return type(value) is bool


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_card(value: Any) -> bool:
    try:
        parse_card(value)
    except (ValueError, TypeError):
        return False
    return True


def _none_or(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(check(part) for part in value)


def _is_one_of(*allowed: Any) -> Check:
    return lambda value: value in allowed and type(value) in {type(part) for part in allowed}


def _is_then(value: Any) -> bool:
    return (
        isinstance(value, dict)
        and set(value) == {"phase", "seat"}
        and _is_text(value["phase"])
        and _none_or(_is_integer)(value["seat"])
    )


_integers, _cards = _list_of(_is_integer), _list_of(_is_card)
_TRUE = _is_one_of(True)

_GAME = {
    "id": lambda value: _is_text(value) and value.isprintable(),
    "players": _is_one_of(*range(MIN_PLAYERS, MAX_PLAYERS + 1)),
    "cols": _is_one_of(*range(1, MAX_COLS + 1)),
    "legends": _is_flag,
    "coaches": _none_or(_list_of(_is_text)),
    "rounds": _list_of(lambda part: isinstance(part, dict)),
    "winner": _none_or(_is_integer),
    "final_tie": _none_or(_integers),
}
_ROUND = {
    "round": _is_integer,
    "starter": _is_integer,
    "starter_tie": _is_flag,
    "jersey": _none_or(_is_integer),
    "broom_wagon": _none_or(_is_integer),
    "hands": _list_of(_cards),
    "pile": _none_or(_cards),
    "events": _list_of(lambda part: isinstance(part, dict)),
    "ranks": _list_of(_none_or(_is_integer)),
    "points": _integers,
    "totals": _integers,
    "jersey_after": _none_or(_is_integer),
}
_ROUND_OPTIONAL = {"leader_flag": _none_or(_is_integer), "leader_flag_after": _none_or(_is_integer)}
_SNAPSHOT = {
    "act": _is_one_of("snapshot"),
    "hands": _list_of(_cards),
    "reward": _none_or(_is_card),
    "pile_left": _none_or(_is_integer),
    "jersey_used": _is_flag,
}
_ACTED: dict[str, Check] = {"seat": _is_integer, "act": _is_text, "then": _is_then}
_APPLIED: dict[str, dict[str, Check]] = {
    "play": {
        "cards": _cards,
        "jersey": _is_flag,
        "value": _is_integer,
        "beats": _is_integer,
        "n_legal": _is_integer,
        "drew": _cards,
        "rank": _none_or(_is_integer),
    },
    "pass": {"n_legal": _is_integer},
    "steal": {"from": _is_integer, "taken": _cards, "n_legal": _is_integer},
    "decline": {"n_legal": _is_integer},
    "give": {"to": _is_integer, "cards": _cards},
    "choose_starter": {"starter": _is_integer, "n_legal": _is_integer},
    "reward": {"to": _is_integer, "card": _none_or(_is_card), "next_reward": _none_or(_is_card)},
}
_ATTEMPTED: dict[str, dict[str, Check]] = {
    "play": {"cards": _cards, "jersey": _is_flag},
    "pass": {},
    "steal": {"from": _is_integer},
    "decline": {},
    "give": {"cards": _cards},
    "choose_starter": {"starter": _is_integer},
    "reward": {"to": _is_integer},
}
_ATTEMPTED_OPTIONAL: dict[str, dict[str, Check]] = {
    "play": {"special": _list_of(_is_text)},
    "give": {"to": _is_integer},
}


def _check_fields(
    where: str, content: dict[str, Any], needed: dict[str, Check], optional: dict[str, Check] | None = None
) -> None:
    allowed = needed | (optional or {})
    for name in needed:
        if name not in content:
            raise CorruptDataError(f"{where}field {name!r} is missing")
    for name, value in content.items():
        if name not in allowed:
            raise CorruptDataError(f"{where}there is no field {name!r} in a record")
        if not allowed[name](value):
            shown = repr(value)
            shown = shown if len(shown) < 80 else shown[:77] + "..."
            raise CorruptDataError(f"{where}{name} is {shown}, which no record can hold{_unknown_card(value)}")


def _unknown_card(value: Any) -> str:
    """Return a word on the first text in a list, nested or not, that is no card; empty if there is none."""
    for part in value if isinstance(value, list) else []:
        if isinstance(part, list) and _unknown_card(part):
            return _unknown_card(part)
        if isinstance(part, str) and not _is_card(part):
            return f": {part!r} is no card"
    return ""


def _check_event(where: str, event: dict[str, Any]) -> None:
    act = event.get("act")
    if act == "snapshot":
        _check_fields(where, event, _SNAPSHOT)
        return
    kinds = _ATTEMPTED if "refused" in event else _APPLIED
    if not isinstance(act, str) or act not in kinds:
        raise CorruptDataError(f"{where}act is {act!r}: allowed are {', '.join(kinds)} and snapshot")
    if "refused" in event:
        needed = {"seat": _is_integer, "act": _is_text, "refused": _is_text} | _ATTEMPTED[act]
        _check_fields(where, event, needed, _ATTEMPTED_OPTIONAL.get(act))
    else:
        _check_fields(where, event, _ACTED | _APPLIED[act], {"exhaustive": _TRUE})


def check_format(record: Any) -> None:
    """Check that something read from JSON has the form of a recorded game of the base game.

    Raises
    ------
    CorruptDataError
        If it has not; the message names the round, the event and the field.
    """
    if not isinstance(record, dict):
        raise CorruptDataError("a record is one JSON object a line")
    _check_fields("", record, _GAME, {"rules": lambda value: isinstance(value, dict)})
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
