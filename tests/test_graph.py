"""Graphs: the verifier finds what is broken, the printer reads like code, passes keep the meaning."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.core import dtypes
from wengert.core.op import ShapeDtype
from wengert.core.process_settings import PROCESS
from wengert.graph.fingerprint import fingerprint
from wengert.graph.ir import CacheKey, Graph, Node
from wengert.graph.passes import optimised
from wengert.graph.verify import verify

VECTOR = tf.TensorSpec([2], tf.float32)


def traced(python: Callable[..., Any], *specs: Any) -> Graph:
    f = tf.function(python, autograph=False)
    return f.get_concrete_function(*(specs or (VECTOR,))).graph


def names(graph: Graph) -> list[str]:
    return [node.op.name for node in graph.nodes]


def short(python: Callable[..., Any], *specs: Any) -> list[str]:
    """The operations that are left after the passes."""
    return names(optimised(traced(python, *specs)))


# The verifier.


def test_every_graph_is_verified_in_tests() -> None:
    assert PROCESS.verifies_graphs


def product() -> Graph:
    return traced(lambda x: tf.sin(x) * 2.0)


def broken(change: Callable[[Graph], None]) -> str:
    graph = product()
    change(graph)
    with pytest.raises(AssertionError) as caught:
        verify(graph)
    return re.sub(r"v\d+", "v#", str(caught.value))


def test_a_sound_graph_passes() -> None:
    verify(product())


def swap(graph: Graph) -> None:
    graph.nodes.reverse()


def twice(graph: Graph) -> None:
    graph.nodes.append(graph.nodes[0])


def nowhere(graph: Graph) -> None:
    graph.outputs = [10**9]


def untyped(graph: Graph) -> None:
    del graph.specs[graph.nodes[0].outputs[0]]


def other_dtype(graph: Graph) -> None:
    graph.specs[graph.nodes[0].outputs[0]] = ShapeDtype((2,), dtypes.float64)


def other_shape(graph: Graph) -> None:
    graph.specs[graph.nodes[0].outputs[0]] = ShapeDtype((3,), dtypes.float32)


def two_inputs(graph: Graph) -> None:
    graph.inputs.append(graph.inputs[0])


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (swap, "<lambda>, node 0 (multiply) reads v# before it is there"),
        (twice, "<lambda>, node 2 (sin) writes v# again"),
        (nowhere, "<lambda> returns v#, which is not there"),
        (untyped, "<lambda>, node 0 (sin): v# has no shape and dtype"),
        (other_dtype, "<lambda>, node 0 (sin): dtype float32, not float64"),
        (other_shape, "<lambda>, node 0 (sin): shape (2,), not (3,)"),
        (two_inputs, "<lambda>: a value is given twice"),
    ],
    ids=lambda x: x.__name__ if callable(x) else "",
)
def test_what_the_verifier_finds(change: Callable[[Graph], None], text: str) -> None:
    # pytest adds lines of its own where the package is installed: it has a plugin.
    assert broken(change).split("\n")[0] == text


def branching() -> Graph:
    return traced(lambda x: tf.cond(x[0] > 0.0, lambda: tf.sin(x), lambda: tf.cos(x)))


def test_graphs_inside_nodes_are_verified() -> None:
    graph = branching()
    node = graph.nodes[-1]
    branch: Graph = node.attrs["branches"][0]
    branch.outputs = [*branch.outputs, branch.outputs[0]]
    with pytest.raises(AssertionError, match=r"node 2 \(switch\): false_fn gives 2 values"):
        verify(graph)
    branch.outputs = [10**9]
    with pytest.raises(AssertionError, match="false_fn returns v1000000000, which is not there"):
        verify(graph)


# The printer.


def shown(python: Callable[..., Any], *specs: Any) -> str:
    """The printed graph, with the lines of this file as numbers from its start."""
    text = str(traced(python, *specs))
    first = python.__code__.co_firstlineno
    return (
        re.sub(r" +# test_graph\.py:(\d+)", lambda m: f"  # line {int(m[1]) - first}", text) + "\n"
    )


weight = tf.Variable(3.0, name="weight")
outside = tf.constant([1.0, 2.0])


def straight(x: Any, y: Any) -> Any:
    a = x * y + outside
    weight.assign_add(tf.reduce_sum(a))
    tf.debugging.assert_positive(y)
    b = tf.reshape(x, [tf.shape(x)[0], 1])
    return {"a": a * weight, "b": b}


def test_a_graph_reads_like_code() -> None:
    text = shown(straight, tf.TensorSpec([None]), tf.TensorSpec([]))
    assert (
        text
        == """\
