"""Operations that turn a state into random numbers: bits, uniform, normal, whole numbers, orders.

Each has a NumPy kernel and a lowering that agree bit for bit up to the rounding of elementary
functions. None is differentiable: locations and scales are applied outside, by arithmetic.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.dims import negative
from wengert.core.errors import require
from wengert.core.lazy_modules import jnp, lax, special
from wengert.core.lowering_checks import fail_if
from wengert.core.process_settings import PROCESS
from wengert.core.types import DType, JaxArray, Op, ShapeDtype, Tensor, TensorLike, Value
from wengert.ops.compiled import compiled
from wengert.ops.costs import SLOW
from wengert.ops.declare import expand
from wengert.ops.fast_trigonometry import near_cos, near_sin
from wengert.ops.philox import advance, lower_words, words
from wengert.ops.sizes import checked
from wengert.ops.threads import blocks_of, in_parts

_INTEGERS = dtypes.nums("int32", "int64", "uint32", "uint64")
# How many of a word's upper bits each type holds exactly in [0, 1).
_BITS = {"float16": 11, "bfloat16": 8, "float32": 24}


def _pairs(w: np.ndarray) -> np.ndarray:
    """Words joined two by two into 64 bits, the first below."""
    w = w.reshape(-1, 2)
    return w[:, 0].astype(np.uint64) | w[:, 1].astype(np.uint64) << np.uint64(32)


def _lower_pairs(w: JaxArray) -> JaxArray:
    w = lax.convert_element_type(lax.reshape(w, (w.size // 2, 2)), np.uint64)
    return w[:, 0] | w[:, 1] << np.uint64(32)


# Words that XLA makes at a time, and from how many on it does: if it is there, and in any case.
_CHUNK, _MANY, _SO_MANY = 2**18, 2**19, 2**21
_chunk = compiled(lambda state: lower_words(state, _CHUNK))


def _words(state: np.ndarray, count: int) -> np.ndarray:
    """`words`, of which XLA makes large numbers; the bits are the same."""
    if count < (_MANY if PROCESS.used_xla else _SO_MANY) or PROCESS.lost_xla:
        return words(state, count)
    out = np.empty(count, np.uint32)
    for k, part in enumerate(blocks_of(count, _CHUNK)):
        out[part] = _chunk(advance(state, k * _CHUNK // 4))[: part.stop - part.start]
    return out


def bits(state: np.ndarray, count: int, wide: bool) -> np.ndarray:
    """`count` random unsigned numbers of 32 or 64 bits."""
    return _pairs(_words(state, 2 * count)) if wide else _words(state, count)


def lower_bits(state: JaxArray, count: int, wide: bool) -> JaxArray:
    """`bits` in JAX."""
    return _lower_pairs(lower_words(state, 2 * count)) if wide else lower_words(state, count)


def _lower_random_bits(state: JaxArray, shape: tuple[int, ...], dtype: DType) -> JaxArray:
    result = lax.reshape(lower_bits(state, math.prod(shape), dtype.size == 8), shape)
    return lax.convert_element_type(result, dtype.np)


RANDOM_BITS = Op(
    "random_bits",
    "state",
    kernel=lambda state, shape, dtype: (
        bits(state, math.prod(shape), dtype.size == 8).view(dtype.np).reshape(shape)
    ),
    infer=lambda state, shape, dtype: ShapeDtype(shape, dtype),
    lower=_lower_random_bits,
    grad=None,
)


def random_bits(state: Tensor, shape: tuple[int, ...], dtype: DType = dtypes.uint32) -> Tensor:
    """Random whole numbers over the full range of a 32- or 64-bit integer type."""
    return apply(RANDOM_BITS, state, shape=shape, dtype=dtype)


def _fraction(state: np.ndarray, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    count = math.prod(shape)
    if dtype.size == 8:
        top = bits(state, count, True) >> np.uint64(11)
        return (top * 2.0**-53).reshape(shape)
    keep = _BITS[dtype.name]
    return (
        _to_fractions(_words(state, count), keep=keep).astype(dtype.np, copy=False).reshape(shape)
    )


@in_parts
def _to_fractions(w: np.ndarray, keep: int) -> np.ndarray:
    out = (w >> np.uint32(32 - keep)).astype(np.float32)
    out *= np.float32(2.0**-keep)
    return out


def _lower_fraction(state: JaxArray, shape: tuple[int, ...], dtype: DType) -> JaxArray:
    count = math.prod(shape)
    if dtype.size == 8:
        top = lower_bits(state, count, True) >> np.uint64(11)
        out = lax.convert_element_type(top, np.float64) * np.float64(2.0**-53)
    else:
        keep = _BITS[dtype.name]
        top = lower_words(state, count) >> np.uint32(32 - keep)
        out = lax.convert_element_type(top, np.float32) * np.float32(2.0**-keep)
    return lax.convert_element_type(lax.reshape(out, shape), dtype.np)


RANDOM_UNIFORM = Op(
    "random_uniform",
    "state",
    kernel=_fraction,
    infer=lambda state, shape, dtype: ShapeDtype(shape, dtype),
    lower=_lower_fraction,
    grad=None,
    cost=SLOW,
)


def fraction(state: TensorLike, shape: tuple[int, ...], dtype: DType = dtypes.float32) -> Tensor:
    """Uniform numbers in [0, 1), multiples of the type's spacing below 1."""
    return apply(RANDOM_UNIFORM, state, shape=shape, dtype=dtype)


