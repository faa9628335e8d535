"""Figures: what is drawn is what the frame says, with units, intervals and the number of games, also in grey."""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.text import Annotation
from numpy.typing import NDArray

from velonimo_sim.analysis import figures, seat_effects
from velonimo_sim.errors import UsageError
from velonimo_sim.velonimo.cards import DECK, card_texts

Drawing = Callable[[pd.DataFrame, Axes], Axes]


def new_axes() -> Axes:
    return Figure(figsize=(7, 4), layout="constrained").add_subplot()


def with_intervals(frame: pd.DataFrame, mean: str = "mean") -> pd.DataFrame:
    """Add intervals that reach further up than down, each its own way."""
    reach = 0.01 * np.arange(1, len(frame) + 1)
    return frame.assign(low=frame[mean] - reach, high=frame[mean] + 2 * reach)


def told(frame: pd.DataFrame, **attrs: object) -> pd.DataFrame:
    """Return a frame of which something is told in its attributes."""
    frame = frame.copy()
    frame.attrs |= attrs
    return frame


BOTS = with_intervals(
    pd.DataFrame({"bot": ["greedy", "champion", "random"], "win_share": [0.2, 0.5, 0.05], "games": [400, 400, 800]}),
    "win_share",
)
SEATS = told(
    with_intervals(pd.DataFrame({"seat": [0, 1, 2], "effect": [0.02, 0.0, -0.02], "groups": 1_200}), "effect"),
    outcome="won",
)
GROUPS = told(
    with_intervals(
        pd.DataFrame(
            {
                "hares": [0, 1, 3, 0, 1, 3],
                "bot": ["greedy"] * 3 + ["a $b$ c"] * 3,
                "mean": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
                "games": [100, 200, 3_000, 100, 200, 3_000],
                "deals": 50,
            }
        )
    ),
    outcome="won",
)
DIFFERENCES = told(
    with_intervals(
        pd.DataFrame(
            {
                "label": ["no plan", "no endings", "no plan", "no endings"],
                "players": [2, 2, 4, 4],
                "mean": [-0.1, 0.1, -0.2, 0.3],
                "games": 2_000,
            }
        )
    ),
    outcome="won",
)
CARDS = told(
    with_intervals(pd.DataFrame({"card": card_texts(DECK), "value": np.linspace(-1, 1, 55)}), "value"),
    outcome="beaten",
    games=12_000,
    deals=3_000,
)
CALIBRATION = told(
    with_intervals(pd.DataFrame({"predicted": [0.5, 1.0, 2.0], "mean": [0.6, 0.9, 2.1], "rows": 100})),
    outcome="beaten",
    games=500,
    r2=0.1234,
)
SHARES = told(
    with_intervals(pd.DataFrame({"part": ["bots", "deal", "chance"], "share": [0.5, 0.3, 0.2]}), "share"), games=80
)
SPENT = told(
    pd.DataFrame({"value": [11, 22, 11, 22], "bot": ["a", "a", "b", "b"], "share": [0.25, 0.75, 0.5, 0.5]}), games=80
)
NEEDED = told(
    pd.DataFrame({"difference": [1.0, 0.5], "single": [4_000, 16_000], "duplicate": [1_000, 4_000]}), games=80
)

DRAWN: dict[str, tuple[Drawing, pd.DataFrame]] = {
    "win_shares": (partial(figures.win_shares, players=4), BOTS),
    "seat_effects": (figures.seat_effects, SEATS),
    "by_group": (partial(figures.by_group, x="hares", colour="bot"), GROUPS),
    "differences": (partial(figures.differences, colour="players"), DIFFERENCES),
    "card_values": (figures.card_values, CARDS),
    "calibration": (figures.calibration, CALIBRATION),
    "shares": (figures.shares, SHARES),
    "histogram": (partial(figures.histogram, x="value", colour="bot", label="value of the play"), SPENT),
    "games_needed": (figures.games_needed, NEEDED),
}


def drawn(name: str) -> Axes:
    draw, frame = DRAWN[name]
    return draw(frame, new_axes())


def errorbars(ax: Axes) -> list[ErrorbarContainer]:
    return [container for container in ax.containers if isinstance(container, ErrorbarContainer)]


def points(container: ErrorbarContainer) -> NDArray[np.float64]:
    """Return the dots of a group of points, shape (points, 2)."""
    return np.asarray(container.lines[0].get_xydata())


def ends(container: ErrorbarContainer, axis: int) -> NDArray[np.float64]:
    """Return low and high of each interval, along an axis, shape (points, 2)."""
    return np.array([[end[axis] for end in segment] for segment in container.lines[2][0].get_segments()])


