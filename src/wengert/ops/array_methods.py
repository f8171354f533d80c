"""NumPy's array methods on tensors, so that what a NumPy function returns can be used as an array.

`np.argmax(logits, 1)` is a tensor here, and programs go on with `.astype(int)` or `.mean()`. Where
there is an operation of that meaning it is used, so tapes see it.
"""

from __future__ import annotations

import functools
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


def _attribute(self: Any, name: str) -> Any:
    if name == "numpy":
        return self._no_numpy()
    if name in _SAME_AS_FUNCTION:
        return functools.partial(getattr(np, name), self)
    if name in _METHODS:
        return functools.partial(_METHODS[name], self)
    if name in _PROPERTIES:
        return _PROPERTIES[name](self)
    raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


Tensor.__getattr__ = _attribute  # type: ignore[attr-defined]  # asked only for what is not there
