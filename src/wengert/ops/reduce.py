"""Reductions over axes: sums, means, products, extremes, logical ones and counts.

Owns the helpers that every reduction shares: `reduce_args` for what users give as axes, `reduced`
for the shape that is left, `kept` and `restore` for spreading a gradient back over it.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, ParamSpec

import numpy as np

from wengert.core import dtypes, nest, shapes
from wengert.core.apply import apply, apply1
from wengert.core.convert import operand, operand_or_empty
from wengert.core.errors import invalid
from wengert.core.fallbacks import fallback, with_fallback
from wengert.core.lazy_modules import lax
from wengert.core.lowering_checks import as_numbers
from wengert.core.op_facts import TAME
from wengert.core.padded_stacks import (
    Padded,
    RowCount,
    over_rows,
    rows_unknown,
    single,
    spread_rows,
)
from wengert.core.symbolic import SymbolicTensor, is_symbolic
from wengert.core.types import (
    Axis,
    Dim,
    DType,
    DTypeLike,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
)
from wengert.graph import known_elements
from wengert.ops import public as tf
from wengert.ops.declare import (
    HALF,
    expand,
    function_of,
    in_float32,
    is_dynamic,
    lower_in_float32,
    number_type,
    static,
)
from wengert.ops.fast_reductions import combine, fold
from wengert.ops.threads import in_parts

P = ParamSpec("P")


def reduced(x: ShapeDtype, axis: tuple[int, ...], keepdims: bool) -> shapes.Shape:
    """The shape that is left when `axis` is reduced away."""
    if x.shape is None:
        return None
    if keepdims:
        return tuple(1 if i in axis else d for i, d in enumerate(x.shape))
    return tuple(d for i, d in enumerate(x.shape) if i not in axis)


def kept(
    g: Tensor, x_shape: tuple[int | Dim, ...], axis: tuple[int, ...], keepdims: bool
) -> Tensor:
    """`g` in a shape that broadcasts against the tensor that was reduced."""
    if keepdims or axis == tuple(range(len(axis))):
        return g
    return tf.reshape(g, tuple(1 if i in axis else d for i, d in enumerate(x_shape)))


def restore(
    g: Tensor, x_shape: tuple[int | Dim, ...], axis: tuple[int, ...], keepdims: bool
) -> Tensor:
    """Spreads a gradient of a reduction back over the axes it summed away."""
    return tf.broadcast_to(kept(g, x_shape, axis, keepdims), x_shape)


def count(shape: Any, axis: tuple[int, ...]) -> int:
    """How many elements are reduced into one."""
    return math.prod([shape[i] for i in axis])


def reduce_args(
    name: str, x: Any, axis: Axis, dtype: DType | None = None, keepdims: bool | None = True
) -> Any:
    """The tensor and its axes as sorted non-negative numbers; naming an axis twice is an error.

    A tensor of unknown rank can be reduced as a whole where no axes are kept.
    """
    if axis is None and type(x) is Tensor and dtype is None:
        return x, _AXES[x._array.ndim]
    x = operand(x, dtype)
    if axis is None and not keepdims and is_symbolic(x) and x.shape.rank is None:
        x = tf.reshape(x, (-1,))
    rank = x._array.ndim
    if axis is None:
        return x, tuple(range(rank))
    if type(axis) is int and -rank <= axis < rank:
        return x, (axis % rank,)
    result = static(name, axis)
    if not keepdims and (
        type(result) is Dim or (type(result) is tuple and [*map(type, result)] == [Dim])
    ):
        return _moved_first(x, tf.reshape(axis, ())), (0,)
    if isinstance(result, tuple) and tuple in map(type, result):
        known = not is_dynamic(axis)
        result = (
            static(name, operand(axis)._array.ravel()) if known else tuple(nest.flatten(result))
        )
    wanted = shapes.axes(name, result, rank)
    if len(set(wanted)) < len(wanted):
        raise invalid(
            name, f"`axis` {list(wanted)} names an axis twice", x, help="Name each axis once."
        )
    return x, tuple(sorted(wanted))


_AXES = [tuple(range(rank)) for rank in range(65)]  # NumPy has no more


def _reduction(
    input_tensor: Any, axis: Any = None, keepdims: bool = False, name: Any = None
) -> Any:
    try:
        x, axes = reduce_args(_op.name, input_tensor, axis, None, keepdims)
        return apply1(_op, x, axis=axes, keepdims=bool(keepdims))
    except Exception as error:
        return fallback(_function, error, (input_tensor, axis, keepdims))


_op: Any = None  # of a function that `reduction` makes, and the function itself
_function: Any = None


def reduction(op: Op) -> Callable[[Callable[P, Any]], Callable[P, Tensor]]:
    """Gives a function that reduces axes its body, as `function_of` does."""
    return function_of(
        op, _reduction, apply1=apply1, bool=bool, fallback=fallback, reduce_args=reduce_args
    )


def _moved_first(x: SymbolicTensor, axis: Any) -> Tensor:
    """The tensor with an axis in front that is known only when the function runs."""
    rank = x._array.ndim
    others = np.arange(rank - 1, dtype=np.int32)
    number = tf.cast(axis, dtypes.int32)
    number = number + rank * tf.cast(number < 0, dtypes.int32)
    after = tf.cast(others >= number, dtypes.int32)
    return tf.transpose(x, tf.concat([tf.reshape(number, (1,)), others + after], 0))


def lowest(dtype: np.dtype) -> int | np.generic:
    """What every number of a real type is at least: the largest of nothing."""
    return dtype.type(-np.inf) if dtype.kind == "f" else np.iinfo(dtype).min


def highest(dtype: np.dtype) -> int | np.generic:
    """What every number of a real type is at most: the smallest of nothing."""
    return dtype.type(np.inf) if dtype.kind == "f" else np.iinfo(dtype).max


def _lowering(combine: str, start: Callable[[np.dtype], Any]) -> Callable[..., Any]:
    def lower(x: JaxArray, axis: tuple[int, ...], keepdims: bool) -> JaxArray:
        out = fold(x, start(x.dtype), getattr(lax, combine), axis)
        return lax.expand_dims(out, axis) if keepdims else out

    return over_rows(lower_in_float32(lower), start)


def _same(x: ShapeDtype, axis: tuple[int, ...], keepdims: bool) -> ShapeDtype:
    return ShapeDtype(reduced(x, axis, keepdims), x.dtype)


def _sum_kernel(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> np.generic | np.ndarray:
    if x.dtype.num in HALF:
        total = combine(np.add, x.astype(np.float32), axis, keepdims)
        return np.asarray(total).astype(x.dtype)
    return combine(np.add, x, axis, keepdims)


REDUCE_SUM = Op(
    "reduce_sum",
    "x",
    kernel=_sum_kernel,
    infer=_same,
    lower=_lowering("add", lambda dtype: 0),
    grad=restore,
    accepts=dtypes.NUMERIC,
    hazards=TAME,
    takes_padded=True,
)


@reduction(REDUCE_SUM)
def reduce_sum(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The sum over `axis`, or over everything; integers wrap around, nothing sums to 0.

    Args:
        input_tensor: a tensor of numbers.
        axis: one axis or several; all by default.
        keepdims: whether the axes stay, with size 1.
        name: without effect.

    Returns:
        A tensor without these axes.

    Raises:
        InvalidArgumentError: there is no such axis.

    >>> tf.reduce_sum([[1, 2], [3, 4]], axis=0).numpy().tolist()
    [4, 6]
    """


