"""Renders the figures: one table of work against frameworks with ratios, one of targets."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table

from benchmarks.driver import Results
from benchmarks.workloads import FRAMEWORKS, TARGETS, Target, Workload


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def figures_table(results: Results, works: list[Workload]) -> Table:
    """A row for every workload; behind a peer's figure stands Wengert's time over the peer's."""
    table = Table(title="best of all rounds; (×) is Wengert over the peer: below 1, Wengert wins")
    table.add_column("work")
    table.add_column("unit")
    for framework, title in FRAMEWORKS.items():
        version = results.versions.get(framework)
        # A local build tag ("+cpu") says nothing here.
        head = version.split("+")[0] if version else "missing"
        table.add_column(f"{title}\n{head}", justify="right")
    for work in works:
        row = results.figures.get(work.name, {})
        ours = row.get("wengert")
        cells = []
        for framework in FRAMEWORKS:
            value = row.get(framework)
            cell = "–" if value is None else _number(value)
            if value and ours is not None and framework != "wengert":
                cell += f" ({ours / value:.2f}×)"
            cells.append(cell)
        table.add_row(work.title, work.unit, *cells)
    return table


def ratio(results: Results, target: Target) -> float | None:
    """The figure that the target limits, or None where something was not measured."""
    row = results.figures.get(target.work, {})
    ours = row.get("wengert")
    if target.versus == "limit":
        return ours
    if target.versus == "best":
        # NumPy by hand is a floor, not a peer.
        other = min((row[f] for f in ("torch", "tensorflow", "jax") if f in row), default=None)
    elif target.versus in FRAMEWORKS:
        other = row.get(target.versus)
    else:
        other = results.figures.get(target.versus, {}).get("wengert")
    return None if ours is None or not other else ours / other


def targets_table(results: Results) -> Table:
    table = Table(title="targets")
    for name in ("target", "against", "at most", "measured", "verdict"):
        table.add_column(name, justify="right" if name in ("at most", "measured") else "left")
    for target in TARGETS:
        value = ratio(results, target)
        against = FRAMEWORKS.get(target.versus, target.versus)
        if value is None:
            shown, verdict = "–", "[dim]not measured[/]"
        else:
            shown = f"{value:.3g}"
            verdict = "[green]reached[/]" if value <= target.limit else "[red]missed[/]"
        table.add_row(target.text, against, f"{target.limit:g}", shown, verdict)
    return table


def show(results: Results, works: list[Workload], console: Console) -> None:
    console.print(figures_table(results, works))
    console.print(targets_table(results))
    for problem in results.problems:
        console.print(f"[red]problem[/] {problem}", highlight=False)
