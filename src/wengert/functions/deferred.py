"""Operations on tensors of unknown rank: what needs the rank is put off until the graph runs.

What a host call returns, or an argument declared with shape `None`, has a rank only then. A public
function with a fallback (`core.fallbacks`) that fails for want of it becomes a node, `later`, which
calls the function itself on the values; so does a gradient rule. The dtypes of the results, and
their shapes where they do not depend on the rank, are found by trying it on tensors of a few ranks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert.core import dtypes, nest, shapes
from wengert.core import late_operations as late
from wengert.core.apply import apply, wrap
from wengert.core.context import State, restoring, using
from wengert.core.failures import failures
from wengert.core.fallbacks import PUT_OFF
from wengert.core.op import Joint
from wengert.core.symbolic import as_number
from wengert.core.types import Dim, Op, ShapeDtype, SymbolicTensor, Unranked, Value, Variable
from wengert.engines.lower import LOWERINGS, lower_graph
from wengert.functions.graph_calls import at_places, snapshot
from wengert.functions.graph_replay import REPLAYS
from wengert.functions.subgraphs import make_graph
from wengert.graph.builder import Builder, building
from wengert.graph.ir import Graph
from wengert.ops.shaping import identity
from wengert.tape import gradient_values, reference
from wengert.tape.gradient_tape import GradientTape

_RANKS = (2, 1, 3, 4, 0, 5)


class Later:
    """A function to be called when the graph runs, and the places of the values it takes.

    `kinds` tells for each leaf of the arguments what it becomes: "tensor", "shape" (of that
    tensor), "number", or "as it is".
    """

    def __init__(self, function: Callable[..., Any], arguments: Any) -> None:
        self.function = function
        self.arguments = nest.map_structure(_opened, arguments)
        self.leaves = nest.flatten(self.arguments)
        self.kinds = [_kind(x) for x in self.leaves]
        self.result: Any = None
        self.specs: list[ShapeDtype] = []

    def inputs(self) -> list[Any]:
        """The tensors that stand for the leaves that have no value yet, or are followed."""
        here: Any = building()
        return [_tensor(here, x, k) for x, k in zip(self.leaves, self.kinds, strict=True) if k]

    def call(self, tensors: list[Any]) -> Any:
        """The function on other tensors in their places."""
        given = iter(tensors)
        leaves = [
            _placed(next(given), k) if k else x
            for x, k in zip(self.leaves, self.kinds, strict=True)
        ]
        args, kwargs = _closed(nest.pack_sequence_as(self.arguments, leaves))
        return self.function(*args, **kwargs)

    @restoring
    def run(self, *arrays: Any) -> list[Any]:
        """The results for arrays, as arrays."""
        with using(State()):
            return [x._array for x in _flat(self.call([wrap(np.asarray(a)) for a in arrays]))]

    def tell(self, result: Any, specs: list[ShapeDtype]) -> Later:
        """Fixes what the results look like."""
        self.result, self.specs = result, specs
        return self


class _Slice(NamedTuple):
    """A slice, whose bounds may be tensors."""

    start: Any
    stop: Any
    step: Any


def _opened(x: Any) -> Any:
    return _Slice(x.start, x.stop, x.step) if isinstance(x, slice) else x


def _closed(x: Any) -> Any:
    if type(x) is _Slice:
        return slice(*x)
    if type(x) in (tuple, list):
        return type(x)(map(_closed, x))
    return {k: _closed(v) for k, v in x.items()} if type(x) is dict else x


def _kind(x: Any) -> str:
    if isinstance(x, Value):
        return "tensor"
    return "shape" if type(x) is Unranked else "number" if type(x) is Dim else ""


def _tensor(here: Builder, x: Any, kind: str) -> Any:
    if kind == "shape":
        return x.tensor
    if kind == "number":
        return late.NUMBER.call(x, None)
    return snapshot(here, x) if isinstance(x, Variable) else here.own(x)


def _placed(x: Any, kind: str) -> Any:
    if kind == "number":
        return as_number(x) if isinstance(x, SymbolicTensor) else int(x._array)
    return x._array.shape if kind == "shape" else x


def _flat(result: Any) -> list[Any]:
    return [gradient_values.dense(x) for x in nest.flatten(result)]


def _pull(g: Any, inputs: Any, needs: Any, call: Later) -> list[Any]:
    """The gradient of a call that is put off is put off too: it calls the function once more."""
    seeds = list(g) if isinstance(g, tuple) else [g]
    count, wanted = len(inputs), [k for k, n in enumerate(needs) if n]
    shown = [k for k, s in enumerate(call.specs) if s.dtype.is_differentiable]

    def back(*given: Any) -> list[Any]:
        # Under names of their own: one tensor may be given twice.
        xs = [identity(x) for x in given[:count]]
        with GradientTape() as tape:
            tape.watch([xs[k] for k in wanted])
            result = _flat(call.call(xs))
        return tape.gradient(
            [result[k] for k in shown],
            [xs[k] for k in wanted],
            [given[count + k] for k in shown],
            "zero",
        )

    here: Any = building()
    specs = [here.specs[here.value_of(inputs[k])] for k in wanted]
    later = Later(back, ((*inputs, *seeds), {})).tell([None] * len(wanted), specs)
    return at_places(wanted, _emit(later), count)


LATER = Op(
    "later",
    "*xs",
    kernel=lambda *arrays, call: call.run(*arrays),
    infer=lambda *specs, call: call.specs,
    lower=None,
    grad=Joint(_pull),
    match=(),
    outputs=None,
    holomorphic=False,
    folds=False,
    register=False,
)


def _emit(later: Later) -> Any:
    return nest.pack_sequence_as(later.result, list(apply(LATER, *later.inputs(), call=later)))


def put_off(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], error: Exception
) -> Any:
    """A function that failed for want of a rank as a node; the error, if it cannot become one."""
    if not _wants_rank((args, kwargs)):
        raise error
    later = Later(function, (args, kwargs))
    result, specs = _tried(later, error)
    return _emit(later.tell(result, specs))


def _tried(later: Later, error: Exception) -> tuple[Any, list[ShapeDtype]]:
    """What the results look like, from trials on tensors of known rank."""
    here: Any = building()
    values = [here.value_of(x) for x in later.inputs() if _is_unranked(x)]
    missing = list(dict.fromkeys(values))
    same = [t for t in (_trial(later, dict.fromkeys(missing, r)) for r in _RANKS) if t]
    if not same and 1 < len(missing) < 4:
        mixed = itertools.product(_RANKS[:5], repeat=len(missing))
        trials = (_trial(later, dict(zip(missing, ranks, strict=True))) for ranks in mixed)
        same = list(itertools.islice(filter(None, trials), 1))
        same = [(result, [ShapeDtype(None, s.dtype) for s in specs]) for result, specs in same]
    if not same:
        raise error
    result, specs = same[0]
    for _, others in same[1:]:
        specs = [
            ShapeDtype(shapes.join(a.shape, b.shape), a.dtype)
            for a, b in zip(specs, others, strict=True)
        ]
    return result, specs


@restoring
def _trial(later: Later, ranks: dict[int, int]) -> tuple[Any, list[ShapeDtype]] | None:
    """What the function gives for tensors of these ranks, in a graph that is thrown away."""
    here: Any = building()
    graph = Builder("rank", here)
    inputs = later.inputs()
    with using(State((), graph)):
        given: dict[int, Any] = {}
        for x in inputs:
            value = here.value_of(x)
            if value in ranks and value not in given:
                given[value] = graph.parameter(ShapeDtype((None,) * ranks[value], x.dtype))
        try:
            result = later.call([given.get(here.value_of(x), x) for x in inputs])
            outcome = _flat(result)
            specs = [graph.specs[graph.value_of(x)] for x in outcome]
        except failures():  # not for these ranks
            return None
    return (nest.map_structure(lambda x: None, result), specs) if outcome else None


def _is_unranked(x: Any) -> bool:
    if type(x) is Unranked:
        return True
    return type(x) is SymbolicTensor and x._graph.specs[x._value].shape is None


def _wants_rank(values: Any) -> bool:
    """Whether what failed may have failed for want of a rank."""
    return building() is not None and any(map(_is_unranked, nest.flatten(values)))


def put_off_rule(pull: Callable[..., Any], entry: Any, g: Any, error: Exception) -> Any:
    """What `pull` gives for an entry of a tape, by a node that calls it when the graph runs."""
    kept = entry[4:8]
    if not _wants_rank((g, kept)):
        raise error
    places: list[int] = []

    def back(g: Any, kept: Any) -> list[Any]:
        value = pull((*entry[:4], *kept, *entry[8:]), g)
        places[:] = [i for i, _ in value]
        return [x for _, x in value]

    later = Later(back, ((gradient_values.dense(g) if type(g) is not tuple else g, kept), {}))
    result, specs = _tried(later, error)
    own = kept[2] or ()
    specs = [ShapeDtype(_known(own, i), s.dtype) for i, s in zip(places, specs, strict=True)]
    where = list(places)
    return list(zip(where, _emit(later.tell(result, specs)), strict=True))


def _known(own: Any, i: int) -> Any:
    """The shape of an input that a tape has kept, as far as it is known."""
    if i >= len(own) or own[i] is None or type(own[i]) is Unranked:
        return None
    return tuple([d if type(d) is int else None for d in own[i]])


def _replay(node: Any, given: list[Any], attrs: dict[str, Any]) -> list[Any]:
    """In a graph that knows the ranks, the function is called at once."""
    call: Later = attrs["call"]
    if any(map(_is_unranked, given)):
        return list(apply(LATER, *given, call=call))
    return _flat(call.call(given))


def _lower(graph: Graph, node: Any, given: list[Any], attrs: dict[str, Any], low: Any) -> list[Any]:
    """In compiled code all ranks are known: the operations that the function consists of."""
    call: Later = attrs["call"]
    fixed = {k: wrap(x) for k, x in enumerate(given) if isinstance(x, np.ndarray)}
    open_ = [k for k in range(len(given)) if k not in fixed]
    specs = [ShapeDtype(tuple(given[k].shape), dtypes.as_dtype(given[k].dtype)) for k in open_]

    def run(*xs: Any) -> list[Any]:
        result = dict(zip(open_, xs, strict=True)) | fixed
        return _flat(call.call([result[k] for k in range(len(given))]))

    return lower_graph(make_graph("later", specs, run), [given[k] for k in open_], low)


PUT_OFF.fill(put_off)
reference.PUT_OFF.fill(put_off_rule)
REPLAYS.fill(__name__, {LATER: _replay})
LOWERINGS.fill(__name__, {LATER: _lower})
