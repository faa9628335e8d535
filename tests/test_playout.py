"""Whole games in the compiled loop: rows that agree with each other, with the rules, and with the yardstick."""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import rotated_seatings
from velonimo_sim._jit import INTERPRETED, kernel
from velonimo_sim.bits import U0, integer, popcount
from velonimo_sim.bot.policy import Policy, compiled_bot
from velonimo_sim.bot.text import Bot
from velonimo_sim.errors import BotError, UsageError
from velonimo_sim.rng import BOT, CHANCE, STREAM, Stream, new_stream, open_stream
from velonimo_sim.velonimo.cards import DECK, HARES, TORTOISES, card_texts
from velonimo_sim.velonimo.legal import count_plays
from velonimo_sim.velonimo.moves import JERSEY, KEEP, PASS, Kind, kind_of, seat_of
from velonimo_sim.velonimo.playout import open_table
from velonimo_sim.velonimo.policies import parse_bot
from velonimo_sim.velonimo.policies.base import SCRATCH, Scratch
from velonimo_sim.velonimo.policies.uniform import uniform
from velonimo_sim.velonimo.rows import COL_ROW, GAME_ROW, most_col_rows
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.state import STATE, State, new_state
from velonimo_sim.velonimo.step import apply, deal, deal_col, step
from velonimo_sim.velonimo.view import Phase, View

pytestmark = pytest.mark.kernel

Rows = NDArray[Any]
Seatings = NDArray[np.int8]

MIXED = ("random", "greedy", "hold-hares", "random", "greedy")
GAMES = 8 if INTERPRETED else 400
AVERAGED_GAMES = 50 if INTERPRETED else 25_000

ODD_RULES = RuleSet(
    col_values=(3, 1, 4),
    tortoise_swap="optional",
    dromedary_last_card="exempt",
    duel_target=None,
    starter_tie="table_order",
    jersey_bonus=25,
    hand_size=7,
)
TABLES = [(players, RuleSet.official()) for players in (2, 3, 4, 5)]
TABLES += [(4, RuleSet.bga()), (2, ODD_RULES), (5, ODD_RULES), (3, RuleSet(tortoise_swap="off"))]
each_table = pytest.mark.parametrize(
    ("players", "rules"), TABLES, ids=["2", "3", "4", "5", "4-bga", "2-odd", "5-odd", "3-no-swap"]
)
each_players = pytest.mark.parametrize("players", [2, 3, 4, 5])


def fixed_seating(players: int) -> Seatings:
    """Return the seating in the order of the bots alone, so that every game is a deal of its own."""
    return np.arange(players, dtype=np.int8)[None]


def bots_of(texts: Sequence[str]) -> list[Bot]:
    return [parse_bot(text) for text in texts]


def play(
    bots: Sequence[Bot],
    games: int,
    seed: int = 5,
    first_game: int = 0,
    rules: RuleSet | None = None,
    seatings: Seatings | None = None,
) -> tuple[Rows, Rows]:
    """Return the game rows and col rows of consecutive games, by default with the seats rotated."""
    rules, players = rules or RuleSet.official(), len(bots)
    table = open_table(bots, rules, rotated_seatings(players) if seatings is None else seatings, seed)
    game_rows = np.zeros(games * players, GAME_ROW)
    col_rows = np.zeros(games * most_col_rows(rules, players), COL_ROW)
    written = table.play(first_game, games, game_rows, col_rows)
    return game_rows, col_rows[:written]


@cache
def mixed_rows(players: int, rules: RuleSet) -> tuple[Rows, Rows]:
    """Return the rows of games of mixed bots, by game and seat and by col and seat."""
    game_rows, col_rows = play(bots_of(MIXED[:players]), GAMES, rules=rules)
    return game_rows.reshape(-1, players), col_rows.reshape(-1, players)


def cols_of_games(players: int, rules: RuleSet) -> Iterator[Rows]:
    """Yield the col rows of each game, by col and seat."""
    _, cols = mixed_rows(players, rules)
    starts = np.flatnonzero(cols["col"][:, 0] == 1)
    yield from np.split(cols, starts[1:])


def digest(*tables: Rows) -> str:
    """Return a hash of the values in all columns, whatever their order."""
    total = hashlib.sha256()
    for rows in tables:
        for name in sorted(rows.dtype.names or ()):
            total.update(name.encode() + rows[name].tobytes())
    return total.hexdigest()


