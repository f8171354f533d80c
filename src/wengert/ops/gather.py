"""Picking rows by index, and the row-sparse gradients that come of it.

A gather along the first axis costs its rows, forward and backward: its gradient is an
`IndexedSlices`. The kernels refuse an index outside; compiled code, which cannot raise, takes the
nearest row instead and notes the failure.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.core import late_operations as late
from wengert.core.lazy_modules import sparse
from wengert.graph import known_elements
from wengert.ops.declare import (
    TAME,
    Axis,
    Dim,
    DType,
    IndexedSlices,
    InvalidIndexError,
    JaxArray,
    Op,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    TensorLike,
    apply,
    as_value,
    check_axis,
    fail_if,
    fallback,
    in_float32,
    invalid,
    invalid_dtype,
    is_open,
    known_unequal,
    lax,
    lower_in_float32,
    operand,
    require,
    shapes,
    static_int,
    static_tuple,
    tf,
    with_fallback,
    wrap,
)

# From here on SciPy's sparse product beats `np.add.at`, soon by 2 to 10 times.
_MANY = 1 << 14
_UNSIGNED = {n: np.dtype(f"u{n}") for n in (1, 2, 4, 8)}


def check_indices(name: str, indices: np.ndarray, size: int) -> None:
    """Refuses an index outside [0, size)."""
    if not indices.size:
        return
    # Seen as unsigned, negative numbers are too large, so one comparison does.
    unsigned = indices.view(_UNSIGNED[indices.itemsize])
    if unsigned.item(unsigned.argmax()) >= size:  # sooner than `max`, by a microsecond
        bad = indices[unsigned >= size].flat[0]
        raise invalid(
            name,
            f"index {bad} is outside [0, {size})",
            kind=InvalidIndexError,
            help="Indices count from 0; negative ones are not allowed here.",
        )


def fail_outside(indices: JaxArray | np.ndarray, *sizes: int) -> None:
    """`check_indices` in compiled code; several sizes are one for each of the last axis."""
    if not indices.size:
        return
    # Short integers could not be compared with sizes above their range.
    kind = indices.dtype if indices.dtype in (np.int32, np.int64) else np.dtype(np.int64)
    last = as_value(sizes[0] if len(sizes) == 1 else sizes, kind)
    i = indices.astype(kind)
    if not isinstance(indices, np.ndarray) or not isinstance(last, np.ndarray):
        fail_if(lambda: (i < 0) | (i >= last))
    elif ((i < 0) | (i >= last)).any():
        fail_if(lambda: np.True_)


def integer_tensor(name: str, indices: TensorLike, what: str = "indices") -> Tensor:
    """Indices as an integer tensor."""
    i = operand(indices)
    if i.dtype.is_integer:
        return i
    raise invalid_dtype(name, f"`{what}` must be whole numbers", i, help="Cast them to tf.int32.")


def add_rows(row_numbers: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """Zeros of `count` rows to which `rows[k]` is added at row `places[k]`, in order."""
    n, width = rows.shape
    if rows.dtype.kind == "b":
        array = np.zeros((count, width), bool)
        np.logical_or.at(array, row_numbers, rows)
        return array
    if rows.size >= _MANY and rows.dtype.kind in "iufc":
        ones = np.ones(n, rows.dtype)
        return sparse.csc_array((ones, row_numbers, np.arange(n + 1)), shape=(count, n)) @ rows
    out = np.zeros(count * width, rows.dtype)
    # NumPy's `add.at` is quick for one-dimensional arrays only.
    flat = row_numbers.astype(np.intp)[:, None] * width + np.arange(width)
    np.add.at(out, flat.ravel(), rows.ravel())
    return out.reshape(count, width)


def _front(x: np.ndarray, axis: int, batch: int) -> np.ndarray:
    """A view with `axis` moved to stand behind the batch axes."""
    order = (*range(batch), axis, *range(batch, axis), *range(axis + 1, x.ndim))
    return x.transpose(order)


def _gather_kernel(x: np.ndarray, i: np.ndarray, axis: int, batch_dims: int) -> np.ndarray:
    check_indices("gather", i, x.shape[axis])
    if not batch_dims:
        # The indices are known to be good; any mode but "raise" saves a second check.
        if not i.size:
            return np.empty((*x.shape[:axis], *i.shape, *x.shape[axis + 1 :]), x.dtype)
        out: Any = x.take(i, axis, mode="clip")
        return np.array(out, object) if type(out) is bytes else out
    _check_batch("gather", x, i, batch_dims)
    where = (*_grid(i.shape, batch_dims), i)
    out = _front(x, axis, batch_dims)[where]
    moved = axis - batch_dims
    order = (
        *range(batch_dims),
        *range(i.ndim, i.ndim + moved),
        *range(batch_dims, i.ndim),
        *range(i.ndim + moved, out.ndim),
    )
    return out.transpose(order)


def _grid(shape: tuple[int, ...], batch: int) -> list[np.ndarray]:
    """The batch positions, one array per batch axis, that go with indices of `shape`."""
    return [
        np.arange(shape[k]).reshape([-1 if j == k else 1 for j in range(len(shape))])
        for k in range(batch)
    ]


def _infer_gather(x: ShapeDtype, i: ShapeDtype, axis: int, batch_dims: int) -> ShapeDtype:
    if x.shape is None or i.shape is None:
        return ShapeDtype(None, x.dtype)
    lead = _common("gather", x, i, batch_dims)
    inner = (*x.shape[batch_dims:axis], *i.shape[batch_dims:], *x.shape[axis + 1 :])
    return ShapeDtype((*lead, *inner), x.dtype)


def _check_batch(name: str, x: np.ndarray, i: np.ndarray, batch: int) -> None:
    """NumPy would let a size of one stand for all."""
    if x.shape[:batch] != i.shape[:batch]:
        raise ValueError(f"{name}: the batches differ")


def _common(name: str, x: ShapeDtype, i: ShapeDtype, batch: int) -> Any:
    """The sizes of the batch axes, which must agree."""
    ours, theirs = (x.shape or ())[:batch], (i.shape or ())[:batch]
    if not shapes.compatible(ours, theirs):
        raise invalid(name, f"the first {batch} sizes (`batch_dims`) must agree", x, i)
    return shapes.merge(ours, theirs)


def _window(rank: int, inner: int, axis: int, batch: int) -> tuple[int, ...]:
    """The axes of a gather's result that come from `x` as they are."""
    return (*range(batch, axis), *range(axis + inner, rank - 1 + inner))


