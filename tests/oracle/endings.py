"""A slow solver of the end of a col, on top of the slow referee: every move, every draw, no pruning.

Who decides takes the most expected points of the col for himself. Of moves that are equal to him he takes one that goes
out, then one that leaves least to the opponent with the highest total, then to the next of that order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

from oracle.velonimo import OPTION_VALUES, Oracle, kind_of

PHASES = ("lead", "follow", "swap", "give", "next_leader", "reward", "col_over", "game_over")
NOBODY = 255

Values = tuple[Fraction, ...]
"""Expected points of the col by seat."""


def game_of(text: str) -> Oracle:
    """Return the game that the saved form of a state describes; nobody remembers cards that moved."""
    state = json.loads(text)
    view = state["view"]
    players = view["players"]
    game = Oracle(players, rules_of(view["rules"]))
    game.phase = PHASES[view["phase"]]
    game.turn, game.author, game.jersey = seat_of(view["turn"]), seat_of(view["author"]), seat_of(view["wearer"])
    game.col, game.totals, game.points = view["col"], view["totals"][:players], view["points"][:players]
    game.hands = [set(cards) for cards in state["hands"][:players]]
    game.pile = [card_at(position) for position in reversed(state["pile"][: view["pile_size"]])]
    game.reward = view["reward"][0] if view["reward"] else None
    game.racing = {seat for seat in range(players) if view["out_order"][seat] == 0}
    game.out_order = sorted(set(range(players)) - game.racing, key=lambda seat: view["out_order"][seat])
    game.jersey_spent, game.beat = bool(view["jersey_spent"]), view["beat"]
    game.swap_count, game.swap_victim = view["swap_count"], seat_of(view["swap_victim"])
    return game


def rules_of(record: dict[str, Any]) -> dict[str, Any]:
    """Return the options of the rules from their saved form."""
    return {
        "col_values": tuple(record["col_values"][: record["n_cols"]]),
        "duel_target": record["duel_target"] or None,
        "jersey_bonus": record["jersey_bonus"],
        "hand_size": record["hand_size"],
        **{option: values[record[option]] for option, values in OPTION_VALUES.items()},
    }


def seat_of(number: int) -> int | None:
    return None if number == NOBODY else number


def card_at(position: int) -> str:
    """Name the card at a bit position: seven riders of a team and then a hare in every eight."""
    team, number = divmod(position, 8)
    return f"H{25 + 5 * team}" if number == 7 else f"{'BNAGPRY'[team]}{number + 1}"


def copy_of(game: Oracle) -> Oracle:
    """Return a game that can be played on without changing this one."""
    copy = object.__new__(Oracle)
    for name, value in vars(game).items():
        setattr(copy, name, value.copy() if isinstance(value, set | list) else value)
    copy.hands = [set(hand) for hand in game.hands]
    copy.known = [{holder: set() for holder in range(game.players)} for _ in range(game.players)]
    return copy


def key_of(game: Oracle) -> tuple[Any, ...]:
    """Return all that the values depend on and that may change within the col."""
    return (
        (game.phase, game.turn, game.author, game.beat, game.swap_count, game.swap_victim, game.jersey_spent),
        (tuple(frozenset(hand) for hand in game.hands), tuple(game.pile), game.reward),
        (frozenset(game.racing), tuple(game.points)),
    )


def outcomes(game: Oracle, move: str) -> Iterator[Oracle]:
    """Yield the game after a move, once for every draw of a swap."""
    draws: list[tuple[str, ...]] = [()]
    if kind_of(move) == "swap":
        hand = sorted(game.hands[int(move.split()[1])])
        draws = list(combinations(hand, min(game.swap_count, len(hand))))
    for taken in draws:
        after = copy_of(game)
        after.play(move, taken)
        yield after


def mean(values: list[Values]) -> Values:
    return tuple(sum(column, Fraction(0)) / len(values) for column in zip(*values, strict=True))


class Solver:
    """Solves positions and keeps what it has solved; the games must be of one col."""

    def __init__(self) -> None:
        self.solved: dict[tuple[Any, ...], Values] = {}

    def values_of_moves(self, game: Oracle) -> dict[str, Values]:
        """Return the values of every legal move."""
        return {move: self.values_of_move(game, move) for move in game.legal_moves()}

    def values_of_move(self, game: Oracle, move: str) -> Values:
        return mean([self.values(after) for after in outcomes(game, move)])

    def values(self, game: Oracle) -> Values:
        """Return what the seats score under best play."""
        if game.turn is None:
            return tuple(map(Fraction, game.points))
        key = key_of(game)
        if key not in self.solved:
            self.solved[key] = self.values_of_best(game)
        return self.solved[key]

    def values_of_best(self, game: Oracle) -> Values:
        moves = game.legal_moves()
        out = [move for move in moves if goes_out(game, move)]
        values = [self.values_of_move(game, move) for move in out or moves]
        return max(values, key=lambda by_seat: preference(game, by_seat))


def goes_out(game: Oracle, move: str) -> bool:
    """Tell whether the seat to act is racing and with this move goes out."""
    if kind_of(move) != "play":
        return False
    (after,) = outcomes(game, move)
    return game.turn not in after.racing


def preference(game: Oracle, values: Values) -> list[Fraction]:
    """Return what the seat to act compares values by, the highest being the best."""
    others = sorted(range(game.players), key=lambda seat: (-game.totals[seat], seat))
    assert game.turn is not None
    return [values[game.turn], *(-values[seat] for seat in others if seat != game.turn)]
