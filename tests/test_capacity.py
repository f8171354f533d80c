"""A buffer's capacity never shows as a size: what a loop of unknown length fills, in all engines.

XLA gives a stack of unknown length room for 64 rows at first. Each construct below makes such a
stack, each consumer asks something of it, and the answers are those of eager execution, for counts
below, at and above the capacity, through one trace.
"""

# ruff: noqa: PERF401  # loops that fill lists are what is tested
from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

import numpy as np
import pytest

import wengert as tf
import wengert.ops
from wengert.core.op import REGISTRY
from wengert.engines.buffer_overflow import FIRST_CAPACITY as LEAST
from wengert.engines.executables import Executable

M = tf.constant(np.random.default_rng(0).random((3, 3), np.float32) + 0.5)
COUNTS = (3, LEAST + 1, 2)


# Constructs: a stack with a row for each of n turns.


def grown(n, m):
    rows = []
    for x in tf.range(n):
        rows.append(m * tf.cast(x + 1, tf.float32))
    return tf.stack(rows)


def comprehended(n, m):
    return tf.stack([m * tf.cast(x, tf.float32) for x in tf.range(n)])


def of_products(n, m):
    sums, factors = [], []
    for x in tf.range(n):
        sums.append(m @ m + tf.cast(x, tf.float32))
        factors.append(-m)
    return tf.tanh(tf.stack(sums)) * tf.stack(factors) + m


def of_lists(n, m):
    rows = []
    for x in tf.range(n):
        inner = []
        for y in tf.range(x + 1):
            inner.append(m * tf.cast(x + y, tf.float32))
        rows.append(tf.reduce_mean(tf.stack(inner), 0))
    return tf.stack(rows)


def of_whole_lists(n, m):
    rows = []
    for x in tf.range(n):
        rows.append(grown(2 + n - n, m * tf.cast(x, tf.float32)))
    return tf.stack(rows)[:, 1]


def two_a_turn(n, m):
    rows = []
    for _ in tf.range(n):
        rows.append(m)
        rows.append(-m)
    return tf.stack(rows)


def now_and_then(n, m):
    rows = []
    for x in tf.range(n):
        if x % 2 == 0:
            rows.append(m * tf.cast(x, tf.float32))
    return tf.stack(rows)


def until_break(n, m):
    rows = []
    for x in tf.range(100):
        rows.append(m * tf.cast(x, tf.float32))
        if x + 1 >= n:
            break
    return tf.stack(rows)


def in_while(n, m):
    rows, i = [], tf.constant(0)
    while i < n:
        rows.append(m * tf.cast(i, tf.float32))
        i += 1
    return tf.stack(rows)


def in_branches(n, m):
    if n > 2:
        found = grown(n, m)
    else:
        found = grown(n, -m)
    return found


def shrunk(n, m):
    rows = []
    for x in tf.range(n):
        rows.append(m * tf.cast(x, tf.float32))
    rows.pop()
    return tf.stack(rows)


def mapped(n, m):
    return tf.map_fn(lambda row: row * 2.0, grown(n, m))


def scanned(n, m):
    return tf.scan(lambda a, row: a * 0.5 + row, grown(n, m), tf.zeros_like(m))


def written(n, m):
    array = tf.TensorArray(tf.float32, n)
    for x in tf.range(n):
        array = array.write(x, m * tf.cast(x, tf.float32))
    return array.stack()


def written_at_will(n, m):
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    for x in tf.range(n):
        array = array.write(x, m * tf.cast(x, tf.float32))
    return array.stack()


def unstacked(n, m):
    return tf.TensorArray(tf.float32, 0, dynamic_size=True).unstack(grown(n, m)).stack()


def masked(n, m):
    found = grown(n, m)
    return tf.boolean_mask(found, found[:, 0, 0] > 1.0)


