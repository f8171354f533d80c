"""Cutting a signal into overlapping frames and adding them up again; the short-time transforms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops.declare import (
    Dim,
    JaxArray,
    Op,
    Ranked,
    ShapeDtype,
    Tensor,
    TensorLike,
    Value,
    apply,
    at_site,
    dtypes,
    formula,
    in_float32,
    is_open,
    jnp,
    known_unequal,
    larger,
    lax,
    lower_in_float32,
    need_rank,
    negative,
    operand,
    require,
    shapes,
    static,
    static_int,
    tf,
    where_ranked,
    with_fallback,
    wrap,
)
from wengert.ops.fft import fit
from wengert.ops.sizes import at_least, factor
from wengert.ops.windows import hann_window, vorbis_window


def _count(size: int, length: int, step: int) -> int:
    return max(0, 1 + (size - length) // step)


def _frame_kernel(x: np.ndarray, length: int, step: int) -> np.ndarray:
    count = _count(x.shape[-1], length, step)
    if not count or not length:
        return np.zeros((*x.shape[:-1], count, length), x.dtype)
    windows = np.lib.stride_tricks.sliding_window_view(x, length, axis=-1)
    return windows[..., : (count - 1) * step + 1 : step, :]


@where_ranked
def _infer_frame(x: Ranked, length: Any, step: int) -> ShapeDtype:
    size: Any = x.shape[-1]
    count = None if None in (size, length, step) else _count(size, length, step)
    return ShapeDtype((*x.shape[:-1], count, length), x.dtype)


def _places(count: int, length: int, step: int) -> np.ndarray:
    return np.arange(count)[:, None] * step + np.arange(length)


def _lower_frame(x: JaxArray, length: int, step: int) -> JaxArray:
    # `jnp.take` builds the dimension numbers that `lax.gather` would want.
    count = _count(x.shape[-1], length, step)
    if not count or not length:
        return lax.full((*x.shape[:-1], count, length), 0, x.dtype)
    return jnp.take(x, _places(count, length, step), axis=-1, mode="clip")


FRAME = Op(
    "frame",
    "x",
    kernel=_frame_kernel,
    infer=_infer_frame,
    lower=_lower_frame,
    grad=lambda g, x_shape, step: fit(apply(OVERLAP_AND_ADD, g, step=step), (x_shape[-1],)),
    accepts=dtypes.ANY,
)


def _total(count: int, length: int, step: int) -> int:
    return max(0, (count - 1) * step + length)


def _overlap_kernel(x: np.ndarray, step: int) -> np.ndarray:
    """Adds the parts of all frames that start at the same multiple of the step at once."""
    *lead, count, length = x.shape
    parts = -(-length // step) if length else 0
    out = np.zeros((*lead, count + parts, step), x.dtype)
    for i in range(parts):
        part = x[..., i * step : (i + 1) * step]
        out[..., i : i + count, : part.shape[-1]] += part
    flat = out.reshape(*lead, (count + parts) * step)
    total = _total(count, length, step)
    return flat[..., :total] if total <= flat.shape[-1] else _fill(flat, total)


def _fill(flat: np.ndarray, total: int) -> np.ndarray:
    out = np.zeros((*flat.shape[:-1], total), flat.dtype)
    out[..., : flat.shape[-1]] = flat
    return out


@where_ranked
def _infer_overlap(x: Ranked, step: int) -> ShapeDtype:
    count, length = x.shape[-2:]
    total = None if count is None or length is None or step is None else _total(count, length, step)
    return ShapeDtype((*x.shape[:-2], total), x.dtype)


def _lower_overlap(x: JaxArray, step: int) -> JaxArray:
    *lead, count, length = x.shape
    out = jnp.zeros((*lead, _total(count, length, step)), x.dtype)
    return out.at[..., _places(count, length, step)].add(x) if x.size else out


OVERLAP_AND_ADD = Op(
    "overlap_and_add",
    "x",
    kernel=in_float32(_overlap_kernel),
    infer=_infer_overlap,
    lower=lower_in_float32(_lower_overlap),
    grad=lambda g, x_shape, step: apply(FRAME, g, length=x_shape[-1], step=step),
    accepts=dtypes.NUMERIC,
)


def _move_last(x: Value, axis: int) -> Value:
    rank = x._array.ndim
    if axis == rank - 1:
        return x
    return tf.transpose(x, [*range(axis), *range(axis + 1, rank), axis])


@with_fallback
def frame(
    signal: TensorLike, frame_length: TensorLike, frame_step: TensorLike, pad_end: bool = False, pad_value: TensorLike = 0,
    axis: int = -1, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Cuts an axis into frames: it becomes two, [frames, frame_length].

    What is left over at the end is dropped, or with `pad_end` filled up with `pad_value`.
    """
    x = operand(signal)
    rank = x._array.ndim
    require(rank, "frame", "a scalar has nothing to cut", x)
    dim = shapes.check_axis("frame", static_int("frame", axis), rank)
    length = static_int("frame", frame_length, "frame_length")
    step = static_int("frame", frame_step, "frame_step")
    require(
        (is_open(step) or step >= 1) and not negative(length),
        "frame",
        f"`frame_length` {length} must not be negative, `frame_step` {step} positive",
    )
    length = at_least("frame", "`frame_length`", length, 0)
    step = at_least("frame", "`frame_step`", step, 1)
    x = _move_last(x, dim)
    if pad_end:
        x = _padded(x, length, step, pad_value)
    frames = apply(FRAME, x, length=length, step=step)
    if dim == rank - 1:
        return frames
    return tf.transpose(frames, [*range(dim), rank - 1, rank, *range(dim, rank - 1)])


