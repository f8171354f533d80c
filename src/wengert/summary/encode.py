"""Numbers as TensorBoard wants them: buckets of a histogram, PNG images, WAV sounds."""

from __future__ import annotations

import numpy as np

from wengert.io import deep_png
from wengert.io.wav import wav_file


def buckets(data: np.ndarray, count: int) -> np.ndarray:
    """Rows of (left edge, right edge, how many) over the range of the data.

    NaN belongs to no bucket; where all values are the same, the last bucket has them.
    """
    values = np.real(data).astype(np.float64).reshape(-1)
    if not values.size or not count:
        return np.zeros((count, 3))
    low, high = values.min(), values.max()
    if low == high:
        rows = np.tile([low, low, 0.0], (count, 1))
        rows[-1, 2] = values.size
        return rows
    with np.errstate(all="ignore"):
        width = (high - low) / count
        bins = np.minimum(np.floor((values - low) / width), count - 1)
        edges = low + width * np.arange(count + 1)
    edges[0], edges[-1] = low, high
    counts = np.bincount(bins[np.isfinite(bins)].astype(np.int64), minlength=count)
    return np.stack([edges[:-1], edges[1:], counts.astype(np.float64)], 1)


def png(image: np.ndarray) -> bytes:
    """An image of shape [height, width, 1 to 4 channels], of bytes."""
    return deep_png.write(image)


def wav(sound: np.ndarray, rate: int) -> bytes:
    """A sound of shape [frames, channels], from -1 to 1, in 16 bits."""
    wide = sound.astype(np.float32) * np.float32(32768)
    rounded = np.trunc(wide + np.copysign(np.float32(0.5), wide))  # halves go away from zero
    return wav_file(np.clip(rounded, -32768, 32767), rate)
