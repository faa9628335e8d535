"""``python -m velonimo_sim.check_bot BOT``: shows a bot thousands of positions and says what it does wrong.

The positions are those of games of ``random`` and ``greedy`` with any number of players under several rules, all phases
alike. Each stands by itself: the bot meets it as the first decision of a game.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from itertools import count, cycle, islice, product
from typing import Any

import numpy as np

from velonimo_sim.bot.plain import PlainBot, PlainPlayer, read_answer
from velonimo_sim.bot.policy import PlainPolicy
from velonimo_sim.bot.text import Bot, parse_bot
from velonimo_sim.commands import EXIT_FAULT, EXIT_INTERRUPTED, EXIT_USAGE, OneLineParser, integer_in, leave_with, say
from velonimo_sim.errors import IllegalMoveError, UsageError, in_one_line
from velonimo_sim.game import GAMES
from velonimo_sim.rng import BOT, CHANCE, Stream, below, new_stream

COMMAND = "velonimo_sim.check_bot"
DEFAULT_POSITIONS = 2_000
MAX_POSITIONS = 10_000_000
MOST_OF_A_PHASE = 4
"""The most positions of one phase that are taken from one game."""


def _of(game: str, file: str) -> Any:
    """Return a file of a game, as a module."""
    return import_module(f"velonimo_sim.{game}.{file}")


class Flaw(StrEnum):
    """What a bot can do wrong in a position."""

    ILLEGAL = "illegal move"
    RAISES = "exception"
    CHANGES = "changes its view"
    VARIES = "another move for the same view and stream"
    PEEKS = "depends on hidden cards"


@dataclass(frozen=True)
class Finding:
    """One kind of flaw: in how many positions it showed, and the first of them.

    Parameters
    ----------
    flaw : Flaw
        What is wrong.
    positions : int
        In how many positions.
    cause : str
        What happened in the first.
    state : numpy.void
        The first position, a record of dtype ``STATE`` of the game.
    """

    flaw: Flaw
    positions: int
    cause: str
    state: np.void


@dataclass(frozen=True)
class Report:
    """What a check has shown.

    Parameters
    ----------
    bot : str
        The bot's text.
    game : str
        Name of the game that it plays.
    positions : int
        How many it was shown.
    hides : bool
        Whether anything was hidden in any of them.
    findings : tuple of Finding
        What it does wrong, one of each kind; empty for a sound bot.
    mean_ms, worst_ms : float
        Milliseconds of a decision.
    """

    bot: str
    game: str
    positions: int
    hides: bool
    findings: tuple[Finding, ...]
    mean_ms: float
    worst_ms: float

    def to_dict(self) -> dict[str, Any]:
        """Return the report for JSON; a finding's ``position`` is what ``state.from_json`` of the game reads."""
        to_json = _of(self.game, "state").to_json
        return {
            "bot": self.bot,
            "game": self.game,
            "positions": self.positions,
            "hides": self.hides,
            "findings": [
                {
                    "flaw": str(finding.flaw),
                    "positions": finding.positions,
                    "cause": finding.cause,
                    "position": json.loads(to_json(finding.state)),
                }
                for finding in self.findings
            ],
            "mean_ms": self.mean_ms,
            "worst_ms": self.worst_ms,
        }

    def __str__(self) -> str:
        """Show the report for people."""
        flaws, rules = {finding.flaw for finding in self.findings}, _of(self.game, "rules")
        players = f"{rules.MIN_PLAYERS}-{rules.MAX_PLAYERS} players"
        lines = [
            f"{self.bot}: {self.positions:,} positions of {players} in all phases",
            f"legal in all of them: {_yes_unless(flaws & {Flaw.ILLEGAL, Flaw.RAISES, Flaw.CHANGES})}",
            f"same view and stream, same move: {_yes_unless(flaws & {Flaw.VARIES})}",
            f"blind to hidden cards: {_yes_unless(flaws & {Flaw.PEEKS})}" if self.hides else "nothing is hidden",
            f"time of a decision: {self.mean_ms:,.3f} ms, at most {self.worst_ms:,.3f} ms",
        ]
        for finding in self.findings:
            lines += ["", f"{finding.flaw} in {finding.positions:,} positions; the first: {finding.cause}"]
            lines += [self._table_of(finding.state), _of(self.game, "state").to_json(finding.state)]
        return "\n".join(lines)

    def _table_of(self, state: np.void) -> str:
        """Return the table as the seat to act sees it."""
        describe = _of(self.game, "describe")
        text: str = describe.tell_view(describe.describe_view(state["view"], _rules_of(self.game, state)))
        return text