def tick_texts(ax: Axes, axis: str) -> list[str]:
    return [label.get_text() for label in (ax.get_xticklabels() if axis == "x" else ax.get_yticklabels())]


def size_of(ax: Axes) -> str:
    return ax.get_title(loc="right")


# Of all figures.


def test_every_figure_is_tested_here() -> None:
    public = {name for name, value in vars(figures).items() if callable(value) and not name.startswith("_")}
    here = {name for name in public if getattr(figures, name).__module__ == figures.__name__}
    assert here == set(DRAWN)


UNITS = {
    "win_shares": "win share (%)",
    "seat_effects": "seat (0 begins) | effect on the win share\n(points of percent)",
    "by_group": "hares | win share (%)",
    "differences": "difference in win share\n(points of percent)",
    "card_values": "number of the rider (1-7), or value of the hare (25-50) | difference in opponents beaten in a col",
    "calibration": "predicted opponents beaten in a col | seen opponents beaten in a col",
    "shares": "share of the variance (%)",
    "histogram": "value of the play | share (%)",
    "games_needed": "difference in win share (points of percent) | games needed",
}


@pytest.mark.parametrize("name", DRAWN)
def test_axes_say_what_they_measure_in_which_unit(name: str) -> None:
    ax = drawn(name)
    assert " | ".join(filter(None, (ax.get_xlabel(), ax.get_ylabel()))) == UNITS[name]


SIZES = {
    "win_shares": "400 to 800 games a bot",
    "seat_effects": "1,200 deals",
    "by_group": "100 to 3,000 games, 50 deals a point",
    "differences": "2,000 games a point",
    "card_values": "12,000 games, 3,000 deals",
    "calibration": "500 games",
    "shares": "80 games",
    "histogram": "80 games",
    "games_needed": "80 games",
}


@pytest.mark.parametrize("name", DRAWN)
def test_no_figure_is_without_its_number_of_games(name: str) -> None:
    assert size_of(drawn(name)) == SIZES[name]
    draw, frame = DRAWN[name]
    untold = frame.drop(columns=["games", "deals", "groups"], errors="ignore")
    untold.attrs = {key: value for key, value in frame.attrs.items() if key not in ("games", "deals")}
    with pytest.raises(UsageError, match=r"^how many games is not told"):
        draw(untold, new_axes())


def test_the_number_of_all_games_goes_before_that_of_each_row() -> None:
    ax = figures.win_shares(told(BOTS, games=1_200, deals=100), new_axes())
    assert size_of(ax) == "1,200 games, 100 deals"


NEEDS = {
    "win_shares": ["bot", "win_share", "low", "high"],
    "seat_effects": ["seat", "effect", "low", "high"],
    "by_group": ["hares", "mean", "low", "high", "bot"],
    "differences": ["label", "mean", "low", "high", "players"],
    "card_values": ["card", "value", "low", "high"],
    "calibration": ["predicted", "mean", "rows", "low", "high"],
    "shares": ["part", "share", "low", "high"],
    "histogram": ["value", "share", "bot"],
    "games_needed": ["difference", "single", "duplicate"],
}


@pytest.mark.parametrize(("name", "column"), [(name, column) for name in DRAWN for column in NEEDS[name]])
def test_a_missing_column_is_named_with_those_that_are_needed(name: str, column: str) -> None:
    draw, frame = DRAWN[name]
    message = f"^column '{column}' is missing: {name} needs {', '.join(NEEDS[name])}$"
    with pytest.raises(UsageError, match=message):
        draw(frame.drop(columns=column), new_axes())


@pytest.mark.parametrize("name", DRAWN)
def test_a_frame_without_rows_is_told(name: str) -> None:
    draw, frame = DRAWN[name]
    with pytest.raises(UsageError, match=f"^{name}: the frame has no rows$"):
        draw(frame[:0], new_axes())


@pytest.mark.parametrize("name", [name for name in DRAWN if "low" in DRAWN[name][1].columns])
def test_a_mean_outside_its_interval_is_told(name: str) -> None:
    draw, frame = DRAWN[name]
    with pytest.raises(UsageError, match=r"^row 1: \w+ \S+ is not within its interval, 2 to \S+$"):
        draw(frame.assign(low=frame["low"].where(np.arange(len(frame)) != 1, 2.0)), new_axes())


@pytest.mark.parametrize("name", [name for name in DRAWN if "outcome" in DRAWN[name][1].attrs])
def test_what_is_measured_has_to_be_known(name: str) -> None:
    draw, frame = DRAWN[name]
    with pytest.raises(UsageError, match=r"^outcome None: allowed is a text, such as won, place, total, points"):
        draw(told(frame, outcome=None), new_axes())


