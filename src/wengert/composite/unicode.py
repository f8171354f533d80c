"""Text in encodings: as characters, as code points, and from one encoding to another."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.composite.ragged_factories import values_of
from wengert.composite.ragged_strings import parts_of
from wengert.composite.ragged_tensor import RaggedTensor, ragged
from wengert.composite.row_partition import RowPartition
from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand, to_tensor
from wengert.core.errors import at_site, invalid
from wengert.core.op import Op, Spec

_STRING = dtypes.nums("s")
_CODECS = {
    "UTF-8": "utf-8", "UTF-16-BE": "utf-16-be", "UTF-16": "utf-16-be", "UTF-32-BE": "utf-32-be",
    "UTF-32": "utf-32-be", "US-ASCII": "ascii", "ISO-8859-1": "latin-1", "LATIN1": "latin-1",
}  # fmt: skip


def _codec(name: str, encoding: str) -> str:
    found = _CODECS.get(str(encoding).upper())
    if found is None:
        known = ", ".join(k for k in _CODECS if k != "LATIN1")
        raise invalid(name, f"the encodings are {known}; got {encoding!r}")
    return found


def _text(data: bytes, name: str, codec: str, errors: str, replacement: int) -> str:
    if errors == "strict":
        try:
            return data.decode(codec)
        except UnicodeDecodeError as error:
            raise invalid(name, f"the bytes are no {codec} text: {error.reason}") from error
    text = data.decode(codec, errors)
    return text if replacement == 0xFFFD else text.replace("\ufffd", chr(replacement))


def _characters(data: bytes, *options: Any) -> list[bytes]:
    return [c.encode("utf-8", "surrogatepass") for c in _text(data, *options)]


def _points(data: bytes, *options: Any) -> list[int]:
    return [ord(c) for c in _text(data, *options)]


def _offsets(data: bytes, name: str, codec: str, errors: str, replacement: int) -> list[int]:
    sizes = [len(c.encode(codec, "replace")) for c in _text(data, name, codec, errors, 0xFFFD)]
    return np.concatenate([[0], np.cumsum(sizes)])[: len(sizes)].astype(int).tolist()


_points.dtype = dtypes.int32  # type: ignore[attr-defined]  # what the parts are, see `parts_of`
_offsets.dtype = dtypes.int64  # type: ignore[attr-defined]


def _options(name: str, encoding: str, errors: str, replacement: Any) -> tuple[Any, ...]:
    if errors not in ("strict", "replace", "ignore"):
        raise at_site(
            ValueError(f"{name}: `errors` is 'strict', 'replace' or 'ignore'; got {errors!r}.")
        )
    return name, _codec(name, encoding), errors, int(replacement)


def unicode_split(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    name: Any = None,
) -> Any:
    """Each string as its characters, in UTF-8.

    >>> tf.strings.unicode_split("né", "UTF-8").numpy().tolist()
    [b'n', b'\\xc3\\xa9']
    """
    options = _options("unicode_split", input_encoding, errors, replacement_char)
    return parts_of("unicode_split", input, _characters, *options)


def unicode_split_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    name: Any = None,
) -> tuple[Any, Any]:
    """Each string as its characters, and the places in bytes where they begin."""
    options = _options("unicode_split_with_offsets", input_encoding, errors, replacement_char)
    found = unicode_split(input, input_encoding, errors, replacement_char)
    return found, parts_of("unicode_split_with_offsets", input, _offsets, *options)


def unicode_decode(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False,
    name: Any = None,
) -> Any:
    """Each string as the numbers of its characters."""
    options = _options("unicode_decode", input_encoding, errors, replacement_char)
    return parts_of("unicode_decode", input, _points, *options)


def unicode_decode_with_offsets(
    input: Any,
    input_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False,
    name: Any = None,
) -> tuple[Any, Any]:
    """Each string as the numbers of its characters, and the places where they begin."""
    options = _options("unicode_decode_with_offsets", input_encoding, errors, replacement_char)
    found = unicode_decode(input, input_encoding, errors, replacement_char)
    return found, parts_of("unicode_decode_with_offsets", input, _offsets, *options)


def _encode_kernel(
    points: np.ndarray, splits: np.ndarray, codec: str, errors: str, sub: int
) -> Any:
    out = np.empty(len(splits) - 1, object)
    for i, (a, b) in enumerate(zip(splits[:-1].tolist(), splits[1:].tolist(), strict=True)):
        out[i] = "".join(_valid(points[a:b].tolist(), errors, sub)).encode(codec, "replace")
    return out


def _valid(points: list[int], errors: str, sub: int) -> list[str]:
    out = []
    for p in points:
        if 0 <= p < 0xD800 or 0xE000 <= p < 0x110000:
            out.append(chr(p))
        elif errors == "strict":
            raise invalid("unicode_encode", f"{p} is no character of Unicode")
        elif errors == "replace":
            out.append(chr(sub))
    return out


def _infer_encode(points: Spec, splits: Spec, codec: str, errors: str, sub: int) -> Spec:
    rows = None if splits.shape is None else splits.shape[0]
    return Spec((None if rows is None else rows - 1,), dtypes.string)


ENCODE_UNICODE = Op(
    "unicode_encode", "points splits", kernel=_encode_kernel, infer=_infer_encode, lower=None,
    grad=None, match=(), register=False,
)  # fmt: skip


def unicode_encode(
    input: Any,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    name: Any = None,
) -> Any:
    """The numbers of characters along the last axis as strings."""
    _, codec, errors, sub = _options("unicode_encode", output_encoding, errors, replacement_char)
    x = values_of(input) if isinstance(input, RaggedTensor) else operand(input, None, dtypes.int32)
    if not isinstance(x, RaggedTensor):
        if x.shape.rank == 0:
            raise invalid("unicode_encode", "the characters must be a vector at least", x)
        if x.shape.rank == 1:
            whole = ragged(x, RowPartition.from_row_lengths(to_tensor([len(x)], dtypes.int64)))
            return _encoded(whole, codec, errors, sub)[0]
        from wengert.composite.ragged_convert import from_tensor

        x = from_tensor(x, ragged_rank=x.shape.rank - 1)
        found = _encoded(x, codec, errors, sub)
        return found.to_tensor() if isinstance(found, RaggedTensor) else found
    return _encoded(x, codec, errors, sub)


def _encoded(x: RaggedTensor, codec: str, errors: str, sub: int) -> Any:
    if isinstance(x.values, RaggedTensor):
        return x.with_values(_encoded(x.values, codec, errors, sub))
    return apply(ENCODE_UNICODE, x.values, x.row_splits, codec=codec, errors=errors, sub=sub)


def _transcode_kernel(x: np.ndarray, options: Any, codec: str) -> np.ndarray:
    out = np.empty(x.shape, object)
    for i in np.ndindex(x.shape):
        text: Any = x[i]
        out[i] = _text(text, *options).encode(codec, "replace")
    return out


TRANSCODE = Op(
    "unicode_transcode", "x", kernel=_transcode_kernel, infer=lambda x, options, codec: x,
    lower=None, grad=None, accepts=_STRING, register=False,
)  # fmt: skip


def unicode_transcode(
    input: Any,
    input_encoding: str,
    output_encoding: str,
    errors: str = "replace",
    replacement_char: int = 0xFFFD,
    replace_control_characters: bool = False,
    name: Any = None,
) -> Any:
    """Strings in another encoding."""
    options = _options("unicode_transcode", input_encoding, errors, replacement_char)
    codec = _codec("unicode_transcode", output_encoding)
    if isinstance(input, RaggedTensor):
        flat = apply(TRANSCODE, input.flat_values, options=options, codec=codec)
        return input.with_flat_values(flat)
    return apply(TRANSCODE, operand(input, dtypes.string), options=options, codec=codec)
