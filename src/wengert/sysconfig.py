"""The names of `tf.sysconfig`; there is nothing to compile against."""

from wengert.core.missing_names import missing as _missing
from wengert.runtime.builds import get_build_info

__getattr__ = _missing("tf.sysconfig", globals())
