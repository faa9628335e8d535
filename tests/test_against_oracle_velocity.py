"""Random races, ridden by the engine and by the slow referee in lockstep: they agree on everything after each move."""

from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.velocity import COLOURS, FINISH_PLACES, Race
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.errors import IllegalMoveError
from velonimo_sim.rng import new_stream
from velonimo_sim.velocity.dice import Dice
from velonimo_sim.velocity.legal import all_legal_moves
from velonimo_sim.velocity.moves import move_text, parse_move
from velonimo_sim.velocity.rules import RuleSet
from velonimo_sim.velocity.state import State, new_state
from velonimo_sim.velocity.step import apply, place_of
from velonimo_sim.velocity.track import Course
from velonimo_sim.velocity.view import NOBODY, Phase

pytestmark = pytest.mark.kernel

RED, BLACK, YELLOW, WHITE, GREEN, GRAY, BLUE = range(7)
COURIERS = {3: 4, 4: 4, 5: 3, 6: 3, 7: 3}  # C1
CANS = {3: 15, 4: 20, 5: 20, 6: 24, 7: 28}  # C2

DEFAULTS = {
    "pack_from_start": True,  # C7
    "breakaway_sum_finishes": False,  # C9
    "couriers": None,
    "cans": None,
    "start_cans": (),
    "turn_limit": 10_000,
}

EXAMPLES = 15 if INTERPRETED else 200
RACES_FOR_EVERY_CASE = 40
MANY_RACES = 1_500
ATTEMPTS = 2
"""Moves, mostly illegal ones, that are tried at every decision before one is made."""
CASES = {
    *("ride", "die", "slipstream", "obstacle", "take"),
    *("solo", "pack", "pack park", "refuel", "breakaway"),
    *("own die", "foreign die", "energy", "sum", "follow", "stay", "pay", "back", "refused"),
    *("moved back unasked", "moved back to the park", "can taken unasked", "no can to take"),
    *("third courier", "turn limit"),
}
"""What a set of random races has to show, whatever the number of players."""

# ---- the oracle itself ----


def race_of_seven(starter: int, couriers: dict[int, list[int]], cans: dict[int, int]) -> Race:
    """Return a race of seven on the spaces that the rules' examples name; who is not mentioned stands at the start."""
    start_cans = [cans.get(seat, 0) for seat in range(7)]
    race = Race(7, 35, [27], [1, 3, 5], 3, 28, True, False, 10_000, start_cans, starter)
    for seat, spaces in couriers.items():
        race.couriers[seat] = sorted(spaces)
    return race


def test_oracle_x1_only_the_first_courier_on_a_supply_space_earns_a_can() -> None:
    race = race_of_seven(BLUE, {BLUE: [33, 33, 36], YELLOW: [33, 36, 36]}, {BLUE: 1, YELLOW: 1})
    race.move("solo", {"blue": 6})
    race.move("blue from 33")
    assert (race.phase, race.turn) == ("slipstream", BLUE)
    race.move("follow")
    assert (race.phase, race.turn) == ("slipstream", YELLOW)
    race.move("follow")
    assert (race.couriers[BLUE], race.couriers[YELLOW]) == ([27, 27, 36], [27, 36, 36])
    assert (race.cans[BLUE], race.cans[YELLOW], race.supply) == (1, 0, 27)
    assert (race.phase, race.turn, race.turns) == ("ride", RED, 1)


@pytest.mark.parametrize(
    ("choice", "moved"),
    [("blue from 6", {BLUE: 5}), ("red from 6", {BLUE: 3, RED: 3}), ("yellow from 6", {BLUE: 3, YELLOW: 3})],
)
def test_oracle_x2_a_foreign_die_of_a_pack_moves_its_team_too(choice: str, moved: dict[int, int]) -> None:
    race = race_of_seven(BLUE, {seat: [6, 36, 36] for seat in (BLUE, RED, YELLOW)}, {BLUE: 1, RED: 1, YELLOW: 1})
    assert race.dice_thrown_by("pack 6") == ["red", "yellow", "blue"]
    race.move("pack 6", {"blue": 1, "red": 3, "yellow": 3})
    assert race.legal_moves() == ["blue from 6", "red from 6", "yellow from 6"]
    race.move(choice)
    assert {seat: race.couriers[seat][0] for seat in (BLUE, RED, YELLOW)} == dict.fromkeys(
        (BLUE, RED, YELLOW), 6
    ) | moved


