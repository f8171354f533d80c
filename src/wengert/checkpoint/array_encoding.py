"""Arrays as safetensors keeps them, and back.

The format has no complex numbers and no strings. Complex numbers are kept as pairs along a last
axis of two; strings as bytes: the length of each in eight bytes, then all of them one after the
other. Which it was stands in the file's own table.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.dtypes import DType

# safetensors' names of the types that are kept as they are.
PLAIN = {
    "BOOL": dtypes.bool_, "I8": dtypes.int8, "I16": dtypes.int16, "I32": dtypes.int32,
    "I64": dtypes.int64, "U8": dtypes.uint8, "U16": dtypes.uint16, "U32": dtypes.uint32,
    "U64": dtypes.uint64, "F16": dtypes.float16, "BF16": dtypes.bfloat16, "F32": dtypes.float32,
    "F64": dtypes.float64,
}  # fmt: skip


def encode(array: np.ndarray) -> np.ndarray:
    """The array to keep, contiguous and of a type that safetensors has."""
    if array.dtype.kind == "O":
        return _strings_out(array)
    array = np.asarray(array, order="C")
    if array.dtype.kind == "c":
        return array.reshape(*array.shape, 1).view(dtypes.of(array).real_dtype.np)
    return array


def checksum(kept: np.ndarray) -> int:
    """The CRC-32 of an array's bytes."""
    data: Any = np.asarray(kept, order="C").reshape(-1).view(np.uint8)
    return zlib.crc32(data)


def stored(dtype: DType, shape: tuple[int, ...]) -> tuple[DType, tuple[int, ...] | None]:
    """Type and shape under which a value is kept; the shape of strings depends on them."""
    if dtype is dtypes.string:
        return dtypes.uint8, None
    if dtype.is_complex:
        return dtype.real_dtype, (*shape, 2)
    return dtype, shape


def decode(kept: np.ndarray, dtype: DType, shape: tuple[int, ...]) -> np.ndarray:
    """The value of an array that was kept; `ValueError` if it cannot be one."""
    if dtype is dtypes.string:
        return _strings_in(kept, shape)
    if dtype.is_complex:
        return np.asarray(kept, order="C").view(dtype.np).reshape(shape)
    return kept


def _strings_out(array: np.ndarray) -> np.ndarray:
    texts = [bytes(t) for t in array.reshape(-1)]
    lengths = np.array([len(t) for t in texts], "<u8").tobytes()
    return np.frombuffer(lengths + b"".join(texts), np.uint8)


def _strings_in(kept: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    count = int(np.prod(shape, dtype=object))
    data = kept.tobytes()
    if len(data) < 8 * count:
        raise ValueError("the lengths of its strings are missing")
    lengths: Any = np.frombuffer(data[: 8 * count], "<u8").tolist()
    if sum(lengths) != len(data) - 8 * count:
        raise ValueError("the lengths of its strings do not add up")
    out = np.empty(count, object)
    offset = 8 * count
    for i, length in enumerate(lengths):
        out[i] = data[offset : offset + length]
        offset += length
    return out.reshape(shape)
