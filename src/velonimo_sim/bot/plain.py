"""Bots in plain Python: how one is asked, and how its answer is read.

The compiled loop cannot ask them. In its table of policies a plain bot is ``ask``, compiled for the game, which answers
with no move; the loop then stops, and goes on with the answer from here.
"""

import random
import reprlib
import time
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from velonimo_sim.errors import IllegalMoveError, is_integer_in
from velonimo_sim.rng import Stream, next_word

NO_MOVE = np.uint64(2**64 - 1)
"""The word that asks: it is no move."""


def ask(_view: np.void, _scratch: np.void, _stream: Stream) -> np.uint64:
    """Stand for a plain bot in the compiled loop."""
    return NO_MOVE


class PlainBot(Protocol):
    """What a plain bot has to have; a method ``new_game(seat)`` is called at each game's start if there is one."""

    def choose(self, view: dict[str, Any], moves: list[Any], rng: random.Random) -> object:
        """Return one of the moves, which are of the class ``Move`` of the game: itself, its number or its text."""


class PlainPlayer:
    """A plain bot at a table; it stays from game to game.

    Parameters
    ----------
    bot : PlainBot
        The user's object.
    game : str
        Name of the game.
    rules : mapping
        The options in force, as the bot's view shows them.

    Attributes
    ----------
    took : int
        Nanoseconds of its last decision.
    """

    def __init__(self, bot: PlainBot, game: str, rules: Mapping[str, Any]) -> None:
        self._bot = bot
        self._describe = import_module(f"velonimo_sim.{game}.describe")
        self._rules = rules
        self._rng = random.Random(0)
        self.took = 0

    def new_game(self, seat: int, stream: Stream) -> None:
        """Begin a game: the random numbers of the bot start from its seat's stream."""
        self._rng.seed(int(next_word(stream)))
        if hasattr(self._bot, "new_game"):
            self._bot.new_game(seat)

    def choose(self, view: np.void) -> object:
        """Return what the bot answers, whatever it is; ``took`` is then the nanoseconds that it took."""
        moves = self._describe.describe_moves(view)
        description = self._describe.describe_view(view, self._rules)
        began = time.monotonic_ns()
        answer = self._bot.choose(description, moves, self._rng)
        self.took = time.monotonic_ns() - began
        return answer


def read_answer(answer: object, game: str) -> np.uint64:
    """Return the move of a game that a plain bot answers with.

    Raises
    ------
    IllegalMoveError
        If it is none; whether the move is legal is another question.
    """
    if isinstance(answer, str):
        move: np.uint64 = import_module(f"velonimo_sim.{game}.moves").parse_move(answer)
        return move
    if is_integer_in(answer, 0, 2**64 - 1):
        return np.uint64(answer)  # type: ignore[arg-type]
    raise IllegalMoveError(f"{' '.join(reprlib.repr(answer).split())} is no move, and no text or number of one")
