"""Tables of bots, paired differences and compared runs: the right numbers, by deal, and one-line errors."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from velonimo_sim.analysis import (
    GroupMoments,
    bot_records,
    bot_table,
    bounded_interval,
    compare_runs,
    contrast_interval,
    load,
    pair_table,
    paired_difference,
)
from velonimo_sim.errors import UsageError
from velonimo_sim.tournament import main

CALM = {"a": 0.8, "b": 0.2, "c": 0.0, "d": -0.6}


def played(
    strengths: Mapping[str, float] | Sequence[tuple[str, float]],
    deals: int,
    seed: int = 0,
    seat_effects: Sequence[float] = (0, 0, 0, 0),
    luck: float = 0,
    first_deal: int = 0,
) -> pd.DataFrame:
    """Return the rows of deals played with all rotations of the seats.

    Places are by the model of Plackett and Luce: scores are strength and Gumbel noise. ``luck`` is the standard
    deviation of what a bot's score gains in all games of a deal.
    """
    pairs = list(strengths.items()) if isinstance(strengths, Mapping) else list(strengths)
    names, values = np.array([name for name, _ in pairs]), np.array([value for _, value in pairs])
    players, rng = len(pairs), np.random.default_rng([seed, deals])
    sits = (np.arange(players) - np.arange(players)[:, None]) % players
    lucky = rng.normal(0, luck, (deals, players)) if luck else np.zeros((deals, players))
    score = (values + lucky)[:, sits] + np.array(seat_effects[:players]) + rng.gumbel(size=(deals, players, players))
    place = 1 + (score[..., None, :] > score[..., :, None]).sum(axis=-1)
    game, seating, seat = np.indices((deals, players, players))
    return pd.DataFrame(
        {
            "game_id": (game * players + seating + first_deal * players).ravel(),
            "deal_id": (game + first_deal).ravel(),
            "seating_id": seating.ravel(),
            "seat": seat.ravel(),
            "bot": pd.Categorical(np.broadcast_to(names[sits], score.shape).ravel()),
            "total": np.clip(np.round(20 + 4 * score), 0, 45).astype(np.int32).ravel(),
            "place": place.ravel().astype(np.int8),
            "won": (place == 1).ravel(),
            "fault": np.int8(0),
            "faults": np.int32(0),
        }
    )


def rows(*games: str) -> pd.DataFrame:
    """Return the rows of games, such as ``"7: b 30 1, a 20 2"``: the deal, and by seat bot, points and place."""
    records = []
    for game, text in enumerate(games):
        deal, _, seats = text.partition(": ")
        for seat, words in enumerate(seats.split(", ")):
            bot, total, place = words.split()
            what = {"game_id": game, "deal_id": int(deal), "seat": seat, "bot": bot}
            records.append(what | {"total": int(total), "place": int(place), "won": place == "1"})
    return pd.DataFrame(records)


FOUR_GAMES = rows("0: a 30 1, b 20 2", "0: b 10 2, a 40 1", "1: a 0 2, b 60 1", "1: b 20 2, a 30 1")


# Tables of bots.


def test_a_table_has_what_the_games_have() -> None:
    a, b = bot_table(FOUR_GAMES).to_dict("records")
    means = ["bot", "games", "wins", "win_share", "mean_points", "mean_place"]
    assert [a[name] for name in means] == ["a", 4, 3, 0.75, 25, 1.25]
    assert [b[name] for name in means] == ["b", 4, 1, 0.25, 27.5, 1.75]


def test_intervals_are_those_of_the_means_of_the_deals() -> None:
    """Bot a: win shares 1 and 0.5, points 35 and 15, places 1 and 1.5 in the two deals."""
    a = bot_table(FOUR_GAMES, most_points=80, level=0.9).iloc[0]
    assert (a["low"], a["high"]) == bounded_interval(0.75, 0.125 / 2, 2, (0, 1), 0.9)
    assert (a["points_low"], a["points_high"]) == bounded_interval(25, 200 / 2, 2, (0, 80), 0.9)
    assert (a["place_low"], a["place_high"]) == bounded_interval(1.25, 0.125 / 2, 2, (1, 2), 0.9)


def test_the_greatest_total_is_the_most_points_unless_told() -> None:
    assert bot_table(FOUR_GAMES).equals(bot_table(FOUR_GAMES, most_points=60))
    assert not bot_table(FOUR_GAMES).equals(bot_table(FOUR_GAMES, most_points=61))
    with pytest.raises(UsageError, match="most_points 59: the run has a total of 60"):
        bot_table(FOUR_GAMES, most_points=59)


def test_replays_of_a_deal_do_not_narrow_an_interval() -> None:
    """Each game four times over, as duplicate deals of bots that do not care where they sit would be."""
    once = played(CALM, 100)
    copies = [once.assign(game_id=once["game_id"] + 400 * copy) for copy in range(4)]
    names = ["win_share", "low", "high", "points_low", "points_high", "place_low", "place_high"]
    assert bot_table(pd.concat(copies))[names].to_numpy() == pytest.approx(bot_table(once)[names].to_numpy())


def test_a_bot_in_two_seats_has_the_rows_of_both() -> None:
    table = bot_table(rows("0: a 30 1, a 20 2, b 10 3", "1: a 10 2, a 5 3, b 20 1")).set_index("bot")
    assert table.loc["a", ["games", "wins"]].tolist() == [4, 1]
    assert table.loc["b", ["games", "wins"]].tolist() == [2, 1]
    assert table.loc["a", "mean_place"] == 2


def test_the_order_of_rows_and_the_type_of_bots_change_nothing() -> None:
    frame = played(CALM, 50)
    shuffled = frame.sample(frac=1, random_state=1)
    for other in (shuffled, shuffled.astype({"bot": str}), shuffled.astype({"bot": object})):
        pd.testing.assert_frame_equal(bot_table(frame), bot_table(other), rtol=1e-12)
        assert paired_difference(frame, "a", "b").low == pytest.approx(paired_difference(other, "a", "b").low)


def test_a_summary_that_is_added_up_has_the_same_numbers() -> None:
    frame = played(CALM, 300)
    moments = {outcome: GroupMoments(4) for outcome in ("won", "total", "place")}
    for deals in np.array_split(np.arange(300), 7):
        part = frame[frame["deal_id"].isin(deals)].groupby(["deal_id", "bot"], observed=True)
        for outcome, of_outcome in moments.items():
            of_outcome.add(part[outcome].mean().unstack().to_numpy(np.float64))
    records = bot_records("abcd", [4] * 4, moments, players=4, most_points=float(frame["total"].max()))
    pd.testing.assert_frame_equal(pd.DataFrame(records), bot_table(frame), rtol=1e-12)


def test_without_games_a_record_has_all_that_is_possible() -> None:
    moments = {outcome: GroupMoments(1) for outcome in ("won", "total", "place")}
    (record,) = bot_records(["a"], [4], moments, players=3, most_points=45)
    assert record["games"] == record["wins"] == 0
    assert [record[name] for name in ("win_share", "mean_points", "mean_place")] == [None] * 3
    assert [record["low"], record["high"], record["points_high"], record["place_low"]] == [0, 1, 45, 1]


# Two bots.


def test_a_difference_is_taken_within_each_deal() -> None:
    """Win shares differ by 1 and 0, points by 20 and -25, places by -1 and 0."""
    for outcome, values, span in [("won", [1, 0], 1), ("total", [20, -25], 60), ("place", [-1, 0], 1)]:
        found = paired_difference(FOUR_GAMES, "a", "b", outcome)
        assert (found.mean, found.groups) == (np.mean(values), 2)
        assert (found.low, found.high) == bounded_interval(
            float(np.mean(values)), float(np.var(values, ddof=1)) / 2, 2, (-span, span)
        )


def test_the_other_way_round_it_is_the_other_way_round() -> None:
    there, back = (paired_difference(played(CALM, 50), *bots, outcome="total") for bots in (("a", "b"), ("b", "a")))
    assert (there.mean, there.low, there.high) == pytest.approx((-back.mean, -back.high, -back.low))


def test_luck_that_bots_share_falls_out() -> None:
    """Each deal gives both bots the same points, but for 1; the means alone vary by 20."""
    games = [f"{deal}: a {points + deal % 2} 1, b {points} 2" for deal, points in enumerate(range(0, 40, 2))]
    difference = paired_difference(rows(*games), "a", "b", "total")
    assert difference.mean == 0.5
    assert 0.2 < difference.low < difference.high < 0.8


def test_bots_that_never_differ_have_a_wide_interval_around_0() -> None:
    games = [f"{deal}: a 10 1, b 10 1" for deal in range(30)]
    for outcome in ("won", "total", "place"):
        found = paired_difference(rows(*games), "a", "b", outcome)
        assert found.mean == 0
        assert found.low == pytest.approx(-found.high)
        assert found.high > 0.3


def test_a_contrast_of_moments_is_the_paired_difference() -> None:
    frame = played(CALM, 40)
    moments = GroupMoments(4)
    moments.add(frame.groupby(["deal_id", "bot"], observed=True)["won"].mean().unstack().to_numpy(np.float64))
    found, low, high = contrast_interval(moments, np.array([0.0, 1, 0, -1]), (-1, 1))
    difference = paired_difference(frame, "b", "d")
    assert (found, low, high) == pytest.approx((difference.mean, difference.low, difference.high))


# Two runs.


def test_runs_are_compared_by_the_deals_that_both_have() -> None:
    base = rows("0: a 10 1, b 5 2", "1: a 10 1, b 5 2", "2: a 10 1, b 5 2")
    variant = rows("1: a 4 2, b 8 1", "2: a 16 1, b 5 2", "3: a 45 1, b 0 2")
    a, b = compare_runs(base, variant, "total").to_dict("records")
    assert [a[name] for name in ("bot", "base", "variant", "mean", "groups")] == ["a", 10, 10, 0, 2]
    assert (a["low"], a["high"]) == bounded_interval(0, 72 / 2, 2, (-45, 45))
    assert [b[name] for name in ("bot", "base", "variant", "mean", "groups")] == ["b", 5, 6.5, 1.5, 2]


def test_rules_that_favour_a_bot_are_seen() -> None:
    base = played(CALM, 200, seed=1, luck=1)
    variant = played(CALM | {"d": 1.5}, 200, seed=1, luck=1)
    change = compare_runs(base, variant).set_index("bot")
    assert change.loc["d", "low"] > 0.1
    assert change.loc["a", "high"] < 0
    same = compare_runs(base, base)
    assert not same["mean"].any()
    assert (same["low"] < 0).all()


@pytest.mark.parametrize(
    ("variant", "message"),
    [
        (rows("0: a 1 1, d 0 2"), "unknown bot 'b': there are a, d"),
        (rows("0: a 1 1, b 0 2, c 0 3"), "unknown bot 'c': there are a, b"),
        (rows("9: a 1 1, b 0 2"), "the runs share no deal: both have to be played from the same seed"),
        (rows("0: a 1 1, b 0 2, b 0 3"), "3 players in the variant: the base has 2"),
    ],
)
def test_runs_that_cannot_be_compared_are_told(variant: pd.DataFrame, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}$"):
        compare_runs(FOUR_GAMES, variant)


# What comes in.


def test_a_folder_is_read(tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert main(["--bots", "greedy", "random", "random", "--games", "30", "--quiet", "--out", str(out)]) == 0
    rows = load(out).games.frame()
    assert bot_table(out).equals(bot_table(str(out)))
    assert bot_table(out).equals(bot_table(load(out)))
    assert bot_table(out).equals(bot_table(rows, most_points=30))  # 2 opponents in cols worth 15


def test_several_runs_are_for_other_functions(tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert main(["--bots", "random", "random", "--games", "2", "--quiet", "--out", str(tmp_path / name)]) == 0
    with pytest.raises(UsageError, match="2 runs at once: allowed is one; outcomes_by takes several"):
        bot_table(load([tmp_path / "a", tmp_path / "b"]))


@pytest.mark.parametrize("outcome", ["won", "total", "place"])
def test_a_table_of_pairs_has_the_paired_difference_of_each(outcome: str) -> None:
    run = played(CALM, 40, luck=0.5)
    table = pair_table(run, outcome, most_points=45)
    names = [*combinations(CALM, 2)]
    assert [*zip(table["first"], table["second"], strict=True)] == names
    for (first, second), row in zip(names, table[["mean", "low", "high", "groups"]].to_numpy(), strict=True):
        expected = paired_difference(run, first, second, outcome, most_points=45)
        assert row.tolist() == pytest.approx([expected.mean, expected.low, expected.high, 40])


def test_one_bot_makes_no_pair() -> None:
    assert pair_table(FOUR_GAMES[FOUR_GAMES["bot"] == "a"]).empty


def test_unknown_names_are_told_with_the_nearest() -> None:
    frame = FOUR_GAMES.replace({"a": "greedy", "b": "random"})
    with pytest.raises(UsageError, match="unknown bot 'gredy': there are greedy, random; did you mean 'greedy'"):
        paired_difference(frame, "gredy", "random")
    with pytest.raises(UsageError, match="unknown outcome 'points': there are won, total, place"):
        paired_difference(frame, "greedy", "random", "points")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (FOUR_GAMES[:0], "the run has no finished games"),
        (FOUR_GAMES.drop(columns="place"), "column 'place' is missing: game rows have game_id, deal_id"),
        (
            FOUR_GAMES[:-2],
            "bot 'a' has 1 games of deal 1 and 2 of deal 0: all deals have to be played by the same tables",
        ),
        (rows("0: a 1 1, b 0 2", "0: a 1 1, b 0 2, c 0 3"), "game 1 has 3 rows and game 0 has 2: all games"),
        (FOUR_GAMES.assign(total=-1), "total -1: points cannot be below 0"),
    ],
)
def test_rows_that_are_no_run_are_told(frame: pd.DataFrame, message: str) -> None:
    with pytest.raises(UsageError, match=f"^{message}"):
        bot_table(frame)


def test_the_package_is_light_to_import() -> None:
    script = """
import sys
import velonimo_sim.analysis as analysis
print(*sorted({"pandas", "scipy", "numpy"} & set(sys.modules)), "-")
for name in analysis.__all__:
    for _ in ("first", "once more, when its module is loaded"):
        found = getattr(analysis, name)
        assert name.isupper() or found.__name__.split(".")[-1] == name
print(*sorted({"pandas", "scipy", "numba", "pyarrow", "matplotlib"} & set(sys.modules)), "-")
"""
    printed = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout
    assert printed.split() == ["-", "-"]
