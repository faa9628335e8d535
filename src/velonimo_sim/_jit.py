"""The one decorator that every compiled function uses, and the cache that goes with it.

numba's own cache looks at the file of the decorated function only: an edit of ``rules.py`` would leave a cached
caller in ``step.py`` running the old rule. The cache folder is therefore named after a hash of all sources of the
package, and set before anything is compiled.
"""

import hashlib
import os
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from numba import config, njit
from numba.core import cgutils
from numba.core.errors import NumbaExperimentalFeatureWarning
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])

INTERPRETED: bool = bool(config.DISABLE_JIT)
"""True under ``NUMBA_DISABLE_JIT=1``: kernels then run as plain Python, with the same results."""

# Tuples of compiled bots are what keeps the engine's loop compiled once for all of them; numba calls the feature
# experimental in a warning of its own, which is not for the user to act on.
warnings.filterwarnings("ignore", message="First-class function type", category=NumbaExperimentalFeatureWarning)


@cache
def source_hash() -> str:
    """Return 16 hexadecimal digits that change with any source file of the package."""
    root = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py"), key=lambda path: path.relative_to(root).as_posix()):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


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
    before = config.CACHE_DIR
    config.CACHE_DIR = "" if INTERPRETED else str(cache_folder())
    try:
        compiled: Function = njit(*signature, cache=True, nogil=True, **options)(function)
    finally:
        config.CACHE_DIR = before
    return compiled


if INTERPRETED:

    def pick(functions: Any, index: int) -> Any:
        """Return one of a tuple of compiled functions."""
        return functions[index]

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def pick(typing_context: Any, functions: Any, index: Any) -> Any:
        """Return one of a tuple of compiled functions.

        Indexed as ``functions[index]`` a tuple becomes a jump table, which the processor mispredicts at every change of
        seat; this loads the function from memory instead.
        """

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            table = cgutils.alloca_once_value(builder, arguments[0])
            return builder.load(cgutils.gep_inbounds(builder, table, 0, arguments[1]))

        return functions.dtype(functions, index), generate
