"""The operators of ragged tensors: element by element, between rows of the same lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from wengert.ops import arithmetic, compare, division, power
from wengert.ops.declare import InvalidArgumentError, InvalidTypeError, Tensor, Value, dtypes, tf

if TYPE_CHECKING:
    from wengert.composite.ragged_tensor import RaggedTensor


def _forward(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: function(self, other)


def _reflected(function: Callable[..., Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: function(other, self)


def _equality(function: Callable[..., Any], otherwise: bool) -> Callable[[Any, Any], Any]:
    """`==` or `!=`; what does not broadcast is simply unequal, and so is `None`."""

    def compare_all(
        self: RaggedTensor, other: Value | int | RaggedTensor | None
    ) -> bool | RaggedTensor:
        if other is None:
            return otherwise
        try:
            return function(self, other)
        except InvalidTypeError:
            raise
        except InvalidArgumentError:
            return otherwise

    return compare_all


def _and(x: Tensor, y: Tensor) -> Tensor:
    return (tf.logical_and if x.dtype is dtypes.bool_ else tf.bitwise_and)(x, y)


def _or(x: Tensor, y: Tensor) -> Tensor:
    return (tf.logical_or if x.dtype is dtypes.bool_ else tf.bitwise_or)(x, y)


def _xor(x: Tensor, y: Tensor) -> Tensor:
    return (tf.logical_xor if x.dtype is dtypes.bool_ else tf.bitwise_xor)(x, y)


class Operators:
    """The operators of ragged tensors."""

    __add__, __radd__ = _forward(arithmetic.add), _reflected(arithmetic.add)
    __sub__, __rsub__ = _forward(arithmetic.subtract), _reflected(arithmetic.subtract)
    __mul__, __rmul__ = _forward(arithmetic.multiply), _reflected(arithmetic.multiply)
    __truediv__, __rtruediv__ = _forward(arithmetic.truediv), _reflected(arithmetic.truediv)
    __floordiv__, __rfloordiv__ = _forward(division.floordiv), _reflected(division.floordiv)
    __mod__, __rmod__ = _forward(division.floormod), _reflected(division.floormod)
    __pow__, __rpow__ = _forward(power.pow), _reflected(power.pow)
    __and__, __rand__ = _forward(_and), _reflected(_and)
    __or__, __ror__ = _forward(_or), _reflected(_or)
    __xor__, __rxor__ = _forward(_xor), _reflected(_xor)
    __lt__, __gt__ = _forward(compare.less), _forward(compare.greater)
    __le__, __ge__ = _forward(compare.less_equal), _forward(compare.greater_equal)
    __eq__ = _equality(compare.equal, False)
    __ne__ = _equality(compare.not_equal, True)

    def __rmatmul__(self: Any, other: Any) -> Tensor | RaggedTensor:
        """A dense tensor times a ragged one; TensorFlow has no operator for the other way round."""
        return tf.matmul(other, self) if isinstance(other, Value) else NotImplemented

    def __neg__(self: Any) -> Any:
        return tf.negative(self)

    def __abs__(self: Any) -> Any:
        return tf.abs(self)

    def __invert__(self: Any) -> Any:
        return (tf.logical_not if self.dtype is dtypes.bool_ else tf.invert)(self)
