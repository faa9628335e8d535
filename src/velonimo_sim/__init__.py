"""Velonimo by the million: an engine, bots, tournaments to Parquet, and games to play by hand.

``import velonimo_sim`` loads nothing heavy; the names below load what they need when they are used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from velonimo_sim._jit import kernel as kernel
    from velonimo_sim.bot.parameter import Parameter as Parameter
    from velonimo_sim.bot.policy import compiled_bot as compiled_bot
    from velonimo_sim.errors import BotError as BotError
    from velonimo_sim.errors import CorruptDataError as CorruptDataError
    from velonimo_sim.errors import IllegalMoveError as IllegalMoveError
    from velonimo_sim.errors import UsageError as UsageError
    from velonimo_sim.tournament import run_tournament as run_tournament
    from velonimo_sim.velonimo.interactive import Game as Game
    from velonimo_sim.velonimo.interactive import new_game as new_game
    from velonimo_sim.velonimo.moves import Move as Move
    from velonimo_sim.velonimo.rules import RuleSet as RuleSet

__version__ = "0.1.0"

_PLACES = {
    "BotError": "velonimo_sim.errors",
    "CorruptDataError": "velonimo_sim.errors",
    "IllegalMoveError": "velonimo_sim.errors",
    "UsageError": "velonimo_sim.errors",
    "Game": "velonimo_sim.velonimo.interactive",
    "new_game": "velonimo_sim.velonimo.interactive",
    "Move": "velonimo_sim.velonimo.moves",
    "Parameter": "velonimo_sim.bot.parameter",
    "RuleSet": "velonimo_sim.velonimo.rules",
    "compiled_bot": "velonimo_sim.bot.policy",
    "kernel": "velonimo_sim._jit",
    "run_tournament": "velonimo_sim.tournament",
}

__all__ = [
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
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used (PEP 562)."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)


def __dir__() -> list[str]:
    return __all__
