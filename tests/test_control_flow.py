"""Control flow in functions: state, effects, random numbers and unknown sizes, on both engines."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf

State = namedtuple("State", "count value")
engines = pytest.mark.parametrize("engine", ["host", "xla"])


def traced(f: Callable[..., Any], engine: str, **options: Any) -> Any:
    jit = True if engine == "xla" else None
    return tf.function(f, autograph=False, jit_compile=jit, **options)


def close(got: Any, want: Any, tolerance: float = 1e-12) -> None:
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=tolerance, atol=tolerance)


def slope(f: Callable[..., Any], *sources: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(list(sources))
        y = f(*sources)
    return tape.gradient(y, list(sources))


def same_as_eager(f: Callable[..., Any], engine: str, *args: Any) -> None:
    with tf.engine(engine):
        found = traced(f, engine)(*args)
    for got, want in zip(tf.nest.flatten(found), tf.nest.flatten(f(*args)), strict=True):
        assert got.dtype == want.dtype
        close(got, want)


# Variables.


@engines
def test_variables_assigned_in_a_loop(engine: str) -> None:
    v, w = tf.Variable(2.0, dtype=tf.float64), tf.Variable([1, 2])

    def body(i: Any, s: Any) -> Any:
        v.assign(v * s + 1.0)
        w.scatter_nd_add([[0]], [i])
        return i + 1, s + v

    def run(x: Any) -> Any:
        return tf.while_loop(lambda i, s: i < 3, body, (0, x)), v.read_value()

    x = tf.constant(0.5, tf.float64)
    want = run(x)
    after = v.numpy(), w.numpy()
    v.assign(2.0)
    w.assign([1, 2])
    got = traced(run, engine)(x)
    close(got[1], want[1])
    close(got[0][1], want[0][1])
    close(v, after[0])
    close(w, after[1])


@engines
def test_a_variable_assigned_in_one_branch_only(engine: str) -> None:
    v = tf.Variable(1.0)

    @tf.function(autograph=False, jit_compile=engine == "xla" or None)
    def run(flag: Any) -> Any:
        return tf.cond(flag, lambda: v.assign_add(2.0) * 1.0, lambda: v * 10.0)

    assert [float(run(tf.constant(f))) for f in (True, False, True)] == [3.0, 30.0, 5.0]
    assert float(v) == 5.0


@engines
def test_gradient_through_variables_that_a_loop_assigns(engine: str) -> None:
    v = tf.Variable(0.5, dtype=tf.float64)

    def run(x: Any) -> Any:
        def body(i: Any, s: Any) -> Any:
            v.assign(tf.sin(v) + x)
            return i + 1, s * v

        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda i, s: i < 3, body, (0, x))[1]
        return tape.gradient(y, [x, v])

    x = tf.constant(0.7, tf.float64)
    want = run(x)
    v.assign(0.5)
    got = traced(run, engine)(x)
    close(got[0], want[0])
    close(got[1], want[1])


def assign_first(v: Any, x: Any) -> Any:
    v.assign(x * 3.0)
    return v * v


def assign_in_a_branch(v: Any, x: Any) -> Any:
    y = tf.cond(x[0] > 0.0, lambda: v.assign(tf.sin(x)) * 1.0, lambda: x)
    return v * v + y


def assign_in_a_loop(v: Any, x: Any) -> Any:
    def body(i: Any, s: Any) -> Any:
        v.assign(s * 0.3)
        return i + 1, s + v * x

    return tf.while_loop(lambda i, s: i < 3, body, (0, x))[1] * v


@pytest.mark.parametrize("program", [assign_first, assign_in_a_branch, assign_in_a_loop])
@pytest.mark.parametrize("inside", [True, False])
def test_reads_after_an_assignment_count_towards_the_variable(program: Any, inside: bool) -> None:
    v, x = tf.Variable([0.5, 1.0], dtype=tf.float64), tf.constant([1.0, 2.0], tf.float64)

    def orders(value: Any, x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = value(x)
            first = tape.gradient(y, [x, v], unconnected_gradients="zero")
            total = tf.reduce_sum(tf.sin(first[0]) + tf.sin(first[1]))
        return [*first, *outer.gradient(total, [x, v], unconnected_gradients="zero")]

    plain = lambda x: program(v, x)
    want = orders(plain, x)
    v.assign([0.5, 1.0])
    if inside:
        got = tf.function(lambda x: orders(plain, x), autograph=False)(x)
    else:
        got = orders(tf.function(plain, autograph=False), x)
    for g, w in zip(got, want, strict=True):
        close(g, w)


@engines
def test_gradients_of_variables_read_in_branches_and_loops(engine: str) -> None:
    w, b = tf.Variable([[0.3, -0.2], [0.1, 0.4]]), tf.Variable([0.1, 0.2])

    def run(x: Any) -> Any:
        with tf.GradientTape() as tape:
            step = lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w) + b))
            h = tf.while_loop(lambda i, h: i < 3, step, (0, x))[1]
            y = tf.cond(tf.reduce_sum(h) > 0.0, lambda: h @ w, lambda: h + b)
        return tape.gradient(y, [w, b])

    x = tf.constant([[1.0, 2.0], [0.5, -1.0]])
    for got, want in zip(traced(run, engine)(x), run(x), strict=True):
        close(got, want, 1e-5)


# State.


@engines
def test_structures_of_state(engine: str) -> None:
    def run(x: Any) -> Any:
        def body(state: Any, rest: Any) -> Any:
            more = {"sum": rest["sum"] + state.value, "flag": tf.logical_not(rest["flag"])}
            return State(state.count + 1, state.value * 2.0), more

        start = (State(0, x), {"sum": x * 0.0, "flag": tf.constant(False)})
        return tf.while_loop(lambda s, r: s.count < 5, body, start)

    same_as_eager(run, engine, tf.constant([1.0, 2.0], tf.float64))
    found = traced(run, engine)(tf.constant([1.0]))
    assert type(found) is tuple and type(found[0]) is State and list(found[1]) == ["sum", "flag"]


@engines
def test_integer_loops(engine: str) -> None:
    def collatz(n: Any) -> Any:
        step = lambda n, k: (tf.where(n % 2 == 0, n // 2, 3 * n + 1), k + 1)
        return tf.while_loop(lambda n, k: n > 1, step, (n, 0))[1]

    run = traced(collatz, engine)
    assert [int(run(tf.constant(n, tf.int64))) for n in (1, 6, 7, 27, 97)] == [0, 8, 16, 111, 118]


@engines
def test_maximum_iterations(engine: str) -> None:
    run = traced(
        lambda x, most: tf.while_loop(
            lambda s: s < 100.0, lambda s: (s * 2.0,), (x,), maximum_iterations=most
        )[0],
        engine,
    )
    x = tf.constant(1.0)
    assert [float(run(x, tf.constant(n))) for n in (0, -3, 3, 50)] == [1.0, 1.0, 8.0, 128.0]


@engines
def test_a_bound_that_is_never_reached_takes_no_memory(engine: str) -> None:
    def run(x: Any) -> Any:
        body = lambda s: (tf.sin(s) * x,)
        return tf.while_loop(
            lambda s: tf.reduce_sum(s) > 1.0, body, (x,), maximum_iterations=1_000_000_000
        )[0]

    x = tf.constant([0.9, 0.8], tf.float64)
    close(traced(lambda x: slope(run, x), engine)(x)[0], slope(run, x)[0])


def test_tensors_that_grow() -> None:
    def run(x: Any) -> Any:
        body = lambda i, s: (i + 1, tf.concat([s, s * x[:1]], 0))
        shapes = (tf.TensorShape([]), tf.TensorShape([None]))
        s = tf.while_loop(lambda i, s: i < 3, body, (0, x), shape_invariants=shapes)[1]
        return tf.reduce_sum(s * s)

    def orders(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            (g,) = slope(run, x)
            h = tf.reduce_sum(g * g)
        return g, outer.gradient(h, x)

    x = tf.constant([0.5, -1.0, 2.0], tf.float64)
    for got, want in zip(traced(orders, "host")(x), orders(x), strict=True):
        close(got, want)
    around = tf.function(run, autograph=False)
    close(slope(around, x)[0], orders(x)[0])


def test_a_tensor_that_grows_leaves_xla_to_the_host() -> None:
    shapes = (tf.TensorShape([]), tf.TensorShape([None]))

    def run(x: Any) -> Any:
        body = lambda i, s: (i + 1, tf.concat([s, s], 0))
        return tf.while_loop(lambda i, s: i < 2, body, (0, x), shape_invariants=shapes)[1]

    with tf.engine("xla"):
        assert tf.function(run)(tf.constant([1.0])).shape == [4]


@engines
def test_unknown_batch_sizes(engine: str) -> None:
    def run(x: Any) -> Any:
        n = tf.shape(x)[0]
        h = tf.zeros([n, 2], x.dtype)
        body = lambda i, h: (i + 1, tf.tanh(h + x[:, :, i]))
        h = tf.while_loop(lambda i, h: i < tf.shape(x)[2], body, (0, h))[1]
        rows = tf.scan(lambda a, r: a * r + h[0], x[:, :, 0], initializer=tf.ones([2], x.dtype))
        y = tf.cond(
            n > 2, lambda: h * tf.ones([n, 1], x.dtype), lambda: h + tf.zeros([n, 2], x.dtype)
        )
        return tf.reduce_sum(y) + tf.reduce_sum(rows) + tf.reduce_sum(tf.map_fn(tf.reduce_max, x))

    spec = tf.TensorSpec([None, 2, None], tf.float64)
    both = lambda x: (run(x), slope(run, x)[0])
    function = traced(both, engine, input_signature=[spec])
    for n, t in ((1, 3), (4, 2), (3, 5)):
        x = tf.constant(np.random.default_rng(n).normal(size=(n, 2, t)))
        for got, want in zip(function(x), both(x), strict=True):
            close(got, want)
    assert function.experimental_get_tracing_count() == 1


@engines
def test_unknown_sizes_with_the_tape_around(engine: str) -> None:
    """What the way back needs of sizes is known to XLA, though it is compiled by itself."""

    def run(x: Any) -> Any:
        rows = tf.map_fn(lambda r: tf.reduce_sum(x * x, 0), x)
        body = lambda i, s: (i + 1, s + tf.reduce_sum(tf.map_fn(lambda r: s * s, x), 0))
        s = tf.while_loop(lambda i, s: i < 2, body, (0, rows[0]))[1]
        return tf.reduce_sum(rows) + tf.reduce_sum(s * tf.cast(tf.shape(x)[0], x.dtype))

    function = traced(run, engine, input_signature=[tf.TensorSpec([None, 2], tf.float64)])
    for n in (1, 3):
        x = tf.constant(np.random.default_rng(n).normal(size=(n, 2)) * 0.2)
        close(slope(function, x)[0], slope(run, x)[0])


@engines
def test_no_rows(engine: str) -> None:
    def run(x: Any) -> Any:
        rows = tf.map_fn(lambda r: r * 2.0, x)
        partial = tf.scan(lambda a, r: a + r, x, initializer=tf.ones([2]))
        whole = tf.foldr(lambda a, r: a * r, x, initializer=tf.ones([2]))
        return rows, partial, whole

    found = traced(run, engine, input_signature=[tf.TensorSpec([None, 2])])(tf.zeros([0, 2]))
    assert [x.shape.as_list() for x in found] == [[0, 2], [0, 2], [2]]
    close(found[2], [1.0, 1.0])


PER_ROW: dict[str, tuple[Callable[[Any], Any], list[int]]] = {
    "row": (lambda r: r * 2.0, [5]),
    "twice": (lambda r: tf.concat([r, r], 0), [10]),
    "outer": (lambda r: r[:, None] * r, [5, 5]),
    "by size": (lambda r: tf.zeros([tf.shape(r)[0] + 1, 3]) + r[0], [6, 3]),
    "branch": (lambda r: tf.cond(r[0] > 0.0, lambda: tf.tile(r, [3]), lambda: -tf.tile(r, [3])), [15]),
    "loop": (lambda r: tf.map_fn(lambda e: e * r, r), [5, 5]),
}  # fmt: skip


@engines
@pytest.mark.parametrize("rank", ["open", "unknown"])
@pytest.mark.parametrize("name", PER_ROW)
def test_no_rows_have_the_sizes_of_rows(name: str, rank: str, engine: str) -> None:
    """Sizes that the trace did not know are known when it runs (TensorFlow's `vectorized_map`)."""
    fn, row = PER_ROW[name]
    spec = tf.TensorSpec(None if rank == "unknown" else [None, None])
    for over in (tf.map_fn, tf.vectorized_map):
        run = traced(lambda x, over=over: over(fn, x), engine, input_signature=[spec])
        assert run(tf.zeros([0, 5])).shape.as_list() == [0, *row]
        assert run(tf.ones([2, 5])).shape.as_list() == [2, *row]
        assert slope(run, tf.zeros([0, 5]))[0].shape.as_list() == [0, 5]


@engines
def test_no_rows_by_numbers_from_outside(engine: str) -> None:
    def run(x: Any) -> Any:
        n = tf.shape(x)[1] * 2
        partial = tf.scan(lambda a, r: a + r, x, initializer=tf.ones([tf.shape(x)[1]]))
        return tf.map_fn(lambda r: tf.zeros([n]) + r[0], x), partial

    found = traced(run, engine, input_signature=[tf.TensorSpec([None, None])])(tf.zeros([0, 3]))
    assert [x.shape.as_list() for x in found] == [[0, 6], [0, 3]]


def test_no_rows_of_sizes_that_nobody_knows() -> None:
    """What depends on the numbers in a row has no size without one."""
    run = traced(
        lambda x: tf.map_fn(lambda r: tf.boolean_mask(r, r > 0.0), x),
        "host",
        input_signature=[tf.TensorSpec([None, None])],
    )
    assert run(tf.zeros([0, 5])).shape.as_list() == [0, 0]
    assert slope(run, tf.zeros([0, 5]))[0].shape.as_list() == [0, 5]


@engines
def test_what_is_known_stays_known_inside(engine: str) -> None:
    """A size that was worked out outside a branch or loop makes shapes inside it."""

    def run(x: Any) -> Any:
        n = tf.shape(x)[0] * 2
        a = tf.cond(x[0, 0] > 0.0, lambda: tf.ones([n, 3]), lambda: tf.zeros([n, 3]))
        b = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s + tf.ones([n, 3])), (0, a))[1]
        return b + tf.map_fn(lambda r: tf.reduce_sum(tf.ones([n, 3]), 1)[0] + r, x)[0, 0]

    function = traced(run, engine, input_signature=[tf.TensorSpec([None, 1])])
    close(function(tf.ones([2, 1])), run(tf.ones([2, 1])))