CONSTRUCTS = [
    grown, comprehended, of_products, of_lists, of_whole_lists, two_a_turn, now_and_then,
    until_break, in_while, in_branches, shrunk, mapped, scanned, written, written_at_will,
    unstacked, masked,
]  # fmt: skip
CONSUMERS = {
    "itself": lambda x: x,
    "shape": tf.shape,
    "size": lambda x: tf.size(x, tf.int64),
    "sum": tf.reduce_sum,
    "sum of rows": lambda x: tf.reduce_sum(x, [1, 2]),
    "mean": tf.reduce_mean,
    "mean over turns": lambda x: tf.reduce_mean(x - 5.0, 0, keepdims=True),
    "mean of integers": lambda x: tf.reduce_mean(tf.cast(x, tf.int32) + 7),
    "mean of halves": lambda x: tf.reduce_mean(tf.cast(x + 1.0, tf.float16) * 0.01, 0),
    "mean by hand": lambda x: tf.reduce_sum(x) / tf.cast(tf.shape(x)[0], tf.float32),
    "max of negatives": lambda x: tf.reduce_max(-tf.abs(x) - 1.0),
    "min": lambda x: tf.reduce_min(tf.exp(0.01 * x)),
    "prod": lambda x: tf.reduce_prod(2.0 - tf.exp(-0.001 * tf.abs(x)), 0),
    "any": lambda x: tf.reduce_any(tf.equal(x, -1.0) | tf.equal(x, 0.0), [0, 1]),
    "all": lambda x: tf.reduce_all(tf.abs(x) >= 1e-3, 0),
    "std": lambda x: tf.math.reduce_std(x, 0),
    "logsumexp": lambda x: tf.reduce_logsumexp(0.01 * x),
    "softmax": lambda x: tf.nn.softmax(x, 0),
    "less the mean": lambda x: x - tf.reduce_mean(x),
    "argmax": lambda x: tf.argmax(x, 0),
    "sort": lambda x: tf.sort(-x, 0),
    "cumsum": lambda x: tf.cumsum(x, 0, reverse=True),
    "reverse": lambda x: tf.reverse(x, [0]),
    "last": lambda x: x[-1],
    "concat": lambda x: tf.concat([x, x], 0),
    "reshape": lambda x: tf.reshape(x, [-1, 3]),
    "transpose": tf.transpose,
    "matmul": lambda x: x[:, 0] @ tf.ones([3, 2]),
    "pad": lambda x: tf.pad(x, [[1, 1], [0, 0], [0, 0]]),
    "unique": lambda x: tf.unique(tf.cast(tf.reshape(x, [-1]), tf.int32))[0],
    "where": lambda x: tf.where(x > 2.0),
    "zeros like": lambda x: tf.zeros_like(x) + 1.0,
    "ones of its shape": lambda x: tf.ones(tf.shape(x)),
    "zeros of its size": lambda x: tf.fill([tf.shape(x)[0] * 2], 1.0),
    "broadcast": lambda x: x + tf.cast(tf.range(tf.shape(x)[0]), tf.float32)[:, None, None],
    "map": lambda x: tf.map_fn(tf.reduce_sum, x),
    "fold": lambda x: tf.foldl(lambda a, row: a * 0.5 + row, x, tf.zeros([3, 3])),
    "vectorized": lambda x: tf.vectorized_map(lambda row: row * 2.0, x),
}


def check(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=5e-3, atol=1e-2)


def agrees(function, counts=COUNTS, engine="xla"):
    """Checks a function of a count and a matrix, through one trace, against eager execution."""
    compiled = tf.function(function)
    for n in counts:
        expected = function(tf.constant(n), M)
        with tf.engine(engine):
            check(compiled(tf.constant(n), M), expected)
    return compiled


