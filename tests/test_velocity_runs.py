"""VeloCity through the whole runner: tournaments, resuming, bots of one's own, faults, rules from files, bad input."""

import json
import math
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from runs import (
    Said,
    assert_one_line,
    assert_same_rows,
    contents,
    frame,
    kill_when,
    killed_everywhere,
    manifest,
    play,
    said_by,
)
from velocity_averages import BOTS as AVERAGED_BOTS
from velocity_averages import PLAYERS, SEED, SPENT, average_race, recorded
from velonimo_sim import check_bot, match, records, replay, report, run_tournament
from velonimo_sim.analysis.runs import load
from velonimo_sim.velocity import Course, Dice
from velonimo_sim.velocity.view import End

GAME = ("--game", "velocity")
QUIET = ("--seed", "4", "--workers", "1", "--quiet")
THREE = ("greedy", "random", "saver")
RUN = (*GAME, "--bots", *THREE, *QUIET)
FIVE = ("greedy", "random", "saver", "random", "greedy")

MINE = """
import numpy as np
from velonimo_sim import compiled_bot, kernel
from velonimo_sim.velocity.legal import count_moves, nth_move

@compiled_bot("last", "takes the last move of the list", game="velocity")
def last(view, scratch, stream):
    return nth_move(view, count_moves(view) - 1)

class First:
    game = "velocity"

    def choose(self, view, moves, rng):
        return moves[0]

class Counting:
    game = "velocity"

    def choose(self, view, moves, rng):
        assert view["supply"] + sum(view["cans"]) == view["rules"]["cans"]
        assert max(map(len, view["couriers"])) <= view["rules"]["couriers"]
        return moves[0]

class Faulty:
    game = "velocity"

    def choose(self, view, moves, rng):
        return "follow" if view["phase"] == "ride" and rng.random() < 0.1 else rng.choice(moves)

class Late:
    game = "velocity"

    def choose(self, view, moves, rng):
        import time
        if view["phase"] == "die" and view["turns"] >= 6:
            time.sleep(0.03)
        return moves[0]
"""

COURSE = """
name = "lane"
is_reconstruction = false
length = 12
supply = [10, 6]
obstacle = [9, 7, 4, 1]
route = [12, 11, 8, 5, 3, 2]
from_examples = []
"""
DICE = """
name = "odd"
team = [1, 2, 3]
energy = [1, 2]
blue = [2]
"""


@pytest.fixture(autouse=True)
def _in_a_folder_with_bots_and_courses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(match, "CHUNK_SECONDS", 1e-9)
    monkeypatch.setattr(records, "SHARD_GAMES", 6)
    Path("mine.py").write_text(MINE)
    Path("lane.toml").write_text(COURSE)
    Path("odd.toml").write_text(DICE)


def played(*arguments: str, out: str = "run") -> Said:
    said = play(*arguments, "--out", out)
    assert (said.status, said.err) == (0, ""), said
    return said


def test_a_plain_bot_is_shown_the_rules_as_they_are_with_so_many_players() -> None:
    played(*GAME, "--bots", "mine.py:Counting", "greedy", "greedy", *QUIET, "--games", "3")
    assert check_bot.check_bot("mine.py:Counting", 20, game="velocity").findings == ()


# The rows.


def assert_whole(folder: str, games: int, players: int) -> None:
    """Check that a run holds so many races, each whole and once, and nothing half done."""
    assert frame(folder)["game_id"].tolist() == np.repeat(np.arange(games), players).tolist()
    assert frame(folder, "races")["game_id"].tolist() == list(range(games))
    assert not [path.name for path in Path(folder).iterdir() if path.name.startswith("_")]


@pytest.mark.parametrize("players", PLAYERS)
def test_the_rows_of_a_tournament_agree_with_each_other(players: int) -> None:
    bots = (*FIVE, "rollout:n=1", "saver")[:players]
    rules = ("--rule", "start_cans=1,0,2")
    played(*GAME, "--bots", *bots, *rules, *QUIET, "--games", str(3 * players))
    seats, races = frame("run"), frame("run", "races")
    games = len(races)
    assert_whole("run", games, players)
    assert games % players == 0
    spent = seats[list(SPENT)].sum(axis=1)
    got = seats["cans_at_start"] + seats["supplied"] + seats["compensated"]
    assert (got - spent - seats["lost"]).tolist() == seats["cans_left"].tolist()
    rides = seats[["solo", "refuel", "breakaway", "pack", "pack_refuel"]].sum(axis=1)
    assert rides.tolist() == seats["turns"].tolist()
    assert (seats["on_refuel"] == seats["refuel"] + seats["pack_refuel"]).all()
    assert (seats["on_breakaway"] == 2 * seats["breakaway"]).all()
    assert (seats["sent_to_park"] <= seats["moved_back"]).all()
    assert seats["cans_at_start"].tolist() == [[1, 0, 2, 0, 0, 0, 0][seat] for seat in range(players)] * games
    for race in races.to_dict("records"):
        assert_race(race, seats[seats["game_id"] == race["game_id"]])


