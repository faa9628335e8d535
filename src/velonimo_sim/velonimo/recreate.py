"""A game of a run played once more, this time with its record."""

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.loop import Stop
from velonimo_sim.record_faults import Record
from velonimo_sim.table import Table
from velonimo_sim.velonimo.record import Recorder
from velonimo_sim.velonimo.rows import COL_ROW, GAME_ROW, most_col_rows
from velonimo_sim.velonimo.state import clone


def recreate(table: Table, game: int) -> tuple[Record, NDArray[np.void], NDArray[np.void]]:
    """Play one game of a run once more.

    Parameters
    ----------
    table : Table
        The table of the run.
    game : int
        Index of the game in its run.

    Returns
    -------
    tuple
        The game as a record, its game rows of dtype ``GAME_ROW`` and its col rows of dtype ``COL_ROW``.

    Raises
    ------
    BotError
        If a bot is at fault, unless the table says otherwise.
    """
    players = table.seatings.shape[1]
    game_rows, col_rows = np.zeros(players, GAME_ROW), np.zeros(most_col_rows(table.rules, players), COL_ROW)
    recorder, before = Recorder(str(game), players, table.rules), np.void(b"")
    for loop in table.trace(game, game_rows, col_rows):
        after = clone(loop["state"])
        if loop["stopped"] == Stop.DEALT:
            recorder.start_col(after)
        else:
            recorder.add(before, np.uint64(loop["move"]), after)
        before = after
    return recorder.record(before), game_rows, col_rows[: loop["detail_rows"]]
