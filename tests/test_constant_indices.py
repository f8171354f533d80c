"""Masks, groups and places that a trace knows: sizes are known, and XLA runs them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf

X = np.arange(24.0, dtype=np.float32).reshape(3, 4, 2)
PLACES = [np.array([0, 3]), np.array([3])]
CASES = {
    "mask": lambda x: tf.boolean_mask(x, [True, False, True]),
    "mask of an axis": lambda x: tf.boolean_mask(x, [True, False, False, True], axis=1),
    "mask of two axes": lambda x: tf.boolean_mask(x, tf.constant([[True, False] * 2] * 3)),
    "mask of nothing": lambda x: tf.boolean_mask(x, [False] * 3),
    "groups": lambda x: tf.dynamic_partition(x, [2, 0, 2], 3),
    "groups of two axes": lambda x: tf.dynamic_partition(x, np.arange(12).reshape(3, 4) % 2, 2),
    "places, one twice, one not named": lambda x: tf.dynamic_stitch(PLACES, [x[:2], x[2:]]),
}


def with_gradient(f: Any, x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        parts = tf.nest.flatten(f(x))
        total = tf.add_n([tf.reduce_sum(p * p * (k + 1.0)) for k, p in enumerate(parts)])
    return parts, tape.gradient(total, x)


@pytest.mark.parametrize("f", CASES.values(), ids=CASES)
@pytest.mark.parametrize("jit", [None, True], ids=["host", "xla"])
def test_traced_equals_eager(f: Any, jit: bool | None) -> None:
    expected = with_gradient(f, tf.constant(X))
    found = tf.function(with_gradient, jit_compile=jit)(f, tf.constant(X))
    for a, b in zip(tf.nest.flatten(found), tf.nest.flatten(expected), strict=True):
        np.testing.assert_array_equal(a, b)


def test_sizes_are_known_while_tracing() -> None:
    seen = []

    @tf.function(input_signature=[tf.TensorSpec([3, None, 2])])
    def f(x: Any) -> Any:
        seen.append([part.shape.as_list() for f in CASES.values() for part in _known(f, x)])
        return tf.boolean_mask(x, [True, False, True])

    assert f(X).shape == (2, 4, 2)
    assert seen == [[[2, None, 2], [0, None, 2], [1, None, 2], [0, None, 2], [2, None, 2],
                     [4, None, 2]]]  # fmt: skip


def _known(f: Any, x: Any) -> list[Any]:
    """The results of those cases that do not look at the open axis."""
    open_axis = {CASES[k] for k in CASES if "axis" in k or "two axes" in k}
    return [] if f in open_axis else tf.nest.flatten(f(x))


def test_a_mask_for_an_open_size_is_still_checked() -> None:
    f = tf.function(lambda x: tf.boolean_mask(x, [True, False, True]))
    f = tf.function(f.python_function, input_signature=[tf.TensorSpec([None])])
    assert f([1.0, 2.0, 3.0]).numpy().tolist() == [1.0, 3.0]
    with pytest.raises(ValueError, match="boolean_mask"):
        f([1.0, 2.0])


def test_a_group_outside_is_refused_while_tracing() -> None:
    f = tf.function(lambda x: tf.dynamic_partition(x, [0, 5, 1], 2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="dynamic_partition"):
        f(X)


@pytest.mark.parametrize(
    "f", [lambda x: tf.as_string(x), lambda x: tf.unique(x)[0], lambda x: tf.where(x > 0)]
)
def test_what_xla_cannot_run_is_what_tensorflow_raises(f: Any) -> None:
    g = tf.function(f, jit_compile=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="XLA cannot run this operation"):
        g(tf.constant([1, 0]))
    with pytest.raises(tf.errors.UnimplementedError):
        g(tf.constant([1, 0]))
