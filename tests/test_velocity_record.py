"""Records of VeloCity: true ones pass, and one with a changed fact is told where and why it cannot be."""

import copy
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conftest import recorded_games
from velocity_games import PATH, RULES, play_race, races, recorded_races
from velonimo_sim import replay
from velonimo_sim.errors import CorruptDataError, UsageError
from velonimo_sim.game_records import read_records, write_records
from velonimo_sim.record_faults import RecordFaultError
from velonimo_sim.velocity.legal import Refusal
from velonimo_sim.velocity.record import replay as replay_record
from velonimo_sim.velocity.record_format import check_format, rules_of
from velonimo_sim.velocity.view import Phase

Record = dict[str, Any]
Wanted = Callable[[Record], bool]
Printed = Callable[..., tuple[int, str, str]]

RACE = "4p few cans"
"""The race that facts are changed in: cans are taken in it from other players."""


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Printed:
    """Run the command in this process; return its exit status, stdout and stderr."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        status = replay.main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return run


@cache
def _races() -> dict[str, str]:
    return {record["id"]: json.dumps(record) for record in recorded_races()}


def race(name: str = RACE) -> Record:
    """Return a copy of a recorded race."""
    record: Record = json.loads(_races()[name])
    return record


def write(path: Path, *records: Any) -> Path:
    """Write a JSON Lines file."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def fault_of(record: Record) -> str:
    """Return the first fault of a record of sound form."""
    check_format(record)
    with pytest.raises(RecordFaultError) as caught:
        list(replay_record(record, rules_of(record, None)))
    return str(caught.value)


# True records.


def test_every_fact_of_the_recorded_races_holds(command: Printed) -> None:
    events = sum(len(race(name)["events"]) for name in _races())
    assert command(PATH) == (0, f"{PATH}: 20 games, {events} events, all facts hold\n", "")


def test_the_recorded_races_know_every_number_of_players_and_every_rule_set() -> None:
    assert list(_races()) == [f"{players}p {name}" for players in range(3, 8) for name in RULES]


def test_the_recorded_races_hold_every_phase_every_reason_and_every_end() -> None:
    records = [race(name) for name in _races()]
    events = [event for record in records for event in record["events"]]
    assert {event["then"]["phase"] for event in events if "then" in event} == {phase.name.lower() for phase in Phase}
    reasons = {reason.name.lower() for reason in Refusal} - {"none"}
    assert {event["refused"] for event in events if "refused" in event} == reasons | {"out_of_turn"}
    assert {record["ended_by"] for record in records} == {"third courier", "eighth place", "turn limit"}
    assert any("snapshot" in event for event in events)


@pytest.mark.parametrize("name", ["3p another board", "7p few cans"])
def test_a_race_is_recorded_again_as_it_was(name: str) -> None:
    assert play_race(int(name[0]), name[3:]) == race(name)


@pytest.mark.slow
def test_all_races_are_recorded_again_as_they_were() -> None:
    assert list(races()) == recorded_races()


def test_a_record_is_replayed_with_the_dice_that_stand_in_it() -> None:
    """No seed is asked: three fives are as good as other dice; black's moves red and black to space 31 (C11)."""
    ride: Record = {"seat": 0, "move": "pack park", "n_legal": 2, "dice": {"red": 5, "black": 5, "yellow": 5}}
    choice: Record = {"seat": 0, "move": "black from park", "n_legal": 3}
    choice["couriers"] = {"red": [36, 36, 36, 31], "black": [36, 36, 36, 31]}
    events = [ride | {"then": {"phase": "die", "seat": 0}}, choice | {"then": {"phase": "ride", "seat": 1}}]
    record = race("3p official") | {"starter": 0, "events": events}
    assert fault_of(record) == "result: expected further events: seat 1 is to act"


# One changed fact.


def first(record: Record, wanted: Wanted) -> tuple[int, Record]:
    """Return the first event that is wanted, and its number from 1."""
    return next((number, event) for number, event in enumerate(record["events"], 1) if wanted(event))


def having(*fields: str) -> Wanted:
    return lambda event: set(fields) <= set(event)


def lacking(field: str) -> Wanted:
    return lambda event: "move" in event and "refused" not in event and field not in event


def shown(value: Any) -> str:
    """Return a value as messages tell it."""
    if isinstance(value, dict):
        return ", ".join(f"{name} {shown(part)}" for name, part in value.items())
    return "none" if value is None or value == [] else str(value)


def one_more(value: list[int]) -> list[int]:
    return [value[0] + 1, *value[1:]]


