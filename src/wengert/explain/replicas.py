"""Programs for several replicas under the doctor: what is legal, and hardly ever meant.

Batches that the replicas cannot share equally, batches that each of them computes whole, and
losses that are a mean of one replica's rows where the mean of all rows is wanted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

import numpy as np

from wengert.core import nest
from wengert.core.observers import Observer
from wengert.core.types import RawSite, SymbolicTensor, Value
from wengert.data import dataset_arguments
from wengert.distribute.splitting import Split
from wengert.distribute.values import PerReplica
from wengert.explain.explanation import Explanation, reason
from wengert.explain.findings import Findings
from wengert.explain.places import known, place
from wengert.graph.builder import building
from wengert.ops.arithmetic import ADD, ADD_N, DIVIDE, MULTIPLY
from wengert.ops.cast import CAST
from wengert.ops.collectives import ALL_REDUCE
from wengert.ops.nodes import HOST_CALL, REPLICATED
from wengert.ops.reduce import REDUCE_MEAN
from wengert.ops.select import CLIP

if TYPE_CHECKING:
    from wengert.data.plan import Plan
    from wengert.graph.ir import Graph, Node

_MOST = 1000  # tensors of datasets that are remembered


class Replicas(Observer):
    """Follows batches into `strategy.run`, and losses from their gradients to the sum of these."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._whole: OrderedDict[int, Plan] = OrderedDict()  # tensors that datasets gave whole
        self._seen: WeakSet[Plan] = WeakSet()
        self._asked: list[tuple[Graph, int, set[int]]] = []  # gradients in replicas
        # Graphs' calls for the next batch: the result that goes to all replicas, how many, where.
        self._shared: WeakKeyDictionary[Any, tuple[int, int, RawSite | None]] = WeakKeyDictionary()

    # Batches.

    def element(self, proceed: Any, plan: Plan, arguments: Any) -> Any:
        element = proceed(plan, arguments)
        for leaf in nest.flatten(element):
            if isinstance(leaf, PerReplica):
                self._parts(leaf, plan)
            elif isinstance(leaf, Value) and leaf._array.ndim:
                self._whole[leaf._id] = plan
        while len(self._whole) > _MOST:
            self._whole.popitem(last=False)
        return element

    def _parts(self, value: PerReplica, plan: Plan) -> None:
        """Looks at the first batch of a distributed dataset."""
        split = _split(plan)
        if split is None or split in self._seen:
            return
        self._seen.add(split)
        sizes = [len(v._array) for v in value.values if isinstance(v, Value)]
        if len(set(sizes)) > 1:
            self._findings.add([_uneven(split, sizes)])

    def replicate(
        self, proceed: Any, strategy: Any, fn: Any, args: Any, kwargs: Any, site: RawSite
    ) -> Any:
        replicas = strategy.num_replicas_in_sync
        self._look(nest.flatten((args, kwargs)), replicas, site)
        before, self._asked = self._asked, []
        try:
            return proceed(strategy, fn, args, kwargs, site)
        finally:
            for graph, target, found in self._asked:
                self._findings.add(_summed(graph, target, found, replicas))
            self._asked = before

    def run(self, proceed: Any, trace: Any, leaves: Any, site: RawSite) -> Any:
        if self._whole or building() is not None:
            for node in trace.graph.nodes:
                if node.op is REPLICATED:
                    given = {v for v, a in zip(node.inputs, node.attrs["axes"], strict=True)
                             if a is None}  # fmt: skip
                    shared = [x for x, v in zip(leaves, trace.graph.inputs, strict=False)
                              if v in given]  # fmt: skip
                    self._look(shared, node.attrs["replicas"], site)
        return proceed(trace, leaves, site)

    def _look(self, values: list[Any], replicas: int, site: RawSite | None) -> None:
        """Whether a batch that a dataset gave goes to all replicas whole, or will in a graph."""
        for x in values if replicas > 1 else ():
            if (asked := _asked_for(x)) is not None:
                self._shared[asked[0]] = asked[1], replicas, site
                return
            plan = self._whole.get(x._id) if isinstance(x, Value) else None
            if plan is not None:
                self._findings.add([_not_distributed(x, plan, replicas, site)])
                return

    def python(self, proceed: Any, caller: Any, function: Any, given: Any) -> Any:
        if caller not in self._shared:
            return proceed(caller, function, given)
        iterator: Any = dataset_arguments.resolve(given[0])
        results = proceed(caller, function, given)
        number, replicas, site = self._shared[caller]
        if results[number].shape.rank:
            self._findings.add([_not_distributed(results[number], iterator._plan, replicas, site)])
        return results

    # Losses.

    def gradient(self, proceed: Any, tape: Any, what: str, *given: Any) -> Any:
        answer = proceed(tape, what, *given)
        graph, target = building(), given[0]
        if graph is not None and isinstance(target, Value):
            found = [g for g in nest.flatten(answer) if isinstance(g, Value)]
            ids = {graph.value_of(g) for g in found}
            self._asked.append((graph, graph.value_of(target), ids))
        return answer


