"""Text in encodings: as characters, as code points, and from one encoding to another."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wengert.composite.ragged_factories import values_of
from wengert.composite.ragged_strings import parts_of
from wengert.composite.ragged_tensor import RaggedTensor, ragged
from wengert.composite.row_partition import RowPartition
from wengert.composite.values import int64_tensor, length
from wengert.ops.declare import (
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    dtypes,
    invalid,
    invalid_dtype,
    operand,
    require,
    require_dtype,
)

_STRING = dtypes.nums("s")
_CODECS = {
    "UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-16": "utf-16-be", "UTF-32-BE": "utf-32-be",
    "UTF-32": "utf-32-be", "US-ASCII": "ascii", "ISO-8859-1": "latin-1", "LATIN1": "latin-1",
}  # fmt: skip


def _codec(name: str, encoding: str | bytes) -> str:
    require_dtype(isinstance(encoding, str | bytes), name, "an encoding is a string", encoding)
    cached = _CODECS.get((encoding if isinstance(encoding, str) else encoding.decode()).upper())
    if cached is None:
        known = ", ".join(k for k in _CODECS if k != "LATIN1")
        raise invalid(name, f"the encodings are {known}; got {encoding!r}")
    return cached


class How(NamedTuple):
    """How bytes are read: for whom, in which encoding, and what becomes of what is no character."""

    name: str
    codec: str
    errors: str
    replacement: int
    no_controls: bool = False


def _read(data: bytes, how: How) -> list[tuple[str, int]]:
    """The characters, and the places in bytes where they begin."""
    results: list[tuple[str, int]] = []
    instead = [] if how.errors == "ignore" else [chr(how.replacement)]
    start = 0
    while start < len(data):
        end = after = len(data)
        try:
            text = data[start:].decode(how.codec)
        except UnicodeDecodeError as error:
            if how.errors == "strict":
                rule = f"the bytes are no {how.codec} text: {error.reason}"
                raise invalid(how.name, rule) from error
            end, after = start + error.start, start + error.end
            text = data[start:end].decode(how.codec)
        for c in text:
            replaced = how.no_controls and c < " "
            results += [(one, start) for one in (instead if replaced else c)]
            start += len(c.encode(how.codec))
        if end < after:
            results += [(one, end) for one in instead]
        start = after
    return results


def _text(data: bytes, how: How) -> str:
    if not how.no_controls:
        try:
            return data.decode(how.codec)
        except UnicodeDecodeError:
            pass  # read piece by piece
    return "".join([c for c, _ in _read(data, how)])


def _characters(data: bytes, how: How) -> list[bytes]:
    return [c.encode("utf-8", "surrogatepass") for c in _text(data, how)]


def _points(data: bytes, how: How) -> list[int]:
    return [ord(c) for c in _text(data, how)]


def _offsets(data: bytes, how: How) -> list[int]:
    return [place for _, place in _read(data, how)]


# What the parts are; see `parts_of`.
_points.dtype = dtypes.int32  # type: ignore[attr-defined]  # functions take attributes
_offsets.dtype = dtypes.int64  # type: ignore[attr-defined]  # functions take attributes


def _how(
    name: str, encoding: str, errors: str, replacement: int | str, no_controls: bool = False
) -> How:
    require(
        errors in ("strict", "replace", "ignore"),
        name,
        f"`errors` is 'strict', 'replace' or 'ignore'; got {errors!r}",
    )
    try:
        instead = int(replacement)
    except (TypeError, ValueError):
        rule = "`replacement_char` must be one whole number"
        raise invalid_dtype(name, rule, replacement) from None
    return How(name, _codec(name, encoding), errors, instead, bool(no_controls))


def unicode_split(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    name: str | None = None,
) -> Any:
    """Each string as its characters, in UTF-8.

    >>> tf.strings.unicode_split("né", "UTF-8").numpy().tolist()
    [b'n', b'\\xc3\\xa9']
    """
    how = _how("unicode_split", input_encoding, errors, replacement_char)
    return parts_of(how.name, input, _characters, how)


def unicode_split_with_offsets(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Each string as its characters, and the places in bytes where they begin."""
    how = _how("unicode_split_with_offsets", input_encoding, errors, replacement_char)
    return parts_of(how.name, input, _characters, how), parts_of(how.name, input, _offsets, how)