def another_team(couriers: Record) -> Record:
    return {f"{'red' if 'red' not in couriers else 'blue'}": next(iter(couriers.values()))}


def spaces_moved(couriers: Record) -> Record:
    return {team: one_more(spaces) for team, spaces in couriers.items()}


NEW: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    # name: (where the fact stands, field, what stands there instead of the true value)
    "couriers at the end": ("result", "couriers", lambda value: value[::-1]),
    "cans at the end": ("result", "cans", one_more),
    "supply at the end": ("result", "supply", lambda value: value + 1),
    "finish": ("result", "finish", lambda value: [*value, 3]),
    "turns": ("result", "turns", lambda value: value + 1),
    "ended_by": ("result", "ended_by", lambda _: "eighth place"),
    "ended_by nothing": ("result", "ended_by", lambda _: None),
    "winner": ("result", "winner", lambda value: (value + 1) % 4),
    "winner: nobody": ("result", "winner", lambda _: None),
    "couriers of a snapshot": ("snapshot", "couriers", lambda value: value[::-1]),
    "cans of a snapshot": ("snapshot", "cans", one_more),
    "supply of a snapshot": ("snapshot", "supply", lambda value: value + 1),
    "finish of a snapshot": ("snapshot", "finish", lambda value: [*value, 0]),
    "n_legal": ("move", "n_legal", lambda value: value + 1),
    "couriers: other spaces": ("move", "couriers", spaces_moved),
    "couriers: another team": ("move", "couriers", another_team),
    "couriers: none": ("move", "couriers", lambda _: None),
    "couriers: nobody's": ("move without", "couriers", lambda _: {"red": [36, 36, 36, 36]}),
    "cans": ("move", "cans", one_more),
    "cans: none": ("move", "cans", lambda _: None),
    "cans: nobody's": ("move without", "cans", lambda _: [0, 0, 0, 0]),
    "place": ("move", "place", lambda value: value + 1),
    "place: none": ("move", "place", lambda _: None),
    "place: nobody's": ("move without", "place", lambda _: 1),
    "dice: without a ride": ("move without", "dice", lambda _: {"red": 3}),
    "then: phase": ("move", "then", lambda value: value | {"phase": "sprint"}),
    "then: seat": ("move", "then", lambda value: value | {"seat": 9}),
    "then: nobody": ("move", "then", lambda value: value | {"seat": None}),
}


@pytest.mark.parametrize("name", NEW)
def test_one_changed_fact_is_found(name: str) -> None:
    where, field, new = NEW[name]
    record = race("4p official" if where == "result" or field == "place" else RACE)
    if where == "result":
        place, part = "result", record
    else:
        wanted = {"snapshot": having("snapshot"), "move": having("then", field), "move without": lacking(field)}[where]
        number, part = first(record, wanted)
        place = f"event {number}"
        part = part.get("snapshot", part)
    true = part.get(field)
    false = new(true)
    assert false != true
    part[field] = false
    if false is None and where == "move":
        del part[field]
    assert fault_of(record) == f"{place}: expected {field} {shown(true)}, there stands {shown(false)}"


def test_the_changes_cover_every_field() -> None:
    """What else a record has is changed below, but for the id and the game, which are no facts."""
    record = race()
    fields = {field for event in record["events"] for field in event} | set(record)
    fields |= {field for event in record["events"] for field in event.get("snapshot", {})}
    below = {"seat", "move", "refused", "snapshot", "starter", "rules", "players", "events", "id", "game"}
    assert fields - below <= {field for _, field, _ in NEW.values()}


def of_phase(record: Record, phase: str) -> tuple[int, Record]:
    """Return the first event in which a seat decides in a phase, and its number."""
    led_to = first(record, lambda event: event.get("then", {}).get("phase") == phase)[0]
    return first({"events": [{}] * led_to + record["events"][led_to:]}, having("then"))


def another_seat(record: Record) -> str:
    number, event = first(record, having("then"))
    event["seat"], true = 9, event["seat"]
    return f"event {number}: expected seat {true} to act, there stands 9"


def move_spelt_otherwise(record: Record) -> str:
    number, event = first(record, having("dice"))
    true, event["move"] = event["move"], event["move"].replace(" ", "  ") + " "
    return f"event {number}: expected move {true}, there stands {event['move']}"


def move_that_is_none(record: Record) -> str:
    number, event = first(record, having("then"))
    event["move"] = "sprint"
    return f"event {number}: expected a legal move, there stands 'sprint' is no move"


