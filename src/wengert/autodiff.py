"""The names of `tf.autodiff`."""

from wengert.tape.forward import ForwardAccumulator
from wengert.tape.gradient_tape import GradientTape

__all__ = ["ForwardAccumulator", "GradientTape"]