LABELS = {
    "won": "win share (%)",
    "place": "place (1 = first)",
    "total": "points in a game",
    "points": "points in a col",
    "beaten": "opponents beaten in a col",
}


@pytest.mark.parametrize("outcome", LABELS)
def test_the_unit_is_that_of_the_outcome(outcome: str) -> None:
    ax = figures.by_group(told(GROUPS, outcome=outcome), new_axes(), x="hares", colour="bot")
    assert ax.get_ylabel() == LABELS[outcome]
    argument = figures.by_group(GROUPS, new_axes(), x="hares", colour="bot", outcome=outcome)
    assert argument.get_ylabel() == LABELS[outcome]
    shown = ax.yaxis.get_major_formatter()(0.25, 0)
    assert (shown == "25") == (outcome == "won"), "shares are shown in percent, all else as it is"


@pytest.mark.parametrize("name", DRAWN)
def test_nothing_is_cut_off_and_no_label_hides_another(name: str) -> None:
    ax = drawn(name)
    figure = ax.get_figure()
    assert isinstance(figure, Figure)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    whole, tight = figure.bbox, ax.get_tightbbox(renderer)
    assert tight is not None
    assert tight.x0 >= whole.x0 - 1
    assert tight.x1 <= whole.x1 + 1
    assert tight.y0 >= whole.y0 - 1
    assert tight.y1 <= whole.y1 + 1
    for labels in (ax.get_xticklabels(), ax.get_yticklabels()):
        boxes = [label.get_window_extent(renderer) for label in labels if label.get_text()]
        assert not any(one.overlaps(other) for one, other in combinations(boxes, 2))


@pytest.mark.parametrize("name", DRAWN)
def test_nothing_is_left_in_the_global_state_of_matplotlib(name: str) -> None:
    from matplotlib import rcParams

    before = dict(rcParams)
    drawn(name)
    assert dict(rcParams) == before


def grey(colour: Any) -> float:
    """Return the luma of a colour (Rec. 601), as a grey print has it."""
    return float(np.dot(to_rgb(colour), (0.299, 0.587, 0.114)))


def test_looks_differ_in_marker_hatch_and_colour() -> None:
    for part in zip(*figures._LOOKS, strict=True):
        assert len(set(part)) == len(figures._LOOKS)
    neighbours = [grey(look.colour) for look in figures._LOOKS[:2]]
    assert abs(neighbours[0] - neighbours[1]) > 0.2


def test_points_of_other_colours_have_other_markers() -> None:
    lines = [container.lines[0] for container in errorbars(drawn("by_group"))]
    assert len({line.get_color() for line in lines}) == len({line.get_marker() for line in lines}) == 2


def test_bars_of_other_colours_have_other_hatches() -> None:
    for name, number in (("shares", 3), ("histogram", 2)):
        patches = drawn(name).patches
        assert len({(patch.get_facecolor(), patch.get_hatch()) for patch in patches}) == number
        assert len({patch.get_hatch() for patch in patches}) == number


def test_more_groups_than_can_be_told_apart_are_refused() -> None:
    frame = pd.concat([GROUPS.assign(bot=str(number)) for number in range(9)], ignore_index=True)
    with pytest.raises(UsageError, match=r"^bot: 9 of them: at most 8 can be told apart$"):
        figures.by_group(frame.drop_duplicates(["bot", "hares"]), new_axes(), x="hares", colour="bot", outcome="won")


# One by one.


def test_win_shares_are_sorted_and_have_their_intervals() -> None:
    ax = drawn("win_shares")
    assert tick_texts(ax, "y") == ["champion", "greedy", "random"]
    assert ax.get_ylim()[0] > ax.get_ylim()[1], "the first is on top"
    (container,) = errorbars(ax)
    by_line = sorted(
        zip(points(container).tolist(), ends(container, 0).tolist(), strict=True), key=lambda one: one[0][1]
    )
    expected = BOTS.sort_values("win_share", ascending=False)
    np.testing.assert_allclose([point for point, _ in by_line], np.c_[expected["win_share"], range(3)])
    np.testing.assert_allclose([interval for _, interval in by_line], expected[["low", "high"]])


def test_the_line_where_all_win_equally_often() -> None:
    ax = drawn("win_shares")
    assert list(ax.lines[0].get_xdata()) == [0.25, 0.25]
    (note,) = ax.texts
    assert isinstance(note, Annotation)
    assert (note.get_text(), note.xy) == ("1/4", (0.25, 0))
    assert figures.win_shares(BOTS, new_axes()).texts[:] == []


