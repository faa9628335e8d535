"""What a perfect model of hands would explain is what was planted in them."""

import numpy as np
import pandas as pd
import pytest

from velonimo_sim.analysis import hand_ceiling
from velonimo_sim.analysis.hands import without_colours
from velonimo_sim.errors import UsageError
from velonimo_sim.velonimo.cards import DECK_POSITIONS

DECK = np.uint64(1) << DECK_POSITIONS[:49].astype(np.uint64)


def rows(deals: int, share: float, rng: np.random.Generator) -> pd.DataFrame:
    """Return four seats a deal with six riders each, so that many hands are the same but for colours.

    What a hand is worth is as good as random, but the same in all colours; it is the given share of the variance. Seats
    of a deal have some luck in common.
    """
    cards = rng.permuted(np.tile(np.arange(49), (deals, 1)), axis=1)[:, :24].reshape(deals, 4, 6)
    hands = DECK[cards].sum(axis=2, dtype=np.uint64).ravel()
    kind = without_colours(hands) % np.uint64(1_009)
    worth = np.random.default_rng(0).choice([-1.0, 1.0], 1_009)[kind]
    luck = 0.6 * np.repeat(rng.normal(size=deals), 4) + 0.8 * rng.normal(size=4 * deals)
    return pd.DataFrame(
        {
            "deal_id": np.repeat(np.arange(deals), 4),
            "game_id": np.repeat(np.arange(deals), 4),
            "players": 4,
            "hand": hands,
            "beaten": np.sqrt(share) * worth + np.sqrt(1 - share) * luck,
        }
    )


@pytest.mark.slow
@pytest.mark.parametrize("share", [0.0, 0.1])
def test_95_percent_of_the_intervals_hold_the_planted_share(share: float) -> None:
    rng, repeats = np.random.default_rng(5), 500
    # What the worth of the hands is in the mean, and how much it varies, is a matter of which signs came up.
    worth = rows(50_000, 1.0, rng)["beaten"].var()
    truth = share * worth / (share * worth + 1 - share)
    tables = pd.concat([hand_ceiling(rows(2_000, share, rng)) for _ in range(repeats)])
    covered = ((tables["low"] <= truth) & (truth <= tables["high"])).sum()
    assert 0.93 * repeats <= covered <= 0.97 * repeats
    assert tables["share"].mean() == pytest.approx(truth, abs=0.003)


def test_rows_without_variance_are_one_line() -> None:
    frame = rows(100, 0.0, np.random.default_rng(1)).assign(beaten=1.0)
    with pytest.raises(UsageError, match="all hands have the same beaten: there is nothing to explain"):
        hand_ceiling(frame)


def test_hands_that_are_all_different_are_too_few() -> None:
    with pytest.raises(UsageError, match="0 pairs of rows have the same hand: it takes 500, a longer run"):
        hand_ceiling(rows(1_000, 0.0, np.random.default_rng(1)).drop_duplicates("hand").head(3))
