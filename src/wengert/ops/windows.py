"""Window functions and the mel scale: constants computed in double precision and rounded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core.dtypes import as_dtype
from wengert.core.sites import caller
from wengert.ops.declare import (
    DType,
    DTypeLike,
    Tensor,
    TensorLike,
    dtypes,
    require,
    special,
    static_float,
    static_int,
    wrap,
)
from wengert.ops.sizes import at_least, made, table


def _floating(name: str, dtype: DType | DTypeLike) -> DType:
    kind = as_dtype(dtype)
    require(kind.is_floating, name, f"`dtype` must be floating; got {kind.name}", kind=ValueError)
    return kind


def _length(name: str, value: Any) -> int:
    return at_least(name, "`window_length`", static_int(name, value, "window_length"), 0)


def _made(values: np.ndarray, dtype: DType) -> Tensor:
    return wrap(values.astype(dtype.np), caller())


def _cosine(
    name: str, length: TensorLike, periodic: bool, dtype: DType | DTypeLike, a: float
) -> Tensor:
    kind = _floating(name, dtype)
    n = _length(name, length)
    return table(_cosine_values, (n,), kind, n, bool(periodic), a, name=name)


def _cosine_values(n: int, periodic: bool, a: float) -> np.ndarray:
    if n == 1:
        return np.ones(1)
    turn = n if periodic and n % 2 == 0 else n - 1
    return a - (1 - a) * np.cos(2 * np.pi * np.arange(n) / max(turn, 1))


def hann_window(
    window_length: TensorLike,
    periodic: bool = True,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """A raised cosine; of odd length it is symmetric even when `periodic`, as in TensorFlow."""
    return _cosine("hann_window", window_length, periodic, dtype, 0.5)


def hamming_window(
    window_length: TensorLike,
    periodic: bool = True,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """A raised cosine on a small pedestal."""
    return _cosine("hamming_window", window_length, periodic, dtype, 0.54)


def _kaiser(n: int, beta: float) -> np.ndarray:
    if n == 1:
        return np.ones(1)
    half = (n - 1) / 2.0
    arg = np.sqrt(np.maximum(1.0 - ((np.arange(n) - half) / max(half, 1e-300)) ** 2, 0.0)) * beta
    return special.i0e(arg) * np.exp(np.abs(arg) - abs(beta)) / special.i0e(beta)


def kaiser_window(
    window_length: TensorLike,
    beta: TensorLike = 12.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """Kaiser's window; the larger `beta`, the narrower."""
    kind = _floating("kaiser_window", dtype)
    n = _length("kaiser_window", window_length)
    width = static_float("kaiser_window", beta, "beta")
    return table(_kaiser, (n,), kind, n, width, name="kaiser_window")


def _derived(half: int, width: float) -> np.ndarray:
    sums = np.cumsum(_kaiser(half + 1, width))
    rise = np.sqrt(sums[:-1] / sums[-1])
    return np.concatenate([rise, rise[::-1]])


def kaiser_bessel_derived_window(
    window_length: TensorLike,
    beta: TensorLike = 12.0,
    dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:
    """The window for the MDCT derived from Kaiser's; an odd length loses one element."""
    what = "kaiser_bessel_derived_window"
    kind = _floating(what, dtype)
    half = _length(what, window_length) // 2
    return table(_derived, (2 * half,), kind, half, static_float(what, beta, "beta"), name=what)


def _vorbis(n: int) -> np.ndarray:
    inner = np.sin(np.pi * (np.arange(n) + 0.5) / max(n, 1))
    return np.sin(np.pi / 2.0 * inner**2)


def vorbis_window(
    window_length: TensorLike, dtype: DTypeLike = dtypes.float32, name: str | None = None
) -> Tensor:
    """The window of the Vorbis codec."""
    kind = _floating("vorbis_window", dtype)
    n = _length("vorbis_window", window_length)
    return table(_vorbis, (n,), kind, n, name="vorbis_window")


def inverse_stft_window_fn(
    frame_step: TensorLike,
    forward_window_fn: Callable[..., Any] = hann_window,
    name: str | None = None,
) -> Callable[..., Any]:
    """A function that makes the window with which `inverse_stft` undoes `stft` exactly."""

    def inverse_stft_window_fn_inner(frame_length: int, dtype: DType) -> Tensor:
        """The forward window divided by the sum of the squares that overlap at each place."""
        length = static_int("inverse_stft", frame_length, "frame_length")
        step = at_least(
            "inverse_stft",
            "`frame_step`",
            static_int("inverse_stft", frame_step, "frame_step"),
            1,
        )
        window = forward_window_fn(length, dtype=dtype)._array
        overlaps = -(-length // step)
        squares = np.zeros(overlaps * step, np.float64)
        squares[:length] = window.astype(np.float64) ** 2
        total = np.tile(squares.reshape(overlaps, step).sum(0), overlaps)[:length]
        return _made(window / total, as_dtype(dtype))

    return inverse_stft_window_fn_inner


def _mel(hertz: float | np.ndarray) -> Any:
    return 1127.0 * np.log1p(np.asarray(hertz, np.float64) / 700.0)


def linear_to_mel_weight_matrix(
    num_mel_bins: TensorLike = 20, num_spectrogram_bins: TensorLike = 129, sample_rate: TensorLike = 8000,
    lower_edge_hertz: TensorLike = 125.0, upper_edge_hertz: TensorLike = 3800.0, dtype: DTypeLike = dtypes.float32,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """A matrix that takes linear frequency bins to triangular bins evenly spaced in mel."""
    what = "linear_to_mel_weight_matrix"
    kind = _floating(what, dtype)
    rate = static_float(what, sample_rate, "sample_rate")
    low = static_float(what, lower_edge_hertz, "lower_edge_hertz")
    high = static_float(what, upper_edge_hertz, "upper_edge_hertz")
    bins = static_int(what, num_mel_bins, "num_mel_bins")
    rules = [
        (bins > 0, f"`num_mel_bins` must be positive; got {bins}"),
        (low >= 0, f"`lower_edge_hertz` must not be negative; got {low}"),
        (low < high, f"`lower_edge_hertz` {low} must be below `upper_edge_hertz` {high}"),
        (rate > 0, f"`sample_rate` must be positive; got {rate}"),
        (high <= rate / 2, f"`upper_edge_hertz` {high} must not exceed half of {rate}"),
    ]
    for holds, rule in rules:
        require(holds, what, f"{rule}", kind=ValueError)
    count = static_int(what, num_spectrogram_bins, "num_spectrogram_bins")
    count = at_least(what, "`num_spectrogram_bins`", count, 0)
    return _made(made(what, _mel_weights, count, bins, rate, low, high), kind)


def _mel_weights(count: int, bins: int, rate: float, low: float, high: float) -> np.ndarray:
    frequencies = _mel(np.linspace(0.0, rate / 2.0, count))[1:, None]
    edges = np.linspace(_mel(low), _mel(high), bins + 2)
    lower, center, upper = edges[:-2], edges[1:-1], edges[2:]
    rising = (frequencies - lower) / (center - lower)
    falling = (upper - frequencies) / (upper - center)
    weights = np.maximum(0.0, np.minimum(rising, falling))
    return np.pad(weights, ((1, 0), (0, 0)))
