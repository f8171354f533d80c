"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.distribute import mirrored as _mirrored
from wengert.distribute import reduce_ops as _reduce_ops
from wengert.distribute.distributed_dataset import DistributedDataset as DistributedDataset
from wengert.distribute.distributed_dataset import DistributedIterator as DistributedIterator
from wengert.distribute.input_options import InputContext as InputContext
from wengert.distribute.input_options import InputOptions as InputOptions
from wengert.distribute.input_options import InputReplicationMode as InputReplicationMode
from wengert.distribute.input_options import RunOptions as RunOptions
from wengert.distribute.input_options import ValueContext as _ValueContext
from wengert.distribute.mirrored import MirroredStrategy as MirroredStrategy
from wengert.distribute.mirrored import MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
from wengert.distribute.mirrored import OneDeviceStrategy as OneDeviceStrategy
from wengert.distribute.mirrored import ParameterServerStrategy as ParameterServerStrategy
from wengert.distribute.mirrored import ParameterServerStrategy as _ParameterServerStrategy
from wengert.distribute.mirrored import TPUStrategy as TPUStrategy
from wengert.distribute.reduce_ops import CrossDeviceOps as CrossDeviceOps
from wengert.distribute.reduce_ops import HierarchicalCopyAllReduce as HierarchicalCopyAllReduce
from wengert.distribute.reduce_ops import NcclAllReduce as NcclAllReduce
from wengert.distribute.reduce_ops import ReduceOp as ReduceOp
from wengert.distribute.reduce_ops import ReductionToOneDevice as ReductionToOneDevice
from wengert.distribute.strategies import DistributedValues as DistributedValues
from wengert.distribute.strategies import ReplicaContext as ReplicaContext
from wengert.distribute.strategies import Strategy as Strategy
from wengert.distribute.strategies import StrategyExtended as StrategyExtended
from wengert.distribute.strategies import experimental_set_strategy as experimental_set_strategy
from wengert.distribute.strategies import get_replica_context as get_replica_context
from wengert.distribute.strategies import get_strategy as get_strategy
from wengert.distribute.strategies import has_strategy as has_strategy
from wengert.distribute.strategies import in_cross_replica_context as in_cross_replica_context
from wengert.distribute.tpu import TPUClusterResolver as _TPUClusterResolver

class cluster_resolver:
    TPUClusterResolver = _TPUClusterResolver

class experimental:
    CentralStorageStrategy = _mirrored.CentralStorageStrategy
    CollectiveCommunication = _reduce_ops.CommunicationImplementation
    CollectiveHints = _reduce_ops.CollectiveHints
    CommunicationImplementation = _reduce_ops.CommunicationImplementation
    CommunicationOptions = _reduce_ops.CommunicationOptions
    MultiWorkerMirroredStrategy = _mirrored.OldMultiWorkerMirroredStrategy
    ParameterServerStrategy = _ParameterServerStrategy
    TPUStrategy = _mirrored.OldTPUStrategy
    ValueContext = _ValueContext
