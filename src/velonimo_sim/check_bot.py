"""``python -m velonimo_sim.check_bot BOT``: shows a bot thousands of positions and says what it does wrong.

The positions are those of games of ``random`` and ``greedy`` with 2-5 players under several rules, all phases alike.
Each stands by itself: the bot meets it as the first decision of a game.
"""

import argparse
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import count, cycle, islice, product
from typing import Any

import numpy as np

from velonimo_sim.commands import EXIT_FAULT, EXIT_INTERRUPTED, EXIT_USAGE, OneLineParser, integer_in, leave_with, say
from velonimo_sim.errors import IllegalMoveError, UsageError, in_one_line
from velonimo_sim.rng import BOT, CHANCE, Stream, below, new_stream
from velonimo_sim.velonimo.describe import describe_view, tell_view
from velonimo_sim.velonimo.determinize import determinize
from velonimo_sim.velonimo.legal import REASONS, Refusal, refusal
from velonimo_sim.velonimo.policies import Bot, parse_bot
from velonimo_sim.velonimo.policies.plain import PlainBot, PlainPlayer, read_answer
from velonimo_sim.velonimo.policies.policy import PlainPolicy
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.state import State, clone, equal, new_state, to_json
from velonimo_sim.velonimo.step import apply, deal, describe
from velonimo_sim.velonimo.view import Phase

COMMAND = "velonimo_sim.check_bot"
DEFAULT_POSITIONS = 2_000
MAX_POSITIONS = 10_000_000
MOST_OF_A_PHASE = 4
"""The most positions of one phase that are taken from one game."""

