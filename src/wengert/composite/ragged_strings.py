"""Strings and ragged tensors: splitting, which makes rows of different lengths, and joining."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.composite.ngrams import unsorted_segment_join
from wengert.composite.ragged_convert import from_tensor
from wengert.composite.ragged_map import aligned, map_flat_values
from wengert.composite.ragged_reduce import over_axes
from wengert.composite.ragged_tensor import RaggedTensor, ragged
from wengert.composite.row_partition import RowPartition
from wengert.composite.rules import for_ragged
from wengert.composite.values import of_rank
from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import to_tensor
from wengert.core.errors import invalid_dtype
from wengert.core.op import Op, ShapeDtype
from wengert.ops import public as tf
from wengert.ops import strings

if TYPE_CHECKING:
    from wengert.core.types import Axis, DType, Tensor, TensorLike


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
) -> Tensor | RaggedTensor:
    """The parts of each string between `sep`, or between runs of white space without it.

    One string gives a vector; a tensor of strings gives a ragged tensor of one rank more.

    >>> tf.strings.split(["a b", "c"]).to_list()
    [[b'a', b'b'], [b'c']]
    """
    mark = sep.encode() if isinstance(sep, str) else sep
    return parts_of("split", input, _between, mark or None, maxsplit)


def _between(text: bytes, mark: bytes | None, most: int) -> list[bytes]:
    return text.split(mark, most)


def bytes_split(input: TensorLike, name: str | None = None) -> Tensor | RaggedTensor:
    """Each string as its single bytes."""
    return parts_of("bytes_split", input, _bytes)


def _bytes(text: bytes) -> list[bytes]:
    return [text[i : i + 1] for i in range(len(text))]


def parts_of(name: str, value: Any, cut: Cut, *options: Any) -> Tensor | RaggedTensor:
    """What `cut` makes of each string, with one axis more."""
    x = value if isinstance(value, RaggedTensor) else to_tensor(value, None, dtypes.string)
    if x.dtype is not dtypes.string:
        raise invalid_dtype(name, "strings are needed", x)
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
