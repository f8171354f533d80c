"""The names of `tf.autodiff`."""

from wengert.core.missing_names import namespace as _namespace
from wengert.tape.forward import ForwardAccumulator
from wengert.tape.gradient_tape import GradientTape

__all__ = ["ForwardAccumulator", "GradientTape"]

__getattr__, __dir__ = _namespace("tf.autodiff", globals())
