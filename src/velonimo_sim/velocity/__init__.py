"""The dice race VeloCity: an engine, bots, and races to play by hand; the names below load when they are used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from velonimo_sim.velocity.dice import Dice as Dice
    from velonimo_sim.velocity.interactive import Game as Game
    from velonimo_sim.velocity.interactive import new_game as new_game
    from velonimo_sim.velocity.rules import RuleSet as RuleSet
    from velonimo_sim.velocity.track import Course as Course

_PLACES = {
    "Course": "track",
    "Dice": "dice",
    "Game": "interactive",
    "RuleSet": "rules",
    "new_game": "interactive",
}

__all__ = [
    "Course",
    "Dice",
    "Game",
    "RuleSet",
    "new_game",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used (PEP 562)."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
