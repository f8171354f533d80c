"""The names of `tf.raw_ops`."""

from wengert.core.missing_names import namespace as _namespace
from wengert.ops.raw_ops import (
    Bucketize,
    CudnnRNNV3,
    ImageProjectiveTransformV3,
    UniqueV2,
    UniqueWithCountsV2,
)

__getattr__, __dir__ = _namespace("tf.raw_ops", globals())
