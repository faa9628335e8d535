"""The rules C1-C20 of VeloCity and the worked examples X1-X5, one by one, on positions laid out by hand."""

import pytest

from races import asks, cans, couriers, do, lay_out, legal, seat_of
from velonimo_sim.errors import IllegalMoveError, UsageError
from velonimo_sim.rng import CHANCE, new_stream
from velonimo_sim.velocity.dice import TEAMS, Dice, default_dice
from velonimo_sim.velocity.moves import parse_move
from velonimo_sim.velocity.state import State, clone, new_state
from velonimo_sim.velocity.step import apply, place_of
from velonimo_sim.velocity.track import FINISH_PLACES, Course, default_course
from velonimo_sim.velocity.view import End, Phase

pytestmark = pytest.mark.kernel

PARK = 36
PLAIN = Course("plain", 35, supply=(35,), obstacle=(), route=tuple(range(1, 35)))
SOLO, REFUEL, BREAKAWAY = "solo", "solo refuel", "solo breakaway"


def refuse(state: State, text: str, rule: str, **dice: int) -> None:
    """Prove that a move is refused under a rule, is not listed, and changes nothing when it is tried."""
    before = state.tobytes()
    with pytest.raises(IllegalMoveError) as caught:
        apply(state, parse_move(text), thrown=dice)
    assert caught.value.rule == rule
    assert state.tobytes() == before
    assert text not in legal(state)


def thrown(state: State) -> set[str]:
    """Return which dice lie on the table."""
    return {name for name, number in zip((*TEAMS, "energy"), state["view"]["dice"], strict=True) if number}


def supply(state: State) -> int:
    return int(state["view"]["supply"])


def finish(state: State) -> list[str]:
    """Return the team in each finish place that is filled."""
    return [TEAMS[seat] for seat in state["view"]["finish"][: state["view"]["n_finished"]]]


def ranking(state: State) -> list[str]:
    """Return the teams from the first place to the last."""
    players = int(state["view"]["players"])
    return sorted(TEAMS[:players], key=lambda team: int(place_of(state["view"], seat_of(team))))


def end(state: State) -> End:
    return End(int(state["view"]["end"]))


# ---- C1-C5: material ----


@pytest.mark.parametrize(("players", "each"), [(3, 4), (4, 4), (5, 3), (6, 3), (7, 3)])
def test_c1_couriers_of_each_team_by_players(players: int, each: int) -> None:
    state = new_state(players)
    assert [couriers(state, team) for team in TEAMS[:players]] == [[PARK] * each] * players
    assert not state["view"]["couriers"][players:].any()


@pytest.mark.parametrize("players", [2, 8])
def test_c1_three_to_seven_players(players: int) -> None:
    with pytest.raises(UsageError, match=f"^players {players}: allowed is 3-7$"):
        new_state(players)


def test_c1_teams_by_seat() -> None:
    assert TEAMS == ("red", "black", "yellow", "white", "green", "gray", "blue")


@pytest.mark.parametrize(("players", "number"), [(3, 15), (4, 20), (5, 20), (6, 24), (7, 28)])
def test_c2_cans_in_the_supply_by_players_and_none_with_them(players: int, number: int) -> None:
    state = new_state(players)
    assert supply(state) == number
    assert not state["view"]["cans"].any()


def test_c2_cans_that_are_spent_go_into_the_supply() -> None:
    state = lay_out({"red": "20"}, cans={"red": 3}, supply=4)
    assert supply(do(clone(state), REFUEL, red=1, energy=1)) == 5
    assert supply(do(clone(state), BREAKAWAY, red=1, energy=1)) == 6


def test_c3_default_dice_have_1_to_6() -> None:
    assert default_dice().faces == ((1, 2, 3, 4, 5, 6),) * 8


def test_c3_faces_are_data_each_die_its_own() -> None:
    faces = tuple((seat + 1,) for seat in range(7))
    state = lay_out({}, cans={"red": 1}, dice=Dice("odd ones", (20,), faces))
    apply(state, parse_move("pack park refuel"), new_stream(0, 0, CHANCE))
    assert state["view"]["dice"].tolist() == [1, 2, 3, 4, 5, 6, 7, 20]


def test_c4_default_course() -> None:
    course = default_course()
    assert (course.length, course.is_reconstruction) == (35, True)
    assert {1, 3, 5} <= set(course.obstacle)
    assert 27 in course.supply
    assert {33, 6, 4} <= set(course.route)
    assert sorted(course.supply + course.obstacle + course.route) == list(range(1, 36))


def test_c4_spaces_count_down_from_the_car_park() -> None:
    assert couriers(do(lay_out({}), SOLO, "red from park", red=1), "red") == [PARK, PARK, 35]


def test_c4_eight_finish_places() -> None:
    assert FINISH_PLACES == 8


