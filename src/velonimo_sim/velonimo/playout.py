"""Whole games, with one row per game and seat and one per game, col and seat (``rows.py``)."""

import traceback
from collections.abc import Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numba import from_dtype, types
from numpy.typing import NDArray

from velonimo_sim._clock import HAS_CLOCK, monotonic_ns
from velonimo_sim._jit import FUNCTION_WORDS, INTERPRETED, keep_function, kernel, kernel_as, picker
from velonimo_sim.bits import integer, popcount
from velonimo_sim.bot.parameter import MAX_PARAMETERS
from velonimo_sim.bot.plain import NO_MOVE, PlainPlayer, read_answer
from velonimo_sim.bot.policy import PlainPolicy, PolicyFunction
from velonimo_sim.bot.text import Bot
from velonimo_sim.errors import BotError, IllegalMoveError, UsageError, in_one_line
from velonimo_sim.faults import Fault, OnFault
from velonimo_sim.rng import BOT, CHANCE, STREAM, open_stream
from velonimo_sim.velonimo.cards import HARES, TORTOISES
from velonimo_sim.velonimo.legal import REASONS, Refusal, refusal
from velonimo_sim.velonimo.moves import JERSEY, PASS, Kind, kind_of, seat_of
from velonimo_sim.velonimo.policies import parse_bot
from velonimo_sim.velonimo.policies.base import POLICY, SCRATCH, Scratch
from velonimo_sim.velonimo.policies.uniform import uniform
from velonimo_sim.velonimo.rows import COL_ROW, GAME_ROW
from velonimo_sim.velonimo.rules import MAX_PLAYERS, RuleSet
from velonimo_sim.velonimo.state import STATE, State, new_state
from velonimo_sim.velonimo.step import deal_col, describe, is_ahead, place_of, step
from velonimo_sim.velonimo.view import Phase

_STREAMS = MAX_PLAYERS + 2

_pick = picker(POLICY)

LOOP = np.dtype(
    [
        ("state", STATE),
        ("streams", STREAM, (_STREAMS,)),  # one for each seat's bot, then chance, then the deal
        ("seed", "i8"),
        ("first_game", "i8"),
        ("game", "i8"),  # the game being played, or the next
        ("deal", "i8"),  # the deal that it is played with, which names all streams of the game
        ("end", "i8"),  # the game before which to stop
        ("col_rows", "i8"),  # col rows of all finished cols
        ("limit", "i8"),  # nanoseconds that a decision may take; 0 = any
        ("took", "i8"),  # nanoseconds of a decision that took longer
        ("move", "u8"),  # a move that was refused; or, handed in from Python, the one to make
        ("faults", "i4", (MAX_PLAYERS,)),  # by seat: how many in this game
        ("seat", "i4"),  # seat that decides
        ("refusal", "i4"),  # why ``move`` was refused
        ("fault", "u1", (MAX_PLAYERS,)),  # by seat: the first Fault in this game
        ("forfeited", "u1", (MAX_PLAYERS,)),  # by seat: 1 = the first to forfeit this game, 0 = has not
        ("greeted", "u1", (MAX_PLAYERS,)),  # by seat: 1 = its plain bot has been told of this game
        ("sees_all", "u1", (MAX_PLAYERS,)),  # by seat: 1 = its bot is shown the whole state
        ("is_open", "u1"),  # 1 = a game is being played
        ("is_answered", "u1"),  # 1 = ``move`` is to be made
        ("is_watched", "u1"),  # 1 = decisions are more than one call: see _choose_watched
        ("is_traced", "u1"),  # 1 = stop after each deal and each move
        ("stopped", "u1"),  # a Stop: why the loop has stopped
    ],
    align=True,
)
"""Where the loop stands: all that it needs to go on after Python has decided something."""

Loop: TypeAlias = np.void
"""A record of dtype ``LOOP``."""
Settings: TypeAlias = np.void
"""A record of dtype ``SETTINGS``."""

SETTINGS = np.dtype([("parameters", "f8", (MAX_PARAMETERS,)), ("sees_all", "u1")], align=True)
"""What is set of a bot: the numbers of its parameters, and whether it is shown the whole state."""


SCRATCHES = 2 * MAX_PLAYERS
"""How many scratches the loop needs."""


