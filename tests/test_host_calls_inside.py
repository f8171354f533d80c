"""Python called inside branches and loops changes variables; the graph around sees it in order."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import wengert as tf


class Program:
    """A variable, and Python that adds 100 to it."""

    def __init__(self) -> None:
        self.v = tf.Variable(1.0)
        self.w = tf.Variable(5.0)
        self.seen: list[float] = []

    def call(self) -> None:
        tf.py_function(lambda: self.v.assign_add(100.0) and None, [], [])

    def look(self) -> None:
        tf.py_function(lambda: self.seen.append(float(self.v)), [], [])


def one_branch(p: Program, x: Any) -> Any:
    p.v.assign_add(1.0)
    if x > 0:
        p.call()
    else:
        p.v.assign_add(10.0)
    p.v.assign_add(1000.0)
    return p.v.read_value()


def first_read_after(p: Program, x: Any) -> Any:
    if x > 0:
        p.call()
    return p.v + 0.0


def loop_that_writes_after(p: Program, x: Any) -> Any:
    total = tf.constant(0.0)
    p.v.assign(0.0)
    for _ in tf.range(3):
        total += p.v
        p.look()
        p.call()
        p.v.assign_add(1.0)
    return total, p.v + 0.0


def branch_in_a_loop(p: Program, x: Any) -> Any:
    i = tf.constant(0)
    while i < 3:
        p.v.assign_add(1.0)
        p.look()
        if i % 2 == 0:
            p.call()
        i += 1
    p.v.assign_add(0.5)
    return p.v + 0.0


def three_deep(p: Program, x: Any) -> Any:
    p.w.assign_add(p.v)
    for i in tf.range(3):
        if i == 1:
            for _ in tf.range(2):
                p.call()
        p.w.assign_add(p.v)
    return p.w + p.v


def with_a_tape(p: Program, x: Any) -> Any:
    with tf.GradientTape() as tape:
        y = p.v * x
        if x > 0:
            p.call()
        loss = y + p.v * x * x
    p.v.assign_sub(0.1 * tape.gradient(loss, p.v))
    return loss


def explicit(p: Program, x: Any) -> Any:
    p.v.assign(p.v * 2.0)
    r = tf.cond(x > 0, lambda: (p.call(), p.v + 1.0)[1], lambda: p.v - 1.0)
    _, r = tf.while_loop(lambda i, r: i < 2, lambda i, r: (i + 1, (p.call(), r + p.v)[1]), (0, r))
    tf.map_fn(lambda x: (p.call(), x)[1], tf.ones([2]))
    return r, p.v * 1.0


PROGRAMS = [one_branch, first_read_after, loop_that_writes_after, branch_in_a_loop, three_deep,
            with_a_tape, explicit]  # fmt: skip


def numbers(result: Any) -> list[float]:
    return [float(x) for x in tf.nest.flatten(result)]


@pytest.mark.parametrize("x", [2.0, -2.0])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_python_changes_a_variable_inside(program: Any, x: float) -> None:
    plain, traced = Program(), Program()
    wanted = numbers(program(plain, tf.constant(x)))
    found = numbers(tf.function(lambda x: program(traced, x))(tf.constant(x)))
    assert found == wanted
    assert float(traced.v) == float(plain.v)
    assert traced.seen == plain.seen


@pytest.mark.parametrize("x", [2.0, -2.0])
def test_a_function_called_by_a_function(x: float) -> None:
    def inner(p: Program, x: Any) -> Any:
        if x > 0:
            p.call()
        p.v.assign_add(1.0)
        return p.v * 1.0

    def outer(p: Program, x: Any, inner: Any) -> Any:
        p.v.assign_add(2.0)
        a = inner(p, x)
        p.v.assign_add(3.0)
        return a, p.v * 1.0

    plain, traced = Program(), Program()
    wanted = numbers(outer(plain, tf.constant(x), inner))
    whole = tf.function(lambda x: outer(traced, x, tf.function(inner)))
    assert numbers(whole(tf.constant(x))) == wanted
    assert float(traced.v) == float(plain.v)


_PRINTS = """
import wengert as tf

