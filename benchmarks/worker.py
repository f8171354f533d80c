"""Runs one framework's part in its own interpreter: requests in, figures out, a JSON line each.

Needs nothing but the framework and NumPy. The process that holds a framework stays alive over
many requests, so that the driver can interleave frameworks without importing them every time.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import sys
import time

PARTS = {"wengert": "tf", "tensorflow": "tf", "torch": "torch", "jax": "jax", "numpy": "numpy"}


def seconds(step, span):
    """The best time of one step over repeats that fill about `span` seconds.

    Every repeat ends with a look at its last result, for which all that came before must be done.
    """
    start = time.perf_counter()
    _look(step())
    best = time.perf_counter() - start
    calls = max(1, int(span / 8 / best))
    while time.perf_counter() < start + span:
        before = time.perf_counter()
        for _ in range(calls):
            result = step()
        _look(result)
        best = min(best, (time.perf_counter() - before) / calls)
    return best


def _status(field):
    with open("/proc/self/status") as lines:
        return next(1024 * int(line.split()[1]) for line in lines if line.startswith(field))


def peak_bytes(step):
    """By how much the process grew at the height of one step. Linux only: elsewhere the peak
    cannot be reset, and what the import took would hide the step."""
    gc.collect()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # resets the peak to what is resident now
    before = _status("VmRSS")
    result = step()
    return _status("VmHWM") - before, result


def _look(value):
    import numpy as np

    return np.asarray(value)


def _check(value):
    array = _look(value)
    if array.dtype.kind == "c":
        array = abs(array)
    return float(array.sum()) if array.dtype.kind in "biuf" else 0.0


class Worker:
    """Builds a step on the first request for it, and keeps the latest one."""

    def __init__(self, framework):
        self.library = importlib.import_module(framework)
        self.part = importlib.import_module(f"benchmarks.workloads_{PARTS[framework]}")
        self.key, self.step = None, None

    def answer(self, build, args, warm, measure, span):
        if not hasattr(self.part, build):
            return {"absent": True}
        if self.key != (key := json.dumps([build, args])):
            self.key = self.step = None  # frees the previous step's arrays before the next are made
            make = getattr(self.part, build)
            if measure == "memory":
                make(self.library, **args | warm)()
            self.step = make(self.library, **args)
            self.key = key
            if measure == "time":
                return {"check": _check(self.step())}
        if measure == "time":
            return {"figure": seconds(self.step, span)}
        figure, value = peak_bytes(self.step)
        return {"figure": figure, "check": _check(value)}


def _pin(threads):
    # Thread counts in the environment do not reach every library; processor affinity does.
    with contextlib.suppress(AttributeError, OSError):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])


def main():
    framework, threads = sys.argv[1], int(sys.argv[2])
    # The answers keep the real stdout; whatever a library prints goes to stderr.
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    _pin(threads)
    try:
        worker = Worker(framework)
    except Exception as error:  # a broken installation fails in its own ways
        print(json.dumps({"missing": f"{type(error).__name__}: {error}"}), file=out)
        return
    print(json.dumps({"version": getattr(worker.library, "__version__", "?")}), file=out)
    for line in sys.stdin:
        try:
            reply = worker.answer(**json.loads(line))
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(reply), file=out)


if __name__ == "__main__":
    main()