class Stop(IntEnum):
    """Why the loop has stopped before its end."""

    DECISION = 0  # Python has to decide: for a plain bot, or what becomes of a bot at fault
    DEALT = 1  # a col has been dealt, in a traced game
    MOVED = 2  # ``move`` has been made, in a traced game


_NO_SCRATCH = np.zeros(1, SCRATCH)[0]  # for the bot ``random``, which needs none


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
def _place_of(loop: Loop, seat: int) -> int:
    """Return the place of a seat: who forfeits is last among those who had not forfeited before."""
    view = loop["state"]["view"]
    players = integer(view["players"])
    if loop["forfeited"][seat] > 0:
        return players + 1 - integer(loop["forfeited"][seat])
    place = place_of(view, seat)
    for other in range(players):
        if loop["forfeited"][other] > 0 and is_ahead(view, other, seat):
            place -= 1
    return place


@kernel
def _fill_game_rows(rows: NDArray[np.void], first: int, loop: Loop, seating_id: int, seating: NDArray[np.int8]) -> None:
    view = loop["state"]["view"]
    for seat in range(integer(view["players"])):
        row = rows[first + seat]
        row["game_id"] = loop["game"]
        row["deal_id"] = loop["deal"]
        row["seating_id"] = seating_id
        row["seat"] = seat
        row["bot"] = seating[seat]
        row["total"] = view["totals"][seat]
        row["place"] = _place_of(loop, seat)
        row["won"] = row["place"] == 1
        row["fault"] = loop["fault"][seat]
        row["faults"] = loop["faults"][seat]


@kernel
def _count_beside_plays(rows: NDArray[np.void], first: int, seat: int, move: np.uint64) -> None:
    if kind_of(move) == Kind.SWAP:
        rows[first + seat]["swaps_made"] += 1
        rows[first + seat_of(move)]["swaps_suffered"] += 1


@kernel
def _choose_watched(loop: Loop, policies: NDArray[np.uint64], bot: int, scratch: Scratch) -> np.uint64:
    """Return the move of the seat to act; ``NO_MOVE`` if its bot took too long, or is one that Python has to ask."""
    state, seat = loop["state"], integer(loop["seat"])
    loop["stopped"] = Stop.DECISION
    if loop["is_answered"]:
        loop["is_answered"] = 0
        return np.uint64(loop["move"])
    if loop["forfeited"][seat] > 0:
        return np.uint64(uniform(state["view"], scratch, loop["streams"][seat]))
    if loop["sees_all"][seat]:
        scratch["truth"] = state
    if loop["limit"] == 0:
        return np.uint64(_pick(policies, bot)(state["view"], scratch, loop["streams"][seat]))
    began = monotonic_ns()
    move = _pick(policies, bot)(state["view"], scratch, loop["streams"][seat])
    loop["took"] = monotonic_ns() - began
    return NO_MOVE if loop["took"] > loop["limit"] else np.uint64(move)


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
    state, streams, is_watched = loop["state"], loop["streams"], loop["is_watched"]
    view, chance = state["view"], streams[MAX_PLAYERS]
    while view["phase"] < Phase.COL_OVER:
        seat, is_turn = integer(view["turn"]), view["phase"] <= Phase.FOLLOW
        loop["seat"] = seat
        bot = seating[seat]
        if is_watched:
            move = _choose_watched(loop, policies, bot, scratches[_scratch_of(loop, seat)])
        else:
            move = _pick(policies, bot)(view, scratches[seat], streams[seat])
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
        step(state, move, chance)
        if move & JERSEY:
            rows[first + seat]["jersey_spent_on"] = view["beat"]
        if is_watched and loop["is_traced"]:
            loop["move"] = move
            loop["stopped"] = Stop.MOVED
            return False
    return True


@kernel
def _scratch_of(loop: Loop, seat: int) -> int:
    """Return which scratch a seat has; who sees all has one of its own, so that nobody else finds the truth in it."""
    return seat + MAX_PLAYERS * integer(loop["sees_all"][seat])


@kernel
def _set_up(scratch: Scratch, settings: Settings) -> None:
    for i in range(MAX_PARAMETERS):
        scratch["parameters"][i] = settings["parameters"][i]
    scratch["used"] = 0