def assert_race(race: dict[str, Any], seats: pd.DataFrame) -> None:
    """Check one race against the rows of its seats."""
    total = int(seats["total"].sum())
    assert sorted(seats["place"]) == list(range(1, len(seats) + 1))
    assert (race["turns"], race["in_finish"]) == (seats["turns"].sum(), total)
    assert seats["won"].tolist() == [seat == race["winner"] for seat in seats["seat"]]
    assert race["bot"] == seats["bot"].tolist()[race["winner"]]
    finish_places = seats[["first_at", "second_at", "third_at"]].to_numpy()
    assert sorted(finish_places[finish_places > 0]) == list(range(1, total + 1))
    assert (finish_places > 0).sum(axis=1).tolist() == seats["total"].tolist()
    assert race["end"] == (End.THIRD_COURIER if seats["total"].max() == 3 else End.EIGHTH_PLACE)
    assert race["end"] == End.THIRD_COURIER or total == 8


def test_cans_that_are_taken_come_from_another_player() -> None:
    """C14: with few cans the supply runs dry, and all cans together stay as many as there are."""
    played(*GAME, "--bots", *FIVE, "--rule", "cans=3", *QUIET, "--games", "10")
    seats = frame("run")
    assert seats["lost"].sum() > 20
    assert (seats.groupby("game_id")["cans_left"].sum() <= 3).all()


def test_the_same_deal_throws_the_same_dice_under_every_seating() -> None:
    """Three like bots: whoever sits there, the race of a deal is the same."""
    played(*GAME, "--bots", *["greedy"] * 3, *QUIET, "--games", "12", "--seating", "permutations")
    races = frame("run", "races")
    by_deal = races.groupby("deal_id")[["turns", "decisions", "winner"]].nunique()
    assert (by_deal == 1).all(axis=None)
    assert races["turns"].nunique() > 1


def test_from_python_as_by_the_command() -> None:
    run_tournament("python", game="velocity", bots=list(THREE), games=12, seed=4, workers=1)
    played(*RUN, "--games", "12")
    assert_same_rows("python", "run")
    assert load("run").races["turns"].tolist() == frame("run", "races")["turns"].tolist()


def test_without_bots_the_game_s_own_play(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match, "CHUNK_SECONDS", 0.1)
    said = json.loads(played(*GAME, *QUIET, "--games", "4", "--json").out)
    assert manifest("run")["bots"] == ["rollout:n=20", "saver", "greedy", "random"]
    assert (said["games"], said["players"]) == (4, 4)


# Going on.


def test_a_run_that_was_killed_is_gone_on_with() -> None:
    played(*RUN, "--games", "60", out="whole")
    kill_when(lambda: list(Path().glob("run/games-*")), *RUN, "--games", "60000", "--out", "run")
    keep_the_first_shards(Path("run"), 5)
    said = play("--resume", "--games", "60", "--quiet", "--out", "run")
    assert said.status == 0
    assert_same_rows("run", "whole")
    assert_whole("run", 60, 3)


def keep_the_first_shards(folder: Path, shards: int) -> None:
    """Take away what was played beyond the first shards, so that there is something left to play."""
    for kind in ("games", "races"):
        for path in sorted(folder.glob(f"{kind}-*"))[shards:]:
            path.unlink()


@pytest.mark.slow
def test_a_run_killed_before_any_step_with_its_files_is_gone_on_with() -> None:
    played(*RUN, "--games", "6", out="whole")
    for line in killed_everywhere(*RUN, "--games", "6"):
        assert_same_rows(line["folder"], "whole")
        assert_whole(line["folder"], 6, 3)


