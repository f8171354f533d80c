"""Making tensors from nothing or from the shape of another: constants, ranges, grids."""

from __future__ import annotations

import builtins
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.dims import broadcast
from wengert.core.sites import caller
from wengert.ops.declare import (
    Dim,
    DType,
    DTypeLike,
    InvalidTypeError,
    Op,
    ShapeDtype,
    ShapeLike,
    Tensor,
    TensorLike,
    Value,
    apply,
    dtypes,
    executing_eagerly,
    fail_if,
    fallback,
    has_unknown_length,
    invalid,
    invalid_dtype,
    is_dynamic,
    is_open,
    is_symbolic,
    known_unequal,
    larger,
    lax,
    negative,
    operand,
    require,
    require_dtype,
    static_int,
    static_tuple,
    tf,
    to_tensor,
    with_fallback,
    wrap,
)
from wengert.ops.sizes import at_least, made
from wengert.ops.sizes import static_shape as sizes

if TYPE_CHECKING:
    from wengert.ops.row_list import Rows


_SMALL = 4096  # elements that a trace makes at once
_LARGEST = 2**63 - 1  # size of an axis
_MOST_TRACED = 2**31  # numbers of a `range` that a trace counts
_RANGE_TYPES = (
    dtypes.int8, dtypes.int16, dtypes.uint16, dtypes.uint32, dtypes.uint64, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64,
)  # fmt: skip


def _filled(shape: tuple[int, ...], value: np.ndarray) -> Tensor:
    """An array of one value in a trace: made now, or by the graph when it is large or open."""
    from wengert.ops.shaping import BROADCAST_TO

    if max((d for d in shape if type(d) is int), default=0) > _LARGEST:
        raise invalid("fill", f"no tensor can have a size beyond 64 bits; got shape {list(shape)}")
    if not is_open(shape) and math.prod(shape) <= _SMALL:
        return wrap(np.broadcast_to(value, shape).copy(), caller(1))
    return apply(BROADCAST_TO, wrap(value), shape=shape)


def constant(
    value: TensorLike, dtype: DTypeLike | None = None, shape: ShapeLike = None, name: str = "Const"
) -> Tensor:
    """A tensor with the given value; a single one fills `shape`.

    Args:
        value: a number, string, nested list or array.
        dtype: what to convert to; by default int32, float32, bool or string, or an array's own.
        shape: the shape of the result, which one value fills.
        name: without effect.

    Returns:
        A tensor.

    Raises:
        TypeError: the value is no tensor or does not fit the dtype.
        ValueError: rows differ in length.

    >>> tf.constant([1, 2], shape=[2, 1], dtype=tf.float32).numpy().tolist()
    [[1.0], [2.0]]
    """
    if dtype is not None and isinstance(value, Value) and value.dtype != dtypes.as_dtype(dtype):
        wanted = dtypes.as_dtype(dtype).name
        raise invalid_dtype(
            "constant", f"dtype {wanted} was asked for", value, help=f"Use tf.cast(x, tf.{wanted})."
        )
    x = to_tensor(value, dtype)
    if shape is None:
        return x
    wanted = sizes("constant", shape)
    array = x._array
    if is_symbolic(x) or is_open(wanted):
        return tf.broadcast_to(x, wanted) if array.ndim == 0 else tf.reshape(x, wanted)
    if array.shape == wanted:
        return x
    if array.size == 1:
        one = array.reshape(())
        return wrap(made("constant", np.full, wanted, one, array.dtype), caller())
    if array.size == math.prod(wanted):
        return wrap(array.reshape(wanted), caller())
    raise invalid(
        "constant",
        f"{array.size} values do not fill shape {list(wanted)}",
        x,
        kind=InvalidTypeError,
    )


