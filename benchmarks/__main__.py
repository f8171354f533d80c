"""`python -m benchmarks`: measures Wengert and its peers in one run and prints the tables."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from dataclasses import asdict
from pathlib import Path

from rich.console import Console

from benchmarks.against import compare
from benchmarks.driver import Contender, Driver
from benchmarks.report import show
from benchmarks.workloads import FRAMEWORKS, WORKLOADS


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    for framework, title in FRAMEWORKS.items():
        variable = f"WENGERT_BENCH_{framework.upper()}_PYTHON"
        parser.add_argument(
            "--tf-python" if framework == "tensorflow" else f"--{framework}-python",
            dest=framework,
            metavar="PYTHON",
            default=os.environ.get(variable, sys.executable),
            help=f"interpreter that can import {title} (or set {variable}; default: this one)",
        )
    parser.add_argument(
        "--only", action="append", metavar="NAME", help="workloads by name or its start"
    )
    parser.add_argument(
        "--against", metavar="COMMIT", help="Wengert alone: this tree beside that commit's"
    )
    parser.add_argument("--rounds", type=int, default=5, help="turns around the frameworks (5)")
    parser.add_argument(
        "--span", type=float, default=0.3, help="seconds for each figure of a turn (0.3)"
    )
    parser.add_argument("--threads", type=int, default=2, help="threads and cores for everyone (2)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures here")
    parser.add_argument("--list", action="store_true", help="print the names of the workloads")
    return parser.parse_args()


def main() -> None:
    options = _options()
    works = [w for w in WORKLOADS if not options.only or w.name.startswith(tuple(options.only))]
    if options.list or not works:
        print("\n".join(w.name for w in WORKLOADS))
        sys.exit(0 if options.list else "benchmarks: no workload has that name")
    console = Console(width=None if sys.stdout.isatty() else 150)
    if options.against:
        sys.exit(compare(options, works, console))
    pythons = {framework: getattr(options, framework) for framework in FRAMEWORKS}
    for framework, python in pythons.items():
        if shutil.which(python) is None:
            sys.exit(f"benchmarks: the interpreter for {framework} must exist; got {python!r}.")
    contenders = {name: Contender(name, python) for name, python in pythons.items()}
    driver = Driver(contenders, options.rounds, options.span, options.threads)
    with Console(stderr=True).status("starting") as status:
        driver.start()
        for i, work in enumerate(works):
            status.update(f"{i + 1}/{len(works)} {work.title}")
            driver.run(work)
        driver.close()
    show(driver.results, works, console)
    if options.json:
        options.json.write_text(json.dumps(asdict(driver.results), indent=2) + "\n")


if __name__ == "__main__":
    main()