def move_of_another_phase(record: Record) -> str:
    number, event = of_phase(record, "slipstream")
    event["move"] = "pay"
    return f"event {number}: expected a legal move, there stands 'pay': it is not what has to be decided"


def another_answer(record: Record) -> str:
    number, event = of_phase(record, "slipstream")
    event["move"] = "stay" if event["move"] == "follow" else "follow"
    return f"event {number}: expected "


def another_to_take_from(record: Record) -> str:
    number, event = of_phase(record, "take")
    event["move"] = f"take {('red', 'black', 'yellow', 'white')[event['seat']]}"
    return f"event {number}: expected a legal move, there stands '{event['move']}': another player has more cans"


def without_dice(record: Record) -> str:
    number, event = first(record, having("dice"))
    thrown = ", ".join(event.pop("dice"))
    return f"event {number}: expected a legal move, there stands dice none: this ride throws {thrown}"


def a_die_too_many(record: Record) -> str:
    number, event = first(record, having("dice"))
    event["dice"]["energy"] = 1
    return f"event {number}: expected a legal move, there stands dice "


def a_face_that_is_none(record: Record) -> str:
    number, event = first(record, having("dice"))
    die = next(iter(event["dice"]))
    event["dice"][die] = 7
    return f"event {number}: expected a legal move, there stands {die} die 7: its faces are 1, 2, 3, 4, 5, 6"


def another_face(record: Record) -> str:
    """Let a die that is then moved by show something else."""
    for number, (event, after) in enumerate(zip(record["events"], record["events"][1:], strict=False), 1):
        if event.get("move") == "solo" and "dice" in event and "couriers" in after:
            (die,) = event["dice"]
            event["dice"][die] += 1 if event["dice"][die] < 6 else -1
            return f"event {number + 1}: expected couriers {die} "
    raise AssertionError


def another_starter(record: Record) -> str:
    true, record["starter"] = record["starter"], (record["starter"] + 1) % 4
    return f"event 1: expected seat {record['starter']} to act, there stands {true}"


def a_starter_who_is_not_there(record: Record) -> str:
    record["starter"] = 4
    return "start: starter 4: allowed is 0-3"


def other_rules(record: Record) -> str:
    record["rules"] |= {"start_cans": []}
    return "event "


def another_reason(record: Record) -> str:
    number, event = first(record, having("refused"))
    true, event["refused"] = event["refused"], "too_heavy"
    return f"event {number}: expected {true}, there stands refused too_heavy"


def a_reason_of_another_seat(record: Record) -> str:
    number, event = first(record, lambda event: event.get("refused") == "no_pack")
    event["seat"] = (event["seat"] + 1) % 4
    return f"event {number}: expected out_of_turn, there stands refused no_pack"


def an_attempt_of_nobody(record: Record) -> str:
    number, event = first(record, having("refused"))
    event["seat"] = 4
    return f"event {number}: expected a seat at the table, there stands 4"


def another_attempt(record: Record) -> str:
    number, event = first(record, lambda event: event.get("refused") == "no_pack")
    event["move"] = "solo refuel please"
    return f"event {number}: expected no_move, there stands refused no_pack"


def a_legal_attempt(record: Record) -> str:
    number, event = first(record, having("then"))
    attempt = {"seat": event["seat"], "move": event["move"], "refused": "too_few_cans"}
    record["events"].insert(number - 1, attempt)
    return f"event {number}: expected that it is legal, there stands refused too_few_cans"


def without_an_event(record: Record) -> str:
    number, _ = first(record, having("dice"))
    del record["events"][number - 1]
    return f"event {number}: expected a legal move, there stands "


def an_event_twice(record: Record) -> str:
    number, event = first(record, having("dice"))
    record["events"].insert(number, event)
    return f"event {number + 1}: expected a legal move, there stands "


def without_the_last_event(record: Record) -> str:
    del record["events"][-1]
    return "result: expected further events: seat "


def an_event_after_the_end(record: Record) -> str:
    record["events"].append(record["events"][0])
    return f"event {len(record['events'])}: expected no further event: the race is over"


FAULTS = [
    another_seat,
    move_spelt_otherwise,
    move_that_is_none,
    move_of_another_phase,
    another_answer,
    another_to_take_from,
    without_dice,
    a_die_too_many,
    a_face_that_is_none,
    another_face,
    another_starter,
    a_starter_who_is_not_there,
    other_rules,
    another_reason,
    a_reason_of_another_seat,
    an_attempt_of_nobody,
    another_attempt,
    a_legal_attempt,
    without_an_event,
    an_event_twice,
    without_the_last_event,
    an_event_after_the_end,
]


