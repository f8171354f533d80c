"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.ops.raw_ops import BroadcastGradientArgs as BroadcastGradientArgs
from wengert.ops.raw_ops import Bucketize as Bucketize
from wengert.ops.raw_ops import CudnnRNNV3 as CudnnRNNV3
from wengert.ops.raw_ops import IgammaGradA as IgammaGradA
from wengert.ops.raw_ops import ImageProjectiveTransformV3 as ImageProjectiveTransformV3
from wengert.ops.raw_ops import MatrixDiagPartV2 as MatrixDiagPartV2
from wengert.ops.raw_ops import RandomGammaGrad as RandomGammaGrad
from wengert.ops.raw_ops import UniqueV2 as UniqueV2
from wengert.ops.raw_ops import UniqueWithCountsV2 as UniqueWithCountsV2