straight(x: float32[?], y: float32[]):
    v0: float32[2] = a tensor from outside
    weight: float32[] = variable weight:0
    v1: float32[?] = multiply(x, y)  # line 1
    v2: float32[2] = add(v1, v0)  # line 1
    v3: float32[] = reduce_sum(v2, axis=(0,), keepdims=False)  # line 2
    v4: float32[] = add(weight, v3)  # line 2
    v5: float32[] = assigned(v4, variable=weight:0)  # line 2
    v6: bool[] = holds(y, 0.0, test=greater, symbol='> 0, where y is 0, so x >')  # line 3
    check(v6, y, 0.0, explain=<lambda>)  # line 3
    v7: int32[1] = shape(x, dtype=int32)  # line 4
    v8: int32[] = strided_slice(v7, index=(0,))  # line 4
    v9: float32[?,1] = reshape(x, shape=(x.shape[0], 1))  # line 4
    v10: float32[2] = multiply(v2, v5)  # line 5
    variable weight:0 = v5
    return v10, v9
"""
    )


def inner(x: Any) -> Any:
    y = tf.cond(x > 0.0, lambda: x * weight, lambda: -x)
    z = tf.while_loop(lambda i, z: i < 3, lambda i, z: (i + 1, z * x), (0, y))[1]
    return tf.py_function(lambda a: a, [z], tf.float32) + tf.random.uniform([])


def test_graphs_inside_nodes_are_indented() -> None:
    text = shown(inner, tf.TensorSpec([]))
    assert (
        text
        == """\
inner(x: float32[]):
    v0: uint64[3] = a random state
    weight: float32[] = variable weight:0
    v1: bool[] = greater(x, 0.0)  # line 1
    v2: float32[] = switch(v1, x, weight, own=(0, 0))  # line 1
        false_fn(v0: float32[], v1: float32[]):
            v2: float32[] = negative(v0)  # line 1
            return v2
        true_fn(v0: float32[], weight: float32[]):
            v1: float32[] = multiply(v0, weight)  # line 1
            return v1
    v3: int32[], v4: int32[], v5: float32[] = loop(-1, 0, 0, v2, x, states=2, invariants=1, \
rows=0, reverse=False)  # line 2
        test(v0: int32[], v1: int32[], v2: float32[], v3: float32[]):
            v4: bool[] = less(v1, 3)  # line 2
            return v4
        body(v0: int32[], v1: int32[], v2: float32[], v3: float32[]):
            v4: int32[] = add(v1, 1)  # line 2
            v5: float32[] = multiply(v2, v3)  # line 2
            return v4, v5
    v6: float32[...] = host_call(v5, function=<lambda>, name='py_function', variables=True)  # line 3
    v7: float32[] = reload(weight, variable=weight:0)  # line 3
    v8: float32[] = random_uniform(v0, shape=(), dtype=float32)  # line 3
    v9: float32[...] = add(v6, v8)  # line 3
    return v9
