"""Courses, dice and rule options of VeloCity: what is possible, what is refused and how, and what a seed throws."""

import json
import re
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from test_rng import CRITICAL, chi_square
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.errors import UsageError
from velonimo_sim.rng import CHANCE, below, new_stream
from velonimo_sim.velocity.dice import DIE_NAMES, ENERGY, Dice, default_dice
from velonimo_sim.velocity.moves import parse_move
from velonimo_sim.velocity.rules import RULES, VARIED, RuleSet, check_players, checked_rules
from velonimo_sim.velocity.state import new_state
from velonimo_sim.velocity.step import apply, throw
from velonimo_sim.velocity.track import Course, default_course

pytestmark = pytest.mark.kernel

SHORT = {"name": "short", "length": 4, "supply": [4], "obstacle": [2, 1], "route": [3]}
PLAIN = {"name": "plain", "team": [1, 2], "energy": [3]}


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def as_toml(content: dict[str, Any]) -> str:
    """Return a table as TOML, which writes such values as JSON does."""
    return "".join(f"{name} = {json.dumps(value)}\n" for name, value in content.items())


def message_of(make: Any, *arguments: Any, **options: Any) -> str:
    with pytest.raises(UsageError) as caught:
        make(*arguments, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


# ---- courses ----


def test_default_course_says_what_comes_from_the_examples() -> None:
    """C4: the spaces that the examples of the text name, and that all else is a reconstruction."""
    course = default_course()
    assert course.from_examples == (33, 27, 6, 5, 4, 3, 1)
    assert course.is_reconstruction
    assert (course.length, course.car_park) == (35, 36)


def test_course_from_a_file(tmp_path: Path) -> None:
    course = Course.load(written(tmp_path / "short.toml", as_toml(SHORT)))
    assert course == Course("short", 4, (4,), (2, 1), (3,))
    assert (course.is_reconstruction, course.from_examples, course.car_park) == (False, (), 5)


def test_spaces_may_stand_in_any_order() -> None:
    assert Course.from_dict(SHORT | {"obstacle": [1, 2]}) == Course.from_dict(SHORT)


@pytest.mark.parametrize("course", [default_course(), Course.from_dict(SHORT), Course("one", np.int64(1), [1], (), ())])
def test_course_as_json_reads_back(course: Course) -> None:
    assert Course.from_dict(json.loads(json.dumps(course.to_dict()))) == course


WRONG_COURSES = [
    ({"supply": [], "route": [3, 4]}, "course short: has no supply space; needed is one at least"),
    ({"route": [3, 1]}, "course short: space 1 stands twice, as obstacle and as route"),
    ({"obstacle": [2, 2, 1]}, "course short: space 2 stands twice, as obstacle and as obstacle"),
    ({"supply": [4, 3]}, "course short: space 3 stands twice, as supply and as route"),
    ({"route": []}, "course short: space 3 is missing; all of 1-4 are needed"),
    ({"length": 5}, "course short: space 5 is missing; all of 1-5 are needed"),
    ({"length": 3}, "course short: supply space 4: allowed is an integer 1-3"),
    ({"route": [3, 0]}, "course short: route space 0: allowed is an integer 1-4"),
    ({"obstacle": [2, 1, 5]}, "course short: obstacle space 5: allowed is an integer 1-4"),
    ({"route": [3.0]}, "course short: route space 3.0: allowed is an integer 1-4"),
    ({"route": ["3"]}, "course short: route space '3': allowed is an integer 1-4"),
    ({"route": 3}, "course short: route space 3: allowed is a list of integers 1-4"),
    ({"from_examples": [9]}, "course short: from_examples space 9: allowed is an integer 1-4"),
    ({"length": 0}, "course short: length 0: allowed is an integer 1-60"),
    ({"length": 61}, "course short: length 61: allowed is an integer 1-60"),
    ({"length": "4"}, "course short: length '4': allowed is an integer 1-60"),
    ({"length": True}, "course short: length True: allowed is an integer 1-60"),
    ({"is_reconstruction": 1}, "course short: is_reconstruction 1: allowed is true or false"),
    ({"name": ""}, "course: name '': allowed is a text of one line"),
    ({"name": "a\nb"}, "course: name 'a\\nb': allowed is a text of one line"),
    ({"name": 7}, "course: name 7: allowed is a text of one line"),
    (
        {"suply": [4]},
        "unknown course field 'suply': there are name, length, supply, obstacle, route, is_reconstruction, "
        "from_examples; did you mean 'supply'?",
    ),
]


@pytest.mark.parametrize(("change", "message"), WRONG_COURSES, ids=[message for _, message in WRONG_COURSES])
def test_impossible_course(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    assert message_of(Course.from_dict, SHORT | change) == message
    path = written(tmp_path / "wrong.toml", as_toml(SHORT | change))
    assert message_of(Course.load, path) == f"{path}: {message}"


@pytest.mark.parametrize("field", SHORT)
def test_course_without_a_field(field: str) -> None:
    content = {name: value for name, value in SHORT.items() if name != field}
    expected = f"course: {field} is missing; needed are name, length, supply, obstacle, route"
    assert message_of(Course.from_dict, content) == expected


@pytest.mark.parametrize("kind", [Course, Dice])
def test_file_that_cannot_be_read(kind: type[Course | Dice], tmp_path: Path) -> None:
    name = kind.__name__.lower()
    missing = tmp_path / "missing.toml"
    assert message_of(kind.load, missing) == f"{name} {missing}: cannot be read (No such file or directory)"
    assert message_of(kind.load, tmp_path) == f"{name} {tmp_path}: cannot be read (Is a directory)"


@pytest.mark.parametrize("content", [b"name =", b"\xff\xfe", b"length = 1\nlength = 2\n", b"a = " + b"[" * 100_000])
def test_file_that_is_no_toml(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "wrong.toml"
    path.write_bytes(content)
    assert message_of(Course.load, path).startswith(f"course {path}: is no TOML (")
    assert message_of(Dice.load, path).startswith(f"dice {path}: is no TOML (")


@pytest.mark.parametrize("content", [None, 5, [], "name"])
def test_what_is_no_table(content: object) -> None:
    fields_of_course = "name, length, supply, obstacle, route"
    assert message_of(Course.from_dict, content) == f"course {content!r}: allowed is a table with {fields_of_course}"
    assert message_of(Dice.from_dict, content) == f"dice {content!r}: allowed is a table with name, team, energy"


# ---- dice ----


def test_default_dice() -> None:
    """C3."""
    assert default_dice().faces == ((1, 2, 3, 4, 5, 6),) * 8


def test_dice_from_a_file(tmp_path: Path) -> None:
    dice = Dice.load(written(tmp_path / "dice.toml", as_toml(PLAIN | {"blue": [6, 6]})))
    assert dice == Dice("plain", (3,), ((1, 2),) * 6 + ((6, 6),))
    assert dice.faces == (*dice.teams, dice.energy)


@pytest.mark.parametrize("content", [PLAIN, PLAIN | {"red": [7]}, PLAIN | {"blue": [1], "black": [2]}])
def test_dice_as_json_read_back(content: dict[str, Any]) -> None:
    dice = Dice.from_dict(content)
    assert Dice.from_dict(json.loads(json.dumps(dice.to_dict()))) == dice


WRONG_DICE = [
    ({"team": []}, "dice plain: the red die has 0 faces: allowed are 1-12"),
    ({"energy": []}, "dice plain: the energy die has 0 faces: allowed are 1-12"),
    ({"blue": [1] * 13}, "dice plain: the blue die has 13 faces: allowed are 1-12"),
    ({"team": [0]}, "dice plain: face of the red die 0: allowed is an integer 1-20"),
    ({"gray": [1, 21]}, "dice plain: face of the gray die 21: allowed is an integer 1-20"),
    ({"energy": [1.5]}, "dice plain: face of the energy die 1.5: allowed is an integer 1-20"),
    ({"energy": 6}, "dice plain: face of the energy die 6: allowed is a list of integers 1-20"),
    ({"name": ""}, "dice: name '': allowed is a text of one line"),
    (
        {"grey": [1]},
        "unknown dice field 'grey': there are name, team, energy, red, black, yellow, white, green, gray, blue; "
        "did you mean 'gray'?",
    ),
]


@pytest.mark.parametrize(("change", "message"), WRONG_DICE, ids=[message for _, message in WRONG_DICE])
def test_impossible_dice(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    assert message_of(Dice.from_dict, PLAIN | change) == message
    path = written(tmp_path / "wrong.toml", as_toml(PLAIN | change))
    assert message_of(Dice.load, path) == f"{path}: {message}"


@pytest.mark.parametrize("field", PLAIN)
def test_dice_without_a_field(field: str) -> None:
    content = {name: value for name, value in PLAIN.items() if name != field}
    assert message_of(Dice.from_dict, content) == f"dice: {field} is missing; needed are name, team, energy"


@pytest.mark.parametrize("teams", [(), ((1,),) * 6, ((1,),) * 8, None, 7])
def test_dice_of_too_few_or_too_many_teams(teams: Any) -> None:
    assert message_of(Dice, "few", (1,), teams) == f"dice few: teams {teams!r}: allowed are the faces of 7 dice"


@pytest.mark.parametrize("faces", [(1,), (20,), tuple(range(1, 13))])
def test_dice_at_the_edge_are_possible(faces: tuple[int, ...]) -> None:
    assert Dice("edge", faces, (faces,) * 7).faces == (faces,) * 8


# ---- what is thrown ----


def dice_of_turn(seed: int, turn: int) -> list[int]:
    """Return which face each die shows in a turn."""
    stream = new_stream(seed, 0, CHANCE)
    return [int(throw(stream, turn, die, 6)) for die in range(ENERGY + 1)]


def test_golden_dice_of_seed_0() -> None:
    assert [dice_of_turn(0, turn) for turn in range(4)] == [
        [1, 1, 5, 0, 4, 4, 5, 1],
        [0, 4, 4, 1, 1, 2, 0, 1],
        [0, 0, 1, 3, 3, 5, 5, 1],
        [2, 2, 5, 4, 5, 1, 3, 3],
    ], "other dice are thrown: DEAL_VERSION in rules.py has to go up"


@pytest.mark.parametrize("faces", [1, 2, 6, 12])
def test_a_throw_is_a_word_of_the_stream_of_its_own(faces: int) -> None:
    stream = new_stream(5, 6, CHANCE)
    thrown = [int(throw(stream, turn, die, faces)) for turn in range(20) for die in range(8)]
    assert thrown == [int(below(stream, faces)) for _ in range(160)]


def test_a_throw_leaves_the_stream_where_it_is() -> None:
    stream = new_stream(3, 0, CHANCE)
    before = stream.tobytes()
    faces = [int(throw(stream, turn, 2, 6)) for turn in (5, 0, 5)]
    assert stream.tobytes() == before
    assert faces[0] == faces[2]


def played(*moves: str, seed: int = 11) -> Any:
    state = new_state(3, RuleSet(start_cans=(3, 3, 3)))
    for move in moves:
        apply(state, parse_move(move), new_stream(seed, 0, CHANCE))
    return state["view"]["dice"].tolist()


def test_the_same_turn_throws_the_same_dice_whatever_was_chosen_before() -> None:
    """Duplicate dice: what a die shows in a turn hangs on the seed, the turn and the die alone."""
    befores = (("solo", "red from park"), ("solo breakaway", "sum from park"), ("pack park", "yellow from park"))
    alone, all_dice = [0] * 8, [0] * 8
    for before in befores:
        alone = played(*before, "solo")
        all_dice = played(*before, "pack park refuel")
        assert alone == played(*befores[0], "solo")
        assert all_dice == played(*befores[0], "pack park refuel")
    assert alone[1] == all_dice[1]
    assert [die for die in range(8) if alone[die]] == [1]
    assert [die for die in range(8) if all_dice[die]] == [0, 1, 2, ENERGY]


def test_turns_dice_and_seeds_throw_differently() -> None:
    throws = [tuple(dice_of_turn(seed, turn)) for seed in range(3) for turn in range(30)]
    assert len(set(throws)) == len(throws)


@pytest.mark.parametrize("die", range(8), ids=DIE_NAMES[:8])
@pytest.mark.parametrize("faces", [2, 6])
def test_each_die_is_uniform(die: int, faces: int) -> None:
    stream = new_stream(2024, 7, CHANCE)
    shown = [int(throw(stream, turn, die, faces)) for turn in range(600 if INTERPRETED else 6000)]
    assert chi_square(np.bincount(shown, minlength=faces)) < CRITICAL[faces - 1]


def test_two_dice_of_a_turn_and_one_die_of_two_turns_are_independent() -> None:
    stream = new_stream(2024, 8, CHANCE)
    turns = range(720 if INTERPRETED else 7200)
    red = np.array([int(throw(stream, turn, 0, 6)) for turn in turns])
    energy = np.array([int(throw(stream, turn, ENERGY, 6)) for turn in turns])
    assert chi_square(np.bincount(6 * red + energy, minlength=36)) < CRITICAL[35]
    assert chi_square(np.bincount(6 * red[::2] + red[1::2], minlength=36)) < CRITICAL[35]


# ---- rule options ----


DEFAULTS = {
    "pack_from_start": True,
    "breakaway_sum_finishes": False,
    "couriers": None,
    "cans": None,
    "start_cans": [],
    "turn_limit": 10_000,
    "course": default_course().to_dict(),
    "dice": default_dice().to_dict(),
}
COURIERS_ALLOWED = "none (by players) or an integer 3-4"
CANS_ALLOWED = "none (by players) or an integer 0-100"
START_CANS_ALLOWED = "integers 0-100, one a seat"
TURN_LIMIT_ALLOWED = "an integer 1-1000000"

COURSES = st.integers(1, 60).flatmap(
    lambda length: st.lists(st.sampled_from("sor"), min_size=length, max_size=length).map(course_of_kinds)
)
FACES = st.lists(st.integers(1, 20), min_size=1, max_size=12).map(tuple)
DICE_SETS = st.builds(Dice, st.just("drawn"), FACES, st.tuples(*[FACES] * 7))
RULE_SETS = st.builds(
    RuleSet,
    pack_from_start=st.booleans(),
    breakaway_sum_finishes=st.booleans(),
    couriers=st.none() | st.integers(3, 4),
    cans=st.none() | st.integers(9, 100),
    start_cans=st.lists(st.integers(0, 3), max_size=3).map(tuple),
    turn_limit=st.integers(1, 1_000_000),
    course=COURSES,
    dice=DICE_SETS,
)


def course_of_kinds(kinds: list[str]) -> Course:
    """Return a course with these kinds of spaces; the first one is a supply space."""
    spaces: dict[str, list[int]] = {"s": [], "o": [], "r": []}
    for space, kind in enumerate("s" + "".join(kinds[1:]), 1):
        spaces[kind].append(space)
    return Course("drawn", len(kinds), tuple(spaces["s"]), tuple(spaces["o"]), tuple(spaces["r"]))


def test_defaults_are_the_rules_as_printed() -> None:
    assert RuleSet().to_dict() == DEFAULTS
    assert RuleSet.official() == RuleSet() == RuleSet.preset("official") == checked_rules(None)


def test_unknown_preset() -> None:
    expected = "unknown rules preset 'oficial': there are official; did you mean 'official'?"
    assert message_of(RuleSet.preset, "oficial") == expected


@pytest.mark.parametrize("field", [field.name for field in fields(RuleSet)])
def test_rules_are_immutable(field: str) -> None:
    rules = RuleSet()
    with pytest.raises(FrozenInstanceError):
        setattr(rules, field, getattr(rules, field))


def test_rules_are_hashable_by_value() -> None:
    assert len({RuleSet(), RuleSet(start_cans=[]), *VARIED}) == len(VARIED)


IMPOSSIBLE = [
    ("pack_from_start", 1, "on or off"),
    ("pack_from_start", "on", "on or off"),
    ("pack_from_start", None, "on or off"),
    ("breakaway_sum_finishes", 0, "on or off"),
    ("couriers", 2, COURIERS_ALLOWED),
    ("couriers", 5, COURIERS_ALLOWED),
    ("couriers", 3.0, COURIERS_ALLOWED),
    ("couriers", True, COURIERS_ALLOWED),
    ("cans", -1, CANS_ALLOWED),
    ("cans", 101, CANS_ALLOWED),
    ("cans", "15", CANS_ALLOWED),
    ("cans", False, CANS_ALLOWED),
    ("start_cans", (-1,), START_CANS_ALLOWED),
    ("start_cans", (101,), START_CANS_ALLOWED),
    ("start_cans", (1.0,), START_CANS_ALLOWED),
    ("start_cans", 1, START_CANS_ALLOWED),
    ("start_cans", "1", START_CANS_ALLOWED),
    ("start_cans", None, START_CANS_ALLOWED),
    ("turn_limit", 0, TURN_LIMIT_ALLOWED),
    ("turn_limit", 1_000_001, TURN_LIMIT_ALLOWED),
    ("turn_limit", None, TURN_LIMIT_ALLOWED),
    ("turn_limit", 10.0, TURN_LIMIT_ALLOWED),
]


@pytest.mark.parametrize(("name", "value", "allowed"), IMPOSSIBLE)
def test_impossible_option_is_named_with_its_value_and_what_is_allowed(name: str, value: Any, allowed: str) -> None:
    message = f"rule {name}={value!r}: allowed is {allowed}"
    assert message_of(RuleSet, **{name: value}) == message
    assert message_of(RuleSet.from_dict, {name: value}) == message


def test_impossible_course_or_dice_as_option() -> None:
    assert message_of(RuleSet, course="x.toml") == "rule course='x.toml': allowed is a Course, or the TOML file of one"
    assert message_of(RuleSet, dice=None) == "rule dice=None: allowed is Dice, or the TOML file of some"
    expected = "course short: space 3 is missing; all of 1-4 are needed"
    assert message_of(RuleSet.from_dict, {"course": SHORT | {"route": []}}) == expected


def test_every_option_has_an_impossible_value() -> None:
    assert {name for name, _, _ in IMPOSSIBLE} | {"course", "dice"} == set(DEFAULTS)


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("off", "pack_from_start", False),
        ("false", "pack_from_start", False),
        ("on", "breakaway_sum_finishes", True),
        ("true", "breakaway_sum_finishes", True),
        ("4", "couriers", 4),
        ("none", "couriers", None),
        ("0", "cans", 0),
        ("none", "cans", None),
        ("1,2", "start_cans", (1, 2)),
        ("3", "start_cans", (3,)),
        ("none", "start_cans", ()),
        ("60", "turn_limit", 60),
    ],
)
def test_option_as_text(text: str, name: str, value: Any) -> None:
    assert RuleSet(couriers=3, cans=9).with_options({name: text}) == RuleSet(
        **{"couriers": 3, "cans": 9} | {name: value}
    )


def test_course_and_dice_as_files(tmp_path: Path) -> None:
    course = written(tmp_path / "course.toml", as_toml(SHORT))
    dice = written(tmp_path / "dice.toml", as_toml(PLAIN))
    rules = RuleSet().with_options({"course": str(course), "dice": str(dice)})
    assert rules == RuleSet(course=Course.from_dict(SHORT), dice=Dice.from_dict(PLAIN))


@pytest.mark.parametrize(
    ("name", "text", "value", "allowed"),
    [
        ("pack_from_start", "no", "no", "on or off"),
        ("pack_from_start", "", "", "on or off"),
        ("couriers", "four", "four", COURIERS_ALLOWED),
        ("couriers", "5", 5, COURIERS_ALLOWED),
        ("cans", "-1", -1, CANS_ALLOWED),
        ("start_cans", "1,x", (1, "x"), START_CANS_ALLOWED),
        ("start_cans", "", ("",), START_CANS_ALLOWED),
        ("turn_limit", "none", None, TURN_LIMIT_ALLOWED),
        ("turn_limit", "1.5", "1.5", TURN_LIMIT_ALLOWED),
    ],
)
def test_impossible_text_of_an_option(name: str, text: str, value: Any, allowed: str) -> None:
    assert message_of(RuleSet().with_options, {name: text}) == f"rule {name}={value!r}: allowed is {allowed}"


def test_option_that_is_no_text() -> None:
    assert message_of(RuleSet().with_options, {"cans": 3}) == "rule cans=3: allowed is the value as text"


@pytest.mark.parametrize("read", [RuleSet().with_options, RuleSet.from_dict])
def test_unknown_option_names_the_nearest(read: Any) -> None:
    expected = f"unknown rule 'courier': there are {', '.join(DEFAULTS)}; did you mean 'couriers'?"
    assert message_of(read, {"courier": "3"}) == expected


@pytest.mark.parametrize("options", [None, 3, ["cans"], "cans"])
def test_options_that_are_no_mapping(options: Any) -> None:
    assert message_of(RuleSet.from_dict, options) == f"rules {options!r}: allowed is a mapping of options to values"


@settings(max_examples=25)
@given(RULE_SETS)
def test_dict_reads_back(rules: RuleSet) -> None:
    assert RuleSet.from_dict(rules.to_dict()) == rules
    assert RuleSet.from_dict(json.loads(json.dumps(rules.to_dict()))) == rules
    assert list(rules.to_dict()) == list(DEFAULTS)


@pytest.mark.parametrize("name", ["couriers", "cans", "turn_limit"])
def test_dict_of_numpy_integers_is_json(name: str) -> None:
    rules = RuleSet(**{name: np.int64(4)}, start_cans=(np.int64(1),))
    assert json.loads(json.dumps(rules.to_dict())) == DEFAULTS | {name: 4, "start_cans": [1]}


def test_dict_without_an_option_takes_the_default() -> None:
    assert RuleSet.from_dict({"cans": 3}) == RuleSet(cans=3)


@settings(max_examples=25)
@given(RULE_SETS, st.integers(3, 7))
def test_record_reads_back_with_couriers_and_cans_by_number(rules: RuleSet, players: int) -> None:
    record = rules.to_record(players)
    assert record.dtype == RULES
    again = RuleSet.from_record(record)
    assert again.to_record(players).tobytes() == record.tobytes()
    in_force = rules.in_force(players)
    assert (again.couriers, again.cans) == (in_force["couriers"], in_force["cans"])
    assert (again.course.supply, again.course.obstacle) == (rules.course.supply, rules.course.obstacle)
    assert again.dice.faces == rules.dice.faces
    for name in ("pack_from_start", "breakaway_sum_finishes", "turn_limit"):
        assert getattr(again, name) == getattr(rules, name)


@pytest.mark.parametrize("players", [2, 8, 3.0, "3", None, True])
def test_impossible_number_of_players(players: Any) -> None:
    for check in (check_players, RuleSet().to_record, RuleSet().in_force):
        with pytest.raises(UsageError, match=f"^players {re.escape(str(players))}: allowed is 3-7$"):
            check(players)


@pytest.mark.parametrize(
    ("given_cans", "players", "allowed"),
    [
        ((0, 0, 0, 1), 3, "numbers for 3 players, 15 cans in all at most"),
        ((8, 8), 3, "numbers for 3 players, 15 cans in all at most"),
        ((29,), 7, "numbers for 7 players, 28 cans in all at most"),
    ],
)
def test_cans_at_the_start_that_do_not_fit_the_table(given_cans: Any, players: int, allowed: str) -> None:
    text = ",".join(map(str, given_cans))
    expected = f"rule start_cans={text!r}: allowed is {allowed}"
    assert message_of(RuleSet(start_cans=given_cans).to_record, players) == expected


def test_cans_at_the_start_come_out_of_the_supply() -> None:
    state = new_state(3, RuleSet(start_cans=(7, 0, 8)))
    assert state["view"]["cans"].tolist() == [7, 0, 8, 0, 0, 0, 0]
    assert state["view"]["supply"] == 0


@pytest.mark.parametrize("rules", [3, "official", {"cans": 3}])
def test_what_are_no_rules(rules: object) -> None:
    expected = f"rules {rules!r}: allowed is a RuleSet, and where a game begins the name of a preset"
    assert message_of(new_state, 3, rules) == expected


@pytest.mark.parametrize("field", ["length", "supply"])
def test_a_number_of_too_many_digits_is_one_line(field: str, tmp_path: Path) -> None:
    huge = "0x" + "f" * 5000
    lines = {"name": '"huge"', "length": "2", "supply": "[1]", "obstacle": "[2]", "route": "[]"}
    lines |= {field: huge if field == "length" else f"[{huge}]"}
    file = tmp_path / "course.toml"
    file.write_text("\n".join(f"{name} = {value}" for name, value in lines.items()), encoding="utf-8")
    with pytest.raises(UsageError, match=r"^.*course\.toml: a number in it has too many digits$"):
        Course.load(file)
