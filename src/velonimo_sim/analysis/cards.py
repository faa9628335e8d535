"""What cards are worth: an outcome regressed on the dealt hands, with intervals by deal and checked by hold-out."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.analysis.hands import DECK_TEXTS, Words, card_matrix, colour_counts, hand_feature, number_counts
from velonimo_sim.analysis.intervals import student_quantile
from velonimo_sim.analysis.moments import GroupMoments
from velonimo_sim.analysis.ridge import PENALTIES, Floats, LinearFit, best_penalty, fits, products
from velonimo_sim.analysis.runs import Source, batches
from velonimo_sim.errors import UsageError, unknown_name
from velonimo_sim.velonimo.cards import DECK_SIZE

if TYPE_CHECKING:
    import pandas as pd

HAND_OUTCOMES = ("beaten", "points", "won", "total", "place")
"""What a hand may be judged by: opponents beaten and points of the col; winning, points and place of the game."""

COMPANY_TERMS: Mapping[str, str] = MappingProxyType(
    {
        "2nd of a colour": "teams with 2 riders or more in the hand",
        "3rd of a colour": "teams with 3 riders or more in the hand",
        "4th of a colour": "teams with 4 riders or more in the hand",
        "5th of a colour": "teams with 5 riders or more in the hand",
        "6th of a colour": "teams with 6 or 7 riders in the hand",
        "2nd of a number": "numbers 3-7 with 2 riders or more in the hand",
        "3rd of a number": "numbers 3-7 with 3 riders or more in the hand",
        "4th of a number": "numbers 3-7 with 4 riders or more in the hand",
        "5th of a number": "numbers 3-7 with 5 riders or more in the hand",
        "2nd Tortoise": "2 Tortoises or more in the hand",
        "3rd Tortoise": "3 Tortoises or more in the hand",
        "4th Tortoise": "4 Tortoises or more in the hand",
        "2nd Dromedary": "2 Dromedaries or more in the hand",
        "3rd Dromedary": "3 Dromedaries or more in the hand",
        "4th Dromedary": "4 Dromedaries or more in the hand",
        "2nd hare": "2 hares or more in the hand",
        "3rd hare": "3 hares or more in the hand",
        "4th hare": "4 hares or more in the hand",
    }
)
"""The groups that cards can form, and what is counted of each in a hand.

