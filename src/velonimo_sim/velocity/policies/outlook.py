"""What moves and rides gain in spaces, cans counted at a price: what ``greedy`` and ``saver`` go by.

A bot's ``Taste`` is how it counts. A ride is worth what the best of its dice is worth, in the mean over all
that they can show.
"""

from typing import NamedTuple

import numpy as np

from velonimo_sim._jit import kernel
from velonimo_sim.bits import U0, bit, integer, lowest_index, without_lowest
from velonimo_sim.velocity.dice import DICE, ENERGY, MAX_FACE, MAX_FACES
from velonimo_sim.velocity.legal import (
    CHOICES,
    as_place,
    car_park,
    dice_of_pack,
    may_be_taken_from,
    packs,
    space_behind,
    starts_by,
    value_of,
)
from velonimo_sim.velocity.moves import BACK, BREAKAWAY, FOLLOW, PAY, REFUEL, STAY, Kind, move_of
from velonimo_sim.velocity.rules import WINNING_COURIERS
from velonimo_sim.velocity.step import is_ahead
from velonimo_sim.velocity.view import Phase, View


class Taste(NamedTuple):
    """How a bot counts, in spaces.

    Parameters
    ----------
    can : float
        What a can is worth when it is spent on a ride, or earned.
    can_at_obstacle : float
        What a can is worth when it is spent to stay on an obstacle.
    second_courier : float
        What it is worth to have the second courier cross the finish line.
    packs : bool
        Whether it rides in packs.
    """

    can: float
    can_at_obstacle: float
    second_courier: float
    packs: bool


WIN = 1_000.0
"""Worth of the courier that wins, in spaces: more than anything else."""
_ENTRIES = DICE * MAX_FACES


@kernel
def worth_of_landing(view: View, seat: int, target: int, cans: int, earns: bool, taste: Taste) -> float:
    """Return what it is worth to a courier of a seat with so many cans to land on a space (C13, C15, C16)."""
    here = bit(target)
    if view["rules"]["supply_spaces"] & here:
        return taste.can if earns else 0.0
    if view["rules"]["obstacles"] & here:
        back = worth_of_moving_back(view, target, taste)
        return max(back, -taste.can_at_obstacle) if cans > 0 else back
    return 0.0


@kernel
def worth_of_moving_back(view: View, target: int, taste: Taste) -> float:
    """Return what a move back from an obstacle is worth: the spaces lost, and the cans for it (C15, C16)."""
    behind = space_behind(view, target)
    return target - behind + (2 if behind == car_park(view) else 1) * taste.can


@kernel
def worth_of_crossing(view: View, seat: int, value: int, taste: Taste) -> float:
    """Return what it is worth to cross the finish line; pips that lapse count (C8)."""
    finished = integer(view["finished"][seat])
    if finished == WINNING_COURIERS - 1:
        return WIN
    return value + (taste.second_courier if finished == 1 else 0.0)


@kernel
def couriers_on(view: View, seat: int, space: int) -> int:
    """Return how many couriers of a team stand on a space."""
    standing = 0
    for courier in range(integer(view["rules"]["couriers"])):
        standing += integer(view["couriers"][seat, courier] == space)
    return standing


@kernel
def worth_of_move(view: View, origin: int, value: int, cans: int, may_follow: bool, taste: Taste) -> float:
    """Return what it is worth to the active seat to move a courier, those that then follow it included (C12)."""
    seat = integer(view["active"])
    target = origin - value
    if target <= 0:
        return worth_of_crossing(view, seat, value, taste)
    worth = value + worth_of_landing(view, seat, target, cans, True, taste)
    if origin == car_park(view) or not may_follow:
        return worth
    followers = min(couriers_on(view, seat, origin) - 1, cans)
    if followers > 0:
        follows = value - taste.can + worth_of_landing(view, seat, target, cans - followers, False, taste)
        worth += followers * max(follows, 0.0)
    return worth


@kernel
def best_move(
    view: View, starts: np.uint64, value: int, may_cross: bool, cans: int, may_follow: bool, taste: Taste
) -> float:
    """Return the worth of the best move by a number from one of some spaces; 0 if none may be moved from (C9)."""
    best, is_any = 0.0, False
    while starts:
        origin = lowest_index(starts)
        starts = without_lowest(starts)
        if may_cross or origin > value:
            worth = worth_of_move(view, origin, value, cans, may_follow, taste)
            best = max(best, worth) if is_any else worth
            is_any = True
    return best


@kernel
def outlook(view: View, starts: np.uint64, dice: np.uint64, spent: int, taste: Taste) -> float:
    """Return what a ride from some spaces with some dice is worth, in the mean over all that they can show.

    Parameters
    ----------
    view : numpy.void
        A view in phase ``RIDE``.
    starts : uint64
        Bit s: the ride may start from space s.
    dice : uint64
        Bit d: die d is thrown.
    spent : int
        Cans spent on it; of a Breakaway, whose sum counts as well, see ``outlook_of_breakaway``.
    taste : Taste
        How worth is counted.
    """
    seat = integer(view["active"])
    cans = integer(view["cans"][seat]) - spent
    worths, die_of, left = np.empty(_ENTRIES), np.empty(_ENTRIES, np.int64), np.zeros(DICE)
    n = 0
    while dice:
        die = lowest_index(dice)
        dice = without_lowest(dice)
        left[die] = integer(view["rules"]["n_faces"][die])
        for face in range(integer(view["rules"]["n_faces"][die])):
            value = integer(view["rules"]["faces"][die, face])
            worth = best_move(view, starts, value, die == seat, cans, True, taste)
            place = n
            while place > 0 and worths[place - 1] < worth:
                worths[place], die_of[place] = worths[place - 1], die_of[place - 1]
                place -= 1
            worths[place], die_of[place] = worth, die
            n += 1
    # From the best face down: ``none`` is the chance that no die shows one of those seen so far.
    mean, none = 0.0, 1.0
    for i in range(n):
        faces = left[die_of[i]]
        left[die_of[i]] = faces - 1
        mean += worths[i] * none / faces
        none -= none / faces
        if none <= 0.0:
            break
    return mean - spent * taste.can


