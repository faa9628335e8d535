"""The dice: which faces each team's and the energy die have (C3). They are data, read from TOML."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Self

from velonimo_sim.errors import UsageError
from velonimo_sim.velocity.data_file import checked_fields, checked_name, integers_in, read_from

TEAMS = ("red", "black", "yellow", "white", "green", "gray", "blue")
"""The teams by seat (C1)."""
ENERGY = 7
"""Number of the energy die; a team's die has the number of its seat."""
DICE = 8
"""How many dice there are."""
SUM = 8
"""Stands for the sum of the own and the energy die, in a Breakaway (C10)."""
DIE_NAMES = (*TEAMS, "energy", "sum")
MAX_FACES = 12
"""The most faces of a die."""
MAX_FACE = 20
"""The greatest number on a face."""


@dataclass(frozen=True)
class Dice:
    """The faces of all dice.

    Parameters
    ----------
    name : str
        What they are called.
    energy : tuple of int
        Faces of the energy die: 1-12 numbers, each 1-20.
    teams : tuple of tuple of int
        Faces of each team's die, in the order of ``TEAMS``.

    Raises
    ------
    UsageError
        If a die is impossible; the message names it.
    """

    name: str
    energy: tuple[int, ...]
    teams: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        """Check every die."""
        checked_name(self.name, "dice")
        object.__setattr__(self, "energy", self._checked(self.energy, "energy"))
        if not isinstance(self.teams, list | tuple) or len(self.teams) != len(TEAMS):
            raise UsageError(f"dice {self.name}: teams {self.teams!r}: allowed are the faces of {len(TEAMS)} dice")
        faces = tuple(self._checked(faces, team) for team, faces in zip(TEAMS, self.teams, strict=True))
        object.__setattr__(self, "teams", faces)

    def _checked(self, faces: object, die: str) -> tuple[int, ...]:
        checked = integers_in(faces, f"dice {self.name}: face of the {die} die", 1, MAX_FACE)
        if not 1 <= len(checked) <= MAX_FACES:
            raise UsageError(f"dice {self.name}: the {die} die has {len(checked)} faces: allowed are 1-{MAX_FACES}")
        return checked

    @property
    def faces(self) -> tuple[tuple[int, ...], ...]:
        """The faces of every die by its number: the teams' dice, then the energy die."""
        return (*self.teams, self.energy)

    @classmethod
    def from_dict(cls, content: object) -> Self:
        """Return the dice that ``to_dict``, or a TOML file, describes.

        ``team`` has the faces of each team's die that is not given by its colour.

        Raises
        ------
        UsageError
            If a field is missing or unknown, or a die impossible.
        """
        fields = checked_fields(content, "dice", ("name", "team", "energy"), TEAMS)
        return cls(fields["name"], fields["energy"], tuple(fields.get(team, fields["team"]) for team in TEAMS))

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Return the dice in a TOML file.

        Raises
        ------
        UsageError
            If the file cannot be read, or holds no possible dice.
        """
        return read_from(path, "dice", cls.from_dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the dice as values that JSON knows."""
        common = self.teams[0]
        others = {team: list(faces) for team, faces in zip(TEAMS, self.teams, strict=True) if faces != common}
        return {"name": self.name, "team": list(common), "energy": list(self.energy)} | others


@cache
def default_dice() -> Dice:
    """Return the dice where no others are named: 1-6 on each (C3)."""
    return Dice.load(Path(__file__).with_name("default_dice.toml"))
