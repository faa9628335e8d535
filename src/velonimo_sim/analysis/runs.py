"""The rows of runs as pandas frames: read when they are asked for, and only the columns that are asked for.

``load("my-run")`` reads nothing but what the files say of themselves. ``.games`` has one row per game and seat; of
Velonimo ``.cols`` has one per game, col and seat, of VeloCity ``.races`` one per game. They are asked for columns like
a frame, ``run.cols[["tortoises", "points"]]``, and give them in the smallest types that hold them. The rule options of
the run are columns, too: ``jersey_bonus``.

Runs from the same seed are dealt the same cards. Rows that share a deal are not independent, in whichever run they are,
and have the same number in the column ``group``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.analysis.columns import DERIVED, derive, needed_for
from velonimo_sim.analysis.hands import HAND_FEATURES
from velonimo_sim.errors import CorruptDataError, UsageError, is_integer_in, unknown_name
from velonimo_sim.run_files import DETAILS, MANIFEST, Shard, column_names, columns_of, finished_shards, read_manifest

if TYPE_CHECKING:
    import pandas as pd

Folder: TypeAlias = "Path | str"
Folders: TypeAlias = "Folder | Sequence[Folder] | Mapping[str, Folder]"
"""The folder of a run, several of them, or several with what they are called."""

Source: TypeAlias = "LoadedRuns | LoadedRows | Folders | pd.DataFrame"
"""Runs, their rows of one kind, or rows at hand: what can be read by columns."""

_OF_THE_RUN = ("run", "players", "group")
"""Columns that say of which run, at a table of how many, and of which deal a row is."""
_OF_THE_GAME = ("deal_id", "seating_id")
"""Columns of game rows that are the same in all seats."""
_GROUPS_OF_A_SEED = 1 << 40
"""Deals of one seed have numbers below this, those of the next seed follow."""


def load(runs: Folders) -> "LoadedRuns":
    """Return the rows of one run, or of many, to be read by columns.

    Parameters
    ----------
    runs : Path, str, sequence of them, or mapping
        Folders of runs, or folders that hold some, such as that of ``--compare-rules``; a mapping says what each is
        called in the column ``run``, where else the folder's name stands.

    Returns
    -------
    LoadedRuns
        Its ``games``, and its ``cols`` or ``races``, are asked for columns like frames.

    Raises
    ------
    UsageError
        If there is no run in a folder, a file cannot be read, two runs are called the same, or are of two games.
    CorruptDataError
        If a run is of another schema version, or damaged.

    Examples
    --------
    >>> run = load("my-run")  # doctest: +SKIP
    >>> run.cols[["tortoises", "points"]].groupby("tortoises").mean()  # doctest: +SKIP
    """
    named = _named(runs)
    if not named:
        raise UsageError("no run is named: allowed is one folder or more")
    labels = [label for label, _ in named]
    for label in labels:
        if labels.count(label) > 1:
            raise UsageError(f"two runs are called {label!r}: name them, as in load({{'base': ..., 'variant': ...}})")
    loaded = [LoadedRun(label, folder, _checked_manifest(folder)) for label, folder in named]
    for run in loaded:
        if run.game != loaded[0].game:
            one, another = (f"{each.folder} is of {each.game}" for each in (loaded[0], run))
            raise UsageError(f"{one}, {another}: allowed are runs of one game")
    return LoadedRuns(loaded)


def _named(runs: Folders) -> list[tuple[str, Path]]:
    """Return the folders of runs with what they are called."""
    try:
        if isinstance(runs, Mapping):
            return [(str(label), Path(folder)) for label, folder in runs.items()]
        folders = [Path(folder) for folder in ([runs] if isinstance(runs, str | Path) else runs)]
    except TypeError:
        raise UsageError(f"runs {runs!r}: allowed is a folder, several, or a mapping of names to folders") from None
    return [(inner.name or str(inner), inner) for folder in folders for inner in _runs_in(folder)]


def _runs_in(folder: Path) -> list[Path]:
    """Return the folders of runs that a folder stands for: itself, or those in it if it is none."""
    inner = [] if (folder / MANIFEST).exists() else sorted(path.parent for path in folder.glob(f"*/{MANIFEST}"))
    return inner or [folder]


def _checked_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a run, if it says what is needed to read its rows."""
    manifest = read_manifest(folder)
    bots, rules = manifest.get("bots"), manifest.get("rules")
    if not isinstance(bots, list) or not all(isinstance(bot, str) for bot in bots):
        raise CorruptDataError(f"{folder / MANIFEST}: bots is {bots!r}: allowed is a list of texts")
    needed = ["col_values"] if DETAILS[manifest["game"]] == "cols" else []
    if not isinstance(rules, dict) or not all(isinstance(rules.get(name), list) for name in needed):
        raise CorruptDataError(
            f"{folder / MANIFEST}: rules is {rules!r}: allowed are options{', col_values among them' if needed else ''}"
        )
    for name in ("games_per_deal", "most_points"):
        if name in manifest and not is_integer_in(manifest[name], 1, 2**63 - 1):
            raise CorruptDataError(f"{folder / MANIFEST}: {name} is {manifest[name]!r}: allowed is an integer from 1")
    return manifest


