"""Cases for reductions over segments."""

from __future__ import annotations

from typing import Any

import numpy as np

import wengert as tf
from tests.cases import Case, normal, unique_values, whole
from tests.cases.reduce import slope

HALF = ("float16", "bfloat16", "float32", "float64")
SORTED = np.array([0, 0, 2, 2, 2], np.int32)
MIXED = np.array([2, -1, 0, 2, 0], np.int32)
FULL = np.array([2, 1, 0, -1, 0], np.int32)
GRID = np.array([[1, 0], [0, 1], [1, 1]], np.int64)
ZEROS = np.array([[0.0, 2.0], [3.0, 0.0], [0.0, 0.0], [4.0, 1.0], [0.0, 5.0]])


def _reference(function: Any, gap: float, num: int) -> Any:
    def reference(x: np.ndarray, ids: np.ndarray) -> np.ndarray:
        rows = x.reshape(-1, *x.shape[ids.ndim :])
        out = np.full((num, *rows.shape[1:]), gap, x.dtype)
        for i in range(num):
            if (ids == i).any():
                out[i] = function(rows[ids.ravel() == i], axis=0)
        return out

    return reference


def _pair(
    name: str, function: Any, sorted_gap: float, gap: float, ids: np.ndarray = MIXED
) -> list[Case]:
    x = unique_values(5, 2)
    unsorted = getattr(tf.math, f"unsorted_segment_{name}")
    return [
        Case(f"segment_{name}", getattr(tf.math, f"segment_{name}"), (x, SORTED),
             _reference(function, sorted_gap, 3), lowered=False, dtypes=HALF),
        Case(f"unsorted_segment_{name}", lambda x, i: unsorted(x, i, 3), (x, ids),
             _reference(function, gap, 3), dtypes=HALF),
        Case(f"unsorted_segment_{name}_grid", lambda x, i: unsorted(x, i, 2),
             (unique_values(3, 2, 2), GRID), _reference(function, gap, 2)),
    ]  # fmt: skip


def _sqrt_n(rows: np.ndarray, axis: int) -> np.ndarray:
    return rows.sum(axis) / np.sqrt(rows.shape[axis])


CASES = [
    *_pair("sum", np.sum, 0, 0),
    *_pair("mean", np.mean, 0, 0),
    *_pair("prod", np.prod, 1, 1),
    # Empty segments hold the least or largest number of the dtype, which the table cannot say.
    *_pair("max", np.max, 0, 0, FULL),
    *_pair("min", np.min, 0, 0, FULL),
    Case("unsorted_segment_sqrt_n", lambda x, i: tf.math.unsorted_segment_sqrt_n(x, i, 3),
         (normal(5, 2), MIXED), _reference(_sqrt_n, 0, 3)),
    Case("unsorted_segment_prod_zeros", lambda x, i: tf.math.unsorted_segment_prod(x, i, 3),
         (ZEROS, MIXED), _reference(np.prod, 1, 3), order=3),
    Case("segment_prod_zeros", tf.math.segment_prod, (ZEROS, SORTED), _reference(np.prod, 1, 3),
         order=3, lowered=False),
    Case("unsorted_segment_prod_slope", slope(lambda x: tf.math.unsorted_segment_prod(x, MIXED, 3)),
         (ZEROS,), lambda x: np.array([[4.0, 1.0], [0.0, 0.0], [0.0, 5.0], [0.0, 2.0], [0.0, 0.0]]),
         order=0),
    Case("unsorted_segment_max_slope", slope(lambda x: tf.math.unsorted_segment_max(x, MIXED, 3)),
         (np.array([1.0, 9.0, 2.0, 1.0, 2.5]),), lambda x: np.array([0.5, 0.0, 0.0, 0.5, 1.0]), order=0),
    Case("unsorted_segment_sum_scalar", lambda x, i: tf.math.unsorted_segment_sum(x, i, 3),
         (np.float64(5), np.int32(1)), lambda x, i: np.array([0.0, 5.0, 0.0])),
    Case("unsorted_segment_sum_empty", lambda x, i: tf.math.unsorted_segment_sum(x, i, 2),
         (normal(0, 3), np.zeros(0, np.int32)), lambda x, i: np.zeros((2, 3))),
    Case("segment_sum_empty", tf.math.segment_sum, (normal(0, 3), np.zeros(0, np.int32)),
         lambda x, i: np.zeros((0, 3)), lowered=False),
    Case("unsorted_segment_prod_complex", lambda x, i: tf.math.unsorted_segment_prod(x, i, 3),
         (normal(5) + 1j * normal(5, seed=1), MIXED), _reference(np.prod, 1, 3)),
    Case("segment_mean_int", tf.math.segment_mean, (whole(5), SORTED),
         lambda x, i: np.array([x[:2].sum() // 2, 0, x[2:].sum() // 3]), order=0, lowered=False),
]  # fmt: skip
