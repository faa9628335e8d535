"""The bots: each does what its description says, in every state, and the same again for the same view and stream."""

from collections import Counter
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import position, quick_bots, states_of_game, thinks
from velonimo_sim._jit import INTERPRETED
from velonimo_sim.bot.text import Bot
from velonimo_sim.check_bot import Flaw, check_bot
from velonimo_sim.errors import UsageError
from velonimo_sim.game import GAMES
from velonimo_sim.rng import Stream, new_stream
from velonimo_sim.velonimo.cards import DECK, HARES, card_texts, parse_cards
from velonimo_sim.velonimo.legal import is_legal, legal_moves
from velonimo_sim.velonimo.moves import DECLINE, FORCE, PASS, Kind, kind_of, move_text, parse_move
from velonimo_sim.velonimo.policies import BUILT_IN, bot_names, parse_bot
from velonimo_sim.velonimo.policies.base import SCRATCH
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.state import State, clone, new_state
from velonimo_sim.velonimo.view import Phase, View

pytestmark = pytest.mark.kernel

EXAMPLES = 100 if INTERPRETED else 500
DRAWS_A_MOVE = 100 if INTERPRETED else 400
CRITICAL = (10.828, 13.816, 16.266, 18.467, 20.515, 22.458, 24.322, 26.124, 27.877, 29.588, 31.264, 32.909, 34.528)
"""Upper 0.1 % points of the chi-square distribution for 1, 2, ... degrees of freedom."""
TABLES = (
    (2, RuleSet()),
    (2, RuleSet(jersey_bonus=5, tortoise_swap="optional")),
    (3, RuleSet()),
    (4, RuleSet(tortoise_swap="optional")),
    (5, RuleSet()),
    (5, RuleSet(tortoise_swap="optional", jersey_bonus=1)),
)


@cache
def states() -> list[State]:
    """Return the states of random games: thousands of them where they are compiled."""
    return [
        state
        for players, rules in TABLES
        for seed in range(1 if INTERPRETED else 5)
        for state in states_of_game(players, seed, rules)
    ]


def views_where(holds: Callable[[View], bool]) -> st.SearchStrategy[View]:
    """Draw from the views of random games for which something holds."""
    chosen = cache(lambda: [state["view"] for state in states() if holds(state["view"])])
    return st.deferred(lambda: st.integers(0, len(chosen()) - 1)).map(lambda index: chosen()[index])


def in_phase(*phases: Phase) -> Callable[[View], bool]:
    return lambda view: view["phase"] in phases


def listed(view: View) -> list[int]:
    moves = np.zeros(5000, np.uint64)
    return [int(move) for move in moves[: legal_moves(view, moves)]]


def choose(bot: Bot | str, view: View, stream: Stream | None = None) -> int:
    chosen = parse_bot(bot) if isinstance(bot, str) else bot
    return int(chosen.policy.function(view, chosen.scratch(), new_stream(1) if stream is None else stream))


def view_at(*arguments: Any, **options: Any) -> View:
    """Return what the seat to act sees in a position."""
    view: View = position(*arguments, **options)["view"]
    return view


# random: uniform over the legal moves.

THREE = ["R1 R2 R3 B5 H25", "B6 B7 G7 H50", "Y4 P2 N1"]
FOUR = ["N1 B1 R3 R6", "B6", "Y4 P2", "A5 G1"]
ONE_OUT = "R3, B6, pass, pass, pass, lead 0, N1"

