"""NumPy functions on tensors: arrays, which tapes follow where an operation of that meaning exists."""
# NumPy's stubs do not know that its functions take tensors.
# pyright: reportArgumentType=false, reportCallIssue=false, reportAttributeAccessIssue=false

from __future__ import annotations

import collections
import io
import pydoc
from typing import Any

import numpy as np
import pytest

import wengert as tf

X = np.array([[0.3, 1.2, 0.7], [2.0, 0.5, 1.1]], np.float32)
Y = np.array([[1.5, 0.2, 0.4], [0.6, 0.9, 2.2]], np.float32)

UFUNCS = {
    "sin": (np.sin, tf.sin),
    "exp": (np.exp, tf.exp),
    "abs": (np.abs, tf.abs),
    "log": (np.log, tf.math.log),
    "sqrt": (np.sqrt, tf.sqrt),
    "tanh": (np.tanh, tf.tanh),
    "arctan": (np.arctan, tf.atan),
    "square": (np.square, tf.square),
    "negative": (np.negative, tf.negative),
    "log2": (np.log2, lambda x: tf.math.log(x) / np.log(2.0)),
    "exp2": (np.exp2, lambda x: 2.0**x),
}


def gradient(f: Any, *args: Any) -> Any:
    xs = [tf.constant(a) for a in args]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = f(*xs)
    assert isinstance(y, np.ndarray | np.generic | tf.Tensor)
    return y, tape.gradient(y, xs)


@pytest.mark.parametrize("name", UFUNCS)
def test_a_ufunc_is_our_operation_and_is_recorded(name):
    theirs, ours = UFUNCS[name]
    y, (g,) = gradient(theirs, X)
    z, (h,) = gradient(ours, X)
    np.testing.assert_allclose(y, theirs(X), rtol=1e-6)
    np.testing.assert_allclose(y, z, rtol=1e-6)
    np.testing.assert_allclose(g, h, rtol=1e-6)


TWO = (np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.power, np.arctan2,
       np.hypot, np.logaddexp, np.floor_divide, np.mod)  # fmt: skip


@pytest.mark.parametrize("ufunc", TWO, ids=lambda f: f.__name__)
def test_a_ufunc_of_array_and_tensor_on_either_side(ufunc):
    want = ufunc(X, Y)
    for args in ((X, tf.constant(Y)), (tf.constant(X), Y), (tf.constant(X), tf.Variable(Y))):
        got = ufunc(*args)
        assert type(got) is np.ndarray
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_the_dtype_of_the_tensor_wins_over_that_of_an_array():
    t = tf.constant([1.0, 2.0])
    for got in (np.array([1.0, 1.0], np.float64) + t, np.arange(2.0) * t, np.float64(2.0) * t):
        assert got.dtype == tf.float32
        assert isinstance(got, tf.Tensor)
    assert (np.array([1, 2]) == tf.constant([1, 3])).dtype == tf.bool


