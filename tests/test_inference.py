"""Imagined hands that explain the log: always possible, uniform without evidence, and likelier and truer with it."""

import math
from collections import Counter
from functools import cache
from itertools import combinations

import numpy as np
import pytest

from conftest import position, states_of_game
from test_log import moves_of_a_long_col
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.rng import new_stream
from velonimo_sim.velonimo.cards import parse_cards
from velonimo_sim.velonimo.determinize import determinize, unseen_cards
from velonimo_sim.velonimo.moves import PASS, Kind, author_of, cards_of, kind_of, move_of_entry
from velonimo_sim.velonimo.policies.advised import regret_of
from velonimo_sim.velonimo.policies.inference import BELIEF, Belief, believe, imagine, share_by_advice
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.state import STATE, State, clone, equal, validate, view_of
from velonimo_sim.velonimo.view import MAX_LOGGED, Phase, View

pytestmark = pytest.mark.kernel

HAND_SIZE = 4 if INTERPRETED else 11
STEPS = 3 if INTERPRETED else 20


def games(players: int, seeds: int, bot: str = "advised", rules: RuleSet | None = None) -> list[list[State]]:
    return [list(states_of_game(players, seed, rules, bot)) for seed in range(seeds)]


@cache
def states() -> list[State]:
    """Return states of every phase of games with swaps, rewards and gifts."""
    rules = RuleSet(hand_size=HAND_SIZE)
    found = [
        state
        for players in (2, 3, 5)
        for bot in ("advised", "random")
        for game in games(players, 1 if INTERPRETED else 2, bot, rules)
        for state in game
    ]
    return found[:: 12 if INTERPRETED else 5]


def belief_of(view: View, steps: int = STEPS, seed: int = 1, left_over: int = 0) -> Belief:
    belief: Belief = np.frombuffer(bytes([left_over]) * BELIEF.itemsize, BELIEF).copy()[0]
    believe(belief, view, steps, new_stream(seed))
    return belief


def imagined(view: View, belief: Belief, steps: int, seed: int = 2) -> State:
    state: State = np.zeros(1, STATE)[0]
    imagine(state, belief, view, steps, new_stream(seed))
    return state


# Possible hands.


@pytest.mark.parametrize("steps", [0, 1, STEPS])
def test_every_imagined_state_is_sound_and_shows_the_seat_what_it_sees(steps: int) -> None:
    """Sizes and known cards stay, the hidden ones are of those unseen, in the pile of the duel as well."""
    for state in states():
        view = state["view"]
        belief = belief_of(view, steps)
        for seed in range(3):
            found = imagined(view, belief, steps, seed)
            assert validate(found) == []
            assert equal(view_of(found, int(view["seat"])), view)
            assert equal(found["view"], view)


def test_imagining_moves_on_and_is_the_same_for_the_same_stream() -> None:
    state = next(state for state in states_of_game(4, 1, bot="advised") if belief_of(state["view"])["n"] > 2)
    belief = belief_of(state["view"])
    hands = {imagined(state["view"], belief, STEPS, seed)["hands"].tobytes() for seed in range(10)}
    assert len(hands) > 5
    first, again = (imagined(state["view"], belief_of(state["view"]), STEPS) for _ in range(2))
    assert equal(first, again)


def test_what_was_in_the_memory_before_leaves_no_trace() -> None:
    for state in states()[::3]:
        first, again = (belief_of(state["view"], left_over=left_over) for left_over in (0, 0xFF))
        assert first["n"] == again["n"]
        assert equal(*(imagined(state["view"], belief, STEPS) for belief in (first, again)))


# Without evidence all hands are equally likely.


def is_uniform(view: View, steps: int) -> bool:
    """Whether imagining draws as ``determinize`` does, which is uniform."""
    belief = belief_of(view, steps)
    drawn = [imagined(view, belief, steps, seed) for seed in range(5)]
    return all(equal(state, determinize(view, new_stream(seed))) for seed, state in enumerate(drawn))


def test_without_exchanges_hands_are_uniform() -> None:
    assert all(is_uniform(state["view"], 0) for state in states())


def test_for_a_position_laid_out_by_hand_hands_are_uniform() -> None:
    """The log does not lead to the hands that are left."""
    view = position(["R3 R4 B5 B6", "G1 G2 G3 G4", "Y6 Y7 P6 P7"], "R3, pass, Y6")["view"]
    assert is_uniform(view, STEPS)
    assert belief_of(view)["n"] == 0


def test_for_a_log_of_other_seats_hands_are_uniform() -> None:
    state = next(state for state in states() if belief_of(state["view"])["n"] > 1)
    view = clone(state["view"])
    view["log"][0] = view["log"][0] ^ np.uint64(1 << 59)
    assert is_uniform(view, STEPS)


def test_for_a_col_longer_than_its_log_hands_are_uniform() -> None:
    """The log does not lead to the hands that are left by what came after its end."""
    longer = [clone(state) for state in moves_of_a_long_col()][MAX_LOGGED + 6 : -1 : 20]
    assert longer
    assert all(is_uniform(state["view"], STEPS) for state in longer)


