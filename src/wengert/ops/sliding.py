"""The geometry of sliding windows, shared by convolutions and pooling.

Turns what users give for strides, dilations, padding and data formats into one plain form: tuples
with one entry per spatial axis, `"SAME"`, `"VALID"` or pairs of sizes, and whether channels come
first. Knows nothing of arrays.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

from wengert.core.errors import (
    UnimplementedError,
    invalid,
    invalid_dtype,
    require,
    require_dtype,
    shown,
)
from wengert.core.types import TensorLike
from wengert.ops.sizes import fixed

_MOST = 2**31 - 1  # what the libraries that compute windows can count
Pairs = tuple[tuple[int, int], ...]
FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


class Windows(NamedTuple):
    """How windows lie over the spatial axes of a tensor."""

    strides: tuple[int, ...]
    padding: str | Pairs
    dilations: tuple[int, ...]
    first: bool


def channels_first(name: str, data_format: str | None, spatial: int) -> bool:
    """Whether a data format puts the channels before the `spatial` axes."""
    last, first = FORMATS[spatial]
    if data_format is None or data_format == last:
        return False
    if data_format == first:
        return True
    # TensorFlow's one-dimensional functions are also called with the two-dimensional names.
    if spatial == 1 and data_format in FORMATS[2]:
        return data_format == "NCHW"
    raise invalid(
        name, f"`data_format` must be {last!r} or {first!r}; got {shown(data_format)}",
        help=f"For {spatial} spatial axes these are the two orders of axes.",
    )  # fmt: skip


def not_both(name: str, strides: Any, dilations: Any, help: str) -> None:
    """Refuses strides together with dilations, as TensorFlow's general functions do."""
    require(
        max(strides) <= 1 or max(dilations) <= 1,
        name,
        f"`strides` > 1 cannot go together with `dilations` > 1; got {list(strides)} and "
        f"{list(dilations)}",
        help=help,
    )


def entries(
    name: str,
    what: str,
    value: TensorLike | None,
    spatial: int,
    first: bool,
    outer: tuple[int, ...] = (0, -1),
) -> tuple[int, ...]:
    """One positive number per axis of a tensor, from a number or a list with or without N and C.

    The axes named in `outer` (batch and channels, counted in `N...C` order) must have a 1.
    """
    result = fixed(name, what, 1 if value is None else value)
    given: Any = (result,) if isinstance(result, int) else tuple(result)
    if any(not isinstance(n, int) for n in given):
        raise invalid_dtype(name, f"`{what}` must be a number or a list of numbers", value)
    if len(given) == 1:
        given = given * spatial
    if len(given) == spatial:
        given = (1, 1, *given) if first else (1, *given, 1)
    if len(given) != spatial + 2:
        raise invalid(
            name, f"`{what}` must have 1, {spatial} or {spatial + 2} entries; got {list(given)}"
        )
    if min(given) < 1:
        raise invalid(name, f"`{what}` must be positive; got {list(given)}")
    if max(given) > _MOST:
        raise invalid(name, f"`{what}` must be at most {_MOST}; got {list(given)}")
    if any(given[1 if first and i else i] != 1 for i in outer):
        raise invalid(
            name,
            f"`{what}` over the {'batch or channel' if len(outer) > 1 else 'batch'} axis must "
            f"be 1; got {list(given)}",
            kind=UnimplementedError,
        )
    return given


def per_axis(
    name: str, what: str, value: TensorLike | None, spatial: int, first: bool
) -> tuple[int, ...]:
    """One positive number per spatial axis."""
    given = entries(name, what, value, spatial, first)
    return given[2:] if first else given[1:-1]