@dataclass(frozen=True)
class LoadedRun:
    """One run: what it is called, where it lies, and what its manifest says."""

    label: str
    folder: Path
    manifest: Mapping[str, Any]

    @property
    def game(self) -> str:
        """Which game is played."""
        return str(self.manifest["game"])

    @property
    def players(self) -> int:
        """How many play a game."""
        return int(self.manifest["players"])

    @property
    def seed_key(self) -> tuple[Any, ...]:
        """What two runs have in common that are dealt the same cards."""
        return tuple(self.manifest.get(name) for name in ("game", "deal_version", "seed"))

    @cached_property
    def shards(self) -> list[Shard]:
        """The finished shards, in the order of their games."""
        return list(finished_shards(self.folder, self.players))

    @property
    def games(self) -> int:
        """How many games are there."""
        return sum(shard.games for shard in self.shards)

    @property
    def deals(self) -> int:
        """How many deals are there."""
        return self.games // int(self.manifest.get("games_per_deal", 1))


class LoadedRuns:
    """The rows of some runs; see ``load``.

    Attributes
    ----------
    runs : tuple of LoadedRun
        The runs, in the order in which they were named.
    """

    def __init__(self, runs: Sequence[LoadedRun]) -> None:
        self.runs = tuple(runs)

    @property
    def labels(self) -> tuple[str, ...]:
        """What the runs are called."""
        return tuple(run.label for run in self.runs)

    @cached_property
    def rules(self) -> "pd.DataFrame":
        """The rule options, one row a run: numbers where all runs have numbers, else texts as the command has them."""
        import pandas as pd

        in_force = [run.manifest.get("rules_in_force", run.manifest["rules"]) for run in self.runs]
        columns = pd.DataFrame(in_force, dtype=object).items()
        return pd.DataFrame({str(name): _rule_column(values.tolist()) for name, values in columns})

    @property
    def most_points(self) -> int | None:
        """The most points that a game can give; None if the manifests do not say it."""
        most = [run.manifest.get("most_points") for run in self.runs]
        return max(most) if None not in most else None  # type: ignore[type-var]

    @cached_property
    def games(self) -> "LoadedRows":
        """One row per game and seat."""
        return LoadedRows(self, "games")

    @cached_property
    def detail(self) -> "LoadedRows":
        """What is recorded beside ``games``: the ``cols`` or ``races`` of the game that is played."""
        return LoadedRows(self, DETAILS[self.runs[0].game])

    @property
    def cols(self) -> "LoadedRows":
        """One row per game, col and seat of Velonimo; asked for a column of ``games``, each has that of its seat."""
        return self._detail_called("cols")

    @property
    def races(self) -> "LoadedRows":
        """One row per game of VeloCity."""
        return self._detail_called("races")

    def _detail_called(self, kind: str) -> "LoadedRows":
        """Return the detail rows, if they are what a game's own are called."""
        folder, game = self.runs[0].folder, self.runs[0].game
        if DETAILS[game] != kind:
            raise UsageError(f"{folder}: is of {game}, which has no {kind}: there are games and {DETAILS[game]}")
        return self.detail

    def __repr__(self) -> str:
        """Name the runs with their numbers of games."""
        return "\n".join(f"{run.label}: {run.games:,} games, {run.deals:,} deals, {run.folder}" for run in self.runs)