def _rules_of(game: str, state: np.void) -> dict[str, Any]:
    """Return the options in force at a table, by name."""
    rules = GAMES[game].rule_set.from_record(state["view"]["rules"])
    return rules.to_dict()


def _yes_unless(flaws: set[Flaw]) -> str:
    return "no" if flaws else "yes"


def check_bot(spec: str, positions: int = DEFAULT_POSITIONS, seed: int = 0, game: str = "velonimo") -> Report:
    """Show a bot positions and return what it does wrong, for a test suite of one's own.

    Parameters
    ----------
    spec : str
        The bot's text, such as ``greedy`` or ``./mybot.py:MyBot``.
    positions : int
        How many positions.
    seed : int
        Root seed of the positions.
    game : str
        Name of the game.

    Returns
    -------
    Report
        Its ``findings`` are empty for a sound bot.

    Raises
    ------
    UsageError
        If there is no such game, or the text describes no bot of it.
    """
    bot = parse_bot(spec, game)
    examinee, hides = Examinee(bot), False
    findings: dict[Flaw, Finding] = {}
    for index, state in enumerate(islice(positions_of_games(seed, game), positions)):
        other = _of(game, "determinize").determinize(state["view"], new_stream(seed, index, CHANCE))
        hides = hides or not _of(game, "state").equal(other, state)
        flaw, cause = _flaw_in(examinee, state, other, seed, index)
        if flaw is not None:
            first = findings.get(flaw, Finding(flaw, 0, cause, state))
            findings[flaw] = Finding(flaw, first.positions + 1, first.cause, first.state)
        if bot.sees_all and hides:
            findings[Flaw.PEEKS] = Finding(Flaw.PEEKS, index + 1, "it is declared with sees_all", state)
        elif Flaw.VARIES in findings:
            findings.pop(Flaw.PEEKS, None)  # which of the two it is cannot be told
    times = examinee.times[1:] or [0]  # the first decision loads code
    mean, worst = sum(times) / len(times) / 1e6, max(times) / 1e6
    return Report(bot.text, game, positions, hides, tuple(findings.values()), mean, worst)


def positions_of_games(seed: int, game: str = "velonimo") -> Iterator[np.void]:
    """Yield positions without end, some of every phase.

    Parameters
    ----------
    seed : int
        Root seed of the games.
    game : str
        Name of the game.

    Yields
    ------
    numpy.void
        A state of the game in which a seat has to decide. In each game one bot, ``random`` or ``greedy``, plays all
        seats, of which there are as many as can be, under all rules that are ``VARIED``.
    """
    rules = _of(game, "rules")
    tables = list(product(range(rules.MIN_PLAYERS, rules.MAX_PLAYERS + 1), rules.VARIED, ("random", "greedy")))
    for number in count():
        players, options, bot = tables[number % len(tables)]
        by_phase: dict[int, list[np.void]] = {}
        for state in _states_of_game(parse_bot(bot, game), players, options, seed, number):
            by_phase.setdefault(int(state["view"]["phase"]), []).append(state)
        draw = new_stream(seed, number)
        for _, states in sorted(by_phase.items()):
            for _ in range(min(MOST_OF_A_PHASE, len(states))):
                yield states.pop(int(below(draw, len(states))))


def _states_of_game(bot: Bot, players: int, rules: Any, seed: int, number: int) -> Iterator[np.void]:
    """Yield a copy of every state with a decision in a game that one bot plays in all seats."""
    game = GAMES[bot.policy.game]
    clone, nobody = _of(game.name, "state").clone, _of(game.name, "view").NOBODY
    table: Any = game.open_table([bot], rules, np.zeros((1, players), np.int8), seed)
    game_rows = np.zeros(players, game.game_row)
    detail_rows = np.zeros(game.most_detail_rows(rules, players), game.detail_row)
    for loop in table.trace(number, game_rows, detail_rows):
        if loop["state"]["view"]["turn"] != nobody:
            yield clone(loop["state"])


