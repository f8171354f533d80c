"""Cases for convolutions: against a plain loop over windows, in every layout."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

import wengert as tf
from tests.cases import Case, normal, whole

ALL = ("float16", "bfloat16", "float32", "float64")


def pads(sizes, window, strides, dilations, padding):
    """The padding before and after each axis."""
    if padding == "VALID":
        return [(0, 0)] * len(sizes)
    if padding != "SAME":
        return [tuple(p) for p in padding]
    found = []
    for n, k, s, d in zip(sizes, window, strides, dilations, strict=True):
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        found.append((total // 2, total - total // 2))
    return found


def reference(x, w, strides, padding, dilations=None):
    """A convolution of `[batch, *sizes, channels]`, window place by window place."""
    spatial = w.ndim - 2
    dilations = dilations or (1,) * spatial
    window = w.shape[:spatial]
    pairs = pads(x.shape[1:-1], window, strides, dilations, padding)
    x = np.pad(x, [(0, 0), *pairs, (0, 0)])
    reach = [(k - 1) * d + 1 for k, d in zip(window, dilations, strict=True)]
    counts = [(n - r) // s + 1 for n, r, s in zip(x.shape[1:-1], reach, strides, strict=True)]
    groups = x.shape[-1] // w.shape[-2]
    outs = []
    for g, wg in enumerate(np.split(w, groups, -1)):
        xg = x[..., g * w.shape[-2] : (g + 1) * w.shape[-2]]
        y = np.zeros((x.shape[0], *counts, wg.shape[-1]), x.dtype)
        for place in itertools.product(*map(range, window)):
            part = tuple(
                slice(p * d, p * d + (n - 1) * s + 1, s)
                for p, d, n, s in zip(place, dilations, counts, strides, strict=True)
            )
            y += xg[(slice(None), *part)] @ wg[place]
        outs.append(y)
    return np.concatenate(outs, -1)


def transposed(x, w, shape, strides, padding):
    """The transpose of `reference` in its first argument, column by column of the identity."""
    out = np.zeros(shape)
    for i in np.ndindex(shape):
        unit = np.zeros(shape)
        unit[i] = 1
        out[i] = np.sum(reference(unit, w, strides, padding) * x)
    return out


def first(x):
    """Channels first."""
    return np.moveaxis(x, -1, 1)


def last(x):
    """Channels last."""
    return np.moveaxis(x, 1, -1)


def conv2d(
    name, shape, filters, strides=(1, 1), padding: Any = "SAME", dilations=(1, 1), **options
):
    """A case of `conv2d` in both layouts."""
    x, w = normal(*shape), normal(*filters, seed=1)
    given = padding if isinstance(padding, str) else [(0, 0), *padding, (0, 0)]
    given_first = padding if isinstance(padding, str) else [(0, 0), (0, 0), *padding]
    return [
        Case(
            f"conv2d_{name}",
            lambda x, w: tf.nn.conv2d(x, w, strides, given, dilations=dilations),
            (x, w),
            lambda x, w: reference(x, w, strides, padding, dilations),
            **options,
        ),
        Case(
            f"conv2d_{name}_nchw",
            lambda x, w: tf.nn.conv2d(x, w, strides, given_first, "NCHW", dilations),
            (first(x), w),
            lambda x, w: first(reference(last(x), w, strides, padding, dilations)),
            **options,
        ),
    ]


def depthwise(x, w, strides, padding, dilations=None):
    return reference(x, w.reshape(*w.shape[:2], 1, -1), strides, padding, dilations)


X1, X2, X3 = normal(2, 7, 3), normal(2, 6, 5, 4), normal(1, 4, 3, 5, 2)
W1, W2, W3 = normal(3, 3, 4, seed=1), normal(3, 2, 4, 3, seed=1), normal(2, 3, 2, 2, 3, seed=1)
DEPTHWISE = normal(3, 3, 4, 2, seed=2)

CASES = [
    *conv2d("same", (2, 5, 6, 3), (3, 3, 3, 4), dtypes=ALL, half_tolerance=4e-2),
    *conv2d("valid", (2, 5, 6, 3), (3, 2, 3, 4), padding="VALID"),
    *conv2d("strides", (2, 7, 6, 2), (3, 3, 2, 3), strides=(2, 3)),
    *conv2d("dilations", (1, 7, 8, 2), (3, 2, 2, 3), dilations=(2, 3)),
    *conv2d("strides_dilations", (1, 9, 8, 2), (3, 3, 2, 2), (2, 1), "VALID", (2, 3)),
    *conv2d("explicit", (2, 4, 5, 2), (3, 3, 2, 3), (2, 1), [(0, 2), (1, 0)]),
    *conv2d("groups", (2, 5, 4, 6), (3, 3, 2, 9), (2, 1)),
    *conv2d("one_channel", (2, 5, 4, 1), (3, 3, 1, 4), (1, 2)),
    *conv2d("window_of_one", (2, 5, 4, 3), (1, 1, 3, 4), (2, 2)),
    *conv2d("empty_batch", (0, 5, 4, 3), (2, 2, 3, 4)),
    *conv2d("no_windows", (2, 2, 5, 3), (3, 2, 3, 4), padding="VALID"),
    Case("conv2d_int32", lambda x, w: tf.nn.conv2d(x, w, 1, "SAME"),
         (whole(1, 4, 4, 2), whole(2, 2, 2, 3, seed=1)),
         lambda x, w: reference(x, w, (1, 1), "SAME"), order=0),
    Case("conv2d_batch_axes", lambda x, w: tf.nn.conv2d(x, w, 1, "VALID"),
         (normal(2, 3, 4, 4, 2), normal(2, 2, 2, 3, seed=1)),
         lambda x, w: np.stack([reference(a, w, (1, 1), "VALID") for a in x])),
    Case("conv1d", lambda x, w: tf.nn.conv1d(x, w, 2, "SAME"), (X1, W1),
         lambda x, w: reference(x, w, (2,), "SAME")),
    Case("conv1d_ncw", lambda x, w: tf.nn.conv1d(x, w, 1, "VALID", "NCW", 2), (first(X1), W1),
         lambda x, w: first(reference(last(x), w, (1,), "VALID", (2,)))),
    Case("conv1d_explicit", lambda x, w: tf.nn.conv1d(x, w, 1, [(0, 0), (2, 0), (0, 0)]), (X1, W1),
         lambda x, w: reference(x, w, (1,), [(2, 0)])),
    Case("conv3d", lambda x, w: tf.nn.conv3d(x, w, [1, 2, 1, 2, 1], "SAME"), (X3, W3),
         lambda x, w: reference(x, w, (2, 1, 2), "SAME")),
    Case("conv3d_ncdhw", lambda x, w: tf.nn.conv3d(x, w, [1, 1, 1, 1, 1], "VALID", "NCDHW"),
         (first(X3), W3), lambda x, w: first(reference(last(x), w, (1, 1, 1), "VALID"))),
    Case("convolution", lambda x, w: tf.nn.convolution(x, w, [2, 1], "SAME"), (X2, W2),
         lambda x, w: reference(x, w, (2, 1), "SAME")),
    Case("atrous_conv2d", lambda x, w: tf.nn.atrous_conv2d(x, w, 2, "SAME"), (X2, W2),
         lambda x, w: reference(x, w, (1, 1), "SAME", (2, 2))),
    Case("depthwise_conv2d", lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 2, 2, 1], "SAME"),
         (X2, DEPTHWISE), lambda x, w: depthwise(x, w, (2, 2), "SAME"), dtypes=ALL,
         half_tolerance=4e-2),
    Case("depthwise_conv2d_nchw",
         lambda x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 2], "VALID", "NCHW", [2, 1]),
         (first(X2), DEPTHWISE),
         lambda x, w: first(depthwise(last(x), w, (1, 2), "VALID", (2, 1)))),
    Case("separable_conv2d",
         lambda x, d, p: tf.nn.separable_conv2d(x, d, p, [1, 2, 2, 1], "SAME"),
         (X2, DEPTHWISE, normal(1, 1, 8, 3, seed=4)),
         lambda x, d, p: depthwise(x, d, (2, 2), "SAME") @ p[0, 0]),
    Case("conv1d_transpose", lambda x, w: tf.nn.conv1d_transpose(x, w, [2, 13, 2], 2),
         (X1, normal(4, 2, 3, seed=1)),
         lambda x, w: transposed(x, w, (2, 13, 2), (2,), "SAME")),
    Case("conv2d_transpose", lambda x, w: tf.nn.conv2d_transpose(x, w, [1, 5, 6, 2], 2),
         (normal(1, 3, 3, 3), normal(3, 2, 2, 3, seed=1)),
         lambda x, w: transposed(x, w, (1, 5, 6, 2), (2, 2), "SAME")),
    Case("conv2d_transpose_valid",
         lambda x, w: tf.nn.conv2d_transpose(x, w, [1, 8, 7, 2], [2, 3], "VALID"),
         (normal(1, 3, 2, 3), normal(3, 3, 2, 3, seed=1)),
         lambda x, w: transposed(x, w, (1, 8, 7, 2), (2, 3), "VALID")),
    Case("conv2d_transpose_nchw",
         lambda x, w: tf.nn.conv2d_transpose(x, w, [1, 2, 5, 6], 2, data_format="NCHW"),
         (normal(1, 3, 3, 3), normal(3, 2, 2, 3, seed=1)),
         lambda x, w: first(transposed(last(x), w, (1, 5, 6, 2), (2, 2), "SAME"))),
    Case("conv3d_transpose", lambda x, w: tf.nn.conv3d_transpose(x, w, [1, 4, 2, 3, 2], 2),
         (normal(1, 2, 1, 2, 3), normal(2, 2, 3, 2, 3, seed=1)),
         lambda x, w: transposed(x, w, (1, 4, 2, 3, 2), (2, 2, 2), "SAME")),
    Case("conv_transpose", lambda x, w: tf.nn.conv_transpose(x, w, [2, 13, 2], 2),
         (X1, normal(4, 2, 3, seed=1)),
         lambda x, w: transposed(x, w, (2, 13, 2), (2,), "SAME")),
    Case("atrous_conv2d_transpose",
         lambda x, w: tf.nn.atrous_conv2d_transpose(x, w, [2, 6, 5, 2], 2, "SAME"),
         (X2, normal(3, 3, 2, 4, seed=1))),
]  # fmt: skip
