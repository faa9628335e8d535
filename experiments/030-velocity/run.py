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
from velonimo_sim.velocity.rules import WINNING_COURIERS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from velonimo_sim.analysis.runs import LoadedRuns

FOLDER = Path(__file__).parent
RIDES = ("solo", "refuel", "breakaway", "pack", "pack_refuel", "carried")
CANS = ("supplied", "compensated", "lost", "on_refuel", "on_breakaway", "on_slipstream", "on_obstacles", "cans_left")
TASTES = tuple(f"taste-{can}" for can in (0, 1, 2, 4, 5, 6))
HOLDS = tuple(f"hold-{places}-among-{others}" for others in ("greedy", "savers") for places in (0, 2, 4))
CHANGES = {"as reconstructed": "", "another course": "course-", "the sum finishes": "sum-"}
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
            loaded(out, "greedy", "no-pack-from-start").races, "pack_from_start", ["players"], "turns", baseline=True
        ),
        "hold": against_others(out, [*HOLDS, "hold-2-among-holders"], "saver:hold=off").query("bot != 'greedy'"),
        "changed": stacked("rules", {rules: answers(out, prefix) for rules, prefix in CHANGES.items()}),
    }


def loaded(out: Path, *names: str) -> "LoadedRuns":
    """Return the runs of some tables, for all numbers of players."""
    return load([folder for name in names for folder in sorted(out.glob(f"{name}-[3-7]"))])


def stacked(name: str, frames: "Mapping[str, pd.DataFrame]") -> "pd.DataFrame":
    """Return frames one below the other, with a column that says which one a row is of."""
    import pandas as pd

    return pd.concat(frames, names=[name, None]).reset_index(name)


def worth_of_cans(runs: "LoadedRuns", outcome: str) -> "pd.DataFrame":
    """Return what cans at the start change for seat 0, which gets them, on the same dice."""
    return differences_by(runs, "start_cans", ["players"], outcome, baseline="none", where={"seat": 0})


def against_others(out: Path, names: Sequence[str], others: str) -> "pd.DataFrame":
    """Return by how much more often the bots of some tables win than one of the others there."""
    return stacked(
        "table", {name: differences_by(loaded(out, name), "bot", ["players"], baseline=others) for name in names}
    )


def decided_by(runs: "LoadedRuns") -> "pd.DataFrame":
    """Return in which share of the races a third courier decides, and in which the place of the last one (C18)."""
    rows = runs.games.frame(["run", "group", "game_id", "bot", "players", "total", "won"])
    race = [rows["run"], rows["game_id"]]
    has_most = rows["total"] == rows.groupby(race, observed=True)["total"].transform("max")
    reasons = {
        "third courier": rows["total"] == WINNING_COURIERS,
        "last courier": has_most.groupby(race, observed=True).transform("sum") > 1,
    }
    return stacked(
        "decided_by", {name: shares_of(rows.assign(share=so), {"won": True}) for name, so in reasons.items()}
    )


def shares_of_rides(runs: "LoadedRuns") -> "pd.DataFrame":
    """Return how many of the turns of a seat are each kind of ride, and how often others carry it along in a turn."""
    rows = runs.games.frame(["run", "group", "game_id", "bot", "players", "turns", *RIDES])
    return stacked("ride", {ride: shares_of(rows.assign(share=rows[ride] / rows["turns"])) for ride in RIDES})


def shares_of(rows: "pd.DataFrame", where: Mapping[str, Any] | None = None) -> "pd.DataFrame":
    """Return the mean of the column ``share`` by bot and number of players."""
    return outcomes_by(rows, ["bot", "players"], "share", where)


def answers(out: Path, prefix: str) -> "pd.DataFrame":
    """Return the main answers under some rules, with 4 and 6 players."""
    alike, with_can = (loaded(out, *(prefix + name for name in names)) for names in (["greedy"], ["greedy", "cans-1"]))
    found = {
        "turns of a race": outcomes_by(alike.races, ["players"], "turns"),
        "wins of seat 0": outcomes_by(alike, ["players"], where={"seat": 0}),
        "a can for seat 0": worth_of_cans(with_can, "won"),
        "never in a pack": against_others(out, [f"{prefix}one-solo"], "greedy"),
        "holding back": against_others(out, [f"{prefix}hold-2-among-savers"], "saver:hold=off"),
    }
    columns = ["answer", "players", "mean", "low", "high", "games", "deals"]
    return stacked("answer", found).query("players in (4, 6)")[columns]


def draw_seats(tables: "dict[str, pd.DataFrame]", ax: "Axes") -> None:
    """Draw by how much more than an equal share each seat wins, by number of players."""
    seats = tables["seats"].query("bot == 'greedy'").copy()
    seats[["mean", "low", "high"]] -= 1 / seats[["players"]].to_numpy()
    draw_differences(seats, ax, "seat", "players", "seat (0 begins)", "wins less an equal share")


def draw_cans(tables: "dict[str, pd.DataFrame]", ax: "Axes") -> None:
    """Draw what cans at the start are worth."""
    cans = tables["cans"].query("outcome == 'won'").rename(columns={"start_cans": "cans at the start"})
    draw_differences(cans, ax, "players", "cans at the start", "players", "wins with cans less without")


def draw_tastes(tables: "dict[str, pd.DataFrame]", ax: "Axes") -> None:
    """Draw how bots fare that spend cans more or less readily than the others."""
    tastes = tables["tastes"].assign(can=tables["tastes"]["table"].str.removeprefix("taste-").astype(int))
    draw_differences(
        tastes, ax, "can", "players", "spaces that a can has to gain (of the others: 3)", "wins less others"
    )


def draw_packs(tables: "dict[str, pd.DataFrame]", ax: "Axes") -> None:
    """Draw what it costs never to ride in a pack, and what it gains to be the only one who does."""
    draw_differences(tables["packs"], ax, "players", "others", "players", "wins of the one less the others")


def draw_hold(tables: "dict[str, pd.DataFrame]", ax: "Axes") -> None:
    """Draw what it is worth to hold back the second courier."""
    draw_differences(tables["hold"], ax, "players", "table", "players", "wins: holding back less not")


def draw_differences(frame: "pd.DataFrame", ax: "Axes", x: str, colour: str, label: str, words: str) -> None:
    """Draw differences in win share around a line at zero."""
    from velonimo_sim.analysis.figures import by_group

    ax.axhline(0, color="0.5", zorder=0)
    by_group(frame, ax, x, colour, label, "won")
    ax.set_ylabel(f"{words}\n(points of percent)")


EXPERIMENT = Experiment(
    FOLDER,
    runs,
    tables,
    {"seats": draw_seats, "cans": draw_cans, "tastes": draw_tastes, "packs": draw_packs, "hold": draw_hold},
)

if __name__ == "__main__":
    sys.exit(EXPERIMENT.main())