class Examinee:
    """A bot that is asked about positions, each as the first decision of a game.

    Parameters
    ----------
    bot : Bot
        Which bot.

    Attributes
    ----------
    game : str
        Name of the game that the bot plays.
    times : list of int
        Nanoseconds of its decisions.
    """

    def __init__(self, bot: Bot) -> None:
        self.game = bot.policy.game
        self.times: list[int] = []
        self._left_over = cycle((0, 0xDEAD_BEEF))  # what is left in a scratch, on which no bot may rely
        self._sees_all = bot.sees_all
        self._scratch = bot.scratch()
        self._function = bot.policy.function
        self._plain = bot.policy.make(bot.values) if isinstance(bot.policy, PlainPolicy) else None

    def choose(self, state: np.void, stream: Stream) -> np.uint64:
        """Return the bot's move.

        Raises
        ------
        IllegalMoveError
            If its answer is no move.
        """
        if self._plain is not None:
            return self._choose_plainly(self._plain, state, stream)
        self._scratch["used"] = 0
        self._scratch["moves"] = self._scratch["memory"] = next(self._left_over)
        if self._sees_all:
            self._scratch["truth"] = state
        began = time.monotonic_ns()
        move = self._function(state["view"], self._scratch, stream)
        self.times.append(time.monotonic_ns() - began)
        return np.uint64(move)

    def _choose_plainly(self, bot: PlainBot, state: np.void, stream: Stream) -> np.uint64:
        player = PlainPlayer(bot, self.game, _rules_of(self.game, state))
        player.new_game(int(state["view"]["seat"]), stream)
        answer = player.choose(state["view"])
        self.times.append(player.took)
        return read_answer(answer, self.game)


def _flaw_in(examinee: Examinee, state: np.void, other: np.void, seed: int, index: int) -> tuple[Flaw | None, str]:
    """Ask a bot about a position, and another that looks the same; return what is wrong with its answers, and how."""
    legal, describe = _of(examinee.game, "legal"), _of(examinee.game, "step").describe
    clone, equal = _of(examinee.game, "state").clone, _of(examinee.game, "state").equal
    purpose = BOT + int(state["view"]["seat"])

    def ask(asked: np.void) -> np.uint64:
        return examinee.choose(asked, new_stream(seed, index, purpose))

    try:
        asked = clone(state)
        move = ask(asked)
        why = legal.Refusal(int(legal.refusal(state["view"], move)))
        if why is not legal.Refusal.NONE:
            return Flaw.ILLEGAL, f"{describe(move)}: {legal.REASONS[why][1]}"
        if not equal(asked, state):
            return Flaw.CHANGES, f"{describe(move)}, and it writes to the view"
        hides, move_there = not equal(other, state), ask(other)
        if move_there == move:
            return None, ""
        if not hides:
            return Flaw.VARIES, f"{describe(move)} and {describe(move_there)}"
        for again in (ask(state), ask(state), ask(state)):
            if again != move:
                return Flaw.VARIES, f"{describe(move)} and {describe(again)}"
        return Flaw.PEEKS, f"{describe(move)}, with other hidden cards {describe(move_there)}"
    except IllegalMoveError as error:
        return Flaw.ILLEGAL, str(error)
    except (Exception, SystemExit) as error:
        return Flaw.RAISES, in_one_line(error)


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(prog=f"python -m {COMMAND}", description="Show a bot positions; say what it does wrong.")
    parser.add_argument("bot", metavar="BOT", help="NAME, MODULE:ATTRIBUTE or FILE.py:ATTRIBUTE, with :key=value,...")
    parser.add_argument(
        "--positions", metavar="N", default=str(DEFAULT_POSITIONS), help="how many positions (default: %(default)s)"
    )
    parser.add_argument("--seed", metavar="N", default="0", help="root seed of the positions (default: %(default)s)")
    parser.add_argument("--game", metavar="NAME", default="velonimo", help="which game it plays (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    try:
        options = _parser().parse_args(arguments)
        positions = integer_in(1, MAX_POSITIONS, "--positions", options.positions)
        seed = integer_in(0, 2**63 - 1, "--seed", options.seed)
        report = check_bot(options.bot, positions, seed, options.game)
    except UsageError as error:
        say(COMMAND, error)
        return EXIT_USAGE
    except KeyboardInterrupt:
        say(COMMAND, "interrupted")
        return EXIT_INTERRUPTED
    print(json.dumps(report.to_dict()) if options.json else report)
    return EXIT_FAULT if report.findings else 0


if __name__ == "__main__":
    leave_with(main)
