"""VeloCity's slow referee: the worked examples of the rules."""

import pytest

from oracle.velocity import COLOURS, Race

RED, BLACK, YELLOW, WHITE, GREEN, GRAY, BLUE = range(7)

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
