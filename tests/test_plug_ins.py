"""Bots that plug in: in a file, a module, an installed package; compiled or plain; in threads or processes."""

import json
import os
import pickle
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numba import types

from conftest import position, rotated_seatings
from runs import COMMAND, wait_for
from velonimo_sim import BotError, Move, Parameter, UsageError, compiled_bot, new_game, tournament
from velonimo_sim.bot import text as bot_text
from velonimo_sim.bot.plain import PlainPlayer, read_answer
from velonimo_sim.bot.plug_ins import GROUPS
from velonimo_sim.game import GAMES
from velonimo_sim.rng import Stream
from velonimo_sim.velonimo.cards import DECK, card_texts, parse_cards
from velonimo_sim.velonimo.describe import describe_view
from velonimo_sim.velonimo.legal import legal_moves
from velonimo_sim.velonimo.moves import parse_move
from velonimo_sim.velonimo.playout import open_table
from velonimo_sim.velonimo.policies import BUILT_IN, bot_names, parse_bot
from velonimo_sim.velonimo.policies.base import Scratch
from velonimo_sim.velonimo.policies.greedy import greedy
from velonimo_sim.velonimo.policies.uniform import uniform
from velonimo_sim.velonimo.rows import COL_ROW, GAME_ROW
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.view import View

Answer = dict[str, Any]

FILE = '''
"""Some bots."""

import os
import pickle
import signal
import time
import multiprocessing
from pathlib import Path

from velonimo_sim import Parameter
from neighbour import FIRST


class Picks:
    """Picks a move by its number.

    More is not told.
    """

    parameters = (
        Parameter("number", int, FIRST, (-5, 100), "which move"),
        Parameter("share", float, 0.5, (0, 1), "how often"),
        Parameter("backwards", bool, False, help="from the end"),
        Parameter("style", ("bold", "shy"), "shy", help="how it looks"),
    )

    def __init__(self, number, share, backwards, style):
        self.settings = (number, share, backwards, style)
        self.number = -number - 1 if backwards else number

    def choose(self, view, moves, rng):
        return moves[self.number % len(moves)] if rng.random() < self.settings[1] else rng.choice(moves)


class Dies:
    """Plays in this process, and takes any other down with it."""

    def choose(self, view, moves, rng):
        if multiprocessing.parent_process() is not None:
            os.kill(os.getpid(), signal.SIGKILL)
        return moves[0]


class Stops:
    """Fails in col 3."""

    def choose(self, view, moves, rng):
        if view["col"] == 3:
            raise LookupError("no third col")
        return moves[0]


class Notes:
    """Leaves a file named after its process."""

    def new_game(self, seat):
        Path(f"process-{os.getpid()}").touch()

    def choose(self, view, moves, rng):
        return moves[0]


class Hangs(Notes):
    """Does not come to a decision."""

    def choose(self, view, moves, rng):
        time.sleep(1000)


class NeedsMuch:
    def __init__(self, patience):
        pass

    def choose(self, view, moves, rng):
        return moves[0]


class Broken:
    parameters = ("n",)

    def choose(self, view, moves, rng):
        return moves[0]


class Mute:
    """Has nothing to choose by."""


NUMBER = 5
'''


@pytest.fixture(autouse=True)
def _in_a_folder_with_bots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "neighbour", raising=False)
    Path("picking.py").write_text(FILE)
    Path("neighbour.py").write_text("FIRST = 0\n")


def play(bots: Sequence[str], games: int = 6, first_game: int = 0, seed: int = 4) -> tuple[Any, Any]:
    table = open_table([parse_bot(bot) for bot in bots], RuleSet(col_values=(1, 2)), rotated_seatings(len(bots)), seed)
    game_rows, col_rows = np.zeros(games * len(bots), GAME_ROW), np.zeros(games * 2 * len(bots), COL_ROW)
    table.play(first_game, games, game_rows, col_rows)
    return game_rows, col_rows


def same(a: tuple[Any, Any], b: tuple[Any, Any]) -> bool:
    return all((mine == other).all() for mine, other in zip(a, b, strict=True))


# Where bots are found.


@pytest.mark.parametrize("place", ["picking.py", "./picking.py", "picking", "{here}/picking.py"])
def test_a_bot_is_found_in_a_file_and_in_a_module(place: str) -> None:
    place = place.format(here=Path.cwd())
    bot = parse_bot(f"{place}:Picks")
    assert bot.text == f"{place}:Picks"
    assert bot.policy.name == "Picks"
    assert bot.policy.help == "Picks a move by its number."
    assert bot.settings == {"number": 0, "share": 0.5, "backwards": False, "style": "shy"}


