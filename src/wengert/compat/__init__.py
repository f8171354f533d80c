"""The names of `tf.compat`: text and bytes, and the two names under which TensorFlow 2 is found."""

from wengert.compat.text import (
    as_bytes,
    as_str,
    as_str_any,
    as_text,
    bytes_or_text_types,
    complex_types,
    dimension_value,
    forward_compatible,
    integral_types,
    path_to_str,
    real_types,
)
from wengert.core.name_tables import lazily as _lazily

_PLACES = {"v1": ("wengert.compat.v1", "*"), "v2": ("wengert", "*")}

__getattr__, __dir__ = _lazily("tf.compat", _PLACES, globals())
