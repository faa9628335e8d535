"""The page of a recorded game: every frame says what the engine says, and nothing comes from elsewhere."""

import json
import re
import shutil
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from conftest import DATA, recorded_games
from drawings import Record, backs_of, cards_of, centre_of, hands_of, having, moments_of, read, seats_of, text_of
from runs import Said, play, said_by
from velonimo_sim import replay
from velonimo_sim.game_records import write_records
from velonimo_sim.velonimo.record_format import rules_of
from velonimo_sim.velonimo.replay_page import replay_page

each_players = pytest.mark.parametrize("players", [2, 3, 4, 5])


@cache
def page_of(players: int) -> str:
    record = recorded_games(players)[0]
    return replay_page(record, rules_of(record, None))


def content_of(page: str) -> dict[str, Any]:
    """Return what the page's script reads."""
    (text,) = re.findall(r'<script id="game" type="application/json">(.*?)</script>', page, re.DOTALL)
    content: dict[str, Any] = json.loads(text)
    return content


def tables_of(page: str) -> list[Any]:
    """Return the table of each frame as a tree."""
    content = content_of(page)
    return [read("".join(content["pieces"][piece] for piece in frame["table"])) for frame in content["frames"]]


# The frames.


@each_players
def test_every_deal_and_every_move_is_a_frame_with_the_hands_and_totals_of_the_engine(players: int) -> None:
    moments, tables = moments_of(recorded_games(players)[0]), tables_of(page_of(players))
    assert len(tables) == len(moments)
    for (_, state), table in zip(moments, tables, strict=True):
        view, seats = state["view"], seats_of(table)
        assert list(seats) == list(range(players))
        for seat, drawn in seats.items():
            assert cards_of(having(drawn, "open")[0]) == hands_of(state)[seat]
            assert backs_of(having(drawn, "shut")[0]) == view["sizes"][seat]
            assert f" {view['totals'][seat]} point" in text_of(drawn)
            assert ("to act" in text_of(drawn)) == (view["turn"] == seat)


@each_players
def test_the_snapshots_of_the_referee_are_what_the_page_shows(players: int) -> None:
    record, tables = recorded_games(players)[0], iter(tables_of(page_of(players)))
    snapshots = 0
    for one_round in record["rounds"]:
        table = next(tables)
        for event in one_round["events"]:
            if event["act"] != "snapshot":
                table = table if "refused" in event else next(tables)
                continue
            snapshots += 1
            assert [cards_of(having(drawn, "open")[0]) for drawn in seats_of(table).values()] == event["hands"]
            if players == 2:
                (line,) = having(centre_of(table), "reward")
                assert cards_of(line) == ([event["reward"]] if event["reward"] else [])
                assert f" {event['pile_left']} card" in text_of(line)
    assert snapshots >= 10
    assert next(tables, None) is None


@each_players
def test_every_play_says_what_it_was_made_on(players: int) -> None:
    standing: Record = {}
    frames = content_of(page_of(players))["frames"]
    beaten = 0
    for (part, _), frame in zip(moments_of(recorded_games(players)[0]), frames, strict=True):
        if part.get("act") != "play":
            assert ", on " not in frame["event"]
            continue
        told = f"{' '.join(part['cards'])}{' with the Jersey' if part['jersey'] else ''} = {part['value']}"
        assert told in frame["event"]
        if part["beats"]:
            beaten += 1
            jersey = " with the Jersey" if standing["jersey"] else ""
            on = f"{' '.join(standing['cards'])}{jersey} = {part['beats']} of seat {standing['seat']}"
            assert frame["event"].endswith(f", on {on}")
        standing = part
    assert beaten > 20


@each_players
def test_the_attack_lies_in_the_centre_until_it_ends(players: int) -> None:
    attack: list[list[str]] = []
    for (part, state), table in zip(moments_of(recorded_games(players)[0]), tables_of(page_of(players)), strict=True):
        if part.get("act") == "play":
            attack = [*(attack if part["beats"] else []), part["cards"]]
        centre = centre_of(table)
        shown = [cards_of(line) for line in having(centre, "before") + having(centre, "standing")]
        assert shown == (attack if state["view"]["beat"] else [])


