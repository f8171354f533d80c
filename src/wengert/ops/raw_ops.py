"""The names of `tf.raw_ops` that Keras uses; like TensorFlow's they take keyword arguments only."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.errors import NotFoundError
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
from wengert.ops.project import image_projective_transform
from wengert.ops.shaping import reshape
from wengert.ops.unique import Unique, UniqueWithCounts, unique_slices


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
