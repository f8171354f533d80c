"""The variables that a branch or loop changes, read and written through closure cells.

A symbol is a cell (or a global) and a path of attributes and keys from it. An unbound symbol reads
as `EMPTY`, and writing `EMPTY` unbinds it.
"""

from __future__ import annotations

from types import CellType, FunctionType
from typing import Any

from wengert.autograph import value_trees
from wengert.autograph.conversion_unit import Construct
from wengert.autograph.lists import TracedList
from wengert.autograph.name_analysis import Symbol
from wengert.autograph.undefined import EMPTY
from wengert.core.tensor import Tensor


class Cells:
    """The variables of one activation of a function, by name."""

    __slots__ = ("_cells", "_globals", "_read")

    def __init__(self, every: FunctionType) -> None:
        names = every.__code__.co_freevars
        self._cells: dict[str, CellType] = dict(zip(names, every.__closure__ or (), strict=True))
        self._globals = every.__globals__
        self._read = every.__code__.co_names

    def add(self, value: Any) -> str:
        """A variable of ours beside the user's; its name is none that Python would take."""
        name = f"<{len(self._cells)}>"
        self._cells[name] = CellType(value)
        return name

    def names(self) -> list[str]:
        """The names of the variables, and of the globals that the function reads."""
        return [*self._cells, *self._read]

    def own(self) -> list[str]:
        """The names of the variables alone."""
        return list(self._cells)

    def get(self, name: str) -> Any:
        cell = self._cells.get(name)
        if cell is None:
            return self._globals.get(name, EMPTY)
        try:
            return cell.cell_contents
        except ValueError:
            return EMPTY

    def forms(self) -> tuple[Any, ...]:
        """The dtypes and shapes of the tensors among the variables, on which hints may depend."""
        results = [(name, self.get(name)) for name in self._cells]
        return tuple([(n, value_trees.form(v)) for n, v in results if isinstance(v, Tensor)])

    def set(self, name: str, value: Any) -> None:
        cell = self._cells.get(name)
        if cell is None:
            if value is EMPTY:
                self._globals.pop(name, None)
            else:
                self._globals[name] = value
        elif value is not EMPTY:
            cell.cell_contents = value
        elif self.get(name) is not EMPTY:
            del cell.cell_contents


def read(cells: Cells, symbol: Symbol) -> Any:
    """The value of a symbol."""
    value = cells.get(symbol.base)
    for kind, key in symbol.steps:
        value = _step(value, kind, cells.get(key) if kind == "n" else key)
        if value is EMPTY:
            break
    return value


def _step(value: Any, kind: str, key: Any) -> Any:
    if kind == ".":
        return getattr(value, key, EMPTY)
    try:
        # Asking other containers could have effects: a `defaultdict` would make the item.
        if isinstance(value, dict):
            return dict.get(value, key, EMPTY)
        return value[key] if isinstance(value, list) else EMPTY
    except (IndexError, TypeError):
        return EMPTY


def write(cells: Cells, symbol: Symbol, value: Any) -> None:
    """Assigns a value to a symbol, unless the symbol has it already."""
    if read(cells, symbol) is value:
        return
    if not symbol.steps:
        cells.set(symbol.base, value)
        return
    holder = read(cells, Symbol(symbol.base, symbol.steps[:-1]))
    kind, key = symbol.steps[-1]
    key = cells.get(key) if kind == "n" else key
    if kind == ".":
        if value is not EMPTY:
            setattr(holder, key, value)
        elif holder is not EMPTY:
            delattr(holder, key)
    elif isinstance(holder, dict) and value is EMPTY:
        holder.pop(key, None)
    elif isinstance(holder, list | dict) and value is not EMPTY:
        holder[key] = value


class State:
    """The values of the symbols that one construct changes."""

    def __init__(self, site: Construct, cells: Cells) -> None:
        self.site = site
        self.cells = cells
        self.symbols = site.symbols
        self.before = self.read()
        self.others = [self._others(v) for v in self.before]

    def _others(self, value: Any) -> list[str]:
        """Other names of a list or dict, which see what becomes of it."""
        if not isinstance(value, list | dict | TracedList):
            return []
        named = {s.base for s in self.symbols if not s.steps}
        return [n for n in self.cells.own() if n not in named and self.cells.get(n) is value]

    def is_effect(self, k: int, added: list[Any]) -> bool:
        """Whether elements added to a list are a Python side effect, such as a log of traces.

        In a list of the function's own they are values that each turn or branch adds.
        """
        if not all(map(value_trees.can_stand_in, added)):
            return True
        return self.symbols[k].base in self.site.outside and not any(
            map(value_trees.has_tensors, added)
        )

    def read(self) -> list[Any]:
        return [read(self.cells, s) for s in self.symbols]

    def write(self, values: list[Any]) -> None:
        for symbol, value, others in zip(self.symbols, values, self.others, strict=True):
            write(self.cells, symbol, value)
            for name in others:
                write(self.cells, Symbol(name), value)

    def restore(self) -> None:
        self.write(self.before)