# Random numbers.


def draws(n: Any) -> Any:
    body = lambda i, s: (i + 1, s.write(i, tf.random.uniform([2])))
    array = tf.TensorArray(tf.float32, 4, element_shape=[2])
    looped = tf.while_loop(lambda i, s: i < n, body, (0, array))[1].stack()
    mapped = tf.map_fn(lambda r: r + tf.random.uniform([2]), tf.zeros([3, 2]))
    chosen = tf.cond(n > 1, lambda: tf.random.uniform([2]), lambda: tf.zeros([2]))
    return looped, mapped, chosen


def test_random_numbers_are_fresh_each_turn_and_the_same_on_both_engines() -> None:
    found = {}
    for engine in ("host", "xla"):
        tf.random.set_seed(5)
        function = traced(draws, engine)
        found[engine] = [*function(tf.constant(4)), *function(tf.constant(4))]
    for a, b in zip(found["host"], found["xla"], strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    rows = np.concatenate([x.numpy().reshape(-1) for x in found["host"]])
    assert len(set(rows.tolist())) == len(rows)


@engines
def test_gradients_see_the_numbers_that_were_drawn(engine: str) -> None:
    def run(x: Any) -> Any:
        noises = tf.TensorArray(tf.float64, 3, element_shape=[2])

        def body(i: Any, s: Any, noises: Any) -> Any:
            noise = tf.random.normal([2], dtype=tf.float64)
            return i + 1, s + noise * x * x, noises.write(i, noise)

        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                _, y, noises = tf.while_loop(lambda i, s, n: i < 3, body, (0, x, noises))
            g = tape.gradient(y, x)
        return g, outer.gradient(g, x), tf.reduce_sum(noises.stack(), 0)

    x = tf.constant([0.5, 2.0], tf.float64)
    g, h, noise = traced(run, engine)(x)
    close(g, 1.0 + 2.0 * noise * x)
    close(h, 2.0 * noise)


# Effects.


@engines
def test_a_failed_assert_in_a_loop_changes_nothing(engine: str) -> None:
    v = tf.Variable(1.0)

    @tf.function(autograph=False, jit_compile=engine == "xla" or None)
    def run(limit: Any) -> Any:
        def body(i: Any, s: Any) -> Any:
            tf.debugging.assert_less(i, limit, message="too far")
            v.assign_add(1.0)
            return i + 1, s + v

        return tf.while_loop(lambda i, s: i < 4, body, (0, 0.0))[1]

    with pytest.raises(tf.errors.InvalidArgumentError, match="too far"):
        run(tf.constant(2))
    assert float(v) == 1.0
    assert float(run(tf.constant(9))) == 14.0
    assert float(v) == 5.0


@engines
def test_only_the_assert_of_the_branch_taken_counts(engine: str) -> None:
    v = tf.Variable(1.0)

    @tf.function(autograph=False, jit_compile=engine == "xla" or None)
    def run(flag: Any, x: Any) -> Any:
        def checked() -> Any:
            v.assign(x)
            tf.debugging.assert_positive(x)
            return x

        return tf.cond(flag, checked, lambda: -x)

    assert float(run(tf.constant(False), tf.constant(-2.0))) == 2.0
    assert float(v) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.constant(True), tf.constant(-2.0))
    assert float(v) == 1.0
    assert float(run(tf.constant(True), tf.constant(3.0))) == 3.0
    assert float(v) == 3.0


