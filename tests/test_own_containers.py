"""Containers of the user's in nests, handles as keys, and structures that are nested too deep."""

from __future__ import annotations

import dataclasses
import sys
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf


@dataclasses.dataclass
class Masked:
    """The example of TensorFlow's own documentation: the mask is metadata."""

    mask: Any
    value: Any

    def __tf_flatten__(self) -> Any:
        return (self.mask,), (self.value,)

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, leaves: Any) -> Any:
        return cls(metadata[0], leaves[0])


class Sub(Masked):
    pass


class Plain:
    def __init__(self, *parts: Any) -> None:
        self.parts = parts

    def __tf_flatten__(self) -> Any:
        return (), self.parts

    @classmethod
    def __tf_unflatten__(cls, metadata: Any, leaves: Any) -> Any:
        return cls(*leaves)


@dataclasses.dataclass
class Leaf:
    x: Any


def test_they_are_walked_as_tensorflow_walks_them() -> None:
    nest = tf.nest
    assert nest.flatten([Masked(True, Plain(1, {"b": 2, "a": 3})), 4]) == [1, 3, 2, 4]
    assert [nest.is_nested(x) for x in (Masked(1, 2), Plain(), Leaf(1))] == [True, True, False]
    assert nest.map_structure(lambda x: x + 1, Masked(True, [1, 2])) == Masked(True, [2, 3])
    both = nest.map_structure(lambda x, y: x + y, Masked(True, 1), Masked(False, 3))
    assert both == Masked(True, 4)
    assert nest.pack_sequence_as([Masked(True, [0, 0]), 0], [5, 6, 7]) == [Masked(True, [5, 6]), 7]
    nest.assert_same_structure(Masked(True, 1), Masked(False, 2))
    nest.assert_same_structure(Masked(True, 1), (1,), check_types=False)
    for other, kind in ((Plain(1), TypeError), (Sub(True, 1), TypeError), (1, ValueError)):
        with pytest.raises(kind):
            nest.assert_same_structure(Masked(True, 1), other)
    with pytest.raises(ValueError, match="the structure has 2 leaves; got 1"):
        nest.pack_sequence_as(Masked(True, [0, 0]), [5])
    ragged = tf.ragged.constant([[1], [2, 3]])
    assert nest.flatten(ragged) == [ragged]  # our own classes stay leaves


def test_they_go_through_tapes_loops_datasets_and_functions() -> None:
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(Masked(True, x))
        y = x * x
    assert tape.gradient(y, Masked("m", x)) == Masked("m", tf.constant(4.0))
    loop = lambda m: tf.while_loop(
        lambda m: m.value < 5.0, lambda m: [Masked(m.mask, m.value + 1.0)], [m]
    )
    for run in (loop, tf.function(loop)):
        assert run(Masked("m", x)) == [Masked("m", tf.constant(5.0))]
    *_, last = tf.data.Dataset.from_tensor_slices(Masked("m", tf.constant([1.0, 3.0])))
    assert last == Masked("m", tf.constant(3.0))


@pytest.mark.parametrize(
    ("one", "same", "other"),
    [
        ([1, [2]], [1, [2]], [1, [3]]),
        ({"a": 1}, {"a": 1}, {"a": 2}),
        ({1, 2}, {2, 1}, {3}),
        (np.ones(2), np.ones(2), np.zeros(2)),
        (Leaf([1]), Leaf([1]), Leaf([2])),
        ("s", "s", "t"),
    ],
)
def test_metadata_without_a_hash_is_part_of_the_signature(one: Any, same: Any, other: Any) -> None:
    seen = []

    @tf.function
    def f(m: Any) -> Any:
        seen.append(m.mask)
        return m.value + 1.0

    for mask in (one, same, other, one):
        assert float(f(Masked(mask, tf.constant(1.0)))) == 2.0
    assert len(seen) == 2
    one_list = [1]
    assert float(f(Masked(one_list, tf.constant(1.0)))) == 2.0
    one_list.append(2)  # what changes after the call is other metadata
    assert float(f(Masked(one_list, tf.constant(1.0)))) == 2.0
    assert len(seen) == 4