@kernel
def outlook_of_breakaway(view: View, taste: Taste) -> float:
    """Return what a Breakaway is worth: the best of the own die, the energy die and their sum (C10)."""
    seat = integer(view["active"])
    starts, cans = view["spaces"][seat], integer(view["cans"][seat]) - BREAKAWAY
    sums = np.full(2 * MAX_FACE + 1, np.nan)
    n_own, n_energy = integer(view["rules"]["n_faces"][seat]), integer(view["rules"]["n_faces"][ENERGY])
    energies = np.empty(n_energy)
    for face in range(n_energy):
        energy = integer(view["rules"]["faces"][ENERGY, face])
        energies[face] = best_move(view, starts, energy, False, cans, False, taste)
    total = 0.0
    for face in range(n_own):
        own = integer(view["rules"]["faces"][seat, face])
        by_own = best_move(view, starts, own, True, cans, False, taste)
        for other in range(n_energy):
            energy = integer(view["rules"]["faces"][ENERGY, other])
            both = own + energy
            if np.isnan(sums[both]):
                crosses = bool(view["rules"]["breakaway_sum_finishes"])
                sums[both] = best_move(view, starts, both, crosses, cans, False, taste)
            total += max(by_own, energies[other], sums[both])
    return total / (n_own * n_energy) - BREAKAWAY * taste.can


@kernel
def choose_by_outlook(view: View, taste: Taste) -> np.uint64:
    """Return the move that gains most."""
    phase = integer(view["phase"])
    if phase == Phase.RIDE:
        return _best_ride(view, taste)
    if phase == Phase.DIE:
        return _best_die(view, taste)
    if phase == Phase.SLIPSTREAM:
        return FOLLOW if _gain_of_following(view, taste) > 0 else STAY
    if phase == Phase.OBSTACLE:
        back = worth_of_moving_back(view, integer(view["target"]), taste)
        return PAY if -taste.can_at_obstacle >= back else BACK
    return move_of(Kind.TAKE, 0, _foremost(view, may_be_taken_from(view, integer(view["turn"]))))


@kernel
def _best_ride(view: View, taste: Taste) -> np.uint64:
    """Return the ride of the best outlook; of equal ones a solo ride, and the cheaper one."""
    seat = integer(view["turn"])
    spaces, own = np.uint64(view["spaces"][seat]), bit(seat)
    energy, cans = bit(ENERGY), integer(view["cans"][seat])
    best, move = outlook(view, spaces, own, 0, taste), move_of(Kind.SOLO, 0, 0)
    if cans >= REFUEL:
        worth = outlook(view, spaces, own | energy, REFUEL, taste)
        if worth > best:
            best, move = worth, move_of(Kind.SOLO, REFUEL, 0)
    if cans >= BREAKAWAY:
        worth = outlook_of_breakaway(view, taste)
        if worth > best:
            best, move = worth, move_of(Kind.SOLO, BREAKAWAY, 0)
    rest = packs(view) if taste.packs else U0
    while rest:
        origin = lowest_index(rest)
        rest = without_lowest(rest)
        dice = dice_of_pack(view, origin)
        for spent in range(1 + min(cans, REFUEL)):
            worth = outlook(view, bit(origin), dice | energy if spent else dice, spent, taste)
            if worth > best:
                best, move = worth, move_of(Kind.PACK, spent, as_place(view, origin))
    return move


@kernel
def _best_die(view: View, taste: Taste) -> np.uint64:
    """Return the die and the start that gain most; of equal ones the own die, which helps nobody else."""
    active = integer(view["active"])
    cans, may_follow = integer(view["cans"][active]), bool(view["spent"] < BREAKAWAY)
    best, move = -WIN, U0
    for i in range(CHOICES):
        die = active if i == 0 else i - 1 if i <= active else i
        rest = starts_by(view, die)
        while rest:
            origin = lowest_index(rest)
            rest = without_lowest(rest)
            worth = worth_of_move(view, origin, value_of(view, die), cans, may_follow, taste)
            if worth > best:
                best, move = worth, move_of(Kind.DIE, die, as_place(view, origin))
    return move


@kernel
def _gain_of_following(view: View, taste: Taste) -> float:
    """Return what it is worth to follow in the slipstream, its can counted."""
    seat, target = integer(view["turn"]), integer(view["target"])
    cans = integer(view["cans"][seat]) - 1
    landing = worth_of_landing(view, seat, target, cans, False, taste)
    return integer(view["origin"]) - target + landing - taste.can


@kernel
def _foremost(view: View, seats: np.uint64) -> int:
    """Return which of some seats is ahead of the others."""
    best = lowest_index(seats)
    for seat in range(integer(view["players"])):
        if seats & bit(seat) and is_ahead(view, seat, best):
            best = seat
    return best
