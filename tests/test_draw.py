"""Views, games and recorded games draw themselves: what a seat may see stands there, and no hidden card does."""

import copy
import json
import pickle
import random
import re
from collections.abc import Iterator
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from conftest import DATA, recorded_games
from drawings import Record, backs_of, cards_of, centre_of, having, read, seats_of, text_of
from velonimo_sim import Game, RuleSet, new_game
from velonimo_sim.game_records import read_records, write_records
from velonimo_sim.velonimo.cards import TEAMS
from velonimo_sim.velonimo.describe import describe_view, tell_view
from velonimo_sim.velonimo.draw import DrawnRecord, DrawnView, draw_record, draw_view
from velonimo_sim.velonimo.frames import Play, attack_of
from velonimo_sim.velonimo.narrate import narrate
from velonimo_sim.velonimo.record_format import rules_of
from velonimo_sim.velonimo.view import MAX_LOGGED

each_players = pytest.mark.parametrize("players", [2, 3, 4, 5])
ODD_RULES = RuleSet(tortoise_swap="optional", jersey_bonus=20, hand_size=9, col_values=(2, 1, 2), duel_target=None)


def steps(players: int, seed: int = 5, rules: RuleSet | None = None) -> Iterator[tuple[Game, str]]:
    """Play a game at random; yield it with the chosen move before each move, and at its end with none."""
    chance, game = random.Random(seed), new_game(players, seed, rules)
    while game.turn is not None:
        move = chance.choice(game.legal_moves())
        yield game, move
        game.play(move)
    yield game, ""


def at_phase(phase: str) -> Game:
    """Return a random game that has come to a phase."""
    for players, seed in ((2, 1), (4, 1), (4, 2)):
        for game, _ in steps(players, seed):
            if game.phase == phase:
                return game
    raise AssertionError(f"no game came to {phase}")


# A view.


@each_players
@pytest.mark.parametrize("rules", [None, ODD_RULES], ids=["official", "odd"])
def test_a_view_shows_what_its_seat_knows_of_every_hand_v22(players: int, rules: RuleSet | None) -> None:
    for number, (game, _) in enumerate(steps(players, rules=rules)):
        view = game.view(number % players)
        seats = seats_of(read(view._repr_html_()))
        assert list(seats) == [(view["seat"] + place) % players for place in range(players)]
        for seat, drawn in seats.items():
            known = view["hand"] if seat == view["seat"] else view["known"][seat]
            assert cards_of(drawn) == known
            assert backs_of(drawn) == view["sizes"][seat] - len(known)


@each_players
def test_a_view_shows_no_hidden_card_v28(players: int) -> None:
    for number, (game, _) in enumerate(steps(players)):
        view = game.view(number % players)
        public = {card for play in attack_of(view) for card in play.cards} | {view["reward"]}
        known = {card for cards in view["known"].values() for card in cards}
        assert set(cards_of(read(view._repr_html_()))) == (public | known | set(view["hand"])) - {None}


@each_players
def test_a_view_shows_how_each_seat_stands(players: int) -> None:
    marks = set()
    for game, _ in steps(players, seed=8):
        view = game.view(0)
        for seat, drawn in seats_of(read(view._repr_html_())).items():
            size, total = view["sizes"][seat], view["totals"][seat]
            head = f"Seat {seat} {size} card{'s' if size != 1 else ''} {total} point{'s' if total != 1 else ''}"
            assert text_of(drawn).startswith(head)
            expected = ["to act"] if view["turn"] == seat else []
            expected += ["Jersey"] if view["wearer"] == seat else []
            expected += [f"passed on {view['passed_on'][seat]}"] if view["passed_on"][seat] else []
            if view["out_order"][seat]:
                place = "out " + ("first", "second", "third", "fourth", "")[view["out_order"][seat] - 1]
                expected.append(f"{'last' if size else place}, +{view['points'][seat]}")
            found = [text_of(mark) for mark in having(drawn, "mark")]
            assert found == expected
            assert bool(having(drawn, "spent")) == (view["wearer"] == seat and view["jersey_spent"])
            marks |= {mark.split(" ")[0] for mark in found}
    assert marks == {"to", "out", "last,", "Jersey"} | ({"passed"} if players > 2 else set())


@each_players
@pytest.mark.parametrize("rules", [None, ODD_RULES], ids=["official", "odd"])
def test_the_attack_is_read_out_of_the_log(players: int, rules: RuleSet | None) -> None:
    """Kept beside the game: every play since the last that was made on nothing."""
    played: list[Play] = []
    for seed in range(3):
        for game, move in steps(players, seed, rules):
            view = game.view(0)
            if len(view["log"]) < MAX_LOGGED:
                assert attack_of(view) == (played if view["beat"] else [])
            words = move.split()
            if game.phase in ("lead", "follow") and move != "pass":
                after = copy.deepcopy(game)
                after.play(move)
                played = [] if game.phase == "lead" else played
                cards = [word for word in words if word != "+jersey"]
                value = value_by_hand(cards) + (game.rules.bonus(players) if "+jersey" in words else 0)
                played = [*played, Play(view["turn"], sorted(cards), "+jersey" in words, value)]


