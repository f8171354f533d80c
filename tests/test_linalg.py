"""Linear algebra beyond the case table: bad input, edge values, conventions of gradients."""
# NumPy's stubs do not know that its operators leave tensors to us.
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.core.op import REGISTRY

la = tf.linalg
EYE = np.eye(2)
ZERO = np.zeros((2, 2))


def gradient(f: Callable[[Any], Any], x: Any) -> np.ndarray:
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x).numpy()


def ones(*shape: int, dtype: str = "float32") -> Any:
    return tf.ones(shape, dtype)


BAD = {
    "matmul_inner": (
        lambda: tf.matmul(ones(2, 3), ones(4, 5)),
        "matmul: inner dimensions must agree; got float32[2,3] and float32[4,5]. "
        "Transpose one argument or check its shape.",
    ),
    "matmul_inner_transposed": (
        lambda: tf.matmul(ones(2, 3), ones(3, 4), transpose_b=True),
        "matmul: inner dimensions must agree; got float32[2,3] and float32[3,4]. "
        "Transpose one argument or check its shape.",
    ),
    "matmul_vector": (
        lambda: tf.matmul(ones(3), ones(3, 3)),
        "matmul: both arguments must have rank 2 or more; got float32[3] and float32[3,3]. "
        "Use tf.linalg.matvec for a vector, or tf.tensordot.",
    ),
    "matmul_stacks": (
        lambda: tf.matmul(ones(2, 2, 3), ones(3, 3, 4)),
        "matmul: shapes [2] and [3] do not broadcast: sizes 2 and 3 meet in dimension 0. "
        "Reshape one argument, or check which of them has the wrong shape.",
    ),
    "matvec_rank": (
        lambda: la.matvec(ones(3), ones(3)),
        "matvec: a matrix (rank 2 or more) and a vector were expected; got float32[3] and "
        "float32[3].",
    ),
    "tensordot_sizes": (
        lambda: tf.tensordot(ones(2, 3), ones(3, 4), [[0], [0]]),
        "tensordot: axes 0 and 0 that are summed over must have the same size; got float32[2,3] "
        "and float32[3,4].",
    ),
    "tensordot_number": (
        lambda: tf.tensordot(ones(2, 3), ones(3, 4), 3),
        "tensordot: `axes` 3 does not fit tensors of rank 2 and 2.",
    ),
    "tensordot_counts": (
        lambda: tf.tensordot(ones(2, 3), ones(3, 4), [[1, 0], [0]]),
        "tensordot: `axes` names 2 axes of `a` and 1 of `b`.",
    ),
    "tensordot_twice": (
        lambda: tf.tensordot(ones(2, 2), ones(2, 2), [[1, 1], [0, 0]]),
        "tensordot: `axes` names an axis twice; got ((1, 1), (0, 0)).",
    ),
    "einsum_sizes": (
        lambda: tf.einsum("ij,jk->ik", ones(2, 1), ones(3, 4)),
        "einsum: label `j` stands for sizes 1 and 3 in `ij,jk->ik`. Sizes of one label must "
        "agree; only axes under `...` broadcast.",
    ),
    "einsum_output_twice": (
        lambda: tf.einsum("i->ii", ones(3)),
        "einsum: an output label appears more than once in `i->ii`.",
    ),
    "einsum_output_unknown": (
        lambda: tf.einsum("ij->ik", ones(2, 3)),
        "einsum: the output label `k` of `ij->ik` is in no input.",
    ),
    "einsum_ellipsis_lost": (
        lambda: tf.einsum("...i->i", ones(2, 3)),
        "einsum: the output of `...i->i` must have an ellipsis, since the inputs do. Write `...` "
        "after the arrow, or name the axes.",
    ),
    "einsum_rank": (
        lambda: tf.einsum("ab->a", ones(2, 3, 4)),
        "einsum: `ab` does not fit a tensor of rank 3 in `ab->a`.",
    ),
    "einsum_form": (
        lambda: tf.einsum("a1->a", ones(2, 3)),
        "einsum: `a1->a` is not an equation. Write letters for axes, commas between tensors and "
        "one `->`, as in `ij,jk->ik`.",
    ),
    "einsum_count": (
        lambda: tf.einsum("ab,bc->ac", ones(2, 3)),
        "einsum: `ab,bc->ac` is about 2 tensors; got 1.",
    ),
    "inv_singular": (
        lambda: la.inv(ZERO),
        "inv: input is not invertible; got float64[2,2].",
    ),
    "inv_square": (
        lambda: la.inv(ones(2, 3)),
        "inv: input matrix must be square; got float32[2,3].",
    ),
    "inv_rank": (
        lambda: la.inv(ones(3)),
        "inv: rank 2 or more was expected; got float32[3].",
    ),
    "solve_singular": (
        lambda: la.solve(ZERO, EYE),
        "solve: input matrix is not invertible; got float64[2,2] and float64[2,2].",
    ),
    "solve_vector": (
        lambda: la.solve(EYE, np.ones(2)),
        "solve: the right-hand side must have rank 2 or more; got float64[2,2] and float64[2]. "
        "Add an axis with tf.expand_dims(rhs, -1).",
    ),
    "solve_stacks": (
        lambda: la.solve(EYE, np.ones((3, 2, 1))),
        "solve: the leading axes of both arguments must agree; got float64[2,2] and "
        "float64[3,2,1].",
    ),
    "triangular_rows": (
        lambda: la.triangular_solve(EYE, np.ones((3, 1))),
        "triangular_solve: matrix and right-hand side must have the same number of rows; got "
        "float64[2,2] and float64[3,1].",
    ),
    "cholesky_square": (
        lambda: la.cholesky(ones(2, 3)),
        "cholesky: input matrix must be square; got float32[2,3].",
    ),
    "lu_singular": (
        lambda: la.lu(ZERO),
        "lu: input is not invertible; got float64[2,2].",
    ),
    "diag_part_outside": (
        lambda: la.diag_part(ones(3, 4), k=4),
        "diag_part: diagonal 4 lies outside a matrix of 3 rows and 4 columns. `k` must lie "
        "between -2 and 3.",
    ),
    "diag_part_rank": (
        lambda: la.diag_part(ones(3)),
        "diag_part: rank 2 or more was expected; got float32[3].",
    ),
    "diag_order": (
        lambda: la.diag(ones(2, 3), k=(1, 0)),
        "diag: `k` must not run downwards; got [1, 0].",
    ),
    "diag_size": (
        lambda: la.diag(ones(2), num_rows=3, num_cols=3),
        "diag: a matrix of 3 rows and 3 columns does not fit diagonals 0 to 0 of length 2; got "
        "float32[2]. It needs 2 rows or 2 columns, and no fewer.",
    ),
    "diag_align": (
        lambda: la.diag(ones(2), align="UP"),
        "diag: `align` must be one of RIGHT_LEFT, LEFT_RIGHT, LEFT_LEFT, RIGHT_RIGHT; got 'UP'.",
    ),
    "set_diag_shape": (
        lambda: la.set_diag(ones(2, 3, 3), ones(3)),
        "set_diag: the diagonal must have shape (2, 3); got float32[2,3,3] and float32[3].",
    ),
    "band_part_wide": (
        lambda: la.band_part(ones(3, 4), 4, 0),
        "band_part: `num_lower` 4 exceeds the size 3 of that axis; got float32[3,4].",
    ),
    "tensor_diag_part_halves": (
        lambda: la.tensor_diag_part(ones(2, 3)),
        "tensor_diag_part: the two halves of the shape must be equal; got float32[2,3].",
    ),
    "cross_shapes": (
        lambda: la.cross(ones(3), ones(2, 3)),
        "cross: both arguments must have the same shape; got float32[3] and float32[2,3].",
    ),
    "matrix_rank_vector": (
        lambda: la.matrix_rank(ones(3)),
        "matrix_rank: rank 2 or more was expected; got float32[3].",
    ),
    "lstsq_vector": (
        lambda: la.lstsq(ones(3, 2), ones(3)),
        "lstsq: both arguments must have rank 2 or more; got float32[3,2] and float32[3].",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_says_what_is_wrong(name: str) -> None:
    call, message = BAD[name]
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        call()
    assert str(caught.value) == message
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: tf.matmul(ones(2, 2), ones(2, 2, dtype="float64")), TypeError),
        (lambda: tf.matmul(ones(2, 2, dtype="bool"), ones(2, 2, dtype="bool")), TypeError),
        (lambda: la.inv(ones(2, 2, dtype="int32")), TypeError),
        (lambda: la.logm(ones(2, 2)), TypeError),
        (lambda: la.pinv(ones(2, 2, dtype="int32")), TypeError),
        (lambda: la.expm(ones(2, 2, dtype="int32")), ValueError),
        (lambda: la.matrix_transpose(ones(2)), ValueError),
        (lambda: tf.einsum("a->a", ones(2), method="fast"), TypeError),
        (lambda: tf.matmul(ones(2, 2), ones(2, 2), True, adjoint_a=True), ValueError),
        (lambda: la.cross(ones(2), ones(2)), tf.errors.FailedPreconditionError),
        (lambda: la.lstsq(EYE + 0j, EYE + 0j, l2_regularizer=1.0), NotImplementedError),
    ],
)
def test_bad_kinds_raise_what_a_caller_would_catch(call: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        call()


def test_gradients_that_do_not_exist_say_so() -> None:
    with pytest.raises(NotImplementedError, match="full_matrices=False"):
        gradient(lambda x: la.qr(x, full_matrices=True)[0], np.ones((4, 2)))
    with pytest.raises(NotImplementedError, match="differ by 1 at most"):
        gradient(lambda x: la.svd(x, full_matrices=True)[1], np.ones((4, 2)))


def test_half_precision_products_sum_in_float32() -> None:
    x = tf.fill((1, 4096), tf.constant(1.0, tf.float16))
    assert tf.matmul(x, tf.transpose(x)).numpy() == 4096
    assert tf.einsum("ab,ab->", x, x).numpy() == 4096
    assert tf.tensordot(x, x, 2).numpy() == 4096


def test_small_integers_wrap_unless_a_wider_type_is_asked_for() -> None:
    x = tf.cast(tf.fill((2, 2), 100), tf.int8)
    assert tf.matmul(x, x, output_type=tf.int32).numpy().tolist() == [[20000] * 2] * 2
    assert tf.matmul(x, x).dtype == tf.int8


def test_a_product_keeps_only_the_factor_that_is_needed() -> None:
    plan = REGISTRY["matmul"].plan(0b101)
    assert plan.inputs == (False, True)
    assert not plan.outs


def test_matmul_operator_takes_lists_and_arrays_on_both_sides() -> None:
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    assert (x @ [[1.0], [1.0]]).numpy().tolist() == [[3.0], [7.0]]
    assert (np.array([[1.0, 1.0]]) @ x).numpy().tolist() == [[4.0, 6.0]]
    assert (tf.ones((2, 1, 2, 2)) @ tf.ones((3, 2, 1))).shape == (2, 3, 2, 1)


def test_cholesky_of_an_indefinite_matrix_is_nan_for_that_one_alone() -> None:
    got = la.cholesky(np.stack([EYE, -EYE, ZERO])).numpy()
    nan = np.nan
    np.testing.assert_array_equal(got[0], EYE)
    np.testing.assert_array_equal(got[1], [[nan, 0], [nan, nan]])
    np.testing.assert_array_equal(got[2], [[nan, 0], [nan, nan]])


def test_decompositions_of_nan_are_nan() -> None:
    x = np.stack([EYE, np.full((2, 2), np.nan)])
    s, u, v = la.svd(x)
    assert np.isfinite(s.numpy()[0]).all()
    assert all(np.isnan(part.numpy()[1]).all() for part in (s, u, v))
    assert np.isnan(la.svd(x, compute_uv=False).numpy()[1]).all()


def test_singular_triangles_give_infinities() -> None:
    got = la.triangular_solve(ZERO, np.ones((2, 1))).numpy()
    assert got[0, 0] == np.inf
    assert np.isnan(got[1, 0])


def _random_diagonals() -> tuple[Any, Any]:
    r = np.random.default_rng(0)
    return r.standard_normal((3, 5)) + [[0], [3], [0]], r.standard_normal((5, 2))


def test_three_diagonals_come_in_several_forms() -> None:
    d, b = _random_diagonals()
    matrix = np.diag(d[1]) + np.diag(d[0, :-1], 1) + np.diag(d[2, 1:], -1)
    expected = np.linalg.solve(matrix, b)
    for given, form in (
        (d, "compact"),
        (tuple(d), "sequence"),
        ((d[0, :-1], d[1], d[2, 1:]), "sequence"),
        (matrix, "matrix"),
    ):
        found = la.tridiagonal_solve(given, b, diagonals_format=form)
        np.testing.assert_allclose(found, expected, 1e-10)
        np.testing.assert_allclose(la.tridiagonal_matmul(given, found, form), b, 1e-10)
    np.testing.assert_allclose(la.tridiagonal_solve(d, b.T, transpose_rhs=True), expected, 1e-10)
    turned = la.tridiagonal_solve(d + 0j, b.T * 1j, transpose_rhs=True, conjugate_rhs=True)
    np.testing.assert_allclose(turned, -1j * expected, 1e-10)


@pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])
def test_three_diagonals_that_cannot_be_inverted(compiled: bool) -> None:
    solve = (
        tf.function(la.tridiagonal_solve, jit_compile=True) if compiled else la.tridiagonal_solve
    )
    d = tf.constant([[0.0, 0, 0], [1, 0, 1], [0, 0, 0]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="input is not invertible"):
        solve(d, tf.ones([3]))


def test_bad_diagonals() -> None:
    d, b = _random_diagonals()
    with pytest.raises(ValueError, match="must be 'compact', 'sequence' or 'matrix'"):
        la.tridiagonal_solve(d, b, diagonals_format="dense")
    with pytest.raises(ValueError, match="three diagonals"):
        la.tridiagonal_solve(d[:2], b)
    with pytest.raises(ValueError, match="three tensors"):
        la.tridiagonal_solve(d, b, diagonals_format="sequence")
    with pytest.raises(ValueError, match="are needed; got float64"):
        la.tridiagonal_solve(d, b[:3])
    with pytest.raises(ValueError, match="the sizes do not fit"):
        la.tridiagonal_matmul(d, b[:3])
    with pytest.raises(tf.errors.UnimplementedError, match="Add to the diagonal"):
        la.tridiagonal_solve(d, b, perturb_singular=True)


def test_determinants_of_singular_matrices() -> None:
    assert la.det(ZERO).numpy() == 0
    sign, size = la.slogdet(ZERO)
    assert (sign.numpy(), size.numpy()) == (0, -np.inf)
    assert np.isnan(la.logdet(-EYE).numpy())
    assert la.det(np.zeros((0, 0))).numpy() == 1


def test_only_one_triangle_is_read() -> None:
    x = np.array([[2.0, 99.0], [1.0, 4.0]])
    lower = np.array([[2.0, 1.0], [1.0, 4.0]])
    np.testing.assert_allclose(la.cholesky(x), np.linalg.cholesky(lower))
    np.testing.assert_allclose(la.eigvalsh(x), np.linalg.eigvalsh(lower))
    solved = la.triangular_solve(np.array([[2.0, 5.0], [1.0, 4.0]]), np.array([[2.0], [4.0]]))
    assert solved.numpy().tolist() == [[1.0], [0.75]]


def test_dtypes_of_complex_decompositions_follow_tensorflow() -> None:
    x = EYE + 0j
    assert la.eigh(x)[0].dtype == tf.complex128
    assert la.eigvalsh(x).dtype == tf.complex128
    assert la.slogdet(x)[1].dtype == tf.complex128
    assert la.svd(x)[0].dtype == tf.float64
    assert la.eigvals(EYE.astype(np.float32)).dtype == tf.complex64
    assert la.logdet(x).dtype == tf.float64


def test_gradient_of_eigh_lies_in_the_lower_triangle() -> None:
    got = gradient(lambda x: la.eigvalsh(x)[1], np.array([[2.0, 0.0], [1.0, 2.0]]))
    np.testing.assert_allclose(got, [[0.5, 0.0], [1.0, 0.5]], atol=1e-12)


def test_gradients_with_equal_values_stay_finite() -> None:
    np.testing.assert_allclose(gradient(lambda x: la.eigh(x)[1], EYE), ZERO, atol=1e-12)
    assert np.isfinite(gradient(lambda x: la.svd(x)[1], EYE)).all()
    np.testing.assert_allclose(gradient(lambda x: la.svd(x, compute_uv=False), EYE), EYE)


def test_gradient_of_cholesky_is_symmetric() -> None:
    got = gradient(la.cholesky, np.array([[2.0, 1.0], [1.0, 4.0]]))
    np.testing.assert_allclose(got, got.T)


def test_gradient_of_a_complex_determinant() -> None:
    got = gradient(la.det, np.array([[1j, 2.0], [3.0, 4.0]]))
    np.testing.assert_allclose(got, [[4.0, -3.0], [-2.0, -1j]], atol=1e-12)


def test_several_diagonals_are_packed_as_tensorflow_packs_them() -> None:
    x = np.arange(12).reshape(3, 4)
    packed = {
        "RIGHT_LEFT": [[0, 2, 7], [1, 6, 11], [0, 5, 10], [4, 9, 0]],
        "LEFT_RIGHT": [[2, 7, 0], [1, 6, 11], [0, 5, 10], [0, 4, 9]],
        "LEFT_LEFT": [[2, 7, 0], [1, 6, 11], [0, 5, 10], [4, 9, 0]],
        "RIGHT_RIGHT": [[0, 2, 7], [1, 6, 11], [0, 5, 10], [0, 4, 9]],
    }
    for align, want in packed.items():
        got = la.diag_part(x, k=(-1, 2), align=align)
        assert got.numpy().tolist() == want, align
        back = la.set_diag(np.zeros_like(x), got, k=(-1, 2), align=align)
        assert back.numpy().tolist() == la.band_part(x, 1, 2).numpy().tolist()
    assert la.diag([[1, 2], [3, 4]], k=(0, 1)).numpy().tolist() == [[3, 2], [0, 4]]
    assert la.diag([1, 2], k=-1, num_rows=3, num_cols=4, padding_value=9).numpy().tolist() == [
        [9, 9, 9, 9], [1, 9, 9, 9], [9, 2, 9, 9],
    ]  # fmt: skip


def test_tensordot_takes_every_form_of_axes() -> None:
    x, y = np.arange(6.0).reshape(2, 3), np.arange(12.0).reshape(3, 4)
    for axes in (1, [1, 0], [[1], [0]], ((-1,), (-2,)), tf.constant([[1], [0]]), np.int64(1)):
        np.testing.assert_allclose(tf.tensordot(x, y, axes), x @ y)


def test_lu_rows_are_in_the_order_given() -> None:
    x = np.array([[0.0, 2.0, 3.0], [3.0, 4.0, 1.0], [7.0, 1.0, 2.0]])
    packed, order = la.lu(x, output_idx_type=tf.int64)
    assert order.dtype == tf.int64
    assert order.numpy().tolist() == [2, 1, 0]
    np.testing.assert_allclose(la.lu_reconstruct(packed, order), x)


def test_square_roots_that_are_not_real_are_nan() -> None:
    assert np.isnan(la.sqrtm(np.diag([-1.0, 1.0])).numpy()).all()
    np.testing.assert_allclose(la.sqrtm(np.diag([-1.0 + 0j, 1.0])), np.diag([1j, 1.0]))
    assert np.isnan(la.expm(np.full((2, 2), np.inf)).numpy()).all()


def test_ranks_and_pseudo_inverses_have_tolerances() -> None:
    x = np.diag([1.0, 0.1])
    assert la.matrix_rank(x).numpy() == 2
    assert la.matrix_rank(x, tol=0.5).numpy() == 1
    assert la.matrix_rank([[1, 1], [1, 1]]).numpy() == 1
    np.testing.assert_allclose(la.pinv(x, rcond=0.5), np.diag([1.0, 0.0]))
    np.testing.assert_allclose(la.pinv(np.ones((2, 2))), np.full((2, 2), 0.25))


def test_least_squares_of_deficient_rank_needs_the_slow_way() -> None:
    assert np.isnan(la.lstsq(np.zeros((3, 2)), np.ones((3, 1))).numpy()).all()
    slow = la.lstsq(np.ones((3, 2)), np.ones((3, 1)), fast=False)
    np.testing.assert_allclose(slow, [[0.5], [0.5]])


def test_normalize_gives_the_norm_with_its_axes() -> None:
    unit, length = la.normalize(np.array([[3.0, 4.0], [6.0, 8.0]]), axis=-1)
    np.testing.assert_allclose(unit, [[0.6, 0.8]] * 2)
    assert length.numpy().tolist() == [[5.0], [10.0]]


def test_results_have_names():
    x = tf.constant([[4.0, 1.0], [2.0, 3.0]])
    for f in (lambda f: f, tf.function):
        assert f(tf.linalg.slogdet)(x).log_abs_determinant.numpy() == pytest.approx(np.log(10.0))
        q, r = f(tf.linalg.qr)(x)
        found = f(tf.linalg.qr)(x)
        np.testing.assert_array_equal(found.q, q)
        np.testing.assert_allclose(found.q @ found.r, x, atol=1e-6)
        np.testing.assert_array_equal(found.r, r)
        assert f(tf.linalg.lu)(x).p.numpy().tolist() == [0, 1]


def heard(f: Callable[[], Any]) -> list[str]:
    """What a program hears of a call: warnings at the lines of other libraries, too."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"wengert\.")
        f()
    return [f"{w.filename}: {w.message}" for w in found]


@pytest.mark.parametrize("function", [tf.linalg.det, tf.linalg.slogdet, tf.linalg.expm])
@pytest.mark.parametrize("value", [1e30, np.nan, np.inf, -np.inf])
def test_matrices_that_overflow_warn_nobody(function: Any, value: float) -> None:
    x = np.full((3, 3), value, np.float32) + np.eye(3, dtype=np.float32)
    assert not heard(lambda: function(x))


def test_spectra_of_infinities_warn_nobody() -> None:
    x = np.full((2, 5), np.inf, np.float32)
    assert not heard(lambda: tf.signal.rfft(x))
    assert not heard(lambda: tf.signal.fft(tf.cast(x, tf.complex64)))


ALPHA, BETA = np.array([1.0, 2.0, 3.0, 4.0]), np.array([0.5, 0.25, 0.125])
EIGENVALUES = [0.7886730529426835, 2.1446197180276356, 3.050820947123834, 4.015886281905846]


@pytest.mark.parametrize(
    ("select", "bounds", "places"),
    [("a", None, slice(None)), ("i", (1, 2), slice(1, 3)), ("v", (1.5, 3.5), slice(1, 3))],
)
def test_eigenvalues_of_three_diagonals(select: str, bounds: Any, places: slice) -> None:
    found = tf.linalg.eigh_tridiagonal(ALPHA, BETA, select=select, select_range=bounds)
    np.testing.assert_allclose(found, EIGENVALUES[places], rtol=1e-12)
    values, vectors = tf.linalg.eigh_tridiagonal(
        ALPHA + 0j, BETA * 1j, eigvals_only=False, select=select, select_range=bounds
    )
    assert values.dtype == tf.float64
    np.testing.assert_allclose(values, EIGENVALUES[places], rtol=1e-12)
    matrix = np.diag(ALPHA) + np.diag(BETA * 1j, 1) + np.diag(BETA * -1j, -1)
    np.testing.assert_allclose(
        matrix @ vectors, vectors * tf.cast(values, vectors.dtype), atol=1e-12
    )


def test_eigenvalues_of_three_diagonals_have_a_gradient() -> None:
    specs = [tf.TensorSpec([None], tf.float64)] * 2

    @tf.function(input_signature=specs)
    def slopes(a: Any, b: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            total = tf.reduce_sum(tf.linalg.eigh_tridiagonal(a, b) ** 2)
        return tape.gradient(total, [a, b])

    found = slopes(ALPHA, BETA)
    np.testing.assert_allclose(found[0], 2 * ALPHA, rtol=1e-12)
    np.testing.assert_allclose(found[1], 4 * BETA, rtol=1e-12)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.linalg.eigh_tridiagonal([1, 2], [1]), "one type with fractions"),
        (lambda: tf.linalg.eigh_tridiagonal([1.0, 2.0], [1.0, 2.0]), "one number fewer"),
        (lambda: tf.linalg.eigh_tridiagonal(ALPHA, BETA, select="x"), "'a', 'i' or 'v'"),
        (
            lambda: tf.linalg.eigh_tridiagonal(ALPHA, BETA, select="i", select_range=(2, 1)),
            "the first first",
        ),
        (
            lambda: tf.linalg.eigh_tridiagonal(ALPHA, BETA, select="v", select_range=(2, 1)),
            "is empty",
        ),
    ],
)
def test_bad_diagonals_are_refused(call: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        call()