@each_players
def test_points_per_col_grow_with_the_game_and_end_as_recorded(players: int) -> None:
    record, content = recorded_games(players)[0], content_of(page_of(players))
    for (_, state), frame in zip(moments_of(record), content["frames"], strict=True):
        col, view = int(state["view"]["col"]), state["view"]
        _, *rows = [[text_of(cell) for cell in row] for row in read(content["pieces"][frame["scores"]]).iter("tr")]
        for seat, row in enumerate(rows):
            finished = [part["points"][seat] for part in record["rounds"][: col - 1]]
            now = [*finished, view["points"][seat]]
            assert row == [f"seat {seat}", *map(str, now), *["·"] * (5 - col), str(view["totals"][seat])]
    assert [int(row[-1]) for row in rows] == record["rounds"][-1]["totals"]


@each_players
def test_what_is_told_while_hands_are_closed_names_no_card_of_a_swap_or_the_pile(players: int) -> None:
    frames = content_of(page_of(players))["frames"]
    hidden = {"play": "drew", "steal": "taken", "give": "cards"}
    swaps = 0
    for (part, _), frame in zip(moments_of(recorded_games(players)[0]), frames, strict=True):
        cards = part[hidden[part["act"]]] if part.get("act") in hidden else []
        if cards:
            swaps += 1
            noun = f"{len(cards)} card{'s' if len(cards) > 1 else ''}"
            assert frame["public"] == frame["event"].replace(" ".join(cards), noun, 1)
            assert frame["public"] != frame["event"]
        else:
            assert frame["public"] == frame["event"]
    assert swaps > 5


def test_the_list_of_moves_has_an_entry_for_each_frame() -> None:
    page = page_of(4)
    assert re.findall(r'data-frame="(\d+)"', page) == [str(n) for n in range(len(content_of(page)["frames"]))]


# One page and nothing else.


@each_players
def test_the_page_needs_nothing_from_elsewhere(players: int) -> None:
    page = page_of(players)
    assert re.findall(r"https?:|//\w|src=|url\(|@import|fetch|XMLHttp|WebSocket", page) == []
    assert re.findall(r'href="([^"]*)"', page) == ["data:,"]


def test_no_text_of_a_record_can_end_the_script_or_open_a_tag() -> None:
    record = recorded_games(3)[0] | {"id": "</script><script>alert(1)</script><!--"}
    page = replay_page(record, rules_of(record, None))
    assert page.count("<script") == page.count("</script>") == 2
    assert "<!--" not in page
    assert len(content_of(page)["frames"]) == len(content_of(page_of(3))["frames"])


def test_the_templates_are_in_the_package() -> None:
    shipped = {path.name for path in (files("velonimo_sim") / "templates").iterdir()}
    assert shipped >= {"replay.html", "replay.css", "replay.js", "table.html", "table.css", "record.html"}


# The command.


def command(*arguments: str | Path) -> Said:
    return said_by(replay.main, *map(str, arguments))


def games(tmp_path: Path, *records: Record) -> Path:
    path = tmp_path / "games.jsonl"
    write_records(path, records)
    return path


def assert_refused(said: Said, fragment: str, folder: Path, files_left: set[str]) -> None:
    assert (said.status, said.out, said.err.count("\n")) == (2, "", 1)
    assert fragment in said.err
    assert {path.name for path in folder.iterdir()} == files_left


def test_the_only_game_of_a_file(tmp_path: Path) -> None:
    path = games(tmp_path, recorded_games(3)[0])
    assert command(path, "--html", tmp_path / "game.html") == (0, "", "")
    assert (tmp_path / "game.html").read_text(encoding="utf-8") == page_of(3)
    assert {file.name for file in tmp_path.iterdir()} == {"games.jsonl", "game.html"}


def test_the_first_of_several_games_is_shown_and_said_to_be(tmp_path: Path) -> None:
    path = games(tmp_path, *recorded_games(3)[:4])
    said = command(path, "--html", tmp_path / "game.html")
    line = "velonimo_sim.replay: the first of 4 games is shown, v3-001; --show ID names another\n"
    assert said == (0, "", line)
    assert (tmp_path / "game.html").read_text(encoding="utf-8") == page_of(3)


def test_a_game_by_its_id(tmp_path: Path) -> None:
    path = games(tmp_path, *recorded_games(3)[:4])
    assert command(path, "--show", "v3-003", "--html", tmp_path / "game.html") == (0, "", "")
    assert "<title>Velonimo: v3-003</title>" in (tmp_path / "game.html").read_text(encoding="utf-8")


def test_another_preset(tmp_path: Path) -> None:
    """The records were refereed by other rules of ties."""
    record = next(record for record in recorded_games(3) if any(part["starter_tie"] for part in record["rounds"][1:]))
    path = games(tmp_path, record)
    said = command(path, "--rules", "official", "--html", tmp_path / "game.html")
    assert (said.status, said.err) == (1, "")
    assert command(path, "--html", tmp_path / "game.html").status == 0


