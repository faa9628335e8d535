"""What one card is worth beside another, from the same deals played with the two in each other's place."""

from typing import TYPE_CHECKING

import numpy as np

from velonimo_sim.analysis.breakdown import moments_by
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
    hands of the same deals, but for that card.

    Parameters
    ----------
    source : LoadedRuns, sequence or mapping of folders, or pandas.DataFrame
        Two runs from the same seed, as dealt and then with the two cards exchanged; or the rows of both, where ``run``
        tells them apart in ascending order, with a column for each of the two cards that says who holds it.
    card, instead : str
        The two cards, such as ``B2`` and ``B3``.
    outcome : str
        A column of numbers, such as ``beaten`` of a col, or ``won`` of its game.
    level : float
        The coverage asked for.

    Returns
    -------
    pandas.DataFrame
        One row: ``card``, ``instead``; ``mean``, ``low``, ``high`` of the difference; ``rows``, ``games``, ``deals`` in
        which the card was held. ``attrs`` says the ``outcome``, and how many ``games`` and ``deals`` there are in all.

    Raises
    ------
    UsageError
        If there are not two runs, no hand has just one of the cards in both, or a column is missing.
    """
    import pandas as pd

    moments = moments_by(source, ["run", card, instead], outcome)
    keys = moments.keys
    runs = keys["run"].unique()
    if len(runs) != 2:
        raise UsageError(f"exchange of {card} and {instead}: {len(runs)} runs, needed are 2: as dealt, and exchanged")
    as_dealt = (keys["run"] == runs[0]) & (keys[card] == 1) & (keys[instead] == 0)
    exchanged = (keys["run"] == runs[1]) & (keys[card] == 0) & (keys[instead] == 1)
    if not (as_dealt.any() and exchanged.any()):
        raise UsageError(f"exchange of {card} and {instead}: no hand holds just one of them in both runs")
    mean, low, high = moments.contrast(as_dealt.to_numpy(np.float64) - exchanged.to_numpy(np.float64), level)
    told = {"card": card, "instead": instead, "mean": mean, "low": low, "high": high}
    table = pd.DataFrame([told | moments.counts(int(np.argmax(as_dealt)))])
    table.attrs = dict(moments.attrs)
    return table
