"""Whole races of VeloCity, with one row per game and seat and one per game (``rows.py``)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import inlined, kernel, kernel_as
from velonimo_sim.bits import integer
from velonimo_sim.bot.text import Bot
from velonimo_sim.faults import OnFault
from velonimo_sim.loop import Loop, Stop, choose, close_game, loop_dtype, loop_signature, open_game, scratch_of
from velonimo_sim.table import Engine, Table
from velonimo_sim.velocity.dice import ENERGY
from velonimo_sim.velocity.legal import REASONS, Refusal, refusal
from velonimo_sim.velocity.moves import BREAKAWAY, FOLLOW, PAY, REFUEL, Kind, detail_of, kind_of
from velonimo_sim.velocity.policies.base import POLICY, SCRATCH
from velonimo_sim.velocity.policies.uniform import uniform
from velonimo_sim.velocity.rows import GAME_ROW, RACE_ROW
from velonimo_sim.velocity.rules import MAX_PLAYERS, RuleSet
from velonimo_sim.velocity.state import STATE, new_state
from velonimo_sim.velocity.step import describe, place_of, spaces_left, step
from velonimo_sim.velocity.view import Phase, View

LOOP = loop_dtype(STATE, MAX_PLAYERS)
"""Where the loop stands; its stream of chance is that of the dice."""


@kernel
def _open_rows(rows: NDArray[np.void], race: np.void, view: View) -> None:
    for seat in range(len(rows)):
        row = rows[seat]
        row["turns"] = 0
        row["first_at"] = 0
        row["second_at"] = 0
        row["third_at"] = 0
        row["solo"] = 0
        row["refuel"] = 0
        row["breakaway"] = 0
        row["pack"] = 0
        row["pack_refuel"] = 0
        row["carried"] = 0
        row["cans_at_start"] = view["cans"][seat]
        row["on_slipstream"] = 0
        row["on_obstacles"] = 0
    race["decisions"] = 0


@inlined
def _count(row: np.void, move: np.uint64) -> None:
    """Count in the row of the seat to act what a move does that is about to be made."""
    kind = kind_of(move)
    if kind == Kind.SOLO:
        row["turns"] += 1
        row["solo"] += detail_of(move) == 0
        row["refuel"] += detail_of(move) == REFUEL
        row["breakaway"] += detail_of(move) == BREAKAWAY
    elif kind == Kind.PACK:
        row["turns"] += 1
        row["pack"] += detail_of(move) == 0
        row["pack_refuel"] += detail_of(move) == REFUEL
    elif move == FOLLOW:
        row["on_slipstream"] += 1
    elif move == PAY:
        row["on_obstacles"] += 1


@kernel
def _play_race(
    loop: Loop,
    policies: NDArray[np.void],
    scratches: NDArray[np.void],
    rows: NDArray[np.void],
    race: np.void,
) -> bool:
    """Play an open race to its end; False if the loop has to stop before it goes on."""
    state, view = loop["state"], loop["state"]["view"]
    while view["phase"] != Phase.GAME_OVER:
        seat = integer(view["turn"])
        move = choose(loop, seat, policies[loop["policies"][seat]], scratches[scratch_of(loop, seat)])
        why = refusal(view, move)
        if why != Refusal.NONE:
            loop["move"] = move
            loop["refusal"] = why
            return False
        _count(rows[seat], move)
        if kind_of(move) == Kind.DIE and detail_of(move) < ENERGY and detail_of(move) != seat:
            rows[detail_of(move)]["carried"] += 1
        race["decisions"] += 1
        step(state, move, loop["chance"])
        if loop["is_traced"]:
            loop["move"] = move
            loop["stopped"] = Stop.MOVED
            return False
    return True


@kernel
def _close_rows(rows: NDArray[np.void], view: View) -> None:
    """Fill in what the end of a race tells of each seat."""
    for seat in range(len(rows)):
        row = rows[seat]
        row["total"] = view["finished"][seat]
        row["place"] = place_of(view, seat)
        row["spaces_left"] = spaces_left(view, seat)
        row["on_refuel"] = row["refuel"] + row["pack_refuel"]
        row["on_breakaway"] = BREAKAWAY * row["breakaway"]
        row["moved_back"] = view["moved_back"][seat]
        row["sent_to_park"] = view["sent_to_park"][seat]
        row["supplied"] = view["supplied"][seat]
        row["compensated"] = view["compensated"][seat]
        row["lost"] = view["lost"][seat]
        row["cans_left"] = view["cans"][seat]
    for place in range(integer(view["n_finished"])):
        row = rows[integer(view["finish"][place])]
        if row["first_at"] == 0:
            row["first_at"] = place + 1
        elif row["second_at"] == 0:
            row["second_at"] = place + 1
        else:
            row["third_at"] = place + 1


@kernel
def _close_race_row(race: np.void, rows: NDArray[np.void], view: View) -> None:
    """Fill in what the end of a race tells of it, from its game rows, too."""
    race["game_id"] = rows[0]["game_id"]
    race["deal_id"] = rows[0]["deal_id"]
    race["turns"] = view["turns"]
    race["in_finish"] = view["n_finished"]
    race["end"] = view["end"]
    for seat in range(len(rows)):
        if rows[seat]["won"]:
            race["winner"] = seat
            race["bot"] = rows[seat]["bot"]


@kernel_as(loop_signature(LOOP, STATE, SCRATCH, GAME_ROW, RACE_ROW))
def play_games(
    policies: NDArray[np.void],
    settings: NDArray[np.void],
    scratches: NDArray[np.void],
    start: NDArray[np.void],
    seatings: NDArray[np.int8],
    game_rows: NDArray[np.void],
    race_rows: NDArray[np.void],
    loops: NDArray[np.void],
) -> bool:
    """Play consecutive games of a run; the loop that tournaments and speed measurements share.

    It stops where Python has something to do, a ``Stop``, and goes on from there when it is called again. See
    ``velonimo.playout.play_games`` for the parameters; ``race_rows`` has dtype ``RACE_ROW`` and room for a row a game.

    Returns
    -------
    bool
        Whether all games are played; False where Python has something to do: ``loops`` then says what.
    """
    loop = loops[0]
    players = integer(start[0]["view"]["players"])
    while loop["game"] < loop["end"]:
        seating_id = integer(loop["game"]) % len(seatings)
        seating = seatings[seating_id]
        game = integer(loop["game"]) - integer(loop["first_game"])
        rows, race = game_rows[game * players : (game + 1) * players], race_rows[game]
        if not loop["is_open"]:
            loop["deal"] = integer(loop["game"]) // len(seatings)
            open_game(loop, start[0], scratches, settings, seating)
            _open_rows(rows, race, start[0]["view"])
            if loop["is_traced"]:
                loop["stopped"] = Stop.DEALT
                return False
        if not _play_race(loop, policies, scratches, rows, race):
            return False
        _close_rows(rows, loop["state"]["view"])
        loop["detail_rows"] += 1
        close_game(rows, loop, seating_id, seating)
        _close_race_row(race, rows, loop["state"]["view"])
    return True


ENGINE = Engine(
    game="velocity",
    loop=LOOP,
    scratch=SCRATCH,
    policy=POLICY,
    uniform=uniform,
    new_state=new_state,
    play_games=play_games,
    refusal=refusal,
    reasons=REASONS,
    describe=describe,
)
"""What a table needs of VeloCity."""


def open_table(
    bots: Sequence[Bot],
    rules: RuleSet,
    seatings: NDArray[np.int8],
    seed: int,
    on_fault: OnFault = OnFault.RAISE,
    time_limit: int | None = None,
) -> Table:
    """Return a table that plays VeloCity, see ``Table``."""
    return Table(ENGINE, bots, rules, seatings, seed, on_fault, time_limit)
