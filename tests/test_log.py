"""The log of a view (V28): every move of the col in order with its author, and nothing that only some have seen."""

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from conftest import position, recorded_games, states_of_game
from velonimo_sim import new_game
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.rng import new_stream
from velonimo_sim.velonimo.cards import DECK_SIZE, card_texts
from velonimo_sim.velonimo.describe import describe_view
from velonimo_sim.velonimo.legal import legal_moves
from velonimo_sim.velonimo.moves import PASS, Move, author_of, logged, logged_text, move_of_entry, parse_move
from velonimo_sim.velonimo.record import replay
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.state import State, clone, from_bytes, to_bytes, validate, view_of
from velonimo_sim.velonimo.step import apply
from velonimo_sim.velonimo.view import MAX_LOGGED, Phase, View

pytestmark = pytest.mark.kernel

GAMES = 1 if INTERPRETED else 10
Entry = tuple[int, str]


def log_of(view: View) -> list[Entry]:
    return [(int(author_of(entry)), logged_text(entry)) for entry in view["log"][: view["logged"]]]


# What stands in it.


def public_text(event: dict[str, Any]) -> str:
    """Return the text of a recorded event as everybody saw it."""
    act = event["act"]
    if act == "play":
        return " ".join(event["cards"]) + (" +jersey" if event["jersey"] else "")
    if act == "steal":
        return f"swap {event['from']}"
    if act == "choose_starter":
        return f"lead {event['starter']}"
    if act == "reward":
        return "keep" if event["to"] == event["seat"] else "force"
    return str(act)


def rules_of(record: dict[str, Any]) -> RuleSet:
    ties = RuleSet.bga()
    return RuleSet(tuple(range(1, record["cols"] + 1)), starter_tie=ties.starter_tie, jersey_tie=ties.jersey_tie)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_every_move_of_a_col_stands_in_it_in_order_with_its_author(players: int) -> None:
    acts = set()
    for record in recorded_games(players)[:GAMES]:
        expected: list[Entry] = []
        for _, event, state in replay(record, rules_of(record)):
            if "round" in event:
                expected = []
            elif "refused" not in event and event["act"] != "snapshot":
                expected.append((event["seat"], public_text(event)))
                acts.add(event["act"])
            assert log_of(state["view"]) == expected[:MAX_LOGGED]
            assert not state["view"]["log"][len(expected) :].any()
    wanted = {"play", "pass", "steal", "give", "reward" if players == 2 else "choose_starter"}
    assert INTERPRETED or acts == wanted


def test_a_declined_swap_stands_in_it() -> None:
    state = position(["N1 B1 R3", "B6 B7", "Y4"], "B1 N1, decline", tortoise_swap="optional")
    assert log_of(state["view"]) == [(0, "B1 N1"), (0, "decline")]


def test_a_gift_stands_without_its_cards_and_a_swap_with_its_victim_alone() -> None:
    """V22: what was taken and given back is known to two seats, and the log is for all."""
    logs = set()
    for taken, given in (("B6", "R3"), ("B7", "R3"), ("B7", "B7")):
        state = position(["N1 R3 R4", "B6 B7", "Y4"], f"N1, swap 1, give {given}", taken=taken)
        logs.add(state["view"]["log"].tobytes())
        assert log_of(state["view"]) == [(0, "N1"), (0, "swap 1"), (0, "give")]
    assert len(logs) == 1


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_it_is_the_same_for_all_seats_and_empty_when_a_col_begins(players: int) -> None:
    begun = set()
    game, chance = new_game(players, 3, RuleSet(tortoise_swap="optional", hand_size=5)), random.Random(3)
    while game.turn is not None:
        views = [game.view(seat) for seat in range(players)]
        assert all(view["log"] == views[0]["log"] for view in views)
        if views[0]["col"] not in begun:
            begun.add(views[0]["col"])
            assert views[0]["log"] == []
        game.play(chance.choice(game.legal_moves()))
    assert len(begun) > 1


@pytest.mark.parametrize("text", ["R3", "R2 R3 +jersey", "H50", "pass", "swap 3", "decline", "lead 0", "keep", "force"])
def test_an_entry_is_a_move_and_its_author(text: str) -> None:
    for author in range(5):
        entry = np.uint64(logged(parse_move(text), author))
        assert (author_of(entry), move_of_entry(entry), logged_text(entry)) == (author, parse_move(text), text)


def test_an_entry_of_a_gift_is_the_same_for_all_cards() -> None:
    first, other = (np.uint64(logged(parse_move(f"give {cards}"), 2)) for cards in ("R3 B7", "H50"))
    assert first == other
    assert logged_text(first) == "give"


# What follows from it.


