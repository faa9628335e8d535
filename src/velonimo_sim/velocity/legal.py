"""Which moves are legal: counted, listed, picked by number, or one checked (C6-C16)."""

from enum import IntEnum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import inlined, kernel
from velonimo_sim.bits import U0, U1, bit, integer, lowest_index, nth, popcount
from velonimo_sim.velocity.dice import DIE_NAMES, ENERGY, SUM
from velonimo_sim.velocity.moves import (
    BACK,
    BREAKAWAY,
    FOLLOW,
    PARK,
    PAY,
    REFUEL,
    STAY,
    Kind,
    detail_of,
    kind_of,
    move_of,
    place_in,
)
from velonimo_sim.velocity.rules import MAX_PLAYERS
from velonimo_sim.velocity.view import NOBODY, Phase, View

MAX_MOVES = 12
"""The most legal moves of a state: the own die, the energy die and their sum, each from four spaces (C10)."""

CHOICES = len(DIE_NAMES)
"""What may be chosen in phase ``DIE``: a team's die, the energy die, or the sum."""


class Refusal(IntEnum):
    """Why a move is refused."""

    NONE = 0
    NO_MOVE = 1
    WRONG_PHASE = 2
    TOO_FEW_CANS = 3
    BREAKAWAY_IN_PACK = 4
    NO_PACK = 5
    PACK_IN_CAR_PARK = 6
    NOT_THROWN = 7
    NO_COURIER = 8
    NOT_OF_THE_PACK = 9
    CROSSES = 10
    NOT_THE_MOST_CANS = 11


REASONS: Final = {
    Refusal.NO_MOVE: ("", "it is no move"),
    Refusal.WRONG_PHASE: ("", "it is not what has to be decided"),
    Refusal.TOO_FEW_CANS: ("C6", "the player has not so many cans"),
    Refusal.BREAKAWAY_IN_PACK: ("C6", "a Breakaway is for a solo ride"),
    Refusal.NO_PACK: ("C7", "a pack needs a courier of the player and one of another team on the space"),
    Refusal.PACK_IN_CAR_PARK: ("C7", "a pack may not start in the car park"),
    Refusal.NOT_THROWN: ("C10", "that die has not been thrown"),
    Refusal.NO_COURIER: ("C10", "the player has no courier there"),
    Refusal.NOT_OF_THE_PACK: ("C11", "the pack rides from another space"),
    Refusal.CROSSES: ("C9", "a courier crosses the finish line by its own team's die only"),
    Refusal.NOT_THE_MOST_CANS: ("C14", "another player has more cans, or it is the player himself"),
}
"""The rule that is broken, and the reason."""

PHASE_RULES: Final = {
    Phase.RIDE: "C6",
    Phase.DIE: "C10",
    Phase.SLIPSTREAM: "C12",
    Phase.OBSTACLE: "C15",
    Phase.TAKE: "C14",
    Phase.GAME_OVER: "C18",
}
"""The rule that says what is decided in a phase."""


@inlined
def car_park(view: View) -> int:
    """Return the number that stands for the car park (C4)."""
    return integer(view["rules"]["length"]) + 1


@inlined
def as_place(view: View, space: int) -> int:
    """Return a space as a move names it."""
    return PARK if space == car_park(view) else space


@inlined
def as_space(view: View, place: int) -> int:
    """Return the space that a move names."""
    return car_park(view) if place == PARK else place


@inlined
def spaces_above(value: int) -> np.uint64:
    """Return the spaces from which a courier that moves ``value`` does not cross the finish line, for 0-62."""
    return ~(bit(value + 1) - U1)


@kernel
def spaces_of_others(view: View, seat: int) -> np.uint64:
    """Return the spaces on which couriers of the other teams stand."""
    others = U0
    for other in range(integer(view["players"])):
        if other != seat:
            others |= view["spaces"][other]
    return others


@inlined
def space_behind(view: View, obstacle: int) -> int:
    """Return where a courier is moved back to: the next obstacle on which nobody stands, or the car park (C15)."""
    taken = spaces_of_others(view, NOBODY)
    free = view["rules"]["obstacles"] & ~taken & spaces_above(obstacle)
    return lowest_index(free) if free else car_park(view)


