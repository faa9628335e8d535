"""Games to play by hand: what a game tells, and that it stays as it was when a move is refused."""

import json
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import velonimo_sim
from conftest import rotated_seatings
from velonimo_sim import Game, IllegalMoveError, RuleSet, UsageError, new_game
from velonimo_sim.game import GAMES
from velonimo_sim.velonimo.cards import DECK, card_texts
from velonimo_sim.velonimo.state import clone

each_players = pytest.mark.parametrize("players", [2, 3, 4, 5])

PHASES = {"lead", "follow", "swap", "give", "next_leader", "reward"}
ODD_RULES = RuleSet(tortoise_swap="optional", jersey_bonus=20, hand_size=9, col_values=(2, 1, 2), duel_target=None)

RULES_OF_PHASE = {
    "lead": [("pass", "V10"), ("swap 1", "V10"), ("keep", "V10")],
    "follow": [("swap 1", "V10"), ("lead 1", "V10"), ("force", "V10")],
    "swap": [("pass", "V20"), ("give R1", "V20")],
    "give": [("pass", "V20"), ("swap 1", "V20")],
    "next_leader": [("pass", "V13"), ("keep", "V13")],
    "reward": [("pass", "V26"), ("lead 0", "V26")],
}


def snapshot(game: Game) -> tuple[bytes, str, bytes]:
    """Return everything that a refused move must leave as it is."""
    return game.state.tobytes(), json.dumps(game.record()), game._chance.tobytes()


def refusal(game: Game, move: str) -> IllegalMoveError:
    """Return why a move is refused, having checked that the game is as it was."""
    before = snapshot(game)
    with pytest.raises(IllegalMoveError) as caught:
        game.play(move)
    assert snapshot(game) == before
    return caught.value


def random_steps(players: int, seed: int = 7, rules: RuleSet | None = None) -> Iterator[tuple[Game, str]]:
    """Play a game at random; yield it with the chosen move before each move."""
    chance, game = random.Random(seed), new_game(players, seed, rules)
    while game.turn is not None:
        move = chance.choice(game.legal_moves())
        yield game, move
        game.play(move)


def finished(players: int, seed: int = 7, rules: RuleSet | None = None) -> Game:
    """Return a game that has been played at random to its end."""
    *_, (game, _) = random_steps(players, seed, rules)
    return game


def at_phase(phase: str) -> Game:
    """Return a random game that has come to a phase."""
    for players, seed in ((2, 1), (4, 1), (4, 2)):
        for game, _ in random_steps(players, seed):
            if game.phase == phase:
                return game
    raise AssertionError(f"no game came to {phase}")


def test_the_example_of_the_documentation() -> None:
    game = velonimo_sim.new_game(players=4, seed=7)
    assert (game.phase, game.turn, game.col, game.players) == ("lead", 0, 1, 4)
    assert isinstance(game, Game)
    assert game.totals == [0, 0, 0, 0]
    assert game.winner is None
    assert game.rules == RuleSet.official()


@each_players
def test_a_game_begins_with_the_first_deal(players: int) -> None:
    game = new_game(players, seed=3)
    hands = [game.view(seat)["hand"] for seat in range(players)]
    assert [len(hand) for hand in hands] == [11] * players
    dealt = [card for hand in hands for card in hand]
    assert len(set(dealt)) == len(dealt)
    assert set(dealt) <= set(card_texts(DECK))
    assert game.view(0)["pile_size"] == (32 if players == 2 else 0)
    assert (game.view(0)["reward"] is None) == (players > 2)


@pytest.mark.parametrize("starter", [0, 1, 2])
def test_the_starter_leads(starter: int) -> None:
    game = new_game(3, 5, starter=starter)
    assert game.turn == starter
    assert game.record()["rounds"][0]["starter"] == starter


@pytest.mark.parametrize(
    ("rules", "expected"),
    [(None, RuleSet.official()), ("official", RuleSet.official()), ("bga", RuleSet.bga()), (ODD_RULES, ODD_RULES)],
)
def test_rules_by_name_or_as_a_set(rules: RuleSet | str | None, expected: RuleSet) -> None:
    game = new_game(4, 7, rules)
    assert game.rules == expected
    assert game.view(0)["rules"] == expected.in_force(4)


@each_players
@pytest.mark.parametrize("rules", [None, ODD_RULES], ids=["official", "odd"])
def test_a_whole_game_move_by_move(players: int, rules: RuleSet | None) -> None:
    phases, cols = set(), []
    for game, move in random_steps(players, 7, rules):
        phases.add(game.phase)
        cols.append(game.col)
        assert game.winner is None
        assert game.turn in range(players)
        assert len(game.totals) == players
        assert len(set(game.legal_moves())) == len(game.legal_moves())
        assert move in game.legal_moves()
    assert PHASES - phases <= ({"next_leader"} if players == 2 else {"reward", "next_leader"})
    assert cols == sorted(cols)
    assert set(cols) == set(range(1, max(cols) + 1))


