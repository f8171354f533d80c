"""Python called inside branches and loops changes variables; the graph around sees it in order."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

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
