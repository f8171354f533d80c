"""Shapes that something was promised to have, checked when a function runs if need be.

A function of unknown sizes cannot tell while it is traced whether a value fits the variable, the
`TensorArray` or the signature that it is meant for. What fits for certain costs nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core.dims import opened
from wengert.core.shapes import Shape, compatible, merge
from wengert.ops.declare import (
    Op,
    ShapeDtype,
    Tensor,
    TensorShape,
    Value,
    apply,
    invalid,
    is_open,
    known_unequal,
    require,
)


def _infer(x: ShapeDtype, shape: Shape, name: str, rule: str) -> ShapeDtype:
    if not compatible(x.shape, shape):
        words = rule.replace("{given}", str(TensorShape(x.shape)))
        raise invalid(name, words.replace("{wanted}", str(TensorShape(shape))))
    return ShapeDtype(merge(x.shape, shape), x.dtype)


def _kernel(x: np.ndarray, shape: Shape, name: str, rule: str) -> np.ndarray:
    if not compatible(x.shape, shape):
        raise ValueError("another shape was promised")
    return x


PROMISED_SHAPE = Op(
    "promised_shape",
    "x",
    kernel=_kernel,
    infer=_infer,
    lower=_kernel,
    grad=lambda g: g,
    register=False,
)


def _infer_like(x: ShapeDtype, other: ShapeDtype, name: str, rule: str) -> ShapeDtype:
    return _infer(x, other.shape, name, rule)


def _kernel_like(x: np.ndarray, other: np.ndarray, name: str, rule: str) -> np.ndarray:
    return _kernel(x, other.shape, name, rule)


PROMISED_LIKE = Op(
    "promised_like",
    "x other",
    kernel=_kernel_like,
    infer=_infer_like,
    lower=_kernel_like,
    grad=(lambda g: g, None),
    register=False,
    match=(),
)


def like(x: Tensor, other: Tensor, name: str, rule: str) -> Tensor:
    """The tensor, or an error of `name` if it has another shape than `other`, also in rank."""
    if other.shape.rank is None:
        return apply(PROMISED_LIKE, x, other, name=name, rule=rule)
    return of_shape(x, other._array.shape, name, rule)


def of_shape(x: Tensor, shape: Shape, name: str, rule: str) -> Tensor:
    """The tensor, or an error of `name` if it has another shape.

    `rule` is the sentence for that, with `{given}` and `{wanted}` for the shapes. The sizes wanted
    may be known only when the function runs.
    """
    given = x.shape._dims
    if shape is None or (given == shape and not is_open(shape)):
        return x
    if given is not None and None not in given and not is_open(shape):
        _infer(ShapeDtype(given, x.dtype), opened(shape), name, rule)
        return x
    return apply(PROMISED_SHAPE, x, shape=shape, name=name, rule=rule)


def sized(
    name: str, rule: str, x: Tensor, shape: tuple[Any, ...], *others: Value, help: str = ""
) -> Tensor:
    """The tensor, whose sizes must be these (`None` for any): refused now, or as the function runs.

    `rule` is the sentence that says so; `others` are shown beside the tensor.
    """
    own = x._array.shape
    require(not known_unequal(own, shape), name, rule, x, *others, help=help)
    if all(b is None or a == b for a, b in zip(own, shape, strict=True)):
        return x
    words = f"{rule}; got shape {{given}}" + (f". {help.removesuffix('.')}" if help else "")
    return apply(PROMISED_SHAPE, x, shape=shape, name=name, rule=words)
