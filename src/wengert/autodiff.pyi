"""Made by `python -m tools.stubs`: the names that checkers and editors see."""

from wengert.tape.forward import ForwardAccumulator as ForwardAccumulator
from wengert.tape.gradient_tape import GradientTape as GradientTape
