"""What it is worth to be dealt a Tortoise instead of another rider, in three ways that estimate the same.

A Tortoise is the lowest rider, and whoever plays it swaps cards (V20). The question is by how much a hand does better
with a Tortoise than with another rider in its place, the swap included, on average over the hands that a Tortoise may
come to and the riders 2-7 of its colour.

1. *By number dealt.* Hands are random, so those with k + 1 Tortoises are compared with those with k, at the same number
   of hares; the average over k and over the hares weighs as the 10 other cards of a hand fall.
2. *The swap switched off*, on the same deals: what the first way finds more with the swap than without is what the swap
   adds. To it comes what a plain 1 is worth beside another rider, from the third way without the swap.
3. *Exchanged*, on the same deals: the Tortoise and another rider of its colour lie in each other's place
   (``exchanged_cards``), and the hands that hold one of the two are compared; the average over the riders 2-7.

That 1 and 3 are the same is not obvious, for in the first way the other rider may be of any colour. But a hand that
holds a Tortoise and not the rider v of its colour counts for it, one that holds v and not the Tortoise against it, and
"holds the one and not the other" less "holds the other and not the one" is "holds the one" less "holds the other".
So summed over all colours and all v, what remains of a hand is 6 times its Tortoises less its other riders.

The third way knows only the exchanges that were played. If colours are alike to the bot, one colour suffices. To one
that breaks ties by colour they are not quite; then each number is best exchanged in another colour.
"""

from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.analysis.breakdown import MomentsBy, differences_by, moments_of, outcomes_by
from velonimo_sim.analysis.runs import Source, batches
from velonimo_sim.errors import UsageError
from velonimo_sim.velonimo.cards import parse_card

if TYPE_CHECKING:
    import pandas as pd

WAYS = ("by number dealt", "the swap switched off", "exchanged")
"""The three ways, as ``tortoise_worth`` calls them."""
_KEY = ("players", "tortoise_swap", "instead_of", "tortoises", "hares")
"""A group of rows: by number dealt (``instead_of`` is 0), or of an exchange with the rider of that number."""
_KEY_OF_ROWS = tuple(name for name in _KEY if name != "instead_of")
_OTHERS_IN_HAND = 10
_OTHER_TORTOISES, _HARES, _OTHER_RIDERS = 6, 6, 41
"""The deck without the Tortoise and the rider that are compared."""
_FEWEST = 30
"""Hands of a kind from which on their mean is compared with that of others."""
_STEPS = ("1st Tortoise", "2nd Tortoise", "3rd Tortoise", "4th Tortoise")

_Weights: TypeAlias = NDArray[np.float64]


def tortoise_worth(source: Source, outcome: str = "beaten", level: float = 0.95) -> "pd.DataFrame":
    """Return what a Tortoise is worth instead of another rider: in three ways, in parts, and one after the other.

    Parameters
    ----------
    source : LoadedRuns, Path, str, sequence or mapping of them, or pandas.DataFrame
        Runs from the same seed, same bot in all seats: with the swap and with ``tortoise_swap="off"``, each as dealt
        and with ``exchanged_cards`` of a Tortoise and another rider of its colour, for each number from 2 to 7. Or
        their col rows with ``players``, ``tortoise_swap``, ``exchanged_cards`` (``none`` or ``B1,B5``), ``run``,
        ``group``, ``game_id``, ``hand``, ``tortoises``, ``hares`` and the outcome.
    outcome : str
        ``beaten`` and ``points`` of a col, or ``won``, ``place`` and ``total`` of its game.
    level : float
        The coverage asked for.

    Returns
    -------
    pandas.DataFrame
        ``players``; ``what``; ``label``; ``mean``, ``low``, ``high``, in units of the outcome for one Tortoise in one
        col. By what it is:

        - ``worth``: the three ways (``WAYS``),
        - ``difference``: by how much two ways differ, with their correlation: zero lies within if they agree,
        - ``part``: what a plain 1 is worth, without the swap, and what the swap adds; each in two ways,
        - ``step``: the 1st to 4th Tortoise of a hand, each by number dealt,
        - ``instead of`` and ``instead of, no swap``: the exchange with each number.

        ``attrs`` says the ``outcome``, and how many ``games`` and ``deals`` there are in all.

    Raises
    ------
    UsageError
        If a run or a column is missing, or an exchange is not of a Tortoise and another rider of its colour.
    """
    import pandas as pd

    moments = _moments(source, outcome)
    records = [
        {"players": players, "what": what, "label": label}
        | dict(zip(("mean", "low", "high"), moments.contrast(weights, level), strict=True))
        for players in moments.keys["players"].unique().tolist()
        for (what, label), weights in _contrasts(moments, players).items()
    ]
    table = pd.DataFrame(records)
    table.attrs = dict(moments.attrs)
    return table


