"""What the states of all games have in common: copies, comparison, and the saved form in bytes and in JSON."""

import json
import struct
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from velonimo_sim.errors import CorruptDataError

_HEADER = struct.Struct("<4sHHI")

Path: TypeAlias = tuple[str, ...]


def clone(state: np.void) -> np.void:
    """Return an independent copy of a state or of a view."""
    copies = np.empty(1, state.dtype)
    copies[0] = state
    copy: np.void = copies[0]
    return copy


def equal(a: np.void, b: np.void) -> bool:
    """Whether two states are the same in every field."""
    return a.tobytes() == b.tobytes()


def state_hash(state: np.void) -> int:
    """Return a hash of the state: equal states, equal hash, within one process."""
    return hash(state.tobytes())


@dataclass(frozen=True)
class Words:
    """How fields that hold words stand in JSON: a word as a list of texts, and back, which may raise ``ValueError``."""

    texts: Callable[[int], list[str]]
    read: Callable[[list[str]], np.uint64]


@dataclass(frozen=True)
class SavedForm:
    """The saved form of the states of one game.

    Parameters
    ----------
    game : str
        Name of the game.
    magic : bytes
        Four bytes that saved states begin with.
    version, rules_version : int
        Versions of the form and of the rules.
    dtype : numpy.dtype
        The record of a state.
    validate : callable
        Returns what cannot be true of a state, one line each.
    words : mapping
        The fields, as paths of names, that hold words, and how these are written.
    """

    game: str
    magic: bytes
    version: int
    rules_version: int
    dtype: np.dtype[np.void]
    validate: Callable[[np.void], list[str]]
    words: Mapping[Path, Words]

    def to_bytes(self, state: np.void) -> bytes:
        """Return a state as magic, versions, checksum and record (little-endian)."""
        payload = state.tobytes()
        return _HEADER.pack(self.magic, self.version, self.rules_version, zlib.crc32(payload)) + payload

    def from_bytes(self, data: bytes) -> np.void:
        """Return the state that ``to_bytes`` saved.

        Raises
        ------
        CorruptDataError
            If the data is no state, of another version, damaged, or describes an impossible state.
        """
        if not isinstance(data, bytes) or len(data) < _HEADER.size or data[:4] != self.magic:
            raise CorruptDataError("these bytes are no saved state")
        _, version, rules_version, checksum = _HEADER.unpack_from(data)
        self._check_versions(version, rules_version)
        payload = data[_HEADER.size :]
        if len(payload) != self.dtype.itemsize or zlib.crc32(payload) != checksum:
            raise CorruptDataError("the saved state is damaged: its checksum does not fit")
        state: np.void = np.frombuffer(payload, self.dtype).copy()[0]
        return self._sound(state)

    def to_json(self, state: np.void) -> str:
        """Return a state as JSON for people and other programs: words as texts, all else as numbers."""
        versions = {f"{self.game}_state": self.version, "rules_version": self.rules_version}
        return json.dumps(versions | self._to_plain(state, ()))

    def from_json(self, text: str) -> np.void:
        """Return the state that ``to_json`` described.

        Raises
        ------
        CorruptDataError
            If the text is no state, of another version, or describes an impossible state.
        """
        try:
            content = json.loads(text)
            version, rules_version = content.pop(f"{self.game}_state"), content.pop("rules_version")
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            raise CorruptDataError("this text is no saved state") from None
        self._check_versions(version, rules_version)
        state: np.void = np.zeros(1, self.dtype)[0]
        self._from_plain(state, content, ())
        return self._sound(state)

    def _check_versions(self, version: object, rules_version: object) -> None:
        if repr((version, rules_version)) != repr((self.version, self.rules_version)):
            raise CorruptDataError(
                f"the state was saved as version {version} under rules version {rules_version}; "
                f"this is version {self.version} under rules version {self.rules_version}"
            )

    def _sound(self, state: np.void) -> np.void:
        faults = self.validate(state)
        if faults:
            raise CorruptDataError(f"the saved state is impossible: {'; '.join(faults)}")
        return state

    def _to_plain(self, record: np.void, path: Path) -> dict[str, Any]:
        plain: dict[str, Any] = {}
        for name in record.dtype.names or ():
            value, here = record[name], (*path, name)
            if isinstance(value, np.void):
                plain[name] = self._to_plain(value, here)
            elif here in self.words:
                plain[name] = _as_texts(value.tolist(), self.words[here].texts)
            else:
                plain[name] = value.tolist()
        return plain

    def _from_plain(self, record: np.void, plain: Any, path: Path) -> None:
        names = record.dtype.names or ()
        if not isinstance(plain, dict) or set(plain) != set(names):
            raise CorruptDataError(f"{'.'.join(path) or 'state'}: allowed are the fields {', '.join(names)}")
        for name in names:
            here = (*path, name)
            if isinstance(record[name], np.void):
                self._from_plain(record[name], plain[name], here)
                continue
            shape = np.shape(record[name])
            try:
                if here in self.words:
                    record[name] = _read_texts(plain[name], shape, self.words[here].read)
                else:
                    record[name] = _read_integers(plain[name], shape)
            except (ValueError, OverflowError) as error:
                raise CorruptDataError(f"{'.'.join(here)}: {error}") from None


def _as_texts(value: int | list[Any], texts: Callable[[int], list[str]]) -> list[Any]:
    return [_as_texts(part, texts) for part in value] if isinstance(value, list) else texts(value)


def _read_texts(value: Any, shape: tuple[int, ...], read: Callable[[list[str]], np.uint64]) -> Any:
    """Return lists of texts, nested as the shape says, as words."""
    if shape:
        _check_length(value, shape[0])
        return [_read_texts(part, shape[1:], read) for part in value]
    if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
        raise ValueError(f"{value!r} is no list of texts")
    return read(value)


def _read_integers(value: Any, shape: tuple[int, ...]) -> Any:
    if shape:
        _check_length(value, shape[0])
        return [_read_integers(part, shape[1:]) for part in value]
    if type(value) is not int:
        raise ValueError(f"{value!r} is no integer")
    return value


def _check_length(value: Any, length: int) -> None:
    if not isinstance(value, list) or len(value) != length:
        raise ValueError(f"{value!r} is no list of {length}")
