"""Which moves the rules allow in a view: counted, listed, picked by number, or one checked (V6-V13, V20, V26).

A list is made only for who asks for one: counting, picking and the check of a move read the tables.
"""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import inlined, kernel
from velonimo_sim.bits import (
    U0,
    binomial,
    byte,
    column,
    deposit,
    integer,
    lowest,
    next_of_same_size,
    nth,
    popcount,
    shift_left,
    without_lowest,
)
from velonimo_sim.velonimo.cards import HARES, TORTOISES
from velonimo_sim.velonimo.moves import (
    DECLINE,
    FORCE,
    JERSEY,
    KEEP,
    PASS,
    Kind,
    cards_of,
    is_combination,
    is_single,
    kind_of,
    move_of,
    value_of,
)
from velonimo_sim.velonimo.rules import SWAP_OPTIONAL
from velonimo_sim.velonimo.tables import (
    HARES_ABOVE,
    NUMBER_PLAYS,
    NUMBER_SETS,
    SPREAD,
    TEAM_PLAYS,
    TEAM_SETS,
    TOP_VALUE,
)
from velonimo_sim.velonimo.view import Phase, View

MAX_PLAYS = 3465
"""The most moves that a play-or-pass choice can offer: all 55 cards in hand, the Jersey free, and the pass."""


class Refusal(IntEnum):
    """Why a move is refused; ``REASONS`` has the rule id and the words for people."""

    NONE = 0
    NOT_A_MOVE = 1
    WRONG_PHASE = 2
    NO_CARDS = 3
    NOT_IN_HAND = 4
    MIXED = 5
    TWO_HARES = 6
    HARE_IN_COMBO = 7
    HARE_WITH_JERSEY = 8
    JERSEY_OFF = 9
    JERSEY_NOT_WORN = 10
    JERSEY_USED = 11
    TOO_LOW = 12
    EQUAL = 13
    TOO_LOW_WITH_JERSEY = 14
    PASS_AT_LEAD = 15
    SWAP_SELF = 16
    SWAP_NO_CARDS = 17
    SWAP_MANDATORY = 18
    GIVE_NOT_IN_HAND = 19
    GIVE_TOO_FEW = 20
    GIVE_TOO_MANY = 21
    LEAD_SELF = 22
    LEAD_FINISHED = 23
    NO_SUCH_SEAT = 24


REASONS = {
    Refusal.NONE: ("", "legal"),
    Refusal.NOT_A_MOVE: ("", "the word is no move"),
    Refusal.WRONG_PHASE: ("", "this is not what has to be decided now"),
    Refusal.NO_CARDS: ("V10", "a play needs at least one card"),
    Refusal.NOT_IN_HAND: ("V10", "a card is not in the hand"),
    Refusal.MIXED: ("V7", "the riders share neither colour nor number"),
    Refusal.TWO_HARES: ("V8", "hares are always alone"),
    Refusal.HARE_IN_COMBO: ("V8", "hares are always alone"),
    Refusal.HARE_WITH_JERSEY: ("V9", "the Jersey never goes with a hare"),
    Refusal.JERSEY_OFF: ("V9", "the Jersey has no bonus in this game"),
    Refusal.JERSEY_NOT_WORN: ("V9", "only its wearer may add the Jersey"),
    Refusal.JERSEY_USED: ("V9", "the Jersey has been used in this col"),
    Refusal.TOO_LOW: ("V10", "the play is lower than the value to beat"),
    Refusal.EQUAL: ("V10", "the play only equals the value to beat"),
    Refusal.TOO_LOW_WITH_JERSEY: ("V10", "even with the Jersey the play does not beat"),
    Refusal.PASS_AT_LEAD: ("V10", "who leads an attack must play"),
    Refusal.SWAP_SELF: ("V20", "the swap needs an opponent"),
    Refusal.SWAP_NO_CARDS: ("V20", "that opponent has no cards"),
    Refusal.SWAP_MANDATORY: ("V20", "the swap is mandatory"),
    Refusal.GIVE_NOT_IN_HAND: ("V20", "a card to give is not in the hand"),
    Refusal.GIVE_TOO_FEW: ("V20", "as many cards go back as were taken: these are too few"),
    Refusal.GIVE_TOO_MANY: ("V20", "as many cards go back as were taken: these are too many"),
    Refusal.LEAD_SELF: ("V13", "who is out cannot lead"),
    Refusal.LEAD_FINISHED: ("V13", "that player is out of this col"),
    Refusal.NO_SUCH_SEAT: ("V4", "there is no such seat at this table"),
}
"""For each refusal the id of the rule that is broken and the reason in words."""