@engines
def test_a_bad_index_in_the_test_of_a_loop_is_an_error(engine: str) -> None:
    @tf.function(autograph=False, jit_compile=engine == "xla" or None)
    def run(x: Any) -> Any:
        return tf.while_loop(lambda i: x[i] > 0.0, lambda i: (i + 1,), (0,))[0]

    assert int(run(tf.constant([1.0, 2.0, -1.0]))) == 2
    with pytest.raises(IndexError):
        run(tf.constant([1.0, 2.0, 3.0]))


def test_only_the_branch_taken_prints_and_a_gradient_does_not_print_again(capfd: Any) -> None:
    def body(i: Any, s: Any) -> Any:
        tf.cond(
            tf.equal(i % 2, 0),
            lambda: (tf.print("even", i), 0)[1],
            lambda: (tf.print("odd", i), 0)[1],
        )
        return i + 1, s * s

    @tf.function(autograph=False)
    def run(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.while_loop(lambda i, s: i < 3, body, (0, x))[1]
            g = tape.gradient(y, x)
        return g, outer.gradient(g, x)

    g, h = run(tf.constant(1.1, tf.float64))
    close(g, 8.0 * 1.1**7)
    close(h, 56.0 * 1.1**6)
    shown = capfd.readouterr()
    assert (shown.out + shown.err).split() == ["even", "0", "odd", "1", "even", "2"]


def test_python_calls_in_a_loop_come_in_order_and_once() -> None:
    seen: list[float] = []

    def note(x: Any) -> Any:
        seen.append(float(x))
        return x * 2.0

    @tf.function(autograph=False)
    def run(x: Any) -> Any:
        step = lambda i, s: (i + 1, tf.ensure_shape(tf.py_function(note, [s], tf.float32), []))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda i, s: i < 3, step, (0, x))[1]
        return tape.gradient(y, x)

    assert float(run(tf.constant(1.0))) == 8.0
    assert seen == [1.0, 2.0, 4.0]


