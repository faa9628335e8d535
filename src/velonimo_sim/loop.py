"""What the loops of all games share: the record of where one stands, and the kernels that ask bots and fill in rows.

A game's ``playout.py`` has the loop itself. Compiled code cannot ask Python: where it must, for a plain bot or a fault,
the loop returns, and goes on when it is called again; all that it needs for that lies in one record. These kernels are
compiled into each game's loop, for the types of its records.
"""

from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from numba import from_dtype, types
from numpy.typing import NDArray

from velonimo_sim._clock import monotonic_ns
from velonimo_sim._jit import FUNCTION_WORDS, INTERPRETED, inlined, keep_function, kept_function, kernel, kernel_as
from velonimo_sim.bits import integer
from velonimo_sim.bot.parameter import MAX_PARAMETERS
from velonimo_sim.bot.plain import NO_MOVE
from velonimo_sim.rng import BOT, CHANCE, STREAM, Stream, open_stream


def loop_dtype(state: np.dtype[np.void], seats: int, more: Sequence[tuple[str, Any]] = ()) -> np.dtype[np.void]:
    """Return the dtype of where a loop stands: all that it needs to go on after Python has decided something.

    Parameters
    ----------
    state : numpy.dtype
        The state of a game.
    seats : int
        The most players.
    more : sequence
        Fields that this game needs beside those of all.
    """
    return np.dtype(
        [
            ("state", state),
            ("streams", STREAM, (seats,)),  # by seat: that of its bot
            ("chance", STREAM),
            *more,
            ("seed", "i8"),
            ("first_game", "i8"),
            ("game", "i8"),  # the game being played, or the next
            ("deal", "i8"),  # the deal that it is played with, which names all streams of the game
            ("end", "i8"),  # the game before which to stop
            ("detail_rows", "i8"),  # detail rows that are finished
            ("limit", "i8"),  # nanoseconds that a decision may take; 0 = any
            ("took", "i8"),  # nanoseconds of a decision that took longer
            ("move", "u8"),  # a move that was refused; or, handed in from Python, the one to make
            ("faults", "i4", (seats,)),  # by seat: how many in this game
            ("seat", "i4"),  # seat that decides
            ("refusal", "i4"),  # why ``move`` was refused
            ("fault", "u1", (seats,)),  # by seat: the first Fault in this game
            ("forfeited", "u1", (seats,)),  # by seat: 1 = the first to forfeit this game, 0 = has not
            ("greeted", "u1", (seats,)),  # by seat: 1 = its plain bot has been told of this game
            ("sees_all", "u1", (seats,)),  # by seat: 1 = its bot is shown the whole state
            ("is_open", "u1"),  # 1 = a game is being played
            ("is_answered", "u1"),  # 1 = ``move`` is to be made
            ("is_watched", "u1"),  # 1 = decisions are more than one call: see _choose_watched
            ("is_traced", "u1"),  # 1 = stop after each deal and each move
            ("stopped", "u1"),  # a Stop: why the loop has stopped
        ],
        align=True,
    )


Loop: TypeAlias = np.void
"""A record of a dtype that ``loop_dtype`` made."""
Scratch: TypeAlias = np.void
"""Working memory of a bot, of the dtype that its game declares."""
Settings: TypeAlias = np.void
"""A record of dtype ``SETTINGS``."""

SETTINGS = np.dtype([("parameters", "f8", (MAX_PARAMETERS,)), ("sees_all", "u1")], align=True)
"""What is set of a bot: the numbers of its parameters, and whether it is shown the whole state."""


class Stop(IntEnum):
    """Why the loop has stopped before its end."""

    DECISION = 0  # Python has to decide: for a plain bot, or what becomes of a bot at fault
    DEALT = 1  # a game has begun, or cards have been dealt, in a traced game
    MOVED = 2  # ``move`` has been made, in a traced game


# What a loop is handed.


@cache
def _keeper(signature: Any) -> Callable[[Callable[..., Any], NDArray[Any]], None]:
    """Return a compiled function that keeps functions of a signature in the row of a table."""
    return kernel_as(types.void(types.FunctionType(signature), types.uint64[::1]))(_keep)


def _keep(policy: Callable[..., Any], row: NDArray[Any]) -> None:
    keep_function(policy, row)


def policy_table(policies: Sequence[Callable[..., Any]], signature: Any) -> NDArray[Any]:
    """Return compiled policies of a signature as the table that a loop picks from; they have to be kept alive.

    Returns
    -------
    numpy.ndarray
        dtype uint64, shape (policies, ``FUNCTION_WORDS``); interpreted, the functions themselves.
    """
    table = np.zeros((len(policies), FUNCTION_WORDS), object if INTERPRETED else np.uint64)
    for policy, row in zip(policies, table, strict=True):
        _keeper(signature)(policy, row)
    return table


def bot_settings(bots: Sequence[Any]) -> NDArray[np.void]:
    """Return what is set of each bot, dtype ``SETTINGS``."""
    settings = np.zeros(len(bots), SETTINGS)
    for bot, record in zip(bots, settings, strict=True):
        bot.set_up(record)
        record["sees_all"] = bot.sees_all
    return settings


