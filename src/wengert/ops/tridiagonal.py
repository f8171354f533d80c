"""Matrices of three diagonals: products with them, linear equations in linear time, eigenvalues.

Inside, the diagonals are rows of one tensor [..., 3, n], the one above first; the corners that lie
outside of the matrix, the last of the first row and the first of the last, are not read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes, shapes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.dims import known_unequal
from wengert.core.errors import (
    UnimplementedError,
    at_site,
    invalid,
    require,
    require_dtype,
)
from wengert.core.fallbacks import with_fallback
from wengert.core.lazy_modules import jnp, linalg
from wengert.core.lowering_checks import fail_if
from wengert.core.types import JaxArray, Op, ShapeDtype, Tensor, TensorLike, Value
from wengert.ops import public as tf
from wengert.ops.declare import (
    in_float32,
    lower_in_float32,
    must_fit,
    need_rank,
    static_float,
    static_int,
)
from wengert.ops.shape_checks import sized
from wengert.ops.solve import refusing


@refusing("input is not invertible")
@in_float32
def _solve_kernel(diagonals: np.ndarray, b: np.ndarray) -> np.ndarray:
    from scipy.linalg import solve_banded

    lead, (n, count) = diagonals.shape[:-2], b.shape[-2:]
    must_fit(diagonals.shape[-2:] == (3, n) and b.shape[:-2] == lead, "the shapes do not fit")
    out = np.empty(b.shape, b.dtype)
    if n == 1:
        return _single(diagonals, b)
    bands = np.zeros_like(diagonals)  # LAPACK's form: what stands in one column of the matrix
    bands[..., 0, 1:], bands[..., 1, :], bands[..., 2, :-1] = (
        diagonals[..., 0, :-1], diagonals[..., 1, :], diagonals[..., 2, 1:],
    )  # fmt: skip
    for i in np.ndindex(lead) if n and count else ():
        out[i] = solve_banded((1, 1), bands[i], b[i], check_finite=False)
    return out


def _single(diagonals: np.ndarray, b: np.ndarray) -> np.ndarray:
    if not diagonals[..., 1, :].all():
        raise np.linalg.LinAlgError
    return b / diagonals[..., 1:2, :]


def _infer_solve(diagonals: ShapeDtype, b: ShapeDtype) -> ShapeDtype:
    d, s = diagonals.shape, b.shape
    if d is not None and s is not None:
        wanted = (*s[:-2], 3, s[-2]) if len(s) >= 2 else ()
        require(
            shapes.compatible(d, wanted),
            "tridiagonal_solve",
            "diagonals [..., 3, n] and right-hand sides [..., n, k] are needed",
            diagonals,
            b,
        )
    return ShapeDtype(s, b.dtype)


def _lower_solve(diagonals: JaxArray, b: JaxArray) -> Any:
    above, middle, below = (diagonals[..., k, :] for k in range(3))
    n = b.shape[-2]
    if n == 0 or b.shape[-1] == 0:
        return b
    if n == 1:
        out = b / middle[..., None]
    else:
        outside = jnp.zeros_like(middle[..., :1])
        above = jnp.concatenate([above[..., :-1], outside], -1)
        below = jnp.concatenate([outside, below[..., 1:]], -1)
        out = linalg.tridiagonal_solve(below, middle, above, b)
    fine = jnp.isfinite(diagonals).all() & jnp.isfinite(b).all()
    fail_if(lambda: fine & ~jnp.isfinite(out).all())
    return out


def _later(x: Tensor) -> Tensor:
    """Each number in the place of the one before it."""
    return tf.concat([x[..., 1:], tf.zeros_like(x[..., :1])], -1)


def _earlier(x: Tensor) -> Tensor:
    """Each number in the place of the one after it."""
    return tf.concat([tf.zeros_like(x[..., :1]), x[..., :-1]], -1)


def _turned(diagonals: Tensor) -> Tensor:
    """The diagonals of the transposed matrix."""
    above, middle, below = tf.unstack(diagonals, 3, axis=-2)
    return tf.stack([_later(below), middle, _earlier(above)], axis=-2)


def _pairs(g: Tensor, x: Tensor) -> Tensor:
    """The diagonals of the product of `g` [..., n, k] and the transposed `x`."""
    columns, others = tf.matrix_transpose(g), tf.matrix_transpose(x)
    results = [tf.reduce_sum(columns * y, -2) for y in (_later(others), others, _earlier(others))]
    return tf.stack(results, axis=-2)


SOLVE_TRIDIAGONAL = Op(
    "tridiagonal_solve",
    "diagonals b",
    kernel=_solve_kernel,
    infer=_infer_solve,
    lower=lower_in_float32(_lower_solve),
    grad=(
        lambda g, diagonals, out: -_pairs(apply(SOLVE_TRIDIAGONAL, _turned(diagonals), g), out),
        lambda g, diagonals: apply(SOLVE_TRIDIAGONAL, _turned(diagonals), g),
    ),
    accepts=dtypes.INEXACT,
)


def _padded(x: Value, n: int, before: int) -> Value:
    """A diagonal with its corner outside of the matrix, whether it came with it or not."""
    if known_unequal(x._array.shape[-1], n):
        return tf.pad(x, [[0, 0]] * (x._array.ndim - 1) + [[before, 1 - before]])
    return x


def _rows(name: str, diagonals: TensorLike, format: str) -> Value:
    """The diagonals as rows of one tensor, whatever form they have."""
    if format == "sequence":
        if not isinstance(diagonals, list | tuple) or len(diagonals) != 3:
            raise invalid(name, "`diagonals` must be three tensors: above, middle, below")
        middle = operand(diagonals[1])
        above, below = (operand(diagonals[k], None, middle.dtype) for k in (0, 2))
        n = middle._array.shape[-1]
        return tf.stack([_padded(above, n, 0), middle, _padded(below, n, 1)], axis=-2)
    d = operand(diagonals)
    need_rank(name, d, 2)
    if format == "matrix":
        return tf.diag_part(d, k=(-1, 1), align="LEFT_RIGHT")
    require(
        format == "compact",
        name,
        f"`diagonals_format` must be 'compact', 'sequence' or 'matrix'; got {format!r}",
        kind=ValueError,
    )
    wanted = (*[None] * (d._array.ndim - 2), 3, None)
    return sized(name, "three diagonals [..., 3, n] are needed", d, wanted)


@with_fallback
def tridiagonal_solve(
    diagonals: TensorLike, rhs: TensorLike, diagonals_format: str = "compact", transpose_rhs: bool = False,
    conjugate_rhs: bool = False, name: str | None = None, partial_pivoting: bool = True,
    perturb_singular: bool = False,
) -> Tensor:  # fmt: skip
    """Solves linear equations whose matrices have three diagonals; a singular one is an error.

    `diagonals` are [..., 3, n] from the upper to the lower one, three tensors ("sequence"), or
    matrices. `rhs` is [..., n], or [..., n, k] for several equations. Rows are always exchanged
    where that is more exact, whatever `partial_pivoting` says.
    """
    if perturb_singular:
        text = "tridiagonal_solve: `perturb_singular` is not available. Add to the diagonal."
        raise at_site(UnimplementedError(None, None, text))
    d = _rows("tridiagonal_solve", diagonals, diagonals_format)
    b = operand(rhs, None, d.dtype)
    vector = b._array.ndim == d._array.ndim - 1
    if conjugate_rhs:
        b = tf.conj(b)
    if vector:
        return tf.squeeze(apply(SOLVE_TRIDIAGONAL, d, tf.expand_dims(b, -1)), -1)
    return apply(SOLVE_TRIDIAGONAL, d, tf.matrix_transpose(b) if transpose_rhs else b)


@with_fallback
def tridiagonal_matmul(
    diagonals: TensorLike,
    rhs: TensorLike,
    diagonals_format: str = "compact",
    name: str | None = None,
) -> Tensor:
    """The product of matrices with three diagonals and matrices [..., n, k]."""
    d = _rows("tridiagonal_matmul", diagonals, diagonals_format)
    b = operand(rhs, None, d.dtype)
    need_rank("tridiagonal_matmul", b, 2)
    rule = "the sizes do not fit: [..., 3, n] and [..., n, k]"
    wanted = (*[None] * (b._array.ndim - 2), d._array.shape[-1], None)
    b = sized("tridiagonal_matmul", rule, b, wanted, d)
    above, middle, below = tf.unstack(d, 3, axis=-2)
    columns = tf.matrix_transpose(b)
    parts = [
        tf.expand_dims(diagonal, -2) * x
        for diagonal, x in ((above, _later(columns)), (middle, columns), (below, _earlier(columns)))
    ]
    return tf.matrix_transpose(parts[0] + parts[1] + parts[2])


def _chosen(select: str, select_range: Any, values: Value) -> Tensor | slice:
    """Which eigenvalues are wanted: a slice of their places, or a truth value for each."""
    name = "eigh_tridiagonal"
    if select == "a":
        return slice(None)
    require(select in ("i", "v"), name, f"`select` must be 'a', 'i' or 'v'; got {select!r}")
    if select_range is None or len(select_range) != 2:
        raise at_site(TypeError(f"{name}: `select_range` must be two numbers."))
    if select == "v":
        low, high = (static_float(name, v, "select_range") for v in select_range)
        require(low < high, name, f"`select_range` is empty; got ({low}, {high}]")
        return (values > low) & (values <= high)
    first, last = (static_int(name, v, "select_range") for v in select_range)
    count = values._array.shape[-1]
    if first < 0 or first > last or (type(count) is int and last >= count):
        rule = f"`select_range` must be places from 0 on, the first first; got ({first}, {last})"
        raise invalid(name, rule, values)
    return slice(first, last + 1)


@with_fallback
def eigh_tridiagonal(
    alpha: TensorLike, beta: TensorLike, eigvals_only: bool = True, select: str = "a", select_range: TensorLike | None = None,
    tol: Any = None, name: str | None = None,
) -> Any:  # fmt: skip
    """Ascending eigenvalues of self-adjoint matrices with diagonal `alpha` and `beta` above it.

    Without `eigvals_only` the eigenvectors (columns) come second. `select` "i" picks eigenvalues by
    their places, both ends included, "v" those in (low, high]. They are exact whatever `tol` says.

    >>> tf.linalg.eigh_tridiagonal([2.0, 2.0], [1.0]).numpy().tolist()
    [1.0, 3.0]
    """
    a, b = operand(alpha), operand(beta)
    require_dtype(
        a.dtype is b.dtype and a.dtype.kind in "fc",
        "eigh_tridiagonal",
        "both must be of one type with fractions",
        a,
        b,
    )
    need_rank("eigh_tridiagonal", a, 1)
    need_rank("eigh_tridiagonal", b, 1)
    if type(size := a._array.shape[-1]) is int and known_unequal(
        b._array.shape[-1], max(size - 1, 0)
    ):
        raise invalid("eigh_tridiagonal", "`beta` has one number fewer than `alpha`", a, b)
    x = tf.diag(a) if a._array.shape[-1] in (0, 1) else tf.diag(a) + tf.diag(tf.conj(b), k=-1)
    values, vectors = (tf.eigvalsh(x), None) if eigvals_only else tf.eigh(x)
    values = tf.real(values)
    which = _chosen(select, select_range, values)
    if isinstance(which, slice):
        values = values[..., which]
        return values if vectors is None else (values, vectors[..., which])
    values = tf.boolean_mask(values, which)
    return values if vectors is None else (values, tf.boolean_mask(vectors, which, axis=1))
