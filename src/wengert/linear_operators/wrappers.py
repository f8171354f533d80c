"""The conjugate transpose and the inverse of any operator, without a look at its structure."""

from __future__ import annotations

from typing import Any

from wengert.core.shapes import TensorShape
from wengert.core.types import Tensor
from wengert.linear_operators.base import LinearOperator, arguments
from wengert.linear_operators.batches import conjugate
from wengert.linear_operators.hints import Hints, hints, refuse
from wengert.ops import public as tf


def _agreed(operator: LinearOperator, given: Hints, what: str) -> Hints:
    """The promises of a wrapper: those of the operator, which others must not contradict."""
    for mine, theirs in zip(given, hints(operator), strict=True):
        refuse(mine is not None and theirs is not None and mine != theirs, what)
    return Hints(*[b if a is None else a for a, b in zip(given, hints(operator), strict=True)])


class LinearOperatorAdjoint(LinearOperator):
    """The conjugate transpose of an operator.

    Args:
        operator: any operator.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: as for `operator`.
        name: of the operator.

    >>> operator = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> tf.linalg.LinearOperatorAdjoint(operator).to_dense().numpy().tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        parameters = arguments(locals())
        self._operator = operator
        given = Hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        promised = _agreed(operator, given, "an operator and its adjoint have the same properties")
        super().__init__(
            operator.dtype, name=name or f"{operator.name}_adjoint", parameters=parameters,
            **promised._asdict(),
        )  # fmt: skip

    @property
    def operator(self) -> Any:
        """The operator that was given."""
        return self._operator

    def _linop_adjoint(self) -> LinearOperator:
        return self._operator

    def _shape(self) -> TensorShape:
        shape = self._operator.shape
        return shape if shape.rank is None else TensorShape([*shape[:-2], shape[-1], shape[-2]])

    def _shape_tensor(self) -> Tensor:
        shape = self._operator.shape_tensor()
        return tf.concat([shape[:-2], [shape[-1], shape[-2]]], 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return self._operator.matvec(x, adjoint=not adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Tensor, adjoint: bool = False) -> Tensor:
        return self._operator.solvevec(rhs, adjoint=not adjoint)

    def _determinant(self) -> Tensor:
        return conjugate(self._operator.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return self._operator.log_abs_determinant()

    def _trace(self) -> Tensor:
        return conjugate(self._operator.trace())

    def _diag_part(self) -> Tensor:
        return conjugate(self._operator.diag_part())

    def _to_dense(self) -> Tensor:
        return tf.adjoint(self._operator.to_dense())

    def _eigvals(self) -> Tensor:
        return conjugate(self._operator.eigvals())

    def _cond(self) -> Tensor:
        return self._operator.cond()

    def _assert_non_singular(self) -> Tensor | None:
        return self._operator.assert_non_singular()

    def _assert_positive_definite(self) -> Tensor | None:
        return self._operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Tensor | None:
        return self._operator.assert_self_adjoint()

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"operator": 0}


class LinearOperatorInversion(LinearOperator):
    """The inverse of an operator.

    Args:
        operator: any operator that is not promised to be singular.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: as for `operator`.
        name: of the operator.

    >>> operator = tf.linalg.LinearOperatorFullMatrix([[2.0, 0.0], [0.0, 4.0]])
    >>> tf.linalg.LinearOperatorInversion(operator).matvec([1.0, 1.0]).numpy().tolist()
    [0.5, 0.25]
    """

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        parameters = arguments(locals())
        self._operator = operator
        refuse(operator.is_non_singular is False, "a singular operator has no inverse")
        refuse(is_non_singular is False, "an inverse is non-singular")
        given = Hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        promised = _agreed(operator, given, "an operator and its inverse have the same properties")
        super().__init__(
            operator.dtype, name=name or f"{operator.name}_inv", parameters=parameters,
            **promised._asdict(),
        )  # fmt: skip

    @property
    def operator(self) -> Any:
        """The operator that was given."""
        return self._operator

    def _linop_inverse(self) -> LinearOperator:
        return self._operator

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        return left_operator.operator.matmul(right_operator)

    def _shape(self) -> TensorShape:
        return self._operator.shape

    def _shape_tensor(self) -> Tensor:
        return self._operator.shape_tensor()

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return self._operator.solvevec(x, adjoint=adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solvevec(self, rhs: Tensor, adjoint: bool = False) -> Tensor:
        return self._operator.matvec(rhs, adjoint=adjoint)

    def _determinant(self) -> Tensor:
        return 1.0 / self._operator.determinant()

    def _log_abs_determinant(self) -> Tensor:
        return -1.0 * self._operator.log_abs_determinant()

    def _eigvals(self) -> Tensor:
        return 1.0 / self._operator.eigvals()

    def _cond(self) -> Tensor:
        return self._operator.cond()

    def _assert_non_singular(self) -> Tensor | None:
        return self._operator.assert_non_singular()

    def _assert_positive_definite(self) -> Tensor | None:
        return self._operator.assert_positive_definite()

    def _assert_self_adjoint(self) -> Tensor | None:
        return self._operator.assert_self_adjoint()

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"operator": 0}
