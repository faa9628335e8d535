"""The replay command: true records pass, and a record with one changed fact is told where and why it cannot be."""

import copy
import gzip
import json
import os
import random
import re
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from conftest import DATA, recorded_games
from velonimo_sim import new_game, replay
from velonimo_sim.velonimo.rules import RuleSet

Record = dict[str, Any]
Change = Callable[[Record], str]
Wanted = Callable[[Record], bool]
Printed = Callable[..., tuple[int, str, str]]

COMMAND = [sys.executable, "-m", "velonimo_sim.replay"]
ODD_RULES = RuleSet(
    col_values=(2, 1, 3, 1),
    tortoise_swap="optional",
    dromedary_last_card="exempt",
    duel_target=None,
    jersey_bonus=20,
    hand_size=8,
)
OTHER_RULES = replace(ODD_RULES, col_values=(2, 2, 3, 1))


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Printed:
    """Run the command in this process; return its exit status, stdout and stderr."""

    def run(*arguments: str | Path) -> tuple[int, str, str]:
        status = replay.main([str(argument) for argument in arguments])
        out, err = capsys.readouterr()
        return status, out, err

    return run


def write(path: Path, records: Iterable[Any]) -> Path:
    """Write a JSON Lines file."""
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@cache
def _games(players: int) -> list[Record]:
    return recorded_games(players)


def game(players: int, number: int = 1) -> Record:
    """Return a copy of one of the refereed games, the first being 1."""
    return copy.deepcopy(_games(players)[number - 1])


@cache
def _own(players: int, rules: RuleSet, seed: int) -> str:
    chance = random.Random(seed)
    played = new_game(players, seed, rules, starter=seed % players)
    while played.turn is not None:
        played.play(chance.choice(played.legal_moves()))
    return json.dumps(played.record())


def own(players: int, rules: RuleSet, seed: int) -> Record:
    """Return the record of a game that was played at random."""
    record: Record = json.loads(_own(players, rules, seed))
    return record


def events_of(record: Record) -> list[tuple[str, Record]]:
    """Return all events of a game with the place that a message gives them."""
    return [
        (f"round {number} event {position}", event)
        for number, one_round in enumerate(record["rounds"], 1)
        for position, event in enumerate(one_round["events"], 1)
    ]


def first(record: Record, wanted: Wanted) -> tuple[str, Record]:
    """Return the first event that is wanted, and its place."""
    return next((place, event) for place, event in events_of(record) if wanted(event))


def applied(act: str, **fields: Any) -> Wanted:
    """Return the test for an event that was carried out."""
    return lambda event: event["act"] == act and "refused" not in event and fields.items() <= event.items()


def refused(reason: str) -> Wanted:
    return lambda event: event.get("refused") == reason


def led(phase: str) -> Wanted:
    """Return the test for an event that led to a phase."""
    return lambda event: event.get("then", {}).get("phase") == phase


# True records.


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_every_fact_of_the_refereed_games_holds(players: int, command: Printed) -> None:
    path = DATA / f"visible_{players}p.jsonl.gz"
    events = sum(len(events_of(record)) for record in _games(players))
    assert command(path) == (0, f"{path}: 40 games, {events} events, all facts hold\n", "")


def test_games_with_legends_are_reported_as_skipped(command: Printed) -> None:
    status, out, err = command(DATA / "legends_visible.jsonl.gz")
    assert (status, err, out.count("\n")) == (0, "", 1)
    assert "40 games with Legends skipped" in out


def test_games_with_legends_among_others(command: Printed, tmp_path: Path) -> None:
    with gzip.open(DATA / "legends_visible.jsonl.gz", "rt", encoding="utf-8") as lines:
        legends = json.loads(lines.readline())
    path = write(tmp_path / "mixed.jsonl", [legends, game(3), legends])
    status, out, _ = command(path)
    assert (status, out.count("\n")) == (0, 1)
    assert out.startswith(f"{path}: 1 games, ")
    assert out.endswith("; 2 games with Legends skipped\n")


def test_plain_and_compressed_files_read_alike(command: Printed, tmp_path: Path) -> None:
    plain = write(tmp_path / "plain.jsonl", [game(2), game(2, 2)])
    packed = tmp_path / "packed"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    status, out, _ = command(plain, packed)
    lines = out.splitlines()
    assert (status, len(lines)) == (0, 2)
    assert lines[0].removeprefix(f"{plain}: ") == lines[1].removeprefix(f"{packed}: ")


def test_blank_lines_are_passed_over_and_counted(command: Printed, tmp_path: Path) -> None:
    record = game(4)
    record["winner"] = 9
    path = tmp_path / "blank.jsonl"
    path.write_text(f"\n{json.dumps(game(4))}\n\n  \n{json.dumps(record)}\n", "utf-8")
    status, out, _ = command(path)
    assert status == 1
    assert out.startswith(f"{path}:5 v4-001 result: expected winner ")


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize(
    "rules",
    [
        RuleSet.official(),
        RuleSet.bga(),
        ODD_RULES,
        RuleSet(tortoise_swap="off", col_values=(1,)),
        RuleSet(tortoise_swap="optional", jersey_bonus=3, hand_size=5, col_values=(1, 1, 1)),
    ],
    ids=["official", "bga", "odd", "no swap", "small"],
)
def test_own_records_replay(players: int, rules: RuleSet, command: Printed, tmp_path: Path) -> None:
    records = [own(players, rules, seed) for seed in range(4)]
    path = write(tmp_path / "own.jsonl", records)
    events = sum(len(events_of(record)) for record in records)
    assert command(path) == (0, f"{path}: 4 games, {events} events, all facts hold\n", "")


def test_own_records_hold_every_kind_of_event() -> None:
    records = [own(players, ODD_RULES, seed) for players in (2, 4) for seed in range(4)]
    acts = {event["act"] for record in records for _, event in events_of(record)}
    assert acts == {"play", "pass", "steal", "decline", "give", "choose_starter", "reward", "snapshot"}
    plays = [event for record in records for _, event in events_of(record) if event["act"] == "play"]
    assert any(event["jersey"] for event in plays)
    assert any(event["drew"] for event in plays)


# One changed fact.


def of_game(field: str, value: Any) -> Change:
    """Change a fact of the game itself."""

    def change(record: Record) -> str:
        assert record[field] != value
        record[field] = value
        return "result"

    return change


