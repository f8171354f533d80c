"""Variables, modules and tensors where programs are unkind to them."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import wengert as tf


@pytest.fixture(params=["raise", "warn"])
def strict_numpy(request: pytest.FixtureRequest) -> Iterator[None]:
    """A program that turns floating-point accidents into exceptions, in either way."""
    with np.errstate(all=request.param), warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def _largest() -> Any:
    return tf.Variable([3e38, 1.0, 2.0])


UPDATES = {
    "assign_add": lambda v: v.assign_add([3e38, 1.0, 0.0]),
    "assign_sub": lambda v: v.assign_sub([-3e38, -1.0, 0.0]),
    "scatter_add": lambda v: v.scatter_add(tf.IndexedSlices(tf.constant([3e38, 1.0]), [0, 1])),
    "scatter_nd_add": lambda v: v.scatter_nd_add([[0], [1]], [3e38, 1.0]),
    "slice": lambda v: v[:2].assign(v[:2] + tf.constant([3e38, 1.0])),
}


@pytest.mark.usefixtures("strict_numpy")
@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("update", UPDATES.values(), ids=UPDATES.keys())
def test_overflow_in_an_update_is_infinity(update: Any, shared: bool) -> None:
    v = _largest()
    v.assign_add([0.0, 0.0, 0.0])  # from here on the variable alone holds its array
    kept = v.read_value() if shared else None
    update(v)
    np.testing.assert_array_equal(v.numpy(), [np.inf, 2.0, 2.0])
    if kept is not None:
        np.testing.assert_array_equal(kept.numpy(), np.array([3e38, 1.0, 2.0], np.float32))


def test_updates_happen_in_place_when_nobody_looks() -> None:
    v = tf.Variable(np.ones(4, np.float32))
    v.assign_add(np.ones(4, np.float32))
    array = v._array
    place = array.ctypes.data
    del array
    v.assign_sub(np.ones(4, np.float32))
    assert v._array.ctypes.data == place
    before = v.read_value()
    v.assign_add(np.ones(4, np.float32))
    assert v._array.ctypes.data != place
    np.testing.assert_array_equal(before.numpy(), np.ones(4))


def test_the_first_update_of_a_large_variable_copies_nothing() -> None:
    """Large values lie at the right places for XLA, in somewhat larger memory."""
    v = tf.Variable(np.ones((300, 100), np.float32))
    place = v._array.ctypes.data
    v.scatter_add(tf.IndexedSlices(tf.ones([1, 100]), tf.constant([0])))
    v.assign_add(np.ones((300, 100), np.float32))
    v[0].assign(tf.zeros([100]))
    assert v._array.ctypes.data == place


READS = {
    "numpy": lambda v: np.asarray(v),
    "dlpack": lambda v: np.from_dlpack(v),
    "reshape": lambda v: tf.reshape(v, [-1]),
    "transpose": lambda v: tf.transpose(v),
    "slice": lambda v: v[0],
    "identity": lambda v: tf.identity(v),
    "stop_gradient": lambda v: tf.stop_gradient(v),
    "broadcast_to": lambda v: tf.broadcast_to(v, [2, *v.shape]),
    "cast": lambda v: tf.cast(v, tf.float32),
    "unstack": lambda v: tf.unstack(v)[0],
    "function": tf.function(lambda v: v.read_value(), jit_compile=True),
}


@pytest.mark.parametrize("fresh", [True, False], ids=["fresh", "updated"])
@pytest.mark.parametrize("size", [2, 200])
@pytest.mark.parametrize("read", READS.values(), ids=READS.keys())
def test_what_was_read_never_changes(read: Any, size: int, fresh: bool) -> None:
    ones = np.ones((size, size), np.float32)
    v = tf.Variable(ones)
    if not fresh:
        v.assign_add(0.0 * ones)
    seen = read(v)
    v.assign_add(ones)
    v.scatter_add(tf.IndexedSlices(tf.ones([1, size]), tf.constant([0])))
    v[0].assign(9.0 * tf.ones([size]))
    assert (np.asarray(seen) == 1.0).all()


def test_a_scatter_into_a_scalar_says_so() -> None:
    v = tf.Variable(1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="scatter_add: a scalar variable") as e:
        v.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0])))
    assert getattr(e.value, "site").file == __file__  # noqa: B009  # set by `at_site`
    with pytest.raises(tf.errors.InvalidArgumentError, match="index tuples"):
        tf.Variable([1.0]).scatter_nd_add(0, [1.0])


class Named(tf.Variable):
    """A variable of the user's own class."""


