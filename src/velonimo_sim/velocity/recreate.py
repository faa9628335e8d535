"""A race of a run played once more, this time with its record."""

import numpy as np
from numpy.typing import NDArray

from velonimo_sim.loop import Stop
from velonimo_sim.record_faults import Record
from velonimo_sim.table import Table
from velonimo_sim.velocity.record import Recorder
from velonimo_sim.velocity.rows import GAME_ROW, RACE_ROW
from velonimo_sim.velocity.state import clone


def recreate(table: Table, game: int) -> tuple[Record, NDArray[np.void], NDArray[np.void]]:
    """Play one race of a run once more.

    Parameters
    ----------
    table : Table
        The table of the run.
    game : int
        Index of the race in its run.

    Returns
    -------
    tuple
        The race as a record, its game rows of dtype ``GAME_ROW`` and its race rows of dtype ``RACE_ROW``.

    Raises
    ------
    BotError
        If a bot is at fault, unless the table says otherwise.
    """
    players = table.seatings.shape[1]
    game_rows, race_rows = np.zeros(players, GAME_ROW), np.zeros(1, RACE_ROW)
    recorder, before = Recorder(str(game), players, table.rules), np.void(b"")
    for loop in table.trace(game, game_rows, race_rows):
        after = clone(loop["state"])
        if loop["stopped"] == Stop.MOVED:
            recorder.add(before, np.uint64(loop["move"]), after)
        before = after
    return recorder.record(before), game_rows, race_rows