UNIFORM: dict[str, tuple[Callable[[], View], list[str]]] = {
    "lead": (
        lambda: view_at(THREE),
        ["B5", "H25", "R1", "R1 R2", "R1 R2 R3", "R1 R3", "R2", "R2 R3", "R3"],
    ),
    "follow": (
        lambda: view_at(THREE, "R3"),
        ["B6", "B6 B7", "B7", "B7 G7", "G7", "H50", "pass"],
    ),
    "follow with the Jersey": (
        lambda: view_at(THREE, "R2 R3", wearer=1),
        ["B6 B7", "B6 B7 +jersey", "B7 G7", "B7 G7 +jersey", "H50", "pass"],
    ),
    "nothing beats": (lambda: view_at(["H50 R1", "B6 B7", "R3"], "H50"), ["pass"]),
    "swap": (lambda: view_at(FOUR, "N1"), ["swap 1", "swap 2", "swap 3"]),
    "swap with one out": (lambda: view_at(FOUR, ONE_OUT), ["swap 2", "swap 3"]),
    "swap or decline": (
        lambda: view_at(FOUR, "N1", tortoise_swap="optional"),
        ["decline", "swap 1", "swap 2", "swap 3"],
    ),
    "swap or decline with one out": (
        lambda: view_at(FOUR, ONE_OUT, tortoise_swap="optional"),
        ["decline", "swap 2", "swap 3"],
    ),
    "give": (
        lambda: view_at(["N1 B1 R3 R6", "B6 B7 B2", "Y4"], "B1 N1, swap 1", taken="B2 B7"),
        ["give B2 B7", "give B2 R3", "give B2 R6", "give B7 R3", "give B7 R6", "give R3 R6"],
    ),
    "next leader": (
        lambda: view_at(["R7", "B6", "B5", "A5"], "R7, pass, pass, pass"),
        ["lead 1", "lead 2", "lead 3"],
    ),
    "next leader with one out": (
        lambda: view_at(["R3 R7", "B6 B5", "Y4 P2", "A6"], "R3, pass, pass, A6, R7, pass, pass"),
        ["lead 1", "lead 2"],
    ),
    "reward": (lambda: view_at(["R7 R3", "B6 B5"], "R7, pass", pile="Y1 Y3"), ["force", "keep"]),
}


def counts_of_choices(bot: str, view: View, draws: int) -> Counter[str]:
    stream = new_stream(31)
    return Counter(move_text(choose(bot, view, stream)) for _ in range(draws))


def is_uniform(counts: Counter[str], moves: list[str]) -> bool:
    """Whether only these moves were chosen, and each of them about as often as the others."""
    expected = counts.total() / len(moves)
    statistic = sum((counts[move] - expected) ** 2 / expected for move in moves)
    return set(counts) == set(moves) and (len(moves) == 1 or statistic < CRITICAL[len(moves) - 2])


@pytest.mark.parametrize(("make", "moves"), UNIFORM.values(), ids=UNIFORM)
def test_random_is_uniform_over_the_legal_moves(make: Callable[[], View], moves: list[str]) -> None:
    view = make()
    assert sorted(move_text(move) for move in listed(view)) == moves
    assert is_uniform(counts_of_choices("random", view, DRAWS_A_MOVE * len(moves)), moves)


# greedy: the plays, by its one sentence.

Key = tuple[int, int]


def worth(view: View, move: int) -> int:
    """Return the value of a play with its Jersey (V6, V7, V9)."""
    texts = card_texts(move)
    numbers = [int(text[1:]) for text in texts]
    bonus = int(view["rules"]["jersey_bonus"]) if move >> 63 else 0
    return (numbers[0] if len(texts) == 1 else 10 * len(texts) + min(numbers)) + bonus


def lead_key(view: View, move: int) -> Key:
    """Order leads: the most cards, then the lowest value."""
    return -len(card_texts(move)), worth(view, move)


def follow_key(view: View, move: int) -> Key:
    """Order plays that beat: the lowest value, then the most cards."""
    return worth(view, move), -len(card_texts(move))


def key_of(view: View) -> Callable[[View, int], Key]:
    return lead_key if view["phase"] == Phase.LEAD else follow_key


def plays_of(view: View) -> list[int]:
    return [move for move in listed(view) if kind_of(np.uint64(move)) == Kind.PLAY]


def check_greedy_play(view: View, move: int) -> None:
    """Check that a move is the play that ``greedy`` says, or one as good; a pass only if nothing beats."""
    plays = plays_of(view)
    if not plays:
        assert move == PASS
        return
    assert move in plays
    key = key_of(view)
    assert key(view, move) == min(key(view, play) for play in plays)


def with_hand(view: View, hand: int) -> View:
    changed = clone(view)
    changed["hand"] = hand
    return changed


