"""Planted shares of luck are found, and as many games as are said to be needed do show the difference."""

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from test_analysis_tables import CALM, played
from velonimo_sim.analysis import games_needed, paired_difference, variance_shares
from velonimo_sim.errors import UsageError

BOTS = np.array(["a", "b", "c", "d"])
STRENGTHS = np.array([3.0, 1.0, -1.0, -3.0])
"""Their variance is 5."""
SITS = (np.arange(4) - np.arange(4)[:, None]) % 4
"""[game of a deal, seat] is the bot that sits there."""


def planted(
    deals: int, seed: int, luck: float, play: float, strengths: NDArray[np.float64] = STRENGTHS
) -> NDArray[np.float64]:
    """Return points as [deal, game, seat]: strength, the luck of the seat in the deal, and what a game adds.

    ``luck`` and ``play`` are standard deviations. The points of a game have the same sum, as they do in the game, so
    what luck and play give to one seat they take from the others.
    """
    rng = np.random.default_rng([seed, deals])
    lucky = rng.normal(0, luck, (deals, 1, 4)) * np.sqrt(4 / 3)
    chance = rng.normal(0, play, (deals, 4, 4)) * np.sqrt(4 / 3)
    points = lucky + chance
    return 20 + strengths[SITS] + points - points.mean(axis=2, keepdims=True)


def rows(points: NDArray[np.float64]) -> pd.DataFrame:
    """Return points, [deal, game, seat], as game rows; the most points win."""
    deal, game, seat = np.indices(points.shape)
    place = 1 + (points[..., None, :] > points[..., :, None]).sum(axis=-1)
    columns = {
        "game_id": 4 * deal + game,
        "deal_id": deal,
        "seat": seat,
        "bot": np.broadcast_to(BOTS[SITS], points.shape),
        "total": points,
        "place": place,
        "won": place == 1,
    }
    return pd.DataFrame({name: values.ravel() for name, values in columns.items()})


# Shares of the variance.


@pytest.mark.parametrize(("luck", "play"), [(3.0, 2.0), (0.0, 4.0), (2.0, 0.5)])
def test_planted_shares_are_found_and_make_up_the_whole(luck: float, play: float) -> None:
    table = variance_shares(rows(planted(4_000, 1, luck, play)))
    truth = np.array([luck**2, 5.0, play**2]) / (luck**2 + 5 + play**2)
    assert table["part"].tolist() == ["deal", "bots", "play"]
    assert table["share"].to_numpy() == pytest.approx(truth, abs=0.012)
    assert table["share"].sum() == pytest.approx(1)
    assert (table["high"] - table["low"]).max() < 0.04
    assert (table.attrs["games"], table.attrs["deals"], table.attrs["outcome"]) == (16_000, 4_000, "total")
    assert table.attrs["variance"] == pytest.approx(luck**2 + 5 + play**2, rel=0.03)


@pytest.mark.parametrize("luck", [2.0, 0.0])
def test_95_percent_of_the_intervals_cover_the_share(luck: float) -> None:
    """Also where no luck is planted: the share of the deal is then 0."""
    truth = np.array([luck**2, 5.0, 4.0]) / (luck**2 + 9)
    covered = np.zeros(3)
    for seed in range(500):
        table = variance_shares(rows(planted(60, seed, luck, 2.0)))
        covered += (table["low"] <= truth) & (truth <= table["high"])
    assert covered.min() >= 0.93 * 500
    assert covered.max() <= 0.97 * 500


def test_it_is_the_two_way_analysis_of_variance() -> None:
    """Mean squares of seats of deals, and of residuals; with many deals nothing is left of the bias."""
    frame = rows(planted(2_000, 2, 3, 2))
    table = frame.assign(seat=4 * frame["deal_id"] + frame["seat"]).pivot(index="seat", columns="bot", values="total")
    of_bots, of_seats, mean = table.mean(), table.mean(axis=1), table.to_numpy().mean()
    residuals = table.sub(of_seats, axis=0).sub(of_bots, axis=1) + mean
    square_of_seats = 4 * ((of_seats - mean) ** 2).sum() / (len(table) - 1)
    square_of_residuals = (residuals**2).to_numpy().sum() / (len(table) - 1) / 3
    deal, play = (square_of_seats - square_of_residuals) / 4, square_of_residuals
    whole = deal + play + of_bots.var(ddof=0)
    found = variance_shares(frame)["share"].to_numpy()
    assert found[[0, 2]] == pytest.approx([deal / whole, play / whole], abs=1e-3)


