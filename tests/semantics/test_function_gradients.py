"""Gradients of traced functions: tapes around them, inside them, and every mix of the two.

Wengert answers on both of its engines.
"""

import contextlib
import itertools

import numpy as np
import pytest

from tests.semantics.api import AGAINST_TENSORFLOW, check, tf
from tests.semantics.test_functions import function

x = tf.constant(2.0)


@pytest.fixture(autouse=True, params=["tensorflow"] if AGAINST_TENSORFLOW else ["host", "xla"])
def _engine(request):
    with contextlib.nullcontext() if AGAINST_TENSORFLOW else tf.engine(request.param):
        yield


def eagerly(f):
    return f


def derivative(f, wrap=eagerly):
    """The derivative of a function of one tensor, itself made a function by `wrap`."""

    @wrap
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return slope


cube = function(lambda x: x * x * x)


# Is the function traced, and each of its derivatives?
MIXES = {
    "".join("ef"[w is function] for w in wraps): wraps
    for wraps in itertools.product([eagerly, function], repeat=4)
}


@pytest.mark.parametrize("wraps", MIXES.values(), ids=MIXES)
def test_every_mix_of_orders(wraps):
    f = wraps[0](lambda x: tf.sin(x) * x * x)
    expected = [
        2 * 2 * np.sin(2) + 4 * np.cos(2),
        2 * np.sin(2) + 8 * np.cos(2) - 4 * np.sin(2),
        6 * np.cos(2) - 12 * np.sin(2) - 4 * np.cos(2),
    ]
    for wrap, slope in zip(wraps[1:], expected, strict=True):
        f = derivative(f, wrap)
        check(f(x), slope, rtol=1e-5)


def test_persistent_tape_around_calls():
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = cube(x)
        z = cube(y)
    check((tape.gradient(y, x), tape.gradient(z, x), tape.gradient(z, y)), (12.0, 2304.0, 192.0))


def orders(x):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        first = tape.gradient(cube(x), x)
        second = tape.gradient(first, x)
    return first, second, tape.gradient(second, x)


@pytest.mark.parametrize("wrap", [eagerly, function])
def test_one_persistent_tape_for_all_orders(wrap):
    check(wrap(orders)(x), (12.0, 12.0, 6.0))


def test_seeds_and_several_targets():
    f = function(lambda x, y: (x * y, {"s": x + y}))
    y = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        product, sums = f(x, y)
    check(tape.gradient(product, x, output_gradients=tf.constant(10.0)), 30.0)
    check(tuple(tape.gradient([product, sums["s"]], [x, y])), (4.0, 3.0))
    check(tape.gradient(sums, {"x": x})["x"], 1.0)


def test_gradient_of_one_result_with_respect_to_another_argument_is_zero():
    f = function(lambda a, b: (a * 2.0, b * 3.0))
    y = tf.constant(1.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, y])
        first, second = f(x, y)
    check(tuple(tape.gradient(first, [x, y])), (2.0, 0.0))
    check(tuple(tape.gradient(second, [x, y])), (0.0, 3.0))


