"""The experiments measure what they say: ladders that go on, rising shares, speeds."""

import dataclasses
import importlib.util
import re
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pytest

from velonimo_sim import analysis
from velonimo_sim.game_records import read_records
from velonimo_sim.rng import STREAM
from velonimo_sim.velocity.policies import standing
from velonimo_sim.velonimo.policies import BUILT_IN, inference, parse_bot, stand
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

sizes = load("experiment.py")
ladder = load("010-ladder/run.py")
speed = load("010-ladder/speed.py")
advised = load("011-advised/run.py")


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
    (shard,) = (tmp_path / "out" / "pair").glob("games-*.parquet")
    before = shard.read_bytes()
    shutil.rmtree(tmp_path / "out" / "self")
    status, again, progress = command()
    assert (status, again) == (0, whole)
    played = [line.split(": ")[2] for line in progress.splitlines()]
    assert [re.sub(r" in .* s$", "", line) for line in played] == [
        "40 deals, 0 games played",
        "25 deals, 25 games played",
    ], "only what is missing is played"
    assert shard.read_bytes() == before


def test_more_deals_go_on_from_those_played(command: Command, tmp_path: Path) -> None:
    command("--only", "pair", "--deals", "13")
    _, many, progress = command("--only", "pair", "--deals", "26")
    assert "26 deals, 39 games played" in progress
    shutil.rmtree(tmp_path / "out")
    assert command("--only", "pair", "--deals", "26")[1] == many


def test_the_table_has_a_line_a_row_or_a_seat(command: Command) -> None:
    _, table, _ = command()
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert cells[0] == ["bot", "against", "players", "deals", "games", "wins % (95 %)", "asked"]
    assert [line[:5] + line[6:] for line in cells[2:]] == [
        ["advised", "one greedy and one random", "3", "40", "120", "66"],
        ["greedy in seat 0", "itself x 1", "2", "25", "25", "50"],
        ["greedy in seat 1", "itself x 1", "2", "25", "25", "50"],
    ]
    assert all(re.fullmatch(r"\d+\.\d \(\d+\.\d-\d+\.\d\)", line[5]) for line in cells[2:])