def test_luck_of_wins_and_places_is_told_too() -> None:
    frame = rows(planted(500, 3, 3, 1))
    for outcome in ("won", "place"):
        table = variance_shares(frame, outcome)
        assert table["low"][0] > 0.2
        assert table.attrs["outcome"] == outcome


def test_a_higher_level_is_wider() -> None:
    frame = rows(planted(100, 3, 3, 1))
    narrow, wide = (variance_shares(frame, level=level) for level in (0.8, 0.99))
    assert (wide["low"] < narrow["low"]).all()
    assert (wide["share"] == narrow["share"]).all()


# Games that are needed.


def variances(luck: float, play: float) -> tuple[float, float]:
    """Return the variance a game of the difference of two bots, single and duplicate.

    In a game each has its own luck, and all of what play adds: the difference has twice their variance, and a third
    more, since the sum of the points is fixed. Over the rotations of a deal luck falls out.
    """
    return 8 / 3 * (luck**2 + play**2), 8 / 3 * play**2


def test_the_variance_of_a_game_and_the_saving_are_those_planted() -> None:
    table = games_needed(rows(planted(4_000, 4, 3, 2)), "a", "b", "total", differences=[1, 4])
    single, duplicate = variances(3, 2)
    assert table["variance_single"].to_numpy() == pytest.approx([single] * 3, rel=0.03)
    assert table["variance_duplicate"].to_numpy() == pytest.approx([duplicate] * 3, rel=0.05)
    assert table["saving"].to_numpy() == pytest.approx([9 / 13] * 3, abs=0.02)
    assert table["difference"].tolist() == [table.attrs["seen"], 1, 4]
    assert table.attrs["seen"] == pytest.approx(2, abs=0.1)
    assert table["single"][1] == pytest.approx((1.959964 + 0.841621) ** 2 * single, rel=0.03)
    assert table["single"][1] == pytest.approx(16 * table["single"][2], rel=0.02)
    assert (table["duplicate"] % 4 == 0).all()


@pytest.mark.parametrize(("luck", "truth"), [(3.0, 9 / 13), (0.0, 0.0)])
def test_95_percent_of_the_intervals_cover_the_saving(luck: float, truth: float) -> None:
    """Also where nothing is saved, since there is no luck."""
    tables = [games_needed(rows(planted(200, seed, luck, 2)), "a", "b", "total") for seed in range(500)]
    covered = sum(table["low"][0] <= truth <= table["high"][0] for table in tables)
    assert 0.93 * 500 <= covered <= 0.97 * 500


@pytest.mark.parametrize("design", ["single", "duplicate"])
def test_with_as_many_games_the_difference_is_seen_as_often_as_asked(design: str) -> None:
    """Of many runs of so many games, those whose interval leaves out 0 are 80 %, the power asked for."""
    strengths = np.array([0.4, -0.4, 0, 0])
    pilot = rows(planted(4_000, 5, 3, 2, strengths))
    games = int(games_needed(pilot, "a", "b", "total", [0.8])[design].iloc[-1])
    deals = games // (4 if design == "duplicate" else 1)
    sees = np.argsort(SITS, axis=1)  # [game, bot] is the seat of a bot
    seen = 0
    for seed in range(400):
        points = planted(deals, 1_000 + seed, 3, 2, strengths)
        difference = points[:, np.arange(4), sees[:, 0]] - points[:, np.arange(4), sees[:, 1]]
        if design == "single":
            of_deals = difference[np.arange(deals), np.arange(deals) % 4]
        else:
            of_deals = difference.mean(axis=1)
        seen += abs(of_deals.mean()) > 1.96 * of_deals.std(ddof=1) / np.sqrt(deals)
    assert 0.74 * 400 <= seen <= 0.86 * 400


