"""Planted values of cards and of their groups are found, with intervals that cover: by deal, and not by row."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from runs import play
from test_analysis_hands import random_hands, riders, words
from velonimo_sim.analysis import (
    card_differences,
    card_values,
    cards,
    company_values,
    fit_hand_model,
    hand_ceiling,
    load,
)
from velonimo_sim.analysis.cards import COMPANY_TERMS, TERMS, hand_terms
from velonimo_sim.analysis.hands import DECK_TEXTS
from velonimo_sim.analysis.ridge import Floats
from velonimo_sim.errors import UsageError
from velonimo_sim.velonimo.cards import parse_card

CARDS = np.array([parse_card(text) for text in DECK_TEXTS])

CARD_VALUES = dict(zip(DECK_TEXTS[:54:3], [0.3, -0.3, 0.6, -0.6, 0.1, -0.1] * 3, strict=True))
"""They add up to 0, so that the value of the other cards is 0."""
COMPANY = {
    "2nd of a colour": 0.1,
    "4th of a colour": 0.4,
    "3rd of a number": -0.2,
    "2nd Tortoise": 0.3,
    "3rd hare": -0.5,
}


def planted(values: Mapping[str, float]) -> Floats:
    """Return what each of ``TERMS`` is worth."""
    return np.array([values.get(term, 0.0) for term in TERMS])


def dealt(
    deals: int,
    values: Mapping[str, float],
    seed: int,
    games: int = 3,
    luck: float = 1,
    noise: float = 1,
    players: int = 4,
    deck: Sequence[np.uint64] = CARDS,
) -> pd.DataFrame:
    """Return rows of one col a game, with the outcome that the planted values give, and luck.

    All games of a deal are dealt the same hands. ``luck`` is the standard deviation of what a hand gains in all of
    them, ``noise`` that of what it gains in one.
    """
    rng = np.random.default_rng([seed, deals])
    order = rng.permuted(np.tile(np.arange(len(deck)), (deals, 1)), axis=1)[:, : 11 * players]
    hands = np.array(deck)[order].reshape(deals, players, 11).sum(axis=-1, dtype=np.uint64)
    worth = (hand_terms(hands.ravel()) @ planted(values)).reshape(deals, 1, players)
    outcome = worth + rng.normal(0, luck, (deals, 1, players)) + rng.normal(0, noise, (deals, games, players))
    deal, game, seat = (axis.ravel() for axis in np.indices(outcome.shape))
    return pd.DataFrame(
        {
            "game_id": deal * games + game,
            "deal_id": deal,
            "seat": seat,
            "players": players,
            "hand": hands[deal, seat],
            "beaten": outcome.ravel(),
        }
    )


def contrasts(values: Floats) -> Floats:
    """Return by how much each value is above the mean of the others."""
    return np.array([value - np.delete(values, index).mean() for index, value in enumerate(values)])


def covered(table: pd.DataFrame, truth: Floats, low: str = "low", high: str = "high") -> Floats:
    """Return 1 where the interval holds the truth."""
    return ((table[low] <= truth) & (truth <= table[high])).to_numpy(np.float64)


# What a hand is made of.


def twin(hand: list[str]) -> list[int]:
    """Return the terms of a hand, counted from its texts one by one."""
    colours = Counter(card[0] for card in riders(hand))
    numbers = Counter(card[1] for card in riders(hand))
    others = [count for number, count in numbers.items() if number in "34567"]
    hares = len(hand) - len(riders(hand))
    company = [
        *(sum(count >= size for count in colours.values()) for size in (2, 3, 4, 5, 6)),
        *(sum(count >= size for count in others) for size in (2, 3, 4, 5)),
        *(int(numbers["1"] >= size) for size in (2, 3, 4)),
        *(int(numbers["2"] >= size) for size in (2, 3, 4)),
        *(int(hares >= size) for size in (2, 3, 4)),
    ]
    return [*(int(card in hand) for card in DECK_TEXTS), *company]


def test_terms_are_counted_from_the_cards() -> None:
    hands = random_hands(300, seed=3)
    assert hand_terms(words(hands)).tolist() == [twin(hand) for hand in hands]
    assert len(TERMS) == 73


def test_the_terms_of_dealt_hands_can_be_told_apart() -> None:
    """The size of the hand alone ties them together, and no eigenvalue is so small that estimates are shrunk."""
    terms = hand_terms(dealt(5_000, {}, seed=1, games=1)["hand"].to_numpy())
    eigenvalues = np.linalg.eigvalsh(np.corrcoef(terms.T))
    assert eigenvalues[0] == pytest.approx(0, abs=1e-9)
    assert eigenvalues[1] > 0.07


# Known truth.


def naive_covers(frame: pd.DataFrame, truth: Floats) -> Floats:
    """Return 1 where least squares with rows as the unit has the truth of each card in its interval."""
    design = hand_terms(frame["hand"].to_numpy())[:, :55]
    outcome = frame["beaten"].to_numpy()
    inverse = np.linalg.inv(design.T @ design)
    fitted = inverse @ design.T @ outcome
    variance = ((outcome - design @ fitted) ** 2).sum() / (len(design) - 55)
    contrast = (np.eye(55) - 1 / 55) * 55 / 54
    half = 1.96 * np.sqrt(variance * np.diag(contrast @ inverse @ contrast))
    return (np.abs(contrast @ fitted - truth) <= half).astype(np.float64)


@pytest.mark.slow
def test_95_percent_of_the_intervals_of_planted_card_values_and_zeros_hold_them_but_not_of_naive_ones() -> None:
    values = planted(CARD_VALUES)[:55]
    truth, zero = contrasts(values), values == 0
    assert truth[zero] == pytest.approx(np.zeros(37))
    found: dict[str, list[Floats]] = {"value": [], "in company": [], "naive": []}
    for seed in range(500):
        frame = dealt(120, CARD_VALUES, seed)
        table = card_values(frame)
        found["value"].append(covered(table, truth))
        found["in company"].append(covered(table, truth, "in_company_low", "in_company_high"))
        found["naive"].append(naive_covers(frame, truth))
    for kind in ("value", "in company"):
        by_card = np.mean(found[kind], axis=0)
        assert 0.94 <= by_card.mean() <= 0.96, kind
        assert 0.94 <= by_card[zero].mean() <= 0.96, kind
        assert by_card.min() > 0.91, kind  # 500 repeats: a deviation of 0.01
    assert np.mean(found["naive"]) < 0.88


@pytest.mark.slow
def test_95_percent_of_the_intervals_of_planted_groups_hold_them() -> None:
    values = planted(CARD_VALUES | COMPANY)
    groups, single = [], []
    for seed in range(500):
        frame = dealt(300, CARD_VALUES | COMPANY, seed)
        single.append(covered(card_values(frame), contrasts(values[:55]), "in_company_low", "in_company_high"))
        table = company_values(frame)
        groups.append(np.where(table["value"].isna(), np.nan, covered(table, values[55:])))
    assert 0.93 <= np.mean(single) <= 0.97
    by_term = np.nanmean(groups, axis=0)
    assert 0.93 <= by_term.mean() <= 0.97
    assert by_term[values[55:] == 0].mean() == pytest.approx(0.95, abs=0.02)
    assert by_term.min() > 0.91


def test_planted_groups_are_found_and_told_from_the_cards() -> None:
    frame, values = dealt(6_000, CARD_VALUES | COMPANY, seed=1), planted(CARD_VALUES | COMPANY)
    company, table = company_values(frame), card_values(frame)
    assert company["term"].tolist() == list(COMPANY_TERMS)
    common = (company["hands"] > 2_000).to_numpy()
    assert common.sum() == 12
    assert company["value"].to_numpy()[common] == pytest.approx(values[55:][common], abs=0.12)
    assert covered(company, values[55:]).sum() >= 15
    assert table["in_company"].to_numpy() == pytest.approx(contrasts(values[:55]), abs=0.12)
    assert table.attrs["r2_in_company"] > table.attrs["r2"] + 0.005


def test_the_value_of_a_card_is_what_hands_with_it_reach_beyond_those_without() -> None:
    frame = dealt(6_000, CARD_VALUES | COMPANY, seed=2, luck=0.5, noise=0.5)
    held = hand_terms(frame["hand"].to_numpy())[:, :55] > 0
    outcome = frame["beaten"].to_numpy()
    difference = [outcome[column].mean() - outcome[~column].mean() for column in held.T]
    table = card_values(frame)
    assert table["value"].to_numpy() == pytest.approx(np.array(difference), abs=0.05)
    assert table["value"].sum() == pytest.approx(0, abs=1e-9)
    assert table["in_company"].sum() == pytest.approx(0, abs=1e-9)
    assert table["hands"].tolist() == held.sum(axis=0).tolist()
    assert table["card"].tolist() == list(DECK_TEXTS)


def test_the_difference_of_two_cards_is_that_of_their_values_with_an_interval_of_its_own() -> None:
    pairs, deals = [("B1", "B4"), ("B4", "H50")], 1_500
    frame = dealt(deals, CARD_VALUES, seed=4)
    values, table = card_values(frame).set_index("card"), card_differences(frame, pairs)
    assert table[["card", "instead"]].to_numpy().tolist() == [["B1", "B4"], ["B4", "H50"]]
    # A value is a difference to the mean of the 54 others, which is further off than that of all 55.
    assert table["mean"].tolist() == pytest.approx(
        [54 / 55 * (values["value"][a] - values["value"][b]) for a, b in pairs]
    )
    apart = [np.hypot(*(values["high"] - values["low"])[list(pair)]) for pair in pairs]
    assert (table["high"] - table["low"]).tolist() == pytest.approx(apart, rel=0.1)
    truth = [CARD_VALUES.get(a, 0) - CARD_VALUES.get(b, 0) for a, b in pairs]
    assert covered(table, np.array(truth)).all()
    with pytest.raises(UsageError, match="unknown card 'H60'"):
        card_differences(frame, [("H60", "B1")])


def test_the_hold_out_explains_what_there_is_to_explain_and_of_noise_nothing() -> None:
    noise = card_values(dealt(2_000, {}, seed=3)).attrs
    assert -0.02 < noise["r2"] < 0.002
    assert -0.02 < noise["r2_in_company"] < 0.002
    frame = dealt(3_000, CARD_VALUES, seed=4)
    share = np.var(hand_terms(frame["hand"].to_numpy()) @ planted(CARD_VALUES)) / np.var(frame["beaten"])
    assert card_values(frame).attrs["r2"] == pytest.approx(share, abs=0.03)
    assert share > 0.15


def test_what_was_read_is_told() -> None:
    frame = dealt(100, CARD_VALUES, seed=5).assign(won=lambda rows: rows["seat"] == 0)
    table = card_values(frame, outcome="won")
    assert table.attrs | {"r2": 0, "r2_in_company": 0, "penalty": 0, "penalty_in_company": 0} == {
        "outcome": "won",
        "games": 300,
        "deals": 100,
        "r2": 0,
        "penalty": 0,
        "r2_in_company": 0,
        "penalty_in_company": 0,
    }
    assert company_values(frame, outcome="won").attrs["r2"] == table.attrs["r2_in_company"]


def test_a_higher_level_is_wider() -> None:
    frame = dealt(100, {}, seed=6)
    narrow, wide = (card_values(frame, level=level) for level in (0.5, 0.99))
    assert ((wide["high"] - wide["low"]) > 3 * (narrow["high"] - narrow["low"])).all()


# The same however it comes in.


def test_parts_do_not_change_the_results(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = dealt(150, CARD_VALUES, seed=7).assign(run="run", group=lambda rows: rows["deal_id"])
    whole = card_values(frame), company_values(frame)

    def in_parts(_: object, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        for first, end in ((0, 1), (1, 20), (20, 21), (21, 150)):
            yield frame[frame["group"].between(first, end - 1)][["group", *columns]]

    monkeypatch.setattr(cards, "batches", in_parts)
    monkeypatch.setattr(cards, "_PART", 100)
    for table, expected in zip((card_values(frame), company_values(frame)), whole, strict=True):
        pd.testing.assert_frame_equal(table, expected, rtol=1e-9)


def test_the_order_of_the_rows_does_not_matter() -> None:
    frame = dealt(150, CARD_VALUES, seed=8)
    pd.testing.assert_frame_equal(card_values(frame.sample(frac=1, random_state=1)), card_values(frame), rtol=1e-9)


def test_games_of_two_runs_of_the_same_deals_are_one_deal_each() -> None:
    frame = dealt(200, {}, seed=9)
    both = pd.concat([frame.assign(run="one"), frame.assign(run="other")])
    once, twice = card_values(frame), card_values(both)
    assert (twice.attrs["games"], twice.attrs["deals"]) == (1_200, 200)
    assert (twice["high"] - twice["low"]).to_numpy() == pytest.approx((once["high"] - once["low"]).to_numpy(), rel=0.01)


def test_a_folder_is_read_as_its_frame(tmp_path: Path) -> None:
    folder = str(tmp_path / "run")
    assert (
        play("--bots", "greedy", "random", "greedy", "--seating", "fixed", "--games", "100", "--out", folder).status
        == 0
    )
    for outcome in ("beaten", "won", "points"):
        frame = load(folder).cols[["deal_id", "game_id", "players", "hand", outcome]]
        pd.testing.assert_frame_equal(card_values(folder, outcome), card_values(frame, outcome))


# What cannot be told.


def test_a_card_that_is_in_no_hand_has_no_value() -> None:
    table = card_values(dealt(100, {}, seed=10, deck=CARDS[:-1]))
    assert table.loc[54, ["card", "hands"]].tolist() == ["H50", 0]
    assert table.loc[54].isna().sum() == 6
    assert np.isfinite(table.loc[:53].drop(columns="card").to_numpy(np.float64)).all()


def test_too_few_deals_are_told() -> None:
    frame = dealt(74, {}, seed=11)
    assert len(card_values(frame)) == 55
    for deals in (1, 73):
        few = frame[frame["deal_id"] < deals]
        with pytest.raises(UsageError, match=rf"^the run has {deals} deals: what cards are worth takes more than 73$"):
            card_values(few)
    with pytest.raises(UsageError, match="there are no rows: the run has no finished games"):
        company_values(frame[:0])


def test_hands_of_different_sizes_are_told() -> None:
    frame = dealt(100, {}, seed=12)
    frame.loc[0, "hand"] = words([["R7", "H25"]])[0]
    with pytest.raises(UsageError, match="hands of 2 to 11 cards: cards are compared among hands of one size"):
        card_values(frame)


@pytest.mark.parametrize("ask", [card_values, company_values, hand_ceiling, fit_hand_model])
def test_games_of_different_numbers_of_players_are_told(ask: Callable[[pd.DataFrame], object]) -> None:
    frame = dealt(100, {}, seed=7)
    message = "^games of 3 to 4 players: hands are compared among games of as many players$"
    with pytest.raises(UsageError, match=message):
        ask(frame.assign(players=np.where(frame["deal_id"] < 9, 3, 4)))


def test_numbers_of_players_that_differ_between_parts_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [dealt(100, {}, seed=7, players=players).assign(run="", group=players) for players in (3, 4)]
    monkeypatch.setattr(cards, "batches", lambda *_: iter(parts))
    with pytest.raises(UsageError, match="games of 3 to 4 players"):
        card_differences(parts[0], [("B1", "B2")])


def test_an_unknown_outcome_or_level_and_a_missing_column_are_told() -> None:
    frame = dealt(100, {}, seed=13)
    with pytest.raises(UsageError, match="unknown outcome of a hand 'win': there are beaten, points, won"):
        card_values(frame, outcome="win")
    with pytest.raises(UsageError, match="level 95: must be between 0 and 1"):
        card_values(frame, level=95)
    with pytest.raises(UsageError, match="column 'hand'"):
        card_values(frame.drop(columns="hand"))