@inlined
def dice_of_pack(view: View, origin: int) -> np.uint64:
    """Return the dice that a pack ride from a space throws: those of all teams there (C11); bit d is die d."""
    dice = U0
    for seat in range(integer(view["players"])):
        if view["spaces"][seat] & bit(origin):
            dice |= bit(seat)
    return dice


@inlined
def packs(view: View) -> np.uint64:
    """Return the spaces from which the seat to act may ride in a pack (C7)."""
    seat = integer(view["turn"])
    shared = np.uint64(view["spaces"][seat] & spaces_of_others(view, seat))
    return shared if view["rules"]["pack_from_start"] else shared & ~bit(car_park(view))


@inlined
def value_of(view: View, die: int) -> int:
    """Return by how much a die, or the sum, moves; 0 if it is not thrown."""
    if die < SUM:
        return integer(view["dice"][die])
    if view["spent"] < BREAKAWAY:
        return 0
    return integer(view["dice"][view["active"]]) + integer(view["dice"][ENERGY])


@inlined
def may_cross(view: View, die: int) -> bool:
    """Whether a courier of the active player may cross the finish line by a die (C9)."""
    if die == SUM:
        return bool(view["rules"]["breakaway_sum_finishes"])
    return bool(die == view["active"])


@inlined
def starts(view: View) -> np.uint64:
    """Return the spaces from which the ride that was chosen may start (C10, C11)."""
    return bit(integer(view["origin"])) if view["is_pack"] else np.uint64(view["spaces"][view["active"]])


@inlined
def starts_by(view: View, die: int) -> np.uint64:
    """Return the spaces from which a courier of the active player may move by a die; none if it is not thrown."""
    value = value_of(view, die)
    if value == 0:
        return U0
    return starts(view) if may_cross(view, die) else starts(view) & spaces_above(value)


@kernel
def most_cans_of_others(view: View, seat: int) -> int:
    """Return the most cans that another player has."""
    most = 0
    for other in range(integer(view["players"])):
        if other != seat:
            most = max(most, integer(view["cans"][other]))
    return most


@kernel
def may_be_taken_from(view: View, seat: int) -> np.uint64:
    """Return the other players with the most cans (C14): bit s stands for seat s."""
    most, found = most_cans_of_others(view, seat), U0
    for other in range(integer(view["players"])):
        if other != seat and view["cans"][other] == most:
            found |= bit(other)
    return found


@inlined
def _ways_to_spend(view: View, most: int) -> int:
    """Return how many ways there are to spend cans on a ride, nothing being one of them."""
    return 1 + min(most, integer(view["cans"][view["turn"]]))


@kernel
def count_moves(view: View) -> int:
    """Return the number of legal moves of the seat to act."""
    phase = integer(view["phase"])
    if phase == Phase.RIDE:
        return _ways_to_spend(view, BREAKAWAY) + popcount(packs(view)) * _ways_to_spend(view, REFUEL)
    if phase == Phase.DIE:
        n = 0
        for die in range(CHOICES):
            n += popcount(starts_by(view, die))
        return n
    if phase == Phase.TAKE:
        return popcount(may_be_taken_from(view, integer(view["turn"])))
    return 2 if phase < Phase.GAME_OVER else 0


@kernel
def nth_move(view: View, k: int) -> np.uint64:
    """Return the ``k``-th legal move of the seat to act, from 0, in the order of ``legal_moves``."""
    phase = integer(view["phase"])
    if phase == Phase.RIDE:
        return _nth_ride(view, k)
    if phase == Phase.DIE:
        return _nth_die(view, k)
    if phase == Phase.TAKE:
        return move_of(Kind.TAKE, 0, lowest_index(nth(may_be_taken_from(view, integer(view["turn"])), k)))
    if phase == Phase.SLIPSTREAM:
        return FOLLOW if k == 0 else STAY
    return PAY if k == 0 else BACK


