"""Columns that are not in the files, but follow from those that are."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.analysis.hands import HAND_FEATURES, hand_feature

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
    """Return who wears the Jersey in the next col, or has won when there is none; rows are in the order of the run."""
    game, players = cols["game_id"].to_numpy(), cols["players"].to_numpy().astype(np.int64)
    later = np.minimum(np.arange(len(cols)) + players, len(cols) - 1)
    has_next = (game[later] == game) & (cols["col"].to_numpy()[later] > cols["col"].to_numpy())
    return np.asarray(np.where(has_next, cols["wears_jersey"].to_numpy()[later], cols["won"].to_numpy()), np.bool_)


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
        ("game_id", "col", "players", "wears_jersey", "won"),
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
