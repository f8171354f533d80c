"""Reductions in the forms that NumPy and XLA's CPU code run fast.

NumPy reduces columns row by row, and a row of three numbers costs it as much as one of a hundred.
`combine` gives sums to BLAS, which is also more exact; for the rest it takes several short rows as
a long one. XLA reduces a row one number after another, since it may not change the order of a sum.
Where the order is free to choose, as it is here, `fold` goes down `LANES` columns side by side,
which keeps the vector units busy, and only then across: three to five times as fast on long rows.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.ops.declare import JaxArray, is_symbol, jax, lax
from wengert.ops.threads import BLOCK, blocks_of, share

# Threads share arrays of so many numbers.
_SHARED = 2 * BLOCK
# Numbers that one of them adds up at a time.
_PART = 4 * BLOCK
# Arrays of fewer elements, or columns of fewer, are as quick the usual way.
_MANY = 2048
_LONG = 8
# Rows of this length are as quick as can be.
_WIDE = 512
# From so many elements on, adding a row by the detour of long rows pays.
MANY_ROWS = 1 << 14


def combine(
    ufunc: np.ufunc, x: np.ndarray, axis: tuple[int, ...], keepdims: bool = False
) -> np.ndarray:
    """`ufunc.reduce` in the dtype of `x`, along axes in rising order."""
    rank, size, char = x.ndim, x.size, x.dtype.char
    if (
        len(axis) == rank
        and ufunc is np.add
        and 0 < size <= _FEW
        and char in "fd"
        and (rank == 1 or x.flags.c_contiguous)
    ):
        total = ones(size, char).dot(x if rank == 1 else x.reshape(-1))
        return total.reshape((1,) * rank) if keepdims else total
    if size >= _SHARED and x.flags.c_contiguous:
        if len(axis) == rank:
            total = _everything(ufunc, x.reshape(-1))
            return total.reshape((1,) * rank) if keepdims else total
        if axis and axis[0] == rank - len(axis):  # along the memory
            return _rows(ufunc, x, axis, keepdims)
    if size >= _MANY and axis and axis[-1] + 1 < rank and x.flags.c_contiguous:
        first, after = axis[0], axis[-1] + 1
        if after - first == len(axis):  # with none between them that stays
            shape = x.shape
            rows, width = math.prod(shape[first:after]), math.prod(shape[after:])
            if rows >= _LONG:
                result = _down(ufunc, x.reshape(-1, rows, width))
                kept = (1,) * len(axis) if keepdims else ()
                return result.reshape(*shape[:first], *kept, *shape[after:])
    return ufunc.reduce(x, axis, dtype=x.dtype, keepdims=keepdims)


def _everything(ufunc: np.ufunc, x: np.ndarray) -> np.ndarray:
    """Combines a long vector: parts of one size in several threads, then what they gave."""
    blocks = blocks_of(x.size, _PART)
    parts = np.empty(len(blocks), x.dtype)

    def work(k: int) -> None:
        part = x[blocks[k]]
        if ufunc is np.multiply and not part.size % _WIDE:
            # Products of one row are made one after another.
            part = ufunc.reduce(part.reshape(-1, _WIDE), 0, dtype=x.dtype)
        parts[k] = ufunc.reduce(part, dtype=x.dtype)

    share(work, range(len(blocks)))
    return np.asarray(ufunc.reduce(parts, dtype=x.dtype))


def sum_of_squares(x: np.ndarray) -> np.ndarray:
    """The sum of the squares of all numbers of a real floating array."""
    flat = x.reshape(-1)
    if x.size < _SHARED:
        return np.asarray(flat.dot(flat))
    blocks = blocks_of(x.size, _PART)
    parts = np.empty(len(blocks), x.dtype)

    def work(k: int) -> None:
        parts[k] = flat[blocks[k]].dot(flat[blocks[k]])

    share(work, range(len(blocks)))
    return np.asarray(np.add.reduce(parts))


def _rows(ufunc: np.ufunc, x: np.ndarray, axis: tuple[int, ...], keepdims: bool) -> np.ndarray:
    """Combines each row of a matrix, a few at a time in several threads."""
    lead, kept = x.shape[: axis[0]], (1,) * len(axis) if keepdims else ()
    rows = x.reshape(math.prod(lead), -1)
    out = np.empty(len(rows), x.dtype)
    if len(rows) < _LONG:
        for k, row in enumerate(rows):
            out[k] = _everything(ufunc, row)
    else:
        blocks = blocks_of(len(rows), max(1, BLOCK // rows.shape[1]))
        share(lambda part: ufunc.reduce(rows[part], 1, dtype=x.dtype, out=out[part]), blocks)
    return out.reshape(*lead, *kept)


def sum_rows(x: np.ndarray, rows: int, char: str) -> np.ndarray:
    """The sum of the rows of a matrix, of so many and of this dtype, single or double precision."""
    return (ones(rows, char) if rows <= _FEW else np.ones(rows, char)).dot(x)


# Vectors of up to this many ones are kept.
_FEW = 1 << 12


@functools.lru_cache(64)
def ones(count: int, dtype: str) -> np.ndarray:
    """A vector of ones, not to be written to."""
    return np.ones(count, dtype)


def _down(ufunc: np.ufunc, x: np.ndarray) -> np.ndarray:
    """Combines the rows of each matrix of a stack."""
    stack, rows, width = x.shape
    if ufunc is np.add and x.dtype.char in "fd":
        if stack == 1:
            return sum_rows(x[0], rows, x.dtype.char)
        return np.matmul(np.ones(rows, x.dtype), x)
    joined = _joined(rows, width)
    if joined == 1:
        return ufunc.reduce(x, 1, dtype=x.dtype)
    long = ufunc.reduce(x.reshape(stack, rows // joined, joined * width), 1, dtype=x.dtype)
    return ufunc.reduce(long.reshape(stack, joined, width), 1, dtype=x.dtype)


def _joined(rows: int, width: int) -> int:
    """How many rows make a long one."""
    joined = 1
    while rows % (2 * joined) == 0 and width * joined < _WIDE:
        joined *= 2
    return joined


def with_row(ufunc: Callable[..., np.ndarray], x: np.ndarray, row: np.ndarray) -> np.ndarray:
    """`ufunc(x, row)` for a vector `row`, up to six times as fast for many short rows."""
    width = row.size
    if x.size >= MANY_ROWS and x.ndim > 1 and x.shape[-1] == width and x.flags.c_contiguous:
        joined = _joined(x.size // width, width)
        if joined > 1:
            long = np.empty((joined, width), row.dtype)
            long[...] = row
            return ufunc(x.reshape(-1, joined * width), long.reshape(-1)).reshape(x.shape)
    return ufunc(x, row)


LANES = 32
_LONG_ROWS = 4 * LANES  # shorter rows, and fewer numbers than `_MANY_NUMBERS`, gain nothing
_MANY_NUMBERS = 2**13
_FEW_ROWS = 8


def fold(
    x: JaxArray | np.ndarray, start: float | np.generic, combine: Any, axis: tuple[int, ...]
) -> JaxArray:
    """Reduces `x` over `axis` with `combine`, an associative function, from its neutral `start`."""
    first = x.dtype.type(start)
    axis = tuple(axis)
    kept = x.shape[: x.ndim - len(axis)]
    if not _is_long(x, axis):
        return (_fold_down if _is_tall(x, axis) else lax.reduce)(x, first, combine, axis)
    if len(axis) > 1 and math.prod(kept) < _FEW_ROWS and x.shape[-1] >= _LONG_ROWS:
        # Row by row first, which threads may share.
        rows = fold(x, start, combine, (x.ndim - 1,))
        return lax.reduce(lax.optimization_barrier(rows), first, combine, tuple(sorted(axis)[:-1]))
    length = math.prod(x.shape[len(kept) :])
    whole = length - length % LANES
    rows, last = lax.reshape(x, (*kept, length)), len(kept)
    body = lax.slice_in_dim(rows, 0, whole, axis=-1)
    body = lax.reshape(body, (*kept, whole // LANES, LANES))
    # Without the barrier XLA would make one reduction of the two again.
    lanes = lax.optimization_barrier(lax.reduce(body, first, combine, (last,)))
    out = lax.reduce(lanes, first, combine, (last,))
    if whole == length:
        return out
    tail = lax.slice_in_dim(rows, whole, length, axis=-1)
    return combine(out, lax.reduce(tail, first, combine, (last,)))


def _is_long(x: JaxArray | np.ndarray, axis: tuple[int, ...]) -> bool:
    """Whether rows of numbers, many and long, are reduced along their memory."""
    if sorted(axis) != list(range(x.ndim - len(axis), x.ndim)) or not _is_large(x):
        return False
    return math.prod(x.shape[x.ndim - len(axis) :]) >= _LONG_ROWS


def _is_large(x: JaxArray | np.ndarray) -> bool:
    """Whether these are many numbers, none of half precision, for the CPU."""
    if x.dtype.kind not in "fiub" or (x.dtype.kind == "f" and x.dtype.itemsize < 4):
        return False
    if any(map(is_symbol, x.shape)):
        return False
    return math.prod(x.shape) >= _MANY_NUMBERS and jax.default_backend() == "cpu"


def _is_tall(x: JaxArray | np.ndarray, axis: tuple[int, ...]) -> bool:
    """Whether columns of many numbers, side by side, are reduced: several axes before the last."""
    if len(axis) < 2 or sorted(axis) != list(range(min(axis), min(axis) + len(axis))):
        return False
    rows, width = math.prod(x.shape[i] for i in axis), x.shape[max(axis) + 1 :]
    return (
        x.dtype.kind == "f"
        and bool(width)
        and _is_large(x)
        and rows > LANES
        and math.prod(width) >= _FEW_ROWS
    )


def _fold_down(
    x: JaxArray | np.ndarray, first: Any, combine: Any, axis: tuple[int, ...]
) -> JaxArray:
    """Reduces columns by windows of rows, which XLA runs with vectors and threads.

    A reduction over several axes it runs number by number, and joins it with what makes the
    numbers, up to twelve times as slow (batch normalisation; gradients of biases).
    """
    before, after = x.shape[: min(axis)], x.shape[max(axis) + 1 :]
    y = lax.reshape(x, (math.prod(before), math.prod(x.shape[i] for i in axis), math.prod(after)))
    while y.shape[1] > LANES:
        window = (1, LANES, 1)
        rest = -y.shape[1] % LANES
        y = lax.reduce_window(y, first, combine, window, window, ((0, 0), (0, rest), (0, 0)))
    return lax.reshape(lax.reduce(y, first, combine, (1,)), (*before, *after))