def test_a_compiled_bot_is_found_by_its_declared_name_too() -> None:
    Path("named.py").write_text(
        COMPILED.replace('"fixed"', '"steady"').replace("from helper import choice", "choice = bool")
    )
    assert parse_bot("named.py:steady").policy is parse_bot("named.py:fixed").policy


@pytest.mark.parametrize("settings", ["number=7", "number=-5,backwards=on", "share=0.25,style=bold"])
def test_the_text_has_the_settings_that_differ_and_reads_back(settings: str) -> None:
    bot = parse_bot(f"picking.py:Picks:{settings}")
    assert bot.text == f"picking.py:Picks:{settings}"
    assert parse_bot(bot.text).settings == bot.settings


def test_defaults_that_are_written_out_are_left_out_of_the_text() -> None:
    assert parse_bot("picking:Picks:number=0,share=0.50,backwards=off,style=shy").text == "picking:Picks"


def test_a_changed_file_is_loaded_anew() -> None:
    Path("one.py").write_text("class One:\n    'old'\n    def choose(self, view, moves, rng): return moves[0]\n")
    assert parse_bot("one.py:One").policy.help == "old"
    Path("one.py").write_text("class One:\n    'new'\n    def choose(self, view, moves, rng): return moves[0]\n")
    os.utime("one.py", ns=(1, 1))
    assert parse_bot("one.py:One").policy.help == "new"


ALLOWED = "allowed is a class with choose(view, moves, rng) or a function with @compiled_bot"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("missing.py:Bot", "bot missing.py:Bot: there is no file missing.py"),
        ("missing:Bot", "bot missing:Bot cannot be loaded: ModuleNotFoundError: No module named 'missing'"),
        ("picking:Pick", "bot picking:Pick: unknown bot in picking 'Pick': there are Picks, "),
        ("picking.py:NUMBER", f"bot picking.py:NUMBER: is no bot: {ALLOWED}"),
        ("picking.py:Mute", f"bot picking.py:Mute: is no bot: {ALLOWED}"),
        ("picking.py:Broken", "bot picking.py:Broken: its parameters are not all of the class Parameter"),
        ("picking.py:Picks:number=101", "bot picking.py:Picks:number=101: allowed is an integer -5 to 100"),
        ("picking.py:Picks:share=nan", "bot picking.py:Picks:share=nan: allowed is a number 0-1"),
        ("picking.py:Picks:backwards=yes", "bot picking.py:Picks:backwards=yes: allowed is on or off"),
        ("picking.py:Picks:style=loud", "bot picking.py:Picks:style=loud: allowed is bold or shy"),
        ("picking.py:Picks:", "bot picking.py:Picks:: setting '': allowed is key=value"),
        ("picking.py", "bot picking.py: allowed is FILE.py:NAME"),
        ("picking.py:", "bot picking.py:: allowed is FILE.py:NAME"),
        ("syntax.py:Bot", "bot syntax.py:Bot cannot be loaded: SyntaxError: "),
        ("exits.py:Bot", "bot exits.py:Bot cannot be loaded: SystemExit: 3"),
        ("lines.py:Bot", "bot lines.py:Bot cannot be loaded: ValueError: two lines"),
        ("empty.py:Bot", "bot empty.py:Bot: there is no bot in empty.py"),
        ("declares.py:Bot", "bot declares.py:Bot: parameter n: default 0: allowed is an integer 1-2"),
    ],
)
def test_what_cannot_be_loaded_is_told_in_one_line(text: str, message: str) -> None:
    Path("syntax.py").write_text("class Bot\n")
    Path("exits.py").write_text("raise SystemExit(3)\n")
    Path("lines.py").write_text("raise ValueError('two\\nlines')\n")
    Path("empty.py").write_text("")
    Path("declares.py").write_text("from velonimo_sim import Parameter\nParameter('n', int, 0, (1, 2))\n")
    with pytest.raises(UsageError) as caught:
        parse_bot(text)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("x y", int, 1, (0, 2)), "parameter 'x y': a name is made of"),
        (("n", str, "a"), "parameter n: the type is int, float, bool or a tuple of texts"),
        (("n", ("a=b",), "a=b"), "parameter n: the type is int, float, bool or a tuple of texts"),
        (("n", int, 1), "parameter n: a range goes with int and float"),
        (("n", bool, True, (0, 1)), "parameter n: a range goes with int and float"),
        (("n", int, 3, (0, 2)), "parameter n: default 3: allowed is an integer 0-2"),
        (("n", float, "x", (0, 2)), "parameter n: default 'x': allowed is a number 0-2"),
        (("n", ("a", "b"), "c"), "parameter n: default 'c': allowed is a or b"),
    ],
)
def test_a_parameter_that_contradicts_itself_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("(", r"\(")):
        Parameter(*arguments)


