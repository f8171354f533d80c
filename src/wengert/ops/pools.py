"""The public pooling functions, by kind and rank."""

from __future__ import annotations

from typing import Any, NamedTuple

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import invalid, require
from wengert.core.fallbacks import with_fallback
from wengert.core.types import DTypeLike, Op, Tensor, TensorLike, Value
from wengert.ops.pooling import AVG_POOL, MAX_POOL, MAX_POOL_ARG
from wengert.ops.sliding import as_padding, channels_first, entries, not_both


def _pooled(
    name: str, op: Op, input: TensorLike, ksize: TensorLike, strides: TensorLike | None, padding: Any,
    data_format: str | None, rank: int | None, dilations: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    x = operand(input)
    at = _windows(name, x, ksize, strides, padding, data_format, rank, dilations)
    not_both(name, at["strides"], at["dilations"], "Leave out one of them.")
    return apply(op, x, **at)


def _windows(
    name: str, x: Value, ksize: TensorLike, strides: TensorLike | None, padding: Any, data_format: str | None,
    rank: int | None, dilations: TensorLike | None,
) -> dict[str, Any]:  # fmt: skip
    """The attributes of a pooling operation: window, stride, padding and dilation per axis."""
    if x.ndim not in ((3, 4, 5) if rank is None else (rank,)):
        wanted = "3, 4 or 5" if rank is None else rank
        raise invalid(name, f"`input` must have rank {wanted}", x)
    first = channels_first(name, data_format, x.ndim - 2)

    def each(what: str, value: TensorLike | None) -> tuple[int, ...]:
        return entries(name, what, value, x.ndim - 2, first, outer=(0,))

    window = each("ksize", ksize)
    pads = as_padding(name, padding, x.ndim - 2, first)
    if not isinstance(pads, str):
        pads = ((0, 0), (0, 0), *pads) if first else ((0, 0), *pads, (0, 0))
        require(
            all(max(p) < k for p, k in zip(pads, window, strict=True) if max(p)),
            name,
            "`padding` must be smaller than the window",
            padding,
        )
    return {
        "window": window,
        "strides": each("strides", strides),
        "padding": pads,
        "dilations": each("dilations", dilations),
    }


@with_fallback
def max_pool(
    input: TensorLike,
    ksize: TensorLike,
    strides: TensorLike,
    padding: str,
    data_format: Any = None,
    name: str | None = None,
) -> Tensor:
    """The maximum of each window, over one, two or three spatial axes."""
    return _pooled("max_pool", MAX_POOL, input, ksize, strides, padding, data_format, None)


@with_fallback
def max_pool1d(
    input: TensorLike,
    ksize: TensorLike,
    strides: TensorLike,
    padding: str,
    data_format: str = "NWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of sequences."""
    return _pooled("max_pool1d", MAX_POOL, input, ksize, strides, padding, data_format, 3)


@with_fallback
def max_pool2d(
    input: TensorLike,
    ksize: TensorLike,
    strides: TensorLike,
    padding: TensorLike,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of images; the gradient goes to the first of equal values.

    Args:
        input: images `[batch, height, width, channels]`, or in the order of `data_format`.
        ksize: the size of the windows: one number, one for each side, or one for each axis.
        strides: the step, given in the same ways.
        padding: "SAME", "VALID" or a list of pairs, one for each axis.
        data_format: "NHWC" or "NCHW".
        name: without effect.

    Returns:
        Smaller images.

    Raises:
        ValueError: the rank, the window or the padding does not fit.

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> tf.nn.max_pool2d(image, ksize=2, strides=2, padding="VALID").numpy().ravel().tolist()
    [5.0, 7.0, 13.0, 15.0]
    """
    return _pooled("max_pool2d", MAX_POOL, input, ksize, strides, padding, data_format, 4)


@with_fallback
def max_pool3d(
    input: TensorLike,
    ksize: TensorLike,
    strides: TensorLike,
    padding: str,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The maximum of each window of volumes."""
    return _pooled("max_pool3d", MAX_POOL, input, ksize, strides, padding, data_format, 5)


@with_fallback
def avg_pool(
    input: TensorLike,
    ksize: TensorLike,
    strides: TensorLike,
    padding: str,
    data_format: Any = None,
    name: str | None = None,
) -> Tensor:
    """The mean of each window, over one, two or three spatial axes; padding does not count."""
    return _pooled("avg_pool", AVG_POOL, input, ksize, strides, padding, data_format, None)


@with_fallback
def avg_pool1d(
    input: TensorLike,
    ksize: TensorLike,
    strides: TensorLike,
    padding: str,
    data_format: str = "NWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of sequences."""
    return _pooled("avg_pool1d", AVG_POOL, input, ksize, strides, padding, data_format, 3)


@with_fallback
def avg_pool2d(
    input: TensorLike,
    ksize: TensorLike,
    strides: TensorLike,
    padding: TensorLike,
    data_format: str = "NHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of images; padding does not count.

    Args:
        input: images `[batch, height, width, channels]`, or in the order of `data_format`.
        ksize: the size of the windows: one number, one for each side, or one for each axis.
        strides: the step, given in the same ways.
        padding: "SAME" or "VALID".
        data_format: "NHWC" or "NCHW".
        name: without effect.

    Returns:
        Smaller images.

    Raises:
        ValueError: the rank, the window or the padding does not fit.

    >>> image = tf.reshape(tf.range(16.0), [1, 4, 4, 1])
    >>> tf.nn.avg_pool2d(image, ksize=2, strides=2, padding="VALID").numpy().ravel().tolist()
    [2.5, 4.5, 10.5, 12.5]
    """
    return _pooled("avg_pool2d", AVG_POOL, input, ksize, strides, padding, data_format, 4)


@with_fallback
def avg_pool3d(
    input: TensorLike,
    ksize: TensorLike,
    strides: TensorLike,
    padding: str,
    data_format: str = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of volumes."""
    return _pooled("avg_pool3d", AVG_POOL, input, ksize, strides, padding, data_format, 5)


@with_fallback
def pool(
    input: TensorLike, window_shape: TensorLike, pooling_type: str, strides: TensorLike | None = None, padding: str = "VALID",
    data_format: Any = None, dilations: TensorLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """`"MAX"` or `"AVG"` pooling over the axes that `window_shape` counts, with dilations."""
    op = {"MAX": MAX_POOL, "AVG": AVG_POOL}.get(pooling_type)
    if op is None:
        raise invalid("pool", f"`pooling_type` must be 'MAX' or 'AVG'; got {pooling_type!r}")
    return _pooled("pool", op, input, window_shape, strides, padding, data_format, None, dilations)


class MaxPoolWithArgmax(NamedTuple):
    """The maximum of each window, and where it was found."""

    output: Any
    argmax: Any


@with_fallback
def max_pool_with_argmax(
    input: TensorLike, ksize: TensorLike, strides: TensorLike, padding: str, data_format: str = "NHWC",
    output_dtype: DTypeLike = dtypes.int64, include_batch_in_index: bool = False, name: str | None = None,
) -> MaxPoolWithArgmax:  # fmt: skip
    """`max_pool2d` and the flat index of each maximum in its image (or in the whole batch)."""
    x = operand(input)
    name = "max_pool_with_argmax"
    require(data_format == "NHWC", name, f"`data_format` must be 'NHWC'; got {data_format!r}")
    kind = dtypes.as_dtype(output_dtype)
    require(
        kind.name in ("int32", "int64"),
        name,
        f"`output_dtype` must be int32 or int64; got {kind.name}",
    )
    at = _windows(name, x, ksize, strides, padding, data_format, 4, 1)
    y = apply(MAX_POOL, x, **at)
    batched = bool(include_batch_in_index)
    return MaxPoolWithArgmax(y, apply(MAX_POOL_ARG, x, y, batched=batched, dtype=kind, **at))
