"""Workers that die while they play: their games are played again, and who dies over them again and again is named."""

import os
import re
import signal
from pathlib import Path

import pytest

from runs import Said, assert_holds, assert_same_rows, frame, manifest, play, started, wait_for
from velonimo_sim import match, records
from velonimo_sim.velonimo.cards import card_texts

BOTS = """
import os
import signal
from pathlib import Path

FATAL = {fatal}

class Mortal:
    times = {times}

    def __init__(self):
        Path(f"pid-{{os.getpid()}}").touch()

    def choose(self, view, moves, rng):
        if view["hand"] == FATAL and view["col"] == 1 and not Path("immortal").exists():
            for number in range(self.times):
                if not Path(f"died-{{number}}").exists():
                    Path(f"died-{{number}}").touch()
                    self.die()
        return rng.choice(moves)

    def die(self):
        {death}
"""
"""A bot that dies when it sees a certain hand, and has not died as often as it shall."""
KILLED, EXITED = "os.kill(os.getpid(), signal.SIGKILL)", "os._exit(7)"

GAMES = 60
FATAL_GAME = 31


@pytest.fixture(autouse=True)
def _in_a_folder_with_a_sound_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(match, "CHUNK_SECONDS", 1e-9)
    monkeypatch.setattr(records, "SHARD_GAMES", 6)
    write_bot(0, KILLED, None)
    assert play_with_it("--workers", "1", out="sound").status == 0


def write_bot(times: int, death: str, fatal: list[str] | None) -> None:
    Path("mortal.py").write_text(BOTS.format(times=times, death=death, fatal=fatal))


def fatal_hand() -> list[str]:
    """Return the hand that the bot is dealt in the fatal game, which no other bot has it play with."""
    cols = frame("sound", "cols")
    row = cols[(cols["game_id"] == FATAL_GAME) & (cols["col"] == 1) & cols["bot"].str.contains("Mortal")]
    return list(card_texts(row["hand"].iloc[0]))


def arguments(out: str) -> list[str]:
    bots = ["--bots", "./mortal.py:Mortal", "greedy", "random", "--rule", "col_values=1,2"]
    return [*bots, "--games", str(GAMES), "--quiet", "--out", out]


def play_with_it(*others: str, out: str = "run") -> Said:
    return play(*arguments(out), *others)


def deaths() -> int:
    return len([*Path().glob("died-*")])


def assert_undisturbed() -> None:
    assert_same_rows("run", "sound")
    assert_holds("run", GAMES)
    assert (manifest("run")["status"], manifest("run")["games_written"]) == ("finished", GAMES)


@pytest.mark.parametrize(
    ("times", "death"),
    [
        (1, KILLED),
        pytest.param(1, EXITED, marks=pytest.mark.slow),
        pytest.param(2, KILLED, marks=pytest.mark.slow),
        pytest.param(2, EXITED, marks=pytest.mark.slow),
    ],
)
def test_a_worker_that_dies_is_noticed_and_its_games_are_played_again(times: int, death: str) -> None:
    write_bot(times, death, fatal_hand())
    result = play_with_it("--workers", "2")
    assert result.status == 0, result
    assert deaths() == times
    told = re.compile(r"velonimo_sim\.tournament: a worker died over games? (\d+).*, which is played again")
    games = [match[1] for line in result.err.splitlines() if (match := told.fullmatch(line))]
    assert len(games) == len(result.err.splitlines())
    assert games.count(str(FATAL_GAME)) == times
    assert len(games) <= 2 * times, "a process that dies has one other chunk at most"
    assert_undisturbed()


def test_after_three_deaths_over_the_same_games_the_run_stops_and_names_them_and_can_be_gone_on_with() -> None:
    write_bot(1_000, KILLED, fatal_hand())
    result = play_with_it("--workers", "2")
    assert (result.status, deaths()) == (1, 3)
    last = result.err.splitlines()[-1]
    assert f"stopped: game {FATAL_GAME}: 3 workers died of it; " in last
    assert last.endswith("30 games are safe in run; --resume goes on")
    assert "Traceback" not in result.err
    assert_holds("run", 30)
    assert (manifest("run")["status"], manifest("run")["games_written"]) == ("failed", 30)
    Path("immortal").touch()
    assert play_with_it("--workers", "1", "--resume").status == 0
    assert_undisturbed()


@pytest.mark.slow
def test_a_worker_that_somebody_kills_is_replaced() -> None:
    write_bot(0, KILLED, None)
    with started(*arguments("run"), "--workers", "2") as process:
        wait_for(lambda: any(Path("run").glob("games-*")), process)
        for path in Path().glob("pid-*"):
            if (number := int(path.name.removeprefix("pid-"))) not in (os.getpid(), process.pid):
                os.kill(number, signal.SIGKILL)
                break
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "a worker died over game" in err
    assert "Traceback" not in err
    assert_undisturbed()


@pytest.mark.slow
def test_a_run_in_which_a_worker_dies_stops_early_at_the_same_deal() -> None:
    until = ("--until", "greedy>./mortal.py:Mortal", "--alpha", "0.1")
    write_bot(0, KILLED, None)
    assert play_with_it(*until, "--workers", "1", out="early").status == 0
    games = manifest("early")["games_written"]
    assert FATAL_GAME < games < GAMES
    write_bot(1, KILLED, fatal_hand())
    result = play_with_it(*until, "--workers", "2")
    assert (result.status, deaths()) == (0, 1)
    assert_same_rows("run", "early")
    assert_holds("run", games)
