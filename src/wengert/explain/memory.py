"""What a tape keeps alive for its gradients, by line and operation."""

from __future__ import annotations

from dataclasses import dataclass
from types import CellType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.sites import Site
from wengert.core.tensor import Value
from wengert.explain.explanation import Shown
from wengert.explain.places import exact
from wengert.explain.terminal import near
from wengert.tape.entries import full_form

if TYPE_CHECKING:
    from wengert.tape.gradient_tape import GradientTape


_DEPTH = 6


@dataclass(frozen=True)
class Row:
    """The memory kept for one operation at one line."""

    site: Site | None
    operation: str
    entries: int
    bytes: int


@dataclass(frozen=True, repr=False)
class MemoryReport(Shown):
    """Rows by size, and their sum. An array that several entries share counts for the first."""

    rows: tuple[Row, ...]
    entries: int
    bytes: int

    def to_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "bytes": self.bytes,
            "entries": self.entries,
            "rows": [
                {
                    "file": r.site.file if r.site else None,
                    "line": r.site.line if r.site else None,
                    "operation": r.operation,
                    "entries": r.entries,
                    "bytes": r.bytes,
                }
                for r in self.rows
            ],
        }

    def __str__(self) -> str:
        lines = [f"The tape keeps {size(self.bytes)} for {self.entries} entries."]
        for r in self.rows:
            text = f"  {r.site.text.strip()}" if r.site else ""
            lines.append(
                f"{size(r.bytes):>10}  {r.entries:>5} × {r.operation:<24} {near(r.site)}{text}"
            )
        return "\n".join(lines)

    __repr__ = __str__


def size(count: float) -> str:
    """A number of bytes for people."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"


def memory_report(tape: GradientTape) -> MemoryReport:
    """What the tape keeps, the largest first."""
    seen: set[int] = set()
    groups: dict[Any, list[Any]] = {}
    for entry in tape._entries:
        op, _, _, _, inputs, outs, *_ = full = full_form(entry)
        total = sum(
            _new_bytes(x._array, seen) for x in (*(inputs or ()), *(outs or ())) if x is not None
        )
        if op.user and op.joint is not None:
            total += _closed_over(op.joint.function, seen, _DEPTH)
        where = exact(full[8])
        row = groups.setdefault((where and (where.file, where.line), op.name), [where, 0, 0])
        row[1] += 1
        row[2] += total
    rows = [Row(site, name, count, total) for (_, name), (site, count, total) in groups.items()]
    rows.sort(key=lambda r: -r.bytes)
    return MemoryReport(tuple(rows), len(tape._entries), sum(r.bytes for r in rows))


def _new_bytes(array: Any, seen: set[int]) -> int:
    """The bytes of an array's memory, if it was not counted before."""
    while isinstance(getattr(array, "base", None), np.ndarray):
        array = array.base
    if id(array) in seen or not isinstance(array, np.ndarray):
        return 0
    seen.add(id(array))
    return array.nbytes


def _closed_over(value: Any, seen: set[int], depth: int) -> int:
    """The bytes of tensors that a user's gradient function holds on to."""
    if isinstance(value, Value):
        return _new_bytes(value._array, seen)
    if isinstance(value, np.ndarray):
        return _new_bytes(value, seen)
    if not depth or id(value) in seen:
        return 0
    seen.add(id(value))
    return sum(_closed_over(v, seen, depth - 1) for v in _inside(value))


def _inside(value: Any) -> Any:
    if isinstance(value, FunctionType):
        return value.__closure__ or ()
    if isinstance(value, MethodType):
        return (value.__self__, value.__func__)
    if isinstance(value, CellType):
        try:
            return (value.cell_contents,)
        except ValueError:  # an empty cell
            return ()
    if isinstance(value, list | tuple | set | frozenset):
        return value
    return value.values() if isinstance(value, dict) else ()
