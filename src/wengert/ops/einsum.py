"""Sums of products in Einstein's notation.

Two operations, of one and of two tensors, are closed under differentiation because they go a
little beyond the notation: an output label that appears twice fills a diagonal, one that appears
in no input repeats (its size is in `sizes`). Here an equation is explicit: letters name axes,
digits the axes that stood under an ellipsis; only those broadcast.
"""

from __future__ import annotations

import functools
import re
from typing import Any, NamedTuple

import numpy as np

from wengert.core import dtypes
from wengert.core.apply import apply
from wengert.core.convert import operand
from wengert.core.errors import at_site, invalid
from wengert.core.lazy import lax
from wengert.core.op import Op, Spec
from wengert.core.tensor import Value
from wengert.ops.declare import in_float32
from wengert.ops.matmul import dot_general

Sizes = tuple[tuple[str, int], ...]

_FORM = re.compile(r"[a-zA-Z.]*(,[a-zA-Z.]*)*(->[a-zA-Z.]*)?")
# Labels for axes under an ellipsis, and for axes of size 1 that a gradient puts back.
_DOTS = "0123456789" + "".join(chr(0x3B1 + i) for i in range(54))
_NEW = "".join(chr(0x401 + i) for i in range(64))


def _cut(equation: str) -> tuple[list[str], str]:
    inputs, _, out = equation.partition("->")
    return inputs.split(","), out


def _unique(labels: str) -> str:
    return "".join(dict.fromkeys(labels))


class Operand(NamedTuple):
    """How one tensor is made ready: its diagonals taken, axes summed; what labels are left."""

    labels: str
    summed: tuple[int, ...]
    kept: str


class Plan(NamedTuple):
    """How two tensors of known shapes are multiplied."""

    x: Operand
    y: Operand
    batch: str
    contract: str
    rows: str
    columns: str
    dims: dict[str, int]
    order: str


def _dims(equation: str, shapes: Any, sizes: Sizes) -> dict[str, int]:
    """The size of every label; raises where the tensors disagree."""
    inputs, _ = _cut(equation)
    dims = dict(sizes)
    for labels, shape in zip(inputs, shapes, strict=True):
        if len(labels) != len(shape):
            raise invalid(
                "einsum", f"`{labels}` names {len(labels)} axes of a tensor of rank {len(shape)}"
            )
        for label, d in zip(labels, shape, strict=True):
            known = dims.get(label)
            if d is None or known == d:
                dims.setdefault(label, d)
            elif known is None or (known == 1 and label in _DOTS):
                dims[label] = d
            elif d != 1 or label not in _DOTS:
                what = "the ellipsis" if label in _DOTS else f"label `{label}`"
                raise invalid(
                    "einsum", f"{what} stands for sizes {known} and {d} in `{equation}`",
                    help="Sizes of one label must agree; only axes under `...` broadcast.",
                )  # fmt: skip
    return dims


def _ready(labels: str, kept: str) -> Operand:
    once = _unique(labels)
    summed = tuple(i for i, label in enumerate(once) if label not in kept)
    return Operand(labels, summed, "".join(c for c in once if c in kept))


@functools.lru_cache(maxsize=4096)
def _plan(equation: str, sizes: Sizes, x_shape: Any, y_shape: Any) -> Plan:
    (a, b), out = _cut(equation)
    dims = _dims(equation, (x_shape, y_shape), sizes)
    # An axis of size 1 that meets a longer one is left out: the product repeats it anyway.
    x_has = {c for c, d in zip(a, x_shape, strict=True) if d != 1 or dims[c] == 1}
    y_has = {c for c, d in zip(b, y_shape, strict=True) if d != 1 or dims[c] == 1}
    x = _ready(a, "".join(c for c in x_has if c in out or c in y_has))
    y = _ready(b, "".join(c for c in y_has if c in out or c in x_has))
    both = [c for c in x.kept if c in y.kept]
    return Plan(
        x,
        y,
        batch="".join(c for c in _unique(out) if c in both),
        contract="".join(c for c in both if c not in out),
        rows="".join(c for c in x.kept if c not in both),
        columns="".join(c for c in y.kept if c not in both),
        dims=dims,
        order="".join(c for c in _unique(out) if c in x.kept or c in y.kept),
    )


