"""What are seats, cans, packs and patience worth in VeloCity, and how long does a race last? See ``NOTES.md``.

python experiments/030-velocity/run.py [--size small | full]
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).parent.parent))
from experiment import Experiment

from velonimo_sim.analysis import differences_by, load, outcomes_by

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from velonimo_sim.analysis.runs import LoadedRuns

FOLDER = Path(__file__).parent
THIRD_COURIER = 3
RIDES = ("solo", "refuel", "breakaway", "pack", "pack_refuel", "carried")
CANS = ("supplied", "compensated", "lost", "on_refuel", "on_breakaway", "on_slipstream", "on_obstacles", "cans_left")
TASTES = tuple(f"taste-{can}" for can in (0, 1, 2, 4, 5, 6))
HOLDS = tuple(f"hold-{places}-among-{others}" for others in ("greedy", "savers") for places in (0, 2, 4))
CHANGES = {"as printed": "", "another course": "course-", "the sum finishes": "sum-"}
"""Rules, and what the names of the tables that play by them begin with."""


def runs(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the run of each table for each number of players."""
    found = {}
    for name, table in config["tables"].items():
        ones, rule = table.get("ones", []), dict(table.get("rule", {}))
        if "course" in rule:
            rule["course"] = str(FOLDER / rule["course"])
        for players in table.get("players", config["players"]):
            found[f"{name}-{players}"] = {
                "game": "velocity",
                "bots": [*ones, *[table["rest"]] * (players - len(ones))],
                "seating": "rotations" if ones else "fixed",
                "games": table["deals"] * (players if ones else 1),
                "rule": rule,
            }
    return found


def tables(out: Path) -> "dict[str, pd.DataFrame]":
    """Return what seats, cans, packs and holding back are worth, and how long races last."""
    alike, with_cans = loaded(out, "greedy", "saver"), loaded(out, "greedy", "cans-1", "cans-2", "cans-3")
    by_bot = ["bot", "players"]
    return {
        "seats": outcomes_by(alike, [*by_bot, "seat"]),
        "strong": outcomes_by(loaded(out, "strong"), by_bot),
        "lengths": stacked("outcome", {of: outcomes_by(alike.races, by_bot, of) for of in ("turns", "decisions")}),
        "decided-by": decided_by(alike),
        "cans": stacked("outcome", {of: worth_of_cans(with_cans, of) for of in ("won", "total")}),
        "uses-of-cans": stacked("use", {use: outcomes_by(alike, by_bot, use) for use in CANS}),
        "tastes": against_others(out, TASTES, "greedy"),
        "rides": shares_of_rides(loaded(out, "greedy", "saver", "strong")),
        "packs": stacked(
            "others",
            {
                "in packs": against_others(out, ["one-solo"], "greedy"),
                "solo": against_others(out, ["one-in-packs"], "greedy:packs=off"),
            },
        ),
        "packs-from-start": differences_by(
            loaded(out, "greedy", "no-pack-from-start").races, "pack_from_start", ["players"], "turns", baseline=False
        ),
        "hold": against_others(out, [*HOLDS, "hold-2-among-holders"], "saver:hold=on").query("bot != 'greedy'"),
        "changed": stacked("rules", {rules: answers(out, prefix) for rules, prefix in CHANGES.items()}),
    }
