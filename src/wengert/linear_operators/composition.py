"""`LinearOperatorComposition`: the product of several operators, one applied after the other."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from wengert.core.errors import at_site
from wengert.core.shapes import TensorShape
from wengert.core.types import Tensor
from wengert.linear_operators.base import LinearOperator, arguments, operator_list
from wengert.linear_operators.batches import joined_batch
from wengert.linear_operators.dense import LinearOperatorLowerTriangular
from wengert.linear_operators.hints import Hints, refuse
from wengert.ops import public as tf
from wengert.ops.dims import broadcast_dynamic_shape


def is_symmetric_product(operators: list[Any]) -> bool:
    """Whether the second half of the factors are the adjoints of the first, in reverse."""
    from wengert.linear_operators.wrappers import LinearOperatorAdjoint

    if len(operators) % 2:
        return False

    def matches(a: Any, b: Any) -> bool:
        if a is b:
            return bool(a.is_self_adjoint)
        pairs = ((a, b), (b, a))
        return any(isinstance(y, LinearOperatorAdjoint) and y.operator is x for x, y in pairs)

    half = len(operators) // 2
    return all(matches(operators[k], operators[-1 - k]) for k in range(half))


class LinearOperatorComposition(LinearOperator):
    """The product of operators.

    Args:
        operators: the factors, of one dtype and sizes that fit each other.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised.
        name: of the operator.

    >>> twice = tf.linalg.LinearOperatorDiag([2.0, 2.0])
    >>> full = tf.linalg.LinearOperatorFullMatrix([[0.0, 1.0], [1.0, 0.0]])
    >>> tf.linalg.LinearOperatorComposition([twice, full]).matvec([1.0, 3.0]).numpy().tolist()
    [6.0, 2.0]
    """

    def __init__(
        self,
        operators: list[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        parameters = arguments(locals())
        self._operators = operators = operator_list("LinearOperatorComposition", operators)
        if all(o.is_non_singular for o in operators):
            refuse(is_non_singular is False, "a product of non-singular operators is non-singular")
            is_non_singular = True
        if is_symmetric_product(operators):
            is_square = is_self_adjoint = True
            if is_non_singular:
                is_positive_definite = True
        for a, b in pairwise(operators):
            sizes = a._sizes()[1], b._sizes()[0]
            if None not in sizes and sizes[0] != sizes[1]:
                words = f"dimensions of neighbours must agree; got {a._text()} and {b._text()}"
                raise at_site(ValueError(f"LinearOperatorComposition: {words}."))
        promised = Hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(
            operators[0].dtype, name=name or "_o_".join(o.name for o in operators),
            parameters=parameters, **promised._asdict(),
        )  # fmt: skip

    @property
    def operators(self) -> list[Any]:
        """The factors."""
        return self._operators

    def _shape(self) -> TensorShape:
        ends = TensorShape([self.operators[0]._sizes()[0], self.operators[-1]._sizes()[1]])
        return joined_batch(*[o.batch_shape for o in self.operators]).concatenate(ends)

    def _shape_tensor(self) -> Tensor:
        batch = self.operators[0].batch_shape_tensor()
        for o in self.operators[1:]:
            batch = broadcast_dynamic_shape(batch, o.batch_shape_tensor())
        first, last = self.operators[0], self.operators[-1]
        return tf.concat(
            [batch, tf.stack([first.range_dimension_tensor(), last.domain_dimension_tensor()])], 0
        )

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        order = self.operators if adjoint else self.operators[::-1]
        result = order[0].matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for o in order[1:]:
            result = o.matmul(result, adjoint=adjoint)
        return result

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        order = self.operators[::-1] if adjoint else self.operators
        result = order[0].solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for o in order[1:]:
            result = o.solve(result, adjoint=adjoint)
        return result

    def _determinant(self) -> Tensor:
        if not all(o.is_square for o in self.operators):
            return super()._determinant()
        result = self.operators[0].determinant()
        for o in self.operators[1:]:
            result *= o.determinant()
        return result

    def _log_abs_determinant(self) -> Tensor:
        if not all(o.is_square for o in self.operators):
            return super()._log_abs_determinant()
        result = self.operators[0].log_abs_determinant()
        for o in self.operators[1:]:
            result += o.log_abs_determinant()
        return result

    def _assert_non_singular(self) -> Tensor | None:
        if not all(o.is_square for o in self.operators):
            return super()._assert_non_singular()
        for o in self.operators:
            o.assert_non_singular()
        return None

    def _linop_cholesky(self) -> LinearOperator:
        first = self.operators[0]
        llt = len(self.operators) == 2 and is_symmetric_product(self.operators)
        if not (llt and isinstance(first, LinearOperatorLowerTriangular)):
            return super()._linop_cholesky()
        if first.is_positive_definite:
            return first
        # The factor whose diagonal is positive: each column times the sign of its diagonal.
        signs = tf.expand_dims(tf.sign(first.diag_part()), -2)
        return LinearOperatorLowerTriangular(
            first.tril / signs, is_non_singular=first.is_non_singular,
            is_self_adjoint=first.is_self_adjoint, is_square=True,
        )  # fmt: skip

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"operators": [0] * len(self.operators)}