def test_c5_any_number_of_couriers_on_a_space() -> None:
    everyone = dict.fromkeys(TEAMS, "21 21 21") | {"red": "23 21 21"}
    state = do(lay_out(everyone), SOLO, "red from 23", red=2)
    assert [couriers(state, team) for team in TEAMS] == [[21] * 3] * 7


# ---- C6-C9: the ride and its dice ----


@pytest.mark.parametrize(
    ("number", "rides"),
    [
        (0, [SOLO, "pack 20"]),
        (1, [SOLO, REFUEL, "pack 20", "pack 20 refuel"]),
        (2, [SOLO, REFUEL, BREAKAWAY, "pack 20", "pack 20 refuel"]),
        (9, [SOLO, REFUEL, BREAKAWAY, "pack 20", "pack 20 refuel"]),
    ],
)
def test_c6_rides_that_the_cans_allow(number: int, rides: list[str]) -> None:
    state = lay_out({"red": "20 18 16", "blue": "20 25"}, cans={"red": number})
    assert legal(state) == rides


def test_c6_cans_are_needed_before_the_dice_are_thrown() -> None:
    refuse(lay_out({}), REFUEL, "C6", red=1, energy=1)
    refuse(lay_out({}), "pack park refuel", "C6", red=1, energy=1)
    refuse(lay_out({}, cans={"red": 1}), BREAKAWAY, "C6", red=1, energy=1)
    assert BREAKAWAY in legal(lay_out({}, cans={"red": 2}))


def test_c6_a_breakaway_is_solo_only() -> None:
    state = lay_out({}, cans={"red": 9})
    with pytest.raises(IllegalMoveError) as caught:
        apply(state, int(parse_move("pack park")) | 2 << 8, new_stream(0))
    assert caught.value.rule == "C6"
    assert not any("breakaway" in text for text in legal(state) if "pack" in text)


@pytest.mark.parametrize(("ride", "left"), [(SOLO, 3), (REFUEL, 2), (BREAKAWAY, 1), ("pack park", 3)])
def test_c6_cans_are_paid_with_the_choice(ride: str, left: int) -> None:
    dice = dict.fromkeys(TEAMS if "pack" in ride else ["red"], 1) | ({"energy": 1} if left < 3 else {})
    state = do(lay_out({}, cans={"red": 3}), ride, **dice)
    assert asks(state) == (Phase.DIE, "red")
    assert cans(state, "red") == left


def test_c6_what_is_not_spent_is_not_thrown() -> None:
    state = lay_out({}, cans={"red": 2})
    for ride, dice in ((SOLO, {"red"}), (REFUEL, {"red", "energy"}), (BREAKAWAY, {"red", "energy"})):
        chosen = clone(state)
        apply(chosen, parse_move(ride), new_stream(0, 0, CHANCE))
        assert thrown(chosen) == dice


def test_c7_a_pack_needs_an_own_and_a_foreign_courier() -> None:
    state = lay_out({"red": "20 20 18", "blue": "18 17", "gray": "17 16"}, pack_from_start=False)
    assert legal(state) == [SOLO, "pack 18"]
    for space in (20, 17, 16, 30):
        refuse(state, f"pack {space}", "C7", red=1)


def test_c7_the_car_park_counts() -> None:
    state = do(lay_out({"blue": "30 30 30"}), "pack park", **dict.fromkeys(TEAMS[:6], 2))
    assert couriers(do(state, "gray from park"), "gray") == [PARK, PARK, 34]
    assert couriers(state, "red") == [PARK, PARK, 34]


def test_c7_the_car_park_does_not_count_by_option() -> None:
    state = lay_out({"red": "20", "blue": "20"}, cans={"red": 1}, pack_from_start=False)
    refuse(state, "pack park", "C7", **dict.fromkeys(TEAMS, 2))
    refuse(state, "pack park refuel", "C7", **dict.fromkeys(TEAMS, 2), energy=1)
    assert legal(state) == [SOLO, REFUEL, "pack 20", "pack 20 refuel"]


@pytest.mark.parametrize("number", range(1, 7))
def test_c8_a_courier_moves_exactly_the_number(number: int) -> None:
    state = do(lay_out({"red": "35"}, course=PLAIN), SOLO, "red from 35", red=number)
    assert couriers(state, "red") == [PARK, PARK, 35 - number]


@pytest.mark.parametrize("space", range(1, 7))
def test_c8_pips_may_lapse_at_the_finish(space: int) -> None:
    state = do(lay_out({"red": f"{space}"}), SOLO, f"red from {space}", red=6)
    assert couriers(state, "red") == [PARK, PARK, 0]
    assert finish(state) == ["red"]


def test_c8_space_1_is_before_the_finish_line() -> None:
    state = do(lay_out({"red": "7"}, cans={"red": 1}), SOLO, "red from 7", "pay", red=6)
    assert couriers(state, "red") == [PARK, PARK, 1]
    assert finish(state) == []


