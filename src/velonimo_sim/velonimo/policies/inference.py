"""Hidden hands that explain what the others did: the evidence of the log, and a random walk through likely hands.

Who passes a low value probably cannot or will not beat it, and who leads a pair probably held no third card of it. How
well a hand explains a move is told by what is to be regretted of it: by how much its score by the advice falls short of
the best. Two kinds of players are reckoned with. One plays by the advice and hardly ever makes a move that it regrets;
the other thinks for himself, so that his leads and answers tell something and his passes next to nothing. Each is as
likely as the other beforehand, and what a seat did tells which it is as well as what it holds. The numbers are fitted
to games of ``advised`` and of ``rollout`` (``experiments/012-inference``).

Hands are drawn by the Metropolis algorithm (Metropolis and others, "Equation of state calculations by fast computing
machines", 1953): two unknown cards in different places are exchanged, and the exchange is kept by the ratio of the
likelihoods.
"""

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import inlined, kernel
from velonimo_sim.bits import U0, integer, lowest_index, nth, popcount
from velonimo_sim.rng import Stream, below
from velonimo_sim.velonimo.cards import DECK_SIZE, TORTOISES
from velonimo_sim.velonimo.determinize import determinize_into, unseen_cards
from velonimo_sim.velonimo.moves import PASS, Kind, author_of, cards_of, kind_of, move_of_entry, seat_of
from velonimo_sim.velonimo.policies.advised import regret_of
from velonimo_sim.velonimo.rules import MAX_PLAYERS
from velonimo_sim.velonimo.state import STATE, State, show_turn
from velonimo_sim.velonimo.step import begin_col, pass_turn_on, step
from velonimo_sim.velonimo.view import MAX_LOGGED, VIEW, Phase, View

EVIDENCE = np.dtype(
    [
        ("view", VIEW),  # what was public when the move was made
        ("move", "u8"),  # a play or a pass
        ("later", "u8"),  # cards that its author has played from then on, this move included
        ("author", "i8"),
        ("trusts", "f8", (2,)),  # by kind of player: 1, and less the more cards its author has got since
    ],
    align=True,
)
"""One move of an opponent who still races."""

BELIEF = np.dtype(
    [
        ("state", STATE),  # where the walk stands
        ("evidence", EVIDENCE, (MAX_LOGGED,)),
        ("n", "i8"),  # pieces of evidence
        ("unseen", "u8"),  # cards that may be exchanged
        ("likelihoods", "f8", (MAX_PLAYERS + 1,)),  # by seat, and 0: logarithm of the likelihood of what it did
    ],
    align=True,
)
"""What a player makes of a view; ``state`` is the last of the hands that he has imagined."""

Belief: TypeAlias = np.void
"""A record of dtype ``BELIEF``."""

BY_ADVICE, BY_JUDGEMENT = 0, 1
"""The kinds of players."""

# Of moves of a player by the advice: logarithm of the likelihood of a move that he would regret.
_REGRETTED = -5.8

# Of moves of a player who thinks for himself: what each move tells less of him than of the other kind, the difference
# of scores, in 1024ths of a turn, that makes a move e times less likely, and the logarithm of the least likelihood.
_FREEDOM = -0.57
_LEAD_TEMPERATURE, _LEAST_LEAD = 467.0, -2.3
_ANSWER_TEMPERATURE, _LEAST_ANSWER = 924.0, -1.95
_PASS_TEMPERATURE, _LEAST_PASS = 500.0, -0.1

_TRUST_LEFT = np.array([0.37, 0.64])
"""[kind of player]: what a card that a player got later leaves of the trust in the hand that he seems to have had."""
_FIRST_STEPS = 100
"""Exchanges tried before the first hands are used."""


@kernel
def believe(belief: Belief, view: View, steps: int, stream: Stream) -> None:
    """Gather the evidence of a view and walk to likely hands; with 0 steps all hands are taken as equally likely."""
    belief["n"] = _gather(belief["evidence"], belief["state"], view, stream) if steps > 0 else 0
    belief["unseen"] = unseen_cards(view)
    determinize_into(belief["state"], view, stream)
    for seat in range(integer(view["players"])):
        belief["likelihoods"][seat] = _likelihood(belief, seat, belief["state"]["hands"][seat], -math.inf)
    belief["likelihoods"][_ASIDE] = 0.0
    if belief["n"] > 0:
        _walk(belief, _FIRST_STEPS, stream)


