"""The bot ``greedy``: the fixed reference for speed and strength, and the choices that other bots build on.

It never passes when it can beat. It leads the most cards, then the lowest value; follows with the lowest value that
beats, then the most cards; names swap targets and leaders at random; gives back cards of the smallest groups first, hares
last; forces the reward on the opponent.
"""

import numpy as np

from velonimo_sim._jit import kernel, kernel_as
from velonimo_sim.bits import U0, byte, column, lowest, lowest_index, popcount, shift_left, without_lowest
from velonimo_sim.rng import Stream
from velonimo_sim.velonimo.cards import HARES, TORTOISES
from velonimo_sim.velonimo.legal import jersey_threshold, may_add_jersey, threshold
from velonimo_sim.velonimo.moves import FORCE, JERSEY, PASS, Kind, move_of, value_of
from velonimo_sim.velonimo.policies.base import POLICY, Scratch
from velonimo_sim.velonimo.policies.uniform import uniform_opponent
from velonimo_sim.velonimo.tables import HARES_ABOVE, NUMBER_PLAYS, NUMBER_SETS, SPREAD, TEAM_PLAYS, TEAM_SETS
from velonimo_sim.velonimo.view import Phase, View

_NOTHING = 1 << 40


@kernel
def lead_most_cards(hand: np.uint64) -> np.uint64:
    """Return the play of the most cards, then of the lowest value, that a hand with cards can lead with."""
    best, best_rank = U0, _NOTHING
    hares = hand & HARES
    if hares:
        best, best_rank = lowest(hares), _lead_rank(lowest(hares))
    for team in range(7):
        cards = hand & shift_left(np.uint64(0x7F), 8 * team)
        if cards and _lead_rank(cards) < best_rank:
            best, best_rank = cards, _lead_rank(cards)
    for i in range(7):
        cards = hand & shift_left(TORTOISES, i)
        if cards and _lead_rank(cards) < best_rank:
            best, best_rank = cards, _lead_rank(cards)
    return best


@kernel
def _lead_rank(cards: np.uint64) -> int:
    return value_of(cards) - 1000 * popcount(cards)


@kernel
def cheapest_riders(hand: np.uint64, row: int) -> np.uint64:
    """Return the rider play of the lowest value above ``row``, then of the most cards; 0 if none beats."""
    best, best_rank = U0, _NOTHING
    for team in range(7):
        group = byte(hand, team) & 0x7F
        count = int(TEAM_PLAYS[row, group])
        if count:
            cards = shift_left(np.uint64(TEAM_SETS[group, count - 1]), 8 * team)
            if follow_rank(cards, 0) < best_rank:
                best, best_rank = cards, follow_rank(cards, 0)
    for i in range(7):
        group = column(hand, i)
        count = int(NUMBER_PLAYS[row, i, group])
        if count:
            cards = shift_left(SPREAD[NUMBER_SETS[group, count - 1]], i)
            if follow_rank(cards, 0) < best_rank:
                best, best_rank = cards, follow_rank(cards, 0)
    return best


@kernel
def follow_rank(cards: np.uint64, bonus: int) -> int:
    """Return the order in which plays that beat are preferred, lowest first: value, then most cards."""
    return 8 * (value_of(cards) + bonus) - popcount(cards)


@kernel
def cheapest_play(view: View, hand: np.uint64) -> np.uint64:
    """Return the play of the lowest value that beats, then of the most cards, with cards of ``hand``; 0 if none."""
    row = threshold(int(view["beat"]))
    best = cheapest_riders(hand, row)
    best_rank = follow_rank(best, 0) if best else _NOTHING
    hare = lowest(hand & HARES_ABOVE[row])
    if hare and follow_rank(hare, 0) < best_rank:
        best, best_rank = hare, follow_rank(hare, 0)
    if may_add_jersey(view):
        riders = cheapest_riders(hand, jersey_threshold(view))
        if riders and follow_rank(riders, int(view["rules"]["jersey_bonus"])) < best_rank:
            best = riders | JERSEY
    return best


@kernel
def least_useful_cards(hand: np.uint64, count: int) -> np.uint64:
    """Return ``count`` cards of the hand, one by one from the smallest group that is left, hares last."""
    chosen = U0
    for _ in range(count):
        chosen |= _least_useful_card(hand & ~chosen)
    return chosen


@kernel
def _least_useful_card(hand: np.uint64) -> np.uint64:
    best, best_size = U0, _NOTHING
    rest = hand
    while rest:
        card = lowest(rest)
        rest = without_lowest(rest)
        size = 100 if card & HARES else _group_size(hand, lowest_index(card))
        if size < best_size:
            best, best_size = card, size
    return best


@kernel
def _group_size(hand: np.uint64, position: int) -> int:
    """Return the number of riders in the larger of the two groups of the rider at a bit position."""
    team = hand & shift_left(np.uint64(0x7F), position & 0x38)
    number = hand & shift_left(TORTOISES, position & 7)
    return max(popcount(team), popcount(number))


@kernel
def decide_beside_plays(view: View, stream: Stream) -> np.uint64:
    """Decide what is no play: targets and leaders at random, the least useful cards back, the reward forced."""
    phase = int(view["phase"])
    if phase == Phase.SWAP:
        return move_of(Kind.SWAP, np.uint64(uniform_opponent(view, stream)))
    if phase == Phase.GIVE:
        return move_of(Kind.GIVE, least_useful_cards(view["hand"], int(view["swap_count"])))
    if phase == Phase.NEXT_LEADER:
        return move_of(Kind.LEAD, np.uint64(uniform_opponent(view, stream)))
    return FORCE


@kernel_as(POLICY)
def greedy(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Play whenever possible: lead the most cards, follow as cheaply as possible."""
    if view["phase"] == Phase.LEAD:
        return lead_most_cards(view["hand"])
    if view["phase"] == Phase.FOLLOW:
        play = cheapest_play(view, view["hand"])
        return play if play else PASS
    return decide_beside_plays(view, stream)
