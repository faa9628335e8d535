"""The page of a recorded game in Chromium: stepped through, what stands on it is what the engine says."""

import json
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement

from conftest import recorded_games
from drawings import Record, hands_of, moments_of
from velonimo_sim.velonimo.record_format import rules_of
from velonimo_sim.velonimo.replay_page import replay_page
from velonimo_sim.velonimo.state import State

pytestmark = pytest.mark.browser

each_players = pytest.mark.parametrize("players", [2, 3, 4, 5])

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

SHOWN = """
const text = (element) => element.innerText.replace(/\\s+/g, " ").trim();
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const isShown = (element) => element.checkVisibility();
const cards = (element) => all(".card", element).filter(isShown).map((card) => card.innerText.replace(/\\s/g, ""));
return {
  hands: all(".seat").map(cards),
  backs: all(".seat").map((seat) => all(".backs i", seat).filter(isShown).length),
  sizes: all(".seat header .muted").map((size) => parseInt(text(size))),
  totals: all(".total").map((total) => parseInt(text(total))),
  acts: all(".seat.acts").map((seat) => Number(seat.dataset.seat)),
  wears: all(".seat").filter((seat) => seat.querySelector(".mark.jersey")).map((seat) => Number(seat.dataset.seat)),
  spent: all(".seat .mark.spent").length > 0,
  standing: all(".standing").map(cards).flat(),
  prompt: all(".prompt").map(text)[0],
  reward: all(".reward").map(cards).flat(),
  pile: all(".reward .muted").map((pile) => parseInt(text(pile))),
  points: all("#scores tbody tr").map((row) => all("td", row).map(text)),
  event: text(document.getElementById("event")),
  step: text(document.getElementById("step")),
  slider: Number(document.getElementById("slider").value),
  current: all("#log [aria-current]").map((entry) => Number(entry.dataset.frame)),
};
"""


def installed(name: str) -> str:
    path = shutil.which(name)
    assert path is not None, f"{name} is not installed; these tests need Chromium and its driver"
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = installed("chromium")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('browser')}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=Service(installed("chromedriver")))
    yield driver
    driver.quit()


class Page:
    """The page of the first refereed game for a number of players, opened in the browser."""

    def __init__(self, browser: webdriver.Chrome, folder: Path, players: int, width: int = 1280) -> None:
        self.browser, self.players = browser, players
        self.record: Record = recorded_games(players)[0]
        self.path = folder / "game.html"
        self.path.write_text(_page(players), encoding="utf-8")
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        for log in ("browser", "performance"):
            browser.get_log(log)
        browser.get(self.path.as_uri())

    def find(self, selector: str) -> WebElement:
        return self.browser.find_element(By.CSS_SELECTOR, selector)

    def press(self, *keys: str) -> None:
        ActionChains(self.browser, duration=0).send_keys(*keys).perform()

    def press_shift_and(self, key: str) -> None:
        ActionChains(self.browser, duration=0).key_down(Keys.SHIFT).send_keys(key).key_up(Keys.SHIFT).perform()

    def click(self, target: str) -> None:
        self.find(f"[data-go='{target}']").click()

    def slide_to(self, number: int) -> None:
        script = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))"
        self.browser.execute_script(script, self.find("#slider"), number)

    def shown(self) -> Record:
        shown: Record = self.browser.execute_script(SHOWN)
        return shown

    def markup(self) -> str:
        """Return all that is on the page, as it is."""
        markup: str = self.browser.execute_script("return document.body.outerHTML")
        return markup


@cache
def _page(players: int) -> str:
    record = recorded_games(players)[0]
    return replay_page(record, rules_of(record, None))


@cache
def _moments(players: int) -> list[tuple[Record, State]]:
    return moments_of(recorded_games(players)[0])


def starts_of_cols(players: int) -> list[int]:
    return [number for number, (part, _) in enumerate(_moments(players)) if "events" in part]


