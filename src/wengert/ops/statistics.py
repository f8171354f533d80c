"""Reductions with a little mathematics inside: log-sum-exp, variance and Euclidean length."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.declare import (
    Axis,
    Dim,
    IndexedSlices,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply2,
    dtypes,
    in_float32,
    larger,
    lax,
    lower_in_float32,
    tf,
)
from wengert.ops.fast_reductions import combine, fold, sum_of_squares
from wengert.ops.power import SQRT_GRAD
from wengert.ops.reduce import count, kept, reduced, reduction
from wengert.ops.sizes import factor


def _logsumexp_kernel(
    x: np.ndarray, axis: tuple[int, ...], keepdims: bool
) -> np.generic | np.ndarray:
    if x.size:
        top = combine(np.maximum, x, axis, True)
    else:
        top = np.maximum.reduce(x, axis, keepdims=True, initial=-np.inf)
    finite = np.isfinite(top)
    if not finite.all():
        top = np.where(finite, top, x.dtype.type(0))
    out = np.log(combine(np.add, np.exp(x - top), axis, True)) + top
    return out if keepdims else out.squeeze(axis)


def _lower_logsumexp(x: JaxArray, axis: tuple[int, ...], keepdims: bool) -> JaxArray:
    def spread(y: JaxArray) -> JaxArray:
        return lax.broadcast_in_dim(lax.expand_dims(y, axis), x.shape, range(x.ndim))

    top = fold(x, -np.inf, lax.max, axis)
    top = lax.select(lax.is_finite(top), top, lax.full_like(top, 0))
    total = fold(lax.exp(lax.sub(x, spread(top))), 0, lax.add, axis)
    out = lax.add(lax.log(total), top)
    return lax.expand_dims(out, axis) if keepdims else out


def _logsumexp_grad(
    g: Tensor,
    x: Tensor,
    out: Tensor,
    x_shape: tuple[int | Dim, ...],
    axis: tuple[int, ...],
    keepdims: bool,
) -> Tensor:
    weights = tf.exp(x - kept(out, x_shape, axis, keepdims))
    return kept(g, x_shape, axis, keepdims) * weights


REDUCE_LOGSUMEXP = Op(
    "reduce_logsumexp",
    "x",
    kernel=in_float32(_logsumexp_kernel),
    infer=lambda x, axis, keepdims: ShapeDtype(reduced(x, axis, keepdims), x.dtype),
    lower=lower_in_float32(_lower_logsumexp),
    grad=_logsumexp_grad,
    accepts=dtypes.FLOAT,
)


@reduction(REDUCE_LOGSUMEXP)
def reduce_logsumexp(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """log(sum(exp(x))) without overflow; of nothing, and of nothing but -inf, it is -inf.

    Args:
        input_tensor: a floating or complex tensor.
        axis: an axis or a list of axes; all for `None`.
        keepdims: `True` keeps reduced axes with size 1.
        name: without effect.

    Returns:
        A tensor without the reduced axes.

    Raises:
        InvalidArgumentError: `axis` is out of range.

    >>> float(tf.reduce_logsumexp([0.0])) == 0.0
    True
    """


def _square(x: np.ndarray) -> np.ndarray:
    return x * x if x.dtype.kind != "c" else np.real(x) ** 2 + np.imag(x) ** 2


def _variance_kernel(
    x: np.ndarray, axis: tuple[int, ...], keepdims: bool
) -> np.generic | np.ndarray:
    n = np.real(x).dtype.type(count(x.shape, axis))
    away = x - combine(np.add, x, axis, True) / n
    return combine(np.add, _square(away), axis, keepdims) / n


def _lower_square(x: JaxArray) -> JaxArray:
    if not np.issubdtype(x.dtype, np.complexfloating):
        return lax.mul(x, x)
    re, im = lax.real(x), lax.imag(x)
    return lax.add(lax.mul(re, re), lax.mul(im, im))


def _lower_variance(x: JaxArray, axis: tuple[int, ...], keepdims: bool) -> JaxArray:
    n = count(x.shape, axis)
    total = lax.expand_dims(fold(x, 0, lax.add, axis), axis)
    mean = lax.div(total, lax.full_like(total, n))
    away = _lower_square(lax.sub(x, lax.broadcast_in_dim(mean, x.shape, range(x.ndim))))
    total = fold(away, 0, lax.add, axis)
    out = lax.div(total, lax.full_like(total, n))
    return lax.expand_dims(out, axis) if keepdims else out


def _infer_real(x: ShapeDtype, axis: tuple[int, ...], keepdims: bool) -> ShapeDtype:
    return ShapeDtype(reduced(x, axis, keepdims), x.dtype.real_dtype)


def _variance_grad(
    g: Tensor, x: Tensor, x_shape: tuple[int | Dim, ...], axis: tuple[int, ...], keepdims: bool
) -> Tensor:
    away = x - tf.reduce_mean(x, axis, keepdims=True)
    scale = 2.0 / factor(larger(count(x_shape, axis), 1), x.dtype.real_dtype)
    return tf.cast(kept(g * scale, x_shape, axis, keepdims), x.dtype) * away


REDUCE_VARIANCE = Op(
    "reduce_variance",
    "x",
    kernel=in_float32(_variance_kernel),
    infer=_infer_real,
    lower=lower_in_float32(_lower_variance),
    grad=_variance_grad,
    accepts=dtypes.INEXACT,
    holomorphic=False,
)


@reduction(REDUCE_VARIANCE)
def reduce_variance(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The mean of |x - mean(x)|² over `axis`, a real number; NaN for nothing."""


