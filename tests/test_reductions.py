"""Reductions, scans, segments and sorting: edge values as TensorFlow gives them, and bad input."""
# Some arguments are none that a checker accepts.
# pyright: reportArgumentType=false

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf

inf, nan = np.inf, np.nan


def gradient(f: Any, *xs: Any) -> list[np.ndarray]:
    given = [tf.constant(x) for x in xs]
    with tf.GradientTape() as tape:
        tape.watch(given)
        y = f(*given)
    return [tf.convert_to_tensor(g).numpy() for g in tape.gradient(y, given)]


def same(got: Any, want: Any, dtype: str | None = None) -> None:
    np.testing.assert_allclose(got.numpy(), want, rtol=1e-6, equal_nan=True)
    if dtype:
        assert got.dtype.name == dtype


def test_means_of_integers_are_cut_off_and_do_not_overflow() -> None:
    same(tf.reduce_mean([1, 2, 4]), 2, "int32")
    same(tf.reduce_mean([-1, -2, -4]), -2)
    same(tf.reduce_mean(tf.constant([100, 100, 100], tf.int8)), 100, "int8")
    same(tf.reduce_mean(tf.constant([2**31 - 1] * 2)), 2**31 - 1)
    same(tf.reduce_sum(tf.constant([100, 100, 100], tf.int8)), 44)


@pytest.mark.parametrize(
    ("f", "dtype", "want"),
    [
        (tf.reduce_sum, "float32", 0),
        (tf.reduce_mean, "float32", nan),
        (tf.reduce_mean, "int32", 0),
        (tf.reduce_mean, "complex64", 0),
        (tf.reduce_prod, "float32", 1),
        (tf.reduce_max, "float32", -inf),
        (tf.reduce_max, "bfloat16", -inf),
        (tf.reduce_max, "int32", -(2**31)),
        (tf.reduce_max, "uint8", 0),
        (tf.reduce_min, "float16", inf),
        (tf.reduce_min, "int8", 127),
        (tf.reduce_logsumexp, "float32", -inf),
        (tf.math.reduce_std, "float32", nan),
        (tf.math.reduce_euclidean_norm, "float32", 0),
        (tf.reduce_all, "bool", True),
        (tf.reduce_any, "bool", False),
        (tf.math.zero_fraction, "int32", nan),
    ],
)
def test_reductions_of_nothing(f: Any, dtype: str, want: Any) -> None:
    same(f(tf.zeros([0], dtype)), want)


def test_nan_wins_in_extremes_and_is_passed_over_in_positions() -> None:
    for x in ([1.0, nan, 3.0], [nan, 1.0, 3.0], [1.0, 3.0, nan]):
        same(tf.reduce_max(x), nan)
        same(tf.reduce_min(x), nan)
    same(tf.argmax([nan, 1.0, 3.0]), 2, "int64")
    same(tf.argmin([nan, 1.0, 3.0]), 1)
    same(tf.argmax([nan, nan]), 0)
    same(tf.math.segment_max(tf.constant([1.0, nan, 3.0]), [0, 0, 0]), [nan])
    same(tf.math.cumulative_logsumexp([1.0, nan, 3.0]), [1, nan, nan])


def test_ties_share_the_gradient_equally() -> None:
    np.testing.assert_array_equal(gradient(tf.reduce_max, [1.0, 3.0, 3.0])[0], [0, 0.5, 0.5])
    np.testing.assert_array_equal(gradient(tf.reduce_max, [1.0, nan, 3.0])[0], [nan] * 3)
    shared = gradient(lambda x: tf.math.segment_min(x, [0, 0, 0, 2]), [1.0, 1.0, 2.0, 3.0])[0]
    np.testing.assert_array_equal(shared, [0.5, 0.5, 0, 1])
    top = gradient(lambda x: tf.math.top_k(x, 2)[0], [1.0, 3.0, 3.0, 3.0])[0]
    np.testing.assert_array_equal(top, [0, 1, 1, 0])


