"""The end of a col solved exactly: what every seat scores when all hands are known and all play their best.

Best play is *max^n*: whoever decides takes the move with the highest expected points of the col for himself, and the
cards of a swap are an average over all draws. The order of the duel's pile is part of the state, so what it brings is
no chance. With two racing this is the ordinary value of a game of one winner and one loser.

Where several moves are equally good for who decides, the values of the others depend on which one he takes:

1. who can go out with a play does so;
2. he then takes what leaves least to the opponent with the highest total (of equal totals the lower seat), then least
   to the next of that order, and so on.

Moves that are equal in all of this have the same values for every seat, so no value depends on the order in which moves
are tried. Which of such moves is named as the best does: plays of more cards are tried first where two are racing.

The search ends: a play takes cards out of the hands, the pile and the reward for good, nothing brings one back, and
between two plays there are at most a swap, a gift, a pass of every other seat, a leader named and a reward.
"""

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import inlined, kernel
from velonimo_sim.bits import (
    U0,
    U1,
    binomial,
    bit,
    deposit,
    fold,
    integer,
    next_of_same_size,
    popcount,
)
from velonimo_sim.rng import STREAM, Stream
from velonimo_sim.velonimo.cards import DROMEDARIES
from velonimo_sim.velonimo.determinize import determinize_into, unseen_cards
from velonimo_sim.velonimo.legal import is_legal, legal_moves
from velonimo_sim.velonimo.moves import JERSEY, Kind, cards_of, is_combination, is_single, kind_of, seat_of
from velonimo_sim.velonimo.rules import LAST_CARD_DRAWS, MAX_PLAYERS
from velonimo_sim.velonimo.state import STATE, State, show_turn
from velonimo_sim.velonimo.step import col_value, step, take_from
from velonimo_sim.velonimo.view import Phase, View

MAX_DEPTH = 128
"""The most choices in a row that the search follows, draws counted as choices."""

_FRAME = np.dtype(
    [
        ("move", "i8"),  # the move being tried, counted in all choices
        ("last", "i8"),  # where the moves of the position end
        ("draws", "i8"),  # how many outcomes the move has
        ("left", "i8"),  # how many of them are still to be looked into
        ("taken", "u8"),  # the next of them, see ``_first_draw``
    ],
    align=True,
)
"""How far the search has got with a position."""

MEMORY = np.dtype(
    [
        ("states", STATE, (MAX_DEPTH,)),  # by depth: the position
        ("frames", _FRAME, (MAX_DEPTH,)),  # by depth: how far the search is
        ("moves", "u8", (4096,)),  # the choices of all depths, one after the other
        ("values", "f8", (MAX_DEPTH, MAX_PLAYERS)),  # by depth and seat: expected points of the col
        ("means", "f8", (MAX_DEPTH, MAX_PLAYERS)),  # likewise of the move being tried
        ("chosen", "u8", (MAX_DEPTH,)),  # by depth: the best move so far
        ("places", "u8", (MAX_DEPTH,)),  # by depth: hash of the position, its place in the table
        ("checks", "u8", (MAX_DEPTH,)),  # by depth: a second hash, which tells positions of one place apart
        ("context", "u8"),  # hash of what stays the same within one search
        ("order", "i8", (MAX_PLAYERS,)),  # seats by total, highest first
        ("nodes", "i8"),  # choices looked into so far
        ("limit", "i8"),  # how many may be
        ("chance", STREAM),  # never drawn from
    ],
    align=True,
)
"""Working memory of the search: its content means nothing before or after a call, but for the ``values`` documented."""

ENTRY = np.dtype([("check", "u8"), ("values", "f8", (MAX_PLAYERS,))], align=True)
"""A place of the table of solved positions. A table is an array of 2**k of them, zeros at first; it may serve any
number of searches, whatever the positions."""

Memory: TypeAlias = np.void
"""A record of dtype ``MEMORY``."""

Table: TypeAlias = NDArray[np.void]
"""An array of dtype ``ENTRY``."""

_EQUAL = 1e-9
"""Values that differ by less are taken as the same, and to differ by rounding alone."""

_PLACE_FACTOR = np.uint64(0x9E37_79B9_7F4A_7C15)
_CHECK_FACTOR = np.uint64(0xC2B2_AE3D_27D4_EB4F)


def new_memory() -> Memory:
    """Return working memory for ``solve`` and its like."""
    memory: Memory = np.zeros(1, MEMORY)[0]
    return memory


def new_table(bits: int = 14) -> Table:
    """Return an empty table of 2**bits solved positions, 48 bytes each."""
    return np.zeros(1 << bits, ENTRY)


