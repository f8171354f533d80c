"""The names of `tf.distribute`, for one device."""

from types import SimpleNamespace as _Namespace

from wengert.core.missing_names import namespace as _namespace
from wengert.distribute.strategies import (
    DistributedDataset,
    DistributedIterator,
    DistributedValues,
    InputContext,
    InputOptions,
    MirroredStrategy,
    MultiWorkerMirroredStrategy,
    OneDeviceStrategy,
    ParameterServerStrategy,
    ReduceOp,
    ReplicaContext,
    RunOptions,
    Strategy,
    StrategyExtended,
    TPUStrategy,
    experimental_set_strategy,
    get_replica_context,
    get_strategy,
    has_strategy,
    in_cross_replica_context,
)
from wengert.distribute.tpu import TPUClusterResolver as _TPUClusterResolver

cluster_resolver = _Namespace(TPUClusterResolver=_TPUClusterResolver)

__getattr__, __dir__ = _namespace("tf.distribute", globals())
