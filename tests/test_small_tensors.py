"""The short ways that small eager operations take must say what the long ones say."""

from __future__ import annotations

import operator
import threading
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.core.op import RecordingPlan
from wengert.tape.entries import full_form
from wengert.testing import check_gradients

OPERATORS = {
    "add": (operator.add, tf.add),
    "sub": (operator.sub, tf.subtract),
    "mul": (operator.mul, tf.multiply),
    "pow": (operator.pow, tf.pow),
    "floordiv": (operator.floordiv, tf.math.floordiv),
    "lt": (operator.lt, tf.less),
}
NEIGHBOURS: dict[str, Any] = {
    "tensor": lambda: tf.constant([[2.0, 3.0], [4.0, 5.0]]),
    "row": lambda: tf.constant([2.0, 3.0]),
    "scalar": lambda: tf.constant(2.0),
    "number": lambda: 2.5,
    "zero": lambda: -0.0,
    "variable": lambda: tf.Variable([[2.0, 3.0], [4.0, 5.0]]),
    "bias": lambda: tf.Variable([2.0, 3.0]),
    "frozen": lambda: tf.Variable([2.0, 3.0], trainable=False),
}


def _entries(function: Any, x: Any, y: Any, watched: list[Any]) -> list[Any]:
    """What a tape notes of `function(x, y)`, without what differs from call to call."""
    with tf.GradientTape() as tape:
        tape.watch([w for w in watched if isinstance(w, tf.Tensor)])
        function(x, y)
    found = []
    for entry in tape._entries:
        op, plan, ids, _, inputs, outs, shapes, attrs, _, specs, _ = full_form(entry)
        assert isinstance(plan, RecordingPlan)
        kept = [None if t is None else (type(t), t._id) for t in inputs or ()]
        found.append((op, plan, ids, kept, len(outs or ()), shapes, attrs, specs))
    cuts = [(step.name, step.inputs) for step in tape._cuts]
    return [found, cuts, {v.ref() for v in tape.watched_variables()}]


@pytest.mark.parametrize("neighbour", NEIGHBOURS)
@pytest.mark.parametrize("symbol", OPERATORS)
@pytest.mark.parametrize("which", ["left", "right", "both", "none"])
def test_infix_operators_are_recorded_as_the_functions_are(
    symbol: str, neighbour: str, which: str
) -> None:
    infix, function = OPERATORS[symbol]
    x, y = tf.constant([[1.5, 2.5], [3.5, 4.5]]), NEIGHBOURS[neighbour]()
    watched = {"left": [x], "right": [y], "both": [x, y], "none": []}[which]
    assert _entries(infix, x, y, watched) == _entries(function, x, y, watched)
    if symbol != "lt":  # its reflected form is another operator
        assert _entries(infix, y, x, watched) == _entries(function, y, x, watched)


@pytest.mark.parametrize("symbol", ["add", "sub", "mul", "pow"])
@pytest.mark.parametrize("value", [2.5, -0.0, 0.0, float("inf"), float("nan"), 3, True])
def test_numbers_on_the_left_keep_their_value_and_sign(symbol: str, value: Any) -> None:
    infix, _ = OPERATORS[symbol]
    x = tf.constant([1.0, -0.0, 4.0])
    if value is True:
        value = 1.0
    for _ in range(2):  # the second time the number is known
        for other in (0.0, -0.0, value):
            with np.errstate(all="ignore"):
                wanted = infix(np.float32(other), x._array)
            found = infix(other, x).numpy()
            np.testing.assert_array_equal(found, wanted)
            np.testing.assert_array_equal(np.signbit(found), np.signbit(wanted))


def test_numbers_on_the_left_take_the_type_of_what_they_meet() -> None:
    for dtype in (tf.float32, tf.float64, tf.float16, tf.complex64):
        for _ in range(2):
            assert (0.5 * tf.constant([1, 2], dtype)).dtype is dtype
    with pytest.raises(TypeError, match=r"multiply|convert_to_tensor|float"):
        0.5 * tf.constant([1, 2])


def _logits(rows: int, classes: int, dtype: Any = np.float32) -> Any:
    r = np.random.default_rng(3)
    return tf.constant(r.standard_normal((rows, classes)).astype(dtype)), tf.constant(
        r.integers(0, classes, rows)
    )


def _reference(logits: np.ndarray, labels: np.ndarray) -> np.ndarray:
    z = logits.astype(np.float64)
    p = np.exp(z - z.max(-1, keepdims=True))
    p /= p.sum(-1, keepdims=True)
    return p - np.eye(z.shape[-1])[labels]


def _loss(labels: Any, logits: Any) -> Any:
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


@pytest.mark.parametrize("rows", [1, 5, 3000])  # the last are too many to be kept
def test_the_kept_softmax_gives_the_gradient_of_the_cross_entropy(rows: int) -> None:
    logits, labels = _logits(rows, 10)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(logits)
        loss = _loss(labels, logits)
    (entry,) = tape._entries
    assert (entry[7] is not None) == (rows < 3000)
    wanted = _reference(logits.numpy(), labels.numpy())
    first, second = tape.gradient(loss, logits), tape.gradient(loss, logits)
    np.testing.assert_allclose(first, wanted, atol=1e-6)
    np.testing.assert_array_equal(first, second)  # what is kept is not written to
    half = tape.gradient(loss, logits, 0.5 * tf.ones_like(loss))
    np.testing.assert_allclose(half, 0.5 * wanted, atol=1e-6)


def test_the_kept_softmax_is_counted_and_freed_with_the_tape() -> None:
    logits, labels = _logits(32, 10)
    with tf.GradientTape() as tape:
        tape.watch(logits)
        _loss(labels, logits)
    assert tape.memory_report().bytes == 2 * 32 * 10 * 4 + 32 * 8  # softmax, logits, labels


