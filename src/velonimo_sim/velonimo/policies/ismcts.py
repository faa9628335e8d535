"""The bot ``ismcts``: a tree of information states, searched in imagined hands.

Single-observer Information Set Monte Carlo tree search (Cowling, Powley and Whitehouse, "Information set Monte Carlo
tree search", IEEE TCIAIG 2012): each walk down the tree has hidden cards of its own, nodes are what the observer has
seen and holds, and a move is weighed by how often it was there to be chosen. With ``rivals=advised`` only the
observer's own decisions are in the tree and the others play by the advice, as in POMCP (Silver and Veness, "Monte-Carlo
planning in large POMDPs", NIPS 2010).

The tree stays in the bot's memory from decision to decision, so that what is still reachable of it is used again.
"""

import math

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._clock import monotonic_ns
from velonimo_sim._jit import inlined, kernel
from velonimo_sim.bits import U0, U1, add, fold, integer
from velonimo_sim.bot.parameter import Parameter
from velonimo_sim.bot.policy import compiled_bot
from velonimo_sim.rng import STREAM, Stream, next_word
from velonimo_sim.velonimo.policies.advised import ALL_ADVICE, advise
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.policies.inference import BELIEF, believe, imagine
from velonimo_sim.velonimo.policies.search import (
    BACKUP,
    ENDINGS,
    WEIGH,
    WIDTH,
    N,
    deadline_of,
    exact_ending,
    list_candidates,
    most_worth,
    play_out,
    search_parameters,
    worth,
)
from velonimo_sim.velonimo.rules import MAX_PLAYERS
from velonimo_sim.velonimo.state import STATE, State
from velonimo_sim.velonimo.step import step
from velonimo_sim.velonimo.view import Phase, View

_WIDTH = 8
"""The most actions of a node."""

_PARAMETERS = (
    *search_parameters(WEIGH, most_candidates=_WIDTH, weigh=20),
    Parameter("explore", float, 0.5, (0.0, 10.0), "weight of what was seldom tried, as a share of what is at stake"),
    Parameter("rivals", ("advised", "tree"), "advised", help="who decides for the others within the tree"),
)
EXPLORE, RIVALS = len(_PARAMETERS) - 2, len(_PARAMETERS) - 1
TREE = 1

_WALKS_A_HAND = 8
"""Walks down the tree with the same hidden cards: imagining some takes longer than a walk."""

# A node in the memory, in words: the key, then for each of its actions the action, how often it was there, how often it
# was taken, and the sum of what followed, in millionths.
_NODES = 3600
_KEY, _ACTION, _THERE, _TAKEN, _SUM = 0, 1, 1 + _WIDTH, 1 + 2 * _WIDTH, 1 + 3 * _WIDTH
_NODE_WORDS = 1 + 4 * _WIDTH
_MILLION = 1e6
_KEY_FACTOR = np.uint64(0x9E37_79B9_7F4A_7C15)

_DEEPEST = 64
"""The most decisions of a walk that are in the tree."""


@kernel
def _find(memory: NDArray[np.uint64], key: np.uint64) -> int:
    """Return where the node of a key is, or where it has to be made."""
    at = integer(key % np.uint64(_NODES))
    while memory[at * _NODE_WORDS + _KEY] != U0 and memory[at * _NODE_WORDS + _KEY] != key:
        at = at + 1 if at + 1 < _NODES else 0
    return at * _NODE_WORDS


@kernel
def _key_of(view: View, own_hand: np.uint64, own_seat: int) -> np.uint64:
    """Return a hash of what the observer has seen of the col and of his hand; never 0."""
    key = fold(np.uint64(view["col"]), own_hand, _KEY_FACTOR)
    for i in range(integer(view["logged"])):
        key = fold(key, view["log"][i], _KEY_FACTOR)
    for seat in range(integer(view["players"])):
        key = fold(key, np.uint64(view["totals"][seat]), _KEY_FACTOR)
    return fold(key, np.uint64(integer(view["phase"]) * MAX_PLAYERS + own_seat), _KEY_FACTOR) | U1


@kernel
def _make_room(scratch: Scratch) -> None:
    """Empty the tree at a game's start, and when it is half full."""
    if scratch["used"] == 0 or scratch["used"] > _NODES // 2:
        scratch["memory"][: _NODES * _NODE_WORDS] = U0
        scratch["used"] = 1


@kernel
def _slot_of(memory: NDArray[np.uint64], node: int, action: np.uint64) -> int:
    """Return the place of an action in a node, a new one if it has none; -1 if the node is full."""
    for slot in range(_WIDTH):
        known = memory[node + _ACTION + slot]
        if known == U0:
            memory[node + _ACTION + slot] = action
        if known in (U0, action):
            return slot
    return -1


@kernel
def _offer(memory: NDArray[np.uint64], node: int, state: State, scratch: Scratch, stream: Stream) -> int:
    """Enter what the seat to act may choose from, and return it as a set of slots."""
    view, actions, offered = state["view"], scratch["moves"], 0
    width = integer(scratch["parameters"][WIDTH])
    n = list_candidates(view, actions, advise(view, ALL_ADVICE, stream), width)
    for k in range(n):
        slot = _slot_of(memory, node, actions[k])
        if slot >= 0:
            offered |= 1 << slot
    return offered


@inlined
def _all_offered(memory: NDArray[np.uint64], node: int) -> int:
    offered = 0
    for slot in range(_WIDTH):
        if memory[node + _ACTION + slot]:
            offered |= 1 << slot
    return offered


