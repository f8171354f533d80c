"""The tables of the sweep: what is slower than TensorFlow, and the means by size and way."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.sweep_reasons import reason

_WAYS = [(gradient, traced) for gradient in (False, True) for traced in (False, True)]


def ratio(row: dict[str, Any]) -> float:
    """Wengert's time over TensorFlow's."""
    return row["seconds"]["wengert"] / row["seconds"]["tensorflow"]


class Measured:
    """The rows of both runs of one cell."""

    def __init__(self, first: dict[str, Any], second: dict[str, Any] | None) -> None:
        self.cell, self.first, self.second = first["cell"], first, second
        best = dict(first["seconds"])
        for name, value in (second or {}).get("seconds", {}).items():
            best[name] = min(value, best.get(name, math.inf))
        self.best = best

    @property
    def ratio(self) -> float:
        """That which counts: the smaller of two runs, since a cell is above if both are."""
        return min(ratio(row) for row in (self.first, self.second) if row is not None)

    @property
    def over_torch(self) -> float | None:
        other = self.best.get("torch")
        return self.best["wengert"] / other if other else None


def gathered(rows: Iterable[dict[str, Any]]) -> list[Measured]:
    """What was measured of each cell, as far as both frameworks have it."""
    runs: dict[str, dict[int, dict[str, Any]]] = {}
    for row in rows:
        if {"wengert", "tensorflow"} <= row["seconds"].keys():
            runs.setdefault(row["title"], {})[row["run"]] = row
    return [Measured(r[1], r.get(2)) for r in runs.values() if 1 in r]


def _mean(values: list[float]) -> float:
    return math.exp(sum(map(math.log, values)) / len(values))


def _share(values: list[float], limit: float) -> str:
    many = sum(v > limit for v in values)
    return f"{many} ({100 * many / len(values):.1f} %)"


def summary(cells: list[Measured], title: str) -> Table:
    """A row for each size and way: the mean and how many are above."""
    table = Table(title=title)
    for head in ("size", "way", "cells", "geometric mean", "above 1.0", "above 1.2", "above 2"):
        table.add_column(head, justify="left" if head in ("size", "way") else "right")
    sizes = list(dict.fromkeys(m.cell["size"] for m in cells))
    groups = [(size, *way) for size in sizes for way in _WAYS]
    for size, gradient, traced in [*groups, ("all", None, None)]:
        values = [
            m.ratio
            for m in cells
            if size == "all"
            or (m.cell["size"], m.cell["gradient"], m.cell["traced"]) == (size, gradient, traced)
        ]
        if values:
            way = (
                f"{'with gradient' if gradient else 'forward'}, {'function' if traced else 'eager'}"
            )
            shares = [_share(values, limit) for limit in (1.0, 1.2, 2.0)]
            way = "" if size == "all" else way
            table.add_row(size, way, str(len(values)), f"{_mean(values):.2f}", *shares)
    return table


def _time(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


def above(cells: list[Measured], limit: float, title: str) -> Table:
    """The cells above a limit in both runs, the slowest first, with the reasons that are known."""
    table = Table(title=title)
    for head in ("cell", "Wengert", "TensorFlow", "ratio", "PyTorch", "why"):
        table.add_column(head, justify="left" if head in ("cell", "why") else "right")
    slow = [m for m in cells if m.second is not None and m.ratio > limit]
    for m in sorted(slow, key=lambda m: -m.ratio):
        times = [_time(m.best.get(name)) for name in ("wengert", "tensorflow")]
        torch = _time(m.best.get("torch"))
        why = reason(m.cell)
        table.add_row(m.first["title"], *times, f"{m.ratio:.2f}", torch, why)
    return table


def show(rows: list[dict[str, Any]], text: set[str], console: Console, limit: float = 1.0) -> None:
    """Prints the tables of numeric operations and those of text and codecs."""
    cells = gathered(rows)
    for title, part in (
        ("numeric operations", [m for m in cells if m.cell["name"] not in text]),
        ("strings, codecs and decoders", [m for m in cells if m.cell["name"] in text]),
    ):
        if part:
            console.print(summary(part, f"{title}: Wengert's time over TensorFlow's"))
            console.print(above(part, limit, f"{title}: above {limit:g} in two runs"))
    for row in rows:
        for problem in row.get("problems", []):
            console.print(f"[red]problem[/] {row['title']}: {problem}", highlight=False)
