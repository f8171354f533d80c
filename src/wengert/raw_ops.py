"""The names of `tf.raw_ops`."""

from wengert.core.missing_names import namespace as _namespace
from wengert.ops.raw_ops import (
    BroadcastGradientArgs,
    Bucketize,
    CudnnRNNV3,
    IgammaGradA,
    ImageProjectiveTransformV3,
    MatrixDiagPartV2,
    RandomGammaGrad,
    UniqueV2,
    UniqueWithCountsV2,
)

__getattr__, __dir__ = _namespace("tf.raw_ops", globals())
