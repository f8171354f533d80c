"""Meshes: replicas on devices of their own, each with its part of the batch.

A graph whose replicas have accelerators is one program for all of these (`jax.shard_map`). Replicas
on logical CPUs share a device, unless `use_devices` asks for one each, which tests do. What all
devices have alike is handed out as the first one's copy, and found again for the next step.
"""

from __future__ import annotations

import functools
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.context import own_variable
from wengert.core.lazy_modules import jax, module
from wengert.core.types import JaxArray
from wengert.engines import devices
from wengert.graph.ir import Graph, Node, cached_on_graph
from wengert.graph.passes import optimised
from wengert.ops.collectives import AXIS
from wengert.ops.nodes import REPLICATED

if TYPE_CHECKING:
    from jax.sharding import Mesh, NamedSharding

_forced = own_variable("wengert_forced_mesh", False)


def use_devices(forced: bool) -> None:
    """Gives replicas on logical CPUs a CPU device of JAX each, where it has as many, or not."""
    _forced.set(forced)


@cached_on_graph("its replicated nodes")
def _replicated(graph: Graph) -> tuple[Node, ...]:
    return tuple([n for n in optimised(graph).walk() if n.op is REPLICATED])


def mesh_of(graph: Graph) -> Mesh | None:
    """The mesh of the devices of a graph's replicas; `None` where they share one."""
    nodes = _replicated(graph)
    places = nodes[0].attrs["places"] if nodes else None
    return None if places is None else _mesh(tuple(places), _forced.get())


@functools.lru_cache(maxsize=64)
def _mesh(places: tuple[str, ...], forced: bool) -> Mesh | None:
    known = devices.accelerators()
    names = [p.rpartition("device:")[2] for p in places]
    found = [known[n] for n in names if n in known]
    if len(found) < len(names) and forced:
        found = module("jax").local_devices(backend="cpu")[: len(names)]
    if len(found) < len(names) or len(names) < 2:
        return None
    return module("jax").sharding.Mesh(np.array(found), (AXIS,))


def shardings(graph: Graph, mesh: Mesh) -> tuple[list[NamedSharding], list[NamedSharding | None]]:
    """Where inputs and outputs are: rows of replicas each on its device, all else on every one."""
    spec, whole = jax.sharding.PartitionSpec, jax.sharding.NamedSharding
    apart, alike = whole(mesh, spec(AXIS)), whole(mesh, spec())
    graph = optimised(graph)
    uses: dict[int, set[Any]] = {}
    for node in graph.nodes:
        axes = node.attrs["axes"] if node.op is REPLICATED else (None,) * len(node.inputs)
        for value, axis in zip(node.inputs, axes, strict=True):
            uses.setdefault(value, set()).add(axis)
    ends = {v for n in graph.nodes if n.op is REPLICATED
            for v, e in zip(n.outputs, n.attrs["ends"], strict=True) if e == 0}  # fmt: skip
    given = [apart if uses.get(v) == {0} else alike for v in graph.all_inputs()]
    places = dict(zip(graph.all_inputs(), given, strict=True))
    made: list[NamedSharding | None] = [apart if v in ends else None for v in graph.outputs]
    made.extend(alike if h.initial is None else places[h.initial] for h in graph.written())
    return given, made


# Arrays of the first device, by their number, with what they are a part of.
_wholes: dict[int, tuple[weakref.ref[Any], Any]] = {}


def spread(arrays: tuple[Any, ...], places: list[NamedSharding]) -> list[Any]:
    """Arrays where a program for a mesh wants them; those in NumPy's memory it brings itself."""
    results = list(arrays)
    for k, place in enumerate(places):
        x = results[k]
        if isinstance(x, np.ndarray) or not hasattr(x, "sharding"):
            continue
        known = _wholes.get(id(x))
        if known is not None and known[0]() is x:
            x = known[1]
        results[k] = x if x.sharding == place else jax.device_put(x, place)
    return results


def first_copies(results: tuple[JaxArray, ...]) -> tuple[JaxArray, ...]:
    """Results as other programs take them: of what all devices have alike, one copy."""
    return tuple([_first(x) if len(x.devices()) > 1 else x for x in results])


def _first(whole: Any) -> Any:
    if not whole.is_fully_replicated:
        return whole
    copy = whole.addressable_data(0)
    number = id(copy)
    _wholes[number] = (weakref.ref(copy, lambda _, forget=_wholes.pop: forget(number, None)), whole)
    return copy
