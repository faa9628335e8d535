"""What is the Jersey worth? The same deals with a Jersey that adds more and more; see ``NOTES.md``.

python experiments/023-jersey/run.py [--size small | full]
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).parent.parent))
from experiment import Experiment

from velonimo_sim.analysis import (
    figures,
    jersey_uses,
    lead_kept,
    leader_gains,
    load,
    outcomes_by_role,
    wearer_gains,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

BONUS = "bonus of the Jersey (added to the value of a play)"


def runs(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return a run for each number of players and each bonus, the same bot in all seats."""
    return {
        f"{players}-players-{bonus:02}": {
            "bots": [config["bot"]] * players,
            "games": config["games"],
            "rule": {"jersey_bonus": bonus},
        }
        for players in config["players"]
        for bonus in config["bonuses"]
    }


def tables(out: Path) -> "dict[str, pd.DataFrame]":
    """Return what wearer and leader gain, how often the lead is kept, who does how well, and what it is spent on."""
    loaded = load(sorted(path for path in out.iterdir() if path.is_dir()))
    return {
        "wearer": wearer_gains(loaded),
        "leader": leader_gains(loaded),
        "lead-kept": lead_kept(loaded),
        "roles": outcomes_by_role(loaded),
        "uses": jersey_uses(loaded),
    }


def draw_wearer(tables: "dict[str, pd.DataFrame]", ax: "Axes") -> None:
    """Draw what the wearer gains in col 2, where nothing but the bonus differs."""
    gains = tables["wearer"]
    figures.by_group(gains[gains["col"] == 2], ax, "jersey_bonus", "players", label=BONUS)
    ax.set_ylabel("opponents beaten by the wearer in col 2,\nmore than with bonus 0")


def draw_leader(tables: "dict[str, pd.DataFrame]", ax: "Axes") -> None:
    """Draw how much more often the leader after col 1 wins the game."""
    gains = tables["leader"]
    figures.by_group(gains[gains["col"] == 1], ax, "jersey_bonus", "players", label=BONUS)
    ax.set_ylabel("games won by the leader after col 1,\nmore than with bonus 0 (points of percent)")


EXPERIMENT = Experiment(Path(__file__).parent, runs, tables, {"wearer": draw_wearer, "leader": draw_leader})

if __name__ == "__main__":
    sys.exit(EXPERIMENT.main())