RULES = (
    RuleSet.official(),
    RuleSet(tortoise_swap="optional", jersey_bonus=5),
    RuleSet(dromedary_last_card="exempt", duel_target=None, jersey_tie="col_winner"),
    RuleSet.bga(),
)


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
        The first position, a record of dtype ``STATE``.
    """

    flaw: Flaw
    positions: int
    cause: str
    state: State

    def to_dict(self) -> dict[str, Any]:
        """Return the finding for JSON; ``position`` is what ``state.from_json`` reads."""
        return {
            "flaw": str(self.flaw),
            "positions": self.positions,
            "cause": self.cause,
            "position": json.loads(to_json(self.state)),
        }


@dataclass(frozen=True)
class Report:
    """What a check has shown.

    Parameters
    ----------
    bot : str
        The bot's text.
    positions : int
        How many it was shown.
    findings : tuple of Finding
        What it does wrong, one of each kind; empty for a sound bot.
    mean_ms, worst_ms : float
        Milliseconds of a decision.
    """

    bot: str
    positions: int
    findings: tuple[Finding, ...]
    mean_ms: float
    worst_ms: float

    def to_dict(self) -> dict[str, Any]:
        """Return the report for JSON."""
        return {
            "bot": self.bot,
            "positions": self.positions,
            "findings": [finding.to_dict() for finding in self.findings],
            "mean_ms": self.mean_ms,
            "worst_ms": self.worst_ms,
        }

    def __str__(self) -> str:
        """Show the report for people."""
        flaws = {finding.flaw for finding in self.findings}
        lines = [
            f"{self.bot}: {self.positions:,} positions of 2-5 players in all phases",
            f"legal in all of them: {_yes_unless(flaws & {Flaw.ILLEGAL, Flaw.RAISES, Flaw.CHANGES})}",
            f"same view and stream, same move: {_yes_unless(flaws & {Flaw.VARIES})}",
            f"blind to hidden cards: {_yes_unless(flaws & {Flaw.PEEKS})}",
            f"time of a decision: {self.mean_ms:,.3f} ms, at most {self.worst_ms:,.3f} ms",
        ]
        for finding in self.findings:
            lines += ["", f"{finding.flaw} in {finding.positions:,} positions; the first: {finding.cause}"]
            lines += [_table_of(finding.state), to_json(finding.state)]
        return "\n".join(lines)


def _table_of(state: State) -> str:
    """Return the table as the seat to act sees it."""
    view = state["view"]
    return tell_view(describe_view(view, RuleSet.from_record(view["rules"]).to_dict()))


def _yes_unless(flaws: set[Flaw]) -> str:
    return "no" if flaws else "yes"


def check_bot(spec: str, positions: int = DEFAULT_POSITIONS, seed: int = 0) -> Report:
    """Show a bot positions and return what it does wrong, for a test suite of one's own.

    Parameters
    ----------
    spec : str
        The bot's text, such as ``greedy`` or ``./mybot.py:MyBot``.
    positions : int
        How many positions.
    seed : int
        Root seed of the positions.

    Returns
    -------
    Report
        Its ``findings`` are empty for a sound bot.

    Raises
    ------
    UsageError
        If the text describes no bot.
    """
    bot = parse_bot(spec)
    examinee = Examinee(bot)
    findings: dict[Flaw, Finding] = {}
    for index, state in enumerate(islice(positions_of_games(seed), positions)):
        flaw, cause = _flaw_in(examinee, state, seed, index)
        if flaw is not None:
            first = findings.get(flaw, Finding(flaw, 0, cause, state))
            findings[flaw] = Finding(flaw, first.positions + 1, first.cause, first.state)
        if bot.sees_all:
            findings[Flaw.PEEKS] = Finding(Flaw.PEEKS, index + 1, "it is declared with sees_all", state)
        elif Flaw.VARIES in findings:
            findings.pop(Flaw.PEEKS, None)  # which of the two it is cannot be told
    times = examinee.times[1:] or [0]  # the first decision loads code
    return Report(bot.text, positions, tuple(findings.values()), sum(times) / len(times) / 1e6, max(times) / 1e6)


def positions_of_games(seed: int) -> Iterator[State]:
    """Yield positions without end: some of every phase from games of random and greedy bots, 2-5 players, all rules."""
    tables = list(product((2, 3, 4, 5), RULES, ("random", "greedy")))
    for game in count():
        players, rules, name = tables[game % len(tables)]
        by_phase: dict[int, list[State]] = {}
        for state in _states_of_game(parse_bot(name), players, rules, seed, game):
            by_phase.setdefault(int(state["view"]["phase"]), []).append(state)
        draw = new_stream(seed, game)
        for _, states in sorted(by_phase.items()):
            for _ in range(min(MOST_OF_A_PHASE, len(states))):
                yield states.pop(int(below(draw, len(states))))


def _states_of_game(bot: Bot, players: int, rules: RuleSet, seed: int, game: int) -> Iterator[State]:
    """Yield a copy of every state with a decision in a game that one bot plays in all seats."""
    state, scratch = new_state(players, rules), bot.scratch()
    choices, chance = new_stream(seed, game, BOT), new_stream(seed, game, CHANCE)
    while state["view"]["phase"] != Phase.GAME_OVER:
        if state["view"]["phase"] == Phase.COL_OVER:
            deal(state, seed, game)
        yield clone(state)
        apply(state, bot.policy.function(state["view"], scratch, choices), chance)


class Examinee:
    """A bot that is asked about positions, each as the first decision of a game.

    Parameters
    ----------
    bot : Bot
        Which bot.

    Attributes
    ----------
    times : list of int
        Nanoseconds of its decisions.
    """

    def __init__(self, bot: Bot) -> None:
        self.times: list[int] = []
        self._left_over = cycle((0, 0xDEAD_BEEF))  # what is left in a scratch, on which no bot may rely
        self._sees_all = bot.sees_all
        self._scratch = bot.scratch()
        self._function = bot.policy.function
        self._plain = bot.policy.make(bot.values) if isinstance(bot.policy, PlainPolicy) else None

    def choose(self, state: State, stream: Stream) -> np.uint64:
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

    def _choose_plainly(self, bot: PlainBot, state: State, stream: Stream) -> np.uint64:
        player = PlainPlayer(bot, RuleSet.from_record(state["view"]["rules"]).to_dict())
        player.new_game(int(state["view"]["seat"]), stream)
        answer = player.choose(state["view"])
        self.times.append(player.took)
        return read_answer(answer)


def _flaw_in(examinee: Examinee, state: State, seed: int, index: int) -> tuple[Flaw | None, str]:
    """Ask a bot about a position; return what is wrong with its answers, and how that showed."""
    purpose = BOT + int(state["view"]["seat"])

    def ask(asked: State) -> np.uint64:
        return examinee.choose(asked, new_stream(seed, index, purpose))

    try:
        asked = clone(state)
        move = ask(asked)
        why = Refusal(int(refusal(state["view"], move)))
        if why is not Refusal.NONE:
            return Flaw.ILLEGAL, f"{describe(move)}: {REASONS[why][1]}"
        if not equal(asked, state):
            return Flaw.CHANGES, f"{describe(move)}, and it writes to the view"
        other = ask(determinize(state["view"], new_stream(seed, index, CHANCE)))
        if other == move:
            return None, ""
        for again in (ask(state), ask(state), ask(state)):
            if again != move:
                return Flaw.VARIES, f"{describe(move)} and {describe(again)}"
        return Flaw.PEEKS, f"{describe(move)}, with other hidden cards {describe(other)}"
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
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    try:
        options = _parser().parse_args(arguments)
        positions = integer_in(1, MAX_POSITIONS, "--positions", options.positions)
        report = check_bot(options.bot, positions, integer_in(0, 2**63 - 1, "--seed", options.seed))
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
