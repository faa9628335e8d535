"""Figures of what was found: one function each, which draws a frame into an ``ax`` of matplotlib and returns it.

Colours are those of Okabe and Ito ("Color universal design", 2008), which colour-blind people tell apart; where colours
differ, markers, lines or hatches differ too, so that grey suffices. Every figure says how many games or deals it rests
on: the frame has a column ``games``, ``deals`` or ``groups``, or ``frame.attrs`` has ``games`` or ``deals``, the number
of all. Axes have units. What is measured, ``frame.attrs["outcome"]`` or the argument ``outcome``, is one of

- ``won``: the share of games won, in percent; of differences in points of percent,
- ``place``: the place in a game, 1 = first,
- ``total``: the points in a game,
- ``points``: the points in a col,
- ``beaten``: the opponents beaten in a col, that is, who went out of it later.

All functions raise a ``UsageError`` if a column is missing, there are no rows, a mean is not within its interval, the
number of games or what is measured is not told, or more groups are asked for than can be told apart.
"""

from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.errors import UsageError
from velonimo_sim.velonimo.cards import HARE_VALUES, TEAM_NAMES, TEAMS, parse_card

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


class _Look(NamedTuple):
    """How one of several groups is drawn: no two have a colour, a marker or a hatch in common."""

    colour: str
    marker: str
    hatch: str


_LOOKS = (
    _Look("#0072B2", "o", ""),
    _Look("#E69F00", "s", "//"),
    _Look("#009E73", "^", ".."),
    _Look("#CC79A7", "D", "xx"),
    _Look("#D55E00", "v", "\\\\"),
    _Look("#56B4E9", "P", "--"),
    _Look("#000000", "X", "++"),
    _Look("#F0E442", "*", "oo"),
)
_TEAM_COLOURS = ("#0072B2", "#E69F00", "#999999", "#009E73", "#CC79A7", "#D55E00", "#F0E442")
"""Colours of the teams, nearest to their names; the letters tell them apart."""
_PLACES_OF_HARES = tuple(8.8 + 0.6 * hare for hare in range(len(HARE_VALUES)))
"""Where the hares stand on an axis that has the riders at 1-7."""
_MOST_TICKS = 12
"""Up to so many numbers on an axis are named one by one."""
_LONGEST_LABEL = 60

_OUTCOMES = {
    "won": "win share",
    "place": "place (1 = first)",
    "total": "points in a game",
    "points": "points in a col",
    "beaten": "opponents beaten in a col",
}


# The figures.


def win_shares(frame: "pd.DataFrame", ax: "Axes", players: int | None = None) -> "Axes":
    """Draw the share of games that each bot has won, the best on top.

    Parameters
    ----------
    frame : pandas.DataFrame
        As ``bot_table`` returns it: ``bot``, ``win_share``, ``low``, ``high``, ``games``.
    ax : matplotlib.axes.Axes
        Where it is drawn.
    players : int, optional
        Seats of a game: a line stands where all win equally often.
    """
    _check(frame, "win_shares", ("bot", "win_share"))
    if players is not None:
        ax.axvline(1 / players, color="0.5", linestyle="--", zorder=0)
        place: dict[str, Any] = {"xycoords": ax.get_xaxis_transform(), "textcoords": "offset points"}
        ax.annotate(f"1/{players}", (1 / players, 0), xytext=(3, 3), color="0.3", fontsize="small", **place)
    _draw_lines(frame, ax, "bot", "win_share")
    _name_outcome(ax.xaxis, "won")
    return _finish(frame, ax, "a bot")


