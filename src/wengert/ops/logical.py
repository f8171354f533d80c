"""Logic on booleans and on the bits of integers."""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply1, apply2
from wengert.core.convert import operand
from wengert.core.lazy_modules import lax
from wengert.core.types import JaxArray, Op, Tensor, TensorLike
from wengert.ops.declare import binary, function_of, unary

_TRUTH = dtypes.bool_


def _logic(name: str, kernel: Any, lower: Any) -> Op:
    return binary(name, kernel, lower, grad=None, accepts=dtypes.BOOL, harmless=True)


LOGICAL_AND = _logic("logical_and", np.logical_and, lambda x, y: lax.bitwise_and(x, y))


def logical_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x and y, for booleans only."""
    return apply2(LOGICAL_AND, operand(x, None, _TRUTH), operand(y, None, _TRUTH))


LOGICAL_OR = _logic("logical_or", np.logical_or, lambda x, y: lax.bitwise_or(x, y))


def logical_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """x or y, for booleans only."""
    return apply2(LOGICAL_OR, operand(x, None, _TRUTH), operand(y, None, _TRUTH))


LOGICAL_XOR = _logic("logical_xor", np.logical_xor, lambda x, y: lax.bitwise_xor(x, y))


def logical_xor(x: TensorLike, y: TensorLike, name: str | None = "LogicalXor") -> Tensor:
    """Either x or y but not both, for booleans only."""
    return apply2(LOGICAL_XOR, operand(x, None, _TRUTH), operand(y, None, _TRUTH))


LOGICAL_NOT = unary(
    "logical_not",
    np.logical_not,
    lambda x: lax.bitwise_not(x),
    grad=None,
    accepts=dtypes.BOOL,
    harmless=True,
)


def logical_not(x: TensorLike, name: str | None = None) -> Tensor:
    """Not x, for booleans only."""
    return apply1(LOGICAL_NOT, operand(x, None, _TRUTH))


def _bits(name: str, kernel: Any, lower: Any) -> Op:
    return binary(name, kernel, lower, grad=None, accepts=dtypes.INTEGER)


BITWISE_AND = _bits("bitwise_and", np.bitwise_and, lambda x, y: lax.bitwise_and(x, y))


@function_of(BITWISE_AND)
def bitwise_and(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """The bits set in both integers."""


BITWISE_OR = _bits("bitwise_or", np.bitwise_or, lambda x, y: lax.bitwise_or(x, y))


@function_of(BITWISE_OR)
def bitwise_or(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """The bits set in either integer."""


BITWISE_XOR = _bits("bitwise_xor", np.bitwise_xor, lambda x, y: lax.bitwise_xor(x, y))


@function_of(BITWISE_XOR)
def bitwise_xor(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """The bits set in exactly one of the integers."""


INVERT = unary("invert", np.invert, lambda x: lax.bitwise_not(x), None, accepts=dtypes.INTEGER)


@function_of(INVERT)
def invert(x: TensorLike, name: str | None = None) -> Any:
    """All bits of an integer flipped."""


def _within(y: np.ndarray) -> np.ndarray:
    """A shift as far as the type has bits; C leaves longer and negative ones undefined."""
    return np.minimum(np.maximum(y, 0), y.dtype.itemsize * 8 - 1)


def _lower_within(y: JaxArray) -> JaxArray:
    most = lax.full_like(y, y.dtype.itemsize * 8 - 1)
    return lax.min(lax.max(y, lax.full_like(y, 0)), most)


def _lower_right_shift(x: JaxArray, y: JaxArray) -> JaxArray:
    shift = lax.shift_right_arithmetic if x.dtype.kind == "i" else lax.shift_right_logical
    return shift(x, _lower_within(y))


@function_of(
    _bits(
        "left_shift",
        lambda x, y: np.left_shift(x, _within(y)),
        lambda x, y: lax.shift_left(x, _lower_within(y)),
    )
)
def left_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x with its bits moved up `y` places, at least 0 and at most the width of the type less 1."""


@function_of(_bits("right_shift", lambda x, y: np.right_shift(x, _within(y)), _lower_right_shift))
def right_shift(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x with its bits moved down `y` places (as `left_shift` counts); the sign is kept."""
