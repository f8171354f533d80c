"""Large arrays on the host: blocks, threads, and programs of XLA give what plain kernels give."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.core.process_settings import PROCESS
from wengert.engines.engine_choice import choice_for
from wengert.ops import threads
from wengert.ops.compiled import in_blocks
from wengert.ops.threads import BLOCK, in_parts, share

SIZES = [0, 1, BLOCK - 1, BLOCK, 2 * BLOCK - 1, 2 * BLOCK, 2 * BLOCK + 1, 5 * BLOCK + 77]
# Kernels that work block by block, with their plain forms.
PLAIN = {
    "sin": (tf.sin, np.sin),
    "sqrt": (tf.sqrt, np.sqrt),
    "sign": (tf.sign, np.sign),
    "sigmoid": (tf.sigmoid, lambda x: 1 / (1 + np.exp(-x))),
    "selu": (
        tf.nn.selu,
        lambda x: 1.0507009873554805 * np.where(x < 0, 1.6732632423543772 * np.expm1(x), x),
    ),
    "erf": (tf.math.erf, None),
    "lgamma": (tf.math.lgamma, None),
    "bessel_i0e": (tf.math.bessel_i0e, None),
}


def numbers(size: int, dtype: str = "float32") -> np.ndarray:
    x = (np.random.default_rng(size).standard_normal(size) * 3).astype(dtype)
    edges = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-30], dtype)
    x[-len(edges) :] = edges[: size or 1][: len(x[-len(edges) :])]
    return x


@pytest.fixture
def one_thread():
    PROCESS.block_threads = 1
    yield
    PROCESS.block_threads = 0


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("size", SIZES)
def test_large_arrays_equal_small_ones(name, size):
    f, plain = PLAIN[name]
    x = numbers(size)
    result = f(tf.constant(x)).numpy()
    pieces = [f(tf.constant(x[k : k + 1000])).numpy() for k in range(0, size, 1000)]
    np.testing.assert_allclose(result, np.concatenate([x[:0], *pieces]), 2e-5, 1e-5)
    if plain is not None:
        with np.errstate(all="ignore"):
            np.testing.assert_allclose(result, plain(x), 2e-5, 1e-6)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_other_dtypes_keep_theirs(dtype):
    x = numbers(3 * BLOCK, dtype)
    result = tf.sigmoid(x)
    assert result.dtype == dtype
    small = tf.sigmoid(x[:100]).numpy()
    np.testing.assert_array_equal(result.numpy()[:100], small)


def test_the_bits_do_not_depend_on_the_number_of_threads(one_thread):
    x = numbers(7 * BLOCK + 5)
    alone = [f(tf.constant(x)).numpy().tobytes() for f, _ in PLAIN.values()]
    PROCESS.block_threads = 5
    assert [f(tf.constant(x)).numpy().tobytes() for f, _ in PLAIN.values()] == alone


def test_a_size_that_comes_often_has_the_same_bits():
    x = tf.constant(np.random.default_rng(0).uniform(-3, 3, 2**20).astype(np.float32))
    results = [tf.math.erfc(x).numpy().tobytes() for _ in range(5)]
    assert set(results) == {results[0]}


def test_shapes_and_orders_of_memory():
    x = np.random.default_rng(0).uniform(size=(700, 300)).astype(np.float32).T
    np.testing.assert_array_equal(tf.sin(tf.constant(x)).numpy(), np.sin(x))
    row, column = x[:1], x[:, :1]
    np.testing.assert_allclose(
        tf.math.floormod(tf.constant(row + 1), tf.constant(column + 0.5)).numpy(),
        np.mod(row + 1, column + 0.5),
        1e-4,
        1e-4,
    )


def test_an_error_names_the_whole_array():
    x = tf.ones([3 * BLOCK], tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"int32\[196608\]"):
        tf.math.floordiv(x, tf.zeros_like(x))


def test_the_first_error_of_a_thread_is_raised_and_all_stop():
    seen = []

    def work(k: int) -> None:
        seen.append(k)
        if k == 3:
            raise ValueError("three")

    with pytest.raises(ValueError, match="three"):
        share(work, range(1000))
    assert len(seen) < 1000


def test_work_within_work_does_not_wait_for_itself():
    done = []
    share(lambda k: share(lambda j: done.append((k, j)), range(8)), range(8))
    assert len(done) == 64


def test_warnings_that_are_errors_do_not_reach_the_threads():
    x = tf.constant(np.full(4 * BLOCK, 3e38, np.float32))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.isinf(tf.nn.elu(x * 2.0).numpy()[0])
        assert np.isinf(tf.pow(x, x).numpy()).all()


def test_many_callers_at_once():
    x = numbers(6 * BLOCK)
    expected = tf.sigmoid(tf.constant(x)).numpy()
    results: list[np.ndarray] = []
    callers = [
        threading.Thread(target=lambda: results.append(tf.sigmoid(tf.constant(x)).numpy()))
        for _ in range(6)
    ]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert len(results) == 6
    for result in results:
        np.testing.assert_array_equal(result, expected)


FORK = """
import os, sys
import numpy as np
import wengert as tf
x = tf.constant(np.linspace(-3, 3, 400_000, dtype=np.float32))
tf.config.threading.set_intra_op_parallelism_threads(3)
before = tf.sigmoid(x).numpy().sum()
child = os.fork()
if not child:
    os._exit(0 if tf.sigmoid(x).numpy().sum() == before else 1)
