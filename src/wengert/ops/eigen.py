"""Eigenvalues and eigenvectors, and functions of whole matrices: exponential, logarithm, root.

Self-adjoint matrices are read from their lower triangle, and their gradients lie there too; other
matrices have complex eigenvalues. Matrices with infinities or NaN give NaN. For a function f of
whole matrices, f([[A, E], [0, A]]) has the derivative of f at A along E in its upper right block.
So each is its own gradient, on matrices of twice the size, to any order.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import require
from wengert.core.lazy_modules import jax, jax_linalg, jnp, lax, linalg, scipy_linalg
from wengert.core.types import DType, JaxArray, Op, ShapeDtype, Tensor, TensorLike
from wengert.ops import lapack
from wengert.ops import public as tf
from wengert.ops.declare import in_float32, lower_in_float32, without_fp_warnings
from wengert.ops.decompose import (
    finite_or_nan,
    gaps,
    lower_triangle,
    must_be_finite,
    must_be_square,
    or_nan,
    real_as,
)
from wengert.ops.solve import as_square, square


def _infer_eigh(x: ShapeDtype) -> tuple[ShapeDtype, ShapeDtype]:
    x = as_square("eigh", x)
    return _values("eigh", x), x


def _values(name: str, x: ShapeDtype, dtype: DType | None = None) -> ShapeDtype:
    x = as_square(name, x)
    return ShapeDtype(None if x.shape is None else x.shape[:-1], dtype or x.dtype)


@or_nan
@in_float32
def _eigh_kernel(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    must_be_square(x)
    must_be_finite(np.tril(x))
    e, v = lapack.eigh(x)
    return e.astype(x.dtype), v


@or_nan
@in_float32
def _eigvalsh_kernel(x: np.ndarray) -> np.ndarray:
    must_be_square(x)
    must_be_finite(np.tril(x))
    return lapack.eigvalsh(x).astype(x.dtype)


def _lower_eigh(x: JaxArray) -> tuple[JaxArray, JaxArray]:
    return _lower_finite(lower_triangle(x))


@finite_or_nan
def _lower_finite(x: JaxArray) -> tuple[JaxArray, JaxArray]:
    v, e = linalg.eigh(x, lower=True, symmetrize_input=False)
    return lax.convert_element_type(e, x.dtype), v


def _eigh_grad(g: tuple[Tensor, ...], outs: tuple[Tensor, ...]) -> Tensor:
    e, v = outs
    middle = tf.diag(g[0]) + gaps(e) * tf.matmul(v, g[1], adjoint_a=True)
    return _lower_half(tf.matmul(v, tf.matmul(middle, v, adjoint_b=True)))


def _lower_half(a: Tensor) -> Tensor:
    """The gradient of a function that reads the lower triangle only."""
    both = tf.band_part(a + tf.adjoint(a), -1, 0)
    return tf.set_diag(both, 0.5 * tf.diag_part(both))


EIGH = Op(
    "eigh",
    "x",
    kernel=_eigh_kernel,
    infer=_infer_eigh,
    lower=lower_in_float32(_lower_eigh),
    grad=_eigh_grad,
    accepts=dtypes.INEXACT,
    outputs=2,
    holomorphic=False,
    xla_share=2,  # XLA lets LAPACK use all threads
)


def eigh(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues, ascending, and eigenvectors (columns) of self-adjoint matrices.

    Only the lower triangle is read. Equal eigenvalues count as unrelated in the gradient.

    Args:
        tensor: `[..., n, n]`, floating or complex.
        name: without effect.

    Returns:
        Eigenvalues `[..., n]` and eigenvectors `[..., n, n]`.

    Raises:
        InvalidArgumentError: the matrices are not square.

    >>> tf.linalg.eigh([[1.0, 0.0], [0.0, 3.0]])[0].numpy().tolist()
    [1.0, 3.0]
    """
    return apply(EIGH, operand(tensor))


def _eigvalsh_grad(g: Tensor, x: Tensor) -> Tensor:
    _, v = eigh(x)
    return _lower_half(tf.matmul(v, tf.matmul(tf.diag(g), v, adjoint_b=True)))


EIGVALSH = Op(
    "eigvalsh",
    "x",
    kernel=_eigvalsh_kernel,
    infer=lambda x: _values("eigvalsh", x),
    lower=lower_in_float32(lambda x: _lower_eigh(x)[0]),
    grad=_eigvalsh_grad,
    accepts=dtypes.INEXACT,
    holomorphic=False,
    xla_share=2,  # XLA lets LAPACK use all threads
)