PHASE_RULES = {
    Phase.LEAD: "V10",
    Phase.FOLLOW: "V10",
    Phase.SWAP: "V20",
    Phase.GIVE: "V20",
    Phase.NEXT_LEADER: "V13",
    Phase.REWARD: "V26",
    Phase.COL_OVER: "V15",
    Phase.GAME_OVER: "V19",
}
"""The rule that says what has to be decided in a phase."""


@inlined
def may_add_jersey(view: View) -> bool:
    """Whether the player of the view may still add the Jersey in this col (V9)."""
    return bool(view["wearer"] == view["seat"] and view["jersey_spent"] == 0 and view["rules"]["jersey_bonus"] > 0)


@inlined
def threshold(beat: int) -> int:
    """Return the row of the tables for a value to beat: 0 to ``TOP_VALUE``."""
    return min(max(beat, 0), TOP_VALUE)


@inlined
def jersey_threshold(view: View) -> int:
    """Return the row of the tables for plays to which the Jersey is added (V9)."""
    return threshold(integer(view["beat"]) - integer(view["rules"]["jersey_bonus"]))


# The next two go through all 14 groups without a branch: what a processor mispredicts costs more than what it adds up.


@inlined
def count_rider_plays(hand: np.uint64, row: int) -> int:
    """Return how many single riders and combinations of the hand are worth more than ``row``."""
    count = 0
    for team in range(7):
        count += integer(TEAM_PLAYS[row, byte(hand, team) & 0x7F])
    for i in range(7):
        count += integer(NUMBER_PLAYS[row, i, popcount(hand & shift_left(TORTOISES, i))])
    return count


@inlined
def nth_rider_play(hand: np.uint64, row: int, k: int) -> np.uint64:
    """Return rider play ``k`` of those counted, which must be more than ``k``."""
    total, place, before = 0, 0, 0
    for team in range(7):
        total += integer(TEAM_PLAYS[row, byte(hand, team) & 0x7F])
        place, before = (place + 1, total) if total <= k else (place, before)
    for i in range(7):
        total += integer(NUMBER_PLAYS[row, i, popcount(hand & shift_left(TORTOISES, i))])
        place, before = (place + 1, total) if total <= k else (place, before)
    if place < 7:
        return shift_left(np.uint64(TEAM_SETS[byte(hand, place) & 0x7F, k - before]), 8 * place)
    return shift_left(SPREAD[NUMBER_SETS[column(hand, place - 7), k - before]], place - 7)


@inlined
def count_plays(view: View) -> int:
    """Return the number of legal plays of a play-or-pass choice; the pass is not counted."""
    row = threshold(integer(view["beat"]))
    count = popcount(view["hand"] & HARES_ABOVE[row]) + count_rider_plays(view["hand"], row)
    if may_add_jersey(view):
        count += count_rider_plays(view["hand"], jersey_threshold(view))
    return count


@inlined
def nth_play(view: View, k: int) -> np.uint64:
    """Return legal play ``k`` in the order of ``legal_moves``, for k below ``count_plays``."""
    row = threshold(integer(view["beat"]))
    hares = view["hand"] & HARES_ABOVE[row]
    if k < popcount(hares):
        return nth(hares, k)
    k -= popcount(hares)
    if may_add_jersey(view):
        plain = count_rider_plays(view["hand"], row)
        if k >= plain:
            return nth_rider_play(view["hand"], jersey_threshold(view), k - plain) | JERSEY
    return nth_rider_play(view["hand"], row, k)


@kernel
def _put(out: NDArray[np.uint64], n: int, move: np.uint64) -> int:
    if n < len(out):
        out[n] = move
    return n + 1


