"""NumPy's array methods on tensors, and on the arrays that NumPy functions of tensors give.

`x.mean()` is `np.mean(x)`: an array or a NumPy scalar, which leads back to a tensor where a tape
follows, and a tensor in a trace. What other libraries' tensors have, or only variables, and these
have not, is refused with what to write.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import getattr_static
from typing import Any

import numpy as np

from wengert.core.sites import ipython
from wengert.ops.declare import Tensor, TensorLike, Value, Variable, at_site, executing_eagerly, tf
from wengert.ops.numpy_arrays import Linked, LinkedArray, answer, plain, written

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


def _astype(self: Tensor, dtype: type, *args: Any, **kwargs: Any) -> np.ndarray:
    from wengert.core import dtypes

    wanted = dtypes.int64 if dtype is int else dtypes.float64 if dtype is float else dtype

    def ours(x: TensorLike) -> Any:
        return tf.cast(x, wanted)

    if not executing_eagerly():
        return ours(self)
    kind = dtype.as_numpy_dtype if isinstance(dtype, dtypes.DType) else dtype
    return answer(_array(self).astype(kind, *args, **kwargs), ours, (self,), {})


def _array(self: Tensor) -> np.ndarray:
    return plain(self) if isinstance(self, Linked) else self.__array__()


def _reshape(self: Tensor, *shape: Any, **kwargs: Any) -> np.ndarray:
    return np.reshape(self, shape[0] if len(shape) == 1 else shape, **kwargs)


def _transpose(self: Tensor, *axes: int) -> np.ndarray:
    if not axes:
        return np.transpose(self)
    return np.transpose(self, axes[0] if len(axes) == 1 else axes)


def _flatten(self: Tensor, *order: Any) -> np.ndarray:
    flat = np.ravel(self, *order)
    return np.copy(flat) if executing_eagerly() else flat


_METHODS: dict[str, Callable[..., Any]] = {
    "astype": _astype,
    "reshape": _reshape,
    "transpose": _transpose,
    "flatten": _flatten,
    "conj": lambda self: np.conjugate(self),
    "copy": lambda self, *order: np.copy(self, *order),
}
_VALUES: dict[str, Callable[..., Any]] = {
    "tolist": lambda self: self._array.tolist(),
    "item": lambda self, *index: self._array.item(*index),
}
_SIZES: dict[str, Callable[[Any], Any]] = {
    "size": lambda self: self._array.size,
    "nbytes": lambda self: self._array.nbytes,
    "itemsize": lambda self: self._array.dtype.itemsize,
}
# Methods of arrays that write to them.
_WRITERS = ("byteswap", "fill", "partition", "put", "resize", "setfield", "sort")


_NEVER_CHANGE = (
    "Tensors never change, and `v = v - x` makes one of a variable; keep the tf.Variable."
)
_BY_TAPE = "Gradients come from tf.GradientTape: tape.gradient(target, sources)."
_ABSENT = {
    "assign": _NEVER_CHANGE,
    "assign_add": _NEVER_CHANGE,
    "assign_sub": _NEVER_CHANGE,
    "backward": _BY_TAPE,
    "grad": _BY_TAPE,
    "requires_grad": f"{_BY_TAPE} It follows variables, and what tape.watch was told.",
    "detach": "Use tf.stop_gradient(x), or x.numpy() for an array.",
    "view": "Use tf.reshape(x, shape).",
    "permute": "Use tf.transpose(x, order).",
    "unsqueeze": "Use tf.expand_dims(x, axis) or x[tf.newaxis].",
    "eval": "It has its value already: x.numpy().",
}


class _Absent:
    """An attribute that is not there, for `hasattr` too, and says what to write instead.

    An object may be given it all the same, as a slice of a variable in a trace is.
    """

    def __init__(self, kind: str, name: str, help: str) -> None:
        self._text = f"{kind!r} object has no attribute {name!r}. {help}"

    def __get__(self, holder: Value | None, kind: type | None = None) -> Any:
        raise at_site(AttributeError(self._text))


def _same_as(name: str) -> Callable[..., Any]:
    """The function of that name as a method."""

    def method(self: Tensor, *args: TensorLike, **kwargs: Any) -> np.generic | np.ndarray:
        return getattr(np, name)(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


def _writer(name: str) -> Callable[..., Any]:
    """A method that writes to the array, which ends its link."""

    def method(self: LinkedArray, *args: Any, **kwargs: Any) -> Any:
        written(self)
        return getattr(np.ndarray, name)(self, *args, **kwargs)

    method.__name__ = method.__qualname__ = name
    return method


def _part(name: str) -> property:
    """`real` or `imag` of an array with a link."""

    def write(self: LinkedArray, value: TensorLike) -> None:
        written(self)
        setattr(plain(self), name, value)

    return property(lambda self: getattr(np, name)(self), write)


# Attributes of the class, not found by a `__getattr__`: if a class has that, Python reads every
# attribute of its objects three times more slowly.
for _kind in (Tensor, Linked):
    for _name in _SAME_AS_FUNCTION:
        setattr(_kind, _name, _same_as(_name))
    for _name, _function in _METHODS.items():
        setattr(_kind, _name, _function)
    _kind.T = property(lambda self: np.transpose(self))  # type: ignore[union-attr]  # as the others
setattr(Linked, "conjugate", _METHODS["conj"])  # noqa: B010  # as the others
for _name in _WRITERS:
    setattr(LinkedArray, _name, _writer(_name))
for _name in ("real", "imag"):
    setattr(LinkedArray, _name, _part(_name))
for _name, _function in _VALUES.items():
    setattr(Tensor, _name, _function)
for _name, _function in _SIZES.items():
    setattr(Tensor, _name, property(_function))
for _name, _help in _ABSENT.items():
    setattr(Tensor, _name, _Absent("Tensor", _name, _help))
    if not hasattr(Variable, _name):
        setattr(Variable, _name, _Absent("Variable", _name, _help))


def _offered(self: Value) -> list[str]:
    """The attributes that are there, without those that only say what to write instead."""
    kind = type(self)
    return [
        n for n in object.__dir__(self) if not isinstance(getattr_static(kind, n, None), _Absent)
    ]


setattr(Value, "__dir__", _offered)  # noqa: B010  # as the others


def _offer_in_ipython() -> None:
    """Lets IPython offer what `dir` shows after a dot; by itself it asks the class, too."""
    if ipython() is not None:
        generics = import_module("IPython.utils.generics")
        generics.complete_object.register(Value, lambda value, names: dir(value))


_offer_in_ipython()
