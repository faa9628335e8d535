"""What moves tell of hidden hands: fits the numbers of ``policies/inference.py``; needs the package ``cma``.

    python experiments/012-inference/run.py [--games N] [--seed N]

In games of a bot that plays by the advice and of one that searches, the true hands are set against the same with two
unknown cards exchanged. The numbers are those with which the likelihood of what was done tells the two apart best: by
the mean of -log of the chance that it gives to the true hands (Besag, "Statistical analysis of non-lattice data", 1975,
calls that the pseudolikelihood). Progress goes to stderr, the numbers go to stdout.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import kernel
from velonimo_sim.bits import integer, nth, popcount
from velonimo_sim.commands import EXIT_INTERRUPTED, EXIT_USAGE, OneLineParser, integer_in, leave_with, say
from velonimo_sim.errors import UsageError
from velonimo_sim.rng import BOT, CHANCE, STREAM, Stream, below, open_stream
from velonimo_sim.velonimo.determinize import unseen_cards
from velonimo_sim.velonimo.moves import PASS
from velonimo_sim.velonimo.policies import inference, parse_bot
from velonimo_sim.velonimo.policies.advised import advised, regret_of
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.policies.inference import BELIEF, BY_ADVICE, Belief, believe
from velonimo_sim.velonimo.policies.rollout import rollout
from velonimo_sim.velonimo.state import State, new_state
from velonimo_sim.velonimo.step import deal_col, step
from velonimo_sim.velonimo.view import Phase

COMMAND = "inference"
BOTS = ("advised", "rollout:n=1000")
PLAYERS = 4
MOST_ROWS = 4_000_000
TRIES = 4
"""Exchanges of a decision; of the decisions one in three is looked at."""

ROW = np.dtype(
    [
        ("hand", "i8"),  # the hand that was exchanged or not, as a number that counts up
        ("pair", "i8"),  # the true hands and the others, likewise
        ("is_true", "i8"),
        ("kind", "i8"),  # 0 lead, 1 answer, 2 pass
        ("got", "i8"),  # cards that its author got later
        ("regret", "i8"),
    ],
    align=True,
)
"""A move, and how it is to be regretted with a hand that its author may hold."""

NAMES = (
    "_REGRETTED",
    "_FREEDOM",
    "_LEAD_TEMPERATURE",
    "_ANSWER_TEMPERATURE",
    "_PASS_TEMPERATURE",
    "_LEAST_LEAD",
    "_LEAST_ANSWER",
    "_LEAST_PASS",
    "_TRUST_LEFT",
)
"""What is fitted; the last holds two numbers."""


class Pairs(NamedTuple):
    """What moves tell of pairs of hands."""

    rows: NDArray[np.void]
    """Dtype ``ROW``."""
    pair_of_hand: NDArray[np.int64]
    sign_of_hand: NDArray[np.int64]
    """1 for true hands, -1 for others."""


@kernel
def play_and_compare(
    states: NDArray[np.void],
    streams: NDArray[np.void],
    belief: Belief,
    by_advice: bool,
    seed: int,
    games: int,
    scratch: Scratch,
    rows: NDArray[np.void],
) -> int:
    """Play games of ``advised`` or of ``rollout`` from ``states[1]`` and fill in rows; return how many."""
    state, choices, chance, cards = states[0], streams[0], streams[1], streams[2]
    n = 0
    for game in range(games):
        states[0] = states[1]
        open_stream(choices, seed, game, BOT)
        open_stream(chance, seed, game, CHANCE)
        while state["view"]["phase"] != Phase.GAME_OVER and n + 20_000 < len(rows):
            if state["view"]["phase"] >= Phase.COL_OVER:
                open_stream(cards, seed, game, integer(state["view"]["col"]))
                deal_col(state, cards)
            if state["view"]["phase"] <= Phase.FOLLOW and below(choices, 3) == 0:
                believe(belief, state["view"], 1, choices)
                n = _compare(state, belief, rows, n, choices)
            view = state["view"]
            step(state, advised(view, scratch, choices) if by_advice else rollout(view, scratch, choices), chance)
    return n


@kernel
def _compare(state: State, belief: Belief, rows: NDArray[np.void], n: int, stream: Stream) -> int:
    """Exchange unknown cards of the true hands a few times."""
    unseen = unseen_cards(state["view"])
    size = popcount(unseen)
    for _ in range(TRIES if belief["n"] > 0 and size > 0 else 0):
        one, two = nth(unseen, below(stream, size)), nth(unseen, below(stream, size))
        pair = integer(rows[n - 1]["pair"]) + 1 if n > 0 else 0
        for seat in range(integer(state["view"]["players"])):
            hand = state["hands"][seat]
            if (hand & one != 0) != (hand & two != 0):
                n = _judge(belief, seat, hand, 1, pair, rows, n)
                n = _judge(belief, seat, hand ^ one ^ two, 0, pair, rows, n)
    return n


@kernel
def _judge(belief: Belief, seat: int, hand: np.uint64, is_true: int, pair: int, rows: NDArray[np.void], n: int) -> int:
    """Add a row for each move of a seat, as it looks if it has this hand now."""
    number = integer(rows[n - 1]["hand"]) + 1 if n > 0 else 0
    for i in range(integer(belief["n"])):
        piece = belief["evidence"][i]
        if piece["author"] == seat:
            view, move = piece["view"], piece["move"]
            view["hand"] = hand | piece["later"]
            rows[n]["hand"], rows[n]["pair"], rows[n]["is_true"] = number, pair, is_true
            rows[n]["kind"] = 2 if move == PASS else integer(view["phase"] == Phase.FOLLOW)
            rows[n]["got"] = round(np.log(piece["trusts"][BY_ADVICE]) / np.log(inference._TRUST_LEFT[BY_ADVICE]))
            rows[n]["regret"] = regret_of(view, move)
            n += 1
    return n


def pairs_of(bot: str, games: int, seed: int) -> Pairs:
    """Return what moves tell of pairs of hands in games of a bot."""
    say(COMMAND, f"{games:,} games of {bot}")
    rows = np.zeros(MOST_ROWS, ROW)
    states, streams, belief = np.array([new_state(PLAYERS)] * 2), np.zeros(3, STREAM), np.zeros(1, BELIEF)[0]
    scratch = parse_bot(bot).scratch()
    rows = rows[: play_and_compare(states, streams, belief, bot == BOTS[0], seed, games, scratch, rows)]
    _, first = np.unique(rows["hand"], return_index=True)
    return Pairs(rows, rows["pair"][first], 2 * rows["is_true"][first] - 1)


def present_numbers() -> NDArray[np.float64]:
    """Return the numbers as they stand in the source."""
    return np.concatenate([np.atleast_1d(getattr(inference, name)) for name in NAMES])


def loss(pairs: Pairs, numbers: NDArray[np.float64]) -> float:
    """Return the mean of -log of the chance given to the true hands; log 2 if nothing tells them from others."""
    regretted, freedom, *by_kind, trust_by_advice, trust_by_judgement = numbers
    temperatures, least = np.array(by_kind[:3]), np.array(by_kind[3:])
    rows, kinds = pairs.rows, pairs.rows["kind"]
    by_advice = trust_by_advice ** rows["got"]
    judged = np.maximum(least[kinds], -rows["regret"] / temperatures[kinds])
    moves = (
        by_advice * regretted * (rows["regret"] > 0),
        by_advice * freedom + trust_by_judgement ** rows["got"] * judged,
    )
    hands = np.logaddexp(*(np.bincount(rows["hand"], of_kind) for of_kind in moves))
    ratios = np.bincount(pairs.pair_of_hand, pairs.sign_of_hand * hands)
    return float(np.logaddexp(0, -ratios).mean())


def fitted(pairs: list[Pairs], seed: int) -> NDArray[np.float64]:
    """Return the numbers with the least loss, that of each bot counting alike, searched for by their logarithms."""
    import cma

    start = present_numbers()
    signs = np.sign(start)

    def mean_loss(logarithms: NDArray[np.float64]) -> float:
        return float(np.mean([loss(each, signs * np.exp(logarithms)) for each in pairs]))

    options = {"seed": seed, "verbose": -9, "maxfevals": 1_500}
    return np.asarray(signs * np.exp(cma.fmin2(mean_loss, np.log(np.abs(start)), 0.3, options)[0]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit the numbers; return the exit status."""
    parser = OneLineParser(prog=COMMAND, description="Fit what moves tell of hidden hands.")
    parser.add_argument("--games", metavar="N", default=100, help="games of each bot")
    parser.add_argument("--seed", metavar="N", default=12, help="root of all chance")
    try:
        options = parser.parse_args(arguments)
        games = integer_in(1, 10**6, "--games", options.games)
        seed = integer_in(1, 2**31 - 1, "--seed", options.seed)
        pairs = [pairs_of(bot, games, seed) for bot in BOTS]
        for name, numbers in (("present", present_numbers()), ("fitted", fitted(pairs, seed))):
            losses = ", ".join(f"{bot} {loss(each, numbers):.4f}" for bot, each in zip(BOTS, pairs, strict=True))
            say(COMMAND, f"{name}: loss with {losses}")
            print(name, *(f"{number:.3g}" for number in numbers))
    except UsageError as error:
        say(COMMAND, error)
        return EXIT_USAGE
    except KeyboardInterrupt:
        say(COMMAND, "stopped")
        return EXIT_INTERRUPTED
    return 0


if __name__ == "__main__":
    leave_with(main)