def test_seat_effects_stand_over_their_seats() -> None:
    (container,) = errorbars(drawn("seat_effects"))
    np.testing.assert_allclose(points(container), SEATS[["seat", "effect"]])
    np.testing.assert_allclose(ends(container, 1), SEATS[["low", "high"]])


def test_the_effects_of_seats_say_what_they_are_on() -> None:
    rows = pd.DataFrame(
        {
            "game_id": [0, 0, 1, 1],
            "deal_id": 0,
            "seat": [0, 1, 0, 1],
            "bot": ["a", "b", "b", "a"],
            "won": [True, False, False, True],
            "place": [1, 2, 2, 1],
            "total": [10, 5, 5, 10],
        }
    )
    ax = figures.seat_effects(seat_effects(rows, "total"), new_axes())
    assert (ax.get_ylabel(), size_of(ax)) == ("effect on the points in a game", "1 deal")


def shifts(containers: Sequence[ErrorbarContainer], axis: int, places: Sequence[float]) -> list[float]:
    """Return how far each group stands beside its places, the same for all its points."""
    found = [points(container)[:, axis] - places for container in containers]
    assert all(np.ptp(shift) < 1e-9 for shift in found)
    return [float(shift[0]) for shift in found]


def test_groups_of_a_number_stand_where_it_is_those_of_two_colours_side_by_side() -> None:
    containers = errorbars(drawn("by_group"))
    assert [container.get_label() for container in containers] == ["greedy", r"a \$b\$ c"]
    for container, rows in zip(containers, (GROUPS[:3], GROUPS[3:]), strict=True):
        np.testing.assert_allclose(points(container)[:, 1], rows["mean"])
        np.testing.assert_allclose(ends(container, 1), rows[["low", "high"]])
    left, right = shifts(containers, 0, (0, 1, 3))
    assert -0.5 < left < 0 < right < 0.5
    assert left == pytest.approx(-right)


@pytest.mark.parametrize("kind", ["texts", "categories", "flags"])
def test_groups_of_no_number_stand_in_their_order(kind: str) -> None:
    names = {"texts": ["b", "a"], "categories": pd.Categorical(["b", "a"], ["z", "b", "a"]), "flags": [True, False]}
    frame = told(GROUPS[:2].drop(columns="bot").assign(kind=names[kind]), outcome="place")
    ax = figures.by_group(frame, new_axes(), x="kind")
    assert tick_texts(ax, "x") == (["True", "False"] if kind == "flags" else ["b", "a"])
    np.testing.assert_allclose(points(errorbars(ax)[0]), np.c_[[0, 1], frame["mean"]])


def test_a_forgotten_column_is_noticed_where_points_would_hide_each_other() -> None:
    with pytest.raises(UsageError, match=r"^two rows stand at the same place: name the column that tells them apart"):
        figures.by_group(GROUPS, new_axes(), x="hares")


def test_differences_are_sorted_lines_with_one_at_zero() -> None:
    ax = drawn("differences")
    assert tick_texts(ax, "y") == ["no endings", "no plan"]
    assert list(ax.lines[0].get_xdata()) == [0, 0]
    containers = errorbars(ax)
    for container, rows in zip(containers, (DIFFERENCES[:2], DIFFERENCES[2:]), strict=True):
        np.testing.assert_allclose(points(container)[:, 0], rows["mean"])
        np.testing.assert_allclose(ends(container, 0), rows[["low", "high"]])
    upper, lower = shifts(containers, 1, (1, 0))
    assert -0.5 < upper < 0 < lower < 0.5


def test_every_card_stands_at_its_number_with_its_letter() -> None:
    ax = drawn("card_values")
    by_value = dict(zip(CARDS["value"].round(6), CARDS["card"], strict=True))
    letters = {line.get_marker().strip("$")[-2]: line for line in ax.lines if line.get_marker().startswith("$")}
    assert sorted(letters) == sorted("HBNAGPRY")
    names = dict(zip(ax.get_xticks(), tick_texts(ax, "x"), strict=True))
    cards = []
    for letter, line in letters.items():
        for x, value in line.get_xydata():
            nearest = min(names, key=lambda place: abs(place - x))
            assert abs(nearest - x) < (1e-9 if letter == "H" else 0.5)
            cards.append(letter + names[nearest])
            assert by_value[round(value, 6)] == cards[-1]
    assert sorted(cards) == sorted(CARDS["card"])
    intervals = np.concatenate([ends(container, 1) for container in errorbars(ax)])
    np.testing.assert_allclose(np.sort(intervals[:, 0]), np.sort(CARDS["low"]))


