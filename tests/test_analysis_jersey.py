"""What the Jersey is worth, on made-up cols of which the truth is known."""

import numpy as np
import pandas as pd
import pytest

from velonimo_sim.analysis import jersey_uses, lead_kept, leader_gains, outcomes_by_role, wearer_gains
from velonimo_sim.analysis.jersey import ROLES
from velonimo_sim.errors import UsageError

PLAYERS = 4
GAIN = {0: 0.0, 10: 0.3, 20: 0.45}
"""What each bonus adds to what the wearer reaches."""
KEPT = {0: 0.4, 10: 0.6, 20: 0.7}
"""How likely the leader wins the game."""
START, BEHIND = 0.25, -0.1
"""What the first attack adds, and what the wearer lacks whatever the bonus."""


def cols(deals: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return the cols 1 and 2 of the same deals under each bonus: seat 1 leads after col 1, seat 2 starts col 2.

    A deal's luck is the same under every bonus, and who wins is decided by one draw a deal.
    """
    seats, luck = np.tile(np.arange(PLAYERS), deals), rng.normal(0, 1, deals * PLAYERS)
    draw, kind, game = rng.random(deals), rng.random(deals), np.repeat(np.arange(deals), PLAYERS)
    frames = []
    for bonus, gain in GAIN.items():
        spent_on = np.select([kind < 0.5, kind < 0.7], [32 + bonus, 5 + bonus], 0) if bonus else np.zeros(deals, int)
        winner = np.where(draw < KEPT[bonus], 1, 3)
        for col in (1, 2):
            wears, starts = (seats == 1) & (col == 2), seats == (0 if col == 1 else 2)
            columns = {
                "players": PLAYERS,
                "run": f"bonus {bonus}",
                "jersey_bonus": bonus,
                "group": game,
                "game_id": game,
                "col": col,
                "seat": seats,
                "wears_jersey": wears,
                "started": starts,
                "jersey_spent_on": np.where(wears, spent_on[game], 0),
                "won": seats == winner[game],
                "leads_after": seats == (1 if col == 1 else winner[game]),
                "beaten": 1.5 + (gain + BEHIND) * wears + START * starts + luck + rng.normal(0, 0.3, len(luck)),
            }
            frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


# Known truth.

REPEATS_AT_ONCE = 20


def repeats(deals: int, rng: np.random.Generator) -> pd.DataFrame:
    """Return cols of several repeats, studied at once: as if each were of another number of players."""
    rows = cols(deals * REPEATS_AT_ONCE, rng)
    return rows.assign(players=rows["group"] % REPEATS_AT_ONCE)


def coverage(table: pd.DataFrame, bonus: int, truth: float) -> float:
    """Return the share of repeats in which the interval holds the truth."""
    rows = table[table["jersey_bonus"] == bonus]
    assert len(rows) == REPEATS_AT_ONCE
    return float(((rows["low"] <= truth) & (rows["high"] >= truth)).mean())


def test_the_gains_of_wearers_and_leaders_cover_the_truth() -> None:
    rng = np.random.default_rng(2)
    shares = []
    for _ in range(500 // REPEATS_AT_ONCE):
        rows = repeats(200, rng)
        wearers, leaders = wearer_gains(rows), leader_gains(rows)
        leaders = leaders[leaders["col"] == 1]
        shares.append(
            [coverage(wearers, bonus, GAIN[bonus]) for bonus in (10, 20)]
            + [coverage(leaders, bonus, KEPT[bonus] - KEPT[0]) for bonus in (10, 20)]
        )
    assert np.mean(shares, axis=0).tolist() == pytest.approx([0.95] * 4, abs=0.02)


def test_a_bonus_that_does_nothing_is_found_to_do_nothing() -> None:
    rng = np.random.default_rng(3)
    shares = []
    for _ in range(500 // REPEATS_AT_ONCE):
        rows = repeats(100, rng)
        gained = rows["jersey_bonus"].map(GAIN) * rows["wears_jersey"]
        shares.append(coverage(wearer_gains(rows.assign(beaten=rows["beaten"] - gained)), 20, 0))
    assert np.mean(shares) == pytest.approx(0.95, abs=0.02)


@pytest.fixture(scope="module")
def many() -> pd.DataFrame:
    return cols(20_000, np.random.default_rng(4))


def test_the_lead_is_kept_as_often_as_planted(many: pd.DataFrame) -> None:
    kept = lead_kept(many)
    assert kept[["players", "col", "jersey_bonus"]].to_numpy().tolist() == [[4, 2, bonus] for bonus in KEPT]
    assert kept["mean"].tolist() == pytest.approx([*KEPT.values()], abs=0.015)
    assert kept.attrs == {"outcome": "leads_after", "games": 60_000, "deals": 20_000}


def test_gains_are_differences_on_the_same_deals(many: pd.DataFrame) -> None:
    gains = wearer_gains(many)
    assert gains["jersey_bonus"].tolist() == [10, 20]
    assert (gains["high"] - gains["low"]).max() < 0.02, "the luck of a deal is in both: else it were 0.04"
    apart = many.assign(group=many["group"] + 20_000 * many["jersey_bonus"])
    assert (wearer_gains(apart)["high"] - wearer_gains(apart)["low"]).min() > 0.035


def test_each_role_reaches_what_was_planted(many: pd.DataFrame) -> None:
    table = outcomes_by_role(many).set_index(["jersey_bonus", "role"])["mean"]
    assert [*table.index.get_level_values("role").categories] == [*ROLES]
    for bonus, gain in GAIN.items():
        truth = [1.5 + gain + BEHIND, 1.5 + START, 1.5]
        assert table[bonus][[*ROLES]].tolist() == pytest.approx(truth, abs=0.03)


def test_plays_are_counted_by_their_cards_or_their_value_without_the_bonus(many: pd.DataFrame) -> None:
    by_cards = jersey_uses(many).set_index(["jersey_bonus", "cards"])["share"]
    assert by_cards.groupby("jersey_bonus").sum().tolist() == pytest.approx([1, 1, 1])
    assert by_cards[0].to_dict() == {0: 1}, "a Jersey without a bonus is never spent"
    assert by_cards[10].to_dict() == pytest.approx({0: 0.3, 1: 0.2, 3: 0.5}, abs=0.015)
    by_value = jersey_uses(many, of="value").set_index(["jersey_bonus", "value"])["share"]
    assert by_value[20].to_dict() == pytest.approx({0: 0.3, 5: 0.2, 32: 0.5}, abs=0.015)


# Mistakes.


@pytest.mark.parametrize(
    ("study", "words"),
    [
        (lambda rows: wearer_gains(rows[rows["jersey_bonus"] > 0]), "baseline 0: jersey_bonus is 10, 20"),
        (lambda rows: wearer_gains(rows.drop(columns="jersey_bonus")), "unknown column 'jersey_bonus': there are"),
        (lambda rows: lead_kept(rows[rows["col"] == 1]), "where wears_jersey = True: no row is so"),
        (lambda rows: outcomes_by_role(rows[rows["col"] == 1]), "roles: no col after the first was played"),
        (lambda rows: jersey_uses(rows[rows["col"] == 1]), "nobody wears the Jersey"),
        (lambda rows: jersey_uses(rows, of="colour"), "unknown kind of play 'colour'"),
        (lambda rows: jersey_uses(rows.assign(jersey_bonus="none")), "jersey_bonus: has to be a number in all runs"),
    ],
)
def test_a_mistake_is_told_in_one_line(study: object, words: str) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        study(cols(3, np.random.default_rng(5)))  # type: ignore[operator]
    assert "\n" not in str(caught.value)