def same(a: Rows, b: Rows) -> bool:
    return a.shape == b.shape and all(np.array_equal(a[name], b[name]) for name in a.dtype.names or ())


def ranks_best_first(totals: Rows, last_points: Rows) -> list[int]:
    """Return the place of each seat: by total, then by the points of the last col (V19)."""
    keys = list(zip(totals.tolist(), last_points.tolist(), strict=True))
    return [1 + sum(other > key for other in keys) for key in keys]


@each_table
def test_rows_come_by_game_col_and_seat(players: int, rules: RuleSet) -> None:
    games, cols = mixed_rows(players, rules)
    assert games["game_id"].tolist() == [[game] * players for game in range(GAMES)]
    for rows in (games, cols):
        assert (rows["seat"] == np.arange(players)).all()
    by_game = list(cols_of_games(players, rules))
    assert len(by_game) == GAMES
    for game, rows in enumerate(by_game):
        assert (rows["game_id"] == game).all()
        assert rows["col"].tolist() == [[col] * players for col in range(1, len(rows) + 1)]


@each_table
def test_each_deal_is_played_by_all_seatings_one_after_the_other(players: int, rules: RuleSet) -> None:
    games, cols = mixed_rows(players, rules)
    assert (games["deal_id"] == games["game_id"] // players).all()
    assert (games["seating_id"] == games["game_id"] % players).all()
    for rows in (games, cols):
        assert (rows["bot"] == (rows["seat"] - rows["game_id"]) % players).all()
    assert not games["fault"].any()


@each_table
def test_totals_are_the_sums_of_the_points(players: int, rules: RuleSet) -> None:
    games, _ = mixed_rows(players, rules)
    sums = [rows["points"].sum(axis=0).tolist() for rows in cols_of_games(players, rules)]
    assert games["total"].tolist() == sums


@each_table
def test_places_follow_totals_and_ties_the_last_col(players: int, rules: RuleSet) -> None:
    games, _ = mixed_rows(players, rules)
    last = [rows["points"][-1] for rows in cols_of_games(players, rules)]
    expected = [ranks_best_first(total, points) for total, points in zip(games["total"], last, strict=True)]
    assert games["place"].tolist() == expected
    assert (np.sort(games["place"], axis=1) == np.arange(1, players + 1)).all()
    assert (games["won"] == (games["place"] == 1)).all()


@each_table
def test_out_orders_are_permutations_and_give_the_points(players: int, rules: RuleSet) -> None:
    _, cols = mixed_rows(players, rules)
    assert (np.sort(cols["out_order"], axis=1) == np.arange(1, players + 1)).all()
    values = np.array(rules.col_values)[cols["col"] - 1]
    assert (cols["points"] == values * (players - cols["out_order"])).all()


@each_table
def test_turns_and_passes(players: int, rules: RuleSet) -> None:
    _, cols = mixed_rows(players, rules)
    plays = cols["turns"] - cols["passes"]
    assert (cols["passes"] >= 0).all()
    assert (plays >= 0).all()
    assert (plays[cols["out_order"] < players] >= 1).all()
    assert (plays[cols["started"]] >= 1).all()


@each_table
def test_every_swap_has_an_author_and_a_victim(players: int, rules: RuleSet) -> None:
    _, cols = mixed_rows(players, rules)
    made = cols["swaps_made"].sum(axis=1)
    assert (made == cols["swaps_suffered"].sum(axis=1)).all()
    assert (made <= 7).all()
    assert (cols["swaps_made"] <= cols["turns"] - cols["passes"]).all()
    assert made.any() == (rules.tortoise_swap != "off")


@each_table
def test_the_lowest_total_starts(players: int, rules: RuleSet) -> None:
    for rows in cols_of_games(players, rules):
        assert (rows["started"].sum(axis=1) == 1).all()
        assert rows["started"][0, 0]
        totals = rows["points"].cumsum(axis=0)
        for col in range(1, len(rows)):
            lowest = np.flatnonzero(totals[col - 1] == totals[col - 1].min())
            tied = rows["points"][col - 1][lowest] if rules.starter_tie == "least_points" else lowest
            assert rows["started"][col, lowest[tied.argmin()]], f"game {rows['game_id'][0, 0]} col {col + 1}"


@each_table
def test_the_highest_total_wears_the_jersey(players: int, rules: RuleSet) -> None:
    for rows in cols_of_games(players, rules):
        assert not rows["wears_jersey"][0].any()
        totals = rows["points"].cumsum(axis=0)
        for col in range(1, len(rows)):
            highest = np.flatnonzero(totals[col - 1] == totals[col - 1].max())
            best = highest[rows["points"][col - 1][highest].argmax()]
            nobody = (
                rules.jersey_tie == "col_winner" and len(highest) > 1 and rows["out_order"][col - 1][highest].min() > 1
            )
            wearers = np.flatnonzero(rows["wears_jersey"][col]).tolist()
            assert wearers == ([] if nobody else [best]), f"game {rows['game_id'][0, 0]} col {col + 1}"


@each_table
def test_the_jersey_is_spent_by_its_wearer_alone(players: int, rules: RuleSet) -> None:
    _, cols = mixed_rows(players, rules)
    bonus, spent = rules.bonus(players), cols["jersey_spent_on"]
    assert not spent[~cols["wears_jersey"]].any()
    assert spent.any() == (bonus > 0)
    assert (spent[spent != 0] > bonus).all()
    assert (spent <= 77 + bonus).all()


@each_table
def test_the_dealt_hands_are_disjoint_and_described(players: int, rules: RuleSet) -> None:
    _, cols = mixed_rows(players, rules)
    hands = cols["hand"]
    assert (np.bitwise_count(hands) == rules.hand_size).all()
    together = np.bitwise_or.reduce(hands, axis=1)
    assert (np.bitwise_count(together) == players * rules.hand_size).all()
    assert not (together & ~DECK).any()
    assert (cols["tortoises"] == np.bitwise_count(hands & TORTOISES)).all()
    assert (cols["hares"] == np.bitwise_count(hands & HARES)).all()


@each_table
def test_the_number_of_cols(players: int, rules: RuleSet) -> None:
    for rows in cols_of_games(players, rules):
        best = rows["points"].cumsum(axis=0).max(axis=1)
        if players == 2 and rules.duel_target is not None:
            assert (best[:-1] < rules.duel_target).all()
            assert best[-1] >= rules.duel_target
        else:
            assert len(rows) == len(rules.col_values)


def game_by_checked_moves(bots: Sequence[Bot], seed: int, game: int) -> tuple[list[Any], list[Any]]:
    """Play one game move by move through ``apply``; return its totals and what each col and seat did."""
    players = len(bots)
    seating, named = rotated_seatings(players)[game % players], game // players
    state, chance = new_state(players), new_stream(seed, named, CHANCE)
    streams = [new_stream(seed, named, BOT + seat) for seat in range(players)]
    scratches = [bot.scratch() for bot in bots]
    counts: list[Any] = []
    view = state["view"]
    while view["phase"] != Phase.GAME_OVER:
        deal(state, seed, named)
        counts.append([dict.fromkeys(("turns", "passes", "swaps_made", "swaps_suffered"), 0) for _ in range(players)])
        while view["turn"] < players:
            seat = int(view["turn"])
            bot = seating[seat]
            move = np.uint64(bots[bot].policy.function(view, scratches[bot], streams[seat]))
            counts[-1][seat]["turns"] += view["phase"] <= Phase.FOLLOW
            counts[-1][seat]["passes"] += move == PASS
            if kind_of(move) == Kind.SWAP:
                counts[-1][seat]["swaps_made"] += 1
                counts[-1][seat_of(move)]["swaps_suffered"] += 1
            apply(state, move, chance)
    return view["totals"][:players].tolist(), counts


@each_players
def test_the_loop_plays_what_checked_moves_play(players: int) -> None:
    bots = bots_of(MIXED[:players])
    for game in range(2 if INTERPRETED else 12):
        totals, counts = game_by_checked_moves(bots, 3, game)
        game_rows, col_rows = play(bots, 1, seed=3, first_game=game)
        assert game_rows["total"].tolist() == totals
        names = list(counts[0][0])
        columns = {name: [seat[name] for col in counts for seat in col] for name in names}
        assert {name: col_rows[name].tolist() for name in names} == columns


@kernel
def turns_and_legal_plays(start: State, scratch: Scratch, seed: int, games: int, out: NDArray[np.int64]) -> None:
    """Play games with the bot ``random`` and count, game by game, its turns and the legal plays that they offered."""
    states, streams = np.empty(1, STATE), np.empty(7, STREAM)
    state = states[0]
    view, players = state["view"], integer(start["view"]["players"])
    for game in range(games):
        states[0] = start
        for seat in range(players):
            open_stream(streams[seat], seed, game, BOT + seat)
        open_stream(streams[5], seed, game, CHANCE)
        while view["phase"] != Phase.GAME_OVER:
            open_stream(streams[6], seed, game, integer(view["col"]))
            deal_col(state, streams[6])
            while view["phase"] < Phase.COL_OVER:
                if view["phase"] <= Phase.FOLLOW:
                    out[game, 0] += 1
                    out[game, 1] += count_plays(view)
                step(state, uniform(view, scratch, streams[integer(view["turn"])]), streams[5])


@cache
def counted(players: int) -> NDArray[np.int64]:
    out = np.zeros((AVERAGED_GAMES, 2), np.int64)
    turns_and_legal_plays(new_state(players), np.zeros(1, SCRATCH)[0], 1, AVERAGED_GAMES, out)
    return out


@pytest.mark.parametrize(("players", "expected"), [(3, 191.4), (4, 306.1), (5, 440.3)])
def test_turns_of_random_are_those_of_the_yardstick(players: int, expected: float) -> None:
    _, cols = play(bots_of(["random"] * players), AVERAGED_GAMES, seed=1, seatings=fixed_seating(players))
    turns = cols["turns"].reshape(AVERAGED_GAMES, -1).sum(axis=1)
    standard_error = turns.std(ddof=1) / AVERAGED_GAMES**0.5
    assert standard_error < 8 if INTERPRETED else standard_error < 0.15
    assert abs(turns.mean() - expected) < 4 * standard_error
    assert turns.tolist() == counted(players)[:, 0].tolist()


@pytest.mark.parametrize(("players", "expected"), [(3, 4.20), (4, 3.137), (5, 2.525)])
def test_legal_plays_of_random_are_those_of_the_yardstick(players: int, expected: float) -> None:
    turns, plays = counted(players).T
    ratio = plays.sum() / turns.sum()
    standard_error = (plays - ratio * turns).std(ddof=1) / (turns.mean() * AVERAGED_GAMES**0.5)
    assert standard_error < 0.1 if INTERPRETED else standard_error < 0.005
    assert abs(ratio - expected) < 4 * standard_error


@pytest.mark.parametrize("sizes", [(1,) * 10, (3, 7), (9, 1), (2, 5, 3)])
@pytest.mark.parametrize("players", [2, 4])
def test_chunks_do_not_matter(players: int, sizes: tuple[int, ...]) -> None:
    unit = 1 if INTERPRETED else 10
    bots = bots_of(MIXED[:players])
    firsts = np.cumsum([0, *sizes[:-1]]) * unit
    parts = [play(bots, size * unit, first_game=int(first)) for first, size in zip(firsts, sizes, strict=True)]
    for whole, pieces in zip(play(bots, 10 * unit), zip(*parts, strict=True), strict=True):
        assert same(whole, np.concatenate(pieces))


def test_a_chunk_does_not_depend_on_the_table_having_played_before() -> None:
    table = open_table(bots_of(MIXED[:3]), RuleSet.official(), rotated_seatings(3), 5)
    rows = [(np.zeros(12, GAME_ROW), np.zeros(60, COL_ROW)) for _ in range(2)]
    for game_rows, col_rows in rows:
        table.play(6, 4, game_rows, col_rows)
    assert digest(*rows[0]) == digest(*rows[1])
    assert digest(*rows[0]) == digest(*play(bots_of(MIXED[:3]), 4, first_game=6))


@each_players
def test_deals_stay_whoever_sits_there(players: int) -> None:
    line_ups = [["random"] * players, ["greedy"] * players, [*MIXED[1:players], MIXED[0]]]
    deals = []
    for texts in line_ups:
        _, cols = play(bots_of(texts), GAMES // 4)
        keys = zip(cols["game_id"].tolist(), cols["col"].tolist(), cols["seat"].tolist(), strict=True)
        deals.append(dict(zip(keys, cols["hand"].tolist(), strict=True)))
    common = set.intersection(*map(set, deals))
    assert len(common) >= GAMES // 4 * players * (2 if players == 2 else 5)
    assert all(deals[0][key] == other[key] for key in common for other in deals[1:])


def test_another_seed_and_another_game_deal_other_hands() -> None:
    bots, seats = bots_of(["greedy"] * 4), fixed_seating(4)
    hands = [play(bots, GAMES // 4, seed=seed, seatings=seats)[1]["hand"] for seed in (5, 6, 2**63 - 1)]
    everything = np.concatenate(hands)
    assert len(np.unique(everything)) == len(everything)


GOLDEN = {
    2: "c8ffe7f8e5158b56b2dc2931c36892ce18e7b271e15297cfd936a3f0b4b277ec",
    3: "59bc9ea0b354de87cd55b28c84960411c5efba0ab77980a23c837eba2222f24b",
    4: "3b6db2f328f00fa1472fc8dc72214a04a6a59badf0cbf028a1b6c710f8f63806",
    5: "de3d36840ffd1d37689c90dca902cfa5d81c9190668415826e54d6310460076c",
}


@each_players
def test_golden_rows(players: int) -> None:
    """Twelve games, the same compiled and interpreted; new rules or deals go with a new version number."""
    assert digest(*play(bots_of(MIXED[:players]), 12, seed=2024)) == GOLDEN[players]


@compiled_bot("keeper", "a bot at fault")
def keeps_and_passes(view: View, _scratch: Scratch, _stream: Stream) -> np.uint64:
    """Lead the one lowest card, which is legal, and answer everything else with ``keep``, which is not."""
    return view["hand"] & ~(view["hand"] - np.uint64(1)) if view["phase"] == Phase.LEAD else KEEP


@compiled_bot("quitter", "a bot at fault")
def gives_up_in_col_two(view: View, _scratch: Scratch, stream: Stream) -> np.uint64:
    """Play as ``random`` does, but raise at the first choice of col 2."""
    if view["col"] == 2:
        raise ValueError("no more")
    return uniform(view, _scratch, stream)


@compiled_bot("mute", "a bot at fault")
def says_nothing(_view: View, _scratch: Scratch, _stream: Stream) -> np.uint64:
    """Answer with the word 0: a play of no card."""
    return U0


@compiled_bot("stranger", "a bot at fault")
def plays_a_stranger(view: View, _scratch: Scratch, _stream: Stream) -> np.uint64:
    """Add the Jersey to a lead in col 1, where nobody wears it."""
    return view["hand"] & ~(view["hand"] - np.uint64(1)) | JERSEY if popcount(view["hand"]) == 11 else PASS


def faulty(policy: Policy) -> Bot:
    return Bot(policy.name, policy, ())


def fault_of(bots: Sequence[Bot], first_game: int) -> str:
    with pytest.raises(BotError) as caught:
        play(bots, 4, first_game=first_game)
    return str(caught.value)


def test_an_illegal_move_is_named_with_game_seat_and_bot() -> None:
    bots = [*bots_of(["greedy", "greedy"]), faulty(keeps_and_passes)]
    assert fault_of(bots, 3) == (
        "game 3, seat 2, bot keeper: chose 'keep', which is illegal: this is not what has to be decided now"
    )
    assert fault_of(bots, 4).startswith("game 4, seat 0, bot keeper: chose 'keep'")


def test_a_play_of_no_card_is_named() -> None:
    bots = [faulty(says_nothing), *bots_of(["greedy"])]
    assert fault_of(bots, 0) == (
        "game 0, seat 0, bot mute: chose a play of no card, which is illegal: a play needs at least one card"
    )


def test_an_illegal_play_is_told_by_its_cards() -> None:
    bots = [faulty(plays_a_stranger), *bots_of(["greedy"] * 3)]
    hand = play(bots_of(["greedy"] * 4), 1, first_game=4)[1]["hand"][0]
    lowest = card_texts(int(hand) & -int(hand))[0]
    assert fault_of(bots, 4) == (
        f"game 4, seat 0, bot stranger: chose '{lowest} +jersey', which is illegal: only its wearer may add the Jersey"
    )


def test_a_bot_that_raises_is_named_with_game_seat_bot_and_cause() -> None:
    bots = [*bots_of(["random"] * 3), faulty(gives_up_in_col_two)]
    seat = (3 + 8) % 4
    assert fault_of(bots, 8) == f"game 8, seat {seat}, bot quitter: ValueError: no more"


@pytest.mark.parametrize("players", [1, 6])
def test_a_table_for_too_few_or_too_many(players: int) -> None:
    with pytest.raises(UsageError, match=f"players {players}: allowed is 2-5"):
        open_table(bots_of(["random"] * players), RuleSet.official(), rotated_seatings(players), 0)


def test_a_deck_too_small_for_the_table() -> None:
    with pytest.raises(UsageError, match="hand_size=12: allowed is 1-11 with 5 players"):
        open_table(bots_of(["random"] * 5), RuleSet(hand_size=12), rotated_seatings(5), 0)
