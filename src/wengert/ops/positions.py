"""Positions: of the largest and smallest element, in a sorted row, among the largest k."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops.declare import (
    Axis,
    DType,
    DTypeLike,
    JaxArray,
    Op,
    Ranked,
    ShapeDtype,
    Tensor,
    TensorLike,
    Value,
    apply,
    dtypes,
    fallback,
    in_float32,
    integer_operand,
    jnp,
    known_unequal,
    lax,
    must_fit,
    operand,
    require,
    require_dtype,
    shapes,
    static_int,
    where_ranked,
    with_fallback,
)
from wengert.ops.sorting import SIGNED, choose_type
from wengert.ops.threads import BLOCK, share


def _of_columns(pick: str, x: np.ndarray, axis: int) -> np.ndarray:
    """The same along an axis before the last: NumPy finds places along the memory only fast."""
    size, width = x.shape[axis], math.prod(x.shape[axis + 1 :])
    stack = x.reshape(-1, size, width)
    out = np.empty((len(stack), width), np.intp)

    def work(k: int) -> None:
        best = (np.maximum if pick == "argmax" else np.minimum).reduce(stack[k], 0)
        places = np.flatnonzero(stack[k] == best)[::-1]  # so that the first is written last
        out[k, places % width] = places // width

    share(work, range(len(stack)))
    return out.reshape(*x.shape[:axis], *x.shape[axis + 1 :])


def _arg(pick: str, worst: float) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Kernel and lowering of `argmax` or `argmin`, which pass over NaN."""

    def kernel(x: np.ndarray, axis: int, dtype: DType) -> np.ndarray:
        if x.dtype.kind == "f":
            nan = np.isnan(x)
            x = np.where(nan, x.dtype.type(worst), x) if nan.any() else x
        if x.size >= 2 * BLOCK and axis < x.ndim - 1 and x.dtype.kind in "fiu":
            return _of_columns(pick, x, axis).astype(dtype.np)
        return np.asarray(getattr(x, pick)(axis)).astype(dtype.np)

    def lower(x: JaxArray, axis: int, dtype: DType) -> JaxArray:
        if x.dtype.kind in "fV":
            x = lax.select(lax.ne(x, x), lax.full_like(x, worst), x)
        return getattr(lax, pick)(x, axis, dtype.np)

    return in_float32(kernel), lower


def _declare_arg(name: str, worst: float, instead: str) -> Op:
    kernel, lower = _arg(name, worst)

    @where_ranked
    def infer(x: Ranked, axis: int, dtype: DType) -> ShapeDtype:
        help = "Nothing has no largest element."
        require(x.shape[axis] != 0, name, f"axis {axis} is empty", x, help=help)
        return ShapeDtype((*x.shape[:axis], *x.shape[axis + 1 :]), dtype)

    accepts = dtypes.REAL | dtypes.BOOL
    return Op(
        name,
        "x",
        kernel=kernel,
        infer=infer,
        lower=lower,
        grad=None,
        accepts=accepts,
        instead=instead,
    )


ARGMAX = _declare_arg(
    "argmax", -np.inf, instead="Use tf.nn.softmax or tf.reduce_max, which have gradients."
)
ARGMIN = _declare_arg(
    "argmin",
    np.inf,
    instead="Use tf.nn.softmax of the negative, or tf.reduce_min, which have gradients.",
)


def _position(
    op: Op, input: TensorLike, axis: int | list[int] | Axis | None, dtype: DType
) -> Tensor:
    x = operand(input)
    dim = static_int(op.name, axis, "axis", 0)
    dim = shapes.check_axis(op.name, dim, x._array.ndim)
    return apply(op, x, axis=dim, dtype=dtype)


