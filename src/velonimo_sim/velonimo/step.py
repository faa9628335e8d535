"""What a move does to a state, one short kernel per rule.

``step`` does not ask whether the move is legal: that is for loops that have asked already. ``apply`` always asks, and
leaves the state unchanged when the answer is no.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import inlined, kernel
from velonimo_sim.bits import U0, bit, integer, lowest_index, nth, popcount
from velonimo_sim.errors import IllegalMoveError, UsageError, is_integer_in
from velonimo_sim.rng import Stream, below, new_stream
from velonimo_sim.velonimo.cards import DECK_POSITIONS, DECK_SIZE, DROMEDARIES, TORTOISES, card_texts, parse_cards
from velonimo_sim.velonimo.legal import PHASE_RULES, REASONS, Refusal, refusal
from velonimo_sim.velonimo.moves import JERSEY, Kind, cards_of, kind_of, logged, move_of, move_text, seat_of, value_of
from velonimo_sim.velonimo.rules import (
    JERSEY_COL_WINNER,
    LAST_CARD_EXEMPT,
    STARTER_LEAST_POINTS,
    SWAP_OFF,
)
from velonimo_sim.velonimo.state import State, show_turn
from velonimo_sim.velonimo.view import MAX_LOGGED, NOBODY, Phase, View


@kernel
def deal_col(state: State, stream: Stream) -> None:
    """Shuffle the deck and deal the next col (V4, V23): seat after seat gets its hand, the rest is the duel's pile."""
    deck = DECK_POSITIONS.copy()
    players, hand_size = integer(state["view"]["players"]), integer(state["view"]["rules"]["hand_size"])
    dealt = players * hand_size
    for i in range(DECK_SIZE - 1 if players == 2 else dealt):
        j = i + below(stream, DECK_SIZE - i)
        deck[i], deck[j] = deck[j], deck[i]
    exchange_cards(
        deck, integer(state["view"]["rules"]["exchanged"][0]), integer(state["view"]["rules"]["exchanged"][1])
    )
    for seat in range(players):
        hand = U0
        for i in range(seat * hand_size, (seat + 1) * hand_size):
            hand |= bit(deck[i])
        state["hands"][seat] = hand
    size = DECK_SIZE - dealt if players == 2 else 0
    for i in range(size):
        state["pile"][size - 1 - i] = deck[dealt + i]
    state["view"]["pile_size"] = size
    begin_col(state)


@kernel
def exchange_cards(deck: NDArray[np.uint8], first: int, second: int) -> None:
    """Put two cards, given by their bit positions, into each other's place; twice the same card changes nothing."""
    if first != second:
        for i in range(DECK_SIZE):
            if deck[i] == first:
                deck[i] = second
            elif deck[i] == second:
                deck[i] = first


@kernel
def begin_col(state: State) -> None:
    """Open a col whose hands and pile lie ready: the starter leads the first attack (V5)."""
    view = state["view"]
    players = integer(view["players"])
    for seat in range(players):
        view["sizes"][seat] = popcount(state["hands"][seat])
        view["points"][seat] = 0
        view["out_order"][seat] = 0
        for viewer in range(players):
            state["known"][viewer, seat] = U0
    view["col"] += 1
    view["played"] = U0
    for i in range(integer(view["logged"])):
        view["log"][i] = U0
    view["logged"] = 0
    view["racing"] = players
    view["jersey_spent"] = 0
    turn_up_reward(state)
    open_attack(view, integer(view["starter"]))
    show_turn(state)


@inlined
def open_attack(view: View, leader: int) -> None:
    """Let ``leader`` lead an attack (V10)."""
    clear_centre(view)
    view["phase"] = Phase.LEAD
    view["turn"] = leader


@inlined
def clear_centre(view: View) -> None:
    """Discard the centre: nothing to beat, nobody has passed (V12)."""
    view["beat"] = 0
    view["author"] = NOBODY
    for seat in range(integer(view["players"])):
        view["passed_on"][seat] = 0


@kernel
def turn_up_reward(state: State) -> None:
    """Turn the top card of the pile face up beside it, if there is one (V23, V26)."""
    state["view"]["reward"] = take_top_card(state) if state["view"]["pile_size"] > 0 else U0


@kernel
def take_top_card(state: State) -> np.uint64:
    """Remove and return the next card of a pile that has one."""
    top = integer(state["view"]["pile_size"]) - 1
    card = bit(integer(state["pile"][top]))
    state["pile"][top] = 0
    state["view"]["pile_size"] = top
    return card