def value_by_hand(cards: list[str]) -> int:
    """Return what cards are worth without the Jersey (V6, V7)."""
    lowest = min(int(card[1:]) for card in cards)
    return lowest if len(cards) == 1 else 10 * len(cards) + lowest


def test_the_attack_stands_in_the_centre_with_who_played_what_on_what() -> None:
    for game, _ in steps(5, 3):
        view = game.view(0)
        attack, centre = attack_of(view), centre_of(read(view._repr_html_()))
        shown = having(centre, "before") + having(centre, "standing")
        assert [cards_of(play) for play in shown] == [play.cards for play in attack]
        for play, line in zip(attack, shown, strict=True):
            assert text_of(line).endswith(f"= {play.value} by seat {play.seat}")
            assert ("+ Jersey" in text_of(line)) == play.jersey


def test_a_log_that_is_full_leaves_the_value_to_beat() -> None:
    game = next(game for game, _ in steps(4) if game.phase == "follow")
    view = game.view(0)
    view["log"] = [(0, "pass")] * MAX_LOGGED
    assert attack_of(view) == []
    (standing,) = having(centre_of(read(draw_view(view))), "standing")
    assert text_of(standing) == f"{view['beat']} by seat {view['author']}"


@pytest.mark.parametrize(
    ("phase", "words"),
    [
        ("lead", "seat {turn} leads an attack"),
        ("follow", "seat {turn} plays higher, or passes"),
        ("swap", "seat {turn} names whom to swap with"),
        ("give", "seat {turn} gives back {swap_count} to seat {swap_victim}"),
        ("next_leader", "seat {turn} is out, and names who leads"),
        ("reward", "seat {turn} keeps the reward, or forces it on the other"),
    ],
)
def test_every_phase_says_who_decides_what(phase: str, words: str) -> None:
    view = at_phase(phase).view(0)
    (prompt,) = having(centre_of(read(view._repr_html_())), "prompt")
    assert text_of(prompt) == words.format_map(view)


@each_players
def test_the_end_of_a_game_names_the_winner(players: int) -> None:
    *_, (game, _) = steps(players)
    (prompt,) = having(centre_of(read(game._repr_html_())), "prompt")
    assert text_of(prompt) == f"game over: seat {game.winner} has won"


def test_a_duel_shows_reward_and_pile_v23() -> None:
    seen = set()
    for game, _ in steps(2, 4):
        view = game.view(0)
        (line,) = having(centre_of(read(view._repr_html_())), "reward")
        assert cards_of(line) == ([view["reward"]] if view["reward"] else [])
        assert text_of(line).startswith("reward" if view["reward"] else "no reward")
        assert text_of(line).endswith(f"{view['pile_size']} card{'s' if view['pile_size'] != 1 else ''} in the pile")
        seen.add(view["reward"] is None)
    assert False in seen


def test_a_table_of_three_has_no_pile() -> None:
    assert having(read(new_game(3)._repr_html_()), "reward") == []


@pytest.mark.parametrize(("players", "size"), [(2, 27), (5, 11), (2, 1)])
def test_hands_of_any_size(players: int, size: int) -> None:
    game = new_game(players, 1, RuleSet(hand_size=size))
    seats = seats_of(read(game._repr_html_()))
    assert [len(cards_of(seats[seat])) for seat in range(players)] == [size] + [0] * (players - 1)
    assert [backs_of(seats[seat]) for seat in range(players)] == [0] + [size] * (players - 1)


# The looks.


def style() -> str:
    return (files("velonimo_sim") / "templates" / "table.css").read_text(encoding="utf-8")


def brightness(colour: str) -> float:
    """Return the relative luminance of a colour, as the guidelines for accessible pages define it."""
    digits = "".join(2 * digit for digit in colour[1:]) if len(colour) == 4 else colour[1:]
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("team", [*TEAMS, "H"])
def test_the_text_of_a_card_stands_out_from_its_colour(team: str) -> None:
    (colours,) = re.findall(rf"\.team-{team} {{ color: (#\w+); background: (#\w+);", style())
    dark, light = sorted(brightness(colour) for colour in colours)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_a_card_says_its_team_by_a_letter_and_a_hare_has_a_shape_of_its_own() -> None:
    game = next(game for game, _ in steps(4) if {card[0] for card in game.view(0)["hand"]} >= {"H", "G"})
    cards = {"".join(card.itertext()): card for card in having(read(game.view(0)._repr_html_()), "card")}
    assert all(f"team-{name[0]}" in card.get("class", "") for name, card in cards.items())
    assert "border-radius" in style().partition(".team-H {")[2].partition("}")[0]