@pytest.mark.parametrize("fault", FAULTS)
def test_other_faults_are_found(fault: Callable[[Record], str], command: Printed, tmp_path: Path) -> None:
    record = race()
    message = fault(record)
    path = write(tmp_path / "races.jsonl", race(), record)
    status, out, err = command(path)
    assert (status, err, out.count("\n")) == (1, "", 1)
    assert out.startswith(f"{path}:2 {RACE} {message}"), out


# Lines that are no record.


def parts_of(record: Record) -> Iterator[tuple[str, Record]]:
    """Yield the parts of a record that have fields of their own, each with the place that a message gives it."""
    yield "", record
    for fields in (("snapshot",), ("refused",), ("dice",)):
        number, event = first(record, having(*fields))
        yield f"event {number}: ", event
    number, event = first(record, having("snapshot"))
    yield f"event {number}: snapshot: ", event["snapshot"]


PARTS = ["race", "event with a snapshot", "refused attempt", "ride", "snapshot"]
OPTIONAL = {"ride": {"dice", "couriers", "cans"}}
ONLY = {"event with a snapshot": {"snapshot"}, "refused attempt": {"refused"}}
"""Fields without which a part would be of another kind."""


def part_of(record: Record, name: str) -> tuple[str, Record]:
    """Return a part by its name, and its place."""
    return list(parts_of(record))[PARTS.index(name)]


def assert_no_record(record: Record, message: str) -> None:
    with pytest.raises(CorruptDataError, match=f"^{re.escape(message)}"):
        check_format(record)


@pytest.mark.parametrize("name", PARTS)
def test_a_missing_field(name: str) -> None:
    for field in set(part_of(race(), name)[1]) - OPTIONAL.get(name, set()):
        record = race()
        where, part = part_of(record, name)
        del part[field]
        assert_no_record(record, where if field in ONLY.get(name, ()) else f"{where}field {field!r} is missing")


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("value", [0.5, [[None]], {"x": 1}], ids=["fraction", "list of a list", "object"])
def test_a_field_of_a_wrong_type(name: str, value: Any) -> None:
    for field in part_of(race(), name)[1]:
        record = race()
        where, part = part_of(record, name)
        part[field] = value
        own_message = field in ("snapshot", "rules") and isinstance(value, dict)
        assert_no_record(record, "" if own_message else f"{where}{field} is {value!r}, which no record can hold")


@pytest.mark.parametrize("text", ["two\nlines", "\ud800"], ids=["two lines", "no character"])
def test_a_text_that_no_message_could_repeat_in_its_line(text: str) -> None:
    for name, field in (("race", "ended_by"), ("ride", "move"), ("refused attempt", "refused")):
        record = race()
        where, part = part_of(record, name)
        part[field] = text
        assert_no_record(record, f"{where}{field} is {text!r}, which no record can hold")
    record = race()
    where, part = part_of(record, "ride")
    part["then"]["phase"] = text
    assert_no_record(record, f"{where}then is ")


@pytest.mark.parametrize("name", PARTS)
def test_a_field_that_does_not_exist(name: str) -> None:
    record = race()
    where, part = part_of(record, name)
    part["colour"] = "red"
    assert_no_record(record, f"{where}there is no field 'colour' in a record")


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("players", 2, "players is 2, "),
        ("players", 8, "players is 8, "),
        ("players", True, "players is True, "),
        ("players", 5, "couriers is not one a player"),
        ("cans", [1, 2, 3], "cans is not one a player"),
        ("id", "two\nlines", "id is 'two\\nlines', "),
        ("winner", False, "winner is False, "),
        ("rules", {"corners": 3}, "unknown rule 'corners'"),
        ("rules", {"couriers": 9}, "rule couriers=9"),
        ("rules", {"course": {"name": "none"}}, "course: length is missing"),
        ("game", "velonimo", "game is 'velonimo', "),
    ],
)
def test_a_value_that_no_record_can_hold(field: str, value: Any, message: str) -> None:
    assert_no_record(race() | {field: value}, message)


# Files of either game.


def test_a_file_may_hold_games_of_both_kinds(command: Printed, tmp_path: Path) -> None:
    path = write(tmp_path / "both.jsonl", recorded_games(3)[0], race(), recorded_games(3)[1] | {"game": "velonimo"})
    status, out, err = command(path)
    assert (status, err) == (0, "")
    assert out.startswith(f"{path}: 3 games, ")