def unicode_decode(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """Each string as the numbers of its characters."""
    name = "unicode_decode"
    how = _how(name, input_encoding, errors, replacement_char, replace_control_characters)
    return parts_of(name, input, _points, how)


def unicode_decode_with_offsets(
    input: TensorLike,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> tuple[Any, Any]:
    """Each string as the numbers of its characters, and the places where they begin."""
    name = "unicode_decode_with_offsets"
    how = _how(name, input_encoding, errors, replacement_char, replace_control_characters)
    return parts_of(name, input, _points, how), parts_of(name, input, _offsets, how)


def _encode_kernel(points: np.ndarray, splits: np.ndarray, how: How) -> np.ndarray:
    out = np.empty(len(splits) - 1, object)
    for i, (a, b) in enumerate(zip(splits[:-1].tolist(), splits[1:].tolist(), strict=True)):
        out[i] = "".join(_valid(points[a:b].tolist(), how)).encode(how.codec, "replace")
    return out


def _valid(points: list[int], how: How) -> list[str]:
    out = []
    for p in points:
        if 0 <= p < 0xD800 or 0xE000 <= p < 0x110000:
            out.append(chr(p))
        elif how.errors == "strict":
            raise invalid("unicode_encode", f"{p} is no character of Unicode")
        elif how.errors == "replace":
            out.append(chr(how.replacement))
    return out


def _infer_encode(points: ShapeDtype, splits: ShapeDtype, how: How) -> ShapeDtype:
    rows = None if splits.shape is None else splits.shape[0]
    return ShapeDtype((None if rows is None else rows - 1,), dtypes.string)


ENCODE_UNICODE = Op(
    "unicode_encode", "points splits", kernel=_encode_kernel, infer=_infer_encode, lower=None,
    grad=None, match=(), register=False,
)  # fmt: skip


def unicode_encode(
    input: TensorLike,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    name: str | None = None,
) -> Any:
    """The numbers of characters along the last axis as strings."""
    how = _how("unicode_encode", output_encoding, errors, replacement_char)
    x = values_of(input) if isinstance(input, RaggedTensor) else operand(input, None, dtypes.int32)
    if not isinstance(x, RaggedTensor):
        require(
            x.shape.rank is not None,
            "unicode_encode",
            "the rank of the characters must be known",
            x,
        )
        require(x.shape.rank != 0, "unicode_encode", "the characters must be a vector at least", x)
        if x.shape.rank == 1:
            count = int64_tensor([length(x)])
            whole = ragged(x, RowPartition.from_row_lengths(count, validate=False))
            return _encoded(whole, how)[0]
        from wengert.composite.ragged_convert import from_tensor

        x = from_tensor(x, ragged_rank=x.shape.rank - 1)
        result = _encoded(x, how)
        return result.to_tensor() if isinstance(result, RaggedTensor) else result
    return _encoded(x, how)


def _encoded(x: RaggedTensor, how: How) -> Tensor | RaggedTensor:
    if isinstance(x.values, RaggedTensor):
        return x.with_values(_encoded(x.values, how))
    return apply(ENCODE_UNICODE, x.values, x.row_splits, how=how)


def _transcode_kernel(x: np.ndarray, how: How, codec: str) -> np.ndarray:
    out = np.empty(x.shape, object)
    for i in np.ndindex(x.shape):
        text: Any = x[i]
        out[i] = _text(text, how).encode(codec, "replace")
    return out


TRANSCODE = Op(
    "unicode_transcode", "x", kernel=_transcode_kernel, infer=lambda x, how, codec: x,
    lower=None, grad=None, accepts=_STRING, register=False,
)  # fmt: skip


def unicode_transcode(
    input: TensorLike,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False,
    name: str | None = None,
) -> Any:
    """Strings in another encoding."""
    name = "unicode_transcode"
    how = _how(name, input_encoding, errors, replacement_char, replace_control_characters)
    codec = _codec(name, output_encoding)
    if isinstance(input, RaggedTensor):
        flat = apply(TRANSCODE, input.flat_values, how=how, codec=codec)
        return input.with_flat_values(flat)
    return apply(TRANSCODE, operand(input, dtypes.string), how=how, codec=codec)