@pytest.mark.parametrize(
    "drawn", [new_game(4), new_game(2).view(1), new_game(3).record()], ids=["game", "view", "record"]
)
def test_a_drawing_needs_nothing_from_elsewhere(drawn: Any) -> None:
    assert re.findall(r"https?:|src=|href=|url\(|@import|<script", drawn._repr_html_()) == []


# A view is still the dict that it was.


def test_a_view_is_equal_to_its_dict_and_keeps_so_through_json_and_pickle() -> None:
    view = new_game(4, 7).view(2)
    plain = dict(view)
    assert view == plain
    assert json.loads(json.dumps(view)) == json.loads(json.dumps(plain))
    again = pickle.loads(pickle.dumps(view))
    assert (type(again), again) == (DrawnView, plain)


def test_plain_bots_are_handed_a_plain_dict() -> None:
    game = new_game(4, 7)
    assert type(describe_view(game.state["view"], game.rules.to_dict())) is dict


@each_players
def test_a_view_prints_as_its_game_does_and_says_whose_hand_it_is(players: int) -> None:
    for game, _ in islice(steps(players), 40):
        for seat in range(players):
            *table, hand = repr(game.view(seat)).splitlines()
            assert table == repr(game).splitlines()[:-1]
            whose = "hand" if seat == game.turn else f"hand of seat {seat}"
            assert hand == f"{whose}: {' '.join(game.view(seat)['hand']) or 'none'}"


def test_a_game_shows_the_table_as_the_seat_to_act_sees_it() -> None:
    for game, _ in islice(steps(4), 40):
        assert game.turn is not None
        assert repr(game) == tell_view(game.view(game.turn))
        assert game._repr_html_() == game.view(game.turn)._repr_html_()


# A record.


def finished(players: int) -> Game:
    *_, (game, _) = steps(players)
    return game


@each_players
def test_a_record_prints_as_it_is_told(players: int) -> None:
    record = finished(players).record()
    assert repr(record).splitlines() == list(narrate(record, rules_of(record, None)))


@each_players
def test_a_record_shows_points_per_col_totals_and_every_move(players: int) -> None:
    record = finished(players).record()
    drawn = read(record._repr_html_())
    header, *rows = [[text_of(cell) for cell in row] for row in drawn.iter("tr")]
    assert header == ["col", *map(str, range(1, 6)), "total"]
    for seat, row in enumerate(rows):
        points = [str(part["points"][seat]) for part in record["rounds"]]
        total = str(record["rounds"][-1]["totals"][seat])
        assert row == [f"seat {seat}", *points, *["·"] * (5 - len(points)), total]
    told = [line.strip() for line in repr(record).splitlines() if re.match(r"  seat \d (?!holds)", line)]
    moves = [text_of(line) for line in drawn.iter("li") if line.get("value") != "0"]
    assert moves == told


def test_the_last_table_of_a_record_has_all_hands_open() -> None:
    game = finished(4)
    seats = seats_of(read(game.record()._repr_html_()))
    assert {seat: cards_of(drawn) for seat, drawn in seats.items()} == {
        seat: game.view(seat)["hand"] for seat in range(4)
    }


@pytest.mark.parametrize("moves", [0, 1, 30])
def test_a_game_under_way_is_said_not_to_be_over(moves: int) -> None:
    game = next(islice(steps(3), moves, None))[0]
    record = game.record()
    assert repr(record).splitlines()[-1] == "the game is not over"
    assert ": the game is not over" in text_of(read(record._repr_html_()))
    assert len(list(read(record._repr_html_()).iter("li"))) == moves + 1


def faulty(number: int, field: str, value: object) -> Record:
    record = recorded_games(4)[0]
    record["rounds"][number][field] = value
    return record


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        (faulty(1, "starter", 9), "round 2: expected starter 2, there stands 9"),
        (faulty(0, "starter", 9), "round 1: starter 9: allowed is 0-3 with 4 players"),
    ],
)
def test_a_record_with_a_fault_is_drawn_as_far_as_it_holds_and_says_the_fault(record: Record, fault: str) -> None:
    assert repr(DrawnRecord(record)).splitlines()[-1] == fault
    assert fault in text_of(read(draw_record(record)))


def test_records_of_a_file_draw_themselves_and_those_with_legends_stay_dicts(tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    write_records(path, [finished(3).record()])
    ((_, record),) = read_records(path)
    assert (type(record), record) == (DrawnRecord, finished(3).record())
    assert pickle.loads(pickle.dumps(record)) == json.loads(path.read_text())
    assert "seat 0 holds" in repr(record)
    assert {type(record) for _, record in read_records(DATA / "legends_visible.jsonl.gz")} == {dict}


def test_what_a_record_says_is_no_markup() -> None:
    record = finished(3).record()
    record["id"] = "<b>bold</b> & co"
    drawn = record._repr_html_()
    assert "<b>bold" not in drawn
    assert text_of(read(drawn)).count("<b>bold</b> & co: ") == 1
