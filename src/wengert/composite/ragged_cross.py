"""Crosses of features that are ragged, sparse or dense, as ragged tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wengert.composite import sparse_cross
from wengert.composite.ragged_convert import from_sparse, to_sparse
from wengert.composite.ragged_tensor import RaggedTensor
from wengert.core import dtypes
from wengert.core.errors import invalid

if TYPE_CHECKING:
    from wengert.core.types import TensorLike


def cross(inputs: TensorLike, name: str | None = None) -> RaggedTensor:
    """Every combination of the features' values in a row, as text.

    >>> tf.ragged.cross([tf.ragged.constant([["a"], ["b", "c"]]), [["d"], ["e"]]]).to_list()
    [[b'a_X_d'], [b'b_X_e', b'c_X_e']]
    """
    return _crossed("ragged.cross", sparse_cross.crossed, inputs)


def cross_hashed(
    inputs: TensorLike, num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> RaggedTensor:
    """Every combination of the features' values in a row, as a number below `num_buckets`."""
    function = sparse_cross.crossed_hashed
    return _crossed("ragged.cross_hashed", function, inputs, num_buckets, hash_key)


def _crossed(
    name: str, function: Callable[..., Any], inputs: Any, *options: int | None
) -> RaggedTensor:
    features = list(inputs) if isinstance(inputs, list | tuple) else []
    rows = [x for x in features if isinstance(x, RaggedTensor)]
    if any(x.shape.rank not in (2, None) for x in rows):
        raise invalid(name, "a feature has rows of values", *rows)
    # Features that are not ragged go with rows of either type; alone they make int64.
    kind = max((x.row_splits.dtype for x in rows), key=lambda k: k.size, default=dtypes.int64)
    plain = [to_sparse(x) if isinstance(x, RaggedTensor) else x for x in features]
    return from_sparse(function(name, plain, *options), kind)