@pytest.mark.parametrize("inside", [True, False])
def test_python_calls_between_reads_of_a_variable(inside: bool) -> None:
    v, x = tf.Variable([0.5, 1.0], dtype=tf.float64), tf.constant([1.0, 2.0], tf.float64)

    def value(x: Any) -> Any:
        y = tf.py_function(lambda y: tf.sin(y) * y, [x * v], tf.float64)
        y = tf.ensure_shape(y, [2]) + v * x

        def body(i: Any, s: Any) -> Any:
            v.assign(tf.sin(v) + s * 0.1)
            return i + 1, s * v

        return tf.while_loop(lambda i, s: i < 2, body, (0, y))[1] * v

    def orders(value: Any, x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            first = slope(lambda x, v: value(x), x, v)
            total = tf.reduce_sum(tf.sin(first[0]) + tf.sin(first[1]))
        return [*first, *outer.gradient(total, [x, v])]

    want = orders(value, x)
    v.assign([0.5, 1.0])
    if inside:
        got = tf.function(lambda x: orders(value, x), autograph=False)(x)
    else:
        got = orders(tf.function(value, autograph=False), x)
    for g, w in zip(got, want, strict=True):
        close(g, w)


# NaN, ties, and the like.


@engines
def test_nan_and_ties_as_eagerly(engine: str) -> None:
    def run(x: Any) -> Any:
        a = tf.cond(tf.reduce_sum(x) > 0.0, lambda: tf.reduce_max(x), lambda: tf.reduce_min(x))
        b = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.maximum(s, x)), (0, x))[1]
        c = tf.scan(lambda s, r: tf.minimum(s, r), x, initializer=x[0])
        d = tf.map_fn(lambda r: tf.where(r > 1.0, r, tf.sqrt(r - 1.0)), x)
        return a + tf.reduce_sum(b + c) + tf.reduce_sum(d)

    for values in ([2.0, 2.0, 1.5], [1.0, 1.0, 3.0], [np.nan, 1.0, 2.0], [0.5, 3.0, 3.0]):
        x = tf.constant(values, tf.float64)
        got = traced(lambda x: (run(x), slope(run, x)[0]), engine)(x)
        want = run(x), slope(run, x)[0]
        for g, w in zip(got, want, strict=True):
            np.testing.assert_array_equal(g.numpy(), w.numpy())


