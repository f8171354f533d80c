"""Products of matrices.

`MATMUL` multiplies rows by one matrix; with its two transposed forms it is closed under
differentiation, has no attributes and never copies for a transpose. `BATCH_MATMUL` multiplies
stacks of matrices whose leading axes broadcast.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.core import dtypes, shapes
from wengert.core.apply import apply, apply2
from wengert.core.convert import operands
from wengert.core.dims import known_unequal
from wengert.core.errors import at_site, require
from wengert.core.fallbacks import fallback, with_fallback
from wengert.core.lazy_modules import jax, lax
from wengert.core.lowering_checks import broadcast_shapes, is_symbol
from wengert.core.op_facts import TAME
from wengert.core.types import (
    DTypeLike,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    Value,
    Variable,
)
from wengert.ops import public as tf
from wengert.ops.compiled import when_large
from wengert.ops.costs import batch_product, product
from wengert.ops.declare import HALF, in_float32, rank_of


def _fits(name: str, x: ShapeDtype, y: ShapeDtype, inner: tuple[int, int]) -> None:
    """Refuses what has no rows and columns, and inner sizes that differ."""
    for z in (x, y):
        require(
            z.shape is None or len(z.shape) >= 2,
            name,
            "both arguments must have rank 2 or more",
            x,
            y,
            help="Use tf.linalg.matvec for a vector, or tf.tensordot.",
        )
    if x.shape is not None and y.shape is not None:
        m, n = x.shape[inner[0]], y.shape[inner[1]]
        require(
            not known_unequal(m, n),
            name,
            "inner dimensions must agree",
            x,
            y,
            help="Transpose one argument or check its shape.",
        )


_FLOAT = dtypes.float32.np


def _flat(x: np.ndarray) -> np.ndarray:
    """All rows of a stack of matrices as one matrix."""
    shape = x.shape
    return x.reshape(int(np.prod(shape[:-1])), shape[-1])


# For two matrices `dot` costs half of what `np.matmul` does on small ones; a stack of matrices
# times one matrix is a single call to BLAS when its rows are laid out as one matrix.
def _kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype is not _FLOAT and x.dtype.num in HALF:
        return _kernel(x.astype(np.float32), y.astype(np.float32)).astype(x.dtype)
    if x.ndim == 2:
        return x.dot(y)
    return _flat(x).dot(y).reshape(*x.shape[:-1], y.shape[1])


def _kernel_nt(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype is not _FLOAT and x.dtype.num in HALF:
        return _kernel_nt(x.astype(np.float32), y.astype(np.float32)).astype(x.dtype)
    if x.ndim == 2:
        return x.dot(y.T)
    return _flat(x).dot(y.T).reshape(*x.shape[:-1], y.shape[0])


def _kernel_tn(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    if x.dtype is not _FLOAT and x.dtype.num in HALF:
        return _kernel_tn(x.astype(np.float32), y.astype(np.float32)).astype(x.dtype)
    if x.ndim == 2:
        return x.T.dot(y)
    return _flat(x).T.dot(_flat(y))


def _infer(x: ShapeDtype, y: ShapeDtype) -> ShapeDtype:
    _fits("matmul", x, y, (-1, -2))
    if x.shape is None:
        return ShapeDtype(None, x.dtype)
    return ShapeDtype((*x.shape[:-1], None if y.shape is None else y.shape[1]), x.dtype)


def _infer_nt(x: ShapeDtype, y: ShapeDtype) -> ShapeDtype:
    _fits("matmul", x, y, (-1, -1))
    if x.shape is None:
        return ShapeDtype(None, x.dtype)
    return ShapeDtype((*x.shape[:-1], None if y.shape is None else y.shape[0]), x.dtype)


def _infer_tn(x: ShapeDtype, y: ShapeDtype) -> ShapeDtype:
    _fits("matmul", x, y, (-2, -2))
    rows = None if x.shape is None else x.shape[-1]
    return ShapeDtype((rows, None if y.shape is None else y.shape[-1]), x.dtype)


def dot_general(
    x: JaxArray | np.ndarray,
    y: JaxArray | np.ndarray,
    contract: tuple[tuple[int, ...], ...],
    batch: tuple[tuple[int, ...], ...] = ((), ()),
) -> JaxArray:
    """`lax.dot_general` with half precision summed in float32."""
    if _are_tiny(x, y, contract, batch):
        return _written_out(x, y, contract[0][0], contract[1][0])
    if x.dtype.num in HALF and jax.default_backend() == "gpu":
        # Its matrix units sum in float32 as it is, and round in the same kernel.
        return lax.dot_general(x, y, (contract, batch))
    wide = np.dtype(np.float32) if x.dtype.num in HALF else x.dtype
    out = lax.dot_general(x, y, (contract, batch), preferred_element_type=wide)
    return lax.convert_element_type(out, x.dtype)


# Up to so many products make one number, and so many numbers one matrix, of stacks so high.
_TINY_SUM, _TINY_MATRIX, _STACK = 8, 64, 8


def _are_tiny(
    x: JaxArray | np.ndarray,
    y: JaxArray | np.ndarray,
    contract: tuple[tuple[int, ...], ...],
    batch: tuple[tuple[int, ...], ...],
) -> bool:
    """Whether these are stacks of matrices so small that XLA's CPU code loses most of its time
    between them: 10,000 products of 4 by 4 take it 9 ms, and written out 0.2."""
    n = len(batch[0])
    lead = tuple(range(n))
    if not n or (tuple(batch[0]), tuple(batch[1])) != (lead, lead):
        return False
    if (
        len(contract[0]) != 1
        or (x.ndim, y.ndim) != (n + 2, n + 2)
        or jax.default_backend() != "cpu"
    ):
        return False
    sizes = (*x.shape, *y.shape)
    if any(map(is_symbol, sizes)) or math.prod(x.shape[:n]) < _STACK:
        return False
    length = x.shape[contract[0][0]]
    matrix = x.shape[n] * x.shape[n + 1] * y.shape[n] * y.shape[n + 1] // max(length, 1) ** 2
    return 0 < length <= _TINY_SUM and 0 < matrix <= _TINY_MATRIX


def _written_out(x: Any, y: Any, i: int, j: int) -> JaxArray:
    """The product of stacks of small matrices over axes `i` and `j`, as one sum of products."""
    dtype, n = x.dtype, x.ndim - 2
    if dtype.num in HALF:
        x, y = (lax.convert_element_type(z, np.float32) for z in (x, y))
    shape = (*x.shape[:n], x.shape[2 * n + 1 - i], y.shape[2 * n + 1 - j])
    total = None
    for k in range(x.shape[i]):
        column = lax.squeeze(lax.slice_in_dim(x, k, k + 1, axis=i), (i,))
        row = lax.squeeze(lax.slice_in_dim(y, k, k + 1, axis=j), (j,))
        term = lax.mul(
            lax.broadcast_in_dim(column, shape, range(n + 1)),
            lax.broadcast_in_dim(row, shape, (*range(n), n + 1)),
        )
        total = term if total is None else lax.add(total, term)
    return lax.convert_element_type(total, dtype)


def _lower_tn(x: JaxArray, y: JaxArray) -> JaxArray:
    if _turns(x, y):  # the barrier, or XLA would put the two back together
        return lax.dot(lax.optimization_barrier(lax.transpose(x, (1, 0))), y)
    lead = tuple(range(x.ndim - 1))
    return dot_general(x, y, (lead, lead))


def _turns(x: JaxArray | np.ndarray, y: JaxArray | np.ndarray) -> bool:
    """Whether to turn `x` before the product: on the CPU XLA is a quarter slower at small products
    with a transposed left side than at making a transposed copy first (16 to 35 % for float32, up
    to these 4 million multiplications; from 10 million on, the copy loses, as it does where it is
    larger than the nearer caches). With one or two columns on the right the copy costs more than
    the product: 3 to 5 times the time."""
    if x.ndim != 2 or x.dtype.num not in _TURNED or jax.default_backend() != "cpu":
        return False
    sizes = (*x.shape, y.shape[1])
    if any(map(is_symbol, sizes)):
        return False
    return sizes[2] > 2 and x.size <= 1 << 16 and 0 < math.prod(sizes) <= 1 << 22


_TURNED = frozenset({np.dtype(np.float32).num, np.dtype(np.float64).num})


MATMUL = Op(
    "matmul",
    "x y",
    kernel=_kernel,
    infer=_infer,
    lower=lambda x, y: dot_general(x, y, ((x.ndim - 1,), (0,))),
    grad=(lambda g, y: apply2(MATMUL_NT, g, y), lambda g, x: apply2(MATMUL_TN, x, g)),
    accepts=dtypes.NUMERIC,
    cost=product,
    hazards=TAME,
)

MATMUL_NT = Op(
    "matmul_nt",
    "x y",
    kernel=_kernel_nt,
    infer=_infer_nt,
    lower=lambda x, y: dot_general(x, y, ((x.ndim - 1,), (1,))),
    grad=(lambda g, y: apply2(MATMUL, g, y), lambda g, x: apply2(MATMUL_TN, g, x)),
    accepts=dtypes.NUMERIC,
    cost=product,
)

MATMUL_TN = Op(
    "matmul_tn",
    "x y",
    kernel=_kernel_tn,
    infer=_infer_tn,
    lower=_lower_tn,
    grad=(lambda g, y: apply2(MATMUL_NT, y, g), lambda g, x: apply2(MATMUL, x, g)),
    accepts=dtypes.NUMERIC,
    cost=product,
    adds_up=lambda x, y: (0, 0),
)


def _infer_batch(x: ShapeDtype, y: ShapeDtype, transpose_a: bool, transpose_b: bool) -> ShapeDtype:
    _fits("matmul", x, y, (-2 if transpose_a else -1, -1 if transpose_b else -2))
    if x.shape is None or y.shape is None:
        return ShapeDtype(None, x.dtype)
    lead: Any = shapes.broadcast("matmul", x.shape[:-2], y.shape[:-2])
    ends = (x.shape[-1 if transpose_a else -2], y.shape[-2 if transpose_b else -1])
    return ShapeDtype((*lead, *ends), x.dtype)


@in_float32
def _batch_kernel(x: np.ndarray, y: np.ndarray, transpose_a: bool, transpose_b: bool) -> np.ndarray:
    if x.ndim < 2 or y.ndim < 2:
        raise ValueError("both arguments must have rank 2 or more")
    return np.matmul(x.mT if transpose_a else x, y.mT if transpose_b else y)


def _lower_batch(x: JaxArray, y: JaxArray, transpose_a: bool, transpose_b: bool) -> JaxArray:
    lead = broadcast_shapes(x.shape[:-2], y.shape[:-2])
    n = len(lead)
    x = lax.broadcast_in_dim(x, lead + x.shape[-2:], range(n + 2 - x.ndim, n + 2))
    y = lax.broadcast_in_dim(y, lead + y.shape[-2:], range(n + 2 - y.ndim, n + 2))
    contract = ((n if transpose_a else n + 1,), (n + 1 if transpose_b else n,))
    return dot_general(x, y, contract, (tuple(range(n)),) * 2)


# From so many multiplications on, a stack of products is worth a program of its own: NumPy gives
# BLAS one matrix after another, and its threads wait for each other between them.
LARGE_STACK = 1 << 25


def is_large_stack(stack: int, work: int, dtype: np.dtype) -> bool:
    """Whether XLA computes a stack of floating products of so many multiplications in all."""
    return stack > 1 and work >= LARGE_STACK and dtype.kind in "fV"


def _is_large_batch(x: np.ndarray, y: np.ndarray, transpose_a: bool, transpose_b: bool) -> bool:
    if x.size * y.size < LARGE_STACK or x.ndim < 2 or y.ndim < 2:
        return False
    try:
        lead = broadcast_shapes(x.shape[:-2], y.shape[:-2])
    except ValueError:
        return False
    rows, inner = x.shape[-2:][::-1] if transpose_a else x.shape[-2:]
    columns = y.shape[-2 if transpose_b else -1]
    fits = inner == y.shape[-1 if transpose_b else -2]
    stack = math.prod(lead)
    return fits and is_large_stack(stack, stack * rows * inner * columns, x.dtype)


def _left(g: Tensor, y: Tensor, transpose_a: bool, transpose_b: bool) -> Tensor:
    if transpose_a:
        return _batch(y, g, transpose_b, True)
    return _batch(g, y, False, not transpose_b)


def _right(g: Tensor, x: Tensor, transpose_a: bool, transpose_b: bool) -> Tensor:
    if transpose_b:
        return _batch(g, x, True, transpose_a)
    return _batch(x, g, not transpose_a, False)


BATCH_MATMUL = Op(
    "batch_matmul",
    "x y",
    kernel=when_large(_batch_kernel, _lower_batch, _is_large_batch),
    infer=_infer_batch,
    lower=_lower_batch,
    grad=(_left, _right),
    accepts=dtypes.NUMERIC,
    broadcasts=True,
    pointwise=False,
    cost=batch_product,
)


def _batch(x: TensorLike, y: Value, transpose_a: bool, transpose_b: bool) -> Tensor:
    return apply(BATCH_MATMUL, x, y, transpose_a=transpose_a, transpose_b=transpose_b)


_EAGER = frozenset({Tensor, Variable})  # what has an array of its own


def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    output_type: DTypeLike | None = None,
    grad_a: bool = False,
    grad_b: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of matrices, or of stacks of them whose leading axes broadcast.

    Half precision sums in float32; integers wrap around, unless `output_type` asks for a wider
    type. The `is_sparse` hints are accepted and change nothing.

    Args:
        a: a tensor `[..., n, k]` of numbers.
        b: a tensor `[..., k, m]` of the same dtype.
        transpose_a, transpose_b: whether to swap the last two axes first.
        adjoint_a, adjoint_b: whether to swap and conjugate them first.
        a_is_sparse, b_is_sparse: hints without effect.
        output_type: the dtype of the result, for int8 arguments int32.
        grad_a, grad_b: without effect.
        name: without effect.

    Returns:
        A tensor `[..., n, m]`.

    Raises:
        InvalidArgumentError: the inner sizes differ, or a rank is below 2.
        TypeError: the dtypes differ.

    >>> tf.matmul([[1.0, 2.0]], [[3.0], [4.0]]).numpy().tolist()
    [[11.0]]
    """
    if (
        type(a) is Tensor
        and not (transpose_a or transpose_b or adjoint_a or adjoint_b or output_type)
        and type(b) in _EAGER
        and b._array.ndim == 2 <= a._array.ndim
    ):
        return apply2(MATMUL, a, b)
    try:
        x, y = (a, b) if isinstance(a, Value) and isinstance(b, Value) else operands("matmul", a, b)
        if output_type is not None:
            x, y = tf.cast(x, output_type), tf.cast(y, output_type)
        turn_x, turn_y = bool(transpose_a), bool(transpose_b)
        if adjoint_a or adjoint_b:
            x, turn_x = _adjoint("a", x, turn_x, adjoint_a)
            y, turn_y = _adjoint("b", y, turn_y, adjoint_b)
        if rank_of(y) == 2:
            rank = rank_of(x)
            if not turn_x and rank is not None and rank >= 2:
                return apply2(MATMUL_NT if turn_y else MATMUL, x, y)
            if turn_x and not turn_y and rank == 2:
                return apply2(MATMUL_TN, x, y)
        return _batch(x, y, turn_x, turn_y)
    except Exception as error:
        options = (transpose_a, transpose_b, adjoint_a, adjoint_b)
        return fallback(matmul, error, (a, b, *options, a_is_sparse, b_is_sparse, output_type))


def _adjoint(which: str, x: Any, transpose: bool, adjoint: bool) -> tuple[Any, bool]:
    """An adjoint as a transpose of the conjugate."""
    if not adjoint:
        return x, transpose
    if transpose:
        raise at_site(
            ValueError(
                f"matmul: `transpose_{which}` and `adjoint_{which}` exclude each other. Give one."
            )
        )
    return tf.conj(x), True


@with_fallback
def matvec(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    adjoint_a: bool = False,
    a_is_sparse: bool = False,
    b_is_sparse: bool = False,
    name: str | None = None,
) -> Tensor:
    """The product of a matrix and a vector, or of stacks of them whose leading axes broadcast."""
    a, b = operands("matvec", a, b)
    require(
        a.ndim >= 2 and b.ndim >= 1,
        "matvec",
        "a matrix (rank 2 or more) and a vector were expected",
        a,
        b,
    )
    column = tf.reshape(b, (*b._array.shape, 1))
    out = matmul(a, column, transpose_a=transpose_a, adjoint_a=adjoint_a)
    return tf.reshape(out, out._array.shape[:-1])
