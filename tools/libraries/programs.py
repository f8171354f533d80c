"""Runs the programs of one library, and records or compares what they return.

    python programs.py record LIBRARY    with TensorFlow: writes answers/LIBRARY.json
    python programs.py check LIBRARY     with Wengert in TensorFlow's place: compares

A program is a function of `LIBRARY_programs.py` whose name does not begin with `_` and that takes no
arguments. `check` prints a line for each that fails, and how many passed of how many.
"""

from __future__ import annotations

import importlib
import inspect
import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

HERE = Path(__file__).parent
RELATIVE, ABSOLUTE = 2e-4, 2e-5


class Near(NamedTuple):
    """A value and how far another may be off."""

    value: Any
    tolerance: float


def near(value: Any, tolerance: float) -> Near:
    """A value that depends on a stream of random numbers."""
    return Near(value, tolerance)


def plain(value: Any) -> Any:
    """A result as JSON: numbers, texts, lists, and tolerances beside values."""
    if isinstance(value, Near):
        return {"near": plain(value.value), "tolerance": value.tolerance}
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in sorted(value.items())}
    if isinstance(value, str | bool | int | float) or value is None:
        return value
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    array = np.asarray(value)
    if array.dtype.kind in "SO":
        return [x.decode() if isinstance(x, bytes) else str(x) for x in array.ravel()]
    return array.tolist() if array.dtype.kind != "c" else [array.real.tolist(), array.imag.tolist()]


def difference(one: Any, other: Any, tolerance: float | None = None, place: str = "") -> str | None:
    """Where two plain results differ, or `None`."""
    if isinstance(one, dict) and "near" in one:
        if not isinstance(other, dict) or "near" not in other:
            return f"{place}: {other!r} where a sampled value was expected"
        return difference(one["near"], other["near"], one["tolerance"], place)
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            return f"{place}: the keys {sorted(one)} and {sorted(other)}"
        pairs = [(f"{place}.{k}", one[k], other[k]) for k in one]
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            return f"{place}: the lengths {len(one)} and {len(other)}"
        pairs = [(f"{place}[{k}]", a, b) for k, (a, b) in enumerate(zip(one, other, strict=True))]
    else:
        return None if _equal(one, other, tolerance) else f"{place}: {one!r} and {other!r}"
    return next(filter(None, (difference(a, b, tolerance, p) for p, a, b in pairs)), None)


def _equal(a: Any, b: Any, tolerance: float | None) -> bool:
    if isinstance(a, bool | str) or isinstance(b, bool | str) or None in (a, b):
        return a == b
    if tolerance is None:
        return bool(np.isclose(a, b, rtol=RELATIVE, atol=ABSOLUTE, equal_nan=True))
    return abs(a - b) <= tolerance


def programs(library: str) -> dict[str, Any]:
    """The programs of a library by name."""
    sys.path.insert(0, str(HERE))
    module = importlib.import_module(f"{library}_programs")
    own = inspect.getmembers(module, inspect.isfunction)
    return {
        name: f
        for name, f in own
        if f.__module__ == module.__name__
        and name[0] != "_"
        and not inspect.signature(f).parameters
    }


def main(mode: str, library: str, *wanted: str) -> int:
    """Records or compares; answers 1 if a program fails."""
    answers = HERE / "answers" / f"{library}.json"
    known = json.loads(answers.read_text()) if mode == "check" else {}
    found, passed = {}, 0
    chosen = {n: f for n, f in programs(library).items() if not wanted or n in wanted}
    for name, program in chosen.items():
        if mode == "check" and name not in known:
            continue
        start = time.perf_counter()
        try:
            found[name] = plain(program())
            problem = difference(known[name], found[name], None, name) if mode == "check" else None
        except Exception as error:
            problem = f"{name}: {type(error).__name__}: {str(error)[:400]}"
            if "TRACE" in os.environ:
                traceback.print_exc()
        if problem is None:
            passed += 1
        else:
            print(f"FAILED {problem}")
        print(f"{name} {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
    if mode == "record":
        answers.parent.mkdir(exist_ok=True)
        rows = ",\n".join(f"{json.dumps(n)}: {json.dumps(x)}" for n, x in sorted(found.items()))
        answers.write_text(f"{{\n{rows}\n}}\n")
    total = len(known) if mode == "check" and not wanted else len(chosen)
    print(f"{passed} of {total} programs")
    return passed < total


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    sys.modules["programs"] = sys.modules["__main__"]
    sys.exit(main(*sys.argv[1:]))
