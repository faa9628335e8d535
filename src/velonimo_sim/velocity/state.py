"""The whole state of a race: one record, so that a copy is a clone, an array is a batch and the bytes are the hash.

VeloCity hides nothing, so that a state is the view of the seat to act and no more.
"""

from typing import TypeAlias

import numpy as np

from velonimo_sim.bits import U1, bit, shift_right
from velonimo_sim.errors import UsageError, is_integer_in
from velonimo_sim.states import SavedForm, Words
from velonimo_sim.states import clone as clone
from velonimo_sim.states import equal as equal
from velonimo_sim.states import state_hash as state_hash
from velonimo_sim.velocity.dice import DICE, ENERGY
from velonimo_sim.velocity.moves import BREAKAWAY
from velonimo_sim.velocity.rules import RULES_VERSION, WINNING_COURIERS, RuleSet, checked_rules
from velonimo_sim.velocity.track import FINISH, FINISH_PLACES, MAX_LENGTH
from velonimo_sim.velocity.view import NOBODY, VIEW, End, Phase, View

STATE = np.dtype([("view", VIEW)], align=True)
"""dtype of a state."""

State: TypeAlias = np.void
"""A record of dtype ``STATE``."""

STATE_VERSION = 1
"""Version of the saved form of a state, in bytes and in JSON."""


def new_state(players: int, rules: RuleSet | None = None, starter: int = 0) -> State:
    """Return the state before the first turn: all couriers stand in the car park.

    Parameters
    ----------
    players : int
        Number of players, 3-7.
    rules : RuleSet, optional
        The official rules by default.
    starter : int
        Seat that has the first turn (C20).

    Returns
    -------
    numpy.void
        A record of dtype ``STATE`` in phase ``RIDE``.

    Raises
    ------
    UsageError
        If players, rules or starter do not fit together.
    """
    record = checked_rules(rules).to_record(players)
    if not is_integer_in(starter, 0, players - 1):
        raise UsageError(f"starter {starter}: allowed is 0-{players - 1} with {players} players")
    state: State = np.zeros(1, STATE)[0]
    view, car_park = state["view"], int(record["length"]) + 1
    view["rules"] = record
    view["couriers"][:players, : record["couriers"]] = car_park
    view["spaces"][:players] = bit(car_park)
    view["cans"] = record["start_cans"]
    view["supply"] = int(record["cans"]) - int(record["start_cans"].sum())
    view["finish"] = NOBODY
    view["players"] = players
    view["payee"] = NOBODY
    for field in ("seat", "turn", "starter", "active"):
        view[field] = starter
    return state


def view_of(state: State, seat: int) -> View:
    """Return a copy of what a seat may see, which is everything, whoever is to act.

    Raises
    ------
    UsageError
        If there is no such seat.
    """
    players = int(state["view"]["players"])
    if not is_integer_in(seat, 0, players - 1):
        raise UsageError(f"seat {seat}: allowed is 0-{players - 1}")
    view = clone(state["view"])
    view["seat"] = seat
    return view


def validate(state: State) -> list[str]:
    """Return what cannot be true of a state, one line each; an empty list for a state that the engine can go on from.

    Whether some course of the race leads to the state is not asked.
    """
    view = state["view"]
    faults = _faults_of_rules(view) or _faults_of_ranges(view)
    return faults or _faults_of_couriers(view) + _faults_of_cans(view) + _faults_of_phase(view) + _faults_of_ride(view)


def _faults_of_rules(view: View) -> list[str]:
    if not is_integer_in(view["rules"]["length"], 1, MAX_LENGTH) or view["rules"]["n_faces"].min() < 1:
        return ["rules: the course or a die is none"]
    try:
        again = RuleSet.from_record(view["rules"]).to_record(int(view["players"]))
    except UsageError as error:
        return [f"rules: {error}"]
    return [] if equal(again, view["rules"]) else ["rules: a field beyond the options is not 0"]


def _faults_of_ranges(view: View) -> list[str]:
    """Return what lies outside of the range that ``VIEW`` documents."""
    players, length = int(view["players"]), int(view["rules"]["length"])
    faults = [
        f"{field} {view[field]}: allowed is {low}-{high}"
        for field, low, high in (
            ("phase", 0, max(Phase)),
            ("end", 0, max(End)),
            ("turns", 0, int(view["rules"]["turn_limit"])),
            ("starter", 0, players - 1),
            ("is_pack", 0, 1),
            ("spent", 0, BREAKAWAY),
            ("origin", 0, length + 1),
            ("target", 0, length),
            ("asked", 0, players),
            ("due", 0, 2),
            ("n_finished", 0, FINISH_PLACES),
        )
        if not low <= view[field] <= high
    ]
    faults += [
        f"{field} {view[field]}: allowed is 0-{players - 1} or {NOBODY}"
        for field in ("seat", "turn", "active", "payee")
        if view[field] >= players and view[field] != NOBODY
    ]
    if view["couriers"].max() > length + 1:
        faults.append(f"couriers: allowed are spaces 0-{length + 1}")
    counts = ("supplied", "compensated", "lost", "moved_back", "sent_to_park")
    faults += [f"{field}: a count is negative" for field in counts if view[field].min() < 0]
    by_seat = ("couriers", "spaces", "cans", "finished", "last_place", "arrived", *counts)
    return faults + [f"{field}: is not 0 beyond the seats" for field in by_seat if view[field][players:].any()]


