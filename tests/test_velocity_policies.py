"""What the parameters of the bots of VeloCity do."""

from pathlib import Path

from velonimo_sim.analysis import load
from velonimo_sim.tournament import run_tournament


def test_greedy_is_kept_out_of_packs(tmp_path: Path) -> None:
    run_tournament(tmp_path / "run", game="velocity", bots=["greedy", "greedy:packs=off", "random"], games=30, seed=1)
    rides = load(tmp_path / "run").games.frame().groupby("bot", observed=True)[["pack", "pack_refuel", "solo"]].sum()
    assert rides.loc["greedy:packs=off", ["pack", "pack_refuel"]].tolist() == [0, 0]
    assert rides.loc["greedy:packs=off", "solo"] > 30 * 3
    assert rides.loc["greedy", "pack"] > 30
