"""Operators that the Fourier transform makes diagonal: `LinearOperatorCirculant`, `2D`, `3D`."""

from __future__ import annotations

import math
from typing import Any

from wengert.core import dtypes
from wengert.core.convert import to_tensor
from wengert.core.errors import at_site, describe
from wengert.core.shapes import TensorShape
from wengert.core.types import DTypeLike, Tensor, TensorLike
from wengert.linear_operators.base import LinearOperator, arguments
from wengert.linear_operators.batches import argument, conjugate, int32, transposed
from wengert.linear_operators.hints import Hints, always, hints, of_commuting
from wengert.ops import public as tf


def _transforms(depth: int) -> Any:
    from wengert.ops import fft

    pairs = ((fft.fft, fft.ifft), (fft.fft2d, fft.ifft2d), (fft.fft3d, fft.ifft3d))
    return pairs[depth - 1]


def to_complex(x: Any) -> Tensor:
    """A tensor as complex numbers of the same precision."""
    x = to_tensor(x)
    if x.dtype.is_complex:
        return x
    wide = x.dtype is dtypes.float64
    return tf.cast(x, dtypes.complex128 if wide else dtypes.complex64)


class LinearOperatorCirculant(LinearOperator):
    """A matrix whose rows are its first one, shifted; made of the Fourier transform of its column.

    Args:
        spectrum: the eigenvalues, `[..., N]`: the transform of the first column.
        input_output_dtype: of the operator; complex64 by default. A real one drops the imaginary
            part, which is zero for a Hermitian spectrum.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised.
        name: of the operator.

    >>> spectrum = tf.signal.fft(tf.constant([4.0, 1.0, 0.0], tf.complex64))
    >>> operator = tf.linalg.LinearOperatorCirculant(spectrum, input_output_dtype=tf.float32)
    >>> tf.round(operator.to_dense()).numpy().tolist()
    [[4.0, 0.0, 1.0], [1.0, 4.0, 0.0], [0.0, 1.0, 4.0]]
    """

    _depth = 1

    def __init__(
        self,
        spectrum: TensorLike,
        input_output_dtype: DTypeLike = dtypes.complex64,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        parameters = arguments(locals())
        self._spectrum = argument("spectrum", spectrum, self._depth)
        kind = self._spectrum.dtype
        if not (kind.is_floating or kind.is_complex):
            words = f"`spectrum` must be of real or complex numbers; got {describe(self._spectrum)}"
            raise at_site(TypeError(f"{type(self).__name__}: {words}."))
        is_square = always("is_square", is_square, "a circulant operator is square")
        if not kind.is_complex:
            fact = "a circulant operator of a real spectrum is self-adjoint"
            is_self_adjoint = always("is_self_adjoint", is_self_adjoint, fact)
        promised = Hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        super().__init__(
            input_output_dtype, name=name or type(self).__name__, parameters=parameters,
            **promised._asdict(),
        )  # fmt: skip

    @property
    def spectrum(self) -> Any:
        """The eigenvalues."""
        return self._spectrum

    @property
    def block_depth(self) -> int:
        """How many axes of the spectrum belong to the matrix."""
        return self._depth

    @property
    def block_shape(self) -> TensorShape:
        """The sizes of these axes."""
        return self._spectrum.shape[-self._depth :]

    def block_shape_tensor(self) -> Tensor:
        """The sizes of these axes as a tensor."""
        return tf.shape(self._spectrum)[-self._depth :]

    def _shape(self) -> TensorShape:
        shape = self._spectrum.shape
        if shape.rank is None:
            return TensorShape(None)
        sizes = shape[-self._depth :].as_list()
        side = None if None in sizes else math.prod(sizes)
        return shape[: -self._depth].concatenate([side, side])

    def _shape_tensor(self) -> Tensor:
        shape = tf.shape(self._spectrum)
        side = tf.reduce_prod(shape[-self._depth :])
        return tf.concat([shape[: -self._depth], tf.stack([side, side])], 0)

    def _in_blocks(self, vectors: Tensor) -> Tensor:
        """Vectors, `[..., N]`, with the axes of the spectrum in the place of the last."""
        if self._depth == 1:
            return vectors
        block, batch = self.block_shape, vectors.shape[:-1]
        if block.is_fully_defined() and batch.is_fully_defined():
            return tf.reshape(vectors, [*batch.as_list(), *block.as_list()])
        return tf.reshape(
            vectors, tf.concat([tf.shape(vectors)[:-1], self.block_shape_tensor()], 0)
        )

    def _flat(self, blocks: Tensor) -> Tensor:
        if self._depth == 1:
            return blocks
        batch, side = blocks.shape[: -self._depth], self._sizes()[0]
        if batch.is_fully_defined() and side is not None:
            return tf.reshape(blocks, [*batch.as_list(), side])
        head = tf.shape(blocks)[: -self._depth]
        return tf.reshape(blocks, tf.concat([head, tf.stack([int32(-1)])], 0))

    def _filtered(self, x: Tensor, spectrum: Tensor) -> Tensor:
        """Each column of `x` transformed, multiplied by a spectrum, and transformed back."""
        forward, back = _transforms(self._depth)
        rows = self._in_blocks(tf.matrix_transpose(to_complex(x)))
        rows = forward(rows) * tf.cast(tf.expand_dims(spectrum, -1 - self._depth), rows.dtype)
        return tf.cast(tf.matrix_transpose(self._flat(back(rows))), self.dtype)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        spectrum = to_complex(self._spectrum)
        spectrum = conjugate(spectrum) if adjoint else spectrum
        return self._filtered(transposed(x, adjoint_arg), spectrum)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        spectrum = to_complex(self._spectrum)
        spectrum = conjugate(spectrum) if adjoint else spectrum
        return self._filtered(transposed(rhs, adjoint_arg), 1.0 / spectrum)

    def convolution_kernel(self, name: str = "convolution_kernel") -> Tensor:
        """The first column, in the form of the spectrum."""
        return tf.cast(_transforms(self._depth)[1](to_complex(self._spectrum)), self.dtype)

    def assert_hermitian_spectrum(self, name: str = "assert_hermitian_spectrum") -> Any:
        """Raises, when it runs, for a spectrum whose operator is not real."""
        from wengert.ops.checks import assert_less
        from wengert.ops.complex import imag

        kernel = _transforms(self._depth)[1](to_complex(self._spectrum))
        sizes = tf.abs(imag(kernel))
        side = self._sizes()[0] or 1
        limit = 5 * (2.0**-23 if sizes.dtype is dtypes.float32 else 2.0**-52) * side
        words = "Spectrum was not Hermitian"
        return assert_less(sizes, to_tensor(limit, sizes.dtype), message=words)

    def _axes(self) -> list[int]:
        return [-1 - k for k in range(self._depth)]

    def _determinant(self) -> Tensor:
        return tf.cast(tf.reduce_prod(to_complex(self._spectrum), self._axes()), self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return tf.cast(tf.reduce_sum(tf.log(tf.abs(self._spectrum)), self._axes()), self.dtype)

    def _trace(self) -> Tensor:
        return tf.cast(tf.reduce_sum(to_complex(self._spectrum), self._axes()), self.dtype)

    def _diag_part(self) -> Tensor:
        from wengert.ops.create import ones

        mean = tf.reduce_mean(to_complex(self._spectrum), self._axes())
        side = self._sizes()[0]
        row = ones([side] if side is not None else self.shape_tensor()[-1:], self.dtype)
        return tf.cast(tf.expand_dims(mean, -1), self.dtype) * row

    def _eigvals(self) -> Tensor:
        return self._flat(to_tensor(self._spectrum))

    def _cond(self) -> Tensor:
        sizes = tf.abs(self._spectrum)
        axes = self._axes()
        return tf.reduce_max(sizes, axes) / tf.reduce_min(sizes, axes)

    def _assert_non_singular(self) -> Tensor | None:
        from wengert.ops.checks import assert_positive

        return assert_positive(
            tf.abs(self._spectrum), message="Singular operator:  Spectrum had zero values."
        )

    def _assert_positive_definite(self) -> Tensor | None:
        from wengert.ops.checks import assert_positive

        part = tf.cast(self._spectrum, self._spectrum.dtype.real_dtype)
        return assert_positive(
            part, message="Not positive definite:  Real part of spectrum was not all positive."
        )

    def _assert_self_adjoint(self) -> Tensor | None:
        from wengert.linear_operators.diagonal import assert_real

        return assert_real(self._spectrum)

    def _with(self, spectrum: Tensor, promised: Hints) -> LinearOperator:
        return type(self)(spectrum, self.dtype, **promised._asdict())

    def _linop_adjoint(self) -> LinearOperator:
        return self._with(conjugate(self._spectrum), hints(self))

    def _linop_inverse(self) -> LinearOperator:
        return self._with(1.0 / self._spectrum, hints(self))

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        if type(right_operator) is not type(left_operator):
            return super()._linop_matmul(left_operator, right_operator)
        product = left_operator.spectrum * right_operator.spectrum
        return self._with(product, of_commuting(left_operator, right_operator))

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        if type(right_operator) is not type(left_operator):
            return super()._linop_solve(left_operator, right_operator)
        quotient = right_operator.spectrum / left_operator.spectrum
        return self._with(quotient, of_commuting(left_operator, right_operator))

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"spectrum": self._depth}


class LinearOperatorCirculant2D(LinearOperatorCirculant):
    """A circulant matrix of circulant blocks; the spectrum is `[..., N0, N1]`."""

    _depth = 2


class LinearOperatorCirculant3D(LinearOperatorCirculant):
    """The same of three levels; the spectrum is `[..., N0, N1, N2]`."""

    _depth = 3
