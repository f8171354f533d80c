"""Whichever way a convolution is computed, it agrees with XLA's own, and so do its gradients."""

from __future__ import annotations

import functools

import jax
import numpy as np
import pytest

import wengert as tf
from wengert.ops import convolution_lowerings as lowerings
from wengert.ops.fast_reductions import fold
from wengert.ops.sliding import Windows
from wengert.testing import check_gradients

# kind, image, window, outputs, strides, padding, dilations, channels first
CASES = {
    "depthwise": ((8, 9, 7, 5), (3, 3), "depthwise", 1, (1, 1), "SAME", (1, 1), False),
    "multiplied": ((3, 9, 8, 4), (3, 2), "depthwise", 3, (1, 1), "VALID", (1, 1), False),
    "strided": ((5, 16, 9, 6), (3, 3), "depthwise", 1, (2, 3), "SAME", (1, 1), False),
    "dilated": ((1, 16, 9, 6), (3, 3), "depthwise", 1, (1, 1), "SAME", (2, 3), False),
    "both": ((2, 16, 12, 3), (2, 3), "depthwise", 2, (2, 1), ((3, 1), (0, 4)), (3, 2), False),
    "first": ((4, 6, 9, 7), (3, 3), "depthwise", 2, (1, 2), "SAME", (1, 1), True),
    "line": ((6, 20, 5), (4,), "depthwise", 1, (2,), ((1, 2),), (1,), False),
    "space": ((2, 5, 6, 7, 3), (2, 2, 3), "depthwise", 1, (1, 2, 1), "SAME", (1,) * 3, False),
    "one image": ((1, 8, 8, 4), (3, 3), "depthwise", 1, (1, 1), "SAME", (1, 1), False),
    "groups": ((4, 9, 7, 6), (3, 3), 2, 4, (2, 1), "SAME", (1, 1), False),
    "groups first": ((3, 6, 9, 7), (3, 2), 3, 9, (1, 1), "VALID", (1, 2), True),
    "plain": ((4, 9, 7, 6), (3, 3), 1, 4, (2, 1), "SAME", (1, 1), False),
    "few channels": ((16, 12, 12, 1), (3, 3), 1, 8, (1, 1), "VALID", (1, 1), False),
    "plain dilated": ((2, 12, 12, 3), (3, 3), 1, 8, (1, 1), ((0, 3), (2, 2)), (2, 1), False),
    "points": ((4, 9, 7, 6), (1, 1), 1, 4, (1, 1), "SAME", (1, 1), False),
    "points strided": ((4, 9, 7, 6), (1, 1), 1, 4, (2, 2), "SAME", (1, 1), False),
}


def _arranged(image, window, groups, outputs, strides, padding, dilations, first):
    channels = image[1 if first else -1]
    count = channels if groups == "depthwise" else groups
    outer = channels * outputs if groups == "depthwise" else outputs
    at = Windows(strides, padding, dilations, first)
    return image, (*window, channels // count, outer), count, at


@pytest.mark.parametrize("case", CASES)
def test_all_three_products_agree_with_the_plain_one(case):
    dtype = "float32" if len(case) % 2 else "float64"
    shape, window, groups, at = _arranged(*CASES[case])
    r = np.random.default_rng(1)
    with jax.enable_x64(dtype == "float64"):
        x, w = (r.normal(size=s).astype(dtype) for s in (shape, window))
        own = functools.partial(lowerings._plain, at=at, groups=groups)
        wanted, pull = jax.vjp(jax.jit(own), x, w)
        g = r.normal(size=wanted.shape).astype(dtype)
        by_x, by_w = pull(g)
        rules = at._asdict()
        found = [
            jax.jit(functools.partial(lowerings.lower_conv, **rules))(x, w),
            jax.jit(functools.partial(lowerings.lower_input, shape=shape, **rules))(g, w),
            jax.jit(functools.partial(lowerings.lower_filter, shape=window, **rules))(x, g),
        ]
    near = 1e-4 if dtype == "float32" else 1e-11
    for got, want in zip(found, (wanted, by_x, by_w), strict=True):
        np.testing.assert_allclose(got, want, rtol=near, atol=near)


@pytest.mark.parametrize("case", ["both", "first", "groups"])
def test_gradients_to_order_two(case):
    shape, window, _, at = _arranged(*CASES[case])
    if case == "first":
        shape = (1, *shape[1:])
    r = np.random.default_rng(2)
    x, w = (tf.constant(r.normal(size=s)) for s in (shape, window))
    format = "NCHW" if at.first else "NHWC"
    whole = at.padding if isinstance(at.padding, str) else [[0, 0], *at.padding, [0, 0]]

    def run(x, w):
        y = tf.nn.conv2d(x, w, at.strides, whole, format, at.dilations)
        return tf.reduce_sum(tf.sin(y))

    check_gradients(run, [x, w], order=2)


@pytest.mark.parametrize("combine", ["add", "max", "min", "mul"])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [((9, 31, 33, 5), (0, 1)), ((40, 7, 50, 9), (1, 2)), ((8, 8, 16, 16), (0, 1, 2))],
)
def test_columns_by_windows(shape, axis, combine):
    ways = {"add": (0, np.sum), "max": (-np.inf, np.max), "min": (np.inf, np.min)}
    start, reference = ways.get(combine, (1, np.prod))
    x = np.random.default_rng(3).uniform(0.9, 1.1, shape).astype("float32")
    found = jax.jit(lambda x: fold(x, start, getattr(jax.lax, combine), axis))(x)
    np.testing.assert_allclose(found, reference(x.astype("float64"), axis), rtol=2e-4)
