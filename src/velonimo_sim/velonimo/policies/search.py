"""What the searching bots share: parameters, candidates, playouts, the worth of the end of a col."""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._clock import HAS_CLOCK, monotonic_ns
from velonimo_sim._jit import inlined, kernel
from velonimo_sim.bits import U0, U1, byte, integer, shift_left
from velonimo_sim.bot.parameter import Parameter, Value
from velonimo_sim.rng import Stream, below
from velonimo_sim.velonimo.determinize import determinize_into
from velonimo_sim.velonimo.exact import ENTRY, MEMORY, Table, exact_move, is_known, solve, solve_moves
from velonimo_sim.velonimo.legal import legal_moves
from velonimo_sim.velonimo.moves import cards_of
from velonimo_sim.velonimo.policies.advised import ALL_ADVICE, advise, promise_of
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.policies.greedy import greedy
from velonimo_sim.velonimo.policies.uniform import uniform
from velonimo_sim.velonimo.rules import MAX_PLAYERS
from velonimo_sim.velonimo.state import STATE, State
from velonimo_sim.velonimo.step import col_value, place_of, step
from velonimo_sim.velonimo.view import Phase, View

PLAYOUTS = ("random", "greedy", "advised")
BACKUPS = ("points", "difference", "win")

_MOST_MS = 60_000.0 if HAS_CLOCK else 0.0

_PARAMETERS = (
    Parameter("n", int, 200, (1, 1_000_000), "playouts a decision; every candidate gets at least one"),
    Parameter("ms", float, 0.0, (0.0, _MOST_MS), "milliseconds a decision in place of n; 0 counts playouts"),
    Parameter("playout", PLAYOUTS, "advised", help="who plays on to the end of the col"),
    Parameter("epsilon", float, 0.0, (0.0, 1.0), "share of uniform moves in playouts"),
    Parameter("backup", BACKUPS, "win", help="points of the col, their difference to the others', chance to win"),
    Parameter("width", int, 8, (2, 4096), "the most candidates, the most promising by the advice"),
    Parameter("endings", bool, True, help="solve the end of the col: hands that are known, or the few cards of two"),
    Parameter("weigh", int, 0, (0, 1000), "exchanges tried from one imagined hand to the next, to explain moves"),
    Parameter(
        "caution", float, 0.0, (0.0, 1.0), "what a move must be better by than the advised one, as a share of the stake"
    ),
)
N, MS, PLAYOUT, EPSILON, BACKUP, WIDTH, ENDINGS, WEIGH, CAUTION = range(len(_PARAMETERS))
RANDOM, GREEDY, ADVISED = range(len(PLAYOUTS))
POINTS, DIFFERENCE, WIN = range(len(BACKUPS))

_ENDING_LIMIT = 4_000
"""The most choices to look into for an exact solution, about two milliseconds."""
_FEW_CARDS = 6
"""The most cards of two players whose ending is solved in hands that are imagined."""
_SOLVED_HANDS = 24
"""So many of them."""
_PREFERRED = 1e-6
"""What puts the advised one before other moves of the same value, in points."""
_SPREAD = 0.8
"""How far totals spread, per root of the sum of squares of the col values to come; fitted to games of ``advised``."""

_SURE = 700.0
"""A lead in those units that nothing makes up for; of more the exponential would be too large a number."""


def search_parameters(last: int, most_candidates: int = 4096, **defaults: Value) -> tuple[Parameter, ...]:
    """Return the parameters of a searching bot up to the last that it needs, some with defaults of its own."""
    parameters = [replace(each, default=defaults.get(each.name, each.default)) for each in _PARAMETERS[: last + 1]]
    parameters[WIDTH] = replace(parameters[WIDTH], range=(2, most_candidates))
    return tuple(parameters)


@kernel
def deadline_of(scratch: Scratch) -> int:
    """Return the time of the clock at which a decision that begins now has to end; 0 if playouts are counted."""
    milliseconds = scratch["parameters"][MS]
    return monotonic_ns() + integer(milliseconds * 1e6) if milliseconds > 0 else 0


# Endings.


@kernel
def exact_ending(view: View, advised: np.uint64, scratch: Scratch, stream: Stream) -> np.uint64:
    """Return the best move where few cards are left and either all hands are known or only two race; else 0."""
    if is_known(view):
        return _best_of_known(view, np.empty(1, MEMORY), np.zeros(1 << 12, ENTRY), stream)
    if not _is_short_duel(view):
        return U0
    if knows_all(scratch):
        return _best_of_true(scratch["truth"], np.empty(1, MEMORY), np.zeros(1 << 12, ENTRY))
    return _best_of_two(view, advised, np.empty(1, MEMORY), np.zeros(1 << 12, ENTRY), stream)


@inlined
def knows_all(scratch: Scratch) -> bool:
    """Whether the bot is one that is shown the hidden cards."""
    return bool(scratch["truth"]["view"]["players"] > 0)


@kernel
def _best_of_known(view: View, memories: NDArray[np.void], table: Table, stream: Stream) -> np.uint64:
    return exact_move(view, memories[0], table, _ENDING_LIMIT, stream)


@kernel
def _best_of_true(truth: State, memories: NDArray[np.void], table: Table) -> np.uint64:
    return solve(truth, memories[0], table, _ENDING_LIMIT)


@kernel
def _is_short_duel(view: View) -> bool:
    """Whether two are left with few cards."""
    cards = 0
    for seat in range(integer(view["players"])):
        cards += integer(view["sizes"][seat])
    return view["racing"] == 2 and cards <= _FEW_CARDS and view["phase"] <= Phase.FOLLOW