def _faults_of_couriers(view: View) -> list[str]:
    players, couriers = int(view["players"]), int(view["rules"]["couriers"])
    faults = []
    if view["couriers"][:, couriers:].any():
        faults.append("a team has more couriers than there are")
    for seat in range(players):
        spaces = {int(space) for space in view["couriers"][seat] if space != FINISH}
        if int(view["spaces"][seat]) != sum(int(bit(space)) for space in spaces):
            faults.append(f"spaces of seat {seat} are not those of its couriers")
        places = [place for place, holder in enumerate(view["finish"], 1) if holder == seat]
        in_finish = int((view["couriers"][seat, :couriers] == FINISH).sum())
        if not in_finish == len(places) == view["finished"][seat]:
            faults.append(f"seat {seat} has {in_finish} couriers in the finish, and {len(places)} finish places")
        if view["last_place"][seat] != max(places, default=0):
            faults.append(f"last_place of seat {seat} is {view['last_place'][seat]}, and it has places {places}")
    filled = int(view["n_finished"])
    if (view["finish"][:filled] == NOBODY).any() or (view["finish"][filled:] != NOBODY).any():
        faults.append("the finish places are not filled in order")
    return faults


def _faults_of_cans(view: View) -> list[str]:
    """Return whether cans are lost or found (C2)."""
    there = int(view["supply"]) + int(view["cans"].sum())
    faults = [f"{there} cans in all: there are {view['rules']['cans']}"] if there != view["rules"]["cans"] else []
    if (view["due"] > 0) != (view["payee"] != NOBODY):
        faults.append(f"{view['due']} cans are due to seat {view['payee']}")
    if view["due"] > 0 and view["supply"] > 0:
        faults.append("cans are due, and there are some in the supply")
    return faults


def _faults_of_phase(view: View) -> list[str]:
    """Return what does not go with the phase: who acts, and why the race is over."""
    phase, players = Phase(int(view["phase"])), int(view["players"])
    faults = []
    if (phase == Phase.GAME_OVER) != (view["end"] != End.NONE):
        faults.append(f"end {End(int(view['end'])).name} in phase {phase.name}")
    if view["end"] != _end_of(view):
        faults.append(f"end {End(int(view['end'])).name}: what stands in the race says {_end_of(view).name}")
    if view["seat"] != view["turn"]:
        faults.append("the view is not that of the seat to act")
    if phase == Phase.GAME_OVER:
        return faults + ([] if view["turn"] == view["active"] == NOBODY else ["somebody is to act after the end"])
    if view["active"] == NOBODY or view["turn"] == NOBODY:
        return [*faults, f"nobody to act in phase {phase.name}"]
    if int(view["active"]) != (int(view["starter"]) + int(view["turns"])) % players:
        faults.append(f"turn {view['turns']} is not of seat {view['active']}")
    deciding = int(view["payee"]) if phase == Phase.TAKE else (int(view["active"]) + int(view["asked"])) % players
    if view["turn"] != deciding:
        faults.append(f"turn {view['turn']} in phase {phase.name}: it is for seat {deciding} to decide")
    if phase in (Phase.RIDE, Phase.DIE) and view["asked"]:
        faults.append(f"seats are asked in phase {phase.name}")
    if (phase == Phase.TAKE) != (view["due"] > 0):
        faults.append(f"{view['due']} cans are due in phase {phase.name}")
    if phase == Phase.TAKE and not _has_to_choose(view):
        faults.append(f"seat {view['turn']} has nobody to choose among")
    return faults


def _end_of(view: View) -> End:
    """Return why the race must be over (C18)."""
    if view["finished"].max() >= WINNING_COURIERS:
        return End.THIRD_COURIER
    if view["n_finished"] == FINISH_PLACES:
        return End.EIGHTH_PLACE
    return End.TURN_LIMIT if view["turns"] == view["rules"]["turn_limit"] else End.NONE


def _has_to_choose(view: View) -> bool:
    """Whether several players have more cans than the one to act, and as many as each other (C14)."""
    most = view["cans"].max()
    return bool(view["cans"][view["turn"]] < most and (view["cans"] == most).sum() > 1)