@settings(max_examples=EXAMPLES)
@given(views_where(in_phase(Phase.LEAD)))
def test_greedy_leads_the_most_cards_then_the_lowest_value(view: View) -> None:
    check_greedy_play(view, choose("greedy", view))


@settings(max_examples=EXAMPLES)
@given(views_where(in_phase(Phase.FOLLOW)))
def test_greedy_follows_with_the_lowest_value_that_beats_then_the_most_cards(view: View) -> None:
    check_greedy_play(view, choose("greedy", view))


HANDS = st.integers(0, 2**64 - 1).map(lambda word: word & int(DECK)) | st.sets(
    st.sampled_from(card_texts(DECK)), min_size=1, max_size=8
).map(lambda texts: int(parse_cards(texts)))


@settings(max_examples=EXAMPLES)
@given(HANDS, st.integers(0, 100), st.integers(0, 120), st.booleans())
def test_greedy_with_any_hand_against_any_value(hand: int, beat: int, bonus: int, free: bool) -> None:
    view = view_of_hand(hand, beat, bonus, free)
    check_greedy_play(view, choose("greedy", view))


def view_of_hand(hand: int, beat: int, bonus: int, free: bool = True) -> View:
    """Return the view of a seat with a hand and, if it is free, the Jersey, that has to beat a value or leads."""
    view = new_state(3, RuleSet(jersey_bonus=bonus))["view"]
    view["hand"], view["beat"] = hand or 1, beat
    view["phase"] = Phase.FOLLOW if beat else Phase.LEAD
    view["seat"] = view["turn"] = view["wearer"] = 1
    view["jersey_spent"] = not free
    return view


@pytest.mark.parametrize("bot", ["greedy", "hold-hares"])
@pytest.mark.parametrize("bonus", [1, 10, 100, 510, 511, 1_000, 100_000, 1_000_000])
def test_never_passes_when_only_the_jersey_beats(bot: str, bonus: int) -> None:
    view = view_of_hand(int(parse_cards(["B1", "G3"])), 3, bonus)
    check_greedy_play(view, choose(bot, view))
    assert move_text(choose(bot, view)) == ("G3 +jersey" if bonus < 3 else "B1 +jersey")


@pytest.mark.parametrize(
    ("hand", "lead"),
    [
        ("R1 R2 R7 B7 G7", "R1 R2 R7"),
        ("R1 R2 B1 B3", "B1 R1"),
        ("B4 G4 R4 R1 R2 R3", "R1 R2 R3 R4"),
        ("H25 R7", "R7"),
        ("H50 H30", "H30"),
        ("R6 B5", "B5"),
    ],
)
def test_greedy_lead_by_example(hand: str, lead: str) -> None:
    view = view_at([hand, "Y5", "Y4"])
    expected = int(parse_move(lead))
    assert lead_key(view, choose("greedy", view)) == lead_key(view, expected)
    check_greedy_play(view, expected)


@pytest.mark.parametrize(
    ("beat", "hand", "wearer", "follow"),
    [
        ("R3", "B4 G5 B5", None, "B4"),
        ("R6", "B1 G1 H25", None, "B1 G1"),
        ("R6 G6", "B6 B7 H30 H35", None, "H30"),
        ("H30", "B1 B2 B3 H35", None, "B1 B2 B3"),
        ("R6", "B4 H25", 1, "B4 +jersey"),
        ("R6", "B7 B4", 1, "B7"),
        ("H50", "B7 B4 H45", None, "pass"),
    ],
)
def test_greedy_follow_by_example(beat: str, hand: str, wearer: int | None, follow: str) -> None:
    view = view_at([f"{beat} Y1", hand, "Y4"], beat, wearer=wearer)
    assert move_text(choose("greedy", view)) == follow


# greedy: what is no play.


def group_size(hand: list[str], card: str) -> int:
    """Return the size of the larger group of a rider, of its colour or its number; hares come last of all."""
    if card[0] == "H":
        return 100
    riders = [other for other in hand if other[0] != "H"]
    return max(sum(other[at] == card[at] for other in riders) for at in (0, 1))


