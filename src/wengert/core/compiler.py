"""The settings with which XLA compiles every program of ours."""

from __future__ import annotations

import functools
from typing import Any

from wengert.core.lazy import jax

_WISHES: dict[str, Any] = {
    # Half precision is rounded wherever the program says so, as in eager code. Left to itself XLA
    # keeps more digits on one way and not on another, and then a maximum is not equal to any of
    # its numbers.
    "xla_allow_excess_precision": False,
    # On the CPU, single products go to YNNPACK, a third faster than XLA's own. What XLA would also
    # give to it, whole chains of products, sums and elementwise operations, comes back wrong
    # (sum(matmul(x, broadcast) * x)), a hundred times slower (matmul(x, x) * c, again and again)
    # or not at all (a sum over one of seven axes), as of JAX 0.10.2 to 0.12.
    "xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
}

# Up to this version of JAX all of them are known; a later one is asked, which takes 10 ms each.
_KNOWN = (0, 12)


@functools.cache
def options() -> dict[str, Any]:
    """XLA's settings, without those that this version of it does not know."""
    version = tuple(int(part) for part in jax.__version__.split(".")[:2])
    if version <= _KNOWN:
        return _WISHES
    return {name: value for name, value in _WISHES.items() if _is_known(name, value)}


def _is_known(name: str, value: Any) -> bool:
    empty = jax.jit(lambda: 0, compiler_options={name: value})
    try:
        empty.lower().compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True
