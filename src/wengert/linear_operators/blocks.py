"""Operators made of blocks: `LinearOperatorBlockDiag`, `LinearOperatorBlockLowerTriangular`.

Arguments are one matrix, or a list of the parts that meet each block; lists give lists.
"""

from __future__ import annotations

from typing import Any

from wengert.core.errors import at_site
from wengert.core.shapes import TensorShape
from wengert.core.types import Tensor
from wengert.linear_operators.base import LinearOperator, arguments, operator_list
from wengert.linear_operators.batches import joined_batch, together, transposed
from wengert.linear_operators.hints import Hints, hints, of_commuting, refuse
from wengert.linear_operators.kronecker import size_of
from wengert.ops import public as tf
from wengert.ops.dims import broadcast_dynamic_shape


class _Blocks(LinearOperator):
    """What operators of blocks have in common: taking arguments apart and putting results together."""

    def _columns(self) -> list[Any]:
        """The operators that stand for the columns of blocks: their domains make up the domain."""
        raise NotImplementedError

    def _block_rows(self) -> list[Any]:
        raise NotImplementedError

    def _every(self) -> list[Any]:
        raise NotImplementedError

    def _shape(self) -> TensorShape:
        ends = []
        for k, operators in enumerate((self._block_rows(), self._columns())):
            known = [o._sizes()[k] for o in operators]
            ends.append(None if None in known else sum(known))
        return joined_batch(*[o.batch_shape for o in self._every()]).concatenate(ends)

    def _shape_tensor(self) -> Tensor:
        rows = sum(o.range_dimension_tensor() for o in self._block_rows())
        columns = sum(o.domain_dimension_tensor() for o in self._columns())
        batch = self._every()[0].batch_shape_tensor()
        for o in self._every()[1:]:
            batch = broadcast_dynamic_shape(batch, o.batch_shape_tensor())
        return tf.concat([batch, tf.stack([rows, columns])], 0)

    def _sides(self, rows: bool) -> list[Any]:
        return [size_of(o, rows) for o in (self._block_rows() if rows else self._columns())]

    def _parts(self, name: str, x: Any, adjoint_arg: bool, rows: bool) -> list[Tensor] | None:
        """The parts of an argument that is a list of them; `None` for a single tensor."""
        if not isinstance(x, list | tuple) or not x:
            return None
        sides = self._sides(rows)
        ranks = {getattr(getattr(v, "shape", None), "rank", None) for v in x}
        if ranks - {None} in (set(), {0}) or len(x) != len(sides):
            if any(hasattr(v, "shape") and len(v.shape) > 1 for v in x):
                words = f"`x` must be one matrix or a list of {len(sides)}; got a list of {len(x)}"
                raise at_site(ValueError(f"{self.name}.{name}: {words}."))
            return None
        axis = -1 if adjoint_arg else -2
        return [
            self._given(name, v, axis, n if isinstance(n, int) else None)
            for v, n in zip(x, sides, strict=True)
        ]

    def _cut(self, x: Tensor, rows: bool, axis: int = -2) -> list[Tensor]:
        sides = self._sides(rows)
        if all(isinstance(n, int) for n in sides):
            return tf.split(x, sides, axis=axis)
        return tf.split(
            x, tf.stack([tf.cast(n, "int32") for n in sides]), axis=axis, num=len(sides)
        )

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Any:
        """The product A @ x of a matrix, a list of its parts by block, or an operator."""
        parts = self._parts("matmul", x, adjoint_arg, adjoint)
        if parts is None:
            return super().matmul(x, adjoint, adjoint_arg)
        return self._multiply([transposed(p, adjoint_arg) for p in parts], adjoint)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """The product of the operator and a vector, or a list of its parts by block."""
        if self._is_list(x):
            columns = [tf.expand_dims(v, -1) for v in x]
            return [y[..., 0] for y in self.matmul(columns, adjoint)]
        return super().matvec(x, adjoint)

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Any:
        """The X with A @ X = rhs, for a matrix, a list of its parts by block, or an operator."""
        self._solvable("solve")
        parts = self._parts("solve", rhs, adjoint_arg, not adjoint)
        if parts is None:
            return super().solve(rhs, adjoint, adjoint_arg)
        return self._divide([transposed(p, adjoint_arg) for p in parts], adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """The x with A @ x = rhs, for a vector or a list of its parts by block."""
        if self._is_list(rhs):
            return [x[..., 0] for x in self.solve([tf.expand_dims(v, -1) for v in rhs], adjoint)]
        return super().solvevec(rhs, adjoint)

    def _is_list(self, x: Any) -> bool:
        return (
            isinstance(x, list | tuple)
            and len(x) == len(self._columns())
            and all(getattr(getattr(v, "shape", None), "rank", None) for v in x)
        )

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        parts = self._cut(transposed(x, adjoint_arg), adjoint)
        return tf.concat(together(*self._multiply(parts, adjoint)), -2)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        parts = self._cut(transposed(rhs, adjoint_arg), not adjoint)
        return tf.concat(together(*self._divide(parts, adjoint)), -2)

    def _multiply(self, parts: list[Tensor], adjoint: bool) -> list[Tensor]:
        raise NotImplementedError

    def _divide(self, parts: list[Tensor], adjoint: bool) -> list[Tensor]:
        raise NotImplementedError

    def _diagonal_blocks(self, name: str) -> list[Any]:
        raise NotImplementedError

    def _need_square_blocks(self, name: str, blocks: list[Any]) -> list[Any]:
        if not all(o.is_square for o in blocks):
            words = f"{self.name}.{name}: only for blocks that are square"
            raise at_site(NotImplementedError(f"{words}. Use to_dense()."))
        return blocks

    def _determinant(self) -> Tensor:
        first, *others = self._diagonal_blocks("determinant")
        result = first.determinant()
        for o in others:
            result *= o.determinant()
        return result

    def _log_abs_determinant(self) -> Tensor:
        first, *others = self._diagonal_blocks("log_abs_determinant")
        result = first.log_abs_determinant()
        for o in others:
            result += o.log_abs_determinant()
        return result

    def _trace(self) -> Tensor:
        first, *others = self._diagonal_blocks("trace")
        result = first.trace()
        for o in others:
            result += o.trace()
        return result

    def _joined(self, method: str) -> Tensor:
        columns = [tf.expand_dims(getattr(o, method)(), -1) for o in self._diagonal_blocks(method)]
        return tf.concat(together(*columns), -2)[..., 0]

    def _diag_part(self) -> Tensor:
        return self._joined("diag_part")

    def _eigvals(self) -> Tensor:
        return self._joined("eigvals")


class LinearOperatorBlockDiag(_Blocks):
    """Blocks along the diagonal, zero elsewhere.

    Args:
        operators: the blocks, of one dtype.
        is_non_singular, is_self_adjoint, is_positive_definite: what is promised.
        is_square: whether it is square; the blocks need not be.
        name: of the operator.

    >>> a = tf.linalg.LinearOperatorFullMatrix([[1.0, 2.0], [3.0, 4.0]])
    >>> b = tf.linalg.LinearOperatorIdentity(1)
    >>> tf.linalg.LinearOperatorBlockDiag([a, b]).to_dense().numpy().tolist()
    [[1.0, 2.0, 0.0], [3.0, 4.0, 0.0], [0.0, 0.0, 1.0]]
    """

    def __init__(
        self,
        operators: list[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        parameters = arguments(locals())
        self._operators = operator_list("LinearOperatorBlockDiag", operators)
        given = [is_non_singular, is_self_adjoint, is_positive_definite]
        for k, kind in enumerate(("non-singular", "self-adjoint", "positive definite")):
            if all(hints(o)[k] for o in operators):
                refuse(given[k] is False, f"a block diagonal of {kind} operators is {kind}")
                given[k] = True
        super().__init__(
            operators[0].dtype, name=name or "_ds_".join(o.name for o in operators),
            parameters=parameters, **Hints(given[0], given[1], given[2], is_square)._asdict(),
        )  # fmt: skip

    @property
    def operators(self) -> list[Any]:
        """The blocks."""
        return self._operators

    def _columns(self) -> list[Any]:
        return self._operators

    _block_rows = _every = _columns

    def _diagonal_blocks(self, name: str) -> list[Any]:
        return self._need_square_blocks(name, self._operators)

    def _multiply(self, parts: list[Tensor], adjoint: bool) -> list[Tensor]:
        pairs = zip(self._operators, parts, strict=True)
        return [o.matmul(p, adjoint=adjoint) for o, p in pairs]

    def _divide(self, parts: list[Tensor], adjoint: bool) -> list[Tensor]:
        pairs = zip(self._operators, parts, strict=True)
        return [o.solve(p, adjoint=adjoint) for o, p in pairs]

    def _to_dense(self) -> Tensor:
        blocks = together(*[o.to_dense() for o in self._operators])
        return _filled(
            [[b if i == k else None for k in range(len(blocks))] for i, b in enumerate(blocks)]
        )

    def _assert_non_singular(self) -> Tensor | None:
        for o in self._operators:
            o.assert_non_singular()

    def _assert_self_adjoint(self) -> Tensor | None:
        for o in self._operators:
            o.assert_self_adjoint()

    def _assert_positive_definite(self) -> Tensor | None:
        for o in self._operators:
            o.assert_positive_definite()

    def _each(self, method: str, promised: Hints) -> LinearOperator:
        parts = [getattr(o, method)() for o in self._operators]
        return LinearOperatorBlockDiag(parts, **promised._asdict())

    def _linop_adjoint(self) -> LinearOperator:
        return self._each("adjoint", hints(self))

    def _linop_inverse(self) -> LinearOperator:
        return self._each("inverse", hints(self)._replace(is_square=True))

    def _linop_cholesky(self) -> LinearOperator:
        return self._each("cholesky", Hints(True, None, None, True))

    def _linop_matmul(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        return self._by_block(left_operator, right_operator, "matmul", super()._linop_matmul)

    def _linop_solve(self, left_operator: Any, right_operator: Any) -> LinearOperator:
        return self._by_block(left_operator, right_operator, "solve", super()._linop_solve)

    def _by_block(self, left: Any, right: Any, method: str, otherwise: Any) -> LinearOperator:
        """A result for each block, where both have blocks of the same sizes."""
        if not isinstance(right, LinearOperatorBlockDiag):
            return otherwise(left, right)
        pairs = [*zip(left.operators, right.operators, strict=False)]
        fit = len(left.operators) == len(right.operators) and all(
            a._sizes()[1] == b._sizes()[0] is not None for a, b in pairs
        )
        if not fit:
            return otherwise(left, right)
        promised = of_commuting(left, right)._replace(
            is_self_adjoint=None, is_positive_definite=None
        )
        parts = [getattr(a, method)(b) for a, b in pairs]
        return LinearOperatorBlockDiag(parts, **promised._asdict())

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"operators": [0] * len(self._operators)}


class LinearOperatorBlockLowerTriangular(_Blocks):
    """Blocks on and below the diagonal, zero above.

    Args:
        operators: the rows of blocks: a list of one, of two, of three, … operators.
        is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is promised.
        name: of the operator.

    >>> one = tf.linalg.LinearOperatorIdentity(1)
    >>> rows = [[one], [tf.linalg.LinearOperatorFullMatrix([[5.0]]), one]]
    >>> tf.linalg.LinearOperatorBlockLowerTriangular(rows).to_dense().numpy().tolist()
    [[1.0, 0.0], [5.0, 1.0]]
    """

    def __init__(
        self,
        operators: list[list[LinearOperator]],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorBlockLowerTriangular",
    ) -> None:
        parameters = arguments(locals())
        rows = [list(row) for row in operators]
        if any(len(row) != k + 1 for k, row in enumerate(rows)) or not rows:
            found = [len(row) for row in rows]
            words = f"row k of `operators` must have k blocks; got rows of {found}"
            raise at_site(ValueError(f"LinearOperatorBlockLowerTriangular: {words}."))
        self._operators = rows
        every = operator_list(type(self).__name__, [o for row in rows for o in row])
        refuse(is_square is False, "a block triangular operator is square")
        diagonal = [row[-1] for row in rows]
        for row in rows:
            for block, below in zip(row, diagonal, strict=False):
                _need_fit(row[-1]._sizes()[0], block._sizes()[0], "row")
                _need_fit(below._sizes()[1], block._sizes()[1], "column")
        if all(o.is_non_singular for o in diagonal):
            refuse(is_non_singular is False, "blocks that are non-singular make it non-singular")
            is_non_singular = True
        elif any(o.is_non_singular is False for o in diagonal):
            refuse(bool(is_non_singular), "a singular block makes it singular")
            is_non_singular = False
        promised = Hints(is_non_singular, is_self_adjoint, is_positive_definite, True)
        super().__init__(every[0].dtype, name=name, parameters=parameters, **promised._asdict())

    @property
    def operators(self) -> list[list[Any]]:
        """The rows of blocks."""
        return self._operators

    def _columns(self) -> list[Any]:
        return [row[-1] for row in self._operators]

    _block_rows = _columns

    def _every(self) -> list[Any]:
        return [o for row in self._operators for o in row]

    def _diagonal_blocks(self, name: str) -> list[Any]:
        return self._need_square_blocks(name, self._columns())

    def _multiply(self, parts: list[Tensor], adjoint: bool) -> list[Tensor]:
        count = len(self._operators)
        results = []
        for i in range(count):
            places = range(i, count) if adjoint else range(i + 1)
            terms = [
                (self._operators[k][i] if adjoint else self._operators[i][k]).matmul(
                    parts[k], adjoint=adjoint
                )
                for k in places
            ]
            results.append(_total(terms))
        return results

    def _divide(self, parts: list[Tensor], adjoint: bool) -> list[Tensor]:
        count = len(self._operators)
        solved: dict[int, Tensor] = {}
        for i in reversed(range(count)) if adjoint else range(count):
            rest = parts[i]
            for k, x in solved.items():
                block = self._operators[k][i] if adjoint else self._operators[i][k]
                rest = rest - block.matmul(x, adjoint=adjoint)
            solved[i] = self._operators[i][i].solve(rest, adjoint=adjoint)
        return [solved[i] for i in range(count)]

    def _to_dense(self) -> Tensor:
        count = len(self._operators)
        dense = iter(together(*[o.to_dense() for o in self._every()]))
        rows = [[next(dense) for _ in row] for row in self._operators]
        return _filled([[*row, *[None] * (count - len(row))] for row in rows])

    def _assert_non_singular(self) -> Tensor | None:
        for o in self._columns():
            o.assert_non_singular()

    def _linop_inverse(self) -> LinearOperator:
        """The inverse by blocks: with A and C on the diagonal and B below, A⁻¹, −C⁻¹BA⁻¹ and C⁻¹."""
        from wengert.linear_operators.dense import LinearOperatorFullMatrix

        inverse: list[list[Any]] = []
        for i, row in enumerate(self._operators):
            last = row[-1].inverse()
            line: list[Any] = []
            for k in range(i):
                dense = _total([row[j].matmul(inverse[j][k].to_dense()) for j in range(k, i)])
                line.append(LinearOperatorFullMatrix(-last.matmul(dense)))
            inverse.append([*line, last])
        return LinearOperatorBlockLowerTriangular(inverse, **hints(self)._asdict())

    @property
    def _experimental_parameter_ndims_to_matrix_ndims(self) -> dict[str, Any]:
        return {"operators": [[0] * len(row) for row in self._operators]}


def _need_fit(a: int | None, b: int | None, what: str) -> None:
    if None not in (a, b) and a != b:
        words = f"the blocks of a {what} must have one size; got {a} and {b}"
        raise at_site(ValueError(f"LinearOperatorBlockLowerTriangular: {words}."))


def _total(terms: list[Tensor]) -> Tensor:
    result = terms[0]
    for term in terms[1:]:
        result = result + term
    return result


def _filled(rows: list[list[Tensor | None]]) -> Tensor:
    """A matrix of blocks; the missing ones are zeros of the size of their row and column."""
    diagonal = [row[k] for k, row in enumerate(rows)]
    lines = []
    for i, row in enumerate(rows):
        line = [
            _zeros_like(diagonal[i], diagonal[k]) if block is None else block
            for k, block in enumerate(row)
        ]
        lines.append(tf.concat(line, -1))
    return tf.concat(lines, -2)


def _zeros_like(row: Any, column: Any) -> Tensor:
    from wengert.ops.create import zeros

    if row.shape.is_fully_defined() and column.shape.is_fully_defined():
        return zeros([*row.shape[:-1].as_list(), column.shape[-1]], row.dtype)
    return zeros(tf.concat([tf.shape(row)[:-1], tf.shape(column)[-1:]], 0), row.dtype)
