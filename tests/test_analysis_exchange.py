"""The worth of a card beside another: a planted one is found, a planted zero is none, and bad input is one line."""

import numpy as np
import pandas as pd
import pytest

from velonimo_sim.analysis import exchange_worth, outcomes_by
from velonimo_sim.errors import UsageError

DEALS = 300
REPEATS = 500


def rows_of_two_runs(seed: int, worth: float) -> pd.DataFrame:
    """Return col rows of two runs of the same deals, where B2 is worth so much more than B3.

    The cards of a deal help or hurt both hands in both runs, and no bot plays the two runs alike.
    """
    rng = np.random.default_rng(seed)
    holder, other = rng.integers(0, 3, (2, DEALS, 1))  # the seats that hold B2 and B3 as dealt; 2 = nobody does
    seats, deal_effect = np.arange(2), rng.normal(0, 1, (DEALS, 2))
    runs = []
    for run, (has_b2, has_b3) in {"none": (holder, other), "B2,B3": (other, holder)}.items():
        b2, b3 = has_b2 == seats, has_b3 == seats
        outcome = deal_effect + worth * b2 + rng.normal(0, 0.5, (DEALS, 2))
        frame = pd.DataFrame({"group": np.repeat(np.arange(DEALS), 2), "seat": np.tile(seats, DEALS)})
        frame = frame.assign(game_id=frame["group"], run=run, exchanged_cards=run, players=2, x=outcome.ravel())
        runs.append(frame.assign(B2=b2.ravel(), B3=b3.ravel()))
    return pd.concat(runs, ignore_index=True)


@pytest.mark.slow
@pytest.mark.parametrize("worth", [0.0, 0.4])
def test_a_planted_worth_is_found_within_its_interval(worth: float) -> None:
    tables = [exchange_worth(rows_of_two_runs(seed, worth), "B2", "B3", "x") for seed in range(REPEATS)]
    found = pd.concat(tables)
    covered = ((found["low"] <= worth) & (worth <= found["high"])).mean()
    assert 0.93 <= covered <= 0.97
    error = found["mean"].std() / np.sqrt(REPEATS)
    assert abs(found["mean"].mean() - worth) < 4 * error


def test_the_same_deals_make_the_interval_narrow() -> None:
    rows = rows_of_two_runs(1, 0.4)
    paired = exchange_worth(rows, "B2", "B3", "x")
    apart = [
        outcomes_by(rows[rows["run"] == run], [], "x", where={"B2": run == "none", "B3": run != "none"})
        for run in ("none", "B2,B3")
    ]
    assert paired["mean"].iloc[0] == pytest.approx(apart[0]["mean"].iloc[0] - apart[1]["mean"].iloc[0])
    spans = [float((table["high"] - table["low"]).iloc[0]) for table in (paired, *apart)]
    widths = spans[0], np.hypot(*spans[1:])
    assert widths[0] < 0.6 * widths[1]


def test_hands_with_both_cards_or_none_do_not_count() -> None:
    rows = rows_of_two_runs(2, 0.4)
    table = exchange_worth(rows, "B2", "B3", "x")
    held = rows[rows["run"].eq("none") & rows["B2"] & ~rows["B3"]]
    instead = rows[rows["run"].eq("B2,B3") & rows["B3"] & ~rows["B2"]]
    assert held.index.tolist() == (instead.index - 2 * DEALS).tolist(), "the same seats of the same deals"
    assert table["mean"].iloc[0] == pytest.approx(held["x"].mean() - instead["x"].mean())
    assert table[["card", "instead", "rows"]].to_numpy().tolist() == [["B2", "B3", len(held)]]
    assert (table.attrs["outcome"], table.attrs["games"], table.attrs["deals"]) == ("x", 2 * DEALS, DEALS)


def test_what_cannot_be_compared_is_one_clear_line() -> None:
    rows = rows_of_two_runs(3, 0.0)
    needed = "exchange of B2 and B3 with 2 players: needed are runs with exchanged_cards none and B2,B3; there are "
    with pytest.raises(UsageError, match=f"^{needed}none$"):
        exchange_worth(rows[rows["run"] == "none"], "B2", "B3", "x")
    with pytest.raises(UsageError, match=f"^{needed}H25,R7, none$"):
        exchange_worth(rows.replace({"exchanged_cards": {"B2,B3": "H25,R7"}}), "B2", "B3", "x")
    with pytest.raises(UsageError, match=r"^exchange of B2 and B3: no hand holds just one of them in both runs$"):
        exchange_worth(rows.assign(B3=rows["B2"]), "B2", "B3", "x")
    with pytest.raises(UsageError, match="B4"):
        exchange_worth(rows, "B2", "B4", "x")


def test_deals_that_one_run_lacks_do_not_count() -> None:
    rows = rows_of_two_runs(4, 0.4)
    rest = rows[(rows["run"] == "none") | (rows["group"] < 100)]
    expected = exchange_worth(rows[rows["group"] < 100], "B2", "B3", "x")
    assert exchange_worth(rest, "B2", "B3", "x").equals(expected)
