"""What a hand is worth before a card is played: fitting models, testing them, and asking those that are shipped."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from velonimo_sim.analysis.cards import FOLDS, TERMS, HandRows, hand_rows, hand_sums, hand_terms, products_by_fold
from velonimo_sim.analysis.hands import Words
from velonimo_sim.analysis.intervals import student_quantile
from velonimo_sim.analysis.moments import GroupMoments
from velonimo_sim.analysis.ridge import (
    PENALTIES,
    Floats,
    best_penalty,
    fits,
    products,
    r_squared,
    squared_deviations,
    squared_errors,
)
from velonimo_sim.analysis.runs import Source
from velonimo_sim.errors import UsageError, is_integer_in
from velonimo_sim.velonimo.cards import parse_cards

if TYPE_CHECKING:
    import pandas as pd

SHIPPED_MODELS = Path(__file__).with_name("hand_models.json")
"""The models that ``hand_value`` asks, fitted by ``experiments/024-cards``."""

_LARGEST_COL_VALUE = 1_000_000
_MOST_BINS = 100
"""The largest that ``RuleSet`` allows."""


@dataclass(frozen=True)
class HandModel:
    """The outcome expected of a hand, from what its cards and the groups that they form add.

    It is ``mean + slope * s + bend * s^2``, where s is the sum of ``intercept`` and the coefficient of each term of the
    hand.

    Attributes
    ----------
    players : int
        Seats of the games that it was fitted to.
    hand_size : int
        Cards of their hands.
    outcome : str
        What it predicts, as of ``card_values``.
    mean, slope, bend : float
        From the sum to the outcome. The bend is below 0 where good hands are not as good as the sum of what is in them.
    intercept : float
        Where the sum begins, such that it is 0 in the mean.
    coefficients : mapping
        What each of ``TERMS`` adds to the sum, in units of the outcome.
    r2 : float
        The share of the variance that it explains in deals that it was not fitted to.
    games, deals : int
        How many it was fitted to and tested on.

    Raises
    ------
    UsageError
        If the coefficients are not those of ``TERMS``.
    """

    players: int
    hand_size: int
    outcome: str
    mean: float
    slope: float
    bend: float
    intercept: float
    coefficients: Mapping[str, float]
    r2: float
    games: int
    deals: int

    def __post_init__(self) -> None:
        if {*self.coefficients} != {*TERMS}:
            term = min({*self.coefficients} ^ {*TERMS})
            raise UsageError(f"coefficient {term!r}: a model of hands has one for each of the {len(TERMS)} terms")

    def predict(self, hands: Words) -> Floats:
        """Return the outcome expected of each hand, float64; ``hands`` are words, uint64, shape (n,)."""
        sums = self.intercept + hand_terms(hands) @ [self.coefficients[term] for term in TERMS]
        return np.asarray(self.mean + self.slope * sums + self.bend * sums**2)

    def to_dict(self) -> dict[str, Any]:
        """Return the model as what JSON can hold."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> "HandModel":
        """Return the model that ``to_dict`` gave."""
        return cls(**content)