def _normal_kernel(state: np.ndarray, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """Box and Muller: one pair of uniform numbers gives the radius and angle of two normal ones."""
    count = math.prod(shape)
    pairs = (count + 1) // 2
    if dtype.size == 8:
        w = bits(state, 2 * pairs, True)
        radius = ((w[0::2] >> np.uint64(11)) + np.uint64(1)) * 2.0**-53
        angle = w[1::2].view(np.int64) * (math.pi * 2.0**-63)
    else:
        out = _to_normal(_words(state, 2 * pairs))
        return out[:count].astype(dtype.np, copy=False).reshape(shape)
    return _by_radius(radius, angle)[:count].astype(dtype.np, copy=False).reshape(shape)


@in_parts
def _to_normal(w: np.ndarray) -> np.ndarray:
    """The same of 32-bit words, taken in pairs."""
    radius = ((w[0::2] >> np.uint32(8)) + np.uint32(1)).astype(np.float32)
    radius *= np.float32(2.0**-24)
    angle = w[1::2].view(np.int32).astype(np.float32)
    angle *= np.float32(math.pi * 2.0**-31)
    return _by_radius(radius, angle)


def _by_radius(radius: np.ndarray, angle: np.ndarray) -> np.ndarray:
    np.log(radius, out=radius)
    radius *= radius.dtype.type(-2)
    np.sqrt(radius, out=radius)
    out = np.empty((len(radius), 2), radius.dtype)
    np.multiply(radius, np.cos(angle), out=out[:, 0])
    np.multiply(radius, np.sin(angle), out=out[:, 1])
    return out.reshape(-1)


def _lower_normal(state: JaxArray, shape: tuple[int, ...], dtype: DType) -> JaxArray:
    count = math.prod(shape)
    pairs = (count + 1) // 2
    if dtype.size == 8:
        w = lax.reshape(lower_bits(state, 2 * pairs, True), (pairs, 2))
        top = (w[:, 0] >> np.uint64(11)) + np.uint64(1)
        radius = lax.convert_element_type(top, np.float64) * np.float64(2.0**-53)
        angle = lax.bitcast_convert_type(w[:, 1], np.int64)
        angle = lax.convert_element_type(angle, np.float64) * np.float64(math.pi * 2.0**-63)
    else:
        w = lax.reshape(lower_words(state, 2 * pairs), (pairs, 2))
        top = (w[:, 0] >> np.uint32(8)) + np.uint32(1)
        radius = lax.convert_element_type(top, np.float32) * np.float32(2.0**-24)
        angle = lax.bitcast_convert_type(w[:, 1], np.int32)
        angle = lax.convert_element_type(angle, np.float32) * np.float32(math.pi * 2.0**-31)
    radius = lax.sqrt(lax.log(radius) * radius.dtype.type(-2))
    near = radius.dtype == np.float32  # the angle lies within half a turn
    both = [
        radius * (near_cos(angle) if near else lax.cos(angle)),
        radius * (near_sin(angle) if near else lax.sin(angle)),
    ]
    flat = lax.concatenate([lax.expand_dims(x, (1,)) for x in both], 1)
    flat = lax.slice_in_dim(lax.reshape(flat, (2 * pairs,)), 0, count)
    return lax.convert_element_type(lax.reshape(flat, shape), dtype.np)


RANDOM_NORMAL = Op(
    "random_normal",
    "state",
    kernel=_normal_kernel,
    infer=lambda state, shape, dtype: ShapeDtype(shape, dtype),
    lower=_lower_normal,
    grad=None,
    cost=SLOW,
    xla_share=6,
)


def standard_normal(state: Tensor, shape: tuple[int, ...], dtype: DType = dtypes.float32) -> Tensor:
    """Normal numbers of mean 0 and deviation 1."""
    return apply(RANDOM_NORMAL, state, shape=shape, dtype=dtype)


# Two standard deviations to either side hold this share of a normal distribution.
_INSIDE = math.erf(math.sqrt(2.0))


def _truncated_kernel(state: np.ndarray, shape: tuple[int, ...], dtype: DType) -> np.ndarray:
    """The inverse of the distribution function, in double precision for every type."""
    count = math.prod(shape)
    if dtype.size == 8:
        u = ((bits(state, count, True) >> np.uint64(11)) + 0.5) * 2.0**-53
    else:
        u = (words(state, count) + 0.5) * 2.0**-32
    z = math.sqrt(2.0) * special.erfinv((2.0 * u - 1.0) * _INSIDE)
    return np.clip(z, -2.0, 2.0).astype(dtype.np).reshape(shape)


def _lower_truncated(state: JaxArray, shape: tuple[int, ...], dtype: DType) -> JaxArray:
    count = math.prod(shape)
    if dtype.size == 8:
        top, step = lower_bits(state, count, True) >> np.uint64(11), 2.0**-53
    else:
        top, step = lower_words(state, count), 2.0**-32
    u = (lax.convert_element_type(top, np.float64) + 0.5) * step
    z = lax.erf_inv((2.0 * u - 1.0) * _INSIDE) * math.sqrt(2.0)
    z = lax.clamp(np.float64(-2.0), z, np.float64(2.0))
    return lax.convert_element_type(lax.reshape(z, shape), dtype.np)


RANDOM_TRUNCATED = Op(
    "random_truncated_normal",
    "state",
    kernel=_truncated_kernel,
    infer=lambda state, shape, dtype: ShapeDtype(shape, dtype),
    lower=_lower_truncated,
    grad=None,
)


def standard_truncated(
    state: Tensor, shape: tuple[int, ...], dtype: DType = dtypes.float32
) -> Tensor:
    """Normal numbers of mean 0 and deviation 1 (before the cut) within two deviations."""
    return apply(RANDOM_TRUNCATED, state, shape=shape, dtype=dtype)


def _integers_kernel(
    state: np.ndarray, low: np.ndarray, high: np.ndarray, shape: tuple[int, ...]
) -> np.ndarray:
    require(
        not np.any(low >= high),
        "uniform",
        lambda: f"`minval` must be less than `maxval`; got {low.flat[0]} and {high.flat[0]}",
        help="The interval [minval, maxval) must not be empty.",
    )
    low64, high64 = low.astype(np.uint64), high.astype(np.uint64)
    result = bits(state, math.prod(shape), True).reshape(shape) % (high64 - low64)
    return np.broadcast_to(result + low64, shape).astype(low.dtype)


def _lower_integers(
    state: JaxArray, low: JaxArray, high: JaxArray, shape: tuple[int, ...]
) -> JaxArray:
    fail_if(lambda: low >= high)
    low64, high64 = (expand(lax.convert_element_type(x, np.uint64), shape) for x in (low, high))
    result = lax.reshape(lower_bits(state, math.prod(shape), True), shape)
    return lax.convert_element_type(lax.rem(result, high64 - low64) + low64, low.dtype)


RANDOM_INTEGERS = Op(
    "random_integers",
    "state low high",
    kernel=_integers_kernel,
    infer=lambda state, low, high, shape: ShapeDtype(shape, low.dtype),
    lower=_lower_integers,
    grad=None,
    accepts=_INTEGERS,
    match=(1, 2),
)


def integers(state: Tensor, low: Value, high: Value, shape: tuple[int, ...]) -> Tensor:
    """Whole numbers in [low, high); 64 bits are reduced, so the bias is below range / 2**64."""
    return apply(RANDOM_INTEGERS, state, low, high, shape=shape)


def _permutation_kernel(state: np.ndarray, size: int) -> np.ndarray:
    # Equal keys of 64 bits are too rare to pay three times as much for a stable sort.
    return np.argsort(bits(state, size, True)).astype(np.int32)


def _lower_permutation(state: JaxArray, size: int) -> JaxArray:
    keys = lower_bits(state, size, True)
    return lax.sort((keys, lax.iota(np.int32, size)), num_keys=1, is_stable=True)[1]


RANDOM_PERMUTATION = Op(
    "random_permutation",
    "state",
    kernel=_permutation_kernel,
    infer=lambda state, size: ShapeDtype((size,), dtypes.int32),
    lower=_lower_permutation,
    grad=None,
)


def permutation(state: Tensor, size: int) -> Tensor:
    """The numbers below `size` in random order."""
    return apply(RANDOM_PERMUTATION, state, size=size)


def _categorical_kernel(
    logits: np.ndarray, state: np.ndarray, num_samples: int, dtype: DType
) -> np.ndarray:
    """Places uniform numbers in the running sum of the probabilities, row by row."""
    rows, classes = logits.shape
    x = logits.astype(np.float64)
    x = np.where(np.isfinite(x), x, -np.inf)
    x -= np.maximum(x.max(1, keepdims=True, initial=-np.inf), np.finfo(np.float64).min)
    sums = np.cumsum(np.exp(x), 1)
    u = (bits(state, rows * num_samples, True) >> np.uint64(11)) * 2.0**-53
    u = u.reshape(rows, num_samples) * sums[:, -1:]
    out = np.empty((rows, num_samples), dtype.np)
    for i in range(rows):
        out[i] = np.searchsorted(sums[i], u[i], side="right")
    return np.minimum(out, dtype.np.type(classes - 1))


def _lower_categorical(
    logits: JaxArray, state: JaxArray, num_samples: int, dtype: DType
) -> JaxArray:
    # `jnp.searchsorted` and `cumsum` have no one-line equal in `lax`.
    rows, classes = logits.shape
    x = lax.convert_element_type(logits, np.float64)
    x = jnp.where(jnp.isfinite(x), x, -np.inf)
    x = x - jnp.maximum(x.max(1, keepdims=True), np.finfo(np.float64).min)
    sums = jnp.cumsum(lax.exp(x), 1)
    u = _lower_fraction(state, (rows, num_samples), dtypes.float64) * sums[:, -1:]
    result = lax.map(lambda row: jnp.searchsorted(row[0], row[1], side="right"), (sums, u))
    result = lax.convert_element_type(result, dtype.np)
    return jnp.minimum(result, dtype.np.type(classes - 1))


def _infer_categorical(
    logits: ShapeDtype, state: ShapeDtype, num_samples: int, dtype: DType
) -> ShapeDtype:
    if logits.shape is None:
        return ShapeDtype((None, num_samples), dtype)
    require(
        len(logits.shape) == 2 and logits.shape[1] != 0 and not negative(num_samples),
        "categorical",
        f"`logits` must be a matrix with at least one class, `num_samples` ({num_samples}) "
        "not negative",
        logits,
        help="Each row of `logits` is one distribution.",
    )
    return ShapeDtype((logits.shape[0], num_samples), dtype)


RANDOM_CATEGORICAL = Op(
    "random_categorical",
    "logits state",
    kernel=checked(_categorical_kernel, _infer_categorical),
    infer=_infer_categorical,
    lower=_lower_categorical,
    grad=None,
    match=(),
)


def classes(logits: Any, state: Tensor, num_samples: int, dtype: DType) -> Tensor:
    """Classes drawn by unnormalised log-probabilities; a class at -inf or NaN never comes up."""
    return apply(RANDOM_CATEGORICAL, logits, state, num_samples=num_samples, dtype=dtype)