"""
    )


def test_a_graph_in_few_words() -> None:
    assert repr(product()) == "<graph '<lambda>': 2 nodes>"


# Folding, while tracing.


@pytest.mark.parametrize(
    "python",
    [
        lambda x: tf.constant(2.0) * 3.0 + tf.exp(1.0),
        lambda x: tf.reduce_sum(tf.range(10) * 2),
        lambda x: tf.cast(tf.shape(x)[0] * 2, tf.float32),
        lambda x: tf.zeros_like(x) + tf.ones([2]),
    ],
    ids=["numbers", "range", "shape", "fills"],
)
def test_what_is_known_is_computed_while_tracing(python: Any) -> None:
    assert short(python) == []


def test_large_constants_are_not_computed_while_tracing() -> None:
    graph = traced(lambda x: tf.zeros([1000, 1000]) + 1.0)
    assert graph.nodes and all(c.size < 5000 for c in graph.constants.values())


# Shared work.


def test_equal_work_is_shared() -> None:
    assert short(lambda x: tf.sin(x) * tf.sin(x)) == ["sin", "multiply"]
    assert short(lambda x: (tf.reduce_sum(x, 0), tf.reduce_sum(x, 0))) == ["reduce_sum"]


@pytest.mark.parametrize(
    "python",
    [
        lambda x: (tf.reduce_sum(x, 0), tf.reduce_sum(x, 0, keepdims=True)),
        lambda x: (tf.nn.leaky_relu(x, 0.0), tf.nn.leaky_relu(x, -0.0)),
        lambda x: (x - 1.0, 1.0 - x),
    ],
)
def test_unequal_work_is_not_shared(python: Any) -> None:
    assert len(short(python)) == 2


def test_random_numbers_are_not_shared() -> None:
    kept = short(lambda x: (tf.random.uniform([2]), tf.random.uniform([2])))
    assert kept.count("random_uniform") == 2


def test_dropping_what_nobody_needs() -> None:
    def wasteful(x: Any) -> Any:
        tf.linalg.inv(tf.reshape(tf.tile(x, [2]), [2, 2]))
        return x * 2.0

    assert names(traced(wasteful)) != ["multiply"]
    assert short(wasteful) == ["multiply"]


# Effects stay where they are.


def test_effects_are_neither_dropped_nor_shared_nor_moved() -> None:
    def effects(x: Any) -> Any:
        tf.debugging.assert_positive(x)
        tf.print(x)
        tf.print(x)
        tf.py_function(lambda a: a, [x], tf.float32)
        tf.py_function(lambda a: a, [x], tf.float32)
        tf.debugging.assert_positive(x)

    kept = [n for n in short(effects) if n != "holds"]
    assert kept == ["check", "host_call", "host_call", "host_call", "host_call", "check"]


def test_effects_inside_branches_and_loops_stay() -> None:
    def python(x: Any) -> Any:
        tf.cond(x[0] > 0.0, lambda: print_and(0.0), lambda: 1.0)
        tf.while_loop(lambda i: i < 2, lambda i: (print_and(i + 1),), (0,))
        return x

    def print_and(value: Any) -> Any:
        tf.print("here")
        return value

    assert {"switch", "loop"} <= set(short(python))


# No-ops.


@pytest.mark.parametrize(
    "python",
    [
        lambda x: tf.identity(x),
        lambda x: tf.stop_gradient(x),
        lambda x: x * 1.0,
        lambda x: 1.0 * x,
        lambda x: x / 1.0,
        lambda x: x - 0.0,
        lambda x: tf.reshape(x, [2]),
        lambda x: tf.broadcast_to(x, [2]),
        lambda x: tf.cast(x, tf.float32),
    ],
)
def test_operations_that_do_nothing_are_dropped(python: Any) -> None:
    assert short(python) == []


@pytest.mark.parametrize(
    "python",
    [
        lambda x: x + 0.0,  # -0.0 becomes 0.0
        lambda x: x - (-0.0),
        lambda x: 0.0 - x,
        lambda x: 1.0 / x,
        lambda x: x * 0.0,  # NaN and infinities
        lambda x: x - x,
        lambda x: x / x,
        lambda x: x * float("nan"),
        lambda x: tf.broadcast_to(x, [3, 2]),
        lambda x: tf.cast(x, tf.float64),
    ],
)
def test_operations_that_do_something_stay(python: Any) -> None:
    assert len(short(python)) == 1


def test_a_neutral_number_may_still_change_the_shape() -> None:
    ones = tf.ones([3, 1])
    assert len(short(lambda x: x * ones)) == 1
    assert short(lambda x: x * 1.0, tf.TensorSpec([None])) == ["multiply"]


@pytest.mark.parametrize("engine", ["host", "xla"])
def test_signs_of_zero_and_nan_survive(engine: str) -> None:
    x = tf.constant([-0.0, 0.0, float("nan"), float("inf"), -1.0])

    def python(x: Any) -> Any:
        return x * 1.0, x / 1.0, x - 0.0, tf.identity(x), x * 0.0, -x

    with tf.engine(engine):
        found = tf.function(python)(x)
    for got, want in zip(found, python(x), strict=True):
        assert np.array_equal(np.signbit(got.numpy()[:2]), np.signbit(want.numpy()[:2]))
        np.testing.assert_array_equal(got.numpy(), want.numpy())


def test_passes_leave_the_traced_graph_alone() -> None:
    graph = traced(lambda x: tf.stop_gradient(x) * 1.0 + tf.sin(x) * tf.sin(x))
    before = str(graph)
    optimised(graph)
    assert str(graph) == before
    assert "stop_gradient" in before


# Fingerprints.


def test_equal_graphs_have_equal_fingerprints() -> None:
    make = lambda k: fingerprint(traced(lambda x: tf.nn.leaky_relu(x, k) * tf.constant([1.0, k])))
    assert make(0.5) == make(0.5)
    assert hash(make(0.5)) == hash(make(0.5))
    assert make(0.5) != make(0.25)
    assert make(0.0) != make(-0.0)


def test_inputs_are_part_of_a_fingerprint() -> None:
    python = lambda x: x * 2.0
    kinds = [VECTOR, tf.TensorSpec([3]), tf.TensorSpec([2], tf.float64), tf.TensorSpec([None])]
    assert len({fingerprint(traced(python, kind)) for kind in kinds}) == 4


# The builder.


def test_equal_small_constants_are_one_value() -> None:
    graph = traced(lambda x: x * 3.0 + 3.0 - tf.constant([1.0, 2.0]) * tf.constant([1.0, 2.0]))
    assert len(graph.constants) == len({c.tobytes() for c in graph.constants.values()})


def test_unknown_sizes_are_carried_through_shapes() -> None:
    def python(x: Any) -> Any:
        y = tf.reshape(tf.sin(x) * 2.0, [tf.shape(x)[0], -1])
        return tf.reshape(y, tf.shape(x)), tf.zeros(tf.shape(y)[:1] + 1)

    graph = traced(python, tf.TensorSpec([None, 3, 2]))
    assert [graph.specs[v].shape for v in graph.outputs] == [(None, 3, 2), (None,)]


def test_nodes_know_their_line() -> None:
    graph = traced(straight, tf.TensorSpec([None]), tf.TensorSpec([]))
    first = straight.__code__.co_firstlineno
    assert all(isinstance(node, Node) and node.site is not None for node in graph.nodes)
    site: Any = graph.nodes[0].site
    assert site[0] is straight.__code__
    assert f"test_graph.py:{first + 1}" in str(graph)


def test_what_is_kept_with_a_graph_is_known_by_its_key_alone():
    one: CacheKey[int] = CacheKey("a number")
    other: CacheKey[int] = CacheKey("a number")
    graph = Graph("g")
    graph.cache[one] = 3
    assert graph.cache.get(one) == 3
    assert graph.cache.get(other) is None
    assert one not in graph.copy().cache


def test_no_module_keeps_anything_with_a_graph_under_a_string():
    source = Path(tf.__file__).parent
    for file in source.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.Subscript):
                holder, key = node.value, node.slice
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                holder, key = node.func.value, node.args[0]
            else:
                continue
            if isinstance(holder, ast.Attribute) and holder.attr == "cache":
                assert isinstance(key, ast.Name | ast.Attribute), f"{file}:{node.lineno}"
