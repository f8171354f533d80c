"""Cases for sorting, positions, distinct elements and counting."""

from __future__ import annotations

import numpy as np

import wengert as tf
from tests.cases import Case, normal, unique_values, whole
from tests.cases.reduce import slope
from wengert.core.apply import apply
from wengert.ops.sorting import TAKE_ALONG

HALF = ("float16", "bfloat16", "float32", "float64")
TIES = np.array([[3.0, 1.0, 3.0, 1.0], [2.0, 2.0, 2.0, 0.0]])
NANS = np.array([[np.nan, 1.0, 3.0], [np.nan, np.nan, np.nan], [4.0, np.nan, -np.inf]])


def _top(x: np.ndarray, k: int) -> list[np.ndarray]:
    order = np.argsort(-x, -1, kind="stable")[..., :k]
    return [np.take_along_axis(x, order, -1), order]


def _counts(x: np.ndarray, n: int, w: np.ndarray | None = None) -> np.ndarray:
    weights = [None] * len(x) if w is None else w
    return np.stack([np.bincount(r, v, n)[:n] for r, v in zip(x, weights, strict=True)])


def _isotonic(x: np.ndarray) -> np.ndarray:
    """For each place the least, over starts up to it, of the greatest mean that ends after it."""
    n = x.shape[-1]
    means = np.full((*x.shape, n), np.nan)
    for j in range(n):
        for k in range(j, n):
            means[..., j, k] = x[..., j : k + 1].mean(-1)
    out = [np.nanmin(np.nanmax(means[..., : i + 1, i:], -1), -1) for i in range(n)]
    return np.stack(out, -1)


