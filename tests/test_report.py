"""The page about a run: its numbers are those of the run, it needs nothing else, and what is no run is told."""

import json
import re
import shlex
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from base64 import b64decode
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from runs import THREE, Said, assert_one_line, assert_same_rows, contents, manifest, play, said_by
from velonimo_sim import report
from velonimo_sim.analysis import change_records, paired_difference, ratings, seat_effects
from velonimo_sim.velonimo.rules import RuleSet

PICTURE = "data:image/svg+xml;base64,"


class Page(HTMLParser):
    """A page as it is read: tables by their class or id, rows of texts; pictures, tags, and all the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self.pictures: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.command = ""
        self._rows: list[list[str]] = []
        self._inside: list[str] = []
        self.feed(text)
        self.text = " ".join(self.text.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.tags.append((tag, named))
        if tag == "table":
            self._rows = self.tables.setdefault(named.get("id") or named["class"] or "", [])
        elif tag == "tr":
            self._rows.append([])
        elif tag in ("td", "th"):
            self._rows[-1].append("")
        elif tag == "img":
            self.pictures.append(named["src"] or "")
        if tag not in ("meta", "img"):
            self._inside.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._inside.pop() == tag, "tags are closed in their order"

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._inside and self._inside[-1] in ("td", "th"):
            self._rows[-1][-1] += data.strip()
        if self._inside and self._inside[-1] == "pre":
            self.command += data

    def table(self, name: str) -> pd.DataFrame:
        heading, *rows = self.tables[name]
        return pd.DataFrame(rows, columns=heading)


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def told(*arguments: str) -> Said:
    return said_by(report.main, *arguments)


def page_of(folder: str = "run") -> Page:
    """Return the page about a run, which is all that the command prints."""
    said = told(folder, "--out", "-")
    assert (said.status, said.err) == (0, "")
    return Page(said.out)


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Any]:
    """Play each tournament once, and return its result and a copy of its folder."""
    results: dict[tuple[str, ...], tuple[Path, Any]] = {}

    def copied(*arguments: str) -> Any:
        if arguments not in results:
            folder = tmp_path_factory.mktemp("played") / "run"
            said = play(*arguments, "--out", str(folder), "--json", "--quiet")
            assert said.status == 0, said.err
            results[arguments] = folder, json.loads(said.out)
        folder, result = results[arguments]
        shutil.copytree(folder, "run")
        return result

    return copied


SMALL = ("--bots", *THREE, "--games", "60", "--seed", "5")
COMPARISON = ("--bots", *THREE, "--games", "12", "--compare-rules", "tortoise_swap=off")


def change_games(change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    """Change the game rows of the run, whose files say of it what they said before."""
    for path in Path("run").glob("games-*.parquet"):
        table = pq.read_table(path)
        changed = pa.Table.from_pandas(change(table.to_pandas()), table.schema, preserve_index=False)
        pq.write_table(changed, path)


def change_manifest(**changes: object) -> None:
    Path("run/run.json").write_text(json.dumps(manifest("run") | changes), "utf-8")


def silence_manifest(key: str) -> None:
    """Let the manifest not say something."""
    kept = {name: value for name, value in manifest("run").items() if name != key}
    Path("run/run.json").write_text(json.dumps(kept), "utf-8")


def ends_of(text: str) -> list[float]:
    """Return the ends of an interval."""
    return [float(end) for end in text.split(" to ")]


# The numbers are those of the run.


def test_the_standings_are_those_of_the_tournament(played: Callable[..., Any]) -> None:
    result = played(*SMALL)
    table = page_of().table("standings")
    best_first = sorted(result["bots"], key=lambda row: -row["win_share"])
    assert table["bot"].tolist() == [row["bot"] for row in best_first]
    for (_, cells), row in zip(table.iterrows(), best_first, strict=True):
        texts = cells.tolist()
        assert texts[1] == f"{row['games']:,}"
        for place, (name, scale) in enumerate((("win_share", 100), ("mean_points", 1), ("mean_place", 1))):
            prefix = {"win_share": "", "mean_points": "points_", "mean_place": "place_"}[name]
            ends = [scale * row[f"{prefix}low"], scale * row[f"{prefix}high"]]
            assert float(texts[2 + 2 * place]) == pytest.approx(scale * row[name], abs=0.0051)
            assert ends_of(texts[3 + 2 * place]) == pytest.approx(ends, abs=0.0051)


def test_the_differences_are_paired_by_deal(played: Callable[..., Any]) -> None:
    played(*SMALL)
    rows = page_of().tables["pairs"][1:]
    assert len(rows) == 3
    for first, second, mean, interval, better in rows:
        expected = paired_difference("run", first, second)
        assert float(mean) == pytest.approx(100 * expected.mean, abs=0.0051)
        assert float(mean) >= 0, "the better comes first"
        assert ends_of(interval) == pytest.approx([100 * expected.low, 100 * expected.high], abs=0.0051)
        assert better == (first if expected.low > 0 else "neither")
    assert {row[4] for row in rows} > {"neither"}, "some are told apart and some are not"


def test_the_effects_of_the_seats(played: Callable[..., Any]) -> None:
    played(*SMALL)
    found = page_of().tables["seats"][1:]
    for texts, row in zip(found, seat_effects("run").to_dict("records"), strict=True):
        assert texts[0] == str(row["seat"])
        assert float(texts[1]) == pytest.approx(100 * row["effect"], abs=0.0051)
        assert ends_of(texts[2]) == pytest.approx([100 * row["low"], 100 * row["high"]], abs=0.0051)
        assert float(texts[3]) == pytest.approx(100 * row["mean"], abs=0.0051)


def test_a_round_robin_is_rated(played: Callable[..., Any]) -> None:
    bots = ["greedy", "random", "hold-hares", "advised", "exact"]
    played("--table", "round-robin", "--bots", *bots, "--games", "60")
    page = page_of()
    table = page.table("standings")
    assert sorted(table["bot"]) == sorted(bots)
    rated = ratings("run").set_index("bot")
    for bot, text in zip(table["bot"], table["rating"], strict=True):
        assert float(text) == pytest.approx(rated.loc[bot, "rating"], abs=0.0051)
    assert len(page.tables["pairs"]) == 1 + 10
    assert "60 of 60 games, 3 deals; finished." in page.text


# What was played, and how to repeat it.


def test_the_rules_that_are_changed_are_marked(played: Callable[..., Any]) -> None:
    played(*SMALL[:-4], "--games", "6", "--rule", "tortoise_swap=off", "--rule", "col_values=1,2")
    page = page_of()
    rules = page.table("rules")
    assert rules["rule"].tolist() == list(RuleSet().to_dict())
    changed = rules[rules["default"] != "the same"]
    assert changed.to_numpy().tolist() == [
        ["col_values", "1,2", "1,2,3,4,5 (changed)"],
        ["tortoise_swap", "off", "mandatory (changed)"],
    ]
    assert sum(tag == "tr" and named.get("class") == "differs" for tag, named in page.tags) == 2


def test_what_was_played_is_told(played: Callable[..., Any]) -> None:
    played(*SMALL)
    page, run = page_of(), manifest("run")
    for fact in (
        "velonimo, 3 players",
        "single: greedy, random, hold-hares",
        "rotations, 3 games a deal",
        f"source hash {run['source_hash']}",
        f"numba {run['versions']['numba']}",
        "60 of 60 games, 20 deals; finished.",
    ):
        assert fact in page.text
    assert [row[0] for row in page.tables["bots"][1:]] == list(THREE)


def test_the_parameters_of_the_bots_are_told(played: Callable[..., Any]) -> None:
    played("--bots", "advised", "advised:hares=off", "--games", "2")
    bots = page_of().tables["bots"][1:]
    assert ["hares=True" in row[1] for row in bots] == [True, False]
    assert "hares=False" in bots[1][1]


@pytest.mark.parametrize(
    "arguments",
    [
        (*SMALL, "--rule", "tortoise_swap=off", "--rule", "col_values=1,2"),
        ("--bots", "greedy", "random", "--games", "600", "--until", "greedy>random", "--alpha", "0.1"),
        ("--table", "round-robin", "--players", "2", "--bots", *THREE, "--games", "12", "--on-fault", "random"),
    ],
    ids=["rules", "until", "round-robin"],
)
def test_the_command_that_is_told_plays_the_same_games(arguments: tuple[str, ...], played: Callable[..., Any]) -> None:
    played(*arguments)
    words = shlex.split(page_of().command)
    assert words[:3] == ["python", "-m", "velonimo_sim.tournament"]
    assert play(*words[3:], "--quiet", "--out", "again").status == 0
    assert_same_rows("run", "again")


def test_a_run_that_was_decided_early_says_so(played: Callable[..., Any]) -> None:
    games = played("--bots", "greedy", "random", "--games", "6000", "--until", "greedy>random")["games"]
    assert games < 6_000
    assert f"{games:,} of 6,000 games, {games // 2:,} deals; finished early, when --until was decided" in page_of().text


def test_the_command_of_a_comparison_plays_both_again(played: Callable[..., Any]) -> None:
    played(*COMPARISON)
    assert play(*shlex.split(page_of().command)[3:], "--quiet", "--out", "again").status == 0
    for name in ("base", "variant"):
        assert_same_rows(f"run/{name}", f"again/{name}")


# One page that needs nothing else.


def test_the_page_holds_all_that_it_shows(played: Callable[..., Any]) -> None:
    played(*SMALL)
    text = told("run", "--out", "-").out
    page = Page(text)
    assert text.isascii(), "it is the same whatever it is taken for"
    assert len(page.pictures) == 3
    sources = [value for _, named in page.tags for name, value in named.items() if name in ("src", "href", "srcset")]
    assert sources == page.pictures
    assert not re.search(r"https?:|url\(|@import", text)
    assert not {tag for tag, _ in page.tags} & {"script", "link", "iframe", "object"}
    for source in page.pictures:
        assert source.startswith(PICTURE)
        assert len(source) < 300_000
        picture = b64decode(source.removeprefix(PICTURE))
        assert ET.fromstring(picture).tag.endswith("svg")
        assert b"60 games, 20 deals" in picture


def test_the_same_run_makes_the_same_page(played: Callable[..., Any]) -> None:
    played(*SMALL)
    assert told("run", "--out", "-") == told("run", "--out", "-")


def test_names_of_bots_are_text_and_nothing_else(played: Callable[..., Any]) -> None:
    played(*SMALL)
    evil = "<script>alert('&')</script>$x$"
    change_games(lambda rows: rows.assign(bot=rows["bot"].cat.rename_categories({"greedy": evil})))
    change_manifest(
        bots=[evil, *THREE[1:]], options=manifest("run")["options"] | {"bots": [evil, *THREE[1:]]}, cause="<b>"
    )
    page = page_of()
    assert evil in page.table("standings")["bot"].tolist()
    assert evil in [row[0] for row in page.tables["bots"]]
    assert evil in shlex.split(page.command)
    assert not {"script", "b"} & {tag for tag, _ in page.tags}


def test_no_engine_is_loaded_for_a_page(played: Callable[..., Any]) -> None:
    played(*SMALL)
    script = """
