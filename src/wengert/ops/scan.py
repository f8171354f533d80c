"""Running sums, products and log-sum-exps along an axis.

Exclusive forms are the inclusive ones moved on by one place. Gradients of running products go
through `linear_recurrence`, h[i] = a[i]·h[i-1] + b[i], which never divides: zeros are no special
case, and the recurrence is its own adjoint, so every order follows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops.declare import (
    Axis,
    JaxArray,
    Joint,
    Op,
    Tensor,
    TensorLike,
    apply,
    check_axis,
    dtypes,
    in_float32,
    lax,
    lower_in_float32,
    operand,
    static_int,
    tf,
    unary,
    with_fallback,
)
from wengert.ops.threads import in_rows


def _accumulate(ufunc: np.ufunc) -> Callable[..., Any]:
    def kernel(x: np.ndarray, axis: int, reverse: bool) -> np.ndarray:
        if reverse:
            return np.flip(ufunc.accumulate(np.flip(x, axis), axis, dtype=x.dtype), axis)
        return ufunc.accumulate(x, axis, dtype=x.dtype)

    return in_rows(in_float32(kernel))


def _part(axis: int, ndim: int, start: int | None, stop: int | None) -> tuple[slice, ...]:
    """The index of a range along one axis."""
    return (slice(None),) * axis + (slice(start, stop),) + (slice(None),) * (ndim - axis - 1)


def _shift_kernel(x: np.ndarray, axis: int, reverse: bool, fill: float) -> np.ndarray:
    out = np.empty_like(x)
    first, last = _part(axis, x.ndim, None, 1), _part(axis, x.ndim, -1, None)
    front, back = _part(axis, x.ndim, None, -1), _part(axis, x.ndim, 1, None)
    if reverse:
        out[front], out[last] = x[back], fill
    else:
        out[back], out[first] = x[front], fill
    return out


def _lower_shift(x: JaxArray, axis: int, reverse: bool, fill: float) -> JaxArray:
    if not x.shape[axis]:
        return x
    amounts = [(0, 0, 0)] * x.ndim
    amounts[axis] = (-1, 1, 0) if reverse else (1, -1, 0)
    return lax.pad(x, x.dtype.type(fill), amounts)


SHIFT = unary(
    "scan_shift",
    _shift_kernel,
    _lower_shift,
    grad=lambda g, axis, reverse: shift(g, axis, not reverse),
    accepts=dtypes.NUMERIC,
    elementwise=False,
)


def shift(x: Tensor, axis: int, reverse: bool, fill: float = 0) -> Tensor:
    """Moves along an axis by one place, forwards unless `reverse`; `fill` enters at the end."""
    return apply(SHIFT, x, axis=axis, reverse=reverse, fill=fill)


def _recurrence_kernel(a: np.ndarray, b: np.ndarray, axis: int, reverse: bool) -> np.ndarray:
    if reverse:
        return np.flip(_recurrence_kernel(np.flip(a, axis), np.flip(b, axis), axis, False), axis)
    a, b = a.copy(), b.copy()
    step, n = 1, b.shape[axis]
    # Doubling the reach each time takes log n passes over whole arrays, not n over slices.
    while step < n:
        early = _part(axis, b.ndim, None, n - step)
        late = _part(axis, b.ndim, step, None)
        b[late] += a[late] * b[early]
        a[late] *= a[early].copy()
        step *= 2
    return b


def _lower_recurrence(a: JaxArray, b: JaxArray, axis: int, reverse: bool) -> JaxArray:
    def combine(
        left: tuple[JaxArray, ...], right: tuple[JaxArray, ...]
    ) -> tuple[JaxArray, JaxArray]:
        return lax.mul(left[0], right[0]), lax.add(right[1], lax.mul(right[0], left[1]))

    return lax.associative_scan(combine, (a, b), reverse=reverse, axis=axis)[1]


def _recurrence_grad(
    g: Tensor, a: Tensor, out: Tensor, axis: int, reverse: bool
) -> tuple[Tensor, Tensor]:
    back = linear_recurrence(shift(a, axis, not reverse), g, axis, not reverse)
    return back * shift(out, axis, reverse), back


LINEAR_RECURRENCE = Op(
    "linear_recurrence",
    "a b",
    kernel=in_float32(_recurrence_kernel),
    infer=lambda a, b, axis, reverse: b,
    lower=lower_in_float32(_lower_recurrence),
    grad=Joint(_recurrence_grad),
    accepts=dtypes.INEXACT,
)


def linear_recurrence(a: Tensor, b: Tensor, axis: int, reverse: bool) -> Tensor:
    """h[i] = a[i]·h[i-1] + b[i] along an axis, from nothing; `reverse` runs from the end."""
    return apply(LINEAR_RECURRENCE, a, b, axis=axis, reverse=reverse)


def _scan(op: Op, x: Any, axis: Any, exclusive: bool, reverse: bool, fill: float) -> Tensor:
    x = operand(x)
    dim = check_axis(op.name, static_int(op.name, axis), x._array.ndim)
    out = apply(op, x, axis=dim, reverse=bool(reverse))
    return shift(out, dim, bool(reverse), fill) if exclusive else out


CUMSUM = unary(
    "cumsum",
    _accumulate(np.add),
    lower_in_float32(lambda x, axis, reverse: lax.cumsum(x, axis, reverse)),
    grad=lambda g, axis, reverse: apply(CUMSUM, g, axis=axis, reverse=not reverse),
    accepts=dtypes.NUMERIC,
    elementwise=False,
)


@with_fallback
def cumsum(
    x: TensorLike,
    axis: Axis = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Running sums along `axis`; `exclusive` leaves each element out of its own sum.

    Args:
        x: a tensor of numbers.
        axis: the axis.
        exclusive: whether a sum begins with 0 and leaves its own element out.
        reverse: whether to sum from the end.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: there is no such axis.

    >>> tf.cumsum([1, 2, 3]).numpy().tolist()
    [1, 3, 6]
    """
    return _scan(CUMSUM, x, axis, exclusive, reverse, 0)


