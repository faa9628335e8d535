"""The package as a whole: light to import, imports that run one way, and integers alone in compiled code."""

import ast
import importlib
import importlib.metadata
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import velonimo_sim
from velonimo_sim.game import GAMES

ROOT = Path(velonimo_sim.__file__).parent
PACKAGE = "velonimo_sim"
PUBLIC = {
    "BotError",
    "CorruptDataError",
    "Game",
    "IllegalMoveError",
    "Move",
    "Parameter",
    "RuleSet",
    "UsageError",
    "__version__",
    "compiled_bot",
    "kernel",
    "new_game",
    "run_tournament",
}

# A module may import those of earlier lines. What is loaded by name (the public names, the bots) is no import.
ORDER = (
    {"velonimo_sim", "velonimo_sim.velonimo", "velonimo_sim.velocity"},
    {"errors", "faults", "velonimo.cards"},
    {"record_checks", "record_faults"},
    {"run_files"},
    {"analysis"},
    {"analysis.intervals", "analysis.moments", "analysis.sequential", "analysis.hands", "analysis.ridge"},
    {"analysis.columns"},
    {"analysis.runs"},
    {"analysis.frames", "analysis.breakdown", "analysis.cards"},
    {"analysis.exchange", "analysis.hand_model", "analysis.ceiling"},
    {"analysis.tables", "analysis.plackett_luce", "analysis.tortoise", "analysis.jersey"},
    {"analysis.seats", "analysis.luck", "analysis.switches", "analysis.figures"},
    {"_jit"},
    {"_clock"},
    {"bits"},
    {"rng", "states", "halving"},
    {"bot"},
    {"bot.parameter", "bot.plain"},
    {"bot.policy"},
    {"bot.plug_ins"},
    {"bot.text"},
    {"velonimo.rules"},
    {"velonimo.view", "velonimo.rows", "velonimo.record_format"},
    {"velonimo.tables", "velonimo.moves"},
    {"velonimo.legal"},
    {"velonimo.describe", "velonimo.state"},
    {"velonimo.step", "velonimo.refused"},
    {"velonimo.determinize"},
    {"velonimo.exact"},
    {"velonimo.policies"},
    {"velonimo.policies.base"},
    {"velonimo.policies.uniform"},
    {"velonimo.policies.greedy"},
    {"velonimo.policies.hold_hares", "velonimo.policies.stand"},
    {"velonimo.policies.plan"},
    {"velonimo.policies.advised"},
    {"velonimo.policies.inference", "velonimo.policies.search"},
    {"velonimo.policies.exact", "velonimo.policies.rollout", "velonimo.policies.ismcts"},
    {"velonimo.policies.champion", "velonimo.policies.cheater"},
    {"velocity.data_file"},
    {"velocity.track", "velocity.dice"},
    {"velocity.rules"},
    {"velocity.view"},
    {"velocity.moves"},
    {"velocity.legal"},
    {"velocity.state"},
    {"velocity.rows", "velocity.step", "velocity.determinize", "velocity.record_format"},
    {"velocity.describe"},
    {"velocity.policies"},
    {"velocity.policies.base"},
    {"velocity.policies.uniform", "velocity.policies.outlook", "velocity.policies.standing"},
    {"velocity.policies.greedy"},
    {"velocity.policies.saver", "velocity.policies.rollout"},
    {"loop"},
    {"table"},
    {"velonimo.playout", "velonimo.record", "velocity.playout"},
    {"velonimo.narrate", "velonimo.recreate", "velocity.record"},
    {"velocity.narrate", "velocity.recreate"},
    {"velocity.interactive"},
    {"velonimo.frames"},
    {"velonimo.draw"},
    {"velonimo.interactive", "velonimo.replay_page"},
    {"game"},
    {"schedule", "workers"},
    {"match"},
    {"game_records"},
    {"records"},
    {"cluster"},
    {"summary", "progress", "commands"},
    {"definition"},
    {"options", "resume"},
    {"run"},
    {"results"},
    {"dry_run"},
    {"tournament", "replay", "bots", "check_bot", "report"},
)
RANKS = {
    name if name.startswith(PACKAGE) else f"{PACKAGE}.{name}": rank for rank, line in enumerate(ORDER) for name in line
}


