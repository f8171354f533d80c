"""NumPy functions, and array methods, on tensors of a trace: operations, or a refusal that helps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.test_operations import close

X = np.arange(6.0).reshape(2, 3) + 0.25

CASES: dict[str, Callable[[Any], Any]] = {
    "sin": lambda x: np.sin(x),
    "add": lambda x: np.add(x, x),
    "array + tensor": lambda x: np.ones((2, 3)) + x,
    "maximum": lambda x: np.maximum(x, 1.0),
    "sum": lambda x: np.sum(x),
    "sum over an axis": lambda x: np.sum(x, axis=0, keepdims=True),
    "mean": lambda x: np.mean(x, 1),
    "std": lambda x: np.std(x),
    "max": lambda x: np.max(x),
    "any": lambda x: np.any(x > 1.0),
    "argmax": lambda x: np.argmax(x),
    "cumsum": lambda x: np.cumsum(x),
    "sort": lambda x: np.sort(x, axis=None),
    "dot": lambda x: np.dot(x, x.T),
    "matmul with a vector": lambda x: np.matmul(x, x[0]),
    "outer": lambda x: np.outer(x, x),
    "einsum": lambda x: np.einsum("ij,kj->ik", x, x),
    "where": lambda x: np.where(x > 1.0, x, 0.0),
    "clip": lambda x: np.clip(x, 1, 2),
    "concatenate": lambda x: np.concatenate([x, np.ones((2, 1))], axis=1),
    "stack": lambda x: np.stack([x, x], 1),
    "split": lambda x: np.split(x, [1], axis=1),
    "reshape": lambda x: np.reshape(x, (3, 2)),
    "transpose": lambda x: np.transpose(x),
    "moveaxis": lambda x: np.moveaxis(x, 0, 1),
    "expand_dims": lambda x: np.expand_dims(x, (0, -1)),
    "squeeze": lambda x: np.squeeze(np.expand_dims(x, 0)),
    "roll": lambda x: np.roll(x, 1),
    "tile": lambda x: np.tile(x, (2, 1, 1)),
    "repeat": lambda x: np.repeat(x, 2, axis=0),
    "flip": lambda x: np.flip(x),
    "shape": lambda x: np.shape(x)[0] * x,
    "zeros_like": lambda x: np.zeros_like(x),
    "ones_like": lambda x: np.ones_like(x, dtype=np.int32),
    "full_like": lambda x: np.full_like(x, 2.0),
    "vstack": lambda x: np.vstack([x, x]),
    "hstack": lambda x: np.hstack([x, x]),
    "diff": lambda x: np.diff(x),
    "isclose": lambda x: np.isclose(x, x + 1e-9),
    "allclose": lambda x: np.allclose(x, X),
    "take": lambda x: np.take(x, [1, 0], axis=1),
    "size": lambda x: x * np.size(x),
    "linalg.norm": lambda x: np.linalg.norm(x, axis=1),
    "linalg.inv": lambda x: np.linalg.inv(x[:, :2]),
    "linalg.solve": lambda x: np.linalg.solve(x[:, :2], x),
    "x.sum()": lambda x: x.sum(),
    "x.mean(0)": lambda x: x.mean(0),
    "x.astype": lambda x: x.astype(int),
    "x.reshape": lambda x: x.reshape(3, 2),
    "x.T": lambda x: x.T,
    "x.flatten": lambda x: x.flatten(),
    "x.argmax": lambda x: x.argmax(1),
    "x.clip": lambda x: x.clip(1, 2),
    "x.copy": lambda x: x.copy(),
    "x.all": lambda x: (x > 0.0).all(),
    "x.swapaxes": lambda x: x.swapaxes(0, 1),
    "x.itemsize": lambda x: x * x.itemsize,
}
each_case = pytest.mark.parametrize("function", CASES.values(), ids=CASES.keys())


def check(function: Callable[[Any], Any], signature: Any) -> None:
    found = tf.function(function, input_signature=signature, autograph=False)(tf.constant(X))
    want = function(X)
    if isinstance(want, list):
        for g, w in zip(found, want, strict=True):
            close(g, w, 1e-6)
    else:
        close(found, want, 1e-6)


@each_case
def test_traced_equals_numpy(function: Callable[[Any], Any]) -> None:
    check(function, None)


@each_case
def test_traced_with_unknown_sizes_equals_numpy(function: Callable[[Any], Any]) -> None:
    check(function, [tf.TensorSpec([None, None], tf.float64)])


def test_gradients_go_through() -> None:
    @tf.function
    def slope(x: Any) -> Any:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = np.sum(np.sin(x) * np.vstack([x, x])[:2])
        return tape.gradient(y, x)

    close(slope(tf.constant(X)), np.sin(X) + X * np.cos(X), 1e-6)


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "function": (lambda x: np.median(x), "np.median"),
    "function of a module": (lambda x: np.fft.fft(x), "np.fft.fft"),
    "ufunc": (lambda x: np.cbrt(x), "np.cbrt"),
    "method of a ufunc": (lambda x: np.add.reduce(x), "np.add.reduce"),
    "option": (lambda x: np.add(x, x, out=np.zeros((2, 3))), "np.add"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_counterpart_names_the_way_out(name: str) -> None:
    function, called = REFUSED[name]
    with pytest.raises(TypeError) as info:
        tf.function(function)(tf.constant(X))
    near = {"np.median": "tf.sort", "np.fft.fft": "tf.signal.fft", "np.cbrt": "tf.pow"}
    assert str(info.value) == (
        f"{called}: there is no operation of this meaning for a tensor that has no value yet. Use "
        f"{near.get(called, 'a function of tf.')}, or wrap the call in tf.numpy_function."
    )
    assert "test_numpy_traced.py" in "".join(info.value.__notes__)


def test_values_are_refused_with_the_way_out() -> None:
    for function in (lambda x: np.asarray(x), lambda x: np.array([x, x]), lambda x: x.tolist()):
        with pytest.raises(TypeError, match=r"tf\.(numpy|py)_function"):
            tf.function(function, autograph=False)(tf.constant(X))
