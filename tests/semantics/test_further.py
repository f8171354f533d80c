"""Where Wengert goes further than TensorFlow: the same program, a better answer.

Not run against TensorFlow, which refuses these programs, answers them wrongly or says too little.
"""

import inspect
import tracemalloc

import numpy as np
import pytest

from tests.semantics.api import AGAINST_TENSORFLOW, NAN, check, gradient, refuses, tf

pytestmark = pytest.mark.skipif(AGAINST_TENSORFLOW, reason="TensorFlow does otherwise")


def this_line() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


# --- the tape


def test_second_gradient_names_the_line_of_the_first():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    first, line = tape.gradient(y, x), this_line()
    with pytest.raises(RuntimeError, match=rf"test_further\.py\D+{line}\b"):
        tape.gradient(y, x)
    check(first, 4.0)


def test_unconnected_gradients_error_raises_with_the_reason():
    x, k = tf.constant(2.0), tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    check(tape.gradient(y, x, unconnected_gradients="error"), 4.0)
    with refuses(ValueError):
        tape.gradient(y, k, unconnected_gradients="error")
    with refuses(ValueError):
        tape.gradient(y, [x, k], unconnected_gradients="error")


def test_watch_on_an_integer_warns_with_its_dtype():
    with tf.GradientTape() as tape, pytest.warns(UserWarning, match="int32"):
        tape.watch(tf.constant(2))


def test_none_among_output_gradients_stands_for_ones():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        targets = [x * x, x * 3.0]
    seeds = [None, tf.constant([1.0, 0.0])]
    check(tape.gradient(targets, x, output_gradients=seeds), [5.0, 4.0])


# --- custom_gradient and recompute_grad


def test_custom_gradient_differentiates_keyword_arguments():
    @tf.custom_gradient
    def f(x, y):
        return x * y, lambda g: (g * 10.0, g * 20.0)

    check(tuple(gradient(lambda x, y: f(x, y=y), 2.0, 3.0)), (10.0, 20.0))
    check(tuple(gradient(lambda x, y: f(y=y, x=x), 2.0, 3.0)), (10.0, 20.0))


def test_recompute_grad_keeps_only_its_inputs():
    size = 1 << 18

    def chain(x):
        for _ in range(20):
            x = tf.sin(x)
        return x

    def bytes_kept(f) -> int:
        x = tf.ones([size])
        tracemalloc.start()
        try:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            kept = tracemalloc.get_traced_memory()[0]
            tape.gradient(y, x)
        finally:
            tracemalloc.stop()
        return kept

    assert bytes_kept(chain) > 15 * 4 * size
    assert bytes_kept(tf.recompute_grad(chain)) < 4 * 4 * size


# --- values


def test_cumprod_gradient_is_right_at_zeros():
    check(gradient(lambda x: tf.math.cumprod(x), [2.0, 0.0, 3.0]), [1.0, 8.0, 0.0])
    check(gradient(lambda x: tf.math.cumprod(x), [0.0, 0.0, 3.0]), [1.0, 0.0, 0.0])


def test_descending_sort_leaves_no_nan_in_the_middle():
    result = tf.sort([3.0, NAN, 1.0], direction="DESCENDING").numpy()
    assert result[~np.isnan(result)].tolist() == [3.0, 1.0]
    assert np.isnan(result[0]) or np.isnan(result[-1])


def test_constant_of_a_list_with_tensors():
    check(tf.constant([tf.constant(1.0), 2.0]), [1.0, 2.0], tf.float32)


def test_einsum_takes_python_lists():
    check(tf.einsum("ij,jk->ik", [[1.0, 2.0]], [[3.0], [4.0]]), [[11.0]])


@pytest.mark.parametrize(
    "f",
    [
        lambda: tf.constant([1, 2]) + np.array([1.5, 2.0]),
        lambda: np.array([1.5, 2.0]) * tf.constant([1, 2]),
        lambda: tf.constant(1) + 2**31,
        lambda: tf.constant(300, tf.uint8),
        lambda: tf.constant(np.array([1.5]), tf.int32),
    ],
    ids=["int + float array", "float array * int", "int32 + 2**31", "300 as uint8", "1.5 as int32"],
)
def test_a_value_that_does_not_fit_the_dtype_is_an_error_not_another_number(f):
    with pytest.raises((TypeError, ValueError, OverflowError)):
        f()


def test_scatter_of_rows_too_long_is_an_error():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(tf.errors.InvalidArgumentError):
        v.scatter_add(tf.IndexedSlices(tf.constant([[1.0, 1.0, 1.0]]), tf.constant([0])))
    check(v, [[1.0, 2.0], [3.0, 4.0]])