def as_padding(name: str, padding: Any, spatial: int, first: bool) -> str | Pairs:
    """`"SAME"`, `"VALID"`, or a pair of sizes per spatial axis."""
    if isinstance(padding, str):
        if padding in ("SAME", "VALID"):
            return padding
        raise invalid(name, f"`padding` must be 'SAME', 'VALID' or a list; got {padding!r}")
    pairs = fixed(name, "padding", padding)
    require_dtype(
        isinstance(pairs, tuple) and all(map(_is_pair, pairs)),
        name,
        lambda: f"`padding` must be 'SAME', 'VALID' or a list of pairs; got {padding!r}",
    )
    require(
        len(pairs) == spatial + 2,
        name,
        f"`padding` must have {spatial + 2} pairs, one for each axis; got {len(pairs)}",
    )
    outer = pairs[:2] if first else (pairs[0], pairs[-1])
    require(
        outer == ((0, 0), (0, 0)),
        name,
        "`padding` of the batch and channel axes must be 0",
        padding,
    )
    pairs = pairs[2:] if first else pairs[1:-1]
    require(min(itertools.chain(*pairs)) >= 0, name, "`padding` must not be negative", padding)
    return pairs


def _is_pair(pair: tuple[int, ...]) -> bool:
    return isinstance(pair, tuple) and len(pair) == 2 and all(isinstance(n, int) for n in pair)


def windows(
    name: str,
    strides: TensorLike | None,
    padding: TensorLike,
    dilations: TensorLike | None,
    data_format: str | None,
    spatial: int,
) -> Windows:
    """The arguments of a convolution in plain form."""
    first = channels_first(name, data_format, spatial)
    return Windows(
        per_axis(name, "strides", strides, spatial, first),
        as_padding(name, padding, spatial, first),
        per_axis(name, "dilations", dilations, spatial, first),
        first,
    )


def resolve(sizes: Any, reach: tuple[int, ...], strides: tuple[int, ...], padding: Any) -> Pairs:
    """The padding before and after each axis; `reach` is the extent of a window."""
    if padding == "VALID":
        return ((0, 0),) * len(strides)
    if padding != "SAME":
        return padding
    results = []
    for size, span, stride in zip(sizes, reach, strides, strict=True):
        total = max((-(-size // stride) - 1) * stride + span - size, 0)
        results.append((total // 2, total - total // 2))
    return tuple(results)


def extent(window: tuple[int, ...], dilations: tuple[int, ...]) -> tuple[int, ...]:
    """How many elements a dilated window spans."""
    return tuple((k - 1) * d + 1 for k, d in zip(window, dilations, strict=True))


def outer_sizes(name: str, sizes: Any, reach: Any, strides: Any, padding: Any) -> Any:
    """The number of windows along each axis; `None` where a size is unknown."""
    results: list[int | None] = []
    for i, (size, span, stride) in enumerate(zip(sizes, reach, strides, strict=True)):
        if size is None or (span is None and padding != "SAME"):
            results.append(None)
        elif padding == "SAME":  # whatever the window
            results.append(-(-size // stride))
        else:
            full = size if padding == "VALID" else size + sum(padding[i])
            room = full - span + stride
            if room <= -stride:  # TensorFlow divides towards zero: a little too large gives none
                raise invalid(
                    name, f"a window of {span} does not fit into a size of {full}",
                    help="Use a smaller window, or padding 'SAME'.",
                )  # fmt: skip
            results.append(max(room // stride, 0))
    return results


def split(shape: tuple[int | None, ...], first: bool) -> tuple[Any, Any, Any]:
    """Batch, channels and spatial sizes of a tensor's shape."""
    if first:
        return shape[0], shape[1], tuple(shape[2:])
    return shape[0], shape[-1], tuple(shape[1:-1])


def join(
    batch: int | None,
    channels: int | None,
    sizes: list[int] | tuple[int, ...] | tuple[None, ...],
    first: bool,
) -> tuple[int | None, ...]:
    """The inverse of `split`."""
    return (batch, channels, *sizes) if first else (batch, *sizes, channels)


def offsets(window: tuple[int, ...], dilations: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The places inside a window, in row order."""
    return itertools.product(*(range(0, k * d, d) for k, d in zip(window, dilations, strict=True)))
