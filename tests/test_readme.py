"""The README holds: its examples run, and its commands are the ones that exist."""

import doctest
import re
from pathlib import Path

import pytest

from velonimo_sim.tournament import _parser, main
from velonimo_sim.velonimo import interactive
from velonimo_sim.velonimo.policies import POLICIES
from velonimo_sim.velonimo.rows import COL_ROW, GAME_ROW
from velonimo_sim.velonimo.rules import RuleSet

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
        for link in re.findall(r"\]\((?!http)([^)]+)\)", (ROOT / page).read_text(encoding="utf-8")):
            assert (ROOT / link).exists(), link


def test_the_test_command_of_the_readme_is_the_one_of_ci() -> None:
    command = 'python -m pip install -e ".[test]" && pytest\n'
    assert command in README
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_every_option_of_the_tournament_is_in_the_readme() -> None:
    options = {word for action in _parser()._actions for word in action.option_strings if word.startswith("--")}
    assert options <= set(re.findall(r"--[a-z]+", README))


def test_every_bot_column_and_rule_option_is_in_the_readme() -> None:
    names = [*POLICIES, *(GAME_ROW.names or ()), *(COL_ROW.names or ()), *RuleSet().to_dict()]
    assert [name for name in names if f"`{name}" not in README] == []