def test_a_card_that_does_not_exist_is_told() -> None:
    with pytest.raises(UsageError, match=r"^unknown card 'R8': cards are a letter"):
        figures.card_values(CARDS.assign(card=["R8", *CARDS["card"][1:]]), new_axes())


def test_calibration_has_its_diagonal_and_what_is_predicted_of_the_variance() -> None:
    ax = drawn("calibration")
    (container,) = errorbars(ax)
    np.testing.assert_allclose(points(container), CALIBRATION[["predicted", "mean"]])
    np.testing.assert_allclose(ends(container, 1), CALIBRATION[["low", "high"]])
    (diagonal,) = [line for line in ax.lines if hasattr(line, "get_slope")]
    assert diagonal.get_slope() == 1
    assert len(set(diagonal.get_xy1())) == 1
    assert [text.get_text() for text in ax.texts] == ["R² = 0.123"]
    untold = CALIBRATION.copy()
    del untold.attrs["r2"]
    with pytest.raises(UsageError, match=r"^calibration: frame.attrs\['r2'\] is missing"):
        figures.calibration(untold, new_axes())


def test_shares_of_the_variance_follow_each_other() -> None:
    ax = drawn("shares")
    bars = [(patch.get_x(), patch.get_width()) for patch in ax.patches]
    np.testing.assert_allclose(bars, [(0, 0.5), (0.5, 0.3), (0.8, 0.2)])
    assert tick_texts(ax, "y") == [
        "bots\n50.0 % (49.0 to 52.0)",
        "deal\n30.0 % (28.0 to 34.0)",
        "chance\n20.0 % (17.0 to 26.0)",
    ]
    intervals = np.concatenate([ends(container, 0) for container in errorbars(ax)])
    np.testing.assert_allclose(intervals, [(0.49, 0.52), (0.78, 0.84), (0.97, 1.06)])


def test_a_histogram_has_a_bar_for_each_value_and_colour() -> None:
    ax = drawn("histogram")
    assert [patch.get_height() for patch in ax.patches] == SPENT["share"].tolist()
    middles = [patch.get_x() + patch.get_width() / 2 for patch in ax.patches]
    np.testing.assert_allclose(np.add(middles[:2], middles[2:]) / 2, [11, 22])
    edges = sorted((patch.get_x(), patch.get_x() + patch.get_width()) for patch in ax.patches)
    assert all(left[1] <= right[0] + 1e-9 for left, right in pairwise(edges)), "they do not overlap"
    assert errorbars(ax) == []


def test_a_histogram_draws_the_intervals_that_it_is_given() -> None:
    frame = with_intervals(SPENT[:2], "share")
    (container,) = errorbars(figures.histogram(frame, new_axes(), x="value"))
    np.testing.assert_allclose(ends(container, 1), frame[["low", "high"]])


def test_the_games_needed_are_two_lines_on_logarithmic_axes() -> None:
    ax = drawn("games_needed")
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
    single, duplicate = ax.lines
    assert [line.get_label() for line in ax.lines] == ["single deals", "duplicate deals"]
    np.testing.assert_allclose(single.get_xydata(), [[0.5, 16_000], [1, 4_000]])
    np.testing.assert_allclose(duplicate.get_xydata(), [[0.5, 4_000], [1, 1_000]])
    assert len({line.get_linestyle() for line in ax.lines}) == len({line.get_marker() for line in ax.lines}) == 2


def test_long_names_are_cut_and_dollars_are_no_mathematics() -> None:
    ax = figures.win_shares(BOTS.assign(bot=["$x_1$", "y" * 200, r"$\nothing$"]), new_axes())
    FigureCanvasAgg(ax.get_figure()).draw()
    assert tick_texts(ax, "y") == ["y" * 30 + "\n" + "y" * 27 + "...", r"\$x_1\$", r"\$\nothing\$"]


def test_differences_are_labelled_by_what_they_compare() -> None:
    rows = pd.DataFrame({"mean": [0.1], "low": [0.0], "high": [0.2], "games": [10]})
    across = rows.assign(tortoises=2)
    across.attrs = {"across": "tortoises", "baseline": 0}
    frames = {
        "a \N{MINUS SIGN} b": rows.assign(first="a", second="b"),
        "B2 instead of B3": rows.assign(card="B2", instead="B3"),
        "2 \N{MINUS SIGN} 0": across,
        "my own": rows.assign(label="my own", first="a", second="b"),
    }
    for label, frame in frames.items():
        ax = figures.differences(frame, new_axes(), outcome="turns")
        assert [text.get_text() for text in ax.get_yticklabels()] == [label]
        assert ax.get_xlabel() == "difference in turns"
