"""Fourier transforms of the last axes, and fitting an axis to a length.

Each transform is linear, so its gradient is another transform: a complex one is its own
transpose; the real ones halve or double what stands for two conjugate terms.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.ops.declare import (
    Axis,
    Dim,
    JaxArray,
    Op,
    Ranked,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    dtypes,
    larger,
    lax,
    need_rank,
    operand,
    require,
    shapes,
    static,
    static_tuple,
    where_ranked,
    with_fallback,
    without_fp_warnings,
)
from wengert.ops.sizes import factor, table

WIDE_FLOATS = dtypes.nums("float32", "float64")


def _fit_kernel(x: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    lead = x.ndim - len(sizes)
    common = (..., *(slice(0, min(n, d)) for n, d in zip(sizes, x.shape[lead:], strict=True)))
    if all(n <= d for n, d in zip(sizes, x.shape[lead:], strict=True)):
        return x[common]
    out = np.zeros((*x.shape[:lead], *sizes), x.dtype)
    out[common] = x[common]
    return out


def lower_fit(x: JaxArray, sizes: tuple[int, ...]) -> JaxArray:
    lead = x.ndim - len(sizes)
    edges = [(0, 0, 0)] * lead
    edges += [(0, n - d, 0) for n, d in zip(sizes, x.shape[lead:], strict=True)]
    return lax.pad(x, lax.full((), 0, x.dtype), edges)


@where_ranked
def _infer_fit(x: Ranked, sizes: tuple[int, ...]) -> ShapeDtype:
    return ShapeDtype((*x.shape[: len(x.shape) - len(sizes)], *sizes), x.dtype)


FIT = Op(
    "fit",
    "x",
    kernel=_fit_kernel,
    infer=_infer_fit,
    lower=lower_fit,
    grad=lambda g, x_shape, sizes: apply(FIT, g, sizes=x_shape[len(x_shape) - len(sizes) :]),
    accepts=dtypes.NUMERIC,
)


@with_fallback
def fit(x: Any, sizes: tuple[int, ...]) -> Tensor:
    """Crops or fills up with zeros at the end, so that the last axes have these sizes."""
    shape = x._array.shape
    return x if shape[len(shape) - len(sizes) :] == sizes else apply(FIT, x, sizes=sizes)


def _last(rank: int) -> tuple[int, ...]:
    return tuple(range(-rank, 0))


def _fft_kernel(x: np.ndarray, rank: int, inverse: bool) -> np.ndarray:
    if not x.size:
        return x.copy()
    transform = np.fft.ifftn if inverse else np.fft.fftn
    return transform(x, axes=_last(rank)).astype(x.dtype, copy=False)


def _infer_fft(x: ShapeDtype, rank: int, inverse: bool) -> ShapeDtype:
    need_rank("ifft" if inverse else "fft", x, rank)
    return x


FFT = Op(
    "fft",
    "x",
    kernel=without_fp_warnings(_fft_kernel),
    infer=_infer_fft,
    lower=lambda x, rank, inverse: (
        lax.fft(x, "IFFT" if inverse else "FFT", x.shape[-rank:]) if x.size else x
    ),
    grad=lambda g, rank, inverse: apply(FFT, g, rank=rank, inverse=inverse),
    accepts=dtypes.COMPLEX,
)


def _complex(name: str, x: Any, rank: int, inverse: bool) -> Tensor:
    x = operand(x, None, dtypes.complex64)
    need_rank(name, x, rank)
    return apply(FFT, x, rank=rank, inverse=inverse)


@with_fallback
def fft(input: TensorLike, name: str | None = None) -> Tensor:
    """The discrete Fourier transform of the last axis."""
    return _complex("fft", input, 1, False)


@with_fallback
def ifft(input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of `fft`."""
    return _complex("ifft", input, 1, True)


@with_fallback
def fft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """The discrete Fourier transform of the last two axes."""
    return _complex("fft2d", input, 2, False)


