"""Numbers as TensorBoard wants them: buckets of a histogram, PNG images, WAV sounds."""

from __future__ import annotations

import io
import struct
import wave
import zlib

import numpy as np

# PNG's number for a colour type, by how many channels it has.
_COLOURS = {1: 0, 2: 4, 3: 2, 4: 6}


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
        places = np.minimum(np.floor((values - low) / width), count - 1)
        edges = low + width * np.arange(count + 1)
    edges[0], edges[-1] = low, high
    counts = np.bincount(places[np.isfinite(places)].astype(np.int64), minlength=count)
    return np.stack([edges[:-1], edges[1:], counts.astype(np.float64)], 1)


def png(image: np.ndarray) -> bytes:
    """An image of shape [height, width, 1 to 4 channels], of bytes."""
    height, width, channels = image.shape
    lines = b"".join(b"\0" + line.tobytes() for line in image)  # 0: no filter
    header = struct.pack(">IIBBBBB", width, height, 8, _COLOURS[channels], 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in parts)


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


def wav(sound: np.ndarray, rate: int) -> bytes:
    """A sound of shape [frames, channels], from -1 to 1, in 16 bits."""
    wide = sound.astype(np.float32) * np.float32(32768)
    whole = np.trunc(wide + np.copysign(np.float32(0.5), wide))  # halves go away from zero
    samples = np.clip(whole, -32768, 32767).astype("<i2")
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(sound.shape[1])
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(samples.tobytes())
    return out.getvalue()
