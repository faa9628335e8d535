"""What a user may set of a bot: declared once, read from the bot's text, told by ``python -m velonimo_sim.bots``."""

import math
from dataclasses import dataclass
from typing import TypeAlias

from velonimo_sim.errors import UsageError

Value: TypeAlias = int | float | bool | str

MAX_PARAMETERS = 16
"""The most parameters of a bot: so many have room in its scratch."""


@dataclass(frozen=True)
class Parameter:
    """A value that a bot's text may set, as in ``rollout:n=50``.

    Parameters
    ----------
    name : str
        An identifier; a plain bot gets the value as the keyword argument of that name.
    type : int, float, bool or tuple of str
        A tuple lists the texts that are allowed; a bool is written ``on`` or ``off``.
    default : int, float, bool or str
        The value of a bot whose text does not set it.
    range : tuple of two numbers, optional
        The lowest and the highest value; needed for numbers, and for nothing else.
    help : str
        What it does, in a few words.

    Raises
    ------
    UsageError
        If the declaration contradicts itself.
    """

    name: str
    type: type[int] | type[float] | type[bool] | tuple[str, ...]
    default: Value
    range: tuple[float, float] | None = None
    help: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.isidentifier():
            raise UsageError(f"parameter {self.name!r}: a name is made of letters, digits and _")
        is_choice = isinstance(self.type, tuple) and bool(self.type) and all(map(_is_word, self.type))
        if self.type not in (int, float, bool) and not is_choice:
            raise UsageError(f"parameter {self.name}: the type is int, float, bool or a tuple of texts without , : =")
        if (self.range is not None) != (self.type in (int, float)):
            raise UsageError(f"parameter {self.name}: a range goes with int and float, and only with them")
        try:
            is_sound = self.read(self.text(self.default)) == self.default
        except (ValueError, TypeError):
            is_sound = False
        if not is_sound:
            raise UsageError(f"parameter {self.name}: default {self.default!r}: allowed is {self.allowed}")

    @property
    def allowed(self) -> str:
        """What values there are, in words."""
        if isinstance(self.type, tuple):
            return " or ".join(self.type)
        if self.range is None:
            return "on or off"
        low, high = self.range
        dash = "-" if low >= 0 else " to "
        return f"{'an integer' if self.type is int else 'a number'} {low:.15g}{dash}{high:.15g}"

    def read(self, text: str) -> Value:
        """Return the value that a text gives.

        Raises
        ------
        ValueError
            If it gives none, or one that is not allowed.
        """
        if isinstance(self.type, tuple):
            return self.type[self.type.index(text)] if text in self.type else self._refuse()
        if self.range is None:
            return {"on": True, "off": False}[text] if text in ("on", "off") else self._refuse()
        number = self.type(text)
        low, high = self.range
        return number if math.isfinite(number) and low <= number <= high else self._refuse()

    def _refuse(self) -> Value:
        raise ValueError(f"allowed is {self.allowed}")

    def text(self, value: Value) -> str:
        """Return the text that ``read`` reads as the value."""
        return ("on" if value else "off") if self.type is bool else str(value)

    def as_number(self, value: Value) -> float:
        """Return the value as compiled bots find it in their scratch: on is 1, off 0, a choice its index."""
        return float(self.type.index(str(value)) if isinstance(self.type, tuple) else value)


def _is_word(text: object) -> bool:
    return isinstance(text, str) and text != "" and not set(text) & set(",:= ")
