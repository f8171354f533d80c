"""Whole numbers that are known in part while tracing: shapes, and what programs make of them.

`tf.reshape(x, [tf.shape(x)[0], -1])` is common; the sizes in it that are fixed must be known to
later shape rules. So small integer values carry their elements as numbers and `Dim`s, worked out
by the very kernels on arrays of Python objects.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dims, dtypes
from wengert.core.dims import Dim
from wengert.core.op import Spec
from wengert.core.shapes import size

CONTENT_TYPES = frozenset({dtypes.int32.np.num, dtypes.int64.np.num})
_MOST = 64


def work_out(graph: Any, node: Any, spec: Spec) -> np.ndarray | None:
    """The elements of a node's result as an array of objects, or `None`."""
    name = node.op.name
    if name in _SOURCES:
        return _SOURCES[name](graph, node)
    count = size(spec.shape)
    if name not in _RULES or count is None or count > _MOST or node.open:
        return None
    given = [graph.content(v) for v in node.inputs]
    if name in _JOINS:
        pairs = zip(node.inputs, given, strict=True)
        given = [_elements(graph, v) if c is None else c for v, c in pairs]
    if any(c is None for c in given):
        return None
    try:
        found = np.asarray(_RULES[name](node, *given), object)
    except Exception:  # a kernel that does not take objects, or a size that decides
        return None
    plain = np.empty(found.shape, object)
    for i in np.ndindex(found.shape):
        plain[i] = found[i] if type(found[i]) is Dim else int(found[i])
    return plain if plain.shape == spec.shape else None


def carried_sizes(graph: Any, node: Any, shape: tuple[Any, ...]) -> tuple[Any, ...]:
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


def _shape(graph: Any, node: Any) -> np.ndarray | None:
    sizes = graph.sizes(node.inputs[0])
    if sizes is None:
        return None
    found = np.empty(len(sizes), object)
    found[:] = sizes
    return found


def _size(graph: Any, node: Any) -> np.ndarray | None:
    sizes = graph.sizes(node.inputs[0])
    if sizes is None:
        return None
    total: Any = 1
    for d in sizes:
        total = total * d
    found = np.empty((), object)
    found[()] = total
    return found


def _elements(graph: Any, value: int) -> np.ndarray | None:
    """The elements of a value of which nothing is known but how many there are."""
    spec = graph.specs[value]
    count = size(spec.shape)
    if count is None or count > _MOST:
        return None
    found = np.empty(count, object)
    for k in range(count):
        found[k] = Dim("element", graph, value, k)
    return found.reshape(spec.shape)


def _kernel(node: Any, *given: np.ndarray) -> Any:
    return node.op.kernel(*given, **node.attrs)


def _each(function: Any) -> Any:
    return lambda node, *given: np.frompyfunc(function, len(given), 1)(*given)


def _product(node: Any, x: np.ndarray) -> Any:
    axis = node.attrs.get("axis")
    return np.multiply.reduce(x, axis if axis is None else tuple(np.atleast_1d(axis)))


def _number(graph: Any, node: Any) -> np.ndarray:
    found = np.empty((), object)
    found[()] = node.attrs["value"]
    return found


# What is known of one part stays known beside others of which nothing is.
_JOINS = ("stack", "concat")
_SOURCES = {"shape": _shape, "size": _size, "number": _number}
_RULES: dict[str, Any] = {
    "cast": lambda node, x: x,
    "identity": lambda node, x: x,
    "reduce_prod": _product,
    "maximum": _each(dims.larger),
    "minimum": _each(dims.smaller),
    "floordiv": _each(lambda a, b: a // b),
    "floormod": _each(lambda a, b: a % b),
    **dict.fromkeys(
        (
            "add", "subtract", "multiply", "negative", "stack", "concat", "reshape",
            "expand_dims", "squeeze", "strided_slice", "gather", "broadcast_to",
            "unstack", "reverse", "transpose",
        ),
        _kernel,
    ),
}  # fmt: skip
