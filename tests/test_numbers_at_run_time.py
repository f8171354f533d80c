"""What a trace cannot check and a run must: sizes, offsets, ranks, seeds, texts for XLA."""
# Some arguments are none that a checker accepts.
# pyright: reportArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf

X = tf.constant([1.0, 2.0, 3.0])
IMAGE = tf.zeros([1, 4, 4, 3])
I = tf.image
WAYS = {"function": None, "compiled": True}

SIZES = {
    "pad": (lambda s: tf.pad(X, s), [[-1, 0]], "sizes from 0 on"),
    "mirror": (lambda s: tf.pad(X, s, "REFLECT"), [[-1, 0]], "sizes from 0 on"),
    "space_to_batch": (
        lambda s: tf.space_to_batch(IMAGE, [2, 2], s), [[-1, 1], [0, 0]], "sizes from 0 on"
    ),
    "pad_to_bounding_box": (lambda o: I.pad_to_bounding_box(IMAGE, o, 0, 6, 6), -1, "0 or more"),
    "crop": (lambda o: I.crop_to_bounding_box(IMAGE, o, 0, 2, 2), -1, "0 or more; got -1"),
    "crop to": (lambda o: I.crop_to_bounding_box(IMAGE, 0, 0, o, 2), -1, "must be positive"),
    "tile": (lambda n: tf.tile(X, n), [-1], "tile: .*(from 0 on|must not be negative)"),
    "repeat": (lambda n: tf.repeat(X, n), -1, "repeat: .*negative"),
    "zeros": (lambda n: tf.zeros([n, 2]), -1, "negative|0 or more|at least 0"),
    "one_hot": (lambda n: tf.one_hot([0], n), -1, "one_hot: .*`depth`"),
    "mask": (lambda n: tf.sequence_mask([1], n), -1, "sequence_mask: .*`maxlen`"),
}  # fmt: skip


@pytest.mark.parametrize("jit", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize(("call", "number", "text"), SIZES.values(), ids=SIZES.keys())
def test_negative_sizes_are_refused_when_they_show(
    call: Any, number: Any, text: str, jit: bool | None
) -> None:
    with pytest.raises(ValueError, match=text) as caught:
        tf.function(call, jit_compile=jit)(tf.constant(number))
    assert any(__file__ in note for note in caught.value.__notes__)


D = tf.debugging
RANKS = {
    "rank": (lambda x: D.assert_rank(x, 1), lambda x: D.assert_rank(x, 2)),
    "least": (lambda x: D.assert_rank_at_least(x, 1), lambda x: D.assert_rank_at_least(x, 2)),
    "some": (lambda x: D.assert_rank_in(x, [1, 3]), lambda x: D.assert_rank_in(x, [0, 2])),
    "scalar": (lambda x: D.assert_scalar(tf.reduce_sum(x)), D.assert_scalar),
}


@pytest.mark.parametrize("jit", WAYS.values(), ids=WAYS.keys())
@pytest.mark.parametrize(("good", "bad"), RANKS.values(), ids=RANKS.keys())
def test_unknown_ranks_are_checked_when_they_show(good: Any, bad: Any, jit: bool | None) -> None:
    def checked(check: Any) -> Any:
        def f(x: Any) -> Any:
            check(x)
            return x

        return tf.function(f, input_signature=[tf.TensorSpec(None)], jit_compile=jit)

    assert checked(good)(X).numpy().tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="was expected; got rank 1"):
        checked(bad)(X)


@pytest.mark.parametrize("jit", WAYS.values(), ids=WAYS.keys())
def test_shapes_that_do_not_fit_fail_an_assertion(jit: bool | None) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None])] * 2, jit_compile=jit)
    def f(x: Any, y: Any) -> Any:
        D.assert_equal(x, y)
        return x

    with pytest.raises(tf.errors.InvalidArgumentError, match="assert_equal: shapes differ"):
        f(X, X[:2])


@pytest.mark.parametrize("jit", WAYS.values(), ids=WAYS.keys())
def test_infinity_is_near_to_nothing_else(jit: bool | None) -> None:
    D.assert_near([np.inf, 1.0], [np.inf, 1.0], rtol=0.0, atol=0.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="assert_near"):
        D.assert_near(X, np.inf)
    near = tf.function(lambda x, y: D.assert_near(x, y), jit_compile=jit)
    near(X, X + 1e-7)
    with pytest.raises(tf.errors.InvalidArgumentError, match="1 of 3 elements"):
        near(X, tf.constant([1.0, 2.0, np.inf]))


def test_assertions_know_their_keywords() -> None:
    D.assert_equal(X, X, name="same")
    D.assert_positive(X, name="more")
    with pytest.raises(TypeError, match="mesage"):
        D.assert_equal(X, X, mesage="different")


