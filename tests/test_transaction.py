"""The transaction over the variables of a call: what it takes, puts in place and gives back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.core.variable import TAKEN
from wengert.functions.transaction import Transaction


def _made() -> tuple[Transaction, Any, Any]:
    """A transaction over a variable that is read and changed, and one that is only written."""
    read, blind = tf.Variable([1.0, 2.0]), tf.Variable([3.0, 4.0])

    @tf.function
    def step(x: Any) -> Any:
        read.assign_add(x)
        blind.assign(x)
        return x * 2.0

    step(tf.constant([1.0, 1.0]))
    (trace,) = step._store.traces.values()
    graph = trace.graph.copy()
    graph.held = {i: h.copy() for i, h in graph.held.items()}
    graph.held[blind._id].initial = None
    held = Transaction(graph)
    assert [v._id for v in held.reads] == [read._id]
    assert [v._id for v in held.writes] == [read._id, blind._id]
    return held, read, blind


def _jax(*values: float) -> Any:
    import jax

    return jax.device_put(np.array(values, np.float32))


def test_results_are_in_place_before_the_flag_is_read() -> None:
    held, read, blind = _made()
    seen: list[Any] = []

    def program(*given: Any) -> list[Any]:
        seen.extend(v._device is TAKEN for v in (read, blind))
        return [_jax(0.0), _jax(7.0, 7.0), _jax(8.0, 8.0), _jax(0.0)]

    results, olds = held.launch(program, *held.nearest())
    assert seen == [True, True]
    assert len(results) == 4
    np.testing.assert_array_equal(read, [7.0, 7.0])
    np.testing.assert_array_equal(blind, [8.0, 8.0])
    held.rollback(olds)  # the flag said that a check had failed
    np.testing.assert_array_equal(read, [7.0, 7.0])  # which the program had chosen itself
    np.testing.assert_array_equal(blind, [1.0, 1.0])


def test_another_launch_may_come_before_the_flag_of_the_first() -> None:
    held, read, blind = _made()

    def program(old: Any) -> list[Any]:
        return [_jax(0.0), _jax(*np.asarray(old) + 1.0), _jax(9.0, 9.0)]

    for _ in range(3):
        held.launch(program, *held.nearest())
    np.testing.assert_array_equal(read, [5.0, 6.0])
    np.testing.assert_array_equal(blind, [9.0, 9.0])


def test_a_program_that_fails_gives_everything_back() -> None:
    held, read, blind = _made()
    read._place(_jax(2.0, 3.0))

    def program(*given: Any) -> list[Any]:
        raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        held.launch(program, *held.nearest())
    np.testing.assert_array_equal(read, [2.0, 3.0])
    np.testing.assert_array_equal(blind, [1.0, 1.0])


def test_a_step_that_fails_gives_back_what_it_wrote_without_reading() -> None:
    read, blind = tf.Variable(1.0), tf.Variable(2.0)

    @tf.function(jit_compile=True)
    def step(x: Any) -> None:
        read.assign_add(x)
        blind.assign(x)
        tf.debugging.assert_positive(x)

    for x in (3.0, 4.0, 5.0):
        step(tf.constant(x))
    for _ in range(2):  # the short way, and the full one
        with pytest.raises(tf.errors.InvalidArgumentError):
            step(tf.constant(-1.0))
        assert (read.numpy(), blind.numpy()) == (13.0, 5.0)


def test_tensors_of_both_engines_are_put_in_place() -> None:
    held, read, blind = _made()
    outs = held.commit_tensors([tf.zeros([2]), tf.ones([2]), tf.fill([2], 2.0)])
    assert len(outs) == 1
    np.testing.assert_array_equal(read, [1.0, 1.0])
    np.testing.assert_array_equal(blind, [2.0, 2.0])


def test_a_value_on_several_devices_is_a_value() -> None:
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    held, read, _ = _made()
    mesh = jax.make_mesh((1,), ("replica",))
    placed = jax.device_put(np.ones(2, np.float32), NamedSharding(mesh, PartitionSpec("replica")))

    def program(old: Any) -> list[Any]:
        assert old is placed
        return [_jax(0.0), old + 1.0, _jax(0.0, 0.0)]

    read._place(placed)
    held.launch(program, *held.nearest())
    assert isinstance(read._device.sharding, NamedSharding)
    np.testing.assert_array_equal(read, [2.0, 2.0])
