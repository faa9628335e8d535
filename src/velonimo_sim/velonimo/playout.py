"""Whole games of Velonimo, with one row per game and seat and one per game, col and seat (``rows.py``)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import kernel, kernel_as
from velonimo_sim.bits import integer, popcount
from velonimo_sim.bot.text import Bot
from velonimo_sim.faults import OnFault
from velonimo_sim.loop import Loop, Stop, choose, close_game, loop_dtype, loop_signature, open_game
from velonimo_sim.rng import STREAM, open_stream
from velonimo_sim.table import Engine, Table
from velonimo_sim.velonimo.cards import HARES, TORTOISES
from velonimo_sim.velonimo.legal import REASONS, Refusal, refusal
from velonimo_sim.velonimo.moves import JERSEY, PASS, Kind, kind_of, seat_of
from velonimo_sim.velonimo.policies.base import POLICY, SCRATCH
from velonimo_sim.velonimo.policies.uniform import uniform
from velonimo_sim.velonimo.rows import COL_ROW, GAME_ROW
from velonimo_sim.velonimo.rules import MAX_PLAYERS, RuleSet
from velonimo_sim.velonimo.state import STATE, State, new_state
from velonimo_sim.velonimo.step import deal_col, describe, place_of, step
from velonimo_sim.velonimo.view import Phase, View

LOOP = loop_dtype(STATE, MAX_PLAYERS, [("dealing", STREAM)])
"""Where the loop stands."""


@kernel
def _open_col_rows(rows: NDArray[np.void], first: int, state: State, game: int, seating: NDArray[np.int8]) -> None:
    view = state["view"]
    for seat in range(integer(view["players"])):
        row = rows[first + seat]
        row["game_id"] = game
        row["col"] = view["col"]
        row["seat"] = seat
        row["bot"] = seating[seat]
        row["hand"] = state["hands"][seat]
        row["tortoises"] = popcount(state["hands"][seat] & TORTOISES)
        row["hares"] = popcount(state["hands"][seat] & HARES)
        row["started"] = seat == view["starter"]
        row["wears_jersey"] = seat == view["wearer"]
        row["jersey_spent_on"] = 0
        row["swaps_made"] = 0
        row["swaps_suffered"] = 0
        row["turns"] = 0
        row["passes"] = 0


@kernel
def _close_col_rows(rows: NDArray[np.void], first: int, state: State) -> None:
    for seat in range(integer(state["view"]["players"])):
        rows[first + seat]["points"] = state["view"]["points"][seat]
        rows[first + seat]["out_order"] = state["view"]["out_order"][seat]


@kernel
def _count_beside_plays(rows: NDArray[np.void], first: int, seat: int, move: np.uint64) -> None:
    if kind_of(move) == Kind.SWAP:
        rows[first + seat]["swaps_made"] += 1
        rows[first + seat_of(move)]["swaps_suffered"] += 1


@kernel
def _play_col(
    loop: Loop,
    policies: NDArray[np.uint64],
    scratches: NDArray[np.void],
    seating: NDArray[np.int8],
    rows: NDArray[np.void],
    first: int,
) -> bool:
    """Play one col to its end; False if the loop has to stop before it goes on."""
    state, view = loop["state"], loop["state"]["view"]
    while view["phase"] < Phase.COL_OVER:
        seat, is_turn = integer(view["turn"]), view["phase"] <= Phase.FOLLOW
        move = choose(loop, policies, scratches, seating, seat)
        if move == PASS and view["phase"] == Phase.FOLLOW:
            rows[first + seat]["passes"] += 1
        else:
            why = refusal(view, move)
            if why != Refusal.NONE:
                loop["move"] = move
                loop["refusal"] = why
                return False
            if not is_turn:
                _count_beside_plays(rows, first, seat, move)
        if is_turn:
            rows[first + seat]["turns"] += 1
        step(state, move, loop["chance"])
        if move & JERSEY:
            rows[first + seat]["jersey_spent_on"] = view["beat"]
        if loop["is_traced"]:
            loop["move"] = move
            loop["stopped"] = Stop.MOVED
            return False
    return True


@kernel
def _play_game(
    loop: Loop,
    policies: NDArray[np.uint64],
    scratches: NDArray[np.void],
    seating: NDArray[np.int8],
    rows: NDArray[np.void],
) -> bool:
    """Play an open game to its end; False if the loop has to stop before it goes on."""
    view = loop["state"]["view"]
    while view["phase"] != Phase.GAME_OVER:
        if view["phase"] == Phase.COL_OVER:
            open_stream(loop["dealing"], integer(loop["seed"]), integer(loop["deal"]), integer(view["col"]))
            deal_col(loop["state"], loop["dealing"])
            _open_col_rows(rows, integer(loop["detail_rows"]), loop["state"], integer(loop["game"]), seating)
            if loop["is_traced"]:
                loop["stopped"] = Stop.DEALT
                return False
        goes_on = _play_col(loop, policies, scratches, seating, rows, integer(loop["detail_rows"]))
        if view["phase"] >= Phase.COL_OVER:
            _close_col_rows(rows, integer(loop["detail_rows"]), loop["state"])
            loop["detail_rows"] += view["players"]
        if not goes_on:
            return False
    return True


@kernel
def _rank(rows: NDArray[np.void], view: View) -> None:
    """Fill in the totals of a game, and the places by them."""
    for seat in range(len(rows)):
        rows[seat]["total"] = view["totals"][seat]
        rows[seat]["place"] = place_of(view, seat)


@kernel_as(loop_signature(LOOP, STATE, SCRATCH, GAME_ROW, COL_ROW))
def play_games(
    policies: NDArray[np.uint64],
    settings: NDArray[np.void],
    scratches: NDArray[np.void],
    start: NDArray[np.void],
    seatings: NDArray[np.int8],
    game_rows: NDArray[np.void],
    col_rows: NDArray[np.void],
    loops: NDArray[np.void],
) -> bool:
    """Play consecutive games of a run; the loop that tournaments and speed measurements share.

    It stops where Python has something to do, a ``Stop``, and goes on from there when it is called again.

    Parameters
    ----------
    policies : numpy.ndarray
        By bot: compiled policies, see ``policy_table``; the last is the one that moves for who has forfeited.
    settings : numpy.ndarray
        By bot: what is set of them, dtype ``SETTINGS``; see ``bot_settings``.
    scratches : numpy.ndarray
        dtype ``SCRATCH``, shape (2 x ``MAX_PLAYERS``,): working memory by seat, the second half for who sees all.
    start : numpy.ndarray
        dtype ``STATE``, shape (1,): the state that every game begins with, see ``new_state``.
    seatings : numpy.ndarray
        dtype int8, shape (seatings, players): which bot sits in which seat. Deal d is played by all of them, in as many
        games in a row, so that game g is deal ``g // seatings`` in seating ``g % seatings``.
    game_rows : numpy.ndarray
        dtype ``GAME_ROW``, room for games x players rows; filled.
    col_rows : numpy.ndarray
        dtype ``COL_ROW``, room for games x cols x players rows; filled.
    loops : numpy.ndarray
        dtype ``LOOP``, shape (1,): where the loop stands; if a bot raises, it stands before that decision.

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
        if not loop["is_open"]:
            loop["deal"] = integer(loop["game"]) // len(seatings)
            open_game(loop, start[0], scratches, settings, seating)
        if not _play_game(loop, policies, scratches, seating, col_rows):
            return False
        first = (integer(loop["game"]) - integer(loop["first_game"])) * players
        rows = game_rows[first : first + players]
        _rank(rows, loop["state"]["view"])
        close_game(rows, loop, seating_id, seating)
    return True


ENGINE = Engine(
    game="velonimo",
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
"""What a table needs of Velonimo."""


def open_table(
    bots: Sequence[Bot],
    rules: RuleSet,
    seatings: NDArray[np.int8],
    seed: int,
    on_fault: OnFault = OnFault.RAISE,
    time_limit: int | None = None,
) -> Table:
    """Return a table that plays Velonimo, see ``Table``."""
    return Table(ENGINE, bots, rules, seatings, seed, on_fault, time_limit)
