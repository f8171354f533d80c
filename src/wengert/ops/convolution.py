"""Convolution as three operations that are closed under differentiation, and the public functions.

`CONV` maps (x, w), `CONV_INPUT` is its transpose in x (also the transposed convolution), and
`CONV_FILTER` its transpose in w; each is the gradient of the others, so any order exists. The
filter is `[*window, in / groups, out]`; channel groups follow from it: an input with twice the
filter's channels has two groups. The host kernels are the compiled lowerings: measured against
patches and BLAS, XLA's convolution is as fast or faster in every direction. Every public function
takes both orders of axes and explicit padding, and allows dilations together with strides.
"""

from __future__ import annotations

import math
from typing import Any

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.dims import known_unequal
from wengert.core.errors import require
from wengert.core.fallbacks import with_fallback
from wengert.core.lowering_checks import is_symbol
from wengert.core.op import Op, ShapeDtype
from wengert.core.types import ShapeLike, SymbolicTensor, Tensor, TensorLike, Value
from wengert.ops import costs
from wengert.ops import public as tf
from wengert.ops import sliding as geometry
from wengert.ops.compiled import compiled
from wengert.ops.convolution_lowerings import lower_conv, lower_filter, lower_input
from wengert.ops.declare import static_tuple
from wengert.ops.shape_checks import sized
from wengert.ops.sizes import checked
from wengert.ops.sliding import Windows, outer_sizes, windows

_MOST_BYTES = 2**59  # of one channel of a padded image; XLA counts those of all in 63 bits


