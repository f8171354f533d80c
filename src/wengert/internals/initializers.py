"""The one initializer of TensorFlow 1 that optimizers of Keras 2 use."""

from __future__ import annotations

from typing import Any

from wengert.core import dtypes
from wengert.ops.initializers import constant_initializer


class ConstantInitializer(constant_initializer):
    """A given value, of a dtype that may be said at once."""

    def __init__(
        self, value: Any = 0, dtype: Any = dtypes.float32, verify_shape: bool = False
    ) -> None:
        super().__init__(value)
        self._own = dtypes.as_dtype(dtype)

    def __call__(self, shape: Any, dtype: Any = None, **kwargs: Any) -> Any:
        return super().__call__(shape, self._own if dtype is None else dtype)
