"""What an operation did to finite numbers that gave NaN or infinity, in words and with a remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from wengert.core.op import Op


class Verdict(NamedTuple):
    """A code, the cause, and what to do."""

    code: str
    cause: str
    remedy: str


def verdict(op: Op, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> Verdict:
    """Why an operation on finite inputs has a result that is not finite."""
    name, hazards = op.name, op.hazards
    x = inputs[0] if inputs else np.zeros(1)
    last = inputs[-1] if inputs else x
    if hazards.edge is not None:
        return _logarithm(name, last, hazards.edge)
    if hazards.singular and _has(x, lambda a: a == 0):
        return Verdict("WG507", f"{name} divides by 0", "Keep away from that point.")
    if hazards.divides and _has(last, lambda a: a == 0):
        return _division(name, x, last)
    if _fits_in_single(name, inputs, outputs):
        return _half(name, x)
    if _nan(outputs) and hazards.outside:
        return Verdict("WG504", f"{name} was asked for {hazards.outside}", hazards.remedy)
    if hazards.grows:
        return Verdict(
            "WG503",
            f"{name} overflows: its argument reaches {_largest(inputs):.6g}",
            "Subtract the maximum first (tf.reduce_logsumexp, tf.nn.softmax do), or clip.",
        )
    if _nan(outputs):
        return Verdict("WG508", f"the result of {name} is undefined", "Look at its inputs.")
    return Verdict(
        "WG503",
        f"{name} overflows: its arguments reach {_largest(inputs):.6g}",
        "Scale the numbers down, or compute in float64.",
    )


def _logarithm(name: str, x: np.ndarray, edge: float) -> Verdict:
    below = _has(x, lambda a: a < edge)
    what = f"a number below {edge:g}" if below else f"{edge:g}"
    return Verdict(
        "WG501",
        f"{name} was asked for {what}",
        "Add a small number, use tf.math.xlogy, or compute from logits.",
    )


def _division(name: str, x: np.ndarray, last: np.ndarray) -> Verdict:
    both = x is not last and _has(x, lambda a: a == 0)
    return Verdict(
        "WG502",
        f"{name} divides {'0 by 0' if both and _zero_by_zero(x, last) else 'by 0'}",
        "Use tf.math.divide_no_nan, or add a small number to the divisor.",
    )


def _zero_by_zero(x: np.ndarray, y: np.ndarray) -> bool:
    return bool(((np.asarray(x) == 0) & (np.asarray(y) == 0)).any())


def _half(name: str, x: np.ndarray) -> Verdict:
    kind = "bfloat16" if x.dtype.kind == "V" else "float16"
    return Verdict(
        "WG506",
        f"the result of {name} is beyond the range of {kind}, which ends at "
        f"{65504 if kind == 'float16' else 3.39e38:.6g}",
        "Scale the loss down, or compute this part in float32.",
    )


def _fits_in_single(name: str, inputs: list[np.ndarray], outputs: list[np.ndarray]) -> bool:
    """Whether a half-precision result is infinite only because of its range."""
    if not outputs or outputs[0].dtype.itemsize != 2 or outputs[0].dtype.kind not in "fV":
        return False
    return not _nan(outputs)


def _nan(arrays: list[np.ndarray]) -> bool:
    return any(_has(a, np.isnan) for a in arrays)


def _has(array: np.ndarray, test: Callable[[Any], Any]) -> bool:
    try:
        return bool(np.any(test(np.asarray(array))))
    except TypeError:
        return False


def _largest(arrays: list[np.ndarray]) -> float:
    results = [float(np.abs(np.asarray(a, np.float64)).max()) for a in arrays if _real(a)]
    return max(results, default=float("nan"))


def _real(a: np.ndarray) -> bool:
    return isinstance(a, np.ndarray) and a.dtype.kind in "fiuV" and bool(a.size)


def at_pole(op: Op, inputs: list[np.ndarray]) -> str:
    """Where the derivative is infinite, if the inputs touch that place."""
    pole = op.hazards.pole
    if pole is None or not all(isinstance(a, np.ndarray) for a in inputs):
        return ""
    return pole.words if bool(np.any(pole.test(*inputs))) else ""
