"""The fast backward loop computes what the reference loop computes, bit for bit."""

from __future__ import annotations

import copy
import random
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.cases import Case
from tests.test_operations import CASES, tensors
from wengert.core import nest
from wengert.tape import backward, reference


@contextmanager
def by_reference() -> Iterator[None]:
    """Every gradient goes back by the reference loop."""

    def on_arrays(
        steps: Any, grads: dict[int, Any], sources: set[int], needed: set[int] | None
    ) -> None:
        reference.walk(steps, grads, sources, needed, backward._at(None), False)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(backward, "_on_arrays", on_arrays)
        yield


def assert_same_bits(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        if a is None or b is None:
            assert a is b
            continue
        assert type(a) is type(b)
        parts = [(a, b)]
        if isinstance(a, tf.IndexedSlices):
            parts = [(a.values, b.values), (a.indices, b.indices)]
        for x, y in parts:
            assert x.dtype is y.dtype
            np.testing.assert_array_equal(x.numpy(), y.numpy())


def gradients(case: Case, dtype: str) -> list[Any]:
    """The gradients of a case, after arithmetic that uses each input twice and joins the results."""
    xs = tensors(case, dtype)
    floats = [x for x in xs if x.dtype.is_floating or x.dtype.is_complex]
    tf.random.set_seed(1)
    with tf.GradientTape() as tape:
        tape.watch(floats)
        used = [2.0 * x if any(x is f for f in floats) and x.dtype.is_floating else x for x in xs]
        ys = nest.flatten(case.call(*used, **case.options))
        ys = [y for y in ys if isinstance(y, tf.Tensor) and y.dtype.is_differentiable]
        ys += [x * 0.5 for x in floats if x.dtype.is_floating]
    return tape.gradient(ys, floats)


@pytest.mark.parametrize("case", [c for c in CASES if c.order], ids=str)
def test_every_operation(case: Case) -> None:
    dtype = "float32" if "float32" in case.dtypes or not case.dtypes else case.dtypes[0]
    with by_reference():
        expected = gradients(case, dtype)
    assert_same_bits(gradients(case, dtype), expected)


# Random programs.

UNARY: list[Callable[[Any], Any]] = [
    tf.exp, tf.tanh, tf.nn.relu, tf.square, tf.negative, tf.sigmoid, tf.identity,
    lambda x: 0.5 * x, lambda x: x * 1.5, lambda x: x + 1.0, lambda x: 2.0 - x, lambda x: x / 3.0,
    lambda x: tf.reduce_mean(x, -1, keepdims=True) if x.shape.rank else -x,
    lambda x: tf.reduce_sum(x, 0) if x.shape.rank else -x, tf.reduce_mean,
    lambda x: tf.nn.softmax(x) if x.shape.rank else -x,
    tf.stop_gradient, tf.transpose,
]  # fmt: skip
BINARY: list[Callable[[Any, Any], Any]] = [
    lambda x, y: x + y, lambda x, y: x - y, lambda x, y: x * y, tf.maximum, tf.math.divide_no_nan,
    lambda x, y: tf.matmul(x, y) if x.shape == y.shape == (3, 3) else x * y,
]  # fmt: skip


class Program:
    """A program on variables and a tensor, the same one at each call."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        numbers = np.random.default_rng(seed)
        shapes: list[tuple[int, ...]] = [(3, 3), (3,), (), (3, 3), (1, 3)]
        self.variables = [tf.Variable(numbers.uniform(0.5, 1.0, s).astype("f")) for s in shapes]
        self.x = tf.constant(numbers.uniform(0.5, 1.0, (3, 3)).astype("f"))

    def __call__(self, **how: Any) -> list[Any]:
        chance = random.Random(self.seed)
        persistent, watched = chance.random() < 0.3, chance.random() < 0.5
        with tf.GradientTape(persistent=persistent) as tape:
            if watched:
                tape.watch(self.x)
            made: list[Any] = []
            for _ in range(6):
                pool = [*self.variables, self.x, *made, *made]
                if chance.random() < 0.4:
                    made.append(chance.choice(UNARY)(chance.choice(pool)))
                else:
                    left = chance.choice(pool)
                    right = left if chance.random() < 0.2 else chance.choice(pool)
                    made.append(chance.choice(BINARY)(left, right))
        sources = chance.choice([
            self.variables, self.variables, [*self.variables, self.x], self.variables[:2],
            [*self.variables, chance.choice(made)], [self.variables[0]] * 2,
        ])  # fmt: skip
        target = chance.choice([made[-1], made[-1], made[-2], made[-2:]])
        seeds = None
        if chance.random() < 0.2 and not isinstance(target, list):
            seeds = tf.fill(target.shape, 2.0)
        found = [tape.gradient(target, sources, seeds) for _ in range(1 + persistent)]
        return [None if g is None else (g.numpy(), g.dtype, g._site) for gs in found for g in gs]


def assert_same_program(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_array_equal(a[0], b[0])
            assert a[1] is b[1]  # its line is that of another operation on the way


@pytest.mark.parametrize("block", range(8))
def test_random_programs(block: int) -> None:
    for seed in range(block * 50, block * 50 + 50):
        program = Program(seed)
        with by_reference():
            expected = program()
        assert_same_program(program(), expected)


# Tapes with entries of every form.

V, W = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
Z = tf.Variable(tf.constant([1.0 + 2.0j, 3.0 - 1.0j], tf.complex64))


@tf.custom_gradient
def doubled(x: Any) -> Any:
    return 2.0 * x, lambda g: 7.0 * g


TAPES: dict[str, Callable[[], Any]] = {
    "a tensor twice": lambda: (a := V * W, V + W, a * a)[-1],
    "a source twice": lambda: V * V,
    "a source that is not used": lambda: tf.exp(V * 2.0),
    "a result that is not used": lambda: (a := V * W, tf.exp(a), a + 1.0)[-1],
    "broadcast": lambda: tf.reshape(V * W, (2, 1)) * W,
    "the long form": lambda: tf.concat([tf.exp(V * W), V], 0) * 2.0,
    "several results": lambda: (a := tf.split(V * W, 2), a[0] * 3.0 + V[1])[-1],
    "row-sparse": lambda: tf.gather(V, [0, 0]),
    "row-sparse and dense": lambda: tf.concat([tf.gather(V, [1, 1]), V * W], 0),
    "row-sparse, of a result": lambda: tf.gather(V * W, [0, 0]) * 2.0,
    "several paths": lambda: (a := V * W, b := a * 2.0, c := tf.exp(a), b + c)[-1],
    "a user's gradient": lambda: doubled(V * 1.0) * W,
    "complex numbers": lambda: tf.abs(Z * Z) * V,
}


@pytest.mark.parametrize("name", TAPES)
def test_every_form_of_entry(name: str) -> None:
    def run() -> list[Any]:
        with tf.GradientTape() as tape:
            y = TAPES[name]()
        return tape.gradient(y, [V, W, Z])

    with by_reference():
        expected = run()
    assert_same_bits(run(), expected)


# What users see.


def test_training_is_the_same_step_for_step() -> None:
    def train() -> tuple[list[float], list[np.ndarray]]:
        numbers = np.random.default_rng(0)
        x = tf.constant(numbers.normal(size=(8, 4)).astype("f"))
        labels = tf.constant(numbers.integers(0, 3, 8))
        shapes = [(4, 6), (6,), (6, 3), (3,)]
        variables = [tf.Variable(numbers.normal(size=s).astype("f")) for s in shapes]
        losses = []
        for step in range(60):
            batch = slice(0, 8 if step % 7 else 1)  # now and then a short one
            with tf.GradientTape() as tape:
                a, b, c, d = variables
                logits = tf.nn.relu(x[batch] @ a + b) @ c + d
                each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels[batch], logits)
                loss = tf.reduce_mean(each)
            for v, g in zip(variables, tape.gradient(loss, variables), strict=True):
                v.assign_sub(0.1 * g)
            losses.append(float(loss))
        return losses, [v.numpy() for v in variables]

    losses, values = train()
    with by_reference():
        expected, wanted = train()
    assert losses == expected
    for a, b in zip(values, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_error_names_the_line_of_the_operation() -> None:
    def fail(*_: Any) -> Any:
        raise MemoryError("no room")

    with tf.GradientTape() as tape:
        y = tf.tanh(V) * W
    op, plan, *kept = tape._entries[0]
    plan = copy.copy(plan)
    plan.one = (plan.one[0], fail, None)
    tape._entries[0] = (op, plan, *kept)
    with pytest.raises(MemoryError) as caught:
        tape.gradient(y, V)
    notes = "\n".join(caught.value.__notes__)
    assert "in the gradient of tanh, recorded at:" in notes
    assert "tf.tanh(V) * W" in notes


def test_overflow_is_quiet_whatever_the_program_wants_of_numpy() -> None:
    big = tf.Variable([[3e38, 3e38], [3e38, 3e38]])
    row = tf.Variable([3e38, 1.0])

    def run() -> list[np.ndarray]:
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(((big + row) * row) * 3e38 * row)
        return [g.numpy() for g in tape.gradient(y, [big, row])]

    expected = run()
    assert not np.isfinite(expected[1]).all()
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for a, b in zip(run(), expected, strict=True):
            np.testing.assert_array_equal(a, b)
    with warnings.catch_warnings(), np.errstate(all="warn"):
        warnings.simplefilter("error")
        run()


def test_what_was_used_is_freed_on_the_way() -> None:
    size = 1 << 18
    x = tf.Variable(np.ones(size, "f"))

    def peak() -> float:
        with tf.GradientTape() as tape:
            y = x * 1.0
            for _ in range(40):
                y = tf.tanh(y)
            y = tf.reduce_sum(y)
        tracemalloc.start()
        tape.gradient(y, x)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most / (4 * size)

    peak()
    assert peak() < 5