def test_gradients_at_points_that_have_none() -> None:
    assert np.isnan(gradient(tf.norm, [0.0, 0.0])[0]).all()
    assert np.isnan(gradient(tf.math.reduce_std, [1.0, 1.0])[0]).all()
    assert np.isnan(gradient(tf.reduce_logsumexp, [-inf, -inf])[0]).all()
    np.testing.assert_array_equal(gradient(tf.reduce_logsumexp, [inf, 1.0])[0], [nan, 0])
    np.testing.assert_array_equal(
        gradient(lambda x: tf.clip_by_norm(x, 1.0), [0.0, 0.0])[0], [1, 1]
    )


def test_products_with_zeros_have_exact_gradients_of_second_order() -> None:
    x = tf.constant([0.0, 0.0, 3.0])
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_prod(x)
        g = inner.gradient(y, x)
        first = g[0]
    np.testing.assert_array_equal(g, [0, 0, 0])
    np.testing.assert_array_equal(outer.gradient(first, x), [0, 3, 0])
    np.testing.assert_array_equal(gradient(tf.math.cumprod, [1.0, 0.0, 3.0])[0], [1, 4, 0])


def test_half_precision_sums_in_single() -> None:
    same(tf.reduce_sum(tf.constant([65504.0, 65504.0, -65504.0], tf.float16)), 65504, "float16")
    same(tf.reduce_sum(tf.constant([256.0] + [1.0] * 20, tf.bfloat16)), 276, "bfloat16")


def test_counts() -> None:
    same(tf.math.count_nonzero(["", "a"]), 1, "int64")
    same(tf.math.count_nonzero([0.0, nan, 2.0]), 2)
    same(tf.math.count_nonzero([0, 1], dtype=tf.float32), 1, "float32")
    same(tf.math.zero_fraction([0, 1, 2]), 1 / 3, "float32")
    same(tf.math.reduce_euclidean_norm(tf.constant([100, 100], tf.int8)), 5, "int8")


def test_norms() -> None:
    same(tf.norm(tf.constant([3 + 4j, 0])), 5, "complex128")
    same(tf.norm(tf.constant([3 + 4j, 1]), 1), 6, "float64")
    same(tf.norm([[3.0, 4.0], [1.0, 2.0]], 1, [0, 1]), 6)
    same(tf.norm([[3.0, 4.0], [1.0, 2.0]], 1, [1, 0]), 7)
    same(tf.norm([[3.0, 4.0], [1.0, 2.0]], np.inf, [0, 1], keepdims=True), [[7]])
    same(tf.norm([[3.0, 4.0], [1.0, 2.0]], 2, (-2, -1)), 5.464985704)
    same(tf.norm([3.0, 4.0], True), 7)


def test_clipping_by_norm() -> None:
    same(tf.clip_by_norm([3.0, 4.0], 10.0), [3, 4])
    same(tf.clip_by_norm([3.0, 4.0], -1.0), [0, 0])
    same(tf.clip_by_norm([[3.0, 4.0], [1.0, 0.0]], [[1.0], [2.0]], axes=1), [[0.6, 0.8], [1, 0]])
    same(tf.clip_by_norm([inf, 4.0], 1.0), [nan, 0])


def test_clipping_by_global_norm() -> None:
    clipped, length = tf.clip_by_global_norm([[3.0, 4.0], None, tf.constant([0.0])], 1.0)
    same(clipped[0], [0.6, 0.8])
    assert clipped[1] is None
    same(length, 5)
    for bad in (inf, nan):
        found, _ = tf.clip_by_global_norm([tf.constant([bad, 1.0])], 1.0)
        same(found[0], [nan, nan])
    same(
        tf.clip_by_global_norm([tf.constant([3.0, 4.0])], 1.0, use_norm=tf.constant(2.0))[0][0],
        [1.5, 2],
    )
    assert tf.clip_by_global_norm([], 1.0)[0] == []
    same(tf.linalg.global_norm([None]), 0, "float32")


