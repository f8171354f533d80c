"""Moving elements without changing them: identity, reshape, transpose, broadcasting, stacking."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from wengert.core import dtypes, shapes
from wengert.core.apply import apply
from wengert.core.convert import Hooks, operand, to_tensor
from wengert.core.errors import invalid
from wengert.core.indexed_slices import IndexedSlices
from wengert.core.lazy import lax
from wengert.core.op import Joint, Op, Spec
from wengert.core.shapes import TensorShape
from wengert.core.tensor import Value
from wengert.ops.declare import HALF, expand, in_float32, static, static_int, static_tuple, unary

IDENTITY = unary(
    "identity", lambda x: x, lambda x: x, grad=lambda g: g, accepts=dtypes.ANY, rows=True
)


def identity(input: Any, name: Any = None) -> Any:
    """The same value as a new tensor, so that tapes can tell the two apart."""
    if isinstance(input, IndexedSlices):
        return IndexedSlices(identity(input.values), identity(input.indices), input._dense_shape)
    return apply(IDENTITY, operand(input))


READ = unary(
    "read_variable", lambda x: x, lambda x: x, grad=lambda g: g, accepts=dtypes.ANY, rows=True
)
Hooks.read = lambda variable: apply(READ, variable)

STOP_GRADIENT = unary(
    "stop_gradient", lambda x: x, lambda x: lax.stop_gradient(x), grad=None, accepts=dtypes.ANY
)


def identity_n(input: Any, name: Any = None) -> list[Any]:
    """Each tensor of a list as a new tensor."""
    return [identity(x) for x in input]


def stop_gradient(input: Any, name: Any = None) -> Any:
    """The same value, treated as a constant by every tape."""
    return apply(STOP_GRADIENT, operand(input))


_MANY_ROWS = 128
_SMALL = 4096


def _sum_axes(have: tuple[int, ...], want: tuple[int, ...]) -> tuple[int, ...]:
    lead = len(have) - len(want)
    return tuple(range(lead)) + tuple(
        lead + i for i, d in enumerate(want) if d == 1 and have[lead + i] != 1
    )


def _sum_to_kernel(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    have = x.shape
    # The gradient of a bias, in most cases.
    small = len(have) == len(shape) + 1 and have[1:] == shape and have[0] < _MANY_ROWS
    if small and x.dtype.kind == "f" and x.dtype.num not in HALF:
        return np.add.reduce(x, 0)
    return _sum_any(x, shape=shape)


@in_float32
def _sum_any(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    lead = x.ndim - len(shape)
    if lead and x.shape[lead:] == shape:
        # BLAS sums long columns several times faster than NumPy.
        rows = math.prod(x.shape[:lead])
        if rows >= _MANY_ROWS and x.dtype.kind == "f" and x.flags.c_contiguous:
            return np.dot(np.ones(rows, x.dtype), x.reshape(rows, -1)).reshape(shape)
        return np.add.reduce(x, tuple(range(lead)), dtype=x.dtype)
    return np.add.reduce(x, _sum_axes(x.shape, shape), dtype=x.dtype).reshape(shape)


def _lower_sum_to(x: Any, shape: tuple[int, ...]) -> Any:
    summed = lax.reduce_sum(x, _sum_axes(x.shape, shape))
    return lax.reshape(summed, shape)


SUM_TO = Op(
    "sum_to",
    "x",
    kernel=_sum_to_kernel,
    infer=lambda x, shape: Spec(shape, x.dtype),
    lower=_lower_sum_to,
    grad=lambda g, x_shape: broadcast_to(g, x_shape),
)


def sum_to(x: Any, shape: Any) -> Any:
    """Undoes broadcasting: sums `x` down to `shape`."""
    return apply(SUM_TO, x, shape=shape)


def _infer_broadcast_to(x: Spec, shape: tuple[int, ...]) -> Spec:
    if min(shape, default=0) < 0:
        raise invalid("broadcast_to", f"a size must not be negative; got {list(shape)}")
    if x.shape is not None:
        bad = len(shape) < len(x.shape) or any(
            d not in (None, 1, s)
            for d, s in zip(x.shape, shape[len(shape) - len(x.shape) :], strict=True)
        )
        if bad:
            raise invalid(
                "broadcast_to",
                f"shape {TensorShape(x.shape)} does not broadcast to {TensorShape(shape)}",
                help="Sizes must be equal or 1, counted from the right.",
            )
    return Spec(shape, x.dtype)


def _broadcast_kernel(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if math.prod(shape) > _SMALL:
        return np.broadcast_to(x, shape)
    # A small copy costs a fifth of what NumPy takes to make the view.
    out = np.empty(shape, x.dtype)
    out[...] = x
    return out


BROADCAST_TO = Op(
    "broadcast_to",
    "x",
    kernel=_broadcast_kernel,
    infer=_infer_broadcast_to,
    lower=lambda x, shape: expand(x, tuple(shape)),
    grad=lambda g, x_shape: sum_to(g, x_shape),
)


def broadcast_to(input: Any, shape: Any, name: Any = None) -> Any:
    """Repeats a tensor along new axes and axes of size 1 until it has `shape`."""
    return apply(BROADCAST_TO, operand(input), shape=static_tuple("broadcast_to", shape, "shape"))


def _resolve(x: Spec, shape: tuple[int, ...]) -> tuple[int | None, ...]:
    """The target of a reshape with its -1 worked out, as far as that is known."""
    rest = 1
    for d in shape:
        rest *= 1 if d == -1 else d
    count = shapes.size(x.shape)
    wrong = shape.count(-1) > 1 or min(shape, default=0) < -1
    if count is None and not wrong:
        return tuple(None if d == -1 else d for d in shape)
    if not wrong and count is not None:
        if -1 not in shape and count == rest:
            return shape
        if -1 in shape and rest and count % rest == 0:
            return tuple(count // rest if d == -1 else d for d in shape)
        if -1 in shape and not rest and not count:
            # Beside a 0 the open size is what is left of the other sizes, as TensorFlow has it.
            left = math.prod(d or 1 for d in x.shape or ())
            left //= math.prod(d for d in shape if d > 0)
            return tuple(left if d == -1 else d for d in shape)
    raise invalid(
        "reshape",
        f"{count} elements do not fit shape {list(shape)}",
        x,
        help="The product of the sizes must stay the same; one size may be -1.",
    )


def _reshape_kernel(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    if shape and min(shape) < 0:
        # NumPy takes any negative size for -1, and refuses -1 beside a 0.
        shape = _resolve(Spec(x.shape, dtypes.of(x)), shape)  # type: ignore[assignment]
    return x.reshape(shape)


RESHAPE = Op(
    "reshape",
    "x",
    kernel=_reshape_kernel,
    infer=lambda x, shape: Spec(_resolve(x, shape), x.dtype),
    lower=lambda x, shape: lax.reshape(x, _resolve(Spec(x.shape, x.dtype), shape)),
    grad=lambda g, x_shape: reshape(g, x_shape),
)


def reshape(tensor: Any, shape: Any, name: Any = None) -> Any:
    """The same elements in row order under another shape; one size may be -1."""
    return apply(RESHAPE, operand(tensor), shape=static_tuple("reshape", shape, "shape"))


def _inverse(perm: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argsort(perm))


def _infer_transpose(x: Spec, perm: tuple[int, ...], conjugate: bool) -> Spec:
    if x.shape is None:
        return Spec((None,) * len(perm), x.dtype)
    if sorted(perm) != list(range(len(x.shape))):
        raise invalid(
            "transpose",
            f"`perm` {list(perm)} is not an order of the {len(x.shape)} axes",
            x,
            help="Name each axis once.",
        )
    return Spec(tuple(x.shape[i] for i in perm), x.dtype)


TRANSPOSE = Op(
    "transpose",
    "x",
    kernel=lambda x, perm, conjugate: (np.conj(x) if conjugate else x).transpose(perm),
    infer=_infer_transpose,
    lower=lambda x, perm, conjugate: lax.transpose(lax.conj(x) if conjugate else x, perm),
    grad=lambda g, perm, conjugate: apply(TRANSPOSE, g, perm=_inverse(perm), conjugate=conjugate),
    # With `conjugate` the map is not complex-linear, so the rule states the whole truth itself.
    holomorphic=False,
)


def transpose(a: Any, perm: Any = None, conjugate: bool = False, name: str = "transpose") -> Any:
    """Permutes the axes; reverses them without `perm`."""
    a = operand(a)
    rank = a._array.ndim
    order = tuple(range(rank))[::-1] if perm is None else static_tuple("transpose", perm, "perm")
    if any(not -rank <= i < rank for i in order):
        raise invalid("transpose", f"`perm` {list(order)} names an axis that is not there", a)
    order = tuple(i % rank for i in order)
    return apply(TRANSPOSE, a, perm=order, conjugate=bool(conjugate and a.dtype.is_complex))


def _infer_stack(*xs: Spec, axis: int) -> Spec:
    shape: Any = xs[0].shape
    for x in xs[1:]:
        if not shapes.compatible(shape, x.shape):
            raise invalid("stack", "all tensors must have the same shape", *xs[:4])
        shape = shapes.merge(shape, x.shape)
    if shape is None:
        return Spec(None, xs[0].dtype)
    return Spec((*shape[:axis], len(xs), *shape[axis:]), xs[0].dtype)


def _stack_kernel(*xs: np.ndarray, axis: int) -> np.ndarray:
    shape = xs[0].shape
    out = np.empty((*shape[:axis], len(xs), *shape[axis:]), xs[0].dtype)
    lead = (slice(None),) * axis
    for k, x in enumerate(xs):
        if x.shape != shape:
            raise ValueError
        out[(*lead, k)] = x
    return out


def _lower_stack(*xs: Any, axis: int) -> Any:
    return lax.concatenate([lax.expand_dims(x, (axis,)) for x in xs], axis)


STACK = Op(
    "stack",
    "*xs",
    kernel=_stack_kernel,
    infer=_infer_stack,
    lower=_lower_stack,
    grad=Joint(lambda g, axis: unstack(g, axis=axis)),
)


def stack(values: Any, axis: int = 0, name: str = "stack") -> Any:
    """Joins tensors of one shape along a new axis."""
    place = static_int("stack", axis)
    if isinstance(values, np.ndarray) and values.ndim and not place:
        return to_tensor(values)
    if not isinstance(values, Iterable):
        return to_tensor(values)
    found = unstack(values) if isinstance(values, Value) else list(values)
    if not place and not any(isinstance(v, Value) for v in found):
        return to_tensor(found)
    xs = _tensors("stack", found)
    return apply(STACK, *xs, axis=shapes.check_axis("stack", place, xs[0]._array.ndim + 1))


def parallel_stack(values: Any, name: str = "parallel_stack") -> Any:
    """Joins tensors of one shape along a new first axis."""
    return stack(values)


def _tensors(name: str, values: Any) -> list[Any]:
    """The members of a list as tensors of one dtype, that of the first tensor among them."""
    found = list(values)
    if not found:
        raise invalid(name, "the list of tensors is empty", help="Give at least one tensor.")
    hint = next((v.dtype for v in found if isinstance(v, Value)), None)
    first = operand(found[0], None, hint)
    return [first, *(operand(v, None, hint or first.dtype) for v in found[1:])]


def _infer_unstack(x: Spec, axis: int, num: int) -> tuple[Spec, ...]:
    if x.shape is None:
        return (Spec(None, x.dtype),) * num
    if x.shape[axis] not in (None, num):
        raise invalid("unstack", f"axis {axis} has size {x.shape[axis]}, not {num}", x)
    return (Spec((*x.shape[:axis], *x.shape[axis + 1 :]), x.dtype),) * num


def _lower_unstack(x: Any, axis: int, num: int) -> Any:
    return tuple(lax.index_in_dim(x, i, axis, keepdims=False) for i in range(num))


UNSTACK = Op(
    "unstack",
    "x",
    kernel=lambda x, axis, num: tuple(np.moveaxis(x, axis, 0) if axis else x),
    infer=_infer_unstack,
    lower=_lower_unstack,
    grad=lambda g, axis: stack(g, axis=axis),
    outputs=None,
)


def unstack(value: Any, num: int | None = None, axis: int = 0, name: str = "unstack") -> list[Any]:
    """Splits a tensor along an axis into a list of tensors without it."""
    x = operand(value)
    dims = x._array.shape
    axis = shapes.check_axis("unstack", static_int("unstack", axis), len(dims))
    count = dims[axis] if num is None else static_int("unstack", num, "num")
    if count != dims[axis]:
        raise invalid("unstack", f"axis {axis} has size {dims[axis]}, not `num` {count}", x)
    return list(apply(UNSTACK, x, axis=axis, num=count))


Hooks.stack = stack


def _infer_concat(*xs: Spec, axis: int) -> Spec:
    shape: Any = xs[0].shape
    total: int | None = 0
    for x in xs:
        if shape is None or x.shape is None:
            return Spec(None, x.dtype)
        rest = (*x.shape[:axis], None, *x.shape[axis + 1 :])
        if len(x.shape) != len(shape) or not shapes.compatible(
            (*shape[:axis], None, *shape[axis + 1 :]), rest
        ):
            raise invalid(
                "concat",
                f"all sizes but that of axis {axis} must agree",
                *xs[:4],
                help="Check the shapes, or use tf.stack for a new axis.",
            )
        size = x.shape[axis]
        total = None if total is None or size is None else total + size
        shape = shapes.merge((*shape[:axis], None, *shape[axis + 1 :]), rest)
    return Spec((*shape[:axis], total, *shape[axis + 1 :]), xs[0].dtype)


def _concat_grad(g: Any, shapes: Any, axis: int) -> Any:
    return split(g, [s[axis] for s in shapes], axis)


CONCAT = Op(
    "concat",
    "*xs",
    kernel=lambda *xs, axis: np.concatenate(xs, axis),
    infer=_infer_concat,
    lower=lambda *xs, axis: lax.concatenate(xs, axis),
    grad=Joint(_concat_grad),
)


def concat(values: Any, axis: Any, name: str = "concat") -> Any:
    """Joins tensors along an axis they have."""
    if isinstance(values, Value | np.ndarray) or not isinstance(values, Iterable):
        return identity(values)
    xs = _tensors("concat", values)
    if len(xs) == 1:
        return identity(xs[0])
    if not xs[0]._array.ndim:
        raise invalid("concat", "scalars have no axis to join along", *xs[:4], help="Use tf.stack.")
    places = static_tuple("concat", axis, "axis")
    if len(places) != 1:
        raise invalid("concat", f"`axis` must be one number; got {list(places)}")
    place = shapes.check_axis("concat", places[0], xs[0]._array.ndim)
    return apply(CONCAT, *xs, axis=place)


def _infer_split(x: Spec, sizes: tuple[int, ...], axis: int) -> tuple[Spec, ...]:
    if x.shape is None:
        return (Spec(None, x.dtype),) * len(sizes)
    if x.shape[axis] not in (None, sum(sizes)):
        raise invalid(
            "split", f"sizes {list(sizes)} do not add up to {x.shape[axis]}, axis {axis}", x
        )
    return tuple(Spec((*x.shape[:axis], n, *x.shape[axis + 1 :]), x.dtype) for n in sizes)


def _split_kernel(x: np.ndarray, sizes: tuple[int, ...], axis: int) -> tuple[np.ndarray, ...]:
    lead = (slice(None),) * axis
    parts = []
    start = 0
    for n in sizes:
        parts.append(x[(*lead, slice(start, start + n))])
        start += n
    return tuple(parts)


def _lower_split(x: Any, sizes: tuple[int, ...], axis: int) -> Any:
    ends = np.cumsum([0, *sizes]).tolist()
    return tuple(lax.slice_in_dim(x, a, b, axis=axis) for a, b in pairwise(ends))


SPLIT = Op(
    "split",
    "x",
    kernel=_split_kernel,
    infer=_infer_split,
    lower=_lower_split,
    grad=lambda g, axis: concat(g, axis),
    outputs=None,
)


def split(
    value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None, name: str = "split"
) -> list[Any]:
    """Cuts a tensor along an axis: into equal parts for a number, else into the given sizes.

    One of the sizes may be -1 and takes what is left.
    """
    x = operand(value)
    dims = x._array.shape
    place = shapes.check_axis("split", static_int("split", axis), len(dims))
    wanted = static("split", num_or_size_splits)
    size = dims[place]
    if isinstance(wanted, int):
        if wanted <= 0 or size % wanted:
            raise invalid(
                "split", f"axis {place} of size {size} does not cut into {wanted} equal parts", x
            )
        wanted = (size // wanted,) * wanted
    wanted = static_tuple("split", wanted, "num_or_size_splits")
    if num is not None and static_int("split", num, "num") != len(wanted):
        raise invalid("split", f"`num` is {num}, but there are {len(wanted)} sizes", x)
    if wanted.count(-1) == 1:
        rest = size - sum(wanted) - 1
        wanted = tuple(rest if n == -1 else n for n in wanted)
    if sum(wanted) != size or min(wanted, default=0) < 0:
        raise invalid(
            "split", f"sizes {list(wanted)} do not add up to {size}, the size of axis {place}", x
        )
    return list(apply(SPLIT, x, sizes=wanted, axis=place))
