"""What a move does to a state, one short kernel per rule.

``step`` does not ask whether the move is legal: that is for loops that have asked already. ``apply`` always asks, and
leaves the state unchanged when the answer is no.

A turn goes through its phases in order; where nobody has anything to decide, the next begins at once: the ride and its
dice, the move, who follows, what the space does to those that have arrived, the next turn.
"""

from collections.abc import Mapping

import numpy as np

from velonimo_sim._jit import inlined, kernel
from velonimo_sim.bits import U0, U1, bit, integer, lowest_index, without_lowest
from velonimo_sim.errors import IllegalMoveError, UsageError, is_integer_in
from velonimo_sim.rng import Stream, below_at, new_stream
from velonimo_sim.velocity.dice import DICE, DIE_NAMES, ENERGY
from velonimo_sim.velocity.legal import (
    PHASE_RULES,
    REASONS,
    Refusal,
    as_space,
    car_park,
    dice_of_pack,
    may_be_taken_from,
    most_cans_of_others,
    refusal,
    space_behind,
    value_of,
)
from velonimo_sim.velocity.moves import (
    BREAKAWAY,
    PAY,
    Kind,
    detail_of,
    kind_of,
    move_text,
    place_in,
)
from velonimo_sim.velocity.rules import WINNING_COURIERS
from velonimo_sim.velocity.state import State, clone
from velonimo_sim.velocity.track import FINISH, FINISH_PLACES
from velonimo_sim.velocity.view import NOBODY, End, Phase, View


@inlined
def step(state: State, move: np.uint64, dice: Stream) -> None:
    """Make a move that is known to be legal; ``dice`` is the stream that the dice of the game are thrown from."""
    view, kind = state["view"], kind_of(move)
    if kind == Kind.DIE:
        ride(view, detail_of(move), as_space(view, place_in(move)))
    elif kind <= Kind.PACK:
        choose_ride(view, move)
        throw_dice(view, dice)
    elif kind == Kind.FOLLOW:
        follow(view, integer(view["turn"]))
        ask_next_follower(view)
    elif kind == Kind.STAY:
        view["asked"] += 1
        ask_next_follower(view)
    elif kind == Kind.TAKE:
        take_can(view, place_in(move))
        hand_out_cans(view)
        go_on(view)
    else:
        settle_courier(view, move == PAY)
        go_on(view)


# Cans.


@inlined
def pay_cans(view: View, seat: int, cans: int) -> None:
    """Put cans of a player into the general supply."""
    view["cans"][seat] -= cans
    view["supply"] += cans


@inlined
def owe_cans(view: View, seat: int, cans: int) -> None:
    """Let a player be due cans (C13, C16), and hand them out as far as nobody has to choose."""
    view["payee"] = seat
    view["due"] = cans
    hand_out_cans(view)


@kernel
def hand_out_cans(view: View) -> None:
    """Hand out the cans that are due, until none is or the payee has to choose from whom to take one (C14)."""
    payee = integer(view["payee"])
    while view["due"] > 0:
        if view["supply"] > 0:
            view["supply"] -= 1
            receive_can(view)
        elif view["cans"][payee] >= most_cans_of_others(view, payee):
            view["due"] = 0
        else:
            richest = may_be_taken_from(view, payee)
            if richest & (richest - U1):
                return
            take_can(view, lowest_index(richest))
    view["payee"] = NOBODY


@inlined
def take_can(view: View, giver: int) -> None:
    """Let the payee take a can from another player (C14)."""
    view["cans"][giver] -= 1
    view["lost"][giver] += 1
    receive_can(view)


@inlined
def receive_can(view: View) -> None:
    """Give a can that is due to its payee: for a move back (C16), or for a supply space (C13)."""
    payee = integer(view["payee"])
    view["cans"][payee] += 1
    view["due"] -= 1
    if view["rules"]["obstacles"] & bit(integer(view["target"])):
        view["compensated"][payee] += 1
    else:
        view["supplied"][payee] += 1


