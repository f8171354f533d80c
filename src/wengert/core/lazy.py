"""Modules that are imported when first used, so that `import wengert` stays quick."""

from __future__ import annotations

import importlib
from typing import Any


class Lazy:
    """Stands for a module until an attribute of it is asked for."""

    def __init__(self, name: str) -> None:
        self.__dict__["_name"] = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(importlib.import_module(self._name), attribute)
        self.__dict__[attribute] = value
        return value


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
