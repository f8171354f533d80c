"""Bytes as numbers, as base64 text, and compressed. None of this compiles."""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import invalid, invalid_dtype
from wengert.core.types import DTypeLike, Op, ShapeDtype, Tensor, TensorLike
from wengert.io.expansion import expanded
from wengert.io.tfrecord import compression
from wengert.ops.declare import static_int

if TYPE_CHECKING:
    from wengert.composite.ragged_tensor import RaggedTensor


_STRING = dtypes.nums("s")
_NUMBERS = tuple(
    d for d in dtypes.ALL if d not in (dtypes.string, dtypes.uint32, dtypes.uint64)
)  # what TensorFlow decodes
_BASE64 = re.compile(rb"[A-Za-z0-9_-]*={0,2}")


def _decode_raw(
    x: np.ndarray, dtype: dtypes.DType, little_endian: bool, length: int | None
) -> np.ndarray:
    texts = [bytes(t) for t in x.reshape(-1)]
    if length is not None:
        texts = [t[:length].ljust(length, b"\0") for t in texts]
    sizes = {len(t) for t in texts}
    if len(sizes) > 1:
        raise invalid(
            "decode_raw",
            f"all strings must have the same length; got lengths {sorted(sizes)}",
            help="Give `fixed_length` to cut and pad them.",
        )
    size = sizes.pop() if sizes else 0
    width = dtype.np.itemsize
    if size % width:
        raise invalid(
            "decode_raw",
            f"{size} bytes are not a whole number of {dtype.name} ({width} bytes)",
            help="Check `out_type`, or cut the bytes to a multiple of its size.",
        )
    flat = np.frombuffer(b"".join(texts), np.uint8)
    if not little_endian and not dtype.is_complex:
        flat = flat.reshape(-1, width)[:, ::-1]
    elif not little_endian:
        flat = flat.reshape(-1, 2, width // 2)[:, :, ::-1]
    return flat.reshape(-1).view(dtype.np).reshape(*x.shape, size // width).copy()


def _infer_raw(
    x: ShapeDtype, dtype: dtypes.DType, little_endian: bool, length: int | None
) -> ShapeDtype:
    count = None if length is None else length // dtype.np.itemsize
    return ShapeDtype(None if x.shape is None else (*x.shape, count), dtype)


DECODE_RAW = Op(
    "decode_raw", "x", kernel=_decode_raw, infer=_infer_raw, lower=None, grad=None, accepts=_STRING
)


def decode_raw(
    input_bytes: TensorLike,
    out_type: DTypeLike,
    little_endian: bool = True,
    fixed_length: int | None = None,
    name: str | None = None,
) -> Tensor:
    """The bytes of each string as numbers, along a new last axis.

    All strings must have the same length, unless `fixed_length` says to which one they are cut
    or padded with zeros.
    """
    dtype = dtypes.as_dtype(out_type)
    if dtype not in _NUMBERS:
        raise invalid_dtype(
            "decode_raw", f"`out_type` must be one of {', '.join(d.name for d in _NUMBERS)}; got "
            f"{dtype.name}",
        )  # fmt: skip
    width = dtype.np.itemsize
    if fixed_length is not None:
        fixed_length = static_int("decode_raw", fixed_length, "fixed_length")
    if fixed_length is not None and (fixed_length <= 0 or fixed_length % width):
        raise invalid(
            "decode_raw",
            f"`fixed_length` must be a positive multiple of {width}, the size of {dtype.name}; "
            f"got {fixed_length}",
        )
    x = operand(input_bytes, dtypes.string)
    return apply(DECODE_RAW, x, dtype=dtype, little_endian=little_endian, length=fixed_length)


def _each(function: Any, x: np.ndarray) -> np.ndarray:
    out = np.empty(x.shape, object)
    for i in np.ndindex(x.shape):
        out[i] = function(x[i])
    return out


def _of_strings(value: Any, change: Any) -> Tensor | RaggedTensor:
    """Strings changed one by one; those of a ragged tensor keep its rows."""
    if hasattr(value, "with_flat_values"):
        return value.with_flat_values(_of_strings(value.flat_values, change))
    return change(operand(value, dtypes.string))


def _encode(text: bytes, pad: bool) -> bytes:
    code = base64.urlsafe_b64encode(text)
    return code if pad else code.rstrip(b"=")


ENCODE_BASE64 = Op(
    "encode_base64",
    "x",
    kernel=lambda x, pad: _each(lambda t: _encode(t, pad), x),
    infer=lambda x, pad: x,
    lower=None,
    grad=None,
    accepts=_STRING,
)


def encode_base64(input: TensorLike, pad: bool = False, name: str | None = None) -> Any:
    """Each string in base64, in the alphabet that is safe in URLs."""
    return _of_strings(input, lambda x: apply(ENCODE_BASE64, x, pad=bool(pad)))


def _decode(text: bytes) -> bytes:
    bare = text.rstrip(b"=")
    padded = bare + b"=" * (-len(bare) % 4)
    # Padding may be left out, but not in part.
    if not _BASE64.fullmatch(text) or len(bare) % 4 == 1 or text not in (bare, padded):
        raise invalid("decode_base64", f"this is no base64 text for URLs; got {text!r}")
    try:
        return base64.urlsafe_b64decode(padded)
    except binascii.Error as error:
        raise invalid("decode_base64", f"{error}; got {text!r}") from error


DECODE_BASE64 = Op(
    "decode_base64",
    "x",
    kernel=lambda x: _each(_decode, x),
    infer=lambda x: x,
    lower=None,
    grad=None,
    accepts=_STRING,
)


def decode_base64(input: TensorLike, name: str | None = None) -> Any:
    """The bytes that base64 text encodes, with or without padding."""
    return _of_strings(input, lambda x: apply(DECODE_BASE64, x))


DECODE_COMPRESSED = Op(
    "decode_compressed",
    "x",
    kernel=lambda x, kind: (
        _each(lambda t: expanded("decode_compressed", t, kind), x) if kind else x
    ),
    infer=lambda x, kind: x,
    lower=None,
    grad=None,
    accepts=_STRING,
    register=False,
)


def decode_compressed(
    bytes: TensorLike, compression_type: str = "", name: str | None = None
) -> Any:
    """Each string, which was compressed by GZIP or ZLIB, as it was before.

    One that expands to more than a GiB, or the bytes in the environment variable
    `WENGERT_DECOMPRESSION_LIMIT`, is a `ResourceExhaustedError`.
    """
    kind = compression("decode_compressed", compression_type)
    return _of_strings(bytes, lambda x: apply(DECODE_COMPRESSED, x, kind=kind))
