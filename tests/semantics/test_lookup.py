"""Tables from keys to values, as TensorFlow has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.semantics.api import tf


def table() -> Any:
    return tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)


def test_keys_have_values_and_others_the_default() -> None:
    found = table().lookup(tf.constant([["a", "z"], ["b", "a"]]))
    assert found.dtype == tf.int32
    assert found.numpy().tolist() == [[1, -1], [2, 1]]
    assert int(table().size()) == 2
    assert table().key_dtype == tf.string
    words = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1], ["x"]), "?")
    assert words.lookup(tf.constant([1, 3])).numpy().tolist() == [b"x", b"?"]


def test_composites_are_looked_up_in_place() -> None:
    assert table().lookup(tf.ragged.constant([["a"], ["b", "c"]])).to_list() == [[1], [2, -1]]
    sparse = table().lookup(tf.sparse.from_dense([["a", "", "b"]]))
    assert tf.sparse.to_dense(sparse).numpy().tolist() == [[1, 0, 2]]


def test_inside_a_function() -> None:
    words = table()

    @tf.function
    def f(x: Any) -> Any:
        return words.lookup(x)

    assert f(tf.constant(["b", "q"])).numpy().tolist() == [2, -1]


def test_a_table_that_grows() -> None:
    rows = tf.lookup.experimental.MutableHashTable(tf.int64, tf.float32, [0.0, 0.0])
    rows.insert([1, 2], [[1.0, 2.0], [3.0, 4.0]])
    assert rows.lookup([2, 5]).numpy().tolist() == [[3.0, 4.0], [0.0, 0.0]]
    rows.remove(tf.constant([1], tf.int64))
    keys, values = rows.export()
    assert keys.numpy().tolist() == [2]
    assert values.numpy().tolist() == [[3.0, 4.0]]

    @tf.function
    def f(key: Any) -> Any:
        rows.insert(key, tf.ones([1, 2]))
        return rows.lookup(key), rows.size()

    found, size = f(tf.constant([9], tf.int64))
    assert found.numpy().tolist() == [[1.0, 1.0]]
    assert int(size) == 2


def test_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("a\nb\nc\n", encoding="utf-8")
    index = tf.lookup.TextFileIndex
    made = tf.lookup.TextFileInitializer(
        str(path), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER
    )
    found = tf.lookup.StaticHashTable(made, -1).lookup(tf.constant(["c", "z"]))
    assert found.numpy().tolist() == [2, -1]
    assert found.dtype == tf.int64


def test_a_checkpoint_holds_what_grew(tmp_path: Path) -> None:
    rows = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    rows.insert(tf.constant(["x", "y"]), tf.constant([1, 2], tf.int64))
    checkpoint = tf.train.Checkpoint(rows=rows)
    path = checkpoint.save(str(tmp_path / "saved"))
    rows.insert(tf.constant(["z"]), tf.constant([3], tf.int64))
    checkpoint.restore(path)
    assert np.sort(rows.export()[1].numpy()).tolist() == [1, 2]


def test_bad_arguments() -> None:
    make = tf.lookup.KeyValueTensorInitializer
    with pytest.raises(TypeError):
        table().lookup(tf.constant([1]))
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.lookup.StaticHashTable(make(["a", "a"], [1, 2]), -1)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.lookup.StaticHashTable(make(["a", "b"], [1]), -1)