def _infer_conv(
    x: ShapeDtype, w: ShapeDtype, strides: Any, padding: Any, dilations: Any, first: bool
) -> ShapeDtype:
    spatial = len(strides)
    for y, what in ((x, "input"), (w, "filters")):
        require(
            y.shape is None or len(y.shape) == spatial + 2,
            "conv",
            f"`{what}` must have rank {spatial + 2}",
            x,
            w,
        )
    if x.shape is None:
        return ShapeDtype((None,) * (spatial + 2), x.dtype)
    batch, channels, sizes = geometry.split(x.shape, first)
    if w.shape is None:
        return ShapeDtype(geometry.join(batch, None, (None,) * spatial, first), x.dtype)
    inner, outer = w.shape[-2:]
    if channels is not None and inner is not None:
        require(
            inner != 0 and not (channels % inner),
            "conv",
            "the input channels must be a multiple of the filter's",
            x,
            w,
            help=f"The filter takes {inner} channels, the input has {channels}.",
        )
        require(
            outer is None or not channels or not (outer % (channels // inner)),
            "conv",
            lambda: (
                f"the input has {channels} channels and the filter takes {inner}, which makes "
                f"{channels // inner} groups, and its {outer} outputs do not divide by that"
            ),
            x,
            w,
            help="Check the filter's shape: [..., in, out].",
        )
    reach = [
        None if k is None else (k - 1) * d + 1
        for k, d in zip(w.shape[:spatial], dilations, strict=True)
    ]
    if inner == 1 and not any(n is None or is_symbol(n) for n in (*sizes, *reach)):
        _check_reach(sizes, reach, x.dtype.size)
    counts = outer_sizes("conv", sizes, reach, strides, padding)
    return ShapeDtype(geometry.join(batch, outer, counts, first), x.dtype)


def _check_reach(sizes: Any, reach: list[int] | list[int | None], itemsize: int) -> None:
    """Refuses windows that reach further than a padded image can: XLA would end the process."""
    require(
        math.prod(n + span for n, span in zip(sizes, reach, strict=True)) * itemsize <= _MOST_BYTES,
        "conv",
        f"a window that spans {list(reach)} is too wide for an image of {list(sizes)}",
        help="Use smaller `dilations`.",
    )


def _infer_input(g: ShapeDtype, w: ShapeDtype, shape: tuple[int, ...], **at: Any) -> ShapeDtype:
    want = _infer_conv(ShapeDtype(shape, g.dtype), w, **at)
    if g.shape is not None and want.shape is not None:
        fits = len(g.shape) == len(want.shape) and all(
            not known_unequal(a, b) for a, b in zip(g.shape, want.shape, strict=True)
        )
        require(
            fits,
            "conv_transpose",
            f"an output of shape {list(shape)} does not come from this input and filter",
            g,
            w,
            help=f"The input would have to be {list(want.shape)}.",
        )
    return ShapeDtype(tuple(shape), g.dtype)


CONV = Op(
    "conv",
    "x w",
    kernel=checked(compiled(lower_conv), _infer_conv),
    infer=_infer_conv,
    lower=checked(lower_conv, _infer_conv),
    grad=(
        lambda g, w, x_shape, strides, padding, dilations, first: apply(
            CONV_INPUT, g, w, shape=tuple(x_shape), strides=strides, padding=padding,
            dilations=dilations, first=first,
        ),
        lambda g, x, w_shape, strides, padding, dilations, first: apply(
            CONV_FILTER, x, g, shape=tuple(w_shape), strides=strides, padding=padding,
            dilations=dilations, first=first,
        ),
    ),
    accepts=dtypes.nums("f", "int32"), cost=costs.convolution, compiles=True,
)  # fmt: skip

CONV_INPUT = Op(
    "conv_input",
    "g w",
    kernel=checked(compiled(lower_input), _infer_input),
    infer=_infer_input,
    lower=checked(lower_input, _infer_input),
    grad=(
        lambda h, w, strides, padding, dilations, first: apply(
            CONV, h, w, strides=strides, padding=padding, dilations=dilations, first=first
        ),
        lambda h, g, w_shape, strides, padding, dilations, first: apply(
            CONV_FILTER, h, g, shape=tuple(w_shape), strides=strides, padding=padding,
            dilations=dilations, first=first,
        ),
    ),
    accepts=dtypes.nums("f", "int32"), cost=costs.convolution, compiles=True,
)  # fmt: skip

CONV_FILTER = Op(
    "conv_filter",
    "x g",
    kernel=compiled(lower_filter),
    infer=lambda x, g, shape, strides, padding, dilations, first: ShapeDtype(tuple(shape), x.dtype),
    lower=lower_filter,
    grad=(
        lambda h, g, x_shape, strides, padding, dilations, first: apply(
            CONV_INPUT, g, h, shape=tuple(x_shape), strides=strides, padding=padding,
            dilations=dilations, first=first,
        ),
        lambda h, x, strides, padding, dilations, first: apply(
            CONV, x, h, strides=strides, padding=padding, dilations=dilations, first=first
        ),
    ),
    accepts=dtypes.nums("f", "int32"), cost=costs.convolution, compiles=True,
    adds_up=lambda x, g, **attrs: (0, 0),
)  # fmt: skip


def _ranked(x: Value, rank: int) -> Value:
    """An input; one of unknown rank is taken for images without further leading axes."""
    if type(x) is SymbolicTensor and x.shape.rank is None:
        return tf.ensure_shape(x, (None,) * rank)
    return x


def _convolve(name: str, x: Value, w: Tensor, at: Windows) -> Tensor:
    """Applies `CONV`, taking any further leading axes of `x` as one batch."""
    spatial = len(at.strides)
    x = _ranked(x, spatial + 2)
    require(
        x.ndim >= spatial + 2 and w.ndim == spatial + 2,
        name,
        f"`input` must have rank {spatial + 2} or more, `filters` rank {spatial + 2}",
        x,
        w,
        help="An image is [batch, height, width, channels]; add an axis with tf.newaxis.",
    )
    lead = x._array.shape[: x.ndim - spatial - 1]
    if len(lead) == 1:
        return apply(CONV, x, w, **at._asdict())
    rest = x._array.shape[len(lead) :]
    count = 1
    for size in lead:
        count *= size
    y = apply(CONV, tf.reshape(x, (count, *rest)), w, **at._asdict())
    return tf.reshape(y, (*lead, *y._array.shape[1:]))


def _pair(input: TensorLike, filters: Any) -> tuple[Value, Tensor]:
    x = operand(input)
    return x, operand(filters, None, x.dtype)


@with_fallback
def conv1d(
    input: TensorLike, filters: TensorLike, stride: TensorLike, padding: TensorLike, data_format: str = "NWC",
    dilations: TensorLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Slides a filter `[width, in, out]` over sequences `[batch, width, in]`."""
    at = windows("conv1d", stride, padding, dilations, data_format, 1)
    return _convolve("conv1d", *_pair(input, filters), at)


@with_fallback
def conv2d(
    input: TensorLike, filters: TensorLike, strides: TensorLike, padding: TensorLike, data_format: str = "NHWC",
    dilations: TensorLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Slides a filter `[height, width, in, out]` over images `[batch, height, width, in]`.

    Args:
        input: images `[batch, height, width, channels]`, or in the order of `data_format`.
        filters: the filter, of the same dtype.
        strides: the step: one number, one for each side, or one for each axis of the images.
        padding: "SAME", "VALID" or a list of pairs, one for each axis.
        data_format: "NHWC" or "NCHW".
        dilations: the distance between taps of the filter, given as `strides` are.
        name: without effect.

    Returns:
        Images with `out` channels.

    Raises:
        ValueError: a rank, a number of channels or the padding does not fit.

    >>> image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    >>> sums = tf.nn.conv2d(image, tf.ones([2, 2, 1, 1]), strides=1, padding="VALID")
    >>> sums.numpy().ravel().tolist()
    [8.0, 12.0, 20.0, 24.0]
    """
    at = windows("conv2d", strides, padding, dilations, data_format, 2)
    return _convolve("conv2d", *_pair(input, filters), at)


@with_fallback
def conv3d(
    input: TensorLike, filters: TensorLike, strides: TensorLike, padding: str, data_format: str = "NDHWC",
    dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Slides a filter `[depth, height, width, in, out]` over volumes."""
    at = windows("conv3d", strides, padding, dilations, data_format, 3)
    return _convolve("conv3d", *_pair(input, filters), at)


def _spatial(name: str, w: Tensor) -> int:
    require(w.ndim in (3, 4, 5), name, "`filters` must have rank 3, 4 or 5", w)
    return w.ndim - 2


@with_fallback
def convolution(
    input: TensorLike, filters: Any, strides: TensorLike | None = None, padding: str = "VALID",
    data_format: str | None = None, dilations: TensorLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """A convolution over one, two or three spatial axes, as the filter says."""
    x, w = _pair(input, filters)
    spatial = _spatial("convolution", w)
    at = windows("convolution", strides, padding, dilations, data_format, spatial)
    geometry.not_both(
        "convolution", at.strides, at.dilations, "tf.nn.conv2d and its kin take both."
    )
    return _convolve("convolution", x, w, at)


def atrous_conv2d(
    value: TensorLike, filters: TensorLike, rate: TensorLike, padding: str, name: str | None = None
) -> Tensor:
    """A convolution with holes: `conv2d` with dilation `rate`."""
    return conv2d(value, filters, 1, padding, dilations=rate)


def _transposed(
    name: str, input: TensorLike, filters: TensorLike, output_shape: Any, strides: TensorLike, padding: str,
    data_format: str | None, dilations: TensorLike | None, spatial: int | None = None,
) -> Tensor:  # fmt: skip
    x, w = _pair(input, filters)
    spatial = _spatial(name, w) if spatial is None else spatial
    at = windows(name, strides, padding, dilations, data_format, spatial)
    require(
        x.ndim == spatial + 2 and w.ndim == spatial + 2,
        name,
        f"`input` and `filters` must have rank {spatial + 2}",
        x,
        w,
    )
    batch, channels, _ = geometry.split(x._array.shape, at.first)
    w = sized(
        name,
        "the filter's last axis must equal the input channels",
        w,
        (*[None] * (spatial + 1), channels),
        x,
        help="Filters of transposed convolutions are [*window, out, in].",
    )
    shape = static_tuple(name, output_shape)
    if len(shape) == spatial:
        shape = geometry.join(batch, w._array.shape[-2], shape, at.first)
    require(
        len(shape) == spatial + 2,
        name,
        f"`output_shape` must have {spatial + 2} sizes; got {list(shape)}",
    )
    return apply(CONV_INPUT, x, w, shape=shape, **at._asdict())


@with_fallback
def conv1d_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: TensorLike, padding: str = "SAME",
    data_format: str = "NWC", dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The transpose of `conv1d` (its gradient); filters are `[width, out, in]`."""
    return _transposed(
        "conv1d_transpose", input, filters, output_shape, strides, padding, data_format,
        dilations, 1,
    )  # fmt: skip


@with_fallback
def conv2d_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: TensorLike, padding: str = "SAME",
    data_format: str = "NHWC", dilations: TensorLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The transpose of `conv2d` (its gradient); filters are `[height, width, out, in]`."""
    return _transposed(
        "conv2d_transpose", input, filters, output_shape, strides, padding, data_format,
        dilations, 2,
    )  # fmt: skip


@with_fallback
def conv3d_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: TensorLike, padding: str = "SAME",
    data_format: str = "NDHWC", dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The transpose of `conv3d` (its gradient); filters are `[depth, height, width, out, in]`."""
    return _transposed(
        "conv3d_transpose", input, filters, output_shape, strides, padding, data_format,
        dilations, 3,
    )  # fmt: skip


@with_fallback
def conv_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: TensorLike, padding: str = "SAME",
    data_format: Any = None, dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The transpose of `convolution`, of the rank that the filter says."""
    return _transposed(
        "conv_transpose", input, filters, output_shape, strides, padding, data_format, dilations
    )


def atrous_conv2d_transpose(
    value: TensorLike,
    filters: TensorLike,
    output_shape: ShapeLike,
    rate: TensorLike,
    padding: str,
    name: str | None = None,
) -> Tensor:
    """The transpose of `atrous_conv2d`."""
    return conv2d_transpose(value, filters, output_shape, 1, padding, dilations=rate)


@with_fallback
def depthwise_conv2d(
    input: TensorLike, filter: TensorLike, strides: TensorLike, padding: str, data_format: str | None = None,
    dilations: TensorLike | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """Convolves each channel with its own filters `[height, width, in, multiplier]`."""
    x, w = _pair(input, filter)
    x = _ranked(x, 4)
    at = windows("depthwise_conv2d", strides, padding, dilations, data_format, 2)
    rule = "`filter` must be [height, width, channels, multiplier]"
    help = "Its third size must equal the input channels."
    require(x.ndim >= 4 and w.ndim == 4, "depthwise_conv2d", rule, x, w, help=help)
    channels = x._array.shape[-3 if at.first else -1]
    w = sized("depthwise_conv2d", rule, w, (None, None, channels, None), x, help=help)
    height, width, channels, multiplier = w._array.shape
    return _convolve(
        "depthwise_conv2d", x, tf.reshape(w, (height, width, 1, channels * multiplier)), at
    )


@with_fallback
def separable_conv2d(
    input: TensorLike, depthwise_filter: TensorLike, pointwise_filter: TensorLike, strides: TensorLike, padding: str,
    data_format: Any = None, dilations: Any = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """A depthwise convolution followed by a 1×1 convolution that mixes the channels."""
    y = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    w = operand(pointwise_filter, None, y.dtype)
    rule = "`pointwise_filter` must be [1, 1, channels, outputs]"
    w = sized("separable_conv2d", rule, w, (1, 1, None, None))
    channels = y._array.shape[1 if data_format == "NCHW" else -1]
    rule = "`pointwise_filter` must take the depthwise outputs"
    w = sized("separable_conv2d", rule, w, (None, None, channels, None), y)
    return conv2d(y, w, 1, "VALID", data_format or "NHWC")
