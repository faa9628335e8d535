"""What the numbered experiments share: their runs, at two sizes, and the tables and figures that they leave.

An experiment is a folder with ``config.toml``, ``run.py`` and ``NOTES.md``. Its ``run.py`` says which runs there are
and which tables and figures they give:

    python experiments/NNN-topic/run.py --size small     # a minute: what the notebook reads
    python experiments/NNN-topic/run.py --size full      # up to an hour on 2 cores: what NOTES.md tells

Runs go to ``out/SIZE/NAME`` beside ``run.py`` and are gone on with by the same command, or played anew with
``--overwrite``, as after a change of the sources; the record of a game may lie beside them. Tables are printed; those
of the full size, and the figures, are also kept in ``results/``.
"""

import argparse
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from velonimo_sim import replay
from velonimo_sim.commands import EXIT_FAULT, EXIT_INTERRUPTED, EXIT_USAGE, OneLineParser, integer_in, say
from velonimo_sim.errors import BotError, CorruptDataError, UsageError, WorkerError
from velonimo_sim.tournament import run_tournament
from velonimo_sim.workers import available_cores

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

SIZES = ("small", "full")


@dataclass(frozen=True)
class Experiment:
    """An experiment.

    Parameters
    ----------
    folder : pathlib.Path
        Where its ``config.toml`` lies.
    runs : callable
        Returns from the configuration the options of each run by its name, as ``run_tournament`` takes them; ``games``
        is that of the small size.
    tables : callable
        Returns from the folder that holds the runs the tables by name.
    figures : mapping of str to callable
        By name what draws a figure: it is handed the tables and an ``Axes``.
    records : mapping of str to int
        By the name of a run the game whose record is left beside it, as ``NAME-game-N.jsonl``.
    ship : callable, optional
        Writes what the package ships of the full size, from the folder that holds its runs.
    """

    folder: Path
    runs: Callable[[dict[str, Any]], dict[str, dict[str, Any]]]
    tables: Callable[[Path], "dict[str, pd.DataFrame]"]
    figures: Mapping[str, "Callable[[dict[str, pd.DataFrame], Axes], Any]"]
    records: Mapping[str, int] = field(default_factory=dict)
    ship: Callable[[Path], Any] | None = None

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return self.folder.name

    def config(self) -> dict[str, Any]:
        """Return what ``config.toml`` says: the ``seed``, the ``scale`` of each size, and what the runs need."""
        path = self.folder / "config.toml"
        try:
            return tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise UsageError(f"{path}: cannot be read ({error})") from None

    def play(self, size: str, seed: int | None, workers: int, overwrite: bool = False) -> Path:
        """Play what is missing of the runs, or all anew; return the folder that holds them."""
        config, out = self.config(), self.folder / "out" / size
        out.mkdir(parents=True, exist_ok=True)
        for name, options in self.runs(config).items():
            options = {"seed": config["seed"], **options, "games": options["games"] * config["scale"][size]}
            if seed is not None:
                options["seed"] = seed
            outcome = run_tournament(
                out / name, resume=not overwrite, overwrite=overwrite, workers=workers, quiet=False, **options
            )
            say(self.name, f"{name}: {outcome.standings.games:,} games, {outcome.games_played:,} of them played now")
        for name, game in self.records.items():
            record = out / f"{name}-game-{game}.jsonl"
            record.unlink(missing_ok=True)  # it may be of another seed
            if replay.main(["--run", str(out / name), "--game", str(game), "--out", str(record)]):
                raise CorruptDataError(f"{out / name}: game {game} is not what it was")
        return out

    def keep(self, tables: "dict[str, pd.DataFrame]") -> None:
        """Write the tables and figures to ``results/``."""
        from matplotlib.figure import Figure

        results = self.folder / "results"
        results.mkdir(exist_ok=True)
        for name, table in tables.items():
            table.to_csv(results / f"{name}.csv", index=False, float_format="%.6g", lineterminator="\n")
        for name, draw in self.figures.items():
            figure = Figure(figsize=(8, 4.5), layout="constrained")
            draw(tables, figure.add_subplot())
            figure.savefig(results / f"{name}.svg", metadata={"Date": None})

    def main(self, arguments: Sequence[str] | None = None) -> int:
        """Run the command; return its exit status."""
        try:
            options = self._read(arguments)
            out = self.play(options.size, options.seed, options.workers, options.overwrite)
            tables = self.tables(out)
            for name, table in tables.items():
                print(f"{name}\n{table.to_string(index=False)}\n")
            if options.size == "full":
                self.keep(tables)
                if self.ship is not None:
                    self.ship(out)
        except (UsageError, CorruptDataError) as error:
            hint = "; --overwrite plays it anew" if "is another run" in str(error) else ""
            say(self.name, f"{error}{hint}")
            return EXIT_USAGE
        except (BotError, WorkerError, OSError) as error:
            say(self.name, error)
            return EXIT_FAULT
        except KeyboardInterrupt:
            say(self.name, "stopped; the same command goes on")
            return EXIT_INTERRUPTED
        return 0

    def _read(self, arguments: Sequence[str] | None) -> argparse.Namespace:
        parser = OneLineParser(prog=self.name, description="Play the runs of an experiment and tell what they show.")
        parser.add_argument("--size", choices=SIZES, default="small", help="how many games are played")
        parser.add_argument("--seed", metavar="N", help="root of all chance (default: that of config.toml)")
        parser.add_argument("--workers", metavar="N", default=available_cores(), help="threads (default: one a core)")
        parser.add_argument("--overwrite", action="store_true", help="play all runs anew instead of going on with them")
        options = parser.parse_args(arguments)
        options.workers = integer_in(1, 256, "--workers", options.workers)
        if options.seed is not None:
            options.seed = integer_in(0, 2**63 - 1, "--seed", options.seed)
        return options
