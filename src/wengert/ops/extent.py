"""The shape of a tensor without its elements, so that a gradient keeps nothing else.

It is a tensor of no elements with the sizes of the other one: free to keep and to stack, and to
XLA a shape that is known.
"""

from __future__ import annotations

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.lazy_modules import lax
from wengert.core.padded import Padded
from wengert.core.types import JaxArray, Op, ShapeDtype, SymbolicTensor, Tensor
from wengert.ops.row_list import Rows


def _extent_kernel(x: np.ndarray | Rows) -> np.ndarray | Rows:
    if isinstance(x, Rows) and not x.is_even:
        rows = [_extent_kernel(x.blank(i) if r is None else r) for i, r in enumerate(x.items)]
        return Rows(rows, np.dtype(bool), rows[0].shape, is_even=False)
    return np.zeros((*x.shape, 0), bool)


def _lower_extent(x: JaxArray | Padded) -> JaxArray | Padded:
    if type(x) is Padded:
        return x.mapped(_lower_extent)
    return lax.full((*x.shape, 0), False, bool)


EXTENT = Op(
    "extent",
    "x",
    kernel=_extent_kernel,
    infer=lambda x: ShapeDtype(None if x.shape is None else (*x.shape, 0), dtypes.bool_),
    lower=_lower_extent,
    takes_padded=True,
    grad=None,
    folds=False,
    register=False,
    row_lists="takes",
)


def extent(x: SymbolicTensor) -> Tensor:
    """A tensor of no elements that has the sizes of another, and one more of 0."""
    return apply(EXTENT, x)