def test_a_run_on_a_course_of_its_own_is_gone_on_with_when_the_file_is_gone() -> None:
    """The manifest holds the course and the dice themselves."""
    Path("config.toml").write_text(
        'game = "velocity"\nbots = ["greedy", "random", "saver"]\nseed = 4\ngames = 12\nquiet = true\n'
        'rule = { course = "lane.toml", dice = "odd.toml", pack_from_start = "off" }\n'
    )
    played("--config", "config.toml", out="whole")
    played("--config", "config.toml", "--games", "6")
    rules = manifest("run")["rules"]
    assert (rules["course"], rules["dice"]) == (Course.load("lane.toml").to_dict(), Dice.load("odd.toml").to_dict())
    assert rules["pack_from_start"] is False
    for path in ("lane.toml", "odd.toml"):
        Path(path).unlink()
    assert play("--resume", "--games", "12", "--quiet", "--out", "run").status == 0
    assert_same_rows("run", "whole")
    assert manifest("run")["options"]["rule"]["course"]["name"] == "lane"
    assert_one_line(play("--config", "config.toml", "--out", "other"), 2, "course lane.toml: cannot be read")


def test_another_course_is_another_run() -> None:
    played(*RUN, "--rule", "course=lane.toml", "--games", "6")
    Path("lane.toml").write_text(COURSE.replace("[10, 6]", "[10, 5]").replace("8, 5", "8, 6"))
    before = contents("run")
    said = play(*RUN, "--rule", "course=lane.toml", "--games", "12", "--resume", "--out", "run")
    assert_one_line(said, 2, "run: is another run: rules: course: supply: 1 is 6 in the run and 5 here")
    assert contents("run") == before


def test_a_run_of_another_game_is_not_gone_on_with() -> None:
    played(*RUN, "--rule", "course=lane.toml", "--games", "3")
    said = play("--game", "velonimo", "--resume", "--out", "run")
    assert (said.status, said.err) == (
        2,
        "velonimo_sim.tournament: --resume run: is a run of velocity, and not of velonimo\n",
    )


def test_rules_are_compared() -> None:
    said = json.loads(played(*RUN, "--games", "12", "--json", "--compare-rules", "pack_from_start=off").out)
    assert [manifest(f"run/{name}")["rules"]["pack_from_start"] for name in ("base", "variant")] == [True, False]
    assert {line["bot"] for line in said["changes"]} == set(THREE)
    with_packs, without = (frame(f"run/{name}")[["pack", "pack_refuel"]].sum(axis=None) for name in ("base", "variant"))
    assert with_packs > without


# Bots of one's own.


@pytest.mark.parametrize("bot", ["mine.py:last", "mine.py:First"])
def test_a_bot_from_a_file_plays_passes_the_check_and_its_games_are_recreated(bot: str) -> None:
    played(*GAME, "--bots", bot, "greedy", "random", *QUIET, "--games", "6")
    assert bot in manifest("run")["bots"]
    check = said_by(check_bot.main, bot, *GAME, "--positions", "60")
    assert (check.status, check.err) == (0, ""), check
    assert "nothing is hidden" in check.out
    recreated = [said_by(replay.main, "--run", "run", "--game", str(game)) for game in (0, 5)]
    for game, said in zip((0, 5), recreated, strict=True):
        assert (said.status, said.err) == (0, f"velonimo_sim.replay: game {game} is as it was recorded\n")
        assert json.loads(said.out)["game"] == "velocity"
    Path("all.jsonl").write_text("".join(said.out for said in recreated))
    assert said_by(replay.main, "all.jsonl").out.endswith("all facts hold\n")


def test_a_faulty_bot_is_named_forfeits_or_moves_at_random() -> None:
    arguments = (*GAME, "--bots", "mine.py:Faulty", "greedy", "random", *QUIET, "--games", "12")
    said = play(*arguments, "--on-fault", "raise", "--out", "raise")
    assert said.status not in (0, 2)
    assert "bot mine.py:Faulty: chose 'follow', which is illegal: it is not what has to be decided" in said.err
    for way in ("forfeit", "random"):
        assert play(*arguments, "--on-fault", way, "--out", way).status == 0
    forfeited, random = frame("forfeit"), frame("random")
    faulty = forfeited["fault"] != 0
    assert set(forfeited[faulty]["bot"]) == set(random[random["fault"] != 0]["bot"]) == {"mine.py:Faulty"}
    assert (forfeited[faulty]["place"] == 3).all()
    assert (forfeited[faulty]["faults"] == 1).all()
    assert random["faults"].max() > 1
    for rows, races in ((forfeited, frame("forfeit", "races")), (random, frame("random", "races"))):
        winners = rows[rows["won"]].set_index("game_id")["seat"]
        assert winners.tolist() == races["winner"].tolist()
    recreated = said_by(replay.main, "--run", "forfeit", "--game", "0")
    assert (recreated.status, recreated.err) == (0, "velonimo_sim.replay: game 0 is as it was recorded\n")


