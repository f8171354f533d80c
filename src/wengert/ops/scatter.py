"""Writing slices at index tuples: `scatter_nd` and its kin that start from a tensor.

The last axis of `indices` holds one number per leading axis of the result. An index outside is an
error, or its slice is left out if `bad_indices_policy` says so; compiled code, which cannot raise,
leaves the slice out and notes the failure. Where a place is named twice, sums count both, an update
keeps the last, and a NaN wins a minimum or maximum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core.variable_updates import quotient, require_divisors
from wengert.ops.declare import (
    Dim,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    TensorShape,
    Value,
    apply,
    dtypes,
    fail_if,
    in_float32,
    invalid,
    lax,
    lower_in_float32,
    operand,
    require,
    shapes,
    static_tuple,
    tf,
    to_tensor,
)
from wengert.ops.gather import add_rows, check_indices, fail_outside, integer_tensor

_SUMMABLE = dtypes.nums("biufcs")


def _flat(
    name: str, i: np.ndarray, updates: np.ndarray, shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray, int]:
    """Row numbers, rows and row count, with the indexed axes of `shape` flattened into one."""
    depth = i.shape[-1]
    _check_shapes(name, i.shape, updates.shape, shape)
    row_numbers = np.zeros(i.shape[:-1], np.intp)
    for k in range(depth):
        check_indices(name, i[..., k], shape[k])
        row_numbers = row_numbers * shape[k] + i[..., k]
    width = int(np.prod(shape[depth:]))
    count = int(np.prod(shape[:depth]))
    return row_numbers.ravel(), updates.reshape(row_numbers.size, width), count


def _check_shapes(name: str, i: shapes.Shape, updates: shapes.Shape, shape: shapes.Shape) -> None:
    if i is None or updates is None or shape is None:
        return
    require(i, name, "`indices` must be at least a vector; got a scalar")
    depth = i[-1]
    if depth is None:
        return
    want = (*i[:-1], *shape[depth:])
    require(
        depth <= len(shape) and shapes.compatible(updates, want),
        name,
        lambda: (
            f"`updates` of shape {TensorShape(updates)} do not fit `indices` of shape "
            f"{TensorShape(i)} into shape {TensorShape(shape)}"
        ),
        help="`updates` needs the shape indices.shape[:-1] + shape[indices.shape[-1]:].",
    )


def _numbers(i: JaxArray | np.ndarray, shape: tuple[int, ...]) -> Any:
    """The dimension numbers of a scatter into `shape`; notes a failure for an index outside."""
    picked, rank = tuple(range(i.shape[-1])), len(shape)
    if picked:
        fail_outside(i, *shape[: len(picked)])
    return lax.ScatterDimensionNumbers(
        update_window_dims=tuple(range(i.ndim - 1, i.ndim - 1 + rank - len(picked))),
        inserted_window_dims=picked,
        scatter_dims_to_operand_dims=picked,
    )


@in_float32
def _scatter_nd_kernel(i: np.ndarray, updates: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    row_numbers, rows, count = _flat("scatter_nd", i, updates, shape)
    add = _join_rows if rows.dtype.kind == "O" else add_rows
    return add(row_numbers, rows, count).reshape(shape)


def _join_rows(row_numbers: np.ndarray, rows: np.ndarray, count: int) -> np.ndarray:
    """The same for texts, whose sum is one after the other."""
    out = np.full((count, rows.shape[1]), b"", object)
    for row_number, row in zip(row_numbers, rows, strict=True):
        out[row_number] += row
    return out


def _infer_scatter_nd(i: ShapeDtype, updates: ShapeDtype, shape: tuple[int, ...]) -> ShapeDtype:
    _check_shapes("scatter_nd", i.shape, updates.shape, shape)
    return ShapeDtype(tuple(shape), updates.dtype)


def _lower_scatter_nd(i: JaxArray, updates: JaxArray, shape: tuple[int, ...]) -> JaxArray:
    start = lax.full(shape, 0, updates.dtype)
    # A sum of truth values is "or", which is their maximum.
    add = lax.scatter_max if updates.dtype == bool else lax.scatter_add
    return add(start, i, updates, _numbers(i, shape), mode="drop")


SCATTER_ND = Op(
    "scatter_nd",
    "i updates",
    kernel=_scatter_nd_kernel,
    infer=_infer_scatter_nd,
    lower=lower_in_float32(_lower_scatter_nd),
    grad=(None, lambda g, i: tf.gather_nd(g, i)),
    accepts=_SUMMABLE,
    match=(),
)


def scatter_nd(
    indices: TensorLike,
    updates: TensorLike,
    shape: Any,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Tensor:
    """Zeros of `shape` with `updates` added at the index tuples; an index outside is an error.

    With `bad_indices_policy="IGNORE"` it is passed over, also in the functions below.
    Texts are added to empty ones, one after the other.
    """
    ignore = _ignores("scatter_nd", bad_indices_policy)
    i, new = integer_tensor("scatter_nd", indices), operand(updates)
    sizes = static_tuple("scatter_nd", shape)
    if ignore:
        every = to_tensor(list(sizes), dtypes.int64)
        i, new = _inside("scatter_nd", i, new, every, len(sizes), _zeros((), new))
    return apply(SCATTER_ND, i, new, shape=sizes)


def _declare(
    name: str,
    combine: Any,
    lower: str | Callable[..., JaxArray],
    grad: Any,
    accepts: frozenset[int],
    register: bool = True,
) -> Op:
    """A scatter into a tensor; `combine(rows, places, updates)` works on the copy in place."""

    def kernel(x: np.ndarray, i: np.ndarray, updates: np.ndarray) -> np.ndarray:
        row_numbers, rows, count = _flat(name, i, updates, x.shape)
        out = x.reshape(count, rows.shape[1]).copy()
        result = combine(out, row_numbers, rows)
        return (out if result is None else result).reshape(x.shape)

    def infer(x: ShapeDtype, i: ShapeDtype, updates: ShapeDtype) -> ShapeDtype:
        _check_shapes(name, i.shape, updates.shape, x.shape)
        return x

    def run(
        x: JaxArray | np.ndarray, i: JaxArray | np.ndarray, u: JaxArray | np.ndarray
    ) -> JaxArray:
        if callable(lower):
            return lower(x, i, u)
        return getattr(lax, lower)(x, i, u, _numbers(i, x.shape), mode="drop")

    return Op(
        name,
        "x i updates",
        kernel=in_float32(kernel),
        infer=infer,
        lower=lower_in_float32(run) if lower in ("scatter_add", "scatter_sub") else run,
        grad=grad,
        accepts=accepts | dtypes.INTEGER,
        match=(0, 2),
        scatters=True,
        register=register,
    )


def _run(op: Op, tensor: TensorLike, indices: TensorLike, updates: Any, policy: str = "") -> Tensor:
    ignore = _ignores(op.name, policy)
    x = operand(tensor)
    i, new = integer_tensor(op.name, indices), operand(updates, None, x.dtype)
    if ignore:
        every = tf.shape(x, dtypes.int64)
        i, new = _inside(op.name, i, new, every, x.shape.rank, _neutral(op.name, x))
    return apply(op, x, i, new)


def _ignores(name: str, policy: str) -> bool:
    from wengert.ops.scatter import ignores

    return ignores(name, policy)


def _inside(name: str, i: Any, updates: Any, sizes: Any, rank: Any, neutral: Any) -> Any:
    """Index tuples within `sizes`, and updates that change nothing where they were outside."""
    from wengert.ops.scatter import inside, only

    depth = i.shape[-1] if i.shape.rank else None
    if depth is None or rank is None:
        raise invalid(name, "the length of index tuples and the rank must be known", i)
    good, safe = inside(i, sizes[:depth])
    return safe, only(good, updates, rank - depth, neutral)


def _neutral(name: str, x: Any) -> Any:
    """What changes nothing: 0, or the end of the dtype for a minimum or maximum."""
    if not name.endswith(("min", "max")):
        return _zeros((), x)
    worst = x.dtype.max if name.endswith("min") else x.dtype.min
    if x.dtype.is_floating:
        worst = np.inf if name.endswith("min") else -np.inf
    return operand(np.asarray(worst, x.dtype.np))


def _put(out: np.ndarray, row_numbers: np.ndarray, rows: np.ndarray) -> None:
    out[row_numbers] = rows


UPDATE = _declare(
    "tensor_scatter_nd_update",
    _put,
    "scatter",
    grad=(
        lambda g, i, updates_shape: tensor_scatter_nd_update(g, i, _zeros(updates_shape, g)),
        None,
        lambda g, i: tf.gather_nd(g, i),
    ),
    accepts=dtypes.ANY,
)


def _zeros(shape: tuple[int | Dim, ...], like: Value) -> Tensor:
    return tf.zeros(shape, like.dtype)


def tensor_scatter_nd_update(
    tensor: TensorLike, indices: TensorLike, updates: TensorLike, name: str | None = None
) -> Tensor:
    """A copy of `tensor` with slices replaced; of slices for one place the last stays."""
    return _run(UPDATE, tensor, indices, updates)


ADD = _declare(
    "tensor_scatter_nd_add",
    lambda out, row_numbers, rows: out + add_rows(row_numbers, rows, len(out)),
    "scatter_add",
    grad=(lambda g: g, None, lambda g, i: tf.gather_nd(g, i)),
    accepts=dtypes.NUMERIC,
)


def tensor_scatter_nd_add(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Tensor:
    """A copy of `tensor` with slices added."""
    return _run(ADD, tensor, indices, updates, bad_indices_policy)


SUB = _declare(
    "tensor_scatter_nd_sub",
    lambda out, row_numbers, rows: out - add_rows(row_numbers, rows, len(out)),
    "scatter_sub",
    grad=(lambda g: g, None, lambda g, i: -tf.gather_nd(g, i)),
    accepts=dtypes.NUMERIC,
)


def tensor_scatter_nd_sub(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Tensor:
    """A copy of `tensor` with slices subtracted."""
    return _run(SUB, tensor, indices, updates, bad_indices_policy)


def _equal(x: Tensor, y: Tensor) -> Tensor:
    return tf.cast(tf.equal(x, y), x.dtype)


def _shares(x: Tensor, i: Tensor, updates: Tensor, out: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Which of `x` and `updates` attained the result, and how many did at each place."""
    mine, theirs = _equal(x, out), _equal(updates, tf.gather_nd(out, i))
    return mine, theirs, mine + scatter_nd(i, theirs, out._array.shape)


