"""Sequential halving, as the searching bots share it (Karnin, Koren and Somekh, ICML 2013)."""

import numpy as np
from numpy.typing import NDArray

from velonimo_sim._jit import kernel


@kernel
def rounds_of(n: int) -> int:
    """Return how many rounds halve ``n`` candidates to one."""
    rounds = 0
    while n > 1:
        n = (n + 1) // 2
        rounds += 1
    return rounds


@kernel
def sort_by_score(actions: NDArray[np.uint64], scores: NDArray[np.float64], n: int) -> None:
    """Sort the first ``n`` actions by score, best first; equal ones stay in order."""
    for i in range(1, n):
        action, score = actions[i], scores[i]
        place = i
        while place > 0 and scores[place - 1] < score:
            actions[place], scores[place] = actions[place - 1], scores[place - 1]
            place -= 1
        actions[place], scores[place] = action, score