# The ride and its dice.


@inlined
def choose_ride(view: View, move: np.uint64) -> None:
    """Pay for a ride and fix which it is (C6)."""
    view["spent"] = detail_of(move)
    view["is_pack"] = kind_of(move) == Kind.PACK
    view["origin"] = as_space(view, place_in(move)) if view["is_pack"] else 0
    pay_cans(view, integer(view["active"]), detail_of(move))
    view["phase"] = Phase.DIE


@inlined
def dice_of_ride(view: View) -> np.uint64:
    """Return the dice that a ride throws: the own one or those of the pack, the energy die for cans (C10, C11)."""
    dice = dice_of_pack(view, integer(view["origin"])) if view["is_pack"] else bit(integer(view["active"]))
    return dice | bit(ENERGY) if view["spent"] > 0 else dice


@inlined
def throw(stream: Stream, turn: int, die: int, faces: int) -> int:
    """Return which face of a die a turn throws, 0 to ``faces - 1``; the stream is not advanced.

    It depends on nothing else, so that the same turn throws the same dice whatever was chosen before: duplicate dice.
    """
    return below_at(stream, DICE * turn + die + 1, faces)


@inlined
def throw_dice(view: View, dice: Stream) -> None:
    """Throw the dice of the ride (C10, C11)."""
    thrown = dice_of_ride(view)
    while thrown:
        die = lowest_index(thrown)
        thrown = without_lowest(thrown)
        face = throw(dice, integer(view["turns"]), die, integer(view["rules"]["n_faces"][die]))
        view["dice"][die] = view["rules"]["faces"][die, face]


@inlined
def ride(view: View, die: int, origin: int) -> None:
    """Move by a die: the own courier first, then that of a foreign die (C10, C11)."""
    active = integer(view["active"])
    target = origin - value_of(view, die)
    if target <= FINISH:
        finish(view, active, origin)
        return
    view["origin"] = origin
    view["target"] = target
    move_courier(view, active, origin, target)
    view["arrived"][active] = 1
    if die < ENERGY and die != active:
        move_courier(view, die, origin, target)
        view["arrived"][die] += 1
    view["asked"] = 0
    if origin == car_park(view) or view["spent"] == BREAKAWAY:
        arrive(view)
    else:
        view["phase"] = Phase.SLIPSTREAM
        ask_next_follower(view)


@inlined
def move_courier(view: View, seat: int, origin: int, target: int) -> None:
    """Move a courier of a team from one space to another, or into the finish."""
    is_moved, spaces = False, U0
    for courier in range(integer(view["rules"]["couriers"])):
        if not is_moved and view["couriers"][seat, courier] == origin:
            view["couriers"][seat, courier] = target
            is_moved = True
        spaces |= bit(integer(view["couriers"][seat, courier]))
    view["spaces"][seat] = spaces & ~U1  # bit 0 would be the finish


# The slipstream.


@inlined
def seat_after(view: View, places: int) -> int:
    """Return the seat so many places after the active one, clockwise."""
    seat = integer(view["active"]) + places
    players = integer(view["players"])
    return seat - players if seat >= players else seat


@kernel
def ask_next_follower(view: View) -> None:
    """Ask the next owner who may follow in the slipstream (C12); if there is none, all have arrived."""
    start = bit(integer(view["origin"]))
    while view["asked"] < view["players"]:
        seat = seat_after(view, integer(view["asked"]))
        if view["cans"][seat] > 0 and view["spaces"][seat] & start:
            give_turn_to(view, seat)
            return
        view["asked"] += 1
    arrive(view)


@inlined
def follow(view: View, seat: int) -> None:
    """Let a courier follow for a can (C12)."""
    pay_cans(view, seat, 1)
    move_courier(view, seat, integer(view["origin"]), integer(view["target"]))
    view["arrived"][seat] += 1


# The space that was reached.


