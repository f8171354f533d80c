"""Diagonals and bands of matrices: taking, setting and making them.

Several diagonals are packed as rows, the uppermost first, each pushed to the left or to the right
of its row. `_layout` works out once, per size and packing, which element goes where; kernels and
lowerings only gather by it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wengert.core.bounded_cache import cached_arrays
from wengert.ops.declare import (
    Dim,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    Value,
    apply,
    describe,
    dtypes,
    expand,
    is_symbol,
    jnp,
    known_unequal,
    larger,
    lax,
    must_fit,
    operand,
    operands,
    require,
    require_dtype,
    shapes,
    static_int,
    static_tuple,
    tf,
    with_fallback,
)
from wengert.ops.einsum import EINSUM_ONE

_ALIGNS = ("RIGHT_LEFT", "LEFT_RIGHT", "LEFT_LEFT", "RIGHT_RIGHT")


def _matrix(name: str, x: ShapeDtype, rank: int = 2) -> None:
    require(x.shape is None or len(x.shape) >= rank, name, f"rank {rank} or more was expected", x)


class Layout(NamedTuple):
    """Where packed diagonals lie in a matrix (`source`) and its elements in them (`target`)."""

    source: np.ndarray
    filled: np.ndarray
    target: np.ndarray
    inside: np.ndarray


def _longest(rows: int, cols: int, lower: int, upper: int) -> int:
    return min(rows + min(upper, 0), cols - max(lower, 0))


@cached_arrays(512)
def _layout(rows: int, cols: int, lower: int, upper: int, align: str) -> Layout:
    count, longest = upper - lower + 1, _longest(rows, cols, lower, upper)
    source = np.zeros((count, longest), np.int32)
    filled = np.zeros((count, longest), bool)
    target = np.zeros((rows, cols), np.int32)
    inside = np.zeros((rows, cols), bool)
    left_above, left_below = (side == "LEFT" for side in align.split("_"))
    for r, k in enumerate(range(upper, lower - 1, -1)):
        n = min(rows + min(k, 0), cols - max(k, 0))
        left = (k >= 0 and left_above) or (k <= 0 and left_below)
        start = 0 if left else longest - n
        i = np.arange(n) + max(-k, 0)
        j = np.arange(n) + max(k, 0)
        source[r, start : start + n] = i * cols + j
        filled[r, start : start + n] = True
        target[i, j] = r * longest + start + np.arange(n)
        inside[i, j] = True
    return Layout(source, filled, target, inside)


def _check_k(name: str, rows: int | None, cols: int | None, lower: int, upper: int) -> None:
    if rows is None or cols is None:
        return
    for k in (lower, upper):
        require(
            -rows < k < cols or (k == 0 and 0 in (rows, cols)),
            name,
            f"diagonal {k} lies outside a matrix of {rows} rows and {cols} columns",
            help=f"`k` must lie between {1 - rows} and {cols - 1}.",
        )


def _infer_diag_part(
    x: ShapeDtype, lower: int, upper: int, padding: float, align: str
) -> ShapeDtype:
    _matrix("diag_part", x)
    if x.shape is None:
        return ShapeDtype(None, x.dtype)
    rows, cols = x.shape[-2:]
    _check_k("diag_part", rows, cols, lower, upper)
    size = None if rows is None or cols is None else _longest(rows, cols, lower, upper)
    many = () if lower == upper else (upper - lower + 1,)
    return ShapeDtype((*x.shape[:-2], *many, size), x.dtype)


def _diag_part_kernel(
    x: np.ndarray, lower: int, upper: int, padding: float, align: str
) -> np.ndarray:
    rows, cols = x.shape[-2:]
    _check_k("diag_part", rows, cols, lower, upper)
    if lower == upper:
        return np.diagonal(x, lower, -2, -1)
    lay = _layout(rows, cols, lower, upper, align)
    flat = x.reshape(*x.shape[:-2], rows * cols)
    return np.where(lay.filled, np.take(flat, lay.source, -1), x.dtype.type(padding))


# `jnp.take` builds the gather dimension numbers; the indices are constants.
def _pick(
    x: JaxArray | np.ndarray, where: np.ndarray, chosen: np.ndarray, other: JaxArray | np.generic
) -> JaxArray:
    """Elements `where` of the flattened trailing axes, and `other` where nothing is chosen."""
    picked = jnp.take(x, where, -1, mode="clip")
    return jnp.where(chosen, picked, other)


def _lower_diag_part(x: JaxArray, lower: int, upper: int, padding: float, align: str) -> JaxArray:
    lay = _layout(*x.shape[-2:], lower, upper, align)
    flat = lax.reshape(x, (*x.shape[:-2], x.shape[-2] * x.shape[-1]))
    if not flat.shape[-1]:
        return lax.full((*x.shape[:-2], 0), 0, x.dtype)
    out = _pick(flat, lay.source, lay.filled, x.dtype.type(padding))
    return lax.squeeze(out, (x.ndim - 2,)) if lower == upper else out


def _diag_part_grad(g: Tensor, x_shape: Any, lower: int, upper: int, align: str) -> Tensor:
    rows, cols = x_shape[-2:]
    return apply(DIAG, g, lower=lower, upper=upper, rows=rows, cols=cols, padding=0, align=align)


DIAG_PART = Op(
    "diag_part",
    "x",
    kernel=_diag_part_kernel,
    infer=_infer_diag_part,
    lower=_lower_diag_part,
    grad=_diag_part_grad,
)


@with_fallback
def diag_part(
    input: TensorLike,
    name: str = "diag_part",
    k: TensorLike = 0,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """The diagonal `k` of matrices, or the diagonals from `k[0]` to `k[1]` packed as rows.

    Diagonals that are shorter than the longest are filled with `padding_value`.
    """
    lower, upper = _range("diag_part", k, align)
    x = operand(input)
    padding = _padding(padding_value, x)
    return apply(DIAG_PART, x, lower=lower, upper=upper, padding=padding, align=align)


def _range(name: str, k: TensorLike, align: str) -> tuple[int, int]:
    """`k` as the lowest and highest diagonal."""
    require(align in _ALIGNS, name, f"`align` must be one of {', '.join(_ALIGNS)}; got {align!r}")
    ends = static_tuple(name, k, "k")
    require(len(ends) in (1, 2), name, f"`k` must be one number or two; got {list(ends)}")
    require(ends[0] <= ends[-1], name, f"`k` must not run downwards; got {list(ends)}")
    return ends[0], ends[-1]


def _padding(value: Any, x: Tensor) -> bytes | float | int | complex:
    if isinstance(value, Value):
        value = value.__array__()
    if isinstance(value, list | tuple | np.ndarray | np.generic):
        value = np.asarray(value)
        require(value.size == 1, "diag", f"`padding_value` must be one number; got {value.size}")
        value = value.item()
    require_dtype(
        not isinstance(value, float) or not x.dtype.is_integer,
        "diag",
        f"`padding_value` must be a whole number for {x.dtype.name}; got {value}",
    )
    text = isinstance(value, str | bytes)
    require(
        text or isinstance(value, int | float | complex),
        "diag",
        lambda: f"`padding_value` must be one number; got {describe(value)}",
    )
    require_dtype(
        text == (x.dtype is dtypes.string),
        "diag",
        lambda: f"`padding_value` {value!r} must be of dtype {x.dtype.name}",
        help="Give one of that type.",
    )
    return value.encode() if isinstance(value, str) else value


def _infer_diag(
    x: ShapeDtype, lower: int, upper: int, rows: int, cols: int, padding: float, align: str
) -> ShapeDtype:
    if x.shape is None:
        return ShapeDtype(None, x.dtype)
    _check_diag(x, lower, upper, rows, cols)
    lead = x.shape[:-1] if lower == upper else x.shape[:-2]
    return ShapeDtype((*lead, rows, cols), x.dtype)


def _packed(x: Any, lower: int, upper: int) -> tuple[np.ndarray, tuple[int, ...]]:
    """Diagonals with their trailing axes flattened, and the leading shape."""
    if lower == upper:
        return x, x.shape[:-1]
    lead = x.shape[:-2]
    return x.reshape((*lead, x.shape[-2] * x.shape[-1])), lead


def _diag_kernel(
    x: np.ndarray, lower: int, upper: int, rows: int, cols: int, padding: bytes | float, align: str
) -> np.ndarray:
    _check_diag(ShapeDtype(x.shape, dtypes.of(x)), lower, upper, rows, cols)
    lay = _layout(rows, cols, lower, upper, align)
    flat, lead = _packed(x, lower, upper)
    out = np.full((*lead, rows, cols), padding, x.dtype)
    out[..., lay.inside] = flat[..., lay.target[lay.inside]]
    return out


def _lower_diag(
    x: JaxArray, lower: int, upper: int, rows: int, cols: int, padding: float, align: str
) -> JaxArray:
    lay = _layout(rows, cols, lower, upper, align)
    flat, lead = _packed(x, lower, upper)
    if not flat.shape[-1]:
        return lax.full((*lead, rows, cols), padding, x.dtype)
    return _pick(flat, lay.target, lay.inside, x.dtype.type(padding))


DIAG = Op(
    "diag",
    "x",
    kernel=_diag_kernel,
    infer=_infer_diag,
    lower=_lower_diag,
    grad=lambda g, lower, upper, align: apply(
        DIAG_PART, g, lower=lower, upper=upper, padding=0, align=align
    ),
)


@with_fallback
def diag(
    diagonal: TensorLike,
    name: str = "diag",
    k: TensorLike = 0,
    num_rows: TensorLike = -1,
    num_cols: TensorLike = -1,
    padding_value: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with the given diagonal `k`, or diagonals `k[0]` to `k[1]` packed as rows.

    They are square and as small as can be, unless `num_rows` or `num_cols` say otherwise; all
    other elements are `padding_value`.
    """
    lower, upper = _range("diag", k, align)
    x = operand(diagonal)
    rank = 1 if lower == upper else 2
    require(x._array.ndim >= rank, "diag", f"`diagonal` must have rank {rank} or more", x)
    rows = static_int("diag", num_rows, "num_rows")
    cols = static_int("diag", num_cols, "num_cols")
    rows, cols = _diag_size(x._array.shape[-1], lower, upper, rows, cols)
    return apply(
        DIAG, x, lower=lower, upper=upper, rows=rows, cols=cols,
        padding=_padding(padding_value, x), align=align,
    )  # fmt: skip


