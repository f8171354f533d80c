"""Wengert: TensorFlow-2-style programs on NumPy and XLA, explained. `import wengert as tf`."""

from wengert.ops import operators as _operators  # puts the operators on tensors

from wengert import autodiff, bitwise, debugging, dtypes, experimental, image, linalg, math, nn, random, signal, strings
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
from wengert.ops.arithmetic import (
    add, add_n, divide, multiply, negative, realdiv, scalar_mul, subtract, truediv,
)  # fmt: skip
from wengert.ops.cast import bitcast, cast, ensure_shape, saturate_cast
from wengert.ops.checks import Assert, print_ as print
from wengert.ops.compare import equal, greater, greater_equal, less, less_equal, not_equal
from wengert.ops.complex import complex
from wengert.ops.blocks import (
    batch_to_space, required_space_to_batch_paddings, space_to_batch, space_to_batch_nd,
)  # fmt: skip
from wengert.ops.create import (
    constant, eye, fill, linspace, meshgrid, ones, ones_like, range, zeros, zeros_like,
)  # fmt: skip
from wengert.ops.dims import (
    broadcast_dynamic_shape, broadcast_static_shape, expand_dims, get_static_value, rank, shape,
    shape_n, size, squeeze,
)  # fmt: skip
from wengert.ops.division import truncatediv, truncatemod
from wengert.ops.gather import gather, gather_nd
from wengert.ops.indexing import boolean_mask, one_hot, sequence_mask, unravel_index
from wengert.ops.logical import logical_and, logical_not, logical_or
from wengert.ops.einsum import einsum
from wengert.ops.matmul import matmul
from wengert.ops.tensordot import tensordot
from wengert.ops.padding import pad
from wengert.ops.partition import dynamic_partition, dynamic_stitch
from wengert.ops.power import exp, pow, sqrt, square
from wengert.ops.histogram import histogram_fixed_width, histogram_fixed_width_bins
from wengert.ops.norms import clip_by_global_norm, clip_by_norm, norm
from wengert.ops.positions import argmax, argmin, searchsorted
from wengert.ops.reduce import (
    reduce_all, reduce_any, reduce_max, reduce_mean, reduce_min, reduce_prod, reduce_sum,
)  # fmt: skip
from wengert.ops.scan import cumsum
from wengert.ops.sorting import argsort, sort
from wengert.ops.statistics import reduce_logsumexp
from wengert.ops.unique import unique, unique_with_counts
from wengert.ops.reordering import reverse, reverse_sequence, roll
from wengert.ops.repeating import repeat, tile
from wengert.ops.scatter import (
    scatter_nd, tensor_scatter_nd_add, tensor_scatter_nd_max, tensor_scatter_nd_min,
    tensor_scatter_nd_sub, tensor_scatter_nd_update,
)  # fmt: skip
from wengert.ops.select import clip_by_value, maximum, minimum, where
from wengert.ops.shaping import (
    broadcast_to, concat, identity, identity_n, parallel_stack, reshape, split, stack,
    stop_gradient, transpose, unstack,
)  # fmt: skip
from wengert.ops.slicing import slice, strided_slice
from wengert.ops.trigonometric import (
    acos, acosh, asin, asinh, atan, atan2, atanh, cos, cosh, sin, sinh, tan,
)  # fmt: skip
from wengert.ops.unary import abs, floor, round, sigmoid, sign, tanh
from wengert.module import Module
from wengert.placement import control_dependencies, device
from wengert.tape.custom import custom_gradient, grad_pass_through, recompute_grad
from wengert.tape.gradient_tape import GradientTape, UnconnectedGradients

newaxis = None
half, double = float16, float64

__getattr__ = _missing("tf", globals())