@kernel
def _list_rider_plays(hand: np.uint64, row: int, flag: np.uint64, out: NDArray[np.uint64], n: int) -> int:
    for team in range(7):
        group = byte(hand, team) & 0x7F
        for k in range(TEAM_PLAYS[row, group]):
            n = _put(out, n, shift_left(np.uint64(TEAM_SETS[group, k]), 8 * team) | flag)
    for i in range(7):
        group = column(hand, i)
        for k in range(NUMBER_PLAYS[row, i, popcount(hand & shift_left(TORTOISES, i))]):
            n = _put(out, n, shift_left(SPREAD[NUMBER_SETS[group, k]], i) | flag)
    return n


@kernel
def _list_plays(view: View, out: NDArray[np.uint64]) -> int:
    row = threshold(integer(view["beat"]))
    n = 0
    hares = view["hand"] & HARES_ABOVE[row]
    while hares != U0:
        n = _put(out, n, lowest(hares))
        hares = without_lowest(hares)
    n = _list_rider_plays(view["hand"], row, U0, out, n)
    if may_add_jersey(view):
        n = _list_rider_plays(view["hand"], jersey_threshold(view), JERSEY, out, n)
    return n


@kernel
def _list_seats(view: View, kind: int, out: NDArray[np.uint64]) -> int:
    n = 0
    for seat in range(integer(view["players"])):
        if seat != view["seat"] and view["sizes"][seat] > 0:
            n = _put(out, n, move_of(kind, np.uint64(seat)))
    return n


@kernel
def _list_gifts(view: View, out: NDArray[np.uint64]) -> int:
    size, count = popcount(view["hand"]), integer(view["swap_count"])
    total = binomial(size, count)
    chosen = shift_left(np.uint64(1), count) - np.uint64(1)
    for n in range(min(total, len(out))):
        out[n] = move_of(Kind.GIVE, deposit(chosen, view["hand"]))
        chosen = next_of_same_size(chosen)
    return total


@kernel
def legal_moves(view: View, out: NDArray[np.uint64]) -> int:
    """List the legal moves of the player to act.

    Parameters
    ----------
    view : numpy.void
        A view of dtype ``VIEW`` of the seat to act.
    out : numpy.ndarray
        Buffer of dtype uint64. ``MAX_PLAYS`` places are enough for all but the cards to give back, of which a hand
        of h cards has "h choose k".

    Returns
    -------
    int
        How many legal moves there are. Only as many are written as the buffer holds.
    """
    phase = integer(view["phase"])
    if phase == Phase.LEAD:
        return _list_plays(view, out)
    if phase == Phase.FOLLOW:
        return _put(out, _list_plays(view, out), PASS)
    if phase == Phase.SWAP:
        n = _list_seats(view, Kind.SWAP, out)
        return _put(out, n, DECLINE) if view["rules"]["tortoise_swap"] == SWAP_OPTIONAL else n
    if phase == Phase.GIVE:
        return _list_gifts(view, out)
    if phase == Phase.NEXT_LEADER:
        return _list_seats(view, Kind.LEAD, out)
    if phase == Phase.REWARD:
        return _put(out, _put(out, 0, KEEP), FORCE)
    return 0


def all_legal_moves(view: View) -> NDArray[np.uint64]:
    """Return all legal moves of the player to act in the order of ``legal_moves``, however many there are."""
    moves = np.empty(MAX_PLAYS, np.uint64)
    count = int(legal_moves(view, moves))
    if count > len(moves):
        moves = np.empty(count, np.uint64)
        legal_moves(view, moves)
    return moves[:count]


@inlined
def _refusal_of_cards(cards: np.uint64, hand: np.uint64) -> int:
    """Return what is wrong with the cards of a play by themselves (V7, V8)."""
    if cards == U0:
        return Refusal.NO_CARDS
    if cards & ~hand:
        return Refusal.NOT_IN_HAND
    if is_single(cards) or is_combination(cards):
        return Refusal.NONE
    if cards & HARES == U0:
        return Refusal.MIXED
    return Refusal.TWO_HARES if cards & ~HARES == U0 else Refusal.HARE_IN_COMBO


