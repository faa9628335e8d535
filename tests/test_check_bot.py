"""The check of a bot: sound bots pass, every kind of flaw is found and shown, and the command says so."""

import json
import random
import sys
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from velonimo_sim import Move, UsageError, check_bot, compiled_bot
from velonimo_sim.check_bot import Flaw, Report, positions_of_games
from velonimo_sim.game import GAMES
from velonimo_sim.rng import Stream
from velonimo_sim.velonimo.moves import KEEP
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.policies.greedy import greedy
from velonimo_sim.velonimo.policies.uniform import uniform
from velonimo_sim.velonimo.state import State, from_json, to_json, validate
from velonimo_sim.velonimo.view import Phase, View

POSITIONS = 300

Printed = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Printed:
    """Run the command in this process; return its exit status, stdout and stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        status = check_bot.main(list(arguments))
        out, err = capsys.readouterr()
        return status, out, err

    return run


def check(bot: str, positions: int = POSITIONS) -> Report:
    return check_bot.check_bot(f"test_check_bot:{bot}", positions)


# Positions.


@pytest.mark.parametrize("name", GAMES)
def test_positions_are_sound_and_of_all_phases_and_player_counts(name: str) -> None:
    game = GAMES[name]
    states = list(islice(positions_of_games(0, name), 800))
    phases = game.module("view").Phase
    assert [fault for state in states for fault in game.module("state").validate(state)] == []
    met = Counter(phases(int(state["view"]["phase"])) for state in states)
    assert set(met) == {phase for phase in phases if phase.name not in ("COL_OVER", "GAME_OVER")}
    assert min(met.values()) > 15
    assert {int(state["view"]["players"]) for state in states} == set(game.players)
    assert len({state.tobytes() for state in states}) > 0.95 * len(states)


def test_positions_are_those_of_their_seed() -> None:
    first, again, other = ([state.tobytes() for state in islice(positions_of_games(seed), 100)] for seed in (3, 3, 4))
    assert first == again != other


# Sound bots.


class Sound:
    """Chooses with its own random numbers, and remembers within a game."""

    def new_game(self, seat: int) -> None:
        self.seat = seat

    def choose(self, view: dict[str, Any], moves: list[Move], rng: random.Random) -> object:
        assert view["seat"] == self.seat
        return str(rng.choice(moves))


def test_a_sound_plain_bot_passes() -> None:
    assert check("Sound").findings == ()


# Flaws.


@compiled_bot("passing", "passes when it has to lead")
def passing(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    return KEEP if view["phase"] == Phase.LEAD else greedy(view, scratch, stream)


@compiled_bot("raising", "raises when it has to give")
def raising(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    if view["phase"] == Phase.GIVE:
        raise ValueError("never")
    return greedy(view, scratch, stream)


@compiled_bot("scribbling", "writes to its view")
def scribbling(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    move = greedy(view, scratch, stream)
    view["beat"] += 1
    return move


@compiled_bot("stale", "goes by what is left in its memory")
def stale(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    return greedy(view, scratch, stream) if scratch["memory"][9] else uniform(view, scratch, stream)


@compiled_bot("peeking", "goes by a hidden card", sees_all=True)
def peeking(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    return greedy(view, scratch, stream)


class Silent:
    """Answers with nothing when it has to give."""

    def choose(self, view: dict[str, Any], moves: list[Move], rng: random.Random) -> object:  # noqa: ARG002
        return None if view["phase"] == "give" else moves[0]


class Lost:
    """Raises when it has to swap."""

    def choose(self, view: dict[str, Any], moves: list[Move], rng: random.Random) -> object:  # noqa: ARG002
        return {}["way"] if view["phase"] == "swap" else moves[0]


class Moody:
    """Draws from random numbers that are not its own."""

    def choose(self, view: dict[str, Any], moves: list[Move], rng: random.Random) -> object:  # noqa: ARG002
        return random.choice(moves)


class Spy:
    """Finds the state in the frames that call it, and counts the hidden cards of a hand."""

    def choose(self, view: dict[str, Any], moves: list[Move], rng: random.Random) -> object:  # noqa: ARG002
        frame: Any = sys._getframe()
        while "state" not in frame.f_locals:
            frame = frame.f_back
        return moves[int(frame.f_locals["state"]["hands"].sum()) % len(moves)]


class Wavers:
    """Takes another move every fifth time."""

    asked = 0

    def choose(self, view: dict[str, Any], moves: list[Move], rng: random.Random) -> object:  # noqa: ARG002
        self.asked += 1
        return moves[-1] if self.asked % 5 == 2 else moves[0]


FLAWS = {
    "passing": (Flaw.ILLEGAL, "'keep': this is not what has to be decided now"),
    "raising": (Flaw.RAISES, "ValueError: never"),
    "scribbling": (Flaw.CHANGES, ", and it writes to the view"),
    "stale": (Flaw.VARIES, " and "),
    "peeking": (Flaw.PEEKS, "it is declared with sees_all"),
    "Silent": (Flaw.ILLEGAL, "None is no move, and no text or number of one"),
    "Lost": (Flaw.RAISES, "KeyError: 'way'"),
    "Moody": (Flaw.VARIES, " and "),
    "Spy": (Flaw.PEEKS, ", with other hidden cards "),
}


@pytest.mark.parametrize("bot", FLAWS)
def test_a_flaw_is_found_with_its_cause_and_a_position_that_shows_it(bot: str) -> None:
    flaw, cause = FLAWS[bot]
    (finding,) = check(bot).findings
    assert finding.flaw is flaw
    assert cause in finding.cause
    assert 10 < finding.positions <= POSITIONS
    assert validate(finding.state) == []


@pytest.fixture
def _nothing_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let states be no more than their views, as in a game that hides nothing."""

    def look_the_same(a: State, b: State) -> bool:
        return bool(a["view"].tobytes() == b["view"].tobytes())

    monkeypatch.setattr("velonimo_sim.velonimo.state.equal", look_the_same)


