"""Modules that are imported when first used, so that `import wengert` stays quick."""

from __future__ import annotations

import importlib
import os
from typing import Any

from wengert.core.interrupts import uninterrupted
from wengert.core.process_settings import PROCESS

# Where set, JAX itself reads it, and we leave the choice alone.
_ASYNC = "JAX_CPU_ENABLE_ASYNC_DISPATCH"


class Lazy:
    """Stands for a module until an attribute of it is asked for."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(module(self._name), attribute)
        self.__dict__[attribute] = value
        return value


def module(name: str) -> Any:
    """A module, imported; JAX is told to run programs for the CPU in the thread that calls them.

    Left alone it hands each to another thread and we wait for that at once, since every step ends
    with a look at its flag: some 20 µs that a small step does not have. JAX takes the setting only
    until its first program runs.
    """
    if name.startswith("jax") and not PROCESS.told_jax:
        result = _whole("jax")
        PROCESS.told_jax = True
        if _ASYNC not in os.environ:
            result.config.update(_ASYNC.lower(), False)
    return importlib.import_module(name)


# Half of JAX, which is what an interrupt would leave, can never be imported again.
_whole = uninterrupted(importlib.import_module)


jax: Any = Lazy("jax")
lax: Any = Lazy("jax.lax")
jnp: Any = Lazy("jax.numpy")
linalg: Any = Lazy("jax.lax.linalg")
jax_linalg: Any = Lazy("jax.scipy.linalg")
jsp: Any = Lazy("jax.scipy.special")
special: Any = Lazy("scipy.special")
sparse: Any = Lazy("scipy.sparse")
scipy_linalg: Any = Lazy("scipy.linalg")
blas: Any = Lazy("scipy.linalg.blas")
lapack: Any = Lazy("scipy.linalg.lapack")