@engines
def test_a_branch_not_taken_cannot_spoil_the_gradient(engine: str) -> None:
    safe = lambda x: tf.cond(x > 0.0, lambda: tf.sqrt(x), lambda: x * 0.5)
    function = traced(lambda x: slope(safe, x)[0], engine)
    assert [float(function(tf.constant(v))) for v in (4.0, 0.0, -1.0)] == [0.25, 0.5, 0.5]


# Tapes and constants.


@engines
def test_a_constant_of_the_trace_may_be_watched(engine: str) -> None:
    def run() -> Any:
        x = tf.constant([1.0, 2.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s * x), (0, x))[1]
            z = tf.cond(tf.reduce_sum(y) > 0.0, lambda: y * x, lambda: x)
        return tape.gradient(z, x)

    close(traced(run, engine)(), run(), 1e-6)


@engines
def test_custom_gradients_of_two_calls_of_one_function(engine: str) -> None:
    @tf.custom_gradient
    def cube(y: Any) -> Any:
        z = y * y
        return z * y, lambda g: g * 3.0 * z * tf.cos(y)

    inner = tf.function(lambda x: cube(tf.sin(x)) * x, autograph=False)
    plain: Any = inner.python_function

    def run(f: Any, x: Any) -> Any:
        def twice(x: Any) -> Any:
            body = lambda i, s: (i + 1, f(s) * f(s + x) + x)
            return tf.reduce_sum(tf.while_loop(lambda i, s: i < 2, body, (0, f(x)))[1])

        with tf.GradientTape() as outer:
            outer.watch(x)
            (g,) = slope(twice, x)
        return outer.gradient(g, x)

    x = tf.constant([0.3, -0.7], tf.float64)
    close(traced(lambda x: run(inner, x), engine)(x), run(plain, x))


