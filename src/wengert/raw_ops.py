"""The names of `tf.raw_ops`."""

from wengert.core.missing_names import namespace as _namespace
from wengert.ops.fused_batch_norm import FusedBatchNormV2
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
from wengert.ops.variable_updates import (
    ResourceApplyAdadelta,
    ResourceApplyAdagradV2,
    ResourceApplyAdam,
    ResourceApplyAdaMax,
    ResourceApplyAdamWithAmsgrad,
    ResourceApplyCenteredRMSProp,
    ResourceApplyFtrl,
    ResourceApplyFtrlV2,
    ResourceApplyGradientDescent,
    ResourceApplyKerasMomentum,
    ResourceApplyMomentum,
    ResourceApplyRMSProp,
    ResourceScatterAdd,
    ResourceScatterUpdate,
    ResourceSparseApplyAdadelta,
    ResourceSparseApplyAdagradV2,
    ResourceSparseApplyCenteredRMSProp,
    ResourceSparseApplyFtrl,
    ResourceSparseApplyFtrlV2,
    ResourceSparseApplyKerasMomentum,
    ResourceSparseApplyMomentum,
    ResourceSparseApplyRMSProp,
)

__getattr__, __dir__ = _namespace("tf.raw_ops", globals())
