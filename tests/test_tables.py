"""Each table against its definition, by listing all plays of all 128 groups and all values to beat (V6, V7)."""

from functools import cache
from itertools import chain, combinations, product
from math import comb

import numpy as np
import pytest

from velonimo_sim.velonimo.cards import TEAMS, card_texts
from velonimo_sim.velonimo.tables import (
    HARES_ABOVE,
    NO_PLAY,
    NUMBER_FOLLOW,
    NUMBER_LEAD,
    NUMBER_PLAYS,
    NUMBER_SETS,
    SPREAD,
    TEAM_FOLLOW,
    TEAM_LEAD,
    TEAM_PLAYS,
    TEAM_SETS,
    TOP_VALUE,
)

BEATS = range(TOP_VALUE + 1)
GROUPS = range(128)
SIZES = range(8)
NUMBERS = range(1, 8)

Play = tuple[int, ...]
"""The numbers of the riders of a play, rising."""


def value(play: Play) -> int:
    """V6, V7: a single rider is worth its number, a combination 10 a card and its lowest number."""
    return play[0] if len(play) == 1 else 10 * len(play) + min(play)


def members(group: int) -> list[int]:
    """Return which of 0-6 are in a group."""
    return [i for i in range(7) if group >> i & 1]


def word(parts: tuple[int, ...]) -> int:
    return sum(1 << part for part in parts)


@cache
def subsets(group: int, at_least: int) -> list[tuple[int, ...]]:
    inside = members(group)
    return list(chain.from_iterable(combinations(inside, size) for size in range(at_least, len(inside) + 1)))


def team_play(part: tuple[int, ...]) -> Play:
    """Return the numbers of a set of a team group: bit i is the number i + 1."""
    return tuple(i + 1 for i in part)


def number_play(number: int, part: tuple[int, ...]) -> Play:
    """Return the numbers of a set of a number group: every member has the same number."""
    return (number,) * len(part)


def best_follow(plays: list[Play], beat: int) -> tuple[int, int] | None:
    """Return value and cards of the play of the lowest value that beats, then of the most cards."""
    beating = [(value(play), -len(play)) for play in plays if value(play) > beat]
    return (min(beating)[0], -min(beating)[1]) if beating else None


def follow_rank(best: tuple[int, int] | None) -> int:
    return NO_PLAY if best is None else 8 * best[0] - best[1]


def lead_rank(play: Play) -> int:
    return 128 * (7 - len(play)) + value(play)


def test_top_value_is_seven_sevens() -> None:
    every_play = [team_play(part) for part in subsets(127, 1)]
    every_play += [number_play(number, part) for number in NUMBERS for part in subsets(127, 2)]
    assert max(map(value, every_play)) == value((7,) * 7) == TOP_VALUE == 77


@pytest.mark.parametrize("group", GROUPS)
def test_plays_of_a_team_group(group: int) -> None:
    values = [value(team_play(part)) for part in subsets(group, 1)]
    assert TEAM_PLAYS[:, group].tolist() == [sum(worth > beat for worth in values) for beat in BEATS]


@pytest.mark.parametrize("group", GROUPS)
def test_sets_of_a_team_group_by_falling_value(group: int) -> None:
    ranked = sorted(subsets(group, 1), key=lambda part: (-value(team_play(part)), word(part)))
    assert TEAM_SETS[group].tolist() == [word(part) for part in ranked] + [0] * (128 - len(ranked))
    for beat in BEATS:
        beating = {word(part) for part in ranked if value(team_play(part)) > beat}
        assert set(TEAM_SETS[group, : TEAM_PLAYS[beat, group]].tolist()) == beating


@pytest.mark.parametrize("number", NUMBERS)
def test_plays_of_a_number_group(number: int) -> None:
    for group in GROUPS:
        values = [value(number_play(number, part)) for part in subsets(group, 2)]
        counts = [sum(worth > beat for worth in values) for beat in BEATS]
        assert NUMBER_PLAYS[:, number - 1, group.bit_count()].tolist() == counts


@pytest.mark.parametrize("group", GROUPS)
def test_sets_of_a_number_group_by_falling_size(group: int) -> None:
    ranked = sorted(subsets(group, 2), key=lambda part: (-len(part), word(part)))
    assert NUMBER_SETS[group].tolist() == [word(part) for part in ranked] + [0] * (128 - len(ranked))
    for beat, number in product(BEATS, NUMBERS):
        beating = {word(part) for part in ranked if value(number_play(number, part)) > beat}
        count = NUMBER_PLAYS[beat, number - 1, group.bit_count()]
        assert set(NUMBER_SETS[group, :count].tolist()) == beating


@pytest.mark.parametrize("group", GROUPS)
def test_cheapest_follow_of_a_team_group(group: int) -> None:
    plays = [team_play(part) for part in subsets(group, 1)]
    assert TEAM_FOLLOW[:, group].tolist() == [follow_rank(best_follow(plays, beat)) for beat in BEATS]


