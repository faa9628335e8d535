"""What a run records of VeloCity: the columns of its two kinds of rows."""

import numpy as np

from velonimo_sim.velocity.rules import WINNING_COURIERS, RuleSet

GAME_ROW = np.dtype(
    [
        ("game_id", "i8"),  # index of the game in its run
        ("deal_id", "i8"),  # index of the deal: games that share it were thrown the same dice
        ("seating_id", "i2"),  # index of the seating: which bot sat where
        ("seat", "i1"),  # 0 = has the first turn
        ("bot", "i1"),  # index into the run's bots
        ("total", "i4"),  # couriers in the finish
        ("place", "i1"),  # 1 = winner; who forfeits comes after all who do not, the first to do so last
        ("won", "?"),
        ("fault", "i1"),  # what the bot did wrong first, a Fault; 0 = nothing
        ("faults", "i4"),  # how often it did wrong
        ("turns", "i4"),  # turns that were its own
        ("first_at", "i1"),  # finish place of its first courier there, 1-8; 0 = none
        ("second_at", "i1"),  # that of the second
        ("third_at", "i1"),  # that of the third
        ("spaces_left", "i2"),  # spaces that its couriers had still to go, in all
        ("solo", "i4"),  # solo rides for which nothing was spent
        ("refuel", "i4"),  # solo rides with Refuel
        ("breakaway", "i4"),  # solo rides with Breakaway
        ("pack", "i4"),  # pack rides for which nothing was spent
        ("pack_refuel", "i4"),  # pack rides with Refuel
        ("carried", "i4"),  # times that another player's pack ride moved one of its couriers along
        ("moved_back", "i4"),  # moves back from obstacles
        ("sent_to_park", "i4"),  # those of them to the car park
        ("cans_at_start", "i1"),  # cans before the first turn; the rule option ``start_cans`` says it of all seats
        ("supplied", "i4"),  # cans earned on supply spaces
        ("compensated", "i4"),  # cans earned by moves back
        ("lost", "i4"),  # cans that other players took
        ("on_refuel", "i4"),  # cans spent on Refuel
        ("on_breakaway", "i4"),  # cans spent on Breakaways
        ("on_slipstream", "i4"),  # cans spent to follow
        ("on_obstacles", "i4"),  # cans spent to stay on obstacles
        ("cans_left", "i1"),  # cans at the end
    ],
    align=True,
)
"""One row per game and seat."""

RACE_ROW = np.dtype(
    [
        ("game_id", "i8"),
        ("deal_id", "i8"),
        ("bot", "i1"),  # the bot that won, an index into the run's bots
        ("winner", "i1"),  # its seat
        ("turns", "i4"),
        ("decisions", "i4"),  # moves made
        ("in_finish", "i1"),  # couriers in the finish, 0-8
        ("end", "i1"),  # why the race ended, an End: 1 = a third courier, 2 = the eighth place, 3 = the turn limit
    ],
    align=True,
)
"""One row per game."""


def most_race_rows(rules: RuleSet, players: int) -> int:
    """Return the most rows of races that one game has: one."""
    return 1


def most_points(rules: RuleSet, players: int) -> int:
    """Return the most couriers that a player can have in the finish (C18)."""
    return WINNING_COURIERS