@kernel
def solve(state: State, memory: Memory, table: Table, limit: int) -> np.uint64:
    """Solve the rest of the col.

    Parameters
    ----------
    state : numpy.void
        A state of dtype ``STATE`` with a seat to act.
    memory : numpy.void
        Working memory of dtype ``MEMORY``; the expected points of the col of each seat are then in
        ``memory["values"][0]``, those already scored included.
    table : numpy.ndarray
        Solved positions, dtype ``ENTRY``, of a length that is a power of two.
    limit : int
        The most choices to look into.

    Returns
    -------
    numpy.uint64
        The best move of the seat to act, or 0 if the limit was reached.
    """
    _prepare(memory, state, limit)
    n = _choices(state["view"], memory["moves"])
    if _may_go_on(memory, 0, n) and _best(memory, table, n):
        return np.uint64(memory["chosen"][0])
    return U0


@kernel
def solve_moves(
    state: State, moves: NDArray[np.uint64], values: NDArray[np.float64], memory: Memory, table: Table, limit: int
) -> int:
    """Solve every legal move of the seat to act.

    Parameters
    ----------
    state : numpy.void
        A state of dtype ``STATE`` with a seat to act.
    moves : numpy.ndarray
        Buffer of dtype uint64 for the legal moves, in the order of ``legal_moves``.
    values : numpy.ndarray
        Buffer of shape (len(moves), 5), dtype float64: by move and seat the expected points of the col.
    memory, table, limit
        As for ``solve``; the limit is that of all moves together.

    Returns
    -------
    int
        How many moves there are, or 0 if the limit was reached or the buffer is too small.
    """
    _prepare(memory, state, limit)
    n = legal_moves(state["view"], moves)
    if n > len(moves):
        return 0
    for k in range(n):
        memory["moves"][0] = moves[k]
        if not _best(memory, table, 1):
            return 0
        values[k] = memory["values"][0]
    return n


@kernel
def exact_move(view: View, memory: Memory, table: Table, limit: int, stream: Stream) -> np.uint64:
    """Return the best move of a view that tells all hands; 0 if it does not, or if the limit was reached."""
    if not is_known(view):
        return U0
    state = memory["states"][1]
    determinize_into(state, view, stream)
    return solve(state, memory, table, limit)


@kernel
def is_known(view: View) -> bool:
    """Whether a view leaves one state possible: all that is unseen fills one hand, or is the one card of the pile."""
    missing, open_hands = 0, 0
    for seat in range(integer(view["players"])):
        if seat != view["seat"]:
            unknown = integer(view["sizes"][seat]) - popcount(view["known"][seat])
            missing += unknown
            open_hands += integer(unknown > 0)
    if open_hands == 0:
        return integer(view["pile_size"]) <= 1
    return open_hands == 1 and missing == popcount(unseen_cards(view))


@kernel
def _prepare(memory: Memory, state: State, limit: int) -> None:
    """Set up a search of a state."""
    memory["states"][0] = state
    memory["nodes"] = 0
    memory["limit"] = limit
    _order_seats(memory["order"], state["view"])
    memory["context"] = _context(memory["order"], state)


@kernel
def _order_seats(order: NDArray[np.int64], view: View) -> None:
    """Sort the seats by total, highest first, equal totals by seat."""
    for seat in range(integer(view["players"])):
        place = seat
        while place > 0 and view["totals"][order[place - 1]] < view["totals"][seat]:
            order[place] = order[place - 1]
            place -= 1
        order[place] = seat


@kernel
def _context(order: NDArray[np.int64], state: State) -> np.uint64:
    """Return a hash of all that a value depends on and no move of the col changes."""
    view = state["view"]
    rules = view["rules"]
    word = fold(U0, np.uint64(integer(rules["jersey_bonus"])), _PLACE_FACTOR)
    word = fold(word, np.uint64(col_value(view)), _PLACE_FACTOR)
    for number in (rules["tortoise_swap"], rules["dromedary_last_card"], view["players"], view["wearer"]):
        word = fold(word, np.uint64(integer(number)), _PLACE_FACTOR)
    for place in range(integer(view["players"])):
        word = fold(word, np.uint64(order[place]), _PLACE_FACTOR)
    for i in range(integer(view["pile_size"])):
        word = fold(word, np.uint64(integer(state["pile"][i])), _PLACE_FACTOR)
    return word


@inlined
def _count_draws(state: State, move: np.uint64) -> int:
    """Return how many outcomes a move has: one, or that of all draws of a swap."""
    if kind_of(move) != Kind.SWAP:
        return 1
    size = popcount(state["hands"][seat_of(move)])
    return binomial(size, min(integer(state["view"]["swap_count"]), size))