@pytest.mark.usefixtures("_nothing_hidden")
def test_where_nothing_is_hidden_another_move_is_no_peeking() -> None:
    report = check("Wavers")
    assert [finding.flaw for finding in report.findings] == [Flaw.VARIES]
    assert check("peeking").findings == ()
    assert not report.hides


def test_the_first_position_is_shown_as_it_was_asked_about() -> None:
    (finding,) = check("passing").findings
    assert finding.state["view"]["phase"] == Phase.LEAD
    leads = [state for state in islice(positions_of_games(0), POSITIONS) if state["view"]["phase"] == Phase.LEAD]
    assert finding.positions == len(leads)
    assert finding.state.tobytes() == leads[0].tobytes()


def test_the_positions_are_the_same_for_every_bot_and_seed() -> None:
    first, again = check("raising"), check("raising")
    assert to_json(first.findings[0].state) == to_json(again.findings[0].state)
    other = check_bot.check_bot("test_check_bot:raising", POSITIONS, seed=1)
    assert to_json(other.findings[0].state) != to_json(first.findings[0].state)


# The command.


def test_a_sound_bot_is_reported_line_by_line(command: Printed) -> None:
    status, out, err = command("greedy", "--positions", "50")
    lines = out.splitlines()
    assert (status, err, len(lines)) == (0, "", 5)
    assert lines[:4] == [
        "greedy: 50 positions of 2-5 players in all phases",
        "legal in all of them: yes",
        "same view and stream, same move: yes",
        "blind to hidden cards: yes",
    ]
    assert lines[4].startswith("time of a decision: ")


@pytest.mark.usefixtures("_nothing_hidden")
def test_where_nothing_is_hidden_the_report_says_so(command: Printed) -> None:
    status, out, _ = command("greedy", "--positions", "50", "--game", "velonimo")
    assert (status, out.splitlines()[3]) == (0, "nothing is hidden")


@pytest.mark.parametrize(
    ("bot", "answers"),
    [("passing", "no yes yes"), ("Moody", "yes no yes"), ("peeking", "yes yes no"), ("raising", "no yes yes")],
)
def test_a_flaw_gives_status_1_and_a_position_that_can_be_loaded(bot: str, answers: str, command: Printed) -> None:
    status, out, err = command(f"test_check_bot:{bot}", "--positions", "100")
    assert (status, err) == (1, "")
    lines = out.splitlines()
    assert " ".join(line.rpartition(" ")[2] for line in lines[1:4]) == answers
    assert f"{FLAWS[bot][0]} in " in lines[6]
    assert lines[7].startswith("Velonimo, ")
    assert validate(from_json(lines[-1])) == []


def test_json_has_the_report_and_positions_that_can_be_loaded(command: Printed) -> None:
    status, out, err = command("test_check_bot:passing", "--positions", "100", "--seed", "5", "--json")
    assert (status, err, out.count("\n")) == (1, "", 1)
    report = json.loads(out)
    assert (report["bot"], report["game"], report["positions"]) == ("test_check_bot:passing", "velonimo", 100)
    (finding,) = report["findings"]
    assert finding["flaw"] == "illegal move"
    assert from_json(json.dumps(finding["position"]))["view"]["phase"] == Phase.LEAD


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        ([], ["BOT"]),
        (["gredy"], ["unknown bot 'gredy'", "did you mean 'greedy'?"]),
        (["greedy", "--game", "chess"], ["unknown game 'chess'", "velonimo"]),
        (["missing.py:Bot"], ["there is no file missing.py"]),
        (["rollout:n=0"], ["rollout:n=0", "an integer 1-1000000"]),
        (["greedy", "--positions", "0"], ["--positions 0", "integer 1-"]),
        (["greedy", "--positions", "many"], ["--positions many", "integer 1-"]),
        (["greedy", "--seed", "-1"], ["--seed -1", "integer 0-"]),
        (["greedy", "random"], ["random"]),
        (["greedy", "--fast"], ["--fast"]),
    ],
)
def test_bad_input_is_answered_in_one_line(
    arguments: list[str], fragments: list[str], command: Printed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = command(*arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err.startswith("velonimo_sim.check_bot: ")
    assert all(fragment in err for fragment in fragments), err


@pytest.mark.parametrize("bot", ["greedy:n=1", "nothing"])
def test_the_function_refuses_what_is_no_bot(bot: str) -> None:
    with pytest.raises(UsageError, match=f"bot '?{bot.partition(':')[0]}"):
        check_bot.check_bot(bot)
