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
from wengert.ops.threads import BLOCK, blocks_of

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


def when_large(
    kernel: Callable[..., Any], lower: Callable[..., Any], is_large: Callable[..., bool]
) -> Callable[..., Any]:
    """A kernel that leaves the arguments for which `is_large` holds to its compiled lowering.

    The choice depends on shapes alone, so that the same call always gives the same bits.
    """
    run = compiled(lower)

    @functools.wraps(kernel)
    def chosen(*xs: np.ndarray, **attrs: Any) -> np.ndarray:
        if is_large(*xs, **attrs) and not PROCESS.lost_xla:
            return run(*xs, **attrs)
        return kernel(*xs, **attrs)

    return chosen


# Arrays of fewer numbers stay with NumPy. From `_LARGE` on, a size that comes for the third time
# gets a program of its own, which needs no copies. Its numbers have the same bits, if none are left
# over for which XLA would not use vectors.
_MANY, _LARGE, _OFTEN = BLOCK, 2**20, 3


def in_blocks(kernel: Callable[..., Any], lower: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel of an elementwise function; XLA computes it for many numbers at once.

    NumPy takes a pass over memory for each step of a formula, and SciPy's functions know no
    vector units. Blocks of one size need one executable, whatever the shapes. Arrays that
    broadcast are left to `kernel`.
    """
    run = compiled(lower)
    seen: dict[int, int] = {}

    @in_float32
    def blocked(x: np.ndarray, *rest: np.ndarray, **attrs: Any) -> np.ndarray:
        size = x.size
        if size < _MANY or PROCESS.lost_xla or any(y.shape != x.shape for y in rest):
            return kernel(x, *rest, **attrs)
        flat = [y.reshape(-1) for y in (x, *rest)]
        if size == BLOCK or (size >= _LARGE and not size % 1024 and _comes_often(seen, size)):
            return run(*flat, **attrs).reshape(x.shape)
        return _by_blocks(run, flat, attrs).reshape(x.shape)

    return blocked


def _comes_often(seen: dict[int, int], size: int) -> bool:
    count = seen[size] = seen.pop(size, 0) + 1
    if len(seen) > MOST:
        del seen[next(iter(seen))]
    return count >= _OFTEN


def _by_blocks(
    run: Callable[..., np.ndarray], flat: list[np.ndarray], attrs: dict[str, Any]
) -> np.ndarray:
    out: Any = None
    size = flat[0].size
    for part in blocks_of(size):
        xs = [y[part] for y in flat]
        short = BLOCK - xs[0].size
        if short:
            xs = [np.concatenate([y, np.ones(short, y.dtype)]) for y in xs]
        result = run(*xs, **attrs)
        if out is None:
            out = np.empty(size, result.dtype)
        out[part] = result[: BLOCK - short]
    return out


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
