"""Bots from elsewhere: in a module, in a file, or announced by an installed package; loaded when they are named."""

import hashlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from velonimo_sim.bot.policy import PlainPolicy, Policy
from velonimo_sim.errors import UsageError, in_one_line, unknown_name

GROUPS = {"velonimo": "velonimo_sim.bots", "velocity": "velonimo_sim.velocity_bots"}
"""By game: the entry-point group in which an installed package announces bots, ``name = "module:attribute"``."""


def announced_bots(game: str) -> dict[str, EntryPoint]:
    """Return the entry points of installed packages by the name of the bot; nothing is loaded."""
    return {point.name: point for point in entry_points(group=GROUPS[game])}


def load_announced(name: str, point: EntryPoint, game: str) -> Policy:
    """Return the bot of an entry point.

    Raises
    ------
    UsageError
        If it cannot be loaded, or is no bot.
    """
    package = f" of package {point.dist.name}" if point.dist else ""
    with _blamed_on(f"{name}{package}"):
        return as_policy(point.load(), game)


def load_from_module(module: str, attribute: str) -> Policy:
    """Return the bot of that name in a module, which may lie in the current folder.

    Raises
    ------
    UsageError
        If the module cannot be loaded, or has no such bot.
    """
    _add_to_path(Path.cwd())
    with _blamed_on(f"{module}:{attribute}"):
        return _policy_in(import_module(module), module, attribute)


def load_from_file(path: str, attribute: str) -> Policy:
    """Return the bot of that name in a file, which may import what lies beside it.

    Raises
    ------
    UsageError
        If the file cannot be loaded, or has no such bot.
    """
    file = Path(path).expanduser().resolve()
    if not file.is_file():
        raise UsageError(f"bot {path}:{attribute}: there is no file {path}")
    _add_to_path(file.parent)
    with _blamed_on(f"{path}:{attribute}"):
        return _policy_in(_load_file(file, file.stat().st_mtime_ns), path, attribute)


def _add_to_path(folder: Path) -> None:
    """Let modules be found in a folder, after all others."""
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


@cache
def _load_file(path: Path, _changed: int) -> ModuleType:
    """Run a file as a module of its own, once for each time that it was changed."""
    name = f"velonimo_sim_bot_{hashlib.sha256(str(path).encode()).hexdigest()[:16]}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


@contextmanager
def _blamed_on(bot: str) -> Iterator[None]:
    """Turn whatever goes wrong while foreign code is loaded into one line that names the bot."""
    try:
        yield
    except UsageError as error:
        raise UsageError(f"bot {bot}: {error}") from None
    except (Exception, SystemExit) as error:
        raise UsageError(f"bot {bot} cannot be loaded: {in_one_line(error)}") from error


def _policy_in(module: ModuleType, place: str, attribute: str) -> Policy:
    if hasattr(module, attribute):
        return as_policy(getattr(module, attribute))
    for thing in vars(module).values():
        if isinstance(thing, Policy) and thing.name == attribute:
            return thing
    bots = [name for name, thing in vars(module).items() if _is_bot(thing)]
    if not bots:
        raise UsageError(f"there is no bot in {place}")
    raise unknown_name(f"bot in {place}", attribute, bots)


def _is_bot(thing: object) -> bool:
    return isinstance(thing, Policy) or (isinstance(thing, type) and callable(getattr(thing, "choose", None)))


def as_policy(thing: object, game: str = "velonimo") -> Policy:
    """Return what a bot declares: a class with a method ``choose``, of that game if it names none, or a function.

    Raises
    ------
    UsageError
        If the thing is neither.
    """
    if not _is_bot(thing):
        raise UsageError("is no bot: allowed is a class with choose(view, moves, rng) or a function with @compiled_bot")
    return thing if isinstance(thing, Policy) else PlainPolicy.of(thing, game)  # type: ignore[arg-type]
