"""`tf.autograph.experimental.set_loop_options`: options that a body sets for its loop."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wengert.autograph.retrace import Learn, Wider
from wengert.core.context import Setting, own_variable
from wengert.core.errors import at_site
from wengert.core.types import SymbolicTensor, TensorLike, TensorShape

if TYPE_CHECKING:
    from wengert.autograph.loop_state import Slots
    from wengert.functions.tensor_array import TensorArray


OPTIONS = "options"


@dataclass(frozen=True)
class LoopOptions:
    """The options of one loop, as `tf.while_loop` takes them."""

    parallel_iterations: int = 10
    swap_memory: bool = False
    maximum_iterations: Any = None

    def most(self, count: SymbolicTensor | int | None) -> Any:
        """The most turns of a loop that makes `count` by itself (`None` where that is open)."""
        if self.maximum_iterations is None:
            return count
        return self.maximum_iterations if count is None else _least(count, self.maximum_iterations)


def _least(a: Any, b: Any) -> int:
    if isinstance(a, int) and isinstance(b, int):
        return min(a, b)
    from wengert.ops.select import minimum

    least: Any = minimum(a, b)
    return least


_Active = tuple[LoopOptions, Any, Sequence[Any]]
_active: ContextVar[_Active | None] = own_variable("wengert_loop", None)


def collecting(
    options: LoopOptions, slots: Slots, tensors: list[SymbolicTensor | TensorArray]
) -> Setting[_Active | None, None]:
    """Lets the body that is traced in a block speak about its loop."""
    return Setting(_active, (options, slots, tensors))


def set_loop_options(
    parallel_iterations: Any = None,
    swap_memory: Any = None,
    maximum_iterations: TensorLike | None = None,
    shape_invariants: Any = None,
) -> None:
    """Tells the loop around something about itself; call it first in the body.

    `shape_invariants` pairs tensors of the loop with the shapes that hold in every turn. Shapes
    that change are found out without it. Outside a loop on tensors it does nothing.
    """
    active = _active.get()
    if active is None:
        return
    old, slots, tensors = active
    new = LoopOptions(
        old.parallel_iterations if parallel_iterations is None else parallel_iterations,
        old.swap_memory if swap_memory is None else swap_memory,
        old.maximum_iterations if maximum_iterations is None else maximum_iterations,
    )
    learned: dict[Any, Any] = {} if new == old else {OPTIONS: new}
    for tensor, shape in shape_invariants or ():
        for slot, given in zip(slots.slots, tensors, strict=True):
            wanted = _sizes(shape)
            if given is not tensor or slots.hints.get(slot.path) == Wider(wanted, told=True):
                continue
            if not TensorShape(slot.start.shape).is_subtype_of(TensorShape(wanted)):
                raise at_site(ValueError(slots.breaks(slot.path, wanted, "before the loop")))
            learned[slot.path] = Wider(wanted, told=True)
    if learned:
        raise Learn(slots.owner, learned)


def _sizes(shape: TensorShape) -> Any:
    result = TensorShape(shape)
    return None if result.rank is None else tuple(result.as_list())
