"""The state as one record: copies, equality, saved forms, and what is refused when a saved form is read."""

import json
import struct
import zlib
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import states_of_game
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.errors import CorruptDataError, UsageError
from velonimo_sim.rng import new_stream
from velonimo_sim.velonimo.cards import card_texts
from velonimo_sim.velonimo.legal import legal_moves
from velonimo_sim.velonimo.rules import RULES, RULES_VERSION, RuleSet
from velonimo_sim.velonimo.state import (
    STATE,
    STATE_VERSION,
    State,
    clone,
    equal,
    from_bytes,
    from_json,
    new_state,
    show_turn,
    state_hash,
    to_bytes,
    to_json,
    validate,
    view_of,
)
from velonimo_sim.velonimo.step import apply, deal
from velonimo_sim.velonimo.view import NOBODY, VIEW, Phase

pytestmark = pytest.mark.kernel

HEADER = struct.Struct("<4sHHI")


@cache
def states() -> list[State]:
    """Return the states of random games, those before, between and after cols included."""
    found = []
    for players in (2, 3, 4, 5):
        for seed in range(2 if INTERPRETED else 4):
            found += states_of_game(players, seed)
            found += states_of_game(players, seed, RuleSet(tortoise_swap="optional", hand_size=4, col_values=(3, 1)))
        found += [new_state(players, RuleSet.bga()), end_of_col(players), end_of_game(players)]
    return found


def first_legal(state: State) -> np.uint64:
    moves = np.zeros(5000, np.uint64)
    assert legal_moves(state["view"], moves)
    return moves[0]


def end_of_col(players: int, rules: RuleSet | None = None) -> State:
    """Return the state after the first col of a game with hands of one card."""
    state = new_state(players, rules or RuleSet(hand_size=1))
    deal(state, 0)
    while state["view"]["turn"] != NOBODY:
        apply(state, first_legal(state), new_stream(0))
    return state


def end_of_game(players: int) -> State:
    """Return the state after a game of one col."""
    return end_of_col(players, RuleSet(hand_size=1, col_values=(1,)))


@cache
def _first_in_phase(phase: Phase, players: int) -> State:
    if phase == Phase.COL_OVER:
        return end_of_col(players)
    found = (state for seed in range(100) for state in states_of_game(players, seed))
    return next(state for state in found if state["view"]["phase"] == phase and state["view"]["played"])


def in_phase(phase: Phase, players: int = 3) -> State:
    """Return a sound state of a phase, with some cards played."""
    return clone(_first_in_phase(phase, players))


STATES = st.deferred(lambda: st.integers(0, len(states()) - 1)).map(lambda index: states()[index])


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
    assert dtype.isalignedstruct


def test_saved_form_is_little_endian() -> None:
    payload = to_bytes(new_state(3, RuleSet(col_values=(258,))))[HEADER.size :]
    offset = VIEW.fields["rules"][1] + RULES.fields["col_values"][1]
    assert payload[offset : offset + 4] == b"\x02\x01\x00\x00"


# Copies and equality.


@settings(max_examples=100)
@given(STATES)
def test_clone_is_equal_and_independent(state: State) -> None:
    before, copy = state.tobytes(), clone(state)
    assert equal(copy, state)
    assert state_hash(copy) == state_hash(state)
    copy["view"]["beat"] += 1
    copy["hands"][0] ^= np.uint64(1)
    copy["known"][1, 2] ^= np.uint64(1)
    copy["view"]["rules"]["col_values"][0] += 1
    assert state.tobytes() == before
    assert not equal(copy, state)


def test_clone_does_not_follow_the_original() -> None:
    state = clone(in_phase(Phase.FOLLOW))
    copy = clone(state)
    before = copy.tobytes()
    apply(state, first_legal(state))
    assert copy.tobytes() == before


def test_clone_of_a_view_is_independent() -> None:
    state = in_phase(Phase.FOLLOW)
    view = clone(state["view"])
    assert view.dtype == VIEW
    view["hand"] = 0
    assert state["view"]["hand"] != 0