@engines
def test_results_that_no_gradient_reaches(engine: str) -> None:
    def run(x: Any) -> Any:
        def body(i: Any, a: Any, b: Any) -> Any:
            return i + 1, tf.sin(a), b * a

        with tf.GradientTape() as tape:
            tape.watch(x)
            _, _, b = tf.while_loop(lambda i, a, b: i < 3, body, (0, x, x))
            both = tf.scan(lambda s, r: (s[0] * r, s[1] + r), x, initializer=(x[0], x[1]))
        return tape.gradient([b, both[1]], x)

    x = tf.constant([0.5, 2.0, 1.0], tf.float64)
    close(traced(run, engine)(x), run(x))


# All sorts of programs.


def newton(x: Any) -> Any:
    """A tape in the body of a loop."""

    def body(i: Any, x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x**3 - 2.0 * x - 5.0
        return i + 1, x - y / tape.gradient(y, x)

    return tf.while_loop(lambda i, x: i < 4, body, (0, x))[1]


def curvatures(x: Any) -> Any:
    """Tapes for each row."""

    def one(row: Any) -> Any:
        return slope(lambda r: slope(lambda q: tf.reduce_sum(tf.sin(q) * q), r)[0], row)[0]

    return tf.map_fn(one, x)


def loop_in_the_test(x: Any) -> Any:
    def test(i: Any, s: Any) -> Any:
        return tf.while_loop(lambda k, u: k < 2, lambda k, u: (k + 1, u + s), (0, s))[1] < 50.0

    return tf.while_loop(test, lambda i, s: (i + 1, s * 2.0), (0, x))[1]


def unknown_in_unknown(x: Any) -> Any:
    def body(i: Any, s: Any) -> Any:
        limit = tf.cast(i, tf.float64) * 3.0 + 2.0
        grow = tf.while_loop(lambda t: t * t < limit, lambda t: (t * 1.1,), (s,))[0]
        return i + 1, grow * x

    return tf.while_loop(lambda i, s: s < 5.0, body, (0, x), maximum_iterations=5)[1]


def many_turns(x: Any) -> Any:
    return tf.while_loop(lambda s: s < 1.0, lambda s: (s * 1.001 + x * 1e-4,), (x,))[0]


def choice_for_each(x: Any) -> Any:
    def one(r: Any) -> Any:
        kind = tf.cast(tf.abs(r) * 2.0, tf.int32) % 3
        return tf.switch_case(kind, [lambda: r * r, lambda: tf.sin(r), lambda: -r])

    return tf.map_fn(one, tf.stack([x, x + 0.5, x - 1.3]))


def jacobian_of_a_loop(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        s = tf.stack([x, x * x])
        body = lambda i, t: (i + 1, tf.sin(t) * s)
        y = tf.while_loop(lambda i, t: i < 3, body, (0, s))[1]
    return tape.jacobian(y, x)


def gradient_in_a_branch(x: Any) -> Any:
    """Asked for inside a branch, of what was computed outside."""
    with tf.GradientTape() as tape:
        tape.watch(x)
        body = lambda i, s: (i + 1, tf.sin(s) * x)
        y = tf.while_loop(lambda i, s: i < 3, body, (0, x))[1]
        z = tf.cond(x > 0.0, lambda: tf.sin(y) * x, lambda: y)
    return tf.cond(x > 0.0, lambda: tape.gradient(z, x), lambda: x)


def gradient_in_a_map(x: Any) -> Any:
    called = tf.function(lambda x: tf.sin(x) * x * x, autograph=False)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        z = called(x) * x
    return tf.map_fn(lambda r: r * tape.gradient(z, x), tf.stack([x, x * 2.0]))


SCALAR = [
    gradient_in_a_branch,
    gradient_in_a_map,
    newton, loop_in_the_test, unknown_in_unknown, many_turns, choice_for_each, jacobian_of_a_loop,
]  # fmt: skip


@engines
@pytest.mark.parametrize("program", SCALAR, ids=lambda p: p.__name__)
def test_programs(program: Any, engine: str) -> None:
    both = lambda x: [program(x), *slope(lambda x: tf.reduce_sum(program(x)), x)]
    x = tf.constant(0.7, tf.float64)
    for got, want in zip(traced(both, engine)(x), both(x), strict=True):
        close(got, want, 1e-9)


@engines
def test_tapes_for_each_row(engine: str) -> None:
    x = tf.constant(np.random.default_rng(0).normal(size=(3, 2)))
    both = lambda x: [curvatures(x), *slope(curvatures, x)]
    for got, want in zip(traced(both, engine)(x), both(x), strict=True):
        close(got, want, 1e-9)


@engines
@pytest.mark.parametrize("dtype", [tf.float16, tf.bfloat16, tf.complex128, tf.complex64])
def test_dtypes(dtype: Any, engine: str) -> None:
    def run(x: Any) -> Any:
        body = lambda i, s: (i + 1, s * x + x)
        s = tf.while_loop(lambda i, s: i < 3, body, (0, x))[1]
        return tf.math.real(tf.reduce_sum(s) + tf.reduce_sum(tf.scan(lambda a, r: a * r, x)))

    x = tf.cast(tf.constant([0.5, 1.25, -0.75]), dtype)
    x = x * tf.constant(1 + 0.5j, dtype) if dtype.is_complex else x
    got, want = traced(lambda x: slope(run, x)[0], engine)(x), slope(run, x)[0]
    assert got.dtype == dtype
    close(
        tf.cast(got, tf.complex128), tf.cast(want, tf.complex128), 2e-2 if dtype.size == 2 else 1e-5
    )


def test_strings_and_composites() -> None:
    words = tf.constant(["a", "b", "c"])
    ragged = tf.ragged.constant([[1.0, 2.0], [3.0]])
    sparse = tf.sparse.from_dense([[1.0, 0.0], [0.0, 2.0]])

    @tf.function(autograph=False)
    def run(x: Any) -> Any:
        join = lambda i, s: (i + 1, s + words[i])
        joined = tf.while_loop(lambda i, s: i < 3, join, (0, ""))[1]
        grow = lambda i, r: (i + 1, r * x)
        grown = tf.while_loop(lambda i, r: i < 3, grow, (0, ragged))[1]
        chosen = tf.cond(x > 0.0, lambda: sparse * x, lambda: sparse)
        return joined, tf.map_fn(lambda w: w + "!", words), grown, chosen

    joined, each, grown, chosen = run(tf.constant(2.0))
    assert joined.numpy() == b"abc"
    assert each.numpy().tolist() == [b"a!", b"b!", b"c!"]
    assert grown.to_list() == [[8.0, 16.0], [24.0]]
    assert tf.sparse.to_dense(chosen).numpy().tolist() == [[2.0, 0.0], [0.0, 4.0]]


def test_second_order_through_an_array_that_is_read_before_its_shape_is_known() -> None:
    def products(x: Any) -> Any:
        array = tf.TensorArray(tf.float64, 3, clear_after_read=False)
        for i in tf.range(3):
            if i > 0:
                array = array.write(i, x[i] * array.read(i - 1))
            else:
                array = array.write(i, x[i])
        return tf.reduce_sum(array.stack() ** 2)

    @tf.function
    def hessian_row_sums(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = products(x)
            slope = inner.gradient(y, x)
        return slope, outer.gradient(slope, x)

    x = tf.constant([1.0, 2.0, 3.0], tf.float64)
    slope, rows = hessian_row_sums(x)
    # a² + a²b² + a²b²c²
    np.testing.assert_allclose(slope, [2 + 8 + 72, 4 + 36, 24])
    np.testing.assert_allclose(rows, [2 + 8 + 72 + 8 + 72 + 48, 8 + 72 + 2 + 18 + 24, 48 + 24 + 8])


@pytest.mark.parametrize("call", [tf.py_function, tf.numpy_function])
@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "traced"])
def test_python_may_wrap_its_one_result_in_a_list(call: Any, wrap: Any) -> None:
    x = tf.constant([1.0, 2.0])
    for kind in (list, tuple):
        found = wrap(lambda k=kind: call(lambda a: k([a * 2]), [x], tf.float32))()
        assert found.numpy().tolist() == [2.0, 4.0]


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.complex64])
def test_gradients_of_a_branch_in_a_loop_keep_their_dtype(dtype: Any) -> None:
    w = tf.Variable(tf.cast(2.0, dtype))

    @tf.function
    def f(x: Any, limits: Any) -> Any:
        total = tf.zeros([], dtype)
        for k in tf.range(3):
            if limits[k] > 2:
                break
            total += x[k] ** 3 * w
        return total

    x = tf.cast([1.0, 2.0, 3.0], dtype)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x, tf.range(1, 4))
    gradients = tape.gradient(y, [x, w])
    assert [g.dtype for g in gradients] == [dtype, dtype]
    np.testing.assert_allclose(gradients[0], [6.0, 24.0, 0.0])
    np.testing.assert_allclose(gradients[1], 9.0)


