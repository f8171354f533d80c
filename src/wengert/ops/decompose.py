"""Factors of matrices: Cholesky, QR, LU and eigenvalues.

None of these but LU is complex-differentiable, so the rules state TensorFlow's conventions in
full, adjoints included. A matrix that has no factors gives NaN, as in a compiled program.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import UnimplementedError, invalid
from wengert.core.lazy import lapack, lax, linalg
from wengert.core.op import Op, Spec
from wengert.ops.declare import in_float32
from wengert.ops.diagonal import band_part, diag, diag_part, set_diag
from wengert.ops.matmul import matmul
from wengert.ops.solve import check_square, inv, refusing, solve, square, triangular_solve
from wengert.ops.tensordot import adjoint


def or_nan(kernel: Callable[..., Any]) -> Callable[..., Any]:
    """Lets a kernel that NumPy refuses for one matrix of a stack give NaN for that one alone."""

    @functools.wraps(kernel)
    def run(x: np.ndarray, **attrs: Any) -> Any:
        try:
            return kernel(x, **attrs)
        except np.linalg.LinAlgError:
            lead, shape = x.shape[:-2], x.shape[-2:]
            model = kernel(np.eye(*shape, dtype=x.dtype), **attrs)
        single = not isinstance(model, tuple)
        models = (model,) if single else model
        outs = [np.full((*lead, *m.shape), np.nan, m.dtype) for m in models]
        for i in np.ndindex(lead):
            try:
                found = kernel(x[i], **attrs)
            except np.linalg.LinAlgError:
                continue
            for out, f in zip(outs, (found,) if single else found, strict=True):
                out[i] = f
        return outs[0] if single else tuple(outs)

    return run


def _must_be_square(x: np.ndarray) -> None:
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError("a square matrix was expected")


def real_as(x: Any, dtype: Any) -> Any:
    """`x` as a tensor of `dtype`, which may be complex."""
    from wengert.ops.cast import cast

    return x if x.dtype == dtype else cast(x, dtype)


def gaps(values: Any) -> Any:
    """1 / (v_j - v_i) with zeros on the diagonal; equal values give 0, not infinity."""
    from wengert.ops.create import zeros_like
    from wengert.ops.shaping import reshape

    shape = tuple(values.shape)
    difference = reshape(values, (*shape[:-1], 1, shape[-1])) - reshape(values, (*shape, 1))
    return set_diag(safe_reciprocal(difference), zeros_like(values))


def safe_reciprocal(x: Any) -> Any:
    """1 / x, but 0 at 0."""
    return x / (x * x + 1e-20)


@or_nan
@in_float32
def _cholesky_kernel(x: np.ndarray) -> np.ndarray:
    _must_be_square(x)
    return np.linalg.cholesky(x)


def _lower_triangle(x: Any) -> Any:
    rows = lax.broadcasted_iota(np.int32, x.shape, x.ndim - 2)
    cols = lax.broadcasted_iota(np.int32, x.shape, x.ndim - 1)
    return lax.select(lax.ge(rows, cols), x, lax.full_like(x, 0))


def _cholesky_grad(g: Any, out: Any) -> Any:
    middle = matmul(out, g, adjoint_a=True)
    middle = band_part(set_diag(middle, 0.5 * diag_part(middle)), -1, 0)
    left = triangular_solve(out, middle, adjoint=True)
    both = adjoint(triangular_solve(out, adjoint(left), adjoint=True))
    return 0.5 * (both + adjoint(both))


CHOLESKY = Op(
    "cholesky",
    "x",
    kernel=lambda x: np.tril(_cholesky_kernel(x)),
    infer=square("cholesky"),
    lower=lambda x: _lower_triangle(linalg.cholesky(x, symmetrize_input=False)),
    grad=_cholesky_grad,
    accepts=dtypes.INEXACT,
    holomorphic=False,
)


def cholesky(input: Any, name: Any = None) -> Any:
    """The lower triangular L with L @ adjoint(L) = input; NaN where there is none.

    Only the lower triangle is read; the gradient is that of a symmetric change.
    """
    return apply(CHOLESKY, operand(input))


def _infer_qr(x: Spec, full: bool) -> tuple[Spec, Spec]:
    if x.shape is None:
        return Spec(None, x.dtype), Spec(None, x.dtype)
    if len(x.shape) < 2:
        raise invalid("qr", "rank 2 or more was expected", x)
    *lead, m, n = x.shape
    least = None if m is None or n is None else min(m, n)
    inner = m if full else least
    return Spec((*lead, m, inner), x.dtype), Spec((*lead, inner, n), x.dtype)


@or_nan
@in_float32
def _qr_kernel(x: np.ndarray, full: bool) -> tuple[np.ndarray, np.ndarray]:
    q, r = np.linalg.qr(x, "complete" if full else "reduced")
    return q, r


def _divide_right(x: Any, r: Any) -> Any:
    """x times the inverse of adjoint(r), for an upper triangular r."""
    return adjoint(triangular_solve(r, adjoint(x), lower=False))


def _qr_grad(g: Any, outs: Any) -> Any:
    from wengert.ops.shaping import concat, split

    q, r = outs
    gq, gr = g
    m, n = r.shape[-2], r.shape[-1]
    if m > n:
        raise invalid(
            "qr", "the gradient of a full decomposition of a tall matrix does not exist", q, r,
            help="Use full_matrices=False.", kind=UnimplementedError,
        )  # fmt: skip
    if m == n:
        return _square_qr_grad(q, r, gq, gr)
    u, v = split(r, [m, n - m], -1)
    gu, gv = split(gr, [m, n - m], -1)
    # The columns beyond the square part are q @ v: they move with q alone.
    gq = gq + matmul(matmul(q, v), gv, adjoint_b=True)
    return concat([_square_qr_grad(q, u, gq, gu), matmul(q, gv)], -1)


def _square_qr_grad(q: Any, r: Any, gq: Any, gr: Any) -> Any:
    middle = matmul(r, gr, adjoint_b=True) - matmul(gq, q, adjoint_a=True)
    below = band_part(set_diag(middle, 0.5 * diag_part(middle)), -1, 0)
    return _divide_right(gq + matmul(q, below + adjoint(below)), r)


QR = Op(
    "qr",
    "x",
    kernel=_qr_kernel,
    infer=_infer_qr,
    lower=lambda x, full: linalg.qr(x, full_matrices=full),
    grad=_qr_grad,
    accepts=dtypes.INEXACT,
    outputs=2,
    holomorphic=False,
)


def qr(input: Any, full_matrices: bool = False, name: Any = None) -> tuple[Any, Any]:
    """Factors with orthonormal columns q and upper triangular r, so that q @ r = input."""
    return apply(QR, operand(input), full=bool(full_matrices))


def _infer_lu(x: Spec, dtype: dtypes.DType) -> tuple[Spec, Spec]:
    check_square("lu", x)
    return x, Spec(None if x.shape is None else x.shape[:-1], dtype)


@refusing("Input is not invertible")
@in_float32
def _lu_kernel(x: np.ndarray, dtype: dtypes.DType) -> tuple[np.ndarray, np.ndarray]:
    _must_be_square(x)
    getrf = getattr(lapack, {"f": "s", "d": "d", "F": "c", "D": "z"}[x.dtype.char] + "getrf")
    out = np.empty_like(x)
    order = np.empty(x.shape[:-1], dtype.np)
    for i in np.ndindex(x.shape[:-2]) if x.size else ():
        out[i], swaps, info = getrf(x[i])
        if info > 0:
            raise np.linalg.LinAlgError
        rows = list(range(len(swaps)))
        for k, j in enumerate(swaps):
            rows[k], rows[j] = rows[j], rows[k]
        order[i] = rows
    return out, order


def _lower_lu(x: Any, dtype: dtypes.DType) -> Any:
    out, _, order = linalg.lu(x)
    return out, lax.convert_element_type(order, dtype.np)


def _lu_grad(g: Any, outs: Any) -> Any:
    from wengert.ops.create import ones_like

    out, order = outs
    one = set_diag(out, ones_like(diag_part(out)))
    upper = band_part(out, 0, -1)
    lower = band_part(one, -1, 0)
    gl = g[0] - band_part(g[0], 0, -1)
    gu = band_part(g[0], 0, -1)
    middle = matmul(lower, gl, transpose_a=True)
    middle = middle - band_part(middle, 0, -1)
    middle = middle + band_part(matmul(gu, upper, transpose_b=True), 0, -1)
    left = _transposed_solve(lower, middle, True)
    both = _flip(_transposed_solve(_flip(upper), _flip(left), True, plain=True))
    return _unpermuted(both, order)


def _flip(x: Any) -> Any:
    from wengert.ops.tensordot import matrix_transpose

    return matrix_transpose(x)


def _transposed_solve(a: Any, b: Any, lower: bool, plain: bool = False) -> Any:
    from wengert.ops.solve import TRIANGULAR_SOLVE

    return apply(TRIANGULAR_SOLVE, a, b, lower=lower, transpose=not plain)


def _unpermuted(x: Any, order: Any) -> Any:
    """The rows of `x` back in the places that `order` took them from."""
    from wengert.ops.gather import gather

    rows = np.argsort(order._array, -1)
    return gather(x, rows.astype(np.int32), batch_dims=rows.ndim - 1, axis=rows.ndim - 1)


LU = Op(
    "lu",
    "x",
    kernel=_lu_kernel,
    infer=_infer_lu,
    lower=_lower_lu,
    grad=_lu_grad,
    accepts=dtypes.INEXACT,
    outputs=2,
)


def lu(input: Any, output_idx_type: Any = dtypes.int32, name: Any = None) -> tuple[Any, Any]:
    """L and U packed in one matrix, and the order of rows: input[p] = L @ U."""
    return apply(LU, operand(input), dtype=dtypes.as_dtype(output_idx_type))


def lu_reconstruct(lower_upper: Any, perm: Any, validate_args: bool = False, name: Any = None) -> Any:
    """The matrix whose `lu` was taken."""
    lower, upper = _unpacked(lower_upper)
    return _unpermuted(matmul(lower, upper), operand(perm))


def _unpacked(lower_upper: Any) -> tuple[Any, Any]:
    from wengert.ops.create import ones_like

    x = operand(lower_upper)
    lower = band_part(set_diag(x, ones_like(diag_part(x))), -1, 0)
    return lower, band_part(x, 0, -1)


def lu_solve(
    lower_upper: Any, perm: Any, rhs: Any, validate_args: bool = False, name: Any = None
) -> Any:
    """Solves A @ x = rhs, given the `lu` of A."""
    from wengert.ops.gather import gather

    lower, upper = _unpacked(lower_upper)
    order, b = operand(perm), operand(rhs, None, upper.dtype)
    rank = len(order.shape)
    if len(b.shape) > rank + 1 and rank == 1:
        b = gather(b, order, axis=len(b.shape) - 2)
    else:
        b = gather(b, order, batch_dims=rank - 1, axis=rank - 1)
    return triangular_solve(upper, triangular_solve(lower, b), lower=False)


def lu_matrix_inverse(
    lower_upper: Any, perm: Any, validate_args: bool = False, name: Any = None
) -> Any:
    """The inverse of A, given the `lu` of A."""
    return inv(lu_reconstruct(lower_upper, perm))


def _infer_eigh(x: Spec) -> tuple[Spec, Spec]:
    check_square("eigh", x)
    return _values("eigh", x), x


def _values(name: str, x: Spec, dtype: Any = None) -> Spec:
    check_square(name, x)
    return Spec(None if x.shape is None else x.shape[:-1], dtype or x.dtype)


@or_nan
@in_float32
def _eigh_kernel(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    _must_be_square(x)
    e, v = np.linalg.eigh(x)
    return e.astype(x.dtype), v


@or_nan
@in_float32
def _eigvalsh_kernel(x: np.ndarray) -> np.ndarray:
    _must_be_square(x)
    return np.linalg.eigvalsh(x).astype(x.dtype)


def _lower_eigh(x: Any) -> Any:
    v, e = linalg.eigh(x, lower=True, symmetrize_input=False)
    return lax.convert_element_type(e, x.dtype), v


def _eigh_grad(g: Any, outs: Any) -> Any:
    e, v = outs
    middle = diag(g[0]) + gaps(e) * matmul(v, g[1], adjoint_a=True)
    return _lower_half(matmul(v, matmul(middle, v, adjoint_b=True)))


def _lower_half(a: Any) -> Any:
    """The gradient of a function that reads the lower triangle only."""
    both = band_part(a + adjoint(a), -1, 0)
    return set_diag(both, 0.5 * diag_part(both))


EIGH = Op(
    "eigh",
    "x",
    kernel=_eigh_kernel,
    infer=_infer_eigh,
    lower=_lower_eigh,
    grad=_eigh_grad,
    accepts=dtypes.INEXACT,
    outputs=2,
    holomorphic=False,
)


def eigh(tensor: Any, name: Any = None) -> tuple[Any, Any]:
    """Eigenvalues, ascending, and eigenvectors (columns) of self-adjoint matrices.

    Only the lower triangle is read. Equal eigenvalues count as unrelated in the gradient.
    """
    return apply(EIGH, operand(tensor))


def _eigvalsh_grad(g: Any, x: Any) -> Any:
    _, v = eigh(x)
    return _lower_half(matmul(v, matmul(diag(g), v, adjoint_b=True)))


EIGVALSH = Op(
    "eigvalsh",
    "x",
    kernel=_eigvalsh_kernel,
    infer=lambda x: _values("eigvalsh", x),
    lower=lambda x: _lower_eigh(x)[0],
    grad=_eigvalsh_grad,
    accepts=dtypes.INEXACT,
    holomorphic=False,
)


def eigvalsh(tensor: Any, name: Any = None) -> Any:
    """Eigenvalues of self-adjoint matrices, ascending."""
    return apply(EIGVALSH, operand(tensor))


def _complex(dtype: dtypes.DType) -> dtypes.DType:
    return dtypes.complex128 if dtype.size == 8 and not dtype.is_complex else (
        dtype if dtype.is_complex else dtypes.complex64
    )


def _wide(x: np.ndarray) -> np.dtype:
    return _complex(dtypes.of(x)).np


@or_nan
@in_float32
def _eig_kernel(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    _must_be_square(x)
    e, v = np.linalg.eig(x)
    return e.astype(_wide(x)), v.astype(_wide(x))


def _infer_eig(x: Spec) -> tuple[Spec, Spec]:
    e = _values("eig", x, _complex(x.dtype))
    return e, Spec(x.shape, e.dtype)


def _eig_grad(g: Any, outs: Any, x_dtype: Any) -> Any:
    from wengert.ops.complex import conj, real

    e, v = outs
    vgv = matmul(v, g[1], adjoint_a=True)
    along = diag(real_as(real(diag_part(vgv)), vgv.dtype))
    middle = vgv - matmul(matmul(v, v, adjoint_a=True), along)
    inner = diag(g[0]) + conj(gaps(e)) * middle
    return real_as(solve(v, matmul(inner, v, adjoint_b=True), adjoint=True), x_dtype)


EIG = Op(
    "eig",
    "x",
    kernel=lambda x, x_dtype: _eig_kernel(x),
    infer=lambda x, x_dtype: _infer_eig(x),
    lower=lambda x, x_dtype: tuple(linalg.eig(x, compute_left_eigenvectors=False)),
    grad=_eig_grad,
    accepts=dtypes.INEXACT,
    outputs=2,
    holomorphic=False,
)


def eig(tensor: Any, name: Any = None) -> tuple[Any, Any]:
    """Eigenvalues, in no order, and eigenvectors (columns of length 1), as complex numbers."""
    x = operand(tensor)
    return apply(EIG, x, x_dtype=x.dtype)


def _eigvals_grad(g: Any, x: Any) -> Any:
    _, v = eig(x)
    return real_as(solve(v, matmul(diag(g), v, adjoint_b=True), adjoint=True), x.dtype)


EIGVALS = Op(
    "eigvals",
    "x",
    kernel=or_nan(in_float32(lambda x: np.linalg.eigvals(x).astype(_wide(x)))),
    infer=lambda x: _values("eigvals", x, _complex(x.dtype)),
    lower=lambda x: linalg.eig(
        x, compute_left_eigenvectors=False, compute_right_eigenvectors=False
    )[0],
    grad=_eigvals_grad,
    accepts=dtypes.INEXACT,
    holomorphic=False,
)


def eigvals(tensor: Any, name: Any = None) -> Any:
    """Eigenvalues in no order, as complex numbers."""
    return apply(EIGVALS, operand(tensor))
