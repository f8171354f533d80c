"""Whole numbers that are known in part while tracing: shapes, and what programs make of them.

`tf.reshape(x, [tf.shape(x)[0], -1])` is common; the sizes in it that are fixed must be known to
later shape rules. So small integer values carry their elements as numbers and `Dim`s, worked out
by the very kernels on arrays of Python objects.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from wengert.core import dtypes
from wengert.core.failures import failures
from wengert.core.shapes import size
from wengert.core.types import Dim

if TYPE_CHECKING:
    from wengert.graph.builder import Builder
    from wengert.graph.ir import Node


CONTENT_TYPES = frozenset({dtypes.int32.np.num, dtypes.int64.np.num})
_MOST = 64
Rule: TypeAlias = "Callable[[Builder, Node], np.ndarray | None]"


def work_out(graph: Builder, node: Node) -> np.ndarray | None:
    """The elements of a node's result as an array of objects, or `None`."""
    if node.op.sizes is not None:
        return _of_sizes(graph, node)
    rule = node.op.contents
    return None if rule is None else rule(graph, node)


def carried_sizes(
    graph: Builder, node: Node, shape: tuple[int | None, ...]
) -> tuple[int | Dim, ...]:
    """Sizes of an elementwise result: where one input decides, its unknown size is carried on."""
    given = [graph.sizes(v) or () for v in node.inputs]
    out = []
    for i, d in enumerate(shape):
        if d is None:
            places = [s[i - len(shape) + len(s)] for s in given if i - len(shape) + len(s) >= 0]
            others = {p for p in places if p != 1}
            d = others.pop() if len(others) == 1 else Dim("size", graph, node.outputs[0], i)
        out.append(d)
    return tuple(out)


def _of_sizes(graph: Builder, node: Any) -> np.ndarray | None:
    """What is made of the sizes of the input alone: one number, or a tuple of them."""
    sizes = graph.sizes(node.inputs[0])
    return None if sizes is None else _objects(node.op.sizes(sizes))


def _objects(value: int | tuple[int | Dim, ...] | Dim) -> np.ndarray:
    array = np.empty(len(value) if type(value) is tuple else (), object)
    array[()] = value
    return array


def _elements(graph: Any, value: int) -> np.ndarray | None:
    """The elements of a value of which nothing is known but how many there are."""
    spec = graph.specs[value]
    count = size(spec.shape)
    if count is None or count > _MOST:
        return None
    array = np.empty(count, object)
    for k in range(count):
        array[k] = Dim("element", graph, value, k)
    return array.reshape(spec.shape)


# The rules that operations name in their paragraphs: functions of the graph and the node.


def _rule(compute: Callable[..., Any], in_part: bool = False) -> Rule:
    """A rule that computes with the elements of all inputs, by a function of the node and those.

    `in_part` lets it compute with inputs of which nothing is known but how many elements they have.
    """

    def rule(graph: Builder, node: Node) -> np.ndarray | None:
        shape = graph.specs[node.outputs[0]].shape
        count = size(shape)
        if count is None or count > _MOST or node.open:
            return None
        given = [graph.content(v) for v in node.inputs]
        if in_part:
            pairs = zip(node.inputs, given, strict=True)
            given = [_elements(graph, v) if c is None else c for v, c in pairs]
        if any(c is None for c in given):
            return None
        try:
            array = np.asarray(compute(node, *given), object)
        except failures():  # a kernel that does not take objects, or a size that decides
            return None
        return _plain_numbers(array) if array.shape == shape else None

    return rule


def _plain_numbers(objects: np.ndarray) -> np.ndarray:
    plain = np.empty(objects.shape, object)
    for i in np.ndindex(objects.shape):
        plain[i] = objects[i] if type(objects[i]) is Dim else int(objects[i])
    return plain


def _kernel(node: Node, *given: np.ndarray) -> int | np.ndarray | Dim:
    return node.op.kernel(*given, **node.attrs)


def _product(node: Node, x: np.ndarray) -> Dim:
    axis = node.attrs.get("axis")
    return np.multiply.reduce(x, axis if axis is None else tuple(np.atleast_1d(axis)))


def of_each(function: Callable[..., Any]) -> Rule:
    """Elements that a function of Python numbers works out one by one."""
    return _rule(lambda node, *given: np.frompyfunc(function, len(given), 1)(*given))


def of_attribute(graph: Builder, node: Node) -> np.ndarray:
    """The number, or the numbers, that are the attribute `value`."""
    return _objects(node.attrs["value"])


# The very kernel, run on an array of objects; `in_part` also where something is known of one input.
by_kernel = _rule(_kernel)
in_part = _rule(_kernel, in_part=True)
same = _rule(lambda node, x: x)
product = _rule(_product)