@pytest.mark.parametrize("construct", CONSTRUCTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("consumer", ["itself", "mean", "softmax"])
def test_constructs(construct, consumer):
    consume = CONSUMERS[consumer]
    agrees(lambda n, m: consume(construct(n, m)))


@pytest.mark.parametrize("consumer", CONSUMERS)
def test_consumers(consumer):
    consume = CONSUMERS[consumer]
    agrees(lambda n, m: consume(grown(n, m)))


@pytest.mark.parametrize("engine", ["host", "xla"])
def test_lists_as_they_are(engine):
    def length(n, m):
        rows = []
        for x in tf.range(n):
            rows.append(m * tf.cast(x, tf.float32))
        return tf.stack([len(rows), tf.cast(rows[-1][0, 0] * 100.0, tf.int32)])

    def joined(n, m):
        rows = []
        for x in tf.range(n):
            rows.append(m * tf.cast(x, tf.float32))
        return tf.concat(rows, 0)

    def read_again(n, m):
        rows, total = [], tf.zeros_like(m)
        for x in tf.range(n):
            rows.append(m * tf.cast(x, tf.float32))
        for row in rows:
            total = total * 0.5 + row
        return total

    for function in (length, joined, read_again):
        agrees(function, engine=engine)


@pytest.mark.parametrize("consumer", ["itself", "shape", "mean", "max of negatives", "all"])
def test_counts_around_the_capacity_and_none(consumer):
    consume = CONSUMERS[consumer]
    run = lambda n, m: consume(grown(n, m))
    compiled = agrees(run, (LEAST - 1, LEAST, LEAST + 1, 1, 3 * LEAST, 5))
    with tf.engine("host"):  # eagerly, a list without elements does not know their shape
        expected = tf.function(run)(tf.constant(0), M)
    with tf.engine("xla"):
        check(compiled(tf.constant(0), M), expected)
    (trace,) = compiled.coverage().traces
    assert trace.engine == "xla" or trace.executables


def test_the_engine_that_chooses_by_itself():
    compiled = tf.function(lambda n, m: grown(n, m @ m))
    m = tf.ones([300, 300])
    for n in (3, 3, 3, 2):
        assert compiled(tf.constant(n), m).shape == (n, 300, 300)
    assert compiled.coverage().traces[0].engine == "xla"


@pytest.mark.parametrize("construct", [grown, of_lists, in_branches, two_a_turn, mapped, written])
def test_compilation_on_demand(construct):
    compiled = tf.function(construct, jit_compile=True)
    for n in (3, 5):
        check(compiled(tf.constant(n), M), construct(tf.constant(n), M))


def test_what_a_program_needs_as_a_size_is_compiled_for_each_count():
    sort = lambda n, m: tf.sort(-grown(n, m), 0)
    compiled = tf.function(sort, jit_compile=True)
    for n in (3, 5, 3):
        check(compiled(tf.constant(n), M), sort(tf.constant(n), M))


def test_a_count_that_depends_on_data_cannot_be_compiled():
    def halved(m):
        rows = []
        for _ in tf.range(tf.cast(tf.reduce_sum(m), tf.int32)):
            rows.append(m)
        return tf.sort(tf.stack(rows), 0)

    large = tf.fill([65, 65], 0.001)
    with pytest.raises(tf.errors.OpError, match="how many rows a loop writes") as caught:
        tf.function(halved, jit_compile=True)(large)
    assert "test_capacity.py" in "".join(caught.value.__notes__)
    compiled = tf.function(halved)
    with tf.engine("xla"):
        check(compiled(large), halved(large))
    assert "how many rows" in compiled.coverage().traces[0].reason


def test_open_sizes():
    @tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec([], tf.int32)])
    def run(x, n):
        rows = []
        for i in tf.range(n):
            rows.append(x * tf.cast(i, tf.float32))
        found = tf.stack(rows)
        return found, tf.reduce_mean(found, 0)

    for size, n in ((2, 3), (4, 70), (2, 5)):
        with tf.engine("xla"):
            found, mean = run(tf.ones([size, 3]), tf.constant(n))
        check(
            found, np.ones((n, size, 3), np.float32) * np.arange(n, dtype=np.float32)[:, None, None]
        )
        check(mean, np.full((size, 3), (n - 1) / 2, np.float32))


def test_inside_vectorized_map():
    rows = lambda n, m: tf.vectorized_map(lambda row: grown(n, row), m)
    means = lambda n, m: tf.vectorized_map(lambda row: tf.reduce_mean(grown(n, row), 0), m)
    for function in (rows, means):
        agrees(function)


def test_a_variable_takes_rows_of_an_unknown_number():
    state = tf.Variable(tf.zeros([1, 3, 3]), shape=[None, 3, 3])

    @tf.function
    def keep(n, m):
        state.assign(grown(n, m))
        return tf.reduce_sum(m)

    for n in (3, 70):
        with tf.engine("xla"):
            keep(tf.constant(n), M)
        check(state, grown(tf.constant(n), M))


# Gradients, of first and second order.


def gradient(function):
    def first(n, m):
        with tf.GradientTape() as tape:
            tape.watch(m)
            y = function(n, m)
        return tape.gradient(y, m)

    return first


def second_gradient(function):
    def second(n, m):
        with tf.GradientTape() as outer:
            outer.watch(m)
            with tf.GradientTape() as tape:
                tape.watch(m)
                y = tf.reduce_sum(function(n, m)) * tf.reduce_sum(m)
            g = tape.gradient(y, m)
            z = g * g
        return outer.gradient(z, m)

    return second


def loop_in_loop(n, m):
    i = tf.constant(0)
    while i < n:
        j = tf.constant(0)
        while j < i:
            m = tf.tanh(m * 1.1)
            j += 1
        m = m * m * 0.9
        i += 1
    return m


def loop_in_branch(n, m):
    i = tf.constant(0)
    while i < n:
        if i % 2 == 0:
            j = tf.constant(0)
            while j < 2 * i:
                m = tf.sin(m)
                j += 1
        else:
            m = m * m
        i += 1
    return m


def ended_early(n, m):
    i, t = tf.constant(0), m[0]
    while i < 10 and tf.reduce_sum(t) < 1e3:
        t = t * 1.5 + tf.cast(n, tf.float32) * m[0] * m[1]
        i += 1
    return t


def losses(n, m):
    found = []
    for x in tf.range(n):
        found.append(tf.tanh(m) * tf.cast(x + 1, tf.float32) / tf.cast(n, tf.float32))
    s = tf.stack(found)
    return tf.reduce_mean(s * s + tf.reduce_mean(m)) + tf.reduce_sum(tf.exp(-s))


COMPILED = [loop_in_loop, loop_in_branch, ended_early, losses, grown]