@kernel
def _open_game(
    loop: Loop, start: State, scratches: NDArray[np.void], settings: NDArray[np.void], seating: NDArray[np.int8]
) -> None:
    loop["state"] = start
    loop["is_open"] = 1
    for seat in range(integer(start["view"]["players"])):
        bot = seating[seat]
        open_stream(loop["streams"][seat], integer(loop["seed"]), integer(loop["deal"]), BOT + seat)
        loop["sees_all"][seat] = settings[bot]["sees_all"]
        _set_up(scratches[_scratch_of(loop, seat)], settings[bot])
        loop["faults"][seat] = 0
        loop["fault"][seat] = 0
        loop["forfeited"][seat] = 0
        loop["greeted"][seat] = 0
    open_stream(loop["streams"][MAX_PLAYERS], integer(loop["seed"]), integer(loop["deal"]), CHANCE)


@kernel
def _play_game(
    loop: Loop,
    policies: NDArray[np.uint64],
    scratches: NDArray[np.void],
    seating: NDArray[np.int8],
    rows: NDArray[np.void],
) -> bool:
    """Play an open game to its end; False if the loop has to stop before it goes on."""
    view, deal = loop["state"]["view"], loop["streams"][MAX_PLAYERS + 1]
    while view["phase"] != Phase.GAME_OVER:
        if view["phase"] == Phase.COL_OVER:
            open_stream(deal, integer(loop["seed"]), integer(loop["deal"]), integer(view["col"]))
            deal_col(loop["state"], deal)
            _open_col_rows(rows, integer(loop["col_rows"]), loop["state"], integer(loop["game"]), seating)
            if loop["is_traced"]:
                loop["stopped"] = Stop.DEALT
                return False
        goes_on = _play_col(loop, policies, scratches, seating, rows, integer(loop["col_rows"]))
        if view["phase"] >= Phase.COL_OVER:
            _close_col_rows(rows, integer(loop["col_rows"]), loop["state"])
            loop["col_rows"] += view["players"]
        if not goes_on:
            return False
    return True


@kernel_as(types.void(types.FunctionType(POLICY), types.uint64[::1]))
def _keep_policy(policy: PolicyFunction, row: NDArray[np.uint64]) -> None:
    keep_function(policy, row)


def policy_table(policies: Sequence[PolicyFunction]) -> NDArray[Any]:
    """Return compiled policies as the table that the loop picks from; they have to be kept alive beside it.

    Returns
    -------
    numpy.ndarray
        dtype uint64, shape (policies, ``FUNCTION_WORDS``); interpreted, the functions themselves.
    """
    table = np.zeros((len(policies), FUNCTION_WORDS), object if INTERPRETED else np.uint64)
    for policy, row in zip(policies, table, strict=True):
        _keep_policy(policy, row)
    return table


def bot_settings(bots: Sequence[Bot]) -> NDArray[np.void]:
    """Return what is set of each bot, dtype ``SETTINGS``."""
    settings = np.zeros(len(bots), SETTINGS)
    for bot, record in zip(bots, settings, strict=True):
        bot.set_up(record)
        record["sees_all"] = bot.sees_all
    return settings


_SIGNATURE = types.boolean(
    types.uint64[:, ::1],
    from_dtype(SETTINGS)[::1],
    from_dtype(SCRATCH)[::1],
    from_dtype(STATE)[::1],
    types.int8[:, ::1],
    from_dtype(GAME_ROW)[::1],
    from_dtype(COL_ROW)[::1],
    from_dtype(LOOP)[::1],
)


@kernel_as(_SIGNATURE)
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
        By bot: compiled policies, see ``policy_table``.
    settings : numpy.ndarray
        By bot: what is set of them, dtype ``SETTINGS``; see ``bot_settings``.
    scratches : numpy.ndarray
        dtype ``SCRATCH``, shape (``SCRATCHES``,): working memory by seat, of which the second half is for who sees all.
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
            _open_game(loop, start[0], scratches, settings, seating)
        if not _play_game(loop, policies, scratches, seating, col_rows):
            return False
        first = (integer(loop["game"]) - integer(loop["first_game"])) * players
        _fill_game_rows(game_rows, first, loop, seating_id, seating)
        loop["is_open"] = 0
        loop["game"] += 1
    return True