def _std_grad(
    g: Tensor,
    x: Tensor,
    out: Tensor,
    x_shape: tuple[int | Dim, ...],
    axis: tuple[int, ...],
    keepdims: bool,
) -> Tensor:
    away = x - tf.reduce_mean(x, axis, keepdims=True)
    # As in the gradient of `sqrt`, nothing comes of no gradient, even where the deviation is 0.
    scale = 2.0 / factor(larger(count(x_shape, axis), 1), x.dtype.real_dtype)
    slope = apply2(SQRT_GRAD, out, g) * scale
    return tf.cast(kept(slope, x_shape, axis, keepdims), x.dtype) * away


REDUCE_STD = Op(
    "reduce_std",
    "x",
    kernel=in_float32(
        lambda x, axis, keepdims: np.sqrt(_variance_kernel(x, axis, keepdims))
    ),
    infer=_infer_real,
    lower=lower_in_float32(lambda x, axis, keepdims: lax.sqrt(_lower_variance(x, axis, keepdims))),
    grad=_std_grad,
    accepts=dtypes.INEXACT,
    holomorphic=False,
)  # fmt: skip


@reduction(REDUCE_STD)
def reduce_std(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The square root of the variance over `axis`; where it is 0 its gradient is NaN."""


def _euclidean_kernel(x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> np.ndarray:
    if len(axis) == x.ndim and x.dtype.kind == "f":
        total = np.sqrt(sum_of_squares(x))
        return np.asarray(total.reshape((1,) * x.ndim) if keepdims else total)
    squares = _square(x)
    total = combine(np.add, squares, axis, keepdims)
    if x.dtype.kind in "iu":
        return np.asarray(np.sqrt(np.asarray(total, np.float64))).astype(x.dtype)
    return np.asarray(np.sqrt(total)).astype(x.dtype)


def _lower_euclidean(x: JaxArray, axis: tuple[int, ...], keepdims: bool) -> JaxArray:
    squares = _lower_square(x)
    total = fold(squares, 0, lax.add, axis)
    if x.dtype.kind in "iu":
        total = lax.convert_element_type(total, np.float64)
    out = lax.convert_element_type(lax.sqrt(total), x.dtype)
    return lax.expand_dims(out, axis) if keepdims else out


def _euclidean_grad(
    g: Tensor | IndexedSlices,
    x: Tensor,
    out: Tensor,
    x_shape: tuple[int | Dim, ...],
    axis: tuple[int, ...],
    keepdims: bool,
) -> Tensor:
    if x.dtype.is_complex:
        # The result is real, whatever its dtype, so only the real part of `g` counts.
        g = tf.cast(tf.cast(g, x.dtype.real_dtype), x.dtype)
    return x * kept(2.0 * apply2(SQRT_GRAD, out, g), x_shape, axis, keepdims)


REDUCE_EUCLIDEAN_NORM = Op(
    "reduce_euclidean_norm",
    "x",
    kernel=in_float32(_euclidean_kernel),
    infer=lambda x, axis, keepdims: ShapeDtype(reduced(x, axis, keepdims), x.dtype),
    lower=lower_in_float32(_lower_euclidean),
    grad=_euclidean_grad,
    accepts=dtypes.NUMERIC,
    holomorphic=False,
)


@reduction(REDUCE_EUCLIDEAN_NORM)
def reduce_euclidean_norm(
    input_tensor: TensorLike, axis: Axis = None, keepdims: bool = False, name: str | None = None
) -> Any:
    """The square root of the sum of squares, in the dtype of the tensor (integers cut off).

    Where the length is 0 the gradient is NaN, unless nothing depends on it.
    """
