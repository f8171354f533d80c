"""The settings with which XLA compiles every program of ours, and the process that may run them."""

from __future__ import annotations

import functools
import os
from contextlib import suppress
from typing import Any

from wengert.core.compile_cache import CACHE
from wengert.core.errors import FailedPreconditionError, at_site
from wengert.core.lazy_modules import jax
from wengert.core.process_settings import PROCESS


def _note_fork() -> None:
    PROCESS.lost_xla = PROCESS.used_xla


def _finish() -> None:
    """Waits for what is under way, which nobody in the child would ever end."""
    if PROCESS.used_xla:
        with suppress(RuntimeError):  # another thread has just given one away
            jax.block_until_ready(jax.live_arrays())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_finish, after_in_child=_note_fork)


def begin(what: str) -> None:
    """Notes that XLA is used; raises where its threads, lost in a fork, would never answer."""
    if PROCESS.lost_xla:
        raise at_site(
            FailedPreconditionError(
                None,
                None,
                f"{what}: this process was forked from one that used XLA, which does not survive "
                f"a fork. Start worker processes with the `spawn` method.",
            )
        )
    if not PROCESS.used_xla:
        CACHE.attach()
    PROCESS.used_xla = True


_YNN = "xla_cpu_experimental_ynn_fusion_type"
_WISHES: dict[str, Any] = {
    # Half precision is rounded wherever the program says so, as in eager code. Left to itself XLA
    # keeps more digits on one way and not on another, and then a maximum is not equal to any of
    # its numbers.
    "xla_allow_excess_precision": False,
    # On the CPU, single products go to YNNPACK, a third faster than XLA's own. What XLA would also
    # give to it, whole chains of products, sums and elementwise operations, comes back wrong
    # (sum(matmul(x, broadcast) * x), JAX 0.10.2 to 0.12), a hundred times slower (matmul(x, x) * c,
    # again and again, 0.10.2) or not at all (a sum over one of seven axes, 0.10.2).
    _YNN: "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT",
}

# Up to this version of JAX all of them are known; a later one is asked, which takes 10 ms each.
_KNOWN = (0, 12)


@functools.cache
def options(half: bool = False) -> dict[str, bool | str]:
    """XLA's settings for a program, without those that this version of it does not know.

    In programs with `half` precision XLA readies some products for YNNPACK that it then does not
    give to it, and cannot run.
    """
    wishes = {**_WISHES, _YNN: ""} if half else _WISHES
    version = tuple(int(part) for part in jax.__version__.split(".")[:2])
    if version <= _KNOWN:
        return wishes
    return {name: value for name, value in wishes.items() if _is_known(name, value)}


def _is_known(name: str, value: Any) -> bool:
    empty = jax.jit(lambda: 0, compiler_options={name: value})
    try:
        empty.lower().compile()
    except jax.errors.JaxRuntimeError:
        return False
    return True
