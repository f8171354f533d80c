"""Cases for moving elements: identity, reshape, transpose, axes of size 1, broadcasting, stacking."""

from __future__ import annotations

import numpy as np

import wengert as tf
from tests.cases import Case, normal, whole
from wengert.ops.shaping import sum_to

ALL = ("float16", "bfloat16", "float32", "float64")


def complex_normal(*shape: int) -> np.ndarray:
    return normal(*shape) + 1j * normal(*shape, seed=1)


HELD = tf.Variable([0.5, -1.0])

CASES = [
    Case("identity", lambda x: tf.identity(x), (normal(2, 3),), lambda x: x, dtypes=ALL),
    Case("identity_n", lambda x, i: tf.identity_n([x, i]), (normal(2), whole(3)),
         lambda x, i: [x, i]),
    Case("stop_gradient", lambda x: tf.stop_gradient(x), (normal(2),), lambda x: x, order=0),
    Case("read_variable", lambda x: x + tf.cast(HELD.read_value(), x.dtype), (normal(2),),
         lambda x: x + np.array([0.5, -1.0])),
    Case("reshape", lambda x: tf.reshape(x, [3, -1]), (normal(2, 6),), lambda x: x.reshape(3, 4),
         dtypes=ALL),
    Case("reshape_empty", lambda x: tf.reshape(x, [0, 5]), (normal(0, 3),), lambda x: x.reshape(0, 5)),
    Case("reshape_open_beside_zero", lambda x: tf.reshape(x, [-1, 0]), (normal(0, 3),),
         lambda x: x.reshape(3, 0)),
    Case("reshape_scalar", lambda x: tf.reshape(x, []), (normal(1, 1),), lambda x: x.reshape(())),
    Case("reshape_complex", lambda x: tf.reshape(x, 4), (complex_normal(2, 2),),
         lambda x: x.reshape(4)),
    Case("transpose", lambda x: tf.transpose(x), (normal(2, 3, 4),), lambda x: x.T),
    Case("transpose_perm", lambda x: tf.transpose(x, [1, -1, 0]), (normal(2, 3, 4),),
         lambda x: x.transpose(1, 2, 0), dtypes=ALL),
    Case("transpose_conjugate", lambda x: tf.transpose(x, conjugate=True), (complex_normal(2, 3),),
         lambda x: x.conj().T),
    Case("transpose_scalar", lambda x: tf.transpose(x), (np.array(2.0),), lambda x: x),
    Case("expand_dims", lambda x: tf.expand_dims(x, -2), (normal(2, 3),), lambda x: x[:, None]),
    Case("expand_dims_first", lambda x: tf.expand_dims(x, 0), (np.array(2.0),), lambda x: x[None]),
    Case("squeeze", lambda x: tf.squeeze(x), (normal(1, 2, 1),), lambda x: x.squeeze()),
    Case("squeeze_axes", lambda x: tf.squeeze(x, [-1, 0]), (normal(1, 1, 2, 1),),
         lambda x: x.squeeze((0, 3))),
    Case("sum_to", lambda x: sum_to(x, (3, 1)), (normal(2, 3, 4),),
         lambda x: x.sum((0, 2))[:, None], dtypes=ALL, half_tolerance=5e-2),
    Case("broadcast_to", lambda x: tf.broadcast_to(x, [2, 3, 4]), (normal(3, 1),),
         lambda x: np.broadcast_to(x, (2, 3, 4)), dtypes=ALL),
    Case("broadcast_to_empty", lambda x: tf.broadcast_to(x, [0, 3]), (normal(1, 3),),
         lambda x: np.broadcast_to(x, (0, 3))),
    Case("stack", lambda x, y: tf.stack([x, y], 1), (normal(2, 3), normal(2, 3, seed=1)),
         lambda x, y: np.stack([x, y], 1), dtypes=ALL),
    Case("stack_last", lambda x, y: tf.stack([x, y], -1), (normal(2), normal(2, seed=1)),
         lambda x, y: np.stack([x, y], -1)),
    Case("unstack", lambda x: tf.unstack(x, axis=1), (normal(2, 3),), lambda x: list(x.T),
         needs_sizes="how many tensors come of it is decided while tracing"),
    Case("unstack_part", lambda x: tf.unstack(x, 2)[1] * 2.0, (normal(2, 3),), lambda x: x[1] * 2),
    Case("concat", lambda x, y: tf.concat([x, y], -1), (normal(2, 3), normal(2, 1, seed=1)),
         lambda x, y: np.concatenate([x, y], 1), dtypes=ALL),
    Case("concat_empty", lambda x, y: tf.concat([x, y], 0), (normal(0, 3), normal(2, 3)),
         lambda x, y: y),
    Case("concat_of_one", lambda x: tf.concat([x], 0), (normal(2),), lambda x: x),
    Case("split", lambda x: tf.split(x, 3, axis=1), (normal(2, 6),), lambda x: np.split(x, 3, 1)),
    Case("split_sizes", lambda x: tf.split(x, [1, -1, 2], axis=-1), (normal(2, 6),),
         lambda x: np.split(x, [1, 4], 1), dtypes=ALL),
    Case("split_sizes_of_zero", lambda x: tf.split(x, [0, 2]), (normal(2, 2),), lambda x: [x[:0], x]),
    Case("shape", lambda x: tf.shape(x), (normal(2, 0, 3),), lambda x: np.array([2, 0, 3]), order=0),
    Case("shape_int64", lambda x: tf.shape(x, tf.int64), (normal(2),), lambda x: np.array([2]),
         order=0),
    Case("size", lambda x: [tf.size(x), tf.size(x, tf.int64), tf.rank(x)], (normal(2, 3),),
         lambda x: [np.array(6), np.array(6), np.array(2)], order=0),
]  # fmt: skip