def _blank(shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Zeros, `False` or empty strings."""
    if dtype is dtypes.string:
        return np.full(shape, b"", object)
    return np.zeros(shape, dtype.np)


def zeros(shape: Any, dtype: Any = dtypes.float32, name: Any = None, layout: Any = None) -> Tensor:
    """A tensor of zeros (empty strings, `False`).

    Args:
        shape: the sizes.
        dtype: the dtype.
        layout: without effect.
        name: without effect.

    Returns:
        A tensor.

    Raises:
        InvalidArgumentError: a size is negative.

    >>> tf.zeros([2], tf.int32).numpy().tolist()
    [0, 0]
    """
    try:
        if has_unknown_length(shape):
            return fill(shape, wrap(_blank((), dtypes.as_dtype(dtype))))
        result, kind = sizes("zeros", shape), dtypes.as_dtype(dtype)
        if executing_eagerly():
            return wrap(made("zeros", _blank, result, kind), caller())
        return _filled(result, _blank((), kind))
    except Exception as error:
        return fallback(zeros, error, (shape, dtype, layout))


def ones(shape: Any, dtype: Any = dtypes.float32, name: Any = None, layout: Any = None) -> Tensor:
    """A tensor of ones (`True`).

    Args:
        shape: the sizes.
        dtype: a dtype of numbers or truths.
        layout: without effect.
        name: without effect.

    Returns:
        A tensor.

    Raises:
        InvalidArgumentError: a size is negative.

    >>> tf.ones([2]).numpy().tolist()
    [1.0, 1.0]
    """
    kind = dtypes.as_dtype(dtype)
    require_dtype(kind is not dtypes.string, "ones", "there is no string 1")
    if has_unknown_length(shape):
        return fill(shape, wrap(np.ones((), kind.np)))
    result = sizes("ones", shape)
    if executing_eagerly():
        return wrap(made("ones", np.ones, result, kind.np), caller())
    return _filled(result, np.ones((), kind.np))


def _zeros_kernel(x: np.ndarray | Rows, dtype: DType) -> np.ndarray | Rows:
    # Rows of an array that loops write make zeros of their own shapes.
    return _blank(x.shape, dtype) if isinstance(x, np.ndarray | np.generic) else x.zeros()


ZEROS_LIKE = Op(
    "zeros_like",
    "x",
    kernel=_zeros_kernel,
    infer=lambda x, dtype: ShapeDtype(x.shape, dtype),
    lower=lambda x, dtype: lax.full(x.shape, 0, dtype.np),
    grad=None,
    fill=0,
    elementwise=True,
)


def zeros_like(
    input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, layout: Any = None
) -> Any:
    """Zeros in the shape of another tensor, and of its dtype unless one is given.

    Args:
        input: a tensor, or a ragged one.
        dtype: another dtype.
        layout: without effect.
        name: without effect.

    Returns:
        A tensor.

    Raises:
        TypeError: `input` does not become a tensor, or there is no such dtype.

    >>> tf.zeros_like([1.5, 2.5]).numpy().tolist()
    [0.0, 0.0]
    """
    x = operand(input)
    return apply(ZEROS_LIKE, x, dtype=x.dtype if dtype is None else dtypes.as_dtype(dtype))


ONES_LIKE = Op(
    "ones_like",
    "x",
    kernel=lambda x, dtype: np.ones(x.shape, dtype.np),
    infer=lambda x, dtype: ShapeDtype(x.shape, dtype),
    lower=lambda x, dtype: lax.full(x.shape, 1, dtype.np),
    grad=None,
    fill=1,
    elementwise=True,
)


def ones_like(
    input: TensorLike, dtype: DTypeLike | None = None, name: str | None = None, layout: Any = None
) -> Tensor:
    """Ones in the shape of another tensor, and of its dtype unless one is given.

    Args:
        input: a tensor, or a ragged one.
        dtype: another dtype.
        layout: without effect.
        name: without effect.

    Returns:
        A tensor.

    Raises:
        TypeError: `input` does not become a tensor, or there is no such dtype.

    >>> tf.ones_like([1.5, 2.5]).numpy().tolist()
    [1.0, 1.0]
    """
    x = operand(input)
    kind = x.dtype if dtype is None else dtypes.as_dtype(dtype)
    require_dtype(kind is not dtypes.string, "ones_like", "there is no string 1", x)
    return apply(ONES_LIKE, x, dtype=kind)


def fill(
    dims: TensorLike, value: TensorLike, name: str | None = None, layout: Any = None
) -> Tensor:
    """A tensor of shape `dims` that holds one value everywhere.

    Args:
        dims: the sizes.
        value: a scalar.
        layout: without effect.
        name: without effect.

    Returns:
        A tensor of the dtype of the value.

    Raises:
        InvalidArgumentError: a size is negative, or `value` is no scalar.

    >>> tf.fill([2, 2], 7).numpy().tolist()
    [[7, 7], [7, 7]]
    """
    try:
        x = operand(value)
        require(
            not x._array.ndim or not known_unequal(x._array.size, 1),
            "fill",
            "`value` must be a scalar",
            x,
        )
        shape = _as_vector(dims) if has_unknown_length(dims) else sizes("fill", dims)
        return tf.broadcast_to(tf.reshape(x, ()) if x._array.ndim else x, shape)
    except Exception as error:
        return fallback(fill, error, (dims, value, layout))


def _as_vector(dims: Any) -> Any:
    """A shape whose length a function knows when it runs; a single number counts as a list."""
    require_dtype(dims.dtype.is_integer, "fill", "a shape is made of whole numbers", dims)
    return dims if dims.shape.rank == 1 else tf.reshape(dims, (-1,))


def eye(
    num_rows: TensorLike,
    num_columns: TensorLike | None = None,
    batch_shape: TensorLike | None = None,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The identity matrix, or a batch of them.

    Args:
        num_rows: how many rows.
        num_columns: how many columns; as many by default.
        batch_shape: leading axes.
        dtype: the dtype.
        name: without effect.

    Returns:
        A tensor `[*batch_shape, num_rows, num_columns]`.

    Raises:
        InvalidArgumentError: a size is negative.

    >>> tf.eye(2).numpy().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    rows = static_int("eye", num_rows, "num_rows")
    columns = rows if num_columns is None else static_int("eye", num_columns, "num_columns")
    rows, columns = sizes("eye", (rows, columns))
    batch = () if batch_shape is None else sizes("eye", batch_shape)
    require_dtype(
        dtypes.as_dtype(dtype) is not dtypes.string, "eye", "there is no identity matrix of strings"
    )
    if is_open((rows, columns, *batch)):
        return _open_eye(rows, columns, batch, dtypes.as_dtype(dtype))
    return wrap(made("eye", _eye, rows, columns, batch, dtypes.as_dtype(dtype)), caller())


def _eye(rows: int, columns: int, batch: tuple[int, ...], dtype: DType) -> np.ndarray:
    from wengert.ops.shaping import broadcast_view

    matrix = np.eye(rows, columns, dtype=dtype.np)
    return broadcast_view(matrix, (*batch, rows, columns)) if batch else matrix


def _open_eye(rows: int | Dim, columns: int | Dim, batch: tuple[Any, ...], dtype: DType) -> Tensor:
    same = tf.equal(range(rows)[:, None], range(columns)[None, :])
    return tf.broadcast_to(tf.cast(same, dtype), (*batch, rows, columns))


def _check_range(first: Any, last: Any, step: Any) -> None:
    if step == 0:
        raise invalid("range", "`delta` must not be 0")
    if not (last - first if step > 0 else first - last) >= 0:  # NaN leads nowhere
        raise invalid(
            "range",
            f"`limit` {last} does not lie beyond `start` {first} in the direction of `delta` {step}",
        )


def _check_count(first: Any, last: Any, step: Any, most: int) -> None:
    """Refuses a range of fractions that never ends, or not before memory does."""
    require(
        abs(float(last - first) / float(step)) < most,
        "range",
        f"from {first} to {last} by {step} there are too many numbers",
    )


def _range_kernel(
    start: np.ndarray, limit: np.ndarray, delta: np.ndarray, count: int
) -> np.ndarray:
    first, last, step = start[()], limit[()], delta[()]
    _check_range(first, last, step)
    if start.dtype.kind not in "iu":
        _check_count(first, last, step, _MOST_TRACED)
    return start + np.arange(count).astype(start.dtype) * delta


def _lower_range(start: Any, limit: Any, delta: Any, count: int) -> Any:
    forwards = delta > 0
    fail_if(
        lambda: (delta == 0) | ~((forwards & (limit >= start)) | (~forwards & (start >= limit)))
    )
    if start.dtype.kind not in "iu":
        far = lambda x: lax.convert_element_type(x, np.float64)
        fail_if(lambda: ~(abs(far(limit - start) / far(delta)) < _MOST_TRACED))
    return start + lax.iota(start.dtype, count) * delta


# `range` of numbers that only the running function knows; `count` follows from them.
RANGE = Op(
    "range",
    "start limit delta",
    kernel=_range_kernel,
    infer=lambda start, limit, delta, count: ShapeDtype((count,), start.dtype),
    lower=_lower_range,
    grad=None,
    register=False,
)


def _as_size(x: Any) -> int:
    """A whole number, or what a trace knows of it."""
    return static_int("range", x, "limit")


def _not_zero(step: Any) -> Tensor:
    """A step to count by; that 0 is none, the kernel will say."""
    return tf.where(step == 0, 1, step) if is_symbolic(step) else step


def _count(first: int | Dim, last: Any, step: Any) -> Dim | int:
    """How many numbers there are, for whole numbers, forwards or backwards."""
    require(type(step) is not int or step != 0, "range", "`delta` must not be 0")
    return larger(-((first - last) // step), 0)


def _traced_range(
    start: TensorLike, limit: TensorLike, delta: TensorLike, wanted: DType | None
) -> Tensor:
    """`range` of numbers that are known only when the function runs."""
    given = [
        operand(v, None, None if isinstance(v, Value) else wanted) for v in (start, limit, delta)
    ]
    for x in given:
        require(
            x.dtype in _RANGE_TYPES, "range", "the arguments must be scalar int or float numbers", x
        )
    kind = wanted or max((x.dtype for x in given), key=_RANGE_TYPES.index)
    first, last, step = (x if x.dtype is kind else tf.cast(x, kind) for x in given)
    if kind.is_integer:
        count = _count(_as_size(first), _as_size(last), _as_size(_not_zero(step)))
    else:
        count = larger(_as_size(tf.cast(tf.ceil((last - first) / step), dtypes.int32)), 0)
    return apply(RANGE, first, last, step, count=count)


def range(  # the name is TensorFlow's
    start: Any,
    limit: Any = None,
    delta: Any = 1,
    dtype: DTypeLike | None = None,
    name: str = "range",
) -> Tensor:
    """The numbers `start`, `start + delta`, … before `limit`; from 0 with one argument.

    The step must lead from start towards the limit, and must not be 0.

    Args:
        start: the first number, or the limit if it stands alone.
        limit: the number before which it ends.
        delta: the step.
        dtype: the dtype; that of the arguments by default.
        name: without effect.

    Returns:
        A vector.

    Raises:
        InvalidArgumentError: the step is 0 or leads away from the limit.

    >>> tf.range(1, 10, 3).numpy().tolist()
    [1, 4, 7]
    """
    if limit is None:
        start, limit = 0, start
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if any(map(_is_open, (start, limit, delta))):
        return _traced_range(start, limit, delta, wanted)
    arrays = [_number(v, wanted) for v in (start, limit, delta)]
    if wanted is not None and wanted not in _RANGE_TYPES:
        names = ", ".join(t.name for t in _RANGE_TYPES)
        raise invalid_dtype("range", f"`dtype` must be one of {names}; got {wanted.name}")
    kind = wanted or max((dtypes.of(a) for a in arrays), key=_RANGE_TYPES.index)
    first, last, step = (_scalar(a, kind) for a in arrays)
    _check_range(first, last, step)
    if kind.is_integer:
        return wrap(made("range", np.arange, first, last, step, kind.np), caller())
    _check_count(first, last, step, _LARGEST)
    count = int(np.ceil(np.abs((last - first) / step)))
    return wrap(first + made("range", np.arange, count).astype(kind.np) * step, caller())


def _is_open(x: Tensor | float | np.generic | Dim) -> bool:
    return type(x) is Dim or is_dynamic(x)


def _scalar(array: np.ndarray, kind: DType) -> Any:
    """One number; fractions stay in their type, so that counting rounds as TensorFlow does."""
    if not kind.is_integer:
        return array.astype(kind.np)[()]
    require(
        array.dtype.kind in "iu" or kind.min <= float(array) <= kind.max,
        "range",
        lambda: f"{float(array)} is not a number of dtype {kind.name}",
    )
    return array.astype(kind.np).item()


def _number(value: TensorLike, wanted: DType | None) -> np.ndarray:
    """One argument of `range` as an array of rank 0."""
    # An adopted dtype may hold fractions that the value's own type has not: 3 as float32.
    x = operand(value, None, None if isinstance(value, Value) else wanted)
    require(
        not x._array.ndim and x.dtype in _RANGE_TYPES,
        "range",
        "the arguments must be scalar int or float numbers",
        x,
    )
    return x._array


@with_fallback
def linspace(
    start: TensorLike, stop: TensorLike, num: TensorLike, name: str | None = None, axis: Any = 0
) -> Tensor:
    """`num` evenly spaced values from `start` to `stop`, both included, along a new axis.

    Whole numbers give float64, those of 8 and 16 bits float32.

    Args:
        start, stop: the ends, scalars or tensors of one shape.
        num: how many values.
        axis: where the new axis stands.
        name: without effect.

    Returns:
        A tensor of floating-point numbers.

    Raises:
        InvalidArgumentError: the shapes of the ends differ.

    >>> tf.linspace(0.0, 1.0, 5).numpy().tolist()
    [0.0, 0.25, 0.5, 0.75, 1.0]
    """
    from wengert.core.shapes import check_axis

    x = operand(start)
    y = operand(stop, x.dtype)
    if x.dtype.is_integer:
        kind = dtypes.float32 if x.dtype.size < 4 else dtypes.float64
        x, y = tf.cast(x, kind), tf.cast(y, kind)
    counts = static_tuple("linspace", num, "num")
    require(
        len(counts) == 1 and not negative(counts[0]),
        "linspace",
        "`num` must be one number, not negative",
        num,
    )
    count = at_least("linspace", "`num`", counts[0], 0)
    given = x._array.shape, y._array.shape
    shape = broadcast("linspace", *given)
    dim = check_axis("linspace", static_int("linspace", axis), len(shape) + 1)
    x, y = (tf.expand_dims(tf.broadcast_to(v, shape), dim) for v in (x, y))
    if type(count) is Dim:
        return _open_linspace(x, y, count, dim, len(shape) + 1)
    if count <= 1:
        return x if count == 1 else x[(builtins.slice(None),) * dim + (builtins.slice(0),)]
    steps = made("linspace", np.arange, 1, count - 1).reshape(
        [-1 if k == dim else 1 for k in builtins.range(len(shape) + 1)]
    )
    inner = x + (y - x) / float(count - 1) * wrap(steps.astype(x.dtype.np))
    return tf.concat([x, inner, y], dim)


def _open_linspace(x: Tensor, y: Tensor, count: Dim, dim: int, rank: int) -> Tensor:
    """The values for a number of them that only the running function knows."""
    shape = [count if k == dim else 1 for k in builtins.range(rank)]
    number, last = tf.reshape(range(count), shape), operand(count) - 1
    steps = tf.cast(operand(larger(count - 1, 1)), x.dtype)
    inner = x + (y - x) / steps * tf.cast(number, x.dtype)
    # The ends are the given values, to the last bit.
    return tf.where(number == 0, x, tf.where(number == last, y, inner))


@with_fallback
def meshgrid(*args: TensorLike, **kwargs: Any) -> list[Tensor]:
    """Spreads vectors over a common grid; `indexing` is "xy" (the first two swapped) or "ij"."""
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    require(
        not kwargs, "meshgrid", lambda: f"unknown argument {next(iter(kwargs))!r}", kind=TypeError
    )
    require(
        indexing in ("xy", "ij"), "meshgrid", f"`indexing` must be 'xy' or 'ij'; got {indexing!r}"
    )
    xs = [operand(x) for x in args]
    places = list(builtins.range(len(xs)))
    if indexing == "xy" and len(xs) > 1:
        places[:2] = 1, 0
    counts = [x._array.size for x in xs]
    shape = [counts[p] for p in places]
    rows = [
        tf.reshape(x, [n if k == p else 1 for k in builtins.range(len(xs))])
        for x, n, p in zip(xs, counts, places, strict=True)
    ]
    return [tf.broadcast_to(row, shape) for row in rows]
