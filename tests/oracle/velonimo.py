"""A slow, obvious referee of Velonimo, written from the rule text alone (rule ids V1 ... V28).

It shares no code with the fast engine and serves as its test twin. Everything is plain Python: cards are strings
such as ``R7`` or ``H25``, hands are sets, a move is a text. Speed is no aim; each rule is one short function.

Move texts: cards in ASCII order joined by spaces (``R2 R3 R7``), with `` +jersey`` appended if the Jersey is added;
``pass``; ``swap 2`` (the opponent to take from); ``decline``; ``give B4 H25``; ``lead 3``; ``keep``; ``force``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Any

TEAMS = "BNAGPRY"  # V2: blue, brown, gray, green, pink, red, yellow
NUMBERS = "1234567"
HARES = ("H25", "H30", "H35", "H40", "H45", "H50")
DECK: tuple[str, ...] = tuple(team + number for team in TEAMS for number in NUMBERS) + HARES  # V1, without the Jersey
TORTOISE = "1"  # V3
DROMEDARY = "2"  # V3
JERSEY = " +jersey"

# Which kinds of move a phase knows, and the rule that is broken by any other move or by moving out of turn.
PHASE_KINDS: dict[str, tuple[str, ...]] = {
    "lead": ("play", "pass"),
    "follow": ("play", "pass"),
    "swap": ("swap", "decline"),
    "give": ("give",),
    "next_leader": ("lead",),
    "reward": ("keep", "force"),
    "col_over": (),
    "game_over": (),
}
PHASE_RULE = {
    "lead": "V10",
    "follow": "V10",
    "swap": "V20",
    "give": "V20",
    "next_leader": "V13",
    "reward": "V26",
    "col_over": "V15",
    "game_over": "V19",
}
OPTION_VALUES = {
    "tortoise_swap": ("mandatory", "optional", "off"),
    "dromedary_last_card": ("draws", "exempt"),
    "starter_tie": ("least_points", "table_order"),
    "jersey_tie": ("most_points", "col_winner"),
}


def default_rules(players: int) -> dict[str, Any]:
    """Give the official rule options for this number of players, as a new dict."""
    return {
        "col_values": (1, 2, 3, 4, 5),  # V17
        "tortoise_swap": "mandatory",  # V20
        "dromedary_last_card": "draws",  # V24
        "duel_target": 8,  # V27, read in the duel only
        "starter_tie": "least_points",  # V5
        "jersey_tie": "most_points",  # V18
        "jersey_bonus": 0 if players == 2 else 10,  # V9
        "hand_size": 11,  # V4, a matter of the dealer: `Oracle.deal` is handed the hands
    }


def check_rules(rules: dict[str, Any], players: int) -> None:
    """Raise ValueError for an unknown option or an unknown value of one."""
    unknown = set(rules) - set(default_rules(players))
    if unknown:
        raise ValueError(f"unknown options: {sorted(unknown)}")
    for option, values in OPTION_VALUES.items():
        if rules[option] not in values:
            raise ValueError(f"{option} must be one of {values}, not {rules[option]!r}")
    if not 1 <= len(rules["col_values"]) <= 10 or min(rules["col_values"]) < 1:
        raise ValueError("col_values must be 1 to 10 positive integers")
    if not 1 <= rules["hand_size"] <= len(DECK) // players:
        raise ValueError("hand_size must be a size that the deck allows")
    if rules["jersey_bonus"] < 0 or (rules["duel_target"] is not None and rules["duel_target"] < 1):
        raise ValueError("jersey_bonus must be >= 0 and duel_target positive or None")


def shape_fault(cards: Sequence[str]) -> str | None:
    """Name the rule because of which these cards are no play at all, or None if they are one (V1, V6, V7, V8)."""
    if len(cards) == 0:
        return "V6"
    if len(set(cards)) != len(cards) or any(card not in DECK for card in cards):
        return "V1"
    if len(cards) == 1:
        return None
    if any(card in HARES for card in cards):
        return "V8"
    one_colour = len({card[0] for card in cards}) == 1
    one_number = len({card[1] for card in cards}) == 1
    return None if one_colour or one_number else "V7"


def value_of(cards: Sequence[str]) -> int | None:
    """Value a play without the Jersey (V6, V7, V8); None when the cards form no legal play."""
    if shape_fault(cards) is not None:
        return None
    numbers = [int(card[1:]) for card in cards]
    return numbers[0] if len(cards) == 1 else 10 * len(cards) + min(numbers)


def count_number(cards: Iterable[str], number: str) -> int:
    """Count the riders of one number; hares have no such number (V3)."""
    return sum(card not in HARES and card[1] == number for card in cards)


def play_text(cards: Iterable[str]) -> str:
    """Write a set of cards in the canonical way: ASCII order, one space between."""
    return " ".join(sorted(cards))


def kind_of(move: str) -> str:
    """Tell the kind of a move text by its first word; what is no other kind is a play of cards."""
    first = move.split(" ", maxsplit=1)[0]
    return first if first in ("pass", "swap", "decline", "give", "lead", "keep", "force") else "play"


def split_play(move: str) -> tuple[list[str], bool]:
    """Read a play: its cards as written, and whether the Jersey is added."""
    return move.removesuffix(JERSEY).split(), move.endswith(JERSEY)


def play_groups(hand: set[str]) -> Iterator[list[str]]:
    """Yield the groups of a hand inside which every play lies: each colour, each number, each hare (V6, V7, V8)."""
    for team in TEAMS:
        yield [card for card in hand if card[0] == team]
    for number in NUMBERS:
        yield [card for card in hand if card not in HARES and card[1] == number]
    for hare in HARES:
        yield [card for card in hand if card == hare]


def play_texts(hand: set[str]) -> set[str]:
    """List every play that a hand contains, whatever the value to beat, with and without the Jersey."""
    texts = set()
    for group in play_groups(hand):
        for size in range(1, len(group) + 1):
            for cards in combinations(group, size):
                texts.add(play_text(cards))
                texts.add(play_text(cards) + JERSEY)
    return texts


class Oracle:
    """One game of Velonimo, refereed step by step; the attributes are public and meant to be read only."""

    def __init__(self, players: int, rules: dict[str, Any] | None = None, starter: int = 0) -> None:
        if not 2 <= players <= 5 or not 0 <= starter < players:
            raise ValueError("2 to 5 players, and the starter is one of their seats")
        self.rules: dict[str, Any] = {**default_rules(players), **(rules or {})}
        check_rules(self.rules, players)
        self.players = players
        self.phase = "col_over"
        self.turn: int | None = None
        self.col = 0
        self.starter = starter  # V5
        self.totals = [0] * players
        self.jersey: int | None = None  # V18: nobody in col 1
        self._clear_col()

    # ---- the deal ----

    def _clear_col(self) -> None:
        """Put everything that belongs to one col back to its beginning."""
        self.hands: list[set[str]] = [set() for _ in self._seats()]
        self.pile: list[str] = []
        self.reward: str | None = None
        self.played: set[str] = set()
        self.racing: set[int] = set(self._seats())
        self.points = [0] * self.players
        self.out_order: list[int] = []
        self.jersey_spent = False  # V18: usable again in the next col
        # Always empty for holder == viewer: one's own hand is in `hands`.
        self.known: list[dict[int, set[str]]] = [{holder: set() for holder in self._seats()} for _ in self._seats()]
        self._clear_centre()
        self._clear_swap()

    def _clear_centre(self) -> None:
        """Discard the centre: nothing to beat, nobody has passed (V12)."""
        self.beat = 0
        self.author: int | None = None
        self.passed: set[int] = set()  # those who passed in this attack and have not played since

    def _clear_swap(self) -> None:
        self.swap_count = 0
        self.swap_victim: int | None = None

    def deal(self, hands: list[list[str]], pile: list[str]) -> None:
        """Start the next col with these hands (V4) and, in the duel, this pile: the reward, then draw order (V23).

        Hands of any size but zero are accepted, so that a test may set up a position; ``hand_size`` binds the dealer.
        """
        if self.phase != "col_over":
            raise ValueError(f"no deal in phase {self.phase}")
        cards = [card for hand in hands for card in hand] + list(pile)
        if len(hands) != self.players or not all(hands):
            raise ValueError("one hand for each player, none of them empty (V4)")
        if len(set(cards)) != len(cards) or not set(cards) <= set(DECK):
            raise ValueError("every card is one of the deck and is dealt once (V1, V4)")
        if pile and self.players != 2:
            raise ValueError("only the duel has a pile (V23)")
        self._clear_col()
        self.col += 1
        self.hands = [set(hand) for hand in hands]
        self.pile = list(pile)
        self._turn_up_reward()
        self.phase, self.turn = "lead", self.starter

    def _turn_up_reward(self) -> None:
        """Turn the next card of the pile face up, if there is one (V23, V26)."""
        self.reward = self.pile.pop(0) if self.pile else None

    # ---- what is legal ----

    def legal_moves(self) -> list[str]:
        """List every legal move of the seat to act, sorted: all candidates of the phase that are not refused."""
        if self.turn is None:
            return []
        seat = self.turn
        return sorted(move for move in self._candidates(seat) if self.refusal(seat, move) is None)

    def _candidates(self, seat: int) -> set[str]:
        """List move texts among which all legal ones of this phase are."""
        if self.phase in ("lead", "follow"):
            return play_texts(self.hands[seat]) | {"pass"}
        if self.phase == "swap":
            return {f"swap {other}" for other in self._seats()} | {"decline"}
        if self.phase == "give":
            return {"give " + play_text(cards) for cards in combinations(self.hands[seat], self.swap_count)}
        if self.phase == "next_leader":
            return {f"lead {other}" for other in self._seats()}
        return {"keep", "force"}

    def refusal(self, seat: int, move: str) -> str | None:
        """Name the rule that this move of this seat would break now, or None when it is legal.

        A move out of turn or of a kind foreign to the phase breaks the rule of the phase (`PHASE_RULE`).
        A move that is not written in the canonical way is refused under V2.
        """
        kind = kind_of(move)
        if self.turn is None or seat != self.turn or kind not in PHASE_KINDS[self.phase]:
            return PHASE_RULE[self.phase]
        if kind == "play":
            return self._refuse_play(seat, move)
        if kind == "swap":
            return self._refuse_swap(seat, move)
        if kind == "give":
            return self._refuse_give(seat, move)
        if kind == "lead":
            return self._refuse_next_leader(move)
        return self._refuse_word(kind, move)

    def _refuse_word(self, kind: str, move: str) -> str | None:
        """Judge a move of one word: the leader may not pass (V10), declining needs its option (V20)."""
        if move != kind:
            return "V2"
        if kind == "pass" and self.phase == "lead":
            return "V10"
        if kind == "decline" and self.rules["tortoise_swap"] != "optional":
            return "V20"
        return None

    def _refuse_play(self, seat: int, move: str) -> str | None:
        """Judge a play: its writing (V2), its shape (V1, V6-V8), the hand (V4), the Jersey (V9), its value (V10)."""
        cards, with_jersey = split_play(move)
        if move != play_text(cards) + JERSEY * with_jersey:
            return "V2"
        fault = shape_fault(cards)
        if fault is not None:
            return fault
        if not set(cards) <= self.hands[seat]:
            return "V4"
        if with_jersey and not self._may_add_jersey(seat, cards):
            return "V9"
        if self._value(cards, with_jersey) <= self.beat:
            return "V10"
        return None

    def _may_add_jersey(self, seat: int, cards: Sequence[str]) -> bool:
        """Say whether this seat may add the Jersey to these cards: once per col, never to a hare (V9)."""
        no_hare = not any(card in HARES for card in cards)
        return self.rules["jersey_bonus"] > 0 and self.jersey == seat and not self.jersey_spent and no_hare

    def _value(self, cards: Sequence[str], with_jersey: bool) -> int:
        """Value a well-formed play with its Jersey (V6, V7, V9)."""
        value = value_of(cards)
        assert value is not None
        bonus: int = self.rules["jersey_bonus"] if with_jersey else 0
        return value + bonus

    def _refuse_swap(self, seat: int, move: str) -> str | None:
        """Judge the choice of the victim: an opponent who still has cards (V20)."""
        victims = [other for other in self.racing if other != seat and self.hands[other]]
        return None if move in [f"swap {victim}" for victim in victims] else "V20"

    def _refuse_give(self, seat: int, move: str) -> str | None:
        """Judge what is given back: as many cards as were taken, from the whole hand (V20)."""
        cards = move.split()[1:]
        if move != " ".join(["give", *sorted(cards)]):
            return "V2"
        if len(set(cards)) != len(cards):
            return "V1"
        if not set(cards) <= self.hands[seat]:
            return "V4"
        return None if len(cards) == self.swap_count else "V20"

    def _refuse_next_leader(self, move: str) -> str | None:
        """Judge whom the author who went out names: a player still racing (V13)."""
        return None if move in [f"lead {seat}" for seat in self.racing] else "V13"

    # ---- what a move does ----

    def play(self, move: str, taken: Sequence[str] | None = None) -> None:
        """Carry out a legal move of the seat to act; ValueError, and nothing changed, if it is not legal.

        ``taken`` is the chance outcome of a ``swap N`` move: the cards that leave the victim's hand (V20).
        """
        if self.turn is None:
            raise ValueError(f"nobody is to act in phase {self.phase}")
        seat, kind = self.turn, kind_of(move)
        broken = self.refusal(seat, move)
        if broken is not None:
            raise ValueError(f"{move!r} of seat {seat} breaks {broken}")
        self._check_taken(kind, move, taken or ())
        if kind == "play":
            self._do_play(seat, *split_play(move))
        elif kind == "pass":
            self._do_pass(seat)
        elif kind == "swap":
            self._do_take(seat, int(move.split()[1]), set(taken or ()))
        elif kind == "give":
            self._do_give(seat, set(move.split()[1:]))
        elif kind == "decline":
            self._end_swap(seat)
        elif kind == "lead":
            self.phase, self.turn = "lead", int(move.split()[1])  # V13
        else:
            self._do_reward(seat, seat if kind == "keep" else self._opponent(seat))

    def _check_taken(self, kind: str, move: str, taken: Sequence[str]) -> None:
        """Check the chance outcome of a swap: at most as many cards as the victim holds, from that hand (V20)."""
        if kind != "swap":
            if taken:
                raise ValueError("only a swap takes cards")
            return
        hand = self.hands[int(move.split()[1])]
        if len(taken) != min(self.swap_count, len(hand)) or len(set(taken)) != len(taken) or not set(taken) <= hand:
            raise ValueError(f"{list(taken)} is not {self.swap_count} cards, or all, of the hand {sorted(hand)}")

    def _do_play(self, seat: int, cards: list[str], with_jersey: bool) -> None:
        """Lay the cards down, then the effects in order: draw, going out, swap (V25)."""
        self.beat, self.author = self._value(cards, with_jersey), seat
        self.passed.discard(seat)
        self.jersey_spent = self.jersey_spent or with_jersey
        self.hands[seat] -= set(cards)
        self.played |= set(cards)
        for viewer in self._seats():
            self.known[viewer][seat] -= set(cards)
        self._draw_for_dromedaries(seat, cards)
        tortoises = count_number(cards, TORTOISE)
        if not self.hands[seat]:
            self._go_out(seat)  # V21: and no swap
        elif tortoises > 0 and self.rules["tortoise_swap"] != "off":
            self.phase, self.swap_count = "swap", tortoises  # V20
        else:
            self._next_turn(seat)

    def _draw_for_dromedaries(self, seat: int, cards: list[str]) -> None:
        """Draw one card for every Dromedary played, as far as the pile lasts; only the duel has a pile (V24)."""
        if not self.hands[seat] and self.rules["dromedary_last_card"] == "exempt":
            return
        for _ in range(count_number(cards, DROMEDARY)):
            if self.pile:
                self.hands[seat].add(self.pile.pop(0))

    def _go_out(self, seat: int) -> None:
        """Score col value x opponents still racing (V14); the col ends when one player is left (V15)."""
        self.racing.remove(seat)
        self.out_order.append(seat)
        self.points[seat] = self.rules["col_values"][self.col - 1] * len(self.racing)
        if len(self.racing) == 1:
            self._end_col()
        else:
            self._next_turn(seat)

    def _do_pass(self, seat: int) -> None:
        """Pass, which binds nobody (V11)."""
        self.passed.add(seat)
        self._next_turn(seat)

    def _next_turn(self, seat: int) -> None:
        """Go clockwise to the next player still racing (V10), or end the attack at the author's seat (V12)."""
        seat = (seat + 1) % self.players
        while seat not in self.racing and seat != self.author:
            seat = (seat + 1) % self.players
        if seat == self.author:
            self._end_attack(seat)
        else:
            self.phase, self.turn = "follow", seat

    def _end_attack(self, author: int) -> None:
        """Discard the centre; the author names the next leader if he is out (V13), or leads himself (V12, V26)."""
        self._clear_centre()
        self.turn = author
        if author not in self.racing:
            self.phase = "next_leader"
        elif self.reward is not None:
            self.phase = "reward"
        else:
            self.phase = "lead"

    def _do_reward(self, seat: int, receiver: int) -> None:
        """Hand the reward over in sight of both, turn the next one up; the winner of the attack leads (V26)."""
        assert self.reward is not None
        self.hands[receiver].add(self.reward)
        self.known[self._opponent(receiver)][receiver].add(self.reward)
        self._turn_up_reward()
        self.phase, self.turn = "lead", seat

    def _do_take(self, seat: int, victim: int, taken: set[str]) -> None:
        """Take the random cards (V20); both see them, the others lose sight of both hands (V22)."""
        self.hands[victim] -= taken
        self.hands[seat] |= taken
        self.known[seat][victim] -= taken
        self.known[victim][seat] |= taken
        for viewer in self._seats():
            if viewer not in (seat, victim):
                self.known[viewer][seat].clear()
                self.known[viewer][victim].clear()
        self.phase, self.swap_count, self.swap_victim = "give", len(taken), victim

    def _do_give(self, seat: int, given: set[str]) -> None:
        """Give as many cards back (V20); both see them (V22)."""
        victim = self.swap_victim
        assert victim is not None
        self.hands[seat] -= given
        self.hands[victim] |= given
        self.known[victim][seat] -= given
        self.known[seat][victim] |= given
        self._end_swap(seat)

    def _end_swap(self, seat: int) -> None:
        """Go on with the attack after a swap was carried out or declined."""
        self._clear_swap()
        self._next_turn(seat)

    # ---- the end of a col and of the game ----

    def _end_col(self) -> None:
        """Close the col: the last one scores 0 (V15), then totals, Jersey, next starter, end of the game."""
        self.out_order.extend(self.racing)
        self.totals = [total + points for total, points in zip(self.totals, self.points, strict=True)]
        self.jersey = self._next_jersey()
        self.turn = None
        self.phase = "game_over" if self._is_last_col() else "col_over"
        if self.phase == "col_over":
            self.starter = self._next_starter()

    def _is_last_col(self) -> bool:
        """Say whether the game ends with this col: the last one (V19), or the target of the duel is reached (V27)."""
        target = self.rules["duel_target"]
        target_reached = self.players == 2 and target is not None and max(self.totals) >= target
        return target_reached or self.col == len(self.rules["col_values"])

    def _next_jersey(self) -> int | None:
        """Find the wearer in the next col: the highest total, a tie as `jersey_tie` says (V18)."""
        tied = [seat for seat in self._seats() if self.totals[seat] == max(self.totals)]
        if len(tied) == 1:
            return tied[0]
        if self.rules["jersey_tie"] == "most_points":
            return max(tied, key=lambda seat: self.points[seat])
        col_winner = self.out_order[0]
        return col_winner if col_winner in tied else None

    def _next_starter(self) -> int:
        """Find who starts the next col: the lowest total, a tie as `starter_tie` says (V5)."""
        tied = [seat for seat in self._seats() if self.totals[seat] == min(self.totals)]
        if self.rules["starter_tie"] == "least_points":
            return min(tied, key=lambda seat: self.points[seat])
        return min(tied)

    def ranking(self) -> list[int]:
        """Rank the seats, best first: totals, ties by the points of the last col (V19)."""
        return sorted(self._seats(), key=lambda seat: (-self.totals[seat], -self.points[seat]))

    def winner(self) -> int | None:
        """Name the winner at the end of the game, None before (V19, V27)."""
        return self.ranking()[0] if self.phase == "game_over" else None

    # ---- who sees what ----

    def view(self, seat: int) -> dict[str, Any]:
        """Show what this seat may know: its hand, what is public (V28), cards known to be in other hands (V22)."""
        return {
            "seat": seat,
            "hand": set(self.hands[seat]),
            "known": {holder: set(cards) for holder, cards in self.known[seat].items()},
            "players": self.players,
            "rules": dict(self.rules),
            "phase": self.phase,
            "turn": self.turn,
            "col": self.col,
            "starter": self.starter,
            "beat": self.beat,
            "author": self.author,
            "passed": set(self.passed),
            "racing": set(self.racing),
            "out_order": list(self.out_order),
            "hand_sizes": [len(hand) for hand in self.hands],
            "played": set(self.played),
            "reward": self.reward,
            "pile_size": len(self.pile),
            "points": list(self.points),
            "totals": list(self.totals),
            "jersey": self.jersey,
            "jersey_spent": self.jersey_spent,
            "swap_count": self.swap_count,
            "swap_victim": self.swap_victim,
        }

    # ---- seats ----

    def _seats(self) -> range:
        return range(self.players)

    def _opponent(self, seat: int) -> int:
        """Name the other player of a duel."""
        return 1 - seat
