"""Moving blocks of space into the batch or the depth, and back.

Each is a reshape, a transpose and a reshape; `_Plan` holds those three, worked out from the shape,
and is run by NumPy or by `lax`. Every operation here is the gradient of its inverse.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from wengert.core.sites import caller
from wengert.ops.declare import (
    JaxArray,
    Op,
    Ranked,
    ShapeDtype,
    Tensor,
    TensorLike,
    Value,
    apply,
    dtypes,
    formula,
    invalid,
    is_open,
    is_symbol,
    lax,
    negative,
    operand,
    require,
    static,
    static_tuple,
    tf,
    where_ranked,
    with_fallback,
    wrap,
)
from wengert.ops.sizes import at_least
from wengert.ops.slicing import marked
from wengert.ops.strides import STRIDED_SLICE

_FORMATS = ("NHWC", "NCHW")


class _Plan(NamedTuple):
    """Cut the axes into blocks, move the blocks, join the axes."""

    cut: tuple[int, ...]
    order: tuple[int, ...]
    joined: tuple[int, ...]


def _run(x: np.ndarray, plan: _Plan) -> np.ndarray:
    return x.reshape(plan.cut).transpose(plan.order).reshape(plan.joined)


def _lower(x: JaxArray, plan: _Plan) -> JaxArray:
    return lax.reshape(lax.transpose(lax.reshape(x, plan.cut), plan.order), plan.joined)


def _out_to_batch(shape: tuple[int, ...], block: tuple[int, ...]) -> _Plan:
    m = len(block)
    batch, space, rest = shape[0], shape[1 : m + 1], shape[m + 1 :]
    small = tuple(d // b for d, b in zip(space, block, strict=True))
    cut = (batch, *(n for pair in zip(small, block, strict=True) for n in pair), *rest)
    order = (*range(2, 2 * m + 1, 2), 0, *range(1, 2 * m, 2), *range(2 * m + 1, len(cut)))
    return _Plan(cut, order, (batch * math.prod(block), *small, *rest))


def _in_from_batch(shape: tuple[int, ...], block: tuple[int, ...]) -> _Plan:
    m = len(block)
    batch, space, rest = shape[0] // math.prod(block), shape[1 : m + 1], shape[m + 1 :]
    cut = (*block, batch, *space, *rest)
    inner = tuple(n for k in range(m) for n in (m + 1 + k, k))
    order = (m, *inner, *range(2 * m + 1, len(cut)))
    large = tuple(d * b for d, b in zip(space, block, strict=True))
    return _Plan(cut, order, (batch, *large, *rest))


def _over(d: int | None, size: int | None) -> int | None:
    return None if d is None or size is None else d // size


def _times(*sizes: int | None) -> int | None:
    return None if None in sizes else math.prod(sizes)  # type: ignore[arg-type]  # no None


@where_ranked
def _infer_to_batch(x: Ranked, block: tuple[int, ...]) -> ShapeDtype:
    m = len(block)
    require(len(x.shape) > m, "space_to_batch", f"{m} block sizes need a rank above {m}", x)
    for axis, (d, b) in enumerate(zip(x.shape[1 : m + 1], block, strict=True), 1):
        if None not in (d, b) and d % b:  # type: ignore[operator]  # no None
            raise invalid(
                "space_to_batch",
                f"axis {axis} of (padded) size {d} does not divide into blocks of {b}",
                x,
            )
    small = [_over(d, b) for d, b in zip(x.shape[1 : m + 1], block, strict=True)]
    return ShapeDtype((_times(x.shape[0], *block), *small, *x.shape[m + 1 :]), x.dtype)


@where_ranked
def _infer_from_batch(x: Ranked, block: tuple[int, ...]) -> ShapeDtype:
    require(
        len(x.shape) > len(block),
        "batch_to_space",
        f"{len(block)} block sizes need a rank above {len(block)}",
        x,
    )
    whole = _times(*block)
    require(
        x.shape[0] is None or whole is None or not (x.shape[0] % whole),
        "batch_to_space",
        lambda: f"the batch of {x.shape[0]} does not divide by the block of {whole}",
        x,
    )
    m = len(block)
    large = [_times(d, b) for d, b in zip(x.shape[1 : m + 1], block, strict=True)]
    return ShapeDtype((_over(x.shape[0], whole), *large, *x.shape[m + 1 :]), x.dtype)


SPACE_TO_BATCH = Op(
    "space_to_batch",
    "x",
    kernel=lambda x, block: _run(x, _out_to_batch(x.shape, block)),
    infer=_infer_to_batch,
    lower=lambda x, block: _lower(x, _out_to_batch(x.shape, block)),
    grad=lambda g, block: apply(BATCH_TO_SPACE, g, block=block),
)

BATCH_TO_SPACE = Op(
    "batch_to_space",
    "x",
    kernel=lambda x, block: _run(x, _in_from_batch(x.shape, block)),
    infer=_infer_from_batch,
    lower=lambda x, block: _lower(x, _in_from_batch(x.shape, block)),
    grad=lambda g, block: apply(SPACE_TO_BATCH, g, block=block),
)


def _pairs(name: str, what: str, value: TensorLike, count: int) -> tuple[tuple[int, int], ...]:
    result = static(name, value)
    good = isinstance(result, tuple) and len(result) == count
    require(
        good
        and all(isinstance(p, tuple) and len(p) == 2 and not any(map(negative, p)) for p in result),
        name,
        lambda: f"`{what}` must be {count} pairs of sizes from 0 on; got {value!r}",
    )
    if not is_open(result):
        return result
    return tuple([tuple([at_least(name, f"`{what}`", n, 0) for n in pair]) for pair in result])


def _block(name: str, value: Any) -> tuple[int, ...]:
    result = static_tuple(name, value, "block_shape")
    require(
        not isinstance(static(name, value), int)
        and all(type(b) is not int or b >= 1 for b in result),
        name,
        lambda: f"`block_shape` must be a vector of sizes from 1 on; got {value!r}",
    )
    return tuple([at_least(name, "`block_shape`", b, 1) for b in result])


@with_fallback
def space_to_batch(
    input: TensorLike, block_shape: TensorLike, paddings: TensorLike, name: str | None = None
) -> Tensor:
    """Moves blocks of the axes after the first into the batch, after padding them with zeros."""
    x = operand(input)
    block = _block("space_to_batch", block_shape)
    around = _pairs("space_to_batch", "paddings", paddings, len(block))
    rest = x._array.ndim - 1 - len(block)
    if rest >= 0 and any(pair != (0, 0) for pair in around):
        x = tf.pad(x, ((0, 0), *around, *((0, 0),) * rest))
    return apply(SPACE_TO_BATCH, x, block=block)


space_to_batch_nd = space_to_batch


@with_fallback
def batch_to_space(
    input: TensorLike, block_shape: TensorLike, crops: TensorLike, name: str | None = None
) -> Tensor:
    """Moves blocks from the batch into the axes after the first, then crops them."""
    x = operand(input)
    if isinstance(static("batch_to_space", block_shape), int):
        block_shape = [block_shape] * 2
    block = _block("batch_to_space", block_shape)
    edges = _pairs("batch_to_space", "crops", crops, len(block))
    out = apply(BATCH_TO_SPACE, x, block=block)
    if all(pair == (0, 0) for pair in edges):
        return out
    sizes = out._array.shape[1 : len(block) + 1]
    for axis, (d, (a, b)) in enumerate(zip(sizes, edges, strict=True), 1):
        require(
            is_open((a, b, d)) or a + b <= d,
            "batch_to_space",
            f"`crops` {[a, b]} exceed axis {axis} of size {d}",
            x,
        )
    index = [marked(a, _end(d, a, b), None) for d, (a, b) in zip(sizes, edges, strict=True)]
    return apply(STRIDED_SLICE, out, index=((None, None, None), *index))


@formula
def _end(size: int, before: int, after: int) -> int:
    """Where an axis ends that is cropped at both ends."""
    require(
        is_symbol(size) or before + after <= size,
        "batch_to_space",
        f"`crops` {[before, after]} exceed an axis of size {size}",
    )
    return size - after


def required_space_to_batch_paddings(
    input_shape: TensorLike,
    block_shape: TensorLike,
    base_paddings: TensorLike | None = None,
    name: str | None = None,
) -> tuple[Any, Any]:
    """The least paddings that make sizes divide into blocks, and the crops that undo the extra."""
    what = "required_space_to_batch_paddings"
    sizes = static_tuple(what, input_shape, "input_shape")
    block = static_tuple(what, block_shape, "block_shape")
    require(0 not in block, what, f"`block_shape` must not hold a 0; got {list(block)}")
    require(len(sizes) == len(block), what, "`input_shape` and `block_shape` differ in length")
    base = ((0, 0),) * len(block)
    if base_paddings is not None:
        base = _pairs(what, "base_paddings", base_paddings, len(block))
    extra = [-(d + a + b) % n for d, (a, b), n in zip(sizes, base, block, strict=True)]
    paddings = [(a, b + e) for (a, b), e in zip(base, extra, strict=True)]
    return _whole(paddings), _whole([(0, e) for e in extra])


def _whole(pairs: list[tuple[int, ...]]) -> Value:
    if is_open(tuple(pairs)):
        return operand(pairs, dtypes.int32)
    return wrap(np.array(pairs, np.int32).reshape(-1, 2), caller())


def _to_depth(shape: tuple[int, ...], size: int, last: bool) -> _Plan:
    if last:
        n, h, w, c = shape
        cut = (n, h // size, size, w // size, size, c)
        return _Plan(cut, (0, 1, 3, 2, 4, 5), (n, h // size, w // size, size * size * c))
    n, c, h, w = shape
    cut = (n, c, h // size, size, w // size, size)
    return _Plan(cut, (0, 3, 5, 1, 2, 4), (n, size * size * c, h // size, w // size))


def _from_depth(shape: tuple[int, ...], size: int, last: bool) -> _Plan:
    if last:
        n, h, w, c = shape
        d = c // size**2
        return _Plan((n, h, w, size, size, d), (0, 1, 3, 2, 4, 5), (n, h * size, w * size, d))
    n, c, h, w = shape
    d = c // size**2
    return _Plan((n, size, size, d, h, w), (0, 3, 4, 1, 5, 2), (n, d, h * size, w * size))


def _infer_depth(name: str, x: ShapeDtype, size: int, last: bool) -> ShapeDtype:
    if x.shape is None:
        return ShapeDtype((None,) * 4, x.dtype)
    require(len(x.shape) == 4, name, "a tensor of rank 4 was expected", x)
    n, *image = x.shape
    h, w, c = image if last else (*image[1:], image[0])
    if name == "space_to_depth":
        require(
            all(d is None or not (d % size) for d in (h, w)),
            name,
            f"height and width must divide by `block_size` {size}",
            x,
        )
        out = [_over(h, size), _over(w, size), _times(c, size, size)]
    else:
        require(
            c is None or not (c % size**2),
            name,
            f"the depth must divide by {size**2}, `block_size` squared",
            x,
        )
        out = [_times(h, size), _times(w, size), _over(c, size**2)]
    return ShapeDtype((n, *out) if last else (n, out[2], *out[:2]), x.dtype)


SPACE_TO_DEPTH = Op(
    "space_to_depth",
    "x",
    kernel=lambda x, size, last: _run(x, _to_depth(x.shape, size, last)),
    infer=lambda x, size, last: _infer_depth("space_to_depth", x, size, last),
    lower=lambda x, size, last: _lower(x, _to_depth(x.shape, size, last)),
    grad=lambda g, size, last: apply(DEPTH_TO_SPACE, g, size=size, last=last),
)

DEPTH_TO_SPACE = Op(
    "depth_to_space",
    "x",
    kernel=lambda x, size, last: _run(x, _from_depth(x.shape, size, last)),
    infer=lambda x, size, last: _infer_depth("depth_to_space", x, size, last),
    lower=lambda x, size, last: _lower(x, _from_depth(x.shape, size, last)),
    grad=lambda g, size, last: apply(SPACE_TO_DEPTH, g, size=size, last=last),
)


def _options(name: str, block_size: TensorLike, data_format: str) -> dict[str, int]:
    size = static(name, block_size)
    require(
        isinstance(size, int) and size >= 2,
        name,
        lambda: f"`block_size` must be a number from 2 on; got {block_size!r}",
    )
    require(
        data_format in _FORMATS, name, f"`data_format` must be NHWC or NCHW; got {data_format!r}"
    )
    return {"size": size, "last": data_format == "NHWC"}


def space_to_depth(
    input: TensorLike, block_size: TensorLike, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Moves square blocks of an image into its channels."""
    return apply(
        SPACE_TO_DEPTH, operand(input), **_options("space_to_depth", block_size, data_format)
    )


def depth_to_space(
    input: TensorLike, block_size: TensorLike, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """Lays channels out as square blocks of an image: the inverse of `space_to_depth`."""
    return apply(
        DEPTH_TO_SPACE, operand(input), **_options("depth_to_space", block_size, data_format)
    )
