"""Reflections and permutations: `LinearOperatorHouseholder`, `LinearOperatorPermutation`."""

from __future__ import annotations

from typing import Any

from wengert.core import dtypes
from wengert.core.convert import to_tensor
from wengert.core.errors import at_site, describe
from wengert.core.shapes import TensorShape
from wengert.core.types import DTypeLike, Tensor, TensorLike
from wengert.linear_operators.base import LinearOperator, arguments
from wengert.linear_operators.batches import argument, conjugate, spread, transposed
from wengert.linear_operators.hints import Hints, refuse
from wengert.ops import public as tf


def _side(x: Any) -> Any:
    """The last size: a number where it is known, else a tensor."""
    return tf.shape(x)[-1] if x.shape[-1] is None else x.shape[-1]


def _ones(batch_of: Any, dtype: Any, drop: int = 1) -> Tensor:
    """Ones of the leading axes of a tensor."""
    from wengert.ops.create import ones

    shape = batch_of.shape
    head: Any = shape[: shape.rank - drop] if shape.rank is not None else None
    if head is not None and head.is_fully_defined():
        return ones(head.as_list(), dtype)
    return ones(tf.shape(batch_of)[: -drop or None], dtype)


class LinearOperatorHouseholder(LinearOperator):
    """The reflection of vectors at the plane that is normal to an axis.

    Args:
        reflection_axis: the axes, `[..., N]`, of any length but 0.
        is_non_singular, is_self_adjoint, is_square: true for all.
        is_positive_definite: false for all.
        name: of the operator.

    >>> operator = tf.linalg.LinearOperatorHouseholder([0.0, 3.0])
    >>> operator.matvec([1.0, 2.0]).numpy().tolist()
    [1.0, -2.0]
    """

    def __init__(
        self,
        reflection_axis: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorHouseholder",
    ) -> None:
        parameters = arguments(locals())
        self._reflection_axis = argument("reflection_axis", reflection_axis, 1)
        for given in (is_non_singular, is_self_adjoint, is_square):
            refuse(given is False, "a reflection is square, self-adjoint and non-singular")
        refuse(bool(is_positive_definite), "a reflection is not positive definite")
        super().__init__(
            self._reflection_axis.dtype, name=name, parameters=parameters,
            **Hints(is_non_singular, True, False, True)._asdict(),
        )  # fmt: skip

    @property
    def reflection_axis(self) -> Any:
        """The axes."""
        return self._reflection_axis

    def _shape(self) -> TensorShape:
        shape = self._reflection_axis.shape
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Tensor:
        shape = tf.shape(self._reflection_axis)
        return tf.concat([shape, shape[-1:]], 0)

    def _unit(self) -> Tensor:
        axis = to_tensor(self._reflection_axis)
        return axis / tf.norm(axis, axis=-1, keepdims=True)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = transposed(x, adjoint_arg)
        column = tf.expand_dims(self._unit(), -1)
        return x - 2 * column * tf.matmul(column, x, adjoint_a=True)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _determinant(self) -> Tensor:
        return -_ones(self._reflection_axis, self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return 0 * _ones(self._reflection_axis, self.dtype)

    def _trace(self) -> Tensor:
        side = tf.cast(to_tensor(_side(self._reflection_axis)), self.dtype)
        return (side - 2) * _ones(self._reflection_axis, self.dtype)

    def _diag_part(self) -> Tensor:
        unit = self._unit()
        return 1 - 2 * unit * conjugate(unit)

    def _to_dense(self) -> Tensor:
        column = tf.expand_dims(self._unit(), -1)
        dense = -2 * tf.matmul(column, column, adjoint_b=True)
        return tf.set_diag(dense, 1 + tf.diag_part(dense))

    def _eigvals(self) -> Tensor:
        ones = _ones(self._reflection_axis, self.dtype, 0)
        return tf.concat([-ones[..., :1], ones[..., 1:]], -1)

    def _cond(self) -> Tensor:
        return _ones(self._reflection_axis, self.dtype)

    def _assert_non_singular(self) -> None:
        return None

    _assert_self_adjoint = _assert_non_singular

    def _assert_positive_definite(self) -> Tensor | None:
        words = "Householder operators are always non-positive definite."
        raise at_site(ValueError(f"{self.name}.assert_positive_definite: {words}"))

    def _linop_adjoint(self) -> LinearOperator:
        return self

    _linop_inverse = _linop_adjoint

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"reflection_axis": 1}


