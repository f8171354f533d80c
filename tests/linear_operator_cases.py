"""Linear operators, and what is asked of each: run on TensorFlow to record, on Wengert to compare.

    python -m tests.linear_operator_cases > tests/linear_operator_answers.json

with an interpreter that has TensorFlow.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np


def numbers(*shape: int, seed: int = 0) -> Any:
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def positive(*shape: int) -> Any:
    x = numbers(*shape)
    return x @ np.swapaxes(x, -1, -2) + 2 * np.eye(shape[-1])


def operators(tf: Any) -> dict[str, Any]:
    """What makes each operator."""
    L = tf.linalg
    t = lambda x: tf.constant(x, tf.float64)
    c = lambda x: tf.constant(x, tf.complex128)
    full = lambda *s: L.LinearOperatorFullMatrix(t(numbers(*s) + 2 * np.eye(s[-2], s[-1])))
    spd = lambda *s: L.LinearOperatorFullMatrix(
        t(positive(*s)), is_self_adjoint=True, is_positive_definite=True
    )
    diag = lambda *s: L.LinearOperatorDiag(t(np.abs(numbers(*s)) + 0.5), is_positive_definite=True)
    tril = lambda *s: L.LinearOperatorLowerTriangular(
        t(numbers(*s) + 2 * np.eye(s[-1])), is_non_singular=True
    )
    hermitian = np.fft.fft(np.array([5.0, 1.0, 0.5, 1.0]))
    return {
        "full": lambda: full(3, 3),
        "full batch": lambda: full(2, 3, 3),
        "full wide": lambda: full(2, 3),
        "full spd": lambda: spd(2, 3, 3),
        "full complex": lambda: L.LinearOperatorFullMatrix(c(numbers(3, 3) + 1j * numbers(3, 3, seed=1))),
        "diag": lambda: diag(3),
        "diag batch": lambda: diag(2, 3),
        "diag complex": lambda: L.LinearOperatorDiag(c(numbers(3) + 1j * numbers(3, seed=1))),
        "identity": lambda: L.LinearOperatorIdentity(3, dtype=tf.float64),
        "identity batch": lambda: L.LinearOperatorIdentity(3, batch_shape=[2], dtype=tf.float64),
        "scaled": lambda: L.LinearOperatorScaledIdentity(3, t(2.5), is_positive_definite=True),
        "scaled batch": lambda: L.LinearOperatorScaledIdentity(3, t([2.0, -3.0])),
        "scaled complex": lambda: L.LinearOperatorScaledIdentity(3, c(1.0 + 2.0j)),
        "tril": lambda: tril(3, 3),
        "tril batch": lambda: tril(2, 3, 3),
        "zeros": lambda: L.LinearOperatorZeros(3, dtype=tf.float64),
        "zeros wide": lambda: L.LinearOperatorZeros(
            2, 3, dtype=tf.float64, is_square=False, is_self_adjoint=False
        ),
        "adjoint": lambda: L.LinearOperatorAdjoint(tril(3, 3)),
        "inversion": lambda: L.LinearOperatorInversion(spd(3, 3)),
        "composition": lambda: L.LinearOperatorComposition([full(3, 3), diag(2, 3), tril(3, 3)]),
        "composition wide": lambda: L.LinearOperatorComposition([full(2, 3), full(3, 3)]),
        "llt": lambda: (lambda a: a.matmul(a.adjoint()))(tril(3, 3)),
        "kronecker": lambda: L.LinearOperatorKronecker([full(2, 2), diag(3)]),
        "kronecker three": lambda: L.LinearOperatorKronecker([full(2, 2), full(2, 2), spd(2, 2)]),
        "kronecker batch": lambda: L.LinearOperatorKronecker([full(2, 2, 2), full(3, 3)]),
        "kronecker spd": lambda: L.LinearOperatorKronecker([spd(2, 2), spd(2, 2)]),
        "kronecker wide": lambda: L.LinearOperatorKronecker([full(2, 3), full(2, 1)]),
        "block diag": lambda: L.LinearOperatorBlockDiag([full(2, 2), diag(2, 2)]),
        "block diag wide": lambda: L.LinearOperatorBlockDiag([full(2, 3), full(2, 1)], is_square=None),
        "block diag spd": lambda: L.LinearOperatorBlockDiag([spd(2, 2), diag(1)]),
        "block lower": lambda: L.LinearOperatorBlockLowerTriangular(
            [[tril(2, 2)], [full(1, 2), diag(1)], [full(2, 2), full(2, 1), tril(2, 2)]]
        ),
        "circulant": lambda: L.LinearOperatorCirculant(
            tf.constant(hermitian, tf.complex128), input_output_dtype=tf.float64
        ),
        "circulant complex": lambda: L.LinearOperatorCirculant(
            c([3.0 + 1j, 2.0, 1.0 - 1j]), input_output_dtype=tf.complex128
        ),
        "circulant real spectrum": lambda: L.LinearOperatorCirculant(
            t([4.0, 2.0, 1.0]), input_output_dtype=tf.complex128, is_positive_definite=True
        ),
        "circulant 2d": lambda: L.LinearOperatorCirculant2D(
            c(numbers(2, 3) + 3), input_output_dtype=tf.complex128
        ),
        "circulant 3d": lambda: L.LinearOperatorCirculant3D(
            c(numbers(2, 2, 2) + 3), input_output_dtype=tf.complex128
        ),
        "low rank": lambda: L.LinearOperatorLowRankUpdate(
            diag(3), t(numbers(3, 2)), t([1.0, 2.0]), t(numbers(3, 2, seed=2))
        ),
        "low rank symmetric": lambda: L.LinearOperatorLowRankUpdate(
            diag(3), t(numbers(3, 2)), t([1.0, 2.0]), is_diag_update_positive=True
        ),
        "low rank plain": lambda: L.LinearOperatorLowRankUpdate(spd(2, 3, 3), t(numbers(3, 1))),
        "householder": lambda: L.LinearOperatorHouseholder(t([1.0, 2.0, 3.0])),
        "householder batch": lambda: L.LinearOperatorHouseholder(t(numbers(2, 3))),
        "permutation": lambda: L.LinearOperatorPermutation([2, 0, 1], dtype=tf.float64),
        "permutation batch": lambda: L.LinearOperatorPermutation(
            [[1, 0, 2], [0, 2, 1]], dtype=tf.float64
        ),
        "toeplitz": lambda: L.LinearOperatorToeplitz(t([4.0, 1.0, 0.5]), t([4.0, 2.0, -1.0])),
        "toeplitz batch": lambda: L.LinearOperatorToeplitz(t(numbers(2, 3) + 3), t(numbers(2, 3) + 3)),
        "tridiag": lambda: L.LinearOperatorTridiag(
            t([[1.0, 2.0, 0.0], [4.0, 5.0, 6.0], [0.0, 3.0, 1.0]])
        ),
        "tridiag sequence": lambda: L.LinearOperatorTridiag(
            [t([1.0, 2.0, 0.0]), t([4.0, 5.0, 6.0]), t([0.0, 3.0, 1.0])], diagonals_format="sequence"
        ),
        "tridiag matrix": lambda: L.LinearOperatorTridiag(
            t(np.triu(np.tril(positive(3, 3), 1), -1)), diagonals_format="matrix"
        ),
    }  # fmt: skip


PLAIN = [
    "to_dense", "determinant", "log_abs_determinant", "trace", "diag_part", "eigvals", "cond",
]  # fmt: skip
MADE = ["adjoint", "inverse", "cholesky"]
HINTS = ["is_non_singular", "is_self_adjoint", "is_positive_definite", "is_square"]
OTHERS = ["full", "diag", "identity", "scaled", "tril", "zeros", "block diag spd", "circulant"]


def rounded(x: Any) -> Any:
    return [rounded(v) for v in x] if isinstance(x, list) else float(f"{x:.7g}")


def found(value: Any) -> Any:
    """Numbers as lists; of an operator its kind and its hints."""
    if hasattr(value, "to_dense"):
        return [type(value).__name__, [getattr(value, h) for h in HINTS]]
    if hasattr(value, "numpy"):
        array: Any = np.asarray(value.numpy())
        kind = str(array.dtype)
        if array.dtype.kind == "c":
            return [kind, rounded(array.real.tolist()), rounded(array.imag.tolist())]
        return [kind, rounded(array.tolist())]
    return str(value)


def asked(run: Any) -> Any:
    try:
        return found(run())
    except Exception as error:
        return ["error", type(error).__name__]


def answers(tf: Any, name: str, make: Any) -> dict[str, Any]:
    """What one operator answers."""
    operator = make()
    results: dict[str, Any] = {
        "shape": str(list(operator.shape)),
        "shape tensor": asked(operator.shape_tensor),
        "batch": asked(operator.batch_shape_tensor),
        "dtype": operator.dtype.name,
        "name": operator.name,
        "hints": [getattr(operator, h) for h in HINTS],
    }
    for method in (*PLAIN, *MADE):
        results[method] = asked(getattr(operator, method))
    rows, columns = operator.shape[-2:]
    dtype = operator.dtype
    x = tf.cast(numbers(columns, 2, seed=3), dtype)
    y = tf.cast(numbers(rows, 2, seed=4), dtype)
    both = tf.cast(numbers(2, columns, 2, seed=5), dtype)
    results["matmul"] = asked(lambda: operator.matmul(x))
    results["matmul batch"] = asked(lambda: operator.matmul(both))
    results["matmul adjoint"] = asked(lambda: operator.matmul(y, adjoint=True))
    results["matmul adjoint_arg"] = asked(
        lambda: operator.matmul(tf.linalg.adjoint(x), adjoint_arg=True)
    )
    results["matvec"] = asked(lambda: operator.matvec(x[:, 0]))
    results["matvec adjoint"] = asked(lambda: operator.matvec(y[:, 0], adjoint=True))
    results["solve"] = asked(lambda: operator.solve(y))
    results["solve adjoint"] = asked(lambda: operator.solve(x, adjoint=True))
    results["solve adjoint_arg"] = asked(
        lambda: operator.solve(tf.linalg.adjoint(y), adjoint_arg=True)
    )
    results["solvevec"] = asked(lambda: operator.solvevec(y[:, 0]))
    results["add"] = asked(
        lambda: operator.add_to_tensor(tf.cast(numbers(rows, columns, seed=6), dtype))
    )
    results["wrong size"] = asked(lambda: operator.matmul(tf.zeros([columns + 1, 2], dtype)))
    results["wrong dtype"] = asked(lambda: operator.matmul(tf.zeros([columns, 2], tf.int32)))
    makers = operators(tf)
    for other in OTHERS:
        results[f"@ {other}"] = asked(lambda other=other: operator @ makers[other]())
        results[f"solve {other}"] = asked(lambda other=other: operator.solve(makers[other]()))
    return results


def main() -> None:
    import tensorflow as tf  # pyright: ignore[reportMissingModuleSource]

    tf.get_logger().setLevel("ERROR")
    made = {name: answers(tf, name, make) for name, make in operators(tf).items()}
    lines = [f"{json.dumps(name)}: {json.dumps(one)}" for name, one in made.items()]
    print("{" + ",\n".join(lines) + "}")


if __name__ == "__main__":
    main()