def seat_effects(frame: "pd.DataFrame", ax: "Axes", outcome: str | None = None) -> "Axes":
    """Draw what each seat is worth.

    Parameters
    ----------
    frame : pandas.DataFrame
        As ``analysis.seat_effects`` returns it: ``seat``, ``effect``, ``low``, ``high``, ``groups``.
    ax : matplotlib.axes.Axes
        Where it is drawn.
    outcome : str, optional
        What the effect is on; by default ``frame.attrs["outcome"]``.
    """
    _check(frame, "seat_effects", ("seat", "effect"))
    ax.axhline(0, color="0.5", zorder=0)
    _draw_points(frame, ax, _places_along(frame["seat"], ax.xaxis), "effect")
    ax.set_xlabel("seat (0 begins)")
    _name_difference(ax.yaxis, _outcome_of(frame, outcome), "effect on the")
    return _finish(frame, ax)


def by_group(
    frame: "pd.DataFrame",
    ax: "Axes",
    x: str,
    colour: str | None = None,
    label: str | None = None,
    outcome: str | None = None,
) -> "Axes":
    """Draw the mean of an outcome in each group of games, with its interval.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a group: the columns that tell the groups apart, ``mean``, ``low``, ``high``, ``games``, ``deals``.
    ax : matplotlib.axes.Axes
        Where it is drawn.
    x : str
        The column along the axis: numbers stand where they are, texts side by side in their order.
    colour : str, optional
        A second column: its values differ in colour and marker and stand a little apart.
    label : str, optional
        Name of the axis, with its unit; by default that of the column.
    outcome : str, optional
        What the mean is of; by default ``frame.attrs["outcome"]``.
    """
    _check(frame, "by_group", (x, "mean"), colour)
    _draw_points(frame, ax, _places_along(frame[x], ax.xaxis), "mean", colour)
    ax.set_xlabel(_words(x) if label is None else label)
    _name_outcome(ax.yaxis, _outcome_of(frame, outcome))
    return _finish(frame, ax, "a point")


def differences(frame: "pd.DataFrame", ax: "Axes", colour: str | None = None, outcome: str | None = None) -> "Axes":
    """Draw differences with a line at zero, the greatest on top.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a difference: ``label``, ``mean``, ``low``, ``high``, ``games``. Frames of ``pair_table``,
        ``exchange_worth`` and ``differences_by`` are labelled by what they compare.
    ax : matplotlib.axes.Axes
        Where it is drawn.
    colour : str, optional
        A second column, such as the number of players: its values differ in colour and marker and stand a little apart.
    outcome : str, optional
        What it is a difference of; by default ``frame.attrs["outcome"]``.
    """
    frame = _labelled(frame)
    _check(frame, "differences", ("label", "mean"), colour)
    ax.axvline(0, color="0.5", zorder=0)
    _draw_lines(frame, ax, "label", "mean", colour)
    _name_difference(ax.xaxis, _outcome_of(frame, outcome), "difference in")
    return _finish(frame, ax, "a point")


def card_values(frame: "pd.DataFrame", ax: "Axes", outcome: str | None = None) -> "Axes":
    """Draw what each card is worth: riders by number, each with the letter of its team, and the hares at the right.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a card: ``card`` (such as ``R7`` or ``H25``), ``value``, ``low``, ``high``; ``attrs["games"]``.
    ax : matplotlib.axes.Axes
        Where it is drawn; better 10 inches wide, or more.
    outcome : str, optional
        What the value is a difference in; by default ``frame.attrs["outcome"]``.

    Raises
    ------
    UsageError
        If there is no such card.
    """
    _check(frame, "card_values", ("card", "value"))
    ax.axhline(0, color="0.5", zorder=0)
    places, errors = np.array([_place_of_card(card) for card in frame["card"]]), _errors(frame, "value")
    letters = frame["card"].str[0].to_numpy()
    for letter, colour in zip("H" + TEAMS, ("#000000", *_TEAM_COLOURS), strict=True):
        rows = letters == letter
        at, values = places[rows], frame["value"].to_numpy()[rows]
        name = "hare" if letter == "H" else TEAM_NAMES[TEAMS.index(letter)]
        style: dict[str, Any] = {"fmt": "o", "color": colour, "mfc": "white", "ms": 9, "ecolor": "0.4"}
        ax.errorbar(at, values, errors[:, rows], label=f"{letter} {name}", **style)
        ax.plot(at, values, linestyle="", marker=rf"$\mathrm{{{letter}}}$", color="black", ms=5, mew=0.2, zorder=3)
    ax.set_xticks([*range(1, 8), *_PLACES_OF_HARES], [*map(str, range(1, 8)), *map(str, HARE_VALUES)])
    ax.legend(frameon=False, loc="upper left", bbox_to_anchor=(1, 1))
    ax.set_xlabel("number of the rider (1-7), or value of the hare (25-50)")
    _name_difference(ax.yaxis, _outcome_of(frame, outcome), "difference in")
    return _finish(frame, ax)


