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
from velonimo_sim.tournament import main
from velonimo_sim.velonimo import interactive
from velonimo_sim.velonimo.policies import BUILT_IN
from velonimo_sim.velonimo.rows import COL_ROW, GAME_ROW
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.view import VIEW

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_examples_of_the_readme_run() -> None:
    result = doctest.testfile(
        str(ROOT / "README.md"),
        module_relative=False,
        optionflags=doctest.NORMALIZE_WHITESPACE,
    )
    assert (result.failed, result.attempted) == (0, 8)


def test_examples_of_the_docstrings_run() -> None:
    result = doctest.testmod(interactive)
    assert (result.failed, result.attempted) == (0, 2)


def test_the_result_shown_is_that_of_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--quiet", "--out", str(tmp_path / "run")]) == 0
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
    names = [*BUILT_IN, *(GAME_ROW.names or ()), *(COL_ROW.names or ()), *RuleSet().to_dict()]
    assert [name for name in names if f"`{name}" not in README] == []


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
    table = README.partition("### What a bot sees")[2].partition("## Rules")[0]
    fields = [
        name for line in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", line)
    ]
    assert sorted(fields) == sorted(VIEW.names or ())


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
