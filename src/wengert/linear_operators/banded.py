"""Operators with constant or few diagonals: `LinearOperatorToeplitz`, `LinearOperatorTridiag`."""

from __future__ import annotations

from typing import Any

from wengert.core.convert import to_tensor
from wengert.core.errors import at_site, describe
from wengert.core.shapes import TensorShape
from wengert.core.types import Tensor, TensorLike
from wengert.linear_operators.base import LinearOperator, arguments
from wengert.linear_operators.batches import argument, conjugate, joined_batch, transposed
from wengert.linear_operators.circulant import to_complex
from wengert.linear_operators.hints import Hints, always
from wengert.linear_operators.special import _side
from wengert.ops import public as tf
from wengert.ops.dims import broadcast_dynamic_shape


class LinearOperatorToeplitz(LinearOperator):
    """A matrix with the same number all along each diagonal.

    Args:
        col: the first columns, `[..., N]`.
        row: the first rows, `[..., N]`; its first number is not read.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised.
        name: of the operator.

    >>> operator = tf.linalg.LinearOperatorToeplitz([1.0, 2.0], [1.0, 3.0])
    >>> operator.to_dense().numpy().tolist()
    [[1.0, 3.0], [2.0, 1.0]]
    """

    def __init__(
        self,
        col: TensorLike,
        row: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ) -> None:
        parameters = arguments(locals())
        self._col, self._row = argument("col", col, 1), argument("row", row, 1)
        is_square = always("is_square", is_square, "a Toeplitz operator is square")
        sizes = self._col.shape[-1], self._row.shape[-1]
        if None not in sizes and sizes[0] != sizes[1]:
            found = f"{describe(self._col)} and {describe(self._row)}"
            raise at_site(
                ValueError(f"LinearOperatorToeplitz: `col` and `row` must be as long; got {found}.")
            )
        promised = Hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(self._row.dtype, name=name, parameters=parameters, **promised._asdict())

    @property
    def col(self) -> Any:
        """The first columns."""
        return self._col

    @property
    def row(self) -> Any:
        """The first rows."""
        return self._row

    def _shape(self) -> TensorShape:
        side = self._row.shape[-1]
        batch = joined_batch(self._row.shape[:-1], self._col.shape[:-1])
        return batch.concatenate([side, side])

    def _shape_tensor(self) -> Tensor:
        row = tf.shape(self._row)
        batch = broadcast_dynamic_shape(row[:-1], tf.shape(self._col)[:-1])
        return tf.concat([batch, row[-1:], row[-1:]], 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        """The product by way of a circulant matrix of twice the size, by Fourier transforms."""
        from wengert.ops.fft import fft, ifft

        x = transposed(x, adjoint_arg)
        col, row = to_tensor(self._col), to_tensor(self._row)
        if adjoint:
            first = conjugate(col[..., :1])
            rest = conjugate(row[..., 1:])
            col, row = tf.concat([first, rest], -1), conjugate(col)
        batch = tf.zeros_like(col[..., :1]) * tf.zeros_like(row[..., :1])
        turned = tf.reverse(row[..., 1:] + batch, [-1])
        circular = to_complex(tf.concat([col + batch, batch, turned], -1))
        columns = to_complex(tf.matrix_transpose(x))
        padded = tf.concat([columns, tf.zeros_like(columns)], -1)
        product = ifft(fft(padded) * tf.expand_dims(fft(circular), -2))
        side = _side(self._row)
        return tf.cast(tf.matrix_transpose(product[..., :side]), self.dtype)

    def _trace(self) -> Tensor:
        return tf.reduce_sum(self._diag_part(), -1)

    def _diag_part(self) -> Tensor:
        from wengert.ops.create import ones

        side = self._row.shape[-1]
        line = ones([side] if side is not None else tf.shape(self._row)[-1:], self.dtype)
        batch = tf.zeros_like(self._row[..., :1])
        return (self._col[..., :1] + batch) * line

    def _to_dense(self) -> Tensor:
        side = to_tensor(_side(self._row))
        col, row = to_tensor(self._col), to_tensor(self._row)
        batch = tf.zeros_like(col[..., :1]) * tf.zeros_like(row[..., :1])
        turned = tf.reverse(row[..., 1:] + batch, [-1])
        diagonals = tf.concat([turned, col + batch], -1)
        places = tf.range(side)
        at = tf.expand_dims(places, -1) - places + side - 1
        return tf.gather(diagonals, at, axis=-1)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"col": 1, "row": 1}


_FORMATS = ("matrix", "sequence", "compact")


