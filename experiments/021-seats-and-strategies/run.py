"""What are the start, a seat and a strategy worth, and how much is luck? See ``NOTES.md``.

python experiments/021-seats-and-strategies/run.py [--size small | full]
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).parent.parent))
from experiment import Experiment

if TYPE_CHECKING:
    import pandas as pd


def runs(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return a run of one bot in all seats for each number of players, and one for each table of different bots."""
    games = config["games"]
    alone = {
        f"seats-{players}": {"bots": [config["bot"]] * players, "seating": "fixed", "games": games["seats"]}
        for players in config["players"]
    }
    return alone | {name: {"bots": bots, "games": games[name]} for name, bots in config["tables"].items()}


def tables(out: Path) -> "dict[str, pd.DataFrame]":
    return {}


EXPERIMENT = Experiment(Path(__file__).parent, runs, tables, {})

if __name__ == "__main__":
    sys.exit(EXPERIMENT.main())
