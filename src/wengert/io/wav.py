"""Sounds as WAV files hold them: whole numbers of 16 bits, one for each channel of each sample."""

from __future__ import annotations

import io
import wave
from typing import Any, NamedTuple

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import invalid
from wengert.core.types import Op, ShapeDtype, Tensor, TensorLike
from wengert.ops.declare import static_int

_FULL = 2.0**15


def _read(data: bytes) -> tuple[np.ndarray, int]:
    """The numbers [samples, channels] of a file, and how many samples a second has."""
    try:
        with wave.open(io.BytesIO(data)) as file:
            channels, width, rate, count = file.getparams()[:4]
            sound = file.readframes(count)
    except (wave.Error, EOFError) as error:
        reason = str(error) or "they end too early"
        raise invalid("decode_wav", f"the bytes are no WAV file that is read: {reason}") from error
    if width != 2:
        rule = "only numbers of 16 bits that are not compressed (PCM) are read"
        raise invalid("decode_wav", f"{rule}; got {8 * width} bits")
    if len(sound) < 2 * channels * count:
        raise invalid("decode_wav", "the file ends within its sound")
    return np.frombuffer(sound, "<i2").reshape(-1, channels), rate


def wav_file(numbers: np.ndarray, rate: int) -> bytes:
    """A file of whole numbers of 16 bits, [samples, channels]."""
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setparams((numbers.shape[1], 2, rate, len(numbers), "NONE", "not compressed"))
        file.writeframes(numbers.astype("<i2").tobytes())
    return out.getvalue()


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
    numbers = np.clip(np.rint(x * np.float32(_FULL)), -_FULL, _FULL - 1)
    out = np.empty((), object)
    out[()] = wav_file(numbers, per_second)
    return out


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
