"""Means by any columns: planted effects are found, intervals cover what they promise, and errors are one line."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from test_analysis_tables import CALM, rows
from test_analysis_tables import played as played_rotations
from velonimo_sim.analysis import (
    bot_table,
    bounded_interval,
    breakdown,
    differences_by,
    outcomes_by,
    wilson_interval,
)
from velonimo_sim.analysis.breakdown import MomentsBy, moments_by, moments_of
from velonimo_sim.errors import UsageError

OUTCOMES = ["won", "total", "place"]
BOTS = ["a", "b", "c"]
STRENGTHS = np.array([0.6, 0.0, 0.0])
SEATS = np.array([0.5, 0.0, 0.0])
CARD = 0.5
"""What a card adds to the score of the seat that it is dealt to, in all games of the deal."""
LUCK_OF_SEAT, LUCK_OF_BOT = 1.0, 2.5
"""Standard deviations of what the other cards of a deal add to a seat, and of how well they suit a bot."""

REPEATS, DEALS = 500, 60


def played(
    deals: int, seed: int, repeats: int = 1, change: Sequence[float] = (0, 0, 0), noise_seed: int = 0
) -> pd.DataFrame:
    """Return the rows of deals of three seats, each played with all rotations of three bots, by repeats of so many.

    A score is what the bot, the seat and its cards are worth, and Gumbel noise. Seats are dealt 0-2 cards ``card`` that
    are worth something, and as many ``dull`` ones that are not. Runs of one seed have the same deals; ``change`` makes
    the bots stronger in this one, and ``noise_seed`` gives it its noise.
    """
    rng, noise = np.random.default_rng([seed, 0]), np.random.default_rng([seed, 1, noise_seed])
    shape = repeats * deals, 3, 3  # deal, game, seat
    cards, dull = rng.choice(3, (2, len(BOTS), shape[0]), p=[0.5, 0.35, 0.15]).transpose(0, 2, 1)
    lucky_seat, lucky_bot = rng.normal(0, LUCK_OF_SEAT, (shape[0], 3)), rng.normal(0, LUCK_OF_BOT, (shape[0], 3))
    sits = (np.arange(3) + np.arange(3)[:, None]) % 3
    by_seat, by_bot = SEATS + CARD * cards + lucky_seat, STRENGTHS + np.array(change) + lucky_bot
    score = by_seat[:, None, :] + by_bot[:, sits] + noise.gumbel(size=shape)
    place = 1 + (score[..., None, :] > score[..., :, None]).sum(axis=-1)
    deal, game, seat = np.indices(shape)
    columns = {
        "repeat": deal // deals,
        "deal_id": deal,
        "game_id": deal * 3 + game,
        "seat": seat,
        "bot": np.broadcast_to(sits, shape),
        "card": np.broadcast_to(cards[:, None, :], shape),
        "dull": np.broadcast_to(dull[:, None, :], shape),
        "total": np.clip(np.round(60 + 4 * score), 0, 120).astype(np.int64),
        "place": place,
        "won": place == 1,
    }
    frame = pd.DataFrame({name: values.ravel() for name, values in columns.items()})
    return frame.assign(bot=pd.Categorical.from_codes(frame["bot"], BOTS))


@cache
def repeats_played(first: int) -> pd.DataFrame:
    return played(DEALS, seed=10 + first, repeats=50)


def in_repeats(table_of: Callable[[pd.DataFrame], pd.DataFrame]) -> pd.DataFrame:
    """Return the tables of all repeats; deals of other repeats are other deals, and many repeats fit into one call."""
    return pd.concat([table_of(repeats_played(first)) for first in range(REPEATS // 50)], ignore_index=True)


@cache
def many_deals(change: Sequence[float] = (0, 0, 0)) -> pd.DataFrame:
    """Return so many deals that their means are as good as true beside those of ``DEALS``."""
    return played(100_000, seed=1, change=change)


def true_means(by: list[str], outcome: str, change: Sequence[float] = (0, 0, 0)) -> "pd.Series[float]":
    return many_deals(change).groupby(by, observed=True)[outcome].mean()


def covered(table: pd.DataFrame, true: "pd.Series[float]") -> float:
    """Return the share of rows whose interval has the true value of their key."""
    joined = table.join(true.rename("true"), on=list(true.index.names))
    return float(((joined["low"] <= joined["true"]) & (joined["true"] <= joined["high"])).mean())


# Coverage.


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("by", ["bot", "seat", "card", "dull"])
def test_intervals_of_means_cover_95_percent(by: str, outcome: str) -> None:
    """Of 500 runs of 60 deals; by bot and seat a deal has three rows of each key, by cards none to nine."""
    table = in_repeats(lambda frame: outcomes_by(frame, ["repeat", by], outcome))
    assert 0.93 <= covered(table, true_means([by], outcome)) <= 0.97


BASELINES = {"bot": "b", "seat": 1, "card": 0, "dull": 0}


@cache
def differences(across: str, outcome: str) -> pd.DataFrame:
    return in_repeats(lambda frame: differences_by(frame, across, ["repeat"], outcome, BASELINES[across]))


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("across", BASELINES)
def test_intervals_of_differences_cover_95_percent(across: str, outcome: str) -> None:
    table, means = differences(across, outcome), true_means([across], outcome)
    assert len(table) == 2 * REPEATS
    assert 0.93 <= covered(table, means - means[BASELINES[across]]) <= 0.97


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_intervals_of_differences_of_differences_cover_95_percent(outcome: str) -> None:
    """By how much more a card helps bot a than bot b."""
    weights_of = {("a", 1): 1.0, ("a", 0): -1.0, ("b", 1): -1.0, ("b", 0): 1.0}

    def contrasts(frame: pd.DataFrame) -> pd.DataFrame:
        moments = moments_by(frame, ["repeat", "bot", "card"], outcome)
        keys = moments.keys
        weights = np.array([weights_of.get(key, 0.0) for key in zip(keys["bot"], keys["card"], strict=True)])
        found = [moments.contrast(weights * (keys["repeat"] == repeat).to_numpy()) for repeat in range(50)]
        return pd.DataFrame(found, columns=["mean", "low", "high"])

    means = true_means(["bot", "card"], outcome)
    true = sum(weight * means[key] for key, weight in weights_of.items())
    table = in_repeats(contrasts)
    assert 0.93 <= ((table["low"] <= true) & (true <= table["high"])).mean() <= 0.97


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_intervals_of_rows_as_if_independent_would_not_cover(outcome: str) -> None:
    """What the deals are there for: the same means with the same intervals, but for rows that are called deals."""
    table = in_repeats(lambda frame: outcomes_by(frame.assign(group=frame.index), ["repeat", "bot"], outcome))
    assert covered(table, true_means(["bot"], outcome)) < 0.9


def test_repeats_in_one_call_are_those_in_calls_of_their_own() -> None:
    """So that the tests above may put many into one; also, a key's interval rests on its own rows alone."""
    together = outcomes_by(repeats_played(0), ["repeat", "card"]).query("repeat == 7")
    alone = outcomes_by(repeats_played(0).query("repeat == 7"), ["repeat", "card"])
    pd.testing.assert_frame_equal(together.reset_index(drop=True), alone, rtol=1e-12)


