"""PNG pictures with 16 bits to a number, of which Pillow keeps 8 where there are colours.

Knows the layout of such pictures; what the numbers are wanted as is the caller's affair.
"""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
# The number for the kind of a picture with so many channels: grey, grey and alpha, RGB, RGBA.
_KINDS = {1: 0, 2: 4, 3: 2, 4: 6}


def is_deep(data: bytes) -> bool:
    """Whether bytes begin as those of a PNG picture with 16 bits to a number."""
    return data.startswith(_SIGNATURE) and data[12:16] == b"IHDR" and data[24:25] == b"\x10"


def read(data: bytes, channels: int, Image: Any) -> np.ndarray:
    """The pixels as uint16, [height, width, channels]; `channels` of 0 as in the file."""
    pixels, clear = _stored(data, Image)
    own = pixels.shape[-1]
    wanted = channels or own
    colors, alpha = (pixels[..., :-1], pixels[..., -1:]) if own in (2, 4) else (pixels, None)
    if wanted < 3 and own > 2:
        result = _gray(colors)
    else:
        result = np.repeat(colors, 3, -1) if wanted > 2 and own < 3 else colors
    if wanted in (1, 3):
        return result
    if alpha is None:
        seen = np.ones(colors.shape[:2], bool) if clear is None else (colors != clear).any(-1)
        alpha = seen[..., None] * np.uint16(65535)
    return np.concatenate([result, alpha], -1)


def _stored(data: bytes, Image: Any) -> tuple[np.ndarray, Any]:
    """The pixels as they are in the file, and the colour that is to be transparent."""
    kind = data[25]
    if kind == 4:  # grey and alpha: their bytes lie as those of RGBA with 8 bits
        with Image.open(io.BytesIO(_relabelled(data, 8, 6))) as picture:
            high_low = np.asarray(picture).astype(np.uint16)
        return high_low[..., ::2] << 8 | high_low[..., 1::2], None
    high, clear = _read_as(data, "B", Image)
    if kind == 0:
        return high.astype(np.uint16)[..., None], clear
    low, _ = _read_as(data, "L", Image)  # the upper byte of a number read from its other end
    return high.astype(np.uint16) << 8 | low, clear


def _read_as(data: bytes, order: str, Image: Any) -> tuple[np.ndarray, Any]:
    """The pixels as Pillow reads them with this byte order."""
    with Image.open(io.BytesIO(data)) as picture:
        if order == "L":
            picture.tile = [(*t[:3], f"{picture.mode};16L") for t in picture.tile]
        return np.asarray(picture), picture.info.get("transparency")


def _relabelled(data: bytes, bits: int, kind: int) -> bytes:
    """The file with another depth and kind in its header."""
    head = data[12:24] + bytes([bits, kind]) + data[26:29]
    return data[:12] + head + struct.pack(">I", zlib.crc32(head)) + data[33:]


def _gray(pixels: np.ndarray) -> np.ndarray:
    """Brightness as libpng computes it with 16 bits, in whole numbers and rounded."""
    red, green, blue = (pixels[..., k : k + 1].astype(np.uint32) for k in range(3))
    return ((9797 * red + 19234 * green + 3737 * blue + 16384) >> 15).astype(np.uint16)


def write(pixels: np.ndarray, level: int = -1) -> bytes:
    """A PNG picture of uint8 or uint16 pixels [height, width, 1 to 4]; -1 is zlib's own level."""
    height, width, depth = pixels.shape
    size = pixels.itemsize
    rows = pixels.astype(f">u{size}").view(np.uint8).reshape(height, width, size * depth)
    # Each pixel as its difference to the one before, which is the filter called 1.
    rows = np.diff(rows, axis=1, prepend=np.zeros((height, 1, size * depth), np.uint8))
    lines = np.insert(rows.reshape(height, -1), 0, 1, axis=1)
    head = struct.pack(">IIBBBBB", width, height, 8 * size, _KINDS[depth], 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(lines.tobytes(), level)), (b"IEND", b"")]
    return _SIGNATURE + b"".join(_chunk(*part) for part in parts)


def _chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
