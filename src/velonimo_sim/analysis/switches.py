"""What each piece of advice is worth: bots that have it beside bots that lack it, at the same table."""

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from velonimo_sim.analysis.frames import Rows, rows_of
from velonimo_sim.analysis.intervals import wilson_interval
from velonimo_sim.analysis.runs import Folders, LoadedRun, LoadedRuns, load
from velonimo_sim.analysis.tables import paired_difference
from velonimo_sim.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd


class _Switch(NamedTuple):
    """A parameter that is on in one of the two bots of a run and off in the other."""

    name: str
    on: str
    off: str


def switch_effects(runs: "LoadedRuns | Folders", level: float = 0.95) -> "pd.DataFrame":
    """Return by how much more often a bot wins with a switch on than with it off, at the same table.

    In each run two bots sit that are the same but for one parameter, which is on or off; the manifest says which. The
    effect is the win share of those that have it on less that of those that have it off, over the same deals from the
    same seats.

    Where the seats of a deal end alike in all games, the switch has changed nothing. If that is so in all deals the
    effect is 0, and its interval rests on how many deals it could still change: as many as Wilson's interval leaves
    possible.

    Parameters
    ----------
    runs : LoadedRuns, Path, str, or sequence or mapping of them
        Runs of duplicate deals, such as ``advised:late=off advised advised``.
    level : float
        The coverage asked for.

    Returns
    -------
    pandas.DataFrame
        ``switch``, ``players``, ``lack`` (seats of the table that have it off), ``mean``, ``low``, ``high`` (of the
        difference in win share), ``changed`` (share of the deals in which it changes a result), ``games``, ``deals``;
        the switches with the greatest mean effect first, each by ``players`` and ``lack``. ``attrs`` says the
        ``outcome``.

    Raises
    ------
    UsageError
        If the bots of a run do not differ by one switch, it has no games, or plays each deal only once.
    """
    import pandas as pd

    loaded = runs if isinstance(runs, LoadedRuns) else load(runs)
    table = pd.DataFrame([_effect(run, level) for run in loaded.runs])
    table["_rank"] = -table.groupby("switch")["mean"].transform("mean")
    table = table.sort_values(["_rank", "switch", "players", "lack"], ignore_index=True).drop(columns="_rank")
    table.attrs = {"outcome": "won"}
    return table


def _effect(run: LoadedRun, level: float) -> dict[str, Any]:
    """Return what the switch of one run does."""
    switch, rows = _switch_of(run), rows_of(LoadedRuns([run]))
    if run.games == run.deals:
        raise UsageError(
            f"run {run.label!r}: plays each deal once: needed are duplicate deals, as by seating rotations"
        )
    effect = paired_difference(rows.frame, switch.on, switch.off, level=level)
    changed = _changed_deals(rows)
    low, high = effect.low, effect.high
    if changed == 0:
        high = wilson_interval(0, effect.groups, level)[1]
        low = -high
    return {
        "switch": switch.name,
        "players": run.players,
        "lack": Counter(run.manifest["tables"][0])[run.manifest["bots"].index(switch.off)],
        "mean": effect.mean,
        "low": low,
        "high": high,
        "changed": changed / effect.groups,
        "games": run.games,
        "deals": effect.groups,
    }


def _switch_of(run: LoadedRun) -> _Switch:
    """Return the switch by which the bots of a run differ."""
    bots, settings = run.manifest["bots"], run.manifest["parameters"]
    names = [bot.partition(":")[0] for bot in bots]
    if len(bots) == 2 and names[0] == names[1]:
        differing = [name for name in settings[0] if settings[0][name] != settings[1][name]]
        if len(differing) == 1 and isinstance(settings[0][differing[0]], bool):
            on = 0 if settings[0][differing[0]] else 1
            return _Switch(differing[0], bots[on], bots[1 - on])
    raise UsageError(
        f"run {run.label!r} of {', '.join(bots)}: needed are two bots that differ by one switch, as in "
        "'advised advised:late=off'"
    )


def _changed_deals(rows: Rows) -> int:
    """Return in how many deals the points of a seat are not the same in all games."""
    seat = rows.deal * rows.players + rows.frame["seat"].to_numpy(np.int64)
    order = np.argsort(seat, kind="stable")
    totals = rows.outcome("total")[order].reshape(len(rows.deals), rows.players, -1)
    return int((totals != totals[..., :1]).any(axis=(1, 2)).sum())
