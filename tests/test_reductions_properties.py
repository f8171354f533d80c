"""Reductions against NumPy, on shapes, axes and dtypes that hypothesis thinks of."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import wengert as tf

often = settings(deadline=None, derandomize=True, max_examples=100)
SHAPES = hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
FLOATS: dict[str, Any] = {"float32": 32, "float64": 64}


@st.composite
def arrays(draw: Any, kinds: tuple[str, ...], shapes: Any = SHAPES) -> np.ndarray:
    dtype = draw(st.sampled_from(kinds))
    if dtype in FLOATS:
        elements = st.floats(-10, 10, width=FLOATS[dtype])
    else:
        elements = st.integers(-9 if dtype.startswith("int") else 0, 9 if dtype != "bool" else 1)
        elements = elements.map(np.dtype(dtype).type)
    return draw(hnp.arrays(dtype, draw(shapes), elements=elements))


def axes_of(draw: Any, x: np.ndarray) -> Any:
    """None, one axis, or several, some counted from the end."""
    if not x.ndim:
        return draw(st.sampled_from([None, ()]))
    one = st.integers(-x.ndim, x.ndim - 1)
    several = st.lists(one, max_size=x.ndim, unique_by=lambda a: a % x.ndim).map(tuple)
    return draw(st.one_of(st.none(), one, several))


NUMBERS = ("float32", "float64", "int8", "int32", "int64", "uint8")
REDUCTIONS: dict[str, tuple[Any, Any, tuple[str, ...]]] = {
    "sum": (tf.reduce_sum, np.sum, NUMBERS),
    "prod": (tf.reduce_prod, np.prod, ("float32", "float64", "int64")),
    "max": (tf.reduce_max, np.max, NUMBERS),
    "min": (tf.reduce_min, np.min, NUMBERS),
    "mean": (tf.reduce_mean, np.mean, ("float32", "float64")),
    "variance": (tf.math.reduce_variance, np.var, ("float32", "float64")),
    "std": (tf.math.reduce_std, np.std, ("float32", "float64")),
    "all": (tf.reduce_all, np.all, ("bool",)),
    "any": (tf.reduce_any, np.any, ("bool",)),
}


@often
@given(st.data(), st.sampled_from(sorted(REDUCTIONS)), st.booleans())
def test_reductions_agree_with_numpy(data: Any, name: str, keepdims: bool) -> None:
    ours, theirs, kinds = REDUCTIONS[name]
    x = data.draw(arrays(kinds))
    axis = axes_of(data.draw, x)
    got = ours(x, axis, keepdims).numpy()
    more: dict[str, Any] = {}
    if name in ("max", "min"):
        low, high = (
            (-np.inf, np.inf)
            if x.dtype.kind == "f"
            else (np.iinfo(x.dtype).min, np.iinfo(x.dtype).max)
        )
        more["initial"] = x.dtype.type(low if name == "max" else high)
    if name in ("sum", "prod"):
        more["dtype"] = x.dtype
    with np.errstate(all="ignore"):
        wide = x.astype(np.float64) if name in ("mean", "variance", "std") else x
        if x.size or name not in ("mean", "variance", "std"):
            want = np.asarray(theirs(wide, axis=axis, keepdims=keepdims, **more))
        else:
            want = np.full(np.sum(x, axis=axis, keepdims=keepdims).shape, np.nan)
    assert got.shape == want.shape
    assert got.dtype == x.dtype
    np.testing.assert_allclose(got, want.astype(x.dtype), rtol=1e-4, atol=1e-4)


@often
@given(st.data(), st.booleans())
def test_gradients_of_sums_and_means_spread_evenly(data: Any, keepdims: bool) -> None:
    x = data.draw(arrays(("float64",)))
    axis = axes_of(data.draw, x)
    for f in (tf.reduce_sum, tf.reduce_mean):
        t = tf.constant(x)
        with tf.GradientTape() as tape:
            tape.watch(t)
            y = f(t, axis, keepdims)
        g = tape.gradient(y, t).numpy()
        share = y.numpy().size / max(x.size, 1) if f is tf.reduce_mean else 1.0
        np.testing.assert_allclose(g, np.full(x.shape, share), rtol=1e-12)


@often
@given(st.data(), st.booleans(), st.booleans())
def test_running_sums_agree_with_numpy(data: Any, exclusive: bool, reverse: bool) -> None:
    x = data.draw(arrays(NUMBERS, hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5)))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    y = np.flip(x, axis) if reverse else x
    want = np.cumsum(y, axis, dtype=x.dtype)
    if exclusive:
        want = want - y
    want = np.flip(want, axis) if reverse else want
    got = tf.cumsum(x, axis, exclusive, reverse).numpy()
    assert got.dtype == x.dtype
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@often
@given(st.data(), st.booleans())
def test_sorting_agrees_with_numpy(data: Any, descending: bool) -> None:
    x = data.draw(arrays(NUMBERS, hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=5)))
    axis = data.draw(st.integers(-x.ndim, x.ndim - 1))
    direction = "DESCENDING" if descending else "ASCENDING"
    want = np.sort(x, axis)
    order = tf.argsort(x, axis, direction).numpy()
    got = tf.sort(x, axis, direction).numpy()
    np.testing.assert_array_equal(got, np.flip(want, axis) if descending else want)
    np.testing.assert_array_equal(np.take_along_axis(x, order, axis), got)
    ties = np.take(got, range(1, got.shape[axis]), axis) == np.take(
        got, range(got.shape[axis] - 1), axis
    )
    rising = np.diff(order, axis=axis) > 0
    assert rising[ties].all()


@often
@given(st.data())
def test_unsorted_segment_sums_agree_with_addition(data: Any) -> None:
    n = data.draw(st.integers(0, 6))
    x = data.draw(arrays(("float64", "int64"), st.just((n, 2))))
    ids = data.draw(hnp.arrays(np.int32, n, elements=st.integers(-1, 3)))
    want = np.zeros((4, 2), x.dtype)
    np.add.at(want, ids[ids >= 0], x[ids >= 0])
    np.testing.assert_allclose(tf.math.unsorted_segment_sum(x, ids, 4), want, atol=1e-12)


@often
@given(hnp.arrays(np.int64, st.integers(0, 12), elements=st.integers(0, 5)))
def test_distinct_elements_rebuild_the_vector(x: np.ndarray) -> None:
    y, idx, count = tf.unique_with_counts(x)
    np.testing.assert_array_equal(y.numpy()[idx.numpy()], x)
    assert y.numpy().tolist() == list(dict.fromkeys(x.tolist()))
    np.testing.assert_array_equal(np.bincount(idx.numpy(), minlength=len(y)), count)
