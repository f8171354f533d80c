"""The names of `tf.raw_ops`."""

from wengert.core.missing_names import missing as _missing
from wengert.ops.raw_ops import (
    Bucketize,
    CudnnRNNV3,
    ImageProjectiveTransformV3,
    UniqueV2,
    UniqueWithCountsV2,
)

__getattr__ = _missing("tf.raw_ops", globals())
