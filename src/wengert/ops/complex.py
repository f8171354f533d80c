"""Complex numbers and their parts. Gradients follow TensorFlow: the conjugate of df/dz."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.lazy import lax
from wengert.ops.declare import unary

CONJ = unary(
    "conj",
    np.conj,
    lambda x: lax.conj(x),
    grad=lambda g: conj(g),
    accepts=dtypes.COMPLEX,
    holomorphic=False,
)


def conj(x: Any, name: Any = None) -> Any:
    """The complex conjugate; a real tensor is its own."""
    x = operand(x)
    return apply(CONJ, x) if x.dtype.is_complex else x
