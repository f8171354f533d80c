"""Comparisons, tests of numbers, and logic on booleans and on the bits of integers.

None of them has a gradient. NaN compares unequal to everything, itself included.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.ops.declare import (
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    apply,
    apply1,
    apply2,
    binary,
    broadcast_shapes,
    dtypes,
    function_of,
    lax,
    must_fit,
    operand,
    operands,
    require,
    shapes,
    static_float,
    tf,
    unary,
)

_MATCHES = (
    "Use a smooth loss, such as the squared difference or a cross-entropy; count matches for "
    "display only."
)


def _comparison(
    name: str, kernel: Any, lower: Any, accepts: frozenset[int], instead: str = _MATCHES
) -> Op:
    return binary(
        name,
        kernel,
        lower,
        grad=None,
        accepts=accepts,
        dtype=dtypes.bool_,
        harmless=True,
        instead=instead,
    )


EQUAL = _comparison("equal", np.equal, lambda x, y: lax.eq(x, y), dtypes.ANY)


@function_of(EQUAL)
def equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x == y element by element; shapes must broadcast.

    Args:
        x, y: tensors of one dtype, whose shapes broadcast.
        name: without effect.

    Returns:
        A tensor of truths.

    Raises:
        InvalidArgumentError: the shapes or dtypes do not fit.

    >>> tf.equal([1, 2], 2).numpy().tolist()
    [False, True]
    """


NOT_EQUAL = _comparison("not_equal", np.not_equal, lambda x, y: lax.ne(x, y), dtypes.ANY)


@function_of(NOT_EQUAL)
def not_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x != y element by element; shapes must broadcast."""


def _open_comparison(name: str, of: Op, otherwise: bool) -> Op:
    """`==` or `!=` of sizes that only the run knows: shapes that do not broadcast are unequal."""
    compare, rule, answer = of.kernel, of.infer, np.asarray(otherwise)
    compiled: Any = of.lower

    def kernel(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        try:
            return compare(x, y)
        except ValueError:
            return answer

    # A copy of the graph may know more sizes, and compiled code knows all of them.

    def infer(x: ShapeDtype, y: ShapeDtype) -> ShapeDtype:
        try:
            return rule(x, y)
        except ValueError:
            return ShapeDtype((), dtypes.bool_)

    def lower(x: JaxArray, y: JaxArray) -> JaxArray:
        try:
            broadcast_shapes(x.shape, y.shape)
        except ValueError:
            return lax.full((), otherwise, bool)
        return compiled(x, y)

    return Op(
        name,
        "x y",
        kernel=kernel,
        infer=infer,
        lower=lower,
        grad=None,
        accepts=dtypes.ANY,
        broadcasts=True,
        elementwise=True,
        harmless=True,
        instead=_MATCHES,
    )


OPEN_EQUAL = _open_comparison("equal_if_broadcast", EQUAL, False)
OPEN_NOT_EQUAL = _open_comparison("not_equal_unless_broadcast", NOT_EQUAL, True)

LESS = _comparison(
    "less",
    np.less,
    lambda x, y: lax.lt(x, y),
    dtypes.REAL,
    instead="Use tf.sigmoid(k * (y - x)), or tf.where on the values themselves.",
)


@function_of(LESS)
def less(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x < y element by element."""


LESS_EQUAL = _comparison(
    "less_equal",
    np.less_equal,
    lambda x, y: lax.le(x, y),
    dtypes.REAL,
    instead="Use tf.sigmoid(k * (y - x)), or tf.where on the values themselves.",
)


@function_of(LESS_EQUAL)
def less_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x <= y element by element."""


GREATER = _comparison(
    "greater",
    np.greater,
    lambda x, y: lax.gt(x, y),
    dtypes.REAL,
    instead="Use tf.sigmoid(k * (x - y)), or tf.where on the values themselves.",
)


@function_of(GREATER)
def greater(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x > y element by element."""


GREATER_EQUAL = _comparison(
    "greater_equal",
    np.greater_equal,
    lambda x, y: lax.ge(x, y),
    dtypes.REAL,
    instead="Use tf.sigmoid(k * (x - y)), or tf.where on the values themselves.",
)


