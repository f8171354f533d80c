"""Cases for pooling: against a loop over windows, in every layout."""

from __future__ import annotations

import numpy as np

import wengert as tf
from tests.cases import Case, unique_values, whole
from tests.cases.convolution import first, last, pads

ALL = ("float16", "bfloat16", "float32", "float64")


def reference(x, kind, window, strides, padding, dilations=None):
    """Pools `[batch, *sizes, channels]`; padding counts for nothing."""
    spatial = x.ndim - 2
    dilations = dilations or (1,) * spatial
    pairs = pads(x.shape[1:-1], window, strides, dilations, padding)
    x = np.pad(x, [(0, 0), *pairs, (0, 0)], constant_values=np.nan)
    reach = [(k - 1) * d + 1 for k, d in zip(window, dilations, strict=True)]
    counts = [(n - r) // s + 1 for n, r, s in zip(x.shape[1:-1], reach, strides, strict=True)]
    y = np.zeros((x.shape[0], *counts, x.shape[-1]))
    for place in np.ndindex(*counts):
        part = tuple(
            slice(p * s, p * s + r, d)
            for p, s, r, d in zip(place, strides, reach, dilations, strict=True)
        )
        pooled = {"max": np.nanmax, "avg": np.nanmean}[kind]
        y[(slice(None), *place)] = pooled(x[(slice(None), *part)], tuple(range(1, spatial + 1)))
    return y


def pool2d(name, shape, window, strides, padding, **options):
    """Cases of both kinds in both layouts."""
    x = unique_values(*shape)
    made = []
    for kind, f in (("max", tf.nn.max_pool2d), ("avg", tf.nn.avg_pool2d)):
        for layout, move, back in (("nhwc", np.asarray, np.asarray), ("nchw", first, last)):
            outer = [(0, 0), (0, 0)]
            given = padding
            if not isinstance(padding, str):
                given = [*outer, *padding] if layout == "nchw" else [outer[0], *padding, outer[1]]
            made.append(
                Case(
                    f"{kind}_pool2d_{name}_{layout}",
                    lambda x, f=f, p=given, o=layout: f(x, window, strides, p, o.upper()),
                    (move(x),),
                    lambda x, k=kind, m=move, b=back: m(
                        reference(b(x), k, window, strides, padding)
                    ),
                    **options,
                )
            )
    return made


def with_place(x, y):
    """The maxima and where they stand in `x`, whose values are all different."""
    return y, np.argsort(x.ravel())[np.searchsorted(np.sort(x.ravel()), y)]


X1, X2, X3 = unique_values(2, 7, 3), unique_values(2, 6, 5, 2), unique_values(1, 4, 3, 5, 2)

CASES = [
    *pool2d("tiles", (2, 4, 6, 3), (2, 2), (2, 2), "VALID"),
    *pool2d("tiles_rest", (2, 5, 7, 2), (2, 3), (2, 3), "VALID"),
    *pool2d("same", (2, 5, 4, 2), (3, 2), (2, 1), "SAME"),
    *pool2d("overlap", (1, 6, 5, 2), (3, 3), (1, 2), "VALID"),
    *pool2d("gaps", (1, 7, 6, 2), (1, 2), (3, 3), "SAME"),
    *pool2d("explicit", (1, 5, 4, 2), (3, 2), (2, 2), [(1, 2), (0, 1)]),
    *pool2d("wide_window", (1, 9, 9, 1), (9, 8), (1, 1), "SAME"),
    *pool2d("half", (1, 4, 4, 2), (2, 2), (2, 2), "SAME", dtypes=ALL, half_tolerance=4e-2),
    Case("max_pool2d_many_tiles", lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"),
         (unique_values(2, 65, 64, 3),), lambda x: reference(x, "max", (2, 2), (2, 2), "SAME"),
         order=1),
    Case("max_pool2d_channels", lambda x: tf.nn.max_pool2d(x, [1, 1, 1, 2], [1, 1, 1, 2], "VALID"),
         (unique_values(2, 3, 3, 4),), lambda x: x.reshape(2, 3, 3, 2, 2).max(-1)),
    Case("max_pool2d_int", lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"), (whole(1, 3, 3, 2, low=-9),),
         lambda x: reference(x.astype(float), "max", (2, 2), (2, 2), "SAME"), order=0),
    Case("max_pool2d_empty", lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME"), (np.zeros((0, 4, 4, 1)),),
         lambda x: np.zeros((0, 2, 2, 1))),
    Case("max_pool1d", lambda x: tf.nn.max_pool1d(x, 3, 2, "SAME"), (X1,),
         lambda x: reference(x, "max", (3,), (2,), "SAME")),
    Case("max_pool1d_ncw", lambda x: tf.nn.max_pool1d(x, 3, 2, "VALID", "NCW"), (first(X1),),
         lambda x: first(reference(last(x), "max", (3,), (2,), "VALID"))),
    Case("max_pool3d", lambda x: tf.nn.max_pool3d(x, 2, [2, 1, 2], "SAME"), (X3,),
         lambda x: reference(x, "max", (2, 2, 2), (2, 1, 2), "SAME")),
    Case("max_pool", lambda x: tf.nn.max_pool(x, 2, 1, "VALID"), (X3,),
         lambda x: reference(x, "max", (2, 2, 2), (1, 1, 1), "VALID")),
    Case("avg_pool1d", lambda x: tf.nn.avg_pool1d(x, 3, 2, "SAME"), (X1,),
         lambda x: reference(x, "avg", (3,), (2,), "SAME")),
    Case("avg_pool3d", lambda x: tf.nn.avg_pool3d(x, [2, 2, 3], [2, 1, 2], "SAME", "NCDHW"),
         (first(X3),), lambda x: first(reference(last(x), "avg", (2, 2, 3), (2, 1, 2), "SAME"))),
    Case("avg_pool", lambda x: tf.nn.avg_pool(x, 2, 1, "SAME"), (X1,),
         lambda x: reference(x, "avg", (2,), (1,), "SAME")),
    Case("pool_max_dilated", lambda x: tf.nn.pool(x, [2, 2], "MAX", dilations=[2, 1]), (X2,),
         lambda x: reference(x, "max", (2, 2), (1, 1), "VALID", (2, 1))),
    Case("pool_avg_dilated",
         lambda x: tf.nn.pool(x, [3, 2], "AVG", padding="SAME", dilations=[2, 2]), (X2,),
         lambda x: reference(x, "avg", (3, 2), (1, 1), "SAME", (2, 2))),
    Case("max_pool_with_argmax", lambda x: tf.nn.max_pool_with_argmax(x, 2, 2, "SAME"),
         (unique_values(1, 4, 4, 1),),
         lambda x: with_place(x, reference(x, "max", (2, 2), (2, 2), "SAME"))),
    Case("max_pool_with_argmax_batch",
         lambda x: tf.nn.max_pool_with_argmax(
             x, [3, 2], 1, "SAME", output_dtype=tf.int32, include_batch_in_index=True).argmax,
         (unique_values(2, 3, 4, 2),), order=0),
]  # fmt: skip
