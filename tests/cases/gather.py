"""Cases for picking by index: gather, gather_nd, masks, one_hot, permutations."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as tf
from tests.cases import Case, normal, whole
from wengert.core.apply import apply
from wengert.ops.gather import GATHER_GRAD
from wengert.ops.indexing import UNMASK, where_indices

X = normal(3, 4, 5)
ALL = ("float16", "bfloat16", "float32", "float64")
MASK = np.array([True, False, True])


def _batched(x: np.ndarray, i: np.ndarray, axis: int = 1) -> np.ndarray:
    return np.stack([np.take(a, b, axis - 1) for a, b in zip(x, i, strict=True)])


def _added(g: np.ndarray, i: np.ndarray, rows: int) -> np.ndarray:
    out = np.zeros((rows, *g.shape[1:]))
    np.add.at(out, i, g)
    return out


def _unmask(g: Any, mask: Any) -> Any:
    return apply(UNMASK, g, mask, shape=(2, 3), axis=1)


def _batched_grad(g: np.ndarray, i: np.ndarray) -> np.ndarray:
    out = np.zeros((2, 3, 4))
    for b in range(2):
        for k in range(i.shape[1]):
            out[b, :, i[b, k]] += g[b, :, k]
    return out


CASES = [
    Case("gather", lambda x, i: tf.gather(x, i), (X, np.array([2, 0, 2])), lambda x, i: x[i],
         dtypes=ALL),
    Case("gather_scalar_index", lambda x, i: tf.gather(x, i), (X, np.array(1)), lambda x, i: x[i]),
    Case("gather_matrix_of_indices", lambda x, i: tf.gather(x, i), (X, whole(2, 3, high=3)),
         lambda x, i: x[i]),
    Case("gather_axis", lambda x, i: tf.gather(x, i, axis=-2), (X, whole(2, 3, high=4)),
         lambda x, i: x[:, i]),
    Case("gather_nothing", lambda x, i: tf.gather(x, i), (normal(0, 3), np.zeros(0, np.int32)),
         lambda x, i: x),
    Case("gather_batch", lambda x, i: tf.gather(x, i, batch_dims=1), (X, whole(3, 2, high=4)),
         _batched),
    Case("gather_batch_axis", lambda x, i: tf.gather(x, i, axis=2, batch_dims=1),
         (X, whole(3, 2, high=5)), lambda x, i: _batched(x, i, 2)),
    Case("gather_batch_of_two", lambda x, i: tf.gather(x, i, batch_dims=-1),
         (X, whole(3, 4, 2, high=5)), lambda x, i: np.take_along_axis(x, i, 2)),
    Case("gather_batch_scalar", lambda x, i: tf.gather(x, i, batch_dims=1), (X, whole(3, high=4)),
         lambda x, i: x[np.arange(3), i]),
    Case("gather_whole_numbers", lambda x, i: tf.gather(x, i), (whole(5), whole(2, high=5)),
         lambda x, i: x[i], order=0),
    Case("gather_complex", lambda x, i: tf.gather(x, i, axis=1),
         (normal(2, 3) + 1j * normal(2, 3, seed=1), np.array([2, 2])), lambda x, i: x[:, i]),
    Case("gather_grad", lambda g, i: apply(GATHER_GRAD, g, i, shape=(4, 2), axis=0, batch_dims=0),
         (normal(3, 2), np.array([1, 3, 1])), lambda g, i: _added(g, i, 4), dtypes=ALL),
    Case("gather_grad_many",
         lambda g, i: apply(GATHER_GRAD, g, i, shape=(7, 64), axis=0, batch_dims=0),
         (normal(1100, 64), whole(1100, high=7)), lambda g, i: _added(g, i, 7), order=1,
         tolerance=1e-4),
    Case("gather_grad_batch",
         lambda g, i: apply(GATHER_GRAD, g, i, shape=(2, 3, 4), axis=2, batch_dims=1),
         (normal(2, 3, 5), whole(2, 5, high=4)), _batched_grad),
    Case("gather_nd", lambda x, i: tf.gather_nd(x, i), (X, np.array([[0, 1], [2, 3], [0, 1]])),
         lambda x, i: x[i[:, 0], i[:, 1]], dtypes=ALL),
    Case("gather_nd_rows", lambda x, i: tf.gather_nd(x, i), (X, np.array([[2], [0]])),
         lambda x, i: x[i[:, 0]]),
    Case("gather_nd_one", lambda x, i: tf.gather_nd(x, i), (X, np.array([2, 3, 4])),
         lambda x, i: x[2, 3, 4]),
    Case("gather_nd_no_axes", lambda x, i: tf.gather_nd(x, i),
         (normal(2, 3), np.zeros((4, 0), np.int32)), lambda x, i: np.broadcast_to(x, (4, 2, 3))),
    Case("gather_nd_batch", lambda x, i: tf.gather_nd(x, i, batch_dims=1),
         (X, np.array([[[0], [3]], [[1], [1]], [[2], [0]]])),
         lambda x, i: np.stack([a[b[:, 0]] for a, b in zip(x, i, strict=True)])),
    Case("gather_nd_batch_of_one", lambda x, i: tf.gather_nd(x, i, batch_dims=1),
         (X, np.array([[0, 1], [3, 4], [2, 2]])),
         lambda x, i: x[np.arange(3), i[:, 0], i[:, 1]]),
    Case("boolean_mask", lambda x, m: tf.boolean_mask(x, m), (X, MASK), lambda x, m: x[m],
         lowered=False, dtypes=ALL),
    Case("boolean_mask_axis", lambda x, m: tf.boolean_mask(x, m, axis=1), (normal(2, 3, 2), MASK),
         lambda x, m: x[:, m], lowered=False),
    Case("boolean_mask_many_axes", lambda x, m: x[m], (X, X[..., 0] > 0), lambda x, m: x[m],
         lowered=False),
    Case("boolean_mask_nothing", lambda x, m: tf.boolean_mask(x, m), (X, np.zeros(3, bool)),
         lambda x, m: x[m], lowered=False),
    Case("boolean_mask_grad", _unmask, (normal(2, 2), MASK),
         lambda g, m: np.stack([g[:, 0], np.zeros(2), g[:, 1]], 1), lowered=False),
    Case("where_indices", where_indices, (np.array([[0.0, 2.0], [3.0, 0.0]]),),
         lambda x: np.argwhere(x), order=0, lowered=False),
    Case("where_indices_of_booleans", where_indices, (MASK,), lambda x: np.argwhere(x), order=0,
         lowered=False),
    Case("one_hot", lambda i: tf.one_hot(i, 3), (np.array([0, 2, -1, 5]),),
         lambda i: np.eye(3)[[0, 2, 0, 0]] * [[1], [1], [0], [0]], order=0),
    Case("one_hot_axis", lambda i: tf.one_hot(i, 4, 5, -1, axis=0, dtype=tf.int32),
         (whole(2, 3, high=4),), lambda i: np.where(i == np.arange(4)[:, None, None], 5, -1),
         order=0),
    Case("one_hot_depth_above_the_type", lambda i: tf.one_hot(i, 300),
         (np.array([1, 255], np.uint8),), lambda i: np.eye(300)[i], order=0),
    Case("sequence_mask", lambda n: tf.sequence_mask(n, 4), (np.array([[1, 3], [0, 9]]),),
         lambda n: np.arange(4) < n[..., None], order=0),
    Case("sequence_mask_longest", lambda n: tf.sequence_mask(n, dtype=tf.float32),
         (np.array([1, 3]),), lambda n: np.array([[1.0, 0, 0], [1, 1, 1]]), order=0,
         lowered=False),
    Case("invert_permutation", lambda x: tf.math.invert_permutation(x), (np.array([2, 0, 3, 1]),),
         lambda x: np.argsort(x), order=0),
    Case("unravel_index", lambda i: tf.unravel_index(i, [7, 6]), (np.array([22, 41]),),
         lambda i: np.stack(np.unravel_index(i, (7, 6))), order=0),
]  # fmt: skip
