"""The names of `tf.experimental.dtensor` that Keras asks for."""

from wengert.core.missing_names import namespace as _namespace
from wengert.experimental.dtensor_classes import DTensorDataset as DTensorDataset
from wengert.experimental.dtensor_classes import DVariable as DVariable

__getattr__, __dir__ = _namespace("tf.experimental.dtensor", globals())
