"""Symbolic tensors that the functions of a dataset close over: bound when the graph runs.

They are looked for in the closures and defaults of Python functions, in what these hold in lists
and dicts, and in functions that they call by such names; not in attributes of objects.
"""

from __future__ import annotations

import functools
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from wengert.core.apply import wrap
from wengert.core.types import SymbolicTensor, Tensor, TensorSpec
from wengert.graph.builder import building


class Captured:
    """The symbolic tensors that one function closes over: arguments of its dataset."""

    def __init__(self, function: Any, tensors: list[SymbolicTensor]) -> None:
        self.tensors = tensors
        self.specs = [TensorSpec(t.shape, t.dtype) for t in tensors]
        self._function = function
        self._function = self.filled(tensors)  # as it is now: names may be bound anew later

    def resolve(self, *values: Tensor) -> list[Tensor]:
        """The values of the tensors in one call."""
        return list(values)

    def filled(self, values: Any) -> Any:
        """The function with values in place of the tensors."""
        pairs = zip(self.tensors, values, strict=True)
        return _Filler({t._id: v for t, v in pairs})(self._function)

    def samples(self) -> list[Any]:
        """Values that fit the tensors, for a look at what the function makes of them."""
        return [wrap(_sample(s)) for s in self.specs]


def _sample(spec: Any) -> np.ndarray:
    shape = [1 if d is None else d for d in spec.shape._dims or ()]
    return np.full(shape, b"" if spec.dtype.kind == "s" else 0, spec.dtype.np)


def captured(function: Any) -> Captured | None:
    """The tensors of the trace under way that a function closes over; `None` if it does not."""
    if building() is None:
        return None
    result = _tensors_in(function, {}, set())
    return Captured(function, list(result.values())) if result else None


def _tensors_in(value: Any, tensors: dict[int, Any], seen: set[int]) -> dict[int, SymbolicTensor]:
    """All tensors of traces that a value holds, by their ids."""
    if isinstance(value, SymbolicTensor):
        tensors[value._id] = value
    elif id(value) not in seen:
        seen.add(id(value))
        for part in _parts(value):
            _tensors_in(part, tensors, seen)
    return tensors


def _parts(value: Any) -> list[Any]:
    """The values that a function or container refers to."""
    if isinstance(value, FunctionType):
        cells = [c.cell_contents for c in value.__closure__ or () if _is_full(c)]
        return [*cells, *(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()]
    if isinstance(value, functools.partial):
        return [value.func, *value.args, *value.keywords.values()]
    if isinstance(value, MethodType):
        return [value.__func__]
    if type(value) is dict:
        return list(value.values())
    return list(value) if type(value) in (list, tuple) else []


def _is_full(cell: CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018  # raises where nothing was assigned
    except ValueError:
        return False
    return True


class _Filler:
    """Copies functions and containers that hold certain tensors, with values for these."""

    def __init__(self, values: dict[int, Any]) -> None:
        self._values = values
        self._made: dict[int, Any] = {}  # functions may call each other

    def __call__(self, value: Any) -> Any:
        if isinstance(value, SymbolicTensor):
            return self._values.get(value._id, value)
        if id(value) in self._made:
            return self._made[id(value)]
        if self._values.keys().isdisjoint(_tensors_in(value, {}, set())):
            return value
        if isinstance(value, FunctionType):
            return self._function(value)
        if isinstance(value, functools.partial):
            named = {k: self(v) for k, v in value.keywords.items()}
            return functools.partial(self(value.func), *map(self, value.args), **named)
        if isinstance(value, MethodType):
            return MethodType(self(value.__func__), value.__self__)
        if type(value) is dict:
            return {k: self(v) for k, v in value.items()}
        return type(value)(map(self, value))

    def _function(self, old: FunctionType) -> FunctionType:
        cells = tuple([self._cell(c) for c in old.__closure__ or ()])
        new = FunctionType(old.__code__, old.__globals__, old.__name__, None, cells)
        self._made[id(old)] = new
        for cell, before in zip(cells, old.__closure__ or (), strict=True):
            if cell is not before:
                cell.cell_contents = self(before.cell_contents)
        new.__defaults__ = old.__defaults__ and tuple(map(self, old.__defaults__))
        new.__kwdefaults__ = old.__kwdefaults__ and {
            k: self(v) for k, v in old.__kwdefaults__.items()
        }
        new.__qualname__ = old.__qualname__
        vars(new).update(vars(old))
        return new

    def _cell(self, cell: CellType) -> CellType:
        """A new cell where the contents change; others may be written to, and are shared."""
        changes = _is_full(cell) and not self._values.keys().isdisjoint(
            _tensors_in(cell.cell_contents, {}, set())
        )
        return CellType() if changes else cell