def _split(plan: Plan) -> Split | None:
    """The step of a dataset that splits its batches among replicas."""
    while not isinstance(plan, Split):
        if not plan.inputs:
            return None
        plan = plan.inputs[0]
    return plan


def _asked_for(x: Any) -> tuple[Any, int] | None:
    """The call of a graph for the next batch that a tensor is of, and which of its results."""
    if not isinstance(x, SymbolicTensor) or x.shape.rank == 0:
        return None
    node = next((n for n in reversed(x._graph.nodes) if x._value in n.outputs), None)
    if node is None or node.op is not HOST_CALL or node.attrs["name"] != "get_next":
        return None
    return node.attrs["call"], node.outputs.index(x._value)


def _uneven(split: Split, sizes: list[int]) -> Explanation:
    count = len(sizes)
    parts = ", ".join(map(str, sizes[:8])) + (", …" if count > 8 else "")
    return reason(
        "WG903",
        f"a batch of {sum(sizes)} rows does not divide among {count} replicas, which get {parts}; "
        f"such steps run replica by replica",
        *known(place(split.site, "split here")),
        remedy=f"Choose a batch that is a multiple of {count}, for all replicas together.",
        details={"rows": sum(sizes), "replicas": count},
    )


def _not_distributed(x: Value, plan: Plan, replicas: int, site: RawSite | None) -> Explanation:
    rows = x._array.shape[0]
    return reason(
        "WG904",
        f"all {replicas} replicas get the same batch of {rows} rows, so they do the same work "
        f"{replicas} times, and sums over them count each row {replicas} times",
        *known(place(site, "given to all replicas here"), place(plan.site, "the dataset")),
        remedy="Iterate over strategy.experimental_distribute_dataset(dataset), which splits each "
        "batch.",
        details={"rows": rows, "replicas": replicas},
        certain=False,
    )


def _summed(graph: Graph, target: int, found: set[int], replicas: int) -> Iterator[Explanation]:
    """A sum over replicas of gradients of a mean over the rows of one."""
    makers = {v: node for node in graph.nodes for v in node.outputs}
    mean = _mean(graph, makers, target, replicas)
    if mean is None:
        return
    reached = set(found)
    for node in graph.nodes:
        if _passes_on(node) and node.inputs[0] in reached:
            reached.update(node.outputs)
        elif _is_sum(node) and node.inputs[0] in reached:
            yield _of_means(mean, node, replicas)
            return


def _is_sum(node: Node) -> bool:
    return node.op is ALL_REDUCE and node.attrs["kind"] == "sum"


def _passes_on(node: Node) -> bool:
    """Whether a node keeps the numbers of its first input, or nearly."""
    return bool(node.inputs) and (node.op.moves or node.op in (CAST, CLIP))


def _mean(graph: Graph, makers: dict[int, Node], value: int, replicas: int) -> Node | None:
    """The mean over rows that a loss is, if nothing divides it by the number of replicas."""
    node = makers.get(value)
    if node is None or graph.specs[value].shape not in ((), (1,)):
        return None
    if node.op is REDUCE_MEAN:
        return node
    if _passes_on(node):
        return _mean(graph, makers, node.inputs[0], replicas)
    if node.op in (MULTIPLY, DIVIDE):
        numbers = [graph.constants[v] for v in node.inputs if v in graph.constants]
        if any(np.size(n) == 1 and _scales(float(n), replicas) for n in numbers):
            return None
    if node.op in (ADD, ADD_N, MULTIPLY, DIVIDE):
        found = (_mean(graph, makers, v, replicas) for v in node.inputs)
        return next((n for n in found if n is not None), None)
    return None


def _scales(number: float, replicas: int) -> bool:
    return bool(np.isclose(number, replicas) or np.isclose(number * replicas, 1.0))


def _of_means(mean: Node, node: Node, replicas: int) -> Explanation:
    return reason(
        "WG905",
        f"the loss is the mean of the rows of one replica, and its gradients are summed over "
        f"{replicas} replicas: they are {replicas} times those of the mean of all rows",
        *known(place(mean.site, "a mean of one replica's rows"), place(node.site, "summed here")),
        remedy="Use tf.nn.compute_average_loss(losses, global_batch_size=n), or reduce the "
        'gradients with "MEAN".',
        details={"replicas": replicas},
        certain=False,
    )
