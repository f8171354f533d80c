"""The names of TensorFlow's inside that Keras touches, and why each exists.

Public programs do not see them under `wengert`; they are found below `tensorflow` only, where
`wengert.keras_glue.alias` puts them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

from wengert.checkpoint.trackable import (
    AutoTrackable,
    Trackable,
    no_automatic_dependency_tracking,
)
from wengert.composite.ragged_tensor import RaggedTensor
from wengert.composite.sparse_tensor import SparseTensor
from wengert.core import dtypes, shapes
from wengert.core.composite import CompositeTensor
from wengert.core.context import Setting, State, using
from wengert.core.convert import operand
from wengert.core.errors import at_site
from wengert.core.op import ShapeDtype
from wengert.core.symbolic import SymbolicTensor, is_symbolic
from wengert.core.tensor import ActsAsTensor, Tensor, is_tensor
from wengert.core.variable import Variable
from wengert.distribute.strategies import get_replica_context
from wengert.functions.cond import cond
from wengert.graph.builder import Builder, building
from wengert.keras_glue.private_names import announce
from wengert.ops.compare import is_nan
from wengert.runtime import settings as _settings

if TYPE_CHECKING:
    from wengert.core.dtypes import DType
    from wengert.distribute.strategies import Strategy


class FuncGraph:
    """A graph to run a layer's code in, for the shapes of what it returns."""

    def __init__(self, name: str) -> None:
        self._graph = Builder(name, building())

    def as_default(self) -> Setting[State | None, FuncGraph]:
        """Records operations in this graph instead of running them."""
        return using(State((), self._graph), self)


def placeholder(
    dtype: str | DType, shape: tuple[int | None, ...] | None = None, name: str | None = None
) -> Tensor:
    """An input of the graph being built."""
    graph = building()
    if graph is None:
        raise at_site(
            RuntimeError(
                "placeholder: it belongs to TensorFlow 1. Give the value as an argument of a "
                "tf.function."
            )
        )
    return graph.parameter(
        ShapeDtype(shapes.as_shape(shape), dtypes.as_dtype(dtype)), None, name or ""
    )


def sparse_placeholder(dtype: Any, shape: Any = None, name: str | None = None) -> SparseTensor:
    """An input of the graph being built that is a sparse tensor."""
    static = shapes.as_shape(shape)
    rank = None if static is None else len(static)
    result = SparseTensor(
        placeholder(dtypes.int64, (None, rank)),
        placeholder(dtype, (None,)),
        placeholder(dtypes.int64, (rank,)),
    )
    result.set_shape(static)
    return result


def smart_cond(
    pred: SymbolicTensor,
    true_fn: Callable[[], Any] | None = None,
    false_fn: Callable[[], Any] | None = None,
    name: str | None = None,
) -> Any:
    """`cond` that calls one function only where the condition is known."""
    if not is_symbolic(pred) and not (isinstance(pred, Variable) and building() is not None):
        chosen = true_fn if bool(pred) else false_fn
        assert chosen is not None, "both functions are given"
        return chosen()
    return cond(pred, true_fn, false_fn)


def maybe_merge_call(fn: Callable[..., Any], strategy: Strategy, *args: Any, **kwargs: Any) -> Any:
    """Runs `fn` once for all replicas."""
    context = get_replica_context()
    if context is None:
        return fn(strategy, *args, **kwargs)
    return context.merge_call(fn, args, kwargs)


def unwrap(maybe_decorator: Any) -> tuple[list[Any], Any]:
    """The function behind decorators; Keras asks so for the arguments of a call."""
    result = maybe_decorator
    while hasattr(result, "__wrapped__"):
        result = result.__wrapped__
    return [], result


class ListWrapper(list):
    """TensorFlow wraps the lists of its modules in it; Keras teaches its trees to walk them."""


class _DictWrapper(dict):
    """The same for dicts."""


class _Context:
    def clear_kernel_cache(self) -> None:
        """Called by `clear_session`; eager operations have no cache to clear."""


@functools.cache
def _context() -> _Context:
    return _Context()


def _nothing(*args: Any, **kwargs: Any) -> None:
    """What is done at once, or need not be done."""


def dynamic_update_slice(x: Any, update: Any, start_indices: Any) -> Any:
    """`x` with a block replaced, moved inside where it would reach out: `keras.ops.slice_update`."""
    from wengert.ops.updating import update_block

    return update_block(x, update, start_indices)


def _product(a: Any, b: Any, dtype: Any) -> Any:
    from wengert.composite.sparse_rows import sparse_sparse_matmul

    return sparse_sparse_matmul(a, b)


def _batch_size(dataset: Any) -> Any:
    """How many rows the batches of a dataset have, or -1, for `keras.distribution`."""
    shape = dataset.element_spec[0].shape if isinstance(dataset.element_spec, tuple) else None
    return operand(-1 if shape is None or shape[0] is None else shape[0], dtypes.int64)


class Dimension:
    """A size of a shape as TensorFlow 1 had it; Keras tests for it when it reads shapes."""

    def __init__(self, value: Any) -> None:
        self.value = value


class EagerTensorType(type):
    """Answers `isinstance(x, EagerTensor)`: a tensor that has a value."""

    def __instancecheck__(cls, instance: SymbolicTensor) -> bool:
        return isinstance(instance, Tensor) and not is_symbolic(instance)


