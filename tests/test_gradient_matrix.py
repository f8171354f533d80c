"""Gradients of order 1 to 3 of control flow, calls and the rest: both engines equal eager.

A program takes one vector. Its derivatives are taken in three ways: with the tapes inside a
function, around the call of one, and both in turn. What eager code answers is the reference.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf

Program = Callable[[Any], Any]
X = np.array([0.3, -0.7, 1.1])
WEIGHTS = np.random.default_rng(7).normal(size=(4, 3))


def constant(*shape: int, seed: int = 0) -> Any:
    return tf.constant(np.random.default_rng(seed).normal(size=shape) * 0.5)


def matmul(x: Any) -> Any:
    return tf.reshape(tf.matmul(tf.reshape(x * x, [1, 3]), constant(3, 3)), [3]) * tf.sin(x)


def conv2d(x: Any) -> Any:
    image = tf.reshape(tf.concat([x, x * x, tf.sin(x)], 0), [1, 3, 3, 1])
    filters = tf.reshape(tf.concat([x, x[:1]], 0), [2, 2, 1, 1])
    return tf.reshape(tf.nn.conv2d(image, filters, 1, "VALID"), [4])[:3]


def cond(x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0.5, lambda: tf.exp(x) * x, lambda: tf.sin(x) * x)


def untaken(x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 5.0, lambda: tf.math.log(x) * x, lambda: tf.sin(x) * x)


def switch_case(x: Any) -> Any:
    index = tf.cast(tf.reduce_sum(x) * 2.0, tf.int32)
    return tf.switch_case(index, [lambda: x, lambda: x**3 * tf.exp(x), lambda: tf.sin(x)])


def case(x: Any) -> Any:
    pairs = [(x[0] > 1.0, lambda: x), (x[1] < 0.0, lambda: x**3 * x[0])]
    return tf.case(pairs, default=lambda: tf.sin(x))


def known_count(x: Any) -> Any:
    return tf.while_loop(lambda i, s: i < 4, lambda i, s: (i + 1, tf.sin(s) * x), (0, x))[1]


def unknown_count(x: Any) -> Any:
    limit = tf.cast(tf.reduce_sum(x) * 6.0, tf.int32)
    return tf.while_loop(lambda i, s: i < limit, lambda i, s: (i + 1, tf.sin(s) * x), (0, x))[1]


def data_dependent_break(x: Any) -> Any:
    return tf.while_loop(
        lambda s: tf.reduce_sum(s * s) < 40.0, lambda s: (s * 1.5 + tf.sin(x),), (x * x,)
    )[0]


def at_most(x: Any) -> Any:
    return tf.while_loop(
        lambda s: tf.reduce_sum(s * s) < 1e9, lambda s: (s * s + x,), (x,), maximum_iterations=3
    )[0]


def checkpointed(x: Any) -> Any:
    limit = tf.cast(tf.reduce_sum(x) * 10.0, tf.int32)
    body = lambda i, s: (i + 1, tf.sin(s) * x + 0.1)
    return tf.while_loop(lambda i, s: i < limit, body, (0, x), checkpoint=True)[1]


def scan(x: Any) -> Any:
    rows = tf.stack([x, x * x, tf.sin(x), x + 1.0])
    return tf.reduce_sum(tf.scan(lambda a, r: a * r + x, rows, initializer=x) * constant(4, 3), 0)


def scan_reversed(x: Any) -> Any:
    rows = tf.stack([x, x * x, tf.sin(x), x + 1.0])
    return tf.reduce_sum(tf.scan(lambda a, r: a * r + x, rows, reverse=True) * constant(4, 3), 0)


def map_fn(x: Any) -> Any:
    rows = tf.stack([x, x * x, tf.sin(x), x + 1.0])
    return tf.reduce_sum(tf.map_fn(lambda r: r**3 * x[0], rows) * constant(4, 3), 0)


def foldl(x: Any) -> Any:
    return tf.foldl(lambda a, r: tf.sin(a) * r + x, tf.stack([x, x * x, x + 1.0]))


def foldr(x: Any) -> Any:
    rows = tf.stack([x, x * x, x + 1.0])
    return tf.foldr(lambda a, r: tf.sin(a) * r + x, rows, initializer=x)


def tensor_array(x: Any) -> Any:
    array = tf.TensorArray(x.dtype, 4, element_shape=[3], clear_after_read=False).write(0, x)
    body = lambda i, a: (i + 1, a.write(i, tf.sin(a.read(i - 1)) * x))
    array = tf.while_loop(lambda i, a: i < 4, body, (1, array))[1]
    return tf.reduce_sum(array.stack() * constant(4, 3), 0) + array.read(2) ** 2


def read_loop(x: Any) -> Any:
    rows = tf.stack([x, x * x, tf.sin(x), x + 1.0])
    array = tf.TensorArray(x.dtype, 4, clear_after_read=False).unstack(rows)
    body = lambda i, s: (i + 1, s * array.read(i) + array.read(3 - i))
    return tf.while_loop(lambda i, s: i < 4, body, (0, x))[1]


def custom_gradient(x: Any) -> Any:
    @tf.custom_gradient
    def cube(y: Any) -> Any:
        z = y * y
        return z * y, lambda g: g * 3.0 * z * tf.cos(y)

    return cube(tf.sin(x)) * x


def gather(x: Any) -> Any:
    return tf.gather(x * x, [2, 0, 2, 1])[:3] * tf.gather(tf.sin(x), [1, 1, 0])


@tf.function(autograph=False)
def called(x: Any, y: Any) -> Any:
    return tf.sin(x) * y, x * tf.exp(y)


def call(x: Any) -> Any:
    a, b = called(x, x * x)
    return a * called(b, a)[0]


def py_function(x: Any) -> Any:
    return tf.py_function(lambda y: y**3 * tf.sin(y), [x * x], x.dtype) * x


def recompute_grad(x: Any) -> Any:
    return tf.recompute_grad(lambda y: tf.sin(y) * y * y)(x * x) * x


# Inside one another.


def loop_in_loop(x: Any) -> Any:
    def body(i: Any, s: Any) -> Any:
        inner = lambda j, t: (j + 1, tf.sin(t) * x + s)
        return i + 1, tf.while_loop(lambda j, t: j < i, inner, (0, s))[1]

    return tf.while_loop(lambda i, s: i < 4, body, (0, x))[1]


def three_loops(x: Any) -> Any:
    def inner(i: Any, j: Any, t: Any) -> Any:
        return tf.while_loop(
            lambda k, u: k < i + j, lambda k, u: (k + 1, tf.sin(u) * x + t), (0, t)
        )[1]

    def body(i: Any, s: Any) -> Any:
        step = lambda j, t: (j + 1, inner(i, j, t) * x)
        return i + 1, tf.while_loop(lambda j, t: j < i, step, (0, s))[1]

    return tf.while_loop(lambda i, s: i < 4, body, (0, x))[1]


def cond_in_loop(x: Any) -> Any:
    def body(i: Any, s: Any) -> Any:
        odd = tf.equal(i % 2, 1)
        return i + 1, tf.cond(odd, lambda: tf.sin(s) * x, lambda: s * s + x)

    return tf.while_loop(lambda i, s: i < 4, body, (0, x))[1]


def loop_in_cond(x: Any) -> Any:
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: known_count(x), lambda: x)


def unknown_loop_in_cond_in_loop(x: Any) -> Any:
    def body(i: Any, s: Any) -> Any:
        return i + 1, tf.cond(tf.equal(i % 2, 1), lambda: unknown_count(s * 0.7) + x, lambda: s * x)

    return tf.while_loop(lambda i, s: i < 4, body, (0, x))[1]


def call_in_loop(x: Any) -> Any:
    body = lambda i, s: (i + 1, called(s, x)[0] + x)
    return tf.while_loop(lambda i, s: i < 3, body, (0, x))[1]


@tf.function(autograph=False)
def looping(x: Any, y: Any) -> Any:
    return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, tf.sin(s) * y), (0, x))[1]


def loop_in_call(x: Any) -> Any:
    return looping(x, x * x) * looping(x * x, x)


def scan_in_map(x: Any) -> Any:
    rows = tf.stack([x, x * x, tf.sin(x)])
    each = lambda r: tf.scan(lambda a, b: a * b + x[0], r, initializer=x[1])
    return tf.reduce_sum(tf.map_fn(each, rows) * constant(3, 3), 0)


def custom_gradient_in_loop(x: Any) -> Any:
    return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, custom_gradient(s) + x), (0, x))[
        1
    ]


def recomputed_in_loop(x: Any) -> Any:
    return tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, recompute_grad(s) + x), (0, x))[1]


def py_function_in_loop(x: Any) -> Any:
    body = lambda i, s: (i + 1, tf.ensure_shape(py_function(s), [3]) + x)
    return tf.while_loop(lambda i, s: i < 3, body, (0, x))[1]


def gather_in_loop(x: Any) -> Any:
    body = lambda i, s: (i + 1, s * tf.gather(x * x, [i, 2, 0]) + x[i])
    return tf.while_loop(lambda i, s: i < 3, body, (0, x))[1]


def rows_by_position(x: Any) -> Any:
    m = tf.stack([x, x * x, tf.sin(x)])
    body = lambda i, s: (i + 1, s * m[i] + m[2 - i] * m[:, i] + m[:, -1 - i])
    return tf.while_loop(lambda i, s: i < 3, body, (0, x))[1]


# Kinds of state.


def several_states(x: Any) -> Any:
    def body(state: Any, flag: Any, pair: Any) -> Any:
        a, b = pair
        new = (tf.where(flag, tf.sin(a) * b, a), b * x)
        return {"n": state["n"] + 1}, tf.logical_not(flag), new

    start = ({"n": tf.constant(0)}, tf.constant(True), (x, x * x))
    return tf.while_loop(lambda s, f, p: s["n"] < 4, body, start)[2][0]


def zero_turns(x: Any) -> Any:
    return tf.while_loop(lambda i, s: i < 0, lambda i, s: (i + 1, tf.sin(s)), (0, x * x))[1]


def zero_turns_forgetting(x: Any) -> Any:
    other = constant(3)
    body = lambda i, s: (i + 1, other)
    return tf.while_loop(lambda i, s: i < 0, body, (0, x * x))[1] * x


def unused_rows(x: Any) -> Any:
    rows = (tf.stack([x, x * x]), tf.stack([x + 1.0, tf.sin(x)]))
    return tf.scan(lambda a, r: a * r[0], rows, initializer=x)[1]


def rows_for_nothing(x: Any) -> Any:
    """A loop over rows that needs no row to go back, inside a loop."""
    rows = tf.stack([x, x * x])
    body = lambda i, s: (i + 1, s + tf.reduce_sum(tf.map_fn(lambda r: x * x, rows), 0) * s)
    return tf.while_loop(lambda i, s: i < 2, body, (0, x))[1]


def integer_rows(x: Any) -> Any:
    rows = (tf.stack([x, x * x]), tf.constant([2, 1]))
    return tf.scan(lambda a, r: a * r[0] + x[r[1]], rows, initializer=x)[1]


def state_that_comes_to_depend(x: Any) -> Any:
    start = (0, tf.ones([3], x.dtype), tf.zeros([3], x.dtype))
    return tf.while_loop(
        lambda i, a, b: i < 4, lambda i, a, b: (i + 1, a * 0.5 + b, tf.sin(b) + x), start
    )[1]


PROGRAMS: list[Program] = [
    matmul, conv2d, cond, untaken, switch_case, case, known_count, unknown_count,
    data_dependent_break, at_most, checkpointed, scan, scan_reversed, map_fn, foldl, foldr, tensor_array,
    read_loop, custom_gradient, gather, call, py_function, recompute_grad,
    loop_in_loop, three_loops, cond_in_loop, loop_in_cond, unknown_loop_in_cond_in_loop,
    call_in_loop, loop_in_call, scan_in_map, custom_gradient_in_loop, recomputed_in_loop,
    py_function_in_loop, gather_in_loop, rows_by_position, several_states, zero_turns, zero_turns_forgetting,
    unused_rows, rows_for_nothing, integer_rows, state_that_comes_to_depend,
]  # fmt: skip
ON_HOST_ONLY = {py_function, py_function_in_loop}
# Compiling is slow: XLA gets every program with its tapes inside, to order 3 those that are alone
# of their kind, and the other ways for a few. `WENGERT_TEST_ALL=1` tries everything.
DEEP = {
    matmul, conv2d, cond, known_count, unknown_count, scan, custom_gradient, gather, call,
    recompute_grad, data_dependent_break, map_fn,
}  # fmt: skip
FEW = [cond, unknown_count, scan, tensor_array, custom_gradient, call]
ALL = bool(os.environ.get("WENGERT_TEST_ALL"))


def name(value: Any) -> str:
    return value if isinstance(value, str) else value.__name__


def cases(on_xla: list[Program]) -> Any:
    pairs = [(p, "host") for p in PROGRAMS] + [(p, "xla") for p in (PROGRAMS if ALL else on_xla)]
    return pytest.mark.parametrize(("program", "engine"), pairs, ids=name)


def derivative(f: Program, order: int, wrap: Callable[[Program, int], Program]) -> Program:
    """The derivative of a weighted sum, `order` times; `wrap` may make a function of each level."""
    found = wrap(f, 0)
    for k in range(order):
        found = wrap(_slope(found, tf.constant(WEIGHTS[k])), k + 1)
    return found


def _slope(f: Program, weights: Any) -> Program:
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(f(x) * weights)
        return tape.gradient(y, x, unconnected_gradients="zero")

    return slope


def plain(f: Program, level: int) -> Program:
    return f


def jitted(program: Program, engine: str) -> Callable[[Program], Program]:
    jit = True if engine == "xla" and program not in ON_HOST_ONLY else None
    return lambda f: tf.function(f, autograph=False, jit_compile=jit)


def close(got: Any, want: Any) -> None:
    np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-9, atol=1e-11)


@pytest.fixture(scope="module")
def answers() -> dict[Any, Any]:
    return {}


def eager(answers: dict[Any, Any], program: Program, order: int) -> Any:
    key = (program, order)
    if key not in answers:
        answers[key] = derivative(program, order, plain)(tf.constant(X))
    return answers[key]


def orders(program: Program, engine: str) -> int:
    return 3 if engine == "host" or program in DEEP or ALL else 2


def compare(answers: dict[Any, Any], program: Program, engine: str, wrap: Any) -> None:
    with tf.engine(engine):
        for order in range(1, 1 + orders(program, engine)):
            close(derivative(program, order, wrap)(tf.constant(X)), eager(answers, program, order))


@cases(PROGRAMS)
def test_tapes_inside_the_function(program: Program, engine: str, answers: Any) -> None:
    count = 1 + orders(program, engine)

    def all_orders(x: Any) -> Any:
        return [derivative(program, k, plain)(x) for k in range(count)]

    with tf.engine(engine):
        found = jitted(program, engine)(all_orders)(tf.constant(X))
    for order, got in enumerate(found):
        close(got, eager(answers, program, order))


@cases(FEW)
def test_tapes_around_the_call(program: Program, engine: str, answers: Any) -> None:
    function = jitted(program, engine)
    compare(answers, program, engine, lambda f, level: f if level else function(f))


@cases(FEW)
def test_tapes_inside_and_around(program: Program, engine: str, answers: Any) -> None:
    function = jitted(program, engine)
    compare(answers, program, engine, lambda f, level: function(f) if level % 2 else f)


@cases([])
def test_functions_at_every_level(program: Program, engine: str, answers: Any) -> None:
    function = jitted(program, engine)
    compare(answers, program, engine, lambda f, level: function(f))


@cases(FEW)
def test_forward_mode(program: Program, engine: str) -> None:
    x, direction = tf.constant(X), tf.constant(WEIGHTS[3])

    def forward(f: Program, x: Any) -> Any:
        with tf.autodiff.ForwardAccumulator(x, direction) as acc:
            y = f(x)
        return acc.jvp(y)

    function = jitted(program, engine)
    want = forward(program, x)
    with tf.engine(engine):
        close(forward(function(program), x), want)
        close(function(lambda x: forward(program, x))(x), want)