class LoadedRows:
    """The rows of one kind of some runs, in the order of their deals.

    Parameters
    ----------
    runs : LoadedRuns
        The runs.
    kind : {"games", "cols", "races"}
        Which rows.
    """

    def __init__(self, runs: LoadedRuns, kind: str) -> None:
        self._runs = runs
        self._kind = kind

    @cached_property
    def _stored(self) -> dict[str, list[str]]:
        """The names of the columns of each kind of files."""
        first = next(chain.from_iterable(run.shards for run in self._runs.runs), None)
        if first is None:
            raise UsageError(f"{self._runs.runs[0].folder}: holds no games yet")
        return {kind: column_names(first, kind) for kind in first.paths}

    @property
    def _joined(self) -> list[str]:
        """The columns of games that each row has, too: those of its seat, or of the whole game if it is of no seat."""
        if self._kind == "games":
            return []
        return self._stored["games"] if "seat" in self._stored[self._kind] else [*_OF_THE_GAME]

    @property
    def columns(self) -> list[str]:
        """The names of the columns that can be asked for, without the features of hands (``HAND_FEATURES``)."""
        own = self._stored[self._kind]
        joined = [name for name in self._joined if name not in own]
        of_the_run = [*_OF_THE_RUN, *self._runs.rules.columns]
        known = {*own, *joined, *of_the_run, "col_value"}
        derived = [name for name in DERIVED if name not in HAND_FEATURES and set(needed_for([name])) <= known]
        return [*of_the_run, *own, *joined, *(["col_value", *derived] if self._kind == "cols" else derived)]

    def __len__(self) -> int:
        """Return how many rows there are."""
        import pyarrow.parquet as pq

        shards = chain.from_iterable(run.shards for run in self._runs.runs)
        return sum(pq.read_metadata(shard.paths[self._kind]).num_rows for shard in shards)

    def __getitem__(self, columns: str | list[str]) -> Any:
        """Return one column as a series, or some as a frame."""
        return self.frame([columns])[columns] if isinstance(columns, str) else self.frame(columns)

    def frame(self, columns: Sequence[str] | None = None) -> "pd.DataFrame":
        """Return columns of all rows, by default all that the files have, and of several runs ``run`` and ``group``.

        Raises
        ------
        UsageError
            If there is no such column, or there are no games yet.
        CorruptDataError
            If a shard is damaged.
        """
        import pandas as pd

        of_several = ["run", "group"] if len(self._runs.runs) > 1 else []
        names = list(dict.fromkeys([*of_several, *self._stored[self._kind]] if columns is None else columns))
        parts: dict[str, list[Any]] = {name: [] for name in names}
        for batch in self.batches(names):
            for name in names:
                parts[name].append(batch[name])
        # One column after the other, so that no more than one of them lies in memory twice.
        return pd.DataFrame({name: pd.concat(parts.pop(name), ignore_index=True) for name in names}, copy=False)

    def batches(self, columns: Sequence[str], shared: bool = False) -> Iterator["pd.DataFrame"]:
        """Yield the rows a part at a time, with ``group`` beside the columns; all rows of a deal come together.

        Parameters
        ----------
        columns : sequence of str
            Which columns.
        shared : bool
            Leave out the deals that not all runs of their seed have played.

        Raises
        ------
        UsageError
            If there is no such column, or there are no games yet.
        CorruptDataError
            If a shard is damaged.
        """
        names = list(dict.fromkeys(["group", *(["run"] if shared else []), *columns]))
        for name in names:
            if not {*needed_for([name])} <= {*self.columns}:
                raise _unknown_column(f"{self._kind} of {self._runs.runs[0].game}", name, self.columns)
        seeds = list(dict.fromkeys(run.seed_key for run in self._runs.runs))
        for number, seed in enumerate(seeds):
            streams = [
                self._batches_of(run, names, number * _GROUPS_OF_A_SEED)
                for run in self._runs.runs
                if run.seed_key == seed
            ]
            for batch in _in_step(streams):
                yield _of_shared_deals(batch, len(streams)) if shared else batch

    def _batches_of(self, run: LoadedRun, names: Sequence[str], first_group: int) -> Iterator["pd.DataFrame"]:
        """Yield the rows of one run, shard by shard."""
        import pandas as pd

        bots = list(dict.fromkeys(bot for each in self._runs.runs for bot in each.manifest["bots"]))
        categories = {"bot": pd.CategoricalDtype(bots), "run": pd.CategoricalDtype(self._runs.labels)}
        needed = needed_for([*names, "deal_id"])
        rules = self._runs.rules.filter(needed)
        for shard in run.shards:
            stored = self._columns_of_shard(run, shard, needed, bots)
            frame = pd.DataFrame(
                {
                    name: pd.Categorical.from_codes(values, dtype=categories[name]) if name in categories else values
                    for name, values in stored.items()
                },
                copy=False,
            )
            frame["group"] = frame["deal_id"] + first_group
            number_of_run = np.full(len(frame), self._runs.labels.index(run.label))
            frame = frame.assign(**{name: values.array.take(number_of_run) for name, values in rules.items()})
            yield derive(frame, names)[list(names)]

    def _columns_of_shard(
        self, run: LoadedRun, shard: Shard, needed: Iterable[str], bots: Sequence[str]
    ) -> dict[str, NDArray[Any]]:
        """Return columns of a shard as arrays, those of its games repeated for each of their detail rows."""
        own = [name for name in needed if name in self._stored[self._kind]]
        joined = [name for name in needed if name in self._joined and name not in own]
        keys = [name for name in ("game_id", "seat", "col") if joined and name in self._stored[self._kind]]
        found = columns_of(shard, self._kind, bots, list(dict.fromkeys([*own, *keys])))
        if joined:
            row_of_game = (found["game_id"] - shard.first_game) * run.players + found.get("seat", 0)
            found |= {name: values[row_of_game] for name, values in columns_of(shard, "games", bots, joined).items()}
        if self._kind == "cols":
            values = np.array([0, *run.manifest["rules"]["col_values"]], np.int32)
            if found["col"].max() >= len(values):
                raise CorruptDataError(f"{shard.paths['cols']}: has a col {found['col'].max()} of {len(values) - 1}")
            found["col_value"] = values[found["col"]]
        rows = len(next(iter(found.values())))
        found["players"] = np.full(rows, run.players, np.int8)
        found["run"] = np.full(rows, self._runs.labels.index(run.label), np.int16)
        return found


