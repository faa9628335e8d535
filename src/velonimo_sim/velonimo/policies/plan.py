"""The plan of a hand: the plays that empty it at the least cost.

The riders of a hand are dots in a grid of 7 teams and 7 numbers, and every play lies in one line of it, so emptying the
hand is to cover the dots by lines. The fewest lines that do it are as many as the most riders of which no two share a
line (Koenig, 1931). Here each play has a cost, of 1024 less what it is worth that it may stand, so that the plan also
says which of several plans of the same length leaves certain winners.
"""

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import inlined
from velonimo_sim.bits import U0, byte, integer, lowest_index, shift_left, without_lowest
from velonimo_sim.velonimo.cards import HARES, RIDERS, TORTOISES
from velonimo_sim.velonimo.moves import value_of
from velonimo_sim.velonimo.policies.stand import SITUATIONS, STAND

WHOLE = 1024
"""Cost of a play that cannot stand."""
_WORTH_OF_STANDING = 1222  # tuned with the weights of ``advised``

ALL_ALIKE = SITUATIONS
"""A further situation, in which every play costs the same: the plan is then the one of the fewest plays."""
NO_COST = -(1 << 40)


def _value_cost() -> NDArray[np.int32]:
    costs = WHOLE - _WORTH_OF_STANDING * STAND.astype(np.int32) // 1024
    return np.vstack([costs, np.full_like(costs[:1], WHOLE)])


def _team_cost() -> NDArray[np.int32]:
    values = [0] + [group & -group for group in range(1, 128)]
    columns = [10 * group.bit_count() * (group.bit_count() > 1) + low.bit_length() for group, low in enumerate(values)]
    costs = VALUE_COST[:, columns]
    costs[:, 0] = 0
    return costs


def _number_cost() -> NDArray[np.int32]:
    costs = np.zeros((len(VALUE_COST), 7, 8), np.int32)
    for i in range(7):
        for size in range(1, 8):
            costs[:, i, size] = VALUE_COST[:, i + 1 if size == 1 else 10 * size + i + 1]
    return costs


def _cost_of_counts(numbers: range) -> NDArray[np.int32]:
    """Return the costs of all number groups of a range of numbers together, by their packed sizes."""
    packed = np.arange(8 ** len(numbers))
    return np.asarray(sum(NUMBER_COST[:, i, packed >> 3 * (i - numbers[0]) & 7] for i in numbers), np.int32)


VALUE_COST = _value_cost()
"""[situation, value]: cost of a play."""
TEAM_COST = _team_cost()
"""[situation, group]: cost of a team group played together; 0 for none."""
NUMBER_COST = _number_cost()
"""[situation, number - 1, size]: likewise for a number group."""
LOW_COST = _cost_of_counts(range(4))
"""[situation, packed sizes]: cost of the groups of the numbers 1-4, whose sizes take 3 bits each."""
HIGH_COST = _cost_of_counts(range(4, 7))
"""[situation, packed sizes]: likewise for the numbers 5-7."""
COUNTS = np.array([sum(1 << 3 * i for i in range(7) if group >> i & 1) for group in range(128)], np.int64)
"""[group]: the riders of a team group as packed sizes of number groups."""


@inlined
def cheapest_cover(riders: np.uint64, situation: int) -> tuple[int, int]:
    """Return which teams to play as a colour, as 7 bits, so that all riders are played at the least cost; and the cost.

    What those teams leave is played by numbers. A team of a single rider is never needed: its number does as well.
    """
    groups, places, n, counts = U0, U0, 0, 0
    for team in range(7):
        group = byte(riders, team)
        counts += COUNTS[group]
        if group & (group - 1):
            groups |= shift_left(np.uint64(group), 8 * n)
            places |= shift_left(np.uint64(team), 8 * n)
            n += 1
    best = integer(LOW_COST[situation, counts & 0xFFF]) + integer(HIGH_COST[situation, counts >> 12])
    best_teams, teams, team_costs = 0, 0, 0
    for i in range(1, 1 << n):  # all choices in the order of the Gray code: one team more or one less at a time
        j = lowest_index(np.uint64(i))
        group, team = byte(groups, j), 1 << byte(places, j)
        sign = 1 if teams & team else -1
        counts += sign * COUNTS[group]
        team_costs -= sign * integer(TEAM_COST[situation, group])
        teams ^= team
        cost = team_costs + integer(LOW_COST[situation, counts & 0xFFF]) + integer(HIGH_COST[situation, counts >> 12])
        if cost < best:
            best, best_teams = cost, teams
    return best_teams, best


@inlined
def planned_play(riders: np.uint64, teams: int, place: int) -> np.uint64:
    """Return play ``place`` of the 14 of a cover, 0 if there is none: 0-6 are the teams, 7-13 the numbers."""
    if place < 7:
        group = riders & shift_left(np.uint64(0x7F), 8 * place)
        return group if (teams >> place) & 1 else U0
    by_team = U0
    for team in range(7):
        if (teams >> team) & 1:
            by_team |= shift_left(np.uint64(0x7F), 8 * team)
    return riders & ~by_team & shift_left(TORTOISES, place - 7)


@inlined
def _dearest(riders: np.uint64, teams: int, situation: int) -> int:
    """Return the cost of the dearest play of a cover."""
    dearest, counts = NO_COST, 0
    for team in range(7):
        group = byte(riders, team)
        if (teams >> team) & 1:
            dearest = max(dearest, integer(TEAM_COST[situation, group]))
        else:
            counts += COUNTS[group]
    for i in range(7):
        size = (counts >> (3 * i)) & 7
        if size:
            dearest = max(dearest, integer(NUMBER_COST[situation, i, size]))
    return dearest


@inlined
def cost_of_cover(hand: np.uint64, teams: int, riders_cost: int, situation: int) -> int:
    """Return what a hand costs of which the riders are covered: the dearest play goes last and costs nothing."""
    cost = riders_cost
    dearest = _dearest(hand & RIDERS, teams, situation)
    hares = hand & HARES
    while hares:
        hare_cost = integer(VALUE_COST[situation, value_of(hares)])
        cost += hare_cost
        dearest = max(dearest, hare_cost)
        hares = without_lowest(hares)
    return cost - dearest


@inlined
def hand_cost(hand: np.uint64, situation: int) -> int:
    """Return the cost of the plan of a hand with cards: about how often the lead must be won again, in 1024ths."""
    teams, cost = cheapest_cover(hand & RIDERS, situation)
    return cost_of_cover(hand, teams, cost, situation)