FUNCTIONS: dict[str, Any] = {
    "sum": lambda x: np.sum(x, axis=0),
    "sum_all": np.sum,
    "prod": lambda x: np.prod(x, axis=1, keepdims=True),
    "mean": lambda x: np.mean(x, 1),
    "std": np.std,
    "var": lambda x: np.var(x, axis=0),
    "max": lambda x: np.max(x, axis=1),
    "amin": lambda x: np.amin(x, axis=1),
    "cumsum": lambda x: np.cumsum(x, axis=1),
    "cumsum_flat": np.cumsum,
    "cumprod": lambda x: np.cumprod(x, axis=0),
    "sort": np.sort,
    "dot": lambda x: np.dot(x, X.T),
    "dot_vector": lambda x: np.dot(x, X[0]),
    "matmul": lambda x: np.matmul(X.T, x),
    "matmul_vector": lambda x: np.matmul(x, X[0]),
    "matmul_row": lambda x: np.matmul(X[:, 0], x),
    "tensordot": lambda x: np.tensordot(x, X, ([1], [1])),
    "outer": lambda x: np.outer(x, X[0]),
    "einsum": lambda x: np.einsum("ij,kj->ik", x, X),
    "where": lambda x: np.where(X > 1, x, 0.0),
    "where_tensor": lambda x: np.where(x > 1, x, -x),
    "clip": lambda x: np.clip(x, 0.5, 1.15),
    "clip_below": lambda x: np.clip(x, 0.5, None),
    "concatenate": lambda x: np.concatenate([x, X], axis=1),
    "concatenate_flat": lambda x: np.concatenate([x, X], axis=None),
    "stack": lambda x: np.stack([x, X], axis=1),
    "split": lambda x: np.split(x, 3, axis=1)[1],
    "split_at": lambda x: np.split(x, [1, 2], axis=1)[2],
    "reshape": lambda x: np.reshape(x, (3, -1)),
    "ravel": np.ravel,
    "transpose": np.transpose,
    "transpose_axes": lambda x: np.transpose(x, (-1, 0)),
    "swapaxes": lambda x: np.swapaxes(x, 0, -1),
    "moveaxis": lambda x: np.moveaxis(x, 0, -1),
    "expand_dims": lambda x: np.expand_dims(x, (0, 2)),
    "squeeze": lambda x: np.squeeze(np.expand_dims(x, 1), axis=(1,)),
    "flip": lambda x: np.flip(x, 1),
    "roll": lambda x: np.roll(x, 2),
    "roll_axis": lambda x: np.roll(x, 1, axis=1),
    "tile": lambda x: np.tile(x, 2),
    "tile_more": lambda x: np.tile(x, (2, 1, 2)),
    "repeat": lambda x: np.repeat(x, 2, axis=1),
    "repeat_flat": lambda x: np.repeat(x, 2),
    "broadcast_to": lambda x: np.broadcast_to(x, (2, 2, 3)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_numpy_function_is_recorded_on_tapes(name):
    f = FUNCTIONS[name]
    y, (g,) = gradient(f, X)
    np.testing.assert_allclose(y, f(X), rtol=1e-5)
    assert g is not None
    assert g.shape == X.shape


def test_reductions_of_integers_answer_in_numpy_types():
    ints = np.array([[1, 2], [4, 5]], np.int32)
    t = tf.constant(ints)
    for f in (np.sum, np.prod, np.mean, np.std, np.var, np.cumsum, np.argmax, np.argmin):
        got, want = f(t), f(ints)
        assert got.dtype == want.dtype, f.__name__
        np.testing.assert_allclose(got, want)
    assert np.sum(tf.constant([True, True])) == 2
    assert bool(np.any(t))
    np.testing.assert_array_equal(np.all(t > 1, axis=0), [False, True])


def test_shape_questions_are_answered_in_python():
    t = tf.zeros([2, 3])
    assert np.shape(t) == (2, 3)
    assert np.ndim(t) == 2
    assert np.size(t) == 6


def test_what_has_no_operation_runs_in_numpy():
    t = tf.constant(X)
    assert np.array_equal(t, X)
    assert np.allclose(t, X)
    assert isinstance(np.linalg.norm(t), np.floating)
    np.testing.assert_allclose(np.cbrt(t), np.cbrt(X))
    np.testing.assert_allclose(np.add.reduce(t), X.sum(0), rtol=1e-6)
    np.testing.assert_allclose(np.sum(t, axis=0, dtype=np.float64), X.sum(0), rtol=1e-6)
    np.testing.assert_allclose(np.median(t), np.median(X))
    np.testing.assert_array_equal(np.where(t > 1), np.where(X > 1))
    assert isinstance(np.zeros_like(t), np.ndarray)
    file = io.BytesIO()
    np.save(file, t)
    file.seek(0)
    np.testing.assert_array_equal(np.load(file), X)


def test_functions_of_integers_that_we_refuse_run_in_numpy():
    t = tf.constant([1, 4, 9])
    got = np.sqrt(t)
    assert isinstance(got, np.ndarray)
    assert got.dtype == np.float64
    assert np.logical_and(tf.constant([1.0, 0.0]), True).tolist() == [True, False]
    assert np.add(tf.constant(1.0), tf.constant(1.0, tf.float64)).dtype == np.float64
    with pytest.raises(TypeError, match="same dtype"):
        tf.constant(1.0) + tf.constant(1.0, tf.float64)
    with pytest.raises((TypeError, ValueError)):
        np.array([1.5, 2.0]) * tf.constant([1, 2])


def test_out_goes_to_the_given_array():
    out = np.zeros_like(X)
    assert np.multiply(tf.constant(X), 2.0, out=out) is out
    np.testing.assert_allclose(out, 2 * X)
    a = X.copy()
    np.add(a, tf.constant(Y), out=a)
    np.testing.assert_allclose(a, X + Y)
    a += tf.constant(Y)
    assert isinstance(a, tf.Tensor), "as in TensorFlow"
    np.testing.assert_allclose(a, X + Y + Y)
    with pytest.raises(TypeError, match="ArrayType"):
        np.add(X, Y, out=tf.constant(X))


def test_assertions_of_numpy_take_tensors():
    np.testing.assert_allclose(tf.constant([1.0, 2.0]), [1.0, 2.0])
    np.testing.assert_array_equal([1, 2], tf.constant([1, 2]))
    with pytest.raises(AssertionError):
        np.testing.assert_array_equal(tf.constant([1, 2]), [1, 3])
    assert tf.constant([1.0, 2.0]).numpy() == pytest.approx([1.0, 2.0])


def test_methods_of_arrays_meet_tensors():
    a = X.copy()
    a[0] = tf.constant([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(a[0], [1, 2, 3])
    np.testing.assert_allclose(X.dot(tf.constant(Y.T)), X @ Y.T, rtol=1e-6)
    assert isinstance(X @ tf.constant(Y.T), tf.Tensor)
    assert np.arange(tf.constant(3)).tolist() == [0, 1, 2]


def test_array_methods_work_on_what_numpy_functions_return() -> None:
    x = tf.constant([[1.0, -2.0], [3.0, 4.0]])
    labels = np.array([0, 1])
    assert (np.argmax(x, 1) == labels).mean() == 1.0
    assert np.stack([x, x]).mean(0).tolist() == x.numpy().tolist()
    assert np.sum(x).item() == 6.0
    assert np.log(x[:, 1] * x[:, 1]).astype(np.float64).dtype == tf.float64
    assert x.astype(int).dtype == tf.int64
    assert x.T.shape == (2, 2) and x.size == 4 and x.nbytes == 16
    assert x.reshape(4).tolist() == x.reshape((-1,)).tolist() == x.flatten().tolist()
    assert x.transpose(1, 0).tolist() == x.numpy().T.tolist()
    assert x.max(axis=1).tolist() == [1.0, 4.0]
    copy = x.copy()
    copy[0, 0] = 9.0
    assert x[0, 0] == 1.0
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = x.nothing


def test_array_methods_are_recorded() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = (x * x).mean()
    np.testing.assert_allclose(tape.gradient(y, x), [2 / 3, 4 / 3, 2.0], rtol=1e-6)


def test_whole_numbers_that_numpy_makes_of_tensors_are_pythons() -> None:
    t = tf.constant([[1.0, 5.0], [7.0, 2.0]])
    assert [7] * np.prod(tf.constant([2, 3])) == [7] * 6
    assert "ab" * np.max(tf.constant([1, 3])) == "ababab"
    assert {np.argmax(tf.constant([1.0, 2.0])): "b"} == {1: "b"}
    assert collections.Counter(np.argmax(t, axis=1)) == {0: 1, 1: 1}
    assert list(range(np.sum(tf.shape(t)))) == [0, 1, 2, 3]
    for found in (np.stack([tf.constant([1]), [2]]), np.concatenate([tf.constant([1]), [2]])):
        assert type(found) is np.ndarray
    assert type(np.sum(t)) is np.float32


def test_whole_numbers_stay_tensors_in_functions() -> None:
    f = tf.function(lambda x: np.sum(x) + np.argmax(x))
    assert int(f(tf.constant([1, 5, 2]))) == 9


def test_attributes_of_tensors_are_found_on_the_class() -> None:
    # With a `__getattr__` Python would read every attribute, also `_array`, far more slowly.
    assert not any(hasattr(kind, "__getattr__") for kind in (tf.Tensor, tf.Variable))
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'mena'"):
        tf.constant([1.0]).mena()  # type: ignore[attr-defined]  # not there


def test_what_only_variables_or_other_libraries_have_is_refused_with_a_remedy() -> None:
    x, v = tf.constant([1.0, 2.0]), tf.Variable(1.0)
    for owner, name, part in [
        (x, "assign_sub", r"`v = v - x` makes one of a variable"),
        (x, "backward", r"Gradients come from tf\.GradientTape"),
        (v, "grad", r"Gradients come from tf\.GradientTape"),
        (x, "detach", r"tf\.stop_gradient"),
        (v, "view", r"tf\.reshape"),
    ]:
        assert not hasattr(owner, name)
        with pytest.raises(AttributeError, match=f"has no attribute '{name}'.*{part}") as caught:
            getattr(owner, name)
        assert "getattr(owner, name)" in caught.value.__notes__[0]
    assert v.assign_sub(1.0).numpy() == 0


def test_a_tensor_may_be_given_what_it_lacks() -> None:
    x = tf.constant([1.0])
    assert not hasattr(x, "grad")
    x.grad = 3  # type: ignore[attr-defined]  # as some programs do
    assert x.grad == 3
    v = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def f() -> None:
        v[1:].assign([5.0, 6.0])
        v[: tf.shape(v)[0] - 2].assign_add([1.0])

    f()
    assert v.numpy().tolist() == [2.0, 5.0, 6.0]
    help_text = pydoc.render_doc(tf.Tensor)
    assert "An immutable array" in help_text