def test_a_branch_that_the_shapes_decide_need_not_fit_the_other() -> None:
    @tf.function(jit_compile=True, input_signature=[tf.TensorSpec([None, 2])])
    def three(x: Any) -> Any:
        if tf.shape(x)[0] > 3:
            y = x[:3]
        else:
            y = tf.concat([x, x], 0)[:3]
        return y * y

    assert three(tf.ones([2, 2])).shape == [3, 2]
    assert three(tf.ones([5, 2])).shape == [3, 2]
    assert three(tf.ones([1, 2])).shape == [2, 2]


@pytest.mark.parametrize("turns", [0, 1, 3])
def test_a_state_of_changing_size_that_is_replaced_has_zeros_of_its_own_size(turns: int) -> None:
    """The next value has another size, and so has its gradient. (TensorFlow gives these values.)"""

    def slopes(x: Any, y: Any, n: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, y])
            z = tf.while_loop(
                lambda i, z: i < n,
                lambda i, z: (i + 1, tf.concat([y, y], 0)),
                (tf.constant(0), x * 2.0),
                shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])),
            )[1]
            total = tf.reduce_sum(z * z)
        return tape.gradient(total, [x, y], unconnected_gradients="zero")

    given = tf.constant([1.0, 2.0, 3.0]), tf.constant([0.5, 1.0]), tf.constant(turns)
    wanted = ([0.0] * 3, [2.0, 4.0]) if turns else ([8.0, 16.0, 24.0], [0.0, 0.0])
    with tf.engine("host"):
        for found in (slopes(*given), tf.function(slopes)(*given)):
            for g, w in zip(found, wanted, strict=True):
                np.testing.assert_allclose(g, w)


