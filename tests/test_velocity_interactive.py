"""Races played by hand: what a ``Game`` tells, what it refuses, and that it is the race of the engine."""

import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from velonimo_sim import velocity
from velonimo_sim.errors import IllegalMoveError, UsageError
from velonimo_sim.game_records import read_records, write_records
from velonimo_sim.velocity import Course, Dice, Game, RuleSet, new_game
from velonimo_sim.velocity.playout import open_table
from velonimo_sim.velocity.policies import parse_bot
from velonimo_sim.velocity.record import replay
from velonimo_sim.velocity.recreate import recreate
from velonimo_sim.velocity.state import equal, validate


def played(players: int, seed: int, rules: RuleSet | None = None, moves: int | None = None) -> Game:
    """Return a race played at random, to its end or for so many moves."""
    chance = random.Random(seed)
    game = new_game(players, seed, rules)
    while game.turn is not None and moves != 0:
        game.play(chance.choice(game.legal_moves()))
        moves = None if moves is None else moves - 1
    return game


def test_a_race_begins_in_the_car_park() -> None:
    """C1, C2, C4: four couriers each with four players, no cans, the car park before space 35."""
    game = new_game(4, seed=1, starter=2)
    assert (game.players, game.turn, game.phase, game.winner) == (4, 2, "ride", None)
    assert game.couriers == [[36] * 4] * 4
    assert (game.cans, game.finish) == ([0] * 4, [])
    assert game.legal_moves() == ["solo", "pack park"]


@pytest.mark.parametrize("players", range(3, 8))
def test_a_race_is_played_to_its_end(players: int) -> None:
    game = played(players, seed=players)
    assert (game.turn, game.phase, game.legal_moves()) == (None, "game_over", [])
    assert validate(game.state) == []
    most = max(range(players), key=game.finish.count)
    assert game.finish.count(game.winner) == game.finish.count(most)
    with pytest.raises(IllegalMoveError, match=r"'solo': the race is over \(C18\)"):
        game.play("solo")


def test_what_it_tells_is_what_the_view_of_any_seat_tells() -> None:
    game = played(5, seed=3, moves=150)
    for seat in range(5):
        view = game.view(seat)
        assert view["seat"] == seat
        assert [view[name] for name in ("couriers", "cans", "finish", "turn", "phase")] == [
            game.couriers,
            game.cans,
            game.finish,
            game.turn,
            game.phase,
        ]
        assert view["rules"] == RuleSet().in_force(5)
        assert dict(view) == view


def test_the_same_seed_throws_the_same_dice_and_another_one_others() -> None:
    assert played(4, seed=5).record() == played(4, seed=5).record()
    rides = [new_game(4, seed=seed) for seed in range(20)]
    for game in rides:
        game.play("pack park")
    assert len({tuple(game.view(0)["dice"].values()) for game in rides}) > 1


def test_the_dice_are_those_of_game_0_of_a_run_with_that_seed() -> None:
    table = open_table([parse_bot("random")] * 3, RuleSet(), np.array([[0, 1, 2]], np.int8), seed=9)
    record, _, _ = recreate(table, 0)
    game = new_game(3, seed=9)
    for event in record["events"]:
        if "move" in event:
            game.play(event["move"])
    assert game.record() == record | {"id": "seed-9"}


def test_a_refused_move_changes_nothing() -> None:
    game = played(4, seed=2, moves=30)
    for move in ("sprint", "solo breakaway now", "follow" if game.phase != "slipstream" else "pay", 3):
        before, record = game.state.tobytes(), game.record()
        with pytest.raises(IllegalMoveError):
            game.play(move)  # type: ignore[arg-type]
        assert (game.state.tobytes(), game.record()) == (before, record)


def test_a_refused_move_names_the_rule() -> None:
    game = new_game()
    with pytest.raises(IllegalMoveError, match=r"'solo refuel': the player has not so many cans \(C6\)"):
        game.play("solo refuel")


def test_the_record_of_a_race_is_verified_and_written(tmp_path: Path) -> None:
    game = played(6, seed=4, rules=RuleSet(breakaway_sum_finishes=True))
    path = tmp_path / "race.jsonl.gz"
    write_records(path, [game.record()])
    ((number, record),) = read_records(path)
    assert (number, record) == (1, game.record())
    *_, (_, _, last) = replay(record, game.rules)
    assert equal(last, game.state)


def test_the_record_of_a_race_that_goes_on_tells_so() -> None:
    game = played(4, seed=2, moves=25)
    record = game.record()
    assert (record["winner"], record["ended_by"], record["couriers"]) == (None, None, game.couriers)
    assert repr(record).splitlines()[-1] == "the game is not over"
    game.play(game.legal_moves()[0])
    assert record != game.record()


def test_it_prints_as_the_view_of_the_seat_to_act() -> None:
    game = new_game(3, seed=1)
    assert repr(game) == repr(game.view(0)) == str(game.view(0))
    assert repr(game).splitlines() == [
        "VeloCity, 3 players, turn 1, 15 cans in the supply",
        "> red    park park park park, 0 cans",
        "  black  park park park park, 0 cans",
        "  yellow park park park park, 0 cans",
        "red to act: ride",
    ]
    assert repr(played(3, seed=1)).splitlines()[-1].startswith("race over by third courier: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"players": 2}, "players 2: allowed is 3-7"),
        ({"players": 8}, "players 8: allowed is 3-7"),
        ({"seed": -1}, r"seed -1: allowed is an integer 0 to 2\*\*63 - 1"),
        ({"seed": 0.5}, r"seed 0\.5: allowed is an integer"),
        ({"starter": 4}, "starter 4: allowed is 0-3 with 4 players"),
        ({"rules": "bga"}, "unknown rules preset 'bga': there are official"),
        ({"rules": {"cans": 3}}, "rules {'cans': 3}: allowed is a RuleSet"),
    ],
)
def test_what_cannot_be_is_refused(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}"):
        new_game(**arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("seat", [-1, 4, None, "red"])
def test_a_seat_that_is_not_there_has_no_view(seat: object) -> None:
    with pytest.raises(UsageError, match=f"seat {seat}: allowed is 0-3"):
        new_game().view(seat)  # type: ignore[arg-type]


def test_own_courses_and_dice_are_raced_on() -> None:
    course = Course("lane", 6, supply=(4,), obstacle=(2,), route=(6, 5, 3, 1))
    dice = Dice("twos", energy=(1,), teams=((2,),) * 7)
    game = new_game(3, rules=RuleSet(course=course, dice=dice))
    game.play("solo")
    game.play("red from park")
    assert game.couriers[0] == [7, 7, 7, 5]


# The names of the package.


def test_the_names_of_the_package_resolve_and_load_when_they_are_used() -> None:
    names = {"Course", "Dice", "Game", "RuleSet", "new_game"}
    assert set(velocity.__all__) == names
    assert {getattr(velocity, name).__name__ for name in names} == names
    assert set(dir(velocity)) >= names
    with pytest.raises(AttributeError, match=r"module 'velonimo_sim\.velocity' has no attribute 'newgame'"):
        _ = velocity.newgame
    script = "import sys, velonimo_sim.velocity; print({'numpy', 'numba'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