def _least_size(longest: int | Dim, lower: int, upper: int) -> tuple[Any, Any]:
    """The rows and columns that diagonals need."""
    return longest - min(upper, 0), longest + max(lower, 0)


def _diag_size(
    longest: int | Dim, lower: int, upper: int, rows: int | Dim, cols: int | Dim
) -> tuple[Any, Any]:
    """The size of a matrix around diagonals, as far as it is not given."""
    least_rows, least_cols = _least_size(longest, lower, upper)
    if rows == -1 and cols == -1:
        both = larger(least_rows, least_cols)
        return both, both
    return least_rows if rows == -1 else rows, least_cols if cols == -1 else cols


def _check_diag(x: ShapeDtype, lower: int, upper: int, rows: int | None, cols: int | None) -> None:
    """Refuses a size that does not fit the diagonals."""
    longest = None if x.shape is None else x.shape[-1]
    require(
        lower == upper or not x.shape or not known_unequal(x.shape[-2], upper - lower + 1),
        "diag",
        f"`k` asks for {upper - lower + 1} diagonals",
        x,
    )
    if longest is None or rows is None or cols is None:
        return
    least_rows, least_cols = _least_size(longest, lower, upper)
    require(
        rows >= least_rows and cols >= least_cols and (rows <= least_rows or cols <= least_cols),
        "diag",
        f"a matrix of {rows} rows and {cols} columns does not fit diagonals "
        f"{lower} to {upper} of length {longest}",
        x,
        help=f"It needs {least_rows} rows or {least_cols} columns, and no fewer.",
    )