class EagerTensor(metaclass=EagerTensorType):
    """Keras tells tensors with a value from those of a graph by it."""


@functools.cache
def _modules() -> dict[str, dict[str, Any]]:
    """The private modules by their dotted names below `tensorflow`."""
    return {
        "__internal__": {
            "CompositeTensor": CompositeTensor,  # per-replica values are told by it
            "EagerTensor": EagerTensor,
            "FuncGraph": FuncGraph,  # symbolic shape inference
            "decorator": SimpleNamespace(unwrap=unwrap),
            "distribute": SimpleNamespace(
                interim=SimpleNamespace(maybe_merge_call=maybe_merge_call),  # optimizer updates
                strategy_supports_no_merge_call=lambda: True,  # LossScaleOptimizer
            ),
            "smart_cond": SimpleNamespace(smart_cond=smart_cond),  # keras.ops.cond
            "tracking": SimpleNamespace(
                AutoTrackable=AutoTrackable,  # the base of layers and optimizers
                Trackable=Trackable,  # the base of Keras's variables
                no_automatic_dependency_tracking=no_automatic_dependency_tracking,
            ),
            "types": SimpleNamespace(
                Tensor=ActsAsTensor
            ),  # the base of variables: they count as tensors
        },
        "compat": {},
        "compat.v1": {
            "Dimension": Dimension,
            "SummaryMetadata": _summary_metadata,
            "placeholder": placeholder,  # symbolic shape inference
            "reset_default_graph": _nothing,  # clear_session
            "sparse_placeholder": sparse_placeholder,
        },
        "compiler.tf2xla.python.xla": {"dynamic_update_slice": dynamic_update_slice},
        "python.data.experimental.ops.distribute": {"compute_batch_size": _batch_size},
        "python.eager.context": {
            "async_wait": _nothing,  # the end of an epoch; eager work is done by then
            "_reset_context": _nothing,
            "context": _context,  # clear_session
        },
        "python.framework.config": {  # jit_compile="auto"
            "disable_op_determinism": _settings.disable_op_determinism,
            "enable_op_determinism": _settings.enable_op_determinism,
            "is_op_determinism_enabled": _settings.is_op_determinism_enabled,
        },
        "python.framework.sparse_tensor": {"SparseTensor": SparseTensor},
        "python.framework.tensor": {"Tensor": Tensor},
        "python.framework.tensor_util": {"is_tf_type": is_tensor},
        "python.ops.linalg.sparse.sparse_csr_matrix_ops": {
            # The product of two sparse matrices in `keras.ops.matmul`.
            "csr_sparse_matrix_to_sparse_tensor": lambda x, dtype: x,
            "sparse_matrix_sparse_mat_mul": _product,
            "sparse_tensor_to_csr_sparse_matrix": SparseTensor,
        },
        "python.ops.math_ops": {"is_nan": is_nan},  # nanmax and its kin
        "python.ops.ragged.ragged_tensor": {"RaggedTensor": RaggedTensor},
        "python.trackable.data_structures": {
            "ListWrapper": ListWrapper,
            "_DictWrapper": _DictWrapper,
        },
    }


def _summary_metadata() -> Any:
    """An empty message for the graph of a model in TensorBoard."""
    from importlib import import_module

    return import_module("tensorboard.compat.proto.summary_pb2").SummaryMetadata()


def module(name: str) -> ModuleType | None:
    """The private module of a dotted name below `tensorflow`, or `None`."""
    known = _modules()
    if name not in known and not any(m.startswith(f"{name}.") for m in known):
        return None
    introduce()
    result = ModuleType(f"tensorflow.{name}", "A part of TensorFlow's inside that Keras asks for.")
    result.__path__ = []
    result.__dict__.update(known.get(name, {}))
    result.__dict__["__getattr__"] = functools.partial(_child, name, known)
    return result


def holds(name: str) -> bool:
    """Whether a dotted name below `tensorflow` is one of those that Keras asks for."""
    known = _modules()
    owner, _, last = name.rpartition(".")
    is_module = name in known or any(m.startswith(f"{name}.") for m in known)
    return is_module or last in known.get(owner, {})


def _child(parent: str, known: dict[str, Any], name: str) -> ModuleType:
    from importlib import import_module

    below = f"{parent}.{name}"
    if below == "compat.v2":
        return import_module("tensorflow")
    if below in known or any(m.startswith(f"{below}.") for m in known):
        return import_module(f"tensorflow.{below}")
    if parent.split(".")[0] == "compat" and not name.startswith("__"):
        return getattr(import_module(f"wengert.{parent}"), name)
    raise AttributeError(f"module 'tensorflow.{parent}' has no attribute {name!r}")


def introduce() -> None:
    """Makes Keras and Wengert known to each other.

    Three classes get the module names by which Keras knows tensors in `fit(x=...)`, and Wengert
    hears which modules of Keras are treated in their own way.
    """
    announce()
    Tensor.__module__ = "tensorflow.python.framework.tensor"
    SparseTensor.__module__ = "tensorflow.python.framework.sparse_tensor"
    RaggedTensor.__module__ = "tensorflow.python.ops.ragged.ragged_tensor"