class Table:
    """A table ready to play the games of a run: bots, rules, seatings and seed.

    Parameters
    ----------
    bots : sequence of Bot
        The bots that play.
    rules : RuleSet
        The options in force.
    seatings : numpy.ndarray
        dtype int8, shape (seatings, players): which bot sits in which seat. Deal d is played by all of them, in as many
        games in a row.
    seed : int
        Root seed of all streams.
    on_fault : OnFault
        What becomes of a game in which a bot is at fault.
    time_limit : int, optional
        Milliseconds that a decision may take.

    Raises
    ------
    UsageError
        If the rules cannot be played by so many, a bot cannot be compiled or made, or time cannot be measured here.
    """

    def __init__(
        self,
        bots: Sequence[Bot],
        rules: RuleSet,
        seatings: NDArray[np.int8],
        seed: int,
        on_fault: OnFault = OnFault.RAISE,
        time_limit: int | None = None,
    ) -> None:
        if time_limit is not None and not HAS_CLOCK:
            raise UsageError(f"time limit {time_limit}: kernels can read the clock on Linux and macOS only")
        self.bots = tuple(bots)
        self.seatings = seatings
        self.seed = seed
        self.on_fault = OnFault(on_fault)
        self.time_limit = time_limit
        self.rules = rules
        self._start = np.array([new_state(seatings.shape[1], rules)])
        self._policies = policy_table([bot.policy.function for bot in bots])
        self._settings = bot_settings(bots)
        self._players = {
            (index, copy): PlainPlayer(bot.policy.make(bot.values), "velonimo", rules.to_dict())
            for index, bot in enumerate(bots)
            if isinstance(bot.policy, PlainPolicy)
            for copy in range((seatings == index).sum(axis=1).max())
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as what the table is made of, so that another process opens its own from the bots' texts."""
        bots = [(bot.text, bot.file_hash) for bot in self.bots]
        return _open_table, (bots, self.rules, self.seatings, self.seed, self.on_fault, self.time_limit)

    @property
    def holds_the_lock(self) -> bool:
        """Whether playing holds the interpreter's lock, so that only processes play side by side."""
        return bool(self._players)

    def play(self, first_game: int, games: int, game_rows: NDArray[np.void], col_rows: NDArray[np.void]) -> int:
        """Play consecutive games and fill in their rows; a table of compiled bots may do so in several threads at once.

        Returns
        -------
        int
            Number of col rows written.

        Raises
        ------
        BotError
            If a bot is at fault, unless ``on_fault`` says otherwise.
        """
        loops = self._new_loop(first_game, games)
        for _ in self._stops(loops, game_rows, col_rows):
            pass
        return int(loops[0]["col_rows"])

    def trace(self, game: int, game_rows: NDArray[np.void], col_rows: NDArray[np.void]) -> Iterator[Loop]:
        """Play one game as ``play`` does, and yield the loop after each deal and each move, which ``stopped`` tells.

        The rows are filled once the iterator has ended.
        """
        loops = self._new_loop(game, 1)
        loops[0]["is_watched"] = loops[0]["is_traced"] = 1
        for _ in self._stops(loops, game_rows, col_rows):
            yield loops[0]

    def _stops(
        self, loops: NDArray[np.void], game_rows: NDArray[np.void], col_rows: NDArray[np.void]
    ) -> Iterator[None]:
        """Play on to the end, deciding where Python has to; yield where a traced game has stopped."""
        scratches, all_played = np.zeros(SCRATCHES, SCRATCH), False
        while not all_played:
            try:
                all_played = play_games(
                    self._policies, self._settings, scratches, self._start, self.seatings, game_rows, col_rows, loops
                )
            except Exception as error:
                self._take_fault(loops[0], Fault.EXCEPTION, in_one_line(error), error)
            else:
                if not all_played and loops[0]["stopped"] == Stop.DECISION:
                    self._decide(loops[0])
                elif not all_played:
                    yield

    def _new_loop(self, first_game: int, games: int) -> NDArray[np.void]:
        loops = np.zeros(1, LOOP)
        loop = loops[0]
        loop["seed"] = self.seed
        loop["first_game"] = loop["game"] = first_game
        loop["end"] = first_game + games
        loop["limit"] = 1_000_000 * (self.time_limit or 0)
        watches = self.on_fault is not OnFault.RAISE or self.time_limit is not None or self._players
        loop["is_watched"] = bool(watches or self._settings["sees_all"].any())
        return loops

    def _bot_of(self, loop: Loop) -> int:
        """Return which bot has to decide."""
        return int(self.seatings[loop["game"] % len(self.seatings), loop["seat"]])

    def _player_of(self, loop: Loop) -> PlainPlayer | None:
        """Return the plain bot that has to decide; who sits in several seats is there as several objects."""
        seating = self.seatings[loop["game"] % len(self.seatings)]
        bot = seating[loop["seat"]]
        return self._players.get((int(bot), int(np.count_nonzero(seating[: loop["seat"]] == bot))))

    def _decide(self, loop: Loop) -> None:
        """Decide where the loop has stopped: for a plain bot, or what becomes of a bot at fault."""
        player = self._player_of(loop)
        if player is not None:
            self._ask(player, loop)
        elif loop["limit"] and loop["took"] > loop["limit"]:
            self._take_fault(loop, Fault.OVER_TIME, self._over_time(int(loop["took"])))
        else:
            self._take_fault(loop, Fault.ILLEGAL_MOVE, _illegal(loop["move"], int(loop["refusal"])))

    def _ask(self, player: PlainPlayer, loop: Loop) -> None:
        """Let a plain bot decide."""
        view, seat = loop["state"]["view"], int(loop["seat"])
        try:
            if not loop["greeted"][seat]:
                loop["greeted"][seat] = 1
                player.new_game(seat, loop["streams"][seat])
            answer = player.choose(view)
        except (Exception, SystemExit) as error:
            self._take_fault(loop, Fault.EXCEPTION, in_one_line(error) + _place_raised(error), error)
            return
        if self.time_limit is not None and player.took > 1_000_000 * self.time_limit:
            self._take_fault(loop, Fault.OVER_TIME, self._over_time(player.took))
            return
        try:
            move = read_answer(answer, "velonimo")
        except IllegalMoveError as error:
            self._take_fault(loop, Fault.ILLEGAL_MOVE, f"chose what is no move: {error}")
            return
        why = int(refusal(view, move))
        if why == Refusal.NONE:
            loop["move"], loop["is_answered"] = move, 1
        else:
            self._take_fault(loop, Fault.ILLEGAL_MOVE, _illegal(move, why))

    def _over_time(self, took: int) -> str:
        return f"took {took / 1e6:,.1f} ms for a decision: allowed are {self.time_limit}"

    def _take_fault(self, loop: Loop, kind: Fault, cause: str, error: BaseException | None = None) -> None:
        """Note a fault and let the game go on, or raise it."""
        seat = int(loop["seat"])
        if self.on_fault is OnFault.RAISE:
            bot = self.bots[self._bot_of(loop)]
            game = int(loop["game"])
            raise BotError(f"game {game}, seat {seat}, bot {bot.text}: {cause}", game) from error
        loop["faults"][seat] += 1
        loop["fault"][seat] = loop["fault"][seat] or kind
        if self.on_fault is OnFault.FORFEIT:
            loop["forfeited"][seat] = loop["forfeited"].max() + 1
        else:
            loop["move"] = uniform(loop["state"]["view"], _NO_SCRATCH, loop["streams"][seat])
            loop["is_answered"] = 1


def _open_table(bots: Sequence[tuple[str, str]], *what: Any) -> Table:
    """Open a table that was pickled, if its bots are here what they are there."""
    here = [parse_bot(text) for text, _ in bots]
    for bot, (text, file_hash) in zip(here, bots, strict=True):
        if bot.file_hash != file_hash:
            raise UsageError(f"bot {text}: its file is another one, of hash {bot.file_hash}, expected is {file_hash}")
    return Table(here, *what)


def _illegal(move: np.uint64, why: int) -> str:
    return f"chose {describe(move)}, which is illegal: {REASONS[Refusal(why)][1]}"


def _place_raised(error: BaseException) -> str:
    """Return where a plain bot raised: the file and line that come last in the traceback."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f" ({Path(frame.filename).name}, line {frame.lineno})"
