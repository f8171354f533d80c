"""`python -m benchmarks --against COMMIT`: this tree and an older one, interleaved.

The workloads and the worker are this tree's; only the package that they import differs. A row
counts as slower when it is so by more than 5 % in two separate runs, each with fresh processes:
the rows that exceed the limit in the first are measured again in the other order.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.driver import ROOT, Contender, Driver, Results
from benchmarks.workloads import Workload

LIMIT = 1.05
NOW, BEFORE = "this tree", "before"


@contextmanager
def _checkout(commit: str) -> Iterator[Path]:
    """A work tree of the commit in a temporary folder; it is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="wengert-against-") as folder:
        tree = Path(folder) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--quiet", "--detach", str(tree), commit], check=True)
        try:
            yield tree
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], check=True)


def _measure(
    contenders: dict[str, Contender], options: Namespace, works: list[Workload], title: str
) -> Results:
    driver = Driver(contenders, options.rounds, options.span, options.threads)
    with Console(stderr=True).status("starting") as status:
        driver.start()
        for i, work in enumerate(works):
            status.update(f"{title}: {i + 1}/{len(works)} {work.title}")
            driver.run(work)
        driver.close()
    return driver.results


def ratio(results: Results, work: Workload) -> float | None:
    """This tree's figure over the older one's; None where one of them is missing."""
    row = results.figures.get(work.name, {})
    if NOW not in row or BEFORE not in row:
        return None
    # Memory that a step does not need at all is nothing to divide by.
    return 1.0 if row[NOW] <= row[BEFORE] == 0 else row[NOW] / max(row[BEFORE], 1e-12)


def slower(first: Results, second: Results, works: list[Workload]) -> list[Workload]:
    """The rows above the limit in both runs."""

    def above(results: Results, work: Workload) -> bool:
        value = ratio(results, work)
        return value is not None and value > LIMIT

    return [w for w in works if above(first, w) and above(second, w)]


def table(first: Results, second: Results, works: list[Workload], commit: str) -> Table:
    shown = Table(title=f"this tree over {commit}; slower: above {LIMIT:g} in both runs")
    for name in ("work", "unit", BEFORE, NOW, "ratio", "again", "verdict"):
        shown.add_column(name, justify="left" if name in ("work", "unit", "verdict") else "right")
    behind = slower(first, second, works)
    for work in works:
        value, again = ratio(first, work), ratio(second, work)
        if value is None:
            shown.add_row(work.title, work.unit, "–", "–", "–", "–", "[dim]not measured[/]")
            continue
        row = first.figures[work.name]
        verdict = "[red]slower[/]" if work in behind else "[green]not slower[/]"
        shown.add_row(
            work.title,
            work.unit,
            *(f"{row[name]:.4g}" for name in (BEFORE, NOW)),
            f"{value:.3f}",
            "" if again is None else f"{again:.3f}",
            verdict,
        )
    return shown


def compare(options: Namespace, works: list[Workload], console: Console) -> int:
    """Measures and prints; the exit status is 1 if a row is slower or could not be compared."""
    works = [w for w in works if "wengert" in w.frameworks]
    with _checkout(options.against) as tree:
        contenders = {
            NOW: Contender("wengert", options.wengert, ROOT / "src"),
            BEFORE: Contender("wengert", options.wengert, tree / "src"),
        }
        first = _measure(contenders, options, works, "first run")
        doubtful = [w for w in works if (ratio(first, w) or 0.0) > LIMIT]
        reverse = dict(reversed(contenders.items()))
        second = _measure(reverse, options, doubtful, "second run") if doubtful else Results()
    console.print(table(first, second, works, options.against))
    for problem in (*first.problems, *second.problems):
        console.print(f"[red]problem[/] {problem}", highlight=False)
    if options.json:
        rows = {"first": first.figures, "second": second.figures}
        options.json.write_text(json.dumps(rows, indent=2) + "\n")
    missing = [w for w in works if ratio(first, w) is None]
    return 1 if slower(first, second, works) or missing else 0
