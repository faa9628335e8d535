"""A run that is gone on with: what is there of it, and whether it is the same."""

import json
from collections.abc import Mapping
from pathlib import Path
from textwrap import shorten
from typing import Any

from velonimo_sim.definition import Tournament
from velonimo_sim.errors import CorruptDataError, UsageError
from velonimo_sim.progress import Say
from velonimo_sim.run_files import (
    MANIFEST,
    Shard,
    check_shard,
    is_unbegun,
    kinds_of,
    manifest_in_shards,
    read_manifest,
    read_shard,
    shard_paths,
    unfinished_files,
)

MOST_SHOWN = 8
"""How many differences between two runs are shown."""


def take_up(folder: Path, tournament: Tournament, say: Say) -> list[Shard]:
    """Return the finished shards of a run that is gone on with; what was left half done is deleted, and said so.

    Raises
    ------
    UsageError
        If the run in the folder is another one, or has more games.
    CorruptDataError
        If its manifest is none, or of another schema version.
    """
    shards: list[Shard] = []
    if not is_unbegun(folder):
        differences = differences_of(manifest_of(folder), tournament.identity())
        if differences:
            raise UsageError(f"--resume {folder}: is another run: {differences}")
        shards = _whole_shards(folder, tournament, say)
    end = max((shard.end for shard in shards), default=0)
    if end > tournament.games:
        raise UsageError(f"--games {tournament.games}: the run in {folder} has {end:,} games already")
    for path in unfinished_files(folder):
        path.unlink()
        games = "; its games are played again" if path.suffix == ".parquet" else ""
        say(f"{path} was left half written and is deleted{games}")
    return shards


def differences_of(run: Mapping[str, Any], here: Mapping[str, Any]) -> str:
    """Return in one line what a run is otherwise than here; empty if it is the same."""
    there = _single_values(run)
    differences = [
        f"{name} is {_shown(there.get(name))} in the run and {_shown(value)} here"
        for name, value in _single_values(here).items()
        if there.get(name) != value
    ]
    more = [f"and {len(differences) - MOST_SHOWN:,} more"] if len(differences) > MOST_SHOWN else []
    return "; ".join(differences[:MOST_SHOWN] + more)


def _single_values(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest with an entry for each option of the rules, for each bot, and for each kind of spaces."""
    values: dict[str, Any] = {}
    for name, value in content.items():
        if isinstance(value, dict):
            values |= {f"{name}: {inner}": chosen for inner, chosen in _single_values(value).items()}
        elif isinstance(value, list):
            values |= {f"{name}: {number}": entry for number, entry in enumerate(value)} | {
                f"{name}: number": len(value)
            }
        else:
            values[name] = value
    return values


def _shown(value: Any) -> str:
    return shorten(json.dumps(value), 200, placeholder=" ...")


def manifest_of(folder: Path) -> dict[str, Any]:
    """Return the manifest of a run, or else what its shards say of it.

    Raises
    ------
    UsageError
        If there is no run in the folder.
    CorruptDataError
        If the manifest is none, or of another schema version.
    """
    if not (folder / MANIFEST).exists() and folder.is_dir():
        run = manifest_in_shards(folder)
        if run is not None:
            return run
    return read_manifest(folder)


def _whole_shards(folder: Path, tournament: Tournament, say: Say) -> list[Shard]:
    """Return the shards that are whole; those that are damaged are deleted, so that their games are played again.

    A shard that cannot be read, or is of another run, is neither.
    """
    shards: list[Shard] = []
    for path in shard_paths(folder):
        try:
            shard = read_shard(path, tournament.schedule.players)
            differences = differences_of(shard.run, tournament.identity())
            if differences:
                raise UsageError(f"--resume {folder}: {path.name} is of another run: {differences}")
            if (
                shard.first_game % tournament.schedule.games_per_deal
                or shard.games % tournament.schedule.games_per_deal
            ):
                raise CorruptDataError(f"{path}: holds a part of a deal")
            if shards and shard.first_game < shards[-1].end:
                raise CorruptDataError(f"{path}: holds games that are in the shard before it")
            check_shard(shard)
        except CorruptDataError as error:
            for kind in reversed(kinds_of(tournament.game.name)):
                path.with_name(path.name.replace("games", kind)).unlink(missing_ok=True)
            say(f"{error}; the shard is deleted and its games are played again")
        else:
            shards.append(shard)
    return shards