# The evidence.

PUBLIC = ("played", "passed_on", "sizes", "beat", "phase", "turn", "author", "racing", "pile_size", "jersey_spent")


def same_in_public(a: View, b: View) -> bool:
    return all(np.array_equal(a[name], b[name]) for name in PUBLIC)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_evidence_is_every_play_and_pass_of_opponents_who_race_in_what_was_public_then(players: int) -> None:
    """Without swaps nothing else is missing: with them the sizes within a swap are."""
    checked = 0
    for game in games(players, 1 if INTERPRETED else 2, "advised", RuleSet(hand_size=HAND_SIZE)):
        begin = 0
        for i, state in enumerate(game):
            view = state["view"]
            begin = i if view["logged"] == 0 else begin
            belief = belief_of(view, 1)
            expected = [
                (past["view"], np.uint64(move_of_entry(entry)), int(author_of(entry)))
                for past, entry in zip(game[begin:i], view["log"], strict=False)
                if kind_of(np.uint64(move_of_entry(entry))) <= Kind.PASS
                and author_of(entry) != view["seat"]
                and view["sizes"][author_of(entry)] > 0
            ]
            pieces = belief["evidence"][: belief["n"]]
            assert len(pieces) == len(expected)
            for piece, (past, move, author) in zip(pieces, expected, strict=True):
                assert (piece["author"], piece["move"]) == (author, move)
                assert same_in_public(piece["view"], past)
                checked += 1
    assert checked > (10 if INTERPRETED else 100)


def test_cards_that_the_author_played_later_count_for_his_hand_then() -> None:
    for state in states():
        view = state["view"]
        belief = belief_of(view, 1)
        for piece in belief["evidence"][: belief["n"]]:
            assert int(piece["later"]) & int(piece["view"]["played"]) == 0
            assert int(piece["later"]) & int(cards_of(piece["move"])) == int(cards_of(piece["move"]))
            assert int(piece["later"]) & ~int(view["played"]) == 0


def trusts(view: View) -> list[tuple[int, float, float]]:
    """Return the author of each piece of evidence, and what trust in it is left by kind of player."""
    belief = belief_of(view)
    return [(int(piece["author"]), *map(float, piece["trusts"])) for piece in belief["evidence"][: belief["n"]]]


def test_who_has_swapped_since_is_trusted_less() -> None:
    hands = ["R2 R3 R4 R5", "N1 B7 G2 G3", "Y4 Y5 Y6 Y7"]
    moves = "R2, B7, pass, pass, N1"
    assert trusts(position(hands, "R2, B7", hand_size=4)["view"]) == [(0, 1, 1), (1, 1, 1)]
    view = position(hands, f"{moves}, swap 2, give G3", hand_size=4, taken="Y4")["view"]
    assert trusts(view) == [(0, 1, 1), (1, 0.37, 0.64), (0, 1, 1), (1, 0.37, 0.64)]


def test_who_has_drawn_since_is_trusted_less() -> None:
    hands = ["R3 G2 B4 B5", "N6 N7 P3 P4"]
    view = position(hands, "G2, N6, pass, keep", hand_size=4, pile="A3 A4 A5 A6")["view"]
    assert trusts(view) == [(0, 0.37, 0.64), (0, 1, 1)]


# With evidence hands are likelier, and truer.


def mean_regret(belief: Belief, state: State) -> float:
    """Return what the authors of the moves of the log would regret on average if they held these hands."""
    regrets = []
    for piece in belief["evidence"][: belief["n"]]:
        view = clone(piece["view"])
        view["hand"] = int(state["hands"][piece["author"]]) | int(piece["later"])
        regrets.append(min(900, int(regret_of(view, piece["move"]))))
    return float(np.mean(regrets))


def overlap(view: View, state: State, truth: State) -> int:
    """Return how many unseen cards of the other hands are imagined where they are."""
    unseen = int(unseen_cards(view))
    others = [seat for seat in range(int(view["players"])) if seat != view["seat"]]
    return sum((int(state["hands"][seat]) & int(truth["hands"][seat]) & unseen).bit_count() for seat in others)


@pytest.mark.skipif(INTERPRETED, reason="thousands of hands")
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_imagined_hands_explain_the_log_better_and_share_more_with_the_truth_than_uniform_ones(players: int) -> None:
    """In games of ``advised``, whose moves the evidence is judged by."""
    regrets, shared, n = np.zeros(2), np.zeros(2), 0
    for game in games(players, 3):
        for state in game:
            view = state["view"]
            if view["logged"] < 8 or view["phase"] > Phase.FOLLOW:
                continue
            belief = belief_of(view)
            if belief["n"] == 0:
                continue
            for seed in range(4):
                drawn = imagined(view, belief, 20, seed), determinize(view, new_stream(seed))
                regrets += [mean_regret(belief, one) for one in drawn]
                shared += [overlap(view, one, state) for one in drawn]
                n += 1
    assert n > 200
    assert regrets[0] < 0.8 * regrets[1]
    assert shared[0] > 1.05 * shared[1]


