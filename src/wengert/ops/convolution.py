"""Convolution as three operations that are closed under differentiation.

`CONV` maps (x, w), `CONV_INPUT` is its transpose in x (also the transposed convolution), and
`CONV_FILTER` its transpose in w; each is the gradient of the others, so any order exists. The
filter is `[*window, in / groups, out]`. The host kernels are the compiled lowerings: measured
against patches and BLAS, XLA's convolution is as fast or faster in every direction.
"""

from __future__ import annotations

import math
from typing import Any

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.errors import invalid, require
from wengert.core.lowering_checks import is_symbol
from wengert.core.op import Op, ShapeDtype
from wengert.ops import sliding as geometry
from wengert.ops.compiled import compiled
from wengert.ops.convolution_lowerings import lower_conv, lower_filter, lower_input
from wengert.ops.costs import convolution
from wengert.ops.sizes import checked
from wengert.ops.sliding import outer_sizes

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
    if math.prod(n + span for n, span in zip(sizes, reach, strict=True)) * itemsize > _MOST_BYTES:
        rule = f"a window that spans {list(reach)} is too wide for an image of {list(sizes)}"
        raise invalid("conv", rule, help="Use smaller `dilations`.")


def _infer_input(g: ShapeDtype, w: ShapeDtype, shape: tuple[int, ...], **at: Any) -> ShapeDtype:
    want = _infer_conv(ShapeDtype(shape, g.dtype), w, **at)
    if g.shape is not None and want.shape is not None:
        fits = len(g.shape) == len(want.shape) and all(
            a is None or b is None or a == b for a, b in zip(g.shape, want.shape, strict=True)
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
    accepts=dtypes.nums("f", "int32"), cost=convolution,
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
    accepts=dtypes.nums("f", "int32"), cost=convolution,
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
    accepts=dtypes.nums("f", "int32"), cost=convolution,
)  # fmt: skip