def test_curves_are_printed_as_csv_and_drawn(command: Command, tmp_path: Path) -> None:
    status, table, _ = command("curves")
    assert status == 0
    lines = [line.split(",") for line in table.splitlines()]
    assert lines[0] == ["bot", "budget", "deals", "games", "win_share", "low", "high"]
    assert [line[:4] for line in lines[1:]] == [["rollout", "1", "3", "6"], ["rollout", "2", "3", "6"]]
    assert (tmp_path / "out" / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_a_run_with_another_seed_is_refused(command: Command) -> None:
    command("--only", "pair", "--deals", "5")
    status, table, error = command("--only", "pair", "--deals", "5", "--seed", "4")
    assert (status, table.count("\n"), error.count("\n")) == (2, 2, 1)
    assert "is another run: seed is 3 in the run and 4 here" in error


def test_the_shares_of_seats_are_those_of_the_rows(command: Command, tmp_path: Path) -> None:
    _, table, _ = command("--only", "self", "--deals", "200")
    rows = analysis.load(tmp_path / "out" / "self").games.frame()
    shares = [float(line.split("|")[6].split()[0]) for line in table.splitlines()[2:]]
    assert shares == pytest.approx(100 * rows.groupby("seat")["won"].mean(), abs=0.06)


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


@pytest.mark.slow
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


# Runs whose tables are kept: the same experiments, with fewer games and quicker bots.

SEATS = """
seed = 3
bot = "greedy"
players = [2, 3]

[tables]
strategies = ["greedy", "hold-hares", "advised", "random"]
champion = ["greedy", "hold-hares", "advised", "random"]
alike = ["advised", "advised:hares=off", "advised:jersey=off", "advised:late=off"]
neighbour = ["greedy", "advised", "advised", "advised"]

[games]
seats = 30
strategies = 20
champion = 20
alike = 40
neighbour = 20

[scale]
small = 1
"""
ADVICE = """
seed = 3
bot = "advised"
switches = ["late", "dromedary"]
players = [2, 3]
games = 30

[scale]
small = 1
"""


def played(path: str, config: str, folder: Path) -> dict[str, pd.DataFrame]:
    """Return the tables of an experiment with another configuration, and see that its figures can be drawn."""
    (folder / "config.toml").write_text(config)
    experiment = dataclasses.replace(load(path).EXPERIMENT, folder=folder)
    tables: dict[str, pd.DataFrame] = experiment.tables(experiment.play("small", seed=None, workers=1))
    experiment.keep(tables)
    kept = {path.name for path in (folder / "results").iterdir()}
    assert kept == {f"{name}.csv" for name in tables} | {f"{name}.svg" for name in experiment.figures}
    return tables


def test_seats_starts_and_strategies_are_told(tmp_path: Path) -> None:
    tables = played("021-seats-and-strategies/run.py", SEATS, tmp_path)
    assert tables["seats"].groupby("players")["mean"].sum().to_dict() == pytest.approx({2: 1, 3: 1})
    assert tables["first-col"].groupby("players")["mean"].sum().to_dict() == pytest.approx({2: 1, 3: 3}), "V14"
    assert tables["neighbour"]["after"].tolist() == [1, 2, 3]
    assert set(tables["habits"]["habit"]) == {"turns", "passes", "swaps_made", "jersey_spent"}
    assert tables["luck-alike"]["share"].sum() == pytest.approx(1)


def test_each_piece_of_advice_is_told_by_players(tmp_path: Path) -> None:
    effects = played("025-advice/run.py", ADVICE, tmp_path)["switches"]
    assert [*effects[["players", "lack"]].itertuples(index=False, name=None)] == [(2, 1), (3, 1), (3, 2)] * 2
    without_duel = effects[(effects["switch"] == "dromedary") & (effects["players"] > 2)]
    assert without_duel[["mean", "changed"]].to_numpy().tolist() == [[0, 0]] * 2, "Dromedaries draw in the duel alone"


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


# How couriers stand.


@pytest.mark.slow
def test_the_weights_of_a_standing_are_the_best_for_the_races_they_were_fitted_to() -> None:
    """The loss is less than that of a guess, on other races too, and hardly falls any more."""
    fitting = load("031-standing/run.py")
    numbers = np.append(standing.WEIGHTS[0], np.log(standing.SOFTENING[0]))
    fit, gradient = fitting.loss(numbers, *fitting.standings(3, 20_000, 1))
    assert np.abs(gradient).max() < 1e-3
    assert fit < np.log(3)
    assert fitting.loss(numbers, *fitting.standings(3, 1_000, 2))[0] < 0.95 * np.log(3)


# Experiments of runs at two sizes.

NUMBERED = sorted(
    path.parent for path in EXPERIMENTS.glob("*/run.py") if "from experiment import" in path.read_text(encoding="utf-8")
)
FEW_GAMES = 48
MANY_GAMES = 40_000
"""For what compares hands that were dealt twice."""
SECTIONS = ["Question", "Command", "Commit", "Seed", "Games", "Result", "What would change the mind"]

every_numbered = pytest.mark.parametrize("folder", NUMBERED, ids=lambda folder: folder.name)


def small_experiment(folder: Path) -> Any:
    """Return an experiment of two runs in a folder."""
    (folder / "config.toml").write_text("seed = 5\ngames = 12\n\n[scale]\nsmall = 1\nfull = 2\n")
    bots = ("greedy", "hold-hares")
    return sizes.Experiment(
        folder,
        runs=lambda config: {bot: {"bots": [bot, "random"], "games": config["games"]} for bot in bots},
        tables=lambda out: {"wins": analysis.outcomes_by([out / bot for bot in bots], ["run", "bot"])},
        figures={"wins": lambda tables, ax: ax.plot(tables["wins"]["mean"])},
        records={"greedy": 3},
        ship=lambda out: (folder / "shipped").write_text(out.name),
    )


def test_an_experiment_that_was_stopped_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    experiment = small_experiment(tmp_path)
    assert experiment.main(["--size", "small"]) == 0
    whole = capsys.readouterr().out
    shutil.rmtree(tmp_path / "out" / "small" / "hold-hares")
    assert experiment.main(["--size", "small"]) == 0
    again, said = capsys.readouterr()
    assert again == whole
    assert "greedy: 12 games, 0 of them played now" in said
    assert "hold-hares: 12 games, 12 of them played now" in said


def test_an_experiment_is_played_anew_if_that_is_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    experiment = small_experiment(tmp_path)
    assert experiment.main([]) == 0
    assert experiment.main(["--seed", "6", "--overwrite"]) == 0
    assert "greedy: 12 games, 12 of them played now" in capsys.readouterr().err
    assert analysis.load(tmp_path / "out" / "small" / "greedy").runs[0].manifest["seed"] == 6


def test_an_experiment_that_is_interrupted_says_that_it_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(sizes, "run_tournament", interrupted)
    assert small_experiment(tmp_path).main([]) == 130
    assert capsys.readouterr().err.endswith(": stopped; the same command goes on\n")


def test_an_experiment_leaves_tables_figures_records_and_what_is_shipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment = small_experiment(tmp_path)
    assert experiment.main([]) == 0
    assert not (tmp_path / "results").exists(), "results are those of the full size"
    assert not (tmp_path / "shipped").exists(), "and so is what is shipped"
    assert experiment.main(["--size", "full"]) == 0
    assert "wins\n" in capsys.readouterr().out
    header, *lines = (tmp_path / "results" / "wins.csv").read_text().splitlines()
    assert header == "run,bot,mean,low,high,rows,games,deals"
    assert [line.split(",")[:2] for line in lines] == [
        ["greedy", "greedy"],
        ["greedy", "random"],
        ["hold-hares", "random"],
        ["hold-hares", "hold-hares"],
    ]
    assert "<svg" in (tmp_path / "results" / "wins.svg").read_text()
    assert (tmp_path / "shipped").read_text() == "full"
    for size in ("small", "full"):
        ((_, record),) = read_records(tmp_path / "out" / size / "greedy-game-3.jsonl")
        rows = analysis.load(tmp_path / "out" / size / "greedy").games.frame()
        assert record["winner"] == rows[(rows["game_id"] == 3) & rows["won"]]["seat"].iloc[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--size", "huge"], "invalid choice: 'huge'"),
        (["--seed", "-1"], "--seed -1: allowed is an integer"),
        (["--workers", "0"], "--workers 0: allowed is an integer"),
        (["--games", "5"], "--games"),
        (["--seed", "6"], "is another run: seed is 5 in the run and 6 here"),
    ],
)
def test_bad_input_to_an_experiment_is_one_line(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    experiment = small_experiment(tmp_path)
    experiment.play("small", None, 1)
    capsys.readouterr()
    with suppress(SystemExit):
        assert experiment.main(arguments) == 2
    printed, said = capsys.readouterr()
    assert (printed, said.count("\n")) == ("", 1)
    assert words in said


@every_numbered
def test_what_an_experiment_found_is_told_in_sections(folder: Path) -> None:
    notes = (folder / "NOTES.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", notes, re.MULTILINE) == SECTIONS
    assert f"python experiments/{folder.name}/run.py --size full" in notes


@every_numbered
def test_the_seed_of_an_experiment_is_its_number(folder: Path) -> None:
    experiment = load(f"{folder.name}/run.py").EXPERIMENT
    assert experiment.config()["seed"] == int(folder.name.partition("-")[0])
    assert set(experiment.config()["scale"]) == {"small", "full"}


@every_numbered
def test_the_results_of_an_experiment_are_those_that_it_names(folder: Path) -> None:
    experiment = load(f"{folder.name}/run.py").EXPERIMENT
    assert {path.stem for path in (folder / "results").glob("*.svg")} == set(experiment.figures)
    assert all(path.stat().st_size < 300_000 for path in (folder / "results").glob("*.svg"))


@pytest.mark.slow
@every_numbered
def test_an_experiment_of_few_games_gives_its_tables_and_figures(folder: Path, tmp_path: Path) -> None:
    shutil.copy(folder / "config.toml", tmp_path)
    experiment = load(f"{folder.name}/run.py").EXPERIMENT

    def few(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
        runs = experiment.runs(config)
        most = MANY_GAMES if folder.name == "024-cards" else FEW_GAMES
        return {name: options | {"games": min(options["games"], most)} for name, options in runs.items()}

    small = replace(experiment, folder=tmp_path, runs=few)
    tables = small.tables(small.play("small", None, 2))
    small.keep(tables)
    kept = {path.name for path in (tmp_path / "results").iterdir()}
    assert kept == {f"{name}.csv" for name in tables} | {f"{name}.svg" for name in experiment.figures}
    assert {path.stem for path in (folder / "results").glob("*.csv")} == set(tables)