@inlined
def arrive(view: View) -> None:
    """Let the space do what it does to those that have arrived (C13, C15)."""
    here = bit(integer(view["target"]))
    view["asked"] = 0 if view["rules"]["obstacles"] & here else view["players"]
    if view["rules"]["supply_spaces"] & here:
        owe_cans(view, integer(view["active"]), 1)
    go_on(view)


@kernel
def go_on(view: View) -> None:
    """Let the next one decide who has something to decide; when nobody has, the turn ends."""
    settle_unasked(view)
    if view["due"] > 0:
        view["phase"] = Phase.TAKE
        give_turn_to(view, integer(view["payee"]))
    elif view["asked"] < view["players"]:
        view["phase"] = Phase.OBSTACLE
        give_turn_to(view, seat_after(view, integer(view["asked"])))
    else:
        end_turn(view)


@inlined
def settle_unasked(view: View) -> None:
    """Move back the couriers of owners without a can (C15), up to an owner who has something to decide."""
    while view["due"] == 0 and view["asked"] < view["players"]:
        seat = seat_after(view, integer(view["asked"]))
        if view["arrived"][seat] == 0:
            view["asked"] += 1
        elif view["cans"][seat] == 0:
            move_back(view, seat)
        else:
            return


@inlined
def settle_courier(view: View, pays: bool) -> None:
    """Let the seat to act pay for an arrived courier, or move it back (C15)."""
    seat = integer(view["turn"])
    if pays:
        pay_cans(view, seat, 1)
        view["arrived"][seat] -= 1
    else:
        move_back(view, seat)


@kernel
def move_back(view: View, seat: int) -> None:
    """Move an arrived courier to the next free obstacle towards the start, or to the car park, and pay (C15, C16)."""
    target = integer(view["target"])
    behind = space_behind(view, target)
    view["arrived"][seat] -= 1
    view["moved_back"][seat] += 1
    move_courier(view, seat, target, behind)
    if behind == car_park(view):
        view["sent_to_park"][seat] += 1
        owe_cans(view, seat, 2)
    else:
        owe_cans(view, seat, 1)


# The finish, and the end of turn and race.


@kernel
def finish(view: View, seat: int, origin: int) -> None:
    """Let a courier cross the finish line into the next place (C17); the race may be over (C18)."""
    move_courier(view, seat, origin, FINISH)
    view["finish"][view["n_finished"]] = seat
    view["n_finished"] += 1
    view["finished"][seat] += 1
    view["last_place"][seat] = view["n_finished"]
    if view["finished"][seat] == WINNING_COURIERS:
        view["end"] = End.THIRD_COURIER
    elif view["n_finished"] == FINISH_PLACES:
        view["end"] = End.EIGHTH_PLACE
    end_turn(view)


@inlined
def give_turn_to(view: View, seat: int) -> None:
    """Let a seat decide."""
    view["turn"] = seat
    view["seat"] = seat


@inlined
def end_turn(view: View) -> None:
    """Pass the turn on to the left (C20), or end the race."""
    view["turns"] += 1
    if view["end"] == End.NONE and view["turns"] >= view["rules"]["turn_limit"]:
        view["end"] = End.TURN_LIMIT
    for die in range(DICE):
        view["dice"][die] = 0
    for seat in range(integer(view["players"])):
        view["arrived"][seat] = 0
    view["is_pack"] = 0
    view["spent"] = 0
    view["origin"] = 0
    view["target"] = 0
    view["asked"] = 0
    if view["end"] != End.NONE:
        view["phase"] = Phase.GAME_OVER
        view["active"] = NOBODY
        give_turn_to(view, NOBODY)
    else:
        view["phase"] = Phase.RIDE
        view["active"] = seat_after(view, 1)
        give_turn_to(view, integer(view["active"]))


