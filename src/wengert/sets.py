"""The names of `tf.sets`."""

from wengert.composite.sets import difference, intersection, size, union
from wengert.core.missing_names import missing as _missing

__getattr__ = _missing("tf.sets", globals())
