"""The one decorator that every compiled function uses, and the cache that goes with it.

numba's own cache looks at the file of the decorated function only: an edit of ``rules.py`` would leave a cached
caller in ``step.py`` running the old rule. The cache folder is therefore named after a hash of all sources of the
package, and set before anything is compiled.
"""

import hashlib
import os
import tempfile
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from numba import config, njit, types
from numba.core.errors import NumbaExperimentalFeatureWarning
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])

INTERPRETED: bool = bool(config.DISABLE_JIT)
"""True under ``NUMBA_DISABLE_JIT=1``: kernels then run as plain Python, with the same results."""

# Compiled bots as values are what keeps the engine's loop compiled once for all of them; numba calls the feature
# experimental in a warning of its own, which is not for the user to act on.
warnings.filterwarnings("ignore", message="First-class function type", category=NumbaExperimentalFeatureWarning)


ROOT = Path(__file__).parent


def _hash_of(folder: Path, files: Iterable[Path]) -> str:
    """Return 16 hexadecimal digits that change with files of a folder."""
    digest = hashlib.sha256()
    for name, path in sorted((path.relative_to(folder).as_posix(), path) for path in files):
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


@cache
def source_hash() -> str:
    """Return 16 hexadecimal digits that change with any source file of the package."""
    return _hash_of(ROOT, ROOT.rglob("*.py"))


@cache
def cache_folder() -> Path:
    """Return the writable folder for compiled kernels: below ``NUMBA_CACHE_DIR``, or else the user's cache folder."""
    base = os.environ.get("NUMBA_CACHE_DIR") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache") / "velonimo_sim"
    # Bounds checks are compiled in, so checked and unchecked code may not share a folder.
    folder = Path(base).expanduser() / (source_hash() + ("-boundscheck" if config.BOUNDSCHECK else ""))
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder
    except OSError as error:
        fallback = Path(tempfile.mkdtemp(prefix="velonimo_sim-"))
        warnings.warn(f"no cache for compiled code in {folder} ({error}); using {fallback}", stacklevel=2)
        return fallback


def _cache_folder_of(source: Path, module: str) -> Path:
    """Return the folder for what the functions of a file are compiled to.

    A user's bot may call what stands in files beside its own, so these give its folder the name; so does its module,
    which numba notes in what it keeps.
    """
    if ROOT in source.parents:
        return cache_folder()
    return cache_folder() / f"{module}-{_hash_of(source.parent, source.parent.glob('*.py'))}"


def kernel(function: Function) -> Function:
    """Compile at the first call, cached on disk, without the interpreter's lock."""
    return _compile(function)


def kernel_as(signature: Any) -> Callable[[Function], Function]:
    """Compile at once for one declared signature, so that the function can be handed over as a value."""
    return lambda function: _compile(function, signature)


def inlined(function: Function) -> Function:
    """Compile into each caller: for what is called at every decision, where the call itself would be half the cost."""
    return _compile(function, forceinline=True)


def _compile(function: Function, *signature: Any, **options: Any) -> Function:
    source = Path(function.__code__.co_filename)
    has_cache = not INTERPRETED and source.is_file()  # what is typed into a notebook has no file
    before = config.CACHE_DIR
    config.CACHE_DIR = str(_cache_folder_of(source, function.__module__)) if has_cache else ""
    try:
        compiled: Function = njit(*signature, cache=has_cache, nogil=True, **options)(function)
    finally:
        config.CACHE_DIR = before
    return compiled


FUNCTION_WORDS = 3
"""Words of 64 bits that numba's value of a compiled function takes."""

if INTERPRETED:

    def keep_function(function: Any, row: Any) -> None:
        """Keep a function in a row of a table."""
        row[0] = function

    def kept_function(table: Any, index: int, *arguments: Any) -> Any:
        """Return a function of a table, which takes arguments of the types of those given."""
        return table[index, 0]

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def keep_function(typing_context: Any, function: Any, row: Any) -> Any:
        """Keep a compiled function in a row of a table: uint64, shape (functions, ``FUNCTION_WORDS``).

        A tuple of functions becomes a jump table, which the processor mispredicts at every change of seat, and takes
        numba a third of a millisecond to hand over.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            assert context.get_abi_sizeof(arguments[0].type) == 8 * FUNCTION_WORDS
            place = context.make_array(row)(context, builder, arguments[1]).data
            builder.store(arguments[0], builder.bitcast(place, arguments[0].type.as_pointer()))
            return context.get_dummy_value()

        return types.void(function, row), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def kept_function(typing_context: Any, table: Any, index: Any, view: Any, scratch: Any, stream: Any) -> Any:
        """Return a function of a table, which takes arguments of the types of those given and returns a word."""
        kind = types.FunctionType(types.uint64(view, scratch, stream))

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            words = context.make_array(table)(context, builder, arguments[0]).data
            at = builder.mul(arguments[1], arguments[1].type(FUNCTION_WORDS))
            place = builder.gep(words, [at], inbounds=True)
            return builder.load(builder.bitcast(place, context.get_value_type(kind).as_pointer()))

        return kind(table, index, view, scratch, stream), generate
