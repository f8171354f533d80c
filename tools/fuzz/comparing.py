"""Says where the outcomes of one program in two modes differ, and whether rounding explains it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from tools.fuzz.program import DISAGREE, Program
from tools.fuzz.running import OPEN_MODES, XLA_MODES, Outcome, run

# Classes that say nothing about the mistake, so that two errors must share another one.
_VAGUE = {"OpError", "StandardError", "RuntimeError"}
# What an operation says that makes as many tensors as an axis is long.
_NEEDS_SIZE = "must be known while tracing"
# What replicas may not do with a variable that the program makes without an aggregation.
_DRIFTING = "replicas assign different values"
# Errors that are never meant for a user; a failed `assert` of the program itself has no message.
_INTERNAL = {"AssertionError", "KeyError", "RecursionError", "UnboundLocalError", "SystemError"}
# Python's own protests against a text: only a program cut down wrongly raises them everywhere.
NONSENSE = {"NameError", "UnboundLocalError", "SyntaxError", "IndentationError", "AttributeError"}


class Difference(NamedTuple):
    """`kind` stays the same while a program is minimised; `text` has the values."""

    mode: str
    kind: str
    text: str
    internal: bool = False


def difference(mode: str, want: Outcome, got: Outcome, tolerance: float) -> Difference | None:
    if _DRIFTING in got.message:
        return None
    if want.error or got.error:
        return _errors(mode, want, got)
    if want.arrays.keys() != got.arrays.keys():
        odd = sorted(want.arrays.keys() ^ got.arrays.keys())
        return Difference(mode, "results " + re.sub(r"\d.*", "", odd[0]), f"only one has {odd}")
    for name in want.arrays:
        text = _arrays(want.arrays[name], got.arrays[name], tolerance)
        if text:
            return Difference(mode, f"{name.split()[0]} {text.split()[0]}", f"{name}: {text}")
    return None


def _errors(mode: str, want: Outcome, got: Outcome) -> Difference | None:
    if want.error and got.error:
        common = set(want.kinds) & set(got.kinds) - _VAGUE
        if common or want.error == got.error:
            return None
        text = f"{want.error}: {want.message}\nbut {got.error}: {got.message}"
        return Difference(mode, f"errors {want.error} {got.error}", text, _internal(got))
    if want.error:
        return Difference(
            mode, f"missed {want.error}", f"no error, but {want.error}: {want.message}"
        )
    text = f"{got.error}: {got.message}"
    return Difference(mode, f"raised {got.error}{_rule(got)}", text, _internal(got))


def _internal(found: Outcome) -> bool:
    own = found.message == "'k'"  # the program's own, of an item that no loop has set
    return found.error in _INTERNAL and bool(found.message) and not own


def _rule(found: Outcome) -> str:
    """Who raised, by the form of Wengert's messages, so that one error is not taken for another."""
    name, colon, _ = found.message.partition(": ")
    return f" by {name}" if colon and name.isidentifier() else ""


def _arrays(want: np.ndarray, got: np.ndarray, tolerance: float) -> str:
    if want.dtype != got.dtype:
        return f"dtype {got.dtype} instead of {want.dtype}"
    if want.shape != got.shape:
        return f"shape {got.shape} instead of {want.shape}"
    if want.dtype.kind in "biuOSU":
        same = np.array_equal(want, got)
    else:
        wide = np.complex128 if want.dtype.kind == "c" else np.float64
        with np.errstate(all="ignore"):
            same = np.allclose(got.astype(wide), want.astype(wide), tolerance, tolerance, True)
    return "" if same else f"values {got.tolist()} instead of {want.tolist()}"


def expected(program: Program, d: Difference) -> bool:
    """Whether the mode need not agree: what it says it cannot do, or errors found while tracing."""
    if d.internal or "Endless" in d.kind:
        return False
    if d.kind.startswith("raised ") and _NEEDS_SIZE in d.text and d.mode in OPEN_MODES:
        return True
    refused = ("raised NotCompiledError", "raised UnimplementedError")
    if d.kind.startswith(refused) and d.mode in XLA_MODES:
        return True
    if DISAGREE in d.text:
        return False
    # A mistake in a branch that is not taken is found when the function is traced.
    return bool({"errors", "variants"} & program.needs) and d.kind.startswith(
        ("raised ", "errors ")
    )


def without_dead_code(text: str) -> str:
    """The text of a program without the assignments whose names nobody reads."""
    while True:
        dead = [
            m[0]
            for m in re.finditer(r"^ *(t\w*|ta\w*|rows\w*) = .*\n", text, re.M)
            if len(re.findall(rf"\b{m[1]}\b", text)) == 1
        ]
        if not dead:
            return text
        for line in dead:
            indent = line[: len(line) - len(line.lstrip())]
            text = text.replace(line, f"{indent}pass\n", 1)


def unstable(tf: Any, program: Program, which: int, want: Outcome, got: Outcome) -> bool:
    """Whether the program itself amplifies rounding to the size of the difference.

    Two eager runs of ours say so: one as it is, one with all numbers moved by a little.
    """
    base = run(tf, program, "eager", which)[0]
    step = 1e-12 if program.dtype == "float64" else 3e-7
    nearly = re.sub(r"\d+\.\d+", lambda m: f"({m[0]} * (1 + {step / 3}))", program.text)
    text = nearly.replace("def program(", "def _program(") + _MOVED.format(1 + step)
    moved = run(tf, program.with_text(text), "eager", which)[0]
    if want.error or got.error:
        return bool(moved.error) != bool(base.error)
    return _distance(base, moved) > 0.03 * _distance(want, got)


_MOVED = """
def program(x, m, s, r, n):
    k = tf.constant({}, x.dtype)
    return _program(x * k, m * k, s * k, r * k, n)
"""


def _distance(one: Outcome, two: Outcome) -> float:
    if one.error or two.error or one.arrays.keys() != two.arrays.keys():
        return np.inf
    worst = 0.0
    for name, x in one.arrays.items():
        y = two.arrays[name]
        if x.shape != y.shape or x.dtype.kind not in "fc":
            worst = worst if np.array_equal(x, y) else np.inf
        elif x.size:
            with np.errstate(all="ignore"):
                gap = np.abs(x - y) / (1 + np.abs(x))
            same = (x == y) | (np.isnan(x) & np.isnan(y))
            worst = max(worst, float(np.max(np.where(same, 0, np.nan_to_num(gap, nan=np.inf)))))
    return worst
