"""Cases for products of matrices and for diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as tf
from tests.cases import Case, normal, whole

HALVES = ("float16", "bfloat16", "float32", "float64")


def cplx(*shape: int, seed: int = 0) -> np.ndarray:
    """Random complex numbers of a fixed seed."""
    return normal(*shape, seed=seed) + 1j * normal(*shape, seed=seed + 50)


X, Y = normal(2, 3), normal(3, 4, seed=1)


def _banded(x: np.ndarray, lower: int, upper: int) -> np.ndarray:
    i, j = np.indices(x.shape[-2:])
    keep = ((lower < 0) | (i - j <= lower)) & ((upper < 0) | (j - i <= upper))
    return np.where(keep, x, 0)


def _set_main(x: np.ndarray, d: np.ndarray) -> np.ndarray:
    out = x.copy()
    n = np.arange(d.shape[-1])
    out[..., n, n] = d
    return out


PRODUCTS = [
    Case("matmul", tf.matmul, (X, Y), np.matmul, dtypes=HALVES),
    Case("matmul_nt", lambda x, y: tf.matmul(x, y, transpose_b=True), (X, Y.T), lambda x, y: x @ y.T,
         dtypes=HALVES),
    Case("matmul_tn", lambda x, y: tf.matmul(x, y, transpose_a=True), (X.T, Y), lambda x, y: x.T @ y,
         dtypes=HALVES),
    Case("matmul_tt", lambda x, y: tf.matmul(x, y, transpose_a=True, transpose_b=True),
         (X.T, Y.T), lambda x, y: x.T @ y.T),
    Case("matmul_stack_times_matrix", tf.matmul, (normal(5, 2, 3), Y), np.matmul, dtypes=HALVES),
    Case("matmul_stack_times_transpose", lambda x, y: tf.matmul(x, y, transpose_b=True),
         (normal(5, 2, 3), Y.T), lambda x, y: x @ y.T),
    Case("matmul_batch", tf.matmul, (normal(2, 1, 2, 3), normal(5, 3, 4)), np.matmul, dtypes=HALVES),
    Case("matmul_matrix_times_stack", tf.matmul, (X, normal(5, 3, 4)), np.matmul),
    Case("matmul_batch_tn", lambda x, y: tf.matmul(x, y, transpose_a=True),
         (normal(5, 3, 2), normal(1, 3, 4)), lambda x, y: x.mT @ y),
    Case("matmul_batch_nt", lambda x, y: tf.matmul(x, y, transpose_b=True),
         (normal(5, 2, 3), normal(5, 4, 3)), lambda x, y: x @ y.mT),
    Case("matmul_batch_tt", lambda x, y: tf.matmul(x, y, transpose_a=True, transpose_b=True),
         (normal(5, 3, 2), normal(5, 4, 3)), lambda x, y: x.mT @ y.mT),
    Case("matmul_complex", tf.matmul, (cplx(2, 3), cplx(3, 2, seed=1)), np.matmul),
    Case("matmul_adjoint", lambda x, y: tf.matmul(x, y, adjoint_a=True, adjoint_b=True),
         (cplx(5, 3, 2), cplx(5, 4, 3, seed=1)), lambda x, y: np.conj(x.mT) @ np.conj(y.mT)),
    Case("matmul_no_rows", tf.matmul, (normal(0, 3), Y), np.matmul),
    Case("matmul_no_inner", tf.matmul, (normal(2, 0), normal(0, 4)), np.matmul),
    Case("matmul_no_stack", tf.matmul, (normal(0, 2, 3), Y), np.matmul),
    Case("matmul_integers", tf.matmul, (whole(2, 3), whole(3, 4, seed=1)), np.matmul, order=0),
    Case("matvec", tf.linalg.matvec, (normal(5, 2, 3), normal(3)), lambda a, b: a @ b),
    Case("matvec_transpose", lambda a, b: tf.linalg.matvec(a, b, transpose_a=True),
         (X, normal(5, 2)), lambda a, b: b @ a),
    Case("tensordot", lambda x, y: tf.tensordot(x, y, [[1, 3, 0], [1, 2, 0]]),
         (normal(2, 3, 4, 5), normal(2, 3, 5, 6, seed=1)),
         lambda x, y: np.tensordot(x, y, ((1, 3, 0), (1, 2, 0))), dtypes=HALVES, half_tolerance=5e-2),
    Case("tensordot_crossed", lambda x, y: tf.tensordot(x, y, [[0, 2, 1], [2, 0, 1]]),
         (normal(2, 3, 4), normal(4, 3, 2, 2, seed=1)),
         lambda x, y: np.tensordot(x, y, ((0, 2, 1), (2, 0, 1)))),
    Case("tensordot_outer", lambda x, y: tf.tensordot(x, y, 0), (normal(3), normal(2, 2)),
         lambda x, y: np.tensordot(x, y, 0)),
    Case("tensordot_complex", lambda x, y: tf.tensordot(x, y, 2), (cplx(2, 3), cplx(2, 3, 2)),
         lambda x, y: np.tensordot(x, y, 2)),
    Case("tensordot_empty", lambda x, y: tf.tensordot(x, y, [0, 0]), (normal(0, 3), normal(0, 2)),
         lambda x, y: np.tensordot(x, y, ((0,), (0,)))),
    Case("cross", tf.linalg.cross, (normal(4, 3), normal(4, 3, seed=1)), np.cross),
    Case("adjoint", tf.linalg.adjoint, (cplx(2, 3, 4),), lambda x: np.conj(x.mT)),
    Case("matrix_transpose", tf.linalg.matrix_transpose, (normal(2, 3, 4),), lambda x: x.mT),
]  # fmt: skip


def _einsum(name: str, equation: str, *args: np.ndarray, **options: Any) -> Case:
    return Case(
        name, lambda *xs: tf.einsum(equation, *xs), args, lambda *xs: np.einsum(equation, *xs),
        **options,
    )  # fmt: skip


EINSUMS = [
    _einsum("einsum_product", "ij,jk->ik", X, Y, dtypes=HALVES),
    _einsum("einsum_attention", "bqhd,bkhd->bhqk", normal(2, 3, 2, 4), normal(2, 5, 2, 4, seed=1)),
    _einsum("einsum_implicit", "cb,ab", normal(2, 3), normal(4, 3, seed=1)),
    _einsum("einsum_ellipsis", "...ij,...jk->...ik", normal(2, 1, 3, 4), normal(5, 4, 2)),
    _einsum("einsum_ellipsis_shorter", "a...,...->...a", normal(2, 3, 4), normal(4)),
    _einsum("einsum_diagonals", "iijj,jk->ik", normal(2, 2, 3, 3), normal(3, 4)),
    _einsum("einsum_summed_alone", "ab,cd->c", normal(2, 3), normal(4, 5)),
    _einsum("einsum_outer", "a,b->ba", normal(3), normal(4, seed=1)),
    _einsum("einsum_chain", "ab,bc,cd,de->ea", X, Y, normal(4, 2), normal(2, 3)),
    _einsum("einsum_complex", "ij,kj->ik", cplx(2, 3), cplx(4, 3, seed=1)),
    _einsum("einsum_no_elements", "abc,cd->abd", normal(2, 0, 3), normal(3, 4)),
    _einsum("einsum_integers", "ij,jk->ik", whole(2, 3), whole(3, 4, seed=1), order=0),
    _einsum("einsum_one_transpose", "abc->cab", normal(2, 3, 4)),
    _einsum("einsum_one_trace", "ii", normal(3, 3)),
    _einsum("einsum_one_diagonal", "iij->ji", normal(3, 3, 2), dtypes=HALVES),
    _einsum("einsum_one_sum", "a...b->...", cplx(2, 3, 4)),
]

DIAGONALS = [
    Case("diag_part", tf.linalg.diag_part, (normal(2, 3, 4),),
         lambda x: np.diagonal(x, 0, -2, -1), dtypes=HALVES),
    Case("diag_part_above", lambda x: tf.linalg.diag_part(x, k=2), (cplx(3, 4),),
         lambda x: np.diagonal(x, 2)),
    Case("diag_part_several", lambda x: tf.linalg.diag_part(x, k=(-1, 1), padding_value=9.0),
         (normal(3, 3),), lambda x: np.array(
             [[9, x[0, 1], x[1, 2]], [x[0, 0], x[1, 1], x[2, 2]], [x[1, 0], x[2, 1], 9]])),
    Case("diag_part_empty", tf.linalg.diag_part, (normal(0, 3),), lambda x: x[:, 0]),
    Case("diag", tf.linalg.diag, (normal(2, 3),), lambda d: d[..., None] * np.eye(3), dtypes=HALVES),
    Case("diag_below", lambda d: tf.linalg.diag(d, k=-1), (cplx(3),), lambda d: np.diag(d, -1)),
    Case("diag_several", lambda d: tf.linalg.diag(d, k=(0, 1), align="LEFT_LEFT"), (normal(2, 3),),
         lambda d: np.diag(d[1]) + np.diag(d[0, :2], 1)),
    Case("diag_padded", lambda d: tf.linalg.diag(d, num_cols=4, padding_value=7.0), (normal(2),),
         lambda d: np.array([[d[0], 7, 7, 7], [7, d[1], 7, 7]])),
    Case("set_diag", tf.linalg.set_diag, (normal(2, 3, 4), normal(2, 3, seed=1)), _set_main,
         dtypes=HALVES),
    Case("set_diag_several", lambda x, d: tf.linalg.set_diag(x, d, k=(0, 1)),
         (cplx(3, 3), cplx(2, 3, seed=1)),
         lambda x, d: x * (1 - np.eye(3) - np.eye(3, k=1)) + np.diag(d[1]) + np.diag(d[0, 1:], 1)),
    Case("band_part", lambda x: tf.linalg.band_part(x, 1, 0), (normal(2, 3, 4),),
         lambda x: _banded(x, 1, 0), dtypes=HALVES),
    Case("band_part_upper", lambda x: tf.linalg.band_part(x, 0, -1), (cplx(3, 3),),
         lambda x: _banded(x, 0, -1)),
    Case("trace", tf.linalg.trace, (normal(2, 3, 4),), lambda x: np.trace(x, 0, -2, -1)),
    Case("tensor_diag", tf.linalg.tensor_diag, (normal(2, 3),),
         lambda x: np.diag(x.ravel()).reshape(2, 3, 2, 3)),
    Case("tensor_diag_part", tf.linalg.tensor_diag_part, (normal(2, 3, 2, 3),),
         lambda x: np.diag(x.reshape(6, 6)).reshape(2, 3)),
]  # fmt: skip

CASES = [*PRODUCTS, *EINSUMS, *DIAGONALS]