def public_facts(view: View) -> dict[str, Any]:
    """Return what everybody can count for himself who has heard the log of a col alone."""
    players, hand_size = int(view["players"]), int(view["rules"]["hand_size"])
    sizes, passed_on, played = [hand_size] * players, [0] * players, []
    pile = DECK_SIZE - players * hand_size - 1 if players == 2 else 0
    turn, author, beat = int(view["starter"]), -1, 0
    for entry in view["log"][: view["logged"]]:
        seat, text = int(author_of(entry)), logged_text(entry)
        assert seat == turn
        kind = text.split()[0]
        is_over = kind in ("pass", "decline", "give")
        if kind == "pass":
            passed_on[seat] = beat
        elif kind in ("keep", "force"):
            sizes[seat if kind == "keep" else 1 - seat] += 1
            pile -= pile > 0
        elif kind == "lead":
            turn = int(text.split()[1])
        elif kind not in ("swap", "decline", "give"):
            move = Move(int(move_of_entry(entry)), int(view["rules"]["jersey_bonus"]))
            author, beat, cards = seat, move.value, move.cards
            played += cards
            drawn = min(pile, sum(card[1] == "2" for card in cards if card[0] != "H"))
            sizes[seat] += drawn - len(cards)
            pile -= drawn
            is_over = sizes[seat] == 0 or not any(card[1:] == "1" for card in cards)
        if is_over:
            turn = next_seat(sizes, seat, author)
            if turn == author:
                passed_on = [0] * players
    return {"sizes": sizes, "played": sorted(played), "passed_on": passed_on, "pile_size": pile, "turn": turn}


def next_seat(sizes: list[int], seat: int, author: int) -> int:
    """Return the next seat with cards, or the author of the standing play if the turn comes back to him."""
    while True:
        seat = (seat + 1) % len(sizes)
        if seat == author or sizes[seat] > 0:
            return seat


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_public_facts_follow_from_it(players: int) -> None:
    """As long as it has room, but for the two hands in the middle of a swap, and what ends with the col."""
    for record in recorded_games(players)[:GAMES]:
        for _, event, state in replay(record, rules_of(record)):
            if event.get("act") == "snapshot" or "refused" in event or state["view"]["phase"] >= Phase.COL_OVER:
                continue
            view = state["view"]
            if view["logged"] == MAX_LOGGED:
                continue
            expected = {
                "sizes": view["sizes"][:players].tolist(),
                "played": card_texts(view["played"]),
                "passed_on": view["passed_on"][:players].tolist(),
                "pile_size": int(view["pile_size"]),
                "turn": int(view["turn"]),
            }
            found = public_facts(view)
            if view["phase"] == Phase.GIVE:
                found.pop("sizes")
            assert found == {name: expected[name] for name in found}


# Where it ends.


def moves_of_a_long_col() -> Iterator[State]:
    """Yield the states of a col in which everybody leads single cards and nobody answers."""
    state = clone(next(states_of_game(5, 1, RuleSet(tortoise_swap="off"))))
    moves = np.zeros(5000, np.uint64)
    while state["view"]["phase"] < Phase.COL_OVER:
        yield state
        n = legal_moves(state["view"], moves)
        fewest = min(moves[:n].tolist(), key=lambda move: int(move).bit_count())
        apply(state, PASS if state["view"]["phase"] == Phase.FOLLOW else fewest, new_stream(0))
    yield state


def test_it_ends_when_it_is_full_and_the_col_goes_on() -> None:
    made, full = 0, b""
    for made, state in enumerate(moves_of_a_long_col()):
        assert state["view"]["logged"] == min(made, MAX_LOGGED)
        if made == MAX_LOGGED:
            full = state["view"]["log"].tobytes()
        if made >= MAX_LOGGED:
            assert state["view"]["log"].tobytes() == full
            assert validate(state) == []
            assert from_bytes(to_bytes(state)) == state
    assert made > MAX_LOGGED + 20


# As plain Python.


def test_a_described_view_has_it_as_authors_and_texts() -> None:
    hands = ["B2 B3 N1", "R7 G7 Y5", "P4 P5"]
    state = position(hands, "B2 B3, G7 R7, pass, pass", wearer=0)
    view = view_of(state, 2)
    assert describe_view(view, RuleSet().to_dict())["log"] == [(0, "B2 B3"), (1, "G7 R7"), (2, "pass"), (0, "pass")]


def test_a_described_log_shows_the_jersey() -> None:
    state = position(["B2 B3 N1", "G3 R3", "P4 P5"], "B2 B3, G3 R3 +jersey", wearer=1)
    described = describe_view(state["view"], RuleSet().to_dict())
    assert described["log"] == [(0, "B2 B3"), (1, "G3 R3 +jersey")]
