"""The README holds: its examples run, and its commands are the ones that exist."""

import doctest
import re
import sys
from importlib import import_module
from inspect import signature
from pathlib import Path
from types import ModuleType

import pytest

from velonimo_sim import analysis, bots, check_bot, options, replay, report
from velonimo_sim.game import GAMES
from velonimo_sim.tournament import main
from velonimo_sim.velocity import new_game as new_race
from velonimo_sim.velocity.track import Course
from velonimo_sim.velonimo import interactive
from velonimo_sim.velonimo.view import VIEW

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_examples_of_the_readme_run() -> None:
    result = doctest.testfile(
        str(ROOT / "README.md"),
        module_relative=False,
        optionflags=doctest.NORMALIZE_WHITESPACE,
    )
    assert (result.failed, result.attempted) == (0, 13)


def test_examples_of_the_docstrings_run() -> None:
    result = doctest.testmod(interactive)
    assert (result.failed, result.attempted) == (0, 2)


@pytest.mark.parametrize("game", ["velonimo", pytest.param("velocity", marks=pytest.mark.slow)])
def test_the_result_shown_is_that_of_the_command(game: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--game", game, "--quiet", "--out", str(tmp_path / "run")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines[:5] if line not in README.splitlines()] == []


def test_the_links_lead_somewhere() -> None:
    for page in ("README.md", "CONTRIBUTING.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
        anchors = {"#" + re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles}
        for link in re.findall(r"\]\((?!http)([^)]+)\)", text):
            assert link in anchors or (ROOT / link).exists(), link


def test_the_test_command_of_the_readme_is_the_one_of_ci() -> None:
    command = 'python -m pip install -e ".[test]" && pytest\n'
    assert command in README
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [options, bots, check_bot, replay, report])
def test_every_option_of_a_command_is_in_the_readme(command: ModuleType) -> None:
    parser = command.parser() if command is options else command._parser()
    words = {word for action in parser._actions for word in action.option_strings if word[:2] == "--"}
    assert f"python -m {command.COMMAND}" in README
    assert words - {"--help"} <= set(re.findall(r"--[a-z-]+", README))


def test_every_bot_column_and_rule_option_is_in_the_readme() -> None:
    velocity = README.partition("## VeloCity")[2].partition("## Rules")[0]
    for game, text in ((GAMES["velonimo"], README.replace(velocity, "")), (GAMES["velocity"], velocity)):
        columns = {*game.game_row.names, *game.detail_row.names} - ({*GAMES["velonimo"].game_row.names} - {"deal_id"})
        named = [*game.bots, *game.rule_set.official().to_dict(), *columns]
        assert [name for name in named if f"`{name}" not in text] == []
    assert [name for name in GAMES["velonimo"].game_row.names if f"`{name}" not in README] == []


def test_the_course_of_the_readme_can_be_played(tmp_path: Path) -> None:
    (toml,) = re.findall(r"```toml\n(name = .*?)```", README, re.DOTALL)
    (tmp_path / "course.toml").write_text(toml, encoding="utf-8")
    assert Course.load(tmp_path / "course.toml").length == 12


def test_what_there_is_to_build_bots_of_velocity_on_is_there() -> None:
    line = README.partition("To build on there are, below `velonimo_sim.velocity`, ")[2].partition(":\n\n")[0]
    named = [place.rsplit(".", 1) for place in re.findall(r"`([\w.]+)\(", line)]
    assert len(named) == 4
    for module, name in named:
        assert hasattr(import_module(f"velonimo_sim.velocity.{module}"), name)


def code_with(word: str) -> str:
    """Return the block of Python in the README that defines something."""
    (block,) = [code for code in re.findall(r"```python\n(.*?)```", README, re.DOTALL) if f"{word}" in code]
    return block


@pytest.fixture
def _my_bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("mybot.py").write_text(code_with("class Thrifty") + "\n\n" + code_with("def humble"), encoding="utf-8")


def test_the_bot_of_the_tutorial_has_at_most_15_lines() -> None:
    assert len(code_with("class Thrifty").splitlines()) <= 15


@pytest.mark.usefixtures("_my_bot")
def test_the_commands_of_the_tutorial_run(capsys: pytest.CaptureFixture[str]) -> None:
    commands = re.findall(r"python -m velonimo_sim\.(tournament|check_bot) (.*mybot.py:Thrifty.*)", README)
    assert [name for name, _ in commands] == ["tournament", "check_bot"]
    (_, play), (_, check) = commands
    assert main([*play.split(), "--workers", "1"]) == 0
    assert check_bot.main(check.split()) == 0
    out, err = capsys.readouterr()
    wins = {line.split()[0]: float(line.split()[2]) for line in out.splitlines()[1:4]}
    assert wins["./mybot.py:Thrifty"] > 5 * wins["random"]
    assert err == ""


@pytest.mark.usefixtures("_my_bot")
def test_the_compiled_bot_of_the_readme_plays() -> None:
    assert main(["--bots", "mybot.py:humble:limit=30", "mybot.py:humble", "greedy", "--games", "50", "--quiet"]) == 0
    assert check_bot.check_bot("mybot.py:humble", 200).findings == ()


def test_the_parameters_of_the_readme_can_be_declared() -> None:
    scope: dict[str, object] = {}
    exec(code_with("parameters = ("), scope)
    assert [parameter.name for parameter in scope["parameters"]] == ["limit", "bold", "style"]  # type: ignore[attr-defined]


def test_own_runs_are_asked_as_the_readme_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(code_with("differences_by(").replace("20_000", "40"), {})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["off", "on"]


def test_every_public_function_of_the_analysis_that_takes_runs_is_in_the_readme() -> None:
    takes_runs = [
        name
        for name in analysis.__all__
        if name.islower()
        and name != "figures"
        and {"run", "runs", "source"} & {*signature(getattr(analysis, name)).parameters}
    ]
    assert "outcomes_by" in takes_runs
    assert [name for name in takes_runs if f"`{name}(" not in README] == []


def test_every_field_of_a_view_stands_in_the_table_of_the_readme() -> None:
    table = README.partition("### What a bot sees")[2].partition("## VeloCity")[0]
    assert sorted(fields_in(table)) == sorted(VIEW.names or ())


def test_every_field_of_a_view_of_velocity_stands_in_the_table_of_the_readme() -> None:
    table = README.partition("### Its bots")[2].partition("| field | meaning |")[2].partition("\n\n")[0]
    rows = table.splitlines()
    of_both = fields_in("\n".join(row for row in rows if " alone: " not in row))
    of_dicts = fields_in("\n".join(row for row in rows if row.startswith("| dict alone: ")))
    of_records = fields_in("\n".join(row for row in rows if row.startswith("| record alone: ")))
    assert sorted(of_both + of_records) == sorted(GAMES["velocity"].module("view").VIEW.names)
    assert sorted(of_both + of_dicts) == sorted(new_race(4).view(0))


def fields_in(table: str) -> list[str]:
    """Return the names in the first column of a table."""
    firsts = re.findall(r"^\| (.*?) \|", table, re.MULTILINE)
    return [name for first in firsts for name in re.findall(r"`(\w+)`", first)]


@pytest.mark.usefixtures("_my_bot")
def test_the_compiled_bot_of_velocity_plays() -> None:
    Path("mine.py").write_text(code_with("def stubborn"), encoding="utf-8")
    arguments = ["--game", "velocity", "--bots", "mine.py:stubborn", "random", "greedy", "--games", "30", "--quiet"]
    assert main(arguments) == 0
    assert check_bot.check_bot("mine.py:stubborn", 100, game="velocity").findings == ()


def test_the_dict_of_plain_bots_has_the_fields_of_the_table() -> None:
    view = interactive.new_game(4).view(0)
    assert set(view) == {*(VIEW.names or ()), "col_value"} - {"logged"}


def test_what_there_is_to_build_on_is_there() -> None:
    table = README.partition("| in | there is |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| (`.*?) \| (.*) \|$", table, re.MULTILINE)
    assert len(rows) == 7
    for places, things in rows:
        names = [name if name.startswith("velonimo_sim") else f"velonimo_sim.velonimo.{name}" for name in words(places)]
        modules = [import_module(name) for name in names]
        assert [thing for thing in words(things) if not any(hasattr(module, thing) for module in modules)] == []


def words(text: str) -> list[str]:
    """Return the names in backticks."""
    return re.findall(r"`([\w.]+)", text)