def test_every_byte_counts_for_equality_and_hash() -> None:
    state = in_phase(Phase.FOLLOW)
    for offset in range(STATE.itemsize):
        data = bytearray(state.tobytes())
        data[offset] ^= 1
        changed = np.frombuffer(bytes(data), STATE)[0]
        assert not equal(state, changed), offset
        assert state_hash(state) != state_hash(changed), offset


def test_different_states_have_different_hashes() -> None:
    assert len({state_hash(state) for state in states()}) == len({state.tobytes() for state in states()})


# Views.


@settings(max_examples=100)
@given(STATES, st.data())
def test_view_of_a_seat(state: State, data: st.DataObject) -> None:
    seat = data.draw(st.integers(0, int(state["view"]["players"]) - 1))
    before, view = state.tobytes(), view_of(state, seat)
    assert view["seat"] == seat
    assert view["hand"] == state["hands"][seat]
    assert view["known"].tolist() == state["known"][seat].tolist()
    for field in set(VIEW.names) - {"seat", "hand", "known"}:
        assert view[field].tobytes() == state["view"][field].tobytes()
    view["hand"] = view["known"][:] = 0
    assert state.tobytes() == before


@settings(max_examples=100)
@given(STATES)
def test_view_in_the_state_is_that_of_the_seat_to_act(state: State) -> None:
    turn = int(state["view"]["turn"])
    if turn == NOBODY:
        assert state["view"]["seat"] == NOBODY
        assert state["view"]["hand"] == 0
        assert not state["view"]["known"].any()
    else:
        assert state["view"].tobytes() == view_of(state, turn).tobytes()


@pytest.mark.parametrize("seat", [-1, 3, NOBODY])
def test_view_of_no_such_seat(seat: int) -> None:
    with pytest.raises(UsageError, match=f"^seat {seat}: allowed is 0-2$"):
        view_of(new_state(3), seat)


# New states.


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_new_state_is_sound_and_undealt(players: int) -> None:
    state = new_state(players, starter=1)
    view = state["view"]
    assert validate(state) == []
    assert (view["players"], view["col"], view["starter"], view["phase"]) == (players, 0, 1, Phase.COL_OVER)
    assert not state["hands"].any()
    assert [int(view[name]) for name in ("turn", "seat", "author", "wearer", "swap_victim")] == [NOBODY] * 5


@pytest.mark.parametrize("starter", [-1, 3, 5])
def test_new_state_with_no_such_starter(starter: int) -> None:
    with pytest.raises(UsageError, match=f"^starter {starter}: allowed is 0-2 with 3 players$"):
        new_state(3, starter=starter)


def test_new_state_with_hands_that_the_deck_does_not_allow() -> None:
    with pytest.raises(UsageError, match="hand_size=12"):
        new_state(5, RuleSet(hand_size=12))


# Saved as bytes.


@settings(max_examples=200)
@given(STATES)
def test_bytes_read_back(state: State) -> None:
    again = from_bytes(to_bytes(state))
    assert again.dtype == STATE
    assert equal(again, state)
    again["view"]["beat"] += 1
    assert not equal(again, state)


def test_bytes_begin_with_magic_versions_and_checksum() -> None:
    state = in_phase(Phase.LEAD)
    header = HEADER.pack(b"VELO", STATE_VERSION, RULES_VERSION, zlib.crc32(state.tobytes()))
    assert to_bytes(state) == header + state.tobytes()


def test_wrong_magic() -> None:
    data = to_bytes(in_phase(Phase.LEAD))
    for wrong in (b"velo" + data[4:], b"\0" * 4 + data[4:], data[1:], b"V" + data, b"x" * len(data)):
        with pytest.raises(CorruptDataError, match=r"^these bytes are no saved state$"):
            from_bytes(wrong)


def test_truncated_at_every_length() -> None:
    data = to_bytes(in_phase(Phase.LEAD))
    for length in range(len(data)):
        message = "no saved state" if length < HEADER.size else "its checksum does not fit"
        with pytest.raises(CorruptDataError, match=message):
            from_bytes(data[:length])