def _cumprod_grad(g: Tensor, x: Tensor, axis: int, reverse: bool) -> Tensor:
    before = cumprod(x, axis, exclusive=True, reverse=reverse)
    # What reaches nobody has no gradient, even where the products before it overflow.
    after = linear_recurrence(shift(x, axis, not reverse), g, axis, not reverse)
    return tf.multiply_no_nan(before, after)


CUMPROD = unary(
    "cumprod",
    _accumulate(np.multiply),
    lower_in_float32(lambda x, axis, reverse: lax.cumprod(x, axis, reverse)),
    grad=_cumprod_grad,
    accepts=dtypes.NUMERIC,
    elementwise=False,
)


@with_fallback
def cumprod(
    x: TensorLike,
    axis: Axis = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Running products along `axis`; the gradient is right with any number of zeros."""
    return _scan(CUMPROD, x, axis, exclusive, reverse, 1)


def _cumulative_logsumexp_grad(
    g: Tensor, x: Tensor, out: Tensor, axis: int, reverse: bool
) -> Tensor:
    # Ratios of neighbouring sums are at most 1, so nothing overflows on the way.
    ratio = tf.exp(out - shift(out, axis, not reverse, np.inf))
    return tf.exp(x - out) * linear_recurrence(ratio, g, axis, not reverse)


CUMULATIVE_LOGSUMEXP = unary(
    "cumulative_logsumexp",
    _accumulate(np.logaddexp),
    lower_in_float32(lambda x, axis, reverse: lax.cumlogsumexp(x, axis, reverse)),
    grad=_cumulative_logsumexp_grad,
    accepts=dtypes.FLOAT,
    elementwise=False,
    xla_share=10,
)


@with_fallback
def cumulative_logsumexp(
    x: TensorLike,
    axis: Axis = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: str | None = None,
) -> Tensor:
    """Running log(sum(exp(x))) along `axis` without overflow; a NaN stays to the end."""
    return _scan(CUMULATIVE_LOGSUMEXP, x, axis, exclusive, reverse, -np.inf)
