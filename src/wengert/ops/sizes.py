"""What operations do with sizes that are known only when a function runs.

Such a size enters arithmetic as a tensor, makes an array where the graph runs, or is checked
there. With plain numbers everything here happens at once, and no operation is recorded.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from wengert.core import dtypes, shapes
from wengert.core.apply import apply, wrap
from wengert.core.convert import operand
from wengert.core.dims import Dim, is_open, known_unequal
from wengert.core.dtypes import DType
from wengert.core.errors import invalid
from wengert.core.op import Op, Spec
from wengert.core.sites import caller


def factor(number: Any, dtype: DType) -> Any:
    """A size that enters arithmetic with tensors of `dtype`: a float, or a tensor."""
    return operand(number, dtype) if type(number) is Dim else float(number)


def checked(kernel: Callable[..., Any], infer: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel that asks the shape rule first, since it would accept shapes that do not fit."""

    def run(*xs: np.ndarray, **attrs: Any) -> Any:
        infer(*[Spec(x.shape, dtypes.of(x)) for x in xs], **attrs)
        return kernel(*xs, **attrs)

    return run


# An array that follows from numbers: `make(*numbers)`, where the numbers are known.
TABLE = Op(
    "table",
    "",
    kernel=lambda make, numbers, shape, dtype: make(*numbers).astype(dtype.np),
    infer=lambda make, numbers, shape, dtype: Spec(shape, dtype),
    lower=lambda make, numbers, shape, dtype: make(*numbers).astype(dtype.np),
    grad=(),
    register=False,
)


def table(
    make: Callable[..., np.ndarray], shape: tuple[Any, ...], dtype: DType, *numbers: Any
) -> Any:
    """The array `make(*numbers)` of this shape as a tensor; `make` is a function of a module."""
    if is_open(numbers):
        return apply(TABLE, make=make, numbers=numbers, shape=shape, dtype=dtype)
    return wrap(make(*numbers).astype(dtype.np), caller())


def _infer_agree(x: Spec, y: Spec, name: str, rule: str, count: int) -> Spec:
    """The last `count` sizes of both must be the same; all, for 0."""
    if x.shape is None or y.shape is None:
        return x
    if known_unequal(x.shape[-count:], y.shape[-count:]):
        raise invalid(name, rule, x, y)
    if len(x.shape) != len(y.shape) or count:
        return x
    return Spec(shapes.merge(x.shape, y.shape), x.dtype)


def _agreeing(x: Any, y: Any, name: str, rule: str, count: int) -> Any:
    if x.shape[-count:] != y.shape[-count:]:
        raise ValueError(rule)
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
    if known_unequal(x._array.shape[-count:], y._array.shape[-count:]):
        raise invalid(name, rule, x, y)
    return apply(AGREE, x, y, name=name, rule=rule, count=count)
