"""`IndexedSlices`: a tensor of which only some rows are given; what `gather` hands back."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.apply import wrap
from wengert.core.dtypes import DType
from wengert.core.shapes import TensorShape


class IndexedSlices:
    """Rows `values[i]` that belong at `indices[i]` of a larger tensor; rows repeat by adding."""

    def __init__(self, values: Any, indices: Any, dense_shape: Any = None) -> None:
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Any:
        return self._values

    @property
    def indices(self) -> Any:
        return self._indices

    @property
    def dense_shape(self) -> Any:
        """The shape of the whole, as a tensor; `None` where it is not known."""
        if isinstance(self._dense_shape, tuple):
            return wrap(np.array(self._dense_shape, np.int32))
        return self._dense_shape

    @property
    def dtype(self) -> DType:
        return self._values.dtype

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self._dense_shape)

    @property
    def device(self) -> str:
        return self._values.device

    def __neg__(self) -> IndexedSlices:
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __repr__(self) -> str:
        return (
            f"IndexedSlices(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self.dense_shape!s})"
        )
