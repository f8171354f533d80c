"""Puts the operators on tensors and variables."""

from __future__ import annotations

from typing import Any

from wengert.core.apply import apply, apply2
from wengert.core.convert import operand
from wengert.core.op import Op
from wengert.core.tensor import Tensor, Value
from wengert.core.variable import Variable
from wengert.ops import arithmetic


def _both(op: Op) -> tuple[Any, Any]:
    """The operator and its reflected form, for an operation that maps two tensors to one."""

    def forward(self: Any, other: Any) -> Any:
        if type(other) is not Tensor and type(other) is not Variable:
            other = operand(other, None, self.dtype)
        return apply2(op, self, other)

    def reflected(self: Any, other: Any) -> Any:
        return apply2(op, operand(other, None, self.dtype), self)

    return forward, reflected


def _install(symbol: str, forward: Any, reflected: Any = None) -> None:
    setattr(Value, f"__{symbol}__", forward)
    if reflected is not None:
        setattr(Value, f"__r{symbol}__", reflected)


_install("add", *_both(arithmetic.ADD))
_install("sub", *_both(arithmetic.SUBTRACT))
_install("mul", *_both(arithmetic.MULTIPLY))
_install("neg", lambda self: apply(arithmetic.NEGATIVE, self))


def _divide(self: Any, other: Any) -> Any:
    if self._array.dtype.kind in "fcV":
        if type(other) is not Tensor and type(other) is not Variable:
            other = operand(other, None, self.dtype)
        return apply2(arithmetic.DIVIDE, self, other)
    return arithmetic.truediv(self, other)


_install("truediv", _divide, lambda self, other: arithmetic.truediv(other, self))
