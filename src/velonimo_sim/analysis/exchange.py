"""What a card is worth instead of another, on the same deals: as dealt, and with the two in each other's place."""

from typing import TYPE_CHECKING

import numpy as np

from velonimo_sim.analysis.breakdown import MomentsBy, moments_of
from velonimo_sim.analysis.runs import Source, batches
from velonimo_sim.errors import UsageError
from velonimo_sim.velonimo.cards import parse_card

if TYPE_CHECKING:
    import pandas as pd

EXCHANGE_WAYS = ("as dealt", "exchanged")
"""The two ways, as ``exchange_worth`` calls them."""
_KEY = ("players", "cards", "is_exchanged", "has_first")


def exchange_worth(source: Source, outcome: str = "beaten", level: float = 0.95) -> "pd.DataFrame":
    """Return by how much hands do better with a card than with another one in its place, the rest as dealt at random.

    Compared are the hands that hold one of the two cards.

    - *As dealt*: those that hold the first and those that hold the second, in the run without ``exchanged_cards``. They
      are different hands.
    - *Exchanged*: both runs together. Who holds the first card in one of them holds the second in the other, with the
      same other cards at the same seat of the same deal.

    Both estimate the same; what differs is how much chance is left. Intervals rest on the deals.

    Parameters
    ----------
    source : LoadedRuns, Path, str, sequence or mapping of them, or pandas.DataFrame
        Runs from the same seed, as dealt and with ``exchanged_cards``; or their col rows with ``players``,
        ``exchanged_cards`` (``none`` or ``H50,R7``), ``run``, ``group``, ``game_id``, ``hand`` and the outcome. Deals
        that were not played both ways are left out.
    outcome : str
        ``beaten`` or ``points`` of a col, or ``won``, ``place`` or ``total`` of its game.
    level : float
        The coverage asked for.

    Returns
    -------
    pandas.DataFrame
        ``players``; ``first``, ``second``, the cards; ``way`` (``EXCHANGE_WAYS``); ``mean``, ``low``, ``high``, in
        units of the outcome; ``rows``, ``games``, ``deals`` of those compared that hold the first card. ``attrs``:
        ``outcome``, and how many ``games`` and ``deals`` there are in all.

    Raises
    ------
    UsageError
        If a column is missing, no run is as dealt or none with ``exchanged_cards``, or no hand holds one of two cards
        alone.
    """
    import pandas as pd

    columns = ["players", "exchanged_cards", "hand", "run", "game_id", outcome]
    moments = moments_of((_holders(batch) for batch in batches(source, columns)), _KEY, outcome)
    if moments is None:
        raise UsageError("worth of an exchange: needed are deals played as dealt and with exchanged_cards")
    pairs = moments.keys[["players", "cards"]].drop_duplicates().itertuples(index=False, name=None)
    table = pd.concat([_both_ways(moments, players, cards, level) for players, cards in pairs], ignore_index=True)
    table.attrs = dict(moments.attrs)
    return table


def _both_ways(moments: MomentsBy, players: int, cards: str, level: float) -> "pd.DataFrame":
    """Return the worth of the first of two cards instead of the second, by way."""
    compared = moments.keys[(moments.keys["players"] == players) & (moments.keys["cards"] == cards)]
    places = {key[2:]: place for place, key in zip(compared.index, compared.itertuples(index=False), strict=True)}
    if len(places) < 4:
        raise UsageError(f"exchanged_cards {cards} with {players} players: the hands are too few to compare any")
    weights = np.zeros((2, len(moments.keys)))
    for (is_exchanged, has_first), place in places.items():
        sign = 1 if has_first else -1
        weights[:, place] = (0 if is_exchanged else sign), sign / 2
    table = moments.table_of([places[False, True]] * 2, weights, level)
    first, second = cards.split(",")
    table = table.assign(first=first, second=second, way=EXCHANGE_WAYS)
    return table[["players", "first", "second", "way", "mean", "low", "high", "rows", "games", "deals"]]


def _holders(batch: "pd.DataFrame") -> "pd.DataFrame":
    """Return the rows that hold one of two cards alone, once for each exchange that their deal was played with."""
    import pandas as pd

    exchanged, hands = batch["exchanged_cards"], batch["hand"].to_numpy(np.uint64)
    rows, parts = batch.drop(columns=["exchanged_cards", "hand"]), []
    for cards in sorted({*exchanged} - {"none"}):
        has_first, has_second = ((hands & parse_card(card)) > 0 for card in cards.split(","))
        is_exchanged = (exchanged == cards).to_numpy()
        is_dealt, deals = (exchanged == "none").to_numpy(), rows["group"]
        both_ways = (deals.isin(deals[is_exchanged]) & deals.isin(deals[is_dealt])).to_numpy()
        used = (has_first != has_second) & both_ways & (is_exchanged | is_dealt)
        key = {"cards": cards, "is_exchanged": is_exchanged[used], "has_first": has_first[used]}
        parts.append(rows[used].assign(**key))
    return pd.concat(parts, ignore_index=True) if parts else rows[:0]
