"""What is declared of a bot, compiled or plain: name, help, parameters; and the decorator that does it.

Light to import: a bot is compiled, or made, when it is asked to play.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from textwrap import shorten
from typing import TYPE_CHECKING, Any, Self, TypeAlias

import numpy as np

from velonimo_sim.bot.parameter import MAX_PARAMETERS, Parameter, Value
from velonimo_sim.errors import UsageError, in_one_line

if TYPE_CHECKING:
    from velonimo_sim.bot.plain import PlainBot

PolicyFunction: TypeAlias = Callable[[Any, Any, Any], np.uint64]
"""A function ``move = function(view, scratch, stream)``; its types are those of ``POLICY`` in ``policies/base.py``."""


@dataclass(frozen=True, eq=False)
class Policy:
    """A bot as it is declared.

    Parameters
    ----------
    name : str
        What it is called.
    help : str
        What it does, in a few words.
    parameters : tuple of Parameter
        What a user may set.
    sees_all : bool
        Whether it is shown what is hidden, which is cheating.
    game : str
        Name of the game that it plays.

    Raises
    ------
    UsageError
        If the parameters cannot be what is declared.
    """

    name: str
    help: str
    parameters: tuple[Parameter, ...] = ()
    sees_all: bool = False
    game: str = "velonimo"

    def __post_init__(self) -> None:
        if not all(isinstance(parameter, Parameter) for parameter in self.parameters):
            raise UsageError("its parameters are not all of the class Parameter")
        names = [parameter.name for parameter in self.parameters]
        if len(set(names)) < len(names):
            raise UsageError(f"parameters {', '.join(names)}: a name stands twice")
        if len(names) > MAX_PARAMETERS:
            raise UsageError(f"{len(names)} parameters: allowed are at most {MAX_PARAMETERS}")

    @property
    def function(self) -> PolicyFunction:
        """The compiled function that the engine's loop calls."""
        raise NotImplementedError

    @property
    def source(self) -> Callable[..., Any]:
        """What the bot was written as, a function or a class."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class CompiledPolicy(Policy):
    """A bot whose decisions are compiled; kernels and Python alike call it as the function that it was.

    Parameters
    ----------
    python : callable
        The function that the decorator was put on.
    """

    python: PolicyFunction = field(kw_only=True)

    @property
    def source(self) -> PolicyFunction:
        """The function that the decorator was put on."""
        return self.python

    @property
    def function(self) -> PolicyFunction:
        """The compiled function of the bot; it is compiled when it is first asked for."""
        try:
            return _compiled_for(self.game, self.python)
        except Exception as error:
            raise UsageError(f"bot {self.name} does not compile: {_reason(error)}") from error

    @property
    def _numba_type_(self) -> Any:
        """What numba takes the bot for where a kernel calls it by name."""
        from numba import typeof

        return typeof(self.function)

    def __call__(self, view: Any, scratch: Any, stream: Any) -> Any:
        """Return the bot's move."""
        return self.function(view, scratch, stream)


@cache
def _compiled_for(game: str, python: PolicyFunction) -> PolicyFunction:
    """Return a function compiled as a policy of a game."""
    from velonimo_sim._jit import kernel_as

    compiled: PolicyFunction = kernel_as(import_module(f"velonimo_sim.{game}.policies.base").POLICY)(python)
    return compiled


def _reason(error: Exception) -> str:
    """Return what numba says, of which the first line names a step of its own and the last ones repeat the source."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    places = [line.rstrip(":") for line in lines if line.startswith("File ")]
    said = [line for line in lines if not line.startswith(("Failed in ", "During: ", "File ", ">>>"))]
    return shorten(" ".join([*said[:1], *places[-1:]]), 300, placeholder=" ...") or type(error).__name__


@dataclass(frozen=True, eq=False)
class PlainPolicy(Policy):
    """A bot in plain Python.

    Parameters
    ----------
    made_by : type
        The user's class.
    """

    made_by: type = field(kw_only=True)

    @classmethod
    def of(cls, made_by: type, game: str = "velonimo") -> Self:
        """Return what a class with a method ``choose`` declares; one that names no ``game`` plays the given one."""
        help_text = (made_by.__doc__ or "").strip().partition("\n")[0]
        parameters, its_game = tuple(getattr(made_by, "parameters", ())), getattr(made_by, "game", game)
        return cls(made_by.__name__, help_text, parameters, game=its_game, made_by=made_by)

    @property
    def source(self) -> type:
        """The user's class."""
        return self.made_by

    @property
    def function(self) -> PolicyFunction:
        """The function that stands for it in the engine's loop, which then asks Python."""
        from velonimo_sim.bot.plain import ask

        return _compiled_for(self.game, ask)

    def make(self, values: Sequence[Value]) -> "PlainBot":
        """Return a bot of the class with its parameters set.

        Raises
        ------
        UsageError
            If its constructor raises.
        """
        settings = {parameter.name: value for parameter, value in zip(self.parameters, values, strict=True)}
        try:
            bot: PlainBot = self.made_by(**settings)
        except (Exception, SystemExit) as error:
            raise UsageError(f"bot {self.name} cannot be made: {in_one_line(error)}") from error
        return bot


def compiled_bot(
    name: str, help: str, parameters: Sequence[Parameter] = (), sees_all: bool = False, game: str = "velonimo"
) -> Callable[[PolicyFunction], CompiledPolicy]:
    """Declare a function ``move = function(view, scratch, stream)`` as a bot that is compiled.

    Parameters
    ----------
    name : str
        What it is called: in ``FILE.py:NAME`` either this or the name of the function.
    help : str
        What it does, in a few words.
    parameters : sequence of Parameter
        What a user may set; the function finds the values in ``scratch["parameters"]``, in this order, as floats.
    sees_all : bool
        Fill ``scratch["truth"]`` with the whole state before each decision. That is cheating, and said so everywhere.
    game : str
        Name of the game that it plays.

    Returns
    -------
    callable
        The decorator. What it returns is called as the function itself, from Python and from kernels.
    """
    return lambda function: CompiledPolicy(name, help, tuple(parameters), sees_all, game, python=function)
