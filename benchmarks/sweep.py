"""`python -m benchmarks.sweep`: every public operation beside TensorFlow and PyTorch, by size.

Rows are written to a file as they are measured, so a sweep that was stopped goes on where it was.
What is above TensorFlow in the first run is measured a second time, in the other order.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any

from rich.console import Console

import wengert
from benchmarks.driver import TOLERANCE, Contender, Peer
from benchmarks.sweep_data import SIZES
from benchmarks.sweep_forms import TEXT
from benchmarks.sweep_report import ratio, show
from benchmarks.sweep_rows import Cell, all_cells
from benchmarks.workloads import Workload

ROUNDS = 2
PAUSE = 0.005
LIMIT = 30.0  # seconds that one answer may take
_PEERS = {"tensorflow": "TensorFlow", "torch": "PyTorch"}


class Field:
    """The frameworks, each in a process; one that does not answer in time is started anew."""

    def __init__(self, pythons: dict[str, str], threads: int) -> None:
        self.threads = threads
        self.contenders = {name: Contender(name, python) for name, python in pythons.items()}
        self.peers = {name: Peer(c, threads) for name, c in self.contenders.items()}
        for name in [n for n, p in self.peers.items() if p.version is None]:
            print(f"sweep: {name} is missing: {self.peers[name].reason}", file=sys.stderr)
            self.peers.pop(name).close()

    def ask(self, name: str, work: Workload, span: float) -> dict[str, Any]:
        peer = self.peers[name]
        timer = threading.Timer(LIMIT, peer.process.kill)
        timer.start()
        try:
            reply = peer.ask(work, span, PAUSE)
        except BrokenPipeError:
            reply = {"error": "the worker died"}
        timer.cancel()
        if reply.get("error") == "the worker died":
            peer.process.kill()
            self.peers[name] = Peer(self.contenders[name], self.threads)
            reply = {"error": f"no answer in {LIMIT:.0f} s, or the worker died"}
        return reply

    def close(self) -> None:
        for peer in self.peers.values():
            peer.close()


def measure(field: Field, cell: Cell, run: int, span: float) -> dict[str, Any]:
    """One row: the best time of each framework that can run the cell."""
    work = Workload(str(cell), "", "s", 1.0, build="operation", args=cell.arguments())
    names = sorted(field.peers, reverse=run == 2)
    checks: dict[str, float] = {}
    problems = []
    for name in names:
        reply = field.ask(name, work, span)
        if "check" in reply:
            checks[name] = reply["check"]
        elif name != "torch":
            problems.append(f"{name}: {reply.get('error', 'absent')[:200]}")
    seconds: dict[str, float] = {}
    for _ in range(ROUNDS if {"wengert", "tensorflow"} <= checks.keys() else 0):
        for name in checks:
            reply = field.ask(name, work, span)
            if "figure" in reply:
                seconds[name] = min(reply["figure"], seconds.get(name, float("inf")))
    if not cell.is_random:
        problems += _disagreements(checks)
    row = {"title": str(cell), "run": run, "cell": cell.arguments(), "seconds": seconds}
    return row | {"problems": problems}


def _disagreements(checks: dict[str, float]) -> list[str]:
    ours, theirs = checks.get("wengert"), checks.get("tensorflow")
    if ours is None or theirs is None or abs(ours - theirs) <= TOLERANCE * max(1.0, abs(theirs)):
        return []
    return [] if ours != ours and theirs != theirs else [f"{ours:.6g}, TensorFlow {theirs:.6g}"]


def _rows(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]


class Sweep:
    """Measures the cells that the file lacks, and adds them to it."""

    def __init__(self, field: Field, path: Path, span: float, until: float) -> None:
        self.field, self.path, self.span, self.until = field, path, span, until

    def run(self, cells: list[Cell], run: int, status: Any) -> bool:
        """Whether all cells are in the file now."""
        done = {row["title"] for row in _rows(self.path) if row["run"] == run}
        with self.path.open("a") as file:
            left = [c for c in cells if str(c) not in done]
            for k, cell in enumerate(left):
                if time.monotonic() > self.until:
                    return False
                status.update(f"run {run}, {k + 1}/{len(left)}: {cell}")
                file.write(json.dumps(measure(self.field, cell, run, self.span)) + "\n")
                file.flush()
        return True


def _slow(path: Path, cells: list[Cell]) -> list[Cell]:
    titles = {
        row["title"]
        for row in _rows(path)
        if {"wengert", "tensorflow"} <= row["seconds"].keys() and ratio(row) > 1.0
    }
    return [c for c in cells if str(c) in titles]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep", description=__doc__)
    for name, title in _PEERS.items():
        variable = f"WENGERT_BENCH_{name.upper()}_PYTHON"
        parser.add_argument(
            "--peer-python" if name == "tensorflow" else f"--{name}-python",
            dest=name,
            metavar="PYTHON",
            default=os.environ.get(variable, sys.executable),
            help=f"interpreter that can import {title} (or set {variable}; default: this one)",
        )
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="operations by start of name"
    )
    parser.add_argument("--size", action="append", choices=SIZES, help="only these sizes")
    parser.add_argument("--rows", type=Path, default=Path("sweep.jsonl"), metavar="FILE",
                        help="where rows are kept, and found by the next call (sweep.jsonl)")  # fmt: skip
    parser.add_argument("--minutes", type=float, default=40, help="stop after so long (40)")
    parser.add_argument("--span", type=float, default=0.02, help="seconds for each figure (0.02)")
    parser.add_argument("--threads", type=int, default=2, help="threads and cores for everyone (2)")
    parser.add_argument("--above", type=float, default=1.0, help="least ratio that is shown (1.0)")
    parser.add_argument("--report", action="store_true", help="only print what the file has")
    return parser.parse_args()


def main() -> None:
    options = _options()
    console = Console(width=None if sys.stdout.isatty() else 150)
    complete = True
    if not options.report:
        cells = all_cells(wengert, options.only or [], tuple(options.size or SIZES))
        pythons = {"wengert": sys.executable} | {name: getattr(options, name) for name in _PEERS}
        field = Field(pythons, options.threads)
        until = time.monotonic() + 60 * options.minutes
        sweep = Sweep(field, options.rows, options.span, until)
        with Console(stderr=True).status("starting") as status:
            complete = sweep.run(cells, 1, status)
            complete = complete and sweep.run(_slow(options.rows, cells), 2, status)
        field.close()
    rows = _rows(options.rows)
    if options.only:
        rows = [r for r in rows if r["cell"]["name"].startswith(tuple(options.only))]
    show(rows, set(TEXT), console, options.above)
    if not complete:
        console.print("The time is up before all cells were measured: the same command goes on.")


if __name__ == "__main__":
    main()
