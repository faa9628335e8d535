"""How does a game go? The same bot in all seats, at tables of 2-5; see ``NOTES.md``.

python experiments/020-tour/run.py [--size small | full]
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).parent.parent))
from experiment import Experiment

from velonimo_sim.analysis import load, outcomes_by

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def runs(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return a run for each number of players."""
    return {
        f"{players}-players": {"bots": [config["bot"]] * players, "games": config["games"]}
        for players in config["players"]
    }


def tables(out: Path) -> "dict[str, pd.DataFrame]":
    """Return how long cols are, what the winner of a col has of it, and what the places score, by players."""
    loaded = load(sorted(path for path in out.iterdir() if path.is_dir()))
    return {
        "turns": outcomes_by(loaded, ["players"], "turns"),
        "passes": outcomes_by(loaded, ["players"], "passes"),
        "col-winners": outcomes_by(loaded, ["players", "col"], "won", where={"out_order": 1}),
        "places": outcomes_by(loaded, ["players", "place"], "total"),
    }


def draw_col_winners(tables: "dict[str, pd.DataFrame]", ax: "Axes") -> None:
    """Draw how often who was first out of a col wins the game."""
    from velonimo_sim.analysis.figures import by_group

    by_group(tables["col-winners"], ax, x="col", colour="players", label="first out of this col")


def draw_places(tables: "dict[str, pd.DataFrame]", ax: "Axes") -> None:
    """Draw the points of each place."""
    from velonimo_sim.analysis.figures import by_group

    by_group(tables["places"], ax, x="place", colour="players", label="place in the game")


EXPERIMENT = Experiment(
    Path(__file__).parent,
    runs,
    tables,
    figures={"col-winners": draw_col_winners, "places": draw_places},
    records={"4-players": 0},
)

if __name__ == "__main__":
    sys.exit(EXPERIMENT.main())