def _contrasts(moments: MomentsBy, players: int) -> dict[tuple[str, str], _Weights]:
    """Return by what and label the weights of everything that is told of one number of players."""
    dealt = {swap: _by_number_dealt(moments, players, swap) for swap in ("mandatory", "off")}
    riders = {swap: _exchanged(moments, players, swap) for swap in ("mandatory", "off")}
    exchanged = {swap: np.mean([*by_rider.values()], axis=0) for swap, by_rider in riders.items()}
    if not all(weights.any() for weights in dealt.values()):
        raise UsageError(f"worth of a Tortoise with {players} players: the hands are too few to compare any")
    swap_adds = dealt["mandatory"] - dealt["off"]
    ways = dict(zip(WAYS, (dealt["mandatory"], swap_adds + exchanged["off"], exchanged["mandatory"]), strict=True))
    contrasts = {("worth", way): weights for way, weights in ways.items()}
    contrasts |= {("difference", f"{b} - {a}"): ways[b] - ways[a] for a, b in combinations(WAYS, 2)}
    contrasts |= {
        ("part", "a plain 1, by number dealt"): dealt["off"],
        ("part", "a plain 1, exchanged"): exchanged["off"],
        ("part", "the swap adds, by number dealt"): swap_adds,
        ("part", "the swap adds, exchanged"): exchanged["mandatory"] - exchanged["off"],
    }
    for number, step in enumerate(_STEPS):
        weights = _by_number_dealt(moments, players, "mandatory", number)
        if weights.any():
            contrasts["step", step] = weights
    for what, swap in (("instead of", "mandatory"), ("instead of, no swap", "off")):
        contrasts |= {(what, f"a {rider}"): weights for rider, weights in riders[swap].items()}
    return contrasts


def _by_number_dealt(moments: MomentsBy, players: int, swap: str, number: int | None = None) -> _Weights:
    """Return the weights of the first way: of all Tortoises, or of one more beside the ``number`` that a hand has.

    Only hands that occur ``_FEWEST`` times are compared, if there are such: others, as those of 6 Tortoises in a short
    run, would widen the interval and hardly change the mean.
    """
    place = {
        (key.tortoises, key.hares): row
        for row, key in enumerate(moments.keys.itertuples())
        if (key.players, key.tortoise_swap, key.instead_of) == (players, swap, 0)
    }
    pairs = [
        (more, place[tortoises - 1, hares], _chance_of_others(tortoises - 1, hares))
        for (tortoises, hares), more in place.items()
        if (tortoises - 1, hares) in place and number in (None, tortoises - 1)
    ]
    pairs = [pair for pair in pairs if moments.rows[[*pair[:2]]].min() >= _FEWEST] or pairs
    weights = np.zeros(len(moments.keys))
    for more, fewer, chance in pairs:
        weights[more] += chance
        weights[fewer] -= chance
    return weights / sum(chance for *_, chance in pairs) if pairs else weights


def _chance_of_others(tortoises: int, hares: int) -> float:
    """Return how likely so many Tortoises and hares are among the 10 others of a hand (hypergeometric)."""
    riders = _OTHERS_IN_HAND - tortoises - hares
    ways = comb(_OTHER_TORTOISES, tortoises) * comb(_HARES, hares) * comb(_OTHER_RIDERS, max(riders, 0))
    return ways / comb(_OTHER_TORTOISES + _HARES + _OTHER_RIDERS, _OTHERS_IN_HAND) if riders >= 0 else 0.0


def _exchanged(moments: MomentsBy, players: int, swap: str) -> dict[int, _Weights]:
    """Return the weights of the exchange with each rider, by its number."""
    place = {tuple(key): row for row, key in enumerate(moments.keys.itertuples(index=False))}
    weights = {}
    for number in range(2, 8):
        rider, tortoise = (place.get((players, swap, number, tortoises, 0)) for tortoises in (0, 1))
        if rider is None or tortoise is None:
            raise UsageError(
                f"worth of a Tortoise with {players} players: nothing to compare in runs with tortoise_swap {swap}, as "
                f"dealt and with a Tortoise exchanged with the {number} of its colour"
            )
        weights[number] = np.zeros(len(moments.keys))
        weights[number][[rider, tortoise]] = -1, 1
    return weights


