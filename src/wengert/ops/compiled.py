"""Host kernels that are their own compiled lowering.

Where XLA beats NumPy (convolutions), `compiled(lower)` makes the host kernel out of the lowering:
one executable per attributes, shapes and dtypes, kept in a bounded cache, run on the CPU, in
JAX's scoped 64-bit mode where 64-bit numbers take part. `wide` is the lowering's side of the
rule that half precision is computed in float32.
"""

from __future__ import annotations

import functools
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core.compiler import FORKED, begin, options
from wengert.core.lazy import jax, lax
from wengert.ops.declare import in_float32

MOST = 512

_cache: OrderedDict[Any, Any] = OrderedDict()
_lock = threading.Lock()


def compiled(lower: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel on NumPy arrays that compiles and runs `lower`; half precision in float32."""

    @in_float32
    def kernel(*xs: np.ndarray, **attrs: Any) -> np.ndarray:
        key = (lower, *attrs.values(), *[(x.shape, x.dtype.num) for x in xs])
        run = _cache.get(key)
        if run is None or FORKED[0]:
            run = _compile(key, lower, attrs, any(x.dtype.itemsize == 8 for x in xs))
        else:
            with _lock:
                if key in _cache:
                    _cache.move_to_end(key)
        return np.asarray(run(*xs))

    return kernel


def _compile(key: Any, lower: Any, attrs: dict[str, Any], wide: bool) -> Callable[..., Any]:
    begin("compiled kernels")
    program = jax.jit(functools.partial(lower, **attrs), compiler_options=options())
    run = _placed(program, wide)
    with _lock:
        _cache[key] = run
        while len(_cache) > MOST:
            _cache.popitem(last=False)
    return run


def _placed(run: Callable[..., Any], wide: bool) -> Callable[..., Any]:
    """Adds the scopes that this call needs, and no more: each costs microseconds."""
    elsewhere = jax.default_backend() != "cpu"
    if not wide and not elsewhere:
        return run

    def scoped(*xs: Any) -> Any:
        with jax.enable_x64(wide):
            if not elsewhere:
                return run(*xs)
            with jax.default_device(jax.local_devices(backend="cpu")[0]):
                return run(*xs)

    return scoped


def wide(lower: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a lowering compute half-precision arguments in float32 and round once at the end."""

    @functools.wraps(lower)
    def widened(*xs: Any, **attrs: Any) -> Any:
        half = next((x.dtype for x in xs if x.dtype.kind in "fV" and x.dtype.itemsize == 2), None)
        if half is None:
            return lower(*xs, **attrs)
        out = lower(*[_convert(x, half, np.dtype(np.float32)) for x in xs], **attrs)
        if isinstance(out, tuple):
            return tuple(_convert(o, np.dtype(np.float32), half) for o in out)
        return _convert(out, np.dtype(np.float32), half)

    return widened


def _convert(x: Any, old: Any, new: Any) -> Any:
    return lax.convert_element_type(x, new) if x.dtype == old else x