def test_copies_of_variables_keep_their_kind_and_settings() -> None:
    v = Named([1.0], trainable=False, constraint=abs, aggregation=tf.VariableAggregation.SUM)
    w = copy.deepcopy(v)
    w.assign([2.0])
    assert type(w) is Named
    assert (w.constraint, w.aggregation, w.trainable) == (abs, tf.VariableAggregation.SUM, False)
    assert v.numpy() == [1.0]
    assert type(pickle.loads(pickle.dumps(v))) is Named


REFUSALS = {
    "len": (TypeError, lambda: len(tf.constant(1.0))),
    "bool": (ValueError, lambda: bool(tf.constant([1.0, 2.0]))),
    "int": (TypeError, lambda: int(tf.constant([1.0, 2.0]))),
    "index": (TypeError, lambda: [1][tf.constant(0.0)]),
    "set_shape": (ValueError, lambda: tf.constant([1.0]).set_shape([2])),
}


@pytest.mark.parametrize(("kind", "use"), REFUSALS.values(), ids=REFUSALS.keys())
def test_python_protocols_name_the_users_line(kind: type[Exception], use: Any) -> None:
    with pytest.raises(kind) as caught:
        use()
    assert caught.value.site.file == __file__  # type: ignore[attr-defined]  # set by `at_site`


def test_a_module_finds_variables_behind_keys_that_do_not_sort() -> None:
    module = tf.Module()
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    module.held = [{1: a, "one": (b,)}]  # type: ignore[attr-defined]  # a new attribute
    assert module.variables == (a, b)


class TestErrorsMadeOfErrors:
    """Keras makes a new error of the words of another one; the user's line stays with it."""

    def test_by_its_words_alone(self) -> None:
        error = tf.errors.InvalidArgumentError("words")
        assert (str(error), error.message, error.node_def) == ("words", "words", None)

    def test_the_line_is_kept(self) -> None:
        def layer() -> None:
            try:
                tf.matmul(tf.ones([2, 3]), tf.ones([4, 5]))
            except tf.errors.OpError as error:
                raise error.__class__(error.node_def, error.op, f"in a layer: {error}") from None

        with pytest.raises(tf.errors.InvalidArgumentError) as info:
            layer()
        assert info.value.message.startswith("in a layer: matmul: inner dimensions")
        assert "tf.matmul(tf.ones([2, 3]), tf.ones([4, 5]))" in "".join(info.value.__notes__)

    def test_another_error_has_a_line_of_its_own(self) -> None:
        try:
            tf.matmul(tf.ones([2, 3]), tf.ones([4, 5]))
        except tf.errors.OpError:
            assert not hasattr(tf.errors.NotFoundError(None, None, "elsewhere"), "__notes__")


def test_moments_of_nothing_have_an_empty_gradient():
    x = tf.zeros([0, 3])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.nn.moments(x, [0])[1])
    assert tape.gradient(y, x).shape == [0, 3]


def test_numbers_of_a_one_hot_tensor_take_its_dtype():
    for dtype in ("float64", "bfloat16", "complex64", "int64"):
        found = tf.one_hot([0, 1], 2, 2, -1, dtype=dtype)
        assert found.dtype == dtype and found.numpy().tolist() == [[2, -1], [-1, 2]]
    assert tf.one_hot([0], 2, 2.5, dtype="float64").numpy().tolist() == [[2.5, 0.0]]
    with pytest.raises(TypeError, match="must agree; got float32 and int32"):
        tf.one_hot([0], 2, 2.5, dtype=tf.int32)