def _grad_x(g: Tensor, x: Tensor, i: Tensor, updates: Tensor, out: Tensor) -> Tensor:
    mine, _, count = _shares(x, i, updates, out)
    return g * mine / count


def _grad_updates(g: Tensor, x: Tensor, i: Tensor, updates: Tensor, out: Tensor) -> Tensor:
    _, theirs, count = _shares(x, i, updates, out)
    return theirs * tf.gather_nd(g / count, i)


MIN = _declare(
    "tensor_scatter_nd_min",
    lambda out, row_numbers, rows: np.minimum.at(out, row_numbers, rows),
    "scatter_min",
    grad=(_grad_x, None, _grad_updates),
    accepts=dtypes.REAL,
)


def tensor_scatter_nd_min(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Tensor:
    """A copy of `tensor` with the smaller of present and given slices; ties share the gradient."""
    return _run(MIN, tensor, indices, updates, bad_indices_policy)


MAX = _declare(
    "tensor_scatter_nd_max",
    lambda out, row_numbers, rows: np.maximum.at(out, row_numbers, rows),
    "scatter_max",
    grad=(_grad_x, None, _grad_updates),
    accepts=dtypes.REAL,
)


def tensor_scatter_nd_max(
    tensor: TensorLike,
    indices: TensorLike,
    updates: TensorLike,
    bad_indices_policy: str = "",
    name: str | None = None,
) -> Tensor:
    """A copy of `tensor` with the larger of present and given slices; ties share the gradient."""
    return _run(MAX, tensor, indices, updates, bad_indices_policy)


# Updates of variables that TensorFlow has for rows only, one row after the other.


def _divide_rows(out: np.ndarray, row_numbers: np.ndarray, rows: np.ndarray) -> None:
    require_divisors("scatter_div", rows)
    for row_number, row in zip(row_numbers, rows, strict=True):
        out[row_number] = quotient(out[row_number], row)


def _lower_divide(x: JaxArray, i: JaxArray, updates: JaxArray) -> JaxArray:
    """A loop over the slices: a product of divisors could leave the range of the dtype."""
    depth, shape = i.shape[-1], x.shape
    fail_outside(i, *shape[:depth])
    if updates.dtype.kind in "iu":
        fail_if(lambda: updates == 0)
    rows = lax.reshape(i, (i.size // depth, depth))
    size = (*[1] * depth, *shape[depth:])
    new = lax.reshape(updates, (len(rows), *size))
    last = np.array(shape[:depth], i.dtype)

    def turn(k: Any, x: JaxArray) -> JaxArray:
        row = lax.dynamic_index_in_dim(rows, k, keepdims=False)
        start = [row[d] for d in range(depth)] + [row.dtype.type(0)] * (len(shape) - depth)
        divisor = lax.dynamic_index_in_dim(new, k, keepdims=False)
        old = lax.dynamic_slice(x, start, size)
        outside = lax.bitwise_or(lax.lt(row, lax.full_like(row, 0)), lax.ge(row, last))
        left_out = lax.reduce_or(outside, (0,))
        return lax.dynamic_update_slice(x, lax.select(left_out, old, lax.div(old, divisor)), start)

    return lax.fori_loop(0, len(rows), turn, x) if len(rows) else x


MUL = _declare(
    "scatter_mul",
    lambda out, row_numbers, rows: np.multiply.at(out, row_numbers, rows),
    "scatter_mul",
    grad=None,
    accepts=dtypes.NUMERIC,
    register=False,
)
DIV = _declare(
    "scatter_div",
    _divide_rows,
    _lower_divide,
    grad=None,
    accepts=dtypes.NUMERIC,
    register=False,
)


def ignores(name: str, policy: str) -> bool:
    """Whether index tuples outside are passed over; another policy than TensorFlow's is refused."""
    require(
        policy in ("", "DEFAULT", "ERROR", "IGNORE"),
        name,
        lambda: f"`bad_indices_policy` {policy!r} is not supported",
        help="Use 'ERROR' or 'IGNORE'.",
    )
    return policy == "IGNORE"


def inside(i: Any, sizes: Any) -> tuple[Any, Any]:
    """Which index tuples lie within `sizes`, and the tuples with zeros in place of the others."""
    wide = tf.cast(i, dtypes.int64)
    good = tf.reduce_all(tf.logical_and(tf.greater_equal(wide, 0), tf.less(wide, sizes)), -1)
    return good, tf.where(tf.expand_dims(good, -1), i, 0)


def only(good: Any, rows: Any, rank: int, otherwise: Any) -> Any:
    """`rows` of slices of `rank` axes where `good`, else `otherwise`."""
    for _ in range(rank):
        good = tf.expand_dims(good, -1)
    return tf.where(good, rows, otherwise)
