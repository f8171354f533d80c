"""Wengert: TensorFlow-2-style programs on NumPy and XLA, explained. `import wengert as tf`."""

from wengert.ops import operators as _operators  # puts the operators on tensors

from wengert import autodiff, bitwise, debugging, image, linalg, math, nn, random, signal, strings
from wengert.core import errors, nest
from wengert.core.context import executing_eagerly
from wengert.core.convert import to_tensor as convert_to_tensor
from wengert.core.dtypes import (
    DType, as_dtype, bfloat16, bool_ as bool, complex64, complex128, float16, float32, float64,
    int8, int16, int32, int64, string, uint8, uint16, uint32, uint64,
)  # fmt: skip
from wengert.core.indexed_slices import IndexedSlices
from wengert.core.missing import missing as _missing
from wengert.core.names import name_scope
from wengert.core.shapes import TensorShape
from wengert.core.spec import TensorSpec, TypeSpec
from wengert.core.tensor import Tensor, is_tensor
from wengert.core.variable import Variable, VariableAggregation, VariableSynchronization
from wengert.ops.arithmetic import add, divide, exp, multiply, negative, subtract, tanh
from wengert.ops.cast import cast
from wengert.ops.checks import Assert, print_ as print
from wengert.ops.create import constant, ones, ones_like, zeros, zeros_like
from wengert.ops.gather import gather
from wengert.ops.matmul import matmul
from wengert.ops.reduce import reduce_sum
from wengert.ops.shaping import (
    broadcast_to, concat, identity, reshape, split, stack, stop_gradient, transpose, unstack,
)  # fmt: skip
from wengert.module import Module
from wengert.placement import control_dependencies, device
from wengert.tape.custom import custom_gradient, grad_pass_through, recompute_grad
from wengert.tape.gradient_tape import GradientTape, UnconnectedGradients

newaxis = None

__getattr__ = _missing("tf", globals())
