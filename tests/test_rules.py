"""Rule options: what is possible, what is refused and how, and forms that read back to the same rules."""

import json
import re
from dataclasses import FrozenInstanceError, fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from velonimo_sim.errors import UsageError
from velonimo_sim.velonimo.rules import MAX_COLS, RULES, RuleSet, check_players

DEFAULTS = {
    "col_values": [1, 2, 3, 4, 5],
    "tortoise_swap": "mandatory",
    "dromedary_last_card": "draws",
    "duel_target": 8,
    "starter_tie": "least_points",
    "jersey_tie": "most_points",
    "jersey_bonus": None,
    "hand_size": 11,
    "exchanged_cards": None,
}
COL_VALUES_ALLOWED = "1-10 integers, each 1-1000000"
DUEL_TARGET_ALLOWED = "none or an integer 1-1000000"
JERSEY_BONUS_ALLOWED = "none (by players) or an integer 0-1000000"
HAND_SIZE_ALLOWED = "an integer 1-27"
EXCHANGED_CARDS_ALLOWED = "none or two cards such as B1,B5"

RULE_SETS = st.builds(
    RuleSet,
    col_values=st.lists(st.integers(1, 1_000_000), min_size=1, max_size=MAX_COLS).map(tuple),
    tortoise_swap=st.sampled_from(["mandatory", "optional", "off"]),
    dromedary_last_card=st.sampled_from(["draws", "exempt"]),
    duel_target=st.none() | st.integers(1, 1_000_000),
    starter_tie=st.sampled_from(["least_points", "table_order"]),
    jersey_tie=st.sampled_from(["most_points", "col_winner"]),
    jersey_bonus=st.none() | st.integers(0, 1_000_000),
    hand_size=st.integers(1, 11),
    exchanged_cards=st.none() | st.permutations(["B1", "Y7", "H25", "H50", "R4"]).map(lambda cards: tuple(cards[:2])),
)
PLAYERS = st.integers(2, 5)


def test_defaults_are_the_official_rules() -> None:
    assert RuleSet().to_dict() == DEFAULTS
    assert RuleSet.official() == RuleSet()


def test_bga_breaks_two_ties_otherwise() -> None:
    assert RuleSet.bga().to_dict() == DEFAULTS | {"starter_tie": "table_order", "jersey_tie": "col_winner"}


@pytest.mark.parametrize(("name", "expected"), [("official", RuleSet.official()), ("bga", RuleSet.bga())])
def test_preset_by_name(name: str, expected: RuleSet) -> None:
    assert RuleSet.preset(name) == expected


def test_unknown_preset_names_the_nearest() -> None:
    with pytest.raises(UsageError) as caught:
        RuleSet.preset("oficial")
    assert str(caught.value) == ("unknown rules preset 'oficial': there are official, bga; did you mean 'official'?")


@pytest.mark.parametrize("field", [field.name for field in fields(RuleSet)])
def test_rules_are_immutable(field: str) -> None:
    rules = RuleSet()
    with pytest.raises(FrozenInstanceError):
        setattr(rules, field, getattr(rules, field))


def test_rules_are_hashable_by_value() -> None:
    assert len({RuleSet(), RuleSet.official(), RuleSet(col_values=[1, 2, 3, 4, 5]), RuleSet.bga()}) == 2


def test_col_values_become_a_tuple_of_their_own() -> None:
    values = [1, 2]
    rules = RuleSet(col_values=values)
    values.append(3)
    assert rules.col_values == (1, 2)
    assert RuleSet(col_values=range(1, 4)) == RuleSet(col_values=np.arange(1, 4))


