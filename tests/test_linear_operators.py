"""Linear operators: TensorFlow's answers, gradients, functions, composites, operators of one's own."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.linear_operator_cases import HINTS, answers, numbers, operators
from wengert.testing import check_gradients

ANSWERS = json.loads(Path(__file__).with_name("linear_operator_answers.json").read_text())
MAKERS = operators(tf)
L: Any = tf.linalg
# What differs on purpose: leading axes broadcast where TensorFlow stops, the dtype of a circulant
# operator stays, a complex multiple of the identity is not self-adjoint, zeros stay zeros, and the
# condition number of a singular matrix is whatever rounding makes of it.
DIFFERENT = {
    "diag batch": {"add"},
    "identity batch": {"add"},
    "scaled batch": {"add", "@ diag", "solve diag"},
    "scaled complex": {"inverse", "solve identity"},
    "zeros wide": {"adjoint"},
    "kronecker wide": {"diag_part", "cond", "adjoint"},
    "block diag wide": {"cond"},
    "tridiag": {"matmul batch"},
    "tridiag sequence": {"matmul batch"},
    "tridiag matrix": {"matmul batch"},
}


def agrees(want: Any, found: Any) -> bool:
    if want == found:
        return True
    if want[0] == "error":  # ours may be a kind of theirs
        kind = getattr(tf.errors, found[1], None) if found[0] == "error" else None
        kinds = [k.__name__ for k in kind.__mro__] if kind else found[1:]
        return found[0] == "error" and (want[1] in kinds or found[1] == "InvalidTypeError")
    if want[0] != found[0] or len(want) != len(found):
        return False
    pairs = zip(want[1:], found[1:], strict=True)
    return all(
        np.shape(a) == np.shape(b)
        and np.allclose(np.array(a, float), np.array(b, float), 1e-5, 1e-7)
        for a, b in pairs
    )


@pytest.mark.parametrize("name", MAKERS)
def test_answers_are_those_of_tensorflow(name: str) -> None:
    found = json.loads(json.dumps(answers(tf, name, MAKERS[name])))
    for question, want in ANSWERS[name].items():
        if question not in DIFFERENT.get(name, ()):
            assert agrees(want, found[question]), (question, want, found[question])


@pytest.mark.parametrize("name", MAKERS)
def test_every_way_to_ask_gives_the_same_matrix(name: str) -> None:
    operator = MAKERS[name]()
    dense = operator.to_dense().numpy()
    rows, columns = dense.shape[-2:]
    close = lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-8)
    close(operator.matmul(tf.eye(columns, dtype=operator.dtype)), dense)
    close(
        operator.matmul(tf.eye(rows, dtype=operator.dtype), adjoint=True),
        np.swapaxes(dense.conj(), -1, -2),
    )
    close(operator.adjoint().to_dense(), np.swapaxes(dense.conj(), -1, -2))
    if name != "block diag wide":  # its blocks are not square
        close(operator.diag_part(), np.diagonal(dense, axis1=-2, axis2=-1))
    if "wide" not in name and "zeros" not in name:
        close(operator.inverse().to_dense(), np.linalg.inv(dense))
        close(operator.log_abs_determinant(), np.linalg.slogdet(dense)[1])
        close(operator.determinant(), np.linalg.det(dense))
    twice = operator @ operator.adjoint() if "zeros" not in name else operator
    if "zeros" not in name:
        close(twice.to_dense(), dense @ np.swapaxes(dense.conj(), -1, -2))


@pytest.mark.parametrize("name", MAKERS)
def test_operators_pass_through_functions_nests_and_pickles(name: str) -> None:
    operator = MAKERS[name]()
    dense = operator.to_dense().numpy()
    traced = tf.function(lambda o: (o.to_dense(), o.adjoint()))
    matrix, turned = traced(operator)
    np.testing.assert_allclose(matrix, dense, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(
        turned.to_dense(), operator.adjoint().to_dense(), rtol=1e-7, atol=1e-9
    )
    traced(MAKERS[name]())
    assert traced.experimental_get_tracing_count() == 1
    leaves = tf.nest.flatten(operator, expand_composites=True)
    again = tf.nest.pack_sequence_as(operator, leaves, expand_composites=True)
    for copy in (again, pickle.loads(pickle.dumps(operator))):
        assert type(copy) is type(operator)
        assert [getattr(copy, h) for h in HINTS] == [getattr(operator, h) for h in HINTS]
        np.testing.assert_array_equal(copy.to_dense(), dense)


def test_sizes_may_be_open() -> None:
    spec = tf.TensorSpec([None, None], tf.float64)

    @tf.function(input_signature=[spec, spec])
    def run(a: Any, x: Any) -> list[Any]:
        full, diag = L.LinearOperatorFullMatrix(a), L.LinearOperatorDiag(tf.linalg.diag_part(a))
        both = L.LinearOperatorComposition([full, diag])
        kronecker = L.LinearOperatorKronecker([full, diag])
        blocks = L.LinearOperatorBlockDiag([full, both])
        lower = L.LinearOperatorBlockLowerTriangular([[full], [both, diag]])
        made = [
            both, kronecker, blocks, lower, full.inverse(), full.adjoint(),
            L.LinearOperatorToeplitz(a[0], a[0]), L.LinearOperatorTridiag(a, "matrix"),
            L.LinearOperatorLowRankUpdate(diag, x), L.LinearOperatorHouseholder(a[0]),
            L.LinearOperatorIdentity(tf.shape(a)[0], dtype=tf.float64),
            L.LinearOperatorScaledIdentity(tf.shape(a)[0], a[0, 0]),
            L.LinearOperatorCirculant(tf.signal.fft(tf.cast(a[0], tf.complex128)), tf.float64),
            L.LinearOperatorLowerTriangular(a),
            L.LinearOperatorZeros(tf.shape(a)[0], dtype=tf.float64),
        ]  # fmt: skip
        return [o.to_dense() for o in made] + [o.matmul(o.to_dense()) for o in made]

    a, x = tf.constant(numbers(3, 3) + 3 * np.eye(3)), tf.constant(numbers(3, 2))
    for traced, eager in zip(run(a, x), run.python_function(a, x), strict=True):
        np.testing.assert_allclose(traced, eager, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize(
    "ask",
    [
        lambda a: L.LinearOperatorFullMatrix(a).solve(a + 1.0),
        lambda a: L.LinearOperatorLowerTriangular(a).log_abs_determinant(),
        lambda a: L.LinearOperatorDiag(a[0]).inverse().matmul(a),
        lambda a: L.LinearOperatorKronecker([L.LinearOperatorFullMatrix(a), L.LinearOperatorDiag(a[1])]).trace(),
        lambda a: L.LinearOperatorLowRankUpdate(L.LinearOperatorDiag(a[0]), a[:, :1]).solve(a),
        lambda a: L.LinearOperatorToeplitz(a[0], a[1]).matmul(a),
        lambda a: L.LinearOperatorTridiag(a, "matrix").matmul(a),
        lambda a: L.LinearOperatorHouseholder(a[0]).matmul(a),
        lambda a: L.LinearOperatorBlockLowerTriangular(
            [[L.LinearOperatorDiag(a[0])], [L.LinearOperatorFullMatrix(a), L.LinearOperatorDiag(a[1])]]
        ).solve(tf.concat([a, a], 0)),
    ],
)  # fmt: skip
def test_gradients_flow_to_what_an_operator_is_made_of(ask: Any) -> None:
    check_gradients(ask, [tf.constant(np.abs(numbers(3, 3)) + 2 * np.eye(3))], order=2)


def test_variables_are_read_at_each_use_and_tracked() -> None:
    scale = tf.Variable([1.0, 2.0])
    operator = L.LinearOperatorDiag(scale)
    assert operator.trainable_variables == (scale,)
    traced = tf.function(lambda o, x: o.matvec(x))
    assert traced(operator, tf.ones(2)).numpy().tolist() == [1.0, 2.0]
    scale.assign([3.0, 4.0])
    assert traced(operator, tf.ones(2)).numpy().tolist() == [3.0, 4.0]
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(traced(operator, tf.constant([5.0, 6.0])))
    assert tape.gradient(loss, scale).numpy().tolist() == [5.0, 6.0]
    assert traced.experimental_get_tracing_count() == 1


class Twice(L.LinearOperator):
    """An operator of one's own, as programs and libraries write them."""

    def __init__(self, factor: Any, name: str = "Twice") -> None:
        self.factor = tf.convert_to_tensor(factor, tf.float64)
        super().__init__(
            self.factor.dtype,
            parameters={"factor": factor, "name": name},
            is_square=True,
            name=name,
        )

    def _shape(self) -> Any:
        return tf.TensorShape([2, 2])

    def _shape_tensor(self) -> Any:
        return tf.constant([2, 2])

    def _matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False) -> Any:
        return self.factor * (tf.linalg.adjoint(x) if adjoint_arg else x)


