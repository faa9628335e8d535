"""Recorded races of VeloCity with refused attempts.

``python tests/velocity_games.py`` makes ``data/velocity.jsonl.gz`` again: the same races, byte for byte.

Races are played at random over 3-7 players and the options of ``RULES``. Now and then the seat to act, or another one,
attempts what the rules refuse; the reason is told from what stands on the table, and not by asking the engine.
"""

import gzip
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from velonimo_sim.velocity import Course, Dice, Game, RuleSet, new_game

PATH = Path(__file__).parent / "data" / "velocity.jsonl.gz"

SHORT = Course(
    name="short",
    length=12,
    supply=(10, 6),
    obstacle=(9, 7, 4, 1),
    route=(12, 11, 8, 5, 3, 2),
)
ODD_DICE = Dice("odd", energy=(1, 2), teams=((1, 2, 3), (2, 2, 3), (1, 4), (3,), (1, 1, 5), (2, 4), (1, 2, 3, 4)))
RULES = {
    "official": RuleSet(),
    "own options": RuleSet(pack_from_start=False, breakaway_sum_finishes=True, couriers=3),
    "few cans": RuleSet(cans=3, start_cans=(1, 2), turn_limit=80),
    "another board": RuleSet(couriers=4, cans=9, start_cans=(2, 0, 1), course=SHORT, dice=ODD_DICE),
}
ATTEMPTS = 0.3
"""Share of the moves before which something is attempted that is refused."""


def play_race(players: int, name: str) -> dict[str, Any]:
    """Return the record of a race played at random under rules of that name, with refused attempts in it."""
    chance = random.Random(f"{players} {name}")
    game = new_game(players, chance.randrange(10**6), RULES[name], starter=chance.randrange(players))
    attempts: dict[int, dict[str, Any]] = {}
    moves = 0
    while game.turn is not None:
        legal = game.legal_moves()
        if chance.random() < ATTEMPTS:
            attempts[moves] = chance.choice(list(refused_attempts(game, chance.choice(legal))))
        game.play(chance.choice(legal))
        moves += 1
    record = dict(game.record())
    return record | {"id": f"{players}p {name}", "events": list(_with_attempts(record["events"], attempts))}


def _with_attempts(events: list[dict[str, Any]], attempts: dict[int, dict[str, Any]]) -> Iterator[dict[str, Any]]:
    moves = 0
    for event in events:
        if "move" in event:
            if moves in attempts:
                yield attempts[moves]
            moves += 1
        yield event


def refused_attempts(game: Game, legal: str) -> Iterator[dict[str, Any]]:
    """Yield attempts that are refused where a race stands, each with the reason; ``legal`` is a move that is not."""
    seat, view = game.turn, dict(game.view(game.turn or 0))
    yield {"seat": (seat + 1) % game.players, "move": legal, "refused": "out_of_turn"}
    for move, reason in _refused_to(view):
        yield {"seat": seat, "move": move, "refused": reason}


def _refused_to(view: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield moves that are refused to the seat to act, with the reason."""
    own = view["couriers"][view["turn"]]
    yield "pack 27 sum", "no_move"
    yield "take brown", "no_move"
    yield ("follow" if view["phase"] == "ride" else "solo"), "wrong_phase"
    yield ("pay" if view["phase"] != "obstacle" else "stay"), "wrong_phase"
    if view["phase"] == "ride":
        yield from _refused_rides(view, own)
    if view["phase"] == "die":
        yield from _refused_dice(view, own)
    if view["phase"] == "take":
        yield f"take {view['teams'][view['turn']]}", "not_the_most_cans"


def _refused_rides(view: dict[str, Any], own: list[int]) -> Iterator[tuple[str, str]]:
    others = {space for seat, spaces in enumerate(view["couriers"]) if seat != view["turn"] for space in spaces}
    cans = view["cans"][view["turn"]]
    if cans < 2:
        yield "solo breakaway", "too_few_cans"
    if cans < 1:
        yield f"pack {text_of(view, own[0])} refuel", "too_few_cans"
    yield f"pack {text_of(view, own[0])} breakaway", "breakaway_in_pack" if cans >= 2 else "too_few_cans"
    for space in range(1, view["car_park"]):
        if space not in own or space not in others:
            yield f"pack {space}", "no_pack"
            break
    if not view["rules"]["pack_from_start"]:
        yield "pack park", "pack_in_car_park"


def _refused_dice(view: dict[str, Any], own: list[int]) -> Iterator[tuple[str, str]]:
    team, dice = view["teams"][view["active"]], view["dice"]
    starts = [view["origin"]] if view["ride"] == "pack" else own
    if view["spent"] != "breakaway":
        yield f"sum from {text_of(view, starts[0])}", "not_thrown"
    if view["spent"] == "nothing":
        yield f"energy from {text_of(view, starts[0])}", "not_thrown"
    for space in range(1, view["car_park"]):
        if space not in starts:
            yield f"{team} from {space}", "not_of_the_pack" if view["ride"] == "pack" else "no_courier"
            break
    for die, number in dice.items():
        for space in starts:
            if die != team and number >= space:
                yield f"{die} from {space}", "crosses"


def text_of(view: dict[str, Any], space: int) -> str:
    """Return a space as moves name it."""
    return "park" if space == view["car_park"] else str(space)


def races() -> Iterator[dict[str, Any]]:
    """Yield the records of all races of the file."""
    for players in range(3, 8):
        for name in RULES:
            yield play_race(players, name)


def recorded_races() -> list[dict[str, Any]]:
    """Return the records of the file."""
    with gzip.open(PATH, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


if __name__ == "__main__":
    text = "".join(json.dumps(record) + "\n" for record in races())
    PATH.write_bytes(gzip.compress(text.encode(), mtime=0))
