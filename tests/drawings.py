"""What the tests of drawings share: how one is read, and what ought to stand in it."""

from typing import Any
from xml.etree import ElementTree

from velonimo_sim.velonimo.cards import card_texts
from velonimo_sim.velonimo.record import replay
from velonimo_sim.velonimo.record_format import rules_of
from velonimo_sim.velonimo.state import State, clone

Element = ElementTree.Element
Record = dict[str, Any]


def read(html: str) -> Element:
    """Return a fragment as a tree; every tag in it has to be closed."""
    return ElementTree.fromstring(f"<div>{html}</div>")


def having(tree: Element, name: str) -> list[Element]:
    """Return the elements of a class."""
    return [element for element in tree.iter() if name in element.get("class", "").split()]


def text_of(element: Element) -> str:
    """Return the text of an element with single spaces."""
    return " ".join("".join(element.itertext()).split())


def cards_of(element: Element) -> list[str]:
    """Return the names of the cards that are drawn face up in an element."""
    return ["".join(card.itertext()) for card in having(element, "card")]


def backs_of(element: Element) -> int:
    """Return how many cards are drawn face down in an element."""
    return sum(len(backs) for backs in having(element, "backs"))


def seats_of(tree: Element) -> dict[int, Element]:
    """Return the drawing of each seat."""
    return {int(seat.get("data-seat", "")): seat for seat in having(tree, "seat")}


def centre_of(tree: Element) -> Element:
    """Return the drawing of the centre of the table."""
    (centre,) = having(tree, "centre")
    return centre


def moments_of(record: Record) -> list[tuple[Record, State]]:
    """Return the deals and moves of a game, each with the state after it."""
    steps = replay(record, rules_of(record, None))
    return [(part, clone(after)) for _, part, after in steps if part.get("act") != "snapshot" and "refused" not in part]


def hands_of(state: State) -> list[list[str]]:
    """Return the cards of each seat."""
    return [card_texts(hand) for hand in state["hands"][: state["view"]["players"]]]
