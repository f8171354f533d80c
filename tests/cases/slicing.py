"""Cases for indexing: integers, slices, new axes, `slice` and `strided_slice`."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as tf
from tests.cases import Case, normal, whole
from wengert.core.apply import apply
from wengert.ops.strides import SLICE_GRAD

X = normal(3, 4, 5)
ALL = ("float16", "bfloat16", "float32", "float64")


def _written(g: np.ndarray, index: Any, shape: tuple[int, ...]) -> np.ndarray:
    out = np.zeros(shape)
    out[index] = g
    return out


CASES = [
    Case("getitem_int", lambda x: x[1], (X,), lambda x: x[1], dtypes=ALL),
    Case("getitem_negative", lambda x: x[-1, -2, -3], (X,), lambda x: x[-1, -2, -3]),
    Case("getitem_slice", lambda x: x[1:, :2], (X,), lambda x: x[1:, :2], dtypes=ALL),
    Case("getitem_steps", lambda x: x[::-1, 3:0:-2, ::2], (X,), lambda x: x[::-1, 3:0:-2, ::2]),
    Case("getitem_ellipsis", lambda x: x[..., 1], (X,), lambda x: x[..., 1]),
    Case("getitem_newaxis", lambda x: x[None, 1, ..., None], (X,), lambda x: x[None, 1, ..., None]),
    Case("getitem_all", lambda x: x[...], (X,), lambda x: x),
    Case("getitem_nothing", lambda x: x[2:1, ::-1], (X,), lambda x: x[2:1, ::-1]),
    Case("getitem_past_the_end", lambda x: x[1:99, -99:], (X,), lambda x: x[1:99, -99:]),
    Case("getitem_empty", lambda x: x[:, ::-1], (normal(0, 3),), lambda x: x[:, ::-1]),
    Case("getitem_backwards_to_nothing", lambda x: x[0:0:-1], (X,), lambda x: x[0:0:-1]),
    Case("getitem_scalar", lambda x: x[..., None], (np.array(2.0),), lambda x: x[None]),
    Case("getitem_tensor", lambda x: x[tf.constant(1) :, tf.constant(2)], (X,), lambda x: x[1:, 2]),
    Case("getitem_numpy", lambda x: x[np.int64(1) :, np.array(2)], (X,), lambda x: x[1:, 2]),
    Case("getitem_of_whole_numbers", lambda x: x[1:], (whole(3),), lambda x: x[1:], order=0),
    Case("getitem_complex", lambda x: x[::-1], (normal(3) + 1j * normal(3, seed=1),),
         lambda x: x[::-1]),
    Case("getitem_large", lambda x: x[3], (normal(200, 200),), lambda x: x[3], order=1),
    Case("iterate", lambda x: [row * 2.0 for row in x], (normal(3, 2),), lambda x: list(x * 2),
         needs_sizes="Python counts the rows while tracing"),
    Case("slice", lambda x: tf.slice(x, [1, 0, 2], [2, -1, 0]), (X,), lambda x: x[1:, :, 2:2]),
    Case("strided_slice", lambda x: tf.strided_slice(x, [2, 0], [0, 3], [-1, 2]), (X,),
         lambda x: x[2:0:-1, 0:3:2]),
    Case("strided_slice_masks",
         lambda x: tf.strided_slice(x, [1, 0, 0, 9], [9, 0, 0, 1], [1, 1, 1, 1], end_mask=1,
                                    new_axis_mask=2, ellipsis_mask=4, begin_mask=8),
         (X,), lambda x: x[1:, None, ..., :1]),
    Case("strided_slice_shrink",
         lambda x: tf.strided_slice(x, [1, -1], [0, 0], shrink_axis_mask=3), (X,),
         lambda x: x[1, -1]),
    Case("slice_grad",
         lambda g: apply(SLICE_GRAD, g, index=((None, None, -2), 1, None, Ellipsis), shape=(3, 4, 5)),
         (normal(2, 1, 5),),
         lambda g: _written(g, np.index_exp[::-2, 1, None, ...], (3, 4, 5))),
    Case("slice_grad_of_nothing",
         lambda g: apply(SLICE_GRAD, g, index=((2, 1, None),), shape=(3, 4)), (normal(0, 4),),
         lambda g: np.zeros((3, 4))),
]  # fmt: skip
