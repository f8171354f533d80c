"""Factors of matrices by Cholesky and QR, and what all decompositions share.

They are not complex-differentiable, so the rules state TensorFlow's conventions in full, adjoints
included. A matrix that has no factors, or is not finite, gives NaN, as in a compiled program.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.dims import negative
from wengert.core.errors import UnimplementedError, require
from wengert.core.fallbacks import with_fallback
from wengert.core.lazy_modules import jnp, lax, linalg
from wengert.core.op_facts import Hazards
from wengert.core.types import DType, JaxArray, Op, ShapeDtype, Tensor, TensorLike, Value
from wengert.ops import lapack
from wengert.ops import public as tf
from wengert.ops.declare import in_float32, lower_in_float32, must_fit
from wengert.ops.nan_matrices import nan_of
from wengert.ops.solve import square


def or_nan(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a kernel that NumPy refuses for one matrix of a stack give NaN for that one alone."""

    @functools.wraps(kernel)
    def run(x: np.ndarray, **attrs: Any) -> np.ndarray | tuple[np.ndarray, ...]:
        try:
            return kernel(x, **attrs)
        except np.linalg.LinAlgError:
            if x.ndim < 2:
                raise
            lead, shape = x.shape[:-2], x.shape[-2:]
            model = kernel(np.eye(*shape, dtype=x.dtype), **attrs)
        single = not isinstance(model, tuple)
        models = (model,) if single else model
        outs = [np.full((*lead, *m.shape), nan_of(m.dtype), m.dtype) for m in models]
        for i in np.ndindex(lead):
            try:
                result = kernel(x[i], **attrs)
            except np.linalg.LinAlgError:
                continue
            for out, f in zip(outs, (result,) if single else result, strict=True):
                out[i] = f
        return outs[0] if single else tuple(outs)

    return run


def must_be_square(x: np.ndarray) -> None:
    must_fit(x.ndim >= 2 and x.shape[-1] == x.shape[-2], "a square matrix was expected")


def must_be_finite(x: np.ndarray) -> None:
    """LAPACK may never come back from an infinity, or come back with numbers that mean nothing."""
    if not np.isfinite(x).all():
        raise np.linalg.LinAlgError


def finite_or_nan(lower: Callable[..., Any]) -> Callable[..., Any]:
    """The same for a lowering: matrices with infinities or NaN give NaN."""

    @functools.wraps(lower)
    def run(x: JaxArray, **attrs: Any) -> JaxArray | tuple[JaxArray, ...]:
        fine = jnp.isfinite(x).all((-2, -1), keepdims=True)
        result = lower(jnp.where(fine, x, 0), **attrs)

        def or_nan(y: JaxArray) -> JaxArray:
            here = fine if y.ndim == x.ndim else fine[..., 0]  # values are vectors
            return jnp.where(here, y, nan_of(y.dtype))

        return tuple(map(or_nan, result)) if isinstance(result, tuple) else or_nan(result)

    return run


def real_as(x: Value, dtype: DType) -> Any:
    """`x` as a tensor of `dtype`, which may be complex."""
    return x if x.dtype == dtype else tf.cast(x, dtype)


@with_fallback
def gaps(values: Tensor) -> Tensor:
    """1 / (v_j - v_i) with zeros on the diagonal; equal values give 0, not infinity."""
    shape = values._array.shape
    difference = tf.reshape(values, (*shape[:-1], 1, shape[-1])) - tf.reshape(values, (*shape, 1))
    return tf.set_diag(safe_reciprocal(difference), tf.zeros_like(values))


def safe_reciprocal(x: Tensor) -> Tensor:
    """1 / x, but 0 at 0."""
    return x / (x * x + 1e-20)


@or_nan
@in_float32
def _cholesky_kernel(x: np.ndarray) -> np.ndarray:
    must_be_square(x)
    out = lapack.cholesky(x)
    # The sum tells at little cost that all numbers are finite.
    if not np.isfinite(np.add.reduce(out, None)):
        must_be_finite(np.tril(x))
    return out


def _lower_factor(x: np.ndarray) -> np.ndarray:
    out = _cholesky_kernel(x)
    # Where a matrix has no factor, NaN stands above the diagonal, too.
    return np.tril(out) if out.size and (out[..., 0, -1] != 0).any() else out


@finite_or_nan
def _lower_cholesky(x: JaxArray) -> JaxArray:
    return linalg.cholesky(x, symmetrize_input=False)


def lower_triangle(x: JaxArray) -> JaxArray:
    """The part of matrices on and below the diagonal, for a lowering."""
    rows = lax.broadcasted_iota(np.int32, x.shape, x.ndim - 2)
    cols = lax.broadcasted_iota(np.int32, x.shape, x.ndim - 1)
    return lax.select(lax.ge(rows, cols), x, lax.full_like(x, 0))


