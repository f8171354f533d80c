"""The operations that variables, conversions and graphs need although `ops` stands above them.

`ops` and `tape` fill these hooks. Nothing else of `core` knows a particular operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from wengert.core.hooks import Hook

if TYPE_CHECKING:
    from wengert.core.types import Dim, DType, IndexedSlices, Tensor, Value, Variable

STACK: Hook[Callable[[Sequence[Value]], Tensor]] = Hook("stack", "wengert.ops.joining")
READ: Hook[Callable[[Variable], Tensor]] = Hook("read", "wengert.ops.shaping")
GATHER: Hook[Callable[..., Tensor]] = Hook("gather", "wengert.ops.gather")
GATHER_ND: Hook[Callable[..., Tensor]] = Hook("gather_nd", "wengert.ops.gather")
DENSIFY: Hook[Callable[[IndexedSlices], Tensor]] = Hook("densify", "wengert.ops.gather")
CAST: Hook[Callable[[Value, DType], Tensor]] = Hook("cast", "wengert.ops.cast")
NUMBER: Hook[Callable[[Dim, DType | None], Tensor]] = Hook("number", "wengert.ops.dims")
DERIVE: Hook[Callable[[Value, Value], Tensor]] = Hook("derive", "wengert.ops.seeds")
COUNT: Hook[Callable[[Variable, Any], Tensor]] = Hook("count", "wengert.ops.checks")
UPDATE: Hook[Callable[..., None]] = Hook("update", "wengert.ops.updates")
# The gradients of a Python function of tensors, by its inputs, for the gradients of its results.
PULL: Hook[Callable[[Callable[..., Any], list[Any], list[Any]], list[Any]]] = Hook(
    "pull", "wengert.tape.gradient_tape"
)