# The walk, in a case in which all deals can be counted.


def small_view() -> View:
    """Return the view of a seat that has seen six moves, with 6 unseen cards: others hold 2 and 3 of them."""
    hands = ["R3 R4 B5 G2", "B6 B7 G6 N3", "Y4 Y5 P7 N4"]
    view: View = position(hands, "R3, B6, pass, pass, N3, Y4", hand_size=4)["view"]
    unseen = parse_cards(["B7", "G6", "Y5", "P7", "N4", "H25"])
    view["played"] |= unseen_cards(view) & ~unseen
    return view


def likelihood(belief: Belief, seat: int, hand: int) -> float:
    """Return how likely it is that a seat with this hand does what it did: the sum over both kinds of players."""
    by_advice = by_judgement = 0.0
    for piece in belief["evidence"][: belief["n"]]:
        if piece["author"] == seat:
            view = clone(piece["view"])
            view["hand"] = hand | int(piece["later"])
            regret = int(regret_of(view, piece["move"]))
            by_advice -= 5.8 * piece["trusts"][0] * (regret > 0)
            if piece["move"] == PASS:
                judged = min(0.1, regret / 500)
            else:
                judged = min(2.3, regret / 467) if view["phase"] == Phase.LEAD else min(1.95, regret / 924)
            by_judgement -= 0.57 * piece["trusts"][0] + judged * piece["trusts"][1]
    return math.exp(by_advice) + math.exp(by_judgement)


def shares_by_likelihood(view: View, belief: Belief) -> dict[tuple[int, ...], float]:
    """Return all deals of the unseen cards to the other two seats, with the share that each should have."""
    unseen = [1 << place for place in range(56) if int(unseen_cards(view)) >> place & 1]
    weights = {}
    for first in combinations(unseen, int(view["sizes"][1])):
        for second in combinations(sorted(set(unseen) - set(first)), int(view["sizes"][2])):
            hands = {1: sum(first), 2: sum(second)}
            weights[hands[1], hands[2]] = math.prod(likelihood(belief, seat, hand) for seat, hand in hands.items())
    total = sum(weights.values())
    return {deal: weight / total for deal, weight in weights.items()}


def distance(a: dict[tuple[int, ...], float], b: dict[tuple[int, ...], float]) -> float:
    """Return the total variation distance of two distributions: 0 for the same, 1 for what shares nothing."""
    return sum(abs(a.get(deal, 0) - b.get(deal, 0)) for deal in a.keys() | b.keys()) / 2


@pytest.mark.skipif(INTERPRETED, reason="thousands of hands")
def test_the_walk_visits_hands_in_proportion_to_their_likelihood() -> None:
    view = small_view()
    belief, stream, state, draws = belief_of(view), new_stream(8), np.zeros(1, STATE)[0], 40_000
    assert belief["n"] == 4
    visits: Counter[tuple[int, ...]] = Counter()
    for _ in range(draws):
        imagine(state, belief, view, 10, stream)
        visits[int(state["hands"][1]), int(state["hands"][2])] += 1
    expected = shares_by_likelihood(view, belief)
    assert len(expected) == 60
    assert set(visits) <= set(expected)
    found = {deal: count / draws for deal, count in visits.items()}
    uniform = dict.fromkeys(expected, 1 / len(expected))
    assert distance(found, expected) < 0.03
    assert distance(uniform, expected) > 0.2


def test_where_no_card_is_unknown_there_is_nothing_to_exchange() -> None:
    state = position(["R3 R4 B5 G2", "B6 B7 G6 N3", "Y4 Y5 P7 N4"], "R3, B6, pass, pass, N3, Y4", hand_size=4)
    view = state["view"]
    view["known"][1:3] = state["hands"][1:3]
    view["played"] |= unseen_cards(view)
    belief = belief_of(view)
    assert belief["n"] == 4
    assert np.array_equal(imagined(view, belief, STEPS)["hands"][1:3], state["hands"][1:3])


# The kinds of players.


@pytest.mark.skipif(INTERPRETED, reason="dozens of games")
@pytest.mark.parametrize("players", [2, 4])
def test_players_by_the_advice_are_told_from_others(players: int) -> None:
    """The more they have done, the better; before they have done anything, either is as likely."""
    shares = {}
    for bot in ("advised", "random"):
        late = [state["view"] for game in games(players, 8, bot) for state in game if state["view"]["logged"] >= 12]
        shares[bot] = np.mean([share_by_advice(belief_of(view), view) for view in late])
    assert shares["advised"] > 0.5 > 0.25 > shares["random"]
    first = games(players, 1)[0][0]["view"]
    assert share_by_advice(belief_of(first), first) == pytest.approx(0.5)
