"""Types that annotations share: what users may hand over, and what the layers below make of it.

It hands on the classes of the core, so that a module needs one import for them. Modules of the core
import it under `TYPE_CHECKING` only, since it imports them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from wengert.core.composite import CompositeSpec as CompositeSpec
from wengert.core.composite import CompositeTensor as CompositeTensor
from wengert.core.context import Listener as Listener
from wengert.core.dims import Dim as Dim
from wengert.core.dtypes import DType as DType
from wengert.core.indexed_slices import IndexedSlices as IndexedSlices
from wengert.core.op import Op as Op
from wengert.core.op import Ranked as Ranked
from wengert.core.op import ShapeDtype as ShapeDtype
from wengert.core.shapes import TensorShape as TensorShape
from wengert.core.sites import RawSite as RawSite
from wengert.core.symbolic import SymbolicTensor as SymbolicTensor
from wengert.core.symbolic import Unranked as Unranked
from wengert.core.tensor import ActsAsTensor as ActsAsTensor
from wengert.core.tensor import Tensor as Tensor
from wengert.core.tensor import Value as Value
from wengert.core.tensor_spec import TensorSpec as TensorSpec
from wengert.core.tensor_spec import TypeSpec as TypeSpec
from wengert.core.variable import Variable as Variable

if TYPE_CHECKING:
    import jax


class HasArray(Protocol):
    """Arrays of other libraries: their elements are to be had as a NumPy array."""

    def __array__(self) -> np.ndarray: ...


class BecomesTensor(Protocol):
    """What makes a tensor of itself, as `IndexedSlices` do."""

    def __tf_tensor__(self, dtype: DType | None = None, name: str | None = None) -> Value: ...


if TYPE_CHECKING:

    class NumpyValue(np.ndarray[Any, np.dtype[Any]]):
        """What `.numpy()` gives: an array, or of a scalar NumPy's scalar, which may be bytes."""

        def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str: ...
        def hex(self) -> str: ...
        def __round__(self, digits: int | None = None) -> Any: ...

    class GradientTensor(Tensor):
        """A gradient, which has these if it is `IndexedSlices`: rows of an embedding."""

        values: Tensor
        indices: Tensor
        dense_shape: Tensor


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
# What `input_signature` takes: specs in the structure of the arguments.
Specs: TypeAlias = "TypeSpec | Sequence[Specs] | Mapping[str, Specs]"
# One value or several in a structure.
Values: TypeAlias = "TensorLike | Mapping[Any, Any]"
# One gradient: a tensor, or `IndexedSlices`, or `None` where there is no path. Programs rarely ask,
# so that checkers take it for a tensor and let a program ask.
Gradient: TypeAlias = "GradientTensor | Any"
# What a lowering computes with.
JaxArray: TypeAlias = "jax.Array"
