"""``python -m velonimo_sim.bots``: what there is, and what can be set."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from velonimo_sim import bots
from velonimo_sim.velonimo.policies import BUILT_IN, parse_bot

Printed = Callable[..., tuple[int, str, str]]

FILE = '''
from velonimo_sim import Parameter, compiled_bot
from velonimo_sim.velonimo.policies.greedy import greedy


class Patient:
    """Waits."""

    parameters = (Parameter("turns", int, 2, (0, 9), "how long"), Parameter("mood", ("calm", "wild"), "calm"))

    def choose(self, view, moves, rng):
        return moves[0]


@compiled_bot("seer", "looks", (Parameter("share", float, 0.5, (0, 1), "how much"),), sees_all=True)
def seer(view, scratch, stream):
    return greedy(view, scratch, stream)
'''


@pytest.fixture(autouse=True)
def _in_a_folder_with_bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    Path("patience.py").write_text(FILE)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Printed:
    """Run the command in this process; return its exit status, stdout and stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        status = bots.main(list(arguments))
        out, err = capsys.readouterr()
        return status, out, err

    return run


def announce(folder: Path, points: str) -> None:
    info = folder / "more_bots-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: more-bots\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[velonimo_sim.bots]\n{points}\n")


def test_every_bot_stands_in_the_list_with_its_help_and_defaults(command: Printed) -> None:
    status, out, err = command()
    assert (status, err) == (0, "")
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert list(lines) == list(BUILT_IN)
    for name, line in lines.items():
        policy = parse_bot(name).policy
        assert policy.help in line
        assert all(f"{parameter.name}={parameter.text(parameter.default)}" in line for parameter in policy.parameters)
        assert ("cheats" in line) == policy.sees_all


def test_the_game_may_be_named_before_and_after_show(command: Printed) -> None:
    assert command("--game", "velonimo") == command()
    shown = command("show", "greedy")
    assert command("show", "greedy", "--game", "velonimo") == command("--game", "velonimo", "show", "greedy") == shown


def test_a_broken_package_is_named_on_stderr_and_the_others_are_listed(
    command: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    announce(tmp_path / "site", "broken = nowhere:Bot\npatient = patience:Patient\nseer = patience:seer")
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.syspath_prepend(tmp_path)
    status, out, err = command()
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == [*BUILT_IN, "patient", "seer"]
    assert err == (
        "velonimo_sim.bots: bot broken of package more-bots cannot be loaded: "
        "ModuleNotFoundError: No module named 'nowhere'\n"
    )
    assert command("show", "broken")[0] == 2
    assert command("show", "seer")[1].startswith("seer: looks (cheats: it sees all)\n")


@pytest.mark.parametrize(
    ("bot", "told"),
    [
        ("greedy", "greedy: plays whenever it can, as cheaply as it can\n"),
        (
            "advised:late=off",
            "advised: follows the published advice, each piece of it a switch\n"
            "  late=on: let the others fight; take the attack when nobody is likely to answer; on or off\n"
            "  tortoise=on: swap with the hand nearest to going out, give the least useful card; on or off\n"
            "  jersey=on: add the Jersey to just beat a strong play; on or off\n"
            "  hares=on: keep hares until the others have spent their best combinations; on or off\n"
            "  groups=on: do not break groups for a cheap beat; on or off\n"
            "  lead=on: lead what the others can hardly answer, or what is good for nothing else; on or off\n"
            "  dromedary=on: duel: no Dromedary late unless the card drawn is worth it; on or off\n"
            "  finish=on: plan the whole hand: fewest turns, certain winners last; on or off\n",
        ),
        (
            "patience.py:Patient",
            "patience.py:Patient: Waits.\n  turns=2: how long; an integer 0-9\n  mood=calm: calm or wild\n",
        ),
        (
            "./patience.py:seer",
            "./patience.py:seer: looks (cheats: it sees all)\n  share=0.5: how much; a number 0-1\n",
        ),
    ],
)
def test_show_tells_a_bot_and_its_parameters(bot: str, told: str, command: Printed) -> None:
    assert command("show", bot) == (0, told, "")


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        (["show", "gredy"], ["unknown bot 'gredy'", "did you mean 'greedy'?"]),
        (["--game", "velonim"], ["unknown game 'velonim'", "did you mean 'velonimo'?"]),
        (["show", "greedy", "--game", "chess"], ["unknown game 'chess'", "velonimo"]),
        (["--game", "chess", "show", "greedy"], ["unknown game 'chess'", "velonimo"]),
        (["show", "missing.py:Bot"], ["there is no file missing.py"]),
        (["show", "rollout:n=0"], ["rollout:n=0", "an integer 1-1000000"]),
        (["show"], ["BOT"]),
        (["show", "greedy", "random"], ["random"]),
        (["tell", "greedy"], ["'tell'", "show"]),
        (["--all"], ["--all"]),
    ],
)
def test_bad_input_is_answered_in_one_line(arguments: list[str], fragments: list[str], command: Printed) -> None:
    status, out, err = command(*arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("velonimo_sim.bots: ")
    assert all(fragment in err for fragment in fragments), err


def test_listing_compiles_no_bot(tmp_path: Path) -> None:
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "velonimo_sim.bots"], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert len(done.stdout.splitlines()) == len(BUILT_IN)
    assert list((tmp_path / "cache").rglob("*.nbi")) == []