@inlined
def _refusal_of_jersey(view: View, cards: np.uint64) -> int:
    """Return what forbids adding the Jersey to the cards (V9)."""
    if view["rules"]["jersey_bonus"] == 0:
        return Refusal.JERSEY_OFF
    if cards & HARES:
        return Refusal.HARE_WITH_JERSEY
    if view["wearer"] != view["seat"]:
        return Refusal.JERSEY_NOT_WORN
    return Refusal.JERSEY_USED if view["jersey_spent"] else Refusal.NONE


@inlined
def _refusal_of_play(view: View, move: np.uint64) -> int:
    cards = cards_of(move)
    if move & ~(cards | JERSEY):
        return Refusal.NOT_A_MOVE
    if view["phase"] > Phase.FOLLOW:
        return Refusal.WRONG_PHASE
    refusal = _refusal_of_cards(cards, view["hand"])
    if refusal != Refusal.NONE:
        return refusal
    value, beat = value_of(cards), integer(view["beat"])
    if move & JERSEY:
        refusal = _refusal_of_jersey(view, cards)
        if refusal != Refusal.NONE:
            return refusal
        return Refusal.NONE if value + integer(view["rules"]["jersey_bonus"]) > beat else Refusal.TOO_LOW_WITH_JERSEY
    if value > beat:
        return Refusal.NONE
    return Refusal.EQUAL if value == beat else Refusal.TOO_LOW


@kernel
def _refusal_of_seat(view: View, seat: np.uint64, itself: int, without_cards: int) -> int:
    """Return why a seat cannot be named in a swap (V20) or as the next leader (V13)."""
    if seat >= np.uint64(view["players"]):
        return Refusal.NO_SUCH_SEAT
    if seat == np.uint64(view["seat"]):
        return itself
    return Refusal.NONE if view["sizes"][integer(seat)] > 0 else without_cards


@kernel
def _refusal_of_gift(view: View, cards: np.uint64) -> int:
    if cards & ~view["hand"]:
        return Refusal.GIVE_NOT_IN_HAND
    size, count = popcount(cards), integer(view["swap_count"])
    if size == count:
        return Refusal.NONE
    return Refusal.GIVE_TOO_FEW if size < count else Refusal.GIVE_TOO_MANY


@kernel
def _phase_of(kind: int) -> int:
    """Return the phase that a kind of move other than a play belongs to."""
    if kind == Kind.PASS:
        return Phase.FOLLOW
    if kind == Kind.SWAP or kind == Kind.DECLINE:
        return Phase.SWAP
    if kind == Kind.GIVE:
        return Phase.GIVE
    return Phase.NEXT_LEADER if kind == Kind.LEAD else Phase.REWARD


@inlined
def refusal(view: View, move: np.uint64) -> int:
    """Return why the player to act may not make the move, as a ``Refusal``; ``Refusal.NONE`` (0) if he may."""
    kind = kind_of(move)
    if kind == Kind.PLAY:
        return _refusal_of_play(view, move)
    content = move ^ move_of(kind, U0)
    if kind == Kind.PASS and view["phase"] == Phase.LEAD and content == U0:
        return Refusal.PASS_AT_LEAD
    if view["phase"] != _phase_of(kind):
        return Refusal.WRONG_PHASE
    if kind == Kind.SWAP:
        return _refusal_of_seat(view, content, Refusal.SWAP_SELF, Refusal.SWAP_NO_CARDS)
    if kind == Kind.LEAD:
        return _refusal_of_seat(view, content, Refusal.LEAD_SELF, Refusal.LEAD_FINISHED)
    if kind == Kind.GIVE:
        return _refusal_of_gift(view, content)
    if content != U0:
        return Refusal.NOT_A_MOVE
    if kind == Kind.DECLINE and view["rules"]["tortoise_swap"] != SWAP_OPTIONAL:
        return Refusal.SWAP_MANDATORY
    return Refusal.NONE


@kernel
def is_legal(view: View, move: np.uint64) -> bool:
    """Whether the player to act may make the move."""
    return refusal(view, move) == Refusal.NONE
