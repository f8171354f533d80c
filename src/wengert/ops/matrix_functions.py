"""Functions of whole matrices: exponential, logarithm, square root.

For every such function f, f([[A, E], [0, A]]) has the derivative of f at A along E in its upper
right block. So each is its own gradient, on matrices of twice the size, to any order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import require
from wengert.core.lazy_modules import jax, jax_linalg, jnp, scipy_linalg
from wengert.core.types import JaxArray, Op, Tensor, TensorLike
from wengert.ops import public as tf
from wengert.ops.declare import calm, in_float32, wide
from wengert.ops.decompose import finite_or_nan, must_be_square
from wengert.ops.solve import square


def _along(op: Op, g: Tensor, x: Tensor) -> Tensor:
    """The gradient of a matrix function: its derivative at the transpose of `x`, along `g`."""
    n = x._array.shape[-1]
    at = tf.matrix_transpose(x)
    block = tf.concat([tf.concat([at, g], -1), tf.concat([tf.zeros_like(at), at], -1)], -2)
    return apply(op, block)[..., :n, n:]


@calm
def _each(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> np.ndarray:
    """Applies a function of one matrix to a stack; a result it cannot have becomes NaN."""
    must_be_square(x)
    out = np.empty_like(x)
    for i in np.ndindex(x.shape[:-2]):
        out[i] = _one(function, x[i])
    return out


def _one(function: Callable[[np.ndarray], np.ndarray], x: np.ndarray) -> float | np.ndarray:
    if not x.size:
        return x
    result = function(x) if np.isfinite(x).all() else np.nan
    return np.nan if np.iscomplexobj(result) and not np.iscomplexobj(x) else result


EXPM = Op(
    "expm",
    "x",
    kernel=in_float32(lambda x: _each(scipy_linalg.expm, x)),
    infer=square("expm"),
    # Padé approximants with scaling and squaring, which `lax` does not have.
    lower=wide(finite_or_nan(lambda x: jax_linalg.expm(x) if x.size else x)),
    grad=lambda g, x: _along(EXPM, g, x),
    accepts=dtypes.INEXACT,
)


def expm(input: TensorLike, name: str | None = None) -> Tensor:
    """The exponential of square matrices; NaN if one is not finite."""
    x = operand(input)
    require(
        x.dtype.is_floating or x.dtype.is_complex,
        "expm",
        f"floats were expected; got {x.dtype.name}",
        kind=ValueError,
    )
    return apply(EXPM, x)


LOGM = Op(
    "logm",
    "x",
    # In single precision SciPy warns of errors that the rounding explains.
    kernel=lambda x: _each(lambda m: scipy_linalg.logm(m.astype(np.complex128)), x),
    infer=square("logm"),
    lower=None,
    grad=lambda g, x: _along(LOGM, g, x),
    accepts=dtypes.COMPLEX,
)


def logm(input: TensorLike, name: str | None = None) -> Tensor:
    """The principal logarithm of square complex matrices."""
    return apply(LOGM, operand(input))


def _lower_sqrtm(x: JaxArray) -> JaxArray:
    if not x.size:
        return x
    if jax.default_backend() != "cpu":  # the Schur form, on which the root is built, is LAPACK's
        shape = jax.ShapeDtypeStruct(x.shape, x.dtype)
        return jax.pure_callback(SQRTM.kernel, shape, x, vmap_method="broadcast_all")
    return _lower_root(x)


@finite_or_nan
def _lower_root(x: JaxArray) -> JaxArray:
    # `lax` has the Schur form, but not the recurrence over its triangle.
    flat = x.reshape((-1, *x.shape[-2:]))
    root = jax.vmap(jax_linalg.sqrtm)(flat).reshape(x.shape)
    if jnp.iscomplexobj(x):
        return root.astype(x.dtype)
    size = jnp.abs(root).max((-2, -1), keepdims=True)
    bad = (jnp.abs(root.imag) > 1e-4 * size).any((-2, -1), keepdims=True)
    return jnp.where(bad, jnp.nan, root.real).astype(x.dtype)


SQRTM = Op(
    "sqrtm",
    "x",
    kernel=in_float32(lambda x: _each(scipy_linalg.sqrtm, x)),
    infer=square("sqrtm"),
    lower=wide(_lower_sqrtm),
    grad=lambda g, x: _along(SQRTM, g, x),
    accepts=dtypes.INEXACT,
)


def sqrtm(input: TensorLike, name: str | None = None) -> Tensor:
    """The principal square root of square matrices; NaN for a real one that has no real root."""
    return apply(SQRTM, operand(input))
