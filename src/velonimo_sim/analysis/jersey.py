"""What the Jersey is worth: the same deals with a bonus that adds more and more (V9, V18).

All functions take runs from the same seed that differ in the rule ``jersey_bonus``, one of them with 0, and have the
same bot in all seats. Nobody wears the Jersey in col 1, which is the same game under every bonus; so in col 2 the same
seat wears it with the same cards, and only the bonus differs. Later the bonus has also changed who wears it. With one
bot in all seats and cards dealt anew that changes little of what is compared, but only col 2 is free of it.

The leader wears the Jersey, the lowest total leads the first attack (V5): the one helps to keep the lead, the other to
catch up.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from velonimo_sim.analysis.breakdown import differences_by, moments_of, outcomes_by
from velonimo_sim.analysis.runs import Source, batches
from velonimo_sim.errors import UsageError, unknown_name

if TYPE_CHECKING:
    import pandas as pd

ROLES = ("wears the Jersey", "starts", "neither")
"""What a seat may be in a col after the first; nobody has both the highest and the lowest total (V16)."""
_BONUS = "jersey_bonus"


def wearer_gains(source: Source, outcome: str = "beaten", level: float = 0.95) -> "pd.DataFrame":
    """Return by how much the wearer does better with a bonus than with none, by players, col and bonus.

    Parameters
    ----------
    source : LoadedRuns, Path, str, sequence or mapping of them, or pandas.DataFrame
        Runs under several bonuses, or their col rows with ``players``, ``jersey_bonus`` and ``wears_jersey``.
    outcome : str
        ``beaten`` or ``points`` of the col, or ``won`` for the game.
    level : float
        The coverage asked for.

    Returns
    -------
    pandas.DataFrame
        As ``differences_by``: ``players``, ``col``, ``jersey_bonus``, ``mean``, ``low``, ``high`` and numbers.

    Raises
    ------
    UsageError
        If a column is missing, or there is no run with the bonus 0.
    """
    return differences_by(source, _BONUS, ["players", "col"], outcome, 0, {"wears_jersey": True}, level)


def leader_gains(source: Source, level: float = 0.95) -> "pd.DataFrame":
    """Return by how much who leads after a col wins the game more often with a bonus than with none.

    Parameters
    ----------
    source, level
        As for ``wearer_gains``; rows need ``leads_after`` and ``won``.

    Returns
    -------
    pandas.DataFrame
        As ``differences_by``: ``players``, ``col``, ``jersey_bonus``, ``mean``, ``low``, ``high`` and numbers. After
        col 1 the same seat leads whatever the bonus; after the last col the leader has won.

    Raises
    ------
    UsageError
        As ``wearer_gains``.
    """
    return differences_by(source, _BONUS, ["players", "col"], "won", 0, {"leads_after": True}, level)


def lead_kept(source: Source, level: float = 0.95) -> "pd.DataFrame":
    """Return how often the wearer leads still after the col, in the last one wins the game, by players, col and bonus.

    Parameters
    ----------
    source, level
        As for ``wearer_gains``; rows need ``leads_after``.

    Returns
    -------
    pandas.DataFrame
        As ``outcomes_by``: ``players``, ``col``, ``jersey_bonus``, ``mean`` (a share), ``low``, ``high`` and numbers.

    Raises
    ------
    UsageError
        If a column is missing.
    """
    return outcomes_by(source, ["players", "col", _BONUS], "leads_after", {"wears_jersey": True}, level)


def outcomes_by_role(source: Source, outcome: str = "beaten", level: float = 0.95) -> "pd.DataFrame":
    """Return what the wearer, the starter and the others reach after col 1, by players and bonus.

    Parameters
    ----------
    source, outcome, level
        As for ``wearer_gains``; rows need ``col`` and ``started``, too.

    Returns
    -------
    pandas.DataFrame
        As ``outcomes_by``: ``players``, ``jersey_bonus``, ``role`` (one of ``ROLES``), ``mean``, ``low``, ``high`` and
        numbers.

    Raises
    ------
    UsageError
        If a column is missing, or no col after the first was played.
    """
    import pandas as pd

    columns = ["players", _BONUS, "col", "wears_jersey", "started", "run", "game_id", outcome]

    def with_roles() -> Iterator["pd.DataFrame"]:
        for batch in batches(source, columns):
            later = batch[batch["col"] > 1]
            yield later.assign(role=np.select([later["wears_jersey"], later["started"]], [0, 1], 2))

    moments = moments_of(with_roles(), ["players", _BONUS, "role"], outcome)
    if moments is None:
        raise UsageError("roles: no col after the first was played")
    table = moments.table(level)
    return table.assign(role=pd.Categorical.from_codes(table["role"], ROLES))


def jersey_uses(source: Source, of: str = "cards", level: float = 0.95) -> "pd.DataFrame":
    """Return how often the wearer adds the Jersey to plays of each kind, or keeps it to the end of the col.

    Parameters
    ----------
    source, level
        As for ``wearer_gains``; rows need ``jersey_spent_on``.
    of : {"cards", "value"}
        The number of cards of the play, or its value without the bonus (V6, V7).

    Returns
    -------
    pandas.DataFrame
        ``players``, ``jersey_bonus``, ``cards`` or ``value`` (0 = not spent); ``share`` of the cols of the wearer,
        ``low``, ``high``, ``rows``, ``games``, ``deals``.

    Raises
    ------
    UsageError
        If a column is missing, the bonus is not a number in all runs, nobody wears the Jersey, or ``of`` is unknown.
    """
    if of not in ("cards", "value"):
        raise unknown_name("kind of play", of, ("cards", "value"))

    def plays() -> Iterator["pd.DataFrame"]:
        for batch in batches(source, ["players", _BONUS, "wears_jersey", "jersey_spent_on", "run", "game_id"]):
            if batch[_BONUS].dtype.kind not in "iu":
                raise UsageError("jersey_bonus: has to be a number in all runs, as with rule jersey_bonus=10")
            worn = batch[batch["wears_jersey"]]
            value = (worn["jersey_spent_on"] - worn[_BONUS]).where(worn["jersey_spent_on"] > 0, 0)
            yield worn.assign(value=value, cards=(value // 10).where(value >= 10, (value > 0).astype(int)))

    moments = moments_of(plays(), ["players", _BONUS, of], "jersey_spent_on")
    if moments is None:
        raise UsageError("nobody wears the Jersey: no col after the first was played")
    return moments.shares(["players", _BONUS], level)
