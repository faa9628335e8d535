"""The worth of a Tortoise: three ways that estimate one thing, on made-up cols of which the truth is known."""

from itertools import product
from math import comb

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from velonimo_sim.analysis import swap_balance, tortoise_worth
from velonimo_sim.analysis.breakdown import moments_of
from velonimo_sim.analysis.tortoise import WAYS, _by_number_dealt
from velonimo_sim.errors import UsageError
from velonimo_sim.velonimo.cards import DECK_POSITIONS, TEAMS

PLAYERS, HAND = 4, 11
RIDERS = ["Y2", "B3", "N4", "R5", "A6", "P7"]
NUMBER = np.array([index % 7 + 1 for index in range(49)] + [0] * 6)
"""Number of each card of the unshuffled deck, 0 for hares."""
WORTH_OF_NUMBER = np.array([0.5, -0.3, -0.1, 0.0, 0.05, 0.1, 0.15, 0.3])
"""What a card adds to the outcome, by its number; hares first."""
PLAIN = WORTH_OF_NUMBER[1] - WORTH_OF_NUMBER[2:].mean()
"""What a 1 is worth beside another rider, without the swap."""
SWAP = 0.4
"""What the swap adds to a Tortoise."""


def shuffled(deals: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Return cards of the unshuffled deck as [deal, seat, card]."""
    return rng.permuted(np.tile(np.arange(55), (deals, 1)), axis=1)[:, : PLAYERS * HAND].reshape(deals, PLAYERS, HAND)


def cols(deals: int, rng: np.random.Generator, swap_adds: float = SWAP, pair_adds: float = 0.0) -> pd.DataFrame:
    """Return cols of the same deals with the swap and without, as dealt and with each exchange.

    Seats of a deal have the deal's luck in common, and so have the runs; a second Tortoise adds more or less.
    """
    dealt = shuffled(deals, rng)
    luck = rng.normal(0, 0.5, (deals, 1)) + rng.normal(0, 0.5, (deals, PLAYERS))
    frames = []
    for swap, rider in product(("mandatory", "off"), ["none", *RIDERS]):
        order = np.arange(55)
        if rider != "none":
            tortoise = 7 * TEAMS.index(rider[0])
            pair = [tortoise, tortoise + int(rider[1]) - 1]
            order[pair] = pair[::-1]
        cards = order[dealt]
        tortoises = (NUMBER[cards] == 1).sum(axis=2)
        outcome = WORTH_OF_NUMBER[NUMBER[cards]].sum(axis=2) + pair_adds * (tortoises >= 2)
        outcome += swap_adds * tortoises * (swap == "mandatory") + luck + rng.normal(0, 0.3, luck.shape)
        columns = {
            "players": PLAYERS,
            "run": f"{swap} {rider}",
            "tortoise_swap": swap,
            "exchanged_cards": rider if rider == "none" else f"{rider[0]}1,{rider}",
            "group": np.repeat(np.arange(deals), PLAYERS),
            "game_id": np.repeat(np.arange(deals), PLAYERS),
            "hand": (np.uint64(1) << DECK_POSITIONS.astype(np.uint64)[cards]).sum(axis=2, dtype=np.uint64).ravel(),
            "tortoises": tortoises.ravel(),
            "hares": (NUMBER[cards] == 0).sum(axis=2).ravel(),
            "beaten": outcome.ravel(),
        }
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True)


def picked(table: pd.DataFrame, what: str) -> pd.DataFrame:
    return table[table["what"] == what].set_index("label")


def at_five_tables(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows as if each fifth deal were of another number of players: five repeats that are studied at once."""
    return rows.assign(players=rows["group"] % 5)


# Known truth.


@pytest.mark.slow
def test_the_three_ways_cover_the_truth_and_each_other() -> None:
    rng = np.random.default_rng(1)
    truth = {("worth", way): SWAP + PLAIN for way in WAYS}
    truth |= {("difference", f"{WAYS[2]} - {WAYS[0]}"): 0, ("part", "the swap adds, by number dealt"): SWAP}
    truth |= {("part", "a plain 1, exchanged"): PLAIN, ("step", "2nd Tortoise"): SWAP + PLAIN}
    truth |= {("instead of", f"a {number}"): SWAP + WORTH_OF_NUMBER[1] - WORTH_OF_NUMBER[number] for number in (2, 7)}
    values = np.array([*truth.values()])
    covered = np.zeros(len(truth))
    for _ in range(100):
        tables = tortoise_worth(at_five_tables(cols(5 * 150, rng))).set_index(["players", "what", "label"])
        for table in range(5):
            rows = tables.loc[table].loc[[*truth]]
            covered += (rows["low"].to_numpy() <= values) & (rows["high"].to_numpy() >= values)
    assert (covered / 500).tolist() == pytest.approx([0.95] * len(truth), abs=0.02)


@pytest.fixture(scope="module")
def many() -> pd.DataFrame:
    return cols(4_000, np.random.default_rng(6), pair_adds=0.3)


def test_the_ways_agree_where_a_second_tortoise_adds_more(many: pd.DataFrame) -> None:
    table = tortoise_worth(many)
    worth, difference = picked(table, "worth"), picked(table, "difference")
    assert worth["mean"].max() - worth["mean"].min() < 0.05
    assert ((difference["low"] < 0) & (difference["high"] > 0)).all()
    steps = picked(table, "step")["mean"]
    assert steps["2nd Tortoise"] - steps["1st Tortoise"] == pytest.approx(0.3, abs=0.05)
    assert steps["3rd Tortoise"] == pytest.approx(SWAP + PLAIN, abs=0.1)


def test_the_difference_of_two_ways_is_surer_than_if_they_had_no_deals_in_common(many: pd.DataFrame) -> None:
    table = tortoise_worth(many)
    widths = {what: (rows["high"] - rows["low"]).to_numpy() for what, rows in table.groupby("what")}
    apart = np.hypot(*widths["worth"][:2])
    assert widths["difference"][0] < 0.95 * apart


def test_by_number_dealt_weighs_as_the_exchange_does_whatever_the_hands_reach() -> None:
    """Hands are all hands, each as likely as it is; what they reach is any function of Tortoises and hares."""
    reached = np.random.default_rng(7).normal(0, 1, (8, 7))
    kinds = [(tortoises, hares) for tortoises, hares in product(range(8), range(7)) if tortoises + hares <= HAND]
    rows = pd.DataFrame(kinds, columns=["tortoises", "hares"]).assign(
        players=PLAYERS, tortoise_swap="mandatory", instead_of=0, run="run", game_id=0, group=0
    )
    rows["beaten"] = [reached[kind] for kind in kinds]
    moments = moments_of([rows], ["players", "tortoise_swap", "instead_of", "tortoises", "hares"], "beaten")
    assert moments is not None
    by_number = _by_number_dealt(moments, PLAYERS, "mandatory") @ moments.means
    likely = {(t, h): comb(7, t) * comb(6, h) * comb(42, HAND - t - h) / comb(55, HAND) for t, h in kinds}
    holds_one_not_the_other = HAND / 55 * 44 / 54
    # For each of 7 colours and 6 riders: "holds the Tortoise" less "holds the rider" is what is left.
    exchanged = sum(likely[t, h] * (6 * t - (HAND - t - h)) * reached[t, h] for t, h in kinds)
    assert by_number == pytest.approx(exchanged / 42 / holds_one_not_the_other)


def test_the_order_of_the_two_cards_does_not_matter(many: pd.DataFrame) -> None:
    turned = many["exchanged_cards"].str.replace(r"(.1),(..)", r"\2,\1", regex=True)
    assert tortoise_worth(many.assign(exchanged_cards=turned)).equals(tortoise_worth(many))


def test_batches_of_deals_give_the_table_of_all(many: pd.DataFrame) -> None:
    shuffled_rows = many.sample(frac=1, random_state=1)
    pd.testing.assert_frame_equal(tortoise_worth(shuffled_rows), tortoise_worth(many))


def test_numbers_are_told_and_parts_add_up(many: pd.DataFrame) -> None:
    table = tortoise_worth(many)
    assert table.attrs["outcome"] == "beaten"
    assert table.attrs["deals"] == 4_000
    assert 2 * 4_000 < table.attrs["games"] < 14 * 4_000, "games in which nobody has either card are not compared"
    part, worth = picked(table, "part")["mean"], picked(table, "worth")["mean"]
    assert worth[WAYS[1]] == pytest.approx(part["the swap adds, by number dealt"] + part["a plain 1, exchanged"])
    assert worth[WAYS[2]] == pytest.approx(part["the swap adds, exchanged"] + part["a plain 1, exchanged"])
    assert worth[WAYS[2]] == pytest.approx(picked(table, "instead of")["mean"].mean())


def test_the_balance_of_swaps_is_that_of_the_rows() -> None:
    rng = np.random.default_rng(8)
    rows = cols(3_000, rng)
    rows = rows[rows["exchanged_cards"] == "none"]
    is_on = rows["tortoise_swap"] == "mandatory"
    made = rows["tortoises"] * is_on
    rows = rows.assign(swaps_made=made, swaps_suffered=1 * is_on, points=0)
    table = swap_balance(rows).set_index("tortoises")
    assert table["made"].tolist() == table.index.tolist()
    assert set(table["suffered"]) == {1}
    assert table["mean"].loc[:3].tolist() == pytest.approx([0, SWAP, 2 * SWAP, 3 * SWAP], abs=0.03)
    assert table.attrs["outcome"] == "beaten"


# Mistakes.


@pytest.mark.parametrize(
    ("chosen", "words"),
    [
        ("exchanged_cards != 'none'", "nothing to compare in runs with tortoise_swap mandatory"),
        ("exchanged_cards != 'R1,R5'", "nothing to compare .* exchanged with the 5 of its colour"),
        ("tortoise_swap != 'off'", "nothing to compare in runs with tortoise_swap off"),
        ("run == 'none'", "there are no rows"),
    ],
)
def test_a_run_that_is_missing_is_named(chosen: str, words: str, many: pd.DataFrame) -> None:
    with pytest.raises(UsageError, match=words) as caught:
        tortoise_worth(many.query(chosen))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("cards", ["B2,B5", "B1,R5", "B1,H25"])
def test_an_exchange_of_other_cards_is_refused(cards: str, many: pd.DataFrame) -> None:
    rows = many.head(2_000).assign(exchanged_cards=["none"] * 1_000 + [cards] * 1_000)
    with pytest.raises(UsageError, match=f"exchanged_cards {cards}: allowed is a Tortoise"):
        tortoise_worth(rows)


def test_too_few_hands_are_an_error(many: pd.DataFrame) -> None:
    with pytest.raises(UsageError, match="worth of a Tortoise with 4 players"):
        tortoise_worth(many[many["group"] == 0])
