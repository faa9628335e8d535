"""The tournament command: what it prints, what it leaves, what it refuses, and how it stops."""

import errno
import io
import itertools
import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import velonimo_sim
from runs import COMMAND, THREE, assert_holds, assert_same_rows, frame, manifest, wait_for
from velonimo_sim import match, options, progress, records, tournament
from velonimo_sim._jit import kernel, source_hash
from velonimo_sim.bits import popcount
from velonimo_sim.bot.policy import compiled_bot
from velonimo_sim.commands import say
from velonimo_sim.progress import GamesProgress
from velonimo_sim.rng import Stream
from velonimo_sim.velonimo.cards import TORTOISES
from velonimo_sim.velonimo.moves import KEEP
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.policies.greedy import greedy
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.view import Phase, View

FAST = ("greedy", "hold-hares", "random", "greedy")
Printed = Callable[..., tuple[int, str, str]]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Printed:
    """Run the command in this process; return its exit status, stdout and stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        status = tournament.main(list(arguments))
        out, err = capsys.readouterr()
        return status, out, err

    return run


@pytest.fixture
def single_games(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make chunks as small as they get, and with them shards of exactly 20 games."""
    monkeypatch.setattr(match, "CHUNK_SECONDS", 1e-9)
    monkeypatch.setattr(records, "SHARD_GAMES", 20)


