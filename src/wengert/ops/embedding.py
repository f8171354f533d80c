"""Looking up rows of a table; the gradient stays row-sparse."""

from __future__ import annotations

from typing import Any

from wengert.core.composite_operands import CompositeOperand
from wengert.ops.declare import (
    Tensor,
    TensorLike,
    operand,
    require,
    require_dtype,
    tf,
    with_fallback,
)


@with_fallback
def embedding_lookup(
    params: TensorLike, ids: Any, max_norm: TensorLike | None = None, name: str | None = None
) -> Tensor:
    """The rows of `params` named by `ids`, each shortened to `max_norm` where that is given.

    A list of tables counts as one, cut into consecutive parts. An id outside is an error.

    Args:
        params: the table, a tensor or variable, or a list of tables that are parts of it.
        ids: whole numbers from 0.
        max_norm: the largest length of a row.
        name: without effect.

    Returns:
        A tensor `[*ids.shape, *params.shape[1:]]`.

    Raises:
        InvalidArgumentError: an id is outside.

    >>> table = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    >>> tf.nn.embedding_lookup(table, [1, 0]).numpy().tolist()
    [[3.0, 4.0], [1.0, 2.0]]
    """
    require(
        params is not None and (not isinstance(params, list | tuple) or params),
        "embedding_lookup",
        "`params` must be a table or a list of tables",
    )
    if isinstance(params, list | tuple):
        params = params[0] if len(params) == 1 else tf.concat(list(params), 0)
    require_dtype(
        not isinstance(params, CompositeOperand),
        "embedding_lookup",
        "`params` must be a dense table",
        params,
    )
    ids = operand(ids)
    rows = tf.gather(params, ids)
    if max_norm is None:
        return rows
    return tf.clip_by_norm(rows, max_norm, axes=list(range(ids.ndim, rows.ndim)))