@pytest.mark.parametrize("jit", WAYS.values(), ids=WAYS.keys())
def test_numbers_are_conditions(jit: bool | None) -> None:
    f = tf.function(lambda n: D.Assert(n, [n]), jit_compile=jit)
    f(tf.constant(1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="the condition is false"):
        f(tf.constant(0))


TABLE = tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), default_value=-1
)
TEXTS = {
    "argument": (lambda s: X, "a", "an argument is one"),
    "lookup": (TABLE.lookup, "a", "an argument is one"),
    "result": (lambda q: (tf.constant("a"), X), True, "a result is one"),
    "choice": (lambda q: tf.where(q, "a", "b") == "a", True, "works on strings"),
    "within": (
        lambda q: tf.cond(q, lambda: tf.where(q, "a", "b") == "a", lambda: q), True,
        "works on strings",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("call", "given", "text"), TEXTS.values(), ids=TEXTS.keys())
def test_xla_knows_no_strings(call: Any, given: Any, text: str) -> None:
    with pytest.raises(tf.errors.OpError, match=text) as caught:
        tf.function(call, jit_compile=True)(tf.constant(given))
    assert "jit_compile=True" in str(caught.value)
    assert any(__file__ in note for note in caught.value.__notes__)


def test_constant_strings_reach_python_from_compiled_code(capfd: Any) -> None:
    @tf.function(jit_compile=True)
    def f(x: Any) -> Any:
        tf.print(tf.constant("so"), x)
        D.Assert(x > 0, [tf.constant("bad"), x])
        count = lambda s, x: x + len(s.numpy())
        return tf.py_function(count, [tf.constant("abc"), x], tf.TensorSpec([], tf.float32))

    assert float(f(tf.constant(1.0))) == 4.0
    assert "so" in capfd.readouterr().err


def _seeded(seed: Any) -> Any:
    v = tf.Variable(X)
    with tf.GradientTape() as tape:
        y = v * v
    return tape.gradient(y, v, output_gradients=seed)


FA = tf.autodiff.ForwardAccumulator
KINDS = {
    "seed": (lambda: _seeded(tf.ones([3], tf.float64)), "dtype of its tensor"),
    "text": (lambda: _seeded("abc"), "dtype of its tensor"),
    "tangent": (lambda: FA(X, tf.ones([3], tf.float64)), "dtype of its tensor"),
    "primal": (lambda: FA(None, X), "must be a tensor or variable"),
    "mask": (lambda: tf.sequence_mask([1], dtype=tf.string), "cannot be of dtype string"),
    "count": (lambda: tf.math.count_nonzero(X, dtype=tf.string), "cannot be of dtype string"),
    "stack": (lambda: tf.stack({"a": 1.0, "b": 2.0}), "a list of tensors was expected"),
    "concat": (lambda: tf.concat({"a": [1.0], "b": [2.0]}, 0), "a list of tensors was expected"),
    "format": (lambda: f"{X:.2f}", "only a scalar can be formatted"),
}


@pytest.mark.parametrize(("call", "text"), KINDS.values(), ids=KINDS.keys())
def test_wrong_kinds(call: Any, text: str) -> None:
    with pytest.raises(TypeError, match=text) as caught:
        call()
    assert any(__file__ in note for note in caught.value.__notes__)


def test_seeds_of_plain_numbers_adopt() -> None:
    assert _seeded(np.ones(3)).dtype == tf.float32


def test_lengths_count_whole_places() -> None:
    found = tf.sequence_mask(tf.constant([3, 5]) / 2, 4)
    assert found.numpy().tolist() == [[True, False, False, False], [True, True, False, False]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="`maxlen` must be 0 or more"):
        tf.sequence_mask([1], maxlen=-1)


@pytest.mark.parametrize("jit", ["eager", None, True])
def test_a_slope_can_be_learned(jit: Any) -> None:
    alpha = tf.Variable(0.3)

    def step() -> Any:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.nn.leaky_relu(tf.constant([-2.0, 3.0]), alpha=alpha))
        return y, tape.gradient(y, alpha)

    run = step if jit == "eager" else tf.function(step, jit_compile=jit)
    for value in (0.3, 0.5):
        alpha.assign(value)
        y, slope = run()
        np.testing.assert_allclose([y, slope], [3.0 - 2.0 * value, -2.0], 1e-6)


def test_a_number_that_no_gradient_reaches_must_be_plain() -> None:
    beta = tf.Variable(2.0)
    assert tf.signal.kaiser_window(4, beta=beta).shape == (4,)
    with tf.GradientTape(), pytest.raises(TypeError, match="a tape follows this one"):
        tf.signal.kaiser_window(4, beta=beta)
    with pytest.raises(TypeError, match="a tensor has no value yet"):
        tf.function(lambda: tf.signal.kaiser_window(4, beta=beta))()


def test_who_only_looks_on_asks_for_no_gradient() -> None:
    @tf.custom_gradient
    def windowed(x: Any) -> Any:
        w = tf.signal.kaiser_window(3, beta=tf.constant(0.0))
        return x * w, lambda g: g * w

    assert windowed(X).numpy().tolist() == [1, 2, 3]


