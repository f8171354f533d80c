"""Nodes that hold graphs: calls, branches, loops, replicas. How they are run is the engines' business.

`loop` is the one loop: it carries a state, reads invariants, reads a row of each input stack and
writes a row of each output stack per turn, by a condition or a given number of turns, forwards or
backwards. `while_loop`, `scan` and `map_fn` are loops, and so is the gradient of a loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from wengert.core.op import Op
from wengert.graph.ir import Graph, Node
from wengert.graph.verify import ENDS


def _no_rule(*args: Any, **attrs: Any) -> Any:
    raise AssertionError("a node that holds graphs is run by an engine")


def _shapes(*args: Any, **attrs: Any) -> tuple[()]:
    """Objects to nothing: what such a node gives is known from its graphs."""
    return ()


def _node(
    name: str, effect: bool = False, calls_python: bool = False, takes_padded: bool = False
) -> Op:
    return Op(
        name,
        "*inputs",
        kernel=_no_rule,
        infer=_shapes,
        lower=None,
        grad=None,
        outputs=None,
        effect=effect,
        takes_padded=takes_padded,
        calls_python=calls_python,
        register=False,
    )


def _switch_ends(node: Node) -> Iterator[tuple[Graph, int, int]]:
    common = len(node.outputs) - sum(node.attrs["own"])
    for branch, own in zip(node.attrs["branches"], node.attrs["own"], strict=True):
        yield branch, len(node.inputs) - 1, common + own


# call(inputs...; graph, jit): runs a graph; `jit` demands the compiled engine.
CALL = _node("call", takes_padded=True)

# switch(index, inputs...; branches): runs one of several graphs; the last one for a bad index.
SWITCH = _node("switch", takes_padded=True)

# loop(count, turn, state..., invariants..., stacks...; test, body, states, invariants, rows,
#      reverse, bound): see above. `count` is -1 where only the test decides. The test and the body
# take (turn, state..., invariants...) and the body also one row of each stack; it gives the new
# state, then `rows` rows. Results: the number of turns, the last state, the stacks.
LOOP = _node("loop", takes_padded=True)

# batched(inputs...; graph, axes): runs a graph for each row of the inputs whose axis is 0.
BATCHED = _node("batched", takes_padded=True)

# replicated(inputs...; graph, axes, ends, replicas, places): runs a graph in each of so many
# replicas, on the devices named `places` where these are not shared. Inputs
# whose axis is 0 have a row for each, others are the same for all; so are results whose end is
# `None`, while of others (0) there is a row from each.
REPLICATED = _node("replicated", takes_padded=True)

# host_call(inputs...; function, specs, name): calls Python with arrays, in program order.
HOST_CALL = _node("host_call", effect=True, calls_python=True)

# flush(values...; variables): gives variables their values so far, before Python looks at them.
FLUSH = _node("flush", effect=True, calls_python=True)

# reload(value; variable): the value of a variable after Python may have changed it; `value` is
# the one before, which stands for it where the graph is computed once more.
RELOAD = _node("reload", effect=True, calls_python=True)


def _call_ends(node: Node) -> list[tuple[Graph, int, int]]:
    return [(node.attrs["graph"], len(node.inputs), len(node.outputs))]


def joins(graph: Graph) -> Node | None:
    """The first node in which the replicas that run a graph meet, if there is one."""
    return next((n for n in graph.walk() if n.op.replicas == "joined"), None)


def _loop_ends(node: Node) -> list[tuple[Graph, int, int]]:
    return [(node.attrs["body"], len(node.inputs) - 1, len(node.outputs) - 1)]


ENDS.fill(
    __name__,
    {
        BATCHED: _call_ends,
        CALL: _call_ends,
        LOOP: _loop_ends,
        REPLICATED: _call_ends,
        SWITCH: _switch_ends,
    },
)
