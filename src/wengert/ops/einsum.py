"""Sums of products in Einstein's notation.

Two operations, of one and of two tensors, are closed under differentiation because they go a
little beyond the notation: an output label that appears twice fills a diagonal, one that appears
in no input repeats (its size is in `sizes`). Contractions are products of matrices.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from wengert.ops.compiled import when_large
from wengert.ops.costs import product
from wengert.ops.declare import (
    Dim,
    JaxArray,
    Op,
    ShapeDtype,
    Tensor,
    TensorLike,
    Value,
    apply,
    dtypes,
    in_float32,
    lax,
    lower_in_float32,
    operand,
    require,
    with_fallback,
)
from wengert.ops.equation import (
    DOTS,
    ContractionPlan,
    Layout,
    Operand,
    Sizes,
    back,
    cut,
    explicit,
    label_sizes,
    path,
    plan,
    plan_one,
    unique,
)  # fmt: skip
from wengert.ops.fast_reductions import fold
from wengert.ops.matmul import LARGE_STACK, dot_general, is_large_stack
from wengert.ops.shaping import sum_to


def _diagonal(x: np.ndarray, labels: str, write: bool = False) -> np.ndarray:
    """A view with one axis per label, along the diagonal of labels that stand more than once."""
    once = unique(labels)
    if len(once) == len(labels):
        return x
    shape = tuple(x.shape[labels.index(c)] for c in once)
    strides = tuple(
        sum(s for s, label in zip(x.strides, labels, strict=True) if label == c) for c in once
    )
    return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=write)


def _prepare(x: np.ndarray, how: Operand) -> np.ndarray:
    if how.labels == how.kept:
        return x
    x = _diagonal(x, how.labels)
    return np.add.reduce(x, how.summed, dtype=x.dtype) if how.summed else x


def _finish(x: np.ndarray, have: str, out: str, dims: dict[str, int]) -> np.ndarray:
    """Brings axes `have` into the order `out`: repeats what is new, fills diagonals."""
    if have == out:
        return x
    once = unique(out)
    x = x.transpose([have.index(c) for c in once if c in have])
    if len(once) > len(have):
        x = x[tuple(slice(None) if c in have else None for c in once)]
        x = np.broadcast_to(x, [dims[c] for c in once])
    if once == out:
        return x
    full = np.zeros([dims[c] for c in out], x.dtype)
    _diagonal(full, out, write=True)[...] = x
    return full


def _arranged(x: np.ndarray, how: Layout) -> np.ndarray:
    """`x` as a stack of matrices; laid out as it lies in memory where that saves a copy."""
    if how.perm is not None:
        x = x.transpose(how.perm)
    if how.shape is not None:
        x = x.reshape(how.shape)
    return x.mT if how.flip else x


def _multiply(x: np.ndarray, y: np.ndarray, p: ContractionPlan) -> tuple[np.ndarray, str]:
    """The product of two prepared tensors, and the labels of its axes."""
    if not p.contract:
        return np.multiply(_spread(x, p.x.kept, p.order), _spread(y, p.y.kept, p.order)), p.order
    a, b = _arranged(x, p.left), _arranged(y, p.right)
    out = np.matmul(a, b) if p.batch else np.dot(a, b)
    return out if p.shape is None else out.reshape(p.shape), p.product


def _spread(x: np.ndarray, have: str, order: str) -> np.ndarray:
    if have == order:
        return x
    x = x.transpose([have.index(c) for c in order if c in have])
    return x[tuple(slice(None) if c in have else None for c in order)]


@in_float32
def _kernel(x: np.ndarray, y: np.ndarray, equation: str, sizes: Sizes) -> np.ndarray:
    p = plan(equation, sizes, x.shape, y.shape)
    out, have = _multiply(_prepare(x, p.x), _prepare(y, p.y), p)
    return out if have == p.out else _finish(out, have, p.out, p.dims)


def _is_large(x: np.ndarray, y: np.ndarray, equation: str, sizes: Sizes) -> bool:
    if x.size * y.size < LARGE_STACK:
        return False
    p = plan(equation, sizes, x.shape, y.shape)
    if not p.contract or not p.batch:
        return False
    stack = math.prod(p.dims[c] for c in p.batch)
    labels = {*p.x.kept, *p.y.kept}
    return is_large_stack(stack, math.prod(p.dims[c] for c in labels), x.dtype)


@in_float32
def _kernel_one(x: np.ndarray, equation: str, sizes: Sizes) -> np.ndarray:
    how, out, dims = plan_one(equation, sizes, x.shape)
    return _finish(_prepare(x, how), how.kept, out, dims)


def _infer(*xs: ShapeDtype, equation: str, sizes: Sizes) -> ShapeDtype:
    inputs, out = cut(equation)
    pairs = list(zip(inputs, xs, strict=True))
    known = [(None,) * len(a) if x.shape is None else x.shape for a, x in pairs]
    dims = label_sizes(equation, known, sizes)
    # Under an ellipsis a 1 beside an unknown size says nothing about the result.
    named = zip("".join(inputs), (d for shape in known for d in shape), strict=True)
    unsure = {c for c, d in named if d is None and c in DOTS}
    shape = tuple(None if c in unsure and dims[c] in (None, 1) else dims[c] for c in out)
    return ShapeDtype(shape, xs[0].dtype)


def _mask(x: Any, i: int, j: int) -> JaxArray:
    """`x` with zeros where its indices along two axes differ."""
    same = lax.eq(*(lax.broadcasted_iota(np.int32, x.shape, k) for k in (i, j)))
    return lax.select(same, x, lax.full_like(x, 0))


def _lower_prepare(x: JaxArray, how: Operand) -> JaxArray:
    labels = list(how.labels)
    for c in unique(how.labels):
        while labels.count(c) > 1:
            i = labels.index(c)
            j = labels.index(c, i + 1)
            x = lax.reduce(_mask(x, i, j), x.dtype.type(0), lax.add, (j,))
            del labels[j]
    return _lower_summed(x, axes=how.summed) if how.summed else x


_lower_summed = lower_in_float32(lambda x, axes: fold(x, 0, lax.add, axes))


def _lower_finish(x: Any, have: str, out: str, dims: dict[str, int]) -> JaxArray:
    once = unique(out)
    order = [c for c in once if c in have]
    x = lax.transpose(x, [have.index(c) for c in order])
    x = lax.broadcast_in_dim(x, [dims[c] for c in out], [out.index(c) for c in order])
    for j, c in enumerate(out):
        if out.index(c) != j:
            x = _mask(x, out.index(c), j)
    return x


def _lower(x: JaxArray, y: Any, equation: str, sizes: Sizes) -> JaxArray:
    p = plan(equation, sizes, x.shape, y.shape)
    a, b = p.x.kept, p.y.kept

    def places(labels: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return tuple(map(a.index, labels)), tuple(map(b.index, labels))

    x, y = _lower_prepare(x, p.x), _lower_prepare(y, p.y)
    out = dot_general(x, y, places(p.contract), places(p.batch))
    return _lower_finish(out, p.product, p.out, p.dims)


def _lower_one(x: JaxArray, equation: str, sizes: Sizes) -> JaxArray:
    how, out, dims = plan_one(equation, sizes, x.shape)
    return _lower_finish(_lower_prepare(x, how), how.kept, out, dims)


def _pull(
    g: Tensor, other: Tensor, place: int, shape: tuple[int | Dim, ...], equation: str
) -> Tensor:
    inputs, out = cut(equation)
    theirs = inputs[1 - place]
    known = label_sizes(f"{out},{theirs}->", (g._array.shape, other._array.shape), ())
    labels, sizes, unsure = back(equation, place, shape, known)
    result = apply(EINSUM, g, other, equation=f"{out},{theirs}->{labels}", sizes=sizes)
    return sum_to(result, shape) if unsure else result


def _pull_one(g: Tensor, x_shape: tuple[int | Dim, ...], equation: str) -> Tensor:
    out = cut(equation)[1]
    known = dict(zip(out, g._array.shape, strict=True))
    labels, sizes, unsure = back(equation, 0, x_shape, known)
    result = apply(EINSUM_ONE, g, equation=f"{out}->{labels}", sizes=sizes)
    return sum_to(result, x_shape) if unsure else result


EINSUM = Op(
    "einsum",
    "x y",
    kernel=when_large(_kernel, _lower, _is_large),
    infer=_infer,
    lower=_lower,
    grad=(
        lambda g, y, x_shape, equation: _pull(g, y, 0, x_shape, equation),
        lambda g, x, y_shape, equation: _pull(g, x, 1, y_shape, equation),
    ),
    accepts=dtypes.NUMERIC,
    cost=product,
)

EINSUM_ONE = Op(
    "einsum_one",
    "x",
    kernel=_kernel_one,
    infer=_infer,
    lower=_lower_one,
    grad=_pull_one,
    accepts=dtypes.NUMERIC,
)


@with_fallback
def einsum(equation: str, *inputs: TensorLike, **kwargs: Any) -> Tensor:
    """Sums of products of any number of tensors, as `equation` says.

    A label twice in one input takes its diagonal; `...` stands for axes that broadcast; without
    an arrow the output has the labels that appear once, in alphabetical order. `optimize` is
    "greedy" or "optimal": how the order of more than two tensors is found.

    Args:
        equation: labels of the axes of each input, and after `->` those of the result.
        *inputs: the tensors.
        **kwargs: `optimize` and `name`.

    Returns:
        A tensor.

    Raises:
        ValueError: the equation is wrong or does not fit the tensors.

    >>> tf.einsum("ij,j->i", [[1.0, 2.0], [3.0, 4.0]], [1.0, 10.0]).numpy().tolist()
    [21.0, 43.0]
    """
    require(
        isinstance(equation, str),
        "einsum",
        "`equation` must be a text like 'ij,jk->ik'",
        equation,
        kind=TypeError,
    )
    optimize = kwargs.pop("optimize", "greedy")
    kwargs.pop("name", None)
    require(
        not kwargs,
        "einsum",
        lambda: f"the keyword arguments are `optimize` and `name`; got {sorted(kwargs)}",
        kind=TypeError,
    )
    hint = next((v.dtype for v in inputs if isinstance(v, Value)), None)
    xs = [operand(v, None, hint) for v in inputs]
    full = explicit(equation, tuple([x.ndim for x in xs]))
    if len(xs) == 1:
        return apply(EINSUM_ONE, xs[0], equation=full, sizes=())
    if len(xs) == 2:
        return apply(EINSUM, *xs, equation=full, sizes=())
    return _many(full, xs, optimize)


def _many(equation: str, xs: list[Tensor] | list[Value], optimize: str) -> Any:
    """Multiplies tensors two at a time, summing each label away as soon as nobody needs it."""
    terms, out = cut(equation)
    shapes = tuple(tuple(x.shape) for x in xs)
    label_sizes(equation, shapes, ())
    for pair in path(equation, shapes, optimize):
        chosen = [(xs[i], terms[i]) for i in pair]
        xs = [x for i, x in enumerate(xs) if i not in pair]
        terms = [t for i, t in enumerate(terms) if i not in pair]
        product, labels = chosen[0]
        for k, (y, theirs) in enumerate(chosen[1:], start=2):
            rest = "".join(terms) + "".join(t for _, t in chosen[k:]) + out
            last = not terms and k == len(chosen)
            kept = out if last else "".join(c for c in unique(labels + theirs) if c in rest)
            product = apply(EINSUM, product, y, equation=f"{labels},{theirs}->{kept}", sizes=())
            labels = kept
        xs.append(product)
        terms.append(labels)
    return xs[0]