@pytest.mark.parametrize("name", ["velocty", "", None, 3, ["velocity"]])
def test_an_unknown_game_is_named_in_one_line(name: Any, command: Printed, tmp_path: Path) -> None:
    path = write(tmp_path / "games.jsonl", race(), race() | {"game": name})
    status, out, err = command(path)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"velonimo_sim.replay: {path}:2: unknown game {str(name)!r}: there are velonimo, velocity")


def test_a_race_has_no_legends(command: Printed, tmp_path: Path) -> None:
    path = write(tmp_path / "races.jsonl", race() | {"legends": True})
    status, out, err = command(path)
    assert (status, out) == (2, "")
    assert err == f"velonimo_sim.replay: {path}:1: there is no field 'legends' in a record\n"


def test_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    records = [race(name) for name in list(_races())[:3]]
    for name in ("races.jsonl", "races.jsonl.gz"):
        write_records(tmp_path / name, records)
        assert [record for _, record in read_records(tmp_path / name)] == records


def test_a_page_is_refused_in_one_line(command: Printed, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    for show in ((), ("--show", RACE)):
        status, out, err = command(PATH, *show, "--html", page)
        assert (status, out) == (2, "")
        assert err == (
            f"velonimo_sim.replay: --html {page}: pages are for games of velonimo, and this one is of velocity; "
            "see --show\n"
        )
    assert not page.exists()


def test_the_rules_are_the_records_own_or_the_official_ones(command: Printed, tmp_path: Path) -> None:
    official, other = write(tmp_path / "a.jsonl", race("5p official")), write(tmp_path / "b.jsonl", race())
    assert command(official, "--rules", "official")[0] == command(official)[0] == command(other)[0] == 0
    assert command(other, "--rules", "official")[0] == 1
    status, out, err = command(other, "--rules", "bga")
    assert (status, out, err) == (2, "", "velonimo_sim.replay: unknown rules preset 'bga': there are official\n")


# Told for people.


@pytest.mark.parametrize("name", ["3p own options", RACE, "5p official", "7p another board"])
def test_show_tells_every_move(name: str, command: Printed) -> None:
    record = race(name)
    status, out, err = command(PATH, "--show", name)
    assert (status, err) == (0, "")
    head, *lines = [line for line in out.splitlines() if line]
    assert (
        head
        == f"{name}: {record['players']} players, course {record['rules']['course']['name']}, dice "
        + (record["rules"]["dice"]["name"])
    )
    teams = ("red", "black", "yellow", "white", "green", "gray", "blue")
    turns = [line for line in lines if line.startswith("turn ")]
    assert turns == [
        f"turn {turn + 1}, {teams[(record['starter'] + turn) % record['players']]}" for turn in range(record["turns"])
    ]
    assert lines[-1] == f"race over by {record['ended_by']}: {teams[record['winner']]} has won"
    told = [line.strip() for line in lines if line.startswith("  ")]
    events = [event for event in record["events"] if "snapshot" not in event]
    for event, line in zip(events, told, strict=True):
        assert line.startswith(f"{teams[event['seat']]} ")
        words = [event["refused"], event["move"]] if "refused" in event else []
        words += [f"{die} {number}" for die, number in event.get("dice", {}).items()]
        words += [f"{team} on " for team in event.get("couriers", {})]
        words += [f"into finish place {event['place']}"] if "place" in event else []
        assert [word for word in words if word not in line] == [], line


def test_show_stops_at_a_fault(command: Printed, tmp_path: Path) -> None:
    record = race()
    message = another_reason(record)
    path = write(tmp_path / "races.jsonl", record)
    status, out, _ = command(path, "--show", RACE)
    assert status == 1
    assert out.splitlines()[-1] == f"{path}:1 {RACE} {message}"


def test_a_record_prints_as_its_story() -> None:
    records = {record["id"]: record for _, record in read_records(PATH)}
    assert repr(records[RACE]).splitlines()[-1].startswith("race over by turn limit: ")
    assert records[RACE] == race()


def test_rules_of_an_unknown_preset_are_refused() -> None:
    with pytest.raises(UsageError, match="unknown rules preset 'offical': there are official; did you mean"):
        rules_of(race(), "offical")


def test_a_record_is_not_changed_by_its_replay() -> None:
    record = race()
    before = copy.deepcopy(record)
    list(replay_record(record, rules_of(record, None)))
    assert record == before