@inlined
def _first_draw(state: State, move: np.uint64) -> np.uint64:
    """Return the first draw of a swap as a choice among the cards of the victim, lowest first."""
    if kind_of(move) != Kind.SWAP:
        return U1
    size = popcount(state["hands"][seat_of(move)])
    return bit(min(integer(state["view"]["swap_count"]), size)) - U1


@kernel
def _follow(memory: Memory, depth: int, move: np.uint64, taken: np.uint64, at: int) -> int:
    """Make a move and what is forced after it one depth further, and list the choices there from ``moves[at]`` on.

    Returns
    -------
    int
        How many choices there are; 0 at the end of the col, whose points are then the values.
    """
    memory["states"][depth + 1] = memory["states"][depth]
    state = memory["states"][depth + 1]
    _make(state, move, taken, memory["chance"])
    while state["view"]["phase"] < Phase.COL_OVER:
        n = _choices(state["view"], memory["moves"][at:])
        if n > 1 or state["view"]["phase"] == Phase.SWAP:
            return n
        _make(state, memory["moves"][at], U0, memory["chance"])
    for seat in range(MAX_PLAYERS):
        memory["values"][depth + 1, seat] = state["view"]["points"][seat]
    return 0


@kernel
def _make(state: State, move: np.uint64, taken: np.uint64, chance: Stream) -> None:
    """Make a move, a swap with the cards that it takes."""
    if kind_of(move) == Kind.SWAP:
        take_from(state, seat_of(move), deposit(taken, state["hands"][seat_of(move)]))
        show_turn(state)
    else:
        step(state, move, chance)


@kernel
def _choices(view: View, out: NDArray[np.uint64]) -> int:
    """List the moves among which the best one is: the plays that go out, or else all that are legal."""
    n = _list_ways_out(view, out)
    if n > 0:
        return n
    n = legal_moves(view, out)
    if view["racing"] == 2 and n <= len(out):
        _sort_by_cards(out, n)
    return n


@kernel
def _list_ways_out(view: View, out: NDArray[np.uint64]) -> int:
    """List the plays that empty the hand, with and without the Jersey."""
    hand = view["hand"]
    draws = view["pile_size"] > 0 and view["rules"]["dromedary_last_card"] == LAST_CARD_DRAWS
    if view["phase"] > Phase.FOLLOW or (draws and hand & DROMEDARIES):
        return 0
    n = 0
    if is_single(hand) or is_combination(hand):
        for play in (hand, hand | JERSEY):
            if is_legal(view, play):
                out[n] = play
                n += 1
    return n


@kernel
def _sort_by_cards(moves: NDArray[np.uint64], n: int) -> None:
    """Put plays of more cards first: with two racing the first move that is sure to win ends the search."""
    for i in range(1, n):
        move = moves[i]
        place = i
        while place > 0 and popcount(cards_of(moves[place - 1])) < popcount(cards_of(move)):
            moves[place] = moves[place - 1]
            place -= 1
        moves[place] = move


@inlined
def _may_go_on(memory: Memory, depth: int, moves: int) -> bool:
    """Count one more choice; False at the limit, or if there is no room for what it lists and two ways out after it."""
    memory["nodes"] += 1
    return memory["nodes"] <= memory["limit"] and depth + 1 < MAX_DEPTH and moves + 2 <= len(memory["moves"])


@inlined
def _is_better(memory: Memory, depth: int, mover: int) -> bool:
    """Whether the move being tried is better for the mover than the best before it, or worse for the others."""
    new, old = memory["means"][depth], memory["values"][depth]
    if abs(new[mover] - old[mover]) > _EQUAL:
        return bool(new[mover] > old[mover])
    for place in range(integer(memory["states"][depth]["view"]["players"])):
        seat = memory["order"][place]
        if seat != mover and abs(new[seat] - old[seat]) > _EQUAL:
            return bool(new[seat] < old[seat])
    return False


@inlined
def _is_won(memory: Memory, depth: int) -> bool:
    """Whether no move can be better: the seat to act, one of two racing, is sure to go out first."""
    view = memory["states"][depth]["view"]
    if view["racing"] != 2 or view["phase"] == Phase.NEXT_LEADER:
        return False
    return bool(memory["values"][depth, integer(view["turn"])] > col_value(view) - _EQUAL)