def argmax(
    input: TensorLike,
    axis: Axis = None,
    output_type: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """The index of the first largest element along `axis` (default 0); NaN is passed over.

    Args:
        input: a tensor of numbers.
        axis: the axis.
        output_type: the dtype of the indices.
        name: without effect.

    Returns:
        A tensor of one rank less.

    Raises:
        InvalidArgumentError: there is no such axis, or it is empty.

    >>> tf.argmax([[1, 5, 5], [7, 2, 3]], axis=1).numpy().tolist()
    [1, 0]
    """
    try:
        kind = choose_type("argmax", "output_type", output_type, *SIGNED, dtypes.uint16)
        return _position(ARGMAX, input, axis, kind)
    except Exception as error:
        return fallback(argmax, error, (input, axis, output_type))


@with_fallback
def argmin(
    input: TensorLike,
    axis: Axis = None,
    output_type: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """The index of the first smallest element along `axis` (default 0); NaN is passed over.

    Args:
        input: a tensor of numbers.
        axis: the axis.
        output_type: the dtype of the indices.
        name: without effect.

    Returns:
        A tensor of one rank less.

    Raises:
        InvalidArgumentError: there is no such axis, or it is empty.

    >>> tf.argmin([[1, 5, 5], [7, 2, 3]], axis=1).numpy().tolist()
    [0, 1]
    """
    kind = choose_type("argmin", "output_type", output_type, *SIGNED[1:])
    return _position(ARGMIN, input, axis, kind)


def _search_kernel(row: np.ndarray, x: np.ndarray, side: Any, dtype: DType) -> np.ndarray:
    must_fit(row.shape[:-1] == x.shape[:-1] and x.ndim)
    out = np.empty(x.shape, dtype.np)
    for i in np.ndindex(x.shape[:-1]):
        out[i] = np.searchsorted(row[i], x[i], side)
    if x.dtype.kind == "f" and side == "left":
        out[np.isnan(x)] = 0
    return out


def _infer_search(row: ShapeDtype, x: ShapeDtype, side: str, dtype: DType) -> ShapeDtype:
    if row.shape is not None and x.shape is not None:
        same = len(row.shape) == len(x.shape) and all(
            not known_unequal(a, b) for a, b in zip(row.shape[:-1], x.shape[:-1], strict=True)
        )
        require(
            same and x.shape,
            "searchsorted",
            "`sorted_sequence` and `values` must agree in all sizes but the last",
            row,
            x,
        )
    return ShapeDtype(x.shape, dtype)


def _lower_search(row: JaxArray, x: JaxArray, side: str, dtype: DType) -> JaxArray:
    def one(row: JaxArray, x: JaxArray) -> JaxArray:
        # `jnp` has the binary search written out as a loop; `lax` has none.
        return jnp.searchsorted(row, x, side)

    search = jnp.vectorize(one, signature="(n),(m)->(m)") if x.ndim > 1 else one
    result = lax.convert_element_type(search(row, x), dtype.np)
    if side == "left" and x.dtype.kind in "fV":
        result = lax.select(lax.ne(x, x), lax.full_like(result, 0), result)
    return result


SEARCHSORTED = Op(
    "searchsorted",
    "row x",
    kernel=in_float32(_search_kernel),
    infer=_infer_search,
    lower=_lower_search,
    grad=None,
    accepts=dtypes.REAL,
)


def searchsorted(
    sorted_sequence: TensorLike,
    values: TensorLike,
    side: str = "left",
    out_type: DTypeLike = dtypes.int32,
    name: str | None = None,
) -> Tensor:
    """Where to insert `values` to keep each row sorted: before equal elements, or after (`right`).

    NaN goes to the very front from the left and to the very end from the right.
    """
    require(
        side in ("left", "right"), "searchsorted", f"`side` must be 'left' or 'right'; got {side!r}"
    )
    kind = choose_type("searchsorted", "out_type", out_type, dtypes.int32, dtypes.int64)
    row = operand(sorted_sequence)
    x = operand(values, None, row.dtype if isinstance(sorted_sequence, Value) else None)
    return apply(SEARCHSORTED, row, x, side=side, dtype=kind)


def _in_top_k_kernel(x: np.ndarray, i: np.ndarray, k: int) -> np.ndarray:
    must_fit(x.ndim == 2 and i.shape == x.shape[:1])
    inside = (i >= 0) & (i < x.shape[1]) & np.isfinite(x).all(1)
    if not x.shape[1]:
        return inside
    own = np.take_along_axis(x, np.clip(i, 0, x.shape[1] - 1)[:, None].astype(np.intp), 1)
    return inside & (np.add.reduce(x > own, 1, dtype=np.int64) < k)


def _lower_in_top_k(x: JaxArray, i: JaxArray, k: int) -> JaxArray:
    if not x.shape[1]:
        return lax.full(i.shape, False)
    i = lax.convert_element_type(i, np.int64)
    inside = (i >= 0) & (i < x.shape[1])
    own = jnp.take_along_axis(x, lax.clamp(np.int64(0), i, np.int64(x.shape[1] - 1))[:, None], 1)
    finite = lax.reduce(lax.is_finite(x), np.bool_(True), lax.bitwise_and, (1,))
    more = lax.convert_element_type(x > own, np.int64)
    return inside & finite & (lax.reduce(more, np.int64(0), lax.add, (1,)) < k)


def _infer_in_top_k(x: ShapeDtype, i: ShapeDtype, k: int) -> ShapeDtype:
    rows = (None,) if x.shape is None else x.shape[:1]
    matrix = x.shape is None or len(x.shape) == 2
    require(
        matrix and shapes.compatible(rows, i.shape),
        "in_top_k",
        "`predictions` must be a matrix with a row for each of `targets`",
        x,
        i,
    )
    return ShapeDtype(shapes.merge(rows, i.shape), dtypes.bool_)


IN_TOP_K = Op(
    "in_top_k",
    "x i",
    kernel=_in_top_k_kernel,
    infer=_infer_in_top_k,
    lower=_lower_in_top_k,
    grad=None,
    match=(),
    xla_share=10,
)


def in_top_k(
    targets: TensorLike, predictions: TensorLike, k: TensorLike, name: str | None = None
) -> Tensor:
    """Whether each target is among the `k` largest predictions of its row; all ties count as in.

    False for a target out of range and for a row with a NaN or infinity.
    """
    x, i = operand(predictions, dtypes.float32), integer_operand(targets)
    require_dtype(
        i.dtype in (dtypes.int32, dtypes.int64), "in_top_k", "`targets` must be int32 or int64", i
    )
    return apply(IN_TOP_K, x, i, k=static_int("in_top_k", k, "k"))