def _padded(x: Value, length: int, step: int, value: TensorLike) -> Value:
    """The signal with an end, so that each multiple of the step below its length starts a frame."""
    size = x._array.shape[-1]
    extra = larger(0, length + step * (-(-size // step) - 1) - size)
    if extra == 0:
        return x
    filler = operand(value, x.dtype)
    return tf.concat([x, tf.broadcast_to(filler, (*x._array.shape[:-1], extra))], x._array.ndim - 1)


@with_fallback
def overlap_and_add(signal: TensorLike, frame_step: TensorLike, name: str | None = None) -> Tensor:
    """Puts frames (the last two axes) back `frame_step` apart and adds where they overlap."""
    x = operand(signal)
    require(x._array.ndim >= 2, "overlap_and_add", "frames have rank 2 or more", x)
    try:
        step = static("overlap_and_add", frame_step)
    except TypeError as error:
        raise at_site(ValueError(str(error))) from None
    require(
        isinstance(step, int | Dim) and (not isinstance(step, int) or step >= 1),
        "overlap_and_add",
        f"`frame_step` must be a positive number; got {step}",
    )
    step = at_least("overlap_and_add", "`frame_step`", step, 1)
    return apply(OVERLAP_AND_ADD, x, step=step)


def _fft_length(name: str, length: int, given: Any) -> int:
    """The length asked for, or the next power of two."""
    if given is not None:
        return static_int(name, given, "fft_length")
    return _enclosing(length)


@formula
def _enclosing(length: int) -> int:
    """The next power of two."""
    return 1 << max(0, math.ceil(math.log2(length))) if length > 0 else 1


def _windowed(x: Tensor, window_fn: Any, length: int) -> Tensor:
    return x if window_fn is None else x * window_fn(length, dtype=x.dtype)


def stft(
    signals: TensorLike, frame_length: TensorLike, frame_step: TensorLike, fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window, pad_end: bool = False, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The short-time Fourier transform: frames, times a window, through `rfft`."""
    x = operand(signals)
    length = static_int("stft", frame_length, "frame_length")
    size = _fft_length("stft", length, fft_length)
    frames = frame(x, length, frame_step, pad_end)
    require(
        x.dtype.is_floating,
        "stft",
        f"the signal must be floating; got {x.dtype.name}",
        kind=ValueError,
    )
    return tf.rfft(_windowed(frames, window_fn, length), [size])


def inverse_stft(
    stfts: TensorLike, frame_length: TensorLike, frame_step: TensorLike, fft_length: Any = None,
    window_fn: Callable[..., Any] | None = hann_window, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The signal of a short-time transform; exact with `inverse_stft_window_fn` as the window."""
    x = operand(stfts)
    length = static_int("inverse_stft", frame_length, "frame_length")
    size = _fft_length("inverse_stft", length, fft_length)
    frames = fit(tf.irfft(x, [size]), (length,))
    return overlap_and_add(_windowed(frames, window_fn, length), frame_step)


@with_fallback
def mfccs_from_log_mel_spectrograms(
    log_mel_spectrograms: TensorLike, name: str | None = None
) -> Tensor:
    """Mel-frequency cepstral coefficients: a scaled cosine transform of the last axis."""
    x = operand(log_mel_spectrograms)
    need_rank("mfccs_from_log_mel_spectrograms", x, 1)
    bins = x._array.shape[-1]
    require(bins != 0, "mfccs_from_log_mel_spectrograms", "there are no mel bins", kind=ValueError)
    if is_open(bins):
        return tf.dct(x, 2) * tf.rsqrt(2.0 * factor(bins, x.dtype))
    return tf.dct(x, 2) * (1.0 / math.sqrt(2.0 * bins))


def _mdct_length(length: int) -> int:
    require(
        not known_unequal(length % 4, 0),
        "mdct",
        f"the frame length must be a multiple of 4; got {length}",
        kind=ValueError,
    )
    return length // 2


def _flipped(x: Tensor) -> Tensor:
    return tf.reverse(x, [x._array.ndim - 1])


@with_fallback
def mdct(
    signals: TensorLike, frame_length: TensorLike, window_fn: Callable[..., Any] | None = vorbis_window,
    pad_end: bool = False, norm: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The modified discrete cosine transform, whose frames overlap by half."""
    x = operand(signals)
    length = static_int("mdct", frame_length, "frame_length")
    half = _mdct_length(length)
    frames = frame(x, length, half, pad_end)
    frames = frames * (
        wrap(np.asarray(1 / math.sqrt(2), x.dtype.np)) if window_fn is None
        else window_fn(length, dtype=x.dtype)
    )  # fmt: skip
    a, b, c, d = tf.split(frames, 4, frames._array.ndim - 1)
    folded = tf.concat([-_flipped(c) - d, a - _flipped(b)], frames._array.ndim - 1)
    return tf.dct(folded, 4, norm=norm)


@with_fallback
def inverse_mdct(
    mdcts: TensorLike, window_fn: Callable[..., Any] | None = vorbis_window, norm: Any = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """The signal of an `mdct`, but for the first and last half frame."""
    x = operand(mdcts)
    need_rank("inverse_mdct", x, 1)
    half = x._array.shape[-1]
    if half == 0:
        need_rank("inverse_mdct", x, 2)
        return tf.zeros((*x._array.shape[:-2], 0), x.dtype)
    spread = tf.dct(x, 4, norm=norm)
    last = spread._array.ndim - 1
    first, second = tf.split(spread, 2, last)
    unfolded = tf.concat([second, -_flipped(second), -_flipped(first), -first], last)
    if norm is None:
        unfolded = unfolded * (0.5 / factor(half, x.dtype))
    window = (
        wrap(np.asarray(1 / math.sqrt(2), x.dtype.np)) if window_fn is None
        else window_fn(2 * half, dtype=x.dtype)
    )  # fmt: skip
    return overlap_and_add(unfolded * window, half)
