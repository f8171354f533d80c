"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.checkpoint.checkpoint import Checkpoint as Checkpoint
from wengert.checkpoint.checkpoint import CheckpointOptions as CheckpointOptions
from wengert.checkpoint.manager import CheckpointManager as CheckpointManager
from wengert.checkpoint.object_graph import TrackableView as TrackableView
from wengert.checkpoint.reader import list_variables as list_variables
from wengert.checkpoint.reader import load_checkpoint as load_checkpoint
from wengert.checkpoint.reader import load_variable as load_variable
from wengert.checkpoint.state_file import CheckpointState as CheckpointState
from wengert.checkpoint.state_file import checkpoints_iterator as checkpoints_iterator
from wengert.checkpoint.state_file import get_checkpoint_state as get_checkpoint_state
from wengert.checkpoint.state_file import latest_checkpoint as latest_checkpoint
from wengert.checkpoint.trackable import PythonState as _PythonState
from wengert.io.protobuf_messages import BytesList as BytesList
from wengert.io.protobuf_messages import Example as Example
from wengert.io.protobuf_messages import Feature as Feature
from wengert.io.protobuf_messages import FeatureList as FeatureList
from wengert.io.protobuf_messages import FeatureLists as FeatureLists
from wengert.io.protobuf_messages import Features as Features
from wengert.io.protobuf_messages import FloatList as FloatList
from wengert.io.protobuf_messages import Int64List as Int64List
from wengert.io.protobuf_messages import SequenceExample as SequenceExample
from wengert.ops.moving_average import ExponentialMovingAverage as ExponentialMovingAverage

class experimental:
    PythonState = _PythonState
