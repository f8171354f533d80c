"""The names of `tf.initializers`: those at the root of `tf`, and Keras's on first use."""

from wengert.core.missing_names import or_of_keras as _or_of_keras
from wengert.ops.initializers import (
    Initializer,
    constant_initializer,
    ones_initializer,
    random_normal_initializer,
    random_uniform_initializer,
    zeros_initializer,
)

__getattr__, __dir__ = _or_of_keras("initializers", globals())
