"""What are the start, a seat and a strategy worth, and how much is luck? See ``NOTES.md``.

python experiments/021-seats-and-strategies/run.py [--size small | full]
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).parent.parent))
from experiment import Experiment

from velonimo_sim.analysis import (
    bot_table,
    differences_by,
    figures,
    games_needed,
    load,
    outcomes_by,
    pair_table,
    seats_after,
    variance_shares,
)

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
    """Return what seats, the start, neighbours and strategies are worth, and what of it all is luck."""
    seats, neighbour = load(sorted(out.glob("seats-*"))), load(out / "neighbour").games.frame()
    after_greedy = neighbour.assign(after=seats_after(neighbour, "greedy"))
    return {
        "seats": outcomes_by(seats, ["players", "seat"]),
        "first-col": outcomes_by(seats, ["players", "seat"], "beaten", where={"col": 1}),
        "start": differences_by(seats, "started", ["players", "col"], "beaten", where={"wears_jersey": False}),
        "neighbour": outcomes_by(after_greedy, ["after"], where={"bot": "advised"}),
        "strategies": bot_table(out / "strategies"),
        "champion": bot_table(out / "champion"),
        "pairs": pair_table(out / "strategies"),
        "habits": habits(out / "strategies"),
        "luck-strategies": variance_shares(out / "strategies"),
        "luck-alike": variance_shares(out / "alike"),
        "games-needed": games_needed(out / "alike", "advised", "advised:jersey=off"),
    }


def habits(run: Path) -> "pd.DataFrame":
    """Return how each bot plays a col: choices, passes and swaps, and how often it spends the Jersey if it wears it."""
    import pandas as pd

    means = {name: outcomes_by(run, ["bot"], name) for name in ("turns", "passes", "swaps_made")}
    means["jersey_spent"] = outcomes_by(run, ["bot"], "jersey_spent", where={"wears_jersey": True})
    return pd.concat(means, names=["habit", None]).reset_index("habit")


EXPERIMENT = Experiment(
    Path(__file__).parent,
    runs,
    tables,
    {
        "neighbour": lambda tables, ax: figures.by_group(tables["neighbour"], ax, "after", label="seats after greedy"),
        "strategies": lambda tables, ax: figures.win_shares(tables["strategies"], ax, players=4),
        "luck": lambda tables, ax: figures.shares(tables["luck-alike"], ax),
        "games-needed": lambda tables, ax: figures.games_needed(tables["games-needed"], ax),
    },
)

if __name__ == "__main__":
    sys.exit(EXPERIMENT.main())
