"""Whole games played by compiled bots, with one row per game and seat and one per game, col and seat (``rows.py``)."""

from collections.abc import Sequence

import numpy as np
from numba import from_dtype, types
from numpy.typing import NDArray

from velonimo_sim._jit import kernel, kernel_as, pick
from velonimo_sim.bits import integer, popcount
from velonimo_sim.errors import BotError
from velonimo_sim.rng import BOT, CHANCE, STREAM, open_stream
from velonimo_sim.velonimo.cards import HARES, TORTOISES
from velonimo_sim.velonimo.legal import REASONS, Refusal, refusal
from velonimo_sim.velonimo.moves import JERSEY, PASS, Kind, kind_of, seat_of
from velonimo_sim.velonimo.policies import Bot
from velonimo_sim.velonimo.policies.base import POLICY, SCRATCH, PolicyFunction
from velonimo_sim.velonimo.rows import COL_ROW, GAME_ROW
from velonimo_sim.velonimo.rules import MAX_PLAYERS, RuleSet
from velonimo_sim.velonimo.state import STATE, State, new_state
from velonimo_sim.velonimo.step import deal_col, describe, place_of, step
from velonimo_sim.velonimo.view import Phase

WHERE = np.dtype([("game", "i8"), ("move", "u8"), ("seat", "i4"), ("refusal", "i4")], align=True)
"""What is being played: game, seat to act and, where a bot broke the rules, its move and the ``Refusal``."""

_STREAMS = MAX_PLAYERS + 2  # one for each bot, then chance, then the deal


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
def _fill_game_rows(
    rows: NDArray[np.void], first: int, state: State, game: int, seating_id: int, seating: NDArray[np.int8]
) -> None:
    view = state["view"]
    for seat in range(integer(view["players"])):
        row = rows[first + seat]
        row["game_id"] = game
        row["deal_id"] = game
        row["seating_id"] = seating_id
        row["seat"] = seat
        row["bot"] = seating[seat]
        row["total"] = view["totals"][seat]
        row["place"] = place_of(view, seat)
        row["won"] = row["place"] == 1
        row["fault"] = 0


@kernel
def _count_beside_plays(rows: NDArray[np.void], first: int, seat: int, move: np.uint64) -> None:
    if kind_of(move) == Kind.SWAP:
        rows[first + seat]["swaps_made"] += 1
        rows[first + seat_of(move)]["swaps_suffered"] += 1


@kernel
def _play_col(
    state: State,
    policies: tuple[PolicyFunction, ...],
    scratches: NDArray[np.void],
    streams: NDArray[np.void],
    seating: NDArray[np.int8],
    rows: NDArray[np.void],
    first: int,
    where: NDArray[np.void],
) -> bool:
    """Play one col to its end; False if a bot chose what the rules refuse."""
    view, chance = state["view"], streams[MAX_PLAYERS]
    while view["phase"] < Phase.COL_OVER:
        seat, is_turn = integer(view["turn"]), view["phase"] <= Phase.FOLLOW
        where[0]["seat"] = seat
        bot = seating[seat]
        move = pick(policies, bot)(view, scratches[bot], streams[seat])
        if is_turn:
            rows[first + seat]["turns"] += 1
        if move == PASS and view["phase"] == Phase.FOLLOW:
            rows[first + seat]["passes"] += 1
        else:
            why = refusal(view, move)
            if why != Refusal.NONE:
                where[0]["move"] = move
                where[0]["refusal"] = why
                return False
            if not is_turn:
                _count_beside_plays(rows, first, seat, move)
        step(state, move, chance)
        if move & JERSEY:
            rows[first + seat]["jersey_spent_on"] = view["beat"]
    return True


@kernel
def _play_game(
    state: State,
    policies: tuple[PolicyFunction, ...],
    scratches: NDArray[np.void],
    streams: NDArray[np.void],
    seed: int,
    seating: NDArray[np.int8],
    rows: NDArray[np.void],
    first: int,
    where: NDArray[np.void],
) -> int:
    """Play one game; return the number of col rows written, or -1 if a bot chose what the rules refuse."""
    game, players = integer(where[0]["game"]), integer(state["view"]["players"])
    for seat in range(players):
        open_stream(streams[seat], seed, game, BOT + seat)
    open_stream(streams[MAX_PLAYERS], seed, game, CHANCE)
    written = 0
    while state["view"]["phase"] != Phase.GAME_OVER:
        deal = streams[MAX_PLAYERS + 1]
        open_stream(deal, seed, game, integer(state["view"]["col"]))
        deal_col(state, deal)
        _open_col_rows(rows, first + written, state, game, seating)
        if not _play_col(state, policies, scratches, streams, seating, rows, first + written, where):
            return -1
        _close_col_rows(rows, first + written, state)
        written += players
    return written


