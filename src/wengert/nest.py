"""The names of `tf.nest`."""

from wengert.core.missing_names import namespace as _namespace
from wengert.core.nest import (
    assert_same_structure,
    flatten,
    is_nested,
    map_structure,
    pack_sequence_as,
)

__getattr__, __dir__ = _namespace("tf.nest", globals())