IMPOSSIBLE = [
    ("col_values", (), COL_VALUES_ALLOWED),
    ("col_values", (1,) * 11, COL_VALUES_ALLOWED),
    ("col_values", (1, 0), COL_VALUES_ALLOWED),
    ("col_values", (-1,), COL_VALUES_ALLOWED),
    ("col_values", (1_000_001,), COL_VALUES_ALLOWED),
    ("col_values", (1.0, 2), COL_VALUES_ALLOWED),
    ("col_values", ("1",), COL_VALUES_ALLOWED),
    ("col_values", (True,), COL_VALUES_ALLOWED),
    ("col_values", (None,), COL_VALUES_ALLOWED),
    ("col_values", "12", COL_VALUES_ALLOWED),
    ("col_values", 5, COL_VALUES_ALLOWED),
    ("col_values", None, COL_VALUES_ALLOWED),
    ("tortoise_swap", "maybe", "mandatory or optional or off"),
    ("tortoise_swap", "Mandatory", "mandatory or optional or off"),
    ("tortoise_swap", None, "mandatory or optional or off"),
    ("tortoise_swap", 0, "mandatory or optional or off"),
    ("tortoise_swap", ["off"], "mandatory or optional or off"),
    ("dromedary_last_card", "draw", "draws or exempt"),
    ("dromedary_last_card", True, "draws or exempt"),
    ("starter_tie", "most_points", "least_points or table_order"),
    ("jersey_tie", "least_points", "most_points or col_winner"),
    ("duel_target", 0, DUEL_TARGET_ALLOWED),
    ("duel_target", -8, DUEL_TARGET_ALLOWED),
    ("duel_target", 1_000_001, DUEL_TARGET_ALLOWED),
    ("duel_target", 8.0, DUEL_TARGET_ALLOWED),
    ("duel_target", "8", DUEL_TARGET_ALLOWED),
    ("duel_target", True, DUEL_TARGET_ALLOWED),
    ("jersey_bonus", -1, JERSEY_BONUS_ALLOWED),
    ("jersey_bonus", 1_000_001, JERSEY_BONUS_ALLOWED),
    ("jersey_bonus", 0.5, JERSEY_BONUS_ALLOWED),
    ("jersey_bonus", "none", JERSEY_BONUS_ALLOWED),
    ("jersey_bonus", False, JERSEY_BONUS_ALLOWED),
    ("hand_size", 0, HAND_SIZE_ALLOWED),
    ("hand_size", 28, HAND_SIZE_ALLOWED),
    ("hand_size", None, HAND_SIZE_ALLOWED),
    ("hand_size", 11.0, HAND_SIZE_ALLOWED),
    ("hand_size", True, HAND_SIZE_ALLOWED),
    ("exchanged_cards", ("B1",), EXCHANGED_CARDS_ALLOWED),
    ("exchanged_cards", ("B1", "B1"), EXCHANGED_CARDS_ALLOWED),
    ("exchanged_cards", ("B1", "B8"), EXCHANGED_CARDS_ALLOWED),
    ("exchanged_cards", ("B1", 5), EXCHANGED_CARDS_ALLOWED),
    ("exchanged_cards", "B1", EXCHANGED_CARDS_ALLOWED),
]