def test_row_sparse_gradients_update_variables() -> None:
    expected = {
        "assign_add": [[4.0, 4.0], [1, 1], [7, 7]],
        "assign_sub": [[-2.0, -2.0], [1, 1], [-5, -5]],
        "assign": [[3.0, 3.0], [0, 0], [6, 6]],
    }
    for method, rows in expected.items():
        for traced in (False, True):
            w = tf.Variable(tf.ones((3, 2)))
            g = tf.IndexedSlices(3.0 * tf.ones((3, 2)), tf.constant([0, 2, 2]), tf.constant([3, 2]))
            update = lambda w=w, g=g, m=method: getattr(w, m)(g)
            (tf.function(update) if traced else update)()
            assert w.numpy().tolist() == rows


def test_a_choice_known_while_tracing_gives_tensors_as_well() -> None:
    @tf.function
    def f(x: Any) -> Any:
        n = tf.cond(tf.shape(x)[0] > 0, lambda: 1, lambda: 0)
        m = tf.switch_case(0, [lambda: (2.5, [True])])
        return tf.zeros([n]), tf.cast(m[1][0], n.dtype), m[0].dtype is tf.float32

    zeros, one, kind = f(X)
    assert (zeros.shape, int(one), bool(kind)) == ((1,), 1, True)


def test_numbers_are_sorted_in_functions() -> None:
    x = tf.constant([3.0, 1.0, 2.0])
    assert tf.function(lambda x: sorted(x))(x).numpy().tolist() == [1, 2, 3]
    assert tf.function(lambda x: sorted(x, reverse=True))(x).numpy().tolist() == [3, 2, 1]
    assert tf.function(lambda x: sorted(x, key=lambda v: -v))(x).numpy().tolist() == [3, 2, 1]
    assert tf.function(lambda x: x * sorted([2, 1])[0])(x).numpy().tolist() == [3, 1, 2]
    with pytest.raises(ValueError, match="sorted: only numbers in a row"):
        tf.function(lambda x: sorted(x))(tf.ones([2, 2]))


def test_names_of_tensorflow_1_keep_their_meaning_or_are_refused() -> None:
    v1 = tf.compat.v1
    rows = v1.where([True, False], tf.constant([[1.0, 2], [3, 4]]), tf.zeros((2, 2)))
    assert rows.numpy().tolist() == [[1, 2], [0, 0]]
    assert v1.where([True, False]).numpy().tolist() == [[0]]
    assert np.mean(v1.nn.dropout(tf.ones(1000), 0.9) > 0) > 0.8
    assert v1.nn.in_top_k([[0.1, 0.9]], [1], 1).numpy().tolist() == [True]
    labels = tf.Variable([[0.2, 0.8]])
    with tf.GradientTape() as tape:
        loss = v1.nn.softmax_cross_entropy_with_logits(labels=labels, logits=[[1.0, 2.0]])
    assert tape.gradient(loss, labels, unconnected_gradients="zero").numpy().tolist() == [[0, 0]]
    assert v1.nn.relu is tf.nn.relu
    for name in ("image.resize", "nn.embedding_lookup", "strings.split", "random.poisson"):
        home, last = name.split(".")
        with pytest.raises(AttributeError, match=rf"no `tf.compat.v1.{name}`. Its arguments"):
            getattr(getattr(v1, home), last)
    with pytest.raises(AttributeError, match="Its arguments or meaning were others"):
        _ = v1.space_to_batch


AXES = {
    "roll": lambda a: tf.roll(X, 1, a),
    "concat": lambda a: tf.concat([X, X], a),
    "cumsum": lambda a: tf.cumsum(X, a),
    "reduce_sum": lambda a: tf.reduce_sum(IMAGE, [a, 0]),
    "softmax": lambda a: tf.nn.softmax(X, a),
}


@pytest.mark.parametrize(("name", "call"), AXES.items(), ids=AXES.keys())
def test_axes_must_be_known_while_tracing(name: str, call: Any) -> None:
    with pytest.raises(TypeError, match="`axis` must be known while tracing") as caught:
        tf.function(call)(tf.constant(0))
    assert any(__file__ in note for note in caught.value.__notes__)


def test_a_table_of_axes_is_a_list_of_them() -> None:
    assert float(tf.function(lambda: tf.reduce_sum(IMAGE + 1, [[1], [2]]))()[0, 0]) == 16.0
    assert float(tf.reduce_sum(IMAGE + 1, tf.constant([[1], [2]]))[0, 0]) == 16.0


def test_moments_of_complex_numbers_and_means_of_segments() -> None:
    z = tf.constant([[1 + 1j, 2.0], [3.0, 4 - 2j]])
    for found in (tf.nn.moments(z, [0]), tf.nn.weighted_moments(z, [0], tf.ones_like(z))):
        np.testing.assert_allclose(found[1], [1.25, 2.0])
    v = tf.Variable([1 + 1j, 2.0, 3.0])
    with tf.GradientTape() as tape:
        y = tf.math.segment_mean(v, [0, 0, 1])
    assert tape.gradient(y, v).numpy().tolist() == [0.5, 0.5, 1.0]


def test_shapes_given_as_arrays() -> None:
    found = tf.broadcast_dynamic_shape(np.array([2, 1]), np.array([3]))
    assert (found.dtype, found.numpy().tolist()) == (tf.int64, [2, 3])
    assert tf.broadcast_dynamic_shape([2, 1], [3]).numpy().tolist() == [2, 3]
