"""Sorting, and the largest k of each row.

Ties go to the lower index, and NaN counts as the largest number: last when ascending, first when
descending.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wengert.ops.declare import (
    HALF,
    Axis,
    Dim,
    DType,
    DTypeLike,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    Value,
    apply,
    check_axis,
    dtypes,
    in_float32,
    invalid,
    is_symbol,
    jnp,
    lax,
    negative,
    normalized_axis,
    operand,
    require,
    require_dtype,
    static,
    static_int,
    tf,
    with_fallback,
)
from wengert.ops.threads import in_rows

_NARROW = dtypes.nums("float32", "int32")
SIGNED = (dtypes.int16, dtypes.int32, dtypes.int64)


def choose_type(name: str, argument: str, dtype: DTypeLike, *allowed: DType) -> DType:
    """The integer type asked for, or an error that lists the choices."""
    result = dtypes.as_dtype(dtype)
    require_dtype(
        result in allowed,
        name,
        lambda: (
            f"`{argument}` must be one of {', '.join(d.name for d in allowed)}; got {result.name}"
        ),
    )
    return result


def _ranks(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    """The stable order of `x`; a descending one keeps ties in order, too."""
    if x.dtype.num in HALF:
        x = x.astype(np.float32)
    if not descending:
        return _ascending(x, axis)
    order = np.flip(_ascending(np.flip(x, axis), axis), axis)
    return x.shape[axis] - 1 - order


# From here on NumPy sorts wide numbers faster than it finds a stable order.
_LARGE = 1 << 13


def _ascending(x: np.ndarray, axis: int) -> np.ndarray:
    if x.size < _LARGE or x.shape[axis] < 32 or x.dtype.num not in _NARROW or _has_nan(x):
        return np.argsort(x, axis, kind="stable")
    bits = np.moveaxis(x, axis, -1)
    if x.dtype.kind == "f":
        bits = (bits + np.float32(0)).view(np.int32)  # -0 is 0
        bits = bits ^ ((bits >> 31) & 0x7FFFFFFF)  # in the order of the numbers
    # A number and behind it its place, as one number.
    pairs = bits.astype(np.int64) << 32
    pairs |= np.arange(x.shape[axis])
    pairs.sort(-1)
    return np.moveaxis(pairs & 0xFFFFFFFF, -1, axis)


def _lower_ranked(x: JaxArray, axis: int, descending: bool) -> tuple[JaxArray, JaxArray]:
    index = lax.broadcasted_iota(np.int32, x.shape, axis)
    if not descending:
        return lax.sort((x, index), dimension=axis, is_stable=True, num_keys=1)
    values, order = lax.sort(
        (lax.rev(x, (axis,)), lax.rev(index, (axis,))), dimension=axis, is_stable=True, num_keys=1
    )
    return lax.rev(values, (axis,)), lax.rev(order, (axis,))


TAKE_ALONG = Op(
    "take_along_axis",
    "x i",
    kernel=lambda x, i, axis: np.take_along_axis(x, i, axis),
    infer=lambda x, i, axis: ShapeDtype(i.shape, x.dtype),
    # `jnp` builds the gather dimension numbers that `lax.gather` would want.
    lower=lambda x, i, axis: jnp.take_along_axis(x, i, axis),
    grad=(
        lambda g, i, x_shape, axis: apply(PUT_ALONG, g, i, axis=axis, size=x_shape[axis]),
        None,
    ),
    match=(),
)


def _resized(shape: Any, axis: int, size: int) -> tuple[int, ...]:
    return (*shape[:axis], size, *shape[axis + 1 :])


# The indices of a row are distinct: they come from sorting it.
def _put_kernel(g: np.ndarray, i: np.ndarray, axis: int, size: int) -> np.ndarray:
    out = np.zeros(_resized(g.shape, axis, size), g.dtype)
    np.put_along_axis(out, i, g, axis)
    return out


def _lower_put(g: JaxArray, i: JaxArray, axis: int, size: int) -> JaxArray:
    # `jnp` builds the scatter dimension numbers that `lax.scatter` would want.
    out = jnp.zeros(_resized(g.shape, axis, size), g.dtype)
    return jnp.put_along_axis(out, i, g, axis, inplace=False)


PUT_ALONG = Op(
    "put_along_axis",
    "g i",
    kernel=_put_kernel,
    infer=lambda g, i, axis, size: ShapeDtype(
        None if g.shape is None else _resized(g.shape, axis, size), g.dtype
    ),
    lower=_lower_put,
    grad=(lambda h, i, axis: apply(TAKE_ALONG, h, i, axis=axis), None),
    match=(),
)

ARGSORT = Op(
    "argsort",
    "x",
    kernel=in_rows(lambda x, axis, descending: _ranks(x, axis, descending).astype(np.int32)),
    infer=lambda x, axis, descending: ShapeDtype(x.shape, dtypes.int32),
    lower=lambda x, axis, descending: _lower_ranked(x, axis, descending)[1],
    grad=None,
    accepts=dtypes.REAL,
    xla_share=10,
)


def _sort_kernel(x: np.ndarray, axis: int, descending: bool) -> np.ndarray:
    out = np.sort(x, axis)  # of equal numbers nobody can tell the order
    return np.flip(out, axis) if descending else out


def _sort_grad(
    g: Tensor, x: Tensor, x_shape: tuple[int | Dim, ...], axis: int, descending: bool
) -> Tensor:
    order = apply(ARGSORT, x, axis=axis, descending=descending)
    return apply(PUT_ALONG, g, order, axis=axis, size=x_shape[axis])


SORT = Op(
    "sort",
    "x",
    kernel=in_rows(in_float32(_sort_kernel)),
    infer=lambda x, axis, descending: x,
    lower=lambda x, axis, descending: _lower_ranked(x, axis, descending)[0],
    grad=_sort_grad,
    accepts=dtypes.REAL,
    xla_share=20,
)


def _sort(op: Op, values: TensorLike, axis: Axis, direction: str) -> Tensor:
    require(
        direction in ("ASCENDING", "DESCENDING"),
        op.name,
        f"`direction` must be 'ASCENDING' or 'DESCENDING'; got {direction!r}",
    )
    if axis is None:
        raise invalid(op.name, "`axis` must be a whole number; got None", help="The last is -1.")
    x = operand(values)
    dim = check_axis(op.name, static_int(op.name, axis), x._array.ndim)
    return apply(op, x, axis=dim, descending=direction == "DESCENDING")


@with_fallback
def sort(
    values: TensorLike, axis: Axis = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """Sorts along `axis`; NaN counts as the largest number.

    Args:
        values: a tensor of numbers.
        axis: the axis.
        direction: "ASCENDING" or "DESCENDING".
        name: without effect.

    Returns:
        A tensor.

    Raises:
        ValueError: the direction is none of these.

    >>> tf.sort([3, 1, 2], direction="DESCENDING").numpy().tolist()
    [3, 2, 1]
    """
    return _sort(SORT, values, axis, direction)


@with_fallback
def argsort(
    values: TensorLike,
    axis: Axis = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """The int32 indices that sort along `axis`, always with ties in order; NaN is the largest."""
    return _sort(ARGSORT, values, axis, direction)


class TopKV2(NamedTuple):
    """The largest numbers of each row, and where they stand."""

    values: Any
    indices: Any


def _check_k(x: Value | ShapeDtype, k: int | Dim, size: int | Dim) -> None:
    require(
        not negative(k) and not negative(size - k),
        "top_k",
        f"`k` {k} must be one number from 0 to {size}, the last size",
        x,
    )


def _top_k_kernel(x: np.ndarray, k: int, dtype: DType) -> tuple[np.ndarray, np.ndarray]:
    _check_k(ShapeDtype(x.shape, dtypes.of(x)), k, x.shape[-1])
    return _top_of_rows(x, k=k, dtype=dtype)


@in_rows
def _top_of_rows(x: np.ndarray, k: int, dtype: DType) -> tuple[np.ndarray, np.ndarray]:
    size = x.shape[-1]
    if 0 < 4 * k < size and x.size > 256 and x.dtype.num not in HALF and not _has_nan(x):
        order = _few_ranks(x, k)
    else:
        order = _ranks(x, -1, True)[..., :k]
    return np.take_along_axis(x, order, -1), order.astype(dtype.np)


def _has_nan(x: np.ndarray) -> bool:
    return x.dtype.kind == "f" and bool(np.isnan(x).any())


def _few_ranks(x: np.ndarray, k: int) -> np.ndarray:
    """The places of the k largest of each row, found without sorting the others."""
    size = x.shape[-1]
    least = np.partition(x, size - k, -1)[..., size - k, None]
    chosen = x >= least
    if np.count_nonzero(chosen) > k * (x.size // size):  # of equal ones, the first
        above = x > least
        equal = x == least
        chosen = above | (equal & (np.cumsum(equal, -1) <= k - above.sum(-1, keepdims=True)))
    places = np.nonzero(chosen)[-1].reshape(*x.shape[:-1], k)
    order = _ranks(np.take_along_axis(x, places, -1), -1, True)
    return np.take_along_axis(places, order, -1)


def _infer_top_k(x: ShapeDtype, k: int, dtype: DType) -> tuple[ShapeDtype, ShapeDtype]:
    if x.shape is None:
        return ShapeDtype(None, x.dtype), ShapeDtype(None, dtype)
    shape = (*x.shape[:-1], k)
    return ShapeDtype(shape, x.dtype), ShapeDtype(shape, dtype)


# The types whose every number float32 holds, too.
_WITHIN_FLOAT32 = ("float32", "float16", "bfloat16", "int8", "uint8", "int16", "uint16")


def _lower_top_k(x: JaxArray, k: int, dtype: DType) -> tuple[JaxArray, JaxArray]:
    if x.dtype.name in _WITHIN_FLOAT32 and not any(map(is_symbol, (k, *x.shape))) and k:
        # XLA has a kernel for this; it tells zeros and NaN apart by their signs.
        key = lax.convert_element_type(x, np.float32)
        key = lax.select(lax.eq(key, lax.full_like(key, 0)), lax.full_like(key, 0), key)
        key = lax.select(lax.ne(key, key), lax.full_like(key, np.nan), key)
        order = lax.top_k(key, k)[1]
        values = jnp.take_along_axis(x, order, -1)
    else:
        values, order = _lower_ranked(x, x.ndim - 1, True)
        values, order = values[..., :k], order[..., :k]
    return values, lax.convert_element_type(order, dtype.np)


TOP_K = Op(
    "top_k",
    "x",
    kernel=_top_k_kernel,
    infer=_infer_top_k,
    lower=_lower_top_k,
    grad=lambda g, x_shape, outs: apply(
        PUT_ALONG, g[0], outs[1], axis=len(x_shape) - 1, size=x_shape[-1]
    ),
    accepts=dtypes.REAL,
    outputs=2,
)


@with_fallback
def top_k(
    input: TensorLike,
    k: TensorLike = 1,
    sorted: bool = True,
    index_type: DType = dtypes.int32,
    name: str | None = None,
) -> TopKV2:
    """The `k` largest of each row and their indices, always in descending order.

    Ties go to the lower index; NaN counts as the largest number.

    Args:
        input: a tensor of numbers of rank 1 or more.
        k: how many, at most the size of the last axis.
        sorted: without effect; the result is sorted.
        index_type: the dtype of the indices.
        name: without effect.

    Returns:
        A named tuple of `values` and `indices`.

    Raises:
        InvalidArgumentError: a row is shorter than `k`.

    >>> best = tf.math.top_k([1, 9, 5], k=2)
    >>> best.values.numpy().tolist(), best.indices.numpy().tolist()
    ([9, 5], [1, 2])
    """
    x, k = operand(input), static("top_k", k)
    wanted = choose_type("top_k", "index_type", index_type, *SIGNED)
    size = x._array.shape[-1] if x._array.ndim else 0
    if not x._array.ndim or not isinstance(k, int | Dim):
        raise invalid("top_k", f"`k` {k} must be one number from 0 to {size}, the last size", x)
    _check_k(x, k, size)
    return TopKV2(*apply(TOP_K, x, k=k, dtype=wanted))


class ApproxTopK(NamedTuple):
    """The largest or smallest numbers along an axis, and where they stand."""

    values: Any
    indices: Any


def approx_max_k(
    operand: TensorLike, k: int, reduction_dimension: int = -1, recall_target: float = 0.95,
    reduction_input_size_override: int = -1, aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:  # fmt: skip
    """The `k` largest along an axis and their indices, in descending order; all of them are found.

    Args:
        operand: a floating tensor of rank 1 or more.
        k: how many, at most the size of the axis.
        reduction_dimension: the axis.
        recall_target, reduction_input_size_override, aggregate_to_topk: without effect, since the
            search is exact.
        name: without effect.

    Returns:
        A named tuple of `values` and `indices`.

    Raises:
        InvalidArgumentError: the axis is shorter than `k`, or `recall_target` is not in (0, 1].

    >>> tf.math.approx_max_k([1.0, 9.0, 5.0], k=2).indices.numpy().tolist()
    [1, 2]
    """
    return _approximately("approx_max_k", operand, k, reduction_dimension, recall_target, 1)


def approx_min_k(
    operand: TensorLike, k: int, reduction_dimension: int = -1, recall_target: float = 0.95,
    reduction_input_size_override: int = -1, aggregate_to_topk: bool = True,
    name: str | None = None,
) -> ApproxTopK:  # fmt: skip
    """The `k` smallest along an axis and their indices, in ascending order; see `approx_max_k`."""
    return _approximately("approx_min_k", operand, k, reduction_dimension, recall_target, -1)


def _approximately(
    name: str, given: TensorLike, k: int, axis: int, recall: float, sign: int
) -> ApproxTopK:
    x = operand(given)
    require_dtype(x.dtype.is_floating, name, "`operand` must be floating", x)
    require(0.0 < recall <= 1.0, name, f"`recall_target` must be in (0, 1]; got {recall}")
    place = normalized_axis(name, static_int(name, axis, "reduction_dimension"), x)
    order = [i for i in range(x._array.ndim) if i != place]
    rows = tf.transpose(x if sign > 0 else -x, [*order, place])
    back = [*range(place), len(order), *range(place, len(order))]
    values, indices = (tf.transpose(y, back) for y in top_k(rows, k))
    return ApproxTopK(values if sign > 0 else -values, indices)
