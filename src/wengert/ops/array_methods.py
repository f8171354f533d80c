"""NumPy's array methods on tensors, so that what a NumPy function returns can be used as an array.

`np.argmax(logits, 1)` is a tensor here, and programs go on with `.astype(int)` or `.mean()`. Where
there is an operation of that meaning it is used, so tapes see it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core.tensor import Tensor
from wengert.ops.declare import is_dynamic

_SAME_AS_FUNCTION = frozenset(
    [
        "all",
        "any",
        "argmax",
        "argmin",
        "argsort",
        "clip",
        "cumprod",
        "cumsum",
        "dot",
        "max",
        "mean",
        "min",
        "prod",
        "ravel",
        "repeat",
        "round",
        "squeeze",
        "std",
        "sum",
        "swapaxes",
        "var",
    ]
)


def _astype(self: Any, dtype: Any, copy: bool = True) -> Any:
    from wengert.core import dtypes
    from wengert.ops.cast import cast

    return cast(self, dtypes.int64 if dtype is int else dtypes.float64 if dtype is float else dtype)


def _reshape(self: Any, *shape: Any) -> Any:
    return np.reshape(self, shape[0] if len(shape) == 1 else shape)


def _transpose(self: Any, *axes: Any) -> Any:
    if not axes:
        return np.transpose(self)
    return np.transpose(self, axes[0] if len(axes) == 1 else axes)


_METHODS: dict[str, Callable[..., Any]] = {
    "astype": _astype,
    "reshape": _reshape,
    "transpose": _transpose,
    "flatten": lambda self: np.ravel(self),
    "conj": lambda self: np.conjugate(self),
    "copy": lambda self: np.copy(self) if is_dynamic(self) else self.numpy(),
    "tolist": lambda self: self._array.tolist(),
    "item": lambda self, *index: self._array.item(*index),
}
_PROPERTIES: dict[str, Callable[[Any], Any]] = {
    "T": lambda self: np.transpose(self),
    "size": lambda self: self._array.size,
    "nbytes": lambda self: self._array.nbytes,
    "itemsize": lambda self: self._array.dtype.itemsize,
}


def _same_as(name: str) -> Callable[..., Any]:
    """The function of that name as a method."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(np, name)(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


# Attributes of the class, not found by a `__getattr__`: if a class has that, Python reads every
# attribute of its objects three times more slowly.
for _name in _SAME_AS_FUNCTION:
    setattr(Tensor, _name, _same_as(_name))
for _name, _function in _METHODS.items():
    setattr(Tensor, _name, _function)
for _name, _function in _PROPERTIES.items():
    setattr(Tensor, _name, property(_function))
