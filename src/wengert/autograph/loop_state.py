"""Flattens the state of a loop into the tensors that the loop carries, and rebuilds it.

A slot is one carried tensor. Numbers that the body assigns are carried from the start. Other Python
values, and those inside containers, are constants of the loop until the body changes them: then
the loop is traced again with them carried.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.autograph import value_trees
from wengert.autograph.closure_state import State
from wengert.autograph.lists import FillingList, TracedList, is_array
from wengert.autograph.retrace import AsList, AsTensor, Growing, Learn, Owner, StandIn, Wider
from wengert.autograph.state_plans import (
    Carried,
    Filled,
    Fixed,
    Grown,
    Local,
    Many,
    Path,
    is_missing,
    rows_shape,
)  # fmt: skip
from wengert.core.apply import wrap
from wengert.core.types import SymbolicTensor, Tensor, TensorShape, TensorSpec

if TYPE_CHECKING:
    from wengert.functions.tensor_array import TensorArray


class Slot:
    """A tensor of the state: where it is, what it came from, what is known of its shapes."""

    __slots__ = ("given", "path", "shape", "start")

    def __init__(
        self, path: Path, given: Any, start: Any, shape: tuple[int | None, ...] | None
    ) -> None:
        self.path = path
        self.given = given
        self.start = start
        self.shape = shape


class Slots:
    """A guess of what the state of a loop is."""

    def __init__(
        self, state: State, hints: dict[Any, Any], owner: Owner, counted: bool, loose: bool = False
    ) -> None:
        self.state = state
        self.hints = hints
        self.owner = owner
        # A counted loop can give rows, so lists may be filled by it.
        self.counted = counted
        self.loose = loose
        self.slots: list[Slot] = []
        self.standing_in: list[str] = []
        self.learned: dict[Any, Any] = {}
        self._fixed: list[Fixed] = []
        self._plans = [self._symbol(k, v) for k, v in enumerate(state.before)]

    def _symbol(self, k: int, value: Any) -> Any:
        symbol = self.state.symbols[k]
        if self.state.site.is_local(symbol):
            return Local(f"`{symbol}`", self.state.site)
        return self.plan((k,), value)

    def plan(self, path: Path, value: Any) -> Any:
        """The plan that carries one value."""
        hint = self.hints.get(path)
        if isinstance(hint, StandIn) and is_missing(value):
            if str(self.state.symbols[path[0]]) != self.state.site.result:
                self.standing_in.append(self.name(path))
            return self._blank(path, hint.needed)
        if value_trees.is_stale(value):  # an attribute that an earlier trace has left behind
            return Fixed(self, path, value)
        if isinstance(value, list | TracedList | FillingList):
            return self._list(path, value, hint)
        return (
            self._parts(path, value)
            if value_trees.is_tree(value)
            else self._leaf(path, value, hint)
        )

    def _parts(self, path: Path, value: Any) -> Many:
        inner = [self.plan((*path, i), p) for i, p in enumerate(value_trees.parts(value))]
        return Many(self, path, value, inner)

    def _list(self, path: Path, value: Any, hint: Any) -> Filled | Grown | Many:
        if isinstance(value, FillingList):
            value.used()
        if self._fills(path, hint):
            return Filled(self, path, value)
        if isinstance(value, list) and not isinstance(hint, Growing):
            return self._parts(path, value)
        grown = TracedList.start(hint.element, value) if isinstance(value, list) else value
        return Grown(self, path, grown)

    def _leaf(self, path: Path, value: Any, hint: Any) -> Carried | Fixed:
        if value_trees.is_tensor(value):
            shape = hint.shape if isinstance(hint, Wider) else value_trees.shape_of(value)
            return self.carry(path, value, value, shape)
        if is_array(value):
            return self.carry(path, value, value, rows_shape(value.element_shape))
        if isinstance(hint, AsTensor | Wider) and value_trees.is_variable(value):
            start = value_trees.as_tensor(value)
            shape = hint.shape if isinstance(hint, Wider) else value_trees.shape_of(start)
            return self.carry(path, value, start, shape)
        if value_trees.is_constant(value) and (
            isinstance(hint, AsTensor) or self._becomes(path, value)
        ):
            return self._number(path, value, hint)
        plan = Fixed(self, path, value)
        self._fixed.append(plan)
        return plan

    def _fills(self, path: Path, hint: AsList | Growing | None) -> bool:
        symbol = self.state.symbols[path[0]]
        wanted = len(path) == 1 and symbol in self.state.site.appended
        return wanted and self.counted and not isinstance(hint, AsList | Growing)

    def _becomes(self, path: Path, value: Any) -> bool:
        """Whether a constant is a tensor from the start: a number that the body assigns."""
        return len(path) == 1 and not self.loose and value_trees.is_number(value)

    def _number(self, path: Path, value: Any, hint: Any) -> Carried:
        start = value_trees.as_tensor(value, hint.dtype if hint else None)
        if hint and hint.shape:
            start = wrap(np.broadcast_to(start._array, hint.shape).copy())
        return self.carry(path, value, start, value_trees.shape_of(start))

    def _blank(self, path: Path, needed: tuple[TensorSpec, ...] | TensorSpec) -> Any:
        """Zeros in place of a value that the first turn will make."""
        if value_trees.is_tree(needed):
            inner = [self._blank((*path, i), p) for i, p in enumerate(value_trees.parts(needed))]
            return Many(self, path, needed, inner)
        start = value_trees.zeros(needed)
        if isinstance(start, TracedList):
            return Grown(self, path, start)
        hint = self.hints.get(path)
        shape = hint.shape if isinstance(hint, Wider) else value_trees.shape_of(needed)
        return self.carry(path, needed, start, shape)

    def carry(
        self,
        path: Path,
        given: Any,
        start: Tensor | TensorArray,
        shape: tuple[int | None, ...] | None,
    ) -> Carried:
        self.slots.append(Slot(path, given, start, shape))
        return Carried(self, len(self.slots) - 1)

    # What the loop asks.

    @property
    def start(self) -> list[Any]:
        return [s.start for s in self.slots]

    @property
    def has_numbers(self) -> bool:
        """Whether a number of Python's has become a tensor of a dtype nobody asked for."""
        return any(value_trees.is_number(s.given) and s.path not in self.hints for s in self.slots)

    def lesson_of(self, error: BaseException) -> dict[Any, Any]:
        """The hint from an augmented assignment to a `tf.Variable`: the loop carries its value."""
        variable = getattr(error, "variable", None)
        results = [s for s in self._fixed if variable is not None and s.value is variable]
        return {plan.path: AsTensor() for plan in results}

    def shapes(self) -> list[TensorShape]:
        """The static shape of each tensor over all iterations."""
        return [TensorShape(s.shape) for s in self.slots]

    def values(self, tensors: list[SymbolicTensor | TensorArray]) -> list[Any]:
        """The state of the user's function in a turn, for tensors in the slots."""
        return [plan.fill(tensors) for plan in self._plans]

    def final(
        self, tensors: list[SymbolicTensor | TensorArray], stacks: list[SymbolicTensor]
    ) -> list[Any]:
        """The state of the user's function after the loop."""
        left = iter(stacks)
        return [p.final(left) if isinstance(p, Filled) else p.fill(tensors) for p in self._plans]

    def outcome(self, values: list[Any]) -> tuple[list[Tensor | TensorArray], list[SymbolicTensor]]:
        """The tensors and rows of an iteration; raises `Learn` where the guess was wrong."""
        table: dict[int, Any] = {}
        rows: list[Any] = []
        self.learned = {}
        for plan, value in zip(self._plans, values, strict=True):
            if isinstance(plan, Filled):
                rows += plan.rows(value)
            else:
                plan.match(value, table)
        if self.learned:
            raise Learn(self.owner, self.learned)
        return [table[i] for i in range(len(self.slots))], rows

    # What plans say.

    def name(self, path: Path) -> str:
        return str(self.state.symbols[path[0]])

    def learn(self, path: Path, hint: Any) -> None:
        self.learned[path] = hint

    def breaks(self, path: Path, invariant: Any, when: str, value: Any = None) -> str:
        """The message for a state that violates the program's `shape_invariants`."""
        slot = next(s for s in self.slots if s.path == path)
        result = value_trees.described(slot.start if value is None else value)
        return (
            f"{self.state.site.kind}: `{self.name(path)}` must keep its shape invariant "
            f"{TensorShape(invariant)}; it is {result} {when}. Give a shape that all turns have, or "
            "tell more of this one with tf.ensure_shape."
        )

    def changed(self, path: Path, what: str, before: Any, after: Any, help: str = "") -> str:
        symbol = self.name(path)
        name = "the returned value" if symbol == self.state.site.result else f"`{symbol}`"
        return (
            f"{self.state.site.kind}: {name} must keep its {what} from turn to turn; it is "
            f"{value_trees.described(before)} before the loop and {value_trees.described(after)} after one "
            f"turn. {help}"
        ).rstrip()