def calibration(frame: "pd.DataFrame", ax: "Axes", outcome: str | None = None) -> "Axes":
    """Draw the mean that was seen over the one that was predicted; on the diagonal they are the same.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a bin of predictions: ``predicted``, ``mean``, ``low``, ``high``, ``rows``; ``attrs["r2"]``, the share
        of the variance that is predicted, and ``attrs["games"]``.
    ax : matplotlib.axes.Axes
        Where it is drawn.
    outcome : str, optional
        What is predicted; by default ``frame.attrs["outcome"]``.

    Raises
    ------
    UsageError
        If ``attrs["r2"]`` is missing.
    """
    _check(frame, "calibration", ("predicted", "mean", "rows"))
    if "r2" not in frame.attrs:
        raise UsageError("calibration: frame.attrs['r2'] is missing: the share of the variance that is predicted")
    ax.axline((frame["predicted"].mean(),) * 2, slope=1, color="0.5", linestyle="--", zorder=0)
    _draw_points(frame, ax, frame["predicted"].to_numpy(np.float64), "mean")
    ax.text(0.03, 0.97, f"R² = {frame.attrs['r2']:.3f}", transform=ax.transAxes, va="top")
    name = _outcome_of(frame, outcome)
    for axis, word in ((ax.xaxis, "predicted"), (ax.yaxis, "seen")):
        _name_outcome(axis, name, word)
    return _finish(frame, ax)


def shares(frame: "pd.DataFrame", ax: "Axes") -> "Axes":
    """Draw the parts of a variance as a bar in steps: each part has a line, and begins where the one above ends.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a part: ``part``, ``share``, ``low``, ``high`` (of 1); ``attrs["games"]``.
    ax : matplotlib.axes.Axes
        Where it is drawn.
    """
    _check(frame, "shares", ("part", "share"))
    errors, lengths = _errors(frame, "share"), frame["share"].to_numpy(np.float64)
    starts = np.cumsum(lengths) - lengths
    for line, look in enumerate(_looks(len(frame), "parts")):
        style: dict[str, Any] = {"color": look.colour, "hatch": look.hatch, "edgecolor": "black", "linewidth": 0.6}
        ax.barh(line, lengths[line], left=starts[line], xerr=errors[:, [line]], capsize=3, ecolor="black", **style)
    columns = (frame[name] for name in ("part", "share", "low", "high"))
    texts = [
        f"{_label(part)}\n{100 * share:.1f} % ({100 * low:.1f} to {100 * high:.1f})"
        for part, share, low, high in zip(*columns, strict=True)
    ]
    _set_lines(ax, texts)
    _in_percent(ax.xaxis)
    ax.set_xlabel("share of the variance (%)")
    return _finish(frame, ax)


