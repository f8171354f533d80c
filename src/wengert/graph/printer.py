"""Prints a graph so that it reads like code, each line with the user's own beside it."""

from __future__ import annotations

import os
from typing import Any

from wengert.core.errors import describe
from wengert.core.sites import locate
from wengert.core.types import Dim, DType, Tensor, Variable
from wengert.graph.ir import Draw, Graph, Node, Outer, inner_graphs

_WIDTH = 72


def show(graph: Graph, indent: str = "") -> str:
    """The whole graph as text."""
    names = _names(graph)
    given = [f"{names[v]}: {describe(graph.specs[v])}" for v in graph.inputs]
    lines = [f"{indent}{graph.name}({', '.join(given)}):"]
    inner = indent + "    "
    for source, value in graph.captures.values():
        lines.append(f"{inner}{names[value]}: {describe(graph.specs[value])} = {_source(source)}")
    for held in graph.read_variables():
        value: Any = held.initial
        lines.append(
            f"{inner}{names[value]}: {describe(graph.specs[value])} = variable {held.variable.name}"
        )
    for node in graph.nodes:
        lines.extend(_line(graph, node, names, inner))
    lines += [
        f"{inner}variable {held.variable.name} = {_name(graph, held.current, names)}"
        for held in graph.written()
    ]
    results = ", ".join(_name(graph, v, names) for v in graph.outputs)
    lines.append(f"{inner}return {results}")
    return "\n".join(lines)


def _names(graph: Graph) -> dict[int, str]:
    names: dict[int, str] = {}
    taken: set[str] = set()
    count = 0
    for value in graph.all_inputs():
        label = graph.labels.get(value)
        if not label or label in taken:
            label, count = f"v{count}", count + 1
        taken.add(label)
        names[value] = label
    for node in graph.nodes:
        for value in node.outputs:
            names[value] = f"v{count}"
            count += 1
    return names


def _source(source: Tensor | Draw) -> str:
    if isinstance(source, Draw):
        return "a random state"
    return "from outside" if isinstance(source, Outer) else "a tensor from outside"


def _name(graph: Graph, value: Any, names: dict[int, str]) -> str:
    array = graph.constants.get(value)
    if array is None:
        return names.get(value, f"v{value}")
    if array.size == 1 and array.dtype.kind != "V":
        return str(array.reshape(()).item())
    return f"constant {describe(array)}"


def _line(graph: Graph, node: Node, names: dict[int, str], indent: str) -> list[str]:
    outs = ", ".join(f"{names[v]}: {describe(graph.specs[v])}" for v in node.outputs)
    given = [_name(graph, v, names) for v in node.inputs]
    given += [f"{k}={_attr(a, names)}" for k, a in node.attrs.items() if _is_shown(a)]
    text = f"{indent}{outs}{' = ' if outs else ''}{node.op.name}({', '.join(given)})"
    site = locate(node.site)
    if site is not None:
        text = f"{text:<{_WIDTH}}  # {os.path.basename(site.file)}:{site.line}"
    return [text, *[show(inner, indent + "    ") for inner in inner_graphs(node)]]


def _is_shown(attr: Any) -> bool:
    """Graphs are shown below their node; what has no text of its own says nothing."""
    if isinstance(attr, Graph) or (type(attr) is tuple and attr and isinstance(attr[0], Graph)):
        return False
    return attr is not None and (callable(attr) or type(attr).__repr__ is not object.__repr__)


def _attr(attr: Any, names: dict[int, str]) -> str:
    if type(attr) is tuple:
        return f"({', '.join(_attr(a, names) for a in attr)}{',' if len(attr) == 1 else ''})"
    if isinstance(attr, Dim):
        if attr.is_leaf:
            _, value, place = attr.args
            name = names.get(value, f"v{value}")
            return f"{name}.shape[{place}]" if attr.kind == "size" else f"{name}[{place}]"
        args = [_attr(x, names) for x in attr.args]
        if attr.kind in ("+", "-", "*", "//", "%"):
            return f" {attr.kind} ".join(args)
        return f"{attr.kind.rpartition('.')[2]}({', '.join(args)})"
    if isinstance(attr, DType | Variable):
        return attr.name
    return attr.__name__ if callable(attr) and hasattr(attr, "__name__") else repr(attr)