def _infer_set_diag(x: ShapeDtype, d: ShapeDtype, lower: int, upper: int, align: str) -> ShapeDtype:
    _matrix("set_diag", x)
    if x.shape is not None:
        rows, cols = x.shape[-2:]
        _check_k("set_diag", rows, cols, lower, upper)
        part = _infer_diag_part(x, lower, upper, 0, align)
        require(
            shapes.compatible(part.shape, d.shape),
            "set_diag",
            lambda: f"the diagonal must have shape {shapes.TensorShape(part.shape)}",
            x,
            d,
        )
        if d.shape is not None:
            lead = shapes.merge(x.shape[:-2], d.shape[: len(x.shape) - 2])
            return ShapeDtype((*(lead or ()), rows, cols), x.dtype)
    return x


def _set_diag_kernel(
    x: np.ndarray, d: np.ndarray, lower: int, upper: int, align: str
) -> np.ndarray:
    _infer_set_diag(
        ShapeDtype(x.shape, dtypes.of(x)), ShapeDtype(d.shape, dtypes.of(d)), lower, upper, align
    )
    lay = _layout(*x.shape[-2:], lower, upper, align)
    flat, _ = _packed(d, lower, upper)
    out = x.copy()
    out[..., lay.inside] = flat[..., lay.target[lay.inside]]
    return out


def _lower_set_diag(x: JaxArray, d: JaxArray, lower: int, upper: int, align: str) -> JaxArray:
    lay = _layout(*x.shape[-2:], lower, upper, align)
    flat, _ = _packed(d, lower, upper)
    return _pick(flat, lay.target, lay.inside, x) if flat.shape[-1] else x


SET_DIAG = Op(
    "set_diag",
    "x d",
    kernel=_set_diag_kernel,
    infer=_infer_set_diag,
    lower=_lower_set_diag,
    grad=(
        lambda g, d_shape, lower, upper, align: apply(
            SET_DIAG, g, tf.zeros(d_shape, g.dtype), lower=lower, upper=upper, align=align
        ),
        lambda g, lower, upper, align: apply(
            DIAG_PART, g, lower=lower, upper=upper, padding=0, align=align
        ),
    ),
)


