"""Full states that are consistent with a view: what a search imagines the hidden cards to be."""

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import kernel
from velonimo_sim.bits import U0, bit, integer, lowest_index, popcount, without_lowest
from velonimo_sim.errors import UsageError
from velonimo_sim.rng import Stream, below
from velonimo_sim.velonimo.cards import DECK
from velonimo_sim.velonimo.rules import MAX_PLAYERS
from velonimo_sim.velonimo.state import STATE, State, show_turn
from velonimo_sim.velonimo.view import NOBODY, View


@kernel
def unseen_cards(view: View) -> np.uint64:
    """Return the cards of which the player does not know where they are."""
    seen: np.uint64 = view["hand"] | view["played"] | view["reward"]
    for holder in range(MAX_PLAYERS):
        seen |= view["known"][holder]
    return DECK & ~seen


@kernel
def determinize_into(state: State, view: View, stream: Stream) -> None:
    """Fill ``state`` with hidden cards drawn uniformly from all deals that the view leaves possible.

    Each other hand keeps the cards known to be in it and is filled up to its size; in the duel the pile gets what is
    left, in random order. What others know of each other is unknown to the player and left empty.
    """
    positions = np.empty(64, np.uint8)
    rest = unseen_cards(view)
    n = 0
    while rest != U0:
        positions[n] = lowest_index(rest)
        rest = without_lowest(rest)
        n += 1
    state["view"] = view
    drawn = 0
    for seat in range(MAX_PLAYERS):
        state["hands"][seat] = view["known"][seat]
        for viewer in range(MAX_PLAYERS):
            state["known"][viewer, seat] = U0
        if seat == view["seat"]:
            state["hands"][seat] = view["hand"]
        else:
            missing = integer(view["sizes"][seat]) - popcount(view["known"][seat])
            state["hands"][seat] |= _draw(positions, n, drawn, missing, stream)
            drawn += missing
        state["known"][view["seat"], seat] = view["known"][seat]
    for i in range(len(state["pile"])):
        state["pile"][i] = 0
    size = integer(view["pile_size"])
    _draw(positions, n, drawn, size, stream)
    for i in range(size):
        state["pile"][i] = positions[drawn + i]
    show_turn(state)


@kernel
def _draw(positions: NDArray[np.uint8], n: int, drawn: int, count: int, stream: Stream) -> np.uint64:
    """Shuffle ``count`` more of the ``n`` positions to the place ``drawn``, and return them as cards."""
    cards = U0
    for i in range(drawn, drawn + count):
        j = i + below(stream, n - i)
        positions[i], positions[j] = positions[j], positions[i]
        cards |= bit(integer(positions[i]))
    return cards


def determinize(view: View, stream: Stream) -> State:
    """Return a full state drawn uniformly from all that are consistent with a view.

    Parameters
    ----------
    view : numpy.void
        The view of any seat, to act or not.
    stream : numpy.void
        Random stream, advanced by the call.

    Returns
    -------
    numpy.void
        A state whose view for that seat is the one given.

    Raises
    ------
    UsageError
        If the view belongs to nobody: it is that of a state between two cols.
    """
    if view["seat"] == NOBODY:
        raise UsageError("a view of no seat holds no hand to start from: take view_of(state, seat)")
    state: State = np.zeros(1, STATE)[0]
    determinize_into(state, view, stream)
    return state