@kernel
def _best_of_two(view: View, advised: np.uint64, memories: NDArray[np.void], table: Table, stream: Stream) -> np.uint64:
    """Return the move that scores most on average over imagined hands, each solved; of equal ones the advised."""
    states, moves, values = np.empty(1, STATE), np.empty(256, np.uint64), np.empty((256, MAX_PLAYERS))
    n = legal_moves(view, moves)
    scores = np.zeros(n)
    for _ in range(_SOLVED_HANDS):
        determinize_into(states[0], view, stream)
        if solve_moves(states[0], moves, values, memories[0], table, _ENDING_LIMIT) == 0:
            return U0
        for k in range(n):
            scores[k] += values[k, integer(view["seat"])] + _PREFERRED * integer(moves[k] == advised)
    return np.uint64(moves[np.argmax(scores)])


# Candidates.


@kernel
def list_candidates(view: View, actions: NDArray[np.uint64], advised: np.uint64, width: int) -> int:
    """List the actions to search, the advised one first, then the most promising; ``actions`` has room for 4096.

    Of actions that are the same but for the names of two teams only one is listed.
    """
    n = legal_moves(view, actions)
    if n > len(actions):
        # Gifts from a large hand.
        actions[0] = advised
        return 1
    n = _merge(view, actions, n, advised)
    promises = np.empty(n, np.int64)
    for k in range(n):
        promises[k] = 1 << 30 if actions[k] == advised else promise_of(view, actions[k])
    _put_best_first(actions, promises, n, width)
    return min(n, width)


@kernel
def _merge(view: View, actions: NDArray[np.uint64], n: int, advised: np.uint64) -> int:
    """Keep one of each class of actions that are the same but for the names of teams."""
    twins = _twins_before(view)
    kept = 0
    for k in range(n):
        if actions[k] == advised or not _is_repeated(cards_of(actions[k]), twins):
            actions[kept] = actions[k]
            kept += 1
    return kept


@kernel
def _twins_before(view: View) -> np.uint64:
    """Return for each team, a byte each, the teams before it that nothing the player knows tells from it."""
    twins = U0
    for team in range(1, 7):
        for other in range(team):
            if _are_twins(view, team, other):
                twins |= shift_left(U1, 8 * team + other)
    return twins


@inlined
def _are_twins(view: View, team: int, other: int) -> bool:
    difference = _exchanged(view["hand"], team, other) | _exchanged(view["played"], team, other)
    difference |= _exchanged(view["reward"], team, other)
    for seat in range(integer(view["players"])):
        difference |= _exchanged(view["known"][seat], team, other)
    return difference == 0


@inlined
def _exchanged(cards: np.uint64, team: int, other: int) -> int:
    """Return the numbers of which cards hold one team and not the other."""
    return (byte(cards, team) ^ byte(cards, other)) & 0x7F


@inlined
def _is_repeated(cards: np.uint64, twins: np.uint64) -> bool:
    """Whether an exchange of twins makes other cards of it, which stand for both."""
    for team in range(1, 7):
        for other in range(team):
            if (byte(twins, team) >> other) & 1 and (byte(cards, team) & 0x7F) > (byte(cards, other) & 0x7F):
                return True
    return False


@kernel
def _put_best_first(actions: NDArray[np.uint64], promises: NDArray[np.int64], n: int, width: int) -> None:
    """Bring the ``width`` most promising actions to the front, in order."""
    for i in range(min(n, width)):
        best = i
        for k in range(i + 1, n):
            if promises[k] > promises[best]:
                best = k
        actions[i], actions[best] = actions[best], actions[i]
        promises[i], promises[best] = promises[best], promises[i]


# Playouts.


@inlined
def _playout_move(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    parameters = scratch["parameters"]
    if parameters[EPSILON] > 0 and below(stream, 1 << 20) < parameters[EPSILON] * (1 << 20):
        return np.uint64(uniform(view, scratch, stream))
    if parameters[PLAYOUT] == ADVISED:
        return advise(view, ALL_ADVICE, stream)
    if parameters[PLAYOUT] == GREEDY:
        return np.uint64(greedy(view, scratch, stream))
    return np.uint64(uniform(view, scratch, stream))


@kernel
def play_out(state: State, scratch: Scratch, chance: Stream) -> None:
    """Play the col to its end."""
    while state["view"]["phase"] < Phase.COL_OVER:
        step(state, _playout_move(state["view"], scratch, chance), chance)


@kernel
def worth(state: State, seat: int, backup: int) -> float:
    """Return what the end of a col is worth to a seat: points of the col, their difference, or the chance to win.

    Before the last col the chance is estimated as a seat's share in the exponentials of the totals, in units of how far
    the cols to come may still spread them.
    """
    view = state["view"]
    players = integer(view["players"])
    if backup == POINTS:
        return float(view["points"][seat])
    if backup == DIFFERENCE:
        others = 0
        for other in range(players):
            others += integer(view["points"][other]) * integer(other != seat)
        return float(view["points"][seat] - others / (players - 1))
    if view["phase"] == Phase.GAME_OVER:
        return 1.0 if place_of(view, seat) == 1 else 0.0
    squares = 0
    for col in range(integer(view["col"]), integer(view["rules"]["n_cols"])):
        squares += integer(view["rules"]["col_values"][col]) ** 2
    shares = 0.0
    for other in range(players):
        lead = (view["totals"][other] - view["totals"][seat]) / (_SPREAD * math.sqrt(squares))
        shares += math.exp(min(lead, _SURE))
    return 1.0 / shares


@kernel
def most_worth(view: View, backup: int) -> float:
    """Return an upper bound of what two ends of the col differ by for one seat."""
    if backup == WIN:
        return 1.0
    return 2.0 * col_value(view) * integer(view["players"])
