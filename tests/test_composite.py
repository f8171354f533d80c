"""How plain functions and operators take composites, and at what price for everyone else."""

from __future__ import annotations

import functools
import inspect
import subprocess
import sys

import pytest

import wengert as tf

RT = tf.ragged.constant([[1.0, 2.0], [], [3.0]])
SP = tf.sparse.from_dense([[1.0, 0.0]])


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_the_very_first_expression_with_a_ragged_tensor() -> None:
    code = """
import functools
import wengert as tf
from wengert import reduce_sum
ones = functools.partial(tf.ones_like, dtype=tf.int32)
print(tf.exp(tf.ragged.constant([[0.0], []])))
print(reduce_sum(tf.ragged.constant([[1.0], []]), 1).numpy(), ones(tf.ragged.constant([[1.0], []])))
"""
    assert run(code) == "<tf.RaggedTensor [[1.0], []]>\n[1. 0.] <tf.RaggedTensor [[1], []]>"


def test_signatures_and_documentation_stay() -> None:
    assert [*inspect.signature(tf.reduce_sum).parameters] == [
        "input_tensor", "axis", "keepdims", "name",
    ]  # fmt: skip
    assert tf.exp.__doc__ is not None
    assert tf.exp.__name__ == "exp"
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        tf.exp()  # type: ignore[call-arg]  # the thing under test


def test_plain_arguments_still_go_the_plain_way() -> None:
    assert tf.reduce_sum(input_tensor=tf.constant([1.0, 2.0])).numpy() == 3.0
    assert tf.concat([[1], [2]], axis=0).numpy().tolist() == [1, 2]
    assert (tf.constant(2.0) * 3.0).numpy() == 6.0
    assert float(functools.reduce(tf.add, [1.0, 2.0, 3.0])) == 6.0


def test_tensors_and_variables_step_back_before_a_composite() -> None:
    for left in (tf.constant(2.0), tf.Variable(2.0)):
        assert (left * RT).to_list() == [[2.0, 4.0], [], [6.0]]
        assert (left - RT).to_list() == [[1.0, 0.0], [], [-1.0]]
        assert (left > RT).to_list() == [[True, False], [], [False]]
        assert (left == RT).to_list() == [[False, True], [], [False]]
    for fails in (lambda: tf.constant(2.0) + SP, lambda: tf.ones((2, 2)) @ SP):
        with pytest.raises(TypeError, match="a SparseTensor is not one dense tensor"):
            fails()


def test_a_composite_is_a_leaf_unless_it_is_opened() -> None:
    nest = {"a": RT, "b": (SP, 1)}
    assert [*map(type, tf.nest.flatten(nest))] == [tf.RaggedTensor, tf.SparseTensor, int]
    leaves = tf.nest.flatten(nest, expand_composites=True)
    assert [getattr(x, "dtype", None) for x in leaves] == [
        tf.float32, tf.int64, tf.int64, tf.float32, tf.int64, None,
    ]  # fmt: skip
    again = tf.nest.pack_sequence_as(nest, leaves, expand_composites=True)
    assert again["a"].to_list() == RT.to_list()
    assert again["b"][0].shape == SP.shape


def test_ragged_rows_of_one_length_survive_the_nest() -> None:
    x = tf.RaggedTensor.from_uniform_row_length([1, 2, 3, 4], 2)
    again = tf.nest.map_structure(lambda v: v, x, expand_composites=True)
    assert again.shape == (2, 2)
    assert again.uniform_row_length.numpy() == 2


def test_an_optional_says_that_it_is_empty() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        tf.experimental.Optional.empty(tf.TensorSpec([])).get_value()
    wanted = "get_value: this optional has no value. Ask has_value() first."
    assert str(caught.value) == wanted


def test_indexed_slices_are_composites_that_become_dense() -> None:
    x = tf.IndexedSlices(tf.constant([[1.0], [2.0]]), tf.constant([0, 2]), tf.constant([3, 1]))
    assert tf.is_tensor(x)
    assert tf.convert_to_tensor(x).numpy().tolist() == [[1.0], [0.0], [2.0]]
    assert tf.stack([x, x]).shape == (2, 3, 1)
    again = tf.nest.map_structure(lambda v: v, x, expand_composites=True)
    assert isinstance(again, tf.IndexedSlices)
    assert again.shape == (3, 1)


def test_what_tells_frameworks_what_it_is() -> None:
    assert str(type(RT)).endswith("ragged_tensor.RaggedTensor'>")
    assert str(type(SP)).endswith("sparse_tensor.SparseTensor'>")
    assert not hasattr(SP, "numpy")
    assert tf.type_spec_from_value(RT) == tf.RaggedTensorSpec([3, None], tf.float32)


@pytest.mark.parametrize("first", ["ragged", "rank"])
def test_functions_learn_of_composites_and_of_unknown_ranks_in_any_order(first: str) -> None:
    code = f"""
import wengert as tf

def ragged():
    assert tf.reduce_sum(tf.ragged.constant([[1, 2], [3]]), axis=1).numpy().tolist() == [3, 3]

def rank():
    last = tf.function(lambda x: tf.reduce_sum(x, axis=-1), input_signature=[tf.TensorSpec(None)])
    assert last(tf.ones([2, 3])).numpy().tolist() == [3.0, 3.0]

for f in ({first}, rank, ragged, rank):
    f()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_values_of_unknown_rank_may_be_as_many_as_before() -> None:
    def f() -> tf.SparseTensor:
        values = tf.numpy_function(lambda: SP.values.numpy(), [], tf.float32)
        return tf.sparse.map_values(tf.square, tf.SparseTensor(SP.indices, values, SP.dense_shape))

    assert tf.function(f)().values.numpy().tolist() == [1.0]
    with pytest.raises(ValueError, match="must keep the number of values"):
        tf.sparse.map_values(tf.reduce_sum, SP)
    with pytest.raises(ValueError, match="must keep the number of values"):
        tf.ragged.map_flat_values(tf.reduce_sum, RT)
