"""The names of `tf.sets`."""

from wengert.composite.sets import difference, intersection, size, union
from wengert.core.missing_names import namespace as _namespace

__getattr__, __dir__ = _namespace("tf.sets", globals())
