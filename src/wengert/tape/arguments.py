"""What users may ask a tape about, and how they say what they want for an answer."""

from __future__ import annotations

import enum
from collections.abc import Container
from typing import TYPE_CHECKING, Any

from wengert.core import nest
from wengert.core.context import building_graph
from wengert.core.errors import at_site, describe
from wengert.core.types import (
    CompositeTensor,
    IndexedSlices,
    SymbolicTensor,
    Tensor,
    Value,
    Variable,
)

if TYPE_CHECKING:
    from wengert.core.variable_aliases import Alias


class UnconnectedGradients(enum.Enum):
    """What `gradient` answers for a source that the target does not depend on."""

    NONE = "none"
    ZERO = "zero"
    ERROR = "error"


# Python looks the members of an enumeration up slowly.
NONE, ZERO, ERROR = UnconnectedGradients


def leaves(structure: Any) -> list[Any]:
    """The leaves of a nest; a list of tensors, the usual case, is its own."""
    if isinstance(structure, Value):
        return [structure]
    return structure if _plain(structure) else nest.flatten(structure)


def _plain(structure: Any) -> bool:
    """Whether this is a list of tensors and variables."""
    if type(structure) is not list:
        return False
    kinds = set(map(type, structure))
    return kinds <= USUAL or all(issubclass(kind, Value) for kind in kinds)


USUAL = {Tensor, Variable}  # what most programs ask about


_INSTEAD = {
    "source": "Convert it with tf.convert_to_tensor before the tape uses it.",
    "primal": "Convert it with tf.convert_to_tensor before it is used.",
    "target": "Ask for the tensor itself; float() and .numpy() leave the tape.",
}


def all_asked(what: str, structure: Any, role: str = "source") -> tuple[list[Any], list[Any]]:
    """The leaves of a nest, and the tensors and variables that they are or stand for."""
    flat = leaves(structure)
    if flat is structure or isinstance(structure, Value):
        return flat, flat
    return flat, [asked(what, x, TypeError, role) for x in flat]


def asked(what: str, value: Any, kind: type[Exception], role: str = "source") -> Value:
    """A tensor or variable that may be asked about, or a plain word on why it may not."""
    if isinstance(value, Value):
        return value
    as_source = getattr(value, "_as_source", None)  # of an array that NumPy made of tensors
    tensor = None if as_source is None else as_source()
    if tensor is not None:
        return tensor
    handle = getattr(value, "handle", None)
    if isinstance(handle, Value):
        return handle
    if isinstance(value, CompositeTensor):
        return value._differentiable()
    raise at_site(
        kind(
            f"{what}: a {role} must be a tensor or variable; got {type(value).__name__} "
            f"{describe(value)}. {_INSTEAD[role]}"
        )
    )


def present(value: Value | Alias) -> Value | Alias:
    """A tensor as the graph being built knows it.

    A rule of `custom_gradient` speaks of tensors of the function that was traced. It may run where
    that function was run again in another graph, and there they are others.
    """
    graph = building_graph() if type(value) is SymbolicTensor else None
    return value if graph is None else graph.own(value)


def met(known: Container[int], values: list[Any]) -> list[Value | Alias]:
    """The same, where they are `known` under that name; else as they were given."""
    if building_graph() is None:
        return values
    now = [(x, present(x)) for x in values]
    return [new if new._id in known else old for old, new in now]


def regrouped(
    sources: list[Any], gradients: list[Tensor | IndexedSlices | None]
) -> list[Tensor | CompositeTensor | None]:
    """Gradients in the form of their sources: that of a ragged tensor is ragged."""
    return [
        s._with_gradient(g) if isinstance(s, CompositeTensor) else g
        for s, g in zip(sources, gradients, strict=True)
    ]


def mode(value: Any) -> UnconnectedGradients:
    """What to answer for unconnected sources, said as the enumeration or as a word."""
    if value is NONE:
        return value
    try:
        return UnconnectedGradients(getattr(value, "value", value))
    except ValueError:
        raise at_site(
            ValueError(
                f"gradient: `unconnected_gradients` must be 'none', 'zero' or 'error'; got {value!r}."
            )
        ) from None
