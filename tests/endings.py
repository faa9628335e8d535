"""Small endings of a col: random ones, and a fixed set of 240 with the values of every move.

``python tests/endings.py`` makes the fixed set again: the same positions, solved by the slow twin in ``oracle``.
"""

import gzip
import json
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, islice

import numpy as np

from conftest import DATA
from oracle.endings import Solver, game_of
from velonimo_sim.rng import new_stream
from velonimo_sim.velonimo.cards import HARE_VALUES, TEAMS
from velonimo_sim.velonimo.exact import is_known, new_memory, new_table, solve
from velonimo_sim.velonimo.legal import legal_moves
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.state import State, clone, from_json, new_state, show_turn, to_json
from velonimo_sim.velonimo.step import apply, lay_out_col
from velonimo_sim.velonimo.view import NOBODY, Phase

FILE = DATA / "endings.jsonl.gz"
A_TABLE = 60
"""How many endings of the fixed set there are for each number of players."""
NODES = 150
"""The most choices that the compiled solver looks into for an ending of the fixed set: the slow one looks into more."""


@dataclass(frozen=True)
class Ending:
    """A position in which the seat to act knows all hands, and what its moves are worth to it."""

    state: State
    values: dict[str, Fraction]  # by text of the move: expected points of the col for the seat to act

    @property
    def best(self) -> set[str]:
        """The moves of the highest value."""
        return {move for move, value in self.values.items() if value == max(self.values.values())}


def fixed_endings() -> list[Ending]:
    """Return the fixed set: 60 endings for each of 2-5 players, at most 4 cards a hand, moves of different value.

    The seat to act knows every hidden card, so every determinization of its view is the state itself.
    """
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        contents = [json.loads(line) for line in lines]
    return [
        Ending(from_json(json.dumps(content["state"])), {k: Fraction(v) for k, v in content["values"].items()})
        for content in contents
    ]


def small_endings(players: int, seed: int, cards: int = 4, pile: int = 3) -> Iterator[State]:
    """Yield the positions of one random col with small hands that everybody knows, in random play.

    There are few colours, and more Tortoises and Dromedaries than in a whole deck. Hands have at most ``cards`` cards
    at first, the pile of the duel at most ``pile``; the options of the rules, the totals, the col, who starts and who
    wears the Jersey are random.
    """
    chance = random.Random(f"ending {players} {seed}")
    state = random_table(players, chance)
    riders = [team + number for team in chance.sample(TEAMS, 3) for number in "34567"]
    pool = [*riders, *(team + number for team in TEAMS for number in "12"), *chance.sample(HARES, 2)]
    chance.shuffle(pool)
    hands = [[pool.pop() for _ in range(chance.randint(1, cards))] for _ in range(players)]
    lay_out_col(state, hands, pool[: chance.randint(0, pile)] if players == 2 else ())
    tell_all_hands(state)
    stream = new_stream(seed)
    while state["view"]["phase"] < Phase.COL_OVER:
        yield clone(state)
        moves = np.zeros(500, np.uint64)
        apply(state, moves[chance.randrange(legal_moves(state["view"], moves))], stream)


HARES = [f"H{value}" for value in HARE_VALUES]


def random_table(players: int, chance: random.Random) -> State:
    """Return a state before a random col of a game with random options."""
    rules = RuleSet(
        tortoise_swap=chance.choice(("mandatory", "optional")),
        dromedary_last_card=chance.choice(("draws", "exempt")),
        jersey_bonus=chance.choice((None, 5)),
        duel_target=None,
    )
    state = new_state(players, rules, chance.randrange(players))
    view = state["view"]
    view["col"] = chance.randrange(5)
    view["totals"][:players] = [chance.randrange(10) for _ in range(players)]
    view["wearer"] = chance.choice((NOBODY, *range(players)))
    return state


def tell_all_hands(state: State) -> None:
    """Let every seat know the cards of all others."""
    for viewer in range(int(state["view"]["players"])):
        state["known"][viewer] = state["hands"]
        state["known"][viewer, viewer] = 0
    show_turn(state)


def is_small(state: State, nodes: int) -> bool:
    """Whether no hand has more than 4 cards, and the solver needs to look into no more than that many choices."""
    return max(state["view"]["sizes"]) <= 4 and solve(state, new_memory(), new_table(10), nodes) != 0


def with_a_choice(players: int) -> Iterator[Ending]:
    """Yield endings fit for the fixed set: one at most of a random col."""
    for seed in count():
        states = [
            state
            for state in small_endings(players, seed, pile=1)
            if is_known(state["view"]) and is_small(state, NODES)
        ]
        for state in random.Random(seed).sample(states, len(states)):
            game = game_of(to_json(state))
            values = {move: by_seat[state["view"]["turn"]] for move, by_seat in Solver().values_of_moves(game).items()}
            if len(set(values.values())) > 1:
                yield Ending(state, values)
                break


def line_of(ending: Ending) -> str:
    """Return an ending as a line of the file."""
    values = {move: str(value) for move, value in ending.values.items()}
    return json.dumps({"state": json.loads(to_json(ending.state)), "values": values}) + "\n"


def write_endings() -> None:
    """Make the file of the fixed set."""
    lines = [line_of(ending) for players in (2, 3, 4, 5) for ending in islice(with_a_choice(players), A_TABLE)]
    FILE.write_bytes(gzip.compress("".join(lines).encode(), mtime=0))


if __name__ == "__main__":
    write_endings()
