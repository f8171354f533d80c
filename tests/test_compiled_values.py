"""`jit_compile=True` where shapes are made from the values of arguments, and where checks may fail."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.engines.executables import EXECUTABLES

SIZES = (2, 3, 2, 4, 3)


def compiled(f: Any) -> Any:
    return tf.function(f, jit_compile=True)


def by_range(n: Any, x: Any) -> Any:
    return tf.reshape(tf.range(n * 2), [n, -1])


def by_zeros(n: Any, x: Any) -> Any:
    return tf.zeros([n, 3]) + x


def by_tile(n: Any, x: Any) -> Any:
    return tf.tile(x, [n]) + tf.cast(tf.shape(x)[0] * n, tf.float32)


def by_band(n: Any, x: Any) -> Any:
    return tf.linalg.band_part(x[:, None] * x, n - 2, 0)


def by_slice(n: Any, x: Any) -> Any:
    return x[: n - 1] * 2.0


def in_a_branch(n: Any, x: Any) -> Any:
    return tf.cond(
        x[0] > 0, lambda: tf.reduce_sum(tf.ones([n]) * x[0]), lambda: tf.reduce_sum(tf.zeros([n]))
    )


def in_a_loop(n: Any, x: Any) -> Any:
    def body(i: Any, total: Any) -> Any:
        return i + 1, total + tf.reduce_sum(tf.ones([n]))

    return tf.while_loop(lambda i, total: i < 3, body, (0, x[0]))[1]


@pytest.mark.parametrize(
    "f",
    [by_range, by_zeros, by_tile, by_band, by_slice, in_a_branch, in_a_loop],
    ids=lambda f: f.__name__,
)
def test_it_is_compiled_for_each_value(f: Any) -> None:
    g, x = compiled(f), tf.constant([1.0, 2.0, 3.0])
    for n in SIZES:
        np.testing.assert_array_equal(g(tf.constant(n), x), f(tf.constant(n), x))
    assert g.experimental_get_tracing_count() == 1
    assert len(g.get_concrete_function(tf.constant(2), x).graph.cache[EXECUTABLES]) == len(
        set(SIZES)
    )


def test_other_arguments_are_not_looked_at() -> None:
    @compiled
    def f(n: Any, labels: Any) -> Any:
        return tf.zeros([n]) + tf.cast(tf.reduce_sum(labels), tf.float32)

    for k in range(5):
        assert f(tf.constant(2), tf.constant([k, 1])).numpy().tolist() == [k + 1.0] * 2
    graph = f.get_concrete_function(tf.constant(2), tf.constant([0, 1])).graph
    assert len(graph.cache[EXECUTABLES]) == 1


def test_gradients_and_variables() -> None:
    total = tf.Variable(0.0)

    @compiled
    def f(n: Any, x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x[:n] ** 2)
        total.assign_add(y)
        return tape.gradient(y, x)

    x = tf.constant([1.0, 2.0, 3.0])
    assert f(tf.constant(1), x).numpy().tolist() == [2.0, 0.0, 0.0]
    assert f(tf.constant(2), x).numpy().tolist() == [2.0, 4.0, 0.0]
    assert float(total) == 6.0
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = compiled(lambda n, x: tf.reduce_sum(x[:n] ** 3))(tf.constant(2), x)
    assert tape.gradient(y, x).numpy().tolist() == [3.0, 12.0, 0.0]


def test_inside_another_function() -> None:
    inner = compiled(by_zeros)
    outer = tf.function(lambda n: inner(n, tf.constant([1.0, 2.0, 3.0])) * 2.0)
    for n in SIZES:
        assert outer(tf.constant(n)).shape == (n, 3)


def test_what_is_large_or_a_variable_is_not_fixed() -> None:
    length = tf.Variable(3)
    for f, x in [
        (lambda x: x + tf.zeros([length]), tf.constant(1.0)),
        (lambda x: tf.zeros([tf.reduce_sum(x)]), tf.ones([100, 100], tf.int32)),
    ]:
        with pytest.raises(tf.errors.UnimplementedError, match="XLA needs fixed shapes"):
            compiled(f)(x)


# Variables are kept where a check fails, at no cost where none does.


def adam(checked: bool) -> tuple[Any, list[Any]]:
    """A step whose variables feed each other, and which looks up a label."""
    w, m, v = (tf.Variable(tf.ones([64, 64]) * k) for k in (1.0, 2.0, 3.0))

    @compiled
    def step(x: Any, label: Any) -> Any:
        row = tf.gather(x, label) if checked else x[0]
        g = x * row
        m.assign(0.9 * m + 0.1 * g)
        v.assign(0.99 * v + 0.01 * g * g)
        w.assign_sub(m / (tf.sqrt(v) + 1e-3))
        return tf.reduce_sum(w)

    return step, [w, m, v]


def test_a_failed_check_keeps_every_variable() -> None:
    step, variables = adam(checked=True)
    x = tf.constant(np.random.default_rng(0).random((64, 64), np.float32))
    step(x, tf.constant(1))
    before = [v.numpy() for v in variables]
    with pytest.raises(tf.errors.InvalidArgumentError):
        step(x, tf.constant(64))
    for v, old in zip(variables, before, strict=True):
        np.testing.assert_array_equal(v, old)
    step(x, tf.constant(2))
    assert not np.array_equal(variables[0], before[0])


def test_checks_cost_no_copies_of_the_variables() -> None:
    step, _ = adam(checked=True)
    x = tf.ones([64, 64])
    step(x, tf.constant(1))
    graph = step.get_concrete_function(x, tf.constant(1)).graph
    (found,) = graph.cache[EXECUTABLES].values()
    assert found.flagged
    assert "f32[64,64]{1,0} copy(" not in found.run.as_text()


def test_a_check_after_the_update_counts_too() -> None:
    v = tf.Variable(tf.ones([3]))
    w = tf.Variable(tf.ones([3]))

    @compiled
    def step(i: Any) -> Any:
        first = tf.gather(v, i)
        v.assign(v + first)
        w.assign(v)
        last = tf.gather(v, i * 2)
        w.assign_add(v * last)
        return last

    assert float(step(tf.constant(1))) == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        step(tf.constant(2))  # the second lookup fails
    assert v.numpy().tolist() == [2.0] * 3
    assert w.numpy().tolist() == [6.0] * 3


def _gradient(f: Any) -> Any:
    def gradient(*xs: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = f(*xs)
        return tf.convert_to_tensor(tape.gradient(y, xs[-1]))

    return gradient


ROWS = np.zeros(5000, np.int32)
# A sum of this many ones stops at 256 if it is added up in bfloat16.
LONG_SUMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "gradient of a bias": (_gradient(lambda x, b: x + b), ([5000, 3], [3])),
    "gradient of a scale": (_gradient(lambda x, b: x * b), ([20, 250, 3], [3])),
    "gradient of a depthwise filter": (
        _gradient(lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID")),
        ([5, 40, 40, 2], [3, 3, 2, 1]),
    ),
    "gradient of a grouped filter": (
        _gradient(lambda x, w: tf.nn.conv2d(x, w, 1, "VALID")),
        ([5, 40, 40, 4], [3, 3, 2, 4]),
    ),
    "gradient of a gather": (
        _gradient(lambda x: tf.gather(x * 1.0, ROWS, axis=1)), ([2, 3],),
    ),
    "gradient of gather_nd": (
        _gradient(lambda x: tf.gather_nd(x * 1.0, ROWS[:, None])), ([2, 3],),
    ),
    "scatter_nd": (lambda x: tf.scatter_nd(ROWS[:, None], x, [2]), ([5000],)),
    "tensor_scatter_nd_add": (
        lambda x, u: tf.tensor_scatter_nd_add(x, ROWS[:, None], u), ([2], [5000]),
    ),
    "einsum of one": (lambda x: tf.einsum("ij->j", x), ([5000, 2],)),
    "einsum of two": (lambda x, y: tf.einsum("ij,k->k", x, y), ([5000, 2], [3])),
    "overlap_and_add": (lambda x: tf.signal.overlap_and_add(x, 1), ([1200, 1200],)),
}  # fmt: skip


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("dtype", [tf.bfloat16, tf.float16])
@pytest.mark.parametrize("name", LONG_SUMS)
def test_half_precision_is_summed_in_single(name: str, dtype: Any, jit: bool) -> None:
    f, shapes = LONG_SUMS[name]
    wanted = f(*[tf.ones(s) for s in shapes]).numpy()
    found = tf.function(f, jit_compile=jit)(*[tf.ones(s, dtype) for s in shapes])
    assert found.dtype == dtype
    np.testing.assert_allclose(tf.cast(found, tf.float32).numpy(), wanted, rtol=1e-2)


def test_half_precision_is_rounded_where_eager_code_rounds() -> None:
    """Kept digits would make a maximum differ from every number that it was taken of."""
    rng = np.random.default_rng(0)
    x, w = (
        tf.constant(rng.standard_normal(s), tf.bfloat16) for s in ((4, 16, 16, 3), (3, 3, 3, 8))
    )

    def gradient(x: Any, w: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(w)
            h = tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME") * 1.1 + 0.3)
            y = tf.nn.max_pool2d(h, 2, 2, "VALID")
            total = tf.reduce_sum(y * y) + tf.reduce_sum(tf.reduce_max(h, [1, 2]))
        return tape.gradient(total, w)

    eager, found = gradient(x, w), compiled(gradient)(x, w)
    np.testing.assert_array_equal(tf.cast(found, tf.float32), tf.cast(eager, tf.float32))


@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.complex64])
@pytest.mark.parametrize("shape", [(), (3,)])
def test_a_number_that_is_read_often_is_written_once(dtype: Any, shape: Any) -> None:
    def unrolled(x: Any) -> Any:
        for _ in range(20):
            x = x * 0.75 + 0.3
        return x

    x = tf.fill(shape, tf.constant(2.0, dtype))
    step = compiled(unrolled)
    text = step.experimental_get_compiler_ir(x)()
    assert text.count("stablehlo.constant") <= 2
    compiled_to, expected = (np.asarray(tf.cast(f(x), tf.complex128)) for f in (step, unrolled))
    np.testing.assert_allclose(compiled_to, expected, rtol=1e-5 if dtype.size > 2 else 1e-2)


def test_what_is_known_by_sizes_may_be_computed_by_a_compiled_kernel() -> None:
    image = np.random.default_rng(0).normal(size=(1, 4, 4, 1)).astype(np.float32)
    filters = np.ones((2, 2, 1, 1), np.float32)

    def of_a_size(x: Any) -> Any:
        size = tf.cast(tf.shape(x)[0], tf.float32)
        return (
            tf.nn.conv2d(image * size, filters, 1, "SAME"),
            tf.nn.conv2d_transpose(image * size, filters, [1, 4, 4, 1], 1),
            tf.nn.max_pool2d(image * size, 2, 2, "SAME"),
        )

    x = tf.constant([1.0, 2.0])
    run = tf.function(of_a_size, jit_compile=True, input_signature=[tf.TensorSpec([None])])
    for found, expected in zip(run(x), of_a_size(x), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-5)