def can_be_given_one_by_one(hand: list[str], gift: list[str]) -> bool:
    """Whether a gift can be made of single cards that each belong to a smallest group of the hand left then."""
    if not gift:
        return True
    smallest = min(group_size(hand, card) for card in hand)
    return any(
        can_be_given_one_by_one([other for other in hand if other != card], [other for other in gift if other != card])
        for card in gift
        if group_size(hand, card) == smallest
    )


@settings(max_examples=EXAMPLES)
@given(views_where(in_phase(Phase.GIVE)))
def test_greedy_gives_cards_of_the_smallest_groups_hares_last(view: View) -> None:
    check_gift(view, choose("greedy", view))


@settings(max_examples=EXAMPLES // 4)
@given(st.sets(st.sampled_from(card_texts(DECK)), min_size=5, max_size=14), st.integers(1, 5))
def test_greedy_gives_from_any_hand(hand: set[str], count: int) -> None:
    view = view_of_hand(int(parse_cards(hand)), 1, 10)
    view["phase"], view["swap_count"], view["swap_victim"] = Phase.GIVE, count, 0
    check_gift(view, choose("greedy", view))


def check_gift(view: View, move: int) -> None:
    assert is_legal(view, np.uint64(move))
    assert can_be_given_one_by_one(card_texts(view["hand"]), card_texts(move))


@pytest.mark.parametrize(
    ("hand", "count", "gift"),
    [
        ("R1 R2 R3 B7 H25", 1, "B7"),
        ("R1 R2 R3 B7 H25", 2, "B7 R1,B7 R2,B7 R3"),
        ("R1 R2 R3 B7 G7 H25", 2, "B7 G7"),
        ("R1 R2 B2 B3 G5", 1, "G5"),
        ("H25 H30 R1", 2, "H25 R1,H30 R1"),
        ("H25 H30", 1, "H25,H30"),
    ],
)
def test_greedy_gift_by_example(hand: str, count: int, gift: str) -> None:
    view = view_of_hand(int(parse_cards(hand.split())), 1, 10)
    view["phase"], view["swap_count"], view["swap_victim"] = Phase.GIVE, count, 0
    assert move_text(choose("greedy", view)) in [f"give {cards}" for cards in gift.split(",")]


@pytest.mark.parametrize("bot", ["greedy", "hold-hares"])
@pytest.mark.parametrize("case", ["swap", "swap with one out", "next leader", "next leader with one out"])
def test_seats_are_named_at_random(bot: str, case: str) -> None:
    make, moves = UNIFORM[case]
    assert is_uniform(counts_of_choices(bot, make(), DRAWS_A_MOVE * len(moves)), moves)


@pytest.mark.parametrize("bot", ["greedy", "hold-hares"])
def test_swap_is_never_declined(bot: str) -> None:
    make, moves = UNIFORM["swap or decline"]
    targets = [move for move in moves if move != "decline"]
    assert is_uniform(counts_of_choices(bot, make(), DRAWS_A_MOVE * len(targets)), targets)


@pytest.mark.parametrize("bot", ["greedy", "hold-hares"])
def test_reward_is_forced_on_the_opponent(bot: str) -> None:
    assert choose(bot, UNIFORM["reward"][0]()) == FORCE


# hold-hares: as greedy, but the hares wait for the end or for what nothing else beats.


def riders_of(view: View) -> int:
    return int(view["hand"] & ~HARES)


def is_at_the_end(view: View) -> bool:
    """Whether the riders of the hand can go out together: they are one play, or there are none."""
    riders = with_hand(view, riders_of(view))
    riders["phase"], riders["beat"] = Phase.LEAD, 0
    return riders["hand"] == 0 or int(riders["hand"]) in plays_of(riders)


def check_hold_hares_play(view: View, move: int) -> None:
    """Check that a move keeps the hares as ``hold-hares`` says, and is else what ``greedy`` says."""
    hares, riders = int(view["hand"] & HARES), with_hand(view, riders_of(view))
    if view["phase"] == Phase.LEAD and hares and is_at_the_end(view):
        assert move == 1 << hares.bit_length() - 1
    elif view["phase"] == Phase.LEAD or (plays_of(riders) and not is_at_the_end(view)):
        assert move & hares == 0
        check_greedy_play(riders, move)
    else:
        check_greedy_play(view, move)


@settings(max_examples=EXAMPLES)
@given(views_where(in_phase(Phase.LEAD)))
def test_hold_hares_leads_its_riders_and_at_the_end_its_highest_hare(view: View) -> None:
    check_hold_hares_play(view, choose("hold-hares", view))


@settings(max_examples=EXAMPLES)
@given(views_where(in_phase(Phase.FOLLOW)))
def test_hold_hares_follows_with_riders_while_they_beat(view: View) -> None:
    check_hold_hares_play(view, choose("hold-hares", view))


@settings(max_examples=EXAMPLES)
@given(HANDS, st.integers(0, 80), st.booleans(), st.sampled_from([0, int(HARES), int(parse_cards(["H25", "H50"]))]))
def test_hold_hares_with_any_hand_against_any_value(hand: int, beat: int, free: bool, hares: int) -> None:
    view = view_of_hand(hand | hares, beat, 10, free)
    check_hold_hares_play(view, choose("hold-hares", view))


@settings(max_examples=EXAMPLES)
@given(views_where(in_phase(Phase.LEAD, Phase.FOLLOW)))
def test_hold_hares_never_passes_when_it_can_beat(view: View) -> None:
    assert (choose("hold-hares", view) == PASS) == (not plays_of(view))


@settings(max_examples=EXAMPLES)
@given(views_where(in_phase(Phase.SWAP, Phase.GIVE, Phase.NEXT_LEADER, Phase.REWARD)), st.integers(0, 100))
def test_hold_hares_decides_the_rest_as_greedy(view: View, seed: int) -> None:
    assert choose("hold-hares", view, new_stream(seed)) == choose("greedy", view, new_stream(seed))


@pytest.mark.parametrize(
    ("beat", "hand", "move"),
    [
        ("", "R1 R2 B7 H25 H30", "R1 R2"),
        ("", "R1 R2 H25 H40 H30", "H40"),
        ("", "H25 H40", "H40"),
        ("", "R1 R2 R3", "R1 R2 R3"),
        ("G5", "R7 B1 H25", "R7"),
        ("G6", "R1 B5 H25 H30", "H25"),
        ("G6 G7", "R1 R4 R5 B7 H30", "R1 R4 R5"),
        ("G6 G7", "R1 R4 R5 H30", "H30"),
        ("H40", "R1 R2 B7 H25", "pass"),
    ],
)
def test_hold_hares_by_example(beat: str, hand: str, move: str) -> None:
    view = view_at([f"{beat} Y1", hand, "Y4"], beat) if beat else view_at([hand, "Y5", "Y4"])
    assert move_text(choose("hold-hares", view)) == move


# rollout: finds what is obvious.

ROLLOUT = "rollout:n=20" if INTERPRETED else "rollout:n=100"


OBVIOUS: dict[str, tuple[Callable[[], View], str]] = {
    "lead that empties the hand": (lambda: view_at(["R3 R4", "B1", "B3"]), "R3 R4"),
    "hare that nobody beats before the last card": (lambda: view_at(["B2 H50", "B5", "G3"]), "H50"),
    "last card that beats": (lambda: view_at(["R3 R4", "G6", "B3"], "R3"), "G6"),
    "reward that would cost the win": (lambda: view_at(["B7 R3", "G4 G6"], "R3, pass", pile="N1 Y5"), "force"),
}


@pytest.mark.parametrize("seed", range(3 if INTERPRETED else 20))
@pytest.mark.parametrize(("make", "move"), OBVIOUS.values(), ids=OBVIOUS)
def test_rollout_finds_the_obvious(make: Callable[[], View], move: str, seed: int) -> None:
    assert move_text(choose(ROLLOUT, make(), new_stream(seed))) == move


def test_rollout_finds_what_greedy_does_not() -> None:
    """Greedy leads the 2, and an opponent goes out over it."""
    view = OBVIOUS["hare that nobody beats before the last card"][0]()
    assert move_text(choose("greedy", view)) == "B2"
    assert move_text(choose(ROLLOUT, view)) == "H50"


def test_rollout_with_one_playout_tries_every_action() -> None:
    """Of three leads one goes out at once; chosen untried, it would be chosen a third of the time."""
    make, move = OBVIOUS["lead that empties the hand"]
    choices = [move_text(choose("rollout:n=1", make(), new_stream(seed))) for seed in range(60)]
    assert choices.count(move) > 40
    assert choices == [move_text(choose("rollout:n=2", make(), new_stream(seed))) for seed in range(60)]


# All bots.


def some_states(bot: Bot) -> list[State]:
    """Return states of all phases: all there are, or few for a bot that thinks."""
    if not thinks(bot):
        return states()
    examples = []
    for phase in list(Phase)[: Phase.COL_OVER]:
        found = [state for state in states() if state["view"]["phase"] == phase]
        n = min(len(found), 2 if INTERPRETED else 60)
        examples += found[:: len(found) // n][:n]
    return examples


ALL_BOTS = pytest.mark.parametrize("bot", quick_bots(), ids=lambda bot: bot.policy.name)


def test_states_are_thousands_of_every_phase() -> None:
    assert len(states()) > (1_000 if INTERPRETED else 8_000)
    assert {Phase(int(state["view"]["phase"])) for state in states()} == set(Phase) - {Phase.COL_OVER, Phase.GAME_OVER}
    assert any(DECLINE in listed(state["view"]) for state in states() if state["view"]["phase"] == Phase.SWAP)


@ALL_BOTS
def test_bot_is_legal_in_random_states(bot: Bot) -> None:
    scratch, stream = bot.scratch(), new_stream(41)
    for state in some_states(bot):
        move = bot.policy.function(state["view"], scratch, stream)
        assert is_legal(state["view"], np.uint64(move)), move_text(move)


@ALL_BOTS
@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_bot_is_legal_in_its_own_games(bot: Bot, players: int) -> None:
    rules = RuleSet(tortoise_swap="optional", hand_size=4 if INTERPRETED else 11, col_values=(1, 2))
    games = 1 if INTERPRETED else 3 if thinks(bot) else 20
    for seed in range(games):
        assert sum(1 for _ in states_of_game(players, seed, rules, bot.text)) > players


@ALL_BOTS
def test_bot_with_more_gifts_than_memory_for_moves(bot: Bot) -> None:
    """5 of 27 cards can be given in 80,730 ways."""
    view = view_of_hand(int(parse_cards(card_texts(DECK)[:27])), 1, 0)
    view["phase"], view["swap_count"], view["swap_victim"], view["sizes"][:3] = Phase.GIVE, 5, 0, (3, 27, 3)
    assert legal_moves(view, np.zeros(0, np.uint64)) == 80_730 > SCRATCH["moves"].shape[0]
    assert is_legal(view, np.uint64(choose(bot, view)))


@ALL_BOTS
def test_same_view_and_stream_same_move(bot: Bot) -> None:
    """Nothing else counts in a new game: not the memory of the view, not what was left in the scratch before."""
    used = bot.scratch()
    for i, state in enumerate(some_states(bot)[:: 1 if thinks(bot) else 5]):
        view, stream, again = state["view"], new_stream(i), new_stream(i)
        used["moves"][:], used["memory"][:], used["used"] = 0xDEAD_BEEF, 0xDEAD_BEEF, 0
        assert choose(bot, view, stream) == int(bot.policy.function(clone(view), used, again))
        assert stream == again


@ALL_BOTS
def test_bot_changes_nothing_but_its_stream_and_scratch(bot: Bot) -> None:
    for i, state in enumerate(some_states(bot)[:: 1 if thinks(bot) else 5]):
        before, scratch = state.tobytes(), bot.scratch()
        parameters = scratch["parameters"].tolist()
        bot.policy.function(state["view"], scratch, new_stream(i))
        assert state.tobytes() == before
        assert scratch["parameters"].tolist() == parameters


# Texts.


# Whatever the game: what users let check their own bots by.

LONG = ("champion", "cheater")
CHECKED_BOTS = [
    pytest.param("velonimo", bot.text, id=bot.name, marks=pytest.mark.slow if bot.name in LONG else ())
    for bot in quick_bots()
]
CHECKED_BOTS += [
    pytest.param("velocity", f"{name}:n=2" if name == "rollout" else name, id=f"velocity-{name}")
    for name in GAMES["velocity"].bots
]
"""Every bot of every game, those that search with few playouts."""


@pytest.mark.parametrize(("game", "text"), CHECKED_BOTS)
def test_every_bot_of_the_house_passes_the_check_of_bots(game: str, text: str) -> None:
    report = check_bot(text, 20 if INTERPRETED else 300, game=game)
    sees_all = GAMES[game].parse_bot(text).sees_all
    assert [finding.flaw for finding in report.findings] == ([Flaw.PEEKS] if sees_all else [])
    assert sees_all == (text.partition(":")[0] == "cheater")
    assert 0 < report.mean_ms <= report.worst_ms


@pytest.mark.parametrize("text", ["random", "greedy", "hold-hares", "rollout", "rollout:n=1", "rollout:n=1000000"])
def test_text_of_a_bot_reads_back(text: str) -> None:
    bot = parse_bot(text)
    assert bot.text == text
    assert parse_bot(bot.text) == bot


@given(st.integers(1, 1_000_000))
def test_text_names_the_settings_that_differ_from_the_defaults(n: int) -> None:
    bot = parse_bot(f"rollout:n={n}")
    assert bot.text == ("rollout" if n == 200 else f"rollout:n={n}")
    assert parse_bot(bot.text) == bot
    assert bot.settings == parse_bot("rollout").settings | {"n": n}
    assert bot.scratch()["parameters"][0] == n


def test_registry_is_by_name_and_tells_what_a_bot_is() -> None:
    assert list(BUILT_IN) == bot_names()[: len(BUILT_IN)]
    for name in BUILT_IN:
        bot = parse_bot(name)
        assert bot.policy.name == bot.name == bot.text == name
        assert bot.policy.help
        assert all(parameter.help for parameter in bot.policy.parameters)
        assert bot.values == tuple(parameter.default for parameter in bot.policy.parameters)


KNOWN = ", ".join(BUILT_IN)
PARAMETERS = ", ".join(parse_bot("rollout").settings)
VALUE_ALLOWED = "allowed is an integer 1-1000000"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gredy", f"unknown bot 'gredy': there are {KNOWN}; did you mean 'greedy'?"),
        ("hold_hares", f"unknown bot 'hold_hares': there are {KNOWN}; did you mean 'hold-hares'?"),
        ("rolout:n=5", f"unknown bot 'rolout': there are {KNOWN}; did you mean 'rollout'?"),
        ("xyz", f"unknown bot 'xyz': there are {KNOWN}"),
        ("", f"unknown bot '': there are {KNOWN}"),
        ("Greedy ", f"unknown bot 'Greedy ': there are {KNOWN}; did you mean 'greedy'?"),
        ("rollout:nn=5", f"unknown parameter of bot rollout 'nn': there are {PARAMETERS}; did you mean 'n'?"),
        ("rollout:budget=5", f"unknown parameter of bot rollout 'budget': there are {PARAMETERS}"),
        ("rollout:n=5,", "bot rollout:n=5,: setting '': allowed is key=value"),
        ("rollout:n=5,m=6", f"unknown parameter of bot rollout 'm': there are {PARAMETERS}; did you mean 'ms'?"),
        ("rollout:n=0", f"bot rollout:n=0: {VALUE_ALLOWED}"),
        ("rollout:n=-5", f"bot rollout:n=-5: {VALUE_ALLOWED}"),
        ("rollout:n=1000001", f"bot rollout:n=1000001: {VALUE_ALLOWED}"),
        ("rollout:n=many", f"bot rollout:n=many: {VALUE_ALLOWED}"),
        ("rollout:n=1.5", f"bot rollout:n=1.5: {VALUE_ALLOWED}"),
        ("rollout:n=", f"bot rollout:n=: {VALUE_ALLOWED}"),
        ("rollout:n", f"bot rollout:n: {VALUE_ALLOWED}"),
        ("greedy:n=5", "bot greedy has no parameters, so 'n=5' cannot be set"),
        ("random:5", "bot random has no parameters, so '5' cannot be set"),
    ],
)
def test_text_that_is_no_bot(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_bot(text)
    assert str(caught.value) == message
