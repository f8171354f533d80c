"""The names of `tf.raw_ops` that libraries use; like TensorFlow's they take keyword arguments only."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.errors import NotFoundError, invalid
from wengert.ops.declare import (
    Axis,
    DTypeLike,
    ShapeLike,
    Tensor,
    TensorLike,
    at_site,
    dtypes,
    operand,
)
from wengert.ops.positions import searchsorted
from wengert.ops.projective_transform import image_projective_transform
from wengert.ops.shaping import reshape
from wengert.ops.unique import Unique, UniqueWithCounts, unique_slices


def BroadcastGradientArgs(*, s0: ShapeLike, s1: ShapeLike, name: str | None = None) -> Any:
    """The axes to sum a gradient over, for each of two shapes that were broadcast."""
    one, other = np.asarray(s0, np.int64).tolist(), np.asarray(s1, np.int64).tolist()
    rank = max(len(one), len(other))
    one, other = [1] * (rank - len(one)) + one, [1] * (rank - len(other)) + other
    pairs = list(zip(one, other, strict=True))
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        raise invalid(
            "BroadcastGradientArgs", f"the shapes do not broadcast; got {one} and {other}"
        )
    axes = [[k for k, pair in enumerate(pairs) if pair[side] == 1] for side in (0, 1)]
    return tuple(operand(np.asarray(found, np.int32)) for found in axes)


def Bucketize(*, input: TensorLike, boundaries: TensorLike, name: str | None = None) -> Tensor:
    """For each element the number of boundaries that are not above it."""
    x = operand(input)
    # Boundaries are compared as they are, whatever the type of the elements.
    edges = operand(np.asarray(boundaries, np.float64))
    from wengert.ops.cast import cast

    flat = searchsorted(edges, reshape(cast(x, dtypes.float64), [-1]), side="right")
    return reshape(flat, x._array.shape)


def CudnnRNNV3(*, input: TensorLike, **options: Any) -> Any:
    """Always an error, after which Keras takes a loop that XLA compiles; it asks on a GPU."""
    raise at_site(
        NotFoundError(
            None,
            None,
            "CudnnRNNV3: there is no kernel of cuDNN here. Use the layers LSTM and GRU of Keras, "
            "or tf.while_loop.",
        )
    )


def ImageProjectiveTransformV3(
    *, images: TensorLike, transforms: TensorLike, output_shape: ShapeLike, fill_value: TensorLike, interpolation: str,
    fill_mode: str = "CONSTANT", name: str | None = None,
) -> Tensor:  # fmt: skip
    """Images under a projective transformation."""
    return image_projective_transform(
        images, transforms, output_shape, fill_value, interpolation, fill_mode
    )


def IgammaGradA(*, a: TensorLike, x: TensorLike, name: str | None = None) -> Tensor:
    """The derivative of `igamma(a, x)` by `a`."""
    from wengert.ops.gamma import igamma_grad_a

    return igamma_grad_a(a, x)


def MatrixDiagPartV2(
    *, input: TensorLike, k: Any, padding_value: TensorLike, name: str | None = None
) -> Tensor:
    """Diagonals of matrices, packed as rows that begin at the left."""
    from wengert.ops.diagonal import diag_part

    return diag_part(input, k=k, padding_value=padding_value, align="LEFT_LEFT")


def RandomGammaGrad(*, alpha: TensorLike, sample: TensorLike, name: str | None = None) -> Tensor:
    """The derivative by `alpha` of numbers drawn from gamma distributions."""
    from wengert.ops.rejection import gamma_slope

    return gamma_slope(operand(alpha), operand(sample))


def UniqueV2(
    *, x: TensorLike, axis: Axis, out_idx: DTypeLike = dtypes.int32, name: str | None = None
) -> Unique:
    """The distinct slices along an axis, and the place of each slice among them."""
    return Unique(*unique_slices("UniqueV2", x, axis, out_idx)[:2])


def UniqueWithCountsV2(
    *, x: TensorLike, axis: Axis, out_idx: DTypeLike = dtypes.int32, name: str | None = None
) -> UniqueWithCounts:
    """`UniqueV2`, and how often each slice occurs."""
    return UniqueWithCounts(*unique_slices("UniqueWithCountsV2", x, axis, out_idx))