@kernel
def imagine(state: State, belief: Belief, view: View, steps: int, stream: Stream) -> None:
    """Fill ``state`` with hidden cards that the view leaves possible, the likelier the better they explain its log."""
    if belief["n"] == 0:
        determinize_into(state, view, stream)
    else:
        _walk(belief, steps, stream)
        state["view"] = view
        state["hands"] = belief["state"]["hands"]
        state["known"] = belief["state"]["known"]
        state["pile"] = belief["state"]["pile"]


# The evidence.


@kernel
def _gather(evidence: NDArray[np.void], state: State, view: View, stream: Stream) -> int:
    """List what the opponents who still race did in this col, by playing the log again on ``state``; return how much.

    It is none if the log does not lead to the view, as in a position that was laid out by hand.
    """
    _begin_again(state, view)
    n = 0
    for i in range(integer(view["logged"])):
        author, move = author_of(view["log"][i]), move_of_entry(view["log"][i])
        if author != state["view"]["turn"]:
            return 0
        if _tells(view, author, move):
            evidence[n]["view"] = state["view"]
            evidence[n]["move"] = move
            evidence[n]["author"] = author
            n += 1
        _make_public_move(state, move, stream)
    for seat in range(integer(view["players"])):
        if state["view"]["sizes"][seat] != view["sizes"][seat] and view["phase"] != Phase.GIVE:
            return 0
    _look_back(evidence, n, view)
    return n


@inlined
def _tells(view: View, author: int, move: np.uint64) -> bool:
    """Whether a move tells something of a hidden hand."""
    return bool(kind_of(move) <= Kind.PASS and author != view["seat"] and view["sizes"][author] > 0)


@kernel
def _begin_again(state: State, view: View) -> None:
    """Begin the col with as many cards as were dealt, which nobody sees."""
    state["view"] = view
    for seat in range(MAX_PLAYERS):
        state["hands"][seat] = U0
    for i in range(len(state["pile"])):
        state["pile"][i] = 0
    blind, players = state["view"], integer(view["players"])
    hand_size = integer(view["rules"]["hand_size"])
    blind["col"] -= 1
    blind["pile_size"] = DECK_SIZE - players * hand_size if players == 2 else 0
    begin_col(state)
    for seat in range(players):
        blind["sizes"][seat] = hand_size


@kernel
def _make_public_move(state: State, move: np.uint64, stream: Stream) -> None:
    """Make a move of the log; a swap leaves all hands as large as they were and is over with the gift."""
    if kind_of(move) == Kind.GIVE:
        state["view"]["swap_count"] = 0
        pass_turn_on(state["view"])
        show_turn(state)
    elif kind_of(move) != Kind.SWAP:
        step(state, move, stream)


@kernel
def _look_back(evidence: NDArray[np.void], n: int, view: View) -> None:
    """Fill in what the author of each piece of evidence has played from then on, and how far it can be trusted."""
    later, swapped = np.zeros(MAX_PLAYERS, np.uint64), np.zeros(MAX_PLAYERS, np.int64)
    for i in range(integer(view["logged"]) - 1, -1, -1):
        author, move = author_of(view["log"][i]), move_of_entry(view["log"][i])
        if kind_of(move) == Kind.SWAP:
            count = popcount(view["log"][i - 1] & TORTOISES)
            swapped[author] += count
            swapped[seat_of(move)] += count
        elif kind_of(move) <= Kind.PASS:
            later[author] |= cards_of(move)
        if _tells(view, author, move):
            n -= 1
            size = integer(evidence[n]["view"]["sizes"][author])
            drawn = integer(view["sizes"][author]) + popcount(later[author]) - size
            evidence[n]["later"] = later[author]
            evidence[n]["trusts"] = _TRUST_LEFT ** (swapped[author] + max(0, drawn))


