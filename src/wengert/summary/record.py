"""The summaries: scalars, histograms, images, text, sounds and plain tensors.

Each is one operation with an effect, so inside a traced function it writes each time that runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply, wrap
from wengert.core.convert import operand
from wengert.core.errors import at_site, describe, invalid, invalid_dtype
from wengert.core.types import Op, ShapeDtype, Tensor, TensorLike, Value
from wengert.ops.cast import cast
from wengert.summary import encode
from wengert.summary.writer import summary_scope, target

if TYPE_CHECKING:
    from wengert.summary.writer import FileWriter


_BUCKETS = 30


def _record(
    x: np.ndarray, step: np.ndarray, when: np.ndarray, writer: FileWriter, tag: str, metadata: bytes,
    finish: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:  # fmt: skip
    if when:
        writer.file.add(tag, finish(x), int(step), metadata)
    return np.asarray(bool(when))


WRITE = Op(
    "write_summary",
    "x step when",
    kernel=_record,
    infer=lambda x, step, when, **attrs: ShapeDtype((), dtypes.bool_),
    lower=None,
    grad=None,
    match=(),
    effect=True,
    register=False,
)


def _write(
    tag: str,
    make: Callable[[], Any],
    step: Any,
    kind: Any,
    description: str | None = None,
    finish: Callable[[np.ndarray], np.ndarray] = np.asarray,
) -> Any:
    """Writes what `make` returns, if anything is to be written; says whether it was."""
    destination = target(step)
    if destination is None:
        return wrap(np.asarray(False))
    writer, number, when = destination
    metadata = writer.file.metadata(kind, description)
    return apply(
        WRITE, operand(make()), number, when,
        writer=writer, tag=tag, metadata=metadata, finish=finish,
    )  # fmt: skip


def write(
    tag: str,
    tensor: Any,
    step: TensorLike | None = None,
    metadata: Any = None,
    name: str | None = None,
) -> Tensor:
    """Writes a tensor, or what a function of none returns, under a tag.

    `metadata` is a `SummaryMetadata` message or its bytes, for TensorBoard's plugins.
    """
    make = tensor if callable(tensor) else lambda: tensor
    return _write(tag, make, step, metadata)


def scalar(
    name: str, data: TensorLike, step: TensorLike | None = None, description: str | None = None
) -> Tensor:
    """Writes a number: `tf.summary.scalar("loss", loss, step=i)`.

    Returns whether it was written, which it is not without a default writer.
    """
    x = operand(data)
    if len(x.shape):
        raise at_site(ValueError(f"scalar: `data` must be a scalar; got {describe(x)}."))
    with summary_scope(name, "scalar_summary") as (tag, _):
        return _write(tag, lambda: cast(x, dtypes.float32), step, "scalar", description)


def histogram(
    name: str,
    data: TensorLike,
    step: TensorLike | None = None,
    buckets: TensorLike | None = None,
    description: str | None = None,
) -> Tensor:
    """Writes how the elements of a tensor are spread, over `buckets` (30) ranges of equal width."""
    count = _BUCKETS if buckets is None else buckets
    if not isinstance(count, int | np.integer):
        raise at_site(TypeError(f"histogram: `buckets` is a whole number; got {describe(count)}."))
    finish = functools.partial(encode.buckets, count=max(0, int(count)))

    def make() -> Tensor:
        x = operand(data)
        if x.dtype is dtypes.string:
            raise invalid_dtype("histogram", "numbers are needed", x)
        return x

    with summary_scope(name, "histogram_summary") as (tag, _):
        return _write(tag, make, step, "histogram", description, finish)


def _most(name: str, max_outputs: Any) -> int:
    most = int(max_outputs)
    if most < 0:
        raise invalid(name, f"`max_outputs` must not be negative; got {most}")
    return most


def _images(x: np.ndarray) -> np.ndarray:
    out = np.empty(2 + len(x), object)
    out[:2] = str(x.shape[2]).encode(), str(x.shape[1]).encode()
    out[2:] = [encode.png(image) for image in x]
    return out


def image(
    name: str,
    data: TensorLike,
    step: TensorLike | None = None,
    max_outputs: TensorLike = 3,
    description: str | None = None,
) -> Tensor:
    """Writes the first `max_outputs` images of a batch of shape [k, height, width, channels].

    Floats are clipped to [0, 1]; 1 to 4 channels are grey, grey with alpha, RGB and RGBA.
    """

    def make() -> Value:
        from wengert.ops.color import convert_image_dtype

        x = operand(data)
        if len(x.shape) != 4:
            raise at_site(ValueError(f"image: `data` must have rank 4; got {describe(x)}."))
        if x.shape[3] not in (None, 1, 2, 3, 4):
            raise invalid("image", "an image has 1 to 4 channels", x)
        return convert_image_dtype(x[: _most("image", max_outputs)], dtypes.uint8, saturate=True)

    with summary_scope(name, "image_summary") as (tag, _):
        return _write(tag, make, step, "image", description, _images)


def text(
    name: str, data: TensorLike, step: TensorLike | None = None, description: str | None = None
) -> Tensor:
    """Writes text, or a table of texts; Markdown is rendered."""

    def make() -> Tensor:
        x = operand(data)
        if x.dtype is not dtypes.string:
            raise invalid_dtype("text", "strings are needed", x, help="Use tf.strings.as_string.")
        return x

    with summary_scope(name, "text_summary") as (tag, _):
        return _write(tag, make, step, "text", description)


def _sounds(x: np.ndarray, rate: int) -> np.ndarray:
    out = np.empty((len(x), 2), object)
    for i, sound in enumerate(x):
        out[i] = encode.wav(sound, rate), b""
    return out


def audio(
    name: str,
    data: TensorLike,
    sample_rate: Any,
    step: TensorLike | None = None,
    max_outputs: TensorLike = 3,
    encoding: str | None = None,
    description: str | None = None,
) -> Tensor:
    """Writes the first `max_outputs` sounds of a batch of shape [k, frames, channels].

    Samples are float32 from -1 to 1; they are kept as WAV with 16 bits.
    """
    if encoding not in (None, "wav"):
        raise at_site(ValueError(f"audio: `encoding` must be 'wav'; got {encoding!r}."))
    rate = int(sample_rate)

    def make() -> Tensor:
        x = operand(data)
        if len(x.shape) != 3:
            raise at_site(ValueError(f"audio: `data` must have rank 3; got {describe(x)}."))
        if x.dtype is not dtypes.float32:
            raise invalid_dtype("audio", "float32 is needed", x)
        if not 0 < rate < 2**32:
            raise invalid("audio", f"`sample_rate` must be positive; got {rate}")
        return x[: _most("audio", max_outputs)]

    with summary_scope(name, "audio_summary") as (tag, _):
        finish = functools.partial(_sounds, rate=rate)
        return _write(tag, make, step, "audio", description, finish)


def write_raw_pb(
    tensor: TensorLike, step: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """Writes the bytes of a whole `Summary` message, with its own tags."""
    destination = target(step)
    if destination is None:
        return wrap(np.asarray(False))
    writer, number, _ = destination
    writer.file.add_raw(operand(tensor, dtypes.string).numpy(), int(number))
    return wrap(np.asarray(True))