def loop_signature(
    loop: np.dtype[np.void],
    state: np.dtype[np.void],
    scratch: np.dtype[np.void],
    game_row: np.dtype[np.void],
    detail_row: np.dtype[np.void],
) -> Any:
    """Return the signature of a game's ``play_games``, from the dtypes of its records."""
    records = [from_dtype(dtype)[::1] for dtype in (SETTINGS, scratch, state)]
    rows = [from_dtype(dtype)[::1] for dtype in (game_row, detail_row, loop)]
    return types.boolean(types.uint64[:, ::1], *records, types.int8[:, ::1], *rows)


# How bots are asked.


@inlined
def decide(policies: NDArray[np.uint64], policy: int, view: Any, scratch: Scratch, stream: Stream) -> np.uint64:
    """Return what a policy of a table answers."""
    return np.uint64(kept_function(policies, policy, view, scratch, stream)(view, scratch, stream))


@kernel
def _scratch_of(loop: Loop, seat: int) -> int:
    """Return which scratch a seat has; who sees all has one of its own, so that nobody else finds the truth in it."""
    return seat + len(loop["sees_all"]) * integer(loop["sees_all"][seat])


@kernel
def _choose_watched(loop: Loop, policies: NDArray[np.uint64], bot: int, scratch: Scratch) -> np.uint64:
    """Return the move of the seat to act; ``NO_MOVE`` if its bot took too long, or is one that Python has to ask."""
    state, seat = loop["state"], integer(loop["seat"])
    loop["stopped"] = Stop.DECISION
    if loop["is_answered"]:
        loop["is_answered"] = 0
        return np.uint64(loop["move"])
    if loop["forfeited"][seat] > 0:
        return decide(policies, len(policies) - 1, state["view"], scratch, loop["streams"][seat])
    if loop["sees_all"][seat]:
        scratch["truth"] = state
    if loop["limit"] == 0:
        return decide(policies, bot, state["view"], scratch, loop["streams"][seat])
    began = monotonic_ns()
    move = decide(policies, bot, state["view"], scratch, loop["streams"][seat])
    loop["took"] = monotonic_ns() - began
    return NO_MOVE if loop["took"] > loop["limit"] else move


@inlined
def choose(
    loop: Loop, policies: NDArray[np.uint64], scratches: NDArray[np.void], seating: NDArray[np.int8], seat: int
) -> np.uint64:
    """Return the move of the seat to act, which may be illegal; ``NO_MOVE`` if there is none yet."""
    loop["seat"] = seat
    if loop["is_watched"]:
        return _choose_watched(loop, policies, seating[seat], scratches[_scratch_of(loop, seat)])
    return decide(policies, seating[seat], loop["state"]["view"], scratches[seat], loop["streams"][seat])


# How a game begins and ends.


@kernel
def _set_up(scratch: Scratch, settings: Settings) -> None:
    for i in range(MAX_PARAMETERS):
        scratch["parameters"][i] = settings["parameters"][i]
    scratch["used"] = 0


@kernel
def open_game(
    loop: Loop, start: np.void, scratches: NDArray[np.void], settings: NDArray[np.void], seating: NDArray[np.int8]
) -> None:
    """Begin the game that the loop has come to: its first state, its streams, and the scratches of its bots."""
    loop["state"] = start
    loop["is_open"] = 1
    for seat in range(len(seating)):
        bot = seating[seat]
        open_stream(loop["streams"][seat], integer(loop["seed"]), integer(loop["deal"]), BOT + seat)
        loop["sees_all"][seat] = settings[bot]["sees_all"]
        _set_up(scratches[_scratch_of(loop, seat)], settings[bot])
        loop["faults"][seat] = 0
        loop["fault"][seat] = 0
        loop["forfeited"][seat] = 0
        loop["greeted"][seat] = 0
    open_stream(loop["chance"], integer(loop["seed"]), integer(loop["deal"]), CHANCE)


@kernel
def _place_forfeits(rows: NDArray[np.void], loop: Loop) -> None:
    """Change the places of a game: who forfeits is last among those who had not forfeited before."""
    players = len(rows)
    for seat in range(players):
        place = integer(rows[seat]["place"])
        for other in range(players):
            if loop["forfeited"][other] > 0 and rows[other]["place"] < place and loop["forfeited"][seat] == 0:
                rows[seat]["place"] -= 1
    for seat in range(players):
        if loop["forfeited"][seat] > 0:
            rows[seat]["place"] = players + 1 - integer(loop["forfeited"][seat])


@kernel
def close_game(rows: NDArray[np.void], loop: Loop, seating_id: int, seating: NDArray[np.int8]) -> None:
    """End a game: fill in what the game rows of all games have, once ``place`` is what it would be without forfeits."""
    _place_forfeits(rows, loop)
    for seat in range(len(rows)):
        row = rows[seat]
        row["game_id"] = loop["game"]
        row["deal_id"] = loop["deal"]
        row["seating_id"] = seating_id
        row["seat"] = seat
        row["bot"] = seating[seat]
        row["won"] = row["place"] == 1
        row["fault"] = loop["fault"][seat]
        row["faults"] = loop["faults"][seat]
    loop["is_open"] = 0
    loop["game"] += 1