# Planted effects.


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize(("across", "other"), [("bot", "c"), ("seat", 2), ("dull", 1), ("dull", 2)])
def test_effects_of_0_are_found_at_the_rate_of_error(across: str, other: object, outcome: str) -> None:
    table = differences(across, outcome)
    of_nothing = table[table[across] == other]
    assert len(of_nothing) == REPEATS
    assert 0.03 <= ((of_nothing["low"] > 0) | (of_nothing["high"] < 0)).mean() <= 0.07


@pytest.mark.parametrize(
    ("across", "effect"), [("bot", [-STRENGTHS[0]] * 2), ("seat", [-SEATS[0]] * 2), ("card", [CARD, 2 * CARD])]
)
def test_planted_effects_are_found(across: str, effect: list[float]) -> None:
    """A score of 1 is 4 points."""
    table = differences_by(played(4_000, seed=3), across, outcome="total")
    assert np.all((table["low"] > 0) | (table["high"] < 0))
    assert (table["high"] - table["low"]).max() < 1
    assert np.all((table["low"] <= 4 * np.array(effect)) & (4 * np.array(effect) <= table["high"]))


# Runs that share deals.


CHANGE = (0, 0.4, 0)
"""How much stronger the variant makes the bots."""


@cache
def two_runs(seed: int, shared: bool) -> pd.DataFrame:
    """Return 50 repeats of a run and of its variant, of the same deals or of others."""
    base = played(DEALS, seed, 50).assign(run="base")
    variant = played(DEALS, seed if shared else seed + 1_000, 50, CHANGE, noise_seed=1).assign(run="variant")
    variant["group"] = variant["deal_id"] + (0 if shared else 50 * DEALS)
    return pd.concat([base.assign(group=base["deal_id"]), variant], ignore_index=True)


