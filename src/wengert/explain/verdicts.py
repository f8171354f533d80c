"""What an operation did to finite numbers that gave NaN or infinity, in words and with a remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np


class Verdict(NamedTuple):
    """A code, the cause, and what to do."""

    code: str
    cause: str
    remedy: str


_LOGS = {"log", "log1p", "log2", "log10", "xlogy", "log_sigmoid"}
_DIVISIONS = {"divide", "realdiv", "floordiv", "floormod", "truncatemod", "reciprocal", "rsqrt"}
_EXPS = {"exp", "expm1", "sinh", "cosh", "softplus", "pow", "exp2"}
_DOMAINS: dict[str, str] = {
    "sqrt": "negative numbers",
    "rsqrt": "negative numbers",
    "acos": "numbers outside [-1, 1]",
    "asin": "numbers outside [-1, 1]",
    "acosh": "numbers below 1",
    "atanh": "numbers outside (-1, 1)",
    "pow": "a negative base with a fraction as exponent",
    "cholesky": "a matrix that is not positive definite",
    "lgamma": "a pole",
    "digamma": "a pole",
}


def verdict(name: str, inputs: list[Any], outputs: list[Any]) -> Verdict:
    """Why an operation on finite inputs has a result that is not finite."""
    x = inputs[0] if inputs else np.zeros(1)
    last = inputs[-1] if inputs else x
    if name in _LOGS:
        return _logarithm(name, x)
    if name.endswith("_grad") and _has(x, lambda a: a == 0):
        return Verdict("WG507", f"{name} divides by 0", "Keep away from that point.")
    if name in _DIVISIONS and _has(last if len(inputs) > 1 else x, lambda a: a == 0):
        return _division(name, x, last)
    if _fits_in_single(name, inputs, outputs):
        return _half(name, x)
    if _nan(outputs) and name in _DOMAINS:
        return Verdict(
            "WG504",
            f"{name} was asked for {_DOMAINS[name]}",
            "Add a small number to its diagonal."
            if name == "cholesky"
            else "Keep its argument inside, e.g. with tf.clip_by_value or tf.maximum.",
        )
    if name in _EXPS:
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


def _logarithm(name: str, x: Any) -> Verdict:
    edge = -1 if name == "log1p" else 0
    below = _has(x, lambda a: a < edge)
    what = f"a number below {edge}" if below else f"{edge}"
    return Verdict(
        "WG501",
        f"{name} was asked for {what}",
        "Add a small number, use tf.math.xlogy, or compute from logits.",
    )


def _division(name: str, x: Any, last: Any) -> Verdict:
    both = x is not last and _has(x, lambda a: a == 0)
    return Verdict(
        "WG502",
        f"{name} divides {'0 by 0' if both and _zero_by_zero(x, last) else 'by 0'}",
        "Use tf.math.divide_no_nan, or add a small number to the divisor.",
    )


def _zero_by_zero(x: Any, y: Any) -> bool:
    return bool(((np.asarray(x) == 0) & (np.asarray(y) == 0)).any())


def _half(name: str, x: Any) -> Verdict:
    kind = "bfloat16" if x.dtype.kind == "V" else "float16"
    return Verdict(
        "WG506",
        f"the result of {name} is beyond the range of {kind}, which ends at "
        f"{65504 if kind == 'float16' else 3.39e38:.6g}",
        "Scale the loss down, or compute this part in float32.",
    )


def _fits_in_single(name: str, inputs: list[Any], outputs: list[Any]) -> bool:
    """Whether a half-precision result is infinite only because of its range."""
    if not outputs or outputs[0].dtype.itemsize != 2 or outputs[0].dtype.kind not in "fV":
        return False
    return not _nan(outputs)


def _nan(arrays: list[Any]) -> bool:
    return any(_has(a, np.isnan) for a in arrays)


def _has(array: Any, test: Callable[[Any], Any]) -> bool:
    try:
        return bool(np.any(test(np.asarray(array))))
    except TypeError:
        return False


def _largest(arrays: list[Any]) -> float:
    found = [float(np.abs(np.asarray(a, np.float64)).max()) for a in arrays if _real(a)]
    return max(found, default=float("nan"))


def _real(a: Any) -> bool:
    return isinstance(a, np.ndarray) and a.dtype.kind in "fiuV" and bool(a.size)


# Where the derivative of an operation is infinite, though it may be finite itself.
_POLES: dict[str, tuple[Callable[[list[Any]], Any], str]] = {
    "sqrt": (lambda a: a[0] == 0, "at 0"),
    "rsqrt": (lambda a: a[0] == 0, "at 0"),
    "log": (lambda a: a[0] == 0, "at 0"),
    "log1p": (lambda a: a[0] == -1, "at -1"),
    "reciprocal": (lambda a: a[0] == 0, "at 0"),
    "divide": (lambda a: a[1] == 0, "where the divisor is 0"),
    "pow": (lambda a: (a[0] == 0) & (a[1] < 1) & (a[1] != 0), "at 0"),
    "acos": (lambda a: np.abs(a[0]) == 1, "at 1 and -1"),
    "asin": (lambda a: np.abs(a[0]) == 1, "at 1 and -1"),
    "acosh": (lambda a: a[0] == 1, "at 1"),
    "atanh": (lambda a: np.abs(a[0]) == 1, "at 1 and -1"),
}


# Operations whose derivative is finite wherever their arguments are.
DULL = frozenset([
    "add", "add_n", "bias_add", "broadcast_to", "cast", "concat", "exp", "expand_dims", "gather",
    "identity", "matmul", "maximum", "minimum", "multiply", "negative", "reduce_mean",
    "reduce_sum", "relu", "reshape", "sigmoid", "square", "stack", "strided_slice", "subtract",
    "sum_to", "tanh", "transpose", "where",
])  # fmt: skip


def at_pole(name: str, inputs: list[Any]) -> str:
    """Where the derivative is infinite, if the inputs touch that place."""
    found = _POLES.get(name)
    if found is None or not all(isinstance(a, np.ndarray) for a in inputs):
        return ""
    test, words = found
    return words if bool(np.any(test(inputs))) else ""
