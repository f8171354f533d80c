"""Cases for reductions: sums, means, products, extremes, counts, norms and clipping."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.special

import wengert as tf
from tests.cases import Case, normal, positive, unique_values, whole

HALF = ("float16", "bfloat16", "float32", "float64")
Z = normal(3, 4) + 1j * normal(3, 4, seed=1)
ZEROS = np.array([[0.0, 2.0, 3.0], [4.0, 0.0, 0.0]])


def _axes(name: str, call: Any, ref: Any, x: np.ndarray, **more: Any) -> list[Case]:
    """One function over all axes, one, two kept, and none."""
    return [
        Case(f"{name}_{i}", lambda x, o=o: call(x, **o), (x,), lambda x, o=o: ref(x, **o), **more)
        for i, o in enumerate(
            ({}, {"axis": 1}, {"axis": (0, 2), "keepdims": True}, {"axis": -1}, {"axis": ()})
        )
    ]


def slope(f: Any) -> Any:
    """A function's gradient, so that the lanes see the operations that only gradients use."""

    def gradient(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        return tape.gradient(y, x)

    return gradient


def _clip(x: np.ndarray, limit: float, axis: Any = None) -> np.ndarray:
    length = np.sqrt(np.sum(x * x, axis, keepdims=True))
    return x * limit / np.maximum(length, limit)


def _clip_all(*xs: np.ndarray, limit: float = 1.0) -> list[np.ndarray]:
    length = np.sqrt(sum(np.sum(x * x) for x in xs))
    return [x * min(1.0, limit / length) for x in xs] + [length]


def _logsumexp(x: np.ndarray, **options: Any) -> Any:
    return x if options.get("axis") == () else scipy.special.logsumexp(x, **options)


CASES = [
    *_axes("reduce_sum", tf.reduce_sum, np.sum, normal(2, 3, 4), dtypes=HALF),
    *_axes("reduce_mean", tf.reduce_mean, np.mean, normal(2, 3, 4), dtypes=HALF),
    *_axes("reduce_prod", tf.reduce_prod, np.prod, normal(2, 3, 4), dtypes=HALF),
    *_axes("reduce_max", tf.reduce_max, np.max, unique_values(2, 3, 4), dtypes=HALF),
    *_axes("reduce_min", tf.reduce_min, np.min, unique_values(2, 3, 4), dtypes=HALF),
    *_axes("reduce_logsumexp", tf.reduce_logsumexp, _logsumexp, normal(2, 3, 4), dtypes=HALF),
    *_axes("reduce_variance", tf.math.reduce_variance, np.var, normal(2, 3, 4), dtypes=HALF),
    *_axes("reduce_std", tf.math.reduce_std, np.std, normal(2, 3, 4), dtypes=HALF)[:4],
    *_axes(
        "reduce_euclidean_norm", tf.math.reduce_euclidean_norm,
        lambda x, axis=None, keepdims=False: np.sqrt(np.sum(x * x, axis, keepdims=keepdims)),
        positive(2, 3, 4), dtypes=HALF,
    ),
    Case("reduce_sum_complex", lambda x: tf.reduce_sum(x, 0), (Z,), lambda x: x.sum(0)),
    Case("reduce_mean_complex", tf.reduce_mean, (Z,), np.mean),
    Case("reduce_prod_complex", lambda x: tf.reduce_prod(x, 1), (Z,), lambda x: x.prod(1)),
    Case("reduce_std_complex", tf.math.reduce_std, (Z,), np.std),
    Case("reduce_variance_complex", lambda x: tf.math.reduce_variance(x, 0), (Z,), lambda x: x.var(0)),
    Case("reduce_euclidean_norm_complex", lambda x: tf.math.reduce_euclidean_norm(x, 1), (Z,),
         lambda x: np.linalg.norm(x, axis=1) + 0j),
    Case("reduce_prod_zeros", lambda x: tf.reduce_prod(x, 1), (ZEROS,), lambda x: x.prod(1), order=3),
    Case("reduce_prod_zeros_all", tf.reduce_prod, (ZEROS,), np.prod, order=3),
    Case("reduce_max_ties", slope(lambda x: tf.reduce_max(x, 1)), (np.array([[1.0, 3.0, 3.0], [2.0, 1.0, 0.0]]),),
         lambda x: np.array([[0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]), order=0, dtypes=HALF),
    Case("reduce_sum_empty", lambda x: tf.reduce_sum(x, 0), (normal(0, 3),), lambda x: x.sum(0)),
    Case("reduce_mean_empty", lambda x: tf.reduce_mean(x, 1), (normal(0, 3),), lambda x: x.mean(1)),
    Case("reduce_max_empty", lambda x: tf.reduce_max(x, 0), (normal(0, 3),),
         lambda x: np.full(3, -np.inf), order=0),
    Case("reduce_min_empty", lambda x: tf.reduce_min(x, 0), (whole(0, 3),),
         lambda x: np.full(3, 2**31 - 1), order=0),
    Case("reduce_logsumexp_ends", lambda x: tf.reduce_logsumexp(x, 1),
         (np.array([[-np.inf, -np.inf], [np.inf, 1.0], [-np.inf, 2.0], [1e4, 1e4]]),),
         lambda x: np.array([-np.inf, np.inf, 2.0, 1e4 + np.log(2)]), order=0),
    *[
        Case(f"{f.__name__}_scalar", f, (np.float64(1.5),), lambda x: x)
        for f in (tf.reduce_sum, tf.reduce_mean, tf.reduce_prod, tf.reduce_max, tf.reduce_min,
                  tf.reduce_logsumexp, tf.math.reduce_euclidean_norm)
    ],
    Case("reduce_sum_int", lambda x: tf.reduce_sum(x, 0), (whole(3, 4),), lambda x: x.sum(0), order=0),
    Case("reduce_mean_int", lambda x: tf.reduce_mean(x, 0), (whole(3, 4, low=-9),),
         lambda x: np.trunc(x.mean(0)).astype(int), order=0),
    Case("reduce_prod_int", lambda x: tf.reduce_prod(x, 0), (whole(3, 4),), lambda x: x.prod(0), order=0),
    Case("reduce_max_int", lambda x: tf.reduce_max(x, 0), (whole(3, 4),), lambda x: x.max(0), order=0),
    Case("reduce_euclidean_norm_int", lambda x: tf.math.reduce_euclidean_norm(x, 0), (whole(3, 4),),
         lambda x: np.sqrt((x * x).sum(0)).astype(int), order=0),
    Case("reduce_all", lambda x: tf.reduce_all(x, 0), (whole(3, 4) > 2,), lambda x: x.all(0), order=0),
    Case("reduce_any", lambda x: tf.reduce_any(x, 1, keepdims=True), (whole(3, 4) > 7,),
         lambda x: x.any(1, keepdims=True), order=0),
    Case("count_nonzero", lambda x: tf.math.count_nonzero(x, 0, dtype=tf.int32), (whole(3, 4, high=2),),
         lambda x: np.count_nonzero(x, 0), order=0, dtypes=HALF),
    Case("zero_fraction", tf.math.zero_fraction, (whole(3, 4, high=2),), lambda x: np.mean(x == 0), order=0),
    Case("norm_1", lambda x: tf.norm(x, 1, 0), (positive(3, 4),), lambda x: np.linalg.norm(x, 1, 0)),
    Case("norm_inf", lambda x: tf.norm(x, np.inf, -1), (unique_values(3, 4) + 4,),
         lambda x: np.linalg.norm(x, np.inf, -1)),
    Case("norm_3", lambda x: tf.norm(x, 3, 1, True), (positive(3, 4),),
         lambda x: np.linalg.norm(x, 3, 1, True), dtypes=HALF),
    Case("norm_fro", lambda x: tf.norm(x, "fro", [0, 2]), (normal(3, 2, 4),),
         lambda x: np.linalg.norm(x, "fro", (0, 2))),
    Case("norm_matrix_1", lambda x: tf.norm(x, 1, [1, 2]), (normal(2, 3, 4),),
         lambda x: np.linalg.norm(x, 1, (1, 2))),
    Case("norm_matrix_inf", lambda x: tf.norm(x, np.inf, [2, 0], True), (normal(2, 3, 4),),
         lambda x: np.linalg.norm(x, np.inf, (2, 0), True)),
    Case("norm_matrix_2", lambda x: tf.norm(x, 2, [-3, -1]), (normal(2, 3, 4),),
         lambda x: np.linalg.norm(x, 2, (0, 2))),
    Case("clip_by_norm", lambda x: tf.clip_by_norm(x, 1.0), (normal(3, 4),), lambda x: _clip(x, 1.0)),
    Case("clip_by_norm_axis", lambda x: tf.clip_by_norm(x, 1.5, 1), (normal(3, 4),),
         lambda x: _clip(x, 1.5, 1), dtypes=HALF),
    Case("global_norm", lambda x, y: tf.linalg.global_norm([x, None, y]), (normal(3), normal(2, 2)),
         lambda x, y: np.sqrt(np.sum(x * x) + np.sum(y * y)), dtypes=HALF),
    Case("clip_by_global_norm", lambda x, y: tf.clip_by_global_norm([x, y], 1.0),
         (normal(3), normal(2, 2)), _clip_all),
]  # fmt: skip
