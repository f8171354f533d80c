"""Properties of array operations, against NumPy, over shapes and indices that hypothesis invents."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import wengert as tf
from wengert.core import shapes
from wengert.core.apply import spec
from wengert.core.op import ShapeDtype
from wengert.ops.slicing import normalise
from wengert.ops.strides import STRIDED_SLICE

many = settings(deadline=None, max_examples=100, derandomize=True)
dims = st.lists(st.integers(0, 4), max_size=4).map(tuple)


def ramp(shape: tuple[int, ...]) -> np.ndarray:
    return np.arange(float(np.prod(shape))).reshape(shape)


def slices(size: int) -> st.SearchStrategy[Any]:
    bound = st.none() | st.integers(-size - 2, size + 2)
    step = st.none() | st.sampled_from([-3, -2, -1, 1, 2, 3])
    return st.builds(slice, bound, bound, step)


@st.composite
def indexed(draw: st.DrawFn) -> tuple[np.ndarray, tuple[Any, ...]]:
    """An array and an index that fits it."""
    shape = draw(dims)
    used = draw(st.integers(0, len(shape)))
    front = draw(st.integers(0, used))
    axes = [*range(front), *range(len(shape) - (used - front), len(shape))]
    parts: list[Any] = []
    for k, axis in enumerate(axes):
        if k == front and used < len(shape):
            parts.append(...)
        while draw(st.integers(0, 3)) == 0:
            parts.append(None)
        size = shape[axis]
        whole = st.integers(-size, size - 1) if size else slices(size)
        parts.append(draw(whole | slices(size)))
    return ramp(shape), tuple(parts)


@many
@given(indexed())
def test_indexing_is_numpys(case: tuple[np.ndarray, tuple[Any, ...]]) -> None:
    array, index = case
    want = array[index]
    x = tf.constant(array)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x[index]
    assert y.shape == want.shape and np.array_equal(y, want)
    weights = np.arange(1.0, want.size + 1).reshape(want.shape)
    slope = tape.gradient(y, x, output_gradients=tf.constant(weights))
    expected = np.zeros(array.shape)
    expected[index] = weights
    assert np.array_equal(slope, expected)


@many
@given(indexed())
def test_the_shape_rule_of_indexing_allows_what_happens(
    case: tuple[np.ndarray, tuple[Any, ...]],
) -> None:
    array, index = case
    x = tf.constant(array)
    want = array[index].shape
    key = normalise(index)
    assert STRIDED_SLICE.infer(spec(x), index=key).shape == want
    unknown = ShapeDtype((None,) * array.ndim, x.dtype)
    assert shapes.compatible(STRIDED_SLICE.infer(unknown, index=key).shape, want)


@many
@given(indexed(), st.floats(-9, 9))
def test_writing_a_slice_of_a_variable_is_numpys(
    case: tuple[np.ndarray, tuple[Any, ...]], value: float
) -> None:
    array, index = case
    v = tf.Variable(array)
    v[index].assign(value)
    expected = array.copy()
    expected[index] = value
    assert np.array_equal(v, expected)


@st.composite
def broadcastable(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    shape = draw(dims)
    short = shape[draw(st.integers(0, len(shape))) :]
    return shape, tuple(1 if draw(st.booleans()) else d for d in short)


@many
@given(broadcastable())
def test_broadcast_to_and_back(case: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    shape, small = case
    array = ramp(small)
    x = tf.constant(array)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.broadcast_to(x, shape)
    assert np.array_equal(y, np.broadcast_to(array, shape))
    slope = tape.gradient(y, x).numpy()
    assert slope.shape == small and slope.sum() == np.prod(shape)
    assert tf.broadcast_static_shape(tf.TensorShape(small), tf.TensorShape(shape)) == shape
    assert tuple((x + tf.zeros(shape, tf.float64)).shape) == shape


@many
@given(dims, st.data())
def test_reshape(shape: tuple[int, ...], data: st.DataObject) -> None:
    array = ramp(shape)
    target = list(data.draw(st.permutations(shape)))
    if target and array.size:
        target[data.draw(st.integers(0, len(target) - 1))] = -1
    assert np.array_equal(tf.reshape(array, target), array.reshape(target))


@many
@given(dims, st.data())
def test_transpose(shape: tuple[int, ...], data: st.DataObject) -> None:
    array = ramp(shape)
    perm = data.draw(st.permutations(range(len(shape))))
    x = tf.constant(array)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.transpose(x, perm) * array.transpose(perm)
    assert np.array_equal(y, (array * array).transpose(perm))
    assert np.array_equal(tape.gradient(y, x), array)


@many
@given(dims.filter(bool), st.lists(st.integers(0, 3), min_size=1, max_size=4), st.data())
def test_concat_and_split_undo_each_other(
    shape: tuple[int, ...], sizes: list[int], data: st.DataObject
) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    place = axis % len(shape)
    parts = [ramp((*shape[:place], n, *shape[place + 1 :])) for n in sizes]
    whole = tf.concat(parts, axis)
    assert np.array_equal(whole, np.concatenate(parts, axis))
    for got, want in zip(tf.split(whole, sizes, axis), parts, strict=True):
        assert np.array_equal(got, want)


@many
@given(dims, st.data())
def test_stack_and_unstack_undo_each_other(shape: tuple[int, ...], data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 3))
    axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    parts = [tf.constant(ramp(shape) + k) for k in range(count)]
    whole = tf.stack(parts, axis)
    assert np.array_equal(whole, np.stack([p.numpy() for p in parts], axis))
    for got, want in zip(tf.unstack(whole, axis=axis), parts, strict=True):
        assert np.array_equal(got, want)


@many
@given(dims.filter(bool), st.data())
def test_gather(shape: tuple[int, ...], data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    size = shape[axis]
    inner = data.draw(st.lists(st.integers(0, 3), max_size=2)) if size else [0]
    indices = np.array(
        [data.draw(st.integers(0, size - 1)) for _ in range(int(np.prod(inner)))], np.int32
    ).reshape(inner)
    array = ramp(shape)
    assert np.array_equal(tf.gather(array, indices, axis=axis), np.take(array, indices, axis))


@many
@given(dims, st.data())
def test_pad(shape: tuple[int, ...], data: st.DataObject) -> None:
    array = ramp(shape)
    mode = data.draw(st.sampled_from(["CONSTANT", "REFLECT", "SYMMETRIC"]))
    most = {"CONSTANT": 3, "REFLECT": -1, "SYMMETRIC": 0}[mode]
    paddings = [
        tuple(data.draw(st.integers(0, 3 if most == 3 else max(0, d + most))) for _ in range(2))
        for d in shape
    ]
    if mode == "REFLECT" and 0 in shape:
        return
    want = np.pad(array, paddings, mode.lower()) if shape else array  # type: ignore[call-overload]
    assert np.array_equal(tf.pad(array, np.array(paddings, int).reshape(-1, 2), mode), want)
