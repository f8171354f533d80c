"""Checks for gradients: analytic derivatives against finite differences, of any order.

>>> check_gradients(tf.sin, [tf.constant([0.3, 1.2])], order=2)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core import dtypes, nest
from wengert.core.apply import wrap
from wengert.core.convert import to_array
from wengert.core.tensor import Tensor, Value
from wengert.ops.create import zeros_like
from wengert.tape.forward import ForwardAccumulator
from wengert.tape.gradient_tape import GradientTape
from wengert.tape.gradient_values import dense


def check_gradients(
    f: Callable[..., Any],
    args: list[Tensor | np.ndarray] | tuple[Tensor, ...] | list[np.ndarray],
    order: int = 1,
    *,
    forward: bool = True,
    tolerance: float = 1e-5,
    step: float = 1e-5,
    seed: int = 0,
) -> None:
    """Raises `AssertionError` where a gradient of `f` differs from finite differences.

    Floating arguments are taken in double precision; others are passed through. Each order is
    checked along random directions, in reverse mode and, with `forward`, in forward mode too.
    """
    arrays = [_double(a) for a in args]
    active = [i for i, a in enumerate(arrays) if a.dtype.kind in "fc"]
    rng = np.random.default_rng(seed)

    def outputs(*values: np.ndarray) -> list[Tensor]:
        given = [wrap(v) for v in values]
        return [y for y in nest.flatten(f(*given)) if _counts(y)]

    _check(outputs, f, arrays, active, rng, tolerance, step, forward, level=1)
    if order > 1:
        weights = [_random(y._array, rng) for y in outputs(*arrays)]

        def derivative(*values: Tensor) -> list[Tensor]:
            with GradientTape() as tape:
                tape.watch([values[i] for i in active])
                ys = [y for y in nest.flatten(f(*values)) if _counts(y)]
            gradients = tape.gradient(
                ys, [values[i] for i in active], output_gradients=[wrap(w) for w in weights]
            )
            return [dense(g) for g in gradients if g is not None]

        if derivative(*[wrap(a) for a in arrays]):
            check_gradients(
                derivative, arrays, order - 1, forward=forward, tolerance=tolerance,
                step=step, seed=seed + 1,
            )  # fmt: skip


def _counts(y: Tensor) -> bool:
    return isinstance(y, Value) and y.dtype.is_differentiable


def _double(value: Tensor | np.ndarray) -> np.ndarray:
    array = value._array if isinstance(value, Value) else to_array(value)
    kind = dtypes.of(array).kind
    wide = {"f": np.float64, "c": np.complex128}.get(kind)
    return array if wide is None else array.astype(wide)


def _random(like: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    real = rng.standard_normal(like.shape)
    if like.dtype.kind == "c":
        return real + 1j * rng.standard_normal(like.shape)
    return real


def _inner(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.sum(np.real(np.conj(a) * b)))


def _check(
    outputs: Callable[..., list[Any]], f: Any, arrays: list[np.ndarray], active: list[int],
    rng: np.random.Generator, tolerance: float, step: float, forward: bool, level: int,
) -> None:  # fmt: skip
    weights = [_random(y._array, rng) for y in outputs(*arrays)]
    directions = {i: _random(arrays[i], rng) for i in active}

    def along(t: float) -> float:
        moved = [a + t * directions[i] if i in directions else a for i, a in enumerate(arrays)]
        ys = outputs(*moved)
        return sum(_inner(w, y._array) for w, y in zip(weights, ys, strict=True))

    numeric = (along(step) - along(-step)) / (2 * step)
    values = [wrap(a) for a in arrays]
    watched = [values[i] for i in active]
    with GradientTape() as tape:
        tape.watch(watched)
        ys = [y for y in nest.flatten(f(*values)) if _counts(y)]
    grads = tape.gradient(ys, watched, output_gradients=[wrap(w) for w in weights])
    total = 0.0
    for i, g in zip(active, grads, strict=True):
        if g is None:
            continue
        g = dense(g)  # row-sparse gradients are compared whole
        assert g._array.shape == arrays[i].shape, (
            f"gradient of argument {i} has shape {g.shape}, not {arrays[i].shape}"
        )
        total += _inner(g._array, directions[i])
    _compare("reverse", total, numeric, tolerance)
    if forward:
        tangents = [wrap(directions[i].astype(arrays[i].dtype)) for i in active]
        with ForwardAccumulator(watched, tangents) as accumulator:
            ys = [y for y in nest.flatten(f(*values)) if _counts(y)]
        jvps = [accumulator.jvp(y) for y in ys]
        jvps = [zeros_like(y) if j is None else j for y, j in zip(ys, jvps, strict=True)]
        pushed = sum(_inner(w, j._array) for w, j in zip(weights, jvps, strict=True))
        _compare("forward", pushed, numeric, tolerance)


def _compare(mode: str, analytic: float, numeric: float, tolerance: float) -> None:
    scale = max(1.0, abs(analytic), abs(numeric))
    assert abs(analytic - numeric) <= tolerance * scale, (
        f"{mode} mode gives {analytic:.10g}, finite differences {numeric:.10g}"
    )