def test_the_variance_of_duplicate_deals_is_that_of_the_paired_difference() -> None:
    frame = played(CALM, 400, luck=1)
    table, paired = games_needed(frame, "a", "d"), paired_difference(frame, "a", "d")
    assert table["difference"][0] == pytest.approx(100 * paired.mean)
    half = 1.96 * np.sqrt(table["variance_duplicate"][0] / 1_600)
    assert half == pytest.approx((paired.high - paired.low) / 2, rel=0.02)


def test_games_are_not_asked_for_a_difference_that_is_not_there() -> None:
    frame = played(CALM, 40)
    same = pd.concat([frame, frame.assign(deal_id=lambda f: f["deal_id"] + 40, game_id=lambda f: f["game_id"] + 160)])
    swapped = same["bot"].astype(str).where(same["deal_id"] < 40, same["bot"].astype(str).replace({"a": "b", "b": "a"}))
    table = games_needed(same.assign(bot=swapped), "a", "b")
    assert table.attrs["seen"] == 0
    assert table["difference"].tolist() == [1, 2, 5]


def test_a_difference_that_is_rounding_is_none() -> None:
    """In half of the deals the bots have changed places, so that their means differ by the order of adding up alone."""
    frame = rows(planted(30, 3, 3, 2))
    swapped = frame.assign(bot=frame["bot"].replace({"a": "b", "b": "a"}), deal_id=59 - frame["deal_id"])
    both = pd.concat([frame, swapped.assign(game_id=swapped["game_id"] + 120)])
    table = games_needed(both, "a", "b", "total", differences=[1])
    assert table.attrs["seen"] == 0
    assert table["difference"].tolist() == [1]


def test_a_difference_that_takes_more_games_than_can_be_played_is_told() -> None:
    frame = played(CALM, 40)
    assert games_needed(frame, "a", "b", differences=[1e-4])["single"].iloc[-1] > 10**11
    with pytest.raises(UsageError, match=r"^differences \[1, 1e-08\]: 1e-08 takes more than 1e\+15 games$"):
        games_needed(frame, "a", "b", differences=[1, 1e-8])


def test_a_bot_in_several_seats_counts_by_its_mean() -> None:
    frame = played([("a", 1.0), ("b", 0.0), ("b", 0.0)], 200)
    table = games_needed(frame, "a", "b")
    assert table.attrs["seen"] == pytest.approx(100 * paired_difference(frame, "a", "b").mean)


def test_bad_input_is_one_line() -> None:
    frame = played(CALM, 5)
    twice = played([("a", 1.0), ("b", 0.0), ("b", 0.0)], 5)
    once = frame[frame["seating_id"] == 0]
    for run, words in ((twice, "not every bot plays every seat"), (once, "not every bot plays every seat")):
        with pytest.raises(UsageError, match=words):
            variance_shares(run)
    with pytest.raises(UsageError, match="2 deals: needed are 3 or more"):
        variance_shares(played(CALM, 2))
    with pytest.raises(UsageError, match="all have the same total"):
        variance_shares(frame.assign(total=7))
    with pytest.raises(UsageError, match="level 1"):
        variance_shares(frame, level=1)
    with pytest.raises(UsageError, match="unknown outcome 'points'"):
        variance_shares(frame, "points")
    with pytest.raises(UsageError, match="deals are not all played by the same seatings"):
        games_needed(once, "a", "b")
    with pytest.raises(UsageError, match="bot 'b' is not in every game"):
        games_needed(pd.concat([played({"a": 1, "b": 0}, 5), played({"a": 1, "c": 0}, 5, first_deal=5)]), "b", "a")
    with pytest.raises(UsageError, match="the difference of a and b is the same in all deals"):
        games_needed(frame.assign(total=7), "a", "b", "total")
    with pytest.raises(UsageError, match=r"differences \[0\]: allowed are numbers above 0"):
        games_needed(frame, "a", "b", differences=[0])
    with pytest.raises(UsageError, match="power 1"):
        games_needed(frame, "a", "b", power=1)
