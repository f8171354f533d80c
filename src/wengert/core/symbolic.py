"""Tensors inside a trace: a shape, a dtype and a place in the graph, but no value yet.

Operations look at the array of a tensor for its shape and dtype; here a `Shadow` stands in for it.
Whatever needs the value itself gets an error that says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core import shapes
from wengert.core.context import get_state
from wengert.core.dims import Dim
from wengert.core.dtypes import DType
from wengert.core.errors import (
    OperatorNotAllowedInGraphError,
    at_site,
    coded,
    describe,
    valueless,
)
from wengert.core.op import ShapeDtype
from wengert.core.shapes import TensorShape
from wengert.core.sites import RawSite, locate
from wengert.core.tensor import Tensor, Value, new_id

if TYPE_CHECKING:
    from typing_extensions import TypeIs

    from wengert.core.variable_aliases import Alias
    from wengert.graph.ir import Node


class Shadow:
    """Stands for the array of a tensor that has no value yet; unknown sizes are `Dim`s."""

    __slots__ = ("dtype", "graph", "value")

    def __init__(self, graph: Any, value: int, dtype: np.dtype) -> None:
        self.graph = graph
        self.value = value
        self.dtype = dtype

    @property
    def shape(self) -> tuple[Any, ...]:
        result = self.graph.sizes(self.value)
        if result is None:
            raise valueless(
                at_site(
                    ValueError(
                        "shape: this needs the rank of a tensor, which is unknown here. Say it "
                        "with x.set_shape(...) or tf.ensure_shape(x, ...)."
                    )
                )
            )
        return result

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int | Dim:
        total: Any = 1
        for d in self.shape:
            total = total * d
        return total

    @property
    def nbytes(self) -> Any:
        return self.size * self.dtype.itemsize

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise escaped(self)


class Operation:
    """What made a tensor of a trace, as `x.op` shows it."""

    __slots__ = ("_value", "graph")

    def __init__(self, graph: Any, value: int) -> None:
        self.graph = graph
        self._value = value

    @property
    def node(self) -> Node | None:
        """The node of the graph, or `None` for what comes from outside."""
        return self.graph.maker(self._value)

    @property
    def type(self) -> str:
        node = self.node
        words = "placeholder" if node is None else node.op.name
        return "".join([w.capitalize() for w in words.split("_")])

    @property
    def name(self) -> str:
        return self.graph.label(self._value)

    @property
    def inputs(self) -> tuple[Any, ...]:
        node = self.node
        return () if node is None else tuple([self.graph.tensor(v) for v in node.inputs])

    @property
    def outputs(self) -> list[Any]:
        node = self.node
        return [self.graph.tensor(v) for v in ([self._value] if node is None else node.outputs)]

    def __repr__(self) -> str:
        return f"<tf.Operation {self.name!r} type={self.type}>"


class SymbolicTensor(Tensor):
    """A value of a graph under construction."""

    __slots__ = ("_graph", "_value")

    _graph: Any
    _value: int

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self._graph.specs[self._value].shape)

    @property
    def dtype(self) -> DType:
        return self._graph.specs[self._value].dtype

    @property
    def name(self) -> str:
        return f"{self._graph.label(self._value)}:0"

    @property
    def graph(self) -> Any:
        return self._graph

    @property
    def op(self) -> Operation:
        return Operation(self._graph, self._value)

    def set_shape(self, shape: Any) -> None:
        """Adds what is known about the shape."""
        self._graph.narrow(self._value, shapes.as_shape(shape))

    def _no_value(self, what: str, kind: type[Exception] = TypeError) -> Any:
        if not self._is_at_home():
            return escaped(self._array, kind)
        made = locate(self._site)
        error = kind(
            f"{what}: inside a function a tensor has no value yet; got {describe(self)}"
            f"{f', made at {made}' if made else ''}. {_REMEDIES.get(what, _REMEDY)}"
        )
        return valueless(at_site(error))

    def _is_at_home(self) -> bool:
        """Whether the trace that the tensor belongs to is under way here."""
        state = get_state()
        here = None if state is None else state.graph
        return here is not None and here.is_inside(self._graph)

    def _no_numpy(self) -> Any:
        """Said when the method is looked up: programs tell values by `hasattr(x, "numpy")`."""
        raise self._no_value("numpy", NoValueError)

    numpy: Any = property(_no_numpy)
    tolist = _no_numpy

    def item(self, *index: int) -> Any:
        return self._no_numpy()

    def __array__(self, dtype: np.dtype | None = None, copy: bool | None = None) -> np.ndarray:
        raise self._no_value("NumPy", NoValueError)

    def __bool__(self) -> bool:
        raise self._no_value("bool", OperatorNotAllowedInGraphError)

    def _single(self, what: str) -> Any:
        raise self._no_value(what)

    def __index__(self) -> int:
        raise self._no_value("index")

    def __len__(self) -> int:
        result = self._graph.specs[self._value].shape
        if result == ():
            raise at_site(TypeError("len: a scalar tensor has no length. Use tf.size(x)."))
        if result is None or result[0] is None:
            raise self._no_value("len")
        return result[0]

    def __iter__(self) -> Any:
        result = self._graph.specs[self._value].shape
        if result == ():
            raise at_site(TypeError("iteration: a scalar tensor has no rows."))
        if result is None or result[0] is None:
            raise self._no_value("iteration", OperatorNotAllowedInGraphError)
        return (self[i] for i in range(result[0]))

    def __dlpack__(self, **kwargs: Any) -> Any:
        raise self._no_value("DLPack")

    def __reduce__(self) -> Any:
        raise self._no_value("pickle")

    def __format__(self, spec: str) -> str:
        if spec:
            raise self._no_value("format")
        return str(self)

    def __repr__(self) -> str:
        return f"<tf.Tensor {self.name!r} shape={self.shape} dtype={self.dtype.name}>"

    def __str__(self) -> str:
        return f'Tensor("{self.name}", shape={self.shape}, dtype={self.dtype.name})'


_REMEDY = (
    "Pass what Python must know as a Python value, or look inside with "
    "tf.config.run_functions_eagerly(True)."
)
_REMEDIES = {
    "bool": "Decide with tf.cond, tf.where or tf.while_loop; Python's `if` and `while` on tensors "
    "need autograph=True and available source.",
    "numpy": "Use tf operations, or tf.py_function for code that needs values.",
    "NumPy": "Use the tf operation of the same meaning, or tf.numpy_function.",
    "format": "Print with tf.print, or format with tf.strings.format.",
    "len": "Use tf.shape(x)[0].",
    "iteration": "Loop with tf.range(tf.shape(x)[0]) or tf.map_fn, or fix the size in "
    "`input_signature`.",
    "index": "Index with the tensor itself (x[i]), or use tf.range instead of range.",
}  # fmt: skip


class NoValueError(NotImplementedError, AttributeError, TypeError):
    """The value of a tensor was asked for while its function is being traced.

    TensorFlow's symbolic tensors have no `numpy`; ours say why, and are caught alike.
    """


def needs_value(error: BaseException) -> bool:
    """Whether an error says that what is known only when the function runs was wanted before."""
    kinds = (NoValueError, OperatorNotAllowedInGraphError)
    return isinstance(error, kinds) or getattr(error, "is_valueless", False)


def symbolic(
    graph: Any, spec: ShapeDtype, site: RawSite | None, value: int | None = None
) -> SymbolicTensor:
    """A new tensor of `graph`, standing for its value `value` (a new one for `None`)."""
    tensor = object.__new__(SymbolicTensor)
    tensor._id = tensor._value = value = new_id() if value is None else value
    tensor._array = Shadow(graph, value, spec.dtype.np)  # type: ignore[assignment]  # a stand-in
    tensor._site = site
    tensor._graph = graph
    return tensor


class Unranked:
    """The shape of a tensor whose rank is unknown, known by the tensor itself."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: SymbolicTensor) -> None:
        self.tensor = tensor

    def __iter__(self) -> Any:
        return iter(self.tensor._array.shape)  # says what is missing