@pytest.mark.parametrize(("number", "crosses"), [(3, False), (4, True), (5, True)])
def test_c9_not_by_the_energy_die(number: int, crosses: bool) -> None:
    state = do(lay_out({"red": "4"}, cans={"red": 2}), REFUEL, red=6, energy=number)
    assert ("energy from 4" in legal(state)) != crosses
    if crosses:
        refuse(state, "energy from 4", "C9")
    assert finish(do(state, "red from 4")) == ["red"]


@pytest.mark.parametrize(("number", "crosses"), [(3, False), (4, True), (5, True)])
def test_c9_not_by_a_foreign_die(number: int, crosses: bool) -> None:
    state = do(lay_out({"red": "4", "blue": "4"}), "pack 4", red=6, blue=number)
    assert ("blue from 4" in legal(state)) != crosses
    if crosses:
        refuse(state, "blue from 4", "C9")
    assert finish(do(state, "red from 4")) == ["red"]


@pytest.mark.parametrize(("energy", "crosses"), [(1, False), (2, True), (6, True)])
def test_c9_not_by_the_sum_though_the_own_die_is_in_it(energy: int, crosses: bool) -> None:
    state = do(lay_out({"red": "6 9"}, cans={"red": 2}), BREAKAWAY, red=4, energy=energy)
    assert ("sum from 6" in legal(state)) != crosses
    if crosses:
        refuse(state, "sum from 6", "C9")


def test_c9_by_the_sum_with_the_option() -> None:
    state = do(lay_out({"red": "6"}, cans={"red": 2}, breakaway_sum_finishes=True), BREAKAWAY, red=4, energy=6)
    refuse(state, "energy from 6", "C9")
    assert finish(do(state, "sum from 6")) == ["red"]


# ---- C10, C11: solo and pack ----


def test_c10_the_own_die_moves_one_own_courier_of_choice() -> None:
    state = do(lay_out({"red": "20 10 park", "blue": "20"}), SOLO, red=3)
    assert sorted(legal(state)) == ["red from 10", "red from 20", "red from park"]
    for space, after in ((20, [PARK, 17, 10]), (10, [PARK, 20, 7]), ("park", [33, 20, 10])):
        assert couriers(do(clone(state), f"red from {space}"), "red") == after
    assert couriers(do(state, "red from 20"), "blue") == [PARK, PARK, 20]


def test_c10_no_courier_of_another_space_and_none_that_has_finished() -> None:
    state = do(lay_out({"red": "20 20", "blue": "10"}, finish="red"), SOLO, red=3)
    assert legal(state) == ["red from 20"]
    for space in ("park", "10", "1"):
        refuse(state, f"red from {space}", "C10")


def test_c10_other_dice_are_not_thrown() -> None:
    state = do(lay_out({"red": "20", "blue": "20"}, cans={"red": 1}), SOLO, red=3)
    for die in ("blue", "energy", "sum"):
        refuse(state, f"{die} from 20", "C10")


def test_c10_refuel_chooses_one_of_two_dice() -> None:
    state = do(lay_out({"red": "20 20 20"}, cans={"red": 2}), REFUEL, red=3, energy=5)
    assert legal(state) == ["red from 20", "energy from 20"]
    refuse(state, "sum from 20", "C10")
    assert couriers(do(clone(state), "red from 20"), "red") == [20, 20, 17]
    assert couriers(do(clone(state), "energy from 20"), "red") == [20, 20, 15]


def test_c10_breakaway_chooses_the_sum_or_either() -> None:
    state = do(lay_out({"red": "20 20 20"}, cans={"red": 2}), BREAKAWAY, red=2, energy=3)
    assert legal(state) == ["red from 20", "energy from 20", "sum from 20"]
    for die, space in (("red", 18), ("energy", 17), ("sum", 15)):
        assert couriers(do(clone(state), f"{die} from 20"), "red") == [20, 20, space]


@pytest.mark.parametrize("die", ["red", "energy", "sum"])
def test_c10_nobody_follows_a_breakaway_whatever_die_is_chosen(die: str) -> None:
    state = lay_out({"red": "25 25", "blue": "25"}, cans={"red": 3, "blue": 1})
    do(state, BREAKAWAY, f"{die} from 25", red=2, energy=2)
    assert asks(state) == (Phase.RIDE, "black")
    assert couriers(state, "red")[:2] == [PARK, 25]


def test_c11_the_dice_of_the_pack_are_thrown() -> None:
    state = lay_out({"red": "20", "yellow": "20", "blue": "20 10", "gray": "19"}, cans={"red": 1})
    for ride, dice in (("pack 20", {"red", "yellow", "blue"}), ("pack 20 refuel", {"red", "yellow", "blue", "energy"})):
        chosen = clone(state)
        apply(chosen, parse_move(ride), new_stream(0, 0, CHANCE))
        assert thrown(chosen) == dice


