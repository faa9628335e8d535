"""What one card is worth beside another, from the same deals played with the two in each other's place."""

from typing import TYPE_CHECKING

import numpy as np

from velonimo_sim.analysis.breakdown import MomentsBy, moments_by
from velonimo_sim.analysis.runs import Source
from velonimo_sim.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd


def exchange_worth(
    source: Source, card: str, instead: str, outcome: str = "beaten", level: float = 0.95
) -> "pd.DataFrame":
    """Return by how much an outcome is higher for a hand that is dealt one card than if the other lay in its place.

    A seat that was dealt the one and not the other has, with the two exchanged, the other and not the one, and all else
    is dealt as before: the rule option ``exchanged_cards``. So the difference of the two means is one between the same
    hands of the same deals, but for that card. Deals that not all runs have played are left out.

    Parameters
    ----------
    source : LoadedRuns, sequence or mapping of folders, or pandas.DataFrame
        Runs from the same seed, as dealt and with the two cards exchanged, of one or more numbers of players; or their
        col rows with ``players``, ``exchanged_cards`` (``none`` or ``B2,B3``), and a column for each of the two cards
        that says who holds it.
    card, instead : str
        The two cards, such as ``B2`` and ``B3``.
    outcome : str
        A column of numbers, such as ``beaten`` of a col, or ``won`` of its game.
    level : float
        The coverage asked for.

    Returns
    -------
    pandas.DataFrame
        One row a number of players: ``players``, ``card``, ``instead``; ``mean``, ``low``, ``high`` of the difference;
        ``rows``, ``games``, ``deals`` in which the card was held. ``attrs`` says the ``outcome``, and how many
        ``games`` and ``deals`` there are in all.

    Raises
    ------
    UsageError
        If a run as dealt or with the two cards exchanged is not there, no hand has just one of them in both, or a
        column is missing.
    """
    import pandas as pd

    moments = moments_by(source, ["players", "exchanged_cards", card, instead], outcome, shared=True)
    tables = [_exchanged_with(moments, players, card, instead, level) for players in moments.keys["players"].unique()]
    table = pd.concat(tables, ignore_index=True)
    table.attrs = dict(moments.attrs)
    return table


def _exchanged_with(moments: MomentsBy, players: int, card: str, instead: str, level: float) -> "pd.DataFrame":
    """Return what a card is worth instead of another with so many players."""
    keys = moments.keys[moments.keys["players"] == players]
    is_dealt = keys["exchanged_cards"] == "none"
    is_exchanged = keys["exchanged_cards"].isin([f"{card},{instead}", f"{instead},{card}"])
    if not (is_dealt.any() and is_exchanged.any()):
        told = ", ".join(sorted(keys["exchanged_cards"].astype(str).unique()))
        raise UsageError(
            f"exchange of {card} and {instead} with {players} players: needed are runs with exchanged_cards none and "
            f"{card},{instead}; there are {told}"
        )
    holders = keys.index[is_dealt & (keys[card] == 1) & (keys[instead] == 0)]
    others = keys.index[is_exchanged & (keys[card] == 0) & (keys[instead] == 1)]
    if len(holders) == 0 or len(others) == 0:
        raise UsageError(f"exchange of {card} and {instead}: no hand holds just one of them in both runs")
    weights = np.zeros(len(moments.keys))
    weights[holders[0]], weights[others[0]] = 1, -1
    table = moments.table_of([holders[0]], [weights], level).drop(columns=["exchanged_cards", card, instead])
    table.insert(1, "card", card)
    table.insert(2, "instead", instead)
    return table