def test_clipping_keeps_sparse_rows_sparse() -> None:
    rows = tf.IndexedSlices(
        tf.constant([[3.0, 4.0], [3.0, 4.0]]), tf.constant([0, 0]), tf.constant([9, 2])
    )
    same(tf.linalg.global_norm([rows]), 7.0710678)
    (found, _), _ = tf.clip_by_global_norm([rows, tf.constant([1.0])], 1.0)
    assert isinstance(found, tf.IndexedSlices)
    same(found.values, [[0.42008406, 0.56011206]] * 2)
    single = tf.clip_by_norm(rows, 1.0)
    assert isinstance(single, tf.IndexedSlices)
    same(single.values, [[0.42426407, 0.56568545]] * 2)


def test_segments_without_rows() -> None:
    data = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    same(tf.math.segment_sum(data, [0, 0, 2]), [[4, 6], [0, 0], [5, 6]])
    same(tf.math.segment_prod(data, [0, 0, 2])[1], [1, 1])
    same(tf.math.segment_max(tf.constant([-1, -2, -3]), [1, 1, 2]), [0, -1, -3])
    lowest = np.finfo(np.float32).min
    same(tf.math.unsorted_segment_max(data, [2, 0, 2], 4)[1], [lowest, lowest])
    same(tf.math.unsorted_segment_max(tf.constant([-inf]), [0], 1), [lowest])
    same(tf.math.unsorted_segment_min(tf.constant([1, 2]), [1, 1], 2), [2**31 - 1, 1], "int32")
    same(tf.math.unsorted_segment_sum(data, [-2, 0, 2], 4), [[3, 4], [0, 0], [5, 6], [0, 0]])
    same(tf.math.unsorted_segment_mean(tf.constant([1, 2, 4]), [0, 0, 0], 2), [7 / 3, 0], "float64")
    same(tf.math.segment_mean(tf.constant([-1, -2, -4]), [0, 0, 0]), [-2], "int32")
    assert tf.math.unsorted_segment_sum(data, 1, 4).shape == (4, 3, 2)


def test_order_of_nan_and_ties() -> None:
    same(tf.sort([3.0, nan, 2.0]), [2, 3, nan])
    same(tf.sort([3.0, nan, 2.0], direction="DESCENDING"), [nan, 3, 2])
    same(tf.argsort([2, 1, 2, 1], direction="DESCENDING", stable=True), [0, 2, 1, 3], "int32")
    same(tf.argsort([0.0, -0.0, 0.0]), [0, 1, 2])
    same(tf.sort(tf.constant([2, 1, -128, 127], tf.int8)), [-128, 1, 2, 127], "int8")
    found = tf.math.top_k([1, 5, 5, 2], 2)
    same(found.values, [5, 5])
    same(found.indices, [1, 2], "int32")
    same(tf.searchsorted([1.0, 3.0], [nan]), [0])
    same(tf.searchsorted([1.0, 3.0], [nan], side="right"), [2])


def test_distinct_elements_come_in_order_of_appearance() -> None:
    found = tf.unique([3.0, nan, nan, -0.0, 0.0])
    same(found.y, [3, nan, nan, 0])
    same(found.idx, [0, 1, 2, 3, 3], "int32")
    words = tf.unique_with_counts(["b", "a", "b"], out_idx=tf.int64)
    assert words.y.numpy().tolist() == [b"b", b"a"]
    same(words.count, [2, 1], "int64")