def test_unconnected_through_a_call():
    f = function(lambda a: tf.ones([2]) * 3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
    assert tape.gradient(y, x) is None
    check(tape.gradient(y, x, unconnected_gradients="zero"), 0.0)


def test_integers_on_the_way():
    f = function(lambda a, k: (a * tf.cast(k, tf.float32), k + 1))
    k = tf.constant(3)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y, more = f(x, k)
    check(tape.gradient(y, x), 3.0)
    check(more, 4)


def test_variables_inside():
    v = tf.Variable(3.0)
    f = function(lambda x: x * v + v * v)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    check(tuple(tape.gradient(y, [x, v])), (3.0, 8.0))
    assert [w is v for w in tape.watched_variables()] == [True]


def test_variables_inside_are_watched_only_where_wished():
    v, frozen = tf.Variable(3.0), tf.Variable(4.0, trainable=False)
    f = function(lambda x: x * v * frozen)
    with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(x)
        y = f(x)
    gradients = tape.gradient(y, [x, v, frozen])
    check(tuple(gradients), (12.0, None, None))
    with tf.GradientTape() as tape:
        y = f(x)
    check(tuple(tape.gradient(y, [v, frozen])), (8.0, None))


def test_variable_as_an_argument():
    v = tf.Variable(3.0)
    f = function(lambda a, b: a * b * b)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(v, x) + f(x, v)
    check(tuple(tape.gradient(y, [x, v])), (12.0 + 9.0, 4.0 + 12.0))


def test_assignments_on_the_way():
    v = tf.Variable(2.0)

    @function
    def f(x):
        before = v * x
        v.assign(x * x)
        return before + v * 5.0

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    check(tuple(tape.gradient(y, [x, v])), (2.0, 7.0))
    check(v, 4.0)


def test_second_order_by_variables():
    v = tf.Variable(3.0)
    f = function(lambda x: x * v * v)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = f(x)
        first = inner.gradient(y, v)
    check(first, 12.0)
    check(outer.gradient(first, v), 4.0)


def test_captured_tensors():
    k = tf.constant([1.0, 2.0])
    f = function(lambda x: tf.reduce_sum(x * k * k))
    with tf.GradientTape() as tape:
        tape.watch(k)
        y = f(x)
    check(tape.gradient(y, k), [4.0, 8.0])


def test_captured_and_watched_before():
    with tf.GradientTape() as tape:
        tape.watch(x)
        hidden = x * x
        y = function(lambda: hidden * x)()
    check(tape.gradient(y, x), 12.0)


def test_calls_within_calls():
    v = tf.Variable(3.0)
    inner = function(lambda a, b: a * b)
    outer = function(lambda a: inner(a, v) + inner(v, a) * inner(a, a))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = outer(x)
    check(tuple(tape.gradient(y, [x, v])), (3.0 + 9.0 * 4.0, 2.0 + 8.0))


def test_a_tape_from_outside_works_inside():
    tape = tf.GradientTape()

    @function
    def f(x):
        with tape:
            tape.watch(x)
            y = x * x
        return tape.gradient(y, x)

    check(f(x), 4.0)


def test_the_gradient_of_an_eager_tape_asked_inside():
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    check(function(lambda: tape.gradient(y, x))(), 4.0)


def test_calls_while_recording_is_stopped():
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tape.stop_recording():
            y = cube(x)
        z = y * x
    check(tape.gradient(z, x), 8.0)


def test_watching_a_result():
    with tf.GradientTape() as tape:
        y = cube(x)
        tape.watch(y)
        z = cube(y)
    check(tape.gradient(z, y), 192.0)


@pytest.mark.parametrize("wrap", [eagerly, function])
def test_stop_gradient(wrap):
    f = wrap(lambda x: tf.stop_gradient(x * x) * x)
    check((derivative(f)(x), derivative(f, function)(x)), (4.0, 4.0))


def test_complex_numbers():
    f = lambda z: tf.math.real(z * z * tf.math.conj(z))
    z = tf.constant(1 + 2j, tf.complex64)
    check((derivative(f)(z), derivative(function(f))(z)), (7 + 4j, 7 + 4j))


# Forward mode.


def tangent(f):
    def slope(x):
        with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as accumulator:
            y = f(x)
        return accumulator.jvp(y)

    return slope


@pytest.mark.parametrize("outer", [eagerly, function])
@pytest.mark.parametrize("inner", [eagerly, function])
def test_forward_mode(inner, outer):
    f = inner(lambda x: x * x * x)
    check(outer(tangent(f))(x), 12.0)
    check(outer(tangent(derivative(f)))(x), 12.0)
    check(outer(tangent(tangent(f)))(x), 12.0)
    check(outer(tangent(derivative(derivative(f))))(x), 6.0)


# Gradients of one's own.


@tf.custom_gradient
def hundredfold(x):
    return x * x, lambda g: g * 100.0 * x


@pytest.mark.parametrize("outer", [eagerly, function])
@pytest.mark.parametrize("inner", [eagerly, function])
def test_custom_gradient(inner, outer):
    f = inner(lambda x: hundredfold(x) * 2.0)
    slope = derivative(f, outer)
    check(slope(x), 400.0)
    check(derivative(slope)(x), 200.0)
    check(derivative(slope, outer)(x), 200.0)


@pytest.mark.parametrize("inner", [eagerly, function])
@pytest.mark.parametrize("outer", [eagerly, function])
def test_custom_gradient_with_variables(inner, outer):
    v = tf.Variable(3.0)

    @tf.custom_gradient
    def product(x):
        def grad(g, variables=()):
            return g * 7.0, [g * 9.0 * v for v in variables]

        return x * v, grad

    f = inner(product)

    @outer
    def gradients(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, [x, v])

    check(tuple(gradients(x)), (7.0, 27.0))


def test_custom_gradient_around_a_function():
    @tf.custom_gradient
    def f(x):
        return cube(x), lambda g: g * 50.0

    check(derivative(f)(x), 50.0)
    check(derivative(function(f))(x), 50.0)


@pytest.mark.parametrize("inner", [eagerly, function])
@pytest.mark.parametrize("outer", [eagerly, function])
def test_recomputation(inner, outer):
    v = tf.Variable(3.0)
    f = inner(tf.recompute_grad(lambda x: tf.sin(x) * v))

    @outer
    def gradients(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x) * x
        return tape.gradient(y, [x, v])

    expected = 3 * np.sin(2) + 6 * np.cos(2), 2 * np.sin(2)
    check(tuple(gradients(x)), expected, rtol=1e-5)


def test_recomputation_of_a_function():
    check(derivative(tf.recompute_grad(cube))(x), 12.0)
    check(derivative(tf.recompute_grad(cube), function)(x), 12.0)


# Rows.


def test_rows_of_a_table_stay_rows_inside():
    table = tf.Variable(np.arange(12, dtype=np.float32).reshape(4, 3))
    ids = tf.constant([1, 1, 3])
    kinds = []

    @function
    def f():
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(table, ids) ** 2)
        g = tape.gradient(y, table)
        kinds.append(isinstance(g, tf.IndexedSlices))
        return g

    g = f()
    assert kinds == [True] and isinstance(g, tf.IndexedSlices)
    check(g.indices, [1, 1, 3])
    check(g.values, [[6.0, 8.0, 10.0], [6.0, 8.0, 10.0], [18.0, 20.0, 22.0]])
    check(g.dense_shape, [4, 3])


