"""Making tensors from nothing: constants, zeros, ones, ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import wrap
from wengert.core.convert import operand, to_array, to_tensor
from wengert.core.errors import invalid
from wengert.core.sites import caller
from wengert.core.tensor import Tensor
from wengert.ops.declare import static_tuple


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
    """A tensor with the given value; a scalar fills `shape`."""
    x = to_tensor(value, dtype)
    if shape is None:
        return x
    wanted = static_tuple("constant", shape)
    if x._array.shape == wanted:
        return x
    if x._array.size == 1:
        return wrap(np.full(wanted, x._array.reshape(())), caller())
    if x._array.size == int(np.prod(wanted)):
        return wrap(x._array.reshape(wanted), caller())
    raise invalid("constant", f"{x._array.size} values do not fill shape {list(wanted)}", x)


def zeros(shape: Any, dtype: Any = dtypes.float32, name: Any = None, layout: Any = None) -> Tensor:
    """A tensor of zeros (empty strings, False)."""
    kind = dtypes.as_dtype(dtype)
    fill: Any = b"" if kind is dtypes.string else 0
    return wrap(np.full(static_tuple("zeros", shape), fill, kind.np), caller())


def ones(shape: Any, dtype: Any = dtypes.float32, name: Any = None, layout: Any = None) -> Tensor:
    """A tensor of ones (True)."""
    kind = dtypes.as_dtype(dtype)
    return wrap(np.ones(static_tuple("ones", shape), kind.np), caller())


def zeros_like(input: Any, dtype: Any = None, name: Any = None, layout: Any = None) -> Tensor:
    """Zeros in the shape of another tensor."""
    x = operand(input)
    return zeros(x._array.shape, dtype or x.dtype)


def ones_like(input: Any, dtype: Any = None, name: Any = None, layout: Any = None) -> Tensor:
    """Ones in the shape of another tensor."""
    x = operand(input)
    return ones(x._array.shape, dtype or x.dtype)


__all__ = ["constant", "ones", "ones_like", "to_array", "zeros", "zeros_like"]
