"""Compiled products, sums and elementwise chains give what eager code gives, whatever is fused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.core import compiler


def compiled(f: Any) -> Any:
    return tf.function(f, jit_compile=True)


def squares(*shape: int, dtype: str = "float64") -> Any:
    a = np.random.default_rng(0).normal(size=shape).astype(dtype)
    return tf.constant(a @ np.swapaxes(a, -1, -2))


def test_a_product_with_one_broadcast_number() -> None:
    def f(x: Any, c: Any) -> Any:
        return tf.reduce_sum(tf.matmul(x, tf.broadcast_to(c, x.shape)) * x, [1, 2])

    x, c = squares(5, 60, 60), tf.constant(0.7, tf.float64)
    np.testing.assert_allclose(compiled(f)(x, c), f(x, c), rtol=1e-10)


def test_a_gradient_made_of_products_with_ones() -> None:
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.matmul(x, x))
        return tf.reduce_sum(tape.gradient(y, x) * x, [1, 2])

    x = squares(5, 60, 60)
    np.testing.assert_allclose(compiled(f)(x), f(x), rtol=1e-10)


def test_a_sum_over_one_of_seven_axes() -> None:
    x = tf.reshape(tf.range(3.0 * 2 * 2 * 8 * 8 * 8), [3, 1, 2, 2, 8, 8, 8])

    def f(x: Any) -> Any:
        return tf.reduce_sum(x * x, 3)

    np.testing.assert_allclose(compiled(f)(x), f(x), rtol=1e-6)


def test_a_gradient_of_products_in_half_precision() -> None:
    def f(q: Any, k: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([q, k])
            y = tf.reduce_logsumexp(tf.einsum("bthd,bshd->bhts", q, k), -1)
        return tape.gradient(y, [q, k])

    rng = np.random.default_rng(0)
    q, k = (tf.cast(rng.normal(size=(4, 64, 8, 32)), tf.bfloat16) for _ in range(2))
    for got, want in zip(compiled(f)(q, k), f(q, k), strict=True):
        np.testing.assert_allclose(tf.cast(got, "float32"), tf.cast(want, "float32"), atol=0.1)


@pytest.mark.parametrize(("dtype", "rows"), [("float64", 16_385), ("float32", 32_769)])
def test_many_rows_through_a_small_matrix(dtype: str, rows: int) -> None:
    i = tf.range(rows, dtype=dtype)
    x, m = tf.stack([i, 0 * i, 0 * i], 1), tf.eye(3, dtype=dtype)

    def f(x: Any, m: Any) -> Any:
        return tf.vectorized_map(lambda row: tf.reduce_sum(tf.linalg.matvec(m, row) ** 2), x)

    np.testing.assert_array_equal(compiled(f)(x, m), tf.square(i))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32"])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_stacks_of_tiny_matrices(left: bool, right: bool, dtype: str) -> None:
    rng = np.random.default_rng(0)
    for lead, m, k, p in (((8,), 4, 4, 4), ((3, 5), 2, 8, 3), ((20,), 1, 3, 1), ((9,), 5, 1, 8)):
        a = tf.cast(3 * rng.normal(size=(*lead, k, m) if left else (*lead, m, k)), dtype)
        b = tf.cast(3 * rng.normal(size=(*lead, p, k) if right else (*lead, k, p)), dtype)

        def f(a: Any, b: Any) -> Any:
            if dtype == "int32":
                return (tf.matmul(a, b, transpose_a=left, transpose_b=right),)
            with tf.GradientTape() as tape:
                tape.watch([a, b])
                y = tf.matmul(a, b, transpose_a=left, transpose_b=right)
            return y, *tape.gradient(y, [a, b])

        close = {"float16": 2e-3, "bfloat16": 1e-2}.get(dtype, 1e-5)
        for found, wanted in zip(compiled(f)(a, b), f(a, b), strict=True):
            x, y = (np.asarray(tf.cast(t, "float64")) for t in (found, wanted))
            np.testing.assert_allclose(x, y, rtol=close, atol=close)


def test_a_large_constant_of_whole_numbers() -> None:
    table = np.arange(5000, dtype=np.int64) + 2**40

    def f(x: Any) -> Any:
        return x + tf.cast(tf.constant(table) - 2**40, tf.float32)

    np.testing.assert_array_equal(compiled(f)(tf.ones([5000])), np.arange(5000) + 1.0)


def test_the_greatest_of_what_is_computed_anew() -> None:
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x / (1 + tf.reduce_sum(x * x, -2, keepdims=True))
            y -= tf.reduce_max(y, -1, keepdims=True)
            z = tf.reduce_sum(y - tf.reduce_max(y, -1, keepdims=True))
        return tape.gradient(z, x)

    x = tf.constant(np.random.default_rng(3).uniform(-1, 1, (3, 100, 100)))
    np.testing.assert_allclose(compiled(f)(x), f(x), rtol=1e-9, atol=1e-12)


def test_the_greatest_of_all_with_open_sizes() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, None])], jit_compile=True)
    def f(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_max(x) + tf.reduce_min(x, 0)[0]
        return tape.gradient(y, x)

    x = tf.constant([[3.0, 5.0, 5.0], [3.0, np.inf, 5.0]])
    np.testing.assert_array_equal(f(x), [[0.5, 0, 0], [0.5, 1, 0]])
    np.testing.assert_array_equal(f(x[:, ::2]), [[0.5, 0.5], [0.5, 0.5]])
    assert np.isnan(f(tf.constant([[1.0, np.nan]])))[0].all()


def _program(rng: np.random.Generator) -> Any:
    """A random chain on square matrices of one batch, as a list of steps."""
    names = ["left", "right", "twice", "scale", "spread", "transposed", "relu", "rows", "columns"]
    steps = [str(s) for s in rng.choice(names, size=int(rng.integers(3, 8)))]
    end = str(rng.choice(["all", "matrix", "row", "none"]))

    def run(x: Any, w: Any, c: Any) -> Any:
        y = x
        for step in steps:
            if step == "left":
                y = tf.matmul(w, y)
            elif step == "right":
                y = tf.matmul(y, w, transpose_b=True)
            elif step == "twice":
                y = tf.matmul(y, y, transpose_a=True)
            elif step == "scale":
                y = y * c
            elif step == "spread":
                y = tf.matmul(y, tf.broadcast_to(c, y.shape)) * x
            elif step == "transposed":
                y = tf.linalg.matrix_transpose(y) + x
            elif step == "relu":
                y = tf.nn.relu(y + 0.1 * c)
            elif step == "rows":
                y = y - tf.reduce_max(y, -1, keepdims=True)
            else:
                y = y / (1 + tf.reduce_sum(y * y, -2, keepdims=True))
        axes = {"all": None, "matrix": [-2, -1], "row": -1, "none": []}[end]
        return tf.reduce_sum(y, axes)

    return run


@pytest.mark.parametrize("seed", range(24))
def test_random_chains(seed: int) -> None:
    rng = np.random.default_rng(seed)
    batch = [(), (3,), (2, 2)][seed % 3]
    side = int(rng.choice([3, 17, 64, 100]))
    dtype = "float32" if seed % 2 else "float64"
    x = tf.constant(rng.uniform(-1, 1, (*batch, side, side)).astype(dtype) / side)
    w = tf.constant(rng.uniform(-1, 1, (side, side)).astype(dtype) / side)
    c = tf.constant(0.5, dtype)
    run = _program(rng)

    def f(x: Any, w: Any, c: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = run(x, w, c)
        return y, *tape.gradient(y, [x, w], unconnected_gradients="zero")

    for got, want in zip(compiled(f)(x, w, c), f(x, w, c), strict=True):
        scale = float(np.abs(want).max()) + 1e-30
        near = 1e-3 if dtype == "float32" else 1e-10
        np.testing.assert_allclose(got / scale, want / scale, atol=near)


def test_settings_that_xla_does_not_know_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    known = dict(compiler.options())
    monkeypatch.setattr(compiler, "_KNOWN", (0, 0))
    monkeypatch.setattr(compiler, "_WISHES", {**known, "xla_of_another_time": True})
    compiler.options.cache_clear()
    assert compiler.options() == known
    compiler.options.cache_clear()
