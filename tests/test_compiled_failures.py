"""What raises eagerly for bad values raises in compiled code too, in the same words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.engines.executables import EXECUTABLES

X = np.arange(12.0, dtype=np.float32).reshape(4, 3)
SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]])
GOOD = np.array([[2.0, 1.0], [1.0, 3.0]])
NAN = float("nan")


def ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


# name: (function, arguments that fail, arguments that do not)
Case = tuple[Callable[..., Any], tuple[Any, ...], tuple[Any, ...]]
CASES: dict[str, Case] = {
    "gather": (lambda x, i: tf.gather(x, i), (X, ints(0, 4)), (X, ints(0, 3))),
    "gather of a negative index": (lambda x, i: tf.gather(x, i), (X, ints(-1)), (X, ints(0))),
    "gather along an axis": (
        lambda x, i: tf.gather(x, i, axis=1),
        (X, np.array([3])),
        (X, np.array([2])),
    ),
    "gather in batches": (
        lambda x, i: tf.gather(x, i, batch_dims=1),
        (X, ints([0], [0], [5], [0])),
        (X, ints([0], [0], [2], [0])),
    ),
    "gather by bytes": (
        lambda x, i: tf.gather(x, i),
        (X, np.array([200], np.uint8)),
        (X, np.array([2], np.uint8)),
    ),
    "gather_nd": (
        lambda x, i: tf.gather_nd(x, i),
        (X, ints([3, 3])),
        (X, ints([3, 2])),
    ),
    "gather_nd in batches": (
        lambda x, i: tf.gather_nd(x, i, batch_dims=1),
        (X, ints([0], [0], [-2], [0])),
        (X, ints([0], [0], [2], [0])),
    ),
    "embedding_lookup": (
        lambda x, i: tf.nn.embedding_lookup(x, i),
        (X, ints(9)),
        (X, ints(1)),
    ),
    "getitem": (lambda x, i: x[i], (X, np.int32(4)), (X, np.int32(-4))),
    "getitem of a later axis": (lambda x, i: x[:, i], (X, np.int32(-4)), (X, np.int32(2))),
    "slice": (
        lambda x, i: tf.slice(x, [i, 0], [2, 3]),
        (X, np.int32(3)),
        (X, np.int32(2)),
    ),
    "scatter_nd": (
        lambda i, u: tf.scatter_nd(i, u, [3]),
        (ints([3]), np.ones(1)),
        (ints([2]), np.ones(1)),
    ),
    "tensor_scatter_nd_update": (
        lambda x, i, u: tf.tensor_scatter_nd_update(x, i, u),
        (X, ints([0, 3]), np.ones(1, np.float32)),
        (X, ints([0, 2]), np.ones(1, np.float32)),
    ),
    "tensor_scatter_nd_add": (
        lambda x, i, u: tf.tensor_scatter_nd_add(x, i, u),
        (X, ints([-1, 0]), np.ones(1, np.float32)),
        (X, ints([1, 0]), np.ones(1, np.float32)),
    ),
    "tensor_scatter_nd_sub": (
        lambda x, i, u: tf.tensor_scatter_nd_sub(x, i, u),
        (X, ints([4, 0]), np.ones(1, np.float32)),
        (X, ints([1, 0]), np.ones(1, np.float32)),
    ),
    "tensor_scatter_nd_min": (
        lambda x, i, u: tf.tensor_scatter_nd_min(x, i, u),
        (X, ints([4, 0]), np.ones(1, np.float32)),
        (X, ints([1, 0]), np.ones(1, np.float32)),
    ),
    "tensor_scatter_nd_max": (
        lambda x, i, u: tf.tensor_scatter_nd_max(x, i, u),
        (X, ints([4, 0]), np.ones(1, np.float32)),
        (X, ints([1, 0]), np.ones(1, np.float32)),
    ),
    "IndexedSlices": (
        lambda v, i: tf.convert_to_tensor(tf.IndexedSlices(v, i, [3, 3])),
        (X[:1], ints(3)),
        (X[:1], ints(2)),
    ),
    "floordiv": (lambda x, y: x // y, (ints(1, 2), ints(1, 0)), (ints(1, 2), ints(1, 3))),
    "floormod": (lambda x, y: x % y, (ints(1, 2), np.int32(0)), (ints(1, 2), np.int32(2))),
    "truncatediv": (
        lambda x, y: tf.truncatediv(x, y),
        (ints(1, 2), ints(1, 0)),
        (ints(1, 2), ints(1, 3)),
    ),
    "truncatemod": (
        lambda x, y: tf.truncatemod(x, y),
        (ints(1, 2), ints(1, 0)),
        (ints(1, 2), ints(1, 3)),
    ),
    "pow": (lambda x, y: x**y, (ints(1, 2), ints(1, -1)), (ints(1, 2), ints(1, 3))),
    "inv": (lambda x: tf.linalg.inv(x), (SINGULAR,), (GOOD,)),
    "inv in a stack": (
        lambda x: tf.linalg.inv(x),
        (np.stack([GOOD, SINGULAR]),),
        (np.stack([GOOD, GOOD]),),
    ),
    "solve": (lambda a, b: tf.linalg.solve(a, b), (SINGULAR, GOOD), (GOOD, GOOD)),
    "solve of the adjoint": (
        lambda a, b: tf.linalg.solve(a, b, adjoint=True),
        (SINGULAR, GOOD),
        (GOOD, GOOD),
    ),
    "lu": (lambda x: tf.linalg.lu(x)[0], (np.zeros((2, 2)),), (GOOD,)),
    "lu_solve": (
        lambda x, p, b: tf.linalg.lu_solve(x, p, b),
        (GOOD, ints(0, 2), GOOD),
        (GOOD, ints(0, 1), GOOD),
    ),
    "gradient of det": (
        lambda x: _gradient(tf.linalg.det, x),
        (SINGULAR,),
        (GOOD,),
    ),
    "unsorted_segment_sum": (
        lambda x, i: tf.math.unsorted_segment_sum(x, i, 2),
        (X, ints(0, 1, 2, -1)),
        (X, ints(0, 1, 1, -1)),
    ),
    "unsorted_segment_mean": (
        lambda x, i: tf.math.unsorted_segment_mean(x, i, 2),
        (X, ints(0, 1, 2, -1)),
        (X, ints(0, 1, 1, -1)),
    ),
    "unsorted_segment_max": (
        lambda x, i: tf.math.unsorted_segment_max(x, i, 2),
        (X, ints(0, 1, 2, -1)),
        (X, ints(0, 1, 1, -1)),
    ),
    "invert_permutation": (
        lambda x: tf.math.invert_permutation(x),
        (ints(0, 2, 2),),
        (ints(0, 2, 1),),
    ),
    "unravel_index": (
        lambda i: tf.unravel_index(i, [2, 3]),
        (ints(6),),
        (ints(5),),
    ),
    "reverse_sequence": (
        lambda x, n: tf.reverse_sequence(x, n, seq_axis=1),
        (X, ints(0, 1, 4, 2)),
        (X, ints(0, 1, 3, 2)),
    ),
    "bincount": (
        lambda x: tf.math.bincount(x, minlength=3, maxlength=3),
        (ints(0, -1),),
        (ints(0, 5),),
    ),
    "confusion_matrix": (
        lambda a, b: tf.math.confusion_matrix(a, b, 3),
        (ints(0, 3), ints(0, 1)),
        (ints(0, 2), ints(0, 1)),
    ),
    "confusion_matrix of negative classes": (
        lambda a, b: tf.math.confusion_matrix(a, b, 3),
        (ints(0, 1), ints(0, -1)),
        (ints(0, 2), ints(0, 1)),
    ),
    "histogram_fixed_width": (
        lambda x: tf.histogram_fixed_width(x, [0.0, 1.0], 2),
        (np.array([0.5, NAN], np.float32),),
        (np.array([0.5, 0.1], np.float32),),
    ),
    "histogram_fixed_width of a bad range": (
        lambda x, r: tf.histogram_fixed_width(x, r, 2),
        (X, np.array([1.0, 0.0], np.float32)),
        (X, np.array([0.0, 1.0], np.float32)),
    ),
}  # fmt: skip
each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


def _gradient(function: Callable[..., Any], x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


def failure(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[type, str]:
    with pytest.raises(Exception) as info:  # noqa: PT011  # which one, the caller compares
        function(*[tf.constant(a) for a in args])
    return type(info.value), str(info.value)


@each_case
def test_compiled_code_fails_as_eager_code_does(case: Case) -> None:
    function, bad, good = case
    compiled = tf.function(function, jit_compile=True, autograph=False)
    kind, text = failure(function, bad)
    assert issubclass(kind, ValueError)
    assert failure(compiled, bad) == (kind, text)
    given = [tf.constant(a) for a in good]
    np.testing.assert_allclose(compiled(*given), function(*given), rtol=1e-6)


def test_a_failed_step_leaves_variables_as_they_were() -> None:
    table = tf.Variable(tf.ones([3, 2]))
    count = tf.Variable(0)

    @tf.function(jit_compile=True)
    def step(i: Any) -> Any:
        count.assign_add(1)
        table.assign(table * 2.0)
        return tf.gather(table, i)

    with pytest.raises(IndexError, match=r"gather: index 3 is outside \[0, 3\)"):
        step(tf.constant([0, 3]))
    assert count.numpy() == 0
    assert np.array_equal(table.numpy(), np.ones((3, 2)))
    assert np.array_equal(step(tf.constant([0])), [[2.0, 2.0]])
    assert count.numpy() == 1


def test_a_failure_inside_a_loop_and_a_branch_is_raised() -> None:
    @tf.function(jit_compile=True)
    def total(x: Any, steps: Any) -> Any:
        def turn(i: Any, found: Any) -> Any:
            picked = tf.cond(i > 0, lambda: tf.gather(x, i), lambda: x[0])
            return i + 1, found + picked

        return tf.while_loop(lambda i, _: i < steps, turn, (tf.constant(0), tf.constant(0.0)))[1]

    x = tf.constant([1.0, 2.0, 4.0])
    assert total(x, tf.constant(3)).numpy() == 7.0
    with pytest.raises(IndexError, match=r"gather: index 3 is outside \[0, 3\)"):
        total(x, tf.constant(4))


def test_the_line_of_the_failing_operation_is_named() -> None:
    @tf.function(jit_compile=True)
    def pick(x: Any, i: Any) -> Any:
        x = x + 1.0
        return tf.gather(x, i)  # the line

    with pytest.raises(IndexError) as info:
        pick(tf.constant([1.0]), tf.constant([1]))
    assert "# the line" in "".join(info.value.__notes__)


def test_what_is_known_to_be_good_is_not_checked() -> None:
    from wengert.engines.executables import Executable

    def steady(x: Any, i: Any) -> Any:
        return tf.gather(x, [0, 2]), i // 2, i % 3, i**2, tf.scatter_nd([[1]], x[:1], [3])

    given = [tf.constant([1.0, 2.0, 3.0]), tf.constant([4, 5])]
    function = tf.function(steady, jit_compile=True)
    function(*given)
    graph = function.get_concrete_function(*given).graph
    (found,) = graph.cache[EXECUTABLES].values()
    assert isinstance(found, Executable)
    assert not found.flagged


def test_what_is_known_while_compiling_needs_no_flag() -> None:
    def loss(labels: Any) -> Any:
        def f(logits: Any) -> Any:
            return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)

        return tf.function(f, jit_compile=True)

    logits = tf.zeros([3, 5])
    fine, bad = loss(tf.constant([0, 4, 2])), loss(tf.constant([0, 5, 2]))
    np.testing.assert_allclose(fine(logits), np.full(3, np.log(5.0)), rtol=1e-6)
    (program,) = fine.get_concrete_function(logits).graph.cache[EXECUTABLES].values()
    assert not program.flagged
    with pytest.raises(tf.errors.InvalidArgumentError, match="5"):
        bad(logits)


@pytest.mark.parametrize("kind", ["scatter_add", "scatter_sub", "scatter_update", "scatter_max"])
def test_a_sparse_update_touches_its_rows_only(kind: str) -> None:
    start = np.arange(40.0).reshape(20, 2)
    table = tf.Variable(start)

    @tf.function(jit_compile=True)
    def step(places: Any, rows: Any) -> Any:
        getattr(table, kind)(tf.IndexedSlices(rows, places))
        return tf.reduce_sum(tf.gather(table, places))

    rows = tf.constant([[50.0, 60.0], [70.0, 80.0]], tf.float64)
    eager = tf.Variable(start)
    for places in ([3, 7], [0, 19]):
        getattr(eager, kind)(tf.IndexedSlices(rows, tf.constant(places)))
        step(tf.constant(places), rows)
        np.testing.assert_array_equal(table, eager)
    with pytest.raises(tf.errors.InvalidArgumentError):
        step(tf.constant([4, 20]), rows)
    np.testing.assert_array_equal(table, eager)
    graph = step.get_concrete_function(tf.constant([0, 0]), rows).graph
    (program,) = graph.cache[EXECUTABLES].values()
    chosen = [line for line in program.lowered_text().splitlines() if "select" in line]
    assert program.flagged and chosen and not any("tensor<20x2x" in line for line in chosen)