def of_round(number: int, field: str, value: Any) -> Change:
    """Change a fact of a round."""

    def change(record: Record) -> str:
        assert record["rounds"][number - 1][field] != value
        record["rounds"][number - 1][field] = value
        return f"round {number}"

    return change


def of_event(wanted: Wanted, field: str, value: Any) -> Change:
    """Change a fact of the first event of a kind."""

    def change(record: Record) -> str:
        place, event = first(record, wanted)
        assert event[field] != value
        event[field] = value
        return place

    return change


def of_then(wanted: Wanted, field: str, value: Any) -> Change:
    """Change what the first event of a kind led to."""

    def change(record: Record) -> str:
        place, event = first(record, wanted)
        assert event["then"][field] != value
        event["then"][field] = value
        return place

    return change


def seen_at(change: Change, place: str) -> Change:
    """Return a change that can only be seen at a later place."""

    def changed(record: Record) -> str:
        change(record)
        return place

    return changed


def swapped_cards(record: Record) -> str:
    """Exchange the first card that is played with a card of another hand."""
    hands = record["rounds"][0]["hands"]
    card, other = record["rounds"][0]["events"][0]["cards"][0], hands[1][0]
    hands[0] = sorted([*(set(hands[0]) - {card}), other])
    hands[1] = sorted([*(set(hands[1]) - {other}), card])
    return "round 1 event 1"


def hand_out_of_order(record: Record) -> str:
    record["rounds"][0]["hands"][0].reverse()
    return "round 1"


def hand_too_small(record: Record) -> str:
    del record["rounds"][1]["hands"][2][-1]
    return "round 2"


def other_reward(record: Record) -> str:
    """Exchange the reward of a duel with the last card of the pile."""
    pile = record["rounds"][0]["pile"]
    pile[0], pile[-1] = pile[-1], pile[0]
    return first(record, applied("reward"))[0]


def other_pile(record: Record) -> str:
    """Exchange the first card that is drawn in a duel with the last one of the pile."""
    place, event = first(record, lambda event: bool(event.get("drew")))
    pile = record["rounds"][0]["pile"]
    i = pile.index(event["drew"][0])
    pile[i], pile[-1] = pile[-1], pile[i]
    return place


def pile_too_small(record: Record) -> str:
    del record["rounds"][0]["pile"][-1]
    return "round 1"


def hands_of_snapshot(record: Record) -> str:
    place, event = first(record, applied("snapshot"))
    event["hands"][0], event["hands"][1] = event["hands"][1], event["hands"][0]
    return place