def test_counting() -> None:
    same(tf.math.bincount([1, 1, 3], minlength=6), [0, 2, 0, 1, 0, 0], "int32")
    same(tf.math.bincount([1, 1, 3], minlength=5, maxlength=3), [0, 2, 0])
    same(tf.math.bincount([1, 1, 3], weights=[1.0, 2.0, 3.0]), [0, 3, 0, 3], "float32")
    same(
        tf.math.bincount([[1, 1], [3, 0]], axis=-1, binary_output=True),
        [[0, 1, 0, 0], [1, 0, 0, 1]],
    )
    same(tf.math.bincount(5), [0, 0, 0, 0, 0, 1])
    values = [-1.0, 0.0, 1.5, 2.0, 5.0, 15.0]
    same(tf.histogram_fixed_width(values, [0.0, 5.0], nbins=5), [2, 1, 1, 0, 2])
    same(tf.histogram_fixed_width_bins(values, [0.0, 5.0], nbins=5), [0, 0, 1, 2, 4, 4])
    found = tf.math.confusion_matrix([[1], [2]], [2, 2], weights=[0.5, 2.0], dtype=tf.float32)
    same(found, [[0, 0, 0], [0, 0, 0.5], [0, 0, 2]])


D = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
BAD: list[tuple[Any, type[Exception], str]] = [
    (lambda: tf.reduce_sum([1.0, 2.0], 1), tf.errors.InvalidArgumentError,
     "reduce_sum: `axis` 1 is out of range for a tensor of rank 1. Use a value from -1 to 0."),
    (lambda: tf.reduce_mean(D, [0, -2]), ValueError,
     "reduce_mean: `axis` [0, 0] names an axis twice; got float32[3,2]. Name each axis once."),
    (lambda: tf.reduce_sum(D, 1.0), TypeError, "reduce_sum: whole numbers were expected; got 1.0."),
    (lambda: tf.reduce_all([1, 0]), TypeError,
     "reduce_all: dtype int32 is not supported; got int32[2]. Cast to one of bool with tf.cast."),
    (lambda: tf.reduce_max(tf.constant([1j])), TypeError, "reduce_max: dtype complex128 is not supported"),
    (lambda: tf.math.reduce_std([1, 2]), TypeError, "reduce_std: dtype int32 is not supported"),
    (lambda: tf.argmax(tf.zeros([0, 3])), tf.errors.InvalidArgumentError,
     "argmax: axis 0 is empty; got float32[0,3]. Nothing has no largest element."),
    (lambda: tf.argmax(D, [0]), TypeError, "argmax: `axis` must be one whole number; got [0]."),
    (lambda: tf.argmin([1], output_type=tf.int16), TypeError,
     "argmin: `output_type` must be one of int32, int64; got int16."),
    (lambda: tf.norm([1.0], "fro"), ValueError,
     "norm: `ord` must be 'euclidean' or a positive number for vectors; got 'fro'."),
    (lambda: tf.norm(D, 3, [0, 1]), ValueError,
     "norm: `ord` must be 'euclidean', 'fro', 1, 2 or inf for matrices; got 3."),
    (lambda: tf.norm(D, axis=[0, 0]), ValueError,
     "norm: `axis` must be None, one number or two different ones; got (0, 0)."),
    (lambda: tf.norm([3, 4]), tf.errors.InvalidArgumentError,
     "norm: a floating or complex tensor is wanted; got int32[2]."),
    (lambda: tf.clip_by_global_norm(tf.constant([1.0]), 1.0), TypeError,
     "clip_by_global_norm: `t_list` must be a list; got float32[1]."),
    (lambda: tf.linalg.global_norm([tf.constant([1.0]), tf.constant([1.0], tf.float64)]), TypeError,
     "global_norm: the arguments must have the same dtype"),
    (lambda: tf.cumsum(5.0), ValueError, "cumsum: `axis` 0 is out of range for a tensor of rank 0."),
    (lambda: tf.math.cumulative_logsumexp([1]), TypeError, "cumulative_logsumexp: dtype int32 is not supported"),
    (lambda: tf.math.segment_sum(D, [0, 2, 1]), ValueError,
     "segment_sum: `segment_ids` must not be negative and must not decrease. "
     "Sort them, or use tf.math.unsorted_segment_sum."),
    (lambda: tf.math.segment_sum(D, [0, 1]), ValueError,
     "segment_sum: `segment_ids` must have a number for each row of `data`; got float32[3,2] and int32[2]."),
    (lambda: tf.math.segment_sum(D, [0.0, 1.0, 2.0]), TypeError,
     "segment_sum: `segment_ids` must be int32 or int64; got float32[3]."),
    (lambda: tf.math.unsorted_segment_max(D, [5, 0, 2], 4), IndexError,
     "unsorted_segment_max: segment 5 is outside [0, 4). Raise `num_segments`; negative numbers drop a row."),
    (lambda: tf.math.unsorted_segment_sum(D, [1, 0], 4), ValueError,
     "unsorted_segment_sum: `data` must begin with the sizes of `segment_ids`; got float32[3,2] and int32[2]."),
    (lambda: tf.math.unsorted_segment_sum(D, [0, 1, 0], -1), ValueError,
     "unsorted_segment_sum: `num_segments` must be one number, not negative; got -1."),
    (lambda: tf.math.top_k([1.0, 3.0], 3), ValueError,
     "top_k: `k` 3 must be one number from 0 to 2, the last size; got float32[2]."),
    (lambda: tf.sort([1], direction="up"), ValueError,
     "sort: `direction` must be 'ASCENDING' or 'DESCENDING'; got 'up'."),
    (lambda: tf.argsort(3), ValueError, "argsort: `axis` -1 is out of range for a tensor of rank 0."),
    (lambda: tf.searchsorted([1, 3], [2], side="x"), ValueError,
     "searchsorted: `side` must be 'left' or 'right'; got 'x'."),
    (lambda: tf.searchsorted([[1, 3], [2, 4]], [1, 2]), ValueError,
     "searchsorted: `sorted_sequence` and `values` must agree in all sizes but the last; "
     "got int32[2,2] and int32[2]."),
    (lambda: tf.searchsorted([1, 3], [1.5]), TypeError, "searchsorted: the arguments must have the same dtype"),
    (lambda: tf.unique([[1, 2]]), ValueError,
     "unique: a vector is wanted; got int32[1,2]. Flatten it with tf.reshape(x, [-1])."),
    (lambda: tf.math.in_top_k([1], [[0.1], [0.2]], 1), ValueError,
     "in_top_k: `predictions` must be a matrix with a row for each of `targets`; "
     "got float32[2,1] and int32[1]."),
    (lambda: tf.math.bincount([1, -1]), ValueError, "bincount: the numbers must not be negative; got -1."),
    (lambda: tf.math.bincount([1], axis=1), ValueError, "bincount: `axis` must be None, 0 or -1; got 1."),
    (lambda: tf.math.bincount([1], [1.0], binary_output=True), ValueError,
     "bincount: `weights` and `binary_output` exclude each other."),
    (lambda: tf.math.bincount([1, 1], [1.0]), ValueError,
     "bincount: `weights` must have the shape of `arr`; got int32[2] and float32[1]."),
    (lambda: tf.histogram_fixed_width([nan], [0.0, 1.0]), ValueError,
     "histogram_fixed_width: `values` must not contain NaN."),
    (lambda: tf.histogram_fixed_width([1.0], [5.0, 0.0]), ValueError,
     "histogram_fixed_width: `value_range` must increase; got [5, 0]."),
    (lambda: tf.histogram_fixed_width([1.0], [0.0, 5.0], 0), ValueError,
     "histogram_fixed_width: `nbins` must be positive; got 0."),
    (lambda: tf.math.confusion_matrix([1, 4], [2, 2], 3), ValueError,
     "confusion_matrix: `labels` must be below `num_classes` 3; got 4."),
    (lambda: tf.math.confusion_matrix([1, -2], [2, 2]), ValueError,
     "confusion_matrix: `labels` must not be negative; got -2."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "kind", "text"), BAD, ids=[text.split(";")[0] for *_, text in BAD]
)
def test_bad_input(call: Any, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind) as caught:
        call()
    assert str(caught.value).startswith(text), str(caught.value)
