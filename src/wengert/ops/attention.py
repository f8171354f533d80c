"""Scaled dot-product attention as one operation, so that a compiler can fuse it.

The lowering is plain `lax` (two batched products around a stable softmax), or on a GPU, where
the arguments suit it, the fused kernel that JAX offers. A row that may attend to nothing gives
zeros. The tape keeps the arguments alone; the gradient works the weights out again.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.core import late_operations as late
from wengert.core import shapes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.dims import Dim, known_unequal
from wengert.core.errors import require, require_dtype
from wengert.core.fallbacks import with_fallback
from wengert.core.lazy_modules import jax, lax
from wengert.core.op import Joint, Op, ShapeDtype
from wengert.core.types import JaxArray, Tensor, TensorLike, Value
from wengert.ops import public as tf
from wengert.ops.declare import expand, in_float32, lower_in_float32
from wengert.ops.fast_reductions import fold
from wengert.ops.shaping import sum_to
from wengert.ops.sizes import checked
from wengert.ops.softmax import SOFTMAX_GRAD, once, spread


# `scale` is `None` where it follows from a size that is known only when a function runs.
def _usual(scale: float | None, dim: int) -> float:
    """The scale given, or 1 / sqrt(dim)."""
    return scale if scale is not None else 1 / math.sqrt(dim) if dim else 1.0


def _weights_array(
    q: np.ndarray, k: np.ndarray, *mask: np.ndarray, is_causal: bool, scale: float | None
) -> np.ndarray:
    kind = q.dtype.type
    scores = np.matmul(q * kind(_usual(scale, q.shape[-1])), np.swapaxes(k, -1, -2))
    for m in mask:
        scores = np.where(m, scores, kind(-np.inf)) if m.dtype.kind == "b" else scores + m
    if is_causal:
        scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, kind(-np.inf))
    if not scores.size:
        return scores
    top = scores.max(-1, keepdims=True)
    top[top == -np.inf] = 0
    e = np.exp(scores - top)
    total = e.sum(-1, keepdims=True)
    total[total == 0] = 1
    e /= total
    return e


def _lower_weights(
    q: JaxArray, k: JaxArray, *mask: JaxArray, is_causal: bool, scale: float | None
) -> JaxArray:
    lead = tuple(range(q.ndim - 2))
    numbers = (((q.ndim - 1,), (k.ndim - 1,)), (lead, lead))
    factor = lax.full_like(q, _usual(scale, q.shape[-1]))
    scores = lax.dot_general(lax.mul(q, factor), k, numbers)
    last = scores.ndim - 1
    low = lax.full_like(scores, -np.inf)
    for m in mask:
        m = expand(m, scores.shape)  # the same mask, in full
        scores = lax.select(m, scores, low) if m.dtype == bool else lax.add(scores, m)
    if is_causal:
        row = lax.broadcasted_iota(np.int32, scores.shape, last - 1)
        column = lax.broadcasted_iota(np.int32, scores.shape, last)
        scores = lax.select(lax.ge(row, column), scores, low)
    top = fold(scores, -np.inf, lax.max, (last,))
    top = lax.select(lax.eq(top, lax.full_like(top, -np.inf)), lax.full_like(top, 0), top)
    e = lax.exp(lax.sub(scores, spread(once(top, scores), scores.shape, last)))
    total = fold(e, 0, lax.add, (last,))
    total = lax.select(lax.eq(total, lax.full_like(total, 0)), lax.full_like(total, 1), total)
    return lax.div(e, spread(once(total, scores), scores.shape, last))


_NAME = "scaled_dot_product_attention"


def _infer_weights(
    q: ShapeDtype, k: ShapeDtype, *mask: ShapeDtype, is_causal: bool, scale: float | None
) -> ShapeDtype:
    if q.shape is None or k.shape is None:
        return ShapeDtype(None, q.dtype)
    batch = shapes.merge(q.shape[:-2], k.shape[:-2]) or ()
    return ShapeDtype((*batch, q.shape[-2], k.shape[-2]), q.dtype)


def _weights_grad(
    g: Tensor,
    inputs: tuple[Tensor, ...],
    outs: tuple[Tensor, ...],
    needs: tuple[bool, ...],
    scale: float | None,
) -> tuple[Tensor | None, ...]:
    q, k, *mask = inputs
    over_scores = apply(SOFTMAX_GRAD, g, outs[0], axis=outs[0].ndim - 1)
    factor = tf.rsqrt(operand(q._array.shape[-1], q.dtype)) if scale is None else scale
    return (
        factor * tf.matmul(over_scores, k) if needs[0] else None,
        factor * tf.matmul(over_scores, q, transpose_a=True) if needs[1] else None,
        *(
            sum_to(over_scores, m._array.shape) if need and m.dtype.is_floating else None
            for m, need in zip(mask, needs[2:], strict=True)
        ),
    )


ATTENTION_WEIGHTS = Op(
    "attention_weights",
    "*xs",
    kernel=in_float32(_weights_array),
    infer=_infer_weights,
    lower=lower_in_float32(_lower_weights),
    grad=Joint(_weights_grad),
    match=(0, 1),
)


def _attention_kernel(
    q: np.ndarray, k: np.ndarray, v: np.ndarray, *mask: np.ndarray, is_causal: bool,
    scale: float | None,
) -> np.ndarray:  # fmt: skip
    return np.matmul(_weights_array(q, k, *mask, is_causal=is_causal, scale=scale), v)


def _lower_attention(
    q: JaxArray, k: JaxArray, v: JaxArray, *mask: JaxArray, is_causal: bool, scale: float | None
) -> JaxArray:
    if _suits_fused(q, k, v, mask):
        # By way of its gradient, so that both directions share one forward kernel.
        return jax.vjp(_fused(is_causal, scale), q, k, v)[0]
    return _lower_plain(q, k, v, *mask, is_causal=is_causal, scale=scale)


def _suits_fused(
    q: JaxArray, k: JaxArray, v: JaxArray, mask: tuple[JaxArray | np.ndarray, ...]
) -> bool:
    """Whether the fused kernel of a GPU takes these arguments."""
    half = q.dtype.itemsize == 2 and q.ndim == 4 and not mask
    narrow = q.shape[-1] % 8 == 0 and q.shape[-1] <= 128 and v.shape[-1] == q.shape[-1]
    return half and narrow and 0 not in q.shape + k.shape and jax.default_backend() == "gpu"


def _fused(is_causal: bool, scale: float | None) -> Any:
    def attend(q: Any, k: Any, v: Any) -> Any:
        turned = [lax.transpose(x, (0, 2, 1, 3)) for x in (q, k, v)]
        y = jax.nn.dot_product_attention(
            *turned, is_causal=is_causal, scale=scale, implementation="cudnn"
        )
        return lax.transpose(y, (0, 2, 1, 3))

    return attend


def _lower_plain(
    q: JaxArray, k: JaxArray, v: JaxArray, *mask: JaxArray, is_causal: bool, scale: float | None
) -> JaxArray:
    if q.dtype.itemsize == 2:
        return lower_in_float32(_lower_plain)(q, k, v, *mask, is_causal=is_causal, scale=scale)
    weights = _lower_weights(q, k, *mask, is_causal=is_causal, scale=scale)
    lead = tuple(range(q.ndim - 2))
    return lax.dot_general(weights, v, (((q.ndim - 1,), (q.ndim - 2,)), (lead, lead)))


def _infer_attention(
    q: ShapeDtype,
    k: ShapeDtype,
    v: ShapeDtype,
    *mask: ShapeDtype,
    is_causal: bool,
    scale: float | None,
) -> ShapeDtype:
    if q.shape is None or k.shape is None or v.shape is None:
        return ShapeDtype(None, q.dtype)
    a, b, c = q.shape, k.shape, v.shape
    fits = (
        len(a) == len(b) == len(c) >= 2
        and all(shapes.compatible(x, y) for x, y in ((a[:-2], b[:-2]), (b[:-1], c[:-1])))
        and shapes.compatible(a[:-2], c[:-2])
        and not known_unequal(a[-1], b[-1])
    )
    require(
        fits,
        _NAME,
        "`query` [..., n, dim], `key` [..., m, dim] and `value` [..., m, d] must agree",
        q,
        k,
        v,
        help="Repeat the heads of `key` and `value` where there are fewer.",
    )
    batch = shapes.merge(a[:-2], shapes.merge(b[:-2], c[:-2])) or ()
    full = (*batch, a[-2], c[-2] if b[-2] is None else b[-2])
    for m in mask:
        require(
            not known_unequal(shapes.broadcast(_NAME, m.shape, full), full),
            _NAME,
            f"`mask` must broadcast to the scores {list(full)}",
            m,
        )
    return ShapeDtype((*batch, a[-2], c[-1]), q.dtype)


def _attention_grad(
    g: Tensor,
    inputs: tuple[Tensor, ...],
    needs: tuple[bool, ...],
    is_causal: bool,
    scale: float | None,
) -> tuple[Tensor | None, ...]:
    if any(needs[3:]):
        return _grad_in_parts(g, inputs, needs, is_causal, scale)
    result = apply(ATTENTION_GRAD, g, *inputs, is_causal=is_causal, scale=scale)
    return *result, *[None] * (len(inputs) - 3)


def _grad_kernel(
    g: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray, *mask: np.ndarray,
    is_causal: bool, scale: float | None,
) -> tuple[np.ndarray, ...]:  # fmt: skip
    p = _weights_array(q, k, *mask, is_causal=is_causal, scale=scale)
    over_p = np.matmul(g, np.swapaxes(v, -1, -2))
    over_s = p * (over_p - (over_p * p).sum(-1, keepdims=True))
    over_s *= q.dtype.type(_usual(scale, q.shape[-1]))
    return (
        np.matmul(over_s, k),
        np.matmul(np.swapaxes(over_s, -1, -2), q),
        np.matmul(np.swapaxes(p, -1, -2), g),
    )


def _lower_grad(
    g: JaxArray,
    q: JaxArray,
    k: JaxArray,
    v: JaxArray,
    *mask: JaxArray,
    is_causal: bool,
    scale: float | None,
) -> tuple[JaxArray, JaxArray, JaxArray]:
    def plain(q: JaxArray, k: JaxArray, v: JaxArray) -> JaxArray:
        return _lower_plain(q, k, v, *mask, is_causal=is_causal, scale=scale)

    attend = _fused(is_causal, scale) if _suits_fused(q, k, v, mask) else plain
    return jax.vjp(attend, q, k, v)[1](g)


def _grad_of_grad(
    h: tuple[Tensor, ...],
    inputs: tuple[Tensor, ...],
    needs: tuple[bool, ...],
    is_causal: bool,
    scale: float | None,
) -> tuple[Tensor | None, ...]:
    """The second derivative, by the gradient written in parts."""
    g, q, k, v, *mask = inputs
    wants = (True, True, True, *(False for _ in mask))

    def first(
        g: Tensor, q: Tensor, k: Tensor, v: Tensor
    ) -> tuple[Tensor, Tensor, Tensor] | tuple[Tensor | None, ...]:
        return _grad_in_parts(g, (q, k, v, *mask), wants, is_causal, scale)[:3]

    return *late.PULL.call(first, [g, q, k, v], list(h)), *[None] * len(mask)


ATTENTION_GRAD = Op(
    "attention_grad",
    "*xs",
    kernel=in_float32(_grad_kernel),
    infer=lambda g, q, k, v, *mask, is_causal, scale: (q, k, v),
    lower=_lower_grad,
    grad=Joint(_grad_of_grad),
    match=(0, 1, 2, 3),
    outputs=None,
    register=False,
)


def _grad_in_parts(
    g: Tensor,
    inputs: tuple[Tensor, ...],
    needs: tuple[bool, ...],
    is_causal: bool,
    scale: float | None,
) -> tuple[Tensor | None, ...]:
    q, k, v, *mask = inputs
    weights = apply(ATTENTION_WEIGHTS, q, k, *mask, is_causal=is_causal, scale=scale)
    over_weights = tf.matmul(g, v, transpose_b=True)
    over_q, over_k, *over_mask = _weights_grad(
        over_weights, (q, k, *mask), (weights,), (*needs[:2], *needs[3:]), scale
    )
    over_v = tf.matmul(weights, g, transpose_a=True) if needs[2] else None
    return over_q, over_k, over_v, *over_mask


ATTENTION = Op(
    _NAME,
    "*xs",
    kernel=checked(in_float32(_attention_kernel), _infer_attention),
    infer=_infer_attention,
    lower=checked(_lower_attention, _infer_attention),
    grad=Joint(_attention_grad),
    match=(0, 1, 2),
)


@with_fallback
def scaled_dot_product_attention(
    query: TensorLike, key: TensorLike, value: TensorLike, mask: TensorLike | None = None, is_causal: bool = False,
    scale: float | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """softmax(scale * query keyᵀ + mask) value, for tensors `[batch, heads, time, dim]`.

    A boolean mask is True where a query may attend; a floating one is added to the scores. Both
    broadcast to `[batch, heads, query time, key time]`. `is_causal` lets position i see keys up
    to i. `scale` is 1 / sqrt(dim) unless given. A query that may attend to nothing gives zeros.
    """
    name = _NAME
    q = operand(query)
    k, v = operand(key, None, q.dtype), operand(value, None, q.dtype)
    require_dtype(q.dtype.is_floating, name, "`query`, `key` and `value` must be floating", q)
    given = []
    if mask is not None:
        m = operand(mask)
        if not isinstance(mask, Value) and not m.dtype.is_bool:
            m = operand(mask, None, q.dtype)
        require_dtype(
            m.dtype.is_bool or m.dtype is q.dtype,
            name,
            "`mask` must be boolean or have the dtype of `query`",
            m,
            q,
        )
        given.append(m)
    dim = q._array.shape[-1] if q.ndim else 1
    given_scale = None if scale is None else float(scale)
    factor = given_scale if type(dim) is Dim else _usual(given_scale, dim)
    return apply(ATTENTION, q, k, v, *given, is_causal=bool(is_causal), scale=factor)
