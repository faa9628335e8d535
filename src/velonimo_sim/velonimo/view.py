"""What the player to act may see (V22, V28): the one thing that a bot is given.

A view holds the public facts of the game, the player's own hand and what he knows for certain of other hands. It has
no way to a hidden card.
"""

from enum import IntEnum
from typing import TypeAlias

import numpy as np

from velonimo_sim.velonimo.rules import MAX_PLAYERS, RULES

NOBODY = 255
"""Stands for "no seat" in fields that hold a seat."""

MAX_LOGGED = 120
"""How many moves of a col the log holds; should a col be longer, it ends there."""


class Phase(IntEnum):
    """What the seat to act has to decide; in the last two phases nobody acts."""

    LEAD = 0  # play: an attack begins (V10)
    FOLLOW = 1  # play something higher, or pass (V10)
    SWAP = 2  # name the opponent to take cards from (V20)
    GIVE = 3  # choose the cards to give back (V20)
    NEXT_LEADER = 4  # being out, name who leads the next attack (V13)
    REWARD = 5  # duel: keep the reward or force it on the opponent (V26)
    COL_OVER = 6  # the next col has not been dealt
    GAME_OVER = 7


VIEW = np.dtype(
    [
        # Words of cards, see cards.py.
        ("hand", "u8"),  # own cards
        ("known", "u8", (MAX_PLAYERS,)),  # by seat: cards that are certainly in that hand (V22); own seat: none
        ("played", "u8"),  # cards played in this col
        ("reward", "u8"),  # duel: the face-up card beside the pile, 0 = none (V23)
        ("rules", RULES),  # the options in force
        ("totals", "i4", (MAX_PLAYERS,)),  # by seat: points of the finished cols
        ("points", "i4", (MAX_PLAYERS,)),  # by seat: points in this col, 0 until the seat is out
        ("passed_on", "i4", (MAX_PLAYERS,)),  # by seat: highest value passed on in this attack, 0 = has not passed
        ("beat", "i4"),  # value of the standing play, 0 = an attack begins
        ("sizes", "u1", (MAX_PLAYERS,)),  # by seat: cards in hand; 0 = out (or no such seat)
        ("out_order", "u1", (MAX_PLAYERS,)),  # by seat: 1 = first to go out of this col; 0 = racing
        ("players", "u1"),  # 2-5
        ("seat", "u1"),  # whose view this is
        ("turn", "u1"),  # seat to act, or NOBODY
        ("phase", "u1"),  # see Phase
        ("col", "u1"),  # 1 = first, 0 = nothing dealt yet
        ("starter", "u1"),  # seat that led the first attack of this col; between cols: that will lead the next
        ("author", "u1"),  # seat of the standing play, or NOBODY
        ("racing", "u1"),  # number of players still racing
        ("wearer", "u1"),  # seat that wears the Jersey, or NOBODY (V18)
        ("jersey_spent", "u1"),  # 1 = the Jersey has been added to a play of this col (V9)
        ("swap_count", "u1"),  # SWAP: Tortoises just played; GIVE: cards to give back; else 0
        ("swap_victim", "u1"),  # GIVE: the opponent of the swap; else NOBODY
        ("pile_size", "u1"),  # duel: cards left to draw, the reward not counted
        ("logged", "u1"),  # moves in the log
        # What everybody saw in this col (V28): moves of moves.py with who made them, see log_move; 0 beyond.
        ("log", "u8", (MAX_LOGGED,)),
    ],
    align=True,
)
"""dtype of a view; the comment beside a field gives its unit, range and sentinel. Arrays by seat have 5 places."""

View: TypeAlias = np.void
"""A record of dtype ``VIEW``."""
