"""`tf.test.compute_gradient`: Jacobians by the tape and by finite differences.

A complex number counts as two real ones, its real part first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.apply import wrap
from wengert.core.convert import to_tensor
from wengert.core.errors import at_site, describe
from wengert.core.types import Tensor, TensorLike, Value
from wengert.tape.gradient_tape import GradientTape
from wengert.tape.gradient_values import dense


def compute_gradient(
    f: Any, x: TensorLike, delta: float | None = None
) -> tuple[tuple[np.ndarray, ...], tuple[np.ndarray, ...]]:
    """The Jacobians of `f` by each argument in the list `x`: by the tape, and by differences.

    Each has a row for each number of the result and a column for each number of the argument.
    """
    if not isinstance(x, list | tuple):
        text = f"compute_gradient: `x` must be a list of the arguments of `f`; got {describe(x)}."
        raise at_site(ValueError(text))
    inputs = [_floating(to_tensor(v), f"argument {k}") for k, v in enumerate(x)]
    with GradientTape(persistent=True, watch_accessed_variables=False) as tape:
        tape.watch(inputs)
        y = f(*inputs)
    y = _floating(y, "the result of `f`")
    exact = tuple([_by_tape(tape, y, v) for v in inputs])
    step = 1.0 / 1024 if delta is None else delta
    return exact, tuple([_by_differences(f, inputs, k, y, step) for k in range(len(inputs))])


def _floating(x: Tensor, what: str) -> Tensor:
    if not isinstance(x, Value) or not (x.dtype.is_floating or x.dtype.is_complex):
        text = f"compute_gradient: {what} must be a tensor of a floating or complex dtype"
        raise at_site(TypeError(f"{text}; got {describe(x)}."))
    return x


def _real(x: Tensor) -> type:
    """The NumPy dtype of the real numbers that a tensor is made of."""
    return x.dtype.real_dtype.as_numpy_dtype


def _count(x: Tensor) -> int:
    return x._array.size * (2 if x.dtype.is_complex else 1)


def _by_tape(tape: GradientTape, y: Tensor, x: Tensor) -> np.ndarray:
    jacobian = np.zeros((_count(y), _count(x)), _real(x))
    for row in range(len(jacobian)):
        seed = np.zeros(y._array.shape, y._array.dtype)
        seed.reshape(-1).view(_real(y))[row] = 1
        g = dense(tape.gradient(y, x, wrap(seed), unconnected_gradients="zero")).numpy()
        jacobian[row] = np.ascontiguousarray(g).reshape(-1).view(_real(x))
    return jacobian


def _by_differences(f: Any, inputs: list[Tensor], k: int, y: Tensor, step: float) -> np.ndarray:
    jacobian = np.zeros((_count(y), _count(inputs[k])), _real(inputs[k]))
    for column in range(jacobian.shape[1]):
        ends = []
        for sign in (step, -step):
            moved = np.array(inputs[k].numpy(), order="C")
            moved.reshape(-1).view(_real(inputs[k]))[column] += sign
            ends.append(f(*inputs[:k], wrap(moved), *inputs[k + 1 :]).numpy())
        slope = np.asarray(ends[0] - ends[1]) / np.asarray(2 * step, _real(y))
        jacobian[:, column] = slope.reshape(-1).view(_real(y))
    return jacobian