assert os.waitpid(child, 0)[1] == 0
print("fine")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_threads_survive_a_fork_and_the_exit():
    ran = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORK],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ran.stdout == "fine\n", ran.stderr


def test_the_setting_bounds_the_threads(one_thread):
    before = tf.config.threading.get_intra_op_parallelism_threads()
    tf.config.threading.set_intra_op_parallelism_threads(3)
    assert threads.thread_count() == 3
    tf.config.threading.set_intra_op_parallelism_threads(before)


def test_kernels_of_several_arrays():
    kernel = in_parts(lambda x, y: x - y)
    x, y = numbers(3 * BLOCK + 1), numbers(3 * BLOCK + 1)[::-1]
    np.testing.assert_array_equal(kernel(x, y), x - y)
    run = in_blocks(lambda x, y: x + y, lambda x, y: x + y)
    np.testing.assert_array_equal(run(x, y), x + y)


def test_a_running_sum_of_ones_compiles_at_once():
    """XLA would work it out while it compiles, which takes half a minute."""

    @tf.function(jit_compile=True)
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cumsum(x, 1)
        return tape.gradient(y, x)

    text = f.experimental_get_compiler_ir(tf.zeros([1024, 1024]))()
    assert "opt-barrier" in text or "optimization_barrier" in text


TRIG = [
    (tf.sin, np.sin, 1.0),
    (tf.cos, np.cos, 1.0),
    (tf.tan, np.tan, 1.0),
    (tf.asin, np.arcsin, 0.01),
    (tf.acos, np.arccos, 0.01),
    (tf.atan, np.arctan, 1.0),
]


@pytest.mark.parametrize(("f", "plain", "scale"), TRIG)
@pytest.mark.parametrize("reach", [1.0, 90.0, 8000.0, 1e6])
def test_compiled_trigonometry_is_exact_to_a_few_bits(f, plain, scale, reach):
    x = np.random.default_rng(3).uniform(-reach, reach, 8192).astype(np.float32)
    x = np.clip(x * np.float32(scale), -1, 1) if scale < 1 else x
    x[:4] = 0.0, -0.0, 1.0, -1.0
    result = tf.function(f, jit_compile=True)(tf.constant(x)).numpy()
    exact = plain(x.astype(np.float64))
    assert np.all(np.abs(result - exact) <= 6 * np.spacing(np.abs(exact).astype(np.float32)))
    assert np.array_equal(np.signbit(result[:2]), np.signbit(plain(x[:2])))


@pytest.mark.parametrize(("f", "plain", "scale"), TRIG)
def test_compiled_trigonometry_at_the_edges(f, plain, scale):
    x = np.array([np.inf, -np.inf, np.nan, 1e30, 1.5, -1.5] * 1000, np.float32)
    with np.errstate(all="ignore"):
        expected = plain(x)
    result = tf.function(f, jit_compile=True)(tf.constant(x)).numpy()
    np.testing.assert_allclose(result, expected, 1e-6, 1e-6)


def test_compiled_atan2_in_every_quadrant():
    values = np.array([0.0, -0.0, 1.0, -1.0, 2.5, -1e-3, np.inf, -np.inf, np.nan, 3e37], np.float32)
    y, x = np.meshgrid(values, values)
    result = tf.function(tf.atan2, jit_compile=True)(tf.constant(y), tf.constant(x)).numpy()
    np.testing.assert_allclose(result, np.arctan2(y, x), 1e-6, 1e-30)
    assert np.array_equal(
        np.signbit(result), np.signbit(np.arctan2(y, x)) | np.isnan(result) & np.signbit(result)
    )


