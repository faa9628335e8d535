"""The effect of a switch is found in runs whose bots differ by it, and nothing where it changes nothing."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from velonimo_sim.analysis import load, switch_effects
from velonimo_sim.errors import UsageError
from velonimo_sim.run_files import SCHEMA_VERSION

DEALS = 400


def planted(players: int, lacks: int, strength: float, seed: int = 0, deals: int = DEALS) -> pd.DataFrame:
    """Return game rows of deals, all rotations, in which ``lacks`` seats have no advice.

    The advice adds ``strength`` to what a seat has by its cards and, unless it is 0, to what is new in each game.
    """
    rng = np.random.default_rng([seed, players, lacks])
    sits = (np.arange(players) - np.arange(players)[:, None]) % players
    lacking = np.broadcast_to(sits < lacks, (deals, players, players))
    score = rng.normal(0, 1, (deals, 1, players)) + np.zeros(lacking.shape)
    if strength:
        score = score + rng.normal(0, 1, lacking.shape) + strength * ~lacking
    place = 1 + (score[..., None, :] > score[..., :, None]).sum(axis=-1)
    deal, game, seat = np.indices(lacking.shape)
    columns = {
        "game_id": players * deal + game,
        "deal_id": deal,
        "seating_id": game,
        "seat": seat,
        "bot": np.where(lacking, "wise:calm=off", "wise"),
        "total": players - place,
        "place": place,
        "won": place == 1,
    }
    return pd.DataFrame({name: values.ravel() for name, values in columns.items()})


def written(folder: Path, frame: pd.DataFrame, **changes: Any) -> Path:
    """Write game rows as a run of the bots ``wise`` and ``wise:calm=off``."""
    folder.mkdir()
    players = int(frame["seat"].max() + 1)
    first_game = frame["bot"][frame["game_id"] == 0]
    manifest = {
        "schema_version": SCHEMA_VERSION,
        "game": "velonimo",
        "deal_version": 1,
        "players": players,
        "seed": 1,
        "bots": ["wise:calm=off", "wise"],
        "parameters": [{"calm": False, "depth": 3}, {"calm": True, "depth": 3}],
        "tables": [[int(bot == "wise") for bot in first_game]],
        "rules": {"col_values": [1, 2, 3, 4, 5]},
        "games_per_deal": int(frame["game_id"].nunique() / frame["deal_id"].nunique()),
    } | changes
    (folder / "run.json").write_text(json.dumps(manifest))
    texts = {"velonimo_sim_schema": str(SCHEMA_VERSION), "velonimo_sim_run": json.dumps(manifest)}
    table = pa.table({name: frame[name].to_numpy() for name in frame.columns if name != "bot"})
    table = table.append_column("bot", pa.array(frame["bot"]).dictionary_encode()).replace_schema_metadata(texts)
    for kind in ("cols", "games"):
        pq.write_table(table, folder / f"{kind}-0000000000.parquet")
    return folder


def effect(folder: Path, frame: pd.DataFrame, **changes: Any) -> pd.Series:
    """Return the one row of the effects of a run."""
    return switch_effects(written(folder, frame, **changes)).loc[0]


@pytest.mark.parametrize(("players", "lacks"), [(2, 1), (3, 1), (3, 2), (5, 1), (5, 4)])
def test_the_effect_is_the_win_share_of_those_with_it_less_that_of_those_without(
    tmp_path: Path, players: int, lacks: int
) -> None:
    frame = planted(players, lacks, 0.7)
    row = effect(tmp_path / "run", frame)
    share = frame.groupby("bot")["won"].mean()
    assert row["mean"] == pytest.approx(share["wise"] - share["wise:calm=off"])
    assert 0 < row["low"] < row["mean"] < row["high"]
    assert row[["switch", "players", "lack", "games", "deals"]].tolist() == [
        "calm",
        players,
        lacks,
        DEALS * players,
        DEALS,
    ]


@pytest.mark.slow
def test_95_percent_of_the_intervals_cover_the_effect(tmp_path: Path) -> None:
    """The truth is the mean effect of 100,000 deals."""
    large = planted(3, 1, 0.5, seed=1_000_000, deals=100_000)
    share = large.groupby("bot")["won"].mean()
    truth, covered = share["wise"] - share["wise:calm=off"], 0
    for seed in range(500):
        row = effect(tmp_path / str(seed), planted(3, 1, 0.5, seed, deals=60))
        covered += row["low"] <= truth <= row["high"]
    assert 0.93 * 500 <= covered <= 0.97 * 500


def test_a_switch_that_changes_no_game_has_an_effect_of_exactly_0(tmp_path: Path) -> None:
    row = effect(tmp_path / "run", planted(4, 1, 0))
    assert row["mean"] == 0
    assert row["changed"] == 0
    assert row["low"] == pytest.approx(-row["high"])
    assert row["high"] == pytest.approx(3.84 / (DEALS + 3.84), rel=0.02), "Wilson's for 0 of 400 deals"


def with_wins(frame: pd.DataFrame, wins: int, losses: int) -> pd.DataFrame:
    """Return rows of a table of two, where the bot with the switch wins or loses both games of some deals.

    In the other deals nothing is changed: each bot wins once.
    """
    changed = frame["deal_id"] < wins + losses
    is_better = (frame["bot"] == "wise") == (frame["deal_id"] < wins)
    return frame.assign(won=frame["won"].where(~changed, is_better))


@pytest.mark.slow
@pytest.mark.parametrize("expected", [3, 10])
@pytest.mark.parametrize("losing", [0.0, 0.3])
def test_intervals_cover_the_effect_of_rare_changes(tmp_path: Path, expected: int, losing: float) -> None:
    """With 3 or 10 deals of 5,000 that are changed in the mean; the variance seen alone covers as few as 85 %."""
    rng, deals, covered = np.random.default_rng([expected, int(10 * losing)]), 5_000, 0
    unchanged, truth = planted(2, 1, 0, deals=deals), expected * (1 - 2 * losing) / deals
    for repeat in range(300):
        wins, losses = rng.poisson([expected * (1 - losing), expected * losing])
        row = effect(tmp_path / str(repeat), with_wins(unchanged, wins, losses))
        covered += row["low"] <= truth <= row["high"]
    assert covered >= 0.94 * 300


def test_an_interval_is_about_as_wide_whether_a_rare_change_was_seen_or_not(tmp_path: Path) -> None:
    """Nothing changed, points alone changed, one deal won, and one won and one lost; the width makes no jump."""
    frame = planted(2, 1, 0)
    points = frame.assign(total=frame["total"].mask(frame["game_id"] == 0, 9))
    runs = [frame, points, *(with_wins(points, *results) for results in ((1, 0), (1, 1)))]
    rows = pd.DataFrame([effect(tmp_path / str(number), run) for number, run in enumerate(runs)])
    half = ((rows["high"] - rows["low"]) / 2).tolist()
    assert rows["changed"].tolist() == [0, 1 / DEALS, 1 / DEALS, 1 / DEALS]
    assert half[1] == half[0] == pytest.approx(3.84 / DEALS, rel=0.02)
    assert half[0] < half[2] < half[3] < 1.3 * half[0]


def test_deals_that_are_changed_are_counted(tmp_path: Path) -> None:
    frame = planted(3, 1, 0)
    frame.loc[(frame["game_id"] == 4) & (frame["seat"] == 1), "total"] += 1
    assert effect(tmp_path / "run", frame)["changed"] == 1 / DEALS


def test_the_best_advice_stands_first_and_all_of_it_together(tmp_path: Path) -> None:
    def run(name: str, players: int, strength: float) -> Path:
        settings = [{"calm": True, "bold": True} | {name: False}, {"calm": True, "bold": True}]
        bots = {"wise:calm=off": f"wise:{name}=off"}
        frame = planted(players, 1, strength).replace({"bot": bots})
        changes: dict[str, Any] = {"bots": [f"wise:{name}=off", "wise"], "parameters": settings}
        return written(tmp_path / f"{name}-{players}", frame, **changes)

    table = switch_effects([run("calm", 4, 0.3), run("bold", 3, 1.5), run("calm", 2, 0.3), run("bold", 2, 1.5)])
    assert table[["switch", "players"]].to_numpy().tolist() == [["bold", 2], ["bold", 3], ["calm", 2], ["calm", 4]]
    assert table.attrs["outcome"] == "won"


@pytest.mark.parametrize(
    ("bots", "parameters"),
    [
        (["wise", "bold"], [{"calm": True}, {"calm": False}]),
        (["wise:depth=2", "wise"], [{"calm": True, "depth": 2}, {"calm": True, "depth": 3}]),
        (["wise:calm=off,late=off", "wise"], [{"calm": False, "late": False}, {"calm": True, "late": True}]),
        (["wise"], [{"calm": True}]),
    ],
)
def test_bots_that_do_not_differ_by_one_switch_are_refused(
    tmp_path: Path, bots: Sequence[str], parameters: Sequence[dict[str, Any]]
) -> None:
    folder = written(tmp_path / "run", planted(3, 1, 1), bots=bots, parameters=parameters)
    with pytest.raises(UsageError, match=r"run 'run' of .*: needed are two bots that differ by one switch"):
        switch_effects(folder)


def test_deals_that_are_played_once_are_refused(tmp_path: Path) -> None:
    frame = planted(3, 1, 1)
    folder = written(tmp_path / "run", frame[frame["seating_id"] == 0].assign(game_id=lambda f: f["deal_id"]))
    with pytest.raises(UsageError, match="run 'run': plays each deal once"):
        switch_effects(load(folder))
