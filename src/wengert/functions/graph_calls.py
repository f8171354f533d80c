"""Calls of finished graphs: recorded as one entry on the tapes that follow them.

A followed call runs the forward graph and keeps what the backward graph reads. When somebody
follows the backward call too, it is the joint graph, a graph like any other: order n is the same
rule again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from wengert.core import late_operations as late
from wengert.core.context import get_state
from wengert.core.dtypes import INEXACT
from wengert.core.op import Joint
from wengert.core.types import (
    IndexedSlices,
    Listener,
    Op,
    RawSite,
    ShapeDtype,
    Tensor,
    Value,
    Variable,
)
from wengert.functions.graph_replay import replay
from wengert.functions.vjp import Vjp, vjp
from wengert.graph.builder import Builder, building
from wengert.graph.ir import Graph
from wengert.tape import gradient_values

Run: TypeAlias = "Callable[[Graph, list[Tensor]], list[Tensor]]"


def followers(values: list[Any]) -> list[Listener]:
    """The listeners here that follow any of these values."""
    state = get_state()
    if state is None or not state.listeners:
        return []
    return [x for x in state.listeners if x.follows(values)]


def followed(values: list[Any]) -> bool:
    """Whether somebody follows any of these values, here or outside the graph being built."""
    here = building()
    outside = () if here is None else here.watching
    return bool(followers(values)) or any(one.follows(values) for one in outside)


def wanted_inputs(listeners: list[Listener], inputs: list[Any]) -> tuple[bool, ...]:
    """Which inputs need a gradient."""
    return tuple(
        [x.dtype.np.num in INEXACT and any(one.follows((x,)) for one in listeners) for x in inputs]
    )


def call(graph: Graph, inputs: list[Any], run: Run, site: RawSite | None) -> list[Tensor]:
    """Runs a graph on tensors and variables; the tensors of all its outputs.

    `run` takes a graph and tensors and gives tensors, on an engine or as a node of another graph.
    """
    listeners = followers(inputs)
    if not listeners:
        return run(graph, inputs)
    wanted = wanted_inputs(listeners, inputs)
    if not any(wanted):
        return run(graph, inputs)
    rule = vjp(graph, wanted, sparse=True)
    if not rule.active:
        return run(graph, inputs)
    plain = [x._snapshot() for x in inputs]
    result = run(rule.forward, plain)
    count = len(graph.all_outputs())
    outs, extra = result[:count], result[count:]
    record(graph, rule, inputs, plain, outs, extra, listeners, run, site)
    return outs


def record(
    graph: Graph,
    rule: Vjp,
    inputs: list[Value],
    plain: list[Tensor],
    outs: list[Tensor],
    extra: list[Tensor],
    listeners: list[Listener],
    run: Run,
    site: RawSite | None,
) -> None:
    """Tells the tapes of a call: its active outputs, and how to pull gradients through it."""
    kept = [plain[k] if is_input else extra[k] for is_input, k in rule.kept]
    shown = tuple([outs[k] for k in rule.active])
    recorded = [extra[k] for k in rule.recorded]

    def gradients(g: Any) -> list[Tensor | IndexedSlices | None]:
        seeds, now = all_seeds(g), read_now(rule.variables)
        if followed([*plain, *now, *seeds]):
            result = call(rule.joint, [*plain, *recorded, *now, *seeds], _here(run), site)
        else:
            now = [x._snapshot() for x in now]
            result = _here(run)(rule.backward, [*kept, *now, *seeds])
        return rule.answer(result, plain)

    tell(listeners, graph.name, inputs, shown, gradients, site=site)


def read_now(variables: tuple[Any, ...]) -> list[Any]:
    """What the rules of users read besides, as it is when the gradient is asked for."""
    here = building()
    return list(variables) if here is None else [snapshot(here, v) for v in variables]


def snapshot(here: Builder, variable: Variable) -> Tensor:
    """The present value of a variable, under its id, seen by the tapes that watch variables."""
    state = get_state()
    for one in state.listeners if state is not None else ():
        one.follows((variable,))
    return here.snapshot(variable)


def _here(run: Run) -> Run:
    """How to run a graph when the gradient is asked for: inside a trace it is inlined."""
    return inline if building() is not None else run


def inline(graph: Graph, inputs: list[Any]) -> list[Tensor]:
    """The outputs of a graph without variables, its nodes added to the one being built."""
    return replay(graph, inputs)


def all_seeds(g: Tensor | tuple[Tensor | None, ...]) -> list[Any]:
    """The gradients of the results of a call as a list of tensors."""
    given = g if isinstance(g, tuple) else (g,)
    return [None if x is None else gradient_values.dense(x) for x in given]


def tell(
    listeners: list[Listener],
    name: str,
    inputs: list[Any],
    shown: tuple[Tensor, ...],
    gradients: Callable[..., Any],
    *,
    partial: bool = False,
    site: RawSite | None = None,
) -> None:
    """Tells tapes of results that were not made by an operation, and of their gradient.

    With `partial` the function of the gradient gets `None` for a result that no gradient reached,
    else zeros.
    """
    state: Any = get_state()
    op = Op(
        name,
        "*inputs",
        kernel=_never,
        infer=_never,
        lower=None,
        grad=Joint(gradients),
        outputs=1 if len(shown) == 1 else None,
        holomorphic=False,
        partial=partial,
        register=False,
    )
    for one in listeners:
        one.record(op, tuple(inputs), shown, {}, site or state.site)


def emit(
    op: Op, inputs: Sequence[Any], attrs: dict[str, Any], specs: list[ShapeDtype], site: Any = None
) -> list[Any]:
    """Appends a node to the graph being built; the tensors of its results."""
    here: Any = building()
    state = get_state()
    site = state.site if site is None and state is not None else site
    values = tuple([here.value_of(x) for x in inputs])
    return [here.tensor(v, site) for v in here.emit(op, values, attrs, specs, site)]


def at_places(places: Iterable[int], values: Iterable[Any], count: int) -> list[Any]:
    """So many gradients: those given at their places, `None` at the others."""
    table = dict(zip(places, values, strict=True))
    return [table.get(k) for k in range(count)]


def assign_all(variables: Sequence[Variable], news: Sequence[Tensor]) -> None:
    """Gives variables the new values that a node has for them."""
    for variable, new in zip(variables, news, strict=True):
        late.UPDATE.call(variable, "assign", new)


def _never(*args: Any, **attrs: Any) -> Any:
    raise AssertionError("a recorded call is never applied")