def _mean_kernel(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> np.generic | np.ndarray:
    n = x.size if len(axis) == x.ndim else count(x.shape, axis)
    dtype = x.dtype
    if dtype.char in "fd":
        return combine(np.add, x, axis, keepdims) / n
    kind = dtype.kind
    if kind in "iu":
        large = np.uint64 if kind == "u" else np.int64
        total = np.add.reduce(x, axis, dtype=large, keepdims=keepdims)
        return np.asarray(np.sign(total) * (np.abs(total) // large(max(n, 1)))).astype(x.dtype)
    if x.dtype.num in HALF:
        total = combine(np.add, x.astype(np.float32), axis, keepdims)
        return np.true_divide(total, np.float32(n)).astype(x.dtype)
    if kind == "c":
        n = max(n, 1)
    return combine(np.add, x, axis, keepdims) / dtype.type(n)


def _lower_mean(x: JaxArray | Padded, axis: tuple[int, ...], keepdims: bool) -> JaxArray | Padded:
    if type(x) is Padded:
        if 0 not in axis:
            return single(x).mapped(lambda a: _lower_mean(a, axis, keepdims))
        rows = lax.convert_element_type(x.length, np.int64)
        return _mean_of(x.filled(0), rows * count(x.array.shape, axis[1:]), axis, keepdims)
    return _mean_of(x, count(x.shape, axis), axis, keepdims)


def _mean_of(x: JaxArray, n: int | JaxArray, axis: tuple[int, ...], keepdims: bool) -> JaxArray:
    own = x.dtype
    if own.kind in "iu":
        x = lax.convert_element_type(x, np.uint64 if own.kind == "u" else np.int64)
    if own.kind in "iuc":
        n = lax.max(n, n * 0 + 1) if hasattr(n, "dtype") else max(n, 1)
    total = fold(x, 0, lax.add, axis)
    mean = lax.convert_element_type(lax.div(total, lax.full_like(total, n)), own)
    return lax.expand_dims(mean, axis) if keepdims else mean


def _spread_kernel(
    g: np.ndarray, shape: tuple[int, ...], axis: tuple[int, ...], keepdims: bool
) -> np.ndarray:
    if not g.ndim and g.dtype.num not in HALF:
        out = np.empty(shape, g.dtype)
        out.fill(g[()] / out.size)
        return out
    return _spread_rows(g, shape=shape, axis=axis, keepdims=keepdims)


@in_float32
def _spread_rows(
    g: np.ndarray, shape: tuple[int, ...], axis: tuple[int, ...], keepdims: bool
) -> np.ndarray:
    share = g / count(shape, axis)
    if not keepdims and len(axis) < len(shape):
        share = share.reshape([1 if i in axis else d for i, d in enumerate(shape)])
    out = np.empty(shape, g.dtype)
    out[...] = share
    return out


def _lower_spread(
    g: JaxArray | Padded, shape: tuple[Any, ...], axis: tuple[int, ...], keepdims: bool
) -> Any:
    if RowCount in map(type, shape):
        return _spread_over_rows(g, shape, axis)
    kept = [1 if i in axis else d for i, d in enumerate(shape)]
    share = lax.div(g, lax.full_like(g, count(shape, axis)))
    return expand(lax.reshape(share, kept), shape)


def _spread_over_rows(
    g: JaxArray | Padded, shape: tuple[Any, ...], axis: tuple[int, ...]
) -> Padded:
    """The same for a stack of which only some rows count."""
    if 0 not in axis or type(g) is Padded:
        raise rows_unknown()
    kept = [1 if i in axis else d for i, d in enumerate(shape)]
    n = shape[0].value(np.dtype(np.int64)) * count(shape, axis[1:])
    share = lax.div(g, lax.full_like(g, n))
    return spread_rows(lax.reshape(share, kept), shape, expand)


# The gradient of a mean, and a mean of its own gradient: each undoes the other's shape.
SPREAD_MEAN = Op(
    "spread_mean",
    "g",
    kernel=_spread_kernel,
    infer=lambda g, shape, axis, keepdims: ShapeDtype(shape, g.dtype),
    lower=lower_in_float32(_lower_spread),
    grad=lambda h, axis, keepdims: apply(REDUCE_MEAN, h, axis=axis, keepdims=keepdims),
    accepts=dtypes.INEXACT,
    takes_padded=True,
)


REDUCE_MEAN = Op(
    "reduce_mean",
    "x",
    kernel=_mean_kernel,
    infer=_same,
    lower=lower_in_float32(_lower_mean),
    grad=lambda g, x_shape, axis, keepdims: apply1(
        SPREAD_MEAN, g, shape=x_shape, axis=axis, keepdims=keepdims
    ),
    accepts=dtypes.NUMERIC,
    hazards=TAME,
    takes_padded=True,
)


@reduction(REDUCE_MEAN)
def reduce_mean(
    input_tensor: Any, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The mean over `axis`; of integers rounded towards zero, of nothing NaN.

    The mean of no integers or complex numbers is 0.

    Args:
        input_tensor: a tensor of numbers.
        axis: one axis or several; all by default.
        keepdims: whether the axes stay, with size 1.
        name: without effect.

    Returns:
        A tensor without these axes.

    Raises:
        InvalidArgumentError: there is no such axis.

    >>> tf.reduce_mean([[1.0, 2.0], [3.0, 4.0]], axis=1, keepdims=True).numpy().tolist()
    [[1.5], [3.5]]
    """


def _prod_grad(
    g: Tensor, x: Tensor, x_shape: tuple[int | Dim, ...], axis: tuple[int, ...], keepdims: bool
) -> Any:
    """Multiplies by the product of all *other* elements: right with any number of zeros."""
    if not axis:
        return g
    if len(axis) == 1:
        others = tf.cumprod(x, axis[0], exclusive=True) * tf.cumprod(x, axis[0], True, True)
        return kept(g, x_shape, axis, keepdims) * others
    rest = tuple(i for i in range(len(x_shape)) if i not in axis)
    order, last = rest + axis, len(rest)
    moved = tuple(x_shape[i] for i in order)
    flat = tf.reshape(tf.transpose(x, order), (*moved[:last], count(x_shape, axis)))
    others = tf.reshape(tf.cumprod(flat, last, True) * tf.cumprod(flat, last, True, True), moved)
    others = tf.transpose(others, tuple(int(i) for i in np.argsort(order)))
    return kept(g, x_shape, axis, keepdims) * others


REDUCE_PROD = Op(
    "reduce_prod",
    "x",
    kernel=in_float32(lambda x, axis, keepdims: combine(np.multiply, x, axis, keepdims)),
    infer=_same,
    lower=_lowering("mul", lambda dtype: 1),
    grad=_prod_grad,
    accepts=dtypes.NUMERIC,
    contents=known_elements.product,
    takes_padded=True,
)


@reduction(REDUCE_PROD)
def reduce_prod(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The product over `axis`; integers wrap around, the product of nothing is 1.

    Args:
        input_tensor: a tensor of numbers.
        axis: one axis or several; all by default.
        keepdims: whether the axes stay, with size 1.
        name: without effect.

    Returns:
        A tensor without these axes.

    Raises:
        InvalidArgumentError: there is no such axis.

    >>> int(tf.reduce_prod([2, 3, 4]))
    24
    """


def _extreme(ufunc: np.ufunc, start: Callable[[np.dtype], Any]) -> Callable[..., Any]:
    def kernel(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> np.generic | np.ndarray:
        if x.size:
            return combine(ufunc, x, axis, keepdims)
        return ufunc.reduce(x, axis, keepdims=keepdims, initial=start(x.dtype))

    return in_float32(kernel)


def _share_kernel(
    x: np.ndarray, out: np.ndarray, axis: tuple[int, ...], keepdims: bool
) -> np.ndarray:
    hit = (x == (out if keepdims else np.expand_dims(out, axis))).astype(x.dtype)
    return hit / combine(np.add, hit, axis, True)


def _lower_share(x: JaxArray, out: JaxArray, axis: tuple[int, ...], keepdims: bool) -> JaxArray:
    def wide_as_x(y: JaxArray) -> JaxArray:
        return lax.broadcast_in_dim(y, x.shape, range(x.ndim))

    # XLA may compute x anew for each of its uses, each time rounded otherwise, so that none would
    # equal the extreme. Here it is computed once, and what is nearest to the extreme is hit.
    x = lax.optimization_barrier(x)
    out = out if keepdims else lax.expand_dims(out, axis)
    far = wide_as_x(out)
    apart = lax.select(lax.eq(x, far), lax.full_like(x, 0), lax.abs(lax.sub(x, far)))
    least = lax.expand_dims(fold(apart, np.inf, lax.min, axis), axis)
    hit = lax.eq(apart, wide_as_x(least))
    total = lax.expand_dims(fold(as_numbers(hit, x.dtype), 0, lax.add, axis), axis)
    missed = lax.select(lax.ne(out, out), lax.full_like(total, np.nan), lax.full_like(total, 0))
    share = lax.add(lax.div(lax.full_like(total, 1), total), missed)
    return lax.select(hit, wide_as_x(share), wide_as_x(missed))


EXTREME_SHARE = Op(
    "extreme_share",
    "x out",
    kernel=in_float32(_share_kernel),
    infer=lambda x, out, axis, keepdims: x,
    lower=lower_in_float32(_lower_share),
    grad=None,
    accepts=dtypes.FLOAT,
)


def _extreme_grad(
    g: Tensor,
    x: Tensor,
    out: Tensor,
    x_shape: tuple[int | Dim, ...],
    axis: tuple[int, ...],
    keepdims: bool,
) -> Any:
    """Elements that tie for the extreme share its gradient equally."""
    share = apply(EXTREME_SHARE, x, out, axis=axis, keepdims=keepdims)
    return kept(g, x_shape, axis, keepdims) * share


REDUCE_MAX = Op(
    "reduce_max",
    "x",
    kernel=_extreme(np.maximum, lowest),
    infer=_same,
    lower=_lowering("max", lowest),
    grad=_extreme_grad,
    accepts=dtypes.REAL,
    takes_padded=True,
)


@reduction(REDUCE_MAX)
def reduce_max(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The largest over `axis`; NaN wins, nothing gives -inf; ties share the gradient equally.

    Args:
        input_tensor: a tensor of numbers.
        axis: one axis or several; all by default.
        keepdims: whether the axes stay, with size 1.
        name: without effect.

    Returns:
        A tensor without these axes.

    Raises:
        InvalidArgumentError: there is no such axis.

    >>> tf.reduce_max([[1, 5], [3, 4]], axis=1).numpy().tolist()
    [5, 4]
    """


REDUCE_MIN = Op(
    "reduce_min",
    "x",
    kernel=_extreme(np.minimum, highest),
    infer=_same,
    lower=_lowering("min", highest),
    grad=_extreme_grad,
    accepts=dtypes.REAL,
    takes_padded=True,
)


@reduction(REDUCE_MIN)
def reduce_min(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The smallest over `axis`; NaN wins, nothing gives inf; ties share the gradient equally.

    Args:
        input_tensor: a tensor of numbers.
        axis: one axis or several; all by default.
        keepdims: whether the axes stay, with size 1.
        name: without effect.

    Returns:
        A tensor without these axes.

    Raises:
        InvalidArgumentError: there is no such axis.

    >>> tf.reduce_min([[1, 5], [3, 4]], axis=1).numpy().tolist()
    [1, 3]
    """


def _of_truths(reduce: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a kernel, shape rule or lowering take one truth where the trace expected several.

    `x == y` has no axis if the sizes, which the trace did not know, do not broadcast.
    """

    def run(x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
        single = getattr(x, "shape", None) == ()
        return reduce(x, axis=() if single else axis, keepdims=keepdims)

    return run


REDUCE_ALL = Op(
    "reduce_all",
    "x",
    kernel=_of_truths(functools.partial(combine, np.logical_and)),
    infer=_of_truths(_same),
    lower=_of_truths(_lowering("bitwise_and", lambda dtype: True)),
    grad=None,
    accepts=dtypes.BOOL,
    takes_padded=True,
)


def _truth(x: Any) -> Any:
    """An array of numbers as booleans, as TensorFlow converts it; tensors stay as they are."""
    numbers = isinstance(x, np.ndarray)
    return operand(x, dtypes.bool_) if numbers else operand_or_empty(x, dtypes.bool_)


def reduce_all(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Whether all elements along `axis` are true; of nothing, true.

    Args:
        input_tensor: a tensor of truths.
        axis: one axis or several; all by default.
        keepdims: whether the axes stay, with size 1.
        name: without effect.

    Returns:
        A tensor without these axes.

    Raises:
        InvalidArgumentError: there is no such axis.

    >>> tf.reduce_all([[True, False], [True, True]], axis=1).numpy().tolist()
    [False, True]
    """
    try:
        x, axes = reduce_args("reduce_all", _truth(input_tensor), axis, None, keepdims)
        return apply1(REDUCE_ALL, x, axis=axes, keepdims=bool(keepdims))
    except Exception as error:
        return fallback(reduce_all, error, (input_tensor, axis, keepdims))


REDUCE_ANY = Op(
    "reduce_any",
    "x",
    kernel=_of_truths(functools.partial(combine, np.logical_or)),
    infer=_of_truths(_same),
    lower=_of_truths(_lowering("bitwise_or", lambda dtype: False)),
    grad=None,
    accepts=dtypes.BOOL,
    takes_padded=True,
)


def reduce_any(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """Whether any element along `axis` is true; of nothing, false.

    Args:
        input_tensor: a tensor of truths.
        axis: one axis or several; all by default.
        keepdims: whether the axes stay, with size 1.
        name: without effect.

    Returns:
        A tensor without these axes.

    Raises:
        InvalidArgumentError: there is no such axis.

    >>> tf.reduce_any([[True, False], [False, False]], axis=1).numpy().tolist()
    [True, False]
    """
    try:
        x, axes = reduce_args("reduce_any", _truth(input_tensor), axis, None, keepdims)
        return apply1(REDUCE_ANY, x, axis=axes, keepdims=bool(keepdims))
    except Exception as error:
        return fallback(reduce_any, error, (input_tensor, axis, keepdims))


# Compared with zero, since NumPy casts numbers to truths one by one.
_is_hit = in_parts(lambda x: x.astype(bool) if x.dtype.kind in "VO" else np.not_equal(x, 0))


def _count_kernel(x: np.ndarray, axis: tuple[int, ...], keepdims: bool, dtype: DType) -> np.ndarray:
    hit = _is_hit(x)
    if len(axis) == x.ndim:
        result = np.asarray(np.count_nonzero(hit))
        return (result.reshape((1,) * x.ndim) if keepdims else result).astype(dtype.np)
    result = np.add.reduce(hit, axis, dtype=np.int64, keepdims=keepdims)
    return np.asarray(result).astype(dtype.np)


def _lower_count(x: JaxArray, axis: tuple[int, ...], keepdims: bool, dtype: DType) -> JaxArray:
    hit = lax.convert_element_type(lax.ne(x, lax.full_like(x, 0)), np.int64)
    result = fold(hit, 0, lax.add, axis)
    result = lax.expand_dims(result, axis) if keepdims else result
    return lax.convert_element_type(result, dtype.np)


COUNT_NONZERO = Op(
    "count_nonzero",
    "x",
    kernel=_count_kernel,
    infer=lambda x, axis, keepdims, dtype: ShapeDtype(reduced(x, axis, keepdims), dtype),
    lower=_lower_count,
    grad=None,
)


@with_fallback
def count_nonzero(
    input: TensorLike,
    axis: Axis = None,
    keepdims: bool | None = None,
    dtype: DTypeLike = dtypes.int64,
    name: str | None = None,
) -> Tensor:
    """How many elements differ from zero, or from the empty string; NaN does.

    Args:
        input: a tensor of numbers, booleans or strings.
        axis: an axis or a list of axes; all for `None`.
        keepdims: `True` keeps reduced axes with size 1.
        dtype: of the result.
        name: without effect.

    Returns:
        A tensor without the reduced axes.

    Raises:
        InvalidArgumentError: `axis` is out of range.

    >>> int(tf.math.count_nonzero([0, 1, 2]))
    2
    """
    x, axes = reduce_args("count_nonzero", input, axis, None, keepdims)
    kind = number_type("count_nonzero", dtype)
    return apply(COUNT_NONZERO, x, axis=axes, keepdims=bool(keepdims), dtype=kind)


def zero_fraction(value: TensorLike, name: str | None = None) -> Tensor:
    """The share of elements that are zero, as float32; NaN for an empty tensor."""
    x = operand(value)
    total = tf.size(x, dtypes.int64)
    return tf.cast(total - count_nonzero(x), dtypes.float32) / tf.cast(total, dtypes.float32)