@pytest.mark.parametrize(("name", "value", "allowed"), IMPOSSIBLE)
def test_impossible_option_is_named_with_its_value_and_what_is_allowed(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(UsageError) as caught:
        RuleSet(**{name: value})
    assert str(caught.value) == f"rule {name}={value!r}: allowed is {allowed}"
    with pytest.raises(UsageError, match=f"^{re.escape(str(caught.value))}$"):
        RuleSet.from_dict({name: value})


def test_every_option_has_an_impossible_value() -> None:
    assert {name for name, _, _ in IMPOSSIBLE} == set(DEFAULTS)


@pytest.mark.parametrize(
    "options",
    [
        {"col_values": (1,)},
        {"col_values": (1_000_000,) * 10},
        {"tortoise_swap": "optional"},
        {"tortoise_swap": "off"},
        {"dromedary_last_card": "exempt"},
        {"duel_target": None},
        {"duel_target": 1},
        {"duel_target": 1_000_000},
        {"jersey_bonus": 0},
        {"jersey_bonus": 1_000_000},
        {"hand_size": 1},
        {"hand_size": 27},
        {"exchanged_cards": ("B1", "H50")},
    ],
)
def test_options_at_the_edge_are_possible(options: dict[str, Any]) -> None:
    rules = RuleSet(**options)
    assert {name: getattr(rules, name) for name in options} == options


@pytest.mark.parametrize(
    ("text", "name", "value"),
    [
        ("1,2,3", "col_values", (1, 2, 3)),
        ("7", "col_values", (7,)),
        ("optional", "tortoise_swap", "optional"),
        ("off", "tortoise_swap", "off"),
        ("exempt", "dromedary_last_card", "exempt"),
        ("none", "duel_target", None),
        ("12", "duel_target", 12),
        ("table_order", "starter_tie", "table_order"),
        ("col_winner", "jersey_tie", "col_winner"),
        ("none", "jersey_bonus", None),
        ("0", "jersey_bonus", 0),
        ("5", "hand_size", 5),
        ("none", "exchanged_cards", None),
        ("B1,Y7", "exchanged_cards", ("B1", "Y7")),
    ],
)
def test_option_as_text(text: str, name: str, value: Any) -> None:
    changed = RuleSet.bga().with_options({name: text})
    assert changed == RuleSet(**({"starter_tie": "table_order", "jersey_tie": "col_winner"} | {name: value}))


def test_several_options_as_text_leave_the_rules_they_start_from() -> None:
    rules = RuleSet()
    changed = rules.with_options({"hand_size": "5", "duel_target": "none"})
    assert changed == RuleSet(hand_size=5, duel_target=None)
    assert rules == RuleSet()
    assert rules.with_options({}) == rules


@pytest.mark.parametrize(
    ("name", "text", "value", "allowed"),
    [
        ("col_values", "", ("",), COL_VALUES_ALLOWED),
        ("col_values", "1,x", (1, "x"), COL_VALUES_ALLOWED),
        ("col_values", "1,,2", (1, "", 2), COL_VALUES_ALLOWED),
        ("col_values", "0", (0,), COL_VALUES_ALLOWED),
        ("tortoise_swap", "none", "none", "mandatory or optional or off"),
        ("duel_target", "eight", "eight", DUEL_TARGET_ALLOWED),
        ("duel_target", "0", 0, DUEL_TARGET_ALLOWED),
        ("jersey_bonus", "-1", -1, JERSEY_BONUS_ALLOWED),
        ("jersey_bonus", "1.5", "1.5", JERSEY_BONUS_ALLOWED),
        ("hand_size", "28", 28, HAND_SIZE_ALLOWED),
        ("hand_size", "none", None, HAND_SIZE_ALLOWED),
        ("hand_size", "", "", HAND_SIZE_ALLOWED),
    ],
)
def test_impossible_text_of_an_option(name: str, text: str, value: Any, allowed: str) -> None:
    with pytest.raises(UsageError) as caught:
        RuleSet().with_options({name: text})
    assert str(caught.value) == f"rule {name}={value!r}: allowed is {allowed}"


@pytest.mark.parametrize("read", [RuleSet().with_options, RuleSet.from_dict])
def test_unknown_option_names_the_nearest(read: Any) -> None:
    with pytest.raises(UsageError) as caught:
        read({"hand_sise": "5"})
    assert str(caught.value) == (
        f"unknown rule 'hand_sise': there are {', '.join(DEFAULTS)}; did you mean 'hand_size'?"
    )


@given(RULE_SETS)
def test_dict_reads_back(rules: RuleSet) -> None:
    assert RuleSet.from_dict(rules.to_dict()) == rules
    assert RuleSet.from_dict(json.loads(json.dumps(rules.to_dict()))) == rules
    assert list(rules.to_dict()) == list(DEFAULTS)


@pytest.mark.parametrize("name", ["duel_target", "jersey_bonus", "hand_size"])
def test_dict_of_numpy_integers_is_json(name: str) -> None:
    rules = RuleSet(**{name: np.int64(7)})
    assert json.loads(json.dumps(rules.to_dict())) == DEFAULTS | {name: 7}


def test_dict_without_an_option_takes_the_default() -> None:
    assert RuleSet.from_dict({"hand_size": 3}) == RuleSet(hand_size=3)


@given(RULE_SETS, PLAYERS)
def test_record_reads_back_with_the_bonus_by_number(rules: RuleSet, players: int) -> None:
    record = rules.to_record(players)
    assert record.dtype == RULES
    expected = RuleSet.from_dict(rules.to_dict() | {"jersey_bonus": rules.bonus(players)})
    assert RuleSet.from_record(record) == expected
    assert RuleSet.from_record(record).to_record(players).tobytes() == record.tobytes()


def test_record_of_the_official_rules() -> None:
    record = RuleSet().to_record(4)
    assert record["col_values"].tolist() == [1, 2, 3, 4, 5, 0, 0, 0, 0, 0]
    assert [int(record[name]) for name in ("duel_target", "jersey_bonus", "n_cols", "hand_size")] == [8, 10, 5, 11]
    assert not any(record[name] for name in ("tortoise_swap", "dromedary_last_card", "starter_tie", "jersey_tie"))
    assert not record["exchanged"].any()


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("tortoise_swap", ["mandatory", "optional", "off"]),
        ("dromedary_last_card", ["draws", "exempt"]),
        ("starter_tie", ["least_points", "table_order"]),
        ("jersey_tie", ["most_points", "col_winner"]),
    ],
)
def test_record_numbers_the_choices(name: str, values: list[str]) -> None:
    assert [int(RuleSet(**{name: value}).to_record(3)[name]) for value in values] == list(range(len(values)))


