"""The names of `tf.experimental`."""

from wengert.core.missing import missing as _missing
from wengert.experimental import dlpack

__getattr__ = _missing("tf.experimental", globals())
