"""`python -m tools.damage`: damages files within a budget and prints what is not as it should be."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tools.damage.checking import check
from tools.damage.formats import FORMATS


def main(given: list[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m tools.damage", description=__doc__)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--cases", type=int, default=500, help="damaged files of each format")
    p.add_argument("--formats", default=",".join(FORMATS), help="which formats")
    p.add_argument("--seconds", type=float, default=float("inf"), help="stop after this long")
    p.add_argument("--limit", type=float, default=10.0, help="seconds for one read")
    p.add_argument("--memory", type=int, default=64, help="MiB for one read")
    p.add_argument("--show", type=int, default=5, help="findings printed for each format")
    options = p.parse_args(given)
    until = time.monotonic() + options.seconds
    total = bad = 0
    for name in options.formats.split(","):
        with tempfile.TemporaryDirectory() as folder:
            all_ = [
                *check(
                    name, FORMATS[name], Path(folder), options.seed, options.cases,
                    options.limit, options.memory << 20, until,
                )
            ]  # fmt: skip
        findings = [f for f in all_ if f is not None]
        print(f"{name}: {len(all_)} damaged files, {len(findings)} findings", flush=True)
        for finding in findings[: options.show]:
            print(f"  {finding}", flush=True)
        total, bad = total + len(all_), bad + len(findings)
    print(f"{total} damaged files, {bad} findings")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
