"""The bot ``advised``: the published advice for the game, each piece a switch, so that each can be measured.

With all switches off it plays about as ``greedy``. A choice is the candidate with the highest score, a sum of terms
with weights, in 1024ths of a turn; the weights were tuned in games against earlier versions and against ``greedy``
(``experiments/011-advised``).
"""

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import inlined, kernel
from velonimo_sim.bits import U0, byte, integer, lowest, popcount, shift_left, without_lowest
from velonimo_sim.bot.parameter import Parameter
from velonimo_sim.bot.policy import compiled_bot
from velonimo_sim.rng import Stream
from velonimo_sim.velonimo.cards import DROMEDARIES, HARES, RIDERS, TORTOISES
from velonimo_sim.velonimo.legal import count_rider_plays, jersey_threshold, may_add_jersey, threshold
from velonimo_sim.velonimo.moves import FORCE, JERSEY, KEEP, PASS, Kind, cards_of, kind_of, move_of, seat_of, value_of
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.policies.greedy import cards_of_follow, decide_beside_plays
from velonimo_sim.velonimo.policies.plan import (
    ALL_ALIKE,
    NO_COST,
    VALUE_COST,
    cheapest_cover,
    cost_of_cover,
    hand_cost,
    planned_play,
)
from velonimo_sim.velonimo.policies.stand import STAND, situation_of
from velonimo_sim.velonimo.tables import HARES_ABOVE, NO_PLAY, NUMBER_FOLLOW, TEAM_FOLLOW
from velonimo_sim.velonimo.view import Phase, View

SWITCHES = (
    Parameter("late", bool, True, help="let the others fight; take the attack when nobody is likely to answer"),
    Parameter("tortoise", bool, True, help="swap with the hand nearest to going out, give the least useful card"),
    Parameter("jersey", bool, True, help="add the Jersey to just beat a strong play"),
    Parameter("hares", bool, True, help="keep hares until the others have spent their best combinations"),
    Parameter("groups", bool, True, help="do not break groups for a cheap beat"),
    Parameter("lead", bool, True, help="lead what the others can hardly answer, or what is good for nothing else"),
    Parameter("dromedary", bool, True, help="duel: no Dromedary late unless the card drawn is worth it"),
    Parameter("finish", bool, True, help="plan the whole hand: fewest turns, certain winners last"),
)

LATE, TORTOISE, JERSEY_ADVICE, HARES_ADVICE, GROUPS, LEAD, DROMEDARY, FINISH = (1 << i for i in range(len(SWITCHES)))
ALL_ADVICE = 255
"""Every switch on."""

# The terms of the scores: the switch that a weight belongs to, the weight with 3-5 players, in the duel, and with the
# switch off.
_TERMS = (
    # For a lead: per chance to stand, per that and cost of the hand, per card, per 16 of value,
    (LEAD, 129, 419, 0),
    (FINISH, 47, -905, 0),
    (LEAD, -555, -441, 4096),
    (LEAD, -561, -476, -256),
    # for no more cards than an opponent with 1 or 2 cards holds, for a hare, per Tortoise, per card drawn.
    (LEAD, 168, -1096, 0),
    (HARES_ADVICE, -485, -196, 0),
    (TORTOISE, 1760, 558, 0),
    (DROMEDARY, 377, 1801, 0),
    # For an answer: per chance to stand, per that and cost of the rest, per card, per 16 of value,
    (LATE, 855, -245, 0),
    (LATE, -1321, -1677, 0),
    (GROUPS, -87, -70, 0),
    (LATE, -341, 537, -1024),
    # for a hare, for that per 4 cards of an opponent, for the Jersey, for that per 16 to beat, per Tortoise, per card
    # drawn.
    (HARES_ADVICE, -535, 235, 0),
    (HARES_ADVICE, 933, 310, 0),
    (JERSEY_ADVICE, -1194, -149, 0),
    (JERSEY_ADVICE, -3, -867, 0),
    (TORTOISE, 1230, 1729, 0),
    (DROMEDARY, 1548, 2519, 0),
    # For a pass, per card that the opponent with the fewest has above 4, per opponent who has passed.
    (LATE, -704, -1904, -(1 << 30)),
    (LATE, 2262, 2409, 0),
    (LATE, -888, -813, 0),
    # What the reward may cost to be kept.
    (FINISH, -428, -177, -(1 << 30)),
)
(
    LEAD_STANDS,
    LEAD_STANDS_BY_COST,
    LEAD_CARDS,
    LEAD_VALUE,
    LEAD_UNANSWERED,
    LEAD_HARE,
    LEAD_TORTOISE,
    LEAD_DRAW,
    ANSWER_STANDS,
    ANSWER_STANDS_BY_COST,
    ANSWER_CARDS,
    ANSWER_VALUE,
    ANSWER_HARE,
    ANSWER_HARE_EARLY,
    ANSWER_JERSEY,
    ANSWER_JERSEY_HIGH,
    ANSWER_TORTOISE,
    ANSWER_DRAW,
    PASS_AT_ALL,
    PASS_NEAR,
    PASS_AFTER_PASS,
    REWARD_KEPT,
) = range(len(_TERMS))