def _faults_of_ride(view: View) -> list[str]:
    """Return what does not go together of ride, dice and those that have arrived."""
    phase, origin, target = Phase(int(view["phase"])), int(view["origin"]), int(view["target"])
    faults = []
    for die in range(DICE):
        faces = view["rules"]["faces"][die, : view["rules"]["n_faces"][die]]
        if view["dice"][die] and view["dice"][die] not in faces:
            faults.append(f"die {die} shows {view['dice'][die]}, which is no face of it")
    if phase in (Phase.RIDE, Phase.GAME_OVER):
        of_ride = ("is_pack", "spent", "origin", "target")
        faults += [f"{field} {view[field]} in phase {phase.name}" for field in of_ride if view[field]]
        return faults + (["dice are thrown before the ride is chosen"] if view["dice"].any() else [])
    if NOBODY in (view["active"], view["turn"]):
        return faults
    if view["is_pack"] and view["spent"] == BREAKAWAY:
        faults.append("a Breakaway in a pack")
    if view["dice"][view["active"]] == 0:
        faults.append("the own die has not been thrown")
    if (view["dice"][ENERGY] > 0) != (view["spent"] > 0):
        faults.append(f"energy die {view['dice'][ENERGY]} for {view['spent']} cans")
    if not view["is_pack"] and np.count_nonzero(view["dice"][:ENERGY]) > 1:
        faults.append("dice of other teams in a solo ride")
    if phase == Phase.DIE:
        faults += _faults_of_start(view)
        return faults + (["a courier has arrived before the die is chosen"] if target or view["arrived"].any() else [])
    if not 0 < target < origin:
        faults.append(f"a ride from {origin} to {target}")
    standing = (view["couriers"] == target).sum(axis=1)
    if (view["arrived"] > standing).any():
        faults.append("more couriers have arrived than stand there")
    if phase == Phase.OBSTACLE and not view["arrived"][view["turn"]]:
        faults.append(f"seat {view['turn']} has no courier to pay for")
    if phase == Phase.OBSTACLE and not shift_right(view["rules"]["obstacles"], target) & U1:
        faults.append(f"space {target} is no obstacle")
    if phase in (Phase.SLIPSTREAM, Phase.OBSTACLE) and not view["cans"][view["turn"]]:
        faults.append(f"seat {view['turn']} has no can to decide about")
    if phase == Phase.SLIPSTREAM and not shift_right(view["spaces"][view["turn"]], origin) & U1:
        faults.append(f"seat {view['turn']} has no courier that could follow")
    if phase == Phase.SLIPSTREAM and (origin > view["rules"]["length"] or view["spent"] == BREAKAWAY):
        faults.append("nobody may follow from the car park, or in a Breakaway")
    return faults


def _faults_of_start(view: View) -> list[str]:
    """Return what does not go together of ride, couriers and dice before a die is chosen (C7, C11)."""
    origin = int(view["origin"])
    if not view["is_pack"]:
        return [f"a solo ride from {origin} before the die is chosen"] if origin else []
    there = (view["couriers"] == origin).any(axis=1)
    if not origin or not there[view["active"]] or there.sum() < 2:
        return [f"no pack on {origin}"]
    return [] if ((view["dice"][:ENERGY] > 0) == there).all() else ["the dice are not those of the pack"]


_BITS = {str(space): int(bit(space)) for space in range(1, MAX_LENGTH + 2)}


def _space_texts(word: int) -> list[str]:
    return [space for space, its_bit in _BITS.items() if word & its_bit]


def _read_spaces(texts: list[str]) -> np.uint64:
    for text in texts:
        if text not in _BITS:
            raise ValueError(f"{text!r} is no space")
    if len(set(texts)) < len(texts):
        raise ValueError("a space stands twice")
    return np.uint64(sum(_BITS[text] for text in texts))


_SPACES = Words(_space_texts, _read_spaces)
_FORM = SavedForm("velocity", b"CITY", STATE_VERSION, RULES_VERSION, STATE, validate, {
    ("view", "spaces"): _SPACES,
    ("view", "rules", "supply_spaces"): _SPACES,
    ("view", "rules", "obstacles"): _SPACES,
})  # fmt: skip


def to_bytes(state: State) -> bytes:
    """Return the state in its saved form: magic, versions, checksum, record (little-endian)."""
    return _FORM.to_bytes(state)


def from_bytes(data: bytes) -> State:
    """Return the state that ``to_bytes`` saved.

    Raises
    ------
    CorruptDataError
        If the data is no state, of another version, damaged, or describes an impossible state.
    """
    return _FORM.from_bytes(data)


def to_json(state: State) -> str:
    """Return the state as JSON for people and other programs: spaces by number, all else as numbers, too."""
    return _FORM.to_json(state)


def from_json(text: str) -> State:
    """Return the state that ``to_json`` described.

    Raises
    ------
    CorruptDataError
        If the text is no state, of another version, or describes an impossible state.
    """
    return _FORM.from_json(text)