@kernel
def is_ahead(view: View, a: int, b: int) -> bool:
    """Whether seat ``a`` ranks before seat ``b`` (C18), also among those who cannot win.

    The rules name the winner only. Beyond that: who has no courier in the finish ranks by the spaces left to it, and
    last by the turns had, of which the later seat has no more.
    """
    if (view["finished"][a] == WINNING_COURIERS) != (view["finished"][b] == WINNING_COURIERS):
        return bool(view["finished"][a] == WINNING_COURIERS)
    if view["finished"][a] != view["finished"][b]:
        return bool(view["finished"][a] > view["finished"][b])
    if view["last_place"][a] != view["last_place"][b]:
        return bool(view["last_place"][a] > view["last_place"][b])
    left_a, left_b = spaces_left(view, a), spaces_left(view, b)
    if left_a != left_b:
        return left_a < left_b
    return turns_waited(view, a) > turns_waited(view, b)


@kernel
def spaces_left(view: View, seat: int) -> int:
    """Return how many spaces the couriers of a team have still to go, in all."""
    left = 0
    for courier in range(integer(view["rules"]["couriers"])):
        left += integer(view["couriers"][seat, courier])
    return left


@inlined
def turns_waited(view: View, seat: int) -> int:
    """Return how many seats come before a seat in the first round."""
    waited = seat - integer(view["starter"])
    return waited + integer(view["players"]) if waited < 0 else waited


@kernel
def place_of(view: View, seat: int) -> int:
    """Return the place of a seat, 1 = first; unique (C18)."""
    place = 1
    for other in range(integer(view["players"])):
        if other != seat and is_ahead(view, other, seat):
            place += 1
    return place


# From Python.


def apply(
    state: State, move: int | np.uint64, dice: Stream | None = None, thrown: Mapping[str, int] | None = None
) -> None:
    """Make a move if it is legal.

    Parameters
    ----------
    state : numpy.void
        The state to change.
    move : int
        The move of the seat to act.
    dice : numpy.void, optional
        Stream that the dice of a ride are thrown from; it is not advanced.
    thrown : mapping of str to int, optional
        What the dice of a ride show, by team or ``energy``, instead of throwing them.

    Raises
    ------
    IllegalMoveError
        If the rules refuse the move; the state is then unchanged.
    UsageError
        If a ride has neither a stream nor possible dice; the state is then unchanged.
    """
    if not is_integer_in(move, 0, 2**64 - 1):
        raise IllegalMoveError(f"{move!r} is no move: moves are words, see parse_move")
    word = np.uint64(move)
    why = Refusal(int(refusal(state["view"], word)))
    if why is not Refusal.NONE:
        rule, reason = REASONS[why]
        if why is Refusal.WRONG_PHASE:
            phase = Phase(int(state["view"]["phase"]))
            rule, reason = PHASE_RULES[phase], f"{reason}; the phase is {phase.name.lower()}"
        raise IllegalMoveError(f"{describe(word)}: {reason}", rule)
    if kind_of(word) > Kind.PACK:
        step(state, word, new_stream(0))
    elif thrown is not None:
        view = clone(state["view"])
        choose_ride(view, word)
        _lay_out_dice(view, thrown)
        state["view"] = view
    elif dice is None:
        raise UsageError("a ride throws dice: give their stream, or what they show")
    else:
        step(state, word, dice)


def describe(move: np.uint64) -> str:
    """Return the text of a move, or its bits if it is none."""
    try:
        return repr(move_text(move))
    except ValueError:
        return f"the word {int(move):#018x}"


def _lay_out_dice(view: View, thrown: Mapping[str, int]) -> None:
    """Let the dice of a ride show given numbers."""
    names = [DIE_NAMES[die] for die in range(DICE) if dice_of_ride(view) & bit(die)]
    if set(thrown) != set(names):
        raise UsageError(f"dice {', '.join(thrown) or 'none'}: this ride throws {', '.join(names)}")
    for name, number in thrown.items():
        die = DIE_NAMES.index(name)
        faces = view["rules"]["faces"][die, : view["rules"]["n_faces"][die]].tolist()
        if number not in faces:
            raise UsageError(f"{name} die {number!r}: its faces are {', '.join(map(str, faces))}")
        view["dice"][die] = number
