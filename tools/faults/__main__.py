"""`python -m tools.faults`: kills, full disks and forks, a line for each kind."""

from __future__ import annotations

import argparse
import os
import sys
from itertools import chain

os.environ.setdefault("JAX_PLATFORMS", "cpu")

from tools.faults import forking, killing
from tools.faults.saves import SAVES


def main(given: list[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m tools.faults", description=__doc__)
    p.add_argument("faults", choices=["kills", "disk", "forks"])
    p.add_argument("--saves", default=",".join(SAVES), help="which, with commas between")
    p.add_argument("--count", type=int, default=50, help="of forks; of kills, at the least")
    p.add_argument("--seed", type=int, default=0)
    options = p.parse_args(given)
    names = options.saves.split(",")
    if options.faults == "kills":
        lines = killing.kills(names, options.count, options.seed)
    elif options.faults == "disk":
        lines = killing.disk(names)
    else:
        both = (forking.forks(options.count, options.seed, jit) for jit in (None, True))
        lines = chain.from_iterable(both)
    for line in lines:
        print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