def test_bytes_too_many() -> None:
    with pytest.raises(CorruptDataError, match="its checksum does not fit"):
        from_bytes(to_bytes(in_phase(Phase.LEAD)) + b"\0")


def test_flipped_byte_at_every_position() -> None:
    data = bytearray(to_bytes(in_phase(Phase.FOLLOW)))
    for offset in range(len(data)):
        for flip in (0x01, 0x80, 0xFF):
            data[offset] ^= flip
            with pytest.raises(CorruptDataError):
                from_bytes(bytes(data))
            data[offset] ^= flip
    assert equal(from_bytes(bytes(data)), in_phase(Phase.FOLLOW))


@pytest.mark.parametrize("versions", [(1, 1), (4, 1), (2, 0), (2, 2), (512, 1)])
def test_bytes_of_another_version(versions: tuple[int, int]) -> None:
    assert (STATE_VERSION, RULES_VERSION) == (3, 1)
    payload = in_phase(Phase.LEAD).tobytes()
    data = HEADER.pack(b"VELO", *versions, zlib.crc32(payload)) + payload
    with pytest.raises(CorruptDataError) as caught:
        from_bytes(data)
    assert str(caught.value) == (
        f"the state was saved as version {versions[0]} under rules version {versions[1]}; "
        "this is version 3 under rules version 1"
    )


# Saved as JSON.


@settings(max_examples=200)
@given(STATES)
def test_json_reads_back(state: State) -> None:
    text = to_json(state)
    assert equal(from_json(text), state)
    assert equal(from_json(json.dumps(json.loads(text), indent=2, sort_keys=True)), state)


def test_json_names_cards_and_versions() -> None:
    state = in_phase(Phase.GIVE)
    content = json.loads(to_json(state))
    assert (content["velonimo_state"], content["rules_version"]) == (STATE_VERSION, RULES_VERSION)
    assert content["hands"] == [card_texts(hand) for hand in state["hands"]]
    assert content["known"] == [[card_texts(cards) for cards in row] for row in state["known"]]
    assert content["view"]["hand"] == card_texts(state["view"]["hand"])
    assert content["view"]["played"] == card_texts(state["view"]["played"])
    assert content["view"]["reward"] == []
    assert content["view"]["rules"]["col_values"] == [1, 2, 3, 4, 5, 0, 0, 0, 0, 0]
    assert set(content) == {"velonimo_state", "rules_version", "view", "hands", "known", "pile"}


@pytest.mark.parametrize(
    "text", ["", "{", "null", "3", "[]", '"state"', "{}", '{"velonimo_state": 1}', '{"rules_version": 1}', "NaN", "{]"]
)
def test_text_that_is_no_state(text: str) -> None:
    with pytest.raises(CorruptDataError, match=r"^this text is no saved state$"):
        from_json(text)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"view":' * 100_000], ids=["lists", "objects"])
def test_text_nested_too_deep(text: str) -> None:
    with pytest.raises(CorruptDataError):
        from_json(text)


@pytest.mark.parametrize("field", ["velonimo_state", "rules_version"])
@pytest.mark.parametrize("version", [0, 4, -1, "2", None, [2], 2.5, True, 2.0])
def test_json_of_another_version(field: str, version: Any) -> None:
    content = json.loads(to_json(in_phase(Phase.LEAD)))
    content[field] = version
    with pytest.raises(CorruptDataError, match="under rules version"):
        from_json(json.dumps(content))


