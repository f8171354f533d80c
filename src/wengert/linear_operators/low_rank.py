"""`LinearOperatorLowRankUpdate`: an operator plus a product of thin matrices."""

from __future__ import annotations

from typing import Any

from wengert.core.errors import at_site, describe
from wengert.core.shapes import TensorShape
from wengert.core.types import Tensor, TensorLike
from wengert.linear_operators.base import LinearOperator, arguments
from wengert.linear_operators.batches import (
    argument,
    conjugate,
    dense_solve,
    joined_batch,
    together,
)
from wengert.linear_operators.diagonal import LinearOperatorDiag, LinearOperatorIdentity
from wengert.linear_operators.hints import Hints, refuse
from wengert.ops import public as tf
from wengert.ops.dims import broadcast_dynamic_shape


class LinearOperatorLowRankUpdate(LinearOperator):
    """L + U D Vᴴ for an operator L, matrices U and V of few columns, and a diagonal D.

    Solutions and determinants cost those of L, and of a matrix with as many rows as U has columns.

    Args:
        base_operator: L.
        u: U, `[..., M, K]`.
        diag_update: the diagonal of D; ones by default.
        v: V, `[..., N, K]`; U by default.
        is_diag_update_positive: whether the diagonal is promised to be positive.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised.
        name: of the operator.

    >>> one = tf.linalg.LinearOperatorIdentity(2)
    >>> float(tf.linalg.LinearOperatorLowRankUpdate(one, [[1.0], [2.0]]).determinant())
    6.0
    """

    def __init__(
        self,
        base_operator: LinearOperator,
        u: TensorLike,
        diag_update: TensorLike | None = None,
        v: TensorLike | None = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        parameters = arguments(locals())
        self._base_operator = base_operator
        self._u = argument("u", u, 2)
        self._v = self._u if v is None else argument("v", v, 2)
        self._diag_update = None if diag_update is None else argument("diag_update", diag_update, 1)
        if diag_update is None:
            refuse(is_diag_update_positive is False, "a diagonal of ones is positive")
            is_diag_update_positive = True
        self._is_diag_update_positive = is_diag_update_positive
        if v is None and base_operator.is_self_adjoint and not self._complex_diagonal():
            refuse(is_self_adjoint is False, "a symmetric update of a self-adjoint operator is one")
            is_self_adjoint = True
        if v is None and base_operator.is_positive_definite and is_diag_update_positive:
            refuse(is_positive_definite is False, "a positive update of a positive operator is one")
            is_positive_definite = True
        self._check_sizes()
        promised = Hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(
            base_operator.dtype, name=name, parameters=parameters, **promised._asdict()
        )

    def _complex_diagonal(self) -> bool:
        return self._diag_update is not None and self._diag_update.dtype.is_complex

    def _check_sizes(self) -> None:
        rows, columns = self._base_operator._sizes()
        pairs = [("u", self._u.shape[-2], rows), ("v", self._v.shape[-2], columns)]
        pairs.append(("v", self._v.shape[-1], self._u.shape[-1]))
        if self._diag_update is not None:
            pairs.append(("diag_update", self._diag_update.shape[-1], self._u.shape[-1]))
        for name, found, wanted in pairs:
            if None not in (found, wanted) and found != wanted:
                given = ", ".join(describe(x) for x in (self._u, self._v))
                words = f"the size of `{name}` must be {wanted}, not {found}; got u and v {given}"
                raise at_site(ValueError(f"LinearOperatorLowRankUpdate: {words}."))

    @property
    def base_operator(self) -> Any:
        """L."""
        return self._base_operator

    @property
    def u(self) -> Any:
        """U."""
        return self._u

    @property
    def v(self) -> Any:
        """V."""
        return self._v

    @property
    def diag_update(self) -> Any:
        """The diagonal of D, if one was given."""
        return self._diag_update

    @property
    def is_diag_update_positive(self) -> bool | None:
        """Whether the diagonal of D is promised to be positive."""
        return self._is_diag_update_positive

    @property
    def diag_operator(self) -> LinearOperator:
        """D."""
        if self._diag_update is not None:
            positive = self._is_diag_update_positive
            return LinearOperatorDiag(self._diag_update, is_positive_definite=positive)
        rank = self._u.shape[-1]
        rank = tf.shape(self._u)[-1] if rank is None else rank
        return LinearOperatorIdentity(rank, dtype=self.dtype)

    def _shape(self) -> TensorShape:
        batches = [self._base_operator.batch_shape, self._u.shape[:-2], self._v.shape[:-2]]
        if self._diag_update is not None:
            batches.append(self._diag_update.shape[:-1])
        return joined_batch(*batches).concatenate(self._base_operator._sizes())

    def _shape_tensor(self) -> Tensor:
        shape = self._base_operator.shape_tensor()
        batch = broadcast_dynamic_shape(shape[:-2], tf.shape(self._u)[:-2])
        batch = broadcast_dynamic_shape(batch, tf.shape(self._v)[:-2])
        if self._diag_update is not None:
            batch = broadcast_dynamic_shape(batch, tf.shape(self._diag_update)[:-1])
        return tf.concat([batch, shape[-2:]], 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        thin = tf.matmul(right, x, adjoint_a=True, adjoint_b=adjoint_arg)
        thin = self.diag_operator.matmul(thin, adjoint=adjoint)
        first = self._base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        return first + tf.matmul(left, thin)

    def _capacitance(self) -> Tensor:
        """D⁻¹ + Vᴴ L⁻¹ U, the small matrix on which solutions and determinants depend."""
        inner = tf.matmul(self._v, self._base_operator.solve(self._u), adjoint_a=True)
        return self.diag_operator.inverse().add_to_tensor(inner)

    def _definite(self) -> bool:
        return bool(
            self._base_operator.is_positive_definite
            and self._base_operator.is_self_adjoint
            and self._v is self._u
            and self._is_diag_update_positive
        )

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        if self._base_operator.is_non_singular is False:
            words = "solutions need a base operator that is not singular"
            raise at_site(ValueError(f"{self.name}.solve: {words}."))
        left, right = (self._v, self._u) if adjoint else (self._u, self._v)
        base = self._base_operator
        first = base.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        thin = tf.matmul(right, first, adjoint_a=True)
        small = self._capacitance()
        if self._definite():
            from wengert.ops.solve import cholesky_solve

            factor, thin = together(tf.cholesky(small), thin)
            solved = cholesky_solve(factor, thin)
        else:
            solved = dense_solve(small, thin, adjoint)
        return first - base.solve(tf.matmul(left, solved), adjoint=adjoint)

    def _determinant(self) -> Tensor:
        outer = self.diag_operator.determinant() * self._base_operator.determinant()
        return tf.det(self._capacitance()) * outer

    def _log_abs_determinant(self) -> Tensor:
        base, diagonal = self._base_operator, self.diag_operator
        small = self._capacitance()
        if self._definite():
            inner = 2 * tf.reduce_sum(tf.log(tf.diag_part(tf.cholesky(small))), -1)
        else:
            from wengert.ops.solve import slogdet

            inner = slogdet(small)[1]
        parts = (base.log_abs_determinant(), diagonal.log_abs_determinant())
        return tf.cast(parts[0], inner.dtype) + tf.cast(parts[1], inner.dtype) + inner

    def _product_diagonal(self) -> Tensor:
        product = self._u * conjugate(self._v)
        if self._diag_update is not None:
            product *= tf.expand_dims(self._diag_update, -2)
        return tf.reduce_sum(product, -1)

    def _diag_part(self) -> Tensor:
        return self._base_operator.diag_part() + self._product_diagonal()

    def _trace(self) -> Tensor:
        return self._base_operator.trace() + tf.reduce_sum(self._product_diagonal(), -1)

    def _to_dense(self) -> Tensor:
        thin = tf.adjoint(self._v)
        return self._base_operator.to_dense() + tf.matmul(self._u, self.diag_operator.matmul(thin))

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"base_operator": 0, "u": 2, "diag_update": 1, "v": 2}