@with_fallback
def ifft2d(input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of `fft2d`."""
    return _complex("ifft2d", input, 2, True)


@with_fallback
def fft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """The discrete Fourier transform of the last three axes."""
    return _complex("fft3d", input, 3, False)


@with_fallback
def ifft3d(input: TensorLike, name: str | None = None) -> Tensor:
    """The inverse of `fft3d`."""
    return _complex("ifft3d", input, 3, True)


def _pair_weights(length: int, other: float) -> np.ndarray:
    weights = np.full(length // 2 + 1, other)
    weights[0] = 1
    if length % 2 == 0:
        weights[-1] = 1
    return weights


def _of_pairs(like: Tensor, length: int, other: float) -> Tensor:
    """1 for the frequencies that are their own conjugates (0 and the middle), else `other`."""
    return table(_pair_weights, (length // 2 + 1,), like.dtype, length, other)


_COMPLEX_OF = {"float32": dtypes.complex64, "float64": dtypes.complex128}


def _rfft_kernel(x: np.ndarray, rank: int) -> np.ndarray:
    kind = np.complex64 if x.dtype == np.float32 else np.complex128
    if not x.size:
        return np.zeros((*x.shape[:-1], x.shape[-1] // 2 + 1), kind)
    return np.fft.rfftn(x, axes=_last(rank)).astype(kind, copy=False)


def _infer_rfft(x: ShapeDtype, rank: int) -> ShapeDtype:
    kind = _COMPLEX_OF[x.dtype.name]
    need_rank("rfft", x, rank)
    if x.shape is None:
        return ShapeDtype(None, kind)
    last = x.shape[-1]
    return ShapeDtype((*x.shape[:-1], None if last is None else last // 2 + 1), kind)


def _lower_rfft(x: JaxArray, rank: int) -> JaxArray:
    if not x.size:
        return lax.full((*x.shape[:-1], x.shape[-1] // 2 + 1), 0, _rfft_dtype(x))
    return lax.fft(x, "RFFT", x.shape[-rank:])


def _rfft_dtype(x: JaxArray) -> type:
    return np.complex64 if x.dtype == np.float32 else np.complex128


def _rfft_grad(g: Tensor, x_shape: Any, rank: int) -> Tensor:
    lengths = tuple(x_shape[len(x_shape) - rank :])
    halved = g * _of_pairs(g, lengths[-1], 0.5)
    result = apply(IRFFT, halved, rank=rank, length=lengths[-1])
    return result * factor(math.prod(lengths), result.dtype)


RFFT = Op(
    "rfft",
    "x",
    kernel=without_fp_warnings(_rfft_kernel),
    infer=_infer_rfft,
    lower=_lower_rfft,
    grad=_rfft_grad,
    accepts=WIDE_FLOATS,
    holomorphic=False,
)


def _irfft_kernel(x: np.ndarray, rank: int, length: int) -> np.ndarray:
    kind = np.float32 if x.dtype == np.complex64 else np.float64
    if not x.size or not length:
        return np.zeros((*x.shape[:-1], length), kind)
    lengths = (*x.shape[x.ndim - rank : -1], length)
    return np.fft.irfftn(x, s=lengths, axes=_last(rank)).astype(kind, copy=False)


def _infer_irfft(x: ShapeDtype, rank: int, length: int) -> ShapeDtype:
    need_rank("irfft", x, rank)
    kind = x.dtype.real_dtype
    return ShapeDtype(None if x.shape is None else (*x.shape[:-1], length), kind)


def _lower_irfft(x: JaxArray, rank: int, length: int) -> JaxArray:
    if not x.size or not length:
        kind = np.float32 if x.dtype == np.complex64 else np.float64
        return lax.full((*x.shape[:-1], length), 0, kind)
    return lax.fft(x, "IRFFT", (*x.shape[x.ndim - rank : -1], length))


def _irfft_grad(g: Tensor, x_shape: tuple[int | Dim, ...], rank: int, length: int) -> Tensor:
    lengths = (*x_shape[len(x_shape) - rank : -1], length)
    spectrum = apply(RFFT, g, rank=rank)
    return spectrum * (
        _of_pairs(spectrum, length, 2.0) / factor(math.prod(lengths), spectrum.dtype)
    )


IRFFT = Op(
    "irfft",
    "x",
    kernel=without_fp_warnings(_irfft_kernel),
    infer=_infer_irfft,
    lower=_lower_irfft,
    grad=_irfft_grad,
    accepts=dtypes.COMPLEX,
    holomorphic=False,
)


def _lengths(name: str, given: TensorLike, rank: int) -> tuple[int, ...]:
    result = static(name, given)
    require(
        isinstance(result, tuple)
        and len(result) == rank
        and all(type(n) is Dim or n >= 1 for n in result),
        name,
        lambda: f"`fft_length` must be {rank} positive whole numbers; got {given!r}",
        help=f"Give a list such as {[8] * rank}.",
    )
    return result


def _real(name: str, x: Any, given: TensorLike | None, rank: int) -> Tensor:
    x = operand(x, None, dtypes.float32)
    need_rank(name, x, rank)
    if given is not None:
        x = fit(x, _lengths(name, given, rank))
    return apply(RFFT, x, rank=rank)


def _inverse_real(name: str, x: Any, given: TensorLike | None, rank: int) -> Tensor:
    x = operand(x, None, dtypes.complex64)
    need_rank(name, x, rank)
    shape = x._array.shape
    if given is None:
        length = larger(2 * (shape[-1] - 1), 0)
    else:
        *others, length = _lengths(name, given, rank)
        x = fit(x, (*others, length // 2 + 1))
    return apply(IRFFT, x, rank=rank, length=length)


@with_fallback
def rfft(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The Fourier transform of a real signal: the frequencies that are not conjugates."""
    return _real("rfft", input_tensor, fft_length, 1)


@with_fallback
def irfft(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The inverse of `rfft`; give `fft_length` where the signal's length was odd."""
    return _inverse_real("irfft", input_tensor, fft_length, 1)


@with_fallback
def rfft2d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """`rfft` of the last two axes."""
    return _real("rfft2d", input_tensor, fft_length, 2)


@with_fallback
def irfft2d(input_tensor: TensorLike, fft_length: Any = None, name: str | None = None) -> Tensor:
    """The inverse of `rfft2d`."""
    return _inverse_real("irfft2d", input_tensor, fft_length, 2)


@with_fallback
def rfft3d(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """`rfft` of the last three axes."""
    return _real("rfft3d", input_tensor, fft_length, 3)


@with_fallback
def irfft3d(
    input_tensor: TensorLike, fft_length: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The inverse of `rfft3d`."""
    return _inverse_real("irfft3d", input_tensor, fft_length, 3)


def _shifted(name: str, x: Any, axes: list[int] | Axis | None, back: bool) -> Tensor:
    from wengert.ops.reordering import ROLL

    x = operand(x)
    shape = x._array.shape
    wanted = None if axes is None else static_tuple(name, axes, "axes")
    places = shapes.axes(name, wanted, len(shape))
    halves = tuple([shape[i] // 2 for i in places])
    return apply(ROLL, x, shift=tuple([-n for n in halves]) if back else halves, axis=places)


@with_fallback
def fftshift(x: TensorLike, axes: Axis = None, name: str | None = None) -> Tensor:
    """Moves the zero frequency to the middle."""
    return _shifted("fftshift", x, axes, False)


@with_fallback
def ifftshift(x: TensorLike, axes: Axis = None, name: str | None = None) -> Tensor:
    """The inverse of `fftshift`."""
    return _shifted("ifftshift", x, axes, True)
