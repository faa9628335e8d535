"""What is the Jersey worth? The same deals with a Jersey that adds more and more; see ``NOTES.md``.

python experiments/023-jersey/run.py [--size small | full]
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).parent.parent))
from experiment import Experiment

from velonimo_sim.analysis import load, outcomes_by

if TYPE_CHECKING:
    import pandas as pd


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
    """Return what the wearer gains and how often the lead is kept, by players and bonus."""
    loaded = load(sorted(path for path in out.iterdir() if path.is_dir()))
    return {"wearer": outcomes_by(loaded, ["run", "wears_jersey"], "beaten")}


EXPERIMENT = Experiment(Path(__file__).parent, runs, tables, {})

if __name__ == "__main__":
    sys.exit(EXPERIMENT.main())
