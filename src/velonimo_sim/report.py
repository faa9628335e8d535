"""``python -m velonimo_sim.report``: one page about a run: who won, by how much, by which rules, how to repeat it.

The page holds its figures and needs nothing else. It is made from the files of the run; nothing is played or compiled.
"""

import argparse
import json
import shlex
from base64 import b64encode
from collections.abc import Callable, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from velonimo_sim import __version__
from velonimo_sim.analysis import bot_table, change_records, figures, pair_table, ratings, seat_effects
from velonimo_sim.analysis.runs import load, rule_words
from velonimo_sim.commands import EXIT_INTERRUPTED, EXIT_USAGE, OneLineParser, leave_with, say
from velonimo_sim.errors import CorruptDataError, UsageError, in_one_line
from velonimo_sim.faults import Fault
from velonimo_sim.game import GAMES
from velonimo_sim.run_files import BASE, VARIANT, read_manifest, shard_paths

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COMMAND = "velonimo_sim.report"
DEFAULT_FILE = "report.html"
STDOUT = "-"
MOST_PAIRS_DRAWN = 45
"""More pairs of bots are in the table alone."""

_COLUMNS = ("game_id", "deal_id", "seat", "bot", "won", "total", "place", "fault", "faults")
_NEEDED = (
    "game",
    "table",
    "seating",
    "bots",
    "parameters",
    "sees_all",
    "bot_hashes",
    "tables",
    "seed",
    "rules",
    "on_fault",
    "time_limit_ms",
    "most_points",
    "games",
    "games_per_deal",
    "options",
    "versions",
    "rules_version",
    "deal_version",
    "source_hash",
    "status",
)
"""What a manifest has to say for the page."""
_ENDS = {
    "finished": "finished",
    "interrupted": "interrupted; --resume goes on",
    "failed": "failed; --resume goes on",
    "running": "not ended: it is still running, or was killed; --resume goes on",
}
"""How a run ended, by the status in its manifest."""


# What a run is.


def page_of(folder: Path) -> str:
    """Return the page about a run, or about two whose rules are compared, as HTML in ASCII.

    Raises
    ------
    UsageError
        If there is no run in the folder, it has no finished games, or a file cannot be read.
    CorruptDataError
        If the run is of another schema version, or damaged.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined

    parts, changes = _parts(folder)
    environment = Environment(
        loader=PackageLoader("velonimo_sim"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    page = environment.get_template("report.html").render(parts=parts, changes=changes, version=__version__)
    return page.encode("ascii", "xmlcharrefreplace").decode()


def _parts(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return what the page says of each run, and, where two are compared, of their differences."""
    if not (folder / BASE).is_dir():
        return [_part(folder, "")], []
    parts = [_part(folder / BASE, BASE)]
    if not ((folder / VARIANT).is_dir() and shard_paths(folder / VARIANT)):
        return [*parts, {"name": VARIANT, "games": 0}], []
    return [*parts, _part(folder / VARIANT, VARIANT)], change_records(folder / BASE, folder / VARIANT)


def _part(folder: Path, name: str) -> dict[str, Any]:
    """Return what the page says of a run."""
    manifest = read_manifest(folder)
    missing = [key for key in _NEEDED if key not in manifest]
    if missing:
        raise CorruptDataError(f"{folder}: the manifest of the run does not say {', '.join(missing)}")
    try:
        part = _configuration(manifest)
    except UsageError:
        raise
    except (LookupError, ValueError, TypeError, AttributeError) as error:
        raise CorruptDataError(f"{folder}: the manifest of the run cannot be ({in_one_line(error)})") from None
    frame = load(folder).games.frame(_COLUMNS)
    return part | {"name": name, "manifest": manifest} | _results(frame, manifest, manifest["most_points"])


