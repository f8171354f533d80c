"""The names of `tf.experimental.dtensor` that Keras asks for."""

from wengert.core.missing_names import namespace as _namespace

__getattr__, __dir__ = _namespace("tf.experimental.dtensor", globals())
