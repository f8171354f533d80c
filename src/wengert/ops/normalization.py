"""Moments, normalisation and biases.

`moments` is one operation with two results and the exact gradient of any order (TensorFlow's
treats the mean inside the variance as a constant, so its second derivative is wrong).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.core.dims import broadcast
from wengert.ops.declare import (
    TAME,
    Axis,
    Dim,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    Value,
    apply,
    as_value,
    dtypes,
    fallback,
    in_float32,
    invalid,
    known_unequal,
    lax,
    lower_in_float32,
    operand,
    require,
    shapes,
    static_float,
    static_int,
    static_tuple,
    tf,
    with_fallback,
)
from wengert.ops.fast_reductions import combine, fold, with_row
from wengert.ops.reduce import reduce_args, reduced
from wengert.ops.sizes import factor, table


def _moments_kernel(
    x: np.ndarray, axis: tuple[int, ...], keepdims: bool
) -> tuple[np.ndarray, np.ndarray]:
    count = x.dtype.type(math.prod(x.shape[i] for i in axis))
    mean = combine(np.add, x, axis, True) / count
    centred = x - mean
    variance = combine(np.add, centred * centred, axis, keepdims) / count
    return mean if keepdims else mean.reshape(variance.shape), variance


def _lower_moments(x: JaxArray, axis: tuple[int, ...], keepdims: bool) -> tuple[JaxArray, JaxArray]:
    rest = [i for i in range(x.ndim) if i not in axis]
    count = as_value(math.prod(x.shape[i] for i in axis), x.dtype)

    def mean(y: JaxArray) -> JaxArray:
        total = fold(y, 0, lax.add, axis)
        return lax.div(total, lax.full_like(total, count))

    middle = mean(x)
    centred = lax.sub(x, lax.broadcast_in_dim(middle, x.shape, rest))
    result = middle, mean(lax.mul(centred, centred))
    return tuple(lax.expand_dims(y, axis) for y in result) if keepdims else result


def _moments_grad(
    g: tuple[Tensor, ...],
    x: Tensor,
    outs: tuple[Tensor, ...],
    x_shape: tuple[int | Dim, ...],
    axis: tuple[int, ...],
    keepdims: bool,
) -> Tensor:
    kept = tuple(1 if i in axis else d for i, d in enumerate(x_shape))
    mean, over_mean, over_variance = (tf.reshape(y, kept) for y in (outs[0], *g))
    size = math.prod(x_shape[i] for i in axis)
    count = factor(1 if type(size) is int and not size else size, x.dtype)  # of nothing, nothing
    spread = (2.0 / count) * over_variance * (x - mean)
    return spread + tf.broadcast_to(over_mean / count, x_shape)


MOMENTS = Op(
    "moments",
    "x",
    kernel=in_float32(_moments_kernel),
    infer=lambda x, axis, keepdims: (ShapeDtype(reduced(x, axis, keepdims), x.dtype),) * 2,
    lower=lower_in_float32(_lower_moments),
    grad=_moments_grad,
    accepts=dtypes.FLOAT,
    outputs=2,
)


def _squared(x: Tensor) -> Tensor:
    """The squares of absolute values, in the dtype of the values."""
    return x * tf.conj(x) if x.dtype.is_complex else x * x


@with_fallback
def moments(
    x: Any, axes: Axis, shift: Any = None, keepdims: bool = False, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The mean and the (population) variance over `axes`; `shift` is not needed and not used.

    Args:
        x: a tensor of numbers.
        axes: one axis or several.
        shift: without effect.
        keepdims: whether the axes stay, with size 1.
        name: without effect.

    Returns:
        The mean and the variance.

    Raises:
        InvalidArgumentError: there is no such axis.

    >>> [x.numpy().item() for x in tf.nn.moments([1.0, 3.0], axes=0)]
    [2.0, 1.0]
    """
    x, axis = reduce_args("moments", x, axes)
    if not x.dtype.is_floating:
        mean = tf.reduce_mean(x, axis, keepdims=True)
        difference = x - mean
        variance = tf.reduce_mean(_squared(difference), axis, keepdims=bool(keepdims))
        return tf.reshape(mean, variance._array.shape), variance
    return apply(MOMENTS, x, axis=axis, keepdims=bool(keepdims))


