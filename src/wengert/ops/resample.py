"""Resampling along one axis: each new element is a weighted sum of a few old ones.

The weights of all ways to resize an image, and of filters with fixed coefficients, are *taps*: for
each new element the places it reads and their weights. The map is linear, so its gradient is
the same operation with the taps turned round.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core.bounded_cache import cached_arrays
from wengert.ops.declare import (
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    apply,
    as_value,
    dtypes,
    in_float32,
    invalid,
    is_symbol,
    jax,
    jnp,
    lax,
    must_be_fixed,
    must_fit,
    need_rank,
    require,
    with_fallback,
)
from wengert.ops.sizes import checked
from wengert.ops.threads import blocks_of, share

# Below this many elements per place, whole rows are too short to be worth copying one by one.
_SHORT = 16


def _lanczos(radius: float, x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x) < radius, np.sinc(x) * np.sinc(x / radius), 0.0)


def _cubic(b: float, c: float, x: np.ndarray) -> np.ndarray:
    """The family of cubic kernels of Mitchell and Netravali."""
    near = ((12 - 9 * b - 6 * c) * x + (-18 + 12 * b + 6 * c)) * x * x + 6 - 2 * b
    far = (((-b - 6 * c) * x + 6 * b + 30 * c) * x - 12 * b - 48 * c) * x + 8 * b + 24 * c
    return np.where(x < 1, near, np.where(x < 2, far, 0.0)) / 6.0


# Kernels by name: the radius, and the weight at a distance.
KERNELS: dict[str, tuple[float, Callable[[np.ndarray], np.ndarray]]] = {
    "bilinear": (1.0, lambda x: np.maximum(0.0, 1.0 - x)),
    "bicubic": (2.0, functools.partial(_cubic, 0.0, 0.5)),
    "mitchellcubic": (2.0, functools.partial(_cubic, 1 / 3, 1 / 3)),
    "lanczos3": (3.0, functools.partial(_lanczos, 3.0)),
    "lanczos5": (5.0, functools.partial(_lanczos, 5.0)),
    "gaussian": (1.5, lambda x: np.where(x < 1.5, np.exp(-2.0 * x * x), 0.0)),
}


def _kernel_taps(name: str, old: int, new: int, antialias: bool) -> tuple[np.ndarray, np.ndarray]:
    """A kernel around each new centre, stretched when shrinking with `antialias`."""
    radius, weight = KERNELS[name]
    step = old / new
    stretch = max(step, 1.0) if antialias else 1.0
    centres = (np.arange(new) + 0.5) * step
    reach = radius * stretch
    first = np.maximum(np.ceil(centres - reach - 0.5), 0).astype(np.intp)
    last = np.minimum(np.floor(centres + reach - 0.5), old - 1).astype(np.intp)
    places = first[:, None] + np.arange(max(int((last - first).max()) + 1, 1))
    inside = places <= last[:, None]
    weights = weight(np.abs(centres[:, None] - places - 0.5) / stretch) * inside
    total = weights.sum(1, keepdims=True)
    small = np.abs(total) < 1000 * np.finfo(np.float32).tiny
    return np.minimum(places, old - 1), np.where(small, 0.0, weights / np.where(small, 1.0, total))


def _bilinear_taps(old: int, new: int) -> tuple[np.ndarray, np.ndarray]:
    at = (np.arange(new) + 0.5) * (old / new) - 0.5
    low = np.floor(at)
    places = np.stack([low, low + 1], 1).clip(0, old - 1).astype(np.intp)
    return places, np.stack([1.0 - (at - low), at - low], 1)


def _bicubic_taps(old: int, new: int) -> tuple[np.ndarray, np.ndarray]:
    """As TensorFlow does it: positions rounded to 1/1024, places outside left out."""
    at = (np.arange(new, dtype=np.float32) + np.float32(0.5)) * np.float32(old / new)
    at -= np.float32(0.5)
    low = np.floor(at)
    offset = np.rint((at - low) * 1024) / 1024
    places = low.astype(np.intp)[:, None] + np.arange(-1, 3)
    distance = np.stack([1 + offset, offset, 1 - offset, 2 - offset], 1)
    weights = KERNELS["bicubic"][1](distance) * ((places >= 0) & (places < old))
    return places.clip(0, old - 1), weights / weights.sum(1, keepdims=True)


def _area_taps(old: int, new: int) -> tuple[np.ndarray, np.ndarray]:
    """The share of each old element that the new one covers."""
    step = old / new
    start = np.arange(new) * step
    first = np.floor(start)
    places = first[:, None] + np.arange(math.ceil(step) + 1)
    covered = np.minimum(places + 1, start[:, None] + step) - np.maximum(places, start[:, None])
    return places.clip(0, old - 1).astype(np.intp), np.maximum(covered, 0.0) / step


def _nearest_taps(old: int, new: int) -> tuple[np.ndarray, np.ndarray]:
    at = (np.arange(new, dtype=np.float32) + np.float32(0.5)) * np.float32(old / new)
    places = np.minimum(np.floor(at), old - 1).astype(np.intp)
    return places[:, None], np.ones((new, 1))


def _filter_taps(
    coefficients: tuple[float, ...], border: str, old: int, new: int
) -> tuple[np.ndarray, np.ndarray]:
    """A filter at every place; a `reflect` border mirrors what lies outside."""
    width = len(coefficients)
    places = np.arange(new)[:, None] + np.arange(width)
    if border == "reflect":
        places = np.abs(places - width // 2)
        places = (old - 1) - np.abs((old - 1) - places)
    return places.astype(np.intp), np.broadcast_to(np.array(coefficients), (new, width))


@cached_arrays(128)
def taps(
    method: str | tuple[tuple[float, ...], str],
    old: int,
    new: int,
    antialias: bool,
    transposed: bool,
) -> tuple[np.ndarray, np.ndarray]:
    """Places and weights, `[new, width]` each; `transposed` gives those of the gradient."""
    if isinstance(method, tuple):
        coefficients, border = method
        result = _filter_taps(coefficients, border, old, new)
    elif method == "nearest":
        result = _nearest_taps(old, new)
    elif method == "area":
        result = _area_taps(old, new)
    elif method == "bilinear" and not antialias:
        result = _bilinear_taps(old, new)
    elif method == "bicubic" and not antialias:
        result = _bicubic_taps(old, new)
    else:
        result = _kernel_taps(method, old, new, antialias)
    return _transposed(result[0], result[1], old) if transposed else result


def _transposed(places: np.ndarray, weights: np.ndarray, old: int) -> tuple[np.ndarray, np.ndarray]:
    """For each old element, the new ones that read it; rows are filled up with weight 0."""
    used = weights != 0
    column, weight = places[used], weights[used]
    row = np.broadcast_to(np.arange(len(places))[:, None], places.shape)[used]
    order = np.argsort(column, kind="stable")
    column, row, weight = column[order], row[order], weight[order]
    counts = np.bincount(column, minlength=old)
    slot = np.arange(len(column)) - np.repeat(np.cumsum(counts) - counts, counts)
    width = max(int(counts.max(initial=0)), 1)
    out_places, out_weights = np.zeros((old, width), np.intp), np.zeros((old, width))
    out_places[column, slot], out_weights[column, slot] = row, weight
    return out_places, out_weights


@in_float32
def _resample_kernel(
    x: np.ndarray,
    axis: int,
    method: str | tuple[tuple[float, ...], str],
    old: int,
    new: int,
    antialias: bool,
    transposed: bool,
) -> np.ndarray:
    must_fit(old >= 1 and new >= 1, "no elements")
    places, weights = taps(method, old, new, antialias, transposed)
    count, width = places.shape
    shape = (*x.shape[:axis], count, *x.shape[axis + 1 :])
    inner = math.prod(x.shape[axis + 1 :])
    size = x.shape[axis]
    if inner < _SHORT:
        grid = np.arange(inner)
        places = (places[:, None, :] * inner + grid[:, None]).reshape(count * inner, width)
        weights = np.repeat(weights, inner, 0)
        size, inner = size * inner, 1
    flat = x.reshape(math.prod(x.shape[:axis]), size, inner)
    if method == "nearest" and not transposed:
        return flat.take(places[:, 0], 1).reshape(shape)
    weights = weights.astype(x.dtype)
    out = np.empty((len(flat), len(places), inner), x.dtype)

    def work(part: slice) -> None:
        total = _tap(flat[part], places[:, 0], weights[:, 0], transposed)
        for k in range(1, width):
            total += _tap(flat[part], places[:, k], weights[:, k], transposed)
        out[part] = total

    share(work, blocks_of(len(flat), max(1, _PART // max(1, len(places) * inner))))
    return out.reshape(shape)


# Numbers that are worked out at a time: with those that they are read from, they stay in the cache.
_PART = 2**15


def _tap(x: np.ndarray, place: np.ndarray, weight: np.ndarray, transposed: bool) -> np.ndarray:
    part = x.take(place, 1)
    part *= weight[:, None]
    if transposed:
        part[:, weight == 0] = 0  # what fills up a row was never read, and may be NaN
    return part


def _lower_resample(
    x: JaxArray,
    axis: int,
    method: str | tuple[tuple[float, ...], str],
    old: int,
    new: int,
    antialias: bool,
    transposed: bool,
) -> JaxArray:
    if is_symbol(old) or is_symbol(new):
        return _lower_open(x, axis, method, old, new, antialias, transposed)
    places, weights = taps(method, old, new, antialias, transposed)
    if method == "nearest" and not transposed:
        # `jnp.take` builds the dimension numbers that `lax.gather` would want.
        return jnp.take(x, places[:, 0], axis=axis, mode="clip")
    # A product with a matrix would be slower, and would spread NaN beyond the taps.
    wide = np.float32 if x.dtype.itemsize < 4 else x.dtype
    y = lax.convert_element_type(x, wide)

    def tap(place: JaxArray | np.ndarray, weight: JaxArray | np.ndarray) -> JaxArray:
        near = jnp.take(y, place, axis=axis, mode="clip")
        weight = lax.expand_dims(weight, range(weight.ndim, weight.ndim + x.ndim - axis - 1))
        return jnp.where(weight == 0, 0, near * weight) if transposed else near * weight

    rows, shares = places.T, weights.T.astype(wide)
    if len(rows) <= 2:
        out = functools.reduce(lax.add, map(tap, rows, shares))
    elif jax.default_backend() != "cpu":
        out = tap(rows, shares).sum(axis)
    else:
        # Unrolled, XLA would work an axis out anew for each tap of the next.
        rows, shares = jnp.asarray(rows), jnp.asarray(shares)
        first = tap(rows[0], shares[0])
        out = lax.fori_loop(1, len(rows), lambda k, out: out + tap(rows[k], shares[k]), first)
    return lax.convert_element_type(out, x.dtype)


def _lower_open(
    x: JaxArray, axis: int, method: Any, old: Any, new: int, antialias: bool, transposed: bool
) -> JaxArray:
    """The same for sizes that are symbols, where an element has at most two places."""
    must_be_fixed(
        not transposed and not antialias and method in ("nearest", "bilinear"),
        f"resizing by {method!r} needs sizes that are known",
    )
    kind = np.float32 if method == "nearest" else np.float64
    step = lax.convert_element_type(as_value(old, np.float64) / as_value(new, np.float64), kind)
    at = (lax.broadcasted_iota(kind, (new,), 0) + kind(0.5)) * step
    if method == "nearest":
        return jnp.take(x, jnp.floor(at).astype(np.int32), axis=axis, mode="clip")
    at = at - 0.5
    low = jnp.floor(at)
    wide = np.float32 if x.dtype.itemsize < 4 else x.dtype
    share = lax.convert_element_type(at - low, wide)
    share = lax.expand_dims(share, range(1, x.ndim - axis))
    first = low.astype(np.int32)
    y = lax.convert_element_type(x, wide)
    near, far = (jnp.take(y, first + k, axis=axis, mode="clip") for k in (0, 1))
    return lax.convert_element_type(near * (1 - share) + far * share, x.dtype)


def _infer_resample(
    x: ShapeDtype,
    axis: int,
    method: str | tuple[tuple[float, ...], str],
    old: int | None,
    new: int | None,
    antialias: bool,
    transposed: bool,
) -> ShapeDtype:
    size = old if transposed else new
    require(
        old != 0 or not isinstance(method, str),
        "resize",
        "an image of zero size cannot be resized",
        x,
    )
    if new is not None and new < 1:
        require(
            not isinstance(method, tuple),
            "filter",
            f"an axis of size {old} is too short for the filter",
            x,
        )
        raise invalid("resize", f"`size` must be positive; got {new}")
    if x.shape is None:
        return ShapeDtype(None, x.dtype)
    return ShapeDtype((*x.shape[:axis], size, *x.shape[axis + 1 :]), x.dtype)


def _resample_grad(
    g: Tensor,
    axis: int,
    method: str | tuple[tuple[float, ...], str],
    old: int,
    new: int,
    antialias: bool,
    transposed: bool,
) -> Tensor:
    return apply(
        RESAMPLE, g, axis=axis, method=method, old=old, new=new, antialias=antialias,
        transposed=not transposed,
    )  # fmt: skip


RESAMPLE = Op(
    "resample",
    "x",
    kernel=_resample_kernel,
    infer=_infer_resample,
    lower=checked(_lower_resample, _infer_resample),
    grad=_resample_grad,
    accepts=dtypes.REAL,
)


def resample(
    x: Tensor,
    axis: int,
    method: str | tuple[tuple[float, ...], str],
    new: int,
    antialias: bool = False,
) -> Tensor:
    """Changes the size of one axis by a named method, or a filter `(coefficients, border)`."""
    old = x._array.shape[axis]
    return apply(
        RESAMPLE, x, axis=axis, method=method, old=old, new=new, antialias=antialias,
        transposed=False,
    )  # fmt: skip


@with_fallback
def filtered(x: Any, axis: int, coefficients: tuple[float, ...], border: str = "valid") -> Tensor:
    """Correlates one axis with coefficients: "valid" loses the border, "reflect" mirrors at it."""
    need_rank("filter", x, axis + 1)
    size = x._array.shape[axis]
    new = size if border == "reflect" else size - len(coefficients) + 1
    return resample(x, axis, (coefficients, border), new)
