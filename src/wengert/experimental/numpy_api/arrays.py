"""Arguments as tensors, and the dtype that several have together, by NumPy's rules.

A Python number is weak: it takes the dtype of a tensor beside it. Alone a whole number is int64 and
a fraction float64, or int32 and float32 under `prefer_float32`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.convert import to_tensor
from wengert.core.errors import at_site, describe
from wengert.core.process_settings import PROCESS
from wengert.core.types import DType, Tensor, Value
from wengert.ops import public as tf
from wengert.ops.cast import cast

_NARROW = {"int64": "int32", "float64": "float32", "complex128": "complex64"}


def default(kind: Any) -> np.dtype:
    """The dtype that numbers without one get, where NumPy would give them `kind`."""
    found = np.dtype(kind)
    if not PROCESS.prefers_float32:
        return found
    return np.dtype(_NARROW.get(found.name, found.name))


def dtype_of(kind: Any) -> np.dtype:
    """NumPy's dtype for one of ours, of NumPy's, or a name."""
    if isinstance(kind, DType):
        return kind.np
    if kind in (int, float, complex):
        return default(kind)
    return dtypes.as_dtype(np.dtype(kind) if isinstance(kind, type) else kind).np


def is_weak(value: Any) -> bool:
    """Whether a value is a Python number, which takes the dtype of its neighbours."""
    return isinstance(value, bool | int | float | complex)


def array(val: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """A tensor of numbers, arrays, tensors, or lists of them."""
    result = _tensor(val)
    if dtype is not None:
        result = astype(result, dtype)
    rank = result.shape.rank
    if ndmin and rank is not None and rank < ndmin:
        result = tf.reshape(result, tf.concat([[1] * (ndmin - rank), tf.shape(result)], 0))
    return result


def _tensor(val: Any) -> Tensor:
    if isinstance(val, Value):
        return to_tensor(val)
    if isinstance(val, list | tuple) and _has_tensors(val):
        parts = [_tensor(v) for v in val]
        kind = result_np(*val)
        return tf.stack([astype(p, kind) for p in parts])
    if isinstance(val, np.ndarray | np.generic):
        return to_tensor(val)
    found = np.asarray(val)
    if found.dtype == object:
        words = f"array: numbers, or lists of one length, are needed; got {describe(val)}"
        raise at_site(ValueError(f"{words}."))
    if found.dtype.kind in "US":
        return to_tensor(val)
    return to_tensor(found.astype(default(found.dtype)))


def _has_tensors(val: Any) -> bool:
    if isinstance(val, list | tuple):
        return any(_has_tensors(v) for v in val)
    return isinstance(val, Value)


def astype(x: Any, kind: Any) -> Tensor:
    """A tensor in another dtype; complex numbers lose their imaginary part."""
    wanted = dtypes.as_dtype(dtype_of(kind))
    return x if x.dtype is wanted else cast(x, wanted)


def result_np(*values: Any) -> np.dtype:
    """NumPy's dtype of what several arguments give together."""
    kinds: list[Any] = []
    for value in _leaves(values):
        if isinstance(value, Value):
            kinds.append(value.dtype.np)
        elif isinstance(value, DType):
            kinds.append(value.np)
        elif is_weak(value):
            kinds.append(value)
        elif isinstance(value, str | type | np.dtype):
            kinds.append(dtype_of(value))
        else:
            kinds.append(np.asarray(value).dtype)
    if all(is_weak(k) for k in kinds):
        return default(np.result_type(*[np.asarray(k) for k in kinds]))
    strong = [k for k in kinds if not is_weak(k)]
    found = np.result_type(*kinds)
    return found if found in strong else _least(found, strong)


def _least(found: np.dtype, strong: list[np.dtype]) -> np.dtype:
    """Under `prefer_float32` a promotion does not go beyond 32 bits if no argument does."""
    wide = any(k.itemsize >= 8 and k.kind in "fc" for k in strong)
    return found if wide else default(found)


def _leaves(values: Any) -> Any:
    results = []
    for value in values:
        if isinstance(value, list | tuple):
            results += _leaves(value)
        else:
            results.append(value)
    return results


def promoted(*values: Any) -> Any:
    """The arguments as tensors of the dtype that they have together."""
    if PROCESS.safe_promotion:
        _demand_safe(values)
    kind = result_np(*values)
    return [astype(array(v), kind) for v in values]


def _demand_safe(values: tuple[Any, ...]) -> None:
    """Raises where a tensor would lose numbers or be widened, in the safe mode."""
    strong = {v.dtype.np for v in values if isinstance(v, Value)}
    if len(strong) < 2:
        return
    kind = np.result_type(*strong)
    if any(kind == np.float64 and k.kind in "iu" for k in strong) or kind not in strong:
        names = " and ".join(sorted(k.name for k in strong))
        words = f"promotion of {names} is not safe"
        raise at_site(TypeError(f"{words}. Use tf.cast, or dtype_conversion_mode='all'."))


def inexact(x: Any) -> Tensor:
    """Numbers as fractions: whole ones in the default float."""
    x = array(x)
    if x.dtype.kind in "biu":
        return astype(x, default(np.float64))
    return x


def ranked(x: Any) -> int:
    """The number of axes, which must be known."""
    rank = array(x).shape.rank
    if rank is None:
        raise at_site(ValueError("tf.experimental.numpy: a tensor of known rank is needed."))
    return rank


def last_axis(axis: int | None, x: Any) -> int:
    """An axis counted from the front."""
    return ranked(x) - 1 if axis is None else axis % max(1, ranked(x))


def flat(x: Any) -> Tensor:
    """All numbers in a row."""
    return tf.reshape(x, [-1])
