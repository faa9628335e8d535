"""What the player to act may see: in VeloCity everything, so that a view is the whole state."""

from enum import IntEnum
from typing import TypeAlias

import numpy as np

from velonimo_sim.velocity.dice import DICE
from velonimo_sim.velocity.rules import MAX_COURIERS, MAX_PLAYERS, RULES
from velonimo_sim.velocity.track import FINISH_PLACES

NOBODY = 255
"""Stands for "no seat" in fields that hold a seat."""


class Phase(IntEnum):
    """What the seat to act has to decide; in the last phase nobody acts."""

    RIDE = 0  # solo or pack, and what to spend (C6)
    DIE = 1  # which die, and which courier moves by it (C10, C11)
    SLIPSTREAM = 2  # whether a courier follows for a can (C12)
    OBSTACLE = 3  # whether to pay a can for an arrived courier, or to move it back (C15)
    TAKE = 4  # from whom to take a can, where several have the most (C14)
    GAME_OVER = 5


class End(IntEnum):
    """Why the race is over (C18)."""

    NONE = 0
    THIRD_COURIER = 1
    EIGHTH_PLACE = 2
    TURN_LIMIT = 3

    @property
    def words(self) -> str:
        """The reason in words."""
        return self.name.lower().replace("_", " ")


VIEW = np.dtype(
    [
        ("rules", RULES),  # the options in force
        (
            "spaces",
            "u8",
            (MAX_PLAYERS,),
        ),  # by seat: bit s = a courier of it stands on space s (C4), the car park included
        ("turns", "i4"),  # turns that are complete; it numbers the turn that is being played
        # What has happened so far, by seat.
        ("supplied", "i4", (MAX_PLAYERS,)),  # cans got for supply spaces (C13)
        ("compensated", "i4", (MAX_PLAYERS,)),  # cans got for moves back (C16)
        ("lost", "i4", (MAX_PLAYERS,)),  # cans taken by other players (C14)
        ("moved_back", "i4", (MAX_PLAYERS,)),  # moves back from obstacles (C15)
        ("sent_to_park", "i4", (MAX_PLAYERS,)),  # those of them to the car park
        ("couriers", "u1", (MAX_PLAYERS, MAX_COURIERS)),  # [seat, courier]: its space; 0 = in the finish, or not there
        ("cans", "u1", (MAX_PLAYERS,)),  # by seat: cans
        ("finished", "u1", (MAX_PLAYERS,)),  # by seat: couriers in the finish
        ("last_place", "u1", (MAX_PLAYERS,)),  # by seat: finish place of its last courier there, 1-8; 0 = none
        ("finish", "u1", (FINISH_PLACES,)),  # by finish place: seat of the courier in it, or NOBODY
        ("dice", "u1", (DICE,)),  # by die: the number thrown in this turn, 0 = not thrown
        ("arrived", "u1", (MAX_PLAYERS,)),  # by seat: couriers that came to ``target`` in this turn and are not settled
        ("players", "u1"),  # 3-7
        ("seat", "u1"),  # whose view this is: the seat to act, or NOBODY
        ("turn", "u1"),  # seat to act, or NOBODY
        ("phase", "u1"),  # see Phase
        ("starter", "u1"),  # seat that has the first turn (C20)
        ("active", "u1"),  # seat whose turn it is, or NOBODY
        ("supply", "u1"),  # cans in the general supply
        ("is_pack", "u1"),  # 1 = a pack ride
        ("spent", "u1"),  # cans spent on the ride: 1 = Refuel, 2 = Breakaway (C6)
        ("origin", "u1"),  # space that the ride starts from; 0 = not chosen
        ("target", "u1"),  # space that the ride led to; 0 = not known, or the finish
        ("asked", "u1"),  # SLIPSTREAM, OBSTACLE: how many seats after the active one the seat is that decides
        ("due", "u1"),  # cans that ``payee`` has still to get
        ("payee", "u1"),  # seat that is due cans (C13, C16), or NOBODY
        ("n_finished", "u1"),  # couriers in the finish
        ("end", "u1"),  # why the race is over, see End
    ],
    align=True,
)
"""dtype of a view; the comment beside a field gives its unit, range and sentinel. Arrays by seat have 7 places."""

View: TypeAlias = np.void
"""A record of dtype ``VIEW``."""