@function_of(GREATER_EQUAL)
def greater_equal(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """x >= y element by element."""


def _infer_near(x: ShapeDtype, y: ShapeDtype, tolerance: float) -> ShapeDtype:
    require(
        shapes.compatible(x.shape, y.shape),
        "approximate_equal",
        "both tensors must have the same shape",
        x,
        y,
    )
    return ShapeDtype(shapes.merge(x.shape, y.shape), dtypes.bool_)


def _near(x: np.ndarray, y: np.ndarray, tolerance: float) -> np.ndarray:
    must_fit(x.shape == y.shape, "shapes differ")
    # Unsigned differences must not wrap.
    return np.maximum(x, y) - np.minimum(x, y) < tolerance


APPROXIMATE_EQUAL = Op(
    "approximate_equal",
    "x y",
    kernel=_near,
    infer=_infer_near,
    lower=lambda x, y, tolerance: lax.lt(
        lax.convert_element_type(lax.sub(lax.max(x, y), lax.min(x, y)), np.float64),
        np.float64(tolerance),
    ),
    grad=None,
    accepts=dtypes.REAL,
    elementwise=True,
)


def approximate_equal(
    x: TensorLike, y: TensorLike, tolerance: float = 1e-5, name: str | None = None
) -> Tensor:
    """|x - y| < tolerance element by element; there is no broadcasting."""
    return apply(
        APPROXIMATE_EQUAL,
        *operands("approximate_equal", x, y),
        tolerance=static_float("approximate_equal", tolerance, "tolerance"),
    )


@function_of(
    unary(
        "is_nan", np.isnan, lambda x: lax.ne(x, x), None, accepts=dtypes.FLOAT, dtype=dtypes.bool_
    )
)
def is_nan(x: TensorLike, name: str | None = None) -> Any:
    """Where x is NaN."""


@function_of(
    unary(
        "is_inf",
        np.isinf,
        lambda x: lax.eq(lax.abs(x), lax.full_like(x, np.inf)),
        None,
        accepts=dtypes.FLOAT,
        dtype=dtypes.bool_,
    )
)
def is_inf(x: TensorLike, name: str | None = None) -> Any:
    """Where x is infinite."""


IS_FINITE = unary(
    "is_finite",
    np.isfinite,
    lambda x: lax.is_finite(x),
    None,
    accepts=dtypes.FLOAT,
    dtype=dtypes.bool_,
)


@function_of(IS_FINITE)
def is_finite(x: TensorLike, name: str | None = None) -> Any:
    """Where x is neither infinite nor NaN."""


def _is_ordered(x: np.ndarray, strict: bool) -> np.generic:
    flat = x.reshape(-1)
    return np.all((np.less if strict else np.less_equal)(flat[:-1], flat[1:]))


def _lower_is_ordered(x: JaxArray, strict: bool) -> JaxArray:
    flat = lax.reshape(x, (x.size,))
    n = max(x.size, 1)
    a, b = lax.slice_in_dim(flat, 0, n - 1), lax.slice_in_dim(flat, min(1, x.size), x.size)
    return lax.reduce(lax.lt(a, b) if strict else lax.le(a, b), True, lax.bitwise_and, (0,))


IS_ORDERED = Op(
    "is_ordered",
    "x",
    kernel=_is_ordered,
    infer=lambda x, strict: ShapeDtype((), dtypes.bool_),
    lower=_lower_is_ordered,
    grad=None,
    accepts=dtypes.REAL,
)


def is_non_decreasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether no element of the flattened tensor is below the one before it; false with a NaN."""
    return apply(IS_ORDERED, operand(x), strict=False)


def is_strictly_increasing(x: TensorLike, name: str | None = None) -> Tensor:
    """Whether each element of the flattened tensor is above the one before it."""
    return apply(IS_ORDERED, operand(x), strict=True)


@function_of(
    binary(
        "nextafter",
        np.nextafter,
        lambda x, y: lax.nextafter(x, y),
        grad=(lambda g: g, lambda g: tf.zeros_like(g)),
        accepts=dtypes.nums("float32", "float64"),
    )
)
def nextafter(x1: TensorLike, x2: TensorLike, name: str | None = None) -> Any:
    """The next number of the type after `x1` in the direction of `x2`."""


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
