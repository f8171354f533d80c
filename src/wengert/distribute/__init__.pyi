"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.distribute.strategies import DistributedDataset as DistributedDataset
from wengert.distribute.strategies import DistributedIterator as DistributedIterator
from wengert.distribute.strategies import DistributedValues as DistributedValues
from wengert.distribute.strategies import InputContext as InputContext
from wengert.distribute.strategies import InputOptions as InputOptions
from wengert.distribute.strategies import MirroredStrategy as MirroredStrategy
from wengert.distribute.strategies import MultiWorkerMirroredStrategy as MultiWorkerMirroredStrategy
from wengert.distribute.strategies import OneDeviceStrategy as OneDeviceStrategy
from wengert.distribute.strategies import ParameterServerStrategy as ParameterServerStrategy
from wengert.distribute.strategies import ReduceOp as ReduceOp
from wengert.distribute.strategies import ReplicaContext as ReplicaContext
from wengert.distribute.strategies import RunOptions as RunOptions
from wengert.distribute.strategies import Strategy as Strategy
from wengert.distribute.strategies import StrategyExtended as StrategyExtended
from wengert.distribute.strategies import TPUStrategy as TPUStrategy
from wengert.distribute.strategies import experimental_set_strategy as experimental_set_strategy
from wengert.distribute.strategies import get_replica_context as get_replica_context
from wengert.distribute.strategies import get_strategy as get_strategy
from wengert.distribute.strategies import has_strategy as has_strategy
from wengert.distribute.strategies import in_cross_replica_context as in_cross_replica_context
from wengert.distribute.tpu import TPUClusterResolver as _TPUClusterResolver

class cluster_resolver:
    TPUClusterResolver = _TPUClusterResolver