WEIGHTS = np.array(
    [
        [[(many, duel)[kind] if switches & switch else off for switch, many, duel, off in _TERMS] for kind in range(2)]
        for switches in range(256)
    ],
    np.int64,
)
"""[switches, is duel, term]: the weight of each term."""


@inlined
def _weights(view: View, switches: int) -> NDArray[np.int64]:
    weights: NDArray[np.int64] = WEIGHTS[switches, integer(view["players"] == 2)]
    return weights


@inlined
def _cost_situation(situation: int, switches: int) -> int:
    """Return the situation by which plays are costed: without a plan to the end they are all alike."""
    return situation if switches & FINISH else ALL_ALIKE


@inlined
def _fewest_cards(view: View) -> int:
    """Return the cards of the opponent who is nearest to going out."""
    fewest = 99
    for seat in range(integer(view["players"])):
        if seat != view["seat"] and view["sizes"][seat] > 0:
            fewest = min(fewest, integer(view["sizes"][seat]))
    return fewest


@inlined
def _draws(view: View, cards: np.uint64) -> int:
    """Return how many cards a play makes its author draw (V24)."""
    return min(popcount(cards & DROMEDARIES), integer(view["pile_size"]))


@inlined
def _lead_score(view: View, cards: np.uint64, cost: int, situation: int, fewest: int, w: NDArray[np.int64]) -> int:
    size, value = popcount(cards), value_of(cards)
    stands = integer(STAND[situation, value])
    score = stands * (w[LEAD_STANDS] + w[LEAD_STANDS_BY_COST] * cost // 1024) // 1024
    score += w[LEAD_CARDS] * size + w[LEAD_VALUE] * value // 16
    score += w[LEAD_TORTOISE] * popcount(cards & TORTOISES) + w[LEAD_DRAW] * _draws(view, cards)
    if size <= fewest <= 2:
        score += w[LEAD_UNANSWERED]
    if cards & HARES:
        score += w[LEAD_HARE]
    return int(score)


@inlined
def _lead(view: View, switches: int, w: NDArray[np.int64]) -> tuple[np.uint64, int]:
    """Choose among the plays of the plan and the hares; return the choice and its score."""
    hand, situation = view["hand"], situation_of(view)
    riders, fewest = hand & RIDERS, _fewest_cards(view)
    costed_as = _cost_situation(situation, switches)
    teams, riders_cost = cheapest_cover(riders, costed_as)
    cost = cost_of_cover(hand, teams, riders_cost, costed_as)
    best, choice = NO_COST, U0
    for place in range(14):
        cards = planned_play(riders, teams, place)
        if cards:
            score = _lead_score(view, cards, cost, situation, fewest, w)
            best, choice = (score, cards) if score > best else (best, choice)
    hares = hand & HARES
    while hares:
        score = _lead_score(view, lowest(hares), cost, situation, fewest, w)
        best, choice = (score, lowest(hares)) if score > best else (best, choice)
        hares = without_lowest(hares)
    return choice, best


@kernel
def _answer_score(
    view: View, play: np.uint64, cost: int, situation: int, switches: int, w: NDArray[np.int64], least: int
) -> int:
    """Return what a play is worth beside the pass, ``cost`` being that of the whole hand.

    The rest of the hand is taken to cost what the plan of the whole hand leaves for it, which it seldom falls short of.
    Only if that makes the play worth more than ``least`` is the rest planned anew.
    """
    cards = cards_of(play)
    rest, value = view["hand"] & ~cards, value_of(cards)
    if rest == U0:
        return 1 << 29
    costed_as = _cost_situation(situation, switches)
    rest_cost = cost - integer(VALUE_COST[costed_as, value])
    score = w[ANSWER_CARDS] * popcount(cards) + w[ANSWER_TORTOISE] * popcount(cards & TORTOISES)
    score += w[ANSWER_DRAW] * _draws(view, cards)
    if cards & HARES:
        score += w[ANSWER_HARE] + w[ANSWER_HARE_EARLY] * _mean_cards(view) // 4
    if play & JERSEY:
        score += w[ANSWER_JERSEY] + w[ANSWER_JERSEY_HIGH] * integer(view["beat"]) // 16
        value += integer(view["rules"]["jersey_bonus"])
    score += w[ANSWER_VALUE] * value // 16
    stands = integer(STAND[situation, min(value, 99)])
    worth = score + _worth_of_rest(cost, rest_cost, stands, w)
    if worth > least and switches & GROUPS:
        worth = score + _worth_of_rest(cost, hand_cost(rest, costed_as), stands, w)
    return int(worth)


@inlined
def _worth_of_rest(cost: int, rest_cost: int, stands: int, w: NDArray[np.int64]) -> int:
    """Return what it is worth to have only the rest of the hand left, with a chance to lead from it."""
    return int(cost - rest_cost + stands * (w[ANSWER_STANDS] + w[ANSWER_STANDS_BY_COST] * rest_cost // 1024) // 1024)


@inlined
def _mean_cards(view: View) -> int:
    """Return the cards of an opponent who races, on average, rounded down."""
    cards = -integer(view["sizes"][view["seat"]])
    for seat in range(integer(view["players"])):
        cards += integer(view["sizes"][seat])
    return cards // max(1, integer(view["racing"]) - 1)


@inlined
def _pass_score(view: View, w: NDArray[np.int64]) -> int:
    passed = 0
    for seat in range(integer(view["players"])):
        if seat != view["seat"] and view["sizes"][seat] > 0 and view["passed_on"][seat] > 0:
            passed += 1
    return int(w[PASS_AT_ALL] - w[PASS_NEAR] * max(0, 4 - _fewest_cards(view)) + w[PASS_AFTER_PASS] * passed)


@inlined
def _whole_group(hand: np.uint64, place: int) -> np.uint64:
    return hand & RIDERS & (shift_left(np.uint64(0x7F), 8 * place) if place < 7 else shift_left(TORTOISES, place - 7))


@inlined
def _has_play(hand: np.uint64, row: int, place: int) -> bool:
    """Whether a group of the hand has a play worth more than ``row``."""
    if place < 7:
        return bool(TEAM_FOLLOW[row, byte(hand, place) & 0x7F] < NO_PLAY)
    return bool(NUMBER_FOLLOW[row, place - 7, popcount(hand & shift_left(TORTOISES, place - 7))] < NO_PLAY)


@inlined
def _answer(view: View, switches: int, w: NDArray[np.int64]) -> tuple[np.uint64, int]:
    """Choose among the pass, the hares, and of each group the cheapest plays with and without Jersey and the whole.

    Returns
    -------
    tuple
        The choice and its score; with no other choice than the pass the score is 0.
    """
    hand, row = view["hand"], threshold(integer(view["beat"]))
    row_with_jersey = jersey_threshold(view) if may_add_jersey(view) else row
    hares = hand & HARES_ABOVE[row]
    if hares == U0 and count_rider_plays(hand, row_with_jersey) == 0:
        return PASS, 0
    situation = situation_of(view)
    cost = hand_cost(hand, _cost_situation(situation, switches))
    best, choice = _pass_score(view, w), PASS
    for place in range(14):
        if row_with_jersey < row and _has_play(hand, row_with_jersey, place):
            play = cards_of_follow(hand, row_with_jersey, place) | JERSEY
            score = _answer_score(view, play, cost, situation, switches, w, best)
            best, choice = (score, play) if score > best else (best, choice)
        if _has_play(hand, row, place):
            play = cards_of_follow(hand, row, place)
            score = _answer_score(view, play, cost, situation, switches, w, best)
            best, choice = (score, play) if score > best else (best, choice)
            whole = _whole_group(hand, place)
            if whole != play and value_of(whole) > view["beat"]:
                score = _answer_score(view, whole, cost, situation, switches, w, best)
                best, choice = (score, whole) if score > best else (best, choice)
    while hares:
        score = _answer_score(view, lowest(hares), cost, situation, switches, w, best)
        best, choice = (score, lowest(hares)) if score > best else (best, choice)
        hares = without_lowest(hares)
    return choice, best


@kernel
def _nearest_to_going_out(view: View) -> int:
    """Return the opponent with the fewest cards, of several the first after the player."""
    players = integer(view["players"])
    nearest, fewest = 0, 99
    for turns in range(1, players):
        seat = (integer(view["seat"]) + turns) % players
        if 0 < view["sizes"][seat] < fewest:
            nearest, fewest = seat, integer(view["sizes"][seat])
    return nearest


@kernel
def cards_that_cost(hand: np.uint64, count: int, situation: int) -> np.uint64:
    """Return ``count`` cards of the hand, one by one that without which the rest of the hand costs least."""
    chosen = U0
    for _ in range(count):
        rest, best, card = hand & ~chosen, 1 << 40, U0
        cards = rest
        while cards:
            without = rest & ~lowest(cards)
            cost = hand_cost(without, situation) if without else NO_COST
            if cost < best:
                best, card = cost, lowest(cards)
            cards = without_lowest(cards)
        chosen |= card
    return chosen


@kernel
def _advise_beside_plays(view: View, switches: int, w: NDArray[np.int64], stream: Stream) -> np.uint64:
    phase = integer(view["phase"])
    costed_as = _cost_situation(situation_of(view), switches)
    if phase == Phase.SWAP and switches & TORTOISE:
        return move_of(Kind.SWAP, np.uint64(_nearest_to_going_out(view)))
    if phase == Phase.GIVE and switches & TORTOISE:
        return move_of(Kind.GIVE, cards_that_cost(view["hand"], integer(view["swap_count"]), costed_as))
    if phase == Phase.REWARD:
        dearer_by = hand_cost(view["hand"] | view["reward"], costed_as) - hand_cost(view["hand"], costed_as)
        return KEEP if dearer_by <= w[REWARD_KEPT] else FORCE
    return decide_beside_plays(view, stream)


@kernel
def promise_of(view: View, move: np.uint64) -> int:
    """Return how promising the advice finds a legal move beside the others of the decision."""
    situation, w = situation_of(view), _weights(view, ALL_ADVICE)
    if view["phase"] == Phase.LEAD:
        cost, play = hand_cost(view["hand"], situation), cards_of(move)
        rest = view["hand"] & ~play
        if rest == U0:
            return 1 << 29
        broken = hand_cost(rest, situation) - (cost - VALUE_COST[situation, value_of(play)])
        return int(_lead_score(view, play, cost, situation, _fewest_cards(view), w) - broken)
    if view["phase"] == Phase.FOLLOW:
        if move == PASS:
            return _pass_score(view, w)
        return _answer_score(view, move, hand_cost(view["hand"], situation), situation, ALL_ADVICE, w, NO_COST)
    if view["phase"] == Phase.GIVE and view["hand"] != cards_of(move):
        return -hand_cost(view["hand"] & ~cards_of(move), situation)
    if kind_of(move) in (Kind.SWAP, Kind.LEAD):  # all alike, so that the order of the table decides, from here on
        return -((seat_of(move) - integer(view["seat"])) % integer(view["players"]))
    return 0


@kernel
def regret_of(view: View, move: np.uint64) -> int:
    """Return by how much the score of a play or pass falls short of that of the advised one, 0 or more."""
    w = _weights(view, ALL_ADVICE)
    choice, score = _lead(view, ALL_ADVICE, w) if view["phase"] == Phase.LEAD else _answer(view, ALL_ADVICE, w)
    return 0 if choice == move else max(0, score - promise_of(view, move))


@inlined
def advise(view: View, switches: int, stream: Stream) -> np.uint64:
    """Return the move by the advice of which the switches are on, see ``SWITCHES``."""
    return weigh_advice(view, switches, _weights(view, switches), stream)


@inlined
def weigh_advice(view: View, switches: int, w: NDArray[np.int64], stream: Stream) -> np.uint64:
    """Return the move by the advice of which the switches are on, with given weights of the terms."""
    if view["phase"] == Phase.LEAD:
        return _lead(view, switches, w)[0]
    if view["phase"] == Phase.FOLLOW:
        return _answer(view, switches, w)[0]
    return _advise_beside_plays(view, switches, w, stream)


@compiled_bot("advised", "follows the published advice, each piece of it a switch", SWITCHES)
def advised(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Read the switches and follow the advice."""
    switches = 0
    for i in range(8):
        if scratch["parameters"][i]:
            switches |= 1 << i
    return advise(view, switches, stream)
