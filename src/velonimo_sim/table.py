"""A table that plays the games of a run: it asks plain bots, and deals with faults, where a compiled loop cannot."""

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._clock import HAS_CLOCK
from velonimo_sim.bot.plain import PlainPlayer, read_answer
from velonimo_sim.bot.policy import CompiledPolicy, PlainPolicy
from velonimo_sim.errors import BotError, IllegalMoveError, UsageError, in_one_line
from velonimo_sim.faults import Fault, OnFault
from velonimo_sim.loop import Loop, Stop, bot_settings, policy_table

LEGAL = 0
"""What ``refusal`` returns for a legal move."""


@dataclass(frozen=True)
class Engine:
    """What a table needs of a game.

    Parameters
    ----------
    game : str
        Its name.
    loop, scratch : numpy.dtype
        Where its loop stands, see ``loop_dtype``; and the working memory of a bot.
    policy : numba signature
        The signature of its compiled policies.
    uniform : CompiledPolicy
        The bot that moves for those at fault; it needs no scratch.
    new_state : callable
        Returns the state that a game begins with, from players and rules.
    play_games : callable
        Its loop.
    refusal : callable
        Returns why a move is illegal in a view; ``LEGAL`` if it is not.
    reasons : mapping
        For each refusal the rule that it rests on, and the words for people.
    describe : callable
        Returns the text of a move.
    """

    game: str
    loop: np.dtype[np.void]
    scratch: np.dtype[np.void]
    policy: Any
    uniform: CompiledPolicy
    new_state: Callable[[int, Any], np.void]
    play_games: Callable[..., bool]
    refusal: Callable[[Any, np.uint64], int]
    reasons: Mapping[Any, tuple[str, str]]
    describe: Callable[[Any], str]


class Table:
    """A table ready to play the games of a run: bots, rules, seatings and seed.

    Parameters
    ----------
    engine : Engine
        The game.
    bots : sequence of bots
        The bots that play.
    rules : RulesLike
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
        engine: Engine,
        bots: Sequence[Any],
        rules: Any,
        seatings: NDArray[np.int8],
        seed: int,
        on_fault: OnFault = OnFault.RAISE,
        time_limit: int | None = None,
    ) -> None:
        if time_limit is not None and not HAS_CLOCK:
            raise UsageError(f"time limit {time_limit}: kernels can read the clock on Linux and macOS only")
        self.bots = tuple(bots)
        self._engine = engine
        self.seatings = seatings
        self.seed = seed
        self.on_fault = OnFault(on_fault)
        self.time_limit = time_limit
        self.rules = rules
        self._start = np.array([engine.new_state(seatings.shape[1], rules)])
        self._policies = policy_table([*(bot.policy.function for bot in bots), engine.uniform.function], engine.policy)
        self._settings = bot_settings(bots)
        self._players = {
            (index, copy): PlainPlayer(bot.policy.make(bot.values), engine.game, rules.in_force(seatings.shape[1]))
            for index, bot in enumerate(bots)
            if isinstance(bot.policy, PlainPolicy)
            for copy in range((seatings == index).sum(axis=1).max())
        }

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as what the table is made of, so that another process opens its own from the bots' texts."""
        bots = [(bot.text, bot.file_hash) for bot in self.bots]
        what = (self.rules, self.seatings, self.seed, self.on_fault, self.time_limit)
        return _open_table, (self._engine.game, bots, *what)

    @property
    def holds_the_lock(self) -> bool:
        """Whether playing holds the interpreter's lock, so that only processes play side by side."""
        return bool(self._players)

    def play(self, first_game: int, games: int, game_rows: NDArray[np.void], detail_rows: NDArray[np.void]) -> int:
        """Play consecutive games and fill in their rows; a table of compiled bots may do so in several threads at once.

        Returns
        -------
        int
            Number of detail rows written.

        Raises
        ------
        BotError
            If a bot is at fault, unless ``on_fault`` says otherwise.
        """
        loops = self._new_loop(first_game, games)
        for _ in self._stops(loops, game_rows, detail_rows):
            pass
        return int(loops[0]["detail_rows"])

    def trace(self, game: int, game_rows: NDArray[np.void], detail_rows: NDArray[np.void]) -> Iterator[Loop]:
        """Play one game as ``play`` does, and yield the loop after each deal and each move, which ``stopped`` tells.

        The rows are filled once the iterator has ended.
        """
        loops = self._new_loop(game, 1)
        loops[0]["is_watched"] = loops[0]["is_traced"] = 1
        for _ in self._stops(loops, game_rows, detail_rows):
            yield loops[0]

    def _stops(
        self, loops: NDArray[np.void], game_rows: NDArray[np.void], detail_rows: NDArray[np.void]
    ) -> Iterator[None]:
        """Play on to the end, deciding where Python has to; yield where a traced game has stopped."""
        scratches = np.zeros(2 * loops.dtype["sees_all"].shape[0], self._engine.scratch)
        bots, games = (self._policies, self._settings, scratches), (self._start, self.seatings)
        all_played = False
        while not all_played:
            try:
                all_played = self._engine.play_games(*bots, *games, game_rows, detail_rows, loops)
            except Exception as error:
                self._take_fault(loops[0], Fault.EXCEPTION, in_one_line(error), error)
            else:
                if not all_played and loops[0]["stopped"] == Stop.DECISION:
                    self._decide(loops[0])
                elif not all_played:
                    yield

    def _new_loop(self, first_game: int, games: int) -> NDArray[np.void]:
        loops = np.zeros(1, self._engine.loop)
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
            self._take_fault(loop, Fault.ILLEGAL_MOVE, self._illegal(loop["move"], int(loop["refusal"])))

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
            move = read_answer(answer, self._engine.game)
        except IllegalMoveError as error:
            self._take_fault(loop, Fault.ILLEGAL_MOVE, f"chose what is no move: {error}")
            return
        why = int(self._engine.refusal(view, move))
        if why == LEGAL:
            loop["move"], loop["is_answered"] = move, 1
        else:
            self._take_fault(loop, Fault.ILLEGAL_MOVE, self._illegal(move, why))

    def _illegal(self, move: np.uint64, why: int) -> str:
        return f"chose {self._engine.describe(move)}, which is illegal: {self._engine.reasons[why][1]}"

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
            loop["policies"][seat] = len(self.bots)  # the last of the table
        else:
            scratch = np.zeros(1, self._engine.scratch)
            loop["move"] = self._engine.uniform(loop["state"]["view"], scratch[0], loop["streams"][seat])
            loop["is_answered"] = 1


def _open_table(game: str, bots: Sequence[tuple[str, str]], *what: Any) -> Table:
    """Open a table that was pickled, if its bots are here what they are there."""
    policies, playout = (import_module(f"velonimo_sim.{game}.{name}") for name in ("policies", "playout"))
    here = [policies.parse_bot(text) for text, _ in bots]
    for bot, (text, file_hash) in zip(here, bots, strict=True):
        if bot.file_hash != file_hash:
            raise UsageError(f"bot {text}: its file is another one, of hash {bot.file_hash}, expected is {file_hash}")
    table: Table = playout.open_table(here, *what)
    return table


def _place_raised(error: BaseException) -> str:
    """Return where a plain bot raised: the file and line that come last in the traceback."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f" ({Path(frame.filename).name}, line {frame.lineno})"
