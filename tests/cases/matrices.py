"""Cases for linear equations, decompositions and functions of matrices.

Factors whose signs or phases are free are checked through what they make together.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg

import wengert as tf
from tests.cases import Case, normal
from tests.cases.linalg import cplx

la = tf.linalg

A, B = normal(2, 3, 3) + 3 * np.eye(3), normal(2, 3, 2, seed=1)
Z, W = cplx(2, 3, 3) + 3 * np.eye(3), cplx(2, 3, 2, seed=1)


def definite(x: Any) -> Any:
    """A positive definite matrix made of any matrix."""
    return tf.matmul(x, x, adjoint_b=True) + tf.eye(tf.shape(x)[-2], dtype=x.dtype)


def np_definite(x: np.ndarray) -> np.ndarray:
    return x @ np.conj(x.mT) + np.eye(x.shape[-2])


def _product(q: Any, r: Any) -> Any:
    return q, tf.matmul(q, r)


def _svd_parts(x: Any, **options: Any) -> Any:
    """What the singular vectors say without their free phases."""
    s, u, v = la.svd(x, **options)
    k = tf.shape(s)[-1]
    return (
        s,
        tf.abs(u[..., :k]),
        tf.abs(v[..., :k]),
        tf.matmul(u[..., :k], v[..., :k], adjoint_b=True),
    )


def _np_svd_parts(x: np.ndarray) -> Any:
    u, s, vh = np.linalg.svd(x, full_matrices=False)
    return s, np.abs(u), np.abs(vh.mT), u @ vh


def _eigh_parts(x: Any) -> Any:
    e, v = la.eigh(x)
    return tf.math.real(e), tf.abs(v)


def _np_eigh_parts(x: np.ndarray) -> Any:
    e, v = np.linalg.eigh(x)
    return e, np.abs(v)


def _eig_parts(x: Any) -> Any:
    e, v = la.eig(x)
    return tf.reduce_sum(tf.abs(e), -1), tf.reduce_sum(tf.abs(v) * tf.abs(v) * tf.abs(v), [-2, -1])


def _np_eig_parts(x: np.ndarray) -> Any:
    e, v = np.linalg.eig(x)
    return np.abs(e).sum(-1), (np.abs(v) ** 3).sum((-2, -1))


def _each(f: Any) -> Any:
    return lambda x: np.stack([f(m) for m in x])


def _triangular(lower: bool, adjoint: bool) -> Case:
    def ref(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        a = np.tril(a) if lower else np.triu(a)
        return np.linalg.solve(np.conj(a.mT) if adjoint else a, b)

    return Case(
        f"triangular_solve_{'lower' if lower else 'upper'}{'_adjoint' if adjoint else ''}",
        lambda a, b: la.triangular_solve(a, b, lower=lower, adjoint=adjoint), (Z, W), ref,
    )  # fmt: skip


def _three(d: np.ndarray) -> np.ndarray:
    """Matrices with three diagonals, from rows that hold them."""
    n = d.shape[-1]
    above, middle, below = d[..., 0, :, None], d[..., 1, :, None], d[..., 2, :, None]
    return above * np.eye(n, k=1) + middle * np.eye(n) + below * np.eye(n, k=-1)


# Three diagonals of each of two matrices, the middle one large enough.
BANDS = normal(2, 3, 4) + np.array([[0.0], [3.0], [0.0]])
BANDS_Z = BANDS + 1j * normal(2, 3, 4, seed=1)


EQUATIONS = [
    Case("tridiagonal_solve", la.tridiagonal_solve, (BANDS, normal(2, 4, 2)),
         lambda d, b: np.linalg.solve(_three(d), b)),
    Case("tridiagonal_solve_complex", la.tridiagonal_solve, (BANDS_Z, normal(2, 4, 2) + 1j),
         lambda d, b: np.linalg.solve(_three(d), b)),
    Case("tridiagonal_solve_vector", la.tridiagonal_solve, (BANDS[0], normal(4)),
         lambda d, b: np.linalg.solve(_three(d), b)),
    Case("tridiagonal_solve_one", la.tridiagonal_solve, (BANDS[:, :, :1], normal(2, 1, 3)),
         lambda d, b: b / d[:, 1:2]),
    Case("tridiagonal_solve_empty", la.tridiagonal_solve, (normal(3, 0), normal(0, 2)),
         lambda d, b: b),
    Case("tridiagonal_matmul", la.tridiagonal_matmul, (BANDS, normal(2, 4, 2)),
         lambda d, b: _three(d) @ b),
    Case("inv", la.inv, (A,), np.linalg.inv),
    Case("inv_adjoint", lambda x: la.inv(x, adjoint=True), (Z,), lambda x: np.conj(np.linalg.inv(x).mT)),
    Case("inv_empty", la.inv, (normal(0, 0),), np.linalg.inv),
    Case("det", la.det, (A,), np.linalg.det),
    Case("det_complex", la.det, (Z,), np.linalg.det),
    Case("slogdet", la.slogdet, (A,), lambda x: tuple(np.linalg.slogdet(x))),
    Case("slogdet_complex", lambda x: tf.math.real(la.slogdet(x)[1]), (Z,),
         lambda x: np.linalg.slogdet(x)[1]),
    Case("logdet", lambda x: la.logdet(definite(x)), (A,),
         lambda x: np.linalg.slogdet(np_definite(x))[1]),
    Case("solve", la.solve, (A, B), np.linalg.solve),
    Case("solve_adjoint", lambda a, b: la.solve(a, b, adjoint=True), (Z, W),
         lambda a, b: np.linalg.solve(np.conj(a.mT), b)),
    Case("solve_no_columns", la.solve, (A, normal(2, 3, 0)), np.linalg.solve),
    _triangular(True, False),
    _triangular(True, True),
    _triangular(False, False),
    _triangular(False, True),
    Case("triangular_solve_broadcast", la.triangular_solve, (A[0], B),
         lambda a, b: np.linalg.solve(np.tril(a), b)),
    Case("triangular_solve_empty", la.triangular_solve, (normal(0, 0), normal(0, 2)),
         lambda a, b: b),
    Case("cholesky_solve", lambda x, b: la.cholesky_solve(la.cholesky(definite(x)), b), (A, B),
         lambda x, b: np.linalg.solve(np_definite(x), b)),
    Case("lstsq_tall", la.lstsq, (normal(4, 3), normal(4, 2, seed=1)),
         lambda a, b: np.linalg.pinv(a) @ b),
    Case("lstsq_wide", la.lstsq, (normal(3, 4), normal(3, 2, seed=1)),
         lambda a, b: np.linalg.pinv(a) @ b),
    Case("lstsq_ridge", lambda a, b: la.lstsq(a, b, l2_regularizer=0.1),
         (normal(4, 3), normal(4, 2, seed=1)),
         lambda a, b: np.linalg.solve(a.T @ a + 0.1 * np.eye(3), a.T @ b)),
    Case("lstsq_slow", lambda a, b: la.lstsq(a, b, fast=False),
         (normal(4, 3), normal(4, 2, seed=1)), lambda a, b: np.linalg.pinv(a) @ b),
]  # fmt: skip

FACTORS = [
    Case("cholesky", lambda x: la.cholesky(definite(x)), (A,), lambda x: np.linalg.cholesky(np_definite(x))),
    Case("cholesky_complex", lambda x: la.cholesky(definite(x)), (Z,),
         lambda x: np.linalg.cholesky(np_definite(x))),
    Case("qr_square", lambda x: _product(*la.qr(x)), (A,), lambda x: (np.linalg.qr(x)[0], x)),
    Case("qr_tall", la.qr, (normal(2, 4, 3),), lambda x: tuple(np.linalg.qr(x))),
    Case("qr_wide", la.qr, (normal(2, 3, 5),), lambda x: tuple(np.linalg.qr(x))),
    Case("qr_complex", la.qr, (cplx(2, 4, 3),), lambda x: tuple(np.linalg.qr(x))),
    Case("qr_complex_wide", la.qr, (cplx(2, 5),), lambda x: tuple(np.linalg.qr(x))),
    Case("qr_full", lambda x: la.qr(x, full_matrices=True), (normal(2, 3, 4),),
         lambda x: tuple(np.linalg.qr(x, "complete"))),
    Case("lu", lambda x: la.lu(x)[0], (A,), _each(lambda m: _packed_lu(m))),
    Case("lu_complex", lambda x: la.lu_reconstruct(*la.lu(x)), (Z,), lambda x: x),
    Case("lu_solve", lambda x, b: la.lu_solve(*la.lu(x), b), (A, B), np.linalg.solve),
    Case("lu_solve_broadcast", lambda x, b: la.lu_solve(*la.lu(x), b), (A[0], B), np.linalg.solve),
    Case("lu_matrix_inverse", lambda x: la.lu_matrix_inverse(*la.lu(x)), (A,), np.linalg.inv),
    Case("eigh", _eigh_parts, (A + A.mT,), _np_eigh_parts),
    Case("eigh_vectors", la.eigh, (A + A.mT,)),
    Case("eigh_complex", _eigh_parts, (Z + np.conj(Z.mT),), _np_eigh_parts),
    Case("eigvalsh", la.eigvalsh, (A + A.mT,), np.linalg.eigvalsh),
    Case("eigvalsh_complex", lambda x: tf.math.real(la.eigvalsh(x)), (Z + np.conj(Z.mT),),
         np.linalg.eigvalsh),
    Case("eig", _eig_parts, (normal(2, 3, 3, seed=4),), _np_eig_parts),
    Case("eig_complex", _eig_parts, (Z,), _np_eig_parts),
    Case("eigvals", lambda x: tf.reduce_sum(la.eigvals(x) * la.eigvals(x), -1), (A,),
         lambda x: np.trace(x @ x, 0, -2, -1) + 0j),
    Case("svd_square", _svd_parts, (normal(2, 3, 3),), _np_svd_parts),
    Case("svd_tall", _svd_parts, (normal(2, 4, 3),), _np_svd_parts),
    Case("svd_wide", _svd_parts, (normal(2, 3, 5),), _np_svd_parts),
    Case("svd_complex", _svd_parts, (cplx(2, 4, 3),), _np_svd_parts),
    Case("svd_vectors", la.svd, (normal(4, 3),)),
    Case("svd_full", lambda x: _svd_parts(x, full_matrices=True), (normal(4, 3),), _np_svd_parts),
    Case("svd_full_wide", lambda x: la.svd(x, full_matrices=True), (normal(3, 4),)),
    Case("svdvals", lambda x: la.svd(x, compute_uv=False), (cplx(2, 3, 4),),
         lambda x: np.linalg.svd(x, compute_uv=False)),
    Case("pinv_tall", la.pinv, (normal(2, 4, 3),), np.linalg.pinv),
    Case("pinv_wide", la.pinv, (cplx(2, 3, 4),), np.linalg.pinv),
    Case("matrix_rank", la.matrix_rank, (normal(2, 4, 2) @ normal(2, 2, 3),),
         lambda x: np.full(2, 2, np.int32), order=0),
    Case("normalize", lambda x: la.normalize(x, axis=-1), (normal(2, 3),),
         lambda x: (x / np.linalg.norm(x, axis=-1, keepdims=True),
                    np.linalg.norm(x, axis=-1, keepdims=True))),
]  # fmt: skip


def _packed_lu(m: np.ndarray) -> np.ndarray:
    parts: Any = scipy.linalg.lu(m)
    _, lower, upper = parts
    return np.tril(lower, -1) + upper


FUNCTIONS = [
    Case("expm", la.expm, (normal(2, 3, 3),), _each(scipy.linalg.expm)),
    Case("expm_complex", la.expm, (cplx(2, 3, 3),), _each(scipy.linalg.expm)),
    Case("sqrtm", lambda x: la.sqrtm(definite(x)), (A,),
         lambda x: _each(scipy.linalg.sqrtm)(np_definite(x))),
    Case("sqrtm_complex", la.sqrtm, (Z + 3 * np.eye(3),), _each(scipy.linalg.sqrtm)),
    Case("logm", la.logm, (Z + 3 * np.eye(3),), _each(scipy.linalg.logm), lowered=False),
]  # fmt: skip

CASES = [*EQUATIONS, *FACTORS, *FUNCTIONS]
