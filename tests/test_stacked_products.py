"""Large stacks of products are computed by XLA in eager code, and are what NumPy says."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as tf
from wengert.core.process_settings import PROCESS
from wengert.ops import compiled

PRODUCTS = {
    "matmul": (tf.matmul, np.matmul),
    "transposed": (
        lambda x, y: tf.matmul(x, y, transpose_a=True, transpose_b=True),
        lambda x, y: np.matmul(x.mT, y.mT),
    ),
    "einsum": (
        lambda x, y: tf.einsum("bij,bjk->kbi", x, y),
        lambda x, y: np.einsum("bij,bjk->kbi", x, y, optimize=True),
    ),
    "broadcast": (
        lambda x, y: tf.matmul(tf.reshape(x, (8, 8, 128, 64)), y[:8]),
        lambda x, y: np.matmul(x.reshape(8, 8, 128, 64), y[:8]),
    ),
}


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", PRODUCTS)
def test_large_stacks_of_products(name, dtype):
    ours, numpys = PRODUCTS[name]
    r = np.random.default_rng(0)
    x, y = (r.standard_normal(s).astype(dtype) for s in ((64, 128, 64), (64, 64, 128)))
    compiled._cache.clear()
    found = ours(x, y)
    assert len(compiled._cache) == 1, "XLA was not asked"
    assert found.dtype == dtype
    near = {"float16": 5e-2, "float32": 1e-4, "float64": 1e-12}[dtype]
    np.testing.assert_allclose(found, numpys(x.astype("f8"), y.astype("f8")), near, near)


def test_small_stacks_and_whole_numbers_stay_with_numpy():
    compiled._cache.clear()
    tf.matmul(tf.ones([4, 8, 8]), tf.ones([4, 8, 8]))
    tf.matmul(tf.ones([64, 128, 64], tf.int32), tf.ones([64, 64, 128], tf.int32))
    assert not compiled._cache


def test_after_a_fork_numpy_computes_them(monkeypatch):
    monkeypatch.setattr(PROCESS, "lost_xla", True)
    y = tf.matmul(tf.ones([64, 128, 64]), tf.ones([64, 64, 128]))
    assert y[0, 0, 0].numpy() == 64


def test_sizes_that_do_not_fit_are_told_as_ever():
    with pytest.raises(tf.errors.InvalidArgumentError, match="inner dimensions must agree"):
        tf.matmul(tf.ones([64, 128, 64]), tf.ones([64, 63, 128]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not broadcast"):
        tf.matmul(tf.ones([64, 128, 64]), tf.ones([63, 64, 128]))


def test_gradients_of_large_stacks():
    x, y = tf.ones([64, 128, 64]), tf.ones([64, 64, 128])
    with tf.GradientTape() as tape:
        tape.watch([x, y])
        z = x @ y
    by_x, by_y = tape.gradient(z, [x, y])
    assert by_x.shape == x.shape
    assert set(by_x.numpy().ravel()) == {128.0}
    assert set(by_y.numpy().ravel()) == {128.0}