# name: (players, which of the games, change, what is expected, what stands there)
CHANGES: dict[str, tuple[int, int, Change, str, str]] = {
    "cols": (4, 0, of_game("cols", 3), "cols 4", "3"),
    "coaches": (4, 1, of_game("coaches", ["eagle", "panda"]), "coaches none", "eagle panda"),
    "winner": (4, 1, of_game("winner", 3), "winner 0", "3"),
    "winner: nobody": (2, 1, of_game("winner", None), "winner 0", "none"),
    "final_tie: none": (4, 17, of_game("final_tie", None), "final_tie [2, 3]", "none"),
    "final_tie: some": (4, 1, of_game("final_tie", [0, 1]), "final_tie none", "[0, 1]"),
    "final_tie: another": (3, 3, of_game("final_tie", [0, 1]), "final_tie [0, 1, 2]", "[0, 1]"),
    "rules": (4, 0, seen_at(of_game("rules", OTHER_RULES.to_dict()), "round 2"), "points [4, 2, 0, 6]", "[2, 1, 0, 3]"),
    "round": (4, 1, of_round(2, "round", 3), "round 2", "3"),
    "starter of round 1": (4, 1, seen_at(of_round(1, "starter", 1), "round 1 event 1"), "seat 1 to act", "0"),
    "starter": (4, 1, of_round(3, "starter", 9), "starter 2", "9"),
    "starter_tie of round 1": (4, 1, of_round(1, "starter_tie", False), "starter_tie True", "False"),
    "starter_tie": (4, 1, of_round(2, "starter_tie", True), "starter_tie False", "True"),
    "jersey of round 1": (4, 1, of_round(1, "jersey", 0), "jersey none", "0"),
    "jersey": (4, 1, of_round(2, "jersey", None), "jersey 0", "none"),
    "jersey of a duel": (2, 1, of_round(2, "jersey", 0), "jersey none", "0"),
    "broom_wagon": (4, 1, of_round(1, "broom_wagon", 2), "broom_wagon none", "2"),
    "hands": (4, 1, swapped_cards, "a legal play", "a card is not in the hand (V10)"),
    "hands: order": (4, 1, hand_out_of_order, "hands [['B3', 'H45'", "[['Y4', 'Y2'"),
    "hands: size": (4, 1, hand_too_small, "[11, 11, 11, 11, 0] cards", "[11, 11, 10, 11, 0]"),
    "pile": (4, 1, of_round(1, "pile", ["A3"]), "[11, 11, 11, 11, 0] cards", "[11, 11, 11, 11, 1]"),
    "pile: reward": (2, 1, other_reward, "card R4", "Y3"),
    "pile: order": (2, 1, other_pile, "drew R4", "P1"),
    "pile: size": (2, 1, pile_too_small, "[11, 11, 33] cards", "[11, 11, 32]"),
    "ranks": (4, 1, of_round(1, "ranks", [1, 2, 3, 4]), "ranks [1, 2, 4, 3]", "[1, 2, 3, 4]"),
    "ranks: one missing": (2, 1, of_round(1, "ranks", [None, 1]), "ranks [1, 2]", "[None, 1]"),
    "points": (4, 1, of_round(1, "points", [3, 3, 0, 0]), "points [3, 2, 0, 1]", "[3, 3, 0, 0]"),
    "totals": (4, 1, of_round(5, "totals", [1, 2, 3, 4]), "totals [32, 19, 20, 19]", "[1, 2, 3, 4]"),
    "jersey_after": (4, 1, of_round(1, "jersey_after", 9), "jersey_after 0", "9"),
    "jersey_after of a duel": (2, 1, of_round(1, "jersey_after", 1), "jersey_after none", "1"),
    "play: seat": (4, 1, of_event(applied("play"), "seat", 2), "seat 0 to act", "2"),
    "play: cards not in hand": (4, 1, of_event(applied("play"), "cards", ["A1", "A5"]), "legal play", "(V10)"),
    "play: cards that do not fit": (4, 1, of_event(applied("play"), "cards", ["N5", "R6"]), "legal play", "(V7)"),
    "play: other cards": (4, 1, of_event(applied("play"), "cards", ["N5"]), "value 5", "25"),
    "play: no cards": (4, 1, of_event(applied("play"), "cards", []), "legal play", "at least one card (V10)"),
    "play: card twice": (4, 1, of_event(applied("play"), "cards", ["N5", "N5"]), "legal play", "N5 is named twice"),
    "play: cards out of order": (4, 1, of_event(applied("play"), "cards", ["N7", "N5"]), "cards N5 N7", "N7 N5"),
    "play: jersey": (4, 1, of_event(applied("play"), "jersey", True), "legal play", "only its wearer"),
    "play: without jersey": (3, 1, of_event(applied("play", jersey=True), "jersey", False), "value 27", "37"),
    "play: value": (4, 1, of_event(applied("play"), "value", 26), "value 25", "26"),
    "play: beats": (4, 1, of_event(applied("play", beats=25), "beats", 24), "beats 25", "24"),
    "play: n_legal": (4, 1, of_event(applied("play"), "n_legal", 23), "n_legal 22", "23"),
    "play: drew": (4, 1, of_event(applied("play"), "drew", ["A3"]), "drew no cards", "A3"),
    "play: drew nothing": (2, 1, of_event(applied("play"), "drew", []), "drew P1", "no cards"),
    "play: drew in another order": (
        2,
        1,
        of_event(applied("play", drew=["N5", "B7", "H35"]), "drew", ["B7", "N5", "H35"]),
        "drew N5 B7 H35",
        "B7 N5 H35",
    ),
    "play: rank": (4, 1, of_event(applied("play"), "rank", 1), "rank none", "1"),
    "play: another rank": (4, 1, of_event(applied("play", rank=2), "rank", 1), "rank 2", "1"),
    "play: no rank": (4, 1, of_event(applied("play", rank=1), "rank", None), "rank 1", "none"),
    "pass: seat": (4, 1, of_event(applied("pass"), "seat", 3), "seat 2 to act", "3"),
    "pass: n_legal": (4, 1, of_event(applied("pass"), "n_legal", 2), "n_legal 3", "2"),
    "pass: act": (4, 1, of_event(applied("pass"), "act", "decline"), "legal decline", "not what has to be decided"),
    "steal: seat": (4, 1, of_event(applied("steal"), "seat", 1), "seat 0 to act", "1"),
    "steal: from": (4, 1, of_event(applied("steal"), "from", 2), "legal steal", "cards taken H40"),
    "steal: from itself": (4, 1, of_event(applied("steal"), "from", 0), "legal steal", "needs an opponent (V20)"),
    "steal: from nobody": (4, 1, of_event(applied("steal"), "from", 4), "legal steal", "no such seat"),
    "steal: from beyond": (4, 1, of_event(applied("steal"), "from", 300), "legal steal", "seat 300"),
    "steal: taken": (
        4,
        1,
        seen_at(of_event(applied("steal"), "taken", ["H35"]), "round 1 event 12"),
        "hands [['B3', 'H35'",
        "[['B3', 'H40'",
    ),
    "steal: taken from elsewhere": (4, 1, of_event(applied("steal"), "taken", ["N5"]), "legal steal", "taken N5"),
    "steal: taken too many": (4, 1, of_event(applied("steal"), "taken", ["H35", "H40"]), "legal steal", "H35 H40"),
    "steal: n_legal": (4, 1, of_event(applied("steal"), "n_legal", 2), "n_legal 3", "2"),
    "decline: seat": (4, 0, of_event(applied("decline"), "seat", 7), "seat 2 to act", "7"),
    "decline: n_legal": (4, 0, of_event(applied("decline"), "n_legal", 9), "n_legal 3", "9"),
    "give: seat": (4, 1, of_event(applied("give"), "seat", 3), "seat 0 to act", "3"),
    "give: to": (4, 1, of_event(applied("give"), "to", 1), "to 3", "1"),
    "give: cards": (4, 1, of_event(applied("give"), "cards", ["R7"]), "legal give", "not in the hand (V20)"),
    "give: too many": (4, 1, of_event(applied("give"), "cards", ["N2", "R6"]), "legal give", "too many (V20)"),
    "choose_starter: seat": (4, 1, of_event(applied("choose_starter"), "seat", 9), "seat 3 to act", "9"),
    "choose_starter: starter": (4, 1, of_event(applied("choose_starter"), "starter", 1), "seat 1", "seat 2"),
    "choose_starter: itself": (4, 1, of_event(applied("choose_starter"), "starter", 3), "legal choose_starter", "V13"),
    "choose_starter: out": (4, 1, of_event(applied("choose_starter"), "starter", 0), "legal choose_starter", "V13"),
    "choose_starter: nobody": (4, 1, of_event(applied("choose_starter"), "starter", 4), "legal choose_starter", "seat"),
    "choose_starter: n_legal": (4, 1, of_event(applied("choose_starter"), "n_legal", 9), "n_legal 2", "9"),
    "reward: seat": (2, 1, of_event(applied("reward"), "seat", 0), "seat 1 to act", "0"),
    "reward: to": (2, 1, seen_at(of_event(applied("reward"), "to", 1), "round 1 event 9"), "n_legal 19", "17"),
    "reward: to nobody": (2, 1, of_event(applied("reward"), "to", 2), "legal reward", "seat 2"),
    "reward: card": (2, 1, of_event(applied("reward"), "card", "P1"), "card Y3", "P1"),
    "reward: next_reward": (2, 1, of_event(applied("reward"), "next_reward", None), "next_reward B4", "none"),
    "snapshot: hands": (4, 1, hands_of_snapshot, "hands [['B3', 'H40'", "[['G1', 'G5'"),
    "snapshot: reward": (2, 1, of_event(applied("snapshot"), "reward", "B3"), "reward B4", "B3"),
    "snapshot: reward of no duel": (4, 1, of_event(applied("snapshot"), "reward", "B3"), "reward none", "B3"),
    "snapshot: pile_left": (2, 1, of_event(applied("snapshot"), "pile_left", 26), "pile_left 27", "26"),
    "snapshot: pile_left of no duel": (4, 1, of_event(applied("snapshot"), "pile_left", 0), "pile_left none", "0"),
    "snapshot: jersey_used": (4, 1, of_event(applied("snapshot"), "jersey_used", True), "jersey_used False", "True"),
    "snapshot: jersey_used not": (
        4,
        1,
        of_event(applied("snapshot", jersey_used=True), "jersey_used", False),
        "jersey_used True",
        "False",
    ),
    "refused: reason": (4, 1, of_event(refused("steal_self"), "refused", "steal_no_cards"), "steal_self", "no_cards"),
    "refused: reason that does not exist": (4, 1, of_event(refused("mixed"), "refused", "ugly"), "mixed", "ugly"),
    "refused: seat": (4, 1, of_event(refused("steal_self"), "seat", 2), "out_of_turn", "steal_self"),
    "refused: seat to act": (4, 1, of_event(refused("out_of_turn"), "seat", 2), "not_in_hand", "out_of_turn"),
    "refused: seat that does not exist": (4, 1, of_event(refused("out_of_turn"), "seat", 9), "seat", "9"),
    "refused: act": (4, 2, of_event(refused("pass_at_lead"), "act", "decline"), "wrong_phase", "pass_at_lead"),
    "refused: from": (4, 1, of_event(refused("steal_self"), "from", 3), "legal", "steal_self"),
    "refused: from an empty hand": (4, 5, of_event(refused("steal_no_cards"), "from", 2), "steal_self", "no_cards"),
    "refused: cards": (4, 1, of_event(refused("mixed"), "cards", []), "no_cards", "mixed"),
    "refused: cards too low": (4, 1, of_event(refused("equal"), "cards", ["P2"]), "too_low", "equal"),
    "refused: jersey": (4, 1, of_event(refused("jersey_not_worn"), "jersey", False), "legal", "jersey_not_worn"),
    "refused: jersey used": (4, 1, of_event(refused("jersey_used"), "jersey", False), "too_low", "jersey_used"),
    "refused: jersey of a duel": (2, 1, of_event(refused("jersey_2p"), "jersey", False), "too_low", "jersey_2p"),
    "refused: special": (4, 1, of_event(refused("legends_off"), "special", []), "legal", "legends_off"),
    "refused: cards to give": (4, 1, of_event(refused("give_duplicate"), "cards", []), "too_few", "give_duplicate"),
    "refused: to give": (4, 1, of_event(refused("give_duplicate"), "to", 9), "to ", "9"),
    "refused: starter": (4, 2, of_event(refused("choose_self"), "starter", 9), "no_such_player", "choose_self"),
    "refused: starter who is out": (
        4,
        4,
        of_event(refused("choose_finished"), "starter", 1),
        "self",
        "choose_finished",
    ),
    "refused: to": (2, 1, of_event(refused("reward_no_such_player"), "to", 1), "legal", "reward_no_such_player"),
}

