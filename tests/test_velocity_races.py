"""Whole races of VeloCity: what holds in all of them, whatever the course, the dice, the options and the moves."""

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from races import states_of_race
from test_velocity_course_and_dice import COURSES, DICE_SETS
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.velocity.rules import VARIED, RuleSet
from velonimo_sim.velocity.state import State, validate
from velonimo_sim.velocity.step import place_of
from velonimo_sim.velocity.track import FINISH
from velonimo_sim.velocity.view import NOBODY, End, Phase

pytestmark = pytest.mark.kernel

SEEDS = st.integers(0, 2**63 - 1)
TABLES = st.integers(3, 7).flatmap(lambda players: st.tuples(st.just(players), st.integers(0, players - 1)))


@st.composite
def races(draw: st.DrawFn) -> list[State]:
    """Draw a race: the states it went through, from the first turn to the end."""
    players, starter = draw(TABLES)
    options = draw(st.sampled_from(VARIED)).to_dict()
    rules = RuleSet.from_dict(options | {"turn_limit": min(options["turn_limit"], 300)})
    if draw(st.booleans()):
        course, dice = draw(COURSES), draw(DICE_SETS)
        rules = RuleSet.from_dict(rules.to_dict() | {"course": course.to_dict(), "dice": dice.to_dict()})
    return list(states_of_race(players, draw(SEEDS), rules, starter))


def couriers_of(state: State) -> int:
    """Return how many couriers stand on a space of the course, in the car park or on a finish place."""
    return int((state["view"]["couriers"] != FINISH).sum() + (state["view"]["finish"] != NOBODY).sum())


@settings(max_examples=10 if INTERPRETED else 30)
@given(races())
def test_what_holds_in_every_race(race: list[State]) -> None:
    """C1, C2, C17, C18, C20, state by state."""
    first, last = race[0]["view"], race[-1]["view"]
    rules, players = first["rules"], int(first["players"])
    for before, after in pairwise(race):
        view = after["view"]
        assert int(view["supply"]) + int(view["cans"].sum()) == rules["cans"]
        assert couriers_of(after) == players * int(rules["couriers"])
        filled = int(before["view"]["n_finished"])
        assert view["finish"][:filled].tolist() == before["view"]["finish"][:filled].tolist()
        assert filled <= view["n_finished"] <= filled + 1
        assert (view["finish"] != NOBODY).tolist() == [place < view["n_finished"] for place in range(8)]
        assert view["turns"] - before["view"]["turns"] in (0, 1)
        if view["phase"] != Phase.GAME_OVER:
            assert view["active"] == (int(first["starter"]) + int(view["turns"])) % players
    assert all(validate(state) == [] for state in race[:: max(1, len(race) // 5)])
    assert validate(race[-1]) == []
    assert last["phase"] == Phase.GAME_OVER
    assert last["end"] == expected_end(race[-1])
    assert sorted(int(place_of(last, seat)) for seat in range(players)) == list(range(1, players + 1))
    assert [int(place_of(last, seat)) for seat in ranked(race[-1])] == list(range(1, players + 1))


def expected_end(state: State) -> End:
    """Return why a race must be over, told from its finish places alone (C18)."""
    in_finish = [int(seat) for seat in state["view"]["finish"] if seat != NOBODY]
    if max(Counter(in_finish).values(), default=0) == 3:
        return End.THIRD_COURIER
    return End.EIGHTH_PLACE if len(in_finish) == 8 else End.TURN_LIMIT


def ranked(state: State) -> list[int]:
    """Return the seats from first to last, worked out with a sort of their own (C18)."""
    view = state["view"]
    players, finish = int(view["players"]), [int(seat) for seat in view["finish"]]

    def merit(seat: int) -> tuple[int, int, int, int]:
        places = [place for place, holder in enumerate(finish, 1) if holder == seat]
        left = sum(int(space) for space in view["couriers"][seat])
        waited = (seat - int(view["starter"])) % players
        return -len(places), -max(places, default=0), left, -waited

    return sorted(range(players), key=merit)


@pytest.mark.parametrize("end", [End.THIRD_COURIER, End.EIGHTH_PLACE, End.TURN_LIMIT])
def test_each_end_occurs(end: End) -> None:
    rules = VARIED[3] if end == End.TURN_LIMIT else RuleSet()
    for seed in range(40):
        *_, last = states_of_race(6, seed, rules)
        if last["view"]["end"] == end:
            return
    pytest.fail(f"no race ended by {end.words}")


def test_the_same_seed_gives_the_same_race_and_another_seed_another() -> None:
    once, again, other = (list(states_of_race(5, seed)) for seed in (3, 3, 4))
    assert [state.tobytes() for state in once] == [state.tobytes() for state in again]
    assert [state.tobytes() for state in once] != [state.tobytes() for state in other]


def test_random_races_meet_everything_that_can_happen() -> None:
    """The properties above are about something: all phases, packs, cans spent, couriers moved back."""
    met: Counter[str] = Counter()
    for number, rules in enumerate((*VARIED, RuleSet(cans=2, start_cans=(1, 1)))):
        race = list(states_of_race(5, number, rules))
        for before, after in pairwise(race):
            met[Phase(int(after["view"]["phase"])).name] += 1
            met[f"spent {after['view']['spent']}"] += 1
            met["pack"] += int(after["view"]["is_pack"])
            met["back"] += int(
                after["view"]["couriers"].astype(int).sum() > before["view"]["couriers"].astype(int).sum()
            )
    assert {*(phase.name for phase in Phase), "spent 1", "spent 2", "pack", "back"} <= set(met)
    assert all(met.values())
