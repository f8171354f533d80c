"""Arguments that are plain numbers eagerly and tensors of a trace in a function.

Sizes, counts, bounds and positions may depend on shapes that are unknown while tracing, or on data;
each case runs eagerly, traced with known sizes, and traced with unknown ones.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.test_operations import close
from wengert.core import nest
from wengert.core.indexed_slices import IndexedSlices

X = np.arange(24.0).reshape(4, 6)
V = np.array([3.0, 1.0, 2.0, 5.0])
N, ONE = np.int32(3), np.int32(1)
MASK = np.array([True, False, True, True])
PICK = np.array([1, 0, 2], np.int32)


def ints(*values: Any) -> np.ndarray:
    return np.array(values, np.int32)


Case = tuple[Callable[..., Any], tuple[Any, ...]]
CASES: dict[str, Case] = {
    "repeat each": (lambda x, r: tf.repeat(x, r, axis=0), (X, np.array([1, 0, 2, 3]))),
    "repeat each of a vector": (lambda x, r: tf.repeat(x, r), (V, np.array([1, 0, 2, 3]))),
    "repeat all": (lambda x, r: tf.repeat(x, r, axis=1), (X, N)),
    "repeat by a list of tensors": (lambda x, r: tf.repeat(x, [r, r, 1, 0], axis=0), (X, N)),
    "repeat by a size": (lambda x: tf.repeat(x, tf.shape(x)[0], axis=0), (X,)),
    "split into sizes": (lambda x, s: tf.split(x, s, axis=1, num=2), (X, ints(2, 4))),
    "split off the rest": (lambda x, s: tf.split(x, [s, -1], axis=1), (X, N)),
    "split with -1 in a tensor": (lambda x, s: tf.split(x, s, 1, num=2), (X, ints(-1, 4))),
    "split into halves": (lambda x: tf.split(x, 2), (X,)),
    "sequence_mask": (lambda n: tf.sequence_mask(n), (ints(1, 3, 0),)),
    "sequence_mask of nothing": (lambda n: tf.sequence_mask(n), (np.zeros((0,), np.int32),)),
    "sequence_mask to a fraction": (
        lambda n, m: tf.sequence_mask(n, m),
        (ints(1, 3, 0), np.float32(2.5)),
    ),
    "sequence_mask to a length": (lambda n, m: tf.sequence_mask(n, m), (ints(1, 3, 0), N)),
    "dynamic_partition": (lambda x, p: tf.dynamic_partition(x, p, 2), (X, ints(0, 1, 1, 0))),
    "dynamic_stitch": (lambda i, x: tf.dynamic_stitch([i], [x]), (ints(3, 0, 1, 2), X)),
    "confusion_matrix": (lambda a, b: tf.math.confusion_matrix(a, b), (ints(0, 1), ints(0, 2))),
    "confusion_matrix of so many": (
        lambda a, b, n: tf.math.confusion_matrix(a, b, n),
        (ints(0, 1), ints(0, 2), np.int32(4)),
    ),
    "bincount": (lambda a: tf.math.bincount(a), (ints(0, 1, 1),)),
    "bincount to a length": (
        lambda a, n: tf.math.bincount(a, minlength=n, maxlength=n),
        (ints(0, 1, 1), N),
    ),
    "boolean_mask": (lambda x, m: tf.boolean_mask(x, m), (X, MASK)),
    "getitem of a mask": (lambda x, m: x[m], (X, MASK)),
    "getitem of a condition": (lambda x: x[x > 2.0], (X,)),
    "where": (lambda x: tf.where(x > 2.0), (X,)),
    "unique": (lambda x: tf.unique_with_counts(x), (ints(1, 2, 1),)),
    "range": (lambda n: tf.range(n), (N,)),
    "range by steps": (lambda n: tf.range(1, n, 2), (N,)),
    "range by unknown steps": (lambda n: tf.range(0, 10, n), (N,)),
    "range backwards": (lambda n: tf.range(n, -1, -1), (N,)),
    "range of fractions": (lambda a: tf.range(0.5, a, 0.25), (np.float32(3.5),)),
    "range of a size": (lambda x: tf.range(tf.shape(x)[0]), (X,)),
    "linspace": (lambda a, b, n: tf.linspace(a, b, n), (np.float64(1), np.float64(2), N)),
    "linspace of one": (lambda a, n: tf.linspace(a, a + 1.0, n), (np.float64(1), ONE)),
    "linspace along an axis": (lambda a, n: tf.linspace(a, a + 1.0, n, axis=-1), (V, N)),
    "linspace that broadcasts": (lambda a, b: tf.linspace(a, b, 3), (V, np.float64(9))),
    "one_hot": (lambda i, n: tf.one_hot(i, n), (PICK, N)),
    "one_hot of a value": (lambda i, a: tf.one_hot(i, 3, a, 0.5), (PICK, np.float32(5))),
    "tile": (lambda x, m: tf.tile(x, [m, 1]), (X, N)),
    "tile by a vector": (lambda x, m: tf.tile(x, m), (X, ints(2, 1))),
    "pad": (lambda x, m: tf.pad(x, [[m, 0], [0, 1]]), (X, N)),
    "pad by a matrix": (lambda x, m: tf.pad(x, m), (X, ints([1, 0], [0, 2]))),
    "pad with a value": (
        lambda x, a: tf.pad(x, [[1, 0], [0, 2]], constant_values=a),
        (X, np.float64(7)),
    ),
    "pad by reflection": (lambda x, m: tf.pad(x, [[m, 0], [0, 1]], "REFLECT"), (X, N)),
    "meshgrid": (lambda a, b: tf.meshgrid(a, b), (V, V[:2])),
    "getitem": (lambda x, i: x[i], (X, N)),
    "getitem from the end": (lambda x, i: x[-i], (X, N)),
    "getitem of two": (lambda x, i: x[i, i - 1], (X, N)),
    "getitem up to": (lambda x, i: x[:i], (X, N)),
    "getitem between": (lambda x, i: x[:, i : i + 2], (X, N)),
    "getitem by steps": (lambda x, i: x[:, ::i], (X, N)),
    "getitem of the last axis": (lambda x, i: x[..., i], (X, N)),
    "getitem among others": (lambda x, i: x[i, tf.newaxis, 1:], (X, N)),
    "getitem by a size": (lambda x: x[: tf.shape(x)[0] // 2], (X,)),
    "slice": (lambda x, b, s: tf.slice(x, b, s), (X, ints(1, 2), ints(2, -1))),
    "slice of a fixed size": (lambda x, b: tf.slice(x, b, [2, 2]), (X, ints(1, 2))),
    "strided_slice": (lambda x, i: tf.strided_slice(x, [i, 0], [4, i]), (X, ONE)),
    "reshape": (lambda x, s: tf.reshape(x, s), (X, ints(6, 4))),
    "reshape to a size": (lambda x: tf.reshape(x, [tf.size(x) // 3, 3]), (X,)),
    "broadcast_to": (lambda x, s: tf.broadcast_to(x, s), (V, ints(2, 4))),
    "zeros": (lambda s: tf.zeros(s), (ints(2, 4),)),
    "ones of strings and booleans": (
        lambda s: [tf.zeros(s, tf.string), tf.ones(s, tf.bool)],
        (ints(2, 4),),
    ),
    "fill": (lambda s, a: tf.fill(s, a), (ints(2, 4), np.float64(3))),
    "eye": (lambda n: tf.eye(n, n + 1), (N,)),
    "roll": (lambda x, n: tf.roll(x, n, 0), (X, N)),
    "roll of two axes": (lambda x, n: tf.roll(x, [n, -n], [0, 1]), (X, N)),
    "top_k": (lambda x, k: tf.math.top_k(x, k), (X, N)),
    "gather": (lambda x, i: tf.gather(x, i, axis=1), (X, PICK)),
    "gather in batches": (lambda x, i: tf.gather(x, i, batch_dims=1), (X, ints([0], [1], [2], [3]))),
    "scatter_nd": (lambda i, u, n: tf.scatter_nd(i, u, [n, 2]), (ints([1], [0]), X[:2, :2], N)),
    "segments": (lambda x, i, n: tf.math.unsorted_segment_sum(x, i, n), (X, ints(0, 2, 1, 0), N)),
    "sorted segments": (lambda x, i: tf.math.segment_mean(x, i), (X, ints(0, 0, 1, 2))),
    "band_part": (lambda x, n: tf.linalg.band_part(x, n, -1), (X, ONE)),
    "diag": (lambda x: tf.linalg.diag(x, k=1), (V,)),
    "reduce over axes": (lambda x: tf.reduce_sum(x, tf.range(1, tf.rank(x))), (X,)),
    "lstsq": (lambda a, b: tf.linalg.lstsq(a, b), (X[:, :3] + 3 * np.eye(4, 3), V[:, None])),
    "lstsq with a ridge": (
        lambda a, b, r: tf.linalg.lstsq(a, b, r),
        (X[:, :3], V[:, None], np.float64(0.3)),
    ),
    "unravel_index": (lambda x, i: tf.unravel_index(i, tf.shape(x)), (X, PICK)),
    "stack of rows": (lambda x: tf.stack(x), (X,)),
    "format": (lambda x: tf.strings.format("{} and {}", [x, [x, x]]), (V,)),
    "substr": (lambda i: tf.strings.substr("abcdef", i, 2), (N,)),
    "a size as a factor": (lambda x: x * tf.cast(tf.shape(x)[0], x.dtype), (X,)),
    "squeeze": (lambda x: tf.squeeze(x[:1]), (X,)),
    "constant": (lambda x: tf.constant(2.0, shape=[tf.shape(x)[0]]), (X,)),
}  # fmt: skip
# What XLA can do too: the sizes of the results do not depend on the values.
COMPILED = [
    "getitem", "getitem from the end", "getitem of two", "getitem of the last axis",
    "getitem among others", "slice of a fixed size", "roll", "roll of two axes", "gather",
    "gather in batches", "linspace that broadcasts", "one_hot of a value", "pad with a value",
    "meshgrid", "range of a size", "repeat by a size", "split into halves", "getitem by a size",
    "reshape to a size", "diag", "unravel_index", "stack of rows", "squeeze",
    "a size as a factor", "constant",
]  # fmt: skip


def with_gradients(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(*xs: Any) -> Any:
        floats = [x for x in xs if x.dtype.is_floating]
        with tf.GradientTape() as tape:
            tape.watch(floats)
            ys = nest.flatten(function(*xs))
        targets = [y for y in ys if y.dtype.is_floating]
        if not floats or not targets:
            return ys
        found = tape.gradient(targets, floats, unconnected_gradients="zero")
        return ys + [tf.convert_to_tensor(g) if isinstance(g, IndexedSlices) else g for g in found]

    return run


def check(case: Case, **options: Any) -> None:
    function, args = case
    given = [tf.constant(a) for a in args]
    want = with_gradients(function)(*given)
    got = tf.function(with_gradients(function), autograph=False, **options)(*given)
    for g, w in zip(got, want, strict=True):
        assert g.dtype == w.dtype
        close(g, w, 1e-6)


each_case = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())


@each_case
def test_traced_equals_eager(case: Case) -> None:
    check(case)


@each_case
def test_traced_with_unknown_sizes_equals_eager(case: Case) -> None:
    specs = [tf.TensorSpec([None] * np.ndim(a), a.dtype) for a in case[1]]
    check(case, input_signature=specs)


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_equals_eager(name: str) -> None:
    check(CASES[name], jit_compile=True)


def test_a_variable_is_read_when_the_function_runs() -> None:
    count = tf.Variable(2)

    @tf.function
    def made(x: Any) -> Any:
        return tf.tile(x, [count]), tf.zeros([count]), tf.repeat(x, count), x[:count]

    x = tf.constant([1.0, 2.0, 3.0])
    assert [len(y) for y in made(x)] == [6, 2, 6, 2]
    count.assign(3)
    assert [len(y) for y in made(x)] == [9, 3, 9, 3]


X_SPEC, N_SPEC = tf.TensorSpec([None, 2]), tf.TensorSpec([], tf.int32)
ONES = np.ones((3, 2), np.float32)
FAILURES: dict[str, tuple[Callable[..., Any], Any, Any, str]] = {
    "split": (
        lambda x: tf.split(x, 2), X_SPEC, ONES,
        "split: sizes [1, 1] do not add up to 3, the size of axis 0; got float32[3,2].",
    ),
    "unstack": (
        lambda x: tf.unstack(x, 2), X_SPEC, ONES,
        "unstack: axis 0 has size 3, not 2; got float32[3,2].",
    ),
    "range": (
        lambda n: tf.range(5, n), N_SPEC, 2,
        "range: `limit` 2 does not lie beyond `start` 5 in the direction of `delta` 1.",
    ),
    "range that stands": (lambda n: tf.range(0, 4, n), N_SPEC, 0, "range: `delta` must not be 0."),
    "tile": (
        lambda n: tf.tile([1.0], [n]), N_SPEC, -1,
        "tile: `multiples` [-1] must be 1 numbers from 0 on.",
    ),
    "pad": (
        lambda n: tf.pad([1.0], [[n, 0]]), N_SPEC, -1,
        "pad: `paddings` must be pairs of sizes from 0 on; got ((-1, 0),).",
    ),
    "top_k": (
        lambda n: tf.math.top_k([1.0], n), N_SPEC, 2,
        "top_k: `k` 2 must be one number from 0 to 1, the last size; got float32[1].",
    ),
    "argmax": (
        lambda x: tf.argmax(x), X_SPEC, ONES[:0],
        "argmax: axis 0 is empty; got float32[0,2]. Nothing has no largest element.",
    ),
    "boolean_mask": (
        lambda x: tf.boolean_mask(x, tf.constant([True, False])), X_SPEC, ONES,
        "boolean_mask: shapes (3,) and (2,) are incompatible: the mask must have the sizes of the "
        "axes it selects from; got float32[3,2] and bool[2].",
    ),
    "division of sizes": (
        lambda x: tf.zeros([4 // tf.shape(x)[0]]), X_SPEC, ONES[:0],
        "floordiv: integer division by zero; got 4 and 0.",
    ),
    "slice": (
        lambda n: tf.slice([1.0, 2.0], [n], [n]), N_SPEC, 2,
        "slice: `begin` 2 and `size` 2 do not fit axis 0 of size 2; got float32[2].",
    ),
    "repeat": (
        lambda x: tf.repeat(x, tf.cast(x[:2, 0], tf.int32), axis=0), X_SPEC, ONES,
        "repeat: 2 `repeats` do not fit axis 0 of size 3.",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
def test_what_only_the_run_can_tell_is_refused_then(name: str) -> None:
    function, spec, value, text = FAILURES[name]
    with pytest.raises(ValueError) as info:  # noqa: PT011  # the text follows
        tf.function(function, input_signature=[spec])(tf.constant(value))
    assert str(info.value) == text
    assert "test_traced_values.py" in "".join(info.value.__notes__)


def test_what_python_must_count_is_refused_at_its_line() -> None:
    @tf.function(input_signature=[X_SPEC])
    def rows(x: Any) -> Any:
        return tf.unstack(x)

    with pytest.raises(ValueError, match="how many tensors come of it must be known") as info:
        rows.get_concrete_function()
    assert "tf.unstack(x)" in "".join(info.value.__notes__)

    @tf.function(input_signature=[X_SPEC], autograph=False)
    def counted(x: Any) -> Any:
        return list(range(tf.shape(x)[0]))

    with pytest.raises(TypeError, match=r"use tf.range instead of range"):
        counted.get_concrete_function()


# Axes that are known only when a function runs.


@pytest.mark.parametrize("jit", [None, True])
@pytest.mark.parametrize("perm", [[2, 0, 1], [1, 2, 0], [-1, 0, 1]])
def test_transposing_by_a_tensor(perm, jit):
    x = tf.constant(np.arange(24.0).reshape(2, 3, 4))

    @tf.function(jit_compile=jit)
    def f(x, perm):
        return tf.transpose(x, perm)

    def weighted(y):
        return tf.reduce_sum(y * y * tf.reshape(tf.range(24.0, dtype=tf.float64), y.shape))

    found = []
    for way in (f, tf.transpose):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = way(x, tf.constant(perm))
                loss = weighted(y)
            slope = tape.gradient(loss, x)
        found.append([y, slope, outer.gradient(slope, x)])
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("jit", [None, True])
@pytest.mark.parametrize("perm", [[0, 0, 1], [0, 1], [0, 1, 3]])
def test_a_tensor_that_is_no_order_of_axes(perm, jit):
    f = tf.function(lambda x, perm: tf.transpose(x, perm), jit_compile=jit)
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not an order of the 3 axes") as e:
        f(tf.ones([2, 3, 4]), tf.constant(perm))
    assert __file__ in str(e.value.__notes__)


_REDUCTIONS = ["reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min",
               "reduce_logsumexp", "reduce_std", "reduce_variance", "reduce_euclidean_norm"]  # fmt: skip


@pytest.mark.parametrize("jit", [None, True])
@pytest.mark.parametrize("name", _REDUCTIONS)
def test_reducing_an_axis_given_by_a_tensor(name, jit):
    op = getattr(tf.math, name)
    f = tf.function(lambda x, axis: op(x, axis), jit_compile=jit)
    x = tf.constant(np.random.default_rng(0).random((2, 3, 4)))
    for axis in (0, 1, -1):
        found = []
        for way, given in ((f, tf.constant(axis)), (f, tf.constant([axis])), (op, axis)):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = way(x, given)
            found.append((y, tape.gradient(y, x)))
        for y, slope in found[:2]:
            np.testing.assert_allclose(y, found[2][0])
            np.testing.assert_allclose(slope, found[2][1])
    with pytest.raises(tf.errors.InvalidArgumentError, match="not an order of the 3 axes"):
        f(x, tf.constant(3))