def run(script: str, *arguments: str, **environment: str) -> str:
    """Run a script in a process of its own; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


# Light to import.

IMPORT = """
import sys, time
began = time.perf_counter()
import velonimo_sim
seconds = time.perf_counter() - began
heavy = {"numba", "llvmlite", "numpy", "pandas", "pyarrow", "matplotlib", "rich", "jinja2"}
print(seconds, *sorted(heavy & set(sys.modules)))
"""


def test_the_import_is_light_and_quick() -> None:
    printed = [run(IMPORT).split() for _ in range(5)]
    assert [line[1:] for line in printed] == [[]] * 5
    assert min(float(line[0]) for line in printed) < 0.1


def test_the_public_names_resolve() -> None:
    assert set(velonimo_sim.__all__) == PUBLIC
    assert {name: getattr(velonimo_sim, name).__name__ for name in PUBLIC - {"__version__"}} == {
        name: name for name in PUBLIC - {"__version__"}
    }


def test_dir_lists_the_public_names() -> None:
    assert set(dir(velonimo_sim)) >= PUBLIC


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'velonimo_sim' has no attribute 'newgame'"):
        _ = velonimo_sim.newgame


def test_the_version_is_that_of_the_installed_package() -> None:
    assert velonimo_sim.__version__ == importlib.metadata.version("velonimo_sim")


def test_the_package_says_that_it_is_typed() -> None:
    assert (ROOT / "py.typed").is_file()


# Imports that run one way.


@cache
def modules() -> dict[str, Path]:
    """Return the file of every module of the package by its full name."""
    files = {}
    for path in ROOT.rglob("*.py"):
        parts = path.relative_to(ROOT.parent).with_suffix("").parts
        files[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return files


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def import_nodes(tree: ast.AST, for_types: bool) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the imports anywhere in a module that are carried out, or else those that only a type checker reads."""
    for node in ast.iter_child_nodes(tree):
        if is_type_checking(node):
            if for_types:
                yield from (part for part in ast.walk(node) if isinstance(part, ast.Import | ast.ImportFrom))
        elif isinstance(node, ast.Import | ast.ImportFrom):
            if not for_types:
                yield node
        else:
            yield from import_nodes(node, for_types)