def eigvalsh(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Eigenvalues of self-adjoint matrices, ascending."""
    return apply(EIGVALSH, operand(tensor))


def _complex(dtype: dtypes.DType) -> dtypes.DType:
    if dtype.is_complex:
        return dtype
    return dtypes.complex128 if dtype is dtypes.float64 else dtypes.complex64


def _wide(x: np.ndarray) -> np.dtype:
    return _complex(dtypes.of(x)).np


@or_nan
@in_float32
def _eig_kernel(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    must_be_square(x)
    e, v = np.linalg.eig(x)
    return e.astype(_wide(x)), v.astype(_wide(x))


def _infer_eig(x: ShapeDtype) -> tuple[ShapeDtype, ShapeDtype]:
    e = _values("eig", x, _complex(x.dtype))
    return e, ShapeDtype(as_square("eig", x).shape, e.dtype)


def _eig_grad(g: tuple[Tensor, ...], outs: tuple[Tensor, ...], x_dtype: DType) -> Tensor:
    e, v = outs
    vgv = tf.matmul(v, g[1], adjoint_a=True)
    along = tf.diag(real_as(tf.real(tf.diag_part(vgv)), vgv.dtype))
    middle = vgv - tf.matmul(tf.matmul(v, v, adjoint_a=True), along)
    inner = tf.diag(g[0]) + tf.conj(gaps(e)) * middle
    return real_as(tf.solve(v, tf.matmul(inner, v, adjoint_b=True), adjoint=True), x_dtype)


@finite_or_nan
def _lower_eig(x: JaxArray, vectors: bool = True) -> tuple[JaxArray, ...]:
    # LAPACK, as JAX calls it, returns wrong eigenvalues of very large and very small matrices.
    size = jnp.abs(x).max((-2, -1), keepdims=True, initial=0)
    scale = jnp.ldexp(jnp.ones_like(size), jnp.frexp(size)[1])  # a power of 2: nothing is rounded
    e, *v = linalg.eig(
        x / scale, compute_left_eigenvectors=False, compute_right_eigenvectors=vectors
    )
    return e * scale[..., 0], *v


EIG = Op(
    "eig",
    "x",
    kernel=lambda x, x_dtype: _eig_kernel(x),
    infer=lambda x, x_dtype: _infer_eig(x),
    lower=lower_in_float32(lambda x, x_dtype: _lower_eig(x)),
    grad=_eig_grad,
    accepts=dtypes.INEXACT,
    outputs=2,
    holomorphic=False,
)


def eig(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues, in no order, and eigenvectors (columns of length 1), as complex numbers."""
    x = operand(tensor)
    return apply(EIG, x, x_dtype=x.dtype)


def _eigvals_grad(g: Tensor, x: Tensor) -> Tensor:
    _, v = eig(x)
    return real_as(tf.solve(v, tf.matmul(tf.diag(g), v, adjoint_b=True), adjoint=True), x.dtype)


EIGVALS = Op(
    "eigvals",
    "x",
    kernel=or_nan(in_float32(lambda x: np.linalg.eigvals(x).astype(_wide(x)))),
    infer=lambda x: _values("eigvals", x, _complex(x.dtype)),
    lower=lower_in_float32(lambda x: _lower_eig(x, vectors=False)[0]),
    grad=_eigvals_grad,
    accepts=dtypes.INEXACT,
    holomorphic=False,
)


def eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Eigenvalues in no order, as complex numbers."""
    return apply(EIGVALS, operand(tensor))


def _along(op: Op, g: Tensor, x: Tensor) -> Tensor:
    """The gradient of a matrix function: its derivative at the transpose of `x`, along `g`."""
    n = x._array.shape[-1]
    at = tf.matrix_transpose(x)
    block = tf.concat([tf.concat([at, g], -1), tf.concat([tf.zeros_like(at), at], -1)], -2)
    return apply(op, block)[..., :n, n:]


@without_fp_warnings
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
    lower=lower_in_float32(finite_or_nan(lambda x: jax_linalg.expm(x) if x.size else x)),
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
    lower=lower_in_float32(_lower_sqrtm),
    grad=lambda g, x: _along(SQRTM, g, x),
    accepts=dtypes.INEXACT,
)


def sqrtm(input: TensorLike, name: str | None = None) -> Tensor:
    """The principal square root of square matrices; NaN for a real one that has no real root."""
    return apply(SQRTM, operand(input))
