"""Batch normalisation as one function with the statistics, as TensorFlow 1 and raw operations have."""

from __future__ import annotations

from typing import Any, NamedTuple

from wengert.ops import public as tf
from wengert.ops.declare import Tensor, TensorLike, dtypes, invalid, operand
from wengert.ops.shaping import reshape


class FusedBatchNorm(NamedTuple):
    """The normalised values, the statistics to keep, and what a gradient would have read."""

    y: Tensor
    batch_mean: Tensor
    batch_variance: Tensor
    reserve_space_1: Tensor
    reserve_space_2: Tensor


def fused_batch_norm(
    x: TensorLike, scale: TensorLike, offset: TensorLike, mean: TensorLike | None = None,
    variance: TensorLike | None = None, epsilon: float = 0.001, data_format: str = "NHWC",
    is_training: bool = True, name: str | None = None, exponential_avg_factor: float = 1.0,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Normalises each channel; gives the values, and mean and unbiased variance to keep.

    While training these are the batch's, mixed into `mean` and `variance` by
    `exponential_avg_factor` where it is below 1; else the given ones.
    """
    values = operand(x)
    kind = values.dtype
    wide = dtypes.float32 if kind.size < 4 else kind
    data, scale, offset = tf.cast(values, wide), operand(scale, wide), operand(offset, wide)
    last = not data_format.startswith("NC")
    rank = data.shape.rank
    if rank is None:
        raise invalid(
            "fused_batch_norm", "the rank must be known", data, help="Use tf.ensure_shape."
        )
    axes = [k for k in range(rank) if k != (rank - 1 if last else 1)]
    spread = [1 if k in axes else -1 for k in range(rank)]
    here, extent, kept = mean, variance, (mean, variance)
    if is_training:
        here = tf.reduce_mean(data, axes)
        extent = tf.reduce_mean(tf.square(data - reshape(here, spread)), axes)
        count = tf.cast(tf.size(data), wide) / tf.cast(tf.size(here), wide)
        fresh = extent * (count / tf.maximum(count - 1.0, 1.0))
        f = exponential_avg_factor
        old = (mean, variance)
        kept = tuple(
            n if f == 1.0 or o is None else operand(o, wide) * (1.0 - f) + n * f
            for o, n in zip(old, (here, fresh), strict=True)
        )
    here, extent = operand(here, wide), operand(extent, wide)
    factor = scale / tf.sqrt(extent + epsilon)
    y = (data - reshape(here, spread)) * reshape(factor, spread) + reshape(offset, spread)
    return tf.cast(y, kind), operand(kept[0], wide), operand(kept[1], wide)


def FusedBatchNormV2(
    *, x: TensorLike, scale: TensorLike, offset: TensorLike, mean: TensorLike,
    variance: TensorLike, epsilon: float = 0.0001, exponential_avg_factor: float = 1.0,
    data_format: str = "NHWC", is_training: bool = True, name: Any = None,
) -> FusedBatchNorm:  # fmt: skip
    """`fused_batch_norm` as a raw operation."""
    y, new_mean, new_variance = fused_batch_norm(
        x, scale, offset, mean, variance, epsilon, data_format, is_training, None,
        exponential_avg_factor,
    )  # fmt: skip
    return FusedBatchNorm(y, new_mean, new_variance, new_mean, new_variance)
