"""Columns that are not in the files, but follow from those that are."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.analysis.hands import HAND_FEATURES, hand_feature
from velonimo_sim.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

_STORED = ("tortoises", "hares")
"""Features of hands that the files have."""


@dataclass(frozen=True)
class Derived:
    """A column that follows from others: what it means, which it needs, and how it is computed from their frame."""

    meaning: str
    needs: tuple[str, ...]
    values: Callable[["pd.DataFrame"], Any]


def _leads_after(cols: "pd.DataFrame") -> NDArray[np.bool_]:
    """Return who wears the Jersey in the next col, or has won when there is none."""
    keys = [cols[name].to_numpy() for name in ("col", "seat", "game_id")]
    order = np.lexsort([*keys, cols["run"].astype("category").cat.codes.to_numpy()])
    col, seat, game = (key[order] for key in keys)
    has_next = np.zeros(len(cols), bool)
    has_next[:-1] = (game[1:] == game[:-1]) & (seat[1:] == seat[:-1]) & (col[1:] > col[:-1])
    games = cols.groupby(["run", "game_id"], observed=True)[["col", "seat"]]
    if (games.size() != games.max()["col"] * (games.max()["seat"] + 1)).any():
        raise UsageError("column 'leads_after': follows from the next col, and the rows lack cols or seats of a game")
    wears, won = (cols[name].to_numpy()[order] for name in ("wears_jersey", "won"))
    leads = np.empty(len(cols), bool)
    leads[order] = np.where(has_next, np.roll(wears, -1), won)
    return leads


def _feature(name: str, cols: "pd.DataFrame") -> NDArray[Any]:
    """Return a feature of each hand."""
    return hand_feature(name, cols["hand"].to_numpy())


DERIVED = {
    name: Derived(meaning, ("hand",), partial(_feature, name))
    for name, meaning in HAND_FEATURES.items()
    if name not in _STORED
} | {
    "beaten": Derived(
        "opponents still racing when the seat went out: the points of the col over its value (V14)",
        ("points", "col_value"),
        lambda cols: cols["points"] // cols["col_value"],
    ),
    "jersey_spent": Derived(
        "whether the Jersey was added to a play (V9)",
        ("jersey_spent_on",),
        lambda cols: cols["jersey_spent_on"] > 0,
    ),
    "leads_after": Derived(
        "has the Jersey after this col (V18), after the last one the game",
        ("run", "game_id", "col", "seat", "wears_jersey", "won"),
        _leads_after,
    ),
}
"""Every derived column by its name, the features of the hand dealt among them."""


def needed_for(names: Iterable[str]) -> list[str]:
    """Return the columns that are needed to have those named, themselves if they are not derived."""
    needed = (DERIVED[name].needs if name in DERIVED else (name,) for name in names)
    return list(dict.fromkeys(chain.from_iterable(needed)))


def derive(frame: "pd.DataFrame", names: Iterable[str]) -> "pd.DataFrame":
    """Return a frame with the derived columns among those named, unless it has them."""
    missing = [name for name in names if name in DERIVED and name not in frame.columns]
    return frame.assign(**{name: DERIVED[name].values(frame) for name in missing})