@kernel
def _likelihoods(belief: Belief, seat: int, hand: np.uint64, least: float) -> tuple[float, float]:
    """Return the logarithms of the likelihoods of what a seat did if this is its hand now, by kind of player.

    Every move makes them less, so that the count ends, with what they have come to, when both are below ``least``.
    """
    by_advice, by_judgement, i = 0.0, 0.0, integer(belief["n"]) - 1
    while i >= 0 and max(by_advice, by_judgement) >= least:
        piece = belief["evidence"][i]
        if piece["author"] == seat:
            piece["view"]["hand"] = hand | piece["later"]
            regret = regret_of(piece["view"], piece["move"])
            if regret > 0:
                by_advice += piece["trusts"][BY_ADVICE] * _REGRETTED
            by_judgement += piece["trusts"][BY_ADVICE] * _FREEDOM
            by_judgement += piece["trusts"][BY_JUDGEMENT] * _judgement(piece["view"], piece["move"], regret)
        i -= 1
    return by_advice, by_judgement


@inlined
def _judgement(view: View, move: np.uint64, regret: int) -> float:
    """Return the logarithm of the likelihood of a move of a player who thinks for himself."""
    if move == PASS:
        return max(_LEAST_PASS, -regret / _PASS_TEMPERATURE)
    if view["phase"] == Phase.LEAD:
        return max(_LEAST_LEAD, -regret / _LEAD_TEMPERATURE)
    return max(_LEAST_ANSWER, -regret / _ANSWER_TEMPERATURE)


@kernel
def _likelihood(belief: Belief, seat: int, hand: np.uint64, least: float) -> float:
    """Return the logarithm of the likelihood of what a seat did, whichever kind of player it is."""
    by_advice, by_judgement = _likelihoods(belief, seat, hand, least - math.log(2.0))
    return _log_of_sum(by_advice, by_judgement)


@inlined
def _log_of_sum(a: float, b: float) -> float:
    """Return the logarithm of the sum of two numbers of which the logarithms are given."""
    return max(a, b) + math.log(1.0 + math.exp(-abs(a - b)))


@kernel
def share_by_advice(belief: Belief, view: View) -> float:
    """Return how likely it is that the opponents who race play by the advice, on average."""
    total, n = 0.0, 0
    for seat in range(integer(view["players"])):
        if seat != view["seat"] and view["sizes"][seat] > 0:
            by_advice, by_judgement = _likelihoods(belief, seat, belief["state"]["hands"][seat], -math.inf)
            total += math.exp(by_advice - _log_of_sum(by_advice, by_judgement))
            n += 1
    return total / max(1, n)


# The walk.

_ASIDE = MAX_PLAYERS
"""The place of cards in no hand: the pile, or out of the col."""


@kernel
def _walk(belief: Belief, steps: int, stream: Stream) -> None:
    """Try a number of times to exchange two unknown cards."""
    unseen = belief["unseen"]
    size = popcount(unseen)
    if size == 0:
        return
    for _ in range(steps):
        one, two = nth(unseen, below(stream, size)), nth(unseen, below(stream, size))
        a, b = _holder(belief["state"], one), _holder(belief["state"], two)
        if a == b:
            continue
        least = belief["likelihoods"][a] + belief["likelihoods"][b] + math.log((1 + below(stream, 1 << 30)) / (1 << 30))
        at_a = _likelihood_with(belief, a, one, two, least)
        if at_a < least:
            continue
        at_b = _likelihood_with(belief, b, two, one, least - at_a)
        if at_a + at_b >= least:
            _replace(belief["state"], a, one, two)
            _replace(belief["state"], b, two, one)
            belief["likelihoods"][a] = at_a
            belief["likelihoods"][b] = at_b


@inlined
def _holder(state: State, card: np.uint64) -> int:
    for seat in range(integer(state["view"]["players"])):
        if state["hands"][seat] & card:
            return seat
    return _ASIDE


@inlined
def _likelihood_with(belief: Belief, place: int, old: np.uint64, new: np.uint64, least: float) -> float:
    """Return the likelihood of what a seat did if it holds one card instead of another; 0 for no seat."""
    if place == _ASIDE:
        return 0.0
    return _likelihood(belief, place, (belief["state"]["hands"][place] & ~old) | new, least)


@inlined
def _replace(state: State, place: int, old: np.uint64, new: np.uint64) -> None:
    """Put a card in the place of another, in a hand or in the pile."""
    if place != _ASIDE:
        state["hands"][place] = (state["hands"][place] & ~old) | new
        return
    for i in range(integer(state["view"]["pile_size"])):
        if state["pile"][i] == lowest_index(old):
            state["pile"][i] = lowest_index(new)
            return
