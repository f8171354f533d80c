"""Branches and loops of the graph without a graph: eager stand-ins that obey the same rules.

Every tensor counts as one of a trace. A branch runs both of its sides, as tracing would, and then
chooses; a loop runs its body once for the sake of tracing, then as often as the condition holds.
"""

from __future__ import annotations

from typing import Any

import pytest

import wengert as tf
from wengert.autograph import (
    builtin_forms,
    iteration,
    lists,
    logic,
    loop_operators,
    operators,
    primitives,
    traced_values,
)  # fmt: skip
from wengert.core.tensor import Tensor


class TensorArray:
    """As much of `tf.TensorArray` as lists need."""

    def __init__(
        self, dtype: Any, size: int = 0, dynamic_size: bool = True, clear_after_read: bool = False,
        element_shape: Any = None, items: tuple[Any, ...] = (),
    ) -> None:  # fmt: skip
        self.dtype = dtype
        self.element_shape = element_shape
        self.items = items

    def _with(self, items: Any) -> TensorArray:
        return TensorArray(self.dtype, element_shape=self.element_shape, items=tuple(items))

    def unstack(self, x: Any) -> TensorArray:
        return self._with(tf.unstack(x))

    def write(self, i: Any, x: Any) -> TensorArray:
        items = list(self.items) + [None] * (int(i) + 1 - len(self.items))
        items[int(i)] = x
        return self._with(items)

    def read(self, i: Any) -> Any:
        # A side that is not chosen may read anything.
        if 0 <= int(i) < len(self.items):
            return self.items[int(i)]
        return tf.zeros([d or 0 for d in self.element_shape], self.dtype)

    def size(self) -> Any:
        return tf.constant(len(self.items))

    def stack(self) -> Any:
        if self.items:
            return tf.stack(list(self.items))
        return tf.zeros([0, *self.element_shape], self.dtype)


class nothing:
    """The graph of a side that has none."""

    nodes = ()


def traced_side(name: str, run: Any) -> Any:
    return primitives.Side(nothing, run())  # type: ignore[arg-type]  # there is no graph


def chosen(condition: Any, sides: Any, outs: Any) -> list[Any]:
    left, right = outs
    assert condition.dtype is tf.bool
    assert [type(x) for x in left] == [type(x) for x in right]
    assert [x.dtype for x in left] == [x.dtype for x in right]
    assert all(isinstance(x, Tensor | TensorArray) for x in left)
    return left if bool(condition) else right


def loop(plan: Any) -> tuple[list[Any], list[Any]]:
    state, made, example = list(plan.start), [], []
    count = None if plan.count is None else int(plan.count)
    for turn in range(-1, 1000 if count is None else count):
        # The first time is for tracing only: its results are dropped.
        i = tf.constant(max(turn, 0))
        if turn >= 0 and plan.test is not None and not bool(plan.test(i, state)):
            break
        if turn < 0 and count == 0:
            new = plan.body(i, state, [tf.zeros(x.shape[1:], x.dtype) for x in plan.stacks])
        else:
            new = plan.body(i, state, [x[int(i)] for x in plan.stacks])
        assert [x.dtype for x in new[0]] == [x.dtype for x in state]
        for x, shape in zip(new[0], plan.shapes, strict=True):
            assert not isinstance(x, Tensor) or x.shape.is_compatible_with(shape)
        if turn >= 0:
            state = list(new[0])
            made.append(new[1])
        example = new[1]
    columns = list(zip(*made, strict=True)) or [() for _ in example]
    blank = [tf.zeros([0, *x.shape], x.dtype) for x in example]
    return state, [tf.stack(list(c)) if c else z for c, z in zip(columns, blank, strict=True)]


def symbolic(x: Any) -> bool:
    return isinstance(x, Tensor | lists.TracedList)


def source(x: Any) -> Any:
    if isinstance(x, lists.TracedList):
        return iteration.Elements(x)
    return iteration.Rows(x) if isinstance(x, Tensor) else x


def install(patch: pytest.MonkeyPatch) -> None:
    """Puts the stand-ins in place."""
    patch.setattr(primitives, "traced_side", traced_side)
    patch.setattr(primitives, "chosen", chosen)
    patch.setattr(primitives, "unasked", lambda side: None)
    patch.setattr(primitives, "loop", loop)
    patch.setattr(lists, "_array_type", lambda: TensorArray)
    patch.setattr(builtin_forms, "building", lambda: True)
    patch.setattr(operators.iteration, "source", source)
    for module in (traced_values, logic, builtin_forms):
        patch.setattr(module, "symbolic", symbolic)
    for module in (traced_values, loop_operators):
        patch.setattr(module, "looping", symbolic)
    for module in (iteration, builtin_forms):
        patch.setattr(module, "source", source)
    for module in (logic, builtin_forms, iteration):
        patch.setattr(module, "SymbolicTensor", Tensor)