def listing(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


# What it prints.


def test_without_arguments_four_bots_play(command: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(options.DEFAULTS, "games", "8")
    status, out, err = command()
    assert (status, err) == (0, "")
    assert listing(tmp_path) == [
        "velonimo-run",
        "velonimo-run/cols-0000000000.parquet",
        "velonimo-run/games-0000000000.parquet",
        "velonimo-run/run.json",
    ]
    assert manifest("velonimo-run")["bots"] == ["advised", "greedy", "hold-hares", "random"]
    assert_holds("velonimo-run", 8, 4)
    assert [line.split()[0] for line in out.splitlines()[1:5]] == manifest("velonimo-run")["bots"]


@pytest.mark.parametrize("players", [2, 3, 5])
def test_players_alone_choose_the_bots(players: int, command: Printed) -> None:
    assert command("--players", str(players), "--games", str(2 * players), "--out", "run")[0] == 0
    bots = manifest("run")["options"]["bots"]
    assert bots == ["advised", "greedy", "hold-hares", "random", "greedy"][:players]
    assert_holds("run", 2 * players, players)


def test_bots_alone_choose_the_players(command: Printed) -> None:
    assert command("--bots", *THREE, "--games", "6", "--out", "run")[0] == 0
    assert manifest("run")["players"] == 3
    assert_holds("run", 6, 3)


def test_json_has_the_numbers_of_the_files(command: Printed) -> None:
    status, out, err = command("--bots", *THREE, "--games", "300", "--seed", "9", "--out", "run", "--json")
    assert (status, err, out.count("\n")) == (0, "", 1)
    result = json.loads(out)
    expected = {"status": "finished", "cause": "", "games": 300, "out": "run", "players": 3, "seed": 9}
    assert expected.items() <= result.items()
    assert result["games_per_second"] == pytest.approx(300 / result["seconds"])
    rows = frame("run")
    assert [line["bot"] for line in result["bots"]] == list(THREE)
    for line in result["bots"]:
        of_bot = rows[rows["bot"] == line["bot"]]
        assert line["games"] == len(of_bot) == 300
        assert line["wins"] == of_bot["won"].sum()
        assert line["win_share"] == pytest.approx(of_bot["won"].mean())
        assert line["mean_points"] == pytest.approx(of_bot["total"].mean())
        assert line["mean_place"] == pytest.approx(of_bot["place"].mean())


def test_where_every_game_is_a_deal_of_its_own_the_interval_is_that_of_wilson(command: Printed) -> None:
    """Its ends are the two shares from which the share seen is 1.96 standard errors away."""
    _, out, _ = command("--bots", *THREE, "--seating", "fixed", "--games", "120", "--out", "run", "--json")
    for line in json.loads(out)["bots"]:
        assert 0 <= line["low"] < line["win_share"] < line["high"] <= 1
        for end in (line["low"], line["high"]):
            distance = abs(line["win_share"] - end) / math.sqrt(end * (1 - end) / 120)
            assert distance == pytest.approx(1.959964, abs=1e-5)


def test_the_table_has_the_numbers_of_the_json(command: Printed) -> None:
    arguments = ("--bots", *THREE, "--games", "1200", "--seed", "3")
    expected = json.loads(command(*arguments, "--out", "a", "--json")[1])["bots"]
    status, out, err = command(*arguments, "--out", "b")
    lines = out.splitlines()
    assert (status, err, len(lines)) == (0, "", 6)
    assert " ".join(lines[0].split()) == "bot games wins % 95 % interval mean points mean place"
    for line, row in zip(lines[1:4], expected, strict=True):
        shares = [f"{100 * row[name]:.2f}" for name in ("win_share", "low", "high")]
        means = [
            f"{row[f'mean_{name}']:.2f} ({row[f'{name}_low']:.2f} - {row[f'{name}_high']:.2f})"
            for name in ("points", "place")
        ]
        assert line.split() == [row["bot"], "1,200", *shares[:2], "-", shares[2], *" ".join(means).split()]
    rate = lines[4].split()
    assert rate[:3] == ["1,200", "games", "in"]
    assert rate[-1] == "games/s"
    assert lines[5] == "files: b/games-*.parquet, b/cols-*.parquet, b/run.json"


def test_help_names_every_option(command: Printed, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        command("--help")
    assert left.value.code == 0
    out = capsys.readouterr().out
    names = list(vars(options.parser().parse_args([])))
    assert len(names) > 20
    assert all(f"--{name.replace('_', '-')}" in out for name in names)
    assert f"{options.DEFAULT_GAMES:,}" in out


def test_help_groups_the_options_and_shows_three_examples(command: Printed, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command("--help")
    out = capsys.readouterr().out
    groups = ("who plays", "how much is played", "by which rules", "where it is played and written", "what is shown")
    for group in groups:
        assert f"\n{group}:\n" in out
    assert out.partition("examples:")[2].count(f"python -m {options.COMMAND}") == 3


# Progress.


@pytest.mark.usefixtures("single_games")
def test_quiet_says_nothing_on_stderr(command: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LINE_SECONDS", 0.0)
    arguments = ("--bots", *THREE, "--games", "30")
    assert command(*arguments, "--out", "a", "--quiet")[2] == ""
    lines = command(*arguments, "--out", "b")[2].splitlines()
    assert lines[0].startswith("1 of 30 games, ")
    assert lines[-1].startswith("30 of 30 games, ")
    assert all(" s left" in line and " games/s, " in line for line in lines)
    assert lines[0].endswith(" s left")
    assert lines[-1].endswith(tuple(f", {bot} leads" for bot in THREE))


def test_without_a_terminal_a_line_comes_at_most_every_30_seconds(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [500.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    spoke = []
    with GamesProgress(2_000, quiet=False) as shown:
        for second in range(1, 101):
            now[0] += 1.0
            shown.leader = "greedy"
            shown.advance(10)
            if err := capsys.readouterr().err:
                spoke.append((second, err))
    assert spoke == [
        (30, "300 of 2,000 games, 10 games/s, 170 s left, greedy leads\n"),
        (60, "600 of 2,000 games, 10 games/s, 140 s left, greedy leads\n"),
        (90, "900 of 2,000 games, 10 games/s, 110 s left, greedy leads\n"),
    ]


def test_what_was_there_before_does_not_count_for_the_rate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [500.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with GamesProgress(2_000, quiet=False) as shown:
        shown.advance(1_000, is_new=False)
        now[0] += 30.0
        shown.advance(300)
    assert capsys.readouterr().err == "1,300 of 2,000 games, 10 games/s, 70 s left\n"


def test_a_short_run_without_a_terminal_says_nothing(command: Printed) -> None:
    assert command("--bots", *THREE, "--games", "51", "--out", "run")[2] == ""


class Terminal(StringIO):
    """A stderr that takes itself for a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("quiet", [False, True])
def test_in_a_terminal_there_is_a_bar_with_rate_and_time_left(quiet: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with GamesProgress(2_000, quiet) as shown:
        shown.leader = "greedy"
        shown.advance(1_000)
    assert ("1000/2000" in terminal.getvalue()) is not quiet
    assert (" games/s, " in terminal.getvalue()) is not quiet
    assert (" s left, greedy leads" in terminal.getvalue()) is not quiet


# What it leaves.


def test_the_manifest_says_what_was_played(command: Printed) -> None:
    command("--bots", *THREE, "--games", "12", "--seed", "77", "--rules", "bga", "--out", "run")
    content = manifest("run")
    rules = RuleSet.bga()
    expected = {
        "game": "velonimo",
        "players": 3,
        "table": "single",
        "seating": "rotations",
        "games_per_deal": 3,
        "bots": list(THREE),
        "tables": [[0, 1, 2]],
        "parameters": [{}, {}, {}],
        "sees_all": [False, False, False],
        "bot_hashes": ["", "", ""],
        "on_fault": "raise",
        "time_limit_ms": None,
        "games": 12,
        "games_written": 12,
        "seed": 77,
        "rules": rules.to_dict(),
        "source_hash": source_hash(),
        "schema_version": records.SCHEMA_VERSION,
        "status": "finished",
    }
    assert expected.items() <= content.items()
    assert {"rules_version", "deal_version", "options", "starter"} <= set(content)
    assert {"python", "velonimo_sim", "numpy", "numba", "pyarrow"} <= set(content["versions"])


def option_texts(rules: dict[str, Any]) -> Iterator[str]:
    """Yield the arguments that set every rule option to what a manifest says."""
    for name, value in rules.items():
        text = ",".join(map(str, value)) if isinstance(value, list) else "none" if value is None else str(value)
        yield from ("--rule", f"{name}={text}")


@pytest.mark.parametrize(
    ("bots", "settings"),
    [
        (FAST, ()),
        (("random", "rollout:n=7", "greedy"), ("--rules", "bga", "--rule", "tortoise_swap=optional")),
        (("random", "greedy"), ("--rule", "col_values=2,1,2", "--rule", "duel_target=none", "--rule", "hand_size=9")),
    ],
)
def test_a_run_can_be_repeated_from_its_manifest(
    bots: Sequence[str], settings: Sequence[str], command: Printed
) -> None:
    assert command("--bots", *bots, *settings, "--games", "9", "--seed", "41", "--out", "first")[0] == 0
    content = manifest("first")
    same = ["--players", str(content["players"]), "--games", str(content["games"]), "--seed", str(content["seed"])]
    same += ["--seating", content["seating"], "--table", content["table"]]
    named = [content["bots"][bot] for bot in content["tables"][0]]
    assert command("--bots", *named, *same, *option_texts(content["rules"]), "--out", "second")[0] == 0
    assert_same_rows("first", "second")
    again = manifest("second")
    del content["options"], again["options"]
    assert again == content


def test_the_options_of_a_rule_reach_the_games(command: Printed) -> None:
    settings = ["--rule", "col_values=7,3", "--rule", "hand_size=4", "--rule", "tortoise_swap=off"]
    assert command("--bots", *THREE, "--games", "6", "--out", "run", *settings)[0] == 0
    cols = frame("run", "cols")
    assert cols.groupby(["col", "out_order"])["points"].unique().map(list).to_dict() == {
        (1, 1): [14],
        (1, 2): [7],
        (1, 3): [0],
        (2, 1): [6],
        (2, 2): [3],
        (2, 3): [0],
    }
    assert np.bitwise_count(cols["hand"].to_numpy()).tolist() == [4] * len(cols)
    assert not cols[["swaps_made", "swaps_suffered"]].to_numpy().any()


def test_workers_do_not_change_the_rows(command: Printed) -> None:
    for workers in ("1", "2", "5"):
        assert command("--bots", *FAST, "--games", "700", "--workers", workers, "--out", workers)[0] == 0
    assert_holds("1", 700, 4)
    assert_same_rows("1", "2")
    assert_same_rows("1", "5")


@pytest.mark.usefixtures("single_games")
def test_another_process_gives_the_same_rows(command: Printed) -> None:
    arguments = ["--bots", "rollout:n=5", "random", "hold-hares", "--games", "30", "--seed", "8"]
    subprocess.run([*COMMAND, *arguments, "--workers", "2", "--out", "other"], check=True, capture_output=True)
    assert command(*arguments, "--workers", "1", "--out", "here")[0] == 0
    assert len(list(Path("here").glob("games-*.parquet"))) == 2
    assert_same_rows("here", "other")


def test_another_seed_gives_other_rows(command: Printed) -> None:
    for seed in ("0", str(2**63 - 1)):
        command("--bots", *THREE, "--games", "60", "--seed", seed, "--out", seed)
    a, b = (set(frame(seed, "cols")["hand"]) for seed in ("0", str(2**63 - 1)))
    assert len(a) == len(b) == 20 * 5 * 3
    assert not a & b


def test_another_bot_leaves_the_deals_as_they_are(command: Printed) -> None:
    for out, bot in (("a", "greedy"), ("b", "random")):
        command("--bots", "hold-hares", bot, "random", "--games", "20", "--out", out)
    assert frame("a", "cols")["hand"].tolist() == frame("b", "cols")["hand"].tolist()
    assert frame("a")["total"].tolist() != frame("b")["total"].tolist()


def test_every_bot_sits_everywhere_equally_often(command: Printed) -> None:
    bots = ("greedy", "hold-hares", "random", "rollout:n=1")
    command("--bots", *bots, "--games", "40", "--out", "run")
    for kind, rows in (("games", 10), ("cols", 50)):
        table = frame("run", kind)
        assert pd.crosstab(table["bot"], table["seat"]).to_numpy().tolist() == [[rows] * 4] * 4
    assert not frame("run")["fault"].any()


def test_pandas_reads_the_documented_types(command: Printed) -> None:
    command("--bots", *THREE, "--games", "3", "--out", "run")
    types = {
        kind: {name: str(dtype) for name, dtype in pd.read_parquet(f"run/{kind}-0000000000.parquet").dtypes.items()}
        for kind in ("games", "cols")
    }
    assert types["games"] == {
        "game_id": "int64",
        "deal_id": "int64",
        "seating_id": "int16",
        "seat": "int8",
        "bot": "category",
        "total": "int32",
        "place": "int8",
        "won": "bool",
        "fault": "int8",
        "faults": "int32",
    }
    assert types["cols"] == {
        "game_id": "int64",
        "col": "int8",
        "seat": "int8",
        "bot": "category",
        "hand": "uint64",
        "tortoises": "int8",
        "hares": "int8",
        "started": "bool",
        "wears_jersey": "bool",
        "jersey_spent_on": "int32",
        "swaps_made": "int16",
        "swaps_suffered": "int16",
        "out_order": "int8",
        "points": "int32",
        "turns": "int16",
        "passes": "int16",
    }


def test_without_out_the_next_free_folder_is_taken(command: Printed, tmp_path: Path) -> None:
    (tmp_path / "velonimo-run-3").mkdir()
    for number in (1, 2, 4):
        out = "velonimo-run" if number == 1 else f"velonimo-run-{number}"
        assert f"files: {out}/games-" in command("--bots", *THREE, "--games", str(3 * number))[1]
        assert manifest(out)["games"] == 3 * number
    assert listing(tmp_path / "velonimo-run-3") == []


@pytest.mark.usefixtures("single_games")
def test_overwrite_replaces_the_whole_run(command: Printed) -> None:
    command("--bots", *FAST, "--games", "60", "--out", "run")
    assert len(list(Path("run").glob("games-*.parquet"))) == 3
    assert command("--bots", *THREE, "--games", "6", "--out", "run", "--overwrite")[0] == 0
    assert_holds("run", 6, 3)
    assert manifest("run")["games"] == 6


# What it refuses.

BAD_INPUT = {
    "one player": (["--players", "1"], ["players 1", "2-5"]),
    "six players": (["--players", "6"], ["players 6", "2-5"]),
    "players no number": (["--players", "four"], ["players four", "2-5"]),
    "one bot": (["--bots", "random"], ["players 1", "2-5"]),
    "six bots": (["--bots", *["random"] * 6], ["players 6", "2-5"]),
    "unknown game": (["--game", "velonima"], ["unknown game 'velonima'", "mean 'velonimo'"]),
    "no bot": (["--bots"], ["--bots"]),
    "no games": (["--games", "0"], ["--games 0", "1-"]),
    "fewer games than none": (["--games", "-5"], ["--games -5", "1-"]),
    "half a game": (["--games", "2.5"], ["--games 2.5", "integer 1-"]),
    "unknown bot": (["--bots", "greedy", "gredy"], ["'gredy'", "random, greedy, hold-hares, advised", "mean 'greedy'"]),
    "bot without name": (["--bots", "greedy", ""], ["''", "random, greedy, hold-hares, advised"]),
    "unknown parameter": (["--bots", "greedy", "rollout:m=5"], ["'m'", "there are n"]),
    "parameter of a bot that has none": (["--bots", "random", "greedy:n=5"], ["greedy", "no parameters"]),
    "parameter too low": (["--bots", "random", "rollout:n=0"], ["rollout:n=0", "integer 1-1000000"]),
    "parameter no number": (["--bots", "random", "rollout:n=many"], ["rollout:n=many", "integer 1-1000000"]),
    "parameter without value": (["--bots", "random", "rollout:n"], ["rollout:n:", "integer 1-1000000"]),
    "too few bots": (["--players", "3", "--bots", "random", "greedy"], ["2 bots", "3 with 3 players"]),
    "too many bots": (["--players", "2", "--bots", *THREE], ["3 bots", "2 with 2 players"]),
    "unknown preset": (["--rules", "bgaa"], ["'bgaa'", "official, bga", "mean 'bga'"]),
    "unknown rule": (["--rule", "tortoise=off"], ["'tortoise'", "tortoise_swap", "jersey_tie"]),
    "impossible rule": (["--rule", "tortoise_swap=no"], ["tortoise_swap='no'", "mandatory or optional or off"]),
    "rule without value": (["--rule", "tortoise_swap"], ["tortoise_swap", "OPTION=VALUE"]),
    "rule with an empty value": (["--rule", "hand_size="], ["hand_size=''", "integer 1-27"]),
    "hand too large for the deck": (["--rule", "hand_size=14"], ["hand_size=14", "1-13 with 4 players"]),
    "col value 0": (["--rule", "col_values=1,0"], ["col_values=(1, 0)", "1-10 integers"]),
    "eleven cols": (["--rule", "col_values=1,1,1,1,1,1,1,1,1,1,1"], ["col_values=", "1-10 integers"]),
    "negative bonus": (["--rule", "jersey_bonus=-1"], ["jersey_bonus=-1", "0-1000000"]),
    "seed below 0": (["--seed", "-1"], ["--seed -1", "0-9223372036854775807"]),
    "seed too large": (["--seed", str(2**63)], [f"--seed {2**63}", "0-9223372036854775807"]),
    "seed no number": (["--seed", "x"], ["--seed x", "integer 0-"]),
    "unknown way with faults": (["--on-fault", "ignore"], ["ignore", "forfeit", "random", "raise"]),
    "no time": (["--time-limit", "0"], ["--time-limit 0", "integer 1-"]),
    "time no number": (["--time-limit", "1.5"], ["--time-limit 1.5", "integer 1-"]),
    "no workers": (["--workers", "0"], ["--workers 0", "integer 1-"]),
    "unknown option": (["--gamse", "4"], ["--gamse"]),
    "option without value": (["--games"], ["--games"]),
    "stray word": (["greedy"], ["greedy"]),
    "folder exists": (["--out", "there"], ["there", "exists", "--overwrite"]),
    "file in the way": (["--out", "a-file"], ["a-file", "exists"]),
    "file to overwrite": (["--out", "a-file", "--overwrite"], ["a-file", "not a folder"]),
    "foreign file to overwrite": (["--out", "there", "--overwrite"], ["there", "notes.txt"]),
    "folder that cannot be written": (["--out", "a-file/run"], ["a-file/run", "cannot be written"]),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_answered_in_one_line_before_anything_happens(
    name: str, command: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def not_to_be_played(*_: Any, **__: Any) -> None:
        pytest.fail("a run was started")

    arguments, fragments = BAD_INPUT[name]
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "notes.txt").write_text("precious")
    (tmp_path / "a-file").write_text("precious")
    monkeypatch.setattr(tournament, "play", not_to_be_played)
    status, out, err = command(*arguments)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("velonimo_sim.tournament: ")
    assert all(fragment in err for fragment in fragments), err
    assert listing(tmp_path) == ["a-file", "there", "there/notes.txt"]


def test_a_run_that_exists_is_not_overwritten(command: Printed) -> None:
    command("--bots", *THREE, "--games", "5", "--out", "run")
    before = {path: path.read_bytes() for path in Path("run").iterdir()}
    status, out, err = command("--bots", *THREE, "--games", "6", "--seed", "1", "--out", "run")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert {path: path.read_bytes() for path in Path("run").iterdir()} == before


def test_the_command_itself_leaves_with_the_status(tmp_path: Path) -> None:
    done = subprocess.run([*COMMAND, "--players", "6"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "velonimo_sim.tournament: players 6: allowed is 2-5\n"
    assert listing(tmp_path) == []


# How it stops.

SLOW_RUN = """
import sys
from velonimo_sim import match, options, progress, records, tournament
from velonimo_sim.commands import leave_with

records.SHARD_GAMES, progress.LINE_SECONDS, match.CHUNK_SECONDS = 8, 0.0, 0.01
leave_with(tournament.main)
"""


def stop_when(happened: Callable[[], object], number: signal.Signals, arguments: Sequence[str]) -> tuple[int, str, str]:
    """Start a command, send it a signal when something has happened; return its status, stdout and stderr."""
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(happened, process)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, out, err


def has_a_shard() -> bool:
    return any(Path("run").glob("games-*.parquet"))


def assert_stopped_well(number: signal.Signals, stopped: tuple[int, str, str], bots: Sequence[str]) -> None:
    """Check that a stopped run left whole files, its summary and a word of how far it came."""
    status, out, err = stopped
    content = manifest("run")
    games = content["games_written"]
    assert status == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert "Traceback" not in err
    assert err.splitlines()[-1] == (
        f"velonimo_sim.tournament: interrupted: {games:,} of {content['games']:,} games are in run; --resume goes on"
    )
    assert_holds("run", games, len(bots))
    assert 0 < games < content["games"]
    assert content["status"] == "interrupted"
    lines = [line.split() for line in out.splitlines()]
    seats = {bot: bots.count(bot) for bot in bots}
    assert [line[:2] for line in lines[1 : 1 + len(seats)]] == [[bot, f"{games * seats[bot]:,}"] for bot in seats]
    assert lines[-2][:3] == [f"{games:,}", "games", "in"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_signal_stops_slow_bots_with_their_games_saved(number: signal.Signals, workers: str) -> None:
    bots = ["rollout:n=60", "greedy", "random"]
    arguments = ["--bots", *bots, "--games", "1000000", "--out", "run", "--workers", workers]
    assert_stopped_well(number, stop_when(has_a_shard, number, [sys.executable, "-c", SLOW_RUN, *arguments]), bots)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_command_itself(number: signal.Signals) -> None:
    arguments = ["--bots", *FAST, "--games", "1000000", "--out", "run"]
    assert_stopped_well(number, stop_when(has_a_shard, number, [*COMMAND, *arguments]), FAST)


def test_a_stop_before_the_first_shard_saves_what_was_played() -> None:
    """A shard of the usual size takes this bot minutes."""
    script = SLOW_RUN.replace("SHARD_GAMES, ", "SHARD_SECONDS, ").replace("= 8, ", "= 3600.0, ")
    bots = ["rollout:n=60", "greedy", "random"]
    arguments = ["--bots", *bots, "--games", "1000000", "--out", "run"]
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        assert process.stderr is not None
        assert " made 1,000,002, whole deals of 3 games" in process.stderr.readline()
        while int((line := process.stderr.readline()).split()[0]) <= 3:
            assert " of 1,000,002 games" in line
        assert not has_a_shard()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert_stopped_well(signal.SIGINT, (process.returncode, out, err), bots)


ENDLESS_CHUNK = """
import sys
from velonimo_sim import run, tournament, workers
from velonimo_sim.commands import leave_with

play, note = workers.Desk.play, run.StopRequest._note

def say_that_it_plays(*arguments):
    print("plays", file=sys.stderr, flush=True)
    return play(*arguments)

def say_that_it_heard(*arguments):
    print("heard", file=sys.stderr, flush=True)
    note(*arguments)

workers.Desk.play = say_that_it_plays
run.StopRequest._note = say_that_it_heard
leave_with(tournament.main)
"""


class Interrupted(io.FileIO):
    """A file in the midst of whose first writing a signal is told."""

    is_told = False

    def write(self, data: Any) -> int:
        if not self.is_told:
            self.is_told = True
            say("command", "heard")
        return super().write(data)


def test_a_signal_can_be_told_while_a_line_is_being_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with io.TextIOWrapper(io.BufferedWriter(Interrupted(tmp_path / "stderr", "w"))) as stderr:
        monkeypatch.setattr(sys, "stderr", stderr)
        stderr.write("a line\n")
        stderr.flush()
    assert (tmp_path / "stderr").read_text("utf-8") == "command: heard\na line\n"


def test_a_second_signal_stops_at_once() -> None:
    """The first is heeded when a chunk ends, which takes this bot hours."""
    arguments = ["--bots", "rollout:n=1000000", "greedy", "random", "--games", "12", "--out", "run", "--workers", "1"]
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS_CHUNK, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with process:
        assert process.stderr is not None
        try:
            for word in ("plays\n", "heard\n"):
                assert process.stderr.readline() == word
                process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 130
    assert "Traceback" not in err
    assert manifest("run")["status"] == "running"


@kernel
def is_fatal(view: View) -> bool:
    """Whether this is the opening lead of col 5 with four Tortoises in hand."""
    is_opening = view["phase"] == Phase.LEAD and view["col"] == 5 and view["played"] == np.uint64(0)
    return bool(is_opening and popcount(view["hand"] & TORTOISES) == 4)


@compiled_bot("raising", "a bot at fault")
def raising(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Play as ``greedy`` does, until it gets fatal."""
    if is_fatal(view):
        raise ValueError("lost my glasses")
    return greedy(view, scratch, stream)


@compiled_bot("cheating", "a bot at fault")
def cheating(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Play as ``greedy`` does, until it gets fatal."""
    return KEEP if is_fatal(view) else greedy(view, scratch, stream)


CAUSES = {
    "test_tournament:raising": "ValueError: lost my glasses",
    "test_tournament:cheating": "chose 'keep', which is illegal: this is not what has to be decided now",
}


def first_fatal(folder: str, bot: int) -> tuple[int, int]:
    """Return the game and seat in which a bot first gets its fatal hand, from the rows of a run of sound bots."""
    cols = frame(folder, "cols")
    is_bot = (cols["seat"] - cols["game_id"]) % 3 == bot
    fatal = cols[is_bot & (cols["col"] == 5) & cols["started"] & (cols["tortoises"] == 4)]
    return int(fatal.iloc[0]["game_id"]), int(fatal.iloc[0]["seat"])


@pytest.mark.usefixtures("single_games")
@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("bot", CAUSES)
def test_a_bot_at_fault_is_named_with_its_game_and_all_before_it_is_saved(
    bot: str, workers: str, command: Printed
) -> None:
    command("--bots", "random", "greedy", "hold-hares", "--games", "600", "--out", "sound")
    game, seat = first_fatal("sound", 1)
    assert 20 < game < 600
    arguments = ["--bots", "random", bot, "hold-hares", "--games", "600", "--workers", workers]
    status, out, err = command(*arguments, "--out", "run")
    assert status == 1
    assert err.count("\n") == 1
    assert f"game {game}, seat {seat}, bot {bot}: {CAUSES[bot]}" in err
    whole_deals = game - game % 3
    assert f"{whole_deals:,} games are safe in run" in err
    assert_holds("run", whole_deals, 3)
    assert f"\n{whole_deals:,} games in " in out
    content = manifest("run")
    assert (content["status"], content["games_written"]) == ("failed", whole_deals)
    assert content["cause"] == f"game {game}, seat {seat}, bot {bot}: {CAUSES[bot]}"
    sound = frame("sound", "cols")
    columns = [name for name in sound.columns if name != "bot"]
    pd.testing.assert_frame_equal(frame("run", "cols")[columns], sound[sound["game_id"] < whole_deals][columns])


def test_a_bot_at_fault_in_json(command: Printed) -> None:
    status, out, err = command(
        "--bots", "random", "test_tournament:raising", "greedy", "--games", "5001", "--out", "run", "--json"
    )
    result = json.loads(out)
    assert (status, result["status"], err.count("\n")) == (1, "failed", 1)
    assert result["cause"].endswith("bot test_tournament:raising: ValueError: lost my glasses")
    assert_holds("run", result["games"], 3)


def no_space(*_: Any, **__: Any) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def full_from(call: int) -> Callable[..., None]:
    """Return a Parquet writer that finds the disk full from one of its calls on, the first being 1."""
    calls, write = itertools.count(1), pq.write_table

    def write_or_fail(table: Any, where: Path, **options: Any) -> None:
        if next(calls) >= call:
            Path(where).write_bytes(b"PAR1 half")
            no_space()
        write(table, where, **options)

    return write_or_fail


@pytest.mark.usefixtures("single_games")
@pytest.mark.parametrize(("call", "saved"), [(3, 20), (4, 20), (5, 40)])
def test_a_full_disk_stops_the_run_and_the_finished_shards_stay(
    call: int, saved: int, command: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records.pq, "write_table", full_from(call))
    status, _, err = command("--bots", *FAST, "--games", "200", "--out", "run")
    assert status == 1
    assert err.count("\n") == 1
    assert "No space left on device" in err
    assert f"{saved} games are safe in run" in err
    assert_holds("run", saved, 4)


@pytest.mark.usefixtures("single_games")
def test_a_full_disk_is_told_with_the_number_of_games_that_are_safe(
    command: Printed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(records.pq, "write_table", full_from(3))
    _, _, err = command("--bots", *FAST, "--games", "200", "--out", "run")
    assert_holds("run", 20, 4)
    assert "20 games are safe in run" in err


@pytest.mark.usefixtures("single_games")
def test_the_manifest_says_that_a_run_failed(command: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records.pq, "write_table", full_from(3))
    command("--bots", *FAST, "--games", "200", "--out", "run")
    assert (manifest("run")["status"], manifest("run")["games_written"]) == ("failed", 20)


def test_a_disk_full_from_the_first_shard_on(command: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "SHARD_GAMES", 4)
    monkeypatch.setattr(records.pq, "write_table", full_from(1))
    status, _, err = command("--bots", *FAST, "--games", "200", "--out", "run")
    assert (status, err.count("\n")) == (1, 1)
    assert "No space left on device" in err
    assert "game -1" not in err
    assert listing(Path("run")) == ["run.json"]


def test_a_disk_full_at_the_end(command: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records.pq, "write_table", full_from(1))
    status, _, err = command("--bots", *FAST, "--games", "32", "--out", "run")
    assert (status, err.count("\n")) == (1, 1)
    assert "No space left on device" in err
    assert listing(Path("run")) == ["run.json"]


def test_a_disk_full_before_the_first_game(command: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "write_text", no_space)
    status, _, err = command("--bots", *FAST, "--games", "32", "--out", "run")
    assert (status, err.count("\n")) == (1, 1)
    assert "No space left on device" in err


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_pipe_that_nobody_reads(options: list[str]) -> None:
    """The end to read from is closed before the command starts; what was played is saved all the same."""
    reader, writer = os.pipe()
    os.close(reader)
    arguments = [*COMMAND, "--bots", *THREE, "--games", "6", "--out", "run", *options]
    done = subprocess.run(arguments, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")
    assert_holds("run", 6, 3)


def test_the_signal_handlers_are_given_back(command: Printed) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    command("--bots", *THREE, "--games", "3", "--out", "run")
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_an_interrupt_before_the_first_game(command: Printed, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(tournament, "play", interrupted)
    status, out, err = command("--bots", *THREE, "--games", "3", "--out", "run")
    assert (status, out, err.count("\n")) == (130, "", 1)


# From Python.


def test_from_python_the_rows_are_those_of_the_command(command: Printed) -> None:
    options = {"rule": {"tortoise_swap": "off"}, "seed": 5, "games": 30}
    outcome = velonimo_sim.run_tournament("python", bots=list(THREE), **options)
    command("--bots", *THREE, "--rule", "tortoise_swap=off", "--seed", "5", "--games", "30", "--out", "command")
    assert (outcome.status, outcome.games_written) == ("finished", 30)
    assert_same_rows("python", "command")


def test_from_python_a_run_is_gone_on_with_and_not_replaced() -> None:
    velonimo_sim.run_tournament("run", bots=list(THREE), games=6)
    with pytest.raises(velonimo_sim.UsageError, match="exists"):
        velonimo_sim.run_tournament("run", bots=list(THREE), games=12)
    assert velonimo_sim.run_tournament("run", resume=True, bots=list(THREE), games=12).games_played == 6


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"bot": ["greedy"]}, "unknown option 'bot': there are game, players, bots, table"),
        ({"compare_rules": ["tortoise_swap=off"]}, "unknown option 'compare_rules': there are game, players"),
        ({"scheduler": "tcp://127.0.0.1:1"}, "unknown option 'scheduler': there are game, players"),
        ({"games": 0}, "--games 0: allowed is"),
        ({"rule": "off"}, "options: rule = 'off': allowed is a table"),
        ({"workers": 0}, "workers 0: allowed is an integer 1-"),
    ],
)
def test_from_python_bad_options_are_one_line(options: dict[str, Any], words: str) -> None:
    with pytest.raises(velonimo_sim.UsageError) as caught:
        velonimo_sim.run_tournament("run", **options)
    assert words in str(caught.value)
    assert not Path("run").exists()