def shape_to_keep(x: Value | Alias) -> Any:
    """The shape of an operation's input, for its gradient."""
    if type(x) is SymbolicTensor and x._graph.specs[x._value].shape is None:
        return Unranked(x)
    return x._array.shape


def is_symbolic(value: Any) -> TypeIs[SymbolicTensor]:
    """Whether a value belongs to a graph under construction."""
    return isinstance(value, SymbolicTensor)


def escaped(shadow: Any, kind: type[Exception] = TypeError) -> Exception:
    """The error for a tensor that is used outside the trace it belongs to."""
    site = shadow.graph.site_of(shadow.value)
    made = locate(site)
    state = get_state()
    there = "in another function" if state is not None and state.graph is not None else "outside it"
    error = kind(
        f"function {shadow.graph.name!r}: a tensor of its trace is used {there}; got "
        f"{describe(shadow.graph.specs[shadow.value])}"
        f"{f', made at {made}' if made else ''}. It never gets a value there. Return it from "
        f"the function, or keep it in a tf.Variable."
    )
    return coded(error, "WG405", site)


def as_number(tensor: SymbolicTensor) -> Any:
    """An integer tensor of a trace as `Dim`s (in tuples, like its shape), for sizes and shapes."""
    content = tensor._graph.content(tensor._value)
    if content is not None:
        return _tuples(content.tolist())
    shape = tensor._graph.specs[tensor._value].shape
    if shape is None or None in shape:
        raise at_site(
            ValueError(
                f"shape: a shape must have a known number of sizes; got {describe(tensor)}. Build "
                f"it with tf.stack or a list, or say its length with set_shape."
            )
        )
    count = int(np.prod(shape, dtype=int))
    array = np.empty(count, object)
    for k in range(count):
        array[k] = Dim("element", tensor._graph, tensor._value, k)
    return _tuples(array.reshape(shape).tolist())


def _tuples(value: int | list[int | Dim] | Dim) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