def test_oracle_x3_a_foreign_die_takes_nobody_across_the_finish_line() -> None:
    race = race_of_seven(YELLOW, {seat: [4, 36, 36] for seat in (BLUE, RED, YELLOW)}, {})
    race.move("pack 4", {"yellow": 2, "blue": 3, "red": 6})
    assert race.legal_moves() == ["blue from 4", "yellow from 4"]


def test_oracle_x4_a_can_for_moving_back_saves_the_next_courier() -> None:
    race = race_of_seven(YELLOW, {YELLOW: [4, 4, 36], BLUE: [4, 36, 36], RED: [4, 36, 36]}, {YELLOW: 1, RED: 2})
    race.move("pack 4", {"yellow": 2, "blue": 3, "red": 6})
    race.move("blue from 4")
    race.move("follow")
    assert (race.phase, race.turn) == ("slipstream", RED)
    race.move("follow")
    assert (race.phase, race.turn) == ("obstacle", YELLOW)
    assert (race.couriers[YELLOW], race.cans[YELLOW]) == ([1, 3, 36], 1)
    race.move("pay")
    assert (race.couriers[BLUE], race.cans[BLUE]) == ([5, 36, 36], 1)
    assert (race.phase, race.turn) == ("obstacle", RED)
    race.move("pay")
    assert [race.couriers[seat] for seat in (YELLOW, BLUE, RED)] == [[1, 3, 36], [5, 36, 36], [1, 36, 36]]
    assert [race.cans[seat] for seat in (YELLOW, BLUE, RED)] == [0, 1, 0]


def test_oracle_x5_of_equally_many_couriers_the_last_one_further_back_wins() -> None:
    race = race_of_seven(BLUE, {BLUE: [0, 2, 36], RED: [0, 0, 36]}, {})
    race.finish = [BLACK, RED, BLUE, YELLOW, WHITE, GREEN, RED]
    race.move("solo", {"blue": 5})
    race.move("blue from 2")
    assert race.finish == [BLACK, RED, BLUE, YELLOW, WHITE, GREEN, RED, BLUE]
    assert (race.phase, race.turn, race.ended_by) == ("game_over", None, "eighth place")
    assert race.places() == [2, 6, 5, 4, 3, 7, 1]


def test_oracle_refuses_what_is_not_legal_and_changes_nothing() -> None:
    race = race_of_seven(BLUE, {BLUE: [33, 33, 36]}, {})
    assert race.legal_moves() == ["pack park", "solo"]
    for text, dice in [("solo refuel", {"blue": 1, "energy": 1}), ("pack 33", {"blue": 1}), ("solo", {}), ("stay", {})]:
        with pytest.raises(ValueError, match=text):
            race.move(text, dice)
    assert (race.phase, race.couriers[BLUE], race.thrown) == ("ride", [33, 33, 36], {})
    assert race.dice_thrown_by("pack park") == list(COLOURS)


# ---- random races ----


@dataclass(frozen=True)
class Setting:
    """Everything that a random race depends on; ``generosity`` is how readily cans are spent, 1 being by chance."""

    players: int
    length: int
    supply: list[int]
    obstacles: list[int]
    dice: dict[str, list[int]]
    options: dict[str, Any]
    starter: int
    generosity: float
    seed: int

    def race(self) -> Race:
        """Return the race in the oracle, what the options leave open as C1 and C2 say."""
        options = dict(self.options)
        couriers, cans = options.pop("couriers"), options.pop("cans")
        return Race(
            self.players,
            self.length,
            self.supply,
            self.obstacles,
            COURIERS[self.players] if couriers is None else couriers,
            CANS[self.players] if cans is None else cans,
            starter=self.starter,
            **options,
        )

    def rules(self) -> RuleSet:
        """Return the options as the engine knows them."""
        special = {*self.supply, *self.obstacles}
        course = Course(
            name="random",
            length=self.length,
            supply=tuple(self.supply),
            obstacle=tuple(self.obstacles),
            route=tuple(space for space in range(1, self.length + 1) if space not in special),
        )
        dice = Dice.from_dict({"name": "random", "team": [1, 2, 3, 4, 5, 6]} | self.dice)
        return RuleSet(course=course, dice=dice, **self.options)


