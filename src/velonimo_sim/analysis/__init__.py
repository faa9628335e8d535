"""Statistics of tournament results: who wins, by what, and what seats, cards, rules and luck are worth.

A deal is played by several seatings, and the games of a deal are not independent. They form a group, and the group is
the unit of all intervals. Knows no engine: everything is computed from game rows, as a run leaves them.

The names below load what they need when they are used; ``figures`` is the module of figures.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from velonimo_sim.analysis import figures as figures
    from velonimo_sim.analysis.breakdown import differences_by as differences_by
    from velonimo_sim.analysis.breakdown import outcomes_by as outcomes_by
    from velonimo_sim.analysis.cards import card_differences as card_differences
    from velonimo_sim.analysis.cards import card_values as card_values
    from velonimo_sim.analysis.cards import company_values as company_values
    from velonimo_sim.analysis.ceiling import hand_ceiling as hand_ceiling
    from velonimo_sim.analysis.exchange import exchange_worth as exchange_worth
    from velonimo_sim.analysis.frames import outcome_bounds as outcome_bounds
    from velonimo_sim.analysis.hand_model import HandModel as HandModel
    from velonimo_sim.analysis.hand_model import calibration as calibration
    from velonimo_sim.analysis.hand_model import fit_hand_model as fit_hand_model
    from velonimo_sim.analysis.hand_model import hand_value as hand_value
    from velonimo_sim.analysis.hand_model import save_models as save_models
    from velonimo_sim.analysis.hands import HAND_FEATURES as HAND_FEATURES
    from velonimo_sim.analysis.hands import hand_feature as hand_feature
    from velonimo_sim.analysis.intervals import bounded_interval as bounded_interval
    from velonimo_sim.analysis.intervals import wilson_interval as wilson_interval
    from velonimo_sim.analysis.jersey import jersey_uses as jersey_uses
    from velonimo_sim.analysis.jersey import lead_kept as lead_kept
    from velonimo_sim.analysis.jersey import leader_gains as leader_gains
    from velonimo_sim.analysis.jersey import outcomes_by_role as outcomes_by_role
    from velonimo_sim.analysis.jersey import wearer_gains as wearer_gains
    from velonimo_sim.analysis.luck import games_needed as games_needed
    from velonimo_sim.analysis.luck import variance_shares as variance_shares
    from velonimo_sim.analysis.moments import GroupMoments as GroupMoments
    from velonimo_sim.analysis.plackett_luce import ratings as ratings
    from velonimo_sim.analysis.runs import load as load
    from velonimo_sim.analysis.seats import seat_effects as seat_effects
    from velonimo_sim.analysis.seats import seats_after as seats_after
    from velonimo_sim.analysis.sequential import ConfidenceSequence as ConfidenceSequence
    from velonimo_sim.analysis.switches import switch_effects as switch_effects
    from velonimo_sim.analysis.tables import PairedDifference as PairedDifference
    from velonimo_sim.analysis.tables import bot_records as bot_records
    from velonimo_sim.analysis.tables import bot_table as bot_table
    from velonimo_sim.analysis.tables import change_records as change_records
    from velonimo_sim.analysis.tables import compare_runs as compare_runs
    from velonimo_sim.analysis.tables import contrast_interval as contrast_interval
    from velonimo_sim.analysis.tables import pair_table as pair_table
    from velonimo_sim.analysis.tables import paired_difference as paired_difference
    from velonimo_sim.analysis.tortoise import swap_balance as swap_balance
    from velonimo_sim.analysis.tortoise import tortoise_worth as tortoise_worth

_PLACES = {
    "ConfidenceSequence": "sequential",
    "GroupMoments": "moments",
    "HAND_FEATURES": "hands",
    "HandModel": "hand_model",
    "PairedDifference": "tables",
    "bot_records": "tables",
    "bot_table": "tables",
    "bounded_interval": "intervals",
    "calibration": "hand_model",
    "card_differences": "cards",
    "card_values": "cards",
    "change_records": "tables",
    "company_values": "cards",
    "compare_runs": "tables",
    "contrast_interval": "tables",
    "differences_by": "breakdown",
    "exchange_worth": "exchange",
    "fit_hand_model": "hand_model",
    "games_needed": "luck",
    "hand_ceiling": "ceiling",
    "hand_feature": "hands",
    "hand_value": "hand_model",
    "jersey_uses": "jersey",
    "lead_kept": "jersey",
    "leader_gains": "jersey",
    "load": "runs",
    "outcome_bounds": "frames",
    "outcomes_by": "breakdown",
    "outcomes_by_role": "jersey",
    "pair_table": "tables",
    "paired_difference": "tables",
    "ratings": "plackett_luce",
    "save_models": "hand_model",
    "seat_effects": "seats",
    "seats_after": "seats",
    "swap_balance": "tortoise",
    "switch_effects": "switches",
    "tortoise_worth": "tortoise",
    "variance_shares": "luck",
    "wearer_gains": "jersey",
    "wilson_interval": "intervals",
}

__all__ = [
    "HAND_FEATURES",
    "ConfidenceSequence",
    "GroupMoments",
    "HandModel",
    "PairedDifference",
    "bot_records",
    "bot_table",
    "bounded_interval",
    "calibration",
    "card_differences",
    "card_values",
    "change_records",
    "company_values",
    "compare_runs",
    "contrast_interval",
    "differences_by",
    "exchange_worth",
    "figures",
    "fit_hand_model",
    "games_needed",
    "hand_ceiling",
    "hand_feature",
    "hand_value",
    "jersey_uses",
    "lead_kept",
    "leader_gains",
    "load",
    "outcome_bounds",
    "outcomes_by",
    "outcomes_by_role",
    "pair_table",
    "paired_difference",
    "ratings",
    "save_models",
    "seat_effects",
    "seats_after",
    "swap_balance",
    "switch_effects",
    "tortoise_worth",
    "variance_shares",
    "wearer_gains",
    "wilson_interval",
]


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used (PEP 562)."""
    if name == "figures":
        return import_module(f"{__name__}.figures")
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
