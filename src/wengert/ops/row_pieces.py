"""Buffers whose rows have several lengths: joined along their first axis, and cut again."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.declare import (
    Op,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    apply,
    dtypes,
    invalid,
    lax,
    must_be_fixed,
    require,
)
from wengert.ops.row_list import Rows, as_rows, extent
from wengert.ops.rows import Blank


def _lengths_kernel(buffer: np.ndarray | Rows) -> np.ndarray:
    if not isinstance(buffer, Rows) and buffer.dtype != object:
        return np.full(len(buffer), buffer.shape[1] if buffer.ndim > 1 else -1, np.int64)
    results = [x.shape[0] if x.shape else -1 for x in as_rows(buffer).filled()]
    return np.asarray(results, np.int64)


def _lower_lengths(buffer: Any) -> Any:
    must_be_fixed(not isinstance(buffer, Blank), "a TensorArray is joined that nobody has written")
    return np.full(buffer.shape[0], buffer.shape[1] if len(buffer.shape) > 1 else -1, np.int64)


ROW_LENGTHS = Op(
    "row_lengths",
    "buffer",
    kernel=_lengths_kernel,
    infer=lambda buffer: ShapeDtype(
        (None if buffer.shape is None else buffer.shape[0],), dtypes.int64
    ),
    lower=_lower_lengths,
    grad=None,
    folds=False,
    register=False,
    row_lists="takes",
)


def _join_kernel(buffer: np.ndarray | Rows, lengths: np.ndarray) -> np.ndarray:
    rows = as_rows(buffer)
    require(
        not (lengths < 0).any(),
        "TensorArray.concat",
        "the elements must have an axis to join them along",
        help="Use stack().",
    )
    rest = (rows.row or ())[1:]
    pieces = [
        np.zeros((int(n), *rest), rows.dtype) if x is None else x
        for x, n in zip(rows.items, lengths, strict=True)
    ]
    if not pieces:
        return np.zeros((0, *rest), rows.dtype)
    try:
        return np.concatenate(pieces)
    except ValueError:
        shapes = " and ".join(sorted({str(list(p.shape)) for p in pieces})[:2])
        rule = f"the elements may differ in their first size only; there are {shapes}"
        raise invalid("TensorArray.concat", rule) from None


def _infer_join(buffer: ShapeDtype, lengths: ShapeDtype) -> ShapeDtype:
    shape = buffer.shape
    if shape is None:
        return ShapeDtype(None, buffer.dtype)
    require(
        len(shape) != 1,
        "TensorArray.concat",
        "the elements must have an axis to join them along",
        help="Use stack().",
    )
    count, length = shape[:2]
    total = None if count is None or length is None else count * length
    return ShapeDtype((total, *shape[2:]), buffer.dtype)


def _even(lengths: Any) -> int:
    must_be_fixed(
        isinstance(lengths, np.ndarray) and len(set(lengths.tolist())) <= 1,
        "the elements of a TensorArray have different lengths",
    )
    return int(lengths[0]) if len(lengths) else 0


def _lower_join(buffer: Any, lengths: Any) -> Any:
    _even(lengths)
    shape = buffer.shape
    return lax.reshape(buffer, (shape[0] * shape[1], *shape[2:]))


JOIN_ROWS = Op(
    "join_rows",
    "buffer lengths",
    kernel=_join_kernel,
    infer=_infer_join,
    lower=_lower_join,
    grad=(lambda g, buffer: apply(CUT_ROWS, g, row_lengths(extent(buffer)), piece=None), None),
    match=(),
    folds=False,
    register=False,
    row_lists="takes",
)


def row_lengths(buffer: SymbolicTensor | Tensor) -> Tensor:
    """The first size of each row."""
    return apply(ROW_LENGTHS, buffer)


def _cut_kernel(x: np.ndarray, lengths: np.ndarray, piece: int | None) -> Rows:
    require(
        not (lengths < 0).any() and lengths.sum() == len(x),
        "TensorArray.split",
        lambda: f"the lengths must add up to the {len(x)} rows of `value`; got {lengths.tolist()}",
    )
    ends = np.cumsum(lengths).tolist()
    rows = [x[a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True)]
    even = len(set(lengths.tolist())) <= 1
    return Rows(rows, x.dtype, rows[0].shape if rows else None, even)


def _lower_cut(x: Any, lengths: Any, piece: int | None) -> Any:
    size = _even(lengths)
    require(
        size * len(lengths) == x.shape[0],
        "TensorArray.split",
        lambda: f"the lengths must add up to {x.shape[0]}",
    )
    return lax.reshape(x, (len(lengths), size, *x.shape[1:]))


def _infer_cut(x: ShapeDtype, lengths: ShapeDtype, piece: int | None) -> ShapeDtype:
    if x.shape is None:
        return ShapeDtype(None, x.dtype)
    count = None if lengths.shape is None else lengths.shape[0]
    return ShapeDtype((count, piece, *x.shape[1:]), x.dtype)


CUT_ROWS = Op(
    "cut_rows",
    "x lengths",
    kernel=_cut_kernel,
    infer=_infer_cut,
    lower=_lower_cut,
    grad=(lambda g, lengths: apply(JOIN_ROWS, g, lengths), None),
    match=(),
    folds=False,
    register=False,
    row_lists="makes",
)