# Installed packages.


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install two packages, one of which breaks, and return the folder that they are in."""
    folder = tmp_path / "site"
    for package, points in {
        "sound-bots": "[velonimo_sim.bots]\nclever = clever:Clever\ngreedy = clever:Clever\n",
        "broken-bots": "[velonimo_sim.bots]\nbroken = breaks:Bot\nabsent = clever:Absent\n",
    }.items():
        info = folder / f"{package.replace('-', '_')}-1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(points)
    (folder / "clever.py").write_text(
        "class Clever:\n    'Is clever.'\n    def choose(self, view, moves, rng):\n        return moves[-1]\n"
    )
    (folder / "breaks.py").write_text("raise ImportError('needs what is not there')\n")
    monkeypatch.syspath_prepend(folder)
    for module in ("clever", "breaks"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    return folder


@pytest.mark.usefixtures("packages")
def test_an_installed_bot_is_known_by_its_name_and_loaded_when_it_is_named() -> None:
    assert bot_names() == [*BUILT_IN, "absent", "broken", "clever"]
    assert "clever" not in sys.modules
    bot = parse_bot("clever")
    assert (bot.text, bot.policy.help) == ("clever", "Is clever.")
    assert "breaks" not in sys.modules


@pytest.mark.usefixtures("packages")
def test_a_name_of_the_house_stays_the_house_s() -> None:
    assert parse_bot("greedy").policy is greedy


@pytest.mark.usefixtures("packages")
def test_a_name_that_is_nearly_right_is_guessed_without_loading() -> None:
    with pytest.raises(UsageError, match="did you mean 'clever'"):
        parse_bot("clevr")
    assert not {"clever", "breaks"} & set(sys.modules)


@pytest.mark.usefixtures("packages")
def test_a_broken_package_is_named_and_costs_nothing_else() -> None:
    with pytest.raises(UsageError) as caught:
        parse_bot("broken")
    assert str(caught.value) == (
        "bot broken of package broken-bots cannot be loaded: ImportError: needs what is not there"
    )
    with pytest.raises(UsageError, match="bot absent of package broken-bots cannot be loaded: AttributeError"):
        parse_bot("absent")
    assert play(["clever", "greedy"])[0]["fault"].tolist() == [0] * 12


# Which game a bot is of.


def test_every_game_has_a_group_in_which_packages_announce_its_bots() -> None:
    assert set(GROUPS) == set(GAMES)
    assert len(set(GROUPS.values())) == len(GROUPS)


@pytest.fixture
def _chess(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a game of which there is what bots need."""
    files: dict[str, dict[str, Any]] = {
        "policies": {"BUILT_IN": {"random": "uniform:uniform", "patzer": "patzer:patzer"}},
        "policies.base": {"POLICY": types.int64(types.int64, types.int64, types.int64)},
        "describe": {"describe_view": lambda view, rules: (view, rules), "describe_moves": lambda view: [view + 1]},
        "moves": {"parse_move": {"e4": np.uint64(12)}.get},
    }
    for name, content in files.items():
        module = ModuleType(f"velonimo_sim.chess.{name}")
        vars(module).update(content)
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setitem(GROUPS, "chess", "velonimo_sim.chess_bots")


class Castles:
    """Plays chess alone."""

    game = "chess"

    def choose(self, view: Answer, moves: list[int], rng: random.Random) -> object:  # noqa: ARG002
        return moves[0]


@compiled_bot("adds", "adds up what it is handed", game="chess")
def adds(view: int, scratch: int, stream: int) -> np.uint64:
    return view + scratch + stream  # type: ignore[return-value]