@each_players
def test_every_phase_comes_up(players: int) -> None:
    phases = {game.phase for seed in range(3) for game, _ in random_steps(players, seed)}
    assert phases == PHASES - ({"next_leader"} if players == 2 else {"reward"})


@each_players
def test_the_end_of_a_game(players: int) -> None:
    game = finished(players)
    assert (game.phase, game.turn, game.legal_moves()) == ("game_over", None, [])
    record = game.record()
    assert game.totals == record["rounds"][-1]["totals"]
    assert game.totals == np.sum([one_round["points"] for one_round in record["rounds"]], axis=0).tolist()
    assert game.winner is not None
    best = [seat for seat in range(players) if game.totals[seat] == max(game.totals)]
    last = record["rounds"][-1]["points"]
    assert game.winner == max(best, key=lambda seat: last[seat])
    assert record["winner"] == game.winner


@pytest.mark.parametrize("move", ["pass", "R1", "keep", "nonsense"])
def test_after_the_end_every_move_is_refused(move: str) -> None:
    error = refusal(finished(3), move)
    assert error.rule == "V19"
    assert "game is over" in str(error)


@pytest.mark.parametrize(("phase", "move", "rule"), [(p, *case) for p in RULES_OF_PHASE for case in RULES_OF_PHASE[p]])
def test_a_move_of_another_phase_is_refused(phase: str, move: str, rule: str) -> None:
    error = refusal(at_phase(phase), move)
    assert error.rule == rule
    assert str(error).endswith(f" ({rule})")


def game_with(own: set[str], others: int = 3) -> Game:
    """Return the first game of seeds 0, 1, ... whose starter holds certain cards."""
    return next(game for game in (new_game(1 + others, seed) for seed in range(10_000)) if own <= hand_of(game))


def hand_of(game: Game) -> set[str]:
    assert game.turn is not None
    return set(game.view(game.turn)["hand"])


@pytest.mark.parametrize(
    ("held", "move", "rule"),
    [
        ({"R2", "B5"}, "B5 R2", "V7"),
        ({"H25", "H40"}, "H25 H40", "V8"),
        ({"H25", "R2"}, "H25 R2", "V8"),
        ({"H25"}, "H25 +jersey", "V9"),
        ({"R2"}, "R2 +jersey", "V9"),
    ],
)
def test_a_play_that_is_none_names_its_rule(held: set[str], move: str, rule: str) -> None:
    error = refusal(game_with(held), move)
    assert error.rule == rule
    assert str(error).startswith(f"{move!r}: ")


def test_a_card_of_another_hand_is_refused() -> None:
    game = new_game(4, 7)
    stranger = game.view(1)["hand"][0]
    assert refusal(game, stranger).rule == "V10"


def test_a_value_that_only_equals_is_refused() -> None:
    for game, _ in random_steps(4, 3):
        equal = [card for card in sorted(hand_of(game)) if int(card[1:]) == game.view(0)["beat"]]
        if game.phase == "follow" and equal:
            error = refusal(game, equal[0])
            assert error.rule == "V10"
            assert "equals" in str(error)
            return
    raise AssertionError("no such position")


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "R8",
        "r2",
        "R2R3",
        "R2,R3",
        "R2 R2",
        "H26",
        "+jersey",
        "R2 +jersey +jersey",
        "+jersey R2",
        "R2 + jersey",
        "Pass",
        "pass 1",
        "swap",
        "swap 5",
        "swap -1",
        "swap R2",
        "swap 1 2",
        "give",
        "give R9",
        "lead",
        "lead x",
        "keep it",
        "R2\x00",
        "play R2",
    ],
)
def test_a_misspelt_move_is_refused(text: str) -> None:
    error = refusal(new_game(4, 7), text)
    assert error.rule == ""
    assert repr(text) in str(error)
    assert "\n" not in str(error)


@each_players
@pytest.mark.parametrize("rules", [None, ODD_RULES], ids=["official", "odd"])
def test_refused_moves_change_nothing_in_any_position(players: int, rules: RuleSet | None) -> None:
    """Every move that was legal somewhere in the game is tried wherever it is not."""
    chance, seen = random.Random(players), {"pass", "decline", "keep", "force", "swap 4", "lead 4", "give B1"}
    tried = 0
    for game, move in random_steps(players, 11, rules):
        legal = set(game.legal_moves())
        illegal = sorted(seen - legal)
        for attempt in chance.sample(illegal, min(2, len(illegal))):
            assert refusal(game, attempt).rule.startswith("V")
            tried += 1
        seen.add(move)
    assert tried > 100


