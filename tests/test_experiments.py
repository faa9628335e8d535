"""The experiments measure what they say: intervals, duplicate deals, resumed runs, rising shares."""

import importlib.util
import json
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import rotated_seatings
from velonimo_sim.errors import BotError
from velonimo_sim.game import GAMES
from velonimo_sim.rng import STREAM
from velonimo_sim.velonimo.policies import BUILT_IN, inference, parse_bot, stand
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.state import new_state

EXPERIMENTS = Path(__file__).parent.parent / "experiments"
sys.path.append(str(EXPERIMENTS / "010-ladder"))


def load(path: str) -> ModuleType:
    """Return an experiment's file as a module, known by a name of its own, as compiled code in the cache needs it."""
    name = path.replace("/", "_").removesuffix(".py")
    spec = importlib.util.spec_from_file_location(name, EXPERIMENTS / path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


Command: TypeAlias = Callable[..., tuple[int, str, str]]
"""Runs the ladder with arguments; returns its exit status and what it printed on stdout and stderr."""

duplicates = load("010-ladder/duplicates.py")
ladder = load("010-ladder/run.py")
speed = load("010-ladder/speed.py")
advised = load("011-advised/run.py")


# Intervals.


@pytest.mark.parametrize(("chance", "spread"), [(0.25, 0.0), (0.25, 0.15), (0.6, 0.3), (0.9, 0.09)])
def test_intervals_cover_what_they_should_when_games_of_a_deal_are_alike(chance: float, spread: float) -> None:
    rng = np.random.default_rng(1)
    covered = 0
    for _ in range(2_000):
        by_deal = chance + spread * rng.choice([-1, 1], 200)
        _, low, high = duplicates.share_interval(rng.binomial(4, by_deal), 4)
        covered += low <= chance <= high
    assert 0.93 <= covered / 2_000 <= 0.97


def test_intervals_cover_what_they_should_when_one_of_the_games_of_a_deal_is_won() -> None:
    """Most deals are won once by each bot, so that the share varies less than in independent games."""
    rng = np.random.default_rng(2)
    covered = widths = 0.0
    for _ in range(2_000):
        wins = rng.choice([0, 1, 2], 200, p=[0.1, 0.8, 0.1])
        _, low, high = duplicates.share_interval(wins, 4)
        covered += low <= 0.25 <= high
        widths += high - low
    assert 0.93 <= covered / 2_000 <= 0.97
    assert widths / 2_000 < 0.04  # independent games would have 0.06


@pytest.mark.parametrize(("wins", "share"), [(0, 0.0), (4, 1.0), (1, 0.25)])
def test_intervals_are_of_some_width_when_all_deals_are_alike(wins: int, share: float) -> None:
    found, low, high = duplicates.share_interval(np.full(50, wins), 4)
    assert found == share
    assert 0 <= low <= share + 1e-12
    assert share - 1e-12 <= high <= 1
    assert 0.05 < high - low < 0.3


# Duplicate deals.

BOTS = ["advised", "greedy", "random"]
DEALS = range(30, 70)


def rows_of_table(seating: NDArray[np.int8]) -> tuple[NDArray[np.void], NDArray[np.void]]:
    """Return the rows that a tournament's table with one seating leaves of the deals."""
    game, rules = GAMES["velonimo"], RuleSet.official()
    table = game.open_table([game.parse_bot(bot) for bot in BOTS], rules, seating[None], 5)
    game_rows = np.zeros(len(BOTS) * len(DEALS), game.game_row)
    col_rows = np.zeros(len(DEALS) * game.most_col_rows(rules, len(BOTS)), game.col_row)
    written = table.play(DEALS.start, len(DEALS), game_rows, col_rows)
    return game_rows, col_rows[:written]


def test_duplicate_deals_give_each_bot_the_cards_of_each_seat_once() -> None:
    wins = duplicates.play_duplicates(BOTS, DEALS, 5)
    assert wins.shape == (len(DEALS), 3, 3)
    seats_of_bots, hands = [], []
    for seating in rotated_seatings(3):
        games, cols = rows_of_table(seating)
        winners = games[games["won"]]
        assert wins[winners["deal_id"] - DEALS.start, winners["bot"], winners["seat"]].all()
        seats_of_bots.append(np.argsort(seating))
        hands.append(cols[["game_id", "col", "seat", "hand"]])
    assert (np.sort(seats_of_bots, axis=0) == np.arange(3)[:, None]).all()
    assert all((dealt == hands[0]).all() for dealt in hands)
    assert (wins.sum(axis=(1, 2)) == 3).all(), "each game has one winner"


def test_duplicate_deals_do_not_depend_on_workers_or_on_where_they_begin() -> None:
    wins = duplicates.play_duplicates(BOTS, DEALS, 5)
    assert (duplicates.play_duplicates(BOTS, DEALS, 5, workers=1) == wins).all()
    assert (duplicates.play_duplicates(BOTS, DEALS[10:13], 5) == wins[10:13]).all()
    assert (duplicates.play_duplicates(BOTS, DEALS, 6) != wins).any()


def test_a_bot_against_itself_starts_in_each_seat_and_wins_as_often_in_each() -> None:
    wins = duplicates.play_itself("greedy", 4, range(1_000), 1)
    assert (wins.sum(axis=2) == 1).all(), "each starter's game has one winner"
    for seat in range(4):
        share, low, high = duplicates.share_interval(wins[:, :, seat].sum(axis=1), 4)
        assert low - 0.01 < 0.25 < high + 0.01, (seat, share)


def test_with_the_seats_rotated_a_bot_against_itself_plays_one_game_a_deal() -> None:
    wins = duplicates.play_duplicates(["advised"] * 4, range(50), 1)
    assert (wins.sum(axis=(0, 2)) == 50).all()
    assert (wins.sum(axis=1).max(axis=1) == 4).all()


def test_plain_bots_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "plain.py"
    file.write_text("class First:\n    def choose(self, view, moves, rng):\n        return moves[0]\n")
    with pytest.raises(BotError, match="plain Python"):
        duplicates.play_duplicates(["greedy", f"{file}:First"], range(2), 1)


# Runs that go on.

CONFIG = """
seed = 3

[[row]]
name = "pair"
bot = "advised"
against = ["greedy", "random"]
deals = 40
asked = 66

[[row]]
name = "self"
bot = "greedy"
against = ["greedy"]
deals = 25
asked = 50

[curves]
bots = ["rollout"]
parameter = "n"
budgets = [1, 2]
against = ["greedy"]
deals = 3
"""


@pytest.fixture
def command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Command:
    (tmp_path / "config.toml").write_text(CONFIG)

    def run(*arguments: str) -> tuple[int, str, str]:
        status = ladder.main([*arguments, "--config", str(tmp_path / "config.toml"), "--out", str(tmp_path / "out")])
        return status, *capsys.readouterr()

    return run


def test_a_run_that_was_broken_off_goes_on_and_gives_the_same_table(command: Command, tmp_path: Path) -> None:
    _, whole, _ = command()
    pieces = sorted((tmp_path / "out").iterdir())
    assert len(pieces) == 10 + 9
    before = pieces[0].read_bytes()
    for piece in (pieces[3], pieces[4], pieces[-1]):
        piece.unlink()
    status, again, progress = command()
    assert (status, again) == (0, whole)
    assert len(progress.splitlines()) == 3, "only what is missing is played"
    assert pieces[0].read_bytes() == before
    assert sorted((tmp_path / "out").iterdir()) == pieces


def test_more_deals_go_on_from_those_played(command: Command, tmp_path: Path) -> None:
    _, few, _ = command("--only", "pair", "--deals", "13")
    _, many, progress = command("--only", "pair", "--deals", "26")
    assert len(progress.splitlines()) == 5
    assert command("--only", "pair", "--deals", "13") == (0, few, "")
    shutil.rmtree(tmp_path / "out")
    assert command("--only", "pair", "--deals", "26")[1] == many


def test_the_table_has_a_line_a_row_or_a_seat(command: Command) -> None:
    _, table, _ = command()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert cells[0] == ["bot", "against", "players", "deals", "games", "wins % (95 %)", "asked"]
    assert [line[:5] + line[6:] for line in cells[2:]] == [
        ["advised", "one greedy and one random", "3", "40", "120", "66"],
        ["greedy in seat 0", "itself x 1", "2", "25", "50", "50"],
        ["greedy in seat 1", "itself x 1", "2", "25", "50", "50"],
    ]
    assert all(re.fullmatch(r"\d+\.\d \(\d+\.\d-\d+\.\d\)", line[5]) for line in cells[2:])


def test_curves_are_printed_as_csv_and_drawn(command: Command, tmp_path: Path) -> None:
    status, table, _ = command("curves")
    assert status == 0
    lines = [line.split(",") for line in table.splitlines()]
    assert lines[0] == ["bot", "budget", "deals", "games", "win_share", "low", "high"]
    assert [line[:4] for line in lines[1:]] == [["rollout", "1", "3", "6"], ["rollout", "2", "3", "6"]]
    assert (tmp_path / "out" / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_pieces_of_other_bots_or_seeds_are_refused(command: Command) -> None:
    command("--only", "pair", "--deals", "5")
    status, table, error = command("--only", "pair", "--deals", "5", "--seed", "4")
    assert status == 2
    assert table.count("\n") == 2
    assert error.count("\n") == 1
    assert "pair.0000000.json: played by other bots or with another seed" in error


def test_pieces_of_other_sources_are_told(command: Command, tmp_path: Path) -> None:
    command("--only", "pair", "--deals", "1")
    (piece,) = (tmp_path / "out").iterdir()
    piece.write_text(json.dumps(json.loads(piece.read_text()) | {"source_hash": "0"}))
    status, _, error = command("--only", "pair", "--deals", "1")
    assert status == 0
    assert error.endswith("played by another version of the sources\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--deals", "0"], "--deals 0: allowed is an integer 1-1000000"),
        (["--scale", "nan"], "--scale nan: allowed is a number above 0"),
        (["--only", "nobody"], "no row is called nobody: there are pair, self"),
        (["nothing"], "invalid choice: 'nothing'"),
        (["--runs", "x"], "--runs x: allowed is"),
    ],
)
def test_bad_input_is_one_line(command: Command, arguments: list[str], words: str) -> None:
    status, table, error = command(*arguments)
    assert (status, table, error.count("\n")) == (2, "", 1)
    assert words in error


