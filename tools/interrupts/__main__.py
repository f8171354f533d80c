"""`python -m tools.interrupts`: signals at the points of scenarios, in processes that are watched."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tools.interrupts import worker
from tools.interrupts.scenarios import SCENARIOS

FINE = {"raised", "at exit", "not passed", "swallowed"}


def _arguments(given: list[str] | None) -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="python -m tools.interrupts", description=__doc__)
    p.add_argument("--scenarios", default=",".join(SCENARIOS), help="which, with commas between")
    p.add_argument("--kinds", default=",".join(worker.KINDS), help="signals: sigint, alarm")
    p.add_argument("--points", type=int, default=0, help="how many of each (0: all)")
    p.add_argument("--seed", type=int, default=0, help="their order, and which passage of a loop")
    p.add_argument("--seconds", type=float, default=float("inf"), help="stop after this long")
    p.add_argument("--resume", type=Path, metavar="FILE", help="keeps what was tried")
    p.add_argument("--at", default="", metavar="POINT", help="only points that begin like this")
    p.add_argument("--worker", default="", help=argparse.SUPPRESS)
    return p.parse_args(given)


class Tried:
    """What was tried, in a file of lines to which each attempt adds one."""

    def __init__(self, path: Path | None, seed: int) -> None:
        self.lines: list[dict[str, Any]] = []
        self.seed = seed
        if path is not None and path.exists():
            lines = [json.loads(line) for line in path.read_text().splitlines()]
            self.lines = [x for x in lines if x["seed"] == seed]
        self._file = path.open("a") if path is not None else None

    def add(self, **line: Any) -> None:
        self.lines.append({**line, "seed": self.seed})
        if self._file is not None:
            self._file.write(json.dumps(self.lines[-1]) + "\n")
            self._file.flush()

    def of(self, name: str, kind: str) -> list[dict[str, Any]]:
        return [x for x in self.lines if (x["scenario"], x["kind"]) == (name, kind)]


def _attempts(options: argparse.Namespace, name: str, kind: str, skip: list[str]) -> Iterator[Any]:
    """The lines of a worker, which ends when something is broken or stuck."""
    task = [name, kind, options.seed, options.points, skip, options.at]
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(
            [sys.executable, "-m", "tools.interrupts", "--worker", "-"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
            env={**os.environ, "JAX_PLATFORMS": "cpu"},
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(task))
        process.stdin.close()
        begun: dict[str, Any] | None = None
        try:
            for text in process.stdout:
                line = json.loads(text)
                if "begins" in line:
                    begun = line
                elif "ended" in line:
                    assert begun is not None, "it began"
                    yield {**begun, **line}
                    begun = None
                else:
                    yield line
            process.wait()
        finally:
            process.kill()
            process.wait()
        if process.returncode or begun is not None:
            errors.seek(0)
            trace = errors.read()[-6000:]
            if begun is None:
                raise RuntimeError(f"{name}, {kind}: no point was tried\n{trace}")
            yield {**begun, "ended": begun["begins"], "outcome": "stuck", "detail": trace}


def run(options: argparse.Namespace, tried: Tried, name: str, kind: str, until: float) -> int:
    """Tries the points of a scenario; returns how many there are."""
    total = 0
    going = True
    while going and time.monotonic() < until:
        going = False
        skip = [x["point"] for x in tried.of(name, kind)]
        for line in _attempts(options, name, kind, skip):
            total = line.get("total", total)
            if "ended" not in line:
                continue
            outcome = line["outcome"]
            tried.add(scenario=name, kind=kind, point=line["ended"], times=line["times"],
                      line=line["line"], outcome=outcome, detail=line["detail"])  # fmt: skip
            if outcome not in FINE:
                file = line["ended"].split(":")[0]
                print(f"{outcome}: {name}, {kind}: {file}:{line['line']} ({line['ended']}, "
                      f"passage {line['times']})\n    {line['detail']}", flush=True)  # fmt: skip
            going = outcome in ("broken", "stuck")  # the rest in a new process
            if time.monotonic() > until:
                going = False
                break
    return total


def report(tried: Tried, name: str, kind: str, total: int) -> str:
    counts = Counter(x["outcome"] for x in tried.of(name, kind))
    words = ", ".join(f"{n} {outcome}" for outcome, n in sorted(counts.items()))
    return f"{name}, {kind}: {counts.total()} of {total} points: {words}"


def main(given: list[str] | None = None) -> int:
    options = _arguments(given)
    if options.worker:
        name, kind, seed, most, skip, only = json.load(sys.stdin)
        worker.main(name, kind, seed, most, set(skip), only)
        return 0
    tried = Tried(options.resume, options.seed)
    until = time.monotonic() + options.seconds
    reports = []
    for kind in options.kinds.split(","):
        for name in options.scenarios.split(","):
            total = run(options, tried, name, kind, until)
            reports.append(report(tried, name, kind, total))
            print(reports[-1], flush=True)
    print("\n".join(reports))
    return 0 if all(x["outcome"] in FINE for x in tried.lines) else 1


if __name__ == "__main__":
    sys.exit(main())
