"""Signatures: functions under a name, whose tensors go in and come out by name."""

from __future__ import annotations

from typing import Any, NamedTuple

from wengert.core.errors import at_site, describe
from wengert.functions.concrete import ConcreteFunction
from wengert.functions.function import Function
from wengert.functions.trace import Slot
from wengert.saved_model.saved_objects import ObjectTree

DEFAULT = "serving_default"


class Signature(NamedTuple):
    """A concrete function, and which of its results has which name."""

    concrete: ConcreteFunction
    outputs: dict[str, int]

    @classmethod
    def of(cls, name: str, concrete: ConcreteFunction) -> Signature | None:
        """The signature of a function; `None` where its results are nested."""
        result = _outputs(concrete._trace.skeleton)
        return None if isinstance(result, str) else cls(concrete, result)


def _outputs(skeleton: Any) -> dict[str, int] | str:
    """The numbers of the results by name, or the key under which there is no tensor."""
    if skeleton is None:
        return {}
    if isinstance(skeleton, Slot):
        return {"output_0": skeleton.number}
    if isinstance(skeleton, dict):
        items = [(k, v) for k, v in skeleton.items()]
    elif isinstance(skeleton, list | tuple):
        items = [(f"output_{k}", v) for k, v in enumerate(skeleton)]
    else:
        return type(skeleton).__name__
    bad = [k for k, v in items if not isinstance(v, Slot) or not isinstance(k, str)]
    return str(bad[0]) if bad else {k: v.number for k, v in items}


def signatures_of(
    signatures: dict[str, ConcreteFunction | Function] | ConcreteFunction | None,
) -> dict[str, Signature]:
    """The user's `signatures` argument, as signatures by name."""
    if signatures is None:
        return {}
    if not isinstance(signatures, dict):
        signatures = {DEFAULT: signatures}
    return {name: _checked(name, function) for name, function in signatures.items()}


def _checked(name: str, function: ConcreteFunction | Function) -> Signature:
    if not isinstance(name, str):
        raise at_site(
            ValueError(f"save: the names of signatures are strings; got {describe(name)}.")
        )
    concrete = _concrete(function)
    if concrete is None:
        raise at_site(
            ValueError(
                f"save: the signature {name!r} must be a tf.function with an `input_signature`, "
                f"or a concrete function; got {describe(function)}. Give the function an "
                f"`input_signature`, or call get_concrete_function."
            )
        )
    outputs = _outputs(concrete._trace.skeleton)
    if isinstance(outputs, str):
        raise at_site(
            ValueError(
                f"save: the signature {name!r} must return a tensor, a list of tensors or a dict "
                f"of tensors by name; under {outputs!r} there is something else."
            )
        )
    return Signature(concrete, outputs)


def _concrete(function: Any) -> ConcreteFunction | None:
    if isinstance(function, ConcreteFunction):
        return function
    if isinstance(function, Function) and function.input_signature is not None:
        return function.get_concrete_function()
    return None


def default_signature(root: Any, tree: ObjectTree) -> dict[str, Signature]:
    """The signature of an object for which none was named, where there is just one candidate."""
    named = getattr(root, "_default_save_signature", None)
    functions = [root] if named is None else [named]
    if named is None:
        functions += [tree.objects[k] for k in tree.names[0].values()]
    made = [Signature.of(DEFAULT, c) for c in map(_concrete, functions) if c is not None]
    fit = [s for s in made if s is not None]
    return {DEFAULT: fit[0]} if len(fit) == 1 else {}
