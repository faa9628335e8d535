"""Features of hands are what the texts of their cards say."""

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from velonimo_sim.analysis import HAND_FEATURES, hand_feature
from velonimo_sim.analysis.hands import DECK_TEXTS, Words, card_matrix
from velonimo_sim.errors import UsageError
from velonimo_sim.velonimo.cards import parse_cards


def random_hands(count: int, seed: int) -> list[list[str]]:
    """Return the texts of hands of any size, with none and with all cards among them."""
    rng = np.random.default_rng(seed)
    sizes = [0, 55, *rng.integers(1, 28, count - 2)]
    return [rng.permutation(DECK_TEXTS)[:size].tolist() for size in sizes]


def words(hands: Sequence[Sequence[str]]) -> Words:
    return np.array([parse_cards(hand) for hand in hands], np.uint64)


def riders(hand: Sequence[str]) -> list[str]:
    return [card for card in hand if not card.startswith("H")]


def most_common(texts: Sequence[str]) -> int:
    return max(Counter(texts).values(), default=0)


def is_loner(card: str, hand: Sequence[str]) -> bool:
    others = [other for other in riders(hand) if other != card]
    return not any(other[0] == card[0] or other[1] == card[1] for other in others)


TWINS: dict[str, Callable[[list[str]], int]] = {
    "hares": lambda hand: sum(card.startswith("H") for card in hand),
    "tortoises": lambda hand: sum(card[1:] == "1" for card in hand),
    "dromedaries": lambda hand: sum(card[1:] == "2" for card in hand),
    "riders": lambda hand: len(riders(hand)),
    "best_hare": lambda hand: max([int(card[1:]) for card in hand if card.startswith("H")], default=0),
    "largest_colour": lambda hand: most_common([card[0] for card in riders(hand)]),
    "largest_number": lambda hand: most_common([card[1] for card in riders(hand)]),
    "colours": lambda hand: len({card[0] for card in riders(hand)}),
    "loners": lambda hand: sum(is_loner(card, hand) for card in riders(hand)),
}


def test_every_feature_is_counted_from_texts_or_is_a_card() -> None:
    assert list(HAND_FEATURES) == [*TWINS, *DECK_TEXTS]
    assert len(DECK_TEXTS) == 55
    assert all(HAND_FEATURES.values())


@pytest.mark.parametrize("name", TWINS)
def test_a_count_is_that_of_the_texts(name: str) -> None:
    hands = random_hands(400, seed=1)
    found = hand_feature(name, words(hands))
    assert found.dtype == np.int64
    assert found.tolist() == [TWINS[name](hand) for hand in hands]


def test_cards_are_held_or_not() -> None:
    hands = random_hands(100, seed=2)
    expected = [[card in hand for card in DECK_TEXTS] for hand in hands]
    assert card_matrix(words(hands)).tolist() == expected
    by_name = [hand_feature(card, words(hands)) for card in DECK_TEXTS]
    assert np.array(by_name).dtype == bool
    assert np.array(by_name).T.tolist() == expected


def test_no_hands_have_no_features() -> None:
    assert [hand_feature(name, np.zeros(0, np.uint64)).shape for name in HAND_FEATURES] == [(0,)] * 64


def test_an_unknown_feature_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"unknown feature of a hand 'tortoise': .*; did you mean 'tortoises'\?$"):
        hand_feature("tortoise", words([["R7"]]))