CASES = [
    Case("isotonic_regression", lambda x: tf.nn.isotonic_regression(x)[0], (normal(3, 5),),
         _isotonic, lowered=False),
    Case("isotonic_regression rising", lambda x: tf.nn.isotonic_regression(x, False, 0)[0],
         (normal(4, 3, seed=2),), lambda x: -_isotonic(-x.T).T, lowered=False),
    Case("sort", tf.sort, (unique_values(3, 4),), lambda x: np.sort(x, -1), dtypes=HALF),
    Case("sort_axis", lambda x: tf.sort(x, 1, "DESCENDING"), (unique_values(2, 4, 3),),
         lambda x: -np.sort(-x, 1), dtypes=HALF),
    Case("sort_int", tf.sort, (whole(3, 4),), lambda x: np.sort(x, -1), order=0),
    Case("sort_nan", tf.sort, (NANS,), lambda x: np.sort(x, -1), order=0),
    Case("sort_nan_descending", lambda x: tf.sort(x, direction="DESCENDING"), (NANS,),
         lambda x: np.sort(x, -1)[:, ::-1], order=0),
    Case("sort_empty", tf.sort, (normal(2, 0),), lambda x: x),
    Case("sort_slope", slope(lambda x: tf.sort(x, 0) * tf.constant([[1.0], [2.0], [3.0]], x.dtype)),
         (np.array([[3.0, 1.0], [1.0, 2.0], [2.0, 3.0]]),),
         lambda x: np.array([[3.0, 1.0], [1.0, 2.0], [2.0, 3.0]]), order=0),
    Case("take_along_axis", lambda x, i: apply(TAKE_ALONG, x, i, axis=1),
         (normal(2, 4), np.array([[3, 0], [1, 2]], np.int32)),
         lambda x, i: np.take_along_axis(x, i, 1)),
    Case("argsort", tf.argsort, (TIES,), lambda x: np.argsort(x, kind="stable"), order=0, dtypes=HALF),
    Case("argsort_descending", lambda x: tf.argsort(x, 0, "DESCENDING"), (TIES,),
         lambda x: np.argsort(-x, 0, kind="stable"), order=0),
    Case("top_k", lambda x: tf.math.top_k(x, 2), (unique_values(3, 4),), lambda x: _top(x, 2), dtypes=HALF),
    Case("top_k_ties", lambda x: tf.math.top_k(x, 3), (TIES,), lambda x: _top(x, 3), order=0),
    Case("top_k_int", lambda x: tf.math.top_k(x, 3, index_type=tf.int64), (whole(2, 3, 5),),
         lambda x: _top(x, 3), order=0),
    Case("top_k_none", lambda x: tf.math.top_k(x, 0), (normal(3, 4),), lambda x: _top(x, 0), order=0),
    Case("argmax", lambda x: tf.argmax(x, 1), (TIES,), lambda x: x.argmax(1), order=0, dtypes=HALF),
    Case("argmax_nan", lambda x: tf.argmax(x, 1, tf.int32), (NANS,), lambda x: np.array([2, 0, 0]), order=0),
    Case("argmax_bool", tf.argmax, (TIES > 2,), lambda x: x.argmax(0), order=0),
    Case("argmin", tf.argmin, (TIES,), lambda x: x.argmin(0), order=0),
    Case("argmin_nan", lambda x: tf.argmin(x, 1), (NANS,), lambda x: np.array([1, 0, 2]), order=0),
    Case("searchsorted", tf.searchsorted, (np.sort(normal(6)), normal(9, seed=1)), np.searchsorted, order=0),
    Case("searchsorted_rows", lambda r, x: tf.searchsorted(r, x, "right", tf.int64),
         (np.array([[1, 3, 3], [2, 4, 6]]), np.array([[0, 3], [4, 9]])),
         lambda r, x: np.array([[0, 3], [2, 3]]), order=0),
    Case("searchsorted_nan", tf.searchsorted, (np.array([1.0, 3.0]), np.array([np.nan, np.inf])),
         lambda r, x: np.array([0, 2]), order=0),
    Case("in_top_k", lambda i: tf.math.in_top_k(i, tf.constant([[0.1, 0.5, 0.5], [0.9, 0.5, 0.5]]), 2),
         (np.array([1, 2], np.int32),), lambda i: np.array([True, True]), order=0),
    Case("in_top_k_bad", lambda i: tf.math.in_top_k(i, tf.constant([[0.1, 0.5], [np.nan, 0.5]]), 1),
         (np.array([-1, 1]),), lambda i: np.array([False, False]), order=0),
    Case("unique", tf.unique, (np.array([3, 1, 3, 2]),),
         lambda x: [np.array([3, 1, 2]), np.array([0, 1, 0, 2])], order=0, lowered=False),
    Case("unique_slices", lambda x: tf.raw_ops.UniqueWithCountsV2(x=x, axis=[1]),
         (np.array([[3, 1, 3], [2, 2, 2]]),),
         lambda x: (x[:, :2], np.array([0, 1, 0]), np.array([2, 1])), order=0, lowered=False),
    Case("unique_with_counts", tf.unique_with_counts, (np.array([2.5, 1.0, 2.5]),),
         lambda x: [np.array([2.5, 1.0]), np.array([0, 1, 0]), np.array([2, 1])], order=0,
         lowered=False, dtypes=HALF),
    Case("bincount", tf.math.bincount, (whole(20),), np.bincount, order=0, lowered=False),
    Case("bincount_fixed", lambda x: tf.math.bincount(x, minlength=7, maxlength=7), (whole(20),),
         lambda x: np.bincount(x, minlength=10)[:7], order=0),
    Case("bincount_rows", lambda x: tf.math.bincount(x, minlength=7, maxlength=7, axis=-1),
         (whole(3, 8),), lambda x: _counts(x, 7), order=0),
    Case("bincount_weights", lambda x, w: tf.math.bincount(x, w, 7, 7, axis=-1),
         (whole(3, 8), normal(3, 8)), lambda x, w: _counts(x, 7, w), order=0),
    Case("bincount_binary", lambda x: tf.math.bincount(x, minlength=9, maxlength=9, binary_output=True),
         (whole(6),), lambda x: np.minimum(np.bincount(x, minlength=9), 1)[:9], order=0),
    Case("histogram_fixed_width",
         lambda x: tf.histogram_fixed_width(x, tf.cast([-1.0, 1.0], x.dtype), 4), (normal(50),),
         lambda x: np.histogram(np.clip(x, -1, 1), 4, (-1, 1))[0], order=0),
    Case("histogram_fixed_width_bins",
         lambda x: tf.histogram_fixed_width_bins(x, tf.cast([-1.0, 1.0], x.dtype), 4), (normal(3, 5),),
         lambda x: np.clip(np.floor((x + 1) * 2), 0, 3), order=0),
    Case("confusion_matrix", lambda x, y: tf.math.confusion_matrix(x, y, 3),
         (np.array([0, 1, 2, 2]), np.array([0, 2, 2, 2])),
         lambda x, y: np.array([[1, 0, 0], [0, 0, 1], [0, 0, 2]]), order=0),
]  # fmt: skip
