"""The names of `tf.autodiff`."""

from wengert.core.missing_names import missing as _missing
from wengert.tape.forward import ForwardAccumulator
from wengert.tape.gradient_tape import GradientTape

__all__ = ["ForwardAccumulator", "GradientTape"]

__getattr__ = _missing("tf.autodiff", globals())