@kernel
def _recall(memory: Memory, table: Table, depth: int) -> bool:
    """Hash the position of a depth and fill in its values if the table holds them."""
    state = memory["states"][depth]
    view = state["view"]
    place, check = _hash(state, memory["context"])
    memory["places"][depth] = place
    memory["checks"][depth] = check
    entry = table[_index(place, table)]
    if entry["check"] != check:
        return False
    for seat in range(integer(view["players"])):
        # Who is out may have gone out earlier or later on the other way to this position.
        is_out = view["out_order"][seat] > 0
        memory["values"][depth, seat] = view["points"][seat] if is_out else entry["values"][seat]
    return True


@kernel
def _remember(memory: Memory, table: Table, depth: int) -> None:
    """Put the values of a solved position into the table, in place of what is there."""
    entry = table[_index(memory["places"][depth], table)]
    entry["check"] = memory["checks"][depth]
    entry["values"] = memory["values"][depth]


@inlined
def _index(place: np.uint64, table: Table) -> int:
    return integer(place & np.uint64(len(table) - 1))


@inlined
def _hash(state: State, context: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return two hashes of all that the values of a position depend on."""
    view = state["view"]
    number = integer(view["turn"]) * 8 + integer(view["phase"])
    number = (number * 256 + integer(view["author"])) * 256 + integer(view["swap_victim"])
    number = (number * 8 + integer(view["swap_count"])) * 64 + integer(view["pile_size"])
    number = (number * 2 + integer(view["jersey_spent"])) * 2**21 + integer(view["beat"])
    place = fold(context, np.uint64(number), _PLACE_FACTOR)
    check = fold(context, np.uint64(number), _CHECK_FACTOR)
    place = fold(place, view["reward"], _PLACE_FACTOR)
    check = fold(check, view["reward"], _CHECK_FACTOR)
    for seat in range(integer(view["players"])):
        place = fold(place, state["hands"][seat], _PLACE_FACTOR)
        check = fold(check, state["hands"][seat], _CHECK_FACTOR)
    return place, check | U1


@kernel
def _best(memory: Memory, table: Table, n: int) -> bool:
    """Find the best of the first ``n`` moves in the position of depth 0, and its values; False at the limit.

    Depth first, without recursion: numba keeps no function in its cache that calls itself, unless all that it calls is
    compiled when the module is imported.
    """
    depth = 0
    _begin_position(memory, 0, 0, n)
    while True:
        frame = memory["frames"][depth]
        if frame["left"] > 0:
            at = integer(frame["last"])
            n = _follow(memory, depth, memory["moves"][frame["move"]], frame["taken"], at)
            if n == 0 or _recall(memory, table, depth + 1):
                _add_outcome(memory, depth)
            elif _may_go_on(memory, depth + 1, at + n):
                depth += 1
                _begin_position(memory, depth, at, at + n)
            else:
                return False
        elif not _try_next_move(memory, depth):
            if depth == 0:
                return True
            _remember(memory, table, depth)
            depth -= 1
            _add_outcome(memory, depth)


@inlined
def _begin_position(memory: Memory, depth: int, first: int, last: int) -> None:
    """Begin with the first of ``moves[first:last]`` in the position of a depth."""
    memory["frames"][depth]["last"] = last
    memory["chosen"][depth] = U0
    _begin_move(memory, depth, first)


@inlined
def _begin_move(memory: Memory, depth: int, k: int) -> None:
    frame, state = memory["frames"][depth], memory["states"][depth]
    frame["move"] = k
    frame["draws"] = frame["left"] = _count_draws(state, memory["moves"][k])
    frame["taken"] = _first_draw(state, memory["moves"][k])
    memory["means"][depth] = 0.0


@inlined
def _add_outcome(memory: Memory, depth: int) -> None:
    """Add the values of one outcome of the move being tried to its average, and go on to the next outcome."""
    frame = memory["frames"][depth]
    for seat in range(MAX_PLAYERS):
        memory["means"][depth, seat] += memory["values"][depth + 1, seat] / frame["draws"]
    frame["left"] -= 1
    frame["taken"] = next_of_same_size(frame["taken"])


@inlined
def _try_next_move(memory: Memory, depth: int) -> bool:
    """Compare the move that was tried to the best before it; begin with the next one, if it may be better."""
    frame, view = memory["frames"][depth], memory["states"][depth]["view"]
    if memory["chosen"][depth] == U0 or _is_better(memory, depth, integer(view["turn"])):
        memory["chosen"][depth] = memory["moves"][frame["move"]]
        memory["values"][depth] = memory["means"][depth]
    k = integer(frame["move"]) + 1
    if k == frame["last"] or _is_won(memory, depth):
        return False
    _begin_move(memory, depth, k)
    return True