def set_diag(
    input: TensorLike,
    diagonal: TensorLike,
    name: str = "set_diag",
    k: TensorLike = 0,
    align: str = "RIGHT_LEFT",
) -> Tensor:
    """Matrices with diagonal `k`, or diagonals `k[0]` to `k[1]`, replaced."""
    lower, upper = _range("set_diag", k, align)
    x, d = operands("set_diag", input, diagonal)
    return apply(SET_DIAG, x, d, lower=lower, upper=upper, align=align)


@cached_arrays(256)
def _band(rows: int, cols: int, lower: int, upper: int) -> np.ndarray:
    step = np.arange(cols, dtype=np.int32) - np.arange(rows, dtype=np.int32)[:, None]
    return ((lower < 0) | (-step <= lower)) & ((upper < 0) | (step <= upper))


def _infer_band_part(x: ShapeDtype, lower: int, upper: int) -> ShapeDtype:
    _matrix("band_part", x)
    if x.shape is not None:
        for what, k, d in (("num_lower", lower, x.shape[-2]), ("num_upper", upper, x.shape[-1])):
            require(
                d is None or k is None or k <= d,
                "band_part",
                f"`{what}` {k} exceeds the size {d} of that axis",
                x,
            )
    return x


def _band_part_kernel(x: np.ndarray, lower: int, upper: int) -> np.ndarray:
    must_fit(lower <= x.shape[-2] and upper <= x.shape[-1], "the band is wider than the matrix")
    return np.where(_band(*x.shape[-2:], lower, upper), x, x.dtype.type(0))


def _lower_band_part(x: JaxArray, lower: int, upper: int) -> JaxArray:
    if any(map(is_symbol, x.shape[-2:])):
        rows, cols = (lax.broadcasted_iota(np.int32, x.shape, x.ndim - k) for k in (2, 1))
        low = rows - cols <= (lower if lower >= 0 else np.iinfo(np.int32).max)
        band = low & (cols - rows <= (upper if upper >= 0 else np.iinfo(np.int32).max))
    else:
        band = expand(_band(*x.shape[-2:], lower, upper), x.shape)
    return lax.select(band, x, lax.full_like(x, 0))


BAND_PART = Op(
    "band_part",
    "x",
    kernel=_band_part_kernel,
    infer=_infer_band_part,
    lower=_lower_band_part,
    grad=lambda g, lower, upper: apply(BAND_PART, g, lower=lower, upper=upper),
    accepts=dtypes.nums("biufc"),
)


def band_part(
    input: TensorLike, num_lower: TensorLike, num_upper: TensorLike, name: str | None = None
) -> Tensor:
    """Keeps so many diagonals below and above the main one (all, if negative), zeros elsewhere."""
    lower = static_int("band_part", num_lower, "num_lower")
    upper = static_int("band_part", num_upper, "num_upper")
    return apply(BAND_PART, operand(input), lower=larger(lower, -1), upper=larger(upper, -1))


@with_fallback
def trace(x: TensorLike, name: str | None = None) -> Tensor:
    """The sum of the main diagonal of each matrix.

    Args:
        x: `[..., m, n]`.
        name: without effect.

    Returns:
        A tensor of `[...]`.

    Raises:
        InvalidArgumentError: the rank is below 2.

    >>> int(tf.linalg.trace([[1, 2], [3, 4]]))
    5
    """
    return tf.reduce_sum(diag_part(x), -1)


_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@with_fallback
def tensor_diag(diagonal: TensorLike, name: str | None = None) -> Tensor:
    """A tensor of twice the rank that is zero except where both halves of the index agree."""
    x = operand(diagonal)
    require(x._array.ndim, "tensor_diag", "rank 1 or more was expected", x)
    labels = _LETTERS[: x._array.ndim]
    return apply(EINSUM_ONE, x, equation=f"{labels}->{labels}{labels}", sizes=())


@with_fallback
def tensor_diag_part(input: TensorLike, name: str | None = None) -> Tensor:
    """The elements whose index has two equal halves; undoes `tensor_diag`."""
    x = operand(input)
    shape = x._array.shape
    half = len(shape) // 2
    require(
        not (len(shape) % 2) and not known_unequal(shape[:half], shape[half:]),
        "tensor_diag_part",
        "the two halves of the shape must be equal",
        x,
    )
    labels = _LETTERS[:half]
    return apply(EINSUM_ONE, x, equation=f"{labels}{labels}->{labels}", sizes=())
