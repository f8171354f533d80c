"""Lists of a trace, as Python code and `tf.nest` see them."""

from __future__ import annotations

import pytest

import wengert as tf


def test_nests_open_a_list_whose_length_the_trace_knows():
    @tf.function
    def f(x):
        rows = [row * 2.0 for row in x]
        pair = tf.nest.map_structure(lambda r, k: r + k, {"a": rows}, {"a": [1.0, 2.0, 3.0]})
        packed = tf.nest.pack_sequence_as([0, [0, 0]], rows)
        return len(tf.nest.flatten((rows, x))), tf.nest.is_nested(rows), pair, packed

    count, nested, pair, packed = f(tf.constant([[1.0], [2.0], [3.0]]))
    assert int(count) == 4 and bool(nested)
    assert [r.numpy().tolist() for r in pair["a"]] == [[3.0], [6.0], [9.0]]
    assert packed[1][1].numpy().tolist() == [6.0]


def test_nests_refuse_a_list_of_unknown_length():
    @tf.function
    def f(n):
        rows = []
        for i in tf.range(n):
            rows.append(i + len(rows))
        return tf.nest.flatten(rows)

    with pytest.raises(TypeError, match=r"nest.flatten: the list has grown .* Use tf.stack"):
        f(tf.constant(3))
