"""Host kernels that are their own compiled lowering.

Where XLA beats NumPy (convolutions), `compiled(lower)` makes the host kernel out of the lowering:
one executable per attributes, shapes and dtypes, kept in a bounded cache, run on the CPU, in
JAX's scoped 64-bit mode where 64-bit numbers take part.
"""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core.compiler import begin, options
from wengert.core.interrupts import uninterrupted
from wengert.core.locks import new_lock
from wengert.core.process_settings import PROCESS
from wengert.ops.declare import JaxArray, in_float32, jax

MOST = 512

_cache: OrderedDict[Any, Any] = OrderedDict()
_lock = new_lock()


def compiled(lower: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel on NumPy arrays that compiles and runs `lower`; half precision in float32."""

    @in_float32
    def kernel(*xs: np.ndarray, **attrs: Any) -> np.ndarray:
        key = (lower, *attrs.values(), *[(x.shape, x.dtype.num) for x in xs])
        run = _cache.get(key)
        if run is None or PROCESS.lost_xla:
            run = _compile(key, lower, attrs, any(x.dtype.itemsize == 8 for x in xs))
            run = uninterrupted(run)  # the first call imports modules of JAX
        else:
            with _lock:
                if key in _cache:
                    _cache.move_to_end(key)
        return np.asarray(run(*xs))

    return kernel


# Numbers that one call of a kernel in blocks takes; fewer than `_MANY` stay with NumPy.
_BLOCK, _MANY = 2**16, 2**17


def in_blocks(kernel: Callable[..., Any], lower: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of a function of one number; XLA computes it for many numbers at once.

    NumPy takes a pass over memory for each step of a formula, and SciPy's functions know no
    vector units. Blocks of one size need one executable, whatever the shapes.
    """
    run = compiled(lower)

    @in_float32
    def blocked(x: np.ndarray, **attrs: Any) -> np.ndarray:
        if x.size < _MANY or PROCESS.lost_xla:
            return kernel(x, **attrs)
        flat = x.reshape(-1)
        out = np.empty(x.shape, x.dtype)
        target = out.reshape(-1)
        for k in range(0, x.size, _BLOCK):
            part = flat[k : k + _BLOCK]
            if part.size < _BLOCK:
                part = np.concatenate([part, np.zeros(_BLOCK - part.size, x.dtype)])
            target[k : k + _BLOCK] = run(part, **attrs)[: x.size - k]
        return out

    return blocked


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

    def scoped(*xs: np.ndarray) -> JaxArray:
        with jax.enable_x64(wide):
            if not elsewhere:
                return run(*xs)
            with jax.default_device(jax.local_devices(backend="cpu")[0]):
                return run(*xs)

    return scoped