_SIGNATURE = types.int64(
    types.UniTuple(types.FunctionType(POLICY), MAX_PLAYERS),
    from_dtype(SCRATCH)[::1],
    from_dtype(STATE)[::1],
    types.int8[:, ::1],
    types.int64,
    types.int64,
    types.int64,
    from_dtype(GAME_ROW)[::1],
    from_dtype(COL_ROW)[::1],
    from_dtype(WHERE)[::1],
)


@kernel_as(_SIGNATURE)
def play_games(
    policies: tuple[PolicyFunction, ...],
    scratches: NDArray[np.void],
    start: NDArray[np.void],
    seatings: NDArray[np.int8],
    seed: int,
    first_game: int,
    games: int,
    game_rows: NDArray[np.void],
    col_rows: NDArray[np.void],
    where: NDArray[np.void],
) -> int:
    """Play consecutive games of a run; the loop that tournaments and speed measurements share.

    Parameters
    ----------
    policies : tuple of 5 compiled policies
        By bot; padded to five with any of them.
    scratches : numpy.ndarray
        dtype ``SCRATCH``, shape (5,): working memory by bot.
    start : numpy.ndarray
        dtype ``STATE``, shape (1,): the state that every game begins with, see ``new_state``.
    seatings : numpy.ndarray
        dtype int8, shape (seatings, players): which bot sits in which seat; game g has seating g modulo their number.
    seed, first_game, games : int
        Root seed, index of the first game, number of games.
    game_rows : numpy.ndarray
        dtype ``GAME_ROW``, room for games x players rows; filled.
    col_rows : numpy.ndarray
        dtype ``COL_ROW``, room for games x cols x players rows; filled.
    where : numpy.ndarray
        dtype ``WHERE``, shape (1,): the game and seat being played, for the report when a bot fails.

    Returns
    -------
    int
        Number of col rows written, or -1 if a bot chose a move that the rules refuse: ``where`` then says which.
    """
    states = np.empty(1, STATE)
    streams = np.empty(_STREAMS, STREAM)
    players = integer(start[0]["view"]["players"])
    written = 0
    for i in range(games):
        where[0]["game"] = first_game + i
        seating_id = (first_game + i) % len(seatings)
        seating = seatings[seating_id]
        states[0] = start[0]
        rows = _play_game(states[0], policies, scratches, streams, seed, seating, col_rows, written, where)
        if rows < 0:
            return -1
        written += rows
        _fill_game_rows(game_rows, i * players, states[0], first_game + i, seating_id, seating)
    return written


class Table:
    """A table ready to play the games of a run: bots, rules, seatings and seed.

    Parameters
    ----------
    bots : sequence of Bot
        One a player.
    rules : RuleSet
        The options in force.
    seatings : numpy.ndarray
        dtype int8, shape (seatings, players): which bot sits in which seat; game g has seating g modulo their number.
    seed : int
        Root seed of all streams.

    Raises
    ------
    UsageError
        If the rules cannot be played by so many.
    """

    def __init__(self, bots: Sequence[Bot], rules: RuleSet, seatings: NDArray[np.int8], seed: int) -> None:
        self.bots = tuple(bots)
        self.seatings = seatings
        self.seed = seed
        self._start = np.array([new_state(len(bots), rules)])
        functions = [bot.policy.function for bot in bots]
        self._policies = tuple(functions + functions[:1] * (MAX_PLAYERS - len(bots)))

    def play(self, first_game: int, games: int, game_rows: NDArray[np.void], col_rows: NDArray[np.void]) -> int:
        """Play consecutive games and fill in their rows; may be called from several threads at once.

        Returns
        -------
        int
            Number of col rows written.

        Raises
        ------
        BotError
            If a bot raises or chooses what the rules refuse.
        """
        where = np.zeros(1, WHERE)
        scratches = np.zeros(MAX_PLAYERS, SCRATCH)
        for index, bot in enumerate(self.bots):
            scratches[index] = bot.scratch()
        try:
            written = play_games(
                self._policies,
                scratches,
                self._start,
                self.seatings,
                self.seed,
                first_game,
                games,
                game_rows,
                col_rows,
                where,
            )
        except Exception as error:
            raise self._fault(where[0], f"{type(error).__name__}: {error}") from error
        if written < 0:
            reason = REASONS[Refusal(int(where[0]["refusal"]))][1]
            raise self._fault(where[0], f"chose {describe(where[0]['move'])}, which is illegal: {reason}")
        return written

    def _fault(self, where: np.void, cause: str) -> BotError:
        game, seat = int(where["game"]), int(where["seat"])
        bot = self.bots[self.seatings[game % len(self.seatings), seat]]
        return BotError(f"game {game}, seat {seat}, bot {bot.text}: {cause}")