def _cholesky_grad(g: Tensor, out: Tensor) -> Tensor:
    middle = tf.matmul(out, g, adjoint_a=True)
    middle = tf.band_part(tf.set_diag(middle, 0.5 * tf.diag_part(middle)), -1, 0)
    left = tf.triangular_solve(out, middle, adjoint=True)
    both = tf.adjoint(tf.triangular_solve(out, tf.adjoint(left), adjoint=True))
    return 0.5 * (both + tf.adjoint(both))


CHOLESKY = Op(
    "cholesky",
    "x",
    kernel=_lower_factor,
    infer=square("cholesky"),
    lower=lower_in_float32(lambda x: lower_triangle(_lower_cholesky(lower_triangle(x)))),
    grad=_cholesky_grad,
    accepts=dtypes.INEXACT,
    holomorphic=False,
    hazards=Hazards(
        outside="a matrix that is not positive definite",
        remedy="Add a small number to its diagonal.",
    ),
    xla_share=2,  # XLA lets LAPACK use all threads
)


@with_fallback
def cholesky(input: TensorLike, name: str | None = None) -> Tensor:
    """The lower triangular L with L @ adjoint(L) = input; NaN where there is none.

    Only the lower triangle is read; the gradient is that of a symmetric change.

    Args:
        input: `[..., n, n]`, floating or complex, self-adjoint and positive definite.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: the matrices are not square.

    >>> tf.linalg.cholesky([[4.0, 2.0], [2.0, 5.0]]).numpy().tolist()
    [[2.0, 0.0], [1.0, 2.0]]
    """
    return apply(CHOLESKY, operand(input))


def _infer_qr(x: ShapeDtype, full: bool) -> tuple[ShapeDtype, ShapeDtype]:
    if x.shape is None:
        return ShapeDtype(None, x.dtype), ShapeDtype(None, x.dtype)
    require(len(x.shape) >= 2, "qr", "rank 2 or more was expected", x)
    *lead, m, n = x.shape
    least = None if m is None or n is None else min(m, n)
    inner = m if full else least
    return ShapeDtype((*lead, m, inner), x.dtype), ShapeDtype((*lead, inner, n), x.dtype)


@or_nan
@in_float32
def _qr_kernel(x: np.ndarray, full: bool) -> tuple[np.ndarray, np.ndarray]:
    must_be_finite(x)
    return lapack.qr(x, "complete" if full else "reduced")


@finite_or_nan
def _lower_qr(x: JaxArray, full: bool) -> tuple[JaxArray, JaxArray]:
    return tuple(linalg.qr(x, full_matrices=full))


def _divide_right(x: Tensor, r: Tensor) -> Tensor:
    """x times the inverse of adjoint(r), for an upper triangular r."""
    return tf.adjoint(tf.triangular_solve(r, tf.adjoint(x), lower=False))


def _qr_grad(g: tuple[Tensor, ...], outs: tuple[Tensor, ...]) -> Tensor:
    q, r = outs
    gq, gr = g
    m, n = r._array.shape[-2:]
    require(
        not negative(n - m),
        "qr",
        "the gradient of a full decomposition of a tall matrix does not exist",
        q,
        r,
        help="Use full_matrices=False.",
        kind=UnimplementedError,
    )
    if m == n:
        return _square_qr_grad(q, r, gq, gr)
    u, v = tf.split(r, [m, n - m], -1)
    gu, gv = tf.split(gr, [m, n - m], -1)
    # The columns beyond the square part are q @ v: they move with q alone.
    gq = gq + tf.matmul(tf.matmul(q, v), gv, adjoint_b=True)
    return tf.concat([_square_qr_grad(q, u, gq, gu), tf.matmul(q, gv)], -1)


def _square_qr_grad(q: Tensor, r: Tensor, gq: Tensor, gr: Tensor) -> Tensor:
    middle = tf.matmul(r, gr, adjoint_b=True) - tf.matmul(gq, q, adjoint_a=True)
    below = tf.band_part(tf.set_diag(middle, 0.5 * tf.diag_part(middle)), -1, 0)
    return _divide_right(gq + tf.matmul(q, below + tf.adjoint(below)), r)


QR = Op(
    "qr",
    "x",
    kernel=_qr_kernel,
    infer=_infer_qr,
    lower=lower_in_float32(_lower_qr),
    grad=_qr_grad,
    accepts=dtypes.INEXACT,
    outputs=2,
    holomorphic=False,
    xla_share=2,  # XLA lets LAPACK use all threads
)


class Qr(NamedTuple):
    """Orthonormal columns and an upper triangle."""

    q: Any
    r: Any


def qr(input: TensorLike, full_matrices: bool = False, name: str | None = None) -> Qr:
    """Factors with orthonormal columns q and upper triangular r, so that q @ r = input."""
    return Qr(*apply(QR, operand(input), full=bool(full_matrices)))
