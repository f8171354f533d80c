"""Products of matrices of which some are ragged: stacks of matrices of different sizes.

The matrices of a stack are filled up with zeros to one size and multiplied together; what the
filling added is cut off again. Zeros meet zeros only, since the rows on the left are as long as the
columns on the right, so infinities and NaN stay where they belong.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from wengert.composite.ragged_convert import from_tensor
from wengert.composite.ragged_factories import values_of
from wengert.composite.ragged_tensor import RaggedTensor, ragged
from wengert.composite.row_partition import RowPartition
from wengert.composite.rules import for_ragged
from wengert.composite.values import Requirement, demand, unequal
from wengert.ops import matmul as plain
from wengert.ops.declare import DType, DTypeLike, Tensor, TensorLike, require, require_dtype, tf

if TYPE_CHECKING:
    import numpy as np


_EVEN = Requirement(
    (lambda x, lengths, widths: lengths != widths, "the rows of a matrix must have one length")
)
_SAME_ROWS = Requirement((unequal, "the outer axes of both must have the same rows"))
_INNER = Requirement(
    (
        lambda x, widths, heights: widths.shape != heights.shape,
        lambda x, widths, heights: (
            f"there must be as many matrices on either side; got {len(widths)} and {len(heights)}"
        ),
    ),
    (unequal, lambda x, widths, heights: _first_misfit(widths, heights)),
)


@for_ragged(plain.matmul)
def matmul(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: DTypeLike | None = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor | RaggedTensor:
    """The product of matrices or stacks of them, each of its own size where they are ragged."""
    x, y = values_of(a), values_of(b)
    require_dtype(
        x.dtype is y.dtype, "matmul", "both must have one dtype", x, y, help="Use tf.cast."
    )
    ranks = {v.shape.rank for v in (x, y)} - {None}
    require(
        len(ranks) == 1 and min(ranks) >= 2,
        "matmul",
        "both must have the same rank, of 2 or more",
        x,
        y,
    )
    how = _How(bool(transpose_a), bool(transpose_b), bool(adjoint_a), bool(adjoint_b), output_type)
    return _product(x, y, how, ranks.pop())


class _How(NamedTuple):
    """What is done to the matrices before they are multiplied, and the type of the result."""

    transpose_a: bool
    transpose_b: bool
    adjoint_a: bool
    adjoint_b: bool
    output_type: Any

    def multiply(self, x: Tensor, y: Tensor) -> Tensor:
        return tf.matmul(x, y, **self._asdict())


def _product(
    x: Tensor | RaggedTensor, y: Tensor | RaggedTensor, how: _How, rank: int
) -> Tensor | RaggedTensor:
    if not (isinstance(x, RaggedTensor) or isinstance(y, RaggedTensor)):
        return how.multiply(x, y)
    if rank == 2:
        return how.multiply(_matrix(x), _matrix(y))
    if rank == 3:
        return _stacks(x, y, how)
    x, y = (v if isinstance(v, RaggedTensor) else from_tensor(v) for v in (x, y))
    values = demand("matmul", _SAME_ROWS, y.flat_values, x.row_splits, y.row_splits)
    return x.with_values(_product(x.values, y.with_flat_values(values).values, how, rank - 1))


def _matrix(x: Tensor | RaggedTensor) -> Tensor:
    """A matrix as a dense one; its rows must have one length."""
    if not isinstance(x, RaggedTensor):
        return x
    tensor = x.to_tensor()
    width = tf.shape(tensor, x._partition.dtype)[1]
    return demand("matmul", _EVEN, tensor, x.row_lengths(), width)


class _Stack(NamedTuple):
    """Matrices filled up to one size, how high and how wide each is, and what is static of that."""

    matrices: Any
    heights: Any
    widths: Any
    static: tuple[int | None, int | None]

    def turned(self, turn: bool) -> _Stack:
        """The sizes of the transposed matrices, which stay as they are."""
        if not turn:
            return self
        height, width = self.static
        return _Stack(self.matrices, self.widths, self.heights, (width, height))


def _stack(x: Tensor | RaggedTensor, kind: DType) -> _Stack:
    static = (x.shape[-2], x.shape[-1])
    if not isinstance(x, RaggedTensor):
        sizes = tf.shape(x, kind)
        return _Stack(x, tf.fill(sizes[:1], sizes[1]), tf.fill(sizes[:1], sizes[2]), static)
    x = x.with_row_splits_dtype(kind)
    heights, filled = x.row_lengths(), x.to_tensor()
    if not isinstance(x.values, RaggedTensor):
        width = tf.shape(x.values, kind)[1]
        return _Stack(filled, heights, tf.fill(tf.shape(heights), width), static)
    lengths, ids = x.values.row_lengths(), x.value_rowids()
    widths = tf.maximum(tf.unsorted_segment_max(lengths, ids, x.nrows()), kind.np.type(0))
    filled = demand("matmul", _EVEN, filled, lengths, tf.gather(widths, ids))
    return _Stack(filled, heights, widths, static)


def _stacks(x: Tensor | RaggedTensor, y: Any, how: _How) -> RaggedTensor:
    """The products of the matrices of two stacks, cut to their sizes."""
    require(
        x.shape[:1].is_compatible_with(y.shape[:1]),
        "matmul",
        "there must be as many matrices on either side",
        x,
        y,
    )
    kind = (x if isinstance(x, RaggedTensor) else y)._partition.dtype
    left = _stack(x, kind).turned(how.transpose_a or how.adjoint_a)
    flip = how.transpose_b or how.adjoint_b
    right = _stack(y, kind).turned(flip)
    filled = demand("matmul", _INNER, left.matrices, left.widths, right.heights)
    result = how.multiply(filled, right.matrices)
    uneven = isinstance(y, RaggedTensor) and (y.ragged_rank == 2 or flip)
    heights = tf.ensure_shape(left.heights, x.shape[:1].merge_with(y.shape[:1]))
    made = from_tensor(result, heights, row_splits_dtype=kind)
    rows, values = made._partition, made.values
    if uneven:
        columns = from_tensor(values, tf.gather(right.widths, rows.value_rowids()), None, 1, kind)
        values = ragged(columns.values, _even(columns._partition, right.static[1]))
    return ragged(values, _even(rows, left.static[0]))


def _even(rows: RowPartition, size: int | None) -> RowPartition:
    """Rows that are known to have one length, where they are."""
    return rows if size is None else RowPartition(rows.row_splits(), rows.row_lengths(), None, size)


def _first_misfit(widths: np.ndarray, heights: np.ndarray) -> str:
    at = int((widths != heights).argmax())
    return f"inner dimensions must agree; got {widths[at]} and {heights[at]} in matrix {at}"


@for_ragged(plain.matvec)
def matvec(
    a: TensorLike,
    b: TensorLike,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> TensorLike:
    """The product of matrices and vectors, of which some are ragged."""
    column = tf.expand_dims(values_of(b), -1)
    return tf.squeeze(tf.matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a), [-1])
