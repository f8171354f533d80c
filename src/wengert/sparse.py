"""The names of `tf.sparse`."""

from wengert.composite.feature_crosses import cross, cross_hashed
from wengert.composite.sparse_counts import bincount
from wengert.composite.sparse_elements import (
    add,
    from_dense,
    map_values,
    mask,
    maximum,
    minimum,
    retain,
    softmax,
    to_dense,
    to_indicator,
)  # fmt: skip
from wengert.composite.sparse_rows import (
    fill_empty_rows,
    reduce_max,
    reduce_sum,
    sparse_dense_matmul,
)  # fmt: skip
from wengert.composite.sparse_segments import segment_mean, segment_sqrt_n, segment_sum
from wengert.composite.sparse_shaping import (
    concat,
    expand_dims,
    eye,
    reorder,
    reset_shape,
    reshape,
    slice,
    split,
    transpose,
)  # fmt: skip
from wengert.composite.sparse_tensor import SparseTensor
from wengert.core.missing_names import namespace as _namespace

__getattr__, __dir__ = _namespace("tf.sparse", globals())
