"""What a run records of Velonimo: the columns of its two kinds of rows."""

import numpy as np

from velonimo_sim.velonimo.rules import RuleSet

GAME_ROW = np.dtype(
    [
        ("game_id", "i8"),  # index of the game in its run
        ("deal_id", "i8"),  # index of the deal: games that share it were dealt the same cards
        ("seating_id", "i2"),  # index of the seating: which bot sat where
        ("seat", "i1"),  # 0 = starts col 1
        ("bot", "i1"),  # index into the run's bots
        ("total", "i4"),  # points of the game
        ("place", "i1"),  # 1 = winner; who forfeits comes after all who do not, the first to do so last
        ("won", "?"),
        ("fault", "i1"),  # what the bot did wrong first, a Fault; 0 = nothing
        ("faults", "i4"),  # how often it did wrong
    ],
    align=True,
)
"""One row per game and seat."""

COL_ROW = np.dtype(
    [
        ("game_id", "i8"),
        ("col", "i1"),  # 1 = first
        ("seat", "i1"),
        ("bot", "i1"),  # index into the run's bots
        ("hand", "u8"),  # cards dealt, as a word of cards.py
        ("tortoises", "i1"),  # Tortoises dealt
        ("hares", "i1"),  # hares dealt
        ("started", "?"),  # led the first attack of the col
        ("wears_jersey", "?"),  # wore the Jersey in this col
        ("jersey_spent_on", "i4"),  # value of the play that the Jersey was added to, the bonus included; 0 = none
        ("swaps_made", "i2"),  # swaps as author
        ("swaps_suffered", "i2"),  # swaps as victim
        ("out_order", "i1"),  # 1 = first to go out; the last one is numbered too
        ("points", "i4"),  # points of this col
        ("turns", "i2"),  # play-or-pass choices made
        ("passes", "i2"),  # passes among them
    ],
    align=True,
)
"""One row per game, col and seat."""


def most_col_rows(rules: RuleSet, players: int) -> int:
    """Return the most col rows that one game can have."""
    return len(rules.col_values) * players


def most_points(rules: RuleSet, players: int) -> int:
    """Return the most points of one game: all opponents passed in every col (V14)."""
    return sum(rules.col_values) * (players - 1)
