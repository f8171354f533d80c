"""Traces shaped badly for a compiler: unrolled loops, large constants, functions that do little."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from wengert.core.sites import Site, locate
from wengert.explain import source
from wengert.explain.explanation import Explanation, reason
from wengert.explain.memory import size
from wengert.explain.places import known, place
from wengert.graph.passes import optimised

if TYPE_CHECKING:
    from wengert.functions.trace import Trace


_TURNS, _NODES, _SHARE = 50, 200, 0.5
_LARGE = 1 << 20
MANY = 1000  # calls
_FEW, _SMALL = 2, 1000  # operations, elements


def unrolled(trace: Trace) -> Iterator[Explanation]:
    """Python loops whose turns make up most of a trace."""
    nodes = trace.graph.nodes
    if len(nodes) < _NODES:
        return
    counts = Counter((id(n.site[0]), n.site[1]) for n in nodes if n.site is not None)
    places = {(id(n.site[0]), n.site[1]): n.site for n in nodes if n.site is not None}
    loops: dict[Any, list[int]] = {}
    headers: dict[Any, Site] = {}
    for key, count in counts.items():
        header = _loop(locate(places[key]))
        if header is not None:
            loops.setdefault((header.file, header.line), []).append(count)
            headers[header.file, header.line] = header
    for key, result in loops.items():
        turns, share = max(result), sum(result) / len(nodes)
        if turns >= _TURNS and share >= _SHARE:
            yield _unrolled(trace, headers[key], turns, share)


def _unrolled(trace: Trace, header: Site, turns: int, share: float) -> Explanation:
    return reason(
        "WG701",
        f"the loop ran {turns} times while `{trace.graph.name}` was traced, and its turns are "
        f"{share:.0%} of the graph's {len(trace.graph.nodes)} operations",
        *known(place(header, "unrolled"), place(trace.site, "traced by this call")),
        remedy=_ROLLED[_kind(header)],
        details={"function": trace.graph.name, "turns": turns, "share": share},
    )


_ROLLED = {
    "for": "Loop over tf.range, which makes one loop of the graph.",
    "while": "Make the condition a tensor, e.g. count with tf.constant(0): then it is one loop of the "
    "graph.",
    "": "Use tf.map_fn, or one operation on a tensor that holds all items.",
}


def _kind(header: Site) -> str:
    words = header.text[header.column or 0 :].split(None, 1)
    return words[0] if words and words[0] in ("for", "while") else ""


def _loop(site: Site | None) -> Site | None:
    """The header of the loop around a place, the innermost."""
    module = None if site is None else source.tree(site.file)
    best: Any = None
    for node in ast.walk(module) if module is not None else ():
        if isinstance(node, ast.For | ast.While) and site is not None:
            inside = node.body[0].lineno <= site.line <= (node.end_lineno or 0)
            if inside and (best is None or node.lineno > best.lineno):
                best = node
        elif isinstance(node, _COMPREHENSIONS) and site is not None and _spans(node, site):
            best = node
    if best is None or site is None:
        return None
    if isinstance(best, _COMPREHENSIONS):
        same = best.end_lineno == best.lineno
        end_column = best.end_col_offset if same else None
        return Site(site.file, best.lineno, "", best.col_offset, end_column)
    end = best.iter if isinstance(best, ast.For) else best.test
    return Site(site.file, best.lineno, "", best.col_offset, end.end_col_offset)


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def _spans(node: ast.expr, site: Site) -> bool:
    """Whether an expression holds a place."""
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return start <= (site.line, site.column or 0) < end


def baked_arrays(trace: Trace) -> Iterator[Explanation]:
    """Large arrays of the host that became constants of the graph."""
    graph = trace.graph
    for value, array in graph.constants.items():
        if array.nbytes < _LARGE:
            continue
        reader = next((n for n in graph.nodes if value in n.inputs), None)
        shape = ",".join(map(str, array.shape))
        yield reason(
            "WG304",
            f"an array of {size(array.nbytes)} ({array.dtype}[{shape}]) became a constant of "
            f"`{graph.name}`; every trace keeps a copy",
            *known(
                place(reader.site if reader else None, "used here"),
                place(trace.site, "traced by this call"),
            ),
            remedy="Pass it as an argument, or keep it in a tf.Variable.",
            details={"function": graph.name, "bytes": array.nbytes},
            certain=False,
        )


def too_small(trace: Trace) -> list[Explanation]:
    """A function that is called often and does less than a call costs."""
    graph = optimised(trace.graph)
    if len(graph.nodes) > _FEW or trace.writes:
        return []
    for node in graph.nodes:
        for value in (*node.inputs, *node.outputs):
            shape = graph.specs[value].shape if value in graph.specs else ()
            if shape is None or None in shape or _elements(shape) > _SMALL:
                return []
    count = len(graph.nodes)
    return [
        reason(
            "WG702",
            f"`{graph.name}` is called {MANY} times and more, and does {count} small "
            f"operation{'s' if count != 1 else ''}; the call costs more than the work",
            *known(place(trace.site, "called here")),
            remedy="Leave tf.function out here, or put it on the function around the loop.",
            details={"function": graph.name},
            certain=False,
        )
    ]


def _elements(shape: Any) -> int:
    total = 1
    for d in shape:
        total *= d
    return total