def test_a_file_that_exists_is_left_as_it_is(tmp_path: Path) -> None:
    path, html = games(tmp_path, recorded_games(3)[0]), tmp_path / "game.html"
    html.write_text("mine")
    assert_refused(command(path, "--html", html), f"--html {html}: exists", tmp_path, {"games.jsonl", "game.html"})
    assert html.read_text() == "mine"


@pytest.mark.parametrize("name", [f"{'x' * 300}.html", f"{'x' * 250}.html"])
def test_a_file_that_cannot_be_written(name: str, tmp_path: Path) -> None:
    path = games(tmp_path, recorded_games(3)[0])
    said = command(path, "--html", tmp_path / name)
    assert_refused(said, f"--html {tmp_path / name}: cannot be written (", tmp_path, {"games.jsonl"})


def test_a_full_disk_leaves_nothing_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(path: Path, text: str, encoding: str) -> int:
        path.write_bytes(text[:100].encode(encoding))
        raise OSError(28, "No space left on device")

    path = games(tmp_path, recorded_games(3)[0])
    monkeypatch.setattr(Path, "write_text", half)
    said = command(path, "--html", tmp_path / "game.html")
    assert_refused(said, "cannot be written (No space left on device)", tmp_path, {"games.jsonl"})


def test_an_unknown_id(tmp_path: Path) -> None:
    path = games(tmp_path, recorded_games(3)[0])
    said = command(path, "--show", "v9", "--html", tmp_path / "game.html")
    assert_refused(said, f"--show v9: no such game in {path}", tmp_path, {"games.jsonl"})


@pytest.mark.parametrize("show", [[], ["--show", "lv-001"]])
def test_a_game_with_legends(show: list[str], tmp_path: Path) -> None:
    said = command(DATA / "legends_visible.jsonl.gz", *show, "--html", tmp_path / "game.html")
    assert_refused(said, "is a game with Legends, which is not played here", tmp_path, set())


@pytest.mark.parametrize(("content", "fragment"), [("", ":1: holds no record"), ("{}\n", ":1: field 'id' is missing")])
def test_a_file_without_a_record(content: str, fragment: str, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(content)
    assert_refused(command(path, "--html", tmp_path / "game.html"), fragment, tmp_path, {"games.jsonl"})


def test_a_record_with_a_fault(tmp_path: Path) -> None:
    record = recorded_games(3)[0]
    record["winner"] = 1 - record["winner"]
    path = games(tmp_path, record)
    status, out, err = command(path, "--html", tmp_path / "game.html")
    assert (status, err, out.count("\n")) == (1, "", 1)
    assert out.startswith(f"{path}:1 v3-001 result: expected winner ")
    assert not (tmp_path / "game.html").exists()


@pytest.fixture
def run_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    assert play("--bots", "greedy", "random", "--games", "4", "--quiet", "--out", str(folder)).status == 0
    return folder


def test_a_game_of_a_run(run_folder: Path, tmp_path: Path) -> None:
    html, out = tmp_path / "game.html", tmp_path / "game.jsonl"
    said = command("--run", run_folder, "--game", "3", "--html", html)
    assert said == (0, "", "velonimo_sim.replay: game 3 is as it was recorded\n")
    assert "<title>Velonimo: 3</title>" in html.read_text(encoding="utf-8")
    page = html.read_bytes()
    html.unlink()
    assert command("--run", run_folder, "--game", "3", "--html", html, "--out", out).status == 0
    assert html.read_bytes() == page
    html.unlink()
    assert command(out, "--html", html) == (0, "", "")
    assert html.read_bytes() == page


def test_a_game_of_a_run_is_not_written_where_something_is(run_folder: Path, tmp_path: Path) -> None:
    html, out = tmp_path / "game.html", tmp_path / "game.jsonl"
    html.write_text("mine")
    said = command("--run", run_folder, "--game", "3", "--html", html, "--out", out)
    assert_refused(said, f"--html {html}: exists", tmp_path, {"run", "game.html"})
    said = command("--run", run_folder, "--game", "3", "--html", out, "--out", out)
    assert_refused(said, f"--html {out}: is --out, too", tmp_path, {"run", "game.html"})
    shutil.rmtree(run_folder)
    html.unlink()
    said = command("--run", run_folder, "--game", "3", "--html", html)
    assert_refused(said, f"{run_folder}", tmp_path, set())
