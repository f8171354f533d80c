"""`map_fn` over the rows of ragged and sparse tensors, or with rows of several lengths as results.

Each result is taken apart into its flat values and its row lengths, which are collected row by
row and joined at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.composite.ragged_gather import gather
from wengert.composite.ragged_spec import RaggedTensorSpec
from wengert.composite.ragged_tensor import RaggedTensor
from wengert.composite.sparse_tensor import SparseTensor
from wengert.core import dtypes, nest
from wengert.core.apply import wrap
from wengert.core.convert import operand
from wengert.core.errors import invalid
from wengert.core.types import CompositeTensor, DType, IndexedSlices, Tensor, TensorSpec, TypeSpec
from wengert.functions.tensor_array import TensorArray
from wengert.functions.while_loop import while_loop
from wengert.graph.builder import building
from wengert.ops.cast import cast
from wengert.ops.compare import equal
from wengert.ops.create import range as numbers
from wengert.ops.dims import shape
from wengert.ops.indexing import boolean_mask
from wengert.ops.row_pieces import row_lengths


def is_ragged(elems: Tensor | tuple[CompositeTensor, Tensor] | RaggedTensor, wanted: Any) -> bool:
    """Whether rows come or go that differ in length."""
    given = any(isinstance(x, RaggedTensor | SparseTensor) for x in nest.flatten(elems))
    return given or any(isinstance(w, RaggedTensorSpec) for w in nest.flatten(wanted))


def map_ragged(
    fn: Callable[..., Any],
    elems: Tensor | tuple[CompositeTensor, Tensor] | RaggedTensor,
    wanted: Any,
) -> Tensor | RaggedTensor:
    """`map_fn`; what `fn` gives is of the kind of its rows, unless `wanted` says otherwise."""
    elems = nest.map_structure(
        lambda x: x if isinstance(x, RaggedTensor | SparseTensor) else operand(x), elems
    )
    wanted = nest.map_structure(_row_spec, elems) if wanted is None else wanted
    specs = [_spec(w) for w in nest.flatten(wanted)]
    first = nest.flatten(elems)[0]
    count = cast(_count(first), dtypes.int32)

    def turn(i: Tensor, *columns: Any) -> Any:
        result = fn(nest.map_structure(lambda x: _row(x, i), elems))
        nest.assert_same_structure(wanted, result)
        flat = zip(columns, nest.flatten(result), specs, strict=True)
        return i + 1, *[_written(column, i, x, s) for column, x, s in flat]

    start = [_empty(s, count) for s in specs]
    zero = wrap(np.zeros((), np.int32))
    _, *columns = while_loop(lambda i, *_: i < count, turn, (zero, *start))
    rows = first.shape[0]
    made = [_together(c, s, rows) for c, s in zip(columns, specs, strict=True)]
    return nest.pack_sequence_as(wanted, made)


def _count(x: Tensor | CompositeTensor) -> Any:
    if isinstance(x, SparseTensor):
        return x.dense_shape[0]
    return x.nrows() if isinstance(x, RaggedTensor) else shape(x)[0]


def _sparse_row(x: SparseTensor, i: Tensor) -> SparseTensor:
    here = equal(x.indices[:, 0], cast(i, dtypes.int64))
    result = SparseTensor(
        boolean_mask(x.indices[:, 1:], here), boolean_mask(x.values, here), x.dense_shape[1:]
    )
    result.set_shape(x.shape[1:])
    return result


def _row(x: Any, i: Tensor) -> Tensor | CompositeTensor:
    if isinstance(x, SparseTensor):
        return _sparse_row(x, i)
    if not isinstance(x, RaggedTensor) or building() is None:
        return x[i]
    splits = x.row_splits
    return gather(x.values, numbers(splits[i], splits[i + 1]))


def _row_spec(x: RaggedTensor) -> RaggedTensorSpec:
    if not isinstance(x, RaggedTensor):
        return TensorSpec(x.shape[1:], x.dtype)
    return RaggedTensorSpec(x.shape[1:], x.dtype, x.ragged_rank - 1, x.row_splits.dtype)


def _spec(wanted: RaggedTensorSpec | DType) -> TypeSpec:
    if isinstance(wanted, TensorSpec | RaggedTensorSpec):
        return wanted
    return TensorSpec(None, dtypes.as_dtype(wanted))


def _empty(spec: Any, count: Tensor | IndexedSlices) -> list[TensorArray]:
    """Arrays for one result: of its flat values, and of the lengths at each ragged axis."""
    uneven = isinstance(spec, RaggedTensorSpec)
    lengths = [_array(dtypes.int64, count, False) for _ in range(spec.ragged_rank if uneven else 0)]
    return [_array(spec.dtype, count, not uneven), *lengths]


def _array(dtype: DType, count: Any, even: bool) -> TensorArray:
    size = int(count) if building() is None else count
    return TensorArray(dtype, size, clear_after_read=False, infer_shape=even)


def _written(
    arrays: list[TensorArray], i: Tensor, x: Tensor | RaggedTensor, spec: TypeSpec
) -> list[TensorArray]:
    if not isinstance(spec, RaggedTensorSpec):
        return [arrays[0].write(i, x)]
    if not isinstance(x, RaggedTensor) and operand(x).shape.rank == 0:
        raise invalid(
            "map_fn", "the results must be rows, like those of the ragged tensor", x,
            help="Say what they are: fn_output_signature=tf.float32, or a tf.TensorSpec.",
        )  # fmt: skip
    parts = [x]
    if spec.ragged_rank:
        if not isinstance(x, RaggedTensor):
            x = RaggedTensor.from_tensor(x, ragged_rank=spec.ragged_rank)
        parts = [x.flat_values, *x.nested_row_lengths()]
    parts = [parts[0], *[cast(p, dtypes.int64) for p in parts[1:]]]
    return [a.write(i, p) for a, p in zip(arrays, parts, strict=True)]


def _together(arrays: list[TensorArray], spec: TypeSpec, rows: int | None) -> Tensor | RaggedTensor:
    if not isinstance(spec, RaggedTensorSpec):
        return _of_length(arrays[0].stack(), rows)
    # The outermost rows are as long as the first part that was cut by them.
    outer = _of_length(_lengths(arrays[1] if len(arrays) > 1 else arrays[0]), rows)
    inner = [_joined(a, dtypes.int64) for a in arrays[1:]]
    lengths = [cast(n, spec.row_splits_dtype) for n in (outer, *inner)]
    return RaggedTensor.from_nested_row_lengths(_joined(arrays[0], spec.dtype), lengths)


def _of_length(x: Tensor, rows: int | None) -> Tensor:
    """A tensor of a trace as one of so many rows, where their number is known."""
    if rows is not None and x.shape.rank and x.shape[0] is None:
        x.set_shape([rows, *[None] * (x.shape.rank - 1)])
    return x


def _joined(array: TensorArray, dtype: DType) -> Tensor:
    if building() is None and not array._list():
        return wrap(np.zeros(0, dtype.np))
    return array.concat()


def _lengths(array: TensorArray) -> Tensor:
    if building() is None:
        return wrap(np.asarray([x._array.shape[0] for x in array._list()], np.int64))
    return row_lengths(array._in_trace())