def test_an_early_return_from_a_loop_over_open_sizes_has_gradients() -> None:
    """After the return the loop's other states are placeholders, of no elements."""

    def chosen(p: Any, x: Any, s: Any) -> Any:
        for _ in tf.range(3):
            if s > 0.0:
                return tf.constant([1.0, 2.0, 3.0]) * s
            p = tf.tanh(x)
        return p

    def slopes(x: Any, s: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch([x, s])
            total = tf.reduce_sum(chosen(x * s, x, s))
        return tape.gradient(total, [x, s], unconnected_gradients="zero")

    specs = [tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.float32)]
    with tf.engine("host"):
        compiled = tf.function(slopes, input_signature=specs)
        for s in (1.0, -1.0):
            given = tf.constant([0.5, 0.25, -1.0]), tf.constant(s)
            for g, w in zip(compiled(*given), slopes(*given), strict=True):
                np.testing.assert_allclose(g, w, rtol=1e-6)


@pytest.mark.parametrize("engine", ["host", "xla", None])
def test_map_fn_over_no_rows_has_the_shape_of_its_results(engine):
    x = tf.zeros([0, 3])
    each = {
        (0, 2): lambda r: r[:2] * 2.0,
        (0,): tf.reduce_sum,
        (0, 3, 1): lambda r: r[:, None],
    }
    for shape, function in each.items():
        mapped = lambda x, function=function: tf.map_fn(function, x)
        with tf.engine(engine):
            for run in (
                mapped,
                tf.function(mapped),
                tf.function(mapped, input_signature=[tf.TensorSpec([None, 3])]),
            ):
                assert run(x).shape == shape


@pytest.mark.parametrize("rows", [None, ("int32", "int32"), ("int32", "int64")])
def test_python_of_branches_runs_once_in_the_order_in_which_they_are_written(rows: Any) -> None:
    runs: list[str] = []

    def branch(name: str, x: Any, dtype: str | None) -> Any:
        runs.append(name)
        values = x * float(len(runs))
        if dtype is None:
            return values
        return tf.IndexedSlices(values[None], tf.constant([1], dtype), tf.constant([3, 1]))

    @tf.function
    def f(x: Any) -> Any:
        first, second = rows or (None, None)
        chosen = tf.cond(
            x[0] > 0.0, lambda: branch("yes", x, first), lambda: branch("no", x, second)
        )
        by_number = tf.switch_case(
            tf.cast(x[0] > 0.0, tf.int32),
            [lambda: branch("zero", x, first), lambda: branch("one", x, second)],
        )
        return tf.convert_to_tensor(chosen), tf.convert_to_tensor(by_number)

    place = (0,) if rows is None else (1, 0)
    got = [[float(y[place]) for y in f(tf.constant([x]))] for x in (1.0, -1.0)]
    assert got == [[1.0, 4.0], [-2.0, -3.0]]  # TensorFlow's values
    assert runs == ["yes", "no", "zero", "one"]