def pack_of_three() -> State:
    """Return a ride of a pack of red, yellow and blue, two of each, in which each die shows something else."""
    state = lay_out({"red": "20 20", "yellow": "20 20", "blue": "20 20"}, cans={"red": 1})
    return do(state, "pack 20 refuel", red=2, yellow=4, blue=5, energy=3)


def test_c11_any_die_of_the_pack_may_be_chosen() -> None:
    assert legal(pack_of_three()) == ["red from 20", "yellow from 20", "blue from 20", "energy from 20"]
    refuse(pack_of_three(), "gray from 20", "C10")
    refuse(pack_of_three(), "sum from 20", "C10")


@pytest.mark.parametrize(("die", "space"), [("red", 18), ("energy", 17)])
def test_c11_the_own_and_the_energy_die_move_one_own_courier(die: str, space: int) -> None:
    state = do(pack_of_three(), f"{die} from 20")
    assert couriers(state, "red") == [PARK, 20, space]
    assert couriers(state, "yellow") == couriers(state, "blue") == [PARK, 20, 20]


@pytest.mark.parametrize(("die", "other", "space"), [("yellow", "blue", 16), ("blue", "yellow", 15)])
def test_c11_a_foreign_die_moves_one_courier_of_each_of_the_two(die: str, other: str, space: int) -> None:
    state = do(pack_of_three(), f"{die} from 20")
    assert couriers(state, "red") == couriers(state, die) == [PARK, 20, space]
    assert couriers(state, other) == [PARK, 20, 20]


def test_c11_nobody_starts_from_another_space() -> None:
    state = do(lay_out({"red": "20 18", "blue": "20 18"}), "pack 20", red=2, blue=3)
    for move in ("red from 18", "red from park", "blue from 18"):
        refuse(state, move, "C11")


# ---- C12: slipstream ----


def test_c12_the_active_player_is_asked_first_then_clockwise() -> None:
    state = lay_out(dict.fromkeys(TEAMS, "25 25"), "white", dict.fromkeys(TEAMS, 1))
    do(state, SOLO, "white from 25", white=2)
    order = []
    while asks(state)[0] == Phase.SLIPSTREAM:
        assert legal(state) == ["follow", "stay"]
        order.append(asks(state)[1])
        do(state, "stay")
    assert order == ["white", "green", "gray", "blue", "red", "black", "yellow"]


def test_c12_every_other_courier_may_follow_for_a_can_each() -> None:
    state = lay_out({"red": "25 25", "blue": "25 25 25"}, cans={"blue": 3}, supply=0)
    do(state, SOLO, "red from 25", red=2)
    for follower in range(3):
        assert asks(state) == (Phase.SLIPSTREAM, "blue")
        assert (cans(state, "blue"), supply(state)) == (3 - follower, follower)
        do(state, "follow")
    assert couriers(state, "blue") == [23, 23, 23]
    assert (cans(state, "blue"), supply(state)) == (0, 3)
    assert couriers(state, "red") == [PARK, 25, 23]
    assert asks(state) == (Phase.RIDE, "black")


def test_c12_who_has_followed_once_may_stay_then() -> None:
    state = lay_out({"red": "25", "blue": "25 25"}, cans={"blue": 2})
    do(state, SOLO, "red from 25", "follow", "stay", red=2)
    assert couriers(state, "blue") == [PARK, 25, 23]
    assert cans(state, "blue") == 1


def test_c12_own_couriers_follow_for_a_can_too() -> None:
    state = do(lay_out({"red": "25 25"}, cans={"red": 1}), SOLO, "red from 25", "follow", red=2)
    assert couriers(state, "red") == [PARK, 23, 23]
    assert cans(state, "red") == 0


def test_c12_only_from_the_space_the_ride_started_from_and_only_with_a_can() -> None:
    state = lay_out({"red": "25", "black": "25", "yellow": "24", "blue": "23"}, cans={"yellow": 1, "blue": 1})
    assert asks(do(state, SOLO, "red from 25", red=2)) == (Phase.RIDE, "black")


def test_c12_after_a_refuel_too() -> None:
    state = lay_out({"red": "25", "blue": "25"}, cans={"red": 1, "blue": 1})
    assert asks(do(state, REFUEL, "energy from 25", red=1, energy=2)) == (Phase.SLIPSTREAM, "blue")


def test_c12_those_left_in_the_pack_may_follow() -> None:
    state = lay_out({"red": "25", "yellow": "25 25", "blue": "25"}, cans={"yellow": 1, "blue": 1})
    do(state, "pack 25", "yellow from 25", red=1, yellow=2, blue=3)
    do(state, "follow", "follow")
    assert couriers(state, "yellow") == [PARK, 23, 23]
    assert couriers(state, "blue") == [PARK, PARK, 23]


def test_c12_not_from_the_car_park() -> None:
    start = lay_out({}, cans=dict.fromkeys(TEAMS, 2))
    assert asks(do(clone(start), SOLO, "red from park", red=2)) == (Phase.RIDE, "black")
    dice = dict.fromkeys(TEAMS, 2)
    assert asks(do(start, "pack park", "blue from park", **dice)) == (Phase.RIDE, "black")


