"""Variables and references as libraries handle them: values to begin with, specs, stores."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from wengert.composite.ragged_tensor import RaggedTensor
from wengert.core import nest
from wengert.core.composite import CompositeTensor
from wengert.core.context import get_current_name_scope, name_scope, own_variable
from wengert.core.convert import operands, to_tensor
from wengert.core.errors import at_site
from wengert.core.indexed_slices import IndexedSlices
from wengert.core.tensor import Reference
from wengert.core.variable import Variable
from wengert.ops import public as tf
from wengert.ops.checks import assert_equal

__all__ = ["Reference"]


class CheckpointInitialValue:
    """A value of a checkpoint for a variable to begin with; here restoring finds variables later."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise at_site(
            NotImplementedError(
                "CheckpointInitialValue: Wengert restores variables once they are made; none "
                "begins with a value of a checkpoint."
            )
        )


class CheckpointInitialValueCallable(CheckpointInitialValue):
    """The same as a function."""


def is_resource_variable(var: Any) -> bool:
    """Whether a value is a variable."""
    return isinstance(var, Variable)


def convert_to_tensor_or_composite(value: Any, dtype: Any = None, name: str | None = None) -> Any:
    """A composite as it is, and anything else as a tensor."""
    if isinstance(value, CompositeTensor | IndexedSlices):
        return value
    return to_tensor(value, dtype)


def convert_variables_to_tensors(values: Any) -> Any:
    """The same structure with the values of its variables."""

    def read(x: Any) -> Any:
        if isinstance(x, Variable):
            return to_tensor(x)
        own = getattr(x, "_convert_variables_to_tensors", None)
        if isinstance(x, CompositeTensor) and own is not None:
            return own()
        return x

    return nest.map_structure(read, values)


def broadcast_weights(weights: Any, values: Any) -> Any:
    """Weights in the shape of `values`."""
    values = to_tensor(values)
    weights = to_tensor(weights)
    return tf.broadcast_to(tf.cast(weights, values.dtype), tf.shape(values))


def assign_moving_average(
    variable: Any, value: Any, decay: Any, zero_debias: bool = True, name: str | None = None
) -> Any:
    """Moves a variable towards a value by `1 - decay`."""
    return variable.assign_sub((variable - to_tensor(value, variable.dtype)) * (1.0 - decay))


def assert_splits_match(nested_splits_lists: Any) -> list[Any]:
    """Checks that ragged tensors have the same rows; the checks are made at once."""
    first = nested_splits_lists[0]
    for other in nested_splits_lists[1:]:
        if len(first) != len(other):
            raise at_site(ValueError("ragged tensors: the ranks of the tensors must agree."))
        for one, two in zip(first, other, strict=True):
            assert_equal(one, two, "ragged tensors: the rows must have the same lengths")
    return []


def add(x: Any, y: Any, name: str | None = None) -> Any:
    """`x + y`."""
    x, y = operands("add", x, y)
    return x + y


def eq(self: Any, other: Any) -> Any:
    """`self == other`."""
    return to_tensor(self) == other


def ne(self: Any, other: Any) -> Any:
    """`self != other`."""
    return to_tensor(self) != other


def getitem(tensor: Any, slice_spec: Any, var: Any = None) -> Any:
    """`tensor[slice_spec]`."""
    return tensor[slice_spec]


def ragged_getitem(rt_input: RaggedTensor, key: Any) -> Any:
    """`rt_input[key]`."""
    return rt_input[key]


def prevent_gradient(input: Any, message: str = "", name: str | None = None) -> Any:
    """The tensor, of which no gradient is taken: taking one is an error with `message`."""
    from wengert.tape.custom import custom_gradient

    @custom_gradient
    def prevented(x: Any) -> Any:
        def grad(*gradients: Any) -> Any:
            raise at_site(LookupError(f"gradient: it was prevented here. {message}"))

        return tf.identity(x), grad

    return prevented(input)


def pfor(loop_fn: Any, iters: Any, fallback_to_while_loop: bool = True, **kwargs: Any) -> Any:
    """Calls a function for each number below `iters` and stacks the results."""
    from wengert.functions.vectorized_map import vectorized_map

    return vectorized_map(loop_fn, tf.range(iters))


_store: Any = own_variable("wengert_variable_store", None)


def _get_default_variable_store() -> Any:
    """The store of the block around, which `tf.compat.v1.get_variable` would use."""
    return _store.get()


@contextlib.contextmanager
def with_variable_store(store: Any) -> Iterator[None]:
    """A block with a store of variables."""
    before = _store.get()
    _store.set(store)
    try:
        yield
    finally:
        _store.set(before)


class VariableScope:
    """The scope of names in which TensorFlow 1 shared variables; here it is one of names alone."""

    reuse = False
    dtype = None
    initializer = regularizer = caching_device = constraint = None
    use_resource = True

    def __init__(self, name: str) -> None:
        self.name = self.original_name_scope = name

    def set_caching_device(self, caching_device: Any) -> None:
        """Nothing: variables are not cached."""

    set_use_resource = set_initializer = set_regularizer = set_custom_getter = set_caching_device


def get_variable_scope() -> VariableScope:
    """The present scope."""
    return VariableScope(get_current_name_scope())


@contextlib.contextmanager
def variable_scope(
    name_or_scope: Any, default_name: str | None = None, values: Any = None, **options: Any
) -> Iterator[VariableScope]:
    """A block whose variables have a name before theirs; of a scope that is open the same one."""
    if isinstance(name_or_scope, VariableScope):
        yield name_or_scope
        return
    with name_scope(name_or_scope or default_name):
        yield get_variable_scope()


def assign(
    ref: Variable,
    value: Any,
    validate_shape: bool = True,
    use_locking: Any = None,
    name: Any = None,
) -> Any:
    """`ref.assign(value)`."""
    return ref.assign(value)


def assign_add(ref: Variable, value: Any, use_locking: Any = None, name: Any = None) -> Any:
    """`ref.assign_add(value)`."""
    return ref.assign_add(value)


def assign_sub(ref: Variable, value: Any, use_locking: Any = None, name: Any = None) -> Any:
    """`ref.assign_sub(value)`."""
    return ref.assign_sub(value)
