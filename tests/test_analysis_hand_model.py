"""Models of hands predict what was planted, on deals that they have not seen, and answer in points."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from test_analysis_cards import CARD_VALUES, COMPANY, dealt, planted
from test_analysis_hands import words
from velonimo_sim.analysis import HandModel, calibration, fit_hand_model, hand_value
from velonimo_sim.analysis.cards import TERMS, hand_terms
from velonimo_sim.analysis.hand_model import SHIPPED_MODELS, load_models, save_models
from velonimo_sim.analysis.ridge import Floats
from velonimo_sim.errors import UsageError

PLANTED = CARD_VALUES | COMPANY
HAND = ["H25", "R7", "R6", "B2", "N3", "A4", "G5", "P6", "Y7", "Y3", "N5"]


def truth_of(frame: pd.DataFrame) -> Floats:
    """Return what was planted of each row."""
    return np.asarray(hand_terms(frame["hand"].to_numpy()) @ planted(PLANTED))


# Fitted.


def test_what_was_planted_is_predicted() -> None:
    model = fit_hand_model(dealt(4_000, PLANTED, seed=1))
    fresh = dealt(2_000, PLANTED, seed=2)
    truth = truth_of(fresh)
    assert np.std(model.predict(fresh["hand"].to_numpy()) - truth) < 0.15 * np.std(truth)
    assert model.r2 == pytest.approx(np.var(truth) / np.var(fresh["beaten"]), abs=0.02)
    assert (model.players, model.hand_size, model.outcome) == (4, 11, "beaten")
    assert (model.games, model.deals) == (12_000, 4_000)


def test_of_noise_nothing_is_explained() -> None:
    model = fit_hand_model(dealt(1_000, {}, seed=3))
    assert abs(model.r2) < 0.005
    assert abs(fit_hand_model(dealt(100, {}, seed=3)).r2) < 0.05
    assert np.std(model.predict(dealt(500, {}, seed=4)["hand"].to_numpy())) < 0.05


def test_an_outcome_that_bends_is_followed() -> None:
    frame = dealt(4_000, PLANTED, seed=5, luck=0.2, noise=0.2)
    bent = frame.assign(beaten=frame["beaten"] - 0.3 * frame["beaten"] ** 2)
    model, straight, truth = fit_hand_model(bent), fit_hand_model(frame), truth_of(frame)
    assert model.bend < -0.1
    assert np.std(model.predict(frame["hand"].to_numpy()) - truth + 0.3 * truth**2) < 0.15 * np.std(truth)
    assert (straight.slope, straight.bend) == (pytest.approx(1, abs=0.02), pytest.approx(0, abs=0.02))


def test_one_deal_in_five_is_held_out() -> None:
    """What was not fitted to may change as it will: nothing but the R2 follows."""
    frame = dealt(500, PLANTED, seed=6)
    held_out = frame["deal_id"] % 5 == 4
    other = frame.assign(beaten=frame["beaten"].where(~held_out, 1.0 + frame["seat"]))
    model, changed = fit_hand_model(frame), fit_hand_model(other)
    assert changed.coefficients == pytest.approx(model.coefficients)
    assert (changed.mean, changed.slope, changed.bend) == pytest.approx((model.mean, model.slope, model.bend))
    assert changed.r2 < 0 < model.r2


# Calibrated.


def test_a_model_that_was_fitted_is_calibrated() -> None:
    frame = dealt(4_000, PLANTED, seed=8)
    model = fit_hand_model(frame)
    table = calibration(frame, model)
    assert (table["low"] < table["predicted"]).sum() >= 8
    assert (table["predicted"] < table["high"]).sum() >= 8
    assert table["predicted"].is_monotonic_increasing
    assert table["rows"].tolist() == pytest.approx([960] * 10, abs=40)
    assert table.attrs == {"outcome": "beaten", "games": 2_400, "deals": 800, "r2": pytest.approx(model.r2)}


def test_a_model_that_promises_too_much_is_found_out() -> None:
    frame = dealt(4_000, PLANTED, seed=9)
    model = fit_hand_model(frame)
    table = calibration(frame, replace(model, slope=2 * model.slope))
    assert table["predicted"].iloc[0] < table["low"].iloc[0]
    assert table["predicted"].iloc[-1] > table["high"].iloc[-1]


@pytest.mark.slow
def test_95_percent_of_the_intervals_of_the_bins_hold_the_truth() -> None:
    """Each deal is played three times, so that rows as the unit would not do."""
    coefficients = dict(zip(TERMS, planted(PLANTED).tolist(), strict=True))
    any_model = fit_hand_model(dealt(100, {}, seed=0))
    truth = replace(any_model, mean=0.0, slope=1.0, bend=0.0, intercept=0.0, coefficients=coefficients)
    inside, naive = [], []
    for seed in range(300):
        frame = dealt(200, PLANTED, seed)
        table = calibration(frame, truth, bins=4)
        inside.append((table["low"] < table["predicted"]) & (table["predicted"] < table["high"]))
        half = 1.96 * np.sqrt(2 / table["rows"])
        naive.append((table["mean"] - table["predicted"]).abs() < half)
    assert 0.93 <= np.mean(inside) <= 0.97
    assert np.mean(naive) < 0.88


def test_bins_are_chosen_and_checked() -> None:
    frame = dealt(100, {}, seed=10)
    model = fit_hand_model(frame)
    assert len(calibration(frame, model, bins=3)) == 3
    with pytest.raises(UsageError, match="bins 1: allowed is an integer 2-100"):
        calibration(frame, model, bins=1)
    with pytest.raises(UsageError, match="level 2: must be between 0 and 1"):
        calibration(frame, model, level=2)
    with pytest.raises(UsageError, match="the run has less than 5 deals: a model is tested on the last of each 5"):
        calibration(frame[frame["deal_id"] < 4], model)


def test_games_that_the_model_is_not_for_are_told() -> None:
    model = fit_hand_model(dealt(100, {}, seed=10, players=3))
    with pytest.raises(UsageError, match=r"^games of 4 players: the model is for 3$"):
        calibration(dealt(100, {}, seed=10, players=4), model)


def test_one_deal_to_test_on_has_no_interval() -> None:
    """What does not vary is not known, rather than known for certain."""
    frame = dealt(100, {}, seed=11)
    table = calibration(frame[frame["deal_id"] < 5], fit_hand_model(frame), bins=2)
    assert table["mean"].notna().all()
    assert table[["low", "high"]].isna().all(axis=None)


# Kept.


def test_a_model_is_the_same_out_of_its_file(tmp_path: Path) -> None:
    models = [fit_hand_model(dealt(100, PLANTED, seed=12, players=players)) for players in (3, 4)]
    save_models(models, tmp_path / "models.json")
    assert load_models(tmp_path / "models.json") == {3: models[0], 4: models[1]}
    assert HandModel.from_dict(json.loads(json.dumps(models[0].to_dict()))) == models[0]


def test_coefficients_of_other_terms_are_told() -> None:
    content = fit_hand_model(dealt(100, {}, seed=13)).to_dict()
    del content["coefficients"]["R7"]
    with pytest.raises(UsageError, match="coefficient 'R7': a model of hands has one for each of the 73 terms"):
        HandModel.from_dict(content)


# Shipped.


def test_a_model_is_shipped_for_each_number_of_players() -> None:
    models = load_models(SHIPPED_MODELS)
    assert list(models) == [2, 3, 4, 5]
    for players, model in models.items():
        assert (model.players, model.hand_size, model.outcome) == (players, 11, "beaten")
        assert model.games >= 100_000
        assert model.r2 > 0.03


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_value_of_a_hand_is_what_the_model_predicts_in_points(players: int) -> None:
    predicted = load_models(SHIPPED_MODELS)[players].predict(words([HAND]))[0]
    assert hand_value(HAND, players) == pytest.approx(predicted)
    assert hand_value(" ".join(HAND), players, col_value=5) == pytest.approx(5 * predicted)
    assert 0 < predicted < players - 1


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_a_better_hare_makes_a_better_hand(players: int) -> None:
    better = [card.replace("H25", "H50") for card in HAND]
    assert hand_value(better, players) > hand_value(HAND, players) + 0.1


@pytest.mark.parametrize(
    ("cards", "message"),
    [
        (HAND[:10], "a hand of 10 cards: the model is for hands of 11"),
        ("", "a hand of 0 cards: the model is for hands of 11"),
        ([*HAND[:10], "R8"], "unknown card 'R8': cards are a letter .B blue"),
        ([*HAND[:10], "R7"], "card R7 is named twice"),
    ],
)
def test_a_hand_that_cannot_be_is_told(cards: str | list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        hand_value(cards)


@pytest.mark.parametrize("players", [1, 6, "4", 4.0, True, None])
def test_a_number_of_players_that_cannot_be_is_told(players: Any) -> None:
    with pytest.raises(UsageError, match=f"^players {players!r}: must be an integer from 2 to 5$"):
        hand_value(HAND, players)


@pytest.mark.parametrize("col_value", [0, 1_000_001, "2", 1.5, True, None])
def test_a_col_value_that_cannot_be_is_told(col_value: Any) -> None:
    with pytest.raises(UsageError, match=f"^col_value {col_value!r}: must be an integer from 1 to 1000000$"):
        hand_value(HAND, col_value=col_value)


def test_numbers_of_numpy_are_numbers_too() -> None:
    value = hand_value(HAND, np.int8(3), np.int64(2))
    assert (type(value), value) == (float, hand_value(HAND, 3, 2))