def _diagonal(x: np.ndarray, labels: str, write: bool = False) -> np.ndarray:
    """A view with one axis per label, along the diagonal of labels that stand more than once."""
    once = _unique(labels)
    if len(once) == len(labels):
        return x
    shape = tuple(x.shape[labels.index(c)] for c in once)
    strides = tuple(
        sum(s for s, label in zip(x.strides, labels, strict=True) if label == c) for c in once
    )
    return np.lib.stride_tricks.as_strided(x, shape, strides, writeable=write)


def _prepare(x: np.ndarray, how: Operand) -> np.ndarray:
    x = _diagonal(x, how.labels)
    return np.add.reduce(x, how.summed, dtype=x.dtype) if how.summed else x


def _finish(x: np.ndarray, have: str, out: str, dims: dict[str, int]) -> np.ndarray:
    """Brings axes `have` into the order `out`: repeats what is new, fills diagonals."""
    if have == out:
        return x
    once = _unique(out)
    x = x.transpose([have.index(c) for c in once if c in have])
    if len(once) > len(have):
        x = x[tuple(slice(None) if c in have else None for c in once)]
        x = np.broadcast_to(x, [dims[c] for c in once])
    if once == out:
        return x
    full = np.zeros([dims[c] for c in out], x.dtype)
    _diagonal(full, out, write=True)[...] = x
    return full


def _matrix(x: np.ndarray, labels: str, batch: str, first: str, second: str) -> np.ndarray:
    """`x` as a stack of matrices; laid out as it lies in memory where that saves a copy."""
    flip = bool(first and second) and labels.index(first[0]) > labels.index(second[0])
    one, two = (second, first) if flip else (first, second)
    perm = [labels.index(c) for c in batch + one + two]
    if perm != list(range(len(perm))):
        x = x.transpose(perm)
    if len(one) != 1 or len(two) != 1:
        n, m = len(batch), len(batch) + len(one)
        shape = x.shape
        x = x.reshape(*shape[:n], int(np.prod(shape[n:m])), int(np.prod(shape[m:])))
    return x.mT if flip else x


def _multiply(x: np.ndarray, y: np.ndarray, p: Plan) -> tuple[np.ndarray, str]:
    """The product of two prepared tensors, and the labels of its axes."""
    if not p.contract:
        return np.multiply(_spread(x, p.x.kept, p.order), _spread(y, p.y.kept, p.order)), p.order
    a = _matrix(x, p.x.kept, p.batch, p.rows, p.contract)
    b = _matrix(y, p.y.kept, p.batch, p.contract, p.columns)
    out = np.matmul(a, b) if p.batch else np.dot(a, b)
    labels = p.batch + p.rows + p.columns
    return out.reshape([p.dims[c] for c in labels]), labels


def _spread(x: np.ndarray, have: str, order: str) -> np.ndarray:
    x = x.transpose([have.index(c) for c in order if c in have])
    return x[tuple(slice(None) if c in have else None for c in order)]


@in_float32
def _kernel(x: np.ndarray, y: np.ndarray, equation: str, sizes: Sizes) -> np.ndarray:
    p = _plan(equation, sizes, x.shape, y.shape)
    out, have = _multiply(_prepare(x, p.x), _prepare(y, p.y), p)
    return _finish(out, have, _cut(equation)[1], p.dims)


@in_float32
def _kernel_one(x: np.ndarray, equation: str, sizes: Sizes) -> np.ndarray:
    (labels,), out = _cut(equation)
    dims = _dims(equation, (x.shape,), sizes)
    how = _ready(labels, out)
    return _finish(_prepare(x, how), how.kept, out, dims)


def _infer(*xs: Spec, equation: str, sizes: Sizes) -> Spec:
    inputs, out = _cut(equation)
    known = [(None,) * len(a) if x.shape is None else x.shape for a, x in zip(inputs, xs)]
    dims = _dims(equation, known, sizes)
    # Under an ellipsis a 1 beside an unknown size says nothing about the result.
    open_ = {
        c for a, shape in zip(inputs, known) for c, d in zip(a, shape) if d is None and c in _DOTS
    }
    return Spec(
        tuple(None if c in open_ and dims[c] in (None, 1) else dims[c] for c in out), xs[0].dtype
    )


