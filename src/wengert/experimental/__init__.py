"""The names of `tf.experimental`."""

from wengert.composite.optional import Optional
from wengert.composite.ragged_shaping import DynamicRaggedShape
from wengert.composite.row_partition import RowPartition
from wengert.core.missing_names import namespace as _namespace
from wengert.experimental import dlpack, dtensor, numpy

__getattr__, __dir__ = _namespace("tf.experimental", globals())
