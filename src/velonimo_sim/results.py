"""What a tournament tells when it has ended: as tables for people, and as records for machines."""

import math
import sys
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from velonimo_sim.definition import Tournament
from velonimo_sim.run import Outcome
from velonimo_sim.schedule import TableKind


def table_of(headings: Sequence[str]) -> Table:
    """Return an empty table with a line for each bot."""
    table = Table(title=None, box=None, pad_edge=False)
    table.add_column("bot")
    for heading in headings:
        table.add_column(heading, justify="right")
    return table


def print_table(table: Table) -> None:
    """Print a table; where there is no terminal, as wide as it is."""
    Console(width=None if sys.stdout.isatty() else 1_000, highlight=False).print(table)


def _with_interval(row: dict[str, Any], mean: str, name: str) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    return f"{row[mean]:.2f}" if low is None else f"{row[mean]:.2f} ({low:.2f} - {high:.2f})"


def _print_bots(rows: Sequence[dict[str, Any]]) -> None:
    """Print a line a bot. Who sees all is not ranked with the others: it stands below them, and says so."""
    any_fault, any_rating = any(row["faults"] for row in rows), any("rating" in row for row in rows)
    headings = ["games", "wins %", "95 % interval", "mean points", "mean place"]
    table = table_of(headings + ["rating"] * any_rating + ["faults"] * any_fault)
    for row in sorted(rows, key=itemgetter("sees_all")):
        cells = [
            f"{row['games']:,}",
            f"{100 * row['win_share']:.2f}",
            f"{100 * row['low']:.2f} - {100 * row['high']:.2f}",
            _with_interval(row, "mean_points", "points"),
            _with_interval(row, "mean_place", "place"),
        ]
        cells += [_with_interval(row, "rating", "rating")] if any_rating else []
        cells += [f"{row['faults']:,}"] if any_fault else []
        table.add_row(escape(f"{row['bot']} (sees all)" if row["sees_all"] else row["bot"]), *cells)
    print_table(table)


def _rows(tournament: Tournament, outcome: Outcome, folder: Path) -> list[dict[str, Any]]:
    """Return the record of each bot; those of a round-robin are rated, too."""
    sees_all = [bot.sees_all for bot in tournament.bots]
    rows = [row | {"sees_all": sees} for row, sees in zip(outcome.standings.table(), sees_all, strict=True)]
    if tournament.table is TableKind.ROUND_ROBIN and outcome.games_written:
        from velonimo_sim.analysis import ratings

        rated = {row.pop("bot"): row for row in ratings(folder).to_dict("records")}
        for row in rows:
            rating = rated[row["bot"]]
            ends = (rating[end] if math.isfinite(rating[end]) else None for end in ("low", "high"))
            row |= dict(zip(("rating_low", "rating_high"), ends, strict=True)) | {"rating": rating["rating"]}
    return rows


def _verdict(tournament: Tournament, outcome: Outcome) -> dict[str, Any] | None:
    """Return what is known of the question that the tournament may stop at."""
    until, sequence = tournament.until, outcome.sequence
    if until is None or sequence is None:
        return None
    bots = {"first": until.first, "second": until.second, None: None}
    return {
        "first": until.first,
        "second": until.second,
        "alpha": until.alpha,
        "deals": sequence.groups,
        "difference": sequence.mean if sequence.groups else None,
        "low": sequence.low,
        "high": sequence.high,
        "better": bots[sequence.decision],
    }


def as_json(tournament: Tournament, outcome: Outcome, folder: Path) -> dict[str, Any]:
    """Return the result as a record."""
    verdict = _verdict(tournament, outcome)
    return {
        "status": outcome.status,
        "cause": outcome.cause,
        "games": outcome.standings.games,
        "deals": outcome.standings.deals,
        "games_played": outcome.games_played,
        "seconds": outcome.seconds,
        "games_per_second": outcome.games_per_second,
        "games_written": outcome.games_written,
        "out": str(folder),
        "players": tournament.schedule.players,
        "seed": tournament.seed,
        "bots": _rows(tournament, outcome, folder),
    } | ({"until": verdict} if verdict else {})


def print_result(tournament: Tournament, outcome: Outcome, folder: Path) -> None:
    """Print how a tournament ended."""
    if outcome.standings.games:
        _print_bots(_rows(tournament, outcome, folder))
    games = outcome.standings.games
    before = f", {games - outcome.games_played:,} of them were there before" if games > outcome.games_played else ""
    print(f"{games:,} games in {outcome.seconds:.1f} s, {outcome.games_per_second:,.0f} games/s{before}")
    verdict = _verdict(tournament, outcome)
    if verdict and verdict["difference"] is not None:
        difference = f"difference {100 * verdict['difference']:.2f} points of 100 wins"
        if verdict["better"]:
            known = f"{verdict['better']} wins more, {difference}"
        else:
            known = f"not known, {difference}, within {100 * verdict['low']:.2f} to {100 * verdict['high']:.2f}"
        print(f"{verdict['first']} > {verdict['second']} after {verdict['deals']:,} deals: {known}")
    print(f"files: {folder}/games-*.parquet, {folder}/{tournament.game.detail}-*.parquet, {folder}/run.json")


def print_changes(changes: Sequence[dict[str, Any]]) -> None:
    """Print how a variant of the rules changes what each bot reaches."""
    table = table_of(["deals", "wins %", "95 % interval", "points", "95 % interval", "place", "95 % interval"])
    for row in changes:
        cells = [f"{row['deals']:,}"]
        for name, scale in (("win_share", 100), ("points", 1), ("place", 1)):
            cells.append(f"{scale * row[name]:+.3f}")
            cells.append(f"{scale * row[f'{name}_low']:+.3f} to {scale * row[f'{name}_high']:+.3f}")
        table.add_row(escape(row["bot"]), *cells)
    print("variant - base, on the same deals:")
    print_table(table)
