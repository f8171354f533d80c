"""`LinearOperatorKronecker`: the Kronecker product of several operators."""

from __future__ import annotations

import math
from typing import Any

from wengert.core.errors import at_site
from wengert.core.shapes import TensorShape
from wengert.core.types import Tensor
from wengert.linear_operators.base import LinearOperator, arguments, operator_list
from wengert.linear_operators.batches import int32, joined_batch, transposed
from wengert.linear_operators.hints import Hints, hints, refuse
from wengert.ops import public as tf
from wengert.ops.dims import broadcast_dynamic_shape


def with_last(x: Tensor, *last: Any) -> Tensor:
    """A tensor whose last two axes are replaced by others of as many elements.

    One size may be -1. Sizes are numbers or scalar tensors.
    """
    batch = x.shape[:-2]
    if batch.is_fully_defined() and all(isinstance(n, int) for n in last):
        return tf.reshape(x, [*batch.as_list(), *last])
    tail = tf.stack([int32(n) for n in last])
    return tf.reshape(x, tf.concat([tf.shape(x)[:-2], tail], 0))


def size_of(operator: LinearOperator, rows: bool) -> Any:
    """A dimension of an operator: a number where it is known, else a tensor."""
    known = operator._sizes()[0 if rows else 1]
    if known is not None:
        return known
    return operator.range_dimension_tensor() if rows else operator.domain_dimension_tensor()


class LinearOperatorKronecker(LinearOperator):
    """The Kronecker product of operators.

    Args:
        operators: the factors, of one dtype.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised.
        name: of the operator.

    >>> a = tf.linalg.LinearOperatorDiag([1.0, 2.0])
    >>> tf.linalg.LinearOperatorKronecker([a, a]).diag_part().numpy().tolist()
    [1.0, 2.0, 2.0, 4.0]
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
        self._operators = operator_list("LinearOperatorKronecker", operators)
        given = [is_non_singular, is_self_adjoint, is_positive_definite]
        for k, kind in enumerate(("non-singular", "self-adjoint", "positive definite")):
            if all(hints(o)[k] for o in operators):
                refuse(given[k] is False, f"the Kronecker product of {kind} operators is {kind}")
                given[k] = True
        super().__init__(
            operators[0].dtype, name=name or "_x_".join(o.name for o in operators),
            parameters=parameters, **Hints(given[0], given[1], given[2], is_square)._asdict(),
        )  # fmt: skip

    @property
    def operators(self) -> list[Any]:
        """The factors."""
        return self._operators

    def _shape(self) -> TensorShape:
        sizes = []
        for k in (0, 1):
            sides: list[Any] = [o._sizes()[k] for o in self.operators]
            sizes.append(None if None in sides else math.prod(sides))
        return joined_batch(*[o.batch_shape for o in self.operators]).concatenate(sizes)

    def _shape_tensor(self) -> Tensor:
        first, *others = self.operators
        rows, columns = first.range_dimension_tensor(), first.domain_dimension_tensor()
        batch = first.batch_shape_tensor()
        for o in others:
            rows *= o.range_dimension_tensor()
            columns *= o.domain_dimension_tensor()
            batch = broadcast_dynamic_shape(batch, o.batch_shape_tensor())
        return tf.concat([batch, tf.stack([rows, columns])], 0)

    def _through(self, x: Tensor, method: str, adjoint: bool, rows_in: bool) -> Tensor:
        """Applies a method of each factor to its own axis of the vectors.

        The axes of a vector and the number of vectors, (n₁, …, nₖ, r), are taken in turn: the first
        is worked on and put last, so that after all of them (r, m₁, …, mₖ) is left.
        """
        sizes = [size_of(o, rows_in) for o in self.operators]
        for o, size in zip(self.operators, sizes, strict=True):
            x = getattr(o, method)(with_last(x, size, -1), adjoint=adjoint)
            x = tf.matrix_transpose(x)
        out = size_of(self, not rows_in)
        return tf.matrix_transpose(with_last(x, -1, out))

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._through(transposed(x, adjoint_arg), "matmul", adjoint, adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._through(transposed(rhs, adjoint_arg), "solve", adjoint, not adjoint)

    def _powers(self) -> list[tuple[Any, Tensor]]:
        """The factors, and how often the determinant of each counts."""
        total = self.domain_dimension_tensor()
        return [(o, total // o.domain_dimension_tensor()) for o in self.operators]

    def _determinant(self) -> Tensor:
        result: Any = 1
        for o, times in self._powers():
            result = o.determinant() ** tf.cast(times, self.dtype) * result
        return result

    def _log_abs_determinant(self) -> Tensor:
        result: Any = 0
        for o, times in self._powers():
            part = o.log_abs_determinant()
            result = part * tf.cast(times, part.dtype) + result
        return result

    def _trace(self) -> Tensor:
        result = self.operators[0].trace()
        for o in self.operators[1:]:
            result *= o.trace()
        return result

    def _vectors(self, method: str) -> Tensor:
        """The products of all pairs of the numbers that a method of the factors gives."""
        result = getattr(self.operators[0], method)()
        for o in self.operators[1:]:
            pairs = tf.expand_dims(result, -1) * tf.expand_dims(getattr(o, method)(), -2)
            result = with_last(pairs, -1)
        return result

    def _diag_part(self) -> Tensor:
        if not all(o.is_square for o in self.operators):
            return super()._diag_part()
        return self._vectors("diag_part")

    def _eigvals(self) -> Tensor:
        return self._vectors("eigvals")

    def _to_dense(self) -> Tensor:
        result = self.operators[0].to_dense()
        rows, columns = size_of(self.operators[0], True), size_of(self.operators[0], False)
        for o in self.operators[1:]:
            # [..., m, 1, n, 1] and [..., 1, p, 1, q], so that the product has the order of the result.
            result = tf.expand_dims(tf.expand_dims(result, -1), -3)
            other = tf.expand_dims(tf.expand_dims(o.to_dense(), -2), -4)
            rows, columns = rows * size_of(o, True), columns * size_of(o, False)
            result = _merged(result * other, rows, columns)
        return result

    def _assert_non_singular(self) -> Tensor | None:
        return self._assert_each("assert_non_singular")

    def _assert_self_adjoint(self) -> Tensor | None:
        return self._assert_each("assert_self_adjoint")

    def _assert_each(self, name: str) -> None:
        if not all(o.is_square for o in self.operators):
            words = f"{self.name}.{name}: all factors must be square"
            raise at_site(ValueError(f"{words}. Promise is_square=True of each."))
        for o in self.operators:
            getattr(o, name)()

    def _each(self, method: str, promised: Hints) -> LinearOperator:
        parts = [getattr(o, method)() for o in self.operators]
        return LinearOperatorKronecker(parts, **promised._asdict())

    def _linop_adjoint(self) -> LinearOperator:
        return self._each("adjoint", hints(self))

    def _linop_inverse(self) -> LinearOperator:
        return self._each("inverse", hints(self))

    def _linop_cholesky(self) -> LinearOperator:
        return self._each("cholesky", Hints(True, None, None, True))

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"operators": [0] * len(self.operators)}


def _merged(x: Tensor, rows: Any, columns: Any) -> Tensor:
    batch = x.shape[:-4]
    if batch.is_fully_defined() and isinstance(rows, int) and isinstance(columns, int):
        return tf.reshape(x, [*batch.as_list(), rows, columns])
    tail = tf.stack([int32(rows), int32(columns)])
    return tf.reshape(x, tf.concat([tf.shape(x)[:-4], tail], 0))