def test_no_duel_target_is_recorded_as_0() -> None:
    record = RuleSet(duel_target=None).to_record(2)
    assert record["duel_target"] == 0
    assert RuleSet.from_record(record).duel_target is None


@pytest.mark.parametrize(
    ("field", "value", "error"),
    [
        ("n_cols", 0, UsageError),
        ("n_cols", 6, UsageError),
        ("hand_size", 28, UsageError),
        ("jersey_bonus", -1, UsageError),
        ("duel_target", -1, UsageError),
        ("tortoise_swap", 3, IndexError),
        ("jersey_tie", 2, IndexError),
        ("exchanged", (0, 55), ValueError),
        ("exchanged", (8, 8), UsageError),
    ],
)
def test_impossible_record(field: str, value: object, error: type[Exception]) -> None:
    record = RuleSet().to_record(3)
    record[field] = value
    with pytest.raises(error):
        RuleSet.from_record(record)


@pytest.mark.parametrize(("players", "bonus"), [(2, 0), (3, 10), (4, 10), (5, 10)])
def test_bonus_by_players(players: int, bonus: int) -> None:
    """V9: +10, and none in the duel (V27)."""
    assert RuleSet().bonus(players) == bonus
    assert RuleSet().to_record(players)["jersey_bonus"] == bonus


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("bonus", [0, 7])
def test_bonus_by_option(players: int, bonus: int) -> None:
    assert RuleSet(jersey_bonus=bonus).bonus(players) == bonus
    assert RuleSet(jersey_bonus=bonus).to_record(players)["jersey_bonus"] == bonus


@pytest.mark.parametrize(("players", "largest"), [(2, 27), (3, 18), (4, 13), (5, 11)])
def test_hand_size_that_the_deck_allows(players: int, largest: int) -> None:
    assert RuleSet(hand_size=largest).to_record(players)["hand_size"] == largest
    if largest < 27:
        with pytest.raises(UsageError) as caught:
            RuleSet(hand_size=largest + 1).to_record(players)
        assert str(caught.value) == f"rule hand_size={largest + 1}: allowed is 1-{largest} with {players} players"


@pytest.mark.parametrize("players", [-1, 0, 1, 6, 100, 2.0, "3", True, None])
def test_impossible_number_of_players(players: Any) -> None:
    with pytest.raises(UsageError, match=f"^players {re.escape(str(players))}: allowed is 2-5$"):
        check_players(players)
    with pytest.raises(UsageError, match=r"allowed is 2-5$"):
        RuleSet().to_record(players)


@pytest.mark.parametrize("players", [2, 3, 4, 5, np.int64(4)])
def test_possible_number_of_players(players: int) -> None:
    check_players(players)