def paths(content: dict[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every field of nested objects."""
    for name, value in content.items():
        yield (*above, name)
        if isinstance(value, dict):
            yield from paths(value, (*above, name))


def field_paths() -> list[tuple[str, ...]]:
    """Return the path of every field of a state in JSON, the two versions left out."""
    return list(paths(json.loads(to_json(new_state(3)))))[2:]


def is_leaf(path: tuple[str, ...]) -> bool:
    return path not in {("view",), ("view", "rules")}


PATHS = field_paths()
LEAVES = [path for path in PATHS if is_leaf(path)]
CARD_LEAVES = [("view", "hand"), ("view", "known"), ("view", "played"), ("view", "reward"), ("hands",), ("known",)]
ARRAY_LEAVES = [
    ("view", "known"),
    ("view", "totals"),
    ("view", "points"),
    ("view", "passed_on"),
    ("view", "sizes"),
    ("view", "out_order"),
    ("view", "rules", "col_values"),
    ("view", "rules", "exchanged"),
    ("hands",),
    ("known",),
    ("pile",),
]


def dotted(path: Any) -> str:
    return ".".join(path) if isinstance(path, tuple) else ""


def content_and_parent(path: tuple[str, ...], state: State | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a state in JSON, and the object in it that holds the field of a path."""
    content = json.loads(to_json(new_state(2) if state is None else state))
    parent = content
    for name in path[:-1]:
        parent = parent[name]
    return content, parent


def test_paths_are_all_fields() -> None:
    assert len(PATHS) == len(STATE.names) + len(VIEW.names) + len(RULES.names)
    assert set(CARD_LEAVES + ARRAY_LEAVES) <= set(LEAVES)


@pytest.mark.parametrize("path", PATHS, ids=dotted)
def test_json_with_a_missing_field(path: tuple[str, ...]) -> None:
    content, parent = content_and_parent(path)
    del parent[path[-1]]
    with pytest.raises(
        CorruptDataError, match=f"^{'.'.join(path[:-1]) or 'state'}: allowed are the fields .*{path[-1]}"
    ):
        from_json(json.dumps(content))


@pytest.mark.parametrize("path", PATHS, ids=dotted)
def test_json_with_a_field_too_many(path: tuple[str, ...]) -> None:
    content, parent = content_and_parent(path)
    parent[f"{path[-1]}_"] = parent[path[-1]]
    with pytest.raises(CorruptDataError, match="allowed are the fields"):
        from_json(json.dumps(content))


@pytest.mark.parametrize("path", [("view",), ("view", "rules")], ids=dotted)
@pytest.mark.parametrize("value", [None, 0, "x", [], [{}]])
def test_json_with_a_part_that_is_no_object(path: tuple[str, ...], value: Any) -> None:
    content, parent = content_and_parent(path)
    parent[path[-1]] = value
    with pytest.raises(CorruptDataError, match=f"^{dotted(path)}: allowed are the fields"):
        from_json(json.dumps(content))


MISTYPED = (None, True, False, "0", "", 0.0, 1.5, 2**31, 2**64, 10**30, {}, {"a": 1}, [[]], [[[0]]], ["R9"], ["R7"] * 2)


@pytest.mark.parametrize("path", LEAVES, ids=dotted)
def test_json_with_a_value_of_another_type(path: tuple[str, ...]) -> None:
    for value in MISTYPED:
        content, parent = content_and_parent(path)
        parent[path[-1]] = value
        with pytest.raises(CorruptDataError):
            from_json(json.dumps(content))


@pytest.mark.parametrize("path", LEAVES, ids=dotted)
def test_json_with_one_place_of_another_type(path: tuple[str, ...]) -> None:
    for wrong in (None, True, "R9", 0.5, {}, 2**64):
        content, parent = content_and_parent(path)
        value = parent[path[-1]]
        parent[path[-1]] = [*value[1:], wrong] if isinstance(value, list) else [wrong]
        with pytest.raises(CorruptDataError):
            from_json(json.dumps(content))


@pytest.mark.parametrize("path", ARRAY_LEAVES, ids=dotted)
def test_json_with_a_list_of_another_length(path: tuple[str, ...]) -> None:
    """Lists of all lengths but the right one; one place is not to stand for all of them, nor none."""
    content, parent = content_and_parent(path)
    value = parent[path[-1]]
    for wrong in ([], value[:1], value[:2][1:], value[:-1], [*value, value[-1]], value * 2):
        if len(wrong) == len(value):
            continue
        parent[path[-1]] = wrong
        with pytest.raises(CorruptDataError):
            from_json(json.dumps(content))


@pytest.mark.parametrize("path", [path for path in ARRAY_LEAVES if path not in CARD_LEAVES], ids=dotted)
def test_json_with_a_number_for_a_list(path: tuple[str, ...]) -> None:
    content, parent = content_and_parent(path)
    parent[path[-1]] = 0
    with pytest.raises(CorruptDataError):
        from_json(json.dumps(content))


@pytest.mark.parametrize("path", [path for path in LEAVES if path not in ARRAY_LEAVES + CARD_LEAVES], ids=dotted)
def test_json_with_a_list_for_a_number(path: tuple[str, ...]) -> None:
    content, parent = content_and_parent(path)
    parent[path[-1]] = [parent[path[-1]]]
    with pytest.raises(CorruptDataError, match=f"^{dotted(path)}: "):
        from_json(json.dumps(content))


@pytest.mark.parametrize("card", ["R8", "r7", "", "Jersey", "H26", 7, None])
@pytest.mark.parametrize("path", CARD_LEAVES, ids=dotted)
def test_json_with_an_unknown_card(path: tuple[str, ...], card: Any) -> None:
    content, parent = content_and_parent(path)
    cards = parent[path[-1]]
    while cards and isinstance(cards[0], list):
        cards = cards[0]
    cards.append(card)
    with pytest.raises(CorruptDataError, match=f"^{dotted(path)}: "):
        from_json(json.dumps(content))


def test_json_of_an_impossible_state() -> None:
    content = json.loads(to_json(in_phase(Phase.LEAD)))
    content["hands"][0], content["hands"][1] = content["hands"][1], content["hands"][0]
    with pytest.raises(CorruptDataError, match=r"^the saved state is impossible: .*the view is not that of"):
        from_json(json.dumps(content))


# Impossible states: one fault at a time.

Edit = Callable[[State], None]


def set_field(name: str, value: int) -> Edit:
    """Return an edit that sets a field of the view, ``rules.`` before it for an option."""

    def edit(state: State) -> None:
        place = state["view"]["rules"] if name.startswith("rules.") else state["view"]
        place[name.removeprefix("rules.")] = value

    return edit


def set_place(name: str, index: int | tuple[int, int], value: int) -> Edit:
    """Return an edit that sets one place of an array of the state, ``view.`` before it for one of the view."""

    def edit(state: State) -> None:
        place = state["view"] if name.startswith("view.") else state
        place[name.removeprefix("view.")][index] = value

    return edit


def add_to_hand(seat: int, cards: int) -> Edit:
    def edit(state: State) -> None:
        state["hands"][seat] |= np.uint64(cards)
        state["view"]["sizes"][seat] = int(state["hands"][seat]).bit_count()
        show_turn(state)

    return edit


def card_of(state: State, seat: int) -> int:
    """Return one card of a hand."""
    hand = int(state["hands"][seat])
    return hand & -hand


def turn_and_next(state: State) -> tuple[int, int]:
    turn = int(state["view"]["turn"])
    return turn, (turn + 1) % int(state["view"]["players"])


def one_card_in_two_hands(state: State) -> None:
    turn, after = turn_and_next(state)
    add_to_hand(after, card_of(state, turn))(state)


def hand_card_played(state: State) -> None:
    state["view"]["played"] |= np.uint64(card_of(state, int(state["view"]["turn"])))


def pile_card_in_hand(state: State) -> None:
    add_to_hand(int(state["view"]["turn"]), 1 << int(state["pile"][0]))(state)


def two_rewards(state: State) -> None:
    view = state["view"]
    view["pile_size"] -= 1
    top = int(view["pile_size"])
    view["reward"] |= np.uint64(1 << int(state["pile"][top]))
    state["pile"][top] = 0


def reward_with_three(state: State) -> None:
    free = ~(int(state["hands"].sum()) | int(state["view"]["played"])) & (1 << 55) - 1 & 0x7F7F_7F7F_7F7F7F
    state["view"]["reward"] = free & -free


def pile_with_three(state: State) -> None:
    reward_with_three(state)
    state["pile"][0] = int(state["view"]["reward"]).bit_length() - 1
    state["view"]["reward"] = 0
    state["view"]["pile_size"] = 1


def view_of_another(state: State) -> None:
    state["view"] = view_of(state, turn_and_next(state)[1])


def knows_what_is_not_there(state: State) -> None:
    """Let the seat to act take one of its own cards for one of the next seat's."""
    turn, after = turn_and_next(state)
    state["known"][turn, after] |= np.uint64(card_of(state, turn))
    show_turn(state)


def nobody_to_act(state: State) -> None:
    state["view"]["turn"] = NOBODY
    show_turn(state)


def somebody_to_act(state: State) -> None:
    state["view"]["turn"] = 0
    show_turn(state)


def gift_larger_than_the_hand(state: State) -> None:
    state["view"]["swap_count"] = state["view"]["sizes"][state["view"]["turn"]] + 1


def swap_with_oneself(state: State) -> None:
    state["view"]["swap_victim"] = state["view"]["turn"]


def one_player_left(state: State) -> None:
    """Leave cards in one hand only, and let the col go on."""
    turn = int(state["view"]["turn"])
    for seat in range(int(state["view"]["players"])):
        if seat != turn:
            state["hands"][seat] = 0
            state["known"][:, seat] = 0
            state["view"]["sizes"][seat] = 0
    state["view"]["racing"] = 1
    show_turn(state)


def reward_phase_without_reward(state: State) -> None:
    state["view"]["phase"] = Phase.REWARD
    state["view"]["beat"] = 0
    state["view"]["author"] = NOBODY


def knows_its_own_card(state: State) -> None:
    turn = int(state["view"]["turn"])
    state["known"][turn, turn] = card_of(state, turn)
    show_turn(state)


def play_of_its_own(state: State) -> None:
    state["view"]["author"] = state["view"]["turn"]


def play_of_another(state: State) -> None:
    state["view"]["author"] = turn_and_next(state)[1]


def eleven_cols(state: State) -> None:
    state["view"]["rules"]["col_values"] = 1
    state["view"]["rules"]["n_cols"] = 11


NO_CARD = "a card is not of the deck"

FAULTS: list[tuple[Phase, int, Edit, str]] = [
    (Phase.LEAD, 3, set_field("players", 1), "rules: players 1: allowed is 2-5"),
    (Phase.LEAD, 3, set_field("players", 6), "rules: players 6: allowed is 2-5"),
    (Phase.LEAD, 3, set_field("rules.hand_size", 19), "rules: rule hand_size=19: allowed is 1-18 with 3 players"),
    (Phase.LEAD, 3, set_field("rules.hand_size", 0), "rules: rule hand_size=0: allowed is an integer 1-27"),
    (Phase.LEAD, 3, set_field("rules.n_cols", 0), "rules: rule col_values=(): "),
    (Phase.LEAD, 3, set_field("rules.n_cols", 7), "rules: rule col_values=(1, 2, 3, 4, 5, 0, 0): "),
    (Phase.LEAD, 3, set_field("rules.jersey_bonus", -1), "rules: rule jersey_bonus=-1: "),
    (Phase.LEAD, 3, set_field("rules.duel_target", -1), "rules: rule duel_target=-1: "),
    (Phase.LEAD, 3, set_field("rules.tortoise_swap", 3), "rules: "),
    (Phase.LEAD, 3, set_field("rules.dromedary_last_card", 2), "rules: "),
    (Phase.LEAD, 3, set_field("rules.starter_tie", 2), "rules: "),
    (Phase.LEAD, 3, set_field("rules.jersey_tie", 255), "rules: "),
    (Phase.LEAD, 3, set_field("phase", 8), "phase 8: allowed is 0-7"),
    (Phase.LEAD, 3, set_field("col", 6), "col 6: allowed is 0-5"),
    (Phase.LEAD, 3, set_field("starter", 3), "starter 3: allowed is 0-2"),
    (Phase.LEAD, 3, set_field("starter", NOBODY), "starter 255: allowed is 0-2"),
    (Phase.LEAD, 2, set_field("pile_size", 57), "pile_size 57: allowed is 0-56"),
    (Phase.LEAD, 3, set_field("jersey_spent", 2), "jersey_spent 2: allowed is 0-1"),
    (Phase.LEAD, 3, set_field("turn", 3), "turn 3: allowed is 0-2 or 255"),
    (Phase.FOLLOW, 3, set_field("author", 3), "author 3: allowed is 0-2 or 255"),
    (Phase.LEAD, 3, set_field("wearer", 254), "wearer 254: allowed is 0-2 or 255"),
    (Phase.GIVE, 3, set_field("swap_victim", 4), "swap_victim 4: allowed is 0-2 or 255"),
    (Phase.LEAD, 3, add_to_hand(0, 1 << 55), NO_CARD),
    (Phase.LEAD, 3, set_field("played", 1 << 63), NO_CARD),
    (Phase.LEAD, 2, set_place("pile", 0, 55), NO_CARD),
    (Phase.LEAD, 2, set_place("pile", 0, 255), NO_CARD),
    (Phase.LEAD, 2, set_field("reward", 1 << 60), NO_CARD),
    (Phase.LEAD, 3, one_card_in_two_hands, "a card is in two places"),
    (Phase.LEAD, 3, hand_card_played, "a card is in two places"),
    (Phase.LEAD, 2, pile_card_in_hand, "a card is in two places"),
    (Phase.LEAD, 2, two_rewards, "the reward is more than one card"),
    (Phase.LEAD, 3, reward_with_three, "only the duel has a pile and a reward"),
    (Phase.LEAD, 3, pile_with_three, "only the duel has a pile and a reward"),
    (Phase.GIVE, 3, set_place("hands", 3, 1), "a seat that is not at the table holds cards"),
    (Phase.LEAD, 3, set_place("view.sizes", 0, 27), "the hand sizes are not those of the hands"),
    (Phase.LEAD, 2, set_place("pile", 55, 1), "the pile is longer than its size"),
    (Phase.LEAD, 3, set_place("pile", 0, 1), "the pile is longer than its size"),
    (Phase.LEAD, 3, knows_what_is_not_there, "a card is known to be in a hand that does not hold it"),
    (Phase.LEAD, 3, set_place("known", (0, 4), 1), "a card is known to be in a hand that does not hold it"),
    (Phase.LEAD, 3, nobody_to_act, "nobody to act in phase LEAD"),
    (Phase.COL_OVER, 3, somebody_to_act, "turn 0 in phase COL_OVER"),
    (Phase.LEAD, 3, set_field("racing", 2), "2 players racing, with 3 hands that hold cards"),
    (Phase.LEAD, 3, set_field("beat", 7), "value to beat 7 in phase LEAD"),
    (Phase.LEAD, 3, set_field("beat", -7), "beat: a value is negative"),
    (Phase.FOLLOW, 3, set_field("beat", 0), "value to beat 0 in phase FOLLOW"),
    (Phase.SWAP, 3, set_field("beat", 0), "value to beat 0 in phase SWAP"),
    (Phase.SWAP, 3, set_field("swap_count", 0), "swap of 0 cards in phase SWAP"),
    (Phase.GIVE, 3, set_field("swap_count", 0), "swap of 0 cards in phase GIVE"),
    (Phase.FOLLOW, 3, set_field("swap_count", 1), "swap of 1 cards in phase FOLLOW"),
    (Phase.GIVE, 3, set_field("swap_victim", NOBODY), "swap with seat 255 in phase GIVE"),
    (Phase.SWAP, 3, set_field("swap_victim", 1), "swap with seat 1 in phase SWAP"),
    (Phase.LEAD, 3, set_field("phase", Phase.NEXT_LEADER), "cards is to act in phase NEXT_LEADER"),
    (Phase.NEXT_LEADER, 3, set_field("phase", Phase.LEAD), "with 0 cards is to act in phase LEAD"),
    (Phase.LEAD, 3, view_of_another, "the view is not that of the seat to act"),
    (Phase.LEAD, 3, set_field("hand", 0), "the view is not that of the seat to act"),
    (Phase.LEAD, 3, set_place("view.known", 0, 1), "the view is not that of the seat to act"),
    (Phase.COL_OVER, 3, set_field("hand", 1), "the view is not that of the seat to act"),
    (Phase.COL_OVER, 3, set_field("seat", 0), "the view is not that of the seat to act"),
    (Phase.LEAD, 3, set_field("logged", 121), "logged 121: allowed is 0-120"),
    (Phase.FOLLOW, 3, set_field("logged", 0), "the log is longer than it says"),
    (Phase.LEAD, 3, set_place("view.log", 119, 1), "the log is longer than it says"),
    (Phase.FOLLOW, 3, set_place("view.log", 0, 3 << 59), "the log names a seat that is not at the table"),
    (Phase.LEAD, 3, set_field("rules.exchanged", (0, 55)), "rules: position 55: no card has it"),
    (Phase.LEAD, 3, set_field("rules.exchanged", (8, 8)), "rules: rule exchanged_cards=('N1', 'N1'): "),
    (Phase.LEAD, 3, set_place("view.sizes", 4, 1), "sizes: is not 0 beyond the seats"),
    (Phase.LEAD, 3, set_place("view.points", 3, 1), "points: is not 0 beyond the seats"),
    (Phase.LEAD, 3, set_place("view.totals", 0, -1), "totals: a value is negative"),
    (Phase.FOLLOW, 3, set_place("view.passed_on", 2, -1), "passed_on: a value is negative"),
    (Phase.LEAD, 3, set_place("view.out_order", 0, 4), "out_order: allowed is each of 1-3 once, 0 for who is racing"),
    (Phase.LEAD, 3, set_field("racing", 4), "racing 4: allowed is 0-3"),
    (Phase.LEAD, 3, eleven_cols, "rules: a field beyond the options is not 0"),
    (Phase.LEAD, 3, set_field("col", 0), "col 0 in phase LEAD"),
    (Phase.COL_OVER, 3, set_field("col", 5), "a further col after col 5, the last"),
    (Phase.LEAD, 3, knows_its_own_card, "a card is known to be in a hand that does not hold it, or in the own one"),
    (Phase.FOLLOW, 3, set_field("author", NOBODY), "in phase FOLLOW, played by seat 255"),
    (Phase.LEAD, 3, set_field("author", 1), "value to beat 0 in phase LEAD, played by seat 1"),
    (Phase.FOLLOW, 3, play_of_its_own, "is to act on a play of seat"),
    (Phase.SWAP, 3, play_of_another, "is to act on a play of seat"),
    (Phase.LEAD, 3, reward_phase_without_reward, "a reward is to be awarded, but there is none"),
    (Phase.SWAP, 3, one_player_left, "1 players racing, with 1 hands that hold cards"),
    (Phase.GIVE, 3, gift_larger_than_the_hand, "cards to seat"),
    (Phase.GIVE, 3, swap_with_oneself, "is to give"),
]


@pytest.mark.parametrize(("phase", "players", "edit", "message"), FAULTS, ids=[fault[-1] for fault in FAULTS])
def test_impossible_state_is_refused(phase: Phase, players: int, edit: Edit, message: str) -> None:
    state = in_phase(phase, players)
    assert validate(state) == []
    edit(state)
    assert message in "\n".join(validate(state))
    expected = f"the saved state is impossible: {'; '.join(validate(state))}"
    with pytest.raises(CorruptDataError) as caught:
        from_bytes(to_bytes(state))
    assert str(caught.value) == expected
    if message != NO_CARD:  # JSON has no name for it
        with pytest.raises(CorruptDataError) as caught:
            from_json(to_json(state))
        assert str(caught.value) == expected


def test_several_faults_are_all_told() -> None:
    state = in_phase(Phase.LEAD)
    state["view"]["beat"], state["view"]["racing"], state["view"]["swap_count"] = 7, 2, 1
    assert len(validate(state)) == 4


def test_hand_in_the_middle_of_a_swap_may_be_empty() -> None:
    """V20: who had all his cards taken is still racing, for as many come back."""
    gifts = [state for state in states() if state["view"]["phase"] == Phase.GIVE]
    found = [state for state in gifts if state["view"]["sizes"][state["view"]["swap_victim"]] == 0]
    assert found
    assert all(validate(state) == [] for state in found)