@pytest.mark.usefixtures("_chess")
@pytest.mark.parametrize(
    ("text", "game", "message"),
    [
        ("greedy", "chess", "bot greedy is a bot of velonimo: bots of chess are random, patzer"),
        ("rollout:n=5", "chess", "bot rollout is a bot of velonimo: bots of chess are random, patzer"),
        (
            "test_plug_ins:first",
            "chess",
            "bot test_plug_ins:first is a bot of velonimo: bots of chess are ",
        ),
        ("patzer", "velonimo", f"bot patzer is a bot of chess: bots of velonimo are {', '.join(BUILT_IN)}"),
        ("test_plug_ins:adds", "velonimo", "bot test_plug_ins:adds is a bot of chess: bots of velonimo are random, "),
        ("test_plug_ins:Castles", "velonimo", "bot test_plug_ins:Castles is a bot of chess: bots of velonimo are "),
        ("gredy", "chess", "unknown bot 'gredy': there are random, patzer"),
        ("greedy", "ches", "unknown game 'ches': there are velonimo, velocity, chess; did you mean 'chess'?"),
    ],
)
def test_a_bot_of_another_game_is_refused_in_one_line(text: str, game: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        bot_text.parse_bot(text, game)
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("_chess")
def test_a_class_that_names_no_game_plays_velonimo() -> None:
    assert bot_text.parse_bot("picking:Picks", "velonimo").policy.game == "velonimo"
    refused = r"^bot picking:Picks is a bot of velonimo: bots of chess are random, patzer; --game velonimo plays it$"
    with pytest.raises(UsageError, match=refused):
        bot_text.parse_bot("picking:Picks", "chess")
    assert bot_text.parse_bot("test_plug_ins:Castles", "chess").policy.game == "chess"


@pytest.mark.usefixtures("_chess")
def test_a_bot_is_compiled_for_its_game() -> None:
    assert bot_text.parse_bot("test_plug_ins:adds", "chess").policy.function(1, 2, 3) == 6


@pytest.mark.usefixtures("_chess")
def test_a_plain_bot_is_handed_what_its_game_describes_and_its_answer_is_read_by_it() -> None:
    assert PlainPlayer(Castles(), "chess", {"blitz": True}).choose(7) == 8  # type: ignore[arg-type]
    assert read_answer("e4", "chess") == 12


@pytest.mark.usefixtures("_chess")
def test_packages_announce_bots_by_game(packages: Path) -> None:
    points = packages / "sound_bots-1.0.dist-info" / "entry_points.txt"
    points.write_text(f"{points.read_text()}\n[velonimo_sim.chess_bots]\nknight = clever:Clever\n")
    assert bot_text.bot_names("chess") == ["random", "patzer", "knight"]
    assert bot_names() == [*BUILT_IN, "absent", "broken", "clever"]
    assert bot_text.parse_bot("knight", "chess").policy.game == "chess"
    with pytest.raises(UsageError, match="bot knight is a bot of chess: bots of velonimo are random, "):
        parse_bot("knight")
    with pytest.raises(UsageError, match="bot clever is a bot of velonimo: bots of chess are random, patzer, knight"):
        bot_text.parse_bot("clever", "chess")


# Plain bots: what they are handed.


class Witness:
    """Notes what it is handed, and makes the first move."""

    seen: list[tuple[str, Any]]

    def __init__(self) -> None:
        type(self).seen = []

    def new_game(self, seat: int) -> None:
        self.seen.append(("new_game", seat))

    def choose(self, view: Answer, moves: list[Move], rng: random.Random) -> object:
        self.seen.append(("choose", (view, moves, rng.random())))
        return moves[0]


def test_a_plain_bot_sees_the_view_of_its_seat_and_all_legal_moves() -> None:
    game = new_game(3, seed=8)
    for _ in range(60):
        view = game.state["view"]
        rules = game.rules.in_force(3)
        player = PlainPlayer(Witness(), "velonimo", rules)
        player.choose(view)
        _, (seen, moves, _) = Witness.seen[-1]
        assert seen == game.view(int(view["turn"])) == describe_view(view, rules)
        assert [str(move) for move in moves] == game.legal_moves()
        game.play(str(moves[0]))


def test_a_game_begins_with_new_game_and_the_stream_of_the_seat() -> None:
    play(["test_plug_ins:Witness", "greedy", "random"], games=6)
    games: list[list[Any]] = []
    for kind, what in Witness.seen:
        if kind == "new_game":
            games.append([what])
        else:
            assert what[0]["seat"] == games[-1][0]
            games[-1].append(what[2])
    assert [game[0] for game in games] == [0, 1, 2, 0, 1, 2]
    assert len({game[1] for game in games}) == 6
    assert all(len(set(game)) == len(game) for game in games)
    play(["test_plug_ins:Witness", "greedy", "random"], games=1, first_game=5)
    assert [what[2] for kind, what in Witness.seen if kind == "choose"] == games[5][1:]


@pytest.mark.parametrize(
    ("text", "kind", "cards", "value", "jersey", "seat"),
    [
        ("R2 R3 R7", "play", ["R2", "R3", "R7"], 32, False, None),
        ("R2 R3 +jersey", "play", ["R2", "R3"], 32, True, None),
        ("H45", "play", ["H45"], 45, False, None),
        ("pass", "pass", [], 0, False, None),
        ("swap 2", "swap", [], 0, False, 2),
        ("decline", "decline", [], 0, False, None),
        ("give B4 H25", "give", ["B4", "H25"], 0, False, None),
        ("lead 3", "lead", [], 0, False, 3),
        ("keep", "keep", [], 0, False, None),
        ("force", "force", [], 0, False, None),
    ],
)
def test_a_move_tells_what_it_is(
    text: str, kind: str, cards: list[str], value: int, jersey: bool, seat: int | None
) -> None:
    move = Move(int(parse_move(text)), 10)
    assert (move.kind, move.cards, move.value, move.jersey, move.seat) == (kind, cards, value, jersey, seat)
    assert (move.text, str(move), f"{move}") == (text, text, text)
    assert move == int(parse_move(text))
    assert json.loads(json.dumps(move)) == move


class Answers:
    """Answers with what a test asks for."""

    answer: Callable[[list[Move]], object]

    def choose(self, view: Answer, moves: list[Move], rng: random.Random) -> object:  # noqa: ARG002
        return type(self).answer(moves)


@compiled_bot("first", "makes the first legal move")
def first(view: View, scratch: Scratch, _stream: Stream) -> np.uint64:
    from_here = scratch["moves"]
    legal_moves(view, from_here)
    return from_here[0]


@pytest.mark.parametrize(
    "answer",
    [
        lambda moves: moves[0],
        lambda moves: int(moves[0]),
        lambda moves: str(moves[0]),
        lambda moves: np.uint64(moves[0]),
    ],
    ids=["move", "int", "text", "numpy"],
)
def test_a_plain_bot_may_answer_with_a_move_its_number_or_its_text(
    answer: Callable[[list[Move]], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """And it then plays the games of the compiled bot that does the same."""
    monkeypatch.setattr(Answers, "answer", staticmethod(answer), raising=False)
    plain, compiled = (play([bot, "greedy", "random"]) for bot in ("test_plug_ins:Answers", "test_plug_ins:first"))
    assert same(plain, compiled)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (None, "chose what is no move: None is no move, and no text or number of one"),
        (True, "chose what is no move: True is no move"),
        (1.5, "chose what is no move: 1.5 is no move"),
        (-1, "chose what is no move: -1 is no move"),
        (2**64, "chose what is no move: 18446744073709551616 is no move"),
        (2**64 - 1, "chose the word 0xffffffffffffffff, which is illegal"),
        ("R9", "chose what is no move: move 'R9': unknown card"),
        ("keep", "chose 'keep', which is illegal: this is not what has to be decided now"),
        (["R1"] * 1000, "chose what is no move: ['R1', 'R1',"),
    ],
)
def test_any_other_answer_is_an_illegal_move(answer: object, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Answers, "answer", staticmethod(lambda _: answer), raising=False)
    with pytest.raises(BotError) as caught:
        play(["test_plug_ins:Answers", "greedy"])
    assert str(caught.value).startswith(f"game 0, seat 0, bot test_plug_ins:Answers: {told}")
    assert "\n" not in str(caught.value)


def test_more_gifts_than_a_compiled_bot_s_memory_for_moves_are_all_listed() -> None:
    view = position(["N1 B1 R3 R6", "B6 B7 B2", "Y4"], "B1 N1, swap 1", taken="B2 B7")["view"]
    view["hand"], view["swap_count"], view["sizes"][0] = parse_cards(card_texts(DECK)[:20]), 5, 20
    player = PlainPlayer(Witness(), "velonimo", {})
    player.choose(view)
    _, (_, moves, _) = Witness.seen[-1]
    assert len(set(moves)) == 15_504
    assert all(move.kind == "give" and len(move.cards) == 5 for move in moves[::1_000])


def test_chunks_do_not_matter_to_plain_bots() -> None:
    bots = ["picking.py:Picks:share=0.3", "greedy", "picking:Picks:backwards=on"]
    parts = [play(bots, 3, first_game) for first_game in (0, 3)]
    assert same(play(bots, 6), tuple(np.concatenate(pair) for pair in zip(*parts, strict=True)))  # type: ignore[arg-type]


def test_a_constructor_that_raises_is_told_in_one_line() -> None:
    with pytest.raises(UsageError) as caught:
        play(["picking.py:NeedsMuch", "greedy"])
    assert str(caught.value).startswith("bot NeedsMuch cannot be made: TypeError: ")
    assert "\n" not in str(caught.value)


# Compiled bots.


TWIN = f"{Path(__file__).parent.parent / 'experiments' / '010-ladder' / 'twin.py'}:twin"
"""The logic of ``greedy`` in a file of its own."""


def test_the_same_logic_in_a_user_s_file_plays_the_same_games() -> None:
    assert same(play([TWIN, "random", "greedy"], 50), play(["greedy", "random", "greedy"], 50))


SCRIPT = """
import sys
sys.path.insert(0, ".")
import numpy as np
from velonimo_sim.velonimo import playout
from velonimo_sim.velonimo.policies import parse_bot
from velonimo_sim.velonimo.rows import COL_ROW, GAME_ROW
from velonimo_sim.velonimo.rules import RuleSet

bot = parse_bot("compiled.py:fixed")
table = playout.open_table([bot], RuleSet(), np.zeros((1, 2), np.int8), 1)
rows = np.zeros(2, GAME_ROW)
table.play(0, 1, rows, np.zeros(10, COL_ROW))
print(len(playout.play_games.signatures), sum(playout.play_games.stats.cache_misses.values()),
      sum(bot.policy.function.stats.cache_misses.values()), *rows["total"])
"""

COMPILED = """
from velonimo_sim import compiled_bot
from velonimo_sim.velonimo.policies.greedy import greedy
from velonimo_sim.velonimo.policies.uniform import uniform
from helper import choice


@compiled_bot("fixed", "as greedy or at random")
def fixed(view, scratch, stream):
    return greedy(view, scratch, stream) if choice() else uniform(view, scratch, stream)
"""


def test_a_user_s_bot_recompiles_neither_the_engine_nor_itself_but_when_a_file_beside_it_changes() -> None:
    def run() -> list[int]:
        done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return [int(word) for word in done.stdout.split()]

    Path("compiled.py").write_text(COMPILED)
    Path("helper.py").write_text("from velonimo_sim import kernel\n\n\n@kernel\ndef choice():\n    return True\n")
    assert play(["greedy", "random"]) is not None  # compiles the engine, if nobody has yet
    first_run, second_run = run(), run()
    assert first_run[:3] == [1, 0, 1]
    assert second_run[:3] == [1, 0, 0]
    assert first_run[3:] == second_run[3:]
    Path("helper.py").write_text("from velonimo_sim import kernel\n\n\n@kernel\ndef choice():\n    return False\n")
    third_run = run()
    assert third_run[:3] == [1, 0, 1]
    assert third_run[3:] != first_run[3:]


@compiled_bot("unsound", "adds a card to a text")
def unsound(view: View, _scratch: Scratch, _stream: Stream) -> np.uint64:
    return view["hand"] + "card"  # type: ignore[no-any-return]


def test_a_bot_that_does_not_compile_is_told_in_one_line_with_its_place() -> None:
    with pytest.raises(UsageError) as caught:
        play(["test_plug_ins:unsound", "greedy"])
    assert str(caught.value).startswith("bot unsound does not compile: ")
    assert 'test_plug_ins.py", line ' in str(caught.value)
    assert "\n" not in str(caught.value)


@compiled_bot(
    "set-up",
    "is greedy if all its parameters are there",
    (
        Parameter("n", int, 3, (0, 9)),
        Parameter("x", float, 0.25, (0, 1)),
        Parameter("on", bool, True),
        Parameter("style", ("bold", "shy", "odd"), "odd"),
    ),
)
def set_up(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    values = scratch["parameters"]
    if values[0] == 3 and values[1] == 0.25 and values[2] == 1 and values[3] == 2 and values[4] == 0:
        return greedy(view, scratch, stream)
    return uniform(view, scratch, stream)


def test_a_compiled_bot_finds_its_parameters_in_the_order_of_their_declaration() -> None:
    assert same(play(["test_plug_ins:set_up", "random"]), play(["greedy", "random"]))
    for setting in ("n=4", "x=0.5", "on=off", "style=bold"):
        assert same(play([f"test_plug_ins:set_up:{setting}", "random"]), play(["random", "random"]))


@compiled_bot("tiring", "greedy for 20 decisions of a game, then random")
def tiring(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    if scratch["used"] == 0:
        scratch["memory"][0] = np.uint64(0)
        scratch["used"] = 1
    scratch["memory"][0] += np.uint64(1)
    return uniform(view, scratch, stream) if scratch["memory"][0] > np.uint64(20) else greedy(view, scratch, stream)


def test_memory_begins_with_the_game_whatever_the_chunks() -> None:
    bots = ["test_plug_ins:tiring", "greedy", "random"]
    whole = play(bots, 6)
    parts = [play(bots, 1, game) for game in range(6)]
    assert same(whole, tuple(np.concatenate(pair) for pair in zip(*parts, strict=True)))  # type: ignore[arg-type]
    assert not same(whole, play(["greedy", "greedy", "random"], 6))


@compiled_bot("clairvoyant", "raises unless it sees the whole state", sees_all=True)
def clairvoyant(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    truth = scratch["truth"]
    if truth["hands"][view["seat"]] != view["hand"] or truth["view"]["beat"] != view["beat"]:
        raise ValueError("it is dark")
    for seat in range(view["players"]):
        if (truth["hands"][seat] == np.uint64(0)) != (view["sizes"][seat] == 0):
            raise ValueError("it is dark")
    return greedy(view, scratch, stream)


@compiled_bot("blind", "raises if it sees any of the state")
def blind(view: View, scratch: Scratch, stream: Stream) -> np.uint64:
    for seat in range(5):
        if scratch["truth"]["hands"][seat] != np.uint64(0):
            raise ValueError("it is light")
    return greedy(view, scratch, stream)


def test_the_whole_state_is_shown_to_whom_it_is_declared_for_and_to_nobody_else() -> None:
    bots = ["test_plug_ins:clairvoyant", "test_plug_ins:blind", "random"]
    assert same(play(bots), play(["greedy", "greedy", "random"]))


# Tournaments with plain bots.


def frame(folder: str, kind: str) -> pd.DataFrame:
    return pd.concat([pd.read_parquet(path) for path in sorted(Path(folder).glob(f"{kind}-*.parquet"))])


MIXED = ["./picking.py:Picks:share=0.3", "greedy", "picking:Picks:share=0.9,backwards=on"]


def test_processes_give_the_rows_of_one_worker(capsys: pytest.CaptureFixture[str]) -> None:
    for workers in ("1", "2"):
        arguments = ["--bots", *MIXED, "--games", "60", "--seed", "5", "--workers", workers, "--out", workers]
        assert tournament.main(arguments) == 0
    assert capsys.readouterr().err == ""
    for kind in ("games", "cols"):
        pd.testing.assert_frame_equal(frame("1", kind), frame("2", kind))
    manifest = json.loads(Path("2/run.json").read_text())
    assert manifest["bots"] == MIXED
    assert manifest["parameters"][0] == {"number": 0, "share": 0.3, "backwards": False, "style": "shy"}


def test_a_table_is_not_opened_with_another_file_of_a_bot() -> None:
    """As a worker elsewhere may have, or a process that replaces one that died."""
    table = pickle.dumps(open_table([parse_bot("./picking.py:Picks")], RuleSet(), np.zeros((1, 2), np.int8), 1))
    assert pickle.loads(table).bots[0].text == "./picking.py:Picks"
    Path("picking.py").write_text(FILE + "\n# changed\n")
    with pytest.raises(UsageError, match=r"bot \./picking.py:Picks: its file is another one, of hash "):
        pickle.loads(table)


def test_processes_play_in_processes() -> None:
    assert tournament.main(["--bots", "picking.py:Notes", "greedy", "--games", "40", "--workers", "2", "--quiet"]) == 0
    assert f"process-{os.getpid()}" not in [path.name for path in Path().glob("process-*")]
    assert tournament.main(["--bots", "picking.py:Notes", "greedy", "--games", "2", "--workers", "1", "--quiet"]) == 0
    assert Path(f"process-{os.getpid()}").exists()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_a_plain_bot_at_fault_stops_the_run_in_one_line(workers: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--bots", "picking.py:Stops", "greedy", "random", "--games", "21", "--workers", workers]
    assert tournament.main([*arguments, "--out", "run"]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "game 0, seat 0, bot picking.py:Stops: LookupError: no third col (picking.py, line " in err


def test_processes_that_die_three_times_over_the_same_games_stop_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--bots", "picking.py:Dies", "greedy", "--games", "20", "--workers", "2", "--out", "run"]
    assert tournament.main(arguments) == 1
    assert capsys.readouterr().err == (
        "velonimo_sim.tournament: a worker died over game 0, which is played again\n"
        "velonimo_sim.tournament: a worker died over game 0, which is played again\n"
        "velonimo_sim.tournament: stopped: game 0: 3 workers died of it; a bot crashes, or memory has run out; "
        "0 games are safe in run; --resume goes on\n"
    )


def processes_that_play() -> list[int]:
    """Return the processes that live of those that have left a file."""
    ids = [int(path.name.partition("-")[2]) for path in Path().glob("process-*")]
    stats = {number: Path(f"/proc/{number}/stat") for number in ids}
    return [number for number, stat in stats.items() if stat.exists() and stat.read_text().rpartition(")")[2][1] != "Z"]


def started(*arguments: str, bot: str = "Notes") -> "subprocess.Popen[str]":
    """Start a long tournament with a bot that leaves files in two processes, and wait until both play."""
    command = [*COMMAND, "--bots", f"picking.py:{bot}", "greedy", "--games", "1000000", "--workers", "2", *arguments]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    wait_for(lambda: len(list(Path().glob("process-*"))) == 2, process)
    return process


def wait_until_none_plays() -> None:
    wait_for(lambda: not processes_that_play())


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@needs_proc
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_to_all_processes_ends_the_run_cleanly(number: signal.Signals, status: int) -> None:
    process = started("--out", "run")
    os.killpg(process.pid, number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == status
    assert "Traceback" not in err
    assert len(err.splitlines()) == 2
    written = json.loads(Path("run/run.json").read_text())["games_written"]
    assert len(frame("run", "games")) == 2 * written > 0
    wait_until_none_plays()


@needs_proc
def test_a_second_ctrl_c_stops_all_processes_at_once() -> None:
    process = started("--out", "run", bot="Hangs")
    os.killpg(process.pid, signal.SIGINT)
    assert process.stderr is not None
    assert "a second time stops at once" in process.stderr.readline()
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines() == ["velonimo_sim.tournament: stopped at once; finished files are whole"]
    wait_until_none_plays()


@needs_proc
def test_processes_go_with_their_parent() -> None:
    process = started("--out", "run")
    assert processes_that_play()
    process.kill()
    process.communicate(timeout=60)
    wait_until_none_plays()


def test_a_bot_that_sees_all_is_called_a_cheat(capsys: pytest.CaptureFixture[str]) -> None:
    """It stands below the others, wherever it was named and whatever it won."""
    arguments = ["--bots", "test_plug_ins:clairvoyant", "greedy", "--games", "4", "--out", "run"]
    assert tournament.main(arguments) == 0
    out, err = capsys.readouterr()
    assert err == "velonimo_sim.tournament: bot test_plug_ins:clairvoyant cheats: it sees all\n"
    assert out.splitlines()[1].startswith("greedy ")
    assert out.splitlines()[2].startswith("test_plug_ins:clairvoyant (sees all) ")
    assert tournament.main([*arguments, "--overwrite", "--json"]) == 0
    assert [bot["sees_all"] for bot in json.loads(capsys.readouterr().out)["bots"]] == [True, False]
    assert json.loads(Path("run/run.json").read_text())["sees_all"] == [True, False]


@pytest.mark.parametrize("on_fault", ["random", "forfeit"])
def test_faults_stand_in_the_results_and_are_said_on_stderr(on_fault: str, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--bots", "picking.py:Stops", "greedy", "random", "--games", "21", "--workers", "1", "--out", "run"]
    assert tournament.main([*arguments, "--on-fault", on_fault]) == 0
    out, err = capsys.readouterr()
    rows = frame("run", "games")
    faults = rows.groupby("bot", observed=True)["faults"].sum()
    assert faults["picking.py:Stops"] >= 21
    assert err == (
        f"velonimo_sim.tournament: bot picking.py:Stops: {faults['picking.py:Stops']:,} faults in 21 games, "
        "the first of each: exception 21\n"
    )
    assert out.splitlines()[0].split()[-1] == "faults"
    assert [line.split()[-1] for line in out.splitlines()[1:4]] == [f"{faults['picking.py:Stops']:,}", "0", "0"]
    assert tournament.main([*arguments, "--on-fault", on_fault, "--overwrite", "--json"]) == 0
    assert [bot["faults"] for bot in json.loads(capsys.readouterr().out)["bots"]] == [
        faults["picking.py:Stops"],
        0,
        0,
    ]


@pytest.mark.parametrize(
    "bots",
    [
        ["missing.py:Bot", "greedy"],
        ["picking.py:Mute", "greedy"],
        ["picking.py:NeedsMuch", "greedy"],
        ["test_plug_ins:unsound", "greedy"],
    ],
)
def test_a_bot_that_cannot_play_is_told_before_a_folder_is_made(
    bots: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert tournament.main(["--bots", *bots, "--out", "run"]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert not Path("run").exists()
