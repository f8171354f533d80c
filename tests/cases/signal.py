"""Cases for transforms, frames and windows, against NumPy and SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.fft

import wengert as tf
from tests.cases import Case, normal
from wengert.ops.fft import fit

S = tf.signal


def complex_normal(*shape: int, seed: int = 0) -> np.ndarray:
    return normal(*shape, seed=seed) + 1j * normal(*shape, seed=seed + 100)


def frames(x: np.ndarray, length: int, step: int) -> np.ndarray:
    count = max(0, 1 + (x.shape[-1] - length) // step)
    parts = [x[..., i * step : i * step + length] for i in range(count)]
    return np.stack(parts, -2) if parts else np.zeros((*x.shape[:-1], 0, length))


def added(x: np.ndarray, step: int) -> np.ndarray:
    count, length = x.shape[-2:]
    out = np.zeros((*x.shape[:-2], (count - 1) * step + length))
    for i in range(count):
        out[..., i * step : i * step + length] += x[..., i, :]
    return out


def half_spectrum(x: np.ndarray) -> np.ndarray:
    """A spectrum whose own conjugates are real, as a real signal has."""
    x = x.copy()
    x[..., 0] = np.real(x[..., 0])
    x[..., -1] = np.real(x[..., -1])
    return x


def dct_case(type: int, norm: str | None, n: int | None) -> Case:
    def ref(x: np.ndarray) -> Any:
        if n is not None:
            x = np.pad(x, ((0, 0), (0, max(0, n - x.shape[1]))))[:, :n]
        return scipy.fft.dct(x, type, norm=norm)

    return Case(
        f"dct{type}_{norm}_{n}", lambda x: S.dct(x, type, n, norm=norm), (normal(2, 6),), ref
    )


F = (normal(2, 3, 8),)
Z = (complex_normal(2, 4, 5),)
CASES = [
    Case("fft", S.fft, Z, np.fft.fft),
    Case("ifft", S.ifft, Z, np.fft.ifft),
    Case("fft2d", S.fft2d, Z, np.fft.fft2),
    Case("ifft2d", S.ifft2d, Z, np.fft.ifft2),
    Case("fft3d", S.fft3d, Z, np.fft.fftn),
    Case("ifft3d", S.ifft3d, Z, np.fft.ifftn),
    Case("fft_empty", S.fft, (np.zeros((2, 0), complex),), lambda x: x, order=0),
    Case("rfft", S.rfft, F, np.fft.rfft),
    Case("rfft_odd", lambda x: S.rfft(x, [7]), F, lambda x: np.fft.rfft(x, 7)),
    Case("rfft_longer", lambda x: S.rfft(x, [10]), F, lambda x: np.fft.rfft(x, 10)),
    Case("rfft_empty", S.rfft, (np.zeros((0, 4)),), lambda x: np.zeros((0, 3), complex), order=0),
    Case("rfft2d", S.rfft2d, F, np.fft.rfft2),
    Case("rfft3d", lambda x: S.rfft3d(x, [2, 4, 5]), F, lambda x: np.fft.rfftn(x, (2, 4, 5), (0, 1, 2))),
    Case("irfft", S.irfft, (half_spectrum(Z[0]),), np.fft.irfft),
    Case("irfft_odd", lambda x: S.irfft(x, [9]), Z, lambda x: np.fft.irfft(x, 9)),
    Case("irfft_longer", lambda x: S.irfft(x, [12]), Z, lambda x: np.fft.irfft(x, 12)),
    Case("irfft_empty", lambda x: S.irfft(x, [4]), (np.zeros((0, 3), complex),),
         lambda x: np.zeros((0, 4)), order=0),
    Case("irfft2d", S.irfft2d, Z),
    Case("irfft3d", lambda x: S.irfft3d(x, [2, 3, 9]), Z),
    Case("irfft_inverts", lambda x: S.irfft(S.rfft(x)), F, lambda x: x),
    Case("fftshift", S.fftshift, F, np.fft.fftshift),
    Case("ifftshift", lambda x: S.ifftshift(x, [2]), (normal(2, 3, 5),),
         lambda x: np.fft.ifftshift(x, [2])),
    Case("fit", lambda x: fit(x, (5, 3)), (normal(2, 4, 6),),
         lambda x: np.pad(x, ((0, 0), (0, 1), (0, 0)))[:, :, :3]),
    dct_case(1, None, None),
    dct_case(1, None, 9),
    *(dct_case(t, norm, n) for t in (2, 3, 4) for norm in (None, "ortho") for n in (None, 4, 9)),
    Case("dct_empty", S.dct, (np.zeros((0, 3)),), lambda x: x, order=0),
    Case("idct", lambda x: S.idct(S.dct(x, norm="ortho"), norm="ortho"), F, lambda x: x),
    Case("frame", lambda x: S.frame(x, 4, 3), (normal(2, 11),), lambda x: frames(x, 4, 3)),
    Case("frame_gaps", lambda x: S.frame(x, 2, 5), (normal(2, 13),), lambda x: frames(x, 2, 5)),
    Case("frame_short", lambda x: S.frame(x, 9, 5), (normal(2, 4),), lambda x: frames(x, 9, 5),
         order=0),
    Case("frame_whole", lambda x: S.frame(x, 2, 1), (np.arange(5, dtype=np.int32),),
         lambda x: frames(x, 2, 1), order=0),
    Case("frame_pad_end", lambda x: S.frame(x, 4, 3, pad_end=True, pad_value=7.0),
         (normal(2, 11),),
         lambda x: frames(np.pad(x, ((0, 0), (0, 2)), constant_values=7.0), 4, 3)),
    Case("frame_axis", lambda x: S.frame(x, 3, 2, axis=1), (normal(2, 7, 2),),
         lambda x: np.moveaxis(frames(np.moveaxis(x, 1, -1), 3, 2), 1, -1)),
    Case("overlap_and_add", lambda x: S.overlap_and_add(x, 2), (normal(2, 3, 5),),
         lambda x: added(x, 2)),
    Case("overlap_and_add_gaps", lambda x: S.overlap_and_add(x, 6), (normal(2, 3, 5),),
         lambda x: added(x, 6)),
    Case("overlap_and_add_empty", lambda x: S.overlap_and_add(x, 1), (np.zeros((0, 3)),),
         lambda x: np.zeros(2), order=0),
    Case("stft", lambda x: S.stft(x, 6, 2), (normal(2, 17),),
         lambda x: np.fft.rfft(frames(x, 6, 2) * np.hanning(7)[:6], 8)),
    Case("inverse_stft",
         lambda x: S.inverse_stft(
             S.stft(x, 8, 2), 8, 2, window_fn=S.inverse_stft_window_fn(2))[:, 8:-8],
         (normal(2, 32),), lambda x: x[:, 8:-8]),
    Case("mdct", lambda x: S.inverse_mdct(S.mdct(x, 8))[:, 4:-4], (normal(2, 24),),
         lambda x: x[:, 4:-4]),
    Case("mfccs", S.mfccs_from_log_mel_spectrograms, F,
         lambda x: scipy.fft.dct(x, 2) / np.sqrt(16)),
]  # fmt: skip