# act: (players, which of the games, phase and seat that the first such act led to)
THEN = {
    "play": (4, 1, "follow", 1),
    "pass": (4, 1, "follow", 3),
    "steal": (4, 1, "give", 0),
    "decline": (4, 0, "follow", 3),
    "give": (4, 1, "follow", 1),
    "choose_starter": (4, 1, "lead", 2),
    "reward": (2, 1, "lead", 1),
}
for act, (players, which, phase, seat) in THEN.items():
    true = f"phase {phase}, seat {seat}"
    changed_phase, changed_seat = of_then(applied(act), "phase", "choose"), of_then(applied(act), "seat", 9)
    CHANGES[f"{act}: then phase"] = (players, which, changed_phase, true, f"phase choose, seat {seat}")
    CHANGES[f"{act}: then seat"] = (players, which, changed_seat, true, f"phase {phase}, seat 9")
CHANGES |= {
    "play: then a seat at the end": (4, 1, of_then(led("end_round"), "seat", 0), "seat none", "seat 0"),
    "play: then no seat": (4, 1, of_then(applied("play"), "seat", None), "seat 1", "seat none"),
    "play: then another phase": (4, 1, of_then(applied("play"), "phase", "lead"), "phase follow", "phase lead"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_one_changed_fact_is_found(name: str, command: Printed, tmp_path: Path) -> None:
    players, which, change, expected, found = CHANGES[name]
    true = game(players, which) if which else own(players, ODD_RULES, 2)
    changed = copy.deepcopy(true)
    place = change(changed)
    path = write(tmp_path / "games.jsonl", [true, changed])
    status, out, err = command(path)
    assert (status, err, out.count("\n")) == (1, "", 1)
    prefix = f"{path}:2 {changed['id']} {place}: "
    assert out.startswith(prefix)
    message = out.removeprefix(prefix)
    assert re.fullmatch(f"expected .*{re.escape(expected)}.*, there stands? .*{re.escape(found)}.*\n", message), message


FIELDS = {
    "game": {"cols", "coaches", "winner", "final_tie", "rules"},
    "round": {"round", "starter", "starter_tie", "jersey", "broom_wagon", "hands", "pile", "ranks", "points", "totals"},
    "play": {"seat", "cards", "jersey", "value", "beats", "n_legal", "drew", "rank", "then phase", "then seat"},
    "pass": {"seat", "act", "n_legal", "then phase", "then seat"},
    "steal": {"seat", "from", "taken", "n_legal", "then phase", "then seat"},
    "decline": {"seat", "n_legal", "then phase", "then seat"},
    "give": {"seat", "to", "cards", "then phase", "then seat"},
    "choose_starter": {"seat", "starter", "n_legal", "then phase", "then seat"},
    "reward": {"seat", "to", "card", "next_reward", "then phase", "then seat"},
    "snapshot": {"hands", "reward", "pile_left", "jersey_used"},
    "refused": {"seat", "act", "from", "cards", "jersey", "special", "to", "starter"},
}


def test_the_changes_cover_every_field() -> None:
    for group, fields in FIELDS.items():
        prefix = "" if group in ("game", "round") else f"{group}: "
        assert not [field for field in fields if not any(name.startswith(prefix + field) for name in CHANGES)], group


@pytest.mark.parametrize("field", ["leader_flag", "leader_flag_after"])
@pytest.mark.parametrize("value", [None, 0, 1])
def test_the_leader_flag_of_a_duel_is_ignored(field: str, value: int | None, command: Printed, tmp_path: Path) -> None:
    record = game(2)
    for one_round in record["rounds"]:
        one_round[field] = value
    assert command(write(tmp_path / "games.jsonl", [record]))[0] == 0


def test_exhaustive_says_nothing_that_could_be_false(command: Printed, tmp_path: Path) -> None:
    record = game(4)
    for _, event in events_of(record):
        if event["act"] in ("play", "pass") and "refused" not in event:
            event["exhaustive"] = True
    assert command(write(tmp_path / "games.jsonl", [record]))[0] == 0


# Other faults.


def without_event(record: Record) -> str:
    place, event = first(record, applied("pass"))
    record["rounds"][0]["events"].remove(event)
    return f"{place}: expected seat 2 to act, there stands 3"


def event_twice(record: Record) -> str:
    events = record["rounds"][0]["events"]
    events.insert(1, events[0])
    return "round 1 event 2: expected seat 1 to act, there stands 0"


def events_exchanged(record: Record) -> str:
    events = record["rounds"][0]["events"]
    events[0], events[1] = events[1], events[0]
    return "round 1 event 1: expected seat 0 to act, there stands 1"


def without_last_event(record: Record) -> str:
    del record["rounds"][0]["events"][-1]
    return "round 1: expected further events: seat "


def event_after_the_end(record: Record) -> str:
    events = record["rounds"][0]["events"]
    events.append(events[0])
    return f"round 1 event {len(events)}: expected no further event: the col is over"


def without_first_round(record: Record) -> str:
    del record["rounds"][0]
    return "round 1: expected round 1, there stands 2"


def without_second_round(record: Record) -> str:
    del record["rounds"][1]
    return "round 2: expected round 2, there stands 3"


def without_last_round(record: Record) -> str:
    del record["rounds"][-1]
    return "round 4: expected a further round: the game is not over"


def round_twice(record: Record) -> str:
    record["rounds"].append(record["rounds"][-1])
    return "round 6: expected no further round: the game is over"


def more_cols(record: Record) -> str:
    record["cols"] = 6
    return "round 5: expected a further round: the game is not over"


def fewer_cols(record: Record) -> str:
    record["cols"] = 4
    return "round 5: expected no further round: the game is over"


def starter_who_is_not_there(record: Record) -> str:
    record["rounds"][0]["starter"] = 4
    return "round 1: starter 4: allowed is 0-3"


def card_dealt_twice(record: Record) -> str:
    hands = record["rounds"][0]["hands"]
    hands[1][0] = hands[0][0]
    return "round 1: expected a possible deal: deal: card B3 is named twice"


FAULTS = [
    without_event,
    event_twice,
    events_exchanged,
    without_last_event,
    event_after_the_end,
    without_first_round,
    without_second_round,
    without_last_round,
    round_twice,
    more_cols,
    fewer_cols,
    starter_who_is_not_there,
    card_dealt_twice,
]


@pytest.mark.parametrize("fault", FAULTS)
def test_other_faults_are_found(fault: Change, command: Printed, tmp_path: Path) -> None:
    record = game(4)
    message = fault(record)
    path = write(tmp_path / "games.jsonl", [game(4, 2), record])
    status, out, err = command(path)
    assert (status, err, out.count("\n")) == (1, "", 1)
    assert out.startswith(f"{path}:2 v4-001 {message}")


LEGAL_ATTEMPTS = {
    "play": ("too_low", ("cards", "jersey")),
    "pass": ("pass_at_lead", ()),
    "steal": ("steal_no_cards", ("from",)),
    "give": ("give_too_few", ("to", "cards")),
    "choose_starter": ("choose_finished", ("starter",)),
    "reward": ("reward_no_such_player", ("to",)),
}


def attempt_before(record: Record, wanted: Wanted, reason: str, fields: Sequence[str]) -> str:
    """Put the attempt to do what is done next, said to be refused, before the first event that is wanted."""
    place, event = first(record, wanted)
    number, position = (int(part) for part in place.split()[1::2])
    attempt = {"seat": event["seat"], "refused": reason, "act": event["act"]} | {name: event[name] for name in fields}
    record["rounds"][number - 1]["events"].insert(position - 1, attempt)
    return place


@pytest.mark.parametrize("act", LEGAL_ATTEMPTS)
def test_a_legal_attempt_cannot_have_been_refused(act: str, command: Printed, tmp_path: Path) -> None:
    reason, fields = LEGAL_ATTEMPTS[act]
    record = game(2 if act == "reward" else 4)
    place = attempt_before(record, applied(act), reason, fields)
    path = write(tmp_path / "games.jsonl", [record])
    status, out, _ = command(path)
    assert (status, out) == (
        1,
        f"{path}:1 {record['id']} {place}: expected that it is legal, there stands refused {reason}\n",
    )


def test_declining_an_optional_swap_cannot_have_been_refused(command: Printed, tmp_path: Path) -> None:
    record = own(4, ODD_RULES, 2)
    place = attempt_before(record, applied("decline"), "steal_mandatory", ())
    path = write(tmp_path / "games.jsonl", [record])
    status, out, _ = command(path)
    assert (status, out.count("\n")) == (1, 1)
    assert out.startswith(f"{path}:1 seed-2 {place}: expected ")


@pytest.mark.parametrize(
    ("act", "fields", "reason"),
    [
        ("play", {"cards": ["N5"], "jersey": True}, "jersey_not_worn"),
        ("play", {"cards": ["H45", "R6", "N7"], "jersey": False}, "hare_in_combo"),
        ("play", {"cards": ["A1"], "jersey": False, "special": ["shark"]}, "legends_off"),
        ("pass", {}, "pass_at_lead"),
        ("steal", {"from": 1}, "wrong_phase"),
        ("decline", {}, "wrong_phase"),
        ("give", {"cards": ["N5"]}, "wrong_phase"),
        ("choose_starter", {"starter": 77}, "wrong_phase"),
        ("reward", {"to": -3}, "wrong_phase"),
    ],
)
def test_an_attempt_is_refused_for_its_reason(
    act: str, fields: Record, reason: str, command: Printed, tmp_path: Path
) -> None:
    record = game(4)
    record["rounds"][0]["events"].insert(0, {"seat": 0, "refused": reason, "act": act} | fields)
    assert command(write(tmp_path / "games.jsonl", [record]))[0] == 0


def test_the_first_fault_of_every_game_is_told(command: Printed, tmp_path: Path) -> None:
    records = [game(3, number) for number in (1, 2, 3)]
    for record in (records[0], records[2]):
        record["winner"] = 9
        record["rounds"][1]["round"] = record["rounds"][2]["round"] = 9
    path = write(tmp_path / "games.jsonl", records)
    status, out, err = command(path)
    assert (status, err) == (1, "")
    assert out.splitlines() == [
        f"{path}:1 v3-001 round 2: expected round 2, there stands 9",
        f"{path}:3 v3-003 round 2: expected round 2, there stands 9",
    ]


def test_a_file_with_a_fault_beside_a_true_one(command: Printed, tmp_path: Path) -> None:
    record = game(4)
    record["winner"] = 9
    bad, good = write(tmp_path / "bad.jsonl", [record]), write(tmp_path / "good.jsonl", [game(4)])
    for paths in ([bad, good], [good, bad]):
        status, out, err = command(*paths)
        assert (status, err, out.count("\n")) == (1, "", 2)
        assert f"{good}: 1 games, " in out
        assert f"{bad}:1 v4-001 result: " in out


def test_a_file_that_cannot_be_read_beside_one_with_a_fault(command: Printed, tmp_path: Path) -> None:
    record = game(4)
    record["winner"] = 9
    bad = write(tmp_path / "bad.jsonl", [record])
    status, out, err = command(tmp_path / "none.jsonl", bad)
    assert status == 2
    assert out.startswith(f"{bad}:1 v4-001 result: ")
    assert f"{tmp_path / 'none.jsonl'}:1: " in err


# Lines that are no record.


def assert_unreadable(result: tuple[int, str, str], path: Path, line: int, *fragments: str) -> None:
    """Check for exit status 2 and one line on stderr that names file and line."""
    status, out, err = result
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"velonimo_sim.replay: {path}:{line}: ")
    assert all(fragment in err for fragment in fragments), err


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_a_truncated_gzip_file(share: float, command: Printed, tmp_path: Path) -> None:
    data = gzip.compress("".join(json.dumps(game(4, number)) + "\n" for number in (1, 2, 3)).encode(), mtime=0)
    data = data[: int(len(data) * share)]
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(data)
    whole_lines = zlib.decompressobj(wbits=31).decompress(data).count(b"\n")
    assert_unreadable(command(path), path, whole_lines + 1, "gzip")


def test_a_gzip_header_alone(command: Printed, tmp_path: Path) -> None:
    path = tmp_path / "header.gz"
    path.write_bytes(gzip.compress(b"", mtime=0)[:4])
    assert_unreadable(command(path), path, 1, "gzip")


def test_a_damaged_gzip_file(command: Printed, tmp_path: Path) -> None:
    data = bytearray(gzip.compress(json.dumps(game(4)).encode() + b"\n", mtime=0))
    data[-6] ^= 0xFF
    path = tmp_path / "damaged.gz"
    path.write_bytes(data)
    assert_unreadable(command(path), path, 2, "gzip")


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": "v4-001", ',
        b"{'id': 'v4-001'}",
        b"velonimo",
        b"\xff\xfe{}",
        b'{"id": "\xe9"}',
        b"{} {}",
        b"[" * 100_000,
        b'{"id": ' + b"9" * 10_000 + b"}",
    ],
    ids=["cut off", "other quotes", "word", "byte order mark", "latin-1", "two values", "deep", "huge number"],
)
@pytest.mark.parametrize("is_gzip", [False, True])
def test_broken_json(line: bytes, is_gzip: bool, command: Printed, tmp_path: Path) -> None:
    data = json.dumps(game(4)).encode() + b"\n" + line + b"\n"
    path = tmp_path / "broken"
    path.write_bytes(gzip.compress(data, mtime=0) if is_gzip else data)
    assert_unreadable(command(path), path, 2, "no JSON")


