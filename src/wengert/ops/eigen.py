"""Eigenvalues and eigenvectors.

Self-adjoint matrices are read from their lower triangle, and their gradients lie there too; other
matrices have complex eigenvalues. Matrices with infinities or NaN give NaN.
"""

from __future__ import annotations

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.lazy_modules import jnp, lax, linalg
from wengert.core.types import DType, JaxArray, Op, ShapeDtype, Tensor, TensorLike
from wengert.ops import public as tf
from wengert.ops.declare import in_float32, wide
from wengert.ops.decompose import (
    finite_or_nan,
    gaps,
    lower_triangle,
    must_be_finite,
    must_be_square,
    or_nan,
    real_as,
)
from wengert.ops.solve import as_square


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
    e, v = np.linalg.eigh(x)
    return e.astype(x.dtype), v


@or_nan
@in_float32
def _eigvalsh_kernel(x: np.ndarray) -> np.ndarray:
    must_be_square(x)
    must_be_finite(np.tril(x))
    return np.linalg.eigvalsh(x).astype(x.dtype)


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
    lower=wide(_lower_eigh),
    grad=_eigh_grad,
    accepts=dtypes.INEXACT,
    outputs=2,
    holomorphic=False,
)


def eigh(tensor: TensorLike, name: str | None = None) -> tuple[Tensor, Tensor]:
    """Eigenvalues, ascending, and eigenvectors (columns) of self-adjoint matrices.

    Only the lower triangle is read. Equal eigenvalues count as unrelated in the gradient.
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
    lower=wide(lambda x: _lower_eigh(x)[0]),
    grad=_eigvalsh_grad,
    accepts=dtypes.INEXACT,
    holomorphic=False,
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
    lower=wide(lambda x, x_dtype: _lower_eig(x)),
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
    lower=wide(lambda x: _lower_eig(x, vectors=False)[0]),
    grad=_eigvals_grad,
    accepts=dtypes.INEXACT,
    holomorphic=False,
)


def eigvals(tensor: TensorLike, name: str | None = None) -> Tensor:
    """Eigenvalues in no order, as complex numbers."""
    return apply(EIGVALS, operand(tensor))
