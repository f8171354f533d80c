"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.composite.feature_crosses import ragged_cross as _cross
from wengert.composite.feature_crosses import ragged_cross_hashed as _cross_hashed
from wengert.composite.ragged_joining import stack as stack
from wengert.composite.ragged_make import boolean_mask as boolean_mask
from wengert.composite.ragged_make import constant as constant
from wengert.composite.ragged_make import range as range
from wengert.composite.ragged_make import row_splits_to_segment_ids as row_splits_to_segment_ids
from wengert.composite.ragged_make import segment_ids_to_row_splits as segment_ids_to_row_splits
from wengert.composite.ragged_make import stack_dynamic_partitions as stack_dynamic_partitions
from wengert.composite.ragged_map import map_flat_values as map_flat_values

cross = _cross
cross_hashed = _cross_hashed
