"""The names of `tf.experimental.dtensor`: none. Keras imports the module for `keras.distribution`."""

from wengert.core.missing_names import missing as _missing

__getattr__ = _missing("tf.experimental.dtensor", globals())