@inlined
def log_move(view: View, move: np.uint64) -> None:
    """Add a move of the seat to act to the log of the col, as far as that has room (V28)."""
    n = integer(view["logged"])
    if n < MAX_LOGGED:
        view["log"][n] = logged(move, integer(view["turn"]))
        view["logged"] = n + 1


@inlined
def step(state: State, move: np.uint64, chance: Stream) -> None:
    """Make a move that is known to be legal; ``chance`` draws the cards of a swap."""
    kind = kind_of(move)
    view = state["view"]
    if kind != Kind.SWAP:
        log_move(view, move)
    if kind == Kind.PASS:
        view["passed_on"][view["turn"]] = view["beat"]
        pass_turn_on(view)
    elif kind == Kind.PLAY:
        play(state, move)
    elif kind == Kind.SWAP:
        take_from(state, seat_of(move), draw_from_hand(state, seat_of(move), chance))
    elif kind == Kind.DECLINE:
        view["swap_count"] = 0
        pass_turn_on(view)
    elif kind == Kind.GIVE:
        give_back(state, cards_of(move))
    elif kind == Kind.LEAD:
        open_attack(view, seat_of(move))
    else:
        award_reward(state, kind)
    show_turn(state)


@inlined
def play(state: State, move: np.uint64) -> None:
    """Put cards on the table and let their effects happen in the order of V25."""
    view = state["view"]
    seat, cards = integer(view["turn"]), cards_of(move)
    view["beat"] = value_of(cards)
    view["author"] = seat
    if move & JERSEY:
        view["beat"] += view["rules"]["jersey_bonus"]
        view["jersey_spent"] = 1
    lay_down(state, seat, cards)
    if view["players"] == 2:
        draw_for_dromedaries(state, seat, cards)
    tortoises = cards & TORTOISES
    if view["sizes"][seat] == 0:
        go_out(state, seat)
    elif tortoises and view["rules"]["tortoise_swap"] != SWAP_OFF:
        view["phase"] = Phase.SWAP
        view["swap_count"] = popcount(tortoises)
    else:
        pass_turn_on(view)


@inlined
def lay_down(state: State, seat: int, cards: np.uint64) -> None:
    """Move cards from a hand to the table, where everybody sees them."""
    view = state["view"]
    state["hands"][seat] &= ~cards
    view["played"] |= cards
    view["sizes"][seat] -= popcount(cards)
    for viewer in range(integer(view["players"])):
        state["known"][viewer, seat] &= ~cards


@kernel
def draw_for_dromedaries(state: State, seat: int, cards: np.uint64) -> None:
    """Draw one card for every Dromedary played, as far as the pile lasts (V24)."""
    view = state["view"]
    if view["sizes"][seat] == 0 and view["rules"]["dromedary_last_card"] == LAST_CARD_EXEMPT:
        return
    for _ in range(min(popcount(cards & DROMEDARIES), integer(view["pile_size"]))):
        state["hands"][seat] |= take_top_card(state)
        view["sizes"][seat] += 1


@inlined
def go_out(state: State, seat: int) -> None:
    """Score for a player whose hand is empty (V14); with one player left the col is over (V15)."""
    view = state["view"]
    players = integer(view["players"])
    racing = integer(view["racing"]) - 1
    view["racing"] = racing
    view["points"][seat] = col_value(view) * racing
    view["out_order"][seat] = players - racing
    if racing > 1:
        pass_turn_on(view)
        return
    for last in range(players):
        if view["out_order"][last] == 0:
            view["out_order"][last] = players
    end_col(view)


@kernel
def col_value(view: View) -> int:
    """Return the points per opponent in the col being played (V17)."""
    return integer(view["rules"]["col_values"][view["col"] - 1])


@inlined
def pass_turn_on(view: View) -> None:
    """Give the turn to the next player still racing, or end the attack when it comes back to its author (V12)."""
    seat = integer(view["turn"])
    while True:
        seat = seat + 1 if seat + 1 < view["players"] else 0
        if seat == view["author"]:
            end_attack(view, seat)
            return
        if view["sizes"][seat] > 0:
            view["turn"] = seat
            view["phase"] = Phase.FOLLOW
            return


@inlined
def end_attack(view: View, winner: int) -> None:
    """Discard the centre; the winner leads (V12), after the reward (V26), or names who leads if he is out (V13)."""
    open_attack(view, winner)
    if view["sizes"][winner] == 0:
        view["phase"] = Phase.NEXT_LEADER
    elif view["reward"]:
        view["phase"] = Phase.REWARD


