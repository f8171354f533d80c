"""Choosing between values: `where`, the larger and the smaller of two, and clipping.

The larger or smaller of anything and NaN is NaN. At ties a gradient goes to the first argument.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wengert.core import dims
from wengert.graph import known_elements
from wengert.ops.declare import (
    TAME,
    IndexedSlices,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    Value,
    apply,
    binary,
    broadcasting,
    dtypes,
    function_of,
    invalid,
    invalid_dtype,
    lax,
    operand,
    operands,
    require,
    shapes,
)

_WORDS = {1: np.int8, 2: np.int16, 4: np.int32, 8: np.int64}
_LARGE = 4096


def choose(c: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """`np.where` that does not branch on each element, which is several times faster if large."""
    word = _WORDS.get(x.dtype.itemsize)
    if max(c.size, x.size, y.size) < _LARGE or word is None or x.dtype.hasobject:
        return np.where(c, x, y)
    a, b = x.view(word), y.view(word)
    chosen = c.astype(word)
    if a.ndim == 0 and not a:
        return np.bitwise_and(b, np.subtract(chosen, 1, out=chosen)).view(x.dtype)
    mask = np.negative(chosen, out=chosen)
    if b.ndim == 0 and not b:
        return np.bitwise_and(a, mask).view(x.dtype)
    out = np.bitwise_and(np.bitwise_xor(a, b), mask)
    return np.bitwise_xor(out, b, out=out).view(x.dtype)


SELECT = Op(
    "where",
    "c x y",
    kernel=choose,
    infer=lambda c, x, y: ShapeDtype(shapes.broadcast("where", c.shape, x.shape, y.shape), x.dtype),
    lower=broadcasting(lambda c, x, y: lax.select(c, x, y)),
    grad=(None, lambda g, c: where(c, g, 0), lambda g, c: where(c, 0, g)),
    match=(1, 2),
    broadcasts=True,
    hazards=TAME,
    elementwise=True,
)


def where(
    condition: Any,
    x: TensorLike | None = None,
    y: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """`x` where the condition holds, else `y`, all broadcast; alone, the indices where it holds.

    Args:
        condition: truths; without `x` and `y`, also numbers, of which those count that are not 0.
        x, y: tensors of one dtype; give both or neither.
        name: without effect.

    Returns:
        A tensor of the common shape, or without them int64 indices `[count, rank]`.

    Raises:
        ValueError: only one of `x` and `y` is given.
        InvalidArgumentError: the shapes do not broadcast.

    >>> tf.where([True, False], [1, 2], [-1, -2]).numpy().tolist()
    [1, -2]
    >>> tf.where([False, True, True]).numpy().tolist()
    [[1], [2]]
    """
    if x is None and y is None:
        from wengert.ops.indexing import where_indices

        return where_indices(condition)
    if x is None or y is None:
        raise invalid("where", "give both `x` and `y`, or neither", kind=ValueError)
    if isinstance(condition, np.ndarray | np.generic) and condition.dtype.kind in "iuf":
        condition = condition.astype(bool)  # a mask of NumPy's, as TensorFlow takes it
    c = operand(condition)
    if c.dtype is not dtypes.bool_:
        rule = "`condition` must be boolean"
        raise invalid_dtype("where", rule, c, help="Compare it, as x != 0.")
    if not isinstance(x, Value) and not isinstance(y, Value):
        x = operand(x)
    return apply(SELECT, c, *operands("where", x, y))


# From here on NumPy's `clip` is faster than `maximum` with a number, up to three times.
_LARGE = 1 << 11


def larger(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The larger of two; NaN if either is."""
    if not y.ndim and x.size > _LARGE and x.dtype.kind == "f":
        return x.clip(y, np.inf)
    return np.maximum(x, y)


