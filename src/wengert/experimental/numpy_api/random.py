"""The names of `tf.experimental.numpy.random`."""

from wengert.core.missing_names import namespace as _namespace
from wengert.experimental.numpy_api.randoms import (
    poisson,
    rand,
    randint,
    randn,
    random,
    seed,
    standard_normal,
    uniform,
)

__getattr__, __dir__ = _namespace("tf.experimental.numpy.random", globals())
