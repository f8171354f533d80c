"""Tensors as bytes and back, as `TensorProto` messages. None of this compiles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import invalid
from wengert.core.types import DTypeLike, Op, ShapeDtype, Tensor, TensorLike
from wengert.io.files import one_string

_STRING = dtypes.nums("s")
# The field that holds single values, by dtype; those that are not named are in `int_val`.
_SINGLE_VALUES = {
    "float32": "float_val", "float64": "double_val", "float16": "half_val",
    "bfloat16": "half_val", "string": "string_val", "complex64": "scomplex_val",
    "complex128": "dcomplex_val", "int64": "int64_val", "bool": "bool_val",
    "uint32": "uint32_val", "uint64": "uint64_val",
}  # fmt: skip
# What the numbers of a field are views of, where they are not of the dtype itself.
_STORED_AS = {"half_val": np.uint16, "scomplex_val": np.float32, "dcomplex_val": np.float64}


def _serialize(x: np.ndarray, dtype: dtypes.DType) -> np.ndarray:
    from wengert.io.protobuf_messages import TensorProto

    shape = {"dim": [{"size": n} for n in x.shape]}
    message = TensorProto(dtype=dtype.as_datatype_enum, tensor_shape=shape)
    if dtype is dtypes.string:
        message.string_val.extend(x.reshape(-1))
    else:
        message.tensor_content = np.ascontiguousarray(x).tobytes()
    out = np.empty((), object)
    out[()] = message.SerializeToString()
    return out


SERIALIZE_TENSOR = Op(
    "serialize_tensor",
    "x",
    kernel=_serialize,
    infer=lambda x, dtype: ShapeDtype((), dtypes.string),
    lower=None,
    grad=None,
    register=False,
)


def serialize_tensor(tensor: TensorLike, name: str | None = None) -> Tensor:
    """A tensor as one string; `tf.io.parse_tensor` reads it.

    >>> text = tf.io.serialize_tensor([[1.0, 2.0]])
    >>> tf.io.parse_tensor(text, tf.float32).numpy().tolist()
    [[1.0, 2.0]]
    """
    x = operand(tensor)
    return apply(SERIALIZE_TENSOR, x, dtype=x.dtype)


def _parse(x: np.ndarray, dtype: dtypes.DType) -> np.ndarray:
    from google.protobuf.message import DecodeError

    from wengert.io.protobuf_messages import TensorProto

    data = one_string("parse_tensor", "serialized", x)
    try:
        message = TensorProto.FromString(data)
    except DecodeError as error:
        help = "Give what tf.io.serialize_tensor returned."
        words = f"the bytes are no tensor ({error})"
        raise invalid("parse_tensor", words, repr(data[:40]), help=help) from error
    if message.dtype != dtype.as_datatype_enum:
        known = {d.as_datatype_enum: d.name for d in dtypes.ALL}
        help = "Ask for the dtype in which it was written."
        words = f"the tensor is {known.get(message.dtype, 'of an unknown dtype')}, not {dtype.name}"
        raise invalid("parse_tensor", words, help=help)
    shape = [dim.size for dim in message.tensor_shape.dim]
    return _array(dtype, shape, message)


def _array(dtype: dtypes.DType, shape: list[int], message: Any) -> np.ndarray:
    size, content = math.prod(shape), message.tensor_content
    if content and dtype is not dtypes.string:
        if len(content) != size * dtype.np.itemsize:
            words = f"{len(content)} bytes are no {dtype.name}{shape}"
            raise invalid("parse_tensor", words, help="The data was cut or damaged.")
        return np.frombuffer(content, dtype.np).reshape(shape).copy()
    field = _SINGLE_VALUES.get(dtype.name, "int_val")
    values = list(getattr(message, field))
    if dtype is dtypes.string:
        result = np.empty(len(values), object)
        result[:] = values
    else:
        result = np.array(values, _STORED_AS.get(field, dtype.np)).view(dtype.np)
    if not result.size:
        return np.full(shape, b"" if dtype is dtypes.string else 0, result.dtype)
    # The last value stands for those that are left out.
    return np.pad(result, (0, size - result.size), "edge").reshape(shape)


PARSE_TENSOR = Op(
    "parse_tensor",
    "x",
    kernel=_parse,
    infer=lambda x, dtype: ShapeDtype(None, dtype),
    lower=None,
    grad=None,
    accepts=_STRING,
    register=False,
)


def parse_tensor(serialized: TensorLike, out_type: DTypeLike, name: str | None = None) -> Tensor:
    """The tensor that `tf.io.serialize_tensor` made a string of."""
    x = operand(serialized, dtypes.string)
    return apply(PARSE_TENSOR, x, dtype=dtypes.as_dtype(out_type))
