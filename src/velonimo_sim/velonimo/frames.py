"""A recorded game as the pictures that it goes through, one after the deal of a col and one after each move."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from velonimo_sim.velonimo.cards import card_texts
from velonimo_sim.velonimo.describe import describe_view
from velonimo_sim.velonimo.moves import Move, parse_move
from velonimo_sim.velonimo.narrate import tell_deal, tell_event, tell_publicly
from velonimo_sim.velonimo.record import replay
from velonimo_sim.velonimo.rules import RuleSet
from velonimo_sim.velonimo.view import MAX_LOGGED


class Play(NamedTuple):
    """A play of an attack, with what it is worth, the Jersey's bonus included."""

    seat: int
    cards: list[str]
    jersey: bool
    value: int

    def __str__(self) -> str:
        jersey = " with the Jersey" if self.jersey else ""
        return f"{' '.join(self.cards)}{jersey} = {self.value} of seat {self.seat}"


@dataclass(frozen=True)
class Frame:
    """What stands on the table at one moment of a recorded game.

    Parameters
    ----------
    event : str
        What has just happened.
    public : str
        The same as everybody saw it: without the cards of a swap (V22) and those drawn from the pile (V28).
    on : Play or None
        The play that was beaten, if a play was just made on one.
    kind : {"deal", "lead", "other"}
        Whether a col begins, or an attack, or neither.
    view : dict
        The table as the seat to act sees it, see ``describe_view``.
    hands : list of list of str
        The cards of each seat.
    attack : list of Play
        The plays of the attack, the standing one last; empty between attacks.
    points : list of list of int
        Points by col and seat, those of the col being played last.
    """

    event: str
    public: str
    on: Play | None
    kind: str
    view: dict[str, Any]
    hands: list[list[str]]
    attack: list[Play]
    points: list[list[int]]


def frames_of(record: dict[str, Any], rules: RuleSet) -> Iterator[Frame]:
    """Yield the frames of a record of sound form; refused attempts change nothing and are left out.

    Raises
    ------
    RecordFaultError
        At the first fact that does not hold; the frames before it are true.
    """
    attack: list[Play] = []
    points: list[list[int]] = []
    for _, part, after in replay(record, rules):
        if "refused" in part or part.get("act") == "snapshot":
            continue
        view = describe_view(after["view"], rules.to_dict())
        is_deal, is_play = "events" in part, part.get("act") == "play"
        if is_play:
            attack = [*attack, Play(part["seat"], part["cards"], part["jersey"], part["value"])]
        elif not view["beat"]:
            attack = []
        on = attack[-2] if is_play and len(attack) > 1 else None
        points = [*(points if is_deal else points[:-1]), view["points"]]
        yield Frame(
            event=tell_deal(part, rules) if is_deal else tell_event(part),
            public=tell_deal(part, rules) if is_deal else tell_publicly(part),
            on=on,
            kind="deal" if is_deal else "lead" if is_play and not on else "other",
            view=view,
            hands=[card_texts(hand) for hand in after["hands"][: view["players"]]],
            attack=attack,
            points=points,
        )


def attack_of(view: Mapping[str, Any]) -> list[Play]:
    """Return the plays of the attack that a view's log tells of, the standing one last.

    An attack begins where a play follows another of the same seat, or the naming of a leader: only who was passed by
    all others plays again without an answer (V12), and only who is out names another (V13). A log that is full may not
    reach the standing play, and tells nothing.
    """
    if not view["beat"] or len(view["log"]) == MAX_LOGGED:
        return []
    bonus = RuleSet.from_dict(view["rules"]).bonus(view["players"])
    attack: list[Play] = []
    for seat, text in reversed(view["log"]):
        if text.startswith("lead") or (attack and seat == attack[0].seat and _is_play(text)):
            break
        if _is_play(text):
            move = Move(int(parse_move(text)), bonus)
            attack.insert(0, Play(seat, move.cards, move.jersey, move.value))
    return attack


def _is_play(text: str) -> bool:
    return text.split()[0] not in {"pass", "swap", "decline", "give", "lead", "keep", "force"}
