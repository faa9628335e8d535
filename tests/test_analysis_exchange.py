"""What a card is worth instead of another: two ways that estimate one thing, on made-up cols of which it is known."""

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from velonimo_sim.analysis import exchange_worth
from velonimo_sim.errors import UsageError
from velonimo_sim.velonimo.cards import DECK_POSITIONS, position_of

PLAYERS, HAND = 4, 11
DECK = np.uint64(1) << DECK_POSITIONS.astype(np.uint64)
WORTH = np.linspace(-0.5, 0.6, 55)
"""What each card of the unshuffled deck adds to the outcome."""
PLACE = {text: [*DECK_POSITIONS].index(position_of(text)) for text in ("H50", "H25", "R7", "B2", "Y2")}


def cols(
    deals: int,
    rng: np.random.Generator,
    exchanges: tuple[str, ...] = ("H50,R7", "B2,Y2"),
    worth: NDArray[np.float64] = WORTH,
) -> pd.DataFrame:
    """Return cols of the same deals as dealt and with each exchange; seats and runs share the luck of the deal."""
    dealt = rng.permuted(np.tile(np.arange(55), (deals, 1)), axis=1)[:, : PLAYERS * HAND].reshape(deals, PLAYERS, HAND)
    luck = rng.normal(0, 0.5, (deals, 1)) + rng.normal(0, 1, (deals, PLAYERS))
    frames = []
    for cards in ("none", *exchanges):
        order = np.arange(55)
        if cards != "none":
            places = [PLACE[card] for card in cards.split(",")]
            order[places] = places[::-1]
        held = order[dealt]
        columns = {
            "players": PLAYERS,
            "run": cards,
            "exchanged_cards": cards,
            "group": np.repeat(np.arange(deals), PLAYERS),
            "game_id": np.repeat(np.arange(deals), PLAYERS),
            "hand": DECK[held].sum(axis=2, dtype=np.uint64).ravel(),
            "beaten": (worth[held].sum(axis=2) + luck + rng.normal(0, 0.3, luck.shape)).ravel(),
        }
        frames.append(pd.DataFrame(columns))
    return pd.concat(frames, ignore_index=True).sort_values("group", kind="stable", ignore_index=True)


def test_both_ways_cover_the_planted_worth_95_times_in_100_and_the_same_deals_leave_less_chance() -> None:
    rng, repeats = np.random.default_rng(1), 500
    worth = WORTH.copy()
    worth[PLACE["B2"]] = worth[PLACE["Y2"]]  # a planted zero
    truth = {"H50": worth[PLACE["H50"]] - worth[PLACE["R7"]], "B2": 0.0}
    covered, lengths = np.zeros((2, 4))
    for _ in range(repeats):
        table = exchange_worth(cols(150, rng, worth=worth))
        planted = table["first"].map(truth)
        covered += ((table["low"] <= planted) & (planted <= table["high"])).to_numpy()
        lengths += (table["high"] - table["low"]).to_numpy()
    assert table[["first", "way"]].to_numpy().tolist() == [
        ["B2", "as dealt"],
        ["B2", "exchanged"],
        ["H50", "as dealt"],
        ["H50", "exchanged"],
    ]
    assert (0.93 * repeats <= covered).all(), covered
    assert (covered <= 0.97 * repeats).all(), covered
    assert (lengths[1::2] < 0.6 * lengths[::2]).all()


def test_means_are_those_of_the_rows_that_hold_one_of_the_two_cards() -> None:
    frame = cols(80, np.random.default_rng(2), ("H25,R7",))
    table = exchange_worth(frame)
    has = {text: (frame["hand"] & DECK[PLACE[text]]) > 0 for text in ("H25", "R7")}
    first, second = has["H25"] & ~has["R7"], has["R7"] & ~has["H25"]
    dealt = frame["exchanged_cards"] == "none"
    dealt_mean, exchanged_mean = (
        frame["beaten"][first & run].mean() - frame["beaten"][second & run].mean() for run in (dealt, ~dealt)
    )
    assert table["mean"].tolist() == pytest.approx([dealt_mean, (dealt_mean + exchanged_mean) / 2])
    assert table["rows"].tolist() == [int((first & dealt).sum())] * 2
    assert table.attrs["outcome"] == "beaten"


def test_deals_that_were_played_one_way_alone_are_left_out() -> None:
    frame = cols(120, np.random.default_rng(3), ("H50,R7",))
    both_ways = frame[frame["group"] < 60]
    longer = frame[(frame["group"] < 60) | (frame["exchanged_cards"] == "none")]
    pd.testing.assert_frame_equal(exchange_worth(longer), exchange_worth(both_ways))


@pytest.mark.parametrize(
    "exchanged",
    ["none", "H50,R7"],
)
def test_runs_of_one_way_alone_are_one_line(exchanged: str) -> None:
    frame = cols(20, np.random.default_rng(4))
    with pytest.raises(UsageError, match="needed are deals played as dealt and with exchanged_cards"):
        exchange_worth(frame[frame["exchanged_cards"] == exchanged])


def test_hands_that_hold_neither_card_are_too_few_to_compare() -> None:
    frame = cols(1, np.random.default_rng(4), ("H50,R7",))
    frame["hand"] = DECK[PLACE["H50"]]
    with pytest.raises(UsageError, match="exchanged_cards H50,R7 with 4 players: the hands are too few"):
        exchange_worth(frame)
