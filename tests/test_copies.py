"""`copy` and `pickle` of objects with state; what TensorFlow 2.21 shares between copies is shared."""
# Some arguments are none that a checker accepts.
# pyright: reportArgumentType=false

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import pytest

import wengert as tf


def _initializer() -> Any:
    return tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([0, 1], tf.int64))


def _mutable() -> Any:
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    table.insert(["a"], tf.constant([0], tf.int64))
    return table


def _dense() -> Any:
    table = tf.lookup.experimental.DenseHashTable(tf.string, tf.int64, -1, "", "-")
    table.insert(["a"], tf.constant([0], tf.int64))
    return table


TABLES: dict[str, Any] = {
    "static": lambda: tf.lookup.StaticHashTable(_initializer(), -1),
    "vocabulary": lambda: tf.lookup.StaticVocabularyTable(_initializer(), 2),
    "mutable": _mutable,
    "dense": _dense,
}


class Model(tf.Module):
    def __init__(self, table: Any) -> None:
        super().__init__()
        self.table = table
        self.weight = tf.Variable(3.0)

    @tf.function
    def __call__(self, x: Any) -> Any:
        return self.table.lookup(x)


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_tables(name: str, copied: Any) -> None:
    table = TABLES[name]()
    other = copied(table)
    assert other is not table
    assert other.lookup(tf.constant(["a"])).numpy().tolist() == [0]
    if hasattr(table, "insert"):
        other.insert(["new"], tf.constant([5], tf.int64))
        assert (int(table.size()), int(other.size())) == (2, 2)  # as TensorFlow has it


@pytest.mark.parametrize("name", TABLES)
def test_modules_with_tables(name: str) -> None:
    model = Model(TABLES[name]())
    model(tf.constant(["a"]))
    other = copy.deepcopy(model)
    other.weight.assign(4.0)
    assert float(model.weight) == 3.0
    assert other.table is not model.table
    assert other(tf.constant(["a"])).numpy().tolist() == [0]


def _writer(tmp_path: Path) -> Any:
    pytest.importorskip("tensorboard")
    return tf.summary.create_file_writer(str(tmp_path))


RESOURCES: dict[str, Any] = {
    **{name: lambda _, make=make: make() for name, make in TABLES.items()},
    "module": lambda _: Model(_mutable()),
    "iterator": lambda _: iter(tf.data.Dataset.range(3)),
    "dataset": lambda _: tf.data.Dataset.range(3).map(lambda x: x + 1),
    "writer": _writer,
}


@pytest.mark.parametrize("name", RESOURCES)
def test_what_belongs_to_a_process_is_not_pickled(name: str, tmp_path: Path) -> None:
    value = RESOURCES[name](tmp_path)
    with pytest.raises(TypeError, match=r"^pickle: .* cannot be pickled\. \w+"):
        pickle.dumps(value)
    assert type(copy.deepcopy(value)) is type(value)
    if hasattr(value, "close"):
        value.close()


def test_iterators_and_datasets() -> None:
    data = tf.data.Dataset.range(4)
    assert [int(x) for x in copy.deepcopy(data)] == [0, 1, 2, 3]
    steps = iter(data)
    other = copy.copy(steps)
    assert (int(next(steps)), int(next(other)), int(next(steps))) == (0, 1, 2)


def test_a_shallow_copy_of_a_variable_is_the_variable() -> None:
    v = tf.Variable(1.0)
    assert copy.copy(v) is v
    assert copy.deepcopy(v) is not v
