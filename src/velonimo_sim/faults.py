"""What a bot can do wrong in play, and what then becomes of the game."""

from enum import IntEnum, StrEnum


class Fault(IntEnum):
    """What a bot did wrong, as the column ``fault`` has it."""

    NONE = 0
    ILLEGAL_MOVE = 1  # the rules refuse what it chose
    EXCEPTION = 2  # it raised
    OVER_TIME = 3  # a decision took longer than the limit

    @property
    def words(self) -> str:
        """The fault in words."""
        return self.name.lower().replace("_", " ")


class OnFault(StrEnum):
    """What becomes of a game in which a bot is at fault."""

    FORFEIT = "forfeit"  # the seat ends last, and is played on at random
    RANDOM = "random"  # a random move replaces that decision
    RAISE = "raise"  # the run ends with a ``BotError``
