"""Cases for writing at index tuples: scatter_nd and its kin, partitions and stitches."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as tf
from tests.cases import Case, normal, unique_values, whole
from wengert.ops.updating import block, update_block

ALL = ("float16", "bfloat16", "float32", "float64")
ROWS = np.array([[2], [0]])
TWICE = np.array([[1, 0], [1, 0], [0, 2]])


def _combined(ufunc: Any) -> Any:
    def combine(x: np.ndarray, i: np.ndarray, u: np.ndarray) -> np.ndarray:
        out = x.copy()
        ufunc.at(out, tuple(i.T), u)
        return out

    return combine


def _updated(x: np.ndarray, i: np.ndarray, u: np.ndarray) -> np.ndarray:
    out = x.copy()
    out[tuple(i.T)] = u
    return out


def _summed(i: np.ndarray, u: np.ndarray) -> np.ndarray:
    out = np.zeros((3, 4))
    np.add.at(out, tuple(i.T), u)
    return out


def _replaced(x: np.ndarray, u: np.ndarray, start: np.ndarray) -> np.ndarray:
    out = x.copy()
    i, j = np.clip(start, 0, np.subtract(x.shape, u.shape))
    out[i : i + u.shape[0], j : j + u.shape[1]] = u
    return out


CASES = [
    Case("update_block", update_block, (normal(4, 5), normal(2, 3, seed=1), np.array([1, 2])),
         _replaced, dtypes=ALL),
    Case("update_block_reaching_out", update_block,
         (normal(4, 5), normal(2, 3, seed=1), np.array([3, -1])), _replaced),
    Case("block", lambda x, start: block(x, start, (2, 3)), (normal(4, 5), np.array([3, 1])),
         lambda x, start: x[2:4, 1:4], dtypes=ALL),
    Case("scatter_nd", lambda i, u: tf.scatter_nd(i, u, [3, 4]), (TWICE, normal(3)), _summed,
         dtypes=ALL),
    Case("scatter_nd_rows", lambda i, u: tf.scatter_nd(i, u, [3, 4]), (ROWS, normal(2, 4)), _summed),
    Case("scatter_nd_nothing", lambda i, u: tf.scatter_nd(i, u, [3, 4]),
         (np.zeros((0, 1), np.int32), normal(0, 4)), lambda i, u: np.zeros((3, 4))),
    Case("scatter_nd_booleans", lambda i, u: tf.scatter_nd(i, u, [3]),
         (np.array([[0], [0], [2]]), np.array([True, False, False])),
         lambda i, u: np.array([True, False, False]), order=0),
    Case("scatter_nd_deep", lambda i, u: tf.scatter_nd(i, u, [2, 3, 2]),
         (np.array([[[0, 1], [1, 2]], [[0, 1], [1, 0]]]), normal(2, 2, 2)),
         lambda i, u: np.stack([
             np.stack([np.zeros(2), u[0, 0] + u[1, 0], np.zeros(2)]),
             np.stack([u[1, 1], np.zeros(2), u[0, 1]]),
         ])),
    Case("tensor_scatter_nd_update", lambda x, i, u: tf.tensor_scatter_nd_update(x, i, u),
         (normal(3, 4), ROWS, normal(2, 4, seed=1)), _updated, dtypes=ALL),
    Case("tensor_scatter_nd_update_elements", lambda x, i, u: tf.tensor_scatter_nd_update(x, i, u),
         (normal(3, 4), np.array([[0, 1], [2, 3]]), normal(2, seed=1)), _updated),
    Case("tensor_scatter_nd_add", lambda x, i, u: tf.tensor_scatter_nd_add(x, i, u),
         (normal(3, 4), TWICE, normal(3, seed=1)), _combined(np.add), dtypes=ALL),
    Case("tensor_scatter_nd_add_whole", lambda x, i, u: tf.tensor_scatter_nd_add(x, i, u),
         (whole(3), np.array([[1], [1]]), np.array([5, 6], np.int32)), _combined(np.add), order=0),
    Case("tensor_scatter_nd_sub", lambda x, i, u: tf.tensor_scatter_nd_sub(x, i, u),
         (normal(3, 4), TWICE, normal(3, seed=1)), _combined(np.subtract)),
    Case("tensor_scatter_nd_sub_complex", lambda x, i, u: tf.tensor_scatter_nd_sub(x, i, u),
         (normal(3) + 1j, np.array([[0], [0]]), normal(2) - 2j), _combined(np.subtract)),
    Case("tensor_scatter_nd_min", lambda x, i, u: tf.tensor_scatter_nd_min(x, i, u),
         (unique_values(3, 4), TWICE, unique_values(3, seed=1) + 0.1), _combined(np.minimum),
         dtypes=ALL),
    Case("tensor_scatter_nd_max", lambda x, i, u: tf.tensor_scatter_nd_max(x, i, u),
         (unique_values(3, 4), TWICE, unique_values(3, seed=1) + 0.1), _combined(np.maximum),
         dtypes=ALL),
    Case("dynamic_partition", lambda x, p: tf.dynamic_partition(x, p, 3),
         (normal(4, 2), np.array([1, 0, 1, 1], np.int32)), lambda x, p: [x[p == k] for k in range(3)],
         lowered=False),
    Case("dynamic_partition_matrix", lambda x, p: tf.dynamic_partition(x, p, 2)[1] * 2.0,
         (normal(2, 2), np.array([[1, 0], [0, 1]], np.int32)), lambda x, p: x[p == 1] * 2,
         lowered=False),
    Case("dynamic_stitch", lambda x, y: tf.dynamic_stitch([[0, 3], 1], [x, y]),
         (normal(2, 2), normal(2, seed=1)), lambda x, y: np.stack([x[0], y, np.zeros(2), x[1]]),
         lowered=False),
]  # fmt: skip
