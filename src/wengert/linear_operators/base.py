"""`LinearOperator`: a matrix, or a stack of them, that need not be written out.

The base class checks arguments, keeps the hints, and falls back on the dense matrix. Kinds of
operators override the methods with a leading underscore, as programs of their own do: `_matmul`,
`_solve`, `_shape`, `_to_dense`, …; and `_linop_matmul` and its kin, where the result of an operation
on operators has a structure again.
"""

from __future__ import annotations

from typing import Any

from wengert.checkpoint.module import Module
from wengert.core import dtypes
from wengert.core.composite_operands import CompositeOperand
from wengert.core.convert import to_tensor
from wengert.core.errors import at_site, describe, unexpected
from wengert.core.shapes import TensorShape
from wengert.core.types import DType, DTypeLike, Tensor, TensorLike
from wengert.linear_operators.batches import dense_solve, transposed
from wengert.linear_operators.hints import Hints, hints, of_product
from wengert.linear_operators.spec import LinearOperatorSpec
from wengert.ops import public as tf


class LinearOperator(Module, CompositeOperand):
    """The base of operators: an `[..., M, N]` stack of matrices with products and solutions.

    Args:
        dtype: of the matrix, and of what it is multiplied with.
        graph_parents: without effect.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised.
        name: of the operator.
        parameters: the arguments of the subclass, by name.

    Raises:
        ValueError: two promises contradict each other.

    >>> operator = tf.linalg.LinearOperatorDiag([1.0, 2.0])
    >>> operator.matmul([[3.0], [4.0]]).numpy().tolist()
    [[3.0], [8.0]]
    """

    def __init__(
        self,
        dtype: DTypeLike,
        graph_parents: Any = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
        parameters: dict[str, Any] | None = None,
    ) -> None:
        promised = Hints(is_non_singular, is_self_adjoint, is_positive_definite, is_square)
        self._self_hints = promised.checked()
        self._self_parameters = {k: v for k, v in (parameters or {}).items() if k != "self"}
        self._self_dtype: Any = None if dtype is None else dtypes.as_dtype(dtype)
        self._name = name or type(self).__name__

    def __repr__(self) -> str:
        dtype = "?" if self.dtype is None else self.dtype.name
        return f"<{type(self).__name__} {self.name!r}: {dtype}{list(self.shape)}>"

    @property
    def parameters(self) -> dict[str, Any]:
        """The arguments that made this operator, by name."""
        return dict(self._self_parameters)

    @property
    def dtype(self) -> DType:
        return self._self_dtype

    @property
    def name(self) -> str:
        return self._name

    @property
    def graph_parents(self) -> list[Any]:
        """Nothing; kept for programs that ask."""
        return []

    @property
    def is_non_singular(self) -> bool | None:
        """Whether it is promised to have an inverse."""
        return self._self_hints.is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """Whether it is promised to be its own conjugate transpose."""
        return self._self_hints.is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """Whether the real part of xᴴAx is promised to be positive for all x but 0."""
        return self._self_hints.is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether it has as many rows as columns, by its shape or by promise."""
        promised, (rows, columns) = self._self_hints.is_square, self._sizes()
        if rows is None or columns is None:
            return promised
        if promised is False and rows == columns:
            raise at_site(ValueError(f"{self.name}: `is_square=False`, but its shape is square."))
        return rows == columns

    def _sizes(self) -> tuple[int | None, int | None]:
        shape = self.shape
        return (None, None) if shape.rank is None else (shape[-2], shape[-1])

    # The shape.

    def _shape(self) -> TensorShape:
        raise NotImplementedError(f"{type(self).__name__}._shape is not implemented.")

    def _shape_tensor(self) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__}._shape_tensor is not implemented.")

    @property
    def shape(self) -> TensorShape:
        """The static shape `[..., M, N]`."""
        return self._shape()

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """The shape as a tensor, also where parts of it are known only when a function runs."""
        shape = self.shape
        if shape.is_fully_defined():
            return to_tensor(shape.as_list(), dtypes.int32)
        return self._shape_tensor()

    @property
    def batch_shape(self) -> TensorShape:
        """The leading axes of the stack."""
        return self.shape[:-2]

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The leading axes as a tensor."""
        return self.shape_tensor()[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The number of axes."""
        return self.shape.rank

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """The number of axes as a tensor."""
        rank = self.tensor_rank
        return tf.shape(self.shape_tensor())[0] if rank is None else to_tensor(rank)

    @property
    def domain_dimension(self) -> int | None:
        """The number of columns."""
        return self._sizes()[1]

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """The number of columns as a tensor."""
        return self.shape_tensor()[-1]

    @property
    def range_dimension(self) -> int | None:
        """The number of rows."""
        return self._sizes()[0]

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """The number of rows as a tensor."""
        return self.shape_tensor()[-2]

    # Products.

    def _given(self, name: str, x: TensorLike, axis: int, size: int | None) -> Tensor:
        """An argument as a tensor whose size on an axis fits."""
        x = to_tensor(x, None, self.dtype)
        if x.dtype is not self.dtype:
            words = f"the argument must be {self.dtype.name}, as the operator is; got {describe(x)}"
            raise at_site(TypeError(f"{self.name}.{name}: {words}. Use tf.cast."))
        found = None if x.shape.rank is None else x.shape[axis]
        if None not in (found, size) and found != size:
            words = f"dimensions must agree; the operator is {self._text()}, and got {describe(x)}"
            raise at_site(
                ValueError(f"{self.name}.{name}: {words}. Transpose or check the shapes.")
            )
        return x

    def _text(self) -> str:
        return f"{self.dtype.name}[{','.join('?' if d is None else str(d) for d in self.shape)}]"

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        raise NotImplementedError(f"{type(self).__name__}._matmul is not implemented.")

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """The product A @ x of a matrix, or of an operator, which gives an operator.

        Args:
            x: an `[..., N, R]` tensor or an operator.
            adjoint: multiply by the conjugate transpose of the operator.
            adjoint_arg: multiply the conjugate transpose of `x`.
            name: without effect.
        """
        if isinstance(x, LinearOperator):
            return self._with_operator("matmul", "_linop_matmul", x, adjoint, adjoint_arg)
        size = self._sizes()[0 if adjoint else 1]
        x = self._given("matmul", x, -1 if adjoint_arg else -2, size)
        return self._matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _with_operator(
        self, name: str, method: str, x: LinearOperator, adjoint: bool, adjoint_arg: bool
    ) -> LinearOperator:
        left = self.adjoint() if adjoint else self
        right = x.adjoint() if adjoint_arg else x
        sizes = left._sizes()[1], right._sizes()[0]
        if None not in sizes and sizes[0] != sizes[1]:
            words = f"dimensions must agree; got {left._text()} and {right._text()}"
            raise at_site(ValueError(f"{self.name}.{name}: {words}."))
        return getattr(left, method)(left, right)

    def _linop_matmul(
        self, left_operator: LinearOperator, right_operator: LinearOperator
    ) -> LinearOperator:
        from wengert.linear_operators.composition import LinearOperatorComposition
        from wengert.linear_operators.diagonal import LinearOperatorIdentity
        from wengert.linear_operators.zeros import LinearOperatorZeros

        if isinstance(right_operator, LinearOperatorIdentity):
            return left_operator
        if isinstance(right_operator, LinearOperatorZeros):
            _need_square("matmul", left_operator, right_operator)
            return right_operator
        promised = of_product(left_operator, right_operator)
        return LinearOperatorComposition([left_operator, right_operator], **promised._asdict())

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return self.matmul(tf.expand_dims(x, -1), adjoint=adjoint)[..., 0]

    def matvec(self, x: TensorLike, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """The product of the operator and a vector, or a stack of them."""
        x = self._given("matvec", x, -1, self._sizes()[0 if adjoint else 1])
        return self._matvec(x, adjoint=adjoint)

    # Solutions.

    def _dense_solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        rhs = transposed(rhs, adjoint_arg)
        if self._can_use_cholesky():
            from wengert.ops.solve import cholesky_solve

            return cholesky_solve(tf.cholesky(self.to_dense()), rhs)
        return dense_solve(self.to_dense(), rhs, adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._dense_solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _solvable(self, name: str) -> None:
        for known, what in ((self.is_non_singular, "singular"), (self.is_square, "not square")):
            if known is False:
                words = f"{self.name}.{name}: the operator is {what}, so there is no exact solution"
                raise at_site(NotImplementedError(f"{words}. Use tf.linalg.lstsq on to_dense()."))

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """The X with A @ X = rhs; an operator where `rhs` is one.

        Args:
            rhs: an `[..., M, R]` tensor or an operator.
            adjoint: solve with the conjugate transpose of the operator.
            adjoint_arg: use the conjugate transpose of `rhs`.
            name: without effect.

        Raises:
            NotImplementedError: the operator is promised to be singular or is not square.
        """
        self._solvable("solve")
        if isinstance(rhs, LinearOperator):
            return self._with_operator("solve", "_linop_solve", rhs, adjoint, adjoint_arg)
        size = self._sizes()[1 if adjoint else 0]
        rhs = self._given("solve", rhs, -1 if adjoint_arg else -2, size)
        return self._solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def _linop_solve(
        self, left_operator: LinearOperator, right_operator: LinearOperator
    ) -> LinearOperator:
        from wengert.linear_operators.composition import LinearOperatorComposition
        from wengert.linear_operators.diagonal import LinearOperatorIdentity
        from wengert.linear_operators.wrappers import LinearOperatorInversion

        if isinstance(right_operator, LinearOperatorIdentity):
            return left_operator.inverse()
        parts = [LinearOperatorInversion(left_operator), right_operator]
        return LinearOperatorComposition(
            parts, **of_product(left_operator, right_operator)._asdict()
        )

    def _solvevec(self, rhs: Tensor, adjoint: bool = False) -> Tensor:
        return self.solve(tf.expand_dims(rhs, -1), adjoint=adjoint)[..., 0]

    def solvevec(self, rhs: TensorLike, adjoint: bool = False, name: str = "solve") -> Tensor:
        """The x with A @ x = rhs, for a vector or a stack of them."""
        self._solvable("solvevec")
        rhs = self._given("solvevec", rhs, -1, self._sizes()[1 if adjoint else 0])
        return self._solvevec(rhs, adjoint=adjoint)

    # Other operators made of this one.

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The conjugate transpose, as an operator."""
        return self if self.is_self_adjoint else self._linop_adjoint()

    @property
    def H(self) -> LinearOperator:
        """The conjugate transpose, as an operator."""
        return self.adjoint()

    def _linop_adjoint(self) -> LinearOperator:
        from wengert.linear_operators.wrappers import LinearOperatorAdjoint

        return LinearOperatorAdjoint(self, **hints(self)._asdict())

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The inverse, as an operator."""
        for known, what in ((self.is_square, "not square"), (self.is_non_singular, "singular")):
            if known is False:
                words = f"{self.name}.inverse: the operator is {what}, so there is none"
                raise at_site(ValueError(f"{words}. Use tf.linalg.pinv on to_dense()."))
        return self._linop_inverse()

    def _linop_inverse(self) -> LinearOperator:
        from wengert.linear_operators.wrappers import LinearOperatorInversion

        return LinearOperatorInversion(self, **hints(self)._asdict())

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The lower triangular L with A = L Lᴴ, as an operator."""
        if not self._can_use_cholesky():
            words = "the operator is not promised to be self-adjoint and positive definite"
            help = "Make it with is_self_adjoint=True, is_positive_definite=True"
            raise at_site(ValueError(f"{self.name}.cholesky: {words}. {help}."))
        return self._linop_cholesky()

    def _linop_cholesky(self) -> LinearOperator:
        from wengert.linear_operators.dense import LinearOperatorLowerTriangular

        return LinearOperatorLowerTriangular(
            tf.cholesky(self.to_dense()),
            is_non_singular=True,
            is_self_adjoint=False,
            is_square=True,
        )

    def _can_use_cholesky(self) -> bool:
        return bool(self.is_self_adjoint and self.is_positive_definite)

    # Numbers of the matrix.

    def _to_dense(self) -> Tensor:
        from wengert.ops.create import eye

        shape = self.shape
        known = shape.is_fully_defined()
        columns = shape[-1] if known else self.domain_dimension_tensor()
        batch: Any = self.batch_shape.as_list() if known else self.batch_shape_tensor()
        return self.matmul(eye(columns, batch_shape=batch, dtype=self.dtype))

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The matrix, written out."""
        return self._to_dense()

    def _square_for(self, name: str) -> None:
        if self.is_square is False:
            words = f"{self.name}.{name}: only a square matrix has one; this is {self._text()}"
            raise at_site(NotImplementedError(f"{words}."))

    def _determinant(self) -> Tensor:
        if self._can_use_cholesky():
            return tf.exp(self.log_abs_determinant())
        return tf.det(self.to_dense())

    def determinant(self, name: str = "det") -> Tensor:
        """The determinant of each matrix."""
        self._square_for("determinant")
        return self._determinant()

    def _log_abs_determinant(self) -> Tensor:
        if self._can_use_cholesky():
            diagonal = tf.diag_part(tf.cholesky(self.to_dense()))
            return 2 * tf.reduce_sum(tf.log(diagonal), -1)
        from wengert.ops.solve import slogdet

        return slogdet(self.to_dense())[1]

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """The logarithm of the size of each determinant."""
        self._square_for("log_abs_determinant")
        return self._log_abs_determinant()

    def _diag_part(self) -> Tensor:
        return tf.diag_part(self.to_dense())

    def diag_part(self, name: str = "diag_part") -> Tensor:
        """The diagonal of each matrix."""
        return self._diag_part()

    def _trace(self) -> Tensor:
        return tf.reduce_sum(self.diag_part(), -1)

    def trace(self, name: str = "trace") -> Tensor:
        """The sum of the diagonal of each matrix."""
        return self._trace()

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return self.to_dense() + x

    def add_to_tensor(self, x: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """A + x, written out."""
        return self._add_to_tensor(self._given("add_to_tensor", x, -1, None))

    def _eigvals(self) -> Tensor:
        return tf.eigvalsh(self.to_dense())

    def eigvals(self, name: str = "eigvals") -> Tensor:
        """The eigenvalues of a self-adjoint operator."""
        if not self.is_self_adjoint:
            words = f"{self.name}.eigvals: only those of self-adjoint operators are known"
            raise at_site(
                NotImplementedError(
                    f"{words}. Promise is_self_adjoint=True, or use tf.linalg.eigvals."
                )
            )
        return self._eigvals()

    def _cond(self) -> Tensor:
        if self.is_self_adjoint:
            values = tf.abs(self._eigvals())
        else:
            values = tf.svd(self.to_dense(), compute_uv=False)
        return tf.reduce_max(values, -1) / tf.reduce_min(values, -1)

    def cond(self, name: str = "cond") -> Tensor:
        """The ratio of the largest and the smallest singular value."""
        return self._cond()

    # Checks.

    def _assert_non_singular(self) -> Tensor | None:
        from wengert.ops.checks import assert_less

        limit = 1.0 / self.dtype.real_dtype.as_numpy_dtype(2.0**-23)
        if self.dtype.real_dtype is dtypes.float64:
            limit = 1.0 / 2.0**-52
        words = "Singular matrix up to precision epsilon."
        found = tf.cast(self.cond(), self.dtype.real_dtype)
        return assert_less(found, to_tensor(limit, found.dtype), message=words)

    def assert_non_singular(self, name: str = "assert_non_singular") -> Tensor | None:
        """Raises, when it runs, for a matrix that is singular to rounding."""
        return self._assert_non_singular()

    def _assert_positive_definite(self) -> Tensor | None:
        from wengert.ops.checks import assert_positive

        if self.is_self_adjoint:
            diagonal = tf.diag_part(tf.cholesky(self.to_dense()))
            return assert_positive(tf.cast(diagonal, self.dtype.real_dtype))
        raise NotImplementedError(
            f"{self.name}.assert_positive_definite: not defined for operators that are not promised "
            f"to be self-adjoint."
        )

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Tensor | None:
        """Raises, when it runs, for a matrix that is not positive definite."""
        return self._assert_positive_definite()

    def _assert_self_adjoint(self) -> Tensor | None:
        from wengert.ops.checks import assert_equal

        dense = self.to_dense()
        return assert_equal(
            dense, tf.adjoint(dense), message="Matrix was not equal to its adjoint."
        )

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Tensor | None:
        """Raises, when it runs, for a matrix that is not its conjugate transpose."""
        return self._assert_self_adjoint()

    # As a composite.

    @property
    def _type_spec(self) -> LinearOperatorSpec:
        return LinearOperatorSpec.of(self)

    def _as_text(self, summarize: int) -> str:
        return repr(self)

    def _remedy(self) -> str:
        return "Write it out with to_dense()."

    def __getitem__(self, slices: Any) -> LinearOperator:
        from wengert.linear_operators.slicing import batch_slice

        return batch_slice(self, slices)

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        """How many of the last axes of each tensor argument make up the matrix."""
        return {}


def make_composite_tensor(cls: type, module_name: str = "tf.linalg") -> type:
    """The class as it is: every operator is a composite; kept for classes that are decorated."""
    return cls


def arguments(given: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a constructor, of its `locals()`."""
    return {k: v for k, v in given.items() if k not in ("self", "__class__")}


def _need_square(name: str, *operators: LinearOperator) -> None:
    for operator in operators:
        if not operator.is_square:
            raise at_site(
                ValueError(f"{operator.name}.{name}: products with zeros need square operators.")
            )


def operator_list(name: str, operators: Any) -> list[Any]:
    """Operators of one dtype in a list."""
    if not isinstance(operators, list | tuple):
        raise unexpected(name, "a list of operators", operators)
    if not operators:
        raise at_site(ValueError(f"{name}: `operators` must not be empty. Give one at least."))
    kinds = {o.dtype for o in operators}
    if len(kinds) > 1:
        found = ", ".join(f"{o.name}: {o.dtype.name}" for o in operators)
        raise at_site(TypeError(f"{name}: all operators must have one dtype; got {found}."))
    return list(operators)
