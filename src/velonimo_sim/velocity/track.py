"""The course: which spaces there are and of which kind (C4). It is data, read from TOML.

A space is its number: 1 is the last one before the finish line, the greatest the first after the car park. The car park
is the number after that, and 0 stands for the finish, so that a courier that moves v lands on its number less v.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

from velonimo_sim.errors import UsageError, is_integer_in
from velonimo_sim.velocity.data_file import checked_fields, checked_name, integers_in, read_from

MAX_LENGTH = 60
"""The most spaces of a course: they and the car park have a bit each in a word."""
FINISH_PLACES = 8
"""Places behind the finish line (C4)."""
FINISH = 0
"""Stands for the finish where a field holds a space."""

_KINDS = ("supply", "obstacle", "route")


@dataclass(frozen=True)
class Course:
    """The spaces between the car park and the finish line.

    Parameters
    ----------
    name : str
        What it is called.
    length : int
        Number of spaces, 1-60; they are numbered 1 to ``length`` from the finish line back.
    supply, obstacle, route : tuple of int
        The spaces of each kind; together each number once, and at least one supply space.
    is_reconstruction : bool
        Whether it is laid out after what is told of a board that could not be seen.
    from_examples : tuple of int
        Spaces that the examples of the rulebook name.

    Raises
    ------
    UsageError
        If the course is impossible; the message names the space, or what is missing.
    """

    name: str
    length: int
    supply: tuple[int, ...]
    obstacle: tuple[int, ...]
    route: tuple[int, ...]
    is_reconstruction: bool = False
    from_examples: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Check every field."""
        checked_name(self.name, "course")
        if not is_integer_in(self.length, 1, MAX_LENGTH):
            raise UsageError(f"course {self.name}: length {self.length!r}: allowed is an integer 1-{MAX_LENGTH}")
        object.__setattr__(self, "length", int(self.length))  # numpy's integers are no JSON
        if not isinstance(self.is_reconstruction, bool):
            raise UsageError(
                f"course {self.name}: is_reconstruction {self.is_reconstruction!r}: allowed is true or false"
            )
        for kind in (*_KINDS, "from_examples"):
            spaces = integers_in(getattr(self, kind), f"course {self.name}: {kind} space", 1, self.length)
            object.__setattr__(self, kind, tuple(sorted(spaces, reverse=True)))
        if not self.supply:
            raise UsageError(f"course {self.name}: has no supply space; needed is one at least")
        self._check_each_space_once()

    def _check_each_space_once(self) -> None:
        found: dict[int, str] = {}
        for space, kind in self._spaces():
            if space in found:
                raise UsageError(f"course {self.name}: space {space} stands twice, as {found[space]} and as {kind}")
            found[space] = kind
        for space in range(1, self.length + 1):
            if space not in found:
                raise UsageError(f"course {self.name}: space {space} is missing; all of 1-{self.length} are needed")

    def _spaces(self) -> Iterator[tuple[int, str]]:
        for kind in _KINDS:
            for space in getattr(self, kind):
                yield space, kind

    @property
    def car_park(self) -> int:
        """The number that stands for the car park."""
        return self.length + 1

    @classmethod
    def from_dict(cls, content: object) -> Self:
        """Return the course that ``to_dict``, or a TOML file, describes.

        Raises
        ------
        UsageError
            If a field is missing or unknown, or the course impossible.
        """
        needed, optional = ("name", "length", *_KINDS), ("is_reconstruction", "from_examples")
        return cls(**checked_fields(content, "course", needed, optional))

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Return the course in a TOML file.

        Raises
        ------
        UsageError
            If the file cannot be read, or holds no possible course.
        """
        return read_from(path, "course", cls.from_dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the course as values that JSON knows."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}


@cache
def default_course() -> Course:
    """Return the course where no other is named: a reconstruction of 35 spaces, see its file."""
    return Course.load(Path(__file__).with_name("default_course.toml"))
