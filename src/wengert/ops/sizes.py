"""What operations do with sizes that are known only when a function runs.

Such a size enters arithmetic as a tensor, makes an array where the graph runs, or is checked
there. With plain numbers everything here happens at once, and no operation is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core.errors import exhausted, finds_no_room, lower_first
from wengert.core.sites import caller
from wengert.ops.declare import (
    Dim,
    DType,
    JaxArray,
    Op,
    ShapeDtype,
    ShapeLike,
    Tensor,
    TensorLike,
    Value,
    apply,
    at_site,
    describe,
    dtypes,
    formula,
    invalid,
    is_open,
    is_symbol,
    known_unequal,
    must_fit,
    negative,
    operand,
    require,
    shapes,
    static,
    static_tuple,
    wrap,
)


def factor(number: Any, dtype: DType) -> Value | float:
    """A size that enters arithmetic with tensors of `dtype`: a float, or a tensor."""
    return operand(number, dtype) if type(number) is Dim else float(number)


@formula
def _at_least(number: int, least: int, name: str, what: str) -> int:
    if not is_symbol(number) and number < least:
        raise invalid(
            name, f"{what} must {_BOUND.get(least) or f'be at least {least}'}; got {number}"
        )
    return number


_BOUND = {0: "not be negative", 1: "be positive"}


def at_least(name: str, what: str, number: TensorLike, least: int) -> Any:
    """A number that must not lie below `least`: checked now, or when the function runs."""
    if type(number) is Dim and number.kind == "size" and least <= 0:
        return number  # a size of a tensor is never negative, and stays the same by construction
    return _at_least(number, least, name, what)


def static_shape(name: str, shape: Any) -> tuple[int, ...]:
    """A shape as sizes, none of them negative: now, or when the function runs."""
    result = static_tuple(name, shape)
    require(
        not any(map(negative, result)),
        name,
        f"a size must not be negative; got shape {list(result)}",
    )
    return tuple([at_least(name, "a size", d, 0) for d in result]) if is_open(result) else result


def made(name: str, make: Callable[..., np.ndarray], *args: Any) -> np.ndarray:
    """The array `make(*args)`; where there is no room for it, an error of the operation `name`."""
    try:
        return make(*args)
    except (MemoryError, OverflowError, ValueError) as error:
        if finds_no_room(error):
            raise exhausted(name, error) from None
        raise invalid(name, lower_first(error)) from None


def listed(name: str, what: str, value: Any) -> list[Any]:
    """The members of a list of tensors, for the argument `what`."""
    try:
        return list(value)
    except TypeError:
        error = TypeError(f"{name}: `{what}` must be a list of tensors; got {describe(value)}.")
        raise at_site(error) from None


def fixed(name: str, what: str, value: TensorLike) -> Any:
    """Like `static`, for numbers that must be known while tracing."""
    result = static(name, value)
    if is_open(result):
        raise at_site(
            TypeError(
                f"{name}: `{what}` must be known while tracing; it comes from a tensor whose value "
                f"is known only when the function runs. Give it as a Python number."
            )
        )
    return result


def checked(kernel: Callable[..., Any], infer: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that asks the shape rule first, since it would accept shapes that do not fit."""

    def run(*xs: np.ndarray, **attrs: Any) -> JaxArray | np.ndarray | tuple[np.ndarray, ...]:
        infer(*[ShapeDtype(x.shape, dtypes.of(x)) for x in xs], **attrs)
        return kernel(*xs, **attrs)

    return run


def _tabulated(
    make: Callable[..., np.ndarray],
    numbers: tuple[bool | float, ...] | tuple[TensorLike, ...],
    shape: tuple[int, ...] | ShapeLike,
    dtype: DType,
    name: str = "table",
) -> np.ndarray:
    return made(name, make, *numbers).astype(dtype.np)


# An array that follows from numbers: `make(*numbers)`, where the numbers are known.
TABLE = Op(
    "table",
    "",
    kernel=_tabulated,
    infer=lambda make, numbers, shape, dtype, name="table": ShapeDtype(shape, dtype),
    lower=_tabulated,
    grad=(),
    register=False,
)


def table(
    make: Callable[..., np.ndarray],
    shape: ShapeLike,
    dtype: DType,
    *numbers: TensorLike,
    name: str = "table",
) -> Tensor:
    """The array `make(*numbers)` of this shape as a tensor; `make` is a function of a module."""
    if is_open(numbers):
        return apply(TABLE, make=make, numbers=numbers, shape=shape, dtype=dtype, name=name)
    return wrap(_tabulated(make, numbers, shape, dtype, name), caller())


def _infer_agree(x: ShapeDtype, y: ShapeDtype, name: str, rule: str, count: int) -> ShapeDtype:
    """The last `count` sizes of both must be the same; all, for 0."""
    if x.shape is None or y.shape is None:
        return x
    require(not known_unequal(x.shape[-count:], y.shape[-count:]), name, rule, x, y)
    if len(x.shape) != len(y.shape) or count:
        return x
    return ShapeDtype(shapes.merge(x.shape, y.shape), x.dtype)


def _agreeing(x: np.ndarray, y: np.ndarray, name: str, rule: str, count: int) -> np.ndarray:
    must_fit(x.shape[-count:] == y.shape[-count:], rule)
    return x


AGREE = Op(
    "agree",
    "x y",
    kernel=_agreeing,
    infer=_infer_agree,
    lower=checked(_agreeing, _infer_agree),
    grad=(lambda g: g, None),
    accepts=dtypes.ANY,
    match=(),
    register=False,
)


def agree(name: str, rule: str, x: Any, y: Any, count: int = 0) -> Any:
    """`x`, whose sizes (or whose last `count` sizes) must be those of `y`: now, or when it runs."""
    if x._array.shape[-count:] == y._array.shape[-count:]:
        return x
    require(not known_unequal(x._array.shape[-count:], y._array.shape[-count:]), name, rule, x, y)
    return apply(AGREE, x, y, name=name, rule=rule, count=count)