The first of a kind is no term: with it the terms of a kind would add up to its cards. What comes after the last term is
too rare to be told apart (a seventh rider of a colour is in one hand of 90,000), and counts with it.
"""

TERMS = (*DECK_TEXTS, *COMPANY_TERMS)
"""The features of a hand in regressions: the cards in the order of the deck, then the groups that they form."""

FOLDS = 5
"""Deals are predicted from the others in so many parts: deal number n of a run, from 0 on, is in part ``n % FOLDS``."""

_UNBIASED = tuple(penalty for penalty in PENALTIES if penalty <= 0.01)
"""Penalties for estimates with intervals. The correlations of ``TERMS``, as dealt, have no eigenvalue below 0.074 but
the 0 of the fixed hand size; so no coefficient is shrunk by more than 1.5 %, for which the interval has room."""

_VALUE = ("value", "low", "high")
_IN_COMPANY = ("in_company", "in_company_low", "in_company_high")

_PART = 65_536
"""Hands are made features in parts of about so many, 40 MB, so that memory stays small."""


@dataclass(frozen=True, eq=False)
class HandRows:
    """Some rows of a run: whole deals, one after the other.

    Attributes
    ----------
    hands, outcome : numpy.ndarray
        dtype uint64 and float64, shape (n,).
    fold : numpy.ndarray
        dtype int64, shape (n,): which of the ``FOLDS`` parts of the deals it belongs to.
    starts : numpy.ndarray
        dtype intp, shape (deals,): the first row of each deal.
    games : int
        How many games these are.
    players : int
        Seats of a game: the same in all parts of a run.
    """

    hands: Words
    outcome: Floats
    fold: NDArray[np.int64]
    starts: NDArray[np.intp]
    games: int
    players: int


def hand_rows(run: Source, outcome: str, folds: Collection[int] = range(FOLDS)) -> Iterator[HandRows]:
    """Yield the hands of a run and an outcome of theirs, in parts of whole deals.

    Parameters
    ----------
    run : LoadedRuns, Path, str, sequence or mapping of them, or pandas.DataFrame
        Runs, or rows of cols.
    outcome : str
        One of ``HAND_OUTCOMES``.
    folds : collection of int
        Which of the ``FOLDS`` parts of the deals; by default all.

    Raises
    ------
    UsageError
        If there is no such outcome, a column is missing, or games are not all of as many players.
    """
    if outcome not in HAND_OUTCOMES:
        raise unknown_name("outcome of a hand", outcome, HAND_OUTCOMES)
    deals, players = 0, set[int]()
    for batch in batches(run, ["run", "game_id", "players", "hand", outcome]):
        players |= set(batch["players"].unique().tolist())
        if len(players) > 1:
            raise UsageError(
                f"games of {min(players)} to {max(players)} players: hands are compared among games of as many players"
            )
        runs = batch["run"].astype("category").cat.codes
        keys = np.stack([batch["group"], runs, batch["game_id"]])
        order = np.lexsort(keys[::-1])
        begins = np.diff(keys[:, order], prepend=-1) != 0
        begins_deal, begins_game = begins[0], begins.any(axis=0)
        fold = (deals + np.cumsum(begins_deal) - 1) % FOLDS
        deals += int(begins_deal.sum())
        used = np.flatnonzero(np.isin(fold, [*folds]))
        if len(used) == 0:
            continue
        hands, outcomes = batch["hand"].to_numpy(np.uint64)[order], batch[outcome].to_numpy(np.float64)[order]
        starts = np.flatnonzero(begins_deal[used])
        begins_part = np.diff(starts // _PART, prepend=-1) != 0
        for rows in np.array_split(used, starts[begins_part][1:]):
            starts_of_part, games = np.flatnonzero(begins_deal[rows]), int(begins_game[rows].sum())
            yield HandRows(hands[rows], outcomes[rows], fold[rows], starts_of_part, games, min(players))


def hand_terms(hands: Words) -> Floats:
    """Return the ``TERMS`` of each hand, dtype float64, shape (n, 73)."""
    numbers = number_counts(hands)
    groups = (
        (colour_counts(hands), 6),
        (numbers[:, 2:], 5),
        (numbers[:, :1], 4),
        (numbers[:, 1:2], 4),
        (hand_feature("hares", hands)[:, None], 4),
    )
    company = [(counts >= size).sum(axis=1) for counts, most in groups for size in range(2, most + 1)]
    return np.column_stack([card_matrix(hands), *company]).astype(np.float64)


def products_by_fold(features: Floats, outcome: Floats, fold: NDArray[np.int64]) -> Floats:
    """Return the ``products`` of features and outcome by part of the deals, shape (FOLDS, p + 2, p + 2)."""
    parts = (fold == number for number in range(FOLDS))
    return np.stack([products(features[part], outcome[part]) for part in parts])


@dataclass(frozen=True, eq=False)
class HandSums:
    """What regressions need to know of a run.

    Attributes
    ----------
    folds : numpy.ndarray
        dtype float64, shape (FOLDS, 75, 75): sums of products of ``TERMS`` and the outcome, by part of the deals.
    holding, deals_holding : numpy.ndarray
        dtype int64, shape (73,): hands that have the term, and deals with such a hand.
    hand_size : int
        Cards of a hand.
    games, deals : int
        How many there are.
    players : int
        Seats of a game.
    """

    folds: Floats
    holding: NDArray[np.int64]
    deals_holding: NDArray[np.int64]
    hand_size: int
    games: int
    deals: int
    players: int


def hand_sums(run: Source, outcome: str) -> HandSums:
    """Return what regressions need to know of a run.

    Raises
    ------
    UsageError
        If there are no more deals than terms, games are not all of as many players, hands are not of one size, there
        is no such outcome, or a column is missing.
    """
    folds = np.zeros((FOLDS, len(TERMS) + 2, len(TERMS) + 2))
    holding, deals_holding = np.zeros((2, len(TERMS)), np.int64)
    sizes, games, deals, players = set[int](), 0, 0, 0
    for rows in hand_rows(run, outcome):
        terms = hand_terms(rows.hands)
        folds += products_by_fold(terms, rows.outcome, rows.fold)
        holds = terms > 0
        holding += holds.sum(axis=0)
        deals_holding += np.logical_or.reduceat(holds, rows.starts).sum(axis=0)
        sizes |= set(np.unique(np.bitwise_count(rows.hands)).tolist())
        games, deals, players = games + rows.games, deals + len(rows.starts), rows.players
    if deals <= len(TERMS):
        raise UsageError(f"the run has {deals} deals: what cards are worth takes more than {len(TERMS)}")
    if len(sizes) > 1:
        raise UsageError(f"hands of {min(sizes)} to {max(sizes)} cards: cards are compared among hands of one size")
    return HandSums(folds, holding, deals_holding, sizes.pop(), games, deals, players)


@dataclass(frozen=True, eq=False)
class _Estimates:
    """A regression on the first terms, with the moments of what each deal adds to its coefficients."""

    fit: LinearFit
    pulls: GroupMoments
    penalty: float
    r2: float

    @cached_property
    def covariance(self) -> Floats:
        """Covariance of the coefficients, which the pulls of all deals make up together."""
        return self.pulls.groups * self.pulls.covariance

    def interval(self, contrast: Floats, deals_holding: int, level: float) -> tuple[float, float, float]:
        """Return a weighted sum of coefficients and its interval; nan for what is in less than two deals.

        What few deals hold rests on them: Student's quantile has as many degrees of freedom, less one.
        """
        if deals_holding < 2:
            return np.nan, np.nan, np.nan
        value = float(contrast @ self.fit.coefficients)
        half = student_quantile(level, deals_holding - 1) * float(np.sqrt(contrast @ self.covariance @ contrast))
        return value, value - half, value + half


def _estimated(run: Source, outcome: str, sums: HandSums, sizes: tuple[int, ...]) -> list[_Estimates]:
    """Return a regression for each number of terms: on the cards alone, or with their company."""
    chosen = []
    for size in sizes:
        used = [*range(size + 1), -1]
        folds = sums.folds[:, used][:, :, used]
        penalty, r2 = best_penalty(folds, _UNBIASED)
        (fit,) = fits(folds.sum(axis=0), [penalty])
        chosen.append(_Estimates(fit, GroupMoments(size), penalty, r2))
    for rows in hand_rows(run, outcome):
        terms = hand_terms(rows.hands)
        for size, estimates in zip(sizes, chosen, strict=True):
            estimates.pulls.add(estimates.fit.pulls(terms[:, :size], rows.outcome, rows.starts))
    return chosen


def card_values(run: Source, outcome: str = "beaten", level: float = 0.95) -> "pd.DataFrame":
    """Return what each card is worth: by itself and with all that it brings, and apart from the groups that it forms.

    The value of a card is by how much the outcome is higher, in the mean, with this card in the hand instead of the
    average of the 54 others. As hands are of one size, only such comparisons can be made; so the 55 values add up to 0.
    It is the coefficient of the card less the mean of the other coefficients, in a linear regression on the cards of
    the hand. As hands are dealt at random, this is, but for chance, also by how much the mean of the hands with the
    card exceeds that of the hands without it. It includes the groups that the card forms with the others in hand.
    ``in_company`` is the same of a regression that knows these groups, as ``company_values`` tells them: the card as
    the first of its colour and number.

    Regressions are almost unbiased ridge regressions (``analysis/ridge.py``), with the penalty that predicts deals
    best that it was not fitted to, out of penalties so small that intervals stay right. Intervals rest on the deals:
    each deal pulls the coefficients by its residuals, and the variance of these pulls is that of the coefficients
    (Liang and Zeger, "Longitudinal data analysis using generalized linear models", Biometrika 73, 1986).

    Parameters
    ----------
    run : LoadedRuns, Path, str, sequence or mapping of them, or pandas.DataFrame
        Runs, or rows of cols.
    outcome : str
        ``beaten``, the opponents still racing when the seat goes out, which times the col value are the points of the
        col (V14); ``points`` of the col; or ``won``, ``total``, ``place`` of the game.
    level : float
        The coverage asked for.

    Returns
    -------
    pandas.DataFrame
        ``card``, in the order of the deck; ``value``, ``low``, ``high``; ``in_company``, ``in_company_low``,
        ``in_company_high``, all in units of the outcome; ``hands``, the number of rows that hold it. A card in less
        than two deals has nan. ``attrs``: ``outcome``, ``games``, ``deals``; of the cards alone ``r2``, the share of
        the variance that is explained in deals not fitted to, and ``penalty``; of both ``r2_in_company`` and
        ``penalty_in_company``.

    Raises
    ------
    UsageError
        If there are not more deals than terms (73), games are not all of as many players, hands are not of one size,
        there is no such outcome, or the level is not between 0 and 1.
    """
    import pandas as pd

    sums = hand_sums(run, outcome)
    alone, company = _estimated(run, outcome, sums, (DECK_SIZE, len(TERMS)))
    records: list[dict[str, object]] = []
    for index, card in enumerate(DECK_TEXTS):
        record: dict[str, object] = {"card": card}
        for names, estimates in ((_VALUE, alone), (_IN_COMPANY, company)):
            contrast = np.zeros(len(estimates.fit.coefficients))
            contrast[:DECK_SIZE] = -1 / (DECK_SIZE - 1)
            contrast[index] = 1
            interval = estimates.interval(contrast, int(sums.deals_holding[index]), level)
            record |= dict(zip(names, interval, strict=True))
        records.append(record | {"hands": sums.holding[index]})
    table = pd.DataFrame(records)
    table.attrs |= _described(outcome, sums, alone) | {
        "r2_in_company": company.r2,
        "penalty_in_company": company.penalty,
    }
    return table


def card_differences(
    run: Source, pairs: Sequence[tuple[str, str]], outcome: str = "beaten", level: float = 0.95
) -> "pd.DataFrame":
    """Return by how much cards are worth more than others, by the regression of ``card_values`` on the cards alone.

    Parameters
    ----------
    run, outcome, level
        As of ``card_values``.
    pairs : sequence of (str, str)
        The cards that are compared: ``("H50", "R7")``, the first instead of the second.

    Returns
    -------
    pandas.DataFrame
        ``card``, ``instead``, the first and the second; ``mean``, ``low``, ``high`` of the difference, in units of the
        outcome; ``hands``, the number of rows that hold the first. ``attrs`` are those of ``company_values``.

    Raises
    ------
    UsageError
        As ``card_values``; and if there is no such card.
    """
    import pandas as pd

    for card in chain.from_iterable(pairs):
        if card not in DECK_TEXTS:
            raise unknown_name("card", card, ["a letter of BNAGPRY with 1-7", "H25 to H50"])
    sums = hand_sums(run, outcome)
    (estimates,) = _estimated(run, outcome, sums, (DECK_SIZE,))
    records = []
    for pair in pairs:
        first, second = (DECK_TEXTS.index(card) for card in pair)
        contrast = np.eye(DECK_SIZE)[first] - np.eye(DECK_SIZE)[second]
        interval = estimates.interval(contrast, int(sums.deals_holding[[first, second]].min()), level)
        record = dict(zip(("card", "instead", "mean", "low", "high"), (*pair, *interval), strict=True))
        records.append(record | {"hands": sums.holding[first]})
    table = pd.DataFrame(records)
    table.attrs |= _described(outcome, sums, estimates)
    return table


def company_values(run: Source, outcome: str = "beaten", level: float = 0.95) -> "pd.DataFrame":
    """Return what cards are worth by the groups that they form in a hand.

    A rider that is the second of its colour in the hand is worth so much more than it would be as the first, which is
    what ``in_company`` of ``card_values`` tells; a third one so much more than it would be as the first, and so on. A
    rider may be the second of its colour and the third of its number, and both count. Method and intervals are those of
    ``card_values``.

    Parameters
    ----------
    run : LoadedRuns, Path, str, sequence or mapping of them, or pandas.DataFrame
        Runs, or rows of cols.
    outcome : str
        As of ``card_values``.
    level : float
        The coverage asked for.

    Returns
    -------
    pandas.DataFrame
        ``term`` and ``meaning``, as of ``COMPANY_TERMS``; ``value``, ``low``, ``high`` in units of the outcome;
        ``hands``, the number of rows that have such a group. A group in less than two deals has nan. ``attrs``:
        ``outcome``, ``games``, ``deals``, ``r2`` and ``penalty`` of this regression.

    Raises
    ------
    UsageError
        As ``card_values``.
    """
    import pandas as pd

    sums = hand_sums(run, outcome)
    (estimates,) = _estimated(run, outcome, sums, (len(TERMS),))
    records = []
    for index, (term, meaning) in enumerate(COMPANY_TERMS.items(), DECK_SIZE):
        contrast = np.eye(len(TERMS))[index]
        interval = estimates.interval(contrast, int(sums.deals_holding[index]), level)
        record = {"term": term, "meaning": meaning} | dict(zip(_VALUE, interval, strict=True))
        records.append(record | {"hands": sums.holding[index]})
    table = pd.DataFrame(records)
    table.attrs |= _described(outcome, sums, estimates)
    return table


def _described(outcome: str, sums: HandSums, estimates: _Estimates) -> dict[str, object]:
    counts = {"outcome": outcome, "games": sums.games, "deals": sums.deals}
    return counts | {"r2": estimates.r2, "penalty": estimates.penalty}
