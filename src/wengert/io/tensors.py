"""Tensors as bytes and back, as `TensorProto` messages. None of this compiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import invalid
from wengert.core.op import Op, ShapeDtype
from wengert.io import protobuf_wire

if TYPE_CHECKING:
    from wengert.core.types import DTypeLike, Tensor, TensorLike


_STRING = dtypes.nums("s")
# The fields of a TensorProto, and those that hold single values by the kind of their dtype.
_DTYPE, _SHAPE, _CONTENT, _STRINGS = 1, 2, 4, 8
_FLOATS, _DOUBLES, _COMPLEX, _DOUBLE_COMPLEX, _HALVES = 5, 6, 9, 12, 13
_WHOLE = {7, 10, 11, 16, 17}


def _serialize(x: np.ndarray, dtype: dtypes.DType) -> np.ndarray:
    sizes = b"".join(
        protobuf_wire.field(2, protobuf_wire.number_field(1, n) if n else b"") for n in x.shape
    )
    data = protobuf_wire.number_field(_DTYPE, dtype.as_datatype_enum) + protobuf_wire.field(
        _SHAPE, sizes
    )
    if dtype is dtypes.string:
        data += b"".join(protobuf_wire.field(_STRINGS, text) for text in x.reshape(-1))
    elif x.size:
        data += protobuf_wire.field(_CONTENT, np.ascontiguousarray(x).tobytes())
    out = np.empty((), object)
    out[()] = data
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
    if x.ndim:
        raise invalid(
            "parse_tensor", "`serialized` must be one string", ShapeDtype(x.shape, dtypes.string)
        )
    data: Any = x[()]
    try:
        number, shape, content, values = _parts(data)
    except protobuf_wire.DecodeError as error:
        help = "Give what tf.io.serialize_tensor returned."
        words = f"the bytes are no tensor ({error})"
        raise invalid("parse_tensor", words, repr(data[:40]), help=help) from error
    if number != dtype.as_datatype_enum:
        known = {d.as_datatype_enum: d.name for d in dtypes.ALL}
        help = "Ask for the dtype in which it was written."
        words = f"the tensor is {known.get(number, 'of an unknown dtype')}, not {dtype.name}"
        raise invalid("parse_tensor", words, help=help)
    return _filled(dtype, shape, content, values)


def _parts(data: bytes) -> tuple[int, list[int], bytes, list[Any]]:
    """Dtype, shape, bytes and single values of a message."""
    number, content, shape, values = 0, b"", [], []
    for place, kind, part in protobuf_wire.fields(data):
        if place in (_DTYPE, _SHAPE, _CONTENT) and kind != (
            protobuf_wire.VARINT if place == _DTYPE else protobuf_wire.BYTES
        ):
            continue
        if place == _DTYPE:
            number = part
        elif place == _SHAPE:
            for inner, size in protobuf_wire.parts(part):
                if inner == 2:
                    table = {
                        n: v for n, k, v in protobuf_wire.fields(size) if k == protobuf_wire.VARINT
                    }
                    shape.append(protobuf_wire.signed(table.get(1, 0)))
        elif place == _CONTENT:
            content = part
        else:
            values += _singles(place, kind, part)
    return number, shape, content, values


def _singles(place: int, kind: int, part: bytes) -> list[Any]:
    if place == _STRINGS:
        return protobuf_wire.texts(kind, part)
    if place == _FLOATS:
        return protobuf_wire.floats(kind, part)
    if place in (_DOUBLES, _COMPLEX, _DOUBLE_COMPLEX) and kind == protobuf_wire.VARINT:
        return []
    if place == _DOUBLES:
        return np.frombuffer(part, "<f8").tolist()
    if place == _COMPLEX:
        return np.frombuffer(part, "<c8").tolist()
    if place == _DOUBLE_COMPLEX:
        return np.frombuffer(part, "<c16").tolist()
    return protobuf_wire.int64s(kind, part) if place in _WHOLE or place == _HALVES else []


def _filled(
    dtype: dtypes.DType, shape: list[int], content: bytes, values: list[bytes | float]
) -> np.ndarray:
    size = int(np.prod(shape))
    if dtype is dtypes.string:
        out = np.empty(size, object)
        out[:] = values + [values[-1] if values else b""] * (size - len(values))
        return out.reshape(shape)
    if content:
        if len(content) != size * dtype.np.itemsize:
            words = f"{len(content)} bytes are no {dtype.name}{shape}"
            raise invalid("parse_tensor", words, help="The data was cut or damaged.")
        return np.frombuffer(content, dtype.np).reshape(shape).copy()
    if dtype in (dtypes.float16, dtypes.bfloat16):
        result = np.array(values, np.uint16).view(dtype.np)
    else:
        result = np.array(values).astype(dtype.np)
    if not result.size:
        return np.zeros(shape, dtype.np)
    last = np.full(size - result.size, result[-1], dtype.np)  # the last value stands for the rest
    return np.concatenate([result, last]).reshape(shape)


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