def changes(shared: bool, outcome: str) -> pd.DataFrame:
    """Return what the variant changes in 500 repeats."""
    tables = [differences_by(two_runs(seed, shared), "run", ["repeat", "bot"], outcome) for seed in range(100, 110)]
    return pd.concat(tables, ignore_index=True)


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_runs_of_the_same_deals_are_compared_deal_by_deal(outcome: str) -> None:
    """The intervals are much smaller, and cover as those of other deals do."""
    true = true_means(["bot"], outcome, CHANGE) - true_means(["bot"], outcome)
    paired, unpaired = changes(True, outcome), changes(False, outcome)
    assert 0.93 <= covered(paired, true) <= 0.97
    assert 0.93 <= covered(unpaired, true) <= 0.97
    widths = [(table["high"] - table["low"]).mean() for table in (paired, unpaired)]
    assert widths[0] < 0.65 * widths[1]
    assert np.sign(true["b"]) == np.sign(paired.query("bot == 'b'")["mean"].mean())


def test_games_of_two_runs_are_counted_apart_and_their_deals_together() -> None:
    frame = two_runs(100, shared=True).query("repeat == 0")
    table = outcomes_by(frame, ["bot"])
    assert table["games"].tolist() == [2 * 3 * DEALS] * 3
    assert table["deals"].tolist() == [DEALS] * 3
    assert (table.attrs["games"], table.attrs["deals"]) == (2 * 3 * DEALS, DEALS)


# The same as elsewhere.


class Slow(NamedTuple):
    """A mean and its interval, computed deal by deal."""

    mean: float
    low: float
    high: float


def slow_mean(frame: pd.DataFrame, outcome: str, bounds: tuple[float, float]) -> Slow:
    """Return the ratio of sums over the deals of some rows, with the variance of the ratio linearised."""
    of_deals = [(len(deal), float(deal[outcome].sum())) for _, deal in frame.groupby("deal_id")]
    rows_in_all, deals = sum(count for count, _ in of_deals), len(of_deals)
    mean = sum(total for _, total in of_deals) / rows_in_all
    squares = sum((total - mean * count) ** 2 for count, total in of_deals)
    variance = squares / rows_in_all**2 * deals / (deals - 1)
    return Slow(mean, *bounded_interval(mean, variance, deals, bounds))


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_means_and_intervals_are_those_computed_deal_by_deal(outcome: str) -> None:
    frame = played(30, seed=4)
    bounds = (0, 1) if outcome == "won" else (frame[outcome].min(), frame[outcome].max())
    table = outcomes_by(frame, ["bot", "card"], outcome)
    expected = [slow_mean(of_key, outcome, bounds) for _, of_key in frame.groupby(["bot", "card"], observed=True)]
    assert table[["mean", "low", "high"]].to_numpy() == pytest.approx(np.array(expected), rel=1e-9)


def test_by_bot_it_is_the_table_of_bots() -> None:
    frame = played_rotations(CALM, 60, luck=2)
    assert frame["total"].min() == 0, "so that the bounds are the same"
    expected = bot_table(frame)
    columns = {
        "won": ["win_share", "low", "high"],
        "total": ["mean_points", "points_low", "points_high"],
        "place": ["mean_place", "place_low", "place_high"],
    }
    for outcome, names in columns.items():
        table = outcomes_by(frame, ["bot"], outcome)
        assert table["bot"].tolist() == expected["bot"].tolist()
        assert table["rows"].tolist() == expected["games"].tolist()
        assert table[["mean", "low", "high"]].to_numpy() == pytest.approx(expected[names].to_numpy(), rel=1e-9)


