"""Branches and loops of the graph without a graph: eager stand-ins that obey the same rules.

Every tensor counts as one of a trace. A branch runs both of its sides, as tracing would, and then
chooses; a loop runs its body as often as the condition holds, with the state in the slots.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wengert as tf
from wengert.autograph import (
    builtin_forms, lists, logic, loops, operators, primitives, rows, values,
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

    def _with(self, items: list[Any]) -> TensorArray:
        return TensorArray(self.dtype, element_shape=self.element_shape, items=tuple(items))

    def write(self, i: Any, x: Any) -> TensorArray:
        i = int(i)
        items = list(self.items) + [None] * (i + 1 - len(self.items))
        items[i] = x
        return self._with(items)

    def read(self, i: Any) -> Any:
        # A side that is not chosen may read anything.
        if -len(self.items) <= int(i) < len(self.items):
            return self.items[int(i)]
        return tf.zeros([d or 0 for d in self.element_shape], self.dtype)

    def size(self) -> Any:
        return tf.constant(len(self.items))

    def stack(self) -> Any:
        if self.items:
            return tf.stack(list(self.items))
        return tf.zeros([0, *self.element_shape], self.dtype)

    def concat(self) -> Any:
        return tf.concat(list(self.items), 0)


def conditional(condition: Any, then: Any, otherwise: Any, join: Any) -> list[Any]:
    assert condition.dtype is tf.bool and condition.shape.rank == 0
    left, right = join(then(), otherwise())
    assert [type(x) for x in left] == [type(x) for x in right]
    assert [x.dtype for x in left] == [x.dtype for x in right]
    assert all(isinstance(x, Tensor | TensorArray) for x in left)
    return left if bool(condition) else right


def loop(test: Any, body: Any, start: Any, shapes: Any, options: Any) -> list[Any]:
    state = list(start)
    dtypes = [x.dtype for x in start]
    body_was_traced = False
    turns = 0
    while True:
        go = test(*state)
        if not body_was_traced:
            body(*state)
            body_was_traced = True
        if not bool(go):
            return state
        new = list(body(*state))
        assert [x.dtype for x in new] == dtypes
        for x, shape in zip(new, shapes, strict=True):
            if isinstance(x, Tensor):
                assert x.shape.is_compatible_with(shape)
        state = new
        turns += 1
        most = options["maximum_iterations"]
        if most is not None and turns >= int(most):
            assert True
            return state


def check(condition: Any, message: str) -> None:
    if not bool(condition):
        failures.append(message)


failures: list[str] = []


def install(patch: pytest.MonkeyPatch) -> None:
    """Puts the stand-ins in place."""
    failures.clear()

    def symbolic(x: Any) -> bool:
        return isinstance(x, Tensor | lists.TracedList)

    def source(x: Any) -> Any:
        if isinstance(x, lists.TracedList):
            return rows.Elements(x)
        return rows.Rows(x) if isinstance(x, Tensor) else x

    patch.setattr(primitives, "conditional", conditional)
    patch.setattr(primitives, "loop", loop)
    patch.setattr(primitives, "check", check)
    patch.setattr(lists, "_array_type", lambda: TensorArray)
    for module in (values, logic, builtin_forms):
        patch.setattr(module, "symbolic", symbolic)
    patch.setattr(builtin_forms, "building", lambda: True)
    for module in (values, loops):
        patch.setattr(module, "looping", symbolic)
    for module in (rows, builtin_forms):
        patch.setattr(module, "source", source)
    for module in (logic, builtin_forms):
        patch.setattr(module, "SymbolicTensor", Tensor)
    patch.setattr(rows, "SymbolicTensor", Tensor)
    patch.setattr(operators.rows, "source", source)


def to_numbers(value: Any) -> Any:
    """Tensors as NumPy values, in the same structure."""
    if isinstance(value, list | tuple):
        return type(value)(map(to_numbers, value))
    if isinstance(value, lists.TracedList):
        return [to_numbers(x) for x in value.arrays[0].items]
    return value.numpy() if isinstance(value, Tensor) else np.asarray(value)[()]
