"""Bots at fault in play: what the results say of it, and what becomes of the game."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import rotated_seatings
from velonimo_sim import table
from velonimo_sim._clock import monotonic_ns
from velonimo_sim.bot.policy import compiled_bot
from velonimo_sim.errors import BotError, UsageError
from velonimo_sim.faults import Fault, OnFault
from velonimo_sim.rng import Stream
from velonimo_sim.velonimo.moves import KEEP, Move
from velonimo_sim.velonimo.playout import open_table
from velonimo_sim.velonimo.policies import parse_bot
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.policies.greedy import greedy
from velonimo_sim.velonimo.rows import COL_ROW, GAME_ROW
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.view import Phase, View

pytestmark = pytest.mark.kernel

Rows = NDArray[Any]

RULES = RuleSet(col_values=(1, 2))
LIMIT = 250
"""Milliseconds that sound bots do not come near, whatever else the machine does."""
TOO_LONG = 300


@compiled_bot("compiled-illegal", "answers the leads of col 2 with what is no play")
def compiled_illegal(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    return KEEP if view["col"] == 2 and view["phase"] == Phase.LEAD else greedy(view, scratch, stream)


@compiled_bot("compiled-raising", "raises at the leads of col 2")
def compiled_raising(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    if view["col"] == 2 and view["phase"] == Phase.LEAD:
        raise ValueError("lost my glasses")
    return greedy(view, scratch, stream)


@compiled_bot("compiled-late", "thinks too long about the first lead of a game that it starts")
def compiled_late(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    if view["col"] == 1 and view["phase"] == Phase.LEAD and view["played"] == np.uint64(0):
        began = monotonic_ns()
        while monotonic_ns() - began < 1_000_000 * TOO_LONG:
            pass
    return greedy(view, scratch, stream)


class PlainIllegal:
    """Answers the leads of col 2 with what is no play."""

    def choose(self, view: dict[str, Any], moves: list[Move], rng: Any) -> object:  # noqa: ARG002
        return "keep" if view["col"] == 2 and view["phase"] == "lead" else moves[0]


class PlainRaising:
    """Raises at the leads of col 2."""

    def choose(self, view: dict[str, Any], moves: list[Move], rng: Any) -> object:  # noqa: ARG002
        if view["col"] == 2 and view["phase"] == "lead":
            raise ValueError("lost my glasses")
        return moves[0]


class PlainLate:
    """Thinks too long about the first lead of a game that it starts."""

    def choose(self, view: dict[str, Any], moves: list[Move], rng: Any) -> object:  # noqa: ARG002
        if view["col"] == 1 and view["phase"] == "lead" and not view["played"]:
            began = time.monotonic_ns()
            while time.monotonic_ns() - began < 1_000_000 * TOO_LONG:
                pass
        return moves[0]


class PlainFirst:
    """Makes the first legal move."""

    def choose(self, view: dict[str, Any], moves: list[Move], rng: Any) -> object:  # noqa: ARG002
        return moves[0]


KINDS = {
    "compiled_illegal": Fault.ILLEGAL_MOVE,
    "PlainIllegal": Fault.ILLEGAL_MOVE,
    "compiled_raising": Fault.EXCEPTION,
    "PlainRaising": Fault.EXCEPTION,
    "compiled_late": Fault.OVER_TIME,
    "PlainLate": Fault.OVER_TIME,
}
each_bot = pytest.mark.parametrize("bot", KINDS)


def play(
    bots: Sequence[str], games: int, on_fault: OnFault, limit: int | None = LIMIT, first_game: int = 0
) -> tuple[Rows, Rows]:
    """Play games; return their rows with shapes (games, players) and (games, cols, players)."""
    table = open_table([parse_bot(bot) for bot in bots], RULES, rotated_seatings(len(bots)), 3, on_fault, limit)
    game_rows, col_rows = np.zeros(games * len(bots), GAME_ROW), np.zeros(games * 2 * len(bots), COL_ROW)
    assert table.play(first_game, games, game_rows, col_rows) == len(col_rows)
    return game_rows.reshape(games, -1), col_rows.reshape(games, 2, -1)


def at_fault(bot: str) -> list[str]:
    return ["greedy", f"test_faults:{bot}", "random", "hold-hares"]


CAUSES = {
    "compiled_illegal": "chose 'keep', which is illegal: this is not what has to be decided now",
    "PlainIllegal": "chose 'keep', which is illegal: this is not what has to be decided now",
    "compiled_raising": "ValueError: lost my glasses",
    "PlainRaising": "ValueError: lost my glasses (test_faults.py, line ",
    "compiled_late": "took 3",
    "PlainLate": "took 3",
}


@each_bot
def test_raise_names_game_seat_bot_and_cause(bot: str) -> None:
    with pytest.raises(BotError) as caught:
        play(at_fault(bot), 12, OnFault.RAISE)
    message = str(caught.value)
    game = int(message.removeprefix("game ").partition(",")[0])
    assert message.startswith(f"game {game}, seat {(1 + game) % 4}, bot test_faults:{bot}: {CAUSES[bot]}")
    assert "\n" not in message


@pytest.mark.parametrize("bot", ["compiled_late", "PlainLate"])
def test_a_late_bot_is_told_its_limit(bot: str) -> None:
    with pytest.raises(BotError, match=r"took 3\d\d\.\d ms for a decision: allowed are 250"):
        play(at_fault(bot), 4, OnFault.RAISE)
    games, _ = play(at_fault(bot), 4, OnFault.RAISE, limit=None)
    assert not games["fault"].any()


@each_bot
@pytest.mark.parametrize("on_fault", [OnFault.RANDOM, OnFault.FORFEIT])
def test_the_results_say_which_bot_was_at_fault_and_how(bot: str, on_fault: OnFault) -> None:
    games, _ = play(at_fault(bot), 12 if "ate" not in bot else 4, on_fault)
    is_offender = games["bot"] == 1
    assert set(games["fault"][is_offender].tolist()) - {Fault.NONE} == {KINDS[bot]}
    assert not games["fault"][~is_offender].any()
    assert ((games["faults"] > 0) == (games["fault"] > 0)).all()
    if on_fault is OnFault.FORFEIT:
        assert games["faults"].max() == 1


@each_bot
def test_who_forfeits_is_last_and_the_others_are_ranked_as_they_finished(bot: str) -> None:
    games, cols = play(at_fault(bot), 12 if "ate" not in bot else 4, OnFault.FORFEIT)
    for rows, of_cols in zip(games, cols, strict=True):
        assert rows["total"].tolist() == of_cols["points"].sum(axis=0).tolist()
        last = of_cols["points"][-1].tolist()
        keys = [(int(row["fault"]) != 0, -int(row["total"]), -points) for row, points in zip(rows, last, strict=True)]
        assert rows["place"].tolist() == [1 + sum(other < key for other in keys) for key in keys]
        assert (rows["won"] == (rows["place"] == 1)).all()


def test_a_game_without_fault_is_the_same_in_every_mode() -> None:
    bots = ["test_faults:PlainFirst", "greedy", "random"]
    rows = [play(bots, 9, mode, limit) for mode, limit in ((OnFault.RAISE, None), *((way, LIMIT) for way in OnFault))]
    for other in rows[1:]:
        assert all((a == b).all() for a, b in zip(rows[0], other, strict=True))


@pytest.mark.parametrize("bot", ["compiled_illegal", "PlainRaising"])
def test_a_random_move_replaces_the_decision_alone(bot: str) -> None:
    """Every lead of col 2 is at fault, and before it all is as if there were none."""
    games, cols = play(at_fault(bot), 30, OnFault.RANDOM)
    sound = "greedy" if bot.startswith("compiled") else "test_faults:PlainFirst"
    _, sound_cols = play(["greedy", sound, "random", "hold-hares"], 30, OnFault.RAISE)
    assert (cols[:, 0] == sound_cols[:, 0]).all()
    offender = np.nonzero(games["bot"] == 1)
    assert games["faults"][offender].max() > 1
    assert (games["faults"][offender] <= (cols["turns"] - cols["passes"])[:, 1][offender]).all()
    assert set(games["place"][offender].tolist()) > {4}


@pytest.mark.parametrize("on_fault", [OnFault.RANDOM, OnFault.FORFEIT])
def test_chunks_do_not_matter_to_faults(on_fault: OnFault) -> None:
    bots = ["test_faults:PlainRaising", "test_faults:compiled_illegal", "random"]
    whole = play(bots, 8, on_fault, None)
    parts = [play(bots, 4, on_fault, None, first_game) for first_game in (0, 4)]
    for rows, pieces in zip(whole, zip(*parts, strict=True), strict=True):
        assert (rows == np.concatenate(pieces)).all()


def test_of_several_who_forfeit_the_first_is_last() -> None:
    """With all at fault in the first lead of col 2 that they make, who never leads wins, then who led last."""
    games, cols = play(["test_faults:compiled_illegal"] * 4, 40, OnFault.FORFEIT, None)
    assert (np.sort(games["place"], axis=1) == np.arange(1, 5)).all()
    assert (games["fault"].astype(bool).sum(axis=1) > 1).any()
    starters = cols["started"][:, 1]
    assert (games["place"][starters] == 4).all()
    for rows in games:
        assert rows["place"][rows["fault"] == 0].max(initial=0) < rows["place"][rows["fault"] > 0].min()


def test_the_words_of_a_fault() -> None:
    assert [fault.words for fault in Fault] == ["none", "illegal move", "exception", "over time"]


def test_a_time_limit_is_refused_where_kernels_cannot_read_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "HAS_CLOCK", False)
    with pytest.raises(UsageError, match="time limit 250: kernels can read the clock on Linux and macOS only"):
        play(["greedy", "random"], 1, OnFault.RAISE)
    play(["greedy", "random"], 1, OnFault.RAISE, limit=None)