@kernel
def _mean(memory: NDArray[np.uint64], node: int, slot: int) -> float:
    return integer(memory[node + _SUM + slot]) / _MILLION / integer(memory[node + _TAKEN + slot])


@kernel
def _mean_of_all(memory: NDArray[np.uint64], node: int) -> float:
    total, taken = 0, 0
    for slot in range(_WIDTH):
        total += integer(memory[node + _SUM + slot])
        taken += integer(memory[node + _TAKEN + slot])
    return total / _MILLION / taken if taken > 0 else 0.0


@kernel
def _select(memory: NDArray[np.uint64], node: int, offered: int, explore: float) -> int:
    """Return the slot with the highest upper confidence bound; what was never tried has the mean of the node."""
    best, choice, untried = -1e300, 0, _mean_of_all(memory, node)
    for slot in range(_WIDTH):
        if (offered >> slot) & 1:
            memory[node + _THERE + slot] = add(memory[node + _THERE + slot], U1)
            taken = integer(memory[node + _TAKEN + slot])
            mean = _mean(memory, node, slot) if taken > 0 else untried
            bound = mean + explore * math.sqrt(math.log(1 + integer(memory[node + _THERE + slot])) / (1 + taken))
            if bound > best:
                best, choice = bound, slot
    return choice


@kernel
def _walk(state: State, seat: int, explore: float, scratch: Scratch, chance: Stream) -> None:
    """Walk down the tree to a new node, play out from there, and add what came of it to all nodes passed."""
    memory, backup = scratch["memory"], integer(scratch["parameters"][BACKUP])
    places, movers = np.empty(_DEEPEST, np.int64), np.empty(_DEEPEST, np.int64)
    depth, is_in_tree = 0, True
    while state["view"]["phase"] < Phase.COL_OVER and is_in_tree and depth < _DEEPEST:
        mover = integer(state["view"]["turn"])
        if mover != seat and scratch["parameters"][RIVALS] != TREE:
            step(state, advise(state["view"], ALL_ADVICE, chance), chance)
            continue
        key = _key_of(state["view"], state["hands"][seat], seat)
        node = _find(memory, key)
        if memory[node + _KEY] == U0:
            if scratch["used"] >= _NODES - 1:
                break
            memory[node + _KEY] = key
            scratch["used"] += 1
            offered = _offer(memory, node, state, scratch, chance)
            is_in_tree = offered & (offered - 1) == 0
        else:
            offered = _all_offered(memory, node)
            if mover != seat:
                offered = _offer(memory, node, state, scratch, chance)
            if offered == 0:  # the node is full of what other hands could do
                break
        slot = _select(memory, node, offered, explore)
        places[depth], movers[depth] = node + slot, mover
        depth += 1
        step(state, memory[node + _ACTION + slot], chance)
    play_out(state, scratch, chance)
    for i in range(depth):
        value = np.uint64(np.int64(worth(state, movers[i], backup) * _MILLION))
        memory[places[i] + _TAKEN] = add(memory[places[i] + _TAKEN], U1)
        memory[places[i] + _SUM] = add(memory[places[i] + _SUM], value)


@kernel
def _most_taken(memory: NDArray[np.uint64], node: int) -> tuple[np.uint64, int]:
    """Return the action of a node that was taken most often, and how much more often than any other."""
    best, second = 0, -1
    for slot in range(1, _WIDTH):
        if memory[node + _TAKEN + slot] > memory[node + _TAKEN + best]:
            best, second = slot, best
        elif second < 0 or memory[node + _TAKEN + slot] > memory[node + _TAKEN + second]:
            second = slot
    lead = integer(memory[node + _TAKEN + best]) - integer(memory[node + _TAKEN + second])
    return memory[node + _ACTION + best], lead


@compiled_bot(
    "ismcts", "Information Set Monte Carlo tree search in likely hands, with a tree that is kept", _PARAMETERS
)
def ismcts(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    """Choose the exact move where it is known, or else the one that the search takes most often."""
    parameters, seat = scratch["parameters"], integer(view["seat"])
    advised = advise(view, ALL_ADVICE, stream)
    if parameters[ENDINGS]:
        move = exact_ending(view, advised, scratch, stream)
        if move:
            return move
    if list_candidates(view, scratch["moves"], advised, integer(parameters[WIDTH])) == 1:
        return advised
    _make_room(scratch)
    memory, root = scratch["memory"], _key_of(view, view["hand"], seat)
    steps, explore = integer(parameters[WEIGH]), parameters[EXPLORE] * most_worth(view, integer(parameters[BACKUP]))
    states, chances, beliefs = np.empty(2, STATE), np.empty(1, STREAM), np.empty(1, BELIEF)
    believe(beliefs[0], view, steps, stream)
    deadline, left = deadline_of(scratch), integer(parameters[N])
    while True:
        imagine(states[0], beliefs[0], view, steps, stream)
        for _ in range(_WALKS_A_HAND if deadline else min(left, _WALKS_A_HAND)):
            states[1] = states[0]
            chances[0]["state"] = next_word(stream)
            chances[0]["gamma"] = stream["gamma"]
            _walk(states[1], seat, explore, scratch, chances[0])
        left -= _WALKS_A_HAND
        move, lead = _most_taken(memory, _find(memory, root))
        if monotonic_ns() >= deadline if deadline else lead > left:
            return move