def _configuration(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a manifest says, prepared for tables."""
    game = GAMES[manifest["game"]]
    rules, usual = game.rule_set.from_dict(manifest["rules"]), game.rule_set.official().to_dict()
    bots, parameters, sees_all, hashes = (manifest[name] for name in ("bots", "parameters", "sees_all", "bot_hashes"))
    return {
        "title": game.title,
        "total_words": game.total_words,
        "end": _ENDS[manifest["status"]],
        "cause": manifest.get("cause", ""),
        "planned": int(manifest["games"]),
        "versions": dict(manifest["versions"]),
        "command": command_of(manifest["options"]),
        "tables": [[bots[bot] for bot in table] for table in manifest["tables"]],
        "bots": [
            {"text": text, "parameters": dict(values), "sees_all": sees, "hash": digest}
            for text, values, sees, digest in zip(bots, parameters, sees_all, hashes, strict=True)
        ],
        "rules": [
            {
                "option": option,
                "value": rule_words(value),
                "usual": rule_words(usual[option]),
                "differs": value != usual[option],
            }
            for option, value in rules.to_dict().items()
        ],
    }


def command_of(options: Mapping[str, Any]) -> str:
    """Return the command line that plays a tournament of these options, in the form of a configuration file."""
    words = ["python", "-m", "velonimo_sim.tournament"]
    for name, value in options.items():
        if isinstance(value, Mapping):
            for option, text in value.items():
                words += [f"--{name}", f"{option}={json.dumps(text) if isinstance(text, Mapping) else text}"]
        else:
            words += [f"--{name}", *(map(str, value) if isinstance(value, list) else [str(value)])]
    return shlex.join(words)


# What came of it.


def _results(frame: "pd.DataFrame", manifest: Mapping[str, Any], most: int) -> dict[str, Any]:
    """Return tables and figures of game rows, the bots in the order of their win shares."""
    sees_all = dict(zip(manifest["bots"], manifest["sees_all"], strict=True))
    standings = bot_table(frame, most)
    standings["sees_all"] = [sees_all[bot] for bot in standings["bot"]]
    standings = standings.sort_values(["sees_all", "win_share"], ascending=[True, False], kind="stable")
    frame["bot"] = frame["bot"].cat.set_categories(standings["bot"])
    if manifest["table"] == "round-robin":
        rated = ratings(frame).rename(columns={"low": "rating_low", "high": "rating_high"})
        standings = standings.merge(rated.drop(columns="games"), on="bot")
    totals = {"games": frame["game_id"].nunique(), "deals": frame["deal_id"].nunique()}
    pairs = pair_table(frame).assign(label=lambda rows: rows["first"] + " \N{MINUS SIGN} " + rows["second"])
    for table in (standings, pairs):
        table.attrs |= totals | {"outcome": "won"}
    found = totals | {
        "standings": standings.to_dict("records"),
        "win_shares": _drawn(len(standings), lambda ax: figures.win_shares(standings, ax, manifest["players"])),
        "pairs": pairs.to_dict("records"),
        "differences": None,
        "faults": _faults(frame),
    }
    if 0 < len(pairs) <= MOST_PAIRS_DRAWN:
        found["differences"] = _drawn(len(pairs), lambda ax: figures.differences(pairs, ax))
    return found | _seats(frame, totals)


def _seats(frame: "pd.DataFrame", totals: Mapping[str, int]) -> dict[str, Any]:
    """Return the table and the figure of the seats, or why there are none."""
    try:
        effects = seat_effects(frame)
    except UsageError as error:
        return {"seats": [], "no_seats": str(error)}
    effects.attrs |= totals
    figure = _drawn(len(effects), lambda ax: figures.seat_effects(effects, ax))
    return {"seats": effects.to_dict("records"), "seat_effects": figure}


def _faults(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return for each bot with faults how many there were, and of how many games each kind was the first."""
    at_fault = frame[frame["fault"] != Fault.NONE]
    return [
        {
            "bot": bot,
            "faults": int(rows["faults"].sum()),
            "games": len(rows),
            "kinds": {Fault(code).words: count for code, count in rows["fault"].value_counts().sort_index().items()},
        }
        for bot, rows in at_fault.groupby("bot", observed=True)
    ]


def _drawn(lines: int, draw: Callable[["Axes"], object]) -> str:
    """Return a figure as the address of a picture that holds all of it, as high as so many lines need."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": COMMAND}), StringIO() as file:  # the same figure has the same text
        figure = Figure(figsize=(5.2, max(2.4, 1 + 0.36 * lines)), layout="constrained")
        draw(figure.add_subplot())
        figure.savefig(file, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
        text = file.getvalue()
    return f"data:image/svg+xml;base64,{b64encode(text[text.index('<svg') :].encode()).decode()}"


# The command.


def _parser() -> argparse.ArgumentParser:
    parser = OneLineParser(prog=f"python -m {COMMAND}", description="Write one page about a run.")
    parser.add_argument("run", metavar="RUN", type=Path, help="the folder of a run, or of two that are compared")
    parser.add_argument(
        "--out", metavar="FILE", default=DEFAULT_FILE, help="where it is written, - for stdout (default: %(default)s)"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace the file")
    return parser


def _check_is_free(out: Path, overwrite: bool) -> None:
    if out.is_dir():
        raise UsageError(f"--out {out}: is a folder: allowed is a file")
    if out.exists() and not overwrite:
        raise UsageError(f"--out {out}: exists; name another file, or allow --overwrite")


def _write(out: Path, page: str) -> None:
    """Write the page, the whole of it or nothing."""
    unfinished = out.with_name(f"_{out.name}")
    try:
        unfinished.write_text(page, encoding="ascii")
        unfinished.replace(out)
    except OSError as error:
        unfinished.unlink(missing_ok=True)
        raise UsageError(f"--out {out}: cannot be written ({error.strerror})") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    try:
        options = _parser().parse_args(arguments)
        if options.out == STDOUT:
            print(page_of(options.run), end="")
            return 0
        out = Path(options.out)
        _check_is_free(out, options.overwrite)
        _write(out, page_of(options.run))
        say(COMMAND, f"wrote {out}")
        return 0
    except (UsageError, CorruptDataError) as error:
        say(COMMAND, error)
        return EXIT_USAGE
    except KeyboardInterrupt:
        say(COMMAND, "interrupted")
        return EXIT_INTERRUPTED


if __name__ == "__main__":
    leave_with(main)