@each_players
def test_moves_read_in_any_order_of_cards(players: int) -> None:
    a, b = new_game(players, 4), new_game(players, 4)
    move = max(a.legal_moves(), key=len)
    assert len(move.split()) > 1
    a.play(move)
    b.play("  ".join(reversed(move.split())) + " ")
    assert snapshot(a) == snapshot(b)


@each_players
def test_the_same_seed_is_the_same_game(players: int) -> None:
    for (a, move), (b, other) in zip(random_steps(players), random_steps(players), strict=True):
        assert move == other
        assert snapshot(a) == snapshot(b)
        assert repr(a) == repr(b)


def test_another_seed_is_another_game() -> None:
    hands = [tuple(new_game(4, seed).view(0)["hand"]) for seed in (0, 1, 2, 2**63 - 1)]
    assert len(set(hands)) == 4


def test_the_deals_are_those_of_game_0_of_a_tournament() -> None:
    spec, rules = GAMES["velonimo"], RuleSet.official()
    table = spec.open_table([spec.parse_bot("random")] * 4, rules, rotated_seatings(4), 7)
    game_rows, col_rows = np.zeros(4, spec.game_row), np.zeros(20, spec.detail_row)
    table.play(0, 1, game_rows, col_rows)
    dealt = [[card_texts(hand) for hand in hands] for hands in col_rows["hand"].reshape(5, 4)]
    assert [one_round["hands"] for one_round in finished(4).record()["rounds"]] == dealt


# What a game shows.


@each_players
def test_repr_shows_the_table_as_the_seat_to_act_sees_it(players: int) -> None:
    for game, _ in random_steps(players, 2):
        text, view = repr(game), game.view(game.turn or 0)
        lines = text.splitlines()
        assert lines[0] == f"Velonimo, {players} players, col {game.col} of 5 ({game.col} a place)"
        for seat, line in enumerate(lines[1 : players + 1]):
            assert line.startswith(f"{'>' if seat == game.turn else ' '} seat {seat}: ")
            assert f", {game.totals[seat]} points" in line
            size, out = view["sizes"][seat], view["out_order"][seat]
            assert (f"out {out}." if out else f"{size} card") in line
            assert ("Jersey" in line) == (view["wearer"] == seat)
            assert ("passed" in line) == (view["passed_on"][seat] > 0)
        assert lines[-2].startswith(f"seat {game.turn} to act: {game.phase.replace('_', ' ')}")
        assert (f"to beat: {view['beat']} by seat {view['author']}" in lines[-2]) == (view["beat"] > 0)
        assert lines[-1] == f"hand: {' '.join(view['hand']) or 'none'}"
        assert (f"reward {view['reward']}" in text) == (view["reward"] is not None)
        assert cards_in(text) == set(view["hand"]) | {view["reward"]} - {None}


def cards_in(text: str) -> set[str]:
    return set(card_texts(DECK)) & set(text.replace(",", " ").split())


def test_repr_of_a_finished_game_names_the_winner() -> None:
    game = finished(4)
    assert repr(game).splitlines()[-1] == f"game over: seat {game.winner} has won"


def test_repr_tells_a_jersey_that_is_spent() -> None:
    texts = [repr(game) for seed in range(3) for game, _ in random_steps(4, seed)]
    assert any(", Jersey spent" in text for text in texts)
    assert any(line.endswith(", Jersey") for text in texts for line in text.splitlines())


@each_players
def test_a_view_has_the_own_hand_and_no_hidden_card(players: int) -> None:
    """Hidden are the other hands but for what the seat knows of them, the pile, and what lies aside."""
    for game, _ in random_steps(players, 13):
        state = game.state
        for seat in range(players):
            view = game.view(seat)
            assert view["hand"] == card_texts(state["hands"][seat])
            assert view["known"] == {
                holder: card_texts(state["known"][seat, holder]) for holder in range(players) if holder != seat
            }
            public = int(state["view"]["played"]) | int(state["view"]["reward"])
            allowed = public | int(state["hands"][seat]) | int(np.bitwise_or.reduce(state["known"][seat]))
            assert cards_of_view(view) == set(card_texts(allowed))


def cards_of_view(value: Any) -> set[str]:
    """Return every card that stands anywhere in a view."""
    if isinstance(value, dict):
        return set().union(*(cards_of_view(part) for part in value.values()))
    if isinstance(value, list):
        return set().union(*(cards_of_view(part) for part in value))
    return {value} & set(card_texts(DECK)) if isinstance(value, str) else set()


