"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.ops.fused_batch_norm import FusedBatchNormV2 as FusedBatchNormV2
from wengert.ops.raw_ops import BroadcastGradientArgs as BroadcastGradientArgs
from wengert.ops.raw_ops import Bucketize as Bucketize
from wengert.ops.raw_ops import CudnnRNNV3 as CudnnRNNV3
from wengert.ops.raw_ops import IgammaGradA as IgammaGradA
from wengert.ops.raw_ops import ImageProjectiveTransformV3 as ImageProjectiveTransformV3
from wengert.ops.raw_ops import MatrixDiagPartV2 as MatrixDiagPartV2
from wengert.ops.raw_ops import RandomGammaGrad as RandomGammaGrad
from wengert.ops.raw_ops import UniqueV2 as UniqueV2
from wengert.ops.raw_ops import UniqueWithCountsV2 as UniqueWithCountsV2
from wengert.ops.variable_updates import ResourceApplyAdadelta as ResourceApplyAdadelta
from wengert.ops.variable_updates import ResourceApplyAdagradV2 as ResourceApplyAdagradV2
from wengert.ops.variable_updates import ResourceApplyAdam as ResourceApplyAdam
from wengert.ops.variable_updates import ResourceApplyAdaMax as ResourceApplyAdaMax
from wengert.ops.variable_updates import (
    ResourceApplyAdamWithAmsgrad as ResourceApplyAdamWithAmsgrad,
)
from wengert.ops.variable_updates import (
    ResourceApplyCenteredRMSProp as ResourceApplyCenteredRMSProp,
)
from wengert.ops.variable_updates import ResourceApplyFtrl as ResourceApplyFtrl
from wengert.ops.variable_updates import ResourceApplyFtrlV2 as ResourceApplyFtrlV2
from wengert.ops.variable_updates import (
    ResourceApplyGradientDescent as ResourceApplyGradientDescent,
)
from wengert.ops.variable_updates import ResourceApplyKerasMomentum as ResourceApplyKerasMomentum
from wengert.ops.variable_updates import ResourceApplyMomentum as ResourceApplyMomentum
from wengert.ops.variable_updates import ResourceApplyRMSProp as ResourceApplyRMSProp
from wengert.ops.variable_updates import ResourceScatterAdd as ResourceScatterAdd
from wengert.ops.variable_updates import ResourceScatterUpdate as ResourceScatterUpdate
from wengert.ops.variable_updates import ResourceSparseApplyAdadelta as ResourceSparseApplyAdadelta
from wengert.ops.variable_updates import (
    ResourceSparseApplyAdagradV2 as ResourceSparseApplyAdagradV2,
)
from wengert.ops.variable_updates import (
    ResourceSparseApplyCenteredRMSProp as ResourceSparseApplyCenteredRMSProp,
)
from wengert.ops.variable_updates import ResourceSparseApplyFtrl as ResourceSparseApplyFtrl
from wengert.ops.variable_updates import ResourceSparseApplyFtrlV2 as ResourceSparseApplyFtrlV2
from wengert.ops.variable_updates import (
    ResourceSparseApplyKerasMomentum as ResourceSparseApplyKerasMomentum,
)
from wengert.ops.variable_updates import ResourceSparseApplyMomentum as ResourceSparseApplyMomentum
from wengert.ops.variable_updates import ResourceSparseApplyRMSProp as ResourceSparseApplyRMSProp