def test_c12_not_across_the_finish_line() -> None:
    state = lay_out({"red": "4 4", "blue": "4"}, cans={"red": 1, "blue": 1})
    assert asks(do(state, SOLO, "red from 4", red=4)) == (Phase.RIDE, "black")
    assert finish(state) == ["red"]


# ---- C13, C14: cans ----


def test_c13_the_first_courier_earns_a_can() -> None:
    state = do(lay_out({"red": "30"}, supply=5), SOLO, "red from 30", red=3)
    assert (cans(state, "red"), supply(state)) == (1, 4)


def test_c13_those_who_follow_earn_none() -> None:
    state = lay_out({"red": "30 30", "blue": "30"}, cans={"red": 1, "blue": 1}, supply=5)
    do(state, SOLO, "red from 30", "follow", "follow", red=3)
    assert (cans(state, "red"), cans(state, "blue"), supply(state)) == (1, 0, 6)


def test_c13_the_foreign_courier_earns_none() -> None:
    state = do(lay_out({"red": "30", "blue": "30"}, supply=5), "pack 30", "blue from 30", red=1, blue=3)
    assert (cans(state, "red"), cans(state, "blue"), supply(state)) == (1, 0, 4)


def test_c13_who_stands_there_earns_none() -> None:
    state = do(lay_out({"red": "30", "blue": "27"}), SOLO, "red from 30", red=3)
    assert cans(state, "blue") == 0


@pytest.mark.parametrize(("space", "number"), [(30, 4), (30, 5), (1, 6)])
def test_c13_other_spaces_and_the_finish_earn_none(space: int, number: int) -> None:
    state = do(lay_out({"red": f"{space}"}), SOLO, f"red from {space}", red=number)
    assert cans(state, "red") == 0


def test_c13_it_is_paid_when_all_have_arrived() -> None:
    state = lay_out({"red": "30 30", "blue": "30"}, cans={"blue": 1, "gray": 3}, supply=0)
    do(state, SOLO, "red from 30", red=3)
    assert asks(state) == (Phase.SLIPSTREAM, "blue")  # red has no can yet to let its second courier follow
    assert cans(state, "red") == 0
    do(state, "follow")
    assert [cans(state, team) for team in ("red", "blue", "gray")] == [1, 0, 3]  # what blue has paid


def lands_on_supply(owned: dict[str, int], supply: int = 0) -> State:
    """Return the race after red has come to a supply space, with cans by team."""
    return do(lay_out({"red": "30"}, cans=owned, supply=supply), SOLO, "red from 30", red=3)


def test_c14_from_the_player_with_the_most() -> None:
    state = lands_on_supply({"red": 1, "black": 2, "blue": 3})
    assert [cans(state, team) for team in ("red", "black", "blue")] == [2, 2, 2]
    assert asks(state) == (Phase.RIDE, "black")


def test_c14_not_while_there_is_one_in_the_supply() -> None:
    state = lands_on_supply({"blue": 3}, supply=1)
    assert (cans(state, "red"), cans(state, "blue"), supply(state)) == (1, 3, 0)


def test_c14_he_chooses_among_the_tied() -> None:
    state = lands_on_supply({"red": 1, "black": 2, "gray": 3, "blue": 3})
    assert asks(state) == (Phase.TAKE, "red")
    assert legal(state) == ["take gray", "take blue"]
    for team in ("red", "black", "white"):
        refuse(state, f"take {team}", "C14")
    do(state, "take blue")
    assert [cans(state, team) for team in ("red", "black", "gray", "blue")] == [2, 2, 3, 2]
    assert asks(state) == (Phase.RIDE, "black")


@pytest.mark.parametrize("owned", [{"red": 3, "blue": 2}, {"red": 2, "blue": 2}, {}])
def test_c14_who_has_the_most_gets_none(owned: dict[str, int]) -> None:
    state = lands_on_supply(owned)
    assert {team: cans(state, team) for team in TEAMS} == dict.fromkeys(TEAMS, 0) | owned
    assert asks(state) == (Phase.RIDE, "black")


def back_to_the_park(owned: dict[str, int], supply: int) -> State:
    """Return the race after red, without a can, is moved back to the car park, which makes it due two cans."""
    others = {"white": "30 24", "green": "19 14 10", "gray": "5"}
    return do(lay_out({"red": "4"} | others, cans=owned, supply=supply), SOLO, "red from 4", red=1)


def test_c14_holds_for_each_can_that_is_due() -> None:
    state = back_to_the_park({"blue": 3, "gray": 1}, supply=1)
    assert [cans(state, team) for team in ("red", "blue", "gray")] == [2, 2, 1]
    state = back_to_the_park({"blue": 3, "gray": 2}, supply=0)
    assert asks(state) == (Phase.TAKE, "red")  # the first is blue's; then both have two
    assert legal(state) == ["take gray", "take blue"]
    do(state, "take gray")
    assert [cans(state, team) for team in ("red", "blue", "gray")] == [2, 2, 1]