def test_branches_must_agree_on_metadata() -> None:
    @tf.function
    def f(x: Any, other: bool) -> Any:
        return tf.cond(x > 0.0, lambda: Masked(True, x), lambda: Masked(other, -x))

    assert f(tf.constant(-1.0), True) == Masked(True, tf.constant(1.0))
    with pytest.raises((TypeError, ValueError), match=r"Masked\(metadata=\(False"):
        f(tf.constant(-1.0), False)


def test_handles_are_keys() -> None:
    a, b, v = tf.constant(1.0), tf.constant(2.0), tf.Variable(1.0)
    refs = {v.ref(): 3, b.ref(): 2, a.ref(): 1}
    assert tf.nest.flatten(refs) == [1, 2, 3]
    assert tf.nest.map_structure(lambda x: -x, refs) == {a.ref(): -1, b.ref(): -2, v.ref(): -3}
    assert a.ref() < b.ref() < v.ref()
    assert b.ref() > a.ref()
    with pytest.raises(TypeError):
        sorted([a.ref(), 1])  # type: ignore[type-var]
    table: Any = weakref.WeakKeyDictionary()
    key = a.ref()
    table[key] = "found"
    assert table[a.ref()] == "found"
    del key
    assert len(table) == 0
    assert float(tf.function(lambda d: next(iter(d.values())) * 2.0)({a.ref(): b})) == 4.0


def deep(leaf: Any, wrap: Callable[[Any], Any] = lambda x: [x]) -> Any:
    for _ in range(3 * sys.getrecursionlimit()):
        leaf = wrap(leaf)
    return leaf


V = tf.Variable(1.0)


def gradient_of(wrap: Callable[[Any], Any]) -> Any:
    with tf.GradientTape() as tape:
        y = V * V
    return tape.gradient(y, wrap(V))


@pytest.mark.parametrize(
    "program",
    [
        lambda: tf.nest.flatten(deep(1.0)),
        lambda: tf.nest.flatten(deep(1.0, lambda x: {"a": x})),
        lambda: tf.nest.map_structure(abs, deep(1.0)),
        lambda: tf.nest.pack_sequence_as(deep(1.0), [1]),
        lambda: tf.nest.assert_same_structure(deep(1.0), deep(1.0)),
        lambda: gradient_of(deep),
        lambda: tf.function(lambda x: 1.0)(deep(V)),
        lambda: tf.function(lambda x: 1.0)(x=deep(1.0)),
        lambda: tf.function(lambda x: 1.0).get_concrete_function(deep(tf.constant(1.0))),
        lambda: tf.function(lambda x: deep(x))(tf.constant(1.0)),
        lambda: tf.function(lambda x: tf.cond(x > 0.0, lambda: deep(x), lambda: deep(x)))(V),
        lambda: tf.while_loop(lambda x: False, lambda x: x, [deep(1.0)]),
        lambda: tf.map_fn(tf.nest.flatten, deep(tf.constant([1.0]))),
        lambda: tf.constant(deep(1.0)),
        lambda: tf.constant(1.0) + deep(tf.constant(1.0)),
        lambda: tf.print(deep(1.0)),
        lambda: tf.data.Dataset.from_tensors(deep(1.0)),
        lambda: tf.data.Dataset.from_tensors(deep(1.0, lambda x: (x,))),
        lambda: tf.data.Dataset.range(1).map(lambda x: deep(x, lambda x: {"a": x})),
    ],
)
def test_what_is_nested_too_deep_is_said(program: Any) -> None:
    with pytest.raises(RecursionError, match="nested too deep for Python's recursion limit"):
        program()


def test_other_causes_of_a_recursion_error_are_not_blamed_on_the_structure() -> None:
    def endless(x: Any) -> Any:
        return endless(x)

    with pytest.raises(RecursionError, match="maximum recursion depth"):
        tf.nest.map_structure(endless, [1])
    contained: list[Any] = []
    contained.append(contained)
    with pytest.raises(RecursionError, match="or contains itself"):
        tf.nest.flatten(contained)
    nested: Any = 1.0
    for _ in range(70):
        nested = [nested]
    with pytest.raises(ValueError, match="at most 64 dimensions; got a list nested 70 deep"):
        tf.constant(nested)
