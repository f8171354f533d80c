"""The names of `tf.experimental.numpy` that Keras uses; NumPy's own functions take tensors too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from wengert.core import dtypes
from wengert.core.convert import operand
from wengert.core.errors import invalid
from wengert.core.missing_names import namespace as _namespace
from wengert.ops.cast import cast
from wengert.ops.select import where

if TYPE_CHECKING:
    from wengert.core.types import DType, IndexedSlices, Tensor

__all__ = ["finfo", "select"]


def finfo(dtype: DType) -> Any:
    """The limits of a floating-point type."""
    return ml_dtypes.finfo(dtypes.as_dtype(dtype).np)


def select(
    condlist: list[Tensor], choicelist: list[Tensor], default: float = 0
) -> Tensor | IndexedSlices:
    """From each place of the first choice whose condition holds there, else `default`."""
    if len(condlist) != len(choicelist):
        raise invalid(
            "select",
            f"there must be as many conditions as choices; got {len(condlist)} and "
            f"{len(choicelist)}",
        )
    choices = [operand(c) for c in choicelist]
    given = [c.dtype.np for c in choices]
    kind = dtypes.as_dtype(np.result_type(*given, default if np.isscalar(default) else given[0]))
    result = cast(default, kind)
    for test, choice in zip(reversed(condlist), reversed(choices), strict=True):
        result = where(test, cast(choice, kind), result)
    return result


if not TYPE_CHECKING:  # a checker knows what is missing
    __getattr__, __dir__ = _namespace("tf.experimental.numpy", globals())
