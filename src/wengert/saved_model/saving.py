"""`tf.saved_model.save`: functions as programs, variables as arrays, and how they hang together.

Every trace of every function below the object becomes a program. A function that cannot be one
stops the saving, unless `signatures` names what matters; then the others are left out, with a
warning, and say so when they are called.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert._version import __version__
from wengert.core.errors import UnimplementedError, at_site, require
from wengert.core.locks import ALONGSIDE, while_holding
from wengert.core.sites import warn
from wengert.core.variable import Variable
from wengert.functions import structure_json
from wengert.functions.concrete import ConcreteFunction
from wengert.functions.export import SAVE, Program, program_of
from wengert.functions.function import Function
from wengert.functions.trace import Slot, Trace
from wengert.functions.transaction import locks_of
from wengert.graph.builder import building
from wengert.graph.ir import Draw
from wengert.io.paths import local
from wengert.saved_model.model_folder import Writer, entries
from wengert.saved_model.rank_variants import by_rank
from wengert.saved_model.restored import RestoredFunction
from wengert.saved_model.saved_gradients import gradient_of
from wengert.saved_model.saved_objects import ObjectTree, can_be_saved, kind_of
from wengert.saved_model.signatures import DEFAULT, Signature, default_signature, signatures_of


def save(
    obj: Any,
    export_dir: Any,
    signatures: dict[str, ConcreteFunction | Function] | ConcreteFunction | None = None,
    options: Any = None,
) -> None:
    """Writes an object's functions and variables to a folder that needs no Python to load.

    `signatures` is a function with an `input_signature`, a concrete function, or a dict of them;
    without it the only such function of the object is the signature `serving_default`.

    Args:
        obj: a `tf.Module`, a Keras model or another object with variables and functions.
        export_dir: the folder.
        signatures: functions to be called by name.
        options: a `tf.saved_model.SaveOptions`.

    Returns:
        Nothing.

    Raises:
        ValueError: a signature has no `input_signature`, or `obj` has no state.

    >>> class Half(tf.Module):
    ...     @tf.function(input_signature=[tf.TensorSpec([None])])
    ...     def __call__(self, x):
    ...         return x / 2.0
    >>> tf.saved_model.save(Half(), "half")  # doctest: +SKIP
    """
    require(
        can_be_saved(obj),
        "save",
        "a module, another object with state or a function is needed",
        obj,
        help="Derive its class from tf.Module.",
        kind=ValueError,
    )
    require(
        building() is None,
        "save",
        "not inside a function",
        help="Save outside, after it ran.",
        kind=AssertionError,
    )
    folder = local("save", export_dir)
    chosen = signatures_of(signatures)
    result = ObjectTree(obj)
    if signatures is None:
        chosen = default_signature(obj, result)
    _Saving(folder, strict=signatures is None).write(result, chosen)


def save_concrete(concrete: ConcreteFunction, path: Any) -> None:
    """Writes one concrete function: the loaded object is callable and has one signature."""
    folder = local("export", path)
    result = ObjectTree(concrete)
    signature = Signature.of(DEFAULT, concrete)
    _Saving(folder, strict=True).write(result, {} if signature is None else {DEFAULT: signature})


class _Saving:
    """The state of one `save`: the objects numbered so far."""

    def __init__(self, folder: str, strict: bool) -> None:
        self.folder = folder
        self.strict = strict
        self.writer = Writer("save", folder)
        self.variables: dict[int, tuple[int, Variable]] = {}
        self.constants: dict[int, tuple[int, np.ndarray]] = {}
        self.concretes: list[dict[str, Any]] = []
        self.numbers: dict[int, int] = {}
        self.by_rank: dict[int, list[int]] = {}
        self.kept: list[Trace] = []  # so that no other trace gets its id

    def write(self, tree: ObjectTree, signatures: dict[str, Signature]) -> None:
        """Writes everything; the manifest comes last."""
        named = {name: self._signature(s) for name, s in signatures.items()}
        nodes = [
            {"kind": kind_of(x), "children": names} | self._details(x)
            for x, names in zip(tree.objects, tree.names, strict=True)
        ]
        variables = [v for _, v in self.variables.values()]
        file = while_holding(locks_of(variables), ALONGSIDE, self._arrays)
        self.writer.finish(
            {
                "producer": f"wengert {__version__}",
                "nodes": nodes,
                "variables": [_described(v) for v in variables],
                "concretes": self.concretes,
                "signatures": named,
                "arrays": file,
                "entries": entries("save", self.folder, file),
            }
        )

    def _arrays(self) -> str:
        arrays = {f"variable/{k}": v._array for k, v in self.variables.values()}
        arrays |= {f"constant/{k}": a for k, a in self.constants.values()}
        return self.writer.arrays(arrays)

    def _signature(self, signature: Signature) -> dict[str, Any]:
        number, *others = self._ranked(signature.concrete)
        more = {"others": others} if others else {}
        return {"concrete": number, "outputs": signature.outputs} | more

    def _details(self, x: Any) -> dict[str, Any]:
        if isinstance(x, Variable):
            return {"variable": self._variable(x)}
        if isinstance(x, ConcreteFunction):
            return {"concretes": self._ranked(x), "defaults": [], "missing": []}
        if isinstance(x, RestoredFunction):
            made = [k for c in x.concrete_functions for k in self._ranked(c)]
            return {"concretes": made, "defaults": x.packed_defaults, "missing": x.missing}
        if isinstance(x, Function):
            return self._function(x)
        return {"class": type(x).__name__}

    def _function(self, function: Function) -> dict[str, Any]:
        if function.input_signature is not None:
            function.get_concrete_function()
        missing = [
            f"export: {function._options.name} cannot be exported: of its arguments, {t.arguments}. "
            f"Take tensors in lists, tuples and dicts, and make the rest of them inside."
            for t in function._store.traces.values()
            if isinstance(t.arguments, str)
        ]
        for text in missing:
            if self.strict and function.input_signature is not None:
                raise at_site(UnimplementedError(None, None, text))
            warn(f"save: {text} It is left out.")
        made: list[int] = []
        for concrete in function._list_all_concrete_functions():
            try:
                made += self._ranked(concrete)
            except UnimplementedError as error:
                if self.strict:
                    raise
                warn(f"save: {error} It is left out.")
                missing.append(str(error))
        return {"concretes": made, "defaults": _defaults(function), "missing": missing}

    def _ranked(self, concrete: ConcreteFunction) -> list[int]:
        """Writes the programs of a trace, one for each rank that its arguments may have."""
        known = self.by_rank.get(id(concrete._trace))
        if known is not None:
            return known
        made: list[int] = []
        first: UnimplementedError | None = None
        for one in by_rank(concrete):
            try:
                made.append(self._concrete(one))
            except UnimplementedError as error:
                first = first or error
        if first is not None and not made:
            raise first
        self.by_rank[id(concrete._trace)] = made
        return made

    def _concrete(self, concrete: ConcreteFunction) -> int:
        """Writes the program of a trace, once, and returns its number."""
        trace = concrete._trace
        if id(trace) not in self.numbers:
            program = program_of(concrete._name, trace)
            self.numbers[id(trace)] = len(self.concretes)
            self.kept.append(trace)
            entry = self._entry(concrete, program)
            self.concretes.append(entry)
            entry |= self._gradient(concrete)
        return self.numbers[id(trace)]

    def _gradient(self, concrete: ConcreteFunction) -> dict[str, Any]:
        """The entry of a function's gradient, where it has one that can be a program."""
        try:
            result = gradient_of(concrete)
            if result is None:
                return {}
            program = program_of(result.concrete._name, result.concrete._trace)
            entry = self._entry(result.concrete, program)
        except (LookupError, TypeError, ValueError, UnimplementedError):
            return {}
        variables = [self._variable(v) for v in result.variables]
        numbers = {"leaves": result.leaves, "variables": variables, "seeds": result.seeds}
        return {"gradient": entry | numbers}

    def _entry(self, concrete: ConcreteFunction, program: Program) -> dict[str, Any]:
        trace = concrete._trace
        arguments = structure_json.pack_arguments(concrete._pairs, concrete._named)
        try:
            structure = structure_json.pack(trace.skeleton)
        except structure_json.Strange as error:
            text = f"export: {concrete._name} cannot be exported: of its result, {error}. "
            text += "Return tensors in lists, tuples and dicts."
            raise at_site(UnimplementedError(None, None, text), trace.site) from None
        if isinstance(arguments, str):
            text = f"export: {concrete._name} cannot be exported: of its arguments, {arguments}."
            raise at_site(UnimplementedError(None, None, text), trace.site)
        inputs = zip(_names(concrete), program.shapes, program.dtypes, strict=True)
        return {
            "name": concrete._name,
            "file": self.writer.program(concrete._name, program.blob),
            "arguments": arguments,
            "inputs": [[name, kind.name, list(shape)] for name, shape, kind in inputs],
            "given": [self._given(x) for x in program.given],
            "outputs": [[kind.name, list(shape)] for shape, kind in program.results],
            "structure": structure,
            "written": [self._variable(v) for v in program.written],
            "checks": [list(c) for c in program.checks],
            "rooms": [list(r) for r in program.rooms],
        }

    def _given(self, x: np.ndarray | Variable | Draw) -> list[int | str | None]:
        if isinstance(x, Variable):
            return ["variable", self._variable(x)]
        if isinstance(x, Draw):
            return ["draw", x.kind, x.seed]
        return ["constant", self.constants.setdefault(id(x), (len(self.constants), x))[0]]

    def _variable(self, v: Variable) -> int:
        return self.variables.setdefault(v._id, (len(self.variables), v))[0]


def _described(v: Variable) -> dict[str, Any]:
    shape = v.shape.as_list() if v.shape.rank is not None else None
    return {"name": v._name, "trainable": v.trainable, "shape": shape}


def _names(concrete: ConcreteFunction) -> list[str]:
    """The names of the tensors among the arguments, each of its own."""
    results: list[str] = []

    def note(spec: Any, path: str) -> Slot:
        results.append(spec.name)
        return Slot(0)

    for value in (*[v for _, v in concrete._pairs], *concrete._named.values()):
        structure_json.rebuild(value, note)
    return results


def _defaults(function: Function) -> list[Any]:
    """The defaults of the parameters that have a form in the manifest."""
    results = []
    for name, parameter in function.function_spec.parameters.items():
        if parameter.default is not parameter.empty:
            try:
                results.append([name, structure_json.pack(parameter.default)])
            except structure_json.Strange:
                continue
    return results


SAVE.fill(save_concrete)
