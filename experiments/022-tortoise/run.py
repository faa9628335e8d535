"""What is a Tortoise worth? The same deals as dealt, with cards exchanged, and without the swap; see ``NOTES.md``.

python experiments/022-tortoise/run.py [--size small | full]
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).parent.parent))
from experiment import Experiment

from velonimo_sim.analysis import figures, load, outcomes_by, swap_balance, tortoise_worth

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def runs(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return for each number of players, with the swap and without, a run as dealt and one an exchange."""
    return {
        f"{players}-players-{swap}{'-' if rider else ''}{rider}": {
            "bots": [config["bot"]] * players,
            "games": config["games"],
            "rule": {"tortoise_swap": swap} | ({"exchanged_cards": [f"{rider[0]}1", rider]} if rider else {}),
        }
        for players in config["players"]
        for swap in config["tortoise_swap"]
        for rider in ["", *config["riders"]]
    }


def tables(out: Path) -> "dict[str, pd.DataFrame]":
    """Return the worth of a Tortoise in both outcomes, the means by number dealt, and the swaps."""
    folders = sorted(path for path in out.iterdir() if path.is_dir())
    loaded, as_dealt = load(folders), load([path for path in folders if path.name.endswith(("mandatory", "off"))])
    return {
        "worth-beaten": tortoise_worth(loaded, "beaten"),
        "worth-won": tortoise_worth(loaded, "won"),
        "dealt": outcomes_by(as_dealt, ["players", "tortoise_swap", "tortoises"], "beaten"),
        "swaps": swap_balance(as_dealt),
    }


def draw(name: str, what: str) -> Any:
    """Return what draws a part of a table of the worth."""

    def figure(tables: "dict[str, pd.DataFrame]", ax: "Axes") -> None:
        worth = tables[name]
        figures.differences(worth[worth["what"] == what], ax, colour="players")

    return figure


EXPERIMENT = Experiment(
    Path(__file__).parent,
    runs,
    tables,
    {
        "worth-beaten": draw("worth-beaten", "worth"),
        "worth-won": draw("worth-won", "worth"),
        "parts": draw("worth-beaten", "part"),
        "steps": draw("worth-beaten", "step"),
        "instead-of": draw("worth-beaten", "instead of"),
    },
)

if __name__ == "__main__":
    sys.exit(EXPERIMENT.main())
