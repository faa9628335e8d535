"""The whole state of a game: one record, so that a copy is a clone, an array is a batch and the bytes are the hash.

A state is the view of the player to act plus everything that is hidden from him. The public facts so exist once, in
``state["view"]``; a bot is handed that part and nothing else.
"""

from typing import TypeAlias

import numpy as np

from velonimo_sim._jit import inlined
from velonimo_sim.bits import U0, integer
from velonimo_sim.errors import UsageError, is_integer_in
from velonimo_sim.states import SavedForm, Words
from velonimo_sim.states import clone as clone
from velonimo_sim.states import equal as equal
from velonimo_sim.states import state_hash as state_hash
from velonimo_sim.velonimo.cards import DECK, TORTOISES, card_texts, parse_cards
from velonimo_sim.velonimo.moves import author_of
from velonimo_sim.velonimo.rules import MAX_PLAYERS, RULES_VERSION, RuleSet, checked_rules
from velonimo_sim.velonimo.view import NOBODY, VIEW, Phase, View

STATE = np.dtype(
    [
        ("view", VIEW),  # what the seat to act sees; with nobody to act: the public facts, seat NOBODY
        ("hands", "u8", (MAX_PLAYERS,)),  # by seat: cards in hand
        (
            "known",
            "u8",
            (MAX_PLAYERS, MAX_PLAYERS),
        ),  # [viewer, holder]: cards that viewer knows to be in that hand (V22)
        ("pile", "u1", (56,)),  # duel: bit positions of the cards to draw; the next is at pile_size - 1; 0 beyond
    ],
    align=True,
)
"""dtype of a state; the comment beside a field gives its unit, range and sentinel."""

State: TypeAlias = np.void
"""A record of dtype ``STATE``."""

STATE_VERSION = 3
"""Version of the saved form of a state, in bytes and in JSON."""


@inlined
def show_turn(state: State) -> None:
    """Fill in the part of the state's view that belongs to the seat to act."""
    view = state["view"]
    turn = integer(view["turn"])
    view["seat"] = turn
    if turn == NOBODY:
        view["hand"] = U0
        for holder in range(MAX_PLAYERS):
            view["known"][holder] = U0
    else:
        view["hand"] = state["hands"][turn]
        for holder in range(MAX_PLAYERS):
            view["known"][holder] = state["known"][turn, holder]


def new_state(players: int, rules: RuleSet | None = None, starter: int = 0) -> State:
    """Return the state before the first col: nothing is dealt, see ``step.deal_col``.

    Parameters
    ----------
    players : int
        Number of players, 2-5.
    rules : RuleSet, optional
        The official rules by default.
    starter : int
        Seat that starts col 1 (V5).

    Returns
    -------
    numpy.void
        A record of dtype ``STATE`` in phase ``COL_OVER``.

    Raises
    ------
    UsageError
        If players, rules or starter do not fit together.
    """
    record = checked_rules(rules).to_record(players)
    if not is_integer_in(starter, 0, players - 1):
        raise UsageError(f"starter {starter}: allowed is 0-{players - 1} with {players} players")
    state: State = np.zeros(1, STATE)[0]
    view = state["view"]
    view["rules"] = record
    view["players"] = players
    view["phase"] = Phase.COL_OVER
    view["starter"] = starter
    for field in ("seat", "turn", "author", "wearer", "swap_victim"):
        view[field] = NOBODY
    return state


