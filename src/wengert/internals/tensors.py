"""Kinds of tensors, of arrays and of specs that libraries tell apart."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from wengert.core.symbolic import SymbolicTensor, is_symbolic
from wengert.core.tensor import Tensor


class EagerTensorType(type):
    """Answers `isinstance(x, EagerTensor)`: a tensor that has a value."""

    def __instancecheck__(cls, instance: SymbolicTensor) -> bool:
        return isinstance(instance, Tensor) and not is_symbolic(instance)


class EagerTensor(metaclass=EagerTensorType):
    """Keras tells tensors with a value from those of a graph by it."""


class _Handles:
    """The dtype of handles; nothing here has it."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"tf.{self.name}"


resource, variant = _Handles("resource"), _Handles("variant")
qint8, qint16, qint32 = _Handles("qint8"), _Handles("qint16"), _Handles("qint32")
quint8, quint16 = _Handles("quint8"), _Handles("quint16")


class SparseTensorValue(NamedTuple):
    """The parts of a sparse tensor as arrays."""

    indices: Any
    values: Any
    dense_shape: Any


def as_shape(shape: Any) -> Any:
    """The `TensorShape` of what describes one."""
    from wengert.core.shapes import TensorShape

    return TensorShape(shape)


def constant_value(tensor: Any, partial: bool = False) -> Any:
    """The value of a tensor if it is known, as an array; else `None`."""
    from wengert.ops.dims import get_static_value

    return get_static_value(tensor, partial)


def dynamic_update_slice(x: Any, update: Any, start_indices: Any) -> Any:
    """`x` with a block replaced, moved inside where it would reach out: `keras.ops.slice_update`."""
    from wengert.ops.updating import update_block

    return update_block(x, update, start_indices)


def constant_value_as_shape(tensor: Any) -> Any:
    """The shape that a tensor of sizes says, with `None` for those that are not known."""
    from wengert.core.shapes import TensorShape
    from wengert.ops.dims import get_static_value

    value = get_static_value(tensor, partial=True)
    if value is None:
        return TensorShape([None] * tensor.shape[0]) if tensor.shape.rank else TensorShape(None)
    return TensorShape([None if d is None or d < 0 else int(d) for d in np.asarray(value)])


def try_evaluate_constant(tensor: Any) -> Any:
    """The value of a tensor if it is known, as an array; else `None`."""
    from wengert.ops.dims import get_static_value

    return get_static_value(tensor)