def _mask(x: Any, i: int, j: int) -> Any:
    """`x` with zeros where its indices along two axes differ."""
    same = lax.eq(*(lax.broadcasted_iota(np.int32, x.shape, k) for k in (i, j)))
    return lax.select(same, x, lax.full_like(x, 0))


def _lower_prepare(x: Any, how: Operand) -> Any:
    labels = list(how.labels)
    for c in _unique(how.labels):
        while labels.count(c) > 1:
            i = labels.index(c)
            j = labels.index(c, i + 1)
            x = lax.reduce(_mask(x, i, j), x.dtype.type(0), lax.add, (j,))
            del labels[j]
    return lax.reduce(x, x.dtype.type(0), lax.add, how.summed) if how.summed else x


def _lower_finish(x: Any, have: str, out: str, dims: dict[str, int]) -> Any:
    once = _unique(out)
    order = [c for c in once if c in have]
    x = lax.transpose(x, [have.index(c) for c in order])
    x = lax.broadcast_in_dim(x, [dims[c] for c in out], [out.index(c) for c in order])
    for j, c in enumerate(out):
        if out.index(c) != j:
            x = _mask(x, out.index(c), j)
    return x


def _lower(x: Any, y: Any, equation: str, sizes: Sizes) -> Any:
    p = _plan(equation, sizes, x.shape, y.shape)
    a, b = p.x.kept, p.y.kept

    def places(labels: str) -> Any:
        return tuple(map(a.index, labels)), tuple(map(b.index, labels))

    x, y = _lower_prepare(x, p.x), _lower_prepare(y, p.y)
    out = dot_general(x, y, places(p.contract), places(p.batch))
    return _lower_finish(out, p.batch + p.rows + p.columns, _cut(equation)[1], p.dims)


def _lower_one(x: Any, equation: str, sizes: Sizes) -> Any:
    (labels,), out = _cut(equation)
    how = _ready(labels, out)
    dims = _dims(equation, (x.shape,), sizes)
    return _lower_finish(_lower_prepare(x, how), how.kept, out, dims)


def _back(equation: str, place: int, shape: Any, known: dict[str, int]) -> tuple[str, Sizes]:
    """Labels for the gradient of one input: what to sum, to repeat, or to put back as size 1."""
    new = iter(c for c in _NEW if c not in equation)
    labels, sizes = "", []
    for c, d in zip(_cut(equation)[0][place], shape, strict=True):
        label = c if known.get(c, d) == d else next(new)
        labels += label
        if label not in known:
            sizes.append((label, d))
    return labels, tuple(dict(sizes).items())


def _pull(g: Any, other: Any, place: int, shape: Any, equation: str) -> Any:
    inputs, out = _cut(equation)
    theirs = inputs[1 - place]
    known = _dims(f"{out},{theirs}->", (g.shape, other.shape), ())
    labels, sizes = _back(equation, place, shape, known)
    return apply(EINSUM, g, other, equation=f"{out},{theirs}->{labels}", sizes=sizes)


def _pull_one(g: Any, x_shape: Any, equation: str) -> Any:
    out = _cut(equation)[1]
    labels, sizes = _back(equation, 0, x_shape, dict(zip(out, g.shape, strict=True)))
    return apply(EINSUM_ONE, g, equation=f"{out}->{labels}", sizes=sizes)


