"""The state of VeloCity as one record: copies, saved forms, and what is refused when a saved form is read."""

import json
import struct
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from races import do, lay_out, states_of_race
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.errors import CorruptDataError, UsageError
from velonimo_sim.velocity.rules import RULES, RULES_VERSION, VARIED, RuleSet
from velonimo_sim.velocity.state import (
    STATE,
    STATE_VERSION,
    State,
    clone,
    equal,
    from_bytes,
    from_json,
    new_state,
    state_hash,
    to_bytes,
    to_json,
    validate,
    view_of,
)
from velonimo_sim.velocity.view import NOBODY, VIEW, End, Phase

pytestmark = pytest.mark.kernel

HEADER = struct.Struct("<4sHHI")
Edit = Callable[[State], None]


@cache
def states() -> list[State]:
    """Return the states of random races under varied rules, with every phase among them."""
    return [
        state
        for number, rules in enumerate((*VARIED, RuleSet(cans=2, start_cans=(1, 1))))
        for players in ((4,) if INTERPRETED else (3, 5, 7))
        for state in states_of_race(players, number, rules, starter=2)
    ]


def some_states() -> list[State]:
    """Return states of all phases, spread over the races."""
    of_phase = [[state for state in states() if state["view"]["phase"] == phase] for phase in Phase]
    return [state for found in of_phase for state in found[:: max(1, len(found) // 10)]]


# The record.


def leaf_bytes(dtype: np.dtype[Any]) -> int:
    """Return the bytes that fields really use, all the way down."""
    if dtype.subdtype is not None:
        return int(np.prod(dtype.shape)) * leaf_bytes(dtype.subdtype[0])
    if dtype.fields is None:
        return dtype.itemsize
    return sum(leaf_bytes(dtype.fields[name][0]) for name in dtype.names or ())


@pytest.mark.parametrize("dtype", [STATE, VIEW, RULES], ids=["STATE", "VIEW", "RULES"])
def test_no_hidden_padding(dtype: np.dtype[Any]) -> None:
    """Bytes that belong to no field would differ between equal states."""
    assert leaf_bytes(dtype) == dtype.itemsize


def test_clone_is_equal_and_independent() -> None:
    for state in some_states():
        before, copy = state.tobytes(), clone(state)
        assert equal(copy, state)
        assert state_hash(copy) == state_hash(state)
        copy["view"]["couriers"][0, 0] ^= 1
        assert state.tobytes() == before
        assert not equal(copy, state)


@pytest.mark.parametrize("seat", range(3))
def test_every_seat_sees_everything(seat: int) -> None:
    state = do(new_state(3), "solo", red=1)
    view = view_of(state, seat)
    assert view["seat"] == seat
    for field in set(VIEW.names) - {"seat"}:
        assert view[field].tobytes() == state["view"][field].tobytes()
    view["cans"] = 9
    assert not state["view"]["cans"].any()


@pytest.mark.parametrize("seat", [-1, 3, NOBODY])
def test_view_of_no_such_seat(seat: int) -> None:
    with pytest.raises(UsageError, match=f"^seat {seat}: allowed is 0-2$"):
        view_of(new_state(3), seat)


@pytest.mark.parametrize("starter", [-1, 3, 1.0])
def test_new_state_with_no_such_starter(starter: Any) -> None:
    with pytest.raises(UsageError, match=f"^starter {starter}: allowed is 0-2 with 3 players$"):
        new_state(3, starter=starter)


# Saved forms.


def test_json_in_another_layout_reads_back() -> None:
    for state in some_states()[::10]:
        assert equal(from_json(json.dumps(json.loads(to_json(state)), indent=2, sort_keys=True)), state)


def sound() -> State:
    """Return a state in the middle of an obstacle, so that most fields are not 0."""
    state = lay_out({"red": "6 5", "blue": "6"}, cans={"red": 2, "blue": 2, "gray": 1}, finish="red gray blue")
    return do(state, "pack 6 refuel", "blue from 6", red=2, blue=1, energy=4)


def test_bytes_begin_with_magic_versions_and_checksum() -> None:
    payload = sound().tobytes()
    header = HEADER.pack(b"CITY", STATE_VERSION, RULES_VERSION, zlib.crc32(payload))
    assert to_bytes(sound()) == header + payload


@pytest.mark.parametrize("data", [b"", b"VELO" + bytes(300), b"CIT", "CITY", None, b"x" + to_bytes(new_state(3))])
def test_bytes_that_are_no_state(data: Any) -> None:
    with pytest.raises(CorruptDataError, match=r"^these bytes are no saved state$"):
        from_bytes(data)


def test_bytes_damaged_anywhere_or_of_another_length() -> None:
    data = bytearray(to_bytes(sound()))
    for offset in range(len(data)):
        with pytest.raises(CorruptDataError):
            from_bytes(bytes(data[:offset]))
        data[offset] ^= 0x55
        with pytest.raises(CorruptDataError):
            from_bytes(bytes(data))
        data[offset] ^= 0x55
    with pytest.raises(CorruptDataError, match="its checksum does not fit"):
        from_bytes(bytes(data) + b"\0")


@pytest.mark.parametrize("versions", [(0, 1), (2, 1), (1, 2)])
def test_bytes_of_another_version(versions: tuple[int, int]) -> None:
    assert (STATE_VERSION, RULES_VERSION) == (1, 1)
    payload = sound().tobytes()
    with pytest.raises(CorruptDataError) as caught:
        from_bytes(HEADER.pack(b"CITY", *versions, zlib.crc32(payload)) + payload)
    assert str(caught.value) == (
        f"the state was saved as version {versions[0]} under rules version {versions[1]}; "
        "this is version 1 under rules version 1"
    )


@pytest.mark.parametrize("bits", range(8))
def test_no_disturbed_record_makes_validate_fail(bits: int) -> None:
    """Whatever stands in the bytes of a record, validate answers, and what it lets through is saved and read back."""
    for state in (sound(), new_state(3), *some_states()[::60]):
        data = bytearray(state.tobytes())
        for offset in range(bits, len(data), 8):
            kept, data[offset] = data[offset], (255, 0, 1, data[offset] ^ 4, 128, 37, 254, data[offset] + 1 & 255)[bits]
            changed = np.frombuffer(bytes(data), STATE)[0]
            faults = validate(changed)
            assert all(isinstance(fault, str) and "\n" not in fault for fault in faults)
            if not faults:
                assert equal(from_json(to_json(changed)), changed)
            data[offset] = kept


def test_json_names_spaces_and_versions() -> None:
    content = json.loads(to_json(sound()))
    assert (content["velocity_state"], content["rules_version"]) == (STATE_VERSION, RULES_VERSION)
    assert content["view"]["spaces"][0] == ["5"]
    assert content["view"]["spaces"][1] == ["36"]
    assert content["view"]["rules"]["supply_spaces"] == ["8", "12", "17", "22", "27", "32"]
    assert content["view"]["rules"]["obstacles"] == ["1", "3", "5", "10", "14", "19", "24", "30"]


@pytest.mark.parametrize("text", ["", "{", "null", "3", "[]", "{}", '{"velocity_state": 1}', '{"velonimo_state": 3}'])
def test_text_that_is_no_state(text: str) -> None:
    with pytest.raises(CorruptDataError, match=r"^this text is no saved state$"):
        from_json(text)


@pytest.mark.parametrize("field", ["velocity_state", "rules_version"])
@pytest.mark.parametrize("version", [0, 2, "1", None, True, 1.0])
def test_json_of_another_version(field: str, version: Any) -> None:
    with pytest.raises(CorruptDataError, match="under rules version"):
        from_json(json.dumps(json.loads(to_json(sound())) | {field: version}))


@pytest.mark.parametrize("above", [(), ("view",), ("view", "rules")], ids=["state", "view", "rules"])
def test_json_with_a_field_missing_or_too_many(above: tuple[str, ...]) -> None:
    for change in (lambda part: part.pop(next(reversed(part))), lambda part: part.update(more=0)):
        content = json.loads(to_json(sound()))
        part = content
        for name in above:
            part = part[name]
        change(part)
        with pytest.raises(CorruptDataError, match=f"^{'.'.join(above) or 'state'}: allowed are the fields "):
            from_json(json.dumps(content))


MISTYPED = (None, True, "0", 0.0, -1, 2**70, {}, [[]], [[[0]]], ["0"], ["62"], ["07"], [7], ["7"] * 2, [[["7"]]])


@pytest.mark.parametrize("field", [*VIEW.names, *(f"rules.{name}" for name in RULES.names)])
def test_json_with_a_mistyped_field(field: str) -> None:
    *above, name = field.split(".")
    for value in MISTYPED:
        content = json.loads(to_json(sound()))
        part = content["view"]["rules"] if above else content["view"]
        part[name] = value
        with pytest.raises(CorruptDataError, match=rf"^(view\.{field}: |the saved state is impossible: )") as caught:
            from_json(json.dumps(content))
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("spaces", "message"),
    [
        (["0"], "'0' is no space"),
        (["62"], "'62' is no space"),
        (["05"], "'05' is no space"),
        (["x"], "'x' is no space"),
        (["5", "5"], "a space stands twice"),
    ],
)
def test_json_with_what_is_no_space(spaces: list[str], message: str) -> None:
    content = json.loads(to_json(sound()))
    content["view"]["spaces"][0] = spaces
    with pytest.raises(CorruptDataError, match=rf"^view\.spaces: {message}$"):
        from_json(json.dumps(content))


# What cannot be.


def ride_chosen() -> State:
    return do(lay_out({"red": "20"}, cans={"red": 2}), "solo refuel", red=1, energy=2)


def pack_chosen() -> State:
    return do(lay_out({"red": "20", "blue": "20", "gray": "25"}, cans={"red": 2}), "pack 20", red=1, blue=2)


def following() -> State:
    state = lay_out({"red": "25 25", "blue": "25"}, cans={"red": 2, "blue": 1})
    return do(state, "solo", "red from 25", red=2)


def taking() -> State:
    owned = {"red": 1, "gray": 3, "blue": 3}
    return do(lay_out({"red": "30"}, cans=owned, supply=0), "solo", "red from 30", red=3)


def over() -> State:
    return do(lay_out({"red": "1"}, finish="red blue red"), "solo", "red from 1", red=1)


def riding() -> State:
    return lay_out({"red": "20", "blue": "20"}, cans={"red": 2}, finish="blue")


def put(field: str, value: Any, *place: int) -> Edit:
    """Return an edit that puts a value into a field of the view, or into a place of it."""

    def edit(state: State) -> None:
        record, name = state["view"], field
        if field.startswith("rules."):
            record, name = record["rules"], field.removeprefix("rules.")
        if place:
            record[name][place if len(place) > 1 else place[0]] = value
        else:
            record[name] = value

    return edit


def both(*edits: Edit) -> Edit:
    def edit(state: State) -> None:
        for one in edits:
            one(state)

    return edit


def turn_to(seat: int) -> Edit:
    return both(put("turn", seat), put("seat", seat))


FAULTS: list[tuple[Callable[[], State], Edit, str]] = [
    (riding, put("players", 2), "rules: players 2: allowed is 3-7"),
    (riding, put("players", 8), "rules: players 8: allowed is 3-7"),
    (riding, put("rules.length", 0), "rules: the course or a die is none"),
    (riding, put("rules.length", 61), "rules: the course or a die is none"),
    (riding, put("rules.n_faces", 0, 3), "rules: the course or a die is none"),
    (riding, put("rules.n_faces", 13, 3), "rules: dice unnamed: face of the white die 0: allowed is an integer 1-20"),
    (riding, put("rules.faces", 9, 3, 6), "rules: a field beyond the options is not 0"),
    (riding, put("rules.faces", 21, 3, 5), "rules: dice unnamed: face of the white die 21: allowed is an integer 1-20"),
    (riding, put("rules.supply_spaces", 1 << 40), "rules: course unnamed: has no supply space"),
    (riding, put("rules.supply_spaces", 1 << 5), "rules: course unnamed: space 5 stands twice"),
    (riding, put("rules.obstacles", 1 << 36), "rules: a field beyond the options is not 0"),
    (riding, put("rules.obstacles", 1), "rules: a field beyond the options is not 0"),
    (riding, put("rules.turn_limit", 0), "rules: rule turn_limit=0: "),
    (riding, put("rules.couriers", 5), "rules: rule couriers=5: "),
    (riding, put("rules.cans", 101), "rules: rule cans=101: "),
    (riding, put("rules.start_cans", 50, 0), "rules: rule start_cans='50,0,0,0,0,0,0': "),
    (riding, put("rules.pack_from_start", 2), "rules: a field beyond the options is not 0"),
    (riding, put("phase", 6), "phase 6: allowed is 0-5"),
    (riding, put("end", 4), "end 4: allowed is 0-3"),
    (riding, put("turns", -1), "turns -1: allowed is 0-10000"),
    (riding, put("turns", 10_001), "turns 10001: allowed is 0-10000"),
    (riding, put("starter", 7), "starter 7: allowed is 0-6"),
    (riding, put("starter", NOBODY), "starter 255: allowed is 0-6"),
    (pack_chosen, put("is_pack", 2), "is_pack 2: allowed is 0-1"),
    (ride_chosen, put("spent", 3), "spent 3: allowed is 0-2"),
    (pack_chosen, put("origin", 37), "origin 37: allowed is 0-36"),
    (following, put("target", 36), "target 36: allowed is 0-35"),
    (following, put("asked", 8), "asked 8: allowed is 0-7"),
    (taking, put("due", 3), "due 3: allowed is 0-2"),
    (riding, put("n_finished", 9), "n_finished 9: allowed is 0-8"),
    (riding, put("seat", 7), "seat 7: allowed is 0-6 or 255"),
    (riding, put("turn", 7), "turn 7: allowed is 0-6 or 255"),
    (riding, put("active", 7), "active 7: allowed is 0-6 or 255"),
    (riding, put("payee", 7), "payee 7: allowed is 0-6 or 255"),
    (riding, put("couriers", 37, 0, 0), "couriers: allowed are spaces 0-36"),
    (lambda: new_state(3), put("couriers", 5, 3, 0), "couriers: is not 0 beyond the seats"),
    (lambda: new_state(3), put("spaces", 4, 6), "spaces: is not 0 beyond the seats"),
    (lambda: new_state(3), put("cans", 1, 3), "cans: is not 0 beyond the seats"),
    (lambda: new_state(3), put("finished", 1, 3), "finished: is not 0 beyond the seats"),
    (lambda: new_state(3), put("last_place", 1, 3), "last_place: is not 0 beyond the seats"),
    (lambda: new_state(3), put("arrived", 1, 3), "arrived: is not 0 beyond the seats"),
    (riding, put("couriers", 36, 0, 3), "a team has more couriers than there are"),
    (riding, put("couriers", 19, 0, 0), "spaces of seat 0 are not those of its couriers"),
    (riding, put("spaces", 1 << 62, 1), "spaces of seat 1 are not those of its couriers"),
    (riding, put("couriers", 0, 1, 0), "seat 1 has 1 couriers in the finish, and 0 finish places"),
    (riding, put("finish", 1, 0), "seat 1 has 0 couriers in the finish, and 1 finish places"),
    (riding, put("finish", 7, 0), "seat 6 has 1 couriers in the finish, and 0 finish places"),
    (riding, put("finished", 2, 6), "seat 6 has 1 couriers in the finish, and 1 finish places"),
    (riding, put("last_place", 2, 6), "last_place of seat 6 is 2, and it has places [1]"),
    (riding, put("n_finished", 2), "the finish places are not filled in order"),
    (riding, both(put("finish", NOBODY, 0), put("finish", 6, 1)), "the finish places are not filled in order"),
    (riding, put("supply", 11), "13 cans in all: there are 12"),
    (riding, put("cans", 1, 0), "11 cans in all: there are 12"),
    (riding, put("payee", 1), "0 cans are due to seat 1"),
    (taking, put("payee", NOBODY), "1 cans are due to seat 255"),
    (taking, both(put("supply", 1), put("cans", 0, 0)), "cans are due, and there are some in the supply"),
    (riding, put("end", End.TURN_LIMIT), "end TURN_LIMIT in phase RIDE"),
    (over, put("end", End.NONE), "end NONE in phase GAME_OVER"),
    (over, put("end", End.EIGHTH_PLACE), "end EIGHTH_PLACE: what stands in the race says THIRD_COURIER"),
    (riding, both(put("turns", 7), put("rules.turn_limit", 7)), "end NONE: what stands in the race says TURN_LIMIT"),
    (riding, put("seat", 1), "the view is not that of the seat to act"),
    (over, both(put("turn", 0), put("seat", 0)), "somebody is to act after the end"),
    (over, put("active", 0), "somebody is to act after the end"),
    (riding, turn_to(NOBODY), "nobody to act in phase RIDE"),
    (riding, put("active", NOBODY), "nobody to act in phase RIDE"),
    (ride_chosen, put("active", NOBODY), "nobody to act in phase DIE"),
    (following, turn_to(NOBODY), "nobody to act in phase SLIPSTREAM"),
    (riding, put("turns", 1), "turn 1 is not of seat 0"),
    (riding, turn_to(1), "turn 1 in phase RIDE: it is for seat 0 to decide"),
    (ride_chosen, turn_to(1), "turn 1 in phase DIE: it is for seat 0 to decide"),
    (following, turn_to(6), "turn 6 in phase SLIPSTREAM: it is for seat 0 to decide"),
    (sound, turn_to(6), "turn 6 in phase OBSTACLE: it is for seat 0 to decide"),
    (taking, turn_to(6), "turn 6 in phase TAKE: it is for seat 0 to decide"),
    (ride_chosen, both(put("asked", 6), turn_to(6)), "seats are asked in phase DIE"),
    (taking, put("phase", Phase.SLIPSTREAM), "1 cans are due in phase SLIPSTREAM"),
    (taking, both(put("due", 0), put("payee", NOBODY)), "0 cans are due in phase TAKE"),
    (taking, both(put("cans", 2, 5), put("cans", 2, 0)), "seat 0 has nobody to choose among"),
    (taking, both(put("cans", 3, 0), put("cans", 1, 5)), "seat 0 has nobody to choose among"),
    (ride_chosen, put("dice", 7, 0), "die 0 shows 7, which is no face of it"),
    (riding, put("dice", 1, 0), "dice are thrown before the ride is chosen"),
    (riding, put("is_pack", 1), "is_pack 1 in phase RIDE"),
    (riding, put("spent", 1), "spent 1 in phase RIDE"),
    (over, put("origin", 1), "origin 1 in phase GAME_OVER"),
    (over, put("target", 1), "target 1 in phase GAME_OVER"),
    (pack_chosen, put("spent", 2), "a Breakaway in a pack"),
    (ride_chosen, put("dice", 0, 0), "the own die has not been thrown"),
    (ride_chosen, put("dice", 0, 7), "energy die 0 for 1 cans"),
    (pack_chosen, put("dice", 1, 7), "energy die 1 for 0 cans"),
    (ride_chosen, put("dice", 1, 3), "dice of other teams in a solo ride"),
    (ride_chosen, put("origin", 20), "a solo ride from 20 before the die is chosen"),
    (pack_chosen, put("origin", 0), "no pack on 0"),
    (pack_chosen, put("origin", 25), "no pack on 25"),
    (pack_chosen, put("origin", 19), "no pack on 19"),
    (pack_chosen, put("dice", 0, 6), "the dice are not those of the pack"),
    (pack_chosen, put("dice", 1, 5), "the dice are not those of the pack"),
    (ride_chosen, put("target", 19), "a courier has arrived before the die is chosen"),
    (ride_chosen, put("arrived", 1, 0), "a courier has arrived before the die is chosen"),
    (following, put("origin", 0), "a ride from 0 to 23"),
    (following, put("target", 25), "a ride from 25 to 25"),
    (following, put("target", 0), "a ride from 25 to 0"),
    (following, put("arrived", 2, 0), "more couriers have arrived than stand there"),
    (following, put("arrived", 1, 6), "more couriers have arrived than stand there"),
    (sound, put("arrived", 0, 0), "seat 0 has no courier to pay for"),
    (sound, put("rules.obstacles", 1 << 3), "space 5 is no obstacle"),
    (following, both(put("cans", 0, 0), put("supply", 12)), "seat 0 has no can to decide about"),
    (sound, both(put("cans", 0, 0), put("supply", 12)), "seat 0 has no can to decide about"),
    (following, put("origin", 26), "seat 0 has no courier that could follow"),
    (following, put("origin", 36), "nobody may follow from the car park, or in a Breakaway"),
    (following, put("spent", 2), "nobody may follow from the car park, or in a Breakaway"),
]


@pytest.mark.parametrize(("make", "edit", "message"), FAULTS, ids=[message for _, _, message in FAULTS])
def test_impossible_state_is_refused(make: Callable[[], State], edit: Edit, message: str) -> None:
    state = make()
    assert validate(state) == []
    edit(state)
    assert message in "\n".join(validate(state))
    expected = f"the saved state is impossible: {'; '.join(validate(state))}"
    with pytest.raises(CorruptDataError) as caught:
        from_bytes(to_bytes(state))
    assert str(caught.value) == expected


def test_several_faults_are_all_told() -> None:
    state = riding()
    put("supply", 11)(state)
    put("is_pack", 1)(state)
    put("n_finished", 2)(state)
    assert len(validate(state)) == 3
