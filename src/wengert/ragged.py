"""The names of `tf.ragged`."""

from wengert.composite.feature_crosses import ragged_cross as cross
from wengert.composite.feature_crosses import ragged_cross_hashed as cross_hashed
from wengert.composite.ragged_joining import stack
from wengert.composite.ragged_make import (
    boolean_mask,
    constant,
    range,
    row_splits_to_segment_ids,
    segment_ids_to_row_splits,
    stack_dynamic_partitions,
)  # fmt: skip
from wengert.composite.ragged_map import map_flat_values
from wengert.core.missing_names import namespace as _namespace

__getattr__, __dir__ = _namespace("tf.ragged", globals())