def test_c14_the_second_can_may_be_none() -> None:
    state = back_to_the_park({"blue": 1}, supply=0)
    assert (cans(state, "red"), cans(state, "blue")) == (1, 0)


def test_c14_an_owner_who_is_not_active_chooses_too() -> None:
    state = lay_out({"red": "7", "blue": "7"}, cans={"red": 2, "gray": 2}, supply=0)
    do(state, "pack 7", "blue from 7", "back", red=1, blue=2)
    assert asks(state) == (Phase.TAKE, "blue")  # for it has no can and is moved back unasked
    assert legal(state) == ["take red", "take gray"]
    do(state, "take red")
    assert [cans(state, team) for team in ("red", "blue", "gray")] == [1, 1, 2]
    assert asks(state) == (Phase.RIDE, "black")


# ---- C15, C16: obstacles ----


def on_obstacle(owned: int, **others: str) -> State:
    """Return the race after a red courier has come to space 5, an obstacle."""
    state = lay_out({"red": "6"} | others, cans={"red": owned}, supply=4)
    return do(state, SOLO, "red from 6", red=1)


def test_c15_who_pays_a_can_stays() -> None:
    state = on_obstacle(1)
    assert asks(state) == (Phase.OBSTACLE, "red")
    assert legal(state) == ["pay", "back"]
    do(state, "pay")
    assert couriers(state, "red") == [PARK, PARK, 5]
    assert (cans(state, "red"), supply(state)) == (0, 5)
    assert asks(state) == (Phase.RIDE, "black")


@pytest.mark.parametrize(
    ("others", "space"),
    [
        ({}, 10),
        ({"blue": "9 7 11"}, 10),
        ({"blue": "10"}, 14),
        ({"blue": "14"}, 10),
        ({"blue": "10", "gray": "14 19"}, 24),
        ({"red": "6 10"}, 14),
        ({"blue": "10 14 19", "gray": "24 30"}, PARK),
    ],
)
def test_c15_back_to_the_next_free_obstacle_towards_the_start(others: dict[str, str], space: int) -> None:
    state = do(on_obstacle(1, **others), "back")
    assert space in couriers(state, "red")
    assert 5 not in couriers(state, "red")


def test_c15_who_has_no_can_is_moved_back_unasked() -> None:
    state = on_obstacle(0)
    assert asks(state) == (Phase.RIDE, "black")
    assert couriers(state, "red") == [PARK, PARK, 10]


def test_c15_those_that_stood_there_before_are_not_affected() -> None:
    state = lay_out({"red": "6 5", "blue": "5"}, cans={"red": 2, "blue": 1})
    do(state, SOLO, "red from 6", red=1)
    assert asks(do(clone(state), "pay")) == (Phase.RIDE, "black")
    do(state, "back")
    assert asks(state) == (Phase.RIDE, "black")
    assert couriers(state, "red") == [PARK, 10, 5]
    assert couriers(state, "blue") == [PARK, PARK, 5]


def test_c15_the_place_that_is_left_is_not_where_it_goes_back_to() -> None:
    state = do(lay_out({"red": "11"}), SOLO, "red from 11", red=1)
    assert couriers(state, "red") == [PARK, PARK, 14]


def test_c15_who_is_moved_back_is_not_tested_again() -> None:
    assert asks(do(on_obstacle(3), "back")) == (Phase.RIDE, "black")


def test_c15_the_active_player_decides_first_then_clockwise_each_for_all_its_couriers() -> None:
    state = lay_out({"white": "6 6", "blue": "6", "red": "6 6"}, "white", {"white": 9, "blue": 9, "red": 9})
    do(state, SOLO, "white from 6", *["follow"] * 4, white=1)
    order = []
    while asks(state)[0] == Phase.OBSTACLE:
        order.append(asks(state)[1])
        do(state, "pay")
    assert order == ["white", "white", "blue", "red", "red"]
    assert [cans(state, team) for team in ("white", "blue", "red")] == [6, 7, 5]


def test_c15_after_a_start_in_the_car_park_too() -> None:
    state = do(lay_out({}, cans={"red": 1}), SOLO, "red from park", red=6)
    assert asks(state) == (Phase.OBSTACLE, "red")
    assert couriers(do(state, "back"), "red") == [PARK, PARK, PARK]


def test_c15_after_a_breakaway_too() -> None:
    state = do(lay_out({"red": "8"}, cans={"red": 3}), BREAKAWAY, "sum from 8", red=1, energy=2)
    assert asks(state) == (Phase.OBSTACLE, "red")


def test_c16_a_move_back_pays_one_can() -> None:
    assert cans(do(on_obstacle(1), "back"), "red") == 2
    assert cans(on_obstacle(0), "red") == 1