@pytest.mark.parametrize("text", ["row = 1", "x = [", '[[row]]\nname = "a"', CONFIG.replace("asked", "wished")])
def test_a_bad_configuration_is_one_line(text: str, command: Command, tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text(text)
    status, table, error = command()
    assert (status, table, error.count("\n")) == (2, "", 1)
    assert "config.toml: " in error


def test_the_configured_bots_that_exist_can_be_read() -> None:
    config = ladder.read_config(EXPERIMENTS / "010-ladder" / "config.toml")
    texts = {bot for row in [*config["rows"], *config["points"]] for bot in (row.bot, *row.against)}
    assert all(parse_bot(text) for text in texts if text.partition(":")[0] in BUILT_IN)
    assert len({row.name for row in [*config["rows"], *config["points"]]}) == len(config["rows"] + config["points"])


# Rising shares.


def test_numbers_that_rise_stay_as_they_are() -> None:
    assert advised.isotonic([0.1, 0.2, 0.2, 0.9], [1, 1, 5, 1]).tolist() == [0.1, 0.2, 0.2, 0.9]
    assert advised.isotonic([], []).tolist() == []


def test_neighbours_in_the_wrong_order_are_pooled_by_weight() -> None:
    assert advised.isotonic([0.5, 0.2], [1, 2]) == pytest.approx([0.3, 0.3])
    assert advised.isotonic([3, 2, 1, 5], [1, 1, 1, 1]) == pytest.approx([2, 2, 2, 5])


def test_no_rising_numbers_are_nearer() -> None:
    rng = np.random.default_rng(3)
    means, weights = rng.random(12), rng.integers(1, 9, 12)
    nearest = advised.isotonic(means, weights)
    assert (np.diff(nearest) >= 0).all()
    others = np.sort(nearest + 0.1 * rng.standard_normal((2_000, 12)), axis=1)
    distances = (weights * (others - means) ** 2).sum(axis=1)
    assert (distances >= (weights * (nearest - means) ** 2).sum()).all()


def test_values_that_were_not_seen_have_the_share_of_the_one_before() -> None:
    shares = advised.rising_shares(np.array([0, 4, 0, 2, 2, 0]), np.array([0, 1, 0, 2, 1, 0]))
    assert shares == pytest.approx([0, 0.25, 0.25, 0.75, 0.75, 0.75])


def test_the_tables_are_printed_as_they_stand_in_the_source() -> None:
    source = Path(stand.__file__).read_text(encoding="utf-8")
    assert advised.stand_text(stand.STAND / 1024) in source


def test_plays_are_counted_once_and_those_on_top_stand() -> None:
    plays, stood = np.zeros((2, stand.SITUATIONS, advised.VALUES), np.int64)
    advised.count_plays(np.array([new_state(3)]), np.zeros(3, STREAM), 1, 300, plays, stood)
    assert (stood <= plays).all()
    assert stood[:, 61:].sum() == plays[:, 61:].sum() > 0
    assert plays[2 * stand.SIZES :].sum() == 0, "2 opponents at most"
    assert plays[:, 1:8].sum() > 0


def test_each_piece_of_advice_is_tried_alone_and_left_out() -> None:
    texts = {name: parse_bot(text).text for name, text in advised.versions().items()}
    assert len(texts) == 18
    assert texts["all"] == "advised"
    assert texts["all but hares"] == "advised:hares=off"
    assert parse_bot(texts["late alone"]).values == (True, *[False] * 7)
    assert not any(parse_bot(texts["none"]).values)


@pytest.mark.parametrize(
    ("what", "lines"), [(["switches", "--deals", "2"], 2 * 3 + 18 + 17), (["stand", "--games", "1"], 52)]
)
def test_the_tables_of_advised_are_printed(what: list[str], lines: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert advised.main(what) == 0
    assert len(capsys.readouterr().out.splitlines()) == lines


# Speed.


def test_decisions_are_timed_bot_by_bot() -> None:
    decisions = speed.timed_decisions(["greedy", "random", "random", "random"], 4, 1)
    by_bot = np.bincount(decisions["bot"])
    assert len(by_bot) == 4
    assert by_bot.min() > 4 * 5 * 3
    assert decisions["moves"].min() == 1
    assert 0 < np.median(decisions["ns"]) < 1e6
    assert speed.median_ns(decisions) > 0


def test_playouts_are_those_that_are_counted() -> None:
    starts = speed.positions("greedy", 1, 1)
    assert speed.playout_rate("greedy", starts, 1) > 0


# What moves tell of hidden hands.


@pytest.mark.slow
def test_the_numbers_that_are_fitted_are_those_of_the_source() -> None:
    fitting = load("012-inference/run.py")
    numbers = fitting.present_numbers()
    assert numbers[0] == inference._REGRETTED
    assert numbers[-2:].tolist() == inference._TRUST_LEFT.tolist()
    pairs = fitting.pairs_of("advised", 1, 3)
    assert 0 < fitting.loss(pairs, numbers) < np.log(2)
