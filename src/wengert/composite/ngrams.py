"""Neighbouring words together, and strings joined by segment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.composite.ragged_convert import from_tensor
from wengert.composite.ragged_tensor import RaggedTensor, ragged
from wengert.composite.row_partition import RowPartition
from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand, to_tensor
from wengert.core.dims import is_open
from wengert.core.errors import invalid
from wengert.core.op import Op, ShapeDtype
from wengert.ops.declare import static_int, static_tuple
from wengert.ops.strings import static_int_or, static_str

if TYPE_CHECKING:
    from wengert.core.types import Tensor, TensorLike


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
) -> Tensor | RaggedTensor:
    """Words with their neighbours, `ngram_width` together, along the last axis.

    >>> tf.strings.ngrams(["a", "b", "c"], 2).numpy().tolist()
    [b'a b', b'b c']
    """
    widths = static_tuple("ngrams", ngram_width, "ngram_width")
    if not widths or min(widths) < 1:
        raise invalid("ngrams", f"`ngram_width` must be 1 or more; got {ngram_width}")
    most = static_int_or("ngrams", padding_width, "padding_width", -1)
    if padding_width is not None and most < 1:
        raise invalid("ngrams", f"`padding_width` must be 1 or more; got {most}")
    attrs: dict[str, Any] = {
        "widths": widths, "mark": _bytes("ngrams", separator, "separator"),
        "pads": None if pad_values is None else _pads(pad_values), "most": most,
        "short": bool(preserve_short_sequences),
    }  # fmt: skip
    if isinstance(data, RaggedTensor):
        return _along(data, attrs)
    x = operand(data, dtypes.string)
    if not x.shape.rank:
        raise invalid("ngrams", "the words must be a vector at least", x)
    if x.shape.rank == 1:
        splits = to_tensor([0, x._array.shape[0]], dtypes.int64)
        return apply(NGRAMS, x, splits, **attrs)[0]
    return _along(from_tensor(x, ragged_rank=x.shape.rank - 1), attrs).to_tensor()


def _bytes(name: str, value: Any, what: str, default: str | None = None) -> bytes:
    return static_str(name, value, what, default).encode(errors="surrogateescape")


def _pads(given: TensorLike) -> tuple[bytes, ...]:
    """What stands before and after a row."""
    pair = given if isinstance(given, list | tuple) else (given, given)
    if len(pair) != 2:
        raise invalid("ngrams", "`pad_values` is one string or two", given)
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
        if i >= count:
            raise invalid("unsorted_segment_join", f"segment {i} is outside [0, {count})")
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
    if not is_open(count) and count < 0:
        raise invalid(name, f"`num_segments` must not be negative; got {count}")
    mark = _bytes(name, separator, "separator", "")
    return apply(SEGMENT_JOIN, x, ids, count=count, mark=mark)
