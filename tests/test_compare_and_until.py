"""Rules compared on the same deals, runs that stop when a question is decided, round-robins, what a run would be."""

import json
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from runs import (
    THREE,
    assert_holds,
    assert_one_line,
    assert_same_rows,
    contents,
    frame,
    kill_when,
    manifest,
    play,
)
from velonimo_sim import dry_run, match, records
from velonimo_sim.definition import Tournament
from velonimo_sim.schedule import Schedule

BOTS = ("--bots", *THREE, "--seed", "4")


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(records, "SHARD_GAMES", 60)


@pytest.fixture
def single_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make chunks as small as they get."""
    monkeypatch.setattr(match, "CHUNK_SECONDS", 1e-9)


# Rules that are compared.

COMPARED = (*BOTS, "--games", "150", "--compare-rules", "tortoise_swap=off")


def test_rules_are_compared_on_the_same_deals() -> None:
    result = play(*COMPARED, "--out", "run")
    assert (result.status, result.err) == (0, "")
    assert sorted(path.name for path in Path("run").iterdir()) == ["base", "variant"]
    for name, swap in (("base", "mandatory"), ("variant", "off")):
        assert_holds(f"run/{name}", 150)
        assert manifest(f"run/{name}")["rules"]["tortoise_swap"] == swap
    base, variant = (frame(f"run/{name}", "cols") for name in ("base", "variant"))
    first = {name: rows[rows["col"] == 1]["hand"].tolist() for name, rows in (("base", base), ("variant", variant))}
    assert first["base"] == first["variant"]
    assert base["swaps_made"].sum() > 0
    assert variant["swaps_made"].sum() == 0
    alone = play(*BOTS, "--games", "150", "--rule", "tortoise_swap=off", "--out", "alone")
    assert alone.status == 0
    assert_same_rows("alone", "run/variant")


def changes_by_hand(outcome: str) -> dict[str, tuple[float, float]]:
    """Return by bot the mean of variant - base by deal, and its standard error."""
    base, variant = (
        frame(f"run/{name}").groupby(["bot", "deal_id"])[outcome].mean().astype(float) for name in ("base", "variant")
    )
    by_bot = (variant - base).groupby("bot")
    return {str(bot): (values.mean(), values.std(ddof=1) / np.sqrt(len(values))) for bot, values in by_bot}


def test_the_changes_are_those_of_the_means_by_deal() -> None:
    result = json.loads(play(*COMPARED, "--out", "run", "--json").out)
    assert list(result) == ["base", "variant", "changes"]
    assert [result[name]["games"] for name in ("base", "variant")] == [150, 150]
    assert [row["bot"] for row in result["changes"]] == list(THREE)
    for outcome, name in (("won", "win_share"), ("total", "points"), ("place", "place")):
        by_hand = changes_by_hand(outcome)
        for row in result["changes"]:
            mean, error = by_hand[row["bot"]]
            assert row["deals"] == 50
            assert row[name] == pytest.approx(mean)
            assert row[f"{name}_low"] < row[name] < row[f"{name}_high"]
            assert (row[f"{name}_high"] - row[f"{name}_low"]) / 2 == pytest.approx(1.96 * error, rel=0.25)
    assert any(abs(row["points"]) > 0 for row in result["changes"])


def test_the_table_has_the_changes_of_the_json() -> None:
    changes = json.loads(play(*COMPARED, "--out", "run", "--json").out)["changes"]
    out = play(*COMPARED, "--out", "again").out
    assert out.startswith("base:\nbot ")
    assert "\nvariant:\nbot " in out
    head, *lines = out.partition("variant - base, on the same deals:\n")[2].splitlines()
    assert head.split()[:2] == ["bot", "deals"]
    for line, row in zip(lines, changes, strict=True):
        cells = [f"{scale * row[name]:+.3f}" for name, scale in (("win_share", 100), ("points", 1), ("place", 1))]
        assert line.split()[:2] == [row["bot"], "50"]
        assert [line.split()[index] for index in (2, 6, 10)] == cells


@pytest.mark.parametrize("removed", [["variant"], ["base", "variant"], ["variant/run.json"]])
def test_a_comparison_is_gone_on_with(removed: Sequence[str]) -> None:
    play(*COMPARED, "--out", "whole")
    whole = play(*COMPARED, "--resume", "--out", "whole", "--json")
    play(*COMPARED, "--out", "run")
    for name in removed:
        path = Path("run", name)
        for file in path.iterdir() if path.is_dir() else [path]:
            file.unlink()
        if path.is_dir():
            path.rmdir()
    result = play(*COMPARED, "--resume", "--out", "run", "--json")
    assert (result.status, result.err) == (0, "")
    for name in ("base", "variant"):
        assert_same_rows(f"run/{name}", f"whole/{name}")
    for of_run, of_whole in zip(json.loads(result.out)["changes"], json.loads(whole.out)["changes"], strict=True):
        assert of_run == pytest.approx(of_whole)


def test_a_comparison_can_be_made_longer_and_nothing_else_need_be_said() -> None:
    play(*COMPARED, "--out", "run")
    result = play("--resume", "--games", "210", "--out", "run", "--json")
    assert (result.status, result.err) == (0, "")
    assert [row["deals"] for row in json.loads(result.out)["changes"]] == [70] * 3
    play(*COMPARED, "--games", "210", "--out", "whole")
    for name in ("base", "variant"):
        assert_same_rows(f"run/{name}", f"whole/{name}")
        assert_holds(f"run/{name}", 210)


@pytest.mark.slow
def test_a_comparison_that_is_killed_in_its_second_half_is_gone_on_with() -> None:
    arguments = ("--bots", "rollout:n=60", "greedy", "random", "--games", "60", "--compare-rules", "hand_size=9")
    kill_when(lambda: any(Path("run/variant").glob("games-*")), *arguments, "--out", "run")
    assert play(*arguments, "--resume", "--out", "run").status == 0
    assert play(*arguments, "--out", "whole").status == 0
    for name in ("base", "variant"):
        assert_same_rows(f"run/{name}", f"whole/{name}")


def test_a_preset_can_be_the_variant() -> None:
    assert play(*BOTS, "--games", "6", "--compare-rules", "bga", "hand_size=9", "--out", "run").status == 0
    expected = play(*BOTS, "--games", "6", "--rules", "bga", "--rule", "hand_size=9", "--out", "alone")
    assert expected.status == 0
    assert manifest("run/variant")["rules"] == manifest("alone")["rules"]


def test_a_variant_changes_the_rules_of_the_run() -> None:
    arguments = ("--rules", "bga", "--rule", "hand_size=9", "--rule", "col_values=1")
    assert play(*BOTS, *arguments, "--games", "6", "--compare-rules", "hand_size=8", "--out", "run").status == 0
    base, variant = (manifest(f"run/{name}")["rules"] for name in ("base", "variant"))
    assert (base["hand_size"], variant["hand_size"]) == (9, 8)
    assert base | {"hand_size": 8} == variant


BAD_VARIANTS = {
    "the same": (["tortoise_swap=mandatory"], ["tortoise_swap=mandatory", "are the rules of the run itself"]),
    "unknown": (["tortoise_swop=off"], ["'tortoise_swop'", "mean 'tortoise_swap'"]),
    "impossible": (["tortoise_swap=never"], ["tortoise_swap='never'", "mandatory or optional or off"]),
    "too many cards": (["hand_size=27"], ["hand_size=27"]),
    "no preset": (["bgaa"], ["'bgaa'", "mean 'bga'"]),
    "twice": (["bga", "hand_size=9", "hand_size=8"], ["hand_size is given twice"]),
    "nothing": ([], ["--compare-rules"]),
}


@pytest.mark.parametrize("name", BAD_VARIANTS)
def test_a_variant_that_is_none_is_refused_in_one_line(name: str) -> None:
    arguments, fragments = BAD_VARIANTS[name]
    assert_one_line(play(*BOTS, "--out", "run", "--compare-rules", *arguments), 2, *fragments)
    assert not Path("run").exists()


@pytest.mark.parametrize("arguments", [["--compare-rules", "hand_size=9"], ["--seed", "5"]])
def test_another_comparison_is_refused(arguments: Sequence[str]) -> None:
    play(*COMPARED, "--out", "run")
    before = contents("run")
    result = play(*COMPARED, *arguments, "--resume", "--quiet", "--json", "--out", "run")
    assert result.status == 2
    assert "is another run: " in result.err
    assert "Traceback" not in result.err
    assert contents("run") == before


def test_a_comparison_that_cannot_be_leaves_nothing() -> None:
    Path("run/variant").mkdir(parents=True)
    Path("run/variant/notes.txt").write_text("precious")
    assert_one_line(play(*COMPARED, "--out", "run"), 2, "--out run/variant: exists")
    assert [str(path) for path in Path().rglob("*")] == ["run", "run/variant", "run/variant/notes.txt"]


def test_a_single_run_is_not_gone_on_with_as_a_comparison() -> None:
    play(*BOTS, "--games", "6", "--out", "run")
    before = contents("run")
    for way in ("--resume", "--overwrite"):
        said = play(way, "--compare-rules", "hand_size=9", "--out", "run")
        assert_one_line(said, 2, "--compare-rules: run holds a run of one set of rules")
    assert contents("run") == before


# Until a question is decided.

QUESTION = (*BOTS, "--until", "greedy>random", "--games", "3000", "--quiet", "--json")


@pytest.mark.usefixtures("single_games")
def test_a_run_stops_at_the_same_deal_whoever_plays_it_in_whatever_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    first = json.loads(play(*QUESTION, "--workers", "1", "--out", "first").out)
    games = first["games"]
    assert 0 < games < 3000
    assert games % 3 == 0
    assert_holds("first", games)
    assert manifest("first")["games_written"] == games
    for seconds, workers in ((1e-9, "2"), (0.2, "1"), (0.2, "2"), (0.002, "3")):
        monkeypatch.setattr(match, "CHUNK_SECONDS", seconds)
        out = f"{seconds}-{workers}"
        assert json.loads(play(*QUESTION, "--workers", workers, "--out", out).out)["until"] == first["until"]
        assert_same_rows("first", out)
    assert play(*BOTS, "--games", str(games), "--out", "plain").status == 0
    assert_same_rows("first", "plain")


def test_the_verdict_is_of_the_deals_that_were_played() -> None:
    result = json.loads(play(*QUESTION, "--out", "run").out)
    rows = frame("run").groupby(["bot", "deal_id"])["won"].mean()
    verdict = result["until"]
    assert (verdict["first"], verdict["second"]) == ("greedy", "random")
    assert verdict["better"] == "greedy"
    assert (verdict["alpha"], verdict["deals"]) == (0.05, result["games"] // 3)
    assert verdict["difference"] == pytest.approx((rows["greedy"] - rows["random"]).mean())
    assert verdict["low"] < verdict["difference"] < verdict["high"]


@pytest.mark.parametrize(
    ("question", "games", "words"),
    [
        ("greedy>random", "3000", "greedy > random after {deals} deals: greedy wins more, difference "),
        ("random>greedy", "3000", "random > greedy after {deals} deals: greedy wins more, difference -"),
        ("greedy>hold-hares", "6", "greedy > hold-hares after {deals} deals: not known, difference "),
    ],
)
def test_how_the_question_was_decided_is_said(question: str, games: str, words: str) -> None:
    arguments = (*BOTS, "--until", question, "--games", games)
    verdict = json.loads(play(*arguments, "--json", "--out", "json").out)["until"]
    out = play(*arguments, "--out", "run").out
    assert words.format(deals=verdict["deals"]) in out
    assert f"difference {100 * verdict['difference']:.2f} points of 100 wins" in out
    assert (verdict["better"] is None) == ("not known" in words)
    assert (verdict["deals"] == int(games) // 3) == (verdict["better"] is None)
    if verdict["better"] is None:
        assert f"within {100 * verdict['low']:.2f} to {100 * verdict['high']:.2f}" in out
        assert verdict["low"] < 0 < verdict["high"]


def test_a_smaller_alpha_takes_longer() -> None:
    games = [
        json.loads(play(*QUESTION, "--alpha", alpha, "--out", alpha).out)["games"] for alpha in ("0.2", "0.05", "1e-6")
    ]
    assert games == sorted(games)
    assert games[0] < games[1] < games[2]


def test_a_run_that_stopped_early_is_gone_on_with_to_the_same_end() -> None:
    first = json.loads(play(*QUESTION, "--out", "run").out)
    before = contents("run")
    again = json.loads(play("--resume", "--out", "run", "--quiet", "--json").out)
    assert (again["games"], again["games_played"], again["until"]) == (first["games"], 0, first["until"])
    assert contents("run") == before
    Path("run/games-0000000000.parquet").unlink()
    again = play("--resume", "--out", "run", "--quiet", "--json")
    assert (again.status, json.loads(again.out)["until"]) == (0, first["until"])
    play(*QUESTION, "--out", "whole")
    assert_same_rows("run", "whole")


def test_a_run_that_was_interrupted_before_the_question_was_decided_stops_at_the_same_deal() -> None:
    play(*BOTS, "--games", "9", "--out", "run")
    resumed = json.loads(play("--resume", "--out", "run", "--games", "3000", *QUESTION[-6:]).out)
    whole = json.loads(play(*QUESTION, "--out", "whole").out)
    assert whole["games"] > 9
    assert resumed["until"] == whole["until"]
    assert_same_rows("run", "whole")


def test_a_bot_in_two_seats_is_weighed_by_its_mean() -> None:
    arguments = ("--bots", "greedy", "greedy", "random", "--until", "greedy>random", "--json", "--out", "run")
    result = json.loads(play(*arguments).out)
    rows = frame("run").groupby(["bot", "deal_id"])["won"].mean()
    assert result["until"]["better"] == "greedy"
    assert result["until"]["difference"] == pytest.approx((rows["greedy"] - rows["random"]).mean())


BAD_QUESTIONS = {
    "unknown bot": (["--until", "gredy>random"], ["'gredy'", "mean 'greedy'"]),
    "bot that does not play": (["--until", "greedy>advised"], ["'advised'", "greedy, random, hold-hares"]),
    "no sign": (["--until", "greedy"], ["--until greedy", "A>B"]),
    "the other sign": (["--until", "greedy<random"], ["--until greedy<random", "A>B"]),
    "half a question": (["--until", "greedy>"], ["''"]),
    "nothing": (["--until", ""], ["--until"]),
    "one bot": (["--until", "greedy>greedy"], ["--until greedy>greedy", "one bot twice"]),
    "alpha 0": (["--until", "greedy>random", "--alpha", "0"], ["--alpha 0", "between 0 and 1"]),
    "alpha 1": (["--until", "greedy>random", "--alpha", "1"], ["--alpha 1", "between 0 and 1"]),
    "alpha 2": (["--until", "greedy>random", "--alpha", "2"], ["--alpha 2", "between 0 and 1"]),
    "alpha below 0": (["--until", "greedy>random", "--alpha=-0.1"], ["--alpha -0.1", "between 0 and 1"]),
    "alpha no number": (["--until", "greedy>random", "--alpha", "x"], ["--alpha x", "between 0 and 1"]),
    "alpha not a number": (["--until", "greedy>random", "--alpha", "nan"], ["--alpha nan", "between 0 and 1"]),
}


@pytest.mark.parametrize("name", BAD_QUESTIONS)
def test_a_question_that_is_none_is_refused_in_one_line(name: str) -> None:
    arguments, fragments = BAD_QUESTIONS[name]
    assert_one_line(play(*BOTS, *arguments, "--out", "run"), 2, *fragments)
    assert not Path("run").exists()


# Round-robins.

FIVE = ("advised", "greedy", "hold-hares", "random", "rollout:n=2")


def meetings(rows: pd.DataFrame) -> Counter[tuple[str, str]]:
    """Return in how many games each two bots meet."""
    met: Counter[tuple[str, str]] = Counter()
    for bots in rows.groupby("game_id")["bot"].apply(sorted):
        met.update(combinations(bots, 2))
    return met


@pytest.mark.parametrize(("players", "seating"), [(3, "rotations"), (2, "rotations"), (3, "permutations")])
def test_in_a_round_robin_every_bot_meets_every_other_equally_often(players: int, seating: str) -> None:
    arguments = ("--table", "round-robin", "--players", str(players), "--seating", seating, "--bots", *FIVE)
    tables = comb(5, players)
    games_per_deal = tables * (6 if seating == "permutations" else players)
    result = play(*arguments, "--games", str(2 * games_per_deal), "--seed", "6", "--out", "run")
    assert result.status == 0
    assert result.err == (
        f"velonimo_sim.tournament: {tables} tables of {players} players, {games_per_deal} games a deal, 2 deals, "
        f"{2 * games_per_deal} games\n"
    )
    rows = frame("run")
    assert_holds("run", 2 * games_per_deal, players)
    met = meetings(rows)
    assert len(met) == 10
    assert len(set(met.values())) == 1
    seats = pd.crosstab(rows["bot"], rows["seat"]).to_numpy()
    assert (seats == seats[0, 0]).all()
    assert rows.groupby("deal_id")["game_id"].nunique().tolist() == [games_per_deal] * 2
    cols = frame("run", "cols").merge(rows[["game_id", "seat", "deal_id"]], on=["game_id", "seat"])
    hands = cols[cols["col"] == 1].groupby(["deal_id", "seat"])["hand"].nunique()
    assert hands.tolist() == [1] * 2 * players, "all tables of a deal play it with the same cards"


def test_a_round_robin_says_how_many_tables_there_are_before_a_game_is_played(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_table(_: Tournament) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(Tournament, "work", no_table)
    arguments = ("--table", "round-robin", "--players", "3", "--bots", *FIVE, "--games", "31", "--out", "run")
    result = play(*arguments)
    assert result.status == 130
    assert result.err.splitlines()[0].endswith(": 10 tables of 3 players, 30 games a deal, 2 deals, 60 games")


def test_a_round_robin_is_rated() -> None:
    arguments = ("--table", "round-robin", "--players", "3", "--bots", *FIVE, "--games", "300", "--seed", "6")
    rows = json.loads(play(*arguments, "--quiet", "--json", "--out", "json").out)["bots"]
    by_bot = {row["bot"]: row for row in rows}
    assert list(by_bot) == list(FIVE)
    assert by_bot["advised"]["rating"] > by_bot["greedy"]["rating"] > by_bot["random"]["rating"]
    assert sum(row["rating"] for row in rows) == pytest.approx(0, abs=1e-6)
    assert all(row["rating_low"] < row["rating"] < row["rating_high"] for row in rows)
    out = play(*arguments, "--quiet", "--out", "run").out.splitlines()
    assert "rating" in out[0]
    for line, row in zip(out[1:6], rows, strict=True):
        assert line.endswith(f" {row['rating']:.2f} ({row['rating_low']:.2f} - {row['rating_high']:.2f})")


def test_a_round_robin_of_one_deal_has_no_rating_intervals_and_is_valid_json() -> None:
    arguments = ("--table", "round-robin", "--players", "3", "--bots", *FIVE, "--games", "1", "--quiet", "--json")
    said = play(*arguments, "--out", "run")

    def refuse(constant: str) -> None:
        pytest.fail(f"{constant} is no JSON")

    rows = json.loads(said.out, parse_constant=refuse)["bots"]
    assert [row["rating_low"] for row in rows] == [row["rating_high"] for row in rows] == [None] * 5


def test_a_round_robin_is_gone_on_with(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "SHARD_GAMES", 30)
    arguments = ("--table", "round-robin", "--players", "3", "--bots", *FIVE, "--seed", "6", "--quiet")
    play(*arguments, "--games", "30", "--out", "run")
    assert play("--resume", "--games", "60", "--quiet", "--out", "run").status == 0
    monkeypatch.setattr(match, "CHUNK_SECONDS", 1e-9)
    play(*arguments, "--games", "60", "--out", "whole")
    Path("whole/cols-0000000030.parquet").unlink()
    assert play("--resume", "--quiet", "--out", "whole").status == 0
    assert_same_rows("run", "whole")
    assert_holds("whole", 60)


BAD_ROUND_ROBINS = {
    "too few bots": (["--players", "4", "--bots", *THREE], ["3 bots", "4-127 with 4 players"]),
    "a bot twice": (["--players", "2", "--bots", "greedy", "random", "greedy"], ["greedy is named twice"]),
    "too many tables": (
        ["--players", "5", "--bots", *(f"rollout:n={n}" for n in range(1, 40))],
        ["39 bots with 5 players has 575,757 tables", "32,767"],
    ),
    "too many games a deal": (
        ["--players", "5", "--seating", "permutations", "--bots", *(f"rollout:n={n}" for n in range(1, 13))],
        ["792 tables of permutations make 95,040 games a deal", "32,767"],
    ),
    "no players": (["--players", "1", "--bots", *THREE], ["players 1", "2-5"]),
}


@pytest.mark.parametrize("name", BAD_ROUND_ROBINS)
def test_a_round_robin_that_is_none_is_refused_in_one_line(name: str) -> None:
    arguments, fragments = BAD_ROUND_ROBINS[name]
    assert_one_line(play("--table", "round-robin", *arguments, "--out", "run"), 2, *fragments)
    assert not Path("run").exists()


# What a run would be.


@pytest.fixture
def _short_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dry_run, "TRIAL_SECONDS", 0.05)


@pytest.mark.usefixtures("_short_trial")
def test_a_dry_run_tells_the_schedule_and_writes_nothing() -> None:
    arguments = ("--table", "round-robin", "--players", "3", "--bots", *FIVE, "--games", "300000", "--out", "run")
    result = play(*arguments, "--dry-run")
    assert (result.status, result.err) == (0, "")
    assert contents(".") == {}
    assert not Path("run").exists()
    lines = result.out.splitlines()
    assert lines[0] == "10 tables of 3 players, 30 games a deal, 10,000 deals, 300,000 games"
    assert lines[1].split() == ["bot", "in", "seat", "0", "in", "seat", "1", "in", "seat", "2"]
    assert [line.split() for line in lines[2:7]] == [[bot, *["60,000"] * 3] for bot in FIVE]
    assert lines[7].startswith("about ")
    assert lines[7].endswith(" MB of disk")
    assert lines[8].startswith("about ")
    assert lines[8].endswith(" games/s")


@pytest.mark.usefixtures("_short_trial")
def test_a_dry_run_in_json_has_the_numbers_of_the_run() -> None:
    arguments = (*BOTS, "--games", "3001", "--seating", "permutations", "--out", "run")
    plan = json.loads(play(*arguments, "--dry-run", "--json").out)
    assert contents(".") == {}
    expected = {"players": 3, "tables": 1, "games_per_deal": 6, "deals": 501, "games": 3006, "bots": list(THREE)}
    assert expected.items() <= plan.items()
    assert plan["games_by_seat"] == [[1002] * 3] * 3
    assert plan["seconds"] == pytest.approx(3006 / plan["games_per_second"])
    assert play(*arguments, "--quiet").status == 0
    rows = frame("run")
    assert pd.crosstab(rows["bot"], rows["seat"]).loc[list(THREE)].to_numpy().tolist() == plan["games_by_seat"]
    written = sum(len(content) for name, content in contents("run").items() if name.endswith("parquet"))
    assert plan["bytes"] > 3006 * 3
    assert written > 0


@pytest.mark.usefixtures("_short_trial")
def test_the_disk_that_a_dry_run_tells_is_enough_and_not_much_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "SHARD_GAMES", 20_000)
    arguments = (*BOTS, "--games", "9000", "--out", "run")
    plan = json.loads(play(*arguments, "--dry-run", "--json").out)
    assert play(*arguments).status == 0
    written = sum(len(content) for name, content in contents("run").items() if name.endswith("parquet"))
    assert written < plan["bytes"] < 3 * written


@pytest.mark.usefixtures("_short_trial")
def test_a_dry_run_of_a_comparison_tells_both() -> None:
    result = play(*BOTS, "--games", "30", "--compare-rules", "hand_size=9", "--dry-run", "--json", "--out", "run")
    plans = json.loads(result.out)
    assert {name: plan["games"] for name, plan in plans.items()} == {"base": 30, "variant": 30}
    assert contents(".") == {}


@pytest.mark.usefixtures("_short_trial")
def test_a_dry_run_leaves_a_run_that_is_there_alone() -> None:
    play(*BOTS, "--games", "30", "--out", "run")
    before = contents("run")
    for way in ((), ("--overwrite",), ("--resume",)):
        assert play(*BOTS, "--games", "300", "--out", "run", "--dry-run", *way).status == 0
    assert contents("run") == before


def test_a_dry_run_of_a_bot_that_raises_says_so_in_one_line() -> None:
    Path("broken.py").write_text(
        "class Broken:\n    def choose(self, view, moves, rng):\n        raise ValueError('oh')\n"
    )
    result = play("--bots", "./broken.py:Broken", "greedy", "--games", "30", "--workers", "1", "--dry-run")
    assert_one_line(result, 1, "./broken.py:Broken", "ValueError: oh")


def test_the_games_by_seat_of_a_schedule_are_those_of_its_seatings() -> None:
    schedule = Schedule(("a", "b"), ((0, 1, 0),), np.array([[0, 1, 0], [0, 0, 1]], np.int8))
    assert schedule.games_by_seat().tolist() == [[2, 1, 1], [0, 1, 1]]