@pytest.mark.parametrize(("number", "size"), list(product(NUMBERS, SIZES)))
def test_cheapest_follow_of_a_number_group(number: int, size: int) -> None:
    plays = [(number,) * cards for cards in range(2, size + 1)]
    expected = [follow_rank(best_follow(plays, beat)) for beat in BEATS]
    assert NUMBER_FOLLOW[:, number - 1, size].tolist() == expected


@pytest.mark.parametrize("group", GROUPS)
def test_last_set_that_beats_is_the_cheapest_follow(group: int) -> None:
    """The bots take the play itself from the list of sets, where the cheapest stands last of those that beat."""
    for beat in BEATS:
        if TEAM_PLAYS[beat, group]:
            cheapest = team_play(tuple(members(int(TEAM_SETS[group, TEAM_PLAYS[beat, group] - 1]))))
            assert 8 * value(cheapest) - len(cheapest) == TEAM_FOLLOW[beat, group]
        for number in NUMBERS:
            count = NUMBER_PLAYS[beat, number - 1, group.bit_count()]
            if count:
                cards = int(NUMBER_SETS[group, count - 1]).bit_count()
                assert 8 * value((number,) * cards) - cards == NUMBER_FOLLOW[beat, number - 1, group.bit_count()]


def test_lead_of_a_team_group() -> None:
    assert TEAM_LEAD.tolist() == [NO_PLAY] + [lead_rank(team_play(tuple(members(group)))) for group in GROUPS[1:]]


def test_lead_of_a_number_group() -> None:
    expected = [[NO_PLAY if size < 2 else lead_rank((number,) * size) for size in SIZES] for number in NUMBERS]
    assert NUMBER_LEAD.tolist() == expected


def kinds_of_play() -> list[tuple[int, int]]:
    """Return (value, cards) of every rider play there is."""
    plays = [team_play(part) for part in subsets(127, 1)] + [
        (number,) * size for number in NUMBERS for size in SIZES[2:]
    ]
    return sorted({(value(play), len(play)) for play in plays})


def test_ranks_order_as_they_say() -> None:
    """A lower rank follows with a lower value, then more cards; and leads with more cards, then a lower value."""
    kinds = kinds_of_play()
    by_follow_rank = sorted(kinds, key=lambda kind: 8 * kind[0] - kind[1])
    by_lead_rank = sorted(kinds, key=lambda kind: 128 * (7 - kind[1]) + kind[0])
    assert by_follow_rank == sorted(kinds, key=lambda kind: (kind[0], -kind[1]))
    assert by_lead_rank == sorted(kinds, key=lambda kind: (-kind[1], kind[0]))


def test_no_play_ranks_last() -> None:
    for table in (TEAM_FOLLOW, NUMBER_FOLLOW, TEAM_LEAD, NUMBER_LEAD):
        assert table.max() == NO_PLAY
        assert table[table != NO_PLAY].max() < NO_PLAY


@pytest.mark.parametrize("group", GROUPS)
def test_spread_is_the_cards_of_a_number(group: int) -> None:
    for number in NUMBERS:
        cards = int(SPREAD[group]) << (number - 1)
        assert card_texts(cards) == sorted(f"{TEAMS[team]}{number}" for team in members(group))
        assert cards.bit_count() == group.bit_count()


@pytest.mark.parametrize("beat", BEATS)
def test_hares_above(beat: int) -> None:
    assert card_texts(HARES_ABOVE[beat]) == [f"H{worth}" for worth in (25, 30, 35, 40, 45, 50) if worth > beat]


def test_shapes_and_types() -> None:
    shapes = {
        "TEAM_PLAYS": (TEAM_PLAYS, (78, 128), np.uint8),
        "TEAM_SETS": (TEAM_SETS, (128, 128), np.uint8),
        "NUMBER_PLAYS": (NUMBER_PLAYS, (78, 7, 8), np.uint8),
        "NUMBER_SETS": (NUMBER_SETS, (128, 128), np.uint8),
        "TEAM_FOLLOW": (TEAM_FOLLOW, (78, 128), np.uint16),
        "NUMBER_FOLLOW": (NUMBER_FOLLOW, (78, 7, 8), np.uint16),
        "TEAM_LEAD": (TEAM_LEAD, (128,), np.uint16),
        "NUMBER_LEAD": (NUMBER_LEAD, (7, 8), np.uint16),
        "SPREAD": (SPREAD, (128,), np.uint64),
        "HARES_ABOVE": (HARES_ABOVE, (78,), np.uint64),
    }
    for name, (table, shape, dtype) in shapes.items():
        assert (name, table.shape, table.dtype) == (name, shape, dtype)


def test_number_of_all_plays() -> None:
    """7 teams with 127 sets each, 7 numbers with 120 combinations each."""
    assert TEAM_PLAYS[0, 127] == sum(comb(7, size) for size in range(1, 8)) == 127
    assert NUMBER_PLAYS[0, :, 7].tolist() == [sum(comb(7, size) for size in range(2, 8))] * 7 == [120] * 7
