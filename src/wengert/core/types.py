"""Types that annotations share: what users may hand over, and what the layers below make of it.

Modules import it under `TYPE_CHECKING` only, so it costs a program nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    import jax
    import numpy as np

    from wengert.core.dims import Dim
    from wengert.core.dtypes import DType
    from wengert.core.shapes import TensorShape
    from wengert.core.tensor import ActsAsTensor, Value


class HasArray(Protocol):
    """Arrays of other libraries: their elements are to be had as a NumPy array."""

    def __array__(self) -> np.ndarray: ...


class BecomesTensor(Protocol):
    """What makes a tensor of itself, as `IndexedSlices` do."""

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Value: ...


# What `convert_to_tensor` takes.
_Number: TypeAlias = "bool | int | float | complex"
_OwnType: TypeAlias = "Value | ActsAsTensor | TensorShape | Dim"
TensorLike: TypeAlias = (
    "_OwnType | HasArray | BecomesTensor | _Number | str | bytes | Sequence[TensorLike]"
)
# What `as_dtype` takes.
DTypeLike: TypeAlias = "DType | str | type | np.dtype | int"
# A whole number: a size, an axis or a count, perhaps known only when a graph runs.
Whole: TypeAlias = "int | Dim | np.integer | Value"
# One axis or several; `None` is all of them.
Axis: TypeAlias = "Whole | Sequence[Whole] | HasArray | None"
# Sizes as users give them; `None` among them is unknown, and alone an unknown rank.
ShapeLike: TypeAlias = "TensorShape | Whole | Sequence[Whole | None] | HasArray | None"
# What a lowering computes with.
JaxArray: TypeAlias = "jax.Array"
