"""Duplicate deals: the same cards at one table for each rotation of the seats, and the interval that goes with them."""

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.errors import BotError
from velonimo_sim.match import rotated_seatings
from velonimo_sim.summary import wilson_interval
from velonimo_sim.velonimo.playout import LOOP, play_games, policy_table
from velonimo_sim.velonimo.policies import Bot, parse_bot
from velonimo_sim.velonimo.policies.base import SCRATCH
from velonimo_sim.velonimo.rows import COL_ROW, GAME_ROW, most_col_rows
from velonimo_sim.velonimo.rules import MAX_PLAYERS, RuleSet
from velonimo_sim.velonimo.state import new_state

RULES = RuleSet.official()

_PARTS = 8
"""The deals of a table are handed to the workers in so many parts."""
_MOST_DEALS = 1_000
"""The most deals of a part."""


def play_duplicates(bots: Sequence[str], deals: range, seed: int, workers: int = 2) -> NDArray[np.bool_]:
    """Play each deal once with each rotation of the seats, so that every bot gets every seat, and its cards, once.

    Parameters
    ----------
    bots : sequence of str
        Texts of compiled bots, one a player.
    deals : range
        Indices of the deals; an index and the seed fix the cards.
    seed : int
        Root seed.
    workers : int
        Number of threads.

    Returns
    -------
    numpy.ndarray
        dtype bool, shape (deals, players, players): ``[deal, bot, seat]`` tells whether the bot won the game in which
        it sat there.

    Raises
    ------
    BotError
        If a bot is plain Python, or makes a move that is not legal.
    """
    seatings = rotated_seatings(len(bots))
    winners = _winners(bots, seatings, [0] * len(bots), deals, seed, workers)
    return _by_deal(winners, seatings)


def play_itself(bot: str, players: int, deals: range, seed: int, workers: int = 2) -> NDArray[np.bool_]:
    """Play each deal once with each seat as the starter, the same bot in all seats.

    With the seats rotated, the games of a deal would be one and the same game.

    Returns
    -------
    numpy.ndarray
        dtype bool, shape (deals, players, players): ``[deal, starter, seat]`` tells whether the seat won.
    """
    seatings = np.tile(np.arange(players, dtype=np.int8), (players, 1))
    winners = _winners([bot] * players, seatings, range(players), deals, seed, workers)
    return _by_deal(winners, seatings.T)


def _by_deal(winners: NDArray[np.int8], names: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Return who won as [deal, name, seat], where ``names`` has a name for each table and seat."""
    tables, deals = winners.shape
    wins = np.zeros((deals, tables, tables), np.bool_)
    for names_here, seats in zip(names, winners, strict=True):
        wins[np.arange(deals), names_here[seats], seats] = True
    return wins


def _winners(
    texts: Sequence[str], seatings: NDArray[np.int8], starters: Sequence[int], deals: range, seed: int, workers: int
) -> NDArray[np.int8]:
    """Return for each table, which is a seating and a starter, and for each deal the seat that won."""
    bots = [parse_bot(text) for text in texts]
    size = min(_MOST_DEALS, math.ceil(len(deals) / _PARTS))
    parts = [slice(first, first + size) for first in range(0, len(deals), size)]
    jobs = list(product(range(len(seatings)), parts))
    winners = np.zeros((len(seatings), len(deals)), np.int8)

    def play(job: tuple[int, slice]) -> None:
        table, part = job
        winners[table, part] = _play_table(bots, seatings[table], starters[table], deals[part], seed)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(play, jobs))
    return winners


def _play_table(
    bots: Sequence[Bot], seating: NDArray[np.int8], starter: int, deals: range, seed: int
) -> NDArray[np.int8]:
    """Return for each deal the seat that won at a table."""
    players = len(bots)
    policies = policy_table([bot.policy.function for bot in bots])
    start = np.array([new_state(players, RULES, starter)])
    game_rows = np.zeros(len(deals) * players, GAME_ROW)
    col_rows = np.zeros(len(deals) * most_col_rows(RULES, players), COL_ROW)
    scratches, loops = np.zeros(MAX_PLAYERS, SCRATCH), np.zeros(1, LOOP)
    for bot, scratch in zip(bots, scratches, strict=False):
        bot.set_up(scratch)
    loop = loops[0]
    loop["seed"], loop["first_game"], loop["game"], loop["end"] = seed, deals.start, deals.start, deals.stop
    loop["sees_all"][:players] = [bot.sees_all for bot in bots]
    loop["is_watched"] = loop["sees_all"].any()
    if not play_games(policies, scratches, start, seating[None], game_rows, col_rows, loops):
        bot = bots[seating[loop["seat"]]]
        raise BotError(f"game {loop['game']}, bot {bot.text}: it is plain Python, or its move is illegal")
    return np.asarray(game_rows["seat"][game_rows["won"]], np.int8)


def share_interval(wins: NDArray[np.int64], games: int) -> tuple[float, float, float]:
    """Return the share of wins, from the wins in each deal out of so many games, and its 95 % interval.

    The games of a deal are not independent, so the deal is the unit: the variance of the share is that of the shares of
    the deals over their number. The interval is Wilson's for as many independent games as would have that variance, so
    that it stays within 0 and 1; if all deals are alike, and so show no variance, for one game a deal.
    """
    deals, share = len(wins), float(np.mean(wins)) / games
    variance = float(np.var(wins, ddof=1)) / games**2 / deals if deals > 1 else 0.0
    independent = share * (1 - share) / variance if variance > 0 else float(deals)
    return share, *wilson_interval(share * independent, independent)


def interval_text(wins: NDArray[np.int64], games: int) -> str:
    """Return the share of wins and its interval in percent."""
    share, low, high = share_interval(wins, games)
    return f"{100 * share:.1f} ({100 * low:.1f}-{100 * high:.1f})"