@pytest.mark.parametrize("function", [*COMPILED, of_lists, scanned, in_branches])
def test_gradients(function):
    compiled = agrees(gradient(function), (3, 66, 1))
    if function in COMPILED:
        assert compiled.coverage().traces[0].engine == "xla"


@pytest.mark.parametrize("consumer", ["mean", "max of negatives", "logsumexp", "std", "concat"])
def test_gradients_of_consumers(consumer):
    consume = CONSUMERS[consumer]
    agrees(gradient(lambda n, m: consume(tf.sin(grown(n, m)) + m)), (3, 66))


@pytest.mark.parametrize("function", [loop_in_loop, ended_early, losses])
def test_second_gradients(function):
    agrees(second_gradient(function), (3, 66))


# The facts that the engine trusts.


def _operations():
    for module in iter_modules(wengert.ops.__path__):
        import_module(f"wengert.ops.{module.name}")
    return [op for op in REGISTRY.values() if op.elementwise and op.lower is not None]


@pytest.mark.parametrize("op", _operations(), ids=lambda op: op.name)
def test_elementwise_operations_keep_rows_apart(op):
    kinds = [np.dtype(k) for k in (np.float32, np.int32, np.bool_, np.complex64)]
    dtype = next((k for k in kinds if k.num in op.accepts), None)
    if dtype is None:
        assert op.name in OF_OTHER_DTYPES
        return
    rng = np.random.default_rng(1)
    given = [(rng.random((6, 4)) * 0.9 + (dtype.kind == "i")).astype(dtype) for _ in op.inputs]
    if op.name == "where":
        given[0] = given[0] > 0.5
    try:
        with np.errstate(all="ignore"):
            whole, part = op.kernel(*given), op.kernel(*[x[:2] for x in given])
    except TypeError:  # an attribute is missing
        assert op.name in WITH_ATTRIBUTES
        return
    np.testing.assert_allclose(np.asarray(whole)[:2], part, rtol=1e-5, equal_nan=True)


# Elementwise for all values of their attributes, as their text shows.
OF_OTHER_DTYPES: set[str] = set()
WITH_ATTRIBUTES = {
    "approximate_equal", "cast", "check_numerics", "complex", "gelu", "gelu_slope", "leaky_relu",
    "leaky_relu_grad", "ones_like", "silu", "silu_slope", "zeros_like",
}  # fmt: skip


# Gradients around calls: the backward program is compiled by itself.


def around(function):
    """The gradient of a function's call, by a tape around it; the trace is one."""
    compiled = tf.function(function)

    def first(n, m):
        with tf.GradientTape() as tape:
            tape.watch(m)
            y = compiled(n, m)
        return tape.gradient(y, m)

    return first


def of_either_length(n, m):
    rows = []
    if n > 2:
        for x in tf.range(n):
            rows.append(m[0] * tf.cast(x, tf.float32))
    else:
        for _ in tf.range(n + 1):
            rows.append(m[1])
    return tf.stack(rows)


def of_several(n, m):
    def rows_of(count, row):
        rows = []
        for x in tf.range(count):
            rows.append([row * tf.cast(x + y, tf.float32) for y in tf.range(x + 1)][-1])
        return tf.stack(rows)

    return tf.switch_case(
        n % 3, [lambda: rows_of(n, m[0]), lambda: rows_of(2 * n, m[1]), lambda: rows_of(2, m[2])]
    )


@pytest.mark.parametrize("function", [of_either_length, of_several, now_and_then, until_break])
def test_gradients_around_calls(function):
    run = around(function)
    for n in (3, 3, 70, 70, 1, 65, 70):
        expected = gradient(function)(tf.constant(n), M)
        with tf.engine("xla"):
            check(run(tf.constant(n), M), expected)


def test_branches_of_different_capacities_are_compiled():
    compiled = agrees(of_either_length, (3, 70, 1, 140, 2))
    assert compiled.coverage().traces[0].engine == "xla"


def test_a_compilation_that_fails_is_tried_again(monkeypatch):
    own = lambda n, m: grown(n, m * 0.123)  # equal graphs share executables
    compiled, compile_ = tf.function(own), Executable._compile
    with tf.engine("xla"):
        compiled(tf.constant(3), M)
        for error in (MemoryError, KeyboardInterrupt):
            monkeypatch.setattr(Executable, "_compile", lambda self, e=error: throw(e))
            with pytest.raises(error):
                compiled(tf.constant(LEAST + 1), M)
            with pytest.raises(error):  # a wish for more room is not forgotten
                compiled(tf.constant(LEAST + 1), M)
        monkeypatch.setattr(Executable, "_compile", compile_)
        check(compiled(tf.constant(LEAST + 1), M), own(tf.constant(LEAST + 1), M))


def throw(error):
    raise error