def test_operators_of_ones_own() -> None:
    operator = Twice(3.0)
    assert operator.to_dense().numpy().tolist() == [[3.0, 0.0], [0.0, 3.0]]
    assert float(operator.determinant()) == pytest.approx(9.0)
    assert operator.solvevec([3.0, 6.0]).numpy().tolist() == [1.0, 2.0]
    assert tf.function(lambda o: o.trace())(operator).numpy() == 6.0
    assert (operator @ L.LinearOperatorIdentity(2, dtype=tf.float64)) is operator
    product = operator @ L.LinearOperatorDiag(tf.constant([1.0, 2.0], tf.float64))
    assert product.to_dense().numpy().tolist() == [[3.0, 0.0], [0.0, 6.0]]


def test_functions_of_linalg_take_operators() -> None:
    a = L.LinearOperatorFullMatrix(numbers(2, 3, 3) + 3 * np.eye(3))
    spd = L.LinearOperatorDiag([4.0, 9.0], is_positive_definite=True)
    dense = a.to_dense()
    np.testing.assert_allclose(L.matmul(a, a).to_dense(), dense @ dense)
    np.testing.assert_allclose(L.matmul(dense, a), dense @ dense)
    np.testing.assert_allclose(L.inv(a).to_dense(), L.inv(dense))
    np.testing.assert_allclose(L.solve(a, dense[..., :1])[0], [[1.0], [0.0], [0.0]], atol=1e-12)
    np.testing.assert_allclose(L.det(a), L.det(dense))
    np.testing.assert_allclose(L.trace(a), L.trace(dense))
    np.testing.assert_allclose(L.diag_part(a), L.diag_part(dense))
    np.testing.assert_allclose(L.adjoint(a).to_dense(), L.adjoint(dense))
    assert L.cholesky(spd).diag.numpy().tolist() == [2.0, 3.0]
    np.testing.assert_allclose(L.logdet(spd), np.log(36.0), rtol=1e-6)