def test_who_takes_too_long_forfeits() -> None:
    arguments = (*GAME, "--bots", "mine.py:Late", "greedy", "greedy", *QUIET, "--games", "2", "--seating", "fixed")
    assert play(*arguments, "--time-limit", "10", "--on-fault", "forfeit", "--out", "run").status == 0
    rows = frame("run")
    assert set(rows[rows["bot"] == "mine.py:Late"]["fault"]) == {3}
    assert not rows[rows["bot"] != "mine.py:Late"]["fault"].any()


def test_the_command_in_a_report_plays_the_same_races_on_a_course_of_its_own() -> None:
    played(*RUN, "--rule", "course=lane.toml", "--rule", "pack_from_start=off", "--games", "3")
    Path("lane.toml").unlink()
    command = shlex.split(report.command_of(manifest("run")["options"]))
    played(*command[3:], "--workers", "1", "--quiet", out="again")
    assert_same_rows("run", "again")


def test_a_report_of_a_run_is_written() -> None:
    played(*RUN, "--games", "12")
    said = said_by(report.main, "run", "--out", "report.html")
    assert said.status == 0, said
    page = Path("report.html").read_text("utf-8")
    assert "VeloCity" in page
    assert all(bot in page for bot in THREE)


# Bad input.


ON_COURSE = (*GAME, "--rule", "course=bad.toml")
WITH_DICE = (*GAME, "--rule", "dice=bad.toml")
BAD_INPUT: dict[str, tuple[tuple[str, ...], str, str]] = {
    "2 players": ((*GAME, "--players", "2"), "", "players 2: allowed is 3-7"),
    "8 players": ((*GAME, "--players", "8"), "", "players 8: allowed is 3-7"),
    "8 bots": ((*GAME, "--bots", *["random"] * 8), "", "--bots names 8 bots, one a seat; players 8: allowed is 3-7"),
    "no supply": (
        ON_COURSE,
        re.sub(r"supply = .*", "supply = []", COURSE).replace("route = [12", "route = [6, 10, 12"),
        "bad.toml: course lane: has no supply space; needed is one at least",
    ),
    "a number twice": (ON_COURSE, COURSE.replace("route = [12, 11", "route = [12, 12, 11"), "space 12 stands twice"),
    "no such course": ((*GAME, "--rule", "course=none.toml"), "", "course none.toml: cannot be read"),
    "a course that is no JSON": ((*GAME, "--rule", "course={"), "", "rule course: is no JSON"),
    "a die without faces": (
        WITH_DICE,
        DICE.replace("energy = [1, 2]", "energy = []"),
        "dice odd: the energy die has 0 faces",
    ),
    "a bot of the other game": (
        (*GAME, "--bots", "advised", "random", "random"),
        "",
        "bot advised is a bot of velonimo: bots of velocity are random, greedy, saver, rollout",
    ),
    "a bot of the other game from a file": (
        (*GAME, "--bots", "bad.py:passes", "random", "random"),
        MINE.replace('"last"', '"passes"')
        .replace("def last", "def passes")
        .replace('game="velocity"', 'game="velonimo"'),
        "bot bad.py:passes is a bot of velonimo: bots of velocity are random",
    ),
    "an unknown game": (
        ("--game", "velocty"),
        "",
        "unknown game 'velocty': there are velonimo, velocity; did you mean",
    ),
    "an unknown option": ((*GAME, "--rule", "pack=off"), "", "unknown rule 'pack': there are pack_from_start, "),
    "a preset of the other game": ((*GAME, "--rules", "bga"), "", "unknown rules preset 'bga': there are official"),
    "cans that are not there": ((*GAME, "--rule", "start_cans=9,9,9"), "", "rule start_cans='9,9,9': allowed is"),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_answered_in_one_line(name: str) -> None:
    arguments, text, message = BAD_INPUT[name]
    for file in ("bad.toml", "bad.py"):
        Path(file).write_text(text)
    said = play(*arguments, "--games", "3", "--out", "run")
    assert_one_line(said, 2, message)
    assert not Path("run").exists()


# What races are like.


@pytest.mark.parametrize("players", PLAYERS)
@pytest.mark.parametrize("bot", AVERAGED_BOTS)
def test_races_are_on_average_as_they_were(bot: str, players: int) -> None:
    """A fresh run agrees with the recorded averages, see ``velocity_averages.py``, within their errors."""
    expected, found = recorded(bot, players), average_race(bot, players, 1_500, SEED + 1)
    assert set(found) == set(expected)
    far = {
        name: (found[name], expected[name])
        for name in expected
        if abs(found[name].mean - expected[name].mean) > 4.5 * math.hypot(found[name].error, expected[name].error)
    }
    assert far == {}