def names_of(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Yield the full names of the modules that an import names, whether of this package or not."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    assert node.level == 0, "imports inside the package are written with full names"
    for alias in node.names:
        inner = f"{node.module}.{alias.name}"
        yield inner if inner in modules() else node.module or ""


@cache
def imports(module: str, for_types: bool = False) -> frozenset[str]:
    """Return the modules of the package that a module imports."""
    tree = ast.parse(modules()[module].read_text("utf-8"))
    found = {name for node in import_nodes(tree, for_types) for name in names_of(node)}
    return frozenset(name for name in found if name.split(".")[0] == PACKAGE)


def reached(module: str) -> set[str]:
    """Return all modules that are loaded with a module, itself not counted."""
    seen: set[str] = set()
    rest = [module]
    while rest:
        new = imports(rest.pop()) - seen
        seen |= new
        rest += new
    return seen


def test_every_module_has_its_place_in_the_order() -> None:
    assert set(modules()) == set(RANKS)


@pytest.mark.parametrize("module", sorted(RANKS))
def test_imports_run_one_way(module: str) -> None:
    assert imports(module) <= set(modules())
    assert sorted(name for name in imports(module) if RANKS[name] >= RANKS[module]) == []


def test_the_graph_is_read() -> None:
    assert imports("velonimo_sim.velonimo.rules") == {"velonimo_sim.errors", "velonimo_sim.velonimo.cards"}
    assert "velonimo_sim.velonimo.replay_page" in imports("velonimo_sim.replay"), "imports inside functions count"
    assert "velonimo_sim.velonimo.interactive" in imports("velonimo_sim", for_types=True)
    assert imports("velonimo_sim") == set()


def test_only_what_loads_by_name_imports_for_types_alone() -> None:
    users = {module for module in modules() if imports(module, for_types=True)}
    loaded_by_name = {"velonimo_sim", "velonimo_sim.analysis", "velonimo_sim.velocity"}
    assert users == loaded_by_name | {"velonimo_sim.bot.policy"}
    assert all(imports(module, for_types=True) <= set(modules()) for module in users)


@pytest.mark.parametrize("module", sorted(name for name in RANKS if ".analysis" in name))
def test_analysis_imports_no_engine(module: str) -> None:
    """The map of the deck is none: it is plain numpy."""
    engine = {
        f"{PACKAGE}.{name}" for name in ("game", "_jit", "loop", "table", "workers", "records", "velonimo", "velocity")
    }
    others = reached(module) - {f"{PACKAGE}.velonimo.cards"}
    assert [name for name in others if name in engine or ".velonimo." in name or ".velocity" in name] == []


def test_rules_never_see_a_state_or_a_view() -> None:
    assert reached("velonimo_sim.velonimo.rules") == {"velonimo_sim.errors", "velonimo_sim.velonimo.cards"}


SEES_VIEWS = (
    "",
    ".base",
    ".uniform",
    ".greedy",
    ".hold_hares",
    ".stand",
    ".plan",
    ".advised",
)
SEARCHES = (".search", ".inference", ".exact", ".rollout", ".ismcts", ".champion", ".cheater")


@pytest.mark.parametrize("bot", [*SEES_VIEWS, *SEARCHES])
def test_policies_see_views_alone_and_search_what_they_determinize(bot: str) -> None:
    hidden = {f"velonimo_sim.velonimo.{name}" for name in ("step", "determinize", "exact", "playout", "record")}
    searching = {f"velonimo_sim.velonimo.{name}" for name in ("step", "determinize", "exact")}
    found = reached(f"velonimo_sim.velonimo.policies{bot}") & hidden
    assert found <= (searching if bot in SEARCHES else set())
    assert (bot in SEARCHES) == bool(found)


def test_every_file_of_the_policies_is_judged() -> None:
    policies = f"{PACKAGE}.velonimo.policies"
    files = {module.removeprefix(policies) for module in modules() if module.startswith(policies)}
    assert files == set(SEES_VIEWS) | set(SEARCHES)


@pytest.mark.parametrize("module", sorted(name for name in RANKS if name.startswith(f"{PACKAGE}.bot.")))
def test_what_the_games_bots_share_knows_no_game(module: str) -> None:
    games = tuple(f"{PACKAGE}.{game}" for game in GAMES)
    assert [name for name in reached(module) if name.startswith(games)] == []


# What is compiled.


def is_compiled(function: ast.FunctionDef) -> bool:
    """Whether a function has one of the decorators that compile it."""
    names = [part.func if isinstance(part, ast.Call) else part for part in function.decorator_list]
    return any(
        isinstance(name, ast.Name) and name.id in ("kernel", "inlined", "kernel_as", "compiled_bot") for name in names
    )


def compiled_functions(module: str) -> list[ast.FunctionDef]:
    tree = ast.parse(modules()[module].read_text("utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and is_compiled(node)]


# Records within arrays live as long as the arrays.

RECORD_MAKERS = ("empty", "zeros", "ones", "full", "empty_like", "zeros_like")
Loop = ast.For | ast.While


def is_record_array(node: ast.AST) -> bool:
    """Whether an expression makes an array of records: ``np.empty(2, STATE)``."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in RECORD_MAKERS
        and any(isinstance(part, ast.Name) and part.id.isupper() for part in node.args[1:])
    )


def made_arrays(function: ast.FunctionDef) -> dict[str, ast.AST]:
    """Return the arrays of records that a function makes: by name the node that does it."""
    made: dict[str, ast.AST] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                names, values = [target], [node.value]
                if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                    names, values = target.elts, node.value.elts
                made |= {
                    name.id: value
                    for name, value in zip(names, values, strict=True)
                    if isinstance(name, ast.Name) and is_record_array(value)
                }
    return made


def last_line_of(function: ast.FunctionDef, name: str, made: ast.AST | None = None) -> int:
    """Return the last line up to which a name is needed: of the loop that it is used in and not made in, if any."""
    last = 0
    for node in ast.walk(function):
        if isinstance(node, Loop) and (made is None or not any(part is made for part in ast.walk(node))):
            if any(isinstance(part, ast.Name) and part.id == name for part in ast.walk(node)):
                last = max(last, node.end_lineno or 0)
        elif isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            last = max(last, node.lineno)
    return last


def dangling_records(function: ast.FunctionDef) -> list[int]:
    """Return the lines in which a record is taken out of an array that is not kept for as long as the record."""
    made, lines = made_arrays(function), []
    for node in ast.walk(function):
        if not isinstance(node, ast.Subscript):
            continue
        if is_record_array(node.value):
            lines.append(node.lineno)
        elif isinstance(node.value, ast.Name) and node.value.id in made and isinstance(node.ctx, ast.Load):
            array, needed = node.value.id, node.end_lineno or 0
            for part in ast.walk(function):
                if isinstance(part, ast.Assign) and part.value is node and isinstance(part.targets[0], ast.Name):
                    needed = last_line_of(function, part.targets[0].id)
            if last_line_of(function, array, made[array]) <= needed:
                lines.append(node.lineno)
    return lines


def function_of(*lines: str) -> ast.FunctionDef:
    (function,) = ast.parse("\n    ".join(("def function():", *lines))).body
    assert isinstance(function, ast.FunctionDef)
    return function


@pytest.mark.parametrize(
    "lines",
    [
        ("state = np.empty(1, STATE)[0]", "use(state)"),
        ("use(np.zeros(1, STATE)[0])",),
        ("states = np.empty(1, STATE)", "state = states[0]", "use(state)"),
        ("states, n = np.empty(2, STATE), 1", "use(states[0])"),
        ("for _ in range(2):", "    states = np.empty(1, STATE)", "    state = states[0]", "    use(state)"),
        ("states = np.empty(1, STATE)", "state = states[0]", "use(states)", "while True:", "    use(state)"),
    ],
)
def test_a_record_that_outlives_its_array_is_found(lines: tuple[str, ...]) -> None:
    assert len(dangling_records(function_of(*lines))) == 1


@pytest.mark.parametrize(
    "lines",
    [
        ("states = np.empty(1, STATE)", "state = states[0]", "use(state)", "return len(states)"),
        ("states = np.empty(1, STATE)", "while True:", "    use(states[0])", "    use(2)"),
        ("numbers = np.zeros(2, np.int64)", "return numbers[0]"),
    ],
)
def test_a_record_whose_array_is_kept_is_not(lines: tuple[str, ...]) -> None:
    assert dangling_records(function_of(*lines)) == []


@pytest.mark.parametrize("module", sorted(RANKS))
def test_no_record_outlives_its_array(module: str) -> None:
    """Numba frees an array after its last use, with every record in it."""
    found = {function.name: dangling_records(function) for function in compiled_functions(module)}
    assert {name: lines for name, lines in found.items() if lines} == {}


# Integers alone in compiled code, and shifts of words in two files.

FLOATING = {
    "velonimo_sim.halving",
    "velonimo_sim.velocity.policies.outlook",
    "velonimo_sim.velocity.policies.rollout",
    "velonimo_sim.velocity.policies.standing",
    "velonimo_sim.velonimo.exact",
    "velonimo_sim.velonimo.policies.inference",
    "velonimo_sim.velonimo.policies.ismcts",
    "velonimo_sim.velonimo.policies.rollout",
    "velonimo_sim.velonimo.policies.search",
}
"""Modules that compute averages, chances and likelihoods, and so in floating point."""

TYPES = """
import gc, importlib, json, operator, pkgutil, random
import numpy as np
import velonimo_sim
from numba import types
from numba.core.registry import CPUDispatcher

for info in pkgutil.walk_packages(velonimo_sim.__path__, "velonimo_sim."):
    importlib.import_module(info.name)

from velonimo_sim.rng import new_stream
from velonimo_sim.velonimo.determinize import determinize
from velonimo_sim.velonimo.exact import exact_move, new_memory, new_table, solve_moves
from velonimo_sim.velonimo.legal import is_legal
from velonimo_sim.velonimo.moves import parse_move
from velonimo_sim.game import GAMES
from velonimo_sim.velocity import new_game as new_race
from velonimo_sim.velocity.legal import MAX_MOVES, legal_moves

for game in GAMES.values():
    for name in game.bots:
        game.parse_bot(name).policy.function

memory, table = new_memory(), new_table()
chance = random.Random(1)
for players in (2, 3):
    game = velonimo_sim.new_game(players, seed=1)
    while game.turn is not None:
        move = chance.choice(game.legal_moves())
        assert is_legal(game.state["view"], parse_move(move))
        determinize(game.state["view"], new_stream(1))
        exact_move(game.state["view"], memory, table, 1, new_stream(1))
        solve_moves(game.state, np.zeros(500, np.uint64), np.zeros((500, 5)), memory, table, 1)
        game.play(move)
race = new_race(3, seed=1)
while race.turn is not None:
    legal_moves(race.state["view"], np.zeros(MAX_MOVES, np.uint64))
    race.play(chance.choice(race.legal_moves()))


def has_float(kind):
    if isinstance(kind, (types.Float, types.Complex)):
        return True
    if isinstance(kind, types.Array):
        return has_float(kind.dtype)
    if isinstance(kind, types.BaseTuple):
        return any(has_float(part) for part in kind)
    return False


def shifted(notes):
    for node, signature in notes.calltypes.items():
        if getattr(node, "op", "") in ("binop", "inplace_binop") and "shift" in node.fn.__name__:
            yield [types.unliteral(kind) for kind in signature.args]


compiled, floats, words = [], [], []
for function in gc.get_objects():
    if isinstance(function, CPUDispatcher) and function.py_func.__module__.startswith("velonimo_sim."):
        name = f"{function.py_func.__module__}.{function.py_func.__name__}"
        for arguments, result in function.overloads.items():
            notes = result.type_annotation
            compiled.append(name)
            kinds = list(notes.typemap.values())
            for signature in notes.calltypes.values():
                kinds += [] if signature is None else [*signature.args, signature.return_type]
            if any(has_float(kind) for kind in kinds):
                floats.append([name, [str(kind) for kind in arguments]])
            if any(kind != types.int64 for pair in shifted(notes) for kind in pair):
                words.append(name)
print(json.dumps([sorted(set(compiled)), sorted(floats), sorted(set(words))]))
"""


def kernels_of_the_package() -> set[str]:
    return {f"{module}.{function.name}" for module in RANKS for function in compiled_functions(module)}


@pytest.mark.slow
def test_compiled_code_computes_in_integers_and_shifts_words_in_two_files_alone(tmp_path: Path) -> None:
    """Everything is compiled anew, for the types are not kept in a cache.

    Beside the modules that compute averages, floating point are only the parameters of bots, which the loop hands on,
    and of which ``advised`` makes switches, the searching ones integers, and those of VeloCity a taste at once. Numba
    makes something else of ``uint64`` that is shifted by a number; where that is not looked after, only signed numbers
    are shifted by such.
    """
    printed = run(TYPES, NUMBA_CACHE_DIR=str(tmp_path), NUMBA_OPT="1", NUMBA_DISABLE_JIT="0")
    compiled, floats, shifts_words = json.loads(printed)
    assert kernels_of_the_package() - set(compiled) == set()
    elsewhere = [(name, kinds) for name, kinds in floats if name.rpartition(".")[0] not in FLOATING]
    bots = {f"velonimo_sim.velonimo.policies.{name}.{name}" for name in ("advised", "champion", "cheater")}
    bots |= {f"velonimo_sim.velocity.policies.{name}.{name}" for name in ("greedy", "saver")}
    handed_on = {"velonimo_sim.bits.integer", "velonimo_sim.loop._set_up"}
    assert {name for name, _ in elsewhere} == {*bots, *handed_on}
    assert [kinds for name, kinds in elsewhere if name == "velonimo_sim.bits.integer"] == [["float64"]]
    assert {name.rpartition(".")[0] for name, _ in floats} >= FLOATING
    assert {name.rpartition(".")[0] for name in shifts_words} == {"velonimo_sim.bits", "velonimo_sim.rng"}
