"""Sounds as WAV files hold them: whole numbers of 16 bits, one for each channel of each sample."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import invalid
from wengert.core.op import Op, ShapeDtype
from wengert.ops.declare import static_int

if TYPE_CHECKING:
    from wengert.core.types import Tensor, TensorLike


_FULL = 2.0**15
_PCM = 1  # plain numbers, not compressed
_FORMAT = struct.Struct("<HHIIHH")


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The named parts of a file, after its head."""
    if len(data) < 12 or data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise invalid("decode_wav", "the bytes do not begin as those of a WAV file do")
    at = 12
    while at + 8 <= len(data):
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        part = data[at + 8 : at + 8 + size]
        if len(part) < size:
            raise invalid("decode_wav", f"the file ends within its part {name.decode('latin-1')!r}")
        yield name, part
        at += 8 + size


def _read(data: bytes) -> tuple[np.ndarray, int]:
    """The numbers [samples, channels] of a file, and how many samples a second has."""
    result: tuple[int, int] | None = None
    for name, part in _chunks(data):
        if name == b"fmt ":
            result = _format(part)
        elif name == b"data" and result is not None:
            channels, rate = result
            whole = len(part) // (2 * channels) * channels
            return np.frombuffer(part, "<i2", whole).reshape(-1, channels), rate
    raise invalid("decode_wav", "the file has no sound in it")


def _format(part: bytes) -> tuple[int, int]:
    if len(part) < _FORMAT.size:
        raise invalid("decode_wav", "the file does not say what its numbers mean")
    kind, channels, rate, _, _, bits = _FORMAT.unpack(part[: _FORMAT.size])
    if kind != _PCM or bits != 16 or not channels:
        rule = "only numbers of 16 bits that are not compressed (PCM) are read"
        raise invalid("decode_wav", f"{rule}; got format {kind} of {bits} bits")
    return channels, rate


def _decode(x: np.ndarray, channels: int, samples: int) -> tuple[np.ndarray, np.ndarray]:
    if x.ndim:
        raise ValueError("one string")
    numbers, rate = _read(bytes(x.item()))
    have = numbers.shape[1]
    if channels != -1:  # the last channel again where the file has fewer
        numbers = numbers[:, np.minimum(np.arange(channels), have - 1)]
    if samples != -1:
        short = max(samples - len(numbers), 0)
        numbers = np.pad(numbers[:samples], ((0, short), (0, 0)))
    return (numbers / _FULL).astype(np.float32), np.array(rate, np.int32)


def _infer_decoded(x: ShapeDtype, channels: int, samples: int) -> tuple[ShapeDtype, ShapeDtype]:
    if x.shape:
        raise invalid("decode_wav", "`contents` must be one string", x)
    sizes = tuple(None if n == -1 else n for n in (samples, channels))
    return ShapeDtype(sizes, dtypes.float32), ShapeDtype((), dtypes.int32)


DECODE_WAV = Op(
    "decode_wav", "x", kernel=_decode, infer=_infer_decoded, lower=None, grad=None, outputs=2,
    accepts=dtypes.nums("s"), register=False,
)  # fmt: skip


class DecodedWav(NamedTuple):
    """Numbers from -1 to 1, [samples, channels], and how many samples a second has."""

    audio: Any
    sample_rate: Any


def decode_wav(
    contents: TensorLike,
    desired_channels: TensorLike = -1,
    desired_samples: TensorLike = -1,
    name: str | None = None,
) -> DecodedWav:
    """The sound in a WAV file of 16 bits: numbers from -1 to 1, [samples, channels].

    It is cut, or filled up with silence, to `desired_samples`; of `desired_channels` that the file
    does not have, each is like its last.
    """
    counts = {
        "channels": static_int("decode_wav", desired_channels, "desired_channels"),
        "samples": static_int("decode_wav", desired_samples, "desired_samples"),
    }
    if min(counts.values()) < -1:
        rule = "`desired_channels` and `desired_samples` must be sizes, or -1"
        raise invalid("decode_wav", f"{rule}; got {desired_channels} and {desired_samples}")
    return DecodedWav(*apply(DECODE_WAV, operand(contents, dtypes.string), **counts))


def _encode(x: np.ndarray, rate: np.ndarray) -> np.ndarray:
    if x.ndim != 2 or rate.ndim:
        raise ValueError("numbers [samples, channels] and one rate")
    per_second = int(rate)
    if per_second <= 0:
        raise invalid("encode_wav", f"`sample_rate` must be positive; got {per_second}")
    sound = np.clip(np.rint(x * np.float32(_FULL)), -_FULL, _FULL - 1).astype("<i2").tobytes()
    channels = x.shape[1]
    about = _FORMAT.pack(_PCM, channels, per_second, 2 * channels * per_second, 2 * channels, 16)
    parts = b"WAVE" + b"fmt " + _sized(about) + b"data" + _sized(sound)
    out = np.empty((), object)
    out[()] = b"RIFF" + _sized(parts)
    return out


def _sized(part: bytes) -> bytes:
    return len(part).to_bytes(4, "little") + part


def _infer_encoded(x: ShapeDtype, rate: ShapeDtype) -> ShapeDtype:
    if x.shape is not None and len(x.shape) != 2:
        raise invalid("encode_wav", "`audio` must be [samples, channels]", x)
    if rate.shape:
        raise invalid("encode_wav", "`sample_rate` must be one number", rate)
    return ShapeDtype((), dtypes.string)


ENCODE_WAV = Op(
    "encode_wav", "x rate", kernel=_encode, infer=_infer_encoded, lower=None, grad=None, match=(),
    register=False,
)  # fmt: skip


def encode_wav(audio: TensorLike, sample_rate: TensorLike, name: str | None = None) -> Tensor:
    """A WAV file of 16 bits from numbers [samples, channels]; those beyond -1 and 1 are cut."""
    rate = operand(sample_rate, dtypes.int32)
    return apply(ENCODE_WAV, operand(audio, dtypes.float32), rate)