def _lower_gather(x: JaxArray, i: JaxArray, axis: int, batch_dims: int) -> JaxArray:
    fail_outside(i, x.shape[axis])
    batch = tuple(range(batch_dims))
    numbers = lax.GatherDimensionNumbers(
        offset_dims=_window(x.ndim, i.ndim - batch_dims, axis, batch_dims),
        collapsed_slice_dims=(axis,),
        start_index_map=(axis,),
        operand_batching_dims=batch,
        start_indices_batching_dims=batch,
    )
    sizes = tuple(1 if k == axis or k < batch_dims else d for k, d in enumerate(x.shape))
    if type(x.shape[axis]) is int and not x.shape[axis]:  # code that is never reached, or fails
        return lax.full((*x.shape[:axis], *i.shape[batch_dims:], *x.shape[axis + 1 :]), 0, x.dtype)
    return lax.gather(x, lax.expand_dims(i, (i.ndim,)), numbers, sizes, mode="clip")


def _gather_grad(
    g: Tensor,
    i: Tensor,
    x_shape: tuple[int, ...],
    i_shape: tuple[int, ...],
    axis: int,
    batch_dims: int,
) -> Tensor | IndexedSlices:
    if axis == 0:
        return row_slices(g, i, x_shape, i_shape)
    return apply(GATHER_GRAD, g, i, shape=tuple(x_shape), axis=axis, batch_dims=batch_dims)