@pytest.mark.parametrize("shape", [(5, 70_000), (70_000, 5), (300, 700), (3, 40, 2000), (400_000,)])
def test_reductions_and_rows_of_large_arrays(shape):
    x = np.random.default_rng(1).uniform(0.5, 1.5, shape).astype(np.float32)
    x.flat[7] = -0.5
    t, wide = tf.constant(x), x.astype(np.float64)
    axes = [None, -1, 0] if len(shape) < 3 else [None, -1, (1, 2)]
    for axis in axes:
        for keep in (False, True):
            options = {"axis": axis, "keepdims": keep}
            np.testing.assert_allclose(
                tf.reduce_sum(t, **options), wide.sum(axis, keepdims=keep), 1e-5
            )
            np.testing.assert_array_equal(tf.reduce_max(t, **options), x.max(axis, keepdims=keep))
            np.testing.assert_array_equal(
                tf.math.count_nonzero(t > 0, **options), (x > 0).sum(axis, keepdims=keep)
            )
            np.testing.assert_allclose(
                tf.math.reduce_euclidean_norm(t, **options),
                np.sqrt((wide * wide).sum(axis, keepdims=keep)), 1e-5,
            )  # fmt: skip
    rows = x.reshape(-1, shape[-1])
    e = np.exp(rows - rows.max(-1, keepdims=True))
    softmax = (e / e.sum(-1, keepdims=True)).reshape(shape)
    np.testing.assert_allclose(tf.nn.softmax(t), softmax, 1e-4)
    np.testing.assert_array_equal(tf.sort(t), np.sort(x))
    np.testing.assert_array_equal(tf.argsort(t), np.argsort(x, kind="stable"))
    np.testing.assert_allclose(tf.cumsum(t, -1), np.cumsum(wide, -1), 1e-4)
    best = tf.math.top_k(t, 3)
    np.testing.assert_array_equal(best.values, -np.sort(-x)[..., :3])
    np.testing.assert_array_equal(
        tf.gather(t, best.indices, batch_dims=len(shape) - 1), best.values
    )


def test_products_of_everything():
    x = np.full(300_001, 1.0, np.float32)
    x[::1000] = 1.01
    np.testing.assert_allclose(tf.reduce_prod(x), np.prod(x.astype(np.float64)), 1e-4)
    whole = np.where(np.arange(400_000) % 2, 3, 1).astype(np.int32)
    assert int(tf.reduce_prod(whole)) == int(np.multiply.reduce(whole, dtype=np.int32))
    assert np.isnan(tf.reduce_prod(np.full(400_000, np.nan, np.float32)))


@pytest.mark.parametrize("width", [3, 100])
def test_segments_in_any_order(width):
    rng = np.random.default_rng(2)
    x, ids = rng.uniform(0.9, 1.1, (500, width)).astype(np.float32), rng.integers(-1, 40, 500)
    for name, ufunc in (("max", np.maximum), ("min", np.minimum), ("prod", np.multiply)):
        result = getattr(tf.math, f"unsorted_segment_{name}")(x, ids, 50).numpy()
        for k in set(ids.tolist()) - {-1}:
            np.testing.assert_allclose(result[k], ufunc.reduce(x[ids == k], 0), 1e-5)


def test_a_refusal_names_the_whole_array():
    x = tf.zeros([400, 1000])
    with pytest.raises(tf.errors.InvalidArgumentError, match="from 0 to 1000"):
        tf.math.top_k(x, 1001)


def test_many_random_numbers_have_the_bits_of_few():
    """XLA makes them from some millions on; the stream is one."""
    state = tf.constant([2**64 - 1000, 5, 77], tf.uint64)
    count = 2**21 + 5
    from wengert.ops import distributions, philox

    words = distributions._words(state.numpy(), count)
    np.testing.assert_array_equal(words, philox.words(state.numpy(), count))
    large = tf.random.stateless_uniform([count], (1, 2)).numpy()
    np.testing.assert_array_equal(large[:1000], tf.random.stateless_uniform([1000], (1, 2)))
    compiled = tf.function(tf.random.stateless_normal, jit_compile=True)
    np.testing.assert_allclose(
        compiled([700, 700], (1, 2)), tf.random.stateless_normal([700, 700], (1, 2)), 1e-4, 1e-5
    )


@pytest.mark.parametrize("method", ["bilinear", "bicubic", "area", "nearest"])
def test_large_images_are_resized_like_small_ones(method):
    x = np.random.default_rng(5).uniform(size=(3, 90, 110, 3)).astype(np.float32)
    x[1, 3, 4] = np.nan
    large = tf.image.resize(x, [131, 97], method).numpy()
    for k in range(3):
        np.testing.assert_allclose(large[k], tf.image.resize(x[k], [131, 97], method), 1e-5)


