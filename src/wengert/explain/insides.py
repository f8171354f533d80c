"""Looks inside traced functions: runs their graphs again, one node at a time, on the host's kernels."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from wengert.core import nest, random_replay, sites
from wengert.core.context import Setting, executing_eagerly, get_state, own_variable
from wengert.core.failures import failures
from wengert.core.observers import Observer
from wengert.core.types import RawSite, SymbolicTensor, Tensor, Value
from wengert.engines import call_execution, host
from wengert.explain.numerics import Numerics, finite
from wengert.functions.host_calls import PyCall
from wengert.graph.builder import building
from wengert.graph.ir import CacheKey, Draw, Graph, Node, all_graphs, inner_graphs
from wengert.ops.compare import IS_FINITE
from wengert.ops.nodes import RELOAD
from wengert.ops.row_list import Rows
from wengert.tape.gradient_tape import GradientTape

if TYPE_CHECKING:
    from wengert.explain.explanation import Explanation
    from wengert.explain.numerics import Bad
    from wengert.functions.trace import Trace
    from wengert.graph.builder import Builder


host.RUNNERS.requires(call_execution)

# Hears of a node with the arrays it reads and those it makes.
See = Callable[[Node, list[Any], list[Any]], None]
# What a node makes.
Made: TypeAlias = "np.ndarray | Rows"
_RETURNED = 1 << 26  # bytes of what Python returned to a run that are kept until its end
_RECENT = 8  # runs of functions under a tape that are remembered until the tape is asked


# What Python has returned to the runs that are under way, one inside the other.
_returned: ContextVar[tuple[Returned, ...]] = own_variable("wengert_returned", ())


def _returning() -> Setting[tuple[Returned, ...], Returned]:
    """Keeps what Python returns to the run in a block."""
    returned = Returned()
    return Setting(_returned, (*_returned.get(), returned), returned)


class _EffectError(Exception):
    """A node has an effect that must not happen a second time, and others need its results."""


class Returned:
    """What Python returned to the host calls of a run, in order, for a second run of the graph."""

    def __init__(self) -> None:
        self._calls: dict[Any, deque[list[Any]]] = {}
        self._left = _RETURNED

    def add(self, call: Any, results: list[Any]) -> None:
        """Keeps the results of one call, as long as all together are small enough."""
        self._left -= sum(x._array.nbytes for x in results)
        if self._left > 0:
            self._calls.setdefault(call, deque()).append([x._array for x in results])

    def again(self, node: Node, given: list[Made]) -> list[Any]:
        """The results of a node with an effect, which does not happen a second time."""
        if node.op is RELOAD:
            return given
        kept = self._calls.get(node.attrs.get("call"))
        if not kept:
            raise _EffectError
        token = [np.zeros((), np.int64)]  # of a tape that the second run does not ask
        return [*kept.popleft(), *token][: len(node.outputs)]


def walk(
    graph: Graph, arrays: Sequence[Made], see: See, returned: Returned | None = None
) -> list[Any] | None:
    """Runs a graph and tells `see` of each node, those of inner graphs too, before their holder.

    Python is not called: its results are those that it `returned` before. Ends early, without
    results, where they are missing, or at a node that fails: the run that is looked into has told
    its own error.
    """
    try:
        with np.errstate(all="ignore"):
            return _interpret(graph, arrays, see, returned or Returned())
    except failures():
        return None


def _array(x: Any) -> Made:
    """What a node makes as an array; rows of a list, some of which may be missing, stay rows."""
    return x if isinstance(x, Rows) else np.asarray(x)


def _interpret(graph: Graph, arrays: Iterable[Any], see: See, returned: Returned) -> list[Any]:
    env: dict[int, Any] = dict(graph.constants)
    env.update(zip(graph.all_inputs(), arrays, strict=True))
    for node in graph.nodes:
        given = [env[v] for v in node.inputs]
        if not node.op.effect:
            made = _run_node(graph, node, given, env, see, returned)
        elif node.outputs:
            made = returned.again(node, given)
        else:
            continue
        env.update(zip(node.outputs, made, strict=True))
        see(node, given, made)
    return [env[v] for v in graph.all_outputs()]


def _run_node(
    graph: Graph, node: Node, given: list[Made], env: dict[int, Made], see: See, returned: Returned
) -> list[Made]:
    """The arrays that one node makes."""
    attrs = node.attrs
    if node.open:
        leaves = node.reads()[len(node.inputs) :]
        attrs = host.resolver(node)(*[env[v] for v in leaves])
    runner = host.RUNNERS.get(node.op)
    if runner is not None:
        run = runner(graph, _seen_through(node, see, returned))
        return [_array(a) for a in (run(attrs, *given) if node.open else run(*given))]
    result = node.op.kernel(*given, **attrs)
    return [_array(a) for a in ((result,) if node.op.outputs == 1 else result)]


def _seen_through(node: Node, see: See, returned: Returned) -> Node:
    """A node like this one whose inner graphs run node by node."""

    def inside(attr: Any) -> Any:
        if isinstance(attr, tuple):
            return tuple(map(inside, attr))
        if not isinstance(attr, Graph):
            return attr
        copy = attr.copy()
        copy.cache[host.FUNCTION] = lambda *arrays: _interpret(attr, arrays, see, returned)
        return copy

    attrs = {name: inside(attr) for name, attr in node.attrs.items()}
    if "jit" in attrs:
        attrs["jit"] = False
    return Node(node.op, node.inputs, node.outputs, attrs, node.site)


class Ask(NamedTuple):
    """A gradient that was asked for while a graph was built, by the numbers of its values."""

    targets: tuple[int, ...]
    answers: tuple[int, ...]
    site: Any

    def moved(self, table: dict[int, Any]) -> Ask:
        """The same in a graph that values of this one were carried into."""
        targets = tuple(table[v] for v in self.targets if isinstance(table.get(v), int))
        answers = tuple(table[v] for v in self.answers if isinstance(table.get(v), int))
        return Ask(targets, answers, self.site)


ASKED: CacheKey[list[Ask]] = CacheKey("the gradients that were asked for in the trace")


def note_gradient(proceed: Any, tape: GradientTape, what: str, *given: Any) -> Any:
    """Asks a tape; if that happens while a graph is built, the graph remembers it."""
    site = sites.caller(0)
    answer = proceed(tape, what, *given)
    here = building()
    if here is not None:
        note = Ask(_numbers(given[0]), _numbers(answer), site)
        here.cache.setdefault(ASKED, []).append(note)
    return answer


def _numbers(values: Any) -> tuple[int, ...]:
    tensors = [getattr(x, "values", x) for x in nest.flatten(values)]
    return tuple(x._value for x in tensors if isinstance(x, SymbolicTensor))


def asked(graph: Graph) -> Iterator[Ask]:
    """The gradients that were asked for in a graph, in those inside it and those inlined in it."""
    for one in all_graphs(graph):
        yield from one.origin.cache.get(ASKED, [])
        for earlier, table in one.origins:
            yield from (ask.moved(table) for ask in earlier.cache.get(ASKED, []))


def backward_values(graph: Graph) -> set[int]:
    """The values of a graph that gradients asked for in it are made of, and their targets not."""
    if graph.name.endswith(("_backward", "_gradient")):
        return {v for node in graph.walk() for v in node.outputs}
    result: set[int] = set()
    for one in all_graphs(graph):
        for ask in asked(one):
            result |= _ancestors(one, ask.answers) - _ancestors(one, ask.targets)
    holders = [n for n in graph.walk() if result.intersection(n.outputs)]
    insides = (inner for holder in holders for inner in inner_graphs(holder))
    return result.union(v for inner in insides for node in inner.walk() for v in node.outputs)


def _ancestors(graph: Graph, values: tuple[int, ...]) -> set[int]:
    """These values and all that they are made of."""
    result = set(values)
    for node in reversed(graph.nodes):
        if not result.isdisjoint(node.outputs):
            result.update(node.reads())
    return result


class Inspection:
    """One more run of a graph, to see where the first number that is not finite is made."""

    def __init__(
        self, numerics: Numerics, graph: Graph, arrays: list[Any], returned: Returned
    ) -> None:
        self.numerics = numerics.apart()
        self._graph = graph
        self._backward = backward_values(graph)
        self._last: Any = None  # the last operation that went wrong
        walk(graph, [_array(a) for a in arrays], self._see, returned)

    def _see(self, node: Node, given: list[Any], made: list[Any]) -> None:
        numerics = self.numerics
        if host.RUNNERS.get(node.op) is None:
            backward = bool(node.outputs) and node.outputs[0] in self._backward
            bad = numerics.check(
                node.op, given, made, node.inputs, node.outputs, node.site, backward
            )
            self._last = bad or self._last
        for number, array in zip(node.outputs, made, strict=True):
            if not finite(array):
                inside = numerics.made_inside(array)
                bad = inside if node.op.effect else numerics.at(number) or inside
                bad = bad or self._last
                numerics.pass_on(number, array, bad)

    def pass_on(self, numbers: Iterable[Any], results: Iterable[Any]) -> None:
        """Lets what is made of the results of the run itself know where they come from."""
        for number, array in zip(numbers, results, strict=True):
            if not finite(array):
                self.numerics.pass_on(number, array, self.numerics.at(number) or self._last)

    def explain(self) -> Iterator[tuple[Bad, Explanation]]:
        """Why gradients in the graph, or what they are of, are not finite.

        Where the graph tests the gradients of half precision for that, their overflow is nothing to
        tell: a loss scale that was too large is found so, and the step left out.
        """
        tested = {v for n in self._graph.walk() if n.op is IS_FINITE for v in n.inputs}
        for ask in asked(self._graph):
            scaled = not tested.isdisjoint(ask.answers)
            values = [(v, "the target") for v in ask.targets]
            values += [(v, "a gradient") for v in ask.answers]
            for number, what in values:
                bad = self.numerics.at(number)
                answer = self.numerics.explain_value(number, what, ask.site)
                if bad is None or answer is None or (scaled and bad.origin.overflows_backward):
                    continue
                yield bad.origin, answer
                break


class Inspector(Observer):
    """Looks into graphs that have run, forward and backward, if their results are not finite.

    `numerics` says what is known of numbers here, `None` where nobody wants to know.
    """

    def __init__(self, numerics: Callable[[], Numerics | None]) -> None:
        self.numerics = numerics
        self._recent: deque[tuple[Graph, list[Any], Returned]] = deque(maxlen=_RECENT)
        self._runs: WeakKeyDictionary[Trace, Counter[bool]] = WeakKeyDictionary()

    def inspected(self, inspection: Inspection) -> None:
        """Hears of a run that gave results, or variables values, that are not finite."""

    def python(self, proceed: Any, caller: Any, function: Any, given: Any) -> Any:
        result = proceed(caller, function, given)
        for returned in _returned.get() if isinstance(caller, PyCall) else ():
            returned.add(caller, result)
        return result

    def run(self, proceed: Any, trace: Trace, leaves: list[Tensor], site: RawSite) -> Tensor:
        numerics = self.numerics() if executing_eagerly() else None
        if numerics is None:
            return proceed(trace, leaves, site)
        before = [*[x._array for x in leaves], *[v._array for v in trace.reads]]
        taken = [x for x in trace.sources if isinstance(x, Value)]
        for x in (*leaves, *taken, *trace.reads):
            numerics.meet(x, trace.graph.name)
        with random_replay.recording() as keys, _returning() as returned:
            result = proceed(trace, leaves, site)
        arrays = [*before[: len(leaves)], *_outside(trace, keys), *before[len(leaves) :]]
        pairs = zip(
            nest.flatten(trace.pack(trace.graph.outputs)), nest.flatten(result), strict=True
        )
        after = {v: y._array for v, y in pairs if isinstance(y, Value)}
        after |= {h.current: h.variable._array for h in trace.graph.written()}
        if _is_under_tape():
            self._recent.append((trace.graph, arrays, returned))
        if self._is_due(trace, all(map(finite, after.values()))):
            inspection = Inspection(numerics, trace.graph, arrays, returned)
            inspection.pass_on(after.keys(), after.values())
            for held in trace.graph.written():
                numerics.meet(held.variable, trace.graph.name)
            self.inspected(inspection)
        return result

    def _is_due(self, trace: Trace, is_finite: bool) -> bool:
        """Whether a run is looked into: the first that are not finite, then every eighth of these.

        Of those that give finite numbers the 1st, 2nd, 4th, 8th, …, since a gradient that was asked
        for inside, or its target, need not come out.
        """
        runs = self._runs.setdefault(trace, Counter())
        runs[is_finite] += 1
        count = runs[is_finite]
        if is_finite:
            return count & (count - 1) == 0 and any(asked(trace.graph))
        return count <= _RECENT or count % _RECENT == 0

    def execute(self, proceed: Any, graph: Builder, arrays: list[Made], jit: Any) -> list[Made]:
        with _returning() as returned:
            results = proceed(graph, arrays, jit)
        numerics = self.numerics()
        if numerics is not None:
            # What a compiled program returns is no NumPy array yet; it is made one here, once.
            results = [_array(r) for r in results]
            if not all(map(finite, results)):
                while self._recent:  # what the tape saw: it tells where derivatives are infinite
                    Inspection(numerics, *self._recent.popleft())
                inspection = Inspection(numerics, graph, arrays, returned)
                inspection.pass_on(graph.all_outputs(), results)
        return results


def _outside(trace: Trace, keys: list[Any]) -> list[Any]:
    """What a trace took from outside besides arguments and variables, with the keys it drew."""
    drawn = keys[: sum(isinstance(s, Draw) for s in trace.sources)]
    with random_replay.replaying(drawn):
        return [x._array for x in trace._given()]


def _is_under_tape() -> bool:
    state = get_state()
    return state is not None and any(isinstance(x, GradientTape) for x in state.listeners)
