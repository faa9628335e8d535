"""Options from a file: what it may say, what goes before what, and that a run can be repeated from what it wrote."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from runs import THREE, assert_one_line, assert_same_rows, contents, manifest, play
from velonimo_sim.options import parser


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(text: str, name: str = "run.toml") -> str:
    Path(name).write_text(text, encoding="utf-8")
    return name


def as_toml(options: Mapping[str, Any]) -> str:
    """Return options as a TOML file; texts, numbers and lists of them are written as in JSON."""
    lines = [f"{name} = {json.dumps(value)}" for name, value in options.items() if not isinstance(value, dict)]
    for name, table in options.items():
        if isinstance(table, dict):
            lines += [f"[{name}]", *(f"{key} = {json.dumps(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


EVERYTHING = """
game = "velonimo"
players = 3
bots = ["greedy", "random", "rollout:n=5"]
table = "single"
seating = "permutations"
games = 12
seed = 77
rules = "bga"
on-fault = "forfeit"
time-limit = 60000
until = "greedy>random"
alpha = 0.001
out = "by-file"
workers = 2
quiet = true
json = true

[rule]
tortoise_swap = "optional"
col_values = [3, 1]
hand_size = 9
jersey_bonus = "none"
"""
ARGUMENTS = (
    *("--game", "velonimo", "--players", "3", "--bots", "greedy", "random", "rollout:n=5", "--table", "single"),
    *("--seating", "permutations", "--games", "12", "--seed", "77", "--rules", "bga", "--on-fault", "forfeit"),
    *("--time-limit", "60000", "--until", "greedy>random", "--alpha", "0.001", "--workers", "2", "--quiet", "--json"),
    *("--rule", "tortoise_swap=optional", "--rule", "col_values=3,1", "--rule", "hand_size=9"),
    *("--rule", "jersey_bonus=none"),
)


def test_a_file_says_what_the_command_line_says() -> None:
    by_file = play("--config", write(EVERYTHING))
    by_line = play(*ARGUMENTS, "--out", "by-line")
    assert (by_file.status, by_file.err, by_line.status, by_line.err) == (0, "", 0, "")
    assert_same_rows("by-file", "by-line")
    assert manifest("by-file") == manifest("by-line")
    assert json.loads(by_file.out)["bots"] == json.loads(by_line.out)["bots"]


def test_every_option_of_a_run_can_stand_in_a_file() -> None:
    """But for those of one call: to go on with or replace a run, to plan it, and the file itself."""
    of_one_call = {"help", "config", "resume", "overwrite", "dry-run"}
    names = {action.option_strings[-1].removeprefix("--") for action in parser()._actions} - of_one_call
    for name in names:
        result = play("--config", write(f"{name} = {{ day = 1979-05-27 }}"))
        assert_one_line(result, 2, f"--config run.toml: {name}", " = ")
    for name in of_one_call:
        assert_one_line(play("--config", write(f"{name} = true")), 2, f"unknown key in --config run.toml {name!r}")


def test_the_command_line_overrides_the_file() -> None:
    write('bots = ["greedy", "random"]\ngames = 4\nseed = 1\nout = "a"\nquiet = true\n[rule]\nhand_size = 9')
    result = play("--config", "run.toml", "--seed", "2", "--games", "6", "--out", "b", "--bots", *THREE)
    assert result.status == 0
    assert not Path("a").exists()
    content = manifest("b")
    assert (content["seed"], content["games"], content["bots"]) == (2, 6, list(THREE))
    assert content["rules"]["hand_size"] == 9


def test_single_rules_are_overridden_one_by_one() -> None:
    write('rules = "bga"\nout = "run"\ngames = 4\n[rule]\nhand_size = 9\ntortoise_swap = "off"')
    assert play("--config", "run.toml", "--rule", "hand_size=8", "--rule", "col_values=4").status == 0
    rules = manifest("run")["rules"]
    assert (rules["hand_size"], rules["tortoise_swap"], rules["col_values"]) == (8, "off", [4])
    assert manifest("run")["options"]["rule"] == {"tortoise_swap": "off", "hand_size": "8", "col_values": "4"}


def test_names_may_have_underscores() -> None:
    assert play("--config", write('on_fault = "random"\ntime_limit = 9000\ngames = 4\nout = "run"')).status == 0
    assert (manifest("run")["on_fault"], manifest("run")["time_limit_ms"]) == ("random", 9000)


def test_a_flag_that_is_false_is_not_set() -> None:
    result = play("--config", write('json = false\nquiet = false\ngames = 4\nout = "run"'))
    assert result.out.startswith("bot ")


@pytest.mark.parametrize("text", ["", "# nothing but a remark\n"])
def test_an_empty_file_says_nothing(text: str) -> None:
    assert play("--config", write(text), "--games", "4", "--out", "a").status == 0
    assert play("--games", "4", "--out", "b").status == 0
    assert manifest("a") == manifest("b")


REFUSED: dict[str, tuple[str, list[str]]] = {
    "unknown key": ("gmaes = 5", ["unknown key in --config run.toml 'gmaes'", "mean 'games'"]),
    "unknown key with a dash": ("on-falt = 5", ["'on-falt'", "mean 'on-fault'"]),
    "unknown key like none": ("xyzzy = 5", ["'xyzzy'", "there are ", "games"]),
    "no TOML": ("games: 5", ["--config run.toml: is no TOML (", "line 1"]),
    "a key twice": ("games = 5\ngames = 6", ["is no TOML ("]),
    "games a flag": ("games = true", ["games = True", "a text or a number"]),
    "games a table": ("[games]\nmany = 5", ["games = {", "a text or a number"]),
    "games a day": ("games = 1979-05-27", ["games = ", "a text or a number"]),
    "games a fraction": ("games = 2.5", ["--games 2.5", "integer 1-"]),
    "games no number": ('games = "many"', ["--games many", "integer 1-"]),
    "games a list": ("games = []", ["--games ", "integer 1-"]),
    "no games": ("games = 0", ["--games 0", "integer 1-"]),
    "bots a text": ('bots = "greedy"', ["bots = 'greedy'", "a list of texts"]),
    "bots an empty list": ("bots = []", ["bots = []", "a list of texts"]),
    "bots that do not exist": ('bots = ["greedy", "gredy"]', ["'gredy'", "mean 'greedy'"]),
    "bots of all kinds": ('bots = ["greedy", { name = "random" }]', ["bots = {", "a text or a number"]),
    "table unknown": ('table = "round"', ["table = 'round'", "single or round-robin"]),
    "seating unknown": ('seating = "none"', ["seating = 'none'", "fixed or rotations or permutations"]),
    "rule a list": ('rule = ["hand_size=9"]', ["rule = ['hand_size=9']", "a table"]),
    "rule a text": ('rule = "hand_size=9"', ["rule = 'hand_size=9'", "a table"]),
    "rule unknown": ("rule = { hand_sise = 9 }", ["'hand_sise'", "mean 'hand_size'"]),
    "rule impossible": ("rule = { hand_size = 0 }", ["hand_size=0", "integer 1-"]),
    "rule a flag": ("rule = { tortoise_swap = true }", ["tortoise_swap='on'", "mandatory or optional or off"]),
    "flag a text": ('quiet = "yes"', ["quiet = 'yes'", "true or false"]),
    "flag a number": ("json = 1", ["json = 1", "true or false"]),
    "players no number": ('players = "four"', ["players four", "2-5"]),
    "alpha too large": ('bots = ["greedy", "random"]\nuntil = "greedy>random"\nalpha = 2', ["--alpha 2", "0 and 1"]),
    "no such preset": ('rules = "bgaa"', ["'bgaa'", "mean 'bga'"]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_file_cannot_say_is_refused_in_one_line(name: str) -> None:
    text, fragments = REFUSED[name]
    assert_one_line(play("--config", write(text)), 2, *fragments)
    assert list(contents(".")) == ["run.toml"]


def test_a_file_that_cannot_be_read_is_refused_in_one_line() -> None:
    assert_one_line(play("--config", "run.toml"), 2, "--config run.toml: cannot be read (No such file or directory)")
    Path("folder").mkdir()
    assert_one_line(play("--config", "folder"), 2, "--config folder: cannot be read (Is a directory)")
    Path("bytes.toml").write_bytes(b"games = \xff\xfe")
    assert_one_line(play("--config", "bytes.toml"), 2, "--config bytes.toml: is no TOML (")
    assert list(contents(".")) == ["bytes.toml"]


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--bots", *THREE, "--seed", "9", "--rules", "bga", "--rule", "col_values=2,1", "--rule", "jersey_bonus=3"),
        ("--table", "round-robin", "--players", "2", "--bots", *THREE, "--seating", "permutations"),
        ("--bots", "greedy", "random", "--until", "greedy > random", "--alpha", "0.2", "--on-fault", "random"),
        ("--bots", "rollout:n=3", "greedy", "--seating", "fixed", "--time-limit", "50000"),
    ],
)
def test_a_run_can_be_repeated_from_the_options_in_its_manifest(arguments: tuple[str, ...]) -> None:
    assert play(*arguments, "--games", "24", "--out", "first", "--quiet").status == 0
    config = write(as_toml(manifest("first")["options"]))
    assert play("--config", config, "--out", "second", "--quiet").status == 0
    assert_same_rows("first", "second")
    assert manifest("first") == manifest("second")


def test_the_options_in_the_manifest_are_the_resolved_ones() -> None:
    write('seed = 3\ngames = 4\nbots = ["greedy", "random"]\nout = "run"\n[rule]\nhand_size = 9')
    assert play("--config", "run.toml", "--seed", "5", "--rule", "tortoise_swap=off").status == 0
    assert manifest("run")["options"] == {
        "game": "velonimo",
        "players": 2,
        "bots": ["greedy", "random"],
        "table": "single",
        "seating": "rotations",
        "games": "4",
        "seed": "5",
        "rules": "official",
        "rule": {"hand_size": "9", "tortoise_swap": "off"},
        "on-fault": "raise",
        "alpha": "0.05",
    }


def test_a_file_goes_before_the_run_that_is_gone_on_with_and_the_command_line_before_both() -> None:
    arguments = ("--bots", *THREE, "--seed", "4", "--games", "6", "--quiet")
    assert play(*arguments, "--out", "run").status == 0
    write('games = 12\nout = "run"')
    assert play("--config", "run.toml", "--resume").status == 0
    assert (manifest("run")["games"], manifest("run")["games_written"]) == (12, 12)
    assert play("--config", "run.toml", "--resume", "--games", "18").status == 0
    assert manifest("run")["games_written"] == 18
    assert play(*arguments[:-3], "--games", "18", "--quiet", "--out", "whole").status == 0
    assert_same_rows("run", "whole")
    write('seed = 5\nout = "run"')
    assert_one_line(play("--config", "run.toml", "--resume"), 2, "seed is 4 in the run and 5 here")
