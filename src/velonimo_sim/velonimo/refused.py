"""Why a recorded attempt is refused: every reason that holds, under the names that records use.

``legal.refusal`` tells one reason, and only of what a move can say. An attempt in a record may also name a card twice
or a seat that does not exist, and a referee may name any of several reasons; so they are all collected here.
"""

from typing import Any

from velonimo_sim.velonimo.cards import HARES, card_texts, parse_cards
from velonimo_sim.velonimo.legal import may_add_jersey
from velonimo_sim.velonimo.moves import is_combination, is_single, value_of
from velonimo_sim.velonimo.rules import SWAP_OPTIONAL
from velonimo_sim.velonimo.state import State
from velonimo_sim.velonimo.view import Phase, View

_PHASES = {
    "play": (Phase.LEAD, Phase.FOLLOW),
    "pass": (Phase.LEAD, Phase.FOLLOW),
    "steal": (Phase.SWAP,),
    "decline": (Phase.SWAP,),
    "give": (Phase.GIVE,),
    "choose_starter": (Phase.NEXT_LEADER,),
    "reward": (Phase.REWARD,),
}
_HARE_NAMES = frozenset(card_texts(HARES))


def reasons_to_refuse(state: State, attempt: dict[str, Any]) -> set[str]:
    """Return the names of all reasons for which a recorded attempt is refused; empty if it is legal.

    Parameters
    ----------
    state : numpy.void
        The state in which it was attempted.
    attempt : dict
        A refused event of a record.
    """
    view, act = state["view"], attempt["act"]
    if attempt["seat"] != view["turn"]:
        return {"out_of_turn"}
    if Phase(int(view["phase"])) not in _PHASES[act]:
        return {"wrong_phase"}
    if act == "play":
        return _reasons_against_play(view, attempt)
    if act == "pass":
        return {"pass_at_lead"} if view["phase"] == Phase.LEAD else set()
    if act == "steal":
        return _reasons_against_seat(view, attempt["from"], "steal_self", "steal_no_cards")
    if act == "decline":
        return set() if view["rules"]["tortoise_swap"] == SWAP_OPTIONAL else {"steal_mandatory"}
    if act == "give":
        return _reasons_against_gift(view, attempt)
    if act == "choose_starter":
        return _reasons_against_seat(view, attempt["starter"], "choose_self", "choose_finished")
    return set() if 0 <= attempt["to"] < view["players"] else {"reward_no_such_player"}


def _reasons_against_play(view: View, attempt: dict[str, Any]) -> set[str]:
    cards = attempt["cards"]
    reasons = _reasons_against_cards(view, cards)
    if attempt.get("special"):
        reasons.add("legends_off")
    if attempt["jersey"]:
        reasons |= _reasons_against_jersey(view, cards)
    if not reasons:
        value, beat = int(value_of(parse_cards(cards))), int(view["beat"])
        if attempt["jersey"]:
            return {"too_low_with_jersey"} if value + int(view["rules"]["jersey_bonus"]) <= beat else set()
        return {"equal"} if value == beat else {"too_low"} if value < beat else set()
    return reasons


def _reasons_against_cards(view: View, cards: list[str]) -> set[str]:
    if not cards:
        return {"no_cards"}
    reasons = set()
    if len(set(cards)) < len(cards):
        reasons.add("duplicate")
    if not set(cards) <= set(card_texts(view["hand"])):
        reasons.add("not_in_hand")
    hares = [card for card in cards if card in _HARE_NAMES]
    if len(hares) > 1:
        reasons.add("two_hares")
    if hares and len(cards) > 1:
        reasons.add("hare_in_combo")
    riders = parse_cards({card for card in cards if card not in _HARE_NAMES})
    if riders and not is_single(riders) and not is_combination(riders):
        reasons.add("mixed")
    return reasons


def _reasons_against_jersey(view: View, cards: list[str]) -> set[str]:
    if may_add_jersey(view):
        return {"hare_with_jersey"} if _HARE_NAMES & set(cards) else set()
    if view["rules"]["jersey_bonus"] == 0:
        return {"jersey_2p" if view["players"] == 2 else "jersey_off"}
    reasons = {"hare_with_jersey"} if _HARE_NAMES & set(cards) else set()
    return reasons | {"jersey_not_worn" if view["wearer"] != view["seat"] else "jersey_used"}


def _reasons_against_seat(view: View, seat: int, itself: str, without_cards: str) -> set[str]:
    if not 0 <= seat < view["players"]:
        return {f"{itself.split('_')[0]}_no_such_player"}
    if seat == view["seat"]:
        return {itself}
    return set() if view["sizes"][seat] else {without_cards}


def _reasons_against_gift(view: View, attempt: dict[str, Any]) -> set[str]:
    cards, count = attempt["cards"], int(view["swap_count"])
    reasons = set()
    if len(set(cards)) < len(cards):
        reasons.add("give_duplicate")
    if not set(cards) <= set(card_texts(view["hand"])):
        reasons.add("give_not_in_hand")
    if len(cards) != count:
        reasons.add("give_too_few" if len(cards) < count else "give_too_many")
    return reasons
