"""Tunes the weights of the bot ``advised`` by CMA-ES; needs the package ``cma``.

    python experiments/011-advised/tune.py [many | duel] [--generations N] [--deals N] [--sigma F] [--seed N]

A candidate is worth what it wins against the present weights and against ``greedy``, on duplicate deals that all
candidates of a generation share (Hansen and Ostermeier, "Completely derandomized self-adaptation in evolution
strategies", 2001). Progress goes to stderr; the weights, in the order of the terms, go to stdout.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import cma
import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import kernel
from velonimo_sim.bits import integer
from velonimo_sim.commands import EXIT_INTERRUPTED, EXIT_USAGE, OneLineParser, integer_in, leave_with, say
from velonimo_sim.errors import UsageError
from velonimo_sim.rng import BOT, CHANCE, STREAM, open_stream
from velonimo_sim.velonimo.policies.advised import ALL_ADVICE, WEIGHTS, weigh_advice
from velonimo_sim.velonimo.policies.base import SCRATCH, Scratch
from velonimo_sim.velonimo.policies.greedy import greedy
from velonimo_sim.velonimo.rules import MAX_PLAYERS
from velonimo_sim.velonimo.state import new_state
from velonimo_sim.velonimo.step import deal_col, place_of, step
from velonimo_sim.velonimo.view import Phase
from velonimo_sim.workers import available_cores

COMMAND = "tune"
STEP = 300
"""How far a weight moves per unit of the search."""
PAIRINGS = {
    "many": ((3, False, 1.0), (4, False, 2.0), (5, False, 1.0), (3, True, 0.5), (4, True, 1.0), (5, True, 0.5)),
    "duel": ((2, False, 4.0), (2, True, 2.0)),
}
"""What a candidate plays: players, whether the others are greedy or have the present weights, what it counts for."""


@kernel
def count_wins(
    candidate: NDArray[np.int64],
    present: NDArray[np.int64],
    against_greedy: bool,
    states: NDArray[np.void],
    streams: NDArray[np.void],
    scratch: Scratch,
    seed: int,
    first: int,
    deals: int,
) -> int:
    """Return how many games of some deals the candidate wins that plays each of them once in each seat."""
    start, state, wins = states[0], states[1], 0
    players = integer(start["view"]["players"])
    for deal in range(first, first + deals):
        for own_seat in range(players):
            states[1] = start
            _play_game(state, streams, own_seat, candidate, present, against_greedy, scratch, seed, deal)
            wins += integer(place_of(state["view"], own_seat) == 1)
    return wins


@kernel
def _play_game(
    state: np.void,
    streams: NDArray[np.void],
    own_seat: int,
    candidate: NDArray[np.int64],
    present: NDArray[np.int64],
    against_greedy: bool,
    scratch: Scratch,
    seed: int,
    deal: int,
) -> None:
    """Play a game with the candidate in one seat."""
    view, chance, cards = state["view"], streams[MAX_PLAYERS], streams[MAX_PLAYERS + 1]
    open_stream(chance, seed, deal, CHANCE)
    for seat in range(integer(view["players"])):
        open_stream(streams[seat], seed, deal, BOT + seat)
    while view["phase"] != Phase.GAME_OVER:
        if view["phase"] == Phase.COL_OVER:
            open_stream(cards, seed, deal, integer(view["col"]))
            deal_col(state, cards)
        seat = integer(view["turn"])
        if against_greedy and seat != own_seat:
            move = greedy(view, scratch, streams[seat])
        else:
            move = weigh_advice(view, ALL_ADVICE, candidate if seat == own_seat else present, streams[seat])
        step(state, move, chance)


def worth(candidate: NDArray[np.int64], kind: str, seed: int, first: int, deals: int) -> float:
    """Return the wins of a candidate in all its pairings, in units of a fair share."""
    present, total = present_weights(kind), 0.0
    for players, against_greedy, counts_for in PAIRINGS[kind]:
        states = np.array([new_state(players)] * 2)
        scratch = np.zeros(1, SCRATCH)[0]
        streams = np.zeros(MAX_PLAYERS + 2, STREAM)
        wins = count_wins(candidate, present, against_greedy, states, streams, scratch, seed, first, deals)
        total += counts_for * wins / deals
    return total


def present_weights(kind: str) -> NDArray[np.int64]:
    """Return the weights that are in force."""
    return WEIGHTS[ALL_ADVICE, int(kind == "duel")].copy()


def tune(kind: str, generations: int, deals: int, sigma: float, seed: int) -> NDArray[np.int64]:
    """Return the mean of the last generation."""
    present = present_weights(kind)
    options = {"seed": seed % 2**31 + 1, "popsize": 14, "verbose": -9}
    search = cma.CMAEvolutionStrategy([0.0] * len(present), sigma, options)
    with ThreadPoolExecutor(available_cores()) as pool:
        for generation in range(generations):
            steps = search.ask()
            candidates = [moved(present, step) for step in steps]
            value = partial(worth, kind=kind, seed=seed, first=generation * deals, deals=deals)
            worths = list(pool.map(value, candidates))
            search.tell(steps, [-each for each in worths])
            say(COMMAND, f"generation {generation + 1} of {generations}: {np.mean(worths):.3f} on average")
    return moved(present, search.mean)


def moved(weights: NDArray[np.int64], step: Sequence[float]) -> NDArray[np.int64]:
    """Return the weights at a point of the search."""
    return np.round(weights + STEP * np.asarray(step)).astype(np.int64)


def main(arguments: Sequence[str] | None = None) -> int:
    """Tune the weights; return the exit status."""
    parser = OneLineParser(prog=COMMAND, description="Tune the weights of the bot advised.")
    parser.add_argument("kind", nargs="?", choices=tuple(PAIRINGS), default="many", help="3-5 players, or the duel")
    parser.add_argument("--generations", metavar="N", default=50)
    parser.add_argument("--deals", metavar="N", default=500, help="deals of each pairing of a candidate")
    parser.add_argument("--sigma", metavar="F", type=float, default=0.3, help="first width of the search")
    parser.add_argument("--seed", metavar="N", default=11, help="root of all chance")
    try:
        options = parser.parse_args(arguments)
        generations = integer_in(1, 10**6, "--generations", options.generations)
        deals = integer_in(1, 10**6, "--deals", options.deals)
        seed = integer_in(0, 2**63 - 1, "--seed", options.seed)
        if not 0 < options.sigma <= 10:
            raise UsageError(f"--sigma {options.sigma}: allowed is a number above 0, up to 10")
        weights = tune(options.kind, generations, deals, options.sigma, seed)
        checked = range(generations * deals, generations * deals + 10 * deals)
        for name, some in (("present", present_weights(options.kind)), ("tuned", weights)):
            say(COMMAND, f"{name}: {worth(some, options.kind, seed, checked.start, len(checked)):.3f} on new deals")
        print(*weights)
    except UsageError as error:
        say(COMMAND, error)
        return EXIT_USAGE
    except KeyboardInterrupt:
        say(COMMAND, "stopped")
        return EXIT_INTERRUPTED
    return 0


if __name__ == "__main__":
    leave_with(main)