def _moments(source: Source, outcome: str) -> MomentsBy:
    """Return the sums of all groups of rows that are compared."""
    columns = [*_KEY_OF_ROWS, "exchanged_cards", "hand", "run", "game_id", outcome]
    moments = moments_of((_grouped(batch) for batch in batches(source, columns)), _KEY, outcome)
    if moments is None:
        raise UsageError("worth of a Tortoise: no run without exchanged_cards")
    return moments


def _grouped(batch: "pd.DataFrame") -> "pd.DataFrame":
    """Return rows once for each group that they count in: by number dealt, and for the exchange with each rider."""
    import pandas as pd

    exchanged, hands = batch["exchanged_cards"], batch["hand"].to_numpy()
    is_base = (exchanged == "none").to_numpy()
    rows = batch.drop(columns=["exchanged_cards", "hand"])
    parts = [rows[is_base].assign(instead_of=np.int8(0))]
    for cards in exchanged.unique():
        if cards == "none":
            continue
        tortoise, rider, number = _read_exchange(cards)
        has_tortoise, has_rider = (hands & tortoise) > 0, (hands & rider) > 0
        holders = is_base & has_tortoise & ~has_rider, (exchanged == cards).to_numpy() & has_rider & ~has_tortoise
        for tortoises, chosen in zip((1, 0), holders, strict=True):
            group = {"instead_of": number, "tortoises": np.int8(tortoises), "hares": np.int8(0)}
            parts.append(rows[chosen].assign(**group))
    return pd.concat(parts, ignore_index=True)


def _read_exchange(cards: str) -> tuple[np.uint64, np.uint64, np.int8]:
    """Return the Tortoise and the rider of a text such as ``B1,B5``, and the rider's number."""
    tortoise, _, rider = cards.partition(",")
    if tortoise[1:] != "1":
        tortoise, rider = rider, tortoise
    if tortoise[1:] != "1" or tortoise[:1] != rider[:1]:
        raise UsageError(f"exchanged_cards {cards}: allowed is a Tortoise and another rider of its colour, as B1,B5")
    return parse_card(tortoise), parse_card(rider), np.int8(rider[1:])


def swap_balance(source: Source, level: float = 0.95) -> "pd.DataFrame":
    """Return the swaps that hands make and suffer, by the Tortoises dealt, and what the rule of the swap does to them.

    What a swap costs its victim cannot be told by comparing victims with others, for a bot chooses as victim who is
    nearest to going out. But on the same deals without the swap nobody suffers. All opponents beaten at a table are as
    many as ever, so what the rule takes from some hands it gives to others. Hands without a Tortoise make next to no
    swaps: what they lose, over the swaps that they suffer, is the cost of a swap suffered, together with what they bear
    because others at the table are swapped with.

    Parameters
    ----------
    source : LoadedRuns, Path, str, sequence or mapping of them, or pandas.DataFrame
        Runs from the same seed with the swap and with ``tortoise_swap="off"``, none with ``exchanged_cards``, or their
        col rows.
    level : float
        The coverage asked for.

    Returns
    -------
    pandas.DataFrame
        ``players``, ``tortoises`` (dealt); ``made`` and ``suffered``, swaps per col; ``mean``, ``low``, ``high``:
        opponents beaten in a col, with the swap less without; ``rows``, ``games``, ``deals`` with the swap.

    Raises
    ------
    UsageError
        If a column is missing, or there is no run without the swap.
    """
    by = ["players", "tortoises"]
    table = differences_by(source, "tortoise_swap", by, "beaten", baseline="off", level=level)
    for name, column in (("made", "swaps_made"), ("suffered", "swaps_suffered")):
        counts = outcomes_by(source, [*by, "tortoise_swap"], column)
        table = table.merge(counts.rename(columns={"mean": name})[[*by, "tortoise_swap", name]])
    table.attrs["outcome"] = "beaten"
    return table[[*by, "made", "suffered", "mean", "low", "high", "rows", "games", "deals"]]