def histogram(frame: "pd.DataFrame", ax: "Axes", x: str, colour: str | None = None, label: str | None = None) -> "Axes":
    """Draw how often each value occurs.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a value: the value, ``share`` (of 1), and, where intervals are known, ``low`` and ``high``;
        ``attrs["games"]``.
    ax : matplotlib.axes.Axes
        Where it is drawn.
    x : str
        The column of the values.
    colour : str, optional
        A second column: the bars of its values differ in colour and hatch and stand side by side.
    label : str, optional
        Name of the axis, with its unit; by default that of the column.
    """
    _check(frame, "histogram", (x, "share"), colour, has_interval="low" in frame.columns)
    places, lengths = _places_along(frame[x], ax.xaxis), frame["share"].to_numpy(np.float64)
    errors = _errors(frame, "share") if "low" in frame.columns else None
    groups = _groups(frame, colour)
    shifts, width = _side_by_side(places, len(groups))
    for (name, rows), look, shift in zip(groups, _looks(len(groups), colour), shifts, strict=True):
        style: dict[str, Any] = {
            "color": look.colour,
            "hatch": look.hatch,
            "edgecolor": "black",
            "linewidth": 0.6,
            "label": name,
        }
        whiskers = None if errors is None else errors[:, rows]
        ax.bar(places[rows] + shift, lengths[rows], width, yerr=whiskers, capsize=2, **style)
    _add_legend(ax, colour)
    ax.set_xlabel(_words(x) if label is None else label)
    _in_percent(ax.yaxis)
    ax.set_ylabel("share (%)")
    return _finish(frame, ax)


def games_needed(frame: "pd.DataFrame", ax: "Axes") -> "Axes":
    """Draw how many games it takes to see a difference in win share, with single and with duplicate deals.

    Parameters
    ----------
    frame : pandas.DataFrame
        One row a difference: ``difference`` (points of percent), ``single`` and ``duplicate`` (games, above 0);
        ``attrs["games"]``, from how many games this is estimated.
    ax : matplotlib.axes.Axes
        Where it is drawn.
    """
    _check(frame, "games_needed", ("difference", "single", "duplicate"), has_interval=False)
    ordered = frame.sort_values("difference")
    for name, line, look in zip(("single", "duplicate"), ("--", "-"), _LOOKS[:2], strict=True):
        style: dict[str, Any] = {"linestyle": line, "color": look.colour, "marker": look.marker}
        ax.plot(ordered["difference"], ordered[name], label=f"{name} deals", **style)
    ax.set(xscale="log", yscale="log", xlabel="difference in win share (points of percent)", ylabel="games needed")
    _places_along(frame["difference"], ax.xaxis)
    ax.xaxis.set_ticks([], minor=True)
    ax.legend(frameon=False)
    return _finish(frame, ax)


# What is asked of a frame.


def _check(
    frame: "pd.DataFrame", figure: str, columns: Sequence[str], colour: str | None = None, has_interval: bool = True
) -> None:
    needed = [*columns, *(("low", "high") if has_interval else ()), *(() if colour is None else (colour,))]
    for column in needed:
        if column not in frame.columns:
            raise UsageError(f"column {column!r} is missing: {figure} needs {', '.join(needed)}")
    if len(frame) == 0:
        raise UsageError(f"{figure}: the frame has no rows")


def _outcome_of(frame: "pd.DataFrame", outcome: str | None) -> str:
    name = frame.attrs.get("outcome") if outcome is None else outcome
    if not isinstance(name, str):
        raise UsageError(f"outcome {name!r}: allowed is a text, such as {', '.join(_OUTCOMES)}")
    return name


def _outcome_words(outcome: str) -> str:
    """Return what an axis calls an outcome: the name of its column, if it is none of those with words of their own."""
    return _OUTCOMES.get(outcome, outcome.replace("_", " "))


