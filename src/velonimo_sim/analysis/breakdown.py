"""Means of any outcome by any columns, and their differences, with intervals that rest on the deals.

``outcomes_by(run, by=["bot", "seat"])`` is for all questions of the kind "how much, by what?": by bot, seat, number
of players, col, starter, or a feature of the hand. ``differences_by(run, across="run")`` is for those of the kind "how
much more than?".
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.analysis.intervals import bounded_interval
from velonimo_sim.analysis.runs import Source, batches
from velonimo_sim.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

_MOST_KEYS = 2_000
"""The most combinations of values: their moments are matrices."""
_MOST_GAMES = 1 << 40
"""Games of a run have numbers below this."""


def outcomes_by(
    source: Source,
    by: Sequence[str],
    outcome: str = "won",
    where: Mapping[str, Any] | None = None,
    level: float = 0.95,
) -> "pd.DataFrame":
    """Return the mean of an outcome for each combination of values of some columns.

    Parameters
    ----------
    source : LoadedRuns, LoadedRows, Path, str, sequence or mapping of them, or pandas.DataFrame
        Runs; their rows of one kind, as ``load("my-run").races``, which tells the ``turns`` of a race from those of a
        seat; or rows at hand with ``group`` or ``deal_id``.
    by : sequence of str
        Columns, such as ``bot``, ``seat``, ``players``, ``run``, ``col``, ``started``, ``tortoises``, a feature of the
        hand (``HAND_FEATURES``), or a rule option, as ``jersey_bonus``; none for the mean of all.
    outcome : str
        A column of numbers, such as ``won``, ``place``, ``total``; of a col ``points`` or ``beaten``. Intervals stay
        within the least and the greatest value seen, also where ``where`` does not hold; of a flag within 0 and 1.
    where : mapping, optional
        Columns and the values that they have to have: ``{"col": 1}``.
    level : float
        The coverage asked for.

    Returns
    -------
    pandas.DataFrame
        The columns of ``by``, in ascending order; ``mean``, ``low``, ``high`` in units of the outcome; ``rows``,
        ``games`` and ``deals``, how many there are. ``attrs`` says the ``outcome``, and how many ``games`` and
        ``deals`` there are in all.

    Raises
    ------
    UsageError
        If a column is missing or no numbers are in it, a condition is not one value, no row is left, or there are
        more than 2,000 combinations of values.
    """
    return moments_by(source, by, outcome, where).table(level)


def differences_by(
    source: Source,
    across: str,
    by: Sequence[str] = (),
    outcome: str = "won",
    baseline: Any = None,
    where: Mapping[str, Any] | None = None,
    level: float = 0.95,
) -> "pd.DataFrame":
    """Return by how much the mean of an outcome is higher for each value of a column than for one of its values.

    With ``across="run"``, or a rule option, runs from the same seed are compared, under other rules or with other bots.
    Deals that not all runs of a seed have played are left out, and so are combinations of values without the baseline.

    Parameters
    ----------
    source, by, outcome, where, level
        As for ``outcomes_by``.
    across : str
        The column whose values are compared.
    baseline : optional
        The value that the others are compared with; by default the least, of runs the first.

    Returns
    -------
    pandas.DataFrame
        The columns of ``by`` and ``across``, without the baseline; ``mean``, ``low``, ``high`` of the difference;
        ``rows``, ``games``, ``deals`` of the value compared. ``attrs`` also says the ``baseline``.

    Raises
    ------
    UsageError
        As ``outcomes_by``; and if no row has the baseline, nothing is there to compare, or ``across`` is in ``by``.
    """
    if across in by:
        raise UsageError(f"across {across!r}: by names it, too; allowed is another column")
    moments = moments_by(source, [*by, across], outcome, where, shared=True)
    values = moments.keys[across]
    chosen = values.sort_values().iloc[0] if baseline is None else baseline
    is_baseline = (values == chosen).to_numpy()
    if not is_baseline.any():
        raise UsageError(f"baseline {chosen!r}: {across} is {', '.join(map(repr, values.unique().tolist()))}")
    others = list(moments.keys[list(by)].itertuples(index=False, name=None)) if by else [()] * len(values)
    baselines = {other: key for key, other in enumerate(others) if is_baseline[key]}
    compared = [key for key, other in enumerate(others) if not is_baseline[key] and other in baselines]
    if not compared:
        raise UsageError(f"across {across!r}: there is nothing to compare with {chosen!r}")
    units = np.eye(len(values))
    table = moments.table_of(compared, [units[key] - units[baselines[others[key]]] for key in compared], level)
    table.attrs |= {"baseline": chosen, "across": across}
    return table


@dataclass(frozen=True, eq=False)
class MomentsBy:
    """Sums over the rows of each key, and over the deals for each pair of keys: enough for every mean and contrast.

    A mean is a ratio, the sum of an outcome over the number of rows, both of which differ from deal to deal. Its
    variance, and that of weighted sums of means, is that of the ratio linearised, with the deals as independent
    clusters (Cochran, "Sampling Techniques", 1977, chapter 6; Liang and Zeger, Biometrika 73, 1986).

    Attributes
    ----------
    keys : pandas.DataFrame
        The values of the columns, one row a key; ascending.
    rows, sums, games, deals : numpy.ndarray
        Shape (keys,): number of rows, sum of the outcome, numbers of games and of deals in which the key occurs.
    rows_rows, rows_sums, sums_sums : numpy.ndarray
        Shape (keys, keys): sums over the deals of the products of two keys' rows and sums.
    bounds : (float, float)
        The least and the greatest value that the outcome can have.
    attrs : mapping
        ``outcome``, and the numbers of ``games`` and ``deals`` in all.
    """

    keys: "pd.DataFrame"
    rows: NDArray[np.float64]
    sums: NDArray[np.float64]
    games: NDArray[np.float64]
    deals: NDArray[np.float64]
    rows_rows: NDArray[np.float64]
    rows_sums: NDArray[np.float64]
    sums_sums: NDArray[np.float64]
    bounds: tuple[float, float]
    attrs: dict[str, Any]

    @cached_property
    def means(self) -> NDArray[np.float64]:
        """Mean of the outcome, shape (keys,)."""
        return self.sums / self.rows

    @cached_property
    def covariance(self) -> NDArray[np.float64]:
        """Covariance of the means, shape (keys, keys), without the correction for the number of deals."""
        means = self.means
        cross = means[:, None] * self.rows_sums
        scatter = self.sums_sums - cross - cross.T + np.outer(means, means) * self.rows_rows
        return np.asarray(scatter / np.outer(self.rows, self.rows), np.float64)

    def contrast(self, weights: NDArray[np.float64], level: float = 0.95) -> tuple[float, float, float]:
        """Return a weighted sum of the means and its interval.

        The interval is put together from those of the means, with their correlation, so that it is as sound where a
        key is rare as they are (Zou and Donner, "Construction of confidence limits about effect measures", Statistics
        in Medicine 27, 2008).

        Parameters
        ----------
        weights : numpy.ndarray
            dtype float64, shape (keys,): 1 and -1 for the difference of two keys.
        level : float
            The coverage asked for.

        Returns
        -------
        (float, float, float)
            Mean, low, high.
        """
        used = np.flatnonzero(weights)
        signs, means, covariance = np.sign(weights[used]), self.means[used], self.covariance[np.ix_(used, used)]
        intervals = np.array([self._interval(int(key), level) for key in used])
        distances = np.abs(weights[used, None] * (intervals - means[:, None]))
        down, up = np.where(signs[:, None] > 0, distances, distances[:, ::-1]).T
        spread = np.sqrt(np.maximum(np.diag(covariance), 0))
        with np.errstate(divide="ignore", invalid="ignore"):
            correlation = np.where(np.outer(spread, spread) > 0, covariance / np.outer(spread, spread), 0.0)
        np.fill_diagonal(correlation, 1.0)
        together = correlation * np.outer(signs, signs)
        mean = float(weights[used] @ means)
        return mean, mean - _length(down, together), mean + _length(up, together)

    def _interval(self, key: int, level: float) -> tuple[float, float]:
        """Return the interval of the mean of one key."""
        deals = int(self.deals[key])
        variance = max(float(self.covariance[key, key]), 0.0) * deals / max(deals - 1, 1)
        if self.bounds[0] == self.bounds[1]:
            return self.bounds
        return bounded_interval(float(self.means[key]), variance, deals, self.bounds, level)

    def counts(self, key: int) -> dict[str, int]:
        """Return how many rows, games and deals a key has."""
        return {"rows": int(self.rows[key]), "games": int(self.games[key]), "deals": int(self.deals[key])}

    def table(self, level: float = 0.95) -> "pd.DataFrame":
        """Return the keys with their means, intervals and numbers of rows, games and deals."""
        return self.table_of(range(len(self.keys)), np.eye(len(self.keys)), level)

    def table_of(self, keys: Sequence[int], weights: Iterable[NDArray[np.float64]], level: float) -> "pd.DataFrame":
        """Return some keys, with one contrast each and their numbers of rows, games and deals."""
        import pandas as pd

        contrasts = np.array([self.contrast(of_key, level) for of_key in weights]).reshape(-1, 3)
        counts = pd.DataFrame(map(self.counts, keys), columns=["rows", "games", "deals"], dtype=np.int64)
        means = pd.DataFrame(contrasts, columns=["mean", "low", "high"])
        table = pd.concat([self.keys.iloc[keys].reset_index(drop=True), means, counts], axis=1)
        table.attrs = dict(self.attrs)
        return table

    def shares(self, within: Sequence[str], level: float = 0.95) -> "pd.DataFrame":
        """Return the share of each key among the rows that have the same values of some columns.

        A share is a ratio as a mean is, and so is its variance.

        Parameters
        ----------
        within : sequence of str
            Columns of the keys; none for the share of all rows.
        level : float
            The coverage asked for.

        Returns
        -------
        pandas.DataFrame
            The keys; ``share``, ``low``, ``high``; ``rows``, ``games`` and ``deals`` of the key. Shares of the same
            values add up to 1.
        """
        import pandas as pd

        records = []
        for key in range(len(self.keys)):
            total = (self.keys[[*within]] == self.keys.loc[key, [*within]]).all(axis=1).to_numpy().astype(np.float64)
            share = self.rows[key] / (total @ self.rows)
            residual = (np.eye(len(total))[key] - share * total) / (total @ self.rows)
            variance = max(float(residual @ self.rows_rows @ residual), 0.0)
            deals = int((total * self.deals).max())  # there may be more in all, which makes next to no difference
            low, high = bounded_interval(share, variance * deals / max(deals - 1, 1), deals, (0.0, 1.0), level)
            records.append({"share": share, "low": low, "high": high} | self.counts(key))
        table = pd.concat([self.keys, pd.DataFrame(records)], axis=1)
        table.attrs = dict(self.attrs)
        return table


def moments_by(
    source: Source, by: Sequence[str], outcome: str, where: Mapping[str, Any] | None = None, shared: bool = False
) -> MomentsBy:
    """Return the sums that means by some columns and their contrasts are computed from.

    Parameters
    ----------
    source, by, outcome, where
        As for ``outcomes_by``.
    shared : bool
        Leave out the deals that not all runs of their seed have played.

    Raises
    ------
    UsageError
        As ``outcomes_by``.
    """
    if isinstance(by, str):
        raise UsageError(f"by {by!r}: allowed is a list of columns, such as [{by!r}]")
    if where is not None and not isinstance(where, Mapping):
        raise UsageError(f"where {where!r}: allowed is a mapping, such as {{'col': 1}}")
    conditions = dict(where or {})
    for column, value in conditions.items():
        if not np.isscalar(value):
            raise UsageError(f"where {column} = {value!r}: allowed is one value")
    gathered = _Gathered(by, outcome)
    for batch in batches(source, [*by, outcome, *conditions, "run", "game_id"], shared):
        if len(batch) == 0:
            continue
        gathered.widen_bounds(batch)
        chosen = np.ones(len(batch), bool)
        for column, value in conditions.items():
            chosen &= (batch[column] == value).to_numpy()
        if chosen.any():
            gathered.add(batch[chosen])
    moments = gathered.moments()
    if moments is None:
        told = " and ".join(f"{column} = {value!r}" for column, value in conditions.items())
        raise UsageError(f"where {told}: no row is so" if told else "the runs share no deal")
    return moments


def moments_of(parts: Iterable["pd.DataFrame"], by: Sequence[str], outcome: str) -> MomentsBy | None:
    """Return the sums of ``MomentsBy`` over rows that come a part at a time; None if there are none.

    A row may come several times, with another key each time: groups may overlap, and their means are correlated as they
    are.

    Parameters
    ----------
    parts : iterable of pandas.DataFrame
        With the columns named, ``group``, ``run`` and ``game_id``; all rows of a group come in one part.
    by, outcome
        As for ``outcomes_by``.

    Raises
    ------
    UsageError
        If no numbers are in the outcome, or there are too many combinations of values.
    """
    gathered = _Gathered(by, outcome)
    for part in parts:
        if len(part):
            gathered.widen_bounds(part)
            gathered.add(part)
    return gathered.moments()


def _length(distances: NDArray[np.float64], correlation: NDArray[np.float64]) -> float:
    """Return the length of a sum of distances that are correlated."""
    return math.sqrt(max(float(distances @ correlation @ distances), 0.0))


class _Gathered:
    """The sums of ``MomentsBy``, added up batch by batch, with keys in the order in which they appear."""

    def __init__(self, by: Sequence[str], outcome: str) -> None:
        self._by = list(dict.fromkeys(by))
        self._outcome = outcome
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._keys: list[pd.DataFrame] = []
        self._by_key = np.zeros((4, 0))  # rows, sums, games, deals
        self._by_pair = np.zeros((3, 0, 0))  # rows x rows, rows x sums, sums x sums
        self._least, self._greatest = np.inf, -np.inf
        self._games = self._deals = 0

    def widen_bounds(self, batch: "pd.DataFrame") -> None:
        """Take the least and the greatest value of rows into account, whether or not they are added: a flag has two."""
        values = _as_numbers(batch[self._outcome])
        seen = (0.0, 1.0) if batch[self._outcome].dtype == bool else (float(values.min()), float(values.max()))
        self._least, self._greatest = min(self._least, seen[0]), max(self._greatest, seen[1])

    def add(self, batch: "pd.DataFrame") -> None:
        """Add rows, all of the deals that they are of."""
        from scipy.sparse import csr_array  # a deal has few of all keys

        values = _as_numbers(batch[self._outcome])
        key = self._number_keys(batch)
        deals, deal = np.unique(batch["group"].to_numpy(), return_inverse=True)
        runs = batch["run"].astype("category").cat.codes.to_numpy(np.int64)
        game_of_row = np.unique(runs * _MOST_GAMES + batch["game_id"].to_numpy(), return_inverse=True)[1]
        keys = len(self._numbers)
        rows, sums = (csr_array((each, (deal, key)), (len(deals), keys)) for each in (np.ones(len(batch)), values))
        games = np.bincount(np.unique(game_of_row * keys + key) % keys, minlength=keys)
        deals_of_key = np.bincount(rows.nonzero()[1], minlength=keys)
        self._by_key += np.array([rows.sum(axis=0), sums.sum(axis=0), games, deals_of_key])
        self._by_pair += np.array([(rows.T @ rows).toarray(), (rows.T @ sums).toarray(), (sums.T @ sums).toarray()])
        self._games, self._deals = self._games + int(game_of_row.max()) + 1, self._deals + len(deals)

    def _number_keys(self, batch: "pd.DataFrame") -> NDArray[np.intp]:
        """Return the number of the key of each row; keys that were not seen before get the next numbers."""
        import pandas as pd

        if self._by:
            local = batch.groupby(self._by, sort=False, observed=True, dropna=False).ngroup().to_numpy()
            appearing = batch[self._by].iloc[np.unique(local, return_index=True)[1]]
        else:
            appearing, local = pd.DataFrame(index=[0]), np.zeros(len(batch), np.intp)
        keys = list(appearing.itertuples(index=False, name=None))
        self._keys.append(appearing[[key not in self._numbers for key in keys]])
        for key in keys:
            self._numbers.setdefault(key, len(self._numbers))
        if len(self._numbers) > _MOST_KEYS:
            raise UsageError(f"by {', '.join(self._by)}: allowed are {_MOST_KEYS:,} combinations of values")
        new = len(self._numbers) - self._by_key.shape[1]
        self._by_key = np.pad(self._by_key, ((0, 0), (0, new)))
        self._by_pair = np.pad(self._by_pair, ((0, 0), (0, new), (0, new)))
        return np.asarray(np.array([self._numbers[key] for key in keys])[local], np.intp)

    def moments(self) -> MomentsBy | None:
        """Return the sums with their keys in ascending order; None if there are no rows."""
        import pandas as pd

        if not self._numbers:
            return None
        keys = pd.concat(self._keys, ignore_index=True)
        order = keys.sort_values(self._by).index.to_numpy() if self._by else np.zeros(1, np.intp)
        rows, sums, games, deals = self._by_key[:, order]
        rows_rows, rows_sums, sums_sums = self._by_pair[:, order][:, :, order]
        return MomentsBy(
            keys.iloc[order].reset_index(drop=True),
            rows,
            sums,
            games,
            deals,
            rows_rows,
            rows_sums,
            sums_sums,
            (self._least, self._greatest),
            {"outcome": self._outcome, "games": self._games, "deals": self._deals},
        )


def _as_numbers(column: "pd.Series[Any]") -> NDArray[np.float64]:
    """Return an outcome as numbers."""
    if column.dtype.kind not in "biuf":
        raise UsageError(f"outcome {column.name!r}: allowed is a column of numbers, and it holds {column.dtype}")
    values = np.asarray(column, np.float64)
    if not np.isfinite(values).all():
        raise UsageError(f"outcome {column.name!r}: allowed is a number in every row, and some have none")
    return values
