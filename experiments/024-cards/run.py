"""What is each card worth, what is a hare, and how much of a col is in the hand? See ``NOTES.md``.

python experiments/024-cards/run.py [--size small | full]
"""

import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.append(str(Path(__file__).parent.parent))
from experiment import Experiment

from velonimo_sim.analysis import (
    HandModel,
    calibration,
    card_differences,
    card_values,
    company_values,
    exchange_worth,
    figures,
    fit_hand_model,
    hand_ceiling,
    outcomes_by,
    save_models,
)
from velonimo_sim.analysis.hand_model import SHIPPED_MODELS

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def runs(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return for each number of players a run as dealt and one an exchange, the same bot in all seats."""
    found = {}
    for players in config["players"]:
        table = {"bots": [config["bot"]] * players, "seating": "fixed"}
        found[f"{players}-players"] = {**table, "games": config["games"]}
        for cards in config["exchanges"]["cards"]:
            options = {"games": config["exchanges"]["games"], "rule": {"exchanged_cards": cards}}
            found[f"{players}-players-{'-'.join(cards)}"] = table | options
    return found


@cache
def as_dealt(out: Path) -> dict[int, Path]:
    """Return the runs as dealt by their number of players."""
    return {int(folder.name[0]): folder for folder in sorted(out.glob("?-players"))}


@cache
def models(out: Path) -> dict[int, HandModel]:
    """Return a model of hands for each number of players."""
    return {players: fit_hand_model(run) for players, run in as_dealt(out).items()}


def by_players(out: Path, table: "Callable[[int, Path], pd.DataFrame]") -> "pd.DataFrame":
    """Return a table of each run as dealt, one below the other, with the number of players, of games, and its R2."""
    import pandas as pd

    tables = {players: table(players, run) for players, run in as_dealt(out).items()}
    for each in tables.values():
        for told in ("games", "r2"):
            if told in each.attrs:
                each[told] = each.attrs[told]
    return pd.concat(tables, names=["players"]).reset_index("players")


def exchanges(out: Path) -> "pd.DataFrame":
    """Return what one card is worth instead of another: exchanged on the same deals, and by the regression."""
    import pandas as pd

    pairs = [tuple(cards) for cards in EXPERIMENT.config()["exchanges"]["cards"]]
    found = []
    for players, run in as_dealt(out).items():
        for cards in pairs:
            exchanged = out / f"{run.name}-{'-'.join(cards)}"
            found.append(exchange_worth([run, exchanged], *cards).assign(way="exchanged"))
        fitted = card_differences(run, pairs)
        found.append(fitted.assign(players=players, way="regression", games=fitted.attrs["games"]))
    return pd.concat(found, ignore_index=True)


def tables(out: Path) -> "dict[str, pd.DataFrame]":
    """Return what cards and their company are worth, hares and exchanges in several ways, and what models explain."""
    return {
        "cards": by_players(out, lambda _, run: card_values(run)),
        "cards-won": by_players(out, lambda _, run: card_values(run, "won")),
        "company": by_players(out, lambda _, run: company_values(run)),
        "hares": outcomes_by([*as_dealt(out).values()], ["players", "hares"], "beaten"),
        "exchanges": exchanges(out),
        "calibration": by_players(out, lambda players, run: calibration(run, models(out)[players])),
        "ceiling": by_players(out, lambda _, run: hand_ceiling(run)),
    }


def ship(out: Path) -> None:
    """Write the models that ``hand_value`` asks."""
    save_models(models(out).values(), SHIPPED_MODELS)


def of_players(tables: "dict[str, pd.DataFrame]", name: str, players: int) -> "pd.DataFrame":
    """Return the rows of a table for a number of players."""
    table = tables[name][tables[name]["players"] == players]
    table.attrs |= {"outcome": "beaten", "r2": table["r2"].iloc[0]}
    return table


def draw_hares(tables: "dict[str, pd.DataFrame]", ax: "Axes") -> None:
    """Draw what hands reach by the number of hares dealt."""
    figures.by_group(
        tables["hares"].query("deals > 200"), ax, "hares", "players", label="hares dealt", outcome="beaten"
    )


def draw_of_players(figure: "Callable[..., Axes]", name: str, players: int) -> Any:
    """Return what draws a table for a number of players."""
    return lambda tables, ax: figure(of_players(tables, name, players), ax)


FIGURES = (
    {"hares": draw_hares}
    | {f"cards-{players}": draw_of_players(figures.card_values, "cards", players) for players in range(2, 6)}
    | {
        f"calibration-{players}": draw_of_players(figures.calibration, "calibration", players)
        for players in range(2, 6)
    }
)

EXPERIMENT = Experiment(Path(__file__).parent, runs, tables, FIGURES, ship=ship)

if __name__ == "__main__":
    sys.exit(EXPERIMENT.main())
