"""What is declared of a bot, compiled or plain: name, help, parameters; and the decorator that does it.

Light to import: a bot is compiled, or made, when it is asked to play.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from textwrap import shorten
from typing import TYPE_CHECKING, Any, Self

from velonimo_sim.errors import UsageError, in_one_line
from velonimo_sim.velonimo.policies.parameter import MAX_PARAMETERS, Parameter, Value

if TYPE_CHECKING:
    from velonimo_sim.velonimo.policies.base import PolicyFunction
    from velonimo_sim.velonimo.policies.plain import PlainBot


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
        Whether it is shown the hidden cards, which is cheating.

    Raises
    ------
    UsageError
        If the parameters cannot be what is declared.
    """

    name: str
    help: str
    parameters: tuple[Parameter, ...] = ()
    sees_all: bool = False

    def __post_init__(self) -> None:
        if not all(isinstance(parameter, Parameter) for parameter in self.parameters):
            raise UsageError("its parameters are not all of the class Parameter")
        names = [parameter.name for parameter in self.parameters]
        if len(set(names)) < len(names):
            raise UsageError(f"parameters {', '.join(names)}: a name stands twice")
        if len(names) > MAX_PARAMETERS:
            raise UsageError(f"{len(names)} parameters: allowed are at most {MAX_PARAMETERS}")

    @property
    def function(self) -> "PolicyFunction":
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

    python: "PolicyFunction" = field(kw_only=True)

    @property
    def source(self) -> "PolicyFunction":
        """The function that the decorator was put on."""
        return self.python

    @cached_property
    def function(self) -> "PolicyFunction":
        """The compiled function of the bot; it is compiled when it is first asked for."""
        from velonimo_sim._jit import kernel_as
        from velonimo_sim.velonimo.policies.base import POLICY

        try:
            compiled: PolicyFunction = kernel_as(POLICY)(self.python)
        except Exception as error:
            raise UsageError(f"bot {self.name} does not compile: {_reason(error)}") from error
        return compiled

    @property
    def _numba_type_(self) -> Any:
        """What numba takes the bot for where a kernel calls it by name."""
        from numba import typeof

        return typeof(self.function)

    def __call__(self, view: Any, scratch: Any, stream: Any) -> Any:
        """Return the bot's move."""
        return self.function(view, scratch, stream)


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
    def of(cls, made_by: type) -> Self:
        """Return what a class with a method ``choose`` declares."""
        help_text = (made_by.__doc__ or "").strip().partition("\n")[0]
        return cls(made_by.__name__, help_text, tuple(getattr(made_by, "parameters", ())), made_by=made_by)

    @property
    def source(self) -> type:
        """The user's class."""
        return self.made_by

    @property
    def function(self) -> "PolicyFunction":
        """The function that stands for it in the engine's loop, which then asks Python."""
        from velonimo_sim.velonimo.policies.plain import ask

        return ask

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
    name: str, help: str, parameters: Sequence[Parameter] = (), sees_all: bool = False
) -> Callable[["PolicyFunction"], CompiledPolicy]:
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

    Returns
    -------
    callable
        The decorator. What it returns is called as the function itself, from Python and from kernels.
    """
    return lambda function: CompiledPolicy(name, help, tuple(parameters), sees_all, python=function)
