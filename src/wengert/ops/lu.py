"""LU factors: packed in one matrix, with the order of rows beside it."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np

from wengert.core import dtypes, shapes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.dims import known_unequal
from wengert.core.errors import require
from wengert.core.fallbacks import with_fallback
from wengert.core.lazy_modules import jnp, lapack, lax, linalg
from wengert.core.lowering_checks import fail_if
from wengert.core.types import DType, JaxArray, Op, Ranked, ShapeDtype, Tensor, TensorLike, Value
from wengert.ops import public as tf
from wengert.ops.declare import in_float32, lower_in_float32, need_rank, where_ranked
from wengert.ops.decompose import must_be_square
from wengert.ops.gather import integer_tensor
from wengert.ops.lapack import LARGE, one_thread
from wengert.ops.nan_matrices import lower_nan_for_nan, nan_for_nan
from wengert.ops.shape_checks import sized
from wengert.ops.solve import TRIANGULAR_SOLVE, as_square, fail_if_singular, refusing
from wengert.ops.sorting import choose_type


@where_ranked
def _infer_permute(x: Ranked, order: Ranked, inverse: bool) -> ShapeDtype:
    lead: Any = shapes.broadcast("permute_rows", x.shape[:-2], order.shape[:-1])
    require(
        not inverse or not known_unequal(x.shape[-2], order.shape[-1]),
        "lu",
        "`perm` must have one number for each row",
        x,
        order,
    )
    return ShapeDtype((*lead, *x.shape[-2:]), x.dtype)


def _permute_kernel(x: np.ndarray, order: np.ndarray, inverse: bool) -> np.ndarray:
    _check_order(order, x.shape[-2], inverse)
    lead = np.broadcast_shapes(x.shape[:-2], order.shape[:-1])
    rows = np.broadcast_to(np.argsort(order, -1) if inverse else order, (*lead, order.shape[-1]))
    return np.take_along_axis(np.broadcast_to(x, (*lead, *x.shape[-2:])), rows[..., None], -2)


def _check_order(order: np.ndarray, rows: int, inverse: bool) -> None:
    """Refuses rows that are not there; what is undone must name each row once."""
    outside = order[(order < 0) | (order >= rows)]
    require(
        not outside.size,
        "lu",
        lambda: f"in `perm`, index {outside[0]} is out of bounds for axis 0 with size {rows}",
    )
    once = order.shape[-1] == rows and (np.sort(order, -1) == np.arange(rows)).all()
    require(not inverse or once, "lu", f"`perm` must name each row from 0 to {rows - 1} once")


def _lower_permute(x: JaxArray, order: JaxArray, inverse: bool) -> JaxArray:
    rows = x.shape[-2]
    if inverse:
        fail_if(lambda: jnp.sort(order, -1) != jnp.arange(rows))
    else:
        fail_if(lambda: (order < 0) | (order >= rows))
    # `jnp.take_along_axis` builds the batched gather that `lax.gather` would want spelled out.
    lead = np.broadcast_shapes(x.shape[:-2], order.shape[:-1])
    rows = jnp.broadcast_to(jnp.argsort(order, -1) if inverse else order, (*lead, order.shape[-1]))
    return jnp.take_along_axis(jnp.broadcast_to(x, (*lead, *x.shape[-2:])), rows[..., None], -2)


PERMUTE_ROWS = Op(
    "permute_rows",
    "x order",
    kernel=_permute_kernel,
    infer=_infer_permute,
    lower=_lower_permute,
    grad=(
        lambda g, order, inverse: apply(PERMUTE_ROWS, g, order, inverse=not inverse),
        None,
    ),
    match=(),
    broadcasts=True,
)


def _infer_lu(x: ShapeDtype, dtype: dtypes.DType) -> tuple[ShapeDtype, ShapeDtype]:
    x = as_square("lu", x)
    return x, ShapeDtype(None if x.shape is None else x.shape[:-1], dtype)


@refusing("input is not invertible")
@in_float32
@nan_for_nan
def _lu_kernel(x: np.ndarray, dtype: dtypes.DType) -> tuple[np.ndarray, np.ndarray]:
    must_be_square(x)
    getrf = getattr(lapack, {"f": "s", "d": "d", "F": "c", "D": "z"}[x.dtype.char] + "getrf")
    out = np.empty_like(x)
    order = np.empty(x.shape[:-1], dtype.np)
    for i in np.ndindex(x.shape[:-2]) if x.size else ():
        with one_thread() if x.shape[-1] >= LARGE else nullcontext():
            out[i], swaps, info = getrf(x[i])
        if info > 0:
            raise np.linalg.LinAlgError
        rows = list(range(len(swaps)))
        for k, j in enumerate(swaps):
            rows[k], rows[j] = rows[j], rows[k]
        order[i] = rows
    return out, order


@lower_nan_for_nan
def _lower_lu(x: JaxArray, dtype: dtypes.DType) -> tuple[JaxArray, JaxArray]:
    fail_if_singular(x)
    out, _, order = linalg.lu(x)
    return out, lax.convert_element_type(order, dtype.np)


def _factors(x: Value) -> tuple[Tensor, Tensor]:
    """L, with ones on its diagonal, and U."""
    return tf.band_part(tf.set_diag(x, tf.ones_like(tf.diag_part(x))), -1, 0), tf.band_part(
        x, 0, -1
    )


def _below(x: Tensor) -> Tensor:
    return x - tf.band_part(x, 0, -1)


def _lu_grad(g: tuple[Tensor, ...], outs: tuple[Tensor, ...]) -> Tensor:
    lower, upper = _factors(outs[0])
    middle = _below(tf.matmul(lower, _below(g[0]), transpose_a=True))
    middle = middle + tf.band_part(
        tf.matmul(tf.band_part(g[0], 0, -1), upper, transpose_b=True), 0, -1
    )
    left = apply(TRIANGULAR_SOLVE, lower, middle, lower=True, transpose=True)
    both = apply(TRIANGULAR_SOLVE, upper, tf.matrix_transpose(left), lower=False, transpose=False)
    return apply(PERMUTE_ROWS, tf.matrix_transpose(both), outs[1], inverse=True)


LU = Op(
    "lu",
    "x",
    kernel=_lu_kernel,
    infer=_infer_lu,
    lower=lower_in_float32(_lower_lu),
    grad=_lu_grad,
    accepts=dtypes.INEXACT,
    outputs=2,
)


class Lu(NamedTuple):
    """Both triangles in one matrix, and the order of rows."""

    lu: Any
    p: Any


def lu(input: TensorLike, output_idx_type: DType = dtypes.int32, name: str | None = None) -> Lu:
    """L and U packed in one matrix, and the order p of rows: input[p] = L @ U."""
    kind = choose_type("lu", "output_idx_type", output_idx_type, dtypes.int32, dtypes.int64)
    return Lu(*apply(LU, operand(input), dtype=kind))


@with_fallback
def lu_reconstruct(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The matrix whose `lu` was taken."""
    lower, upper = _factors(operand(lower_upper))
    return apply(PERMUTE_ROWS, tf.matmul(lower, upper), _perm("lu_reconstruct", perm), inverse=True)


