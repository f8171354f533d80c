"""Wengert: TensorFlow-2-style programs on NumPy and XLA, explained. `import wengert as tf`.

What every program needs is imported here; the rest stands in a table and comes on first use.
"""

from wengert._version import __version__
from wengert.core import tracebacks as _tracebacks  # shows errors by the program's own frames
from wengert.core.context import executing_eagerly, get_current_name_scope, name_scope
from wengert.core.convert import to_tensor as convert_to_tensor
from wengert.core.dtypes import (
    DType,
    as_dtype,
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
)
from wengert.core.dtypes import bool_ as bool
from wengert.core.indexed_slices import IndexedSlices
from wengert.core.name_tables import lazily as _lazily
from wengert.core.name_tables import read as _read
from wengert.core.shapes import TensorShape
from wengert.core.tensor import Tensor, is_tensor
from wengert.core.tensor_spec import TensorSpec, TypeSpec
from wengert.core.variable import Variable, VariableAggregation, VariableSynchronization
from wengert.ops import array_methods as _methods  # gives tensors NumPy's methods
from wengert.ops import numpy_protocols as _numpy  # lets NumPy functions take tensors
from wengert.ops import operators as _operators  # puts the operators on tensors
from wengert.ops import slicing as _slicing  # and indexing
from wengert.ops import updates as _updates  # lets variables change inside functions
from wengert.tape.gradient_tape import GradientTape, UnconnectedGradients

newaxis = None
half, double = float16, float64

_PLACES = _read(
    {
        "composite.sequences": "edit_distance",
        "composite.optional": "OptionalSpec",
        "composite.ragged_spec": "RaggedTensorSpec",
        "composite.ragged_tensor": "RaggedTensor",
        "composite.sparse_tensor": "SparseTensor SparseTensorSpec",
        "composite.values": "type_spec_from_value",
        "core.convert": "register_tensor_conversion_function",
        "core.indexed_slices": "IndexedSlicesSpec",
        "core.variable_creators": "variable_creator_scope",
        "engines.engine_choice": "engine",
        "functions.vectorized_map": "vectorized_map",
        "functions.cond": "case cond switch_case",
        "functions.while_loop": "while_loop",
        "functions.function": "function",
        "functions.functional": "foldl foldr map_fn scan",
        "functions.graph_gradients": "gradients hessians",
        "functions.host_calls": "numpy_function py_function timestamp",
        "functions.tensor_array": "TensorArray",
        "ops.initializers": (
            "constant_initializer ones_initializer random_normal_initializer "
            "random_uniform_initializer zeros_initializer"
        ),
        "checkpoint.module": "Module",
        "ops.arithmetic": "add add_n divide multiply negative realdiv scalar_mul subtract truediv",
        "ops.blocks": (
            "batch_to_space required_space_to_batch_paddings space_to_batch space_to_batch_nd"
        ),
        "ops.cast": "bitcast cast ensure_shape saturate_cast",
        "ops.checks": "Assert assert_equal assert_greater assert_less assert_rank print_=print",
        "ops.compare": (
            "equal greater greater_equal less less_equal logical_and logical_not logical_or "
            "not_equal"
        ),
        "ops.complex": "complex",
        "ops.create": "constant eye fill linspace meshgrid ones ones_like range zeros zeros_like",
        "ops.dims": (
            "broadcast_dynamic_shape broadcast_static_shape expand_dims get_static_value rank "
            "shape shape_n size squeeze"
        ),
        "ops.division": "truncatediv truncatemod",
        "ops.eigen": "eig eigvals",
        "ops.einsum": "einsum",
        "ops.gather": "gather gather_nd",
        "ops.histogram": "histogram_fixed_width histogram_fixed_width_bins",
        "ops.indexing": "boolean_mask one_hot sequence_mask unravel_index",
        "ops.matmul": "matmul",
        "ops.norms": "clip_by_global_norm clip_by_norm norm",
        "ops.padding": "pad",
        "ops.partition": "dynamic_partition dynamic_stitch",
        "ops.positions": "argmax argmin searchsorted",
        "ops.power": "exp pow sqrt square",
        "ops.reduce": (
            "reduce_all reduce_any reduce_max reduce_mean reduce_min reduce_prod reduce_sum"
        ),
        "ops.reordering": "reverse reverse_sequence roll",
        "ops.repeating": "repeat tile",
        "ops.scan": "cumsum",
        "ops.scatter": (
            "scatter_nd tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min "
            "tensor_scatter_nd_sub tensor_scatter_nd_update"
        ),
        "ops.select": "clip_by_value maximum minimum where",
        "ops.shaping": "broadcast_to identity identity_n reshape stop_gradient transpose",
        "ops.joining": "concat parallel_stack split stack unstack",
        "ops.cuts": "slice strided_slice",
        "ops.sorting": "argsort sort",
        "ops.statistics": "reduce_logsumexp",
        "ops.strings": "as_string",
        "ops.tensordot": "tensordot",
        "ops.trigonometric": "acos acosh asin asinh atan atan2 atanh cos cosh sin sinh tan",
        "ops.unary": "abs floor round sigmoid sign tanh",
        "ops.unique": "unique unique_with_counts",
        "runtime.device_spec": "DeviceSpec",
        "runtime.placement": (
            "control_dependencies device get_logger group init_scope inside_function "
            "is_symbolic_tensor no_op tuple_=tuple"
        ),
        "functions.critical_section": "AggregationMethod CriticalSection no_gradient",
        "tape.custom": "custom_gradient grad_pass_through recompute_grad",
        "tape.gradient_tape": "GradientTape UnconnectedGradients",
    }
)
_MODULES = [
    "audio",
    "autodiff",
    "autograph",
    "bitwise",
    "compat",
    "config",
    "data",
    "debugging",
    "distribute",
    "dtypes",
    "errors",
    "experimental",
    "explain",
    "image",
    "initializers",
    "io",
    "keras",
    "linalg",
    "lookup",
    "math",
    "nest",
    "nn",
    "profiler",
    "quantization",
    "ragged",
    "random",
    "raw_ops",
    "saved_model",
    "sets",
    "signal",
    "sparse",
    "strings",
    "summary",
    "sysconfig",
    "test",
    "testing",
    "train",
    "tpu",
    "types",
    "version",
]
_PLACES |= {name: (f"wengert.{name}", "*") for name in _MODULES}
_PLACES |= {name: ("wengert.keras", name) for name in ("losses", "metrics", "optimizers")}

__getattr__, __dir__ = _lazily(
    "tf",
    _PLACES,
    globals(),
    homes=("math", "nn", "linalg", "random", "image", "signal", "strings", "debugging"),
)
