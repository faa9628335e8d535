"""Views and recorded games drawn in HTML, for a notebook; the templates are in ``velonimo_sim/templates``.

A card is a rounded shape in the colour of its team with its letter and number, a hare is dark and round. Letters and
numbers say everything that colours do.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from velonimo_sim.record_faults import RecordFaultError, UnfinishedRecordError, while_true
from velonimo_sim.velonimo.describe import tell_view, winner_of
from velonimo_sim.velonimo.frames import Frame, Play, attack_of, frames_of
from velonimo_sim.velonimo.narrate import narrate
from velonimo_sim.velonimo.record_format import rules_of

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_PROMPTS = {
    "lead": "leads an attack",
    "follow": "plays higher, or passes",
    "swap": "names whom to swap with",
    "give": "gives back {swap_count} to seat {swap_victim}",
    "next_leader": "is out, and names who leads",
    "reward": "keeps the reward, or forces it on the other",
}
_CARD = re.compile(r"\b(?:([BNAGPRY])[1-7]|(H)\d\d)\b")


class DrawnView(dict[str, Any]):
    """A view as ``describe_view`` returns it, which prints as a table and draws itself in a notebook."""

    def __repr__(self) -> str:
        return tell_view(self)

    def _repr_html_(self) -> str:
        return str(draw_view(self))


class DrawnRecord(dict[str, Any]):
    """A record of sound form, of a game under way or over, which prints as a story and draws itself in a notebook."""

    def __repr__(self) -> str:
        return "\n".join(while_true(narrate(self, rules_of(self, None))))

    def _repr_html_(self) -> str:
        return str(draw_record(self))


def draw_view(view: Mapping[str, Any]) -> "Markup":
    """Return a view as a fragment of HTML with its own style: the table with the seat of the view in front.

    Parameters
    ----------
    view : mapping
        A view as ``describe_view`` returns it. Of other hands it shows the cards that the seat knows, and backs.
    """
    hands = [view["hand"] if seat == view["seat"] else view["known"][seat] for seat in range(view["players"])]
    pieces = draw_table(view, hands, attack_of(view), in_front=view["seat"])
    return render("table.html", pieces=pieces, players=view["players"])


def draw_record(record: dict[str, Any]) -> "Markup":
    """Return a record of sound form as a fragment of HTML with its own style: where it ends, points per col, moves.

    It goes as far as the facts of the record hold, and says which does not.
    """
    frames: list[Frame] = []
    rules = rules_of(record, None)
    result = f"seat {record['winner']} has won"
    try:
        for frame in frames_of(record, rules):
            frames.append(frame)  # noqa: PERF402 - those before a fault are kept
    except UnfinishedRecordError:
        result = "the game is not over"
    except RecordFaultError as fault:
        result = str(fault)
    table = draw_table(frames[-1].view, frames[-1].hands, frames[-1].attack) if frames else []
    return render(
        "record.html",
        record=record,
        result=result,
        pieces=table,
        scores=draw_scores(frames[-1]) if frames else "",
        frames=frames,
    )


def draw_table(
    view: Mapping[str, Any],
    hands: Sequence[Sequence[str]],
    attack: Sequence[Play],
    in_front: int = 0,
    can_be_closed: bool = False,
) -> list["Markup"]:
    """Return the pieces of HTML that make a table: each seat, clockwise from the one in front, and the centre.

    Parameters
    ----------
    view : mapping
        The public facts, as ``describe_view`` returns them.
    hands : sequence of sequences of str
        By seat the cards to show; the others of a hand are backs.
    attack : sequence of Play
        The plays of the attack, the standing one last.
    in_front : int
        The seat in front.
    can_be_closed : bool
        Whether a hand is drawn a second time with backs alone, for a page that chooses between the two.
    """
    players = view["players"]
    seats = [
        render(
            "seat.html",
            view=view,
            seat=seat,
            place=(seat - in_front) % players,
            size=view["sizes"][seat],
            faces=hands[seat],
            can_be_closed=can_be_closed,
        )
        for seat in ((in_front + place) % players for place in range(players))
    ]
    return [render("centre.html", view=view, attack=attack, prompt=_prompt(view)), *seats]


def _prompt(view: Mapping[str, Any]) -> str:
    """Return who has to decide what, in words."""
    if view["phase"] == "game_over":
        return f"game over: seat {winner_of(view)} has won"
    if view["phase"] == "col_over":
        return "the col is over"
    return f"seat {view['turn']} {_PROMPTS[view['phase']].format_map(view)}"


def draw_scores(frame: Frame) -> "Markup":
    """Return the points by col and seat at one moment, and the totals, as a table of HTML."""
    view = frame.view
    return render("scores.html", col_values=view["rules"]["col_values"], points=frame.points, totals=view["totals"])


def render(template: str, **content: Any) -> "Markup":
    """Return a template of the package, filled in; what is no markup is escaped."""
    from markupsafe import Markup

    return Markup(_templates().get_template(template).render(content))


@cache
def _templates() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("velonimo_sim"), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    templates.filters["with_cards"] = _with_cards
    return templates


def _with_cards(text: object) -> "Markup":
    """Return a text in which the names of cards are small cards."""
    from markupsafe import Markup, escape

    cards = r'<b class="name team-\g<1>\g<2>">\g<0></b>'
    return Markup(_CARD.sub(cards, str(escape(text))))
