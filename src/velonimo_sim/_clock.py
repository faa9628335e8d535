"""The system's monotonic clock, for kernels that have to keep to a time.

numba cannot call Python's clock without the interpreter's lock; this calls the C library's ``clock_gettime``, by name,
so that the compiled code can be kept on disk.
"""

import sys
import time
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from velonimo_sim._jit import INTERPRETED

HAS_CLOCK: bool = INTERPRETED or sys.platform in ("linux", "darwin")
"""Whether kernels can read the clock on this system."""

_SECOND = 1_000_000_000

if INTERPRETED:
    monotonic_ns = time.monotonic_ns

else:

    @intrinsic  # type: ignore[untyped-decorator]
    def monotonic_ns(typing_context: Any) -> Any:
        """Return the nanoseconds of a clock that never goes back, as int64; 0 on a system without ``HAS_CLOCK``."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            word = ir.IntType(64)
            if not HAS_CLOCK:
                return word(0)
            now = cgutils.alloca_once(builder, ir.ArrayType(word, 2))
            parts = [cgutils.gep_inbounds(builder, now, 0, part) for part in (0, 1)]
            kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32), word.as_pointer()])
            clock_gettime = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
            builder.call(clock_gettime, [ir.IntType(32)(time.CLOCK_MONOTONIC), parts[0]])
            seconds, nanoseconds = (builder.load(part) for part in parts)
            return builder.add(builder.mul(seconds, word(_SECOND)), nanoseconds)

        return types.int64(), generate
