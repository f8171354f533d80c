"""Arithmetic on two tensors, element by element, and sums of many.

Integers wrap on overflow; there is no promotion between dtypes. `division.py` has the divisions
that round, `guarded.py` those that answer 0 instead of NaN, `power.py` powers and roots.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from wengert.core.op_facts import Neutral
from wengert.core.shapes import compatible, merge
from wengert.graph import known_elements
from wengert.ops.declare import (
    TAME,
    DType,
    Hazards,
    IndexedSlices,
    InvalidTypeError,
    JaxArray,
    Joint,
    Op,
    Pole,
    ShapeDtype,
    ShapeLike,
    Tensor,
    TensorLike,
    TensorShape,
    Value,
    apply,
    apply1,
    apply2,
    at_site,
    binary,
    dtypes,
    function_of,
    in_float32,
    invalid,
    invalid_dtype,
    lax,
    must_fit,
    operand,
    operands,
    require,
    require_dtype,
    tf,
    unary,
)

# 0 is not neutral: adding it turns -0.0 into 0.0.
ADD = binary(
    "add",
    np.add,
    lambda x, y: lax.add(x, y),
    grad=(lambda g: g, lambda g: g),
    hazards=TAME,
    harmless=True,
    sums=True,
    contents=known_elements.by_kernel,
)


# The sum of two gradients of one tensor: of one shape, though a trace may not know it.
ACCUMULATE = Op(
    "accumulate",
    "x y",
    kernel=np.add,
    infer=lambda x, y: ShapeDtype(merge(x.shape, y.shape), x.dtype),
    lower=lambda x, y: lax.add(x, y),
    grad=(lambda g: g, lambda g: g),
    accepts=dtypes.NUMERIC,
    pointwise=True,
    elementwise=True,
    register=False,
    sums=True,
)


def add(x: Any, y: Any, name: str | None = None) -> Tensor:
    """Adds element by element; joins strings."""
    x, y = operands("add", x, y)
    try:
        return apply2(ADD, x, y)
    except InvalidTypeError:
        if x.dtype is y.dtype is dtypes.string:
            return apply2(ADD_STRINGS, x, y)
        raise


def _add_strings(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    # Given room for its answer, NumPy does not unpack a single string.
    return np.add(x, y, out=np.empty(np.broadcast_shapes(x.shape, y.shape), object))


ADD_STRINGS = binary("add_strings", _add_strings, None, None, accepts=dtypes.nums("s"))


SUBTRACT = binary(
    "subtract",
    np.subtract,
    lambda x, y: lax.sub(x, y),
    grad=(lambda g: g, lambda g: apply1(NEGATIVE, g)),
    hazards=TAME,
    harmless=True,
    neutral=Neutral(0),
    contents=known_elements.by_kernel,
)


@function_of(SUBTRACT)
def subtract(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """Subtracts element by element."""


MULTIPLY = binary(
    "multiply",
    np.multiply,
    lambda x, y: lax.mul(x, y),
    # Through the door directly: this rule runs more often than any other.
    grad=(lambda g, y: apply2(MULTIPLY, g, y), lambda g, x: apply2(MULTIPLY, g, x)),
    rows=(0, 1),
    hazards=TAME,
    harmless=True,
    neutral=Neutral(1, either=True),
    contents=known_elements.by_kernel,
)


@function_of(MULTIPLY)
def multiply(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """Multiplies element by element."""


NEGATIVE = unary(
    "negative",
    np.negative,
    lambda x: lax.neg(x),
    grad=lambda g: apply1(NEGATIVE, g),
    accepts=dtypes.nums("ifc"),
    rows=True,
    hazards=TAME,
    harmless=True,
    contents=known_elements.by_kernel,
    on_sparse=True,
)


@function_of(NEGATIVE)
def negative(x: TensorLike, name: str | None = None) -> Any:
    """-x; the lowest integer of a type is its own negative."""


DIVIDE = binary(
    "divide",
    np.true_divide,
    lambda x, y: lax.div(x, y),
    grad=(lambda g, y: apply2(DIVIDE, g, y), lambda g, y, out: -g * out / y),
    accepts=dtypes.INEXACT,
    rows=(0,),
    hazards=Hazards(divides=True, pole=Pole(lambda x, y: y == 0, "where the divisor is 0")),
    neutral=Neutral(1),
)


def realdiv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """Divides floats and complex numbers."""
    return apply2(DIVIDE, *operands("realdiv", x, y))


def truediv(x: TensorLike, y: Any, name: str | None = None) -> Tensor:
    """Divides; integers give float64 (float32 for 8 and 16 bits), as Python divides."""
    return divide_tensors(*operands("truediv", x, y))


def divide_tensors(x: Value, y: Value) -> Tensor:
    """`x / y` for two tensors of any number type."""
    return (
        apply2(DIVIDE, *fractions("truediv", x, y)) if x.dtype.is_integer else apply2(DIVIDE, x, y)
    )


def fractions(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    """Integers as the floats that division answers with; other types stay."""
    kind = x.dtype
    require_dtype(
        y.dtype is kind,
        name,
        "the arguments must have the same dtype; there is no promotion",
        x,
        y,
        help=f"Cast one of them, for example tf.cast(y, tf.{kind.name}).",
    )
    if not kind.is_integer:
        return x, y
    wide = dtypes.float32 if kind.size < 4 else dtypes.float64
    return tf.cast(x, wide), tf.cast(y, wide)


divide = truediv


def _squared_difference(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    d = np.subtract(x, y)
    return np.multiply(d, np.conj(d) if d.dtype.kind == "c" else d)


def _lower_squared_difference(x: JaxArray, y: JaxArray) -> JaxArray:
    d = lax.sub(x, y)
    return lax.mul(d, lax.conj(d) if d.dtype.kind == "c" else d)


def _squared_difference_grad(g: Tensor, x: Tensor, y: Tensor) -> Tensor:
    if x.dtype.is_complex:
        g = tf.cast(tf.real(g), x.dtype)
    return (g + g) * (x - y)


@function_of(
    binary(
        "squared_difference",
        _squared_difference,
        _lower_squared_difference,
        grad=(
            _squared_difference_grad,
            lambda g, x, y: -_squared_difference_grad(g, x, y),
        ),
        holomorphic=False,
    )
)
def squared_difference(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """(x - y)²; the squared modulus for complex numbers."""


def scalar_mul(scalar: TensorLike, x: TensorLike, name: str | None = None) -> Any:
    """Multiplies a tensor, or the values of IndexedSlices, by one number."""
    kind = x.dtype if isinstance(x, IndexedSlices) else (x := operand(x)).dtype
    factor = operand(scalar, kind)
    require(
        not factor.shape.rank,
        "scalar_mul",
        "`scalar` must have rank 0",
        factor,
        help="Use `*`.",
        kind=ValueError,
    )
    if isinstance(x, IndexedSlices):
        return IndexedSlices(factor * x.values, x.indices, x.dense_shape)
    return apply2(MULTIPLY, factor, x)


def _sum_all(*xs: np.ndarray) -> np.ndarray:
    must_fit(not any(x.shape != xs[0].shape for x in xs), "shapes differ")
    if len(xs) == 1:
        return xs[0]
    total = np.add(xs[0], xs[1], out=np.empty(xs[0].shape, xs[0].dtype))
    for x in xs[2:]:
        np.add(total, x, out=total)
    return total


def _lower_sum_all(x: JaxArray, *rest: JaxArray) -> JaxArray:
    for y in rest:
        x = lax.add(x, y)
    return x


def _infer_sum_all(*xs: ShapeDtype) -> ShapeDtype:
    shape = xs[0].shape
    for x in xs[1:]:
        require(
            compatible(shape, x.shape), "add_n", "all tensors must have the same shape", *xs[:4]
        )
        shape = merge(shape, x.shape)
    return ShapeDtype(shape, xs[0].dtype)


ADD_N = Op(
    "add_n",
    "*xs",
    kernel=in_float32(_sum_all),
    infer=_infer_sum_all,
    lower=_lower_sum_all,
    grad=Joint(lambda g, needs: [g] * len(needs)),
    accepts=dtypes.NUMERIC,
    hazards=TAME,
    elementwise=True,
)


def add_n(inputs: TensorLike, name: str | None = None) -> Tensor:
    """The sum of tensors of one shape and dtype; it does not broadcast.

    Args:
        inputs: a list of tensors.
        name: without effect.

    Returns:
        A tensor of that shape and dtype.

    Raises:
        ValueError: the list is empty, or the shapes or dtypes differ.

    >>> tf.add_n([[1, 2], [3, 4]]).numpy().tolist()
    [4, 6]
    """
    from wengert.ops.gather import densify

    if not isinstance(inputs, Iterable):
        rule = f"`inputs` must be a list of tensors; got {inputs!r}"
        raise invalid("add_n", rule, kind=TypeError)
    given = [densify(x) if isinstance(x, IndexedSlices) else x for x in inputs]
    require(given, "add_n", "`inputs` is empty; at least one tensor is needed", kind=ValueError)
    first = operand(given[0])
    return apply(ADD_N, first, *[operand(x, None, first.dtype) for x in given[1:]])


def accumulate_n(
    inputs: TensorLike,
    shape: ShapeLike = None,
    tensor_dtype: DType | None = None,
    name: str | None = None,
) -> Tensor:
    """`add_n` of a list or tuple, with its shape and dtype checked where they are given."""
    if not isinstance(inputs, list | tuple) or not inputs:
        raise at_site(ValueError("accumulate_n: `inputs` must be a list of at least one tensor."))
    xs = [operand(x) for x in inputs]
    if tensor_dtype is not None and dtypes.as_dtype(tensor_dtype) is not xs[0].dtype:
        raise invalid_dtype("accumulate_n", f"`tensor_dtype` is {tensor_dtype!r}", xs[0])
    common = TensorShape(shape)
    for x in xs:
        if not common.is_compatible_with(x.shape):
            raise invalid("accumulate_n", f"all tensors must have shape {common}", x)
        common = common.merge_with(x.shape)
    return add_n(xs)