@kernel
def draw_from_hand(state: State, victim: int, chance: Stream) -> np.uint64:
    """Draw the cards that the author takes: one per Tortoise, at most all that the victim holds (V20)."""
    hand = state["hands"][victim]
    drawn = U0
    for _ in range(min(integer(state["view"]["swap_count"]), popcount(hand))):
        drawn |= nth(hand & ~drawn, below(chance, popcount(hand & ~drawn)))
    return drawn


@kernel
def take_from(state: State, victim: int, cards: np.uint64) -> None:
    """Take cards from the victim's hand; the author has to give as many back (V20)."""
    view = state["view"]
    author = integer(view["turn"])
    log_move(view, move_of(Kind.SWAP, np.uint64(victim)))
    move_cards(state, victim, author, cards)
    for viewer in range(integer(view["players"])):
        # The others saw only how many cards moved: whatever they knew of these two hands may no longer be true (V22).
        if viewer != author and viewer != victim:
            state["known"][viewer, author] = U0
            state["known"][viewer, victim] = U0
    view["phase"] = Phase.GIVE
    view["swap_count"] = popcount(cards)
    view["swap_victim"] = victim


@kernel
def move_cards(state: State, giver: int, taker: int, cards: np.uint64) -> None:
    """Move cards from hand to hand; both players know them afterwards (V22)."""
    state["hands"][giver] &= ~cards
    state["hands"][taker] |= cards
    state["known"][taker, giver] &= ~cards
    state["known"][giver, taker] |= cards
    state["view"]["sizes"][giver] -= popcount(cards)
    state["view"]["sizes"][taker] += popcount(cards)


@kernel
def give_back(state: State, cards: np.uint64) -> None:
    """Hand cards back to the victim of the swap; the attack goes on (V20)."""
    view = state["view"]
    move_cards(state, integer(view["turn"]), integer(view["swap_victim"]), cards)
    view["swap_count"] = 0
    view["swap_victim"] = NOBODY
    pass_turn_on(view)


@kernel
def award_reward(state: State, kind: int) -> None:
    """Put the reward into a hand, which both players see, and turn up the next one (V26)."""
    view = state["view"]
    winner = integer(view["turn"])
    taker = winner if kind == Kind.KEEP else 1 - winner
    state["hands"][taker] |= view["reward"]
    state["known"][1 - taker, taker] |= view["reward"]
    view["sizes"][taker] += 1
    turn_up_reward(state)
    open_attack(view, winner)


@kernel
def end_col(view: View) -> None:
    """Add up the points and settle who wears the Jersey, who starts and whether the game is over (V16-V19, V27)."""
    for seat in range(integer(view["players"])):
        view["totals"][seat] += view["points"][seat]
    view["wearer"] = next_wearer(view)
    view["turn"] = NOBODY
    if is_last_col(view):
        view["phase"] = Phase.GAME_OVER
    else:
        view["phase"] = Phase.COL_OVER
        view["starter"] = next_starter(view)


@kernel
def is_ahead(view: View, a: int, b: int) -> bool:
    """Whether seat ``a`` ranks before seat ``b``: by total, then by the points of the last col (V19)."""
    if view["totals"][a] != view["totals"][b]:
        return bool(view["totals"][a] > view["totals"][b])
    return bool(view["points"][a] > view["points"][b])


@kernel
def next_wearer(view: View) -> int:
    """Return who wears the Jersey in the next col (V18)."""
    best = 0
    for seat in range(1, view["players"]):
        if is_ahead(view, seat, best):
            best = seat
    if view["rules"]["jersey_tie"] == JERSEY_COL_WINNER and view["out_order"][best] != 1:
        for seat in range(integer(view["players"])):
            if seat != best and view["totals"][seat] == view["totals"][best]:
                return NOBODY
    return best


@kernel
def next_starter(view: View) -> int:
    """Return who starts the next col (V5): the lowest total, a tie by fewest points or by table order."""
    last = 0
    for seat in range(1, view["players"]):
        if view["totals"][seat] < view["totals"][last] or (
            view["totals"][seat] == view["totals"][last]
            and view["rules"]["starter_tie"] == STARTER_LEAST_POINTS
            and view["points"][seat] < view["points"][last]
        ):
            last = seat
    return last


@kernel
def is_last_col(view: View) -> bool:
    """Whether the game ends with the col just finished (V19, V27)."""
    if view["col"] == view["rules"]["n_cols"]:
        return True
    target = integer(view["rules"]["duel_target"])
    return view["players"] == 2 and target > 0 and max(view["totals"][0], view["totals"][1]) >= target


@kernel
def place_of(view: View, seat: int) -> int:
    """Return the place of a seat by the totals, 1 = first; unique at the end of a col (V16, V19)."""
    place = 1
    for other in range(integer(view["players"])):
        if is_ahead(view, other, seat):
            place += 1
    return place


