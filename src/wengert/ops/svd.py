"""Singular values, and what is built on them: pseudo-inverse, rank, vectors of length 1."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.dims import larger, negative, smaller
from wengert.core.errors import UnimplementedError, require, require_dtype
from wengert.core.fallbacks import with_fallback
from wengert.core.lazy_modules import Lazy, jnp, linalg
from wengert.core.types import Axis, DType, JaxArray, Op, ShapeDtype, Tensor, TensorLike, Value
from wengert.ops import lapack
from wengert.ops import public as tf
from wengert.ops.declare import in_float32, lower_in_float32
from wengert.ops.decompose import (
    finite_or_nan,
    gaps,
    must_be_finite,
    or_nan,
    real_as,
    safe_reciprocal,
)


def _sizes(name: str, x: ShapeDtype) -> tuple[list[int | None], int | None, int | None, int | None]:
    """Leading axes, rows, columns and the smaller of the two."""
    assert x.shape is not None, "the caller answers for an unknown rank"
    require(len(x.shape) >= 2, name, "rank 2 or more was expected", x)
    *lead, m, n = x.shape
    return lead, m, n, None if m is None or n is None else min(m, n)


def _infer_svd(x: ShapeDtype, full: bool) -> tuple[ShapeDtype, ShapeDtype, ShapeDtype]:
    real = x.dtype.real_dtype
    if x.shape is None:
        return ShapeDtype(None, real), x, x
    lead, m, n, least = _sizes("svd", x)
    u, v = (m, n) if full else (least, least)
    return (
        ShapeDtype((*lead, least), real),
        ShapeDtype((*lead, m, u), x.dtype),
        ShapeDtype((*lead, n, v), x.dtype),
    )


@or_nan
@in_float32
def _svd_kernel(x: np.ndarray, full: bool) -> tuple[np.ndarray, ...]:
    must_be_finite(x)
    u, s, vh = lapack.svd(x, full_matrices=full)
    return s, u, np.conj(vh).mT


@finite_or_nan
def _lower_svd(x: JaxArray, full: bool) -> tuple[JaxArray, JaxArray, JaxArray]:
    u, s, vh = linalg.svd(x, full_matrices=full)
    return s, u, jnp.conj(vh).mT


def _svd_grad(g: tuple[Tensor, ...], outs: tuple[Tensor, ...], full: bool) -> Tensor:
    s, u, v = outs
    gs, gu, gv = g
    m, n = u._array.shape[-2], v._array.shape[-2]
    if full:
        u = apply(NEAR_SQUARE, u, v)
    rows, cols = u._array.shape[-1], v._array.shape[-1]
    values = _rectangle(s, rows, cols, u.dtype)
    uu, vv = tf.matmul(u, gu, adjoint_a=True), tf.matmul(v, gv, adjoint_a=True)
    left = real_as(gaps(_padded(s * s, rows)), u.dtype) * uu
    right = real_as(gaps(_padded(s * s, cols)), u.dtype) * vv
    inner = tf.matmul(left + tf.adjoint(left), values) + tf.matmul(
        values, right + tf.adjoint(right)
    )
    inner = inner + _rectangle(gs, rows, cols, u.dtype)
    over = real_as(safe_reciprocal(s), u.dtype)
    if u.dtype.is_complex:
        inner = inner + _turn(vv, over, rows, cols)
    out = tf.matmul(u, tf.matmul(inner, v, adjoint_b=True))
    if not full and rows != m:
        rest = (gu - tf.matmul(u, uu)) * _row(over)
        out = out + tf.matmul(rest, v, adjoint_b=True)
    if not full and cols != n:
        rest = (gv - tf.matmul(v, vv)) * _row(over)
        out = out + tf.matmul(u, rest, adjoint_b=True)
    return out


def _near_square(u: Any, v: Any) -> Any:
    require(
        not negative(u.shape[-2] - v.shape[-2] + 1) and not negative(v.shape[-2] - u.shape[-2] + 1),
        "svd",
        "the gradient with full_matrices=True needs sizes that differ by 1 at most",
        u,
        v,
        help="Use full_matrices=False.",
        kind=UnimplementedError,
    )
    return u


def _infer_near_square(u: ShapeDtype, v: ShapeDtype) -> ShapeDtype:
    known = u.shape is not None and v.shape is not None and None not in (u.shape[-2], v.shape[-2])
    return _near_square(u, v) if known else u


# Passes u on where the gradient of a full decomposition exists.
NEAR_SQUARE = Op(
    "svd_near_square",
    "u v",
    kernel=_near_square,
    infer=_infer_near_square,
    lower=_near_square,
    grad=(lambda g: g, None),
    register=False,
)


def _turn(vv: Tensor, over: Tensor, rows: int, cols: int) -> Tensor:
    """What fixes the common phase of a pair of complex singular vectors."""
    along = tf.diag_part(vv)[..., : smaller(rows, cols)]
    return _rectangle(0.5 * over * (tf.conj(along) - along), rows, cols, vv.dtype)


def _row(x: Tensor) -> Tensor:
    shape = x._array.shape
    return tf.reshape(x, (*shape[:-1], 1, shape[-1]))


def _rectangle(s: Tensor, rows: int, cols: int, dtype: DType) -> Tensor:
    return tf.diag(real_as(s, dtype), num_rows=rows, num_cols=cols)


def _padded(s: Tensor, size: int) -> Tensor:
    shape = s._array.shape
    extra = size - shape[-1]
    return s if extra == 0 else tf.concat([s, tf.zeros((*shape[:-1], extra), s.dtype)], -1)


SVD = Op(
    "svd",
    "x",
    kernel=_svd_kernel,
    infer=_infer_svd,
    lower=lower_in_float32(_lower_svd),
    grad=_svd_grad,
    accepts=dtypes.INEXACT,
    outputs=3,
    holomorphic=False,
    xla_share=2,  # XLA lets LAPACK use all threads
)


def _svdvals_grad(g: Tensor, x: Tensor) -> Tensor:
    _, u, v = svd(x)
    return tf.matmul(u * real_as(_row(g), u.dtype), v, adjoint_b=True)


@or_nan
@in_float32
def _svdvals_kernel(x: np.ndarray) -> np.ndarray:
    must_be_finite(x)
    return lapack.svd(x, compute_uv=False)


@finite_or_nan
def _lower_svdvals(x: JaxArray) -> JaxArray:
    return linalg.svd(x, full_matrices=False, compute_uv=False)


SVDVALS = Op(
    "svdvals",
    "x",
    kernel=_svdvals_kernel,
    infer=lambda x: _infer_svd(x, False)[0],
    lower=lower_in_float32(_lower_svdvals),
    grad=_svdvals_grad,
    accepts=dtypes.INEXACT,
    holomorphic=False,
    xla_share=2,  # XLA lets LAPACK use all threads
)


def svd(
    tensor: TensorLike,
    full_matrices: bool = False,
    compute_uv: bool = True,
    name: str | None = None,
) -> Any:
    """Singular values s, descending, and u, v with u @ diag(s) @ adjoint(v) = tensor.

    Only s without `compute_uv`. Equal singular values count as unrelated in the gradient.

    Args:
        tensor: matrices `[..., n, m]`.
        full_matrices: whether u and v are square.
        compute_uv: whether to give them.
        name: without effect.

    Returns:
        s, u and v, or s alone.

    Raises:
        InvalidArgumentError: the rank is below 2.

    >>> tf.linalg.svd([[3.0, 0.0], [0.0, 4.0]], compute_uv=False).numpy().tolist()
    [4.0, 3.0]
    """
    x = operand(tensor)
    return apply(SVD, x, full=bool(full_matrices)) if compute_uv else apply(SVDVALS, x)


def _infer_pinv(x: ShapeDtype, rcond: ShapeDtype) -> ShapeDtype:
    if x.shape is None:
        return x
    lead, m, n, _ = _sizes("pinv", x)
    return ShapeDtype((*lead, n, m), x.dtype)


def _pinv(
    x: JaxArray | np.ndarray,
    factors: tuple[JaxArray | np.ndarray, ...],
    rcond: np.ndarray,
    np_: ModuleType | Lazy,
) -> Any:
    s, u, v = factors
    if not s.size:
        return np_.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), x.dtype)
    least = rcond[..., None] * s.max(-1, keepdims=True)
    over = np_.where(s > least, 1 / np_.where(s > least, s, 1), 0).astype(s.dtype)
    return np_.matmul(v * over[..., None, :], np_.conj(u).mT)


@in_float32
def _pinv_kernel(x: np.ndarray, rcond: np.ndarray) -> np.ndarray:
    return _pinv(x, _svd_kernel(x, full=False), rcond, np)


def _pinv_grad(g: Tensor, x: Tensor, out: Tensor) -> Tensor:
    def project(z: Tensor, a: Tensor, b: Tensor) -> Tensor:
        return z - tf.matmul(a, tf.matmul(b, z))

    whole = tf.matmul(out, tf.matmul(g, out, adjoint_b=True), adjoint_a=True)
    gh = tf.adjoint(g)
    left = project(tf.matmul(tf.matmul(gh, out), out, adjoint_b=True), x, out)
    right = tf.matmul(out, tf.matmul(out, gh), adjoint_a=True)
    right = right - tf.matmul(tf.matmul(right, out), x)
    return left + right - whole


PINV = Op(
    "pinv",
    "x rcond",
    kernel=_pinv_kernel,
    infer=_infer_pinv,
    lower=lower_in_float32(lambda x, rcond: _pinv(x, _lower_svd(x, full=False), rcond, jnp)),
    grad=(_pinv_grad, None),
    accepts=dtypes.INEXACT,
    match=(),
    holomorphic=False,
)


@with_fallback
def pinv(
    a: TensorLike,
    rcond: TensorLike | None = None,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """The pseudo-inverse; singular values up to `rcond` times the largest count as zero."""
    x = operand(a)
    require_dtype(
        x.dtype.is_floating or x.dtype.is_complex, "pinv", "a matrix of floats was expected", x
    )
    real = x.dtype.real_dtype
    if rcond is None:
        rcond = _longer_side(x, real) * (10.0 * _epsilon(real))
    return apply(PINV, x, operand(rcond, None, real))


def _longer_side(x: Value, dtype: dtypes.DType) -> Tensor | int:
    """The larger size of matrices, as a number to multiply with."""
    if x._array.ndim < 2:
        return 0
    most = larger(*x._array.shape[-2:])
    return most if isinstance(most, int) else tf.cast(operand(most), dtype)


def _epsilon(dtype: dtypes.DType) -> float:
    import ml_dtypes

    return float(ml_dtypes.finfo(dtype.np).eps)


@with_fallback
def matrix_rank(
    a: TensorLike, tol: Any = None, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The number of singular values above `tol` (by default, above rounding errors)."""
    x = operand(a, None, dtypes.float32)
    require(x._array.ndim >= 2, "matrix_rank", "rank 2 or more was expected", x)
    s = svd(x, compute_uv=False)
    if tol is None:
        tol = tf.reduce_max(s, -1, keepdims=True) * (_longer_side(x, s.dtype) * _epsilon(s.dtype))
    return tf.reduce_sum(tf.cast(s > tol, dtypes.int32), -1)


def normalize(
    tensor: TensorLike, ord: str = "euclidean", axis: Axis = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The tensor divided by its `norm`, and that norm with its axes kept; NaN for length 0."""
    x = operand(tensor)
    length = tf.norm(x, ord, axis, keepdims=True)
    return x / real_as(length, x.dtype), length