def test_rows_of_a_table_through_a_call():
    table = tf.Variable(np.arange(6, dtype=np.float32).reshape(3, 2))
    f = function(lambda ids: tf.reduce_sum(tf.nn.embedding_lookup(table, ids) ** 2))
    with tf.GradientTape() as tape:
        y = f(tf.constant([2, 0]))
    g = tf.convert_to_tensor(tape.gradient(y, table))
    check(g, [[0.0, 2.0], [0.0, 0.0], [8.0, 10.0]])


def test_rows_are_updated_inside():
    table = tf.Variable(tf.ones([3, 2]))

    @function
    def step(ids):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(table, ids) * 3.0)
        g = tape.gradient(y, table)
        table.scatter_sub(tf.IndexedSlices(g.values * 0.1, g.indices))
        return y

    check(step(tf.constant([0, 2, 2])), 18.0)
    check(table, [[0.7, 0.7], [1.0, 1.0], [0.4, 0.4]])


# Jacobians and training.


@pytest.mark.parametrize("wrap", [eagerly, function])
def test_jacobian_through_a_call(wrap):
    def jacobian(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = cube(x)
        return tape.jacobian(y, x)

    check(wrap(jacobian)(tf.constant([1.0, 2.0])), [[3.0, 0.0], [0.0, 12.0]])


def test_a_training_step():
    rng = np.random.default_rng(0)
    data = tf.constant(rng.standard_normal((8, 3)), tf.float32)
    target = tf.constant(rng.standard_normal((8, 1)), tf.float32)
    starts = [rng.standard_normal(s).astype(np.float32) for s in ((3, 4), (4,), (4, 1))]

    def train(wrap):
        weights = [tf.Variable(w) for w in starts]

        @wrap
        def step():
            with tf.GradientTape() as tape:
                hidden = tf.tanh(tf.matmul(data, weights[0]) + weights[1])
                loss = tf.reduce_mean((tf.matmul(hidden, weights[2]) - target) ** 2)
            for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
                w.assign_sub(0.1 * g)
            return loss

        return [float(step()) for _ in range(5)]

    np.testing.assert_allclose(train(function), train(eagerly), rtol=1e-5)