def fit_hand_model(run: Source, outcome: str = "beaten") -> HandModel:
    """Return a model of what hands reach, fitted to a run.

    One deal in five (the last of each five) is held out: the model is not fitted to it, and its ``r2`` and
    ``calibration`` come from there. To the others the regression of ``card_values`` with company is fitted, with the
    penalty that predicts best within them, and then a parabola from what it expects to the outcome.

    Parameters
    ----------
    run : LoadedRuns, Path, str, sequence or mapping of them, or pandas.DataFrame
        Runs, or rows of cols.
    outcome : str
        As of ``card_values``.

    Raises
    ------
    UsageError
        If games are not all of as many players, there are not more deals than terms (73), hands are not of one size,
        or there is no such outcome.
    """
    sums = hand_sums(run, outcome)
    penalty, _ = best_penalty(sums.folds[:-1], PENALTIES)
    # The parabola starts from what each part is expected to reach by the others: from a fit that knows a part's own
    # luck it would follow that, and undo the penalty.
    used = sums.folds[:-1].sum(axis=0)
    straight = [fits(used - part, [penalty])[0] for part in (*sums.folds[:-1], np.zeros_like(used))]
    coefficients = np.stack([fit.coefficients for fit in straight])
    intercepts = np.array([-fit.means @ fit.coefficients for fit in straight])
    folds = np.zeros((FOLDS, 4, 4))
    for rows in hand_rows(run, outcome):
        by_fit = intercepts + hand_terms(rows.hands) @ coefficients.T
        added = by_fit[np.arange(len(rows.fold)), rows.fold]
        folds += products_by_fold(np.column_stack([added, added**2]), rows.outcome, rows.fold)
    (bent,) = fits(folds[:-1].sum(axis=0), [0.0])
    slope, bend = bent.coefficients.tolist()
    return HandModel(
        players=sums.players,
        hand_size=sums.hand_size,
        outcome=outcome,
        mean=bent.intercept,
        slope=slope,
        bend=bend,
        intercept=float(intercepts[-1]),
        coefficients=dict(zip(TERMS, coefficients[-1].tolist(), strict=True)),
        r2=r_squared(squared_errors(bent, folds[-1]), squared_deviations(folds[-1])),
        games=sums.games,
        deals=sums.deals,
    )


def calibration(run: Source, model: HandModel, bins: int = 10, level: float = 0.95) -> "pd.DataFrame":
    """Return what hands reached beside what a model expected of them, on the deals that it was not fitted to.

    Parameters
    ----------
    run : pandas.DataFrame, Path, str, or a sequence of folders
        The run that the model was fitted to, or another.
    model : HandModel
        What ``fit_hand_model`` gave. One deal in five is used, that which it holds out.
    bins : int
        Hands are put into so many bins by what is expected of them, about as many hands into each.
    level : float
        The coverage asked for.

    Returns
    -------
    pandas.DataFrame
        One row a bin that is not empty: ``predicted`` and ``mean``, the mean outcome expected and seen; ``low``,
        ``high``, the interval of the latter, by deal, nan if there is one deal alone; ``rows``. ``attrs``: ``outcome``;
        ``games`` and ``deals``, those used; ``r2``, the share of the variance that is explained in them.

    Raises
    ------
    UsageError
        If the model is for another number of players, there are less than two bins, or less than five deals, the level
        is not between 0 and 1, or a column is missing.
    """
    import pandas as pd

    if not is_integer_in(bins, 2, _MOST_BINS):
        raise UsageError(f"bins {bins}: allowed is an integer 2-{_MOST_BINS}")
    # All predictions are held at once, in four bytes each, for their quantiles.
    predictions = [model.predict(rows.hands).astype(np.float32) for rows in _held_out(run, model)]
    if not predictions:
        raise UsageError(f"the run has less than {FOLDS} deals: a model is tested on the last of each {FOLDS}")
    edges = np.quantile(np.concatenate(predictions), np.arange(1, bins) / bins)
    moments, sums, games = GroupMoments(3 * bins), np.zeros((3, 3)), 0
    for rows in _held_out(run, model):
        predicted = model.predict(rows.hands)
        by_bin = np.zeros((len(predicted), bins, 3))
        seen = np.column_stack([np.ones(len(predicted)), predicted, rows.outcome])
        by_bin[np.arange(len(predicted)), np.searchsorted(edges, predicted)] = seen
        moments.add(np.add.reduceat(by_bin.reshape(-1, 3 * bins), rows.starts))
        sums += products(predicted[:, None], rows.outcome)
        games += rows.games
    errors = sums[2, 2] - 2 * sums[1, 2] + sums[1, 1]
    table = pd.DataFrame(_calibrated_bins(moments, level))
    r2 = r_squared(float(errors), squared_deviations(sums))
    table.attrs |= {"outcome": model.outcome, "games": games, "deals": moments.groups, "r2": r2}
    return table