def test_an_axis_that_is_known_too_late():
    f = tf.function(lambda x, axis: tf.reduce_sum(x, axis))
    assert f(tf.ones([4, 3]), tf.constant(1)).shape == [4]
    f = tf.function(lambda x, axis: tf.reduce_sum(x, axis, keepdims=True))
    with pytest.raises(TypeError, match="reduce_sum: `axis` must be known while tracing"):
        f(tf.ones([4, 3]), tf.constant(1))


MIXED: dict[str, tuple[Any, str, Any]] = {
    "tensors": (lambda: [tf.constant(5), tf.constant(6)], "int64", [5, 6]),
    "tensors to floats": (lambda: [tf.constant(5), tf.constant(6)], "float32", [5, 6]),
    "tensors of two dtypes": (
        lambda: [tf.constant(5), tf.constant(6, tf.int64)], "float64", [5, 6]
    ),
    "a number before a tensor": (lambda: [1, tf.constant(5, tf.int64)], "int32", [1, 5]),
    "a fraction beside whole numbers": (lambda: [tf.constant(5), 1.5], "float32", [5, 1.5]),
    "variables": (lambda: [tf.Variable(3), 4], "float16", [3, 4]),
    "arrays": (lambda: [tf.constant([3, 4]), np.array([1, 2])], "float64", [[3, 4], [1, 2]]),
    "nested": (lambda: [[1, tf.constant(2)], (3, 4)], "uint8", [[1, 2], [3, 4]]),
    "deep": (lambda: [[[tf.constant(2)]], [[3]]], "complex64", [[[2]], [[3]]]),
    "booleans": (lambda: [tf.constant(True), tf.constant(False)], "int64", [1, 0]),
}  # fmt: skip


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("name", MIXED)
def test_lists_with_tensors_are_of_the_dtype_asked_for(name: str, traced: bool) -> None:
    make, dtype, want = MIXED[name]
    value = make()
    for f in (
        lambda: tf.convert_to_tensor(value, dtype),
        lambda: tf.convert_to_tensor(value, dtype_hint=dtype),
        lambda: tf.constant(value, dtype),
    ):
        got = tf.function(f)() if traced else f()
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, want)
    if not traced:
        assert tf.Variable(value, dtype=dtype).dtype == dtype


def test_lists_with_tensors_take_the_dtype_that_they_meet() -> None:
    long, short = tf.constant(5, tf.int64), tf.constant(6)
    for got, dtype, want in (
        (tf.concat(([0, 0], [long]), 0), "int32", [0, 0, 5]),
        (tf.concat(([long], [short]), 0), "int64", [5, 6]),
        (tf.concat(([1.0, 2.0], [short]), 0), "float32", [1, 2, 6]),
        (tf.add([2, 3], [long, 1]), "int32", [7, 4]),
        (tf.where([True, False], [1, 2], [long, 3]), "int32", [1, 3]),
        (tf.tensor_scatter_nd_update([1, 2], [[0]], [long]), "int32", [5, 2]),
        (tf.dynamic_stitch([[0], [1]], [[1], [long]]), "int32", [1, 5]),
    ):
        assert got.dtype == dtype
        np.testing.assert_array_equal(got, want)


def test_a_cast_in_a_list_has_its_gradient() -> None:
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.convert_to_tensor([x, 2.0 * x, 1], tf.float64)
    assert tape.gradient(y, x).numpy() == 3


def test_lists_do_not_cut_off_fractions() -> None:
    for value in ([tf.constant(1.5), 1], [[tf.constant(1j)], [2]]):
        with pytest.raises(TypeError, match="without loss"):
            tf.convert_to_tensor(value, tf.int32)
    assert tf.convert_to_tensor([tf.constant(1.5), 1], dtype_hint=tf.int32).dtype == tf.float32
    with pytest.raises(TypeError, match="does not convert"):
        tf.convert_to_tensor([tf.constant("a")], tf.int32)
    with pytest.raises(TypeError, match="does not convert"):
        tf.convert_to_tensor([tf.constant(1)], tf.bool)