def view_of(state: State, seat: int) -> View:
    """Return a copy of what a seat may see (V22, V28), whoever is to act.

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
    view["hand"] = state["hands"][seat]
    view["known"] = state["known"][seat]
    return view


def validate(state: State) -> list[str]:
    """Return what cannot be true of a state, one line each; an empty list for a state that the engine can go on from.

    Whether some play of cards leads to the state is not asked.
    """
    faults = _faults_of_rules(state["view"]) or _faults_of_ranges(state["view"], len(state["pile"]))
    return faults or _faults_of_cards(state) + _faults_of_phase(state["view"]) + _faults_of_turn(state)


def _faults_of_rules(view: View) -> list[str]:
    try:
        again = RuleSet.from_record(view["rules"]).to_record(int(view["players"]))
    except (ValueError, IndexError) as error:
        return [f"rules: {error}"]
    return [] if equal(again, view["rules"]) else ["rules: a field beyond the options is not 0"]


def _faults_of_ranges(view: View, pile_room: int) -> list[str]:
    """Return what lies outside of the range that ``VIEW`` documents."""
    players = int(view["players"])
    faults = []
    for field, low, high in (
        ("phase", 0, max(Phase)),
        ("col", 0, int(view["rules"]["n_cols"])),
        ("starter", 0, players - 1),
        ("racing", 0, players),
        ("pile_size", 0, pile_room),
        ("jersey_spent", 0, 1),
        ("logged", 0, len(view["log"])),
    ):
        if not low <= view[field] <= high:
            faults.append(f"{field} {view[field]}: allowed is {low}-{high}")
    faults += [
        f"{field} {view[field]}: allowed is 0-{players - 1} or {NOBODY}"
        for field in ("turn", "author", "wearer", "swap_victim")
        if view[field] >= players and view[field] != NOBODY
    ]
    faults += [
        f"{field}: a value is negative"
        for field in ("totals", "points", "passed_on", "beat")
        if np.min(view[field]) < 0
    ]
    by_seat = ("totals", "points", "passed_on", "sizes", "out_order")
    faults += [f"{field}: is not 0 beyond the seats" for field in by_seat if view[field][players:].any()]
    ranks = view["out_order"][view["out_order"] > 0]
    if ranks.size and (ranks.max() > players or len(set(ranks.tolist())) < ranks.size):
        faults.append(f"out_order: allowed is each of 1-{players} once, 0 for who is racing")
    if view["log"][view["logged"] :].any():
        faults.append("the log is longer than it says")
    if any(author_of(entry) >= players for entry in view["log"]):
        faults.append("the log names a seat that is not at the table")
    if view["phase"] < Phase.COL_OVER and view["jersey_spent"] and view["wearer"] == NOBODY:
        faults.append("the Jersey is spent, but nobody wears it")
    if view["phase"] < Phase.COL_OVER and view["passed_on"].max() > view["beat"]:
        faults.append("somebody has passed on more than there is to beat")
    return faults


def _faults_of_cards(state: State) -> list[str]:
    view = state["view"]
    players = int(view["players"])
    faults = []
    pile = [1 << int(position) for position in state["pile"][: view["pile_size"]]]
    places = [int(hand) for hand in state["hands"]] + [int(view["played"]), int(view["reward"]), *pile]
    together = 0
    for cards in places:
        if cards & ~int(DECK):
            faults.append("a card is not of the deck")
        if cards & together:
            faults.append("a card is in two places")
        together |= cards
    if int(view["reward"]).bit_count() > 1:
        faults.append("the reward is more than one card")
    if players > 2 and (view["reward"] or view["pile_size"]):
        faults.append("only the duel has a pile and a reward")
    if state["hands"][players:].any():
        faults.append("a seat that is not at the table holds cards")
    if any(int(hand).bit_count() != size for hand, size in zip(state["hands"], view["sizes"], strict=True)):
        faults.append("the hand sizes are not those of the hands")
    if state["pile"][view["pile_size"] :].any():
        faults.append("the pile is longer than its size")
    if (state["known"] & ~state["hands"]).any() or state["known"].diagonal().any():
        faults.append("a card is known to be in a hand that does not hold it, or in the own one")
    return faults


def _faults_of_phase(view: View) -> list[str]:
    """Return what does not go with the phase: the standing play, a swap, a reward, the number of the col."""
    phase = Phase(int(view["phase"]))
    has_play = phase in (Phase.FOLLOW, Phase.SWAP, Phase.GIVE)
    faults = []
    if phase < Phase.COL_OVER and not has_play == (view["beat"] > 0) == (view["author"] != NOBODY):
        faults.append(f"value to beat {view['beat']} in phase {phase.name}, played by seat {view['author']}")
    if (phase in (Phase.SWAP, Phase.GIVE)) != (view["swap_count"] > 0):
        faults.append(f"swap of {view['swap_count']} cards in phase {phase.name}")
    if (phase == Phase.GIVE) != (view["swap_victim"] != NOBODY):
        faults.append(f"swap with seat {view['swap_victim']} in phase {phase.name}")
    if view["swap_count"] > int(view["played"] & TORTOISES).bit_count():
        faults.append(f"swap of {view['swap_count']} cards with fewer Tortoises played")
    if phase == Phase.REWARD and not view["reward"]:
        faults.append("a reward is to be awarded, but there is none")
    if phase == Phase.COL_OVER and view["col"] == view["rules"]["n_cols"]:
        faults.append(f"a further col after col {view['col']}, the last")
    if phase != Phase.COL_OVER and view["col"] == 0:
        faults.append(f"col 0 in phase {phase.name}")
    return faults


def _faults_of_turn(state: State) -> list[str]:
    """Return what does not go with the seat to act."""
    view = state["view"]
    phase, turn = Phase(int(view["phase"])), int(view["turn"])
    faults = []
    if phase >= Phase.COL_OVER:
        faults += [] if turn == NOBODY else [f"turn {turn} in phase {phase.name}"]
    elif turn == NOBODY:
        faults.append(f"nobody to act in phase {phase.name}")
    else:
        faults += _faults_of_racers(view, phase, turn)
    shown = clone(state)
    show_turn(shown)
    if not equal(shown, state):
        faults.append("the view is not that of the seat to act")
    return faults


def _faults_of_racers(view: View, phase: Phase, turn: int) -> list[str]:
    faults = []
    racing = np.count_nonzero(view["sizes"])
    if phase == Phase.GIVE and view["swap_victim"] != NOBODY and view["sizes"][view["swap_victim"]] == 0:
        racing += 1  # all his cards were taken; he gets as many back
    if view["racing"] != racing or racing < 2:
        faults.append(f"{view['racing']} players racing, with {racing} hands that hold cards")
    has_cards = view["sizes"] > 0
    if phase != Phase.GIVE and (has_cards & (view["out_order"] > 0)).any():
        faults.append("a player who is out holds cards")
    if (phase == Phase.NEXT_LEADER) != (view["sizes"][turn] == 0):
        faults.append(f"seat {turn} with {view['sizes'][turn]} cards is to act in phase {phase.name}")
    if phase == Phase.GIVE and (view["swap_count"] > view["sizes"][turn] or view["swap_victim"] == turn):
        faults.append(f"seat {turn} is to give {view['swap_count']} cards to seat {view['swap_victim']}")
    if (phase in (Phase.SWAP, Phase.GIVE)) != (view["author"] == turn):
        faults.append(f"seat {turn} is to act on a play of seat {view['author']} in phase {phase.name}")
    return faults


_CARDS = Words(lambda word: list(card_texts(word)), parse_cards)
_CARD_FIELDS = (("view", "hand"), ("view", "known"), ("view", "played"), ("view", "reward"), ("hands",), ("known",))
_FORM = SavedForm(
    "velonimo", b"VELO", STATE_VERSION, RULES_VERSION, STATE, validate, dict.fromkeys(_CARD_FIELDS, _CARDS)
)


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
    """Return the state as JSON for people and other programs: cards by name, all else as numbers."""
    return _FORM.to_json(state)


def from_json(text: str) -> State:
    """Return the state that ``to_json`` described.

    Raises
    ------
    CorruptDataError
        If the text is no state, of another version, or describes an impossible state.
    """
    return _FORM.from_json(text)
