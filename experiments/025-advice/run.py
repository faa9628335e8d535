"""Does the published advice hold? Each piece of it switched off, on duplicate deals; see ``NOTES.md``.

python experiments/025-advice/run.py [--size small | full]
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).parent.parent))
from experiment import Experiment

from velonimo_sim.analysis import figures, switch_effects

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def runs(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return for each switch and number of players a table with one bot that lacks it, and one where one has it."""
    found = {}
    for switch in config["switches"]:
        for players in config["players"]:
            bot, without = config["bot"], f"{config['bot']}:{switch}=off"
            found[f"{switch}-{players}-one-lacks"] = [without, *[bot] * (players - 1)]
            if players > 2:
                found[f"{switch}-{players}-one-has"] = [bot, *[without] * (players - 1)]
    return {name: {"bots": bots, "games": config["games"]} for name, bots in found.items()}


def tables(out: Path) -> "dict[str, pd.DataFrame]":
    """Return what each piece of advice is worth, by players and by how many seats of the table lack it."""
    return {"switches": switch_effects(sorted(path for path in out.iterdir() if path.is_dir()))}


def draw(effects: "pd.DataFrame", ax: "Axes") -> None:
    """Draw the effects of the switches by players."""
    figures.differences(effects.rename(columns={"switch": "label"}), ax, "players", "won")


EXPERIMENT = Experiment(
    Path(__file__).parent,
    runs,
    tables,
    {
        "one-lacks": lambda tables, ax: draw(tables["switches"].query("lack == 1"), ax),
        "one-has": lambda tables, ax: draw(tables["switches"].query("lack == players - 1"), ax),
    },
)

if __name__ == "__main__":
    sys.exit(EXPERIMENT.main())
