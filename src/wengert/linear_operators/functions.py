"""What the functions of `tf.linalg` give for operators."""

from __future__ import annotations

from typing import Any

from wengert.composite.rules import for_composite
from wengert.core.errors import at_site
from wengert.linear_operators.base import LinearOperator
from wengert.ops import decompose, diagonal, matmul, solve, tensordot

_rule = lambda *plain: for_composite(LinearOperator, *plain)


@_rule(matmul.matmul)
def _matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    *rest: Any,
    **options: Any,
) -> Any:
    if transpose_a or transpose_b:
        words = "matmul: operators are not transposed; use `adjoint_a` and `adjoint_b`"
        raise at_site(ValueError(f"{words}, or write them out with to_dense()."))
    if isinstance(a, LinearOperator):
        return a.matmul(b, adjoint=adjoint_a, adjoint_arg=adjoint_b)
    turned = b.matmul(a, adjoint=not adjoint_b, adjoint_arg=not adjoint_a)
    return tensordot.adjoint(turned)


@_rule(solve.solve)
def _solve(matrix: Any, rhs: Any, adjoint: bool = False, name: Any = None) -> Any:
    if not isinstance(matrix, LinearOperator):
        words = "solve: `rhs` may be an operator only if the matrix is one"
        raise at_site(ValueError(f"{words}. Use tf.linalg.LinearOperatorFullMatrix."))
    return matrix.solve(rhs, adjoint=adjoint)


@_rule(solve.inv)
def _inv(input: LinearOperator, adjoint: bool = False, name: Any = None) -> LinearOperator:
    inverse = input.inverse()
    return inverse.adjoint() if adjoint else inverse


@_rule(solve.det)
def _det(input: LinearOperator, name: Any = None) -> Any:
    return input.determinant()


@_rule(solve.logdet)
def _logdet(matrix: LinearOperator, name: Any = None) -> Any:
    if matrix.is_positive_definite and matrix.is_self_adjoint:
        return matrix.log_abs_determinant()
    words = "logdet: the operator is not promised to be self-adjoint and positive definite"
    raise at_site(ValueError(f"{words}. Use its log_abs_determinant()."))


@_rule(decompose.cholesky)
def _cholesky(input: LinearOperator, name: Any = None) -> LinearOperator:
    return input.cholesky()


@_rule(diagonal.diag_part)
def _diag_part(input: LinearOperator, *options: Any, **named: Any) -> Any:
    return input.diag_part()


@_rule(diagonal.trace)
def _trace(x: LinearOperator, name: Any = None) -> Any:
    return x.trace()


@_rule(tensordot.adjoint)
def _adjoint(matrix: LinearOperator, name: Any = None) -> LinearOperator:
    return matrix.adjoint()
