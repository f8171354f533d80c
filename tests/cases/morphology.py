"""Cases for dilation and erosion: against a loop over windows."""

from __future__ import annotations

import numpy as np

import wengert as tf
from tests.cases import Case, normal, unique_values, whole
from tests.cases.convolution import pads

ALL = ("float16", "bfloat16", "float32", "float64")


def reference(x, w, strides, padding, dilations):
    """The largest sum of each window; padding counts for nothing."""
    window = w.shape[:2]
    pairs = pads(x.shape[1:3], window, strides, dilations, padding)
    x = np.pad(x, [(0, 0), *pairs, (0, 0)], constant_values=-np.inf)
    reach = [(k - 1) * d + 1 for k, d in zip(window, dilations, strict=True)]
    counts = [(n - r) // s + 1 for n, r, s in zip(x.shape[1:3], reach, strides, strict=True)]
    y = np.full((x.shape[0], *counts, x.shape[3]), -np.inf)
    for i, j in np.ndindex(*window):
        rows = np.arange(counts[0]) * strides[0] + i * dilations[0]
        columns = np.arange(counts[1]) * strides[1] + j * dilations[1]
        y = np.maximum(y, x[:, rows][:, :, columns] + w[i, j])
    return y


def eroded(x, w, *at):
    return -reference(-x, w[::-1, ::-1], *at)


def both(name, shape, window, strides, padding, dilations, **options):
    """Cases of a dilation and an erosion."""
    given = (unique_values(*shape), normal(*window, shape[3], seed=1))
    at = ([1, *strides, 1], padding, "NHWC", [1, *dilations, 1])
    plain = (strides, padding, dilations)
    return [
        Case(f"dilation2d_{name}", lambda x, w: tf.nn.dilation2d(x, w, *at), given,
             lambda x, w: reference(x, w, *plain), **options),
        Case(f"erosion2d_{name}", lambda x, w: tf.nn.erosion2d(x, w, *at), given,
             lambda x, w: eroded(x, w, *plain), **options),
    ]  # fmt: skip


ONES = [1, 1, 1, 1]
X, W = whole(2, 4, 5, 2, low=-9), whole(2, 3, 2, low=-3, high=4, seed=1)

CASES = [
    *both("valid", (2, 4, 5, 2), (2, 3), (1, 1), "VALID", (1, 1)),
    *both("same", (1, 5, 4, 2), (3, 2), (2, 1), "SAME", (1, 1)),
    *both("dilated", (1, 6, 7, 1), (2, 2), (1, 2), "SAME", (2, 3)),
    *both("gaps", (1, 7, 6, 2), (1, 2), (3, 3), "VALID", (1, 2)),
    *both("wide_window", (1, 9, 9, 1), (9, 8), (1, 1), "SAME", (1, 1), order=1),
    *both("half", (1, 4, 4, 2), (2, 2), (1, 1), "SAME", (1, 1), dtypes=ALL, half_tolerance=4e-2),
    *both("one_place", (1, 2, 3, 2), (1, 1), (1, 1), "SAME", (1, 1)),
    Case("dilation2d_int", lambda x, w: tf.nn.dilation2d(x, w, ONES, "SAME", "NHWC", ONES), (X, W),
         lambda x, w: reference(x.astype(float), w, (1, 1), "SAME", (1, 1)), order=0),
    Case("erosion2d_int", lambda x, w: tf.nn.erosion2d(x, w, ONES, "VALID", "NHWC", ONES), (X, W),
         lambda x, w: eroded(x.astype(float), w, (1, 1), "VALID", (1, 1)), order=0),
    Case("dilation2d_empty", lambda x, w: tf.nn.dilation2d(x, w, ONES, "SAME", "NHWC", ONES),
         (np.zeros((0, 4, 4, 1)), np.zeros((2, 2, 1))), lambda x, w: x),
]  # fmt: skip