class LinearOperatorPermutation(LinearOperator):
    """A matrix that puts rows in another order: row i of the product is row `perm[i]`.

    Args:
        perm: the orders, `[..., N]` of int32 or int64.
        dtype: of the operator.
        is_non_singular, is_square: true for all.
        is_self_adjoint: whether each order is its own inverse.
        is_positive_definite: whether it is the identity.
        name: of the operator.

    >>> tf.linalg.LinearOperatorPermutation([2, 0, 1]).matvec([1.0, 2.0, 3.0]).numpy().tolist()
    [3.0, 1.0, 2.0]
    """

    def __init__(
        self,
        perm: TensorLike,
        dtype: DTypeLike = dtypes.float32,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorPermutation",
    ) -> None:
        parameters = arguments(locals())
        refuse(is_non_singular is False, "a permutation is non-singular")
        refuse(is_square is False, "a permutation is square")
        self._perm = argument("perm", perm, 1)
        if not self._perm.dtype.is_integer:
            words = f"`perm` must be of whole numbers; got {describe(self._perm)}"
            raise at_site(TypeError(f"LinearOperatorPermutation: {words}."))
        promised = Hints(is_non_singular, is_self_adjoint, is_positive_definite, True)
        super().__init__(dtype, name=name, parameters=parameters, **promised._asdict())

    @property
    def perm(self) -> Any:
        """The orders."""
        return self._perm

    def _shape(self) -> TensorShape:
        shape = self._perm.shape
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Tensor:
        shape = tf.shape(self._perm)
        return tf.concat([shape, shape[-1:]], 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = transposed(x, adjoint_arg)
        perm = to_tensor(self._perm)
        perm = tf.argsort(perm, axis=-1) if adjoint else perm
        if self.shape[:-2].rank == 0:
            return tf.gather(x, perm, axis=-2)
        batch = tf.shape(tf.expand_dims(perm, -1) * tf.cast(x[..., :1] * 0, perm.dtype))[:-2]
        if perm.shape.is_fully_defined() and x.shape.is_fully_defined():
            from wengert.linear_operators.batches import joined_batch

            known: Any = joined_batch(perm.shape[:-1], x.shape[:-2]).as_list()
            batch = known
        x, perm = spread(x, batch), spread(perm, batch, 1)
        return tf.gather(x, perm, axis=-2, batch_dims=(perm.shape.rank or 1) - 1)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, not adjoint, adjoint_arg)

    def _to_dense(self) -> Tensor:
        perm = to_tensor(self._perm)
        row = tf.range(tf.cast(to_tensor(_side(perm)), perm.dtype))
        return tf.cast(tf.equal(row, tf.expand_dims(perm, -1)), self.dtype)

    def _diag_part(self) -> Tensor:
        perm = to_tensor(self._perm)
        row = tf.range(tf.cast(to_tensor(_side(perm)), perm.dtype))
        return tf.cast(tf.equal(row, perm), self.dtype)

    def _determinant(self) -> Tensor:
        # The sign is that of the number of pairs in the wrong order.
        perm = to_tensor(self._perm)
        later = tf.expand_dims(perm, -2) < tf.expand_dims(perm, -1)
        wrong = tf.band_part(tf.cast(later, dtypes.int32), 0, -1)
        odd = tf.reduce_sum(wrong, [-2, -1]) % 2
        return tf.cast(1 - 2 * odd, self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return 0 * _ones(self._perm, self.dtype)

    def _cond(self) -> Tensor:
        return _ones(self._perm, self.dtype)

    def _assert_non_singular(self) -> None:
        return None

    def _eigvals(self) -> Tensor:
        return tf.eigvalsh(self._to_dense())

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"perm": 1}
