"""In a tape NumPy's answers are arrays to all who ask, lead back to tensors, and end with a write."""
# NumPy's stubs do not know that its functions take tensors.
# pyright: reportArgumentType=false

from __future__ import annotations

import copy
import gc
import io
import pickle
import threading
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf

X = np.array([[0.25, 1.5, 0.75], [2.0, 0.5, 1.125]], np.float32)


def taped(f: Callable[[Any], Any], x: Any = X) -> tuple[Any, Any]:
    """The target that a function makes in a tape, and its gradient."""
    x = tf.constant(x)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, x)


# Written in NumPy, and in operations.
SAME: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "array * tensor": (lambda x: np.sin(x) * x, lambda x: tf.sin(x) * x),
    "tensor * array": (lambda x: x * np.sin(x), lambda x: x * tf.sin(x)),
    "array * array": (lambda x: np.sin(x) * np.cos(x), lambda x: tf.sin(x) * tf.cos(x)),
    "array * number": (lambda x: 2 * np.sin(x) - 1, lambda x: 2 * tf.sin(x) - 1),
    "scalar": (lambda x: np.mean(x) * x, lambda x: tf.reduce_mean(x) * x),
    "scalar of scalars": (
        lambda x: np.exp(-np.sum(x)) * 3.0 + np.max(x) ** 2 / 2,
        lambda x: tf.exp(-tf.reduce_sum(x)) * 3.0 + tf.reduce_max(x) ** 2 / 2,
    ),
    "scalar * tensor": (lambda x: x * np.sum(x), lambda x: x * tf.reduce_sum(x)),
    "methods": (lambda x: x.mean(0).sum(), lambda x: tf.reduce_sum(tf.reduce_mean(x, 0))),
    "method of an array": (
        lambda x: np.sin(x).T.reshape(-1).max(),
        lambda x: tf.reduce_max(tf.sin(x)),
    ),
    "slice": (lambda x: np.exp(x)[1:, ::2] * 2.0, lambda x: tf.exp(x)[1:, ::2] * 2.0),
    "element": (lambda x: np.exp(x)[1, 2] * 2.0, lambda x: tf.exp(x)[1, 2] * 2.0),
    "rows by numbers": (lambda x: np.exp(x)[[0, 0, 1]], lambda x: tf.gather(tf.exp(x), [0, 0, 1])),
    "columns by numbers": (
        lambda x: np.exp(x)[:, [2, 0]],
        lambda x: tf.gather(tf.exp(x), [2, 0], axis=1),
    ),
    "places": (
        lambda x: np.exp(x)[np.array([0, 1, 1]), [2, 0, 0]],
        lambda x: tf.gather_nd(tf.exp(x), [[0, 2], [1, 0], [1, 0]]),
    ),
    "rows": (
        lambda x: sum(r.sum() for r in np.exp(x)),
        lambda x: tf.reduce_sum(tf.exp(x)),
    ),
    "operation": (lambda x: tf.square(np.sin(x)), lambda x: tf.square(tf.sin(x))),
    "list": (
        lambda x: tf.concat([np.sin(x), np.tile(x, 2)], 1),
        lambda x: tf.concat([tf.sin(x), tf.tile(x, [1, 2])], 1),
    ),
    "stacked list": (
        lambda x: tf.constant([np.sum(x), np.max(x)]),
        lambda x: tf.stack([tf.reduce_sum(x), tf.reduce_max(x)]),
    ),
    "split": (lambda x: np.split(x, 3, axis=1)[1] * 2.0, lambda x: x[:, 1:2] * 2.0),
    "copies": (lambda x: copy.deepcopy(np.copy(np.sin(x)).copy()) * 2.0, lambda x: tf.sin(x) * 2.0),
    "wider array": (
        lambda x: np.multiply(x, X.astype(np.float64)),
        lambda x: tf.cast(x, tf.float64) * X,
    ),
    "float64 array beside a tensor": (
        lambda x: x * np.multiply(x, X.astype(np.float64)),
        lambda x: x * x * X,
    ),
    "astype": (
        lambda x: np.sin(x).astype(np.float64) * 2.0,
        lambda x: tf.cast(tf.sin(x), tf.float64) * 2.0,
    ),
    "function": (tf.function(lambda a: a * a), lambda x: tf.sin(x) * tf.sin(x)),
    "sum of squares": (lambda x: np.sum((x - np.mean(x)) ** 2), lambda x: tf.reduce_sum((x - tf.reduce_mean(x)) ** 2)),
}  # fmt: skip
SAME["function"] = (lambda x, f=SAME["function"][0]: f(np.sin(x)), SAME["function"][1])


