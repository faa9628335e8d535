"""What is worth what in the duel, and does the better bot win more of it? See ``NOTES.md``.

python experiments/026-duel/run.py [--size small | full]
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).parent.parent))
from experiment import Experiment

from velonimo_sim.analysis import differences_by, exchange_worth, load, outcomes_by, variance_shares

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from velonimo_sim.analysis.runs import LoadedRuns

VARIANTS = {
    "duel": {},
    "duel-exempt": {"dromedary_last_card": "exempt"},
    "duel-all-cols": {"duel_target": "none"},
    "duel-no-swap": {"tortoise_swap": "off"},
    "duel-exchanged": {"exchanged_cards": ["B2", "B3"]},
}
"""The duels on the same deals, by what differs in the rules."""
CARDS = ("dromedaries", "tortoises", "hares")


def runs(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return duels, and tables of four, of one bot with itself and of better bots with others."""
    tables = {name: (["advised"] * 2, "games", rule) for name, rule in VARIANTS.items()} | {
        "four": (["advised"] * 4, "games", {}),
        "four-exchanged": (["advised"] * 4, "games", VARIANTS["duel-exchanged"]),
        "duel-advised": (["advised", "greedy"], "games_of_others", {}),
        "four-advised": (["advised", "greedy", "greedy", "greedy"], "games_of_others", {}),
        "four-mixed": (["advised", "advised:late=off", "greedy", "hold-hares"], "games_of_others", {}),
        "duel-champion": (["champion", "advised"], "games_of_champion", {}),
        "four-champion": (["champion", "advised", "advised", "advised"], "games_of_champion", {}),
    }
    return {name: {"bots": bots, "games": config[games], "rule": rule} for name, (bots, games, rule) in tables.items()}


def tables(out: Path) -> "dict[str, pd.DataFrame]":
    """Return what cols, the start, cards and rules are worth in the duel, and how often the better bot wins."""
    import pandas as pd

    def loaded(*names: str) -> "LoadedRuns":
        return load([out / name for name in names])

    of_cards = [
        differences_by(loaded("duel", "four"), card, ["run"], "beaten", baseline=0)
        .rename(columns={card: "dealt"})
        .assign(card=card)
        for card in CARDS
    ]
    exchanges = [
        exchange_worth(loaded(table, f"{table}-exchanged"), "B2", "B3").assign(table=table)
        for table in ("duel", "four")
    ]
    better = ("duel-advised", "four-advised", "duel-champion", "four-champion")
    return {
        "cols": outcomes_by(loaded("duel", "duel-all-cols"), ["run", "col"], "won", where={"out_order": 1}),
        "start": differences_by(loaded("duel"), "started", ["col"], "beaten", baseline=False),
        "first-seat": outcomes_by(loaded("duel", "four"), ["run", "seat"], "won"),
        "cards": pd.concat(of_cards, ignore_index=True),
        "dromedary": pd.concat(exchanges, ignore_index=True),
        "last-dromedary": differences_by(loaded("duel", "duel-exempt"), "run", ["dromedaries"], "beaten"),
        "swap": differences_by(loaded("duel-no-swap", "duel"), "run", ["tortoises"], "beaten"),
        "better-bot": outcomes_by(loaded(*better), ["run", "bot"], "won"),
        "places": outcomes_by(loaded(*better), ["run", "bot"], "place"),
        "luck": pd.concat(
            [variance_shares(out / name).assign(run=name) for name in ("duel-advised", "four-mixed")], ignore_index=True
        ),
    }


def draw_cards(tables: "dict[str, pd.DataFrame]", ax: "Axes") -> None:
    """Draw by how much more often the col is won in the duel with some cards of a kind than with none."""
    from velonimo_sim.analysis.figures import by_group

    in_duel = tables["cards"].query("run == 'duel'")
    ax.axhline(0, color="0.5", zorder=0)
    by_group(in_duel, ax, x="dealt", colour="card", label="cards of the kind that were dealt", outcome="beaten")


EXPERIMENT = Experiment(Path(__file__).parent, runs, tables, figures={"cards": draw_cards})

if __name__ == "__main__":
    sys.exit(EXPERIMENT.main())
