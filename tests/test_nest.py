"""`tf.nest`: what is a container, in which order, and what two structures have in common.

Each answer was first measured on TensorFlow 2.21.
"""

from __future__ import annotations

import collections
import dataclasses
import types
from typing import Any

import numpy as np
import pytest

import wengert as tf

Pair = collections.namedtuple("Pair", "a b")


class MyDict(dict):
    pass


class MyList(list):
    pass


class MyTuple(tuple):
    pass


@dataclasses.dataclass
class Record:
    a: int
    b: int


class Attrs:
    """What the attrs library makes, as far as a nest can see."""

    __attrs_attrs__ = (types.SimpleNamespace(name="a"), types.SimpleNamespace(name="b"))

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b


ORDERED = collections.OrderedDict([("b", 1), ("a", 2)])
DEFAULT = collections.defaultdict(list, {"b": 1, "a": 2})

FLAT = {
    "dict by sorted key": ({"b": 1, "a": 2}, [2, 1]),
    "OrderedDict by sorted key": (ORDERED, [2, 1]),
    "defaultdict by sorted key": (DEFAULT, [2, 1]),
    "read-only mapping": (types.MappingProxyType({"b": 1, "a": 2}), [2, 1]),
    "None is a leaf": ([None, (1,)], [None, 1]),
    "named tuple": (Pair(1, [2, 3]), [1, 2, 3]),
    "attrs class": (Attrs(1, [2, 3]), [1, 2, 3]),
    "subclass of dict": (MyDict(b=1, a=2), [2, 1]),
    "subclass of list": (MyList([1, 2]), [1, 2]),
    "subclass of tuple": (MyTuple([1, 2]), [1, 2]),
    "range": (range(3), [0, 1, 2]),
    "deque": (collections.deque([1, 2]), [1, 2]),
    "keys": ({"a": 1}.keys(), ["a"]),
    "empty containers": ([[], {}, ()], []),
    "string": ("ab", ["ab"]),
    "bytes": (b"ab", [b"ab"]),
    "a set is a leaf": ({1}, [{1}]),
}


@pytest.mark.parametrize("case", FLAT.values(), ids=FLAT.keys())
def test_flatten(case: Any) -> None:
    structure, leaves = case
    assert tf.nest.flatten(structure) == leaves


def test_dataclasses_arrays_and_tensors_are_leaves() -> None:
    for leaf in (Record(1, 2), np.arange(3), tf.constant([1, 2]), tf.Variable(1.0), iter([1])):
        assert tf.nest.flatten(leaf)[0] is leaf
        assert not tf.nest.is_nested(leaf)


def test_keys_that_do_not_sort_are_refused() -> None:
    with pytest.raises(TypeError, match="the keys of a dict must be sortable"):
        tf.nest.flatten({1: 1, "a": 2})


def test_map_structure_keeps_the_kind_and_order_of_containers() -> None:
    def same(x: Any) -> Any:
        return x

    assert list(tf.nest.map_structure(same, {"b": 1, "a": 2}).items()) == [("b", 1), ("a", 2)]
    assert list(tf.nest.map_structure(same, ORDERED).items()) == [("b", 1), ("a", 2)]
    copy = tf.nest.map_structure(same, DEFAULT)
    assert copy == DEFAULT and copy.default_factory is list
    for one in (MyDict(a=1), MyList([1]), MyTuple([1]), Pair(1, (2,)), collections.deque([1])):
        copy = tf.nest.map_structure(same, one)
        assert type(copy) is type(one) and copy == one
    attrs = tf.nest.map_structure(lambda x: x + 1, Attrs(1, 2))
    assert (attrs.a, attrs.b) == (2, 3)


def test_map_structure_over_several() -> None:
    def add(x: int, y: int) -> int:
        return x + y

    assert tf.nest.map_structure(add, [1, (2,)], [3, (4,)]) == [4, (6,)]
    assert tf.nest.map_structure(add, {"a": 1}, collections.OrderedDict(a=2)) == {"a": 3}
    assert tf.nest.map_structure(add, [1, 2], (3, 4), check_types=False) == [4, 6]
    twin = collections.namedtuple("Pair", "a b")
    assert tf.nest.map_structure(add, Pair(1, 2), twin(1, 2)) == Pair(2, 4)
    assert tf.nest.map_structure(lambda x, y: (x, y), None, 1) == (None, 1)


DIFFERENT = {
    "kind": ([1, 2], (3, 4), TypeError, "one is a list, the other a tuple"),
    "named tuple and tuple": (Pair(1, 2), (1, 2), TypeError, "one is a Pair, the other a tuple"),
    "length": ([1, 2], [3], ValueError, r"\[1, 2\] and \[3\] have different lengths"),
    "depth": ([1, [2]], [3, 4], ValueError, r"\[2\] is nested, but 4 is a leaf"),
    "keys": ({"a": 1}, {"b": 1}, ValueError, r"the keys \['a'\] and \['b'\] are not the same"),
    "None": (None, [1], ValueError, r"\[1\] is nested, but None is a leaf"),
}


