"""The bot ``greedy``: the fixed reference for speed and strength, and the choices that other bots build on.

It never passes when it can beat. It leads the most cards, then the lowest value; follows with the lowest value that
beats, then the most cards; names swap targets and leaders at random; gives back cards of the smallest groups first,
hares last; forces the reward on the opponent.
"""

import numpy as np

from velonimo_sim._jit import inlined, kernel
from velonimo_sim.bits import U0, byte, column, integer, lowest, lowest_index, popcount, shift_left, without_lowest
from velonimo_sim.bot.policy import compiled_bot
from velonimo_sim.rng import Stream
from velonimo_sim.velonimo.cards import HARES, RIDERS, TORTOISES
from velonimo_sim.velonimo.legal import jersey_threshold, may_add_jersey, threshold
from velonimo_sim.velonimo.moves import FORCE, JERSEY, PASS, Kind, move_of, value_of
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.policies.uniform import uniform_opponent
from velonimo_sim.velonimo.tables import (
    HARES_ABOVE,
    NO_PLAY,
    NUMBER_FOLLOW,
    NUMBER_LEAD,
    NUMBER_PLAYS,
    NUMBER_SETS,
    SPREAD,
    TEAM_FOLLOW,
    TEAM_LEAD,
    TEAM_PLAYS,
    TEAM_SETS,
)
from velonimo_sim.velonimo.view import Phase, View

# A choice among the 14 groups of a hand is 16 x rank + place, so that the least number is the best choice: places 0-6
# are the teams, 7-13 the numbers.


@inlined
def _best_lead(hand: np.uint64) -> int:
    """Return the best lead of the riders of a hand as 16 x rank + place."""
    best = 16 * NO_PLAY
    for team in range(7):
        best = min(best, 16 * integer(TEAM_LEAD[byte(hand, team) & 0x7F]) + team)
    for i in range(7):
        best = min(best, 16 * integer(NUMBER_LEAD[i, popcount(hand & shift_left(TORTOISES, i))]) + 7 + i)
    return best


@inlined
def lead_most_cards(hand: np.uint64) -> np.uint64:
    """Return the play of the most cards, then of the lowest value, that a hand with cards can lead with."""
    riders = hand & RIDERS
    if riders == U0:
        return lowest(hand)
    place = _best_lead(riders) % 16
    return riders & (shift_left(np.uint64(0x7F), 8 * place) if place < 7 else shift_left(TORTOISES, place - 7))


@inlined
def _best_follow(hand: np.uint64, row: int) -> int:
    """Return the cheapest rider play worth more than ``row`` as 16 x rank + place."""
    best = 16 * NO_PLAY
    for team in range(7):
        best = min(best, 16 * integer(TEAM_FOLLOW[row, byte(hand, team) & 0x7F]) + team)
    for i in range(7):
        best = min(best, 16 * integer(NUMBER_FOLLOW[row, i, popcount(hand & shift_left(TORTOISES, i))]) + 7 + i)
    return best


@inlined
def cards_of_follow(hand: np.uint64, row: int, place: int) -> np.uint64:
    """Return the cards of the cheapest play of a group: the last of those that beat."""
    if place < 7:
        group = byte(hand, place) & 0x7F
        return shift_left(np.uint64(TEAM_SETS[group, integer(TEAM_PLAYS[row, group]) - 1]), 8 * place)
    group = column(hand, place - 7)
    count = integer(NUMBER_PLAYS[row, place - 7, popcount(np.uint64(group))])
    return shift_left(SPREAD[NUMBER_SETS[group, count - 1]], place - 7)


@inlined
def cheapest_play(view: View, hand: np.uint64) -> np.uint64:
    """Return the play of the lowest value that beats, then of the most cards, with cards of ``hand``; 0 if none."""
    row = threshold(integer(view["beat"]))
    best = _best_follow(hand, row)
    rank, play = best // 16, U0
    if rank < NO_PLAY:
        play = cards_of_follow(hand, row, best % 16)
    hare = lowest(hand & HARES_ABOVE[row])
    if hare and 8 * value_of(hare) - 1 < rank:
        rank, play = 8 * value_of(hare) - 1, hare
    if may_add_jersey(view):
        best = _best_follow(hand, jersey_threshold(view))
        rank_with_jersey = best // 16 + 8 * integer(view["rules"]["jersey_bonus"])
        if best // 16 < NO_PLAY and (play == U0 or rank_with_jersey < rank):
            play = cards_of_follow(hand, jersey_threshold(view), best % 16) | JERSEY
    return play


@kernel
def least_useful_cards(hand: np.uint64, count: int) -> np.uint64:
    """Return ``count`` cards of the hand, one by one from the smallest group that is left, hares last."""
    chosen = U0
    for _ in range(count):
        chosen |= _least_useful_card(hand & ~chosen)
    return chosen


@kernel
def _least_useful_card(hand: np.uint64) -> np.uint64:
    best, best_size = U0, 1000
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
    phase = integer(view["phase"])
    if phase == Phase.SWAP:
        return move_of(Kind.SWAP, np.uint64(uniform_opponent(view, stream)))
    if phase == Phase.GIVE:
        return move_of(Kind.GIVE, least_useful_cards(view["hand"], integer(view["swap_count"])))
    if phase == Phase.NEXT_LEADER:
        return move_of(Kind.LEAD, np.uint64(uniform_opponent(view, stream)))
    return FORCE


@compiled_bot("greedy", "plays whenever it can, as cheaply as it can")
def greedy(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Play whenever possible: lead the most cards, follow as cheaply as possible."""
    if view["phase"] == Phase.LEAD:
        return lead_most_cards(view["hand"])
    if view["phase"] == Phase.FOLLOW:
        play = cheapest_play(view, view["hand"])
        return play if play else PASS
    return decide_beside_plays(view, stream)