@each_players
def test_a_view_does_not_depend_on_hidden_cards(players: int) -> None:
    """Exchange two cards that a seat does not know: its view stays, the view of the holder changes."""
    game = new_game(players, 5)
    before = game.view(0)
    stranger = 1 << int(game.state["pile"][0]) if players == 2 else lowest(game.state["hands"][2])
    changed = clone(game.state)
    own = lowest(changed["hands"][1])
    changed["hands"][1] = int(changed["hands"][1]) ^ own ^ stranger
    if players == 2:
        changed["pile"][0] = own.bit_length() - 1
    else:
        changed["hands"][2] = int(changed["hands"][2]) ^ own ^ stranger
    other = game.view(1)
    game.state = changed
    assert game.view(0) == before
    assert game.view(1) != other


def lowest(cards: Any) -> int:
    return int(cards) & -int(cards)


def test_a_view_is_plain_data() -> None:
    for game, _ in random_steps(2, 3):
        assert json.loads(json.dumps(game.view(0)))["totals"] == game.totals


def test_a_view_is_a_copy() -> None:
    game = new_game(4, 7)
    before = snapshot(game)
    view = game.view(0)
    for name in ("hand", "totals", "sizes", "rules"):
        view[name].clear()
    assert snapshot(game) == before
    assert len(game.view(0)["hand"]) == 11


@pytest.mark.parametrize("seat", [-1, 4, 255])
def test_a_view_of_no_seat(seat: int) -> None:
    with pytest.raises(UsageError, match=f"seat {seat}: allowed is 0-3"):
        new_game(4, 7).view(seat)


# Records.


@each_players
def test_a_record_grows_with_the_game(players: int) -> None:
    for moves, (game, _) in enumerate(random_steps(players, 4)):
        record = game.record()
        applied = [e for part in record["rounds"] for e in part["events"] if e["act"] != "snapshot"]
        assert len(applied) == moves
        assert len(record["rounds"]) == game.col
        assert record["winner"] is None


@pytest.mark.parametrize("players", [np.int64(4), 4])
@pytest.mark.parametrize("seed", [np.int64(7), 7])
def test_a_record_is_plain_data(players: int, seed: int) -> None:
    record = new_game(players, seed).record()
    assert json.loads(json.dumps(record))["players"] == 4
    assert record["id"] == "seed-7"


def test_a_record_holds_the_rules() -> None:
    assert new_game(3, 1, ODD_RULES).record()["rules"] == ODD_RULES.to_dict()


def test_a_record_is_a_copy() -> None:
    game = new_game(3, 7)
    game.play(game.legal_moves()[0])
    game.record()["rounds"][0]["events"].clear()
    assert len(game.record()["rounds"][0]["events"]) == 1


# What a game refuses to begin with.


@pytest.mark.parametrize(
    ("arguments", "fragments"),
    [
        ({"players": 1}, ["players 1", "2-5"]),
        ({"players": 6}, ["players 6", "2-5"]),
        ({"players": "4"}, ["players 4", "2-5"]),
        ({"players": 4.0}, ["players 4.0", "2-5"]),
        ({"players": None}, ["players None", "2-5"]),
        ({"seed": -1}, ["seed -1", "0 to 2**63 - 1"]),
        ({"seed": 2**63}, [f"seed {2**63}", "0 to 2**63 - 1"]),
        ({"seed": 1.5}, ["seed 1.5", "integer"]),
        ({"seed": "7"}, ["seed 7", "integer"]),
        ({"seed": True}, ["seed True", "integer"]),
        ({"seed": None}, ["seed None", "integer"]),
        ({"rules": "bgaa"}, ["'bgaa'", "official, bga", "mean 'bga'"]),
        ({"rules": ""}, ["''", "official, bga"]),
        ({"rules": RuleSet(hand_size=14)}, ["hand_size=14", "1-13 with 4 players"]),
        ({"rules": {"hand_size": 5}}, ["rules", "hand_size", "RuleSet"]),
        ({"rules": {}}, ["rules", "{}", "RuleSet"]),
        ({"rules": 3}, ["rules", "3", "RuleSet"]),
        ({"starter": 4}, ["starter 4", "0-3"]),
        ({"starter": -1}, ["starter -1", "0-3"]),
        ({"starter": 0.5}, ["starter 0.5", "0-3"]),
        ({"starter": "1"}, ["starter 1", "0-3"]),
        ({"starter": None}, ["starter None", "0-3"]),
    ],
)
def test_a_game_that_cannot_be(arguments: dict[str, Any], fragments: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        new_game(**arguments)
    message = str(caught.value)
    assert "\n" not in message
    assert all(fragment in message for fragment in fragments), message
