"""Diagonal operators: `LinearOperatorDiag`, `LinearOperatorIdentity`, `LinearOperatorScaledIdentity`."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.convert import to_tensor
from wengert.core.errors import at_site, describe
from wengert.core.shapes import TensorShape
from wengert.core.types import DTypeLike, Tensor, TensorLike
from wengert.linear_operators.base import LinearOperator, arguments
from wengert.linear_operators.batches import (
    argument,
    conjugate,
    joined_batch,
    spread,
    static_number,
    transposed,
)
from wengert.linear_operators.hints import ALL, Hints, always, hints, of_commuting, refuse
from wengert.ops import public as tf
from wengert.ops.dims import broadcast_dynamic_shape, get_static_value


def add_diagonal(x: Tensor, diagonal: Tensor) -> Tensor:
    """A matrix with something added to its diagonal; leading axes broadcast."""
    if x.shape[:-2] != diagonal.shape[:-1] or not x.shape.is_fully_defined():
        batch: Any = None
        if x.shape.is_fully_defined() and diagonal.shape.is_fully_defined():
            batch = joined_batch(x.shape[:-2], diagonal.shape[:-1]).as_list()
        else:
            batch = broadcast_dynamic_shape(tf.shape(x)[:-2], tf.shape(diagonal)[:-1])
        x = spread(x, batch)
    return tf.set_diag(x, tf.diag_part(x) + diagonal)


class LinearOperatorDiag(LinearOperator):
    """A matrix that is zero outside its diagonal.

    Args:
        diag: the diagonals, `[..., N]`.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised.
        name: of the operator.

    >>> tf.linalg.LinearOperatorDiag([2.0, 4.0]).solve([[2.0], [2.0]]).numpy().tolist()
    [[1.0], [0.5]]
    """

    def __init__(
        self,
        diag: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        parameters = arguments(locals())
        self._diag = argument("diag", diag, 1)
        is_square = always("is_square", is_square, "a diagonal operator is square")
        if not self._diag.dtype.is_complex:
            fact = "a real diagonal operator is self-adjoint"
            is_self_adjoint = always("is_self_adjoint", is_self_adjoint, fact)
        promised = Hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(self._diag.dtype, name=name, parameters=parameters, **promised._asdict())

    @property
    def diag(self) -> Any:
        """The diagonals."""
        return self._diag

    def _shape(self) -> TensorShape:
        shape = self._diag.shape
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Tensor:
        shape = tf.shape(self._diag)
        return tf.concat([shape, shape[-1:]], 0)

    def _column(self, adjoint: bool) -> Tensor:
        return tf.expand_dims(conjugate(self._diag) if adjoint else self._diag, -1)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._column(adjoint) * transposed(x, adjoint_arg)

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return (conjugate(self._diag) if adjoint else self._diag) * x

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return transposed(rhs, adjoint_arg) / self._column(adjoint)

    def _determinant(self) -> Tensor:
        return tf.reduce_prod(self._diag, -1)

    def _log_abs_determinant(self) -> Tensor:
        result = tf.reduce_sum(tf.log(tf.abs(self._diag)), -1)
        return tf.cast(result, self.dtype) if self.dtype.is_complex else result

    def _diag_part(self) -> Tensor:
        return to_tensor(self._diag)

    def _to_dense(self) -> Tensor:
        from wengert.ops.diagonal import diag

        return diag(self._diag)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return add_diagonal(x, to_tensor(self._diag))

    def _eigvals(self) -> Tensor:
        return to_tensor(self._diag)

    def _cond(self) -> Tensor:
        sizes = tf.abs(self._diag)
        return tf.reduce_max(sizes, -1) / tf.reduce_min(sizes, -1)

    def _assert_non_singular(self) -> Tensor | None:
        from wengert.ops.checks import assert_positive

        return assert_positive(
            tf.abs(self._diag), message="Singular operator:  Diagonal contained zero values."
        )

    def _assert_positive_definite(self) -> Tensor | None:
        from wengert.ops.checks import assert_positive

        words = "Diagonal operator had an eigenvalue with zero or negative real part."
        return assert_positive(tf.cast(self._diag, self.dtype.real_dtype), message=words)

    def _assert_self_adjoint(self) -> Tensor | None:
        return assert_real(self._diag)

    # With other operators.

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorDiag(conjugate(self._diag), **hints(self)._asdict())

    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorDiag(1.0 / self._diag, **hints(self)._asdict())

    def _linop_cholesky(self) -> LinearOperator:
        return LinearOperatorDiag(tf.sqrt(self._diag), **ALL._asdict())

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        factor = factor_of(right_operator)
        if factor is not None:
            promised = of_commuting(left_operator, right_operator)
            return LinearOperatorDiag(left_operator.diag * factor, **promised._asdict())
        if is_triangular(right_operator):
            rows = tf.expand_dims(left_operator.diag, -1) * right_operator.to_dense()
            return triangular(rows, left_operator, right_operator)
        return super()._linop_matmul(left_operator, right_operator)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        factor = factor_of(right_operator)
        if factor is not None:
            promised = of_commuting(left_operator, right_operator)
            return LinearOperatorDiag(factor / left_operator.diag, **promised._asdict())
        if is_triangular(right_operator):
            rows = right_operator.to_dense() / tf.expand_dims(left_operator.diag, -1)
            return triangular(rows, left_operator, right_operator)
        return super()._linop_solve(left_operator, right_operator)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"diag": 1}


class _Multiple(LinearOperator):
    """What multiples of the identity have in common."""

    def _take_rows(self, num_rows: TensorLike) -> None:
        self._num_rows = to_tensor(num_rows)
        if not self._num_rows.dtype.is_integer:
            words = f"`num_rows` must be a whole number; got {describe(self._num_rows)}"
            raise at_site(TypeError(f"{type(self).__name__}: {words}."))
        self._rows = static_number(num_rows) if self._num_rows.shape.rank == 0 else -1
        if self._rows is not None and self._rows < 0:
            words = "`num_rows` must be one number that is not negative"
            raise at_site(
                ValueError(f"{type(self).__name__}: {words}; got {describe(self._num_rows)}.")
            )

    def _square(self) -> TensorShape:
        return TensorShape([self._rows, self._rows])

    def _square_tensor(self) -> Tensor:
        rows = tf.cast(self._num_rows, dtypes.int32)
        return tf.stack([rows, rows])

    def _ones_diag(self) -> Tensor:
        from wengert.ops.create import ones

        shape = self.shape
        sizes: Any = shape[:-1].as_list() if shape.is_fully_defined() else self.shape_tensor()[:-1]
        return ones(sizes, self.dtype)

    def _batch_ones(self) -> Tensor:
        from wengert.ops.create import ones

        batch = self.batch_shape
        return ones(
            batch.as_list() if batch.is_fully_defined() else self.batch_shape_tensor(), self.dtype
        )

    def _rows_as(self, dtype: Any) -> Tensor:
        return tf.cast(self._num_rows, dtype)


class LinearOperatorIdentity(_Multiple):
    """The identity.

    Args:
        num_rows: how many rows.
        batch_shape: leading axes.
        dtype: float32 by default.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: true for all.
        assert_proper_shapes: without effect: shapes are always checked.
        name: of the operator.

    >>> float(tf.linalg.LinearOperatorIdentity(3).trace())
    3.0
    """

    def __init__(
        self,
        num_rows: TensorLike,
        batch_shape: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        parameters = arguments(locals())
        for given in (is_non_singular, is_self_adjoint, is_positive_definite, is_square):
            refuse(not given, "the identity is non-singular, self-adjoint, positive and square")
        super().__init__(dtype or dtypes.float32, name=name, parameters=parameters, **ALL._asdict())
        self._take_rows(num_rows)
        self._self_batch = None if batch_shape is None else to_tensor(batch_shape, dtypes.int32)

    def _static_batch(self) -> TensorShape:
        if self._self_batch is None:
            return TensorShape([])
        known = get_static_value(self._self_batch)
        if known is None:
            return TensorShape([None] * (self._self_batch.shape[0] or 0))
        return TensorShape(np.reshape(known, -1).tolist())

    def _shape(self) -> TensorShape:
        return self._static_batch().concatenate(self._square())

    def _shape_tensor(self) -> Tensor:
        square = self._square_tensor()
        return square if self._self_batch is None else tf.concat([self._self_batch, square], 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = transposed(x, adjoint_arg)
        if self._self_batch is None:
            return x
        batch = self.batch_shape
        if batch.is_fully_defined() and x.shape[:-2].is_fully_defined():
            return spread(x, joined_batch(batch, x.shape[:-2]).as_list())
        return spread(x, broadcast_dynamic_shape(self.batch_shape_tensor(), tf.shape(x)[:-2]))

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _determinant(self) -> Tensor:
        return self._batch_ones()

    def _log_abs_determinant(self) -> Tensor:
        return self._batch_ones() * 0

    def _trace(self) -> Tensor:
        return self._rows_as(self.dtype) * self._batch_ones()

    def _diag_part(self) -> Tensor:
        return self._ones_diag()

    def _eigvals(self) -> Tensor:
        return self._ones_diag()

    def _cond(self) -> Tensor:
        return self._batch_ones()

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return add_diagonal(x, self._ones_diag())

    def _assert_non_singular(self) -> None:
        return None

    _assert_positive_definite = _assert_self_adjoint = _assert_non_singular

    def _linop_adjoint(self) -> LinearOperator:
        return self

    _linop_inverse = _linop_cholesky = _linop_adjoint

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        return right_operator

    _linop_solve = _linop_matmul


class LinearOperatorScaledIdentity(_Multiple):
    """A multiple of the identity.

    Args:
        num_rows: how many rows.
        multiplier: the multiples, whose axes are the leading axes of the operator.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised.
        assert_proper_shapes: without effect: shapes are always checked.
        name: of the operator.

    >>> tf.linalg.LinearOperatorScaledIdentity(2, 3.0).to_dense().numpy().tolist()
    [[3.0, 0.0], [0.0, 3.0]]
    """

    def __init__(
        self,
        num_rows: TensorLike,
        multiplier: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        parameters = arguments(locals())
        self._multiplier = argument("multiplier", multiplier)
        if not self._multiplier.dtype.is_complex:
            fact = "a real diagonal operator is self-adjoint"
            is_self_adjoint = always("is_self_adjoint", is_self_adjoint, fact)
        refuse(not is_square, "a multiple of the identity is square")
        promised = Hints(is_non_singular, is_self_adjoint, is_positive_definite, True)
        super().__init__(
            self._multiplier.dtype, name=name, parameters=parameters, **promised._asdict()
        )
        self._take_rows(num_rows)

    @property
    def multiplier(self) -> Any:
        """The multiples."""
        return self._multiplier

    def _shape(self) -> TensorShape:
        return self._multiplier.shape.concatenate(self._square())

    def _shape_tensor(self) -> Tensor:
        return tf.concat([tf.shape(self._multiplier), self._square_tensor()], 0)

    def _factor(self, adjoint: bool) -> Tensor:
        factor = conjugate(self._multiplier) if adjoint else to_tensor(self._multiplier)
        return tf.expand_dims(tf.expand_dims(factor, -1), -1)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return transposed(x, adjoint_arg) * self._factor(adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return transposed(rhs, adjoint_arg) / self._factor(adjoint)

    def _determinant(self) -> Tensor:
        return self._multiplier ** self._rows_as(self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return self._rows_as(self.dtype.real_dtype) * tf.log(tf.abs(self._multiplier))

    def _trace(self) -> Tensor:
        return self._multiplier * self._rows_as(self.dtype)

    def _diag_part(self) -> Tensor:
        return self._ones_diag() * tf.expand_dims(self._multiplier, -1)

    _eigvals = _diag_part

    def _cond(self) -> Tensor:
        return tf.where(
            tf.equal(self._multiplier, to_tensor(0, self.dtype)),
            to_tensor(np.nan, self.dtype), to_tensor(1, self.dtype),
        )  # fmt: skip

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return add_diagonal(x, self._diag_part())

    def _assert_non_singular(self) -> Tensor | None:
        from wengert.ops.checks import assert_positive

        return assert_positive(tf.abs(self._multiplier), message="LinearOperator was singular")

    def _assert_positive_definite(self) -> Tensor | None:
        from wengert.ops.checks import assert_positive

        return assert_positive(
            tf.cast(self._multiplier, self.dtype.real_dtype),
            message="LinearOperator was not positive definite.",
        )

    def _assert_self_adjoint(self) -> Tensor | None:
        return assert_real(self._multiplier)

    def _with(self, multiplier: Tensor, promised: Hints) -> LinearOperator:
        return LinearOperatorScaledIdentity(self._num_rows, multiplier, **promised._asdict())

    def _linop_adjoint(self) -> LinearOperator:
        return self._with(conjugate(self._multiplier), hints(self))

    def _linop_inverse(self) -> LinearOperator:
        return self._with(1.0 / self._multiplier, hints(self))

    def _linop_cholesky(self) -> LinearOperator:
        return self._with(tf.sqrt(self._multiplier), ALL)

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        promised = of_commuting(left_operator, right_operator)
        if isinstance(right_operator, LinearOperatorScaledIdentity):
            return self._with(left_operator.multiplier * right_operator.multiplier, promised)
        if isinstance(right_operator, LinearOperatorDiag):
            scaled = right_operator.diag * tf.expand_dims(left_operator.multiplier, -1)
            return LinearOperatorDiag(scaled, **promised._asdict())
        return super()._linop_matmul(left_operator, right_operator)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        promised = of_commuting(left_operator, right_operator)
        if isinstance(right_operator, LinearOperatorScaledIdentity):
            return self._with(right_operator.multiplier / left_operator.multiplier, promised)
        if isinstance(right_operator, LinearOperatorDiag):
            scaled = right_operator.diag / tf.expand_dims(left_operator.multiplier, -1)
            return LinearOperatorDiag(scaled, **promised._asdict())
        return super()._linop_solve(left_operator, right_operator)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"multiplier": 0}


def assert_real(x: Any) -> Any:
    """Checks, when it runs, that the numbers of a diagonal are real."""
    from wengert.ops.checks import assert_equal
    from wengert.ops.complex import imag

    x = to_tensor(x)
    if not x.dtype.is_complex:
        return None
    part = imag(x)
    words = (
        "This diagonal operator contained non-zero imaginary values.  Thus it was not self-adjoint."
    )
    return assert_equal(part, part * 0, message=words)


def factor_of(operator: LinearOperator) -> Any:
    """What each row of a diagonal operator is multiplied with; `None` for any other operator."""
    if isinstance(operator, LinearOperatorDiag):
        return operator.diag
    if isinstance(operator, LinearOperatorScaledIdentity):
        return tf.expand_dims(operator.multiplier, -1)
    return None


def is_triangular(operator: LinearOperator) -> bool:
    from wengert.linear_operators.dense import LinearOperatorLowerTriangular

    return isinstance(operator, LinearOperatorLowerTriangular)


def triangular(matrix: Tensor, a: LinearOperator, b: LinearOperator) -> LinearOperator:
    """The product of a diagonal and a triangular operator."""
    from wengert.linear_operators.dense import LinearOperatorLowerTriangular

    # A triangular operator that is self-adjoint is diagonal, and so commutes.
    promised = of_commuting(a, b)._replace(is_positive_definite=None)
    return LinearOperatorLowerTriangular(matrix, **promised._asdict())
