"""`ConcreteFunction`: a function for one signature, as `get_concrete_function` gives it."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

from wengert.core import nest
from wengert.core.convert import operand
from wengert.core.errors import at_site, describe, invalid_dtype, require
from wengert.core.observers import OBSERVERS, observed
from wengert.core.sites import caller
from wengert.core.types import (
    CompositeSpec,
    CompositeTensor,
    SymbolicTensor,
    Tensor,
    TensorSpec,
    TypeSpec,
    Value,
    Variable,
)
from wengert.functions.signature import TENSORS, Apart, encode, rebuild
from wengert.functions.trace import Slot, Trace
from wengert.functions.variable_sharing import Given


class DeviceVariant:
    """A function that stands for another one on a GPU; XLA compiles that for every device.

    Keras 2 registers it, as a graph, and never calls it where there is none.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.python_function = self.__wrapped__ = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.python_function(*args, **kwargs)

    def get_concrete_function(self, *args: Any, **kwargs: Any) -> DeviceVariant:
        """The same: nothing is traced."""
        return self

    def add_to_graph(self, g: Any = None, overwrite: bool = False) -> None:
        """Nothing: there is no graph to choose it in."""

    def add_gradient_functions_to_graph(self, g: Any = None) -> None:
        """Nothing: there is no graph to choose it in."""


class ConcreteFunction:
    """A traced function for one signature; it never traces again."""

    def add_to_graph(self, g: Any = None, overwrite: bool = False) -> None:
        """Nothing: graphs call functions as they are."""

    add_gradient_functions_to_graph = add_to_graph

    def __init__(self, name: str, trace: Trace, pairs: Any, named: Any) -> None:
        self._name = name
        self._trace = trace
        # Specs take the place of tensors, so that no argument is kept alive.
        specs = iter(trace.specs)
        self._pairs = [(n, _described(n, v, specs)) for n, v in pairs]
        self._named = {n: _described(n, v, specs) for n, v in named.items()}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if OBSERVERS:
            return observed("call", ConcreteFunction._call, self, args, kwargs)
        return self._call(args, kwargs)

    def _call(self, args: Any, kwargs: Any) -> Any:
        site = caller(0)
        leaves = self._arguments(args, kwargs)
        return self._bound(args, kwargs).call(leaves, site)

    def _bound(self, args: Any, kwargs: Any) -> Trace:
        """The trace, for the variables among the arguments."""
        template = self._trace.template
        if template is None:
            return self._trace
        old = dict([*self._pairs, *self._named.items()])
        given = dict(zip(old, args, strict=False)) | kwargs
        new = Given([(n, given.get(n, v)) for n, v in old.items()], {}).variables
        if all(map(operator.is_, new, Given(list(old.items()), {}).variables)):
            return self._trace
        return template.bound(new) or self._trace

    def _arguments(self, args: Any, kwargs: Any) -> list[Tensor]:
        """The tensors among the arguments, given for all parameters or for the tensors alone."""
        try:
            return self._structured(args, kwargs)
        except TypeError as error:
            if kwargs or len(args) != len(self._trace.specs):
                raise
            try:
                return self._flat(args)
            except TypeError:
                raise error from None

    def _flat(self, args: tuple[Tensor, ...]) -> list[Tensor]:
        leaves: list[Any] = []
        specs = iter(self._trace.specs)
        for k, x in enumerate(args):
            _collect(self._name, f"{k}", x, TensorSpec(None), specs, leaves)
        return leaves

    def _structured(self, args: Any, kwargs: Any) -> list[Tensor]:
        old = dict([*self._pairs, *self._named.items()])
        names = list(old)
        spoken = {v.name: n for n, v in old.items() if isinstance(v, TensorSpec)}
        kwargs = {k if k in old else spoken.get(k, k): v for k, v in kwargs.items()}
        unknown = [k for k in kwargs if k not in old]
        require(
            len(args) <= len(names) and not unknown,
            self._name,
            lambda: (
                f"the parameters are {', '.join(names)}; got {len(args)} "
                f"arguments{(f' and {unknown[0]!r}' if unknown else '')}"
            ),
            kind=TypeError,
        )
        given = dict(zip(names, args, strict=False)) | kwargs
        leaves: list[Any] = []
        specs = iter(self._trace.specs)
        for name in names:
            if _has_tensors(old[name]):
                require(name in given, self._name, f"argument `{name}` is missing", kind=TypeError)
                _collect(self._name, name, given[name], old[name], specs, leaves)
            elif name in given and not self._fits(given[name], old[name]):
                raise at_site(
                    TypeError(
                        f"{self._name}: argument `{name}` was traced as {describe(old[name])}; got "
                        f"{describe(given[name])}. Ask get_concrete_function for this value."
                    )
                )
        return leaves

    def _fits(self, value: Any, old: Any) -> bool:
        """Whether a value is what was traced; with a template, a variable of the same kind is."""
        if self._trace.template is not None:
            new, known = Given([("", value)], {}), Given([("", old)], {})
            if new.variables:
                return new.kind == known.kind
        return encode(value, []) == encode(old, [])

    @property
    def name(self) -> str:
        return f"__inference_{self._name}_{self._trace.graph.start}"

    @property
    def label(self) -> str:
        """What a profile calls it."""
        return self._name

    @property
    def graph(self) -> Any:
        return self._trace.graph

    @property
    def inputs(self) -> list[Any]:
        """The tensors that stand for the arguments, then for what is captured."""
        return [self._trace.graph.tensor(v) for v in self._trace.graph.all_inputs()]

    @property
    def outputs(self) -> list[SymbolicTensor] | list[Tensor]:
        """The tensors that stand for the results."""
        return [self._trace.graph.tensor(v) for v in self._trace.graph.outputs]

    @property
    def structured_input_signature(self) -> tuple[Any, Any]:
        return tuple([v for _, v in self._pairs]), dict(self._named)

    @property
    def structured_outputs(self) -> Any:
        return self._of_outputs(lambda x: TensorSpec(x.shape, x.dtype))

    @property
    def output_shapes(self) -> Any:
        return self._of_outputs(lambda x: x.shape)

    @property
    def output_dtypes(self) -> Any:
        return self._of_outputs(lambda x: x.dtype)

    def _of_outputs(self, leaf: Callable[[Any], Any]) -> Any:
        """Something of each output, in their structure; a list for a sparse or ragged tensor."""
        tensors = self.outputs
        result = rebuild(self._trace.skeleton, lambda slot, _: leaf(tensors[slot.number]), "", Slot)
        return nest.map_structure(lambda x: x.parts if isinstance(x, Apart) else x, result)

    @property
    def variables(self) -> tuple[Variable, ...]:
        table = {v._id: v for v in (*self._trace.reads, *self._trace.writes)}
        return tuple(v for _, v in sorted(table.items()))

    @property
    def trainable_variables(self) -> tuple[Variable, ...]:
        return tuple(v for v in self.variables if v.trainable)

    @property
    def captured_inputs(self) -> list[Value]:
        return [*[s for s in self._trace.sources if isinstance(s, Value)], *self.variables]

    def export(self, path: Any) -> None:
        """Writes the function to a folder from which it loads without this Python code."""
        from wengert.functions.export import export

        export(self, path)

    def pretty_printed_signature(self, verbose: bool = True) -> str:
        return described(self._name, self._trace)

    def __str__(self) -> str:
        return f"ConcreteFunction {described(self._name, self._trace)}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {described(self._name, self._trace, brief=True)}>"


