"""Graphs as libraries see them under eager semantics: the graph that is being traced, or none.

Keras runs layers in a graph that is built and thrown away, for the shapes of what they return.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from wengert.composite.sparse_tensor import SparseTensor
from wengert.core import dtypes, shapes
from wengert.core.context import State, name_scope, using
from wengert.core.errors import at_site
from wengert.core.op import ShapeDtype
from wengert.core.symbolic import SymbolicTensor, is_symbolic
from wengert.core.tensor import Tensor
from wengert.core.variable import Variable
from wengert.functions.cond import cond
from wengert.graph.builder import Builder, building

if TYPE_CHECKING:
    from wengert.core.dtypes import DType


class Graph:
    """The place of operations that run at once; they belong to no graph."""

    name = ""
    seed: int | None = None
    building_function = False
    is_control_flow_graph = False
    _xla_compile = False
    collections: tuple[str, ...] = ()

    def __init__(self) -> None:
        self._names: dict[str, int] = {}

    def as_default(self) -> Any:
        """A block in which nothing changes: operations run at once as it is."""
        return contextlib.nullcontext(self)

    def name_scope(self, name: str) -> name_scope:
        """`tf.name_scope`."""
        return name_scope(name)

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """The name, with a number behind it if it was given away before."""
        count = self._names.get(name, 0)
        if mark_as_used:
            self._names[name] = count + 1
        return f"{name}_{count}" if count else name

    def get_collection(self, name: str, scope: str | None = None) -> list[Any]:
        """An empty list: there are no collections."""
        return []

    get_collection_ref = get_collection

    def get_operations(self) -> list[Any]:
        """What was done last, as `no_op` answers it: here nothing needs to be run again."""
        return [None]

    def _get_control_flow_context(self) -> None:
        """None: branches and loops are nodes."""

    def finalize(self) -> None:
        """Nothing: operations have run already."""


class FuncGraph(Graph):
    """A graph being traced."""

    building_function = True

    def __init__(
        self, name: str, collections: Any = None, *, builder: Builder | None = None
    ) -> None:
        super().__init__()
        self.name = name
        self._graph = Builder(name, building()) if builder is None else builder
        _VIEWS[self._graph] = self

    @property
    def outer_graph(self) -> Graph:
        parent = self._graph.parent
        return _EAGER if parent is None else _view(parent)

    def as_default(self) -> Any:
        """Records operations in this graph instead of running them."""
        if building() is self._graph:
            return contextlib.nullcontext(self)
        return using(State((), self._graph), self)


_VIEWS: WeakKeyDictionary[Builder, Any] = WeakKeyDictionary()
_EAGER = Graph()


def _view(builder: Builder) -> FuncGraph:
    kept = _VIEWS.get(builder)
    return FuncGraph(builder.name, builder=builder) if kept is None else kept


def get_default_graph() -> Graph:
    """The graph being traced, or where operations run at once the one that stands for that."""
    graph = building()
    return _EAGER if graph is None else _view(graph)


def placeholder(
    dtype: str | DType, shape: tuple[int | None, ...] | None = None, name: str | None = None
) -> Tensor:
    """An input of the graph being built."""
    graph = building()
    if graph is None:
        raise at_site(
            RuntimeError(
                "placeholder: it belongs to TensorFlow 1. Give the value as an argument of a "
                "tf.function."
            )
        )
    return graph.parameter(
        ShapeDtype(shapes.as_shape(shape), dtypes.as_dtype(dtype)), None, name or ""
    )


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """An input of the graph being built that is a sparse tensor."""
    static = shapes.as_shape(shape)
    rank = None if static is None else len(static)
    result = SparseTensor(
        placeholder(dtypes.int64, (None, rank)),
        placeholder(dtype, (None,)),
        placeholder(dtypes.int64, (rank,)),
    )
    result.set_shape(static)
    return result


def smart_cond(
    pred: SymbolicTensor,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """`cond` that calls one function only where the condition is known."""
    if not is_symbolic(pred) and not (isinstance(pred, Variable) and building() is not None):
        chosen = true_fn if bool(pred) else false_fn
        assert chosen is not None, "both functions are given"
        return chosen()
    return cond(pred, true_fn, false_fn)


def _case_helper(
    cond_fn: Any, pred_fn_pairs: Any, default: Any, exclusive: bool, name: str,
    allow_python_preds: bool = False, **cond_kwargs: Any,
) -> Any:  # fmt: skip
    """`tf.case`, in which `cond_fn` makes each choice; tensorflow-probability gives its own."""
    pairs = list(pred_fn_pairs.items() if isinstance(pred_fn_pairs, dict) else pred_fn_pairs)
    predicates, functions = [p for p, _ in pairs], [f for _, f in pairs]
    if default is None:  # the last one is taken without asking
        default, predicates, functions = functions[-1], predicates[:-1], functions[:-1]
    chosen = default
    for predicate, function in zip(reversed(predicates), reversed(functions), strict=True):
        chosen = functools.partial(
            cond_fn, predicate, true_fn=function, false_fn=chosen, **cond_kwargs
        )
    return chosen()
