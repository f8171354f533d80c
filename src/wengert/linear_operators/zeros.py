"""`LinearOperatorZeros`: a matrix of zeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.convert import to_tensor
from wengert.core.errors import at_site
from wengert.core.shapes import TensorShape
from wengert.core.types import DTypeLike, Tensor, TensorLike
from wengert.linear_operators.base import LinearOperator, _need_square, arguments
from wengert.linear_operators.batches import joined_batch, static_number, transposed
from wengert.linear_operators.hints import Hints, refuse
from wengert.ops import public as tf
from wengert.ops.dims import broadcast_dynamic_shape, get_static_value


class LinearOperatorZeros(LinearOperator):
    """A matrix of zeros, which need not be square.

    Args:
        num_rows: how many rows.
        num_columns: how many columns; as many by default.
        batch_shape: leading axes.
        dtype: float32 by default.
        is_non_singular, is_positive_definite: false for all.
        is_self_adjoint: whether it is square, which it then is.
        is_square: whether it has as many rows as columns.
        assert_proper_shapes: without effect: shapes are always checked.
        name: of the operator.

    >>> tf.linalg.LinearOperatorZeros(2).to_dense().numpy().tolist()
    [[0.0, 0.0], [0.0, 0.0]]
    """

    def __init__(
        self,
        num_rows: TensorLike,
        num_columns: TensorLike | None = None,
        batch_shape: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:
        parameters = arguments(locals())
        refuse(bool(is_non_singular), "a matrix of zeros is singular")
        refuse(bool(is_positive_definite), "a matrix of zeros is not positive definite")
        promised = Hints(False, is_self_adjoint, False, is_square)
        if num_columns is not None and static_number(num_rows) != static_number(num_columns):
            refuse(bool(is_self_adjoint or is_square), "its numbers of rows and columns differ")
        super().__init__(
            dtype or dtypes.float32, name=name, parameters=parameters, **promised._asdict()
        )
        columns = num_rows if num_columns is None else num_columns
        self._num_rows, self._num_columns = to_tensor(num_rows), to_tensor(columns)
        self._sides = [static_number(num_rows), static_number(columns)]
        if any(side is not None and side < 0 for side in self._sides):
            words = f"numbers of rows and columns must not be negative; got {self._sides}"
            raise at_site(ValueError(f"LinearOperatorZeros: {words}."))
        self._self_batch = None if batch_shape is None else to_tensor(batch_shape, dtypes.int32)

    def _shape(self) -> TensorShape:
        batch: list[Any] = []
        if self._self_batch is not None:
            known = get_static_value(self._self_batch)
            unknown = [None] * (self._self_batch.shape[0] or 0)
            batch = unknown if known is None else np.reshape(known, -1).tolist()
        return TensorShape([*batch, *self._sides])

    def _shape_tensor(self) -> Tensor:
        sides = tf.stack([tf.cast(n, dtypes.int32) for n in (self._num_rows, self._num_columns)])
        return sides if self._self_batch is None else tf.concat([self._self_batch, sides], 0)

    def _zeros(self, *last: Any, batch: Any = None) -> Tensor:
        from wengert.ops.create import zeros

        if batch is None:
            known = self.batch_shape
            batch = known.as_list() if known.is_fully_defined() else self.batch_shape_tensor()
        if isinstance(batch, list) and all(isinstance(n, int) for n in last):
            return zeros([*batch, *last], self.dtype)
        sizes = [tf.cast(to_tensor(n), dtypes.int32) for n in last]
        head = to_tensor(batch, dtypes.int32)
        return zeros(tf.concat([head, tf.stack(sizes)], 0) if last else head, self.dtype)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = transposed(x, adjoint_arg)
        side = 1 if adjoint else 0
        rows = self._sides[side]
        rows = (self._num_columns if adjoint else self._num_rows) if rows is None else rows
        if x.shape.is_fully_defined() and self.batch_shape.is_fully_defined():
            batch: Any = joined_batch(self.batch_shape, x.shape[:-2]).as_list()
            return self._zeros(rows, x.shape[-1], batch=batch)
        batch = broadcast_dynamic_shape(self.batch_shape_tensor(), tf.shape(x)[:-2])
        return self._zeros(rows, tf.shape(x)[-1], batch=batch)

    def _least_side(self) -> Any:
        if None in self._sides:
            return tf.reduce_min(self.shape_tensor()[-2:])
        return min(side for side in self._sides if side is not None)

    def _determinant(self) -> Tensor:
        return self._zeros()

    _trace = _determinant

    def _diag_part(self) -> Tensor:
        return self._zeros(self._least_side())

    _eigvals = _diag_part

    def _to_dense(self) -> Tensor:
        sides = (self._num_rows, self._num_columns)
        known = zip(self._sides, sides, strict=True)
        return self._zeros(*[t if n is None else n for n, t in known])

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return x

    def _assert_non_singular(self) -> Tensor | None:
        words = "Zeros operators are always non-invertible."
        raise at_site(ValueError(f"{self.name}.assert_non_singular: {words}"))

    def _assert_positive_definite(self) -> Tensor | None:
        words = "Zeros operators are always non-positive definite."
        raise at_site(ValueError(f"{self.name}.assert_positive_definite: {words}"))

    def _assert_self_adjoint(self) -> Tensor | None:
        return None

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorZeros(
            self._num_columns, self._num_rows, self._self_batch, self.dtype,
            is_self_adjoint=self.is_self_adjoint, is_square=self.is_square,
        )  # fmt: skip

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        _need_square("matmul", left_operator, right_operator)
        return left_operator