def test_cross_entropies_of_several_axes_and_orders() -> None:
    r = np.random.default_rng(5)
    logits = tf.constant(r.standard_normal((2, 3, 4)))
    labels = tf.constant(r.integers(0, 4, (2, 3)))
    weights = r.standard_normal(logits.shape)
    check_gradients(lambda z: _loss(labels, z), [logits], order=2)
    with tf.GradientTape() as outer:
        outer.watch(logits)
        with tf.GradientTape() as inner:
            inner.watch(logits)
            loss = tf.reduce_sum(_loss(labels, logits) ** 2)
        weighted = inner.gradient(loss, logits) * weights
    second = outer.gradient(weighted, logits)
    step = 1e-6 * r.standard_normal(logits.shape)

    def gradient(z: Any) -> np.ndarray:
        with tf.GradientTape() as tape:
            tape.watch(z)
            loss = tf.reduce_sum(_loss(labels, z) ** 2)
        return tape.gradient(loss, z).numpy()

    ahead = ((gradient(logits + step) - gradient(logits - step)) * weights).sum() / 2
    np.testing.assert_allclose((second.numpy() * step).sum(), ahead, rtol=1e-5)


def test_threads_do_not_take_the_softmax_of_another() -> None:
    wrong: list[str] = []

    def work(seed: int) -> None:
        r = np.random.default_rng(seed)
        for _ in range(200):
            logits = tf.constant(r.standard_normal((4, 3)).astype(np.float32))
            labels = tf.constant(r.integers(0, 3, 4))
            with tf.GradientTape() as tape:
                tape.watch(logits)
                loss = _loss(labels, logits)
            g = tape.gradient(loss, logits).numpy()
            if not np.allclose(g, _reference(logits.numpy(), labels.numpy()), atol=1e-5):
                wrong.append(f"thread {seed}")

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.parametrize("shape", [(1,), (7,), (3, 4), (2, 3, 4), (5000,), (1, 1)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sums_of_everything(shape: tuple[int, ...], keepdims: bool) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    for view in (x, x[::2], x.T):
        for function, numpy in ((tf.reduce_sum, np.sum), (tf.reduce_mean, np.mean)):
            found = function(tf.constant(view), keepdims=keepdims)
            wanted = numpy(view.astype(np.float64), keepdims=keepdims)
            assert found.shape == wanted.shape
            assert found.dtype is tf.float32
            np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=2e-6)
    odd = x.copy()
    odd.flat[0] = np.inf
    assert np.isposinf(tf.reduce_sum(odd).numpy())
    odd.flat[0] = np.nan
    assert np.isnan(tf.reduce_mean(odd).numpy())


@pytest.mark.parametrize("shape", [(64, 17, 16), (20000, 3), (1000, 100), (16384, 1), (3, 8000)])
def test_a_bias_on_many_rows(shape: tuple[int, ...]) -> None:
    r = np.random.default_rng(0)
    x, b = r.standard_normal(shape).astype(np.float32), r.standard_normal(shape[-1:])
    bias = tf.Variable(b.astype(np.float32))
    for infix in (operator.add, operator.sub, operator.mul):
        with tf.GradientTape() as tape:
            y = infix(tf.constant(x), bias)
        np.testing.assert_array_equal(y, infix(x, bias.numpy()))
        g = tape.gradient(y, bias)
        assert g.shape == bias.shape
    np.testing.assert_array_equal(tf.nn.bias_add(x, bias), x + bias.numpy())
    if shape[-1] > 1:
        long = tf.Variable(np.ones(shape[-1] + 1, np.float32))
        with pytest.raises(tf.errors.InvalidArgumentError, match="add: shapes"):
            tf.constant(x) + long


@pytest.mark.parametrize("method", ["assign_add", "assign_sub"])
def test_updates_leave_the_value_when_they_do_not_fit(method: str) -> None:
    v = tf.Variable([1.0, 2.0])
    for bad in (tf.constant([1.0, 2.0, 3.0]), tf.constant([1, 2]), [[1.0, 2.0]]):
        with pytest.raises((ValueError, TypeError)):
            getattr(v, method)(bad)
        np.testing.assert_array_equal(v, [1.0, 2.0])
    assert getattr(v, method)(tf.constant([1.0, 1.0]), read_value=False) is None
    assert getattr(v, method)(1.0 * tf.ones(2)) is v
    assert getattr(tf.Variable, method).__name__ == method


def test_updates_do_not_write_to_what_others_hold() -> None:
    v = tf.Variable([1.0, 2.0])
    before = v.read_value()
    v.assign_sub(tf.constant([1.0, 1.0]))
    np.testing.assert_array_equal(before, [1.0, 2.0])
    with tf.GradientTape() as tape:
        y = v * v
        v.assign_add(tf.constant([5.0, 5.0]))
    np.testing.assert_array_equal(tape.gradient(y, v), [0.0, 2.0])


def test_gradients_overflow_quietly_where_numpy_is_to_raise() -> None:
    scalar, column = tf.Variable(1.0), tf.Variable([[1.0], [1.0]])
    x = tf.constant([1.0, 1.0])
    with np.errstate(all="raise"):
        with tf.GradientTape() as tape:
            y = tf.fill((3, 2, 2), 3e38) * scalar
        assert np.isposinf(tape.gradient(y, scalar).numpy())
        with tf.GradientTape() as tape:
            y = tf.fill((2, 5000), 3e38) * column
        assert np.isposinf(tape.gradient(y, column).numpy()).all()
        with tf.GradientTape() as tape:
            tape.watch(x)
            z = x * 1.0  # its gradients are added up on the way
            y = z * 3e38 + z * 3e38
        assert np.isposinf(tape.gradient(y, x).numpy()).all()
