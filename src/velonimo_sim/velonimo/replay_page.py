"""A recorded game as one page of HTML that is stepped through in a browser; it needs nothing besides itself."""

import json
from typing import TYPE_CHECKING, Any

from velonimo_sim.velonimo.draw import draw_scores, draw_table, render
from velonimo_sim.velonimo.frames import Frame, frames_of
from velonimo_sim.velonimo.rules import RuleSet

if TYPE_CHECKING:
    from markupsafe import Markup


def replay_page(record: dict[str, Any], rules: RuleSet) -> str:
    """Return a record of sound form as a page of HTML with its style, its script and all its frames inside.

    Parameters
    ----------
    record : dict
        A game whose form ``record_format.check_format`` has found sound.
    rules : RuleSet
        The rules to play it under.

    Raises
    ------
    RecordFaultError
        At the first fact that does not hold.
    """
    frames = list(frames_of(record, rules))
    return str(render("replay.html", record=record, frames=frames, game=_in_script(_content_of(frames))))


def _in_script(content: dict[str, Any]) -> "Markup":
    """Return content as JSON that no text in it can end the script that it stands in."""
    from markupsafe import Markup

    return Markup(json.dumps(content, separators=(",", ":")).replace("<", r"\u003c"))


def _content_of(frames: list[Frame]) -> dict[str, Any]:
    """Return what the page's script shows: pieces of HTML, each once, and for each frame the numbers of its pieces."""
    numbers: dict[str, int] = {}

    def number(piece: str) -> int:
        return numbers.setdefault(piece, len(numbers))

    shown = []
    for frame in frames:
        on = f", on {frame.on}" if frame.on else ""
        table = draw_table(frame.view, frame.hands, frame.attack, can_be_closed=True)
        shown.append(
            {
                "col": frame.view["col"],
                "event": frame.event + on,
                "public": frame.public + on,
                "table": [number(piece) for piece in table],
                "scores": number(draw_scores(frame)),
            }
        )
    return {"pieces": list(numbers), "frames": shown}