@pytest.mark.parametrize("content", [[], [{}], 3, "x", None, True, [1, 2]])
def test_a_line_that_is_no_object(content: Any, command: Printed, tmp_path: Path) -> None:
    path = write(tmp_path / "games.jsonl", [game(4), content])
    assert_unreadable(command(path), path, 2, "JSON object")


@pytest.mark.parametrize("content", [b"", b"\n", b"  \n\n", gzip.compress(b"", mtime=0), gzip.compress(b"\n", mtime=0)])
def test_a_file_without_a_record(content: bytes, command: Printed, tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.write_bytes(content)
    assert_unreadable(command(path), path, 1, "no record")


def test_a_missing_file_and_a_folder(command: Printed, tmp_path: Path) -> None:
    assert_unreadable(command(tmp_path / "none"), tmp_path / "none", 1, "No such file")
    assert_unreadable(command(tmp_path), tmp_path, 1, "directory")


SAMPLES: dict[str, tuple[int, int, Callable[[Record], Record]]] = {
    "game": (4, 1, lambda record: record),
    "round": (4, 1, lambda record: record["rounds"][1]),
    "snapshot": (4, 1, lambda record: first(record, applied("snapshot"))[1]),
    "play": (4, 1, lambda record: first(record, applied("play"))[1]),
    "pass": (4, 1, lambda record: first(record, applied("pass"))[1]),
    "steal": (4, 1, lambda record: first(record, applied("steal"))[1]),
    "decline": (4, 0, lambda record: first(record, applied("decline"))[1]),
    "give": (4, 1, lambda record: first(record, applied("give"))[1]),
    "choose_starter": (4, 1, lambda record: first(record, applied("choose_starter"))[1]),
    "reward": (2, 1, lambda record: first(record, applied("reward"))[1]),
    "then": (4, 1, lambda record: first(record, applied("play"))[1]["then"]),
    "refused play": (4, 1, lambda record: first(record, refused("mixed"))[1]),
    "refused pass": (4, 2, lambda record: first(record, refused("pass_at_lead"))[1]),
    "refused steal": (4, 1, lambda record: first(record, refused("steal_self"))[1]),
    "refused give": (4, 1, lambda record: first(record, refused("give_duplicate"))[1]),
    "refused choose_starter": (4, 2, lambda record: first(record, refused("choose_self"))[1]),
    "refused reward": (2, 1, lambda record: first(record, refused("reward_no_such_player"))[1]),
}
OPTIONAL = {"exhaustive", "leader_flag", "leader_flag_after", "rules"}
each_sample = pytest.mark.parametrize("sample", SAMPLES)


def sample_of(name: str) -> tuple[Record, Record]:
    """Return a true record and the part of it that a test changes."""
    players, which, part = SAMPLES[name]
    record = game(players, which) if which else own(players, ODD_RULES, 2)
    return record, part(record)


def unreadable_fields(sample: str, spoil: Callable[[Record, str], None], path: Path, command: Printed) -> None:
    """Check that a record is unreadable once one field of a part is spoilt, field by field."""
    for field in list(sample_of(sample)[1]):
        if field in OPTIONAL or (sample == "refused give" and field == "to"):
            continue
        record, part = sample_of(sample)
        spoil(part, field)
        assert_unreadable(command(write(path, [record])), path, 1)


@each_sample
def test_a_missing_field(sample: str, command: Printed, tmp_path: Path) -> None:
    unreadable_fields(sample, lambda part, field: part.pop(field), tmp_path / "games.jsonl", command)


@each_sample
@pytest.mark.parametrize("value", [{"x": 1}, 0.5, [[None]]], ids=["object", "fraction", "list of a list"])
def test_a_field_of_a_wrong_type(sample: str, value: Any, command: Printed, tmp_path: Path) -> None:
    unreadable_fields(sample, lambda part, field: part.update({field: value}), tmp_path / "games.jsonl", command)


@each_sample
def test_a_field_that_does_not_exist(sample: str, command: Printed, tmp_path: Path) -> None:
    record, part = sample_of(sample)
    part["colour"] = "red"
    path = write(tmp_path / "games.jsonl", [game(4), record])
    assert_unreadable(command(path), path, 2)


WRONG_VALUES = [
    ("game", "players", 6, "players is 6"),
    ("game", "players", 1, "players is 1"),
    ("game", "players", True, "players is True"),
    ("game", "players", "4", "players is '4'"),
    ("game", "players", 3, "hands is not one a player"),
    ("game", "cols", 0, "cols is 0"),
    ("game", "cols", 11, "cols is 11"),
    ("game", "cols", 5.0, "cols is 5.0"),
    ("game", "legends", 1, "legends is 1"),
    ("game", "winner", "0", "winner is '0'"),
    ("game", "winner", False, "winner is False"),
    ("game", "rounds", [[]], "rounds is "),
    ("game", "rules", [], "rules is []"),
    ("round", "starter", None, "round 2: starter is None"),
    ("round", "starter_tie", 0, "round 2: starter_tie is 0"),
    ("round", "hands", [["B1"]] * 3, "round 2: hands is not one a player"),
    ("round", "points", [1, 2, 3], "round 2: points is not one a player"),
    ("round", "hands", [["B8"]] * 4, "round 2: hands is "),
    ("round", "hands", [["B1 B2"]] * 4, "round 2: hands is "),
    ("round", "pile", ["H26"], "round 2: pile is ['H26']"),
    ("play", "cards", ["N9"], "round 1 event 1: cards is ['N9']"),
    ("play", "cards", ["n5"], "round 1 event 1: cards is ['n5']"),
    ("play", "cards", "N5", "round 1 event 1: cards is 'N5'"),
    ("play", "drew", [5], "round 1 event 1: drew is [5]"),
    ("play", "jersey", None, "round 1 event 1: jersey is None"),
    ("play", "n_legal", True, "round 1 event 1: n_legal is True"),
    ("play", "exhaustive", False, "round 1 event 1: exhaustive is False"),
    ("play", "act", "ride", "round 1 event 1: act is 'ride'"),
    ("then", "seat", "1", "round 1 event 1: then is "),
    ("steal", "taken", ["Z1"], "taken is ['Z1']"),
    ("give", "cards", [None], "cards is [None]"),
    ("reward", "card", "X3", "card is 'X3'"),
    ("reward", "next_reward", 3, "next_reward is 3"),
    ("snapshot", "reward", "joker", "reward is 'joker'"),
    ("snapshot", "hands", [["B1", ""]], "hands is "),
    ("refused play", "cards", ["Q1"], "cards is ['Q1']"),
    ("refused play", "refused", None, "refused is None"),
    ("refused play", "act", "snapshot", "field 'hands' is missing"),
]


@pytest.mark.parametrize(("sample", "field", "value", "fragment"), WRONG_VALUES)
def test_a_value_that_no_record_can_hold(
    sample: str, field: str, value: Any, fragment: str, command: Printed, tmp_path: Path
) -> None:
    record, part = sample_of(sample)
    part[field] = value
    path = write(tmp_path / "games.jsonl", [game(4), game(2), record])
    assert_unreadable(command(path), path, 3, fragment)


@pytest.mark.parametrize(
    ("rules", "fragment"),
    [({"tortoise": "off"}, "tortoise"), ({"hand_size": 99}, "hand_size=99"), ({"col_values": []}, "col_values=()")],
)
@pytest.mark.parametrize("show", [(), ("--show", "seed-2")])
def test_impossible_rules(rules: Record, fragment: str, show: Sequence[str], command: Printed, tmp_path: Path) -> None:
    record = own(4, ODD_RULES, 2)
    record["rules"] |= rules
    path = write(tmp_path / "games.jsonl", [game(4), record])
    assert_unreadable(command(path, *show), path, 2, fragment)


# Options.


@pytest.mark.parametrize(
    ("players", "number", "fault"),
    [
        (4, 9, "v4-009 round 4: expected starter 2, there stands 0"),
        (5, 27, "v5-027 round 3: expected jersey_after 4, there stands none"),
    ],
    ids=["starter", "jersey"],
)
def test_ties_are_broken_by_the_rules_named(
    players: int, number: int, fault: str, command: Printed, tmp_path: Path
) -> None:
    """After col 3 of v4-009 the seats 0 and 2 share the lowest total, and 2 has just scored less than 0."""
    path = write(tmp_path / "games.jsonl", [game(players, number)])
    assert command(path)[0] == command(path, "--rules", "bga")[0] == 0
    assert command(path, "--rules", "official") == (1, f"{path}:1 {fault}\n", "")


def test_the_rules_of_a_record_are_its_own_unless_others_are_named(command: Printed, tmp_path: Path) -> None:
    path = write(tmp_path / "games.jsonl", [own(4, RuleSet(jersey_bonus=30), 1)])
    assert command(path)[0] == 0
    assert command(path, "--rules", "official")[0] == 1


def test_an_unknown_preset(command: Printed) -> None:
    status, out, err = command(DATA / "visible_2p.jsonl.gz", "--rules", "offical")
    assert (status, out) == (2, "")
    assert err == (
        "velonimo_sim.replay: unknown rules preset 'offical': there are official, bga; did you mean 'official'?\n"
    )


@pytest.mark.parametrize(
    ("arguments", "fragment"), [([], "FILE"), (["--rules"], "--rules"), (["a", "--verbose"], "--verbose")]
)
def test_bad_arguments(arguments: Sequence[str], fragment: str, command: Printed) -> None:
    status, out, err = command(*arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("velonimo_sim.replay: ")
    assert fragment in err


def told(event: Record) -> list[str]:
    """Return words that the line about an event must have."""
    words = [f"seat {event['seat']}"]
    if "refused" in event:
        return [*words, "refused", event["refused"]]
    words += [" ".join(event[name]) for name in ("cards", "taken", "drew") if name in event]
    words += [f"= {event['value']}"] if event["act"] == "play" else []
    words += ["Jersey"] if event.get("jersey") else []
    words += ["out " + ("first", "second", "third", "fourth")[event["rank"] - 1]] if event.get("rank") else []
    words += [f"seat {event[name]}" for name in ("from", "starter") if name in event]
    words += [event["card"]] if event["act"] == "reward" else []
    verbs = {"pass": "passes", "decline": "declines", "steal": "takes", "give": "gives", "choose_starter": "lead"}
    return [*words, verbs.get(event["act"], "")]


@pytest.mark.parametrize(("players", "which"), [(2, 1), (3, 1), (4, 1), (5, 1), (4, 0), (2, 0)])
def test_show_tells_every_move(players: int, which: int, command: Printed, tmp_path: Path) -> None:
    record = game(players, which) if which else own(players, ODD_RULES, 2)
    path = write(tmp_path / "games.jsonl", [game(5, 2), record, game(5, 3)])
    status, out, err = command(path, "--show", record["id"])
    assert (status, err) == (0, "")
    lines = iter(out.splitlines())
    for one_round in record["rounds"]:
        assert next(line for line in lines if line.startswith(f"col {one_round['round']}, "))
        hands = [next(lines) for _ in range(players)]
        assert all(" ".join(hand) in line for hand, line in zip(one_round["hands"], hands, strict=True))
        if one_round["pile"]:
            assert one_round["pile"][0] in next(lines)
        for event in one_round["events"]:
            if event["act"] != "snapshot":
                line = next(lines)
                assert [word for word in told(event) if word not in line] == [], line
        assert next(lines).split(": ")[1:] == [
            *(f"{points}, seat {seat}" for seat, points in enumerate(one_round["points"][:-1], 1)),
            str(one_round["points"][-1]),
        ]
        assert next(lines).endswith(str(one_round["totals"][-1]))
    assert list(lines) == [f"winner: seat {record['winner']}"]


def test_show_finds_a_game_in_a_later_file(command: Printed, tmp_path: Path) -> None:
    files = [write(tmp_path / str(number), [game(4, number)]) for number in (1, 2)]
    status, out, _ = command(*files, "--show", "v4-002")
    assert status == 0
    assert out.startswith("v4-002: 4 players, 5 cols\n")


def test_show_stops_at_a_fault(command: Printed, tmp_path: Path) -> None:
    record = game(4)
    record["rounds"][1]["starter"] = 9
    path = write(tmp_path / "games.jsonl", [record])
    status, out, _ = command(path, "--show", "v4-001")
    assert status == 1
    assert out.splitlines()[-1] == f"{path}:1 v4-001 round 2: expected starter 2, there stands 9"
    assert "col 1, 1 a place" in out


@pytest.mark.parametrize("name", ["v4-999", "", "v4-00"])
def test_show_of_an_unknown_game(name: str, command: Printed) -> None:
    status, out, err = command(DATA / "visible_4p.jsonl.gz", "--show", name)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"velonimo_sim.replay: --show {name}: no such game in ")


def test_show_of_a_game_with_legends(command: Printed) -> None:
    status, out, err = command(DATA / "legends_visible.jsonl.gz", "--show", "lv-001")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "lv-001" in err
    assert "Legends" in err


def test_show_of_a_file_that_cannot_be_read(command: Printed, tmp_path: Path) -> None:
    path = write(tmp_path / "games.jsonl", [game(4), []])
    assert_unreadable(command(path, "--show", "v4-002"), path, 2, "JSON object")


def test_an_interrupt(command: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(replay, "verify_file", interrupted)
    status, out, err = command("games.jsonl")
    assert (status, out, err.count("\n")) == (130, "", 1)


@pytest.mark.parametrize("show", [[], ["--show", "v2-001"]])
def test_a_pipe_that_nobody_reads(show: list[str]) -> None:
    """The end to read from is closed before the command starts."""
    reader, writer = os.pipe()
    os.close(reader)
    arguments = [*COMMAND, str(DATA / "visible_2p.jsonl.gz"), *show]
    done = subprocess.run(arguments, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")


def test_the_command_itself_leaves_with_the_status(tmp_path: Path) -> None:
    for arguments, status in (([str(DATA / "visible_3p.jsonl.gz")], 0), ([str(tmp_path / "none")], 2)):
        done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == status
        assert (done.stdout + done.stderr).count("\n") == 1


def test_a_game_without_rounds_is_no_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(json.dumps(recorded_games(3)[0] | {"rounds": []}), encoding="utf-8")
    assert replay.main([str(path)]) == 2
    assert capsys.readouterr().err == f"velonimo_sim.replay: {path}:1: rounds: a game has one at least\n"
