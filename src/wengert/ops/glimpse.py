"""Windows of images around places of their own, as networks that look around take them."""

from __future__ import annotations

from wengert.core import dtypes
from wengert.core.convert import operand
from wengert.core.dims import known_unequal
from wengert.core.errors import require
from wengert.core.fallbacks import with_fallback
from wengert.core.types import Tensor, TensorLike, Value
from wengert.ops import public as tf
from wengert.ops.declare import need_rank, of_length, static_tuple
from wengert.ops.sizes import factor

_IMAGE = [1, 2, 3]


def _noise(kind: str, x: Value, like: Tensor) -> Tensor:
    """What stands where a glimpse leaves its image; the numbers are like those of the image."""
    if kind == "zero":
        return tf.zeros_like(like)
    if kind == "uniform":
        low, high = (f(x, _IMAGE, keepdims=True) for f in (tf.reduce_min, tf.reduce_max))
        return low + tf.uniform(tf.shape(like)) * (high - low)
    mean = tf.reduce_mean(x, _IMAGE, keepdims=True)
    spread = tf.reduce_mean((x - mean) ** 2, _IMAGE, keepdims=True) ** 0.5
    return mean + tf.normal(tf.shape(like)) * spread


def _places(
    x: Value, axis: int, at: Tensor, count: int, centered: bool, normalized: bool
) -> tuple[Tensor, Tensor]:
    """Which rows (or columns) of its image each glimpse shows, and which of them there are."""
    size = x._array.shape[axis]
    n, half = factor(size, dtypes.float32), factor(count, dtypes.float32) / 2
    if normalized:
        at = at * n / 2 + (n / 2 - half) if centered else at * n
    elif centered:
        at = at + n / 2
    result = tf.expand_dims(tf.cast(at, dtypes.int32), 1) + tf.range(count)
    last = operand(size, dtypes.int32) - 1
    return tf.clip_by_value(result, 0, last), (result >= 0) & (result <= last)


@with_fallback
def extract_glimpse(
    input: TensorLike, size: TensorLike, offsets: TensorLike, centered: bool = True, normalized: bool = True,
    noise: str = "uniform", name: str | None = None,
) -> Tensor:  # fmt: skip
    """A window of `size` from each image, at the place [y, x] that `offsets` gives it.

    Offsets are parts of the image's size (pixels without `normalized`): `centered`, from -1 to 1
    with the middle of the window at 0 in the middle of the image; else of its upper left corner.
    Outside of the image there is noise: "uniform" or "gaussian", like its numbers, or "zero".
    """
    which = "extract_glimpse"
    x, at = operand(input, dtypes.float32), operand(offsets, dtypes.float32)
    need_rank(which, x, 4, 4)
    need_rank(which, at, 2, 2)
    counts = static_tuple(which, of_length(size, 2), "size")
    require(len(counts) == 2, which, f"`size` must be height and width; got {list(counts)}")
    require(
        not known_unequal(at._array.shape, (x._array.shape[0], 2)),
        which,
        "`offsets` must be a pair of numbers for each image",
        x,
        at,
    )
    require(
        noise in ("uniform", "gaussian", "zero"),
        which,
        f"`noise` must be 'uniform', 'gaussian' or 'zero'; got {noise!r}",
    )
    how = bool(centered), bool(normalized)
    (rows, above), (columns, across) = (
        _places(x, k + 1, at[:, k], counts[k], *how) for k in range(2)
    )
    result = tf.gather(tf.gather(x, rows, axis=1, batch_dims=1), columns, axis=2, batch_dims=1)
    inside = above[:, :, None, None] & across[:, None, :, None]
    return tf.where(inside, result, _noise(noise, x, result))