def _rule_column(values: Sequence[Any]) -> Any:
    """Return what a rule option is in each run, as flags, numbers, or texts such as ``none``, ``B1,B5``."""
    import pandas as pd

    for kind, dtype in ((bool, np.bool_), (int, np.int32)):
        if all(type(value) is kind for value in values):
            return np.array(values, dtype)
    return pd.Categorical([rule_words(value) for value in values])


def rule_words(value: object) -> str:
    """Return the value of a rule option as the command line has it; of one with a name, such as a course, that name."""
    if isinstance(value, Mapping):
        parts = (f"{key}={rule_words(part)}" for key, part in value.items())
        return str(value["name"]) if "name" in value else ";".join(parts)
    if isinstance(value, list):
        return ",".join(map(rule_words, value)) or "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    return "none" if value is None else str(value)


def _in_step(streams: Sequence[Iterator["pd.DataFrame"]]) -> Iterator["pd.DataFrame"]:
    """Yield the rows of runs from the same seed so that all rows of a deal come together."""
    import pandas as pd

    heads = [(head, stream) for stream in streams if (head := next(stream, None)) is not None]
    while heads:
        complete = min(head["group"].iloc[-1] for head, _ in heads)
        ready = [head[head["group"] <= complete] for head, _ in heads]
        yield ready[0] if len(ready) == 1 else pd.concat(ready, ignore_index=True)
        heads = [(rest, stream) for head, stream in heads if (rest := _rest(head, stream, int(complete))) is not None]


def _of_shared_deals(rows: "pd.DataFrame", runs: int) -> "pd.DataFrame":
    """Return the rows of deals that so many runs have played."""
    return rows if runs == 1 else rows[_runs_of_deals(rows) == runs]


