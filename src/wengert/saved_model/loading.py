"""`tf.saved_model.load`: objects, variables and functions from a folder, without their Python.

Only data is read: JSON, arrays and StableHLO. Whatever does not fit is refused before anything is
made of it.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from wengert.core import dtypes
from wengert.core.apply import apply, wrap
from wengert.core.context import State, restoring, using
from wengert.core.errors import OpError, UnimplementedError
from wengert.core.failures import failures
from wengert.core.lazy_modules import jax
from wengert.core.sites import caller
from wengert.core.types import ShapeDtype, Tensor, TensorSpec, Value, Variable
from wengert.functions import structure_json, trace_log
from wengert.functions.concrete import ConcreteFunction
from wengert.functions.signature import rebuild, spec_of
from wengert.functions.trace import Trace, trace
from wengert.io.paths import local, refused
from wengert.ops.seeds import next_state
from wengert.saved_model.model_folder import Opened
from wengert.saved_model.program import Program, Pull
from wengert.saved_model.restored import (
    ByName,
    CallableObject,
    RestoredFunction,
    RestoredObject,
    SeveralRanks,
)

if TYPE_CHECKING:
    import numpy as np


@restoring
def load(export_dir: Any, tags: Any = None, options: Any = None) -> RestoredObject:
    """The object that `tf.saved_model.save` wrote to a folder, with `signatures` by name.

    Args:
        export_dir: the folder.
        tags: "serve" or `None`; there is one graph.
        options: a `tf.saved_model.LoadOptions`.

    Returns:
        An object with the same attributes.

    Raises:
        OSError: there is no saved model.

    >>> module = tf.Module()
    >>> module.v = tf.Variable(3.0)
    >>> tf.saved_model.save(module, "loaded")
    >>> float(tf.saved_model.load("loaded").v) == 3.0
    True
    """
    opened = Opened("load", local("load", export_dir))
    with using(State()):
        try:
            return _Loading(opened).root()
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, OpError):
                raise
            raise opened.damaged(opened.path, "its parts do not fit together") from error


class _Loading:
    """The state of one `load`: the objects made so far, by number."""

    def __init__(self, opened: Opened) -> None:
        self.opened = opened
        self.content = opened.content
        self.variables = [self._variable(k, v) for k, v in enumerate(self.content["variables"])]
        self.constants: dict[int, Any] = {}
        self.entries = self.content["concretes"]
        self.programs = [self._program(entry) for entry in self.entries]
        self.concretes = [self._concrete(k) for k in range(len(self.entries))]

    def root(self) -> RestoredObject:
        """The root, with all that hangs on it."""
        nodes = self.content["nodes"]
        made = [self._empty(node) for node in nodes]
        for node, x in zip(nodes, made, strict=True):
            self._fill(node, x, made)
        # Containers that cannot be filled later are made when all else is there.
        root = made[0] if isinstance(made[0], RestoredObject) else _wrapped(made[0])
        named = {str(n): self._signature(str(n), s) for n, s in self.content["signatures"].items()}
        root.__dict__["signatures"] = MappingProxyType(named)
        return root

    def _array(self, key: str) -> np.ndarray:
        return self.opened.array(key, self.content["entries"][key])

    def _variable(self, number: int, what: dict[str, Any]) -> Variable:
        array = self._array(f"variable/{number}")
        result = Variable(array, trainable=bool(what["trainable"]), shape=what["shape"])
        result._name = str(what["name"])
        return result

    def _constant(self, number: int) -> Tensor:
        if number not in self.constants:
            self.constants[number] = wrap(self._array(f"constant/{number}"))
        return self.constants[number]

    def _program(self, entry: dict[str, Any]) -> Program:
        from jax import export as jax_export

        blob = self.opened.program(entry["file"])
        try:
            exported = jax_export.deserialize(bytearray(blob))
        except failures() as error:
            rule = f"JAX {jax.__version__} cannot read a program that {self._producer()} wrote"
            path = f"{self.opened.folder}/{entry['file']}"
            raise refused("load", rule, path, "Update JAX.", UnimplementedError) from error
        given = [self._spec(x) for x in entry["given"]]
        result = Program(entry, given, exported)
        if "gradient" in entry:
            result.gradient = Pull(entry, lambda: self._program(entry["gradient"]), self._constant)
        return result

    def _producer(self) -> str:
        return str(self.content.get("producer", "another program"))

    def _spec(self, given: list[Any]) -> ShapeDtype:
        word, *rest = given
        if word == "draw":
            return ShapeDtype((3,), dtypes.uint64)
        value = self.variables[rest[0]] if word == "variable" else self._constant(rest[0])
        return ShapeDtype(value.shape._dims, value.dtype)

    def _given(self, given: list[Any]) -> Value:
        word, *rest = given
        if word == "draw":
            return next_state(str(rest[0]), rest[1])
        return self.variables[rest[0]] if word == "variable" else self._constant(rest[0])

    def _concrete(self, number: int) -> ConcreteFunction:
        entry = self.entries[number]
        specs = [_tensor_spec(*x) for x in entry["inputs"]]
        pairs, named = structure_json.unpack_arguments(entry["arguments"], specs)
        made = self._trace(entry["name"], pairs, named, number, self._packed(entry["structure"]))
        made.arguments = entry["arguments"]
        return ConcreteFunction(entry["name"], made, pairs, named)

    def _packed(self, structure: Any) -> Any:
        return lambda outs: structure_json.unpack(structure, outs.__getitem__)

    def _signature(self, name: str, what: dict[str, Any]) -> ConcreteFunction:
        """The same program with tensors in and out by name, or those for several ranks."""
        outputs = {str(n): int(k) for n, k in what["outputs"].items()}
        numbers = [what["concrete"], *what.get("others", ())]
        made = [self._by_name(name, number, outputs) for number in numbers]
        return made[0] if len(made) == 1 else SeveralRanks(made)

    def _by_name(self, name: str, number: int, outputs: dict[str, int]) -> ConcreteFunction:
        named = {str(x[0]): _tensor_spec(*x) for x in self.entries[number]["inputs"]}
        made = self._trace(
            name, [], named, number, lambda outs: {n: outs[k] for n, k in outputs.items()}
        )
        made.arguments = structure_json.pack_arguments([], named)
        return ByName(name, made, [], named)

    @restoring
    def _trace(self, name: str, pairs: Any, named: Any, number: int, result: Any) -> Trace:
        """A trace of one operation: the program."""
        entry, program = self.entries[number], self.programs[number]

        def body(*args: Any, **kwargs: Any) -> Any:
            leaves: list[Any] = []
            for value in (*args, *kwargs.values()):
                rebuild(value, lambda x, path: leaves.append(x))
            given = [self._given(x) for x in entry["given"]]
            outs = apply(program.op, *leaves, *given)
            outs = (outs,) if program.op.outputs == 1 else outs
            count = len(entry["outputs"])
            for k, new in zip(entry["written"], outs[count:], strict=True):
                self.variables[k].assign(new)
            return result(outs[:count])

        made = trace(name, body, pairs, named, spec_of, None, None, caller())
        made.given = trace_log.spelled(pairs, named)
        return made

    def _empty(self, node: dict[str, Any]) -> Any:
        kind = node["kind"]
        if kind == "variable":
            return self.variables[node["variable"]]
        if kind == "function":
            made = [self.concretes[k] for k in node["concretes"]]
            name = made[0]._name if made else "function"
            return RestoredFunction(name, made, node["defaults"], node["missing"])
        if kind in ("list", "tuple"):
            return []
        if kind == "dict":
            return {}
        return CallableObject() if "__call__" in node["children"] else RestoredObject()

    def _fill(self, node: dict[str, Any], x: Any, made: list[Any]) -> None:
        children = {str(n): made[k] for n, k in node["children"].items()}
        if isinstance(x, list):
            numbers = {int(n): c for n, c in children.items()}
            x += [numbers.get(i) for i in range(max(numbers, default=-1) + 1)]
        elif isinstance(x, dict):
            x.update(children)
        elif isinstance(x, RestoredObject):
            x.__dict__.update(children)


def _tensor_spec(name: str, kind: str, shape: list[int | str]) -> TensorSpec:
    sizes = [d if isinstance(d, int) else None for d in shape]
    return TensorSpec(sizes, dtypes.as_dtype(str(kind)), str(name))


def _wrapped(x: RestoredFunction) -> RestoredObject:
    """The object that holds a root which is no object: a function is its `__call__`."""
    if isinstance(x, RestoredFunction):
        result = CallableObject()
        result.__dict__["__call__"] = x
    else:
        result = RestoredObject()
        result.__dict__["root"] = x
    return result
