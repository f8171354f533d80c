"""Operators that keep a matrix: `LinearOperatorFullMatrix`, `LinearOperatorLowerTriangular`."""

from __future__ import annotations

from typing import Any

from wengert.core.convert import to_tensor
from wengert.core.shapes import TensorShape
from wengert.core.types import Tensor, TensorLike
from wengert.linear_operators.base import LinearOperator, arguments
from wengert.linear_operators.batches import argument, transposed
from wengert.linear_operators.diagonal import LinearOperatorDiag, triangular
from wengert.linear_operators.hints import Hints, always
from wengert.ops import public as tf


class LinearOperatorFullMatrix(LinearOperator):
    """A matrix as it is.

    Args:
        matrix: `[..., M, N]`.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised.
        name: of the operator.

    >>> float(tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]]).trace())
    5.0
    """

    def __init__(
        self,
        matrix: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        parameters = arguments(locals())
        self._matrix = argument("matrix", matrix, 2)
        promised = Hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(self._matrix.dtype, name=name, parameters=parameters, **promised._asdict())

    @property
    def matrix(self) -> Any:
        """The matrix."""
        return self._matrix

    def _shape(self) -> TensorShape:
        return self._matrix.shape

    def _shape_tensor(self) -> Tensor:
        return tf.shape(self._matrix)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return tf.matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self) -> Tensor:
        return to_tensor(self._matrix)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"matrix": 2}


class LinearOperatorLowerTriangular(LinearOperator):
    """A square matrix that is zero above its diagonal.

    Args:
        tril: `[..., N, N]`; what is above the diagonal is not read.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised.
        name: of the operator.

    >>> tf.linalg.LinearOperatorLowerTriangular([[1.0, 9.0], [2.0, 1.0]]).to_dense().numpy().tolist()
    [[1.0, 0.0], [2.0, 1.0]]
    """

    def __init__(
        self,
        tril: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        parameters = arguments(locals())
        is_square = always("is_square", is_square, "a triangular operator is square")
        self._tril = argument("tril", tril, 2)
        promised = Hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(self._tril.dtype, name=name, parameters=parameters, **promised._asdict())

    @property
    def tril(self) -> Any:
        """The matrix that was given."""
        return self._tril

    def _lower(self) -> Tensor:
        from wengert.ops.diagonal import band_part

        return band_part(self._tril, -1, 0)

    def _shape(self) -> TensorShape:
        return self._tril.shape

    def _shape_tensor(self) -> Tensor:
        return tf.shape(self._tril)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return tf.matmul(self._lower(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        rhs = transposed(rhs, adjoint_arg)
        return tf.triangular_solve(self._lower(), rhs, lower=True, adjoint=adjoint)

    def _determinant(self) -> Tensor:
        return tf.reduce_prod(tf.diag_part(self._tril), -1)

    def _log_abs_determinant(self) -> Tensor:
        return tf.reduce_sum(tf.log(tf.abs(tf.diag_part(self._tril))), -1)

    def _diag_part(self) -> Tensor:
        return tf.diag_part(self._tril)

    def _to_dense(self) -> Tensor:
        return self._lower()

    def _eigvals(self) -> Tensor:
        return self._diag_part()

    def _assert_non_singular(self) -> Tensor | None:
        from wengert.ops.checks import assert_positive

        words = "Singular operator:  Diagonal contained zero values."
        return assert_positive(tf.abs(self._diag_part()), message=words)

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        if isinstance(right_operator, LinearOperatorDiag):
            columns = tf.expand_dims(right_operator.diag, -2)
            return triangular(left_operator.to_dense() * columns, right_operator, left_operator)
        return super()._linop_matmul(left_operator, right_operator)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"tril": 2}