def lay_out_col(state: State, hands: Sequence[Sequence[str]], pile: Sequence[str] = ()) -> None:
    """Begin the next col with given cards instead of a shuffle, as a recorded game needs.

    Parameters
    ----------
    state : numpy.void
        A state in phase ``COL_OVER``.
    hands : sequence of sequences of str
        The cards of each seat.
    pile : sequence of str
        The duel's pile, the reward first, then in draw order.

    Raises
    ------
    UsageError
        If the state is within a col, or the cards are not a possible deal.
    """
    players = int(state["view"]["players"])
    if state["view"]["phase"] != Phase.COL_OVER:
        raise UsageError("a col is being played: it has to end before the next is dealt")
    if len(hands) != players:
        raise UsageError(f"hands {len(hands)}: allowed is {players}, one a seat")
    try:
        parse_cards([card for cards in (*hands, pile) for card in cards])
        words = [parse_cards(hand) for hand in hands]
        positions: NDArray[np.uint8] = np.array(
            [lowest_index(parse_cards([card])) for card in reversed(pile)], np.uint8
        )
    except ValueError as error:
        raise UsageError(f"deal: {error}") from None
    if players > 2 and len(positions):
        raise UsageError("only the duel has a pile")
    if not all(words):
        raise UsageError("deal: every hand needs a card")
    if len(positions) > len(state["pile"]):
        raise UsageError(f"pile {len(positions)}: allowed are at most {len(state['pile'])} cards")
    state["hands"][:players] = words
    state["pile"] = 0
    state["pile"][: len(positions)] = positions
    state["view"]["pile_size"] = len(positions)
    begin_col(state)


def deal(state: State, seed: int, index: int = 0) -> None:
    """Deal the next col of game ``index`` under a root seed; the same names deal the same cards everywhere.

    Raises
    ------
    UsageError
        If the state is within a col, or seed or index is out of range.
    """
    if state["view"]["phase"] != Phase.COL_OVER:
        raise UsageError("a col is being played: it has to end before the next is dealt")
    deal_col(state, new_stream(seed, index, int(state["view"]["col"])))


def apply(
    state: State, move: int | np.uint64, chance: Stream | None = None, taken: Sequence[str] | None = None
) -> None:
    """Make a move if it is legal.

    Parameters
    ----------
    state : numpy.void
        The state to change.
    move : int
        The move of the seat to act.
    chance : numpy.void, optional
        Stream that draws the cards of a ``swap``.
    taken : sequence of str, optional
        The cards that a ``swap`` takes, instead of drawing them.

    Raises
    ------
    IllegalMoveError
        If the rules refuse the move; the state is then unchanged.
    UsageError
        If a swap has neither a stream nor possible cards; the state is then unchanged.
    """
    if not is_integer_in(move, 0, 2**64 - 1):
        raise IllegalMoveError(f"{move!r} is no move: moves are words of 64 bits, see parse_move")
    word = np.uint64(move)
    why = Refusal(int(refusal(state["view"], word)))
    if why is not Refusal.NONE:
        rule, reason = REASONS[why]
        if why is Refusal.WRONG_PHASE:
            phase = Phase(int(state["view"]["phase"]))
            rule, reason = PHASE_RULES[phase], f"{reason}; the phase is {phase.name.lower()}"
        raise IllegalMoveError(f"{describe(word)}: {reason}", rule)
    if kind_of(word) == Kind.SWAP and taken is not None:
        take_from(state, int(seat_of(word)), _checked_taken(state, int(seat_of(word)), taken))
        show_turn(state)
    elif kind_of(word) == Kind.SWAP and chance is None:
        raise UsageError("a swap draws cards: give a chance stream or the cards taken")
    else:
        step(state, word, new_stream(0) if chance is None else chance)


def describe(move: np.uint64) -> str:
    """Return the text of a move, or its bits if it is none."""
    try:
        return repr(move_text(move)) if move else "a play of no card"
    except ValueError:
        return f"the word {int(move):#018x}"


def _checked_taken(state: State, victim: int, taken: Sequence[str]) -> np.uint64:
    hand = state["hands"][victim]
    try:
        cards = parse_cards(taken)
    except ValueError as error:
        raise UsageError(f"cards taken: {error}") from None
    count = min(int(state["view"]["swap_count"]), int(hand).bit_count())
    if cards & ~hand or int(cards).bit_count() != count:
        raise UsageError(f"cards taken {' '.join(taken)}: allowed are {count} of {' '.join(card_texts(hand))}")
    return cards
