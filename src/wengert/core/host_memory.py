"""The C library's memory: freed arrays are kept for the next ones.

glibc hands the memory of a freed array back to the system if it is large, and the next array takes
it again page by page, which costs ten times what an operation on it does. Nothing here knows of
arrays.
"""

from __future__ import annotations

import ctypes
import functools
import os
from typing import Any

import numpy as np

_TRIM_THRESHOLD, _MMAP_MAX = -1, -4  # of malloc.h
_MOST = 2**31 - 1  # bytes that may lie free at the end of the heap; `mallopt` takes an int
_KNOBS = ("MALLOC_MMAP_MAX_", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_")


def keep_freed() -> None:
    """Lets the C library keep what is freed, unless the environment has told it otherwise."""
    if any(name in os.environ for name in _KNOBS) or "malloc" in os.environ.get(
        "GLIBC_TUNABLES", ""
    ):
        return
    if (mallopt := _c_function("mallopt")) is not None and mallopt(_MMAP_MAX, 0):
        mallopt(_TRIM_THRESHOLD, _MOST)
    else:
        # It is shown a large array once, which nobody writes to; it keeps what is no larger.
        np.empty(31 << 20, np.uint8)


def release() -> None:
    """Hands free memory back to the system.

    After a compilation, which leaves small pieces of its own between freed arrays, so that larger
    ones no longer fit: without this each compiled signature would cost as much memory as its
    arguments take.
    """
    trim = _c_function("malloc_trim")
    if trim is not None:
        trim(0)


@functools.cache
def _c_function(name: str) -> Any:
    try:
        return getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):  # not glibc
        return None
