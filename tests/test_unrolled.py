"""Tapes that come again and again are walked by written-out code, which must say what the loop says."""

from __future__ import annotations

import random
import threading
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.core.op import REGISTRY
from wengert.tape import unrolled


@pytest.fixture(autouse=True)
def nothing_known() -> Iterator[None]:
    unrolled._kinds.clear()
    yield
    unrolled._kinds.clear()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writes each tape out when it first comes, and never gives one up."""
    monkeypatch.setattr(unrolled, "_SOON", 1)
    monkeypatch.setattr(unrolled, "_PATIENCE", 1 << 20)


def _loop(monkeypatch: pytest.MonkeyPatch, function: Callable[[], Any]) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(unrolled, "LONGEST", -1)
        return function()


def _hits() -> int:
    return sum(kind.hits for kind in unrolled._kinds.values())


def _misses() -> int:
    return sum(kind.misses for kind in unrolled._kinds.values())


# Random programs. All of one length have some entries in common and differ after them.

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


def _assert_same(found: list[Any], expected: list[Any]) -> None:
    assert len(found) == len(expected)
    for a, b in zip(found, expected, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_array_equal(a[0], b[0])
            assert a[1:] == b[1:]


@pytest.mark.parametrize("block", range(8))
def test_random_programs_say_the_same(
    block: int, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(block * 40, block * 40 + 40):
        unrolled._kinds.clear()
        program = Program(seed)
        expected = _loop(monkeypatch, program)
        for _ in range(3):
            _assert_same(program(), expected)


def test_programs_that_alternate_say_the_same(
    at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = [Program(seed) for seed in range(1000, 1120)]
    expected = [_loop(monkeypatch, program) for program in programs]
    order = random.Random(7)
    misses = 0
    for _ in range(40):
        unrolled._kinds.clear()
        for _ in range(20):
            k = order.randrange(len(programs))
            _assert_same(programs[k](), expected[k])
        misses += _misses()
    assert misses > 100


# Programs that differ in one thing only.

V, W = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])
TWINS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "another_operation": (lambda: tf.exp(V * W), lambda: tf.sin(V * W)),
    "the_same_tensor_twice": (
        lambda: (a := V * W, b := V + W, a * b),
        lambda: (a := V * W, V + W, a * a),
    ),
    "sources_swapped": (lambda: tf.divide(V, W), lambda: tf.divide(W, V)),
    "one_source_twice": (lambda: V * W, lambda: V * V),
    "a_source_not_used": (lambda: tf.exp(V * W), lambda: tf.exp(V * 2.0)),
    "another_order": (
        lambda: (a := V * W, b := tf.exp(V), a - b),
        lambda: (b := tf.exp(V), a := V * W, a - b),
    ),
    "what_is_dead_alive": (
        lambda: (a := V * W, tf.exp(a), a + 1.0),
        lambda: (a := V * W, b := tf.exp(a), b + 1.0),
    ),
    "what_is_alive_dead": (
        lambda: (a := V * W, b := tf.exp(a), tf.sin(b)),
        lambda: (a := V * W, tf.exp(a), tf.sin(a)),
    ),
    "broadcast": (lambda: (V * W) * W, lambda: tf.reshape(V * W, (2, 1)) * W),
    "an_entry_of_the_long_form": (
        lambda: (a := V * W, b := tf.exp(a), b * 2.0),
        lambda: (a := V * W, b := tf.concat([a, a], 0), b * 2.0),
    ),
    "a_row_sparse_gradient": (
        lambda: (a := V * W, tf.exp(a)),
        lambda: (a := V * W, tf.gather(a, [0, 0])),
    ),
    "two_paths_or_one": (
        lambda: (a := V * W, a * 2.0, tf.exp(a), a * 3.0)[-1],
        lambda: (a := V * W, b := a * 2.0, c := tf.exp(a), b + c)[-1],
    ),
}


def _gradients(twin: Callable[[], Any]) -> Callable[[], list[Any]]:
    def run() -> list[Any]:
        with tf.GradientTape() as tape:
            made = twin()
        found = tape.gradient(made[-1] if isinstance(made, tuple) else made, [V, W])
        return [None if g is None else (g.numpy(), g.dtype) for g in found]

    return run


@pytest.mark.parametrize("name", TWINS)
def test_a_tape_that_differs_in_one_thing_is_noticed(
    name: str, at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for first, second in (TWINS[name], TWINS[name][::-1]):
        unrolled._kinds.clear()
        for twin in (first, second, first):
            run = _gradients(twin)
            _assert_same(run(), _loop(monkeypatch, run))


# When it is done.


def test_a_tape_is_written_out_when_it_has_come_often() -> None:
    run = _gradients(lambda: tf.exp(V * W))
    for _ in range(unrolled._SOON - 1):
        run()
    assert not any(kind.function for kind in unrolled._kinds.values())
    for _ in range(5):
        run()
    assert _hits() == 5


def test_a_long_tape_is_written_out_later_and_says_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unrolled, "_LATER", 20)

    def run() -> list[Any]:
        with tf.GradientTape() as tape:
            y = V
            for _ in range(unrolled._SHORT_TAPE):
                y = y * 1.01 + W
        return [(g.numpy(), g.dtype) for g in tape.gradient(y, [V, W])]

    expected = _loop(monkeypatch, run)
    for _ in range(19):
        run()
    assert _hits() == 0
    for _ in range(3):
        _assert_same(run(), expected)
    assert _hits() == 3


def test_what_never_comes_again_is_given_up_and_tried_ever_less_often() -> None:
    wait = unrolled._SOON
    runs = [_gradients(lambda: tf.exp(V * W)), _gradients(lambda: tf.sin(V * W))]
    written = []
    for k in range(20 * wait):
        runs[k % 2]()
        [kind] = unrolled._kinds.values()
        written.append(kind.wait)
    assert sorted(set(written)) == [wait, 4 * wait, 16 * wait]


def test_a_stranger_now_and_then_does_no_harm() -> None:
    usual, stranger = (_gradients(lambda: tf.exp(V * W)), _gradients(lambda: tf.sin(V * W)))
    for k in range(200):
        (stranger if k % 20 == 19 else usual)()
    [kind] = unrolled._kinds.values()
    assert kind.function is not None
    assert (kind.hits, kind.misses) == (175, 10)


def test_no_more_kinds_are_remembered_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unrolled, "_MOST", 4)
    for count in range(1, 12):
        with tf.GradientTape() as tape:
            y = V * 1.0
            for _ in range(count):
                y = y * 1.5
        tape.gradient(y, V)
        assert len(unrolled._kinds) <= 4


def test_where_somebody_listens_the_loop_is_taken(at_once: None) -> None:
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            y = V * V * W
        first = inner.gradient(y, V)
    assert _hits() == 0
    np.testing.assert_allclose(outer.gradient(first, V), 2 * W.numpy())


def test_complex_numbers_and_rules_of_users_take_the_loop(at_once: None) -> None:
    z = tf.constant([1 + 2j, 3 - 1j])
    with tf.GradientTape() as tape:
        tape.watch(z)
        y = z * z
    np.testing.assert_allclose(tape.gradient(y, z), np.conj(2 * z.numpy()))

    @tf.custom_gradient
    def twice(x: Any) -> Any:
        return 2.0 * x, lambda g: 7.0 * g

    for _ in range(3):
        with tf.GradientTape() as tape:
            y = twice(V * 1.0)
        np.testing.assert_allclose(tape.gradient(y, V), [7.0, 7.0])
    assert _hits() == 0


def test_many_paths_at_once_take_the_loop(at_once: None) -> None:
    for count, written in ((6, True), (12, False)):
        unrolled._kinds.clear()
        for _ in range(2):
            with tf.GradientTape() as tape:
                paths = [V * float(k) for k in range(count)]
                while len(paths) > 1:
                    paths = [a + b for a, b in zip(paths[::2], paths[1::2], strict=False)] + (
                        [paths[-1]] if len(paths) % 2 else []
                    )
                y = paths[0]
            np.testing.assert_allclose(tape.gradient(y, V), [sum(range(count))] * 2)
        assert (_hits() == 2) == written


def test_row_sparse_gradients_stay_row_sparse(at_once: None) -> None:
    table = tf.Variable(tf.ones((5, 2)))
    for _ in range(3):
        with tf.GradientTape() as tape:
            y = tf.reduce_sum(tf.gather(table, [1, 1]) * 2.0)
        assert isinstance(tape.gradient(y, table), tf.IndexedSlices)


# What users see.


def test_training_is_the_same_step_for_step(monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert _hits() > 30
    expected, wanted = _loop(monkeypatch, train)
    assert losses == expected
    for a, b in zip(values, wanted, strict=True):
        np.testing.assert_array_equal(a, b)


def test_an_error_names_the_line_of_the_operation(
    at_once: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any) -> Any:
        raise MemoryError("no room")

    rule = REGISTRY["tanh"].rules[0]
    run = _gradients(lambda: tf.tanh(V) * W)
    run()
    assert rule is not None and rule.form is not None
    monkeypatch.setattr(rule, "form", rule.form._replace(kernel=fail))
    unrolled._kinds.clear()
    with pytest.raises(MemoryError) as caught:
        run()
    notes = "\n".join(caught.value.__notes__)
    assert "in the gradient of tanh, recorded at:" in notes
    assert "tf.tanh(V) * W" in notes


def test_overflow_is_quiet_whatever_the_program_wants_of_numpy(at_once: None) -> None:
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
    assert _hits() == 3


def test_what_was_used_is_freed_on_the_way(at_once: None) -> None:
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
    assert _hits() == 2


def test_threads_share_what_was_written(at_once: None) -> None:
    runs = [_gradients(lambda: tf.exp(V * W)), _gradients(lambda: tf.sin(V * W))]
    expected = [run() for run in runs]
    wrong: list[Exception] = []

    def work(k: int) -> None:
        try:
            for _ in range(300):
                _assert_same(runs[k](), expected[k])
        except Exception as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(k % 2,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
