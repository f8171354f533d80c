"""Picking rows by index, and the row-sparse gradients that come of it."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import Hooks, operand
from wengert.core.errors import InvalidIndexError, invalid
from wengert.core.indexed_slices import IndexedSlices
from wengert.core.lazy import jnp
from wengert.core.op import Op, Spec
from wengert.core.shapes import check_axis
from wengert.ops.declare import static


def _check(name: str, indices: np.ndarray, size: int) -> None:
    if indices.size and (indices.min() < 0 or indices.max() >= size):
        bad = indices[(indices < 0) | (indices >= size)].flat[0]
        raise invalid(
            name, f"index {bad} is outside [0, {size})", kind=InvalidIndexError,
            help="Indices count from 0; negative ones are not allowed here.",
        )  # fmt: skip


def _gather_kernel(x: np.ndarray, i: np.ndarray, axis: int, batch_dims: int) -> np.ndarray:
    _check("gather", i, x.shape[axis])
    if not batch_dims:
        return np.take(x, i, axis)
    batch = i.shape[:batch_dims]
    grid = np.ogrid[tuple(slice(0, d) for d in batch)]
    picks = tuple(g.reshape(g.shape + (1,) * (i.ndim - batch_dims)) for g in grid)
    front = np.moveaxis(x, axis, batch_dims)[(*picks, i)]
    inner = i.ndim - batch_dims
    return np.moveaxis(
        front, range(batch_dims, i.ndim), range(axis, axis + inner)
    )


def _infer_gather(x: Spec, i: Spec, axis: int, batch_dims: int) -> Spec:
    if x.shape is None or i.shape is None:
        return Spec(None, x.dtype)
    return Spec((*x.shape[:axis], *i.shape[batch_dims:], *x.shape[axis + 1 :]), x.dtype)


def _lower_gather(x: Any, i: Any, axis: int, batch_dims: int) -> Any:
    # `jnp.take` and indexing build the gather dimension numbers that `lax.gather` would want.
    if not batch_dims:
        return jnp.take(x, i, axis, mode="clip")
    grid = jnp.ogrid[tuple(slice(0, d) for d in i.shape[:batch_dims])]
    picks = tuple(g.reshape(g.shape + (1,) * (i.ndim - batch_dims)) for g in grid)
    front = jnp.moveaxis(x, axis, batch_dims).at[(*picks, i)].get(mode="clip")
    return jnp.moveaxis(front, range(batch_dims, i.ndim), range(axis, axis + i.ndim - batch_dims))


def _gather_grad(
    g: Any, i: Any, x_shape: Any, i_shape: Any, axis: int, batch_dims: int
) -> Any:
    if axis == 0:
        rows = _rows(g, x_shape[1:], i_shape)
        return IndexedSlices(rows, _rows(i, (), i_shape), x_shape)
    return apply(GATHER_GRAD, g, i, shape=tuple(x_shape), axis=axis, batch_dims=batch_dims)


def _rows(x: Any, inner: tuple[int, ...], lead: Any) -> Any:
    """`x` with its leading axes flattened into one; `-1` would fail where a size is 0."""
    from wengert.ops.shaping import reshape

    return reshape(x, (int(np.prod(lead)), *inner))


GATHER = Op(
    "gather",
    "x i",
    kernel=_gather_kernel,
    infer=_infer_gather,
    lower=_lower_gather,
    grad=(_gather_grad, None),
    match=(),
)


def _gather_grad_kernel(
    g: np.ndarray, i: np.ndarray, shape: tuple[int, ...], axis: int, batch_dims: int
) -> np.ndarray:
    out = np.zeros(shape, g.dtype)
    inner = i.ndim - batch_dims
    rows = np.moveaxis(g, range(axis, axis + inner), range(batch_dims, batch_dims + inner))
    grid = np.ogrid[tuple(slice(0, d) for d in i.shape[:batch_dims])] if batch_dims else []
    picks = tuple(p.reshape(p.shape + (1,) * inner) for p in grid)
    np.add.at(np.moveaxis(out, axis, batch_dims), (*picks, i), rows)
    return out


def _lower_gather_grad(
    g: Any, i: Any, shape: tuple[int, ...], axis: int, batch_dims: int
) -> Any:
    inner = i.ndim - batch_dims
    rows = jnp.moveaxis(g, range(axis, axis + inner), range(batch_dims, batch_dims + inner))
    grid = jnp.ogrid[tuple(slice(0, d) for d in i.shape[:batch_dims])] if batch_dims else []
    picks = tuple(p.reshape(p.shape + (1,) * inner) for p in grid)
    front = tuple(np.moveaxis(np.empty(shape, bool), axis, batch_dims).shape)
    return jnp.moveaxis(jnp.zeros(front, g.dtype).at[(*picks, i)].add(rows), batch_dims, axis)


GATHER_GRAD = Op(
    "gather_grad",
    "g i",
    kernel=_gather_grad_kernel,
    infer=lambda g, i, shape, axis, batch_dims: Spec(shape, g.dtype),
    lower=_lower_gather_grad,
    grad=(
        lambda h, i, axis, batch_dims: apply(GATHER, h, i, axis=axis, batch_dims=batch_dims),
        None,
    ),
    match=(),
)


def densify(slices: IndexedSlices) -> Any:
    """The whole tensor that row-sparse `slices` stand for; rows named twice are added."""
    if slices.dense_shape is None:
        raise invalid("convert_to_tensor", "these IndexedSlices do not know their dense shape")
    shape = static("IndexedSlices", slices.dense_shape)
    return apply(GATHER_GRAD, slices.values, slices.indices, shape=shape, axis=0, batch_dims=0)


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
    name: Any = None,
) -> Any:
    """Picks slices of `params` along `axis`; an index outside is an error."""
    x, i = operand(params), operand(indices, None, dtypes.int32)
    if not i.dtype.is_integer:
        raise invalid("gather", "`indices` must be whole numbers", i)
    rank, inner = len(x.shape), len(i.shape)
    batch = check_axis("gather", static("gather", batch_dims), inner + 1)
    place = batch if axis is None else check_axis("gather", static("gather", axis), rank)
    if place < batch or place >= rank:
        raise invalid("gather", f"`axis` {place} and `batch_dims` {batch} do not fit", x, i)
    if x._array.shape[:batch] != i._array.shape[:batch]:
        raise invalid("gather", "the first `batch_dims` sizes must agree", x, i)
    return apply(GATHER, x, i, axis=place, batch_dims=batch)


Hooks.gather = gather
