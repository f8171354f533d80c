"""Operations on gradients: plain arrays, tensors or row-sparse ones; their sums, zeros and checks.

The order in which a tape's entries are taken is for `reference` and `backward` to know.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy import ndarray

from wengert.core import dtypes
from wengert.core.apply import apply, wrap
from wengert.core.context import executing_eagerly
from wengert.core.errors import describe, invalid, invalid_dtype
from wengert.core.op import RecordingPlan
from wengert.core.symbolic import shape_to_keep
from wengert.core.types import IndexedSlices, Op, RawSite, ShapeDtype, Tensor, Unranked
from wengert.ops.arithmetic import ACCUMULATE
from wengert.ops.cast import cast
from wengert.ops.complex import conj
from wengert.ops.create import zeros, zeros_like
from wengert.ops.gather import densify
from wengert.ops.joining import concat
from wengert.ops.shaping import SUM_LIKE, sum_to

Gradient = ndarray | Tensor | IndexedSlices
Grads = dict[int, Gradient]  # by the id of the tensor


def tensor(
    g: Tensor | np.ndarray | tuple[Tensor | None, ...] | IndexedSlices, site: RawSite | None = None
) -> Any:
    """A gradient that may be a plain array as a tensor."""
    return wrap(g, site) if type(g) is ndarray else g


def accumulate(
    a: Tensor | np.ndarray | IndexedSlices, b: Any
) -> Tensor | np.ndarray | IndexedSlices:
    """The sum of two gradients; row-sparse ones stay row-sparse, plain arrays plain."""
    if type(a) is ndarray and type(b) is ndarray:
        try:
            return np.asarray(a + b)
        except (RuntimeWarning, FloatingPointError):  # the program's wish, not meant for ours
            with np.errstate(all="ignore"):
                return np.asarray(a + b)
    a, b = tensor(a), tensor(b)
    if type(a) is IndexedSlices and type(b) is IndexedSlices:
        indices = [a.indices, b.indices]
        if a.indices.dtype is not b.indices.dtype:
            indices = [cast(i, dtypes.int64) for i in indices]
        shape = b._dense_shape if a._dense_shape is None else a._dense_shape
        return IndexedSlices(concat([a.values, b.values], 0), concat(indices, 0), shape)
    a, b = dense(a), dense(b)
    if executing_eagerly() or _known(a) == _known(b) is not None:
        return a + b
    return apply(ACCUMULATE, a, b)


def _known(x: Any) -> Any:
    """The shape of a tensor if all of it is known."""
    return x.shape._dims if x.shape.is_fully_defined() else None


def dense(g: Tensor | np.ndarray | IndexedSlices) -> Any:
    """A gradient as a tensor."""
    return densify(g) if type(g) is IndexedSlices else tensor(g)


def is_complex(g: Any) -> bool:
    """Whether a gradient, or one of several, is complex."""
    if isinstance(g, tuple):
        return any(x is not None and x.dtype.is_complex for x in g)
    return g.dtype.is_complex


def conjugate(g: Any) -> Any:
    """The conjugate of a gradient, or of several."""
    if isinstance(g, tuple):
        return tuple(x if x is None else conj(x) for x in g)
    if type(g) is IndexedSlices:
        return IndexedSlices(conj(g.values), g.indices, g._dense_shape)
    return conj(g)


def ones(like: ndarray) -> ndarray:
    """Ones in the shape of an array; that for a scalar, as most losses are, is made once."""
    if like.ndim:
        return np.ones(like.shape, like.dtype)
    cached = _ONE.get(like.dtype.num)
    if cached is None:
        cached = _ONE[like.dtype.num] = np.ones((), like.dtype)
    return cached


_ONE: dict[int, ndarray] = {}


def zeros_of(spec: ShapeDtype) -> Tensor:
    """Zeros for a result that no gradient reached."""
    if type(spec.shape) is Unranked:
        return zeros_like(spec.shape.tensor)
    return zeros(spec.shape, spec.dtype)


def together(
    gradients: list[Any], specs: Sequence[ShapeDtype], partial: bool
) -> tuple[Any, ...] | None:
    """The gradients of all results of one operation, `None` if nothing reached any of them.

    A result without a gradient has zeros, or `None` for a rule that takes `partial` gradients.
    """
    if all(g is None for g in gradients):
        return None
    dense_ones = [None if g is None else dense(g) for g in gradients]
    if partial:
        return tuple(dense_ones)
    pairs = zip(dense_ones, specs, strict=True)
    return tuple([zeros_of(spec) if g is None else g for g, spec in pairs])


def keeps_rows(op: Op, plan: RecordingPlan, inputs: Any) -> bool:
    """Whether a row-sparse gradient passes as it is: one rule, and the other inputs are scalars."""
    if len(plan.rules) != 1 or plan.rules[0][0] not in op.rows:
        return False
    others = [x for i, x in enumerate(inputs or ()) if i != plan.rules[0][0]]
    return all(x is not None and not x._array.ndim for x in others)


def checked(op: Op, answer: Any, count: int) -> list[Any]:
    """What the gradient function of a user returned, one value for each input."""
    values = list(answer) if isinstance(answer, list | tuple) else [answer]
    if len(values) != count:
        raise ValueError(
            f"{op.name}: the gradient function must return {count} values, one for each input; "
            f"got {len(values)}."
        )
    return values


def unbroadcast(g: Tensor, shape: Any) -> Tensor:
    """A gradient summed down to the shape of its tensor."""
    if type(shape) is Unranked:
        return apply(SUM_LIKE, g, shape.tensor)
    if type(shape_to_keep(g)) is Unranked:
        return sum_to(g, shape)
    return g if g._array.shape == shape else sum_to(g, shape)


def check_dtype(g: Tensor, source: Any, what: str) -> None:
    """Refuses a seed or tangent of another dtype than its tensor's."""
    if g.dtype is not source.dtype:
        rule = f"a gradient must have the dtype of its tensor, {describe(source)}"
        help = f"Cast it with tf.cast(x, tf.{source.dtype.name})."
        raise invalid_dtype(what, rule, g, help=help)


def check_shape(g: Tensor, source: Any, what: str) -> None:
    """Refuses a seed or custom gradient whose shape does not fit its tensor."""
    if not source.shape.is_compatible_with(g.shape):
        rule = f"a gradient must have the shape of its tensor, {describe(source)}"
        raise invalid(what, rule, g, help="Reshape it, or reduce it.")
