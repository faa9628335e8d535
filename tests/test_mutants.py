"""The tests of the rules, tested: each of these wrong rules must be caught by the test that is named for it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.slow

TESTS = Path(__file__).parent
SOURCES = TESTS.parent / "src"
BY_ID = "tests/test_rules_by_id.py"
ORACLE = "tests/test_against_oracle.py"
VELOCITY = "tests/test_velocity_rules_by_id.py"
VELOCITY_DICE = "tests/test_velocity_course_and_dice.py"


class Mutant(NamedTuple):
    """A wrong rule: what stands in a file of the package, what is put in its place, and the test that must fail."""

    name: str
    file: str
    old: str
    new: str
    node: str


MUTANTS = [
    Mutant(
        "equal value listed as a play of a colour",
        "velonimo/tables.py",
        "sum(value > beat for value in group)",
        "sum(value >= beat for value in group)",
        f"{BY_ID}::test_e14_equal_value",
    ),
    Mutant(
        "equal value listed as a play of a hare",
        "velonimo/tables.py",
        "enumerate(HARE_VALUES) if value > beat)",
        "enumerate(HARE_VALUES) if value >= beat)",
        f"{BY_ID}::test_v10_equal_is_not_higher",
    ),
    Mutant(
        "exchanged cards are both the first one",
        "velonimo/step.py",
        "            elif deck[i] == second:\n                deck[i] = first\n",
        "",
        f"{BY_ID}::test_v4_exchanged_cards_lie_in_each_others_place_and_all_others_in_their_own",
    ),
    Mutant(
        "equal value not refused",
        "velonimo/legal.py",
        "    if value > beat:\n",
        "    if value >= beat:\n",
        f"{BY_ID}::test_e14_equal_value",
    ),
    Mutant(
        "combination worth its highest number",
        "velonimo/moves.py",
        "10 * size + lowest_number(cards)",
        "10 * size + (int(cards).bit_length() - 1) % 8 + 1",
        f"{BY_ID}::test_e1_2_3_7_of_one_colour",
    ),
    Mutant(
        "Jersey with a hare allowed",
        "velonimo/legal.py",
        "    if cards & HARES:\n        return Refusal.HARE_WITH_JERSEY\n",
        "",
        f"{BY_ID}::test_e4_hare_with_jersey",
    ),
    Mutant(
        "Jersey allowed twice in a col",
        "velonimo/legal.py",
        'return Refusal.JERSEY_USED if view["jersey_spent"] else Refusal.NONE',
        "return Refusal.NONE",
        f"{BY_ID}::test_e12_jersey_a_second_time_in_one_col",
    ),
    Mutant(
        "Jersey not restored in the next col",
        "velonimo/step.py",
        '    view["jersey_spent"] = 0\n',
        "",
        f"{BY_ID}::test_v18_it_is_usable_again_in_the_next_col",
    ),
    Mutant(
        "Jersey to the wrong one of a tie",
        "velonimo/step.py",
        'return bool(view["points"][a] > view["points"][b])',
        'return bool(view["points"][a] < view["points"][b])',
        f"{BY_ID}::test_v18_a_tie_without_the_winner_of_the_col",
    ),
    Mutant(
        "start to the wrong one of a tie",
        "velonimo/step.py",
        'and view["points"][seat] < view["points"][last]',
        'and view["points"][seat] > view["points"][last]',
        f"{BY_ID}::test_v5_a_tie_for_the_start",
    ),
    Mutant(
        "who has passed may not play any more",
        "velonimo/step.py",
        '        if view["sizes"][seat] > 0:\n            view["turn"] = seat\n',
        '        if view["sizes"][seat] > 0 and view["passed_on"][seat] == 0:\n            view["turn"] = seat\n',
        f"{BY_ID}::test_e11_passed_earlier_in_the_attack",
    ),
    Mutant(
        "who went out with the last play leads without cards",
        "velonimo/step.py",
        '        view["phase"] = Phase.NEXT_LEADER\n    elif view["reward"]:',
        '        view["phase"] = Phase.LEAD\n    elif view["reward"]:',
        f"{BY_ID}::test_v13_the_author_who_went_out_names_the_leader",
    ),
    Mutant(
        "going out scored with himself among the racing",
        "velonimo/step.py",
        "col_value(view) * racing",
        "col_value(view) * (racing + 1)",
        f"{BY_ID}::test_v14_col_value_times_opponents_still_racing",
    ),
    Mutant(
        "swap takes as many cards as Tortoises though the victim holds fewer",
        "velonimo/step.py",
        'count = min(int(state["view"]["swap_count"]), int(hand).bit_count())',
        'count = int(state["view"]["swap_count"])',
        f"{BY_ID}::test_v20_at_most_as_many_as_the_opponent_holds",
    ),
    Mutant(
        "swap draws the whole hand",
        "velonimo/step.py",
        'for _ in range(min(integer(state["view"]["swap_count"]), popcount(hand))):',
        "for _ in range(popcount(hand)):",
        f"{BY_ID}::test_v20_the_cards_are_drawn_at_random",
    ),
    Mutant(
        "as many cards go back as Tortoises were played",
        "velonimo/step.py",
        '    view["swap_count"] = popcount(cards)\n',
        "",
        f"{BY_ID}::test_e7_up_to_three_cards",
    ),
    Mutant(
        "swap though the hand is empty",
        "velonimo/step.py",
        '    if view["sizes"][seat] == 0:\n        go_out(state, seat)\n    elif tortoises and',
        '    if view["sizes"][seat] == 0 and not tortoises:\n        go_out(state, seat)\n    elif tortoises and',
        f"{BY_ID}::test_v21_no_swap_when_the_hand_is_empty",
    ),
    Mutant(
        "third parties keep their knowledge after a swap",
        "velonimo/step.py",
        "        if viewer != author and viewer != victim:\n",
        "        if viewer != author and viewer != victim and viewer < 0:\n",
        f"{BY_ID}::test_v22_third_parties_lose_the_card_that_may_have_been_taken",
    ),
    Mutant(
        "Dromedary draws after the check of going out",
        "velonimo/step.py",
        '    if view["players"] == 2:\n'
        "        draw_for_dromedaries(state, seat, cards)\n"
        "    tortoises = cards & TORTOISES\n"
        '    if view["sizes"][seat] == 0:\n'
        "        go_out(state, seat)\n"
        "    elif",
        "    tortoises = cards & TORTOISES\n"
        '    if view["sizes"][seat] == 0:\n'
        "        go_out(state, seat)\n"
        "        return\n"
        '    if view["players"] == 2:\n'
        "        draw_for_dromedaries(state, seat, cards)\n"
        "    if",
        f"{BY_ID}::test_v24_the_last_card_draws_and_the_author_is_not_out",
    ),
    Mutant(
        "Dromedaries draw on when the pile is empty",
        "velonimo/step.py",
        'min(popcount(cards & DROMEDARIES), integer(view["pile_size"]))',
        "popcount(cards & DROMEDARIES)",
        f"{BY_ID}::test_v24_only_as_far_as_the_pile_lasts",
    ),
    Mutant(
        "reward kept goes to the opponent",
        "velonimo/step.py",
        "taker = winner if kind == Kind.KEEP else 1 - winner",
        "taker = winner if kind != Kind.KEEP else 1 - winner",
        f"{BY_ID}::test_v26_the_winner_takes_the_reward",
    ),
    Mutant(
        "reward goes to nobody",
        "velonimo/step.py",
        '    state["hands"][taker] |= view["reward"]\n',
        "",
        f"{ORACLE}::test_engine_and_oracle_agree_under_the_presets",
    ),
    Mutant(
        "more than 8 points are needed in the duel",
        "velonimo/step.py",
        'max(view["totals"][0], view["totals"][1]) >= target',
        'max(view["totals"][0], view["totals"][1]) > target',
        f"{BY_ID}::test_v27_first_to_8_points_wins_at_once",
    ),
    Mutant(
        "cards taken stay unknown to the victim",
        "velonimo/step.py",
        '    state["known"][giver, taker] |= cards\n',
        "",
        f"{ORACLE}::test_engine_and_oracle_agree_under_the_presets",
    ),
    Mutant(
        "VeloCity: cans that are spent are lost",
        "velocity/step.py",
        '    view["supply"] += cans\n',
        "",
        f"{VELOCITY}::test_c2_cans_that_are_spent_go_into_the_supply",
    ),
    Mutant(
        "VeloCity: a pack may always start in the car park",
        "velocity/legal.py",
        'return shared if view["rules"]["pack_from_start"] else shared & ~bit(car_park(view))',
        "return shared",
        f"{VELOCITY}::test_c7_the_car_park_does_not_count_by_option",
    ),
    Mutant(
        "VeloCity: the energy die carries across the finish line",
        "velocity/legal.py",
        '    return bool(die == view["active"])',
        '    return bool(die == view["active"] or die == ENERGY)',
        f"{VELOCITY}::test_c9_not_by_the_energy_die",
    ),
    Mutant(
        "VeloCity: to reach the finish line is not to cross it",
        "velocity/legal.py",
        "return ~(bit(value + 1) - U1)",
        "return ~(bit(value) - U1)",
        f"{VELOCITY}::test_c9_not_by_a_foreign_die",
    ),
    Mutant(
        "VeloCity: a Breakaway is followed",
        "velocity/step.py",
        'if origin == car_park(view) or view["spent"] == BREAKAWAY:',
        "if origin == car_park(view):",
        f"{VELOCITY}::test_c10_nobody_follows_a_breakaway_whatever_die_is_chosen",
    ),
    Mutant(
        "VeloCity: all dice are thrown in a pack",
        "velocity/legal.py",
        '        if view["spaces"][seat] & bit(origin):\n',
        '        if view["spaces"][seat]:\n',
        f"{VELOCITY}::test_c11_the_dice_of_the_pack_are_thrown",
    ),
    Mutant(
        "VeloCity: a foreign die moves the own courier alone",
        "velocity/step.py",
        "    if die < ENERGY and die != active:\n"
        "        move_courier(view, die, origin, target)\n"
        '        view["arrived"][die] += 1\n',
        "",
        f"{VELOCITY}::test_c11_a_foreign_die_moves_one_courier_of_each_of_the_two",
    ),
    Mutant(
        "VeloCity: a start in the car park is followed",
        "velocity/step.py",
        'if origin == car_park(view) or view["spent"] == BREAKAWAY:',
        'if view["spent"] == BREAKAWAY:',
        f"{VELOCITY}::test_c12_not_from_the_car_park",
    ),
    Mutant(
        "VeloCity: the active player is not asked whether to follow",
        "velocity/step.py",
        '        view["arrived"][die] += 1\n    view["asked"] = 0\n',
        '        view["arrived"][die] += 1\n    view["asked"] = 1\n',
        f"{VELOCITY}::test_c12_the_active_player_is_asked_first_then_clockwise",
    ),
    Mutant(
        "VeloCity: who has as many cans as the others takes one",
        "velocity/step.py",
        'elif view["cans"][payee] >= most_cans_of_others(view, payee):',
        'elif view["cans"][payee] > most_cans_of_others(view, payee):',
        f"{VELOCITY}::test_c14_who_has_the_most_gets_none",
    ),
    Mutant(
        "VeloCity: back to an obstacle on which somebody stands",
        "velocity/legal.py",
        'view["rules"]["obstacles"] & ~taken & spaces_above',
        'view["rules"]["obstacles"] & spaces_above',
        f"{VELOCITY}::test_c15_back_to_the_next_free_obstacle_towards_the_start",
    ),
    Mutant(
        "VeloCity: the move back to the car park pays one can",
        "velocity/step.py",
        "        owe_cans(view, seat, 2)\n",
        "        owe_cans(view, seat, 1)\n",
        f"{VELOCITY}::test_c16_a_move_back_to_the_car_park_pays_two",
    ),
    Mutant(
        "VeloCity: the third courier does not count in the eighth place",
        "velocity/step.py",
        '    if view["finished"][seat] == WINNING_COURIERS:\n',
        '    if view["finished"][seat] == WINNING_COURIERS and view["n_finished"] < FINISH_PLACES:\n',
        f"{VELOCITY}::test_c18_a_third_courier_in_the_eighth_place_wins_as_the_third",
    ),
    Mutant(
        "VeloCity: of two with equally many who came first wins",
        "velocity/step.py",
        'return bool(view["last_place"][a] > view["last_place"][b])',
        'return bool(view["last_place"][a] < view["last_place"][b])',
        f"{VELOCITY}::test_x5",
    ),
    Mutant(
        "VeloCity: the turn passes to the right",
        "velocity/step.py",
        'view["active"] = seat_after(view, 1)',
        'view["active"] = seat_after(view, integer(view["players"]) - 1)',
        f"{VELOCITY}::test_c20_the_starter_is_a_seat_and_the_left_hand_neighbour_is_next",
    ),
    Mutant(
        "VeloCity: all dice of a turn are thrown from one word",
        "velocity/step.py",
        "DICE * turn + die + 1",
        "DICE * turn + 1",
        f"{VELOCITY_DICE}::test_two_dice_of_a_turn_and_one_die_of_two_turns_are_independent",
    ),
]
NODES = sorted({mutant.node for mutant in MUTANTS})


def run(source: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the interpreter on a copy of the package, without compilation."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment |= {"PYTHONPATH": str(source), "NUMBA_DISABLE_JIT": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        [sys.executable, *arguments], cwd=TESTS.parent, env=environment, capture_output=True, text=True, check=False
    )


def run_tests(source: Path, *nodes: str) -> subprocess.CompletedProcess[str]:
    return run(source, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-n", "0", "--color=no", *nodes)


@pytest.fixture
def copied_source(tmp_path: Path) -> Path:
    """Copy the sources of the package; return the folder to import it from."""
    return shutil.copytree(SOURCES, tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))


def mutate(source: Path, mutant: Mutant) -> None:
    path = source / "velonimo_sim" / mutant.file
    text = path.read_text(encoding="utf-8")
    assert text.count(mutant.old) == 1, f"{mutant.old!r} occurs {text.count(mutant.old)} times in {mutant.file}"
    path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")


@pytest.mark.parametrize("mutant", MUTANTS, ids=[mutant.name.replace(" ", "-") for mutant in MUTANTS])
def test_a_wrong_rule_is_caught(mutant: Mutant, copied_source: Path) -> None:
    mutate(copied_source, mutant)
    result = run_tests(copied_source, mutant.node)
    assert result.returncode == pytest.ExitCode.TESTS_FAILED, result.stdout + result.stderr
    assert f"\nFAILED {mutant.node}" in result.stdout


def test_the_right_rules_pass(copied_source: Path) -> None:
    imported = run(copied_source, "-c", "import velonimo_sim; print(velonimo_sim.__file__)")
    assert imported.stdout == f"{copied_source / 'velonimo_sim' / '__init__.py'}\n", imported.stderr
    result = run_tests(copied_source, *NODES)
    assert result.returncode == pytest.ExitCode.OK, result.stdout + result.stderr


def test_every_wrong_rule_has_a_name_of_its_own() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)
