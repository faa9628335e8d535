"""Random games, played by the engine and by the slow referee in lockstep: they agree on everything after each move."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import comb
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.velonimo import DECK, Oracle
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.errors import IllegalMoveError
from velonimo_sim.rng import CHANCE, new_stream
from velonimo_sim.velonimo.cards import card_texts
from velonimo_sim.velonimo.legal import MAX_PLAYS, is_legal, legal_moves
from velonimo_sim.velonimo.moves import move_text, parse_move
from velonimo_sim.velonimo.record import describe_result
from velonimo_sim.velonimo.rules import (
    DROMEDARY_LAST_CARD,
    JERSEY_TIE,
    MAX_COLS,
    STARTER_TIE,
    TORTOISE_SWAP,
    RuleSet,
)
from velonimo_sim.velonimo.state import State, clone, new_state, validate
from velonimo_sim.velonimo.step import apply, deal, place_of
from velonimo_sim.velonimo.view import NOBODY, Phase

pytestmark = pytest.mark.kernel

EXAMPLES = 250 if INTERPRETED else 300
MOST_GIFTS = 3_000
"""More ways to give cards back than this are counted, but not compared one by one."""
ATTEMPTS = 4
"""Moves, mostly illegal ones, that are tried at every decision before one is made."""
WORDS = ("pass", "decline", "keep", "force")


@dataclass(frozen=True)
class Setting:
    """Everything that a random game depends on."""

    players: int
    rules: RuleSet
    starter: int
    seed: int


@st.composite
def settings_of_games(draw: st.DrawFn) -> Setting:
    """Draw a table, any rule options and a seed."""
    players = draw(st.integers(2, 5))
    most = len(DECK) // players
    rules = RuleSet(
        col_values=tuple(draw(st.lists(st.integers(1, 6) | st.integers(1, 1_000_000), min_size=1, max_size=3))),
        tortoise_swap=draw(st.sampled_from(TORTOISE_SWAP)),
        dromedary_last_card=draw(st.sampled_from(DROMEDARY_LAST_CARD)),
        duel_target=draw(st.none() | st.integers(1, 15) | st.integers(1, 1_000_000)),
        starter_tie=draw(st.sampled_from(STARTER_TIE)),
        jersey_tie=draw(st.sampled_from(JERSEY_TIE)),
        jersey_bonus=draw(st.none() | st.integers(0, 40) | st.integers(0, 1_000_000)),
        hand_size=draw(st.just(11) | st.integers(1, most)),
    )
    return Setting(players, rules, draw(st.integers(0, players - 1)), draw(st.integers(0, (1 << 63) - 1)))


# ---- the same facts, read from both ----


def seat_or_none(seat: int) -> int | None:
    return None if seat == NOBODY else int(seat)


def names(cards: int) -> set[str]:
    return set(card_texts(cards))


def facts_of_engine(state: State) -> dict[str, Any]:
    view, players = state["view"], int(state["view"]["players"])
    ranks = view["out_order"][:players].tolist()
    return {
        "phase": Phase(int(view["phase"])).name.lower(),
        "turn": seat_or_none(view["turn"]),
        "col": int(view["col"]),
        "starter": int(view["starter"]),
        "hands": [names(hand) for hand in state["hands"][:players]],
        "sizes": view["sizes"][:players].tolist(),
        "pile": [card_texts(1 << int(place))[0] for place in reversed(state["pile"][: view["pile_size"]])],
        "reward": next(iter(card_texts(view["reward"])), None),
        "played": names(view["played"]),
        "beat": int(view["beat"]),
        "author": seat_or_none(view["author"]),
        "racing": int(view["racing"]),
        "points": view["points"][:players].tolist(),
        "out order": sorted((seat for seat in range(players) if ranks[seat]), key=lambda seat: ranks[seat]),
        "totals": view["totals"][:players].tolist(),
        "jersey": seat_or_none(view["wearer"]),
        "jersey spent": bool(view["jersey_spent"]),
        "swap count": int(view["swap_count"]),
        "swap victim": seat_or_none(view["swap_victim"]),
        "known": [[names(state["known"][viewer, holder]) for holder in range(players)] for viewer in range(players)],
        "winner": describe_result(state)["winner"],
    }


def facts_of_oracle(oracle: Oracle) -> dict[str, Any]:
    return {
        "phase": oracle.phase,
        "turn": oracle.turn,
        "col": oracle.col,
        "starter": oracle.starter,
        "hands": oracle.hands,
        "sizes": [len(hand) for hand in oracle.hands],
        "pile": oracle.pile,
        "reward": oracle.reward,
        "played": oracle.played,
        "beat": oracle.beat,
        "author": oracle.author,
        "racing": len(oracle.racing),
        "points": oracle.points,
        "out order": oracle.out_order,
        "totals": oracle.totals,
        "jersey": oracle.jersey,
        "jersey spent": oracle.jersey_spent,
        "swap count": oracle.swap_count,
        "swap victim": oracle.swap_victim,
        "known": [
            [oracle.known[viewer][holder] for holder in oracle.known[viewer]] for viewer in range(oracle.players)
        ],
        "winner": oracle.winner(),
    }


def engine_ranking(state: State) -> list[int]:
    """Return the seats by their places, each of which is taken once."""
    seats = range(int(state["view"]["players"]))
    places = {int(place_of(state["view"], seat)): seat for seat in seats}
    assert sorted(places) == [seat + 1 for seat in seats]
    return [places[place] for place in sorted(places)]


def engine_moves(state: State) -> tuple[int, list[str]]:
    """Return how many legal moves there are, and the texts of as many as are compared."""
    out = np.empty(max(MAX_PLAYS, MOST_GIFTS), np.uint64)
    count = int(legal_moves(state["view"], out))
    return count, [move_text(move) for move in out[: min(count, len(out))]]


# ---- a game in lockstep ----


@dataclass
class Lockstep:
    """One game in both referees."""

    state: State
    oracle: Oracle
    seed: int
    rng: Random
    passed_on: dict[int, int] = field(default_factory=dict)

    @classmethod
    def begin(cls, setting: Setting) -> "Lockstep":
        rules = setting.rules.in_force(setting.players)
        del rules["exchanged_cards"]  # the oracle is handed what was dealt
        return cls(
            new_state(setting.players, setting.rules, setting.starter),
            Oracle(setting.players, rules, setting.starter),
            setting.seed,
            Random(setting.seed),
        )

    def deal(self) -> None:
        """Let the engine deal, and hand the same cards to the oracle."""
        deal(self.state, self.seed)
        dealt = facts_of_engine(self.state)
        assert dealt["sizes"] == [self.oracle.rules["hand_size"]] * self.oracle.players
        left = 55 - sum(dealt["sizes"])
        reward = [dealt["reward"]] if dealt["reward"] else []
        assert len(reward + dealt["pile"]) == (left if self.oracle.players == 2 else 0)
        self.oracle.deal([sorted(hand) for hand in dealt["hands"]], reward + dealt["pile"])
        self.passed_on.clear()

    def compare(self) -> None:
        """Prove that both referees see the same facts."""
        assert facts_of_engine(self.state) == facts_of_oracle(self.oracle)
        passed_on = [self.passed_on.get(seat, 0) for seat in range(self.oracle.players)]
        assert self.state["view"]["passed_on"][: self.oracle.players].tolist() == passed_on
        assert validate(self.state) == []
        if self.oracle.turn is None:
            assert engine_ranking(self.state) == self.oracle.ranking()

    def choose(self) -> str:
        """Prove that both referees allow the same moves, and return one of them."""
        oracle, (count, texts) = self.oracle, engine_moves(self.state)
        assert len(set(texts)) == len(texts)
        if oracle.phase == "give":
            hand = sorted(oracle.hands[self.turn])
            assert count == comb(len(hand), oracle.swap_count)
            if count > MOST_GIFTS:
                return "give " + " ".join(sorted(self.rng.sample(hand, oracle.swap_count)))
        assert sorted(texts) == oracle.legal_moves()
        assert texts
        return self.rng.choice(texts)

    @property
    def turn(self) -> int:
        assert self.oracle.turn is not None
        return self.oracle.turn

    def make(self, move: str, chance: np.void) -> None:
        """Make a move in both, and tell the oracle which cards the engine let the swap take."""
        seat, beat, before = self.turn, self.oracle.beat, clone(self.state)
        apply(self.state, parse_move(move), chance)
        taken = []
        if move.startswith("swap "):
            victim = int(move.split()[1])
            taken = card_texts(before["hands"][victim] & ~self.state["hands"][victim])
        self.oracle.play(move, taken)
        if move == "pass":
            self.passed_on[seat] = beat
        if self.oracle.author is None:
            self.passed_on.clear()

    def try_moves(self) -> int:
        """Try some moves at random; return how many of them both refused, without changing anything."""
        attempts = [attempt(self.rng, self.oracle) for _ in range(ATTEMPTS)]
        return sum(self._is_refused(move) for move in attempts)

    def _is_refused(self, move: str) -> bool:
        word = parse_move(move)
        rule = self.oracle.refusal(self.turn, move)
        assert is_legal(self.state["view"], word) == (rule is None), (move, rule)
        if rule is None:
            return False
        before = self.state.tobytes()
        with pytest.raises(IllegalMoveError):
            apply(self.state, word, new_stream(0))
        assert self.state.tobytes() == before
        with pytest.raises(ValueError, match=rule):
            self.oracle.play(move, self._possible_catch(move))
        return True

    def _possible_catch(self, move: str) -> list[str]:
        """Return cards that a refused swap might take, so that it is not refused because of them."""
        seat = int(move.split()[1]) if move.startswith("swap ") else self.oracle.players
        return sorted(self.oracle.hands[seat])[: self.oracle.swap_count] if seat < self.oracle.players else []


def attempt(rng: Random, oracle: Oracle) -> str:
    """Return a well-written move that is as likely as not illegal."""
    hand = sorted(oracle.hands[oracle.turn or 0])
    kind = rng.choice(["any cards", "own cards", "own cards", "alike", "gift", "seat", "word"])
    if kind == "word":
        return rng.choice(WORDS)
    if kind == "seat":
        return f"{rng.choice(['swap', 'lead'])} {rng.randrange(5)}"
    if kind == "gift":
        size = max(1, oracle.swap_count + rng.choice([-1, 0, 0, 1]))
        return "give " + " ".join(sorted(rng.sample(rng.choice([DECK, hand or DECK]), min(size, len(hand) or 1))))
    if kind == "alike" and hand:
        model = rng.choice(hand)
        cards = [card for card in hand if card[0] == model[0] or card[1:] == model[1:]]
        cards = rng.sample(cards, rng.randint(1, min(4, len(cards))))
    else:
        source = hand if kind == "own cards" and hand else DECK
        cards = rng.sample(source, rng.randint(1, min(3, len(source))))
    return " ".join(sorted(cards)) + rng.choice(["", " +jersey"])


def play_in_lockstep(setting: Setting) -> Counter[str]:
    """Play a whole game in both referees and compare them at every step; return what has happened how often."""
    game, chance = Lockstep.begin(setting), new_stream(setting.seed, 0, CHANCE)
    seen: Counter[str] = Counter()
    while game.oracle.phase != "game_over":
        if game.oracle.phase == "col_over":
            game.deal()
            game.compare()
        seen[game.oracle.phase] += 1
        move = game.choose()
        seen["refused"] += game.try_moves()
        seen["with jersey"] += move.endswith("+jersey")
        game.make(move, chance)
        game.compare()
    return seen


@settings(max_examples=EXAMPLES)
@given(settings_of_games())
def test_engine_and_oracle_agree(setting: Setting) -> None:
    play_in_lockstep(setting)


@pytest.mark.parametrize("players", [2, 3, 4, 5])
@pytest.mark.parametrize("preset", ["official", "bga"])
def test_engine_and_oracle_agree_under_the_presets(preset: str, players: int) -> None:
    seen = play_in_lockstep(Setting(players, RuleSet.preset(preset), players - 1, 10 + players))
    happened = {"lead", "follow", "swap", "give", "refused", "reward" if players == 2 else "next_leader"}
    assert happened <= {name for name, times in seen.items() if times}


def test_engine_and_oracle_agree_over_ten_cols() -> None:
    rules = RuleSet(col_values=(3, 1, 1, 2, 7, 1, 1, 1, 5, 1), hand_size=4)
    assert len(rules.col_values) == MAX_COLS
    assert play_in_lockstep(Setting(4, rules, 2, 1))["with jersey"] > 0


@pytest.mark.parametrize("dromedary_last_card", DROMEDARY_LAST_CARD)
@pytest.mark.parametrize("hand_size", [1, 2, 26, 27])
def test_engine_and_oracle_agree_in_odd_duels(hand_size: int, dromedary_last_card: str) -> None:
    rules = RuleSet(
        col_values=(1, 1, 2),
        duel_target=None,
        jersey_bonus=3,
        hand_size=hand_size,
        dromedary_last_card=dromedary_last_card,
        tortoise_swap="optional",
    )
    play_in_lockstep(Setting(2, rules, 1, hand_size))


# ---- what holds in any game, whoever referees ----


def states_of_a_game(setting: Setting) -> Iterator[State]:
    """Yield the state after every deal and every move of a random game."""
    state = new_state(setting.players, setting.rules, setting.starter)
    rng, chance = Random(setting.seed), new_stream(setting.seed, 0, CHANCE)
    while state["view"]["phase"] != Phase.GAME_OVER:
        if state["view"]["phase"] == Phase.COL_OVER:
            deal(state, setting.seed)
        else:
            apply(state, parse_move(rng.choice(engine_moves(state)[1])), chance)
        yield state


def places_of_cards(state: State) -> Counter[str]:
    """Count every card in the hands, in the pile, as the reward and among the played ones."""
    words = [*state["hands"], state["view"]["reward"], state["view"]["played"]]
    words += [1 << int(place) for place in state["pile"][: state["view"]["pile_size"]]]
    return Counter(text for word in words for text in card_texts(word))


@settings(max_examples=EXAMPLES)
@given(settings_of_games())
def test_cards_are_neither_lost_nor_doubled(setting: Setting) -> None:
    dealt: Counter[str] = Counter()
    for state in states_of_a_game(setting):
        assert validate(state) == []
        cards = places_of_cards(state)
        if state["view"]["played"] == 0:
            dealt = cards
            assert set(dealt.values()) == {1}
            assert len(dealt) == (55 if setting.players == 2 else setting.players * setting.rules.hand_size)
        assert cards == dealt
