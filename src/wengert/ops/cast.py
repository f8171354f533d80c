"""Changing element types."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.dtypes import DType
from wengert.core.errors import invalid_dtype
from wengert.core.indexed_slices import IndexedSlices
from wengert.core.lazy import lax
from wengert.core.op import Op, Spec


def _cast_kernel(x: np.ndarray, dtype: DType) -> np.ndarray:
    if x.dtype.kind == "c" and dtype.kind != "c":
        x = x.real
    if dtype.kind in "iu" and x.dtype.kind not in "iub":
        return _to_integer(x, dtype)
    return x.astype(dtype.np)


def _to_integer(x: np.ndarray, dtype: DType) -> np.ndarray:
    """Truncates; what is out of range goes to the nearest end, NaN to 0, on every machine."""
    info = np.iinfo(dtype.np)
    wide = x if x.dtype.kind == "f" and x.dtype.itemsize == 8 else x.astype(np.float64)
    wide = np.nan_to_num(np.trunc(wide), nan=0.0)
    high = wide >= float(info.max)
    low = wide <= float(info.min)
    out = np.where(high | low, 0.0, wide).astype(dtype.np)
    return np.where(high, info.max, np.where(low, info.min, out)).astype(dtype.np)


def _cast_grad(g: Any, x_dtype: DType) -> Any:
    return cast(g, x_dtype)


def _lower_cast(x: Any, dtype: DType, x_dtype: DType) -> Any:
    if x_dtype.is_complex and not dtype.is_complex:
        x = lax.real(x)
    if dtype.is_bool:
        return lax.ne(x, x.dtype.type(0))
    return lax.convert_element_type(x, dtype.np)


CAST = Op(
    "cast",
    "x",
    kernel=lambda x, dtype, x_dtype: _cast_kernel(x, dtype),
    infer=lambda x, dtype, x_dtype: Spec(x.shape, dtype),
    lower=_lower_cast,
    grad=_cast_grad,
    holomorphic=False,
    rows=True,
)


def cast(x: Any, dtype: Any, name: Any = None) -> Any:
    """Changes the dtype. Fractions are cut off; what an integer type cannot hold becomes its end."""
    wanted = dtypes.as_dtype(dtype)
    if isinstance(x, IndexedSlices):
        return IndexedSlices(cast(x.values, wanted), x.indices, x.dense_shape)
    x = operand(x)
    own = x.dtype
    if (own.kind == "s") != (wanted.kind == "s"):
        raise invalid_dtype(
            "cast",
            f"{own.name} does not convert to {wanted.name}",
            help="Use tf.strings.to_number or tf.strings.as_string.",
        )
    if own is wanted:
        from wengert.core.convert import to_tensor

        return to_tensor(x)
    return apply(CAST, x, dtype=wanted, x_dtype=own)