import sys
from velonimo_sim import report
assert report.main(["run"]) == 0
print(*sorted({"numba", "llvmlite", "matplotlib.pyplot", "velonimo_sim._jit"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("\n", "velonimo_sim.report: wrote report.html\n")


# Runs of all kinds.


def test_two_runs_whose_rules_are_compared(played: Callable[..., Any]) -> None:
    played(*COMPARISON)
    page = page_of()
    assert page.text.count("12 of 12 games, 4 deals; finished.") == 2
    assert [named["id"] for tag, named in page.tags if tag == "section"] == ["base", "variant"]
    for texts, row in zip(page.tables["changes"][1:], change_records("run/base", "run/variant"), strict=True):
        assert texts[:2] == [row["bot"], "4"]
        assert float(texts[2]) == pytest.approx(100 * row["win_share"], abs=0.0051)
        assert ends_of(texts[5]) == pytest.approx([row["points_low"], row["points_high"]], abs=0.0051)


@pytest.mark.parametrize("left", ["no folder", "an empty folder", "no games"])
def test_a_comparison_that_ended_before_its_variant_was_begun(left: str, played: Callable[..., Any]) -> None:
    played(*COMPARISON)
    if left == "no games":
        for path in Path("run/variant").glob("*.parquet"):
            path.unlink()
    else:
        shutil.rmtree("run/variant")
        if left == "an empty folder":
            Path("run/variant").mkdir()
    page = page_of()
    assert "variant: has no finished games" in page.text
    assert [named["id"] for tag, named in page.tags if tag == "section"] == ["base"]
    assert "changes" not in page.tables


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("interrupted", "60 of 90 games, 20 deals; interrupted; --resume goes on."),
        ("failed", "60 of 90 games, 20 deals; failed; --resume goes on (no space left)."),
        ("running", "60 of 90 games, 20 deals; not ended: it is still running, or was killed; --resume goes on."),
    ],
)
def test_how_a_run_ended(status: str, words: str, played: Callable[..., Any]) -> None:
    played(*SMALL)
    change_manifest(status=status, games=90, cause="no space left" if status == "failed" else "")
    assert words in page_of().text


def test_no_faults_are_told_as_none(played: Callable[..., Any]) -> None:
    played(*SMALL)
    assert "Faults None." in page_of().text


def test_faults_are_told_by_bot_and_kind(played: Callable[..., Any]) -> None:
    played(*SMALL)
    faults = {("greedy", 0): (1, 2), ("greedy", 1): (3, 4), ("greedy", 2): (1, 1), ("random", 0): (2, 1)}

    def with_faults(rows: pd.DataFrame) -> pd.DataFrame:
        found = [faults.get(key, (0, 0)) for key in zip(rows["bot"], rows["game_id"], strict=True)]
        return rows.assign(fault=[kind for kind, _ in found], faults=[count for _, count in found])

    change_games(with_faults)
    assert sorted(page_of().tables["faults"][1:]) == [
        ["greedy", "7", "3", "illegal move 2, over time 1"],
        ["random", "1", "1", "exception 1"],
    ]


def test_one_game_alone(played: Callable[..., Any]) -> None:
    played("--bots", "greedy", "random", "--seating", "fixed", "--games", "1")
    page = page_of()
    assert "1 of 1 games, 1 deal; finished." in page.text
    assert "Not known: seats and bots cannot be told apart" in page.text
    assert len(page.pictures) == 2


def test_one_deal_of_a_round_robin_rates_without_intervals(played: Callable[..., Any]) -> None:
    played("--table", "round-robin", "--players", "2", "--bots", *THREE, "--games", "1")
    cells = [row[-1] for row in page_of().tables["standings"][1:]]
    assert cells == ["not known"] * 3


def test_one_bot_in_all_seats(played: Callable[..., Any]) -> None:
    played("--bots", "greedy", "greedy", "greedy", "--games", "30")
    page = page_of()
    assert page.table("standings")["wins, %"].tolist() == ["33.33"]
    assert "One bot has all seats" in page.text
    assert len(page.tables["seats"]) == 1 + 3


def test_who_sees_all_cards_stands_last_and_is_named(played: Callable[..., Any]) -> None:
    played(*SMALL)
    best = page_of().table("standings")["bot"][0]
    change_manifest(sees_all=[bot == best for bot in THREE])
    assert page_of().table("standings")["bot"].tolist()[-1] == f"{best} (sees all, which is cheating)"


def test_many_pairs_are_in_the_table_alone(played: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    played(*SMALL)
    monkeypatch.setattr(report, "MOST_PAIRS_DRAWN", 2)
    page = page_of()
    assert (len(page.tables["pairs"]), len(page.pictures)) == (1 + 3, 2)


# What cannot be told.


def no_games() -> None:
    for path in Path("run").glob("*.parquet"):
        path.unlink()


def damaged() -> None:
    path = next(Path("run").glob("games-*.parquet"))
    path.write_bytes(path.read_bytes()[:-100])


def half_a_shard() -> None:
    next(Path("run").glob("cols-*.parquet")).unlink()


def a_stranger() -> None:
    change_games(lambda rows: rows.assign(bot=rows["bot"].cat.rename_categories({"greedy": "stranger"})))


NO_RUNS: dict[str, tuple[Callable[[], object], str]] = {
    "no folder": (lambda: shutil.rmtree("run"), "velonimo_sim.report: run: holds no run: there is no run.json\n"),
    "no run": (lambda: Path("run/run.json").unlink(), "run: holds no run: there is no run.json"),
    "a file": (lambda: (shutil.rmtree("run"), Path("run").touch()), "run: is not a folder"),
    "no games": (no_games, "run: holds no games yet"),
    "an older schema": (
        lambda: change_manifest(schema_version=2),
        "schema version 2: this version of velonimo_sim reads",
    ),
    "a damaged shard": (damaged, "is damaged"),
    "half a shard": (half_a_shard, "is missing, though the other file of its shard is there"),
    "a bot of another run": (a_stranger, "has rows of 'stranger', which is no bot of the run"),
    "a manifest without a seed": (lambda: silence_manifest("seed"), "the manifest of the run does not say seed"),
    "options that are none": (lambda: change_manifest(options=[1]), "run: the manifest of the run cannot be ("),
    "a rule that is none": (lambda: change_manifest(rules={"luck": 1}), "unknown rule 'luck'"),
    "no JSON": (lambda: Path("run/run.json").write_text("{", "utf-8"), "is no JSON"),
}


@pytest.mark.parametrize("kind", NO_RUNS)
def test_what_is_no_run_is_told_in_one_line_and_nothing_is_written(kind: str, played: Callable[..., Any]) -> None:
    played(*SMALL)
    spoil, message = NO_RUNS[kind]
    spoil()
    before = contents(".")
    assert_one_line(told("run"), 2, message)
    assert_one_line(told("run", "--out", "-"), 2, message)
    assert contents(".") == before


def test_no_arguments_are_a_mistake() -> None:
    assert_one_line(told(), 2, "the following arguments are required: RUN")


# Where it is written.


def test_it_is_written_to_report_html_of_this_folder(played: Callable[..., Any]) -> None:
    played(*SMALL)
    before = contents("run")
    assert told("run") == (0, "", "velonimo_sim.report: wrote report.html\n")
    assert sorted(path.name for path in Path().iterdir()) == ["report.html", "run"]
    assert Path("report.html").read_text("ascii") == told("run", "--out", "-").out
    assert contents("run") == before


def test_a_file_is_replaced_when_that_is_allowed(played: Callable[..., Any]) -> None:
    played(*SMALL)
    Path("page.html").write_text("mine", "utf-8")
    assert_one_line(
        told("run", "--out", "page.html"), 2, "--out page.html: exists; name another file, or allow --overwrite"
    )
    assert Path("page.html").read_text("utf-8") == "mine"
    assert told("run", "--out", "page.html", "--overwrite").status == 0
    assert Path("page.html").read_text("ascii").startswith("<!DOCTYPE html>")


def test_a_file_that_cannot_be_written_is_told_and_leaves_nothing(
    played: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    played(*SMALL)
    assert_one_line(told("run", "--out", "run"), 2, "--out run: is a folder: allowed is a file")
    assert_one_line(told("run", "--out", "none/page.html"), 2, "--out none/page.html: cannot be written (No such file")

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    assert_one_line(told("run"), 2, "--out report.html: cannot be written (No space left on device)")
    assert [path.name for path in Path().iterdir()] == ["run"]