@pytest.mark.parametrize("name", SAME)
def test_values_and_gradients_are_those_of_the_operations(name: str) -> None:
    in_numpy, in_operations = SAME[name]
    y, g = taped(in_numpy)
    z, h = taped(in_operations)
    np.testing.assert_allclose(y, z, rtol=1e-5)
    np.testing.assert_allclose(g, h, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_other_dtypes(dtype: str) -> None:
    x = tf.cast(X, dtype)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = np.square(x)
        z = np.sum(y)
        loss = z * tf.reduce_sum(x)
    assert isinstance(y, np.ndarray)
    assert y.dtype == z.dtype == x.dtype.as_numpy_dtype
    want = 2 * X * X.sum() + np.square(X).sum()
    np.testing.assert_allclose(tf.cast(tape.gradient(loss, x), tf.float32), want, rtol=2e-2)
    assert tape.gradient(y, x).dtype == dtype


def test_it_is_an_array_to_all_who_ask() -> None:
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        a, s = np.tile(x, 2), np.mean(x)
    assert isinstance(a, np.ndarray)
    assert isinstance(s, np.floating) and s.dtype == np.float32
    plain = np.tile(X, 2)
    assert repr(a) == repr(plain)
    assert str(a) == str(plain)
    assert repr(s) == repr(X.mean())
    assert f"{s:.2f}" == f"{X.mean():.2f}"
    assert hash(s) == hash(X.mean())
    assert type(np.asarray(a)) is np.ndarray
    assert float(s) == float(X.mean())
    assert type(pickle.loads(pickle.dumps(a))) is np.ndarray
    assert type(pickle.loads(pickle.dumps(s))) is np.float32
    file = io.BytesIO()
    np.save(file, a)
    file.seek(0)
    np.testing.assert_array_equal(np.load(file), plain)
    assert a.tolist() == plain.tolist()
    assert a.nbytes == plain.nbytes
    assert (a > 1).sum() == (plain > 1).sum()
    assert a.argmax() == plain.argmax()
    assert np.array_equal(a, plain)
    a[0] = 7.0
    assert a[0].tolist() == [7.0] * 6


def test_probabilities_are_drawn_from() -> None:
    action = 0
    logits = tf.constant([[0.1, 0.7, 0.3, 0.9, 0.2, 0.55, 0.85]])
    state = np.random.RandomState(0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(logits)
        probs = tf.nn.softmax(logits)
        for _ in range(20):
            action = state.choice(7, p=np.squeeze(probs))
        np.random.default_rng(0).choice(7, p=np.squeeze(probs))
        loss = tf.math.log(np.squeeze(probs)[action])
    assert tape.gradient(loss, logits) is not None
    state.choice(7, p=np.squeeze(tf.nn.softmax(logits)))


def _through_a_plain_view(a: Any) -> None:
    np.asarray(a)[0, 0] = 9.0


def _assign(a: Any) -> None:
    a[0, 0] = 9.0


def _same_value(a: Any) -> None:
    a[...] = np.array(a)


def _view(a: Any) -> None:
    a[0][0] = 9.0


def _transposed(a: Any) -> None:
    a.T[0] = 9.0


def _in_place(a: Any) -> None:
    a += 1.0


def _flat(a: Any) -> None:
    a.flat[0] = 9.0


def _memory(a: Any) -> None:
    memory: Any = memoryview(a)
    memory[0, 0] = 9.0


WRITES: list[Callable[[Any], Any]] = [
    _through_a_plain_view, _assign, _same_value, _view, _transposed, _in_place, _flat, _memory,
    lambda a: np.copyto(a, 2.0), lambda a: np.add(a, 1.0, out=a), lambda a: np.add.at(a, 0, 1.0),
    lambda a: a.fill(3.0), lambda a: a.sort(), lambda a: np.put(a, [0], 9.0),
    lambda a: np.putmask(a, a > 0, 9.0), lambda a: np.place(a, a > 0, [9.0]),
    lambda a: np.fill_diagonal(a, 9.0), lambda a: np.sum(X, axis=0, out=a[0]),
    lambda a: np.cumsum(a, axis=1, out=a), lambda a: np.clip(a, 0.5, 0.6, a),
    lambda a: np.random.default_rng(3).shuffle(a), lambda a: a.view().fill(2.0),
    lambda a: setattr(a, "real", 4.0), lambda a: a.reshape(-1).put(0, 9.0),
    lambda a: np.random.default_rng(3).standard_normal(out=np.asarray(a), dtype=np.float32),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(WRITES)))
@pytest.mark.parametrize("first", [False, True])
def test_a_write_ends_the_link(k: int, first: bool) -> None:
    x = tf.constant(X)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a = np.sin(x)
        before = tf.identity(a) if first else None
        WRITES[k](a)
        now = np.array(a)
        y = tf.reduce_sum(a * tf.ones(a.shape)) + 0.0 * tf.reduce_sum(x)
        z = np.mean(a)
    np.testing.assert_allclose(y, now.sum(), rtol=1e-6)
    np.testing.assert_allclose(z, now.mean(), rtol=1e-6)
    np.testing.assert_array_equal(tape.gradient(y, x), np.zeros_like(X))
    if before is not None:  # what was made of the array earlier keeps its value and its gradient
        np.testing.assert_array_equal(before, np.sin(X))
        np.testing.assert_allclose(tape.gradient(before, x), np.cos(X), rtol=1e-6)


def test_a_changed_shape_ends_the_link() -> None:
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        a = np.sin(x).view()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy advises against it
            a.shape = (3, 2)
        y = tf.reduce_sum(a) * x
    assert a.shape == (3, 2)
    np.testing.assert_allclose(tape.gradient(y, x), np.full_like(X, np.sin(X).sum()), rtol=1e-6)


def test_the_tape_names_the_line_where_numpy_cut() -> None:
    x = tf.constant(X)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a = np.sin(x)
        a[0] = 1.0  # WRITTEN
        y = tf.reduce_sum(a)
        z = tf.reduce_sum(np.cbrt(x))  # CUBED
    for target, mark, text in ((y, "# WRITTEN", "a[0]"), (z, "# CUBED", "np.cbrt(x)")):
        found = tape.explain(target, x)
        assert found.codes == ["WG113"]
        assert found[0].certain
        assert mark in found[0].site.text
        assert text in found[0].cause
    with pytest.warns(UserWarning, match="WG113"):
        assert tape.gradient(z, x) is None


def test_results_of_other_tensors_are_plain() -> None:
    x, y = tf.constant(X), tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        assert type(np.sin(y)) is np.ndarray
        assert type(np.sum(y)) is np.float32
        assert type(np.zeros_like(x)) is np.ndarray
        assert type(np.argmax(x)) is np.int64
        with tape.stop_recording():
            assert type(np.sin(x)) is np.ndarray
        a = np.sin(x)
    assert type(np.sin(x)) is np.ndarray
    assert type(a * 2) is np.ndarray


def test_arguments_that_the_operation_does_not_know_are_never_linked() -> None:
    x = tf.constant(X)
    out = np.zeros_like(X)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        assert np.multiply(x, 2.0, out=out) is out
        masked = np.log(x, where=X > 1, out=np.zeros_like(X))
        y = tf.reduce_sum(masked) + 0.0 * tf.reduce_sum(x)
        total = np.sum(x, where=X > 1) * tf.reduce_sum(x)
    np.testing.assert_array_equal(tape.gradient(y, x), np.zeros_like(X))
    np.testing.assert_allclose(tape.gradient(total, x), np.full_like(X, X[X > 1].sum()))


def test_second_order_nested_and_forward() -> None:
    x = tf.constant(X)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = np.sum(np.power(x, 3) * np.sin(x))
        g = inner.gradient(y, x)
        again = np.square(g)
    h = outer.gradient(again, x)
    slope = 3 * X**2 * np.sin(X) + X**3 * np.cos(X)
    second = 6 * X * np.sin(X) + 6 * X**2 * np.cos(X) - X**3 * np.sin(X)
    np.testing.assert_allclose(g, slope, rtol=1e-5)
    np.testing.assert_allclose(h, 2 * slope * second, rtol=1e-4)
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as forward:
        y = np.sin(x) * 2
    np.testing.assert_allclose(forward.jvp(y), 2 * np.cos(X), rtol=1e-6)


def test_an_array_as_source_and_watched() -> None:
    x = tf.constant(X)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        a = np.sin(x)
        y = tf.reduce_sum(a * a)
    np.testing.assert_allclose(tape.gradient(y, a), 2 * np.sin(X), rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(a, x), np.cos(X), rtol=1e-6)
    np.testing.assert_allclose(
        tape.gradient([y, a], [x])[0], (2 * np.sin(X) + 1) * np.cos(X), rtol=1e-5
    )
    a[0] = 1.0
    with pytest.raises(TypeError, match="target must be a tensor"):
        tape.gradient(a, x)
    with tf.GradientTape() as tape, pytest.raises(ValueError, match="watch"):
        tape.watch(np.sin(x))


def test_variables_and_assignments() -> None:
    v = tf.Variable(X)
    with tf.GradientTape() as tape:
        a = np.squeeze(v)
        b = np.sin(v)
        v.assign_add(tf.ones_like(v))
        y = tf.reduce_sum(a * b)
    np.testing.assert_array_equal(a, X)
    np.testing.assert_allclose(y, (X * np.sin(X)).sum(), rtol=1e-6)
    np.testing.assert_allclose(tape.gradient(y, v), np.sin(X) + X * np.cos(X), rtol=1e-5)


def test_training_goes_on_through_numpy() -> None:
    v = tf.Variable([3.0, -2.0])
    for _ in range(60):
        with tf.GradientTape() as tape:
            loss = np.mean(np.square(v - np.array([1.0, 2.0], np.float32)))
        v.assign_sub(0.2 * tape.gradient(loss, v))
    np.testing.assert_allclose(v, [1.0, 2.0], atol=1e-3)


def test_in_functions_operations_take_over() -> None:
    v = tf.Variable(X)

    @tf.function
    def f(x: Any, c: Any) -> Any:
        return np.sin(x) + np.cos(v) + np.ones((2, 3)) * v + np.multiply(c, x) + c * x

    with tf.GradientTape() as tape:
        c = np.exp(v)
        y = f(tf.constant(X), c)
    want = np.sin(X) + np.cos(X) + X + 2 * np.exp(X) * X
    np.testing.assert_allclose(y, want, rtol=1e-5)
    np.testing.assert_allclose(tape.gradient(y, v), 1 - np.sin(X) + 2 * np.exp(X) * X, rtol=1e-5)


def test_memory_is_freed_with_the_array() -> None:
    x = tf.constant(X)
    gc.disable()
    try:
        with tf.GradientTape() as tape:
            tape.watch(x)
            a = np.sin(x)
            tensor = weakref.ref(a._link.tensor)  # type: ignore[attr-defined]  # of a linked array
        del tape
        assert tensor() is not None
        del a
        assert tensor() is None
    finally:
        gc.enable()


def test_threads_have_tapes_of_their_own() -> None:
    x = tf.constant(X)
    kinds: list[Any] = []

    def work() -> None:
        kinds.append(type(np.sin(x)))
        kinds.append(taped(lambda t: np.sum(np.sin(t)) * 2.0)[1].numpy().tolist())

    with tf.GradientTape() as tape:
        tape.watch(x)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert kinds.count(np.ndarray) == 4
    assert len([k for k in kinds if k == (2 * np.cos(X)).tolist()]) == 4