def _runs_of_deals(rows: "pd.DataFrame") -> "pd.Series[int]":
    """Return for each row how many runs have played its deal."""
    return rows["group"].map(rows.groupby("group")["run"].nunique())


def _rest(head: "pd.DataFrame", stream: Iterator["pd.DataFrame"], complete: int) -> "pd.DataFrame | None":
    """Return the rows that come after the deals which are complete; None at the end of the run."""
    rest = head[head["group"] > complete]
    return rest if len(rest) else next(stream, None)


def batches(source: Source, columns: Sequence[str], shared: bool = False) -> Iterator["pd.DataFrame"]:
    """Yield rows a part at a time, with ``group`` beside the columns; all rows of a deal come together.

    Parameters
    ----------
    source : LoadedRuns, LoadedRows, Path, str, sequence or mapping of them, or pandas.DataFrame
        Runs, or rows; rows without ``group`` are grouped by ``deal_id``.
    columns : sequence of str
        Which columns; of runs, those that games do not have make the rows those of cols or races.
    shared : bool
        Leave out the deals that not all runs of their seed have played, such as those that one broken off lacks.

    Raises
    ------
    UsageError
        If a column is missing, there are no rows, or a seat of a game has several.
    CorruptDataError
        If a run is damaged.
    """
    import pandas as pd

    if isinstance(source, pd.DataFrame):
        rows = _checked(source, [*columns, "run"] if shared else columns)
        # Rows do not say which runs are from one seed: those of which none has a deal of another are of as many.
        yield _of_shared_deals(rows, int(_runs_of_deals(rows).max())) if shared else rows
        return
    if isinstance(source, LoadedRows):
        yield from source.batches(columns, shared)
        return
    runs = source if isinstance(source, LoadedRuns) else load(source)
    yield from _rows_with(runs, columns).batches(columns, shared)


def _rows_with(runs: LoadedRuns, columns: Sequence[str]) -> LoadedRows:
    """Return the rows that have all of some columns: those of games, or else the others of the game."""
    if {*needed_for(columns)} <= {*runs.games.columns}:
        return runs.games
    known = list(dict.fromkeys([*runs.games.columns, *runs.detail.columns]))
    for name in columns:
        if not {*needed_for([name])} <= {*known}:
            raise _unknown_column(runs.runs[0].game, name, known)
    return runs.detail


def _unknown_column(of: str, name: str, known: Sequence[str]) -> UsageError:
    """Return the error for a column that rows have not."""
    features = ["features of hands such as R7"] if "hand" in known else []
    return unknown_name(f"column of {of}", name, [*known, *features])


def _checked(frame: "pd.DataFrame", columns: Sequence[str]) -> "pd.DataFrame":
    """Return columns of rows that a caller has at hand."""
    if len(frame) == 0:
        raise UsageError("there are no rows: the run has no finished games")
    if "group" not in frame.columns:
        _check_has(frame, "deal_id")
        frame = frame.assign(group=frame["deal_id"])
    if "run" not in frame.columns:
        frame = frame.assign(run="run")
    _check_rows_are_one_each(frame)
    names = list(dict.fromkeys(["group", *columns]))
    for name in names:
        _check_has(frame, name)
    return derive(frame, names)[names]


def _check_rows_are_one_each(frame: "pd.DataFrame") -> None:
    """Raise if a seat has several rows of a game, or of a col: then runs are not told apart."""
    keys = [name for name in ("run", "game_id", "col", "seat") if name in frame.columns]
    if {"game_id", "seat"} <= {*keys} and frame.duplicated(keys).any():
        told = ", ".join(f"{name} {value}" for name, value in frame.loc[frame.duplicated(keys), keys].iloc[0].items())
        raise UsageError(f"{told}: has several rows; rows of several runs need a column run")


def _check_has(frame: "pd.DataFrame", name: str) -> None:
    """Raise if rows neither have a column nor what it is derived from."""
    missing = [other for other in needed_for([name]) if other not in frame.columns]
    if name in frame.columns or not missing:
        return
    if name in missing:
        raise unknown_name("column", name, frame.columns)
    raise UsageError(f"column {name!r}: follows from {', '.join(needed_for([name]))}; the rows lack {missing[0]!r}")