def smaller(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The smaller of two; NaN if either is."""
    if not y.ndim and x.size > _LARGE and x.dtype.kind == "f":
        return x.clip(-np.inf, y)
    return np.minimum(x, y)


@function_of(
    binary(
        "maximum",
        larger,
        lambda x, y: lax.max(x, y),
        grad=(lambda g, x, y: where(x >= y, g, 0), lambda g, x, y: where(x >= y, 0, g)),
        accepts=dtypes.REAL,
        hazards=TAME,
        moves=True,
        harmless=True,
        contents=known_elements.of_each(dims.larger),
    )
)
def maximum(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """The larger of two; NaN if either is.

    Args:
        x, y: tensors of one dtype of real numbers, whose shapes broadcast.
        name: without effect.

    Returns:
        A tensor of the common shape.

    Raises:
        InvalidArgumentError: the shapes or dtypes do not fit.

    >>> tf.maximum([1, 5], 3).numpy().tolist()
    [3, 5]
    """


@function_of(
    binary(
        "minimum",
        smaller,
        lambda x, y: lax.min(x, y),
        grad=(lambda g, x, y: where(x <= y, g, 0), lambda g, x, y: where(x <= y, 0, g)),
        accepts=dtypes.REAL,
        hazards=TAME,
        moves=True,
        harmless=True,
        contents=known_elements.of_each(dims.smaller),
    )
)
def minimum(x: TensorLike, y: TensorLike, name: str | None = None) -> Any:
    """The smaller of two; NaN if either is.

    Args:
        x, y: tensors of one dtype of real numbers, whose shapes broadcast.
        name: without effect.

    Returns:
        A tensor of the common shape.

    Raises:
        InvalidArgumentError: the shapes or dtypes do not fit.

    >>> tf.minimum([1, 5], 3).numpy().tolist()
    [1, 3]
    """


def _infer_clip(x: ShapeDtype, low: ShapeDtype, high: ShapeDtype) -> ShapeDtype:
    out = shapes.broadcast("clip_by_value", x.shape, low.shape, high.shape)
    require(
        shapes.compatible(out, x.shape),
        "clip_by_value",
        "the bounds must broadcast to the shape of the tensor",
        x,
        low,
        high,
    )
    return ShapeDtype(shapes.merge(out, x.shape), x.dtype)


def _clip(x: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    if not low.ndim and not high.ndim and x.dtype.kind in "fiu" and low.item() <= high.item():
        return x.clip(low, high)
    out = np.maximum(np.minimum(x, high), low)
    if out.shape != x.shape:
        raise ValueError("the bounds are larger than the tensor")
    return out


def _inside(g: Tensor, x: Tensor, low: Tensor, high: Tensor) -> Tensor:
    return where((x >= low) & (x <= high), g, 0)


CLIP = Op(
    "clip_by_value",
    "x low high",
    kernel=_clip,
    infer=_infer_clip,
    lower=broadcasting(lambda x, low, high: lax.max(lax.min(x, high), low)),
    grad=(
        _inside,
        lambda g, x, low, high: where(minimum(x, high) >= low, 0, g),
        lambda g, x, low, high: where(~(x <= high) & (minimum(x, high) >= low), g, 0),
    ),
    accepts=dtypes.REAL,
    broadcasts=True,
    elementwise=True,
)


def clip_by_value(
    t: Any, clip_value_min: TensorLike, clip_value_max: TensorLike, name: str | None = None
) -> Tensor:
    """`t` kept between two bounds; NaN stays NaN, and the lower bound wins if they cross.

    Args:
        t: a tensor of numbers.
        clip_value_min, clip_value_max: bounds that broadcast to it.
        name: without effect.

    Returns:
        A tensor of the same shape.

    Raises:
        InvalidArgumentError: the bounds do not broadcast.

    >>> tf.clip_by_value([-2.0, 0.5, 3.0], -1.0, 1.0).numpy().tolist()
    [-1.0, 0.5, 1.0]
    """
    if isinstance(t, IndexedSlices):
        values = clip_by_value(t.values, clip_value_min, clip_value_max)
        slices: Any = IndexedSlices(values, t.indices, t.dense_shape)
        return slices
    x = operand(t)
    kind = x.dtype
    return apply(CLIP, x, operand(clip_value_min, None, kind), operand(clip_value_max, None, kind))
