"""Sums of picked rows: `tf.sparse.segment_*`, and embeddings of sets of ids."""

from __future__ import annotations

from typing import Any

from wengert.composite.sparse_elements import retain
from wengert.composite.sparse_rows import fill_empty_rows
from wengert.composite.sparse_shaping import reshape as reshape_sparse
from wengert.composite.sparse_tensor import SparseTensor, as_sparse
from wengert.composite.values import pick
from wengert.ops.arithmetic import divide
from wengert.ops.declare import (
    IndexedSlices,
    Tensor,
    TensorLike,
    at_site,
    describe,
    dtypes,
    operand,
    require,
    tf,
)

_COMBINERS = ("mean", "sqrtn", "sum")


def segment_sum(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """Sums the rows of `data` that `indices` name, into the segments of sorted `segment_ids`."""
    return _totals(_picked(data, indices, sparse_gradient), operand(segment_ids), num_segments)


def segment_mean(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """The mean of the rows of `data` that `indices` name, segment by segment."""
    rows, ids = _picked(data, indices, sparse_gradient), operand(segment_ids)
    return divide(_totals(rows, ids, num_segments), _counts(rows, ids, num_segments))


def segment_sqrt_n(
    data: TensorLike,
    indices: TensorLike,
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    name: str | None = None,
    sparse_gradient: bool = False,
) -> Tensor:
    """The sum of the rows that `indices` name over the root of their count."""
    rows, ids = _picked(data, indices, sparse_gradient), operand(segment_ids)
    return divide(_totals(rows, ids, num_segments), tf.sqrt(_counts(rows, ids, num_segments)))


def _picked(data: TensorLike, indices: TensorLike, sparse_gradient: bool) -> Tensor:
    return (tf.gather if sparse_gradient else pick)(operand(data), operand(indices))


def _totals(rows: Tensor, ids: Tensor, count: TensorLike | None) -> Tensor:
    if count is None:
        return tf.segment_sum(rows, ids)
    return tf.unsorted_segment_sum(rows, ids, count)


def _counts(rows: Tensor, ids: Tensor, count: TensorLike | None) -> Tensor:
    """How many rows each segment has, at least 1, in a shape that divides the totals."""
    result = _totals(tf.ones_like(ids, rows.dtype), ids, count)
    return _beside(tf.maximum(result, 1), rows)


def _beside(x: Tensor | IndexedSlices, rows: Tensor) -> Tensor:
    """A vector in a shape that goes with the rows of a tensor."""
    if rows.shape.rank is None:
        return tf.reshape(x, tf.concat([[-1], tf.ones_like(tf.shape(rows)[1:])], 0))
    return tf.reshape(x, [-1] + [1] * (rows.shape.rank - 1))


def embedding_lookup_sparse(
    params: TensorLike,
    sp_ids: TensorLike,
    sp_weights: TensorLike | None,
    combiner: str | None = None,
    max_norm: TensorLike | None = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """Combines the rows of a table that each row of ids (sparse or ragged) names.

    The combiner is `mean` (of weights, where given), `sum` or `sqrtn`. Rows without ids at the
    end are left out; `safe_embedding_lookup_sparse` keeps them.
    """
    how = _combiner(combiner)
    ids, segments = _ids_and_rows(sp_ids)
    # Each row of the table once, so that its gradient names it once: optimizers square gradients.
    different, places = tf.unique(ids)
    rows = tf.gather(tf.embedding_lookup(params, different, max_norm), places)
    if sp_weights is None:
        total, weights = tf.segment_sum(rows, segments), tf.ones_like(ids, rows.dtype)
    else:
        weights = tf.cast(_weights(sp_ids, sp_weights), rows.dtype)
        total = tf.segment_sum(tf.multiply(rows, _beside(weights, rows)), segments)
    if how == "sum":
        return total
    norm = tf.segment_sum(weights if how == "mean" else tf.square(weights), segments)
    norm = norm if how == "mean" else tf.sqrt(norm)
    return tf.divide_no_nan(total, _beside(norm, rows))


def _combiner(combiner: str | None) -> str:
    how = "mean" if combiner is None else combiner
    require(
        how in _COMBINERS,
        "embedding_lookup_sparse",
        f"`combiner` must be one of {_COMBINERS}; got {how!r}",
        kind=ValueError,
    )
    return how


def _ids_and_rows(ids: Any) -> tuple[Tensor, Tensor]:
    if isinstance(ids, SparseTensor):
        return ids.values, ids.indices[:, 0]
    if hasattr(ids, "value_rowids"):
        return ids.flat_values, ids.value_rowids()
    raise at_site(
        TypeError(
            "embedding_lookup_sparse: `sp_ids` must be a sparse or ragged tensor; got "
            f"{describe(ids)}."
        )
    )


def _weights(ids: Any, weights: Any) -> Any:
    require(
        type(weights) is type(ids),
        "embedding_lookup_sparse",
        "`sp_weights` must be of the kind of `sp_ids`",
        weights,
        kind=TypeError,
    )
    result = weights.values if isinstance(weights, SparseTensor) else weights.flat_values
    require(
        result.shape.is_compatible_with(_ids_and_rows(ids)[0].shape),
        "embedding_lookup_sparse",
        "`sp_weights` must go with `sp_ids`",
        result,
    )
    return result


def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike,
    sparse_ids: TensorLike,
    sparse_weights: TensorLike | None = None,
    combiner: str = "mean",
    default_id: TensorLike | None = None,
    max_norm: Any = None,
    name: str | None = None,
    allow_fast_lookup: bool = False,
) -> Tensor:
    """`embedding_lookup_sparse` that passes over negative ids and keeps rows without any.

    Such rows get the vector of `default_id`, or zeros. The last axis of `sparse_ids` is combined.
    """
    ids = as_sparse("safe_embedding_lookup_sparse", sparse_ids)
    lead = ids.dense_shape[:-1]
    flat = tf.stack([tf.reduce_prod(lead), ids.dense_shape[-1]])
    ids = reshape_sparse(ids, flat)
    weights = None if sparse_weights is None else reshape_sparse(sparse_weights, flat)
    ids, weights = _pruned(ids, weights, combiner)
    ids, empty = fill_empty_rows(ids, default_id or 0)
    if weights is not None:
        weights, _ = fill_empty_rows(weights, 1.0)
    result = embedding_lookup_sparse(embedding_weights, ids, weights, combiner, max_norm)
    if default_id is None:
        result = tf.where(_beside(empty, result), tf.zeros_like(result), result)
    return tf.reshape(result, tf.concat([tf.cast(lead, dtypes.int32), tf.shape(result)[1:]], 0))


def _pruned(
    ids: SparseTensor, weights: SparseTensor | None, combiner: str
) -> tuple[SparseTensor, SparseTensor | None]:
    """Without ids that are negative, and without weights that are not positive."""
    keep = tf.greater_equal(ids.values, 0)
    if weights is None:
        return retain(ids, keep), None
    if combiner != "sum":
        keep = tf.logical_and(keep, tf.greater(weights.values, 0))
    return retain(ids, keep), retain(weights, keep)