def test_c16_a_move_back_to_the_car_park_pays_two() -> None:
    others = {"blue": "10 14 19", "gray": "24 30"}
    assert cans(do(on_obstacle(1, **others), "back"), "red") == 3
    assert cans(on_obstacle(0, **others), "red") == 2


def test_c16_the_can_may_be_spent_at_once_on_the_next_own_courier() -> None:
    state = do(lay_out({"red": "6 6"}, cans={"red": 1}), SOLO, "red from 6", "follow", red=1)
    assert asks(state) == (Phase.OBSTACLE, "red")
    assert couriers(state, "red") == [PARK, 10, 5]
    assert cans(state, "red") == 1
    do(state, "pay")
    assert couriers(state, "red") == [PARK, 10, 5]
    assert cans(state, "red") == 0


def test_c16_the_owner_of_a_foreign_courier_decides_about_it() -> None:
    state = lay_out({"red": "6", "blue": "6"}, cans={"blue": 1})
    do(state, "pack 6", "blue from 6", red=2, blue=1)
    assert asks(state) == (Phase.OBSTACLE, "blue")
    do(state, "back")
    assert couriers(state, "red") == [PARK, PARK, 10]
    assert couriers(state, "blue") == [PARK, PARK, 14]
    assert (cans(state, "red"), cans(state, "blue")) == (1, 2)


# ---- C17-C19: finish and end ----


def test_c17_places_in_the_order_of_crossing() -> None:
    state = do(lay_out({"red": "2"}, finish="blue red"), SOLO, "red from 2", red=5)
    assert finish(state) == ["blue", "red", "red"]
    assert state["view"]["last_place"].tolist() == [3, 0, 0, 0, 0, 0, 1]
    assert asks(state) == (Phase.RIDE, "black")


def test_c18_the_third_courier_of_a_player_wins_at_once() -> None:
    state = do(lay_out({"red": "2", "blue": "1"}, finish="blue red blue red"), SOLO, "red from 2", red=2)
    assert (asks(state), legal(state), end(state)) == ((Phase.GAME_OVER, ""), [], End.THIRD_COURIER)
    assert ranking(state)[:2] == ["red", "blue"]


def test_c18_the_third_courier_wins_with_four_couriers_too() -> None:
    state = lay_out({"red": "2 20"}, finish="red red", players=3)
    assert end(do(state, SOLO, "red from 2", red=2)) == End.THIRD_COURIER


def test_c18_at_the_eighth_place_the_most_couriers_win() -> None:
    state = lay_out({"green": "2"}, "green", finish="blue red yellow red gray black white")
    do(state, SOLO, "green from 2", green=2)
    assert (asks(state), legal(state), end(state)) == ((Phase.GAME_OVER, ""), [], End.EIGHTH_PLACE)
    assert ranking(state) == ["red", "green", "white", "black", "gray", "yellow", "blue"]


def test_c18_seven_places_do_not_end_it() -> None:
    state = lay_out({"green": "2"}, "green", finish="blue red yellow red gray black")
    assert asks(do(state, SOLO, "green from 2", green=2)) == (Phase.RIDE, "gray")


def test_c18_a_third_courier_in_the_eighth_place_wins_as_the_third() -> None:
    state = lay_out({"red": "2"}, finish="red red blue blue yellow yellow gray")
    do(state, SOLO, "red from 2", red=2)
    assert (end(state), ranking(state)[0]) == (End.THIRD_COURIER, "red")


def test_c18_nobody_is_asked_after_the_end() -> None:
    state = lay_out({"red": "2", "blue": "2"}, cans={"blue": 1}, finish="red red")
    assert asks(do(state, SOLO, "red from 2", red=2)) == (Phase.GAME_OVER, "")


def test_c18_after_so_many_turns_it_ends_and_the_winner_is_who_would_win_at_the_eighth_place() -> None:
    state = lay_out({"gray": "2"}, "gray", finish="red blue black black", starter="red", turn_limit=7)
    assert asks(do(state, SOLO, "gray from 2", gray=2))[0] == Phase.RIDE
    do(state, SOLO, "blue from park", blue=2)
    assert (asks(state), end(state)) == ((Phase.GAME_OVER, ""), End.TURN_LIMIT)
    assert ranking(state)[:4] == ["black", "gray", "blue", "red"]


def test_c18_who_has_none_in_the_finish_ranks_by_the_spaces_left_and_then_by_the_later_turn() -> None:
    state = lay_out({"green": "20", "gray": "35 21"}, "white", turn_limit=1)
    do(state, SOLO, "white from park", white=2)
    assert ranking(state) == ["gray", "green", "white", "yellow", "black", "red", "blue"]