@pytest.mark.parametrize("case", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_different_structures_are_refused(case: Any) -> None:
    one, other, error, message = case
    with pytest.raises(error, match=message):
        tf.nest.assert_same_structure(one, other)
    with pytest.raises(error, match=message):
        tf.nest.map_structure(lambda x, y: x, one, other)


def test_what_counts_as_the_same() -> None:
    tf.nest.assert_same_structure([1], [None])
    tf.nest.assert_same_structure([1], MyList([1]))
    tf.nest.assert_same_structure({"a": 1}, MyDict(a=1))
    tf.nest.assert_same_structure(DEFAULT, {"b": 1, "a": 3})
    tf.nest.assert_same_structure([1], (1,), check_types=False)


def test_bad_arguments_of_map_structure() -> None:
    with pytest.raises(TypeError, match="`func` must be callable"):
        tf.nest.map_structure(3, [1])  # type: ignore[arg-type]  # the thing under test
    with pytest.raises(ValueError, match="give at least one structure"):
        tf.nest.map_structure(abs)
    with pytest.raises(ValueError, match="got `foo`"):
        tf.nest.map_structure(abs, [1], foo=2)


def test_pack_sequence_as() -> None:
    assert tf.nest.pack_sequence_as([1, (2, 3)], [4, 5, 6]) == [4, (5, 6)]
    assert tf.nest.pack_sequence_as({"b": 1, "a": 2}, [1, 2]) == {"b": 2, "a": 1}
    assert tf.nest.pack_sequence_as(None, [3]) == 3
    assert tf.nest.pack_sequence_as([], []) == []
    assert tf.nest.pack_sequence_as(range(2), [5, 6]) == [5, 6]
    with pytest.raises(ValueError, match="the structure has 3 leaves; got 2"):
        tf.nest.pack_sequence_as([1, (2, 3)], [4, 5])
    with pytest.raises(TypeError, match="must be a list of leaves"):
        tf.nest.pack_sequence_as([1], 4)


def _deep(kind: type, leaf: Any = 1.0) -> Any:
    for _ in range(20_000):  # Python 3.13 goes 10,000 deep in C
        leaf = {"a": leaf} if kind is dict else kind([leaf])
    return leaf


DEEP: dict[str, Any] = {
    "flatten": tf.nest.flatten,
    "map_structure": lambda x: tf.nest.map_structure(lambda y: y, x),
    "argument": lambda x: tf.function(lambda a: 1)(x),
    "result": lambda x: tf.function(lambda: x)(),
    "element": tf.data.Dataset.from_tensors,
    "generator": lambda x: list(
        tf.data.Dataset.from_generator(lambda: iter([x]), output_types=tf.float32)
    ),
    "map": lambda x: list(tf.data.Dataset.range(1).map(lambda i: x)),
    "py_function": lambda x: tf.py_function(lambda: x, [], tf.float32),
    "ragged": tf.ragged.constant,
    "constant": tf.constant,
    "stack": tf.stack,
}


@pytest.mark.parametrize("kind", [list, tuple, dict])
@pytest.mark.parametrize("name", DEEP)
def test_structures_thousands_deep_are_refused_in_words(name: str, kind: type) -> None:
    with pytest.raises((RecursionError, ValueError, TypeError)) as error:
        DEEP[name](_deep(kind))
    assert "nested" in str(error.value)
    assert "maximum recursion depth" not in str(error.value)
    assert hasattr(error.value, "site")


def test_a_dataset_of_thousands_of_steps() -> None:
    data = tf.data.Dataset.range(3)
    for _ in range(2000):
        data = data.take(3)
    for use in (iter, lambda d: d.element_spec):
        with pytest.raises(RecursionError, match="Dataset: so many steps"):
            use(data)


def test_a_recursion_of_the_programs_own_is_not_blamed_on_the_dataset() -> None:
    def endless(x: Any) -> Any:
        return endless(x)

    data = tf.data.Dataset.from_generator(lambda: map(endless, [1]), output_types=tf.int32)
    with pytest.raises(Exception, match="maximum recursion depth"):
        list(data)


def test_modules_thousands_deep() -> None:
    top: Any = tf.Module()
    inner: Any = top
    for _ in range(3000):
        inner.child = tf.Module()
        inner = inner.child
    inner.v = tf.Variable(1.0)
    assert len(top.trainable_variables) == 1
    assert len(top.submodules) == 3000
