"""Effects of seats are found where they are, apart from who sits there, with intervals that cover."""

import numpy as np
import pandas as pd
import pytest

from test_analysis_tables import CALM, played, rows
from velonimo_sim.analysis import seat_effects, seats_after
from velonimo_sim.errors import UsageError


def planted(deals: int, seats: list[float], bots: list[float], luck: float, seed: int) -> pd.DataFrame:
    """Return rows whose points are the sum of a seat's effect, a bot's effect, the bot's luck in the deal and noise."""
    frame, rng = played(dict(zip("abcd", bots, strict=True)), deals, seed), np.random.default_rng([seed, 1])
    bot = frame["bot"].cat.codes.to_numpy()
    lucky = rng.normal(0, luck, (deals, 4))[frame["deal_id"], bot]
    points = 50 + np.array(seats)[frame["seat"]] + np.array(bots)[bot] + lucky + rng.normal(0, 3, len(frame))
    return frame.assign(total=points)


def test_planted_effects_of_seats_are_found() -> None:
    effects = [4.0, 1.0, -1.0, -4.0]
    table = seat_effects(planted(2_000, effects, [20, 5, 0, -10], luck=3, seed=1), "total")
    assert table["seat"].tolist() == [0, 1, 2, 3]
    assert table["groups"].tolist() == [2_000] * 4
    assert table["effect"].to_numpy() == pytest.approx(effects, abs=0.2)
    assert (table["high"] - table["low"]).max() < 0.4
    assert ((table["low"] < effects) & (effects < table["high"])).all()
    assert table["effect"].sum() == pytest.approx(0, abs=1e-9)


def test_the_mean_of_a_seat_is_that_of_its_rows() -> None:
    frame = played(CALM, 50, seat_effects=[1, 0, 0, 0])
    for outcome in ("won", "place", "total"):
        found = seat_effects(frame, outcome)["mean"].to_numpy()
        assert found == pytest.approx(frame.groupby("seat")[outcome].mean().to_numpy())


def test_a_better_seat_wins_more_and_has_a_lower_place() -> None:
    frame = played(CALM, 500, seat_effects=[0, 0, 1, 0])
    assert seat_effects(frame)["low"][2] > 0.1
    assert seat_effects(frame, "place")["high"][2] < -0.3


def test_strong_bots_do_not_leak_into_their_seats() -> None:
    """Bot a sits in seat 0 three times out of four; the means of the seats differ by far, their effects do not."""
    frame = planted(1_500, [0, 0, 0, 0], [30, 0, 0, 0], luck=1, seed=2)
    one_sided = pd.concat(
        [
            frame,
            *(
                frame[frame["seating_id"] == 0].assign(game_id=lambda f, n=n: f["game_id"] + n * 10_000)
                for n in range(1, 9)
            ),
        ]
    )
    table = seat_effects(one_sided, "total")
    assert table["mean"][0] > table["mean"][1] + 15
    assert table["effect"].abs().max() < 0.25
    assert ((table["low"] < 0) & (table["high"] > 0)).sum() >= 3


def test_with_the_same_seatings_in_all_deals_it_is_the_estimate_of_each_deal() -> None:
    """The estimate of a deal is pinv(X'X) X'y; effects are their mean, and intervals rest on their variance."""
    frame = played(CALM, 60, seat_effects=[0.5, 0, 0, 0], luck=1)
    by_deal = []
    for _, deal in frame.groupby("deal_id"):
        design = np.concatenate([np.eye(4)[deal["bot"].cat.codes], np.eye(4)[deal["seat"]]], axis=1)
        fitted = np.linalg.pinv(design.T @ design) @ design.T @ deal["won"].to_numpy(np.float64)
        by_deal.append(fitted[4:] - fitted[4:].mean())
    table = seat_effects(frame)
    assert table["effect"].to_numpy() == pytest.approx(np.mean(by_deal, axis=0))
    half = 2.001 * np.std(by_deal, axis=0, ddof=1) / np.sqrt(60)  # 2.001: Student, 59 degrees of freedom
    assert ((table["high"] - table["low"]) / 2).to_numpy() == pytest.approx(half, rel=0.01)


@pytest.mark.parametrize("games_of_a_deal", [4, 1])
def test_where_seats_are_equal_95_percent_of_the_intervals_have_0(games_of_a_deal: int) -> None:
    """With four games a deal, and with one, where the next deal has the next seating."""
    covered = []
    for seed in range(150):
        frame = played(CALM, 80, seed, luck=1 if games_of_a_deal == 4 else 0)
        if games_of_a_deal == 1:
            frame["deal_id"] = frame["game_id"]
        table = seat_effects(frame, "place")
        covered.append((table["low"] < 0) & (table["high"] > 0))
    assert 0.92 <= np.mean(covered) <= 0.98  # four seats of 150 tournaments: a deviation of at most 1 %


def test_one_bot_in_all_seats_tells_seats_apart() -> None:
    frame = played([("a", 0.0)] * 4, 300, seat_effects=[1, 0, 0, 0])
    table = seat_effects(frame)
    assert table["effect"].to_numpy() == pytest.approx(table["mean"].to_numpy() - 0.25)
    assert table["low"][0] > 0


@pytest.mark.parametrize(
    "frame",
    [
        rows("0: a 30 1, b 20 2", "1: a 10 2, b 20 1"),
        rows("0: a 30 1, b 20 2, c 10 3, d 0 4", "1: b 30 1, a 20 2, d 10 3, c 0 4"),
    ],
)
def test_bots_that_keep_their_seats_are_told(frame: pd.DataFrame) -> None:
    """Who sits where: always the same, or two bots in two seats and two others in the other two."""
    with pytest.raises(UsageError, match="seats and bots cannot be told apart: bots have to change seats"):
        seat_effects(frame)


def test_one_deal_has_a_wide_interval() -> None:
    table = seat_effects(rows("0: a 30 1, b 20 2", "0: b 30 1, a 20 2"))
    assert table["effect"].tolist() == pytest.approx([0.5, -0.5])
    assert (table["high"] - table["low"]).min() > 1
    assert np.isfinite(table[["low", "high"]].to_numpy()).all()


def test_an_unknown_outcome_is_told() -> None:
    with pytest.raises(UsageError, match="unknown outcome 'wins': there are won, total, place"):
        seat_effects(played(CALM, 2), "wins")


# Neighbours.


def test_seats_are_counted_from_a_bot_in_the_order_of_play() -> None:
    frame = rows("1: a 9 1, b 5 2, b 1 3", "1: b 9 1, b 5 2, a 1 3", "2: b 9 1, a 5 2, b 1 3")
    assert seats_after(frame, "a").tolist() == [0, 1, 2, 1, 2, 0, 2, 0, 1]


def test_a_bot_in_two_seats_or_none_has_no_seat_after_it() -> None:
    for frame in (rows("1: a 9 1, a 5 2, b 1 3"), rows("1: a 9 1, b 5 2", "2: b 9 1, c 5 2")):
        with pytest.raises(UsageError, match="bot 'a': needed are games in which it has one seat"):
            seats_after(frame, "a")
