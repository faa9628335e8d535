"""What a tournament would be: its schedule, its size, and how long it would take."""

import time
from contextlib import closing
from typing import Any

from rich.markup import escape

from velonimo_sim.definition import Tournament
from velonimo_sim.match import Match
from velonimo_sim.progress import Say
from velonimo_sim.results import print_table, table_of
from velonimo_sim.workers import Workers

TRIAL_SECONDS = 2.0
"""How long is played to tell how long the run will take."""


def plan_of(tournament: Tournament, workers: Workers, say: Say) -> dict[str, Any]:
    """Return the schedule, its size, and the time that it will take, from some games that are played for it."""
    schedule = tournament.schedule
    rate = _measured_rate(Match(workers, schedule.games_per_deal, say), tournament.games)
    return {
        "schedule": schedule.words,
        "bots": list(schedule.bots),
        "players": schedule.players,
        "tables": len(schedule.tables),
        "games_per_deal": schedule.games_per_deal,
        "deals": tournament.deals,
        "games": tournament.games,
        "games_by_seat": (schedule.games_by_seat() * tournament.deals).tolist(),
        "bytes": tournament.bytes_of(tournament.games),
        "games_per_second": rate,
        "seconds": tournament.games / rate,
    }


def _measured_rate(match: Match, games: int) -> float:
    """Return how many games are played in a second, of which the first ones do not count."""
    played, began = 0, 0.0
    with closing(match):
        for chunk in match.play(range(games)):
            if began == 0.0:
                began, first = time.perf_counter(), chunk
                continue
            played += chunk.games
            if time.perf_counter() - began > TRIAL_SECONDS:
                break
    return played / (time.perf_counter() - began) if played else first.games / max(first.seconds, 1e-9)


def print_plan(plan: dict[str, Any]) -> None:
    """Print what a tournament would be."""
    print(f"{plan['schedule']}, {plan['deals']:,} deals, {plan['games']:,} games")
    table = table_of([f"in seat {seat}" for seat in range(plan["players"])])
    for bot, games in zip(plan["bots"], plan["games_by_seat"], strict=True):
        table.add_row(escape(bot), *(f"{number:,}" for number in games))
    print_table(table)
    print(f"about {plan['bytes'] / 1e6:,.1f} MB of disk")
    print(f"about {_duration(plan['seconds'])}, at {plan['games_per_second']:,.1f} games/s")


def _duration(seconds: float) -> str:
    """Return a duration in words."""
    for unit, size in (("days", 86_400), ("hours", 3_600), ("minutes", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:,.1f} {unit}"
    return f"{seconds:,.1f} seconds"