def _labelled(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame of differences with a label: its own, or what is compared."""
    for first, words, second in (("first", "\N{MINUS SIGN}", "second"), ("card", "instead of", "instead")):
        if "label" not in frame.columns and {first, second} <= {*frame.columns}:
            return frame.assign(label=frame[first] + f" {words} " + frame[second])
    if "label" not in frame.columns and frame.attrs.get("across") in frame.columns:
        across, baseline = frame.attrs["across"], frame.attrs["baseline"]
        return frame.assign(label=frame[across].astype(str) + f" \N{MINUS SIGN} {baseline}")
    return frame


def _errors(frame: "pd.DataFrame", mean: str) -> NDArray[np.float64]:
    """Return how far the interval of each row reaches below and above its mean, shape (2, rows)."""
    means, low, high = (frame[name].to_numpy(np.float64) for name in (mean, "low", "high"))
    errors = np.stack([means - low, high - means])
    outside = (errors < -1e-9).any(axis=0)  # else it is rounding
    if outside.any():
        row = int(np.argmax(outside))
        raise UsageError(f"row {row}: {mean} {means[row]:g} is not within its interval, {low[row]:g} to {high[row]:g}")
    return np.asarray(np.maximum(errors, 0))


def _groups(frame: "pd.DataFrame", colour: str | None) -> list[tuple[str, NDArray[np.bool_]]]:
    """Return the label of each group of rows, and which rows are of it; without ``colour`` they are one group."""
    if colour is None:
        return [("", np.ones(len(frame), np.bool_))]
    return [(_label(value), (frame[colour] == value).to_numpy()) for value in _values_of(frame[colour])]


def _values_of(column: "pd.Series[Any]") -> list[Any]:
    """Return the different values of a column: numbers ascending, all others in their order."""
    if _is_number(column):
        return sorted(column.unique())
    if column.dtype == "category":
        return list(column.cat.remove_unused_categories().cat.categories)
    return list(column.unique())


def _is_number(column: "pd.Series[Any]") -> bool:
    return column.dtype.kind in "iuf"


def _looks(number: int, kind: str | None) -> Sequence[_Look]:
    if number > len(_LOOKS):
        raise UsageError(f"{kind}: {number} of them: at most {len(_LOOKS)} can be told apart")
    return _LOOKS[:number]


# Where things stand.


def _places_along(column: "pd.Series[Any]", axis: "Axis") -> NDArray[np.float64]:
    """Name the values of a column on an axis, and return where each row stands: numbers where they are."""
    values = _values_of(column)
    if _is_number(column):
        if len(values) <= _MOST_TICKS:
            axis.set_ticks(values, [f"{value:g}" for value in values])
        return np.asarray(column, np.float64)
    texts = [_label(value) for value in values]
    is_long = sum(map(len, texts)) > 40
    slant: dict[str, Any] = {"rotation": 30, "ha": "right"} if is_long else {}
    axis.set_ticks(range(len(values)), texts, **slant)
    return np.array([values.index(value) for value in column], np.float64)


def _place_of_card(card: str) -> float:
    """Return where a card stands: the teams of a number side by side."""
    try:
        parse_card(card)
    except ValueError as error:
        raise UsageError(str(error)) from None
    if card[0] == "H":
        return _PLACES_OF_HARES[HARE_VALUES.index(int(card[1:]))]
    return int(card[1]) + 0.13 * (TEAMS.index(card[0]) - 3)


def _side_by_side(places: NDArray[np.float64], groups: int) -> tuple[NDArray[np.float64], float]:
    """Return how far each group is shifted from where its rows stand, and how wide each may be."""
    different = np.unique(places)
    gap = float(np.diff(different).min()) if len(different) > 1 else 1.0
    width = 0.7 * gap / groups
    return np.array([width * (group - (groups - 1) / 2) for group in range(groups)]), width


def _draw_points(
    frame: "pd.DataFrame",
    ax: "Axes",
    places: NDArray[np.float64],
    mean: str,
    colour: str | None = None,
    is_upright: bool = True,
) -> None:
    """Draw a dot and an interval for each row; those of different colours side by side."""
    means, errors, groups = frame[mean].to_numpy(np.float64), _errors(frame, mean), _groups(frame, colour)
    shifts, _ = _side_by_side(places, len(groups))
    for (name, rows), look, shift in zip(groups, _looks(len(groups), colour), shifts, strict=True):
        at, values = places[rows] + shift, means[rows]
        if len(np.unique(at)) < len(at):
            raise UsageError("two rows stand at the same place: name the column that tells them apart as colour")
        style: dict[str, Any] = {"fmt": look.marker, "color": look.colour, "ms": 5, "capsize": 2, "label": name}
        if is_upright:
            ax.errorbar(at, values, yerr=errors[:, rows], **style)
        else:
            ax.errorbar(values, at, xerr=errors[:, rows], **style)
    _add_legend(ax, colour)


def _draw_lines(frame: "pd.DataFrame", ax: "Axes", label: str, mean: str, colour: str | None = None) -> None:
    """Draw a line of text with a dot and an interval for each row, those of the greatest mean on top."""
    order = list(frame.groupby(label, observed=True)[mean].mean().sort_values(ascending=False, kind="stable").index)
    places = np.array([order.index(text) for text in frame[label]], np.float64)
    _draw_points(frame, ax, places, mean, colour, is_upright=False)
    _set_lines(ax, [_label(text) for text in order])


def _set_lines(ax: "Axes", texts: Sequence[str]) -> None:
    ax.set_yticks(range(len(texts)), texts)
    ax.set_ylim(len(texts) - 0.4, -0.6)


# What stands beside them.


def _label(value: object) -> str:
    """Return a value as text that matplotlib does not read as mathematics, in lines that leave room for the figure."""
    text = str(value)
    text = text if len(text) <= _LONGEST_LABEL else f"{text[: _LONGEST_LABEL - 3]}..."
    return fill(text, _LONGEST_LABEL // 2).replace("$", r"\$")


def _words(column: str) -> str:
    return _label(column.replace("_", " "))


def _in_percent(axis: "Axis") -> None:
    axis.set_major_formatter(lambda share, _: f"{100 * share:.6g}")


def _name_outcome(axis: "Axis", outcome: str, word: str = "") -> None:
    """Name an axis after an outcome."""
    unit = ""
    if outcome == "won":
        unit = " (%)"
        _in_percent(axis)
    axis.set_label_text(f"{word} {_outcome_words(outcome)}{unit}".strip())


def _name_difference(axis: "Axis", outcome: str, words: str) -> None:
    """Name an axis after a difference in an outcome."""
    unit = ""
    if outcome == "won":
        unit = "\n(points of percent)"
        _in_percent(axis)
    axis.set_label_text(f"{words} {_outcome_words(outcome)}{unit}")


def _add_legend(ax: "Axes", colour: str | None) -> None:
    """Add a legend beside the axes, where it hides nothing."""
    if colour is not None:
        ax.legend(title=_words(colour), frameon=False, loc="upper left", bbox_to_anchor=(1, 1))


def _finish(frame: "pd.DataFrame", ax: "Axes", each: str = "") -> "Axes":
    """Say how many games the figure rests on, and leave out what tells nothing."""
    ax.set_title(_size_of(frame, each), loc="right", fontsize="small", color="0.3")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _size_of(frame: "pd.DataFrame", each: str) -> str:
    """Return the number of games and deals in words: of all where they are told, or else of each row."""
    totals = {unit: frame.attrs[unit] for unit in ("games", "deals") if unit in frame.attrs}
    if totals:
        return ", ".join(_counted(number, number, unit) for unit, number in totals.items())
    columns = {"games": "games", "deals": "deals", "groups": "deals"}
    counts = {unit: frame[column] for column, unit in columns.items() if column in frame.columns}
    if not counts:
        raise UsageError("how many games is not told: add a column games or deals, or frame.attrs['games']")
    words = ", ".join(_counted(count.min(), count.max(), unit) for unit, count in counts.items())
    return f"{words} {each}".strip()


def _counted(least: int, most: int, unit: str) -> str:
    number = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return f"{number} {unit.removesuffix('s') if most == 1 else unit}"
