"""Arrays that are written row by row: what a `TensorArray` is inside a graph.

To shape rules a buffer is a tensor with a leading axis. While running, the host engine holds
`Rows`, of which every version is kept at no cost; XLA holds an array. Until the first write the
shape of a row may be unknown: `Blank` stands for such a buffer while lowering.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from wengert.core.lowering_checks import NotFixed
from wengert.core.padded_stacks import Padded, RowCount, rows_unknown, single
from wengert.core.shapes import join
from wengert.graph.ir import Node
from wengert.graph.passes import FUSED
from wengert.ops.declare import (
    Dim,
    DType,
    InvalidIndexError,
    JaxArray,
    Op,
    ShapeDtype,
    SymbolicTensor,
    Tensor,
    apply,
    dtypes,
    fail_if,
    invalid,
    is_symbol,
    lax,
    must_be_fixed,
    require,
    tf,
)
from wengert.ops.row_list import Rows, as_rows, extent, increased, joined, outside, readable, row

if TYPE_CHECKING:
    from wengert.core.types import Unranked
    from wengert.graph.ir import Graph


class Blank:
    """A buffer whose rows have no known shape yet, while lowering."""

    def __init__(self, count: int, dtype: np.dtype) -> None:
        self.count = count
        self.dtype = dtype
        self.shape = (count,)

    def buffer(self, row: tuple[int, ...]) -> JaxArray:
        return lax.full((self.count, *row), 0, self.dtype)


def _row(buffer: ShapeDtype) -> tuple[int | None, ...] | None:
    return None if buffer.shape is None else buffer.shape[1:]


def _count(buffer: ShapeDtype) -> int | None:
    return None if buffer.shape is None else buffer.shape[0]


def _of_rows(count: int | None, row: tuple[int | None, ...] | None, dtype: DType) -> ShapeDtype:
    return ShapeDtype(None if row is None else (count, *row), dtype)


# A buffer of `size` rows that nobody has written; `row` is their shape where it is known.


def _lower_new(size: JaxArray, dtype: DType, row: tuple[int, ...], grows: bool) -> Any:
    must_be_fixed(not grows, "a TensorArray with dynamic_size=True grows as the program runs")
    must_be_fixed(
        not hasattr(size, "dtype") or isinstance(size, np.ndarray),
        "the size of a TensorArray depends on the values of tensors",
    )
    count: Any = size if is_symbol(size) else int(size)
    if row is None or None in row:
        return Blank(count, dtype.np)
    return lax.full((count, *row), 0, dtype.np)


def _known(row: tuple[int, ...] | None) -> tuple[int, ...] | None:
    return None if row is None or None in row else row


NEW_ROWS = Op(
    "new_rows",
    "size",
    kernel=lambda size, dtype, row, grows: Rows([None] * int(size), dtype.np, _known(row)),
    infer=lambda size, dtype, row, grows: _of_rows(None, row, dtype),
    lower=_lower_new,
    grad=None,
    folds=False,
    register=False,
    row_lists="makes",
)


# One row replaced. `grows` lets the buffer become longer; with `even` all rows have one shape.


def _write_kernel(
    buffer: np.ndarray | Rows, i: np.ndarray, x: np.ndarray, grows: bool, even: bool
) -> Rows:
    rows, n = as_rows(buffer), int(i)
    if n < 0 or (n >= len(rows) and not grows):
        raise outside("write", n, len(rows))
    if even and rows.row is not None and x.shape != rows.row and _any_written(rows):
        raise invalid(
            "TensorArray.write",
            f"all elements must have one shape; element {n} has shape {list(x.shape)}, others "
            f"have {list(rows.row)}",
            help="Pad it, or make the array with infer_shape=False.",
        )
    return rows.written(n, x)


def _any_written(rows: Rows) -> bool:
    return any(x is not None for x in rows.items)


def _infer_write(
    buffer: ShapeDtype, i: ShapeDtype, x: ShapeDtype, grows: bool, even: bool
) -> ShapeDtype:
    if x.shape is None:
        row = _row(buffer) if even else None
        return _of_rows(None if grows else _count(buffer), row, buffer.dtype)
    row = x.shape if even or buffer.shape is None else join(buffer.shape[1:], x.shape)
    return _of_rows(None if grows else _count(buffer), row, buffer.dtype)


def _lower_write(buffer: JaxArray, i: JaxArray, x: JaxArray, grows: bool, even: bool) -> JaxArray:
    if isinstance(buffer, Blank):
        buffer = buffer.buffer(x.shape)
    must_be_fixed(
        x.shape == buffer.shape[1:], "the elements of a TensorArray have different shapes"
    )
    if grows and isinstance(i, np.ndarray) and int(i) >= buffer.shape[0]:
        more = int(i) + 1 - buffer.shape[0]
        buffer = lax.concatenate([buffer, lax.full((more, *x.shape), 0, buffer.dtype)], 0)
    count = buffer.shape[0]
    fail_if(lambda: (i < 0) | (i >= count))
    return lax.dynamic_update_index_in_dim(buffer, x, i, 0) if count else buffer


WRITE_ROW = Op(
    "write_row",
    "buffer i x",
    kernel=_write_kernel,
    infer=_infer_write,
    lower=_lower_write,
    grad=(
        lambda g, i: apply(WRITE_ROW, g, i, tf.zeros_like(read_row(g, i)), grows=False, even=False),
        None,
        lambda g, i: read_row(g, i),
    ),
    match=(0, 2),
    holomorphic=False,
    folds=False,
    register=False,
    row_lists="makes",
)


def array_of(x: JaxArray | Padded) -> JaxArray:
    """The array of a stack, with the rows that do not count."""
    return x.array if type(x) is Padded else x


# One row read, and its gradient: zeros but for one row.


def _read_kernel(buffer: np.ndarray | Rows, i: np.ndarray) -> np.ndarray:
    n = int(i)
    if not 0 <= n < len(buffer):
        raise outside("read", n, len(buffer))
    return buffer.get(n) if isinstance(buffer, Rows) else np.asarray(buffer[n])


def _lower_read(buffer: JaxArray | Padded, i: JaxArray) -> JaxArray:
    must_be_fixed(not isinstance(buffer, Blank), "a TensorArray is read before it is written")
    count = buffer.length if type(buffer) is Padded else buffer.shape[0]
    fail_if(lambda: (i < 0) | (i >= count))
    buffer = array_of(buffer)
    if not buffer.shape[0]:
        return lax.full(buffer.shape[1:], 0, buffer.dtype)
    return lax.dynamic_index_in_dim(buffer, i, 0, keepdims=False)


READ_ROW = Op(
    "read_row",
    "buffer i",
    kernel=_read_kernel,
    infer=lambda buffer, i: ShapeDtype(_row(buffer), buffer.dtype),
    lower=_lower_read,
    grad=(lambda g, i, buffer: apply(PUT_ROW, g, i, extent(buffer)), None),
    match=(),
    folds=False,
    register=False,
    takes_padded=True,
    row_lists="takes",
)


def read_row(buffer: SymbolicTensor, i: Tensor) -> Tensor:
    """The row of a buffer at a position that may depend on data."""
    return apply(READ_ROW, buffer, i)


def _put_kernel(g: np.ndarray, i: np.ndarray, like: np.ndarray | Rows) -> Rows:
    items: list[Any] = [None] * len(like)
    items[int(i)] = g
    return Rows(items, g.dtype, g.shape)


def _lower_put(g: JaxArray, i: JaxArray, like: JaxArray | Padded) -> JaxArray | Padded:
    if type(like) is Padded:
        return single(like).mapped(lambda a: _lower_put(g, i, a))
    zeros = lax.full((like.shape[0], *g.shape), 0, g.dtype)
    return lax.dynamic_update_index_in_dim(zeros, g, i, 0) if like.shape[0] else zeros


PUT_ROW = Op(
    "put_row",
    "g i like",
    kernel=_put_kernel,
    infer=lambda g, i, like: _of_rows(_count(like), g.shape, g.dtype),
    lower=_lower_put,
    grad=(lambda h, i: read_row(h, i), None, None),
    match=(),
    folds=False,
    register=False,
    takes_padded=True,
    row_lists="makes",
)


# One row increased: what becomes of a sum of a buffer and a `put_row`.


def _lower_add(buffer: JaxArray | Padded, i: JaxArray, x: JaxArray) -> JaxArray | Padded:
    if type(buffer) is Padded:
        return single(buffer).mapped(lambda a: _lower_add(a, i, x))
    if not buffer.shape[0]:
        return buffer
    old = lax.dynamic_index_in_dim(buffer, i, 0, keepdims=False)
    return lax.dynamic_update_index_in_dim(buffer, lax.add(old, x), i, 0)


ADD_ROW = Op(
    "add_row",
    "buffer i x",
    kernel=lambda buffer, i, x: increased(as_rows(buffer), int(i), x),
    infer=lambda buffer, i, x: buffer,
    lower=_lower_add,
    grad=(lambda g: g, None, lambda g, i: read_row(g, i)),
    match=(0, 2),
    folds=False,
    register=False,
    takes_padded=True,
    row_lists="makes",
)


def _fused(graph: Graph, node: Node, other: int, put: Node) -> Node:
    g, i, _ = put.inputs
    return Node(ADD_ROW, (other, i, g), node.outputs, {}, node.site)


FUSED.fill(__name__, {PUT_ROW: _fused})


# One row taken out, and one put between others: each is the other's gradient.


def _drop_kernel(buffer: np.ndarray | Rows, i: np.ndarray) -> Rows:
    rows, n = as_rows(buffer), int(i)
    require(
        0 <= n < len(rows),
        "pop",
        f"the list has no element {n}; it has {len(rows)}",
        help="Test its length first.",
        kind=InvalidIndexError,
    )
    return rows.without(n)


def _no_lower(*given: Any) -> Any:
    raise NotFixed("the length of a list depends on the values of tensors")


DROP_ROW = Op(
    "drop_row",
    "buffer i",
    kernel=_drop_kernel,
    infer=lambda buffer, i: _of_rows(None, _row(buffer), buffer.dtype),
    lower=_no_lower,
    grad=(lambda g, i, buffer: apply(INSERT_ROW, g, i, tf.zeros_like(read_row(buffer, i))), None),
    match=(),
    folds=False,
    register=False,
    row_lists="makes",
)
INSERT_ROW = Op(
    "insert_row",
    "buffer i x",
    kernel=lambda buffer, i, x: as_rows(buffer).with_more(int(i), x),
    infer=lambda buffer, i, x: _of_rows(None, _row(buffer), buffer.dtype),
    lower=_no_lower,
    grad=(lambda g, i: apply(DROP_ROW, g, i), None, lambda g, i: read_row(g, i)),
    match=(0, 2),
    folds=False,
    register=False,
    row_lists="makes",
)


# All rows as one tensor, and the other way round.


def _stack_kernel(buffer: np.ndarray | Rows, count: int | None, name: str) -> np.ndarray:
    if isinstance(buffer, Rows) and not buffer.is_even:
        shapes = " and ".join(map(str, sorted({tuple(x.shape) for x in buffer.filled()})[:2]))
        require(
            name == "TensorArray.stack",
            name,
            f"all results must have one shape; there are {shapes}",
            help="Pad them.",
        )
        help = "Join them with concat(), or pad them."
        raise invalid(name, f"all elements must have one shape; there are {shapes}", help=help)
    array = np.asarray(buffer)
    return array if count is None else array[:count]


def _lower_stack(
    buffer: JaxArray | Padded, count: int | RowCount | None, name: str
) -> JaxArray | Padded:
    must_be_fixed(not isinstance(buffer, Blank), "a TensorArray is stacked that nobody has written")
    if type(buffer) is Padded or type(count) is RowCount:
        return _same_rows(buffer, count)
    if count is None or is_symbol(count) or buffer.shape[0] <= count:
        return buffer
    return lax.slice_in_dim(buffer, 0, count)


def _same_rows(buffer: JaxArray | Padded, count: int | RowCount | None) -> Padded:
    """A stack of which only some rows count, of which so many are wanted."""
    same = type(count) is RowCount and count.is_of(buffer)
    if type(buffer) is Padded and (count is None or same):
        return single(buffer)
    raise rows_unknown()


def _stack_grad(
    g: Tensor, buffer_shape: tuple[int | Dim, ...] | Unranked, count: int | None
) -> Tensor:
    if count is not None and type(buffer_shape) is tuple:  # of the rows that were cut off, zeros
        none = [(0, 0)] * (g._array.ndim - 1)
        g = tf.pad(g, [(0, buffer_shape[0] - g._array.shape[0]), *none])
    return apply(UNSTACK_ROWS, g)


STACK_ROWS = Op(
    "stack_rows",
    "buffer",
    kernel=_stack_kernel,
    infer=lambda buffer, count, name: (
        buffer if count is None else _of_rows(count, _row(buffer), buffer.dtype)
    ),
    lower=_lower_stack,
    grad=_stack_grad,
    folds=False,
    register=False,
    takes_padded=True,
    row_lists="takes",
)
UNSTACK_ROWS = Op(
    "unstack_rows",
    "x",
    kernel=lambda x: x,
    infer=lambda x: x,
    lower=lambda x: x,
    grad=lambda g, x_shape: apply(
        STACK_ROWS,
        g,
        count=x_shape[0] if type(x_shape) is tuple else None,
        name="TensorArray.stack",
    ),
    folds=False,
    register=False,
    takes_padded=True,
    row_lists="takes",
)


# How many rows there are.

COUNT_ROWS = Op(
    "count_rows",
    "buffer",
    kernel=lambda buffer: np.array(len(buffer), np.int32),
    infer=lambda buffer: ShapeDtype((), dtypes.int32),
    lower=lambda buffer: (
        buffer.length if type(buffer) is Padded else np.array(buffer.shape[0], np.int32)
    ),
    grad=None,
    folds=False,
    register=False,
    takes_padded=True,
    row_lists="takes",
)


# As many rows as another stack has: cut, or with zeros added. A loop that ends early has read fewer
# rows than there are.


def _fit_kernel(x: np.ndarray | Rows, like: np.ndarray | Rows) -> np.ndarray | Rows:
    have, want = len(x), len(like)
    if have == want and have:
        return x
    x, like = readable(x), readable(like)
    if Rows in (type(x), type(like)):
        rows = [row(x, i) if i < have else np.zeros_like(row(like, i)) for i in range(want)]
        return joined(rows, ShapeDtype((want,), dtypes.as_dtype(x.dtype)))
    out = np.zeros((want, *like.shape[1:]), x.dtype)
    if have:
        out[:have] = x[:want]
    return out


def _lower_fit(x: JaxArray | Padded, like: JaxArray | Padded) -> JaxArray | Padded:
    """Rows that are stacks themselves are fitted, too: both sides may have other capacities."""
    stack, rows = x.filled(0) if type(x) is Padded else x, array_of(like)
    if not stack.shape[0]:
        result = lax.full(rows.shape, 0, stack.dtype)
    else:
        kept = lax.slice(stack, [0] * stack.ndim, np.minimum(stack.shape, rows.shape))
        more = [(0, n - m, 0) for m, n in zip(kept.shape, rows.shape, strict=True)]
        result = lax.pad(kept, stack.dtype.type(0), more)
    return like.mapped(lambda _: result) if type(like) is Padded else result


FIT_ROWS = Op(
    "fit_rows",
    "x like",
    kernel=_fit_kernel,
    infer=lambda x, like: ShapeDtype(like.shape, x.dtype),
    lower=_lower_fit,
    grad=(lambda g, x: fit_rows(g, x), None),
    match=(),
    folds=False,
    register=False,
    takes_padded=True,
)


def fit_rows(x: Tensor, like: Tensor) -> Tensor:
    """The first rows of a stack, as many as another has; what is missing is zero."""
    return apply(FIT_ROWS, x, like)