@with_fallback
def weighted_moments(
    x: Any,
    axes: Axis,
    frequency_weights: TensorLike,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """The mean and variance over `axes` with weights that broadcast against `x`; 0 without any."""
    x = operand(x)
    kind = x.dtype
    weights = operand(frequency_weights, None, kind)
    if weights.dtype is not kind:
        weights = tf.cast(weights, kind)
    if kind.is_floating and kind.size == 2:
        x, weights = tf.cast(x, dtypes.float32), tf.cast(weights, dtypes.float32)
    shape = broadcast("weighted_moments", x._array.shape, weights._array.shape)
    weights = tf.broadcast_to(weights, shape)
    total = tf.reduce_sum(weights, axes, keepdims=True)
    mean = tf.divide_no_nan(tf.reduce_sum(weights * x, axes, keepdims=True), total)
    difference = x - mean
    squares = tf.reduce_sum(weights * _squared(difference), axes, keepdims=True)
    variance = tf.divide_no_nan(squares, total)
    if not keepdims:
        _, axis = reduce_args("weighted_moments", weights, axes)
        kept = [d for i, d in enumerate(mean._array.shape) if i not in axis]
        mean, variance = tf.reshape(mean, kept), tf.reshape(variance, kept)
    return tf.cast(mean, kind), tf.cast(variance, kind)


def batch_normalization(
    x: Any, mean: Any, variance: Any, offset: TensorLike | None, scale: TensorLike | None, variance_epsilon: TensorLike,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """(x - mean) / sqrt(variance + epsilon), times `scale`, plus `offset` where they are given.

    Args:
        x: a tensor of floating-point numbers.
        mean, variance: as `tf.nn.moments` gives them, of shapes that broadcast.
        offset, scale: what to add and to multiply by, or `None`.
        variance_epsilon: a small number against division by 0.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: the shapes do not broadcast.

    >>> tf.nn.batch_normalization([1.0, 3.0], 2.0, 1.0, None, 2.0, 0.0).numpy().tolist()
    [-2.0, 2.0]
    """
    x = operand(x)
    mean, variance = operand(mean, None, x.dtype), operand(variance, None, x.dtype)
    slope = tf.rsqrt(variance + variance_epsilon)
    if scale is not None:
        slope = slope * operand(scale, None, x.dtype)
    shift = -mean * slope
    if offset is not None:
        shift = operand(offset, None, x.dtype) + shift
    return x * tf.cast(slope, x.dtype) + tf.cast(shift, x.dtype)


def _aligned(bias: tuple[int, ...], rank: int, first: bool) -> tuple[int, ...]:
    return (*bias, *(1,) * (rank - 2)) if first else tuple(bias)


def _bias_kernel(value: np.ndarray, bias: np.ndarray, first: bool) -> np.ndarray:
    if bias.ndim != 1 or value.ndim < 2 or value.shape[1 if first else -1] != bias.shape[0]:
        raise ValueError("bias")
    if not first:
        return with_row(np.add, value, bias)
    return value + bias.reshape(_aligned(bias.shape, value.ndim, first))


def _infer_bias(value: ShapeDtype, bias: ShapeDtype, first: bool) -> ShapeDtype:
    require(
        value.shape is None or len(value.shape) >= 2,
        "bias_add",
        "`value` must have rank 2 or more",
        value,
        bias,
    )
    require(
        bias.shape is None or len(bias.shape) == 1,
        "bias_add",
        "`bias` must have rank 1",
        value,
        bias,
    )
    if value.shape is None or bias.shape is None:
        return value
    at = 1 if first else len(value.shape) - 1
    channels, count = value.shape[at], bias.shape[0]
    require(
        not known_unequal(channels, count),
        "bias_add",
        "there must be one bias for each channel",
        value,
        bias,
    )
    known = count if channels is None else channels
    return ShapeDtype((*value.shape[:at], known, *value.shape[at + 1 :]), value.dtype)


def _bias_grad(g: Tensor, value_shape: tuple[int | Dim, ...], first: bool) -> Tensor:
    channel = 1 if first else len(value_shape) - 1
    return tf.reduce_sum(g, [i for i in range(len(value_shape)) if i != channel])


BIAS_ADD = Op(
    "bias_add",
    "value bias",
    kernel=_bias_kernel,
    infer=_infer_bias,
    lower=lambda value, bias, first: lax.add(
        value, lax.broadcast_in_dim(bias, value.shape, (1 if first else value.ndim - 1,))
    ),
    grad=(lambda g: g, _bias_grad),
    accepts=dtypes.NUMERIC,
    hazards=TAME,
)


def bias_add(
    value: Any, bias: Any, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """Adds one number per channel.

    Args:
        value: a tensor of rank 2 or more.
        bias: a vector, of `value`'s dtype.
        data_format: "N...C" (or `None`) where channels are the last axis, "NC..." where they are
            the second.
        name: without effect.

    Returns:
        A tensor of the shape of `value`.

    Raises:
        InvalidArgumentError: `bias` is no vector of as many numbers as there are channels.

    >>> tf.nn.bias_add([[1.0, 2.0]], [3.0, 4.0]).numpy().tolist()
    [[4.0, 6.0]]
    """
    try:
        given = data_format if isinstance(data_format, str) else ""
        if data_format is not None and not (
            given.startswith("NC") or (given.startswith("N") and given[-1] == "C")
        ):
            rule = f"`data_format` must be N...C or NC...; got {data_format!r}"
            raise invalid("bias_add", rule)
        value = operand(value)
        first = data_format is not None and data_format.startswith("NC") and data_format != "NC"
        return apply(
            BIAS_ADD, value, operand(bias, None, value.dtype), first=first and value.ndim > 2
        )
    except Exception as error:
        return fallback(bias_add, error, (value, bias, data_format))


def l2_normalize(
    x: Any, axis: Axis = None, epsilon: float = 1e-12, name: str | None = None, dim: Any = None
) -> Tensor:
    """x / sqrt(max(sum(|x|²), epsilon)), so a zero vector stays zero.

    Args:
        x: a tensor of floating-point numbers.
        axis: one axis or several; all by default.
        epsilon: the smallest sum of squares that counts.
        dim: an older name of `axis`.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: there is no such axis.

    >>> [round(x, 4) for x in tf.math.l2_normalize([3.0, 4.0]).numpy().tolist()]
    [0.6, 0.8]
    """
    x = operand(x)
    axis = dim if axis is None else axis
    square = tf.real(x * tf.conj(x)) if x.dtype.is_complex else x * x
    inverse = tf.rsqrt(tf.maximum(tf.reduce_sum(square, axis, keepdims=True), epsilon))
    return x * (tf.cast(inverse, x.dtype) if x.dtype.is_complex else inverse)


def _band(channels: int, radius: int) -> np.ndarray:
    """Which channels lie near which."""
    near = np.arange(channels)
    return np.abs(near[:, None] - near) <= radius


def _as_single(value: TensorLike) -> Value:
    """A tensor; NumPy's arrays of other than 16 and 32 bits become float32."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
        kept = value.dtype in (np.float16, np.float32)
        return operand(value, None if kept else dtypes.float32)
    return operand(value)


@with_fallback
def local_response_normalization(
    input: TensorLike, depth_radius: int = 5, bias: float = 1, alpha: float = 1, beta: float = 0.5,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """x / (bias + alpha * (sum of x² over the channels within `depth_radius`)) ** beta."""
    x = _as_single(input)
    name = "local_response_normalization"
    radius = 5 if depth_radius is None else _whole_radius(depth_radius)
    bias = 1.0 if bias is None else static_float(name, bias, "bias")
    alpha = 1.0 if alpha is None else static_float(name, alpha, "alpha")
    beta = 0.5 if beta is None else static_float(name, beta, "beta")
    require(x.ndim == 4, name, "`input` must have rank 4", x)
    require(x.dtype.is_floating, name, "`input` must be floating", x)
    require(radius >= 0, name, f"`depth_radius` must not be negative; got {radius}")
    half = x.dtype.size == 2
    wide_x = tf.cast(x, dtypes.float32) if half else x
    size = x._array.shape[-1]
    band = table(_band, (size, size), wide_x.dtype, size, radius)
    around = tf.matmul(wide_x * wide_x, band)
    return tf.cast(wide_x * tf.pow(bias + alpha * around, -beta), x.dtype)


lrn = local_response_normalization


def _whole_radius(value: int) -> int:
    """A number of channels; TensorFlow cuts fractions off."""
    if isinstance(value, float):
        return int(value)
    return int(static_int("local_response_normalization", value, "depth_radius"))


def sufficient_statistics(
    x: TensorLike,
    axes: Axis,
    shift: TensorLike | None = None,
    keepdims: bool = False,
    name: str | None = None,
) -> tuple[Any, Any, Any, Any]:
    """What moments are made of: count, sum, sum of squares, and the shift that was taken off."""
    sums = shifted_sums(x, axes, shift, keepdims)
    return *sums, None if shift is None else operand(shift)


@with_fallback
def shifted_sums(x: Any, axes: Any, shift: Any, keepdims: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Count, sum and sum of squares of `x` less `shift`."""
    x = operand(x)
    name = "sufficient_statistics"
    over = list(shapes.axes(name, static_tuple(name, axes, "axes"), x._array.ndim))
    count = tf.reduce_prod(tf.gather(tf.shape(x), np.array(over, np.int32)))
    off = x if shift is None else x - shift
    total = tf.reduce_sum(off, over, keepdims=keepdims)
    squares = tf.reduce_sum(off * off, over, keepdims=keepdims)
    return tf.cast(count, x.dtype), total, squares


def normalize_moments(
    counts: TensorLike,
    mean_ss: TensorLike,
    variance_ss: TensorLike,
    shift: TensorLike | None,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Mean and variance from sufficient statistics."""
    share = tf.reciprocal(operand(counts))
    shifted = operand(mean_ss) * share
    mean = shifted if shift is None else shifted + shift
    return mean, operand(variance_ss) * share - shifted * shifted