@tf.function
def p(s):
    tf.print("now", s)
    return s * 2.0

@tf.function
def q(s):
    return p(s) + 1.0

s = tf.constant(0.5)
with tf.GradientTape() as tape:
    tape.watch(s)
    y = q(s)
assert float(y) == 2.0 and float(tape.gradient(y, s)) == 2.0
"""


def test_printing_in_a_function_that_another_calls_in_a_new_process() -> None:
    """Nothing else has been imported that knows how to run a call of Python again."""
    done = subprocess.run(
        [sys.executable, "-c", _PRINTS], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == "now 0.5\n"


def test_assertions_about_watched_tensors() -> None:
    @tf.function
    def f(s: Any) -> Any:
        tf.debugging.assert_less(s, 10.0)
        tf.debugging.Assert(s > 0.0, [s])
        return s * 2.0

    @tf.function
    def inside(s: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(s)
            y = f(s)
        return tape.gradient(y, s)

    s = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(s)
        y = f(s)
    assert float(tape.gradient(y, s)) == 2.0
    assert float(inside(s)) == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(tf.constant(20.0))


# Gradients of gradients compute a graph once more, but do not ask Python again.


class Counter:
    """Gives 1, 2, 3 and so on, as a tensor of the graph."""

    def __init__(self) -> None:
        self.count = 0

    def next(self) -> Any:
        return tf.numpy_function(self._next, [], tf.TensorSpec([], tf.float32))

    def _next(self) -> Any:
        self.count += 1
        return np.float32(self.count)

    def below(self, most: int) -> Any:
        return tf.numpy_function(lambda: self._next() < most, [], tf.TensorSpec([], tf.bool))


def plainly(c: Counter, x: Any) -> Any:
    return x * x * x * c.next()


def in_loop(c: Counter, x: Any) -> Any:
    s = x
    for _ in tf.range(2):
        s = s * x * c.next()
    return s


def in_branches(c: Counter, x: Any) -> Any:
    s = x
    for i in tf.range(4):
        if i % 2 == 0:
            s = s * x * c.next()
        else:
            s = s + c.next() * c.next()
    return s


def either_way(c: Counter, x: Any) -> Any:
    if x > 0.0:
        k = c.next()
    else:
        k, _ = c.next(), c.next()
    return x * x * x * k


def deep_inside(c: Counter, x: Any) -> Any:
    s = x * x
    for i in tf.range(2):
        for _ in tf.range(i + 1):
            s = s * x * c.next()
    return s


def in_a_condition(c: Counter, x: Any) -> Any:
    s = x
    while c.below(4):
        s = s * x
    return s


def for_each_row(c: Counter, x: Any) -> Any:
    return tf.reduce_sum(tf.map_fn(lambda r: r * r * x * c.next(), tf.stack([x, 2.0 * x])))


def until(c: Counter, x: Any) -> Any:
    s, k = x, 0.0
    while k < 3.0:
        k = c.next()
        s = s * x * k
    return s


def thrice(f: Any, x: Any) -> list[Any]:
    """A value with its derivatives up to the third."""
    with tf.GradientTape() as t3:
        t3.watch(x)
        with tf.GradientTape() as t2:
            t2.watch(x)
            with tf.GradientTape() as t1:
                t1.watch(x)
                y = f(x)
            a = t1.gradient(y, x)
        b = t2.gradient(a, x)
    return [y, a, b, t3.gradient(b, x)]


ASKING = [
    plainly, in_loop, in_branches, either_way, deep_inside, in_a_condition, for_each_row, until,
]  # fmt: skip


@pytest.mark.parametrize("jit", [None, True], ids=["host", "xla"])
@pytest.mark.parametrize("where", ["inside", "outside"])
@pytest.mark.parametrize("program", ASKING)
def test_python_is_asked_once_for_all_derivatives(program: Any, where: str, jit: Any) -> None:
    x = tf.constant(1.5)
    if program is deep_inside and where == "outside" and jit:
        # What the third derivative keeps of the second are stacks of stacks of unknown lengths.
        with pytest.raises(tf.errors.UnimplementedError, match="how many rows"):
            thrice(tf.function(lambda x: program(Counter(), x), jit_compile=jit), x)
        return
    eager = Counter()
    wanted = thrice(lambda x: program(eager, x), x)
    c = Counter()
    if where == "inside":
        found = tf.function(lambda x: thrice(lambda x: program(c, x), x), jit_compile=jit)(x)
    else:
        found = thrice(tf.function(lambda x: program(c, x), jit_compile=jit), x)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    assert c.count == eager.count


def test_python_is_asked_once_for_each_row_of_a_batch() -> None:
    c = Counter()

    def f(x: Any) -> Any:
        return tf.reduce_sum(tf.vectorized_map(lambda r: r * r * x * c.next(), tf.stack([x, x])))

    found = thrice(tf.function(f), tf.constant(2.0))
    assert [float(v) for v in found] == [24.0, 36.0, 36.0, 18.0]
    assert c.count == 2


def over_data(data: Any, x: Any) -> Any:
    s = x
    for e in data:
        if e > 1.0:
            s = s * e * x
        else:
            s = s + e * x * x
    return s


@pytest.mark.parametrize("where", ["inside", "outside"])
def test_derivatives_through_a_loop_over_data(where: str) -> None:
    x = tf.constant(1.5)
    data = tf.data.Dataset.from_tensor_slices(tf.constant([1.0, 2.0, 3.0]))
    wanted = thrice(lambda x: over_data(data, x), x)
    if where == "inside":
        found = tf.function(lambda d, x: thrice(lambda x: over_data(d, x), x))(data, x)
    else:
        f = tf.function(over_data)
        found = thrice(lambda x: f(data, x), x)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_derivatives_are_those_of_the_order_that_was_drawn() -> None:
    data = tf.data.Dataset.range(1, 6).shuffle(5)

    @tf.function
    def f(x: Any) -> Any:
        s = tf.zeros_like(x)
        for e in data:
            s = s * x + tf.cast(e, tf.float64)
        return s

    x = tf.constant(10.0, tf.float64)  # the digits of the value are the order
    y, a, b, _ = thrice(f, x)
    digits = [int(d) for d in str(int(y))]
    wanted = np.polyder(digits).tolist(), np.polyder(digits, 2).tolist()
    assert [float(a), float(b)] == [np.polyval(w, 10.0) for w in wanted]


# Python called before the body of a loop has touched the variable that it carries.


def first_thing(p: Program, x: Any) -> None:
    for _ in tf.range(3):
        p.look()
        p.v.assign(p.v * 2.0)


def first_thing_in_a_branch(p: Program, x: Any) -> None:
    for i in tf.range(4):
        if i < 3:
            p.look()
            p.v.assign(p.v * 2.0)


def first_thing_two_loops_down(p: Program, x: Any) -> None:
    k = 0
    while k < 2:
        k += 1
        for _ in tf.range(2):
            p.look()
            p.v.assign(p.v * 2.0)
        p.w.assign_add(p.v)


@pytest.mark.parametrize("under_tape", [False, True])
@pytest.mark.parametrize(
    "program", [first_thing, first_thing_in_a_branch, first_thing_two_loops_down]
)
def test_python_sees_what_the_turn_before_left(program: Any, under_tape: bool) -> None:
    plain, traced = Program(), Program()
    program(plain, None)

    @tf.function
    def f(x: Any) -> Any:
        program(traced, x)
        return x * traced.v

    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        if under_tape:
            tape.watch(x)
        f(x)
    assert traced.seen == plain.seen
    assert (float(traced.v), float(traced.w)) == (float(plain.v), float(plain.w))
