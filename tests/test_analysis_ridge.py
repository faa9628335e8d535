"""The regression from sums of products is that from all rows at once."""

import numpy as np
import pytest

from velonimo_sim.analysis.ridge import Floats, best_penalty, fits, products, r_squared, squared_errors


def rows(count: int, seed: int) -> tuple[Floats, Floats]:
    """Return correlated features of different spread, and an outcome."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(count, 4)) @ rng.normal(size=(4, 4)) * [1, 10, 0.1, 3] + [0, 5, 1, -2]
    return features, features @ [1.0, 0.1, -3.0, 0.0] + 2 + rng.normal(size=count)


def test_without_a_penalty_it_is_least_squares() -> None:
    features, outcome = rows(200, seed=1)
    (fit,) = fits(products(features, outcome), [0.0])
    expected = np.linalg.lstsq(np.column_stack([np.ones(200), features]), outcome, rcond=None)[0]
    assert [fit.intercept, *fit.coefficients] == pytest.approx(expected)
    errors = ((outcome - fit.predict(features)) ** 2).sum()
    assert squared_errors(fit, products(features, outcome)) == pytest.approx(errors)


def test_with_a_penalty_what_ridge_shrinks_is_made_up_for_by_kadiyalas_formula() -> None:
    features, outcome = rows(200, seed=2)
    (fit,) = fits(products(features, outcome), [0.3])
    scaled = (features - features.mean(axis=0)) / features.std(axis=0)
    penalised = scaled.T @ scaled / 200 + 0.3 * np.eye(4)
    ridge = np.linalg.solve(penalised, scaled.T @ (outcome - outcome.mean()) / 200)
    expected = ridge + 0.3 * np.linalg.solve(penalised, ridge)
    assert fit.coefficients * features.std(axis=0) == pytest.approx(expected)
    assert fit.predict(features).mean() == pytest.approx(outcome.mean())


def test_what_does_not_differ_gets_nothing() -> None:
    """A feature that is always 3, and two that always add up to 1."""
    features, outcome = rows(200, seed=3)
    features[:, 0], features[:, 3] = 3, 1 - features[:, 2]
    (fit,) = fits(products(features, outcome), [0.0])
    assert fit.coefficients[0] == pytest.approx(0, abs=1e-9)
    assert fit.coefficients[2] == pytest.approx(-fit.coefficients[3])
    assert np.isfinite(fit.influence).all()


def test_the_pulls_of_the_deals_are_what_leaving_each_out_changes() -> None:
    """Left out, a deal moves the fit by its whole correction; half of it is between that and none."""
    features, outcome = rows(60, seed=4)
    starts = np.arange(0, 60, 3)
    sums = products(features, outcome)
    (fit,) = fits(sums, [0.0])
    pulls = fit.pulls(features, outcome, starts)
    for number, start in enumerate(starts):
        deal = slice(start, start + 3)
        (without,) = fits(sums - products(features[deal], outcome[deal]), [0.0])
        own = outcome[deal] - fit.predict(features[deal])
        plain = fit.influence @ ((features[deal] - fit.means).T @ own)
        left_out = fit.coefficients - without.coefficients
        assert np.linalg.norm(pulls[number] - (plain + left_out) / 2) < 0.3 * np.linalg.norm(left_out)


def test_the_penalty_is_that_which_predicts_best() -> None:
    rng = np.random.default_rng(5)
    features = rng.normal(size=(5, 60, 20))
    noise, signal = rng.normal(size=(5, 60)), features.sum(axis=-1)
    of_noise = np.array([products(*part) for part in zip(features, noise, strict=True)])
    of_signal = np.array([products(*part) for part in zip(features, signal + noise, strict=True)])
    assert best_penalty(of_noise, [0.0, 1.0, 100.0])[0] == 100
    penalty, r2 = best_penalty(of_signal, [0.0, 1.0, 100.0])
    assert penalty == 0
    assert r2 == pytest.approx(20 / 21, abs=0.02)


def test_of_outcomes_that_do_not_differ_nothing_is_explained() -> None:
    assert np.isnan(r_squared(0.0, 0.0))