@pytest.mark.parametrize("reach", [3.0, 1e6, 1e12])
def test_remainders_of_many_numbers_are_exact(reach):
    rng = np.random.default_rng(6)
    x = rng.uniform(-reach, reach, 3 * BLOCK).astype(np.float32)
    y = rng.choice(np.array([0.3, -0.7, 2.0, -5.0, 1e-3], np.float32), x.size)
    x[:6], y[:6] = (np.inf, np.nan, 4.0, -4.0, 0.0, 1.0), (1.0, 1.0, 2.0, 2.0, -3.0, np.inf)
    y[7] = 0.0
    with np.errstate(all="ignore"):
        plain = np.fmod(x, y)
        floored = np.where((plain != 0) & ((plain < 0) != (y < 0)), plain + y, plain)
    for part in (slice(None), slice(8, None)):
        result = tf.truncatemod(x[part], y[part]).numpy()
        np.testing.assert_array_equal(result, plain[part])
        np.testing.assert_array_equal(np.signbit(result), np.signbit(plain[part]))
        np.testing.assert_array_equal(tf.math.floormod(x[part], y[part]), floored[part])


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize(
    ("shape", "axis"), [((700, 300), 0), ((3, 500, 200), 1), ((2, 3, 40_000), 0)]
)
def test_places_of_extremes_along_other_axes(shape, axis, dtype):
    x = np.random.default_rng(7).integers(-9, 9, shape).astype(dtype)  # many ties
    np.testing.assert_array_equal(tf.argmax(x, axis), x.argmax(axis))
    np.testing.assert_array_equal(tf.argmin(x, axis), x.argmin(axis))
    if dtype == "float32":
        x[0] = np.nan
        wanted = np.where(np.isnan(x), -np.inf, x).argmax(axis)
        np.testing.assert_array_equal(tf.argmax(x, axis), wanted)


def test_large_one_hot_tensors():
    places = np.random.default_rng(8).integers(-3, 1003, (5, 60)).astype(np.int32)
    cases: list[dict[str, Any]] = [{}, {"on_value": 2.5, "off_value": -1.0}, {"axis": 1}]
    for options in [*cases, {"dtype": tf.int8}]:
        large = tf.one_hot(places, 1000, **options).numpy()
        rows = [tf.one_hot(row, 1000, **{**options, "axis": -1}).numpy() for row in places]
        wanted = np.stack(rows)
        wanted = np.moveaxis(wanted, -1, 1) if "axis" in options else wanted
        np.testing.assert_array_equal(large, wanted)
        assert large.dtype == wanted.dtype


@pytest.mark.parametrize("bad", [[0, 0, 1], [0, 1, 3], [-1, 0, 1]])
def test_what_is_no_permutation_is_refused(bad):
    with pytest.raises(tf.errors.InvalidArgumentError, match="must occur once"):
        tf.math.invert_permutation(bad)


@pytest.mark.parametrize(
    ("body", "compiled"),
    [
        (tf.sort, False),
        (lambda x: tf.reshape(x, [-1]), False),
        (lambda x: tf.expand_dims(x, 0), False),
        (lambda x: tf.exp(x) * tf.sin(x), True),
        (lambda x: tf.matmul(tf.sort(x), x), True),
    ],
)
def test_graphs_that_gain_nothing_stay_with_the_host(body, compiled):
    x = tf.random.uniform([700, 700], seed=1)
    graph = tf.function(body).get_concrete_function(x).graph
    choice = choice_for(graph, [x.numpy()])
    assert (choice.due() < float("inf")) is compiled


def test_images_of_a_batch_are_dilated_one_by_one():
    rng = np.random.default_rng(9)
    x = rng.standard_normal((4, 130, 100, 5)).astype(np.float32)
    w = rng.standard_normal((3, 2, 5)).astype(np.float32)
    options: dict[str, Any] = {
        "strides": [1, 2, 1, 1],
        "padding": "SAME",
        "data_format": "NHWC",
        "dilations": [1, 1, 1, 1],
    }
    whole = tf.nn.dilation2d(x, w, **options).numpy()
    for k in range(4):
        alone = tf.nn.dilation2d(x[k : k + 1], w, **options)
        np.testing.assert_array_equal(whole[k : k + 1], alone)


def test_counts_of_many_numbers():
    x = np.random.default_rng(10).integers(0, 50, 200_000).astype(np.int32)
    np.testing.assert_array_equal(tf.math.bincount(x), np.bincount(x))
    np.testing.assert_array_equal(tf.math.bincount(x, maxlength=7), np.bincount(x)[:7])
    np.testing.assert_array_equal(tf.math.bincount(x, minlength=60), np.bincount(x, minlength=60))
    x[5] = 2**31 - 1
    assert tf.math.bincount(x, maxlength=9, dtype=tf.int64).shape == (9,)
    many = tf.histogram_fixed_width(np.linspace(0, 1, 300_000, dtype=np.float32), [0.0, 1.0], 10)
    assert int(tf.reduce_sum(many)) == 300_000
    with pytest.raises(tf.errors.InvalidArgumentError, match="NaN"):
        tf.histogram_fixed_width(np.full(300_000, np.nan, np.float32), [0.0, 1.0])