def random_setting(players: int, seed: int) -> Setting:
    """Draw a course, dice, options and temper; in every other race cans are scarce."""
    rng = Random(seed)
    length = rng.choice([2, 8, 15, 35, 35, 60])
    spaces = rng.sample(range(1, length + 1), length)
    n_supply = rng.randint(1, max(1, length // 3))
    n_obstacles = rng.randint(0, length - n_supply)
    cans = rng.choice([None, rng.randint(1, players + 2)])
    in_hands = rng.choice([0, CANS[players] if cans is None else cans])
    return Setting(
        players=players,
        length=length,
        supply=sorted(spaces[:n_supply]),
        obstacles=sorted(spaces[n_supply : n_supply + n_obstacles]),
        dice={die: random_faces(rng) for die in (*COLOURS, "energy")},
        options={
            "pack_from_start": rng.random() < 0.7,
            "breakaway_sum_finishes": rng.random() < 0.5,
            "couriers": rng.choice([None, 3, 4]),
            "cans": cans,
            "start_cans": rng.choice([(), tuple(split(rng, in_hands, players))]),
            "turn_limit": rng.choice([rng.randint(1, 40), 400, 400]),
        },
        starter=rng.randrange(players),
        generosity=rng.choice([0.2, 1, 5]),
        seed=seed,
    )


def random_faces(rng: Random) -> list[int]:
    """Return the faces of an ordinary die, or of one with other faces."""
    return rng.choice([[1, 2, 3, 4, 5, 6], [rng.randint(1, 9) for _ in range(rng.randint(1, 6))]])


def split(rng: Random, cans: int, players: int) -> list[int]:
    """Hand out cans one by one at random."""
    owners = Counter(rng.randrange(players) for _ in range(cans))
    return [owners[seat] for seat in range(players)]


# ---- the same facts, read from both ----


def facts_of_engine(state: State, couriers: int) -> dict[str, Any]:
    view, players = state["view"], int(state["view"]["players"])
    over = view["phase"] == Phase.GAME_OVER
    return {
        "phase": Phase(int(view["phase"])).name.lower(),
        "turn": None if view["turn"] == NOBODY else int(view["turn"]),
        "active": None if over else int(view["active"]),
        "couriers": [sorted(spaces[:couriers].tolist()) for spaces in view["couriers"][:players]],
        "cans": view["cans"][:players].tolist(),
        "supply": int(view["supply"]),
        "finish": [int(seat) for seat in view["finish"] if seat != NOBODY],
        "turns": int(view["turns"]),
        "places": [int(place_of(view, seat)) for seat in range(players)] if over else None,
    }


def facts_of_oracle(race: Race) -> dict[str, Any]:
    over = race.phase == "game_over"
    return {
        "phase": race.phase,
        "turn": race.turn,
        "active": None if over else race.active,
        "couriers": [list(spaces) for spaces in race.couriers],
        "cans": list(race.cans),
        "supply": race.supply,
        "finish": list(race.finish),
        "turns": race.turns,
        "places": race.places() if over else None,
    }


# ---- a race in lockstep ----


@dataclass
class Lockstep:
    """One race in both referees."""

    setting: Setting
    state: State
    race: Race
    rng: Random
    seen: Counter[str] = field(default_factory=Counter)

    def compare(self) -> None:
        """Prove that both referees see the same facts and allow the same moves, each of them once."""
        assert facts_of_engine(self.state, len(self.race.couriers[0])) == facts_of_oracle(self.race)
        if self.race.turn is not None:
            texts = [move_text(move) for move in all_legal_moves(self.state["view"])]
            assert sorted(texts) == self.race.legal_moves()
            assert texts

    def choose(self) -> str:
        """Return a legal move, packs and (as the temper of the race has it) moves that cost a can more often."""
        moves = self.race.legal_moves()
        return self.rng.choices(moves, [self._weight(move) for move in moves])[0]

    def _weight(self, move: str) -> float:
        costs_a_can = move.split()[-1] in ("refuel", "breakaway", "follow", "pay")
        return (self.setting.generosity if costs_a_can else 1) * (3 if move.startswith("pack") else 1)

    def throw(self, move: str) -> dict[str, int] | None:
        """Throw the dice of a ride; other moves throw none."""
        if self.race.phase != "ride":
            return None
        return {die: self.rng.choice(self.setting.dice[die]) for die in self.race.dice_thrown_by(move)}

    def make(self, move: str) -> None:
        """Make a move in both, with the same dice."""
        self._note(move)
        thrown = self.throw(move)
        apply(self.state, parse_move(move), new_stream(0), thrown)
        self.race.move(move, thrown)

    def _note(self, move: str) -> None:
        """Count the phase, and what the words of the move show."""
        words = move.split()
        self.seen.update({self.race.phase, *words})
        self.seen["pack park"] += words[:2] == ["pack", "park"]
        if self.race.phase == "die" and words[0] in COLOURS:
            self.seen["own die" if COLOURS.index(words[0]) == self.race.active else "foreign die"] += 1

    def try_moves(self) -> None:
        """Try some moves at random: what one referee refuses the other refuses, too, and nothing changes."""
        for _ in range(ATTEMPTS):
            move = attempt(self.rng, self.setting.length)
            if move not in self.race.legal_moves():
                self._is_refused(move)
                self.seen["refused"] += 1

    def _is_refused(self, move: str) -> None:
        state, facts = self.state.tobytes(), facts_of_oracle(self.race)
        with pytest.raises(IllegalMoveError):
            apply(self.state, parse_move(move), new_stream(0))
        assert self.state.tobytes() == state
        with pytest.raises(ValueError, match=move):
            self.race.move(move)
        assert facts_of_oracle(self.race) == facts


def attempt(rng: Random, length: int) -> str:
    """Return a well-written move that is as likely as not illegal."""
    space = rng.choice(["park", str(rng.randint(1, length))])
    ride = rng.choice(["solo", "solo refuel", "solo breakaway", f"pack {space}", f"pack {space} refuel"])
    die = f"{rng.choice([*COLOURS, 'energy', 'sum'])} from {space}"
    return rng.choice([ride, die, rng.choice(["follow", "stay", "pay", "back"]), f"take {rng.choice(COLOURS)}"])


def ride_in_lockstep(setting: Setting, rules: RuleSet) -> Counter[str]:
    """Ride a whole race in both referees and compare them at every step; return what has happened how often."""
    state = new_state(setting.players, rules, setting.starter)
    both = Lockstep(setting, state, setting.race(), Random(setting.seed))
    both.compare()
    while both.race.turn is not None:
        both.try_moves()
        both.make(both.choose())
        both.compare()
    return both.seen + both.race.happened + Counter([str(both.race.ended_by)])


@settings(max_examples=EXAMPLES)
@given(st.integers(3, 7), st.integers(0, 1 << 32))
def test_engine_and_oracle_agree(players: int, seed: int) -> None:
    setting = random_setting(players, seed)
    ride_in_lockstep(setting, setting.rules())


@pytest.mark.parametrize("players", [3, 4, 5, 6, 7])
def test_engine_and_oracle_agree_in_every_case(players: int) -> None:
    seen: Counter[str] = Counter()
    for seed in range(RACES_FOR_EVERY_CASE):
        setting = random_setting(players, seed)
        seen += ride_in_lockstep(setting, setting.rules())
    can_fill_the_finish = 2 * players >= FINISH_PLACES
    assert CASES | ({"eighth place"} if can_fill_the_finish else set()) <= set(seen)


@pytest.mark.parametrize("players", [3, 4, 5, 6, 7])
def test_engine_and_oracle_agree_under_the_default_rules(players: int) -> None:
    rules, ordinary = RuleSet(), [1, 2, 3, 4, 5, 6]
    setting = Setting(
        players=players,
        length=rules.course.length,
        supply=list(rules.course.supply),
        obstacles=list(rules.course.obstacle),
        dice=dict.fromkeys((*COLOURS, "energy"), ordinary),
        options=DEFAULTS,
        starter=players - 1,
        generosity=1,
        seed=players,
    )
    seen = ride_in_lockstep(setting, rules)
    assert seen["turn limit"] == 0
    assert {"ride", "die", "slipstream", "obstacle", "solo", "pack", "refuel", "pay", "back"} <= set(seen)


@pytest.mark.slow
@pytest.mark.parametrize("players", [3, 4, 5, 6, 7])
def test_engine_and_oracle_agree_in_many_races(players: int) -> None:
    for seed in range(RACES_FOR_EVERY_CASE, RACES_FOR_EVERY_CASE + MANY_RACES):
        setting = random_setting(players, seed)
        ride_in_lockstep(setting, setting.rules())
