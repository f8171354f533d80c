"""Random programs: eager code, the host engine and XLA agree, on values and on gradients.

`python -m tests.test_fuzz_programs 1000` tries a thousand seeds (`1000 5000`: from 5000 on, `--xla`:
each also compiled) and prints what differs.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as tf
from tests.programs import SHAPES, Expr, Programs

DEPTH = 3
ON_HOST, ON_XLA = range(60), (0, 3, 8, 14, 21)


class Program:
    """A random program of three tensors and two variables, with its gradients."""

    def __init__(self, seed: int, free: bool) -> None:
        self.variables = [tf.Variable(np.zeros(3)) for _ in range(2)]
        made = Programs(seed, self.variables, free)
        kind = made.pick("s", "v", "m")
        scope = {"x": "v", "m": "m", "s": "s"}
        self.expr: Expr = made.make(kind, scope, DEPTH)
        rng = np.random.default_rng(seed + 1)
        self.given = {n: tf.constant(rng.normal(size=SHAPES[k])) for n, k in scope.items()}
        self.starts = [rng.normal(size=3) for _ in self.variables]
        self.weights = tf.constant(rng.normal(size=SHAPES[kind]))

    def value(self, *given: Any) -> Any:
        return self.expr.run(dict(zip(self.given, given, strict=True)))

    def slopes(self, value: Callable[..., Any], *given: Any) -> Any:
        """The value, the gradients of a weighted sum, and one of their second order."""
        sources = [*given, *self.variables]
        with tf.GradientTape() as outer:
            outer.watch(given)
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(given)
                y = value(*given)
                total = tf.reduce_sum(y * self.weights)
            slopes = tape.gradient(total, sources, unconnected_gradients="zero")
            found = [tf.convert_to_tensor(g) for g in slopes]
            second = tf.add_n([tf.reduce_sum(tf.sin(g)) for g in found])
        last = outer.gradient(second, given[0], unconnected_gradients="zero")
        return [tf.convert_to_tensor(z) for z in (y, *found, last)]

    def run(self, f: Callable[..., Any]) -> list[np.ndarray]:
        for v, start in zip(self.variables, self.starts, strict=True):
            v.assign(start)
        found = f(*self.given.values())
        return [np.asarray(x) for x in (*found, *self.variables)]

    def eagerly(self) -> list[np.ndarray]:
        tf.config.run_functions_eagerly(True)
        try:
            return self.run(lambda *given: self.slopes(self.value, *given))
        finally:
            tf.config.run_functions_eagerly(False)

    def inside(self, **options: Any) -> list[np.ndarray]:
        """Tapes inside one function."""
        whole = lambda *given: self.slopes(self.value, *given)
        return self.run(tf.function(whole, autograph=False, **options))

    def open(self, **options: Any) -> list[np.ndarray]:
        """Tapes inside one function that knows no sizes."""
        specs = [tf.TensorSpec([None] * len(x.shape), x.dtype) for x in self.given.values()]
        return self.inside(input_signature=specs, **options)

    def around(self, **options: Any) -> list[np.ndarray]:
        """Tapes around the call of a function."""
        value = tf.function(self.value, autograph=False, **options)
        return self.run(lambda *given: self.slopes(value, *given))


def compare(seed: int, name: str, got: list[np.ndarray], want: list[np.ndarray], text: str) -> None:
    for k, (g, w) in enumerate(zip(got, want, strict=True)):
        np.testing.assert_allclose(
            g, w, rtol=1e-7, atol=1e-9, err_msg=f"seed {seed}, {name}, result {k} of {text}"
        )


def check_host(seed: int) -> None:
    program = Program(seed, free=True)
    want = program.eagerly()
    with tf.engine("host"):
        compare(seed, "inside", program.inside(), want, program.expr.text)
        compare(seed, "around", program.around(), want, program.expr.text)
        compare(seed, "open", program.open(), want, program.expr.text)


def check_xla(seed: int, everything: bool = True) -> None:
    program = Program(seed, free=False)
    want = program.eagerly()
    compare(seed, "xla", program.open(jit_compile=True), want, program.expr.text)
    if everything:
        compare(seed, "xla around", program.around(jit_compile=True), want, program.expr.text)


@pytest.mark.parametrize("seed", ON_HOST)
def test_the_host_engine_agrees_with_eager_code(seed: int) -> None:
    check_host(seed)


@pytest.mark.parametrize("seed", ON_XLA)
def test_xla_agrees_with_eager_code(seed: int) -> None:
    check_xla(seed, everything=False)


def main(arguments: list[str]) -> int:
    numbers = [int(a) for a in arguments if not a.startswith("-")]
    count, first = (*numbers, 0)[:2] if numbers else (100, 0)
    failed = 0
    for seed in range(first, first + count):
        for check in (check_host, check_xla) if "--xla" in arguments else (check_host,):
            try:
                check(seed)
            except Exception:
                failed += 1
                text = Program(seed, free=check is check_host).expr.text
                print(f"--- seed {seed}, {check.__name__}: {text}")
                traceback.print_exc(limit=-4, file=sys.stdout)
                sys.stdout.flush()
    print(f"{count} seeds, {failed} failures")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
