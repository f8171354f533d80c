"""Functions of one number on arrays so large that XLA computes them, block by block."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.core.process_settings import PROCESS

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "gelu": tf.nn.gelu,
    "gelu by tanh": lambda x: tf.nn.gelu(x, approximate=True),
    "silu": tf.nn.silu,
    "swish of 1.5": lambda x: tf.nn.silu(x, 1.5),
    "erf": tf.math.erf,
    "erfc": tf.math.erfc,
}
SIZES = [2**17 - 1, 2**17, 2**17 + 1, 200_000]


def gradient(f: Callable[..., Any], x: Any) -> tuple[Any, Any]:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return y, tape.gradient(y, x)


def in_parts(f: Callable[..., Any], x: Any) -> tuple[np.ndarray, np.ndarray]:
    """The same by NumPy, a few numbers at a time."""
    values, slopes = zip(*[gradient(f, part) for part in tf.split(x, 8)], strict=True)
    return np.concatenate(values), np.concatenate(slopes)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_many_numbers_have_the_values_of_few(name: str, dtype: str) -> None:
    x = tf.constant(np.random.default_rng(0).normal(0, 3, 2**17 + 8).astype(dtype))
    close = {"float32": 1e-5, "float64": 1e-11, "float16": 2e-3}[dtype]
    for found, wanted in zip(
        gradient(FUNCTIONS[name], x), in_parts(FUNCTIONS[name], x), strict=True
    ):
        assert found.dtype.name == dtype
        np.testing.assert_allclose(found, wanted, rtol=close, atol=close)


@pytest.mark.parametrize("size", SIZES)
def test_every_block_is_filled(size: int) -> None:
    x = np.linspace(-3, 3, size, dtype=np.float32)
    found = tf.math.erf(tf.constant(x)).numpy()
    assert (np.diff(found) >= -1e-6).all()
    assert found[0] < -0.99997
    assert found[-1] > 0.99997


def test_many_numbers_in_any_order_of_memory() -> None:
    x = np.random.default_rng(0).standard_normal((500, 400)).astype(np.float32)
    for array in (x.T, x[::-1], np.asfortranarray(x), x[:, ::2].repeat(2, 1)):
        np.testing.assert_allclose(
            tf.math.erf(array), tf.math.erf(array.copy()), rtol=1e-6, atol=1e-7
        )
        assert tf.math.erf(array).shape == array.shape


def test_a_forked_process_computes_many_numbers_by_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    x = tf.constant(np.linspace(-3, 3, 2**17, dtype=np.float32))
    before = tf.nn.gelu(x)
    monkeypatch.setattr(PROCESS, "lost_xla", True)
    np.testing.assert_allclose(tf.nn.gelu(x), before, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 0.2, 1.0, 1.5, -0.3])
def test_the_gradient_of_leaky_relu_is_one_or_alpha(alpha: float) -> None:
    x = tf.constant(np.array([-2.0, -0.0, 0.0, 3.0, np.nan, np.inf, -np.inf], np.float32))
    slope = np.asarray(gradient(lambda x: tf.nn.leaky_relu(x, alpha), x)[1])
    wanted = np.where(np.asarray(x) > 0, np.float32(1), np.float32(alpha))
    np.testing.assert_array_equal(slope, wanted)