def expected(players: int, number: int) -> dict[str, Any]:
    """Return what the engine says of a moment, but for the texts."""
    state = _moments(players)[number][1]
    view = state["view"]
    seats = range(players)
    return {
        "hands": hands_of(state),
        "sizes": view["sizes"][:players].tolist(),
        "totals": view["totals"][:players].tolist(),
        "acts": [seat for seat in seats if seat == view["turn"]],
        "wears": [seat for seat in seats if seat == view["wearer"]],
        "spent": bool(view["jersey_spent"]),
        "step": f"{number} of {len(_moments(players)) - 1}",
        "slider": number,
        "current": [number],
    }


def assert_stands(page: Page, number: int) -> None:
    """Check all that the page shows at a step against the engine and the record."""
    shown, (part, state) = page.shown(), _moments(page.players)[number]
    facts, view = expected(page.players, number), state["view"]
    assert {name: shown[name] for name in facts} == facts
    col = int(view["col"])
    points = [one_round["points"] for one_round in page.record["rounds"][: col - 1]] + [view["points"].tolist()]
    for seat, row in enumerate(shown["points"]):
        assert row[:col] == [str(by_seat[seat]) for by_seat in points]
        assert set(row[col:-1]) <= {"·"}
    if part.get("act") == "play":
        assert shown["standing"] == part["cards"]
        assert shown["event"].startswith(f"seat {part['seat']} ")
        assert " ".join(part["cards"]) in shown["event"]
        assert (f" = {part['beats']} of seat " in shown["event"]) == (part["beats"] > 0)
    elif "events" in part:
        assert shown["event"].startswith(f"col {part['round']}, ")
    if part.get("then", {}).get("seat") is not None:
        assert shown["prompt"].startswith(f"seat {part['then']['seat']} ")
    if page.players == 2:
        assert shown["pile"] == [view["pile_size"]]
        assert len(shown["reward"]) == (view["reward"] > 0)


@pytest.fixture
def opened(browser: webdriver.Chrome, tmp_path: Path) -> Iterator[Any]:
    """Return a function that opens a page; when the test ends, nothing was complained of and nothing asked for."""
    pages = []

    def open_page(players: int, width: int = 1280) -> Page:
        pages.append(Page(browser, tmp_path, players, width))
        return pages[-1]

    yield open_page
    (page,) = pages
    assert browser.get_log("browser") == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"}
    assert page.path.as_uri() in asked
    assert asked <= {page.path.as_uri(), "data:,"}


@each_players
def test_a_whole_game_by_key(players: int, opened: Any) -> None:
    page, last = opened(players), len(_moments(players)) - 1
    for number in range(last + 1):
        assert_stands(page, number)
        page.press(Keys.ARROW_RIGHT)
    assert_stands(page, last)
    assert page.shown()["prompt"] == f"game over: seat {page.record['winner']} has won"
    totals = page.record["rounds"][-1]["totals"]
    assert [int(row[-1]) for row in page.shown()["points"]] == totals


@each_players
def test_forward_and_back_by_button_return_to_exactly_what_was_there(players: int, opened: Any) -> None:
    page = opened(players)
    before = []
    for number in range(40):
        before.append(page.markup())
        page.click("forward")
        assert_stands(page, number + 1)
    for markup in reversed(before):
        page.click("back")
        assert page.markup() == markup
    page.click("back")
    assert page.markup() == before[0]


@pytest.mark.parametrize("by_key", [False, True], ids=["buttons", "keys"])
def test_first_last_and_the_cols(by_key: bool, opened: Any) -> None:
    page = opened(4)
    starts, last = starts_of_cols(4), len(_moments(4)) - 1
    keys = {"first": Keys.HOME, "last": Keys.END}
    shifted = {"next-col": Keys.ARROW_RIGHT, "previous-col": Keys.ARROW_LEFT}

    def go(target: str) -> None:
        if not by_key:
            page.click(target)
        elif target in keys:
            page.press(keys[target])
        else:
            page.press_shift_and(shifted[target])

    for start in [*starts[1:], last, last]:
        go("next-col")
        assert_stands(page, start)
    for start in [*reversed(starts), 0]:
        go("previous-col")
        assert_stands(page, start)
    go("last")
    assert_stands(page, last)
    go("first")
    assert_stands(page, 0)


