"""Strings and ragged tensors: splitting into rows of different lengths, n-grams, joining."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from wengert.composite.ragged_convert import from_tensor
from wengert.composite.ragged_map import aligned, map_flat_values
from wengert.composite.ragged_reduce import over_axes
from wengert.composite.ragged_tensor import RaggedTensor, ragged
from wengert.composite.row_partition import RowPartition
from wengert.composite.rules import for_ragged
from wengert.composite.values import of_rank
from wengert.ops import strings
from wengert.ops.declare import (
    Axis,
    DType,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    dtypes,
    invalid,
    is_open,
    operand,
    require,
    require_dtype,
    static_int,
    static_tuple,
    tf,
    to_tensor,
)
from wengert.ops.strings import static_int_or, static_str

Cut = Callable[..., list[Any]]


def _parts_kernel(
    x: np.ndarray, cut: Cut, options: tuple[Any, ...], name: str
) -> tuple[np.ndarray, np.ndarray]:
    results = [cut(text, *options) for text in x.tolist()]
    lengths = np.array([len(f) for f in results], np.int64)
    return _flat([part for row in results for part in row], cut), lengths


def _infer_parts(
    x: ShapeDtype, cut: Cut, options: tuple[bytes | None, int], name: str
) -> tuple[ShapeDtype, ShapeDtype]:
    rows = None if x.shape is None else x.shape[0]
    return ShapeDtype((None,), _type(cut)), ShapeDtype((rows,), dtypes.int64)


# The parts of each string of a vector, one after the other, and how many there are of each.
STRING_PARTS = Op(
    "string_parts",
    "x",
    kernel=_parts_kernel,
    infer=_infer_parts,
    lower=None,
    grad=None,
    accepts=dtypes.nums("s"),
    outputs=2,
    register=False,
)


def split(
    input: TensorLike, sep: str | None = None, maxsplit: int = -1, name: str | None = None
) -> Any:
    """The parts of each string between `sep`, or between runs of white space without it.

    One string gives a vector; a tensor of strings gives a ragged tensor of one rank more.

    Args:
        input: a string, or a tensor of strings.
        sep: the separator.
        maxsplit: how many cuts at most; -1 is without limit.
        name: without effect.

    Returns:
        A vector, or a ragged tensor.

    Raises:
        ValueError: the rank is unknown.
        InvalidArgumentError: `input` holds no strings.

    >>> tf.strings.split(["a b", "c"]).to_list()
    [[b'a', b'b'], [b'c']]
    """
    mark = sep.encode() if isinstance(sep, str) else sep
    return parts_of("split", input, _between, mark or None, maxsplit)


def _between(text: bytes, mark: bytes | None, most: int) -> list[bytes]:
    return text.split(mark, most)


def bytes_split(input: TensorLike, name: str | None = None) -> Any:
    """Each string as its single bytes."""
    return parts_of("bytes_split", input, _single_bytes)


def _single_bytes(text: bytes) -> list[bytes]:
    return [text[i : i + 1] for i in range(len(text))]


def parts_of(name: str, value: Any, cut: Cut, *options: Any) -> Tensor | RaggedTensor:
    """What `cut` makes of each string, with one axis more."""
    x = value if isinstance(value, RaggedTensor) else to_tensor(value, None, dtypes.string)
    require_dtype(x.dtype is dtypes.string, name, "strings are needed", x)
    if isinstance(x, RaggedTensor):
        return x.with_flat_values(parts_of(name, x.flat_values, cut, *options))
    x = of_rank(x, 1)  # strings of unknown rank are taken for a vector
    if x.shape.rank > 1:
        rows = from_tensor(x, ragged_rank=x.shape.rank - 1)
        return rows.with_flat_values(parts_of(name, rows.flat_values, cut, *options))
    vector = x if x.shape.rank else tf.reshape(x, [1])
    flat, lengths = apply(STRING_PARTS, vector, cut=cut, options=options, name=name)
    if not x.shape.rank:
        return flat
    return ragged(flat, RowPartition.from_row_lengths(lengths, validate=False))


def _type(cut: Cut) -> DType:
    return getattr(cut, "dtype", dtypes.string)


def _flat(parts: list[Any], cut: Cut) -> np.ndarray:
    return _strings(parts) if _type(cut) is dtypes.string else np.array(parts, _type(cut).np)


def _strings(parts: list[bytes]) -> np.ndarray:
    made = np.empty(len(parts), object)
    made[:] = parts
    return made


@for_ragged(strings.JOIN)
def join(*texts: Any, separator: str) -> RaggedTensor | Tensor:
    """Strings put together element by element."""
    return map_flat_values(lambda *flat: tf.join(flat, separator), *aligned(texts))


@for_ragged(strings.reduce_join)
def reduce_join(
    inputs: Any,
    axis: Axis = None,
    keepdims: bool = False,
    separator: str = "",
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """The strings of each row put together; of everything without `axis`."""
    whole = partial(tf.reduce_join, separator=separator)
    by_segment = partial(unsorted_segment_join, separator=separator)
    return over_axes(whole, by_segment, inputs, axis, keepdims, "reduce_join")


def _kernel(
    x: np.ndarray, splits: np.ndarray, widths: tuple[int, ...], mark: bytes, pads: tuple[bytes, ...] | None,
    most: int, short: bool,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    results: list[bytes] = []
    lengths = []
    for a, b in zip(splits[:-1].tolist(), splits[1:].tolist(), strict=True):
        # TensorFlow pads empty rows, but not where no row has a word.
        row = _of_row(x[a:b].tolist(), widths, mark, pads, most, short) if x.size else []
        results += row
        lengths.append(len(row))
    flat = np.empty(len(results), object)
    flat[:] = results
    return flat, np.array(lengths, np.int64)


def _of_row(
    words: list[bytes],
    widths: tuple[int, ...],
    mark: bytes,
    pads: tuple[bytes, ...] | None,
    most: int,
    short: bool,
) -> list[bytes]:
    results = []
    for width in widths:
        room = 0 if pads is None else width - 1 if most < 0 else min(most, width - 1)
        padded = words if pads is None else [pads[0]] * room + words + [pads[1]] * room
        results += [mark.join(padded[i : i + width]) for i in range(len(padded) - width + 1)]
    if short and not results and words:
        # Without a `padding_width` a padded row is never too short.
        results = [
            mark.join(words if pads is None else [pads[0]] * most + words + [pads[1]] * most)
        ]
    return results


NGRAMS = Op(
    "string_ngrams", "x splits", kernel=_kernel,
    infer=lambda x, splits, **attrs: (ShapeDtype((None,), dtypes.string), ShapeDtype((None,), dtypes.int64)),
    lower=None, grad=None, outputs=2, match=(), register=False,
)  # fmt: skip


def ngrams(
    data: TensorLike,
    ngram_width: TensorLike,
    separator: str = " ",
    pad_values: TensorLike | None = None,
    padding_width: int | None = None,
    preserve_short_sequences: bool = False,
    name: str | None = None,
) -> Any:
    """Words with their neighbours, `ngram_width` together, along the last axis.

    >>> tf.strings.ngrams(["a", "b", "c"], 2).numpy().tolist()
    [b'a b', b'b c']
    """
    widths = static_tuple("ngrams", ngram_width, "ngram_width")
    require(
        widths and min(widths) >= 1, "ngrams", f"`ngram_width` must be 1 or more; got {ngram_width}"
    )
    most = static_int_or("ngrams", padding_width, "padding_width", -1)
    require(
        padding_width is None or most >= 1,
        "ngrams",
        f"`padding_width` must be 1 or more; got {most}",
    )
    attrs: dict[str, Any] = {
        "widths": widths, "mark": _bytes("ngrams", separator, "separator"),
        "pads": None if pad_values is None else _pads(pad_values), "most": most,
        "short": bool(preserve_short_sequences),
    }  # fmt: skip
    if isinstance(data, RaggedTensor):
        return _along(data, attrs)
    x = operand(data, dtypes.string)
    require(x.shape.rank, "ngrams", "the words must be a vector at least", x)
    if x.shape.rank == 1:
        splits = to_tensor([0, x._array.shape[0]], dtypes.int64)
        return apply(NGRAMS, x, splits, **attrs)[0]
    return _along(from_tensor(x, ragged_rank=x.shape.rank - 1), attrs).to_tensor()


def _bytes(name: str, value: Any, what: str, default: str | None = None) -> bytes:
    return static_str(name, value, what, default).encode(errors="surrogateescape")


def _pads(given: TensorLike) -> tuple[bytes, ...]:
    """What stands before and after a row."""
    pair = given if isinstance(given, list | tuple) else (given, given)
    require(len(pair) == 2, "ngrams", "`pad_values` is one string or two", given)
    return tuple(_bytes("ngrams", p, "pad_values") for p in pair)


def _along(x: RaggedTensor, attrs: dict[str, Any]) -> RaggedTensor:
    if isinstance(x.values, RaggedTensor):
        return x.with_values(_along(x.values, attrs))
    flat, lengths = apply(NGRAMS, x.values, x.row_splits, **attrs)
    return ragged(flat, RowPartition.from_row_lengths(lengths, validate=False))


def _join_kernel(x: np.ndarray, ids: np.ndarray, count: int, mark: bytes) -> np.ndarray:
    if count < 0:
        rule = f"`num_segments` must not be negative; got {count}"
        raise invalid("unsorted_segment_join", rule)
    rest = x.shape[ids.ndim :]
    rows: list[list[Any]] = [[] for _ in range(count)]
    for row, i in zip(x.reshape(ids.size, *rest), ids.reshape(-1).tolist(), strict=True):
        require(i < count, "unsorted_segment_join", f"segment {i} is outside [0, {count})")
        if i >= 0:
            rows[i].append(row)
    out = np.empty((count, *rest), object)
    for i in range(count):
        for place in np.ndindex(*rest):
            out[(i, *place)] = mark.join(r if not rest else r[place] for r in rows[i])
    return out


SEGMENT_JOIN = Op(
    "unsorted_segment_join", "x ids", kernel=_join_kernel,
    infer=lambda x, ids, count, mark: ShapeDtype(
        None if x.shape is None or ids.shape is None else (count, *x.shape[len(ids.shape) :]),
        dtypes.string,
    ),
    lower=None, grad=None, match=(), register=False,
)  # fmt: skip


def unsorted_segment_join(
    inputs: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike,
    separator: str = "",
    name: str | None = None,
) -> Tensor:
    """The strings of each segment, joined."""
    x, ids = operand(inputs, dtypes.string), operand(segment_ids)
    name = "unsorted_segment_join"
    count = static_int(name, num_segments, "num_segments")
    require(is_open(count) or count >= 0, name, f"`num_segments` must not be negative; got {count}")
    mark = _bytes(name, separator, "separator", "")
    return apply(SEGMENT_JOIN, x, ids, count=count, mark=mark)