def test_a_stack_is_indexed_by_its_leading_axes() -> None:
    stack = L.LinearOperatorFullMatrix(numbers(2, 4, 3, 3))
    np.testing.assert_array_equal(stack[0, 1:3].to_dense(), stack.to_dense()[0, 1:3])
    rows = L.LinearOperatorLowRankUpdate(
        L.LinearOperatorDiag(numbers(2, 3)), numbers(2, 3, 1), numbers(2, 1)
    )
    np.testing.assert_allclose(rows[1].to_dense(), rows.to_dense()[1])
    assert L.LinearOperatorDiag(numbers(2, 3))[..., tf.newaxis].shape == [2, 1, 3, 3]


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        (lambda: L.LinearOperatorDiag([1.0], is_square=False), ValueError, "is square"),
        (lambda: L.LinearOperatorDiag(1.0), ValueError, "rank 1 or more"),
        (lambda: L.LinearOperatorFullMatrix([1.0]), ValueError, "rank 2 or more"),
        (lambda: L.LinearOperatorIdentity(2, is_self_adjoint=False), ValueError, "the identity"),
        (lambda: L.LinearOperatorIdentity(-1), ValueError, "not negative"),
        (lambda: L.LinearOperatorIdentity(1.5), TypeError, "whole number"),
        (lambda: L.LinearOperatorZeros(2, is_non_singular=True), ValueError, "singular"),
        (lambda: L.LinearOperatorComposition([]), ValueError, "must not be empty"),
        (lambda: L.LinearOperatorComposition([MAKERS["full"](), MAKERS["full wide"]()]), ValueError, "neighbours"),
        (lambda: L.LinearOperatorKronecker([MAKERS["full"](), L.LinearOperatorIdentity(2)]), TypeError, "one dtype"),
        (lambda: L.LinearOperatorBlockLowerTriangular([[MAKERS["full"](), MAKERS["full"]()]]), ValueError, "row k"),
        (lambda: L.LinearOperatorCirculant([1, 2]), TypeError, "real or complex"),
        (lambda: L.LinearOperatorToeplitz([1.0], [1.0, 2.0]), ValueError, "as long"),
        (lambda: L.LinearOperatorTridiag([[1.0]], "wide"), ValueError, "matrix, sequence, compact"),
        (lambda: L.LinearOperatorLowRankUpdate(L.LinearOperatorIdentity(3), [[1.0]]), ValueError, "size of `u`"),
        (lambda: L.LinearOperatorHouseholder([1.0], is_positive_definite=True), ValueError, "reflection"),
        (lambda: L.LinearOperatorPermutation([0.5]), TypeError, "whole numbers"),
        (lambda: L.LinearOperatorInversion(MAKERS["zeros"]()), ValueError, "singular"),
        (lambda: MAKERS["full wide"]().determinant(), NotImplementedError, "square"),
        (lambda: MAKERS["full wide"]().solve([[1.0], [2.0]]), NotImplementedError, "not square"),
        (lambda: MAKERS["full"]().cholesky(), ValueError, "is_positive_definite=True"),
        (lambda: MAKERS["full"]().eigvals(), NotImplementedError, "is_self_adjoint=True"),
        (lambda: tf.convert_to_tensor(MAKERS["full"]()), ValueError, "to_dense"),
        (lambda: tf.matmul(MAKERS["full"](), MAKERS["full"](), transpose_a=True), ValueError, "adjoint_a"),
    ],
)  # fmt: skip
def test_bad_input_says_what_is_wrong(make: Any, kind: type[Exception], words: str) -> None:
    with pytest.raises(kind, match=words):
        make()


def test_promises_are_checked_when_asked() -> None:
    L.LinearOperatorDiag([1.0, 2.0]).assert_positive_definite()
    MAKERS["full spd"]().assert_self_adjoint()
    MAKERS["full"]().assert_non_singular()
    for broken in (
        L.LinearOperatorDiag([0.0, 1.0]).assert_non_singular,
        L.LinearOperatorDiag([-1.0, 1.0]).assert_positive_definite,
        MAKERS["full"]().assert_self_adjoint,
        L.LinearOperatorFullMatrix([[1.0, 1.0], [1.0, 1.0]]).assert_non_singular,
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            broken()
