"""What branches and bodies return, held against what is expected: structure, dtypes, shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wengert.core import nest
from wengert.core.errors import at_site, describe
from wengert.core.op import ShapeDtype
from wengert.core.shapes import TensorShape, compatible
from wengert.functions.signature import Apart, frozen
from wengert.functions.subgraphs import Inner
from wengert.ops.cast import ensure_shape

if TYPE_CHECKING:
    from wengert.core.tensor import Tensor


def same_structure(a: Any, b: Any, check_types: bool = True) -> bool:
    """Whether two results have the same structure; `None` is a part of it."""
    try:
        nest.assert_same_structure(a, b, check_types=check_types)
    except (TypeError, ValueError):
        return False
    flat = zip(nest.flatten(a), nest.flatten(b), strict=True)
    return all((x is None) == (y is None) and _same_kind(x, y) for x, y in flat)


def _same_kind(a: Any, b: Any) -> bool:
    """Whether two of the user's own containers, if these are some, have one kind and metadata."""
    own = [x for x in (a, b) if isinstance(x, Apart) and nest.takes_itself_apart(x.kind)]
    if not own:
        return True
    if len(own) == 1 or a.kind is not b.kind or frozen(a.rest) != frozen(b.rest):
        return False
    return same_structure(a.parts, b.parts)


def shown(structure: Any) -> str:
    """A structure with its tensors as `float32[2,3]`."""
    return str(nest.map_structure(lambda x: Text(describe(x)), structure))


class Text(str):
    """What stands for a tensor where a structure is shown: a text without quotes."""

    def __repr__(self) -> str:
        return str(self)


def ends(inner: Inner) -> list[ShapeDtype]:
    """What is known of the results of a traced branch or body."""
    return [inner.graph.specs[v] for v in inner.graph.outputs]


def held(x: Tensor, spec: ShapeDtype) -> Tensor:
    """A new state with the shape of the old one, where only the running loop tells."""
    new = x.shape._dims
    if new is None or TensorShape(new).is_subtype_of(spec.shape) or not compatible(spec.shape, new):
        return x
    return ensure_shape(x, spec.shape)


def check_states(name: str, olds: list[ShapeDtype], news: list[ShapeDtype], help: str) -> None:
    """Refuses a body whose states do not keep their dtypes and shapes from turn to turn."""
    for k, (old, new) in enumerate(zip(olds, news, strict=True)):
        if old.dtype is not new.dtype:
            raise at_site(
                TypeError(
                    f"{name} {k} changes its dtype: before {describe(old)}, after "
                    f"{describe(new)}. Cast it in the body."
                )
            )
        if not TensorShape(new.shape).is_subtype_of(old.shape):
            raise at_site(
                ValueError(
                    f"{name} {k} changes its shape: before {describe(old)}, after "
                    f"{describe(new)}. {help}"
                )
            )
