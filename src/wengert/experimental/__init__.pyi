"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.composite.optional import Optional as Optional
from wengert.composite.ragged_shaping import DynamicRaggedShape as DynamicRaggedShape
from wengert.composite.row_partition import RowPartition as RowPartition
from wengert.experimental import dlpack as dlpack
from wengert.experimental import dtensor as dtensor
from wengert.experimental import numpy as numpy
