"""The worth of a card beside another: a planted one is found, a planted zero is none, and bad input is one line."""

import numpy as np
import pandas as pd
import pytest

from velonimo_sim.analysis import exchange_worth
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
    for run, (has_b2, has_b3) in {"1 as dealt": (holder, other), "2 exchanged": (other, holder)}.items():
        b2, b3 = has_b2 == seats, has_b3 == seats
        outcome = deal_effect + worth * b2 + rng.normal(0, 0.5, (DEALS, 2))
        frame = pd.DataFrame({"group": np.repeat(np.arange(DEALS), 2), "seat": np.tile(seats, DEALS)})
        runs.append(frame.assign(game_id=frame["group"], run=run, B2=b2.ravel(), B3=b3.ravel(), x=outcome.ravel()))
    return pd.concat(runs, ignore_index=True)


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
    apart = exchange_worth(rows.assign(group=rows["group"] + DEALS * (rows["run"] == "2 exchanged")), "B2", "B3", "x")
    assert paired["mean"].equals(apart["mean"])
    widths = [float((table["high"] - table["low"]).iloc[0]) for table in (paired, apart)]
    assert widths[0] < 0.6 * widths[1]


def test_hands_with_both_cards_or_none_do_not_count() -> None:
    rows = rows_of_two_runs(2, 0.4)
    table = exchange_worth(rows, "B2", "B3", "x")
    held = rows[rows["run"].eq("1 as dealt") & rows["B2"] & ~rows["B3"]]
    instead = rows[rows["run"].eq("2 exchanged") & rows["B3"] & ~rows["B2"]]
    assert held.index.tolist() == (instead.index - 2 * DEALS).tolist(), "the same seats of the same deals"
    assert table["mean"].iloc[0] == pytest.approx(held["x"].mean() - instead["x"].mean())
    assert table[["card", "instead", "rows"]].to_numpy().tolist() == [["B2", "B3", len(held)]]
    assert (table.attrs["outcome"], table.attrs["games"], table.attrs["deals"]) == ("x", 2 * DEALS, DEALS)


def test_what_cannot_be_compared_is_one_clear_line() -> None:
    rows = rows_of_two_runs(3, 0.0)
    with pytest.raises(UsageError, match=r"^exchange of B2 and B3: 1 runs, needed are 2: as dealt, and exchanged$"):
        exchange_worth(rows[rows["run"] == "1 as dealt"], "B2", "B3", "x")
    with pytest.raises(UsageError, match=r"^exchange of B2 and B3: no hand holds just one of them in both runs$"):
        exchange_worth(rows.assign(B3=rows["B2"]), "B2", "B3", "x")
    with pytest.raises(UsageError, match="B4"):
        exchange_worth(rows, "B2", "B4", "x")