def _perm(name: str, perm: TensorLike) -> Tensor:
    """The order of rows that `lu` gave."""
    order = integer_tensor(name, perm, "perm")
    need_rank(name, order, 1)
    return order


@with_fallback
def lu_solve(
    lower_upper: TensorLike,
    perm: TensorLike,
    rhs: TensorLike,
    validate_args: bool = False,
    name: str | None = None,
) -> Tensor:
    """Solves A @ x = rhs, given the `lu` of A."""
    x = operand(lower_upper)
    right = operand(rhs, None, x.dtype)
    need_rank("lu_solve", x, 2)
    need_rank("lu_solve", right, 2)
    wanted = (*[None] * (right._array.ndim - 2), x._array.shape[-1], None)
    right = sized("lu_solve", "`rhs` must have as many rows as the matrix", right, wanted, x)
    lower, upper = _factors(x)
    b = apply(PERMUTE_ROWS, right, _perm("lu_solve", perm), inverse=False)
    return tf.triangular_solve(upper, tf.triangular_solve(lower, b), lower=False)


def lu_matrix_inverse(
    lower_upper: TensorLike, perm: TensorLike, validate_args: bool = False, name: str | None = None
) -> Tensor:
    """The inverse of A, given the `lu` of A."""
    return tf.inv(lu_reconstruct(lower_upper, perm))