@inlined
def _nth_ride(view: View, k: int) -> np.uint64:
    solo, ways = _ways_to_spend(view, BREAKAWAY), _ways_to_spend(view, REFUEL)
    if k < solo:
        return move_of(Kind.SOLO, k, 0)
    space = lowest_index(nth(packs(view), (k - solo) // ways))
    return move_of(Kind.PACK, (k - solo) % ways, as_place(view, space))


@inlined
def _nth_die(view: View, k: int) -> np.uint64:
    for die in range(CHOICES):
        spaces = starts_by(view, die)
        n = popcount(spaces)
        if k < n:
            return move_of(Kind.DIE, die, as_place(view, lowest_index(nth(spaces, k))))
        k -= n
    return U0


@kernel
def legal_moves(view: View, out: NDArray[np.uint64]) -> int:
    """Write the legal moves of the seat to act into ``out``, which has room for ``MAX_MOVES``; return how many."""
    n = count_moves(view)
    for k in range(n):
        out[k] = nth_move(view, k)
    return n


def all_legal_moves(view: View) -> NDArray[np.uint64]:
    """Return the legal moves of the seat to act.

    Returns
    -------
    numpy.ndarray
        dtype uint64; empty when the race is over.
    """
    out = np.zeros(MAX_MOVES, np.uint64)
    return out[: legal_moves(view, out)]


@kernel
def refusal(view: View, move: np.uint64) -> int:
    """Return why a move is refused, a ``Refusal``; ``Refusal.NONE`` for a legal one."""
    kind, phase = kind_of(move), integer(view["phase"])
    if kind == Kind.DIE:
        return _refusal_of_die(view, move) if phase == Phase.DIE else Refusal.WRONG_PHASE
    if kind in (Kind.SOLO, Kind.PACK):
        return _refusal_of_ride(view, move) if phase == Phase.RIDE else Refusal.WRONG_PHASE
    if move in (FOLLOW, STAY):
        return Refusal.NONE if phase == Phase.SLIPSTREAM else Refusal.WRONG_PHASE
    if move in (PAY, BACK):
        return Refusal.NONE if phase == Phase.OBSTACLE else Refusal.WRONG_PHASE
    if kind == Kind.TAKE and detail_of(move) == 0 and place_in(move) < MAX_PLAYERS:
        return _refusal_of_taking(view, place_in(move)) if phase == Phase.TAKE else Refusal.WRONG_PHASE
    return Refusal.NO_MOVE


@inlined
def _refusal_of_ride(view: View, move: np.uint64) -> int:
    spent, place = detail_of(move), place_in(move)
    if spent > BREAKAWAY or (kind_of(move) == Kind.SOLO and place != 0):
        return Refusal.NO_MOVE
    if spent > view["cans"][view["turn"]]:
        return Refusal.TOO_FEW_CANS
    if kind_of(move) == Kind.SOLO:
        return Refusal.NONE
    if spent == BREAKAWAY:
        return Refusal.BREAKAWAY_IN_PACK
    if not _is_place(view, place):
        return Refusal.NO_MOVE
    if packs(view) & bit(as_space(view, place)):
        return Refusal.NONE
    if place == PARK and not view["rules"]["pack_from_start"]:
        return Refusal.PACK_IN_CAR_PARK
    return Refusal.NO_PACK


@inlined
def _is_place(view: View, place: int) -> bool:
    """Whether there is such a space on this course."""
    return bool(place == PARK or 1 <= place <= view["rules"]["length"])


@inlined
def _refusal_of_die(view: View, move: np.uint64) -> int:
    die, place = detail_of(move), place_in(move)
    if die >= CHOICES or not _is_place(view, place):
        return Refusal.NO_MOVE
    start = bit(as_space(view, place))
    if starts_by(view, die) & start:
        return Refusal.NONE
    if value_of(view, die) == 0:
        return Refusal.NOT_THROWN
    if starts(view) & start:
        return Refusal.CROSSES
    return Refusal.NOT_OF_THE_PACK if view["is_pack"] else Refusal.NO_COURIER


@inlined
def _refusal_of_taking(view: View, seat: int) -> int:
    may_be = may_be_taken_from(view, integer(view["turn"])) & bit(seat)
    return Refusal.NONE if may_be else Refusal.NOT_THE_MOST_CANS