def test_with_one_game_a_deal_shares_have_wilsons_interval() -> None:
    frame = played_rotations(CALM, 70).query("seating_id == 0")
    for level in (0.9, 0.95):
        for key in outcomes_by(frame, ["bot"], level=level).itertuples():
            wins = frame.loc[frame["bot"] == key.bot, "won"].sum()
            assert (key.low, key.high) == pytest.approx(wilson_interval(wins, 70, level), rel=1e-12)


def assert_same(table: pd.DataFrame, other: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(table, other, rtol=1e-9)
    assert table.attrs == other.attrs


@pytest.mark.parametrize("batches", [1, 7, 30])
def test_batches_and_the_order_of_rows_change_nothing(monkeypatch: pytest.MonkeyPatch, batches: int) -> None:
    """Some batches lack keys, and keys appear in another order; deals are whole, and in any order."""
    frame = played(30, seed=5)
    by = ["card", "bot"]
    expected = outcomes_by(frame, by, "total"), differences_by(frame, "card", ["bot"], "total")
    shuffled = frame.assign(group=frame["deal_id"], run="run").sample(frac=1, random_state=1)
    deals = np.array_split(np.random.default_rng(6).permutation(30), batches)
    parts = [shuffled[shuffled["group"].isin(part)] for part in deals]

    def in_parts(_: object, columns: Iterable[str], shared: bool = False) -> list[pd.DataFrame]:  # noqa: ARG001
        return [part[["group", *dict.fromkeys(columns)]] for part in parts]

    monkeypatch.setattr(breakdown, "batches", in_parts)
    assert_same(outcomes_by(frame, by, "total"), expected[0])
    assert_same(differences_by(frame, "card", ["bot"], "total"), expected[1])


# What is in the tables.


GAMES = rows("0: a 30 1, b 20 2, a 10 3", "0: b 10 3, a 40 1, a 20 2", "1: a 0 3, b 60 1, c 5 2")


def test_rows_games_and_deals_of_a_key() -> None:
    table = outcomes_by(GAMES, ["bot"], "total")
    assert table.columns.tolist() == ["bot", "mean", "low", "high", "rows", "games", "deals"]
    counts = table.set_index("bot")[["mean", "rows", "games", "deals"]]
    assert counts.to_numpy().tolist() == [[20, 5, 3, 2], [30, 3, 3, 2], [5, 1, 1, 1]]
    assert table.attrs == {"outcome": "total", "games": 3, "deals": 2}


def test_by_nothing_it_is_the_mean_of_all() -> None:
    table = outcomes_by(GAMES, [], "total")
    assert table.columns.tolist() == ["mean", "low", "high", "rows", "games", "deals"]
    assert table[["mean", "rows", "games", "deals"]].to_numpy().tolist() == [[195 / 9, 9, 3, 2]]


def test_conditions_choose_rows() -> None:
    chosen = outcomes_by(GAMES, ["seat"], "total", where={"bot": "a", "deal_id": 0})
    assert chosen["seat"].tolist() == [0, 1, 2]
    assert chosen["mean"].tolist() == [30, 40, 15]
    assert chosen["rows"].tolist() == [1, 1, 2]
    assert chosen.attrs == {"outcome": "total", "games": 2, "deals": 1}


def test_keys_are_in_ascending_order_and_keep_their_types() -> None:
    frame = GAMES.assign(
        category=pd.Categorical(GAMES["bot"], ["c", "b", "a"]),
        flag=GAMES["total"] >= 20,
        number=(40 - GAMES["total"]).astype(np.int8),
        text=GAMES["bot"].astype(object),
        half=GAMES["seat"] / 2,
    )
    expected = {
        "category": ["c", "b", "a"],
        "flag": [False, True],
        "number": [-20, 0, 10, 20, 30, 35, 40],
        "text": ["a", "b", "c"],
        "half": [0, 0.5, 1],
    }
    for name, values in expected.items():
        table = outcomes_by(frame, [name], "total")
        assert table[name].tolist() == values
        assert table[name].dtype == frame[name].dtype
    both = outcomes_by(frame, ["flag", "category"], "total")
    assert list(zip(both["flag"], both["category"], strict=True)) == [
        (False, "c"),
        (False, "b"),
        (False, "a"),
        (True, "b"),
        (True, "a"),
    ]


def test_a_column_that_is_named_twice_counts_once() -> None:
    assert_same(outcomes_by(GAMES, ["bot", "bot"]), outcomes_by(GAMES, ["bot"]))


def test_rows_without_a_key_are_a_key_of_their_own() -> None:
    frame = GAMES.assign(key=GAMES["bot"].map({"a": 2.0, "b": 1.0}))
    table = outcomes_by(frame, ["key"], "total")
    assert table["key"].isna().tolist() == [False, False, True]
    assert table["mean"].tolist() == [30, 20, 5]


def test_faults_are_an_outcome_and_a_key_like_others() -> None:
    frame = GAMES.assign(fault=np.int8([0, 0, 1, 0, 0, 0, 3, 0, 0]), faults=[0, 0, 4, 0, 0, 0, 1, 0, 0])
    by_bot = outcomes_by(frame, ["bot"], "faults").set_index("bot")["mean"].to_dict()
    assert by_bot == {"a": 1, "b": 0, "c": 0}
    assert outcomes_by(frame, ["fault"], "total")["mean"].tolist() == [185 / 7, 10, 0]
    assert outcomes_by(frame, ["bot"], "total", where={"fault": 0})["rows"].tolist() == [3, 3, 1]


# Few games.


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("frame", [GAMES.query("game_id == 0"), GAMES.query("deal_id == 0")], ids=["game", "deal"])
def test_one_deal_gives_wide_intervals(frame: pd.DataFrame, outcome: str) -> None:
    """One deal is worth one game, whose interval is Wilson's."""
    bounds = (0, 1) if outcome == "won" else (frame[outcome].min(), frame[outcome].max())
    for key in outcomes_by(frame, ["bot"], outcome).itertuples():
        share = (key.mean - bounds[0]) / (bounds[1] - bounds[0])
        expected = bounds[0] + (bounds[1] - bounds[0]) * np.array(wilson_interval(share, 1))
        assert (key.low, key.high) == pytest.approx(tuple(expected))
        assert key.high - key.low > (bounds[1] - bounds[0]) / 2
    differences = differences_by(frame, "bot", outcome=outcome)
    assert np.isfinite(differences[["mean", "low", "high"]].to_numpy()).all()


def test_a_flag_that_never_was_is_not_known_to_be_impossible() -> None:
    frame = played_rotations(CALM, 25).query("seating_id == 0").assign(won=False)
    table = outcomes_by(frame, ["bot"])
    assert table["low"].tolist() == [0] * 4
    assert table["high"].to_numpy() == pytest.approx([wilson_interval(0, 25)[1]] * 4)


def test_conditions_do_not_narrow_what_is_possible() -> None:
    table = outcomes_by(GAMES, [], "place", where={"bot": "a", "deal_id": 1})
    assert table[["mean", "high"]].to_numpy().tolist() == [[3, 3]]
    assert table["low"].item() == pytest.approx(1 + 2 * wilson_interval(1, 1)[0])


def test_numbers_that_never_differ_have_no_interval() -> None:
    table = outcomes_by(GAMES.assign(swaps=3), ["bot"], "swaps")
    assert table[["mean", "low", "high"]].to_numpy().tolist() == [[3, 3, 3]] * 3


# Differences.


def test_a_difference_is_that_of_the_means() -> None:
    frame = played(30, seed=7)
    means = outcomes_by(frame, ["card", "bot"], "total").set_index(["card", "bot"])
    table = differences_by(frame, "bot", ["card"], "total")
    assert table.columns.tolist() == ["card", "bot", "mean", "low", "high", "rows", "games", "deals"]
    assert list(zip(table["card"], table["bot"], strict=True)) == [(card, bot) for card in range(3) for bot in "bc"]
    for key in table.itertuples():
        of_key, base = means.loc[(key.card, key.bot)], means.loc[(key.card, "a")]
        assert key.mean == pytest.approx(of_key["mean"] - base["mean"])
        assert [key.rows, key.games, key.deals] == of_key[["rows", "games", "deals"]].tolist()
    assert table.attrs == {"outcome": "total", "games": 90, "deals": 30, "across": "bot", "baseline": "a"}
    assert table[["card", "bot"]].dtypes.equals(frame[["card", "bot"]].dtypes)


def test_the_baseline_changes_the_sign_alone() -> None:
    frame = played(30, seed=8)
    b_over_a = differences_by(frame, "bot").set_index("bot").loc["b", ["mean", "low", "high"]]
    a_over_b = differences_by(frame, "bot", baseline="b").set_index("bot").loc["a", ["mean", "high", "low"]]
    assert a_over_b.tolist() == pytest.approx((-b_over_a).tolist())


def test_the_baseline_is_the_least_unless_named() -> None:
    assert differences_by(GAMES, "seat").attrs["baseline"] == 0
    assert differences_by(GAMES, "bot").attrs["baseline"] == "a"
    runs = pd.concat([GAMES.assign(run="new"), GAMES.assign(run="old")])
    named = runs.assign(run=pd.Categorical(runs["run"], ["old", "new"]))
    assert differences_by(named, "run").attrs["baseline"] == "old", "of runs the first"
    assert differences_by(named, "run")["run"].tolist() == ["new"]


def test_keys_without_their_baseline_are_left_out() -> None:
    table = differences_by(GAMES, "bot", ["seat"], "total", baseline="b")
    assert list(zip(table["seat"], table["bot"], strict=True)) == [(0, "a"), (1, "a")], "b never sits in seat 2"


def test_a_baseline_alone_has_nothing_to_be_compared_with() -> None:
    with pytest.raises(UsageError, match="across 'bot': there is nothing to compare with 'a'"):
        differences_by(GAMES, "bot", where={"bot": "a"})


@pytest.mark.slow
def test_intervals_of_shares_cover_95_percent() -> None:
    """Games of a deal have the same cards, so that rows as if independent would give intervals that are too short."""
    tables = in_repeats(lambda frame: moments_by(frame, ["repeat", "card"], "won").shares(["repeat"]))
    true = pd.Series([0.5, 0.35, 0.15], pd.Index([0, 1, 2], name="card"))
    assert 0.93 <= covered(tables, true) <= 0.97
    half = 1.96 * np.sqrt(tables["share"] * (1 - tables["share"]) / (9 * DEALS))
    assert covered(tables.assign(low=tables["share"] - half, high=tables["share"] + half), true) < 0.85


def test_shares_are_those_of_the_rows() -> None:
    frame = played(200, seed=3)
    table = moments_by(frame, ["seat", "card"], "won").shares(["seat"])
    assert table["share"].tolist() == pytest.approx(
        frame.groupby("seat")["card"].value_counts(normalize=True).sort_index().tolist()
    )
    assert table.groupby("seat")["share"].sum().tolist() == pytest.approx([1, 1, 1])
    assert moments_by(frame, ["card"], "won").shares([])["share"].sum() == pytest.approx(1)


def test_a_share_of_all_rows_is_certain() -> None:
    table = moments_by(played(50, seed=3).assign(card=1), ["card"], "won").shares([])
    assert (table["share"] == 1).all()
    assert (table["high"] == 1).all()


def test_groups_may_overlap() -> None:
    """Rows that count as all, and again by seat: the difference of a seat from all has its own interval."""
    frame = played(2_000, seed=4).assign(group=lambda rows: rows["deal_id"], run="run")
    parts = [pd.concat([frame.assign(of="all"), frame.assign(of=frame["seat"].astype(str))], ignore_index=True)]
    moments = moments_of(parts, ["of"], "total")
    assert moments is not None
    assert moments.keys["of"].tolist() == ["0", "1", "2", "all"]
    assert moments.rows.tolist() == [6_000, 6_000, 6_000, 18_000]
    from_all = moments.contrast(np.array([1.0, 0, 0, -1]))
    of_seats = moments.contrast(np.array([2, -1, -1, 0]) / 3)
    assert from_all == pytest.approx(of_seats, rel=1e-2)


def test_no_rows_have_no_moments() -> None:
    assert moments_of([], ["seat"], "won") is None


def test_a_contrast_of_one_key_is_its_mean() -> None:
    moments: MomentsBy = moments_by(played(30, seed=9), ["bot"], "total")
    table = moments.table()
    for key, weights in enumerate(np.eye(3)):
        assert moments.contrast(weights) == pytest.approx(tuple(table.loc[key, ["mean", "low", "high"]]))
        mean, low, high = moments.contrast(-2 * weights)
        assert (mean, high, low) == pytest.approx(tuple(-2 * table.loc[key, ["mean", "low", "high"]]))


def test_the_covariance_of_means_is_that_of_the_deals() -> None:
    """With as many rows in each deal, it is that of the means of the deals, but for the correction for their number."""
    frame = played(30, seed=11)
    by_deal: NDArray[np.float64] = frame.pivot_table("total", "deal_id", "bot", observed=True).to_numpy()
    moments = moments_by(frame, ["bot"], "total")
    assert moments.covariance == pytest.approx(np.cov(by_deal.T, ddof=0) / 30)


# What can be wrong.


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: outcomes_by(GAMES, ["bot"], "wonn"), "unknown column 'wonn': there are game_id, "),
        (lambda: outcomes_by(GAMES, ["bott"]), "unknown column 'bott': there are game_id, "),
        (lambda: outcomes_by(GAMES, ["bot"], where={"set": 1}), "unknown column 'set': there are game_id, "),
        (lambda: outcomes_by(GAMES.drop(columns="deal_id"), ["bot"]), "unknown column 'deal_id': there are game_id, "),
        (lambda: outcomes_by(GAMES[:0], ["bot"]), "there are no rows: the run has no finished games"),
        (
            lambda: outcomes_by(GAMES.astype({"bot": "category"}), ["seat"], "bot"),
            "outcome 'bot': allowed is a column of numbers, and it holds category",
        ),
        (
            lambda: outcomes_by(GAMES.assign(total=GAMES["total"].where(GAMES["bot"] == "a")), ["seat"], "total"),
            "outcome 'total': allowed is a number in every row, and some have none",
        ),
        (
            lambda: outcomes_by(GAMES, ["bot"], where={"bot": "a", "seat": 7}),
            "where bot = 'a' and seat = 7: no row is so",
        ),
        (lambda: outcomes_by(GAMES, ["bot"], where={"seat": [0, 1]}), "where seat = [0, 1]: allowed is one value"),
        (lambda: differences_by(GAMES, "bot", baseline="d"), "baseline 'd': bot is 'a', 'b', 'c'"),
        (lambda: differences_by(GAMES, "seat", baseline=3), "baseline 3: seat is 0, 1, 2"),
        (lambda: differences_by(GAMES, "bot", ["bot"]), "across 'bot': by names it, too; allowed is another column"),
        (lambda: outcomes_by(GAMES, "bot"), "by 'bot': allowed is a list of columns, such as ['bot']"),
        (lambda: outcomes_by(GAMES.assign(x=np.inf), ["bot"], "x"), "outcome 'x': allowed is a number in every row"),
        (lambda: outcomes_by(GAMES, ["bot"], level=95), "level 95: must be between 0 and 1, such as 0.95"),
        (
            lambda: outcomes_by(
                pd.concat([GAMES] * 223).assign(key=range(2_007), game_id=range(2_007)), ["seat", "key"]
            ),
            "by seat, key: allowed are 2,000 combinations of values",
        ),
    ],
)
def test_mistakes_are_told_in_one_line(ask: Callable[[], object], message: str) -> None:
    with pytest.raises(UsageError, match="^" + re.escape(message)) as caught:
        ask()
    assert "\n" not in str(caught.value)
