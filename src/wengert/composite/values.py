"""What the composites share: reading a value that may be there already, and sizes of tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.composite import CompositeTensor
from wengert.core.convert import operand, to_tensor
from wengert.core.dtypes import DType
from wengert.core.errors import at_site, invalid_dtype
from wengert.core.spec import TensorSpec, TypeSpec
from wengert.core.tensor import Value
from wengert.ops.cast import cast
from wengert.ops.dims import expand_dims, shape
from wengert.ops.gather import gather
from wengert.ops.joining import stack


def known(x: Any) -> np.ndarray | None:
    """The array of a tensor; `None` inside a trace, where it has no value yet."""
    array = x._array
    return array if isinstance(array, np.ndarray) else None


def length(x: Any, axis: int = 0) -> Any:
    """The size of an axis: a number where it is known, else a tensor of int64."""
    size = x.shape[axis]
    return shape(x, dtypes.int64)[axis] if size is None else size


def int64_tensor(value: Any) -> Any:
    """Sizes or index tuples as int64; a list of scalar tensors is cast and stacked."""
    if isinstance(value, list | tuple) and any(isinstance(v, Value) for v in value):
        return stack([cast(operand(v, None, dtypes.int64), dtypes.int64) for v in value])
    return to_tensor(value, dtypes.int64)


def pick(x: Any, rows: Any) -> Any:
    """Rows of a tensor by number; unlike `gather`, its gradient is a dense tensor."""
    return gather(expand_dims(x, 0), rows, axis=1)[0]


def index_tensor(name: str, value: Any, dtype: Any = None, hint: Any = None) -> Any:
    """Row positions as an int32 or int64 tensor: int64 unless they come as int32."""
    wanted: DType | None = None if dtype is None else dtypes.as_dtype(dtype)
    if wanted is None and isinstance(value, np.ndarray):
        wanted = dtypes.int32 if value.dtype == np.int32 else dtypes.int64
    if wanted is not None and isinstance(value, Value) and value.dtype.is_integer:
        tensor = cast(value, wanted)
    else:
        tensor = to_tensor(value, wanted, hint or dtypes.int64)
    if tensor.dtype not in (dtypes.int32, dtypes.int64):
        raise invalid_dtype(name, "row positions must be int32 or int64", tensor)
    return tensor


def tensor_or_composite(value: Any) -> Any:
    """A composite as it is, anything else as a tensor."""
    return value if isinstance(value, CompositeTensor) else to_tensor(value)


def type_spec_from_value(value: Any) -> Any:
    """The type of a tensor, of a composite, or of what becomes a tensor."""
    if isinstance(value, CompositeTensor):
        return value._type_spec
    if isinstance(value, TypeSpec):
        raise at_site(TypeError(f"type_spec_from_value: {value} is a type itself."))
    if not isinstance(value, Value):
        value = to_tensor(value)
    return TensorSpec(value.shape, value.dtype)