class LinearOperatorTridiag(LinearOperator):
    """A matrix with numbers on its diagonal and the two beside it.

    Args:
        diagonals: by `diagonals_format`: `[..., 3, N]` for "compact", with the diagonal above, the
            diagonal, and the one below; a list of these three for "sequence"; `[..., N, N]` for
            "matrix". The last number above and the first below are not read.
        diagonals_format: how the diagonals are given.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised.
        name: of the operator.

    >>> operator = tf.linalg.LinearOperatorTridiag([[1.0, 0.0], [2.0, 2.0], [0.0, 3.0]])
    >>> operator.to_dense().numpy().tolist()
    [[2.0, 1.0], [3.0, 2.0]]
    """

    def __init__(
        self,
        diagonals: Any,
        diagonals_format: str = "compact",
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorTridiag",
    ) -> None:
        parameters = arguments(locals())
        if diagonals_format not in _FORMATS:
            words = f"`diagonals_format` must be one of {', '.join(_FORMATS)}"
            raise at_site(ValueError(f"LinearOperatorTridiag: {words}; got {diagonals_format!r}."))
        if diagonals_format == "sequence":
            self._diagonals: Any = [argument("diagonals", d, 1) for d in diagonals]
            dtype = self._diagonals[0].dtype
        else:
            self._diagonals = argument("diagonals", diagonals, 2)
            dtype = self._diagonals.dtype
        self._diagonals_format = diagonals_format
        is_square = always("is_square", is_square, "a tridiagonal operator is square")
        promised = Hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(dtype, name=name, parameters=parameters, **promised._asdict())

    @property
    def diagonals(self) -> Any:
        """The diagonals as they were given."""
        return self._diagonals

    @property
    def diagonals_format(self) -> str:
        """How they were given."""
        return self._diagonals_format

    def _shape(self) -> TensorShape:
        d, how = self._diagonals, self._diagonals_format
        if how == "matrix":
            return d.shape
        if how == "compact":
            return d.shape[:-2].concatenate([d.shape[-1], d.shape[-1]])
        side = next((x.shape[-1] for x in d if x.shape[-1] is not None), None)
        return joined_batch(*[x.shape[:-1] for x in d]).concatenate([side, side])

    def _shape_tensor(self) -> Tensor:
        d, how = self._diagonals, self._diagonals_format
        if how == "matrix":
            return tf.shape(d)
        shape = tf.shape(d if how == "compact" else self._three()[1])
        batch = shape[:-2] if how == "compact" else shape[:-1]
        return tf.concat([batch, shape[-1:], shape[-1:]], 0)

    def _three(self) -> list[Tensor]:
        """The diagonal above, the diagonal, and the one below, each with N numbers."""
        d, how = self._diagonals, self._diagonals_format
        if how == "compact":
            return [to_tensor(d)[..., k, :] for k in range(3)]
        if how == "sequence":
            every = sum(tf.zeros_like(x) for x in d)
            return [x + every for x in d]
        from wengert.ops.diagonal import diag_part

        diagonals = diag_part(d, k=(-1, 1), padding_value=0, align="LEFT_RIGHT")
        return [diagonals[..., k, :] for k in range(3)]

    def _compact(self) -> Tensor:
        return tf.stack(self._three(), axis=-2)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        x = transposed(x, adjoint_arg)
        above, middle, below = (tf.expand_dims(d, -1) for d in self._turned(adjoint))
        zero = tf.zeros_like(x[..., :1, :])
        up = tf.concat([x[..., 1:, :], zero], -2)
        down = tf.concat([zero, x[..., :-1, :]], -2)
        # What is not read may be NaN, so it must not meet the zeros.
        above = tf.concat([above[..., :-1, :], tf.zeros_like(above[..., :1, :])], -2)
        below = tf.concat([tf.zeros_like(below[..., :1, :]), below[..., 1:, :]], -2)
        return middle * x + above * up + below * down

    def _turned(self, adjoint: bool) -> list[Tensor]:
        above, middle, below = self._three()
        if not adjoint:
            return [above, middle, below]
        above, middle, below = (conjugate(d) for d in (above, middle, below))
        zero = tf.zeros_like(above[..., :1])
        return [
            tf.concat([below[..., 1:], zero], -1), middle, tf.concat([zero, above[..., :-1]], -1)
        ]  # fmt: skip

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        from wengert.linear_operators.batches import together
        from wengert.ops.tridiagonal import tridiagonal_solve

        diagonals = tf.stack(self._turned(adjoint), axis=-2)
        diagonals, rhs = together(diagonals, transposed(rhs, adjoint_arg))
        return tridiagonal_solve(diagonals, rhs, diagonals_format="compact", partial_pivoting=True)

    def _diag_part(self) -> Tensor:
        return self._three()[1]

    def _to_dense(self) -> Tensor:
        if self._diagonals_format == "matrix":
            return tf.band_part(self._diagonals, 1, 1)
        from wengert.ops.diagonal import diag

        return diag(self._compact(), k=(-1, 1), align="LEFT_RIGHT", padding_value=0)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        axes = {"compact": 2, "matrix": 2, "sequence": [1, 1, 1]}
        return {"diagonals": axes[self._diagonals_format]}