EINSUM = Op(
    "einsum",
    "x y",
    kernel=_kernel,
    infer=_infer,
    lower=_lower,
    grad=(
        lambda g, y, x_shape, equation: _pull(g, y, 0, x_shape, equation),
        lambda g, x, y_shape, equation: _pull(g, x, 1, y_shape, equation),
    ),
    accepts=dtypes.NUMERIC,
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


@functools.lru_cache(maxsize=4096)
def explicit(equation: str, ranks: tuple[int, ...]) -> str:
    """The equation with its output written out and every ellipsis as digits."""
    text = equation.replace(" ", "")
    bare = text.replace("...", "")
    if not _FORM.fullmatch(text) or "." in bare or any(p.count("...") > 1 for p in _parts(text)):
        raise invalid(
            "einsum", f"`{equation}` is not an equation",
            help="Write letters for axes, commas between tensors and one `->`, as in `ij,jk->ik`.",
        )  # fmt: skip
    inputs, arrow, out = text.partition("->")
    terms = inputs.split(",")
    if len(terms) != len(ranks):
        raise invalid(
            "einsum", f"`{equation}` is about {len(terms)} tensors; got {len(ranks)}"
        )
    hidden = [r - len(t.replace("...", "")) for t, r in zip(terms, ranks, strict=True)]
    for t, r, h in zip(terms, ranks, hidden, strict=True):
        if h < 0 or (h and "..." not in t):
            raise invalid("einsum", f"`{t}` does not fit a tensor of rank {r} in `{equation}`")
    most = max(hidden)
    if not arrow:
        every = bare.replace(",", "")
        out = "..." + "".join(sorted(c for c in set(every) if every.count(c) == 1))
    _check_output(equation, bare, out, most)
    filled = [t.replace("...", _DOTS[most - h : most]) for t, h in zip(terms, hidden, strict=True)]
    return f"{','.join(filled)}->{out.replace('...', _DOTS[:most])}"


def _parts(text: str) -> list[str]:
    return text.replace("->", ",").split(",")


def _check_output(equation: str, bare: str, out: str, most: int) -> None:
    letters = out.replace("...", "")
    unknown = sorted(set(letters) - set(bare.partition("->")[0]))
    if unknown:
        raise invalid("einsum", f"the output label `{unknown[0]}` of `{equation}` is in no input")
    if len(set(letters)) < len(letters):
        raise invalid("einsum", f"an output label appears more than once in `{equation}`")
    if most and "..." not in out:
        raise invalid(
            "einsum", f"the output of `{equation}` must have an ellipsis, since the inputs do",
            help="Write `...` after the arrow, or name the axes.",
        )  # fmt: skip


@functools.lru_cache(maxsize=1024)
def _path(equation: str, shapes: Any, optimize: str) -> list[tuple[int, ...]]:
    """The order in which to multiply more than two tensors."""
    letters = {c: chr(65 + i + 6 * (i > 25)) for i, c in enumerate(_unique(equation)) if c != ","}
    plain = "".join(c if c in ",->" else letters[c] for c in equation)
    how = "greedy" if optimize in ("greedy", "eager") else "optimal"
    blanks = [np.broadcast_to(np.zeros(()), s) for s in shapes]
    return np.einsum_path(plain, *blanks, optimize=how)[0][1:]


def einsum(equation: str, *inputs: Any, **kwargs: Any) -> Any:
    """Sums of products of any number of tensors, as `equation` says.

    A label twice in one input takes its diagonal; `...` stands for axes that broadcast; without
    an arrow the output has the labels that appear once, in alphabetical order. `optimize` is
    "greedy" or "optimal": how the order of more than two tensors is found.
    """
    optimize = kwargs.pop("optimize", "greedy")
    kwargs.pop("name", None)
    if kwargs:
        raise at_site(
            TypeError(
                f"einsum: the keyword arguments are `optimize` and `name`; got {sorted(kwargs)}."
            )
        )
    hint = next((v.dtype for v in inputs if isinstance(v, Value)), None)
    xs = [operand(v, None, hint) for v in inputs]
    full = explicit(equation, tuple(len(x.shape) for x in xs))
    if len(xs) == 1:
        return apply(EINSUM_ONE, xs[0], equation=full, sizes=())
    if len(xs) == 2:
        return apply(EINSUM, *xs, equation=full, sizes=())
    return _many(full, xs, optimize)


def _many(equation: str, xs: list[Any], optimize: str) -> Any:
    """Multiplies tensors two at a time, summing each label away as soon as nobody needs it."""
    terms, out = _cut(equation)
    shapes = tuple(tuple(x.shape) for x in xs)
    _dims(equation, shapes, ())
    for pair in _path(equation, shapes, optimize):
        chosen = [(xs[i], terms[i]) for i in pair]
        xs = [x for i, x in enumerate(xs) if i not in pair]
        terms = [t for i, t in enumerate(terms) if i not in pair]
        product, labels = chosen[0]
        for k, (y, theirs) in enumerate(chosen[1:], start=2):
            rest = "".join(terms) + "".join(t for _, t in chosen[k:]) + out
            last = not terms and k == len(chosen)
            kept = out if last else "".join(c for c in _unique(labels + theirs) if c in rest)
            product = apply(EINSUM, product, y, equation=f"{labels},{theirs}->{kept}", sizes=())
            labels = kept
        xs.append(product)
        terms.append(labels)
    return xs[0]
