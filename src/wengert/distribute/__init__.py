"""The names of `tf.distribute`."""

from types import SimpleNamespace as _Namespace

from wengert.core.missing_names import namespace as _namespace
from wengert.distribute import mirrored as _mirrored
from wengert.distribute import reduce_ops as _reduce_ops
from wengert.distribute.distributed_dataset import DistributedDataset, DistributedIterator
from wengert.distribute.input_options import (
    InputContext,
    InputOptions,
    InputReplicationMode,
    RunOptions,
)
from wengert.distribute.input_options import ValueContext as _ValueContext
from wengert.distribute.mirrored import (
    MirroredStrategy,
    MultiWorkerMirroredStrategy,
    OneDeviceStrategy,
    ParameterServerStrategy,
    TPUStrategy,
)
from wengert.distribute.reduce_ops import (
    CrossDeviceOps,
    HierarchicalCopyAllReduce,
    NcclAllReduce,
    ReduceOp,
    ReductionToOneDevice,
)
from wengert.distribute.strategies import (
    DistributedValues,
    ReplicaContext,
    Strategy,
    StrategyExtended,
    experimental_set_strategy,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)
from wengert.distribute.tpu import TPUClusterResolver as _TPUClusterResolver

cluster_resolver = _Namespace(TPUClusterResolver=_TPUClusterResolver)
experimental = _Namespace(
    CentralStorageStrategy=_mirrored.CentralStorageStrategy,
    CollectiveCommunication=_reduce_ops.CommunicationImplementation,
    CollectiveHints=_reduce_ops.CollectiveHints,
    CommunicationImplementation=_reduce_ops.CommunicationImplementation,
    CommunicationOptions=_reduce_ops.CommunicationOptions,
    MultiWorkerMirroredStrategy=_mirrored.OldMultiWorkerMirroredStrategy,
    ParameterServerStrategy=ParameterServerStrategy,
    TPUStrategy=_mirrored.OldTPUStrategy,
    ValueContext=_ValueContext,
)

__getattr__, __dir__ = _namespace("tf.distribute", globals())