def _described(name: str, value: Any, specs: Iterator[TensorSpec]) -> Any:
    """An argument with specs for its tensors, named by their paths: `d['a'][0]` is d_a_0."""

    def leaf(x: Tensor | TypeSpec, path: str) -> TypeSpec:
        if isinstance(x, CompositeTensor | CompositeSpec):
            whole = x if isinstance(x, CompositeSpec) else x._type_spec
            for _ in whole.__tf_flatten__()[1]:
                next(specs)
            return whole
        spec = next(specs)
        own = x.name if isinstance(x, TensorSpec) else None
        flat = re.sub(r"\W+", "_", path).strip("_")
        return TensorSpec(spec.shape, spec.dtype, own or flat)

    return rebuild(value, leaf, name, (*TENSORS, CompositeTensor, CompositeSpec))


def _has_tensors(value: Any) -> bool:
    results: list[Any] = []
    rebuild(value, lambda x, _: results.append(x))
    return bool(results)


def _collect(name: str, path: str, value: Any, old: Any, specs: Any, leaves: list[Any]) -> None:
    """Matches an argument with the one that was traced, tensor by tensor."""
    wanted: list[Any] = []
    rebuild(old, lambda x, _: wanted.append(x))
    if len(wanted) == 1 and not isinstance(value, list | tuple | dict):
        results = [value]
    else:
        results = []
        rebuild(value, lambda x, _: results.append(x))
        if len(results) != len(wanted):
            results = [value]
    require(
        len(results) == len(wanted),
        name,
        f"argument `{path}` has another structure than the one traced",
        kind=TypeError,
    )
    for x in results:
        spec = next(specs)
        tensor = x if isinstance(x, Value) else operand(x, None, spec.dtype)
        if isinstance(tensor, Variable):
            tensor = tensor.read_value()
        if not spec.is_compatible_with(tensor):
            raise invalid_dtype(
                name,
                f"argument `{path}` must be {describe(spec)}, as traced",
                tensor,
                help="Ask get_concrete_function for this signature.",
            )
        leaves.append(tensor)


def described(name: str, trace: Trace, brief: bool = False) -> str:
    """A signature for people."""
    graph, values = trace.graph, iter(trace.graph.inputs)
    given = []
    for path, x in trace.given.items():
        if x.kind == "tensor":
            given.append(f"{path}: {describe(graph.specs[next(values)])}")
        elif x.kind != "structure":
            given.append(f"{path}={x.text}")
    given += [f"{graph.labels.get(v, 'part')}: {describe(graph.specs[v])}" for v in values]
    results = [describe(graph.specs[v]) for v in graph.outputs]
    lines = [f"{name}({', '.join(given)}) -> {', '.join(results) or 'None'}"]
    lines += [] if brief else [f"  {v.name}: {describe(v)} (variable)" for v in trace.reads]
    return "\n".join(lines)
