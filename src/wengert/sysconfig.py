"""The names of `tf.sysconfig`; there is nothing to compile against."""

from wengert.core.missing_names import namespace as _namespace
from wengert.runtime.builds import get_build_info

__getattr__, __dir__ = _namespace("tf.sysconfig", globals())