def _held_out(run: Source, model: HandModel) -> Iterator[HandRows]:
    """Yield the rows of the deals that models are not fitted to."""
    for rows in hand_rows(run, model.outcome, [FOLDS - 1]):
        if rows.players != model.players:
            raise UsageError(f"games of {rows.players} players: the model is for {model.players}")
        yield rows


def _calibrated_bins(moments: GroupMoments, level: float) -> list[dict[str, float]]:
    """Return the bins that are not empty, from moments of vectors with rows, prediction and outcome of each bin.

    A mean is a ratio of two sums over deals. Its interval is that of the deals' deviations from it: outcome less mean,
    summed over their rows (Cochran, "Sampling techniques", 3rd edition, 1977, chapter 6).
    """
    # One deal alone does not vary, and tells nothing of how others do.
    bins, quantile = [], student_quantile(level, moments.groups - 1) if moments.groups > 1 else np.nan
    for number, (rows, predicted, outcome) in enumerate(moments.mean.reshape(-1, 3)):
        if rows == 0:
            continue
        mean, contrast = outcome / rows, np.zeros(len(moments.mean))
        contrast[3 * number], contrast[3 * number + 2] = -mean / rows, 1 / rows
        half = quantile * np.sqrt(moments.variance_of_mean(contrast))
        limits = {"predicted": predicted / rows, "mean": mean, "low": mean - half, "high": mean + half}
        bins.append(limits | {"rows": round(rows * moments.groups)})
    return bins


def hand_value(cards: str | Sequence[str], players: int = 4, col_value: int = 1) -> float:
    """Return the points that a hand is expected to bring in a col, before a card is played.

    The models behind it are fitted to games of ``advised`` against itself (``experiments/024-cards``). They explain a
    small share of what a hand reaches, 4-10 % by number of players, where no model of the hand could explain more than
    5-12 % (``hand_ceiling``): the rest is the other hands, and play.

    Parameters
    ----------
    cards : str or sequence of str
        The cards of a hand: ``"R7 H25 ..."``, or a list of the texts.
    players : int
        2-5.
    col_value : int
        Points for each opponent still racing (V14).

    Returns
    -------
    float
        From 0 to ``col_value * (players - 1)``.

    Raises
    ------
    UsageError
        If a card does not exist or is named twice, there are not as many as are dealt, there is no model for so many
        players, or the value of the col is not an integer from 1 to 1,000,000.
    """
    models = _shipped_models()
    if not is_integer_in(players, min(models), max(models)):
        raise UsageError(f"players {players!r}: must be an integer from {min(models)} to {max(models)}")
    if not is_integer_in(col_value, 1, _LARGEST_COL_VALUE):
        raise UsageError(f"col_value {col_value!r}: must be an integer from 1 to {_LARGEST_COL_VALUE}")
    model, texts = models[players], cards.split() if isinstance(cards, str) else list(cards)
    try:
        hand = parse_cards(texts)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if len(texts) != model.hand_size:
        raise UsageError(f"a hand of {len(texts)} cards: the model is for hands of {model.hand_size}")
    beaten = float(model.predict(np.array([hand]))[0])
    return float(col_value * min(max(beaten, 0.0), players - 1.0))


def save_models(models: Iterable[HandModel], path: Path) -> None:
    """Write models to a JSON file, such as ``SHIPPED_MODELS``, those that ``hand_value`` asks."""
    content = [model.to_dict() for model in models]
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def load_models(path: Path) -> dict[int, HandModel]:
    """Return the models of a file of ``save_models`` by their number of players."""
    models = map(HandModel.from_dict, json.loads(path.read_text(encoding="utf-8")))
    return {model.players: model for model in models}


@cache
def _shipped_models() -> dict[int, HandModel]:
    return load_models(SHIPPED_MODELS)
