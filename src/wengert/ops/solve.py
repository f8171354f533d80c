"""Inverses, determinants and linear equations.

A matrix that cannot be inverted is an error where TensorFlow raises one (`inv`, `solve`); a
triangular one gives infinities. Gradients are written with plain transposes: the backward loop
conjugates for complex numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from wengert.core import dtypes, shapes
from wengert.core.apply import apply
from wengert.core.convert import operand, operands
from wengert.core.dims import is_open, known_unequal
from wengert.core.errors import UnimplementedError, invalid, require
from wengert.core.fallbacks import with_fallback
from wengert.core.lazy_modules import Lazy, blas, jnp, lax, linalg
from wengert.core.lowering_checks import broadcast_shapes, fail_if
from wengert.core.op import Joint, Op, ShapeDtype
from wengert.core.types import JaxArray, Tensor, TensorLike, Value
from wengert.ops import lapack
from wengert.ops import public as tf
from wengert.ops.declare import (
    in_float32,
    is_dynamic,
    lower_in_float32,
    must_fit,
    without_fp_warnings,
)
from wengert.ops.lapack import LARGE, one_thread
from wengert.ops.nan_matrices import lower_nan_for_nan, nan_for_nan, unless_infinite


def as_square(name: str, x: ShapeDtype) -> ShapeDtype:
    """A square matrix or a stack of them, whose sides tell of each other; others are refused."""
    if x.shape is None:
        return x
    require(len(x.shape) >= 2, name, "rank 2 or more was expected", x)
    rows, cols = x.shape[-2:]
    require(not known_unequal(rows, cols), name, "input matrix must be square", x)
    side = cols if rows is None else rows
    return ShapeDtype((*x.shape[:-2], side, side), x.dtype)


def square(name: str) -> Callable[[ShapeDtype], ShapeDtype]:
    """The shape rule of a function from square matrices to matrices of their size."""
    return functools.partial(as_square, name)


def refusing(message: str) -> Callable[..., Any]:
    """Gives NumPy's complaint about a singular matrix in our words."""

    def decorate(kernel: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(kernel)
        def run(*xs: np.ndarray, **attrs: Any) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
            try:
                return kernel(*xs, **attrs)
            except np.linalg.LinAlgError as error:
                raise ValueError(message) from error

        return run

    return decorate


@refusing("input is not invertible")
@in_float32
@nan_for_nan
def _inv_kernel(x: np.ndarray) -> np.ndarray:
    return lapack.inv(x)


def fail_if_singular(x: JaxArray) -> None:
    """Notes the failure of matrices with a zero pivot; XLA finds equal factors only once."""
    if x.size:
        fail_if(lambda: jnp.diagonal(linalg.lu(x)[0], axis1=-2, axis2=-1) == 0)


# `jnp.linalg` assembles inverses, determinants and solutions from `lax.linalg.lu`.
@lower_nan_for_nan
def _lower_inv(x: JaxArray) -> JaxArray:
    fail_if_singular(x)
    return jnp.linalg.inv(x)


INV = Op(
    "inv",
    "x",
    kernel=_inv_kernel,
    infer=square("inv"),
    lower=lower_in_float32(_lower_inv),
    grad=lambda g, out: -tf.matmul(out, tf.matmul(g, out, transpose_b=True), transpose_a=True),
    accepts=dtypes.INEXACT,
    xla_share=2,  # XLA lets LAPACK use all threads
)


@with_fallback
def inv(input: TensorLike, adjoint: bool = False, name: str | None = None) -> Tensor:
    """The inverse of square matrices, or of their adjoints; a singular one is an error.

    The inverse of a matrix with NaN is NaN.

    Args:
        input: matrices `[..., n, n]`.
        adjoint: whether to invert the adjoint.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: a matrix is singular or not square.

    >>> tf.linalg.inv([[2.0, 0.0], [0.0, 4.0]]).numpy().tolist()
    [[0.5, 0.0], [0.0, 0.25]]
    """
    x = operand(input)
    return apply(INV, tf.matrix_transpose(x, conjugate=True) if adjoint else x)


def _infer_det(x: ShapeDtype) -> ShapeDtype:
    as_square("det", x)
    return ShapeDtype(None if x.shape is None else x.shape[:-2], x.dtype)


def _per_matrix(g: Tensor) -> Tensor:
    """A number per matrix, shaped to multiply the matrices."""
    return tf.reshape(g, (*g._array.shape, 1, 1))


@without_fp_warnings
@in_float32
@nan_for_nan
def _det_kernel(x: np.ndarray) -> np.ndarray:
    out = lapack.det(x)
    return unless_infinite(np, x, out, np.isinf(out))


@lower_nan_for_nan
def _lower_det(x: JaxArray) -> JaxArray:
    if x.shape[-1] not in (2, 3):
        return _det_by_factors(x)
    # The formula that JAX has for small matrices makes NaN of infinity where factors do not.
    return lax.cond(jnp.isinf(x).any(), _det_by_factors, jnp.linalg.det, x)


def _det_by_factors(x: JaxArray) -> Any:
    factors, swaps, _ = linalg.lu(x)
    odd = (swaps != jnp.arange(x.shape[-1])).sum(-1) % 2 == 1
    out = jnp.diagonal(factors, axis1=-2, axis2=-1).prod(-1)
    out = jnp.where(odd, -out, out)
    return unless_infinite(jnp, x, out, jnp.isinf(out))


DET = Op(
    "det",
    "x",
    kernel=_det_kernel,
    infer=_infer_det,
    lower=lower_in_float32(_lower_det),
    grad=lambda g, x, out: _per_matrix(g * out) * tf.matrix_transpose(inv(x)),
    accepts=dtypes.INEXACT,
    xla_share=2,  # XLA lets LAPACK use all threads
)


@with_fallback
def det(input: TensorLike, name: str | None = None) -> Tensor:
    """The determinant of square matrices; its gradient needs them to be invertible."""
    return apply(DET, operand(input))


def _infer_slogdet(x: ShapeDtype) -> tuple[ShapeDtype, ShapeDtype]:
    as_square("slogdet", x)
    out = ShapeDtype(None if x.shape is None else x.shape[:-2], x.dtype)
    return out, out


@without_fp_warnings
@in_float32
@nan_for_nan
def _slogdet_kernel(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return _sized(np, x, *lapack.slogdet(x))


@lower_nan_for_nan
def _lower_slogdet(x: JaxArray) -> tuple[Any, Any]:
    return _sized(jnp, x, *jnp.linalg.slogdet(x))


def _sized(
    xp: ModuleType | Lazy,
    x: JaxArray | np.ndarray,
    sign: JaxArray | np.ndarray,
    size: JaxArray | np.ndarray,
) -> tuple[Any, Any]:
    """Signs and logarithms in the dtype of `x`; a determinant that is NaN has no sign."""
    size = unless_infinite(xp, x, xp.asarray(size), size == np.inf).astype(x.dtype)
    return xp.where(xp.isnan(size), size, sign), size


SLOGDET = Op(
    "slogdet",
    "x",
    kernel=_slogdet_kernel,
    infer=_infer_slogdet,
    lower=lower_in_float32(_lower_slogdet),
    # The sign is constant, and TensorFlow takes the phase of a complex determinant for constant.
    grad=lambda g, x: _per_matrix(g[1]) * tf.matrix_transpose(inv(x)),
    accepts=dtypes.INEXACT,
    outputs=2,
    xla_share=2,  # XLA lets LAPACK use all threads
)


class LogMatrixDeterminant(NamedTuple):
    """Sign and logarithm of the size of determinants."""

    sign: Any
    log_abs_determinant: Any


def slogdet(input: TensorLike, name: str | None = None) -> LogMatrixDeterminant:
    """Sign and logarithm of the size of determinants; 0 and -inf for singular matrices."""
    return LogMatrixDeterminant(*apply(SLOGDET, operand(input)))


@with_fallback
def logdet(matrix: TensorLike, name: str | None = None) -> Tensor:
    """The logarithm of the determinant of positive definite matrices; NaN for others."""
    return 2.0 * tf.reduce_sum(tf.log(tf.real(tf.diag_part(tf.cholesky(matrix)))), -1)


def _fit(name: str, a: ShapeDtype, b: ShapeDtype, lead: bool) -> ShapeDtype:
    """The right-hand side, with what the matrix tells of its rows and, with `lead`, leading axes.

    Equations whose sizes do not fit are refused.
    """
    a = as_square(name, a)
    if b.shape is not None and len(b.shape) < 2:
        raise invalid(
            name, "the right-hand side must have rank 2 or more", a, b,
            help="Add an axis with tf.expand_dims(rhs, -1).",
        )  # fmt: skip
    if a.shape is None or b.shape is None:
        return b
    require(
        shapes.compatible(a.shape[-2:-1], b.shape[-2:-1]),
        name,
        "matrix and right-hand side must have the same number of rows",
        a,
        b,
    )
    rows: Any = shapes.merge(a.shape[-2:-1], b.shape[-2:-1])
    first: Any = b.shape[:-2]
    if lead:
        require(
            shapes.compatible(a.shape[:-2], first),
            name,
            "the leading axes of both arguments must agree",
            a,
            b,
        )
        first = shapes.merge(a.shape[:-2], first)
    return ShapeDtype((*first, *rows, b.shape[-1]), b.dtype)


@refusing("input matrix is not invertible")
@in_float32
@nan_for_nan
def _solve_kernel(a: np.ndarray, b: np.ndarray, transpose: bool) -> np.ndarray:
    must_fit(
        a.shape[:-2] == b.shape[:-2] and a.ndim >= 2 and b.ndim >= 2, "the leading axes must agree"
    )
    return lapack.solve(a.mT if transpose else a, b)


@lower_nan_for_nan
def _lower_solve(a: JaxArray, b: JaxArray, transpose: bool) -> JaxArray:
    a = a.mT if transpose else a
    fail_if_singular(a)
    return jnp.linalg.solve(a, b)


def _solve_grad(
    g: Tensor, a: Tensor, out: Tensor, transpose: bool, needs: tuple[bool, ...]
) -> tuple[Tensor | None, Tensor]:
    gb = apply(SOLVE, a, g, transpose=not transpose)
    if not needs[0]:
        return None, gb
    x, y = (out, gb) if transpose else (gb, out)
    return -tf.matmul(x, y, transpose_b=True), gb


SOLVE = Op(
    "solve",
    "a b",
    kernel=_solve_kernel,
    infer=lambda a, b, transpose: _fit("solve", a, b, lead=True),
    lower=lower_in_float32(_lower_solve),
    grad=Joint(_solve_grad),
    accepts=dtypes.INEXACT,
    xla_share=2,  # XLA lets LAPACK use all threads
)


@with_fallback
def solve(
    matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: str | None = None
) -> Tensor:
    """Solves matrix @ x = rhs (with `adjoint`, its adjoint); a singular matrix is an error.

    Args:
        matrix: matrices `[..., n, n]`.
        rhs: right sides `[..., n, k]`, of the same dtype.
        adjoint: whether to solve with the adjoint.
        name: without effect.

    Returns:
        A tensor `[..., n, k]`.

    Raises:
        InvalidArgumentError: a matrix is singular, or the sizes do not fit.

    >>> tf.linalg.solve([[2.0, 0.0], [0.0, 4.0]], [[2.0], [4.0]]).numpy().tolist()
    [[1.0], [1.0]]
    """
    a, b = operands("solve", matrix, rhs)
    return apply(SOLVE, tf.conj(a) if adjoint else a, b, transpose=bool(adjoint))


def _infer_triangular(a: ShapeDtype, b: ShapeDtype, lower: bool, transpose: bool) -> ShapeDtype:
    b = _fit("triangular_solve", a, b, lead=False)
    if a.shape is None or b.shape is None:
        return ShapeDtype(None, b.dtype)
    lead: Any = shapes.broadcast("triangular_solve", a.shape[:-2], b.shape[:-2])
    return ShapeDtype((*lead, *b.shape[-2:]), b.dtype)


@in_float32
def _triangular_kernel(a: np.ndarray, b: np.ndarray, lower: bool, transpose: bool) -> np.ndarray:
    rows, cols = b.shape[-2:]
    must_fit(a.shape[-2:] == (rows, rows), "the sizes do not fit")
    lead = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    out = np.empty((*lead, rows, cols), b.dtype)
    if not out.size:
        return out
    a = np.broadcast_to(a, (*lead, rows, rows))
    b = np.broadcast_to(b, out.shape)
    trsm = getattr(blas, {"f": "s", "d": "d", "F": "c", "D": "z"}[b.dtype.char] + "trsm")
    # BLAS thinks in columns: it reads the transpose of each matrix, whose other half counts.
    with one_thread() if rows >= LARGE else nullcontext():
        for i in np.ndindex(lead):
            out[i] = trsm(1.0, a[i].T, b[i], lower=not lower, trans_a=not transpose)
    return out


def _lower_triangular(a: JaxArray, b: JaxArray, lower: bool, transpose: bool) -> JaxArray:
    lead = broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a = jnp.broadcast_to(a, (*lead, *a.shape[-2:]))
    b = jnp.broadcast_to(b, (*lead, *b.shape[-2:]))
    return linalg.triangular_solve(a, b, left_side=True, lower=lower, transpose_a=transpose)


def _triangular_grad(
    g: Tensor, a: Tensor, out: Tensor, lower: bool, transpose: bool, needs: tuple[bool, ...]
) -> tuple[Tensor | None, Tensor]:
    gb = apply(TRIANGULAR_SOLVE, a, g, lower=lower, transpose=not transpose)
    if not needs[0]:
        return None, gb
    x, y = (out, gb) if transpose else (gb, out)
    ga = -tf.matmul(x, y, transpose_b=True)
    return tf.band_part(ga, -1, 0) if lower else tf.band_part(ga, 0, -1), gb


TRIANGULAR_SOLVE = Op(
    "triangular_solve",
    "a b",
    kernel=_triangular_kernel,
    infer=_infer_triangular,
    lower=lower_in_float32(_lower_triangular),
    grad=Joint(_triangular_grad),
    accepts=dtypes.INEXACT,
    broadcasts=True,
)


def triangular_solve(
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Tensor:
    """Solves equations with triangular matrices; the other half is not read, a zero gives inf.

    Args:
        matrix: `[..., n, n]`, triangular.
        rhs: `[..., n, k]`.
        lower: whether the lower half counts.
        adjoint: solves with the adjoint of `matrix`.
        name: without effect.

    Returns:
        x of `[..., n, k]` with matrix @ x = rhs.

    Raises:
        InvalidArgumentError: the shapes do not fit.

    >>> tf.linalg.triangular_solve([[2.0, 0.0], [1.0, 1.0]], [[2.0], [3.0]]).numpy().tolist()
    [[1.0], [2.0]]
    """
    a, b = operands("triangular_solve", matrix, rhs)
    a = tf.conj(a) if adjoint else a
    return apply(TRIANGULAR_SOLVE, a, b, lower=bool(lower), transpose=bool(adjoint))


def banded_triangular_solve(
    bands: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Tensor:
    """Solves equations with triangular matrices that are given by their diagonals.

    Element j of a diagonal stands in row j. They are written out as full matrices, so n² numbers
    are needed.

    Args:
        bands: `[..., diagonals, n]`. Of lower matrices the main diagonal comes first, and the others
            begin with elements without meaning; of upper ones it is last, and the others end so.
        rhs: `[..., n, k]`.
        lower: whether the matrices are lower ones.
        adjoint: solves with the adjoints of the matrices.
        name: without effect.

    Returns:
        x of `[..., n, k]` with matrix @ x = rhs.

    Raises:
        InvalidArgumentError: the shapes do not fit.

    >>> bands = [[2.0, 2.0], [0.0, 1.0]]
    >>> tf.linalg.banded_triangular_solve(bands, [[2.0], [3.0]]).numpy().tolist()
    [[1.0], [1.0]]
    """
    diagonals = operand(bands)
    rank = diagonals._array.ndim
    require(rank >= 2, "banded_triangular_solve", "`bands` must have rank 2 or more", diagonals)
    count = diagonals._array.shape[-2] - 1
    k = (-count, 0) if lower else (0, count)
    matrix = tf.diag(diagonals, k=k, align="LEFT_RIGHT")
    return triangular_solve(matrix, rhs, lower, adjoint)


def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """Solves A @ x = rhs, given the Cholesky factor of A."""
    return triangular_solve(chol, triangular_solve(chol, rhs), adjoint=True)


@with_fallback
def lstsq(
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: TensorLike = 0.0,
    fast: bool = True,
    name: str | None = None,
) -> Tensor:
    """The least-squares solution of matrix @ x = rhs; the shortest one where there are many.

    `fast` solves the normal equations, with `l2_regularizer` on their diagonal; otherwise a
    pseudo-inverse is used, which also serves matrices of deficient rank.
    """
    a, b = operands("lstsq", matrix, rhs)
    if not fast:
        return tf.matmul(tf.pinv(a), b)
    require(
        a._array.ndim >= 2 and b._array.ndim >= 2,
        "lstsq",
        "both arguments must have rank 2 or more",
        a,
        b,
    )
    ridge = operand(l2_regularizer, None, a.dtype.real_dtype)
    ridged = is_dynamic(ridge) or bool(ridge._array.any())
    require(
        not a.dtype.is_complex or not ridged,
        "lstsq",
        "`l2_regularizer` is not available for complex numbers",
        a,
        kind=UnimplementedError,
    )
    rows, cols = a._array.shape[-2:]
    unsure = rows != cols and is_open((rows, cols))
    if unsure and not ridged:
        # Which normal equations have a solution depends on which size is the larger.
        return tf.matmul(tf.pinv(a), b)
    if unsure or rows >= cols:
        normal = _ridged(tf.matmul(a, a, adjoint_a=True), ridge, ridged)
        return cholesky_solve(tf.cholesky(normal), tf.matmul(a, b, adjoint_a=True))
    normal = _ridged(tf.matmul(a, a, adjoint_b=True), ridge, ridged)
    return tf.matmul(a, cholesky_solve(tf.cholesky(normal), b), adjoint_a=True)


def _ridged(x: Tensor, ridge: Value, ridged: bool) -> Tensor:
    return tf.set_diag(x, tf.diag_part(x) + ridge) if ridged else x