def row_slices(
    g: Tensor, i: Tensor, x_shape: tuple[int | Dim, ...], i_shape: tuple[int | Dim, ...]
) -> IndexedSlices:
    """The gradient of picking rows `i`: only those rows."""
    if len(i_shape) != 1:
        count = math.prod(i_shape)
        g, i = tf.reshape(g, (count, *x_shape[1:])), tf.reshape(i, (count,))
    return IndexedSlices(g, i, x_shape)


GATHER = Op(
    "gather",
    "x i",
    kernel=_gather_kernel,
    infer=_infer_gather,
    lower=_lower_gather,
    grad=(_gather_grad, None),
    match=(),
    hazards=TAME,
    moves=True,
    contents=known_elements.by_kernel,
)


@in_float32
def _gather_grad_kernel(
    g: np.ndarray, i: np.ndarray, shape: tuple[int, ...], axis: int, batch_dims: int
) -> np.ndarray:
    check_indices("gather", i, shape[axis])
    inner = i.ndim - batch_dims
    lead = shape[:batch_dims]
    rest = (*shape[batch_dims:axis], *shape[axis + 1 :])
    order = (
        *range(batch_dims),
        *range(axis, axis + inner),
        *range(batch_dims, axis),
        *range(axis + inner, g.ndim),
    )
    rows = g.transpose(order).reshape(i.size, int(np.prod(rest)))
    blocks = int(np.prod(lead))
    size = shape[axis]
    offsets = np.arange(blocks, dtype=np.intp)[:, None] * size
    row_numbers = (i.reshape(blocks, i.size // max(blocks, 1)) + offsets).ravel()
    out = add_rows(row_numbers, rows, blocks * size).reshape(*lead, size, *rest)
    return np.moveaxis(out, batch_dims, axis)


def lower_gather_sum(x: JaxArray, g: JaxArray, i: JaxArray, axis: int, batch_dims: int) -> JaxArray:
    """The sum of `x` and the gradient of a gather, by XLA."""
    shape = x.shape
    fail_outside(i, shape[axis])
    batch = tuple(range(batch_dims))
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=_window(len(shape), i.ndim - batch_dims, axis, batch_dims),
        inserted_window_dims=(axis,),
        scatter_dims_to_operand_dims=(axis,),
        operand_batching_dims=batch,
        scatter_indices_batching_dims=batch,
    )
    return lax.scatter_add(x, lax.expand_dims(i, (i.ndim,)), g, numbers, mode="drop")


GATHER_GRAD = Op(
    "gather_grad",
    "g i",
    kernel=_gather_grad_kernel,
    infer=lambda g, i, shape, axis, batch_dims: ShapeDtype(shape, g.dtype),
    lower=lower_in_float32(
        lambda g, i, shape, axis, batch_dims: lower_gather_sum(
            lax.full(shape, 0, g.dtype), g, i, axis, batch_dims
        )
    ),
    grad=(
        lambda h, i, axis, batch_dims: apply(GATHER, h, i, axis=axis, batch_dims=batch_dims),
        None,
    ),
    match=(),
)


def densify(slices: IndexedSlices) -> Tensor:
    """The whole tensor that row-sparse `slices` stand for; rows named twice are added."""
    require(
        slices._dense_shape is not None,
        "convert_to_tensor",
        "these IndexedSlices do not know their dense shape",
    )
    shape = static_tuple("IndexedSlices", slices._dense_shape)
    values, rows = operand(slices.values), operand(slices.indices)
    return apply(GATHER_GRAD, values, rows, shape=shape, axis=0, batch_dims=0)


def gather(
    params: Any,
    indices: TensorLike,
    validate_indices: Any = None,
    axis: Axis = None,
    batch_dims: int = 0,
    name: str | None = None,
) -> Tensor:
    """Picks slices of `params` along `axis`; an index outside, or a negative one, is an error.

    Args:
        params: a tensor, or a ragged one.
        indices: whole numbers from 0.
        validate_indices: without effect; indices are always checked.
        axis: the axis to pick along; `batch_dims` by default.
        batch_dims: how many leading axes of both belong together.
        name: without effect.

    Returns:
        A tensor with the axes of `indices` in the place of `axis`.

    Raises:
        InvalidArgumentError: an index is negative or too large.

    >>> tf.gather([[1, 2], [3, 4], [5, 6]], [2, 0]).numpy().tolist()
    [[5, 6], [1, 2]]
    """
    try:
        x, i = operand(params), integer_tensor("gather", indices)
        a, b = x._array, i._array
        batch = first = static_int("gather", batch_dims, "batch_dims")
        batch = batch + b.ndim if batch < 0 else batch
        if not 0 <= batch <= b.ndim or known_unequal(a.shape[:batch], b.shape[:batch]):
            raise invalid("gather", f"the first {batch} sizes (`batch_dims`) must agree", x, i)
        dim = check_axis("gather", first if axis is None else static_int("gather", axis), a.ndim)
        if dim < batch:
            raise invalid(
                "gather", f"`axis` {dim} must not be less than `batch_dims` {batch}", x, i
            )
        return apply(GATHER, x, i, axis=dim, batch_dims=batch)
    except Exception as error:
        return fallback(gather, error, (params, indices, validate_indices, axis, batch_dims))


late.GATHER.fill(gather)


def _gather_nd_kernel(x: np.ndarray, i: np.ndarray, batch_dims: int) -> np.ndarray:
    from wengert.ops.shaping import broadcast_view

    if batch_dims:
        _check_batch("gather_nd", x, i, batch_dims)
    where = []
    for k in range(i.shape[-1]):
        check_indices("gather_nd", i[..., k], x.shape[batch_dims + k])
        where.append(i[..., k])
    lead = i.shape[:-1]
    if not where:
        full = (*lead, *x.shape[batch_dims:])
        spread = x.reshape(
            *x.shape[:batch_dims], *(1,) * (len(lead) - batch_dims), *x.shape[batch_dims:]
        )
        return broadcast_view(spread, full)
    return x[(*_grid(lead, batch_dims), *where, ...)]  # an array, also of one string


def _infer_gather_nd(x: ShapeDtype, i: ShapeDtype, batch_dims: int) -> ShapeDtype:
    if x.shape is None or i.shape is None or i.shape[-1] is None:
        return ShapeDtype(None, x.dtype)
    depth = i.shape[-1]
    require(
        batch_dims + depth <= len(x.shape),
        "gather_nd",
        f"index tuples of length {depth} are too long for rank {len(x.shape) - batch_dims}",
        x,
        i,
        help="The last axis of `indices` holds one number per axis.",
    )
    lead = _common("gather_nd", x, i, batch_dims)
    return ShapeDtype((*lead, *i.shape[batch_dims:-1], *x.shape[batch_dims + depth :]), x.dtype)


def _lower_gather_nd(x: JaxArray, i: JaxArray, batch_dims: int) -> JaxArray:
    if i.shape[-1]:
        fail_outside(i, *x.shape[batch_dims : batch_dims + i.shape[-1]])
    batch = tuple(range(batch_dims))
    picked = tuple(range(batch_dims, batch_dims + i.shape[-1]))
    kept = x.ndim - batch_dims - i.shape[-1]
    numbers = lax.GatherDimensionNumbers(
        offset_dims=tuple(range(i.ndim - 1, i.ndim - 1 + kept)),
        collapsed_slice_dims=picked,
        start_index_map=picked,
        operand_batching_dims=batch,
        start_indices_batching_dims=batch,
    )
    sizes = tuple(1 if k < batch_dims + len(picked) else d for k, d in enumerate(x.shape))
    if any(type(x.shape[k]) is int and not x.shape[k] for k in picked):  # never reached, or fails
        rest = x.shape[batch_dims + len(picked) :]
        return lax.full((*i.shape[:-1], *rest), 0, x.dtype)
    return lax.gather(x, i, numbers, sizes, mode="clip")


def _gather_nd_grad(
    g: Tensor, i: Tensor, x_shape: tuple[int | Dim, ...], i_shape: Any, batch_dims: int
) -> Tensor | IndexedSlices:
    if i_shape[-1] == 1 and len(i_shape) == 2 and not batch_dims:
        return row_slices(g, tf.reshape(i, i_shape[:1]), x_shape, i_shape[:1])
    return tf.scatter_nd(_with_batch(i, i_shape, batch_dims), g, x_shape)


def _with_batch(i: Tensor, i_shape: tuple[int, ...], batch_dims: int) -> Tensor:
    """Index tuples that also name the batch they belong to."""
    if not batch_dims:
        return i
    lead = i_shape[:-1]
    if is_open(lead):
        return tf.concat([*_open_grid(lead, batch_dims, i.dtype), i], -1)
    grid = [np.broadcast_to(p, lead) for p in _grid(lead, batch_dims)]
    return tf.concat([wrap(np.stack(grid, -1).astype(i.dtype.np)), i], -1)


def _open_grid(lead: tuple[Any, ...], batch: int, dtype: DType) -> list[SymbolicTensor]:
    """The batch positions for sizes that only the running function knows, as columns."""
    results = []
    for k in range(batch):
        ones = [1] * (len(lead) + 1)
        ones[k] = lead[k]
        results.append(
            tf.broadcast_to(tf.reshape(tf.range(lead[k], dtype=dtype), ones), (*lead, 1))
        )
    return results


GATHER_ND = Op(
    "gather_nd",
    "x i",
    kernel=_gather_nd_kernel,
    infer=_infer_gather_nd,
    lower=_lower_gather_nd,
    grad=(_gather_nd_grad, None),
    match=(),
)


@with_fallback
def gather_nd(
    params: TensorLike,
    indices: TensorLike,
    batch_dims: int = 0,
    name: str | None = None,
    bad_indices_policy: str = "",
) -> Tensor:
    """Picks slices of `params` at the index tuples in the last axis of `indices`.

    One outside is an error, or gives zeros with `bad_indices_policy="IGNORE"`.

    Args:
        params: a tensor.
        indices: whole numbers `[..., n]`; each row of n of them names an element or a slice.
        batch_dims: how many leading axes of both belong together.
        bad_indices_policy: "IGNORE" gives zeros for an index outside.
        name: without effect.

    Returns:
        A tensor `[..., *params.shape[n:]]`.

    Raises:
        InvalidArgumentError: an index is outside.

    >>> tf.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).numpy().tolist()
    [2, 3]
    """
    from wengert.ops.scatter import ignores

    x, i = operand(params), integer_tensor("gather_nd", indices)
    ignore = ignores("gather_nd", bad_indices_policy)
    batch = static_int("gather_nd", batch_dims, "batch_dims")
    a, b = x._array, i._array
    if not b.ndim:
        raise invalid("gather_nd", "`indices` must be at least a vector", x, i)
    if not 0 <= batch < b.ndim or known_unequal(a.shape[:batch], b.shape[:batch]):
        raise invalid("gather_nd", f"the first {batch} sizes (`batch_dims`) must agree", x, i)
    if ignore:
        return _gather_inside(x, i, batch)
    return apply(GATHER_ND, x, i, batch_dims=batch)


def _gather_inside(x: Any, i: Any, batch: int) -> Any:
    """Zeros, or empty texts, for the index tuples outside."""
    from wengert.core.dtypes import int64
    from wengert.ops.scatter import inside, only

    depth = i.shape[-1]
    if depth is None or x.shape.rank is None:
        raise invalid("gather_nd", "the length of index tuples and the rank must be known", x, i)
    if 0 in x._array.shape[batch : batch + depth]:
        return tf.zeros((*i._array.shape[:-1], *x._array.shape[batch + depth :]), x.dtype)
    good, safe = inside(i, tf.shape(x, int64)[batch : batch + depth])
    rows = apply(GATHER_ND, x, safe, batch_dims=batch)
    return only(good, rows, x.shape.rank - batch - depth, tf.zeros((), x.dtype))


late.GATHER_ND.fill(gather_nd)
late.DENSIFY.fill(densify)