def test_a_move_is_gone_to_by_the_list_and_by_the_slider(opened: Any) -> None:
    page = opened(3)
    page.find("#log [data-frame='9']").click()
    assert_stands(page, 9)
    page.slide_to(57)
    assert_stands(page, 57)
    page.find("#slider").send_keys(Keys.ARROW_RIGHT)
    assert_stands(page, 58)


def test_the_current_move_is_in_sight_in_the_list(opened: Any) -> None:
    page = opened(5)
    for number in (0, 40, 200, len(_moments(5)) - 1):
        page.slide_to(number)
        inside = """
            const [list, entry] = [document.getElementById("log"), document.querySelector("#log [aria-current]")]
                .map((element) => element.getBoundingClientRect());
            return list.top <= entry.top && entry.bottom <= list.bottom;
        """
        assert page.browser.execute_script(inside)


@each_players
def test_hands_are_hidden_by_choice(players: int, opened: Any) -> None:
    page = opened(players)
    moments = _moments(players)
    page.find("#all-hands").click()
    taken = next(number for number, (part, _) in enumerate(moments) if part.get("act") == "steal")
    for number in range(taken + 2):
        shown, facts = page.shown(), expected(players, number)
        assert shown["hands"] == [[]] * players
        assert shown["backs"] == shown["sizes"] == facts["sizes"]
        part = moments[number][0]
        assert shown["standing"] == part["cards"] if part.get("act") == "play" else True
        if part.get("act") == "steal":
            count = len(part["taken"])
            noun = f"{count} card{'s' if count > 1 else ''}"
            assert shown["event"] == f"seat {part['seat']} takes {noun} from seat {part['from']}"
            assert page.find("#log [aria-current]").text == shown["event"]
        page.press(Keys.ARROW_RIGHT)
    page.find("#all-hands").click()
    assert_stands(page, taken + 2)


def test_one_hand_is_hidden_by_choice_and_stays_so(opened: Any) -> None:
    page = opened(3)
    page.find(".hand[value='1']").click()
    assert not page.find("#all-hands").is_selected()
    for number in range(20):
        facts = expected(3, number)
        assert page.shown()["hands"] == [facts["hands"][0], [], facts["hands"][2]]
        assert page.shown()["backs"] == [0, facts["sizes"][1], 0]
        page.press(Keys.ARROW_RIGHT)
    page.find(".hand[value='1']").click()
    assert page.find("#all-hands").is_selected()
    assert_stands(page, 20)


@pytest.mark.parametrize("width", [360, 700, 1280])
@pytest.mark.parametrize("players", [2, 5])
def test_nothing_is_cut_off(players: int, width: int, opened: Any) -> None:
    page = opened(players, width)
    overflowing = """
        return [...document.querySelectorAll("body, .seat, .centre, #log button, nav, table")]
            .filter((element) => element.scrollWidth > element.clientWidth
                || element.getBoundingClientRect().right > innerWidth)
            .map((element) => element.className || element.tagName);
    """
    for _ in range(60):
        assert page.browser.execute_script(overflowing) == []
        page.press(Keys.ARROW_RIGHT)


def test_everything_to_press_has_a_name(opened: Any) -> None:
    page = opened(4)
    controls = page.browser.find_elements(By.CSS_SELECTOR, "button, input")
    assert len(controls) > 10
    assert [control.get_attribute("outerHTML") for control in controls if not control.accessible_name] == []
    assert page.find("#event").get_attribute("aria-live") == "polite"
