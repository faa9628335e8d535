"""The rule options of Velonimo, checked once and then fixed (the table "Rule options", V1-V28)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Final, Self

import numpy as np

from velonimo_sim.errors import UsageError, is_integer_in, unknown_name
from velonimo_sim.velonimo.cards import DECK_SIZE, parse_cards, position_of, text_of_position

RULES_VERSION = 1
"""Goes up whenever the same moves lead to another game; written into every results file."""

DEAL_VERSION = 1
"""Goes up whenever the same seed deals other cards or draws other chances; written into every results file."""

MIN_PLAYERS = 2
MAX_PLAYERS = 5
MAX_COLS = 10
_LARGEST = 1_000_000

RULES = np.dtype(
    [
        ("col_values", "i4", (MAX_COLS,)),  # points per opponent still racing, 0 after the last col
        ("duel_target", "i4"),  # points, 0 = play all cols
        ("jersey_bonus", "i4"),  # 0 = the Jersey cannot be added to a play
        ("n_cols", "u1"),  # 1-10
        ("hand_size", "u1"),  # cards, 1-27
        ("tortoise_swap", "u1"),  # index into TORTOISE_SWAP
        ("dromedary_last_card", "u1"),  # index into DROMEDARY_LAST_CARD
        ("starter_tie", "u1"),  # index into STARTER_TIE
        ("jersey_tie", "u1"),  # index into JERSEY_TIE
        ("exchanged", "u1", (2,)),  # bit positions of two cards, see cards.py; twice 0 = none
    ],
    align=True,
)
"""The options as compiled code reads them: part of every view and so of every state."""

TORTOISE_SWAP = ("mandatory", "optional", "off")
DROMEDARY_LAST_CARD = ("draws", "exempt")
STARTER_TIE = ("least_points", "table_order")
JERSEY_TIE = ("most_points", "col_winner")
SWAP_MANDATORY, SWAP_OPTIONAL, SWAP_OFF = range(3)
LAST_CARD_DRAWS, LAST_CARD_EXEMPT = range(2)
STARTER_LEAST_POINTS, STARTER_TABLE_ORDER = range(2)
JERSEY_MOST_POINTS, JERSEY_COL_WINNER = range(2)

_CHOICES: Final = {
    "tortoise_swap": TORTOISE_SWAP,
    "dromedary_last_card": DROMEDARY_LAST_CARD,
    "starter_tie": STARTER_TIE,
    "jersey_tie": JERSEY_TIE,
}


@dataclass(frozen=True)
class RuleSet:
    """One immutable choice of the rule options.

    Parameters
    ----------
    col_values : tuple of int
        Points per opponent still racing in col 1, 2, ...: 1-10 values, each 1-1,000,000 (V17).
    tortoise_swap : {"mandatory", "optional", "off"}
        Whether a Tortoise makes its author swap cards (V20); ``"off"`` leaves it a plain 1.
    dromedary_last_card : {"draws", "exempt"}
        Whether a Dromedary draws even as the last card of a hand (V24).
    duel_target : int or None
        Points that win a duel at once (V27); None plays all cols.
    starter_tie : {"least_points", "table_order"}
        Who starts when the lowest total is shared (V5): who scored least in the last col, or the lowest seat.
    jersey_tie : {"most_points", "col_winner"}
        Who wears the Jersey when the highest total is shared (V18): who scored most in the last col, or the col's
        winner if he is among them and else nobody.
    jersey_bonus : int or None
        What the Jersey adds to a play (V9), 0-1,000,000; None is 10 with 3-5 players and 0 in the duel.
    hand_size : int
        Cards dealt to each player (V4), 1-27; the deck has 55.
    exchanged_cards : tuple of two str, or None
        Two cards such as ``("B1", "B5")`` that lie in each other's place in every deal (V4). Games that differ in this
        alone tell what a card is worth beside another: on the same deals, whoever had the one has the other.

    Raises
    ------
    UsageError
        If an option is impossible; the message names the option, the value and what is allowed.
    """

    col_values: tuple[int, ...] = (1, 2, 3, 4, 5)
    tortoise_swap: str = "mandatory"
    dromedary_last_card: str = "draws"
    duel_target: int | None = 8
    starter_tie: str = "least_points"
    jersey_tie: str = "most_points"
    jersey_bonus: int | None = None
    hand_size: int = 11
    exchanged_cards: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        """Check every option."""
        values = self.col_values
        allowed = f"1-{MAX_COLS} integers, each 1-{_LARGEST}"
        if not isinstance(values, tuple | list | range | np.ndarray) or np.ndim(values) != 1:
            raise _impossible("col_values", values, allowed)
        if not 1 <= len(values) <= MAX_COLS or not all(is_integer_in(value, 1, _LARGEST) for value in values):
            raise _impossible("col_values", tuple(values), allowed)
        object.__setattr__(self, "col_values", tuple(int(value) for value in values))
        for name, choices in _CHOICES.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in choices:
                raise _impossible(name, value, " or ".join(choices))
        if self.duel_target is not None and not is_integer_in(self.duel_target, 1, _LARGEST):
            raise _impossible("duel_target", self.duel_target, f"none or an integer 1-{_LARGEST}")
        if self.jersey_bonus is not None and not is_integer_in(self.jersey_bonus, 0, _LARGEST):
            raise _impossible("jersey_bonus", self.jersey_bonus, f"none (by players) or an integer 0-{_LARGEST}")
        if not is_integer_in(self.hand_size, 1, DECK_SIZE // MIN_PLAYERS):
            raise _impossible("hand_size", self.hand_size, f"an integer 1-{DECK_SIZE // MIN_PLAYERS}")
        for name in ("duel_target", "jersey_bonus", "hand_size"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, int(getattr(self, name)))  # numpy's integers are no JSON
        if self.exchanged_cards is not None:
            object.__setattr__(self, "exchanged_cards", _two_cards(self.exchanged_cards))

    @classmethod
    def official(cls) -> Self:
        """Return the rules as printed: every option at its default."""
        return cls()

    @classmethod
    def bga(cls) -> Self:
        """Return the rules of the Board Game Arena adaptation, which breaks two ties otherwise (V5, V18)."""
        return cls(starter_tie="table_order", jersey_tie="col_winner")

    @classmethod
    def preset(cls, name: str) -> Self:
        """Return the preset of that name.

        Raises
        ------
        UsageError
            If there is no such preset.
        """
        presets = {"official": cls.official, "bga": cls.bga}
        if not isinstance(name, str) or name not in presets:
            raise unknown_name("rules preset", name, presets)
        return presets[name]()

    def with_options(self, texts: Mapping[str, str]) -> Self:
        """Return these rules with some options changed, the values given as text.

        Parameters
        ----------
        texts : mapping of str to str
            Option name to text: ``{"col_values": "1,2,3", "duel_target": "none"}``.

        Raises
        ------
        UsageError
            If an option does not exist or its value is impossible.
        """
        options = asdict(self)
        for name, text in texts.items():
            if name not in options:
                raise unknown_name("rule", name, options)
            if not isinstance(text, str):
                raise UsageError(f"rule {name}={text!r}: allowed is the value as text")
            options[name] = _read_value(name, text)
        return type(self)(**options)

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Self:
        """Return the rules that ``to_dict`` described.

        Raises
        ------
        UsageError
            If an option does not exist or its value is impossible.
        """
        known = [field.name for field in fields(cls)]
        if not isinstance(options, Mapping):
            raise UsageError(f"rules {options!r}: allowed is a mapping of options to values")
        for name in options:
            if name not in known:
                raise unknown_name("rule", name, known)
        return cls(**options)

    def to_dict(self) -> dict[str, Any]:
        """Return the options as values that JSON knows."""
        exchanged = None if self.exchanged_cards is None else list(self.exchanged_cards)
        return asdict(self) | {"col_values": list(self.col_values), "exchanged_cards": exchanged}

    def bonus(self, players: int) -> int:
        """Return what the Jersey adds to a play at a table of that many players (V9)."""
        if self.jersey_bonus is None:
            return 0 if players == MIN_PLAYERS else 10
        return self.jersey_bonus

    def in_force(self, players: int) -> dict[str, Any]:
        """Return the options as ``to_dict`` does, the Jersey bonus as it is with so many players (V9)."""
        return self.to_dict() | {"jersey_bonus": self.bonus(players)}

    def to_record(self, players: int) -> np.void:
        """Return the options as a record of dtype ``RULES`` for a table of that many players.

        Raises
        ------
        UsageError
            If the number of players is impossible, or the deck too small for their hands.
        """
        check_players(players)
        if players * self.hand_size > DECK_SIZE:
            raise _impossible("hand_size", self.hand_size, f"1-{DECK_SIZE // players} with {players} players")
        record: np.void = np.zeros(1, RULES)[0]
        record["col_values"][: len(self.col_values)] = self.col_values
        record["duel_target"] = self.duel_target or 0
        record["jersey_bonus"] = self.bonus(players)
        record["n_cols"] = len(self.col_values)
        record["hand_size"] = self.hand_size
        record["exchanged"] = [position_of(card) for card in self.exchanged_cards or ()] or 0
        for name, allowed in _CHOICES.items():
            record[name] = allowed.index(getattr(self, name))
        return record

    @classmethod
    def from_record(cls, record: np.void) -> Self:
        """Return the rules that ``to_record`` described; the Jersey bonus is then given by number.

        Raises
        ------
        ValueError, IndexError
            If the record holds an impossible option.
        """
        first, second = record["exchanged"].tolist()
        return cls(
            col_values=tuple(record["col_values"][: record["n_cols"]].tolist()),
            duel_target=int(record["duel_target"]) or None,
            jersey_bonus=int(record["jersey_bonus"]),
            hand_size=int(record["hand_size"]),
            exchanged_cards=(text_of_position(first), text_of_position(second)) if first or second else None,
            **{name: allowed[record[name]] for name, allowed in _CHOICES.items()},
        )


VARIED = (
    RuleSet.official(),
    RuleSet(tortoise_swap="optional", jersey_bonus=5),
    RuleSet(dromedary_last_card="exempt", duel_target=None, jersey_tie="col_winner"),
    RuleSet.bga(),
)
"""Rules under which a bot is checked: all can be played by any number of players."""


def checked_rules(rules: object) -> RuleSet:
    """Return the rules that a caller gives, None being the official ones.

    Raises
    ------
    UsageError
        If they are something else.
    """
    if rules is None:
        return RuleSet.official()
    if not isinstance(rules, RuleSet):
        raise UsageError(f"rules {rules!r}: allowed is a RuleSet, and where a game begins the name of a preset")
    return rules


def check_players(players: object) -> None:
    """Raise a ``UsageError`` unless the game can be played by that many (V4)."""
    if not is_integer_in(players, MIN_PLAYERS, MAX_PLAYERS):
        raise UsageError(f"players {players}: allowed is {MIN_PLAYERS}-{MAX_PLAYERS}")


def _impossible(name: str, value: object, allowed: str) -> UsageError:
    return UsageError(f"rule {name}={value!r}: allowed is {allowed}")


def _two_cards(cards: object) -> tuple[str, str]:
    """Return the two cards that are exchanged, as texts."""
    allowed = "none or two cards such as B1,B5"
    if not isinstance(cards, tuple | list) or len(cards) != 2 or not all(isinstance(card, str) for card in cards):
        raise _impossible("exchanged_cards", cards, allowed)
    try:
        parse_cards(cards)
    except ValueError:
        raise _impossible("exchanged_cards", cards, allowed) from None
    return cards[0], cards[1]


def _read_value(name: str, text: str) -> object:
    if name in _CHOICES:
        return text
    if name == "exchanged_cards":
        return None if text == "none" else tuple(text.split(","))
    if name == "col_values":
        return tuple(_read_integer(part) for part in text.split(","))
    return None if text == "none" else _read_integer(text)


def _read_integer(text: str) -> int | str:
    """Return the integer, or the text itself for the option's own check to refuse."""
    try:
        return int(text)
    except ValueError:
        return text