def test_c19_of_two_with_equally_many_who_has_place_8_wins_over_who_has_place_7() -> None:
    for first, second in (("black", "gray"), ("gray", "black")):
        state = lay_out({second: "1"}, second, finish=f"{second} red blue yellow white {first} {first}")
        do(state, SOLO, f"{second} from 1", **{second: 1})
        assert ranking(state)[:2] == [second, first]


# ---- C20: the order of turns ----


@pytest.mark.parametrize("starter", range(5))
def test_c20_the_starter_is_a_seat_and_the_left_hand_neighbour_is_next(starter: int) -> None:
    state = new_state(5, starter=starter)
    for turn in range(11):
        team = TEAMS[(starter + turn) % 5]
        assert asks(state) == (Phase.RIDE, team)
        assert state["view"]["turns"] == turn
        do(state, SOLO, f"{team} from park", **{team: 2})


def test_c20_the_turn_is_completed_before_the_neighbour_plays() -> None:
    state = lay_out({"red": "6", "blue": "6"}, cans={"red": 1, "blue": 2})
    do(state, SOLO, "red from 6", red=1)
    for phase, team, move in (
        (Phase.SLIPSTREAM, "blue", "follow"),
        (Phase.OBSTACLE, "red", "pay"),
        (Phase.OBSTACLE, "blue", "pay"),
    ):
        assert asks(state) == (phase, team)
        assert state["view"]["active"] == seat_of("red")
        assert state["view"]["turns"] == 0
        do(state, move)
    assert asks(state) == (Phase.RIDE, "black")
    assert state["view"]["turns"] == 1


def test_c20_solo_is_final_once_the_die_has_been_thrown() -> None:
    state = do(lay_out({"red": "20", "blue": "20"}, cans={"red": 3}), SOLO, red=1)
    for ride in (SOLO, REFUEL, BREAKAWAY, "pack 20", "pack 20 refuel"):
        refuse(state, ride, "C10")


# ---- the worked examples ----


def test_x1() -> None:
    state = lay_out({"blue": "33 33", "yellow": "33"}, "blue", {"blue": 1, "yellow": 1})
    do(state, SOLO, "blue from 33", "follow", "follow", blue=6)
    assert couriers(state, "blue") == [PARK, 27, 27]
    assert couriers(state, "yellow") == [PARK, PARK, 27]
    assert (cans(state, "blue"), cans(state, "yellow")) == (1, 0)


def test_x2() -> None:
    state = lay_out({"blue": "6", "red": "6", "yellow": "6"}, "blue", dict.fromkeys(("blue", "red", "yellow"), 1))
    do(state, "pack 6", blue=1, red=3, yellow=3)
    assert legal(state) == ["red from 6", "yellow from 6", "blue from 6"]
    for die, after in (("blue", (5, 6, 6)), ("red", (3, 3, 6)), ("yellow", (3, 6, 3))):
        moved = do(clone(state), f"{die} from 6")
        while asks(moved)[0] != Phase.OBSTACLE:
            do(moved, "stay")
        assert tuple(couriers(moved, team)[-1] for team in ("blue", "red", "yellow")) == after


def test_x3() -> None:
    state = lay_out({"yellow": "4", "blue": "4", "red": "4"}, "yellow")
    do(state, "pack 4", yellow=2, blue=3, red=6)
    assert legal(state) == ["yellow from 4", "blue from 4"]
    refuse(state, "red from 4", "C9")


def test_x4() -> None:
    state = lay_out({"yellow": "4 4", "blue": "4", "red": "4"}, "yellow", {"yellow": 1, "blue": 1, "red": 2})
    do(state, "pack 4", "blue from 4", yellow=1, blue=3, red=1)
    assert couriers(state, "yellow") == [PARK, 4, 1]
    assert couriers(state, "blue") == [PARK, PARK, 1]
    do(state, "follow", "follow")
    assert couriers(state, "yellow") == [PARK, 3, 1]  # both were at 1, and yellow had no can left
    assert couriers(state, "red") == [PARK, PARK, 1]
    assert (asks(state), cans(state, "yellow")) == ((Phase.OBSTACLE, "yellow"), 1)
    do(state, "pay")
    assert asks(state) == (Phase.OBSTACLE, "blue")
    do(state, "back")
    assert (couriers(state, "blue"), cans(state, "blue")) == ([PARK, PARK, 5], 2)
    assert asks(state) == (Phase.OBSTACLE, "red")
    do(state, "pay")
    assert couriers(state, "yellow") == [PARK, 3, 1]
    assert couriers(state, "blue") == [PARK, PARK, 5]
    assert couriers(state, "red") == [PARK, PARK, 1]
    assert [cans(state, team) for team in ("yellow", "blue", "red")] == [0, 2, 0]


def test_x5() -> None:
    state = lay_out({"blue": "1"}, "blue", finish="blue red yellow gray green yellow red")
    do(state, SOLO, "blue from 1", blue=2)
    assert (end(state), ranking(state)[:3]) == (End.EIGHTH_PLACE, ["blue", "red", "yellow"])
