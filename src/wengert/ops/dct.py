"""The cosine transform of types 1 to 4. Up to weights at the ends each is another's transpose."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.core.lazy_modules import Lazy
from wengert.ops.declare import (
    DType,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    Value,
    apply,
    at_site,
    is_open,
    lax,
    must_fit,
    need_rank,
    operand,
    require,
    static_int,
    tf,
    with_fallback,
)
from wengert.ops.fft import WIDE_FLOATS, fit, lower_fit
from wengert.ops.sizes import factor, table

_scipy_fft: Any = Lazy("scipy.fft")


def _dct_kernel(x: np.ndarray, type: int) -> np.ndarray:
    must_fit(type != 1 or x.shape[-1] >= 2, "too short")
    return _scipy_fft.dct(x, type).astype(x.dtype, copy=False) if x.size else x.copy()


def _lower_dct(x: Any, type: int) -> JaxArray:
    """By the Fourier transform of a longer signal with the symmetry that the type stands for."""
    _infer_dct(x, type)
    if not x.size:
        return x
    n = x.shape[-1]
    if type == 1:
        mirror = lax.rev(lax.slice_in_dim(x, 1, n - 1, axis=-1), (x.ndim - 1,))
        return lax.real(lax.fft(lax.concatenate([x, mirror], x.ndim - 1), "RFFT", (2 * n - 2,)))
    k = np.arange(n)
    wide = np.complex64 if x.dtype == np.float32 else np.complex128
    if type == 2:
        turn = (2 * np.exp(-0.5j * np.pi * k / n)).astype(wide)
        spectrum = lax.fft(lower_fit(x, (2 * n,)), "RFFT", (2 * n,))
        return lax.real(lax.slice_in_dim(spectrum, 0, n, axis=-1) * turn)
    z = lax.convert_element_type(x, wide)
    if type == 3:
        turn = 2 * n * np.exp(0.5j * np.pi * k / n)
        turn = np.append(turn, 0).astype(wide)
        turned = lower_fit(z, (n + 1,)) * turn
        return lax.slice_in_dim(lax.fft(turned, "IRFFT", (2 * n,)), 0, n, axis=-1)
    before = np.exp(-0.5j * np.pi * k / n).astype(wide)
    after = (2 * np.exp(-0.5j * np.pi * (k + 0.5) / n)).astype(wide)
    spectrum = lax.fft(lower_fit(z * before, (2 * n,)), "FFT", (2 * n,))
    return lax.real(lax.slice_in_dim(spectrum, 0, n, axis=-1) * after)


def _edge_weights(size: int, first: float, last: float) -> np.ndarray:
    weights = np.ones(size)
    weights[:1] = first
    weights[-1:] *= last
    return weights


def _edges(like: Value, first: float, last: float = 1.0) -> Tensor:
    """Ones, but for the first and the last element."""
    size = like._array.shape[-1]
    return table(_edge_weights, (size,), like.dtype, size, first, last)


def _dct_grad(g: Tensor, type: int) -> Tensor:
    if type == 1:
        return apply(DCT, g * _edges(g, 2.0, 2.0), type=1) * _edges(g, 0.5, 0.5)
    if type == 2:
        return apply(DCT, g * _edges(g, 2.0), type=3)
    if type == 3:
        return apply(DCT, g, type=2) * _edges(g, 0.5)
    return apply(DCT, g, type=4)


def _infer_dct(x: ShapeDtype, type: int) -> ShapeDtype:
    if type == 1 and x.shape is not None and x.shape[-1] in (0, 1):
        rule = f"type 1 needs at least two elements; got {x.shape[-1]}"
        raise at_site(ValueError(f"dct: {rule}."))
    return x


DCT = Op(
    "dct",
    "x",
    kernel=_dct_kernel,
    infer=_infer_dct,
    lower=_lower_dct,
    grad=_dct_grad,
    accepts=WIDE_FLOATS,
)


def _check_dct(name: str, type: int, n: int | None, axis: int, norm: str | None) -> None:
    require(axis == -1, name, f"`axis` must be -1; got {axis}", kind=NotImplementedError)
    require(
        not isinstance(type, DType) and type in (1, 2, 3, 4),
        name,
        f"`type` must be 1, 2, 3 or 4; got {type!r}",
        kind=ValueError,
    )
    require(
        norm in (None, "ortho"),
        name,
        f"`norm` must be None or 'ortho'; got {norm!r}",
        kind=ValueError,
    )
    require(
        type != 1 or norm != "ortho",
        name,
        "`norm` 'ortho' does not exist for type 1",
        kind=ValueError,
    )
    require(
        n is None or is_open(n) or n >= 1, name, f"`n` must be positive; got {n}", kind=ValueError
    )


@with_fallback
def dct(
    input: TensorLike,
    type: int = 2,
    n: TensorLike | None = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The cosine transform of types 1 to 4; `n` crops or pads first, "ortho" makes it unitary."""
    n = None if n is None else static_int("dct", n, "n")
    _check_dct("dct", type, n, axis, norm)
    x = operand(input)
    need_rank("dct", x, 1)
    if n is not None:
        x = fit(x, (n,))
    size = x._array.shape[-1]
    if norm is None or size == 0 or x._array.dtype.num not in WIDE_FLOATS:
        return apply(DCT, x, type=type)
    unit = tf.sqrt(0.5 / factor(size, x.dtype)) if is_open(size) else math.sqrt(0.5 / size)
    if type == 3:
        x = x * _edges(x, math.sqrt(2.0))
    y = apply(DCT, x, type=type) * unit
    return y * _edges(y, math.sqrt(0.5)) if type == 2 else y


def idct(
    input: TensorLike,
    type: int = 2,
    n: Any = None,
    axis: int = -1,
    norm: str | None = None,
    name: str | None = None,
) -> Tensor:
    """The inverse of `dct`, up to a factor 2n (2n - 2 for type 1) without `norm="ortho"`."""
    n = None if n is None else static_int("idct", n, "n")
    _check_dct("idct", type, n, axis, norm)
    return dct(input, {2: 3, 3: 2}.get(type, type), n, axis, norm)
