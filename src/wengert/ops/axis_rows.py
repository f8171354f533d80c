"""A tensor as rows along one axis, for sums that grow one row at a time.

A loop that reads `x[i]` or `x[:, i]` adds to one row of the gradient of `x` in each turn. Dense,
that would cost the whole of `x` each time. To XLA, which adds in place, these are no operations.
"""

from __future__ import annotations

import numpy as np

from wengert.core.apply import apply
from wengert.core.types import Op, SymbolicTensor, Tensor
from wengert.ops.row_list import as_rows

AS_ROWS = Op(
    "as_rows",
    "x",
    kernel=as_rows,
    infer=lambda x, axis: x,
    lower=lambda x, axis: x,
    grad=lambda g, axis: apply(FROM_ROWS, g, axis=axis),
    folds=False,
    register=False,
    row_lists="makes",
)
FROM_ROWS = Op(
    "from_rows",
    "rows",
    kernel=lambda rows, axis: np.asarray(rows),
    infer=lambda rows, axis: rows,
    lower=lambda rows, axis: rows,
    grad=lambda g, axis: apply(AS_ROWS, g, axis=axis),
    folds=False,
    register=False,
)


def as_axis_rows(x: Tensor, axis: int) -> Tensor:
    """The rows of a tensor along an axis; only sums and slices along it may use them."""
    return apply(AS_ROWS, x, axis=axis)


def from_axis_rows(rows: SymbolicTensor, axis: int) -> Tensor:
    """A tensor from its rows along an axis."""
    return apply(FROM_ROWS, rows, axis=axis)
