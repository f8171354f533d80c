"""The names of `tf.train`: checkpoints, examples in records, and averages of variables."""

from types import SimpleNamespace as _Namespace

from wengert.checkpoint.checkpoint import Checkpoint, CheckpointOptions
from wengert.checkpoint.manager import CheckpointManager
from wengert.checkpoint.object_graph import TrackableView
from wengert.checkpoint.reader import list_variables, load_checkpoint, load_variable
from wengert.checkpoint.state_file import (
    CheckpointState,
    checkpoints_iterator,
    get_checkpoint_state,
    latest_checkpoint,
)
from wengert.checkpoint.trackable import PythonState as _PythonState
from wengert.core.name_tables import lazily as _lazily
from wengert.core.name_tables import read as _read
from wengert.ops.moving_average import ExponentialMovingAverage

experimental = _Namespace(PythonState=_PythonState)

# Messages import protobuf when a program first uses one.
_MESSAGES = """BytesList Example Feature FeatureList FeatureLists Features FloatList Int64List
    SequenceExample"""
_PLACES = _read({"io.protobuf_messages": _MESSAGES})

__getattr__, __dir__ = _lazily("tf.train", _PLACES, globals())
